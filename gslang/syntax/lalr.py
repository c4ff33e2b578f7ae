"""Running Lark's tables on texts without mistakes, in half of Lark's time.

Most reductions of an expression are those of rules with one symbol (`?sum: term`), of which the value is that
symbol's: here they only change the state. Where anything goes wrong, a text has a mistake or Lark is another
one, and Lark itself parses the text: what it says is what users read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from gslang.base.collection import no_collection
from gslang.base.quick_dataclass import dataclass

if TYPE_CHECKING:
    from lark import Lark, Token, Tree

Make = Callable[[list[Any]], Any]
Action = tuple[int, str, "Make | None"]
"""Symbols that a reduction takes, the name of what it makes, and its function; none where the symbol itself
is the value."""


@dataclass(frozen=True, slots=True)
class _Tables:
    """`actions`: state → token → the state after a shift, or a reduction. `goto`: state → name → state."""

    actions: Mapping[int, Mapping[str, int | Action]]
    goto: Mapping[int, Mapping[str, int]]
    start: int
    end: int


_known: Final[WeakKeyDictionary[Lark, _Tables]] = WeakKeyDictionary()


def parse(lark: Lark, text: str) -> Tree[Token]:
    """The tree of a text, as `lark.parse` gives it. Raises what that raises."""
    try:
        if lark not in _known:
            _known[lark] = _tables(lark)
        with no_collection():
            return _run(_known[lark], lark.parser, text)  # type: ignore[no-any-return]
    except Exception:  # a mistake in the text, most likely
        return lark.parse(text)


def _tables(lark: Any) -> _Tables:
    from lark.parsers.lalr_analysis import Shift

    parser = lark.parser.parser
    table, callbacks = parser._parse_table, parser.parser.callbacks
    if any(isinstance(key, str) for key in callbacks):
        raise TypeError("functions of tokens")
    made: dict[int, Action] = {}

    def action(kind: object, argument: Any) -> int | Action:
        if kind is Shift:
            return argument  # type: ignore[no-any-return]
        if id(argument) not in made:
            make = None if _is_its_symbol(argument) else callbacks[argument]
            made[id(argument)] = (len(argument.expansion), argument.origin.name, make)
        return made[id(argument)]

    rows = table.states.items()
    return _Tables(
        {state: {token: action(*found) for token, found in row.items()} for state, row in rows},
        {state: {name: to for name, (kind, to) in row.items() if kind is Shift} for state, row in rows},
        table.start_states["start"],
        table.end_states["start"],
    )


def _is_its_symbol(rule: Any) -> bool:
    """True if the value of a reduction is the one symbol that it takes."""
    return (
        len(rule.expansion) == 1 and bool(rule.options.expand1) and not rule.alias
        and not any(rule.options.empty_indices) and not getattr(rule.expansion[0], "filter_out", False)
        and not rule.expansion[0].name.startswith("_")
    )


def _run(tables: _Tables, frontend: Any, text: str) -> Any:
    thread = frontend._make_lexer_thread(text)
    lexers, place = thread.lexer.lexers, thread.state
    actions, goto = tables.actions, tables.goto
    states: list[int] = [tables.start]
    values: list[Any] = []
    while True:
        try:
            token = lexers[states[-1]].next_token(place, None)
        except EOFError:
            break
        kind = token.type
        while not isinstance(found := actions[states[-1]][kind], int):
            _reduce(found, states, values, goto)
        states.append(found)
        values.append(token)
    while states[-1] != tables.end:
        found = actions[states[-1]]["$END"]
        if isinstance(found, int):
            raise ValueError("a shift of the end")
        _reduce(found, states, values, goto)
    return values[-1]


def _reduce(
    action: Action, states: list[int], values: list[object], goto: Mapping[int, Mapping[str, int]]
) -> None:
    size, name, make = action
    if make is None:
        states[-1] = goto[states[-2]][name]
        return
    if size:
        parts = values[-size:]
        del states[-size:], values[-size:]
    else:
        parts = []
    values.append(make(parts))
    states.append(goto[states[-1]][name])
