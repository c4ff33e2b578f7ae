"""Limits of processor time, and of memory that values take."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from gslang.api import parse_rules
from gslang.base.deadline import Allowance, Deadline, deadline, in_time
from gslang.cli.main import main
from gslang.verify.verdict import Settings, Verdict, verify_now


def test_a_deadline_passes_and_is_never_later_than_one_around_it() -> None:
    assert deadline(-1).passed and deadline(-1).left == 0
    long = deadline(1000)
    assert not long.passed and long.within(2000) == long and long.within(10).end < long.end
    assert Deadline(0.0).within(1000).end == 0.0


def at(clock: list[float], seconds: float) -> Callable[[float], float]:
    """A task that takes so long, or as long as it may, and returns its time."""

    def task(most: float) -> float:
        clock[0] += min(seconds, most)
        return most

    return task


def test_tasks_without_an_answer_share_the_time_and_others_take_theirs(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    monkeypatch.setattr("gslang.base.deadline.thread_time", lambda: clock[0])
    free, fixed = Allowance(8.0, False), Allowance(8.0, True)
    for allowance, found in ((free, [6.0, 1.5, 0.375]), (fixed, [8.0] * 3)):
        assert [allowance.spend(at(clock, 9), lambda _: False) for _ in range(3)] == found
    while free.share:
        free.spend(at(clock, 9), lambda _: False)
    assert 7.9 < clock[0] - 24 < 8 and free.spend(at(clock, 9), lambda _: False) is None
    assert free.spend(at(clock, 9), lambda _: False, True) is None


def test_a_single_task_has_all_and_answers_give_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("gslang.base.deadline.thread_time", lambda: clock[0])
    assert Allowance(8.0, False, 1).share == 8.0
    allowance = Allowance(8.0, False, 3)
    assert allowance.spend(at(clock, 9), lambda _: False) == 6.0
    assert allowance.spend(at(clock, 1), lambda _: True) == 1.5
    assert allowance.share == 2.25
    assert allowance.spend(at(clock, 9), lambda _: True, True) == 8.0
    assert allowance.share == 8.0


def test_reading_many_tasks_takes_of_the_time() -> None:
    seconds = [Allowance(8.0, False, tasks).share for tasks in (100, 1100, 10**6)]
    assert seconds == [6.0, 4.875, 3.0] and Allowance(8.0, True, 10**6).share == 8.0


def test_what_does_not_ask_for_the_time_is_ended() -> None:
    def endless() -> None:
        while True:
            try:
                [k for k in range(1000)]
            except Exception:
                pass

    handler = signal.getsignal(signal.SIGPROF)
    assert in_time(0.0, endless) is None
    assert in_time(60.0, lambda: in_time(0.0, lambda: sum(range(1000)))) == 499500
    assert signal.getitimer(signal.ITIMER_PROF)[0] == 0 and signal.getsignal(signal.SIGPROF) is handler


def test_what_other_threads_take_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def busy() -> int:
        rung = signal.getsignal(signal.SIGPROF)
        assert callable(rung)
        rung(signal.SIGPROF, None)  # as the timer does, which counts them
        return 7

    monkeypatch.setattr("gslang.base.deadline.thread_time", lambda: 0.0)
    assert in_time(60.0, busy) == 7


@pytest.mark.parametrize("verb", ["verify", "generalize"])
def test_rules_for_which_no_time_is_left_are_named(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = tmp_path / "r.gsl"
    rules.write_text("dialect relay;\n" + "".join(
        f"rule r{k}(a): nn.relu(nn.relu(a)) where a.ndim > {k} => nn.relu(a);\n" for k in range(3)
    ))
    monkeypatch.setattr(Allowance, "share", 0.0)
    main([verb, str(rules), "--format", "json"])
    found = json.loads(capsys.readouterr().out)["rules"]
    assert [r["rule"] for r in found] == ["r0", "r1", "r2"]
    assert all("no time was left" in r["reason"] and "--seconds" in r["reason"] for r in found)


@pytest.mark.parametrize(
    ("found", "seconds"),
    [("tested", [5.25, 7.0, 6.5625, 7.0]), ("proved", [5.25, 7.0, 7.0, 7.0]), ("unknown", [5.25, 7.0])],
)
def test_a_rule_with_a_test_has_as_much_time_as_one_alone(
    found: str, seconds: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And takes none away from the others, if it holds; those without one share what may be lost. None is
    judged twice."""
    given: list[float] = []
    clock = [0.0]

    def judge(rules: object, name: str, settings: Settings, certificates: object) -> Verdict:
        given.append(settings.seconds)
        clock[0] += settings.seconds
        return Verdict(name, found, "so far", None, 3, 0.0, stopped=True)

    monkeypatch.setattr("gslang.base.deadline.thread_time", lambda: clock[0])
    monkeypatch.setattr("gslang.cli.verify._judge", judge)
    rules = tmp_path / "r.gsl"
    rules.write_text("dialect relay;\n" + "".join(
        f"rule r{k}(a): nn.relu(nn.relu(a)) where a.ndim > {k} => nn.relu(a);\n" for k in range(4)
    ) + "".join(
        f'test "t{k}" for r{k} {{ a: input float32[2, 2, 2]; nn.relu(nn.relu(a)) => nn.relu(a) }}\n'
        for k in (1, 3)
    ))
    main(["verify", str(rules)])
    assert given == seconds


def test_a_verdict_says_that_it_was_stopped() -> None:
    rule = parse_rules("dialect relay;\nrule r(a, b): a + b => b + a;\n")["r"].rule
    found = verify_now(rule, Settings(seconds=1e-6, proof_steps=0))
    assert found.stopped and "(--seconds)" in found.reason
    assert not verify_now(rule, Settings(wanted=2)).stopped


@pytest.mark.parametrize("text", ["nan", "inf", "-1", "1e9", "0", "x"])
def test_seconds_are_a_time(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules = tmp_path / "r.gsl"
    rules.write_text("dialect relay;\nrule r(a): nn.relu(nn.relu(a)) => nn.relu(a);\n")
    for verb in ("verify", "generalize"):
        assert main([verb, str(rules), "--seconds", text]) == 2
        assert "seconds from" in capsys.readouterr().err


def test_alternatives_that_share_operands_are_walked_once(tmp_path: Path) -> None:
    lines = "".join(
        f"  v{k} = (nn.relu({f'v{k - 1}' if k else 'a'}) | tanh({f'v{k - 1}' if k else 'a'}));\n"
        for k in range(60)
    )
    rules = tmp_path / "r.gsl"
    rules.write_text(f"dialect relay;\nrule r(a) {{\n{lines}  sigmoid(v59)\n  =>\n  a\n}}\n")
    assert main(["generalize", str(rules)]) == 1


def test_values_have_a_limit_of_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = tmp_path / "g.json"
    nodes = ['{"id": "q0", "kind": "input", "shape": [4], "dtype": "float32"}'] + [
        f'{{"id": "q{k}", "kind": "call", "op": "concatenate", "inputs": ["t{k}"], "attrs": {{"axis": 0}}}}'
        for k in range(1, 40)
    ]
    tuples = [f'{{"id": "t{k}", "kind": "tuple", "inputs": ["q{k - 1}", "q{k - 1}"]}}' for k in range(1, 40)]
    ordered = [nodes[0]] + [line for pair in zip(tuples, nodes[1:]) for line in pair]
    graph.write_text(
        '{"format": "gsl-graph", "version": 1, "dialect": "relay", "nodes": ['
        + ", ".join(ordered) + '], "outputs": ["q39"]}'
    )
    assert main(["run", str(graph)]) == 3
    assert "GSLANG_MEMORY" in capsys.readouterr().err
    monkeypatch.setenv("GSLANG_MEMORY", "much")
    assert main(["run", str(graph)]) == 3
    assert "8G" in capsys.readouterr().err
