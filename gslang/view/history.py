"""The history of a run: each node that the graph ever had, and what each application removed, added and
reconnected.

A node of a history is a number that keeps its meaning: where a graph's node becomes something else in place
(folding), the history has another node. Call `watch` as `RuleSet.apply(watch=…)`, and `finish` with the
result.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, replace
from typing import Any

from gslang.base.open_types import Attrs, JsonObject
from gslang.base.quick_dataclass import dataclass
from gslang.dialect.tensor_type import Type
from gslang.engine.fixed_point import Observer
from gslang.engine.rewrite import Application
from gslang.graph.annotations import annotations_of
from gslang.graph.graph import DEAD, Graph


@dataclass(frozen=True, slots=True)
class Entry:
    """A node as it was when it came: `operands` are nodes of the history, -1 for one that is left out."""

    op: str
    label: str
    operands: tuple[int, ...]
    attrs: Attrs
    type: Type | None
    value: Any
    attached: Attrs = field(default_factory=dict)


@dataclass(slots=True)
class Change:
    """An application of `rule`, or a built-in step (`builtin`). Nodes are those of the history.

    `rewired`: surviving node → its operands from now on; `outputs`: those of the graph from now on, None
    where they stay.
    """

    rule: str | None
    builtin: str | None = None
    removed: list[int] = field(default_factory=list)
    added: list[int] = field(default_factory=list)
    rewired: dict[int, tuple[int, ...]] = field(default_factory=dict)
    outputs: list[int] | None = None
    replaced: list[tuple[int, int]] = field(default_factory=list)
    bindings: list[tuple[str, int]] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """True if nothing changed."""
        return not (self.removed or self.added or self.rewired or self.outputs is not None)


class History:
    """Entries and changes of a run. `first` nodes were there at the beginning, with the outputs
    `first_outputs`.

    `elsewhere`: applications in bodies and local functions of an ONNX model, by path; their graphs are not
    recorded.
    """

    def __init__(self, graph: Graph | None = None) -> None:
        self.entries: list[Entry] = []
        self.changes: list[Change] = []
        self.first = 0
        self.first_outputs: list[int] = []
        self.elsewhere: dict[str, int] = {}
        self._now: dict[int, int] = {}  # a node of the graph → that of the history
        self._operands: dict[int, tuple[int, ...]] = {}  # a living node of the history → its operands now
        self._outputs: list[int] = []
        self._pending: Change | None = None  # a built-in step, which is reported before it is done
        if graph is not None:
            self._begin(graph)

    def watch(self, path: str, graph: Graph) -> Observer:
        """An observer of a graph that is about to be changed (`api.Watch`)."""
        if path:
            return lambda number, what: self._count(path, what)
        self._begin(graph)
        return lambda number, what: self._observe(graph, what)

    def finish(self, graph: Graph) -> History:
        """This history, up to the graph that a run returned."""
        self._settle(graph, set())
        last = self._difference(graph, Change(None, "finish"))
        if not last.is_empty:
            self.changes.append(last)
        return self

    def number_of(self, node: int) -> int:
        """The node of the history that a node of the graph is now; -1 if there is none."""
        return self._now.get(node, -1)

    def last_nodes(self) -> set[int]:
        """Nodes of the history that are left at its end."""
        alive = set(range(self.first))
        for change in self.changes:
            alive.difference_update(change.removed)
            alive.update(change.added)
        return alive

    def _begin(self, graph: Graph) -> None:
        for node in graph.in_order():
            self._enter(graph, node)
        self.first = len(self.entries)
        self.first_outputs = self._outputs = [self._now[node] for node in graph.outputs]

    def _count(self, path: str, what: Application | str) -> None:
        if not isinstance(what, str):
            self.elsewhere[path] = self.elsewhere.get(path, 0) + 1

    def _observe(self, graph: Graph, what: Application | str) -> None:
        if isinstance(what, str):
            self._settle(graph, set())
            self._pending = Change(None, what)
            return
        touched = {*what.added, *what.removed, *what.replaced, *what.replaced.values()}
        self._settle(graph, touched)
        change = Change(what.rule)
        bound = [(name, self._now[node]) for name, node in _flat(what.bindings) if node in self._now]
        change.removed = [self._now[node] for node in what.removed if node in self._now]
        old = {node: self._now[node] for node in what.replaced if node in self._now}
        for node in what.removed:
            self._operands.pop(self._now.pop(node, -1), None)
        for node in what.added:
            change.added.append(self._enter(graph, node))
        users = dict.fromkeys(user for node in what.replaced.values() for user in graph.users[node])
        self._rewire(graph, (user for user in users if user in self._now), change)
        change.replaced = [
            (old[node], self._now[now])
            for node, now in what.replaced.items() if node in old and now in self._now
        ]
        change.bindings = bound
        self._set_outputs(graph, change)
        self.changes.append(change)

    def _settle(self, graph: Graph, touched: set[int]) -> None:
        """Record what the pending built-in step did, apart from nodes that a later application `touched`."""
        if self._pending is not None:
            change, self._pending = self._pending, None
            self._difference(graph, change, touched)
            if not change.is_empty:
                self.changes.append(change)

    def _difference(
        self, graph: Graph, change: Change, touched: set[int] | frozenset[int] = frozenset()
    ) -> Change:
        """The difference between the last state and the graph, in `change`."""
        for node, number in list(self._now.items()):
            if node not in touched and (graph.op[node] is DEAD or not self._is_same(graph, node, number)):
                change.removed.append(number)
                del self._now[node], self._operands[number]
        for node in graph.in_order():
            if node not in self._now and node not in touched:
                change.added.append(self._enter(graph, node))
        left = [
            node
            for node in self._now if graph.op[node] is not DEAD and touched.isdisjoint(graph.operands[node])
        ]
        self._rewire(graph, left, change)
        if not touched:
            self._set_outputs(graph, change)
        return change

    def _is_same(self, graph: Graph, node: int, number: int) -> bool:
        entry = self.entries[number]
        return entry.op == graph.op[node] and entry.attrs is graph.attrs[node]

    def _enter(self, graph: Graph, node: int) -> int:
        number = len(self.entries)
        operands = self._read(graph, node)
        attached = annotations_of(graph, node)
        self.entries.append(Entry(
            graph.op[node], graph.label(node), operands, graph.attrs[node], graph.types[node],
            graph.values.get(node), attached,
        ))
        self._now[node] = number
        self._operands[number] = operands
        return number

    def _read(self, graph: Graph, node: int) -> tuple[int, ...]:
        return tuple(self._now.get(operand, -1) if operand >= 0 else -1 for operand in graph.operands[node])

    def _rewire(self, graph: Graph, nodes: Iterable[int], change: Change) -> None:
        added = set(change.added)
        for node in nodes:
            number, operands = self._now[node], self._read(graph, node)
            if self._operands[number] != operands:
                self._operands[number] = operands
                if number in added:
                    entry = self.entries[number]
                    self.entries[number] = replace(entry, operands=operands)
                else:
                    change.rewired[number] = operands

    def _set_outputs(self, graph: Graph, change: Change) -> None:
        outputs = [self._now[node] for node in graph.outputs if node in self._now]
        if outputs != self._outputs:
            self._outputs = change.outputs = outputs


def _flat(bindings: JsonObject) -> list[tuple[str, int]]:
    """Names and nodes; those of instances are numbered: `branch[0].w`."""
    found: list[tuple[str, int]] = []
    for name, value in bindings.items():
        if isinstance(value, int):
            found.append((name, value))
        else:
            found += [
                (f"{name}[{k}].{inner}", node)
                for k, table in enumerate(value)
                for inner, node in table.items()
            ]
    return found
