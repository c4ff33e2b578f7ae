"""Running models: onnxruntime and the reference, inputs that make sense, where the numbers begin to differ.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import gslang
from gslang.base.diagnostics import InputError
from gslang.cli.main import main
from gslang.cli.numbers import compare_graphs, outputs_of, shared_names
from gslang.dialect.load import load_dialect
from gslang.evaluate.random_inputs import random_inputs
from tests.onnx.models import branching, model, value

node = helper.make_node
LIGHT = sorted(Path(onnx.__file__).parent.glob("backend/test/data/light/*.onnx"))


def embedding(indices: list[Any], table: tuple[int, int] = (7, 4)) -> Any:
    """Indices, on some way, into a table."""
    weights = {
        "table": np.arange(table[0] * table[1], dtype=np.float32).reshape(table),
        "shape": np.array([-1]),
    }
    return model(
        [*indices, node("Gather", ["table", "j"], ["y"])], [value("i", ("N", 3), TensorProto.INT64)],
        [helper.make_empty_tensor_value_info("y")], weights,
    )


@pytest.mark.parametrize(
    "way",
    [
        [node("Identity", ["i"], ["j"])],
        [node("Cast", ["i"], ["k"], to=TensorProto.INT32), node("Reshape", ["k", "shape"], ["j"])],
        [node("Transpose", ["i"], ["k"]), node("Concat", ["k", "k"], ["j"], axis=0)],
        [node("Split", ["i"], ["j", "k"], axis=1, num_outputs=2)],
    ],
)
def test_indices_lie_within_their_axis(way: list[Any]) -> None:
    found = embedding(way)
    found.opset_import[0].version = 18
    graph = gslang.from_onnx(found)
    values = random_inputs(graph, 0, {"N": 50})
    assert values["i"].shape == (50, 3) and set(np.unique(values["i"])) == set(range(7))
    for backend in ("onnxruntime", "reference"):
        assert np.isfinite(outputs_of(graph, load_dialect("onnx"), values, backend)[0]).all()


def test_the_smallest_axis_counts() -> None:
    found = embedding([node("Identity", ["i"], ["j"]), node("Gather", ["small", "i"], ["z"], axis=1)])
    found.graph.initializer.append(onnx.numpy_helper.from_array(np.ones((9, 3), np.float32), "small"))
    assert random_inputs(gslang.from_onnx(found), 0, {"N": 50})["i"].max() == 2


def test_rotary_positions_number_the_rows_of_their_tables() -> None:
    table = np.linspace(0, 1, 14, dtype=np.float32).reshape(7, 2)
    found = model(
        [node("RotaryEmbedding", ["x", "cos", "sin", "i"], ["y"])],
        [value("x", (1, 3, 50, 4)), value("i", (1, 50), TensorProto.INT64)],
        [helper.make_empty_tensor_value_info("y")], {"cos": table, "sin": 1 - table},
    )
    found.opset_import[0].version = 23
    graph = gslang.from_onnx(found)
    values = random_inputs(graph)
    assert set(np.unique(values["i"])) == set(range(7))
    assert np.isfinite(outputs_of(graph, load_dialect("onnx"), values, "reference")[0]).all()


def test_masks_and_counts() -> None:
    nodes = [node("Cast", ["attention_mask"], ["m"], to=1), node("Expand", ["m", "sizes"], ["y"])]
    found = model(
        nodes, [value("attention_mask", (2, 30), 7), value("sizes", (2,), 7)],
        [helper.make_empty_tensor_value_info("y")],
    )
    values = random_inputs(gslang.from_onnx(found))
    assert set(np.unique(values["attention_mask"])) == {0, 1} and list(values["sizes"]) == [1, 1]


def test_both_backends_agree() -> None:
    graph = gslang.from_onnx(branching())
    inputs = random_inputs(graph)
    left, right = (
        outputs_of(graph, load_dialect("onnx"), inputs, backend)[0]
        for backend in ("onnxruntime", "reference")
    )
    np.testing.assert_allclose(left, right)


@pytest.mark.parametrize(
    "path", [p for p in LIGHT if "squeezenet" in p.name or "shufflenet" in p.name], ids=lambda p: p.stem
)
def test_light_models_in_onnxruntime(path: Path) -> None:
    graph = gslang.read(path)
    expected = onnx.numpy_helper.to_array(onnx.load_tensor(str(path).replace(".onnx", "_output_0.pb")))
    inputs = {name: np.ones(value.shape, value.dtype) for name, value in random_inputs(graph).items()}
    (actual,) = outputs_of(graph, load_dialect("onnx"), inputs, "onnxruntime")
    assert actual.shape == expected.shape and np.isfinite(actual).all()
    assert compare_graphs(graph, graph.copy(), load_dialect("onnx"), inputs, "auto").backend == "onnxruntime"


def chain(scale: float) -> Any:
    nodes = [
        node("Neg", ["x"], ["a"], "first"), node("Relu", ["a"], ["b"]), node("Mul", ["b", "s"], ["c"]),
        node("Exp", ["c"], ["y"]),
    ]
    return model(nodes, [value("x")], [value("y")], {"s": np.array(scale, np.float32)})


@pytest.mark.parametrize("backend", ["onnxruntime", "reference"])
def test_where_the_difference_begins(backend: str) -> None:
    before = gslang.from_onnx(chain(1.0))
    after = gslang.from_onnx(chain(1.5))
    assert shared_names(before, after) == ["a", "b", "c", "y"]
    found = compare_graphs(before, after, load_dialect("onnx"), random_inputs(before), backend)
    assert (
        not found.agreement.equal and found.first == "c" and "differs by" in found.detail
        and found.backend == backend
    )
    assert compare_graphs(
        before, before, load_dialect("onnx"), random_inputs(before), backend
    ).agreement.equal


def test_what_onnxruntime_cannot_run_the_reference_does() -> None:
    found = model([node("Neg", ["x"], ["y"])], [value("x")], [value("y")])
    found.ir_version = 99
    graph = gslang.from_onnx(found)
    inputs = random_inputs(graph)
    assert compare_graphs(graph, graph.copy(), load_dialect("onnx"), inputs, "auto").backend == "reference"
    np.testing.assert_array_equal(outputs_of(graph, load_dialect("onnx"), inputs, "auto")[0], -inputs["x"])
    with pytest.raises(Exception, match="onnxruntime: "):
        outputs_of(graph, load_dialect("onnx"), inputs, "onnxruntime")


def test_other_dialects_have_one_backend() -> None:
    graph = gslang.Graph("relay")
    with pytest.raises(InputError, match="onnxruntime runs only ONNX graphs"):
        outputs_of(graph, load_dialect("relay"), {}, "onnxruntime")


def test_external_data_is_found(tmp_path: Path) -> None:
    found = model(
        [node("MatMul", ["x", "w"], ["y"])], [value("x")], [value("y", (2, 500))],
        {"w": np.ones((3, 500), np.float32)},
    )
    onnx.save(found, tmp_path / "m.onnx", save_as_external_data=True, location="m.data", size_threshold=0)
    graph = gslang.read(tmp_path / "m.onnx")
    inputs = random_inputs(graph)
    assert compare_graphs(graph, graph.copy(), load_dialect("onnx"), inputs, "onnxruntime").agreement.equal


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nodes = [node("Relu", ["x"], ["a"]), node("Exp", ["a"], ["b"]), node("Neg", ["b"], ["y"])]
    onnx.save(model(nodes, [value("x", ("N", 3))], [value("y", ("N", 3))]), tmp_path / "m.onnx")
    (tmp_path / "r.gsl").write_text(
        "dialect onnx;\nrule right(x): Relu(x) => Max(x, 0.0);\n"
        "@once rule wrong(x): Exp(x) => Exp(x * 1.5);\n"
    )
    rules, graph, out = str(tmp_path / "r.gsl"), str(tmp_path / "m.onnx"), str(tmp_path / "o.npz")
    for backend in ("auto", "onnxruntime", "reference"):
        assert (
            main([
                rules, graph, "-o", str(tmp_path / "o.onnx"), "--rule", "right", "--check-numbers", "--dim",
                "N=4", "--backend", backend,
            ])
            == 0
        )
        assert main(["run", graph, "-o", out, "--dim", "N=5", "--backend", backend]) == 0
        assert np.load(out)["out0"].shape == (5, 3)
    capsys.readouterr()
    report = tmp_path / "report.json"
    assert (
        main([rules, graph, "-o", str(tmp_path / "o.onnx"), "--check-numbers", "--report", str(report)]) == 1
    )
    assert "the first value of both graphs that differs is `b`" in capsys.readouterr().err
    assert (
        '"first_difference": "b"' in report.read_text() and '"backend": "onnxruntime"' in report.read_text()
    )
    assert main([rules, graph, "--check-numbers", "--dim", "N"]) == 2
    assert main(["run", graph, "--dim", "N=x"]) == 2


def test_sequences_and_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Outputs that are no tensors are told part by part."""
    nodes = [node("SequenceConstruct", ["x", "x"], ["s"])]
    found = model(nodes, [value("x")], [helper.make_tensor_sequence_value_info("s", 1, None)])
    onnx.save(found, tmp_path / "s.onnx")
    kind = helper.make_optional_type_proto(helper.make_tensor_type_proto(1, (2,)))
    nothing = model(
        [node("Optional", [], ["o"], type=helper.make_tensor_type_proto(1, (2,)))], [],
        [helper.make_value_info("o", kind)],
    )
    onnx.save(nothing, tmp_path / "o.onnx")
    for backend in ("onnxruntime", "reference"):
        assert main(["run", str(tmp_path / "s.onnx"), "--backend", backend]) == 0
        assert "out1: float32[2, 3]" in capsys.readouterr().out
    assert main(["run", str(tmp_path / "o.onnx")]) in (0, 3)
    assert "internal error" not in capsys.readouterr().err


def dropping(tmp_path: Path, mode: bool, seed: dict[str, int], wrong: str = "Relu") -> list[str]:
    """Command line for a model of which one output drops values, and the other does not."""
    weights = {"ratio": np.array(0.5, np.float32), "mode": np.array(mode)}
    nodes = [
        node("Abs", ["x"], ["a"], name="a"), node("Dropout", ["a", "ratio", "mode"], ["d"], **seed),
        node("Relu", ["d"], ["y"]), node("Relu", ["a"], ["z"]),
    ]
    found = model(nodes, [value("x", (40, 50))], [value("y", (40, 50)), value("z", (40, 50))], weights)
    onnx.save(found, tmp_path / "m.onnx")
    rules = tmp_path / "r.gsl"
    rules.write_text(f"dialect onnx;\nrule r(a): Abs(a) => {wrong}(Abs(a));\n")
    out = str(tmp_path / "o.onnx")
    return [str(rules), str(tmp_path / "m.onnx"), "-o", out, "--once", "--check-numbers"]


@pytest.mark.parametrize("backend", ["onnxruntime", "reference"])
def test_random_outputs_are_not_compared(
    backend: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Dropout in training draws other numbers in each run: no difference between the graphs."""
    line = dropping(tmp_path, True, {})
    assert main([*line, "--backend", backend]) == 0
    said = capsys.readouterr().err
    assert "output 1 is not compared: Dropout `%4` draws random numbers without a `seed`" in said
    assert "numbers agree" in said
    assert main([*dropping(tmp_path, True, {}, "Neg"), "--backend", backend]) == 1
    assert "differ" in capsys.readouterr().err
    assert main([*dropping(tmp_path, False, {}), "--backend", backend]) == 0
    assert "not compared" not in capsys.readouterr().err


def test_nothing_but_random_outputs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = model([node("Abs", ["x"], ["a"]), node("Bernoulli", ["a"], ["y"])], [value("x")], [value("y")])
    onnx.save(found, tmp_path / "m.onnx")
    (tmp_path / "r.gsl").write_text("dialect onnx;\nrule r(a): Abs(a) => Relu(Abs(a));\n")
    line = [str(tmp_path / "r.gsl"), str(tmp_path / "m.onnx"), "--once", "--check-numbers"]
    assert main([*line, "-o", str(tmp_path / "o.onnx")]) == 1
    assert "every output depends on random numbers: Bernoulli `y` draws them" in capsys.readouterr().err
    assert not (tmp_path / "o.onnx").exists()


def test_numbers_of_bfloat16(tmp_path: Path, capsys: Any) -> None:
    """What is cast to bfloat16 meets weights of that type; results may differ by its precision."""
    found = model(
        [
            node("Cast", ["x"], ["h"], to=TensorProto.BFLOAT16), node("Mul", ["h", "w"], ["m"]),
            node("Mul", ["m", "w"], ["y"]),
        ],
        [value("x", (2, 4))], [value("y", (2, 4), TensorProto.BFLOAT16)], opset=21, ir=10,
    )
    found.graph.initializer.append(helper.make_tensor("w", TensorProto.BFLOAT16, [4], [1.1, 2.3, 3.7, 4.9]))
    onnx.save(found, tmp_path / "m.onnx")
    graph, dialect = gslang.from_onnx(found), load_dialect("onnx")
    assert outputs_of(graph, dialect, random_inputs(graph, 0, {}), "auto")[0].dtype == np.float32
    (tmp_path / "r.gsl").write_text(
        "dialect onnx; rule nearly(x, w: const): (x * w) * w => (x * w) * const(value = "
        '[1.101, 2.301, 3.703, 4.904], dtype = "bfloat16");'
    )
    words = [str(tmp_path / "r.gsl"), str(tmp_path / "m.onnx"), "--once", "--check-numbers"]
    assert main([*words, "-o", str(tmp_path / "o.onnx")]) == 0, capsys.readouterr()
    assert "numbers agree" in capsys.readouterr().err
