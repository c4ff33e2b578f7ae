"""`then_branch = Relu(x)`: the body in an attribute of a call, by what it computes.

Inside, names mean values of the source, `input[k]` is an input of the body, and calls are those of the body:
they make no pattern nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from typing import Final

from gslang.check import call_arguments, values
from gslang.check import checked as ir
from gslang.check.context import KINDS, Lowering, NodeOf, OperatorOf, ValueOf, branches_of
from gslang.check.unknown_operator import refuse, refuse_expression
from gslang.check.walks import walk
from gslang.dialect.signature import Signature
from gslang.syntax import nodes as n

_MOST_READ: Final = 4  # values that bodies of a call read: each of their orders is an alternative


def is_body(lowering: Lowering, signatures: Sequence[Signature], attribute: str, value: n.Expr) -> bool:
    """True if a constraint on an attribute says what a body computes, rather than compare the attribute."""
    specs = [spec for s in signatures if (spec := s.attributes.get(attribute)) is not None]
    if not specs or any(t.base != "graph" or t.depth for spec in specs for t in spec.types):
        return False
    match value:
        case n.Name(name):
            return isinstance(lowering.look_up(name), NodeOf)
        case n.Attribute():  # `prev.y`, `x.shape`, not `y.else_branch`
            what = lowering.resolve(value)
            return not isinstance(what, ValueOf) or what.type not in ("graph", "any")
        case n.Walrus(_, inner):
            return is_body(lowering, signatures, attribute, inner)
        case n.Literal(None) | n.Hole() | n.Conditional() | n.Match():
            return False
    return True


def body_attributes(lowering: Lowering, node: int) -> set[str]:
    """The attributes of a pattern node that are bodies."""
    found = [lowering.dialect.get(operator) for operator in lowering.patterns[node].operators]
    return {name for signature in found if signature is not None for name in names_of_bodies(signature)}


def names_of_bodies(signature: Signature) -> list[str]:
    """The attributes of an operator that are bodies."""
    return [spec.name for spec in signature.attributes.values() if any(t.base == "graph" for t in spec.types)]


def check_passed_on(
    lowering: Lowering, expr: n.Expr, signature: Signature, attributes: Mapping[str, ir.Value],
    spreads: Iterable[ir.SameAttributes],
) -> tuple[ir.Place, int] | None:  # fmt: skip
    """The call of the source whose bodies a new call has. Reports bodies of several calls: each reads outer
    values as the last operands of its own call, and the new call has one list of them.
    """
    names = set(names_of_bodies(signature))
    calls = {(whole.place, whole.node) for whole in spreads if not names.issubset(whole.without)}
    for part in walk([value for name, value in attributes.items() if name in names], lowering.lets):
        if isinstance(part, ir.NodeAttr) and any(
            part.name in body_attributes(lowering, node) for node in lowering.without_alternatives(part.node)
        ):
            calls.add((part.place, part.node))
    if len(calls) > 1:
        lowering.error(
            "E0314", "a new call cannot have bodies of several calls", expr.span,
            "take all its bodies from one call: each reads outer values as the operands of its own call",
        )
    return next(iter(calls), None)


def in_orders(
    lowering: Lowering, signature: Signature, owner: int, operands: Sequence[int]
) -> list[Sequence[int] | None]:
    """The operands of a new call for each order in which a described call matched (`orders`), so that its
    bodies read in the new call what they read there; nothing for a call that matches in one order.
    """
    branches = [lowering.patterns[branch] for branch in lowering.patterns[owner].branches]
    calls = [branch for branch in branches if isinstance(branch, ir.CallNode)]
    if len(calls) < 2 or len(calls) < len(branches) or len({call.constraints for call in calls}) > 1:
        return []
    listed = calls[0].operands
    fixed = sum(not spec.variadic for spec in signature.operands)
    return [_as_read(listed, call.operands, operands, fixed) for call in calls]


def _as_read(
    listed: tuple[int | None | ir.Splice, ...], matched: tuple[int | None | ir.Splice, ...],
    operands: Sequence[int], fixed: int,
) -> Sequence[int] | None:  # fmt: skip
    """The operands of a new call, exchanged as those that are `listed` in the source were `matched`; None for
    an order that no model has, since a body does not read one of the first operands twice.
    """
    more = len(operands) - len(listed)  # what bodies read are the last operands of both
    if listed[:fixed] != matched[:fixed] or fixed + more < 0:
        return None
    found, left = list(operands), dict(enumerate(listed))
    for k, operand in enumerate(matched):
        place = next(place for place, other in left.items() if other == operand)
        del left[place]
        if k >= fixed:
            found[k + more] = operands[place + more]
    return found


def computes(lowering: Lowering, signatures: Sequence[Signature], expr: n.Expr) -> ir.Computes:
    """The test of a body: an expression, or a tuple of one for each output. `signatures`: of the call."""
    items = expr.items if isinstance(expr, n.TupleExpr) else (expr,)
    test = ir.Computes(tuple([_part(lowering, item) for item in items]))
    if all(s.name == "If" for s in signatures) and any(isinstance(p, ir.BodyInput) for p in walk(test)):
        lowering.stop(
            "E0506", "the bodies of `If` have no inputs", expr.span,
            "they read values from outside: name one, as in `then_branch = Relu(x)`",
        )
    return test


def _part(lowering: Lowering, expr: n.Expr | n.Star) -> ir.BodyPart:
    """A value in a body: one result of a call."""
    match expr:
        case n.Walrus(name):
            lowering.stop(
                "E0504", f"`{name.id}` would be an intermediate result of a body, which has no name",
                expr.span, "repeat the expression where it is used; attributes may be captured",
            )
        case n.Hole():
            return ir.Anything()
        case n.Index(n.Name("input"), n.Literal(int() as index)) if index >= 0:
            return ir.BodyInput(index)
        case n.Index(n.Name("input")):
            lowering.stop(
                "E0506", "an input of a body is named by its number", expr.span,
                "write `input[0]` for the first one",
            )
        case n.Name(name) if isinstance(what := lowering.look_up(name), NodeOf):
            lowering.used_inputs.add(name)
            return ir.OuterValue(what.place, what.node, expr.span)
        case n.Attribute() if isinstance(what := lowering.resolve(expr), NodeOf):  # `prev.y` in a chain
            if not isinstance(what.place, ir.Own):
                lowering.stop(
                    "E0504", f"`{expr.span.text}` is a node of another instance, which a body cannot "
                    "read", expr.span, "name a node of this instance, or one from outside the block",
                )
            return ir.OuterValue(what.place, what.node, expr.span)
        case n.Call():
            return _result(lowering, expr)
        case n.Projection(n.Call() as base, index) | n.Index(n.Call() as base, n.Literal(int() as index)):
            return ir.BodyResult(_call(lowering, base), index)
        case n.Binary("+" | "-" | "*" | "/" as operator, left, right):
            operands = [_part(lowering, left), _part(lowering, right)]
            if not all(isinstance(operand, ir.BodyConstant) for operand in operands):
                return _made(lowering, lowering.dialect.infix[operator], operands, ())
        case n.Unary("-", operand) if not isinstance(operand, n.Literal):
            return _made(lowering, lowering.dialect.infix["neg"], [_part(lowering, operand)], ())
        case n.Binary("|"):
            return ir.BodyChoice(tuple([_part(lowering, branch) for branch in branches_of(expr)]))
        case n.Name() | n.Literal() | n.Unary("-") | n.Binary() | n.Attribute() | n.Index():
            found = values.value(lowering, expr)
            if found.type in ("str", "none", "dtype", "graph"):
                values.no_tensor(lowering, found.type, expr.span)
            return ir.BodyConstant(ir.ConstantEquals(found.value))
    lowering.stop(
        "E0504", "a body is described by calls, values of the source, its inputs and constants", expr.span,
        "for example `then_branch = Add(Relu(x), 1)`, `body = (input[1], Neg(input[2]))`",
    )


def _result(lowering: Lowering, expr: n.Call) -> ir.BodyPart:
    """The only result of a call; of `f?(x)` that, or the operand."""
    call = _call(lowering, expr)
    if not isinstance(call, ir.BodyCall):
        return call
    if lowering.dialect.operators[call.operator].results != "tensor":
        lowering.stop(
            "E0309", f"`{call.operator}` has several results", expr.span,
            f"project one: `{call.operator}(…).0`",
        )
    if not expr.optional:
        return call
    if len(call.operands) != 1 or (operand := call.operands[0]) is None:
        lowering.stop(
            "E0504", "`?` is for operators with one operand", expr.span, "write both alternatives: `p | q`"
        )
    return ir.BodyChoice((call, operand))


def _call(lowering: Lowering, expr: n.Call) -> ir.BodyPart:
    name = n.dotted(expr.callee)
    if name is None:
        refuse_expression(lowering, expr.callee)
    if name in ("const", "splat") and name not in lowering.functions:
        return _constant(lowering, expr, name)
    if isinstance(lowering.look_up(name), OperatorOf):
        lowering.stop(
            "E0504", f"`{name}` is an operator variable, which cannot be called in a body", expr.callee.span,
            f"write a rule for each operator: `rule name(…) for {name} in Relu, Tanh: …`",
        )
    if name in KINDS:
        lowering.stop(
            "E0504", f"`{name}` is a kind of input, which a value in a body cannot have", expr.span,
            "write `_` for any value, `const()` for any constant",
        )
    if name in lowering.functions:
        lowering.stop(
            "E0504", f"`{name}` is a function, which cannot be called in a body", expr.callee.span,
            "write its calls instead",
        )
    signature = lowering.dialect.get(name)
    if signature is None:
        refuse(lowering, expr, name)
    operands: list[ir.BodyPart | None] = []
    by_name = {operand.name: k for k, operand in enumerate(signature.operands)}
    attributes: list[n.Keyword | n.Spread] = []
    for argument in expr.arguments:
        match argument:
            case n.Positional(n.Literal(None)):
                operands.append(None)
            case n.Positional(value):
                operands.append(_part(lowering, value))
            case n.Keyword(field, value) if field in by_name and field not in signature.attributes:
                place = by_name[field]
                operands += [None] * (place + 1 - len(operands))
                operands[place] = (
                    None if value == n.Literal(None, span=value.span) else _part(lowering, value)
                )
            case n.Keyword(field, value) if is_body(lowering, [signature], field, value):
                lowering.stop(
                    "E0506", "a body inside a body cannot be described", value.span,
                    "write `_` for it",
                )
            case n.Keyword():
                attributes.append(argument)
            case _:
                lowering.stop(
                    "E0506", "a call in a body must list its operands and attributes individually",
                    argument.span, "write each: `Softmax(x, axis = -1)`",
                )
    while operands and operands[-1] is None:
        operands.pop()
    call_arguments.check_count(lowering, expr, signature, len(operands), False, None)
    constraints = call_arguments.constraints(lowering, [signature], signature.name, attributes, set())
    return _made(
        lowering, signature.name, operands, tuple([c for c in constraints if isinstance(c, ir.Constraint)])
    )


def _made(
    lowering: Lowering, operator: str, operands: Sequence[ir.BodyPart | None],
    constraints: tuple[ir.Constraint, ...],
) -> ir.BodyCall:  # fmt: skip
    swappable = "commutative" in lowering.dialect.operators[operator].traits and len(operands) == 2
    return ir.BodyCall(operator, tuple(operands), constraints, swappable)


def _constant(lowering: Lowering, expr: n.Call, name: str) -> ir.BodyConstant:
    """`const()`, `const(value = v)`, `splat(v)`."""
    match name, expr.arguments:
        case "const", ():
            return ir.BodyConstant(ir.Anything())
        case "const", (n.Keyword("value", value),):
            return ir.BodyConstant(ir.ConstantEquals(values.value(lowering, value).value))
        case "splat", (n.Positional(value),):
            return ir.BodyConstant(ir.SplatEquals(values.value(lowering, value).value))
    lowering.stop(
        "E0503", f"wrong arguments for `{name}` in a body", expr.span,
        "write `const()`, `const(value = v)` or `splat(v)`",
    )


# ── what bodies read ────────────────────────────────────────────────────────────────────────────────────────


def _check_inputs(lowering: Lowering, call: ir.CallNode) -> None:
    """Report an input that a body cannot have: it has one for each operand, and those of `Loop` at least two.
    """
    if any(isinstance(operand, ir.Splice) for operand in call.operands):
        return  # as many as there are instances
    most = max(2, len(call.operands))
    for test in call.tests:
        read = [part.index for part in walk(test.test) if isinstance(part, ir.BodyInput)]
        if max(read, default=0) >= most:
            lowering.error(
                "E0506", f"a body of this call has no `input[{max(read)}]`: it has at most {most} inputs",
                test.span, "it has one for each operand; the first two of `Loop` are iteration and condition",
            )


def orders(lowering: Lowering, call: ir.CallNode) -> list[ir.CallNode]:
    """A call, and the same with what its bodies read in other orders: a model has these operands in the order
    in which it happens to use them first.
    """
    read = list(_outer_values(call))
    for value in read:
        if value.node not in call.operands:
            name = value.span.text
            lowering.stop(
                "E0302", f"a body reads `{name}`, which is not an operand of this call", value.span,
                f"the values that bodies read are the last operands: `{call.operators[0]}(…, {name}, …)`",
            )
    _check_inputs(lowering, call)
    wanted = {value.node for value in read}
    signature = lowering.dialect.operators[call.operators[0]]
    places = [
        k
        for k, operand in enumerate(call.operands)
        if operand in wanted or (spec := signature.operand(k)) is not None and spec.name == "captured"
    ]
    if len(places) > _MOST_READ:
        lowering.stop(
            "E0302", f"body patterns may read at most {_MOST_READ} values, these read {len(places)}",
            call.span, "write `_` for the bodies, and count their calls: `calls(y.then_branch, Relu) == 1`",
        )
    found = dict.fromkeys(permutations([call.operands[k] for k in places]))
    return [replace(call, operands=_placed(call.operands, places, order)) for order in found]


def _placed(
    operands: tuple[int | None | ir.Splice, ...], places: list[int],
    now: tuple[int | None | ir.Splice, ...],
) -> tuple[int | None | ir.Splice, ...]:  # fmt: skip
    given = dict(zip(places, now))
    return tuple([given.get(k, operand) for k, operand in enumerate(operands)])


def _outer_values(call: ir.CallNode) -> Iterator[ir.OuterValue]:
    """The values of the source that bodies of a call name."""
    return (
        part
        for constraint in call.tests if isinstance(constraint.test, ir.Computes)
        for part in walk(constraint.test) if isinstance(part, ir.OuterValue)
    )
