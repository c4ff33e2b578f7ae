"""Tests of a node's attributes, shape, dtype or value against what the source demands."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from gslang.base.arrays import Array
from gslang.check import checked as ir
from gslang.dialect.tensor_type import UNKNOWN
from gslang.engine.bodies import computes
from gslang.engine.scope import Scope, evaluate
from gslang.engine.values import FAILURES, call_attribute, constant_of, equal, read_attribute, truth
from gslang.graph.inner_graph import inner_graph
from gslang.graph.scalar import Scalar, as_element


def satisfied(
    constraint: ir.Constraint | ir.SameAttributes, node: ir.Pattern, slot: int, scope: Scope
) -> bool:
    """True only if the constraint on `node`, which matched graph node `slot`, is known to hold."""
    if node.block is not None or scope.current is None:
        return _satisfied(constraint, node, slot, scope)
    # it was reached through an instance, but is the whole match's, with its captures
    within, scope.current = scope.current, None
    try:
        return _satisfied(constraint, node, slot, scope)
    finally:
        scope.current = within


def _satisfied(
    constraint: ir.Constraint | ir.SameAttributes, node: ir.Pattern, slot: int, scope: Scope
) -> bool:
    try:
        if isinstance(constraint, ir.SameAttributes):
            other = scope.slot(constraint.place, constraint.node)
            return other >= 0 and same_attributes(scope, slot, other, constraint.without)
        return passes(constraint.test, tested(constraint, node, slot, scope), scope)
    except FAILURES:
        return False


def tested(constraint: ir.Constraint, node: ir.Pattern, slot: int, scope: Scope) -> Any:
    """The thing that a constraint on pattern node `node` is about: an attribute or fact of the graph node at
    `slot`, a key of its elements, a body. Raises what fails.
    """
    graph, dialect, field = scope.graph, scope.rule.dialect, constraint.field
    if isinstance(constraint.test, ir.Computes):
        return inner_graph(graph, slot, field)
    if isinstance(node, ir.CallNode):
        return call_attribute(graph, dialect, slot, field)
    if field == "value":
        return constant_of(graph, slot)
    return read_attribute(graph, dialect, slot, field)


def same_attributes(scope: Scope, a: int, b: int, without: tuple[str, ...] = ()) -> bool:
    """True if two calls have equal attributes, completed with defaults."""
    graph, operators = scope.graph, scope.rule.dialect.operators
    sides = []
    for node in (a, b):
        signature = operators.get(graph.op[node])
        given = graph.attrs[node]
        sides.append(signature.complete(given) if signature else dict(given))
    left, right = sides
    return all(
        name in left and name in right and equal(left[name], right[name])
        for name in {**left, **right}
        if name not in without
    )


def kind_fits(kind: str, op: str) -> bool:
    """True if a graph node with this `op` is of a leaf pattern's kind."""
    return kind == "any" or op in ir.OF_KIND[kind]


def passes(test: ir.Test, found: Any, scope: Scope) -> bool:
    """True if a value that was found passes. Unknowns raise; captures are made on the way."""
    match test:
        case ir.Anything():
            return True
        case ir.Equals(value):
            return equal(found, evaluate(value, scope))
        case ir.ConstantEquals(value):
            return equals_elements(found, evaluate(value, scope))
        case ir.SplatEquals(value):
            return found.size > 0 and equals_rounded(found, evaluate(value, scope))
        case ir.Capture(number, inner):
            scope.bind(number, found)
            return passes(inner, found, scope)
        case ir.OneOf(tests):
            return _one_of(tests, found, scope)
        case ir.TupleTest():
            return isinstance(found, tuple) and test.fits(len(found)) and all(
                passes(inner, found[at], scope) for at, inner in zip(test.places, test.items)
            )
        case ir.EachItem(inner, local, minimum, maximum):
            if (
                not isinstance(found, tuple) or len(found) < minimum
                or (maximum is not None and len(found) > maximum)
            ):
                return False
            for index, item in enumerate(found):
                scope.locals[local] = index
                if not passes(inner, item, scope):
                    return False
            return True
        case ir.IfTest(condition, then, otherwise):
            return passes(then if truth(evaluate(condition, scope)) else otherwise, found, scope)
        case ir.SelectTest(place, node, arms):
            arm = arms[scope.branch(place, node)]
            return arm is not None and passes(arm, found, scope)
        case ir.Computes():
            return computes(found, test, scope, passes)
    raise AssertionError(f"unknown test {test!r}: this is a bug in gslang")


def _one_of(tests: tuple[ir.Test, ...], found: object, scope: Scope) -> bool:
    for test in tests:
        try:
            if passes(test, found, scope):
                return True
        except FAILURES:
            continue  # unknown or false: in the end only true passes
    return False


_element = lru_cache(maxsize=4096)(as_element)  # the few numbers of the rules, at each constant of a graph
_ROUNDED: dict[tuple[int | float, object], object] = {}


def _rounded(value: int | float, dtype: Any) -> Any:
    """A number as an element of this dtype has it; None where no element equals it."""
    import numpy

    if dtype.kind == "b":
        return None
    if dtype.kind in "iu":
        return int(value) if value - value == 0 and int(value) == value else None
    with numpy.errstate(all="ignore"):
        return numpy.asarray(value, dtype=dtype).item()


def equals_elements(array: Array, value: object) -> bool:
    """A constant of one element that equals a number, or of as many as a tuple has, along one axis."""
    return (array.size == 1 or type(value) is tuple) and equals_rounded(array, value)


def equals_rounded(array: Array, value: Any) -> bool:
    """All elements equal `value` rounded to the array's dtype. A fraction never equals an integer."""
    if type(array) is Scalar:
        if type(value) is float or type(value) is int:
            return array.number == _element(value, array.dtype_name)
        array = array.load()
    if array.size == 1 and (type(value) is float or type(value) is int):
        key = (value, array.dtype)
        if key not in _ROUNDED:
            if len(_ROUNDED) > 4096:
                _ROUNDED.clear()
            _ROUNDED[key] = _rounded(value, array.dtype)
        return bool(array.item() == _ROUNDED[key])
    import numpy

    if value is None or value is UNKNOWN or isinstance(value, str):
        return False
    kind = array.dtype.kind
    if isinstance(value, tuple) or hasattr(value, "ndim"):
        given = numpy.asarray(value)
        with numpy.errstate(all="ignore"):
            rounded = given.astype(array.dtype)
        if kind == "b" and given.size and given.dtype.kind != "b":
            return False
        if kind in "iu" and (rounded != given).any():  # a fraction, or a number beyond the dtype
            return False
        return numpy.array_equal(array, rounded)
    if kind == "b":
        return isinstance(value, bool) and bool((array == value).all())
    if kind in "iu":
        if value != value or value in (float("inf"), float("-inf")) or int(value) != value:
            return False
        return bool((array == int(value)).all())
    with numpy.errstate(all="ignore"):
        return bool((array == numpy.asarray(value, dtype=array.dtype)).all())
