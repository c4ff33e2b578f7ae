"""Calls of ONNX operators with the shape of one operand changed: what onnxruntime refuses is not computed.

NumPy broadcasts, and slices cut anywhere: a target could otherwise be a model that no runtime loads.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from gslang.dialect.load import load_dialect
from gslang.dialect.signature import Signature, TypeInferenceError
from gslang.dialect.tensor_type import TensorType
from gslang.evaluate.errors import EvaluationError
from gslang.evaluate.random_inputs import random_inputs
from gslang.evaluate.run import evaluate
from gslang.graph.graph import CONST, INPUT, PARAM, Graph
from gslang.graph.inference import infer_types
from tests.evaluate.drawn_calls import calls_of

runtime = pytest.importorskip("tests.evaluate.test_against_onnxruntime")

PARTS = 8
"""Of all operators: those of a part are tested together."""
ENDING = {  # with these the process ends in onnxruntime, which reads operands that are not there
    "com.microsoft.MatMulIntegerToFloat", "com.microsoft.DynamicQuantizeMatMul",
    "com.microsoft.QLinearSigmoid", "com.microsoft.QLinearLeakyRelu",
}  # fmt: skip
NARROWER = {  # onnxruntime has fewer of these than the standard
    "GlobalAveragePool": "images of at most 3 axes",
    "GlobalMaxPool": "images of at most 3 axes",
    "LRN": "images of 2 axes",
    "RotaryEmbedding": "tables with a row for each place",
    "com.microsoft.QLinearSoftmax": "scales above 0",
}


def changed(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Shapes with an axis more or less, or one axis of another size."""
    found = {
        (), (1,), (1,) * len(shape), shape[1:], shape[:-1], (1, *shape), (2, *shape), (*shape, 1),
        (*shape, 2), shape[::-1],
    }  # fmt: skip
    sizes = {(*shape[:k], n, *shape[k + 1 :]) for k in range(len(shape)) for n in (1, 2, 3)}
    return sorted((found | sizes) - {shape})


def with_shape(graph: Graph, changed_input: int, shape: tuple[int, ...]) -> Graph:
    """The same calls with another shape of an input. Raises `TypeInferenceError`, as rewriting does."""
    made, at = Graph("onnx"), dict[int, int]()
    for node in graph.reverse_post_order():
        operands = tuple([at[o] if o >= 0 else o for o in graph.operands[node]])
        type_ = graph.types[node]
        if graph.op[node] in (INPUT, PARAM):
            assert isinstance(type_, TensorType)
            size = shape if node == changed_input else type_.shape
            at[node] = made.add(INPUT, (), {}, TensorType(size, type_.dtype), f"v{node}")
        else:
            known = type_ if graph.op[node] is CONST else None
            at[node] = made.add(graph.op[node], operands, dict(graph.attrs[node]), known)
            if graph.op[node] is CONST:
                made.values[at[node]] = graph.values[node]
    made.set_outputs([at[o] for o in graph.outputs])
    if wrong := infer_types(made, load_dialect("onnx")):
        raise TypeInferenceError(wrong[0][1])
    return made


def computed(graph: Graph, values: dict[str, Any]) -> bool:
    try:
        evaluate(graph, load_dialect("onnx"), values)
    except EvaluationError:
        return False
    return True


def refused(name: str, signature: Signature, count: int) -> Iterator[str]:
    """Calls that are computed, and that onnxruntime refuses though it computes them with other shapes."""
    for graph in calls_of(name, signature, count):
        try:
            values = random_inputs(graph, 0)
        except Exception:  # strings, sequences
            continue
        if runtime.by_onnxruntime(graph, values) is None or not computed(graph, values):
            continue
        inputs = [n for n in graph.nodes() if graph.op[n] in (INPUT, PARAM)]
        for node in inputs:
            type_ = graph.types[node]
            for shape in changed(type_.shape or ()) if isinstance(type_, TensorType) else ():
                try:
                    other = with_shape(graph, node, shape)
                    values = random_inputs(other, 0)
                except TypeInferenceError:
                    continue
                if computed(other, values) and runtime.by_onnxruntime(other, values) is None:
                    yield f"{name} {[str(other.types[n]) for n in other.nodes()]} {shape}"


def some(part: int) -> list[tuple[str, Signature]]:
    left_out = ENDING | NARROWER.keys()
    return [item for item in runtime.operators()[part::PARTS] if item[0] not in left_out]


@pytest.mark.parametrize("part", range(PARTS))
def test_a_few_calls(part: int) -> None:
    assert [call for name, signature in some(part)[::3] for call in refused(name, signature, 1)] == []


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
def test_many_calls(part: int) -> None:
    assert [call for name, signature in some(part) for call in refused(name, signature, 6)] == []
