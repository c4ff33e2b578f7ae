"""Contrib operators of onnxruntime: declared as it declares them, typed and computed as it does, written with
their domain.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import gslang
from gslang.dialect.dtypes import PLAIN, in_class
from gslang.dialect.load import load_dialect
from gslang.dialect.onnx.contrib import contrib_signatures, element_types_differ, of_one_type
from gslang.dialect.signature import REQUIRED, Signature
from gslang.dialect.tensor_type import UNKNOWN, Symbol, TensorType, TupleType, Type
from gslang.evaluate.errors import EvaluationError
from gslang.evaluate.run import evaluate
from tests.onnx.models import model, value

DOMAIN = "com.microsoft"
F = np.float32


def normal(*shape: int, seed: int = 0, dtype: Any = F) -> Any:
    return np.random.default_rng(seed + sum(shape)).standard_normal(shape).astype(dtype)


def codes(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).integers(0, 255, shape).astype(np.uint8)


def weights(*shape: int) -> Any:
    """Of seven bits: onnxruntime's products of bytes and signed bytes saturate on processors without VNNI."""
    return np.random.default_rng(0).integers(-64, 64, shape).astype(np.int8)


Q = (np.array(0.05, F), np.array(120, np.uint8))
WORDS = np.array([[1, 8, 0], [3, 3, 7]], np.int32)
ANGLES = np.outer(np.arange(8), 1 / 100 ** (np.arange(4) / 4)).astype(F)

CASES: list[tuple[str, list[Any], dict[str, Any], int]] = [
    ("FusedMatMul", [normal(2, 3, 4), normal(2, 5, 4)], {"transB": 1, "alpha": 0.5}, 1),
    ("FusedMatMul", [normal(2, 4, 3), normal(4, 5)], {"transA": 1}, 1),
    ("FusedMatMul", [normal(3, 2, 4), normal(2, 4, 5)], {"transBatchA": 1}, 1),
    ("FusedGemm", [normal(3, 4), normal(5, 4), normal(5)], {"transB": 1, "activation": "Relu"}, 1),
    (
        "FusedGemm", [normal(3, 4), normal(4, 5), normal(5)],
        {"activation": "LeakyRelu", "activation_alpha": 0.3}, 1,
    ),
    (
        "FusedConv", [normal(1, 3, 6, 6), normal(4, 3, 3, 3), normal(4)],
        {"activation": "Relu", "pads": [1, 1, 1, 1]}, 1,
    ),
    (
        "FusedConv", [normal(1, 3, 6, 6), normal(4, 3, 3, 3)],
        {"activation": "Clip", "activation_params": [0.0, 6.0], "strides": [2, 2]}, 1,
    ),
    ("Gelu", [normal(2, 5)], {}, 1), ("BiasGelu", [normal(2, 5), normal(5)], {}, 1),
    ("FastGelu", [normal(2, 5)], {}, 1), ("FastGelu", [normal(2, 5), normal(5)], {}, 1),
    ("QuickGelu", [normal(2, 5)], {"alpha": 1.5}, 1),
    (
        "SkipLayerNormalization", [normal(2, 3, 8), normal(2, 3, 8, seed=1), normal(8), normal(8, seed=2)],
        {"epsilon": 1e-5}, 1,
    ),
    (
        "SkipLayerNormalization",
        [normal(2, 3, 8), normal(2, 3, 8, seed=1), normal(8), normal(8, seed=2), normal(8, seed=3)], {}, 4,
    ),
    (
        "SkipSimplifiedLayerNormalization",
        [normal(2, 3, 8), normal(2, 3, 8, seed=1), normal(8), normal(8, seed=3)], {"epsilon": 1e-6}, 4,
    ),
    ("Attention", [normal(2, 3, 8), normal(8, 24), normal(24)], {"num_heads": 2}, 1),
    (
        "Attention", [normal(2, 3, 8), normal(8, 24), normal(24), np.array([[1, 1, 1], [1, 1, 0]], np.int32)],
        {"num_heads": 2}, 1,
    ),
    (
        "Attention", [normal(2, 3, 8), normal(8, 24), normal(24)],
        {"num_heads": 2, "unidirectional": 1, "scale": 0.3}, 1,
    ),
    ("MultiHeadAttention", [normal(2, 3, 8), normal(2, 5, 8), normal(2, 5, 8, seed=1)], {"num_heads": 2}, 1),
    (
        "MultiHeadAttention", [normal(2, 3, 8), normal(2, 3, 8, seed=4), normal(2, 3, 8, seed=1), normal(24)],
        {"num_heads": 2}, 1,
    ),
    (
        "MultiHeadAttention",
        [normal(2, 3, 8), normal(2, 5, 8), normal(2, 5, 8, seed=1), None, None, normal(2, 2, 3, 5)],
        {"num_heads": 2}, 1,
    ),
    (
        "MultiHeadAttention",
        [
            normal(2, 3, 8), normal(2, 3, 8, seed=4), normal(2, 3, 8, seed=1), None, None, normal(2, 2, 3, 7),
            normal(2, 2, 4, 4), normal(2, 2, 4, 4, seed=1),
        ],
        {"num_heads": 2}, 3,
    ),
    (
        "EmbedLayerNormalization",
        [WORDS, WORDS % 2, normal(9, 8), normal(5, 8), normal(2, 8), normal(8), normal(8, seed=1)], {}, 2,
    ),
    (
        "EmbedLayerNormalization",
        [WORDS, None, normal(9, 8), normal(5, 8), None, normal(8), normal(8, seed=1), None, WORDS[:1] % 5],
        {"epsilon": 1e-3}, 3,
    ),
    ("RotaryEmbedding", [normal(2, 2, 3, 8), np.array([0], np.int64), np.cos(ANGLES), np.sin(ANGLES)], {}, 1),
    (
        "RotaryEmbedding",
        [normal(2, 2, 3, 8), np.array([[0, 1, 2], [3, 1, 2]]), np.cos(ANGLES), np.sin(ANGLES)],
        {"interleaved": 1}, 1,
    ),
    ("RotaryEmbedding", [normal(2, 3, 16), np.array([2], np.int64), np.cos(ANGLES), np.sin(ANGLES)], {}, 1),
    ("QLinearAdd", [codes(2, 3), *Q, codes(3, seed=1), *Q, np.array(0.1, F), np.array(110, np.uint8)], {}, 1),
    ("QLinearMul", [codes(2, 3), *Q, codes(3, seed=1), *Q, np.array(0.1, F), np.array(110, np.uint8)], {}, 1),
    ("QLinearSigmoid", [codes(2, 3), *Q, np.array(1 / 256, F), np.array(0, np.uint8)], {}, 1),
    ("QLinearLeakyRelu", [codes(2, 3), *Q, *Q], {"alpha": 0.2}, 1),
    ("QLinearGlobalAveragePool", [codes(1, 3, 4, 4), *Q, *Q], {}, 1),
    (
        "QLinearConcat",
        [*Q, codes(2, 3), *Q, codes(2, 2, seed=1), np.array(0.1, F), np.array(110, np.uint8)], {"axis": 1}, 1,
    ),
    ("MatMulIntegerToFloat", [codes(2, 3, 4), codes(4, 5, seed=1), Q[0], Q[0], Q[1], Q[1], normal(5)], {}, 1),
    (
        "MatMulIntegerToFloat",
        [
            codes(3, 4), weights(4, 5), Q[0], np.linspace(0.1, 0.3, 5, dtype=F), Q[1],
            np.zeros(5, np.int8),
        ],
        {}, 1,
    ),
    ("DynamicQuantizeMatMul", [normal(2, 3, 4), codes(4, 5), *Q, normal(5)], {}, 1),
    ("DynamicQuantizeMatMul", [normal(3, 4), codes(4, 5), Q[0]], {}, 1),
    # values of another size than keys; a sequence of nothing
    (
        "Attention", [normal(2, 3, 4), normal(4, 8), normal(8)],
        {"num_heads": 2, "qkv_hidden_sizes": [2, 2, 4]}, 1,
    ),
    ("RotaryEmbedding", [normal(1, 2, 0, 8), np.array([0]), ANGLES, ANGLES], {}, 1),
    ("QuantizeLinear", [normal(2, 3), *Q], {"axis": 0}, 1),
    ("DequantizeLinear", [codes(2, 3), *Q], {"axis": 0}, 1), ("Inverse", [normal(3, 3)], {}, 1),
    ("Trilu", [normal(3, 3), np.array(1)], {"upper": 0}, 1),
]


def one_node(operator: str, operands: list[Any], attrs: dict[str, Any], results: int, opset: int = 17) -> Any:
    names = [f"x{k}" if value is not None else "" for k, value in enumerate(operands)]
    node = helper.make_node(operator, names, [f"y{k}" for k in range(results)], domain=DOMAIN, **attrs)
    weights = {f"x{k}": value for k, value in enumerate(operands) if value is not None and k}
    first = next(v for v in operands if v is not None)
    inputs = [value("x0", first.shape, helper.np_dtype_to_tensor_dtype(first.dtype))]
    outputs = [helper.make_empty_tensor_value_info(f"y{k}") for k in range(results)]
    found = model([node], inputs, outputs, weights, opset=opset)
    found.opset_import.append(helper.make_opsetid(DOMAIN, 1))
    return found


def run(found: Any, feeds: dict[str, Any]) -> list[Any]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(found.SerializeToString(), options, ["CPUExecutionProvider"])
    return list(session.run(None, feeds))


@pytest.mark.parametrize(
    ("operator", "operands", "attrs", "results"), CASES, ids=[f"{c[0]}-{k}" for k, c in enumerate(CASES)]
)
def test_computed_and_typed_as_onnxruntime_does(
    operator: str, operands: list[Any], attrs: dict[str, Any], results: int
) -> None:
    found = one_node(operator, operands, attrs, results)
    expected = run(found, {"x0": operands[0]})
    graph = gslang.from_onnx(found)
    dialect = load_dialect("onnx")
    actual = evaluate(graph, dialect, {"x0": operands[0]})
    call = next(n for n in graph.nodes() if graph.is_call(n))
    signature = dialect.operators[graph.op[call]]
    types = tuple([graph.types[o] if o >= 0 else None for o in graph.operands[call]])
    inferred = (
        dialect.infer[graph.op[call]](types, signature.complete(graph.attrs[call]), lambda k: None)
        if graph.op[call] in dialect.infer
        else None
    )
    fields = inferred.fields if isinstance(inferred, TupleType) else (inferred,)
    for k, (a, b) in enumerate(zip(actual, expected, strict=True)):
        if operator.startswith("Skip") and k in (1, 2):
            continue  # onnxruntime leaves these empty on a CPU
        if np.asarray(a).dtype.kind == "u":
            assert np.max(np.abs(a.astype(int) - b.astype(int))) <= 1
        else:
            np.testing.assert_allclose(a, b, rtol=2e-3, atol=2e-4)
        type = fields[k]
        if isinstance(type, TensorType):
            assert type.dtype == b.dtype.name and (type.shape is None or type.shape == b.shape)


def test_declared_as_onnxruntime_declares_them() -> None:
    from onnxruntime.capi.onnxruntime_pybind11_state import get_all_operator_schema

    schemas = {(s.domain, s.name): s for s in get_all_operator_schema()}
    ours = contrib_signatures()
    assert len(ours) > 45
    for signature in ours:
        domain, _, name = signature.name.rpartition(".")
        schema = schemas[domain, name]
        operands = [(o.name, o.optional, o.variadic) for o in signature.operands]
        theirs = [
            (f.name, str(f.option).endswith("Optional"), str(f.option).endswith("Variadic"))
            for f in schema.inputs
        ]
        assert theirs[: len(operands)] == operands, name
        assert set(signature.attributes) <= set(schema.attributes), name
        required = {key for key, spec in signature.attributes.items() if spec.default is REQUIRED}
        assert required == {key for key, spec in schema.attributes.items() if spec.required}, name
        assert (1 if isinstance(signature.results, str) else len(signature.results)) == len(schema.outputs), (
            name
        )


def schemas_of_ours() -> Iterator[tuple[Signature, list[str], dict[str, frozenset[str]]]]:
    """Signature, the type of each operand as onnxruntime states it, and the element types that it means."""
    from onnxruntime.capi.onnxruntime_pybind11_state import get_all_operator_schema

    schemas = {(s.domain, s.name): s for s in get_all_operator_schema()}
    for signature in contrib_signatures():
        domain, _, name = signature.name.rpartition(".")
        schema = schemas[domain, name]
        stated = [f.typeStr for f in schema.inputs][: len(signature.operands)]
        taken = {c.type_param_str: frozenset(c.allowed_type_strs) for c in schema.type_constraints}
        names = {
            text: frozenset(SPELT.get(t, t) for t in (u[7:-1] for u in taken.get(text, {text})))
            for text in stated
        }
        yield signature, stated, names


SPELT = {"float": "float32", "double": "float64"}
NARROWER = ("com.microsoft.FusedGemm",)  # whose schema has Gemm's whole numbers; no provider computes them


def test_element_types_are_those_of_the_schemas() -> None:
    """Of each operand: exactly those that a schema restricts it to."""
    for signature, stated, names in schemas_of_ours():
        for operand, text in zip(signature.operands, stated, strict=True):
            allowed = names[text]
            ours = {t for t in PLAIN | allowed | {"bfloat16"} if any(in_class(t, c) for c in operand.dtypes)}
            if allowed >= PLAIN and not operand.dtypes:
                continue
            assert ours == allowed or signature.name in NARROWER and ours <= allowed | {"bfloat16"}, (
                signature.name, operand.name
            )


def test_operands_of_one_element_type_are_those_of_the_schemas() -> None:
    for signature, stated, _ in schemas_of_ours():
        several = [text for text, o in zip(stated, signature.operands) if not o.variadic]
        for k, text in enumerate(several):
            alike = [j for j, other in enumerate(several) if j != k and other == text and "(" not in text]
            assert [j for j in range(len(several)) if of_one_type(signature.name, k, j)] == alike


def test_operands_of_different_element_types_are_refused() -> None:
    floats, name = ["float32", "float32", "float16"], "com.microsoft.SkipGroupNorm"
    assert element_types_differ(name, floats) == f"operands of `{name}` are float32 and float16"
    assert element_types_differ(name, ["float32", "float16", "float16", None, "float32"]) is None
    assert element_types_differ("MatMul", floats) is None


@pytest.mark.parametrize("dtype, fused", [("float32", True), ("float64", False)])
def test_none_is_made_of_element_types_that_it_does_not_take(dtype: str, fused: bool) -> None:
    """onnxruntime would not load such a model."""
    element, shape = helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), (2, 3, 4)
    found = model(
        [
            helper.make_node("Add", ["x", "y"], ["s"]),
            helper.make_node("LayerNormalization", ["s", "g"], ["z"]),
        ],
        [value("x", shape, element), value("y", shape, element)], [value("z", shape, element)],
        {"g": np.ones(4, dtype)},
    )
    result = gslang.load("std.onnxruntime").apply(
        gslang.from_onnx(found), rules=["ms_skip_layer_norm"]
    )
    after = gslang.to_onnx(result.graph)
    assert any(node.domain == DOMAIN for node in after.graph.node) == fused
    pytest.importorskip("onnxruntime").InferenceSession(after.SerializeToString())


def test_a_rule_that_makes_one_adds_its_domain() -> None:
    found = model(
        [helper.make_node("MatMul", ["x", "w"], ["m"]), helper.make_node("Mul", ["m", "half"], ["y"])],
        [value("x")], [value("y", (2, 4))], {"w": normal(3, 4), "half": np.array(0.5, F)},
    )
    rules = gslang.parse_rules(
        "dialect onnx;\nrule r(a, b, s: const): MatMul(a, b) * s where s.shape == () => "
        "com.microsoft.FusedMatMul(a, b, alpha = s.value);"
    )
    result = rules.apply(gslang.from_onnx(found))
    after = gslang.to_onnx(result.graph)
    assert [(n.domain, n.op_type) for n in after.graph.node] == [(DOMAIN, "FusedMatMul")]
    assert {e.domain: e.version for e in after.opset_import} == {"": 17, DOMAIN: 1}
    onnx.checker.check_model(after)
    x = normal(2, 3)
    np.testing.assert_allclose(run(after, {"x": x})[0], run(found, {"x": x})[0], rtol=1e-5)


def test_types_behind_a_contrib_operator_are_known() -> None:
    """The `onnx` package infers nothing for foreign domains, nor for what comes after them."""
    found = one_node("SkipLayerNormalization", [normal(2, 3, 8), normal(2, 3, 8), normal(8)], {}, 1)
    found.graph.node.append(helper.make_node("Transpose", ["y0"], ["z"], perm=[0, 2, 1]))
    found.graph.output[0].name = "z"
    graph = gslang.from_onnx(found)
    assert graph.types[graph.outputs[0]] == TensorType((2, 8, 3), "float32")
    assert gslang.to_onnx(graph) == found


@pytest.mark.parametrize(
    "inner, rows", [(1, [0, 0, 1, 1]), (0, [0, 1, 0, 1])], ids=["inner", "outer"]
)
def test_bias_of_a_softmax(inner: int, rows: list[int]) -> None:
    """onnxruntime computes it on graphics processors only: rows by hand."""
    x, bias = normal(4, 2), np.log(np.array([[1, 3], [7, 1]], F))
    found = one_node("BiasSoftmax", [np.zeros_like(x), bias], {"axis": 1, "is_inner_broadcast": inner}, 1)
    (actual,) = evaluate(gslang.from_onnx(found), load_dialect("onnx"), {"x0": np.zeros_like(x)})
    assert np.allclose(actual, np.array([[0.25, 0.75], [0.875, 0.125]])[rows])
    together = one_node("BiasSoftmax", [normal(2, 2), bias], {"axis": -2, "is_inner_broadcast": inner}, 1)
    (actual,) = evaluate(gslang.from_onnx(together), load_dialect("onnx"), {"x0": np.zeros((2, 2), F)})
    assert np.allclose(actual, np.array([[1, 3], [7, 1]]) / 12)


def test_the_type_of_a_join_of_quantized_tensors() -> None:
    n = Symbol("n")
    infer = load_dialect("onnx").infer["com.microsoft.QLinearConcat"]
    for shapes, axis, expected in (
        (((n, UNKNOWN, 4), (n, 7, 2)), -1, (n, 7, 6)),
        (((n, UNKNOWN, 4), (n, 7, 4)), 1, (n, UNKNOWN, 4)),
    ):
        given: list[Type | None] = [None, None]
        for shape in shapes:
            given += [TensorType(shape, "uint8"), None, None]
        assert infer(tuple(given), {"axis": axis}, lambda k: None) == TensorType(expected, "uint8")


def test_half_precision() -> None:
    x = normal(2, 5, dtype=np.float16)
    found = one_node("BiasGelu", [x, normal(5, dtype=np.float16)], {}, 1)
    (actual,) = evaluate(gslang.from_onnx(found), load_dialect("onnx"), {"x0": x})
    assert actual.dtype == np.float16
    assert numpy_helper.from_array(actual).data_type == onnx.TensorProto.FLOAT16


@pytest.mark.parametrize("keys, added", [(1, (1, 1, 1, 2)), (2, (2, 2, 3, 2))])
def test_numbers_of_keys_and_scores_are_not_broadcast(keys: int, added: tuple[int, ...]) -> None:
    operands = [normal(1, 3, 6), normal(1, keys, 6), normal(1, 2, 6), None, None, normal(*added)]
    found = one_node("MultiHeadAttention", operands, {"num_heads": 2}, 1)
    with pytest.raises(EvaluationError, match="scores|not broadcast"):
        evaluate(gslang.from_onnx(found), load_dialect("onnx"), {"x0": operands[0]})
    with pytest.raises(Exception, match="(?i)invalid|expect|dim"):
        run(found, {"x0": operands[0]})
