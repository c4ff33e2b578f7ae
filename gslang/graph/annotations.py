"""Annotations that rules attach to new calls (`@attach(backend = "npu")`): names and values without a meaning
for the engine.

Formats keep them: JSON under `annotations`, ONNX in `metadata_props`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Union

from gslang.graph.graph import Graph

KEY: Final = "annotations"  # in `extras` of a node
Annotation = Union[str, int, float, bool, tuple[Any, ...]]
_NONE: Final[Mapping[str, Annotation]] = {}


def annotations_of(graph: Graph, node: int) -> Mapping[str, Annotation]:
    """The annotations of a node, by name."""
    extra = graph.extras.get(node)
    return _NONE if extra is None else extra.get(KEY, _NONE)


def attach(graph: Graph, node: int, what: Mapping[str, Annotation | None]) -> None:
    """Attach annotations to a call; None is none."""
    stated = {name: value for name, value in what.items() if value is not None}
    if stated:
        graph.extras[node] = {**graph.extras.get(node, {}), KEY: stated}


def attachable(value: object) -> bool:
    """True if a value may be attached: a text, a truth value, a finite number, or a tuple of these."""
    match value:
        case str() | bool() | int():
            return True
        case float():
            return abs(value) < float("inf")
        case tuple():
            return all(map(attachable, value))
    return False


def as_annotation(value: object) -> Any:
    """An annotation as it is kept: lists are tuples."""
    return tuple(map(as_annotation, value)) if isinstance(value, list) else value
