"""Graphviz text of a graph."""

from __future__ import annotations

from gslang.dialect.tensor_type import TupleType, Type
from gslang.graph.graph import Graph

_MOST_FIELDS = 4  # of a tuple that are written out on an edge; each field has an edge with all of them
_MOST_CHARACTERS = 1000  # of an attribute
_SHAPES = {
    "input": "ellipse",
    "param": "box3d",
    "const": "note",
    "tuple": "plain",
    "proj": "plain",
    "call": "box",
}


def write_dot(graph: Graph) -> str:
    """One node a line, in reverse post-order; operators show their attributes, edges their types."""
    lines = [f"digraph {_quoted(graph.name)} {{", "  node [fontname=Helvetica];"]
    order = graph.reverse_post_order()
    for node in order:
        kind = graph.kind(node)
        text = (
            graph.op[node] if kind == "call"
            else f"({len(graph.operands[node])})" if kind == "tuple"
            else graph.label(node)
        )
        if kind == "proj":
            text = f".{graph.attrs[node]['index']}"
        elif kind == "call":
            attrs = graph.attrs[node].items()
            text += "".join(f"\n{name} = {_shortened(str(value))}" for name, value in attrs)
        bold = ", penwidth=2" if node in graph.output_uses else ""
        lines.append(f"  n{node} [label={_quoted(text)}, shape={_SHAPES[kind]}{bold}];")
    for node in order:
        for operand in graph.operands[node]:
            if operand >= 0:
                text = _type_text(graph.types[operand])
                lines.append(f"  n{operand} -> n{node} [label={_quoted(text)}, fontsize=9];")
    return "\n".join([*lines, "}", ""])


def _type_text(type: Type | None) -> str:
    if isinstance(type, TupleType) and type.size > _MOST_FIELDS:
        return f"tuple of {len(type.fields)}"
    return "" if type is None else str(type)


def _shortened(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
