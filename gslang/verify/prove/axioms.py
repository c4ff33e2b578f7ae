"""What is known of functions of real numbers: the laws that the prover may use, each by name.

`apply(name, arguments)` is the function's value in normal form. √x·√x = x and exp(log x) = x hold where the left side is defined at all
(`tensors.need_defined` sees to that). Functions that are not here are unknown functions. Maximum and minimum are a lattice: arguments that another one dominates go away, nested ones are flattened,
min(a, b) = −max(−a, −b), relu(x) = max(x, 0), |x| = max(x, −x). Truth values are 1 and 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce

from gslang.verify.prove.terms import ONE, SIMPLIFY, ZERO, Atom, Term, inverse, number, of_atom, term, unknown


def square_root(x: Term) -> Term:
    """√x; the root itself for squares of fractions."""
    constant = x.constant
    if constant is not None and constant >= 0:
        for part in (constant.numerator, constant.denominator):
            if round(part**0.5) ** 2 != part:
                return unknown("sqrt", x)
        return number(Fraction(round(constant.numerator**0.5), round(constant.denominator**0.5)))
    return unknown("sqrt", x)


def _roots(items: list[tuple[Atom, int]]) -> Term | None:
    """√x² = x."""
    if all(abs(exponent) < 2 for _, exponent in items):
        return None
    result = ONE
    for atom, exponent in items:
        whole = abs(exponent) // 2
        base = atom.args[0].power(whole)
        result = result * (base if exponent > 0 else inverse(base))
        if exponent % 2:
            result = result * term({((atom, 1 if exponent > 0 else -1),): Fraction(1)})
    return result


def exponential(x: Term) -> Term:
    """exp(x); exp(n · log y) is yⁿ."""
    if not x.parts:
        return ONE
    alone = x.alone
    if alone is not None and alone[0].kind == "fn" and alone[0].name == "log" and alone[1].denominator == 1:
        return alone[0].args[0].power(int(alone[1]))  # type: ignore[no-any-return]
    return unknown("exp", x)


def _exponentials(items: list[tuple[Atom, int]]) -> Term | None:
    """exp(x)·exp(y) = exp(x + y)."""
    if len(items) == 1 and items[0][1] == 1:
        return None
    total = ZERO
    for atom, exponent in items:
        total = total + atom.args[0].scaled(Fraction(exponent))
    return exponential(total)


def logarithm(x: Term) -> Term:
    """log x, of products as a sum."""
    if x.constant == 1:
        return ZERO
    if len(x.parts) == 1:
        ((factors, c),) = x.parts.items()
        if c > 0 and (len(factors) > 1 or factors and (factors[0][1] != 1 or factors[0][0].name == "exp")):
            total = ZERO if c == 1 else unknown("log", number(c))
            for atom, exponent in factors:
                if atom.kind == "guard":
                    return unknown("log", x)
                part = atom.args[0] if atom.kind == "fn" and atom.name == "exp" else unknown("log", of_atom(atom))
                total = total + part.scaled(Fraction(exponent))
            return total
    return unknown("log", x)


SIMPLIFY.update({"sqrt": _roots, "exp": _exponentials})

# ── order ──


def at_least_0(x: Term) -> bool:
    """Whether x ≥ 0 for sure."""
    return all(c >= 0 and all(exponent % 2 == 0 or _atom_at_least_0(atom) for atom, exponent in factors) for factors, c in x.parts.items())


def _atom_at_least_0(atom: Atom) -> bool:
    if atom.kind == "guard" or atom.kind == "num" and not atom.name.startswith(("@", "floor")):
        return True
    if atom.kind == "total" and atom.name == "sum" or atom.kind == "group":
        return at_least_0(atom.args[0])
    if atom.kind == "fn" and atom.name == "max":
        return any(at_least_0(a) for a in atom.args) or len(atom.args) == 2 and (atom.args[0] + atom.args[1]).constant == 0
    return atom.kind == "fn" and atom.name in ("exp", "sqrt", "sigmoid")


def is_positive(x: Term) -> bool:
    """Whether x > 0 for sure."""
    return at_least_0(x) and any(
        c > 0 and all(_atom_is_positive(atom) for atom, _ in factors) for factors, c in x.parts.items()
    )  # fmt: skip


def _atom_is_positive(atom: Atom) -> bool:
    if atom.kind == "num":
        size = atom.args[0]
        return bool(size.facts.proves(size - 1))
    if atom.kind == "group" or atom.kind == "total" and atom.name == "sum":
        return is_positive(atom.args[0])
    if atom.kind == "fn" and atom.name == "max":
        return any(is_positive(a) for a in atom.args)
    if atom.kind == "fn" and atom.name == "sqrt":
        return is_positive(atom.args[0])
    return atom.kind == "fn" and atom.name in ("exp", "sigmoid")


def _lattice(x: Term, sign: int) -> tuple[Term, ...] | None:
    """The arguments of a maximum (sign 1) or minimum (−1) that x is."""
    alone = x.alone
    if alone is None or alone[0].kind != "fn" or alone[0].name != "max" or alone[1] * sign <= 0:
        return None
    return tuple(argument.scaled(alone[1]) for argument in alone[0].args)


def dominates(a: Term, b: Term, depth: int = 4) -> bool:
    """Whether a ≥ b for sure."""
    if at_least_0(a - b):
        return True
    if depth == 0:
        return False
    if (least := _lattice(b, 1)) is not None and all(dominates(a, x, depth - 1) for x in least):
        return True
    if (least := _lattice(a, -1)) is not None and all(dominates(x, b, depth - 1) for x in least):
        return True
    if (most := _lattice(a, 1)) is not None and any(dominates(x, b, depth - 1) for x in most):
        return True
    return (most := _lattice(b, -1)) is not None and any(dominates(a, x, depth - 1) for x in most)


def maximum(*arguments: Term) -> Term:
    """The largest argument: a lattice, in normal form up to a positive factor and a common summand."""
    flat: dict[str, Term] = {}
    for argument in arguments:
        for x in _lattice(argument, 1) or (argument,):
            flat[x.key] = x
    kept = [flat[key] for key in sorted(flat)]
    for x in list(kept):
        if any(other is not x and dominates(other, x) for other in kept):
            kept.remove(x)
    if len(kept) == 1:
        return kept[0]
    shared = dict(kept[0].parts)  # max(a + c, b + c) = max(a, b) + c
    for x in kept[1:]:
        shared = {factors: c for factors, c in shared.items() if x.parts.get(factors) == c}
    common = term(shared)
    rest = [x - common for x in kept]
    rest.sort(key=lambda x: x.key)
    scale = next(abs(c) for x in rest for _, c in sorted(x.parts.items(), key=lambda item: [a.key for a, _ in item[0]]))
    rest = sorted((x.scaled(1 / scale) for x in rest), key=lambda x: x.key)
    return unknown("max", *rest).scaled(scale) + common


def minimum(*arguments: Term) -> Term:
    """−max(−a, −b, …)."""
    return -maximum(*(-a for a in arguments))


def _power(x: Term, y: Term) -> Term:
    exponent = y.constant
    if exponent is not None and exponent.denominator == 1 and abs(exponent) <= 8:
        return x.power(int(exponent))
    if exponent is not None and exponent.denominator == 2 and abs(exponent) <= 4:
        return square_root(x).power(int(exponent * 2))
    return unknown("power", x, y)


def _sigmoid(x: Term) -> Term:
    return inverse(ONE + exponential(-x))


def _mish(x: Term) -> Term:
    return x * unknown("Tanh", logarithm(ONE + exponential(x)))


def _hard_sigmoid(x: Term, alpha: Term, beta: Term) -> Term:
    return minimum(maximum(alpha * x + beta, ZERO), ONE)


def _hard_swish(x: Term) -> Term:
    return x * _hard_sigmoid(x, number(Fraction(1, 6)), number(Fraction(1, 2)))


def _where(condition: Term, then: Term, otherwise: Term) -> Term:
    """Truth values are 1 and 0."""
    if condition.constant is None:
        return unknown("where", condition, then, otherwise)
    return then if condition.constant else otherwise


def _and(x: Term, y: Term) -> Term:
    return _logic("And", x, y, neutral=1)


def _or(x: Term, y: Term) -> Term:
    return _logic("Or", x, y, neutral=0)


def _logic(name: str, x: Term, y: Term, neutral: int) -> Term:
    for one, other in ((x, y), (y, x)):
        if one.constant is not None:
            return other if one.constant == neutral else one
    return unknown(name, *sorted((x, y), key=lambda term: term.key))


Function = Callable[..., Term]
FUNCTIONS: dict[str, Function] = {
    "add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b, "divide": lambda a, b: a * inverse(b),
    "negative": lambda a: -a, "copy": lambda a: a, "sqrt": square_root, "rsqrt": lambda a: inverse(square_root(a)),
    "exp": exponential, "log": logarithm, "maximum": maximum, "minimum": minimum, "relu": lambda a: maximum(a, ZERO),
    "abs": lambda a: maximum(a, -a), "power": _power, "sigmoid": _sigmoid, "square": lambda a: a * a, "reciprocal": inverse,
    "clip": lambda x, low, high: minimum(maximum(x, low), high), "Mish": _mish, "HardSigmoid": _hard_sigmoid, "HardSwish": _hard_swish,
    "com.microsoft.QuickGelu": lambda x, alpha: x * _sigmoid(alpha * x),
    "Where": _where, "where": _where, "And": _and, "Or": _or,
}  # fmt: skip
SYMMETRIC = frozenset({
    "Xor", "Equal", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "equal", "not_equal", "logical_and", "logical_or", "logical_xor",
    "bitwise_and", "bitwise_or", "bitwise_xor",
})  # fmt: skip
IDEMPOTENT = frozenset({"Floor", "Ceil", "Round", "Sign", "floor", "ceil", "round", "trunc", "sign"})
INVOLUTION = frozenset({"Not", "BitwiseNot", "logical_not", "bitwise_not"})


def apply(name: str, arguments: Sequence[Term]) -> Term:
    """The function of this name; an unknown one if no law is known of it."""
    if name in FUNCTIONS:
        return FUNCTIONS[name](*arguments)
    if name in IDEMPOTENT and _made_by(name, arguments[0]) is not None:
        return arguments[0]
    if name in INVOLUTION and (inner := _made_by(name, arguments[0])) is not None:
        return inner
    if name in SYMMETRIC:
        arguments = sorted(arguments, key=lambda x: x.key)
    return unknown(name, *arguments)


def _made_by(name: str, x: Term) -> Term | None:
    """The argument of the function of which x is a value; None for what is no value of it."""
    alone = x.alone
    if alone is None or alone[1] != 1 or alone[0].kind != "fn" or alone[0].name != name:
        return None
    return alone[0].args[0]  # type: ignore[no-any-return]


# ── whole numbers that wrap: order is a lattice, and nothing else ──


def _whole_lattice(name: str, better: Callable[[Fraction, Fraction], Fraction]) -> Function:
    def lattice(*arguments: Term) -> Term:
        flat: dict[str, Term] = {}
        constants: list[Fraction] = []
        for argument in arguments:
            alone = argument.alone
            inner = alone[0].args if alone is not None and alone[1] == 1 and alone[0].kind == "fn" and alone[0].name == name else (argument,)
            for x in inner:
                if x.constant is not None and 0 <= x.constant <= 127 and x.constant.denominator == 1:  # every type of whole numbers has these
                    constants.append(x.constant)
                else:
                    flat[x.key] = x
        if constants:
            least = number(reduce(better, constants))
            flat[least.key] = least
        kept = [flat[key] for key in sorted(flat)]
        return kept[0] if len(kept) == 1 else unknown(name, *kept)

    return lattice


_whole_max, _whole_min = _whole_lattice("whole maximum", max), _whole_lattice("whole minimum", min)
WHOLE_FUNCTIONS: dict[str, Function] = {
    "maximum": _whole_max, "minimum": _whole_min, "relu": lambda a: _whole_max(a, ZERO), "abs": lambda a: unknown("whole abs", a),
    "clip": lambda x, low, high: _whole_min(_whole_max(x, low), high),
}  # fmt: skip
FUNCTIONS.update({"whole maximum": _whole_max, "whole minimum": _whole_min})
