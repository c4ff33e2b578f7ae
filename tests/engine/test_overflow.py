"""Numbers that a graph's attributes and constants cannot have are not written as others: the rule does not
apply.
"""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest

from gslang.base.source import Source
from gslang.check.check import check_source
from gslang.dialect.tensor_type import TensorType, UnknownValue
from gslang.engine.build import add_constant
from gslang.engine.fixed_point import run_to_fixed_point
from gslang.graph.graph import CONST, Graph
from tests.engine.readable import readable_only

pytestmark = pytest.mark.usefixtures("code_at_once")


def relu(dialect: str, operator: str) -> Graph:
    graph = Graph(dialect)
    x = graph.add_input("x", TensorType((1, 2, 3, 4), "float32"))
    y = graph.add(operator, (x,), {})
    graph.types[y] = TensorType((1, 2, 3, 4), "float32")
    graph.set_outputs([y])
    return graph


@pytest.mark.parametrize("readable", [False, True])
@pytest.mark.parametrize(
    ("number", "applies"), [("1e39", False), ("10 ** 400", False), ("1e38", True), ("1e308 * 10", True)]
)
def test_no_number_becomes_infinite(number: str, applies: bool, readable: bool) -> None:
    program = check_source(Source("o.gsl", f"rule r(x): nn.relu(x) => x * ({number});"))
    assert program.ok
    graph = relu("relay", "nn.relu")
    with readable_only() if readable else nullcontext():
        run_to_fixed_point(graph, list(program.rules.values()))
    assert any(graph.op[node] is CONST for node in graph.ordered()) is applies


@pytest.mark.parametrize("readable", [False, True])
@pytest.mark.parametrize(("size", "applies"), [("9223372036854775807 + x.ndim", False), ("x.ndim", True)])
def test_no_integer_has_more_than_64_bits(size: str, applies: bool, readable: bool) -> None:
    program = check_source(Source("o.gsl", f"dialect onnx; rule r(x): Relu(x) => LRN(x, size = {size});"))
    assert program.ok, program.diagnostics
    graph = relu("onnx", "Relu")
    with readable_only() if readable else nullcontext():
        run_to_fixed_point(graph, list(program.rules.values()))
    assert any(graph.op[node] == "LRN" for node in graph.ordered()) is applies


def test_arrays_have_overflowed_before() -> None:
    graph = Graph("relay")
    node = add_constant(graph, np.array([np.inf], np.float32), "float32")
    assert np.isinf(graph.value(node)).all()
    with pytest.raises(UnknownValue, match="float16: numbers are not rounded to infinity"):
        add_constant(graph, (1.0, 65520), "float16")


@pytest.mark.parametrize("readable", [False, True])
@pytest.mark.parametrize(
    ("dtype", "number", "applies"),
    [
        ("int8", "x.ndim + 123", True), ("int8", "x.ndim + 124", False), ("uint8", "x.ndim - 5", False),
        ("int32", "(1, 2 ** 28 * 2 ** x.ndim)", False), ("int64", "2 ** 63 - x.ndim", True),
    ],
)  # fmt: skip
def test_no_integer_wraps(dtype: str, number: str, applies: bool, readable: bool) -> None:
    value = f'cast(const(value = {number}, dtype = "{dtype}"), dtype = "float32")'
    program = check_source(Source("o.gsl", f"rule r(x): nn.relu(x) => x + 0 * sum({value});"))
    assert program.ok, program.diagnostics
    graph = relu("relay", "nn.relu")
    with readable_only() if readable else nullcontext():
        progress = run_to_fixed_point(graph, list(program.rules.values()))
    assert not progress.failures
    assert any(graph.op[node] is CONST for node in graph.ordered()) is applies


@pytest.mark.parametrize("readable", [False, True])
@pytest.mark.parametrize(
    ("number", "rank", "applies"),
    [("c.value", 0, True), ("c.value", 1, False), ("max(c.value)", 1, True), ("max(c.value)", 3, True)],
)
def test_no_tensor_stands_for_a_number(number: str, rank: int, applies: bool, readable: bool) -> None:
    program = check_source(
        Source("o.gsl", f"dialect onnx; rule r(x, c: const): Relu(x) + c => Elu(x, alpha = {number});")
    )
    assert program.ok, program.diagnostics
    graph = relu("onnx", "Relu")
    y = graph.outputs[0]
    added = graph.add(
        "Add", (y, add_constant(graph, np.full((1,) * rank, 1.5, np.float32), "float32")), {}
    )
    graph.types[added] = graph.types[y]
    graph.set_outputs([added])
    with readable_only() if readable else nullcontext():
        run_to_fixed_point(graph, list(program.rules.values()))
    found = [graph.attrs[node]["alpha"] for node in graph.ordered() if graph.op[node] == "Elu"]
    assert found == ([1.5] if applies else [])


@pytest.mark.parametrize("readable", [False, True])
@pytest.mark.parametrize(
    ("value", "dtype", "written", "number"),
    [
        (5, "uint8", "-c.value", -5), (200, "uint8", "c.value + c.value", 400),
        (20, "uint8", "c.value ** 2", 400), (-128, "int8", "abs(c.value)", 128),
        (100, "int8", "2 * c.value", 200), (3, "uint8", "256 - c.value", 253),
        ([200, 100], "uint8", "sum(c.value)", 300), ([[7], [5]], "int8", "prod(c.value) * 10", 350),
        (300.0, "float16", "c.value * 300", 90000), ([0.5], "float16", "max(c.value) * 1e6", 500000),
    ],
)  # fmt: skip
def test_values_of_constants_are_numbers(
    value: object, dtype: str, written: str, number: int, readable: bool
) -> None:
    text = f"dialect onnx; rule r(x, c: const): Relu(x) + c where {written} == {number} => x;"
    program = check_source(Source("o.gsl", text))
    assert program.ok, program.diagnostics
    graph = relu("onnx", "Relu")
    array = np.array(value, dtype)
    added = graph.add("Add", (graph.outputs[0], graph.add_const(array, TensorType(array.shape, dtype))), {})
    graph.types[added] = graph.types[graph.outputs[0]]
    graph.set_outputs([added])
    with readable_only() if readable else nullcontext():
        assert run_to_fixed_point(graph, list(program.rules.values())).applications == 1


@pytest.mark.parametrize("readable", [False, True])
@pytest.mark.parametrize("value", [0.1, [0.1], [[0.1]]])
@pytest.mark.parametrize(("dtype", "condition"), [
    ("float32", "c.value > 0.1"), ("float16", "c.value < 0.1"), ("float16", "c.value < 1e10"),
])
def test_the_number_of_a_constant_is_compared_as_it_is_whatever_its_axes(
    value: object, dtype: str, condition: str, readable: bool
) -> None:
    text = f"dialect onnx; rule r(x, c: const): Relu(x) + c where {condition} => x;"
    program = check_source(Source("o.gsl", text))
    graph = relu("onnx", "Relu")
    array = np.array(value, dtype)
    added = graph.add("Add", (graph.outputs[0], graph.add_const(array, TensorType(array.shape, dtype))), {})
    graph.types[added] = graph.types[graph.outputs[0]]
    graph.set_outputs([added])
    with readable_only() if readable else nullcontext():
        assert run_to_fixed_point(graph, list(program.rules.values())).applications == 1


@pytest.mark.parametrize("readable", [False, True])
def test_a_required_operand_is_not_absent(readable: bool) -> None:
    text = "dialect onnx; rule r(x, b: any?): Clip(x, b) where b == none => Sub(x, b);"
    program = check_source(Source("o.gsl", text))
    assert program.ok, program.diagnostics
    graph = relu("onnx", "Clip")
    with readable_only() if readable else nullcontext():
        report = run_to_fixed_point(graph, list(program.rules.values()))
    assert report.applications == 0 and all(graph.op[node] != "Sub" for node in graph.ordered())
