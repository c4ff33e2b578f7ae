"""The kinds of the names of a rule or a test: a node of the source, of the target, a value and its type.

Found by lowering the item as the checker does, statement by statement: where one has an error, the others
still have their kinds.
"""

from __future__ import annotations

from dataclasses import replace

from gslang.check import checked as ir
from gslang.check.context import (
    BlockOf,
    Denotation,
    InstanceOf,
    Lost,
    Lowering,
    NodeOf,
    NodesOf,
    OperatorOf,
    Stop,
    TargetOf,
    ValueOf,
)
from gslang.check.resolve import resolve
from gslang.check.rule import lower_statements, source_outputs, target_outputs
from gslang.check.rule_inputs import lower_input
from gslang.dialect.tensor_type import TensorType
from gslang.engine.build import BuildError
from gslang.engine.meaning import with_meanings
from gslang.engine.values import FAILURES
from gslang.graph.graph import PROJ, TUPLE
from gslang.lsp.analysis import Analysis
from gslang.lsp.names import marks
from gslang.lsp.pieces import Piece
from gslang.syntax import nodes as n
from gslang.syntax.families import instances
from gslang.testing import build_graph


def lowered(analysis: Analysis, piece: Piece) -> Lowering | None:
    """A rule as the checker sees it, errors or not; None for what is not a rule or cannot be read."""
    item = piece.items[0] if piece.items else None
    if not isinstance(item, n.Rule):
        return None
    state = piece.memo.get("Rule")
    key = state[0] if state is not None else None
    known = piece.memo.get("lowered")
    if known is None or key is None or known[0] != key:
        known = piece.memo["lowered"] = (key, _lower(analysis, item))
    return known[1]  # type: ignore[no-any-return]


def _lower(analysis: Analysis, item: n.Rule) -> Lowering:
    rule = next(iter(instances(item)[0]), item)  # of a family the first one tells what its names stand for
    lowering = Lowering(analysis.dialect, analysis.functions, [], resolve)
    for given in rule.inputs:
        lower_input(lowering, given)
    lower_statements(lowering, rule.source)
    source_outputs(lowering, rule.source)
    lowering.side = "target"
    lower_statements(lowering, rule.target)
    try:
        target_outputs(lowering, rule.target)
    except Stop:
        pass
    return lowering


def resolved(lowering: Lowering, name: str) -> Denotation | None:
    """The kind of a name of the rule, one of a template's included."""
    what = lowering.names.get(name)
    for template in lowering.templates if what is None else ():
        what = what or template.names.get(name)
    return None if isinstance(what, Lost) else what


def operators_of(lowering: Lowering, what: Denotation | None) -> tuple[str, ...]:
    """The operators that a node may be a call of."""
    match what:
        case NodeOf(_, node) | NodesOf(_, node):
            found = [
                name
                for k in lowering.without_alternatives(node)
                if isinstance(call := lowering.patterns[k], ir.CallNode)
                for name in call.operators
            ]
            return tuple(dict.fromkeys(found))
        case OperatorOf(name):
            return lowering.variables[name].operators if name in lowering.variables else ()
        case TargetOf(target) if isinstance(made := lowering.targets[target], ir.MakeCall):
            return (made.operator,) if isinstance(made.operator, str) else ()
    return ()


def operators_named(analysis: Analysis, piece: Piece, name: str) -> tuple[str, ...]:
    """The operators that a name of a rule may be a call of; from the tokens of its definition where the rule
    cannot be read.
    """
    lowering = lowered(analysis, piece)
    if lowering is not None:
        return operators_of(lowering, resolved(lowering, name))
    where = next((m for m in marks(piece) if m.defines and m.local is not None and m.text == name), None)
    if where is None:
        return ()
    t = piece.tokens
    first = where.token + 2
    if where.role == "variable":
        inside = range(first + 1, t.end_of_bracket(first + 1))
        words = [m.text for m in marks(piece) if m.token in inside and m.role in ("callee", "name")]
        found = [
            o
            for word in words
            for o in (
                analysis.dialect.by_trait.get(word) or ((word,) if word in analysis.dialect.operators else ())
            )
        ]
        return tuple(dict.fromkeys(found))
    while t.text(first) in ("keep", "ordered", "("):
        first += 1
    call = next((m for m in marks(piece) if m.token == first and m.role == "callee"), None)
    shown = call.text.removeprefix(analysis.dialect.name + ".") if call is not None else ""
    return (shown,) if shown in analysis.dialect.operators else ()


def described(lowering: Lowering, what: Denotation) -> str:
    """A kind in words, such as "a call of `nn.conv2d`"."""
    match what:
        case NodeOf(_, node):
            return _pattern(lowering, lowering.patterns[node])
        case NodesOf(_, node):
            return f"a sequence, one for each instance: {_pattern(lowering, lowering.patterns[node])}"
        case ValueOf(_, kind):
            return "a value" if kind == "any" else f"a value: `{kind}`"
        case BlockOf(block, _):
            return f"the instances of a template{_bounds(lowering, block)}"
        case InstanceOf():
            return "an instance of a template"
        case OperatorOf(name):
            return (
                f"an operator variable: {_listed(lowering.variables[name].operators)}"
                if name in lowering.variables
                else "an operator variable"
            )
        case TargetOf(target, several):
            return ("a sequence of new nodes" if several else "a new node") + _made(lowering.targets[target])
    return "unknown"


def _pattern(lowering: Lowering, pattern: ir.Pattern) -> str:
    demands = [c.span.text for c in pattern.tests]
    more = f" with {', '.join(f'`{text}`' for text in demands[:6])}" if demands else ""
    inner = [_pattern(lowering, lowering.patterns[part]) for part in pattern.stands_for[:6]]
    if inner:
        return f"one of: {'; '.join(inner)}" if len(inner) > 1 else f"the last of a chain: {inner[0]}"
    if isinstance(pattern, ir.LeafNode):
        return f"`{pattern.kind}{'?' * pattern.optional}`{more}"
    if isinstance(pattern, ir.ProjNode):
        name = lowering.patterns[pattern.base].name
        return f"a projection of `{name}`" if name else "a projection"
    if pattern.operators == (TUPLE,):
        return "a tuple"
    if not pattern.operators:
        return "the node passed on by the previous instance, or the start of the chain"
    shown = f"the operator variable `{pattern.variable}`" if pattern.variable else _listed(pattern.operators)
    return f"a call of {shown}{more}" + (", kept if it has other users" if pattern.keep else "")


def _listed(operators: tuple[str, ...]) -> str:
    shown = " or ".join(f"`{name}`" for name in operators[:4])
    return (
        shown if len(operators) <= 4 else f"one of {len(operators)} operators ({', '.join(operators[:3])}, …)"
    )


def _bounds(lowering: Lowering, block: int) -> str:
    span = lowering.blocks[block].span if block in lowering.blocks else None
    head = span.text.split("{")[0].strip() if span is not None else ""
    return f" (`{head}`)" if head.startswith(("each", "chain")) else ""


def _made(target: ir.Target) -> str:
    if isinstance(target, ir.NewNode):
        name = target.operator if isinstance(target.operator, str) else target.operator[1]
        return {TUPLE: ": a tuple", PROJ: ": a projection"}.get(name, f": a call of `{name}`")
    return ": a constant" if isinstance(target, ir.MakeConst) else ""


def value_type(what: Denotation | None) -> str | None:
    """The type of a value that is known to have one."""
    return what.type if isinstance(what, ValueOf) and what.type != "any" else None


def graph_types(analysis: Analysis, piece: Piece) -> dict[int, str]:
    """Types of the nodes that a test names: where the named expression begins in the piece → "float32[2, 3]".
    """
    known = piece.memo.get("graph types")
    state = piece.memo.get("Test")
    if known is None or state is None or known[0] != state[0]:
        known = piece.memo["graph types"] = (
            state[0] if state is not None else None, _graph_types(analysis, piece),
        )
    return known[1]  # type: ignore[no-any-return]


def _graph_types(analysis: Analysis, piece: Piece) -> dict[int, str]:
    test = next((t for t in analysis.program.tests if t.span.source is piece.source), None)
    if test is None:
        return {}
    program = with_meanings(analysis.program)
    found = {}
    for number, name in enumerate(test.source.names):
        if name is not None and isinstance(test.source.targets[number], ir.NewNode):
            try:
                graph = build_graph(program, test, replace(test.source, outputs=(number,)))
            except (BuildError, *FAILURES):
                continue
            type_ = graph.types[graph.outputs[0]] if len(graph.outputs) == 1 else None
            if type_ is not None and not (isinstance(type_, TensorType) and type_.shape is None):
                found[test.source.spans[number].start] = str(type_)
    return found
