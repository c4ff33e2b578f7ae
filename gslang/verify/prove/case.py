"""One case of a rule: its source as symbolic tensors, its conditions, its target.

The rule's own values are evaluated by the engine's readable evaluator over symbolic sizes: a comparison that is not decided
splits the case. What the source's operators demand is assumed, what the target's demand must follow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gslang.check import checked as ir
from gslang.dialect.signature import REQUIRED, Signature
from gslang.dialect.tensor_type import TensorType, UnknownValue
from gslang.engine.constraints import passes
from gslang.engine.scope import UNBOUND, Instance, Scope
from gslang.engine.values import FAILURES, call_attribute, evaluate, iterate, read_attribute, truth
from gslang.graph.graph import ABSENT, CONST, INPUT, PROJ, TUPLE
from gslang.verify.prove.domains import Attributes, Written, fresh
from gslang.verify.prove.dtypes import Dtype, compared
from gslang.verify.prove.families import Family, check_blocks
from gslang.verify.prove.operators import RANKS_OF_OPERANDS, meaning_of, open_attribute
from gslang.verify.prove.paths import Impossible, NotProved
from gslang.verify.prove.reals import as_term
from gslang.verify.prove.sizes import Size, is_number
from gslang.verify.prove.tensors import Tensor, Value, World, constant
from gslang.verify.prove.terms import Term, number, read
from gslang.verify.prove.values import FamilyValues, instances_of


class Leaf:
    """An input of the source; its rank is a case that is split when it is first looked at."""

    def __init__(self, case: Case, name: str) -> None:
        self.case, self.name = case, name
        self.dtype = Dtype(case.world.facts.choices)
        self.rank: int | None = None  # where the rule fixes it
        self.known: tuple[Any, ...] = ()  # sizes that the rule fixes, None for open ones
        self.given: tuple[Any, ...] | None = None
        self.value: Term | None = None  # of all elements
        self.ones = False  # one element only
        self.tensor: Tensor | None = None
        self.chosen: dict[str, tuple[Any, ...]] = {}  # what its whole numbers say, where an operator asked

    def demand(self, rank: int) -> None:
        """An operator takes tensors of this rank only."""
        if self.rank is not None and self.rank != rank:
            raise Impossible
        self.rank = rank

    def resolved(self) -> Tensor:
        if self.tensor is None:
            world = self.case.world
            shape = self.given
            if shape is None:
                rank = self.rank if self.rank is not None else world.choose_rank()
                if self.ones:
                    world.literal_ranks.append(rank)
                known = self.known if len(self.known) == rank else (None,) * rank
                sizes = (1 if self.ones else size for size in known)
                shape = tuple(world.facts.size(f"{self.name}{k}_") if size is None else size for k, size in enumerate(sizes))

            def at(index: tuple[Any, ...]) -> Term:
                return self.value if self.value is not None else read(self.name, tuple(world.facts.normal(k) for k in index))

            self.tensor = Tensor(shape, self.dtype, at, None, self.value, None, self)
        return self.tensor


class ConstantValue:
    """`v.value` of a constant of which nothing is known: equal to a number or not."""

    def __init__(self, leaf: Leaf) -> None:
        self.leaf = leaf

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (int, float)) or isinstance(other, bool):
            raise NotProved("a constant's value is compared with something that is no number")
        if self.leaf.resolved().shape:
            return False
        if self.leaf.case.world.facts.choices.choose(2):
            return False
        self.leaf.value = number(other)
        self.leaf.tensor = Tensor((), self.leaf.dtype, lambda index: number(other), None, number(other))
        return True

    def __ne__(self, other: object) -> bool:
        return not self == other

    def _unreadable(self, *_: object) -> Any:
        raise NotProved("a constant's value is read")

    __hash__ = __bool__ = __len__ = __getitem__ = __iter__ = __float__ = __int__ = __index__ = _unreadable  # type: ignore[assignment]
    __lt__ = __le__ = __gt__ = __ge__ = __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _unreadable
    __truediv__ = __rtruediv__ = __neg__ = __mod__ = __floordiv__ = __pow__ = _unreadable


class Types:
    """The types column of a symbolic graph, made when asked for."""

    def __init__(self, graph: SymbolicGraph) -> None:
        self.graph = graph

    def __getitem__(self, node: int) -> Any:
        value = self.graph.tensor(node)
        if not isinstance(value, Tensor):
            return None
        facts = self.graph.case.world.facts
        made = object.__new__(TensorType)  # not interned: symbolic sizes have no hash
        object.__setattr__(made, "shape", tuple(facts.normal(d) for d in value.shape))
        object.__setattr__(made, "dtype", value.dtype)
        return made


class SymbolicGraph:
    """What the evaluator of rules' values asks of a graph."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.op: list[str] = []
        self.operands: list[tuple[int, ...]] = []
        self.attrs: list[Attributes] = []
        self.values: list[Any] = []  # Leaf, Tensor or tuple of them
        self.types = Types(self)
        self.kinds: dict[int, str] = {}

    def add(self, op: str, operands: tuple[int, ...], attrs: Attributes, value: Any) -> int:
        self.op.append(op)
        self.operands.append(operands)
        self.attrs.append(attrs)
        self.values.append(value)
        return len(self.op) - 1

    def tensor(self, node: int) -> Value:
        return self._resolved(self.values[node])

    def _resolved(self, value: Any) -> Value:
        if isinstance(value, Leaf):
            return value.resolved()
        if isinstance(value, tuple):
            return tuple(self._resolved(v) for v in value)
        return value

    def value(self, node: int) -> Any:
        leaf = self.values[node]
        if isinstance(leaf, Leaf) and leaf.value is not None and leaf.value.constant is not None and leaf.ones:
            constant_ = leaf.value.constant
            import numpy

            return numpy.asarray(int(constant_) if constant_.denominator == 1 else float(constant_)).reshape((1,) * len(leaf.resolved().shape))
        return ConstantValue(leaf)

    def label(self, node: int) -> str:
        return self.op[node]

    def is_call(self, node: int) -> bool:
        return not self.op[node].startswith("%")

    def kind(self, node: int) -> str:
        """Any that the pattern allows."""
        if node not in self.kinds:
            allowed: tuple[str, ...] = {CONST: ("const",), PROJ: ("proj",), TUPLE: ("tuple",)}.get(self.op[node], ("call",))
            if self.op[node] == INPUT:
                allowed = ("input", "param", "const", "call")
            self.kinds[node] = allowed[self.case.world.facts.choices.choose(len(allowed))]
        return self.kinds[node]


class Case:
    """The source and target of a rule in one case."""

    def __init__(self, rule: ir.CheckedRule, world: World) -> None:
        check_blocks(rule)
        self.rule, self.world = rule, world
        self.graph = SymbolicGraph(self)
        self.scope: Any = Scope(rule, self.graph, [UNBOUND] * len(rule.nodes), instances=[[] for _ in rule.blocks])  # type: ignore[arg-type]
        self.evaluate: Callable[[ir.Value], Any] = FamilyValues(world, self.scope) if rule.blocks else lambda value: evaluate(value, self.scope)
        self.tested: set[tuple[int, int]] = set()

    # ── source ──

    def source(self) -> list[Value]:
        outputs = [self.node(number_) for number_ in self.rule.outputs]
        for number_, block in enumerate(self.rule.blocks):
            self.instances(number_, block)
        for number_, pattern in enumerate(self.rule.nodes):
            if pattern.block is None and self.scope.slots[number_] >= 0 and not isinstance(pattern, ir.AltNode):
                self.test(number_, pattern)
        for condition in self.rule.where:
            if not self.holds(condition):
                raise Impossible
        if self.rule.output_block is not None:
            root = self.rule.blocks[self.rule.output_block].root
            first, later = (self.graph.tensor(i.slots[root]) for i in self.scope.instances[self.rule.output_block])
            return [Family(self.rule.output_block, first, later)]
        return [self.graph.tensor(slot) for slot in outputs]

    def instances(self, number_: int, block: ir.Block) -> None:
        """The first instance of a block, and a later one."""
        scope = self.scope
        for k in range(2):
            scope.current = Instance(k)
            self.node(block.root)
            for node in block.nodes:
                self.node(node)
            scope.instances[number_].append(scope.current)
        for instance in scope.instances[number_]:
            scope.current = instance
            for node in block.nodes:
                if instance.slots.get(node, UNBOUND) >= 0 and not isinstance(self.rule.nodes[node], ir.AltNode):
                    self.test(node, self.rule.nodes[node])
            for condition in block.where:
                if not self.holds(condition):
                    raise Impossible
        scope.current = None

    def holds(self, condition: ir.Value) -> bool:
        """Whether a condition holds in this case; unknown is false, as in the engine."""
        try:
            return truth(self.evaluate(condition))
        except (TypeError, AttributeError) as error:
            raise NotProved(f"a condition that cannot be read: {error}") from error
        except FAILURES:
            return False

    def node(self, number_: int) -> int:
        scope = self.scope
        slots = scope.slots if self.rule.nodes[number_].block is None else scope.current.slots
        if self.bound(slots, number_) == UNBOUND:
            match self.rule.nodes[number_]:
                case ir.AltNode(branches=branches):
                    k = self.world.facts.choices.choose(len(branches))
                    (scope.chosen if slots is scope.slots else scope.current.chosen)[number_] = k
                    slot = self.node(branches[k])
                case ir.LeafNode() as leaf:
                    slot = self.leaf(number_, leaf)
                case ir.CallNode() as call:
                    slot = self.call(number_, call)
                case ir.TupleNode(fields=fields):
                    inner = tuple(self.node(f) for f in fields if isinstance(f, int))
                    slot = self.graph.add(TUPLE, inner, Attributes(), tuple(self.graph.values[s] for s in inner))
                case ir.ProjNode(base=base) as projection:
                    slot = self.projection(number_, projection, self.node(base))
            slots[number_] = slot
        return int(slots[number_])

    @staticmethod
    def bound(slots: Any, number_: int) -> int:
        return int(slots[number_] if isinstance(slots, list) else slots.get(number_, UNBOUND))

    def projection(self, number_: int, node: ir.ProjNode, base: int) -> int:
        value = self.graph.values[base]
        if not isinstance(value, tuple):
            raise NotProved("a projection of what is no tuple")
        index: Any = None
        for constraint in node.constraints:
            if isinstance(constraint, ir.Constraint) and constraint.field == "index":
                found, index = self.propose(constraint.test, "index")
                if not found:
                    index = None
        if index is None and self.rule.dialect.name == "onnx":
            raise NotProved("any result of an operator")  # the later ones have no meaning here
        if index is None:
            index = self.world.facts.choices.choose(len(value))
        if type(index) is not int or not 0 <= index < len(value):
            raise NotProved(f"result {index} of a call")
        return self.graph.add(PROJ, (base,), Attributes(index=index), value[index])

    def leaf(self, number_: int, pattern: ir.LeafNode) -> int:
        choices = self.world.facts.choices
        if pattern.kind == "op":
            raise NotProved("an operator variable stands as a tensor")
        if pattern.optional and choices.choose(2) == 1:
            return ABSENT
        leaf = Leaf(self, f"{pattern.name or 'x'}{number_}_{'' if pattern.block is None else scope_index(self.scope)}")
        for constraint in pattern.constraints:
            if not isinstance(constraint, ir.Constraint):
                continue
            test = constraint.test
            while isinstance(test, ir.Capture):
                test = test.test
            if constraint.field == "value" and isinstance(test, (ir.ConstantEquals, ir.SplatEquals)):
                leaf.value = as_term(self.value(test.value))
                leaf.ones = isinstance(test, ir.ConstantEquals)
            elif constraint.field == "value" and not isinstance(test, ir.Anything):
                raise NotProved("a constant with several elements")
            elif constraint.field == "shape" and isinstance(test, ir.TupleTest) and not any(isinstance(i, ir.Rest) for i in test.items):
                leaf.rank = len(test.items)
                leaf.known = tuple(self.known_item(item) for item in test.items)
            elif constraint.field == "shape" and isinstance(test, ir.Equals):
                known = self.try_value(test.value)
                leaf.given = known if isinstance(known, tuple) and all(is_number(d) for d in known) else None
            elif constraint.field == "dtype" and isinstance(test, ir.Equals):
                known = self.try_value(test.value)
                leaf.dtype = known if known is not None else leaf.dtype
            elif constraint.field == "ndim" and isinstance(test, ir.Equals):
                known = self.try_value(test.value)
                leaf.rank = known if type(known) is int else None
        return self.graph.add(CONST if pattern.kind == "const" else INPUT, (), Attributes(), leaf)

    def known_item(self, item: Any) -> Any:
        """A size that a pattern of a shape fixes; None where it does not, or reads what is not there yet."""
        if isinstance(item, ir.Equals):
            value = self.try_value(item.value)
            if isinstance(value, Size) or type(value) is int and value >= 1:
                return value
        return None

    def as_written(self, value: ir.Value, operator: str, operands: Sequence[Value]) -> Any:
        """An attribute that is copied, without looking at how it is written; None for any other value.

        How it is written does not matter only in a call that is like the one it comes from: an axis of -1 is another one elsewhere.
        """
        if isinstance(value, ir.NodeAttr) and isinstance(self.rule.nodes[value.node], ir.CallNode):
            slot = self.scope.slot(value.place, value.node)
            if slot >= 0:
                found = self.graph.attrs[slot].get(value.name)
                if isinstance(found, Written) and self.alike(slot, operator, operands):
                    return found
        return None

    def alike(self, slot: int, operator: str, operands: Sequence[Value]) -> bool:
        """Whether a call has the operator of a call in the source, and operands of the same ranks and first element type."""
        own = [self.graph.tensor(o) if o >= 0 else None for o in self.graph.operands[slot]]
        if self.graph.op[slot] != operator or list(map(_rank, own)) != list(map(_rank, operands))[: len(own)]:
            return False
        first, other = (next((o for o in values if isinstance(o, Tensor)), None) for values in (own, operands))
        return first is None or other is None or compared(first.dtype, other.dtype) is True

    def copied(self, slot: int, operator: str, operands: Sequence[Value], names: Sequence[str]) -> dict[str, Any]:
        """Attributes of a call in the source for another call."""
        own = self.graph.attrs[slot]
        return dict(own.items()) if self.alike(slot, operator, operands) else {name: own[name] for name in own if name in names}

    def value(self, value: ir.Value) -> Any:
        """A value that must be there. Raises `Impossible` where it is unknown: the match does not count then."""
        try:
            return self.evaluate(value)
        except (TypeError, AttributeError) as error:
            raise NotProved(f"a value that cannot be read: {error}") from error
        except FAILURES as error:
            raise Impossible from error

    def try_value(self, value: ir.Value) -> Any:
        """A value, or None where it reads what is not there yet."""
        try:
            return self.evaluate(value)
        except UnknownValue:
            return None
        except IndexError as error:  # a shape has fewer dimensions than the rule reads: no match
            raise Impossible from error

    def call(self, number_: int, call: ir.CallNode) -> int:
        scope, choices = self.scope, self.world.facts.choices
        operator = scope.variables.get(call.variable) if call.variable else None
        if operator is None:
            operator = call.operators[choices.choose(len(call.operators))]
            if call.variable:
                scope.variables[call.variable] = operator
        signature = self.rule.dialect.operators[operator]
        slots: list[int] = []
        for pattern in call.operands:
            if isinstance(pattern, ir.Splice):
                raise NotProved("operands from a block")
            slots.append(ABSENT if pattern is None else self.node(pattern))
        for slot, rank in zip(slots, RANKS_OF_OPERANDS.get(operator, ())):
            leaf = self.graph.values[slot] if slot != ABSENT else None
            if rank is not None and isinstance(leaf, Leaf) and leaf.tensor is None and leaf.given is None:
                leaf.demand(rank)
        operands = [None if s == ABSENT else self.graph.tensor(s) for s in slots]
        attrs = self.attributes(call, operator, signature, operands)
        operands = with_attributes(signature, operands, attrs)
        value = meaning_of(self.world, self.rule.dialect, operator, operands, attrs.plain(True))
        return self.graph.add(operator, tuple(slots), attrs, value)

    def attributes(self, call: ir.CallNode, operator: str, signature: Signature, operands: list[Value]) -> Attributes:
        given: dict[str, Any] = {}
        tests: dict[str, ir.Test] = {}
        for constraint in call.constraints:
            if isinstance(constraint, ir.SameAttributes):
                other = self.scope.slot(constraint.place, constraint.node)
                if other < 0 and isinstance(constraint.place, ir.First) and self.scope.current is not None and self.scope.current.index == 0:
                    continue  # the first instance and itself
                if other < 0:
                    raise NotProved("attributes of what comes later")
                own = self.copied(other, operator, operands, list(signature.attributes))
                given.update({name: v for name, v in own.items() if name not in constraint.without})
            else:
                tests[constraint.field] = constraint.test
        attrs = Attributes()
        for name, spec in sorted(signature.attributes.items(), key=lambda item: "layout" not in item[0]):  # others read layouts
            if name in given:
                attrs[name] = given[name]
                continue
            found, chosen = False, None
            test = tests.get(name)
            if isinstance(test, ir.Equals) and (copied := self.as_written(test.value, operator, operands)) is not None:
                attrs[name] = copied
                continue
            if test is not None:
                found, chosen = self.propose(test, name)
            attrs[name] = chosen if found else open_attribute(self.world, self.rule.dialect, operator, spec, operands, attrs)
        for operand in signature.operands:
            if operand.attribute is not None and operand.name in tests:
                found, chosen = self.propose(tests[operand.name], operand.name)
                if not found:
                    raise NotProved("an operand that stands as an attribute and may be any")
                attrs[operand.name] = chosen
        return attrs

    def propose(self, test: ir.Test, name: str) -> tuple[bool, Any]:
        """(True, the value that passes) where the test says enough; what it gives is tested again."""
        match test:
            case ir.Equals(value):
                try:
                    return True, self.evaluate(value)
                except UnknownValue:
                    return False, None
            case ir.Capture(_, inner):
                return self.propose(inner, name)
            case ir.OneOf(tests):
                return self.propose(tests[self.world.facts.choices.choose(len(tests))], name)
            case ir.IfTest(condition, then, otherwise):
                return self.propose(then if self.holds(condition) else otherwise, name)
            case ir.TupleTest(items) if not any(isinstance(i, ir.Rest) for i in items):
                result = []
                for item in items:
                    found, chosen = (False, None) if isinstance(item, ir.Rest) else self.propose(item, name)
                    result.append(chosen if found else fresh(self.world, name))
                return True, tuple(result)
        return False, None

    def test(self, number_: int, pattern: ir.Pattern) -> None:
        """Hold a node to its constraints."""
        scope = self.scope
        slot = scope.slots[number_] if pattern.block is None else scope.current.slots[number_]
        for constraint in pattern.constraints:
            if isinstance(constraint, ir.SameAttributes):
                continue  # copied
            if constraint.field == "value":
                continue  # built in
            if isinstance(constraint.test, ir.Equals) and isinstance(constraint.test.value, ir.NodeAttr) and isinstance(pattern, ir.CallNode):
                other = scope.slot(constraint.test.value.place, constraint.test.value.node)
                given = self.graph.attrs[other].get(constraint.test.value.name) if other >= 0 else None
                if isinstance(given, Written) and self.graph.attrs[slot].get(constraint.field) is given:
                    continue  # copied
            try:
                if isinstance(pattern, ir.CallNode):
                    found = call_attribute(self.graph, self.rule.dialect, slot, constraint.field)  # type: ignore[arg-type]
                else:
                    found = read_attribute(self.graph, self.rule.dialect, slot, constraint.field)  # type: ignore[arg-type]
                ok = passes(constraint.test, found, scope)
            except (TypeError, AttributeError) as error:
                raise NotProved(f"a constraint that cannot be read: {error}") from error
            except FAILURES:
                ok = False
            if not ok:
                raise Impossible

    # ── target ──

    def target(self) -> list[Value]:
        self.world.reading = False
        self.made: dict[int, list[Any]] = {}
        return [value for output in self.rule.target.outputs for value in self.several(output)]

    def several(self, number_: int) -> list[Any]:
        if number_ not in self.made:
            self.made[number_] = list(self.make(number_))
        return self.made[number_]

    def one(self, number_: int) -> Any:
        values = self.several(number_)
        if len(values) != 1:
            raise NotProved("a sequence stands where one value is wanted")
        return values[0]

    def make(self, number_: int) -> Iterator[Any]:
        scope, rule = self.scope, self.rule
        match rule.target.targets[number_]:
            case ir.SourceNode(place, node):
                slot = scope.slot(place, node)
                if slot == UNBOUND:
                    raise Impossible
                yield None if slot == ABSENT else self.graph.tensor(slot)
            case ir.Absent():
                yield None
            case ir.MakeConst() as made:
                yield self.constant(made, None)
            case ir.MakeCall() as call:
                yield self.new_call(call)
            case ir.MakeTuple(fields):
                yield tuple(value for f in fields for value in self.several(f))
            case ir.MakeProj(base, index):
                whole = self.one(base)
                if isinstance(whole, Family) and isinstance(self.evaluate, FamilyValues):
                    yield whole.first if self.evaluate.number_of(index) == 0 else whole.later
                    return
                k = self.value(index)
                if not isinstance(whole, tuple) or type(k) is not int or not 0 <= k < len(whole):
                    raise NotProved("a projection that may not be there")
                yield whole[k]
            case ir.Projections(base):
                whole = self.one(base)
                if isinstance(whole, Family):
                    yield whole
                    return
                if not isinstance(whole, tuple):
                    raise NotProved("projections of what is no tuple")
                yield from whole
            case ir.SpliceInstances(block, node):
                first, later = (self.graph.tensor(i.slots[node]) for i in scope.instances[block])
                yield Family(block, first, later)
            case ir.Repeat(element, (local,), source, None, renewed) if isinstance(self.evaluate, FamilyValues) and instances_of(source) is not None:
                results = []
                self.evaluate.over_instances.add(local)
                for k in (0, 1):
                    scope.locals[local] = k
                    for target in renewed:
                        self.made.pop(target, None)
                    results.append(self.one(element))
                self.evaluate.over_instances.discard(local)
                block_ = instances_of(source)
                assert block_ is not None
                yield Family(block_, *results)
            case ir.Repeat() as repeat:
                for _ in iterate(repeat, scope):
                    for inner in repeat.inner:
                        self.made.pop(inner, None)
                    yield from self.several(repeat.element)
            case ir.ChooseTarget(condition, then, otherwise):
                yield from self.several(then if truth(self.value(condition)) else otherwise)
            case ir.SelectTarget(place, node, arms):
                arm = arms[scope.branch(place, node)]
                if arm is None:
                    raise Impossible
                yield from self.several(arm)
            case other:
                raise NotProved(f"{type(other).__name__} in a target")

    def constant(self, made: ir.MakeConst, dtype: Any) -> Value:
        value = self.value(made.value)
        if made.dtype is not None:
            dtype = self.value(made.dtype)
        if made.as_tuple:
            return tuple(constant(as_term(item), (), dtype or _default_dtype(item)) for item in value)
        if isinstance(value, Family):
            return Tensor((), dtype or "int64", unreadable, None, None, (value,))
        if isinstance(value, tuple):
            if made.splat_shape is not None or not all(is_number(v) or isinstance(v, float) for v in value):
                raise NotProved("a constant of several dimensions")
            return vector(value, dtype or _default_dtype(value[0] if value else 0))
        shape = () if made.splat_shape is None else self.value(made.splat_shape)
        if isinstance(value, ConstantValue):
            return Tensor(value.leaf.resolved().shape, dtype or value.leaf.dtype, value.leaf.resolved().at)
        return constant(as_term(value), shape, dtype or _default_dtype(value))

    def new_call(self, call: ir.MakeCall) -> Value:
        scope = self.scope
        operator = call.operator if isinstance(call.operator, str) else scope.variables[call.operator[1]]
        operands: list[Any] = []
        waiting: list[tuple[int, ir.MakeConst]] = []
        for part in call.operands:
            target = self.rule.target.targets[part]
            if isinstance(target, ir.MakeConst) and target.dtype is None and part not in self.made:
                waiting.append((len(operands), target))
                operands.append(None)
            else:
                operands += self.several(part)
        dtype = next((o.dtype for o in operands if isinstance(o, Tensor)), None)
        for place, made in waiting:
            operands[place] = self.constant(made, dtype)
        signature = self.rule.dialect.operators.get(operator)
        if signature is None:
            raise NotProved(f"`{operator}` is not declared")
        attrs = Attributes()
        for spread in call.spreads:
            slot = scope.slot(spread.place, spread.node)
            if slot < 0:
                raise Impossible
            own = self.copied(slot, operator, operands, list(signature.attributes))
            attrs.update({n: v for n, v in own.items() if n not in spread.without and n in signature.attributes})
        for name, value in call.attributes:
            copied = self.as_written(value, operator, operands)
            attrs[name] = self.value(value) if copied is None else copied
        for name, spec in signature.attributes.items():
            if name not in attrs:
                if spec.default is REQUIRED:
                    raise NotProved(f"`{operator}` without `{name}`")
                attrs[name] = spec.default
        return meaning_of(self.world, self.rule.dialect, operator, with_attributes(signature, operands, attrs), attrs.plain(False))


def _rank(value: Value) -> int | None:
    return len(value.shape) if isinstance(value, Tensor) else None


def unreadable(index: tuple[Any, ...]) -> Term:
    raise NotProved("an element of a constant vector")


def scope_index(scope: Any) -> str:
    """Which instance a name is in."""
    return "first_" if scope.current.index == 0 else "later_"


def with_attributes(signature: Signature, operands: list[Value], attrs: Attributes) -> list[Value]:
    """The operands, with those that stand as attributes in their places."""
    result = list(operands)
    for k, spec in enumerate(signature.operands):
        if spec.attribute is not None and spec.name in attrs and spec.name not in signature.attributes:
            value = attrs[spec.name]
            result += [None] * (k + 1 - len(result))
            if value is not None:
                result[k] = vector(value, "int64") if isinstance(value, tuple) else constant(as_term(value), (), operands[0].dtype)
    return result


def _default_dtype(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    return "int64" if isinstance(value, (int, Size)) else "float32"


def vector(items: tuple[Any, ...], dtype: Any) -> Tensor:
    """A constant vector; its elements can be read as numbers by operators that take a shape."""

    def at(index: tuple[Any, ...]) -> Term:
        if type(index[0]) is int:
            return as_term(items[index[0]])
        raise NotProved("an element of a constant vector")

    return Tensor((len(items),), dtype, at, None, None, items)
