"""Rules that never end are stopped, and the message names them and the loop they go round in."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import gslang
from gslang.base.source import Source
from gslang.check.check import check_source
from gslang.dialect.load import load_dialect
from gslang.engine.fixed_point import (
    Limits,
    Progress,
    StopReason,
    firing_loop,
    limit_message,
    run_to_fixed_point,
)
from gslang.engine.lower import program_of
from gslang.engine.machine import matches
from gslang.engine.rewrite import Application
from gslang.formats.json_writer import write_json
from gslang.graph.builder import Builder
from gslang.graph.graph import Graph
from tests.cli.test_cli import gslc
from tests.engine.readable import readable_only
from tests.engine.test_fixed_point import random_run
from tests.graph.invariants import check_invariants

pytestmark = pytest.mark.usefixtures("code_at_once")

RELAY = load_dialect("relay")
ROUND = "rule a(x): exp(x) => tanh(x);\nrule b(x): tanh(x) => abs(x);\nrule c(x): abs(x) => exp(x);\n"
BACK = "rule there(x): exp(x) => tanh(x);\nrule back(x): tanh(x) => exp(x);\nrule idle(x): abs(x) => x;\n"
GROWS = "rule grows(x): exp(x) => exp(negative(x));\n"
SWAPS = "rule swaps(x, y): ordered (x - y) => negative(ordered (y - x));\n"


def run(
    text: str, applications: int | None = None, operator: str = "exp", count: int = 1
) -> tuple[Progress, Graph]:
    program = check_source(Source("rules.gsl", text))
    assert program.ok, [d.message for d in program.diagnostics]
    build = Builder(RELAY)
    node = build.input("x", (2, 2))
    for _ in range(count):
        node = build.call(operator, node, node) if operator == "subtract" else build.call(operator, node)
    graph = build.finish(node)
    progress = run_to_fixed_point(
        graph, [program.rules[name] for name in program.own_rules], Limits(applications=applications)
    )
    assert check_invariants(graph) == []
    return progress, graph


@pytest.mark.parametrize("text, names, loop", [
    (BACK, ["there", "back"], {"there → back → there", "back → there → back"}),
    (ROUND, ["a", "b", "c"], {"a → b → c → a", "b → c → a → b", "c → a → b → c"}),
    (GROWS, ["grows"], {"grows → grows"}),
])  # fmt: skip
def test_the_message_names_the_rules_and_the_loop(text: str, names: list[str], loop: set[str]) -> None:
    progress, _ = run(text)
    assert progress.stop_reason is StopReason.APPLICATION_LIMIT
    message = limit_message(progress)
    assert f"stopped after {progress.applications} applications" in message
    assert all(f"`{name}` (" in message for name in names) and "idle" not in message
    assert message.split("the loop: ")[1] in loop


def test_the_limit_follows_the_size_of_the_graph() -> None:
    """10 × nodes + 1000 (semantics.md §4): the input is a node too."""
    assert run(BACK)[0].applications == 1020
    assert run(BACK, count=100)[0].applications == 2010


@pytest.mark.parametrize("applications", [1, 2, 7])
def test_a_limit_of_ones_own(applications: int) -> None:
    progress, graph = run(BACK, applications)
    assert progress.stop_reason is StopReason.APPLICATION_LIMIT and progress.applications == applications
    assert graph.op[graph.outputs[0]] == ("tanh" if applications % 2 else "exp")


def test_what_ends_is_not_stopped() -> None:
    progress, graph = run("rule down(x): exp(exp(x)) => exp(x);", count=500)
    assert progress.stop_reason is StopReason.FIXED_POINT and progress.applications == 499 and len(graph) == 2


def test_operands_that_are_swapped_for_ever() -> None:
    progress, _ = run(SWAPS, 50, "subtract")
    assert progress.stop_reason is StopReason.APPLICATION_LIMIT
    assert (
        limit_message(progress)
        == (
            "stopped at the given limit of 50 applications; there may be more to do; the latest: "
            "swaps → swaps"
        )
    )
    progress, _ = run(SWAPS, None, "subtract")
    assert "`swaps` (256 of the last 256)" in limit_message(progress)


def test_once_ends_what_grows() -> None:
    progress, _ = run("@once\n" + GROWS)
    assert progress.stop_reason is StopReason.FIXED_POINT and progress.applications == 1


@pytest.mark.parametrize("readable", [False, True])
def test_once_holds_for_a_family(readable: bool) -> None:
    """No rule of it starts at what another one has made; rules of another family may."""
    rows = "rule {}(x) for f in negative, abs: exp(x) => exp(f(x));\n"
    with readable_only() if readable else nullcontext():
        progress, graph = run("@once\n" + rows.format("grows"))
        assert progress.stop_reason is StopReason.FIXED_POINT and progress.applications == 1
        assert [graph.op[node] for node in graph.in_order()][1:] == ["negative", "exp"]
        progress, _ = run(f"@once\n{rows.format('grows')}@once\n{rows.format('other')}", 50)
        assert progress.stop_reason is StopReason.APPLICATION_LIMIT


def test_once_holds_for_a_family_at_work_beside_tags() -> None:
    """The kinds of a table may overlap, as `any` has constants in it."""
    rules = gslang.parse_rules(
        'dialect onnx; @attach(backend = "npu") @once rule conv(x, w: K) '
        'for K in const, any(dtype = "float32") '
        "{ c = Conv(x, w); c => Conv(x, w, c.*) }"
    )
    build = Builder(rules.programs[0].dialect)
    weight = build.const(np.ones((2, 2, 1, 1), np.float32))
    graph = build.finish(build.call("Conv", build.input("x", (1, 2, 3, 3)), weight))
    result = rules.apply(graph)
    assert result.progress.stop_reason is StopReason.FIXED_POINT and result.progress.applications == 1


@pytest.mark.parametrize("chunk", range(3))
def test_once_on_random_families(chunk: int) -> None:
    """By its definition: which nodes each application made. Both engines agree."""
    kept_apart = 0
    for seed in range(chunk * 100, chunk * 100 + 100):
        graph, rules, text = random_run(seed)
        rules = [replace(rule, once=True, family=f"f{k // 2}") for k, rule in enumerate(rules)]
        family = {rule.name: rule.family for rule in rules}
        done: list[Application] = []
        told, other = graph.copy(), graph.copy()
        limits = Limits(applications=200)
        run_to_fixed_point(
            told, rules, limits, observe=lambda _, what: done.append(what)  # type: ignore[arg-type]
        )
        progress = run_to_fixed_point(graph, rules, limits)
        with readable_only():
            run_to_fixed_point(other, rules, limits)
        assert write_json(graph) == write_json(told) == write_json(other), (seed, text)
        made: dict[int, str | None] = {}
        for application in done:
            assert made.get(application.outputs[0], "") != family[application.rule], (seed, text)
            made.update(dict.fromkeys(application.added, family[application.rule]))
        if progress.stop_reason is StopReason.FIXED_POINT:
            for rule in rules:
                for node in told.in_order():
                    if next(matches(program_of(rule), told, node), None) is not None:
                        assert made.get(node, "") == rule.family, (seed, rule.name, node, text)
                        kept_apart += 1
    assert kept_apart > 0


@pytest.mark.parametrize(
    "recent, loop",
    [
        (["a"] * 9, ["a", "a"]), (["a", "b"] * 9, ["a", "b", "a"]),
        (["x", *["a", "b", "b"] * 60], ["a", "b", "b", "a"]), (list("abcdefghij"), list("cdefghij")),
        ([], []),
    ],
)
def test_the_loop(recent: list[str], loop: list[str]) -> None:
    assert firing_loop(recent) == loop


@pytest.mark.parametrize(
    "text, loop",
    [
        (BACK, {"there → back → there", "back → there → back"}),
        (ROUND, {"a → b → c → a", "b → c → a → b", "c → a → b → c"}), (GROWS, {"grows → grows"}),
        (
            "rule two(x): exp(x) => tanh(tanh(x));\nrule one(x): tanh(x) => exp(x);",
            {"two → one → two", "one → two → one"},
        ),
        (
            "rule other(x): abs(abs(x)) => abs(x);\npass p { repeat { other; there; back; } }\n" + BACK,
            {"there → back → there", "back → there → back"},
        ),
    ],
)
@pytest.mark.parametrize("count", [1, 2, 3, 50])
def test_the_loop_of_one_place_among_many(text: str, loop: set[str], count: int) -> None:
    """Where a graph has many places they take turns; the loop is that of each."""
    build = Builder(RELAY)
    outputs = [
        build.call("exp", build.call("abs", build.call("abs", build.input(f"x{k}", (2, 2)))))
        for k in range(count)
    ]
    graph = build.finish(*outputs)
    result = gslang.parse_rules(text).apply(graph, pass_name="p" if "pass p" in text else None)
    assert result.problem is not None and result.problem.split("the loop: ")[1] in loop
    assert check_invariants(result.graph) == []


def test_the_loop_is_looked_for_in_a_copy() -> None:
    build = Builder(RELAY)
    graph = build.finish(*[build.call("exp", build.input(f"x{k}", (2, 2))) for k in range(3)])
    rules = gslang.parse_rules(BACK)
    assert rules.apply(graph).problem != rules.apply(graph, limit=rules.apply(graph).applications).problem
    assert write_json(rules.apply(graph).graph) == write_json(
        rules.apply(graph, limit=rules.apply(graph).applications).graph
    )


def test_the_command_says_so_and_fails(tmp_path: Path) -> None:
    build = Builder(RELAY)
    (tmp_path / "g.json").write_text(write_json(build.finish(build.call("exp", build.input("x", (2,))))))
    (tmp_path / "r.gsl").write_text(BACK)
    done = gslc("r.gsl", "g.json", cwd=tmp_path)
    assert done.returncode != 0 and "Traceback" not in done.stderr
    assert "do not terminate" in done.stderr and "`there`" in done.stderr and "→" in done.stderr
