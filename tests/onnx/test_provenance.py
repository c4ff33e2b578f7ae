"""New nodes tell where they come from; names of what stays and of what is new; the same bytes each time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper

import gslang
from tests.onnx.models import branching, model, value

node = helper.make_node
ROOT = Path(__file__).resolve().parents[2]
RULES = (
    "dialect onnx;\nrule double(x): Add(x, x) => x * 2.0; rule relu(x): Relu(x) => Max(x, 0.0); rule neg(x): "
    "Neg(Neg(x)) => x;"
)


def props(message: Any) -> dict[str, str]:
    return {entry.key: entry.value for entry in message.metadata_props}


def sample() -> Any:
    nodes = [
        node("Add", ["x", "x"], ["a"], "adding"), node("Neg", ["a"], ["b"]), node("Neg", ["b"], ["c"]),
        node("Relu", ["c"], ["y"], "last"),
    ]
    found = model(nodes, [value("x")], [value("y")], ir=10)
    found.graph.node[0].metadata_props.add(key="mine", value="1")
    return found


def test_new_nodes_and_tensors_say_where_they_come_from(tmp_path: Path) -> None:
    result = gslang.parse_rules(RULES).apply(gslang.from_onnx(sample()), provenance=True)
    after = gslang.to_onnx(result.graph)
    onnx.checker.check_model(after, full_check=True)
    product, maximum = after.graph.node
    assert props(product) == {"gslang.rule": "double", "gslang.application": "1", "gslang.from": '["a"]'}
    assert props(maximum)["gslang.rule"] == "relu" and json.loads(props(maximum)["gslang.from"]) == ["y"]
    assert [props(t)["gslang.rule"] for t in after.graph.initializer] == ["double", "relu"]
    again = gslang.from_onnx(after)
    origins = [again.extras[n]["origin"] for n in again.in_order() if again.is_call(n)]
    assert [origin["rule"] for origin in origins] == ["double", "relu"] and origins[0]["application"] == 1
    assert gslang.to_onnx(again) == after


def test_without_the_switch_they_do_not() -> None:
    after = gslang.to_onnx(gslang.parse_rules(RULES).apply(gslang.from_onnx(sample())).graph)
    assert not any(props(n) for n in after.graph.node)


def test_what_others_write_there_is_no_matter() -> None:
    found = sample()
    for key, text in (("gslang.rule", "r"), ("gslang.application", "no number"), ("gslang.from", "[1")):
        found.graph.node[3].metadata_props.add(key=key, value=text)
    graph = gslang.from_onnx(found)
    assert (
        all("origin" not in graph.extras.get(n, {}) for n in graph.nodes()) and gslang.to_onnx(graph) == found
    )


def test_in_bodies() -> None:
    after = gslang.to_onnx(
        gslang.parse_rules(RULES).apply(gslang.from_onnx(branching()), provenance=True).graph
    )
    (branch,) = [n for n in after.graph.node if n.op_type == "If"]
    then = next(a.g for a in branch.attribute if a.name == "then_branch")
    assert [props(n).get("gslang.rule") for n in then.node] == ["relu"] and not props(branch)


def test_names() -> None:
    """Replaced values keep their names; new ones are called after their operator, as nothing else is, in one
    order.
    """
    found = sample()
    found.graph.initializer.append(onnx.numpy_helper.from_array(np.ones(3, np.float32), "const_1"))
    found.graph.node.insert(0, node("Mul", ["x", "const_1"], ["Mul_1"]))
    found.graph.output.append(value("Mul_1"))
    after = gslang.to_onnx(gslang.parse_rules(RULES).apply(gslang.from_onnx(found)).graph)
    assert [(n.op_type, list(n.output), n.name) for n in after.graph.node] == [
        ("Mul", ["Mul_1"], ""), ("Mul", ["a"], "Mul_2"), ("Max", ["y"], "Max_1"),
    ]  # fmt: skip
    assert [t.name for t in after.graph.initializer] == ["const_1", "const_2", "const_3"]
    assert sorted(v.name for v in after.graph.output) == ["Mul_1", "y"]


def test_the_same_bytes_each_time(tmp_path: Path) -> None:
    onnx.save(branching(), tmp_path / "m.onnx")
    (tmp_path / "r.gsl").write_text(RULES)
    seen = set()
    for seed in ("0", "1", "4711"):
        out = tmp_path / f"{seed}.onnx"
        command = [
            sys.executable, "-m", "gslang", str(tmp_path / "r.gsl"), str(tmp_path / "m.onnx"), "-o", str(out),
            "--provenance",
        ]
        subprocess.run(
            command, check=True, capture_output=True, cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": seed}
        )
        seen.add(out.read_bytes())
    assert len(seen) == 1
