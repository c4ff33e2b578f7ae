"""One case of a rule: the graph of its source, and the rule's values in it.

Values are computed by the engine's readable evaluator over symbolic sizes: a comparison that is not decided
splits the case. What the source's operators demand is assumed (`source`), what the target's demand must
follow (`target`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gslang.check import checked as ir
from gslang.check.walks import walk
from gslang.dialect.tensor_type import UnknownValue
from gslang.engine.scope import UNBOUND, evaluate, iterate
from gslang.engine.values import COMPARE, truth
from gslang.verify.prove.operators.constant_value import ConstantValue
from gslang.verify.prove.operators.domains import Written
from gslang.verify.prove.operators.symbolic_graph import SymbolicGraph
from gslang.verify.prove.operators.tensors import Tensor, Value, World
from gslang.verify.prove.terms.dtypes import Dtype, compared, taken_as
from gslang.verify.prove.terms.opaque import NotGrown
from gslang.verify.prove.terms.paths import CONDITION, Impossible, NotProved, TooMuch
from gslang.verify.prove.terms.reals import Real
from gslang.verify.prove.terms.sizes import Number, is_number
from gslang.verify.prove.values import FamilyValues
from gslang.verify.prove.watched import Branches, Watched, WatchingScope

# What a value fails with in the engine as well, so that the rule is not applied in this case. Any other error
# may be the prover's own: whether a condition holds is open then.
DEFINITE = (UnknownValue, IndexError, ZeroDivisionError)
_NOTHING = "'NoneType' object"  # how Python's words for what cannot be asked of an absent value begin
OPEN = (LookupError, ValueError, TypeError, AttributeError, ArithmeticError)


class Case:
    """`graph`: the nodes of the source so far; `scope`: what they are bound to; `evaluate`: the value of an
    expression there.
    """

    def __init__(self, watched: Watched, world: World) -> None:
        self.watched, self.world = watched, world
        self.rule = rule = watched.rule
        self.graph = SymbolicGraph(world)
        self._has_chains = any([block.previous is not None for block in rule.blocks])
        self.ranges: dict[str, Number] = {}  # symbols for any place (`for_all`) → the number of places
        self.scope = WatchingScope(
            rule, self.graph, [UNBOUND] * len(rule.nodes),  # type: ignore[arg-type]
            instances=[NotGrown() for _ in rule.blocks],  # type: ignore[misc]
        )
        self.scope.watched, self.scope.sides = watched.decisions, set()
        self.evaluate: Callable[[ir.Value], Any] = (
            FamilyValues(world, self.scope) if rule.blocks and not world.counted
            else lambda value: evaluate(value, self.scope)
        )

    def end(self) -> None:
        """Take apart what refers to itself (`SymbolicGraph.end`)."""
        self.graph.end()
        self.world.constants.clear()
        self.world.slices.clear()
        self.scope.new_type = None
        del self.evaluate, self.graph.types, self.world.numbers_chosen

    def takes(self, branches: Branches) -> bool:
        """True if these branches of alternations are those of this case."""
        return all(self.scope.chosen.get(node) == branch for node, branch in branches)

    def says_nothing(self, item: object) -> bool:
        """True of a condition on the first instance of a chain that reads the one before it."""
        current = self.scope.current
        return self._has_chains and current is not None and current.previous is None and any(
            isinstance(part, ir.Prev) for part in walk(item, self.rule.lets)
        )

    # ── values ──

    def value(self, value: ir.Value) -> Any:
        """A value that must be there.

        Raises `Impossible` where the engine has none either: the match does not count then.
        """
        try:
            return self.evaluate(value)
        except DEFINITE as error:
            if self.world.reading and isinstance(error, UnknownValue):
                raise NotProved(f"a value is read before it is known: {error}") from error
            raise Impossible(CONDITION) from error
        except OPEN as error:
            if isinstance(error, TypeError) and str(error).startswith(_NOTHING):
                raise Impossible(CONDITION) from error
            raise NotProved(f"a value cannot be evaluated: {error}") from error

    def try_value(self, value: ir.Value) -> object:
        """A value, or None where it reads what is not there yet."""
        try:
            return self.evaluate(value)
        except UnknownValue:
            return None
        except IndexError as error:  # a shape has fewer dimensions than the rule reads: no match
            raise Impossible(CONDITION) from error

    def holds(self, condition: ir.Value) -> bool:
        """True if a condition holds in this case; what the engine does not know either is false."""
        try:
            return truth(self.evaluate(condition))
        except DEFINITE:
            return False
        except OPEN as error:
            if isinstance(error, TypeError) and str(error).startswith(_NOTHING):
                return False
            raise NotProved(f"a condition cannot be evaluated: {error}") from error

    def fails(self, condition: ir.Value) -> bool:
        """True if a condition does not hold, as far as it can be told before everything is bound. One that
        reads a dimension which is not there does not hold."""
        try:
            return not self._assumed(condition)
        except IndexError:
            return True
        except (UnknownValue, ZeroDivisionError, *OPEN):
            return False

    def cut_off(self, condition: ir.Value) -> bool:
        """True unless a condition cannot be read. Raises `Impossible` where it fails."""
        try:
            if self.fails(condition):
                raise Impossible(CONDITION)
        except TooMuch:
            raise
        except NotProved:
            return False
        return True

    def assume(self, condition: ir.Value) -> None:
        """Take a condition of the rule to hold: equal sizes are learnt, without a case in which
        they differ. Raises `Impossible` where it does not hold.
        """
        self.fails(condition)
        if not self.holds(condition):
            raise Impossible(CONDITION)

    def _assumed(self, condition: ir.Value) -> bool:
        by, each = condition.decided_by(True, ()), condition.each
        if by is not None and by.every and by.wanted:
            return all(self._assumed(item) for item in by.items)
        if each is not None and not isinstance(self.evaluate, FamilyValues):
            return all(self._assumed(each.element) for _ in iterate(each, self.scope))
        match condition:
            case ir.CompareValue("==" | "<=" | ">=" | "<" | ">" as sign, left, right):
                return self._compared(sign, self.evaluate(left), self.evaluate(right))
        return truth(self.evaluate(condition))

    def _compared(self, sign: str, a: Any, b: Any) -> bool:
        if is_number(a) and is_number(b):
            match sign:
                case "==":
                    self.world.facts.learn_equal(a, b)
                case "<=":
                    self.world.facts.learn(b - a)
                case ">=":
                    self.world.facts.learn(a - b)
                case "<":
                    self.world.facts.learn(b - a - 1)
                case ">":
                    self.world.facts.learn(a - b - 1)
            return True
        if sign == "==" and (isinstance(a, Dtype) or isinstance(b, Dtype)):
            return taken_as(a, b) if isinstance(a, Dtype) else taken_as(b, a)
        if isinstance(a, ConstantValue) and isinstance(b, tuple) and (found := a.vector()) is not None:
            a = found
        if sign == "==" and isinstance(a, tuple) and isinstance(b, tuple):
            return len(a) == len(b) and all(self._compared(sign, x, y) for x, y in zip(a, b))
        choices = self.world.facts.choices
        choices.assuming = any(isinstance(x, (Real, ConstantValue)) for x in (a, b))
        try:
            return truth(COMPARE[sign](a, b))
        finally:
            choices.assuming = False

    # ── attributes that are copied ──

    def as_written(self, value: ir.Value, operator: str, operands: Sequence[Value]) -> object:
        """An attribute that is copied, without looking at how it is written; None for any other value.

        How it is written does not matter only in a call that is like the one it comes from: an axis of -1 is
        another one elsewhere.
        """
        if isinstance(value, ir.NodeAttr) and isinstance(self.rule.nodes[value.node], ir.CallNode):
            slot = self.scope.slot(value.place, value.node)
            if slot >= 0:
                found = self.graph.attrs[slot].get(value.name)
                if isinstance(found, Written) and (
                    found.anywhere and _plain_name(self.graph.op[slot]) == _plain_name(operator)
                    or self.alike(slot, operator, operands)
                ):
                    return found
        return None

    def alike(self, slot: int, operator: str, operands: Sequence[Value]) -> bool:
        """True if a call has the operator of a call in the source, and operands of the same ranks and first
        element type."""
        own = [self.graph.tensor(o) if o >= 0 else None for o in self.graph.operands[slot]]
        if _plain_name(self.graph.op[slot]) != _plain_name(operator):
            return False
        if operator == "QLinearConv":  # scales and zero points stand between
            own, operands = own[:2], operands[0:4:3]
        if list(map(_rank, own)) != list(map(_rank, operands))[: len(own)]:
            return False
        first, other = (
            next((o for o in values if isinstance(o, Tensor)), None) for values in (own, operands)
        )
        if operator in ("QLinearConv", "MaxPool"):
            return True
        return first is None or other is None or compared(first.dtype, other.dtype) is True

    def copied(
        self, slot: int, operator: str, operands: Sequence[Value], names: Sequence[str]
    ) -> dict[str, object]:
        """Attributes of a call in the source for another call."""
        own = self.graph.attrs[slot]
        if self.alike(slot, operator, operands):
            return dict(own.items())
        same = self.graph.op[slot] == operator
        return {
            name: v if same and isinstance(v, Written) and v.anywhere else own[name]
            for name, v in own.items() if name in names
        }


def _plain_name(operator: str) -> str:
    """The operator whose attributes say the same."""
    return _SAME_ATTRIBUTES.get(operator, operator) if isinstance(operator, str) else operator


_SAME_ATTRIBUTES = {
    "com.microsoft.FusedConv": "Conv", "QLinearConv": "Conv",
    "com.microsoft.FusedGemm": "Gemm",
    "com.microsoft.Attention": "com.microsoft.MultiHeadAttention",
}  # fmt: skip


def _rank(value: Value) -> int | None:
    return len(value.shape) if isinstance(value, Tensor) else None
