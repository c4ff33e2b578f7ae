"""Running lints over files: parse beside the checked program, run what is selected, drop what is allowed.

What a file gave is kept by its content, so that files that did not change cost only reading.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from gslang.base.cache import cached, digest
from gslang.base.diagnostics import Diagnostic
from gslang.base.resources import stdlib_path
from gslang.base.rule_files import rule_files
from gslang.base.source import Source
from gslang.check.checked import CheckedProgram
from gslang.lint.codes import LINTS
from gslang.lint.configuration import Configuration
from gslang.lint.linted_file import Finding
from gslang.lint.selectors import selected_codes

if TYPE_CHECKING:
    from gslang.check.limits import LimitExceeded
    from gslang.lint.linted_file import LintedFile
    from gslang.syntax.parser import Parsed

_USE = re.compile(r'\buse\s+"([^"\n]+)"')


def lint_program(
    source: Source,
    program: CheckedProgram,
    selected: frozenset[str], *,
    parsed: Parsed | None = None,
    allowed: bool = False,
    cache: bool = True,
) -> list[Diagnostic]:
    """The findings in one file, in order; with `allowed` also those that an `@allow` silences. A file with
    errors has none.

    `parsed`: the syntax of `source`, where it is known already.
    """
    if not program.ok or not selected:
        return []

    def run() -> list[Finding]:
        return _lint(source, program, selected, parsed)

    found = (
        cached("lint", [_state(), source.name, source.text, *_imported(source), *sorted(selected)], run)
        if cache
        else run()
    )
    return [d for d in found if allowed or not d.allowed]


def _imported(source: Source) -> list[str]:
    """The texts of the files that a file imports by path, and theirs: what its findings depend on besides its
    own text.
    """
    found: dict[Path, str] = {}
    todo = [(Path(source.name).parent, source.text)]
    while todo:
        folder, text = todo.pop()
        for name in _USE.findall(text):
            path = folder / name
            if path not in found:
                try:
                    found[path] = path.read_text(encoding="utf-8", errors="replace")
                except OSError:
                    found[path] = ""
                todo.append((path.parent, found[path]))
    return [f"{path}\n{found[path]}" for path in sorted(found)]


@lru_cache(maxsize=1)
def _state() -> str:
    """A key for the code of lints and of what they run, for the shipped rules that files may import, and
    whether types of ONNX are known.
    """
    from gslang.dialect.onnx.package_schemas import package_installed

    package = Path(__file__).resolve().parent.parent
    folders = [
        package / name
        for name in ("lint", "engine", "graph", "evaluate", "formats", "verify", "search", "discover")
    ]
    files = sorted([
        package / "testing.py", *(path for folder in folders for path in folder.rglob("*.py")),
        *rule_files(stdlib_path()),
    ])
    return digest([
        str(package_installed()),
        *(f"{path} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in files),
    ])


def _lint(
    source: Source, program: CheckedProgram, selected: frozenset[str], parsed: Parsed | None = None
) -> list[Finding]:
    from gslang.check.limits import LimitExceeded, counted_work
    from gslang.engine.meaning import with_meanings
    from gslang.lint.family_findings import once_for_families
    from gslang.lint.linted_file import linted_file
    from gslang.lint.registry import REGISTRY
    from gslang.lint.suppression import suppress
    from gslang.syntax.parser import parse

    file = linted_file(source, (parsed or parse(source)).program, with_meanings(program))
    found: list[Finding] = []
    stopped: dict[str, LimitExceeded] = {}
    with counted_work(len(file.rules)):
        for code, lint in REGISTRY.items():
            if code in selected:
                try:
                    found += lint(file)
                except LimitExceeded as error:
                    stopped[code] = error
    found += _unfinished(file, stopped)
    return sorted(suppress(file, once_for_families(file.rules, found), selected), key=lambda d: d.order)


def _unfinished(file: LintedFile, stopped: Mapping[str, LimitExceeded]) -> Iterator[Finding]:
    """One finding about the lints that reached the limit of work, at the rule that the first one stopped at.
    """
    from gslang.lint.linted_file import finding

    if stopped:
        code, error = next(iter(stopped.items()))
        rule = next((rule for rule in file.rules if rule.checked.name == error.rule), file.rules[0])
        names = ", ".join(f"{code} ({LINTS[code].name})" for code in stopped)
        yield finding(
            code, f"linting stopped at `{rule.name}`: its conditions and attributes take too many steps",
            rule.written.name.span, f"{error.help}; findings of {names} may be missing",
        )


def lint_files(
    files: Iterable[tuple[Source, CheckedProgram]],
    configuration: Configuration, *,
    parsed: Mapping[Source, Parsed] = MappingProxyType({}),
    allowed: bool = False,
    cache: bool = True,
) -> list[Diagnostic]:
    """The findings in several files, each with the lints and severities that the configuration has for it.

    `parsed`: what was parsed already.
    """
    found: list[Diagnostic] = []
    for source, program in files:
        ignore = (*configuration.ignore, *configuration.ignored_in(source.name))
        selected = selected_codes(configuration.select, ignore)
        for diagnostic in lint_program(
            source, program, selected, parsed=parsed.get(source), allowed=allowed, cache=cache
        ):
            severity = configuration.severity_of(diagnostic.code)
            found.append(
                diagnostic if severity is diagnostic.severity else replace(diagnostic, severity=severity)
            )
    return sorted(found, key=lambda d: d.order)
