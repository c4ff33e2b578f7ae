"""Output only when the run is good; nothing that was there is replaced by mistake; what numbers are compared
on.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gslang
from gslang.cli.main import main
from gslang.dialect.tensor_type import Symbol, TensorType
from gslang.graph.graph import Graph

RULES = """
@once rule wrong(x): exp(x) => exp(x * 1.5);
rule endless(x): nn.relu(x) => nn.relu(nn.relu(x));
rule right(x): negative(negative(x)) => x;
rule misfit(x): tanh(x) => reshape(tanh(x), newshape = (7,));
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rules.gsl").write_text(RULES, encoding="utf-8")
    graph = Graph("relay", "small")
    x = graph.add_input("x", TensorType((2, 3), "float32"))
    a = graph.add("nn.relu", [x], {}, None, "a")
    b = graph.add("exp", [a], {}, None, "b")
    c = graph.add("tanh", [b], {}, None, "c")
    w = graph.add_param("w", TensorType((3,), "float32"), np.ones(3, np.float32))
    graph.set_outputs([graph.add("add", [c, w], {}, None, "y")])
    gslang.write(graph, tmp_path / "g.json")
    gslang.write(graph, tmp_path / "g.relay")
    return tmp_path


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


FAILING = [
    ["--rule", "wrong", "--check-numbers"],
    ["--rule", "endless", "--limit", "5"],
    ["--rule", "misfit"],
]


@pytest.mark.parametrize("options", FAILING)
@pytest.mark.parametrize("output", ["g.json", "old.json", "new.json", "old.relay"])
def test_a_bad_run_writes_no_graph(
    folder: Path, options: list[str], output: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "old.json").write_text("old")
    (folder / "old.relay").write_text("old")
    before = {name: (folder / name).read_bytes() for name in names(folder)}
    assert main(["rules.gsl", "g.json", "-o", output, *options]) == 1
    assert {name: (folder / name).read_bytes() for name in names(folder)} == before
    assert "no graph is written" in capsys.readouterr().err
    assert main(["rules.gsl", "g.json", "-o", output, "--force", *options]) == 1
    assert (folder / output).read_bytes() != before.get(output)


def test_nothing_goes_to_stdout_either(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules.gsl", "g.json", *FAILING[0]]) == 1
    assert capsys.readouterr().out == ""


def test_the_report_of_a_bad_run_is_written(folder: Path) -> None:
    assert (
        main(["rules.gsl", "g.json", "-o", "o.json", "--report", "r.json", "--trace", "t.jsonl", *FAILING[0]])
        == 1
    )
    assert json.loads((folder / "r.json").read_text())["numbers"]["first_difference"] == "b"
    assert (folder / "t.jsonl").read_text() and not (folder / "o.json").exists()


def test_a_graph_may_take_its_own_place(folder: Path) -> None:
    assert main(["rules.gsl", "g.json", "-o", "g.json", "--rule", "right", "--check-numbers"]) == 0


def test_where_a_difference_begins_without_names(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = Graph("relay", "nameless")
    x = graph.add_input("x", TensorType((2,), "float32"))
    node = graph.add("tanh", [graph.add("exp", [graph.add("nn.relu", [x], {}, None)], {}, None)], {}, None)
    graph.set_outputs([graph.add("abs", [node], {}, None)])
    gslang.write(graph, folder / "n.relay")
    assert main(["rules.gsl", "n.relay", *FAILING[0]]) == 1
    assert "the first value of both graphs that differs is `%" in capsys.readouterr().err


PLACES = [
    ["-o", "x.relay", "--output-params", "g.json"],
    ["-o", "x.npz", "--output-format", "relay"],
    ["-o", "x.npz", "--output-format", "relay", "--output-params", "x.npz"],
    ["-o", "x.npz", "--output-format", "relay", "--output-params", "./sub/../x.npz"],
    ["-o", "x.npz", "--output-format", "relay", "--output-params", "link.npz"],
    ["-o", "x.npz", "--output-format", "relay", "--output-params", "there/x.npz"],
    ["-o", "hard.npz", "--output-format", "relay", "--output-params", "weights.npz"],
    ["-o", "x.json", "--output-params", "x.npz"],
    ["-o", "weights.npz", "--output-format", "json", "--params", "weights.npz"],
    ["-o", "weights.relay", "--params", "weights.npz"],
]


@pytest.mark.parametrize("options", PLACES)
@pytest.mark.parametrize("verb", ["apply", "convert"])
def test_two_contents_for_one_file_are_refused(
    folder: Path, verb: str, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "sub").mkdir()
    (folder / "there").symlink_to(folder)
    (folder / "link.npz").symlink_to("x.npz")
    np.savez(folder / "weights.npz", w=np.zeros(3, np.float32))
    os.link(folder / "weights.npz", folder / "hard.npz")
    before = {name: (folder / name).read_bytes() for name in names(folder) if (folder / name).is_file()}
    given = [verb, *(["rules.gsl"] if verb == "apply" else []), "g.json", *options]
    assert main([*given, *(["--rule", "right"] if verb == "apply" else [])]) in (2, 3)
    assert {
        name: (folder / name).read_bytes() for name in names(folder) if (folder / name).is_file()
    } == before
    assert "help: " in capsys.readouterr().err


def test_parameters_may_be_replaced_with_their_graph(folder: Path) -> None:
    assert main(["rules.gsl", "g.json", "-o", "m.relay", "--rule", "right"]) == 0
    first = (folder / "m.npz").read_bytes()
    assert main(["rules.gsl", "m.relay", "--params", "m.npz", "-o", "m.relay", "--rule", "right"]) == 0
    assert (folder / "m.npz").read_bytes() == first


def test_a_graph_appears_with_all_that_belongs_to_it_or_not_at_all(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report cannot be written after the graph has been: no file is replaced."""
    import gslang.cli.apply as apply

    (folder / "o.relay").write_text("old")
    (folder / "o.npz").write_text("old")

    def fail(text: str, path: str) -> None:
        raise gslang.InputError("cannot be written: no space left on device", path=path)

    monkeypatch.setattr(apply, "write_output", fail)
    assert main(["rules.gsl", "g.json", "-o", "o.relay", "--rule", "right", "--report", "r.json"]) == 3
    assert (folder / "o.relay").read_text() == (folder / "o.npz").read_text() == "old"
    assert not [name for name in names(folder) if name.endswith(".tmp")]


# ── what numbers are compared on ────────────────────────────────────────────────────────────────────────────


def write_graph(
    folder: Path, inputs: dict[str, TensorType], op: str, attrs: dict[str, Any], dialect: str = "relay"
) -> None:
    graph = Graph(dialect, "one")
    nodes = [graph.add_input(name, type_) for name, type_ in inputs.items()]
    graph.set_outputs([graph.add(op, nodes, attrs, None, "y")])
    gslang.write(graph, folder / "one.json")


def test_given_inputs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez(folder / "x.npz", x=np.full((2, 3), -1, np.float32))
    common = ["rules.gsl", "g.json", "--rule", "wrong", "--check-numbers"]
    assert main([*common, "--inputs", "x.npz"]) == 0  # exp(0) = exp(0 * 1.5)
    assert main(common) == 1
    np.savez(folder / "bad.npz", z=np.zeros(3, np.float32))
    assert main([*common, "--inputs", "bad.npz"]) == 3
    assert "no input `z`" in capsys.readouterr().err
    np.savez(folder / "bad.npz", x=np.zeros((2, 4), np.float32))
    assert main([*common, "--inputs", "bad.npz"]) == main(["run", "g.json", "--inputs", "bad.npz"]) == 3
    assert main([*common, "--inputs", "missing.npz"]) == 3


def test_sizes_follow_from_what_is_given(folder: Path) -> None:
    n = Symbol("n")
    write_graph(folder, {"x": TensorType((n, 3), "float32"), "y": TensorType((n, 3), "float32")}, "add", {})
    np.savez(folder / "x.npz", x=np.ones((5, 3), np.float32))
    assert main(["run", "one.json", "--inputs", "x.npz", "-o", "out.npz"]) == 0
    assert np.load(folder / "out.npz")["out0"].shape == (5, 3)
    assert main(["run", "one.json", "--inputs", "x.npz", "--dim", "n=4"]) == 3


def test_sizes_with_which_the_graph_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A convolution whose window is larger than the default size."""
    size = Symbol("size")
    write_graph(
        folder,
        {"x": TensorType((Symbol("n"), 3, size, size), "float32"), "w": TensorType((4, 3, 7, 7), "float32")},
        "nn.conv2d", {},
    )
    assert main(["run", "one.json", "-o", "out.npz"]) == 0
    assert np.load(folder / "out.npz")["out0"].shape == (2, 4, 2, 2)
    write_graph(
        folder, {"x": TensorType((2, Symbol("k")), "float32"), "w": TensorType((4, 7), "float32")},
        "nn.dense", {},
    )
    capsys.readouterr()
    assert main(["run", "one.json"]) == 3
    assert "--dim NAME=N" in capsys.readouterr().err
    assert main(["run", "one.json", "--dim", "k=7"]) == 0
