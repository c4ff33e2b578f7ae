"""Traces, replay, early stops, bisection, matches and reports see the bodies and local functions of a model
as well as its graph.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import helper

import gslang
from gslang.cli.main import main
from tests.onnx.models import model, value

node = helper.make_node
RULES = """dialect onnx;
rule neg(x): Neg(Neg(x)) => x;
rule two(x): x + x => x * 2.0;
rule wrong(x): Sinh(x) => Cosh(x);
pass all { neg; fold; two; wrong; cse; }
"""


def branch(name: str, nodes: list[Any]) -> Any:
    return helper.make_graph(nodes, name, [], [value(nodes[-1].output[0])])


def nested() -> Any:
    """A graph, an `If` in it, an `If` in one of its branches, and a local function; something for the rules
    in each of them.
    """
    inner = node(
        "If", ["cond"], ["th"], then_branch=branch("a", [node("Add", ["t1", "t1"], ["ia"])]),
        else_branch=branch("b", [node("Abs", ["c"], ["ib"])]),
    )
    then = branch("t", [node("Neg", ["c"], ["t0"]), node("Neg", ["t0"], ["t1"]), inner])
    other = branch(
        "e", [node("Sinh", ["c"], ["e0"]), node("Exp", ["w"], ["e1"]), node("Mul", ["e0", "e1"], ["el"])]
    )
    nodes = [
        node("Add", ["x", "x"], ["d"]), node("Sigmoid", ["d"], ["c"]),
        node("If", ["cond"], ["i"], then_branch=then, else_branch=other),
        node("F", ["i"], ["y"], domain="local"),
    ]
    import numpy as np

    found = model(nodes, [value("x"), value("cond", (), 9)], [value("y")], {"w": np.ones((2, 3), np.float32)})
    found.opset_import.append(helper.make_opsetid("local", 1))
    found.functions.append(helper.make_function(
        "local", "F", ["a"], ["b"], [node("Add", ["a", "a"], ["b"])], [helper.make_opsetid("", 17)]
    ))
    return found


@pytest.fixture()
def folder(tmp_path: Path) -> Path:
    onnx.save(nested(), tmp_path / "m.onnx")
    (tmp_path / "r.gsl").write_text(RULES)
    return tmp_path


def gslc(folder: Path, *arguments: str) -> int:
    return main([str(folder / "r.gsl"), str(folder / "m.onnx"), *arguments])


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_trace_names_bodies_and_counts_on(folder: Path) -> None:
    assert gslc(folder, "-o", str(folder / "o.onnx"), "--trace", str(folder / "t")) == 0
    found = [(line["application"], line.get("body"), line["rule"]) for line in lines(folder / "t")]
    assert found == [
        (1, None, "two"), (2, "i/else_branch", "wrong"), (3, "i/then_branch", "neg"),
        (4, "i/then_branch/th/then_branch", "two"), (5, "local.F()", "two"),
    ]
    onnx.checker.check_model(onnx.load(folder / "o.onnx"), full_check=True)


def test_written_ids_are_names_of_the_model(folder: Path) -> None:
    gslc(folder, "-o", str(folder / "o.onnx"), "--trace", str(folder / "t"), "--pass", "all")
    names: set[str] = set()

    def collect(nodes: Any) -> None:
        for n in nodes:
            names.update(n.output)
            for attribute in n.attribute:
                if attribute.HasField("g"):
                    collect(attribute.g.node)
                    names.update(t.name for t in attribute.g.initializer)

    after = onnx.load(folder / "o.onnx")
    names.update(t.name for t in after.graph.initializer)
    collect([*after.graph.node, *after.functions[0].node])
    written = [name for line in lines(folder / "t") for name in line.get("written", {}).values()]
    assert len(written) == 7 and set(written) <= names


@pytest.mark.parametrize(
    "chosen", [(), ("--pass", "all"), ("--fold", "--fold-limit", "none")], ids=["rules", "pass", "limit"]
)
def test_replaying_gives_the_same_bytes(folder: Path, chosen: tuple[str, ...]) -> None:
    outputs = [folder / f"{k}.onnx" for k in range(3)]
    assert gslc(folder, "-o", str(outputs[0]), *chosen) == 0
    assert gslc(folder, "-o", str(outputs[1]), *chosen, "--trace", str(folder / "t")) == 0
    assert (
        gslc(folder, "-o", str(outputs[2]), "--replay", str(folder / "t"), "--trace", str(folder / "u")) == 0
    )
    assert (
        outputs[0].read_bytes() == outputs[1].read_bytes() == outputs[2].read_bytes()
        != (folder / "m.onnx").read_bytes()
    )
    assert (folder / "t").read_bytes() == (folder / "u").read_bytes()


@pytest.mark.parametrize("count", range(6))
def test_the_first_applications_are_those_of_a_run_that_stops(folder: Path, count: int) -> None:
    gslc(folder, "-o", str(folder / "o.onnx"), "--trace", str(folder / "t"))
    kept = [{**line, "lines": count} for line in lines(folder / "t")[:count]]
    (folder / "t").write_text("".join(json.dumps(line) + "\n" for line in kept))
    assert gslc(folder, "-o", str(folder / "a.onnx"), "--stop-after", str(count)) == 0
    assert gslc(folder, "-o", str(folder / "b.onnx"), "--replay", str(folder / "t")) == 0
    assert (folder / "a.onnx").read_bytes() == (folder / "b.onnx").read_bytes()


def test_a_trace_of_other_bodies(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gslc(folder, "-o", str(folder / "o.onnx"), "--trace", str(folder / "t"))
    (folder / "t").write_text((folder / "t").read_text().replace("i/else_branch", "j/else_branch"))
    assert gslc(folder, "-o", str(folder / "p.onnx"), "--replay", str(folder / "t")) == 3
    assert "t:2:1: unknown body `j/else_branch`" in capsys.readouterr().err
    assert not (folder / "p.onnx").exists()


def test_a_limit_of_folding_is_part_of_a_trace(folder: Path) -> None:
    shape = helper.make_tensor("s", 7, (1,), (2_000_000,))
    onnx.save(
        model(
            [node("ConstantOfShape", ["s"], ["z"]), node("Add", ["x", "z"], ["y"])],
            [value("x", (2_000_000,))], [value("y", (2_000_000,))],
        ),
        folder / "m.onnx",
    )
    found = onnx.load(folder / "m.onnx")
    found.graph.initializer.append(shape)
    onnx.save(found, folder / "m.onnx")
    calls = {}
    for limit in ("1M", "8000k", "none"):
        assert (
            gslc(
                folder, "-o", str(folder / f"{limit}.onnx"), "--fold", "--fold-limit", limit, "--trace",
                str(folder / "t"),
            )
            == 0
        )
        assert gslc(folder, "-o", str(folder / "again.onnx"), "--replay", str(folder / "t")) == 0
        assert (folder / f"{limit}.onnx").read_bytes() == (folder / "again.onnx").read_bytes()
        calls[limit] = len(onnx.load(folder / "again.onnx").graph.node)
    assert calls == {"1M": 2, "8000k": 1, "none": 1}


def test_bisect_finds_a_body(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "r.gsl").write_text(
        RULES.replace("Cosh(x)", "Sinh(x * 3.0)").replace("rule wrong", "@once rule wrong")
    )
    assert (
        main(["bisect", str(folder / "r.gsl"), str(folder / "m.onnx"), "--check", "numbers", "--seed", "1"])
        == 1
    )
    said = capsys.readouterr().out
    assert (
        "application 2 is the first after which the check fails: rule `wrong`" in said
        and "at       e0 in `i/else_branch`" in said
    )


def test_matches_in_bodies(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", str(folder / "r.gsl"), str(folder / "m.onnx")]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "neg at t1 in i/then_branch: x = c", "two at d: x = x",
        "two at ia in i/then_branch/th/then_branch: x = t1", "two at b in local.F(): x = a",
        "wrong at e0 in i/else_branch: x = c",
    ]
    assert (
        main(["match", str(folder / "r.gsl"), str(folder / "m.onnx"), "--rule", "neg", "--format", "json"])
        == 0
    )
    (match,) = json.loads(capsys.readouterr().out)["matches"]
    assert match["body"] == "i/then_branch" and match["outputs"] == ["t1"]


def test_misses_in_bodies(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["match", str(folder / "r.gsl"), str(folder / "m.onnx"), "--rule", "neg", "--why-not"]
    assert main([*arguments, "t0", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["misses"]
    assert found and all(miss["body"] == "i/then_branch" for miss in found) and found[0]["start"] == "t0"
    assert main([*arguments]) == 0
    said = capsys.readouterr().out
    assert (
        said.startswith("neg matches at t1 in i/then_branch\nneg at t0 in i/then_branch: 1 of 5")
        and "no-candidate" not in said
    )
    assert main([*arguments, "t9"]) == 2


def test_the_report_counts_each_body(folder: Path) -> None:
    assert gslc(folder, "-o", str(folder / "o.onnx"), "--report", str(folder / "report")) == 0
    report = json.loads((folder / "report").read_text())
    assert report["applications"] == 5 and list(report["bodies"]) == [
        "i/else_branch", "i/then_branch/th/else_branch", "i/then_branch/th/then_branch", "i/then_branch",
        "local.F()",
    ]
    assert report["bodies"]["i/then_branch"] == {
        "applications": 1,
        "calls": {"before": {"If": 1, "Neg": 2}, "after": {"If": 1}},
    }
    assert report["bodies"]["i/then_branch/th/then_branch"]["calls"] == {
        "before": {"Add": 1},
        "after": {"Mul": 1},
    }
    assert (
        gslang.load(folder / "r.gsl")
        .apply(gslang.read(folder / "m.onnx"), subgraphs=False)
        .report()["bodies"] == {}
    )


def test_origins_are_numbered_over_the_model(folder: Path) -> None:
    assert gslc(folder, "-o", str(folder / "o.onnx"), "--provenance", "--trace", str(folder / "t")) == 0
    assert gslc(folder, "-o", str(folder / "p.onnx"), "--provenance", "--replay", str(folder / "t")) == 0
    assert (folder / "o.onnx").read_bytes() == (folder / "p.onnx").read_bytes()
    (call,) = onnx.load(folder / "o.onnx").functions[0].node[-1:]
    assert {p.key: p.value for p in call.metadata_props}["gslang.application"] == "5"
