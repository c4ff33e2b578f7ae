"""The file of discovered rules without findings of the lints: a rule that leads back to itself runs once, one
whose matches are all taken by an earlier rule goes before that."""

from __future__ import annotations

import re
from collections.abc import Callable

from gslang.base.diagnostics import Diagnostic
from gslang.discover.rule_file import RuleFile

_ROUNDS = 8  # of lints: what one of them asks for may give another one a finding


def file_without_findings(file: RuleFile, findings: Callable[[str], list[Diagnostic]]) -> str:
    """The text of a file, which is changed until it has no findings, as far as possible."""
    moved: set[tuple[str, str]] = set()
    for _ in range(_ROUNDS):
        text = file.text()
        found = findings(text)
        if not found:
            break
        for finding in [f for f in found if f.code == "L0203"] or found:
            later = _rule_at(text, finding.primary.span.start)
            if not later:
                continue
            if finding.code == "L0202":
                _reorder(file, later, _earlier(text, finding), moved)
                continue
            own = file.annotations.setdefault(later, [])
            note = "@once" if finding.code == "L0203" and "@once" not in own else f"@allow({finding.code})"
            if note not in own:
                own.append(note)
    return text


def _earlier(text: str, finding: Diagnostic) -> str:
    return _rule_at(text, finding.related[0].span.start)


def _reorder(file: RuleFile, later: str, earlier: str, moved: set[tuple[str, str]]) -> None:
    """Put a rule before the one that takes its matches; drop it if it was there already."""
    names = [rule.name for rule, _ in file.rules]
    if later not in names or earlier not in names:  # another finding was about it
        return
    item = file.rules.pop(names.index(later))
    if (earlier, later) not in moved:
        file.rules.insert(names.index(earlier), item)
        moved.add((later, earlier))


def _rule_at(text: str, place: int) -> str:
    """The name of the rule in which a place is: its head may go on behind the place. Empty before the first.
    """
    rest = re.match(r"\w*", text[place:])
    names = re.findall(r"^rule (\w+)", text[:place] + (rest[0] if rest else ""), re.MULTILINE)
    return str(names[-1]) if names else ""
