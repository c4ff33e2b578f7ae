"""Conditions whose truth is looked up: true where they are in the readable engine, whatever they read."""

from __future__ import annotations

import random

import numpy
import pytest

from gslang.api import parse_rules
from gslang.dialect.load import load_dialect
from gslang.engine import first_tries, generate_known
from gslang.engine.generate import source_of
from gslang.engine.lower import program_of
from gslang.graph.builder import Builder
from gslang.graph.compare import differences
from gslang.graph.graph import Graph
from tests.engine.readable import readable_only

INVERSE = """dialect relay;
rule inverse(x) {
    t = transpose(x, axes = (p := _));
    u = transpose(t, axes = (q := _));
    u where [p[i] for i in q] == range(len(q))
  => x
}
"""
READ_IN_TARGET = """dialect relay;
rule same(x) {
    t = transpose(x);
    u = transpose(t);
    both = [t.axes[i] for i in u.axes];
    u where both != range(len(both)) and numel(x.shape) > 4
  => transpose(x, axes = both)
}
"""
LITERAL = "dialect relay;\nrule plus_nothing(x): x + 0 => x;\nrule times_one(x): x * splat(1) => x;\n"
TYPES = """dialect relay;
rule flat(x) {
    y = nn.relu(nn.relu(x));
    y where [d for d in x.shape if d > 1] == [] => nn.relu(x)
}
"""


def transposes() -> Graph:
    """Pairs of transposes of the same and of equal permutations, a third of them inverse."""
    draw = random.Random(1)
    b = Builder(load_dialect("relay"), "transposes")
    outputs = []
    for k in range(60):
        x = b.input(f"x{k}", draw.choice(((2, 3, 4), (1, 1, 2), (1, 1, 1))))
        first = draw.sample(range(3), 3)
        second = [first.index(i) for i in range(3)] if k % 3 == 0 else draw.sample(range(3), 3)
        t = b.call("transpose", x, axes=tuple(first))
        outputs.append(b.call("transpose", t, axes=tuple(second)))
    return b.finish(*outputs)


def sums() -> Graph:
    """Sums and products with constants: numbers and arrays, shared and not."""
    b = Builder(load_dialect("relay"), "sums")
    shared = [b.const(value) for value in (0.0, 1.0, 2.0)]
    x = b.input("x", (2, 2))
    for k in range(40):
        y = shared[k % 3] if k % 4 else b.const(float(k % 2))
        x = b.call(("add", "multiply")[k // 2 % 2], x, y)
        if k % 5 == 0:
            x = b.call("multiply", x, b.const(numpy.full((2, 2), float(k % 3), "float32")))
    return b.finish(x)


def relus() -> Graph:
    b = Builder(load_dialect("relay"), "relus")
    outputs = []
    for k in range(30):
        x = b.input(f"x{k}", ((1, 1), (1,), (2, 1), (1, 3))[k % 4])
        outputs.append(b.call("nn.relu", b.call("nn.relu", x)))
    return b.finish(*outputs)


CASES = {
    "captures": (INVERSE, transposes),
    "attributes, types and lets": (READ_IN_TARGET, transposes),
    "constants": (LITERAL, sums),
    "types": (TYPES, relus),
}


@pytest.mark.parametrize("most", [generate_known._MOST, 1])
@pytest.mark.parametrize("text, build", CASES.values(), ids=list(CASES))
def test_they_hold_where_they_hold(
    text: str, build: object, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_tries, "_MOST", 0)  # code from the first try on
    monkeypatch.setattr(generate_known, "_MOST", most)
    graph = build()  # type: ignore[operator]
    rules = parse_rules(text)
    assert all("known_0" in source_of(program_of(rule.rule), "rewrite")[0] for rule in rules)
    fast = rules.apply(graph)
    with readable_only():
        slow = parse_rules(text).apply(graph)
    assert 0 < fast.applications == slow.applications
    assert len(fast.graph) < len(graph)
    assert not differences(fast.graph, slow.graph)


def test_a_condition_that_reads_more_is_tested_each_time() -> None:
    rules = parse_rules("""dialect relay;
    rule once(x, y: const) {
        s = add(x, y);
        nn.relu(s) where [v for v in y.value] == [1, 2] and len(x.shape) == 1 => x
    }
    """)
    (rule,) = rules
    assert "known_" not in source_of(program_of(rule.rule), "rewrite")[0]
