"""The numbers at which an instance may change what it does: those in its constants and attributes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import exp, isfinite, log, sqrt
from typing import Any

import numpy as np

from gslang.base.arrays import Array
from gslang.base.quick_dataclass import dataclass
from gslang.base.reachable import reachable
from gslang.dialect.tensor_type import UnknownValue
from gslang.graph.graph import INPUT, PARAM, Graph
from gslang.graph.inner_graph import READ, inner_graph

_MASKED = frozenset({
    "Softmax", "LogSoftmax", "nn.softmax", "nn.log_softmax", "nn.fast_softmax",
    "Attention", "com.microsoft.Attention", "com.microsoft.MultiHeadAttention",  # with a softmax inside
})
_BOUNDING = frozenset({
    "Clip", "Max", "Min", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal", "clip", "maximum",
    "minimum", "less", "less_equal", "greater", "greater_equal", "equal", "not_equal",
})
_FACTORS = frozenset({"Mul", "multiply"})
_OF_MASKS = frozenset({"Sub", "Cast", "subtract", "cast"})
_AS_INFINITE = 1000  # scores are smaller than what is added to those that are not to count
_OUT_OF_REACH = 1e6  # no score is as large
_MOST_CONSTANTS = 16  # of one array
_MOST_SUMMED = 6  # integers of which any two are added
_ORDINARY = 8  # integers that any input takes are smaller
_MOST_WHOLE = 2**53  # of floats
_MOST_COUNTED = 80_000
BEYOND = {  # sizes that types do not hold: they wrap to a number above and below 0, or all are 0
    "int4": (10, 20), "uint4": (20, 16), "int8": (200, 300), "uint8": (300, 256), "int16": (40_000, 70_000),
    "uint16": (70_000, 65_536), "float16": (4001,), "bfloat16": (300,),
}
# type of floats → a number that it takes for 0, a step that it does not tell from none next to 1
ROUNDED_AWAY = {
    "float32": (2.0**-151, 2.0**-27), "bfloat16": (2.0**-135, 2.0**-11), "float16": (2.0**-26, 2.0**-14),
    **dict.fromkeys(("float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz"), (2.0**-20, 2.0**-7)),
}
_MOST_SCALED = 8  # numbers of which any two are multiplied
_MOST_RAISED = 80.0  # of which e to their power is a number of usual size
_EXACT = 16  # times a number that is written as it is meant: an integer
_OF_ONE_SIZE = 1000  # a number hides what happens to those that are smaller by more


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The numbers, each once, but for those that stand for infinity in masks. `whole`: the integers among
    them, and those next to large floats.
    """

    floats: Array
    whole: tuple[int, ...]
    count: int = 0  # more than they say, or than a narrow type of a node can count; 0 if there are none
    narrow: tuple[tuple[float, float], ...] = ()  # of the types of floats, what `ROUNDED_AWAY` says

    def __bool__(self) -> bool:
        """False if no number is one that ordinary inputs do not come near."""
        return bool(self.floats.size) or any(abs(number) >= _ORDINARY for number in self.whole)

    def drawn(self, rng: np.random.Generator) -> float:
        """One of the numbers other than 0, or 1 where there is none."""
        known = self._known()
        return float(rng.choice(known[known != 0])) if known.any() else 1.0

    def near_floats(self, most: float) -> Array:
        """The numbers, what is on either side of each, also closer than narrower types tell, twice as large,
        or of the other sign; none much larger than `most`.
        """
        known = self._known()
        known = known[np.abs(known) <= _OF_ONE_SIZE * most]
        steps = [2.0**-10, *[step for _, step in self.narrow]]
        beside = known + 0.5, known - 0.5, *[known * (1 + sign * step) for step in steps for sign in (1, -1)]
        return np.concatenate([known, -known, 2 * known, known / 2, *beside, np.array([0.0, 1.0])])

    def near_whole(self, dtype: np.dtype[Any]) -> Array:
        """The numbers of an integer type that are near the integers, and sums and differences of two of them.
        """
        limits, known = np.iinfo(dtype), (0, *self.whole)
        near = {number + beside for k in known for number in (k, -k, k // 2) for beside in (-1, 0, 1)}
        if len(known) <= _MOST_SUMMED:
            near.update(a + sign * b for a in known for b in known for sign in (1, -1))
        return np.array(sorted(n for n in near if limits.min <= n <= limits.max), dtype)

    def vanishing(self, dtype: np.dtype[Any]) -> list[float]:
        """Numbers of a type that narrower types of either side take for 0."""
        return [least for least, _ in self.narrow if least >= float(np.finfo(dtype).tiny)]

    def merging(self, dtype: np.dtype[Any]) -> list[float]:
        """Steps that narrower types of either side do not tell from none next to 1, of a type that does."""
        return [step for _, step in self.narrow if step >= 2 * float(np.finfo(dtype).eps)]

    def _known(self) -> Array:
        return np.concatenate([self.floats, np.array(self.whole, np.float64)])


NO_THRESHOLDS = Thresholds(np.zeros(0), ())


def thresholds(before: Graph, after: Graph) -> Thresholds:
    """The thresholds of both sides of an instance."""
    floats, whole = numbers_in(before)
    new, new_whole = numbers_in(after)
    infinite = _that_hide_scores(before)
    if any(before.op[node] in _MASKED for node in before.nodes()):
        infinite |= {abs(number) for number in _attributes(before) if abs(number) >= _AS_INFINITE}
    known = {number for number in (*floats, *new) if abs(number) not in infinite}
    known |= _before_scaling(known | whole | new_whole, (before, after))
    near = {int(number) for number in known if _ORDINARY <= abs(number) < _MOST_WHOLE}
    integers = {number for number in near | whole | new_whole if abs(number) not in infinite}
    types = {str(getattr(graph.types[n], "dtype", None)) for graph in (before, after) for n in graph.nodes()}
    counts = [count for dtype in types for count in BEYOND.get(dtype, ())]
    counts += [n + 1 for n in integers if _ORDINARY <= n < _MOST_COUNTED]
    return Thresholds(
        np.array(sorted(known), np.float64), tuple(sorted(integers)), max(counts, default=0),
        tuple(sorted({ROUNDED_AWAY[name] for name in types if name in ROUNDED_AWAY})),
    )


_SCALING = frozenset({
    "Mul", "Div", "multiply", "divide", "HardSigmoid", "Gemm", "floor_divide", "trunc_divide",
})
# functions that are constant between numbers of their own
_STEPS = frozenset({"Round", "Floor", "Ceil", "Sign", "round", "floor", "ceil", "trunc", "sign"})
_INVERSES: dict[str, Callable[[float], float]] = {
    **dict.fromkeys(("Sqrt", "sqrt"), lambda number: number * number),
    **dict.fromkeys(("Log", "log"), lambda number: exp(number) if number < _MOST_RAISED else 0.0),
    **dict.fromkeys(("Exp", "exp"), lambda number: log(number) if number > 0 else 0.0),
    **dict.fromkeys(("Pow", "power", "square"), lambda number: sqrt(number) if number > 0 else 0.0),
}


def _before_scaling(known: set[float] | set[int], graphs: Sequence[Graph]) -> set[float]:
    """The numbers that become one of those known when they are multiplied or divided by another one, or when
    a function is applied: an input reaches the threshold of 2 in `x * 0.001 > 2` at 2000.
    """
    called = {graph.op[node] for graph in graphs for node in graph.nodes() if graph.is_call(node)}
    numbers = [float(number) for number in known if abs(number) < _MOST_WHOLE]
    found: list[float] = []
    if not called.isdisjoint(_STEPS):
        numbers += [0.5, 1.0]
        found += [0.5, 1.0]
    if not called.isdisjoint(_SCALING) and len(numbers) <= _MOST_SCALED:
        found += [a * b for a in numbers for b in numbers if abs(b) != 1]
        found += [a / b for a in numbers for b in numbers if abs(b) not in (0, 1)]
    for name in called & _INVERSES.keys():
        found += map(_INVERSES[name], numbers)
    return {number for number in found if isfinite(number)}


def rounds_alike(before: Graph, after: Graph) -> bool:
    """True if both sides have the same numbers, as far as these are no small fractions of powers of 2."""
    old, new = (
        {np.float32(number) for number in numbers_in(graph)[0] if number * _EXACT % 1 != 0}
        for graph in (before, after)
    )
    return old == new


def limits_scores(graph: Graph) -> bool:
    """True if numbers that are low, but not beyond what products of large inputs are, stand for infinity in
    masks.
    """
    return any(number < _OUT_OF_REACH for number in _that_hide_scores(graph))


def _that_hide_scores(graph: Graph) -> set[float]:
    """The sizes of the constants that stand for −∞ in masks."""
    return {
        abs(number) for node in _scores(graph) if node in graph.values
        for number in _some(graph.value(node)).tolist() if _hides_scores(graph, node, number)
    }


def inputs_of_scores(graph: Graph) -> frozenset[str]:
    """The names of the inputs from which scores of a softmax are computed."""
    return frozenset(
        str(graph.names[node]) for node in _scores(graph) if graph.op[node] in (INPUT, PARAM)
    )


def _scores(graph: Graph) -> set[int]:
    """The nodes from which scores are computed; the values that attention weighs are none."""
    begin = [
        operand for node in graph.nodes() if graph.op[node] in _MASKED
        for place, operand in enumerate(graph.operands[node]) if operand >= 0 and (place != 2)
    ]
    return set(reachable(begin, lambda node: [o for o in graph.operands[node] if o >= 0]))


def _hides_scores(graph: Graph, node: int, number: float) -> bool:
    """True if a number can stand for −∞: a low one that is no bound of scores, or a factor of 1 − mask."""
    if not isinstance(number, float) or abs(number) < _AS_INFINITE:
        return False
    users = [user for user in graph.users[node] if graph.op[user] not in _BOUNDING]
    if number < 0:
        return bool(users) or not graph.users[node]
    beside = [other for user in users if graph.op[user] in _FACTORS for other in graph.operands[user]]
    return any(graph.op[other] in _OF_MASKS for other in beside)


def numbers_in(graph: Graph) -> tuple[set[float], set[int]]:
    """The finite floats and the integers of constants and attributes, also inside of bodies; without the ends
    of the types of integers: these are tried anyway.
    """
    graphs = [graph, *_bodies(graph)]
    floats: set[float] = set()
    whole: set[int] = set()
    for value in (value for inner in graphs for value in _constants(inner)):
        if value.dtype.kind == "f":
            floats.update(value.astype(np.float64).tolist())
        elif value.dtype.kind in "iu":
            ends = np.iinfo(value.dtype)
            whole.update(number for number in value.tolist() if ends.min < number < ends.max)
    for number in (number for inner in graphs for number in _attributes(inner)):
        if isinstance(number, int):
            whole.add(number)
        else:
            floats.add(number)
    return {number for number in floats if isfinite(number)}, whole


def _bodies(graph: Graph) -> Iterator[Graph]:
    """The graphs in attributes of calls, and those in them."""
    if graph.meta.get(READ) is None:
        return
    for node in graph.nodes():
        for name, value in (graph.attrs[node] or {}).items():
            if isinstance(value, (int, float, str, Sequence)):
                continue
            try:
                body = inner_graph(graph, node, name).graph
            except UnknownValue:
                continue
            yield body
            yield from _bodies(body)


def _constants(graph: Graph) -> list[Array]:
    return [_some(graph.value(node)) for node in graph.nodes() if node in graph.values]


def _some(value: object) -> Array:
    """The first elements of a constant."""
    return np.asarray(value).reshape(-1)[:_MOST_CONSTANTS]


def _attributes(graph: Graph) -> Iterator[float]:
    """Numbers that are attributes of calls, and floats in lists."""
    for node in graph.nodes():
        for value in (graph.attrs[node] or {}).values():
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                yield value
            elif isinstance(value, Sequence) and not isinstance(value, str):
                yield from (item for item in value if isinstance(item, float))
