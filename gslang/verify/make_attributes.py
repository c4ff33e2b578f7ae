"""Attributes of the calls of instances: those that a rule's constraints fix, and values for open ones."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from gslang.base.open_types import Attrs
from gslang.check import checked as ir
from gslang.dialect.domain import Interval, ListOf
from gslang.dialect.domain_values import draw
from gslang.dialect.signature import REQUIRED, AttributeType, Signature
from gslang.engine.values import FAILURES
from gslang.graph.graph import CONST
from gslang.verify.leaves import Leaves, Misfit, reads_itself


class CallAttributes(Leaves):
    """The state of one attempt, and how attributes of its calls are chosen."""

    def call_attributes(
        self,
        number: int,
        call: ir.CallNode,
        operator: str,
        slots: Mapping[int, int],
        sampled: Attrs,
        given: Attrs,
        rng: Random,
    ) -> dict[str, object]:
        """All attributes of a call. Raises `Misfit` if one depends on nodes that are not made yet.

        `sampled`: what a sampler proposed, `given`: what constraints fix, as far as it is known.
        """
        signature = self.rule.dialect.operators[operator]
        proposed = dict(sampled)
        if (
            "dtype" in signature.attributes and "dtype" not in proposed
            and signature.attributes["dtype"].default != ""
        ):
            proposed["dtype"] = self.dtype
        proposed.update(self.varied(rng, signature, slots, len(call.operands), {**proposed, **given}, given))
        for name, spec in signature.attributes.items():
            if name not in proposed and isinstance(spec.default, bool) and rng.random() < 0.2:
                proposed[name] = not spec.default
            elif (
                name not in proposed and spec.default is REQUIRED
                and (value := _some_value(rng, spec.types[0])) is not None
            ):
                proposed[name] = value
            elif (
                name not in proposed and type(spec.default) is float and "elementwise" in signature.traits
                and rng.random() < 0.4
            ):
                proposed[name] = rng.choice((0.25, 0.5, 1.5))
        given, later = self.attributes(number, call, operator, proposed, settle=True)
        if later:
            raise Misfit(f"attribute `{later[0]}` of `{operator}` depends on what is not there")
        return {name: value for name, value in {**proposed, **given}.items() if name in signature.attributes}

    def varied(
        self,
        rng: Random,
        signature: Signature,
        slots: Mapping[int, int],
        count: int,
        known: Attrs,
        given: Attrs,
    ) -> dict[str, object]:
        """Values from their domains for one or two attributes that the rule leaves open, whatever samplers
        think of them.
        """
        names = [name for name in signature.attributes if name not in given]
        told = signature.call(
            tuple([self.graph.types[slots[k]] if slots.get(k, -1) >= 0 else None for k in range(count)]),
            known,
        )
        result: dict[str, object] = {}
        for name in self.to_vary(rng, signature, names):
            spec = signature.attributes[name]
            try:
                value = draw(spec.domain, rng, told)
                if self.stressed == (signature.name, name) and value == spec.default:
                    value = draw(spec.domain, rng, told)
            except LookupError:
                continue
            if (
                isinstance(value, int) and not isinstance(value, bool) and spec.domain == Interval("int")
                and spec.default in (0, 1)
            ):
                value = 1 - int(spec.default)  # nearly always a truth value
            if isinstance(spec.default, tuple) and spec.default and spec.domain == ListOf(Interval("int")):
                value = tuple(rng.choice((d, d + 1)) for d in spec.default)
            result[name] = value
        if result.get("auto_pad", "NOTSET") != "NOTSET" and "pads" not in given:
            result["pads"] = None  # there are none to give then
        return result

    def to_vary(self, rng: Random, signature: Signature, names: list[str]) -> list[str]:
        """Mostly one or two of the open attributes, so that the others fit; about half of them where that is
        wished for or now and then.
        """
        if self.stressed is None and rng.random() < 0.85:
            return rng.sample(names, min(len(names), rng.choice((0, 0, 1, 1, 2))))
        return [name for name in names if self.stressed == (signature.name, name) or rng.random() < 0.5]

    def values(self, slots: Mapping[int, int]) -> dict[str, object]:
        """Settled constant operands of whole numbers, by place: samplers read axes and shapes in them."""
        found: dict[str, object] = {}
        for k, slot in slots.items():
            value = self.graph.value(slot) if slot >= 0 and self.graph.op[slot] is CONST else None
            if value is not None and value.dtype.kind == "i" and value.ndim <= 1:
                found[f"%{k}"] = tuple(value.tolist()) if value.ndim else int(value)
        return found

    def attributes(
        self, number: int, call: ir.CallNode, operator: str, proposed: Attrs, settle: bool = False
    ) -> tuple[dict[str, object], list[str]]:
        """Attributes that constraints fix, and those that cannot be computed yet.

        `settle`: also tuples of which a constraint says no more than that they have some items; until then
        they are the sampler's.
        """
        given: dict[str, object] = {}
        later: list[str] = []
        declared = self.rule.dialect.operators[operator]
        for constraint in call.constraints:
            if isinstance(constraint, ir.SameAttributes):
                other = self.scope.slot(constraint.place, constraint.node)
                if other >= 0:
                    own = declared.complete(self.graph.attrs[other])
                    given.update(
                        {name: value for name, value in own.items() if name not in constraint.without}
                    )
            elif constraint.field in declared.attributes:
                spec = declared.attributes[constraint.field]
                default = proposed.get(
                    constraint.field, spec.default if constraint.field in declared.defaults else None
                )
                if isinstance(constraint.test, ir.Anything):
                    continue
                if (
                    constraint.field not in proposed and isinstance(constraint.test, ir.Capture)
                    and isinstance(constraint.test.test, ir.Anything)
                ):
                    continue
                if _is_open_tuple(constraint.test):
                    if constraint.field not in proposed and not settle:
                        continue
                    if proposed.get(constraint.field, ()) is None:
                        raise Misfit(f"`{constraint.field}` is proposed to be absent")
                first = reads_itself(self.rule, number, constraint, self.scope)
                if first:
                    continue  # `first.conv.*` on the first instance: anything
                try:
                    given[constraint.field] = self.concrete(constraint.test, default)
                except FAILURES:
                    later.append(constraint.field)
        places = {
            operand.name: k for k, operand in enumerate(declared.operands) if operand.attribute is not None
        }
        for constraint in call.constraints:  # on an operand that was an attribute in earlier versions
            if (
                isinstance(constraint, ir.Constraint) and constraint.field in places
                and not isinstance(constraint.test, ir.Anything)
            ):
                place = f"%{places[constraint.field]}"
                try:
                    given[place] = self.concrete(constraint.test, proposed.get(place))
                except FAILURES:
                    continue
        for name in declared.attributes:
            if (number, name) in self.wishes:
                given[name] = self.wishes[number, name]
        for name, k in places.items():
            if (number, name) in self.wishes:
                given[f"%{k}"] = self.wishes[number, name]
        return given, later


def _is_open_tuple(test: ir.Test) -> bool:
    while isinstance(test, ir.Capture):
        test = test.test
    if not isinstance(test, ir.TupleTest):
        return False
    return any(isinstance(item, ir.Rest) for item in test.items) and all(
        isinstance(item, (ir.Rest, ir.Anything))
        or isinstance(item, ir.Capture) and isinstance(item.test, ir.Anything)
        for item in test.items
    )


def _some_value(rng: Random, type_: AttributeType) -> Any:
    """A value for an attribute that has to be given and that no sampler knows; None for kinds of which none
    can be thought up.
    """
    values: dict[str, tuple[Any, ...]] = {
        "float": (0.5, 2.0, 0.25, -1.5),
        "int": (1, 2, 3),
        "bool": (True, False),
    }
    if type_.base not in values:
        return None
    choices = values[type_.base]
    return tuple(rng.choice(choices) for _ in range(2)) if type_.depth else rng.choice(choices)
