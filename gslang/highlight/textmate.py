"""The scopes as a TextMate grammar, for VS Code and what else reads such."""

from __future__ import annotations

from gslang.base.json_text import json_text
from gslang.highlight.scopes import Context, Include, Match, Region, contexts

Entry = dict[str, object]


def text_mate() -> str:
    """The text of `gslang.tmLanguage.json`."""
    found = contexts()
    grammar = {
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "name": "gslang",
        "scopeName": "source.gslang",
        "fileTypes": ["gsl"],
        "patterns": _patterns(found["main"]),
        "repository": {
            name: {"patterns": _patterns(context)} for name, context in found.items() if name != "main"
        },
    }
    return json_text(grammar)


def _patterns(context: Context) -> list[Entry]:
    return [_entry(entry) for entry in context]


def _entry(entry: Match | Region | Include) -> Entry:
    match entry:
        case Include(name):
            return {"include": f"#{name}"}
        case Match(pattern, scopes) if list(scopes) == [0]:
            return {"name": f"{scopes[0]}.gslang", "match": pattern}
        case Match(pattern, scopes):
            return {"match": pattern, "captures": _captures(scopes)}
        case Region():
            region: Entry = {"name": f"{entry.scope}.gslang"} if entry.scope else {}
            region |= {"begin": entry.begin, "beginCaptures": _captures(entry.begin_scopes)}
            region |= {"end": entry.end, "endCaptures": _captures(entry.end_scopes)}
            return region | {"patterns": [{"include": f"#{entry.inside}"}]}


def _captures(scopes: dict[int, str]) -> dict[str, dict[str, str]]:
    return {str(group): {"name": f"{scope}.gslang"} for group, scope in scopes.items()}
