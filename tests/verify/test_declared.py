"""Operators that a rule file declares: with a value they verify by it, without one they are unknown
functions.
"""

from __future__ import annotations

import numpy as np
import pytest

import gslang.api as api
from gslang.dialect.dialect import Dialect
from gslang.dialect.load import load_dialect
from gslang.dialect.signature import Signature
from gslang.dialect.tensor_type import TensorType
from gslang.evaluate.errors import NoEvaluatorError
from gslang.evaluate.run import evaluate_node
from gslang.graph.graph import Graph
from gslang.verify.field.onnx import evaluate_onnx_in_field
from gslang.verify.field.relay import evaluate_in_field
from gslang.verify.field.residues import NoField
from gslang.verify.prove.prove import prove
from gslang.verify.prove.terms.paths import NotProved
from gslang.verify.verdict import Settings, Verdict, verify_now

DECLARED = """
op my.scale(x: tensor, by: float) -> tensor { shape = x.shape, dtype = x.dtype, value = x * by };
op my.mix(x: tensor, y: tensor, by: float = 1.0) -> tensor { shape = x.shape, dtype = x.dtype };
op my.dense_relu(data: tensor, weight: tensor) -> tensor { value = nn.relu(nn.dense(data, weight)) };
op my.swap(x: tensor) -> tensor { value = transpose(x, axes = [1, 0]) };
op my.mean_of(x: tensor) -> tensor { value = mean(x, axis = [-1], keepdims = true) };
"""


def verdict(rule: str) -> Verdict:
    rules = api.parse_rules(DECLARED + rule)
    assert rules.diagnostics == ()
    return verify_now(rules.own["r"], Settings(seconds=3, wanted=8))


@pytest.mark.parametrize(
    "rule",
    [
        "rule r(x) { a = my.scale(x); b = my.scale(a); b => my.scale(x, by = a.by * b.by) }",
        "rule r(x) { a = my.scale(x); a => x * a.by }",
        "rule r(x, w: var): nn.relu(nn.dense(x, w, out_dtype = \"\")) => my.dense_relu(x, w);",
        "rule r(x): my.swap(my.swap(x)) => x;",
        "rule r(x, y: any(shape = x.shape)): my.swap(x) + my.swap(y) => my.swap(x + y);",
        (
            'rule r(x: any(dtype = "float32")) { y = x * 2.0; my.mean_of(y) where y.ndim == x.ndim '
            "=> my.mean_of(x) * 2.0 }"
        ),
    ],
)  # fmt: skip
def test_declared_values_are_used(rule: str) -> None:
    found = verdict(rule)
    assert found.verdict in ("exact", "proved"), found


@pytest.mark.parametrize(
    "rule",
    [
        "rule r(x) { a = my.scale(x); b = my.scale(a); b => my.scale(x, by = a.by + b.by) }",
        "rule r(x, w: var): nn.relu(nn.dense(x, w, out_dtype = \"\")) => my.dense_relu(-x, w);",
        "rule r(x): my.swap(x) => x;",
        "rule r(x, y: any(shape = x.shape)): my.swap(x) + y => my.swap(x + y);",
        'rule r(x: any(dtype = "float32")): my.mean_of(x * x) => my.mean_of(x) * my.mean_of(x);',
    ],
)  # fmt: skip
def test_declared_values_refute(rule: str) -> None:
    found = verdict(rule)
    assert found.verdict == "refuted" and found.counterexample is not None, found


def test_without_a_value_equal_operands_give_equal_results() -> None:
    found = verdict("rule r(x, y: any(shape = x.shape)) { m = my.mix(x + y, y); m => my.mix(y + x, y, m.*) }")
    assert found.verdict in ("exact", "proved") and "my.mix" in found.reason


@pytest.mark.parametrize(
    "rule",
    [
        "rule r(x, y: any(shape = x.shape)) { m = my.mix(x, y); m => my.mix(y, x, m.*) }",
        "rule r(x, y: any(shape = x.shape)) { m = my.mix(x, y, by = 2.0); m => my.mix(x, y, by = 3.0) }",
        "rule r(x, y: any(shape = x.shape)) { m = my.mix(x, y); m => x }",
    ],
)
def test_without_a_value_nothing_else_is_known(rule: str) -> None:
    found = verdict(rule)
    assert found.verdict == "unknown" and found.counterexample is None, found


UNCOMPUTED = """dialect onnx;
op my.Fused(x: tensor, y: tensor) -> tensor;
op my.Other(x: tensor, by: int = 1) -> tensor { shape = x.shape, dtype = x.dtype };
rule summand(x): Add(my.Other(x, by = 2), x) => Add(x, my.Other(x, by = 2));
rule twice(x, y): my.Fused(Neg(Neg(x)), y) => my.Fused(x, y);
rule there_and_back(x, y): Transpose(Transpose(my.Fused(x, y), perm = [1, 0]), perm = [1, 0])
  => my.Fused(x, y);
rule swapped(x, y): my.Fused(x, y) => my.Fused(y, x);
rule other_number(x): my.Other(x, by = 2) => my.Other(x, by = 3);
rule other_operand(x): my.Other(Abs(x)) => my.Other(Neg(x));
rule not_varied(x): my.Other(x) => my.Other(x);
"""


def test_what_no_instance_computes_may_be_proved() -> None:
    rules = api.parse_rules(UNCOMPUTED)
    found = {name: verify_now(rule, Settings(seconds=20)) for name, rule in rules.own.items()}
    proved = {name: verdict.reason for name, verdict in found.items() if verdict.verdict == "proved"}
    assert proved.keys() == {"summand", "twice", "there_and_back"}
    assert all("gives equal results for equal operands" in reason for reason in proved.values())
    assert {verdict.verdict for verdict in found.values()} == {"proved", "unknown"}
    assert found["swapped"].unproved == "the target has a call of `my.Fused` that the source does not have"


def test_a_declared_operator_beside_wrong_arithmetic_is_still_unknown() -> None:
    """The unknown function might make it right: a constant one would."""
    assert (
        verdict(
            "rule r(x, y: any(shape = x.shape)) { m = my.mix(x - y, y); m => my.mix(y - x, y, m.*) }"
        ).verdict
        == "unknown"
    )


def test_onnx_rules_use_declared_values_too() -> None:
    declared = "dialect onnx;\nop my.Scale(x: tensor, by: float) -> tensor { value = Mul(x, by) };\n"
    right = api.parse_rules(
        declared + 'rule r(x: any(dtype = "float32")) { a = my.Scale(x); '
        "Relu(a) where a.by > 0.0 => my.Scale(Relu(x), a.*) }"
    )
    assert right.diagnostics == ()
    assert verify_now(right.own["r"], Settings(seconds=3, wanted=8)).verdict in ("tested", "exact", "proved")
    wrong = api.parse_rules(
        declared + "rule r(x): Relu(my.Scale(x, by = -0.5)) => my.Scale(Relu(x), by = -0.5);"
    )
    assert verify_now(wrong.own["r"], Settings(seconds=3, wanted=8)).verdict == "refuted"


FURTHER = "not_of_the_dialect"


def enlarged(signature: Signature) -> str:
    """The declaration of an operator with an attribute more, and a rule that changes only this attribute."""
    head, arrow, tail = str(signature).rpartition(") -> ")
    separator = ", " if signature.operands or signature.attributes else ""
    operands = ", ".join(f"x{k}" for k, spec in enumerate(signature.operands) if not spec.optional)
    call = f"{signature.name}({operands}{', ' * bool(operands)}"
    result = ".0" * signature.several_results
    return (
        f"{head}{separator}{FURTHER}: int = 0{arrow}{tail}\n"
        f"rule r({operands}) {{ y = {call}{FURTHER} = 1); y{result} => {call}y.*, {FURTHER} = 2){result} }}"
    )


@pytest.mark.parametrize("dialect", ["relay", "onnx"])
def test_nothing_is_known_of_an_operator_with_a_further_attribute(dialect: str) -> None:
    """All operators of a dialect: a type, a value or a proof would be that of the dialect's operator."""
    count = 0
    for signature in load_dialect(dialect).operators.values():
        if any(t.base in ("graph", "tensor") for spec in signature.attributes.values() for t in spec.types):
            continue
        rules = api.parse_rules(f"dialect {dialect};\n{enlarged(signature)}")
        assert signature.name not in rules.dialect.infer
        with pytest.raises(NotProved):
            prove(rules.own["r"], 100)
        graph = Graph(dialect)
        operands = [graph.add_input(f"x{k}", TensorType((2, 2), "float32")) for k in range(3)]
        call = graph.add(signature.name, operands[: len(signature.operands)], {})
        with pytest.raises(NoEvaluatorError, match="redeclared"):
            evaluate_node(graph, rules.dialect, call, [np.ones((2, 2), np.float32)] * len(signature.operands))
        with pytest.raises(NoField, match="redeclared|unknown shape"):
            count += 1
            graph.set_outputs([call])
            in_a_field(graph, rules.dialect, dialect)
    assert count > 150


def in_a_field(graph: Graph, dialect: Dialect, name: str) -> None:
    point = {f"x{k}": np.ones((2, 2), np.int64) for k in range(3)}
    if name == "relay":
        evaluate_in_field(graph, dialect, point, set(), by_order=False)
    else:
        evaluate_onnx_in_field(graph, point, set(), dialect.get)


def test_the_declared_value_is_that_of_a_redeclared_operator() -> None:
    for value, expected in (("data * data", 9.0), ("data + slope", 3.5)):
        rules = api.parse_rules(
            f"op nn.relu(data: tensor, slope: float = 0.5) -> tensor {{ value = {value} }};"
            f"rule r(data): nn.relu(data) => {value.replace('slope', '0.5')};"
        )
        graph = Graph("relay")
        call = graph.add("nn.relu", (graph.add_input("x", TensorType((1,), "float32")),), {})
        assert evaluate_node(graph, rules.dialect, call, [np.full(1, 3.0, np.float32)]) == [expected]


def test_a_redeclared_operator_without_a_value_is_an_unknown_function() -> None:
    declaration = (
        "op nn.relu(data: tensor, mood: int = 0) -> tensor { shape = data.shape, dtype = data.dtype };"
    )
    for mood, expected in ((1, "proved"), (2, "unknown")):
        rules = api.parse_rules(
            f"{declaration} rule r(x) {{ nn.relu(x, mood = 1) + x => x + nn.relu(x, mood = {mood}) }}"
        )
        found = verify_now(rules.own["r"], Settings(seconds=3, wanted=8))
        assert found.verdict == expected, found


def test_what_repeats_the_dialect_changes_nothing() -> None:
    rules = api.parse_rules(
        "dialect onnx; op Softmax(input: tensor, axis: int = -1) -> tensor;"
        "op Sub(A: tensor, B: tensor) -> tensor; rule r(x) { y = Softmax(x); Relu(y) => Softmax(x, y.*) }"
    )
    known = load_dialect("onnx")
    for name in ("Softmax", "Sub"):
        assert rules.dialect.operators[name].attributes == known.operators[name].attributes
        assert rules.dialect.operators[name].operands == known.operators[name].operands
        assert name in rules.dialect.infer
    assert verify_now(rules.own["r"], Settings(seconds=3, wanted=8)).verdict == "proved"


def test_a_further_trait_is_a_claim_about_another_operator() -> None:
    rules = api.parse_rules(
        "dialect onnx; op Sub(A: tensor, B: tensor) -> tensor is commutative; rule r(x, y): x - y => y - x;"
    )
    assert verify_now(rules.own["r"], Settings(seconds=3, wanted=8)).verdict == "unknown"


PICK = """
op my.pick(x: tensor(float), y: tensor(float), left: bool = true) -> tensor { value = (x if left else y) };
"""


@pytest.mark.parametrize("dialect", ["relay", "onnx"])
def test_one_side_may_read_what_the_other_does_not(dialect: str) -> None:
    rule = "rule r(x, y) { p = my.pick(x, y); p => my.pick(x, y) }"
    rules = api.parse_rules(f"dialect {dialect};" + PICK + rule)
    assert verify_now(rules.own["r"], Settings(seconds=20)).verdict == "refuted"


ROLL = """
op my.roll(x: tensor, k: int in 0 ..< x.shape[0]) -> tensor { shape = x.shape, dtype = x.dtype, value =
  concatenate((
    strided_slice(x, begin = (k,), end = (x.shape[0],), strides = (1,), axes = (0,)),
    strided_slice(x, begin = (0,), end = (k,), strides = (1,), axes = (0,)))) };
"""


@pytest.mark.parametrize("sum_, accepted", [("(a.k + b.k) % x.shape[0]", True), ("a.k", False)])
def test_no_graph_has_an_attribute_beyond_the_size_that_bounds_it(sum_: str, accepted: bool) -> None:
    rule = f"rule r(x) {{ a = my.roll(x); b = my.roll(a); b => my.roll(x, k = {sum_}) }}"
    found = verify_now(api.parse_rules(ROLL + rule).own["r"], Settings(seconds=20)).verdict
    assert found == ("exact" if accepted else "refuted")


def test_attributes_are_numbers_that_the_declared_value_names() -> None:
    rules = api.parse_rules("""
        op my.scale(x: tensor(float), by: int in 0..20) -> tensor { shape = x.shape, dtype = x.dtype,
          value = x * const(value = (by if by != 17 else 1), dtype = x.dtype) };
        op my.times(x: tensor(float), by: int) -> tensor { shape = x.shape, dtype = x.dtype,
          value = x * const(value = by, dtype = x.dtype) };
        rule r(x) { s = my.scale(x); s => my.times(x, by = s.by) }
    """)
    assert verify_now(rules.own["r"], Settings(seconds=20)).verdict == "refuted"
