"""Relay's operators on quantized integers, and those that replace elements: values computed by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gslang.base.arrays import Array
from gslang.evaluate.relay import EVALUATE

INT8 = np.int8


def f(*values: float) -> Array:
    return np.array(values if len(values) > 1 else values[0], np.float32)


def i(*values: int) -> Array:
    return np.array(values if len(values) > 1 else values[0], np.int32)


def b(*values: int) -> Array:
    return np.array(values, INT8)


def value(operator: str, *operands: Any, **attrs: Any) -> list[Any]:
    result: Any = EVALUATE[operator](operands, attrs)
    return result.tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    "x, wanted", [(0.25, 1), (0.75, 2), (-0.25, -1), (63.4, 127), (-99.0, -128), (0.2, 0)]
)
def test_quantize_rounds_halves_away_from_zero_and_saturates(x: float, wanted: int) -> None:
    assert value("qnn.quantize", f(x, x), f(0.5), i(0), out_dtype="int8", axis=-1) == [wanted] * 2


def test_quantize_along_an_axis() -> None:
    x = np.array([[1.0, 1.0], [3.0, 3.0]], np.float32)
    assert value("qnn.quantize", x, f(1.0, 0.5), i(0, 10), out_dtype="uint8", axis=1) == [[1, 12], [3, 16]]
    assert value("qnn.quantize", x, f(1.0, 0.5), i(0, 10), out_dtype="uint8", axis=0) == [[1, 1], [16, 16]]


def test_dequantize() -> None:
    assert value("qnn.dequantize", b(-128, 0, 127), f(0.5), i(-1), axis=-1, out_dtype="float32") == [
        -63.5, 0.5, 64.0,
    ]


@pytest.mark.parametrize(
    "x, multiplier, shift, wanted",
    [
        (8, 1 << 30, 0, 4), (3, 1 << 30, 0, 2), (-3, 1 << 30, 0, -1),  # halves go up
        (8, 1 << 30, 1, 8), (8, 1 << 30, -1, 2), (5, 1 << 30, -1, 1), (6, 1 << 30, -1, 2),
    ],
)
def test_fixed_point_multiply(x: int, multiplier: int, shift: int, wanted: int) -> None:
    assert value("fixed_point_multiply", i(x, x), multiplier=multiplier, shift=shift) == [wanted] * 2


REQUANTIZE = {"axis": -1, "rounding": "None", "compute_dtype": "None", "out_dtype": "int8"}


def test_requantize() -> None:
    x = i(10, 11, -11, 600, -600)
    assert value("qnn.requantize", x, f(0.5), i(0), f(1.0), i(0), **REQUANTIZE) == [5, 6, -5, 127, -128]
    nearest = {**REQUANTIZE, "rounding": "TONEAREST"}
    assert value("qnn.requantize", x, f(0.5), i(0), f(1.0), i(0), **nearest) == [5, 6, -6, 127, -128]
    assert value("qnn.requantize", x, f(0.5), i(1), f(1.0), i(3), **REQUANTIZE) == [8, 8, -3, 127, -128]
    assert value("qnn.requantize", x, f(2.0), i(1), f(2.0), i(3), **REQUANTIZE) == [12, 13, -9, 127, -128]
    floats = {**REQUANTIZE, "compute_dtype": "float32"}
    assert value("qnn.requantize", x, f(0.5), i(0), f(1.0), i(0), **floats) == [5, 6, -5, 127, -128]


def test_requantize_along_an_axis() -> None:
    x = np.array([[10, 10], [20, 20]], np.int32)
    scales, zeros = (f(1.0, 0.5), i(0)), (f(1.0), i(0))
    assert value("qnn.requantize", x, *scales, *zeros, **{**REQUANTIZE, "axis": 0}) == [[10, 10], [10, 10]]
    assert value("qnn.requantize", x, *scales, *zeros, **{**REQUANTIZE, "axis": 1}) == [[10, 5], [20, 10]]


BOTH = {"lhs_axis": -1, "rhs_axis": -1}


def test_sums_and_products() -> None:
    same = (f(0.5), i(1), f(0.5), i(1), f(0.5), i(1))
    # (10 − 1) / 2 + (21 − 1) / 2 = 14.5, which is 29 halves above 1
    assert value("qnn.add", b(10, 127), b(21, 127), *same, **BOTH) == [30, 127]
    assert value("qnn.subtract", b(10, -128), b(21, 127), *same, **BOTH) == [-10, -128]
    # 4.5 · 10 = 45 = 90 halves
    assert value("qnn.multiply", b(10, 127), b(21, 127), *same, **BOTH) == [91, 127]
    other = (f(1.0), i(0), f(0.5), i(0), f(0.25), i(-8))
    assert value("qnn.add", b(2, 3), b(4, -4), *other, **BOTH) == [8, -4]  # 4 and 1: 16 and 4 quarters


def test_products_count_from_zero_points() -> None:
    x, w = np.array([[3, 5]], INT8), np.array([[1, 2], [3, 4]], INT8)
    rest = f(0.5), f(0.5)
    attrs = {"units": None, "out_dtype": "int32"}
    # (3 − 1, 5 − 1) times (1 − 2, 2 − 2) and (3 − 2, 4 − 2)
    assert value("qnn.dense", x, w, i(1), i(2), *rest, **attrs) == [[-2, 10]]
    assert value("qnn.dense", x, w, i(1), i(2, 3), *rest, **attrs) == [[-2, 4]]


def test_padding_of_a_convolution_is_the_zero_point() -> None:
    x, w = np.full((1, 1, 1, 1), 9, INT8), np.full((1, 1, 3, 3), 5, INT8)
    attrs = {
        "strides": (1, 1), "padding": (1, 1), "dilation": (1, 1), "groups": 1, "channels": None,
        "kernel_size": None, "data_layout": "NCHW", "kernel_layout": "OIHW", "out_layout": "",
        "out_dtype": "int32",
    }
    assert value("qnn.conv2d", x, w, i(2), i(1), f(1.0), f(1.0), **attrs) == [[[[28]]]]


def test_concatenate_brings_parts_to_one_scale() -> None:
    parts, scales, zeros = (b(4, 8), b(4, 8)), (f(1.0), f(0.5)), (i(0), i(2))
    assert value("qnn.concatenate", parts, scales, zeros, f(1.0), i(0), axis=0) == [4, 8, 1, 3]


# ── elements that are replaced ──


def test_scatter() -> None:
    x, at, new = np.zeros((2, 3), np.float32), np.array([[2], [-3]]), np.array([[5.0], [6.0]], np.float32)
    assert value("scatter", x, at, new, axis=1) == [[0, 0, 5], [6, 0, 0]]
    twice = np.array([1, 1, 0])
    ones, of = np.ones(3, np.float32), np.array([2.0, 3.0, 4.0], np.float32)
    for how, wanted in (
        ("update", [4, 3, 1]), ("add", [5, 6, 1]), ("mul", [4, 6, 1]), ("min", [1, 1, 1]), ("max", [4, 3, 1]),
    ):
        assert value("scatter_elements", ones, twice, of, axis=0, reduction=how) == wanted
    with pytest.raises(NotImplementedError):
        value("scatter_elements", ones, twice, of, axis=0, reduction="mean")


def test_sequence_mask() -> None:
    x, lengths = np.arange(1, 7, dtype=np.float32).reshape(2, 3), np.array([1, 2, 0])
    assert value("sequence_mask", x, lengths, mask_value=-1.0, axis=0) == [[1, 2, -1], [-1, 5, -1]]
    assert value("sequence_mask", x, np.array([1, 3]), mask_value=0.0, axis=1) == [[1, 0, 0], [4, 5, 6]]
