"""A graph as a picture, SVG or PNG: nodes in layers, operands above their users.

Layers are by the longest path from a leaf, leaves right above their first user; inside a layer nodes are
ordered by the mean position of their neighbours (the barycentre sweeps of Sugiyama, Tagawa and Toda, 1981).
In notebooks large graphs are cut off: a picture of thousands of nodes shows nothing.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from html import escape

from gslang.base.diagnostics import InputError
from gslang.base.quick_dataclass import dataclass
from gslang.graph.graph import LEAVES, Graph

MOST_NODES = 150  # in a notebook
_MOST_PIXELS = 40_000_000  # of a PNG
_LONGEST_BYPASS = 12  # layers: what is longer runs straight
_HEIGHT, _ROW, _GAP, _CHARACTER = 26, 58, 18, 7.2
_FILL = {
    "call": "#e8eefc",
    "input": "#e3f4e1",
    "param": "#fdf3d8",
    "const": "#f3f3f3",
    "tuple": "#ffffff",
    "proj": "#ffffff",
}
_EDGE, _BORDER = "#8a93a6", "#5b6478"
_MARKED = "#d6336c"
MARKER = (
    '<defs><marker id="a" markerWidth="7" markerHeight="7" refX="6" refY="3" orient="auto"><path d="M0,0 '
    f'L6,3 L0,6 z" fill="{_EDGE}"/></marker></defs>'
)


@dataclass(frozen=True, slots=True)
class Box:
    """A node in a picture: its centre, width, texts, and how it is drawn."""

    x: float
    y: float
    width: float
    text: str
    details: str
    kind: str
    is_output: bool
    is_marked: bool = False


@dataclass(frozen=True, slots=True)
class Edge:
    """From box to box; `via`: where it passes by boxes that stand between them, as x."""

    start: int
    end: int
    via: float | None = None


@dataclass(frozen=True, slots=True)
class Picture:
    """Boxes, edges and the size, in pixels. `more` nodes are left out."""

    boxes: tuple[Box, ...]
    edges: tuple[Edge, ...]
    width: float
    height: float
    more: int = 0


Words = Callable[[Graph, int], str]


def layout(
    graph: Graph,
    most: int | None = MOST_NODES,
    words: Words | None = None,
    marked: frozenset[int] = frozenset(),
    tips: Words | None = None,
) -> Picture:
    """The picture of a graph's first `most` nodes (None: all).

    `words`: the text in a box; `tips`: its tooltip; `marked` nodes stand out.
    """
    say, tip = words or box_text, tips or _details
    order = graph.reverse_post_order()
    shown = order if most is None else order[:most]
    rows = _rows(graph, shown)
    texts = {node: say(graph, node) for node in shown}
    widths = {node: max(34.0, _CHARACTER * len(texts[node]) + 16) for node in shown}
    total = max((sum(widths[n] + _GAP for n in row) for row in rows), default=0) + _GAP
    boxes: dict[int, Box] = {}
    for number, row in enumerate(rows):
        left = (total - sum(widths[n] + _GAP for n in row) + _GAP) / 2
        for node in row:
            boxes[node] = Box(
                left + widths[node] / 2, 20 + number * _ROW, widths[node], texts[node], tip(graph, node),
                graph.kind(node), node in graph.output_uses, node in marked,
            )
            left += widths[node] + _GAP
    place = {node: k for k, node in enumerate(shown)}
    ends = [(o, n) for n in shown for o in graph.operands[n] if o in place]
    edges = tuple(
        Edge(place[o], place[n], _bypass(boxes[o], boxes[n], [[boxes[k] for k in row] for row in rows]))
        for o, n in ends
    )
    more = len(order) - len(shown)
    total = max([total, *(edge.via + _GAP / 2 for edge in edges if edge.via is not None)])
    return Picture(
        tuple(boxes[n] for n in shown), edges, total,
        17 + _HEIGHT + max(0, len(rows) - 1) * _ROW + 20 * bool(more), more,
    )


def _bypass(start: Box, end: Box, rows: list[list[Box]]) -> float | None:
    """The x of a gap beside the boxes that the straight line between two boxes would run through; None if it
    meets none.
    """
    first, last = round((start.y - 20) / _ROW) + 1, round((end.y - 20) / _ROW)
    if last <= first or last - first > _LONGEST_BYPASS:
        return None
    between = [box for row in rows[first:last] for box in row]

    def meets(x: float) -> bool:
        return any(abs(box.x - x) < box.width / 2 + 4 for box in between)

    if not any(abs(box.x - _at(start, end, box.y)) < box.width / 2 + 2 for box in between):
        return None
    middle = (start.x + end.x) / 2
    ways = [
        x
        for box in between
        for x in (box.x - box.width / 2 - _GAP / 2, box.x + box.width / 2 + _GAP / 2)
        if x > 2 and not meets(x)
    ]
    return min(ways, key=lambda x: (abs(x - middle), x), default=None)


def _at(start: Box, end: Box, y: float) -> float:
    return start.x + (end.x - start.x) * (y - start.y) / (end.y - start.y)


def svg(graph: Graph, most: int | None = MOST_NODES) -> str:
    """The picture as SVG text. Of more than `most` nodes the first ones are shown, and how many are not."""
    return drawn(layout(graph, most))


def drawn(picture: Picture) -> str:
    """A picture as SVG text."""
    width, height = f"{picture.width:.0f}", f"{picture.height:.0f}"
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} '
        f'{height}" font-family="monospace" font-size="12">'
    )
    return f"{head}{MARKER}{drawn_inside(picture)}</svg>"


def drawn_inside(picture: Picture) -> str:
    """The elements of a picture, without the `<svg>` around them."""
    parts = []
    for edge in picture.edges:
        curves = "".join(
            f" C{x1:.1f},{y1:.1f} {x2:.1f},{y2:.1f} {x3:.1f},{y3:.1f}"
            for (_, (x1, y1), (x2, y2), (x3, y3)) in _curves(picture, edge)
        )
        (x, y), *_ = _curves(picture, edge)[0]
        parts.append(
            f'<path d="M{x:.1f},{y:.1f}{curves}" fill="none" stroke="{_EDGE}" marker-end="url(#a)"/>'
        )
    for box in picture.boxes:
        line, border = (2.5, _MARKED) if box.is_marked else (2.5 if box.is_output else 1, _BORDER)
        parts.append(
            f'<g><title>{_xml(box.details)}</title><rect x="{box.x - box.width / 2:.1f}" '
            f'y="{box.y - _HEIGHT / 2:.1f}" width="{box.width:.1f}" '
            f'height="{_HEIGHT}" rx="6" fill="{_FILL[box.kind]}" stroke="{border}" stroke-width="{line}"/>'
            f'<text x="{box.x:.1f}" y="{box.y + 4:.1f}" text-anchor="middle" '
            f'fill="#1b2130">{_xml(box.text)}</text></g>'
        )
    if picture.more:
        parts.append(
            f'<text x="10" y="{picture.height - 6:.0f}" fill="{_BORDER}">… and {picture.more} more '
            'nodes</text>'
        )
    return "".join(parts)


def png(graph: Graph) -> bytes:
    """The picture of the whole graph as PNG.

    Raises `InputError` if Pillow is missing or the picture would be too large.
    """
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError:
        raise InputError(
            "PNG pictures need Pillow", help="pip install 'gslang[png]', or write .svg"
        ) from None
    picture = layout(graph, None)
    if picture.width * picture.height * 4 > _MOST_PIXELS:
        raise InputError(
            f"a picture of {len(picture.boxes)} nodes is too large for PNG",
            help="write .svg, or .html for a page that zooms",
        )
    scale = 2
    image = Image.new(
        "RGB", (max(1, int(picture.width * scale)), max(1, int(picture.height * scale))), "white"
    )
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(11 * scale)
    for edge in picture.edges:
        b = picture.boxes[edge.end]
        bottom = b.y - _HEIGHT / 2
        draw.line(
            [(x * scale, y * scale) for curve in _curves(picture, edge) for x, y in _points(curve)],
            fill=_EDGE, width=scale,
        )
        tip = [(b.x, bottom), (b.x - 3, bottom - 6), (b.x + 3, bottom - 6)]
        draw.polygon([(x * scale, y * scale) for x, y in tip], fill=_EDGE)
    for box in picture.boxes:
        corners = [box.x - box.width / 2, box.y - _HEIGHT / 2, box.x + box.width / 2, box.y + _HEIGHT / 2]
        draw.rounded_rectangle(
            [c * scale for c in corners], 6 * scale, _FILL[box.kind], _BORDER,
            int((2.5 if box.is_output else 1) * scale),
        )
        draw.text((box.x * scale, box.y * scale), printable(box.text), "#1b2130", font, anchor="mm")
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


Point = tuple[float, float]
Curve = tuple[Point, Point, Point, Point]


def _curves(picture: Picture, edge: Edge) -> list[Curve]:
    """The cubic Bézier curves of an edge, which leaves and arrives vertically."""
    a, b = picture.boxes[edge.start], picture.boxes[edge.end]
    top, bottom = a.y + _HEIGHT / 2, b.y - _HEIGHT / 2
    if edge.via is None:
        middle = (top + bottom) / 2
        return [((a.x, top), (a.x, middle), (b.x, middle), (b.x, bottom))]
    turn, back = top + _ROW - _HEIGHT, bottom - _ROW + _HEIGHT  # beside the boxes between these
    straight = ((edge.via, turn), (edge.via, turn), (edge.via, back), (edge.via, back))
    out, into = (top + turn) / 2, (back + bottom) / 2
    return [
        ((a.x, top), (a.x, out), (edge.via, out), (edge.via, turn)), straight,
        ((edge.via, back), (edge.via, into), (b.x, into), (b.x, bottom)),
    ]


def _points(curve: Curve) -> list[Point]:
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = curve
    weights = [
        ((1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t * t, t**3) for t in (k / 16 for k in range(17))
    ]
    return [(a * x0 + b * x1 + c * x2 + d * x3, a * y0 + b * y1 + c * y2 + d * y3) for a, b, c, d in weights]


def printable(text: str, kept: str = "") -> str:
    """The text without lone surrogates and control characters other than those that are kept."""
    return "".join(c if c in kept or c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _xml(text: str) -> str:
    """Text for XML, which has no control characters and no lone surrogates."""
    return escape(printable(text, "\n\t"))


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
                around = [
                    place[o]
                    for o in (graph.operands[node] if sweep % 2 == 0 else graph.users[node]) if o in place
                ]
                if around:
                    place[node] = sum(around) / len(around)
            row.sort(key=lambda node: (place[node], node))
            for k, node in enumerate(row):
                place[node] = (k + 0.5) / len(row)
    return rows


def box_text(graph: Graph, node: int) -> str:
    """The text in a node's box: an operator, a name, how a tuple is made or read."""
    match graph.kind(node):
        case "call":
            return graph.op[node]
        case "tuple":
            return (
                f"({', '.join('·' * len(graph.operands[node]))})" if len(graph.operands[node]) < 5
                else f"({len(graph.operands[node])} fields)"
            )
        case "proj":
            return f".{graph.attrs[node]['index']}"
    return graph.label(node)


def _details(graph: Graph, node: int) -> str:
    attrs = [f"{name} = {value}" for name, value in graph.attrs[node].items() if name != "index"]
    return "\n".join([graph.label(node), str(graph.types[node] or "type unknown"), *attrs])
