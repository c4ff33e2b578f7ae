"""The part of a rule that hosts which know only patterns can say: calls, wildcards, stated attributes, and
attributes that are handed on.

A plain rule is a list of calls on either side. Whatever else a rule asks for (`where`, types, templates,
alternatives) is a condition that such a host would leave out, and then the rule would be applied where it is
wrong: it is refused, with the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any, Union

import numpy as np

from gslang.base.quick_dataclass import dataclass
from gslang.check import checked as ir
from gslang.check.target_reading import TargetReading
from gslang.graph.graph import TUPLE


class Refused(Exception):
    """The host cannot say the rule. The message says why."""


@dataclass(frozen=True, slots=True)
class Bound:
    """An attribute that has any value, which is handed on: `name`, the same wherever it is used."""

    name: str


@dataclass(frozen=True, slots=True)
class Number:
    """A constant operand. `value`: a NumPy array."""

    value: Any


Operand = Union[str, Number, None]


@dataclass(frozen=True, slots=True)
class Call:
    """`outputs`: names of its results, empty where one is not read.

    `attributes`: values, or `Bound`. None as an operand: absent.
    """

    domain: str
    operator: str
    operands: tuple[Operand, ...]
    attributes: tuple[tuple[str, object], ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plain:
    """`inputs`: names of the wildcards.

    `source`, `target`: calls, operands before users; `outputs`, `results`: what they lead to.
    """

    name: str
    doc: str
    inputs: tuple[str, ...]
    source: tuple[Call, ...]
    outputs: tuple[str, ...]
    target: tuple[Call, ...]
    results: tuple[str, ...]


def plain(rule: ir.CheckedRule) -> Plain:
    """A rule as calls. Raises `Refused`."""
    if rule.dialect.name != "onnx":
        raise Refused(f"its dialect is {rule.dialect.name}, not onnx")
    for condition, why in (
        (bool(rule.where), "it has a `where` condition"),
        (any(block.previous is None for block in rule.blocks), "it has an `each` template"),
        (any(block.previous is not None for block in rule.blocks), "it has a `chain`"),
        (bool(rule.variables), "it has an operator variable"),
        (rule.changes is not None, "it changes values (`@changes`)"),
        (rule.disconnected, "its outputs share nothing (`@disconnected`)"),
        (rule.opset != (None, None), "it is restricted to some operator sets (`@opset`)"),
        (ir.attaches(rule), "it attaches metadata (`@attach`)"),
    ):
        if condition:
            raise Refused(why)
    return _Writer(rule).run()


@dataclass(slots=True)
class _Writer(TargetReading[Operand]):
    rule: ir.CheckedRule
    names: dict[int, str] = field(default_factory=dict)
    made: dict[int, Operand] = field(default_factory=dict)
    bound: dict[tuple[int, str], Any] = field(default_factory=dict)
    source: list[Call] = field(default_factory=list)
    target: list[Call] = field(default_factory=list)
    used: set[str] = field(default_factory=set)

    def run(self) -> Plain:
        rule = self.rule
        self.bind()
        outputs = [self.pattern(number) for number in rule.outputs]
        results = []
        for number in rule.target.outputs:
            made = self.of_target(number)
            # hosts rename values: an input or a constant needs a node
            if not isinstance(made, str) or made in self.names.values():
                made = self.add("Identity", (made,), (), 1, self.target)[0]
            results.append(made)
        inputs = tuple([self.names[number] for number in sorted(self.names)])
        doc = " ".join((rule.doc or "").split())
        return Plain(
            rule.name, doc, inputs, tuple(self.source), tuple(map(str, outputs)), tuple(self.target),
            tuple(results),
        )

    def fresh(self, wanted: str) -> str:
        made, k = wanted, 2
        while made in self.used:
            made, k = f"{wanted}_{k}", k + 1
        self.used.add(made)
        return made

    # ── attributes ──

    def bind(self) -> None:
        """Names for the attributes that the target reads, and for those that calls of the source must share.
        """
        given = [value for call in self.rule.target.calls for _, value in call.attributes]
        given += [c.equal_to for node in self.rule.nodes for c in node.tests if c.equal_to is not None]
        calls = self.rule.calls
        for value in given:
            if (
                isinstance(value, ir.NodeAttr) and value.node in calls
                and (value.node, value.name) not in self.bound
                and value.name not in ("shape", "dtype", "ndim", "op", "kind")
            ):
                self.bound[value.node, value.name] = Bound(self.fresh(f"{value.name}_{value.node}"))

    def stated(self, number: int, node: ir.Pattern) -> list[tuple[str, object]]:
        found: dict[str, object] = {}
        signature = self.rule.dialect.operators[node.operators[0]]
        for constraint in node.constraints:
            name = getattr(constraint, "field", "")
            if (
                name not in signature.attributes or not isinstance(constraint, ir.Constraint)
                or constraint.equal_to is None
            ):
                raise Refused(f"`{node.operators[0]}` has a condition" + (f" on its {name}" if name else ""))
            copied = ir.copied_of(constraint.test)
            if constraint.literal is not None:
                found[name] = constraint.literal.value
            elif copied is not None and (copied.node, copied.name) in self.bound:
                found[name] = self.bound[copied.node, copied.name]
            else:
                raise Refused(
                    f"`{name}` of `{node.operators[0]}` is compared with a computed value"
                )
        for (owner, name), value in list(self.bound.items()):
            if owner != number:
                continue
            if name in found:
                self.bound[owner, name] = found[name]  # a stated value is known where it is read
            else:
                found[name] = value
        return [
            (name, found[name]) for name in signature.attributes if name in found and found[name] is not None
        ]

    # ── the source ──

    def pattern(self, number: int) -> Operand:
        if number not in self.made:
            self.made[number] = self.match(number)
        return self.made[number]

    def match(self, number: int) -> Operand:
        node = self.rule.nodes[number]
        if isinstance(node, ir.LeafNode):
            return self.leaf(number, node) if node.is_input else Number(self.number(node))
        if isinstance(node, ir.ProjNode):
            return self.field(self.pattern(node.base), node)
        if len(node.operators) != 1:
            raise Refused("it has alternatives" + (" for an operator" if node.operators else ""))
        (operator,) = node.operators
        if operator == TUPLE:
            raise Refused("it matches a tuple")
        if node.keep:
            raise Refused(f"`keep {operator}` allows other users of a call")
        operands = tuple([None if part is None else self.operand(part) for part in node.parts])
        stated = tuple(self.stated(number, node))
        return self.add(operator, operands, stated, self.results(operator), self.source, node.name)[0]

    def results(self, operator: str) -> int:
        """The number of an operator's results."""
        found = self.rule.dialect.operators[operator].results
        if found == "tuple":
            raise Refused(f"`{operator}` has a variable number of results")
        return len(found) if isinstance(found, tuple) else 1

    def operand(self, part: int | ir.Splice) -> Operand:
        if not isinstance(part, int):
            raise Refused("it has an `each` template")
        return self.pattern(part)

    def field(self, base: Operand, node: ir.ProjNode) -> Operand:
        for constraint in node.tests:
            if constraint.literal is not None:
                call = next(c for c in self.source if base in c.outputs)
                return call.outputs[int(constraint.literal.value)]
        raise Refused("the index of the result that it reads is computed")

    def leaf(self, number: int, node: ir.LeafNode) -> str:
        if node.optional:
            raise Refused(f"`{node.name}` may be absent")
        if node.kind != "any":
            raise Refused(f"`{node.name}` must be of kind {node.kind}")
        if node.constraints:
            fields = ", ".join(dict.fromkeys(getattr(c, "field", "type") for c in node.constraints))
            raise Refused(f"`{node.name}` has a condition on its {fields}")
        self.names[number] = self.fresh(node.name or f"x{number}")
        return self.names[number]

    def number(self, node: ir.LeafNode) -> Any:
        value, dtype = None, None
        for constraint in node.constraints:
            field, test = getattr(constraint, "field", ""), getattr(constraint, "test", None)
            if field == "value" and isinstance(test, ir.ConstantEquals):
                test = ir.Equals(test.value)
            known = ir.literal_of(test)
            if known is None or field not in ("value", "dtype"):
                raise Refused("it has a condition on a constant")
            value, dtype = (known.value, dtype) if field == "value" else (value, known.value)
        if value is None:
            raise Refused("it matches any constant")
        return array_of(value, dtype)

    # ── the target ──

    @property
    def targets(self) -> Sequence[ir.Target]:
        return self.rule.target.targets

    def of_matched(self, number: int, target: ir.SourceNode) -> Operand:
        if target.node not in self.names:
            read = self.rule.nodes[target.node].name or "a call"
            raise Refused(f"its target reads {read} of the source, which is removed")
        return self.names[target.node]

    def of_absent(self, number: int, target: ir.Absent) -> Operand:
        return None

    def of_constant(self, number: int, target: ir.MakeConst) -> Operand:
        value, dtype = target.value, target.dtype
        if not isinstance(value, ir.Const) or target.splat_shape is not None or target.as_tuple:
            return self.of_other(number, target)
        if dtype is not None and not isinstance(dtype, ir.Const):
            raise Refused("the element type of a constant is computed")
        return Number(array_of(value.value, None if dtype is None else dtype.value))

    def of_projection(self, number: int, target: ir.MakeProj) -> Operand:
        made = self.of_target(target.base) if isinstance(target.index, ir.Const) else None
        call = next((c for c in self.target if made in c.outputs), None)
        if call is None or not isinstance(target.index, ir.Const):
            return self.of_other(number, target)
        return call.outputs[int(target.index.value)]

    def of_call(self, number: int, target: ir.MakeCall) -> Operand:
        operator, key = target.operator, -1 - number
        if not isinstance(operator, str) or target.spreads:
            return self.of_other(number, target)
        if key not in self.made:
            operands = tuple([self.of_target(part) for part in target.operands])
            stated: list[tuple[str, object]] = []
            for name, value in target.attributes:
                match value:
                    case ir.Const(value=known):
                        stated += [(name, known)] if known is not None else []
                    case ir.NodeAttr(node=node, name=field) if (node, field) in self.bound:
                        stated.append((name, self.bound[node, field]))
                    case _:
                        raise Refused(f"`{name}` of `{operator}` is computed")
            count = self.results(operator)
            self.made[key] = self.add(operator, operands, tuple(stated), count, self.target)[0]
        return self.made[key]

    def of_other(self, number: int, target: ir.Target) -> Operand:
        raise Refused("the structure of its target is computed")

    def add(
        self,
        operator: str,
        operands: tuple[Operand, ...],
        attributes: tuple[tuple[str, object], ...],
        count: int,
        side: list[Call],
        name: str | None = None,
    ) -> tuple[str, ...]:
        domain, _, own = operator.rpartition(".")
        wanted = name or ("n" if side is self.source else "m") + str(len(side) + 1)
        outputs = tuple([self.fresh(wanted if count == 1 else f"{wanted}_{k}") for k in range(count)])
        side.append(Call(domain, own, operands, attributes, outputs))
        return outputs


def array_of(value: object, dtype: str | None) -> object:
    """A constant: numbers with a point are float32 unless stated, others int64."""
    array = np.asarray(value)
    if dtype is not None:
        return array.astype(dtype)
    return array.astype(
        np.float32 if array.dtype.kind == "f" else array.dtype if array.dtype.kind == "b" else np.int64
    )
