"""Types of a model by the `onnx` package's shape inference, which is asked about no node that it does not
survive.

Such nodes are hidden as operators that it does not know, behind which it goes on. What it then says of their
operands decides about each: in the next round those are shown whose operands are known to be harmless, or
do not come of what is still hidden.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from gslang.dialect.onnx.function_size import MOST_NODES, bodies_of, expanded_size
from gslang.dialect.onnx.harmful import FRAGILE, GUARDED, harmful_nodes, last_sizes, why_size
from gslang.dialect.onnx.infer import is_mistyped
from gslang.dialect.onnx.messages import compiled, messages
from gslang.formats.onnx.negative_sizes import forget_negative_sizes, negative_tensor

if TYPE_CHECKING:
    from onnx import FunctionProto, GraphProto, ModelProto, NodeProto

_HIDDEN: Final = {f"gslang.{operator}": operator for operator in FRAGILE}
_MOST_ROUNDS: Final = 20  # after which what is hidden remains so, and the types of its results unknown


class Harmful(Exception):
    """The package would not survive the model."""


class InRounds:
    """A model, and what is known of its fragile nodes.

    `is_certain`: after `types`, that the sizes that decide about them are all known.
    """

    def __init__(self, model: ModelProto) -> None:
        """Raises `Harmful`."""
        self._model = _guarded(model)
        self.is_certain = False

    def types(self, data_prop: bool = False) -> Any:
        """The model with the types of all values; local functions may have been inlined. `data_prop`: with
        the elements of small vectors, which may tell sizes that were unknown.

        Raises `Harmful`, and what the package raises.
        """
        for _ in range(_MOST_ROUNDS):
            found = _asked(self._model, data_prop)
            if not self._show(found):
                break
        unknown = [n for n, size, _ in _fragile(self._model.graph, found.graph, {}, set()) if size is None]
        self.is_certain = not unknown and not self._model.functions
        for node in unknown:  # what is asked next may know more of it
            node.op_type = f"gslang.{_HIDDEN.get(node.op_type, node.op_type)}"
        return found

    def _show(self, found: Any) -> bool:
        """Show the nodes that are safe by these types. False if there are none. Raises `Harmful`."""
        shown = False
        for node, size, depends in _fragile(self._model.graph, found.graph, {}, set()):
            operator = _HIDDEN.get(node.op_type)
            if operator is None:
                continue
            if size is not None and (why := why_size(operator, size)):
                raise Harmful(why)
            if size is not None or not depends:
                node.op_type, shown = operator, True
        return shown


def _guarded(model: ModelProto) -> Any:
    """A copy that is safe to ask about; with functions inlined where operators in them may be harmful."""
    data = model.SerializeToString()
    if any(node.op_type in GUARDED for function in model.functions for node in nodes_in(function)):
        if expanded_size(model) > MOST_NODES:
            raise Harmful(f"local functions give more than {MOST_NODES:,} nodes")
        data = compiled().inliner.inline_local_functions(data, False)
    copy = messages().ModelProto.FromString(data)
    if why := next(harmful_nodes(copy, inlined=True), None):
        raise Harmful(why)
    for part in (copy.graph, *copy.functions):
        if (name := negative_tensor(part)) is not None:
            raise Harmful(f"a size of the constant `{name}` is below zero")
        forget_negative_sizes(part)
        for node in nodes_in(part):
            if node.op_type in FRAGILE or is_mistyped(
                node.op_type, {a.name: a.ints or a.s.decode("utf-8", "replace") for a in node.attribute}
            ):
                node.op_type = f"gslang.{node.op_type}"  # the latter are never shown
    return copy


def _asked(model: ModelProto, data_prop: bool) -> Any:
    """The model with the types that the package infers. Raises what it raises."""
    infer_shapes = compiled().shape_inference.infer_shapes
    # neither a check of types nor an error for each contradiction
    return messages().ModelProto.FromString(infer_shapes(model.SerializeToString(), False, False, data_prop))


def nodes_in(part: GraphProto | FunctionProto) -> Iterator[NodeProto]:
    """The nodes of a graph or function, bodies included."""
    waiting: list[Any] = [part]
    while waiting:
        for node in waiting.pop().node:
            yield node
            waiting += bodies_of(node)


def _fragile(
    graph: GraphProto, typed: GraphProto, outer: Mapping[str, int | None], hidden: set[str]
) -> Iterator[tuple[NodeProto, int | None, bool]]:
    """The fragile nodes of a graph and its bodies: each with the size that decides, None if it is unknown,
    and whether that may come of a hidden node.

    `typed`: the same graph with types; `hidden`: values that may come of hidden nodes, more with each node.
    """
    sizes = {**outer, **last_sizes(typed)}
    for node, other in zip(graph.node, typed.node):
        depends = any(name in hidden for name in node.input)
        for body, its_types in zip(bodies_of(node), bodies_of(other)):
            # a body knows outer values by name, and its inputs by place
            within = hidden | ({value.name for value in body.input} if depends else set())
            yield from _fragile(body, its_types, sizes, within)
            depends = depends or any(value.name in within for value in body.output)
        if _HIDDEN.get(node.op_type, node.op_type) in FRAGILE and len(node.input) > 1:
            depends = depends or node.op_type in _HIDDEN  # until now: who takes a node may show it
            yield node, sizes.get(node.input[1]), node.input[1] in hidden
        if depends:
            hidden.update(node.output)
