"""When code is generated for a rule: not for a few matches, or at once where the machine may search long."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gslang.api import parse_rules, write
from gslang.dialect.load import load_dialect
from gslang.engine import first_tries, generate, machine
from gslang.engine.lower import program_of
from gslang.graph.builder import Builder
from gslang.graph.graph import Graph

PAIR = """dialect relay;
rule pair_of_a_hub(x, v: var, w: var(shape = v.shape)) {
    a = nn.dense(x, v);
    b = nn.dense(x, w);
    a, b => nn.dense(x, w), nn.dense(x, v)
}
"""
CHAIN = """dialect relay;
rule only_chains(x): nn.relu(nn.relu(x)) => nn.relu(x);
"""


def hub(users: int) -> Graph:
    """Dense layers of one tensor, no two of one shape."""
    b = Builder(load_dialect("relay"), "hub")
    x = b.input("x", (2, 4))
    return b.finish(*(b.call("nn.dense", x, b.param(f"w{k}", (k + 1, 4))) for k in range(users)))


def relus(count: int, depth: int) -> Graph:
    b = Builder(load_dialect("relay"), "relus")
    outputs = []
    for k in range(count):
        x = b.input(f"x{k}", (2, 4))
        for _ in range(depth):
            x = b.call("nn.relu", x)
        outputs.append(x)
    return b.finish(*outputs)


def calls_of(function: Callable[..., Any], called: list[object]) -> Callable[..., Any]:
    def noting(*arguments: Any) -> Any:
        called.append(arguments[0])
        return function(*arguments)

    return noting


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Match programs that the machine was asked to run."""
    called: list[object] = []
    monkeypatch.setattr(machine, "matches", calls_of(machine.matches, called))
    return called


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Match programs whose code was asked for."""
    called: list[object] = []
    monkeypatch.setattr(generate, "compile_rewriter", calls_of(generate.compile_rewriter, called))
    return called


def test_further_outputs_of_a_hub_are_never_looked_for_by_the_machine(tried: list[object]) -> None:
    rules = parse_rules(PAIR)
    assert rules.apply(hub(40)).applications == 0
    assert tried == []


def test_no_code_for_a_rule_that_matches_nowhere(tried: list[object], compiled: list[object]) -> None:
    rules = parse_rules(CHAIN)
    assert rules.apply(relus(8, 1)).applications == 0
    assert compiled == []
    assert tried == [program_of(rules.known["only_chains"])] * 8


def test_no_code_for_a_few_matches(compiled: list[object]) -> None:
    rules = parse_rules(CHAIN)
    assert rules.apply(relus(3, 2)).applications == 3
    assert compiled == []


def test_code_after_some_matches(compiled: list[object]) -> None:
    rules = parse_rules(CHAIN)
    assert rules.apply(relus(20, 2)).applications == 20
    assert compiled == [program_of(rules.known["only_chains"])]


def test_code_after_many_tries(compiled: list[object]) -> None:
    rules = parse_rules(CHAIN)
    assert rules.apply(relus(100, 1)).applications == 0
    assert compiled == [program_of(rules.known["only_chains"])]


@pytest.fixture
def not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command in which no code was generated so far."""
    monkeypatch.setattr(first_tries, "is_one_run", lambda: True)
    monkeypatch.setattr(first_tries, "_GENERATOR", "a module that nobody has loaded")
    monkeypatch.setattr(first_tries, "_tries", {})


def test_the_generator_is_not_loaded_for_a_few_rules_more(not_loaded: None, compiled: list[object]) -> None:
    rules = parse_rules(CHAIN)
    assert rules.apply(relus(20, 2)).applications == 20
    assert compiled == []


def test_the_generator_is_loaded_where_much_is_left_to_do(not_loaded: None, compiled: list[object]) -> None:
    rules = parse_rules(CHAIN)
    assert rules.apply(relus(100, 2)).applications == 100
    assert compiled == [program_of(rules.known["only_chains"])]


def test_a_small_model_is_rewritten_without_the_generator(tmp_path: Path) -> None:
    write(relus(3, 2), tmp_path / "small.json")
    (tmp_path / "chain.gsl").write_text(CHAIN, encoding="utf-8")
    program = (
        "import sys; from gslang.cli.main import main; "
        "sys.argv[1:] = ['chain.gsl', 'small.json', '-o', 'done.json']; main(); "
        "print([m for m in sys.modules if m.startswith('gslang.engine.generate')])"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert run.stdout.endswith("[]\n")
    assert (tmp_path / "done.json").exists()
