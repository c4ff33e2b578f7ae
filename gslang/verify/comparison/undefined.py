"""Inputs for which the source is defined and the target is not: divisions by 0, or of the least number by -1,
shifts by the width of the type, lookups behind the end of an axis.

`gslc run` computes some number for the divisions and shifts. Other programs may compute another one, or end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from gslang.base.arrays import Array
from gslang.dialect.dialect import Dialect
from gslang.dialect.tensor_type import TensorType
from gslang.evaluate.agree import compare_values
from gslang.evaluate.errors import EvaluationError, NoEvaluatorError, TooMuchMemoryError
from gslang.graph.graph import CONST, Graph
from gslang.verify.comparison.bounded import evaluate
from gslang.verify.comparison.defined import Undefined, partial_calls, undefined_calls
from gslang.verify.comparison.expand import CannotExpand, expanded
from gslang.verify.comparison.inputs import Inputs, Values
from gslang.verify.partial import DIVISIONS

UNDEFINED = "the target is undefined where the source is defined"  # begins a reason
_MOST_DRAWN = 24  # inputs that are tried


def undefined_in_target(
    before: Graph, after: Graph, dialect: Dialect, drawn: Inputs
) -> tuple[str, Values] | None:
    """Why the target is not defined, and inputs for which the source is. None if none were found."""
    try:
        before, after = expanded(before, dialect), expanded(after, dialect)
    except CannotExpand:
        return None  # what the source divides by is not known
    return _by_numbers(before, after, dialect, drawn) or _by_places(before, after, dialect, drawn)


def _by_places(before: Graph, after: Graph, dialect: Dialect, drawn: Inputs) -> tuple[str, Values] | None:
    """The same of lookups: one place lies outside of its axis."""
    for inputs in _one_apart(
        drawn.normal, {name: (last + 1, -2 - last) for name, last in drawn.last_places.items()}
    ):
        try:
            evaluate(before, dialect, inputs)
        except EvaluationError:
            continue
        try:
            evaluate(after, dialect, inputs)
        except NoEvaluatorError:
            return None
        except TooMuchMemoryError:
            continue
        except EvaluationError as error:
            return f"{UNDEFINED}: {error}", inputs
    return None


def _by_numbers(before: Graph, after: Graph, dialect: Dialect, drawn: Inputs) -> tuple[str, Values] | None:
    """The same of divisions and shifts of whole numbers."""
    calls = partial_calls(after)
    if not calls:
        return None
    of_source = partial_calls(before)
    for inputs in _tried(drawn):
        try:
            found = undefined_calls(after, dialect, calls, inputs)
            if not found or undefined_calls(before, dialect, of_source, inputs):
                continue
            evaluate(before, dialect, inputs)
            first = found[0]
            if after.op[first.call] in DIVISIONS or _depends_on(after, dialect, found, inputs):
                return f"{UNDEFINED}: {first.text}", inputs
        except EvaluationError:
            continue
    return None


def _depends_on(graph: Graph, dialect: Dialect, shifts: list[Undefined], inputs: Values) -> bool:
    """True if the outputs depend on what shifts give where they are not defined."""

    def outputs(amount: int) -> list[Array]:
        changed = graph.copy()
        for one in shifts:
            by = np.where(one.wrong, one.by.dtype.type(amount), one.by)
            number = changed.add(CONST, (), {}, TensorType(by.shape, by.dtype.name))
            changed.set_value(number, CONST, by, TensorType(by.shape, by.dtype.name))
            changed.operands[one.call] = (graph.operands[one.call][0], number)
        return evaluate(changed, dialect, inputs)

    return not compare_values(outputs(0), outputs(1), None).equal


def _tried(drawn: Inputs) -> Iterator[Values]:
    """Usual inputs, those with whole numbers of all sizes or near those that the rule names, and valid ones
    but for one number of one input, or with the least numbers and -1."""
    yield drawn.normal
    yield drawn.of_kind("wide")
    yield drawn.of_kind("near")
    valid = {
        name: (np.abs(value) % 3 + 1).astype(value.dtype) if name in drawn.free else value
        for name, value in drawn.normal.items()
    }
    yield valid
    yield from _one_apart(valid, {name: (0, 8 * valid[name].dtype.itemsize) for name in drawn.free})
    signed = [name for name in drawn.free if valid[name].dtype.kind == "i"]
    least = {name: np.full_like(valid[name], np.iinfo(valid[name].dtype).min) for name in signed}
    yield {**valid, **least}
    yield from [{**valid, **least, name: np.full_like(valid[name], -1)} for name in signed[:_MOST_DRAWN]]


def _one_apart(values: Values, numbers: Mapping[str, Sequence[int]]) -> Iterator[Values]:
    """The values with one of these numbers at one place of one input."""
    changed = [
        {**values, name: _with(values[name], place, number)}
        for name, some in numbers.items() if values[name].size
        for place in dict.fromkeys((0, values[name].size - 1, values[name].size // 2))
        for number in some if number in _range_of(values[name])
    ]
    yield from changed[:_MOST_DRAWN]


def _range_of(value: Array) -> range:
    limits = np.iinfo(value.dtype)
    return range(int(limits.min), int(limits.max) + 1)


def _with(value: Array, place: int, number: int) -> Array:
    changed = np.array(value)
    changed.flat[place] = number
    return changed
