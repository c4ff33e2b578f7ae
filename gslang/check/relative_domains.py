"""Values of attributes against domains that depend on ranks and sizes of operands, as far as the rule states
these: `axis = 2` where the operand is a matrix.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gslang.base.diagnostics import Diagnostic, Label
from gslang.base.quick_dataclass import dataclass
from gslang.base.reachable import reachable
from gslang.base.source import Span
from gslang.check import checked as ir
from gslang.check.walks import against_constant, always_matched, conjuncts, walk, within_captures
from gslang.dialect.bounds import Call
from gslang.dialect.call_check import conform
from gslang.dialect.domain import contains
from gslang.dialect.domain_text import domain_text, value_text
from gslang.dialect.signature import Signature


@dataclass(frozen=True, slots=True)
class _Stated:
    """The shape of a node as far as it is stated, and where."""

    shape: tuple[int | None, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class _Made:
    """A call of the source or the target: its operators, the shapes of its operands where they are stated,
    and the values that each attribute may have, with their places.
    """

    operators: tuple[str, ...]
    operands: tuple[_Stated | None, ...]
    values: Mapping[str, tuple[object, ...]]
    spans: Mapping[str, Span]


def check_relative_domains(rule: ir.CheckedRule) -> Iterator[Diagnostic]:
    """An error for each value of an attribute that no call of its operator has with operands as stated.

    Only calls that each match or each target has are judged: an alternative may be meant for other uses of
    the function, or other rows of the family, that it comes from.
    """
    for call in (*_matched(rule), *_built(rule)):
        for name in call.values:
            declared = [s for op in call.operators if (s := rule.dialect.operators.get(op)) is not None]
            if len(declared) == len(call.operators) and all(_is_never(s, call, name) for s in declared):
                yield _finding(declared[0], call, name)


def _matched(rule: ir.CheckedRule) -> Iterator[_Made]:
    """The calls that every match has."""
    stated = dict(_stated(rule))
    always = always_matched(rule)
    for number, call in rule.calls.items():
        if number in always and not call.swappable:
            values = {test.field: found for test in call.tests if (found := _literals(test.test))}
            yield _Made(
                call.operators, tuple([stated.get(_first(rule, part)) for part in call.operands]), values,
                {test.field: test.span for test in call.tests},
            )


def _first(rule: ir.CheckedRule, part: int | None | ir.Splice) -> int:
    """The operand that domains speak of: of a tuple its first field; -1 for other parts."""
    if not isinstance(part, int):
        return -1
    node = rule.nodes[part]
    return _first(rule, node.fields[0]) if isinstance(node, ir.TupleNode) and node.fields else part


def _built(rule: ir.CheckedRule) -> Iterator[_Made]:
    """The calls that every target has, of operators that are named."""
    stated = dict(_stated(rule))
    targets = rule.target.targets

    def below(number: int) -> Sequence[int]:
        return () if isinstance(targets[number], ir.ChosenTarget) else targets[number].parts

    for number in reachable(rule.target.outputs, below):
        call = targets[number]
        if isinstance(call, ir.MakeCall) and isinstance(call.operator, str):
            nodes = [_first_node(targets, part) for part in call.operands]
            values = {name: found for name, v in call.attributes if (found := _literals(ir.Equals(v)))}
            yield _Made(
                (call.operator,), tuple(map(stated.get, nodes)), values,
                dict.fromkeys(values, rule.target.spans[number]),
            )


def _first_node(targets: Sequence[ir.Target], number: int) -> int:
    """The matched node that a target is, or its first field; -1 of others."""
    target = targets[number]
    if isinstance(target, ir.MakeTuple) and target.fields:
        return _first_node(targets, target.fields[0])
    return target.node if isinstance(target, ir.SourceNode) else -1


def _stated(rule: ir.CheckedRule) -> Iterator[tuple[int, _Stated]]:
    """The nodes of which every match has the stated rank."""
    for condition, span in zip(rule.where, rule.where_spans):
        for part in conjuncts((condition,), rule.lets):
            found = None if _reads_parameter(part) else against_constant(part)
            if found is not None and found[1] == "==" and isinstance(found[0], ir.NodeAttr):
                shape = _shape(found[0].name, found[2])
                if found[0].place == ir.OWN and shape is not None:
                    yield found[0].node, _Stated(shape, span)
    for number in always_matched(rule):
        for test in () if rule.nodes[number].optional else rule.nodes[number].tests:
            if (shape := _asked_shape(test)) is not None:
                yield number, _Stated(shape, test.span)


def _asked_shape(test: ir.Constraint) -> tuple[int | None, ...] | None:
    """The shape that a constraint demands, if it settles the rank."""
    asked = within_captures(test.test)
    if isinstance(asked, ir.TupleTest) and test.field == "shape" and asked.back is None:
        sizes = [_literals(item) for item in asked.items]
        return tuple([s[0] if len(s) == 1 and isinstance(s[0], int) else None for s in sizes])
    one = _literals(asked)
    return _shape(test.field, one[0]) if len(one) == 1 else None


def _reads_parameter(condition: ir.Value) -> bool:
    """True if a condition depends on a parameter of the file, which is another one in another run."""
    return any(isinstance(part, ir.Const) and part.name is not None for part in walk(condition))


def _shape(field: str, value: object) -> tuple[int | None, ...] | None:
    """The shape of a node of which the rank or the whole shape is known."""
    match field, value:
        case "ndim", int() if 0 <= value < 100:
            return (None,) * value
        case "shape", tuple() if all(isinstance(size, int) for size in value):
            return value
    return None


def _literals(test: ir.Test) -> tuple[object, ...]:
    """The values that a test admits, if all are written out; else nothing."""
    asked = within_captures(test)
    parts = asked.tests if isinstance(asked, ir.OneOf) else (asked,)
    literals = [ir.literal_of(part) for part in parts]
    found = [literal.value for literal in literals if literal is not None and literal.name is None]
    return tuple(found) if len(found) == len(parts) else ()


def _is_never(signature: Signature, call: _Made, name: str) -> bool:
    """True if an attribute has none of its values in a call with such operands."""
    spec = signature.attributes.get(name)
    if spec is None:
        return False
    shapes: dict[str, tuple[int | None, ...] | None] = {}
    for place, operand in enumerate(call.operands):
        declared = signature.operand(place)
        if declared is not None:
            shapes.setdefault(declared.name, None if operand is None else operand.shape)
    others = {other: some[0] for other, some in call.values.items() if len(some) == 1 and other != name}
    facts = Call(shapes, others)
    return all(contains(spec.domain, conform(value, spec), facts) is False for value in call.values[name])


def _told(name: str, shape: tuple[int | None, ...], sizes: bool) -> str:
    """The known facts about an operand: its sizes, if the domain depends on these, else its rank."""
    if sizes:
        return f"the shape of `{name}` is `({', '.join('_' if d is None else str(d) for d in shape)})`"
    return f"`{name}` has {len(shape)} dimension{'s' * (len(shape) != 1)}"


def _finding(signature: Signature, call: _Made, name: str) -> Diagnostic:
    spec = signature.attributes[name]
    declared = domain_text(spec.domain)
    shown = " or ".join(f"`{value_text(value)}`" for value in call.values[name])
    because = []
    for place, operand in enumerate(call.operands):
        of = signature.operand(place)
        if of is not None and operand is not None and re.search(rf"\b{re.escape(of.name)}\b", declared):
            told = _told(of.name, operand.shape, f"{of.name}.shape[" in declared)
            because.append(Label(operand.span, told))
    return Diagnostic(
        "E0313", f"`{name}` cannot be {shown} here", Label(call.spans[name]), help=f"declared: `{declared}`",
        related=tuple(because),
    )
