"""The type of the arrays that operators are evaluated on: any shape, any element type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy

Array: TypeAlias = "numpy.ndarray[Any, numpy.dtype[Any]]"
