"""Types that are found without the `onnx` package are those that its inference finds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import onnx
import pytest
from onnx import TensorProto, helper

from gslang.dialect.onnx.dtypes import type_of
from gslang.dialect.onnx.static_types import static_type
from gslang.dialect.tensor_type import TensorType, TupleType
from gslang.formats.onnx import read_onnx

SHAPES: dict[str, list[tuple[list[tuple[int, ...]], dict[str, Any]]]] = {
    "Relu": [([()], {}), ([(2, 0, 3)], {})],
    "Softmax": [([(2, 3)], {"axis": 1}), ([(2, 3)], {}), ([(2, 3)], {"axis": 2}), ([()], {"axis": 0})],
    "Add": [
        ([(2, 3), (3,)], {}),
        ([(2, 1), (1, 3)], {}),
        ([(), (4,)], {}),
        ([(2, 3), (4,)], {}),
        ([(0, 1), (1, 1)], {}),
    ],
    "Transpose": [
        ([(2, 3, 4)], {}),
        ([(2, 3, 4)], {"perm": [2, 0, 1]}),
        ([(2, 3)], {"perm": [0, 0]}),
        ([(2, 3)], {"perm": [0]}),
    ],
    "MatMul": [
        ([(2, 3), (3, 4)], {}),
        ([(5, 1, 2, 3), (6, 3, 4)], {}),
        ([(2, 3), (4, 5)], {}),
        ([(3,), (3, 4)], {}),
    ],
    "Gemm": [
        ([(2, 3), (3, 4)], {}),
        ([(3, 2), (4, 3), (4,)], {"transA": 1, "transB": 1}),
        ([(2, 3), (3, 4), (7,)], {}),
    ],
    "Concat": [
        ([(2, 3), (2, 1)], {"axis": 1}),
        ([(2, 3), (2, 1)], {"axis": -1}),
        ([(2, 3), (3, 3)], {"axis": 1}),
        ([(2,), (2, 2)], {"axis": 0}),
    ],
    "Conv": [
        ([(1, 4, 9, 9), (6, 4, 3, 3)], {}),
        (
            [(1, 4, 9, 8), (6, 2, 3, 2)],
            {"group": 2, "strides": [2, 1], "pads": [1, 0, 1, 2], "dilations": [1, 2]},
        ),
        ([(1, 4, 9), (6, 4, 3), (6,)], {"kernel_shape": [3]}),
        ([(1, 4, 9), (6, 3, 3)], {}),
        ([(1, 4, 9), (6, 4, 3)], {"kernel_shape": [2]}),
    ],
}


@pytest.mark.parametrize("operator", SHAPES)
def test_as_the_package_says(operator: str) -> None:
    found = 0
    for shapes, attrs in SHAPES[operator]:
        names = [f"x{k}" for k in range(len(shapes))]
        inputs = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
            for name, shape in zip(names, shapes)
        ]
        graph = helper.make_graph(
            [helper.make_node(operator, names, ["y"], **attrs)], "g", inputs, [onnx.ValueInfoProto(name="y")]
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        ours = static_type(
            operator,
            [TensorType(shape, "float32") for shape in shapes],
            {k: tuple(v) if isinstance(v, list) else v for k, v in attrs.items()},
        )
        try:
            theirs = type_of(onnx.shape_inference.infer_shapes(model, strict_mode=True).graph.output[0].type)
        except onnx.shape_inference.InferenceError:
            theirs = None
        assert ours is None or ours is theirs, (shapes, attrs)
        found += ours is not None
    assert found


def test_sizes_that_are_operands() -> None:
    x = TensorType((2, 6), "float32")

    def given(*sizes: int) -> Any:
        return lambda k: numpy.array(sizes)

    vector = TensorType((2,), "int64")
    assert static_type("Reshape", [x, vector], {}, given(3, -1)) == TensorType((3, 4), "float32")
    assert static_type("Reshape", [x, vector], {}, given(0, 6)) == x
    assert static_type("Reshape", [x, vector], {}, given(5, -1)) is None
    assert static_type("Reshape", [x, vector], {}) is None
    parts = static_type("Split", [x, vector], {"axis": -1}, given(2, 4))
    assert parts == TupleType((TensorType((2, 2), "float32"), TensorType((2, 4), "float32")))
    assert static_type("Split", [x, vector], {"axis": 1}, given(2, 3)) is None


@pytest.mark.parametrize(
    "path", sorted((Path(__file__).parent / "exports").rglob("*.onnx"))[:12], ids=lambda p: p.stem
)
def test_exports_are_typed_alike(path: Path) -> None:
    """Every call whose operands' types are complete."""
    graph = read_onnx(path)
    for node in graph.nodes():
        if graph.is_call(node):
            types = [graph.types[o] if o >= 0 else None for o in graph.operands[node]]
            found = static_type(
                graph.op[node], types, graph.attrs[node], lambda k: graph.value(graph.operands[node][k])
            )
            known = graph.types[node]
            known = (
                known.fields[0] if isinstance(known, TupleType) and isinstance(found, TensorType) else known
            )
            assert found is None or found == known, graph.label(node)
