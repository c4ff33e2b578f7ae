"""One attempt to write a rule's source as a concrete graph.

Pattern nodes are made operands first, in the order of the source. Attributes and shapes that constraints fix
are computed from them with the engine's own scope; open ones come from `samplers`. The result is a proposal:
`instances` keeps it only if types can be inferred and the machine matches there. Recursion follows the
pattern, whose depth is the rule's text.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from random import Random

from gslang.base.open_types import Attrs
from gslang.check import checked as ir
from gslang.dialect.signature import Signature
from gslang.dialect.tensor_type import TensorType, TupleType, is_static
from gslang.engine.scope import UNBOUND, Instance, evaluate
from gslang.engine.values import FAILURES
from gslang.evaluate.errors import EvaluationError
from gslang.evaluate.random_inputs import random_inputs
from gslang.graph.graph import ABSENT, INPUT, PROJ, TUPLE, Graph
from gslang.verify.comparison.bounded import evaluate as evaluate_graph
from gslang.verify.instances.leaves import Misfit, under
from gslang.verify.instances.make_operands import Operands, is_list, listed
from gslang.verify.instances.operand_misfits import check_operands, check_result
from gslang.verify.instances.operand_types import (
    OF_SEQUENCES,
    TYPED_FREELY,
    is_needed,
    taken_type,
    type_of_its_own,
)
from gslang.verify.instances.surround import surround
from gslang.verify.reads import leaves_read_by, operator_that_samples
from gslang.verify.samplers.sample import Shape, sample, some_shape

# Relay's type relations let integers pass here, its implementations have no answer for them.
_FLOAT_ONLY = frozenset({
    "nn.batch_norm", "nn.layer_norm", "nn.instance_norm", "nn.group_norm", "nn.l2_normalize", "nn.softmax",
    "nn.log_softmax", "nn.lrn", "exp", "log", "log2", "log10", "sqrt", "rsqrt", "sigmoid", "tanh", "erf",
    "sin", "cos", "tan", "fast_exp", "fast_erf", "fast_tanh", "variance", "nn.avg_pool1d", "nn.avg_pool2d",
    "nn.avg_pool3d", "mean", "nn.leaky_relu", "nn.prelu",
})
_SPLITS = frozenset({"Split", "split"})
_OF_ANY_SHAPE = frozenset({"Expand", "Reshape"})  # they can have that of what stands beside them
_PERMUTES = frozenset({"Transpose", "transpose"})
_ALIKE = 0.7  # share of calls whose operands are computed alike from inputs of one shape
_AGAIN = 6  # times that a sampler is asked again where it proposes another rank than the rule states
_MOST_INSTANCES = 200  # of an `each` or `chain`: each of them is a part of the graph


class Making(Operands):
    """The state of one attempt: the graph so far, and a scope in which the rule's values can be computed."""

    def run(self) -> Graph:
        """Raises `Misfit`, or what an evaluation may fail with."""
        rule = self.rule
        self.find_ranks()
        if rule.output_block is None:
            outputs = [self.node(number) for number in rule.outputs]
        else:
            outputs = self.instances(rule.output_block, rule.blocks[rule.output_block].root)
        for number in rule.inputs:
            self.node(number)
        flat: list[int] = []
        for output in outputs:
            if output not in flat:
                flat.append(output)
        self.graph.set_outputs(surround(self, flat))
        return self.graph

    # ── nodes ──

    def node(self, number: int, shape: Shape | None = None) -> int:
        """The graph node of a pattern node, made if it is not there.

        `shape`: what the operator above proposes for an open leaf.
        """
        if (slot := self.bound(number)) != UNBOUND:
            return slot
        within = self.scope.current
        if self.rule.nodes[number].block is None:
            # it may be reached through an instance, but is the whole match's, with its captures
            self.scope.current = None
        try:
            return self.made(number, shape)
        finally:
            self.scope.current = within

    def made(self, number: int, shape: Shape | None) -> int:
        node = self.rule.nodes[number]
        if isinstance(node, ir.LeafNode):
            return self.bind(number, self.leaf_after_what_it_reads(number, node, shape))
        if isinstance(node, ir.ChainNode):
            return self.bind(number, self.run_of(node))
        if node.branches:
            return self.bind(number, self.alternative(number, node, shape))
        if node.operators == (TUPLE,):
            return self.bind(number, self.typed(self.graph.add_tuple(self.fields(number, node.parts))))
        if node.operators == (PROJ,):
            return self.bind(number, self.projection(number, self.node(node.below[0])))
        before = self.dtype
        slot = self.call(number, node)  # type: ignore[arg-type]  # what is left
        self.dtype = before
        return self.bind(number, slot)

    def alternative(self, number: int, node: ir.Pattern, shape: Shape | None) -> int:
        """One of the branches."""
        count = len(node.branches)
        choice = self.wishes.get((number, "%branch"), self.dice(number).randrange(count))
        chosen = self.scope.chosen if node.block is None else self.scope.current.chosen  # type: ignore[union-attr]
        chosen[number] = choice
        self.branches[f"alternative {choice + 1} of {count} at {node.name or number}"] = 1
        return self.node(node.branches[choice], shape)

    def projection(self, number: int, base: int) -> int:
        """The field of a tuple that constraints ask for, else mostly the one of this instance, else any."""
        type_ = self.graph.types[base]
        count = len(type_.fields) if isinstance(type_, TupleType) else 1
        current = self.scope.current
        rng = self.dice(number)
        in_turn = current is not None and rng.random() < 0.85
        default = current.index if current is not None and in_turn else rng.randrange(max(1, count))
        index = self.wanted(number, "index", default if default < count else 0)
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < count:
            raise Misfit(f"no field {index}")
        return self.typed(self.graph.add_proj(base, index))

    def operands(
        self, patterns: tuple[int | None | ir.Splice, ...], shapes: Mapping[int, Shape]
    ) -> list[int]:
        """Operands (and fields) in order, each instance of a block for itself.

        `shapes`: proposals by place.
        """
        slots: list[int] = []
        for k, pattern in enumerate(patterns):
            if pattern is None:
                slots.append(ABSENT)
            elif isinstance(pattern, ir.Splice):
                before, self.field_shape = self.field_shape, shapes.get(k)
                slots += self.instances(pattern.block, pattern.node)
                self.field_shape = before
            else:
                slots.append(self.node(pattern, shapes.get(k)))
        while slots and slots[-1] == ABSENT:
            slots.pop()
        return slots

    def joined(
        self, patterns: tuple[int | None | ir.Splice, ...], shapes: Mapping[int, Shape], axis: object
    ) -> list[int]:
        """The same of what is joined along an axis: instances differ in length."""
        before, self.lengthened = self.lengthened, axis if isinstance(axis, int) else None
        made = self.operands(patterns, shapes)
        self.lengthened = before
        return made

    def fields(self, number: int, patterns: tuple[int | None | ir.Splice, ...]) -> list[int]:
        """Fields of a tuple: open ones take the type and the shape of the first, other than it along the axis
        of a concatenation.
        """
        rng, axis = self.dice(number), self.join_axis
        slots = {
            k: self.node(p) for k, p in enumerate(patterns) if isinstance(p, int) and not self.is_open_leaf(p)
        }
        base = next((self.shape_of(slot) for slot in slots.values()), None)
        if base is None:
            least = 1 if axis is None else axis + 1 if axis >= 0 else -axis
            base = some_shape(rng, rng.choice([r for r in (1, 2, 3, 4, 6) if r >= least]))
        shapes = {
            k: base if isinstance(pattern, ir.Splice) else _longer(base, axis, rng)
            for k, pattern in enumerate(patterns)
        }
        said = [getattr(self.graph.types[slot], "dtype", None) for slot in slots.values()]
        said += [self.stated(p, "dtype") for p in patterns]
        before = self.dtype
        self.dtype = next((dtype for dtype in said if isinstance(dtype, str)), before)
        made = self.joined(patterns, shapes, axis)
        self.dtype = before
        return made

    def instances(self, number: int, root: int) -> list[int]:
        """The slots of `root` in all instances of a block, which are made here if they are not there yet."""
        made = self.scope.instances[number]
        before = self.scope.current
        if made:
            result = []
            for instance in made:
                self.within(instance)
                result.append(self.node(root))
            self.within(before)
            return result
        result, proposed = [], self.field_shape
        for k in range(self.count_of(number)):
            instance = Instance(k)
            self.within(instance)
            if proposed is not None:
                self.field_shape = _longer(proposed, self.lengthened, self.dice(root, " length"))
            result.append(self.node(root))
            made.append(instance)
        self.within(before)
        return result

    def within(self, instance: Instance | None) -> None:
        """Go on with the nodes of an instance of a block, under the wishes for it alone."""
        self.scope.current = instance
        self.wishes = self.wished if instance is None else under(self.wished, instance.index)

    def count_of(self, number: int) -> int:
        """The number of instances that a block is to have here; raises `Misfit` above `_MOST_INSTANCES`."""
        block = self.rule.blocks[number]
        count: int = self.wishes.get(
            (number, "%count"),
            evaluate(block.minimum, self.scope) + self.dice(-1 - number).choice((0, 0, 1, 2)),
        )
        if block.maximum is not None:
            count = min(count, evaluate(block.maximum, self.scope))
        if count > _MOST_INSTANCES:
            raise Misfit(f"more than {_MOST_INSTANCES} instances of one `each` or `chain`")
        self.counts.append(count)
        return count

    def run_of(self, end: ir.ChainNode) -> int:
        """The end of a run that is made from its start."""
        block, made = self.rule.blocks[end.chain], self.scope.instances[end.chain]
        slot, before = self.node(end.start), self.scope.current
        for k in range(self.count_of(end.chain)):
            assert block.previous is not None
            instance = Instance(k, {block.previous: slot}, previous=made[-1] if made else None)
            self.within(instance)
            slot = self.node(end.root)
            made.append(instance)
        self.within(before)
        return slot

    # ── calls ──

    def call(self, number: int, call: ir.CallNode) -> int:
        """A call: operands that are no leaves first, then leaves of shapes that fit them, then attributes."""
        rng = self.dice(number)
        operator = self.operator_of(number, call, rng)
        if operator in TYPED_FREELY:  # what is above says nothing about the types below
            self.dtype = self.drawn_type
        self.hint, self.settled = None, False
        slots: dict[int, int] = {}
        known = self.inner_operands(number, call, operator, slots, rng)
        given, _ = self.attributes(number, call, operator, {})
        signature = self.rule.dialect.operators[operator]
        first, others = self.to_vary(rng, signature, given)
        early = self.varied(rng, signature, slots, len(call.operands), given, given, first)
        shapes, proposed = self.leaf_operands(number, call, operator, slots, {**early, **given}, known, rng)
        proposed.update(early)
        splices = {k: shape for k, shape in enumerate(shapes) if isinstance(call.operands[k], ir.Splice)}
        if splices and self.attributes(number, call, operator, proposed)[1]:
            self.operands(call.operands, splices)  # the attributes read what the instances depend on
        self.capture_operands(call, signature, slots)
        attrs = self.call_attributes(number, call, operator, slots, proposed, given, others, rng)
        operands = self.joined(call.operands, splices, attrs.get("axis") if operator == "Concat" else None)
        if operator in call.swappable and len(operands) == 2 and rng.random() < 0.3:
            operands.reverse()
        for name, spec in signature.attributes.items():
            if name in attrs and attrs[name] == spec.default and rng.random() < 0.7:
                del attrs[name]
        types = [self.graph.types[o] if o >= 0 else None for o in operands]
        if self.rule.dialect.name == "onnx":
            check_operands(operator, types, attrs)
        if any(spec.types[0].base == "graph" for spec in signature.attributes.values()):
            from gslang.verify.instances.bodies import add_call

            return add_call(self, number, call, operator, operands, attrs, rng)
        slot = self.typed(self.graph.add(operator, tuple(operands), attrs))
        if self.rule.dialect.name == "onnx":
            check_result(operator, types, self.graph.types[slot])
        if any(name == "kind" for _, name in self.wishes):
            self.state_shape(slot)
        if operator in _FLOAT_ONLY and not all(self.is_float(o) for o in operands):
            raise Misfit(f"`{operator}` is for floats")
        return slot

    def operator_of(self, number: int, call: ir.CallNode, rng: Random) -> str:
        """The operator of a call that is made."""
        operator = self.picked(number, call, rng)
        if len(call.operators) > 1:
            self.branches[f"operator {operator}"] = 1
        return operator

    def inner_operands(
        self, number: int, call: ir.CallNode, operator: str, slots: dict[int, int], rng: Random
    ) -> dict[str, object]:
        """Adds the operands that are no leaves to `slots`: their shapes decide about the leaves. Returns what
        is known for samplers: attributes, the rank wanted of a reshape, and how many results are read.
        """
        given, _ = self.attributes(number, call, operator, {})
        proposed = self.propose_below(call, operator, given, rng)
        rank, self.rank = self.rank if operator == "Reshape" else None, None
        own = self.beside
        beside = own if self.broadcasts(operator) or operator in _OF_ANY_SHAPE else None
        axis, perm = given.get("axis"), given.get("perm")
        self.join_axis = axis if operator == "concatenate" and isinstance(axis, int) else None
        for k, pattern in enumerate(call.operands):
            if isinstance(pattern, int) and not self.is_open_leaf(pattern):
                self.rank = (
                    len(perm) if operator == "Transpose" and isinstance(perm, tuple)
                    else self.ranks.get(pattern)
                )
                self.beside = beside
                dtype = self.type_beside(call, operator, k, slots)
                slots[k] = self.operand(operator, k, pattern, None, dtype)
                if self.broadcasts(operator):
                    beside = self.shape_of(slots[k]) or beside
                elif self.dice(number, f" {k} alike").random() < _ALIKE:
                    self.propose_alike(call.operands, k)
        self.rank, self.beside = None, own if operator in _PERMUTES else beside
        read = {"%results": self.results_read(number)} if operator in _SPLITS else {}
        return {**proposed, **read} if rank is None else {**proposed, "%rank": rank}

    def leaf_operands(
        self,
        number: int,
        call: ir.CallNode,
        operator: str,
        slots: dict[int, int],
        given: Attrs,
        proposed: dict[str, object],
        rng: Random,
    ) -> tuple[list[Shape], dict[str, object]]:
        """Adds the leaves to `slots`. Returns what samplers proposed: shapes of all operands, and attributes,
        beside those `proposed` already.
        """
        signature = self.rule.dialect.operators[operator]
        sampled = operator_that_samples(signature, self.samplers)
        beside, self.beside = self.beside, None
        answer: list[Shape] = []
        absent = frozenset([k for k, pattern in enumerate(call.operands) if pattern is None])

        def ask(shapes: list[Shape | None]) -> None:
            nonlocal answer, proposed
            known = {
                **proposed, **given, **self.values(slots), "%empty": self.empty, "%beside": beside,
                "%absent": absent, "%rank_of_data": self.rank_of_data(call),
            }
            answer, extra = sample(rng, sampled, signature.traits, shapes, known, self.samplers)
            proposed = {**extra, **proposed}

        late = {k for k in self.operands_told(call, signature) if f"%{k}" not in given}
        read = self.read_as_attributes(call, signature)
        for k, pattern in self.leaf_order(call, late, rng):
            if not isinstance(pattern, int) or k in slots:
                continue
            if k in late:
                given = {**given, **self.former_attributes(number, call, signature, proposed)}
            shapes = listed(read, self.shapes(call, slots))
            if shapes[0] is None:
                shapes[0] = self.shape_demanded(operator, call.operands)
            before = proposed
            ask(shapes)
            for _ in range(_AGAIN * (sampled in self.samplers)):
                if self.ranks_fit(call, answer, proposed):
                    break
                proposed = before
                ask(shapes)
            fits_field = self.field_shape is not None and sampled not in self.samplers and not any(shapes)
            shape = self.field_shape if fits_field else answer[k]
            self.settle_operand(number, signature, k, read.get(k), given, proposed)
            self.shaped = sampled in self.samplers
            slots[k] = self.operand(operator, k, pattern, shape, self.type_beside(call, operator, k, slots))
            self.forget_operand()
            if self.is_fixed_constant(pattern):  # what was proposed for the other operands may not fit it
                proposed = {name: value for name, value in proposed.items() if not name[1:].isdigit()}
        shapes = self.shapes(call, slots)
        if all(
            shape is not None or pattern is None or isinstance(pattern, ir.Splice)
            for pattern, shape in zip(call.operands, shapes)
        ):
            ask(shapes)
        return answer, proposed

    def settle_operand(
        self, number: int, signature: Signature, k: int, test: ir.Test | None, given: Attrs, proposed: Attrs
    ) -> None:
        """Say of operand `k`, which is made next, what value it has, if that is known, and whether it has to
        be there, or to be known. `test`: what is asked of it as an attribute.
        """
        self.settled = f"%{k}" in given
        self.hint = given[f"%{k}"] if self.settled else proposed.get(f"%{k}")
        self.needed = is_needed(signature, k) or is_list(test)
        self.as_attribute = test is not None or self.is_read(number, signature, k)

    def operand(
        self, operator: str, k: int, pattern: int, shape: Shape | None, dtype: str | None = None
    ) -> int:
        """The node of operand `k`, of an element type that the operator takes there."""
        before = self.dtype
        self.dtype = dtype or type_of_its_own(operator, k, partial(self.dice, pattern)) or before
        self.dtype = taken_type(self.rule.dialect, operator, k, self.dtype)
        slot = (
            self.bind(pattern, self.sequence(pattern)) if operator in OF_SEQUENCES and k == 0
            and self.is_open_leaf(pattern) else self.node(pattern, shape)
        )
        self.dtype = before
        return slot

    def sequence(self, pattern: int) -> int:
        """A sequence of two or three tensors of one type, for a leaf; a model has none as an input here."""
        leaf = self.rule.nodes[pattern]
        if not isinstance(leaf, ir.LeafNode) or leaf.kind != "any":
            raise Misfit("no sequence of tensors is made for an input of this kind")
        rng = self.dice(pattern)
        type_ = TensorType(some_shape(rng, rng.choice((1, 2, 3))), self.dtype)
        parts = [
            self.graph.add(INPUT, (), {}, type_, f"{leaf.name or 'x'}_{len(self.graph.op)}")
            for _ in range(rng.choice((2, 2, 3)))
        ]
        return self.typed(self.graph.add("SequenceConstruct", tuple(parts), {}))

    def state_shape(self, slot: int) -> None:
        """Where an operand is computed, inference may not know the result's shape; a model would state it, so
        it is found by running it.
        """
        type_ = self.graph.types[slot]
        if not isinstance(type_, TensorType) or is_static(type_.shape) and type_.shape is not None:
            return
        self.graph.set_outputs([slot])
        try:
            (value,) = evaluate_graph(self.graph, self.rule.dialect, random_inputs(self.graph, self.seed))
        except EvaluationError as error:
            raise Misfit(f"the shape is unknown: {error}") from error
        self.graph.types[slot] = TensorType(tuple(value.shape), type_.dtype)

    # ── leaves ──

    def leaf_after_what_it_reads(self, number: int, leaf: ir.LeafNode, proposed: Shape | None) -> int:
        """Operands are not made in the order of matching: a leaf may be asked for before one that its
        constraints read.
        """
        try:
            return self.leaf(number, leaf, proposed)
        except FAILURES:
            missing = [other for other in leaves_read_by(self.rule, number) if self.bound(other) == UNBOUND]
            if not missing:
                raise
        for other in missing:
            self.node(other)
        return self.leaf(number, leaf, proposed)


def _longer(shape: Shape, axis: int | None, rng: Random) -> Shape:
    """A shape of mostly another length along an axis, if there is one."""
    if axis is None or not -len(shape) <= axis < len(shape) or rng.random() >= 0.6:
        return shape
    at = axis % len(shape)
    return (*shape[:at], rng.choice((1, 2, 3, 5)), *shape[at + 1 :])
