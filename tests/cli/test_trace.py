"""Traces: what they say, that they can be applied again, where they part from another graph; provenance; the report."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import gslang
from examples.models import inception_v3, nasnet_cell
from gslang.cli.main import main
from gslang.dialect.load import load_dialect
from gslang.graph.builder import Builder

RULES = """
rule twice(x): nn.relu(nn.relu(x)) => nn.relu(x);
rule odd(x): tanh(-x) => -tanh(x);
rule never(x): sqrt(exp(x)) => exp(x * 0.5);
pass both { twice; fold; odd; cse; }
"""


@pytest.fixture()
def files(tmp_path: Path) -> Path:
    build = Builder(load_dialect("relay"))
    x = build.input("x", (2, 3))
    for _ in range(6):
        x = build.call("tanh", build.call("negative", build.call("nn.relu", build.call("nn.relu", x))))
    gslang.write(build.finish(x), tmp_path / "graph.json")
    (tmp_path / "rules.gsl").write_text(RULES, encoding="utf-8")
    return tmp_path


def gslc(folder: Path, *arguments: str) -> int:
    return main([str(folder / "rules.gsl"), str(folder / "graph.json"), *arguments])


def test_a_line_is_an_application(files: Path) -> None:
    assert gslc(files, "-o", str(files / "a.json"), "--trace", str(files / "t.jsonl")) == 0
    first = json.loads((files / "t.jsonl").read_text().splitlines()[0])
    assert first == {
        "application": 1, "rule": "twice", "outputs": ["n1"], "removed": ["n1", "n0"], "added": [{"id": "%25", "op": "nn.relu"}],
        "replaced": {"n1": "%25"}, "bindings": {"x": "x"},
    }  # fmt: skip


@pytest.mark.parametrize("chosen", [(), ("--pass", "both")], ids=["rules", "pass"])
def test_tracing_and_replaying_give_the_same_bytes(files: Path, chosen: tuple[str, ...]) -> None:
    outputs = [files / f"{k}.json" for k in range(3)]
    assert gslc(files, "-o", str(outputs[0]), *chosen) == 0
    assert gslc(files, "-o", str(outputs[1]), "--trace", str(files / "t.jsonl"), *chosen) == 0
    assert gslc(files, "-o", str(outputs[2]), "--replay", str(files / "t.jsonl"), "--trace", str(files / "u.jsonl")) == 0
    assert len({path.read_bytes() for path in outputs}) == 1
    assert (files / "t.jsonl").read_bytes() == (files / "u.jsonl").read_bytes()
    assert ('"step": "cse"' in (files / "t.jsonl").read_text()) == bool(chosen)


def test_a_real_network_is_replayed(tmp_path: Path) -> None:
    """Several outputs, templates, and constants in targets."""
    gslang.write(inception_v3.build(75, width=0.1, values=False), tmp_path / "net.json")
    run = ["std.relay", str(tmp_path / "net.json"), "-o"]
    assert main([*run, str(tmp_path / "a.json"), "--pass", "inference", "--trace", str(tmp_path / "t.jsonl")]) == 0
    assert main([*run, str(tmp_path / "b.json"), "--replay", str(tmp_path / "t.jsonl")]) == 0
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (lambda lines: [*lines[:2], lines[2][:40]], "t.jsonl:3:1: not a line of a trace: no JSON\n  help: is the file cut off?"),
        (lambda lines: [lines[0], "[1]"], "t.jsonl:2:1: not a line of a trace: an object is expected"),
        (lambda lines: [lines[0], '{"rule": "twice"}'], "t.jsonl:2:1: not a line of a trace: `rule`, `outputs`"),
        (lambda lines: [line.replace('"twice"', '"thrice"') for line in lines], "t.jsonl:1:1: there is no rule `thrice`"),
        (lambda lines: lines[1:], "t.jsonl:1:1: `odd` does not match at `n3`|t.jsonl:1:1: `odd` has other added nodes here"),
        (lambda lines: [lines[0], lines[0]], "t.jsonl:2:1: the node `n1` is gone already"),
        (lambda lines: [lines[0].replace('"n1"', '"n99"')], "t.jsonl:1:1: there is no node `n99`"),
        (lambda lines: [lines[0].replace('"%25"', '"%26"')], "t.jsonl:1:1: `twice` has other added nodes here: %25 (the trace says %26)"),
    ],
)
def test_a_trace_that_does_not_fit(files: Path, capsys: pytest.CaptureFixture[str], damage, expected: str) -> None:  # type: ignore[no-untyped-def]
    gslc(files, "-o", str(files / "a.json"), "--trace", str(files / "t.jsonl"))
    lines = (files / "t.jsonl").read_text().splitlines()
    (files / "t.jsonl").write_text("\n".join(damage(lines)))
    capsys.readouterr()
    assert gslc(files, "-o", str(files / "b.json"), "--replay", str(files / "t.jsonl")) == 3
    told = capsys.readouterr().err
    assert any(text in told for text in expected.split("|")), told
    assert not (files / "b.json").exists()


def test_stopping_after_some_applications(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    traces = []
    for count in (0, 1, 5):
        assert gslc(files, "-o", str(files / "a.json"), "--trace", str(files / "t.jsonl"), "--stop-after", str(count)) == 0
        assert f"{count} application" in (told := capsys.readouterr().err) and "(stopped)" in told
        traces.append((files / "t.jsonl").read_text())
    assert [text.count("\n") for text in traces] == [0, 1, 5]
    assert traces[2].startswith(traces[1])


def test_new_nodes_tell_where_they_come_from(files: Path) -> None:
    assert gslc(files, "-o", str(files / "a.json"), "--provenance") == 0
    nodes = json.loads((files / "a.json").read_text())["nodes"]
    origins = [node["x-origin"] for node in nodes if "x-origin" in node]
    assert origins[0] == {"rule": "twice", "application": 1, "from": ["n1", "n0"]}
    assert len(origins) == len(nodes) - 1  # all but the input are new
    again = gslang.read(files / "a.json")
    gslang.write(again, files / "b.json")
    assert (files / "a.json").read_bytes() == (files / "b.json").read_bytes()  # it is kept
    assert gslc(files, "-o", str(files / "c.json")) == 0
    assert "x-origin" not in (files / "c.json").read_text()


def test_the_report_counts(files: Path) -> None:
    assert gslc(files, "-o", str(files / "a.json"), "--report", str(files / "r.json")) == 0
    report = json.loads((files / "r.json").read_text())
    assert report["rules"]["twice"] | {"seconds": 0} == {"applications": 6, "matches": 6, "candidates": 18, "seconds": 0}
    assert report["never_fired"] == ["never"]


def run_with_hash_seed(folder: Path, seed: int) -> tuple[bytes, bytes]:
    out, trace = folder / f"out{seed}.json", folder / f"trace{seed}.jsonl"
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    command = [sys.executable, "-m", "gslang", "std.relay", str(folder / "net.json"), "--pass", "inference", "-o", str(out), "--trace", str(trace)]
    subprocess.run(command, env=environment, check=True, capture_output=True, cwd=Path(__file__).parents[2])
    return out.read_bytes(), trace.read_bytes()


@pytest.mark.parametrize("runs", [pytest.param(3), pytest.param(20, marks=pytest.mark.long)])
def test_the_same_bytes_whatever_the_hash_seed(tmp_path: Path, runs: int) -> None:
    gslang.write(nasnet_cell.build(values=False), tmp_path / "net.json")
    assert len({run_with_hash_seed(tmp_path, seed) for seed in range(runs)}) == 1
