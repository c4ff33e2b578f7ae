"""Values of attributes and operands that samplers draw: those that a mistake depends on occur, and none that
exclude each other.
"""

from __future__ import annotations

from collections.abc import Iterator

import gslang.api as api
from gslang.graph.graph import Graph
from gslang.verify.instances import Search, instances


def drawn(text: str, attempts: int = 60) -> list[Graph]:
    """The graphs of instances of a rule `r`."""
    rules = api.parse_rules(text)
    assert rules.diagnostics == ()
    return [found.before for found in instances(rules.own["r"], Search(), 0, 60.0, attempts)]


def calls(graphs: list[Graph], operator: str) -> Iterator[tuple[Graph, int]]:
    for graph in graphs:
        for node in graph.nodes():
            if graph.op[node] == operator:
                yield graph, node


def test_no_pads_are_given_beside_what_says_how_to_pad() -> None:
    for stated in ('auto_pad = "SAME_LOWER"', "pads = (1, 0, 0, 1)", ""):
        rule = f"rule r(x, w) {{ c = Conv(x, w, none, {stated}); Neg(c) => Conv(Neg(x), w, none, c.*) }}"
        graphs = drawn("dialect onnx;\n" + rule.replace("none, )", "none)"), 100)
        assert len(graphs) > 25, stated
        for graph, node in calls(graphs, "Conv"):
            attrs = graph.attrs[node]
            assert attrs.get("auto_pad", "NOTSET") == "NOTSET" or attrs.get("pads") is None
