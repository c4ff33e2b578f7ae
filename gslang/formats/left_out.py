"""Parts of a graph's file that another format has no place for: whoever converts is told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from gslang.graph.annotations import annotations_of
from gslang.graph.graph import LEAVES, Graph

_SHOWN: Final = 3  # names in a message
_TEXTS: Final = {"relay": "Relay text", "onnxtxt": "ONNX's text form"}


def left_out(graph: Graph, format: str) -> list[str]:
    """A message for each kind of thing that was read and is not written; none for pictures, which leave out
    what they please.
    """
    if format not in ("json", "relay", "onnx", "onnxtxt"):
        return []
    found = list(_attached(graph, _TEXTS[format])) if format in _TEXTS else []
    # what was read from a format has loaded it already
    if format != "relay" and "relay" in graph.meta:
        found += _of_relay(graph)
    if format not in ("onnx", "onnxtxt") and "onnx" in graph.meta:
        found += _of_onnx(graph)
    return found


def _attached(graph: Graph, format: str) -> Iterator[str]:
    """A message about values that rules have attached to nodes, which a format has no place for."""
    names = dict.fromkeys(name for node in graph.nodes() for name in annotations_of(graph, node))
    if names:
        yield f"{format} cannot represent what is attached to nodes: {_listed(names)}"


def _of_relay(graph: Graph) -> Iterator[str]:
    from gslang.formats.relay.module import META_KEY, RelayModule

    module = graph.meta[META_KEY]
    assert isinstance(module, RelayModule)
    others = len(module.before) + len(module.after)
    if others:
        many = "s" * (others != 1)
        yield f"only Relay text can represent the {others} other definition{many} of the module"
    if module.attributes:
        yield f"only Relay text can represent attributes of the function: {_listed(module.attributes)}"


def _of_onnx(graph: Graph) -> Iterator[str]:
    from gslang.dialect.onnx.schemas import operator_name
    from gslang.formats.onnx.records import model_record, node_record

    record = model_record(graph)
    functions = [] if record is None else [operator_name(f.domain, f.name) for f in record.functions.messages]
    if functions:
        yield f"only ONNX models have local functions: {_listed(functions)}"
    # tensors of the model whose values NumPy has no numbers for
    without = [node for node in graph.nodes() if graph.op[node] in LEAVES and node not in graph.values]
    lost = [
        graph.label(node)
        for node in without if (known := node_record(graph, node)) is not None and known.value is not None
    ]
    if lost:
        yield f"only ONNX models can represent the values of {_listed(lost)} (texts, float8, sparse)"


def _listed(names: Iterable[str]) -> str:
    known = list(names)
    more = ["…"] if len(known) > _SHOWN else []
    return ", ".join([*(f"`{name}`" for name in known[:_SHOWN]), *more])
