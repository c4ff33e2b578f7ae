"""One case of a rule: the graph of its source, and the rule's values in it.

Values are computed by the engine's readable evaluator over symbolic sizes: a comparison that is not decided splits the case.
What the source's operators demand is assumed (`source`), what the target's demand must follow (`target`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gslang.check import checked as ir
from gslang.dialect.tensor_type import UnknownValue
from gslang.engine.scope import UNBOUND, Scope
from gslang.engine.values import FAILURES, evaluate, truth
from gslang.verify.prove.domains import Written
from gslang.verify.prove.dtypes import compared
from gslang.verify.prove.families import check_blocks
from gslang.verify.prove.paths import Impossible, NotProved
from gslang.verify.prove.symbolic_graph import SymbolicGraph
from gslang.verify.prove.tensors import Tensor, Value, World
from gslang.verify.prove.values import FamilyValues


class Case:
    """`graph`: the nodes of the source so far; `scope`: what they are bound to; `evaluate`: the value of an expression there."""

    def __init__(self, rule: ir.CheckedRule, world: World) -> None:
        check_blocks(rule)
        self.rule, self.world = rule, world
        self.graph = SymbolicGraph(world)
        self.scope: Any = Scope(rule, self.graph, [UNBOUND] * len(rule.nodes), instances=[[] for _ in rule.blocks])  # type: ignore[arg-type]
        self.evaluate: Callable[[ir.Value], Any] = FamilyValues(world, self.scope) if rule.blocks else lambda value: evaluate(value, self.scope)

    # ── values ──

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

    def holds(self, condition: ir.Value) -> bool:
        """Whether a condition holds in this case; unknown is false, as in the engine."""
        try:
            return truth(self.evaluate(condition))
        except (TypeError, AttributeError) as error:
            raise NotProved(f"a condition that cannot be read: {error}") from error
        except FAILURES:
            return False

    # ── attributes that are copied ──

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


def _rank(value: Value) -> int | None:
    return len(value.shape) if isinstance(value, Tensor) else None
