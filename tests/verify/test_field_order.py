"""Operators that depend on order, over the prime field: what is equal in every case of sign is exact, what is
not is refuted.
"""

from __future__ import annotations

import numpy as np
import pytest

import gslang.api as api
from gslang.verify.field.dual import Dual, larger, maximum, number, selected
from gslang.verify.field.residues import PRIME, NoField
from gslang.verify.verdict import Settings, verify_now

ONLY_INSTANCES = Settings(seconds=3, wanted=8, proof_steps=0)


@pytest.mark.parametrize(
    "text",
    [
        "rule t(x): nn.relu(nn.relu(x)) => nn.relu(x);",
        (
            'rule t(x: any(dtype = "float32")) { y = nn.relu(x) * 2.0; y where y.ndim == x.ndim '
            "=> nn.relu(x * 2.0) }"
        ),
        'rule t(x: any(dtype = "float32")): nn.relu(x) - nn.relu(-x) => x;',
        (
            "rule t(x) { y = clip(clip(x, a_min = 0.0, a_max = 6.0), a_min = 0.0, a_max = 4.0); y => clip(x, "
            "a_min = 0.0, a_max = 4.0) }"
        ),
        "rule t(x): sign(x) * abs(x) => x;", "rule t(x): floor(floor(x)) => floor(x);",
        "rule t(x, y: any(shape = x.shape, dtype = x.dtype)): where(less(x, y), y, x) => maximum(x, y);",
        "rule t(x, y: any(shape = x.shape, dtype = x.dtype)): maximum(x, y) + minimum(x, y) => x + y;",
        "dialect onnx;\nrule t(x): Relu(Relu(x)) => Relu(x);",
        "dialect onnx;\nrule t(x): Neg(Max(Neg(x), Neg(x))) => Min(x, x);",
        (
            "dialect onnx;\nrule t(x, y: any(shape = x.shape, dtype = x.dtype)): MatMul(x, y) + MatMul(x, y) "
            "=> MatMul(x, y + y);"
        ),
    ],
)
def test_equal_in_every_case_of_sign(text: str) -> None:
    (rule,) = api.parse_rules(text).own.values()
    assert verify_now(rule, ONLY_INSTANCES).verdict == "exact"


@pytest.mark.parametrize(
    "text",
    [
        "rule t(x): nn.relu(x) * -2.0 => nn.relu(x * -2.0);",
        "rule t(x): abs(x) => x;",
        "rule t(x, y: any(shape = x.shape, dtype = x.dtype)): where(less(x, y), x, y) => maximum(x, y);",
        "dialect onnx;\nrule t(x): Relu(Neg(x)) => Neg(Relu(x));",
    ],
)
def test_different_in_some_case(text: str) -> None:
    (rule,) = api.parse_rules(text).own.values()
    assert verify_now(rule, ONLY_INSTANCES).verdict == "refuted"


def test_the_larger_number_keeps_its_residue() -> None:
    a, b = number(0.5), number(-3.0)
    assert maximum(a, b).residue * 2 % PRIME == 1


def test_too_close_to_tell() -> None:
    a = Dual(np.array([5]), np.array([1.0]))
    b = Dual(np.array([6]), np.array([1.0 + 1e-12]))
    with pytest.raises(NoField):
        larger(a, b)
    assert not larger(a, Dual(np.array([5]), np.array([1.0 + 1e-12]))).any()


def test_a_selection_must_be_an_element() -> None:
    x = Dual(np.array([3, 4]), np.array([1.0, 2.0]))
    assert selected(np.array([2.0, 2.0, 1.0]), x).residue.tolist() == [4, 4, 3]
    with pytest.raises(NoField):
        selected(np.array([1.5]), x)


def test_equal_numbers_at_other_places_are_not_mixed_up() -> None:
    """tanh is ±1 for large numbers: two elements have one real number, and different residues."""
    real = np.array([1.0, 1.0, -1.0])
    a, b = Dual(np.array([5, 7, 9]), real), Dual(np.array([3, 3, 3]), np.array([-2.0, -2.0, -2.0]))
    assert np.array_equal(maximum(a, b).residue, a.residue)
    with pytest.raises(NoField, match="too close"):
        selected(np.array([1.0]), a)
    assert selected(np.array([-1.0]), a).residue.tolist() == [9]
    text = """dialect onnx;
    rule t(x: any(dtype = "float32")) { y = Max(Tanh(x), -2.0); y where y.ndim == x.ndim => Tanh(x) }"""
    (rule,) = api.parse_rules(text).own.values()
    assert verify_now(rule, ONLY_INSTANCES).verdict == "exact"
