"""Rules and their tests as their author wrote them, with documentation and annotations."""

from __future__ import annotations

from functools import lru_cache

from gslang.base.source import Source
from gslang.syntax import nodes as n
from gslang.syntax.families import instances
from gslang.syntax.parser import parse


def rule_text(source: Source, name: str, documentation: bool = True) -> str:
    """The text of a rule from its documentation, or its annotations, on; "" if the source has no such rule.
    """
    doc, text = _texts(source)[0].get(name, ("", ""))
    return doc + text if documentation else text


def test_texts(source: Source, *names: str) -> list[tuple[str, str]]:
    """The title and the text of each test of a rule, in order; of several names, one after the other."""
    return [found for name in dict.fromkeys(names) for found in _texts(source)[1].get(name, [])]


@lru_cache(maxsize=64)
def _texts(source: Source) -> tuple[dict[str, tuple[str, str]], dict[str, list[tuple[str, str]]]]:
    rules: dict[str, tuple[str, str]] = {}
    tests: dict[str, list[tuple[str, str]]] = {}
    for item in parse(source).program.items:
        doc = "".join(f"## {line}".rstrip() + "\n" for line in (item.doc or "").splitlines())
        text = f"{source.text[item.span.start : item.span.end]}\n"
        if isinstance(item, n.Rule):
            rules.update(
                dict.fromkeys((item.name.id, *(rule.name.id for rule in instances(item)[0])), (doc, text))
            )
        elif isinstance(item, n.Test):
            tests.setdefault(item.rule.id, []).append((item.title, doc + text))
    return rules, tests
