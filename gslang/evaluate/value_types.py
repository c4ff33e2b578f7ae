"""The types of computed values."""

from __future__ import annotations

from typing import Any

from gslang.dialect.tensor_type import TensorType, TupleType, Type


def type_of(value: Any) -> Type | None:
    """The type of a computed value; None of one that is absent or no tensor, such as a sequence."""
    if value is None or isinstance(value, list):
        return None
    if isinstance(value, tuple):
        return TupleType(tuple([type_of(part) for part in value]))
    return TensorType(tuple(value.shape), value.dtype.name)
