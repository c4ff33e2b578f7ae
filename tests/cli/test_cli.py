"""Whole commands: results, exit codes, and errors that name the place and the hint."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import gslang
from gslang.cli.main import main
from gslang.syntax.language_version import LANGUAGE_VERSION

ROOT = Path(__file__).parent.parent.parent
GRAPH = {
    "format": "gsl-graph", "version": 1, "dialect": "relay", "name": "main",
    "nodes": [
        {"id": "x", "kind": "input", "shape": [2, 3, 4], "dtype": "float32"},
        {"id": "a", "kind": "call", "op": "transpose", "inputs": ["x"], "attrs": {"axes": [0, 2, 1]}},
        {"id": "b", "kind": "call", "op": "transpose", "inputs": ["a"], "attrs": {"axes": [0, 2, 1]}},
        {"id": "y", "kind": "call", "op": "exp", "inputs": ["b"]},
    ],
    "outputs": ["y"],
}  # fmt: skip
RULE = "## Twice is nothing.\nrule tt(x): transpose(transpose(x, axes = [0, 2, 1]), axes = [0, 2, 1]) => x;\n"


def gslc(*arguments: str, cwd: Path, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gslang", *arguments], cwd=cwd, input=stdin, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "g.json").write_text(json.dumps(GRAPH))
    (tmp_path / "r.gsl").write_text(RULE)
    return tmp_path


def test_apply(folder: Path) -> None:
    done = gslc(
        "r.gsl", "g.json", "-o", "out.json", "--check-numbers", "--report", "report.json", "--trace", "trace",
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    assert [n["id"] for n in json.loads((folder / "out.json").read_text())["nodes"]] == ["x", "y"]
    report = json.loads((folder / "report.json").read_text())
    assert (
        report["applications"] == 1 and report["stop_reason"] == "fixed_point"
        and report["numbers"]["max_abs"] == 0
    )
    assert report["rules"]["tt"]["applications"] == 1 and report["calls"]["after"] == {"exp": 1}
    (line,) = (folder / "trace").read_text().splitlines()
    assert json.loads(line)["rule"] == "tt" and json.loads(line)["replaced"] == {"b": "x"}


def test_the_same_bytes_whatever_the_hash_seed(folder: Path) -> None:
    texts = {gslc("std.relay", "g.json", cwd=folder, PYTHONHASHSEED=str(seed)).stdout for seed in range(4)}
    assert len(texts) == 1


def test_rules_alone_are_checked(folder: Path) -> None:
    assert gslc("r.gsl", cwd=folder).returncode == 0
    (folder / "bad.gsl").write_text("rule r(x): nn.rellu(x) => x;\n")
    done = gslc("bad.gsl", cwd=folder)
    assert done.returncode == 1 and "E0301" in done.stderr and "nn.relu" in done.stderr


@pytest.mark.parametrize("format", ["json", "sarif", "github", "concise"])
def test_check_formats(folder: Path, format: str) -> None:
    (folder / "bad.gsl").write_text("rule r(x): nn.rellu(x) => x;\n")
    done = gslc("check", "bad.gsl", "--format", format, cwd=folder)
    assert done.returncode == 1 and "E0301" in done.stdout
    if format in ("json", "sarif"):
        json.loads(done.stdout)


def test_match_lists_and_changes_nothing(folder: Path) -> None:
    done = gslc("match", "r.gsl", "g.json", "--format", "json", cwd=folder)
    assert json.loads(done.stdout)["matches"] == [
        {"rule": "tt", "outputs": ["b"], "nodes": {"x": "x"}, "instances": {}}
    ]


def test_convert_run_and_diff(folder: Path) -> None:
    assert gslc("convert", "g.json", "-o", "g.relay", cwd=folder).returncode == 0
    assert gslc("diff", "g.json", "g.relay", cwd=folder).returncode == 0
    assert gslc("convert", "g.json", "-o", "g.dot", cwd=folder).returncode == 0
    assert "digraph" in (folder / "g.dot").read_text()
    assert gslc("run", "g.json", "-o", "y.npz", cwd=folder).returncode == 0
    gslc("r.gsl", "g.json", "-o", "h.json", cwd=folder)
    assert gslc("diff", "g.json", "h.json", cwd=folder).returncode == 1


def test_test_verb(folder: Path) -> None:
    (folder / "t.gsl").write_text(RULE + 'test "no" for tt { x: input float32[2, 3, 4]; exp(x) => x }\n')
    done = gslc("test", "t.gsl", cwd=folder)
    assert done.returncode == 1 and "not applied" in done.stdout and "1 failed" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["chek", "r.gsl"], 2, ["did you mean `check`"]), (["r.gsl", "g.json", "--rul", "x"], 2, []),
        (["r.gsl", "g.json", "--rule", "t"], 2, ["unknown rule `t`"]),
        (["r.gsl", "none.json"], 3, ["none.json"]), (["none.gsl", "g.json"], 3, ["none.gsl"]),
        (["std.relai", "g.json"], 3, ["std.relay"]), (["r.gsl", "cut.json"], 3, ["cut.json"]),
        (["r.gsl", "latin.gsl"], 3, ["latin.gsl"]), (["latin.gsl", "g.json"], 1, ["E0101", "UTF-8"]),
    ],
)
def test_bad_input_says_where_and_how_to_mend_it(
    folder: Path, arguments: list[str], code: int, words: list[str]
) -> None:
    (folder / "cut.json").write_text(json.dumps(GRAPH)[:200])
    (folder / "latin.gsl").write_bytes(b"# caf\xe9\n")
    done = (
        gslc(*arguments, "-o", "out.json", cwd=folder) if arguments[0] != "chek"
        else gslc(*arguments, cwd=folder)
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr
    assert not (folder / "out.json").exists()


def test_rules_that_do_not_terminate(folder: Path) -> None:
    (folder / "loop.gsl").write_text("rule a(x): exp(x) => tanh(x);\nrule b(x): tanh(x) => exp(x);\n")
    done = gslc("loop.gsl", "g.json", "--limit", "20", "-o", "out.json", cwd=folder)
    assert (
        done.returncode == 1 and "stopped at the given limit of 20 applications" in done.stderr
        and "a → b → a" in done.stderr
    )
    done = gslc("loop.gsl", "g.json", "-o", "out.json", cwd=folder)
    assert done.returncode == 1 and "do not terminate" in done.stderr and "→" in done.stderr


def test_help_and_version(folder: Path) -> None:
    assert (
        gslc("--version", cwd=folder).stdout == f"gslc {gslang.__version__} (language {LANGUAGE_VERSION})\n"
    )
    assert "verbs" in gslc("--help", cwd=folder).stdout
    assert "nn.dense" in gslc("ops", "nn.dense", cwd=folder).stdout
    assert "E0301" in gslc("explain", "E0301", cwd=folder).stdout
    assert "rule conv_mul" in gslc("explain", "conv_mul", cwd=folder).stdout


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        ({"PYTHONIOENCODING": "cp1252"}, b"\xe9 \\u2192"),
        ({"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, "é →".encode()),
    ],
)
def test_text_that_the_terminal_cannot_show(settings: dict[str, str], shown: bytes, folder: Path) -> None:
    """As on Windows, whose consoles and pipes are not UTF-8: pipes get UTF-8 all the same."""
    (folder / "r.gsl").write_text("## é →\nrule r(x): nn.relu(nn.relu(x)) => nn.relu(x);\n", encoding="utf-8")
    environment = {
        **{name: value for name, value in os.environ.items() if name != "PYTHONIOENCODING"}, **settings,
    }
    done = subprocess.run(
        [sys.executable, "-m", "gslang", "explain", "r", "r.gsl"], cwd=folder, env=environment,
        capture_output=True, check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"") and b"## " + shown + b"\n" in done.stdout


def test_a_folder_named_like_a_verb_does_not_hide_the_verb(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ops").mkdir()
    monkeypatch.chdir(tmp_path)
    assert main(["ops", "conv2d"]) == 0
    assert "nn.conv2d" in capsys.readouterr().out
