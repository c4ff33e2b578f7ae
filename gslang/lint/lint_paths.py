"""Linting files by path, several at a time where asked: each is read, checked and linted with the
configuration of its folder.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gslang.base.diagnostics import Diagnostic
from gslang.base.quick_dataclass import dataclass
from gslang.base.source import Source
from gslang.check.checked import CheckedProgram
from gslang.lint.configuration import Configuration, find_configuration
from gslang.lint.run_lints import lint_files

if TYPE_CHECKING:
    from gslang.syntax.parser import Parsed


@dataclass(frozen=True, slots=True)
class Choice:
    """The command line's overrides of the configuration: `select` instead of its own, `ignore` besides.
    `cache`: keep findings.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    cache: bool = True

    def configuration_of(self, file: str) -> Configuration:
        """The configuration of a file's folder, of the working directory for texts that are no files.

        Raises `InputError`.
        """
        path = Path(file)
        found = find_configuration(path.parent.resolve() if path.is_file() else Path.cwd())
        return replace(found, select=self.select or found.select, ignore=(*found.ignore, *self.ignore))


@dataclass(frozen=True, slots=True)
class Linted:
    """One file.

    `errors`: what `gslc check` says of it; `found`: its findings, also those that an `@allow` silences.
    """

    source: Source
    rules: int
    errors: tuple[Diagnostic, ...]
    found: tuple[Diagnostic, ...]

    @property
    def broken(self) -> bool:
        return any(d.severity.value == "error" for d in self.errors)


def lint_programs(
    programs: Iterable[CheckedProgram], choice: Choice, parsed: Mapping[Source, Parsed]
) -> list[Linted]:
    """The findings in programs that are loaded already.

    One with errors has none. `parsed`: the syntax of those that were parsed for that.
    """
    result = []
    for program in programs:
        source = source_of(program)
        found = lint_files(
            [(source, program)], choice.configuration_of(source.name), parsed=parsed, allowed=True,
            cache=choice.cache,
        )
        result.append(Linted(source, len(program.own_rules), program.diagnostics, tuple(found)))
    return result


def with_joint_findings(
    files: Sequence[Linted], programs: Sequence[CheckedProgram], choice: Choice
) -> list[Linted]:
    """The same with the findings about rules of different files, each in its file and as the configuration of
    that has it.
    """
    from gslang.lint.selectors import selected_codes
    from gslang.lint.together import lint_together

    configurations = {file.source.name: choice.configuration_of(file.source.name) for file in files}
    selected = {
        name: selected_codes(known.select, (*known.ignore, *known.ignored_in(name)))
        for name, known in configurations.items()
    }
    joint = lint_together(
        [(file.source, program) for file, program in zip(files, programs)],
        frozenset().union(*selected.values()),
    )
    result = []
    for file in files:
        name = file.source.name
        own = [
            replace(d, severity=configurations[name].severity_of(d.code))
            for d in joint if d.primary.span.source.name == name and d.code in selected[name]
        ]
        result.append(replace(file, found=tuple(sorted((*file.found, *own), key=lambda d: d.order))))
    return result


def lint_paths(paths: Sequence[str], choice: Choice, jobs: int) -> list[Linted]:
    """The findings in files, in the order of the paths, worked out by `jobs` processes."""
    from gslang.base.processes import processes

    size = max(1, min(16, -(-len(paths) // jobs)))
    chunks = [paths[k : k + size] for k in range(0, len(paths), size)]
    with processes(jobs) as pool:
        return [linted for part in pool.map(_lint_chunk, chunks, [choice] * len(chunks)) for linted in part]


def _lint_chunk(paths: Sequence[str], choice: Choice) -> list[Linted]:
    from gslang.check.modules import load_module
    from gslang.check.parameters import ANY_VALUES

    result = []
    for path in paths:
        parsed: dict[Source, Parsed] = {}
        result += lint_programs(load_module(path, parsed, ANY_VALUES), choice, parsed)
    return result


def source_of(program: CheckedProgram) -> Source:
    """The text of a checked program; of a file without rules it is read again."""
    from gslang.syntax.parser import read_source

    for name in program.own_rules:
        return program.rules[name].span.source
    for diagnostic in program.diagnostics:
        if diagnostic.primary.span.source.name == program.name:
            return diagnostic.primary.span.source
    try:
        source = read_source(program.name)
    except OSError:
        return Source(program.name, "")
    return source if isinstance(source, Source) else Source(program.name, "")
