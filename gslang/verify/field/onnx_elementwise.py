"""Element-wise ONNX operators over a prime field.

Sums, products and what is made of them are computed; a function without a law that is used here (`Exp`,
`Erf`, …) is an unknown function of the residues with the true real values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gslang.evaluate.elementwise import erf
from gslang.verify.field import dual
from gslang.verify.field.call import Attrs, Call, Meaning
from gslang.verify.field.dual import Dual, chosen, constant, larger, number
from gslang.verify.field.onnx_cast import cast
from gslang.verify.field.residues import NoField

# Functions without a law that is used here: name → the true function.
_REALS: dict[str, Callable[[Any], Any]] = {
    "Exp": np.exp,
    "Log": np.log,
    "Tanh": np.tanh,
    "Erf": erf,
    "Sin": np.sin,
    "Cos": np.cos,
    "Tan": np.tan,
    "Sinh": np.sinh,
    "Cosh": np.cosh,
    "Asin": np.arcsin,
    "Acos": np.arccos,
    "Atan": np.arctan,
    "Asinh": np.arcsinh,
    "Acosh": np.arccosh,
    "Atanh": np.arctanh,
    "Sqrt": np.sqrt,
}


# The same with attributes: name → the true function of the element and them.
_REALS_BY_ATTRIBUTES: dict[str, Callable[[Any, Attrs], Any]] = {
    "Elu": lambda x, a: np.where(x > 0, x, a["alpha"] * np.expm1(x)),
    "Selu": lambda x, a: a["gamma"] * np.where(x > 0, x, a["alpha"] * np.expm1(x)),
    "Celu": lambda x, a: np.where(x > 0, x, a["alpha"] * np.expm1(x / a["alpha"])),
    "Softsign": lambda x, a: x / (1 + np.abs(x)),
    "ThresholdedRelu": lambda x, a: np.where(x > a["alpha"], x, 0.0),
}


def _unknown(name: str, real: Callable[[object], object]) -> Meaning:
    return lambda call: call.function(name, real, call.dual(0))


def _by_attributes(name: str, real: Callable[[object, Attrs], object]) -> Meaning:
    def meaning(call: Call) -> Dual:
        stated = ", ".join(
            f"{key} = {value}" for key, value in sorted(call.attrs.items()) if value is not None
        )
        return call.function(f"{name}({stated})", lambda x: real(x, call.attrs), call.dual(0))

    return meaning


def exponential(call: Call, x: Dual) -> Dual:
    """exp, an unknown function."""
    return call.function("Exp", np.exp, x)


def root(call: Call, x: Dual) -> Dual:
    """√x, an unknown function."""
    return call.function("Sqrt", np.sqrt, x)


def sigmoid(call: Call, x: Dual) -> Dual:
    """1 / (1 + exp(−x))."""
    return number(1) / (number(1) + exponential(call, -x))


def softplus(call: Call, x: Dual) -> Dual:
    """log(1 + exp(x))."""
    return call.function("Log", np.log, number(1) + exponential(call, x))


def hard_sigmoid(x: Dual, alpha: Dual, beta: Dual) -> Dual:
    """αx + β, cut at 0 and 1."""
    return dual.maximum(dual.minimum(alpha * x + beta, number(1)), number(0))


def gelu(call: Call, x: Dual) -> Dual:
    """x · (1 + erf(x / √2)) / 2."""
    return number(0.5) * x * (number(1) + call.function("Erf", erf, x * constant(np.float32(0.5**0.5))))


def gelu_by_tanh(call: Call, x: Dual) -> Dual:
    """x · (1 + tanh(√(2/π) · (x + 0.044715 x³))) / 2."""
    inner = constant(np.float32((2 / np.pi) ** 0.5)) * (x + constant(np.float32(0.044715)) * (x * x * x))
    return number(0.5) * x * (number(1) + call.function("Tanh", np.tanh, inner))


def _power(call: Call) -> Dual:
    x, y = call.dual(0), call.operands[1]
    exponents = np.unique(y.real if isinstance(y, Dual) else np.asarray(y, np.float64))
    if len(exponents) == 1:
        twice = float(exponents[0]) * 2
        if twice == int(twice) and abs(twice) <= 16:
            base = x if int(twice) % 2 == 0 else root(call, x)
            count = abs(int(twice)) // 2 if int(twice) % 2 == 0 else abs(int(twice))
            result = number(1)
            for _ in range(count):
                result = result * base
            result = result if twice >= 0 else number(1) / result  # x⁰ is 1
            shape = np.broadcast_shapes(x.shape, np.asarray(y.real if isinstance(y, Dual) else y).shape)
            return result.moved(lambda a: np.broadcast_to(a, shape))
    return call.function(
        "Pow", np.power, x, y if isinstance(y, Dual) else constant(np.asarray(y, np.float64))
    )


def _clip(call: Call) -> Dual:
    x = call.dual(0)
    for k, name, bound in ((1, "min", dual.maximum), (2, "max", dual.minimum)):
        value = call.optional(k)
        if value is None and call.attrs.get(name) is not None:
            value = call.real(name)
        if value is not None:
            x = bound(x, value)
    return x


def leaky(x: Dual, slope: Dual) -> Dual:
    """x, times a slope where it is negative."""
    return chosen(larger(number(0), x), slope * x, x)


def _fold(combine: Callable[[Dual, Dual], Dual]) -> Meaning:
    def meaning(call: Call) -> Dual:
        result = call.dual(0)
        for k in range(1, len(call.operands)):
            result = combine(result, call.dual(k))
        return result

    return meaning


_total = _fold(lambda a, b: a + b)


def _average(call: Call) -> Any:
    return _total(call) / number(len(call.operands))


def _where(call: Call) -> Dual:
    return chosen(np.asarray(call.operands[0]), call.dual(1), call.dual(2))


def _cast_like(call: Call) -> Any:
    types = [getattr(call.graph.types[o], "dtype", None) for o in call.graph.operands[call.node]]
    if types[0] != types[1]:
        raise NoField("a cast to another type")
    return call.operands[0]


def _dropout(call: Call) -> Dual:
    training = call.operands[2] if len(call.operands) > 2 else None
    if training is not None and np.any(np.asarray(training)):
        raise NoField("dropout in training mode")
    return call.dual(0)


def _two(combine: Callable[[Dual, Dual], Dual]) -> Meaning:
    return lambda call: combine(call.dual(0), call.dual(1))


ELEMENTWISE: dict[str, Meaning] = {
    "Add": _two(lambda a, b: a + b),
    "Sub": _two(lambda a, b: a - b),
    "Mul": _two(lambda a, b: a * b),
    "Div": _two(lambda a, b: a / b), **{name: _unknown(name, real) for name, real in _REALS.items()},
    **{name: _by_attributes(name, real) for name, real in _REALS_BY_ATTRIBUTES.items()},
    "Sum": _total,
    "Mean": _average,
    "Neg": lambda c: -c.dual(0),
    "Reciprocal": lambda c: number(1) / c.dual(0),
    "Pow": _power,
    "Sigmoid": lambda c: sigmoid(c, c.dual(0)),
    "Softplus": lambda c: softplus(c, c.dual(0)),
    "Swish": lambda c: c.dual(0) * sigmoid(c, c.real("alpha") * c.dual(0)),
    "HardSigmoid": lambda c: hard_sigmoid(c.dual(0), c.real("alpha"), c.real("beta")),
    "HardSwish": lambda c: c.dual(0) * hard_sigmoid(c.dual(0), constant(np.float32(1 / 6)), number(0.5)),
    "Mish": lambda c: c.dual(0) * c.function("Tanh", np.tanh, softplus(c, c.dual(0))),
    "Gelu": lambda c: (
        gelu_by_tanh(c, c.dual(0)) if c.attrs.get("approximate") == "tanh" else gelu(c, c.dual(0))
    ),
    "Relu": lambda c: dual.maximum(c.dual(0), number(0)),
    "Abs": lambda c: dual.maximum(c.dual(0), -c.dual(0)),
    "Clip": _clip,
    "LeakyRelu": lambda c: leaky(c.dual(0), c.real("alpha")),
    "PRelu": lambda c: leaky(c.dual(0), c.dual(1)),
    "Sign": lambda c: dual.selected(np.sign(c.dual(0).real), number(-1), number(0), number(1)),
    "Where": _where,
    "Cast": cast,
    "CastLike": _cast_like,
    "Dropout": _dropout,
}
