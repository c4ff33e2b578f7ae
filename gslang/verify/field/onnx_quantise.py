"""Quantisation and rounding of ONNX over a prime field: real numbers decide, residues follow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gslang.base.arrays import Array
from gslang.verify.field import dual
from gslang.verify.field.call import Call, Meaning
from gslang.verify.field.dual import Dual, constant, rounded
from gslang.verify.field.residues import NoField


def _levels(call: Call, array: Array, rank: int) -> Array:
    """Scales or zero points ready to broadcast: one number, or one for each place along `axis`."""
    if np.ndim(array) == 0 or np.size(array) == 1:
        return np.reshape(array, ())
    if np.ndim(array) != 1 or call.attrs.get("block_size"):
        raise NoField("blocked quantization")
    shape = [1] * rank
    shape[int(call.attrs.get("axis", 1)) % rank] = -1
    return np.reshape(array, shape)


def _dequantize(call: Call) -> Dual:
    x, scale = np.asarray(call.operands[0]), call.dual(1)
    zero = call.operands[2] if len(call.operands) > 2 else None
    if x.dtype.kind not in "iu":
        raise NoField("quantized numbers that are not integers")
    levels = x.astype(np.int64) - (
        0 if zero is None else _levels(call, np.asarray(zero).astype(np.int64), x.ndim)
    )
    return constant(levels.astype(np.float64)) * scale.moved(lambda v: _levels(call, v, x.ndim))


def _quantize(call: Call) -> object:
    """Whole numbers; not where a quotient is so close to a half that its rounding may be wrong."""
    x, scale = call.dual(0), call.dual(1)
    quotient = x / scale.moved(lambda v: _levels(call, v, len(x.shape)))
    rounded(quotient, np.round(quotient.real))
    return call.reference([o.real.astype(np.float32) if isinstance(o, Dual) else o for o in call.operands])


def _rounding(function: Callable[[Any], Any]) -> Callable[[Call], Dual]:
    def meaning(call: Call) -> Dual:
        x = call.dual(0)
        residue = rounded(x, function(x.real))
        return Dual(
            residue,
            np.where(
                residue == np.round(x.real).astype(np.int64) % dual.PRIME, np.round(x.real), function(x.real)
            ),
        )

    return meaning


QUANTISE: dict[str, Meaning] = {
    **{name: _rounding(f) for name, f in (("Floor", np.floor), ("Ceil", np.ceil), ("Round", np.round))},
    "QuantizeLinear": _quantize, "DequantizeLinear": _dequantize,
}  # fmt: skip
