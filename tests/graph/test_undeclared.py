"""An attribute or operand that a declaration does not know is never ignored: all operators of both dialects,
in all formats, and all tests of the shipped rules with one thing too many in each call.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

import gslang
from gslang.check.checked import CheckedProgram
from gslang.check.modules import load_module
from gslang.cli.main import main
from gslang.dialect.load import load_dialect
from gslang.dialect.onnx.versions import OPSETS
from gslang.dialect.signature import Signature
from gslang.engine.common_subexpressions import merge_equal_calls
from gslang.engine.externs import with_externs
from gslang.engine.fixed_point import Limits, run_to_fixed_point
from gslang.engine.meaning import with_meanings
from gslang.evaluate.errors import EvaluationError
from gslang.evaluate.fold import fold
from gslang.evaluate.random_inputs import random_inputs
from gslang.evaluate.run import evaluate
from gslang.formats.json_reader import read_json
from gslang.formats.json_writer import write_json
from gslang.formats.relay import read_relay, write_relay
from gslang.graph.graph import ABSENT, INPUT, Graph
from gslang.graph.known_calls import prepared
from gslang.testing import build_graph

MODULES = {"relay": ("std.relay", "std.taso", "std.discovered"), "onnx": ("std.onnx", "std.onnxruntime")}
EXTRA = "not_declared"


def operators(dialect: str) -> list[Signature]:
    """Those that rules can speak of: bodies are no attribute that a text could hold."""
    return [s for s in load_dialect(dialect).operators.values() if not _has_body(s)]


def _has_body(signature: Signature) -> bool:
    return any(t.base == "graph" for spec in signature.attributes.values() for t in spec.types)


def operand_count(signature: Signature, too_many: bool) -> int | None:
    """As many operands as are declared, or one more; None if there can be any number."""
    if any(spec.variadic for spec in signature.operands):
        return None if too_many else len(signature.operands)
    return len(signature.operands) + too_many


def document(dialect: str, how: str) -> tuple[str, int]:
    """All operators in one graph, each with an attribute or operand too many; and how many calls there are.
    """
    nodes: list[dict[str, Any]] = [{"id": "x", "kind": "input", "shape": [2, 3], "dtype": "float32"}]
    for k, signature in enumerate(operators(dialect)):
        count = operand_count(signature, how == "operand")
        if count is not None:
            attrs = {EXTRA: k} if how == "attribute" else {}
            nodes.append({
                "id": f"c{k}", "kind": "call", "op": signature.name, "inputs": ["x"] * count, "attrs": attrs,
            })
    graph = {
        "format": "gsl-graph", "version": 1, "dialect": dialect, "name": "main", "nodes": nodes,
        "outputs": [node["id"] for node in nodes[1:]],
    }
    return json.dumps(graph), len(nodes) - 1


@cache
def shipped(dialect: str) -> list[gslang.RuleSet]:
    return [gslang.load(module) for module in MODULES[dialect]]


@pytest.mark.parametrize("how", ["attribute", "operand"])
@pytest.mark.parametrize("dialect", ["relay", "onnx"])
def test_no_format_and_no_rule_ignores_it(dialect: str, how: str) -> None:
    known = load_dialect(dialect)
    text, calls = document(dialect, how)
    graph = read_json(text, dialect=known)
    assert calls > (180 if dialect == "relay" else 150)
    opaque = [op for op in graph.op if op.endswith("}")]
    assert len(opaque) == calls
    assert len(graph.meta["warnings"]) == calls  # one of each operator
    written = write_json(graph)
    assert write_json(read_json(written, dialect=known)) == written
    if dialect == "relay":
        relay = write_relay(graph, known)
        again = read_relay(relay, "g", dialect=known)
        assert [op for op in again.op if op.endswith("}")] == opaque
        assert write_relay(again, known) == relay
    for rules in shipped(dialect):
        result = rules.apply(graph, fold=True)
        assert result.applications == 0
        assert write_json(result.graph) == written
    assert fold(graph.copy(), known) == merge_equal_calls(graph.copy(), known) == 0


@pytest.mark.parametrize("dialect", ["relay", "onnx"])
def test_no_evaluator_computes_it(dialect: str) -> None:
    known = load_dialect(dialect)
    for how in ("attribute", "operand"):
        graph = read_json(document(dialect, how)[0], dialect=known)
        inputs = random_inputs(graph)
        for node in graph.outputs:
            one = graph.copy()
            one.set_outputs([node])
            with pytest.raises(EvaluationError):
                evaluate(one, known, inputs)


def test_no_warning_is_told_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, calls = document("relay", "attribute")
    (tmp_path / "g.json").write_text(text)
    (tmp_path / "r.gsl").write_text("rule r(x): nn.relu(nn.relu(x)) => nn.relu(x);")
    lines = (
        ["apply", str(tmp_path / "r.gsl"), str(tmp_path / "g.json"), "-o", str(tmp_path / "o.json")],
        ["convert", str(tmp_path / "o.json"), "-o", str(tmp_path / "o.relay")],
        ["convert", str(tmp_path / "o.relay"), "-o", str(tmp_path / "p.json")],
    )
    for line in lines:
        assert main(line) == 0
        assert capsys.readouterr().err.count("warning:") == calls
    assert json.loads((tmp_path / "p.json").read_text())["outputs"]


def onnx_models(how: str) -> Iterator[tuple[str, onnx.ModelProto]]:
    """A model for each operator of today's operator set, and of onnxruntime's own."""
    for signature in operators("onnx"):
        count = operand_count(signature, how == "operand")
        if count is None:
            continue
        domain, _, name = signature.name.rpartition(".")
        attrs = {EXTRA: 1} if how == "attribute" else {}
        node = helper.make_node(name, ["x"] * count, ["y"], domain=domain, **attrs)
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])
        y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
        opsets = [helper.make_opsetid("", onnx.defs.onnx_opset_version())]
        opsets += [helper.make_opsetid(domain, 1)] if domain else []
        yield signature.name, helper.make_model(
            helper.make_graph([node], "g", [x], [y]), opset_imports=opsets, ir_version=10
        )


@pytest.mark.parametrize("how", ["attribute", "operand"])
def test_no_onnx_model_loses_it(how: str) -> None:
    count = 0
    for name, model in onnx_models(how):
        count += 1
        graph = gslang.from_onnx(model)
        assert graph.op[1].startswith(f"{name}{{{EXTRA if how == 'attribute' else 'operand '}")
        (told,) = [text for text in graph.meta["warnings"] if not text.startswith("only types")]
        assert f"`{name}`" in told
        assert gslang.to_onnx(graph) == model
        assert write_json(read_json(write_json(graph), dialect=load_dialect("onnx"))) == write_json(graph)
    assert count > 250


def programs(module: str) -> Iterator[CheckedProgram]:
    for program in map(with_meanings, load_module(module)):
        externs = any(extern.function is None for rule in program.rules.values() for extern in rule.externs)
        yield with_externs(program, allow=False) if externs else program


def with_extra(before: Graph, call: int, how: str, signature: Signature | None) -> Graph | None:
    """The graph with an attribute or operand too many in a call; None where any number may be."""
    graph = before.copy()
    if how == "attribute":
        graph.attrs[call] = {**graph.attrs[call], EXTRA: 1}
        return graph
    operands = graph.operands[call]
    if signature is None or not operands or any(spec.variadic for spec in signature.operands):
        return None
    filled = (*operands, *[ABSENT] * (len(signature.operands) - len(operands)), operands[0])
    graph.operands[call] = filled
    graph.add_user(operands[0], call)
    return graph


def opaque_calls(graph: Graph) -> int:
    return sum(graph.op[node].endswith("}") for node in graph.in_order())


def keeps(program: CheckedProgram, rule: str, graph: Graph, call: int) -> bool:
    """True if the rule leaves an opaque call in the graph, or would drop any other value in its place."""
    found = graph.copy()
    run_to_fixed_point(found, program.named(rule), Limits(sweeps=8))
    if opaque_calls(found) == opaque_calls(graph):
        return True
    other = graph.copy()
    for operand in set(other.operands[call]) - {ABSENT}:
        other.drop_user(operand, call)
    other.op[call], other.operands[call], other.attrs[call], other.names[call] = INPUT, (), {}, "other"
    run_to_fixed_point(other, program.named(rule), Limits(sweeps=8))
    return call not in other.reverse_post_order()


@pytest.mark.parametrize("module", [module for modules in MODULES.values() for module in modules])
def test_no_shipped_rule_drops_it(module: str) -> None:
    """In the graph of each test in which a rule applies, each call in turn has one thing too many."""
    count = 0
    for program in programs(module):
        for test in program.tests:
            if test.expected is None:
                continue
            before = build_graph(program, test, test.source)
            for call in [node for node in before.nodes() if before.is_call(node)]:
                signature = program.dialect.operators.get(before.op[call])
                for how in ("attribute", "operand"):
                    extended = with_extra(before, call, how, signature)
                    if extended is None or OPSETS in extended.meta and how == "operand":
                        continue
                    graph = prepared(extended, program.dialect)
                    assert opaque_calls(graph) == 1, (test.rule, before.op[call])
                    assert keeps(program, test.rule, graph, call), (test.rule, before.op[call], how)
                    count += 1
    assert count > (0 if module in ("std.taso", "std.discovered") else 100)
