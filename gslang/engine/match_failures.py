"""Obstacles in words: a constraint, a condition or a path as "expected" and "found" for people who wrote a
rule.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from gslang.check import checked as ir
from gslang.check.walks import readings
from gslang.dialect.dialect import Dialect
from gslang.dialect.domain_text import value_text
from gslang.dialect.tensor_type import UNKNOWN, Symbol, UnknownValue
from gslang.engine import bodies
from gslang.engine.constraints import tested
from gslang.engine.scope import Scope, evaluate, holds, operators_named
from gslang.engine.values import FAILURES
from gslang.graph.call_text import tuple_text
from gslang.graph.graph import Graph
from gslang.graph.scalar import Scalar

_TOLD = 4  # nodes that a condition reads
_UNKNOWN_HELP = "types come from the graph file or from inference; a condition must be known to be true"


def described(graph: Graph, node: int) -> str:
    """A node as people know it: `nn.relu n3`, `input x`, `constant c`."""
    if node < 0:
        return "an omitted operand"
    kind = graph.kind(node)
    word = {
        "call": f"`{graph.op[node]}`",
        "const": "constant",
        "param": "parameter",
        "proj": "projection",
    }.get(kind, kind)
    return f"{word} {graph.label(node)}"


def also_used(graph: Graph, node: int, others: Sequence[int]) -> str:
    """That these nodes use a node too, at most three by name."""
    return (
        f"{described(graph, node)} is also used by "
        f"{', '.join(described(graph, n) for n in others[:3])}{' …' if len(others) > 3 else ''}"
    )


def shown_operators(names: Iterable[str]) -> str:
    """`a`, `b` and so on, at most five."""
    known = list(dict.fromkeys(name.lstrip("%") for name in names))
    return ", ".join(f"`{name}`" for name in known[:5]) + (
        f" and {len(known) - 5} more" if len(known) > 5 else ""
    )


def shown(value: Any) -> str:
    """A value as the language writes it, cut off where it is long."""
    if isinstance(value, tuple):
        text = tuple_text(map(shown, value))
    elif hasattr(value, "dtype") and hasattr(value, "tolist"):
        text = shown(value.item()) if value.size == 1 else f"an array {list(value.shape)} of {value.dtype}"
    else:
        text = value_text(value)
    return text if len(text) <= 60 else text[:59] + "…"


def constraint_obstacle(
    constraint: ir.Constraint | ir.SameAttributes, node: ir.Pattern, slot: int, scope: Scope
) -> tuple[str, str, str, str]:
    """Reason, what was expected, what was found, and a hint, of a constraint that does not hold."""
    graph, dialect = scope.graph, scope.rule.dialect
    where = described(graph, slot)
    if isinstance(constraint, ir.SameAttributes):
        other = scope.slot(constraint.place, constraint.node)
        return (
            "attribute",
            f"the attributes of {described(graph, other)}",
            f"{where} has different ones: {_differing(graph, dialect, slot, other, constraint)}",
            "`NAME.*, attribute = _` allows one attribute to differ",
        )
    name = constraint.field
    try:
        found = tested(constraint, node, slot, scope)
    except FAILURES as error:
        reason = f"unknown-{_topic(name)}"
        return (
            reason, _wanted(constraint, scope), str(error) or f"`{name}` of {where} is not known",
            _UNKNOWN_HELP,
        )
    text = f"{where} has `{name}` = {shown(found.load() if isinstance(found, Scalar) else found)}"
    if isinstance(constraint.test, ir.Computes):
        text = f"`{name}` of {where} returns {bodies.described(found, graph.label)}"
    if _has_unknown(found):
        return f"unknown-{_topic(name)}", _wanted(constraint, scope), text, _UNKNOWN_HELP
    topic = {"shape": "shape", "ndim": "rank", "dtype": "dtype", "value": "constant-value"}.get(
        name, "attribute"
    )
    help = {
        "attribute": f"`{name} = _` accepts any value",
        "constant-value": "an input `c: const` in its place accepts any constant",
    }
    otherwise = f"without `{name}`, any value would match here"
    return topic, _wanted(constraint, scope), text, help.get(topic, otherwise)


def _topic(name: str) -> str:
    return {"shape": "shape", "ndim": "rank", "dtype": "dtype", "value": "value"}.get(name, "attribute")


def _has_unknown(value: object) -> bool:
    if isinstance(value, tuple):
        return any(map(_has_unknown, value))
    return value is UNKNOWN or isinstance(value, Symbol)


def _wanted(constraint: ir.Constraint, scope: Scope) -> str:
    """`axis = 1`, or the constraint as it is written where it is no single value."""
    match constraint.test:
        case ir.AgainstValue() as test:
            try:
                return f"`{constraint.field}` = {shown(evaluate(test.value, scope))}"
            except FAILURES as error:
                return f"a value for `{constraint.field}` that is not known: {error}"
    written = " ".join(constraint.span.text.split())
    read: dict[str, str] = {}
    _read_values(constraint.test, scope, read, set())
    values = ", ".join(f"{name} = {text}" for name, text in read.items())
    return (f"`{written}`" if "=" in written else f"`{constraint.field} = {written}`") + (
        f", where {values}" if values else ""
    )


def _differing(graph: Graph, dialect: Dialect, a: int, b: int, constraint: ir.SameAttributes) -> str:
    sides = []
    for node in (a, b):
        signature = dialect.operators.get(graph.op[node]) if node >= 0 else None
        given = graph.attrs[node] if node >= 0 else {}
        sides.append(signature.complete(given) if signature else dict(given))
    left, right = sides
    names = [
        n for n in {**left, **right} if n not in constraint.without and left.get(n, ...) != right.get(n, ...)
    ]
    return ", ".join(f"`{n}` = {shown(left.get(n))}, not {shown(right.get(n))}" for n in names[:3])


def where_obstacle(condition: ir.Value, scope: Scope) -> tuple[str, str, str]:
    """The demand of a condition, the values it read, and the reason ("where", or "where-unknown")."""
    parts = failing_parts(condition, scope)
    reasons = [_unknown(part, scope) for part in parts]
    if None in reasons:  # what is false decides
        parts = [part for part, why in zip(parts, reasons) if why is None]
        reason, problem = "where", ""
    else:
        reason, problem = "where-unknown", reasons[0] or ""
    values: dict[str, str] = {}
    for part in parts:
        _read_values(part, scope, values, set())
    read = ", ".join(f"{name} = {text}" for name, text in values.items())
    if values and (found := nodes_read(parts, scope)):
        told = [
            f"{scope.rule.nodes[node].name} is {described(scope.graph, slot)}"
            for node, slot in list(found.items())[:_TOLD]
        ]
        read += f"; {', '.join(told)}"
    return (
        "this condition to be true",
        f"it is {'unknown' if problem else 'false'}{': ' + read if read else ''}{problem}", reason,
    )


def _unknown(condition: ir.Value, scope: Scope) -> str | None:
    """Words that a condition is not known; None for one that is false."""
    try:
        evaluate(condition, scope)
    except FAILURES as error:
        return f"; not known: {error}" if str(error) else "; not known"
    return None


def failing_parts(condition: ir.Value, scope: Scope) -> list[ir.Value]:
    """Of conditions that are joined by `and`, those that do not hold; of others, the condition itself."""
    if not isinstance(condition, ir.AllOf):
        return [condition]
    failing = [item for item in condition.items if not holds(item, scope)]
    return [part for item in failing for part in failing_parts(item, scope)] or [condition]


def nodes_read(condition: object, scope: Scope) -> dict[int, int]:
    """Pattern nodes with names, outside of templates, whose attributes a condition reads, with what they
    matched.
    """
    nodes, found = scope.rule.nodes, dict[int, int]()
    for part in readings(condition, scope.rule.lets):
        if (
            isinstance(part, (ir.NodeAttr, ir.Uses)) and nodes[part.node].block is None
            and nodes[part.node].name and scope.slots[part.node] >= 0
        ):
            found[part.node] = scope.slots[part.node]
    return dict(sorted(found.items()))


def _read_values(value: object, scope: Scope, found: dict[str, str], done: set[int]) -> None:
    """Sub-expressions that read the graph, with their values, as they come.

    `done`: ids of those looked at, for they are shared.
    """
    if id(value) in done:
        return
    done.add(id(value))
    nodes = scope.rule.nodes
    match value:
        case ir.NodeAttr(place, node, name):
            text = (
                f"{nodes[node].name or described(scope.graph, scope.slots[node])}.{name}"
                if nodes[node].block is None
                else f"{nodes[node].name or nodes[node].span.text}.{name}"
            )
            if isinstance(place, ir.At):
                try:
                    index = evaluate(place.index, scope)
                    whose = nodes[node].name or nodes[node].span.text
                    text = f"{scope.rule.blocks[place.block].name}[{index}].{whose}.{name}"
                except FAILURES:
                    return
            found.setdefault(text, _value_text(value, scope))
            return
        case ir.Uses(what, _, node, operators, attributes, body):
            more = "".join(f", {name} = {_value_text(part, scope)}" for name, part in attributes)
            whose = "" if operators is None else f", {_operators_text(operators, scope)}"
            asked = (nodes[node].name or nodes[node].span.text) + ("" if body is None else f".{body}")
            found.setdefault(f"{what}({asked}{whose}{more})", _value_text(value, scope))
            return
        case ir.Const(constant, str() as name):
            found.setdefault(name, shown(constant))
            return
        case ir.Length(block):
            found.setdefault(f"len({scope.rule.blocks[block].name})", _value_text(value, scope))
        case ir.Captured(_, number):
            found.setdefault(scope.rule.captures[number], _value_text(value, scope))
        case ir.Let(_, number):
            _read_values(scope.rule.lets[number], scope, found, done)
        case ir.IsAbsent(_, node):
            found.setdefault(f"{nodes[node].name} == none", _value_text(value, scope))
        case ir.SameNode((_, a), (_, b)):
            for node in (a, b):
                found.setdefault(
                    str(nodes[node].name),
                    described(scope.graph, scope.slots[node]) if nodes[node].block is None
                    else "an instance's",
                )
    if is_dataclass(value) and not isinstance(value, type):
        for part in fields(value):
            _read_values(getattr(value, part.name), scope, found, done)
    elif isinstance(value, tuple):
        for item in value:
            _read_values(item, scope, found, done)


def _operators_text(operators: ir.Value, scope: Scope) -> str:
    try:
        names = operators_named(operators, scope)
    except FAILURES:
        return "?"
    return (
        names if isinstance(names, str)
        else "no operator" if not names
        else f"one of {len(names)} operators" if len(names) > 4
        else " | ".join(map(str, names))
    )


def _value_text(value: ir.Value, scope: Scope) -> str:
    try:
        return shown(evaluate(value, scope))
    except UnknownValue:
        return "?"
    except FAILURES as error:
        return f"? ({error})"


def path_between(
    graph: Graph, starts: Collection[int], targets: Collection[int], below: dict[int, int | None]
) -> list[int] | None:
    """The nodes from one of `targets` over users to one of `starts`, if there is such a path.

    `below` gets what was looked at.
    """
    wanted = set(targets)
    label = graph.ordered().label
    bound = min(label[node] for node in wanted)
    below.update((node, None) for node in starts if label[node] >= bound)
    stack = list(below)
    while stack:
        node = stack.pop()
        if node in wanted:
            path: list[int] = []
            step: int | None = node
            while step is not None:
                path.append(step)
                step = below[step]
            return path
        for operand in graph.operands[node]:
            if operand >= 0 and operand not in below and label[operand] >= bound:
                below[operand] = node
                stack.append(operand)
    return None
