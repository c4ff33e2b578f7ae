"""Element-wise operators. Results keep the operands' dtype; float16 is computed in float32 and rounded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gslang.base.arrays import Array
from gslang.base.open_types import Attrs
from gslang.dialect.dtypes import numpy_dtype
from gslang.evaluate.bfloat16 import converted

Evaluator = Callable[[Sequence[Array], Attrs], object]


def _unary(function: Callable[[Array], Array]) -> Evaluator:
    def evaluate(operands: Sequence[Array], attrs: Attrs) -> object:
        x = operands[0]
        if x.dtype == np.float16:
            return function(x.astype(np.float32)).astype(np.float16)
        return np.asarray(function(x)).astype(x.dtype, copy=False)

    return evaluate


def _binary(function: Callable[[Array, Array], object]) -> Evaluator:
    def evaluate(operands: Sequence[Array], attrs: Attrs) -> object:
        a, b = operands
        if a.dtype == np.float16:
            return np.asarray(function(a.astype(np.float32), b.astype(np.float32))).astype(np.float16)
        return np.asarray(function(a, b)).astype(a.dtype, copy=False)

    return evaluate


def _compare(function: Callable[[Array, Array], object]) -> Evaluator:
    return lambda operands, attrs: np.asarray(function(operands[0], operands[1]))


def erf(x: Array) -> Array:
    """The error function, to about 1e-15.

    W. J. Cody, "Rational Chebyshev approximation for the error function", 1969.
    """
    y = np.asarray(x, dtype=np.float64)
    a = np.abs(y)
    result = np.array(np.sign(y))  # an array, also of one number
    small = a <= 0.5
    z = y[small] ** 2
    p = [
        1.85777706184603153e-1, 3.16112374387056560e0, 1.13864154151050156e2, 3.77485237685302021e2,
        3.20937758913846947e3,
    ]
    q = [1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3, 2.84423683343917062e3]
    result[small] = y[small] * np.polyval(p, z) / np.polyval(q, z)
    middle = (a > 0.5) & (a <= 4)
    t = a[middle]
    p = [
        2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594e0, 6.61191906371416295e1,
        2.98635138197400131e2, 8.81952221241769090e2, 1.71204761263407058e3, 2.05107837782607147e3,
        1.23033935479799725e3,
    ]
    q = [
        1.0, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2, 1.62138957456669019e3,
        3.29079923573345963e3, 4.36261909014324716e3, 3.43936767414372164e3, 1.23033935480374942e3,
    ]
    result[middle] = np.sign(y[middle]) * (1 - np.exp(-t * t) * np.polyval(p, t) / np.polyval(q, t))
    large = (a > 4) & (a < 6)
    t = a[large]
    s = 1 / (t * t)
    p = [1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1, 1.25781726111229246e-1,
         1.60837851487422766e-2, 6.58749161529837803e-4]  # fmt: skip
    q = [1.0, 2.56852019228982242e0, 1.87295284992346047e0, 5.27905102951428412e-1, 6.05183413124413191e-2,
         2.33520497626869185e-3]  # fmt: skip
    tail = s * np.polyval(p, s) / np.polyval(q, s)
    result[large] = np.sign(y[large]) * (1 - np.exp(-t * t) / t * (1 / np.sqrt(np.pi) - tail))
    result[np.isnan(y)] = np.nan
    return result


def sigmoid(x: Array) -> Array:
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-x))


def _divide(a: Array, b: Array) -> Array:
    """Integers divide towards zero, as in C."""
    if a.dtype.kind in "iu":
        divisor = np.where(b == 0, 1, b)
        return np.where(b == 0, 0, (a - np.fmod(a, divisor)) // divisor)  # the least has no absolute value
    return a / b


def _mod(a: Array, b: Array) -> Array:
    """The remainder has the sign of the dividend."""
    return np.fmod(a, np.where(b == 0, 1, b)) if a.dtype.kind in "iu" else np.fmod(a, b)


def _clip(operands: Sequence[Array], attrs: Attrs) -> Array:
    """The lower bound has the last word where it is above the upper one, unlike in NumPy and ONNX."""
    x = operands[0]
    least, most = x.dtype.type(attrs["a_min"]), x.dtype.type(attrs["a_max"])
    return np.clip(x, least, np.maximum(least, most))


def _leaky(operands: Sequence[Array], attrs: Attrs) -> Array:
    x = operands[0]
    return np.where(x > 0, x, x * x.dtype.type(attrs["alpha"])).astype(x.dtype)


def along(vector: Array, rank: int, axis: int) -> Array:
    shape = [1] * rank
    shape[axis] = -1
    return vector.reshape(shape)


def _prelu(operands: Sequence[Array], attrs: Attrs) -> Array:
    x, alpha = operands
    return np.where(x > 0, x, x * along(alpha, x.ndim, attrs["axis"])).astype(x.dtype)


def _bias_add(operands: Sequence[Array], attrs: Attrs) -> object:
    x, bias = operands
    return (x + along(bias, x.ndim, attrs["axis"])).astype(x.dtype, copy=False)


def _cast(operands: Sequence[Array], attrs: Attrs) -> Array:
    with np.errstate(invalid="ignore"):
        return converted(operands[0], attrs["dtype"])


def _full(operands: Sequence[Array], attrs: Attrs) -> Array:
    dtype = numpy_dtype(attrs["dtype"]) if attrs["dtype"] else operands[0].dtype
    return np.full(attrs["shape"], operands[0]).astype(dtype)


def _one_hot(operands: Sequence[Array], attrs: Attrs) -> Array:
    indices, on, off = operands
    axis = attrs["axis"] if attrs["axis"] >= 0 else attrs["axis"] + indices.ndim + 1
    hot = np.expand_dims(indices, axis) == along(np.arange(attrs["depth"]), indices.ndim + 1, axis)
    return np.where(hot, on, off).astype(numpy_dtype(attrs["dtype"]))


def _set_diagonal(operands: Sequence[Array], attrs: Attrs) -> object:
    x, diagonal = operands[0].copy(), operands[1]
    k1, k2 = attrs["k1"], attrs["k2"]
    rows, columns = x.shape[-2:]
    for k in range(k1, k2 + 1):
        length = min(rows + min(k, 0), columns - max(k, 0))
        i = np.arange(length) - min(k, 0)
        j = np.arange(length) + max(k, 0)
        if k1 == k2:
            values = diagonal
        else:
            row = diagonal[..., k2 - k, :]
            right = attrs["super_diag_right_align"] if k > 0 else attrs["sub_diag_right_align"]
            values = row[..., row.shape[-1] - length :] if right else row[..., :length]
        x[..., i, j] = values[..., :length]
    return x


def _identity(operands: Sequence[Array], attrs: Attrs) -> Array:
    return operands[0]


def _round(x: Array) -> Array:
    """Halves away from zero, as C's `round`."""
    return np.copysign(np.floor(np.abs(x) + 0.5), x) if x.dtype.kind == "f" else x


def _where(operands: Sequence[Array], attrs: Attrs) -> object:
    condition, x, y = operands
    chosen: Any = np.where(condition.astype(bool), x, y)
    return chosen.astype(x.dtype)


EVALUATE: dict[str, Evaluator] = {
    **{
        name: _unary(getattr(np, name))
        for name in (
            "exp", "log", "log2", "log10", "sqrt", "tanh", "sin", "cos", "tan", "sinh", "cosh", "abs",
            "negative", "floor", "ceil", "trunc", "sign",
        )
    },
    **{
        name: _unary(getattr(np, numpy_name))
        for name, numpy_name in (
            ("asin", "arcsin"), ("acos", "arccos"), ("atan", "arctan"), ("asinh", "arcsinh"),
            ("acosh", "arccosh"), ("atanh", "arctanh"), ("logical_not", "logical_not"),
            ("bitwise_not", "invert"),
        )
    },
    **{
        name: _compare(getattr(np, name))
        for name in (
            "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and",
            "logical_or", "logical_xor",
        )
    },
    **{
        name: _binary(getattr(np, name))
        for name in (
            "add", "subtract", "multiply", "power", "maximum", "minimum", "bitwise_and", "bitwise_or",
            "bitwise_xor", "left_shift", "right_shift", "floor_divide",
        )
    },
    **dict.fromkeys(
        ("copy", "annotation.stop_fusion", "annotation.checkpoint", "annotation.cast_hint", "device_copy"),
        _identity,
    ),
    "isnan": lambda o, a: np.isnan(o[0]),
    "isinf": lambda o, a: np.isinf(o[0]),
    "isfinite": lambda o, a: np.isfinite(o[0]),
    "rsqrt": _unary(lambda x: 1 / np.sqrt(x)),
    "sigmoid": _unary(sigmoid),
    "erf": _unary(erf),
    "round": _unary(_round),
    "fast_exp": _unary(np.exp),
    "fast_erf": _unary(erf),
    "fast_tanh": _unary(np.tanh),
    "nn.relu": _unary(lambda x: np.maximum(x, x.dtype.type(0))),
    "nn.leaky_relu": _leaky,
    "nn.prelu": _prelu,
    "clip": _clip,
    "divide": _binary(_divide),
    "trunc_divide": _binary(lambda a, b: np.trunc(a / b) if a.dtype.kind == "f" else _divide(a, b)),
    "mod": _binary(_mod),
    "trunc_mod": _binary(_mod),
    "floor_mod": _binary(np.mod),
    "atan2": _binary(np.arctan2),
    "where": _where,
    "cast": _cast,
    "cast_like": lambda o, a: o[0].astype(o[1].dtype),
    "nn.bias_add": _bias_add,
    "zeros": lambda o, a: np.zeros(a["shape"], numpy_dtype(a["dtype"])),
    "ones": lambda o, a: np.ones(a["shape"], numpy_dtype(a["dtype"])),
    "full": _full,
    "zeros_like": lambda o, a: np.zeros_like(o[0]),
    "ones_like": lambda o, a: np.ones_like(o[0]),
    "full_like": lambda o, a: np.full_like(o[0], o[1]),
    "one_hot": _one_hot,
    "matrix_set_diag": _set_diagonal,
    "arange": lambda o, a: np.arange(o[0].item(), o[1].item(), o[2].item()).astype(numpy_dtype(a["dtype"])),
    "shape_of": lambda o, a: np.array(o[0].shape, np.int64).astype(numpy_dtype(a["dtype"])),
    "ndarray_size": lambda o, a: np.array(o[0].size, np.int64).astype(numpy_dtype(a["dtype"])),
}
