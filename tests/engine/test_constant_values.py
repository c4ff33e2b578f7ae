"""What the value of a constant is compared with: a number, one of several, a tuple; in both engines, and in
verdicts.
"""

from __future__ import annotations

import numpy as np
import pytest

from gslang.base.source import Source
from gslang.check.check import check_source
from gslang.check.checked import CheckedRule
from gslang.dialect.tensor_type import TensorType
from gslang.graph.graph import INPUT, Graph
from gslang.verify.verdict import Settings, verify_now
from tests.engine.test_two_engines import both_ways

ANY_SHAPE = "rule r(x, c: const(value = {})) {{ y = x * c; y => negative(x) }}"


def rule_of(text: str) -> CheckedRule:
    checked = check_source(Source("r.gsl", text))
    assert checked.diagnostics == ()
    return checked.rules["r"]


def product_with(value: object, dtype: str) -> Graph:
    graph = Graph("relay")
    x = graph.add(INPUT, (), {}, TensorType((2, 2), dtype), "x")
    array = np.asarray(value, dtype)
    c = graph.add_const(array, TensorType(array.shape, dtype))
    graph.set_outputs([graph.add("multiply", (x, c), {}, TensorType((2, 2), dtype))])
    return graph


@pytest.mark.parametrize(
    "written, value, matches",
    [
        ("-1 | 4", -1.0, True), ("-1 | 4", [4.0], True), ("-1 | 4", [[4.0]], True), ("-1 | 4", 3.0, False),
        ("-1 | 4", [4.0, 4.0], False), ("0.1 | 0.5", 0.1, True), ("(-1, 2)", [-1.0, 2.0], True),
        ("(-1, 2)", [[-1.0, 2.0]], False), ("(-1, 2)", [-1.0, 3.0], False), ("(-1,)", -1.0, False),
        ("(1, 2) | 3", [1.0, 2.0], True), ("(1, 2) | 3", 3.0, True), ("(1, 2) | 3", [3.0, 3.0], False),
        ("_", [7.0, 8.0], True),
    ],
)  # fmt: skip
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_values_that_match(written: str, value: object, matches: bool, dtype: str) -> None:
    rule = rule_of(ANY_SHAPE.format(written))
    _, ((_, _, _, applications),) = both_ways(product_with(value, dtype), [rule])
    assert applications == matches


@pytest.mark.parametrize(
    "written, value, dtype, matches",
    [
        ("(9223372036854775807,)", [-1], "int32", False),
        ("(9223372036854775807,)", [9223372036854775807], "int64", True),
        ("(300, 1)", [44, 1], "uint8", False), ("(-1, 1)", [255, 1], "uint8", False),
        ("(1.5, 2.0)", [1, 2], "int32", False),
        ("(1.0, 2.0)", [1, 2], "int32", True), ("(1, 1)", [True, True], "bool", False),
        ("(true, false)", [True, False], "bool", True), ("()", [], "int64", True), ("()", [], "bool", True),
    ],
)  # fmt: skip
def test_numbers_of_a_tuple_are_no_others_of_a_narrower_type(
    written: str, value: object, dtype: str, matches: bool
) -> None:
    rule = rule_of(ANY_SHAPE.format(written))
    graph = Graph("relay")
    array = np.asarray(value, dtype)
    x = graph.add(INPUT, (), {}, TensorType((2, len(array)), dtype), "x")
    c = graph.add_const(array, TensorType(array.shape, dtype))
    graph.set_outputs([graph.add("multiply", (x, c), {}, TensorType((2, len(array)), dtype))])
    _, ((_, _, _, applications),) = both_ways(graph, [rule])
    assert applications == matches


@pytest.mark.parametrize("written", ["(_, 2)", "(v := _)", "[_ for i in ..]"])
def test_elements_are_compared_as_a_whole(written: str) -> None:
    (finding, *_) = check_source(Source("r.gsl", ANY_SHAPE.format(written))).diagnostics
    assert finding.code == "E0501" and finding.message == "the elements of a constant are compared as a whole"
    assert finding.help is not None and "where c.value[0]" in finding.help


def test_each_value_is_judged() -> None:
    """A rule that holds for one of two values only is refuted; for both it is proved."""
    text = (
        'rule r(x: any(dtype = "float32"), c: const(value = {})) '
        "{{ y = x * c * c; y where y.ndim == x.ndim => x }}"
    )
    assert verify_now(rule_of(text.format("1 | 2")), Settings(seconds=5)).verdict == "refuted"
    assert verify_now(rule_of(text.format("1 | -1")), Settings(seconds=5)).verdict == "proved"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "condition", ["c.value == 1e10", "c.value + 1e10 == 3.0", "c.value > 1e10", "c.value * 1e10 < 3"]
)
def test_a_number_beyond_a_narrow_type_gives_no_warning(condition: str) -> None:
    rule = rule_of(f"rule r(x, c: const) {{ y = x * c; y where {condition} => negative(x) }}")
    _, ((_, _, _, applications),) = both_ways(product_with(3.0, "float16"), [rule])
    assert applications == 0
