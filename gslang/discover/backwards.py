"""A rule read from right to left, as a proposal: where its target stands, its source is put beside it.

Nothing is taken to be equal by a proposal. Where the rule itself fires on the source that was put there, the
two become equal, under all of its conditions. So what a source states and the target does not say may be
guessed here, and a wrong guess does no harm.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gslang.check import checked as ir
from gslang.check.target_reading import TargetReading
from gslang.check.walks import readings
from gslang.graph.graph import PROJ, TUPLE


class _OneWay(Exception):
    """The rule cannot be read backwards."""


def backwards(rule: ir.CheckedRule) -> ir.CheckedRule | None:
    """The proposal of a rule; None for several outputs, templates, alternatives, constants, and inputs that
    the target does not have.
    """
    if (
        rule.blocks or rule.variables or len(rule.outputs) != 1
        or rule.inputs != tuple(range(len(rule.inputs)))
    ):
        return None
    try:
        return _Mirror(rule).run()
    except _OneWay:
        return None


class _Mirror(TargetReading[int]):
    """`nodes`: the new pattern, `mirrored` the new target; inputs keep their numbers.

    `shown`: attribute of an old node → where the new pattern shows it.
    """

    def __init__(self, rule: ir.CheckedRule) -> None:
        self.rule = rule
        self.nodes: list[ir.Pattern] = []
        self.patterns: dict[int, int] = {}
        self.shown: dict[tuple[int, str], ir.NodeAttr] = {}
        self.calls: dict[str, int] = {}
        self.mirrored: list[ir.Target] = []
        self.built: dict[int, int] = {}

    def run(self) -> ir.CheckedRule:
        rule = self.rule
        for number in rule.inputs:
            leaf = rule.nodes[number]
            self.nodes.append(ir.LeafNode(name=None, span=leaf.span, kind="any"))
        root = self.pattern(rule.target.outputs[0])
        if isinstance(self.nodes[root], ir.LeafNode):
            raise _OneWay
        used = {part for node in self.nodes for part in node.below}
        output = self.target(rule.outputs[0], used)
        spans = tuple([rule.span] * len(self.mirrored))
        made = ir.TargetGraph(tuple(self.mirrored), (None,) * len(self.mirrored), spans, (output,))
        return replace(
            rule, nodes=tuple(self.nodes), inputs=tuple(sorted(used & set(rule.inputs))), outputs=(root,),
            lets=(), captures=(), where=(), where_spans=(), interior=frozenset(), target=made, once=False,
            family=None,
        )

    # ── the target as a pattern ──

    def pattern(self, number: int) -> int:
        """The pattern node for a part of the target."""
        if number in self.patterns:
            return self.patterns[number]
        self.patterns[number] = made = self.of_target(number)
        return made

    @property
    def targets(self) -> Sequence[ir.Target]:
        return self.rule.target.targets

    def of_matched(self, number: int, target: ir.SourceNode) -> int:
        if target.place != ir.OWN or target.node not in self.rule.inputs:
            raise _OneWay
        return target.node

    def of_tuple(self, number: int, target: ir.MakeTuple) -> int:
        fields = tuple(map(self.pattern, target.fields))
        return self.add(ir.TupleNode(name=None, span=self.rule.span, fields=fields))

    def of_projection(self, number: int, target: ir.MakeProj) -> int:
        if not isinstance(target.index, ir.Const):
            raise _OneWay
        constraint = ir.Constraint("index", ir.Equals(target.index), self.rule.span)
        return self.add(ir.ProjNode(
            name=None, span=self.rule.span, base=self.pattern(target.base), constraints=(constraint,)
        ))

    def of_other(self, number: int, target: ir.Target) -> int:
        raise _OneWay

    def of_call(self, number: int, target: ir.MakeCall) -> int:
        operator, attributes, absent = target.operator, target.attributes, ir.Absent()
        if not isinstance(operator, str) or target.spreads:
            raise _OneWay
        operands = tuple(
            [None if self.targets[part] == absent else self.pattern(part) for part in target.operands]
        )
        signature = self.rule.dialect.operators[operator]
        swappable = frozenset({operator} if "commutative" in signature.traits and len(operands) == 2 else ())
        tests = tuple([
            ir.Constraint(name, ir.Equals(value), self.rule.span)
            for name, value in attributes if isinstance(value, ir.Const)
        ])
        made = self.add(ir.CallNode(
            name=None, span=self.rule.span, operators=(operator,), operands=operands, swappable=swappable,
            constraints=tests,
        ))
        self.calls.setdefault(operator, made)
        for name, value in attributes:
            if isinstance(value, ir.NodeAttr) and value.place == ir.OWN:
                self.shown.setdefault((value.node, value.name), ir.NodeAttr(ir.OWN, made, name))
        return made

    def add(self, node: ir.Pattern) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1

    # ── the source as a target ──

    def target(self, number: int, bound: set[int]) -> int:
        """The target for a node of the source; the inputs in `bound` have been matched."""
        if number in self.built:
            return self.built[number]
        made: ir.Target
        node = self.rule.nodes[number]
        if isinstance(node, ir.LeafNode):
            if number not in bound or not node.is_input:
                raise _OneWay
            made = ir.SourceNode(ir.OWN, number)
        elif len(node.operators) != 1:
            raise _OneWay
        else:
            below = tuple(
                [self.absent() if part is None else self.operand(part, bound) for part in node.parts]
            )
            made = self.built_again(number, node, below, bound)
        self.mirrored.append(made)
        self.built[number] = len(self.mirrored) - 1
        return self.built[number]

    def built_again(
        self, number: int, node: ir.Pattern, below: tuple[int, ...], bound: set[int]
    ) -> ir.Target:
        """A call, a tuple or a projection of the source, of targets for its operands."""
        (operator,) = node.operators
        if operator == TUPLE:
            return ir.MakeTuple(below)
        if operator != PROJ:
            return ir.MakeCall(operator, below, tuple(self.attributes(number, operator, bound)))
        index = node.tests[0].literal if len(node.constraints) == 1 and node.tests else None
        if index is None:
            raise _OneWay
        return ir.MakeProj(below[0], index)

    def operand(self, part: int | ir.Splice, bound: set[int]) -> int:
        if not isinstance(part, int):
            raise _OneWay
        return self.target(part, bound)

    def absent(self) -> int:
        self.mirrored.append(ir.Absent())
        return len(self.mirrored) - 1

    def attributes(
        self, number: int, operator: str, bound: set[int]
    ) -> Iterator[tuple[str, ir.Value]]:
        for name in self.rule.dialect.operators[operator].attributes:
            value = self.value(number, name, bound, 0)
            if value is None and operator in self.calls:
                value = ir.NodeAttr(ir.OWN, self.calls[operator], name)
            if value is not None:
                yield name, value

    def value(self, number: int, name: str, bound: set[int], depth: int) -> ir.Value | None:
        """The value of an attribute of a node of the source: the target that reads it, or what the source
        asks of it.
        """
        if (number, name) in self.shown:
            return self.shown[number, name]
        for constraint in self.rule.nodes[number].tests:
            value = constraint.equal_to
            if constraint.field != name or value is None:
                continue
            if (
                isinstance(value, ir.NodeAttr) and value.place == ir.OWN
                and value.node not in self.rule.inputs
            ):
                return (
                    self.value(value.node, value.name, bound, depth + 1) if depth < len(self.rule.nodes)
                    else None
                )
            if _reads_only(value, bound):
                return value
        return None


def _reads_only(value: ir.Value, bound: set[int]) -> bool:
    """True if an expression reads nothing of a match but these nodes."""
    return all(
        isinstance(part, ir.Local)
        or isinstance(part, ir.NodeAttr) and part.place == ir.OWN and part.node in bound
        for part in readings(value, ())
    )
