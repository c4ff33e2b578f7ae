"""Operands of a call before and while they are made: shapes, ranks and element types, as far as known."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from random import Random

from gslang.check import checked as ir
from gslang.check.walks import within_captures
from gslang.verify.instances.make_demands import Demands
from gslang.verify.instances.operand_types import typed_alike, typed_like
from gslang.verify.samplers.sample import Shape


class Operands(Demands):
    """The state of an attempt as the operands of calls are made of it."""

    def results_read(self, number: int) -> int:
        """The least number of results of a call of which the source reads some by their places, or one in
        each instance of a block."""
        reading = [node for node in self.rule.nodes if isinstance(node, ir.ProjNode) and node.base == number]
        places = [node.stated("index") for node in reading]
        wished: list[int] = [self.wishes.get((n.block, "%count"), 1) for n in reading if n.block is not None]
        return max([1, *wished, *(1 + place for place in places if isinstance(place, int))])

    def broadcasts(self, operator: str) -> bool:
        """True if operands of any shapes that broadcast suit an operator."""
        traits = self.rule.dialect.operators[operator].traits
        return operator not in self.samplers and ("elementwise" in traits or "broadcast" in traits)

    def rank_of_data(self, call: ir.CallNode) -> int | None:
        """The rank of the first operand of a call, where conditions state it."""
        data = call.operands[0] if call.operands else None
        return self.said_ranks.get(data) if isinstance(data, int) else None

    def leaf_order(
        self, call: ir.CallNode, late: set[int], rng: Random
    ) -> list[tuple[int, int | None | ir.Splice]]:
        """The operands of a call in the order in which leaves are made; `late`: those that others tell."""
        order = list(enumerate(call.operands))
        if rng.random() < 0.4:  # a later operand may be the one whose shape is fixed
            order.reverse()
        # their values may decide about shapes
        order.sort(key=lambda item: (item[0] in late, not self.is_fixed_constant(item[1])))
        return order

    def shapes(self, call: ir.CallNode, slots: Mapping[int, int]) -> list[Shape | None]:
        """Shapes of a call's operands, those that leaves state too; None where they are not known yet."""
        return [
            (() if slots[k] in self.wide else self.shape_of(slots[k])) if k in slots
            else stated if isinstance(stated := self.stated(pattern, "shape"), tuple) else None
            for k, pattern in enumerate(call.operands)
        ]

    def stated(self, pattern: int | None | ir.Splice, field: str) -> object:
        """The constant that a field of a leaf has whatever it is bound to. Operands beside it depend on it:
        a sampler that does not know its shape proposes numbers of another one.
        """
        node = self.rule.nodes[pattern] if isinstance(pattern, int) else None
        return node.stated(field) if isinstance(node, ir.LeafNode) else None

    def type_beside(self, call: ir.CallNode, operator: str, k: int, slots: Mapping[int, int]) -> str | None:
        """The element type that operand `k` takes over from another one; None where it does not, or that is
        open.
        """
        like = typed_like(operator, k)
        places = range(len(call.operands)) if like is None else (like,)
        alike = partial(typed_alike, self.rule.dialect, operator, k)
        known = [self.known_type(call, j, slots) for j in places if j == like or alike(j)]
        return next((dtype for dtype in known if dtype is not None), None)

    def known_type(self, call: ir.CallNode, k: int, slots: Mapping[int, int]) -> str | None:
        """The element type of operand `k`, if it is made already, or the rule or a wish says it."""
        if k in slots:
            return getattr(self.graph.types[slots[k]], "dtype", None) if slots[k] >= 0 else None
        pattern = call.operands[k] if k < len(call.operands) else None
        wish = self.wishes.get((pattern, "dtype")) if isinstance(pattern, int) else None
        stated = wish or self.stated(pattern, "dtype")
        return stated if isinstance(stated, str) else None

    def is_float(self, slot: int) -> bool:
        """True if a node holds floats, as far as is known."""
        return slot < 0 or str(getattr(self.graph.types[slot], "dtype", "float")).startswith("float")


def is_list(test: ir.Test | None) -> bool:
    """True if a test demands a list, so that what it is about is there."""
    return test is not None and isinstance(within_captures(test), ir.TupleTest)


def listed(read: Mapping[int, ir.Test], shapes: list[Shape | None]) -> list[Shape | None]:
    """These shapes of operands, and those of the ones that are `read` as lists of so many items."""
    counts = {
        k: len(inner.items) for k, test in read.items()
        if isinstance(inner := within_captures(test), ir.TupleTest) and inner.back is None
    }
    return [(counts[k],) if shape is None and k in counts else shape for k, shape in enumerate(shapes)]
