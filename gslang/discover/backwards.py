"""A rule read from right to left, as a proposal: where its target stands, its source is put beside it.

Nothing is taken to be equal by a proposal. Where the rule itself fires on the source that was put there, the
two become equal, under all of its conditions. So what a source states and the target does not say may be
guessed here, and a wrong guess does no harm.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gslang.check import checked as ir
from gslang.check.walks import readings


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


class _Mirror:
    """`nodes`: the new pattern; inputs keep their numbers.

    `read`: attribute of an old node → where the new pattern shows it.
    """

    def __init__(self, rule: ir.CheckedRule) -> None:
        self.rule = rule
        self.nodes: list[ir.Pattern] = []
        self.matched: dict[int, int] = {}
        self.read: dict[tuple[int, str], ir.NodeAttr] = {}
        self.calls: dict[str, int] = {}
        self.targets: list[ir.Target] = []
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
        spans = tuple([rule.span] * len(self.targets))
        made = ir.TargetGraph(tuple(self.targets), (None,) * len(self.targets), spans, (output,))
        return replace(
            rule, nodes=tuple(self.nodes), inputs=tuple(sorted(used & set(rule.inputs))), outputs=(root,),
            lets=(), captures=(), where=(), where_spans=(), interior=frozenset(), target=made, once=False,
            family=None,
        )

    # ── the target as a pattern ──

    def pattern(self, number: int) -> int:
        """The pattern node for a part of the target."""
        if number in self.matched:
            return self.matched[number]
        match self.rule.target.targets[number]:
            case ir.SourceNode(place=ir.Own(), node=node) if node in self.rule.inputs:
                return node
            case ir.MakeCall(operator=str() as operator, operands=parts, attributes=attributes, spreads=()):
                made = self.call(operator, parts, attributes)
            case ir.MakeTuple(parts):
                made = self.add(
                    ir.TupleNode(name=None, span=self.rule.span, fields=tuple(map(self.pattern, parts)))
                )
            case ir.MakeProj(base, ir.Const() as index):
                constraint = ir.Constraint("index", ir.Equals(index), self.rule.span)
                made = self.add(ir.ProjNode(
                    name=None, span=self.rule.span, base=self.pattern(base), constraints=(constraint,)
                ))
            case _:
                raise _OneWay
        self.matched[number] = made
        return made

    def call(
        self, operator: str, parts: tuple[int, ...], attributes: tuple[tuple[str, ir.Value], ...]
    ) -> int:
        absent = ir.Absent()
        operands = tuple(
            [None if self.rule.target.targets[part] == absent else self.pattern(part) for part in parts]
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
                self.read.setdefault((value.node, value.name), ir.NodeAttr(ir.OWN, made, name))
        return made

    def add(self, node: ir.Pattern) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1

    # ── the source as a target ──

    def target(self, number: int, bound: set[int]) -> int:
        """The target for a node of the source; the inputs in `bound` have been matched."""
        if number in self.built:
            return self.built[number]
        match self.rule.nodes[number]:
            case ir.LeafNode(is_input=True):
                if number not in bound:
                    raise _OneWay
                made: ir.Target = ir.SourceNode(ir.OWN, number)
            case ir.CallNode(operators=(operator,), operands=parts) as node:
                below = tuple(
                    [self.absent() if part is None else self.operand(part, bound) for part in parts]
                )
                made = ir.MakeCall(operator, below, tuple(self.attributes(number, node, operator, bound)))
            case ir.TupleNode(fields=parts):
                made = ir.MakeTuple(tuple([self.operand(part, bound) for part in parts]))
            case ir.ProjNode(
                base=base, constraints=(ir.Constraint(field="index", test=ir.Equals(ir.Const() as index)),)
            ):
                made = ir.MakeProj(self.target(base, bound), index)
            case _:
                raise _OneWay
        self.targets.append(made)
        self.built[number] = len(self.targets) - 1
        return self.built[number]

    def operand(self, part: int | ir.Splice, bound: set[int]) -> int:
        if not isinstance(part, int):
            raise _OneWay
        return self.target(part, bound)

    def absent(self) -> int:
        self.targets.append(ir.Absent())
        return len(self.targets) - 1

    def attributes(
        self, number: int, node: ir.CallNode, operator: str, bound: set[int]
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
        if (number, name) in self.read:
            return self.read[number, name]
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
