"""The built-in functions of attribute expressions (language.md §3).

All may raise `UnknownValue` or fail; see `values`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from gslang.check.arithmetic import add, multiply
from gslang.check.limits import bounded, concatenated, measured, numbers, zipped
from gslang.dialect import tensor_type
from gslang.dialect.tensor_type import UNKNOWN, Dimension, Shape, Symbol, UnknownValue


def _sum(items: Sequence[object]) -> Any:
    total: Any = 0
    for item in measured(_elements(items)):
        total = add(total, item)
    return total


def product(items: Sequence[object]) -> Any:
    total: Any = 1
    for item in measured(_elements(items)):
        total = multiply(total, item)
    return total


def _min(*items: Any) -> Any:
    return min(measured(_elements(items[0]) if len(items) == 1 else items))


def _max(*items: Any) -> Any:
    return max(measured(_elements(items[0]) if len(items) == 1 else items))


def _elements(items: Any) -> Any:
    """All elements of an array, whatever its rank, as Python's numbers, which neither wrap nor round like
    those of narrow types; the items of a tuple.
    """
    row = items.reshape(-1) if hasattr(items, "reshape") else items
    return row.tolist() if hasattr(row, "tolist") else row


def _truth(value: object) -> bool | None:
    return None if value is UNKNOWN or isinstance(value, Symbol) else bool(value)


def _all(items: Sequence[object]) -> bool:
    return not _one_is(False, items)


def _any(items: Sequence[object]) -> bool:
    return _one_is(True, items)


def _one_is(wanted: bool, items: Sequence[object]) -> bool:
    """True if an item is `wanted`; unknown if none surely is, but one may be."""
    values = [_truth(item) for item in measured(_elements(items))]
    if wanted in values:
        return True
    if None in values:
        raise UnknownValue("an unknown item")
    return False


def _concat(*parts: Any) -> tuple[object, ...]:
    """`concat(a, b, …)` or `concat(sequence of tuples)`: one tuple."""
    return concatenated(parts[0] if len(parts) == 1 else parts)


def _cumsum(items: Sequence[object]) -> tuple[Any, ...]:
    total: Any = 0
    result = []
    for item in measured(_elements(items)):
        total = add(total, item)
        result.append(total)
    return bounded(tuple(result))  # type: ignore[no-any-return]


def broadcast(a: Sequence[Dimension], b: Sequence[Dimension]) -> Shape:
    """The shape that two shapes broadcast to, NumPy's way."""
    result = tensor_type.broadcast(measured(a), measured(b))
    if result is None:
        raise UnknownValue(f"{tuple(a)} and {tuple(b)} do not broadcast")
    return result


def normalize_axis(axis: int, ndim: int) -> int:
    if not -ndim <= axis < ndim:
        raise UnknownValue(f"axis {axis} of a tensor with {ndim} dimensions")
    return axis + ndim if axis < 0 else axis


def layout_remap(source: str, target: str) -> tuple[int, ...]:
    """The index tuple that carries one layout string into another: result[i] = position in `source` of
    `target[i]`.
    """
    if sorted(measured(source)) != sorted(measured(target)) or len(set(source)) != len(source):
        raise UnknownValue(f"layouts `{source}` and `{target}` do not fit")
    return tuple(source.index(letter) for letter in target)


def _close(a: float, b: float, rtol: float) -> bool:
    return math.isclose(a, b, rel_tol=rtol)


def _reversed(items: object) -> Any:
    return measured(items)[::-1]


BUILTINS: dict[str, Callable[..., object]] = {
    "len": len,
    "range": numbers,
    "reversed": _reversed,
    "zip": zipped,
    "sum": _sum,
    "prod": product,
    "min": _min,
    "max": _max,
    "any": _any,
    "all": _all,
    "concat": _concat,
    "cumsum": _cumsum,
    "abs": abs,
    "numel": product,
    "broadcast": broadcast,
    "normalize_axis": normalize_axis,
    "layout_remap": layout_remap,
    "close": _close,
}
