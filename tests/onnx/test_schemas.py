"""ONNX's schemas as data: in step with the package, and enough where it is not installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import onnx
import pytest

from gslang.dialect.onnx.package_schemas import schemas_text
from gslang.dialect.onnx.versions import SCHEMAS

WITHOUT = "import sys; sys.modules['onnx'] = None; from gslang.cli.main import main; sys.exit(main())"
RULE = '''dialect onnx;

## A relu of a relu is one.
rule relu_twice(x): Relu(Relu(x)) => Relu(x);

test "two become one" for relu_twice {
    x: input float32[2];
    Relu(Relu(x))
  => Relu(x)
}
'''


def gslc(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The command in a process that has no package `onnx`."""
    environment = {**os.environ, "GSLANG_CACHE": "off"}
    return subprocess.run(
        [sys.executable, "-c", WITHOUT, *arguments], cwd=folder, env=environment, capture_output=True,
        text=True, check=False,
    )


def versions_of(text: str) -> dict[tuple[str, int], Any]:
    """(operator, since) → what is said of it, with names of element types."""
    data = json.loads(text)
    return {
        (name, since): ([[*o[:3], data["types"][o[3]]] for o in operands], *rest)
        for name, (_, *versions) in data["operators"].items()
        for since, operands, *rest in versions
    }


def test_the_file_says_what_the_package_says() -> None:
    """After an update of `onnx`: `python -m gslang.dialect.onnx.package_schemas`."""
    shipped, now = SCHEMAS.read_text(encoding="utf-8"), schemas_text()
    if onnx.__version__ == json.loads(shipped)["onnx"]:
        assert now == shipped
        return
    ours, theirs = versions_of(shipped), versions_of(now)
    common = ours.keys() & theirs.keys()
    assert len(common) > 500
    assert [key for key in sorted(common) if ours[key] != theirs[key]] == []


def test_the_file_is_small() -> None:
    assert SCHEMAS.stat().st_size < 250_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "relu.gsl").write_text(RULE, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "command", ["check relu.gsl", "lint relu.gsl", "fmt --check relu.gsl", "ops --dialect onnx Conv"]
)
def test_rules_need_no_package(command: str, folder: Path) -> None:
    done = gslc(*command.split(), folder=folder)
    assert done.returncode == 0, done.stderr


@pytest.mark.long
def test_shipped_rules_need_no_package(folder: Path) -> None:
    assert gslc("check", "std.onnx", "std.onnxruntime", folder=folder).returncode == 0


def test_mistakes_are_found_without_the_package(folder: Path) -> None:
    (folder / "wrong.gsl").write_text(
        "dialect onnx;\nrule wrong(x): Relu(x) => Relu(x, alpha = 1);\n", encoding="utf-8"
    )
    done = gslc("check", "--format", "concise", "wrong.gsl", folder=folder)
    assert done.returncode == 1
    assert "`Relu` has no attribute `alpha`" in done.stdout + done.stderr


@pytest.mark.parametrize(
    "command", ["test relu.gsl", "verify relu.gsl", "relu.gsl graph.json", "run graph.json"]
)
def test_what_needs_it_says_so(command: str, folder: Path) -> None:
    graph = {
        "format": "gsl-graph", "version": 1, "dialect": "onnx", "name": "main", "outputs": ["y"],
        "nodes": [
            {"id": "x", "kind": "input", "shape": [2], "dtype": "float32"},
            {"id": "y", "kind": "call", "op": "Relu", "inputs": ["x"], "attrs": {}},
        ],
    }  # fmt: skip
    (folder / "graph.json").write_text(json.dumps(graph), encoding="utf-8")
    done = gslc(*command.split(), folder=folder)
    assert done.returncode == 3
    assert "pip install 'gslang[onnx]'" in done.stderr and "Traceback" not in done.stderr
