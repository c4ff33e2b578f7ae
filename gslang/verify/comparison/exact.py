"""Comparison of the two sides of one instance over a prime field, at random points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gslang.base.arrays import Array
from gslang.base.quick_dataclass import dataclass
from gslang.dialect.dialect import Dialect
from gslang.evaluate.bfloat16 import converted
from gslang.evaluate.errors import EvaluationError
from gslang.graph.graph import CONST, INPUT, PARAM, Graph
from gslang.verify.comparison.defined import Domain, domain_of, moved_inside, undefined_elements
from gslang.verify.comparison.expand import CannotExpand, expanded
from gslang.verify.field.call import Meaning
from gslang.verify.field.dual import Dual, quotients, rounds_root
from gslang.verify.field.onnx import EMPTY, evaluate_onnx_in_field
from gslang.verify.field.onnx_attention import AS_FLOATS
from gslang.verify.field.onnx_normalise import LAWS
from gslang.verify.field.onnx_order import COMPUTED
from gslang.verify.field.points import random_point
from gslang.verify.field.relay import DEGREE, depends_on_order, evaluate_in_field
from gslang.verify.field.residues import PRIME, NoField, Undecided
from gslang.verify.thresholds import limits_scores

POINTS = 3
# of the points: numbers below 4, below 64, below a half, so that thresholds lie between them
SCALES = (1 << 28, 1 << 24, 1 << 31)
_SMALL_SCALES = (1 << 28, 1 << 28, 1 << 31)  # where masks say that scores are small
BOUND = (DEGREE / PRIME) ** POINTS  # 7e-18: the chance that sides which differ agree at all points


BY_SIGN = "for the sign patterns sampled"
BY_ROUNDING = "constants rounded to nearby rationals or roots"


@dataclass(frozen=True, slots=True)
class Exactly:
    """`equal`: None where it cannot be told. `reason`: why not, or the unknown functions, separated by `; `.
    `point`: inputs for which the sides differ.

    `certain`: a difference does not come from an unknown function or a rounded constant; equality holds
    without `limits`. `limits`: equality holds for the sign patterns of the points, or for the rationals and
    roots near float constants.
    """

    equal: bool | None
    reason: str
    certain: bool = False
    point: dict[str, Array] | None = None
    limits: tuple[str, ...] = ()


def in_field(before: Graph, after: Graph, dialect: Dialect, seed: int) -> Exactly:
    """True if both graphs compute the same at random points of a prime field."""
    if _rounds(before) or _rounds(after):
        return Exactly(None, "constants are rounded to another type than attributes")
    unknown: set[str] = set()
    try:
        before, after = expanded(before, dialect), expanded(after, dialect)
    except CannotExpand as error:
        return Exactly(None, str(error))
    try:
        point = _difference(before, after, dialect, seed, unknown)
    except NoField as error:
        return Exactly(None, str(error))
    except MemoryError:
        return Exactly(None, "values take too much memory")
    if point is not None:
        certain = not unknown and not any(_has_fraction(graph) for graph in (before, after))
        return Exactly(False, "the sides differ over a prime field", certain, _as_inputs(before, point))
    sides = (before, after)
    by_sign = any(depends_on_order(graph) or _ORDERED & set(graph.op) for graph in sides)
    by_rounding = any(_has_rounded(graph) for graph in sides)
    limits = (*[BY_SIGN] * by_sign, *[BY_ROUNDING] * by_rounding)
    certain = not (AS_FLOATS | {COMPUTED}) & unknown and not limits
    return Exactly(True, "; ".join(sorted(unknown)), certain, None, limits)


def _as_inputs(graph: Graph, point: Mapping[str, Any]) -> dict[str, Array]:
    """A point as values of the graph's inputs, rounded to their types."""
    types = {
        str(graph.names[node]): graph.types[node]
        for node in graph.nodes() if graph.op[node] in (INPUT, PARAM)
    }
    return {
        name: converted(np.asarray(value.real), str(getattr(types[name], "dtype", "float32")))
        if isinstance(value, Dual)
        else value
        for name, value in point.items()
    }


_ORDERED = frozenset({
    "Relu", "Clip", "Max", "Min", "MaxPool", "GlobalMaxPool", "ReduceMax", "ReduceMin", "ReduceL1", "Abs",
    "LeakyRelu", "PRelu", "HardSigmoid", "HardSwish", "com.microsoft.FusedConv", "Less", "LessOrEqual",
    "Greater", "GreaterOrEqual", "Equal", "ArgMax", "ArgMin", "Round", "Floor", "Ceil", "Sign", "Cast",
    "CastLike", "Mod", "TopK", "Hardmax", "ThresholdedRelu", "Shrink", "QuantizeLinear",
})


def _difference(
    before: Graph, after: Graph, dialect: Dialect, seed: int, unknown: set[str]
) -> dict[str, object] | None:
    """A point where the sides differ, None if they are equal at all. Raises `NoField`."""
    if dialect.name == "onnx":
        try:
            different = _onnx_at_points(before, after, dialect, seed, unknown, False)
            if different is not None and LAWS.keys() & set(before.op) | LAWS.keys() & set(after.op):
                found: set[str] = set()
                if _onnx_at_points(before, after, dialect, seed, found, False, LAWS) is None:
                    unknown |= found
                    return None
            return different
        except Undecided:
            return _onnx_at_points(before, after, dialect, seed, unknown, True)
    if depends_on_order(before) or depends_on_order(after):
        for positive in (False, True):
            found = set()
            try:
                different = _relay_at_points(before, after, dialect, seed, found, positive, True)
            except NoField:
                continue  # too close, or no real number: other points, or unknown functions instead
            unknown |= found
            return different
    return _relay_at_points(before, after, dialect, seed, unknown, False, False)


def _relay_at_points(
    before: Graph, after: Graph, dialect: Dialect, seed: int, unknown: set[str], positive: bool, order: bool
) -> dict[str, object] | None:
    def outputs(graph: Graph, point: dict[str, object]) -> list[Any]:
        return evaluate_in_field(graph, dialect, point, unknown, order)

    return _at_points(before, after, domain_of(before, dialect, seed), positive, outputs)


def _onnx_at_points(
    before: Graph,
    after: Graph,
    dialect: Dialect,
    seed: int,
    unknown: set[str],
    positive: bool,
    laws: Mapping[str, Meaning] = EMPTY,
) -> dict[str, object] | None:
    def outputs(graph: Graph, point: dict[str, object]) -> list[Any]:
        return evaluate_onnx_in_field(graph, point, unknown, dialect.get, laws)

    return _at_points(before, after, domain_of(before, dialect, seed), positive, outputs)


def _at_points(
    before: Graph,
    after: Graph,
    domain: Domain,
    positive: bool,
    outputs: Callable[[Graph, dict[str, object]], list[Any]],
) -> dict[str, object] | None:
    scales = _SMALL_SCALES if limits_scores(before) else SCALES
    for number, scale in enumerate(scales):
        point = random_point(before, np.random.default_rng([domain.seed, number]), positive, scale)
        if domain.calls:
            point = _moved(point, domain)
        if not _equal(outputs(before, point), outputs(after, point)):
            return point
    return None


def _moved(point: dict[str, object], domain: Domain) -> dict[str, object]:
    """A point with other whole numbers where the source is not defined. Raises `NoField` if there are none.
    """
    given = _as_inputs(domain.graph, point)
    try:
        inputs = moved_inside(domain, given)
        undefined, _ = undefined_elements(domain, inputs)
    except EvaluationError as error:
        raise NoField(str(error)) from error
    if undefined:
        raise NoField(f"the source is not defined for {undefined[0].text}")
    return {name: value if inputs[name] is given[name] else inputs[name] for name, value in point.items()}


def _rounds(graph: Graph) -> bool:
    """True if numbers are rounded to another type than float32, as which attributes are taken."""
    if graph.dialect != "onnx":
        return any(
            getattr(type_, "dtype", None) in ("float16", "float64", "bfloat16") for type_ in graph.types
        )
    for node in graph.nodes():
        if graph.op[node] is CONST:
            value = np.asarray(graph.value(node))
            if (
                value.dtype.kind == "f" and value.dtype.name != "float32"
                and not np.array_equal(value, np.round(value * 16) / 16)
            ):
                return True
    return False


def _has_rounded(graph: Graph) -> bool:
    """True if a float is taken for a number that it only comes near (`dual.constant`)."""
    if graph.dialect != "onnx":
        return False
    floats = [np.asarray(graph.value(node)) for node in graph.nodes() if graph.op[node] is CONST]
    floats += [np.float32(v) for attrs in graph.attrs for v in (attrs or {}).values() if isinstance(v, float)]
    reals = [value.astype(np.float64) for value in floats if value.dtype.kind == "f"]
    return any(bool((quotients(real)[1] > 1).any()) or bool(rounds_root(real).any()) for real in reals)


def _has_fraction(graph: Graph) -> bool:
    """True if a constant or an attribute has a value that rounding may have touched."""
    for attrs in graph.attrs:
        if any(isinstance(v, float) and v * 16 % 1 != 0 for v in (attrs or {}).values()):
            return True
    for node in graph.nodes():
        if graph.op[node] is CONST:
            value = np.asarray(graph.value(node))
            if value.dtype.kind == "f" and not np.array_equal(value, np.round(value * 16) / 16):
                return True
    return False


def _equal(left: Any, right: Any) -> bool:
    if isinstance(left, (list, tuple)):
        return (
            isinstance(right, (list, tuple)) and len(left) == len(right)
            and all(_equal(a, b) for a, b in zip(left, right))
        )
    if isinstance(left, Dual) or isinstance(right, Dual):
        return (
            isinstance(left, Dual) and isinstance(right, Dual) and left.shape == right.shape
            and np.array_equal(left.residue, right.residue)
        )
    if np.asarray(left).dtype.kind == "b" or np.asarray(right).dtype.kind == "b":
        return bool(np.array_equal(left, right))
    if np.asarray(left).dtype == np.int64 and np.asarray(right).dtype == np.int64:
        left, right = left % PRIME, right % PRIME
    return bool(np.shape(left) == np.shape(right) and np.array_equal(left, right))
