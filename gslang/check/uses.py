"""`users(n)`, `users(n, Transpose, perm = p.perm)`, `calls(y.body, MatMul)`: what a rule asks of the graph
around a node of its source, or inside it."""

from __future__ import annotations

from typing import Final, NoReturn

from gslang.base.source import Span
from gslang.check import attribute_values, call_arguments, values, variables
from gslang.check import checked as ir
from gslang.check.bodies import body_attributes
from gslang.check.context import (
    USES,
    BlockOf,
    Denotation,
    InstanceOf,
    Lowering,
    NodeOf,
    NodesOf,
    OperatorNamed,
    OperatorOf,
    TargetOf,
    ValueOf,
)
from gslang.check.known_values import known, possible
from gslang.check.walks import walk
from gslang.dialect.signature import TRAITS
from gslang.syntax import nodes as n

_FEW = 4  # operators that a message lists
_FORMER: Final = {
    "mode": ("bilinear", "bicubic"),  # of GridSample
    "coordinate_transformation_mode": ("tf_half_pixel_for_nn",),  # of Resize
}
"""Values that attributes had in earlier operator sets, which bodies may still state."""


def uses(lowering: Lowering, expr: n.Call, name: str) -> ValueOf:
    """A call of one of these functions."""
    kind, most = USES[name]
    if not lowering.in_graph:
        lowering.stop(
            "E0505", f"`{name}` inspects the graph that a rule is applied to; there is none here", expr.span,
            "use it in a rule",
        )
    places = [argument.value for argument in expr.arguments if isinstance(argument, n.Positional)]
    keywords = [argument for argument in expr.arguments if isinstance(argument, n.Keyword)]
    if (
        not 1 <= len(places) <= most or len(places) + len(keywords) != len(expr.arguments) or keywords
        and len(places) < 2
    ):
        form = f"`{name}(n)`" + (
            f", `{name}(n, op)`, `{name}(n, op | op)`, `{name}(n, op, attribute = …)`" if most > 1 else ""
        )
        lowering.stop("E0503", f"wrong arguments for `{name}`", expr.span, f"write {form}")
    what, body = lowering.resolve(places[0]), None
    if name == "calls":
        what, body = _with_bodies(lowering, places[0], what)
    if isinstance(what, TargetOf):
        lowering.stop(
            "E0505", f"`{name}` inspects the graph before the rewrite, which does not contain this new node",
            places[0].span, "use a node of the source",
        )
    if not isinstance(what, NodeOf):
        lowering.stop(
            "E0505", f"`{name}` needs a node of the source", places[0].span,
            _one_of(what, name, places[0].span.text),
        )
    operators = _operators(lowering, places[1], f"{name}({places[0].span.text}") if len(places) > 1 else None
    attributes = tuple(_attribute(lowering, keyword, operators, name) for keyword in keywords)
    return ValueOf(ir.Uses(name, what.place, what.node, operators, attributes, body), kind)


def _with_bodies(lowering: Lowering, expr: n.Expr, what: Denotation) -> tuple[Denotation, str | None]:
    """The node whose bodies are meant, and the attribute if it is one of them."""
    match what:
        case ValueOf(ir.NodeAttr(place, node, field), "graph"):
            return NodeOf(place, node), field
        case NodeOf(_, node) if any(
            body_attributes(lowering, branch) for branch in lowering.without_alternatives(node)
        ):
            return what, None
        case TargetOf():
            return what, None
    hint = (
        "expected an operator with bodies (`If`, `Loop`, `Scan`), `calls(y)`, or one of its bodies, "
        "`calls(y.then_branch)`"
    )
    if isinstance(what, NodeOf) and isinstance(result := lowering.patterns[what.node], ir.ProjNode):
        if body_attributes(lowering, result.base):
            hint = "it is a result; name the call with a statement, `c = If(…);`, and write `calls(c)`"
    lowering.stop("E0505", "`calls` counts calls in bodies, and this node has none", expr.span, hint)


def _operators(lowering: Lowering, expr: n.Expr, written: str) -> ir.Value:
    """Operators by name and trait, as in `op(…)`, the operator of a variable, or a value: `c.op`. `written`:
    what stands before them.
    """
    shown = n.dotted(expr)
    known = lowering.look_up(shown.partition(".")[0]) if shown is not None else None
    if isinstance(known, OperatorNamed):
        return ir.Const(known.name)
    if isinstance(expr, n.OperatorKind):
        lowering.stop(
            "E0310", "`op(…)` is the kind of an input", expr.span,
            "name operators and traits alone: `users(y, elementwise)`, `users(y, nn.relu | tanh)`",
        )
    if isinstance(known, OperatorOf):
        lowering.used_inputs.add(known.name)
        calls = [
            k
            for k, node in enumerate(lowering.patterns)
            if isinstance(node, ir.CallNode) and node.variable == known.name
        ]
        if not calls:
            _refuse_uncalled(lowering, known.name, expr.span, written)
        # one that is part of each match, else one of an instance: all of them have the same operator
        call = min(calls, key=lambda k: lowering.patterns[k].block not in (None, lowering.block))
        block = lowering.patterns[call].block
        place = ir.OWN if block is None or block == lowering.block else ir.At(block, ir.Const(0))
        return ir.NodeAttr(place, call, "op")
    is_value = known is not None or shown is not None and _is_read(lowering, shown)
    if (
        isinstance(expr, (n.Hole, n.Binary)) or isinstance(expr, n.Unary) and expr.operator == "not"
        or shown is not None and not is_value
    ):
        names = variables.admitted(lowering, expr)
        return ir.Const(names[0] if len(names) == 1 and shown not in TRAITS else tuple(names))
    found = values.value(lowering, expr)
    if found.type not in ("str", "tuple", "any"):
        lowering.stop(
            "E0501", f"expected an operator, found a value of type {found.type}", expr.span,
            "name operators, `nn.relu | tanh`, or read one: `c.op`",
        )
    return found.value


def _refuse_uncalled(lowering: Lowering, variable: str, span: Span, written: str) -> NoReturn:
    """Report the operator of a variable that no call has determined, not yet or not at all."""
    if lowering.side == "source" and _is_called(lowering.text, variable):
        lowering.stop("E0505", f"no call of `{variable}` before this", span, "test it in `where`")
    kind = lowering.variables_as_written.get(variable)
    meant = [argument.span.text for argument in kind.arguments] if kind is not None else []
    shown = meant[0] if len(meant) == 1 and meant[0] != "_" else "elementwise"
    lowering.stop(
        "E0505", f"`{variable}` is not called in the source", span,
        f"call it there, or count by a trait or by operators: `{written}, {shown})`",
    )


def _is_called(side: n.Node | None, variable: str) -> bool:
    """True if the statements or outputs of a side call a variable, or pass it to a function that may."""
    parts = (side.statements, side.outputs) if isinstance(side, n.Side) else ()
    for part in walk(parts):
        if isinstance(part, n.Call) and n.dotted(part.callee) not in USES:
            passed = [a.value for a in part.arguments if isinstance(a, n.Positional | n.Keyword)]
            if variable in (n.dotted(part.callee), *map(n.dotted, passed)):
                return True
    return False


def _one_of(what: Denotation, name: str, written: str) -> str:
    """The help for what is no node of the source."""
    match what:
        case NodesOf() | BlockOf():
            return f"name a node of one instance: `{name}({written.partition('.')[0]}[0].NAME)`"
        case InstanceOf():
            return f"name a node of the instance: `{name}({written}.NAME)`"
        case OperatorOf():
            return f"`{name}(n, {written})` counts the users of a node `n` that are calls of it"
    return f"name a node by a statement, `y = …;`, and write `{name}(y)`"


def _is_read(lowering: Lowering, name: str) -> bool:
    """True if a dotted name that nothing binds is a value: `first.y.op`, `prev.y.op`, a parameter."""
    first = name.partition(".")[0]
    return name not in lowering.dialect.operators and (
        first in ("first", "prev") or isinstance(lowering.functions.get(name), n.ParamDecl)
    )


def _attribute(
    lowering: Lowering, keyword: n.Keyword, operators: ir.Value | None, function: str
) -> tuple[str, ir.Value]:
    """The attributes demanded of the calls that count."""
    if not isinstance(operators, ir.Const):
        return keyword.name, values.value(lowering, keyword.value).value
    names = (operators.value,) if isinstance(operators.value, str) else operators.value
    signatures = [signature for name in names if (signature := lowering.dialect.get(name)) is not None]
    listed = [signature.name for signature in signatures]
    shown = " | ".join(listed if len(listed) <= _FEW else [*listed[: _FEW - 1], "…"])
    call_arguments.known_attribute(lowering, signatures, shown, keyword.name, keyword.name_span)
    specs = [spec for s in signatures if (spec := s.attribute(keyword.name)) is not None]
    text, hint = attribute_values.unquoted(keyword.value, specs[0] if specs else None)
    with lowering.helping(text, hint):
        found = values.value(lowering, keyword.value)
    if specs and all((spec.types, spec.domain) == (specs[0].types, specs[0].domain) for spec in specs):
        what = f"`{keyword.name}` of `{shown}`"
        former = _FORMER.get(keyword.name, ()) if function == "calls" else ()
        for part, one in possible(lowering, keyword.value, found):
            if known(lowering, one.value) not in former:
                attribute_values.check_kind(lowering, part, one, specs[0], what)
                attribute_values.check_value(lowering, part, one.value, specs[0], what)
    return keyword.name, found.value
