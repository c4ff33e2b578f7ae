"""Annotations that rules attach to new nodes (`@attach(backend = "npu")`): names and values without a meaning
for the engine.

Formats keep them: JSON under `annotations`, ONNX in `metadata_props`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Union

from gslang.graph.graph import Graph

KEY: Final = "annotations"  # in `extras` of a node
Annotation = Union[str, int, float, bool]
_NONE: Final[Mapping[str, Annotation]] = {}


def annotations_of(graph: Graph, node: int) -> Mapping[str, Annotation]:
    """The annotations of a node, by name."""
    extra = graph.extras.get(node)
    return _NONE if extra is None else extra.get(KEY, _NONE)


def attach(graph: Graph, first: int, what: Mapping[str, Annotation]) -> None:
    """Attach the same to all calls from node `first` on."""
    for node in range(first, len(graph.op)):
        if graph.is_call(node):
            graph.extras.setdefault(node, {})[KEY] = dict(what)


def attachable(value: object) -> bool:
    """True if a value may be attached: a text, a truth value, or a finite number."""
    return isinstance(value, (str, bool, int)) or isinstance(value, float) and abs(value) < float("inf")
