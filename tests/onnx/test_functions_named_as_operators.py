"""Local functions with the names of operators: ONNX leaves it to the runtimes which of them a call means."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

import gslang
from gslang.cli.main import main

TWICE = "dialect onnx;\nrule twice(a): Relu(Relu(a)) => Relu(a);\n"
OPSET = [helper.make_opsetid("", 21)]


def model(
    operator: str, domain: str = "", overload: str = "", results: Sequence[str] = ("y",), **attributes: Any
) -> onnx.ModelProto:
    """Two calls, one after the other, of a local function that negates."""
    body = [helper.make_node("Neg", ["x"], [name]) for name in results]
    function = helper.make_function(domain, operator, ["x"], list(results), body, OPSET)
    function.overload = overload
    more = [f"more{k}" for k in range(len(results) - 1)]
    nodes = [
        helper.make_node(operator, ["a"], ["b", *more], domain=domain, overload=overload, **attributes),
        helper.make_node(operator, ["b"], ["c"], domain=domain, overload=overload, **attributes),
    ]
    sides = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, [3])] for name in "ac"]
    graph = helper.make_graph(nodes, "g", *sides)
    opsets = OPSET if not domain else [*OPSET, helper.make_opsetid(domain, 1)]
    return helper.make_model(graph, functions=[function], opset_imports=opsets, ir_version=10)


@pytest.mark.parametrize(
    ("operator", "domain", "overload"),
    [
        ("Relu", "", ""), ("Relu", "ai.onnx", ""), ("Relu", "", "other"), ("Constant", "", ""),
        ("Upsample", "", ""), ("Gelu", "com.microsoft", ""),
    ],
)
def test_a_call_is_neither_matched_nor_computed(operator: str, domain: str, overload: str) -> None:
    given = model(operator, domain, overload)
    graph = gslang.from_onnx(given)
    said = [text for text in graph.meta["warnings"] if "the model has a local function" in text]
    assert len(said) == 1 and f"{operator}` is an operator" in said[0]
    rules = gslang.parse_rules(TWICE) if operator == "Relu" else gslang.load("std.onnx")
    result = rules.apply(graph, fold=True)
    assert not result.applications
    assert gslang.to_onnx(result.graph) == given


def test_in_the_body_of_an_if_too() -> None:
    given = model("Relu")
    branch = helper.make_graph(
        [helper.make_node("Relu", ["a"], ["r"]), helper.make_node("Relu", ["r"], ["s"])], "then", [],
        [helper.make_tensor_value_info("s", TensorProto.FLOAT, [3])],
    )
    del given.graph.node[:]
    given.graph.node.append(helper.make_node("If", ["p"], ["c"], then_branch=branch, else_branch=branch))
    given.graph.input.append(helper.make_tensor_value_info("p", TensorProto.BOOL, []))
    assert not gslang.parse_rules(TWICE).apply(gslang.from_onnx(given)).applications


def test_a_function_with_more_results_than_the_operator() -> None:
    graph = gslang.from_onnx(model("Relu", results=("y", "z")))
    assert gslang.to_onnx(graph).graph.node[0].output == ["b", "more0"]


def test_an_operator_that_the_rules_declare_is_the_function() -> None:
    rules = "dialect onnx;\nop my.Relu(x: tensor) -> tensor;\nrule r(a): my.Relu(my.Relu(a)) => a;\n"
    parsed = gslang.parse_rules(rules)
    assert parsed.apply(model("Relu", "my")).applications


def test_without_its_function_it_is_no_operator(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    onnx.save(model("Relu"), tmp_path / "m.onnx")
    assert main(["convert", str(tmp_path / "m.onnx"), "-o", str(tmp_path / "m.json")]) == 0
    assert "only ONNX models have local functions: `Relu`" in capsys.readouterr().err
    assert '"op": "local.Relu"' in (tmp_path / "m.json").read_text(encoding="utf-8")
