"""Resolves expressions to a node, a value or a sequence, on either side of a rule.

The surface has one expression syntax for patterns and attribute values; which one is meant follows from the
names in it (language.md §3). Calls and infix signs with a tensor in them make nodes (`patterns` on the source
side, `targets` on the target side; `calls` tells which), everything else makes values (`values`).
"""

from __future__ import annotations

import math
from typing import NoReturn

from gslang.check import (
    arms,
    attributes,
    calls,
    chains,
    known_values,
    links,
    parameters,
    patterns,
    targets,
    templates,
    values,
)
from gslang.check import checked as ir
from gslang.check.context import (
    KINDS,
    BlockOf,
    Denotation,
    InstanceOf,
    Lost,
    Lowering,
    NodeOf,
    NodesOf,
    OperatorNamed,
    Stop,
    TargetOf,
    ValueOf,
    article,
    is_tensor,
)  # fmt: skip
from gslang.check.results import Results, check_projection, fields_of_split, told_of_target, told_when_matched
from gslang.check.unknown_name import refuse_name
from gslang.dialect.declarations import NotConstant
from gslang.syntax import nodes as n

# Operators that only values have → the dialects' operators that compute the same of tensors.
_OPERATORS_OF_VALUES = {"**": ("power", "Pow"), "//": ("floor_divide",), "%": ("mod", "Mod")}


def resolve(lowering: Lowering, expr: n.Expr, ordered: bool = False) -> Denotation:
    """The node, value or sequence that `expr` denotes. Reports errors and raises `Stop` if nothing sensible
    can be said."""
    match expr:
        case n.Name(name):
            return _name(lowering, expr, name)
        case n.Literal(value):
            return ValueOf(ir.Const(value), values.type_of(value))
        case n.Attribute():
            return attributes.attribute(lowering, expr)
        case n.Projection(base, index):
            return _project(lowering, expr, resolve(lowering, base), ValueOf(ir.Const(index), "int"))
        case n.Index(base, index):
            return _index(lowering, expr, base, index)
        case n.Slice(base, lower, upper, step):
            return _slice(lowering, expr, base, (lower, upper, step))
        case n.Call():
            return calls.call(lowering, expr, ordered)
        case n.Unary("ordered", operand):
            return resolve(lowering, operand, ordered=True)
        case n.Unary("keep", operand):
            return patterns.keep(lowering, expr, resolve(lowering, operand))
        case n.Unary("-", operand):
            return _negation(lowering, expr, operand)
        case n.Unary(operator, operand):
            return known_values.noted(
                lowering, expr, values.unary(lowering, expr, operator, resolve(lowering, operand))
            )
        case n.Binary("|", _, _):
            return patterns.alternatives(lowering, expr)
        case n.Binary(("and" | "or") as operator, _, _):
            return values.logical(lowering, expr, operator)
        case n.Binary():
            return _binary(lowering, expr, ordered)
        case n.Comparison():
            return values.comparison(lowering, expr)
        case n.Conditional():
            return _conditional(lowering, expr)
        case n.Walrus(name, value):
            try:
                what = resolve(lowering, value, ordered=ordered)
            except Stop:
                lowering.names.setdefault(name.id, Lost())
                raise
            lowering.name_it(name, what)
            return what
        case n.TupleExpr(items):
            return _tuple(lowering, expr, items)
        case n.Comprehension():
            return _comprehension(lowering, expr)
        case n.Match():
            return _match(lowering, expr)
        case n.OperatorKind():
            return chains.operator_of_instance(lowering, expr)
        case n.Hole() | n.Star() | n.Range():
            _refuse_alone(lowering, expr)
    raise AssertionError(f"unknown expression {expr!r}: this is a bug in gslang")


def _refuse_alone(lowering: Lowering, expr: n.Hole | n.Star | n.Range) -> NoReturn:
    """Reports what has a meaning in some places only, none of which is here."""
    match expr:
        case n.Hole():
            hint = (
                "for any tensor, write `any`; a condition compares parts: `x.shape[1] == 3`"
                if lowering.side == "source"
                else "write a value, or read the one that matched: `y.axis`"
            )
            lowering.stop("E0506", "`_` is only allowed in constraints of a source pattern", expr.span, hint)
        case n.Star():
            lowering.stop(
                "E0607", "`*` is written before an operand, a field or an output", expr.span, "remove the `*`"
            )
        case n.Range():
            lowering.stop(
                "E0607", "`..` is only allowed in `each` and in comprehensions", expr.span,
                "as a value, write `range(n)`; as a condition, compare: `1 <= n and n <= 4`",
            )


def _negation(lowering: Lowering, expr: n.Unary, operand: n.Expr) -> Denotation:
    what = resolve(lowering, operand)
    if not is_tensor(what):
        return known_values.noted(lowering, expr, values.unary(lowering, expr, "-", what))
    arguments = (n.Positional(operand, span=operand.span),)
    return calls.make_call(lowering, expr, lowering.dialect.infix["neg"], arguments, [what])


def _binary(lowering: Lowering, expr: n.Binary, ordered: bool) -> Denotation:
    """Arithmetic on values, or a call of the dialect's operator on tensors."""
    operator, left, right = expr.operator, expr.left, expr.right
    a, b = resolve(lowering, left), resolve(lowering, right)
    if not is_tensor(a) and not is_tensor(b):
        return known_values.noted(lowering, expr, values.binary(lowering, expr, operator, a, b))
    if operator in ("+", "-", "*", "/"):
        arguments = (n.Positional(left, span=left.span), n.Positional(right, span=right.span))
        return calls.make_call(lowering, expr, lowering.dialect.infix[operator], arguments, [a, b], ordered)
    known = [
        name for name in _OPERATORS_OF_VALUES.get(operator, ()) if name in lowering.dialect.operators
    ]
    hint = f"call the operator: `{known[0]}(x, y)`" if known else None
    lowering.stop("E0505", f"`{operator}` is for values, not for nodes", expr.span, hint)


def _conditional(lowering: Lowering, expr: n.Conditional) -> Denotation:
    """A choice of the target between tensors, or a value."""
    then, otherwise = expr.then, expr.otherwise
    test = values.condition(lowering, expr.condition)
    if (outcome := lowering.settles(test)) is not None:
        return resolve(lowering, then if outcome else otherwise)
    a, b = resolve(lowering, then), resolve(lowering, otherwise)
    if is_tensor(a) or is_tensor(b):
        return targets.choose(lowering, expr, test, (then, a), (otherwise, b))
    first, second = values.force(lowering, then, a), values.force(lowering, otherwise, b)
    chosen = ir.IfValue(test, first.value, second.value)
    return known_values.choice(lowering, chosen, ((then, first), (otherwise, second)))


def _name(lowering: Lowering, expr: n.Name, name: str) -> Denotation:
    what = lowering.look_up(name)
    if what is not None:
        lowering.used_inputs.add(name)
        if isinstance(what, Lost):
            raise Stop  # its definition has an error that is reported
        if isinstance(what, OperatorNamed):
            lowering.stop(
                "E0504", f"`{name}` is the operator `{what.name}` here: call it", expr.span,
                f'write `{name}(…)`; the name of an operator as a text is `"{what.name}"`',
            )
        return what
    if name in ("index", "first") and lowering.inside is not None and lowering.inside.block in lowering.runs:
        hint = (
            "compare with the previous instance: `prev.NAME`" if name == "first"
            else "number the instances outside the block: `[k for k in range(len(c))]`"
        )
        lowering.stop(
            "E0405", f"`{name}` is not available in a chain, which is matched from its end", expr.span, hint
        )
    if name == "index" and lowering.inside is not None:
        return ValueOf(ir.InstanceIndex(lowering.inside.block), "int")
    if name == "first" and lowering.inside is not None:
        return InstanceOf(lowering.inside.block, ir.First(lowering.inside.block))
    if name == "prev" and lowering.inside is not None:
        return links.previous(lowering, expr)
    if name == "prev":
        lowering.stop(
            "E0405", "`prev` is only allowed inside `chain`", expr.span,
            "outside, an instance is read by its number: `c[0].y`",
        )
    if name in ("index", "first"):
        lowering.stop(
            "E0405", f"`{name}` is only allowed inside `each`", expr.span,
            "outside, an instance is read by its number: `branch[0].w`" if name == "first"
            else "outside, number the instances: `[k for k in range(len(branch))]`",
        )
    if name == "opset" and lowering.dialect.name == "onnx":
        return ValueOf(ir.Opset(), "int")
    if isinstance(known := lowering.functions.get(name), n.ParamDecl):
        if isinstance(known.value, NotConstant):
            lowering.broken = True
            raise Stop  # reported where it is declared
        return ValueOf(ir.Const(known.value, name), parameters.type_of(known))
    if name == "inf":
        return ValueOf(ir.Const(math.inf), "float")
    if name in lowering.functions:
        lowering.stop("E0504", f"`{name}` is a function: call it", expr.span, f"write `{name}(…)`")
    if name in KINDS and lowering.side == "source" and name != "op":
        return patterns.inline_kind(lowering, expr, name, ())
    refuse_name(lowering, name, expr.span)


# ── projections, items, slices ──────────────────────────────────────────────────────────────────────────────


_NO_ITEMS = ("int", "float", "bool", "none")
_NO_INDEX = ("float", "str", "dtype", "tuple", "none")


def _project(lowering: Lowering, expr: n.Expr, base: Denotation, index: ValueOf) -> Denotation:
    if index.type in _NO_INDEX:
        lowering.stop(
            "E0501", f"an index is a whole number, found {article(index.type)}", expr.span,
            "items are counted from 0, and from the end from -1: `x.shape[0]`, `x.shape[-1]`",
        )
    match base:
        case NodeOf() if lowering.side == "source":
            return patterns.project(lowering, expr, base, ir.Equals(index.value))
        case NodeOf() | TargetOf():
            check_projection(lowering, _results(lowering, base), index.value, expr.span)
            return targets.project(lowering, expr, base, index.value)
        case ValueOf(value, kind) if kind not in _NO_ITEMS:
            size = isinstance(value, ir.NodeAttr) and value.name == "shape"
            return ValueOf(ir.ItemValue(value, index.value), "int" if size else "any")
        case BlockOf(block, None):
            return InstanceOf(block, ir.At(block, index.value))
        case BlockOf(block, indices) if indices is not None:
            return InstanceOf(block, ir.At(block, ir.ItemValue(indices, index.value)))
        case NodesOf(block, node):
            return NodeOf(ir.At(block, index.value), node)
    lowering.stop(
        "E0501", "this cannot be indexed", expr.span,
        "nodes with several results, tuples, strings and sequences of instances have items",
    )


def _results(lowering: Lowering, base: NodeOf | TargetOf) -> Results:
    if isinstance(base, NodeOf):
        return told_when_matched(lowering, base.node).results
    made, results = lowering.targets[base.target], told_of_target(lowering, base.target).results
    if isinstance(made, ir.MakeCall) and isinstance(made.operator, str):
        return fields_of_split(made.operator, dict(made.attributes)) or results
    return results


def _index(lowering: Lowering, expr: n.Index, base: n.Expr, index: n.Expr) -> Denotation:
    what = resolve(lowering, base)
    if lowering.side == "source" and isinstance(what, NodeOf):
        return patterns.project(lowering, expr, what, values.test(lowering, index))
    return _project(lowering, expr, what, values.value(lowering, index))


def _slice(lowering: Lowering, expr: n.Slice, base: n.Expr, bounds: tuple[n.Expr | None, ...]) -> Denotation:
    parts = [None if bound is None else values.value(lowering, bound).value for bound in bounds]
    match resolve(lowering, base):
        case ValueOf(value, kind) if kind not in _NO_ITEMS:
            return ValueOf(ir.SliceValue(value, *parts), kind)
        case BlockOf(block, indices):
            return BlockOf(block, ir.SliceValue(indices or ir.Instances(block), *parts))
    lowering.stop(
        "E0501", "only values and sequences of instances can be sliced", expr.span,
        "slice a tuple, `x.shape[1:]`, or call the operator that slices tensors",
    )


# ── tuples, comprehensions, match ───────────────────────────────────────────────────────────────────────────


def _tuple(lowering: Lowering, expr: n.TupleExpr, items: tuple[n.Expr, ...]) -> Denotation:
    parts: list[tuple[n.Expr, Denotation]] = []
    tensor = False
    for item in items:
        inner = item.value if isinstance(item, n.Star) else item
        what = resolve(lowering, inner)
        tensor = tensor or is_tensor(what)
        parts.append((item, what))
    if tensor:
        return (
            patterns.make_tuple(lowering, expr, parts) if lowering.side == "source"
            else targets.make_tuple(lowering, expr, parts)
        )
    result: list[ir.Value | ir.SpreadValue] = []
    for item, what in parts:
        value = values.force(lowering, item, what).value
        result.append(ir.SpreadValue(value) if isinstance(item, n.Star) else value)
    if all(isinstance(part, ir.Const) for part in result):
        return ValueOf(ir.Const(tuple(part.value for part in result if isinstance(part, ir.Const))), "tuple")
    return known_values.noted(lowering, expr, ValueOf(ir.TupleValue(tuple(result)), "tuple"))


def _comprehension(lowering: Lowering, expr: n.Comprehension) -> Denotation:
    """`[e for v in s]`: a value, or several targets. In a source, `[t[i] for i in ..]` is a template."""
    if isinstance(expr.source, n.Range) and expr.source.upper is None:
        if lowering.side == "source":
            return templates.short_template(lowering, expr)
        lowering.stop(
            "E0606", "`..` needs an upper bound here", expr.source.span,
            "write `range(n)` or an upper bound",
        )
    source, names = _loop_names(lowering, expr)
    lowering.overlay.append(names)
    first_target = len(lowering.targets)
    try:
        condition = None if expr.condition is None else values.condition(lowering, expr.condition)
        element = resolve(lowering, expr.element)
    finally:
        lowering.overlay.pop()
    numbers = tuple(_locals_of(names))
    if not is_tensor(element):
        value = values.force(lowering, expr.element, element)
        return ValueOf(ir.Comprehension(value.value, numbers, source, condition), "tuple")
    if lowering.side == "source":
        lowering.stop(
            "E0504", "patterns are repeated with `each`", expr.span, "write `each NAME in .. { … }`"
        )
    match element:
        case NodeOf(ir.At(block, ir.Local(number)), node) if (
            lowering.patterns[node].block == block
            and (source, numbers, condition) == (ir.Instances(block), (number,), None)
        ):
            return lowering.add_target(ir.SpliceInstances(block, node), expr.span, several=True)
    target = targets.target_of(lowering, expr.element, element)
    inner = frozenset(range(first_target, len(lowering.targets)))
    return lowering.add_target(ir.Repeat(target, numbers, source, condition, inner), expr.span, several=True)


def _locals_of(names: dict[str, Denotation]) -> list[int]:
    found = []
    for what in names.values():
        match what:
            case ValueOf(ir.Local(number), _):
                found.append(number)
            case InstanceOf(_, ir.At(_, ir.Local(number))):
                found.append(number)
            case NodeOf(ir.At(_, ir.Local(number)), _):
                found.append(number)
    return found


def _loop_names(lowering: Lowering, expr: n.Comprehension) -> tuple[ir.Value, dict[str, Denotation]]:
    """The source of a comprehension as a value, and what its variables stand for."""
    for name in expr.targets:
        if lowering.look_up(name.id) is not None:
            lowering.error(
                "E0202", f"`{name.id}` is already bound", name.span, "choose another name for the variable"
            )
    names: dict[str, Denotation] = {}
    if isinstance(expr.source, n.Range):
        low_end, high_end = expr.source.lower or 0, expr.source.upper
        source: ir.Value = ir.RangeValue(ir.Const(low_end), ir.Const(high_end))
    else:
        match resolve(lowering, expr.source):
            case BlockOf(block, indices):
                if len(expr.targets) != 1:
                    lowering.stop("E0501", "an instance is one item", expr.span, "use one variable")
                local = lowering.new_local()
                names[expr.targets[0].id] = InstanceOf(block, ir.At(block, ir.Local(local)))
                return indices or ir.Instances(block), names
            case NodesOf(block, node):
                local = lowering.new_local()
                names[expr.targets[0].id] = NodeOf(ir.At(block, ir.Local(local)), node)
                return ir.Instances(block), names
            case ValueOf(value, kind):
                if kind in ("int", "float", "bool", "none"):
                    lowering.error(
                        "E0501", f"cannot iterate over a value of type {kind}", expr.source.span,
                        "iterate over a tuple: `x.shape`, `range(n)`",
                    )
                source = value
            case _:
                lowering.stop(
                    "E0501", "cannot iterate over this", expr.source.span,
                    "iterate over a tuple, `x.shape`, or over the instances of a block",
                )
    for name in expr.targets:
        names[name.id] = ValueOf(ir.Local(lowering.new_local()))
    return source, names


def _match(lowering: Lowering, expr: n.Match) -> Denotation:
    what = arms.alternation(lowering, expr)
    branches = lowering.branch_names[what.node]
    found: list[tuple[n.Arm, Denotation] | None] = [None] * len(branches)
    for arm in expr.arms:
        chosen = arms.chosen_by(lowering, arm, branches)
        if not chosen:
            continue
        result = resolve(lowering, arm.value)
        for k in chosen:
            if found[k] is None:
                found[k] = (arm, result)
    arms.check_covered(lowering, expr, branches, found)
    present = [arm for arm in found if arm is not None]
    if any(is_tensor(result) for _, result in present):
        if lowering.side == "source":
            lowering.stop(
                "E0504", "`match` is not a pattern", expr.span,
                "use it in attributes and targets; alternatives are written `p | q`",
            )
        numbers = tuple(None if a is None else targets.target_of(lowering, a[0].value, a[1]) for a in found)
        return lowering.add_target(ir.SelectTarget(what.place, what.node, numbers), expr.span)
    forced = [None if a is None else values.force(lowering, a[0].value, a[1]) for a in found]
    selected = ir.SelectValue(what.place, what.node, tuple(None if f is None else f.value for f in forced))
    written = {id(a[0]): (a[0].value, f) for a, f in zip(found, forced) if a is not None and f is not None}
    return known_values.choice(lowering, selected, written.values())
