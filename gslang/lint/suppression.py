"""`@allow(CODE)` suppresses a lint in the item below it. L0115: an `@allow` that suppresses nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gslang.base.diagnostics import Edit, Fix
from gslang.base.source import Span
from gslang.base.suggest import did_you_mean
from gslang.lint.codes import LINTS
from gslang.lint.linted_file import Finding, LintedFile, finding
from gslang.syntax import nodes as n

_BY_NAME = {info.name.replace("-", "_"): code for code, info in LINTS.items()}


def suppress(file: LintedFile, found: Sequence[Finding], selected: frozenset[str]) -> list[Finding]:
    """The findings, marked where an `@allow` silences them, and those about idle `@allow`s (of selected lints
    and of unknown codes).
    """
    allowing = [
        (item, _allowed(item))
        for item in file.written.items if any(a.name.id == "allow" for a in item.annotations)
    ]
    used: set[tuple[int, str]] = set()
    staying: list[Finding] = []
    for diagnostic in found:
        span = diagnostic.primary.span
        silenced = False
        for item, codes in allowing:
            if item.span.source.name == span.source.name and item.span.start <= span.start < item.span.end:
                for code in codes:
                    if code == diagnostic.code:
                        used.add((id(item), code))
                        silenced = True
        staying.append(replace(diagnostic, allowed=True) if silenced else diagnostic)
    if "L0115" in selected:
        for item, codes in allowing:
            if "L0115" not in codes:
                staying += _idle(item, {code for code in codes if (id(item), code) in used}, selected)
    return staying


def _allowed(item: n.Item) -> list[str]:
    """The codes that the annotations of an item name; names of lints are written with `_`."""
    return [
        _code(a.value)
        for annotation in item.annotations if annotation.name.id == "allow"
        for a in annotation.arguments if isinstance(a.value, n.Name)
    ]


def _code(name: n.Name) -> str:
    return _BY_NAME.get(name.id, name.id)


def _idle(item: n.Item, used: set[str], selected: frozenset[str]) -> Iterator[Finding]:
    for annotation in item.annotations:
        if annotation.name.id != "allow":
            continue
        names = [a.value for a in annotation.arguments if isinstance(a.value, n.Name)]
        idle = [
            name
            for name in names
            if _code(name) not in used and _code(name) in selected or _code(name) not in LINTS
        ]
        for name in idle:
            staying = [other.id for other in names if other not in idle]
            edit = (
                Edit(annotation.span, f"@allow({', '.join(staying)})") if staying
                else Edit(_with_space(annotation.span), "")
            )
            guess = None if _code(name) in LINTS else did_you_mean(name.id, _BY_NAME)
            what = "there is nothing to suppress here" if _code(name) in LINTS else "unknown lint"
            fix = (
                Fix("remove the suppression", (edit,)) if guess is None
                else Fix("name the lint", (Edit(name.span, guess),))
            )
            yield finding(
                "L0115", f"`@allow({name.id})`: {what}", name.span,
                f"did you mean `{guess}`?" if guess else "remove it", fix=fix,
            )


def _with_space(span: Span) -> Span:
    text, end = span.source.text, span.end
    while text[end : end + 1] in (" ", "\n") and text[end : end + 1]:
        end += 1
    return Span(span.source, span.start, end)
