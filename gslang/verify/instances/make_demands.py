"""Demands of calls on the shapes of inputs below other calls of an instance: known before these are made.

Operands are made before the calls that take them. Drawn without a look at those, ranks and sizes of inputs
below two reshapes, paddings or conversions hardly ever fit together.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from random import Random

from gslang.base.open_types import Attrs
from gslang.check import checked as ir
from gslang.check.walks import against_constant, walk
from gslang.engine.scope import UNBOUND
from gslang.verify.demanded import ranks_below
from gslang.verify.instances.make_attributes import CallAttributes
from gslang.verify.prove.operators.operators import RANKS_OF_OPERANDS
from gslang.verify.prove.ranks.same_rank import keeps_shape
from gslang.verify.reads import operator_that_samples
from gslang.verify.samplers.sample import Shape, sample, some_shape

_AS_TOLD = 0.5  # share of attempts in which calls have an operator that a condition names


@cache
def _named_by_conditions(rule: ir.CheckedRule) -> dict[int, frozenset[str]]:
    """Call → the operators that conditions compare its own with."""
    found: dict[int, frozenset[str]] = {}
    for part in walk((rule.where, rule.blocks, rule.lets, rule.target)):
        match against_constant(part):
            case (ir.NodeAttr(_, node, "op"), _, (str() | tuple()) as said):
                names = frozenset((said,) if isinstance(said, str) else said)
                found[node] = found.get(node, frozenset()) | names
    return found


class Demands(CallAttributes):
    """The state of one attempt, and what its calls demand of inputs."""

    ranks: dict[int, int]  # node → its rank
    below: dict[int, Shape]  # input → its shape

    def find_ranks(self) -> None:
        """Find the ranks that calls demand, as far as it is known which operators they have."""
        calls = self.rule.calls.items()
        self.below = {}
        self.ranks = ranks_below(self.rule, {
            number: self.picked(number, call, self.dice(number)) if call.variable else call.operators[0]
            for number, call in calls
            if call.block is None and (call.variable or len(call.operators) == 1)
        }, self.dice)

    def shape_demanded(self, operator: str, operands: Sequence[int | None | ir.Splice]) -> Shape | None:
        """The shape of a call's first operand that calls above it demand; None where they demand none."""
        first = operands[0] if operands else None
        if not isinstance(first, int) or RANKS_OF_OPERANDS.get(operator, (None,))[0] is not None:
            return None
        rank = self.ranks.get(first)
        return self.below.get(first, None if rank is None else some_shape(self.dice(first), rank))

    def propose_below(self, call: ir.CallNode, operator: str, given: Attrs, rng: Random) -> dict[str, object]:
        """Propose shapes that fit together for inputs that several operands are computed from; returns the
        attributes that they fit.
        """
        inputs = [self.input_below(pattern) for pattern in call.operands]
        if len({number for number in inputs if number is not None}) < 2:
            return {}
        signature = self.rule.dialect.operators[operator]
        sampled = operator_that_samples(signature, self.samplers)
        shapes, proposed = sample(
            rng, sampled, signature.traits, [None] * len(inputs), given, self.samplers
        )
        self.below |= {number: shape for number, shape in zip(inputs, shapes) if number is not None}
        return proposed

    def propose_alike(self, operands: Sequence[int | None | ir.Splice], made: int) -> None:
        """Propose the shape of the input below an operand that is made for inputs below other operands, if
        the same operators stand above them: what is permuted alike mostly fits together then.
        """
        path, leaf = self.path_below(operands[made])
        shape = self.shape_of(self.bound(leaf)) if leaf is not None and path else None
        if shape is None:
            return
        for other in operands[made + 1 :]:
            above, below = self.path_below(other)
            if above == path and below is not None and self.bound(below) == UNBOUND:
                self.below.setdefault(below, shape)

    def path_below(self, pattern: int | None | ir.Splice) -> tuple[list[str], int | None]:
        """The operators above the leaf that an operand is computed from, along first operands; None if there
        is no such leaf outside of blocks."""
        path: list[str] = []
        while isinstance(pattern, int) and isinstance(call := self.rule.nodes[pattern], ir.CallNode):
            if len(call.operators) != 1:
                return [], None
            path.append(call.operators[0])
            pattern = call.operands[0] if call.operands else None
        if not isinstance(pattern, int):
            return path, None
        node = self.rule.nodes[pattern]
        return path, pattern if isinstance(node, ir.LeafNode) and node.block is None else None

    def is_open_leaf(self, number: int) -> bool:
        """True if a pattern node is a leaf that is not made yet; of an alternation the branch that will be
        taken counts."""
        while isinstance(node := self.rule.nodes[number], ir.AltNode):
            if self.bound(number) != UNBOUND:
                return False
            number = node.branches[self.dice(number).randrange(len(node.branches))]
        return isinstance(node, ir.LeafNode) and self.bound(number) == UNBOUND

    def is_fixed_constant(self, pattern: int | None | ir.Splice) -> bool:
        """True if an operand is a leaf whose value the rule constrains, or one of several such leaves."""
        node = self.rule.nodes[pattern] if isinstance(pattern, int) else None
        if isinstance(node, ir.AltNode):
            return all(self.is_fixed_constant(branch) for branch in node.branches)
        return isinstance(node, ir.LeafNode) and bool(node.asked("value"))

    def ranks_fit(self, call: ir.CallNode, shapes: Sequence[Shape], proposed: Attrs) -> bool:
        """False if the rule states another rank of an operand that is a leaf than one of these shapes has.
        Of operands whose values are proposed, these say more."""
        for k, (pattern, shape) in enumerate(zip(call.operands, shapes)):
            leaf = isinstance(pattern, int) and isinstance(self.rule.nodes[pattern], ir.LeafNode)
            if isinstance(pattern, int) and leaf and f"%{k}" not in proposed:
                tests = self.rule.nodes[pattern].asked("shape")
                listed = [t for t in tests if isinstance(t, ir.TupleTest) and t.back is None]
                rank = len(listed[0].items) if listed else self.said_ranks.get(pattern, len(shape))
                if rank != len(shape):
                    return False
        return True

    def input_below(self, pattern: int | None | ir.Splice) -> int | None:
        """The input of open shape that an operand is computed from by at least one call, all of which keep
        shapes.
        """
        calls = 0
        while isinstance(pattern, int) and isinstance(call := self.rule.nodes[pattern], ir.CallNode):
            if (
                self.bound(pattern) != UNBOUND or len(call.operators) != 1
                or not keeps_shape(self.rule.dialect, call.operators[0])
            ):
                return None
            pattern, calls = call.operands[0] if call.operands else None, calls + 1
        node = self.rule.nodes[pattern] if isinstance(pattern, int) and calls else None
        if not isinstance(node, ir.LeafNode) or not isinstance(pattern, int) or node.asked("shape"):
            return None
        wished = any((pattern, name) in self.wishes for name in ("shape", "ndim"))
        return None if wished or self.bound(pattern) != UNBOUND else pattern

    def picked(self, number: int, call: ir.CallNode, rng: Random) -> str:
        """The operator of a call, which may not be made: the one of its variable if that is bound, else any.
        """
        operator = self.scope.variables.get(call.variable) if call.variable else None
        if operator is None:
            operator = self.wishes.get((number, "%operator"))
        if operator is None and self.stressed is not None and self.stressed[0] in call.operators:
            operator = self.stressed[0]
        if operator is None:
            operator = rng.choice(sorted(call.operators))
            told = _named_by_conditions(self.rule).get(number, frozenset()).intersection(call.operators)
            dice = Random(f"{self.rule.name} {self.seed} operators")  # the same in all instances of a block
            if told and dice.random() < _AS_TOLD:
                operator = dice.choice(sorted(told))
        if call.variable:
            self.scope.variables[call.variable] = operator
        return operator
