"""The hooks for pre-commit and the action for GitHub: their commands, run as those would run them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import textwrap
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

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
    "lint": GOOD.replace("{\n    x", "{\n    y: input float32[2];\n    x").replace(
        "## A relu of a relu is one.\n", ""
    ),
    "test": GOOD.replace("=> nn.relu(x)\n}", "=> x\n}"),
}


def yaml(name: str) -> Any:
    from yaml import safe_load

    return safe_load((ROOT / name).read_text(encoding="utf-8"))


def shell(script: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    path = f"{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}"
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=60,
        env={**os.environ, "PATH": path, **environment},
    )


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
    shown = {"fmt": "+rule twice(x): nn.relu", "lint": "file=rules.gsl,line=", "test": "FAILED rules.gsl"}[
        name
    ]
    assert shown in done.stdout


def test_the_action_writes_reports(tmp_path: Path) -> None:
    ruled(tmp_path, BAD["lint"])
    done = shell(steps()["gslc lint (SARIF)"], tmp_path, PATHS="rules.gsl", SELECT="L01", SARIF="out.sarif")
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "out.sarif").read_text(encoding="utf-8"))["runs"][0]["results"]
    assert found and all(
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "rules.gsl"
        for result in found
    )
    ruled(tmp_path, GOOD)
    done = shell(steps()["gslc test"], tmp_path, PATHS="rules.gsl", JUNIT="out.xml")
    assert done.returncode == 0 and 'tests="1"' in (tmp_path / "out.xml").read_text(encoding="utf-8")


def commands() -> list[str]:
    """The calls of gslc in docs/ci.md."""
    text = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    lines = re.findall(r"(?:^|- |- run: |sh '(?:\.venv/bin/)?)(gslc [^#\n']+)", text, flags=re.MULTILINE)
    return list(dict.fromkeys(line.strip() for line in lines))


@pytest.mark.parametrize("command", commands())
def test_recipes_run(command: str, tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "a.gsl").write_text(GOOD, encoding="utf-8")
    done = shell(command, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    for report in (*tmp_path.glob("*.json"), *tmp_path.glob("*.xml")):
        text = report.read_text(encoding="utf-8")
        assert (
            json.loads(text) == [] if report.suffix == ".json"
            else ElementTree.fromstring(text).tag in ("testsuite", "testsuites")
        )


def test_examples_of_files_can_be_read() -> None:
    from yaml import safe_load

    text = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    blocks = [textwrap.dedent(block) for block in re.findall(r"```yaml\n(.*?)```", text, flags=re.DOTALL)]
    read = [safe_load(block) for block in blocks]
    assert len(read) == 5
    hooks = {hook["id"] for hook in read[0]["repos"][0]["hooks"]}
    assert hooks == {hook["id"] for hook in yaml(".pre-commit-hooks.yaml")}
    given = {
        name
        for block in read[1:3]
        for step in block["jobs"]["rules"]["steps"] if "gslang@" in step.get("uses", "")
        for name in step["with"]
    }
    assert given <= set(yaml("action.yml")["inputs"])
    listed = re.findall(r"^\| ((?:`[a-z-]+`(?:, )?)+) \|", text, flags=re.MULTILINE)
    assert {name for row in listed for name in re.findall("`(.*?)`", row)} == set(
        yaml("action.yml")["inputs"]
    )


def test_the_problem_matcher_of_the_editor_reads_findings(tmp_path: Path) -> None:
    matcher = json.loads((ROOT / "editors" / "vscode" / "package.json").read_text(encoding="utf-8"))[
        "contributes"
    ]["problemMatchers"][0]["pattern"]
    ruled(tmp_path, "rule r(x): nn.rellu(x) => x;\n")
    found = re.match(
        matcher["regexp"], shell("gslc lint --format concise rules.gsl", tmp_path).stdout, flags=re.MULTILINE
    )
    assert found and found[matcher["file"]] == "rules.gsl" and found[matcher["code"]] == "E0301"
    assert (found[matcher["line"]], found[matcher["column"]]) == ("1", "12")
