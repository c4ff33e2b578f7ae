"""Attribute expressions evaluated under a match: the readable way, one `match` statement.

Three-valued: a value that cannot be had raises `UnknownValue`; `holds` turns that, and any failing evaluation (an index
out of range, a division by zero, layouts that do not fit), into "does not hold": only true passes (semantics.md §9).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from gslang.check import checked as ir
from gslang.dialect.dialect import Dialect
from gslang.dialect.onnx.versions import opset_for
from gslang.dialect.tensor_type import UNKNOWN, Symbol, TensorType, UnknownValue
from gslang.engine.builtins import BUILTINS
from gslang.engine.limits import MOST_BITS, LimitExceeded, add, bounded, collected, multiply, numbers, run_over
from gslang.engine.scope import UNBOUND, Scope
from gslang.graph.graph import ABSENT, CONST, PROJ, Graph
from gslang.graph.scalar import round_float32

# What a failing evaluation may raise; all of it means "unknown".
FAILURES = (UnknownValue, ArithmeticError, LookupError, ValueError, TypeError, AttributeError, MemoryError)


def holds(condition: ir.Value, scope: Scope) -> bool:
    """True only if the condition is known to be true."""
    try:
        return truth(evaluate(condition, scope))
    except FAILURES:
        return False


def truth(value: Any) -> bool:
    if value is UNKNOWN or isinstance(value, Symbol):
        raise UnknownValue("the condition is not known")
    return bool(value)


def evaluate(value: ir.Value, scope: Scope) -> Any:
    """The value, in normal form (tuples, Python numbers, strings, None, arrays). Raises `UnknownValue` and what fails."""
    match value:
        case ir.Const(constant):
            return constant
        case ir.NodeAttr(place, node, name):
            slot = scope.slot(place, node)
            if slot < 0:
                raise UnknownValue("the node is not part of the match")
            return read_attribute(scope.graph, scope.rule.dialect, slot, name)
        case ir.Captured(place, number):
            return scope.capture(place, number)
        case ir.Let(place, number):
            return scope.let(place, number)
        case ir.Local(number):
            return scope.locals[number]
        case ir.IsAbsent(place, node):
            slot = scope.slot(place, node)
            if slot == UNBOUND:
                raise UnknownValue("the input is not part of the match")
            return slot == ABSENT
        case ir.SameNode((place1, node1), (place2, node2)):
            left, right = scope.slot(place1, node1), scope.slot(place2, node2)
            if left == UNBOUND or right == UNBOUND:
                raise UnknownValue("the node is not part of the match")
            return left == right
        case ir.InstanceIndex():
            if scope.current is None:
                raise UnknownValue("no instance")
            return scope.current.index
        case ir.Opset():
            return opset_for(scope.graph.meta, scope.rule.opset)
        case ir.Length(block):
            return len(scope.instances[block])
        case ir.Instances(block):
            return tuple(range(len(scope.instances[block])))
        case ir.UnaryValue("-", operand):
            return -evaluate(operand, scope)
        case ir.UnaryValue(_, operand):
            return not truth(evaluate(operand, scope))
        case ir.BinaryValue(operator, left, right):
            return BINARY[operator](evaluate(left, scope), evaluate(right, scope))
        case ir.CompareValue(operator, left, right):
            return COMPARE[operator](evaluate(left, scope), evaluate(right, scope))
        case ir.AllOf(items):
            return _all(evaluate(item, scope) for item in items) if len(items) < 2 else _conjunction(items, scope)
        case ir.AnyOf(items):
            return not _conjunction(items, scope, negate=True)
        case ir.IfValue(condition, then, otherwise):
            return evaluate(then if truth(evaluate(condition, scope)) else otherwise, scope)
        case ir.SelectValue(place, node, arms):
            arm = arms[scope.branch(place, node)]
            if arm is None:
                raise UnknownValue("no arm for this alternative")
            return evaluate(arm, scope)
        case ir.TupleValue(items):
            result: list[Any] = []
            for item in items:
                if isinstance(item, ir.SpreadValue):
                    result.extend(evaluate(item.value, scope))
                else:
                    result.append(evaluate(item, scope))
            return bounded(tuple(result))
        case ir.ItemValue(base, index):
            return plain(evaluate(base, scope)[evaluate(index, scope)])
        case ir.SliceValue(base, lower, upper, step):
            low, high, stride = (None if v is None else evaluate(v, scope) for v in (lower, upper, step))
            return evaluate(base, scope)[low:high:stride]
        case ir.RangeValue(lower, upper):
            return numbers(evaluate(lower, scope), evaluate(upper, scope) + 1)
        case ir.Comprehension(element, _, _, _):
            return collected(evaluate(element, scope) for _ in iterate(value, scope))
        case ir.Builtin(name, arguments):
            return BUILTINS[name](*(evaluate(a, scope) for a in arguments))
    raise AssertionError(f"unknown value {value!r}: this is a bug in gslang")


def iterate(loop: ir.Comprehension | ir.Repeat, scope: Scope) -> Iterator[None]:
    """Run through the rounds of a comprehension, its variables bound in `scope.locals`."""
    names = loop.locals
    items = run_over(evaluate(loop.source, scope), not scope.loops)
    scope.loops += 1
    try:
        for item in items:
            if len(names) == 1:
                scope.locals[names[0]] = plain(item)
            else:
                parts = tuple(item)
                if len(parts) != len(names):
                    raise UnknownValue("the items have another number of parts")
                scope.locals.update(zip(names, parts))
            if loop.condition is None or truth(evaluate(loop.condition, scope)):
                yield
    finally:
        scope.loops -= 1


def _all(items: Iterator[Any]) -> bool:
    return all(truth(item) for item in items)


def _conjunction(items: tuple[ir.Value, ...], scope: Scope, negate: bool = False) -> bool:
    """Kleene's `and` (with `negate`: of the negated items): false beats unknown, unknown beats true."""
    unknown: BaseException | None = None
    for item in items:
        try:
            if truth(evaluate(item, scope)) == negate:
                return False
        except FAILURES as failure:
            unknown = failure
    if unknown is not None:
        raise UnknownValue(str(unknown))
    return True


# ── facts of a node ───────────────────────────────────────────────────────────────────────────────────────────


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
        case "value" if graph.op[node] is CONST:
            return constant_value(graph, node)
        case "index" if graph.op[node] is PROJ:
            return graph.attrs[node]["index"]
    return call_attribute(graph, dialect, node, name)


def constant_value(graph: Graph, node: int) -> Any:
    array = graph.value(node) if graph.op[node] is CONST else None
    if array is None:
        raise UnknownValue(f"the value of {graph.label(node)} is not known")
    return array


def shape_of(type: Any) -> Any:
    if isinstance(type, TensorType) and type.shape is not None:
        return type.shape
    raise UnknownValue("the shape is not known")


def ndim_of(type: Any) -> int:
    return len(shape_of(type))


def dtype_of(type: Any) -> str:
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
                    array = read_attribute(graph, dialect, operands[k], "value")
                    single = array.size == 1 and not any(t.depth for t in operand.attribute.types)
                    return array.item() if single or array.ndim == 0 else tuple(array.tolist())
        if name in signature.defaults:
            return signature.defaults[name]
    raise UnknownValue(f"{graph.label(node)} has no attribute `{name}`")


def plain(value: Any) -> Any:
    """NumPy scalars as Python numbers."""
    item = getattr(value, "item", None)
    return item() if item is not None and getattr(value, "ndim", 1) == 0 else value


# ── operators ─────────────────────────────────────────────────────────────────────────────────────────────────


def _power(a: Any, b: Any) -> Any:
    if isinstance(a, int) and isinstance(b, int) and b > 0 and abs(a) > 1 and abs(a).bit_length() * b > 2 * MOST_BITS:
        raise LimitExceeded(f"`**` in an attribute expression gives an integer of more than {MOST_BITS} bits", help="this is the limit in rules")
    result = a**b
    if isinstance(result, complex):
        raise UnknownValue("not a real number")
    return bounded(result)


BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": add,
    "-": lambda a, b: a - b,
    "*": multiply,
    "/": lambda a, b: a / b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "**": _power,
}


_KNOWN = frozenset((int, str, bool, float, type(None), Symbol))


def equal(a: Any, b: Any) -> bool:
    """Equality: floats after rounding to float32, unknown dimensions raise, tuples item by item (false beats unknown)."""
    if type(a) is tuple and type(b) is tuple and a == b and _KNOWN.issuperset(map(type, a)):
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
        if a == b:
            return True
        if isinstance(a, (int, float)) and isinstance(b, (int, float)):
            return round_float32(float(a)) == round_float32(float(b))
        return False
    if hasattr(a, "ndim") or hasattr(b, "ndim"):
        import numpy

        return bool(numpy.array_equal(a, b))
    return bool(a == b)


def contains(item: Any, sequence: Any) -> bool:
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
    """A number out of an array as Python's: half precision is not compared by rounding the other side to it."""
    return a.item() if getattr(a, "ndim", None) == 0 else a


COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": equal,
    "!=": lambda a, b: not equal(a, b),
    "<": lambda a, b: bool(_exact(a) < _exact(b)),
    "<=": lambda a, b: bool(_exact(a) <= _exact(b)),
    ">": lambda a, b: bool(_exact(a) > _exact(b)),
    ">=": lambda a, b: bool(_exact(a) >= _exact(b)),
    "in": contains,
    "not in": lambda a, b: not contains(a, b),
}
