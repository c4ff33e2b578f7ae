"""Nodes that the shape inference of the `onnx` package does not survive: it ends the process, or asks for all
memory there is.

Found by trying all operators with numbers of all sizes (`tests/hostile/operators.py`); the package's checker
lets them pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from gslang.base.open_types import Attrs
from gslang.dialect.onnx.function_size import bodies_of

if TYPE_CHECKING:
    from onnx import NodeProto

_MOST_PARTS: Final = 100_000
_NAMES: Final = {"GatherND": "batch_dims", "LayerNormalization": "axis", "Split": "num_outputs"}


def why_harmful(operator: str, attrs: Attrs) -> str | None:
    """Why the types of a call's results cannot be asked for, or None."""
    name = _NAMES.get(operator)
    value = attrs.get(name) if name is not None else None
    if type(value) is not int:
        return None
    match operator:
        case "GatherND":
            fits = value >= 0
        case "LayerNormalization":
            fits = -(1 << 31) <= value < 1 << 31
        case _:
            fits = value <= _MOST_PARTS
    return None if fits else f"`{name} = {value}` of `{operator}` is beyond what it can be"


def harmful_nodes(nodes: Iterable[NodeProto]) -> Iterator[str]:
    """The same of each node of a message, and of those in bodies, however deep."""
    waiting = [nodes]
    while waiting:
        for node in waiting.pop():
            if node.op_type in _NAMES and (
                why := why_harmful(node.op_type, {a.name: a.i for a in node.attribute if a.type == a.INT})
            ):
                yield why
            waiting += [body.node for body in bodies_of(node)]
