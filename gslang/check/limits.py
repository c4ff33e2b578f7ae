"""Limits on the values of attribute expressions: the number of items, the size of numbers, the time they
take.

Sizes are counted with everything inside: a tuple that holds one tuple a thousand times has the items of a
thousand. What is beyond a limit is an error, not an unknown value: a rule that silently never applies would
help nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain, islice
from typing import Any, Final

from gslang.base.diagnostics import InputError

MOST_ITEMS: Final = 1_000_000
MOST_ROUNDS: Final = 250_000  # of comprehensions inside one another
MOST_BITS: Final = 4096
MOST_LEVELS: Final = 100
MOST_WORK: Final = 3_000_000  # of a run; a unit takes the machine about a microsecond
MORE_WORK_FOR_A_NODE: Final = 20_000
_SHORT: Final = 64  # items that no work is counted for
_LARGE: Final = 256  # bits of a power that no work is counted for


class RuleFailed(InputError):
    """An attribute expression of a rule cannot be evaluated at all, so that nothing goes on.

    `reason`: the message without the rule's name.
    """

    def __init__(self, reason: str, *, help: str, rule: str = "", path: str = "") -> None:
        super().__init__(f"rule `{rule}`: {reason}" if rule else reason, help=help, path=path)
        self.reason, self.rule = reason, rule

    def of(self, rule: str) -> RuleFailed:
        """The same error with the name of the rule."""
        return self if self.rule else type(self)(self.reason, help=self.help, rule=rule, path=self.path)


class LimitExceeded(RuleFailed):
    """An attribute expression is beyond a limit; the message names it."""


def too_long() -> LimitExceeded:
    return LimitExceeded(f"an attribute expression has more than {MOST_ITEMS:,} items", help=_MEND)


_MEND: Final = "compute with sizes, as in `numel(x.shape)`, instead of listing so many items"
SMALLER: Final = "use a smaller number: dimensions and elements of tensors have at most 64 bits"


class _Work:
    """Work that is left of a run, `most` in all."""

    __slots__ = ("left", "most")

    def __init__(self, most: int) -> None:
        self.left = self.most = most


_work: ContextVar[_Work | None] = ContextVar("_work", default=None)


@contextmanager
def counted_work(nodes: int) -> Iterator[None]:
    """Within it, the work of loops and long sequences in attribute expressions has a limit, which grows with
    the nodes of the graph that rules run in; beyond it they raise `LimitExceeded`. Within another one it has
    no effect: that one counts all.
    """
    if _work.get() is not None:
        yield
        return
    token = _work.set(_Work(MOST_WORK + MORE_WORK_FOR_A_NODE * nodes))
    try:
        yield
    finally:
        _work.reset(token)


@contextmanager
def uncounted_work() -> Iterator[None]:
    """Within it nothing is counted: for what has a limit of time, inside a run that counts."""
    token = _work.set(None)
    try:
        yield
    finally:
        _work.reset(token)


def spend(work: int) -> None:
    """Count work of the run: a step of the machine, or an item that a function goes through."""
    run = _work.get()
    if run is not None:
        run.left -= work
        if run.left < 0:
            raise LimitExceeded(
                f"conditions and attributes of this run took more than {run.most:,} steps, the limit in this "
                "graph",
                help="use loops with fewer iterations, or put a more selective condition first",
            )


def measured(items: Any) -> Any:
    """A sequence that something goes through from end to end; a long one is counted as work."""
    if len(items) > _SHORT:
        spend(len(items))
    return items


def sliced(base: Any, *bounds: int | None) -> Any:
    """`base[low:high:step]`."""
    found = base[slice(*bounds)]
    return measured(found) if type(found) in (tuple, str) else found


def power_worked(bits: int) -> None:
    """Count the work of a power of so many bits."""
    if bits > _LARGE:
        spend(bits >> 6)


def listed(*items: object) -> Any:
    """The tuple of some values, if it is within the limits."""
    return bounded(items)


def bounded(value: object) -> Any:
    """A new value, if it is within the limits."""
    if type(value) is tuple:
        for item in value:
            if type(item) is tuple or type(item) is str:
                _size(value, {}, 0)
                return value
        if len(value) > MOST_ITEMS:
            raise too_long()
    elif type(value) is int:
        if value.bit_length() > MOST_BITS:
            raise LimitExceeded(
                f"an attribute expression gives an integer of more than {MOST_BITS} bits", help=SMALLER,
            )
    elif type(value) is str and len(value) > MOST_ITEMS:
        raise too_long()
    return value


def _size(value: object, known: dict[int, int], level: int) -> int:
    if type(value) is str:
        return len(value)
    if type(value) is not tuple:
        return 1
    size = known.get(id(value))
    if size is None:
        if level > MOST_LEVELS:
            raise LimitExceeded(
                f"an attribute expression is nested more than {MOST_LEVELS} levels deep",
                help="join the inner sequences with `+` or `concat`",
            )
        size = known[id(value)] = len(value) + sum(
            [_size(item, known, level + 1) for item in value if type(item) is tuple or type(item) is str]
        )
        if size > MOST_ITEMS:
            raise too_long()
    return size


def concatenated(parts: Iterable[Iterable[object]]) -> tuple[Any, ...]:
    """The items of several sequences."""
    found = tuple(islice(chain.from_iterable(parts), MOST_ITEMS + 1))
    return bounded(found)  # type: ignore[no-any-return]


def numbers(*bounds: int) -> tuple[int, ...]:
    """`range(…)` as a tuple."""
    found = range(*bounds)
    if len(found) > MOST_ITEMS:
        raise too_long()
    return tuple(measured(found))


def collected(items: Iterable[object]) -> tuple[Any, ...]:
    """The items of a comprehension as a tuple, measured while they come."""
    found, size = [], 0
    for item in items:
        if type(item) is tuple or type(item) is str:
            size += len(item)
            if size > MOST_ITEMS:
                raise too_long()
        found.append(item)
    return bounded(tuple(found))  # type: ignore[no-any-return]


def zipped(*sequences: Sequence[object]) -> tuple[Any, ...]:
    """`zip(…)` as a tuple."""
    if len(sequences) * min(map(len, sequences), default=0) > MOST_ITEMS:
        raise too_long()
    return tuple(zip(*map(measured, sequences)))


class _Rounds:
    """The rounds left for the comprehension that is being evaluated, those inside it included."""

    left = MOST_ROUNDS


def run_over(items: Any, outermost: bool, work: int) -> Any:
    """The sequence that a comprehension runs over; `outermost`: no other one is being evaluated; `work`: of
    one round.
    """
    if outermost:
        _Rounds.left = MOST_ROUNDS
    try:
        rounds = len(items) + 1
    except TypeError:
        items = tuple(items)
        rounds = len(items) + 1
    _Rounds.left -= rounds
    if _Rounds.left < 0:
        raise LimitExceeded(
            f"comprehensions of an attribute expression run through more than {MOST_ROUNDS:,} items",
            help=_MEND,
        )
    spend(rounds * work)
    return items
