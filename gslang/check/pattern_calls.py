"""Calls in source expressions → pattern nodes: their operands and constraints."""

from __future__ import annotations

from gslang.check import bodies, call_arguments
from gslang.check import checked as ir
from gslang.check.context import (
    Denotation,
    Lowering,
    NodeOf,
    OperatorOf,
    ValueOf,
)  # fmt: skip
from gslang.check.patterns import node_of, splice
from gslang.check.results import told_of
from gslang.check.variables import narrow, narrow_by_operands
from gslang.dialect.signature import OperandSpec, Signature
from gslang.syntax import nodes as n


def make_call(
    lowering: Lowering, expr: n.Expr, operator: str | OperatorOf, arguments: tuple[n.Argument, ...],
    known: list[Denotation] | None, ordered: bool,
) -> Denotation:  # fmt: skip
    """A call pattern. `known`: what the arguments stand for, where that was found out before."""
    variable = operator.name if isinstance(operator, OperatorOf) else None
    operators = narrow(lowering, expr, variable, arguments) if variable is not None else (str(operator),)
    signatures = [lowering.dialect.operators[name] for name in operators]
    shown = variable or operators[0]
    operands, attributes, given = _arguments(lowering, expr, shown, signatures, arguments, known)
    inside = [
        a
        for a in attributes
        if isinstance(a, n.Keyword) and bodies.is_body(lowering, signatures, a.name, a.value)
    ]
    for a in inside:
        if isinstance(a.value, n.Walrus):
            bodies.computes(lowering, signatures, a.value)  # refuses it, before anything reads the name
    said = [argument for argument in attributes if argument not in inside]
    given = given | {argument.name for argument in inside}
    constraints = call_arguments.constraints(lowering, signatures, shown, said, given)
    constraints += [
        ir.Constraint(a.name, bodies.computes(lowering, signatures, a.value), a.span) for a in inside
    ]
    if variable is not None:
        narrow_by_operands(lowering, expr, variable, [_is_tuple(lowering, operand) for operand in operands])
    _check_operands(lowering, expr, shown, signatures, operands)
    swappable = (
        frozenset(s.name for s in signatures if "commutative" in s.traits) if not ordered else frozenset()
    )
    while operands and operands[-1] is None:
        operands.pop()
    call = ir.CallNode(
        name=None, span=expr.span, block=lowering.block, constraints=tuple(constraints), operators=operators,
        operands=tuple(operands), variable=variable,
        swappable=swappable if len(operands) == 2 else frozenset(),
    )
    if inside and len(orders := bodies.orders(lowering, call)) > 1:
        return _choice(lowering, expr, *[lowering.add_pattern(order).node for order in orders])
    node = lowering.add_pattern(call)
    if isinstance(expr, n.Call) and expr.optional:
        inner = next((o for o in operands if isinstance(o, int)), None)
        if inner is None or len([o for o in operands if o is not None]) != 1:
            hint = f"write the alternatives explicitly: `{shown}(p, …) | p`"
            lowering.stop(
                "E0302", f"an optional operator has exactly one operand: `{lowering.example}?(p)`", expr.span,
                hint,
            )
        return _choice(lowering, expr, node.node, inner)
    return node


def _choice(lowering: Lowering, expr: n.Expr, *branches: int) -> NodeOf:
    """Alternatives without names."""
    choice = lowering.add_pattern(
        ir.AltNode(name=None, span=expr.span, block=lowering.block, branches=branches)
    )
    lowering.branch_names[choice.node] = (None,) * len(branches)
    return choice


def _arguments(
    lowering: Lowering, expr: n.Expr, shown: str, signatures: list[Signature],
    arguments: tuple[n.Argument, ...],
    known: list[Denotation] | None,
) -> tuple[list[int | None | ir.Splice], list[n.Keyword | n.Spread], set[str]]:  # fmt: skip
    """Operand patterns, arguments that are constraints, and the names of operands that are said."""
    operands: list[int | None | ir.Splice] = []
    named: dict[str, int | None] = {}
    attributes: list[n.Keyword | n.Spread] = []
    free: set[str] = set()  # operands about which only their value is said, if anything
    spec = signatures[0]
    by_name = {operand.name: operand for operand in spec.operands}
    for k, argument in enumerate(arguments):
        match argument:
            case n.Positional(value):
                call_arguments.refuse_comparison(lowering, value, signatures)
                place = spec.operand(len(operands))
                if place is not None and place.attribute is not None and isinstance(value, n.TupleExpr):
                    attributes.append(n.Keyword(place.name, value, value.span, span=value.span))
                    operands.append(_anything(lowering, expr))
                    continue
                what = known[k] if known is not None else _operand(lowering, value)
                if isinstance(what, ValueOf) and what.type == "none":
                    operands.append(None)
                else:
                    operands.append(node_of(lowering, value, what))
            case n.Star():
                operands.append(splice(lowering, argument, lowering.resolve(argument.value), operands))
            case n.Keyword(name, value) if name in by_name and name not in spec.attributes:
                operand = by_name[name]
                if isinstance(value, n.Hole):
                    free.add(name)
                    continue
                if (
                    operand.attribute is not None and _is_plain(value)
                    and value != n.Literal(None, span=value.span)
                ):
                    attributes.append(argument)
                    continue
                what = _operand(lowering, value)
                if operand.attribute is not None and isinstance(what, ValueOf) and what.type != "none":
                    attributes.append(argument)
                    continue
                named[name] = (
                    None if isinstance(what, ValueOf) and what.type == "none"
                    else node_of(lowering, value, what)
                )
            case n.Keyword() | n.Spread():
                attributes.append(argument)
    given = {operand.name for operand in spec.operands[: len(operands)]} | set(named)
    free |= {name for argument in attributes for name in _said_of_operands(spec, argument)}
    _append_named(lowering, expr, shown, spec, operands, named, free)
    return operands, attributes, given


def _append_named(
    lowering: Lowering, expr: n.Expr, shown: str, spec: Signature, operands: list[int | None | ir.Splice],
    named: dict[str, int | None],
    free: set[str],
) -> None:  # fmt: skip
    """Adds the operands that are said by name to those in order; of those between them, which are left out,
    any in `free` may stand there, and no other.
    """
    behind = [operand.name for operand in spec.operands[len(operands) :]]
    for name in named:
        if name not in behind:
            lowering.error(
                "E0302", f"operand `{name}` of `{shown}` is given twice", expr.span, "remove one of the two"
            )
    while behind and behind[-1] not in named and behind[-1] not in free:
        behind.pop()  # left out: absent
    for name in behind:
        operands.append(named[name] if name in named else _anything(lowering, expr) if name in free else None)


def _said_of_operands(spec: Signature, argument: n.Keyword | n.Spread) -> list[str]:
    """Operands whose value a keyword or spread constrains."""
    names = call_arguments.movable(spec)
    match argument:
        case n.Keyword(name, _):
            return [name] if name in names else []
        case n.Spread(_, None):
            return names
        case n.Spread(_, fields):
            return [field.id for field in fields or () if field.id in names]


def _anything(lowering: Lowering, expr: n.Expr) -> int:
    """An operand that is anything, or absent."""
    return lowering.add_pattern(
        ir.LeafNode(
            name=None, span=expr.span, block=lowering.block, kind="any", optional=True, is_input=False
        )
    ).node


def _is_plain(expr: n.Expr) -> bool:
    """True if an expression is a constraint on a value by its form: a number, a tuple, anything with `_`."""
    match expr:
        case n.Literal() | n.Hole() | n.TupleExpr():
            return True
        case n.Unary("-", operand) | n.Walrus(_, operand):
            return _is_plain(operand)
        case n.Binary("|", left, right):
            return _is_plain(left) and _is_plain(right)
    return False


def _is_tuple(lowering: Lowering, operand: int | None | ir.Splice) -> bool | None:
    """True if an operand is a tuple; None if unknown."""
    found = told_of(lowering, operand).results if isinstance(operand, int) else None
    return None if found is None else found != "tensor"


def _check_operands(
    lowering: Lowering,
    expr: n.Expr,
    shown: str,
    signatures: list[Signature],
    operands: list[int | None | ir.Splice],
) -> None:
    operators = (
        lowering.variables[shown].operators if shown in lowering.variables
        else tuple(s.name for s in signatures)
    )
    # of a list the first one tells what is meant
    for signature in [lowering.dialect.operators[name] for name in operators[:1]]:
        call_arguments.check_count(
            lowering, expr, signature, len(operands), any(isinstance(o, ir.Splice) for o in operands),
            None if shown == signature.name else shown,
        )
        for k, operand in enumerate(operands):
            spec = signature.operand(k)
            if operand is None and spec is not None and not spec.optional:
                lowering.error(
                    "E0302", f"operand `{spec.name}` of `{signature.name}` is not optional", expr.span,
                    "write a pattern for it: `any()` matches any tensor",
                )
            if operand is not None and spec is not None:
                _check_kind(lowering, signature, spec, operand if isinstance(operand, int) else operand.node)


def _check_kind(lowering: Lowering, signature: Signature, spec: OperandSpec, operand: int) -> None:
    """Report a tuple where an operand is a tensor, and the reverse; of alternatives each that is one."""
    lowering.taken.setdefault(operand, set()).add(spec.kind)
    pattern = lowering.patterns[operand]
    if isinstance(pattern, ir.CallNode) and len(pattern.operators) == 1:
        inner = lowering.dialect.operators[pattern.operators[0]]
        call_arguments.check_tuple(lowering, signature, spec, inner, pattern.span)
    stack = [operand]
    while stack:
        number = stack.pop()
        pattern, results = lowering.patterns[number], told_of(lowering, number).results
        if not call_arguments.check_tensor(
            lowering, signature, spec, results, pattern.called_as, pattern.span
        ):
            stack += reversed(pattern.stands_for)


def _operand(lowering: Lowering, expr: n.Expr) -> Denotation:
    """The denotation of an operand; the help for an unknown name that is no operator is to declare it."""
    if not isinstance(expr, n.Name) or expr.id in lowering.dialect.operators:
        return lowering.resolve(expr)
    with lowering.helping(
        expr.id, f"an input is declared in parentheses after the rule's name: `({expr.id})`"
    ):
        return lowering.resolve(expr)
