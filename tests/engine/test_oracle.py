"""Both matchers against the brute-force oracle, on random rules of the whole language and graphs rich in
near-matches.

`make test` compares 3,000 pairs of rule and graph, `make test-long` 30,000, at every node as first output; a
third of the rules say what bodies compute.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from gslang.base.source import Source
from gslang.check.check import check_source
from gslang.check.checked import CheckedRule
from gslang.dialect.load import load_dialect
from gslang.engine import conditions, machine
from gslang.engine import program as mp
from gslang.engine.externs import with_externs
from gslang.engine.generate import compile_matcher
from gslang.engine.lower import program_of
from gslang.engine.program import MatchProgram
from gslang.engine.scope import Scope
from tests.engine.oracle import Assignment, all_matches, greedy_matches, has_match, spelled_out
from tests.engine.random_graphs import Data, as_graph, random_graph, show
from tests.engine.random_rules import random_rule, surely_connected
from tests.engine.rule_data import Rule, place_of, spell_out
from tests.engine.written import name_in, rule_text

load_dialect("relay")
GRAPHS_PER_RULE = 4
ORDER_OF_DEFINITION = {"E0401", "E0402"}


def checked(seed: int, bodies: bool = False) -> tuple[Random, Rule, str, CheckedRule]:
    """The first rule of a seed that keeps to the order of definition (§4 of the language)."""
    random = Random(seed)
    while True:
        rule = random_rule(random, bodies)
        text = rule_text(rule)
        program = with_externs(check_source(Source("random.gsl", text)), True)
        codes = {d.code for d in program.diagnostics if d.severity.value == "error"}
        assert codes or surely_connected(rule), (seed, text)
        if program.ok:
            return random, rule, text, program.rules[name_in(rule)]
        allowed = ORDER_OF_DEFINITION if surely_connected(rule) else {*ORDER_OF_DEFINITION, "E0602"}
        assert codes <= allowed, (seed, text, [(d.code, d.message) for d in program.diagnostics])


def bound(rule: Rule, checked_rule: CheckedRule, scope: Scope) -> tuple[tuple[int, ...], Assignment]:
    """Numbers of instances, and what the engine's match says of each named node, numbered as the spelled-out
    rule has it.
    """
    found: Assignment = {}
    for number, slot in enumerate(scope.slots):
        name = checked_rule.nodes[number].name
        if slot != -2 and name is not None and checked_rule.nodes[number].block is None:
            found[int(name[1:])] = slot
    for instances in scope.instances:
        for index, instance in enumerate(instances):
            for number, slot in instance.slots.items():
                name = checked_rule.nodes[number].name
                if slot != -2 and name is not None:
                    found[place_of(rule, int(name[1:]), index)] = slot
    return tuple(len(instances) for instances in scope.instances), found


def is_confirmed(
    rule: Rule, data: Data, ends: list[int], start: int, counts: tuple[int, ...], found: Assignment
) -> bool:
    """Whether what the engine found is a match by the oracle's conditions, and as greedy as it must be."""
    if (varying := rule.varying) is not None:
        at = rule.templates.index(varying)
        places = [place_of(rule, varying.nodes[-1], k) for k in range(counts[at])]
        if not any(
            n[at] == counts[at] and all(f[k] == found[k] for k in places)
            for n, f in greedy_matches(rule, data, ends, start)
        ):
            return False
        if found[places[0]] != start:
            return False
        plains = [spell_out(rule, counts)]
    else:  # no instance may also mean: in another alternative
        plains = [
            p
            for n, p in spelled_out(rule, data) if all(count in (0, known) for count, known in zip(counts, n))
        ]
    return any(
        True for plain in plains for _ in all_matches(plain, data, ends, {plain.outputs[0]: start, **found})
    )


def compare(
    seed: int, broken: Callable[[MatchProgram], MatchProgram] = lambda program: program, bodies: bool = False
) -> list[bool]:
    """One rule on some graphs.

    Returns for each start whether a match exists. `broken` changes the program (see the mutations).
    """
    random, rule, text, checked_rule = checked(seed, bodies)
    program = broken(program_of(checked_rule))
    outcomes = []
    for number in range(GRAPHS_PER_RULE):
        data, ends = random_graph(random, rule)
        graph = as_graph(data, ends)
        generated = compile_matcher(program)(graph)
        for start, entry in enumerate(data):
            expected = entry[0] not in ("input", "param", "const") and has_match(rule, data, ends, start)
            outcomes.append(expected)
            where = f"seed {seed}, graph {number}, first output %{start}\n{text}\n{show(data, ends)}"
            scope = next(machine.matches(program, graph, start), None)
            assert (scope is not None) == expected, (
                f"the machine finds {'no' if expected else 'a'} match: {where}"
            )
            if scope is not None:
                found = bound(rule, checked_rule, scope)
                assert is_confirmed(rule, data, ends, start, *found), (
                    f"the machine's match {found} is none: {where}"
                )
            other = generated(start, lambda scope: bound(rule, checked_rule, scope))
            compared = None if scope is None else found
            assert other == compared, f"the generated matcher finds {other}: {where}"
    return outcomes


@pytest.mark.parametrize("chunk", range(20))
def test_matchers_agree_with_the_oracle(chunk: int) -> None:
    found = Counter(outcome for seed in range(chunk * 25, chunk * 25 + 25) for outcome in compare(seed))
    assert found[True] > 20 and found[False] > 100  # else the graphs show nothing


@pytest.mark.parametrize("chunk", range(10))
def test_matchers_agree_with_the_oracle_on_bodies(chunk: int) -> None:
    found = Counter(
        outcome for seed in range(chunk * 25, chunk * 25 + 25) for outcome in compare(seed, bodies=True)
    )
    assert found[True] > 10 and found[False] > 100


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(10, 100))
def test_matchers_agree_with_the_oracle_on_bodies_long(chunk: int) -> None:
    for seed in range(chunk * 25, chunk * 25 + 25):
        compare(seed, bodies=True)


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(20, 200))
def test_matchers_agree_with_the_oracle_long(chunk: int) -> None:
    for seed in range(chunk * 25, chunk * 25 + 25):
        compare(seed)


# ── can these tests fail? ───────────────────────────────────────────────────────────────────────────────────


def rewritten(program: MatchProgram, change: Callable[[Any], Any]) -> MatchProgram:
    """The program with each step changed, or dropped where `change` gives None."""

    def steps(before: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(after for step in before if (after := change(step)) is not None)

    registers = tuple(replace(register, steps=steps(register.steps)) for register in program.registers)
    return replace(program, registers=registers, steps=steps(program.steps))


def without(kind: type) -> Callable[[MatchProgram], MatchProgram]:
    return lambda program: rewritten(program, lambda step: None if isinstance(step, kind) else step)


def with_fields(kind: type, **fields: Any) -> Callable[[MatchProgram], MatchProgram]:
    return lambda program: rewritten(
        program, lambda step: replace(step, **fields) if isinstance(step, kind) else step
    )


PROGRAMS: dict[str, Callable[[MatchProgram], MatchProgram]] = {
    **{
        kind.__name__: without(kind)
        for kind in (
            mp.Distinct, mp.Attr, mp.IsKind, mp.Apart, mp.Private, mp.Convex, mp.Late, mp.Guard, mp.Valid,
            mp.Bounds, mp.Absent,
        )
    },
    "no operand orders": with_fields(mp.Operands, swappable=frozenset()),
    "no operator variables": with_fields(mp.IsOp, variable=None),
    "constraints that do not wait": with_fields(mp.Attr, waits=False),
    "no later branches": lambda program: rewritten(
        program,
        lambda step: replace(step, branches=step.branches[:1]) if isinstance(step, mp.Choice) else step,
    ),
    "no block where": lambda program: replace(
        program, rule=replace(program.rule, blocks=tuple(replace(b, where=()) for b in program.rule.blocks))
    ),
    "interior of templates": lambda program: replace(
        program,
        rule=replace(
            program.rule,
            interior=frozenset(k for k in program.rule.interior if program.rule.nodes[k].block is None),
        ),
    ),
}
CODE: dict[str, tuple[Any, str, Any]] = {
    "convexity": (conditions, "depends", lambda graph, starts, targets: False),
    "greed": (machine.Machine, "_extend", lambda self, step: None),
    "order of candidates": (
        machine.Machine, "candidates", lambda *a, original=machine.Machine.candidates: original(*a)[::-1],
    ),
    "later candidates": (
        machine.Machine, "candidates", lambda *a, original=machine.Machine.candidates: original(*a)[:1],
    ),
}


def seeds_until_seen(broken: Callable[[MatchProgram], MatchProgram] = lambda program: program) -> int:
    for seed in range(5000):
        try:
            compare(seed, broken)
        except (AssertionError, LookupError):
            return seed
    pytest.fail("20,000 pairs of rule and graph do not notice")


@pytest.mark.long
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_broken_program_is_seen(name: str) -> None:
    seeds_until_seen(PROGRAMS[name])


@pytest.mark.long
@pytest.mark.parametrize("name", CODE)
def test_a_broken_machine_is_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*CODE[name])
    seeds_until_seen()


# ── what random rules have found ────────────────────────────────────────────────────────────────────────────


def starts(text: str, data: Data, ends: list[int]) -> list[int]:
    """The first outputs at which both matchers find a match of the only rule."""
    program = check_source(Source("random.gsl", text))
    assert program.ok, [d.message for d in program.diagnostics]
    plan, graph = program_of(program.rules["r"]), as_graph(data, ends)
    found = [node for node in graph.in_order() if next(machine.matches(plan, graph, node), None) is not None]
    generated = compile_matcher(plan)(graph)
    assert [node for node in graph.in_order() if generated(node, lambda scope: True)] == found
    return found


def test_a_second_attempt_is_not_kept_from_the_nodes_of_the_first() -> None:
    """Only with `p` at the second operand of the sum are there two instances."""
    text = (
        "rule r(x, y, z) { p = multiply(x, z); each f in 2.. { w = any(); q = multiply(w, y); s = add(q, p); "
        "} *f.s => *[negative(i.w) for i in f] }"
    )
    data: Data = [
        ("input", (), {}), ("input", (), {}), ("multiply", (0, 0), {}), ("multiply", (0, 1), {}),
        ("add", (3, 2), {}), ("multiply", (2, 0), {}),
    ]
    data.append(("add", (2, 5), {}))
    assert starts(text, data, [4, 6]) == [4, 6]
    text = text.replace("add(q, p)", "add(p, q)")
    assert starts(text, data, [4, 6]) == [4, 6]


def test_a_kept_node_may_be_an_output_of_another_instance() -> None:
    """`e` is an output of the instance where nothing is above it, and stays in the other one."""
    text = "rule r(x) { each f in 2.. { e = keep exp(x); a = abs?(e); } *f.a => *[negative(x) for i in f] }"
    data: Data = [("input", (), {}), ("exp", (0,), {}), ("abs", (1,), {})]
    assert starts(text, data, [2]) == [1, 2]
    assert starts(text.replace("keep ", ""), data, [2]) == []


def test_an_operator_variable_that_instances_have_bound() -> None:
    """The second output is matched after the instances, and has their operator."""
    text = (
        "rule r(x, f: op(exp | tanh)) { each i in 1.. { y = any(); g = f(y); } c = concatenate((x, *i.g)); "
        "c, f(x) => x, x }"
    )
    text = text.replace("=> x, x", "=> negative(x), negative(x)")
    for operator, expected in (("exp", [5]), ("tanh", [])):
        data: Data = [
            ("input", (), {}), ("input", (), {}), ("exp", (1,), {}), (operator, (0,), {}),
            ("tuple", (0, 2), {}), ("concatenate", (4,), {}),
        ]
        assert starts(text, data, [5, 3]) == expected


def test_operands_that_are_said_to_be_absent() -> None:
    """A graph may name them or leave them out."""
    text = "op my.pick(a: tensor, b: tensor?, c: tensor?) -> tensor; rule r(x) { my.pick(x) => x }"
    data: Data = [
        ("input", (), {}), ("my.pick", (0,), {}), ("my.pick", (0, -1), {}), ("my.pick", (0, -1, -1), {}),
        ("my.pick", (0, -1, 0), {}),
    ]
    assert starts(text, data, [1, 2, 3, 4]) == [1, 2, 3]


def test_an_absent_operand_is_no_output() -> None:
    text = (
        "op my.pick(a: tensor, b: tensor?, c: tensor?) -> tensor; rule r(x, y: any?) { e = exp?(y); p = "
        "my.pick(x, e, y); p, e => negative(x), x }"
    )
    data: Data = [
        ("input", (), {}), ("input", (), {}), ("exp", (1,), {}), ("my.pick", (0, 2, 1), {}),
        ("my.pick", (0,), {}),
    ]
    assert starts(text, data, [3, 4]) == [3]
