"""Going forward: graph nodes that can play a role above a matched node, in `succ` order.

A node with few users is looked at directly. For a hub the candidates are grouped by the values that equality
constraints fix (a hash join): a rule that pairs users of one tensor by equal shapes looks at one group
instead of at all users. The groups are kept while the graph changes: what comes to read a watched node is
noted by the graph and sorted in when next asked.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterable, Iterator

from gslang.dialect.dialect import Dialect
from gslang.dialect.tensor_type import UNKNOWN, Symbol, UnknownValue
from gslang.engine.values import read_attribute
from gslang.graph.graph import DEAD, Graph
from gslang.graph.scalar import round_float32

_EXACT = 1 << 24  # integers up to here are float32 numbers


def canonical(value: object) -> object:
    """A hashable stand-in: values that the language calls equal have equal ones.

    Raises `UnknownValue` where none is.
    """
    if type(value) is int:
        return value if -_EXACT <= value <= _EXACT else round_float32(float(value))
    if isinstance(value, float):
        return round_float32(value)
    if type(value) is tuple:
        return tuple([canonical(item) for item in value])
    if value is UNKNOWN:
        raise UnknownValue("an unknown dimension")
    if value is None or isinstance(value, (str, bool, Symbol)):
        return value
    return "some array"  # compared in full later


def follow(graph: Graph, node: int, path: Iterable[int]) -> int:
    """The node reached over operands number `path`. Raises `LookupError` where there is none."""
    for k in path:
        node = graph.operands[node][k]
        if node < 0:
            raise LookupError("an absent operand")
    return node


def field_of(graph: Graph, dialect: Dialect, node: int, path: tuple[int, ...], field: str) -> object:
    """The canonical value of a field of the node at `path` below `node`."""
    return canonical(read_attribute(graph, dialect, follow(graph, node, path), field))


def place_in(graph: Graph) -> Callable[[int], tuple[int, int]]:
    """(label, node): what nodes are sorted by to stand in order, for nodes that do not depend on one another
    may share a label.
    """
    label = graph.ordered().label
    return lambda node: (label[node], node)


class _Group:
    """Candidates with one key, as (label, node) in order; those before `head` are gone.

    The labels are those after `changes` of them.
    """

    __slots__ = ("asked", "changes", "head", "nodes")

    def __init__(self, nodes: list[tuple[int, int]], changes: int) -> None:
        self.nodes = nodes
        self.head = 0
        self.asked = 0
        self.changes = changes


class Candidates:
    """The nodes over `levels` (operators of each step up) above a given node.

    `key_of`: the fixed values of a candidate, or None.
    """

    __slots__ = ("_graph", "_groups", "_key_of", "_levels", "_logs", "_order", "_place")

    def __init__(
        self, graph: Graph, levels: tuple[frozenset[str], ...], key_of: Callable[[int], object]
    ) -> None:
        self._graph = graph
        self._levels = levels
        self._key_of = key_of
        self._order = graph.ordered()
        self._place = place_in(graph)
        self._groups: dict[int, dict[object, _Group]] = {}
        self._logs: dict[int, list[list[int]]] = {}

    def few(self, below: int) -> list[int]:
        """All candidates above `below`, for a node with few users."""
        op, users = self._graph.op, self._graph.users
        found: Iterable[int] = (below,)
        for wanted in self._levels:
            found = dict.fromkeys([u for n in found for u in users[n] if op[u] in wanted])
        return sorted(found, key=self._place)

    def group(self, below: int, key: object) -> Iterator[int]:
        """The candidates above `below` that are there and whose fixed values are `key` (None: unknown, so
        none are).
        """
        if key is None:
            return
        if below not in self._logs:
            self._watch(below)
        if any(self._logs[below]):
            self._catch_up(below)
        group = self._groups[below].get(key)
        if group is None:
            return
        op, nodes = self._graph.op, group.nodes
        if group.changes != self._order.changes:
            self._sort(group)
        group.asked += 1
        if group.asked > len(nodes) - group.head:
            nodes[:] = [entry for entry in nodes[group.head :] if op[entry[1]] is not DEAD]
            group.head = group.asked = 0
        while group.head < len(nodes) and op[nodes[group.head][1]] is DEAD:
            group.head += 1
        for k in range(group.head, len(nodes)):
            if op[nodes[k][1]] is not DEAD:
                yield nodes[k][1]

    def _sort(self, group: _Group, more: Iterable[tuple[int, int]] = ()) -> None:
        """By the labels of the moment, with `more` candidates; those that are gone are left out."""
        op, place = self._graph.op, self._place
        found = dict.fromkeys(
            [node for _, node in [*group.nodes[group.head :], *more] if op[node] is not DEAD]
        )
        group.nodes[:] = sorted([place(node) for node in found])
        group.head, group.changes = 0, self._order.changes

    def _watch(self, below: int) -> None:
        self._groups[below] = {}
        logs = self._logs[below] = [[] for _ in self._levels]
        self._observe(below, logs[0])

    def _observe(self, node: int, log: list[int]) -> None:
        watchers = self._graph.additions.setdefault(node, [])
        if not any(log is other for other in watchers):
            watchers.append(log)
        log.extend(self._graph.users[node])

    def _catch_up(self, below: int) -> None:
        graph, place, groups, logs = self._graph, self._place, self._groups[below], self._logs[below]
        found: dict[int, None] = {}
        for level, wanted in enumerate(self._levels):
            news, logs[level][:] = dict.fromkeys(logs[level]), []
            for node in news:
                if node >= len(graph.op) or graph.op[node] not in wanted:
                    continue  # gone since, or never more than an attempt
                if level + 1 < len(self._levels):
                    self._observe(node, logs[level + 1])
                else:
                    found[node] = None
        many: dict[object, list[tuple[int, int]]] = {}
        for entry in sorted([place(node) for node in found]):
            key = self._key_of(entry[1])
            if key is not None:
                many.setdefault(key, []).append(entry)
        for key, entries in many.items():
            group = groups.get(key)
            if group is None:
                groups[key] = _Group(entries, self._order.changes)
            elif len(entries) > 8 or group.changes != self._order.changes:
                self._sort(group, entries)
            else:
                known = group.nodes
                for entry in entries:
                    at = bisect(known, entry, lo=group.head)
                    if at == group.head or known[at - 1] != entry:
                        known.insert(at, entry)
