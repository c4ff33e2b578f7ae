"""What the prover takes an operator for, at concrete sizes, against the evaluator: for calls of every
operator, drawn over the declared domains of its attributes in all their spellings.

Unknown functions of elements (`Acos`) have no numbers in a proof; calls that contain them are not compared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gslang.base.arrays import Array
from gslang.dialect.load import load_dialect
from gslang.evaluate.errors import EvaluationError
from gslang.evaluate.random_inputs import random_inputs
from gslang.evaluate.run import evaluate
from gslang.graph.graph import CONST, INPUT, PARAM, PROJ, TUPLE, Graph
from gslang.verify.prove.operators.constants import vector
from gslang.verify.prove.operators.domains import Attributes
from gslang.verify.prove.operators.operators import meaning_of
from gslang.verify.prove.operators.tensors import Tensor, World
from gslang.verify.prove.terms.facts import Facts
from gslang.verify.prove.terms.paths import Budget, Choices, Impossible, NotProved
from gslang.verify.prove.terms.reals import as_term
from gslang.verify.prove.terms.terms import read
from tests.evaluate.drawn_calls import compared
from tests.verify.test_meanings import UnknownFunction, number, size

PARTS = 4
"""Of all operators: those of a part are tested together."""
MOST = 200  # elements that are compared
COMPARED = {"onnx": 18, "relay": 16}  # operators of a part that are compared, at least


def leaf(graph: Graph, node: int, value: Array) -> Tensor:
    """An operand: a constant whose elements are known, or one whose elements are read."""
    dtype = value.dtype.name
    if graph.op[node] != CONST:
        return Tensor(value.shape, dtype, lambda index: read(f"x{node}", index))
    if value.ndim == 1:
        return vector(tuple(value.tolist()), dtype)
    one = as_term(value.item()) if value.size == 1 else None
    return Tensor(value.shape, dtype, lambda index: as_term(value[index].item()), None, one)


def by_meaning(graph: Graph, dialect: str, call: int, values: dict[int, Array]) -> Array:
    """The result of a call as the prover has it. Raises `NotProved`, `Impossible` and `UnknownFunction`."""
    known = load_dialect(dialect)
    signature = known.operators[graph.op[call]]

    def tensor(node: int) -> Any:
        if node < 0:
            return None
        if graph.op[node] in (TUPLE, "SequenceConstruct"):
            return tuple(map(tensor, graph.operands[node]))
        return leaf(graph, node, values[node])

    world = World(Facts(Choices([], Budget(10**9))), 6)
    world.comparing = "source"
    operands = [tensor(node) for node in graph.operands[call]]
    operands += [None] * (len(signature.operands) - len(operands)) * (dialect == "onnx")
    absent = dict.fromkeys(signature.attributes)
    complete = dict(Attributes({**absent, **signature.complete(graph.attrs[call])}))
    found = meaning_of(world, known, graph.op[call], operands, complete)
    output = graph.outputs[0]
    if isinstance(found, tuple):
        found = found[graph.attrs[output]["index"] if graph.op[output] == PROJ else 0]
    numbers = {f"x{node}": value for node, value in values.items()}
    result = np.empty(tuple(size(world.facts.normal(d), {}) for d in found.shape))
    for index in np.ndindex(*result.shape):
        world.places.clear()
        term = found.at(index)
        places = {
            str(p.position).removeprefix("1*"): int(number(p.said, {}, numbers)) % size(p.size, {})
            for p in world.places
        }
        result[index] = number(term, places, numbers)
    return result


def compare(graph: Graph, dialect: str, call: int) -> bool:
    """True if the result of a call is the one that the prover has; False if either has none."""
    try:
        inputs = random_inputs(graph, 0)
        result = evaluate(graph, load_dialect(dialect), inputs)[0]
    except EvaluationError:
        return False
    given = graph.attrs[call]
    if isinstance(result, (list, tuple)) or given.get("stash_type") in (10, 16) or given.get("out_dtype"):
        return False  # sequences; half precision inside; operands that are read as they are in another type
    expected = np.asarray(result)
    if not 0 < expected.size <= MOST or expected.dtype.kind not in "fiub" or np.isnan(expected).any():
        return False  # a window without an element has no average
    values = {
        node: np.asarray(graph.value(node) if graph.op[node] == CONST else inputs[str(graph.names[node])])
        for node in graph.nodes() if graph.op[node] in (INPUT, PARAM, CONST)
    }
    try:
        found = by_meaning(graph, dialect, call, values)
    except (NotProved, Impossible, UnknownFunction):
        return False
    shown = f"{graph.op[call]} {graph.attrs[call]} {[str(graph.types[n]) for n in values]}"
    assert found.shape == expected.shape, shown
    if expected.dtype.kind in "iu":
        assert np.array_equal(found.astype(np.int64).astype(expected.dtype), expected), shown  # they wrap
    else:
        close = 1e-2 if expected.dtype == np.float16 else 1e-3
        np.testing.assert_allclose(found, expected.astype(float), close, close / 10, err_msg=shown)
    return True


def compare_in(dialect: str) -> Callable[[Graph, str, int], bool]:
    """The comparison of a graph that has one call of an operator."""

    def compare_call(graph: Graph, operator: str, seed: int) -> bool:
        calls = [node for node in graph.nodes() if graph.op[node] == operator]
        return len(calls) == 1 and compare(graph, dialect, calls[0])

    return compare_call


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("dialect", COMPARED)
def test_a_few_calls(dialect: str, part: int) -> None:
    counts = compared(dialect, slice(part, None, PARTS), 2, compare_in(dialect))
    assert sum(map(bool, counts)) >= COMPARED[dialect], counts


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("dialect", COMPARED)
def test_many_calls(dialect: str, part: int) -> None:
    counts = compared(dialect, slice(part, None, PARTS), 20, compare_in(dialect))
    assert sum(map(bool, counts)) >= COMPARED[dialect], counts
