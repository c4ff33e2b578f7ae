"""Attention and rotary positions over the prime field: the real numbers beside the residues are those of the
reference implementation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gslang.dialect.load import load_dialect
from gslang.dialect.tensor_type import TensorType
from gslang.evaluate.run import evaluate
from gslang.graph.graph import ABSENT, INPUT, PROJ, Graph
from gslang.graph.inference import infer_node
from gslang.verify.field.dual import Dual
from gslang.verify.field.onnx import evaluate_onnx_in_field
from gslang.verify.field.points import random_point
from gslang.verify.field.residues import NoField

ONNX = load_dialect("onnx")
HEADS = ((2, 3, 4, 5), (2, 3, 6, 5), (2, 3, 6, 7))


def graph_of(op: str, shapes: tuple[Any, ...], attrs: dict[str, Any], first: bool = True) -> Graph:
    """One call; a shape with "bool" or "int64" in front is of that type."""
    graph = Graph("onnx", "one call")
    slots = []
    for k, shape in enumerate(shapes):
        dtype, shape = (shape[0], shape[1:]) if shape and isinstance(shape[0], str) else ("float32", shape)
        slots.append(ABSENT if shape is None else graph.add(INPUT, (), {}, TensorType(shape, dtype), f"x{k}"))
    call = graph.add(op, tuple(slots), attrs)
    graph.types[call] = infer_node(graph, ONNX, call)
    if first:
        call = graph.add(PROJ, (call,), {"index": 0})
        graph.types[call] = infer_node(graph, ONNX, call)
    graph.set_outputs([call])
    return graph


def both(graph: Graph, seed: int = 0) -> tuple[Dual, Any]:
    point = random_point(graph, np.random.default_rng(seed), False, 1 << 28)
    exact = evaluate_onnx_in_field(graph, point, set(), ONNX.get)[0]
    inputs = {k: v.real.astype(np.float32) if isinstance(v, Dual) else v for k, v in point.items()}
    return exact, evaluate(graph, ONNX, inputs)[0]


@pytest.mark.parametrize(
    "shapes, attrs",
    [
        (HEADS, {}),
        (HEADS, {"scale": 0.5}),
        (HEADS, {"scale": 1 / 3, "is_causal": 1}),
        (HEADS, {"softcap": 2.0}),
        ((*HEADS, (4, 6)), {"scale": 0.25}),
        ((*HEADS, (2, 1, 4, 6)), {"is_causal": 1}),
        ((*HEADS, (4, 3)), {}),
        (((2, 6, 4, 5), *HEADS[1:]), {}),
        (((2, 4, 6), (2, 5, 6), (2, 5, 9)), {"q_num_heads": 3, "kv_num_heads": 3}),
        (((2, 4, 12), (2, 5, 6), (2, 5, 9)), {"q_num_heads": 6, "kv_num_heads": 3, "scale": 0.5}),
        ((*HEADS, None, (2, 3, 2, 5), (2, 3, 2, 7)), {"is_causal": 1}),
    ],
)
def test_attention(shapes: tuple[Any, ...], attrs: dict[str, Any]) -> None:
    exact, plain = both(graph_of("Attention", shapes, attrs))
    assert exact.shape == plain.shape
    assert np.allclose(exact.real, plain, atol=1e-4)


def test_attention_with_truth_values() -> None:
    graph = graph_of("Attention", (*HEADS, ("bool", 1, 1, 4, 6)), {})
    for seed in range(3):
        exact, plain = both(graph, seed)
        assert np.allclose(exact.real, plain, atol=1e-4)


@pytest.mark.parametrize(
    "shapes, attrs",
    [
        (((2, 4, 6), (2, 5, 6), (2, 5, 9)), {"num_heads": 3}),
        (((2, 4, 6), (2, 4, 6), (2, 4, 6)), {"num_heads": 3, "unidirectional": 1, "scale": 0.5}),
        (((2, 4, 6), (2, 5, 6), (2, 5, 6), (18,), None, (2, 1, 4, 5)), {"num_heads": 2}),
        (((2, 4, 6), (2, 3, 5, 2), (2, 3, 5, 2)), {"num_heads": 3}),
    ],
)
def test_attention_of_onnxruntime(shapes: tuple[Any, ...], attrs: dict[str, Any]) -> None:
    exact, plain = both(graph_of("com.microsoft.MultiHeadAttention", shapes, attrs))
    assert exact.shape == plain.shape
    assert np.allclose(exact.real, plain, atol=1e-4)


@pytest.mark.parametrize("low", [-1e4, -3e38])
def test_keys_that_a_low_number_is_added_to_weigh_nothing(low: float) -> None:
    """The same as keys that are not seen, in the field too: such a mask says that scores are small."""
    operator, rows = "com.microsoft.MultiHeadAttention", ((2, 3, 4),) * 3
    causal = graph_of(operator, rows, {"num_heads": 2, "unidirectional": 1})
    mask = np.where(np.tri(3, dtype=bool), 0, low).astype(np.float32)
    masked = graph_of(operator, rows, {"num_heads": 2})
    call = masked.operands[masked.outputs[0]][0]
    added = masked.add_const(mask[None, None], TensorType((1, 1, 3, 3), "float32"))
    masked.operands[call] = (*masked.operands[call], ABSENT, ABSENT, added)
    point = random_point(causal, np.random.default_rng(3), False, 1 << 28)
    a, b = (evaluate_onnx_in_field(graph, point, set(), ONNX.get)[0] for graph in (causal, masked))
    assert np.array_equal(a.residue, b.residue)


@pytest.mark.parametrize("operator, tells", [("Softmax", False), ("LogSoftmax", True)])
def test_logarithms_of_low_weights_show(operator: str, tells: bool) -> None:
    """Of two scores to which −10⁴ was added; weights are 0 for both."""
    results = []
    for factor in (1.0, 2.0):
        graph = graph_of("Add", ((2,), (2,)), {}, False)
        factors = graph.add_const(np.array([1, factor], np.float32), TensorType((2,), "float32"))
        mask = graph.add_const(np.array([0, -1e4], np.float32), TensorType((2,), "float32"))
        scores = graph.add("Mul", (0, factors), {}, TensorType((2,), "float32"))
        masked = graph.add("Add", (scores, mask), {}, TensorType((2,), "float32"))
        graph.set_outputs([graph.add(operator, (masked,), {}, TensorType((2,), "float32"))])
        point = random_point(graph, np.random.default_rng(3), False, 1 << 28)
        results.append(evaluate_onnx_in_field(graph, point, set(), ONNX.get)[0].residue)
    assert np.array_equal(*results) is not tells


@pytest.mark.parametrize(
    "shapes, attrs",
    [
        (((2, 3, 5, 8), (2, 5, 4), (2, 5, 4)), {}),
        (((2, 3, 5, 8), (2, 5, 4), (2, 5, 4)), {"interleaved": 1}),
        (((2, 3, 5, 8), (2, 5, 2), (2, 5, 2)), {"rotary_embedding_dim": 4}),
        (((2, 5, 24), (2, 5, 4), (2, 5, 4)), {"num_heads": 3}),
        (((2, 3, 5, 8), (7, 2), (7, 2), ("int64", 2, 5)), {"rotary_embedding_dim": 4, "interleaved": 1}),
    ],
)
def test_rotary_positions(shapes: tuple[Any, ...], attrs: dict[str, Any]) -> None:
    exact, plain = both(graph_of("RotaryEmbedding", shapes, attrs, False))
    assert exact.shape == plain.shape
    assert np.allclose(exact.real, plain, atol=1e-4)


@pytest.mark.parametrize(
    "shapes, attrs",
    [
        (((2, 3, 5, 8), ("int64", 2, 5), (7, 4), (7, 4)), {}),
        (((2, 3, 5, 8), ("int64", 1), (40, 4), (40, 4)), {"interleaved": 1}),
        (((2, 5, 24), ("int64", 2, 5), (7, 4), (7, 4)), {}),
        (((2, 5, 24), ("int64", 2, 5), (7, 2), (7, 2)), {"num_heads": 3, "rotary_embedding_dim": 4}),
        (((2, 3, 0, 8), ("int64", 1), (0, 4), (0, 4)), {}),  # a sequence of nothing
    ],
)
def test_rotary_positions_of_onnxruntime(shapes: tuple[Any, ...], attrs: dict[str, Any]) -> None:
    exact, plain = both(graph_of("com.microsoft.RotaryEmbedding", shapes, attrs, False))
    assert exact.shape == plain.shape
    assert np.allclose(exact.real, plain, atol=1e-4)


TABLES = ((9, 4), (9, 4))


@pytest.mark.parametrize(
    "shapes",
    [
        (("int32", 2, 3), None, *TABLES, None, (4,), (4,)),
        (("int32", 2, 3), ("int32", 2, 3), *TABLES, (9, 4), (4,), (4,), None, ("int32", 1, 3)),
    ],
)
def test_embeddings(shapes: tuple[Any, ...]) -> None:
    exact, plain = both(graph_of("com.microsoft.EmbedLayerNormalization", shapes, {"epsilon": 0.125}))
    assert np.allclose(exact.real, plain, atol=1e-4)


def test_norms_by_the_root_of_the_mean_square() -> None:
    exact, plain = both(graph_of("SimplifiedLayerNormalization", ((2, 3, 4), (4,)), {"epsilon": 0.125}))
    assert np.allclose(exact.real, plain, atol=1e-4)


@pytest.mark.parametrize("attrs", [{"scale": -0.5}, {"is_causal": 1}])
def test_what_runtimes_see_differently_has_no_meaning(attrs: dict[str, Any]) -> None:
    graph = graph_of("Attention", (*HEADS, ("bool", 4, 6)), attrs)
    point = random_point(graph, np.random.default_rng(0), False, 1 << 28)
    # the first query sees itself only
    point["x3"] = np.arange(6) > np.zeros((4, 1)) if "is_causal" in attrs else np.ones((4, 6), bool)
    with pytest.raises(NoField):
        evaluate_onnx_in_field(graph, point, set(), ONNX.get)
