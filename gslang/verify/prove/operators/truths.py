"""Truth values as numbers: 1 and 0, so that logic is arithmetic.

A comparison of real numbers is `positive(b − a)`: 1 where its argument is above 0. For whole numbers, which
wrap, it compares `order(x)`, the number that x stands for. p and q is p·q, not p is 1 − p, `where(p, x, y)`
is p·x + (1 − p)·y; p·p is p (`terms.is_truth`). Whatever follows by propositional logic from comparisons as
they stand is then equal as polynomials; what follows from the order of numbers, `cases` decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from gslang.verify.prove.operators.tensors import Index, Tensor, World
from gslang.verify.prove.terms.axioms import FUNCTIONS
from gslang.verify.prove.terms.dtypes import TRUTH, Dtype, holds_sizes, numbers_of
from gslang.verify.prove.terms.paths import NotProved
from gslang.verify.prove.terms.signs import at_least_0, is_positive
from gslang.verify.prove.terms.terms import ONE, ZERO, Term, number, unknown
from gslang.verify.prove.terms.uses import is_raw, rewrite, use

_SMALL = 127  # whole numbers up to this stand for themselves in each type


def positive(x: Term) -> Term:
    """1 where x > 0, else 0."""
    if is_raw():
        return unknown("positive", x)
    if x.constant is not None and x.constant > 0 or is_positive(x):
        use("comparison that holds", x=x)
        return ONE
    if x.constant is not None or at_least_0(-x):
        use("comparison that fails", x=x)
        return ZERO
    scale = abs(min(x.parts.items(), key=lambda item: [atom.key for atom, _ in item[0]])[1])
    if scale != 1:
        use("scaled comparison", x=x.scaled(1 / scale), n=number(scale))
    return unknown("positive", x.scaled(1 / scale))


def order(x: Term) -> Term:
    """The number that a whole number of some type stands for."""
    constant = x.constant
    if constant is not None and constant.denominator == 1 and 0 <= constant <= _SMALL and not is_raw():
        use("number of a small whole number", n=x)
        return x
    return unknown("order", x)


def _wide_order(x: Term) -> Term:
    """The same for a type that holds the sizes of tensors."""
    alone = x.alone
    if alone is not None and alone[1] == 1 and alone[0].kind == "num" and not is_raw():
        rewrite("number of a size", lambda: unknown("wide order", x), x)
        return x
    return order(x)


def truth(x: Term) -> Term:
    """An element that is known to be 1 or 0."""
    alone = x.alone
    if alone is not None and alone[0].name == "truth" and alone[1] == 1 and not is_raw():
        use("truth of a truth value", x=alone[0].args[0])
        return x
    return unknown("truth", x)


FUNCTIONS.update({"positive": positive, "order": order, "wide order": _wide_order, "truth": truth})

Of = Callable[[Term, Term], Term]


def _not(p: Term) -> Term:
    return ONE - p


def _differ(p: Term, q: Term) -> Term:
    return p + q - (p * q).scaled(Fraction(2))


def _less(a: Term, b: Term) -> Term:
    return positive(b - a)


def unequal(a: Term, b: Term) -> Term:
    """1 where two numbers differ."""
    return positive(a - b) + positive(b - a)


_COMPARISONS: dict[str, Of] = {
    "less": _less,
    "greater": lambda a, b: _less(b, a),
    "lessequal": lambda a, b: _not(_less(b, a)),
    "greaterequal": lambda a, b: _not(_less(a, b)),
    "notequal": unequal,
    "equal": lambda a, b: _not(unequal(a, b)),
    "lessorequal": lambda a, b: _not(_less(b, a)),
    "greaterorequal": lambda a, b: _not(_less(a, b)),
}
_LOGIC: dict[str, Callable[..., Term]] = {
    "and": lambda p, q: p * q, "or": lambda p, q: p + q - p * q, "xor": _differ, "not": _not,
}  # fmt: skip


def of_bits(name: str) -> Callable[..., Term] | None:
    """The function of truth values that one of bits is for them: `bitwise_and`; None for other functions."""
    return _LOGIC.get(name.removeprefix("bitwise_")) if name.startswith("bitwise_") else None


def plain_name(operator: str) -> str:
    """The name of a function of truth values in both dialects: `less_equal`, `logical_and`, `LessOrEqual`,
    `And`.
    """
    return operator.removeprefix("logical_").replace("_", "").lower()


def is_of_truths(operator: str) -> bool:
    """True if an operator computes with truth values or makes them by comparing."""
    return (
        plain_name(operator) in _COMPARISONS or plain_name(operator) in _LOGIC
        or operator in ("where", "Where")
    )


def truth_function(world: World, operator: str, operands: Sequence[Tensor]) -> Tensor:
    """Comparisons, logic, and the choice between two tensors."""
    name = plain_name(operator)
    if name == "where":
        return _where(world, *operands)
    for other in operands[1:]:
        world.need_same_dtype(operands[0].dtype, other.dtype)
    if name in _LOGIC:
        world.need_same_dtype(operands[0].dtype, "bool")
        return _each(world, _LOGIC[name], operands)
    numbers, _ = numbers_of(operands[0].dtype)
    if numbers == TRUTH:
        if name not in ("equal", "notequal"):
            raise NotProved("ordering Booleans is not supported")
        return _each(world, _differ if name == "notequal" else lambda p, q: _not(_differ(p, q)), operands)
    of = _COMPARISONS[name]
    if world.is_real(operands[0].dtype):
        return _each(world, of, operands)
    place = _wide_order if holds_sizes(operands[0].dtype) else order
    return _each(world, lambda a, b: of(place(a), place(b)), operands)


def _each(world: World, of: Callable[..., Term], operands: Sequence[Tensor]) -> Tensor:
    return by_elements(world, lambda arguments: of(*arguments), operands, "bool")


def by_elements(
    world: World, of: Callable[[list[Term]], Term], operands: Sequence[Tensor], dtype: str | Dtype,
    is_known: Callable[[list[Term]], bool] = lambda values: True,
) -> Tensor:  # fmt: skip
    """A function of the operands' elements, broadcast. `is_known`: of equal elements it is one value."""
    shape = world.broadcast(*[o.shape for o in operands])
    alike = all(o.splat is not None or world.same_shape(o.shape, shape) for o in operands)
    values = [o.splat for o in operands if o.splat is not None]
    return Tensor(
        shape, dtype, lambda index: of([world.element(o, shape, index) for o in operands]),
        (lambda place: of([world.flat_at(o, place) for o in operands])) if alike else None,
        of(values) if len(values) == len(operands) and is_known(values) else None,
    )  # fmt: skip


def _where(world: World, condition: Tensor, then: Tensor, otherwise: Tensor) -> Tensor:
    world.need_same_dtype(condition.dtype, "bool")
    world.need_same_dtype(then.dtype, otherwise.dtype)
    shape = world.broadcast(condition.shape, then.shape, otherwise.shape)

    def at(index: Index) -> Term:
        p = world.element(condition, shape, index)
        if p.constant is not None:
            return world.element(then if p.constant else otherwise, shape, index)
        with world.where(p):
            first = world.element(then, shape, index)
        with world.where(_not(p)):
            second = world.element(otherwise, shape, index)
        return p * first + _not(p) * second

    return Tensor(shape, then.dtype, at)


