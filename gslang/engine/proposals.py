"""Values that would pass the tests of a source: `constraints` the other way round.

What proposes nothing by itself is said by who asks: which of several tests is to pass, how many items a tuple
has, what an item is that no test fixes.
"""

from __future__ import annotations

from typing import Any, TypeGuard

from gslang.base.quick_dataclass import dataclass
from gslang.check import checked as ir
from gslang.engine.scope import Scope, evaluate
from gslang.engine.values import truth


@dataclass(frozen=True, slots=True)
class Unsaid:
    """Any value would do, as far as is known; it stands in `depth` tuples."""

    depth: int = 0


UNSAID = Unsaid()


class Proposals:
    """Proposes values that pass tests, close to a default, in the scope of a match that is being made."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def __call__(self, test: ir.Test, default: object = UNSAID) -> Any:
        """A value that may pass; the default where the test leaves it open. Captures are made on the way.

        Raises what evaluations fail with.
        """
        match test:
            case ir.AgainstValue():
                return self.evaluate(test.value)
            case ir.Capture(number, inner):
                found = self.settled(self(inner, default))
                if not isinstance(found, Unsaid):
                    self.scope.bind(number, found)
                return found
            case ir.TupleTest():
                return self._tuple(test, default)
            case ir.EachItem(inner, local, minimum):
                given = self.items(default, minimum, True)
                if given is None:
                    return default
                found = []
                for k, item in enumerate(given):
                    self.scope.locals[local] = k
                    found.append(self.settled(self(inner, item)))
                return tuple(found)
            case ir.OneOf(tests):
                return self(self.picked(tests), default)
            case ir.IfTest(condition, then, otherwise):
                return self(then if self.holds(condition) else otherwise, default)
            case ir.SelectTest(place, node, arms):
                arm = arms[self.scope.branch(place, node)]
                return default if arm is None else self(arm, default)
        return default

    def _tuple(self, test: ir.TupleTest, default: object) -> object:
        given = self.items(default, len(test.items), test.back is not None)
        if given is None:
            return default
        found = list(given)
        for at, item in zip(test.places, test.items):
            found[at] = self.settled(self(item, given[at]))
        return tuple(found)

    # ── what differs ──

    def evaluate(self, value: ir.Value) -> Any:
        """The value of an expression."""
        return evaluate(value, self.scope)

    def holds(self, condition: ir.Value) -> bool:
        """True if a condition does."""
        return truth(self.evaluate(condition))

    def picked(self, tests: tuple[ir.Test, ...]) -> ir.Test:
        """The one of several tests that is to pass."""
        return tests[0]

    def items(self, default: object, count: int, more: bool) -> tuple[Any, ...] | None:
        """The items to begin with of a tuple that has `count` of them, or, with `more`, at least these; None
        where that is not known."""
        raise NotImplementedError

    def settled(self, found: object) -> Any:
        """An item, or a value that is captured, in place of one that is open."""
        return found


def fits(default: object, count: int, more: bool) -> TypeGuard[tuple[object, ...]]:
    """True if a default has as many items as are asked for."""
    return isinstance(default, tuple) and (len(default) == count or more and len(default) > count)
