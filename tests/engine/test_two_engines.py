"""The generated engine does what the readable one does: the same applications, the same graph, byte for byte.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from examples.models import inception_v3, nasnet_cell, training_mlp, transformer
from gslang.check.checked import CheckedRule
from gslang.dialect.load import load_dialect
from gslang.engine.fixed_point import Limits, run_to_fixed_point
from gslang.engine.lower import program_of
from gslang.engine.rewrite import Application
from gslang.formats.json_reader import read_json
from gslang.formats.json_writer import write_json
from gslang.graph.graph import Graph
from gslang.testing import build_graph
from tests.engine.readable import is_compiled, readable_only
from tests.engine.test_fixed_point import random_run
from tests.graph.invariants import check_invariants
from tests.rule_files import check_file
from tests.shipped import rules_in, shipped_rules

pytestmark = pytest.mark.usefixtures("code_at_once")

CASES = Path(__file__).parent.parent / "cases"
GRAPHS = {
    c["name"]: json.dumps(c["graph"])
    for name in ("cases", "adversarial")
    for c in json.loads((CASES / f"{name}.json").read_text())
}


def shipped() -> list[CheckedRule]:
    return list(shipped_rules("std.relay").values())



def both_ways(graph: Graph, rules: list, limits: Limits = Limits()) -> tuple[str, list]:
    results = []
    for readable in (False, True):
        copy = graph.copy()
        if readable:
            with readable_only():
                progress = run_to_fixed_point(copy, rules, limits)
        else:
            progress = run_to_fixed_point(copy, rules, limits)
        assert check_invariants(copy) == []
        counts = [(name, c.candidates, c.matches, c.applications) for name, c in progress.counts.items()]
        results.append((write_json(copy), counts, [f.message for f in progress.failures], progress.sweeps))
    assert results[0] == results[1]
    return results[0][0], results[0][1]


@pytest.mark.parametrize("name", GRAPHS)
def test_on_cases(name: str) -> None:
    graph = read_json(GRAPHS[name], name, load_dialect("relay"))
    for rule in [*shipped(), *rules_in(CASES.parent / "stdlib" / "adversarial.gsl").values()]:
        both_ways(graph, [rule], Limits(applications=60))
    both_ways(graph, shipped())


@pytest.mark.parametrize("make", [
    lambda: inception_v3.build(75, width=0.1, values=False), lambda: nasnet_cell.build(values=False),
    lambda: transformer.build(values=False), lambda: training_mlp.build(),
], ids=["inception", "nasnet", "transformer", "training"])  # fmt: skip
def test_on_networks(make) -> None:  # type: ignore[no-untyped-def]
    _, counts = both_ways(make(), shipped())
    assert counts


@pytest.mark.parametrize("chunk", range(5))
def test_on_random_rules(chunk: int) -> None:
    for seed in range(chunk * 60, chunk * 60 + 60):
        graph, rules, _ = random_run(seed)
        both_ways(graph, rules, Limits(applications=200))


def as_told(graph: Graph, rules: list, limits: Limits) -> Graph:
    """The graph after a run that is watched: what each application tells is what has happened to the graph.
    """
    alive, copy = set(graph.nodes()), graph.copy()

    def observe(number: int, done: Application | str) -> None:
        assert isinstance(done, Application)
        now = set(copy.nodes())
        assert alive - now == set(done.removed) and now - alive == set(done.added), (number, done)
        assert len(set(done.removed)) == len(done.removed)
        assert done.added_operators == tuple(copy.op[node] for node in done.added)
        assert all(not copy.users[old] and old not in copy.outputs for old in done.replaced)
        assert set(done.replaced) <= set(done.outputs) <= alive
        assert all(node in alive for node in done.bindings.values() if isinstance(node, int))
        alive.clear()
        alive.update(now)

    run_to_fixed_point(copy, rules, limits, observe=observe)
    return copy


@pytest.mark.parametrize("chunk", range(3))
def test_a_run_that_is_watched_does_what_any_run_does(chunk: int) -> None:
    for seed in range(chunk * 60, chunk * 60 + 60):
        graph, rules, _ = random_run(seed)
        plain = graph.copy()
        run_to_fixed_point(plain, rules, Limits(applications=200))
        told = as_told(graph, rules, Limits(applications=200))
        with readable_only():
            as_told(graph, rules, Limits(applications=200))
        assert (told.op, told.operands, told.types, told.outputs) == (
            plain.op, plain.operands, plain.types, plain.outputs,
        ), seed


def test_a_network_that_is_watched() -> None:
    graph = inception_v3.build(75, width=0.1, values=False)
    plain = graph.copy()
    run_to_fixed_point(plain, shipped())
    told = as_told(graph, shipped(), Limits())
    assert (told.op, told.operands, told.outputs) == (plain.op, plain.operands, plain.outputs)


def test_which_rules_are_left_to_the_readable_engine() -> None:
    """A rule that drops out of the generated engine would only be slow, so nothing else would tell."""
    left = [rule.name for rule in shipped() if not is_compiled(program_of(rule))]
    assert left == ["dispatch_tuple"]  # two templates over one tuple


def test_a_capture_outside_a_template_that_is_reached_through_it(tmp_path: Path) -> None:
    """The split is first seen from an instance, but its axis is the whole match's."""
    (tmp_path / "r.gsl").write_text("""dialect relay;
rule same(x) {
    s = split(x, axis = (a := _));
    each part in 2.. { item = s[index]; }
    concatenate((*part.item,), axis = (b := _)) where a == b, len(part) == s.indices_or_sections
  =>
    x
}
test "same axis" for same {
    x: input float32[4, 6];
    s = split(x, indices_or_sections = 3, axis = 1);
    nn.relu(concatenate((s.0, s.1, s.2), axis = 1))
  =>
    nn.relu(x)
}
test "another axis" for same {
    x: input float32[4, 6];
    s = split(x, indices_or_sections = 2, axis = 1);
    nn.relu(concatenate((s.0, s.1), axis = 0))
  =>
    unchanged
}
""")
    program = check_file(tmp_path / "r.gsl")
    rule = program.rules["same"]
    assert is_compiled(program_of(rule))
    for test, applications in zip(program.tests, (1, 0)):
        assert both_ways(build_graph(program, test, test.source), [rule])[1][0][3] == applications


def test_an_operand_that_outputs_share_and_that_is_absent(tmp_path: Path) -> None:
    """It has no users, so the other outputs are looked for above what is there."""
    (tmp_path / "r.gsl").write_text("""dialect relay;
rule two(p: any?, x) { a = nn.pad(x, p, pad_width = ((0, 0), (0, 1)));
    b = nn.pad(x, p, pad_width = ((0, 0), (0, 2))); a, b => exp(x), tanh(x) }
rule each_pad(p: any?, x) { each f in 2.. { a = nn.pad(x, p); } *f.a => *[exp(x) for i in f] }
test "without" for two {
    x: input float32[2, 2];
    nn.relu(nn.pad(x, pad_width = [[0, 0], [0, 1]])), nn.relu(nn.pad(x, pad_width = [[0, 0], [0, 2]]))
  =>
    unchanged
}
""")
    program = check_file(tmp_path / "r.gsl")
    assert program.ok, [d.message for d in program.diagnostics]
    graph = build_graph(program, program.tests[0], program.tests[0].source)
    for rule in program.rules.values():
        assert is_compiled(program_of(rule))
        copy = graph.copy()
        for node in copy.nodes():  # shapes do not matter here
            copy.types[node] = None
        assert both_ways(copy, [rule])[1][0][3] == 1


@pytest.mark.parametrize("target", ["tanh(exp(y - x))", "tanh(exp(x)) - y", "tanh(exp(r))"])
@pytest.mark.parametrize("other", ["{r}", "{x}", "sqrt({x})"])
def test_what_new_nodes_read_stays(target: str, other: str, tmp_path: Path) -> None:
    """An input may be an interior node at once, also one that nothing but the output reads. The second
    application takes its nodes from a stamp."""
    first, second = other.format(r="r", x="x"), other.format(r="q", x="z")
    (tmp_path / "r.gsl").write_text(f"""dialect relay;
rule same(x, y) {{ r = nn.relu(x); r + y => {target} }}
test "at once" for same {{
    x: input float32[4]; z: input float32[4];
    r = nn.relu(x); q = nn.relu(z);
    abs(r + {first}), abs(q + {second})
  =>
    unchanged
}}
""")
    program = check_file(tmp_path / "r.gsl")
    assert program.ok, [d.message for d in program.diagnostics]
    graph = build_graph(program, program.tests[0], program.tests[0].source)
    assert both_ways(graph, list(program.rules.values()))[1][0][3] == 2


def test_instances_that_can_be_judged_only_as_a_whole(tmp_path: Path) -> None:
    """What a template's `where`, or a constraint with `first`, reads may be matched after the instance: by a
    second sequence, or above.
    """
    (tmp_path / "r.gsl").write_text("""dialect relay;
rule second(x, z) {
    each b in 1.. { y = nn.softmax(x); w = nn.log_softmax(z); where w.axis == y.axis; }
    concatenate((*b.y,)) + concatenate((*b.w,))
  =>
    x
}
rule first_of_second(x, z) {
    each b in 1.. { y = nn.softmax(x, axis = first.w.axis); w = nn.log_softmax(z); }
    concatenate((*b.y,)) + concatenate((*b.w,))
  =>
    x
}
rule above(x, z) {
    c = nn.softmax(x);
    each b in 1.. { w = nn.log_softmax(z); where c.axis == w.axis; }
    concatenate((*b.w,)) + concatenate((c,))
  =>
    x
}
test "equal" for second {
    x: input float32[4, 6];
    z: input float32[4, 6];
    nn.relu(concatenate((nn.softmax(x, axis = 1),)) + concatenate((nn.log_softmax(z, axis = 1),)))
  =>
    unchanged
}
test "different" for second {
    x: input float32[4, 6];
    z: input float32[4, 6];
    nn.relu(concatenate((nn.softmax(x, axis = 1),)) + concatenate((nn.log_softmax(z, axis = 0),)))
  =>
    unchanged
}
""")
    program = check_file(tmp_path / "r.gsl")
    assert program.ok, [d.message for d in program.diagnostics]
    for rule in program.rules.values():
        for test, applications in zip(program.tests, (1, 0)):
            graph = build_graph(program, test, test.source)
            assert both_ways(graph, [rule])[1][0][3] == applications, (rule.name, test.name)


def test_a_node_that_is_an_output_only_if_an_alternative_is_chosen(tmp_path: Path) -> None:
    """`a` stays in the graph, and may be the same node as another output unless it is an output itself."""
    (tmp_path / "r.gsl").write_text("""dialect relay;
rule r(x) { a = keep exp(x); b = exp(x); tanh?(a), b => sqrt(x), sigmoid(x) }
test "with tanh" for r { x: input float32[4]; e = exp(x); nn.relu(tanh(e)), nn.relu(e) => unchanged }
test "without" for r { x: input float32[4]; e = exp(x); nn.relu(e), abs(e) => unchanged }
test "two" for r { x: input float32[4]; nn.relu(exp(x)), abs(exp(x)) => unchanged }
""")
    program = check_file(tmp_path / "r.gsl")
    assert program.ok, [d.message for d in program.diagnostics]
    rule = program.rules["r"]
    assert is_compiled(program_of(rule))
    for test, applications in zip(program.tests, (1, 0, 1)):
        assert both_ways(build_graph(program, test, test.source), [rule])[1][0][3] == applications, test.name


def test_outputs_that_one_new_node_replaces(tmp_path: Path) -> None:
    (tmp_path / "r.gsl").write_text("""dialect relay;
rule two(x) { a = nn.relu(x); b = nn.relu(x); a, b => s = maximum(x, const(value = 0.0)); s, s }
rule any_number(x) { each f in 2.. { a = nn.relu(x); }
    *f.a => s = maximum(x, const(value = 0.0)); *[s for i in f] }
test "shared" for two {
    x: input float32[4];
    exp(nn.relu(x)), tanh(nn.relu(x)) + nn.relu(x), nn.relu(x)
  =>
    unchanged
}
""")
    program = check_file(tmp_path / "r.gsl")
    assert program.ok, [d.message for d in program.diagnostics]
    for rule, applications in zip(program.rules.values(), (2, 1)):
        assert (
            both_ways(build_graph(program, program.tests[0], program.tests[0].source), [rule])[1][0][3]
            == applications
        )
