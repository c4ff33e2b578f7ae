"""Values of integer tensors that hold shapes, as far as they are known, with symbols for unknown items:
`[batch, 4, ?]`.

The `onnx` package knows this only of a whole model; here it is told node by node, operands first, while rules
change the graph. Not here: the shapes that follow (`symbolic_shapes`), arithmetic on symbols (`dimensions`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Union

from gslang.base.open_types import Attrs
from gslang.dialect.tensor_type import UNKNOWN, Dimension, TensorType, UnknownValue
from gslang.evaluate import dimensions as dim
from gslang.graph.graph import CONST, Graph

Element = Union[Dimension, bool]
Partial = tuple[Element, ...]
"""Elements of a vector, or the one of a scalar: integers, symbols, truth values."""

_LONGEST: Final = 32  # elements: more dimensions no tensor has
_TYPES: Final = frozenset({"int64", "int32", "bool"})
# the elements of their first operand, in order
_SAME: Final = frozenset({"Identity", "Squeeze", "Unsqueeze", "Reshape"})


def partial_value(graph: Graph, node: int, known: Mapping[int, Partial]) -> Partial | None:
    """The elements of a node's value; None if it is no short vector of integers or truth values.

    `known`: those of its operands.
    """
    type_, op, operands = graph.types[node], graph.op[node], graph.operands[node]
    if (
        not isinstance(type_, TensorType) or type_.dtype not in _TYPES or type_.shape is None
        or len(type_.shape) > 1
    ):
        return None
    length = type_.shape[0] if type_.shape else 1
    if op is CONST:
        if type(length) is not int or length > _LONGEST:
            return None
        value = graph.value(node)
        return None if value is None else tuple(value.reshape(-1).tolist())
    try:
        found = _computed(graph, node, op, [known.get(o) for o in operands], graph.attrs[node])
    except (IndexError, ValueError, TypeError, UnknownValue):
        found = None
    if type(length) is not int:  # the value may say how long it is
        return found
    if length > _LONGEST:
        return None
    return found if found is not None and len(found) == length else (UNKNOWN,) * length


def _computed(
    graph: Graph, node: int, op: str, given: list[Partial | None], attrs: Attrs
) -> Partial | None:
    if op == "Shape":
        shape = shape_of(graph, graph.operands[node][0])
        return None if shape is None else shape[attrs.get("start") or 0 : attrs.get("end")]
    if op == "Size":
        shape = shape_of(graph, graph.operands[node][0])
        return None if shape is None else (dim.sizes(shape),)
    first = given[0] if given else None
    if first is None:
        return None
    if op in _SAME:
        return first
    if op in _BINARY:
        function = _BINARY[op]
        return None if given[1] is None else tuple([function(a, b) for a, b in _paired(first, given[1])])
    match op:
        case "Cast":
            return (
                first if attrs.get("to") in ("int64", "int32") and not any([type(d) is bool for d in first])
                else None
            )
        case "Concat":
            return None if None in given else tuple([d for part in given for d in part or ()])
        case "Gather":
            return tuple([first[int(i)] for i in given[1] or ()])  # type: ignore[arg-type]
        case "Slice":
            starts, ends = _whole(given[1]), _whole(given[2])
            steps = _whole(given[4]) if len(given) > 4 else (1,)
            return first[starts[0] : ends[0] : steps[0]]
        case "Where" if given[1] is not None and given[2] is not None:
            length = max(len(part or ()) for part in given)
            chosen, left, right = (_repeated(part or (), length) for part in given)
            return tuple([
                a if c is True else b if c is False or _same(a, b) else UNKNOWN
                for c, a, b in zip(chosen, left, right, strict=True)
            ])
        case "Not":
            return tuple([not a if type(a) is bool else UNKNOWN for a in first])
        case "Neg":
            return tuple([dim.minus(0, _number(a)) for a in first])
        case "ReduceProd" if attrs.get("keepdims", 1) in (0, 1):
            return (dim.product(tuple([_number(a) for a in first])),)
        case "Expand" | "Tile" if len(first) == 1:
            count = _single_dimension(graph, node)
            return first * count if count is not None else None
        case "ConstantOfShape" if len(first) <= 1:
            return _filled(first[0] if first else 1, attrs.get("value"))
    return None


def _filled(count: Element, value: Any) -> Partial | None:
    if type(count) is not int or count > _LONGEST:
        return None
    return (0 if value is None else int(value.load().reshape(-1)[0]),) * count


def _single_dimension(graph: Graph, node: int) -> int | None:
    type_ = graph.types[node]
    if not isinstance(type_, TensorType) or type_.shape is None or len(type_.shape) > 1:
        return None
    count = type_.shape[0] if type_.shape else 1
    return count if type(count) is int and count <= _LONGEST else None


def shape_of(graph: Graph, node: int) -> tuple[Dimension, ...] | None:
    """The shape of a node, None if it is unknown or the node is absent."""
    type_ = graph.types[node] if node >= 0 else None
    return type_.shape if isinstance(type_, TensorType) else None


def _whole(part: Partial | None) -> tuple[int, ...]:
    """Numbers that are all known. Raises `UnknownValue`."""
    if part is None or not all([type(d) is int for d in part]):
        raise UnknownValue("not all numbers are known")
    return part  # type: ignore[return-value]


def _repeated(part: Partial, length: int) -> Partial:
    return part * length if len(part) == 1 else part


def _paired(a: Partial, b: Partial) -> list[tuple[Element, Element]]:
    length = max(len(a), len(b))
    return list(zip(_repeated(a, length), _repeated(b, length), strict=True))


def _number(a: Element) -> Dimension:
    if type(a) is bool:
        raise TypeError("a truth value")
    return a


def _same(a: Element, b: Element) -> bool:
    return a is not UNKNOWN and b is not UNKNOWN and type(a) is type(b) and a == b


def _arithmetic(
    function: Callable[[Dimension, Dimension], Dimension],
) -> Callable[[Element, Element], Element]:
    return lambda a, b: function(_number(a), _number(b))


def _divided(a: Element, b: Element) -> Element:
    """ONNX divides towards zero, which is down where nothing is negative."""
    number, divisor = _number(a), _number(b)
    return dim.over(number, divisor) if dim.is_at_least(number, 0) else UNKNOWN


def _compared(
    wanted: Callable[[bool | None, bool | None], bool | None],
) -> Callable[[Element, Element], Element]:
    """A truth value from whether a >= b and whether b >= a."""

    def compare(a: Element, b: Element) -> Element:
        found = wanted(dim.is_at_least(_number(a), _number(b)), dim.is_at_least(_number(b), _number(a)))
        return UNKNOWN if found is None else found

    return compare


def _equal(up: bool | None, down: bool | None) -> bool | None:
    return False if up is False or down is False else True if up and down else None


def _turned(value: bool | None) -> bool | None:
    return None if value is None else not value


def _logical(function: Callable[[bool, bool], bool], decides: bool) -> Callable[[Element, Element], Element]:
    def combine(a: Element, b: Element) -> Element:
        if a is decides or b is decides:
            return decides
        return function(a, b) if type(a) is bool and type(b) is bool else UNKNOWN

    return combine


_BINARY: Final[Mapping[str, Callable[[Element, Element], Element]]] = {
    "Add": _arithmetic(dim.plus),
    "Sub": _arithmetic(dim.minus),
    "Mul": _arithmetic(dim.times),
    "Div": _divided,
    "Min": _arithmetic(dim.least),
    "Max": _arithmetic(dim.most),
    "Equal": _compared(_equal),
    "GreaterOrEqual": _compared(lambda up, down: up),
    "LessOrEqual": _compared(lambda up, down: down),
    "Greater": _compared(lambda up, down: _turned(down)),
    "Less": _compared(lambda up, down: _turned(up)),
    "And": _logical(lambda a, b: a and b, False),
    "Or": _logical(lambda a, b: a or b, True),
}
