"""Calls of ONNX whose operands do not belong together: NumPy would broadcast most of them."""

from __future__ import annotations

from typing import Any

import pytest

from gslang.dialect.onnx.fitting_shapes import why_unfit

MS = "com.microsoft."
UNFIT: list[tuple[str, list[tuple[int, ...] | None], dict[str, Any], str]] = [
    ("ConvTranspose", [(1, 4, 5), (4, 3, 2)], {"kernel_shape": (3,)}, "`kernel_shape` [3] is not the"),
    ("ConvTranspose", [(1, 1, 5), (4, 3, 2)], {}, "data has 1 channels, and its weight takes 4"),
    ("ConvTranspose", [(1, 3, 5), (3, 3, 2)], {"group": 2}, "3 channels are not in 2 groups"),
    ("Conv", [(1, 4, 5, 5), (3, 4, 2)], {}, "data of 4 dimensions and a weight of 3"),
    ("Conv", [(1, 4, 5), (3, 4, 2), (1,)], {}, "a bias of [1] does not broadcast to 3 channels"),
    ("ConvInteger", [(1, 1, 5), (3, 4, 2)], {}, "its weight takes 4"),
    ("QLinearConv", [(1, 1, 5), (), (), (1, 1, 2), (), (), (), (), (2,)], {}, "1 channels"),
    ("QLinearConv", [(1, 1, 5), (), (), (3, 1, 2), (2,), (3,), (), ()], {}, "[2] is not one number or of"),
    ("RNN", [(2, 1, 2), (1, 3, 2), (1, 3, 3)], {"hidden_size": 2}, "`hidden_size` 2 is not that of the"),
    ("GRU", [(2, 1, 2), (1, 6, 2), (1, 6, 3)], {}, "W of [1, 6, 2] is not of [1, 9, 2]"),
    ("LSTM", [(2, 1, 2), (1, 4, 2), (1, 4, 1), None, None, (1, 2, 1)], {}, "`initial_h` of [1, 2, 1]"),
    ("PRelu", [(1, 3), (2, 1, 3)], {}, "[2, 1, 3] does not broadcast to [1, 3]"),
    ("Gemm", [(2, 3), (3, 4), (3, 1)], {}, "[3, 1] does not broadcast to [2, 4]"),
    ("Gemm", [(2, 3), (5, 3, 4)], {}, "[5, 3, 4] is no matrix"),
    ("QuantizeLinear", [(3, 1), (3, 1)], {"axis": 1}, "a scale of [3, 1] is not of [1]"),
    ("QuantizeLinear", [(3, 4), (3,), (4,)], {"axis": 0}, "a zero point of [4] and a scale of [3]"),
    ("DequantizeLinear", [(3, 4), (2, 4)], {"axis": 0, "block_size": 1}, "of [2, 4] is not of [3, 4]"),
    ("DequantizeLinear", [(3,), (2,)], {"axis": 1}, "no axis 1 in [3]"),
    ("SoftmaxCrossEntropyLoss", [(2, 4, 2), (3, 2)], {}, "labels of [3, 2] is not of [2, 2]"),
    ("ScatterND", [(4, 3), (2, 1), (2, 1)], {}, "updates of [2, 1] is not of [2, 3]"),
    (MS + "QuantizeLinear", [(3, 4), (1, 1)], {}, "a scale of [1, 1] is not of [4]"),
    (MS + "QLinearSigmoid", [(3, 4), (1, 1), (), ()], {}, "[1, 1] is not one number"),
    (MS + "QLinearConcat", [(), (), (2,), (), (), (3,), (3,), ()], {}, "[3] is not one number"),
    (MS + "QGemm", [(2, 3), (), (), (3, 4), (3,), ()], {}, "[3] is not one number or of [4]"),
    (MS + "QGemm", [(2, 3), (), (), (3, 4), (1,), ()], {}, "a zero point of [] is not of [1]"),
    (MS + "QLinearAdd", [(2, 3), (1,), (), (2, 3), (), (), (), ()], {}, "zero point of [1] is not of []"),
    (MS + "QLinearGlobalAveragePool", [(2, 3), (), (), (), ()], {}, "[2, 3] needs at least 3 dimensions"),
    (MS + "FastGelu", [()], {}, "[] needs at least 1 dimension"),
    (MS + "RotaryEmbedding", [(2, 3, 5, 4), (3,), (6, 2), (6, 2)], {}, "neither one nor of [2, 5]"),
    (
        MS + "RotaryEmbedding", [(2, 3, 5, 4), (1,), (4, 2), (4, 2)], {},
        "[4, 2] has no row for each of 5 positions",
    ),
    (
        MS + "RotaryEmbedding", [(2, 3, 5, 4), (1,), (6, 3), (6, 3)], {},
        "rows of 3 numbers do not fit heads of which 4",
    ),
    (
        MS + "RotaryEmbedding", [(2, 5, 7), (1,), (6, 1), (6, 1)], {"num_heads": 2},
        "7 columns cannot be divided into 2 heads",
    ),
    ("RotaryEmbedding", [(2, 3, 5, 4), (1, 5, 2), (1, 5, 2)], {}, "of [1, 5, 2] is not of [2, 5, 2]"),
    ("RotaryEmbedding", [(2, 3, 5, 4), (6, 2), (6, 2), (1, 5)], {}, "positions of [1, 5] is not of [2, 5]"),
    ("BatchNormalization", [(2, 3, 4), (), (3,), (3,), (3,)], {}, "a vector of [] is not of [3]"),
    ("BatchNormalization", [(2, 3, 4), (3,), (3,), (3,), (1,)], {}, "a vector of [1] is not of [3]"),
    ("BatchNormalization", [(5,), (5,), (5,), (5,), (5,)], {}, "a vector of [5] is not of [1]"),
    ("InstanceNormalization", [(2, 3), (3,), (3,)], {}, "data of 2 dimensions"),
    ("GlobalMaxPool", [(2, 3)], {}, "[2, 3] needs at least 3 dimensions"),
    ("MatMul", [(), (3, 4)], {}, "[] needs at least 1 dimension"),
    ("Attention", [(2, 4, 5, 6), (2, 3, 7, 6), (2, 3, 7, 6)], {}, "4 heads of queries, 3 of keys"),
    ("GridSample", [(2, 3, 4, 5), (1, 6, 6, 2)], {}, "a grid of [1, 6, 6, 2] does not fit data"),
    ("GridSample", [(2, 3, 4, 5), (2, 6, 6, 3)], {}, "a grid of [2, 6, 6, 3] does not fit data"),
    ("RNN", [(2, 1, 2), (1, 3), (1, 3, 3)], {}, "do not have 3 dimensions each"),
    ("Clip", [(3,), (), (2,)], {}, "a bound of [2] is not one number"),
    ("Pad", [(3,), (2,), (2,)], {}, "a fill value of [2] is not one number"),
    ("ReverseSequence", [(4, 2), (3,)], {}, "lengths of [3] is not of [2]"),
    ("ScatterElements", [(4, 3), (2,), (2,)], {}, "indices of [2] and data of [4, 3] differ in rank"),
    (MS + "MatMulIntegerToFloat", [(2, 3), (3, 4), (), (), (), (), (1,)], {}, "a bias of [1] is not of [4]"),
    (MS + "MatMulIntegerToFloat", [(2, 3), (5, 3, 4), (), (4,)], {}, "is not one number or of [5, 1, 4]"),
    (MS + "Trilu", [(5,)], {}, "[5] is no matrix"),
    (MS + "BiasAdd", [(4, 1, 6), (6,), (4, 6)], {}, "what is added of [4, 6] is not of [4, 1, 6]"),
    (MS + "BiasGelu", [(3, 4), (3, 4)], {}, "a vector of [3, 4] is not of [4]"),
    (MS + "SkipLayerNormalization", [(2, 3, 4), (4,), (4,)], {}, "[4] is not added to [2, 3, 4]"),
    (MS + "SkipLayerNormalization", [(2, 3, 4), (3, 4), (1,)], {}, "a vector of [1] is not of [4]"),
    (MS + "GroupNorm", [(1, 3, 2, 4), (3,), (4,)], {"groups": 2}, "a vector of [3] is not of [4]"),
    (MS + "GroupNorm", [(1, 3, 2, 4), (4,), (4,)], {"groups": 3}, "4 channels are not in groups"),
    (MS + "EmbedLayerNormalization", [(2, 3), None, (5, 4), (5, 4), None, (1,), (4,)], {}, "gamma of [1]"),
    (MS + "Attention", [(1, 2, 4), (4, 12), (1,)], {}, "a bias of [1] is not of [12]"),
    (MS + "MultiHeadAttention", [(1, 2, 4), (1, 3, 4), (1, 2, 4)], {}, "are not broadcast"),
]
FIT: list[tuple[str, list[tuple[int, ...] | None], dict[str, Any]]] = [
    ("ConvTranspose", [(1, 4, 5), (4, 3, 2), (6,)], {"kernel_shape": (2,), "group": 2}),
    ("Conv", [None, (3, 4, 2), (3,)], {}),
    ("LSTM", [(2, 1, 2), (1, 4, 2), (1, 4, 1), (1, 8), (1,), (1, 1, 1)], {"hidden_size": 1}),
    ("PRelu", [(2, 3, 4), (3, 1)], {}),
    ("DequantizeLinear", [(3, 4), (2, 4)], {"axis": 0, "block_size": 2}),
    ("QuantizeLinear", [(), (1,), ()], {}),
    (MS + "MatMulIntegerToFloat", [(2, 3), (5, 3, 4), (1,), (5, 1, 4)], {}),
    (MS + "SkipLayerNormalization", [(2, 3, 4), (1, 3, 4), (4,), None, (4,)], {}),
    (MS + "SkipGroupNorm", [(1, 3, 2, 4), (4,), (4,), (1, 4)], {"groups": 2}),
    (MS + "RotaryEmbedding", [(2, 3, 5, 4), (1,), (6, 2), (6, 2)], {}),
    (MS + "RotaryEmbedding", [(2, 5, 12), (2, 5), (6, 2), (6, 2)], {}),
    (MS + "RotaryEmbedding", [(2, 5, 12), (), (6, 2), (6, 2)], {"num_heads": 2, "rotary_embedding_dim": 4}),
    ("RotaryEmbedding", [(2, 3, 5, 4), (6, 2), (6, 2), (2, 5)], {}),
    ("BatchNormalization", [(5,), (1,), (1,), (1,), (1,)], {}),
    ("GridSample", [(2, 3, 4, 5), (2, 6, 6, 2)], {}),
    ("Attention", [(2, 4, 5, 6), (2, 2, 7, 6), (2, 2, 7, 6)], {}),
    ("Relu", [(2,)], {}),
]


@pytest.mark.parametrize("operator, shapes, attrs, reason", UNFIT)
def test_they_are_told_apart(
    operator: str, shapes: list[tuple[int, ...] | None], attrs: dict[str, Any], reason: str
) -> None:
    assert reason in (why_unfit(operator, shapes, attrs) or "it fits")


@pytest.mark.parametrize("operator, shapes, attrs", FIT)
def test_others_fit(operator: str, shapes: list[tuple[int, ...] | None], attrs: dict[str, Any]) -> None:
    assert why_unfit(operator, shapes, attrs) is None
