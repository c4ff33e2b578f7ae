"""Chains against a brute-force reference, written from semantics.md §11 and nothing of the engine, on random
rules and graphs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest

import gslang
from gslang.base.source import Source
from gslang.check.check import check_source
from gslang.check.checked import CheckedRule
from gslang.check.limits import LimitExceeded
from gslang.dialect.load import load_dialect
from gslang.engine import machine
from gslang.engine.fixed_point import run_to_fixed_point
from gslang.engine.generate import compile_matcher
from gslang.engine.lower import program_of
from gslang.engine.scope import Scope
from gslang.graph.builder import Builder
from tests.engine.random_graphs import Data, as_graph, show
from tests.engine.readable import is_compiled

pytestmark = pytest.mark.usefixtures("code_at_once")

UNARY, AXIS = ("exp", "tanh", "abs"), ("nn.softmax", "nn.log_softmax")
Pattern = tuple[Any, ...]
"""("prev",), ("leaf", name, kind), ("call", operators, operands) or ("either", call, call)."""


@dataclass(frozen=True)
class ChainRule:
    """`block`: what `y` is.

    `shared`: the leaf `b` is one of the rule. `start`: operators of a call that the chain starts from, or
    none.
    """

    block: Pattern
    shared: bool
    start: tuple[str, ...]
    around: str | None  # the operator of a call of the end, which then is the output
    keep: bool
    same_axis: bool
    minimum: int
    maximum: int | None

    def text(self) -> str:
        def written(pattern: Pattern) -> str:
            match pattern:
                case ("prev",):
                    return "prev.y"
                case ("leaf", name, kind):
                    return f"{name}" if self.shared else f"({name} := {kind}())"
                case ("call", operators, operands):
                    inner = ", ".join(map(written, operands))
                    return f"{operators[0]}({inner})" if len(operators) == 1 else f"f({inner})"
                case ("either", *branches):
                    return " | ".join(map(written, branches))
            raise AssertionError(pattern)

        several = next((p[1] for p in self.calls() if len(p[1]) > 1), None)
        own = f"f = op({' | '.join(several)}); " if several else ""
        start = f"{self.start[0]}(x)" if self.start else "x"
        end = f"{self.around}(c[-1].y)" if self.around else "c[-1].y"
        keep = f"keep ({written(self.block)})" if self.keep else written(self.block)
        where = " where y.axis == prev.y.axis;" if self.same_axis else ""
        bounds = f"{self.minimum}..{'' if self.maximum is None else self.maximum}"
        kind = next((leaf[2] for call in self.calls() for leaf in call[2] if leaf[0] == "leaf"), "any")
        inputs = f"x, b: {kind}" if self.shared else "x"
        return (
            f"rule r({inputs}) {{ chain c in {bounds} from {start} {{ {own}y = {keep};{where} }} {end} => "
            f"nn.relu(x) }}"
        )

    def calls(self) -> Iterator[Pattern]:
        stack = [self.block]
        while stack:
            pattern = stack.pop()
            if pattern[0] == "call":
                yield pattern
                stack += pattern[2]
            elif pattern[0] == "either":
                stack += pattern[1:]


def random_chain(random: Random) -> ChainRule:
    unary = ("call", (random.choice(UNARY),), [("prev",)])
    side = ("leaf", "b", random.choice(("any", "param")))
    blocks = [
        unary, ("call", UNARY, [("prev",)]), ("call", ("add",), [("prev",), side]),
        ("call", ("subtract",), [("prev",), side]), ("call", ("add",), [("prev",), unary]),
        ("call", ("subtract",), [unary, ("prev",)]), ("call", ("exp",), [unary]),
        ("call", ("add",), [unary, side]),
        ("either", ("call", ("exp",), [("prev",)]), ("call", ("abs",), [("prev",)])),
        (
            "either", ("call", ("add",), [("prev",), ("call", ("exp",), [("prev",)])]),
            ("call", ("tanh",), [("prev",)]),
        ),
        ("call", AXIS, [("prev",)]),
    ]
    block = random.choice(blocks)
    minimum = random.choice((1, 1, 2, 2, 3))
    return ChainRule(
        block, "leaf" in str(block) and random.random() < 0.4,
        random.choice(((), (), UNARY[:1], ("add",))) if "add" not in str(block) else (),
        random.choice((None, None, "tanh", "nn.relu")), random.random() < 0.25,
        block[1] == AXIS and random.random() < 0.6, minimum,
        random.choice((None, None, None, minimum, minimum + 1)),
    )


def random_data(random: Random, rule: ChainRule) -> tuple[Data, list[int]]:
    graph: Data = [("input", (), {}), ("input", (), {}), ("param", (), {}), ("param", (), {})]
    operators = [name for call in rule.calls() for name in call[1]] * 2 + [
        random.choice(("exp", "tanh", "add", "nn.relu")), *([rule.around] if rule.around else []),
        *rule.start,
    ]
    for _ in range(random.randrange(4, 13)):
        operator = random.choice(operators)
        recent = len(graph) - 1 if random.random() < 0.75 else random.randrange(len(graph))
        operands = [recent]
        if operator in ("add", "subtract"):
            operands.append(random.choice((2, 2, 1, random.randrange(len(graph)))))
            before = graph[recent][1]
            if before and random.random() < 0.5:
                operands[1] = random.choice(before)
            random.shuffle(operands)
        graph.append(
            (operator, tuple(operands), {"axis": random.choice((0, 0, -1))} if operator in AXIS else {})
        )
    used = {o for _, operands, _ in graph for o in operands}
    ends = [g for g, node in enumerate(graph) if node[1] and (g not in used or random.random() < 0.06)]
    return graph, ends


# ── the reference ───────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Instance:
    """`nodes`: all that is matched, leaves included, as of the whole match in condition 4."""

    root: int
    previous: int
    calls: tuple[int, ...]
    nodes: frozenset[int]


class Reference:
    def __init__(self, rule: ChainRule, graph: Data, ends: list[int]) -> None:
        self.rule, self.graph, self.ends = rule, graph, ends
        self.users = [
            {g for g, (_, operands, _) in enumerate(graph) if slot in operands} for slot in range(len(graph))
        ]

    def lay(
        self, pattern: Pattern, slot: int, known: dict[str, int]
    ) -> Iterator[tuple[dict[str, int], tuple[int, ...]]]:
        """All ways to match a pattern at a node: what names stand for, and the calls, the outermost last."""
        operator, operands, _ = self.graph[slot]
        match pattern:
            case ("prev",):
                if known.setdefault("prev", slot) == slot:
                    yield known, ()
            case ("leaf", name, kind):
                if kind in ("any", operator) and known.setdefault(name, slot) == slot:
                    yield known, ()
            case ("either", *branches):
                for branch in branches:
                    yield from self.lay(branch, slot, dict(known))
            case ("call", operators, inner) if operator in operators and len(operands) == len(inner):
                for order in {operands, operands[::-1]} if operator == "add" else (operands,):
                    ways: list[tuple[dict[str, int], tuple[int, ...]]] = [(dict(known), ())]
                    for below, other in zip(inner, order):
                        ways = [
                            (k, calls + more)
                            for found, calls in ways
                            for k, more in self.lay(below, other, dict(found))
                        ]
                    yield from ((found, (*calls, slot)) for found, calls in ways)

    def instances(
        self, slot: int, shared: dict[str, int], taken: frozenset[int]
    ) -> Iterator[tuple[Instance, dict[str, int]]]:
        """What is an instance with this root, by itself."""
        for found, calls in self.lay(self.rule.block, slot, dict(shared)):
            if len(set(calls)) == len(calls) and taken.isdisjoint(calls):
                if all(
                    self.users[inner] <= {*calls, *found.values()} and inner not in self.ends
                    for inner in calls[:-1]
                ):
                    yield (
                        Instance(slot, found["prev"], calls, frozenset((*calls, *found.values()))),
                        {k: v for k, v in found.items() if self.rule.shared and k == "b"},
                    )

    def follow(self, first: Instance, second: Instance) -> bool:
        """Whether the second may follow the first, whose root it uses."""
        one, other = self.graph[first.root][2], self.graph[second.root][2]
        alone = (
            self.rule.keep or first.root not in self.ends
            and self.users[first.root] <= first.nodes | second.nodes
        )
        return alone and (not self.rule.same_axis or one.get("axis", -1) == other.get("axis", -1))

    def goes_on(self, last: Instance, shared: dict[str, int], taken: frozenset[int]) -> bool:
        return any(
            new.previous == last.root and self.follow(last, new)
            for slot in range(len(self.graph)) for new, _ in self.instances(slot, shared, taken)
        )  # fmt: skip

    def runs(
        self, slot: int, later: tuple[Instance, ...], shared: dict[str, int], taken: frozenset[int]
    ) -> Iterator[tuple[Instance, ...]]:
        """All whole runs before `later`, with what they start from matched."""
        rule, count = self.rule, len(later)
        more = rule.maximum is None or count < rule.maximum
        found = (
            [
                (new, known)
                for new, known in self.instances(slot, shared, taken)
                if not later or self.follow(new, later[0])
            ]
            if more
            else []
        )
        for new, known in found:
            around = taken.union(new.calls)
            if later or rule.maximum is not None or not self.goes_on(new, known, around):
                yield from self.runs(new.previous, (new, *later), known, around)
        whole = count >= rule.minimum and not (
            rule.maximum is not None and more and self.goes_on(later[-1], shared, taken)
        )
        if not found and whole and self.starts(slot, later, taken):
            yield later

    def starts(self, slot: int, run: tuple[Instance, ...], taken: frozenset[int]) -> bool:
        if not self.rule.start:
            return True
        start: Pattern = (
            "call", self.rule.start, [("leaf", "x", "any")] * (2 if self.rule.start == ("add",) else 1),
        )
        matched = {node for instance in run for node in instance.nodes} | taken
        return (
            any(True for _ in self.lay(start, slot, {})) and slot not in taken and slot not in self.ends
            and self.users[slot] <= matched
        )

    def matches(self, start: int) -> Iterator[tuple[int, ...]]:
        """The roots of each whole run that makes a match with the first output at `start`."""
        rule, (operator, operands, _) = self.rule, self.graph[start]
        if rule.around is None:
            found = self.runs(start, (), {}, frozenset())
        elif operator == rule.around:
            found = (
                run
                for run in self.runs(operands[0], (), {}, frozenset((start,)))
                if rule.keep or operands[0] not in self.ends and self._alone(run, start)
            )
        else:
            return
        yield from (tuple(instance.root for instance in run) for run in found)

    def _alone(self, run: tuple[Instance, ...], start: int) -> bool:
        return self.users[run[-1].root] <= {start, *(node for instance in run for node in instance.nodes)}


# ── comparison ──────────────────────────────────────────────────────────────────────────────────────────────


def checked(rule: ChainRule) -> CheckedRule:
    text = f"dialect relay;\n{rule.text()}\n".replace("add(x)", "add(x, x)")
    program = check_source(Source("chain.gsl", text))
    assert program.ok, (text, [(d.code, d.message) for d in program.diagnostics])
    return program.rules["r"]


def _bound(scope: Scope) -> tuple[tuple[int, ...], list[dict[int, int]]]:
    return tuple(scope.slots), [instance.slots for instance in scope.instances[0]]


def compare(seed: int) -> Iterator[bool]:
    random = Random(seed)
    rule = random_chain(random)
    program = program_of(checked(rule))
    for _ in range(6):
        data, ends = random_data(random, rule)
        graph, reference = as_graph(data, ends), Reference(rule, data, ends)
        generated = compile_matcher(program)(graph)
        for start, (_, operands, _) in enumerate(data):
            if not operands:
                continue
            expected = set(reference.matches(start))
            where = (
                f"seed {seed}, first output %{start}\n{rule.text()}\n{show(data, ends)}\nexpected: {expected}"
            )
            found = {
                tuple(i.slots[program.rule.blocks[0].root] for i in scope.instances[0])
                for scope in machine.matches(program, graph, start)
            }
            assert found == expected, f"the machine finds {found}: {where}"
            first = next((_bound(scope) for scope in machine.matches(program, graph, start)), None)
            assert generated(start, _bound) == first, (
                f"the generated matcher finds another first match: {where}"
            )
            yield bool(expected)
        run_to_fixed_point(graph, [program.rule])
        left = [
            node for node in graph.nodes() if next(machine.matches(program, graph, node), None) is not None
        ]
        assert not left, f"seed {seed}: still a match at {left}\n{rule.text()}\n{show(data, ends)}"


@pytest.mark.parametrize("chunk", range(4))
def test_runs_are_those_of_the_reference(chunk: int) -> None:
    found = Counter(outcome for seed in range(chunk * 60, chunk * 60 + 60) for outcome in compare(seed))
    assert found[True] > 100 and found[False] > 400


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(4, 60))
def test_runs_are_those_of_the_reference_long(chunk: int) -> None:
    for seed in range(chunk * 60, chunk * 60 + 60):
        for _ in compare(seed):
            pass


@pytest.mark.parametrize(
    ("indices", "also_output", "expected"),
    [
        ((0, 0, 0), None, {6: (2, 4, 6)}),
        ((0, 1, 0, 0), None, {8: (6, 8)}),  # the other result is not passed on
        ((0, 0, 0, 0), 4, {4: (2, 4), 8: (6, 8)}),  # an output of the graph ends a run
        ((0, 1), None, {}),
    ],
)
def test_a_chain_passes_on_one_result_of_a_call(
    indices: tuple[int, ...], also_output: int | None, expected: dict[int, tuple[int, ...]]
) -> None:
    data: Data = [("input", (), {})]
    for k, index in enumerate(indices):
        data += [("split", (2 * k,), {"indices_or_sections": 2}), ("proj", (2 * k + 1,), {"index": index})]
    rule = check_source(Source("r.gsl", (
        "rule r(x) { chain c in 2.. from x { y = split(prev.y, indices_or_sections = 2)[0]; } "
        "c[-1].y => nn.relu(x) }"
    ))).rules["r"]  # fmt: skip
    assert rule is not None
    program = program_of(rule)
    assert is_compiled(program)
    graph = as_graph(data, [len(data) - 1] if also_output is None else [also_output, len(data) - 1])
    generated, root = compile_matcher(program)(graph), rule.blocks[0].root
    found = {}
    for node in range(len(data)):
        first = next((_bound(scope) for scope in machine.matches(program, graph, node)), None)
        assert generated(node, _bound) == first
        if first is not None:
            found[node] = tuple(slots[root] for slots in first[1])
    assert found == expected


def test_most_random_chains_are_generated_code() -> None:
    compiled = [is_compiled(program_of(checked(random_chain(Random(seed))))) for seed in range(120)]
    assert sum(compiled) > 60


def test_long_runs_take_linear_time() -> None:
    """Each node of a run is not walked again from each of its nodes."""
    length = 5_000
    data: Data = [("input", (), {}), *[("exp", (k,), {}) for k in range(length)]]
    rule = ChainRule(("call", ("exp",), [("prev",)]), False, (), None, False, False, 2, None)
    graph = as_graph(data, [length])
    run_to_fixed_point(graph, [checked(rule)])
    assert len(list(graph.nodes())) == 2


ROW = 'rule r(x) { chain c in 1.. from x { y = %s; } c[-1].y where %s => exp(x) }'


def row_of(operator: str, count: int) -> Any:
    build = Builder(load_dialect("relay"))
    node = build.input("x", (2,))
    for _ in range(count):
        node = build.call(operator, node)
    return build.finish(node)


@pytest.mark.parametrize(
    "block",
    ["exp(prev.y) | abs(prev.y)", "exp(exp?(prev.y))", "(a := exp(prev.y)) | (b := abs(prev.y))"],
)
@pytest.mark.parametrize("condition", ["len(c) == 9", "x.ndim == 3"])
def test_why_a_chain_with_alternatives_does_not_match(block: str, condition: str) -> None:
    (rule,) = gslang.parse_rules(ROW % (block, condition))
    (miss, *_) = rule.why_not(row_of("exp", 3))
    assert miss.reason != "matches"


def test_ways_to_divide_a_row_are_limited() -> None:
    """A run of 40 calls can be divided into ones and twos in more than a hundred million ways."""
    rules = gslang.parse_rules(ROW % ("exp(exp?(prev.y))", "x.ndim == 3"))
    assert not rules.apply(row_of("exp", 12)).applications
    with pytest.raises(LimitExceeded, match="alternatives were tried"):
        rules.apply(row_of("exp", 40))


def test_equal_operands_have_one_order() -> None:
    rules = gslang.parse_rules(
        "rule r(x) { chain c in 1.. from x { k = any(); y = prev.y + k; } c[-1].y where x.ndim == 3 => x }"
    )
    build = Builder(load_dialect("relay"))
    node = build.input("x", (2,))
    for _ in range(40):
        node = build.call("add", node, node)
    assert not rules.apply(build.finish(node)).applications
