"""The common beginning of runs: what the facts have answered up to the choice in which two runs differ is not
computed again.

A run that takes another branch of a choice does the same as the run before up to there. So each question that
rules and operators put to the facts is written down with its answer, and the facts are saved where a choice
is made. The next run begins with the facts as they were at its choice and is told the answers that led there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial, update_wrapper
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from gslang.verify.prove.terms.paths import Choices, TooMuch
from gslang.verify.prove.terms.sizes import Size

_P = ParamSpec("_P")
_R = TypeVar("_R")


class Saved(Protocol):
    """Facts that can be put back to an earlier state."""

    def saved(self) -> object:
        """All that was learnt, as a copy."""

    def put_back(self, state: object) -> None:
        """Know what was known then, and nothing else."""


_Entry = tuple[str, tuple[object, ...], object, "Exception | None", tuple[tuple[int, int], ...]]
"""A question, its arguments, its answer, the error that it ended with instead, and the choices that it made.
"""


class Journal:
    """`entries`: in the order of asking; `marks`: for each choice, how many there were, and the facts there:
    None in the middle of a question that changes them.
    """

    __slots__ = ("begun", "entries", "facts", "inside", "marks", "next", "start")

    def __init__(self, facts: Saved) -> None:
        self.facts, self.start = facts, facts.saved()
        self.entries: list[_Entry] = []
        self.marks: list[tuple[int, object | None]] = []
        self.next = 0  # the entry that answers the next question
        self.inside = False  # a question is being answered: those that it asks itself are its own
        self.begun = -1  # how many choices were made before it; -1 where it changes the facts

    def begin(self, choices: int) -> None:
        """A run begins whose first choices, but for the last of them, are those of the run before."""
        last = choices - 1
        del self.marks[last + 1 :]
        while last >= 0 and self.marks[last][1] is None:
            last -= 1
        count, state = self.marks[last] if last >= 0 else (0, self.start)
        self.facts.put_back(state)
        del self.entries[count:]
        self.next, self.inside = 0, False

    def mark(self, taken: int) -> None:
        """A choice is made that no run has come to; `taken`: the number of those before it."""
        if taken == len(self.marks):
            whole = not self.inside or self.begun == taken
            self.marks.append((len(self.entries), self.facts.saved() if whole else None))

    def forget(self, taken: int) -> None:
        """Choices beyond so many are taken back."""
        del self.marks[taken:]

    def ask(
        self, choices: Choices, name: str, arguments: tuple[object, ...], compute: Callable[[], Any],
        changes: bool = False,
    ) -> Any:
        """The answer to a question, from the run before where it has asked the same at this place.

        `changes`: the question may change the facts before it makes a choice.
        """
        if self.inside:
            return compute()
        if self.next < len(self.entries):
            return self.told(choices, name, arguments)
        return self.found(choices, name, arguments, compute, (), changes)

    def found(
        self, choices: Choices, name: str, arguments: tuple[object, ...], compute: Callable[..., Any],
        given: tuple[object, ...], changes: bool,
    ) -> Any:
        """The answer to a question that no run has asked at this place: `compute(*given)`, written down."""
        taken = choices.taken
        begun = len(taken)
        self.inside, self.begun = True, -1 if changes else begun
        answer, failed = None, None
        try:
            answer = compute(*given)
        except Exception as error:
            failed = error
            raise
        finally:
            self.inside = False
            self.entries.append((name, arguments, answer, failed, tuple(taken[begun:])))
            failed = None  # else it would hold this frame, and the frame it
            self.next += 1
        return answer

    def told(self, choices: Choices, name: str, arguments: tuple[object, ...]) -> Any:
        """The answer that stands next in the journal, which must be that to this question."""
        question, before, answer, error, taken = self.entries[self.next]
        if question != name or not _alike(before, arguments):
            raise TooMuch("two runs with the same choices ask different questions")
        self.next += 1
        if taken:
            choices.taken.extend(taken)
        if error is not None:
            raise error.with_traceback(None)
        return answer


def _alike(a: object, b: object) -> bool:
    """True if the arguments of two questions are the same."""
    if a is b:
        return True
    if type(a) is Size or type(b) is Size:
        return type(a) is Size and type(b) is Size and a.terms == b.terms
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(map(_alike, a, b))
    if isinstance(a, Mapping):
        return isinstance(b, Mapping) and a.keys() == b.keys() and all(_alike(v, b[k]) for k, v in a.items())
    return bool(a == b)


class Journaled:
    """Facts whose questions are written down where there is a `journal`."""

    choices: Choices
    journal: Journal | None = None


_J = TypeVar("_J", bound=Journaled)


def question(method: Callable[Concatenate[_J, _P], _R]) -> Callable[Concatenate[_J, _P], _R]:
    """A question about the facts, which may find out but not change what is known before it makes a choice.
    """
    return _written(method, False)


def change(method: Callable[Concatenate[_J, _P], _R]) -> Callable[Concatenate[_J, _P], _R]:
    """A change of the facts."""
    return _written(method, True)


def _written(
    method: Callable[Concatenate[_J, _P], _R], changes: bool
) -> Callable[Concatenate[_J, _P], _R]:
    name = method.__name__

    def asked(self: _J, /, *args: _P.args, **named: _P.kwargs) -> _R:
        journal = self.journal
        if journal is None or journal.inside:
            return method(self, *args, **named)
        arguments = (*args, *named.values()) if named else args
        if journal.next < len(journal.entries):
            return journal.told(self.choices, name, arguments)  # type: ignore[no-any-return]
        compute = partial(method, **named) if named else method
        return journal.found(  # type: ignore[no-any-return]
            self.choices, name, arguments, compute, (self, *args), changes
        )

    update_wrapper(asked, method)
    return asked
