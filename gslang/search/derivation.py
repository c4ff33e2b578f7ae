"""From a saturated e-graph, the applications of rules that a chosen graph rests on.

Each union is an edge of a forest, with its reason: an application, or congruence. Two nodes were equal
before an application if and only if the path between them is older. So, from the chosen e-nodes backwards,
an application is needed if it made an e-node that is needed, or if its union lies on the path between two
nodes that have to be equal: operands of matched e-nodes and what they matched, operands of chosen e-nodes and
what is chosen for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from gslang.base.quick_dataclass import dataclass
from gslang.check import checked as ir
from gslang.dialect.dialect import Dialect
from gslang.engine.conditions import output_slots
from gslang.engine.scope import Scope
from gslang.graph.graph import Graph
from gslang.search.egraph import EGraph
from gslang.search.forest import Forest


@dataclass(frozen=True, slots=True)
class Applied:
    """One application to an e-graph. `round`: how often the e-graph had been rebuilt; `outputs`, `slots` and
    `instances` (of each block): the match; `made`: the e-nodes of the target, in the order in which it was
    built; `equal`: pairs that had to be equal for the match and for what was found to be there already.
    """

    number: int
    round: int
    rule: ir.CheckedRule
    outputs: tuple[int, ...]
    slots: tuple[int, ...]
    instances: tuple[tuple[Mapping[int, int], ...], ...]
    made: list[int]
    equal: list[tuple[int, int]]


class RecordedEGraph(EGraph):
    """An e-graph that remembers which application made each e-node, and why classes were united."""

    def __init__(self, graph: Graph, dialect: Dialect) -> None:
        self.round = 0
        self._count = 0
        self._latest: Applied | None = None
        self._maker: dict[int, Applied] = {}
        self._operands: dict[int, tuple[int, ...]] = {}  # of an e-node, as they were when it was made
        self._forest = Forest[Applied]()
        super().__init__(graph, dialect)

    # ── what is noted while rules run ──

    def rebuild(self) -> set[int]:
        self.round += 1
        return super().rebuild()

    def reason(
        self, scope: Scope, sources: Sequence[int], targets: Sequence[int], first: int
    ) -> Sequence[object]:
        self._count += 1
        instances = tuple([tuple([dict(i.slots) for i in block]) for block in scope.instances])
        self._latest = Applied(
            self._count, self.round, scope.rule, tuple(output_slots(scope)), tuple(scope.slots), instances,
            [], self._matched_as_equal(scope.slots, instances),
        )
        return [self._latest] * len(sources)

    def _matched_as_equal(
        self, slots: Sequence[int], instances: Iterable[Iterable[Mapping[int, int]]]
    ) -> list[tuple[int, int]]:
        """The nodes matched in one class, and operands of matched nodes that are in that class, in pairs.
        """
        matched = _matched(slots, instances)
        together: dict[int, dict[int, None]] = {self.find(slot): {} for slot in matched}
        for slot in matched:
            together[self.find(slot)][slot] = None
            for operand in self._operands.get(slot, ()):
                if operand >= 0 and (of := self.find(operand)) in together:
                    together[of][operand] = None
        return [pair for same in together.values() for pair in zip(same, list(same)[1:])]

    def intern(self, node: int, same: dict[int, int], rule: str | None = None) -> int:
        operands = tuple([same.get(o, o) for o in self.store.operands[node]])
        found = super().intern(node, same, rule)
        if found == node:
            self._operands[node] = operands
        latest = self._latest if rule is not None else None
        if latest is not None:
            latest.made.append(found)
            if found == node:
                self._maker[node] = latest
            else:
                latest.equal.extend(_different(operands, self._operands[found]))
        return found

    def joined(self, a: int, b: int, why: object) -> None:
        assert why is None or isinstance(why, Applied)
        self._forest.join(a, b, why)

    # ── what a choice rests on ──

    def needed(self, chosen: Sequence[int], inputs: Iterable[int]) -> list[Applied]:
        """The applications that chosen e-nodes rest on, in the order in which they were done. `inputs`:
        e-nodes that stand for their classes, whatever is chosen.
        """
        stands = {self.find(node): node for node in (*chosen, *inputs)}
        nodes = list(chosen)
        pairs = [
            (o, stands[self.find(o)])
            for o in (*(o for node in chosen for o in self._operands[node]), *self.outputs) if o >= 0
        ]
        found: dict[int, Applied] = {}
        seen_nodes, seen_edges = set[int](), set[tuple[int, int]]()
        while nodes or pairs:
            steps: list[Applied] = []
            if nodes:
                node = nodes.pop()
                if node in seen_nodes:
                    continue
                seen_nodes.add(node)
                if node in self._maker:
                    steps.append(self._maker[node])
            else:
                pair = pairs.pop()
                nodes += pair
                for a, b, why in chain(*self._forest.path(*pair)):
                    if (a, b) in seen_edges:
                        continue
                    seen_edges.add((a, b))
                    nodes += (a, b)
                    if why is None:
                        pairs += _different(self._operands[a], self._operands[b])
                    else:
                        steps.append(why)
            for step in steps:
                if step.number not in found:
                    found[step.number] = step
                    nodes += _matched(step.slots, step.instances)
                    pairs += step.equal
        return [found[number] for number in sorted(found)]

    def every(self) -> list[Applied]:
        """All applications that changed the e-graph, in order."""
        edges = [why for _, why in self._forest.edges.values() if why is not None]
        found = {step.number: step for step in (*self._maker.values(), *edges)}
        return [found[number] for number in sorted(found)]


def _different(these: Sequence[int], those: Sequence[int]) -> list[tuple[int, int]]:
    return [(a, b) for a, b in zip(these, those) if a != b and a >= 0 and b >= 0]


def _matched(slots: Sequence[int], instances: Iterable[Iterable[Mapping[int, int]]]) -> list[int]:
    """Nodes that were matched, each once."""
    inside = [slot for block in instances for each in block for slot in each.values()]
    return list(dict.fromkeys(slot for slot in (*slots, *inside) if slot >= 0))
