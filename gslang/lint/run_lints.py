"""Running lints over files: parse beside the checked program, run what is selected, drop what is allowed.

What a file gave is kept by its content, so that files that did not change cost only reading.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from gslang.base.cache import cached, digest
from gslang.base.diagnostics import Diagnostic
from gslang.base.source import Source
from gslang.check.checked import CheckedProgram
from gslang.lint.codes import LINTS
from gslang.lint.configuration import Configuration


def selected_codes(select: Sequence[str], ignore: Sequence[str]) -> frozenset[str]:
    """Codes by prefix (`L01`), name, or `all`. Nothing selected: those that run unasked. The longest prefix decides, then `ignore`.

    Raises `ValueError` for a selector that fits no lint.
    """
    for given in (*select, *ignore):
        if not any(_fits(given, code) for code in LINTS):
            raise ValueError(given)
    chosen = set()
    for code, info in LINTS.items():
        wanted = max((_weight(s) for s in select if _fits(s, code)), default=None)
        unwanted = max((_weight(s) for s in ignore if _fits(s, code)), default=-1)
        if wanted is None and not select and info.default:
            wanted = 0
        # a prefix alone does not wake lints that wait to be asked for by name
        if wanted is not None and wanted > unwanted and (info.default or any(s in (code, info.name, "all") for s in select)):
            chosen.add(code)
    return frozenset(chosen)


def _fits(selector: str, code: str) -> bool:
    return selector == "all" or selector == LINTS[code].name or code.startswith(selector) and selector.startswith("L")


def _weight(selector: str) -> int:
    return 0 if selector == "all" else len(selector) if selector.startswith("L") else 5


def lint_program(source: Source, program: CheckedProgram, selected: frozenset[str]) -> list[Diagnostic]:
    """The findings in one file, in order. A file with errors has none: it is to be checked first."""
    if not program.ok or not selected:
        return []
    foreign = [rule.span.source.text for name, rule in program.rules.items() if name not in program.own_rules]

    def run() -> list[Diagnostic]:
        return _lint(source, program, selected)

    return cached("lint", [_state(), source.name, source.text, *sorted(set(foreign)), *sorted(selected)], run)


@lru_cache(maxsize=1)
def _state() -> str:
    """A key for the code of lints and of the engine that they run."""
    package = Path(__file__).resolve().parent.parent
    files = sorted([*(package / "lint").glob("*.py"), *(package / "engine").glob("*.py"), *(package / "graph").glob("*.py")])
    return digest(f"{path.name} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in files)


def _lint(source: Source, program: CheckedProgram, selected: frozenset[str]) -> list[Diagnostic]:
    from gslang.engine.meaning import with_meanings
    from gslang.lint.linted_file import linted_file
    from gslang.lint.registry import REGISTRY
    from gslang.lint.suppression import suppress
    from gslang.syntax.parser import parse

    file = linted_file(source, parse(source).program, with_meanings(program))
    found = [diagnostic for code, lint in REGISTRY.items() if code in selected for diagnostic in lint(file)]
    return sorted(suppress(file, found, selected), key=lambda d: d.order)


def lint_files(files: Iterable[tuple[Source, CheckedProgram]], configuration: Configuration) -> list[Diagnostic]:
    """The findings in several files, each with the lints that the configuration selects for it."""
    found: list[Diagnostic] = []
    for source, program in files:
        ignore = (*configuration.ignore, *configuration.ignored_in(source.name))
        found += lint_program(source, program, selected_codes(configuration.select, ignore))
    return sorted(found, key=lambda d: d.order)
