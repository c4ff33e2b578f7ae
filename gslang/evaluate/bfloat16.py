"""Numbers of the type bfloat16, which NumPy lacks: they are held as float32."""

from __future__ import annotations

import numpy as np

from gslang.base.arrays import Array
from gslang.dialect.dtypes import numpy_dtype

_HALF = np.uint32(0x7FFF)  # just less than half of the last bit that is kept


def as_bfloat16(x: Array) -> Array:
    """The nearest numbers with the first 16 bits of a float32, ties to even, as float32."""
    wide = np.ascontiguousarray(x, np.float32)
    bits = wide.view(np.uint32)
    rounded = (bits + _HALF + (bits >> 16 & 1)) >> 16 << 16
    return np.where(np.isnan(wide), wide, rounded.astype(np.uint32).view(np.float32)).reshape(np.shape(x))


def converted(x: Array, dtype: str) -> Array:
    """The numbers in an element type, as far as NumPy has it."""
    found: Array = x.astype(numpy_dtype(dtype))
    return as_bfloat16(found) if dtype == "bfloat16" else found
