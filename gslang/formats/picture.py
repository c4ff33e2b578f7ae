"""A graph as an SVG picture, for notebooks: nodes in layers, operands above their users.

Layers are by the longest way from a leaf, leaves right above their first user; inside a layer nodes are ordered by the
mean place of their neighbours (the barycentre sweeps of Sugiyama, Tagawa and Toda, 1981). Large graphs are cut off: a
picture of thousands of nodes shows nothing.
"""

from __future__ import annotations

from html import escape

from gslang.graph.graph import LEAVES, Graph

MOST_NODES = 150
_HEIGHT, _ROW, _GAP, _CHARACTER = 26, 58, 18, 7.2
_FILL = {"call": "#e8eefc", "input": "#e3f4e1", "param": "#fdf3d8", "const": "#f3f3f3", "tuple": "#ffffff", "proj": "#ffffff"}


def svg(graph: Graph) -> str:
    """The picture as SVG text. Of more than 150 nodes the first ones are shown, and how many are not."""
    order = graph.reverse_post_order()
    shown = order[:MOST_NODES]
    rows = _rows(graph, shown)
    widths = {node: max(34.0, _CHARACTER * len(_text(graph, node)) + 16) for node in shown}
    total = max((sum(widths[n] + _GAP for n in row) for row in rows), default=0) + _GAP
    x: dict[int, float] = {}
    y: dict[int, float] = {}
    for number, row in enumerate(rows):
        left = (total - sum(widths[n] + _GAP for n in row) + _GAP) / 2
        for node in row:
            x[node], y[node] = left + widths[node] / 2, 20 + number * _ROW
            left += widths[node] + _GAP
    parts = []
    for node in shown:
        for operand in graph.operands[node]:
            if operand in x:
                top, bottom = y[operand] + _HEIGHT / 2, y[node] - _HEIGHT / 2
                middle = (top + bottom) / 2
                parts.append(
                    f'<path d="M{x[operand]:.1f},{top:.1f} C{x[operand]:.1f},{middle:.1f} {x[node]:.1f},{middle:.1f} {x[node]:.1f},{bottom:.1f}" '
                    'fill="none" stroke="#8a93a6" marker-end="url(#a)"/>'
                )
    for node in shown:
        bold = 2.5 if node in graph.output_uses else 1
        left, top = x[node] - widths[node] / 2, y[node] - _HEIGHT / 2
        parts.append(
            f'<g><title>{escape(_details(graph, node))}</title><rect x="{left:.1f}" y="{top:.1f}" width="{widths[node]:.1f}" height="{_HEIGHT}" '
            f'rx="6" fill="{_FILL[graph.kind(node)]}" stroke="#5b6478" stroke-width="{bold}"/>'
            f'<text x="{x[node]:.1f}" y="{y[node] + 4:.1f}" text-anchor="middle">{escape(_text(graph, node))}</text></g>'
        )
    height = 20 + len(rows) * _ROW
    if len(order) > len(shown):
        parts.append(f'<text x="10" y="{height}">… and {len(order) - len(shown)} more nodes</text>')
        height += 20
    marker = '<defs><marker id="a" markerWidth="7" markerHeight="7" refX="6" refY="3" orient="auto"><path d="M0,0 L6,3 L0,6 z" fill="#8a93a6"/></marker></defs>'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{total:.0f}" height="{height}" viewBox="0 0 {total:.0f} {height}" font-family="monospace" font-size="12">'
    return f"{head}{marker}{''.join(parts)}</svg>"


def _rows(graph: Graph, shown: list[int]) -> list[list[int]]:
    """Nodes by layer, each layer ordered so that edges cross little."""
    layer: dict[int, int] = {}
    inside = set(shown)
    for node in shown:
        layer[node] = 1 + max((layer[o] for o in graph.operands[node] if o in layer), default=-1)
    for node in shown:
        if graph.op[node] in LEAVES:
            users = [layer[user] for user in graph.users[node] if user in inside]
            layer[node] = max(0, min(users, default=1) - 1)
    rows: list[list[int]] = [[] for _ in range(max(layer.values(), default=-1) + 1)]
    for node in shown:
        rows[layer[node]].append(node)
    place = {node: k / max(1, len(row)) for row in rows for k, node in enumerate(row)}
    for sweep in range(6):
        for row in rows if sweep % 2 == 0 else rows[::-1]:
            for node in row:
                around = [place[o] for o in (graph.operands[node] if sweep % 2 == 0 else graph.users[node]) if o in place]
                if around:
                    place[node] = sum(around) / len(around)
            row.sort(key=lambda node: (place[node], node))
            for k, node in enumerate(row):
                place[node] = (k + 0.5) / len(row)
    return rows


def _text(graph: Graph, node: int) -> str:
    match graph.kind(node):
        case "call":
            return graph.op[node]
        case "tuple":
            return f"({', '.join('·' * len(graph.operands[node]))})" if len(graph.operands[node]) < 5 else f"({len(graph.operands[node])} fields)"
        case "proj":
            return f".{graph.attrs[node]['index']}"
    return graph.label(node)


def _details(graph: Graph, node: int) -> str:
    attrs = [f"{name} = {value}" for name, value in graph.attrs[node].items() if name != "index"]
    return "\n".join([graph.label(node), str(graph.types[node] or "type not known"), *attrs])
