"""The table in docs/lint.md is that of the lints."""

from __future__ import annotations

from pathlib import Path

from gslang.lint.codes import LINTS


def test_the_table_is_complete() -> None:
    text = (Path(__file__).parents[2] / "docs" / "lint.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| L0")]
    assert rows == [f"| {i.code} | `{i.name}` | {i.title} | {'' if i.default else 'no'} |" for i in LINTS.values()]
