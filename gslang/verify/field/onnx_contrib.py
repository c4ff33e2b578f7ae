"""Operators of onnxruntime's domain `com.microsoft` over a prime field, made of the standard's."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gslang.verify.field import dual
from gslang.verify.field.call import Call, Meaning
from gslang.verify.field.dual import Dual, constant, number
from gslang.verify.field.onnx_elementwise import gelu, gelu_by_tanh, hard_sigmoid, leaky, root, sigmoid
from gslang.verify.field.onnx_normalise import standardised
from gslang.verify.field.onnx_windows import convolution, gemm, product
from gslang.verify.field.residues import NoField


def _fused_matmul(call: Call) -> Dual:
    """alpha · A B, either one transposed before."""
    factors = []
    for k, name in ((0, "A"), (1, "B")):
        x = call.dual(k)
        if call.attrs.get(f"transBatch{name}"):
            x = x.moved(lambda v: np.moveaxis(v, 0, -2))  # [rows, batch…, columns]
        if call.attrs[f"trans{name}"] and len(x.shape) > 1:
            x = x.moved(lambda v: np.swapaxes(v, -1, -2))
        factors.append(x)
    return product(factors[0], factors[1]) * call.real("alpha")


def _sum(x: Dual, *more: Dual | None) -> Dual:
    for y in more:
        x = x if y is None else x + y
    return x


def _activated(call: Call, x: Dual, parameters: Sequence[float]) -> Dual:
    """The activation of a fused operator, with the defaults of the operator of that name."""
    name = call.attrs.get("activation") or ""
    given = [constant(np.float32(v)) for v in parameters]
    plain: dict[str, Callable[[], Dual]] = {
        "": lambda: x,
        "Relu": lambda: dual.maximum(x, number(0)),
        "Tanh": lambda: call.function("Tanh", np.tanh, x),
        "Sigmoid": lambda: sigmoid(call, x),
    }
    if name in plain and not given:
        return plain[name]()
    if name == "LeakyRelu" and len(given) < 2:
        return leaky(x, *given or [constant(np.float32(0.01))])
    if name == "Clip" and len(given) == 2:
        return dual.minimum(dual.maximum(x, given[0]), given[1])
    if name == "HardSigmoid" and len(given) in (0, 2):
        alpha, beta = given or (constant(np.float32(0.2)), number(0.5))
        return hard_sigmoid(x, alpha, beta)
    raise NoField(f"the activation `{name}` with {len(given)} parameters")


def _fused_conv(call: Call) -> Dual:
    convolved = Call(call.graph, call.node, call.operands[:3], call.attrs, call.unknown)
    total = _sum(convolution(convolved), call.optional(3))
    return _activated(call, total, call.attrs["activation_params"] or ())


def _fused_gemm(call: Call) -> Dual:
    alpha, beta = (call.attrs[f"activation_{name}"] for name in ("alpha", "beta"))
    if alpha is None and beta is not None:
        raise NoField("the second parameter of an activation alone")
    return _activated(call, gemm(call), [value for value in (alpha, beta) if value is not None])


def _skip_layer_norm(call: Call) -> object:
    total = _sum(call.dual(0), call.dual(1), call.optional(4))
    normal = _sum(standardised(call, total, (len(total.shape) - 1,)) * call.dual(2), call.optional(3))
    mean = total.mean((-1,), True)
    d = total - mean
    return normal, mean, number(1) / root(call, (d * d).mean((-1,), True) + call.real("epsilon")), total


def _skip_rms_norm(call: Call) -> object:
    total = _sum(call.dual(0), call.dual(1), call.optional(3))
    size = root(call, (total * total).mean((-1,), True) + call.real("epsilon"))
    scale = number(1) / size
    return total / size * call.dual(2), scale, scale, total


def _rms_norm(call: Call) -> object:
    x = call.dual(0)
    axes = tuple(range(int(call.attrs["axis"]) % len(x.shape), len(x.shape)))
    size = root(call, (x * x).mean(axes, True) + call.real("epsilon"))
    return x / size * call.dual(1), number(1) / size


def _embed(call: Call) -> object:
    """Rows of words, places and kinds of words, added and normalized."""
    words, kinds, mask, places = (call.places(k) for k in (0, 1, 7, 8))
    if words is None or mask is not None or call.attrs.get("mask_index_type"):
        raise NoField("embeddings with a mask")
    at = np.arange(words.shape[1])[None] if places is None else places
    total = call.dual(2).moved(lambda t: t[words]) + call.dual(3).moved(lambda t: t[at])
    if kinds is not None:
        total = total + call.dual(4).moved(lambda t: t[kinds])
    normal = standardised(call, total, (len(total.shape) - 1,)) * call.dual(5) + call.dual(6)
    return normal, np.zeros(len(words), np.int32), total


def _quick_gelu(call: Call) -> Dual:
    x = call.dual(0)
    return x * sigmoid(call, call.real("alpha") * x)


def _fast_gelu(call: Call) -> Dual:
    return gelu_by_tanh(call, _sum(call.dual(0), call.optional(1)))


CONTRIB: dict[str, Meaning] = {
    "com.microsoft.FusedMatMul": _fused_matmul,
    "com.microsoft.TransposeMatMul": _fused_matmul,
    "com.microsoft.FusedConv": _fused_conv,
    "com.microsoft.FusedGemm": _fused_gemm,
    "com.microsoft.SkipLayerNormalization": _skip_layer_norm,
    "com.microsoft.SkipSimplifiedLayerNormalization": _skip_rms_norm,
    "com.microsoft.EmbedLayerNormalization": _embed,
    "SimplifiedLayerNormalization": _rms_norm,
    "com.microsoft.QuickGelu": _quick_gelu,
    "com.microsoft.Gelu": lambda c: gelu(c, c.dual(0)),
    "com.microsoft.BiasGelu": lambda c: gelu(c, c.dual(0) + c.dual(1)),
    "com.microsoft.FastGelu": _fast_gelu,
}
