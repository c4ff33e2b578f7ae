"""Contrib operators (`com.microsoft`) in NumPy, as onnxruntime computes them. Half precision is computed in
single.

Each function takes the operands (None: absent) and the complete attributes, and returns the value or a tuple
of several. Not here: caches that are written in place, few-bit weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from gslang.base.arrays import Array
from gslang.base.open_types import Attrs
from gslang.evaluate.elementwise import erf, sigmoid
from gslang.evaluate.onnx_contrib_coded import CODED
from gslang.evaluate.reduction import softmax

Operands = list[Any]


def _wide(value: Array | None) -> Array | None:
    """At least single precision."""
    return (
        value.astype(np.float32)
        if value is not None and value.dtype.kind not in "iub" and value.dtype.itemsize < 4
        else value
    )


def _gelu(x: Array) -> Any:
    return 0.5 * x * (1 + erf(x / math.sqrt(2)))


def _tanh_gelu(x: Array) -> Any:
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))


def _sum(*values: Any) -> Any:
    total = values[0]
    for value in values[1:]:
        total = total if value is None else total + value
    return total


def _activated(x: Array, attrs: Attrs) -> Array:
    """The activation of FusedConv and FusedGemm."""
    parameters = attrs.get("activation_params") or (
        attrs.get("activation_alpha"), attrs.get("activation_beta"),
    )
    first, second = (*parameters, None, None)[:2]
    match attrs.get("activation") or "":
        case "":
            return x
        case "Relu":
            return np.maximum(x, 0)
        case "Tanh":
            return np.tanh(x)
        case "Sigmoid":
            return sigmoid(x)
        case "LeakyRelu":
            return np.where(x < 0, x * (0.01 if first is None else first), x)
        case "Clip":
            return np.clip(x, first, second)
        case "HardSigmoid":
            return np.clip(x * (0.2 if first is None else first) + (0.5 if second is None else second), 0, 1)
    raise NotImplementedError(f"the activation `{attrs['activation']}`")


# ── products ────────────────────────────────────────────────────────────────────────────────────────────────


def _batch_transposed(x: Array) -> Array:
    """[rows, batch…, columns] → [batch…, rows, columns]."""
    return np.moveaxis(x, 0, -2)


def fused_matmul(operands: Operands, attrs: Attrs) -> object:
    a, b = operands
    a = _batch_transposed(a) if attrs.get("transBatchA") else a
    b = _batch_transposed(b) if attrs.get("transBatchB") else b
    a = np.swapaxes(a, -1, -2) if attrs["transA"] and a.ndim > 1 else a
    b = np.swapaxes(b, -1, -2) if attrs["transB"] and b.ndim > 1 else b
    return attrs["alpha"] * np.matmul(a, b)


def fused_gemm(operands: Operands, attrs: Attrs) -> object:
    a, b, c = (*operands, None)[:3]
    product = attrs["alpha"] * np.matmul(a.T if attrs["transA"] else a, b.T if attrs["transB"] else b)
    return _activated(product if c is None else product + attrs["beta"] * c, attrs)


def fused_conv(operands: Operands, attrs: Attrs) -> Array:
    from onnx import helper
    from onnx.reference import ReferenceEvaluator

    x, w, b, z = (*operands, None, None)[:4]
    names = ("auto_pad", "dilations", "group", "kernel_shape", "pads", "strides")
    given = ["x", "w"] if b is None else ["x", "w", "b"]
    node = helper.make_node(
        "Conv", given, ["y"], **{name: attrs[name] for name in names if attrs[name] is not None}
    )
    computed: Any = ReferenceEvaluator(node).run(None, dict(zip(given, (x, w, b))))  # type: ignore[arg-type]
    (result,) = computed
    if z is not None and z.shape != result.shape:
        raise ValueError(f"{list(z.shape)} is added to a result of {list(result.shape)}")
    return _activated(_sum(result, z), attrs)


# ── sums ────────────────────────────────────────────────────────────────────────────────────────────────────


def bias_split_gelu(operands: Operands, attrs: Attrs) -> object:
    left, right = np.split(operands[0] + operands[1], 2, axis=-1)
    return left * _gelu(right)


def bias_softmax(o: Operands, attrs: Attrs) -> object:
    """A softmax along all axes from `axis` on together, of rows plus those of a bias: each of these for as
    many rows that follow each other (inner), or for rows that come back in turn.
    """
    x, bias = o
    rows = x.reshape(math.prod(x.shape[: attrs["axis"] % x.ndim]), -1)
    more = bias.reshape(-1, rows.shape[1])
    times = len(rows) // len(more)
    wide = np.repeat(more, times, 0) if attrs["is_inner_broadcast"] else np.tile(more, (times, 1))
    return softmax(rows + wide).reshape(x.shape)


# ── normalisation ───────────────────────────────────────────────────────────────────────────────────────────


def skip_layer_normalization(operands: Operands, attrs: Attrs) -> tuple[Array, ...]:
    x, skip, gamma, beta, bias = (*operands, None, None, None)[:5]
    total = _sum(x, skip, bias)
    mean = np.mean(total, axis=-1, keepdims=True)
    scale = 1 / np.sqrt(np.var(total, axis=-1, keepdims=True) + attrs["epsilon"])
    return _sum((total - mean) * scale * gamma, beta), mean, scale, total


def skip_simplified(operands: Operands, attrs: Attrs) -> object:
    x, skip, gamma, bias = (*operands, None, None)[:4]
    total = _sum(x, skip, bias)
    scale = 1 / np.sqrt(np.mean(total * total, axis=-1, keepdims=True) + attrs["epsilon"])
    return total * scale * gamma, scale, scale, total


def simplified(operands: Operands, attrs: Attrs) -> object:
    x, gamma = operands[:2]
    axes = tuple(range(attrs["axis"] % x.ndim, x.ndim))
    scale = 1 / np.sqrt(np.mean(x * x, axis=axes, keepdims=True) + attrs["epsilon"])
    return x * scale * gamma, scale


def group_norm(operands: Operands, attrs: Attrs) -> object:
    x, gamma, beta = operands[:3]
    first = np.moveaxis(x, -1, 1) if attrs["channels_last"] else x
    parts = first.reshape(first.shape[0], attrs["groups"], -1)
    parts = (parts - parts.mean(axis=-1, keepdims=True)) / np.sqrt(
        parts.var(axis=-1, keepdims=True) + attrs["epsilon"]
    )
    shape = (1, -1) + (1,) * (first.ndim - 2)
    result = parts.reshape(first.shape) * gamma.reshape(shape) + beta.reshape(shape)
    result = result * sigmoid(result) if attrs["activation"] else result
    return np.moveaxis(result, 1, -1) if attrs["channels_last"] else result


def skip_group_norm(operands: Operands, attrs: Attrs) -> object:
    x, gamma, beta, skip, bias = (*operands, None)[:5]
    skip = skip.reshape(skip.shape[0], *(1,) * (x.ndim - 2), -1) if skip.ndim == 2 else skip
    total = _sum(x, skip, bias)
    return group_norm([total, gamma, beta], attrs), total


def embed_layer_normalization(operands: Operands, attrs: Attrs) -> object:
    ids, types, words, places, kinds, gamma, beta, mask, positions = (*operands, None, None)[:9]
    if mask is not None or attrs["mask_index_type"]:
        raise NotImplementedError("a mask")
    at = np.arange(ids.shape[1])[None] if positions is None else positions
    total = _sum(words[ids] + places[at], None if types is None else kinds[types])
    return (
        skip_layer_normalization([total, 0 * total, gamma, beta], attrs)[0], np.zeros(len(ids), np.int32),
        total,
    )


# ── attention ───────────────────────────────────────────────────────────────────────────────────────────────


def _heads(x: Array, count: int) -> Any:
    """[batch, sequence, hidden] → [batch, heads, sequence, size]."""
    return x.reshape(*x.shape[:2], count, x.shape[2] // count).swapaxes(1, 2)


def _attend(q: Array, k: Array, v: Array, attrs: Attrs, extra: Array | None, mask: Array | None) -> Any:
    scale = attrs["scale"] or 1 / math.sqrt(q.shape[-1])
    products = np.matmul(q, k.swapaxes(-1, -2)) * scale
    scores, low = products, attrs.get("mask_filter_value") or -10000.0
    if mask is not None:
        if mask.ndim == 1:
            raise NotImplementedError("a mask of lengths")
        shown = mask if mask.ndim == 3 else mask[:, None, :]
        scores = scores + np.where(shown[:, None] > 0, np.float32(0), np.float32(low))
    scores = _sum(scores, extra)
    for shape in (products.shape, scores.shape):  # NumPy broadcasts keys, and scores to what is added
        if shape != (*q.shape[:-1], v.shape[-2]):
            raise ValueError(f"scores {list(shape)} of queries {list(q.shape)} for values {list(v.shape)}")
    if attrs["unidirectional"]:
        rows, columns = scores.shape[-2:]
        scores = np.where(np.tri(rows, columns, columns - rows, dtype=bool), scores, -np.inf)
    result = np.matmul(softmax(scores), v).swapaxes(1, 2)
    return result.reshape(*result.shape[:2], -1)


def attention(operands: Operands, attrs: Attrs) -> object:
    x, weights, bias, mask, past, extra, _ = (*operands, *(None,) * 5)[:7]
    if past is not None or attrs["do_rotary"]:
        raise NotImplementedError("past keys and values")
    sizes = attrs["qkv_hidden_sizes"] or (weights.shape[1] // 3,) * 3
    joined = _sum(np.matmul(x, weights), bias)
    q, k, v = (
        _heads(part, attrs["num_heads"])
        for part in np.split(joined, [sizes[0], sizes[0] + sizes[1]], axis=-1)
    )
    # of keys and values of different sizes there is no second result
    present = np.stack([k, v]) if k.shape == v.shape else None
    return _attend(q, k, v, attrs, extra, mask), present


def multi_head_attention(operands: Operands, attrs: Attrs) -> object:
    q, k, v, bias, mask, extra, past_k, past_v, *caches = (*operands, *(None,) * 9)[:10]
    if any(cache is not None for cache in caches) or k is None or v is None:
        raise NotImplementedError("packed operands, or shared caches")
    count = attrs["num_heads"]
    if bias is not None:
        first, second = q.shape[-1], q.shape[-1] * 2
        q = q + bias[:first]
        k, v = (k + bias[first:second], v + bias[second:]) if k.ndim == 3 else (k, v)
    q = _heads(q, count)
    k, v = (x if x.ndim == 4 else _heads(x, count) for x in (k, v))
    k, v = (
        x if past is None else np.concatenate([past, x], axis=2) for past, x in ((past_k, k), (past_v, v))
    )
    return _attend(q, k, v, attrs, extra, mask), k, v


def rotary_embedding(operands: Operands, attrs: Attrs) -> object:
    x, positions, cosines, sines = operands[:4]
    turned = attrs["rotary_embedding_dim"] or cosines.shape[-1] * 2
    flat = x.ndim == 3
    heads = _heads(x, attrs["num_heads"] or x.shape[-1] // turned) if flat else x
    steps = positions + np.arange(heads.shape[2]) if positions.size == 1 else positions
    cosine, sine = (table[np.atleast_2d(steps)][:, None] for table in (cosines, sines))
    part, rest = heads[..., :turned], heads[..., turned:]
    if attrs["interleaved"]:
        a, b = part[..., 0::2], part[..., 1::2]
        part = np.stack([a * cosine - b * sine, b * cosine + a * sine], axis=-1).reshape(part.shape)
    else:
        a, b = np.split(part, 2, axis=-1)
        part = np.concatenate([a * cosine - b * sine, b * cosine + a * sine], axis=-1)
    result = np.concatenate([part, rest], axis=-1)
    return result.swapaxes(1, 2).reshape(x.shape) if flat else result


_FUNCTIONS: Final[Mapping[str, Callable[[Operands, Attrs], object]]] = {
    "FusedMatMul": fused_matmul,
    "TransposeMatMul": fused_matmul,
    "FusedGemm": fused_gemm,
    "FusedConv": fused_conv,
    "Gelu": lambda o, a: _gelu(o[0]),
    "BiasGelu": lambda o, a: _gelu(o[0] + o[1]),
    "FastGelu": lambda o, a: _tanh_gelu(_sum(*o)),
    "QuickGelu": lambda o, a: o[0] * sigmoid(a["alpha"] * o[0]),
    "BiasAdd": lambda o, a: _sum(*o),
    "BiasSplitGelu": bias_split_gelu,
    "BiasSoftmax": bias_softmax,
    "SkipLayerNormalization": skip_layer_normalization,
    "SkipSimplifiedLayerNormalization": skip_simplified,
    "SimplifiedLayerNormalization": simplified,
    "GroupNorm": group_norm,
    "SkipGroupNorm": skip_group_norm,
    "Attention": attention,
    "MultiHeadAttention": multi_head_attention,
    "RotaryEmbedding": rotary_embedding,
    **CODED,
    "EmbedLayerNormalization": embed_layer_normalization,
    "Inverse": lambda o, a: np.linalg.inv(o[0]),
    "Trilu": lambda o, a: (np.triu if a["upper"] else np.tril)(
        o[0], 0 if len(o) < 2 or o[1] is None else int(o[1])
    ),
    "ExpandDims": lambda o, a: np.expand_dims(o[0], o[1].item()),
}


def contrib_function(operator: str) -> Callable[[Operands, Attrs], object] | None:
    """The function that computes an operator (`com.microsoft.Gelu`), or None. Results have the element type
    of the first operand that holds floats (`SimplifiedLayerNormalization`: of the scale)."""
    domain, _, name = operator.rpartition(".")
    if domain != "com.microsoft" and name != "SimplifiedLayerNormalization":
        return None
    function = _FUNCTIONS.get(name)
    if function is None:
        return None
    found = function

    def run(operands: Operands, attrs: Attrs) -> object:
        typed = operands[1:] if name == "SimplifiedLayerNormalization" else operands
        half = next((x.dtype for x in typed if x is not None and x.dtype.kind not in "iub"), None)
        wide = [_wide(x) for x in operands]
        with np.errstate(all="ignore"):
            result = found(wide, attrs)
        if not isinstance(result, tuple):
            return _narrow(result, half)
        # stay in single precision
        statistics = (1, 2) if name.startswith("Skip") and len(result) == 4 else ()
        return tuple([part if k in statistics else _narrow(part, half) for k, part in enumerate(result)])

    return run


def _narrow(value: Any, dtype: object) -> Any:
    if value is None or dtype is None or value.dtype.kind != "f" or value.dtype == dtype:
        return value
    return value.astype(dtype)
