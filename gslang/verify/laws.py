"""The laws that proofs use: each with its name, its statement, its conditions, and the numbers for which it
holds.

The prover applies them by name (`prove/uses`), certificates name them, and the checker of certificates
(`recheck`) reads them from here. A statement is two expressions: small letters are values, `n` a whole number
that is known, `sum(i, n, f(i))` a sum over all positions i below the size n, `at_least_0(s)` is 1 where a
size is at least 0, else 0. Sums and products are those of a commutative ring and need no law.

Only where its conditions hold may a law be used; conditions on values hold where the side of the rule is
defined at all.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from gslang.verify.recheck.evaluate import REAL, TRUTH, WHOLE
from gslang.verify.recheck.terms import (
    Factors,
    Size,
    Term,
    add,
    constant,
    function,
    multiply,
    of_atom,
    power,
    scaled,
)

_ANY = (REAL, WHOLE, TRUTH)
_RING = (REAL, WHOLE)
_REAL = (REAL,)
_WHOLE = (WHOLE,)
_TRUTH = (TRUTH,)
# What expressions of laws call functions whose names are no words → their names.
NAMES = {
    "QuickGelu": "com.microsoft.QuickGelu",
    **{f"whole_{name}": f"whole {name}" for name in ("maximum", "minimum", "abs", "relu", "clip")},
    "wide_order": "wide order",
    **{
        name.replace(" ", "_"): name
        for name in (
            "cast int8 int32", "cast int32 uint8", "number int8", "number uint8", "quantized int8",
            "quantized uint8",
        )
    },
}


@dataclass(frozen=True, slots=True)
class Law:
    """`left` = `right` where all `conditions` hold, for each kind of number in `numbers`.

    `exactly`: a proof shows both sides as they are, as an instance of the statement. Otherwise the statement
    is the simplest case of what is done: with any number of arguments, addends or positions.
    """

    name: str
    left: str
    right: str
    numbers: tuple[str, ...]
    conditions: tuple[str, ...] = ()
    exactly: bool = True


# Functions that are others in short.
DEFINITIONS = (
    Law("inverse root", "rsqrt(x)", "sqrt(x) ** -1", _REAL, ("x > 0",)),
    Law("quotient", "divide(x, y)", "x * y ** -1", _REAL, ("y != 0",)),
    Law("reciprocal", "reciprocal(x)", "x ** -1", _REAL, ("x != 0",)),
    Law("square", "square(x)", "x * x", _RING),
    Law("relu", "relu(x)", "maximum(x, 0)", _REAL),
    Law("absolute value", "abs(x)", "maximum(x, -x)", _REAL),
    Law("minimum", "minimum(x, y)", "-maximum(-x, -y)", _REAL),
    Law("clip", "clip(x, a, b)", "minimum(maximum(x, a), b)", _REAL),
    Law("sigmoid", "sigmoid(x)", "(1 + exp(-x)) ** -1", _REAL),
    Law("mish", "Mish(x)", "x * Tanh(log(1 + exp(x)))", _REAL),
    Law("hard sigmoid", "HardSigmoid(x, a, b)", "minimum(maximum(a * x + b, 0), 1)", _REAL),
    Law("hard swish", "HardSwish(x)", "x * HardSigmoid(x, 1 / 6, 1 / 2)", _REAL),
    Law("ceiling", "ceil(x)", "-floor(-x)", _REAL),
    Law("ceiling in ONNX", "Ceil(x)", "-Floor(-x)", _REAL),
    Law("leaky relu", "leaky_relu(x, a)", "maximum(x, 0) + a * minimum(x, 0)", _REAL),
    Law("thresholded relu", "ThresholdedRelu(x, a)", "positive(x + -a) * x", _REAL),
    Law("elu", "Elu(x, a)", "positive(x) * x + (1 + -positive(x)) * (a * (exp(x) + -1))", _REAL),
    Law(
        "celu", "Celu(x, a)", "positive(x) * x + (1 + -positive(x)) * (a * (exp(x * a ** -1) + -1))", _REAL,
        ("a != 0",),
    ),
    Law("softsign", "Softsign(x)", "x * (1 + abs(x)) ** -1", _REAL),
    Law("quick gelu", "QuickGelu(x, a)", "x * sigmoid(a * x)", _REAL),
    Law("absolute value of whole numbers", "whole_abs(x)", "x + -(2 * (positive(-order(x)) * x))", _WHOLE),
    Law("relu of whole numbers", "whole_relu(x)", "whole_maximum(x, 0)", _WHOLE),
    Law("clip of whole numbers", "whole_clip(x, a, b)", "whole_minimum(whole_maximum(x, a), b)", _WHOLE),
)

LAWS: tuple[Law, ...] = (
    *DEFINITIONS, Law("whole power", "power(x, n)", "x ** n", _RING, ("n >= 0",)),
    Law("power below zero", "power(x, n)", "x ** n", _REAL, ("x != 0",)),
    Law("power of a half", "power(x, n / 2)", "sqrt(x) ** n", _REAL, ("x > 0",)),
    # exponentials, logarithms, roots
    Law("exponential of zero", "exp(0)", "1", _REAL),
    Law("product of exponentials", "exp(x) * exp(y)", "exp(x + y)", _REAL),
    Law("exponential of a sum", "exp(x + y)", "exp(x) * exp(y)", _REAL),
    Law("power of an exponential", "exp(x) ** n", "exp(n * x)", _REAL),
    Law("exponential of a logarithm", "exp(n * log(x))", "x ** n", _REAL, ("x > 0",)),
    Law(
        "exponential of an absolute logarithm", "exp(2 * n * log_abs(x))", "x ** (2 * n)", _REAL, ("x != 0",)
    ),
    Law("logarithm of one", "log(1)", "0", _REAL),
    Law("logarithm of an exponential", "log(exp(x))", "x", _REAL),
    Law("logarithm of a product", "log(x * y)", "log_abs(x) + log_abs(y)", _REAL, ("x * y > 0",)),
    Law(
        "absolute logarithm of a product", "log_abs(x * y)", "log_abs(x) + log_abs(y)", _REAL,
        ("x != 0", "y != 0"),
    ),
    Law("absolute logarithm of a power", "log_abs(x ** n)", "n * log_abs(x)", _REAL, ("x != 0",)),
    Law("absolute logarithm", "log(x)", "log_abs(x)", _REAL, ("x > 0",)),
    Law("logarithm of what is positive", "log_abs(x)", "log(x)", _REAL, ("x > 0",)),
    Law("logarithm of a power", "log(x ** n)", "n * log_abs(x)", _REAL, ("x != 0",)),
    Law("square of a root", "sqrt(x) ** 2", "x", _REAL, ("x >= 0",)),
    Law("inverse square of a root", "sqrt(x) ** -2", "x ** -1", _REAL, ("x > 0",)),
    Law("root of a square number", "sqrt(n * n)", "n", _REAL, ("n >= 0",)),
    Law("root of a square", "sqrt(x * x)", "maximum(x, -x)", _REAL),
    Law("root of a square multiple", "sqrt(n * n * x)", "n * sqrt(x)", _REAL, ("n >= 0", "x >= 0")),
    # order
    Law("maximum as a lattice", "maximum(a + x, maximum(a + x, a + y))", "max(x, y) + a", _REAL, (), False),
    Law("scaled maximum", "maximum(n * x, n * y)", "n * max(x, y)", _REAL, ("n > 0",), False),
    Law("smaller argument", "maximum(x, y)", "x", _REAL, ("x >= y",), False),
    Law(
        "largest whole number", "whole_maximum(x, whole_maximum(y, x))", "whole_maximum(x, y)", _WHOLE, (),
        False,
    ),
    Law(
        "smallest whole number", "whole_minimum(x, whole_minimum(y, x))", "whole_minimum(x, y)", _WHOLE, (),
        False,
    ),
    # a number of at most −10³⁰: no float tells it from its sum with another one
    Law("very low number", "exp(very_low(y) + x)", "exp(very_low(y))", _REAL, (), False),
    Law(
        "largest of what rises", "largest(i, n, exp(x) * f(i) + y)", "exp(x) * largest(i, n, f(i)) + y",
        _REAL, (), False,
    ),
    # a number of at most −10⁴ in place of a score, beside one that is not
    Law("number that is outweighed", "exp(outweighed(y) + x)", "0", _REAL, (), False),
    Law("number that is computed", "IsNaN(x)", "0", _REAL),
    # bytes: a zero point is moved with the numbers that are counted from it
    Law(
        "byte without sign", "number_uint8(cast_int32_uint8(cast_int8_int32(x) + 128))",
        "number_int8(x) + 128", _REAL,
    ),
    Law(
        "quantized without sign", "number_uint8(quantized_uint8(x, number_int8(y) + 128))",
        "number_int8(quantized_int8(x, number_int8(y))) + 128", _REAL,
    ),
    # truth values
    Law("comparison that holds", "positive(x)", "1", _ANY, ("x > 0",)),
    Law("comparison that fails", "positive(x)", "0", _ANY, ("0 >= x",)),
    Law("scaled comparison", "positive(n * x)", "positive(x)", _REAL, ("n > 0",)),
    Law("number of a small whole number", "order(n)", "n", _WHOLE, ("n >= 0", "127 >= n"), False),
    Law("number of a size", "sum(i, n, wide_order(size(i)))", "sum(i, n, size(i))", _WHOLE, (), False),
    Law("truth of a truth value", "truth(truth(x))", "truth(x)", _TRUTH),
    Law(
        "cases of order", "maximum(x, y)", "positive(x + -y) * x + (1 + -positive(x + -y)) * y", _REAL, (),
        False,
    ),
    Law(
        "cases of whole numbers", "whole_maximum(x, y)",
        "positive(order(x) + -order(y)) * x + (1 + -positive(order(x) + -order(y))) * y", _WHOLE, (), False,
    ),
    Law(
        "whole numbers bit by bit", "BitwiseXor(x, y) + 2 * BitwiseAnd(x, y)", "x + y", _WHOLE, (), False,
    ),
    *(
        Law(f"{name} twice", f"{name}({name}(x, y), y)", f"{name}(x, y)", _RING, ("y != 0",), False)
        for name in ("mod", "trunc_mod", "floor_mod", "Mod")
    ),
    *(
        Law(f"{name} turned", f"{name}(x, y)", f"{name}(y, x)", _WHOLE)
        for name in ("BitwiseAnd", "BitwiseOr", "BitwiseXor", "bitwise_and", "bitwise_or", "bitwise_xor")
    ),
    *(
        Law(f"{name} twice", f"{name}({name}(x))", f"{name}(x)", _REAL)
        for name in ("Floor", "Ceil", "Round", "Sign", "floor", "ceil", "round", "trunc", "sign")
    ),
    *(Law(f"{name} twice", f"{name}({name}(x))", "x", _WHOLE) for name in ("BitwiseNot", "bitwise_not")),
    # sums over positions, and what is 1 or 0 by position
    Law("sum of a single element", "sum(i, 1, f(i))", "f(0)", _RING, (), False),
    Law("sum of sums", "sum(i, n, f(i) + g(i))", "sum(i, n, f(i)) + sum(i, n, g(i))", _RING, (), False),
    Law("factor in front", "sum(i, n, x * f(i))", "x * sum(i, n, f(i))", _RING, (), False),
    Law("sum of what is constant", "sum(i, n, x)", "size(n) * x", _RING, (), False),
    Law(
        "position taken apart", "sum(i, n * m, f(i))", "sum(i, n, sum(j, m, f(i * m + j)))", _RING, (), False
    ),
    Law(
        "inner sum", "sum(i, n, f(i) * sum(j, m, g(i + j)))", "sum(i, n, sum(j, m, f(i) * g(i + j)))", _RING,
        (), False,
    ),
    Law(
        "product of sums", "sum(i, n, sum(j, m, f(i) * g(j)))", "sum(i, n, f(i)) * sum(j, m, g(j))", _RING,
        (), False,
    ),
    Law(
        "range cut by a guard", "sum(i, n, at_least_0(i - a) * f(i))", "sum(j, n - a, f(j + a))", _RING,
        ("a >= 0", "n - a > 0"), False,
    ),
    Law(
        "range ended by a guard", "sum(i, n, at_least_0(a - i) * f(i))", "sum(j, a + 1, f(j))", _RING,
        ("a >= 0", "n - a > 0"), False,
    ),
    Law("guard that holds", "at_least_0(a)", "1", _RING, ("a >= 0",), False),
    Law("guard that fails", "at_least_0(a)", "0", _RING, ("a < 0",), False),
    Law("largest of a single element", "largest(i, 1, f(i))", "f(0)", _RING, (), False),
    Law(
        "largest of the largest", "largest(i, n, largest(j, m, f(i + j)))",
        "largest(j, m, largest(i, n, f(i + j)))", _RING, (), False,
    ),
    Law(
        "denominators cleared", "x * (y + a) ** -1 - z", "(x - z * (y + a)) * (y + a) ** -1", _REAL,
        ("y + a != 0",), False,
    ),
)
BY_NAME: Mapping[str, Law] = {law.name: law for law in LAWS}


def function_of(law: Law) -> str:
    """The name of the function on the left side of a definition."""
    name = law.left.partition("(")[0]
    return NAMES.get(name, name)


@cache
def parsed(text: str) -> ast.expr:
    """An expression of a law."""
    return ast.parse(text, mode="eval").body


def subjects_of(law: Law) -> frozenset[str]:
    """Names of functions and kinds of atoms of which one is in each term that the law rewrites."""
    calls = {
        node.func.id
        for node in ast.walk(parsed(law.left))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    kinds = {"sum": "total", "largest": "total", "at_least_0": "guard"}
    names = {kinds.get(name) or NAMES.get(name, name) for name in calls - {"f", "g", "size"}}
    return frozenset(names or {"group"})  # a denominator


def instance(text: str, binding: Mapping[str, Term]) -> Term:
    """An expression of a law with terms for its letters.

    Raises `KeyError` for a letter without one, `ValueError` for exponents that are no numbers.
    """
    return _term(parsed(text), binding)


def as_product(term: Term) -> tuple[Factors, Fraction]:
    """(factors, coefficient) of a term with one summand. Raises `ValueError` for others."""
    if len(term) != 1:
        raise ValueError("not one product")
    return term[0][1], term[0][0]


def _term(expression: ast.expr, binding: Mapping[str, Term]) -> Term:
    match expression:
        case ast.Constant(int(value)):
            return constant(value)
        case ast.Name(name):
            return binding[name]
        case ast.UnaryOp(ast.USub(), inner):
            return scaled(_term(inner, binding), -1)
        case ast.BinOp(left, ast.Add(), right):
            return add(_term(left, binding), _term(right, binding))
        case ast.BinOp(left, ast.Sub(), right):
            return add(_term(left, binding), scaled(_term(right, binding), -1))
        case ast.BinOp(left, ast.Mult(), right):
            return multiply(_term(left, binding), _term(right, binding))
        case ast.BinOp(left, ast.Div(), right):
            return scaled(_term(left, binding), 1 / number_of(_term(right, binding)))
        case ast.BinOp(left, ast.Pow(), right):
            exponent = number_of(_term(right, binding))
            if exponent.denominator != 1 or abs(exponent) > 64:
                raise ValueError(f"the exponent {exponent}")
            return power(_term(left, binding), int(exponent))
        case ast.Call(ast.Name("sum" | "largest" as kind), [ast.Name(position), size, body]):
            scope = {**binding, position: _of_size(((1, (position,)),))}
            return of_atom(
                ("total", "sum" if kind == "sum" else "max", ((position, _size(size)),), _term(body, scope))
            )
        case ast.Call(ast.Name("at_least_0"), [size]):
            return of_atom(("guard", _size(size)))
        case ast.Call(ast.Name("size"), [size]):
            return _of_size(_size(size))
        case ast.Call(ast.Name("f" | "g" as name), arguments):
            return of_atom(("read", name, *map(_size, arguments)))
        case ast.Call(ast.Name(name), arguments):
            return function(NAMES.get(name, name), *[_term(argument, binding) for argument in arguments])
    raise ValueError(f"no expression of a law: {ast.unparse(expression)}")


def number_of(term: Term) -> Fraction:
    """The number that a term is. Raises `ValueError` for others."""
    if not term:
        return Fraction(0)
    if len(term) != 1 or term[0][1]:
        raise ValueError("a letter that stands for a number stands for a value")
    return term[0][0]


def _size(expression: ast.expr) -> Size:
    """A size: letters are sizes and positions here."""
    match expression:
        case ast.Constant(int(value)):
            return ((value, ()),) if value else ()
        case ast.Name(name):
            return ((1, (name,)),)
        case ast.BinOp(left, ast.Mult(), right):
            return tuple(sorted(
                (c * d, tuple(sorted(names + more)))
                for c, names in _size(left)
                for d, more in _size(right)
            ))
        case ast.BinOp(left, ast.Add() | ast.Sub() as sign, right):
            turned = 1 if isinstance(sign, ast.Add) else -1
            parts = dict((names, c) for c, names in _size(left))
            for c, names in _size(right):
                parts[names] = parts.get(names, 0) + turned * c
            return tuple(sorted((c, names) for names, c in parts.items() if c))
    raise ValueError(f"no size: {ast.unparse(expression)}")


def _of_size(size: Size) -> Term:
    return of_atom(("num", size))
