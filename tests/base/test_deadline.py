"""Limits of processor time, and of memory that values take."""

from __future__ import annotations

from pathlib import Path

import pytest

from gslang.api import parse_rules
from gslang.base.deadline import Allowance, Deadline, deadline
from gslang.cli.main import main
from gslang.verify.verdict import Settings, verify_now


def test_a_deadline_passes_and_is_never_later_than_one_around_it() -> None:
    assert deadline(-1).passed and deadline(-1).left == 0
    long = deadline(1000)
    assert not long.passed and long.within(2000) == long and long.within(10).end < long.end
    assert Deadline(0.0).within(1000).end == 0.0


def test_what_is_used_up_leaves_a_quarter_to_the_others_unless_the_user_said_how_long() -> None:
    free, fixed = Allowance(8.0, False), Allowance(8.0, True)
    for allowance in (free, free, fixed):
        allowance.used_up()
    assert (free.seconds, fixed.seconds) == (0.5, 8.0)


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
