"""Operators that a rule file declares: their types, their values, and their life in files and caches."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gslang
from gslang.dialect.signature import TypeInferenceError
from gslang.dialect.tensor_type import Symbol, TensorType, TupleType
from gslang.evaluate.errors import EvaluationError
from gslang.evaluate.run import evaluate
from gslang.graph.graph import Graph
from gslang.graph.inference import infer_node, infer_types
from tests.rule_files import check_file

DECLARED = """
## x times by, element by element.
op my.scale(x: tensor, by: float) -> tensor
    { shape = x.shape, dtype = x.dtype, value = x * by } is elementwise;
op my.twice(x: tensor) -> tensor { value = my.scale(x, by = 2.0) };
op my.pair(*xs: tensor, axis: int = 0) -> tuple
    { value = (concatenate((*xs,), axis = axis), nn.relu(xs[0])) };
op my.stack(x: tensor, n: int) -> tensor { shape = (n, *x.shape), dtype = "int32" };
op my.odd(x: tensor) -> tensor { shape = (1, *x.shape), value = nn.relu(x) };

rule scale_scale(x) { a = my.scale(x); b = my.scale(a); b => my.scale(x, by = a.by * b.by) }
rule lower(x): my.twice(x) => x + x;

test "two scales" for scale_scale {
    x: input float32[2, 3];
    my.scale(my.scale(x, by = 2.0), by = 3.0) => my.scale(x, by = 6.0)
}
test "lowered, any size" for lower { x: input float32[2, n]; my.twice(x) => x + x }
"""
X = np.arange(6, dtype=np.float32).reshape(2, 3) - 2


@pytest.fixture(scope="module")
def rules() -> gslang.RuleSet:
    return gslang.parse_rules(DECLARED)


def graph_of(op: str, *types: TensorType, **attrs: object) -> tuple[Graph, int]:
    graph = Graph()
    operands = [graph.add_input(f"x{k}", type_) for k, type_ in enumerate(types)]
    node = graph.add(op, operands, attrs)
    graph.set_outputs([node])
    return graph, node


def test_types_follow_from_the_declaration(rules: gslang.RuleSet) -> None:
    n = Symbol("n")
    for op, type_, attrs, expected in [
        ("my.scale", TensorType((2, n), "float16"), {"by": 2.0}, TensorType((2, n), "float16")),
        ("my.twice", TensorType((2, n), "float32"), {}, TensorType((2, n), "float32")),
        ("my.stack", TensorType((2, 3), "float32"), {"n": 7}, TensorType((7, 2, 3), "int32")),
        ("my.stack", TensorType(None, "float32"), {"n": 7}, TensorType(None, "int32")),
    ]:
        graph, node = graph_of(op, type_, **attrs)
        assert infer_node(graph, rules.dialect, node) == expected, op


def test_a_variadic_operand_and_a_tuple_of_results(rules: gslang.RuleSet) -> None:
    graph = Graph()
    x = graph.add_input("x", TensorType((2, 3), "float32"))
    pair = graph.add("my.pair", [x, x], {"axis": 1})
    graph.set_outputs([graph.add_proj(pair, 0), graph.add_proj(pair, 1)])
    assert infer_types(graph, rules.dialect) == []
    assert graph.types[pair] == TupleType((TensorType((2, 6), "float32"), TensorType((2, 3), "float32")))
    both, first = evaluate(graph, rules.dialect, {"x": X})
    np.testing.assert_array_equal(both, np.concatenate([X, X], axis=1))
    np.testing.assert_array_equal(first, np.maximum(X, 0))


def test_values_follow_from_the_declaration(rules: gslang.RuleSet) -> None:
    graph, _ = graph_of("my.twice", TensorType((2, 3), "float32"))
    np.testing.assert_array_equal(evaluate(graph, rules.dialect, {"x0": X})[0], 2 * X)


def test_without_a_value_there_is_none(rules: gslang.RuleSet) -> None:
    graph, _ = graph_of("my.stack", TensorType((2, 3), "float32"), n=2)
    with pytest.raises(EvaluationError, match="its declaration gives no `value`"):
        evaluate(graph, rules.dialect, {"x0": X})


def test_a_declaration_that_contradicts_itself(rules: gslang.RuleSet) -> None:
    graph, node = graph_of("my.odd", TensorType((2, 3), "float32"))
    with pytest.raises(TypeInferenceError, match="its declared type and its value contradict each other"):
        infer_node(graph, rules.dialect, node)


def test_on_the_command_line_cold_and_warm(tmp_path: Path) -> None:
    """The second run reads the checked program from the cache: meanings must survive it."""
    path = tmp_path / "mine.gsl"
    path.write_text(DECLARED, encoding="utf-8")
    for _ in range(2):
        ran = subprocess.run(
            [sys.executable, "-m", "gslang", "test", str(path)], capture_output=True, text=True, check=False
        )
        assert (ran.returncode, "2 passed" in ran.stderr + ran.stdout) == (0, True), ran.stderr


def test_several_files_share_their_operators(tmp_path: Path) -> None:
    (tmp_path / "a.gsl").write_text("rule plain(x): nn.relu(nn.relu(x)) => nn.relu(x);\n", encoding="utf-8")
    (tmp_path / "b.gsl").write_text(DECLARED, encoding="utf-8")
    rules = gslang.load(tmp_path)
    graph, node = graph_of("my.twice", TensorType((2, 3), "float32"))
    assert infer_node(graph, rules.dialect, node) == TensorType((2, 3), "float32")
    assert rules.apply(graph).applications == 1


def test_an_importing_file_has_the_meaning_too(tmp_path: Path) -> None:
    (tmp_path / "ops.gsl").write_text(DECLARED, encoding="utf-8")
    user = tmp_path / "user.gsl"
    user.write_text('use "ops.gsl";\nrule back(x): my.scale(x, by = 2.0) => my.twice(x);\n', encoding="utf-8")
    rules = gslang.load(user)
    graph, _ = graph_of("my.scale", TensorType((2, 3), "float32"), by=2.0)
    result = rules.apply(graph)
    assert result.applications == 1
    np.testing.assert_array_equal(evaluate(result.graph, rules.dialect, {"x0": X})[0], 2 * X)


TYPED = """
op my.opaque(x: tensor) -> tensor { shape = x.shape, dtype = x.dtype };
op my.outer(x: tensor) -> tensor { value = my.opaque(x) + 1.0 };
rule to_opaque(x): nn.relu(x) => my.opaque(x);
rule to_outer(x): exp(x) => my.outer(x);
test "typed, not computed" for to_opaque {
    x: input float32[2];
    nn.relu(x) => my.opaque(x)
}
test "through another's declaration" for to_outer {
    x: input float32[2];
    exp(x) => my.outer(x)
}
"""


def test_an_operator_with_a_type_but_no_value_is_tested_in_structure_and_never_refuted() -> None:
    from gslang.base.source import Source
    from gslang.check.check import check_source
    from gslang.testing import run_tests
    from gslang.verify.verdict import Settings, verify

    program = check_source(Source("typed.gsl", TYPED))
    assert [(o.passed, o.problem) for o in run_tests(program)] == [(True, None), (True, None)]
    for name in program.own_rules:
        verdict = verify(program.rules[name], Settings(seconds=2))
        assert verdict.verdict == "unknown" and "no evaluator is known" in verdict.reason


def test_an_operator_of_another_domain_without_a_meaning_is_not_refuted() -> None:
    from gslang.base.source import Source
    from gslang.check.check import check_source
    from gslang.verify.verdict import Settings, verify

    program = check_source(Source(
        "typed.gsl", "dialect onnx; op my.f(x: tensor) -> tensor; rule r(x): Relu(x) => my.f(x);"
    ))
    verdict = verify(program.rules["r"], Settings(seconds=2))
    assert verdict.verdict == "unknown" and "no evaluator is known" in verdict.reason


@pytest.mark.parametrize(
    ("other", "clash"),
    [
        ("op my.scale(x: tensor, by: float) -> tensor;", True),
        ("op my.other(x: tensor) -> tensor;", False),
        ('use "ops.gsl";', False),
    ],
)
def test_an_operator_of_two_imports_is_told(tmp_path: Path, other: str, clash: bool) -> None:
    (tmp_path / "ops.gsl").write_text(DECLARED, encoding="utf-8")
    (tmp_path / "more.gsl").write_text(f"{other}\n", encoding="utf-8")
    user = tmp_path / "user.gsl"
    user.write_text('use "ops.gsl";\nuse "more.gsl";\nrule r(x): my.twice(x) => x + x;\n', encoding="utf-8")
    found = [d.message for d in check_file(user).diagnostics]
    assert found == (["two imports declare the operator `my.scale`"] if clash else [])


def test_an_attribute_may_be_called_like_a_kind() -> None:
    declared = "op my.f(x: tensor, const: float = 1.0) -> tensor { value = x * const };\n"
    assert gslang.parse_rules(declared + "rule r(x): my.f(x) => x;\n").diagnostics == ()
