"""Operators of `com.microsoft` and conversions over the prime field, against what they compute in floating
point.
"""

from __future__ import annotations

import numpy as np
import pytest

from gslang.dialect.load import load_dialect
from gslang.dialect.tensor_type import TensorType
from gslang.evaluate.run import evaluate
from gslang.graph.graph import INPUT, PROJ, Graph
from gslang.verify.field.dual import Dual, constant, number, random_dual
from gslang.verify.field.onnx import evaluate_onnx_in_field
from gslang.verify.field.onnx_cast import holds
from gslang.verify.field.residues import PRIME

ONNX = load_dialect("onnx")
X, ROW = (2, 3, 4), (4,)
IMAGE, KERNEL = (1, 2, 5, 5), (3, 2, 3, 3)
TURNED = {"transA": 1, "transB": 1}
CALLS = [
    ("FusedMatMul", [(5, 2, 3), (5, 4, 3)], {"transB": 1, "alpha": 0.1}),
    ("FusedMatMul", [(5, 3, 2), (5, 3, 4)], {"transA": 1}),
    ("FusedMatMul", [(2, 5, 3), (5, 3, 4)], {"transBatchA": 1}),
    ("FusedMatMul", [(2, 5, 3), (3, 5, 4)], {"transBatchA": 1, "transBatchB": 1, "alpha": -2.0}),
    *[
        ("FusedConv", [IMAGE, KERNEL], {"activation": name})
        for name in ("Relu", "Tanh", "Sigmoid", "LeakyRelu", "HardSigmoid")
    ],
    (
        "FusedConv", [IMAGE, KERNEL, (3,), (1, 3, 3, 3)],
        {"activation": "Clip", "activation_params": (-0.2, 0.4)},
    ),
    ("FusedConv", [IMAGE, KERNEL, (3,), (1, 3, 3, 3)], {"strides": (1, 1)}),
    *[
        ("FusedGemm", [(2, 3), (3, 4), (4,)], {"activation": name, "alpha": 0.5, "beta": -2.0})
        for name in ("Relu", "Tanh", "Sigmoid", "LeakyRelu", "HardSigmoid")
    ],
    ("FusedGemm", [(3, 2), (4, 3)], {"activation": "LeakyRelu", "activation_alpha": 0.25, **TURNED}),
    (
        "FusedGemm", [(2, 3), (3, 4), (2, 1)],
        {"activation": "Clip", "activation_alpha": -0.2, "activation_beta": 0.4},
    ),
    ("SkipLayerNormalization", [X, X, ROW], {"epsilon": 0.1}),
    ("SkipLayerNormalization", [X, X, ROW, ROW, ROW], {}),
    ("SkipSimplifiedLayerNormalization", [X, X, ROW], {"epsilon": 0.1}),
    ("SkipSimplifiedLayerNormalization", [X, X, ROW, ROW], {}), ("QuickGelu", [X], {"alpha": 0.7}),
    ("Gelu", [X], {}), ("Gelu", [()], {}), ("BiasGelu", [X, ROW], {}),
]


@pytest.mark.parametrize("name, shapes, attrs", CALLS)
def test_contrib_operators_compute_what_the_engine_does(
    name: str, shapes: list[tuple[int, ...]], attrs: dict[str, object]
) -> None:
    graph, rng = Graph("onnx"), np.random.default_rng(0)
    operands = tuple(
        graph.add(INPUT, (), {}, TensorType(shape, "float32"), f"x{k}") for k, shape in enumerate(shapes)
    )
    node = graph.add(f"com.microsoft.{name}", operands, attrs)
    parts = [0, 1, 2, 3] if name == "SkipLayerNormalization" else [0, 2, 3] if name.startswith("Skip") else []
    graph.set_outputs([graph.add(PROJ, (node,), {"index": k}) for k in parts] or [node])
    point = {f"x{k}": random_dual(shape, rng, False, 1 << 30) for k, shape in enumerate(shapes)}
    exact = evaluate_onnx_in_field(graph, point, set(), ONNX.get)
    plain = evaluate(graph, ONNX, {key: value.real.astype(np.float32) for key, value in point.items()})
    for left, right in zip(exact, plain, strict=True):
        assert np.allclose(left.real, right, atol=1e-3)


def test_constants_that_are_rounded_quotients() -> None:
    for top, bottom in ((1, 6), (-1, 3), (13, 10), (100, 137)):
        value = constant(np.float32(top / bottom))
        assert int(value.residue) * bottom % PRIME == top % PRIME
    for plain in (0.0, 0.25, 3.0, float(np.float32(0.7072)), float(np.float32(1e-5)), 1 / 3 + 1e-6):
        assert int(constant(np.float64(plain)).residue) == int(number(plain).residue)


def test_constants_that_are_rounded_roots() -> None:
    for root, square in ((2**0.5, 2), (-(2**0.5), 2), (0.5**0.5, 0.5), (8**0.5, 8)):
        value = constant(np.float32(root))
        assert int(value.residue) ** 2 % PRIME == int(number(square).residue) and float(
            value.real
        ) == pytest.approx(root, abs=1e-15)
    one, two = constant(np.float32(-(2**0.5))), constant(np.float32(2**0.5))
    assert int((one + two).residue) == 0


@pytest.mark.parametrize(
    "wide, narrow, answer",
    [
        ("float32", "float16", True), ("float16", "bfloat16", False), ("float32", "bfloat16", True),
        ("float32", "int32", False), ("float64", "int32", True), ("float16", "int8", True),
        ("int32", "uint32", False), ("int64", "uint32", True), ("int32", "float16", False),
        ("uint8", "bool", True),
    ],
)
def test_types_that_hold_every_value(wide: str, narrow: str, answer: bool) -> None:
    assert holds(wide, narrow) is answer


def _cast(chain: list[str], value: Dual) -> object:
    graph = Graph("onnx")
    node = graph.add(INPUT, (), {}, TensorType(value.shape, chain[0]), "x")
    for to in chain[1:]:
        node = graph.add("Cast", (node,), {"to": to}, TensorType(value.shape, to))
    graph.set_outputs([node])
    return evaluate_onnx_in_field(graph, {"x": value}, set(), ONNX.get)[0]


def test_conversions() -> None:
    x = constant(np.array([-2.5, -1.0, 0.0, 0.75, 3.0]))
    assert np.array_equal(_cast(["float32", "int8"], x), [-2, -1, 0, 0, 3])  # type: ignore[arg-type]
    assert np.array_equal(_cast(["float32", "bool"], x), [True, True, False, True, True])  # type: ignore[arg-type]
    back, narrow = _cast(["float16", "float32", "float16"], x), _cast(["float32", "float16", "float32"], x)
    assert isinstance(back, Dual) and isinstance(narrow, Dual)
    assert np.array_equal(back.residue, x.residue) and not np.array_equal(narrow.residue, x.residue)
