"""Operators whose meaning the prover does not know are functions of their operands and attributes."""

from __future__ import annotations

import pytest

import gslang.api as api
from gslang.verify.prove.prove import Proof, prove
from gslang.verify.prove.terms.paths import NotProved


def proof(rule: str, dialect: str = "relay") -> Proof:
    return prove(api.parse_rules(f"dialect {dialect};\nrule r{rule}").own["r"], 20_000)


RIGHT = [
    "(x) { y = cumsum(-(-x)); y => cumsum(x, y.*) }",
    "(x, z: any(shape = x.shape)) { y = cumsum(x + z); y => cumsum(z + x, y.*) }",
    "(x) { y = nn.max_pool2d(x); nn.relu(nn.relu(y)) => nn.relu(y) }",
    "(x) { y = nn.max_pool2d(x); nn.relu(nn.relu(y)) => nn.relu(nn.max_pool2d(x, y.*)) }",
    "(x) { y = sort(transpose(transpose(x, axes = (1, 0)), axes = (1, 0))); y => sort(x, y.*) }",
    "(x, z) { y = cumsum(concatenate((-(-x), z), axis = 0), axis = 0); "
    "y => cumsum(concatenate((x, z), axis = 0), y.*) }",
    '(x: any(dtype = "float32"), i) { y = take(-(-x), i); y => take(x, i, y.*) }',
    "(x) { y = cumsum(-(-x), axis = 1); y => cumsum(x, y.*, axis = 1) }",
    "(x) { y = cumsum(-(-x)); y where y.axis == 1 => cumsum(x, y.*, axis = 1) }",
    '(x: any(dtype = "float32")) { y = sort(exp(log(x))); y => sort(x, y.*) }',
    '(x: any(dtype = "float32")) { y = sort((x * x) / x); y => sort((x * x) / x, y.*) }',
]
WRONG = {
    "other elements": "(x, z: any(shape = x.shape)) { y = cumsum(x - z); y => cumsum(z - x, y.*) }",
    "another attribute": "(x) { y = cumsum(-(-x), axis = 1); y => cumsum(x, y.*, axis = 0) }",
    "an attribute that is open": "(x) { y = cumsum(-(-x)); y => cumsum(x, y.*, axis = 1) }",
    "an attribute that is another": "(x) { y = cumsum(-(-x)); "
    "y where y.axis != 1 => cumsum(x, y.*, axis = 1) }",
    "a default": "(x) { y = nn.max_pool2d(x); nn.relu(nn.relu(y)) "
    "=> nn.relu(nn.max_pool2d(x, pool_size = y.pool_size)) }",
    "parts in another order": "(x, z: any(shape = x.shape)) { y = cumsum(concatenate((-(-x), z), axis = 0)); "
    "y => cumsum(concatenate((z, x), axis = 0), y.*) }",
    "a turned operand": "(x: any(shape = ((n := _), n))) { y = sort(-(-x)); "
    "y => sort(transpose(x, axes = (1, 0)), y.*) }",
    "another operator": "(x) { y = argsort(-(-x)); y => argmax(x, y.*) }",
    "another place": "(x, z, v) { y = cumsum(x); w = cumsum(z); y * v, w * v => w * v, y * v }",
    "an operand that is broadcast": "(x, z) { y = cumsum(x * 0 + z); y => cumsum(z, y.*) }",
    "one result for another": "(x, z: any(shape = x.shape)) { y = cumsum(x); w = cumsum(z); y + w => y + y }",
}


@pytest.mark.parametrize("rule", RIGHT)
def test_equal_operands_and_attributes_give_equal_results(rule: str) -> None:
    assert proof(rule).cases


@pytest.mark.parametrize("rule", WRONG.values(), ids=list(WRONG))
def test_others_do_not(rule: str) -> None:
    with pytest.raises(NotProved):
        proof(rule)


def test_results_of_several_are_told_apart() -> None:
    right = "(x, k) { y = TopK(Neg(Neg(x)), k); y.0, y.1 => TopK(x, k, y.*).0, TopK(x, k, y.*).1 }"
    assert proof(right, "onnx").cases
    with pytest.raises(NotProved):
        proof(right.replace("=> TopK(x, k, y.*).0, TopK(x, k, y.*).1", "=> TopK(x, k, y.*).1, y.0"), "onnx")


def test_a_claim_names_declared_operators_that_are_taken_for_functions() -> None:
    rules = api.parse_rules("op my.f(x: tensor) -> tensor;\nrule r(x): my.f(-(-x)) => my.f(x);")
    assert "`my.f` gives equal results for equal operands" in prove(rules.own["r"]).claim


def test_what_is_random_is_no_function() -> None:
    with pytest.raises(NotProved):
        proof("(x) { y = Bernoulli(Neg(Neg(x))); y => Bernoulli(x, y.*) }", "onnx")


def test_bodies_are_no_attributes_of_functions() -> None:
    with pytest.raises(NotProved):
        proof("(c, x) { y = If(c, x); Neg(Neg(y.0)) => If(c, x, y.*).0 }", "onnx")
