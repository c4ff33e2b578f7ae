"""Building a target: new nodes for the right-hand side of a rule (or for a test's graph), typed at once.

Everything is computed before the first user is changed; a failure leaves only nodes that `Graph.discard_from`
removes.
"""

from __future__ import annotations

import sys
from typing import Any

from gslang.base.arrays import Array
from gslang.base.source import Span
from gslang.check import checked as ir
from gslang.dialect.call_check import MISFIT, MOST, conform
from gslang.dialect.dialect import Dialect
from gslang.dialect.dtypes import is_float
from gslang.dialect.signature import Signature
from gslang.dialect.tensor_type import UNKNOWN, Symbol, TensorType, TupleType, UnknownValue
from gslang.engine.edits import BuildError, infer_or_fail
from gslang.engine.scope import UNBOUND, Scope, evaluate
from gslang.engine.target_nodes import TargetNodes
from gslang.engine.values import FAILURES, read_attribute
from gslang.graph.annotations import attach, attachable
from gslang.graph.graph import ABSENT, TUPLE, Graph
from gslang.graph.scalar import as_row

_LONG = 100  # targets


class UnknownAnnotation(UnknownValue):
    """A value of `@attach` is not known. `span`: where it is written."""

    def __init__(self, why: str, span: Span) -> None:
        super().__init__(why)
        self.span = span


def build(
    graph: Graph, dialect: Dialect, target: ir.TargetGraph, scope: Scope, *, literal: bool = False
) -> list[int]:
    """Add the target's nodes to the graph and return its outputs, in order.

    A projection of a tuple that is written out is the field itself, unless `literal` (a test's graph stays as
    written).

    Raises `UnknownValue` (or whatever an evaluation may fail with) if a value that the target uses is not
    known, and `BuildError` if types contradict each other.
    """
    builder = _Builder(graph, dialect, target, scope, literal)
    scope.new_type = lambda number, name: read_attribute(graph, dialect, builder.one(number), name)
    try:
        return [node for output in target.outputs for node in builder.whole(output)]
    finally:
        scope.new_type = None


def build_or_undo(graph: Graph, scope: Scope) -> list[int] | str | None:
    """Add the nodes of a match's target and return its outputs, or nothing if that is impossible: a text says
    what contradicts each other; None that a value is not known, so that this is no match.
    """
    first = len(graph.op)
    scope.memo = {}
    try:
        return build(graph, scope.rule.dialect, scope.rule.target, scope)
    except FAILURES:
        graph.discard_from(first)
        return None
    except BuildError as error:
        graph.discard_from(first)
        return str(error)
    finally:
        scope.memo = None


class _Builder(TargetNodes[int]):
    """The new nodes of a target in `graph`."""

    def __init__(
        self, graph: Graph, dialect: Dialect, target: ir.TargetGraph, scope: Scope, literal: bool
    ) -> None:
        super().__init__(target, scope)
        self.graph, self.dialect, self.literal = graph, dialect, literal

    def whole(self, number: int) -> list[int]:
        """The node(s) that a target stands for; in a long target operands are built before users, so that no
        chain is too long for recursion.
        """
        if len(self.targets) <= _LONG:
            return self.several(number)
        order: dict[int, None] = {}
        stack = [(number, False)]
        while stack:
            each, done = stack.pop()
            target = self.targets[each]
            if done:
                order.setdefault(each)
            elif isinstance(target, ir.NewNode) and each not in order:
                stack += [(each, True), *((part, False) for part in reversed(target.parts))]
        for operand in order:
            self.several(operand)
        return self.several(number)

    def several(self, number: int) -> list[int]:
        found = self.made.get(number)
        if found is None:
            found = self.made[number] = self.of_target(number)
            if self.literal and self.target.names[number] is not None and len(found) == 1 and found[0] >= 0:
                _name(self.graph, found[0], self.target.names[number])
        return found

    def of_slot(self, slot: int) -> int:
        if slot == UNBOUND:
            raise UnknownValue("the node is not part of the match")
        return slot

    def of_absent(self, number: int, target: ir.Absent) -> list[int]:
        return [ABSENT]

    def of_constant(self, number: int, target: ir.MakeConst) -> list[int]:
        return [_constant(self, target, None)]

    def of_call(self, number: int, target: ir.MakeCall) -> list[int]:
        return [_call(self, target)]

    def of_tuple(self, number: int, target: ir.MakeTuple) -> list[int]:
        fields = [node for field in target.fields for node in self.several(field)]
        return [_typed(self, self.graph.add_tuple(fields))]

    def of_projection(self, number: int, target: ir.MakeProj) -> list[int]:
        base = self.one(target.base)
        return [_project(self, base, known_index(evaluate(target.index, self.scope)))]

    def of_projections(self, number: int, target: ir.Projections) -> list[int]:
        base = self.one(target.base)
        return [_project(self, base, index) for index in range(number_of_parts(self.graph, base))]


def _name(graph: Graph, node: int, name: str | None) -> None:
    """In a graph that is written out, a statement's name is that of its node."""
    if graph.names[node] is None:
        graph.names[node] = name


def known_index(value: object) -> int:
    """The value as the index of a part. Raises `UnknownValue`."""
    value = known_value(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise UnknownValue("not an index")
    return value


def number_of_parts(graph: Graph, base: int) -> int:
    """The number of a tuple's parts. Raises `UnknownValue`."""
    if graph.op[base] is TUPLE:
        return len(graph.operands[base])
    type_ = graph.types[base]
    if not isinstance(type_, TupleType):
        raise UnknownValue("the number of parts is unknown")
    return len(type_.fields)


def _project(builder: _Builder, base: int, index: int) -> int:
    """A projection; of a tuple that is written out, the field itself."""
    graph = builder.graph
    if graph.op[base] is TUPLE and not builder.literal:
        return graph.operands[base][index]
    return _typed(builder, graph.add_proj(base, index))


def _typed(builder: _Builder, node: int) -> int:
    builder.graph.types[node] = infer_or_fail(builder.graph, builder.dialect, node, None)
    return node


def _call(builder: _Builder, call: ir.MakeCall) -> int:
    graph, scope = builder.graph, builder.scope
    operator = call.operator if isinstance(call.operator, str) else scope.variables[call.operator[1]]
    operands, waiting = builder.operands(call, ABSENT)
    if waiting:
        dtypes = [_dtype(graph, node) for node in operands]
        for position, constant in waiting:
            operands[position] = _constant(
                builder, constant, builder.dialect.dtype_beside(operator, position, dtypes)
            )
    while operands and operands[-1] == ABSENT:
        operands.pop()
    node = _typed(builder, graph.add(operator, operands, _attributes(builder, operator, call)))
    if call.attached:
        annotate(graph, node, tuple([(one.name, _attached(one, scope)) for one in call.attached]))
    return node


def _attached(stated: ir.Attached, scope: Scope) -> object:
    """The value to attach. Raises `UnknownAnnotation`."""
    try:
        return known_value(evaluate(stated.value, scope))
    except FAILURES as error:
        raise UnknownAnnotation(str(error) or type(error).__name__, stated.span) from error


def annotate(graph: Graph, node: int, what: tuple[tuple[str, object], ...]) -> None:
    """Attach computed values to a new call; `none` is nothing. Raises `UnknownValue`, and `BuildError` for
    what no annotation can be."""
    known = {name: known_value(value) for name, value in what}
    for name, value in known.items():
        if value is not None and not attachable(value):
            raise BuildError(
                f"`{name}` cannot be attached to `{graph.op[node]}`: expected a string, a finite number, "
                "a boolean, or a tuple of these"
            )
    attach(graph, node, known)


def _dtype(graph: Graph, node: int) -> str | None:
    type = graph.types[node] if node >= 0 else None
    return type.dtype if isinstance(type, TensorType) else None


def _attributes(builder: _Builder, operator: str, call: ir.MakeCall) -> dict[str, object]:
    """Explicit attributes over those that are spread; what equals its declared default is left out."""
    graph, scope = builder.graph, builder.scope
    signature = builder.dialect.operators.get(operator)
    attrs: dict[str, object] = {}
    for spread in call.spreads:
        slot = scope.slot(spread.place, spread.node)
        if slot < 0:
            raise UnknownValue("the node whose attributes are copied is not part of the match")
        for name, value in graph.attrs[slot].items():
            if name not in spread.without and (signature is None or name in signature.attributes):
                attrs[name] = value
    for name, value in call.attributes:
        attrs[name] = fitted(evaluate(value, scope), signature, name)
    return normalised(attrs, signature)


def normalised(attrs: dict[str, object], signature: Signature | None) -> dict[str, object]:
    """Attributes in the order of the declaration, without those that equal their declared default."""
    if signature is None:
        return attrs
    kept = {
        n: v
        for n, v in attrs.items()
        if n not in signature.attributes or n not in signature.defaults or not _same(v, signature.defaults[n])
    }
    order = {name: k for k, name in enumerate(signature.attributes)}
    return dict(sorted(kept.items(), key=lambda item: order.get(item[0], len(order))))


def _same(a: object, b: object) -> bool:
    return type(a) is type(b) and bool(a == b)


def fitted(value: object, signature: Signature | None, name: str) -> object:
    """A computed value as a graph stores it: known, plain Python, of the type that is declared.

    Raises `BuildError` for a value of another type, `UnknownValue` for an integer that is none of 64 bits.
    """
    value = known_value(value)
    for item in value if type(value) is tuple else (value,):
        if type(item) is int and not -MOST - 1 <= item <= MOST:
            raise UnknownValue(f"the attribute `{name}` would be {item}, which has more than 64 bits")
    spec = signature.attributes.get(name) if signature is not None else None
    if spec is None or value is None:  # absent
        return value
    found = conform(value, spec)
    if found is MISFIT:
        shape = getattr(value, "shape", None)
        what = repr(value) if shape is None else f"a tensor of shape {list(shape)}"
        declared = " | ".join(map(str, spec.types))
        raise BuildError(f"the attribute `{name}` is declared `{declared}` and would be {what}")
    return found


def known_value(value: Any) -> Any:
    """The value as plain Python. Raises `UnknownValue` where a dimension in it is not known."""
    if value is UNKNOWN or isinstance(value, Symbol):
        raise UnknownValue("an attribute would have an unknown dimension")
    if isinstance(value, tuple):
        return tuple(known_value(item) for item in value)
    if getattr(value, "ndim", None) == 0 or type(value).__module__ == "numpy" and not hasattr(value, "ndim"):
        return value.item()
    return value


def _constant(builder: _Builder, constant: ir.MakeConst, dtype: str | None) -> int:
    scope = builder.scope
    value = evaluate(constant.value, scope)
    if value is None and constant.optional:
        return ABSENT
    value = known_value(value)
    if constant.dtype is not None:
        dtype = evaluate(constant.dtype, scope)
    if constant.as_tuple:
        items = value if isinstance(value, tuple) else tuple(value)
        fields = [add_constant(builder.graph, item, dtype) for item in items]
        return _typed(builder, builder.graph.add_tuple(fields))
    shape = None if constant.splat_shape is None else known_value(evaluate(constant.splat_shape, scope))
    return add_constant(builder.graph, value, dtype, shape)


def add_constant(graph: Graph, value: object, dtype: str | None, shape: tuple[int, ...] | None = None) -> int:
    """A new constant node; a number is 0-d, a tuple 1-d (or nested), `shape` fills. dtype None follows the
    value's kind.

    Only floats are rounded, and a finite number not to an infinite one (arrays have overflowed before, as
    their type does). Raises `BuildError` for a fraction as an integer, `UnknownValue` for a number that is
    too large for the dtype.
    """
    # NumPy may not be needed at all
    if "numpy" not in sys.modules and shape is None and dtype in (None, "int64"):
        row = as_row(value)
        if row is not None:
            return graph.add_const(row, TensorType(row.shape, "int64"))
    import numpy

    from gslang.dialect.dtypes import numpy_dtype

    if dtype is None:
        dtype = value.dtype.name if hasattr(value, "dtype") else _default_dtype(value)
    try:
        with numpy.errstate(over="ignore", invalid="ignore"):  # see below for infinite ones and NaN
            array = numpy.asarray(value, dtype=numpy_dtype(dtype))
    except (TypeError, ValueError, OverflowError) as error:
        raise _misfit(value, dtype) from error
    if array.dtype.kind in "iub" and not is_exact(value, array):
        raise _misfit(value, dtype)
    if array.dtype.kind == "f" and not hasattr(value, "dtype") and numpy.isinf(array).any():
        if not (numpy.isinf(array) == numpy.isinf(numpy.asarray(value, "float64"))).all():
            raise _misfit(value, dtype)
    if shape is not None:
        array = numpy.full(shape, array)
    return graph.add_const(array, TensorType(tuple(array.shape), dtype))


def is_exact(value: object, array: Array) -> bool:
    """True if an array of whole numbers or truth values holds just these values."""
    import numpy

    given = numpy.asarray(value)
    return given.dtype == array.dtype or bool((array == given).all())


def _misfit(value: object, dtype: str) -> Exception:
    """An error in the rule, which names no type for its number, or a number that this graph happens to have.
    """
    shown = "an array with such values" if hasattr(value, "dtype") else _short(repr(value))
    text = f"{shown} cannot be a constant of type {dtype}"
    if is_float(dtype):
        return UnknownValue(f"{text}: numbers are not rounded to infinity")
    if dtype != "bool" and _is_whole(value):
        return UnknownValue(f"{text}: integers do not wrap")
    return BuildError(f"{text}: fractions are not rounded to integers; state another `dtype`")


def _is_whole(value: object) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_whole, value))
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    return isinstance(value, int) or kind in ("i", "u") or isinstance(value, float) and value.is_integer()


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:40]}…{text[-10:]}"


def _default_dtype(value: object) -> str:
    kinds = {type(item).__name__ for item in (value if isinstance(value, tuple) else (value,))}
    if "float" in kinds:
        return "float32"
    if kinds == {"bool"}:
        return "bool"
    return "int64" if kinds <= {"int", "bool"} else "float32"


__all__ = ["BuildError", "add_constant", "build", "build_or_undo"]
