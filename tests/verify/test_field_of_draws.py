"""Calls of every operator over the prime field, drawn over the declared domains of its attributes: of ONNX,
the real numbers beside the residues are what the evaluator computes; of Relay, the residues of whole numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gslang.base.arrays import Array
from gslang.dialect.load import load_dialect
from gslang.evaluate.errors import EvaluationError
from gslang.evaluate.random_inputs import random_inputs
from gslang.evaluate.run import evaluate
from gslang.graph.graph import Graph
from gslang.verify.comparison.exact import _as_inputs
from gslang.verify.comparison.expand import CannotExpand, expanded
from gslang.verify.field.dual import Dual
from gslang.verify.field.onnx import evaluate_onnx_in_field
from gslang.verify.field.points import random_point
from gslang.verify.field.relay import evaluate_in_field
from gslang.verify.field.residues import PRIME, NoField, residues
from tests.evaluate.drawn_calls import compared

PARTS = 4
"""Of all operators: those of a part are tested together."""
UNIT = 1 << 28
COMPARED = {"onnx": 26, "relay": 9}  # operators of a part that are compared, at least


def onnx_at_a_point(graph: Graph, seed: int) -> tuple[list[Any], list[Any], bool]:
    """The results over the field and by the evaluator; True if something is rounded on the way."""
    point = random_point(graph, np.random.default_rng([0, seed]), bool(seed % 2), UNIT)
    unknown: set[str] = set()
    found = evaluate_onnx_in_field(graph, point, unknown, load_dialect("onnx").get)
    plain = evaluate(graph, load_dialect("onnx"), _as_inputs(graph, point))
    return found, plain, any("cast" in name for name in unknown)


def is_close(found: Any, plain: Array, rounds: bool) -> bool:
    """True if the real numbers beside residues, or others, are those of the evaluator."""
    value = np.asarray(found.real if isinstance(found, Dual) else found)
    if not isinstance(found, Dual):
        return np.array_equal(value, plain)
    if value.shape != plain.shape:
        return False
    scale = float(np.max(np.abs(plain), initial=1.0, where=np.isfinite(plain)))
    rough = rounds or plain.dtype.itemsize < 4
    close = np.allclose(value, plain, rtol=0, atol=(3e-2 if rough else 1e-3) * scale, equal_nan=True)
    return bool(close)


def compare_onnx(graph: Graph, seed: int) -> bool:
    """True if a call has the same result; False if the field or the evaluator has none."""
    if any(given.get("stash_type") in (10, 16) for given in graph.attrs):
        return False  # half precision inside
    try:
        with np.errstate(all="ignore"):
            every, plain, rounds = onnx_at_a_point(expanded(graph, load_dialect("onnx")), seed)
    except (NoField, CannotExpand, EvaluationError):
        return False
    for found, expected in zip(every, plain):
        if not isinstance(expected, (list, tuple)):
            assert is_close(found, np.asarray(expected), rounds), _shown(graph)
    return True


def compare_relay(graph: Graph, seed: int) -> bool:
    """The same of Relay, at whole numbers at which no integer type wraps, without unknown functions. Division
    is that of the field.
    """
    if "divide" in graph.op:
        return False
    inputs = {
        name: np.rint(value.astype(float)).astype(value.dtype) if value.dtype.kind == "f" else value % 3
        for name, value in random_inputs(graph, seed).items() if value.dtype.kind in "fiu"
    }
    unknown: set[str] = set()
    try:
        whole = expanded(graph, load_dialect("relay"))
        point = {name: residues(value) for name, value in inputs.items()}
        every = evaluate_in_field(whole, load_dialect("relay"), point, unknown, False)
        with np.errstate(all="ignore"):
            plain = evaluate(whole, load_dialect("relay"), inputs)
    except (NoField, CannotExpand, EvaluationError, KeyError):
        return False
    same = False
    for found, result in zip(every, plain):
        expected = np.asarray(result)
        if unknown or expected.dtype.kind not in "fiu" or not np.array_equal(expected, np.rint(expected)):
            continue
        values = np.array([int(x) - PRIME * (int(x) > PRIME // 2) for x in np.ravel(found)], float)
        if expected.dtype.kind == "f" or not values.size or _holds(expected.dtype, values):
            assert np.array_equal(values.reshape(np.shape(found)), expected), _shown(graph)
            same = True
    return same


def _holds(dtype: np.dtype[Any], values: Array) -> bool:
    limits = np.iinfo(dtype)
    return bool(limits.min <= values.min() and values.max() <= limits.max)


def _shown(graph: Graph) -> str:
    return f"{[*zip(graph.op, graph.attrs)]} {[str(type_) for type_ in graph.types]}"


COMPARE = {
    "onnx": lambda graph, operator, seed: compare_onnx(graph, seed),
    "relay": lambda graph, operator, seed: compare_relay(graph, seed),
}


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("dialect", COMPARED)
def test_a_few_calls(dialect: str, part: int) -> None:
    counts = compared(dialect, slice(part, None, PARTS), 1, COMPARE[dialect])
    assert sum(map(bool, counts)) >= COMPARED[dialect], counts


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("dialect", COMPARED)
def test_many_calls(dialect: str, part: int) -> None:
    counts = compared(dialect, slice(part, None, PARTS), 20, COMPARE[dialect])
    assert sum(map(bool, counts)) >= COMPARED[dialect], counts
