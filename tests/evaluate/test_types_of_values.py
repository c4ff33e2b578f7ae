"""The inferred type of each call, drawn from its operator's declared domains, is that of what the evaluator
computes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
import pytest

from gslang.dialect.load import load_dialect
from gslang.dialect.signature import Signature
from gslang.dialect.tensor_type import TensorType, Type
from gslang.evaluate.errors import EvaluationError
from gslang.evaluate.random_inputs import random_inputs
from gslang.evaluate.run import evaluate
from gslang.graph.graph import Graph
from tests.evaluate.drawn_calls import calls_of, operators

PARTS = 8
"""Of all operators: those of a part are tested together."""


def is_type_of(type_: Type | None, value: Any) -> bool:
    """True if an array has the element type and the sizes that a type states."""
    if not isinstance(type_, TensorType) or not isinstance(value, np.ndarray | np.generic):
        return True
    if type_.dtype in ("string", None):
        fits = type_.dtype is None or value.dtype.kind in "OSU"
    else:
        fits = value.dtype.name == HELD.get(type_.dtype, type_.dtype)
    if type_.shape is None:
        return fits
    same = all(not isinstance(d, int) or d == size for d, size in zip(type_.shape, value.shape))
    return fits and len(type_.shape) == value.ndim and same


HELD = {"bfloat16": "float32", "int4": "int8", "uint4": "uint8"}
"""Element types that NumPy lacks, and those that hold them."""


def wrong_types(dialect: str, name: str, signature: Signature, count: int) -> Iterator[tuple[Any, ...]]:
    """Calls whose value is of another type than is inferred."""
    results = 1 if isinstance(signature.results, str) else len(signature.results)
    calls = chain.from_iterable(
        calls_of(name, signature, count if k == 0 else -(-count // 3), dialect, k) for k in range(results)
    )
    for k, graph in enumerate(calls):
        if (value := value_of(graph, dialect, k)) is None:
            continue
        inferred = graph.types[graph.outputs[0]]
        if not is_type_of(inferred, value):
            call = next(n for n in graph.nodes() if graph.op[n] == name)
            operands = [str(graph.types[o]) for o in graph.operands[call] if o >= 0]
            yield name, graph.attrs[call], operands, str(inferred), value.dtype.name, value.shape


def value_of(graph: Graph, dialect: str, seed: int) -> Any:
    """What the evaluator computes; None where it refuses the call, or no inputs are known for it."""
    try:
        return evaluate(graph, load_dialect(dialect), random_inputs(graph, seed))[0]
    except EvaluationError:
        return None


@pytest.mark.parametrize("dialect", ["onnx", "relay"])
@pytest.mark.parametrize("part", range(PARTS))
def test_a_few_calls(dialect: str, part: int) -> None:
    some = operators(dialect)[part::PARTS]
    assert [wrong for name, signature in some for wrong in wrong_types(dialect, name, signature, 3)] == []


@pytest.mark.long
@pytest.mark.parametrize("dialect", ["onnx", "relay"])
@pytest.mark.parametrize("part", range(PARTS))
def test_many_calls(dialect: str, part: int) -> None:
    some = operators(dialect)[part::PARTS]
    assert [wrong for name, signature in some for wrong in wrong_types(dialect, name, signature, 60)] == []
