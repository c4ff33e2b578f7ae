"""Runs that begin alike share what the facts have answered, and nothing else: with a journal every case ends
as it does without one.
"""

from __future__ import annotations

from random import Random

import pytest

import gslang.api as api
from gslang.verify.prove.prove import prove
from gslang.verify.prove.terms.facts import Facts
from gslang.verify.prove.terms.inequalities import Inequalities
from gslang.verify.prove.terms.journal import Journal
from gslang.verify.prove.terms.paths import (
    FROM_THE_FIRST,
    SIZES,
    Budget,
    Choices,
    Impossible,
    NotProved,
    TooMuch,
    all_cases,
)
from gslang.verify.prove.terms.sizes import Number, Size, text_of


def _ends(seed: int, with_journal: bool) -> list[tuple[str, ...]]:
    """What each case of a random conversation about sizes was told, and how it ended."""
    known = Facts(Choices([], Budget(10**6)))
    known.journal = Journal(known) if with_journal else None
    found: list[tuple[str, ...]] = []

    def run(choices: Choices) -> None:
        facts = known if with_journal else Facts(choices)
        facts.choices = choices
        told: list[str] = []
        try:
            _talk(facts, Random(seed), told)
        except (Impossible, NotProved) as error:
            told.append(type(error).__name__)
            raise Impossible("excluded by a domain") from None
        finally:
            found.append(tuple(told))

    all_cases(run, Budget(10**6), known.journal)
    return found


def _talk(facts: Facts, random: Random, told: list[str]) -> None:
    sizes: list[Number] = [facts.size("x"), facts.size("y"), facts.size("z", 0)]
    for _ in range(7):
        a, b = random.choice(sizes), random.choice(sizes) + random.randint(-2, 2)
        match random.randrange(8):
            case 0 | 1:
                told.append(f"at least: {facts.at_least(a, b)}")
            case 2:
                told.append(f"equal: {facts.equal(a, b)}")
            case 3:
                sizes.append(facts.floor(a, random.randint(2, 3)))
            case 4:
                sizes.append(facts.normal(a * b))
            case 5:
                with facts.assuming(a - 2):
                    told.append(f"assuming: {facts.decided(b - 1)} {facts.at_least(b, 2)}")
                    sizes.append(facts.floor(b, 2))
            case 6:
                facts.learn(a + b + random.randint(-1, 3))
            case 7:
                sizes.append(facts.join(a, facts.position(sizes[0])))
    told += [text_of(facts.normal(size)) for size in sizes]


@pytest.mark.parametrize("seed", range(30))
def test_cases_end_as_they_do_without_a_journal(seed: int) -> None:
    assert _ends(seed, True) == _ends(seed, False)


def test_a_question_before_a_choice_is_answered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    follows = Inequalities._follows
    monkeypatch.setattr(
        Inequalities, "_follows", lambda self, value: asked.append(value.text) or follows(self, value)
    )
    known = Facts(Choices([], Budget(10**6)))
    known.journal = Journal(known)

    def run(choices: Choices) -> None:
        known.choices = choices
        x, y = known.size("x"), known.size("y")
        assert not known.proves(x - y)
        runs.append(choices.choose(5))

    runs: list[int] = []
    all_cases(run, Budget(10**6), known.journal)
    assert runs == [0, 1, 2, 3, 4] and len(asked) == 1


def test_what_one_branch_learns_the_other_does_not_know() -> None:
    known = Facts(Choices([], Budget(10**6)))
    known.journal = Journal(known)
    seen: list[tuple[int, bool]] = []

    def run(choices: Choices) -> None:
        known.choices = choices
        x = known.size("x", 0)
        branch = choices.choose(2)
        if branch == 0:
            known.learn(x - 3)
        seen.append((branch, known.proves(x - 2)))

    all_cases(run, Budget(10**6), known.journal)
    assert seen == [(0, True), (1, False)]


def test_other_questions_after_the_same_choices_end_the_proof() -> None:
    known = Facts(Choices([], Budget(10**6)))
    known.journal = Journal(known)
    count = 0

    def run(choices: Choices) -> None:
        nonlocal count
        count += 1
        known.choices = choices
        known.size(f"x{count}")
        choices.choose(2)

    with pytest.raises(TooMuch, match="different questions"):
        all_cases(run, Budget(10**6), known.journal)


def test_what_follows_is_found_once_for_cases_that_know_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    (rule,) = api.parse_rules(
        "dialect onnx; rule t(x, s, c: const) { (r := Reshape(x, s)) * c"
        " where numel(c.shape) == 1, c.ndim <= x.ndim, c.ndim <= r.ndim => Reshape(x * c, s, r.*) }"
    ).own.values()
    asked: list[str] = []
    follows = Inequalities._follows

    def counted(self: Inequalities, value: Size) -> bool:
        asked.append(value.text)
        return follows(self, value)

    monkeypatch.setattr(Inequalities, "_follows", counted)
    cases, once = prove(rule, 2_000).cases, len(asked)
    monkeypatch.setattr(Inequalities, "_knowledge", lambda self: (str(len(asked)),))
    assert prove(rule, 2_000).cases <= cases and once < len(asked) - once


def test_rounds_of_more_possibilities_see_each_case_once() -> None:
    """Cases of a later round begin where the rounds before left possibilities for later, with the same
    answers as when all are seen at once.
    """
    def cases(limits: tuple[int, ...]) -> list[tuple[int, ...]]:
        found: list[tuple[int, ...]] = []
        starts = FROM_THE_FIRST
        for limit in limits:
            known = Facts(Choices([], Budget(10**6)))
            known.journal = Journal(known)

            def run(choices: Choices, known: Facts = known, limit: int = limit) -> None:
                known.choices = choices
                first = choices.choose_some(limit, True)
                x = known.size(f"x{first}")
                flag = choices.choose(2)
                if not known.at_least(x, first):
                    raise Impossible(SIZES)
                second = choices.choose_some(limit + 1 - 2 * flag, True) if first else 0
                third = choices.choose_some(min(limit, 2), limit < 2)
                found.append((first, flag, second, third, int(known.proves(x - first))))

            starts = all_cases(run, Budget(10**6), known.journal, starts)
        return found

    whole, rounds = cases((5,)), cases((1, 2, 3, 5))
    assert len(set(whole)) == len(whole) > 40
    assert sorted(rounds) == sorted(whole)
