"""A rule as a picture: its source and its target as two small graphs with an arrow between them.

Inputs are named as in the rule; alternatives are a box with a branch each, a template (`each`) is drawn once.
The tip of a box is its text in the rule file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gslang.base.source import Span
from gslang.check import checked as ir
from gslang.check.levels import levels
from gslang.check.target_reading import TargetReading
from gslang.formats.picture import MARKER, drawn_inside, layout
from gslang.graph.graph import ABSENT, CONST, INPUT, PROJ, TUPLE, Graph

_LONGEST = 28  # characters in a box
_ARROW = 60  # pixels between the sides
_DEEPEST = 100  # levels that are drawn, by recursion
_TOO_DEEP = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="360" height="32"><text x="8" y="20">more than '
    f'{_DEEPEST} levels are not drawn</text></svg>'
)


def rule_svg(rule: ir.CheckedRule) -> str:
    """The picture as SVG text."""
    if levels(rule) > _DEEPEST:
        return _TOO_DEEP
    return _side_by_side(_Source(rule).graph(), _Target(rule).graph(), frozenset(), rule.name)


def source_svg(rule: ir.CheckedRule, marked: Iterable[Span] = ()) -> str:
    """The source alone. Nodes around `marked` spans stand out."""
    if levels(rule) > _DEEPEST:
        return _TOO_DEEP
    return _side_by_side(
        _Source(rule).graph(), None, frozenset((span.start, span.end) for span in marked), rule.name
    )


class _Sketch:
    """A graph whose operators are the texts of its boxes. `spans`: where each node is written."""

    def __init__(self, rule: ir.CheckedRule) -> None:
        self.rule = rule
        self.sketch = Graph(rule.dialect.name, rule.name)
        self.spans: dict[int, tuple[int, int]] = {}
        self._made: dict[object, int] = {}

    def add(self, text: str, operands: Iterable[int], span: Span, kind: str | None = None) -> int:
        text = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
        written = span.text if len(span.text) <= 300 else span.text[:299] + "…"
        attrs = {"written": written}
        node = self.sketch.add(
            text if kind is None else kind, [o for o in operands if o != ABSENT], attrs, None, text
        )
        self.spans[node] = (span.start, span.end)
        return node


class _Source(_Sketch):
    """The source of a rule."""

    def graph(self) -> tuple[Graph, dict[int, tuple[int, int]]]:
        """The sketch and its spans."""
        rule = self.rule
        roots = rule.outputs if rule.output_block is None else (rule.blocks[rule.output_block].root,)
        self.sketch.set_outputs([self.node(root) for root in roots])
        return self.sketch, self.spans

    def node(self, number: int | None | ir.Splice) -> int:
        """The drawn node of a pattern node."""
        if number is None:
            return ABSENT
        if isinstance(number, ir.Splice):
            block = self.rule.blocks[number.block]
            key: object = ("each", number.block, number.node)
            if key not in self._made:
                self._made[key] = self.add(f"each {block.name}", [self.node(number.node)], block.span)
            return self._made[key]
        if number not in self._made:
            self._made[number] = self._draw(self.rule.nodes[number])
        return self._made[number]

    def _draw(self, node: ir.Pattern) -> int:
        if isinstance(node, ir.LeafNode) and node.is_input:
            kind = "" if node.kind == "any" else f": {node.kind}"
            return self.add(f"{node.name or '_'}{kind}{'?' * node.optional}", (), node.span, INPUT)
        if isinstance(node, ir.ChainNode):
            block = self.rule.blocks[node.chain]
            return self.add(f"chain {block.name}", map(self.node, node.below), block.span)
        if len(node.branches) == 2 and self._is_optional(*node.branches):
            call = self.rule.nodes[node.branches[0]]
            return self.add(f"{_operators(call)}?", map(self.node, call.parts), node.span)
        if node.branches:
            return self.add("one of", map(self.node, node.branches), node.span)
        if node.operators:
            return self.add(_operators(node), map(self.node, node.parts), node.span)
        return self.add(node.span.text, (), node.span, CONST if isinstance(node, ir.LeafNode) else INPUT)

    def _is_optional(self, first: int, second: int) -> bool:
        call = self.rule.nodes[first]
        return isinstance(call, ir.CallNode) and second in call.operands


class _Target(_Sketch, TargetReading[int]):
    """The target of a rule."""

    def graph(self) -> tuple[Graph, dict[int, tuple[int, int]]]:
        """The sketch and its spans."""
        self.sketch.set_outputs([self.node(output) for output in self.rule.target.outputs])
        return self.sketch, self.spans

    def node(self, number: int) -> int:
        """The drawn node of a target."""
        target = self.rule.target.targets[number]
        key: object = ("source", target.node, target.place) if isinstance(target, ir.SourceNode) else number
        if key not in self._made:
            self._made[key] = self.of_target(number)
        return self._made[key]

    @property
    def targets(self) -> Sequence[ir.Target]:
        return self.rule.target.targets

    def of_matched(self, number: int, target: ir.SourceNode) -> int:
        node, span = self.rule.nodes[target.node], self.rule.target.spans[number]
        kind = CONST if isinstance(node, ir.LeafNode) and not node.is_input else INPUT
        return self.add(node.name or (span.text if kind is CONST else node.span.text), (), span, kind)

    def of_absent(self, number: int, target: ir.Absent) -> int:
        return ABSENT

    def of_call(self, number: int, target: ir.MakeCall) -> int:
        return self.box(number, target.operator if isinstance(target.operator, str) else target.operator[1])

    def of_constant(self, number: int, target: ir.MakeConst) -> int:
        return self.box(number, None, CONST)

    def of_tuple(self, number: int, target: ir.MakeTuple) -> int:
        return self.box(number, "( , )")

    def of_projection(self, number: int, target: ir.MakeProj) -> int:
        return self.box(number, f".{target.index.value if isinstance(target.index, ir.Const) else '…'}")

    def of_either(self, number: int, target: ir.ChooseTarget) -> int:
        return self.box(number, "if … else …")

    def of_selected(self, number: int, target: ir.SelectTarget) -> int:
        return self.box(number, "match")

    def of_repeat(self, number: int, target: ir.Repeat) -> int:
        return self.box(number, "for each")

    def of_instances(self, number: int, target: ir.SpliceInstances) -> int:
        return self.box(number, None, INPUT)

    def of_projections(self, number: int, target: ir.Projections) -> int:
        return self.box(number, "all fields")

    def box(self, number: int, text: str | None, kind: str | None = None) -> int:
        """A box below those of its parts; without a text it is titled by what is written."""
        span = self.rule.target.spans[number]
        below = [self.node(part) for part in self.targets[number].parts]
        return self.add(span.text if text is None else text, below, span, kind)


def _operators(node: ir.Pattern) -> str:
    if node.variable is not None:
        return node.variable
    if node.operators == (TUPLE,):
        return "( , )"
    if node.operators == (PROJ,):
        return f".{_index(node)}"
    return " | ".join(node.operators[:3]) + (" | …" if len(node.operators) > 3 else "")


def _index(node: ir.Pattern) -> str:
    found = node.span.text.rsplit(".", 1)[-1]
    return found if found.isdigit() else "…"


def _side_by_side(
    source: tuple[Graph, dict[int, tuple[int, int]]],
    target: tuple[Graph, dict[int, tuple[int, int]]] | None,
    marked: frozenset[tuple[int, int]],
    name: str,
) -> str:
    pictures = []
    for side in (source, target):
        if side is not None:
            sketch, spans = side
            hot = frozenset(_smallest(spans, span) for span in marked) if side is source else frozenset()
            pictures.append(layout(sketch, None, _words, hot, _tip))
    width = sum(p.width for p in pictures) + _ARROW * (len(pictures) - 1)
    height = max(p.height for p in pictures)
    parts, left = [], 0.0
    for k, picture in enumerate(pictures):
        if k:
            middle = height / 2
            tip = left - 12
            parts.append(
                f'<path d="M{left - _ARROW + 12:.1f},{middle - 3:.1f} H{tip - 10:.1f} '
                f'M{left - _ARROW + 12:.1f},{middle + 3:.1f} H{tip - 10:.1f} '
                f'M{tip - 14:.1f},{middle - 9:.1f} L{tip:.1f},{middle:.1f} L{tip - 14:.1f},{middle + 9:.1f}" '
                'fill="none" stroke="#5b6478" stroke-width="1.5"/>'
            )
        parts.append(
            f'<g transform="translate({left:.1f},{(height - picture.height) / 2:.1f})">'
            f"{drawn_inside(picture)}</g>"
        )
        left += picture.width + _ARROW
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="monospace" font-size="12" role="img" '
        f'aria-label="source and target of {name}">'
        f"{MARKER}{''.join(parts)}</svg>"
    )


def _smallest(spans: dict[int, tuple[int, int]], inner: tuple[int, int]) -> int:
    """The node with the shortest text around a span; -1 if there is none."""
    around = [
        (end - start, node) for node, (start, end) in spans.items() if start <= inner[0] and inner[1] <= end
    ]
    return min(around, default=(0, -1))[1]


def _words(graph: Graph, node: int) -> str:
    return graph.names[node] or ""


def _tip(graph: Graph, node: int) -> str:
    return str(graph.attrs[node]["written"])
