"""`ConvTranspose` of ONNX: its reference implementation computes groups for one image only, and exchanges the
pads of two ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from gslang.base.arrays import Array


def conv_transpose(operands: Sequence[Any], attrs: Mapping[str, Any]) -> Array:
    """The sum of what all elements of the input add to the places of their windows, cut by the pads: [n,
    channels, …].
    """
    x, w, bias = (*operands, None)[:3]
    groups, rank = attrs.get("group") or 1, x.ndim - 2
    strides, dilations = (attrs.get(name) or (1,) * rank for name in ("strides", "dilations"))
    extents = [(k - 1) * d + 1 for k, d in zip(w.shape[2:], dilations)]
    whole = [(n - 1) * s + e for n, s, e in zip(x.shape[2:], strides, extents)]
    first, sizes = _cut(x.shape[2:], whole, strides, attrs)
    room = [max(n, f + size) for n, f, size in zip(whole, first, sizes)]
    wide = np.float32 if x.dtype.itemsize < 4 else x.dtype
    result = np.zeros((x.shape[0], groups, w.shape[1], *room), wide)
    parts = x.reshape(x.shape[0], groups, x.shape[1] // groups, *x.shape[2:]).astype(wide)
    kernels = w.reshape(groups, w.shape[0] // groups, *w.shape[1:]).astype(wide)
    for at in product(*map(range, w.shape[2:])):
        each: Any = (slice(None),) * 3 + at
        places: Any = (slice(None),) * 3 + tuple(
            slice(k * d, k * d + (n - 1) * s + 1, s)
            for k, d, n, s in zip(at, dilations, x.shape[2:], strides)
        )
        result[places] += np.einsum("ngc...,gcm->ngm...", parts, kernels[each])
    inside: Any = (slice(None),) * 2 + tuple(slice(f, f + size) for f, size in zip(first, sizes))
    found = result.reshape(x.shape[0], groups * w.shape[1], *room)[inside]
    if bias is not None:
        found = found + bias.reshape(-1, *(1,) * rank)
    return found.astype(x.dtype)  # type: ignore[no-any-return]


def _cut(
    sizes: Sequence[int], whole: Sequence[int], strides: Sequence[int], attrs: Mapping[str, Any]
) -> tuple[list[int], list[int]]:
    """Where the result begins in what the windows cover (`whole`), and its sizes."""
    rank, how = len(sizes), attrs.get("auto_pad") or "NOTSET"
    more, wanted = attrs.get("output_padding") or (0,) * rank, attrs.get("output_shape")
    if not wanted and how in ("SAME_UPPER", "SAME_LOWER"):
        wanted = [n * s for n, s in zip(sizes, strides)]
    if not wanted:
        pads = how == "NOTSET" and attrs.get("pads") or (0,) * 2 * rank
        left = [n + m - before - after for n, m, before, after in zip(whole, more, pads, pads[rank:])]
        return list(pads[:rank]), left
    wanted = list(wanted)[-rank:]
    cut = [max(n + m - size, 0) for n, m, size in zip(whole, more, wanted)]
    return [n // 2 if how == "SAME_UPPER" else n - n // 2 for n in cut], wanted
