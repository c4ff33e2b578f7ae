"""Element types of instances: what a call demands of its operand is not demanded below one whose result has a
type of its own, and constants have the type of what stands beside them.
"""

from __future__ import annotations

import re

import pytest

import gslang.api as api
from gslang.verify.instances.draw import Search, instances
from gslang.verify.verdict import Settings, Verdict, verify_now


def judged(rule: str, dialect: str = "relay") -> Verdict:
    """The verdict on a rule `r`."""
    rules = api.parse_rules(f"dialect {dialect};\n{rule}")
    assert rules.diagnostics == ()
    return verify_now(rules.own["r"], Settings(seconds=60))


RELAY, ONNX = 'cast({}, dtype = "{}")', 'Cast({}, to = "{}")'


@pytest.mark.parametrize("dialect, source, target", [
    ("relay", "where(equal(x, y), a, b)", "where(equal({x bool}, {y bool}), a, b)"),
    ("relay", "logical_not(equal(x, y))", "logical_not(equal({x bool}, {y bool}))"),
    ("relay", "where({x bool}, a, b)", "where({{x int8} bool}, a, b)"),
    ("onnx", "Where(Equal(x, y), a, b)", "Where(Equal({x bool}, {y bool}), a, b)"),
    ("onnx", "Not(Equal(x, y))", "Not(Equal({x bool}, {y bool}))"),
    ("onnx", "Where({x bool}, a, b)", "Where({{x int8} bool}, a, b)"),
])
def test_conditions_compare_more_than_truth_values(dialect: str, source: str, target: str) -> None:
    """`{x bool}`: a conversion of `x`."""
    inputs = ", ".join(name for name in "xyab" if re.search(rf"\b{name}\b", source))
    rule, form = f"rule r({inputs}): {source} => {target};", RELAY if dialect == "relay" else ONNX
    while (found := re.search(r"\{([^{}]+) (\w+)\}", rule)) is not None:
        rule = rule.replace(found[0], form.format(found[1], found[2]))
    assert judged(rule, dialect).verdict == "refuted"


def test_indices_are_those_of_numbers_of_any_type() -> None:
    side = "take(t, argmax(x), axis = 0)"
    rules = api.parse_rules(f"dialect relay; rule r(t, x): {side} => {side};")
    graphs = [found.before for found in instances(rules.own["r"], Search(), 0, 60.0, 60)]
    found = {
        getattr(graph.types[graph.operands[node][0]], "dtype", None)
        for graph in graphs for node in graph.nodes() if graph.op[node] == "argmax"
    }
    assert {"float32", "int32"} <= found


@pytest.mark.parametrize("source, wrong, right", [
    (
        "where(greater(x, const(value = 0, shape = ())), x, const(value = 0, shape = ()))",
        'minimum(x, const(value = 0, dtype = "int8"))', 'maximum(x, const(value = 0, dtype = "int8"))',
    ),
    (
        "where(not_equal(x, const(value = 0, shape = ())), a, b)",
        'where(equal(x, const(value = 0, dtype = "int8")), a, b)',
        'where(equal(x, const(value = 0, dtype = "int8")), b, a)',
    ),
])
def test_constants_have_the_type_that_is_stated_beside_them(source: str, wrong: str, right: str) -> None:
    inputs = 'x: any(dtype = "int8")' + (", a, b" if "a, b" in source else "")
    assert judged(f"rule r({inputs}): {source} => {wrong};").verdict == "refuted"
    assert judged(f"rule r({inputs}): {source} => {right};").verdict in ("proved", "exact", "tested")


def test_floats_of_several_types_may_occur_where_one_is_converted() -> None:
    found = judged('rule r(x): cast(x, dtype = "float32") * const(value = 1.0, shape = ()) => x;')
    assert found.verdict == "refuted" and "float32 against float" in found.reason


@pytest.mark.parametrize("side", [
    "concatenate((x, y), axis = 0)", "stack((x, y), axis = 0)", "nn.bias_add(x, y)",
    'concatenate((cast(x, dtype = "int16"), y), axis = 0)', "concatenate((x + x, y), axis = 0)",
])
def test_inputs_beside_one_of_a_stated_type_mostly_fit(side: str) -> None:
    rules = api.parse_rules(f'dialect relay; rule r(x: any(dtype = "int8"), y): {side} => {side};')
    assert len(list(instances(rules.own["r"], Search(), 0, 60.0, 72))) >= 24
