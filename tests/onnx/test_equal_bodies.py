"""Bodies are equal if they compute the same, whatever the names in them: for `cse`, and for conditions."""

from __future__ import annotations

from typing import Any

import pytest
from onnx import parser

import gslang

RULES = gslang.parse_rules("""dialect onnx;
rule same(c, x) { y = If(c, x); y.0 where y.then_branch == y.else_branch => Neg(x) }
pass merge { cse; }
""")


def model(first: str, second: str) -> Any:
    """A model with two calls of `If` on the same operands, each with these bodies."""
    return parser.parse_model(
        f"""<ir_version: 8, opset_import: ["" : 17]>
        g (bool c, float[2] x) => (float[2] y, float[2] z) {{
            a = If (c) <{first}>
            b = If (c) <{second}>
            y = Exp(a)
            z = Neg(b)
        }}"""
    )


def body(name: str, text: str, result: str = "r") -> str:
    return f"{name} = some_{name} () => (float[2] {result}) {{ {text} }}"


RELU = body("then_branch", "s = Neg(x) r = Relu(s)")
TANH = body("else_branch", "r = Tanh(x)")
RENAMED = body("then_branch", "one = Neg(x) two = Relu(one)", "two")
DRAWN = "r = RandomNormal <shape = [2]> ()"
STATED = "r = Constant <value_floats = [1.0, 2.0]> ()"


def nested(then: str, name: str, other: str) -> str:
    """A body with two in it, of which one calls `then`; `name`, `other`: of their results."""
    first = body("then_branch", f"{name} = {then}(x)", name)
    inner = first, body("else_branch", f"{other} = Exp(x)", other)
    return body("then_branch", f"r = If (c) <{', '.join(inner)}>")


@pytest.mark.parametrize(
    ("first", "second", "left"),
    [
        ((RELU, TANH), (RELU, TANH), 1),
        ((RELU, TANH), (RENAMED, TANH), 1),
        ((RELU, TANH), (body("then_branch", "s = Neg(x) r = Relu(x)"), TANH), 2),
        ((nested("Abs", "p", "q"), TANH), (nested("Abs", "u", "v"), TANH), 1),
        ((nested("Abs", "p", "q"), TANH), (nested("Exp", "p", "q"), TANH), 2),
        ((body("then_branch", DRAWN), TANH), (body("then_branch", DRAWN), TANH), 2),
        ((body("then_branch", STATED), TANH), (body("then_branch", STATED.replace("2", "3")), TANH), 2),
    ],
)
def test_calls_with_equal_bodies_become_one(
    first: tuple[str, ...], second: tuple[str, ...], left: int
) -> None:
    before = gslang.from_onnx(model(", ".join(first), ", ".join(second)))
    after = RULES.apply(before, pass_name="merge").graph
    assert sum(after.op[node] == "If" for node in after.nodes()) == left
    gslang.to_onnx(after)


def test_conditions_compare_what_bodies_compute() -> None:
    equal = f"{RELU}, {body('else_branch', 'left = Neg(x) right = Relu(left)', 'right')}"
    other = f"{RELU}, {TANH}"
    matches = RULES["same"].matches(gslang.from_onnx(model(equal, other)))
    assert [list(match.outputs) for match in matches] == [["a"]]


def test_attributes_that_rules_add_are_known() -> None:
    rules = gslang.parse_rules(
        "dialect onnx; op Relu(X: tensor, slope: float = 0.0) -> tensor;"
        " rule r(x): Relu(x, slope = 0.5) => Neg(x);"
    )
    text = """<ir_version: 8, opset_import: ["" : 17]>
        g (float[2] x) => (float[2] y) { y = Relu <slope = 0.5> (x) }"""
    made = parser.parse_model(text)
    assert rules.apply(made).applications == 1
    assert rules.apply(gslang.from_onnx(made, dialect=rules.dialect)).applications == 1
