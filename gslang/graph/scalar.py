"""A constant's value that is one number: it becomes an array when somebody asks for one.

Graphs whose constants are numbers are read, matched and written without NumPy, whose import takes longer than
all that.
"""

from __future__ import annotations

import math
import struct
from typing import Any, Final

_BYTES: Final = {"float32": 4, "float64": 8, "int32": 4, "int64": 8}


class Scalar:
    """A number of one of the types in `Scalar.dtypes`, as an element of that type has it.

    `load()` gives the array, of shape ().
    """

    __slots__ = ("_array", "dtype_name", "number")

    dtypes = frozenset(_BYTES)
    shape: tuple[int, ...] = ()
    size = 1

    def __init__(self, number: float | int, dtype_name: str) -> None:
        self.number, self.dtype_name = number, dtype_name
        self._array: Any = None

    @property
    def nbytes(self) -> int:
        return _BYTES[self.dtype_name]

    @property
    def dtype(self) -> Any:
        return self.load().dtype

    def load(self) -> Any:
        if self._array is None:
            import numpy

            self._array = numpy.array(self.number, self.dtype_name)
        return self._array

    def __repr__(self) -> str:
        return f"Scalar({self.number!r}, {self.dtype_name!r})"


def as_element(number: float | int, dtype_name: str) -> float | int | None:
    """A number as an element of one of the types has it; None if no integer of the type can be it."""
    if dtype_name == "float32":
        return round_float32(float(number))
    if dtype_name == "float64":
        return float(number)
    return int(number) if math.isfinite(number) and int(number) == number else None


def round_float32(x: float) -> float:
    """The nearest float32, as a Python float."""
    try:
        return float(struct.unpack("f", struct.pack("f", x))[0])
    except OverflowError:
        return math.copysign(math.inf, x)
