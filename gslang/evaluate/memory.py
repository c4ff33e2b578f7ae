"""The memory that values may take while a graph is computed: a file of 300 bytes can ask for any amount.

A value counts as long as it is kept, unless it is a view of another one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gslang.base.diagnostics import InputError
from gslang.evaluate.errors import TooMuchMemoryError
from gslang.evaluate.growth import bytes_of, nbytes_of
from gslang.graph.graph import LEAVES, PROJ, TUPLE, Graph

_LEAST: Final = 1 << 29
_TIMES: Final = 16  # as much as inputs and weights take
_UNITS: Final = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


class Memory:
    """Bytes of values that are there at one time, next to those of inputs and weights, `given` in all.

    `inputs`: values, where types do not tell how large they are. `most`: bytes, if these are fewer than the
    user allows.
    """

    def __init__(
        self, graph: Graph, inputs: Mapping[str, object] = MappingProxyType({}), most: int | None = None
    ) -> None:
        leaves = [node for node in graph.nodes() if graph.op[node] in LEAVES]
        self.given = sum([_given_bytes(graph, node, inputs) for node in leaves])
        allowed = _most(self.given)
        self.most = allowed if most is None else min(allowed, most)
        self.held = 0

    @property
    def limit(self) -> str:
        """The words for a run that is beyond it."""
        return (
            f"values take more than {self.most / (1 << 30):.3g} GiB (the environment variable GSLANG_MEMORY "
            "sets the limit)"
        )

    def check_types(self, graph: Graph) -> None:
        """Raises `TooMuchMemoryError` if one value alone is too much by its type."""
        for type_ in {id(t): t for t in graph.types}.values():
            if (bytes_of(type_) or 0) > self.most:
                node = next((n for n in graph.reverse_post_order() if graph.types[n] is type_), None)
                if node is not None and graph.op[node] not in LEAVES:
                    raise self._too_much(graph, node)

    def keep(self, graph: Graph, node: int, value: object) -> None:
        """Raises `TooMuchMemoryError` if a value is too much beside the others."""
        self.held += _own_bytes(graph, node, value)
        if self.held > self.most:
            raise self._too_much(graph, node)

    def drop(self, graph: Graph, node: int, value: object) -> None:
        """A value is no longer kept."""
        self.held -= _own_bytes(graph, node, value)

    def _too_much(self, graph: Graph, node: int) -> TooMuchMemoryError:
        return TooMuchMemoryError(
            f"`{graph.op[node]}` of {graph.label(node)} cannot be computed: {self.limit}"
        )


def _given_bytes(graph: Graph, node: int, inputs: Mapping[str, object]) -> int:
    """Bytes of an input, a parameter or a constant."""
    by_type = bytes_of(graph.types[node])
    if by_type is not None:
        return by_type
    value = inputs.get(graph.names[node] or "")
    parts = value if isinstance(value, (tuple, list)) else [value]
    return sum([getattr(part, "nbytes", 0) for part in parts])


def _own_bytes(graph: Graph, node: int, value: object) -> int:
    """Bytes that are there for this value alone."""
    return 0 if graph.op[node] in (*LEAVES, TUPLE, PROJ) else _owned(value)


def _owned(value: object) -> int:
    if isinstance(value, (tuple, list)):
        return sum([_owned(part) for part in value])
    return 0 if value is None or getattr(value, "base", None) is not None else nbytes_of(value)


def _most(given: int) -> int:
    """The limit for a graph: what the user says, or a multiple of what its inputs and weights take. Raises
    `InputError`.
    """
    text = os.environ.get("GSLANG_MEMORY", "")
    if not text:
        return _LEAST + _TIMES * given
    found = re.fullmatch(r"([0-9]{1,12})([KMG]?)", text.upper())
    if found is None:
        raise InputError(f"GSLANG_MEMORY is `{text}`", help="a number of bytes, such as 8G or 500M")
    return int(found[1]) * _UNITS[found[2]]
