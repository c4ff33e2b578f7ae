"""Applying safe fixes to a text: from the last span to the first, never two that touch; a result that has
errors is thrown away.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gslang.base.diagnostics import Diagnostic
from gslang.base.quick_dataclass import dataclass
from gslang.base.source import Source
from gslang.check.checked import CheckedProgram

_ROUNDS = 100  # one fix may lay open another; where one would break the file, the others are made one by one


@dataclass(frozen=True, slots=True)
class Fixed:
    """`source`: the new text. `remaining`: findings in it."""

    source: Source
    count: int
    remaining: tuple[Diagnostic, ...]

    @property
    def text(self) -> str:
        return self.source.text


def apply_fixes(text: str, found: Sequence[Diagnostic], unsafe: bool = False) -> tuple[str, int]:
    """The text with the safe fixes of findings in it (or all), and how many; of fixes that overlap the first
    one is taken.
    """
    edits: list[tuple[int, int, str]] = []
    taken: set[tuple[tuple[int, int, str], ...]] = set()
    count = 0
    for diagnostic in found:
        if diagnostic.fix is None or not (diagnostic.fix.safe or unsafe):
            continue
        wanted = tuple((e.span.start, e.span.end, e.text) for e in diagnostic.fix.edits)
        if wanted in taken:
            count += 1  # two findings with one hint
        elif all(end <= a or b <= start for start, end, _ in wanted for a, b, _ in edits):
            taken.add(wanted)
            edits += wanted
            count += 1
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text, count


def fixable(
    source: Source, found: Sequence[Diagnostic], check: Callable[[Source], CheckedProgram]
) -> list[Diagnostic]:
    """The findings in a text whose safe fixes leave it without errors."""
    safe = [d for d in found if d.fix is not None and d.fix.safe]
    text, count = apply_fixes(source.text, safe)
    if count == len(safe) and (not safe or check(Source(source.name, text)).ok):
        return safe
    return [d for d in safe if check(Source(source.name, apply_fixes(source.text, [d])[0])).ok]


def fix_source(
    source: Source, found: Sequence[Diagnostic], check: Callable[[Source], CheckedProgram],
    lint: Callable[[Source, CheckedProgram], Sequence[Diagnostic]], unsafe: bool = False,
) -> Fixed:  # fmt: skip
    """Fix until nothing is left to fix.

    Each new text is parsed and checked again; fixes after which it has errors are left out.
    """
    total = 0
    for _ in range(_ROUNDS):
        best: tuple[Source, CheckedProgram] | None = None
        text, count = apply_fixes(source.text, found, unsafe)
        for some in [list(found)] if count < 2 else [list(found), *([d] for d in found)]:
            text, count = apply_fixes(source.text, some, unsafe)
            if count:
                changed = Source(source.name, text)
                program = check(changed)
                if program.ok:
                    best = (changed, program)
                    break
        if best is None:
            break
        source, total = best[0], total + count
        found = lint(*best)
    return Fixed(source, total, tuple(found))
