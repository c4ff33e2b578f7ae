"""What docs/ci.md says works as pasted: hooks, action, GitLab, Jenkins, on rules over ONNX and Relay."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/ci.md").read_text(encoding="utf-8")
RULES = """dialect {dialect};

## A {op} of a {op} is one.
rule twice(x): {op}({op}(x)) => {op}(x);

test "two become one" for twice {{
    x: input float32[2];
    {op}({op}(x))
  => {op}(x)
}}
"""


def recipe(section: str, language: str) -> list[str]:
    text = PAGE.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "rules").mkdir(parents=True)
    (folder / "more").mkdir()
    (folder / "rules/onnx.gsl").write_text(RULES.format(dialect="onnx", op="Relu"), encoding="utf-8")
    (folder / "more/rules.gsl").write_text(RULES.format(dialect="relay", op="nn.relu"), encoding="utf-8")
    return folder


def shell(command: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a line of a recipe with the `gslc` of this environment; it installs nothing."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", **more,
    }
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", command], cwd=folder, env=environment, capture_output=True,
        text=True, check=False,
    )


def commands() -> list[str]:
    (gitlab,) = [yaml.safe_load(text) for text in recipe("GitLab", "yaml")]
    found: list[str] = [line for line in gitlab["rules"]["script"] if "pip install" not in line]
    (jenkins,) = recipe("Jenkins", "groovy")
    found += [
        line.replace(".venv/bin/", "")
        for line in re.findall(r"sh '(.*)'", jenkins) if "pip install" not in line
    ]
    github = yaml.safe_load(recipe("GitHub", "yaml")[0])
    found += [
        step["run"]
        for step in github["jobs"]["rules"]["steps"] if "run" in step and "pip install" not in step["run"]
    ]
    return list(dict.fromkeys(found))


@pytest.mark.parametrize("command", commands())
def test_lines_of_the_recipes(command: str, repository: Path) -> None:
    done = shell(command, repository)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_action(repository: Path) -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    steps = [step for step in action["runs"]["steps"] if "run" in step and step["name"] != "install gslang"]
    assert len(steps) == 4
    for step in steps:
        done = shell(
            step["run"], repository, PATHS="rules/ more/rules.gsl", SELECT="", SARIF="found.sarif",
            JUNIT="tests.xml",
        )
        assert done.returncode == 0, f"{step['name']}: {done.stdout}{done.stderr}"
    (install,) = [step for step in action["runs"]["steps"] if step.get("name") == "install gslang"]
    echoed = shell(
        install["run"].replace("python -m pip", "echo"), repository, REQUIREMENT="", CHECKOUT="/some/where"
    )
    assert echoed.stdout.split()[-1] == "/some/where[onnx]"


def hooks() -> list[dict[str, Any]]:
    """The shipped ones, then those to paste."""
    shipped: list[dict[str, Any]] = yaml.safe_load(
        (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    )
    (pasted,) = [yaml.safe_load(text) for text in recipe("pre-commit", "yaml")]
    return shipped + [hook for source in pasted["repos"] for hook in source["hooks"]]


@pytest.mark.parametrize("hook", hooks()[:3], ids=lambda hook: hook["id"])
def test_the_hooks_commands(hook: dict[str, Any], repository: Path) -> None:
    files = [
        str(path.relative_to(repository))
        for path in sorted(repository.rglob("*")) if re.search(hook["files"], str(path))
    ]
    assert len(files) == 2
    done = shell(shlex.join([*hook["entry"].split(), *files]), repository)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_recipe_has_the_shipped_hooks() -> None:
    known = hooks()
    assert len(known) == 6
    for shipped, pasted in zip(known[:3], known[3:]):
        assert [shipped[key] for key in ("id", "entry", "files")] == [
            pasted[key] for key in ("id", "entry", "files")
        ]


@pytest.mark.parametrize(
    "name", ["docs/ci.md", ".pre-commit-hooks.yaml", "action.yml", "README.md", "pyproject.toml"]
)
def test_no_placeholders(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert not re.search(r"example\.(org|com|net)|\bOWNER\b|\bREV\b|your-org", text)


@pytest.mark.long
def test_pre_commit_try_repo(repository: Path, tmp_path: Path) -> None:
    """The shipped hooks, in environments of their own."""
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@t"]
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "rules"]):
        subprocess.run([*git, *arguments], cwd=repository, check=True)
    environment = {
        **os.environ,
        "PRE_COMMIT_HOME": str(tmp_path / "home"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    command = [sys.executable, "-m", "pre_commit", "try-repo", str(ROOT), "--all-files", "--verbose"]
    done = subprocess.run(
        command, cwd=repository, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("Passed") == 3
