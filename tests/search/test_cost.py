"""Costs: networks counted by hand, weights, peak memory, files, and calls that have no cost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import gslang
from gslang.base.diagnostics import InputError
from gslang.cli.main import main
from gslang.dialect.load import load_dialect
from gslang.formats.json_writer import write_json
from gslang.graph.builder import Builder
from gslang.graph.graph import Graph
from gslang.search.cost.file_table import read_table
from gslang.search.cost.graph_cost import GraphCost, graph_cost, with_sizes
from gslang.search.cost.tables import table_of
from gslang.search.cost.work import UnknownCost
from tests.hostile.costly import costly_json
from tests.search.networks import bert_base, mobilenet_v2, resnet50

RELAY = load_dialect("relay")


def cost(graph: Graph, table: str = "flops", weights: str | None = None) -> GraphCost:
    return graph_cost(graph, load_dialect(graph.dialect), table_of(table), weights)


def test_resnet50() -> None:
    found = cost(resnet50())
    assert found.macs == 4_089_184_256 and found.parameters == 25_502_912


def test_mobilenet_v2() -> None:
    found = cost(mobilenet_v2())
    assert found.macs == 300_774_272
    norms = 4 * 17_056
    # the usual count has a bias, but no means and variances
    assert found.parameters == 3_504_872 - 1000 - 2 * 17_056 + norms


@pytest.mark.parametrize("dialect", ["relay", "onnx"])
def test_bert_base(dialect: str) -> None:
    length, width = 128, 768
    found = cost(bert_base(length, dialect))
    assert found.macs == 12 * (12 * length * width**2 + 2 * length**2 * width)
    assert found.parameters == 12 * 12 * width**2 + (dialect == "onnx") * 12 * 11  # shapes to reshape to
    softmax, others = 12 * 12 * length**2 * 5, 12 * (2 * length * width + 4 * length * width)
    assert found.operations == 2 * found.macs + softmax + others == found.cost


def test_bytes_and_roofline() -> None:
    b = Builder(RELAY)
    x = b.input("x", (64, 1024))
    graph = b.finish(
        b.call("reshape", b.call("nn.matmul", x, b.param("w", (1024, 1024))), newshape=(64, 16, 64))
    )
    found = cost(graph, "bytes")
    assert found.cost == 4 * (2 * 64 * 1024 + 1024 * 1024) == found.moved
    assert cost(graph, "roofline").cost == pytest.approx(max(2 * 64 * 1024**2 / 50e3, found.moved / 10e3) + 2)


def test_work_on_weights() -> None:
    b = Builder(RELAY)
    v, w = b.param("v", (8, 8)), b.param("w", (8, 8))
    joined = b.call("concatenate", b.pack(b.call("add", v, w), w), axis=1)
    graph = b.finish(b.call("nn.matmul", b.input("x", (4, 8)), joined))
    product, addition, join = 3 * 4 * 8 * 16, 3 * 64 * 4, 2 * 128 * 4
    product = 4 * (4 * 8 + 8 * 16 + 4 * 16)
    assert cost(graph, "bytes").cost == cost(graph, "bytes", "free").cost == product
    assert cost(graph, "bytes", "concat-free").cost == product + addition
    assert cost(graph, "bytes", "charged").cost == product + addition + join
    assert cost(graph).macs == 4 * 8 * 16


def test_peak_memory() -> None:
    """A chain keeps two tensors at a time, a branch that is read late stays, and a reshape is its operand."""
    b = Builder(RELAY)
    x = b.input("x", (256,))
    y = b.call("reshape", b.call("exp", x), newshape=(16, 16))
    z = b.call("exp", b.call("exp", y))
    assert cost(b.finish(z)).peak == 2 * 1024
    assert cost(b.finish(b.call("add", z, y))).peak == 3 * 1024


def test_calls_without_a_cost() -> None:
    b = Builder(RELAY)
    graph = b.finish(b.call("my.operator", b.input("x", (2, 3)), alpha=0.5))
    with pytest.raises(
        UnknownCost,
        match=r"no cost for `my.operator` of \(float32\[2, 3\]\) with alpha = 0.5: its work is not declared",
    ):
        cost(graph)


TABLE = (
    "op\tinput_shapes\tattrs\tmin_ms\tmax_ms\nMatmul\t64x1024;1024x1024\t0\t0.021\t0.022\n"
    "Relu\t64x1024\t\t0.003\t0.004\n"
)


def test_a_table_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text(TABLE)
    b = Builder(RELAY)
    product = b.call("nn.matmul", b.input("x", (64, 1024)), b.param("w", (1024, 1024)))
    graph = b.finish(b.call("reshape", b.call("nn.relu", product), newshape=(64, 16, 64)))
    assert cost(graph, str(path)).cost == pytest.approx(0.024)
    with pytest.raises(UnknownCost, match=r"`tanh` of \(float32\[64, 1024\]\): t.tsv has no entry for it"):
        cost(b.finish(b.call("tanh", product)), str(path))
    path.write_text('op\tinput_shapes\tattrs\tcost\nsoftmax\t2x3\t{"axis":0}\t7\n')
    c = Builder(RELAY)
    with pytest.raises(UnknownCost):
        cost(c.finish(c.call("softmax", c.input("x", (2, 3)), axis=1)), str(path))
    assert cost(c.finish(c.call("softmax", c.input("y", (2, 3)), axis=0)), str(path)).cost == 7


def test_attributes_are_json_in_a_table(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text(
        "op\tinput_shapes\tattrs\tcost\nnn.relu\t2x3\t{}\t7\n"
        'nn.pad\t2x3\t{"pad_width": [[0, 1], [0, 1]], "pad_mode": "edge"}\t5\n'
    )
    b = Builder(RELAY)
    assert cost(b.finish(b.call("nn.relu", b.input("x", (2, 3)))), str(path)).cost == 7
    padded = b.call("nn.pad", b.input("y", (2, 3)), pad_width=((0, 1), (0, 1)), pad_mode="edge")
    assert cost(b.finish(padded), str(path)).cost == 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ":1:1: expected a header"), ("op\tcost\n", ":1:1: expected a header"),
        (TABLE.replace("0.003", "fast"), ":3:15: `fast` is not a cost"),
        (TABLE.replace("0.003", "-1"), ":3:15: `-1` is not a cost"),
        (
            'op\tinput_shapes\tattrs\tcost\nsoftmax\t2x3\t{"axis":}\t7\n',
            ":2:13: `attrs` is not JSON: Expecting value",
        ),
        (
            TABLE + "Relu\t64x1024\t\t0.5\t\n",
            ":4:1: `Relu` with these shapes and attributes has a different cost above",
        ),
    ],
)
def test_files_that_are_wrong(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_table(str(path))
    assert message in str(caught.value)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "g.json"
    path.write_text(write_json(bert_base(8, layers=1, width=16, heads=2)))
    assert main(["cost", str(path), "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["macs"] == 12 * 8 * 256 + 2 * 64 * 16 and report["table"] == "flops"
    assert sum(row["cost"] for row in report["operators"]) == report["cost"]
    assert main(["cost", str(path), "--cost", "bytes", "--calls"]) == 0
    assert "parameters; peak activation memory" in capsys.readouterr().out
    assert main(["cost", str(path), "--cost", "flop"]) == 3
    assert "did you mean `flops`?" in capsys.readouterr().err
    assert main(["cost", str(path), "--dim", "n=3"]) == 3
    graph = {
        "format": "gsl-graph", "version": 1, "dialect": "relay", "name": "main", "outputs": ["y"],
        "nodes": [
            {"id": "x", "kind": "input", "shape": ["n", 3], "dtype": "float32"},
            {"id": "y", "kind": "call", "op": "exp", "inputs": ["x"]},
        ],
    }  # fmt: skip
    path.write_text(json.dumps(graph))
    assert main(["cost", str(path)]) == 3
    assert "no cost for `exp` of (float32[n, 3]): a shape is not known" in capsys.readouterr().err.replace(
        "\n", " "
    )
    assert main(["cost", str(path), "--dim", "n=5"]) == 0
    assert "15" in capsys.readouterr().out


def test_results_that_nobody_reads_are_not_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    onnx = pytest.importorskip("onnx")
    x, w, r, y = (
        onnx.helper.make_tensor_value_info(name, 1, shape)
        for name, shape in (("x", [9, 1, 3]), ("w", [1, 16, 3]), ("r", [1, 16, 4]), ("y", [9, 1, 1, 4]))
    )
    node = onnx.helper.make_node("LSTM", ["x", "w", "r"], ["y"], hidden_size=4)
    model = onnx.helper.make_model(
        onnx.helper.make_graph([node], "g", [x, w, r], [y]),
        opset_imports=[onnx.helper.make_opsetid("", 18)],
    )

    def refused(*_: object) -> None:
        raise AssertionError("a value is computed")

    monkeypatch.setattr("gslang.search.cost.graph_cost.node_evaluator", refused)
    graph = with_sizes(gslang.from_onnx(model), load_dialect("onnx"), {})
    assert graph_cost(graph, load_dialect("onnx"), table_of("flops")).macs == 9 * 16 * (3 + 4)


def test_tuples_thousands_deep(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "g.json").write_text(dict(costly_json())["costly_tuples.json"])
    (tmp_path / "r.gsl").write_text("dialect relay; rule twice(a): nn.relu(nn.relu(a)) => nn.relu(a);")
    path, rules = str(tmp_path / "g.json"), str(tmp_path / "r.gsl")
    assert main(["cost", path]) == 0
    out = str(tmp_path / "out.json")
    for words in ([], ["--method", "backtrack"]):
        assert main(["search", rules, path, "-o", out, "--require", "any", *words]) == 0
    assert "internal error" not in capsys.readouterr().err
