"""Operators that the evaluator computes otherwise than the reference implementation does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

import gslang
from gslang.dialect.load import load_dialect
from gslang.dialect.tensor_type import TensorType, TupleType
from gslang.evaluate.errors import EvaluationError
from gslang.evaluate.run import evaluate, evaluate_node
from gslang.graph.graph import INPUT, Graph
from tests.onnx.models import model, value

LARGE = 2**62 + 1  # no float


@pytest.mark.parametrize(
    "axes, attrs, expected",
    [
        ([1], {}, [[LARGE], [-2]]), ([-1], {"keepdims": 0}, [LARGE, -2]), ([0], {}, [[2**61, 2**61 - 2]]),
        ([], {"keepdims": 0}, (2 * LARGE - 5) // 4),
        ([], {"noop_with_empty_axes": 1}, [[LARGE, LARGE], [0, -5]]),
    ],
)  # fmt: skip
def test_the_mean_of_whole_numbers_is_exact(axes: list[int], attrs: dict[str, Any], expected: object) -> None:
    x = np.array([[LARGE, LARGE], [0, -5]])
    graph = Graph("onnx")
    nodes = [
        graph.add(INPUT, (), {}, TensorType(shape, "int64"), name)
        for name, shape in (("x", x.shape), ("axes", (len(axes),)))
    ]
    node = graph.add("ReduceMean", tuple(nodes), attrs, None)
    found: Any = evaluate_node(graph, load_dialect("onnx"), node, [x, np.array(axes, np.int64)])
    assert found.dtype == np.int64 and found.tolist() == expected


@pytest.mark.parametrize("operator, expected", [("Softsign", 0.75), ("ReduceLogSumExp", 3.0)])
def test_numbers_without_dimensions_are_computed(operator: str, expected: float) -> None:
    graph = Graph("onnx")
    x = graph.add(INPUT, (), {}, TensorType((), "float32"), "x")
    node = graph.add(operator, (x,), {}, None)
    found: Any = evaluate_node(graph, load_dialect("onnx"), node, [np.array(3.0, np.float32)])
    assert (found.dtype, found.shape, float(found)) == (np.float32, (), expected)


def computed(operator: str, operands: list[Any], attrs: dict[str, Any]) -> Any:
    graph = Graph("onnx")
    nodes = [
        graph.add(INPUT, (), {}, TensorType(x.shape, x.dtype.name), f"x{k}") for k, x in enumerate(operands)
    ]
    node = graph.add(operator, tuple(nodes), attrs, None)
    return evaluate_node(graph, load_dialect("onnx"), node, operands)


def wrapped(*numbers: int) -> list[int]:
    return [(n + 2**63) % 2**64 - 2**63 for n in numbers]


@pytest.mark.parametrize(
    "exponent, expected",
    [
        (np.float32(1), [LARGE, -3]), (np.float64(2), wrapped(LARGE**2, 9)),
        (np.int32(2), wrapped(LARGE**2, 9)), (np.float32(0), [1, 1]), (np.float32(-1), [0, 0]),
    ],
)  # fmt: skip
def test_powers_of_whole_numbers_wrap(exponent: Any, expected: list[int]) -> None:
    found = computed("Pow", [np.array([LARGE, -3]), np.array(exponent)], {})
    assert found.dtype == np.int64 and found.tolist() == expected


@pytest.mark.parametrize(
    "attrs, expected",
    [
        ({}, [LARGE + 6, LARGE + 8]), ({"transB": 1}, [LARGE + 4, 3 * LARGE + 8]),
        ({"alpha": 2.0, "beta": -1.0}, [2 * LARGE + 3, 2 * LARGE + 1]),
    ],
)  # fmt: skip
def test_products_of_whole_numbers_wrap(attrs: dict[str, Any], expected: list[int]) -> None:
    a, b, c = np.array([[LARGE, 1]]), np.array([[1, 1], [3, 3]]), np.array([[3, 5]])
    found = computed("Gemm", [a, b, c], attrs)
    assert found.dtype == np.int64 and found.tolist() == [wrapped(*expected)]


@pytest.mark.parametrize("shape, fits", [((2, 1), False), ((5, 1), True), ((2,), True), ((1, 5, 2), False)])
def test_a_sum_of_other_dimensions_is_refused_even_times_zero(shape: tuple[int, ...], fits: bool) -> None:
    a, b, c = (np.ones(s, np.float32) for s in ((5, 3), (3, 2), shape))
    if fits:
        assert computed("Gemm", [a, b, c], {"beta": 0.0}).tolist() == [[3.0] * 2] * 5
    else:
        with pytest.raises(EvaluationError, match="does not broadcast"):
            computed("Gemm", [a, b, c], {"beta": 0.0})


@pytest.mark.parametrize("dtype", ["int8", "uint8", "float32"])
@pytest.mark.parametrize(
    "attrs", [{"pads": (1, 0, 1, 1)}, {"auto_pad": "SAME_LOWER"}, {"strides": (2, 2), "ceil_mode": 1}]
)
def test_the_largest_of_whole_numbers_beside_padding(dtype: str, attrs: dict[str, Any]) -> None:
    """The reference pads with NaN, which no integer is."""
    x = np.arange(-12, 13).reshape(1, 1, 5, 5).astype(dtype)
    found = computed("MaxPool", [x], {"kernel_shape": (2, 2), **attrs})
    wanted = computed("MaxPool", [x.astype(np.float64)], {"kernel_shape": (2, 2), **attrs})
    assert found.dtype == np.dtype(dtype) and found.tolist() == wanted.tolist()


@pytest.mark.parametrize("dilations", [None, (1,)])
@pytest.mark.parametrize(
    ("mode", "stride", "expected"),
    [
        ("SAME_UPPER", 1, [3, 2, 5, 5, 4]), ("SAME_LOWER", 1, [3, 3, 2, 5, 5]),
        ("SAME_UPPER", 2, [3, 5, 4]), ("SAME_LOWER", 2, [3, 2, 5]),
    ],
)  # fmt: skip
def test_pools_of_one_axis_that_keep_its_size(
    mode: str, stride: int, expected: list[int], dilations: tuple[int] | None
) -> None:
    """The reference fails for strides of 1, and pads the wrong end for others."""
    x = np.array([[[3, 1, 2, 5, 4]]], np.float32)
    attrs = {"kernel_shape": (2,), "auto_pad": mode, "strides": (stride,), "dilations": dilations}
    assert computed("MaxPool", [x], attrs).tolist() == [[expected]]


@pytest.mark.parametrize("image", [(6,), (5, 4)])
@pytest.mark.parametrize("channels", [(), (3,)])
@pytest.mark.parametrize("zero", [0, 1])
def test_quantized_convolutions_round_as_onnxruntime_does(
    image: tuple[int, ...], channels: tuple[int, ...], zero: int
) -> None:
    """Before the zero point is added: where it is odd, ties go another way behind it."""
    from onnxruntime import InferenceSession

    rng = np.random.default_rng(0)
    scale = np.float32(0.125)
    operands = [
        rng.integers(0, 4, (2, 2, *image), np.uint8), scale, np.uint8(zero),
        rng.integers(-4, 4, (3, 2, *(2 for _ in image)), np.int8),
        rng.choice([np.float32(0.5), np.float32(1)], channels), np.zeros(channels, np.int8),
        np.float32(0.25), np.uint8(zero), rng.integers(-8, 8, 3, np.int32),
    ]
    attrs = {"auto_pad": "SAME_LOWER", "strides": (1,) * len(image)}
    operands = [np.asarray(x) for x in operands]
    found = model(
        [helper.make_node("QLinearConv", [f"x{k}" for k in range(9)], ["y"], **attrs)],
        [value(f"x{k}", x.shape, helper.np_dtype_to_tensor_dtype(x.dtype)) for k, x in enumerate(operands)],
        [value("y", (2, 3, *image), TensorProto.UINT8)],
    )
    session = InferenceSession(found.SerializeToString(), providers=["CPUExecutionProvider"])
    (expected,) = session.run(None, {f"x{k}": x for k, x in enumerate(operands)})
    np.testing.assert_array_equal(computed("QLinearConv", operands, attrs), expected)


def test_a_scale_of_one_element_gives_a_result_no_dimensions() -> None:
    one, zero = np.array([0.5], np.float32), np.array([1], np.uint8)
    x = np.array(7, np.uint8)
    found = computed("com.microsoft.QLinearSigmoid", [x, one, zero, one, zero], {})
    assert (found.shape, int(found)) == ((), 3)


@pytest.mark.parametrize(
    "attrs, zero, expected",
    [
        ({}, np.array(254, np.uint8), [255, 0, 255, 0, 254, 255]),
        ({}, None, [255, 0, 255, 0, 0, 2]),
        ({"output_dtype": TensorProto.INT16}, None, [32767, -32768, 32767, -32768, 0, 2]),
        ({"precision": TensorProto.FLOAT16}, np.array([-3] * 6, np.int8), [127, -128, 127, -128, -3, -1]),
    ],
)
def test_what_overflows_has_the_last_code(attrs: dict[str, Any], zero: Any, expected: list[int]) -> None:
    x = np.array([3e38, -3e38, np.inf, -4e9, 0.06, 0.2], np.float32)
    if zero is not None and zero.ndim:
        attrs = {**attrs, "axis": 0}
    scale = np.full(() if zero is None or not zero.ndim else 6, 0.125, np.float32)
    found = computed("QuantizeLinear", [x, scale, *([] if zero is None else [zero])], attrs)
    assert found.tolist() == expected


@pytest.mark.parametrize("block, axis", [(None, 1), (2, 1), (3, 0)])
def test_codes_are_those_of_the_reference(block: int | None, axis: int) -> None:
    from onnx.reference import ReferenceEvaluator

    rng = np.random.default_rng(5)
    x = rng.normal(0, 9, (6, 4)).astype(np.float32)
    count = {None: (4,), 2: (6, 2), 3: (2, 4)}[block]
    scale = rng.choice([0.5, 0.25, 1.5], count).astype(np.float32)
    zero = rng.integers(-9, 9, count).astype(np.int8)
    attrs = {"axis": axis, **({} if block is None else {"block_size": block})}
    node = helper.make_node("QuantizeLinear", ["x", "s", "z"], ["y"], **attrs)
    (expected,) = ReferenceEvaluator(node).run(None, {"x": x, "s": scale, "z": zero})
    found = computed("QuantizeLinear", [x, scale, zero], attrs)
    assert found.dtype == np.int8 and found.tolist() == expected.tolist()


@pytest.mark.parametrize(
    "sizes, attrs, expected, places",
    [
        ([3], {"kernel_shape": (2,), "pads": (1, 0)}, [0, 1, 2], [0, 1, 2]),
        ([1], {"kernel_shape": (3,), "pads": (1, 1), "strides": (1,)}, [0], [0]),
        ([2, 2], {"kernel_shape": (2, 1), "pads": (0, 0, 1, 0)}, [[2, 3], [2, 3]], [[2, 3], [2, 3]]),
        ([2, 3], {"kernel_shape": (1, 2), "storage_order": 1}, [[1, 2], [4, 5]], [[2, 4], [3, 5]]),
        ([5], {"kernel_shape": (2,), "strides": (2,), "ceil_mode": 1}, [1, 3, 4], [1, 3, 4]),
        ([4], {"kernel_shape": (2,), "dilations": (2,)}, [2, 3], [2, 3]),
        ([4], {"kernel_shape": (2,), "auto_pad": "SAME_LOWER"}, [0, 1, 2, 3], [0, 1, 2, 3]),
    ],
)  # fmt: skip
def test_the_largest_element_of_each_window(
    sizes: list[int], attrs: dict[str, Any], expected: list[Any], places: list[Any]
) -> None:
    x = np.arange(np.prod(sizes), dtype=np.float32).reshape(1, 1, *sizes)
    graph = Graph("onnx")
    node = graph.add("MaxPool", (graph.add(INPUT, (), {}, TensorType(x.shape, "float32"), "x"),), attrs, None)
    graph.types[node] = TupleType((TensorType(None, "float32"), TensorType(None, "int64")))
    values, indices = evaluate_node(graph, load_dialect("onnx"), node, [x])
    assert values[0, 0].tolist() == expected and indices[0, 0].tolist() == places


def refused(operator: str, shapes: list[tuple[int, ...]], attrs: dict[str, Any]) -> str:
    """The reason for which a call of an operator is not computed for tensors of zeros of these shapes."""
    graph = Graph("onnx")
    dtypes = ["float32", *["int64" if operator == "GatherElements" else "float32"] * (len(shapes) - 1)]
    nodes = [
        graph.add(INPUT, (), {}, TensorType(shape, dtype), f"x{k}")
        for k, (shape, dtype) in enumerate(zip(shapes, dtypes))
    ]
    node = graph.add(operator, tuple(nodes), attrs, None)
    values = [np.zeros(shape, dtype) for shape, dtype in zip(shapes, dtypes)]
    with pytest.raises(EvaluationError) as error:
        evaluate_node(graph, load_dialect("onnx"), node, values)
    return str(error.value)


@pytest.mark.parametrize(
    "operator, shapes, attrs",
    [
        ("GatherElements", [(1, 5), (2, 5)], {"axis": 1}),
        ("Attention", [(1, 2, 3, 4), (1, 2, 1, 4), (1, 2, 5, 4), (3, 5)], {}),
        ("ConvTranspose", [(1, 4, 3), (4, 1, 2), (1,)], {"group": 2}),
        ("Conv", [(1, 4, 3), (4, 2, 2), (1,)], {"group": 2}),
    ],
)
def test_what_numpy_would_broadcast_is_refused(
    operator: str, shapes: list[tuple[int, ...]], attrs: dict[str, Any]
) -> None:
    assert "broadcast" in refused(operator, shapes, attrs)


def test_norms_of_half_precision_square_in_float32() -> None:
    graph = Graph("onnx")
    nodes = [graph.add(INPUT, (), {}, TensorType((2,), "float16"), name) for name in "xs"]
    node = graph.add("RMSNormalization", tuple(nodes), {"epsilon": 65536.0}, None)
    found = evaluate_node(
        graph, load_dialect("onnx"), node, [np.array([3e4, -3e4], "float16"), np.array([1, 2], "float16")]
    )
    assert found.dtype == np.float16 and np.allclose(found, [1, -2], atol=2e-3)


@pytest.mark.parametrize("like", [False, True])
def test_numbers_of_eight_bits_are_not_cut_off(like: bool) -> None:
    """By `Cast`, and by `CastLike`, to float8 and back: these are representable."""
    to = [helper.make_node("Cast", ["x"], ["z"], to=TensorProto.FLOAT8E4M3FN)]
    alike = helper.make_node("CastLike", ["x", "z"], ["o"])
    if not like:
        alike = helper.make_node("Identity", ["z"], ["o"])
    back = helper.make_node("Cast", ["o"], ["y"], to=TensorProto.FLOAT)
    made = model([*to, alike, back], [value("x", [2])], [value("y", [2])], opset=21, ir=10)
    graph = gslang.from_onnx(made)
    (found,) = evaluate(graph, load_dialect("onnx"), {"x": np.array([1.5, 2.25], np.float32)})
    assert found.tolist() == [1.5, 2.25]
