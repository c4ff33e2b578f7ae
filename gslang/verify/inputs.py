"""The inputs that both sides of an instance are computed for: several kinds of numbers, so that clips, ties,
thresholds, overflows and divisions by zero show."""

from __future__ import annotations

import numpy as np

from gslang.base.arrays import Array
from gslang.dialect.tensor_type import UnknownValue
from gslang.evaluate.index_ranges import bounds_of
from gslang.evaluate.random_inputs import random_inputs
from gslang.graph.graph import INPUT, PARAM, Graph
from gslang.graph.inner_graph import inner_graph


def inputs_for(graph: Graph, seed: int, kind: str) -> dict[str, Array]:
    """Random values by name: normal; from a half to two; normal, times eight (so that clips and saturations
    show); with zeros and the smallest numbers among them; whole numbers and halves, many of them equal; near
    the graph's constants; whole numbers of all sizes; with infinities and NaN among them.
    """
    values = random_inputs(graph, seed)
    if kind == "normal":
        return values
    changed = {}
    if kind == "wide":
        return _widely(graph, values, seed)
    if kind == "beyond":
        return _beyond(graph, values, seed)
    for k, (name, value) in enumerate(values.items()):
        if value.dtype.kind == "b" and value.size == 1:
            changed[name] = ~value  # a choice goes the other way
        elif value.dtype.kind != "f":
            changed[name] = value
        elif kind in ("zeros", "special"):  # inputs of one size get these at different places
            changed[name] = _sprinkled(value, np.random.default_rng([seed, value.size, 13, k]), kind)
        elif kind == "halves":
            changed[name] = (np.round(value * 4) / 2).astype(value.dtype)
        elif kind == "positive":
            changed[name] = (0.5 + np.abs(value) % 1.5).astype(value.dtype)
        else:
            changed[name] = (value * 8).astype(value.dtype)
    return changed


def _widely(graph: Graph, values: dict[str, Array], seed: int) -> dict[str, Array]:
    """Whole numbers of all sizes, the largest and the smallest among them, where they are no positions and no
    counts; positions in every way of counting them.
    """
    changed = dict(values)
    for k, node in enumerate(graph.reverse_post_order()):  # inputs of one size get different numbers
        name = str(graph.names[node])
        value = values.get(name)
        if graph.op[node] not in (INPUT, PARAM) or value is None or value.dtype.kind not in "iu":
            continue
        rng = np.random.default_rng([seed, value.size, 7, k])
        if (rounds := _rounds(graph, node)).size:
            changed[name] = rng.choice(rounds, value.shape).astype(value.dtype)
            continue
        bounds = bounds_of(graph, node, {})
        if bounds is not None:
            changed[name] = _positions(graph, node, value, bounds[1], rng)
            continue
        if any(
            graph.op[user] in _SHIFTS and graph.operands[user][1:2] == (node,) for user in graph.users[node]
        ):
            changed[name] = rng.integers(0, 40, value.shape).astype(value.dtype)
            continue
        limits = np.iinfo(value.dtype)
        ends = np.array([limits.min, limits.min + 1, limits.max - 1, limits.max], value.dtype)
        whole = rng.integers(limits.min, limits.max, value.shape, value.dtype, endpoint=True)
        changed[name] = np.where(rng.random(value.shape) < 0.3, rng.choice(ends, value.shape), whole).astype(
            value.dtype
        )
    return changed


def _rounds(graph: Graph, node: int) -> Array:
    """Numbers of rounds of the loops that an input counts: more than shows at once, and about as many as the
    numbers that their bodies add up to or compare with. None where it counts no loop.
    """
    loops = [n for n in sorted(graph.users[node]) if graph.op[n] == "Loop" and graph.operands[n][0] == node]
    if not loops:
        return np.zeros(0)
    known = np.concatenate([_numbers_in_body(graph, loop) for loop in loops])
    near = known[(known > _FEW_ROUNDS) & (known <= _MOST_ROUNDS)]
    return np.unique(np.concatenate([_ROUNDS, near - 1, near, near + 1, near + 3]).astype(np.int64))


def _numbers_in_body(graph: Graph, loop: int) -> Array:
    try:
        inner = inner_graph(graph, loop, "body").graph
    except UnknownValue:
        return np.zeros(0)
    return np.abs(_numbers_in(inner, "fiu"))


def _positions(graph: Graph, node: int, value: Array, size: int, rng: np.random.Generator) -> Array:
    """Positions, some of them counted from the end, or outside where what reads them allows it."""
    users = graph.users[node]
    if value.dtype.kind != "i" or not users:
        return value
    places = {user: _COUNT_FROM_THE_END.get(graph.op[user], len(graph.operands[user])) for user in users}
    if all(_reads_any_position(graph, user, node) for user in users):
        anywhere: Array = rng.integers(-2 * size, 3 * size, value.shape).astype(value.dtype)
        return anywhere
    if all(graph.operands[user][k : k + 1] == (node,) for user, k in places.items()):
        return np.where(rng.random(value.shape) < 0.5, value - size, value).astype(value.dtype)
    return value


def _reads_any_position(graph: Graph, user: int, node: int) -> bool:
    """True if a call takes positions outside too, which it clips, wraps, or marks nowhere."""
    op, operands = graph.op[user], graph.operands[user]
    if op == "take":
        return operands[1] == node and graph.attrs[user].get("mode", "clip") != "fast"
    return op in ("one_hot", "OneHot") and operands[0] == node and node not in operands[1:]


# operator → the operand in which −1 is the last place
_COUNT_FROM_THE_END = {
    "Gather": 1, "GatherElements": 1, "GatherND": 1, "ScatterElements": 1, "ScatterND": 1,
}  # fmt: skip


def _beyond(graph: Graph, values: dict[str, Array], seed: int) -> dict[str, Array]:
    """Numbers near those that the graph compares with or adds: each constant, what is on either side of it,
    twice as large, or of the other sign.
    """
    known = constants_in(graph)
    near = np.concatenate([known, -known, 2 * known, known / 2, known + 0.5, known - 0.5])
    changed = dict(values)
    for k, (name, value) in enumerate(values.items()):
        if value.dtype.kind == "f" and near.size:
            most = float(np.finfo(value.dtype).max)
            rng = np.random.default_rng([seed, value.size, 11, k])
            drawn = rng.choice(near, value.shape).clip(-most, most).astype(value.dtype)
            changed[name] = np.where(rng.random(value.shape) < 0.5, drawn, value)
    return changed


def constants_in(graph: Graph) -> Array:
    """The numbers in constants of floats, each once; without those that stand for infinity in masks."""
    known = _numbers_in(graph, "f")
    if _is_masked(graph):
        known = known[np.abs(known) < _AS_INFINITE]
    return np.unique(known)


def limits_scores(graph: Graph) -> bool:
    """True if numbers that are low, but not beyond what products of large inputs are, stand for infinity in
    masks.
    """
    sizes = np.abs(_numbers_in(graph, "f")) if _is_masked(graph) else np.zeros(0)
    return bool(((sizes >= _AS_INFINITE) & (sizes < _OUT_OF_REACH)).any())


def _numbers_in(graph: Graph, kinds: str) -> Array:
    """The finite numbers in constants whose types are of these kinds (of NumPy)."""
    constants = [np.asarray(graph.value(n)) for n in graph.nodes() if graph.values.get(n) is not None]
    numbers = [v.reshape(-1)[:_MOST_CONSTANTS].astype(np.float64) for v in constants if v.dtype.kind in kinds]
    known = np.concatenate(numbers) if numbers else np.zeros(0)
    return known[np.isfinite(known)]


def _is_masked(graph: Graph) -> bool:
    return any(graph.op[n] in _MASKED for n in graph.nodes())


_MASKED = frozenset({
    "Softmax", "LogSoftmax", "nn.softmax", "nn.log_softmax", "nn.fast_softmax",
    "Attention", "com.microsoft.Attention", "com.microsoft.MultiHeadAttention",  # with a softmax inside
})
_AS_INFINITE = 1000  # scores are smaller than what is added to those that are not to count
_OUT_OF_REACH = 1e6  # no score is as large


_MOST_CONSTANTS = 16  # of one array
_ROUNDS = (4, 12, 40)
_FEW_ROUNDS, _MOST_ROUNDS = 4, 1200
_SHIFTS = frozenset({"left_shift", "right_shift", "BitShift"})


def _sprinkled(value: Array, rng: np.random.Generator, kind: str) -> Array:
    """Some elements replaced by zeros and denormal numbers, or by infinities and NaN."""
    small = (
        np.finfo(value.dtype).smallest_subnormal if value.dtype.name in ("float16", "float32", "float64")
        else 0.0
    )
    numbers = (0.0, -0.0, small, -small) if kind == "zeros" else (np.inf, -np.inf, np.nan)
    return np.where(rng.random(value.shape) < 0.2, rng.choice(numbers, value.shape), value).astype(
        value.dtype
    )
