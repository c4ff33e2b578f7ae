"""Graphviz text of a graph."""

from __future__ import annotations

from gslang.graph.graph import Graph

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
            text += "".join(f"\n{name} = {value}" for name, value in graph.attrs[node].items())
        bold = ", penwidth=2" if node in graph.output_uses else ""
        lines.append(f"  n{node} [label={_quoted(text)}, shape={_SHAPES[kind]}{bold}];")
    for node in order:
        for operand in graph.operands[node]:
            if operand >= 0:
                type_ = graph.types[operand]
                lines.append(
                    f"  n{operand} -> n{node} [label={_quoted('' if type_ is None else str(type_))}, "
                    "fontsize=9];"
                )
    return "\n".join([*lines, "}", ""])


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
