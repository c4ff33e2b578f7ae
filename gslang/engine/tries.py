"""A limit on the choices that are tried for a rule: of further outputs, and of orders of operands.

Where one tensor has many users, n outputs of a rule that are all among these can be chosen in as many ways as
the users' number to the power of n - 1, for each user that the first output may be; n commutative operators
have 2 to the power of n orders. A condition that no choice meets would be asked for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

from gslang.check.limits import LimitExceeded
from gslang.graph.graph import Graph

T = TypeVar("T")

MOST_TRIED: Final = 3_000_000
MORE_FOR_A_NODE: Final = 100
MOST_ON_THE_MACHINE: Final = 100_000  # for one first output


def too_many(rule: str, most: float) -> LimitExceeded:
    return LimitExceeded(
        f"more than {most:,} choices of outputs, orders of operands and alternatives were tried, the limit "
        "for this graph",
        rule=rule, help="constrain individual outputs and operands, so that fewer combinations are tried, "
        "or reduce their number",
    )


class Tries:
    """The choices of an inner loop, as they are given; all of a run in a graph are counted.

    Raises `LimitExceeded`.
    """

    __slots__ = ("_left", "_most", "_rule")

    def __init__(self, rule: str, graph: Graph) -> None:
        self._rule = rule
        self._most = self._left = MOST_TRIED + MORE_FOR_A_NODE * len(graph.op)

    def __call__(self, found: Iterable[T]) -> Iterable[T]:
        if type(found) is not list:
            return self._each(found)
        self._left -= len(found)
        if self._left < 0:
            raise too_many(self._rule, self._most)
        return found

    def _each(self, found: Iterable[T]) -> Iterator[T]:
        for choice in found:
            self._left -= 1
            if self._left < 0:
                raise too_many(self._rule, self._most)
            yield choice
