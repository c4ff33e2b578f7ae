"""The benchmark's generators make what they say, the rules find every match, and the reports compute what
they print.

Times are measured by `make bench`, never here.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from benchmarks import hub
from benchmarks.families import FAMILIES, FAMILY_OF_JOB, family_of
from benchmarks.measure import Cell, Row
from benchmarks.models import onnx_model, relay_graph
from benchmarks.report import exponent, growth, tables
from benchmarks.thesis_rules import NETWORKS, OPERATORS, OUTPUTS, rule_text, rules_that_do_not_apply
from benchmarks.tools.by_hand import ByHand
from benchmarks.tools.gslang_tool import RULES, Gslang
from gslang import load, parse_rules
from gslang.dialect.dialect import Dialect
from gslang.evaluate.agree import compare_values
from gslang.evaluate.random_inputs import random_inputs
from gslang.evaluate.run import evaluate
from gslang.graph.compare import count_calls
from gslang.graph.graph import DEAD, Graph
from tests.graph.invariants import check_invariants

NODES = 240
ONNX_OF = {
    "nn.conv2d": "Conv",
    "nn.batch_norm": "BatchNormalization",
    "nn.matmul": "MatMul",
    "concatenate": "Concat",
    "transpose": "Transpose",
    "add": "Add",
    "multiply": "Mul",
    "nn.relu": "Relu",
    "tanh": "Tanh",
    "sigmoid": "Sigmoid",
}


def calls(graph: Graph) -> Counter[str]:
    return Counter(graph.op[n] for n in graph.nodes() if graph.is_call(n))


@pytest.mark.parametrize("family", FAMILIES)
def test_both_kinds_of_model_have_the_same_operators(family: str) -> None:
    graph, model = relay_graph(family, NODES), onnx_model(family, NODES)
    assert sum(count_calls(graph).values()) == FAMILIES[family].calls(NODES)
    ours = Counter({ONNX_OF[op]: n for op, n in calls(graph).items()})
    assert ours == Counter(node.op_type for node in model.graph.node)
    assert len(model.graph.initializer) == sum(graph.op[n] in ("%param", "%const") for n in graph.nodes())


@pytest.mark.parametrize("family", FAMILIES)
def test_both_kinds_of_model_have_the_same_edges(family: str) -> None:
    """Operands of calls by position of what makes them: calls in order, then inputs and weights by name."""
    graph, model = relay_graph(family, 24), onnx_model(family, 24)
    names = {node.output[0]: k for k, node in enumerate(model.graph.node)}
    theirs = [[names.get(name, name) for name in node.input] for node in model.graph.node]
    place: dict[int, object] = {}
    ours: list[list[object]] = []
    for node in graph.in_order():
        if graph.op[node] in ("%tuple", "%proj"):
            continue
        if graph.is_call(node):
            place[node] = len(ours)
            flat = [
                inner
                for n in graph.operands[node]
                for inner in (graph.operands[n] if graph.op[n] in ("%tuple", "%proj") else (n,))
            ]
            ours.append([place[n] for n in flat])
        else:
            place[node] = graph.names[node] or {0.0: "zero", 1.0: "one"}[float(graph.value(node))]
    assert ours == theirs


@pytest.mark.parametrize("job", FAMILY_OF_JOB)
def test_all_matches_are_found(job: str) -> None:
    family, tool = family_of(job), Gslang()
    tool.prepare()
    result = tool.rewrite(relay_graph(FAMILY_OF_JOB[job], NODES), tool.rules(job))
    assert tool.matches == family.expected_matches(NODES)
    left = tool.operators(result)
    assert sum(left[op] for op in family.target) == family.after * family.blocks(NODES)
    assert check_invariants(result) == []


def same_numbers(before: Graph, after: Graph, dialect: Dialect) -> bool:
    inputs = random_inputs(before)
    return compare_values(evaluate(before, dialect, inputs), evaluate(after, dialect, inputs)).equal


@pytest.mark.parametrize("job", [job for job in FAMILY_OF_JOB if job != "convbn"])
def test_rules_keep_the_numbers(job: str) -> None:
    """The job `convbn` is left out: its operators stand for the arithmetic and have no value."""
    rules = load(RULES / f"{job}.gsl")
    before = relay_graph(FAMILY_OF_JOB[job], 12)
    assert same_numbers(before, rules.apply(before).graph, rules.dialect)


@pytest.mark.parametrize("network", NETWORKS)
def test_rules_of_the_thesis_keep_the_numbers(network: str) -> None:
    before = NETWORKS[network][0](1)
    applied = 0
    for outputs in OUTPUTS:
        for operators in OPERATORS:
            rules = parse_rules(rule_text(network, outputs, operators))
            result = rules.apply(before)
            applied += result.applications
            assert same_numbers(before, result.graph, rules.dialect), (outputs, operators)
    assert applied > 0


def test_the_loop_by_hand_does_the_same_as_the_rule() -> None:
    graph, tool = relay_graph("tt", NODES), ByHand()
    after = tool.rewrite(graph, None)
    assert check_invariants(after) == []
    assert tool.matches == NODES // 3
    assert calls(after) == calls(load(RULES / "tt.gsl").apply(graph).graph) == {"tanh": NODES // 3}
    assert DEAD not in {graph.op[n] for n in graph.nodes()} and calls(graph)["transpose"] == 2 * NODES // 3


@pytest.mark.parametrize("alike", [True, False])
@pytest.mark.parametrize("rule", ["hub_pair", "hub_variadic"])
def test_hubs(rule: str, alike: bool) -> None:
    graph = hub.hub(40, alike)
    assert sum(graph.op[n] == "nn.dense" for n in graph.users[0]) == 40
    assert load(RULES / f"{rule}.gsl").apply(graph).applications == hub.expected_matches(rule, 40, alike)


@pytest.mark.parametrize("network", NETWORKS)
def test_rules_of_the_thesis_apply(network: str) -> None:
    build, sizes = NETWORKS[network]
    graph = build(sizes[0])
    for outputs in OUTPUTS:
        for operators in OPERATORS:
            result = parse_rules(rule_text(network, outputs, operators)).apply(graph)
            assert result.applications > 0 and not result.failures and result.problem is None
            assert check_invariants(result.graph) == []


def test_rules_that_do_not_apply() -> None:
    rules = parse_rules(rules_that_do_not_apply(30))
    assert len(rules) == 30
    assert rules.apply(relay_graph("tt", NODES)).applications == 0


def test_growth_exponents() -> None:
    assert exponent([(10, 3.0)]) is None
    assert exponent([(10, 3.0), (100, 30.0), (1000, 300.0)]) == pytest.approx(1)
    assert exponent([(10, 3.0), (100, 300.0)]) == pytest.approx(2)


def _row(tool: str, nodes: int, seconds: float, complete: bool = True) -> dict[str, object]:
    run = {
        "import_s": 0.0,
        "rules_s": 0.0,
        "load_s": 0.0,
        "save_s": 0.0,
        "rewrite_s": seconds,
        "rewrite_cpu_s": seconds,
        "process_mb": 50.0,
    }
    return Row(Cell(tool, "tt", nodes), [run], complete=complete).as_json()


def test_tables_show_ratios_failures_and_doubts() -> None:
    failed = Row(Cell("fx", "tt", 1000), failure="> 60 s").as_json()
    rows = [
        _row("gslang", 1000, 0.002), _row("gslang", 10_000, 0.02),
        _row("tinygrad", 1000, 0.01, complete=False), failed,
    ]
    text = tables(rows, {"python": "3"})
    assert "| tt | tinygrad | 10 (5.0×)† |  |" in text
    assert "| tt | gslang | 2 | 20 |" in text
    assert "| tt | fx | > 60 s |  |" in text
    assert growth(rows).splitlines()[2] == "| gslang | 1.00 |"


def test_a_median_is_taken_over_runs() -> None:
    row = Row(Cell("gslang", "tt", 10), [{"rewrite_s": s} for s in (5.0, 1.0, 2.0)])
    assert row.median("rewrite_s") == 2.0
    assert row.spread("rewrite_s") == (1.0, 5.0)
    assert row.median("load_s") is None


def test_every_rule_file_is_checked() -> None:
    files = sorted(Path(RULES).glob("*.gsl"))
    assert {f.stem for f in files} == {*FAMILY_OF_JOB, "hub_pair", "hub_variadic"}
    for file in files:
        assert load(file).diagnostics == ()
