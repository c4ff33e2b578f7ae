"""Types of Relay operators that change the shape or the layout (cuts and joins: `joins`)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TypeVar

from gslang.base.open_types import Attrs
from gslang.dialect.relay.dimensions import (
    axes_of,
    broadcast,
    known,
    multiply,
    product,
    same,
    show,
    tensor,
)  # fmt: skip
from gslang.dialect.signature import Infer, TypeInferenceError, Types, ValueOf
from gslang.dialect.tensor_type import MOST_FIELDS, UNKNOWN, Dimension, Shape, TensorType, Type

T = TypeVar("T")


def reshaped(shape: Shape, newshape: tuple[int, ...], allowzero: bool = False) -> Shape:
    """Relay's `reshape`: 0 copies, -1 infers, -2 copies the rest, -3 merges two, -4 splits one into the next
    two.
    """
    result: list[Dimension] = []
    source = list(shape)
    at = 0
    infer: int | None = None
    k = 0
    while k < len(newshape):
        dim = newshape[k]
        if dim > 0 or dim == 0 and allowzero:
            result.append(dim)
            at += 1
        elif dim == 0:
            if at >= len(source):
                raise TypeInferenceError(f"`newshape` copies dimension {at} of {show(shape)}")
            result.append(source[at])
            at += 1
        elif dim == -1:
            if infer is not None:
                raise TypeInferenceError("`newshape` has two -1")
            infer = len(result)
            result.append(1)
            at += 1
        elif dim == -2:
            result += source[at:]
            at = len(source)
        elif dim == -3:
            if at + 1 >= len(source):
                raise TypeInferenceError("`newshape` merges dimensions that are not there")
            result.append(multiply(source[at], source[at + 1]))
            at += 2
        elif dim == -4:
            if k + 2 >= len(newshape) or at >= len(source):
                raise TypeInferenceError("`newshape` splits a dimension that is not there")
            a, b = newshape[k + 1], newshape[k + 2]
            size = source[at]
            result += _split(size, a, b)
            at += 1
            k += 2
        else:
            raise TypeInferenceError(f"`newshape` has {dim}")
        k += 1
    total = product(shape)
    rest = product([d for j, d in enumerate(result) if j != infer])
    if infer is not None:
        if known(total, rest) and isinstance(total, int) and isinstance(rest, int):
            if rest == 0 or total % rest:
                raise TypeInferenceError(f"{show(shape)} cannot be reshaped to {newshape}")
            result[infer] = total // rest
        else:
            result[infer] = _cancel(list(shape), [d for j, d in enumerate(result) if j != infer])
    elif known(total, rest) and total != rest:
        raise TypeInferenceError(f"{show(shape)} cannot be reshaped to {newshape}")
    return tuple(result)


def _split(size: Dimension, a: int, b: int) -> list[Dimension]:
    if a == -1 and b == -1:
        raise TypeInferenceError("`newshape` has two -1")
    if a == -1 or b == -1:
        given = b if a == -1 else a
        if isinstance(size, int):
            if given <= 0 or size % given:
                raise TypeInferenceError(f"{given} does not divide {size}")
            other: Dimension = size // given
        else:
            other = UNKNOWN
        return [other, given] if a == -1 else [given, other]
    return [a, b]


def _cancel(total: list[Dimension], rest: list[Dimension]) -> Dimension:
    """total / rest where sizes are unknown: equal symbols cancel."""
    for dim in list(rest):
        if not isinstance(dim, int) and dim is not UNKNOWN and dim in total:
            total.remove(dim)
            rest.remove(dim)
    a, b = product(total), product(rest)
    if isinstance(a, int) and isinstance(b, int) and b and a % b == 0:
        return a // b
    return a if isinstance(b, int) and b == 1 else UNKNOWN


def reshape(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    data = tensor(types[0])
    if data.shape is None:
        new = attrs["newshape"]
        return TensorType(tuple(new) if all(d > 0 for d in new) else None, data.dtype)
    return TensorType(reshaped(data.shape, attrs["newshape"], attrs["allowzero"]), data.dtype)


def reverse_reshape(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    data = tensor(types[0])
    if data.shape is None:
        return TensorType(None, data.dtype)
    return TensorType(
        reshaped(data.shape[::-1], attrs["newshape"][::-1], attrs["allowzero"])[::-1], data.dtype
    )


def reshaped_like(shape: tuple[T, ...], like: tuple[T, ...], attrs: Attrs) -> tuple[T, ...]:
    """The shape with some of its sizes replaced by some of the other's."""

    def bound(value: int | None, rank: int) -> int:
        return rank if value is None else value + rank if value < 0 else value

    a, b = bound(attrs["lhs_begin"], len(shape)), bound(attrs["lhs_end"], len(shape))
    c, d = bound(attrs["rhs_begin"], len(like)), bound(attrs["rhs_end"], len(like))
    return shape[:a] + like[c:d] + shape[b:]


def reshape_like(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    data, like = tensor(types[0]), tensor(types[1])
    if data.shape is None or like.shape is None:
        return TensorType(None, data.dtype)

    result = reshaped_like(data.shape, like.shape, attrs)
    total, wanted = product(data.shape), product(result)
    if known(total, wanted) and total != wanted:
        raise TypeInferenceError(f"{show(data.shape)} cannot be reshaped to {show(result)}")
    return TensorType(result, data.dtype)


def transpose(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    data = tensor(types[0])
    axes = attrs["axes"]
    if data.shape is None:
        return TensorType(None if axes is None else (UNKNOWN,) * len(axes), data.dtype)
    axes = tuple(range(len(data.shape)))[::-1] if axes is None else axes_of(axes, len(data.shape))
    if len(axes) != len(data.shape):
        raise TypeInferenceError(f"`axes` has {len(axes)} numbers for {len(data.shape)} dimensions")
    return TensorType(tuple([data.shape[a] for a in axes]), data.dtype)


def squeeze(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    data = tensor(types[0])
    if data.shape is None:
        return TensorType(None, data.dtype)
    if attrs["axis"] is None:
        if not known(*data.shape):
            return TensorType(None, data.dtype)
        return TensorType(tuple([d for d in data.shape if d != 1]), data.dtype)
    axes = axes_of(attrs["axis"], len(data.shape))
    for axis in axes:
        same(data.shape[axis], 1, f"axis {axis} cannot be squeezed")
    return TensorType(tuple([d for k, d in enumerate(data.shape) if k not in axes]), data.dtype)


def expand_dims(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    data = tensor(types[0])
    if data.shape is None:
        return TensorType(None, data.dtype)
    axis = attrs["axis"]
    rank = len(data.shape)
    if not -rank - 1 <= axis <= rank:
        raise TypeInferenceError(f"axis {axis} of a tensor with {rank} dimensions")
    at = axis if axis >= 0 else rank + 1 + axis
    if attrs["num_newaxis"] > MOST_FIELDS:
        raise TypeInferenceError(f"more than {MOST_FIELDS:,} new axes")
    return TensorType(data.shape[:at] + (1,) * attrs["num_newaxis"] + data.shape[at:], data.dtype)


def flatten(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    data = tensor(types[0])
    if data.shape is None:
        return TensorType((UNKNOWN, UNKNOWN), data.dtype)
    return TensorType((data.shape[0], product(data.shape[1:])), data.dtype)


@lru_cache(maxsize=256)
def parse_layout(layout: str) -> tuple[tuple[str, int], ...]:
    """(letter, block size or 0) for each axis."""
    parts = re.findall(r"(\d*)([A-Za-z])", layout)
    if "".join(n + a for n, a in parts) != layout:
        raise TypeInferenceError(f"`{layout}` is not a layout")
    return tuple([(letter, int(size or 0)) for size, letter in parts])


def layout_transform(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    data = tensor(types[0])
    source, target = parse_layout(attrs["src_layout"]), parse_layout(attrs["dst_layout"])
    if data.shape is None:
        return TensorType((UNKNOWN,) * len(target), data.dtype)
    if len(source) != len(data.shape):
        raise TypeInferenceError(f"`{attrs['src_layout']}` for {len(data.shape)} dimensions")
    sizes: dict[str, Dimension] = {}
    for (letter, _), size in zip(source, data.shape):
        sizes[letter.upper()] = multiply(sizes.get(letter.upper(), 1), size)
    blocks = {letter.upper(): size for letter, size in target if size}
    result: list[Dimension] = []
    for letter, block in target:
        if letter.upper() not in sizes:
            raise TypeInferenceError(f"`{letter}` is not in `{attrs['src_layout']}`")
        size = sizes[letter.upper()]
        if block:
            result.append(block)
        elif letter in blocks:
            divisor = blocks[letter]
            result.append((size + divisor - 1) // divisor if isinstance(size, int) else UNKNOWN)
        else:
            result.append(size)
    return TensorType(tuple(result), data.dtype)


def broadcast_to(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    data = tensor(types[0])
    shape = attrs["shape"]
    if shape is None:
        return TensorType(None, data.dtype)
    _broadcasts(data.shape, tuple(shape))
    return TensorType(tuple(shape), data.dtype)


def _broadcasts(shape: Shape | None, wanted: Shape | None) -> None:
    if shape is None or wanted is None:
        return
    if len(shape) > len(wanted):
        raise TypeInferenceError(f"{show(shape)} does not broadcast to {show(wanted)}")
    result = broadcast(shape, wanted)
    if result is not None and any(known(a, b) and a != b for a, b in zip(result, wanted)):
        raise TypeInferenceError(f"{show(shape)} does not broadcast to {show(wanted)}")


def broadcast_to_like(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    data, like = tensor(types[0]), tensor(types[1])
    _broadcasts(data.shape, like.shape)
    return TensorType(like.shape, data.dtype)


def collapse_sum_like(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    data, like = tensor(types[0]), tensor(types[1])
    _broadcasts(like.shape, data.shape)
    return TensorType(like.shape, data.dtype)


def collapse_sum_to(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    dtype = tensor(types[0]).dtype
    value = value_of(1)
    if value is not None:
        return TensorType(tuple(int(d) for d in value.reshape(-1)), dtype)
    wanted = tensor(types[1])
    if wanted.shape is not None and len(wanted.shape) == 1 and isinstance(wanted.shape[0], int):
        return TensorType((UNKNOWN,) * wanted.shape[0], dtype)
    return TensorType(None, dtype)


INFER: dict[str, Infer] = {
    "reshape": reshape,
    "contrib_reverse_reshape": reverse_reshape,
    "reshape_like": reshape_like,
    "transpose": transpose,
    "squeeze": squeeze,
    "expand_dims": expand_dims,
    "nn.batch_flatten": flatten,
    "layout_transform": layout_transform,
    "scatter": lambda t, a, v: t[0],
    "scatter_elements": lambda t, a, v: t[0],
    "broadcast_to": broadcast_to,
    "broadcast_to_like": broadcast_to_like,
    "collapse_sum_like": collapse_sum_like,
    "collapse_sum_to": collapse_sum_to,
}
