"""Local functions of a model: those that nodes call, and the number of nodes when they are inlined, as shape
inference, onnxruntime and the reference do.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Final

from gslang.dialect.onnx.schemas import operator_name

if TYPE_CHECKING:
    from onnx import FunctionProto, GraphProto, ModelProto, NodeProto

Name = tuple[str, str]  # of a local function: operator, overload

MOST_NODES: Final = 100_000  # for which these are asked to do it
_UNBOUNDED: Final = 1 << 62


def bodies_of(node: NodeProto) -> Iterator[GraphProto]:
    """The graphs among the attributes of a node."""
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def _named(functions: Iterable[FunctionProto]) -> dict[Name, FunctionProto]:
    return {(operator_name(f.domain, f.name), f.overload): f for f in functions}


def _callees(nodes: Iterable[NodeProto], functions: Container[Name]) -> Iterator[Name]:
    """Those of `functions` that nodes call, and nodes in their bodies."""
    for node in nodes:
        if (name := (operator_name(node.domain, node.op_type), node.overload)) in functions:
            yield name
        for body in bodies_of(node):
            yield from _callees(body.node, functions)


class LocalFunctions:
    """The local functions of a model: `messages`."""

    def __init__(self, messages: Iterable[FunctionProto] = ()) -> None:
        self.messages = tuple(messages)

    @cached_property
    def _by_name(self) -> dict[Name, FunctionProto]:
        return _named(self.messages)

    @cached_property
    def _places(self) -> dict[Name, int]:
        return {name: place for place, name in enumerate(self._by_name)}

    def called_by(self, nodes: Iterable[NodeProto], most: int | None = None) -> list[FunctionProto]:
        """The functions that nodes call, and those that these call, as they follow each other in the model.

        `most`: nearest ones first; of those that other functions call, none beyond this number.
        """
        if not self.messages:
            return []
        found = dict.fromkeys(_callees(nodes, self._by_name))
        waiting = deque(found)
        while waiting and (most is None or len(found) < most):
            for name in _callees(self._by_name[waiting.popleft()].node, self._by_name):
                if name not in found:
                    found[name] = None
                    waiting.append(name)
        return [self._by_name[name] for name in sorted(found, key=self._places.__getitem__)]


def expanded_size(model: ModelProto) -> int:
    """The number of nodes that calls of local functions stand for; more than can be if a function calls
    itself."""
    functions = _named(model.functions)
    sizes: dict[Name, int] = {}
    calls = {name: list(_callees(function.node, functions)) for name, function in functions.items()}
    called = list(_callees(model.graph.node, functions))
    todo = list(dict.fromkeys(called))
    open: set[Name] = set()
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
    return min(sum([sizes[name] for name in called]), _UNBOUNDED)
