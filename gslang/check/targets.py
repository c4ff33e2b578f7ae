"""Target expressions → targets: what a rule builds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from gslang.base.suggest import did_you_mean
from gslang.check import attribute_values, attributes, bodies, call_arguments, values
from gslang.check import checked as ir
from gslang.check.context import (
    BlockOf,
    Denotation,
    InstanceOf,
    Lowering,
    NodeOf,
    NodesOf,
    OperatorOf,
    TargetOf,
    ValueOf,
)  # fmt: skip
from gslang.check.known_values import possible
from gslang.check.results import told_within
from gslang.check.variables import narrow
from gslang.dialect.onnx.versions import VECTORS
from gslang.dialect.signature import REQUIRED, OperandSpec, Signature
from gslang.syntax import nodes as n


def target_of(
    lowering: Lowering, expr: n.Expr | n.Star, what: Denotation, *, as_tuple: bool = False,
    optional: bool = False
) -> int:
    """The target that an expression is; a value becomes a constant; `optional`: `none` is absence."""
    match what:
        case TargetOf(target, several):
            return lowering.add_target(ir.MakeTuple((target,)), expr.span).target if several else target
        case NodeOf(place, node):
            return lowering.add_target(ir.SourceNode(place, node), expr.span).target
        case ValueOf(ir.Const(None), _):
            return lowering.add_target(ir.Absent(), expr.span).target
        case ValueOf(value, kind):
            if kind in ("str", "dtype", "graph"):
                values.no_tensor(lowering, kind, expr.span)
            return lowering.add_target(ir.MakeConst(value, None, as_tuple, None, optional), expr.span).target
        case NodesOf() | BlockOf():
            lowering.stop(
                "E0607", "a sequence cannot be one operand", expr.span,
                "write `*` before it, among fields, variadic operands or outputs: `*branch.conv`",
            )
        case InstanceOf():
            lowering.stop(
                "E0607", "an instance of a block is not a node", expr.span,
                "name a node of it: `branch[0].conv`",
            )
        case OperatorOf(name):
            lowering.stop(
                "E0307", f"`{name}` is an operator variable", expr.span, f"call it: `{name}(…)`"
            )
    raise AssertionError("unknown denotation: this is a bug in gslang")


def sequence_of(lowering: Lowering, item: n.Star, what: Denotation) -> int:
    """`*sequence` among operands, fields or outputs."""
    match what:
        case NodesOf(block, node):
            return lowering.add_target(ir.SpliceInstances(block, node), item.span, True).target
        case TargetOf(target, several) if several:
            return target
        case TargetOf(target):
            return lowering.add_target(ir.Projections(target), item.span, True).target
        case NodeOf(place, node):
            base = lowering.add_target(ir.SourceNode(place, node), item.span).target
            return lowering.add_target(ir.Projections(base), item.span, True).target
    lowering.stop(
        "E0607", "`*` is written before a sequence or a tuple", item.span,
        "remove the `*`, or name a node of a block: `*branch.conv`",
    )


def parts_of(lowering: Lowering, parts: list[tuple[n.Expr, Denotation]]) -> list[int]:
    return [
        sequence_of(lowering, item, what) if isinstance(item, n.Star) else target_of(lowering, item, what)
        for item, what in parts
    ]


def make_tuple(lowering: Lowering, expr: n.Expr, parts: list[tuple[n.Expr, Denotation]]) -> TargetOf:
    """A tuple of the target."""
    return lowering.add_target(ir.MakeTuple(tuple(parts_of(lowering, parts))), expr.span)


def project(lowering: Lowering, expr: n.Expr, base: Denotation, index: ir.Value) -> TargetOf:
    """A projection in the target."""
    return lowering.add_target(ir.MakeProj(target_of(lowering, expr, base), index), expr.span)


def choose(
    lowering: Lowering,
    expr: n.Expr,
    condition: ir.Value,
    then: tuple[n.Expr, Denotation],
    otherwise: tuple[n.Expr, Denotation],
) -> TargetOf:
    """`a if condition else b` in the target."""
    if lowering.side == "source":
        lowering.stop("E0504", "`if` is not a pattern", expr.span, "write alternatives: `a | b`")
    return lowering.add_target(
        ir.ChooseTarget(condition, target_of(lowering, *then), target_of(lowering, *otherwise)), expr.span
    )


def make_call(
    lowering: Lowering, expr: n.Expr, operator: str | OperatorOf, arguments: tuple[n.Argument, ...],
    known: list[Denotation] | None,
) -> TargetOf:  # fmt: skip
    """A call in the target."""
    variable = operator.name if isinstance(operator, OperatorOf) else None
    operators = narrow(lowering, expr, variable, arguments) if variable is not None else (str(operator),)
    signatures = [lowering.dialect.operators[name] for name in operators]
    signature = signatures[0]
    _refuse_optional(lowering, expr)
    operands: list[int] = []
    named: dict[str, int] = {}
    explicit: dict[str, ir.Value] = {}
    spread: list[tuple[str, ir.Value]] = []
    wholes: list[n.Spread] = []
    sequence = False
    by_name = {operand.name for operand in signature.operands}
    given = {a.name for a in arguments if isinstance(a, n.Keyword)}
    for k, argument in enumerate(arguments):
        match argument:
            case n.Positional(value):
                call_arguments.refuse_comparison(lowering, value, signatures)
                what = known[k] if known is not None else lowering.resolve(value)
                spec = signature.operand(len(operands))
                operands.append(target_of(
                    lowering, value, what, as_tuple=spec is not None and spec.kind == "tuple",
                    optional=spec is not None and spec.optional,
                ))
            case n.Star(value):
                operands.append(sequence_of(lowering, argument, lowering.resolve(value)))
                sequence = True
            case n.Keyword(name, value) if name in by_name and name not in signature.attributes:
                spec = next(o for o in signature.operands if o.name == name)
                what = _as_vector(lowering, signature, spec, lowering.resolve(value))
                named[name] = target_of(lowering, value, what, optional=spec.optional)
            case n.Keyword(name, value):
                if call_arguments.known_attribute(
                    lowering, signatures, variable or signature.name, name, argument.name_span
                ):
                    explicit[name] = _attribute(lowering, signatures, name, value)
            case n.Spread():
                spread += _spread(lowering, signatures, argument, given, wholes)
    movable = call_arguments.movable(signature)
    if not sequence:
        moved = [pair for pair in spread if pair[0] in movable]
        _move_to_operands(lowering, expr, signature, moved, len(operands), named)
    spread = [pair for pair in spread if pair[0] not in movable]
    _place_named(lowering, expr, signature, operands, named)
    call_arguments.check_count(lowering, expr, signature, len(operands), sequence, variable)
    attributes = {name: value for name, value in spread if name not in explicit} | explicit
    if variable is None and not wholes:
        _check_required(lowering, expr, signature, attributes)
    _check_results(lowering, signature, operands)
    spreads = tuple(_same_attributes(lowering, whole, explicit) for whole in wholes)
    called = ("variable", variable) if variable is not None else signature.name
    call = ir.MakeCall(called, tuple(operands), tuple(attributes.items()), spreads)
    owner = bodies.check_passed_on(lowering, expr, signature, attributes, spreads)
    return _added(lowering, expr, signature, call, None if sequence else owner)


def _added(
    lowering: Lowering, expr: n.Expr, signature: Signature, call: ir.MakeCall,
    owner: tuple[ir.Place, int] | None,
) -> TargetOf:  # fmt: skip
    """A new call; one for each order of operands in which the `owner` of its bodies may have matched."""
    orders = [] if owner is None else bodies.in_orders(lowering, signature, owner[1], call.operands)
    if owner is None or not orders:
        return lowering.add_target(call, expr.span)
    arms = [
        None if order is None
        else lowering.add_target(replace(call, operands=tuple(order)), expr.span).target
        for order in orders
    ]
    return lowering.add_target(ir.SelectTarget(owner[0], owner[1], tuple(arms)), expr.span)


def _refuse_optional(lowering: Lowering, expr: n.Expr) -> None:
    if isinstance(expr, n.Call) and expr.optional:
        lowering.stop(
            "E0506", "an optional operator is only allowed in a source", expr.span,
            "use `if` or `match` in a target",
        )


def _move_to_operands(
    lowering: Lowering, expr: n.Expr, signature: Signature, copied: Iterable[tuple[str, ir.Value]],
    count: int, named: dict[str, int],
) -> None:  # fmt: skip
    """Copied attributes that are operands in this version, behind the first `count` that are written."""
    for name, value in copied:
        place = next(k for k, o in enumerate(signature.operands) if o.name == name)
        if place >= count and name not in named:
            what = _as_vector(lowering, signature, signature.operands[place], ValueOf(value, "any"))
            named[name] = target_of(lowering, expr, what, optional=True)


def _attribute(
    lowering: Lowering, signatures: Sequence[Signature], name: str, written: n.Expr
) -> ir.Value:
    """The value that a call states for an attribute, checked where there is one operator."""
    if isinstance(written, n.Hole):
        lowering.error(
            "E0506", "`_` is a wildcard; a target needs a value", written.span,
            f"copy the matched one, `{name} = y.{name}`, or omit the attribute for its default",
        )
        return ir.Const(None)
    if bodies.is_body(lowering, signatures, name, written):
        lowering.stop(
            "E0504", "a target cannot create bodies", written.span,
            f"pass on a body of the source, `{name} = y.{name}`, where `y` is a call there",
        )
    what = values.value(lowering, written)
    found, signature = what.value, signatures[0]
    if len(signatures) == 1 and name in signature.attributes:
        spec, of = signature.attributes[name], f"`{name}` of `{signature.name}`"
        for part, one in possible(lowering, written, what):
            attribute_values.check_kind(lowering, part, one, spec, of)
            attribute_values.check_value(lowering, part, one.value, spec, of)
    if len(signatures) > 1:
        specs = [s.attributes[name] for s in signatures if name in s.attributes]
        attribute_values.check_width(lowering, written, found, specs, f"`{name}`")
    return found


def _same_attributes(lowering: Lowering, whole: n.Spread, explicit: Iterable[str]) -> ir.SameAttributes:
    """All attributes of another node, without those that are stated."""
    what = lowering.resolve(whole.base)
    assert isinstance(what, NodeOf)
    return ir.SameAttributes(what.place, what.node, tuple(sorted(explicit)), whole.span)


def _spread(
    lowering: Lowering, signatures: list[Signature], spread: n.Spread, explicit: set[str],
    wholes: list[n.Spread]
) -> list[tuple[str, ir.Value]]:
    what = lowering.resolve(spread.base)
    if not isinstance(what, NodeOf):
        lowering.stop(
            "E0505", "attributes are spread from a node of the source", spread.base.span,
            "name the call by a statement of the source, `c = nn.conv2d(x, w);`, and write `c.*`",
        )
    if spread.fields is None:
        names = call_arguments.spread_names(lowering, what.node, spread)
        if names is None or call_arguments.is_copied_whole(names, lowering, what.node, signatures):
            wholes.append(spread)
            names = call_arguments.movable(signatures[0])
        own = {*signatures[0].attributes, *call_arguments.movable(signatures[0])}
        wanted = [(name, spread.span) for name in names if name in own]
    else:
        wanted = [(f.id, f.span) for f in spread.fields]
        for name, span in wanted:
            attributes.attribute_type(
                lowering, n.Attribute(spread.base, name, span, span=spread.span), what.node
            )
            call_arguments.known_attribute(lowering, signatures, signatures[0].name, name, span)
    return [(name, ir.NodeAttr(what.place, what.node, name)) for name, _ in wanted if name not in explicit]


def _as_vector(lowering: Lowering, signature: Signature, spec: OperandSpec, what: Denotation) -> Denotation:
    """A number that was an attribute, for an operand that is a vector of one: `TopK(x, K = 2)`."""
    if lowering.dialect.name != "onnx" or (signature.name, spec.name) not in VECTORS:
        return what
    if not isinstance(what, ValueOf) or what.type == "tuple" or isinstance(what.value, ir.TupleValue):
        return what
    return ValueOf(ir.TupleValue((what.value,)), "tuple")


def _place_named(
    lowering: Lowering, expr: n.Expr, signature: Signature, operands: list[int], named: dict[str, int]
) -> None:
    for k, spec in enumerate(signature.operands):
        if spec.name in named:
            if len(operands) > k:
                lowering.error(
                    "E0302", f"operand `{spec.name}` of `{signature.name}` is given twice", expr.span,
                    "remove one of the two",
                )
                continue
            while len(operands) < k:
                operands.append(lowering.add_target(ir.Absent(), expr.span).target)
            operands.append(named[spec.name])


def _check_required(
    lowering: Lowering, expr: n.Expr, signature: Signature, attributes: dict[str, ir.Value]
) -> None:
    missing = [
        name
        for name, spec in signature.attributes.items() if spec.default is REQUIRED and name not in attributes
    ]
    if missing:
        names = ", ".join(f"`{name}`" for name in missing)
        guess = did_you_mean(missing[0], attributes)
        lowering.error(
            "E0604", f"`{signature.name}` needs {names}", expr.span,
            f"did you mean `{missing[0]}` by `{guess}`?" if guess else f"add `{missing[0]} = …`",
        )  # fmt: skip


def _check_results(lowering: Lowering, signature: Signature, operands: list[int]) -> None:
    """Report tuples where operands are tensors, and the reverse; of choices each part that is one."""
    for k, operand in enumerate(operands):
        spec = signature.operand(k)
        if spec is None:
            continue
        target = lowering.targets[operand]
        if isinstance(target, ir.MakeCall) and isinstance(target.operator, str):
            inner = lowering.dialect.operators[target.operator]
            call_arguments.check_tuple(lowering, signature, spec, inner, lowering.target_spans[operand])
        for part, results in told_within(lowering, operand):
            called = _called_as(lowering, lowering.targets[part])
            call_arguments.check_tensor(
                lowering, signature, spec, results, called, lowering.target_spans[part]
            )


def _called_as(lowering: Lowering, target: ir.Target) -> str | None:
    """The operator of a call, new or matched, as the rule writes it; None for other targets."""
    if isinstance(target, ir.MatchedNodes):
        return lowering.patterns[target.node].called_as
    if not isinstance(target, ir.MakeCall):
        return None
    return target.operator if isinstance(target.operator, str) else target.operator[1]
