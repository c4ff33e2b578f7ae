"""Operators that move elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gslang.base.arrays import Array
from gslang.base.open_types import Attrs
from gslang.dialect.relay.joins import slice_bounds
from gslang.dialect.relay.movement import parse_layout, reshaped, reshaped_like
from gslang.evaluate.elementwise import Evaluator


def _reshape(operands: Sequence[Array], attrs: Attrs) -> object:
    x = operands[0]
    return x.reshape(reshaped(x.shape, attrs["newshape"], attrs["allowzero"]))


def _reverse_reshape(operands: Sequence[Array], attrs: Attrs) -> object:
    x = operands[0]
    return x.reshape(reshaped(x.shape[::-1], attrs["newshape"][::-1], attrs["allowzero"])[::-1])


def _reshape_like(operands: Sequence[Array], attrs: Attrs) -> object:
    x, like = operands
    return x.reshape(reshaped_like(x.shape, like.shape, attrs))


def _squeeze(operands: Sequence[Array], attrs: Attrs) -> object:
    axis = attrs["axis"]
    return np.squeeze(operands[0], None if axis is None else tuple(axis))


def _expand(operands: Sequence[Array], attrs: Attrs) -> object:
    x, axis = operands[0], attrs["axis"]
    at = axis if axis >= 0 else x.ndim + 1 + axis
    return x.reshape(x.shape[:at] + (1,) * attrs["num_newaxis"] + x.shape[at:])


def _split(operands: Sequence[Array], attrs: Attrs) -> object:
    sections = attrs["indices_or_sections"]
    return tuple(
        np.split(operands[0], sections if isinstance(sections, int) else list(sections), attrs["axis"])
    )


def _strided_slice(operands: Sequence[Array], attrs: Attrs) -> object:
    x = operands[0]
    axes = attrs["axes"] if attrs["axes"] is not None else tuple(range(len(attrs["begin"])))
    index: list[Any] = [slice(None)] * x.ndim
    for k, axis in enumerate(axes):
        start, stop, step = slice_bounds(attrs, k, x.shape[axis])
        index[axis] = slice(start, None if stop < 0 else stop, step)
    return x[tuple(index)]


def _take(operands: Sequence[Array], attrs: Attrs) -> Array:
    x, indices = operands
    axis, batch = attrs["axis"], attrs["batch_dims"]
    if batch and axis is not None:  # each part of the batch by itself
        rest = {**attrs, "axis": axis % x.ndim - 1, "batch_dims": batch % indices.ndim - 1}
        return np.stack([_take(part, rest) for part in zip(x, indices)])
    size = x.size if axis is None else x.shape[axis]
    indices = indices.astype(np.int64)
    if attrs["mode"] == "wrap":
        indices = indices % size
    elif attrs["mode"] == "clip":
        indices = np.clip(indices, 0, size - 1)
    else:
        indices = np.where(indices < 0, indices + size, indices)
    return np.take(x, indices, axis)


def transform_layout(x: Array, source: str, target: str) -> Any:
    """Carry an array from one layout into another; blocks such as `4c` are split off or merged, the last one
    padded.
    """
    if source == target:
        return x
    parts = parse_layout(source)
    letters = [letter for letter, _ in parts]
    for position, (letter, block) in reversed(list(enumerate(parts))):  # merge blocks into their axes
        if block:
            outer = letters.index(letter.upper())
            x = np.moveaxis(x, position, outer + 1 if position > outer else outer)
            x = x.reshape(x.shape[:outer] + (x.shape[outer] * x.shape[outer + 1],) + x.shape[outer + 2 :])
            letters.pop(position)
    order: list[str] = []
    for letter, block in parse_layout(target):
        if block:
            axis = letters.index(letter.upper())
            rest = -x.shape[axis] % block
            if rest:
                widths = [(0, 0)] * x.ndim
                widths[axis] = (0, rest)
                x = np.pad(x, widths)
            x = x.reshape(x.shape[:axis] + (x.shape[axis] // block, block) + x.shape[axis + 1 :])
            letters.insert(axis + 1, letter)
    order = [letter for letter, _ in parse_layout(target)]
    return x.transpose([letters.index(letter) for letter in order])


def _collapse(x: Array, shape: Sequence[int]) -> Array:
    extra = x.ndim - len(shape)
    axes = tuple(range(extra)) + tuple(
        k + extra for k, d in enumerate(shape) if d == 1 and x.shape[k + extra] != 1
    )
    return x.sum(axis=axes, dtype=x.dtype).reshape(tuple(shape)) if axes else x.reshape(tuple(shape))


def _pad(operands: Sequence[Array], attrs: Attrs) -> Array:
    x = operands[0]
    value = operands[1] if len(operands) > 1 and operands[1] is not None else 0
    mode = attrs["pad_mode"]
    if not x.ndim:
        return x  # NumPy takes no widths of no axes
    if mode == "constant":
        fill = np.asarray(value).astype(x.dtype).reshape(())
        return np.pad(x, attrs["pad_width"], constant_values=fill)
    kind: Any = {"edge": "edge", "reflect": "reflect"}[mode]
    return np.pad(x, attrs["pad_width"], mode=kind)


def _mirror_pad(operands: Sequence[Array], attrs: Attrs) -> Array:
    x, symmetric = operands[0], attrs["mode"].upper() == "SYMMETRIC"
    return np.pad(x, attrs["pad_width"], mode="symmetric" if symmetric else "reflect") if x.ndim else x


def _depth_to_space(operands: Sequence[Array], attrs: Attrs) -> object:
    x, b = transform_layout(operands[0], attrs["layout"], "NCHW"), attrs["block_size"]
    n, c, h, w = x.shape
    if attrs["mode"] == "DCR":
        y = x.reshape(n, b, b, c // (b * b), h, w).transpose(0, 3, 4, 1, 5, 2)
    else:
        y = x.reshape(n, c // (b * b), b, b, h, w).transpose(0, 1, 4, 2, 5, 3)
    return transform_layout(y.reshape(n, c // (b * b), h * b, w * b), "NCHW", attrs["layout"])


def _space_to_depth(operands: Sequence[Array], attrs: Attrs) -> object:
    x, b = transform_layout(operands[0], attrs["layout"], "NCHW"), attrs["block_size"]
    n, c, h, w = x.shape
    y = (
        x.reshape(n, c, h // b, b, w // b, b)
        .transpose(0, 3, 5, 1, 2, 4)
        .reshape(n, c * b * b, h // b, w // b)
    )
    return transform_layout(y, "NCHW", attrs["layout"])


def _slice_like(operands: Sequence[Array], attrs: Attrs) -> object:
    x, like = operands
    axes = attrs["axes"] or tuple(range(min(x.ndim, like.ndim)))
    index: list[Any] = [slice(None)] * x.ndim
    for axis in axes:
        index[axis] = slice(0, like.shape[axis])
    return x[tuple(index)]


def _gather_nd(operands: Sequence[Array], attrs: Attrs) -> object:
    x, indices = operands
    batch = np.ix_(*map(np.arange, x.shape[: attrs["batch_dims"]]))
    places = [place.reshape(place.shape + (1,) * (indices.ndim - 1 - len(batch))) for place in batch]
    chosen = (*places, *indices.astype(np.int64))
    return x[chosen]


def _transpose(operands: Sequence[Array], attrs: Attrs) -> Array:
    return np.transpose(operands[0], attrs["axes"])


_COMBINED: dict[str, Any] = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}


def _scatter(operands: Sequence[Array], attrs: Attrs) -> object:
    """A copy with elements replaced by others, or combined with them; of places that occur twice, the last
    one counts.
    """
    x, indices, updates = operands[0].copy(), operands[1].astype(np.int64), operands[2]
    if indices.shape != updates.shape or indices.ndim != x.ndim:
        raise ValueError(f"indices of {list(indices.shape)} for {list(updates.shape)} in {list(x.shape)}")
    axis, how = attrs["axis"] % x.ndim, attrs.get("reduction", "update")
    places = [*np.indices(indices.shape)]
    places[axis] = np.where(indices < 0, indices + x.shape[axis], indices)
    if how == "update":
        x[tuple(places)] = updates
    elif how in _COMBINED:
        _COMBINED[how].at(x, tuple(places), updates)
    else:
        raise NotImplementedError(f"scattering by `{how}`")
    return x


def _sequence_mask(operands: Sequence[Array], attrs: Attrs) -> object:
    """The other one of the first two axes is the batch."""
    x, lengths = operands
    axis = attrs["axis"] % x.ndim
    if axis > 1 or lengths.shape != x.shape[1 - axis : 2 - axis]:
        raise ValueError("one length for each part of the batch")
    places = np.arange(x.shape[axis]).reshape([-1 if k == axis else 1 for k in range(x.ndim)])
    ends = lengths.reshape([-1 if k == 1 - axis else 1 for k in range(x.ndim)])
    return np.where(places < ends, x, x.dtype.type(attrs["mask_value"]))


EVALUATE: dict[str, Evaluator] = {
    "scatter": _scatter,
    "scatter_elements": _scatter,
    "sequence_mask": _sequence_mask,
    "reshape": _reshape,
    "contrib_reverse_reshape": _reverse_reshape,
    "reshape_like": _reshape_like,
    "squeeze": _squeeze,
    "transpose": _transpose,
    "expand_dims": _expand,
    "split": _split,
    "strided_slice": _strided_slice,
    "take": _take,
    "nn.batch_flatten": lambda o, a: o[0].reshape(o[0].shape[0], -1),
    "slice_like": _slice_like,
    "gather_nd": _gather_nd,
    "layout_transform": lambda o, a: transform_layout(o[0], a["src_layout"], a["dst_layout"]),
    "concatenate": lambda o, a: np.concatenate(o[0], a["axis"]),
    "stack": lambda o, a: np.stack([*o[0]], a["axis"]),
    "gather": lambda o, a: np.take_along_axis(o[0], o[1].astype(np.int64), a["axis"]),
    "tile": lambda o, a: np.tile(o[0], a["reps"]),
    "repeat": lambda o, a: np.repeat(o[0], a["repeats"], a["axis"]),
    "reverse": lambda o, a: np.flip(o[0], a["axis"]),
    "broadcast_to": lambda o, a: np.broadcast_to(o[0], a["shape"]).copy(),
    "broadcast_to_like": lambda o, a: np.broadcast_to(o[0], o[1].shape).copy(),
    "collapse_sum_like": lambda o, a: _collapse(o[0], o[1].shape),
    "collapse_sum_to": lambda o, a: _collapse(o[0], tuple(int(d) for d in o[1].reshape(-1))),
    "nn.pad": _pad,
    "nn.mirror_pad": _mirror_pad,
    "nn.depth_to_space": _depth_to_space,
    "nn.space_to_depth": _space_to_depth,
    "meshgrid": lambda o, a: tuple(np.meshgrid(*o[0], indexing=a["indexing"])),
}
