"""Every shipped rule with one thing changed: what brute force finds wrong is not accepted.

The judge (`brute_force`) draws from the rules' own tests and the declared domains; the verifier sees neither
these tests nor the judge's graphs.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import pytest

import gslang.api as api
from gslang.check.checked import CheckedRule
from gslang.verify.verdict import Settings, Verdict, verify_now
from tests.verify.brute_force import is_wrong, sources_of_tests
from tests.verify.mutants import mutants

PACKAGES = ("std.relay", "std.onnx", "std.onnxruntime")
SETTINGS = Settings(seconds=3, proof_steps=6_000)
SOME = {
    "std.relay": ["simplify_transpose", "bias_add_add"],
    "std.onnx": ["mean_of_one", "clip_relu"],
    "std.onnxruntime": ["ms_conv_clip"],
}


def is_accepted(verdict: Verdict) -> bool:
    """Also `tested`, if it does not name what was not seen."""
    return (
        verdict.verdict in ("proved", "exact") or verdict.verdict == "tested"
        and "not varied" not in verdict.reason
    )


def wrong_ones(package: str, names: list[str] | None) -> Iterator[tuple[str, CheckedRule, str]]:
    """(rule and change, the changed rule, how brute force shows that it is wrong)."""
    rules = api.load(package)
    for name in rules.own if names is None else names:
        seeds = sources_of_tests(rules.own[name], rules.programs)
        for words, mutant in mutants(rules.own[name]):
            if why := is_wrong(mutant, seeds, 150 if names is None else 80):
                yield f"{name}, {words}", mutant, why


def accepted_among(
    package: str, names: list[str] | None, most: int | None = None
) -> tuple[int, dict[str, str]]:
    """How many wrong ones there are, and those that are accepted, with both reasons."""
    count, accepted = 0, {}
    for words, mutant, why in islice(wrong_ones(package, names), most):
        count += 1
        verdict = verify_now(mutant, SETTINGS)
        if is_accepted(verdict):
            accepted[words] = f"{verdict.verdict}: {verdict.reason}, but {why}"
    return count, accepted


@pytest.mark.parametrize("package", PACKAGES)
def test_some_wrong_mutants_are_not_accepted(package: str) -> None:
    count, accepted = accepted_among(package, SOME[package], 3)
    assert accepted == {} and count >= 3


@pytest.mark.parametrize("package", PACKAGES)
def test_some_shipped_rules_are_not_wrong(package: str) -> None:
    rules = api.load(package)
    for name in SOME[package]:
        assert is_wrong(rules.own[name], sources_of_tests(rules.own[name], rules.programs)) is None


@pytest.mark.long
def test_no_wrong_mutant_is_accepted() -> None:
    found = [accepted_among(package, None) for package in PACKAGES]
    assert [accepted for _, accepted in found] == [{}, {}, {}]
    assert sum(count for count, _ in found) >= 300


@pytest.mark.long
@pytest.mark.parametrize("package", PACKAGES)
def test_no_shipped_rule_is_wrong(package: str) -> None:
    rules = api.load(package)
    found = {
        name: is_wrong(rule, sources_of_tests(rule, rules.programs), 1_000)
        for name, rule in rules.own.items()
    }
    assert {name: why for name, why in found.items() if why} == {}
