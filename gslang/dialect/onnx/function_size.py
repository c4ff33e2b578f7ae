"""The number of nodes of local functions when inlined, as shape inference, onnxruntime and the reference
do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto

MOST_NODES: Final = 100_000  # for which these are asked to do it
_UNBOUNDED: Final = 1 << 62


def bodies_of(node: NodeProto) -> Iterator[GraphProto]:
    """The graphs among the attributes of a node."""
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def expanded_size(model: ModelProto) -> int:
    """The number of nodes that calls of local functions stand for; more than can be if a function calls
    itself."""
    functions = {
        (function.domain, function.name, function.overload): function for function in model.functions
    }
    sizes: dict[tuple[str, str, str], int] = {}

    def callees(nodes: Iterable[NodeProto]) -> Iterator[tuple[str, str, str]]:
        for node in nodes:
            if (name := (node.domain, node.op_type, node.overload)) in functions:
                yield name
            for body in bodies_of(node):
                yield from callees(body.node)

    calls = {name: list(callees(function.node)) for name, function in functions.items()}
    todo = list(dict.fromkeys(callees(model.graph.node)))
    open: set[tuple[str, str, str]] = set()
    while todo:
        name = todo[-1]
        below = [callee for callee in calls[name] if callee not in sizes] if name not in sizes else []
        if name in sizes or not below:
            sizes.setdefault(
                name,
                min(len(functions[name].node) + sum([sizes[callee] for callee in calls[name]]), _UNBOUNDED),
            )
            open.discard(todo.pop())
        elif name in open:
            return _UNBOUNDED
        else:
            open.add(name)
            todo += dict.fromkeys(below)
    return min(sum([sizes[name] for name in callees(model.graph.node)]), _UNBOUNDED)
