"""Where the source of an instance is defined: elsewhere the target may compute anything.

Undefined are divisions of whole numbers by 0, and of the least number by -1. Shifts by the width of the type
or more are undefined for a target alone: in a source they give some number everywhere, and a rule that relies
on which one is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gslang.base.arrays import Array
from gslang.base.quick_dataclass import dataclass
from gslang.dialect.dialect import Dialect
from gslang.dialect.dtypes import is_float
from gslang.graph.graph import INPUT, PARAM, Graph
from gslang.verify.comparison.bounded import evaluate
from gslang.verify.comparison.expand import CannotExpand, expanded
from gslang.verify.comparison.inputs import Values
from gslang.verify.partial import DIVISIONS, SHIFTS

_MOST_REPAIRS = 8
_DEFINED = (1, 2, 3, 5, 7)  # divisors, also in 8 bits
_CHOICES = frozenset({"Where", "where"})
_LARGEST = 100  # of what divisors are computed from: seldom equal, also in 8 bits


@dataclass(frozen=True, slots=True)
class Domain:
    """A graph and its divisions of whole numbers, which are not defined for all of them."""

    graph: Graph
    dialect: Dialect
    calls: tuple[int, ...]
    seed: int


def domain_of(graph: Graph, dialect: Dialect, seed: int) -> Domain:
    """Where a graph is defined. `seed`: of numbers that take the place of others."""
    try:
        graph = expanded(graph, dialect)
    except CannotExpand:
        pass  # what declared operators divide by is not known then
    divisions = [call for call in partial_calls(graph) if graph.op[call] in DIVISIONS]
    return Domain(graph, dialect, tuple(divisions), seed)


def moved_inside(domain: Domain, inputs: Values) -> Values:
    """The inputs, with other numbers where the graph is not defined, as far as some are found. Raises
    `EvaluationError`.
    """
    for attempt in range(_MOST_REPAIRS if domain.calls else 0):
        found, _ = undefined_elements(domain, inputs)
        if not found:
            break
        rng = np.random.default_rng([domain.seed, 29, attempt])
        changed = dict(inputs)
        for one in found:
            _move(domain, changed, one, rng, attempt)
        inputs = changed
    return inputs


def _move(domain: Domain, values: Values, one: Undefined, rng: np.random.Generator, attempt: int) -> None:
    """Change what a call divides by; where that is constant, what it divides.

    Inputs change at the places in question, and those behind other calls at first only where they have the
    numbers in question: as a rule these are only moved.
    """
    left, right = domain.graph.operands[one.call][:2]
    operand, numbers, names = right, one.by, _whole_inputs(domain.graph, right, values)
    if not names:
        operand, numbers, names = left, one.of, _whole_inputs(domain.graph, left, values)
    is_input = domain.graph.op[operand] in (INPUT, PARAM)
    for name in names:
        value = values[name]
        if is_input or not attempt:
            wrong = _reduced(one.wrong, value.shape) if is_input else np.isin(value, numbers[one.wrong])
            drawn = np.asarray(rng.choice(_DEFINED, value.shape), value.dtype)  # else uint64 becomes a float
            values[name] = np.where(wrong, drawn, value)
        else:
            values[name] = np.asarray(rng.integers(1, _LARGEST, value.shape), value.dtype)


def _whole_inputs(graph: Graph, node: int, values: Values) -> list[str]:
    """The inputs of whole numbers that a node is computed from."""
    part = graph.copy()
    part.set_outputs([node])
    names = [str(graph.names[n]) for n in part.reverse_post_order() if graph.op[n] in (INPUT, PARAM)]
    return [
        name for name in names
        if isinstance(values.get(name), np.ndarray) and values[name].dtype.kind in "iu"
    ]


def _reduced(places: Array, shape: tuple[int, ...]) -> Array:
    """The places of a tensor that is broadcast to these."""
    rest = places.ndim - len(shape)
    reduced = np.asarray(places.any(axis=tuple(range(rest))))
    along = tuple(k for k, size in enumerate(shape) if size == 1)
    return np.asarray(reduced.any(axis=along, keepdims=True))


def without_undefined(
    domain: Domain, inputs: Values, left: list[Array], right: list[Array]
) -> tuple[list[Array], list[Array], bool]:
    """The outputs of both sides, with 0 for the elements that the source does not define, and whether there
    are any. Raises `EvaluationError`.
    """
    found, masks = undefined_elements(domain, inputs)
    if not found:
        return left, right, False
    sides = [[_zeroed(value, mask) for value, mask in zip(side, masks)] for side in (left, right)]
    return sides[0], sides[1], True


def _zeroed(value: Array, mask: Array | None) -> Array:
    if mask is None or not isinstance(value, np.ndarray):
        return value
    try:
        return np.asarray(np.where(mask, value.dtype.type(0), value))
    except ValueError:  # a shape that does not fit shows as one
        return value


def undefined_elements(domain: Domain, inputs: Values) -> tuple[list[Undefined], list[Array | None]]:
    """The calls that are not defined, and the elements of each output that are computed from what these give;
    no calls where no element of an output is. Raises `EvaluationError`.
    """
    found = undefined_calls(domain.graph, domain.dialect, domain.calls, inputs)
    masks = _masks(domain, inputs, found) if found else []
    return (found, masks) if any(mask is not None and mask.any() for mask in masks) else ([], [])


def _masks(domain: Domain, inputs: Values, found: Sequence[Undefined]) -> list[Array | None]:
    """True for the elements of each output that are computed from such as are not defined: the same ones of
    element-wise operators, those that are chosen of choices, all of others. None: there are none.
    """
    graph, wrong = domain.graph, {one.call: one.wrong for one in found}
    choices = _choices(domain, inputs)
    masks: dict[int, Array | None] = {}
    for node in graph.reverse_post_order():
        operands = [masks[o] if o >= 0 else None for o in graph.operands[node]]
        if node in choices:
            operands[1:] = [
                None if mask is None else mask & chosen
                for mask, chosen in zip(operands[1:], (choices[node], ~choices[node]))
            ]
        given = [mask for mask in operands if mask is not None]
        if node in wrong:
            given.append(wrong[node])
        signature = domain.dialect.get(graph.op[node])
        same = signature is not None and "elementwise" in signature.traits
        masks[node] = (
            None if not given
            else np.asarray(np.logical_or.reduce(np.broadcast_arrays(*given))) if same
            else np.array(True)
        )
    return [masks[node] for node in graph.outputs]


def _choices(domain: Domain, inputs: Values) -> dict[int, Array]:
    """The conditions of the calls that choose elements: what is not chosen may be undefined."""
    graph = domain.graph.copy()
    calls = [node for node in graph.reverse_post_order() if graph.op[node] in _CHOICES]
    graph.set_outputs([graph.operands[node][0] for node in calls])
    values = [np.asarray(value, bool) for value in evaluate(graph, domain.dialect, inputs)]
    return dict(zip(calls, values))


def partial_calls(graph: Graph) -> list[int]:
    """Divisions and shifts of whole numbers, by anything but a number that is always valid."""
    return [
        node for node in graph.reverse_post_order()
        if graph.op[node] in DIVISIONS | SHIFTS and len(graph.operands[node]) >= 2
        and not is_float(str(getattr(graph.types[graph.operands[node][1]], "dtype", None)))
    ]


@dataclass(frozen=True, slots=True)
class Undefined:
    """A call that is not defined for some inputs. `of`, `by`: its operands; `wrong`: where they are none."""

    call: int
    text: str
    of: Array
    by: Array
    wrong: Array


def undefined_calls(graph: Graph, dialect: Dialect, calls: Sequence[int], inputs: Values) -> list[Undefined]:
    """The calls that are not defined for these inputs, divisions first: they may end a program, whatever is
    made of the result."""
    if not calls:
        return []
    operands = graph.copy()
    operands.set_outputs([operand for call in calls for operand in graph.operands[call][:2]])
    values = iter(evaluate(operands, dialect, inputs))
    found = []
    for call, left, right in zip(calls, values, values):
        if isinstance(right, np.ndarray) and right.dtype.kind in "iu":
            left, right = np.broadcast_arrays(left, right)
            wrong = _not_defined(graph.op[call], left, right)
            if wrong.any():
                text = f"`{graph.op[call]}` of {left[wrong].flat[0]} by {right[wrong].flat[0]}"
                found.append(Undefined(call, text, left, right, wrong))
    return sorted(found, key=lambda one: graph.op[one.call] not in DIVISIONS)


def _not_defined(operator: str, left: Array, right: Array) -> Array:
    """True for each pair of numbers that an operator is not defined for."""
    if operator in SHIFTS:
        return np.asarray((right < 0) | (right >= 8 * right.dtype.itemsize))
    wrong = np.asarray(right == 0)
    return wrong if right.dtype.kind == "u" else wrong | (left == np.iinfo(left.dtype).min) & (right == -1)


