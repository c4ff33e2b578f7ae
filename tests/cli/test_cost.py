"""`--cost` of `gslc RULES GRAPH`: printed, and in the report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gslang.cli.main import main

RULES = "dialect relay;\nrule twice(x): nn.relu(nn.relu(x)) => nn.relu(x);\n"
GRAPH = {
    "format": "gsl-graph", "version": 1, "dialect": "relay",
    "nodes": [
        {"id": "x", "kind": "input", "shape": [2, "n"], "dtype": "float32"},
        {"id": "a", "kind": "call", "op": "nn.relu", "inputs": ["x"]},
        {"id": "b", "kind": "call", "op": "nn.relu", "inputs": ["a"]},
    ],
    "outputs": ["b"],
}  # fmt: skip


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    (tmp_path / "rules.gsl").write_text(RULES, encoding="utf-8")
    (tmp_path / "graph.json").write_text(json.dumps(GRAPH), encoding="utf-8")
    return [str(tmp_path / "rules.gsl"), str(tmp_path / "graph.json"), "-o", str(tmp_path / "out.json")]


def report(files: list[str], *options: str) -> object:
    path = Path(files[-1]).with_name("report.json")
    assert main([*files, "--report", str(path), *options]) == 0
    return json.loads(path.read_text(encoding="utf-8"))["cost"]


def test_before_and_after(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert report(files, "--cost", "flops", "--dim", "n=3") == {
        "computed": True, "table": "flops", "unit": "operations", "before": 12.0, "after": 6.0,
    }
    assert "cost 12 → 6 operations (0.5000)\n" in capsys.readouterr().err


def test_an_unknown_size_is_no_failure(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    cost = report(files, "--cost", "bytes")
    assert isinstance(cost, dict) and cost["computed"] is False and "--dim n=N" in cost["reason"]
    assert "note: no cost for `nn.relu`" in capsys.readouterr().err


def test_without_the_option(files: list[str]) -> None:
    assert report(files) == {"computed": False}


def test_an_unknown_table_is_refused_before_the_run(files: list[str]) -> None:
    assert main([*files, "--cost", "nowhere.tsv"]) == 3
    assert not Path(files[-1]).exists()
