"""The laws of `laws.LAWS` at work: values of functions in normal form, each use of a law by its name
(`uses`).

`apply(name, arguments)` is the function's value. √x·√x = x and exp(log x) = x hold where the left side is
defined at all (`tensors.need_defined` sees to that). Functions without a law are unknown functions. Maximum
and minimum are a lattice: arguments that another one dominates go away, nested ones are flattened. log |x| is
written `log_abs(x)` where nobody says that x is positive: a logarithm of a product is a sum of these. Truth
values are 1 and 0.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from math import gcd, isqrt, lcm

from gslang.verify.laws import BY_NAME, DEFINITIONS, NAMES, function_of, parsed
from gslang.verify.prove.terms.signs import at_least_0, is_positive
from gslang.verify.prove.terms.terms import (
    ONE,
    SIMPLIFY,
    ZERO,
    Atom,
    Term,
    inverse,
    number,
    of_atom,
    term,
    unknown,
)
from gslang.verify.prove.terms.uses import is_raw, rewrite, use


def square_root(x: Term) -> Term:
    """√x; the root itself for squares of fractions, and q·√y for q²·y."""
    constant = x.constant
    if is_raw():
        return unknown("sqrt", x)
    if constant is not None:
        root = _root_of(constant)
        if root is not None:
            use("root of a square number", n=number(root))
            return number(root)
        return unknown("sqrt", x)
    if (base := _base_of_square(x)) is not None:
        use("root of a square", x=base)
        return maximum(base, -base)
    common = _common_factor(x)
    root = _root_of(common)
    if root is None or root == 1:
        return unknown("sqrt", x)
    rest = number(1 / common) * x
    use("root of a square multiple", n=number(root), x=rest)
    return number(root) * unknown("sqrt", rest)


def _root_of(number_: Fraction) -> Fraction | None:
    """The root of the square of a fraction; None for any other number."""
    if number_ < 0:
        return None
    root = Fraction(isqrt(number_.numerator), isqrt(number_.denominator))
    return root if root * root == number_ else None


def _base_of_square(x: Term) -> Term | None:
    """A product whose square is x; None where x is no square of one."""
    if len(x.parts) != 1:
        return None
    ((factors, c),) = x.parts.items()
    root = _root_of(c)
    if root is None or any(exponent % 2 or exponent < 0 for _, exponent in factors):
        return None
    return term({tuple((atom, exponent // 2) for atom, exponent in factors): root})


def _common_factor(x: Term) -> Fraction:
    """The largest fraction of which each coefficient is a multiple."""
    coefficients = list(x.parts.values())
    denominator = lcm(*[c.denominator for c in coefficients])
    return Fraction(gcd(*[int(c * denominator) for c in coefficients]), denominator)


def _roots(items: list[tuple[Atom, int]]) -> Term | None:
    """√x² = x."""
    if is_raw() or all(abs(exponent) < 2 for _, exponent in items):
        return None
    result = ONE
    for atom, exponent in items:
        whole = abs(exponent) // 2
        if whole:
            use("square of a root" if exponent > 0 else "inverse square of a root", x=atom.args[0])
        base = atom.args[0].power(whole)
        result = result * (base if exponent > 0 else inverse(base))
        if exponent % 2:
            result = result * term({((atom, 1 if exponent > 0 else -1),): Fraction(1)})
    return result


def exponential(x: Term) -> Term:
    """exp(x); exp(n · log y) is yⁿ, exp(n · log |y|) for even n only."""
    if is_raw():
        return unknown("exp", x)
    if not x.parts:
        use("exponential of zero")
        return ONE
    alone = x.alone
    if alone is not None and alone[0].kind == "fn" and alone[1].denominator == 1:
        (atom, n) = alone
        if atom.name == "log":
            use("exponential of a logarithm", x=atom.args[0], n=number(n))
            return atom.args[0].power(int(n))  # type: ignore[no-any-return]
        if atom.name == "log_abs" and n % 2 == 0:
            use("exponential of an absolute logarithm", x=atom.args[0], n=number(n / 2))
            return atom.args[0].power(int(n))  # type: ignore[no-any-return]
    return unknown("exp", x)


def _exponentials(items: list[tuple[Atom, int]]) -> Term | None:
    """exp(x)·exp(y) = exp(x + y)."""
    if is_raw() or len(items) == 1 and items[0][1] == 1:
        return None
    total: Term | None = None
    for atom, exponent in items:
        part = atom.args[0].scaled(Fraction(exponent))
        if exponent != 1:
            use("power of an exponential", x=atom.args[0], n=number(exponent))
        if total is not None:
            use("product of exponentials", x=total, y=part)
        total = part if total is None else total + part
    return exponential(total or ZERO)


def logarithm(x: Term) -> Term:
    """log x, of products as a sum of log |factor|."""
    if is_raw():
        return unknown("log", x)
    if x.constant == 1:
        use("logarithm of one")
        return ZERO
    if len(x.parts) != 1:
        return unknown("log", x)
    ((factors, c),) = x.parts.items()
    if c <= 0 or not factors or any(atom.kind == "guard" for atom, _ in factors):
        return unknown("log", x)
    if c == 1 and len(factors) == 1 and factors[0][1] == 1:
        atom = factors[0][0]
        if atom.name != "exp":
            return unknown("log", x)
        use("logarithm of an exponential", x=atom.args[0])
        return atom.args[0]  # type: ignore[no-any-return]
    parts = [] if c == 1 else [number(c)]
    parts += [term({((atom, exponent),): Fraction(1)}) for atom, exponent in factors]
    rest = reduce(lambda a, b: a * b, parts[1:], ONE)
    if len(parts) == 1:
        use("logarithm of a power", x=of_atom(factors[0][0]), n=number(factors[0][1]))
    else:
        use("logarithm of a product", x=parts[0], y=rest)
    for k in range(1, len(parts) - 1):
        own, rest = parts[k], reduce(lambda a, b: a * b, parts[k + 1 :], ONE)
        use("absolute logarithm of a product", x=own, y=rest)
    result = ZERO if c == 1 else _absolute(number(c))
    for atom, exponent in factors:
        if exponent != 1 and len(parts) > 1:
            use("absolute logarithm of a power", x=of_atom(atom), n=number(exponent))
        result = result + _absolute(of_atom(atom)).scaled(Fraction(exponent))
    return result


def _absolute(x: Term) -> Term:
    """log |x| of a factor."""
    if not is_positive(x):
        return unknown("log_abs", x)
    use("logarithm of what is positive", x=x)
    alone = x.alone
    if alone is not None and alone[0].name == "exp":
        use("logarithm of an exponential", x=alone[0].args[0])
        return alone[0].args[0]  # type: ignore[no-any-return]
    return unknown("log", x)


SIMPLIFY.update({"sqrt": _roots, "exp": _exponentials})

# ── order ──


def _lattice(x: Term, sign: int) -> tuple[Term, ...] | None:
    """The arguments of a maximum (sign 1) or minimum (−1) that x is."""
    alone = x.alone
    if alone is None or alone[0].kind != "fn" or alone[0].name != "max" or alone[1] * sign <= 0:
        return None
    return tuple(argument.scaled(alone[1]) for argument in alone[0].args)


def dominates(a: Term, b: Term, depth: int = 4) -> bool:
    """True if a ≥ b for sure."""
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
    if is_raw():
        return unknown("maximum", *arguments)
    result = _largest(arguments)
    rewrite("maximum as a lattice", lambda: unknown("maximum", *arguments), result)
    return result


def _largest(arguments: Sequence[Term]) -> Term:
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
    scale = next(
        abs(c) for x in rest for _, c in sorted(x.parts.items(), key=lambda item: [a.key for a, _ in item[0]])
    )
    rest = sorted((x.scaled(1 / scale) for x in rest), key=lambda x: x.key)
    return unknown("max", *rest).scaled(scale) + common


def minimum(x: Term, y: Term) -> Term:
    """−max(−x, −y)."""
    return apply("minimum", (x, y))


def _power(x: Term, y: Term) -> Term:
    exponent = y.constant
    if exponent is not None and exponent.denominator == 1 and abs(exponent) <= 8:
        use("whole power" if exponent >= 0 else "power below zero", x=x, n=y)
        return x.power(int(exponent))
    if exponent is not None and exponent.denominator == 2 and abs(exponent) <= 4:
        use("power of a half", x=x, n=number(exponent * 2))
        return square_root(x).power(int(exponent * 2))
    return unknown("power", x, y)


def turned(name: str, x: Term, y: Term) -> Term:
    """A function that does not care for the order of its operands."""
    if y.key < x.key:
        use(f"{name} turned", x=x, y=y)
        x, y = y, x
    return unknown(name, x, y)


def by_law(name: str) -> Function:
    """A function that a law says to be another expression."""
    law = BY_NAME[name]
    call = parsed(law.left)
    assert isinstance(call, ast.Call)
    order = [ast.unparse(letter) for letter in call.args]

    def value(*arguments: Term) -> Term:
        binding = dict(zip(order, arguments, strict=True))
        use(name, **binding)
        return _built(parsed(law.right), binding)

    return value


def _built(expression: ast.expr, binding: Mapping[str, Term]) -> Term:
    """An expression of a law, in normal form."""
    match expression:
        case ast.Constant(int(value)):
            return number(value)
        case ast.Name(letter):
            return binding[letter]
        case ast.UnaryOp(ast.USub(), inner):
            return -_built(inner, binding)
        case ast.BinOp(left, ast.Add(), right):
            return _built(left, binding) + _built(right, binding)
        case ast.BinOp(left, ast.Mult(), right):
            return _built(left, binding) * _built(right, binding)
        case ast.BinOp(ast.Constant(int(above)), ast.Div(), ast.Constant(int(below))):
            return number(Fraction(above, below))
        case ast.BinOp(left, ast.Pow(), ast.UnaryOp(ast.USub(), ast.Constant(1))):
            return inverse(_built(left, binding))
        case ast.Call(ast.Name(name), arguments):
            return apply(NAMES.get(name, name), [_built(argument, binding) for argument in arguments])
    raise ValueError(ast.unparse(expression))


Function = Callable[..., Term]
RING: dict[str, Function] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "negative": lambda a: -a,
    "copy": lambda a: a,
}
FUNCTIONS: dict[str, Function] = {
    **RING, "sqrt": square_root, "exp": exponential, "log": logarithm, "maximum": maximum, "power": _power,
    **{function_of(law): by_law(law.name) for law in DEFINITIONS},
}  # fmt: skip
SYMMETRIC = frozenset({
    "BitwiseAnd", "BitwiseOr", "BitwiseXor", "bitwise_and", "bitwise_or", "bitwise_xor",
})  # fmt: skip
IDEMPOTENT = frozenset({"Floor", "Round", "Sign", "floor", "round", "trunc", "sign"})
INVOLUTION = frozenset({"BitwiseNot", "bitwise_not"})
REMAINDERS = frozenset({"mod", "trunc_mod", "floor_mod", "Mod"})  # of the same divisor, once is enough


def apply(name: str, arguments: Sequence[Term]) -> Term:
    """The function of this name; an unknown one if no law is known of it."""
    if is_raw() and name not in RING:
        return unknown(name, *arguments)
    if name in FUNCTIONS:
        return FUNCTIONS[name](*arguments)
    if name in IDEMPOTENT | INVOLUTION and (inner := _made_by(name, arguments[0])) is not None:
        use(f"{name} twice", x=inner)
        return inner if name in INVOLUTION else arguments[0]
    if (
        name.partition(" ")[0] in REMAINDERS
        and (inner := _made_by(name, arguments[0], arguments[1])) is not None
    ):
        rewrite(f"{name.partition(' ')[0]} twice", lambda: unknown(name, *arguments), arguments[0])
        return arguments[0]
    return turned(name, *arguments) if name in SYMMETRIC else unknown(name, *arguments)


def _made_by(name: str, x: Term, *others: Term) -> Term | None:
    """The argument of the function of which x is a value, with the same other arguments; None for what is no
    value of it.
    """
    alone = x.alone
    if alone is None or alone[1] != 1 or alone[0].kind != "fn" or alone[0].name != name:
        return None
    if any(a.key != b.key for a, b in zip(alone[0].args[1:], others)):
        return None
    return alone[0].args[0]  # type: ignore[no-any-return]


# ── whole numbers that wrap: order is a lattice, and nothing else ──


def _whole_lattice(name: str, law: str, better: Callable[[Fraction, Fraction], Fraction]) -> Function:
    def lattice(*arguments: Term) -> Term:
        if is_raw():
            return unknown(name, *arguments)
        result = reduced(arguments)
        rewrite(law, lambda: unknown(name, *arguments), result)
        return result

    def reduced(arguments: Sequence[Term]) -> Term:
        flat: dict[str, Term] = {}
        constants: list[Fraction] = []
        for argument in arguments:
            alone = argument.alone
            inner = (
                alone[0].args
                if alone is not None and alone[1] == 1 and alone[0].kind == "fn" and alone[0].name == name
                else (argument,)
            )
            for x in inner:
                # every type of whole numbers has these
                if x.constant is not None and 0 <= x.constant <= 127 and x.constant.denominator == 1:
                    constants.append(x.constant)
                else:
                    flat[x.key] = x
        if constants:
            least = number(reduce(better, constants))
            flat[least.key] = least
        kept = [flat[key] for key in sorted(flat)]
        return kept[0] if len(kept) == 1 else unknown(name, *kept)

    return lattice


_whole_max, _whole_min = (
    _whole_lattice("whole maximum", "largest whole number", max),
    _whole_lattice("whole minimum", "smallest whole number", min),
)
FUNCTIONS.update({"whole maximum": _whole_max, "whole minimum": _whole_min})
# What a function is called for whole numbers.
WHOLE_FUNCTIONS: dict[str, str] = {
    "maximum": "whole maximum",
    "minimum": "whole minimum",
    "relu": "whole relu",
    "abs": "whole abs",
    "clip": "whole clip",
    "divide": "whole divide",
}
