"""Ties: conjunctions of attributes, shapes, types or values that are equal, under which many rules hold."""

from __future__ import annotations

from collections.abc import Sequence

from gslang.check import checked as ir
from gslang.dialect.domain_text import value_text
from gslang.dialect.signature import REQUIRED
from gslang.generalize.candidates import Named, equal_fields, named_nodes
from gslang.generalize.draft import Condition


def ties_of(rule: ir.CheckedRule, nodes: Sequence[Named]) -> list[list[Condition]]:
    """Conjunctions under which many rules hold, to draw good samples from; the first is none at all."""
    leaves = [node for node in nodes if node.operator is None]
    calls = [node for node in nodes if node.operator is not None]
    attributes, weights = _same_operators(rule, calls)
    types = [equal_fields(a, leaves[0], "dtype") for a in leaves[1:]]
    shapes = [equal_fields(a, leaves[0], "shape") for a in leaves[1:]]
    defaults = [
        Condition(f"{c.name}.{name} == {value_text(spec.default)}", 1, c.name, name, value_text(spec.default))
        for c in calls
        for name, spec in rule.dialect.operators[c.operator or ""].attributes.items()
        if spec.default is not REQUIRED
    ]
    made = [
        [], *_likely_constants(rule, leaves), [*attributes, *weights], [*attributes, *types, *shapes],
        attributes, weights, types,
        [*types, *shapes], [*attributes, *types], defaults, [*defaults, *weights, *types],
    ]
    unique: dict[str, list[Condition]] = {}
    for ties in made:
        said = sorted({(c.node, c.field, c.value if c.field == "value" else "") for c in ties})
        unique.setdefault(f"{said} {len(ties)}", ties)
    return list(unique.values())


def _likely_constants(rule: ir.CheckedRule, leaves: Sequence[Named]) -> list[list[Condition]]:
    """Values that constants often must have."""
    numbers = [leaf for leaf in leaves if rule.nodes[leaf.number].kind == "const"]  # type: ignore[union-attr]
    return [
        [Condition(f"{leaf.name}.value == {value}", 1, leaf.name, "value", value)]
        for leaf in numbers
        for value in ("0", "1", "2")
    ]


def _same_operators(rule: ir.CheckedRule, calls: Sequence[Named]) -> tuple[list[Condition], list[Condition]]:
    """Calls of one operator with equal attributes, and leaves that are the same operand of them with equal
    types.
    """
    attributes, weights = [], []
    by_number = {node.number: node for node in named_nodes(rule)}
    first: dict[str, Named] = {}
    for call in calls:
        other = first.setdefault(call.operator or "", call)
        if other is call:
            continue
        attributes.append(Condition("", 1, call.name, "*", other.name))
        for a, b in zip(_operands(rule, other), _operands(rule, call), strict=False):
            if (
                a != b and a in by_number and b in by_number and by_number[a].operator is None
                and by_number[b].operator is None
            ):
                weights += [
                    equal_fields(by_number[a], by_number[b], field) for field in ("shape", "dtype")
                ]
    return attributes, weights


def _operands(rule: ir.CheckedRule, call: Named) -> list[int]:
    """The operands of a call, the fields of a tuple one by one."""
    found: list[int] = []
    waiting = [call.number]
    while waiting:
        number = waiting.pop()
        match rule.nodes[number]:
            case ir.TupleNode(fields=parts):
                waiting += [k for k in reversed(parts) if isinstance(k, int)]
            case ir.CallNode(operands=parts) if number == call.number:
                waiting += [k for k in reversed(parts) if isinstance(k, int)]
            case _:
                found.append(number)
    return found
