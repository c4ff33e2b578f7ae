"""The advice in the reason of a rule that integers refute: it names what can be a float instead."""

from __future__ import annotations

import gslang.api as api
from gslang.verify.verdict import Settings, verify_now


def reason_of(dialect: str, rule: str) -> str:
    (checked,) = api.parse_rules(f"dialect {dialect};\n{rule}").own.values()
    verdict = verify_now(checked, Settings(seconds=20))
    assert verdict.verdict == "refuted", verdict.reason
    return verdict.reason


def test_an_input_of_any_type() -> None:
    reason = reason_of("relay", "rule r(x): maximum(x + 1, x) => x + 1;")
    assert 'to restrict the rule to these types, write `x: any(dtype = "float16" | "float32")`' in reason


def test_an_input_that_is_not_the_first() -> None:
    reason = reason_of(
        "relay", 'rule r(c: any(dtype = "bool"), x): where(c, maximum(x + 1, x), x) => where(c, x + 1, x);'
    )
    assert "write `x: any(" in reason


CONVOLUTIONS = (
    "rule r(x, w, u) { a = nn.conv2d(x, w); b = nn.conv2d(x, u, a.*); a + b"
    ' where x.dtype == "float32", w.shape == u.shape, w.dtype == "float32", u.dtype == "float32" MORE'
    " => nn.conv2d(x, w + u, a.*) }"
)


def test_an_attribute_of_floats() -> None:
    reason = reason_of("relay", CONVOLUTIONS.replace("MORE", ""))
    assert "dtype = " not in reason and 'add the condition `a.out_dtype == ""`' in reason


def test_the_condition_helps() -> None:
    text = CONVOLUTIONS.replace("MORE", ', a.out_dtype == ""')
    (checked,) = api.parse_rules(f"dialect relay;\n{text}").own.values()
    assert verify_now(checked, Settings(seconds=20)).verdict in {"proved", "exact", "tested"}


def test_an_operand_that_is_always_an_integer() -> None:
    reason = reason_of(
        "onnx", "rule r(n) { y = HammingWindow(n); y where n.ndim == 0"
        " => HammingWindow(n, output_datatype = y.output_datatype) }",
    )
    assert "write `n:" not in reason
