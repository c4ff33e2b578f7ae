"""The evaluator against ONNX's reference evaluator, an independent implementation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from gslang.dialect.load import load_dialect
from gslang.dialect.tensor_type import TensorType
from gslang.evaluate.relay import EVALUATE

RELAY = load_dialect("relay")


def onnx_value(op: str, inputs: list[Any], outputs: int = 1, **attrs: Any) -> Any:
    names = [f"i{k}" for k in range(len(inputs))]
    node = helper.make_node(
        op, [n if v is not None else "" for n, v in zip(names, inputs)], [f"o{k}" for k in range(outputs)],
        **attrs,
    )
    present = [(n, v) for n, v in zip(names, inputs) if v is not None]
    graph = helper.make_graph(
        [node], "g",
        [
            helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
            for n, v in present
        ],
        [helper.make_tensor_value_info(f"o{k}", TensorProto.DOUBLE, None) for k in range(outputs)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    return ReferenceEvaluator(model).run(None, dict(present))[0]


def ours(op: str, operands: list[Any], **attrs: Any) -> Any:
    """The evaluator's value; the inferred type must be that of the value."""
    complete = RELAY.operators[op].complete(attrs)
    value = EVALUATE[op](operands, complete)
    types = tuple(None if o is None else TensorType(tuple(o.shape), o.dtype.name) for o in operands)
    inferred = RELAY.infer[op](types, complete, lambda k: None)
    if isinstance(value, np.ndarray):
        assert inferred == TensorType(value.shape, value.dtype.name)
    return value


def check(mine: Any, theirs: Any) -> None:
    np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-10)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 2), st.integers(1, 3), st.integers(1, 2), st.integers(1, 2),
    st.tuples(*[st.integers(1, 3)] * 2), st.tuples(*[st.integers(1, 2)] * 2),
    st.tuples(*[st.integers(1, 2)] * 2), st.tuples(*[st.integers(0, 2)] * 4), st.integers(0, 99),
)
def test_conv2d(
    n: int,
    groups: int,
    inner: int,
    outer: int,
    kernel: Any,
    strides: Any,
    dilation: Any,
    pads: Any,
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, groups * inner, 7, 8))
    w = rng.standard_normal((groups * outer, inner, *kernel))
    mine = ours("nn.conv2d", [x, w], groups=groups, strides=strides, dilation=dilation, padding=pads)
    check(mine, onnx_value("Conv", [x, w], group=groups, strides=strides, dilations=dilation, pads=pads))
    nhwc = ours(
        "nn.conv2d", [x.transpose(0, 2, 3, 1), w.transpose(2, 3, 1, 0)], groups=groups, strides=strides,
        dilation=dilation, padding=pads, data_layout="NHWC", kernel_layout="HWIO",
    )
    check(nhwc.transpose(0, 3, 1, 2), mine)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_conv_ranks(rank: int) -> None:
    rng = np.random.default_rng(rank)
    x, w = rng.standard_normal((2, 4, *[6] * rank)), rng.standard_normal((6, 2, *[3] * rank))
    mine = ours(f"nn.conv{rank}d", [x, w], groups=2, padding=(1,) * rank, strides=(2,) * rank)
    check(mine, onnx_value("Conv", [x, w], group=2, pads=(1,) * (2 * rank), strides=(2,) * rank))


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("groups", [1, 2])
def test_conv_transpose(rank: int, groups: int) -> None:
    rng = np.random.default_rng(rank)
    x, w = rng.standard_normal((1, 4, *[4] * rank)), rng.standard_normal((4, 3, *[3] * rank))
    mine = ours(
        f"nn.conv{rank}d_transpose", [x, w], groups=groups, strides=(2,) * rank, padding=(1,) * rank,
        output_padding=(1,) * rank,
    )
    parts = [  # group by group, since the reference has one group only
        onnx_value(
            "ConvTranspose", [a, b], strides=(2,) * rank, pads=(1,) * (2 * rank), output_padding=(1,) * rank
        )
        for a, b in zip(np.split(x, groups, 1), np.split(w, groups, 0))
    ]
    check(mine, np.concatenate(parts, 1))


@pytest.mark.parametrize("ceil", [False, True])
@pytest.mark.parametrize("include", [False, True])
def test_pools(ceil: bool, include: bool) -> None:
    x = np.random.default_rng(1).standard_normal((2, 3, 7, 8))
    shape = {"pool_size": (3, 3), "strides": (2, 2), "padding": (1, 1, 1, 1), "ceil_mode": ceil}
    theirs = {"kernel_shape": (3, 3), "strides": (2, 2), "pads": (1, 1, 1, 1), "ceil_mode": int(ceil)}
    check(ours("nn.max_pool2d", [x], **shape), onnx_value("MaxPool", [x], **theirs))
    if not ceil:  # with ceil_mode ONNX counts the rest differently from Relay when padding is included
        check(
            ours("nn.avg_pool2d", [x], **shape, count_include_pad=include),
            onnx_value("AveragePool", [x], **theirs, count_include_pad=int(include)),
        )
    check(ours("nn.global_avg_pool2d", [x]), onnx_value("GlobalAveragePool", [x]))


def test_normalisations() -> None:
    rng = np.random.default_rng(2)
    x = rng.standard_normal((2, 4, 3, 5))
    g, b, m, v = rng.standard_normal(4), rng.standard_normal(4), rng.standard_normal(4), rng.random(4) + 0.5
    check(EVALUATE["nn.batch_norm"]([x, g, b, m, v], RELAY.operators["nn.batch_norm"].complete({}))[0],
          onnx_value("BatchNormalization", [x, g, b, m, v], epsilon=1e-5))  # fmt: skip
    check(ours("nn.instance_norm", [x, g, b]), onnx_value("InstanceNormalization", [x, g, b], epsilon=1e-5))
    g5, b5 = rng.standard_normal(5), rng.standard_normal(5)
    check(
        ours("nn.layer_norm", [x, g5, b5]),
        onnx_value("LayerNormalization", [x, g5, b5], axis=-1, epsilon=1e-5),
    )


def test_lrn_by_hand() -> None:
    x = np.random.default_rng(8).standard_normal((2, 4, 3))
    expected = np.empty_like(x)
    for c in range(4):
        near = x[:, max(0, c - 1) : c + 2]
        expected[:, c] = x[:, c] / (2 + 0.3 / 3 * (near**2).sum(axis=1)) ** 0.75
    check(ours("nn.lrn", [x], size=3, alpha=0.3), expected)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_softmax(axis: int) -> None:
    x = np.random.default_rng(3).standard_normal((3, 4, 5))
    check(ours("nn.softmax", [x], axis=axis), onnx_value("Softmax", [x], axis=axis))
    check(ours("nn.log_softmax", [x], axis=axis), onnx_value("LogSoftmax", [x], axis=axis))


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        ("exp", "Exp"), ("tanh", "Tanh"), ("sigmoid", "Sigmoid"), ("abs", "Abs"), ("negative", "Neg"),
        ("nn.relu", "Relu"), ("floor", "Floor"), ("ceil", "Ceil"), ("sin", "Sin"), ("cos", "Cos"),
        ("atan", "Atan"), ("sinh", "Sinh"), ("asinh", "Asinh"), ("sign", "Sign"),
    ],
)
def test_unary(mine: str, theirs: str) -> None:
    x = np.random.default_rng(4).standard_normal((3, 4)) * 3
    check(ours(mine, [x]), onnx_value(theirs, [x]))


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [("sum", "ReduceSum"), ("mean", "ReduceMean"), ("max", "ReduceMax"), ("prod", "ReduceProd")],
)
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions(mine: str, theirs: str, keepdims: bool) -> None:
    x = np.random.default_rng(5).standard_normal((2, 3, 4))
    axes = np.array([0, 2], dtype=np.int64)
    check(
        ours(mine, [x], axis=(0, 2), keepdims=keepdims), onnx_value(theirs, [x, axes], keepdims=int(keepdims))
    )
    np.testing.assert_allclose(
        ours(mine, [x], axis=(1,), exclude=True, keepdims=keepdims),
        ours(mine, [x], axis=(0, 2), keepdims=keepdims),
    )


def test_movement() -> None:
    rng = np.random.default_rng(6)
    x = rng.standard_normal((1, 8, 4, 6))
    check(ours("nn.depth_to_space", [x], block_size=2), onnx_value("DepthToSpace", [x], blocksize=2))
    check(
        ours("nn.depth_to_space", [x], block_size=2, mode="CRD"),
        onnx_value("DepthToSpace", [x], blocksize=2, mode="CRD"),
    )
    check(ours("nn.space_to_depth", [x], block_size=2), onnx_value("SpaceToDepth", [x], blocksize=2))
    check(
        ours("nn.pad", [x], pad_width=((0, 0), (0, 0), (1, 2), (0, 3))),
        np.pad(x, ((0, 0), (0, 0), (1, 2), (0, 3))),
    )
    check(
        ours("strided_slice", [x], begin=(0, 7, 3), end=(1, 0, -5), strides=(1, -2, -1)),
        x[0:1, 7:0:-2, 3:-5:-1],
    )
    blocked = ours("layout_transform", [x], src_layout="NCHW", dst_layout="NCHW4c")
    check(blocked, x.reshape(1, 2, 4, 4, 6).transpose(0, 1, 3, 4, 2))
    check(
        ours("layout_transform", [blocked], src_layout="NCHW4c", dst_layout="NHWC"), x.transpose(0, 2, 3, 1)
    )
    check(
        ours("image.resize2d", [x], size=(8, 9)),
        onnx_value("Resize", [x, None, None, np.array([1, 8, 8, 9])], mode="linear"),
    )


def test_integer_division_truncates() -> None:
    a, b = np.array([7, -7, 7, -7]), np.array([2, 2, -2, -2])
    assert ours("divide", [a, b]).tolist() == [3, -3, -3, 3]
    assert ours("floor_divide", [a, b]).tolist() == [3, -4, -4, 3]
    assert ours("mod", [a, b]).tolist() == [1, -1, 1, -1]


def test_erf_to_double_precision() -> None:
    import math

    x = np.linspace(-7, 7, 20001)
    assert np.abs(EVALUATE["erf"]([x], {}) - np.array([math.erf(v) for v in x])).max() < 1e-15


