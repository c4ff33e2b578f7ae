"""A constant's value that is one number, or whole numbers in a row: it becomes an array when somebody asks
for one.

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


class Row:
    """Whole numbers of type int64 in a row, such as axes, or sizes of parts.

    `load()` gives the array, of shape (n,), which nobody may change.
    """

    __slots__ = ("_array", "numbers")

    dtype_name = "int64"

    def __init__(self, numbers: tuple[int, ...]) -> None:
        self.numbers = numbers
        self._array: Any = None

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.numbers),)

    @property
    def size(self) -> int:
        return len(self.numbers)

    @property
    def nbytes(self) -> int:
        return 8 * len(self.numbers)

    @property
    def dtype(self) -> Any:
        return self.load().dtype

    def load(self) -> Any:
        if self._array is None:
            import numpy

            self._array = numpy.array(self.numbers, self.dtype_name)
            self._array.flags.writeable = False
        return self._array

    def __array__(self, dtype: object = None, copy: bool | None = None) -> Any:
        array = self.load()
        return array.astype(dtype or array.dtype) if copy or dtype not in (None, array.dtype) else array

    def __repr__(self) -> str:
        return f"Row({self.numbers!r})"


def as_row(value: object) -> Row | None:
    """The row of a tuple of whole numbers that int64 has; None for anything else."""
    if type(value) is not tuple or not value or not all([type(item) is int for item in value]):
        return None
    return Row(value) if -(1 << 63) <= min(value) and max(value) < 1 << 63 else None


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
