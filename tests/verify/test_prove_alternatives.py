"""Proofs of rules that list several values of an attribute: which of them are one case, and that none is
forgotten.
"""

from __future__ import annotations

import pytest

import gslang.api as api
from gslang.check.checked import CheckedRule
from gslang.verify.prove.prove import Proof, prove
from gslang.verify.prove.terms.paths import NotProved


def _rule(text: str) -> CheckedRule:
    (rule,) = api.parse_rules(text).own.values()
    return rule


def _is_proved(text: str) -> bool:
    try:
        return prove(_rule(text)).cases > 0
    except NotProved:
        return False


def _cases(where: str, axes: str = "-1 | 2") -> Proof:
    return prove(_rule(f"dialect onnx; rule r(x) {{ y = Softmax(x, axis = {axes}); Softmax(y, axis = -1)"
                       f" where {where} => Softmax(y, axis = {axes.split()[0]}) }}"))


def test_two_ways_to_write_an_axis_are_one_case() -> None:
    both, one = _cases("x.ndim == 3"), _cases("x.ndim == 3", "-1 | -1")
    assert both.cases == one.cases == 1


@pytest.mark.parametrize(
    "text",
    [
        "rule r(x: any(ndim = 3)): Softmax(x, axis = -1 | 2) => Softmax(x, axis = -1);",
        "rule r(x: any(ndim = 3)): Softmax(x, axis = -1 | 2) => Softmax(x, axis = 2);",
        "rule r(x: any(ndim = 3)) { y = Softmax(x, axis = -1 | 2); y => Softmax(x, axis = y.axis) }",
        "rule r(x: any(ndim = 3)) { y = Softmax(x, axis = 1 | 2); y => Softmax(x, axis = y.axis) }",
        "rule r(x: any(ndim = 3)) { y = Softmax(x, axis = 1 | 2);"
        " y where y.axis == 1 => Softmax(x, axis = 1) }",
        "rule r(x, s) { y = Reshape(x, s, allowzero = 0 | 1);"
        " -(-y) => Reshape(x, s, allowzero = y.allowzero) }",
        "rule r(x: any(ndim = 2), s, t) { y = Concat(x, s, axis = -1 | 1);"
        " z = Concat(y, t, axis = -1 | 1); z => Concat(x, s, t, axis = 1) }",
    ],
)  # fmt: skip
def test_right_rules(text: str) -> None:
    assert prove(_rule(f"dialect onnx; {text}")).cases


@pytest.mark.parametrize(
    "text",
    [
        "rule r(x): Softmax(x, axis = -1 | 2) => Softmax(x, axis = -1);",
        "rule r(x: any(ndim = 4)): Softmax(x, axis = -1 | 2) => Softmax(x, axis = -1);",
        "rule r(x: any(ndim = 3)): Softmax(x, axis = 1 | 2) => Softmax(x, axis = 2);",
        "rule r(x: any(ndim = 3)) { y = Softmax(x, axis = 1 | 2);"
        " y where y.axis == 1 => Softmax(x, axis = 2) }",
        "rule r(x: any(ndim = 3)) { y = Softmax(x, axis = -1 | 2);"
        " y => Softmax(x, axis = 1 if y.axis < 0 else 2) }",
        "rule r(x: any(ndim = 3)) { y = Softmax(x, axis = -1 | 2);"
        " y => Softmax(Unsqueeze(x, const(value = [0], dtype = \"int64\")), axis = y.axis) }",
        "rule r(x: any(ndim = 2), s, t) { y = Concat(x, s, axis = -1 | 0);"
        " z = Concat(y, t, axis = -1 | 1); z => Concat(x, s, t, axis = 1) }",
        "rule r(x: any(ndim = 3)): Softmax(x, axis = -1 | 2 | 0) => Softmax(x, axis = 2);",
    ],
)  # fmt: skip
def test_wrong_rules(text: str) -> None:
    with pytest.raises(NotProved):
        prove(_rule(f"dialect onnx; {text}"))


DILATED = """rule r(x, w: var) {{
    y = nn.conv2d(x, w, groups = 1, dilation = {dilation}, padding = (0, 0), strides = (1, 1));
    y where y.data_layout == "NCHW", y.kernel_layout == "OIHW", y.out_layout == ""
  =>
    nn.conv2d(x, w, y.*, dilation = {then})
}}"""


@pytest.mark.parametrize(("dilation", "then"), [("(1,) | (1, 1)", "(1, 1)"), ("(2, 2) | (2,)", "(2,)")])
def test_numbers_for_all_axes(dilation: str, then: str) -> None:
    assert prove(_rule(DILATED.format(dilation=dilation, then=then))).cases


@pytest.mark.parametrize(("dilation", "then"), [("(1,) | (2, 2)", "(1, 1)"), ("(1, 2) | (1,)", "(1,)")])
def test_other_numbers(dilation: str, then: str) -> None:
    with pytest.raises(NotProved):
        prove(_rule(DILATED.format(dilation=dilation, then=then)))


# ── what conditions say of attributes and results ──


@pytest.mark.parametrize(
    ("where", "axis", "right"),
    [
        ("y.axis == 1", 1, True), ("y.axis == 1", 0, False), ("not y.axis == 1", 1, False),
        ("y.axis == 1 or x.ndim == 2", 1, False), ("y.axis == 1, x.ndim == 2", -1, True),
        ("(y.axis == -1 if x.ndim == 3 else y.axis == 1)", -1, False),
    ],
)  # fmt: skip
def test_an_attribute_that_a_condition_fixes(where: str, axis: int, right: bool) -> None:
    text = f"dialect onnx; rule r(x) {{ y = Softmax(x); y where {where} => Softmax(x, axis = {axis}) }}"
    assert _is_proved(text) is right


@pytest.mark.parametrize(
    ("where", "right"),
    [
        ("y.shape == x.shape", True), ("y.ndim == x.ndim", False), ("y.shape[0] == x.shape[0]", False),
        ("match z { a => y.shape == x.shape, b => true }", False),
        ("match z { a => y.shape == x.shape, b => y.shape == x.shape }", True),
    ],
)  # fmt: skip
def test_types_of_results_are_asked_early(where: str, right: bool) -> None:
    text = (
        "dialect onnx; rule r(x, s) { y = Expand(x, s); z = (a := Relu(y)) | (b := Neg(y)); Abs(z) where"
        f" {where} => Abs(match z {{ a => Relu(x), b => -x }}) }}"
    )
    assert _is_proved(text) is right


# ── numbers of any rank ──


@pytest.mark.parametrize(
    ("head", "where"),
    [
        ("n", "true"), ("n", "n.ndim == 0"), ("n: any(ndim = 0 | 1)", "true"),
        ("n: any(shape = (1,))", "true"),
    ],
)  # fmt: skip
def test_the_rank_of_a_number_makes_no_difference(head: str, where: str) -> None:
    text = (
        f"dialect onnx; rule r({head}) {{ zero = const(value = 0); one = const(value = 1);"
        f" Neg(Neg(Range(zero, n, one))) where {where} => Range(zero, n, one) }}"
    )
    assert prove(_rule(text)).cases


@pytest.mark.parametrize(
    "target",
    ["Unsqueeze(Range(0, n, 1), const(value = [0], dtype = \"int64\"))", "Range(0, n, 1) + n * 0 + 1"],
)  # fmt: skip
def test_wrong_rules_about_ranges(target: str) -> None:
    with pytest.raises(NotProved):
        prove(_rule(f"dialect onnx; rule r(n): Neg(Neg(Range(0, n, 1))) => {target};"))


def test_a_rank_that_matters_is_open() -> None:
    rule = 'rule r(n: any(dtype = "int64")): Neg(Range(0, n, 1)) + Neg(n) => Neg(Range(0, n, 1) + n);'
    assert prove(_rule(f"dialect onnx; {rule}")).cases
