"""What goes wrong in Python is an exception that a user can catch, and that says how to hint it; the
interface has types.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

import gslang
from gslang.dialect.load import load_dialect
from gslang.graph.builder import Builder

ROOT = Path(__file__).parent.parent


@cache
def rules() -> gslang.RuleSet:
    return gslang.parse_rules("rule twice(x): nn.relu(nn.relu(x)) => nn.relu(x);\npass all { twice; }")


def graph() -> gslang.Graph:
    build = Builder(load_dialect("relay"))
    return build.finish(build.call("nn.relu", build.call("nn.relu", build.input("x", (2, 3)))))


CASES: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "a rule": (
        lambda: rules().apply(graph(), rules=["twise"]), gslang.UnknownNameError,
        "unknown rule `twise`; did you mean `twice`?",
    ),
    "a skipped rule": (
        lambda: rules().apply(graph(), skip=["zz"]), KeyError, "unknown rule `zz`; known: twice",
    ),
    "a pass": (lambda: rules().apply(graph(), pass_name="zz"), KeyError, "unknown pass `zz`; known: all"),
    "a handle": (lambda: rules()["zz"], KeyError, "unknown rule `zz`"),
    "a limit": (lambda: rules().apply(graph(), limit=0), ValueError, "`limit` is a number from 1, not 0"),
    "sweeps": (lambda: rules().apply(graph(), sweeps=0), ValueError, "`sweeps` is a number from 1, not 0"),
    "no rule file": (lambda: gslang.load("/no/such.gsl"), FileNotFoundError, "such.gsl"),
    "a text for a file": (
        lambda: gslang.load("rule r(x): nn.relu(x) => x;"), FileNotFoundError, "parse_rules(text)"
    ),
    "a list of files": (lambda: gslang.load(["a.gsl"]), TypeError, "got list"),  # type: ignore[arg-type]
    "arguments in another order": (
        lambda: gslang.write("x.json", graph()), TypeError, "write(graph, path)",  # type: ignore[arg-type]
    ),
    "no name": (lambda: gslang.load(""), FileNotFoundError, "no .gsl files"),
    "a folder without rules": (lambda: gslang.load(ROOT / "docs" / "no"), FileNotFoundError, ""),
    "no graph": (lambda: gslang.read("/no/such.json"), gslang.InputError, "no such file"),
    "no format": (lambda: gslang.write(graph(), "x.foo"), gslang.InputError, "use .json, .relay or .onnx"),
    "no place": (lambda: gslang.write(graph(), "/no/such/x.json"), gslang.InputError, "cannot be written"),
    "a wrong rule": (
        lambda: gslang.parse_rules("rule r(x): relu(x) => x;"), gslang.RuleError, "did you mean `nn.relu`?",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_errors(name: str) -> None:
    call, kind, message = CASES[name]
    with pytest.raises(kind) as caught:
        call()
    assert message in str(caught.value)


def test_no_rules_is_none_of_them() -> None:
    assert rules().apply(graph(), rules=[]).applications == 0 and rules().apply(graph()).applications == 1


SCRIPT = """
from __future__ import annotations
import gslang

def first(path: str) -> str | None:
    rules: gslang.RuleSet = gslang.load("std.relay")
    graph: gslang.Graph = gslang.read(path, params="w.npz", inline=True)
    try:
        result = rules.apply(graph, pass_name="inference", rules=["conv_mul"], limit=10, fold=True)
    except gslang.UnknownNameError as error:
        return error.message
    gslang.write(result.graph, "out.json")
    number: int = result.applications + len(result.graph)
    for match in rules["conv_mul"].matches(graph):
        names: dict[str, str] = match.nodes
        return f"{match.rule} {names} {number} {result.stop_reason.value}"
    return None
"""


@pytest.mark.long
def test_a_users_script_is_checked_strictly(tmp_path: Path) -> None:
    """As installed: `py.typed` and the types of the interface."""
    assert (ROOT / "gslang" / "py.typed").is_file()
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "wrong.py").write_text(SCRIPT.replace("limit=10", 'limit="10"'))
    for name, expected in (("script.py", 0), ("wrong.py", 1)):
        command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", name]
        ran = subprocess.run(
            command, cwd=tmp_path, env={"MYPYPATH": str(ROOT), "PATH": "/usr/bin:/bin"}, capture_output=True,
            text=True,
        )
        assert ran.returncode == expected, ran.stdout
