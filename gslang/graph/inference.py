"""Types of a graph's nodes by the dialect's inference: one node, or all whose type is not known yet."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from gslang.base.arrays import Array
from gslang.dialect.dialect import Dialect
from gslang.dialect.dtypes import dtype_exists
from gslang.dialect.load import require_inference
from gslang.dialect.signature import TypeInferenceError
from gslang.dialect.tensor_type import (
    LARGEST_DIMENSION,
    UNKNOWN,
    Symbol,
    TensorType,
    TupleType,
    Type,
    UnknownValue,
)
from gslang.graph.graph import CONST, LEAVES, PROJ, TUPLE, Graph
from gslang.graph.scalar import Row

# What inference may raise for operands and attributes that nobody foresaw: a layout without an axis that the
# operator needs, a rank below the declared one, three numbers where a pair is wanted. Files of users hold
# such things. levels: nothing is said about tuples nested deeper, so that types can be walked by recursion
_DEEPEST_TUPLE: Final = 100
_MISFITS = (LookupError, ArithmeticError, ValueError, TypeError, AttributeError)


def infer_node(graph: Graph, dialect: Dialect, node: int, looked_at: list[int] | None = None) -> Type | None:
    """The type that follows from a node's operands and attributes; None if nothing can be said.

    `looked_at` collects the operands whose values inference asked for: the type depends on these too.

    Raises `TypeInferenceError` if operands and attributes contradict each other.
    """
    op, operands, types = graph.op[node], graph.operands[node], graph.types
    if op is TUPLE:
        made = TupleType(tuple([types[o] for o in operands]))
        return made if made.depth <= _DEEPEST_TUPLE else None
    if op is PROJ:
        base = types[operands[0]]
        if isinstance(base, TupleType):
            index: int = graph.attrs[node]["index"]
            if not 0 <= index < len(base.fields):
                raise TypeInferenceError(f"field {index} of a tuple with {len(base.fields)} fields")
            return base.fields[index]
        if isinstance(base, TensorType):
            raise TypeInferenceError("a projection needs a tuple, this is a tensor")
        return None
    if op in LEAVES:
        return types[node]
    infer = dialect.infer.get(op)
    if infer is None:
        return None
    signature = dialect.operators[op]

    value_of = _OperandValues(graph, operands, looked_at)
    given = graph.attrs[node]
    attrs = signature.complete(given) if signature.defaults else given
    try:
        inferred = infer(tuple([types[o] if o >= 0 else None for o in operands]), attrs, value_of)
    except UnknownValue:
        return None
    except _MISFITS as error:
        reason = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise TypeInferenceError(f"operands and attributes do not match the operator ({reason})") from error
    if inferred is not None and (why := _impossible(inferred)):
        raise TypeInferenceError(why)
    return inferred


class _OperandValues:
    """The constants among a call's operands: operand → its array, None for others."""

    __slots__ = ("graph", "looked_at", "operands")

    def __init__(self, graph: Graph, operands: Sequence[int], looked_at: list[int] | None) -> None:
        self.graph, self.operands, self.looked_at = graph, operands, looked_at

    def __call__(self, k: int) -> Array | None:
        operand = self.operands[k]
        if self.looked_at is not None:
            self.looked_at.append(operand)
        return self.graph.value(operand) if operand >= 0 and self.graph.op[operand] is CONST else None

    def numbers(self, k: int) -> list[Any] | None:
        """The elements of a constant as a list, for which NumPy need not be loaded where they are a `Row`."""
        operand = self.operands[k]
        value = self.graph.values.get(operand)
        if type(value) is not Row or self.graph.op[operand] is not CONST:
            array = self(k)
            return None if array is None else array.tolist()
        if self.looked_at is not None:
            self.looked_at.append(operand)
        return list(value.numbers)


@lru_cache(maxsize=8192)
def _impossible(type: Type) -> str | None:
    """Why no value can have a type, or None."""
    if isinstance(type, TupleType):
        return next((why for field in type.fields if field is not None and (why := _impossible(field))), None)
    if type.dtype is not None and not dtype_exists(type.dtype):
        return f"unknown data type `{type.dtype}`"
    if any(d.__class__ is int and not 0 <= d <= LARGEST_DIMENSION for d in type.shape or ()):
        return f"the result would be {type}"
    return None


def contradiction(known: Type | None, inferred: Type | None) -> str | None:
    """Why two statements about one value cannot both hold, or None. Unknown parts contradict nothing."""
    if known is None or inferred is None or known is inferred:
        return None
    if isinstance(known, TupleType) or isinstance(inferred, TupleType):
        if not (isinstance(known, TupleType) and isinstance(inferred, TupleType)):
            return f"{known} against {inferred}"
        if len(known.fields) != len(inferred.fields):
            return f"{len(known.fields)} fields against {len(inferred.fields)}"
        for k, (a, b) in enumerate(zip(known.fields, inferred.fields)):
            if why := contradiction(a, b):
                return f"field {k}: {why}"
        return None
    if known.dtype is not None and inferred.dtype is not None and known.dtype != inferred.dtype:
        return f"dtype {known.dtype} against {inferred.dtype}"
    if known.shape is None or inferred.shape is None:
        return None
    if len(known.shape) != len(inferred.shape):
        return f"shape {_show(known)} against {_show(inferred)}"
    if any(type(a) is int and type(b) is int and a != b for a, b in zip(known.shape, inferred.shape)):
        return f"shape {_show(known)} against {_show(inferred)}"
    return None


def _show(type: TensorType) -> str:
    return "[" + ", ".join(map(str, type.shape or ())) + "]"


def refine(a: Type | None, b: Type | None) -> Type | None:
    """The union of two compatible statements: the known part of each."""
    if a is None or a is b:
        return b
    if b is None:
        return a
    if isinstance(a, TupleType) and isinstance(b, TupleType):
        return TupleType(tuple([refine(x, y) for x, y in zip(a.fields, b.fields)]))
    if isinstance(a, TensorType) and isinstance(b, TensorType):
        if a == b:
            return a
        dtype = a.dtype or b.dtype
        if a.shape is None or b.shape is None:
            return TensorType(a.shape if b.shape is None else b.shape, dtype)
        rank = {int: 0, Symbol: 1, type(UNKNOWN): 2}
        return TensorType(
            tuple([min(x, y, key=lambda d: rank[type(d)]) for x, y in zip(a.shape, b.shape)]), dtype
        )
    return a


def infer_types(graph: Graph, dialect: Dialect) -> list[tuple[int, str]]:
    """Fill in all types, operands first. Returns (node, why) for each contradiction; such a node keeps what
    it had.

    Raises `InputError` if the dialect's inference needs a package that is not installed.
    """
    require_inference(dialect)
    problems = []
    op, operands, types = graph.op, graph.operands, graph.types
    found: dict[object, Type | None] = {}  # layers repeat: the same operator, attributes and operand types
    for node in graph.ordered():
        if op[node] in LEAVES:
            continue
        try:
            key = (
                op[node], tuple(graph.attrs[node].items()),
                *[types[o] if o >= 0 else None for o in operands[node]],
            )
            known = key in found
        except TypeError:  # an array among the attributes
            key, known = (), False
        try:
            if known:
                inferred = found[key]
            else:
                looked_at: list[int] = []
                inferred = infer_node(graph, dialect, node, looked_at)
                if key and not looked_at:
                    found[key] = inferred
        except TypeInferenceError as error:
            problems.append((node, str(error)))
            continue
        stated = types[node]
        if stated is inferred:
            continue
        if why := contradiction(stated, inferred):
            problems.append((node, why))
            continue
        types[node] = refine(inferred, stated)
    return problems
