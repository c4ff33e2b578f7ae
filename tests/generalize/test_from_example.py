"""Rules from two graphs: the difference, cut out and made general."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gslang.cli.main import main
from gslang.generalize import regions

HEAD = '#[version = "0.0.5"]\ndef @main(%x: Tensor[(2, 3), float32], %y: Tensor[(2, 3), float32]) {\n  '


def graph(folder: Path, name: str, body: str) -> str:
    path = folder / f"{name}.relay"
    path.write_text(f"{HEAD}{body}\n}}\n")
    return str(path)


def example(folder: Path, before: str, after: str, *more: str) -> int:
    return main(["from-example", graph(folder, "before", before), graph(folder, "after", after), *more])


def test_a_difference_inside(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "rule.gsl"
    assert (
        example(
            tmp_path, "tanh(add(%x, nn.relu(nn.relu(%y))))", "tanh(add(%x, nn.relu(%y)))", "-o", str(out),
            "--name", "twice",
        )
        == 0
    )
    assert main(["verify", str(out), "--require", "proved"]) == 0
    assert "twice" in capsys.readouterr().out
    assert "tanh" not in out.read_text()


def test_the_rule_applies_to_its_example(tmp_path: Path) -> None:
    out, after = tmp_path / "rule.gsl", tmp_path / "again.relay"
    before, wanted = "exp(subtract(%x, subtract(%x, %y)))", "exp(%y)"
    assert example(tmp_path, before, wanted, "-o", str(out), "--seconds", "600") == 0
    assert main([str(out), str(tmp_path / "before.relay"), "-o", str(after)]) == 0
    assert main(["diff", str(after), str(tmp_path / "after.relay")]) == 0


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert example(tmp_path, "nn.relu(nn.relu(%x))", "nn.relu(%x)", "--format", "json") == 0
    (entry,) = json.loads(capsys.readouterr().out)["rules"]
    assert entry["verdict"] == "proved" and entry["rule"] == "example"


def test_no_rule(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert example(tmp_path, "tanh(%x)", "nn.relu(%x)") == 1
    assert example(tmp_path, "tanh(%x)", "tanh(%x)") == 3
    assert "equal" in capsys.readouterr().err
    assert main(["from-example", graph(tmp_path, "a", "tanh(%x)")]) == 2
    assert example(tmp_path, "tanh(%x)", "tanh(%x)", "--name", "1x") == 2
    assert main(["from-example", str(tmp_path / "none.relay"), str(tmp_path / "a.relay")]) == 3


def test_equal_graphs_are_not_evaluated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(regions, "evaluate", lambda *args: asked.append(args))
    assert example(tmp_path, "tanh(%x)", "tanh(%x)") == 3
    assert not asked


def test_evaluation_has_a_limit_of_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def endless(*args: object) -> None:
        while True:
            pass

    monkeypatch.setattr(regions, "evaluate", endless)
    assert example(tmp_path, "nn.relu(nn.relu(%x))", "nn.relu(%x)", "--seconds", "0.1") in (0, 1)
    assert "not compared" in (said := capsys.readouterr().err) and "`--seconds 1` gives" in said


def test_graphs_of_too_many_values_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(regions, "_MOST_VALUES", 5)
    assert example(tmp_path, "nn.relu(nn.relu(%x))", "nn.relu(%x)") == 0
    assert "not compared" in (said := capsys.readouterr().err) and "more than 5 values" in said


def test_a_selection(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "own.gsl", tmp_path / "g2.json"
    source = graph(tmp_path, "g", "nn.relu(tanh(exp(%x)))")
    assert main(["convert", source, "-o", str(out)]) == 0
    ids = [
        node["id"] for node in json.loads(out.read_text())["nodes"] if node.get("op") in ("tanh", "nn.relu")
    ]
    capsys.readouterr()
    assert main(["from-example", str(out), "--select", ",".join(ids)]) == 0
    text = capsys.readouterr().out
    assert "tanh" in text and "nn.relu" in text and "exp" not in text
    path.write_text(text)
    assert main(["check", str(path)]) == 0
    assert main(["from-example", str(out), "--select", "nowhere"]) == 3
    assert "no node `nowhere`" in capsys.readouterr().err


def test_constants_made_of_two_others() -> None:
    import numpy as np

    from gslang.generalize.example import sign_of

    a, b = np.array([[1.0, 2.0]]), np.array([3.0, 5.0])
    assert sign_of(a, b, a + b) == "+" and sign_of(a, b, a - b) == "-" and sign_of(a, b, a / b) == "/"
    assert sign_of(a, b, np.array([3.0, 10.0])) == ""  # a row is no vector
    assert sign_of(np.ones((2, 3)), np.ones((3, 4)), np.ones((2, 4))) == ""  # these do not broadcast


LAYERS = """
  %0 = nn.relu(nn.relu(%x));
  %1 = add(tanh(%0), %y);
  %2 = nn.relu(nn.relu(%1));
  %3 = exp(subtract(%2, %y));
  %4 = nn.relu(nn.relu(subtract(%3, %y)));
  multiply(sigmoid(%4), %x)"""
EDITED = """
  %0 = nn.relu(%x);
  %1 = add(tanh(%0), %y);
  %2 = nn.relu(%1);
  %3 = divide(exp(%2), exp(%y));
  %4 = nn.relu(subtract(%3, %y));
  multiply(sigmoid(%4), %x)"""


@pytest.mark.long
def test_several_differences_are_several_rules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each is found by itself, and said once however often it occurs."""
    out = tmp_path / "rules.gsl"
    assert example(tmp_path, LAYERS, EDITED, "--format", "json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["differences"] == told["explained"] == 4
    assert [r["places"] for r in told["rules"]] == [3, 1]
    assert example(tmp_path, LAYERS, EDITED, "-o", str(out)) == 0
    text = out.read_text()
    assert text.count("rule example_") == 2 and "tanh" not in text and "sigmoid" not in text
    assert main(["verify", str(out), "--require", "exact"]) == 0
    assert main([str(out), str(tmp_path / "before.relay"), "-o", str(tmp_path / "again.relay")]) == 0
    assert (tmp_path / "again.relay").read_text().count("nn.relu") == 3


def test_differences_end_at_equal_values() -> None:
    """Regions are cut where both graphs have a value, and what is alike is no difference."""
    from gslang.dialect.load import load_dialect
    from gslang.evaluate.random_inputs import random_inputs
    from gslang.formats.registry import graph_from_bytes
    from gslang.generalize.regions import Region, classes_of, regions

    before, after = (
        graph_from_bytes(f"{HEAD}{body}\n}}\n".encode(), "<test>", "relay") for body in (LAYERS, EDITED)
    )
    dialect = load_dialect("relay")
    classes = classes_of(before, after, dialect, [random_inputs(before, k) for k in range(3)])
    assert classes is not None and classes.equal
    seen: list[Region] = []

    def choose(region: Region) -> int:
        seen.append(region)
        return 1 if before.op[region.before] == "nn.relu" else 0  # the first one says that relu(x) is x

    regions(before, after, dialect, classes, choose)
    assert [before.op[region.before] for region in seen] == ["nn.relu", "exp", "nn.relu", "nn.relu"]


def test_shapes_of_the_target_become_sizes(tmp_path: Path) -> None:
    """A reshape to numbers follows from the types of the source, and the example stays an instance."""
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    w = numpy_helper.from_array(np.linspace(-1, 1, 12).reshape(4, 3).astype(np.float32), "w")
    b = numpy_helper.from_array(np.linspace(0, 1, 3).astype(np.float32), "b")
    rows = numpy_helper.from_array(np.array([10, 4]), "rows")
    back = numpy_helper.from_array(np.array([2, 5, 3]), "back")
    x, y = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("x", [2, 5, 4]), ("y", [2, 5, 3]))
    )
    node = helper.make_node
    graphs = {
        "before": ([node("MatMul", ["x", "w"], ["p"]), node("Add", ["p", "b"], ["y"])], [w, b]),
        "after": (
            [
                node("Reshape", ["x", "rows"], ["m"]), node("Gemm", ["m", "w", "b"], ["g"]),
                node("Reshape", ["g", "back"], ["y"]),
            ],
            [w, b, rows, back],
        ),
    }
    for name, (nodes, values) in graphs.items():
        graph = helper.make_graph(nodes, "g", [x], [y], values)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
        onnx.save(model, str(tmp_path / f"{name}.onnx"))
    out = tmp_path / "rule.gsl"
    names = [str(tmp_path / "before.onnx"), str(tmp_path / "after.onnx")]
    assert main(["from-example", *names, "-o", str(out), "--seconds", "20"]) == 0
    text = out.read_text()
    assert ".shape[" in text and "[10, 4]" not in text and "(10, 4)" not in text
    assert main([str(out), names[0], "-o", str(tmp_path / "again.onnx"), "--check-numbers"]) == 0
    assert "Gemm" in {n.op_type for n in onnx.load(str(tmp_path / "again.onnx")).graph.node}
