"""Attention and rotary positions over a prime field (`onnx`), composed of sums, products and one unknown
function.

A weight is `exp` of a score; keys that a mask hides weigh nothing, and so do numbers that stand for a score,
if they are so far below the largest that no float tells their weight from 0; and scores to which such numbers
are added, where scores are taken to be small (`limits_scores`). Not here: lengths of padding
(`nonpad_kv_seqlen`, `key_padding_mask`), caches of com.microsoft.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from gslang.base.arrays import Array
from gslang.verify.field.call import Call, Meaning
from gslang.verify.field.dual import Dual, constant, contracted, joined, number
from gslang.verify.field.residues import NoField, residues
from gslang.verify.thresholds import limits_scores

LEFT_OUT = "exp (0 for weights below e⁻¹⁰⁴ of the largest)"
SWALLOWED = "exp (numbers ≤ −10²⁹ absorb any addend)"
AS_FLOATS = frozenset({LEFT_OUT, SWALLOWED})  # what holds for floats only
# a number is left out below this one (with a small score added below half of it), and so far below the
# largest: float32 has exp(−104) = 0
_LOW, _BELOW = -1e4, 104.0
_SWALLOWS = -1e29  # a number as low as this is the same whatever is added to it, in float32 and float64


def softmax(call: Call, scores: Dual, axis: int = -1, visible: Any = None) -> Dual:
    """exp over its sum. `visible`: which scores count, of the same shape; all without it.

    A very low number that stands for a score is the same whatever was added to it.
    """
    shown = np.ones(scores.shape, bool) if visible is None else visible
    swallows = scores.real <= _SWALLOWS
    if swallows.any():
        call.unknown.add(SWALLOWED)
        alone = residues(np.where(swallows, scores.real, 0))
        scores = Dual(np.where(swallows, alone, scores.residue), scores.real)
    if scores.residue.size and not shown.any(axis=axis).all():
        raise NoField("a query without visible keys")
    real = np.where(shown, scores.real, -np.inf)
    top = real.max(axis=axis, keepdims=True, initial=-np.inf)
    e = call.function("Exp", lambda x: np.exp(x - top), scores)
    with np.errstate(all="ignore"):
        low = shown & (real <= _LOW / 2) & (top - real > _BELOW)
    if low.any() and (call.graph.op[call.node] == "LogSoftmax" or not limits_scores(call.graph)):
        # a score may be as low, or its logarithm shows: only numbers are left out
        low &= (real <= _LOW) & (real * 16 == np.round(real * 16))
        low[low] = scores.residue[low] == residues(real[low])
    if low.any():
        call.unknown.add(LEFT_OUT)
    kept = shown & ~low
    e = Dual(np.where(kept, e.residue, 0), np.where(kept, e.real, 0.0))
    return e / e.total((axis % len(scores.shape),), True)


def _fraction(call: Call, value: float) -> Dual:
    """A scale: where it is the rounding of a quotient of small numbers, that quotient."""
    if value * 16 == round(value * 16):
        return number(value)
    if getattr(call.graph.types[call.graph.operands[call.node][0]], "dtype", None) not in (
        "float32", "float64",
    ):
        raise NoField("a rounded scale")
    near = Fraction(value).limit_denominator(4096)
    if abs(float(near) / value - 1) < 2.0**-51:
        return number(near.numerator) / number(near.denominator)
    return constant(np.asarray(np.float32(value)))


def _scale(call: Call, size: int, given: Any) -> Dual:
    if given is None:
        return number(1) / call.function("Sqrt", np.sqrt, number(size))
    if given < 0:
        raise NoField("a negative scale")  # its root is taken by definition
    return _fraction(call, float(given))


def _cut(count: int) -> Callable[[Any], Any]:
    """[batch, sequence, hidden] → [batch, heads, sequence, size]."""
    return lambda v: v.reshape(*v.shape[:2], count, v.shape[2] // count).swapaxes(1, 2)


def _merged(v: Array) -> Array:
    v = v.swapaxes(1, 2)
    return v.reshape(*v.shape[:2], v.shape[2] * v.shape[3])


def _repeated(times: int) -> Callable[[Any], Any]:
    return lambda v: np.repeat(v, times, axis=1)


def _triangle(rows: int, columns: int, before: int) -> Array:
    return np.tri(rows, columns, before, dtype=bool)


def _attend(
    call: Call, q: Dual, k: Dual, v: Dual, scale: Dual, added: Dual | None, visible: Array, cap: float = 0.0
) -> Dual:
    """All of four dimensions; `visible` is broadcast to the scores."""
    scores = contracted("...ij,...kj->...ik", q, k) * scale
    if cap:
        scores = call.function("Tanh", np.tanh, scores / _fraction(call, cap)) * _fraction(call, cap)
    shape = scores.shape
    if added is not None:
        scores = scores + added
    if scores.shape != shape:
        raise NoField("a mask that enlarges the scores")
    weights = softmax(call, scores, -1, np.broadcast_to(visible, shape))
    return contracted("...ij,...jk->...ik", weights, v)


def _wide_enough(mask: Array, columns: int, fill: Any) -> Array:
    """A mask for fewer keys than there are: `fill` for the others."""
    missing = columns - mask.shape[-1]
    return (
        np.pad(mask, [(0, 0)] * (mask.ndim - 1) + [(0, missing)], constant_values=fill) if missing > 0
        else mask
    )


def _attention(call: Call) -> object:
    q, k, v = call.dual(0), call.dual(1), call.dual(2)
    operands, attrs = (*call.operands, *(None,) * 7), call.attrs
    if operands[6] is not None or attrs.get("softmax_precision") is not None:
        raise NoField("attention with padding lengths or a softmax precision")
    if any(attrs.get(name, -1) not in (None, -1) for name in ("left_window_size", "right_window_size")):
        raise NoField("windowed attention")
    if not q.shape[0] == k.shape[0] == v.shape[0]:
        raise NoField("attention across batches")
    flat = len(q.shape) == 3
    if flat:
        heads, others = int(attrs["q_num_heads"]), int(attrs["kv_num_heads"])
        q, k, v = q.moved(_cut(heads)), k.moved(_cut(others)), v.moved(_cut(others))
    before = 0
    if operands[4] is not None:
        before = call.dual(4).shape[2]
        k, v = joined([call.dual(4), k], 2), joined([call.dual(5), v], 2)
    present = (k, v)
    if q.shape[1] != k.shape[1]:
        if q.shape[1] % k.shape[1]:
            raise NoField("a number of query heads that is not a multiple of the key heads")
        k, v = (x.moved(_repeated(q.shape[1] // k.shape[1])) for x in (k, v))
    rows, columns = q.shape[2], k.shape[2]
    visible = _triangle(rows, columns, before) if attrs.get("is_causal") else np.ones((rows, columns), bool)
    mask, added = operands[3], None
    if isinstance(mask, Dual):
        visible = visible & _wide_enough(np.ones((1, mask.shape[-1]), bool), columns, False)
        added = mask.moved(lambda m: _wide_enough(m, columns, 0))
    elif mask is not None:
        if np.asarray(mask).dtype != np.bool_:
            raise NoField("an integer mask")
        visible = visible & _wide_enough(np.asarray(mask), columns, False)
    y = _attend(
        call, q, k, v, _scale(call, q.shape[3], attrs.get("scale")), added, visible,
        float(attrs.get("softcap") or 0),
    )
    return (y.moved(_merged) if flat else y), *present  # the products before the weights are not given


def _multi_head(call: Call) -> object:
    """com.microsoft.MultiHeadAttention of separate queries, keys and values."""
    q, k, v = call.dual(0), call.dual(1), call.dual(2)
    operands, attrs, count = (*call.operands, *(None,) * 10), call.attrs, int(call.attrs["num_heads"])
    if len(q.shape) != 3 or any(operands[k] is not None for k in (4, 6, 7, 8, 9)):
        raise NoField("packed operands, a padding mask, or past keys and values")
    bias = call.optional(3)
    if bias is not None:
        first, second = q.shape[2], q.shape[2] * 2
        q = q + bias.moved(lambda b: b[:first])
        if len(k.shape) == 3:
            k, v = k + bias.moved(lambda b: b[first:second]), v + bias.moved(lambda b: b[second:])
    q = q.moved(_cut(count))
    k, v = (x if len(x.shape) == 4 else x.moved(_cut(count)) for x in (k, v))
    rows, columns = q.shape[2], k.shape[2]
    visible = (
        _triangle(rows, columns, columns - rows) if attrs.get("unidirectional")
        else np.ones((rows, columns), bool)
    )
    y = _attend(
        call, q, k, v, _scale(call, q.shape[3], attrs.get("scale") or None), call.optional(5), visible
    )
    return y.moved(_merged), k, v


def _rotary(call: Call) -> Dual:
    x, cosines, sines = call.dual(0), call.dual(1), call.dual(2)
    places = call.places(3)
    flat = len(x.shape) == 3
    heads = x.moved(_cut(int(call.attrs["num_heads"]))) if flat else x
    turned = int(call.attrs.get("rotary_embedding_dim") or 0) or heads.shape[3]
    if places is not None:
        cosines, sines = cosines.moved(lambda t: t[places]), sines.moved(lambda t: t[places])
    y = _turned(heads, cosines, sines, turned, bool(call.attrs.get("interleaved")))
    return y.moved(_merged) if flat else y


def _rotary_of_onnxruntime(call: Call) -> Dual:
    """The same with tables whose rows are looked up; one place is that of the first element of a sequence."""
    x, cosines, sines = call.dual(0), call.dual(2), call.dual(3)
    turned = int(call.attrs.get("rotary_embedding_dim") or 0) or cosines.shape[-1] * 2
    flat = len(x.shape) == 3
    heads = x.moved(_cut(int(call.attrs["num_heads"]) or x.shape[2] // turned)) if flat else x
    places, length = call.places(1), heads.shape[2]
    assert places is not None  # it is no optional operand
    places = np.atleast_2d(places + np.arange(length) if places.size == 1 else places)
    cosines, sines = cosines.moved(lambda t: t[places]), sines.moved(lambda t: t[places])
    y = _turned(heads, cosines, sines, turned, bool(call.attrs.get("interleaved")))
    return y.moved(_merged) if flat else y


def _turned(heads: Dual, cosines: Dual, sines: Dual, turned: int, neighbours: bool) -> Dual:
    """The first `turned` numbers of each head, turned in pairs by angles [batch, sequence, number]."""
    if cosines.shape[-1] * 2 != turned or sines.shape[-1] * 2 != turned:
        raise NoField("angles that do not match the head size")
    cosine, sine = cosines.moved(lambda t: t[:, None]), sines.moved(lambda t: t[:, None])
    if neighbours:
        a, b = heads.moved(lambda h: h[..., 0:turned:2]), heads.moved(lambda h: h[..., 1:turned:2])
        one, two = (
            part.moved(lambda h: h[..., None]) for part in (cosine * a - sine * b, sine * a + cosine * b)
        )
        part = joined([one, two], -1).moved(lambda h: h.reshape(*h.shape[:-2], turned))
    else:
        half = turned // 2
        a, b = heads.moved(lambda h: h[..., :half]), heads.moved(lambda h: h[..., half:turned])
        part = joined([cosine * a - sine * b, sine * a + cosine * b], -1)
    return joined([part, heads.moved(lambda h: h[..., turned:])], -1)


ATTENTION: dict[str, Meaning] = {
    "Attention": _attention, "com.microsoft.MultiHeadAttention": _multi_head, "RotaryEmbedding": _rotary,
    "com.microsoft.RotaryEmbedding": _rotary_of_onnxruntime,
}  # fmt: skip
