"""Lints of rule sets: what they show is true, large sets are fast, and large patterns do not hang them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gslang.base.cache import cache_folder
from gslang.base.diagnostics import Diagnostic
from gslang.base.source import Source
from gslang.check.check import check_source
from gslang.formats.json_reader import read_json
from gslang.lint import duplicate as duplicate_module
from gslang.lint import unreachable as unreachable_module
from gslang.lint.codes import LINTS
from gslang.lint.linted_file import Finding, linted_file
from gslang.lint.rule_pairs import candidate_pairs
from gslang.lint.run_lints import lint_program
from gslang.lint.selectors import selected_codes
from gslang.lint.witness import graphs_of, matching_nodes
from gslang.syntax.parser import parse
from tests.counted import calls_of

BAD = Path(__file__).parent / "corpus" / "bad"


def lint(text: str, *codes: str) -> list[Diagnostic]:
    source = Source("set.gsl", text)
    program = check_source(source)
    assert [d.message for d in program.diagnostics] == []
    return lint_program(source, program, frozenset(codes))


PAIR = """
rule outer(x, w: var): nn.relu(nn.conv2d(x, w, groups = 1)) => nn.conv2d(x, w);
rule sum(a, b): nn.relu(a) + nn.relu(b) => nn.relu(a + b);
rule inner(y): nn.relu(y) => exp(y);
"""


def test_an_overlap_comes_with_a_graph_that_both_match() -> None:
    (found,) = lint(PAIR, "L0201")
    assert found.message == "`outer` and `inner` match at the same node"
    assert isinstance(found, Finding) and found.graph is not None
    shown = re.search(r"both match at `(\S+)` of x0: input float32\[", str(found.help))
    assert shown is not None
    graph = read_json(found.graph)
    program = check_source(Source("set.gsl", PAIR))
    nodes = [set(matching_nodes(program.rules[name], graph)) for name in ("outer", "inner")]
    assert [graph.label(node) for node in nodes[0] & nodes[1]] == [shown[1]]


def test_order_matters_only_if_results_differ() -> None:
    text = "rule one(x): nn.relu(exp(x)) => exp(x);\nrule two(x): nn.relu(exp(x)) => {};\n"
    assert [d.code for d in lint(text.format("tanh(x)"), "L0205")] == ["L0205"]
    assert lint(text.format("exp(x)"), "L0205") == []


def test_longer_loops_are_named_once() -> None:
    text = (
        "rule a(x): exp(x) => tanh(x);\nrule b(x): tanh(x) => sqrt(x);\nrule c(x): sqrt(x) => exp(x);\n"
        "rule d(x): nn.relu(x) => exp(x);\n"
    )
    (found,) = lint(text, "L0203")
    assert found.message == "these rules form an infinite loop: a → b → c → a"
    assert lint(text.replace("sqrt(x) => exp(x)", "sqrt(x) => negative(x)"), "L0203") == []
    assert lint("@once rule a(x): exp(x) => exp(negative(x));", "L0203") == []
    family = "rule a(x) for f in negative, abs: exp(x) => exp(f(x));"
    assert [d.code for d in lint(family, "L0203")] == ["L0203"] and lint(f"@once {family}", "L0203") == []


def test_conditions_keep_rules_apart() -> None:
    text = (
        "rule a(x) {{ s = nn.softmax(x); nn.relu(s) where s.axis == {} => x }}\n"
        "rule b(x) {{ s = nn.softmax(x); nn.relu(s) where s.axis == 1 => x }}\n"
    )
    assert [d.code for d in lint(text.format(1), "L0202", "L0206")] == ["L0206"]
    assert lint(text.format(2), "L0202", "L0206") == []


def test_wide_sums_do_not_hang() -> None:
    """Counted: twice as many terms have 256 times as many orders, which nobody tries one by one."""

    def look(terms: int) -> None:
        names = [f"x{k}" for k in range(terms)]
        tree = list(names)
        while len(tree) > 1:
            tree = [f"({a} + {b})" for a, b in zip(tree[::2], tree[1::2])]
        rules = [f"rule r{k}({', '.join(names)}): exp({tree[0]}) => x0;" for k in range(2)]
        other = rules[1].replace(f"x{terms - 2} + x{terms - 1}", f"x{terms - 2} * x{terms - 1}")
        assert [d.code for d in lint("\n".join(rules), "L0202", "L0206")] == ["L0206"]
        assert [d.code for d in lint(f"{rules[0]}\n{other}", "L0202", "L0206")] == []

    assert calls_of(lambda: look(16)) < 16 * calls_of(lambda: look(8))


def test_long_chains_are_walked_on_both_sides() -> None:
    there = "".join(f"    a{k + 1} = exp(a{k});\n" for k in range(1500))
    back = "".join(f"    b{k + 1} = exp(b{k});\n" for k in range(1, 1500))
    text = f"rule long(a0) {{\n{there}    tanh(a1500)\n  =>\n    b1 = exp(a0);\n{back}    tanh(b1500)\n}}\n"
    assert [d.code for d in lint(text, *(code for code in LINTS if code not in ("L0108", "L0109")))] == []


def test_long_chains_are_walked() -> None:
    chain = "".join(f"    a{k + 1} = exp(a{k});\n" for k in range(3000))
    assert (
        lint(
            f"rule long(a0) {{\n{chain}    a3000\n  =>\n    a0\n}}\nrule again(x): exp(exp(x)) => x;\n",
            "L0101", "L0110", "L0202", "L0206",
        )
        == []
    )


COVERED = """
rule g1(x, y): nn.relu(x + y) => x;
rule s1(x, y: var): nn.relu(nn.conv2d(x, y) + x) => x;
rule g2(x): exp(x * x) => x;
rule s2(x): exp(tanh(x) * tanh(x)) => x;
rule s3(x) {
    t = tanh(x);
    exp(t * t)
  =>
    x
}
rule g4(x, w: var): nn.dense(x, w) => x;
rule s4(x, w: param): nn.dense(x, w, out_dtype = "") => w;
rule s5(x, w): nn.dense(x, w) => w;
"""


def test_what_is_covered_really_is() -> None:
    """Where L0202 speaks, the earlier matcher matches wherever the later one does; `s2` and `s5` are not
    covered.
    """
    found = {d.primary.span.text: d.related[0].span.text for d in lint(COVERED, "L0202")}
    assert found == {"s1": "g1", "s3": "g2", "s4": "g4"}
    source = Source("set.gsl", COVERED)
    program = check_source(source)
    file = linted_file(source, parse(source).program, program)
    for later, earlier in found.items():
        (graph,) = graphs_of(file, program.rules[later])
        own = set(matching_nodes(program.rules[later], graph))
        assert own and own <= set(matching_nodes(program.rules[earlier], graph))


GROUPS = "".join(
    f'rule r{k}(x, w) {{ c = nn.conv2d(x, w, groups = {groups}, data_layout = "NHWC"); nn.relu(c) => c }}\n'
    for k, groups in enumerate((2, 3, 2, 4))
)


@pytest.mark.parametrize(
    "text", [*(p.read_text(encoding="utf-8") for p in sorted(BAD.glob("*.gsl"))), GROUPS]
)
def test_no_pair_is_passed_over(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tables by which pairs of rules are looked for leave out none that a comparison of all with all
    would find.
    """
    source = Source("pairs.gsl", text)
    program = check_source(source)
    found = [
        (d.message, d.help) for d in lint_program(source, program, frozenset(("L0202", "L0206")), cache=False)
    ]
    for module in (unreachable_module, duplicate_module):
        monkeypatch.setattr(
            module, "candidate_pairs",
            lambda file: [(a, b) for k, b in enumerate(file.rules) for a in file.rules[:k]],
        )
    assert found == [
        (d.message, d.help) for d in lint_program(source, program, frozenset(("L0202", "L0206")), cache=False)
    ]
    assert text is not GROUPS or [message for message, _ in found] == ["`r2` is a duplicate of `r0`"]


def test_rules_that_demand_other_values_are_no_pairs() -> None:
    """Counted: fifty rules on the same operators, each for another number of groups, are not held against
    each other.
    """
    text = "".join(
        (
            f'rule r{k}(x, w) {{ c = nn.conv2d(x, w, groups = {k + 2}, data_layout = "NHWC"); nn.relu(c) => '
            f'c }}\n'
        )
        for k in range(50)
    )
    source = Source("groups.gsl", text)
    assert list(candidate_pairs(linted_file(source, parse(source).program, check_source(source)))) == []


def test_many_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted: four times as many rules cost some four times as much; from the cache, a tenth of that."""
    cache_folder.cache_clear()
    monkeypatch.setenv("GSLANG_CACHE", str(tmp_path))
    selected = selected_codes((), ())
    names = ["exp", "tanh", "sqrt", "negative", "abs", "nn.relu", "sigmoid", "log", "floor", "ceil"]
    rules = [
        f"rule r{k}(x, y, w: var) {{\n    c = nn.conv2d(x, w, groups = {k + 1});\n"
        f"    {names[k % 10]}({names[k // 10 % 10]}(c) + {names[k // 100 % 10]}(y))\n  =>\n"
        f"    {names[k // 10 % 10]}(c)\n}}\n"
        for k in range(240)
    ]

    def effort(count: int) -> tuple[int, int]:
        source = Source(f"rules{count}.gsl", "\n".join(rules[:count]))
        program = check_source(source)
        assert program.ok and len(program.own_rules) == count
        found = []
        cold, warm = (
            calls_of(lambda: found.append(lint_program(source, program, selected))) for _ in range(2)
        )
        assert found[0] == found[1]
        return cold, warm

    effort(1)  # what is made once
    (few, _), (many, again) = effort(60), effort(240)
    assert many < 5 * few and again < many / 10
    cache_folder.cache_clear()


def test_rules_with_other_constants_or_conditions_are_no_pairs() -> None:
    """Counted: neither are rules that differ in a constant, or in a condition of any form."""
    text = "dialect relay;\n" + "".join(
        f"rule r{k}(a): nn.relu(a * {k}.5) => a;\n"
        f"rule s{k}(a): nn.relu(nn.relu(a)) where a.shape[0] == a.shape[1] * {k} + 7 => a;\n"
        for k in range(50)
    )
    source = Source("others.gsl", text)
    assert list(candidate_pairs(linted_file(source, parse(source).program, check_source(source)))) == []


def test_rules_that_build_other_things_are_not_laid_over_one_another(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted: of sixty rules with one source only those are compared that build the same."""
    text = "dialect relay;\n" + "".join(
        f"rule r{k}(a): nn.relu(a) => nn.leaky_relu(a, alpha = {k % 59}.5);\n" for k in range(60)
    )
    source = Source("targets.gsl", text)
    asked = []
    twins = duplicate_module.twins
    monkeypatch.setattr(
        duplicate_module, "twins", lambda a, b: asked.append((a.name, b.name)) or twins(a, b)
    )
    found = lint_program(source, check_source(source), frozenset(("L0206",)), cache=False)
    assert asked == [("r0", "r59")] and len(found) == 1
