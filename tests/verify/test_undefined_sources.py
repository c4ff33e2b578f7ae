"""Where the source divides by 0 the target may compute anything; elsewhere it has to compute the same."""

from __future__ import annotations

import numpy as np
import pytest

import gslang.api as api
from gslang.dialect.load import load_dialect
from gslang.graph.builder import Builder
from gslang.verify.comparison.defined import domain_of, moved_inside, undefined_calls, without_undefined
from gslang.verify.verdict import Settings, verify_now

ACCEPTED = {"proved", "exact", "tested"}

RIGHT = {
    "remainder": "(x: int32, y: int32): x - Div(x, y) * y => Mod(x, y, fmod = 1)",
    "whole": "(x: int64, y: int64): Div(x, y) * y + Mod(x, y, fmod = 1) where x.shape == y.shape => x",
    "written": "(x: int32, y: int32): Mod(x, y, fmod = 1) => x - Div(x, y) * y",
    "bytes": "(x: uint8, y: uint8): x - Div(x, y) * y => Mod(x, y, fmod = 0)",
    "short": "(x: int16, y: int16): Mod(x, y, fmod = 1) => x - Div(x, y) * y",
    "less": "(x: uint8, y: uint8): Less(Mod(x, y, fmod = 0), y) where x.shape == y.shape => Equal(x, x)",
    "constant": '(x: int32, c: const(dtype = "int32")): x - Div(x, c) * c => Mod(x, c, fmod = 1)',
    "computed": "(x: int32, y: int32, z: int32) {"
                " d = y - z; q = Div(x, d); x - q * d => Mod(x, y - z, fmod = 1) }",
    "guarded": "(x: int32, y: int32) { z = Equal(y, 0); Where(z, x, Div(x, y)) where x.shape == y.shape"
               " => Where(Not(z), Div(x, y), x) }",
}  # fmt: skip
WRONG = {
    "sign": "(x: int32, y: int32): x - Div(x, y) * y => Mod(x, y, fmod = 0)",
    "kept": "(x: int32, y: int32): Div(x, y) * y => x",
    "written_sign": "(x: int32, y: int32): Mod(x, y, fmod = 0) => x - Div(x, y) * y",
    "negative": "(x: int32, y: int32): Less(Mod(x, y, fmod = 1), y) where x.shape == y.shape => Equal(x, x)",
    "constant": '(x: int32, c: const(dtype = "int32")): x - Div(x, c) * c => Mod(x, c, fmod = 0)',
    "computed": "(x: int32, y: int32, z: int32) {"
                " d = y - z; q = Div(x, d); x - q * d => Mod(x, y - z, fmod = 0) }",
    "more": "(x: int32, y: int32): Div(x, y) => Div(x, y) + Div(y, x) - Div(y, x)",
    "guarded": "(x: int32, y: int32): Where(Equal(y, 0), x, Div(x, y)) => Div(x, y)",
    "guarded_otherwise": "(x: int32, y: int32) {"
                         " z = Equal(y, 0); Where(z, x, Div(x, y)) where x.shape == y.shape"
                         " => Where(z, y, Div(x, Where(z, CastLike(1, y), y))) }",
    "by_one": "(x: int32, y: int32): Div(x, y) + y => Div(x, y) + Div(y, Abs(y)) * y",
}  # fmt: skip
QUICK = {"whole", "bytes", "less"}
RELAY_RIGHT = '(x, y): x - floor_divide(x, y) * y where x.dtype == "int32" => floor_mod(x, y)'
RELAY_WRONG = {
    "towards_zero": '(x, y): x - floor_divide(x, y) * y where x.dtype == "int32" => trunc_mod(x, y)',
    "shift": "(x: int32, y: int32): right_shift(x, y) => x",
    "guarded": "(x: int32, y: int32): where(less(y, 32), right_shift(x, y), x) => right_shift(x, y)",
}


def verdict_on(rule: str, dialect: str = "onnx") -> tuple[str, str]:
    for dtype in ("int16", "int32", "int64", "uint8"):
        rule = rule.replace(f": {dtype}", f': any(dtype = "{dtype}")')
    text = f"dialect {dialect};\nrule r{rule}{'' if rule[-1] == '}' else ';'}"
    (checked,) = api.parse_rules(text).own.values()
    verdict = verify_now(checked, Settings(seconds=20))
    return verdict.verdict, verdict.reason


@pytest.mark.parametrize("name", sorted(RIGHT.keys() - QUICK))
@pytest.mark.long
def test_right_rules_are_not_refuted(name: str) -> None:
    judge_right(name)


@pytest.mark.parametrize("name", sorted(QUICK))
def test_some_right_rules_are_not_refuted(name: str) -> None:
    judge_right(name)


def judge_right(name: str) -> None:
    verdict, reason = verdict_on(RIGHT[name])
    assert verdict in ACCEPTED, reason


@pytest.mark.parametrize("name", WRONG)
def test_wrong_rules_are(name: str) -> None:
    assert verdict_on(WRONG[name])[0] == "refuted"


def test_divisions_of_relay() -> None:
    verdict, reason = verdict_on(RELAY_RIGHT, "relay")
    assert verdict in ACCEPTED, reason
    for rule in RELAY_WRONG.values():
        assert verdict_on(rule, "relay")[0] == "refuted"


def test_only_undefined_elements_change() -> None:
    build = Builder(load_dialect("onnx"))
    x, y = build.input("x", (2, 3), "int32"), build.input("y", (3,), "int32")
    graph = build.finish(build.call("Div", x, y))
    least = np.iinfo(np.int32).min
    inputs = {
        "x": np.array([[1, 2, 3], [4, 5, least]], np.int32), "y": np.array([0, 7, -1], np.int32)
    }
    domain = domain_of(graph, build.dialect, 0)
    moved = moved_inside(domain, inputs)
    assert (moved["x"] == inputs["x"]).all() and moved["y"][1] == 7
    assert moved["y"][0] > 0 and moved["y"][2] > 0
    assert not undefined_calls(domain.graph, domain.dialect, domain.calls, moved)


def test_large_numbers_stay_as_they_are() -> None:
    build = Builder(load_dialect("onnx"))
    x, y = build.input("x", (2,), "uint64"), build.input("y", (2,), "uint64")
    domain = domain_of(build.finish(build.call("Div", x, y)), build.dialect, 0)
    moved = moved_inside(domain, {"x": np.ones(2, np.uint64), "y": np.array([2**64 - 3, 0], np.uint64)})
    assert moved["y"].dtype == np.uint64 and moved["y"][0] == 2**64 - 3 and moved["y"][1] > 0


def test_elements_that_stay_undefined_do_not_count() -> None:
    build = Builder(load_dialect("onnx"))
    x, y = build.input("x", (2, 3), "int32"), build.const([0, 7, 2], "int32")
    graph = build.finish(build.call("Add", build.call("Div", x, y), x))
    inputs = {"x": np.ones((2, 3), np.int32)}
    domain = domain_of(graph, build.dialect, 0)
    assert moved_inside(domain, inputs)["x"].shape == (2, 3)
    ones, twos = np.full((2, 3), 1), np.full((2, 3), 2)
    (left,), (right,), partly = without_undefined(domain, inputs, [ones], [twos])
    assert partly
    assert left.tolist() == [[0, 1, 1], [0, 1, 1]] and right.tolist() == [[0, 2, 2], [0, 2, 2]]
