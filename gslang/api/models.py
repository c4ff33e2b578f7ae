"""Graphs from and to files, models in memory and `Graph`s."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from gslang.dialect.dialect import Dialect
from gslang.formats.registry import read_graph as read
from gslang.formats.registry import write_graph
from gslang.graph.graph import Graph

if TYPE_CHECKING:
    from onnx import ModelProto

Model = Union[Graph, str, "PathLike[str]", "ModelProto"]
"""A graph, the name of a graph file, or an ONNX model in memory."""


def has_bodies(graph: Graph) -> bool:
    if "onnx" not in graph.meta:
        return False
    from gslang.formats.onnx.bodies import has_insides

    return has_insides(graph)


def graph_of(model: Model, dialect: Dialect | None = None) -> Graph:
    """A graph as it is, or that of a file or of a `ModelProto`.

    Raises `InputError`, and `TypeError` for anything else.
    """
    if isinstance(model, Graph):
        return model
    if isinstance(model, (str, PathLike)):
        return read(str(model), dialect=dialect)
    if hasattr(model, "opset_import") and hasattr(model, "graph"):
        from gslang.formats.onnx import read_onnx

        return read_onnx(model, dialect)
    raise TypeError(f"expected a Graph, a file name or an onnx.ModelProto, got {type(model).__name__}")


def write(graph: Graph, path: str | Path) -> None:
    """Write a graph file, its format by suffix. Raises `InputError`."""
    if not isinstance(graph, Graph):
        raise TypeError(f"expected a Graph, got {type(graph).__name__}: write(graph, path)")
    write_graph(graph, str(path))


def from_onnx(model: object, opset: int | None = None, dialect: Dialect | None = None) -> Graph:
    """The graph of a `ModelProto` or of a model file (docs/onnx.md), brought to operator set `opset`.
    `dialect`: that of rules which declare operators or add attributes to them, `rules.dialect`.

    Raises `InputError`.
    """
    from gslang.dialect.load import load_dialect
    from gslang.formats.onnx import read_onnx
    from gslang.formats.onnx.upgrade import upgraded

    graph = read_onnx(model, dialect)
    return graph if opset is None else upgraded(graph, opset, dialect or load_dialect("onnx"))


def to_onnx(graph: Graph, path: str | Path | None = None, external: str = "keep") -> Any:
    """The `ModelProto` of a graph; with a `path` it is written there instead, `external` data kept, copied or
    inlined.
    """
    from gslang.formats.onnx import onnx_model, write_onnx

    if path is None:
        return onnx_model(graph)
    write_onnx(graph, path, external)
    return None
