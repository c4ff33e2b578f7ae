"""Traits say what operators compute, whatever the values of their attributes."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from gslang.base.arrays import Array
from gslang.dialect.domain_values import draw
from gslang.dialect.load import load_dialect
from gslang.dialect.signature import REQUIRED
from gslang.dialect.tensor_type import TensorType
from gslang.evaluate.errors import EvaluationError
from gslang.evaluate.run import evaluate
from gslang.graph.graph import INPUT, Graph
from gslang.graph.inference import infer_node

NOT_FOR_FLOATS = ("BitwiseNot", "Not", "logical_not")
NUMBERS = np.sort(np.concatenate([np.linspace(-3, 3, 25), [-40.0, 40.0, 0.25]])).astype(np.float32)
WITH_TRAITS = [
    (dialect, signature.name)
    for dialect in ("onnx", "relay")
    for signature in load_dialect(dialect).operators.values()
    if "unary" in signature.traits and signature.traits & {"monotonic", "idempotent", "involution"}
]


def results(dialect: str, operator: str, seed: int) -> tuple[Array, Array] | None:
    """What an operator with some attributes of its domain makes of `NUMBERS`, once and twice; None of one
    that is not for floats.
    """
    rng, declared = Random(seed), load_dialect(dialect)
    attrs: dict[str, Any] = {}
    for name, spec in declared.operators[operator].attributes.items():
        if spec.default is REQUIRED or rng.random() < 0.7:
            attrs[name] = draw(spec.domain, rng)
    graph = Graph(dialect, "")
    slots = [graph.add(INPUT, (), {}, TensorType(NUMBERS.shape, "float32"), "x")]
    for _ in range(2):
        slots.append(graph.add(operator, (slots[-1],), attrs))
        graph.types[slots[-1]] = infer_node(graph, declared, slots[-1])
    graph.set_outputs(slots[1:])
    try:
        with np.errstate(all="ignore"):
            once, twice = evaluate(graph, declared, {"x": NUMBERS})
    except (EvaluationError, TypeError):
        return None
    return once, twice


@pytest.mark.parametrize("dialect, operator", WITH_TRAITS)
def test_traits_hold_for_all_attributes(dialect: str, operator: str) -> None:
    traits = load_dialect(dialect).operators[operator].traits
    for seed in range(6):
        found = results(dialect, operator, seed)
        if found is None:
            continue
        once, twice = found
        if "monotonic" in traits:
            steps = np.diff(once[~np.isnan(once)])
            assert not (steps < -1e-6).any(), seed
        if "idempotent" in traits:
            assert np.array_equal(once, twice, equal_nan=True), seed
        if "involution" in traits and operator not in NOT_FOR_FLOATS:
            assert np.array_equal(NUMBERS, twice), seed
