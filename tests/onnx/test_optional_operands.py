"""An optional operand that a pattern leaves out is absent, in every operator that has one; what a node has
too much makes it opaque.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import gslang
from gslang.dialect.load import load_dialect
from gslang.dialect.tensor_type import TensorType
from gslang.engine.fixed_point import Progress
from gslang.engine.lower import program_of
from gslang.engine.machine import matches
from gslang.formats.onnx.reader import read_onnx
from gslang.graph.graph import ABSENT, Graph
from tests.onnx.models import model, value

DIALECTS = {name: load_dialect(name) for name in ("onnx", "relay")}


def optional_operators() -> list[tuple[str, str]]:
    return [
        (dialect, name)
        for dialect, known in DIALECTS.items()
        for name, signature in known.operators.items()
        if any(o.optional for o in signature.operands)
        and not any(o.variadic or o.kind != "tensor" for o in signature.operands)
    ]


@pytest.mark.parametrize(("dialect", "name"), optional_operators())
def test_left_out_means_absent(dialect: str, name: str) -> None:
    """Every pattern that leaves trailing operands out, against every node that has them, or has them
    explicitly empty.
    """
    signature = DIALECTS[dialect].operators[name]
    specs = signature.operands
    least = (
        max(k + 1 for k, o in enumerate(specs) if not o.optional) if any(not o.optional for o in specs) else 0
    )
    result = "" if signature.results == "tensor" else ".0"
    for count in range(max(least, 1), min(least + 4, len(specs)) + 1):
        inputs = [f"i{k}" for k in range(count)]
        text = f"dialect {dialect};\nrule r({', '.join(inputs)}): {name}({', '.join(inputs)}){result} => i0;"
        rules = gslang.parse_rules(text)
        for given in product((True, False), repeat=min(len(specs) - least, 4)):
            graph = Graph(dialect)
            operands = [graph.add_input(f"x{k}", None) for k in range(least)]
            operands += [
                graph.add_input(f"x{least + k}", None) if there else ABSENT for k, there in enumerate(given)
            ]
            node = call = graph.add(name, operands)
            if result:
                node = graph.add_proj(call, 0)
            graph.set_outputs([node])
            there = [True] * least + list(given)
            wanted = all(there[:count]) and not any(there[count:])
            program = program_of(rules["r"].rule)
            assert any(True for _ in matches(program, graph, node)) is wanted, (text, there)
            assert (rules.apply(graph).progress.counts["r"].matches > 0) is wanted, (text, there)
            assert bool(list(rules["r"].matches(graph))) is wanted
            if not wanted:
                assert rules["r"].why_not(graph, node)


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [
        ("Clip(x, lo)", "l"), ("Clip(x, lo, none)", "l"), ("Clip(x, lo, max = _)", "l lh lm"),
        ("Clip(x, min = _)", "l x"), ("Clip(x, min = _, max = _)", "x l lh m lm"),
        ("Clip(x, max = 6.0)", "m"), ("Clip(x, lo, max = 6.0)", "lm"), ("Clip(x)", "x"),
        ("Clip(x, max = none)", "x"), ("Clip(x, min = _, max = 6.0)", "m lm"),
    ],
)
def test_ways_to_say_it(pattern: str, wanted: str) -> None:
    for case, operands in {"x": "x", "l": "xl", "lh": "xlh", "m": "x-m", "lm": "xlm"}.items():
        graph = Graph("onnx")
        leaves = {name: graph.add_input(name, TensorType((), "float32")) for name in "xlh"}
        leaves |= {"m": graph.add_const(np.float32(6), TensorType((), "float32")), "-": ABSENT}
        graph.set_outputs([graph.add("Clip", [leaves[letter] for letter in operands])])
        header = "x, lo" if "lo" in pattern else "x"
        progress: Progress = (
            gslang.parse_rules(f"dialect onnx;\nrule r({header}): {pattern} => x;").apply(graph).progress
        )
        assert bool(progress.counts["r"].applications) is (case in wanted.split()), (pattern, case)


UNKNOWN: list[tuple[str, list[str], dict[str, Any], int]] = [
    ("Relu", ["x"], {"mood": 1}, 18),  # of somebody's own
    ("ReduceMax", ["x"], {"noop_with_empty_axes": 0}, 13),  # of a newer operator set
    ("Relu", ["x", "x"], {}, 18),
    ("Clip", ["x", "", "", "x"], {}, 18),
]


@pytest.mark.parametrize(("operator", "inputs", "attrs", "opset"), UNKNOWN)
def test_what_the_operator_set_does_not_know(
    operator: str, inputs: list[str], attrs: dict[str, Any], opset: int
) -> None:
    nodes = [helper.make_node(operator, inputs, ["a"], **attrs), helper.make_node("Neg", ["a"], ["y"])]
    found = model(nodes, [value("x", (2, 3))], [value("y", (2, 3), TensorProto.FLOAT)], opset=opset)
    graph = gslang.from_onnx(found)
    (warning,) = graph.meta["warnings"]
    assert f"`{operator}`" in warning
    rules = gslang.parse_rules(
        f"dialect onnx;\nrule r(x): {operator}(x) => x;\nrule f(x, f: op(elementwise)): Neg(f(x)) => x;"
    )
    result = rules.apply(graph)
    assert result.applications == 0 and result.report()["calls"]["after"] == {operator: 1, "Neg": 1}
    assert gslang.to_onnx(result.graph) == found


def test_old_attributes_without_a_meaning_are_no_obstacle() -> None:
    found = model(
        [helper.make_node("Relu", ["x"], ["y"], consumed_inputs=[0])], [value("x")], [value("y")], opset=1
    )
    graph = gslang.from_onnx(found)
    assert "warnings" not in graph.meta and gslang.to_onnx(graph) == found
    assert gslang.parse_rules("dialect onnx;\nrule r(x): Relu(x) => Neg(x);").apply(graph).applications == 1
    old = model(
        [helper.make_node("Upsample", ["x"], ["y"], height_scale=2.0, width_scale=2.0)],
        [value("x", (1, 1, 2, 2))], [value("y", (1, 1, 4, 4))], opset=1,
    )
    graph = gslang.from_onnx(old)
    assert graph.op[graph.outputs[0]] == "ai.onnx.v1.Upsample" and gslang.to_onnx(graph) == old
    assert onnx.defs.has("Upsample")


@pytest.mark.parametrize("opset", [13, 22])
def test_attributes_that_a_rule_file_adds_are_read(opset: int) -> None:
    found = model(
        [helper.make_node("Relu", ["x"], ["y"], slope=0.5), helper.make_node("Exp", ["y"], ["z"])],
        [value("x", (2, 3))], [value("z", (2, 3))], opset=opset,
    )
    declaration = "dialect onnx;\nop Relu(X: tensor, slope: float = 0.0) -> tensor;\n"
    read = gslang.parse_rules(f"{declaration}rule r(x): Relu(x, slope = 0.5) => Neg(x);")
    other = gslang.parse_rules(f"{declaration}rule r(x): Relu(x, slope = 0.25) => x;")
    graph = read_onnx(found, read.dialect)
    assert "warnings" not in graph.meta and gslang.to_onnx(graph) == found
    assert read.apply(graph).report()["calls"]["after"] == {"Neg": 1, "Exp": 1}
    assert other.apply(graph).applications == 0
