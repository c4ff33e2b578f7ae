"""Where two graphs that compute the same differ: regions between values that both of them have.

Both graphs are evaluated on the same inputs. Nodes are in one class if they compute the same from the same
classes, or equal arrays of floating-point numbers. Walking down from the outputs, a pair of equal calls with
equal operands is no difference; any other pair is a region of each graph, which ends at the nearest values
that the other graph has, too. Edits that are far apart, and those of repeated layers, are regions of their
own.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import takewhile
from operator import itemgetter
from typing import Any

import numpy as np

from gslang.base.quick_dataclass import dataclass
from gslang.dialect.dialect import Dialect
from gslang.evaluate.agree import compare_values
from gslang.evaluate.errors import EvaluationError
from gslang.evaluate.run import evaluate
from gslang.generalize.example import Reading
from gslang.graph.graph import ABSENT, CONST, INPUT, LEAVES, PARAM, Graph

_DEPTHS = (0, 1, 2, 3, 5, 8)  # steps below the output of a region that no end of it may be nearer than
_MOST_VALUES = 2**27  # numbers of all values of a graph together, in all draws
_ARRAY = (np.ndarray, np.generic)
_TOLERANCE = {"float16": 2e-2, "float32": 1e-4, "float64": 1e-9}  # relative to the largest magnitude


Pairs = tuple[tuple[int, int], ...]  # a node of the first graph, an equal one of the second


@dataclass(frozen=True, slots=True)
class Classes:
    """`before`, `after`: node → class, for nodes of the two graphs. `fixed`: nodes of the first graph that
    depend on constants only. `equal`: the outputs of both graphs have the same numbers.
    """

    before: Mapping[int, int]
    after: Mapping[int, int]
    fixed: frozenset[int]
    equal: bool


@dataclass(frozen=True, slots=True)
class Region:
    """A difference: a node of the first graph, of whose value the second one has a node too, and the readings
    of it, the smallest first, with the pairs of equal nodes that each ends at.
    """

    before: int
    readings: tuple[tuple[Reading, Pairs], ...]


def classes_of(
    before: Graph, after: Graph, dialect: Dialect, draws: Sequence[Mapping[str, object]]
) -> Classes | str:
    """The classes of both graphs' nodes on these inputs, several draws of them, since a few numbers may agree
    by chance; why there are none if the graphs have too many values, nothing if they cannot be evaluated.
    """
    numbers: dict[Hashable, int] = {}
    arrays: dict[Hashable, list[tuple[float, int, Any]]] = {}  # sorted by their means
    found, outputs = [], []
    for graph in (before, after):
        order = graph.reverse_post_order()
        watched = graph.copy()
        watched.set_outputs(order)
        try:
            runs = [evaluate(watched, dialect, inputs) for inputs in draws]
        except EvaluationError:
            return ""
        if sum(int(np.size(v)) for run in runs for v in run if isinstance(v, _ARRAY)) > _MOST_VALUES:
            return f"they have more than {_MOST_VALUES:,} values in {len(draws)} draws"
        outputs.append([run[order.index(node)] for run in runs for node in graph.outputs])
        classes: dict[int, int] = {}
        for node, values in zip(order, zip(*runs)):
            key = _key(graph, node, dialect, classes, values[0])
            known = numbers.get(key)
            if known is None:
                known = numbers[key] = _same_array(arrays, values, len(numbers))
            classes[node] = known
        found.append(classes)
    return Classes(found[0], found[1], _fixed(before), compare_values(outputs[0], outputs[1]).equal)


def _key(graph: Graph, node: int, dialect: Dialect, classes: Mapping[int, int], value: Any) -> Hashable:
    op = graph.op[node]
    if op in (INPUT, PARAM) and graph.value(node) is None:
        return "leaf", graph.names[node]
    if op in (INPUT, PARAM, CONST):
        return "value", value.dtype.str, value.shape, value.tobytes()
    return op, _attributes(graph, node, dialect), tuple(classes.get(o, -1) for o in graph.operands[node])


def _attributes(graph: Graph, node: int, dialect: Dialect) -> Hashable:
    signature = dialect.get(graph.op[node])
    given = graph.attrs[node]
    complete = given if signature is None else signature.complete(given)
    return tuple(sorted((name, repr(value)) for name, value in complete.items()))


def _same_array(
    arrays: dict[Hashable, list[tuple[float, int, object]]], values: Sequence[Any], new: int
) -> int:
    """The class of arrays that are equal in each draw; a new one if there is none, or if the arrays are not
    telling: whole numbers, one element, or the same number everywhere; of tuples and sequences, too.
    """
    first = values[0]
    if not isinstance(first, _ARRAY) or first.dtype.name not in _TOLERANCE or first.size < 2:
        return new
    wide = np.concatenate([np.asarray(value, np.float64).ravel() for value in values])
    if not np.isfinite(wide).all() or wide.min() == wide.max():
        return new
    known = arrays.setdefault((first.dtype.name, tuple(value.shape for value in values)), [])
    limit = _TOLERANCE[first.dtype.name] * float(np.abs(wide).max())
    mean = float(wide.mean())
    start = bisect_left(known, mean - 2 * limit, key=itemgetter(0))  # means differ no more than elements do
    near = takewhile(lambda item: item[0] <= mean + 2 * limit, known[start:])
    same = [number for _, number, other in near if float(np.abs(other - wide).max()) <= limit]
    if same:
        return min(same)
    insort(known, (mean, new, wide), key=itemgetter(0))
    return new


def _fixed(graph: Graph) -> frozenset[int]:
    found: set[int] = set()
    for node in graph.reverse_post_order():
        if graph.op[node] in (INPUT, PARAM, CONST):
            if graph.value(node) is not None:
                found.add(node)
        elif all(o in found for o in graph.operands[node] if o != ABSENT):
            found.add(node)
    return frozenset(found)


def regions(
    before: Graph,
    after: Graph,
    dialect: Dialect,
    classes: Classes,
    choose: Callable[[Region], int | None],
) -> None:
    """Visit the differences of two graphs whose outputs are equal pair by pair, from the outputs down.

    `choose` takes each one and returns the number of the reading that it settled for, below which the walk
    goes on; None for none.
    """
    waiting = list(zip(before.outputs, after.outputs))
    seen: set[tuple[int, int]] = set()
    while waiting:
        pair = waiting.pop(0)
        if pair in seen or pair[0] in classes.fixed:
            continue
        seen.add(pair)
        a, b = pair
        if _alike(before, after, a, b, dialect, classes):
            waiting += [(x, y) for x, y in zip(before.operands[a], after.operands[b]) if x != ABSENT]
            continue
        region = Region(a, _readings(before, after, a, b, classes))
        chosen = choose(region)
        if region.readings:
            waiting += region.readings[-1 if chosen is None else chosen][1]


def _alike(before: Graph, after: Graph, a: int, b: int, dialect: Dialect, classes: Classes) -> bool:
    """True for equal leaves, and for equal calls of equal operands."""
    if before.op[a] != after.op[b]:
        return False
    if before.op[a] in (INPUT, PARAM, CONST):
        return True
    left, right = before.operands[a], after.operands[b]
    return (
        len(left) == len(right) and _attributes(before, a, dialect) == _attributes(after, b, dialect)
        and all(
            (x == ABSENT) == (y == ABSENT) and (x == ABSENT or classes.before[x] == classes.after[y])
            for x, y in zip(left, right)
        )
    )


def _readings(
    before: Graph, after: Graph, a: int, b: int, classes: Classes
) -> tuple[tuple[Reading, Pairs], ...]:
    nearest: dict[int, int] = {}  # class → the first node below `a` of it
    for node in _below(before, a):
        nearest.setdefault(classes.before[node], node)
    found: dict[tuple[Pairs, frozenset[Hashable]], tuple[Reading, Pairs]] = {}
    for depth in _DEPTHS:
        ends = _ends(after, b, depth, classes.after, nearest)
        for reading in _cut_out(before, after, (a, b), ends, classes) if ends else ():
            found.setdefault((ends, reading.inputs), (reading, ends))
    return tuple(found.values())


def _ends(
    after: Graph, b: int, depth: int, classes: Mapping[int, int], nearest: Mapping[int, int]
) -> Pairs:
    """Pairs of equal nodes at which both sides end, so many steps below `b` or more; none if there are no
    such pairs for all leaves.
    """
    found: dict[int, int] = {}
    level = {b: 0}
    order = [b]
    for node in order:
        end = nearest.get(classes[node])
        if end is not None and (level[node] >= depth or after.op[node] in LEAVES):
            found[node] = end
            continue
        if after.op[node] in (INPUT, PARAM):
            return ()
        for o in after.operands[node]:
            if o != ABSENT and o not in level:
                level[o] = level[node] + 1
                order.append(o)
    return tuple((x, y) for y, x in found.items())


def _cut_out(
    before: Graph, after: Graph, pair: tuple[int, int], ends: Pairs, classes: Classes
) -> Iterator[Reading]:
    """The readings that end there: constants that both sides read are inputs, then as they are. There are
    none if the first graph's side would not read each of the ends.
    """
    stops = {x for x, _ in ends}
    inside = _inside(before, pair[0], stops)
    read = {o for n in inside for o in before.operands[n] if o != ABSENT and o not in inside}
    if not stops <= read:
        return
    left: dict[int, Hashable] = {n: ("before", n) for n in inside}
    left |= {n: classes.before[n] for n in read}
    right: dict[int, Hashable] = {}
    for node in after.reverse_post_order():  # a constant may be one that the first side reads
        right[node] = classes.after[node] if after.op[node] is CONST else ("after", node)
    right |= {y: classes.before[x] for x, y in ends}
    inputs = frozenset(left[n] for n in read if before.op[n] is not CONST)
    target = set(_inside(after, pair[1], {y for _, y in ends}))
    constants = {right[o] for n in target for o in after.operands[n] if o != ABSENT and after.op[o] is CONST}
    shared = frozenset(
        left[n] for n in read
        if before.op[n] is CONST and left[n] in constants and np.size(before.value(n)) > 1
    )
    if shared:
        yield Reading((pair,), inputs | shared, left, right)
    yield Reading((pair,), inputs, left, right)


def _inside(graph: Graph, top: int, stops: set[int]) -> set[int]:
    """Nodes between `top` and those where the region ends."""
    reaches: dict[int, bool] = {}
    stack = [(top, False)]
    while stack:
        node, done = stack.pop()
        below = [o for o in graph.operands[node] if o != ABSENT]
        if done:
            reaches[node] = any(o in stops or reaches.get(o, False) for o in below)
        elif node not in reaches:
            reaches[node] = False
            stack.append((node, True))
            stack += [(o, False) for o in reversed(below) if o not in stops and o not in reaches]
    return {node for node, yes in reaches.items() if yes}


def _below(graph: Graph, node: int) -> list[int]:
    """All nodes that a node depends on, near ones first."""
    seen: dict[int, None] = {}
    level = [node]
    while level:
        level = [o for n in level for o in graph.operands[n] if o != ABSENT and o not in seen]
        level = list(dict.fromkeys(level))
        seen.update(dict.fromkeys(level))
    return list(seen)
