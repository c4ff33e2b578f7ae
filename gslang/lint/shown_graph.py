"""Graphs in findings: as statements in one line for people, as JSON for `gslc match`; and whether two results
are the same.

Results are compared by what their nodes compute: operands of commutative operators in either order, equal
calls being one.
"""

from __future__ import annotations

import json
from typing import Any

from gslang.dialect.dialect import Dialect
from gslang.dialect.tensor_type import TensorType
from gslang.formats.json_writer import ids_of_nodes, write_json
from gslang.graph.call_text import call_text
from gslang.graph.graph import CONST, INPUT, PARAM, Graph

_LONGEST = 400  # characters of a line of statements
_WORDS = {INPUT: "input", PARAM: "param", CONST: "const"}


def as_json(graph: Graph) -> str:
    """The graph as JSON in one line, as `gslc match` reads it."""
    return json.dumps(json.loads(write_json(graph)), ensure_ascii=False)


def as_statements(graph: Graph) -> str:
    """The graph as a rule file's test would state it: `x: input float32[2]; y = nn.relu(x); y`. Long ones are
    cut.
    """
    ids = ids_of_nodes(graph)
    parts = [
        f"{name}: {_leaf(graph, node)}" if graph.op[node] in _WORDS else f"{name} = {_call(graph, node, ids)}"
        for node, name in ids.items()
    ]
    text = "; ".join([*parts, ", ".join(ids[node] for node in graph.outputs)])
    return text if len(text) <= _LONGEST else text[: _LONGEST - 2] + " …"


def _leaf(graph: Graph, node: int) -> str:
    type_ = graph.types[node]
    shape = type_.shape if isinstance(type_, TensorType) else None
    dims = "..." if shape is None else ", ".join(str(d) for d in shape)
    dtype = type_.dtype if isinstance(type_, TensorType) else "float32"
    value = (
        f" = {graph.value(node).tolist()}"
        if graph.op[node] is CONST and node in graph.values and graph.value(node).size <= 8
        else ""
    )
    return f"{_WORDS[graph.op[node]]} {dtype}[{dims}]{value}"


def _call(graph: Graph, node: int, ids: dict[int, str]) -> str:
    given = ["none" if operand < 0 else ids[operand] for operand in graph.operands[node]]
    return call_text(graph.op[node], given, graph.attrs[node])


def same_results(a: Graph, b: Graph, dialect: Dialect) -> bool:
    """True if the outputs of two graphs with the same inputs are computed in the same way."""
    numbers: dict[object, int] = {}
    return _computed(a, dialect, numbers) == _computed(b, dialect, numbers)


def _computed(graph: Graph, dialect: Dialect, numbers: dict[object, int]) -> list[int]:
    """For each output a number of what it computes; `numbers` is shared by the graphs that are compared."""
    found: dict[int, int] = {-1: -1}
    for node in graph.reverse_post_order():
        op = graph.op[node]
        operands = tuple(found[operand] for operand in graph.operands[node])
        key: Any
        if op is CONST:
            value = graph.value(node)
            key = (op, str(graph.types[node]), value.tobytes())
        elif op in _WORDS:
            key = (op, graph.names[node] or node, str(graph.types[node]))
        else:
            signature = dialect.get(op)
            given = graph.attrs[node]
            if signature is not None:
                given = {**{name: spec.default for name, spec in signature.attributes.items()}, **given}
                if "stateful" in signature.traits:
                    given = {**given, "call": node}
                if "commutative" in signature.traits:
                    operands = tuple(sorted(operands))
            key = (op, operands, repr(sorted(given.items(), key=lambda item: item[0])))
        found[node] = numbers.setdefault(key, len(numbers))
    return [found[output] for output in graph.outputs]
