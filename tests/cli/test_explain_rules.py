"""`gslc explain` of a rule: shipped rules are loaded where they may have its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from gslang.check.modules import load_module
from gslang.cli.explain import SHIPPED, _may_have
from gslang.cli.main import main


@pytest.mark.parametrize("module", [name for names in SHIPPED.values() for name in names])
def test_each_shipped_rule_is_looked_for(module: str) -> None:
    rules = {name for program in load_module(module) for name in program.own_rules}
    assert rules and all(_may_have(module, name) for name in rules) and not _may_have(module, "r")


def test_an_error_of_the_file_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Not that there is no such rule."""
    (tmp_path / "bad.gsl").write_text("dialect onnx;\nrule r(a, b): Relu(a) => a;\n")
    assert main(["explain", "r", str(tmp_path / "bad.gsl")]) == 1
    assert "E0209" in capsys.readouterr().err


def test_a_name_that_no_shipped_rule_has_loads_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    loaded: list[str] = []
    monkeypatch.setattr("gslang.cli.explain._shown", lambda found, name: loaded.append(name) or [])
    (tmp_path / "r.gsl").write_text("dialect onnx;\nrule q(a): Relu(a) => a;\n")
    assert main(["explain", "clip_clp", str(tmp_path / "r.gsl")]) == 2
    assert loaded == ["clip_clp"] and "did you mean" in capsys.readouterr().err
