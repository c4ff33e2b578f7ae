"""An e-graph over a flat graph: e-nodes are nodes of a `Graph`, e-classes are sets of nodes in a union-find.

So attribute expressions and targets of rules work on e-nodes as on any nodes (`engine.values`,
`engine.build`). The operands of an e-node stand for their classes. What rules make and unite is seen by
matching only after `rebuild`, which restores congruence and drops e-nodes that close cycles.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from gslang.dialect.dialect import Dialect
from gslang.dialect.tensor_type import Type
from gslang.engine.scope import Scope
from gslang.graph.graph import CONST, INPUT, LEAVES, PARAM, Graph
from gslang.graph.inference import contradiction, refine
from gslang.search.cycles import closing_cycles

_LONGEST = 4096  # elements of a constant that is compared by value


class EGraph:
    """`store`: the e-nodes. `members`: class → its e-nodes, oldest first; `parents`: class → e-nodes that
    read it; a class is named by its leader, an e-node of it. `origin`: e-node → the rule that made it;
    `dropped`: e-nodes that closed cycles.
    """

    def __init__(self, graph: Graph, dialect: Dialect) -> None:
        self.dialect = dialect
        self.store = Graph(graph.dialect, graph.name)
        self.store.meta = graph.meta
        self.leader: list[int] = []
        self.members: dict[int, list[int]] = {}
        self.parents: dict[int, list[int]] = {}
        self.origin: dict[int, str] = {}
        self.dropped: set[int] = set()
        self.contradictions: list[str] = []
        self.fitting: dict[object, list[Any]] = {}  # what matching has found out since the last `rebuild`
        self._classes: dict[str, list[int]] | None = None  # operator → classes, once it is asked for
        self._memo: dict[object, int] = {}
        self._interned = 0
        self._new: list[int] = []
        self._unions: list[tuple[int, int, object]] = []
        self.node_of: dict[int, int] = {}  # node of the graph → e-node
        for node in graph.reverse_post_order():
            operands = tuple([self.node_of[o] if o >= 0 else o for o in graph.operands[node]])
            made = self.store.add(
                graph.op[node], operands, graph.attrs[node], graph.types[node], graph.names[node]
            )
            if node in graph.values:
                self.store.values[made] = graph.values[node]
            self.node_of[node] = self.intern(made, {})
        self.outputs = [self.node_of[node] for node in graph.outputs]
        self.original = len(self.store.op)
        self.rebuild()

    def find(self, node: int) -> int:
        """The leader of a node's class."""
        leader = self.leader
        while leader[node] != node:
            leader[node] = leader[leader[node]]
            node = leader[node]
        return node

    def __len__(self) -> int:
        """E-nodes that there are."""
        return self._interned - len(self.dropped)

    def intern(self, node: int, same: dict[int, int], rule: str | None = None) -> int:
        """The e-node for the last node added to the store: the node itself, or an equal one that was there
        (`same` is told).
        """
        store = self.store
        if len(self.leader) <= node:
            self.leader += range(len(self.leader), node + 1)
        operands = tuple([self.find(same.get(o, o)) if o >= 0 else o for o in store.operands[node]])
        store.operands[node] = operands
        key = self._key(node)
        known = self._memo.get(key)
        if known is not None:
            same[node] = known
            return known
        self._memo[key] = node
        self._new.append(node)
        self._interned += 1
        if rule is not None:
            self.origin[node] = rule
        return node

    def _key(self, node: int) -> Any:
        """The key that equal e-nodes share."""
        store, op = self.store, self.store.op[node]
        if op is INPUT or op is PARAM:
            return node
        if op is CONST:
            value = store.values.get(node)
            if value is None or getattr(value, "size", _LONGEST + 1) > _LONGEST:
                return node
            array = store.value(node)
            return CONST, store.types[node], array.tobytes()
        signature = self.dialect.get(op)
        if signature is not None and "stateful" in signature.traits and op not in ("nn.dropout", "Dropout"):
            return node
        given = store.attrs[node]
        attrs = signature.complete(given) if signature is not None and signature.defaults else given
        items = tuple(sorted(attrs.items()))
        try:
            hash(items)
        except TypeError:  # an array or a graph
            return node
        return op, items, store.operands[node]

    def unite(self, a: int, b: int, why: object = None) -> None:
        """Two e-nodes are equal; matching sees it after `rebuild`.

        `why`: the reason that an override of `joined` is told; None is congruence.
        """
        self._unions.append((a, b, why))

    def joined(self, a: int, b: int, why: object) -> None:
        """Told of each union that joined two classes. Does nothing here."""

    def reason(
        self, scope: Scope, sources: Sequence[int], targets: Sequence[int], first: int
    ) -> Sequence[object]:
        """Why each source is to be united with its target, before the target's nodes (from `first` on) are
        interned. Here it is None.
        """
        return [None] * len(sources)

    def type_of(self, node: int) -> Type | None:
        """The type of a node's class."""
        return self.store.types[self.find(node)]

    # ── restoring invariants ──

    def rebuild(self) -> set[int]:
        """Unite what is to be united and what is congruent, and drop e-nodes that close cycles.

        The classes that have changed.
        """
        changed: set[int] = set()
        self.fitting = {}
        self._classes = None
        for node in self._new:
            of = self.find(node)
            self.members.setdefault(of, []).append(node)
            self.parents.setdefault(of, [])
            changed.add(of)
            for operand in dict.fromkeys(self.store.operands[node]):
                if operand >= 0:
                    self.parents.setdefault(self.find(operand), []).append(node)
        self._new = []
        while self._unions:
            merged = []
            for a, b, why in self._unions:
                leader = self._merge(self.find(a), self.find(b))
                if leader is not None:
                    merged.append(leader)
                    self.joined(a, b, why)
            self._unions = []
            for of in dict.fromkeys(map(self.find, merged)):
                self._repair(of)
                changed.add(of)
        changed = {self.find(of) for of in changed}
        for node in closing_cycles(self.store.operands, self.members, self.find):
            self.dropped.add(node)
            self.members[self.find(node)].remove(node)
        return changed

    def _merge(self, a: int, b: int) -> int | None:
        """The leader of two classes made one; None if they are already, or if their types contradict each
        other.
        """
        if a == b:
            return None
        op, types = self.store.op, self.store.types
        if why := contradiction(types[a], types[b]):
            self.contradictions.append(why)
            return None
        first, second = sorted((a, b), key=lambda n: (op[n] is not CONST, op[n] not in LEAVES, n))
        types[first] = refine(types[first], types[second])
        self.leader[second] = first
        self.members[first] = sorted(self.members[first] + self.members.pop(second))
        self.parents[first] = sorted(set(self.parents[first] + self.parents.pop(second)))
        return first

    def _repair(self, of: int) -> None:
        """Let the readers of a class read its leader; of readers that have become equal the oldest stays,
        which no cycle can take from its class.
        """
        if of not in self.parents:
            return
        kept = []
        for node in self.parents[of]:
            if node in self.dropped:
                continue
            old = self.store.operands[node]
            now = tuple([self.find(o) if o >= 0 else o for o in old])
            if now != old:
                if self._memo.get(key := self._key(node)) == node:
                    del self._memo[key]
                self.store.operands[node] = now
                key = self._key(node)
                other = self._memo.setdefault(key, node)
                if other in self.dropped:  # it closed a cycle
                    self._memo[key] = node
                    self.unite(other, node)
                elif other != node and self._are_one(other, node):
                    older, younger = sorted((other, node))
                    self._memo[key] = older
                    self.members[self.find(younger)].remove(younger)
                    self.dropped.add(younger)
                    if younger == node:
                        continue
            kept.append(node)
        self.parents[of] = kept

    def _are_one(self, a: int, b: int) -> bool:
        """Unite congruent e-nodes, of which the younger may go; False if their types contradict each other.
        """
        types = self.store.types
        if why := contradiction(types[self.find(a)], types[self.find(b)]):
            self.contradictions.append(why)
            return False
        self.unite(a, b)
        return True

    # ── reading ──

    def classes_with(self, operators: Iterable[str]) -> list[int]:
        """Classes that have an e-node with one of some operators, by their leaders' age."""
        if self._classes is None:
            self._classes = {}
            for of, nodes in self.members.items():
                for op in {self.store.op[n]: None for n in nodes}:
                    self._classes.setdefault(op, []).append(of)
        return sorted({of for op in operators for of in self._classes.get(op, ())})
