"""Truth functions of variables as decision diagrams in a fixed order of the variables: equal functions have
the same number (Bryant, "Graph-based algorithms for Boolean function manipulation", 1986).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

FALSE: Final = 0
TRUE: Final = 1
_NO_VARIABLE: Final = 1 << 60


class TooLarge(Exception):
    """A function takes more steps than it may."""


class Diagrams:
    """Functions by number: the `level` of the first variable that each asks for, and what it is where that is
    false (`low`) and true (`high`). `left`: steps that may still be taken.
    """

    __slots__ = ("_chosen", "_numbers", "high", "left", "level", "low")

    def __init__(self, most: int) -> None:
        self.left = most
        self.level, self.low, self.high = [_NO_VARIABLE, _NO_VARIABLE], [FALSE, TRUE], [FALSE, TRUE]
        self._numbers: dict[tuple[int, int, int], int] = {}
        self._chosen: dict[tuple[int, int, int], int] = {}

    @contextmanager
    def at_most(self, steps: int) -> Iterator[None]:
        """Inside, so many steps may be taken."""
        kept = max(self.left - steps, 0)
        self.left -= kept
        try:
            yield
        finally:
            self.left = max(self.left, 0) + kept

    def variable(self, level: int) -> int:
        """The variable at a level: those of lower levels are asked first."""
        return self._made(level, FALSE, TRUE)

    def _made(self, level: int, low: int, high: int) -> int:
        if low == high:
            return low
        key = level, low, high
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.level)
            self.level.append(level)
            self.low.append(low)
            self.high.append(high)
        return number

    def choose(self, p: int, then: int, otherwise: int) -> int:
        """`then` where p is true, else `otherwise`. Raises `TooLarge`."""
        if p == TRUE or then == otherwise:
            return then
        if p == FALSE:
            return otherwise
        if p == then:
            then = TRUE
        if p == otherwise:
            otherwise = FALSE
        if then == TRUE and otherwise == FALSE:
            return p
        if otherwise == FALSE and then < p:
            p, then = then, p
        elif then == TRUE and otherwise < p:
            p, otherwise = otherwise, p
        key = p, then, otherwise
        found = self._chosen.get(key)
        if found is not None:
            return found
        self.left -= 1
        if self.left < 0:
            raise TooLarge
        level, low, high = self.level, self.low, self.high
        first = min(level[p], level[then], level[otherwise])
        p0, p1 = (low[p], high[p]) if level[p] == first else (p, p)
        t0, t1 = (low[then], high[then]) if level[then] == first else (then, then)
        o0, o1 = (low[otherwise], high[otherwise]) if level[otherwise] == first else (otherwise, otherwise)
        found = self._chosen[key] = self._made(first, self.choose(p0, t0, o0), self.choose(p1, t1, o1))
        return found

    def negated(self, p: int) -> int:
        """True where p is false."""
        return self.choose(p, FALSE, TRUE)

    def both(self, p: int, q: int) -> int:
        """True where p and q are."""
        return self.choose(p, q, FALSE)

    def either(self, p: int, q: int) -> int:
        """True where p or q is."""
        return self.choose(p, TRUE, q)

    def differ(self, p: int, q: int) -> int:
        """True where only one of p and q is."""
        return self.choose(p, self.negated(q), q)
