"""Products, convolutions and means over windows of ONNX over a prime field: sums over shifted slices, exact
in 63 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gslang.verify.field import dual
from gslang.verify.field.call import Call, Meaning
from gslang.verify.field.dual import Dual, contracted, number
from gslang.verify.field.onnx_normalise import along
from gslang.verify.field.residues import NoField


def _matmul(call: Call) -> Dual:
    return product(call.dual(0), call.dual(1))


def product(a: Dual, b: Dual) -> Dual:
    """`numpy.matmul`."""
    left, right = len(a.shape) == 1, len(b.shape) == 1
    a = a.moved(lambda v: v[None]) if left else a
    b = b.moved(lambda v: v[:, None]) if right else b
    result = contracted("...ij,...jk->...ik", a, b)
    result = result.moved(lambda v: v[..., 0, :]) if left else result
    return result.moved(lambda v: v[..., 0]) if right else result


def gemm(call: Call) -> Dual:
    a, b = call.dual(0), call.dual(1)
    a = a.moved(np.transpose) if call.attrs.get("transA") else a
    b = b.moved(np.transpose) if call.attrs.get("transB") else b
    y = product(a, b) * call.real("alpha")
    c = call.optional(2)
    return y if c is None else y + c * call.real("beta")


def _windows(
    call: Call, space: Sequence[int], kernel: Sequence[int]
) -> tuple[list[int], list[int], list[int], list[int]]:
    """(strides, dilations, befores, afters) of a sliding window."""
    rank = len(kernel)
    strides = list(call.numbers("strides") or (1,) * rank)
    dilations = list(call.numbers("dilations") or (1,) * rank)
    pads = list(call.numbers("pads") or (0,) * (2 * rank))
    auto = call.attrs.get("auto_pad", "NOTSET")
    if auto == "VALID":
        pads = [0] * (2 * rank)
    elif auto in ("SAME_UPPER", "SAME_LOWER"):
        for k in range(rank):
            wide = max(
                0,
                (-(-space[k] // strides[k]) - 1) * strides[k] + dilations[k] * (kernel[k] - 1) + 1 - space[k],
            )
            small, large = wide // 2, wide - wide // 2
            pads[k], pads[rank + k] = (small, large) if auto == "SAME_UPPER" else (large, small)
    return strides, dilations, pads[:rank], pads[rank:]


def _taken(place: tuple[object, ...], shape: tuple[int, ...] | None = None) -> Callable[[Any], Any]:
    return lambda v: v[place] if shape is None else v[place].reshape(shape)


def _padded(pads: Sequence[tuple[int, int]], fill: int) -> Callable[[Any], Any]:
    return lambda v: np.pad(v, pads, constant_values=fill)


def _window(
    offset: Sequence[int], dilations: Sequence[int], sizes: Sequence[int], strides: Sequence[int]
) -> tuple[slice, ...]:
    """The part of the data that all windows have at this place of the kernel."""
    axes = zip(offset, dilations, sizes, strides)
    return (slice(None), slice(None), *(slice(o * s, o * s + (d - 1) * t + 1, t) for o, s, d, t in axes))


def convolution(call: Call) -> Dual:
    """`Conv`: a sum over the places of the kernel, of slices that are multiplied by groups."""
    x, w, bias = call.dual(0), call.dual(1), call.optional(2)
    kernel = w.shape[2:]
    strides, dilations, before, after = _windows(call, x.shape[2:], kernel)
    groups = int(call.attrs.get("group", 1))
    x = x.moved(lambda v: np.pad(v, [(0, 0), (0, 0), *zip(before, after)]))
    sizes = [(d - s * (k - 1) - 1) // t + 1 for d, k, s, t in zip(x.shape[2:], kernel, dilations, strides)]
    n, out, inner = x.shape[0], w.shape[0], w.shape[1]
    total: Dual | None = None
    for offset in np.ndindex(*kernel):
        part = x.moved(_taken(_window(offset, dilations, sizes, strides), (n, groups, inner, -1)))
        weight = w.moved(_taken((..., *offset), (groups, out // groups, inner)))
        y = contracted("ngis,goi->ngos", part, weight)
        total = y if total is None else total + y
    if total is None:
        raise NoField("an empty window")
    result = total.moved(lambda v: v.reshape(n, out, *sizes))
    return result if bias is None else result + along(bias, len(result.shape))


def _conv_transpose(call: Call) -> Dual:
    x, w, bias = call.dual(0), call.dual(1), call.optional(2)
    if call.attrs.get("output_shape") or call.attrs.get("auto_pad", "NOTSET") != "NOTSET":
        raise NoField("a transposed convolution with `output_shape`")
    kernel, groups = w.shape[2:], int(call.attrs.get("group", 1))
    strides, dilations, before, after = _windows(call, x.shape[2:], kernel)
    extra = call.numbers("output_padding") or (0,) * len(kernel)
    n, channels, per_group = x.shape[0], x.shape[1], w.shape[1]
    space = x.shape[2:]
    full = [
        (d - 1) * t + s * (k - 1) + 1 + e for d, t, s, k, e in zip(space, strides, dilations, kernel, extra)
    ]
    whole = Dual(np.zeros((n, groups * per_group, *full), np.int64), np.zeros((n, groups * per_group, *full)))
    part = x.moved(lambda v: v.reshape(n, groups, channels // groups, -1))
    for offset in np.ndindex(*kernel):
        weight = w.moved(_taken((..., *offset), (groups, channels // groups, per_group)))
        y = contracted("ngis,gio->ngos", part, weight).moved(
            lambda v: v.reshape(n, groups * per_group, *space)
        )
        window = _window(offset, dilations, space, strides)
        whole.residue[window] = (whole.residue[window] + y.residue) % dual.PRIME
        whole.real[window] += y.real
    kept = (slice(None), slice(None), *(slice(b, d - a) for b, a, d in zip(before, after, full)))
    result = whole.moved(lambda v: v[kept])
    return result if bias is None else result + along(bias, len(result.shape))


def _average_pool(call: Call) -> Dual:
    x = call.dual(0)
    kernel = call.numbers("kernel_shape") or ()
    if call.attrs.get("ceil_mode"):
        raise NoField("pooling with `ceil_mode`")
    strides, dilations, before, after = _windows(call, x.shape[2:], kernel)
    stated = call.attrs.get("auto_pad", "NOTSET") == "NOTSET"
    if stated and any(max(b, a) >= k for b, a, k in zip(before, after, kernel)):
        raise NoField("padding not smaller than the window")
    pads = [(0, 0), (0, 0), *zip(before, after)]
    ones = Dual(np.ones(x.shape, np.int64), np.ones(x.shape))
    sums = []
    for value, fill in ((x, 0), (ones, int(bool(call.attrs.get("count_include_pad"))))):
        padded = value.moved(_padded(pads, fill))
        sizes = [
            (d - s * (k - 1) - 1) // t + 1 for d, k, s, t in zip(padded.shape[2:], kernel, dilations, strides)
        ]
        total = number(0)
        for offset in np.ndindex(*kernel):
            total = total + padded.moved(_taken(_window(offset, dilations, sizes, strides)))
        sums.append(total)
    if (sums[1].residue == 0).any():
        raise NoField("a window entirely in the padding")
    return sums[0] / sums[1]


def _einsum(call: Call) -> Dual:
    """Operand by operand: letters are summed as soon as neither the result nor a later operand has them."""
    left, arrow, result = "".join(str(call.attrs["equation"]).split()).partition("->")
    terms = left.split(",")
    if not arrow:  # the letters that occur once, in alphabetical order
        single = sorted(c for c in left if c.isalpha() and left.count(c) == 1)
        result = "..." * ("." in left) + "".join(single)
    total, letters = number(1), ""
    for k, term in enumerate(terms):
        later = "".join((*terms[k + 1 :], result))
        kept = "".join(sorted({c for c in letters + term if c.isalpha() and c in later}))
        kept = "..." * ("." in letters + term) + kept if k < len(terms) - 1 else result
        total = contracted(f"{letters},{term}->{kept}", total, call.dual(k))
        letters = kept
    return total


WINDOWS: dict[str, Meaning] = {
    "MatMul": _matmul,
    "Gemm": gemm,
    "Einsum": _einsum,
    "Conv": convolution,
    "ConvTranspose": _conv_transpose,
    "AveragePool": _average_pool,
}
