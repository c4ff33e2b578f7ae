"""Rules about float16: what rounding explains is no counterexample, and what it does not explain is one."""

from __future__ import annotations

import pytest

import gslang.api as api
from gslang.verify.verdict import Settings, verify_now

RIGHT = [
    """rule r(x, w: var(dtype = "float16"), v: var(shape = w.shape, dtype = "float16")) {
        a = nn.conv2d(x, w, out_dtype = "float16");
        a + nn.conv2d(x, v, a.*) where x.dtype == "float16" => nn.conv2d(x, w + v, a.*)
    }""",
    """rule r(x: any(dtype = "float16"), k: const(dtype = "float16", shape = ())):
        (x + x) * k => x * (k + k);""",
    """rule r(x: any(dtype = "float16")):
        (x * const(value = 0.1, shape = ())) * const(value = 3.0, shape = ()) => x * 0.3;""",
    """rule r(x: any(dtype = "float16")):
        cast(cast(x, dtype = "float32") * const(value = 3.0, shape = ()), dtype = "float16") => x * 3.0;""",
]
WRONG = [
    'rule r(x: any(dtype = "float16")): x * const(value = 1.01, shape = ()) => x;',
    'rule r(x: any(dtype = "float16")): cast(cast(x, dtype = "bfloat16"), dtype = "float16") => x;',
    """rule r(x: any(dtype = "float16")):
        cast(cast(x, dtype = "float32") * const(value = 1.01, shape = ()), dtype = "float16") => x;""",
]


def verdict(text: str) -> str:
    (rule,) = api.parse_rules(text).own.values()
    return verify_now(rule, Settings(seconds=20, wanted=24, proof_steps=0)).verdict


@pytest.mark.parametrize("text", RIGHT)
def test_rounding_refutes_nothing(text: str) -> None:
    assert verdict(text) in ("exact", "tested")


@pytest.mark.parametrize("text", WRONG)
def test_more_than_rounding_refutes(text: str) -> None:
    assert verdict(text) == "refuted"
