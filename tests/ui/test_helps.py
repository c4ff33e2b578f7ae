"""Every error of the checker says how it is corrected: where one is reported, a help is given."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import gslang

PACKAGE = Path(gslang.__file__).parent
FILES = sorted(
    path for folder in ("check", "syntax", "lsp") for path in (PACKAGE / folder).rglob("*.py")
)
_PLACES = {"error": 3, "stop": 3, "Diagnostic": 5}
"""Callables that report an error, and the place of the help among their arguments."""


def _without_help(tree: ast.AST) -> Iterator[int]:
    """The lines of calls that report an error and give no help."""
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call):
            continue
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        code = call.args[0] if call.args else None
        if (
            name in _PLACES and isinstance(code, ast.Constant) and str(code.value).startswith("E")
            and len(call.args) <= _PLACES[name] and not any(k.arg == "help" for k in call.keywords)
        ):
            yield call.lineno


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(PACKAGE)) for path in FILES])
def test_each_error_has_a_help(path: Path) -> None:
    lines = list(_without_help(ast.parse(path.read_text(encoding="utf-8"))))
    assert lines == [], f"{path}: errors without a help"


def test_the_search_finds_calls_without_help() -> None:
    code = 'a.stop("E0101", "m", s)\na.stop("E0101", "m", s, "h")\nDiagnostic("E0101", "m", s, help=None)\n'
    assert list(_without_help(ast.parse(code))) == [1]
