"""Relay's operators for dynamic shapes have the types and values of the static ones."""

from __future__ import annotations

import numpy as np
import pytest

from gslang.dialect.load import load_dialect
from gslang.dialect.relay import INFER
from gslang.dialect.relay.dynamic import STATIC
from gslang.dialect.signature import TypeInferenceError
from gslang.dialect.tensor_type import UNKNOWN, TensorType
from gslang.evaluate.relay import EVALUATE

DATA = np.arange(2 * 3 * 4, dtype="float32").reshape(2, 3, 4)
# operator → operands, attributes, result
CASES = {
    "dyn.reshape": ([DATA, (4, -1)], {"allowzero": False}, DATA.reshape(4, 6)),
    "dyn.broadcast_to": ([DATA, (2, 2, 3, 4)], {"dtype": ""}, np.broadcast_to(DATA, (2, 2, 3, 4))),
    "dyn.tile": ([DATA, (2, 1)], {}, np.tile(DATA, (2, 1))),
    "dyn.zeros": ([(2, 3)], {"dtype": "int8"}, np.zeros((2, 3), "int8")),
    "dyn.ones": ([(0, 3)], {"dtype": "bool"}, np.ones((0, 3), "bool")),
    "dyn.full": ([np.float32(2), (3,)], {"dtype": ""}, np.full(3, 2, "float32")),
    "dyn.strided_slice": (
        [DATA, (1, -1), (9, 0), (1, -2), (0, 2)], {"slice_mode": "end"}, DATA[1:, :, -1:0:-2],
    ),
    "dyn.expand_dims": ([DATA, (-2,)], {"num_newaxis": 2}, DATA.reshape(2, 3, 1, 1, 4)),
    "dyn.squeeze": ([DATA[:1, :, :1], (0, -1)], {}, DATA[0, :, 0]),
}


def typed(operands: list[np.ndarray]) -> tuple[TensorType, ...]:
    return tuple(TensorType(x.shape, x.dtype.name) for x in operands)


def test_every_dynamic_operator_has_a_case() -> None:
    declared = {name for name in load_dialect("relay").operators if name.startswith("dyn.")}
    assert declared == STATIC.keys() == CASES.keys()


@pytest.mark.parametrize("name", CASES)
def test_types_and_values_of_known_numbers(name: str) -> None:
    given, attrs, expected = CASES[name]
    operands = [np.array(x) for x in given]
    found = EVALUATE[name](operands, attrs)
    assert isinstance(found, np.ndarray) and found.dtype == expected.dtype
    assert np.array_equal(found, expected)
    type_ = INFER[name](typed(operands), attrs, lambda k: operands[k])
    assert type_ == TensorType(expected.shape, expected.dtype.name)


@pytest.mark.parametrize("name", CASES)
def test_types_of_unknown_numbers(name: str) -> None:
    given, attrs, expected = CASES[name]
    type_ = INFER[name](typed([np.array(x) for x in given]), attrs, lambda k: None)
    assert isinstance(type_, TensorType) and type_.dtype == expected.dtype.name
    assert type_.shape is None or type_.shape == (UNKNOWN,) * expected.ndim
    has_rank = name not in ("dyn.tile", "dyn.expand_dims", "dyn.squeeze")
    assert (type_.shape is not None) == has_rank


def test_absent_axes() -> None:
    operands = [DATA, np.array([1]), np.array([2]), np.array([1])]
    found = EVALUATE["dyn.strided_slice"]([*operands, None], {"slice_mode": "end"})
    assert np.array_equal(found, DATA[1:2])


def test_bounds_of_different_lengths_are_a_type_error() -> None:
    types = typed([DATA, np.array([1, 1]), np.array([2]), np.array([1])])
    with pytest.raises(TypeInferenceError, match="must have the same length"):
        INFER["dyn.strided_slice"](types, {"slice_mode": "end"}, lambda k: None)
