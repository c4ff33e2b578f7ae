"""Operator variables: the operators that `op(…)` admits, and of those by trait the ones that fit the
variable's calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from gslang.base.suggest import did_you_mean
from gslang.check import checked as ir
from gslang.check.context import Lowering
from gslang.check.implied_dialect import dialect_with
from gslang.dialect.signature import REQUIRED, TRAITS, Signature
from gslang.syntax import nodes as n

_KIND: Final = "write `op(elementwise, not broadcast)` or `op(nn.relu | tanh)`"


def operators_of(lowering: Lowering, kind: n.Kind) -> tuple[str, ...]:
    """The operators that `op(elementwise, not broadcast)`, `op(nn.conv1d | nn.conv2d)` or `op(_)` admits."""
    if not kind.arguments:
        lowering.stop(
            "E0310", "an operator variable takes traits and operators", kind.span,
            "write `op(elementwise)`, or `op(_)` for any operator",
        )
    chosen: list[str] | None = None
    for argument in kind.arguments:
        if not isinstance(argument, n.Positional):
            lowering.stop("E0310", "an operator variable takes traits and operators", argument.span, _KIND)
        part = admitted(lowering, argument.value)
        chosen = part if chosen is None else [name for name in chosen if name in set(part)]
    result = tuple(sorted(lowering.dialect.operators) if chosen is None else chosen)
    if not result:
        lowering.stop(
            "E0310", "no operator matches this variable", kind.span,
            "a comma means and, `|` means or: `op(elementwise | reduction)`",
        )
    return result


def admitted(lowering: Lowering, expr: n.Expr) -> list[str]:
    """The operators that an expression over traits and operators stands for."""
    match expr:
        case n.Binary("|", left, right):
            first = admitted(lowering, left)
            return first + [name for name in admitted(lowering, right) if name not in set(first)]
        case n.Unary("not", operand):
            excluded = set(admitted(lowering, operand))
            return [name for name in sorted(lowering.dialect.operators) if name not in excluded]
        case n.Hole():
            return sorted(lowering.dialect.operators)
    name = n.dotted(expr)
    if name is None:
        lowering.stop("E0310", "an operator variable takes traits and operators", expr.span, _KIND)
    if name in lowering.dialect.operators and name not in TRAITS:
        return [name]
    if name in TRAITS:
        return list(lowering.dialect.by_trait.get(name, ()))
    guess = did_you_mean(name, [*TRAITS, *lowering.dialect.operators])
    other = None if guess else dialect_with(name, lowering.dialect.name)
    lowering.stop(
        "E0301", f"`{name}` is neither a trait nor an operator", expr.span,
        f"did you mean `{guess}`?" if guess
        else f"dialect `{other}` has this operator: did you mean `dialect {other};`?" if other
        else f"traits: {', '.join(sorted(TRAITS))}",
    )  # fmt: skip


def is_by_trait(kind: n.Kind) -> bool:
    """True if a variable's operators are not listed one by one: then it stands for those that fit its
    calls."""
    return not kind.arguments or any(
        isinstance(a, n.Positional) and _names_trait(a.value) for a in kind.arguments
    )


def _names_trait(expr: n.Expr) -> bool:
    match expr:
        case n.Binary(_, left, right):
            return _names_trait(left) or _names_trait(right)
        case n.Unary() | n.Hole():
            return True
    return n.dotted(expr) in TRAITS


# ── fitting calls ───────────────────────────────────────────────────────────────────────────────────────────


def narrow(
    lowering: Lowering, expr: n.Expr, variable: str, arguments: Sequence[n.Argument]
) -> tuple[str, ...]:
    """The operators of a variable for a call of it; one by trait stands from now on for those that take these
    arguments.
    """
    known = lowering.variables[variable].operators
    if variable in lowering.trait_variables:
        fitting = tuple(
            name for name in known
            if _fits(lowering.dialect.operators[name], arguments, lowering.side == "target")
        )
        _settle(lowering, expr, variable, fitting)
    return lowering.variables[variable].operators


def narrow_by_operands(
    lowering: Lowering, expr: n.Expr, variable: str, is_tuple: Sequence[bool | None]
) -> None:
    """The same, by which of the operands are tuples and which are none (None: not known)."""
    if variable in lowering.trait_variables:
        known = [lowering.dialect.operators[name] for name in lowering.variables[variable].operators]
        _settle(
            lowering, expr, variable,
            tuple(s.name for s in known if all(map(_takes, _specs(s, len(is_tuple)), is_tuple))),
        )


def _settle(lowering: Lowering, expr: n.Expr, variable: str, fitting: tuple[str, ...]) -> None:
    before = lowering.variables[variable]
    if not fitting:
        some = lowering.dialect.operators[before.operators[0]]
        operands = ", ".join(f"`{o.name}`" for o in some.operands) or "none"
        lowering.stop(
            "E0310", f"no operator that `{variable}` may match accepts this call", expr.span,
            f"`{some.name}` is one of them: its operands are {operands}; all calls of `{variable}` are of "
            "one operator",
        )
    lowering.variables[variable] = replace(before, operators=fitting)


def _fits(signature: Signature, arguments: Sequence[n.Argument], in_target: bool) -> bool:
    """True if a call may have these arguments: the number of operands, the names of attributes, and in a
    target all that it needs."""
    names = {argument.name for argument in arguments if isinstance(argument, n.Keyword)}
    operands = [operand.name for operand in signature.operands]
    given = sum(isinstance(argument, n.Positional) for argument in arguments)
    sequence = any(isinstance(argument, n.Star) for argument in arguments)
    variadic = any(operand.variadic for operand in signature.operands)
    if (
        not names <= {*operands, *signature.attributes} or not variadic
        and (sequence or given > len(operands))
    ):
        return False
    needed = [
        o.name
        for o in signature.operands[given:] if not o.optional and not o.variadic and o.name not in names
    ]
    if needed and not sequence:
        return False
    if not in_target or any(isinstance(argument, n.Spread) for argument in arguments):
        return True
    return all(name in names for name, spec in signature.attributes.items() if spec.default is REQUIRED)


def _specs(signature: Signature, count: int) -> list[str]:
    """The declared kinds of the first operands."""
    rest = next((o.kind for o in signature.operands if o.variadic), "")
    return [signature.operands[k].kind if k < len(signature.operands) else rest for k in range(count)]


def _takes(kind: str, is_tuple: bool | None) -> bool:
    return is_tuple is None or (kind == "tuple") == is_tuple


def settle_calls(lowering: Lowering) -> None:
    """Let all calls of a variable have the operators that it stands for in the end."""
    for k, node in enumerate(lowering.patterns):
        if isinstance(node, ir.CallNode) and node.variable is not None:
            operators = lowering.variables[node.variable].operators
            lowering.patterns[k] = replace(
                node, operators=operators, swappable=node.swappable & frozenset(operators)
            )
