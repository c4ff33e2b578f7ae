"""The values of outlines (`graph.outline`): those of all applications of a rule together, one NumPy call for
each of its operators.

Values are stacked along a new first dimension. The operators that outlines have are computed element by
element, with results correctly rounded, or give the elements another shape; so each value is, bit by bit, the
one that it would have alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np

from gslang.base.arrays import Array
from gslang.graph.graph import CONST, Graph
from gslang.graph.outline import ARITHMETIC, Outline, outline_at

_AT_ONCE: Final = 1 << 24  # bytes of a stacked value


def outlined_values(graph: Graph, nodes: Iterable[int]) -> dict[int, object] | None:
    """Outline → its value, an array of its own or a part of one that others share; None if some parameter is
    not what its type says.
    """
    groups: dict[int, list[int]] = {}
    attrs, operands = graph.attrs, graph.operands
    for node in nodes:
        groups.setdefault(id(attrs[node]), []).append(node)
    found: dict[int, object] = {}
    with np.errstate(all="ignore"):
        for group in groups.values():
            outline = outline_at(graph, group[0])
            count = max(
                _AT_ONCE // max(8, *[8 * math.prod(part.type.shape or ()) for part in outline.nodes]), 1
            )  # type: ignore[arg-type]
            for begin in range(0, len(group), count):
                some = group[begin : begin + count]
                try:
                    stacked = [_stacked(graph, column) for column in zip(*[operands[node] for node in some])]
                    found.update(zip(some, _computed(outline, stacked, len(some))))
                except ValueError:
                    return None
    return found


def _stacked(graph: Graph, nodes: Sequence[int]) -> Array:
    """The values of leaves of one type in one array. Raises `ValueError` if they are not."""
    values = graph.values
    arrays = [values[node] for node in nodes]
    if set(map(type, arrays)) != {np.ndarray}:
        arrays = [np.asarray(graph.value(node)) for node in nodes]
    if len({array.dtype for array in arrays}) > 1:
        raise ValueError("values of several types")
    return np.array(arrays)


def _computed(outline: Outline, operands: list[Array], count: int) -> Any:
    """The results for `count` applications, stacked as the operands are."""
    made: list[Any] = []
    stacked: list[bool] = []  # a constant of the rule, and what follows from such alone, is the same for all
    for part in outline.nodes:
        which = [(made[k], stacked[k]) if k >= 0 else (operands[~k], True) for k in part.operands]
        shape, several = part.type.shape or (), any([is_stacked for _, is_stacked in which])
        if part.op is CONST:
            result = part.value
        elif part.op in ARITHMETIC:
            result = getattr(np, ARITHMETIC[part.op])(
                *[_aligned(array, len(shape)) if is_stacked else array for array, is_stacked in which]
            )
        else:
            result = which[0][0].reshape(*(count,) * which[0][1], *shape)
        if result.shape != (*(count,) * several, *shape) and part.op is not CONST:
            raise ValueError("the operands are not as their types say")
        made.append(result)
        stacked.append(several)
    return made[-1]


def _aligned(array: Array, rank: int) -> object:
    """Shapes are broadcast from their ends on: behind the first dimension, ones stand for those that an
    operand lacks.
    """
    return array.reshape(array.shape[0], *(1,) * (rank + 1 - array.ndim), *array.shape[1:])
