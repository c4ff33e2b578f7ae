"""Verdicts on rules with bodies: instances have such bodies, and wrong rules have counterexamples."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnx")

from gslang.api import parse_rules
from gslang.cli.main import main
from gslang.verify.verdict import Settings, Verdict, verify_now

OPEN = "y = If(c, x, then_branch = _, else_branch = _);"
SWAPPED = "If(c, x, then_branch = y.else_branch, else_branch = y.then_branch).0"
AXES = "y = If(c, x, then_branch = Softmax(x, axis = (a := _)), else_branch = Softmax(x, axis = (b := _))).0;"
ONCE = "Loop(1, const(value = true), x, body = (input[1]"
TWICE = "Loop(2, const(value = true), x, body = (input[1]"
BOTH = "Concat(Unsqueeze(x, [0]), Unsqueeze(-x, [0]), axis = 0)"
ONE = "num_scan_inputs = 1, " + ", ".join(
    f"scan_{side}_{what} = none" for side in ("input", "output") for what in ("axes", "directions")
)
SUM = "Scan(s, x, body = (input[0] + input[1], input[1]), num_scan_inputs = 1,"
LOWER = "y where x.ndim > w.ndim"
ROW = "chain i in 1.. from x { y = If(c, prev.y, then_branch = Relu(prev.y),"
FEW = Settings(seconds=20, wanted=12, proof_steps=0)


def verdict(rule: str) -> Verdict:
    return verify_now(parse_rules(f"dialect onnx; {rule}").own["r"], FEW)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("rule r(c, x): If(c, x, then_branch = Relu(x), else_branch = Relu(x)).0 => Relu(x);",
         "rule r(c, x): If(c, x, then_branch = Relu(x), else_branch = Neg(x)).0 => Relu(x);"),
        ("rule r(c, a, b) { y = If(c, a, b, then_branch = a, else_branch = b).0;"
         " y where a.shape == b.shape, c.ndim == 0 => Where(c, a, b) }",
         "rule r(c, a, b) { y = If(c, a, b, then_branch = a, else_branch = b).0;"
         " y where a.shape == b.shape, c.ndim == 0 => Where(c, b, a) }"),
        ("rule r(c, x): If(c, x, then_branch = Add(x, 1), else_branch = 1 + x).0 => x + 1;",
         "rule r(c, x): If(c, x, then_branch = Add(x, 1), else_branch = 2 + x).0 => x + 1;"),
        (f"rule r(c, x) {{ {OPEN} y.0 where y.then_branch == y.else_branch => {SWAPPED} }}",
         f"rule r(c, x) {{ {OPEN} y.0 => {SWAPPED} }}"),
        # exchanged, bodies still read what they read
        ("rule r(c, a, b) { y = If(Not(c), a, b); y.0 => If(c, a, b, then_branch = y.else_branch,"
         " else_branch = y.then_branch).0 }",
         "rule r(c, a, b) { y = If(Not(c), a, b); y.0 => If(c, b, a, then_branch = y.else_branch,"
         " else_branch = y.then_branch).0 }"),
        # also where a described call matched its operands in another order
        ("rule r(c, a, b) { y = If(c, a, b, then_branch = Sub(a, b), else_branch = Mul(b, b)); y.0 where"
         " c.ndim == 0 => If(Not(c), a, b, then_branch = y.else_branch, else_branch = y.then_branch).0 }",
         "rule r(c, a, b) { y = If(c, a, b, then_branch = Sub(a, b), else_branch = Mul(b, b)); y.0 where"
         " c.ndim == 0 => If(Not(c), b, a, then_branch = y.else_branch, else_branch = y.then_branch).0 }"),
        (f"rule r(c, x) {{ {AXES} y where a == b => Softmax(x, axis = a) }}",
         f"rule r(c, x) {{ {AXES} y => Softmax(x, axis = a) }}"),
        ("rule r(n, go, x): Loop(n, go, x, body = (input[1], input[2])).0 => x;",
         "rule r(n, go, x): Loop(n, go, x, body = (input[1], Neg(input[2]))).0 => x;"),
        ("rule r(x) { Loop(2, const(value = true), x, body = (const(value = true), Neg(input[2]))).0 => x }",
         "rule r(x) { Loop(3, const(value = true), x, body = (const(value = true), Neg(input[2]))).0 => x }"),
        # what a loop collects has an axis of its own
        (f"rule r(x) {{ {ONCE}, Exp(input[2]), Neg(input[2]))).1 => Unsqueeze(-x, [0]) }}",
         f"rule r(x) {{ {ONCE}, Exp(input[2]), Neg(input[2]))).1 => -x }}"),
        (f"rule r(x) {{ {TWICE}, Neg(input[2]), input[2])).1 => {BOTH} }}",
         f"rule r(x) {{ {TWICE}, Neg(input[2]), Neg(input[2]))).1 => {BOTH} }}"),
        (f"rule r(x) {{ Scan(x, body = Relu(input[0]), {ONE}).0 => Relu(x) }}",
         "rule r(x) { Scan(x, body = Relu(input[0]), num_scan_inputs = 1).0 => Relu(x) }"),
        ("rule r(s, x): Scan(s, x, body = (input[0], Neg(input[1])), num_scan_inputs = 1).0 => s;",
         "rule r(s, x): Scan(s, x, body = (Neg(input[0]), Neg(input[1])), num_scan_inputs = 1).0 => s;"),
        (f"rule r(s, x) {{ {SUM} scan_input_axes = none).0 => s + ReduceSum(x, [0], keepdims = 0) }}",
         f"rule r(s, x) {{ {SUM} scan_input_axes = [-1]).0 => s + ReduceSum(x, [0], keepdims = 0) }}"),
        (f"rule r(x, w) {{ y = Scan(x, w, body = input[0] - w, {ONE}).0; {LOWER} => x - w }}",
         f"rule r(x, w) {{ y = Scan(x, w, body = w - input[0], {ONE}).0; {LOWER} => x - w }}"),
        (f"rule r(c, x) {{ {ROW} else_branch = Relu(prev.y)).0; }} i[-1].y => Relu(x) }}",
         f"rule r(c, x) {{ {ROW} else_branch = prev.y).0; }} i[-1].y => Relu(x) }}"),
    ],
)  # fmt: skip
def test_right_rules_and_wrong_twins(right: str, wrong: str) -> None:
    good, bad = verdict(right), verdict(wrong)
    assert good.verdict in ("exact", "tested") and good.instances >= 3, good.reason
    assert bad.verdict == "refuted", bad.reason


WRONG = [
    "rule r(c, x): If(c, x, then_branch = Relu(x), else_branch = Neg(x)).0 => Relu(x);",
    "rule r(c, x): If(c, x, then_branch = Add(x, 1), else_branch = 2 + x).0 => x + 1;",
    "rule r(n, go, x): Loop(n, go, x, body = (input[1], Neg(input[2]))).0 => x;",
    f"rule r(c, x) {{ {OPEN} y.0 => {SWAPPED} }}",
]


@pytest.mark.parametrize("rule", WRONG)
def test_a_counterexample_with_bodies_is_a_graph_to_paste(
    rule: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules, pasted, values = tmp_path / "r.gsl", tmp_path / "pasted.onnxtxt", tmp_path / "inputs.npz"
    rules.write_text(f"dialect onnx;\n{rule}\n")
    assert main(["verify", str(rules), "--instances", "12", "--format", "json"]) == 1
    (entry,) = json.loads(capsys.readouterr().out)["rules"]
    found = entry["counterexample"]
    pasted.write_text("  " + found["test"].replace("\n", "\n  "))  # as it stands below the verdict
    assert main(["match", str(rules), str(pasted)]) == 0
    assert capsys.readouterr().out.startswith("r at ")
    types = {"c": "bool", "g": "bool", "n": "int64", "x": "float32"}
    inputs = {k: np.array(v, types[k[0]]) for k, v in found["inputs"].items()}
    results = []
    for side in ("source", "target"):
        graph, out = tmp_path / f"{side}.onnxtxt", tmp_path / f"{side}.npz"
        graph.write_text(found[side])
        np.savez(values, **{k: v for k, v in inputs.items() if f" {k}" in found[side]})
        assert main(["run", str(graph), "--inputs", str(values), "-o", str(out)]) == 0
        with np.load(out) as computed:
            results.append([computed[name] for name in computed.files])
    assert not all(np.array_equal(a, b) for a, b in zip(*results))


def test_values_are_read_in_whatever_order() -> None:
    assert verdict(
        "rule r(c, a, b) { y = If(c, a, b, then_branch = b - a, else_branch = Sub(b, a)).0; y => b - a }"
    ).verdict in ("exact", "tested")


def test_captured_values_are_in_the_order_of_the_declaration() -> None:
    """Also where one of them is no input, so that the matcher tells them apart."""
    found = verdict(
        "rule r(c: any(shape = ()), a: any(dtype = \"float32\"), b: any(dtype = \"float32\")) {"
        " o = Relu(a); y = If(c, o, b, then_branch = o, else_branch = b).0;"
        " y where o.shape == b.shape => Where(c, o, b) }"
    )
    assert found.verdict == "exact", found.reason


@pytest.mark.parametrize(
    ("call", "condition", "target"),
    [
        ("If(c, x)", "calls(y.then_branch, Relu) == 1, y.then_branch == y.else_branch", "Relu(x)"),
        ("If(c, x)", "calls(y, Neg | Abs) >= 2, calls(y.else_branch) == 4", "Neg(x)"),
        ("Loop(n, c, x)", "calls(y.body, Exp) > 0", "Exp(x)"),
        ("Loop(n, c, x)", "calls(y.body, Softmax, axis = 0) == 1, calls(y.body, Exp) == 0", "Exp(x)"),
    ],
)
def test_bodies_contain_the_calls_that_a_condition_counts(call: str, condition: str, target: str) -> None:
    inputs = "n, c, x" if "n" in call else "c, x"
    found = verdict(f"rule r({inputs}) {{ y = {call}; y.0 where {condition} => {target} }}")
    assert found.verdict == "refuted", found


def test_bodies_that_cannot_be_made_leave_a_rule_unknown() -> None:
    found = verdict("rule r(x) { y = SequenceMap(x, body = Relu(input[0])); y.0 => x }")
    assert found.verdict == "unknown" and "`SequenceMap`" in found.reason


def test_a_body_that_reads_a_value_of_unknown_type_is_no_instance() -> None:
    adds = "then_branch = Add(prev.y, w), else_branch = Add(w, prev.y)"
    assert verdict(
        f"rule r(x, w) {{ chain i in 1.. from x {{ q = any(); y = Neg(If(q, prev.y, w, {adds}).0); }} "
        "i[-1].y => x }"
    ).verdict == "refuted"  # fmt: skip
