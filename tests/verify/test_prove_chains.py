"""Chains in proofs: with each number of instances up to a bound. Whatever reads the instance before says
nothing of the first one.
"""

from __future__ import annotations

import pytest

import gslang.api as api
from gslang.verify.prove.prove import prove
from gslang.verify.prove.terms.paths import NotProved

# source without its outputs, outputs and conditions, target
RIGHT = [
    ("chain c in 2.. from x { y = nn.relu(prev.y); }", "c[-1].y", "nn.relu(x)"),
    ("chain c in 1.. from x { y = negative(prev.y); }", "c[-1].y", "negative(x) if len(c) % 2 == 1 else x"),
    ("chain c in 2..2 from x { k = const(shape = ()); y = prev.y * k; }", "c[-1].y", "x * (c[0].k * c[1].k)"),
    ("chain c in 2..3 from x { b = any(); y = prev.y + b; where b.shape == prev.y.shape; }", "c[-1].y",
     "(x + (c[-1].b + c[0].b)) + c[1].b if len(c) == 3 else x + (c[-1].b + c[0].b)"),
    ("chain c in 2..2 from x { y = nn.softmax(prev.y, prev.y.*); }", "c[-1].y",
     "nn.softmax(nn.softmax(x, c[0].y.*), c[0].y.*)"),
    ("chain c in 2..2 from x { y = nn.leaky_relu(prev.y, alpha = prev.y.alpha); }", "c[-1].y",
     "nn.leaky_relu(nn.leaky_relu(x, alpha = c[1].y.alpha), alpha = c[0].y.alpha)"),
    ("chain c in 2.. from x { y = reshape(prev.y); }", "c[-1].y", "reshape(x, newshape = c[-1].y.shape)"),
    ("s = nn.relu(x); chain c in 1.. from s { z = const(value = 0, shape = ()); y = maximum(prev.y, z); }",
     "c[-1].y", "nn.relu(x)"),
    ("chain c in 1.. { y = nn.relu(prev.y); }", "nn.relu(c[-1].y)", "c[-1].y"),
    ("chain c in 2.. from x { f = op(nn.relu | abs); y = f(prev.y); where y.op == prev.y.op; }",
     "c[-1].y", "c[0].y"),
]  # fmt: skip
WRONG = [
    ("chain c in 2.. from x { y = negative(prev.y); }", "c[-1].y", "x"),
    ("chain c in 2.. from x { y = negative(prev.y); }", "c[-1].y where len(c) != 5", "x"),
    ("chain c in 2..2 from x { k = const(shape = ()); y = k - prev.y; }", "c[-1].y", "x + (c[0].k - c[1].k)"),
    ("chain c in 2..2 from x { y = nn.leaky_relu(prev.y, alpha = prev.y.alpha); }", "c[-1].y",
     "nn.leaky_relu(nn.leaky_relu(x), alpha = c[0].y.alpha)"),
    ("s = nn.leaky_relu(x); chain c in 1..1 from s { y = nn.leaky_relu(prev.y, alpha = prev.y.alpha); }",
     "c[-1].y", "nn.leaky_relu(nn.leaky_relu(x, s.*), s.*)"),
    ("s = nn.softmax(x); chain c in 1..2 from s { y = nn.softmax(prev.y, prev.y.*); }", "c[-1].y",
     "(u := nn.softmax(nn.softmax(x, s.*), s.*)) if len(c) == 1 else nn.softmax(u, s.*)"),
    ("chain c in 2..2 from x { f = op(negative | nn.relu); y = f(prev.y); }", "c[-1].y", "c[0].y"),
    ("chain c in 2..2 from x { f = op(exp | nn.relu); y = f(prev.y); where y.op == prev.y.op; }", "c[-1].y",
     "c[0].y"),
    ("chain c in 2.. from x { y = negative(prev.y); }", "c[-1].y", "x if len(c) in (2, 4) else negative(x)"),
    ("chain c in 2.. from x { y = reshape(prev.y); }", "c[-1].y", "reshape(x, newshape = c[0].y.shape)"),
    ("chain c in 1.. from x { k = const(); y = prev.y + k; where k.ndim == 0; }", "c[-1].y", "x + c[0].k"),
]  # fmt: skip


def is_proved(source: str, outputs: str, target: str) -> str:
    """The claim, empty without a proof."""
    given = "" if "from" not in source else "x"
    (rule,) = api.parse_rules(f"rule r({given}) {{ {source} {outputs} => {target} }}").own.values()
    try:
        return prove(rule).claim
    except NotProved:
        return ""


@pytest.mark.parametrize(("source", "outputs", "target"), RIGHT)
def test_right_ones_are_proved(source: str, outputs: str, target: str) -> None:
    claim = is_proved(source, outputs, target)
    assert claim and ("instances" in claim) == ("..2" not in source and "..3" not in source)


@pytest.mark.parametrize(("source", "outputs", "target"), WRONG)
def test_wrong_ones_are_not(source: str, outputs: str, target: str) -> None:
    assert not is_proved(source, outputs, target)
