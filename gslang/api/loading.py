"""Rule sets from files, folders, shipped modules and texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from types import MappingProxyType

from gslang.api.errors import RuleError, UnknownNameError
from gslang.api.rule_set import RuleSet
from gslang.base.recursion import deep_walks
from gslang.base.source import Source
from gslang.check.checked import CheckedProgram
from gslang.check.modules import load_module
from gslang.engine.externs import with_externs
from gslang.engine.meaning import with_meanings


@deep_walks()
def load(
    name: str | Path, *, allow_extern: bool = False, defines: Mapping[str, object] = MappingProxyType({})
) -> RuleSet:
    """The rules of a `.gsl` file, a folder, or a shipped module (`std.relay`). Raises `RuleError`,
    `FileNotFoundError`.

    `allow_extern`: import the Python functions that `@extern` names; else rules that call one raise
    `InputError` when they are run. `defines`: values for parameters of the files (`param` items). Raises
    `InputError` for a function that cannot be imported, and `UnknownNameError` for a parameter that there is
    not.
    """
    if not isinstance(name, (str, PathLike)):
        raise TypeError(f"expected the name of a file, a folder or a module, got {type(name).__name__}")
    if isinstance(name, str) and ("\n" in name or "=>" in name):
        raise FileNotFoundError("this is a text, not the name of a file: parse_rules(text) reads it")
    _check_defines(defines)
    try:
        programs = load_module(str(name), None, defines) if str(name) else []
    except FileNotFoundError:
        raise FileNotFoundError(f"{name}: no such rule file, folder or shipped module") from None
    if not programs:
        raise FileNotFoundError(f"no .gsl files in `{name}`")
    return _ready(programs, allow_extern, defines)


@deep_walks()
def parse_rules(
    text: str,
    name: str = "<rules>", *,
    allow_extern: bool = False,
    defines: Mapping[str, object] = MappingProxyType({}),
) -> RuleSet:
    """The rules of a text. Raises `RuleError`, and the errors of `load`."""
    from gslang.check.check import check_module, check_source
    from gslang.check.imports import Importer

    _check_defines(defines)
    return _ready(
        [check_source(Source(name, text), Importer(check_module, None, defines))], allow_extern, defines
    )


def _check_defines(defines: object) -> None:
    if not isinstance(defines, Mapping) or not all(isinstance(name, str) for name in defines):
        raise TypeError('`defines` has values by name: {"threshold": 64}')


def _ready(programs: Sequence[CheckedProgram], allow_extern: bool, defines: Mapping[str, object]) -> RuleSet:
    """Checked programs as rules that can be run."""
    rules = RuleSet(tuple(programs))
    for name in defines:
        if name not in rules.parameters:
            raise UnknownNameError("parameter", name, rules.parameters)
    if any(not program.ok for program in programs):
        raise RuleError(rules.diagnostics)
    return RuleSet(tuple(with_externs(with_meanings(program), allow_extern) for program in programs))
