"""ONNX over the prime field: the real numbers beside the residues are what the reference implementation
computes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gslang.api as api
from gslang.check.checked import CheckedRule
from gslang.dialect.load import load_dialect
from gslang.dialect.tensor_type import TensorType
from gslang.evaluate.errors import EvaluationError
from gslang.evaluate.run import evaluate
from gslang.graph.graph import INPUT, Graph
from gslang.verify.comparison.exact import in_field
from gslang.verify.comparison.expand import CannotExpand, expanded
from gslang.verify.field.dual import Dual, contracted, random_dual
from gslang.verify.field.onnx import MEANINGS, evaluate_onnx_in_field
from gslang.verify.field.points import random_point
from gslang.verify.field.residues import PRIME, NoField, residue
from gslang.verify.instances.draw import Search, instances
from tests.shipped import STDLIB, rule_names, written_as

NAMES = rule_names(*sorted((STDLIB / "onnx").glob("*.gsl")))
UNIT = 1 << 28


def checked_operators(name: str, wanted: int) -> set[str]:
    """The operators in instances of a rule whose field values agree with the reference implementation."""
    return set().union(*(checked_in(rule, wanted) for rule in written_as("std.onnx", name)))


def checked_in(rule: CheckedRule, wanted: int) -> set[str]:
    """The same for one rule of a family."""
    name, seen, count = rule.name, set[str](), 0
    for instance in instances(rule, Search(), 0, 20.0, 120):
        count += 1
        if count > wanted:
            break
        try:
            graph = expanded(instance.before, rule.dialect)
            point = random_point(graph, np.random.default_rng([0, count]), True, UNIT)
            unknown: set[str] = set()
            exact = evaluate_onnx_in_field(graph, point, unknown, rule.dialect.get)
            inputs = {
                k: v.real.astype(_dtype(graph, k)) if isinstance(v, Dual) else v for k, v in point.items()
            }
            with np.errstate(all="ignore"):
                plain = evaluate(graph, rule.dialect, inputs)
        except (NoField, EvaluationError, CannotExpand):
            continue
        for left, right in zip(exact, plain):
            value = left.real if isinstance(left, Dual) else left
            assert np.shape(value) == np.shape(right), name
            if isinstance(left, Dual):
                scale = float(np.nanmax(np.abs(right), initial=1.0))
                rough = np.asarray(right).dtype.itemsize < 4 or any("cast" in u for u in unknown)
                assert np.allclose(
                    value, right, rtol=0, atol=(2e-2 if rough else 1e-3) * scale, equal_nan=True
                ), name
            else:
                assert np.array_equal(value, right), name
        seen |= {op for op in graph.op if op in MEANINGS}
    return seen


def _dtype(graph: Any, name: str) -> Any:
    node = next(n for n in graph.nodes() if graph.names[n] == name)
    return np.dtype(graph.types[node].dtype)


def test_operators_compute_what_the_reference_does() -> None:
    names = [
        "conv_batch_norm", "conv_add", "conv_transpose_add", "gemm_add", "transposed_gemm",
        "layer_norm_shift", "rms_norm", "euclidean_norm", "sum_of_squares", "log_softmax", "softmax", "swish",
        "softplus", "leaky_relu", "clip_relu", "power_one", "parallel_matmul", "pad_average_pool",
        "batch_norm_add", "reduce_one", "where_true", "only_operand", "add_negative", "divide_by",
        "cast_cast",
    ]
    seen = set().union(*(checked_operators(name, 4) for name in names if name in NAMES))
    assert {
        "Conv", "ConvTranspose", "Gemm", "MatMul", "BatchNormalization", "LayerNormalization", "Softmax",
        "Clip", "ReduceSum",
    } <= seen


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_operators_compute_what_the_reference_does_everywhere(name: str) -> None:
    checked_operators(name, 20)


def test_contractions_are_exact() -> None:
    rng = np.random.default_rng(1)
    a, b = random_dual((3, 5), rng, False, UNIT), random_dual((5, 2), rng, False, UNIT)
    exact = [
        [sum(int(x) * int(y) for x, y in zip(row, column)) % PRIME for column in b.residue.T]
        for row in a.residue
    ]
    assert contracted("ij,jk->ik", a, b).residue.tolist() == exact


def test_points_are_the_same_numbers_twice() -> None:
    point = random_dual((50,), np.random.default_rng(2), False, UNIT)
    assert [residue(v) for v in point.real.tolist()] == point.residue.tolist()


@pytest.mark.parametrize(
    "name, attrs",
    [
        ("Elu", {"alpha": 0.5}), ("Selu", {"alpha": 1.5, "gamma": 0.75}), ("Celu", {"alpha": 0.25}),
        ("Softsign", {}), ("ThresholdedRelu", {"alpha": 0.5}), ("Gelu", {}),
        ("Gelu", {"approximate": "tanh"}),
    ],
)
def test_functions_with_attributes_have_their_true_real_values(name: str, attrs: dict[str, object]) -> None:
    graph, dialect = Graph("onnx"), load_dialect("onnx")
    graph.set_outputs(
        [graph.add(name, (graph.add(INPUT, (), {}, TensorType((40,), "float32"), "x"),), attrs)]
    )
    x = random_dual((40,), np.random.default_rng(3), False, UNIT)
    (exact,) = evaluate_onnx_in_field(graph, {"x": x}, set(), dialect.get)
    (plain,) = evaluate(graph, dialect, {"x": x.real.astype(np.float32)})
    assert np.allclose(exact.real, plain, atol=1e-5)


@pytest.mark.parametrize(
    "rule",
    [
        "x: any(dtype = \"float32\", shape = (_, _))): ConcatFromSequence(SplitToSequence(x, none, axis = 1,"
        " keepdims = 0), axis = 0, new_axis = 1) => Transpose(x, perm = [1, 0])",
        "x: any(dtype = \"float32\"), y: any(dtype = \"float32\")): SequenceAt(SequenceErase("
        "SequenceInsert(SequenceConstruct(x, x), y, 1), 0), -2) => Identity(y)",
    ],
)
def test_sequences_are_tuples_of_elements(rule: str) -> None:
    checked = api.parse_rules(f"dialect onnx; rule r({rule};").own["r"]
    found = next(instances(checked, Search(), 0, 20.0, 50))
    assert found.after is not None and in_field(found.before, found.after, checked.dialect, 0).equal
