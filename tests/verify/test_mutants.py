"""Rules with one thing changed: what brute force finds wrong is not accepted. Of all shipped rules, and of
those of other tests, right and wrong ones.

The judge (`brute_force`) draws from the rules' own tests and the declared domains; the verifier sees neither
these tests nor the judge's graphs. Rules without tests lend their first instances.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from random import Random

import pytest

import gslang.api as api
from gslang.check.checked import CheckedRule
from gslang.verify.instances.draw import Search, drawn
from gslang.verify.verdict import Settings, Verdict, verify_now
from tests.verify.brute_force import is_wrong, sources_of_tests
from tests.verify.mutants import mutants

PACKAGES = ("std.relay", "std.onnx", "std.onnxruntime")
HERE = Path(__file__).parent
FOLDERS = ("broad", "reported", "tensorright", "unseen")
OTHERS = [
    *[file for name in FOLDERS for file in sorted((HERE / name).glob("*.gsl"))],
    *sorted((HERE.parents[1] / "stdlib_rules" / "discovered").glob("*.gsl")),
]
SOME_OTHERS = (
    "onnx_arithmetic", "onnx_shapes", "relay_arithmetic", "relay_slices", "structure", "w_doubts_onnx",
    "w_positions_onnx", "w_shapes_onnx",
)
Mutant = tuple[CheckedRule, tuple[str, CheckedRule]]
SETTINGS = Settings(seconds=120, proof_steps=6_000)  # the steps end it on every machine
QUICK = Settings(seconds=2, wanted=12, proof_steps=2_000)
SOME = {
    "std.relay": ["simplify_transpose", "bias_add_add"],
    "std.onnx": ["mean_of_one", "clip_relu"],
    "std.onnxruntime": ["ms_conv_clip"],
}


def is_accepted(verdict: Verdict) -> bool:
    """Also `tested`, if it does not name what was not seen."""
    return (
        verdict.verdict in ("proved", "exact")
        or verdict.verdict == "tested" and "not varied" not in verdict.reason
    )


def wrong_ones(
    package: str, most_graphs: int, chosen: Callable[[list[Mutant]], list[Mutant]]
) -> Iterator[tuple[str, CheckedRule, str]]:
    """(rule and change, the changed rule, how brute force shows that it is wrong).

    `chosen`: some of all mutants: pairs of the rule, and of the change in words with what it gives.
    """
    rules = api.load(package)
    every = [(rule, mutant) for rule in rules.own.values() for mutant in mutants(rule)]
    for rule, (words, mutant) in chosen(every):
        if why := is_wrong(mutant, sources_of_tests(rule, rules.programs), most_graphs):
            yield f"{rule.name}, {words}", mutant, why


def accepted_among(
    found: Iterable[tuple[str, CheckedRule, str]], settings: Settings = SETTINGS
) -> tuple[int, dict[str, str]]:
    """How many wrong ones there are, and those that are accepted, with both reasons."""
    count, accepted = 0, {}
    for words, mutant, why in found:
        count += 1
        verdict = verify_now(mutant, settings)
        if is_accepted(verdict):
            accepted[words] = f"{verdict.verdict}: {verdict.reason}, but {why}"
    return count, accepted


@pytest.mark.parametrize("package", PACKAGES)
def test_wrong_ones_of_a_sample_are_not_accepted(package: str) -> None:
    found = wrong_ones(package, 30, lambda every: Random(package).sample(every, 60))
    count, accepted = accepted_among(islice(found, 3), QUICK)
    assert accepted == {} and count == 3


def others(file: Path, of_each: int) -> Iterator[tuple[str, CheckedRule, str]]:
    """The same for the rules of a file, the first ones of each rule in a random order."""
    rules = api.load(file)
    for rule in rules.own.values():
        seeds, search = sources_of_tests(rule, rules.programs), Search()
        drawn_ones = (drawn(rule, search, 5, k) for k in range(12))
        seeds += [found.before for found in islice(filter(None, drawn_ones), 3)] if not seeds else []
        every = list(mutants(rule))
        Random(rule.name).shuffle(every)
        judged = (
            (f"{rule.name}, {words}", mutant, why) for words, mutant in every[: 4 * of_each]
            if (why := is_wrong(mutant, [seed.copy() for seed in seeds], 60))
        )
        yield from islice(judged, of_each)


@pytest.mark.parametrize("name", SOME_OTHERS)
def test_wrong_ones_of_some_other_rules_are_not_accepted(name: str) -> None:
    (file,) = (file for file in OTHERS if file.stem == name)
    count, accepted = accepted_among(islice(others(file, 1), 3), QUICK)
    assert accepted == {} and count > 0


@pytest.mark.long
@pytest.mark.parametrize("file", OTHERS, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_no_wrong_one_of_other_rules_is_accepted(file: Path) -> None:
    count, accepted = accepted_among(others(file, 3))
    assert accepted == {} and count > 0, accepted


@pytest.mark.parametrize("package", PACKAGES)
def test_some_shipped_rules_are_not_wrong(package: str) -> None:
    rules = api.load(package)
    for name in SOME[package]:
        assert is_wrong(rules.own[name], sources_of_tests(rules.own[name], rules.programs), 100) is None


@pytest.mark.long
@pytest.mark.parametrize("package", PACKAGES)
def test_no_wrong_mutant_is_accepted(package: str) -> None:
    count, accepted = accepted_among(wrong_ones(package, 80, lambda every: every))
    assert accepted == {}, accepted
    assert count >= (220 if package == "std.relay" else 300)  # of 1,082 mutants there


@pytest.mark.long
@pytest.mark.parametrize("package", PACKAGES)
def test_no_shipped_rule_is_wrong(package: str) -> None:
    rules = api.load(package)
    found = {
        name: is_wrong(rule, sources_of_tests(rule, rules.programs), 1_000)
        for name, rule in rules.own.items()
    }
    wrong = {name: why for name, why in found.items() if why}
    assert wrong == {}, wrong
