"""The hooks for pre-commit and the action for GitHub: their commands, run as those would run them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.editors.corpus import ROOT

pytestmark = pytest.mark.editors
GOOD = """## A relu of a relu is one.
rule twice(x): nn.relu(nn.relu(x)) => nn.relu(x);

test "two become one" for twice {
    x: input float32[2, 3];
    nn.relu(nn.relu(x))
  => nn.relu(x)
}
"""
BAD = {
    "fmt": GOOD.replace("rule twice(x)", "rule  twice( x )"),
    "lint": GOOD.replace("{\n    x", "{\n    y: input float32[2];\n    x").replace("## A relu of a relu is one.\n", ""),
    "test": GOOD.replace("=> nn.relu(x)\n}", "=> x\n}"),
}


def yaml(name: str) -> Any:
    from yaml import safe_load

    return safe_load((ROOT / name).read_text(encoding="utf-8"))


def shell(script: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    path = f"{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}"
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, env={**os.environ, "PATH": path, **environment})


def ruled(folder: Path, text: str) -> Path:
    (folder / "my rules").mkdir(exist_ok=True)
    path = folder / "rules.gsl"
    path.write_text(text, encoding="utf-8")
    return path


def test_hooks(tmp_path: Path) -> None:
    hooks = {hook["id"]: hook for hook in yaml(".pre-commit-hooks.yaml")}
    assert list(hooks) == ["gslc-fmt", "gslc-lint", "gslc-test"]
    for name, hook in hooks.items():
        assert hook["language"] == "python" and hook["files"] == r"\.gsl$"
        path = ruled(tmp_path, GOOD)
        assert shell(f"{hook['entry']} {path}", tmp_path).returncode == 0, name
        path = ruled(tmp_path, BAD[name.removeprefix("gslc-")])
        done = shell(f"{hook['entry']} {path}", tmp_path)
        # pre-commit itself fails where a hook changed files: the formatter need not
        assert path.read_text(encoding="utf-8") == GOOD if name == "gslc-fmt" else done.returncode == 1, name


def steps() -> dict[str, str]:
    return {step["name"]: step["run"] for step in yaml("action.yml")["runs"]["steps"] if "run" in step}


def test_the_action_is_composite_and_its_inputs_are_used() -> None:
    action = yaml("action.yml")
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    assert action["runs"]["using"] == "composite"
    assert all(step.get("shell") == "bash" for step in action["runs"]["steps"] if "run" in step)
    assert all(f"inputs.{name}" in text and "default" in given for name, given in action["inputs"].items())
    # What a user gives comes in by the environment: text in a script would be run.
    assert not any("${{" in script for script in steps().values())


@pytest.mark.parametrize("name", ["fmt", "lint", "test"])
def test_the_action_fails_where_it_should(name: str, tmp_path: Path) -> None:
    environment = {"PATHS": "rules.gsl\nmore", "SELECT": "", "JUNIT": "", "SARIF": ""}
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "b.gsl").write_text(GOOD, encoding="utf-8")
    ruled(tmp_path, GOOD)
    assert shell(steps()[f"gslc {name}"], tmp_path, **environment).returncode == 0
    ruled(tmp_path, BAD[name])
    done = shell(steps()[f"gslc {name}"], tmp_path, **environment)
    assert done.returncode == 1
    shown = {"fmt": "+rule twice(x): nn.relu", "lint": "file=rules.gsl,line=", "test": "FAILED rules.gsl"}[name]
    assert shown in done.stdout


def test_the_action_writes_reports(tmp_path: Path) -> None:
    ruled(tmp_path, BAD["lint"])
    done = shell(steps()["gslc lint (SARIF)"], tmp_path, PATHS="rules.gsl", SELECT="L01", SARIF="out.sarif")
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "out.sarif").read_text(encoding="utf-8"))["runs"][0]["results"]
    assert found and all(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "rules.gsl" for result in found)
    ruled(tmp_path, GOOD)
    done = shell(steps()["gslc test"], tmp_path, PATHS="rules.gsl", JUNIT="out.xml")
    assert done.returncode == 0 and 'tests="1"' in (tmp_path / "out.xml").read_text(encoding="utf-8")
