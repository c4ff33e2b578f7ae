"""The laws that a proof uses: their names, and for a certificate each use with what its letters stand for.

Terms are made in normal form, so a law is used in the moment in which a term is made; `use` is called there.
Steps are only written down inside `recording`, which a certificate asks for: otherwise a use costs the
addition of a name to a set. Inside `untouched`, terms are made as they are written, without laws: that is
what the steps of a certificate begin with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field

from gslang.base.quick_dataclass import dataclass
from gslang.verify.prove.terms.sizes import Size
from gslang.verify.prove.terms.terms import Term


@dataclass(frozen=True, slots=True, eq=False)
class Use:
    """`binding`: letter → term, of a law that is used as it is stated. Otherwise `before` and `after` say
    what was done.

    `assumed`: sizes that are at least 0 where it was used."""

    law: str
    binding: dict[str, Term] = field(default_factory=dict)
    before: Term | None = None
    after: Term | None = None
    assumed: tuple[Size, ...] = ()


@dataclass(slots=True)
class Uses:
    """`names` of all laws used; `steps`: each use, None where nobody asks.

    `assumed` tells what is assumed at the moment.
    """

    names: set[str] = field(default_factory=set)
    steps: list[Use] | None = None
    assumed: Callable[[], tuple[Size, ...]] = tuple
    raw: bool = False


_now: list[Uses] = [Uses()]


@contextmanager
def noting() -> Iterator[Uses]:
    """Notes the names of laws that are used inside."""
    _now.append(Uses())
    try:
        yield _now[-1]
    finally:
        _now.pop()


@contextmanager
def recording(assumed: Callable[[], tuple[Size, ...]]) -> Iterator[list[Use]]:
    """Writes down each use inside."""
    uses = _now[-1]
    before, uses.steps, uses.assumed = uses.steps, [], assumed
    try:
        yield uses.steps
    finally:
        uses.steps = before


@contextmanager
def untouched() -> Iterator[None]:
    """Inside, no law is used: functions and sums stay as they are written."""
    uses = _now[-1]
    uses.raw = True
    try:
        yield
    finally:
        uses.raw = False


@contextmanager
def in_normal_form() -> Iterator[None]:
    """Inside, terms are made in normal form whatever is done outside, and no use is written down."""
    uses = _now[-1]
    before = uses.raw, uses.steps
    uses.raw, uses.steps = False, None
    try:
        yield
    finally:
        uses.raw, uses.steps = before


def is_raw() -> bool:
    """True if no law may be used."""
    return _now[-1].raw


def use(law: str, **binding: Term) -> None:
    """A law is used as it is stated, with these terms for its letters."""
    uses = _now[-1]
    uses.names.add(law)
    if uses.steps is not None:
        uses.steps.append(Use(law, binding, assumed=uses.assumed()))


def rewrite(law: str, before: Callable[[], Term], after: Term | Callable[[], Term]) -> None:
    """A law is used of which the statement is the simplest case: `before()` becomes `after`, which may be
    made by a call, too.
    """
    uses = _now[-1]
    uses.names.add(law)
    if uses.steps is not None:
        uses.raw = True
        try:
            uses.steps.append(Use(law, {}, before(), after() if callable(after) else after, uses.assumed()))
        finally:
            uses.raw = False
