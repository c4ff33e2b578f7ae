"""Convolutions, pooling, padding and resizing: spatial operators with layouts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from gslang.base.open_types import Attrs
from gslang.dialect.relay.dimensions import (
    known,
    multiply,
    numbers,
    paddings,
    rank_is,
    same,
    steps,
    tensor,
)
from gslang.dialect.signature import Infer, TypeInferenceError, Types, ValueOf
from gslang.dialect.tensor_type import UNKNOWN, Dimension, Shape, TensorType, Type

SPATIAL = {1: "W", 2: "HW", 3: "DHW"}


def blocked(layout: str) -> dict[str, int]:
    """Axis letter → position. A block such as the `4c` of `NCHW4c` is letter `c`."""
    letters = re.findall(r"(\d*)([A-Za-z])", layout)
    if "".join(n + a for n, a in letters) != layout or len({a for _, a in letters}) != len(letters):
        raise TypeInferenceError(f"`{layout}` is not a layout")
    return {letter: k for k, (_, letter) in enumerate(letters)}


def windows(
    size: Dimension, kernel: Dimension, stride: int, dilation: int, pad: tuple[int, int], ceil: bool = False
) -> Dimension:
    """The number of windows that fit along an axis."""
    if not known(size, kernel):
        return UNKNOWN
    assert isinstance(size, int) and isinstance(kernel, int)
    room = size + pad[0] + pad[1] - dilation * (kernel - 1) - 1
    if room < 0:
        raise TypeInferenceError(
            f"a window of {dilation * (kernel - 1) + 1} does not fit into {size + pad[0] + pad[1]}"
        )
    if stride < 1:
        raise TypeInferenceError(f"stride {stride}")
    return (room + (stride - 1 if ceil else 0)) // stride + 1


def _as_stated(channels: Dimension, window: Sequence[Dimension], attrs: Attrs) -> Dimension:
    """The channels of a result. Attributes repeat them and the window of the weight."""
    if attrs["kernel_size"] is not None:
        for own, size in zip(window, numbers(attrs["kernel_size"], len(window), "kernel_size")):
            same(own, size, "`kernel_size` and the weight differ")
    if attrs["channels"] is None:
        return channels
    return same(channels, attrs["channels"], "`channels` and the weight differ")


def convolution(rank: int) -> Infer:
    def infer(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
        data, weight = tensor(types[0], "the data"), tensor(types[1], "the weight")
        dtype = attrs["out_dtype"] or data.dtype
        place = blocked(attrs["data_layout"])
        kernel_place = blocked(attrs["kernel_layout"])
        shape = rank_is(data, len(place), "the data")
        if len(place) != rank + 2 or len(kernel_place) != rank + 2:
            return TensorType(None, dtype)  # channels in blocks: the result's layout says too little
        kernel = rank_is(weight, rank + 2, "the weight")
        if shape is None or kernel is None:
            return TensorType(None if shape is None else (UNKNOWN,) * (rank + 2), dtype)
        groups, letters = attrs["groups"], SPATIAL[rank]
        channels = shape[place["C"]]
        out = kernel[kernel_place["O"]]
        inner = kernel[kernel_place["I"]]
        if "HWOI" == attrs["kernel_layout"] and known(channels) and groups == channels and groups > 1:
            out = multiply(out, inner)  # depthwise: O counts the channels, I the multiplier
        elif known(channels, inner) and channels != multiply(inner, groups):
            raise TypeInferenceError(f"{channels} channels against a weight for {inner} in {groups} group(s)")
        if known(out) and groups > 1 and isinstance(out, int) and out % groups:
            raise TypeInferenceError(f"{groups} groups do not divide {out} output channels")
        out = _as_stated(out, [kernel[kernel_place[letter]] for letter in letters], attrs)
        result: dict[str, Dimension] = {"N": shape[place["N"]], "C": out}
        strides, dilations = steps(attrs, rank)
        for k, (letter, pad) in enumerate(zip(letters, paddings(attrs["padding"], rank))):
            result[letter] = windows(
                shape[place[letter]], kernel[kernel_place[letter]], strides[k], dilations[k], pad
            )
        layout = attrs["out_layout"] or attrs["data_layout"]
        return TensorType(tuple([result[letter] for letter in layout]), dtype)

    return infer


def transposed(rank: int) -> Infer:
    def infer(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
        data, weight = tensor(types[0], "the data"), tensor(types[1], "the weight")
        dtype = attrs["out_dtype"] or data.dtype
        place, kernel_place = blocked(attrs["data_layout"]), blocked(attrs["kernel_layout"])
        shape, kernel = rank_is(data, rank + 2, "the data"), rank_is(weight, rank + 2, "the weight")
        if shape is None or kernel is None:
            return TensorType(None, dtype)
        letters = SPATIAL[rank]
        same(shape[place["C"]], kernel[kernel_place["I"]], "the channels and the weight differ")
        out = multiply(kernel[kernel_place["O"]], attrs["groups"])
        out = _as_stated(out, [kernel[kernel_place[letter]] for letter in letters], attrs)
        result: dict[str, Dimension] = {"N": shape[place["N"]], "C": out}
        strides, dilations = steps(attrs, rank)
        extra = numbers(attrs["output_padding"], rank, "output_padding")
        for k, (letter, pad) in enumerate(zip(letters, paddings(attrs["padding"], rank))):
            size, window = shape[place[letter]], kernel[kernel_place[letter]]
            if isinstance(size, int) and isinstance(window, int):
                result[letter] = (
                    (size - 1) * strides[k] - pad[0] - pad[1] + dilations[k] * (window - 1) + 1 + extra[k]
                )
            else:
                result[letter] = UNKNOWN
        layout = attrs["out_layout"] or attrs["data_layout"]
        return TensorType(tuple([result[letter] for letter in layout]), dtype)

    return infer


def backward_weight(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    grad, data = tensor(types[0]), tensor(types[1])
    dtype = attrs["out_dtype"] or grad.dtype
    a, b = rank_is(grad, 4, "the gradient"), rank_is(data, 4, "the data")
    if a is None or b is None or attrs["kernel_size"] is None:
        return TensorType(None, dtype)
    place, grad_place = blocked(attrs["data_layout"]), blocked(attrs["grad_layout"])
    height, width = numbers(attrs["kernel_size"], 2, "kernel_size")
    inner = b[place["C"]]
    sizes: dict[str, Dimension] = {
        "O": a[grad_place["C"]],
        "I": inner // attrs["groups"] if isinstance(inner, int) else UNKNOWN,
        "H": height,
        "W": width,
    }
    return TensorType(tuple([sizes[letter] for letter in attrs["kernel_layout"]]), dtype)


def _resized(
    types: Types,
    layout: str,
    letters: str,
    change: Callable[[list[Dimension]], Iterable[Dimension]],
    dtype: str = "",
) -> Type:
    """The data's type with other sizes along the axes of these letters."""
    data = tensor(types[0])
    place = blocked(layout)
    shape = rank_is(data, len(place), "the data")
    if shape is None:
        return TensorType(None, dtype or data.dtype)
    result: list[Dimension] = list(shape)
    for letter, size in zip(letters, change([shape[place[letter]] for letter in letters])):
        result[place[letter]] = size
    return TensorType(tuple(result), dtype or data.dtype)


def pool(rank: int) -> Infer:
    def infer(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
        def along(sizes: list[Dimension]) -> list[Dimension]:
            kernel = numbers(attrs["pool_size"], rank, "pool_size")
            axes = zip(sizes, kernel, *steps(attrs, rank), paddings(attrs["padding"], rank))
            return [windows(*axis, attrs["ceil_mode"]) for axis in axes]

        return _resized(types, attrs["layout"], SPATIAL[rank], along)

    return infer


def pool_to(rank: int, fixed: int | None = None) -> Infer:
    """Adaptive pooling (to `output_size`), and global pooling (to 1)."""

    def infer(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
        wanted = fixed if fixed is not None else attrs["output_size"]
        return _resized(
            types, attrs["layout"], SPATIAL[rank],
            lambda sizes: sizes if wanted == () else numbers(wanted, rank, "output_size"),
        )

    return infer


def pad(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    data = tensor(types[0])
    widths = attrs["pad_width"]
    shape = rank_is(data, len(widths), "the data")
    if shape is None:
        return TensorType(None, data.dtype)
    result: list[Dimension] = []
    for size, (before, after) in zip(shape, widths):
        result.append(
            size + before + after if isinstance(size, int) else size if before == after == 0 else UNKNOWN
        )
    return TensorType(tuple(result), data.dtype)


def upsampling(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    def scaled(sizes: list[Dimension]) -> list[Dimension]:
        scales = (attrs["scale_h"], attrs["scale_w"])
        return [round(d * scale) if isinstance(d, int) else UNKNOWN for d, scale in zip(sizes, scales)]

    return _resized(types, attrs["layout"], "HW", scaled)


def resize(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
    if attrs["size"] is None:
        return None
    wanted = numbers(attrs["size"], 2, "size")
    return _resized(types, attrs["layout"], "HW", lambda sizes: wanted, attrs["out_dtype"])


def _blocks(larger: bool) -> Infer:
    def infer(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
        data = tensor(types[0])
        place = blocked(attrs["layout"])
        shape: Shape | None = rank_is(data, 4, "the data")
        if shape is None or not known(*shape):
            return TensorType(None if shape is None else (UNKNOWN,) * 4, data.dtype)
        block, result = attrs["block_size"], [int(d) for d in shape if isinstance(d, int)]
        for letter in "HW":
            if not larger and result[place[letter]] % block:
                raise TypeInferenceError(f"blocks of {block} do not divide {result[place[letter]]}")
            result[place[letter]] = (
                result[place[letter]] * block if larger else result[place[letter]] // block
            )
        channels = result[place["C"]]
        if larger and channels % (block * block):
            raise TypeInferenceError(f"{channels} channels are not a multiple of {block * block}")
        result[place["C"]] = channels // (block * block) if larger else channels * block * block
        return TensorType(tuple(result), data.dtype)

    return infer


INFER: dict[str, Infer] = {
    **{f"nn.conv{k}d": convolution(k) for k in (1, 2, 3)},
    **{f"nn.conv{k}d_transpose": transposed(k) for k in (1, 2, 3)},
    **{f"nn.{m}_pool{k}d": pool(k) for k in (1, 2, 3) for m in ("max", "avg")},
    **{f"nn.adaptive_{m}_pool{k}d": pool_to(k) for k in (1, 2, 3) for m in ("max", "avg")},
    **{f"nn.global_{m}_pool2d": pool_to(2, 1) for m in ("max", "avg")},
    "qnn.conv2d": convolution(2),
    "nn.conv2d_backward_weight": backward_weight,
    "nn.pad": pad,
    "nn.mirror_pad": pad,
    "nn.upsampling": upsampling,
    "image.resize2d": resize,
    "nn.depth_to_space": _blocks(True),
    "nn.space_to_depth": _blocks(False),
}
