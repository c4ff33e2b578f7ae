"""Names of values in a model that is written: the interface keeps its own, old values theirs, new ones get
fresh ones.
"""

from __future__ import annotations

from typing import Any

from gslang.dialect.onnx.attributes import all_names
from gslang.dialect.tensor_type import TupleType
from gslang.formats.onnx.records import model_record
from gslang.graph.graph import CONST, INPUT, LEAVES, PARAM, PROJ, Graph
from gslang.graph.known_calls import true_name


class Names:
    """`of`: node → the name of its value. `several`: calls with several results, whose values are those of
    projections.

    `identities`: (node, name) of outputs that need a copy under another name.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        projected = {operands[0] for op, operands in zip(graph.op, graph.operands) if op is PROJ}
        types = graph.types
        self.several = frozenset(
            [
                n
                for n, op in enumerate(graph.op)
                if op[0] != "%" and (n in projected or isinstance(types[n], TupleType))
            ]
        )
        record = model_record(graph)
        self._given = record
        self._old_names: set[str] | None = None
        self.taken: set[str] = set()
        self._next: dict[str, int] = {}
        self._made: set[str] = set()
        self.of: dict[int, str] = {}
        self.identities: list[tuple[int, str]] = []
        self.outputs = _output_names(graph, record)
        self._give()

    def _give(self) -> None:
        graph, several = self.graph, self.several
        of, op, names = self.of, graph.op, graph.names
        owned: dict[str, int] = {}
        for node in [n for n, kind in enumerate(op) if kind is INPUT or kind is PARAM]:
            name = names[node]
            if name and name not in owned:
                of[node], owned[name] = name, node
        for k, node in enumerate(graph.outputs):
            name = self.outputs[k]
            if name is None:
                continue
            # an output is made by a node of its own
            moved = graph.op[node] is CONST and graph.names[node] not in (None, name)
            if node in self.of and self.of[node] != name or owned.get(name, node) != node or moved:
                if owned.get(name, node) == node or name not in owned:
                    self.identities.append((node, name))
                    owned[name] = -1 - k
            else:
                self.of[node], owned[name] = name, node
        for node in graph.nodes():
            name = names[node]
            if name and node not in of and node not in several and owned.setdefault(name, node) == node:
                of[node] = name
        self.taken.update(owned)
        bases: dict[str, str] = {}  # of what is no projection
        for node in graph.in_order():
            if node not in of and node not in several:
                base = bases.get(op[node])
                if base is None:
                    base = _base(graph, node)
                    if op[node] is not PROJ:
                        bases[op[node]] = base
                of[node] = self.fresh(base)

    def fresh(self, base: str) -> str:
        """`Conv_1`, `Conv_2`, …: the first that the model has not."""
        count = self._next.get(base, 0) + 1
        if self._old_names is None:  # only now: most runs that remove nodes make none
            self._old_names = (
                set() if self._given is None else all_names(self._given.message.graph) | self._given.taken
            )
        while (name := f"{base}_{count}") in self.taken or name in self._old_names:
            count += 1
        self._next[base] = count
        self.taken.add(name)
        self._made.add(name)
        return name

    def node_name(self, operator: str, results: list[str]) -> str:
        """A new node is called as its first result if that name is new too."""
        return results[0] if results and results[0] in self._made else self.fresh(operator)


def _base(graph: Graph, node: int) -> str:
    if graph.op[node] is PROJ:
        return f"{_base(graph, graph.operands[node][0])}_out{graph.attrs[node]['index']}"
    return graph.kind(node) if graph.op[node] in LEAVES else true_name(graph.op[node]).rpartition(".")[2]


def _output_names(graph: Graph, record: Any) -> list[str | None]:
    """The names that the outputs must have; None for any."""
    if record is None:
        return [graph.names[n] for n in graph.outputs]
    return [value.name for value in record.message.graph.output]
