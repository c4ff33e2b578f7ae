"""Arithmetic on dimensions, shapes and axes that may be unknown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gslang.base.open_types import Attrs
from gslang.dialect import tensor_type
from gslang.dialect.signature import TypeInferenceError
from gslang.dialect.tensor_type import UNKNOWN, Dimension, Shape, Symbol, TensorType, Type


def tensor(type: Type | None, what: str = "an operand") -> TensorType:
    """The tensor type, with nothing known where `type` is None. A tuple is an error."""
    if type is None:
        return TensorType(None, None)
    if not isinstance(type, TensorType):
        raise TypeInferenceError(f"{what} is a tuple, a tensor is expected")
    return type


def known(*dims: Dimension) -> bool:
    return all(type(d) is int for d in dims)


def add(a: Dimension, b: Dimension) -> Dimension:
    if known(a, b):
        return a + b
    return a if b == 0 and type(b) is int else b if a == 0 and type(a) is int else UNKNOWN


def multiply(a: Dimension, b: Dimension) -> Dimension:
    if known(a, b):
        return a * b
    for x, y in ((a, b), (b, a)):
        if type(x) is int:
            if x == 1:
                return y
            if x == 0:
                return 0
    return UNKNOWN


def product(shape: Sequence[Dimension]) -> Dimension:
    result: Dimension = 1
    for dim in shape:
        result = multiply(result, dim)
    return result


def same(a: Dimension, b: Dimension, what: str) -> Dimension:
    """Two sizes that must be equal: what is known of them."""
    if known(a, b):
        if a != b:
            raise TypeInferenceError(f"{what}: {a} against {b}")
        return a
    return a if type(a) is int or isinstance(a, Symbol) and type(b) is not int else b


def broadcast(a: Shape | None, b: Shape | None) -> Shape | None:
    """The shape two shapes broadcast to."""
    if a is None or b is None:
        return None
    if a == b and all(type(d) is int for d in a):
        return a
    result = tensor_type.broadcast(a, b)
    if result is None:
        raise TypeInferenceError(f"shapes {show(a)} and {show(b)} do not broadcast")
    return result


def show(shape: Shape | None) -> str:
    return "?" if shape is None else "(" + ", ".join(map(str, shape)) + ")"


def axis_of(axis: object, rank: int, extra: int = 0) -> int:
    """A non-negative axis of a tensor of this rank (`extra` more positions are allowed)."""
    if type(axis) is not int or not -(rank + extra) <= axis < rank + extra:
        raise TypeInferenceError(f"axis {axis} of a tensor with {rank} dimensions")
    return axis + rank + extra if axis < 0 else axis


def axes_of(axes: Any, rank: int) -> tuple[int, ...]:
    items = (axes,) if type(axes) is int else tuple(axes)
    found = tuple(axis_of(a, rank) for a in items)
    if len(set(found)) != len(found):
        raise TypeInferenceError(f"axes {items} repeat")
    return found


def common_dtype(types: Sequence[TensorType]) -> str | None:
    """The dtype that all operands share; different known ones are an error."""
    found: str | None = None
    for type_ in types:
        if type_.dtype is not None:
            if found is not None and found != type_.dtype:
                raise TypeInferenceError(f"operands of different types: {found} and {type_.dtype}")
            found = type_.dtype
    return found


def rank_is(type: TensorType, rank: int, what: str) -> Shape | None:
    if type.shape is None:
        return None
    if len(type.shape) != rank:
        raise TypeInferenceError(f"{what} has {len(type.shape)} dimensions, {rank} are expected")
    return type.shape


def numbers(values: Any, count: int, what: str) -> tuple[int, ...]:
    """`count` numbers; one stands for all."""
    items = (values,) if type(values) is int else tuple(values)
    if len(items) == 1:
        items = items * count
    if len(items) != count:
        raise TypeInferenceError(f"`{what}` has {len(items)} numbers, {count} are expected")
    return items


def steps(attrs: Attrs, count: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The strides and the dilation of windows with `count` spatial axes."""
    return numbers(attrs["strides"], count, "strides"), numbers(attrs["dilation"], count, "dilation")


def paddings(values: Any, count: int) -> list[tuple[int, int]]:
    """(before, after) for each spatial axis, from one number, one an axis, or all befores and then all
    afters.
    """
    items = (values,) if type(values) is int else tuple(values)
    if len(items) == 1:
        items = items * count
    if len(items) == count:
        return [(p, p) for p in items]
    if len(items) == 2 * count:
        return list(zip(items[:count], items[count:]))
    raise TypeInferenceError(f"`padding` has {len(items)} numbers, 1, {count} or {2 * count} are expected")
