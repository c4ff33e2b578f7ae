"""The way from the graph of a search to its result, as entries of a trace that can be applied again.

A trace of a search begins with an entry `search`: the method that found the result, and the sizes that were
given to dimensions. The result of rewriting or backtracking is a list of applications to a graph, as that of
any run (`engine.replay`); `match` says which of the matches at a node was applied.

Equality saturation applies rules to an e-graph. Its entries say in which `round` a rule was applied, which
match at the class of its first output that is, and what is `equal` after it; entries of one round see what
those before the round have made. The last entry, `choose`, lists the e-nodes that the result consists of.
Only applications that the result rests on are entries (`derivation`): in the e-graph of these alone matches
have other numbers than in the one that was searched, so the trace is made by applying them once more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from gslang.base.open_types import JsonDict
from gslang.base.quick_dataclass import dataclass
from gslang.base.suggest import did_you_mean
from gslang.check import checked as ir
from gslang.check.checked import CheckedRule
from gslang.dialect.dialect import Dialect
from gslang.engine.conditions import output_slots
from gslang.engine.lower import program_of
from gslang.engine.replay import ReplayError, TraceEntry, bound, compare, ids_of, told
from gslang.engine.rewrite import Application, describe
from gslang.engine.scope import Scope
from gslang.graph.graph import INPUT, Graph
from gslang.search.add_target import Added, add_target
from gslang.search.chosen_graph import chosen_graph
from gslang.search.derivation import Applied, RecordedEGraph
from gslang.search.egraph import EGraph
from gslang.search.match_classes import class_matches


@dataclass(frozen=True, slots=True)
class SearchTrace:
    """`entries`, and the node of the result for each id in them that it has."""

    entries: tuple[TraceEntry, ...]
    nodes: dict[str, int]


def trace_of_run(
    graph: Graph,
    result: Graph,
    applied: Sequence[tuple[Application, int | None]],
    method: str,
    sizes: Mapping[str, int] | None,
) -> SearchTrace:
    """The trace of applications to a copy of `graph`, each with the number of its match, if that is not the
    first that applies.
    """
    ids = ids_of(graph)
    entries = [_start(method, sizes)]
    for number, (what, match) in enumerate(applied, 1):
        said = told(number, what, ids)
        entries.append(TraceEntry(number + 1, None, said if match is None else {**said, "match": match}))
    return SearchTrace(tuple(entries), {ids(node): node for node in result.nodes()})


def trace_of_choice(
    graph: Graph,
    egraph: RecordedEGraph,
    chosen: Sequence[int],
    result: Graph,
    sizes: Mapping[str, int] | None,
) -> SearchTrace:
    """The trace of chosen e-nodes, which are `result`: of what they rest on, and if that leads to another
    graph (matches of a variadic rule take all that there is), of all applications.
    """
    inputs = [made for node, made in egraph.node_of.items() if graph.op[node] is INPUT]
    for least in (True, False):
        steps = egraph.needed(chosen, inputs) if least else egraph.every()
        found = _Again(graph, egraph.dialect).trace(steps, chosen, sizes)
        if found is not None and _equal(found[1], result):
            return found[0]
    raise AssertionError("a search does not lead to its result: this is a bug in gslang")


def _start(method: str, sizes: Mapping[str, int] | None) -> TraceEntry:
    said: JsonDict = {"method": method}
    if sizes is not None:
        said["sizes"] = dict(sizes)
    return TraceEntry(1, "search", said)


def _equal(one: Graph, other: Graph) -> bool:
    return (
        (one.op, one.operands, one.types, one.names, one.outputs)
        == (other.op, other.operands, other.types, other.names, other.outputs)
    )


class _Again:
    """An e-graph to which applications are done one by one, each found among the matches of its class."""

    def __init__(self, graph: Graph, dialect: Dialect) -> None:
        self.graph = graph
        self.egraph = EGraph(graph, dialect)
        self.ids = ids_of(self.egraph.store)
        self.number, self.round = 0, 1

    def apply(
        self, rule: CheckedRule, place: int, round: int, is_it: Callable[[int, Scope], bool]
    ) -> tuple[JsonDict, Added] | str:
        """Apply a rule to the first match at the class of an e-node that is the one looked for, and say what
        was done. A text says why that is impossible.
        """
        egraph = self.egraph
        if round > self.round:
            self.round = round
            egraph.rebuild()
        for number, scope in enumerate(class_matches(program_of(rule), egraph, egraph.find(place))):
            if is_it(number, scope):
                break
        else:
            return "does not match"
        sources = output_slots(scope)
        bindings = describe(scope, lambda node: node)
        first = len(egraph.store.op)
        added = add_target(egraph, scope)
        if added is None or isinstance(added, str):
            return f"cannot be applied{'' if added is None else ': ' + added}"
        self.number += 1
        new = [node for node in dict.fromkeys(added.made) if node >= first]
        return {
            "application": self.number,
            "rule": rule.name,
            "round": round,
            "match": number,
            "outputs": [self.ids(node) for node in sources],
            "added": [{"id": self.ids(node), "op": egraph.store.op[node].lstrip("%")} for node in new],
            "equal": {self.ids(a): self.ids(b) for a, b in zip(sources, added.targets)},
            "bindings": {name: bound(value, self.ids) for name, value in bindings.items()},
        }, added

    def choose(self, chosen: Sequence[int]) -> tuple[Graph, dict[int, int]]:
        """The graph of these e-nodes. Raises `KeyError`."""
        self.egraph.rebuild()
        return chosen_graph(self.graph, self.egraph, chosen)

    def trace(
        self, steps: Sequence[Applied], chosen: Sequence[int], sizes: Mapping[str, int] | None
    ) -> tuple[SearchTrace, Graph] | None:
        """The trace of applications that were done to another e-graph of this graph, and its result; None if
        they cannot all be done here.
        """
        here = {node: node for node in range(self.egraph.original)}  # e-node of the other one → e-node
        entries = [_start("eqsat", sizes)]
        for step in steps:
            places = [*step.outputs, *(slot for slot in step.slots if slot >= 0)]
            if any(node not in here for node in places):
                return None
            done = self.apply(
                step.rule, here[step.outputs[0]], step.round, lambda _, scope: self._is(step, scope, here)
            )
            if isinstance(done, str):
                return None
            said, added = done
            for there, node in zip(step.made, added.made):
                here.setdefault(there, node)
            entries.append(TraceEntry(len(entries) + 1, None, said))
        try:
            nodes = [here[node] for node in chosen]
            result, of_class = self.choose(nodes)
        except KeyError:
            return None
        entries.append(
            TraceEntry(len(entries) + 1, "choose", {"nodes": [self.ids(node) for node in nodes]})
        )
        known = {self.ids(node): of_class[self.egraph.find(node)] for node in nodes}
        return SearchTrace(tuple(entries), known), result

    def _is(self, step: Applied, scope: Scope, here: Mapping[int, int]) -> bool:
        """True if a match is that of the step."""
        rule = scope.rule
        return (
            all(self._same(a, b, here) for a, b in zip(output_slots(scope), step.outputs))
            and all(
                self._fits(rule, k, slot, other, here)
                for k, (slot, other) in enumerate(zip(scope.slots, step.slots))
            )
            and [len(block) for block in scope.instances] == [len(block) for block in step.instances]
            and all(
                one.slots.keys() == other.keys()
                and all(self._fits(rule, k, slot, other[k], here) for k, slot in one.slots.items())
                for ones, others in zip(scope.instances, step.instances) for one, other in zip(ones, others)
            )
        )

    def _fits(self, rule: CheckedRule, number: int, slot: int, other: int, here: Mapping[int, int]) -> bool:
        """True if a pattern node matched here what it matched there: leaves match classes."""
        if slot < 0 or other < 0:
            return slot == other
        if isinstance(rule.nodes[number], (ir.LeafNode, ir.AltNode)):
            return other in here and self.egraph.find(slot) == self.egraph.find(here[other])
        return self._same(slot, other, here)

    def _same(self, node: int, other: int, here: Mapping[int, int]) -> bool:
        """True if an e-node is that of the other e-graph, or equal to it, operand by operand."""
        if other not in here:
            return False
        this, store, find = here[other], self.egraph.store, self.egraph.find
        return node == this or (
            store.op[node] == store.op[this] and store.attrs[node] == store.attrs[this]
            and [o if o < 0 else find(o) for o in store.operands[node]]
            == [o if o < 0 else find(o) for o in store.operands[this]]
        )


def replay_choice(
    graph: Graph, dialect: Dialect, rules: Mapping[str, CheckedRule], entries: Iterable[TraceEntry]
) -> tuple[Graph, list[str]]:
    """The result of a search by equality saturation from its trace, without the first entry, and the rules
    that were applied. Raises `ReplayError` at the first entry that does not fit.
    """
    again = _Again(graph, dialect)
    nodes = {again.ids(node): node for node in range(len(again.egraph.store.op))}
    applied: list[str] = []
    line = 1
    for entry in entries:
        line, said = entry.line, entry.said
        if entry.step == "choose":
            if missing := [id for id in said["nodes"] if id not in nodes]:
                raise ReplayError(line, f"unknown node `{missing[0]}`")
            try:
                return again.choose([nodes[id] for id in said["nodes"]])[0], applied
            except KeyError:
                raise ReplayError(line, "the selected nodes are not a graph") from None
        if entry.step is not None or "match" not in said or "round" not in said:
            raise ReplayError(line, "this is neither an application to an e-graph nor `choose`")
        rule = rules.get(said["rule"])
        if rule is None:
            guess = did_you_mean(said["rule"], rules)
            raise ReplayError(
                line, f"unknown rule `{said['rule']}`" + (f" (did you mean `{guess}`?)" if guess else "")
            )
        place = said["outputs"][0]
        if place not in nodes:
            raise ReplayError(line, f"unknown node `{place}`")
        done = again.apply(
            rule, nodes[place], said["round"], lambda number, _: number == said["match"]
        )
        if isinstance(done, str):
            raise ReplayError(line, f"`{rule.name}` {done} at `{place}`")
        compare(entry, done[0])
        nodes.update((again.ids(node), node) for node in done[1].made)
        applied.append(rule.name)
    raise ReplayError(line, "the trace of a search ends with `choose`")
