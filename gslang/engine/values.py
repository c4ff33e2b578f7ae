"""Values of attribute expressions: facts of graph nodes, and comparisons of them.

Three-valued: a value that cannot be had raises `UnknownValue`; that, and any failing evaluation (an index out
of range, a division by zero, layouts that do not fit), counts as "does not hold": only true passes
(semantics.md §9).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from gslang.base.arrays import Array
from gslang.check.arithmetic import FAILURES as FAILURES
from gslang.check.arithmetic import applied
from gslang.check.limits import measured
from gslang.dialect.dialect import Dialect
from gslang.dialect.signature import AttributeSpec
from gslang.dialect.tensor_type import UNKNOWN, Symbol, TensorType, UnknownValue
from gslang.graph.graph import CONST, PROJ, Graph
from gslang.graph.scalar import Scalar, round_float32


def truth(value: object) -> bool:
    if value is UNKNOWN or isinstance(value, Symbol):
        raise UnknownValue("the condition is not known")
    return bool(value)


# ── facts of a node ─────────────────────────────────────────────────────────────────────────────────────────


def read_attribute(graph: Graph, dialect: Dialect, node: int, name: str) -> Any:
    """`p.name` of the graph node that `p` matched (language.md §3, Access)."""
    match name:
        case "shape" | "dtype" | "ndim":
            type = graph.types[node]
            if not isinstance(type, TensorType):
                raise UnknownValue(f"the {name} of {graph.label(node)} is not known")
            if name == "dtype":
                if type.dtype is None:
                    raise UnknownValue(f"the dtype of {graph.label(node)} is not known")
                return type.dtype
            if type.shape is None:
                raise UnknownValue(f"the rank of {graph.label(node)} is not known")
            return type.shape if name == "shape" else len(type.shape)
        case "op":
            return graph.op[node] if graph.is_call(node) else None
        case "kind":
            return graph.kind(node)
        case "name":
            return graph.names[node]
        case "value" if graph.op[node] is CONST:
            return constant_value(graph, node)
        case "index" if graph.op[node] is PROJ:
            return graph.attrs[node]["index"]
    return call_attribute(graph, dialect, node, name)


def constant_value(graph: Graph, node: int) -> object:
    """The number of a constant without axes, as Python has it, which neither wraps nor rounds like that of a
    narrow type; else the array.
    """
    return plain(constant_array(graph, node))


def constant_array(graph: Graph, node: int) -> Array:
    """The elements of a constant. Raises `UnknownValue` where they are not known."""
    array: Array | None = graph.value(node) if graph.op[node] is CONST else None
    if array is None:
        raise UnknownValue(f"the value of {graph.label(node)} is not known")
    return array


def constant_of(graph: Graph, node: int) -> object:
    """The key by which a constant is compared: a number as it was read, or the array."""
    value = graph.values.get(node)
    if type(value) is Scalar and graph.op[node] is CONST:
        return value
    return constant_array(graph, node)


def shape_of(type: object) -> Any:
    if isinstance(type, TensorType) and type.shape is not None:
        return type.shape
    raise UnknownValue("the shape is not known")


def ndim_of(type: object) -> int:
    return len(shape_of(type))


def dtype_of(type: object) -> str:
    if isinstance(type, TensorType) and type.dtype is not None:
        return type.dtype
    raise UnknownValue("the dtype is not known")


def call_attribute(graph: Graph, dialect: Dialect, node: int, name: str) -> Any:
    """An attribute of a call: as given, else as operand, else its declared default."""
    attrs = graph.attrs[node]
    if name in attrs:
        return attrs[name]
    signature = dialect.operators.get(graph.op[node])
    if signature is not None:
        for k, operand in enumerate(signature.operands):
            if operand.name == name and operand.attribute is not None:
                operands = graph.operands[node]
                if k < len(operands) and operands[k] >= 0:
                    return operand_as_attribute(graph, operands[k], operand.attribute)
        if name in signature.defaults:
            return signature.defaults[name]
    raise UnknownValue(f"{graph.label(node)} has no attribute `{name}`")


def operand_as_attribute(graph: Graph, node: int, declared: AttributeSpec) -> object:
    """The value of a constant operand as the attribute that it was, or might be; raises `UnknownValue`."""
    array = constant_array(graph, node)
    single = array.size == 1 and not any(t.depth for t in declared.types)
    return array.item() if single or array.ndim == 0 else tuple(array.tolist())


def plain(value: object) -> Any:
    """NumPy scalars as Python numbers."""
    item = getattr(value, "item", None)
    return item() if item is not None and getattr(value, "ndim", 1) == 0 else value


# ── comparisons ─────────────────────────────────────────────────────────────────────────────────────────────


_KNOWN = frozenset((int, str, bool, float, type(None), Symbol))


def equal(a: Any, b: Any) -> bool:
    """Equality: floats after rounding to float32, unknown dimensions raise, tuples item by item (false beats
    unknown).
    """
    if type(a) is tuple and type(b) is tuple and len(a) == len(b) and (
        measured(a) == b and _KNOWN.issuperset(map(type, a))
    ):
        return True  # the most frequent case
    if a is UNKNOWN or b is UNKNOWN:
        raise UnknownValue("an unknown dimension")
    if isinstance(a, tuple) and isinstance(b, tuple):
        if len(a) != len(b):
            return False
        unknown = False
        for x, y in zip(a, b):
            try:
                if not equal(x, y):
                    return False
            except UnknownValue:
                unknown = True
        if unknown:
            raise UnknownValue("an unknown dimension")
        return True
    if isinstance(a, Symbol) or isinstance(b, Symbol):
        if a == b:
            return True
        if a is None or b is None or isinstance(a, (str, tuple)) or isinstance(b, (str, tuple)):
            return False
        raise UnknownValue(f"whether `{a}` is `{b}` is not known")
    if isinstance(a, float) or isinstance(b, float):
        if applied(operator.eq, a, b):
            return True
        if isinstance(a, (int, float)) and isinstance(b, (int, float)):
            return round_float32(float(a)) == round_float32(float(b))
        return False
    if hasattr(a, "ndim") or hasattr(b, "ndim"):
        import numpy

        return bool(numpy.array_equal(a, b))
    if hasattr(a, "meaning") and hasattr(b, "meaning"):
        return bool(a == b or a.meaning == b.meaning)
    return bool(a == b)


def contains(item: Any, sequence: Any) -> bool:
    measured(sequence)
    if isinstance(sequence, str):
        return item in sequence
    unknown = False
    for other in sequence:
        try:
            if equal(item, other):
                return True
        except UnknownValue:
            unknown = True
    if unknown:
        raise UnknownValue("an unknown item")
    return False


def _exact(a: Any) -> Any:
    """The one number of an array as Python's: nothing is compared by rounding the other side to its type."""
    return a.item() if getattr(a, "size", None) == 1 else a


COMPARE: dict[str, Callable[[object, object], bool]] = {
    "==": equal,
    "!=": lambda a, b: not equal(a, b),
    "<": lambda a, b: bool(_exact(a) < _exact(b)),
    "<=": lambda a, b: bool(_exact(a) <= _exact(b)),
    ">": lambda a, b: bool(_exact(a) > _exact(b)),
    ">=": lambda a, b: bool(_exact(a) >= _exact(b)),
    "in": contains,
    "not in": lambda a, b: not contains(a, b),
}
