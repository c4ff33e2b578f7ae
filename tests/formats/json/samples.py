"""Graph documents for the tests of the JSON format."""

from __future__ import annotations

import json
from typing import Any

from gslang.dialect.load import load_dialect

DIALECT = load_dialect("relay")


def document(nodes: list[dict[str, Any]], outputs: list[Any] | None = None, **top: Any) -> dict[str, Any]:
    """A whole document; by default the last node is the output."""
    last = [nodes[-1].get("id")] if outputs is None else []
    return {
        "format": "gsl-graph",
        "version": 1,
        "nodes": nodes,
        "outputs": last if outputs is None else outputs, **top,
    }


def leaf(
    id: str = "x", kind: str = "input", shape: Any = (2, 2), dtype: Any = "float32", **more: Any
) -> dict[str, Any]:
    return {
        "id": id,
        "kind": kind,
        "shape": list(shape) if isinstance(shape, tuple) else shape,
        "dtype": dtype, **more,
    }


def call(id: str, op: str, *inputs: Any, **more: Any) -> dict[str, Any]:
    return {"id": id, "kind": "call", "op": op, "inputs": list(inputs), **more}


def text(value: Any) -> str:
    return json.dumps(value)
