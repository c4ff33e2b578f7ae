"""Cases in which no proof succeeds become graphs in which a wrong rule differs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import gslang.api as api
from gslang.base.deadline import deadline
from gslang.check.checked import CheckedRule
from gslang.verify.doubted import wishes_of
from gslang.verify.instances.draw import Instance, Search, wished
from gslang.verify.prove.doubts import Doubt, doubts
from gslang.verify.verdict import Settings, verify_now


def rule_of(text: str) -> CheckedRule:
    return api.parse_rules(text).own["r"]


def found(text: str) -> Iterator[tuple[Doubt, Instance]]:
    """Each case in which no proof of a rule succeeds, with its graph."""
    rule = rule_of(text)
    for k, doubt in enumerate(doubts(rule, deadline(60), 0)):
        instance = wished(rule, wishes_of(doubt), k, Search(), set())
        assert instance is not None, doubt
        yield doubt, instance


RELAY = "dialect relay;\n"
ONNX = "dialect onnx;\n"


def test_sizes_lie_beyond_what_a_target_limits() -> None:
    cut = 'strided_slice(x, begin = (0,), end = (100,), strides = (1,), slice_mode = "end", axes = (0,))'
    seen = list(found(f"{RELAY}rule r(x): {cut} => x;"))
    assert seen
    for doubt, instance in seen:
        shape = instance.before.types[0].shape  # type: ignore[union-attr]
        assert shape == doubt[0, None, "shape"] and shape[0] > 100  # type: ignore[index]
        assert instance.after is None


def test_numbers_of_attributes_may_be_negative() -> None:
    text = (
        'rule r(x) { y = strided_slice(x, begin = ((b := _),), end = ((e := _),), strides = (1,), '
        'slice_mode = "end", axes = (0,)); '
        "y => strided_slice(x, begin = (max(b, -30),), end = (e,), axes = (0,)) }"
    )
    seen = list(found(RELAY + text))
    assert seen and all(doubt[1, None, "begin"][0] < -30 for doubt, _ in seen)  # type: ignore[index]
    for doubt, instance in seen:
        (call,) = [attrs for attrs in instance.before.attrs if attrs]
        assert call["begin"] == doubt[1, None, "begin"]


def test_alternatives_are_those_of_the_case() -> None:
    text = "rule r(x, y) { m = keep Neg(x) | Abs(x); Mul(m, y) => Mul(Neg(x), y) }"
    seen = list(found(ONNX + text))
    assert seen and all("Abs" in instance.before.op for _, instance in seen)


def test_optional_operands_are_those_of_the_case() -> None:
    text = "rule r(x: any(dtype = \"float32\"), w, b: any?): Neg(Conv(x, w, b)) => Conv(Neg(x), w, b);"
    seen = list(found(ONNX + text))
    assert seen
    for doubt, instance in seen:
        operands = instance.before.operands[instance.before.op.index("Conv")]
        assert len(operands) == (2 if doubt[2, None, "%absent"] else 3)


def test_blocks_have_as_many_instances_as_the_case() -> None:
    text = (
        "rule r(x) { each b in 2.. { n = const(shape = ()); y = Mul(x, n); } "
        "*b.y => *[Mul(x, b[0].n) for i in b] }"
    )
    seen = list(found(ONNX + text))
    assert {instance.before.op.count("Mul") for _, instance in seen} == {2, 3}


@pytest.mark.parametrize("name, text", [
    ("dilation", "y = nn.conv1d(x, w); y => nn.conv1d(x, w, y.*, dilation = (min(y.dilation[0], 5),))"),
    ("groups", "y = nn.conv2d(x, w); y => nn.conv2d(x, w, y.*, groups = min(y.groups, 7))"),
    ("strides", "y = nn.conv1d(x, w); y => nn.conv1d(x, w, y.*, strides = (min(y.strides[0], 9),))"),
])
def test_a_rule_that_limits_an_attribute_is_refuted(name: str, text: str) -> None:
    rule = rule_of(f'{RELAY}rule r(x: any(dtype = "float32"), w: any(dtype = "float32")) {{ {text} }}')
    verdict = verify_now(rule, Settings(seconds=60))
    assert verdict.verdict == "refuted" and verdict.counterexample is not None


def test_they_are_the_same_in_each_run() -> None:
    text = f"{RELAY}rule r(x, w) {{ y = nn.conv1d(x, w); y => nn.conv1d(x, w, y.*, groups = 1) }}"
    first, second = (repr(doubts(rule_of(text), deadline(60), 3)) for _ in range(2))
    assert first == second


def test_an_attribute_that_is_turned_around_decides_both_ways() -> None:
    rule = rule_of(
        f'{RELAY}rule r(x: any(shape = (_,), dtype = "int32")) {{ y = argmax(reverse(x, axis = 0), axis = 0, '
        "keepdims = false, exclude = false); y => (x.shape[0] - 1) - argmax(x, axis = 0, "
        "select_last_index = not y.select_last_index) }"
    )
    assert "select_last_index" not in verify_now(rule, Settings(seconds=60)).reason
