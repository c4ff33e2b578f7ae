"""Wrong options, places that cannot be written, closed and full streams: each ends with its code and with
what to do.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from gslang.cli.main import main

ROOT = Path(__file__).parent.parent.parent
RULE = "rule relu_twice(x): nn.relu(nn.relu(x)) => nn.relu(x);\n"


def graph(length: int = 2) -> str:
    nodes: list[object] = [{"id": "n0", "kind": "input", "shape": ["n", 3], "dtype": "float32"}]
    nodes += [
        {"id": f"n{k}", "kind": "call", "op": "nn.relu", "inputs": [f"n{k - 1}"]}
        for k in range(1, length + 1)
    ]
    return json.dumps({"format": "gsl-graph", "version": 1, "nodes": nodes, "outputs": [f"n{length}"]})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("r.gsl").write_text(RULE)
    Path("g.json").write_text(graph())
    Path("d").mkdir()
    return tmp_path


# The words of a command line, its exit code, and what it says.
CASES = {
    "no output folder": (
        "r.gsl g.json -o no/o.json", 3, "no/o.json: cannot be written: no folder `no`",
    ),
    "output is a folder": ("r.gsl g.json -o d", 3, "d: cannot be written: is a directory"),
    "unknown suffix": ("r.gsl g.json -o o.xyz", 3, "use .json, .relay or .onnx"),
    "unknown output format": ("r.gsl g.json --output-format yaml", 3, "unknown format `yaml`"),
    "empty output": ("r.gsl g.json -o ''", 3, "the name of the output is empty"),
    "empty graph": ("r.gsl ''", 3, "the name of the graph's file is empty"),
    "empty rules": ("'' g.json", 3, "the name of the rules is empty"),
    "trace on stdout": ("r.gsl g.json --trace -", 2, "a trace must be written to a file"),
    "trace into no folder": ("r.gsl g.json --trace no/t", 3, "no/t: cannot be written"),
    "report into no folder": ("r.gsl g.json --report no/r", 3, "no/r: cannot be written"),
    "both from stdin": ("- -", 3, "cannot both come from standard input"),
    "diff, both from stdin": ("diff - -", 3, "the two graphs cannot both come from standard input"),
    "match, both from stdin": ("match - -", 3, "cannot both come from standard input"),
    "a graph for rules": (
        "g.json r.gsl", 3, "this is a graph, not a rule file\n  help: the rules come first",
    ),
    "no such verb": ("frob r.gsl", 3, "`gslc --help` lists the verbs"),
    "nothing left": ("r.gsl g.json --rule relu_twice --skip relu_twice", 2, "no rule is left"),
    "negative seed": (
        "r.gsl g.json --check-numbers --seed -1", 2, "--seed: expected a number from 0, not `-1`",
    ),
    "no sweeps": ("r.gsl g.json --passes 0", 2, "--passes: expected a number from 1, not `0`"),
    "no size": ("r.gsl g.json --fold-limit KK", 2, "expected a size such as 1M"),
    "unknown dimension": (
        "r.gsl g.json --check-numbers --dim m=3", 3,
        "the graph has no dimension `m`\n  help: symbolic dimensions: n",
    ),
    "no number": ("run g.json --dim n=x", 2, "expected NAME=N, N a number from 0"),
    "weights by another name": ("run g.json -o o.txt", 3, "use .npz or .safetensors"),
    "run into no folder": ("run g.json -o no/o.npz", 3, "no/o.npz: cannot be written"),
    "empty check": ("bisect r.gsl g.json --check ' '", 2, "the check is empty"),
    "unknown command": (
        "bisect r.gsl g.json --check 'no-such-command-here {}'", 3, "the check cannot be run",
    ),
    "unknown code": ("explain E9999", 2, "docs/rules.md lists the shipped rules"),
}


@pytest.mark.parametrize("name", CASES)
def test_refused(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import shlex

    words, code, message = CASES[name]
    assert main(shlex.split(words)) == code
    captured = capsys.readouterr()
    assert message in captured.err and captured.out == ""
    assert sorted(p.name for p in folder.iterdir()) == ["d", "g.json", "r.gsl"]


def test_explain_knows_the_rules_of_every_dialect(capsys: pytest.CaptureFixture[str]) -> None:
    from gslang.check.modules import load_module

    for module in ("std.relay", "std.onnx", "std.onnxruntime"):
        name = next(iter(load_module(module)[0].own_rules))
        assert main(["explain", name]) == 0
        assert f"rule {name.partition('[')[0]}" in capsys.readouterr().out


def _shell(command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    gslc = f"{sys.executable} -m gslang"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        ["bash", "-c", command.replace("gslc", gslc)], cwd=cwd, capture_output=True, text=True,
        env=environment,
    )


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("gslc ops > /dev/full", 3, "no space left"),
        ("gslc r.gsl g.json > /dev/full", 3, "no space left"),
        ("gslc r.gsl g.json -o o.json >&-", 0, "1 application"),
        ("gslc check - <&-", 0, "0 rules"),
        ("gslc r.gsl g.json -o o.json 2>&-", 0, ""),
        ("set -o pipefail; gslc ops | head -1", 0, ""),
        ("cat r.gsl | gslc - g.json -o o.json", 0, "1 application"),
        ("cat g.json | gslc r.gsl - -o o.json", 0, "1 application"),
    ],
)
def test_streams(command: str, code: int, said: str, folder: Path) -> None:
    done = _shell(command, folder)
    assert done.returncode == code, done.stderr
    assert (
        said in done.stderr and "internal error" not in done.stderr and "Exception ignored" not in done.stderr
    )


def test_interrupted(folder: Path) -> None:
    """Whenever the interrupt comes: code 130, and the output is whole or not there."""
    (folder / "long.json").write_text(graph(60_000))
    words = ["r.gsl", "long.json", "-o", "o.json", "--check-numbers"]
    code = f"from gslang.cli.main import main; print('ready', flush=True); raise SystemExit(main({words}))"
    for pause in (0.05, 0.4, 0.9):
        process = subprocess.Popen(
            [sys.executable, "-c", code], cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        time.sleep(pause)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
        if process.returncode == 0:
            json.loads((folder / "o.json").read_text())
        else:
            assert process.returncode == 130 and said.endswith("gslc: interrupted\n")
    assert {p.suffix for p in folder.iterdir()} <= {"", ".json", ".gsl"}


WEIGHTED = """def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(?, ?), float32])
    { nn.relu(nn.dense(%x, %w)) }
def @odd[A](%f: fn(A) -> A) { %f }
"""


def test_converting_to_relay_text_keeps_the_weights(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import numpy as np

    Path("g.relay").write_text(WEIGHTED)
    np.savez("w.npz", w=np.ones((4, 3), "float32"))
    assert main(["convert", "g.relay", "-o", "o.relay"]) == 3
    assert "give `--skip-unsupported`" in capsys.readouterr().err
    assert main(["convert", "g.relay", "--skip-unsupported", "--params", "w.npz", "-o", "o.json"]) == 0
    types = {node["id"]: node["shape"] for node in json.loads(Path("o.json").read_text())["nodes"]}
    assert types["w"] == [4, 3] and types["n0"] == [2, 4]  # the file says what the graph leaves open
    assert (
        main(["convert", "o.json", "-o", "o.relay"]) == 0
        and "value of 1 parameter is in o.npz" in capsys.readouterr().err
    )
    assert np.load("o.npz")["w"].shape == (4, 3)
    assert main(["convert", "o.json", "-o", "-"]) == 0
    captured = capsys.readouterr()
    assert "cannot represent the value of 1 parameter" in captured.err
    assert captured.out.startswith("#[version")
    np.savez("wrong.npz", w=np.ones((4, 5), "float32"))
    assert main(["convert", "g.relay", "--skip-unsupported", "--params", "wrong.npz", "-o", "o.json"]) == 3
    assert "with the shapes of wrong.npz" in capsys.readouterr().err


def test_relay_text_from_stdin_gives_relay_text(folder: Path) -> None:
    (folder / "g.relay").write_text("def @main(%x: Tensor[(2), float32]) { nn.relu(nn.relu(%x)) }")
    done = _shell("cat g.relay | gslc r.gsl -", folder)
    assert done.returncode == 0 and done.stdout.startswith("def @main") and done.stdout.count("nn.relu") == 1


@pytest.mark.parametrize(
    "words",
    [
        ["implied", "deep.gsl", "--by", "r.gsl"], ["implied", "r.gsl", "--by", "deep.gsl"],
        ["generalize", "deep.gsl"], ["verify", "deep.gsl"],
    ],
)  # fmt: skip
def test_targets_of_a_thousand_levels_are_no_error(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = "".join(f"  v{k} = tanh(v{k - 1});\n" for k in range(1, 1000))
    deep = f"rule r(a) {{\n  nn.relu(nn.relu(a))\n  =>\n  v0 = a;\n{steps}  v999\n}}\n"
    (tmp_path / "deep.gsl").write_text("dialect relay;\n" + deep)
    (tmp_path / "r.gsl").write_text("dialect relay;\nrule s(a): nn.relu(nn.relu(a)) => nn.relu(a);\n")
    monkeypatch.chdir(tmp_path)
    assert main(words) in (0, 1, 3)


@pytest.mark.parametrize(
    "words", [["r.gsl", "none", "-o", "out/"], ["convert", "none.json", "-o", "no/out.json"]]
)
def test_an_input_that_is_missing_is_named_before_the_output(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "r.gsl").write_text("dialect relay;\nrule s(a): nn.relu(nn.relu(a)) => nn.relu(a);\n")
    monkeypatch.chdir(tmp_path)
    assert main(words) == 3
    assert capsys.readouterr().err.startswith(f"gslc: {words[1]}: no such file")


@pytest.mark.parametrize(
    ("arrays", "said"),
    [({"x": (5, 7)}, "shape [2, 3] against [5, 7]"), ({"q": (2, 3)}, "the graph has no input `q`")],
)
def test_inputs_that_do_not_fit_are_refused_and_nothing_is_written(
    arrays: dict[str, tuple[int, ...]], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    (tmp_path / "r.gsl").write_text("dialect relay;\nrule s(a): nn.relu(nn.relu(a)) => nn.relu(a);\n")
    x = {"id": "x", "kind": "input", "shape": [2, 3], "dtype": "float32"}
    y = {"id": "y", "kind": "call", "op": "nn.relu", "inputs": ["x"]}
    whole = {"format": "gsl-graph", "version": 1, "dialect": "relay", "nodes": [x, y], "outputs": ["y"]}
    (tmp_path / "g.json").write_text(json.dumps(whole))
    np.savez(tmp_path / "in.npz", **{name: np.zeros(shape, np.float32) for name, shape in arrays.items()})
    monkeypatch.chdir(tmp_path)
    assert main(["r.gsl", "g.json", "-o", "o.json", "--check-numbers", "--inputs", "in.npz"]) == 3
    assert said in capsys.readouterr().err and not (tmp_path / "o.json").exists()


def test_a_file_without_rules_cannot_be_generalized(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty.gsl").write_text("dialect relay;\n")
    monkeypatch.chdir(tmp_path)
    assert main(["generalize", "empty.gsl", "-o", "o.gsl"]) == 3
    assert capsys.readouterr().err.startswith("gslc: empty.gsl: no rules found")


def test_an_input_too_large_for_a_test(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`test` has no option that gives values, and names none."""
    (folder / "large.gsl").write_text(
        "rule r(x): nn.relu(nn.relu(x)) => nn.relu(x);\n"
        'test "t" for r { x: input float32[99999999999]; nn.relu(nn.relu(x)) => nn.relu(x) }\n'
    )
    assert main(["test", str(folder / "large.gsl")]) == 1
    told = "".join(capsys.readouterr())
    assert "too large for a random value (the limit is 134,217,728 elements)" in told and "--" not in told
