"""The public interface: load rules, read a graph, apply, look at matches."""

from __future__ import annotations

from gslang.api.errors import RuleError, UnknownNameError
from gslang.api.loading import load, parse_rules
from gslang.api.models import Model, from_onnx, graph_of, read, to_onnx, write
from gslang.api.observers import Watch
from gslang.api.result import Result
from gslang.api.rule import Match, Rule
from gslang.api.rule_set import RuleSet
from gslang.graph.graph import Graph

__all__ = [
    "Match", "Model", "Result", "Rule", "RuleError", "RuleSet", "UnknownNameError", "Watch", "from_onnx",
    "graph_of", "load", "parse_rules", "read", "to_onnx", "write",
]


def _picture(graph: Graph) -> str:
    from gslang.formats.picture import svg

    return svg(graph)


Graph.picture = _picture
