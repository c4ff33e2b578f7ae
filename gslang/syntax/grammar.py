"""The LALR parser of rule files, from tables that were made beforehand: `grammar/gsl.json`, plain data.

Making the tables from `grammar/gsl.lark` takes twenty times as long as reading them. `make grammar` writes
them again after a change of the grammar; until then, and where the installed Lark reads them otherwise, they
are made for each process.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

from gslang.base.open_types import JsonDict
from gslang.base.resources import grammar_path

if TYPE_CHECKING:
    from lark import Lark
    from lark.lexer import TerminalDef

def _end_at_word_boundary(terminal: TerminalDef) -> None:
    """`rulex` is no `rule`: a keyword ends where its word does.

    Where a name may stand too, the keyword comes first, as before.
    """
    from lark.lexer import PatternRE, PatternStr

    word = terminal.pattern.value
    if isinstance(terminal.pattern, PatternStr) and word.isidentifier():
        terminal.pattern = PatternRE(rf"{word}(?![A-Za-z0-9_])")
        terminal.priority = 1


_OPTIONS: Final = {"parser": "lalr", "maybe_placeholders": True, "edit_terminals": _end_at_word_boundary}


@lru_cache(maxsize=1)
def grammar() -> Lark:
    """The parser whose trees know their places."""
    return _parser(True)


@lru_cache(maxsize=1)
def grammar_without_places() -> Lark:
    """The parser whose trees do not: it takes a third less time."""
    return _parser(False)


def _parser(places: bool) -> Lark:
    from lark import Lark

    tables = _tables()
    if tables is not None:
        try:
            return Lark._load_from_dict(**_with_numbers(tables), propagate_positions=places)  # type: ignore[no-any-return,no-untyped-call]
        except Exception:  # a Lark of another version: it makes its own tables
            pass
    return Lark(_text(), propagate_positions=places, **_OPTIONS)  # type: ignore[arg-type]


@cache
def _text() -> str:
    return grammar_path("gsl.lark").read_text(encoding="utf-8")


def _tables() -> JsonDict | None:
    """The tables that `make grammar` wrote, if they were made from this grammar."""
    try:
        found: JsonDict = json.loads(grammar_path("gsl.json").read_bytes())
        return {"data": found["data"], "memo": found["memo"]} if found["grammar"] == _digest() else None
    except (OSError, ValueError, LookupError, TypeError):
        return None


def _digest() -> str:
    return hashlib.sha256(_text().encode()).hexdigest()


def _with_numbers(tables: JsonDict) -> JsonDict:
    """JSON's keys are texts; Lark's states, tokens and rules are numbers."""
    data = tables["data"]
    table = data["parser"]["parser"]
    table["tokens"] = _numbered(table["tokens"])
    table["states"] = {int(state): _numbered(actions) for state, actions in table["states"].items()}
    return {"data": data, "memo": _numbered(tables["memo"])}


def _numbered(table: Mapping[str, object]) -> dict[int, object]:
    return {int(key): value for key, value in table.items()}


def serialised() -> str:
    """The text of `grammar/gsl.json`: the same for the same grammar and version of Lark, whatever Python."""
    from lark import Lark
    from lark import __version__ as version
    from lark.grammar import Rule
    from lark.lark import LarkOptions
    from lark.lexer import TerminalDef

    data, memo = Lark(_text(), propagate_positions=True, **_OPTIONS).memo_serialize([TerminalDef, Rule])  # type: ignore[arg-type]
    usual = LarkOptions._defaults
    data["options"] = {
        name: value
        for name, value in data["options"].items()
        if name in usual and value != usual[name] and not callable(value)
    }
    _renumber(data["parser"]["parser"])
    for entry in memo.values():
        pattern = entry.get("pattern", {})
        if "_width" in pattern:  # releases of Python differ in the number that stands for no limit
            pattern["_width"] = [min(width, _UNLIMITED) for width in pattern["_width"]]
    text = json.dumps(
        {"lark": version, "grammar": _digest(), "data": data, "memo": memo}, separators=(",", ":"),
        default=list,
    )
    return text.replace("]},", "]},\n") + "\n"


_UNLIMITED: Final = 2**32 - 1


def _renumber(table: JsonDict) -> None:
    """Number tokens by name, and states as they are reached from the first: Lark's numbers follow the order
    of its sets.
    """
    names = sorted(table["tokens"].values())
    states = {
        state: sorted((names.index(table["tokens"][token]), action) for token, action in actions.items())
        for state, actions in table["states"].items()
    }
    order = {state: k for k, state in enumerate(table["start_states"].values())}
    todo = list(order)
    for state in todo:
        for _, (reduces, target) in states[state]:
            if not reduces and target not in order:
                order[target] = len(order)
                todo.append(target)
    table["tokens"] = dict(enumerate(names))
    table["states"] = {
        order[state]: {
            token: (reduces, to if reduces else order[to]) for token, (reduces, to) in states[state]
        }
        for state in todo
    }
    for ends in ("start_states", "end_states"):
        table[ends] = {start: order[state] for start, state in table[ends].items()}


if __name__ == "__main__":
    grammar_path("gsl.json").write_text(serialised(), encoding="utf-8")
