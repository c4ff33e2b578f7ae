"""`gslc match --why-not` as text (golden) and as JSON."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import gslang
from gslang.cli.main import main
from gslang.dialect.load import load_dialect
from gslang.graph.builder import Builder
from tests.engine.test_why_not import REASONS

GOLDEN = Path(__file__).parent / "golden" / "why_not"
# no operator of this dialect may be given fewer tensors
IN_FILES = [k for k, case in enumerate(REASONS) if case[2] != "operand-missing"]

RULES = """rule conv_scale(x, w: param, g: const) {
    c = nn.conv2d(x, w, groups = 1);
    c * g where c.shape[1] == g.shape[0]
  =>
    nn.conv2d(x, w * g, c.*)
}
rule twice(x): nn.relu(nn.relu(x)) => nn.relu(x);
rule absent(x): erf(x) => x;
"""
TOLD = """\
twice matches at again
twice at act: 1 of 5 [operator]
   --> rules.gsl:7:24
    |
  7 | rule twice(x): nn.relu(nn.relu(x)) => nn.relu(x);
    |                        ^^^^^^^^^^
    = expected `nn.relu`
    = found    `multiply` scaled
    = help: `(nn.relu(…) | multiply(…))` accepts both

conv_scale at scaled: 7 of 8 [used-outside]
   --> rules.gsl:2:9
    |
  2 |     c = nn.conv2d(x, w, groups = 1);
    |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^
    = expected a node that only the pattern uses
    = found    `nn.conv2d` conv is also used by `add` sum
    = help: mark it `keep` in the source if it may stay in the graph
conv_scale at sum: 3 of 8 [operator]
   --> rules.gsl:3:5
    |
  3 |     c * g where c.shape[1] == g.shape[0]
    |     ^^^^^
    = expected `multiply`
    = found    `add` sum
    = help: `(multiply(…) | add(…))` accepts both

no node in the graph can be the first output of: absent
"""


@pytest.fixture()
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    b = Builder(load_dialect("relay"))
    x, w = b.input("x", (1, 4, 8, 8)), b.param("w", (4, 4, 3, 3))
    conv = b.call("nn.conv2d", x, w, padding=[1, 1, 1, 1])
    scaled = b.call("multiply", conv, b.const([[[2.0]], [[3.0]], [[4.0]], [[5.0]]]))
    act = b.call("nn.relu", scaled)
    again = b.call("nn.relu", act)
    total = b.call("add", again, conv)
    graph = b.finish(total)
    for node, name in ((conv, "conv"), (scaled, "scaled"), (act, "act"), (again, "again"), (total, "sum")):
        graph.names[node] = name
    gslang.write(graph, tmp_path / "graph.json")
    (tmp_path / "rules.gsl").write_text(RULES, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_text(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", "rules.gsl", "graph.json", "--why-not"]) == 0
    assert capsys.readouterr().out == TOLD


def test_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["match", "rules.gsl", "graph.json", "--why-not", "--format", "json", "--rule", "conv_scale"])
        == 0
    )
    miss = json.loads(capsys.readouterr().out)["misses"][0]
    assert miss == {
        "rule": "conv_scale",
        "start": "scaled",
        "node": "conv",
        "matched": 7,
        "of": 8,
        "reason": "used-outside",
        "file": "rules.gsl",
        "line": 2,
        "column": 9,
        "expected": "a node that only the pattern uses",
        "found": "`nn.conv2d` conv is also used by `add` sum",
        "others": [],
        "help": "mark it `keep` in the source if it may stay in the graph",
    }


def test_about_a_node(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", "rules.gsl", "graph.json", "--why-not", "sum"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("conv_scale at sum: 3 of 8 [operator]")
    assert told.endswith("no node around `sum` can be the first output of: twice, absent\n")
    assert main(["match", "rules.gsl", "graph.json", "--why-not", "conv"]) == 0
    assert capsys.readouterr().out.startswith("conv_scale at scaled: 7 of 8 [used-outside]")


def test_a_node_that_is_not_there(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", "rules.gsl", "graph.json", "--why-not", "covn"]) == 2
    assert capsys.readouterr().err == "gslc: unknown node `covn`\n  help: did you mean `conv`?\n"


@pytest.mark.parametrize("number", IN_FILES, ids=lambda k: f"{k:02}-{REASONS[k][2]}")
def test_each_reason_as_text(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whole texts, as they are printed for a rule and a graph from files.

    `GOLDEN=write` in the environment writes them anew.
    """
    text, make, reason = REASONS[number][:3]
    build = Builder(load_dialect("relay"))
    graph = build.finish(*make(build))
    for node in graph.nodes():
        if graph.names[node] is None:
            graph.names[node] = f"n{node}"
    monkeypatch.chdir(tmp_path)
    gslang.write(graph, "graph.json")
    Path("rules.gsl").write_text(text + "\n", encoding="utf-8")
    assert main(["match", "rules.gsl", "graph.json", "--why-not", "--limit", "1", "--rule", "r"]) == 0
    told = capsys.readouterr().out
    golden = GOLDEN / f"{number:02}-{reason}.txt"
    if os.environ.get("GOLDEN") == "write":
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(told, encoding="utf-8")
    assert f"[{reason}]" in told and told == golden.read_text(encoding="utf-8")


def test_the_golden_files_are_those_of_the_reasons() -> None:
    assert sorted(path.name for path in GOLDEN.iterdir()) == [f"{k:02}-{REASONS[k][2]}.txt" for k in IN_FILES]


def test_a_graph_in_the_place_of_the_node(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", "rules.gsl", "--why-not", "graph.json"]) == 0
    assert capsys.readouterr().out == TOLD
    assert main(["match", "rules.gsl", "--why-not", "sum"]) == 2
    assert (
        capsys.readouterr().err
        == "gslc match: the graph is missing\n  help: gslc match RULES GRAPH --why-not [NODE]\n"
    )
    assert main(["match", "rules.gsl", "graph.json", "--why-not", "--limit", "0"]) == 2


def test_where_the_option_is(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules.gsl", "graph.json", "--why-not"]) == 2
    assert capsys.readouterr().err.endswith(
        "gslc apply: unrecognized arguments: --why-not\n  help: `gslc match` has `--why-not`\n"
    )
    # as argparse has it: a beginning will do
    assert main(["match", "rules.gsl", "graph.json", "--why-no"]) == 0
    capsys.readouterr()
    assert main(["rules.gsl", "graph.json", "--stop-afte2"]) == 2
    assert "did you mean `--stop-after`?" in capsys.readouterr().err


def test_a_run_that_does_nothing_says_where_to_look(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for rule, told in (("absent", True), ("twice", False)):
        assert main(["rules.gsl", "graph.json", "--rule", rule, "-o", "out.json"]) == 0
        assert ("--why-not` shows what did not match" in capsys.readouterr().err) == told
    assert main(["rules.gsl", "graph.json", "-o", "out.json", "--stop-after", "0"]) == 0
    assert "--why-not" not in capsys.readouterr().err
    (folder / "fold.gsl").write_text("dialect relay;\npass p { fold; }\n")
    assert main(["fold.gsl", "graph.json", "-o", "out.json", "--pass", "p"]) == 0
    assert "--why-not" not in capsys.readouterr().err, "no rule was to match"
