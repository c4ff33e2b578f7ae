"""Own kernels of ONNX operators give what the reference implementation of the `onnx` package gives, bit by
bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

from gslang.dialect.onnx.attributes import attribute_message
from gslang.dialect.onnx.package_schemas import newest
from gslang.dialect.onnx.tensors import OnnxTensor
from gslang.evaluate.onnx_kernels import _KERNELS, kernel_value

Case = tuple[str, list[Any], Mapping[str, Any]]
DRAW = np.random.default_rng(0)


def some(dtype: str, *shape: int) -> Any:
    """Numbers of both signs, zeros among them."""
    values = DRAW.integers(-4, 5, shape) * (1 if dtype.startswith("int") else 0.37)
    return np.asarray(values > 0 if dtype == "bool" else values).astype(dtype)


def ints(*values: int) -> Any:
    return np.array(values, np.int64)


def cases() -> list[Case]:
    found: list[Case] = []
    for dtype in ("float16", "float32", "float64", "int32", "int64"):
        for a, b in (((2, 3), (3,)), ((), ()), ((0, 3), (1, 3)), ((4, 1), (1, 5))):
            found += [
                (operator, [some(dtype, *a), some(dtype, *b)], {})
                for operator in (
                    "Add", "Sub", "Mul", "Div", "Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual",
                    "Pow",
                )
            ]
        kinds = ["Abs", "Neg", "Identity", "Relu"]
        kinds += ["Reciprocal", "Sqrt"] if dtype.startswith("float") else []
        found += [(operator, [some(dtype, *shape)], {}) for operator in kinds for shape in ((), (2, 3))]
        found += [
            ("Cast", [some(dtype, 2, 3)], {"to": to})
            for to in ("float16", "float32", "int64", "int8", "bool")
        ]
        found.append(("Range", [np.array(k, dtype) for k in (1, 9, 3)], {}))
        found.append(("Where", [some("bool", 2, 1), some(dtype, 3), some(dtype, 2, 3)], {}))
    found += [(operator, [some("bool", 2, 3), some("bool", 3)], {}) for operator in ("And", "Or")]
    found.append(("Not", [some("bool", 2, 3)], {}))
    x = some("float32", 2, 3, 4)
    found += [("Transpose", [x], attrs) for attrs in ({}, {"perm": (2, 0, 1)}, {"perm": (1, 0)})]
    found += [("Concat", [x, x], {"axis": axis}) for axis in (0, 2, -1, 3)]
    found += [("Concat", [x, some("float32", 2, 1, 4), some("float32", 2, 0, 4)], {"axis": 1})]
    found += [("Expand", [some("float32", 3, 1), ints(2, 1, 4)], {}), ("Expand", [x, ints(7)], {})]
    found += [("Gather", [x, ints(1, -1)], {"axis": axis}) for axis in (1, -1)]
    found += [("Gather", [x, np.array(1)], {}), ("Gather", [x, ints(9)], {})]
    found += [
        ("Reshape", [x, ints(*sizes)], attrs)
        for sizes in ((4, -1), (0, -1), (0, 0, 4, 1), (5, 5), (24,)) for attrs in ({}, {"allowzero": 1})
    ]
    found += [
        ("Reshape", [some("float32", 0, 3), ints(0, 4)], {"allowzero": 1}), ("Size", [x], {}),
        ("Squeeze", [some("float32", 1, 3, 1)], {}), ("Squeeze", [x, ints(0)], {}),
        ("Squeeze", [some("float32", 1, 3, 1), ints(0, -1)], {}),
    ]
    found += [("Unsqueeze", [x, ints(*axes)], {}) for axes in ((0,), (-1, 0), (2, 0, 5), (9,), (0, 0))]
    low, high = -(2**63), 2**63 - 1
    found += [
        ("Slice", [x, ints(0, 1), ints(high, 3)], {}), ("Slice", [x, ints(1), ints(high), ints(-1)], {}),
        ("Slice", [x, ints(-1), ints(low), ints(1), ints(-1)], {}),
        ("Slice", [x, ints(3), ints(0), ints(2), ints(-2)], {}),
        ("Slice", [x, ints(0), ints(1), ints(7)], {}),
        ("Slice", [x, ints(2), ints(1), ints(0), ints(1)], {}),
    ]
    for value in (None, np.array([3], np.int64), np.array([0.5], np.float16), np.array([True])):
        attrs = {} if value is None else {"value": OnnxTensor(onnx.numpy_helper.from_array(value))}
        found += [("ConstantOfShape", [ints(*shape)], attrs) for shape in ((2, 3), (), (0,))]
    return found


def reference(operator: str, operands: list[Any], attrs: Mapping[str, Any]) -> Any:
    names = [f"x{k}" for k in range(len(operands))]
    schema = newest(operator)
    node = onnx.NodeProto(op_type=operator, input=names, output=["y"])
    for name, value in attrs.items():
        node.attribute.append(attribute_message(name, value, operator, schema.attributes[name].type.name))
    given = [
        onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
        for name, x in zip(names, operands)
    ]
    graph = onnx.helper.make_graph([node], "g", given, [onnx.ValueInfoProto(name="y")])
    imports = [onnx.helper.make_opsetid("", schema.since_version)]
    return ReferenceEvaluator(onnx.helper.make_model(graph, opset_imports=imports)).run(
        None, dict(zip(names, operands))
    )[0]


@pytest.mark.filterwarnings("ignore")
def test_as_the_reference() -> None:
    computed = set()
    for operator, operands, attrs in cases():
        found = kernel_value(operator, operands, attrs)
        if found is None:
            continue
        wanted = reference(operator, operands, attrs)
        what = f"{operator} {[(x.dtype, x.shape) for x in operands]} {attrs}"
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape), what
        assert found.tobytes() == wanted.tobytes(), what
        computed.add(operator)
    assert computed == set(_KERNELS)


@pytest.mark.parametrize(
    ("operator", "operands", "attrs"),
    [
        ("Add", [np.ones(2, np.float32), np.ones(2, np.float64)], {}),
        ("Add", [np.ones(2, np.float32), None], {}),
        ("Concat", [np.ones((), np.float32)], {"axis": 0}),
        ("Gather", [np.ones(2, np.float32), np.array([2])], {}),
        ("Reshape", [np.ones(6, np.float32), ints(4, 2)], {}),
        ("Unsqueeze", [np.ones(6, np.float32)], {"axes": (0,)}),
        ("Slice", [np.ones(6, np.float32), np.zeros(1, np.float32), np.ones(1, np.float32)], {}),
        ("Cast", [np.ones(2, np.float32)], {"to": "bfloat16"}),
        ("Add", [np.ones(2, ">f4"), np.ones(2, ">f4")], {}),
        ("Conv", [np.ones((1, 1, 1)), np.ones((1, 1, 1))], {}),
    ],
)
def test_left_to_the_reference(operator: str, operands: list[Any], attrs: Mapping[str, Any]) -> None:
    assert kernel_value(operator, operands, attrs) is None
