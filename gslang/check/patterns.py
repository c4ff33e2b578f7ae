"""Source expressions → pattern nodes."""

from __future__ import annotations

from dataclasses import replace

from gslang.base.source import Span
from gslang.base.suggest import did_you_mean
from gslang.check import attribute_values, links, values
from gslang.check import checked as ir
from gslang.check.context import (
    BlockOf,
    Denotation,
    InstanceOf,
    Lowering,
    NodeOf,
    NodesOf,
    ValueOf,
    branches_of,
)  # fmt: skip
from gslang.check.results import check_projection, fields_of_split, told_of
from gslang.syntax import nodes as n

LEAF_FACTS = ("shape", "dtype", "ndim", "value")


def keep(lowering: Lowering, expr: n.Unary, what: Denotation) -> Denotation:
    """`keep p`: a node that may have other users."""
    if lowering.side == "source" and isinstance(what, NodeOf) and isinstance(what.place, ir.At):
        lowering.stop(
            "E0504", "a node of an instance cannot be marked `keep` outside its block", expr.span,
            "write `keep` inside the block, where the node is defined",
        )
    if lowering.side != "source" or not isinstance(what, NodeOf):
        lowering.stop(
            "E0504", "`keep` is written before a source pattern", expr.span,
            "nodes that the target uses stay in the graph without it" if lowering.side != "source"
            else f"write it before a call: `keep {lowering.example}(x)`",
        )
    if isinstance(lowering.patterns[what.node], ir.PreviousNode):
        lowering.stop(
            "E0504", "a node of the previous instance cannot be marked `keep` where it is read", expr.span,
            f"write `keep` where the block defines it: `y = keep {lowering.example}(prev.y);`",
        )
    for node in [what.node, *lowering.without_alternatives(what.node)]:
        lowering.patterns[node] = replace(lowering.patterns[node], keep=True)
    return what


# ── leaves ──────────────────────────────────────────────────────────────────────────────────────────────────


def leaf(
    lowering: Lowering,
    span: Span,
    kind: str,
    arguments: tuple[n.Argument, ...], *,
    name: str | None = None,
    optional: bool = False,
) -> NodeOf:
    """A wildcard or leaf with constraints on shape, dtype, ndim or value."""
    constraints: list[ir.Constraint] = []
    elements: list[tuple[n.Expr | n.Star, ir.Test]] = []
    lowering.check_once(arguments)
    for argument in arguments:
        if not isinstance(argument, n.Keyword):
            number = (
                kind == "const" and isinstance(argument, n.Positional)
                and isinstance(argument.value, n.Literal | n.Unary)
            )
            lowering.error(
                "E0501",
                f"constrain a kind by name: `{kind}({'value' if kind == 'const' else 'shape'} = …)`",
                argument.span, "a number by itself is a constant of that value" if number else None,
            )
            continue
        if argument.name not in LEAF_FACTS:
            guess = did_you_mean(argument.name, LEAF_FACTS)
            lowering.error(
                "E0502", f"a `{kind}` has no attribute `{argument.name}`", argument.name_span,
                f"did you mean `{guess}`?" if guess
                else "it can be constrained by `shape`, `dtype`, `ndim`, `value`",
            )
            continue
        test = values.test(lowering, argument.value)
        attribute_values.check_fact(lowering, argument.name, argument.value, test)
        if argument.name == "value":
            if kind not in ("const", "any", "fixed"):
                lowering.error(
                    "E0502", f"the value of a `{kind}` is unknown here", argument.span, "use kind `const`"
                )
            if test != ir.Anything():
                elements.append((argument.value, test))
                test = _elements_test(lowering, test, argument)
        if argument.name == "dtype":
            attribute_values.check_dtype(lowering, argument.value, test)
        constraints.append(ir.Constraint(argument.name, test, argument.span))
    for written, wanted in elements:
        attribute_values.check_elements(lowering, written, wanted, constraints)
    return lowering.add_pattern(ir.LeafNode(
        name=name, span=span, block=lowering.block, constraints=tuple(constraints), kind=kind,
        optional=optional,
    ))


def _elements_test(lowering: Lowering, test: ir.Test, argument: n.Keyword) -> ir.Test:
    """The test of a constant's elements: equal to a value, or to one of several."""
    if isinstance(test, ir.Equals):
        return ir.ConstantEquals(test.value)
    if isinstance(test, ir.OneOf):
        return ir.OneOf(tuple([_elements_test(lowering, one, argument) for one in test.tests]))
    lowering.error(
        "E0501", "the elements of a constant are compared as a whole", argument.span,
        "use a condition on its elements: `where c.value[0] > 0`",
    )
    return ir.Anything()


def inline_kind(lowering: Lowering, expr: n.Expr, kind: str, arguments: tuple[n.Argument, ...]) -> NodeOf:
    """`const(…)`, `any(…)` and the like inside a pattern."""
    return leaf(lowering, expr.span, kind, arguments)


def constant_call(lowering: Lowering, expr: n.Call, name: str) -> NodeOf:
    """`const(value = a, dtype = d)` and `splat(v)` in a source."""
    if name == "const":
        return leaf(lowering, expr.span, "const", expr.arguments)
    if len(expr.arguments) != 1 or not isinstance(expr.arguments[0], n.Positional):
        lowering.stop("E0503", "`splat` takes one value", expr.span, "write `splat(0)`")
    argument = expr.arguments[0]
    constraint = ir.Constraint(
        "value", ir.SplatEquals(values.value(lowering, argument.value).value), argument.span
    )
    return lowering.add_pattern(ir.LeafNode(
        name=None, span=expr.span, block=lowering.block, constraints=(constraint,), kind="const",
        is_input=False,
    ))


_NO_OPERAND = {
    ir.Prev: (
        "this node of the previous instance can be used in constraints only, not as an operand",
        "an operand is the name that the chain passes on, or a node of the same instance",
    ),
    ir.At: (
        "a node of one instance cannot be part of the source outside `each`",
        "match the node as a statement of its own, outside the block",
    ),
    ir.First: (
        "`first` can be used in constraints only, not as an operand",
        "name a node from outside the block: all instances share it",
    ),
}


def node_of(lowering: Lowering, expr: n.Expr | n.Star, what: Denotation) -> int:
    """The pattern node that an operand is; a value becomes a constant that equals it."""
    match what:
        case NodeOf(place, node):
            if (end := links.end(lowering, expr, what)) is not None:
                return end
            if place != ir.OWN:
                message, hint = _NO_OPERAND[type(place)]
                lowering.stop("E0607", message, expr.span, hint)
            return node
        case ValueOf(value, kind):
            if kind in ("str", "none", "bool", "dtype", "graph"):
                values.no_tensor(lowering, kind, expr.span)
            constraint = ir.Constraint("value", ir.ConstantEquals(value), expr.span)
            return lowering.add_pattern(ir.LeafNode(
                name=None, span=expr.span, block=lowering.block, constraints=(constraint,), kind="const",
                is_input=False,
            )).node
        case BlockOf(block) | NodesOf(block) | InstanceOf(block):
            run = lowering.runs.get(block)
            lowering.stop(
                "E0607", "a sequence is written with `*`, among fields, variadic operands or outputs",
                expr.span, "write `*name.node`" if run is None else
                f"the source continues from a chain's end: `{lowering.blocks[block].name}[-1].{run.link}`",
            )
    lowering.stop(
        "E0307", "expected a tensor as an operand", expr.span,
        "an operand is a name, a call, a constant or a kind (`any()`)",
    )


# ── tuples, projections, alternatives ───────────────────────────────────────────────────────────────────────


def make_tuple(lowering: Lowering, expr: n.Expr, parts: list[tuple[n.Expr, Denotation]]) -> NodeOf:
    """A tuple pattern."""
    fields: list[int | ir.Splice] = []
    for item, what in parts:
        if isinstance(item, n.Star):
            fields.append(splice(lowering, item, what, fields))
        else:
            fields.append(node_of(lowering, item, what))
    return lowering.add_pattern(
        ir.TupleNode(name=None, span=expr.span, block=lowering.block, fields=tuple(fields))
    )


def splice(
    lowering: Lowering,
    item: n.Star,
    what: Denotation,
    before: list[int | None | ir.Splice] | list[int | ir.Splice],
) -> ir.Splice:
    """`*b`: all instances of a block as operands or fields."""
    if not isinstance(what, NodesOf):
        name = item.value.id if isinstance(item.value, n.Name) else "s"
        lowering.stop(
            "E0607", "`*` is written before a sequence of nodes", item.span,
            f"its results are the instances of a block: `each b in .. {{ r = {name}[index]; }}`, then `*b.r`"
            if isinstance(what, NodeOf)
            else "name a node of an `each` block: `*branch.conv`",
        )
    if any(isinstance(part, ir.Splice) for part in before):
        lowering.stop(
            "E0607", "at most one sequence in a list of operands", item.span,
            "match both with one `each`, or write one list out",
        )
    return ir.Splice(what.block, what.node)


def project(lowering: Lowering, expr: n.Expr, base: NodeOf, index: ir.Test) -> NodeOf:
    """`p.0`, `p[i]`, `p[_]`."""
    wanted = ir.Constraint("index", index, expr.span)
    constraints = () if index == ir.Anything() else (wanted,)
    node = node_of(lowering, expr, base)
    pattern, results = lowering.patterns[node], told_of(lowering, node).results
    if isinstance(pattern, ir.CallNode) and len(pattern.operators) == 1:
        given = {test.field: test.literal for test in pattern.tests}
        results = fields_of_split(pattern.operators[0], given) or results
    check_projection(lowering, results, wanted.equal_to or ir.Const(None), expr.span)
    for k, other in enumerate(lowering.patterns if wanted.literal is not None else ()):
        if (  # the same projection of the same node is the same node
            isinstance(other, ir.ProjNode) and other.base == node and other.block == lowering.block
            and not other.keep and other.constraints == constraints
        ):
            return NodeOf(ir.OWN, k)
    return lowering.add_pattern(
        ir.ProjNode(name=None, span=expr.span, block=lowering.block, base=node, constraints=constraints)
    )


def alternatives(lowering: Lowering, expr: n.Binary) -> Denotation:
    """`a | b | …`; a choice between values is no pattern."""
    if lowering.side != "source":
        lowering.stop(
            "E0506", "`|` is only allowed in a source pattern", expr.span,
            "in a target write `match p { a => …, b => … }`",
        )
    branches, names = [], []
    for part in branches_of(expr):
        what = lowering.resolve(part)
        branches.append(node_of(lowering, part, what))
        names.append(
            part.name.id if isinstance(part, n.Walrus) else part.id if isinstance(part, n.Name) else None
        )
    node = lowering.add_pattern(
        ir.AltNode(name=None, span=expr.span, block=lowering.block, branches=tuple(branches))
    )
    lowering.branch_names[node.node] = tuple(names)
    return node
