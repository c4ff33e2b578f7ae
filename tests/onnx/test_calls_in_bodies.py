"""`calls(y.body, …)`: conditions on what the bodies of `If`, `Loop` and `Scan` do."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

pytest.importorskip("onnx")

from onnx.parser import parse_model

import gslang
from gslang import api
from gslang.verify.verdict import Settings, verify_now
from tests.engine.readable import readable_only

IF = """<ir_version: 9, opset_import: ["": 18]>
agraph (float[2, 3] x, bool c) => (float[2, 3] z)
{
    y = If (c) <
        then_branch = g1 () => (float[2, 3] t) { t = Exp(x) },
        else_branch = g2 () => (float[2, 3] e) {
            one = Constant<value = float {1.0}>()
            s = Softmax<axis = 0>(x)
            r = Relu(s)
            e = If (c) <
                then_branch = g3 () => (float[2, 3] u) { u = Relu(r) },
                else_branch = g4 () => (float[2, 3] v) { w = Softmax(r)  v = Mul(w, one) }
            >
        }
    >
    z = Abs(y)
}"""
LOOP = """<ir_version: 9, opset_import: ["": 18]>
agraph (float[2] x, int64 n, bool go) => (float[2] last)
{
    last = Loop (n, go, x) <
        body = b (int64 k, bool on, float[2] now) => (bool more, float[2] next) {
            more = Identity(on)  s = Add(now, x)  next = Tanh(s)
        }
    >
}"""
HOLDS = [
    "calls(y) == 7",
    "calls(y.then_branch) == 1",
    "calls(y.else_branch) == 6",
    "calls(y.else_branch, Relu) == 2",
    "calls(y, Relu | Exp) == 3",
    "calls(y, elementwise) >= 4",
    "calls(y, Softmax, axis = 0) == 1",
    "calls(y, Softmax, axis = -1) == 1",
    "calls(y.then_branch, Relu) == 0",
    "calls(y, If) == 1",
    "calls(y, r.op) == 0",
    "y.then_branch != y.else_branch",
    "y.then_branch == y.then_branch",
]


def _matches(text: str, model: str, readable: bool) -> int:
    rules = api.parse_rules(f"dialect onnx; {text}")
    with readable_only() if readable else nullcontext():
        return len(list(rules["r"].matches(gslang.from_onnx(parse_model(model)))))


@pytest.mark.parametrize("readable", [False, True])
@pytest.mark.parametrize("condition", HOLDS)
def test_what_holds_of_branches(condition: str, readable: bool) -> None:
    rule = f"rule r(c, x) {{ y = If(c, x, c) | If(c, x); r = Abs(y.0); r where {condition} => Neg(y.0) }}"
    negated = rule.replace(f"where {condition}", f"where not ({condition})")
    assert _matches(rule, IF, readable) == 1
    assert _matches(negated, IF, readable) == 0


def test_a_loop_with_a_product_stays() -> None:
    rule = "rule r(n, c, x) {{ y = Loop(n, c, x, x); y.0 where calls(y.body, {}) == 0 => x }}"
    assert [
        _matches(rule.format(operators), LOOP, False)
        for operators in ("MatMul | Gemm", "Tanh", "binary", "reduction")
    ] == [1, 0, 0, 1]


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("calls(r) == 1", "`calls` counts calls in bodies"),
        ("calls(c) == 1", "`calls` counts calls in bodies"),
        ("calls(y.then_branc) == 1", "did you mean `then_branch`"),
        ("calls(y, Rellu) == 1", "did you mean `Relu`"),
        ("calls(y, Softmax, axes = 1) == 1", "did you mean `axis`"),
        ("calls() == 1", "wrong arguments for `calls`"),
        ("y.then_branch", "expected a condition"),
        ("not y.then_branch", "calls"),
        ("calls(y.cond) == 1", "no attribute `cond`"),
    ],
)
def test_mistakes_are_told(condition: str, message: str) -> None:
    with pytest.raises(api.RuleError, match=message):
        api.parse_rules(
            f"dialect onnx; rule r(c, x) {{ y = If(c, x); r = Abs(y.0); r where {condition} => Neg(y.0) }}"
        )


def test_why_not_tells_the_number_and_verdicts_are_honest() -> None:
    rules, five, many = (
        api.parse_rules(
            f"dialect onnx; rule r(c, x) {{ y = If(c, x{more}); r = Abs(y.0); "
            f"r where calls(y.else_branch, Relu) == {count} => Neg(y.0) }}"
        )
        for more, count in ((", c", 5), ("", 5), ("", 500))
    )
    graph = gslang.from_onnx(parse_model(IF))
    assert any(
        "calls(y.else_branch, Relu)" in str(miss) and "2" in str(miss) for miss in rules["r"].why_not(graph)
    )
    found = [verify_now(made.own["r"], Settings(seconds=2, proof_steps=0)) for made in (five, many)]
    assert [verdict.verdict for verdict in found] == ["refuted", "unknown"]
