"""Conversions, quantized numbers, and the assignments by which the prover sees what does not follow."""

from __future__ import annotations

import numpy as np
import pytest

import gslang.api as api
from gslang.verify.prove.prove import prove
from gslang.verify.prove.terms.dtypes import holds
from gslang.verify.prove.terms.facts import Facts
from gslang.verify.prove.terms.paths import Budget, Choices, NotProved

TYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
    "float64",
)  # fmt: skip


def values(name: str) -> np.ndarray:
    """Values of a type that others may not hold: the ends, and what needs many bits."""
    if name == "bool":
        return np.array([False, True])
    dtype = np.dtype(name)
    if dtype.kind == "f":
        info = np.finfo(dtype)
        return np.array([info.min, info.max, info.tiny, 1 + info.eps, -0.5, 3], dtype)
    limits = np.iinfo(dtype)
    return np.array([limits.min, limits.max, limits.max - 1, limits.max // 2, 0, 1], dtype)


@pytest.mark.parametrize("wide", TYPES)
@pytest.mark.parametrize("narrow", TYPES)
def test_a_type_holds_what_comes_back(wide: str, narrow: str) -> None:
    before = values(narrow)
    with np.errstate(all="ignore"):
        there = before.astype(wide)
        back = there.astype(narrow)
    same = all(a == b and int(c) == int(b) if c == c and abs(c) < np.inf else a == b == c
               for a, b, c in zip(back.tolist(), before.tolist(), there.tolist()))  # fmt: skip
    assert not holds(wide, narrow) or same
    if np.dtype(wide).kind != "f" and np.dtype(narrow).kind != "f":
        assert holds(wide, narrow) == same


def proved(text: str) -> str:
    """The claim of the proof of a rule, or why there is none."""
    (rule,) = api.parse_rules(f"dialect onnx;\n{text}").own.values()
    try:
        return prove(rule).claim
    except NotProved as error:
        return f"not: {error}"


RIGHT = [
    'rule r(x: any(dtype = "uint32")): Cast(Cast(x, to = "float64"), to = "int64") => Cast(x, to = "int64");',
    'rule r(x: any(dtype = "int8")): Cast(Cast(x, to = "int32"), to = "int8") => x;',
    'rule r(x: any(dtype = "float16")): Cast(Cast(x, to = "float32"), to = "float64") '
    '=> Cast(x, to = "float64");',
    'rule r(x: any(dtype = "int8"), s: const(shape = ()), z: const(shape = (), dtype = "int8")):'
    " QuantizeLinear(DequantizeLinear(x, s, z), s, z, precision = 0) => x;",
    'rule r(x: any(dtype = "int8"), s: const(shape = ()), z: const(shape = (), dtype = "int8")):'
    " QuantizeLinear(Neg(Neg(DequantizeLinear(x, s, z))), s, z, precision = 0 | 1) => x;",
    'rule r(x: any(dtype = "int8"), y: any(dtype = "int8")):'
    ' Cast(x, to = "float32") + Cast(y, to = "float32") '
    '=> Cast(y, to = "float32") + Cast(x, to = "float32");',
]
WRONG = [
    'rule r(x: any(dtype = "uint32")): Cast(Cast(x, to = "float64"), to = "int32") => Cast(x, to = "int32");',
    'rule r(x: any(dtype = "int8"), s: const(shape = ()), z: const(shape = (), dtype = "int8")):'
    " QuantizeLinear(DequantizeLinear(x, s, z), s, z) => x;",
    'rule r(x: any(dtype = "int8"), s: const(shape = ()), z: const(shape = (), dtype = "int8")):'
    " QuantizeLinear(DequantizeLinear(x, s, z), s, z, precision = 16) => x;",
    'rule r(x: any(dtype = "int32")): Cast(Cast(x, to = "int8"), to = "int32") => x;',
    'rule r(x: any(dtype = "float32")): Cast(Cast(x, to = "int32"), to = "float32") => x;',
    'rule r(x: any(dtype = "int64")): Cast(Cast(x, to = "float32"), to = "int64") => x;',
    'rule r(x: any(dtype = "bool")): Cast(Cast(x, to = "int32"), to = "string") => Cast(x, to = "string");',
    'rule r(x: any(dtype = "int8"), y: any(dtype = "int8")):'
    ' Cast(x, to = "float32") + Cast(y, to = "float32") => Cast(x + y, to = "float32");',
    'rule r(x: any(dtype = "int8"), s: const(shape = ()), z: const(shape = (), dtype = "uint8")):'
    ' QuantizeLinear(DequantizeLinear(x, s, Cast(z, to = "int8")), s, z) => Cast(x, to = "uint8");',
    'rule r(x: any(dtype = "int8"), s: const(shape = ()), t: const(shape = ()),'
    ' z: const(shape = (), dtype = "int8")): QuantizeLinear(DequantizeLinear(x, s, z), t, z) => x;',
    'rule r(x: any(dtype = "int8"), s: const(shape = ()), z: const(shape = (), dtype = "int8"),'
    ' y: const(shape = (), dtype = "int8")): QuantizeLinear(DequantizeLinear(x, s, z), s, y) => x;',
    'rule r(x: any(dtype = "int8"), s: const(shape = ()), z: const(shape = (), dtype = "int8")):'
    " QuantizeLinear(Neg(DequantizeLinear(x, s, z)), s, z) => x;",
]


@pytest.mark.parametrize("text", RIGHT)
def test_right_rules_are_proved(text: str) -> None:
    assert proved(text).startswith("for ")


@pytest.mark.parametrize("text", WRONG)
def test_wrong_rules_are_not(text: str) -> None:
    assert proved(text).startswith("not: ")


def test_assignments_satisfy_what_is_known() -> None:
    facts = Facts(Choices([], Budget(10_000)))
    a, b, stride = (facts.size(name) for name in ("a", "b", "s"))
    facts.learn(a - 3 * b)
    facts.learn_equal(a, stride * 4)
    place = facts.position(a)
    half = place // 2
    inside = facts.within(place, b)
    assert facts.proves(a - 3 * b) and facts.proves(half) and not facts.proves(b - 2)
    with facts.assuming(b - 5):
        assert facts.proves(a - 3 * b) and not facts.proves(5 - b) and not facts.proves(inside - 1)
    assert not facts.proves(b - 5)
    assert facts._models.found
    for model in facts._models.found:
        assert all(
            facts._models.at(facts.replaced_equations(known), model.values) >= 0 for known in facts.known
        )
