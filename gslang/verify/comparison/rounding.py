"""Differences that rounding explains: they go away where all floats are taken as float64."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gslang.base.arrays import Array
from gslang.dialect.dialect import Dialect
from gslang.evaluate.agree import Agreement, compare_values, flat
from gslang.evaluate.errors import EvaluationError
from gslang.graph.graph import CONST, Graph
from gslang.verify.comparison.bounded import evaluate
from gslang.verify.thresholds import rounds_alike

_WIDE_TOLERANCE = 1e-6  # relative: what constants of type float32 may differ by
_EXACT_TOLERANCE = 1e-9  # the same of float64
_HALF_TOLERANCE = 2e-3  # the same of half precision
_OF_CONSTANTS = 1.2e-3  # the same where only constants are rounded to it: two of them
_BESIDE = 1e-5  # relative: farther from a constant of type float32 than what it is rounded from


def where_finite(left: list[Array], right: list[Array]) -> tuple[list[Array], list[Array]]:
    """Both sides' results, with 0 where one of them is infinite or NaN."""
    sides: tuple[list[Array], list[Array]] = [], []
    for a, b in zip(flat(left), flat(right)):
        both_floats = a.shape == b.shape and a.dtype.kind == b.dtype.kind == "f"
        finite = np.isfinite(a) & np.isfinite(b) if both_floats else None
        for side, value in zip(sides, (a, b)):
            side.append(value if finite is None else np.where(finite, value, value.dtype.type(0)))
    return sides


def lost(before: Graph, after: Graph, dialect: Dialect, inputs: dict[str, Array]) -> str:
    """The words for a target that is infinite or NaN where the source is a number, also where all floats are
    taken as float64; of float64 itself, which has no wider type, denormal numbers are 0 then.

    Where an infinite constant is written, infinities of the source are meant: the target has to have them.
    """
    reason = ""
    is_meant = any(_is_infinite(constant) for graph in (before, after) for constant in graph.values.values())
    doubles = {name for name, value in inputs.items() if value.dtype == np.float64}
    wide = flushed({name: inputs[name] for name in doubles}) | {
        name: value.astype(np.float64) if value.dtype.kind == "f" else value
        for name, value in inputs.items() if name not in doubles
    }
    for widened, values in ((False, inputs), (True, wide)):
        try:
            with np.errstate(all="ignore"):
                left, right = (
                    flat(evaluate(_widened(graph, True) if widened else graph, dialect, values))
                    for graph in (before, after)
                )
        except EvaluationError:
            return ""
        pairs = [
            (a, b) for a, b in zip(left, right) if a.shape == b.shape and a.dtype.kind == b.dtype.kind == "f"
        ]
        if any((np.isfinite(a) & ~np.isfinite(b)).any() for a, b in pairs):
            reason = "the target is not finite where the source is"
        elif is_meant and any((np.isinf(a) & (a != b)).any() for a, b in pairs):
            reason = "the target is not infinite where the source is"
        else:
            return ""
    return reason


def _is_infinite(constant: object) -> bool:
    """True of an array of infinities only, as rules write them, unlike those that are drawn."""
    array = np.asarray(constant)
    return array.dtype.kind == "f" and array.size > 0 and bool(np.isinf(array).all())


def apart_in_float64(
    before: Graph, after: Graph, dialect: Dialect, inputs: dict[str, Array]
) -> Agreement | None:
    """The difference of sides that agree as far as their types show, and that rounding does not explain: as
    of 1 / 6 and 0.16667. None where there is none.
    """
    tolerance = _tolerance(before, after)
    if tolerance == _HALF_TOLERANCE:
        if any(map(_computes_in_half, (before, after))):
            return None
        tolerance = _OF_CONSTANTS
    try:
        sides = _in_float64(before, after, dialect, inputs, conversions=True)
    except EvaluationError:
        return None
    # a conversion that a side writes down keeps its type
    left, right = [
        [value.astype(np.float64) if value.dtype.kind == "f" else value for value in flat(side)]
        for side in sides
    ]
    found = compare_values(left, right, tolerance)
    return None if found.equal else found


def _computes_in_half(graph: Graph) -> bool:
    """True if an attribute says that a result, which is no conversion, has half precision, whatever the
    operands have."""
    return any(
        value in ("float16", "bfloat16")
        for node in graph.nodes() if graph.is_call(node) and graph.op[node] not in _TARGETS
        for value in (graph.attrs[node] or {}).values() if isinstance(value, str)
    )


def _tolerance(before: Graph, after: Graph) -> float:
    """Relative: what results in float64 may differ by, since constants were rounded to a narrower type,
    results of half precision are, or some operators compute in float32 whatever they are given.
    """
    rounded = {
        getattr(graph.types[node], "dtype", None)
        for graph in (before, after)
        for node in graph.nodes() if graph.op[node] is CONST or node in graph.outputs
    }
    if not rounded.isdisjoint({"float16", "bfloat16"}):
        return _HALF_TOLERANCE
    called = {graph.op[node] for graph in (before, after) for node in graph.nodes() if graph.is_call(node)}
    exact = "float32" not in rounded and called <= _EXACT
    return _EXACT_TOLERANCE if exact else _WIDE_TOLERANCE


# operators that compute in the type of their operands
_EXACT = frozenset(
    "Add Sub Mul Div Neg Abs Max Min Relu Sqrt Cast CastLike Identity Where Reciprocal add subtract multiply "
    "divide negative abs maximum minimum nn.relu sqrt cast cast_like copy where".split()
)


def _in_float64(
    before: Graph, after: Graph, dialect: Dialect, inputs: dict[str, Array], conversions: bool = False
) -> tuple[list[Array], list[Array]]:
    """The results of both sides with all floats taken as float64, and `conversions` to wider types as those
    to it. Raises `EvaluationError`.
    """
    wide = {
        name: value.astype(np.float64) if value.dtype.kind == "f" else value for name, value in inputs.items()
    }
    with np.errstate(all="ignore"):
        left, right = (
            evaluate(_widened(graph, conversions), dialect, wide) for graph in (before, after)
        )
        return left, right


def is_rounding(
    before: Graph, after: Graph, dialect: Dialect, inputs: dict[str, Array], rtol: float | None,
    finite_only: bool = False,
) -> bool:  # fmt: skip
    """True if a difference goes away when all floats are taken as float64: then the sides differ in rounding
    only. `finite_only`: infinite and NaN results do not count.

    Constants stay what they were rounded to, so differences of a float32's size are let pass, and of half
    precision where a constant or a result is of that type. A conversion that the rule writes down is no
    rounding: it stays one.
    """
    try:
        left, right = _in_float64(before, after, dialect, inputs)
    except EvaluationError:
        return False
    tolerance = _tolerance(before, after)
    if finite_only:
        left, right = where_finite(left, right)
    return compare_values(
        left, right, tolerance if rtol is None or tolerance == _HALF_TOLERANCE else rtol
    ).equal


def is_at_threshold(
    before: Graph, after: Graph, dialect: Dialect, inputs: dict[str, Array], rtol: float | None
) -> bool:
    """True if a difference goes away for numbers that are a little larger, and for those a little smaller,
    where the sides have constants that are rounded otherwise: then it is one of the place of a threshold,
    such as √2 and numbers whose square is 2.
    """
    return not rounds_alike(before, after) and all(
        is_rounding(
            before, after, dialect,
            {
                name: value.astype(np.float64) * (1 + step) if value.dtype.kind == "f" else value
                for name, value in inputs.items()
            },
            rtol, finite_only=True,
        )
        for step in (_BESIDE, -_BESIDE)
    )  # fmt: skip


def flushed(inputs: dict[str, Array]) -> dict[str, Array]:
    """The inputs with zeros for denormal numbers."""
    return {
        name: np.where(np.abs(value) < np.finfo(value.dtype).tiny, value.dtype.type(0), value)
        if value.dtype.name in ("float16", "float32", "float64") else value
        for name, value in inputs.items()
    }


# type of floats → types whose numbers it holds exactly
_BYTES = frozenset({"bool", "int8", "uint8"})
_HELD: Mapping[str, frozenset[str]] = {
    "float16": _BYTES, "bfloat16": _BYTES,
    "float32": _BYTES | {"int16", "uint16", "float16", "bfloat16"},
}
_TARGETS = {"Cast": "to", "cast": "dtype"}  # the attribute with the type that is converted to


def _widened(graph: Graph, conversions: bool = False) -> Graph:
    """The graph with constants of float64, and `conversions` to it for those that are exact."""
    wide = graph.copy()
    for node in graph.nodes() if conversions else ():
        name = _TARGETS.get(graph.op[node])
        held = _HELD.get(str(graph.attrs[node].get(name)), frozenset()) if name is not None else frozenset()
        if name is not None and getattr(graph.types[graph.operands[node][0]], "dtype", None) in held:
            wide.attrs[node] = {**graph.attrs[node], name: "float64"}
    for node in graph.values:
        value = graph.value(node)
        if value is not None and value.dtype.kind == "f":
            wide.values[node] = value.astype(np.float64)
    return wide
