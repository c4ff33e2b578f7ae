"""The Python interface as people expect it: what `dir` lists, what `apply` takes, how things show themselves.
"""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import gslang
from gslang.formats.rule_picture import rule_svg, source_svg
from tests.shipped import shipped_rules

SILU = """dialect onnx;
## x / (1 + exp(-x)).
rule silu(x): x / (Exp(-x) + 1.0) => x * Sigmoid(x);
"""


@pytest.fixture
def model() -> onnx.ModelProto:
    nodes = [
        helper.make_node("Neg", ["x"], ["n"]), helper.make_node("Exp", ["n"], ["e"]),
        helper.make_node("Add", ["e", "one"], ["s"]), helper.make_node("Div", ["x", "s"], ["y"]),
    ]  # fmt: skip
    value = [helper.make_tensor_value_info(name, 1, ["batch", 8]) for name in "xy"]
    graph = helper.make_graph(
        nodes, "g", value[:1], value[1:], [numpy_helper.from_array(np.float32(1.0).reshape(()), "one")]
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def operators(model: onnx.ModelProto) -> list[str]:
    return [node.op_type for node in model.graph.node]


def test_dir_lists_the_interface() -> None:
    code = "import gslang; print(*dir(gslang))"
    listed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert set(gslang.__all__) <= set(listed) and "TYPE_CHECKING" not in listed
    assert all(getattr(gslang, name) is not None for name in gslang.__all__)


def test_apply_takes_a_path_a_model_or_a_graph(model: onnx.ModelProto, tmp_path: Path) -> None:
    rules = gslang.parse_rules(SILU)
    path = tmp_path / "m.onnx"
    onnx.save(model, str(path))
    for given in (model, path, str(path), gslang.read(path)):
        assert operators(rules.apply(given).model) == ["Sigmoid", "Mul"]
        assert len(list(rules["silu"].matches(given))) == 1
        assert rules["silu"].why_not(given)[0].reason == "matches"
    assert operators(model) == ["Neg", "Exp", "Add", "Div"]
    with pytest.raises(TypeError, match="expected a Graph, a file name or an onnx.ModelProto, got int"):
        rules.apply(7)  # type: ignore[arg-type]
    rules.apply(model).save(tmp_path / "out.onnx")
    assert operators(onnx.load(str(tmp_path / "out.onnx"))) == ["Sigmoid", "Mul"]


def test_options_are_an_object_or_names(model: onnx.ModelProto) -> None:
    rules = gslang.parse_rules(SILU)
    options = gslang.Options(skip=["silu"])
    assert rules.apply(model, options).applications == 0
    assert rules.apply(model, options, skip=[]).applications == 1
    with pytest.raises(TypeError, match="unknown option `sweep`; did you mean `sweeps`"):
        rules.apply(model, sweep=1)
    with pytest.raises(TypeError, match="`skip` is a list of rule names"):
        rules.apply(model, skip="silu")
    with pytest.raises(ValueError, match="`sweeps` is a number from 1, not 0"):
        gslang.Options(sweeps=0)
    assert all(field.name in (gslang.Options.__doc__ or "") for field in dataclasses.fields(gslang.Options))


def test_optimize(model: onnx.ModelProto, tmp_path: Path) -> None:
    before = model.SerializeToString()
    optimized = gslang.onnx.optimize(model)
    assert isinstance(optimized, onnx.ModelProto) and model.SerializeToString() == before
    onnx.checker.check_model(optimized)
    mine = gslang.onnx.optimize(model, gslang.parse_rules(SILU), output=tmp_path / "o.onnx")
    assert operators(mine) == ["Sigmoid", "Mul"] == operators(onnx.load(str(tmp_path / "o.onnx")))
    with pytest.raises(gslang.InputError, match="expected an ONNX model"):
        gslang.onnx.optimize(gslang.Graph("relay"))
    with pytest.raises(RuntimeError, match="infinite|forever|for ever|loop|limit"):
        loop = gslang.parse_rules("dialect onnx;\nrule there(x): Exp(x) => Neg(Exp(x));\n")
        gslang.onnx.optimize(model, loop)


def test_short_reprs(model: onnx.ModelProto) -> None:
    rules = gslang.parse_rules(SILU)
    result = rules.apply(model)
    assert repr(rules) == "<RuleSet: 1 rule, dialect onnx>"
    assert repr(rules["silu"]) == "<Rule silu, <rules> line 3>"
    assert repr(result.graph) == "<Graph g, dialect onnx: 3 nodes, 1 input, 1 output>"
    assert repr(result) == "<Result: 1 application, 1 sweep (fixed_point); 6 nodes before, 3 after>"
    assert len(repr(gslang.load("std.onnx"))) < 200


def test_displays_in_notebooks(model: onnx.ModelProto) -> None:
    rules = gslang.parse_rules(SILU.replace("## x", "## <script>alert(1)</script> x"))
    result = rules.apply(model)
    assert "Neg" in (result.graph._repr_svg_() or "") or "Sigmoid" in (result.graph._repr_svg_() or "")
    for shown in (rules._repr_html_(), rules["silu"]._repr_html_(), result._repr_html_()):
        assert "<svg" in shown and "<script" not in shown
    assert "before" in result._repr_html_() and "silu" in result._repr_html_()


@pytest.mark.parametrize("module", ["std.relay", "std.onnx", "std.onnxruntime"])
def test_every_shipped_rule_has_a_picture(module: str) -> None:
    for rule in shipped_rules(module).values():
        for text in (rule_svg(rule), source_svg(rule)):
            picture = ElementTree.fromstring(text)
            assert float(picture.attrib["width"]) < 4000 and float(picture.attrib["height"]) < 4000
            assert len(list(picture.iter("{http://www.w3.org/2000/svg}rect"))) >= 1
    assert rule_svg(rule) == rule_svg(rule)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("rule r(x, b: any?): Relu?(Conv(x, x, b)) => x;", ["Relu?", "b?"]),
        ("rule r(x): (Exp(x) | Neg(x)) => x;", ["one of", "Exp", "Neg"]),
        ("rule r(x): Split(x).0 => x;", [".0"]),
    ],
)
def test_words_in_pictures(text: str, words: list[str]) -> None:
    rules: Any = gslang.parse_rules("dialect onnx;\n" + text)
    assert all(word in "".join(ElementTree.fromstring(rules["r"].svg()).itertext()) for word in words)
