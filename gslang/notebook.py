"""Rules and runs as HTML for notebooks: pictures, text and counts, without a script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from gslang.check.checked import CheckedRule
from gslang.graph.compare import count_calls
from gslang.graph.graph import Graph
from gslang.highlight.html import item_text
from gslang.highlight.html import rules_html as coloured

_MOST_RULES = 60  # that are drawn
_MOST_IN_PICTURES = 40  # nodes of a graph that is drawn beside another one
_CELL = "padding:2px 10px;text-align:right"


def rule_html(rule: CheckedRule) -> str:
    """A rule: its picture above its text."""
    from gslang.formats.rule_picture import rule_svg

    text = coloured(item_text(rule.span.source.text, rule.span.start))
    return f'<div style="overflow-x:auto">{rule_svg(rule)}</div>{text}'


def rules_html(title: str, rules: Sequence[CheckedRule]) -> str:
    """A list of rules, each with its documentation; opened, with picture and text."""
    parts = [f"<p>{escape(title)}</p>"]
    for rule in rules[:_MOST_RULES]:
        head = (
            f"<code>{escape(rule.name)}</code> {escape((rule.doc or '').splitlines()[0] if rule.doc else '')}"
        )
        parts.append(f"<details><summary>{head}</summary>{rule_html(rule)}</details>")
    if len(rules) > _MOST_RULES:
        parts.append(f"<p>… and {len(rules) - _MOST_RULES} more</p>")
    return "".join(parts)


def run_html(title: str, before: Graph, after: Graph, applications: Mapping[str, int]) -> str:
    """A run: applications by rule, operators before and after, and both graphs if they are small."""
    from gslang.formats.picture import svg

    fired = [(name, f"{count}") for name, count in applications.items() if count]
    old, new = count_calls(before), count_calls(after)
    changed = [
        (name, f"{old.get(name, 0)} → {new.get(name, 0)}")
        for name in sorted({*old, *new}) if old.get(name, 0) != new.get(name, 0)
    ]
    parts = [
        f"<p>{escape(title)}</p>", _table(("rule", "applications"), fired),
        _table(("operator", "calls"), changed),
    ]
    if max(len(before), len(after)) <= _MOST_IN_PICTURES:
        sides = "".join(
            f'<td style="vertical-align:top;text-align:left">{name}<br>{svg(graph)}</td>'
            for name, graph in (("before", before), ("after", after))
        )
        parts.append(f"<table><tr>{sides}</tr></table>")
    return "".join(parts)


def _table(heads: tuple[str, str], rows: Sequence[tuple[str, str]]) -> str:
    if not rows:
        return ""
    body = "".join(
        f'<tr><td style="{_CELL}">{escape(name)}</td><td style="{_CELL}">{escape(value)}</td></tr>'
        for name, value in rows
    )
    return (
        f'<table style="display:inline-table;margin-right:2em"><tr><th style="{_CELL}">{heads[0]}</th><th '
        f'style="{_CELL}">{heads[1]}</th></tr>{body}</table>'
    )
