"""onnxruntime takes no more memory than the limit, also where types do not tell how large values are; it is
given what outputs need.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gslang
from gslang.cli.main import main
from gslang.cli.numbers import compare_graphs, outputs_of, shared_names
from gslang.dialect.load import load_dialect
from gslang.evaluate.errors import EvaluationError, TooMuchMemoryError
from gslang.evaluate.random_inputs import random_inputs
from gslang.formats.onnx import runtime
from gslang.formats.onnx.runtime import run_graph

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
X = np.ones((2, 3), np.float32)


def doubled(levels: int) -> onnx.ModelProto:
    """A sequence of `x` twice, of that twice, and so on; `y` is the sum."""
    node = onnx.helper.make_node
    nodes = [node("SequenceConstruct", ["x", "x"], ["s0"])]
    for k in range(levels):
        nodes.append(node("ConcatFromSequence", [f"s{k}"], [f"c{k}"], axis=0))
        nodes.append(node("SequenceConstruct", [f"c{k}", f"c{k}"], [f"s{k + 1}"]))
    nodes.append(node("ConcatFromSequence", [f"s{levels}"], ["z"], axis=0))
    nodes.append(node("ReduceSum", ["z"], ["y"], keepdims=0))
    x = onnx.helper.make_tensor_value_info("x", 1, [2, 3])
    y = onnx.helper.make_tensor_value_info("y", 1, None)
    return onnx.helper.make_model(
        onnx.helper.make_graph(nodes, "g", [x], [y]), opset_imports=[onnx.helper.make_opsetid("", 18)],
        ir_version=9,
    )


def test_values_whose_sizes_no_type_tells_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = gslang.from_onnx(doubled(16))  # 3 MB
    monkeypatch.setenv("GSLANG_MEMORY", "2M")
    with pytest.raises(TooMuchMemoryError, match="onnxruntime: values take more than .* GSLANG_MEMORY"):
        run_graph(graph, {"x": X})
    monkeypatch.setenv("GSLANG_MEMORY", "64M")
    assert run_graph(graph, {"x": X}) == [6 * 2**17]


def test_inputs_of_unknown_size_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    model = doubled(0)
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "n"
    monkeypatch.setenv("GSLANG_MEMORY", "16K")
    assert run_graph(gslang.from_onnx(model), {"x": np.ones((100, 3), np.float32)}) == [600]


def test_what_onnxruntime_refuses_for_its_size_is_not_computed_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "m.onnx")
    onnx.save(doubled(16), path)
    monkeypatch.setenv("GSLANG_MEMORY", "2M")
    for words in (["run", path], ["bench", path, "--rounds", "1", "--warm-up", "0"]):
        assert main(words) == 3
        assert "onnxruntime: values take more than" in capsys.readouterr().err


def unread() -> onnx.ModelProto:
    """Nothing reads the input `u`, and no output needs what is made of `v` in a body."""
    node, value = onnx.helper.make_node, onnx.helper.make_tensor_value_info
    body = onnx.helper.make_graph([node("Neg", ["v"], ["n"])], "b", [], [value("n", 1, [4])])
    nodes = [
        node("If", ["c"], ["d"], then_branch=body, else_branch=body), node("Neg", ["d"], ["e"]),
        node("Relu", ["x"], ["y"]),
    ]
    inputs = [value("u", 1, None), value("c", 9, []), value("v", 1, [4]), value("x", 1, [2, 3])]
    graph = onnx.helper.make_graph(nodes, "g", inputs, [value("y", 1, [2, 3])])
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=9)


def test_inputs_that_no_output_needs_take_no_value(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "m.onnx")
    onnx.save(unread(), path)
    for words in (
        ["run", path, "--backend", "onnxruntime"], ["bench", path, "--rounds", "1", "--warm-up", "0"],
    ):
        assert main(words) == 0, capsys.readouterr().err
    graph = gslang.from_onnx(unread())
    with pytest.raises(EvaluationError, match="input `x` has no value"):
        run_graph(graph, {})
    assert shared_names(graph, graph.copy()) == ["y"]


def test_what_would_take_the_reference_long_is_left_to_onnxruntime(monkeypatch: pytest.MonkeyPatch) -> None:
    value = onnx.helper.make_tensor_value_info
    model = onnx.helper.make_model(
        onnx.helper.make_graph(
            [onnx.helper.make_node("LSTM", ["x", "w", "r"], ["y"], hidden_size=4)], "g",
            [value("x", 1, [30_000, 1, 3]), value("w", 1, [1, 16, 3]), value("r", 1, [1, 16, 4])],
            [value("y", 1, None)],
        ),
        opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=9,
    )
    graph, dialect = gslang.from_onnx(model), load_dialect("onnx")

    def refused(*_: object) -> list[object]:
        raise EvaluationError("no kernel")

    monkeypatch.setattr(runtime, "run_graph", refused)
    for compute in (outputs_of, lambda *given: compare_graphs(graph, *given)):
        with pytest.raises(EvaluationError, match=r"no kernel; the reference .* long .*--backend reference"):
            compute(graph, dialect, random_inputs(graph), "auto")
