"""Errors of evaluating a graph."""

from __future__ import annotations

from gslang.graph.graph import Graph


class EvaluationError(Exception):
    """A node cannot be computed. The message names the node, its operator and what is missing."""


class TooLargeError(EvaluationError):
    """An input has too many elements for random ones; it can be given."""


class TooMuchMemoryError(EvaluationError):
    """Values take more memory than the limit: larger inputs do, too, and so does another evaluator."""


class NoEvaluatorError(EvaluationError):
    """Nobody says what an operator computes: a graph with it cannot be computed at all, on any values."""

    def __init__(self, graph: Graph, node: int, why: str = "") -> None:
        super().__init__(
            f"`{graph.op[node]}` of {graph.label(node)} cannot be computed: no evaluator is known for it{why}"
        )
