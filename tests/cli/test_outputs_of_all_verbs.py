"""No verb replaces what it reads, writes two results to one file, or begins work that it could not write."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest

import gslang
from gslang.cli.main import VERBS, main, verb_parser
from gslang.dialect.tensor_type import TensorType
from gslang.graph.graph import Graph

RULES = "rule right(x): negative(negative(x)) => x;\n"
ONNX_RULES = "dialect onnx;\nrule right(x): Neg(Neg(x)) => x;\n"

# For each verb with outputs a command line that works without them, and the options that name a file.
LINES = {
    "apply": (
        "r.gsl g.json", {"--output": ".json", "--report": ".json", "--trace": ".json", "--html": ".json"}
    ),
    "generalize": ("r.gsl", {"--output": ".gsl"}),
    "from-example": ("g.json h.json", {"--output": ".gsl"}),
    "run": ("g.json", {"--output": ".npz"}),
    "convert": ("g.json", {"--output": ".json"}),
    "discover": ("r.gsl --ops negative --size 1", {"--output": ".gsl", "--state": ".gsl"}),
    "search": (
        "r.gsl g.json",
        {
            "--output": ".json", "--report": ".json", "--trace": ".json", "--html": ".json",
            "--save-egraph": ".json",
        },
    ),
    "bench": ("g.json", {"--report": ".json"}),
    "import": ("tensat t.txt", {"--output": ".gsl"}),
    "export": ("onnxscript o.gsl", {"--output": ".py"}),
    "view": ("g.json r.gsl", {"--output": ".html"}),
    "diff": ("g.json h.json", {"--output": ".json"}),
}
NO_FILE = {("lint", "--graphs"), ("verify", "--certificate"), ("convert", "--output-params")}
OUTPUTS = ("--output", "--report", "--trace", "--html", "--save-egraph", "--state", "--output-params")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.gsl").write_text(RULES)
    (tmp_path / "o.gsl").write_text(ONNX_RULES)
    (tmp_path / "t.txt").write_text("(relu ?x)=>(relu (relu ?x))\n")
    for name in ("g.json", "h.json"):
        graph = Graph("relay", "small")
        x = graph.add_input("x", TensorType((2, 3), "float32"))
        graph.set_outputs([graph.add("negative" if name == "g.json" else "exp", [x], {}, None, "y")])
        gslang.write(graph, tmp_path / name)
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def wrong_lines() -> Iterator[list[str]]:
    for verb, (line, outputs) in LINES.items():
        words = [verb, *line.split()]
        files = [word for word in words if "." in word and not word.startswith("-")]
        first = {name: f"new{suffix}" for name, suffix in outputs.items()}

        def whole(changed: dict[str, str]) -> list[str]:
            """`convert` has to have an output."""
            needed = {"--output": "new.json"} if verb == "convert" else {}
            return [*words, *(w for pair in {**needed, **changed}.items() for w in pair)]

        for name, suffix in outputs.items():
            for file in files:
                if (name, file) != ("--output", "g.json") or verb not in ("apply", "search", "convert"):
                    yield whole({name: file})
                    yield whole({name: f"sub/../{file}"})
            if (verb, name) != ("search", "--output"):  # it is where the results of several graphs go
                yield whole({name: "sub"})
            yield whole({name: f"missing/x{suffix}"})
            yield whole({name: f"g.json/x{suffix}"})
            yield whole({name: f"locked/x{suffix}"})
            yield whole({name: ""})
        for one, other in combinations(first, 2):
            yield whole({one: first[one], other: first[one]})
            yield whole({one: first[one], other: f"./{first[one]}"})


def test_every_output_is_known() -> None:
    for verb in VERBS:
        options = verb_parser(verb)[1]._option_string_actions
        has = {name for name in OUTPUTS if name in options and (verb, name) not in NO_FILE}
        known = set(LINES[verb][1]) if verb in LINES else set()
        assert has - {"--output-params"} == known, verb


def test_an_output_that_cannot_be_is_an_error_before_work(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "sub").mkdir()
    (folder / "locked").mkdir()
    may = os.access
    monkeypatch.setattr(  # whoever runs the tests, root too
        os, "access", lambda path, mode, **more: "locked" not in str(path) and may(path, mode, **more)
    )
    monkeypatch.setattr("gslang.formats.registry.read_graph", _no_work)
    for work in ("generalize.refine.generalize", "discover.discover.discover", "hosts.sayable.plain"):
        monkeypatch.setattr(f"gslang.{work}", _no_work)
    before, count = contents(folder), 0
    for words in wrong_lines():
        assert main(words) in (2, 3), words
        said = capsys.readouterr().err
        assert "internal error" not in said and "work began" not in said, (words, said)
        assert said.startswith("gslc"), (words, said)
        assert contents(folder) == before and not list((folder / "locked").iterdir()), words
        count += 1
    assert count > 150


def _no_work(*_: object, **__: object) -> None:
    raise RuntimeError("work began")


@pytest.mark.parametrize(
    "line", ["generalize wrong.gsl", "import tensat wrong.txt", "discover --ops exp --size 1"]
)
def test_where_no_rule_was_found_the_old_file_stays(
    line: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "wrong.gsl").write_text("dialect relay;\nrule wrong(x): nn.relu(x) => exp(sin(x));\n")
    (folder / "wrong.txt").write_text("(relu ?x)=>(sigmoid ?x)\n")
    (folder / "old.gsl").write_text("the old one")
    assert main([*line.split(), "-o", "old.gsl"]) == 1
    assert "old.gsl is not written" in capsys.readouterr().err
    assert (folder / "old.gsl").read_text() == "the old one"
