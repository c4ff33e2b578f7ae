"""Inference over a graph: operands and attributes that nobody foresaw are findings, never tracebacks."""

from __future__ import annotations

from typing import Any

import pytest

from gslang.dialect.load import load_dialect
from gslang.dialect.tensor_type import TensorType
from gslang.graph.graph import Graph
from gslang.graph.inference import infer_types

DIALECT = load_dialect("relay")


@pytest.mark.parametrize(
    ("op", "shape", "attrs"),
    [
        ("nn.global_avg_pool2d", (1, 2, 3, 3), {"layout": "NCXY"}),
        ("nn.pad", (2, 2), {"pad_width": ((1,), (1, 2, 3))}), ("nn.batch_flatten", (), {}),
        ("nn.space_to_depth", (1, 4, 4, 4), {"block_size": 0, "layout": "NCHW", "mode": "DCR"}),
    ],
)
def test_what_does_not_fit_is_told_at_its_node(
    op: str, shape: tuple[int, ...], attrs: dict[str, Any]
) -> None:
    graph = Graph()
    node = graph.add(op, [graph.add_input("x", TensorType(shape, "float32"))], attrs)
    graph.set_outputs([node])
    ((found, why),) = infer_types(graph, DIALECT)
    assert found == node
    assert why
    assert graph.types[node] is None
