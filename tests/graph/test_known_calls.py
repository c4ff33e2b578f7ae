"""Calls with attributes or operands that their operator is not declared with, and attributes that may be
operands.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gslang
from gslang.cli.main import main
from gslang.dialect.dialect import Dialect
from gslang.dialect.load import load_dialect
from gslang.engine.common_subexpressions import merge_equal_calls
from gslang.evaluate.errors import EvaluationError
from gslang.evaluate.fold import fold
from gslang.evaluate.run import evaluate
from gslang.formats.json_reader import read_json
from gslang.formats.json_writer import write_json
from gslang.formats.relay import read_relay, write_relay
from gslang.graph.compare import count_calls
from gslang.graph.graph import Graph

RELAY = load_dialect("relay")
PAD = (
    "def @main(%x: Tensor[(1, 2, 4, 4), float32], %w: Tensor[(3, 2, 3, 3), float32]) {{ %0 = {pad}; "
    "nn.conv2d(%0, %w, kernel_size=[3, 3]) }}"
)
WIDTH = "pad_width=[[0, 0], [0, 0], [1, 1], [1, 1]]"


def pad(text: str) -> Graph:
    return read_relay(PAD.format(pad=text), "g", dialect=RELAY)


def document(attrs: dict[str, Any], inputs: int = 1, op: str = "nn.relu") -> str:
    leaf = {"id": "x", "kind": "input", "shape": [2, 3], "dtype": "float32"}
    nodes = [
        leaf, {"id": "y", "kind": "call", "op": op, "inputs": ["x"] * inputs, "attrs": attrs},
        {"id": "z", "kind": "call", "op": "exp", "inputs": ["y"]},
    ]
    return json.dumps({
        "format": "gsl-graph",
        "version": 1,
        "dialect": "relay",
        "name": "main",
        "nodes": nodes,
        "outputs": ["z"],
    })


@pytest.mark.parametrize(
    ("call", "fires"),
    [
        (f"nn.pad(%x, {WIDTH})", 1),
        (f"nn.pad(%x, 0f, {WIDTH})", 1),
        (f"nn.pad(%x, {WIDTH}, pad_value=0f)", 1),
        (f"nn.pad(%x, 5f, {WIDTH})", 0),
        (f"nn.pad(%x, {WIDTH}, pad_value=5f)", 0),
        (f'nn.pad(%x, {WIDTH}, pad_mood="happy")', 0),
        (f"nn.pad(%x, 0f, {WIDTH}, pad_value=5f)", 0),
    ],
)
def test_padding_of_every_spelling(call: str, fires: int) -> None:
    graph = pad(call)
    result = gslang.load("std.relay.conv").apply(graph, rules=["simplify_pad_conv"])
    assert result.applications == fires
    if not fires:
        assert write_relay(result.graph, RELAY) == write_relay(graph, RELAY)


@pytest.mark.parametrize("spelling", [f"nn.pad(%x, 5f, {WIDTH})", f"nn.pad(%x, {WIDTH}, pad_value=5f)"])
def test_an_operand_or_an_attribute_is_one_thing_to_rules_and_numbers(spelling: str) -> None:
    graph = pad(spelling)
    inputs = {"x": np.ones((1, 2, 4, 4), np.float32), "w": np.ones((3, 2, 3, 3), np.float32)}
    (found,) = evaluate(graph, RELAY, inputs)
    assert found[0, 0, 0, 0] == 2 * (5 * 5 + 4)
    for source in (
        "nn.pad(x, pad_value = 5.0)", "nn.pad(x, 5.0)", "nn.pad(x, v)", "nn.pad(x, pad_value = _)",
        "nn.pad(x, pad_value = (n := _))",
    ):
        header = "x, v" if ", v)" in source else "x"
        rules = gslang.parse_rules(f"@once rule r({header}) {{ p = {source}; p => nn.relu(nn.pad(x, p.*)) }}")
        assert {miss.reason for miss in rules["r"].why_not(graph)} <= {"matches"} and len(
            list(rules["r"].matches(graph))
        ) == 1
        result = rules.apply(graph)
        (after,) = evaluate(result.graph, RELAY, inputs)
        np.testing.assert_array_equal(found, after)
        assert read_relay(write_relay(result.graph, RELAY), "g", dialect=RELAY)
    for source in (
        "nn.pad(x)", "nn.pad(x, none)", "nn.pad(x, pad_value = none)", "nn.pad(x, pad_value = 0.0)",
    ):
        assert gslang.parse_rules(f"rule r(x): {source} => x;").apply(graph).applications == 0, source


def test_untouched_calls_keep_their_spelling() -> None:
    graph = pad(f"nn.pad(%x, {WIDTH}, pad_value=0.1f)")
    result = gslang.parse_rules(
        "rule r(x, w) { c = nn.conv2d(x, w, groups = 1); c => nn.conv2d(x, w, c.*, groups = 2) }"
    ).apply(graph, once=True)
    assert "pad_value=0.1f" in write_relay(result.graph, RELAY) and '"pad_value": 0.1' in write_json(
        result.graph
    )


@pytest.mark.parametrize(("attrs", "inputs"), [({"mood": 1}, 1), ({"mood": None}, 1), ({}, 2)])
def test_nothing_looks_into_an_opaque_call(
    attrs: dict[str, Any], inputs: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = document(attrs, inputs)
    graph = read_json(text, dialect=RELAY)
    (warning,) = graph.meta["warnings"]
    assert ("`mood`" if attrs else "1 operand (data), not 2") in warning
    for rule in (
        "rule r(x): nn.relu(x) => x;", "rule r(x, f: op(elementwise)): f(x) => x;",
        "rule r(x): exp(nn.relu?(x)) => x;",
    ):
        result = gslang.parse_rules(rule).apply(graph)
        assert count_calls(result.graph).get("nn.relu", 0) == 1, rule
    assert read_json(write_json(graph), dialect=RELAY).op == graph.op
    assert json.loads(write_json(graph))["nodes"][1]["op"] == "nn.relu"
    with pytest.raises(EvaluationError):
        evaluate(graph, RELAY, {"x": np.ones((2, 3), np.float32)})
    assert fold(graph.copy(), RELAY) == merge_equal_calls(graph.copy(), RELAY) == 0
    path = tmp_path / "g.json"
    path.write_text(text)
    assert main(["std.relay", str(path), "-o", str(tmp_path / "o.json")]) == 0
    assert capsys.readouterr().err.count("warning:") == 1


def test_graphs_made_by_hand() -> None:
    graph = Graph()
    x = graph.add_input("x", None)
    y = graph.add("nn.relu", [x], {"mood": 1})
    graph.set_outputs([y])
    rules = gslang.parse_rules("rule r(x): nn.relu(x) => x;")
    assert (
        rules.apply(graph).applications == 0 and list(rules["r"].matches(graph)) == []
        and graph.op[y] == "nn.relu"
    )
    with pytest.raises(EvaluationError, match="mood"):
        evaluate(graph, RELAY, {"x": np.ones(3)})


def test_a_declaration_of_the_users_own_makes_it_known() -> None:
    rules = gslang.parse_rules(
        "op nn.relu(data: tensor, mood: int = 0) -> tensor; rule r(x): nn.relu(x, mood = 1) => x;"
    )
    graph = read_json(document({"mood": 1}), dialect=rules.dialect)
    assert "warnings" not in graph.meta and rules.apply(graph).applications == 1


def test_every_declared_operator_with_an_attribute_too_many() -> None:
    """Whatever the operator: no rule, no type, no value, and the same text again."""
    for name, signature in RELAY.operators.items():
        graph = Graph()
        operands = [graph.add_input(f"x{k}", None) for k, _ in enumerate(signature.operands)]
        call = graph.add(name, operands, {"not_declared": 1})
        graph.set_outputs([call])
        text = write_relay(graph, RELAY)
        read = read_relay(text, "g", dialect=RELAY)
        assert read.op[read.outputs[0]] == f"{name}{{not_declared}}" and write_relay(read, RELAY) == text
        assert write_json(read_json(write_json(read), dialect=RELAY)) == write_json(read)


@pytest.mark.parametrize(
    ("shapes", "more", "transposed"),
    [
        ("2, 3, 4|2, 5, 4", "", True),  # TVM up to 0.8: only this reading fits
        ("2, 3, 4|2, 4, 5", "", False),  # from 0.9 on
        ("2, 4, 4|2, 4, 4", "", True),
        ("2, 4, 4|2, 4, 4", "%1 = nn.batch_matmul(%a, %b, transpose_b=True);", False),
        ("2, 4, 4|2, 4, 4", "%1 = nn.batch_matmul(%a, %b, transpose_b=False);", False),
    ],
)
def test_what_an_omitted_transposition_means(shapes: str, more: str, transposed: bool) -> None:
    """TVM 0.9 has changed the default of `transpose_b`, and prints it only where it differs."""
    a, b = shapes.split("|")
    last = "(%0, %1)" if more else "%0"
    text = (
        f"def @main(%a: Tensor[({a}), float32], %b: Tensor[({b}), float32]) {{ %0 = nn.batch_matmul(%a, %b); "
        f"{more} {last} }}"
    )
    graph = read_relay(text, "g", dialect=RELAY)
    first = next(node for node, op in enumerate(graph.op) if op == "nn.batch_matmul")
    assert RELAY.operators["nn.batch_matmul"].complete(graph.attrs[first])["transpose_b"] is transposed
    once = write_relay(graph, RELAY)
    again = read_relay(once, "g", dialect=RELAY)
    assert write_relay(again, RELAY) == once and ("transpose_b=False" in once) is (not transposed)
    assert read_json(write_json(graph), dialect=RELAY).attrs == graph.attrs


def test_new_batch_products_say_whether_they_transpose() -> None:
    graph = Graph()
    graph.set_outputs(
        [graph.add("nn.batch_matmul", [graph.add_input("a", None), graph.add_input("b", None)])]
    )
    assert "transpose_b=True" in write_relay(graph, RELAY)


def test_an_operators_name_has_no_braces() -> None:
    with pytest.raises(gslang.InputError, match="`op` is the name of an operator"):
        read_json(document({}, op="nn.relu{x}"), dialect=Dialect("relay", {}))


@pytest.mark.parametrize(
    "call",
    ["concatenate((%a, %b), axis=0)", "clip(%a, a_min=1f)", "nn.dense(%a)", 'clip(%a, a_min="x", a_max=1f)'],
)
def test_what_is_a_warning_in_one_format_is_one_in_the_other(call: str) -> None:
    graph = read_relay(
        f"def @main(%a: Tensor[(2), int64], %b: Tensor[(3), int32]) {{ {call} }}", "g", dialect=RELAY
    )
    assert graph.meta["warnings"]
    text = write_json(graph)
    again = read_json(text, dialect=RELAY)
    assert again.meta["warnings"] and write_json(again) == text
    relay = write_relay(again, RELAY)
    assert write_relay(read_relay(relay, "g", dialect=RELAY), RELAY) == relay
