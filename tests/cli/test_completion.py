"""The names of shipped things in completion scripts."""

from __future__ import annotations

import pytest

from gslang.check.checked import CheckedProgram
from gslang.check.modules import load_module
from gslang.cli import completion_table


def no_module(name: str) -> list[CheckedProgram]:
    raise AssertionError(f"{name} is checked, which takes seconds where nothing is in the cache")


def test_names_of_shipped_rules_without_checking_them(monkeypatch: pytest.MonkeyPatch) -> None:
    (program,) = load_module("std.onnx.identity")
    rules = {program.rules[name].family or name for name in program.own_rules}
    monkeypatch.setattr("gslang.check.modules.load_module", no_module)
    names = completion_table.names()
    assert rules < {*names.rules}  # those of a family have one name, which is a single word of a shell
    assert "basic" in names.passes and not any(" " in name for name in names.rules)
