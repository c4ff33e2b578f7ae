"""The attributes of a call of the source, and the values that its constraints propose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gslang.check import checked as ir
from gslang.dialect.signature import Signature
from gslang.dialect.tensor_type import UnknownValue
from gslang.verify.prove.case import Case
from gslang.verify.prove.domains import Attributes, Written, fresh
from gslang.verify.prove.operators import open_attribute
from gslang.verify.prove.paths import NotProved
from gslang.verify.prove.tensors import Value


def attributes_of(
    case: Case, call: ir.CallNode, operator: str, signature: Signature, operands: Sequence[Value]
) -> Attributes:
    """All attributes of a call: copied, proposed by constraints, or open."""
    tests = {constraint.field: constraint.test for constraint in call.tests}
    given = _copied(case, call, operator, signature, operands)
    attrs = Attributes()
    # others read layouts and transpositions
    for name, spec in sorted(
        signature.attributes.items(), key=lambda item: not ("layout" in item[0] or "transpose" in item[0])
    ):
        if name in given:
            attrs[name] = given[name]
            continue
        found, chosen = False, None
        test = tests.get(name)
        if (
            isinstance(test, ir.Equals)
            and (copied := case.as_written(test.value, operator, operands)) is not None
        ):
            attrs[name] = copied
            continue
        if test is not None:
            found, chosen = propose(case, test, operator, name)
        attrs[name] = (
            chosen if found
            else open_attribute(case.world, case.rule.dialect, operator, spec, operands, attrs)
        )
        if isinstance(test, ir.Capture) and not isinstance(attrs.get(name), Written):
            capture(case, test.capture, attrs[name])
    for operand in signature.operands:
        if operand.attribute is not None and operand.name in tests:
            found, chosen = propose(case, tests[operand.name], operator, operand.name)
            if not found:
                raise NotProved("an operand that stands as an attribute and may be any")
            attrs[operand.name] = chosen
    return attrs


def _copied(
    case: Case, call: ir.CallNode, operator: str, signature: Signature, operands: Sequence[Value]
) -> dict[str, Any]:
    """The attributes that a call has from others (`a.*`)."""
    given: dict[str, Any] = {}
    for constraint in call.copies:
        other = case.scope.slot(constraint.place, constraint.node)
        if (
            other < 0 and isinstance(constraint.place, ir.First) and case.scope.current is not None
            and case.scope.current.index == 0
        ):
            continue  # the first instance and itself
        if other < 0:
            raise NotProved("attributes of what comes later")
        own = case.copied(other, operator, operands, list(signature.attributes))
        given.update({name: v for name, v in own.items() if name not in constraint.without})
    return given


def propose(case: Case, test: ir.Test, operator: str, name: str, depth: int = 0) -> tuple[bool, object]:
    """(True, the value that passes) where the test says enough; what it gives is tested again.

    `depth`: of lists around the test.
    """
    match test:
        case ir.Equals(value):
            try:
                return True, case.evaluate(value)
            except UnknownValue:
                return False, None
        case ir.Capture(number_, inner):
            found, chosen = propose(case, inner, operator, name, depth)
            if not found and depth:
                found, chosen = True, fresh(case.world, operator, name, depth)
            if found:
                capture(case, number_, chosen)
            return found, chosen
        case ir.OneOf(tests):
            return propose(case, tests[case.world.facts.choices.choose(len(tests))], operator, name, depth)
        case ir.Computes():
            raise NotProved("what a body computes")
        case ir.IfTest(condition, then, otherwise):
            return propose(case, then if case.holds(condition) else otherwise, operator, name, depth)
        case ir.TupleTest(items) if not any(isinstance(i, ir.Rest) for i in items):
            result = []
            for item in items:
                found, chosen = (
                    (False, None) if isinstance(item, ir.Rest)
                    else propose(case, item, operator, name, depth + 1)
                )
                result.append(chosen if found else fresh(case.world, operator, name, depth + 1))
            return True, tuple(result)
    return False, None


def capture(case: Case, number_: int, value: object) -> None:
    """Bind a name in the pattern, for what comes after it."""
    (case.scope.captures if case.scope.current is None else case.scope.current.captures)[number_] = value
