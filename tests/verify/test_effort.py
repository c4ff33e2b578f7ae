"""No work that says nothing: what cannot come up is not sought, what was looked at is not made again, and
where hardly any draw fits a source its neighbourhood is looked at."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from random import Random
from typing import Any

import pytest

import gslang.api as api
from gslang.check.checked import Loop
from gslang.engine.scope import Scope
from gslang.verify import decisions, neighbours
from gslang.verify.corners import corners
from gslang.verify.decisions import goals, reachable
from gslang.verify.evidence import Settings
from gslang.verify.instances import draw as instances_module
from gslang.verify.instances.draw import Instance, Search, instances, match_in
from gslang.verify.neighbours import near, point_of
from gslang.verify.prove.prove import Proof
from gslang.verify.prove.terms.cases import Bound, contradictory
from gslang.verify.prove.terms.facts import Facts
from gslang.verify.prove.terms.paths import Budget, Choices, NotProved, TooMuch, all_cases
from gslang.verify.prove.terms.terms import ZERO, Term, number, read
from gslang.verify.unknown_ranks import without_ranks
from gslang.verify.verdict import verify_now

NUMBER = """fn first(c) = c.value if c.ndim == 0 else c.value[0] if c.ndim == 1 else c.value[0][0];
rule t(x, a: const(shape = ())): x * a => x * const(value = first(a), dtype = x.dtype);"""
RARE = """rule rare(x, y: any(shape = x.shape)): where(x, y, y)
    where sum(d * d for d in x.shape) % 7 == 1 => y;
test "one shape" for rare { x: input bool[2, 5]; y: input float32[2, 5]; where(x, y, y) => y }"""


def test_what_stands_behind_an_if_that_never_fails_is_not_reached() -> None:
    (rule,) = api.parse_rules(NUMBER).own.values()
    wanted = {goal.text: goal for goal in goals(rule)}
    never = {wanted["`a.ndim == 0` is false"].key}
    assert id(wanted["`a.ndim == 1` is true"].condition) in reachable(rule, set())
    assert id(wanted["`a.ndim == 1` is true"].condition) not in reachable(rule, never)


def test_decisions_that_cannot_come_up_are_sought_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sought: list[str] = []
    monkeypatch.setattr(
        "gslang.verify.seek.towards", lambda rule, goal, *_: sought.append(goal.text)
    )
    (rule,) = api.parse_rules(NUMBER).own.values()
    verdict = verify_now(rule, Settings(proof_steps=0))
    assert sought == ["`a.ndim == 0` is false"]
    assert "no instance where `a.ndim == 1` is true" in verdict.reason


def test_both_sides_of_a_condition_in_a_target_are_seen() -> None:
    (rule,) = api.parse_rules(
        "rule t(x): exp(x) => concatenate((*[exp(x) for k in range(2) if k > 0],), axis = 0);"
    ).own.values()
    shown = frozenset[tuple[int, bool]]().union(*(i.seen for i in instances(rule, Search(), 0, 9, 40)))
    assert {goal.wanted for goal in goals(rule) if goal.key in shown} == {True, False}


def test_loops_are_run_through_for_their_conditions_only(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = [0]
    all_rounds = decisions.all_rounds

    def counted(loop: Loop, scope: Scope) -> Iterator[None]:
        for _ in all_rounds(loop, scope):
            rounds[0] += 1
            yield

    monkeypatch.setattr(decisions, "all_rounds", counted)
    for condition, most in (("", 0), (" if i % 2 == 0", 1_001)):
        rounds[0] = 0
        (rule,) = api.parse_rules(
            f"rule t(x): exp(x) where sum([i for i in 0..20000{condition}]) > 3 => exp(x);"
        ).own.values()
        assert next(instances(rule, Search(), 0, 9, 40)).seen and rounds[0] <= most


def test_no_corner_is_made_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    (rule,) = api.parse_rules("rule t(x): exp(x) => exp(x);").own.values()
    instance = next(i for i in instances(rule, Search(), 0, 9, 40) if "rank 2" in i.features)
    made: list[str] = []
    wished = neighbours.wished

    def noted(*arguments: object) -> object:
        made.append(repr(arguments[1]))
        return wished(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(neighbours, "wished", noted)
    scope = match_in(rule, instance.before)
    assert scope is not None and list(corners(rule, point_of(scope), 0, 80))
    assert len(set(made)) == len(made) < 80


def test_what_is_near_differs_and_is_of_the_same_types() -> None:
    (rule,) = api.parse_rules("rule t(x, y): x + y => y + x;").own.values()
    centres = list(instances(rule, Search(), 0, 9, 12))[:3]
    found = list(near(rule, centres, 0, 60))
    assert len(found) > 10 and all(neighbours.NEAR in i.features for i in found)
    shapes = {str([i.before.types[n] for n in i.before.nodes()]) for i in (*centres, *found)}
    assert len(shapes) > len(found) // 2


def test_a_rule_that_hardly_any_draw_fits_is_looked_at_near_its_test() -> None:
    rules = api.parse_rules(RARE)
    verdict = verify_now(rules.own["rare"], Settings(proof_steps=0), rules.programs)
    assert verdict.instances > 2 and verdict.verdict in ("exact", "tested")


def test_beyond_a_proof_of_a_part_nothing_is_drawn_to_choose_from(monkeypatch: pytest.MonkeyPatch) -> None:
    """What no proof was found for is chosen from four times as many."""
    drawn = {True: 0, False: 0}
    for found in drawn:

        def counted(*arguments: Any, found: bool = found) -> Iterator[Instance]:
            for instance in instances(*arguments):
                drawn[found] += 1
                yield instance

        def tried(*_: object, found: bool = found, **named: object) -> Proof:
            if found:
                return Proof(2, False, (), 1, 0.0)
            raise NotProved("not tried")

        monkeypatch.setattr("gslang.verify.gather.instances", counted)
        monkeypatch.setattr("gslang.verify.verdict.prove", tried)
        (rule,) = api.parse_rules("rule t(x, y): x + y => y + x;").own.values()
        assert verify_now(rule).instances >= 24
    assert drawn[True] <= 36 and drawn[False] >= 100


# ── inequalities of cases ──


def test_inequalities_with_a_solution_do_not_contradict_each_other() -> None:
    """Random ones that a point satisfies; with one that says the opposite of one of them, they do."""
    random = Random(5)
    names = [read(f"x{k}", ()) for k in range(4)]
    for _ in range(60):
        at = [Fraction(random.randint(-4, 4), random.choice((1, 2, 3))) for _ in names]
        bounds: list[Bound] = []
        for _ in range(random.randint(1, 6)):
            factors = [Fraction(random.randint(-3, 3), random.choice((1, 2))) for _ in names]
            value = sum(c * x for c, x in zip(factors, at))
            slack = Fraction(random.randint(0, 2))
            total: Term = sum((x.scaled(c) for x, c in zip(names, factors)), ZERO)
            bounds.append((total - number(value - slack), slack > 0))
        assert not contradictory(bounds)
        term, strict = bounds[-1]
        assert contradictory([*bounds, (-term, not strict)])


def test_an_attribute_that_a_condition_fixes_is_not_open() -> None:
    text = "rule t(x) {{ y = nn.softmax(x); y where y.axis {sign} -1 => nn.softmax(x, axis = -1) }}"
    (fixed,) = api.parse_rules(text.format(sign="==")).own.values()
    (open_,) = api.parse_rules(text.format(sign="<=")).own.values()
    names = [
        {name for i in instances(rule, Search(), 0, 9, 20) for _, name, _ in i.attributes}
        for rule in (fixed, open_)
    ]
    assert names == [set(), {"axis"}]


def test_attributes_of_a_convolution_may_repeat_what_is_known() -> None:
    (rule,) = api.parse_rules("rule t(x, w): negative(nn.conv2d(x, w)) => x;").own.values()
    shown = {
        (name, value != "None" and value != "''")
        for i in instances(rule, Search(), 0, 9, 120) for _, name, value in i.attributes
    }
    for name in ("channels", "kernel_size", "out_layout"):
        assert {(name, True), (name, False)} <= shown


def test_a_proof_stops_where_it_compares_too_many_inequalities() -> None:
    facts = Facts(Choices([], Budget(10**6, facts=2)))
    size = facts.size("n")
    assert facts.proves(size - 1)
    facts.learn(size - 5)
    with pytest.raises(TooMuch, match="too many inequalities"):
        facts.proves(size * size - 7)


def test_what_a_seed_leads_to_is_drawn_once_for_inputs_of_known_and_unknown_rank(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (rule,) = api.parse_rules("rule r(x, y) { add(x, y) => add(y, x) }").own.values()
    drawn: list[int] = []
    attempt = instances_module._attempt

    def counted(rule: Any, search: Search, seed: int, *more: Any, **named: Any) -> Instance | None:
        drawn.append(seed)
        return attempt(rule, search, seed, *more, **named)

    monkeypatch.setattr(instances_module, "_attempt", counted)
    search = Search()
    assert len(list(instances(rule, search, 0, 60.0, 12))) > 6
    assert list(without_ranks(rule, search, 0, wide=False))
    assert not list(without_ranks(rule, search, 0, wide=True))  # there are no literals
    assert sorted(drawn) == list(range(12))


def test_a_proof_that_would_not_come_to_its_end_is_given_up() -> None:
    runs: list[int] = []

    def run(choices: Choices) -> None:
        runs.append(sum(choices.choose(2) for _ in range(12)))

    budget = Budget(4_000)
    with pytest.raises(TooMuch, match="too many cases"):
        all_cases(run, budget)
    assert budget.left > 2_900
    budget = Budget(4_000)
    budget.patient = True
    with pytest.raises(TooMuch, match="too many steps"):
        all_cases(run, budget)
    runs.clear()
    all_cases(run, Budget(100_000))
    assert len(runs) == 2**12
