"""Evaluation of instances in little memory: drawn numbers may ask for any amount, and rules are verified
beside each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gslang.dialect.dialect import Dialect
from gslang.evaluate import run
from gslang.graph.graph import Graph

MOST_BYTES: Final = 1 << 28  # of the values that are there at one time


def evaluate(graph: Graph, dialect: Dialect, inputs: Mapping[str, object]) -> list[Any]:
    """The values of the graph's outputs. Raises `EvaluationError`, `TooMuchMemoryError` among them."""
    return run.evaluate(graph, dialect, inputs, MOST_BYTES)
