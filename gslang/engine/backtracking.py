"""A search over steps with backtracking: a step holds, fails, or gives several ways to go on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

Todo = Any
"""The continuation, a linked list: None, or (the next step, the rest)."""


class _Failed:
    """The result of a step that does not hold."""


FAILED: Final = _Failed()
Outcome = Any
"""The result of a step: the continuation, an iterator over alternative continuations, or `FAILED`."""


def before(steps: Sequence[object], rest: Todo) -> Todo:
    """The steps, and then the rest."""
    for step in reversed(steps):
        rest = (step, rest)
    return rest


class Backtracking:
    """The state of a search: what was changed, and how to undo it."""

    def __init__(self) -> None:
        self._trail: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []

    def perform(self, step: object, rest: Todo) -> Outcome:
        """The outcome of a step; `rest`: the steps behind it."""
        raise NotImplementedError

    def solve(self, steps: Sequence[object]) -> Iterator[None]:
        """Yields once for each way to pass all steps, with its effects in place; a caller that stops asking
        keeps them.
        """
        bottom = len(self._trail)
        todo = before(steps, None)
        choices: list[tuple[int, Iterator[Todo]]] = []
        while True:
            if todo is None:
                yield
            else:
                outcome = self.perform(*todo)
                if outcome is FAILED:
                    outcome = self.refused(*todo)
                if type(outcome) is tuple or outcome is None:
                    todo = outcome
                    continue
                if outcome is not FAILED:
                    choices.append((len(self._trail), outcome))  # type: ignore[arg-type]
            while True:  # the next way of the latest choice
                if not choices:
                    self._undo(bottom)
                    return
                mark, ways = choices[-1]
                self._undo(mark)
                way = next(ways, FAILED)
                if way is not FAILED:
                    todo = way  # type: ignore[assignment]
                    break
                choices.pop()

    def refused(self, step: object, rest: Todo) -> Outcome:
        """Called when a step has failed. Overridden by callers that record failures and may continue as if it
        had not."""
        return FAILED

    def put(self, table: Any, key: Any, value: Any) -> None:
        """Set an entry of a list or table until this way is given up."""
        if type(table) is list or key in table:
            self._trail.append((table.__setitem__, (key, table[key])))
        else:
            self._trail.append((table.pop, (key,)))
        table[key] = value

    def set(self, owner: object, name: str, value: object) -> None:
        """Set an attribute until this way is given up."""
        self._trail.append((setattr, (owner, name, getattr(owner, name))))
        setattr(owner, name, value)

    def _undo(self, mark: int) -> None:
        trail = self._trail
        while len(trail) > mark:
            function, arguments = trail.pop()
            function(*arguments)
