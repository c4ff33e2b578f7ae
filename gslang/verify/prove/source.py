"""The source of a rule in one case: its nodes as symbolic tensors, held to the rule's constraints and
conditions.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from gslang.check import checked as ir
from gslang.check.walks import within_captures
from gslang.engine.constraints import passes
from gslang.engine.proposals import UNSAID
from gslang.engine.scope import UNBOUND, Instance, Scope
from gslang.engine.values import call_attribute, read_attribute
from gslang.graph.graph import ABSENT, CONST, INPUT, PROJ, TUPLE
from gslang.verify.prove.case import DEFINITE, OPEN, Case
from gslang.verify.prove.chosen import settle_axes, spell_bounds
from gslang.verify.prove.conditions import Conditions
from gslang.verify.prove.counted import grown
from gslang.verify.prove.demands import alike, bound, demand, here, hold_to_rank, link_ranks
from gslang.verify.prove.operators.constant_value import ConstantValue
from gslang.verify.prove.operators.constants import with_attributes
from gslang.verify.prove.operators.domains import Attributes, Written
from gslang.verify.prove.operators.families import Family
from gslang.verify.prove.operators.leaf import Leaf
from gslang.verify.prove.operators.onnx_lookups import as_size
from gslang.verify.prove.operators.onnx_movement import AnyPlace, OpenParts
from gslang.verify.prove.operators.onnx_operands import SINGLE_OPERANDS
from gslang.verify.prove.operators.operators import RANKS_BETWEEN, RANKS_OF_OPERANDS
from gslang.verify.prove.operators.slices import learn_longest
from gslang.verify.prove.operators.symbolic_graph import Operands, Pending
from gslang.verify.prove.operators.tensors import Tensor, Value
from gslang.verify.prove.proposed import Proposed, attributes_of
from gslang.verify.prove.target import result_of
from gslang.verify.prove.terms.dtypes import Dtype
from gslang.verify.prove.terms.paths import CONDITION, OPERATOR, Impossible, NotProved, TooMuch, Unsupported
from gslang.verify.prove.terms.reals import Token
from gslang.verify.prove.terms.sizes import Number, Size, is_number
from gslang.verify.prove.watched import IS_CONST, Said

# What an input of each kind may be in a graph.
KINDS = {
    "any": ("input", "param", "const", "call", "proj"),
    "var": ("input", "param"),
    "input": ("input",),
    "param": ("param",),
    "fixed": ("param", "const"),
}


class Source:
    """The source of a case."""

    def __init__(self, case: Case) -> None:
        self.case, self.rule, self.world, self.graph, self.scope = (
            case, case.rule, case.world, case.graph, case.scope,
        )
        self.conditions = Conditions(case)
        # (input, its instance) → the rank that a call demands of it, where the call is made first
        self.demanded: dict[tuple[int, int | None], int] = {}
        self.alike: list[tuple[int, int]] = []  # inputs of which calls demand one rank
        self.world.numbers_chosen = self.conditions.ask_chosen

    def outputs(self) -> list[Value]:
        """The outputs of the source.

        Raises `Impossible` where nothing matches in this case, `NotProved` where that cannot be told.
        """
        outputs = [self.node(number_) for number_ in self.rule.outputs]
        self.conditions.cut_off(True)
        self.compute()
        for number_ in range(len(self.rule.blocks)):
            self.grown(number_)
        if self.world.counted:
            self.compute()
        for number_, block in enumerate(self.rule.blocks):
            self.test_instances(number_, block)
        for number_, pattern in enumerate(self.rule.nodes):
            if (
                pattern.block is None and self.scope.slots[number_] >= 0
                and not isinstance(pattern, ir.AltNode)
            ):
                self.test(number_, pattern)
        for condition in self.rule.where:
            self.conditions.assume(condition)
        learn_longest(self.world)
        self.learn_from_places()
        if self.rule.output_block is not None:
            root = self.rule.blocks[self.rule.output_block].root
            found = [self.graph.tensor(i.slots[root]) for i in self.scope.instances[self.rule.output_block]]
            return found if self.world.counted else [Family(self.rule.output_block, *found)]
        return [self.graph.tensor(slot) for slot in outputs]

    def compute(self) -> None:
        """Compute the result of each call. One that is not known does not matter where a condition fails."""
        try:
            self.conditions.ask_chosen()
            for slot in range(len(self.graph.op)):
                self.graph.tensor(slot)
                self.conditions.ask_chosen()
                self.conditions.ask_shaped()
        except TooMuch:
            raise
        except NotProved:
            for condition in self.rule.where:
                try:
                    if self.case.fails(condition):
                        raise Impossible(CONDITION) from None
                except TooMuch:
                    raise
                except NotProved:
                    continue
            raise

    def learn_from_places(self) -> None:
        """Take the last place that is looked up to be inside its axis, where it is known: the source is
        defined.
        """
        facts = self.world.facts
        for places, size in self.world.gathered:
            try:
                place = as_size(places.at(tuple(facts.normal(n - 1) for n in places.shape)), self.world)
            except TooMuch:
                raise
            except NotProved:
                continue
            if place is not None:
                facts.learn(size - 1 - place)
        for a, b in facts.fitting_sizes if self.world.gathered else ():
            a, b = facts.normal(a), facts.normal(b)
            if facts.proves(a - 2) and facts.proves(b - 2):
                facts.learn_equal(a, b)

    def grown(self, number_: int, start: int = ABSENT) -> list[Instance]:
        """The instances of a block: the first and a later one, or as many as this case has."""
        block = self.rule.blocks[number_]
        return grown(
            self.case, number_, lambda: [self.node(node) for node in (block.root, *block.nodes)], start
        )

    def test_instances(self, number_: int, block: ir.Block) -> None:
        """Hold the instances of a block to its constraints and conditions."""
        scope = self.scope
        for instance in scope.instances[number_]:
            scope.current = instance
            for node in block.nodes:
                if instance.slots.get(node, UNBOUND) >= 0 and not isinstance(
                    self.rule.nodes[node], ir.AltNode
                ):
                    self.test(node, self.rule.nodes[node])
            for condition in block.where:
                if not self.case.says_nothing(condition) and not self.case.holds(condition):
                    raise Impossible(CONDITION)
        scope.current = None

    def node(self, number_: int) -> int:
        """The node of the symbolic graph for a pattern node, made with its operands if it is not there."""
        scope = self.scope
        slots = scope.slots_of(self.rule.nodes[number_].block)
        if bound(slots, number_) == UNBOUND:
            pattern = self.rule.nodes[number_]
            if pattern.branches:
                k = self.world.facts.choices.choose(len(pattern.branches))
                place = scope if scope.current is None or slots is scope.slots else scope.current
                place.chosen[number_] = k
                slot = self.node(pattern.branches[k])
            elif isinstance(pattern, ir.LeafNode):
                slot = self.leaf(number_, pattern)
            elif isinstance(pattern, ir.CallNode):
                slot = self.call(number_, pattern)
            elif pattern.operators == (TUPLE,):
                inner = tuple(slot for f in pattern.parts for slot in self.below(f))
                slot = self.graph.add(TUPLE, inner, Attributes(), tuple(self.graph.values[s] for s in inner))
            elif pattern.operators == (PROJ,):
                slot = self.projection(number_, pattern, self.node(*pattern.below))
            else:
                slot = self.end_of(pattern)
            slots[number_] = slot
            for pair in self.alike:
                if number_ in pair:
                    link_ranks(self.case, *pair)
            if isinstance(pattern, ir.CallNode):
                settle_axes(self.case, slot)
                self.conditions.cut_off()  # conditions on attributes, before results are computed
                if scope.current is None:  # else other instances may not be there yet
                    self.conditions.ask_chosen()
        return int(slots[number_])

    def end_of(self, chain: ir.Pattern) -> int:
        """The last call of a chain, which is made from its start."""
        if not isinstance(chain, ir.ChainNode) or not self.world.counted:
            raise NotProved("chains of any length are not supported")
        around, self.scope.current = self.scope.current, None
        start = self.node(chain.start)
        self.scope.current = around
        return int(self.grown(chain.chain, start)[-1].slots[chain.root])

    def below(self, part: int | None | ir.Splice) -> list[int]:
        """The nodes for an operand or field: one, or that of each instance."""
        if isinstance(part, ir.Splice):
            instances = self.grown(part.block)
            return [instance.slots[part.node] for instance in instances]
        return [ABSENT if part is None else self.node(part)]

    # ── leaves ──

    def leaf(self, number_: int, pattern: ir.LeafNode) -> int:
        """An input or constant, with what its constraints fix of shape, type and value."""
        choices = self.world.facts.choices
        if pattern.kind == "op":
            raise NotProved("an operator variable is used as a tensor")
        if pattern.optional and choices.choose(2) == 1:
            return ABSENT
        instance = "" if pattern.block is None else scope_index(self.scope)
        leaf = Leaf(self.world, f"{_apart(pattern.name or 'x')}{number_}_{instance}")
        said = self.case.watched.said.get(number_, Said())
        leaf.single, leaf.rank, leaf.most = said.single, said.rank, self.case.watched.limits.get(number_)
        leaf.is_vector = number_ in self.case.watched.vectors
        # where one input is empty, others may have to be along the same axes
        leaf.least = 0 if leaf.is_vector or any(s.empty for s in self.case.watched.said.values()) else 1
        for constraint in pattern.tests:
            if self.case.says_nothing(constraint):
                continue
            self.fix(leaf, number_, replace(constraint, test=within_captures(constraint.test)))
        for place in (here(self.case, number_), (number_, None)):
            if (rank := self.demanded.get(place)) is not None:
                hold_to_rank(leaf, rank)
        read = self.case.watched.looked_into.get(number_, set())
        kinds = allowed = _kinds(pattern, read)
        if pattern.kind != "const" and not read - {"kind", IS_CONST}:
            kinds = ("",)
        kind = kinds[choices.choose(len(kinds))]
        leaf.is_constant = kind == "const"
        if leaf.is_constant:
            self.world.constants[leaf.name] = leaf
        leaf.is_read = leaf.is_constant and "value" in read
        op: Any = {"const": CONST, "proj": PROJ, "call": Token("any operator", choices)}.get(kind, INPUT)
        slot = self.graph.add(
            op, (), Attributes(index=Token("any index", choices)) if kind == "proj" else Attributes(), leaf
        )
        self.graph.kinds[slot] = (kind,) if kind else allowed
        return slot

    def fix(self, leaf: Leaf, number_: int, constraint: ir.Constraint) -> None:
        """Take from a test of one field of a leaf what it says of it."""
        known: object
        field, test = constraint.field, constraint.test
        if field in ("value", "shape") and test.either:
            test = test.either[self.world.facts.choices.choose(len(test.either))]
        if isinstance(test, ir.ConstantEquals | ir.SplatEquals):
            if not self.is_own(number_, test.value):
                self.fix_elements(leaf, self.case.value(test.value), isinstance(test, ir.ConstantEquals))
        elif field == "value" and test != ir.Anything():
            raise NotProved("constants with several elements are not supported")
        elif field == "shape" and isinstance(test, ir.TupleTest) and test.back is None:
            leaf.rank = len(test.items)
            leaf.known = tuple(
                self.known_item(item, f"{leaf.name}{k}_", leaf.least) for k, item in enumerate(test.items)
            )
        elif field in ("shape", "dtype", "ndim") and test.equal_to is not None:
            known = self.case.try_value(test.equal_to)
            if field == "shape":
                leaf.given = known if isinstance(known, tuple) and all(is_number(d) for d in known) else None
            elif field == "dtype":
                leaf.dtype = known if isinstance(known, (str, Dtype)) else leaf.dtype
            else:
                leaf.rank = known if type(known) is int else None

    def fix_elements(self, leaf: Leaf, value: object, is_single: bool) -> None:
        """Take the elements of a constant, or (`is_single`) its only one, to be those that are asked for."""
        if isinstance(value, ConstantValue) and leaf.is_vector and value.leaf.is_vector:
            leaf.like = value.leaf
        elif isinstance(value, tuple) and is_single and all(map(is_number, value)):
            leaf.items, leaf.rank, leaf.known = value, 1, (len(value),)
        else:
            leaf.value = self.world.element_of(value)
            leaf.ones = is_single

    def is_own(self, number_: int, value: ir.Value) -> bool:
        """True if a value is that of the same constant in the first instance, which is being made."""
        return (
            isinstance(value, ir.NodeAttr) and value.node == number_ and isinstance(value.place, ir.First)
            and self.scope.current is not None and self.scope.current.index == 0
        )

    def known_item(self, item: ir.Test, name: str, least: int) -> Number | None:
        """A size that a pattern of a shape fixes; None where it does not, or reads what is not there yet. One
        that it only captures is made here: attributes of calls may read it before the tensor is looked at.
        """
        if item.equal_to is not None:
            value = self.case.try_value(item.equal_to)
            return value if isinstance(value, Size) or type(value) is int and value >= 1 else None
        if isinstance(item, ir.Capture) and item.test == ir.Anything():
            size = self.world.facts.size(name, least)
            self.scope.bind(item.capture, size)
            return size
        return None

    # ── calls ──

    def call(self, number_: int, call: ir.CallNode) -> int:
        """A call: one operator of those allowed, its operands, its attributes, its meaning."""
        operator = self._operator_of(call)
        signature = self.rule.dialect.operators[operator]
        exact = () if signature.departs else RANKS_OF_OPERANDS.get(operator, ())
        ranges = () if signature.departs else RANKS_BETWEEN.get(operator, ())
        for wanted, rank in zip(call.operands, exact):
            if rank is not None and isinstance(wanted, int):
                demand(self.case, self.demanded, wanted, rank)
        if not signature.departs and (pair := alike(self.case, operator, call)) is not None:
            self.alike.append(pair)
            link_ranks(self.case, *pair)
        slots: list[int] = []
        for pattern in call.operands:
            slots += self.below(pattern)
        if signature.operands and any(
            slot != ABSENT and signature.operand(k) is None for k, slot in enumerate(slots)
        ):  # a pattern of several operators may list more than one of them has places for
            raise Impossible(OPERATOR)
        for slot, rank in zip(slots, exact):
            if rank is not None and slot != ABSENT:
                hold_to_rank(self.graph.values[slot], rank)
        for slot, between in zip(slots, ranges):
            leaf = self.graph.values[slot] if slot != ABSENT else None
            if between is not None and isinstance(leaf, Leaf) and leaf.tensor is None:
                leaf.fewest, most = between
                leaf.most = most if leaf.most is None else min(leaf.most, most)
        for place in () if signature.departs else SINGLE_OPERANDS.get(operator, ()):
            leaf = self.graph.values[slots[place]] if place < len(slots) and slots[place] != ABSENT else None
            if isinstance(leaf, Leaf) and leaf.tensor is None:
                leaf.single = True
        for wanted, slot in zip(call.operands, slots):
            if wanted in self.case.watched.bare and slot != ABSENT and self.graph.values[slot].rank is None:
                hold_to_rank(self.graph.values[slot], 0)
        self.conditions.cut_off()
        for slot, between in zip(slots, ranges):
            if between is not None and between[0] and slot != ABSENT:
                tensor = self.graph.tensor(slot)  # before attributes make cases of what does not fit
                if not isinstance(tensor, Tensor) or not between[0] <= len(tensor.shape) <= between[1]:
                    raise Impossible(OPERATOR)
        operands = Operands(self.graph, slots)
        with _naming(operator):
            attrs = attributes_of(self.case, number_, call, operator, signature, operands)

        def compute() -> Value:
            complete = with_attributes(signature, list(operands), attrs)
            self.world.need_types(signature, complete)
            self.world.wanted_rank = self.conditions.rank_said(number_)
            try:
                with _naming(operator):
                    return result_of(self.world, self.rule.dialect, operator, complete, attrs.plain(True))
            finally:
                self.world.wanted_rank = None

        spell_bounds(self.case, operator, slots)
        return self.graph.add(operator, tuple(slots), attrs, Pending(compute))

    def _operator_of(self, call: ir.CallNode) -> str:
        """The operator of its variable if that is bound, else one of those allowed: a case."""
        variables = self.scope.variables
        operator = variables.get(call.variable) if call.variable else None
        if operator is None:
            operator = call.operators[self.world.facts.choices.choose(len(call.operators))]
            if call.variable:
                variables[call.variable] = operator
        return operator

    def projection(self, number_: int, node: ir.Pattern, base: int) -> int:
        """A field of a tuple: the one that constraints fix, else any."""
        value = self.graph.tensor(base)
        if not isinstance(value, (tuple, OpenParts)):
            raise NotProved("the operand of a projection is not a tuple")
        index: object = UNSAID
        for constraint in node.constraints:
            if isinstance(constraint, ir.Constraint) and constraint.field == "index":
                index = Proposed(self.case, "", "index")(constraint.test)
        if index is UNSAID and isinstance(value, OpenParts):
            index = AnyPlace(self.world.facts.choices)
        if index is UNSAID and self.rule.dialect.name == "onnx":
            # the later ones have no meaning here
            raise NotProved("an unconstrained output index is not supported")
        if index is UNSAID:
            index = self.world.facts.choices.choose(len(value))  # type: ignore[arg-type]
        if isinstance(value, OpenParts):
            return self.graph.add(PROJ, (base,), Attributes(index=index), value.part(index))
        if type(index) is not int or not 0 <= index < len(value):
            if self.graph.op[base] in ("Split", "split") and type(index) is int:
                raise Impossible(OPERATOR)  # it has all of its parts
            raise NotProved(f"output {index} of a call is not supported")
        return self.graph.add(PROJ, (base,), Attributes(index=index), value[index])

    # ── constraints ──

    def test(self, number_: int, pattern: ir.Pattern) -> None:
        """Hold a node to its constraints."""
        scope = self.scope
        slot = scope.slots_of(pattern.block)[number_]
        for constraint in pattern.tests:  # the others are copied
            if constraint.field == "value" or constraint.field in self.graph.attrs[slot].fitting:
                continue  # built in
            if self.case.says_nothing(constraint):
                continue
            if isinstance(read := constraint.equal_to, ir.NodeAttr) and isinstance(pattern, ir.CallNode):
                other = scope.slot(read.place, read.node)
                given = self.graph.attrs[other].get(read.name) if other >= 0 else None
                if isinstance(given, Written) and self.graph.attrs[slot].get(constraint.field) is given:
                    continue  # copied
            try:
                if isinstance(pattern, ir.CallNode):
                    found = call_attribute(self.graph, self.rule.dialect, slot, constraint.field)  # type: ignore[arg-type]
                else:
                    found = read_attribute(self.graph, self.rule.dialect, slot, constraint.field)  # type: ignore[arg-type]
                ok = passes(constraint.test, found, scope)
            except DEFINITE:
                ok = False
            except OPEN as error:
                raise NotProved(f"a constraint cannot be evaluated: {error}") from error
            if not ok:
                raise Impossible(CONDITION)


def _kinds(leaf: ir.LeafNode, read: set[str]) -> tuple[str, ...]:
    """The kinds of an input that are cases, by what is read of it: a constant and any other one where it is
    only asked whether it is a constant.
    """
    if leaf.kind == "const":
        return ("const",)
    others = [kind for kind in KINDS[leaf.kind] if kind != "const"]
    return KINDS[leaf.kind] if read - {"value", IS_CONST} else tuple(
        kind for kind in KINDS[leaf.kind] if kind in ("const", others[0])
    )


def _apart(name: str) -> str:
    """The name of an input before its number: `x1` and 2 are not `x` and 12."""
    return f"{name}." if name[-1] in "_0123456789" else name


def scope_index(scope: Scope) -> str:
    """The instance that a name is in."""
    assert scope.current is not None
    return ("first_", "later_")[scope.current.index] if scope.current.index < 2 else f"{scope.current.index}_"


@contextmanager
def _naming(operator: str) -> Iterator[None]:
    """Whatever is not known of a call is said of its operator."""
    try:
        yield
    except (TooMuch, Unsupported):
        raise
    except NotProved as error:
        raise Unsupported(operator, str(error)) from error
