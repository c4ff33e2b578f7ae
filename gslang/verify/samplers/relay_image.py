"""Operand shapes and attributes that fit Relay operators on images (one to three axes in a layout that names
them): convolutions, pools, resizes, blocks.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from gslang.base.open_types import Attrs
from gslang.verify.samplers.sample import Answer, Sampler, Shape, Shapes, block_of

_REPEATED = 0.2  # share of convolutions with an attribute that repeats what is known without it
_UNEVEN = 0.3  # share of windows of pools that differ along the axes
_FAR = 0.08  # share of strides, and of windows of pools, that are larger than usual


def _place(layout: str, sizes: Mapping[str, int]) -> Shape:
    return tuple(sizes.get(letter, 1) for letter in layout)


def _convolution(rank: int) -> Sampler:
    letters = {1: "W", 2: "HW", 3: "DHW"}[rank]

    def sample(rng: Random, known: Shapes, given: Attrs) -> Answer:
        attrs = dict(given)
        layout = attrs.setdefault("data_layout", rng.choice(("NC" + letters,) * 2 + ("N" + letters + "C",)))
        kernel = attrs.setdefault("kernel_layout", rng.choice(("OI" + letters,) * 4 + (letters + "IO",)))
        data = dict(zip(layout, known[0])) if known[0] is not None else {}
        weight = dict(zip(kernel, known[1])) if known[1] is not None else {}
        groups = attrs.setdefault("groups", rng.choice((1, 1, 1, 1 + (data.get("C", 2) % 2 == 0))))
        inner = weight.get("I") or (
            data["C"] // max(1, groups) if data.get("C") else rng.choice((1, 2, 3) if groups > 1 else (2, 3))
        )
        out = weight.get("O") or attrs.get("channels") or rng.choice((1, 2, 3)) * groups
        if not weight.get("O") and data.get("C") == inner and groups == 1 and rng.random() < 0.3:
            out = inner
        sizes = {
            "N": rng.choice((1, 2)),
            "C": inner * groups, **{s: rng.choice((4, 5, 6)) + k for k, s in enumerate(letters)},
        }
        window = attrs.get("kernel_size") or tuple(rng.choice((1, 2, 3, 3)) for _ in letters)
        if rng.random() < 0.3:
            window = (3,) * rank if rng.random() < 0.7 else (1,) * rank
        if (
            layout[1] != "C" and not weight.get("O") and not attrs.get("channels")
            and not attrs.get("kernel_size") and rng.random() < 0.7
        ):
            # as many outputs as rows, and as many rows behind as before: a factor along the wrong axis fits
            sizes[letters[0]] = data.get(letters[0]) or 4
            out = sizes[letters[0]] // groups * groups
            window = (rng.choice((1, 3)),) * rank
            attrs.setdefault("strides", (1,) * rank)
            attrs.setdefault("dilation", (1,) * rank)
            attrs.setdefault("padding", tuple(k // 2 for k in window))
        kernel_sizes = {"O": out, "I": inner, **dict(zip(letters, window))}
        shapes = [known[0] or _place(layout, sizes), known[1] or _place(kernel, kernel_sizes)]
        if rng.random() < 0.15 and known[1] is None and known[0] is not None and len(known[0]) == rank + 2:
            shapes[1] = _place(kernel, {**kernel_sizes, "O": sizes["C"] if groups == 1 else out})
        multiplier = _multiplier(rng, kernel, groups, dict(zip(layout, shapes[0])), attrs)
        if multiplier and known[1] is None:
            shapes[1] = _place(kernel, {**kernel_sizes, "O": groups, "I": multiplier})
        window = tuple(dict(zip(kernel, shapes[1])).get(s, 1) for s in letters)
        _add_steps(rng, window, attrs)
        out = dict(zip(kernel, shapes[1])).get("O", 1) * (multiplier or 1)
        for name, value in (("channels", out), ("kernel_size", window), ("out_layout", layout)):
            if rng.random() < _REPEATED:
                attrs.setdefault(name, value)
        return shapes, attrs

    return sample


def _multiplier(
    rng: Random, kernel: str, groups: int, data: Mapping[str, int], attrs: Attrs
) -> int | None:
    """The number of outputs of each channel, of a kernel whose layout says that it has these behind its
    channels if each channel is a group of its own; None for any other kernel."""
    if kernel != "HWOI" or groups < 2 or data.get("C") != groups:
        return None
    return attrs["channels"] // groups if attrs.get("channels") else rng.choice((1, 2, 3))


def _add_steps(rng: Random, window: Shape, attrs: dict[str, Any]) -> None:
    """Add how the window moves over the image, where that is open: dilation, padding, strides."""
    rank = len(window)
    steps = ((1,) * rank, (1,) * rank, (2,) * rank, tuple(range(1, rank + 1)))
    dilation = attrs.setdefault("dilation", rng.choice(steps))
    spread = (tuple(dilation) * rank)[:rank]
    centred = tuple(d * (k // 2) for k, d in zip(window, spread))
    paddings = (
        (0,) * rank, (1,) * rank, centred, centred, (*centred, *centred),
        tuple(rng.randrange(3) for _ in range(2 * rank)),
    )
    attrs.setdefault("padding", rng.choice(paddings))
    far = (rng.choice((3, 4, 5)),) * rank
    attrs.setdefault("strides", far if rng.random() < _FAR else rng.choice(steps))


def _quantized_convolution(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """The same with zero points and scales of one number."""
    shapes, attrs = _convolution(2)(rng, known[:2], given)
    return [*shapes, *[s or () for s in known[2:]]], attrs


def _transposed_convolution(rank: int) -> Sampler:
    """Like a convolution, whose kernel has the channels of the data first."""
    letters = {1: "W", 2: "HW", 3: "DHW"}[rank]

    def sample(rng: Random, known: Shapes, given: Attrs) -> Answer:
        attrs = {
            "data_layout": "NC" + letters,
            "kernel_layout": "IO" + letters,
            "groups": rng.choice((1, 1, 2)), **given,
        }
        data = dict(zip(attrs["data_layout"], known[0])) if known[0] is not None else {}
        weight = dict(zip(attrs["kernel_layout"], known[1])) if known[1] is not None else {}
        groups = max(1, attrs["groups"])
        channels = data.get("C") or weight.get("I") or rng.choice((2, 3)) * groups
        sizes = {
            "N": rng.choice((1, 2)),
            "C": channels, **{s: rng.choice((3, 4)) + k for k, s in enumerate(letters)},
        }
        window = {s: rng.choice((1, 2, 3)) for s in letters}
        shapes = [
            known[0] or _place(attrs["data_layout"], sizes),
            known[1]
            or _place(attrs["kernel_layout"], {"I": channels, "O": rng.choice((1, 2)), **window}),
        ]
        uneven = tuple(range(1, rank + 1))
        attrs.setdefault("padding", rng.choice(((0,) * rank, (1,) * rank, tuple(k - 1 for k in uneven))))
        attrs.setdefault("strides", rng.choice(((1,) * rank, (2,) * rank, uneven)))
        return shapes, attrs

    return sample


def _pool(rank: int) -> Sampler:
    letters = {1: "W", 2: "HW", 3: "DHW"}[rank]

    def sample(rng: Random, known: Shapes, attrs: Attrs) -> Answer:
        layout = attrs.get("layout") or rng.choice(("NC" + letters, "NC" + letters, "N" + letters + "C"))
        large = rng.random() < 2 * _FAR
        window = attrs.get("pool_size") or (rng.choice((5, 7) if large else (1, 2, 3)),) * rank
        if not attrs.get("pool_size") and not large and rng.random() < _UNEVEN:
            window = tuple(rng.choice((1, 2, 3)) for _ in letters)
        least = max(5, *window)
        sizes = {"N": rng.choice((1, 2)), "C": 3, **{s: least + k for k, s in enumerate(letters)}}
        half = tuple(k // 2 for k in window)
        return [known[0] or _place(layout, sizes)], {
            "layout": layout,
            "pool_size": window,
            "strides": rng.choice(((1,) * rank, (2,) * rank, tuple(range(rank, 0, -1)))),
            "padding": rng.choice(((0,) * rank, half, (*half, *(0,) * rank))),
            "count_include_pad": rng.random() < 0.3,
        }

    return sample


def _blocks(to_space: bool) -> Sampler:
    """An image whose channels (or rows and columns) are so many that the order of the parts shows, now and
    then after another call of the same operator, too."""

    def sample(rng: Random, known: Shapes, attrs: Attrs) -> Answer:
        layout = attrs.get("layout") or rng.choice(("NCHW", "NCHW", "NHWC"))
        there = dict(zip(layout, known[0])) if known[0] is not None else {}
        block = attrs.get("block_size") or block_of(rng, there, to_space)
        more = rng.choice((1, 2))
        sizes = (
            {"C": block * block * rng.choice((2, 3, 4, 8)), "H": 2, "W": 3} if to_space
            else {"C": 2, "H": block * 2 * more, "W": block * 3 * more}
        )
        sizes["N"] = rng.choice((1, 2))
        shape = known[0] if known[0] is not None else _place(layout, sizes)
        return [shape], {"layout": layout, "block_size": block}

    return sample


def _resize2d(rng: Random, known: Shapes, attrs: Attrs) -> Answer:
    """To a size that is larger or smaller, by a whole factor or not."""
    layout = attrs.get("layout") or rng.choice(("NCHW", "NCHW", "NHWC"))
    sizes = {"N": rng.choice((1, 1, 2)), "C": 2, "H": rng.choice((3, 4)), "W": rng.choice((4, 5))}
    shape = known[0] if known[0] is not None else _place(layout, sizes)
    return [shape], {
        "layout": layout,
        "size": (rng.choice((2, 4, 6, 7)), rng.choice((3, 5, 8))),
        "method": rng.choice(("nearest_neighbor", "nearest_neighbor", "linear", "cubic")),
    }


def _upsampling(rng: Random, known: Shapes, attrs: Attrs) -> Answer:
    layout = attrs.get("layout") or rng.choice(("NCHW", "NCHW", "NHWC"))
    sizes = {"N": rng.choice((1, 1, 2)), "C": 2, "H": 3, "W": 4}
    shape = known[0] if known[0] is not None else _place(layout, sizes)
    return [shape], {"layout": layout, "scale_h": rng.choice((1.0, 2.0)), "scale_w": rng.choice((2.0, 3.0))}


def _image(rank: int) -> Sampler:
    letters = {1: "W", 2: "HW", 3: "DHW"}[rank]

    def sample(rng: Random, known: Shapes, attrs: Attrs) -> Answer:
        layout = attrs.get("layout") or rng.choice(("NC" + letters, "NC" + letters, "N" + letters + "C"))
        sizes = {"N": rng.choice((1, 2)), "C": 3, **{s: 4 + k for k, s in enumerate(letters)}}
        return [known[0] if known[0] is not None else _place(layout, sizes)], {"layout": layout}

    return sample


def _backward_weight(rng: Random, known: Shapes, attrs: Attrs) -> Answer:
    """A gradient of the size of the convolution's result."""
    own = dict(attrs)
    own.setdefault("strides", rng.choice(((1, 1), (2, 2))))
    own.setdefault("dilation", rng.choice(((1, 1), (1, 1), (2, 2))))
    own.setdefault("padding", rng.choice(((0, 0), (1, 1))))
    window = own.get("kernel_size") or (rng.choice((1, 2, 3)), rng.choice((2, 3)))
    data = known[1] or (rng.choice((1, 2)), rng.choice((2, 4)), 6, 7)
    results = [
        (size + 2 * pad - (k - 1) * spread - 1) // step + 1
        for size, pad, k, spread, step in zip(
            data[2:], (own["padding"] * 2)[:2], window, (own["dilation"] * 2)[:2], (own["strides"] * 2)[:2]
        )
    ]
    return [known[0] or (data[0], rng.choice((2, 4)), *results), data], {**own, "kernel_size": window}


IMAGE_SAMPLERS: dict[str, Sampler] = {
    **{f"nn.conv{k}d": _convolution(k) for k in (1, 2, 3)},
    "qnn.conv2d": _quantized_convolution,
    **{f"nn.conv{k}d_transpose": _transposed_convolution(k) for k in (1, 2, 3)},
    **{f"nn.{m}_pool{k}d": _pool(k) for m in ("max", "avg", "global_max", "global_avg") for k in (1, 2, 3)},
    "nn.depth_to_space": _blocks(True),
    "nn.space_to_depth": _blocks(False),
    "image.resize2d": _resize2d,
    "nn.upsampling": _upsampling,
    **{f"nn.adaptive_{m}_pool{k}d": _image(k) for m in ("max", "avg") for k in (1, 2, 3)},
    "nn.conv2d_backward_weight": _backward_weight,
}
