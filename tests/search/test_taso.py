"""The shipped rules of TASO on the benchmark graphs, under the costs that TASO's authors measured."""

from __future__ import annotations

from functools import cache

import pytest

import gslang.api as api
from benchmarks.search_graphs import FOLDER, NAMES, graph_of
from gslang.dialect.load import load_dialect
from gslang.search.cost.graph_cost import graph_cost
from gslang.search.cost.tables import table_of
from gslang.search.cost.work import UnknownCost
from gslang.testing import run_tests
from tests.graph.invariants import check_invariants

COSTS = str(FOLDER / "taso_gpu_costs.tsv")


@cache
def rules() -> api.RuleSet:
    return api.load("std.taso")


def test_the_rules() -> None:
    assert len(rules()) == 141 and not rules().diagnostics
    assert [o.problem for program in rules().programs for o in run_tests(program) if not o.passed] == []


@pytest.mark.parametrize(
    ("name", "most"),
    [("vgg", 4.851), ("resnet50", 4.386), pytest.param("bert", 0.7047, marks=pytest.mark.long)],
)
def test_no_dearer_than_tensat(name: str, most: float) -> None:
    found = rules().search(graph_of(name), cost=COSTS, require="any")
    check_invariants(found.graph)
    assert found.cost <= most
    assert graph_cost(found.graph, rules().dialect, table_of(COSTS)).cost == found.cost


def test_nothing_is_priced_that_the_table_lacks() -> None:
    with pytest.raises(
        UnknownCost, match=r"no cost for `.*` of \(.*\).*: taso_gpu_costs.tsv has no entry for it"
    ):
        rules().search(graph_of("nasrnn"), cost=COSTS, require="any", nodes=400)


@pytest.mark.parametrize(
    ("name", "billions"),
    [
        ("bert", 4.429), ("resnext50", 8.470), ("squeezenet", 0.704), ("resnet50", 7.949),
        ("inceptionv3", 11.45),
    ],
)
def test_the_graphs(name: str, billions: float) -> None:
    """Operations as the facts about the graphs count them."""
    assert name in NAMES
    cost = graph_cost(graph_of(name), load_dialect("relay"), table_of("flops"))
    assert cost.operations / 1e9 == pytest.approx(billions, rel=0.01)
