"""Reductions, softmax and normalisations of ONNX over a prime field."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from gslang.verify.field import dual
from gslang.verify.field.call import Call, Meaning
from gslang.verify.field.dual import Dual
from gslang.verify.field.onnx_attention import softmax
from gslang.verify.field.onnx_cast import holds, narrowed
from gslang.verify.field.onnx_elementwise import exponential, root
from gslang.verify.field.residues import NoField


def _axes(call: Call, x: Dual) -> tuple[int, ...] | None:
    """Axes of a reduction; () where nothing is to be done."""
    axes = call.numbers("axes", 1)
    if not axes:
        return () if call.attrs.get("noop_with_empty_axes") else None
    return tuple(a % len(x.shape) for a in axes)


def _reduction(
    inner: Callable[[Call, Dual], Dual], outer: Callable[[Call, Dual], Dual], mean: bool = False
) -> Callable[[Call], Dual]:
    def meaning(call: Call) -> Dual:
        x = call.dual(0)
        axes = _axes(call, x)
        keep = bool(call.attrs.get("keepdims", 1))
        x = inner(call, x)
        if axes == ():
            return outer(call, x)
        return outer(call, x.mean(axes, keep) if mean else x.total(axes, keep))

    return meaning


def _same(call: Call, x: Dual) -> Dual:
    return x


def _softmax(call: Call) -> Dual:
    return softmax(call, call.dual(0), int(call.attrs.get("axis", -1)))


def _softmax_shifted(call: Call) -> Dual:
    """Of the differences to the first element, which is the same."""
    x, axis = call.dual(0), int(call.attrs.get("axis", -1))
    return softmax(call, x - x.moved(lambda v: np.take(v, [0], axis=axis)), axis)


def _log_softmax(call: Call) -> Dual:
    return call.function("Log", np.log, _softmax(call))


def along(vector: Dual, rank: int) -> Dual:
    """A vector ready to broadcast along the second axis of a tensor of that rank."""
    shape = [1] * rank
    shape[1] = -1
    return vector.moved(lambda v: v.reshape(shape))


def standardised(call: Call, x: Dual, axes: tuple[int, ...]) -> Dual:
    """(x − mean) / √(variance + ε) over axes; ε is the attribute `epsilon`."""
    d = x - x.mean(axes, True)
    return d / root(call, (d * d).mean(axes, True) + call.real("epsilon"))


def _batch_norm(call: Call) -> Dual:
    if call.attrs.get("training_mode"):
        raise NoField("batch normalization in training mode")
    x = call.dual(0)
    scale, shift, mean, variance = (along(call.dual(k), len(x.shape)) for k in range(1, 5))
    return (x - mean) / root(call, variance + call.real("epsilon")) * scale + shift


def _layer_norm(call: Call) -> Dual:
    x = call.dual(0)
    axis = int(call.attrs.get("axis", -1)) % len(x.shape)
    y = standardised(call, x, tuple(range(axis, len(x.shape)))) * call.dual(1)
    shift = call.optional(2)
    return y if shift is None else y + shift


def _rms(call: Call) -> Dual:
    x = call.dual(0)
    axes = tuple(range(int(call.attrs.get("axis", -1)) % len(x.shape), len(x.shape)))
    return x / root(call, (x * x).mean(axes, True) + call.real("epsilon"))


def _rms_norm(call: Call) -> Dual:
    return _rms(call) * call.dual(1)


def _rms_norm_cast(call: Call) -> Dual:
    """Computed in the type of `stash_type`, float32, and converted back before it is scaled."""
    dtype = str(getattr(call.graph.types[call.graph.operands[call.node][0]], "dtype", None))
    if call.attrs.get("stash_type", 1) != 1 or holds(dtype, "float32"):
        return _rms_norm(call)
    return narrowed(call, _rms(call), dtype) * call.dual(1)


def _instance_norm(call: Call) -> Dual:
    x = call.dual(0)
    rank = len(x.shape)
    return standardised(call, x, tuple(range(2, rank))) * along(call.dual(1), rank) + along(
        call.dual(2), rank
    )


def _group_norm(call: Call) -> Dual:
    x, groups = call.dual(0), int(call.attrs["num_groups"])
    n, channels, *space = x.shape
    y = x.moved(lambda v: v.reshape(n, groups, channels // groups, *space))
    y = standardised(call, y, tuple(range(2, len(y.shape)))).moved(lambda v: v.reshape(x.shape))
    scale, shift = call.dual(1), call.dual(2)
    if scale.shape == (groups,) and groups != channels:
        raise NoField("group normalization with factors per group")
    return y * along(scale, len(x.shape)) + along(shift, len(x.shape))


NORMALISE: dict[str, Meaning] = {
    "ReduceSum": _reduction(_same, _same),
    "ReduceMean": _reduction(_same, _same, mean=True),
    "ReduceSumSquare": _reduction(lambda c, x: x * x, _same),
    "ReduceL2": _reduction(lambda c, x: x * x, root),
    "ReduceL1": _reduction(lambda c, x: dual.maximum(x, -x), _same),
    "ReduceLogSum": _reduction(_same, lambda c, x: c.function("Log", np.log, x)),
    "ReduceLogSumExp": _reduction(exponential, lambda c, x: c.function("Log", np.log, x)),
    "GlobalAveragePool": lambda c: c.dual(0).mean(tuple(range(2, len(c.dual(0).shape))), True),
    "Softmax": _softmax,
    "LogSoftmax": _log_softmax,
    "BatchNormalization": _batch_norm,
    "LayerNormalization": _layer_norm,
    "RMSNormalization": _rms_norm,
    "InstanceNormalization": _instance_norm,
    "GroupNormalization": _group_norm,
}

# The same operators by a law, or with a rounding that the usual meaning leaves out: equality under either
# reading is equality.
LAWS: Mapping[str, Meaning] = {
    "Softmax": _softmax_shifted,
    "LogSoftmax": lambda c: c.function("Log", np.log, _softmax_shifted(c)),
    "RMSNormalization": _rms_norm_cast,
}
