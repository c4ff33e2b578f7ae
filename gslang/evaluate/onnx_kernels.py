"""The commonest ONNX operators on arrays of NumPy's own types: bit by bit what the `onnx` package's reference
implementation gives, without loading it and without a session for each node.

What is not here, or does not fit (other types, absent operands, attributes of other versions), is left to the
reference, which also says what is wrong with a call that cannot be computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from gslang.base.arrays import Array
from gslang.base.open_types import Attrs
from gslang.dialect.dtypes import PLAIN

_UNFIT: Final = (ArithmeticError, AttributeError, LookupError, MemoryError, TypeError, ValueError)


def kernel_value(operator: str, operands: Sequence[Array | None], attrs: Attrs) -> object:
    """The array that a call gives, or None: not computed here."""
    kernel = _KERNELS.get(operator)
    if kernel is None or not all(map(_is_plain, operands)):
        return None
    try:
        with np.errstate(all="ignore"):
            value = np.asarray(kernel(*operands, **attrs))  # attributes that it has not are a `TypeError`
    except _UNFIT:
        return None
    return value if _is_plain(value) else None


def _is_plain(value: object) -> bool:
    """True for arrays of numbers and truth values that NumPy has itself, in this machine's byte order."""
    return type(value) is np.ndarray and value.dtype.isbuiltin == 1 and value.dtype.kind in "biuf"


def _numbers(array: Array) -> tuple[int, ...]:
    """The elements of a vector of integers. Raises `TypeError`."""
    if array.ndim != 1 or array.dtype.kind != "i":
        raise TypeError
    return tuple(array.tolist())


def _unary(function: Callable[[Array], Array]) -> Callable[..., object]:
    return lambda x: function(x).astype(x.dtype, copy=False)


def _binary(function: Callable[[Array, Array], object]) -> Callable[..., object]:
    """On operands of one type."""

    def kernel(a: Array, b: Array) -> object:
        if a.dtype != b.dtype:
            raise TypeError
        return function(a, b)

    return kernel


def _divide(a: Array, b: Array) -> object:
    """Integers are divided towards zero."""
    if a.dtype.kind not in "iu":
        return np.divide(a, b)
    quotient = np.floor_divide(a, b)
    off = (np.remainder(a, b) != 0) & ((a < 0) ^ (b < 0))
    return (quotient + off.astype(quotient.dtype)).astype(a.dtype, copy=False)


def _cast(x: Array, to: str, saturate: int = 1, round_mode: str = "up") -> object:
    if to not in PLAIN:
        raise TypeError
    return x.astype(to)


def _concat(*operands: Any, axis: int) -> object:
    if len({operand.dtype for operand in operands}) > 1:
        raise TypeError
    return np.concatenate(operands, axis)


def _constant_of_shape(shape: Array, value: Any = None) -> object:
    element = np.zeros(1, np.float32) if value is None else value.load()
    if element.size != 1 or not _is_plain(element):
        raise TypeError
    return np.full(_numbers(shape), element.reshape(-1)[0])


def _expand(x: Array, shape: Array) -> object:
    return x * np.ones(_numbers(shape), x.dtype)


def _gather(x: Array, indices: Array, axis: int = 0) -> object:
    if indices.dtype.kind != "i":
        raise TypeError
    return np.take(x, indices, axis=axis)


def _range(start: Array, limit: Array, delta: Array) -> object:
    if start.dtype == np.float16 or not start.dtype == limit.dtype == delta.dtype:
        raise TypeError
    return np.arange(start.item(), limit.item(), delta.item()).astype(start.dtype)


def _reshape(x: Array, shape: Array, allowzero: int = 0) -> object:
    """A size of 0 stands for that of `x`."""
    sizes = _numbers(shape)
    return x.reshape(sizes if allowzero else [size or x.shape[k] for k, size in enumerate(sizes)])


def _slice(
    x: Array, starts: Array, ends: Array, axes: Array | None = None, steps: Array | None = None
) -> object:
    begins, stops = _numbers(starts), _numbers(ends)
    places = range(len(begins)) if axes is None else _numbers(axes)
    strides = [None] * len(begins) if steps is None else _numbers(steps)
    if not len(begins) == len(stops) == len(places) == len(strides):
        raise ValueError
    chosen = [slice(None)] * x.ndim
    for place, begin, stop, stride in zip(places, begins, stops, strides):
        chosen[place] = slice(begin, stop, stride)
    return x[tuple(chosen)]


def _transpose(x: Array, perm: Sequence[int] | None = None) -> object:
    return np.transpose(x, perm or None)


def _where(condition: Array, x: Array, y: Array) -> object:
    if x.dtype != y.dtype or condition.dtype != np.bool_:
        raise TypeError
    return np.where(condition, x, y)


_UNARY: Final[Mapping[str, Callable[[Array], Array]]] = {
    "Abs": np.absolute, "Neg": np.negative, "Reciprocal": np.reciprocal, "Sqrt": np.sqrt,
    "Not": np.logical_not, "Identity": np.copy, "Relu": lambda x: np.maximum(x, 0),
}  # fmt: skip
_BINARY: Final[Mapping[str, Callable[[Array, Array], object]]] = {
    "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": _divide,
    "Equal": np.equal, "Less": np.less, "Greater": np.greater,
    "LessOrEqual": np.less_equal, "GreaterOrEqual": np.greater_equal,
    "And": np.logical_and, "Or": np.logical_or,
    "Pow": lambda a, b: np.power(a, b).astype(a.dtype, copy=False),
}  # fmt: skip
_KERNELS: Final[Mapping[str, Callable[..., object]]] = {
    **{operator: _unary(function) for operator, function in _UNARY.items()},
    **{operator: _binary(function) for operator, function in _BINARY.items()},
    "Cast": _cast, "Concat": _concat, "ConstantOfShape": _constant_of_shape, "Expand": _expand,
    "Gather": _gather, "Range": _range, "Reshape": _reshape, "Slice": _slice,
    "Size": lambda x: np.array(x.size, np.int64),
    "Squeeze": lambda x, axes=None: np.squeeze(x, None if axes is None else _numbers(axes)),
    "Transpose": _transpose,
    "Unsqueeze": lambda x, axes: np.expand_dims(x, _numbers(axes)),
    "Where": _where,
}  # fmt: skip
