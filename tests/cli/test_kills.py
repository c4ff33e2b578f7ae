"""A process that is killed leaves the old files or the new ones; only SIGKILL leaves anything else."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gslang
from gslang.cli.main import main
from gslang.dialect.tensor_type import TensorType
from gslang.graph.graph import Graph
from tests.cli.kill_points import content, lay_down, run

ROOT = Path(__file__).parents[2]
SIGNALS = ("SIGINT", "SIGTERM", "SIGKILL")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """`work.start` holds rules, graphs and old outputs."""
    start = tmp_path / "work.start"
    start.mkdir()
    (start / "rules.gsl").write_text("rule right(x): negative(negative(x)) => x;\n", encoding="utf-8")
    graph = Graph("relay", "small")
    x = graph.add_input("x", TensorType((2, 3), "float32"))
    node = graph.add("negative", [graph.add("negative", [x], {}, None)], {}, None)
    w = graph.add_param("w", TensorType((3,), "float32"), np.ones(3, np.float32))
    graph.set_outputs([graph.add("add", [node, w], {}, None, "y")])
    gslang.write(graph, start / "g.json")
    for name in ("out.json", "out.relay", "out.npz", "report.json", "trace.jsonl"):
        (start / name).write_text("old")
    (start / "ugly.gsl").write_text("rule   ugly( x ):negative( negative(x) )=>x;\n")
    return tmp_path / "work"


def check(found: dict[str, Any], old: dict[str, str], new: dict[str, str]) -> None:
    """Each file is the old or the new one; after SIGINT and SIGTERM all are old or all are new, and there is
    nothing else.
    """
    files = found["files"]
    what = f"{signal.Signals(found['signal']).name} at step {found['step']}"
    assert {name for name in files if not name.endswith(".tmp")} >= old.keys(), what
    for name in old:
        assert files[name] in (old[name], new[name]), f"{what}: {name}"
    if found["signal"] != signal.SIGKILL:
        assert files in (old, new), what
        assert found["ended"] in ("whole", 128 + found["signal"]), what


@pytest.mark.parametrize(
    "command",
    [
        "rules.gsl g.json -o out.json", "rules.gsl g.json -o g.json --check-numbers", "fmt ugly.gsl",
        "convert g.json -o out.relay",
        "rules.gsl g.json -o out.relay --report report.json --trace trace.jsonl", "run g.json -o out.npz",
    ],
)
def test_killed_at_each_step(folder: Path, command: str) -> None:
    environment = {
        **os.environ,
        "GSLANG_CACHE": "off",
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    script = [
        sys.executable, str(Path(__file__).with_name("kill_points.py")), str(folder), *SIGNALS, "--",
        *command.split(),
    ]
    done = subprocess.run(script, env=environment, capture_output=True, text=True, check=True, cwd=ROOT)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    old = content(Path(f"{folder}.start"))
    wholes = [item["files"] for item in found if item["ended"] == "whole"]
    new = wholes[-1]
    assert new.keys() == old.keys() and new != old
    for item in found:
        if "--report" in command:  # the report holds times
            item["files"]["report.json"] = (
                new["report.json"] if item["files"]["report.json"] != old["report.json"]
                else old["report.json"]
            )
        check(item, old, new)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        assert sum(item["signal"] == number for item in found) >= 3, done.stdout


def test_a_model_and_its_data_fit_each_other_at_each_step(tmp_path: Path) -> None:
    """Whenever the process is killed, the model that is there finds its own data."""
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto, helper, numpy_helper

    start, folder = tmp_path / "work.start", tmp_path / "work"
    start.mkdir()

    def save(path: Path, values: list[Any]) -> None:
        weights = [numpy_helper.from_array(value, f"w{k}") for k, value in enumerate(values)]
        nodes = [
            helper.make_node("Add", ["x" if k == 0 else f"y{k - 1}", f"w{k}"], [f"y{k}"])
            for k in range(len(values))
        ]
        x, y = (
            helper.make_tensor_value_info(name, TensorProto.FLOAT, values[0].shape)
            for name in ("x", f"y{len(values) - 1}")
        )
        onnx.save(
            helper.make_model(
                helper.make_graph(nodes, "g", [x], [y], weights), opset_imports=[helper.make_opsetid("", 17)],
                ir_version=8,
            ),
            path,
        )

    old, new = [np.full(700, 1, np.float32)], [np.full(700, 2, np.float32), np.full(700, 3, np.float32)]
    save(start / "new.onnx", new)
    save(start / "old.onnx", old)
    assert (
        main(["convert", str(start / "old.onnx"), "-o", str(start / "out.onnx"), "--external", "copy"]) == 0
    )
    arguments = ["convert", "new.onnx", "-o", "out.onnx", "--external", "copy"]
    lay_down(folder)
    assert (
        main([*arguments[:1], str(folder / "new.onnx"), "-o", str(folder / "out.onnx"), *arguments[4:]]) == 0
    )
    first, ended, step, seen = content(folder), -1, 0, set()
    while ended:
        step += 1
        lay_down(folder)
        ended = run(folder, signal.SIGKILL, step, arguments)
        found = [
            numpy_helper.to_array(tensor).tolist()
            for tensor in onnx.load(folder / "out.onnx").graph.initializer
        ]
        assert found in ([value.tolist() for value in old], [value.tolist() for value in new]), step
        seen.add(len(found))
    assert seen == {1, 2} and step > 8 and content(folder) == first and set(first) == {*content(start)}


@pytest.mark.long
def test_two_hundred_kills_at_random_times(folder: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [
        sys.executable, "-m", "gslang", "rules.gsl", "g.json", "-o", "out.relay", "--trace", "trace.jsonl",
    ]
    lay_down(folder)
    subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True)
    old, new = content(Path(f"{folder}.start")), content(folder)
    draw = random.Random(12)
    endings = {"whole": 0, "killed": 0}
    for k in range(200):
        number = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)[k % 3]
        lay_down(folder)
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            process.wait(draw.uniform(0, 1.2))
        except subprocess.TimeoutExpired:
            process.send_signal(number)
        code = process.wait()
        endings["whole" if code == 0 else "killed"] += 1
        files = content(folder)
        for name in old:
            assert files[name] in (old[name], new[name]), (k, number, name)
        if number != signal.SIGKILL:
            assert files in (old, new), (k, number, sorted(files))
    assert endings["killed"] > 50, endings


def test_two_processes_with_one_output(folder: Path) -> None:
    """The files are those of one of them."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    shutil.copytree(f"{folder}.start", folder)
    (folder / "other.gsl").write_text("rule other(x): negative(x) => 0.0 - x;\n", encoding="utf-8")
    results = []
    for rules in ("rules.gsl", "other.gsl"):
        subprocess.run(
            [sys.executable, "-m", "gslang", rules, "g.json", "-o", "out.relay"], cwd=folder, env=environment,
            check=True, capture_output=True,
        )
        results.append(content(folder))
    both = [
        subprocess.Popen(
            [sys.executable, "-m", "gslang", rules, "g.json", "-o", "out.relay"], cwd=folder, env=environment,
            stderr=subprocess.DEVNULL,
        )
        for rules in ("rules.gsl", "other.gsl")
    ]
    assert [process.wait() for process in both] == [0, 0]
    assert content(folder) in results


LIMITED = """
import resource, sys
from gslang.cli.main import main
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)),) * 2)
sys.exit(main())
"""


@pytest.mark.parametrize(
    "command",
    [
        "rules.gsl g.json -o out.json", "rules.gsl g.json -o g.json", "convert g.json -o out.relay",
        "run g.json -o out.npz", "fmt ugly.gsl",
    ],
)
def test_a_disk_without_room_keeps_the_old_files(folder: Path, command: str) -> None:
    """No file may grow beyond the limit; what the system says then is told like a full disk."""
    shutil.copytree(f"{folder}.start", folder)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "GSLANG_CACHE": "off"}
    limit = 0 if command.startswith("fmt") else 100
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(limit), *command.split()], cwd=folder, env=environment,
        capture_output=True, text=True, check=False,
    )
    assert done.returncode == 3 and "file too large" in done.stderr.lower(), done.stderr
    assert content(folder) == content(Path(f"{folder}.start"))
