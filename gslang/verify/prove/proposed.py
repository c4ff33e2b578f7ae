"""The attributes of a call of the source, and the values that its constraints propose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gslang.check import checked as ir
from gslang.dialect.signature import Signature
from gslang.dialect.tensor_type import UnknownValue
from gslang.engine.proposals import UNSAID, Proposals, Unsaid
from gslang.verify.prove.case import Case
from gslang.verify.prove.operators.alternatives import alternatives
from gslang.verify.prove.operators.domains import Attributes, Written, fresh
from gslang.verify.prove.operators.operators import open_attribute
from gslang.verify.prove.operators.tensors import Value
from gslang.verify.prove.operators.uninterpreted import is_of_a_file, open_value
from gslang.verify.prove.terms.paths import NotProved


def attributes_of(
    case: Case, number_: int, call: ir.CallNode, operator: str, signature: Signature,
    operands: Sequence[Value],
) -> Attributes:
    """All attributes of a call: copied, proposed by constraints, said by conditions, or open."""
    tests = {constraint.field: constraint for constraint in call.tests if not case.says_nothing(constraint)}
    given = _copied(case, call, operator, signature, operands)
    attrs = Attributes()
    # others read layouts and transpositions
    for name, spec in sorted(
        signature.attributes.items(), key=lambda item: not ("layout" in item[0] or "transpose" in item[0])
    ):
        if name in given:
            attrs[name] = given[name]
            continue
        constraint = tests.get(name)
        test, wanted = (None, None) if constraint is None else (constraint.test, constraint.equal_to)
        if wanted is not None and (copied := case.as_written(wanted, operator, operands)) is not None:
            attrs[name] = copied
            continue
        if test is None and (number_, name) in case.watched.fixed:
            attrs[name] = case.watched.fixed[number_, name]
            continue
        if isinstance(test, ir.Computes):
            raise NotProved("body patterns are not supported")
        numbers, choices = case.world.facts.number, case.world.facts.choices
        # of an operator that a file declares nothing says that different values mean the same
        found = None
        if test is not None and not (signature.departs or is_of_a_file(case.rule.dialect, operator)):
            found = alternatives(choices, test, signature, spec, operands, numbers)
        if found is not None:
            attrs[name] = found
            attrs.fitting |= {name}
            continue
        chosen = UNSAID if test is None else Proposed(case, operator, name)(test)
        if chosen is not UNSAID:
            attrs[name] = chosen
        elif operator in case.world.unknown:
            attrs[name] = open_value(case.world, spec)
        else:
            attrs[name] = open_attribute(case.world, case.rule.dialect, operator, spec, operands, attrs)
        if isinstance(test, ir.Capture) and not isinstance(attrs.get(name), Written):
            case.scope.bind(test.capture, attrs[name])
    for operand in signature.operands:
        if operand.attribute is not None and operand.name in tests:
            chosen = Proposed(case, operator, operand.name)(tests[operand.name].test)
            if chosen is UNSAID:
                raise NotProved("an operand that was an attribute in earlier opsets is unconstrained")
            attrs[operand.name] = chosen
    return attrs


def _copied(
    case: Case, call: ir.CallNode, operator: str, signature: Signature, operands: Sequence[Value]
) -> dict[str, object]:
    """The attributes that a call has from others (`a.*`)."""
    given: dict[str, Any] = {}
    for constraint in call.copies:
        if case.says_nothing(constraint):
            continue
        other = case.scope.slot(constraint.place, constraint.node)
        if (
            other < 0 and isinstance(constraint.place, ir.First) and case.scope.current is not None
            and case.scope.current.index == 0
        ):
            continue  # the first instance and itself
        if other < 0:
            raise NotProved("copying attributes of a node that is matched later is not supported")
        own = case.copied(other, operator, operands, list(signature.attributes))
        given.update({name: v for name, v in own.items() if name not in constraint.without})
    return given


class Proposed(Proposals):
    """Proposals of a case: what may pass is a case, and numbers in it that are not fixed are symbols."""

    def __init__(self, case: Case, operator: str, name: str) -> None:
        super().__init__(case.scope)
        self.case, self.operator, self.name = case, operator, name

    def __call__(self, test: ir.Test, default: object = UNSAID) -> Any:
        """The value that passes, `UNSAID` where the test says too little; what it gives is tested again."""
        try:
            return super().__call__(test, default)
        except UnknownValue:
            return default

    def evaluate(self, value: ir.Value) -> Any:
        return self.case.evaluate(value)

    def holds(self, condition: ir.Value) -> bool:
        return self.case.holds(condition)

    def picked(self, tests: tuple[ir.Test, ...]) -> ir.Test:
        return tests[self.case.world.facts.choices.choose(len(tests))]

    def items(self, default: object, count: int, more: bool) -> tuple[Any, ...] | None:
        return (Unsaid(default.depth + 1),) * count if isinstance(default, Unsaid) and not more else None

    def settled(self, found: object) -> Any:
        if isinstance(found, Unsaid) and found.depth:
            return fresh(self.case.world, self.operator, self.name, found.depth)
        return found
