"""Attributes of the calls of instances: those that a rule's constraints fix, and values for open ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from gslang.base.open_types import Attrs
from gslang.check import checked as ir
from gslang.check.walks import within_captures
from gslang.dialect.bounds import Call, Rank
from gslang.dialect.domain import Interval, ListOf, OneOf, contains
from gslang.dialect.domain_values import draw
from gslang.dialect.signature import REQUIRED, AttributeType, Signature
from gslang.engine.constraints import passes
from gslang.engine.proposals import UNSAID
from gslang.engine.values import FAILURES, operand_as_attribute
from gslang.graph.graph import ABSENT, CONST
from gslang.verify.instances.leaves import Leaves, Misfit, reads_itself
from gslang.verify.reads import constants_stated, fields_read

_OF_SHAPES = frozenset({
    "data_layout", "kernel_layout", "layout", "src_layout", "groups", "group", "hidden_size", "direction",
})
_CASTS_BACK = 0.4  # share of casts to the type of what stands beside them
_STATED = 0.3  # share of attributes of declared operators that are a number or text in what it computes
_KNOWN_WHERE_READ = 0.8  # share of operands that are constant, or absent, where the rule reads their value
_DRAWS = 40  # attempts at a tuple some items of which are stated
_PARTS = (2, 3, 1)
_FACTORS = (0.25, 0.5, 1.5, -0.5)


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
        names: Sequence[str],
        rng: Random,
    ) -> dict[str, object]:
        """All attributes of a call. Raises `Misfit` if one depends on nodes that are not made yet.

        `sampled`: what a sampler proposed, `given`: what constraints fix, as far as it is known. `names`: of
        those to vary.
        """
        signature = self.rule.dialect.operators[operator]
        proposed = dict(sampled)
        if (
            "dtype" in signature.attributes and "dtype" not in proposed
            and signature.attributes["dtype"].default != ""
        ):
            proposed["dtype"] = self.dtype
        if operator == "Split" and slots.get(1) == ABSENT and not {"num_outputs", "split"} & set(given):
            proposed["num_outputs"] = rng.choice(_PARTS)  # nothing else says how many there are
        if operator == "Cast" and rng.random() < _CASTS_BACK:
            proposed["to"] = self.dtype
        count = len(call.operands)
        proposed.update(self.varied(rng, signature, slots, count, {**proposed, **given}, given, names))
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
                and rng.random() < 0.4 and contains(spec.domain, value := rng.choice(_FACTORS))
            ):
                proposed[name] = value
        given, later = self.attributes(number, call, operator, proposed, settle=True)
        if later:
            raise Misfit(f"attribute `{later[0]}` of `{operator}` depends on a missing value")
        return {name: value for name, value in {**proposed, **given}.items() if name in signature.attributes}

    def varied(
        self,
        rng: Random,
        signature: Signature,
        slots: Mapping[int, int],
        count: int,
        known: dict[str, object],
        given: Attrs,
        names: Sequence[str],
    ) -> dict[str, object]:
        """Values from their domains for these attributes, whatever samplers think of them."""
        if signature.name == "Split" and slots.get(1, ABSENT) >= 0:  # lengths of parts say their number
            names = [name for name in names if name != "num_outputs"]
        told = signature.call(
            tuple([self.graph.types[slots[k]] if slots.get(k, -1) >= 0 else None for k in range(count)]),
            known,
        )
        result: dict[str, object] = {}
        for name in names:
            spec = signature.attributes[name]
            try:
                value = draw(spec.domain, rng, told)
                if self.stressed == (signature.name, name) and value == spec.default:
                    value = draw(spec.domain, rng, told)
            except LookupError:
                continue
            if signature.meaning is not None and rng.random() < _STATED:
                own = [v for v in constants_stated(signature) if contains(spec.domain, v, told)]
                value = rng.choice(own) if own else value
            if (
                isinstance(value, int) and not isinstance(value, bool) and spec.domain == Interval("int")
                and spec.default in (0, 1) and signature.meaning is None
            ):
                value = 1 - int(spec.default)  # nearly always a truth value
            if isinstance(spec.default, tuple) and spec.default and spec.domain == ListOf(Interval("int")):
                value = tuple(rng.choice((d, d + 1)) for d in spec.default)
            result[name] = value
        if (known | result).get("auto_pad", "NOTSET") != "NOTSET":  # then there are no `pads` to give
            if given.get("pads") is None:
                result["pads"] = None
            else:
                result.pop("auto_pad", None)
        return result

    def to_vary(self, rng: Random, signature: Signature, given: Attrs) -> tuple[list[str], list[str]]:
        """Mostly one or two of the attributes that the rule leaves open, so that the others fit; about half
        of them where that is wished for or now and then. Those that decide about the shapes of operands come
        first: layouts and numbers of groups.
        """
        # `units` repeats the size of a weight: samplers state it, any other value would not fit
        names = [name for name in signature.attributes if name not in given and name != "units"]
        if self.stressed is None and rng.random() < 0.85:
            chosen = rng.sample(names, min(len(names), rng.choice((0, 0, 1, 1, 2))))
        else:
            chosen = [n for n in names if self.stressed == (signature.name, n) or rng.random() < 0.5]
        first = [name for name in chosen if name in _OF_SHAPES]
        return first, [name for name in chosen if name not in first]

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
                given |= self.copied(constraint, declared)
            elif constraint.field in declared.attributes and not (
                _leaves_open(constraint, proposed, settle)
                # `first.conv.*` on the first instance: anything
                or reads_itself(self.rule, constraint, self.scope)
            ):
                name = constraint.field
                default = declared.attributes[name].default if name in declared.defaults else None
                try:
                    near = self.uneven(number, declared, constraint, default, proposed.get(name))
                    start = proposed.get(name, default) if near is None else near
                    start = self.wishes.get((number, name), start)
                    given[name] = self.concrete(constraint.test, start)
                    if start is None and isinstance(constraint.test, ir.Capture) and settle:
                        self.scope.bind(constraint.test.capture, given[name])  # that it is absent
                except FAILURES:
                    later.append(name)
        given |= self.former_attributes(number, call, declared, proposed)
        given |= {
            name: self.wishes[number, name] for name in declared.attributes if (number, name) in self.wishes
        }
        return given, later

    def copied(self, copy: ir.SameAttributes, declared: Signature) -> Attrs:
        """The attributes that a call has from another one (`a.*`), if that is there."""
        here = self.scope.current
        if isinstance(copy.place, ir.Prev) and here is not None and here.previous is None:
            return {}  # the first instance of a chain
        other = self.scope.slot(copy.place, copy.node)
        own = declared.complete(self.graph.attrs[other]) if other >= 0 else {}
        return {name: value for name, value in own.items() if name not in copy.without}

    def uneven(
        self, number: int, declared: Signature, constraint: ir.Constraint, default: object, proposed: object
    ) -> tuple[object, ...] | None:
        """A tuple to begin with for a constraint on an attribute that leaves some items open: what is near
        the default, where items may differ; else what is proposed, or one of the attribute's domain. None
        where no such tuple is known, or the constraint says nothing of the items, or something of all.
        """
        name, test = constraint.field, within_captures(constraint.test)
        if not isinstance(test, ir.TupleTest) or (
            all(map(_says_more, test.items)) if test.back is None else not any(map(_says_more, test.items))
        ):
            return None
        domain = declared.attributes[name].domain
        rng = self.dice(number, f" {name}")
        if isinstance(default, tuple) and test.fits(len(default)) and all(type(d) is int for d in default):
            found = tuple([d + rng.choice((0, 0, 1, 2)) for d in default])
            return default if contains(domain, found) is False else found
        if isinstance(proposed, tuple) and test.fits(len(proposed)):
            return proposed
        parts = domain.parts if isinstance(domain, OneOf) else (domain,)
        drawn = (self.drawn(test, part, rng) for part in parts if isinstance(part, ListOf))
        return next((found for found in drawn if found is not None), None)

    def drawn(self, test: ir.TupleTest, domain: ListOf, rng: Random) -> tuple[object, ...] | None:
        """A tuple of a domain with as many items as a test asks for; of different items (axes) one that
        passes. None where none is found.
        """
        of_rank = [length.operand for length in domain.lengths if isinstance(length, Rank)]
        for _ in range(_DRAWS):
            rank = len(test.items) + (0 if test.back is None else rng.choice((0, 1, 1, 2, 3)))
            try:
                found = draw(domain, rng, Call({name: (None,) * rank for name in of_rank}))
            except LookupError:
                return None
            if test.fits(len(found)) and (not domain.distinct or self.concrete(test, found) == found):
                return tuple(found)
        return None

    def operands_told(self, call: ir.CallNode, declared: Signature) -> set[int]:
        """The operands that were attributes in earlier versions and whose values constraints fix."""
        return {k for k, test in self.read_as_attributes(call, declared).items() if not test.is_open}

    def read_as_attributes(self, call: ir.CallNode, declared: Signature) -> dict[int, ir.Test]:
        """The operands that constraints read as attributes, and what they ask of them: constants, or absent.
        """
        places = _former_places(declared)
        return {int(places[c.field][1:]): c.test for c in call.tests if c.field in places}

    def is_read(self, number: int, declared: Signature, k: int) -> bool:
        """True if an operand that may be an attribute is to be constant, or absent, since conditions or the
        target read it: mostly where they do."""
        name = {place: name for name, place in _former_places(declared).items()}.get(f"%{k}")
        if name is None or (number, name) not in fields_read(self.rule):
            return False
        return self.dice(number, f" {name}").random() < _KNOWN_WHERE_READ

    def capture_operands(self, call: ir.CallNode, declared: Signature, slots: Mapping[int, int]) -> None:
        """Bind the captures of operands that constraints read as attributes and leave open, now that they are
        made. Raises `Misfit` where one is not what is asked for.
        """
        for k, test in self.read_as_attributes(call, declared).items():
            if k not in slots or not test.is_open:
                continue
            name, spec, slot = declared.operands[k].name, declared.operands[k].attribute, slots[k]
            found = (
                declared.defaults.get(name) if slot < 0 or spec is None
                else operand_as_attribute(self.graph, slot, spec)
            )
            if not passes(test, found, self.scope):
                raise Misfit(f"`{name}` of `{declared.name}` has another number of items than the rule asks")

    def former_attributes(
        self, number: int, call: ir.CallNode, declared: Signature, proposed: Attrs
    ) -> dict[str, object]:
        """Values of operands that were attributes in earlier versions, by place, as far as constraints and
        wishes fix them.
        """
        given: dict[str, object] = {}
        places = _former_places(declared)
        for constraint in call.tests:
            if constraint.field in places and not constraint.test.is_open:
                place = places[constraint.field]
                try:
                    found = self.proposals(constraint.test, proposed.get(place, UNSAID))
                except FAILURES:
                    continue
                if found is not UNSAID:  # no word about it is not that it is absent
                    given[place] = found
        for name, place in places.items():
            if (number, name) in self.wishes:
                given[place] = self.wishes[number, name]
        return given


def _former_places(declared: Signature) -> dict[str, str]:
    """Operands that were attributes in earlier versions: name → place, as samplers name it."""
    return {
        operand.name: f"%{k}" for k, operand in enumerate(declared.operands) if operand.attribute is not None
    }


def _says_more(test: ir.Test) -> bool:
    """True if a test says more of an item than that there is one."""
    return within_captures(test) != ir.Anything()


def _leaves_open(constraint: ir.Constraint, proposed: Attrs, settle: bool) -> bool:
    """True if a constraint says no more of an attribute than that it is captured, or has some items.

    Raises `Misfit` if it must have items, and is proposed to be absent.
    """
    name, test = constraint.field, within_captures(constraint.test)
    if test == ir.Anything():
        return test is constraint.test or name not in proposed
    if not isinstance(test, ir.TupleTest) or test.back is None:
        return False
    if any(_says_more(item) for item in test.items):
        return False
    if name in proposed and proposed[name] is None:
        raise Misfit(f"`{name}` is proposed to be absent")
    return name not in proposed and not settle


def _some_value(rng: Random, type_: AttributeType) -> object:
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
