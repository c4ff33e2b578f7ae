"""Calls as rule files write them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gslang.base.arrays import Array
from gslang.dialect.domain_text import value_text
from gslang.graph.graph import PROJ, TUPLE


def call_text(op: str, operands: Sequence[str], attrs: Mapping[str, object]) -> str:
    """A call, tuple or projection whose operands have these texts."""
    if op == TUPLE:
        return tuple_text(operands)
    if op == PROJ:
        return f"{operands[0]}.{attrs['index']}"
    stated = [f"{name} = {value_text(value)}" for name, value in attrs.items()]
    return f"{op}({', '.join([*operands, *stated])})"


def constant_text(value: Array) -> str:
    """A constant of rank 0 or 1."""
    number = tuple(value.tolist()) if value.ndim else value.item()
    return f'const(value = {value_text(number)}, dtype = "{value.dtype.name}")'


def tuple_text(items: Iterable[str]) -> str:
    """A tuple of items that have these texts."""
    texts = list(items)
    return f"({', '.join(texts)}{',' * (len(texts) == 1)})"
