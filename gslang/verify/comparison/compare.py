"""Comparison of the two sides of one instance: over a prime field, then in floating point."""

from __future__ import annotations

import numpy as np

from gslang.base.arrays import Array
from gslang.base.quick_dataclass import dataclass
from gslang.dialect.dialect import Dialect
from gslang.dialect.dtypes import is_float, numpy_dtype, numpy_dtype_exists
from gslang.dialect.tensor_type import is_static
from gslang.evaluate.agree import compare_values, flat
from gslang.evaluate.errors import EvaluationError, NoEvaluatorError, TooMuchMemoryError
from gslang.evaluate.random_inputs import random_inputs
from gslang.graph.graph import INPUT, PARAM, Graph
from gslang.verify.comparison.bounded import evaluate
from gslang.verify.comparison.defined import domain_of, moved_inside, without_undefined
from gslang.verify.comparison.exact import in_field
from gslang.verify.comparison.inputs import MANY, Inputs
from gslang.verify.comparison.rounding import (
    apart_in_float64,
    flushed,
    is_at_threshold,
    is_rounding,
    lost,
    where_finite,
)
from gslang.verify.comparison.undefined import undefined_in_target
from gslang.verify.thresholds import inputs_of_scores, limits_scores, thresholds

NOT_COMPUTED = "the target cannot be computed where the source can"  # begins a reason
_TIES_TOLERANCE = 2e-2  # relative, of inputs that are there for the sake of ties: these differ by a lot
_OVERFLOWING = 3  # one in so many instances is also compared for numbers that overflow


@dataclass(frozen=True, slots=True)
class Finding:
    """`field`: True equal, False different, None not computable (`field_reason`). `numbers`: likewise in
    floating point.

    `certain`, `limits`: of the field's answer (`exact.Exactly`). `special`: only NaN or infinities differ.
    `inputs` and `max_abs` belong to a difference in floating point. `rounds`: floats differ, so that it may
    be rounding. `kind`: of inputs that show it. `nothing`: no result has any elements.
    """

    field: bool | None
    field_reason: str
    certain: bool
    numbers: bool | None
    number_reason: str
    special: bool = False
    max_abs: float = 0.0
    inputs: dict[str, Array] | None = None
    limits: tuple[str, ...] = ()
    rounds: bool = True
    kind: str = ""
    nothing: bool = False


def compare(
    before: Graph, after: Graph, dialect: Dialect, rtol: float | None, seed: int, brief: bool = False
) -> Finding:
    """The values of both sides, over a prime field and for several kinds of floats. `rtol`: of the rule's
    `@approximate`; `brief`: floats are looked at less closely where the field is certain that they are equal.
    """
    # Long on purpose: one loop over the kinds of floats, each way on and out of it in its place.
    with np.errstate(all="ignore"):
        exactly = in_field(before, after, dialect, seed)
    point = exactly.point
    numbers: bool | None = True
    reason, special, worst, failing, rounds, shown, nothing = "", False, 0.0, None, True, "", False
    near = thresholds(before, after)
    drawn, domain = Inputs(before, seed, near, _small(before)), domain_of(before, dialect, seed)
    kinds = _kinds(before, seed, bool(near), point is not None)
    try:
        kinds += drawn.of_many
    except EvaluationError as error:  # no values of some type
        return Finding(exactly.equal, exactly.reason, exactly.certain, None, str(error))
    if brief and exactly.equal and exactly.certain:
        kinds = [kind for kind in kinds if kind in _IN_BRIEF]
    for kind in kinds:
        try:
            inputs = point if kind == "point" and point is not None else drawn.of_kind(kind)
            inputs = moved_inside(domain, inputs)
            with np.errstate(all="ignore"):
                left = evaluate(before, dialect, inputs)
        except EvaluationError as error:
            if _may_not_fit(kind):
                continue
            if kind == "normal":
                numbers, reason = None, str(error)
            break
        nothing = not any(value.size for value in flat(left))
        tolerance = _TIES_TOLERANCE if kind == "halves" else rtol
        try:
            with np.errstate(all="ignore"):
                left, right = _typed(before, left), _typed(before, evaluate(after, dialect, inputs))
                left, right, partly = without_undefined(domain, inputs, left, right)
                agreement = compare_values(left, right, tolerance)
        except EvaluationError as error:
            if _may_not_fit(kind) and not (kind == "wide" and drawn.may_lie_outside):
                continue
            if isinstance(error, TooMuchMemoryError):  # of this evaluation, not of the target
                if kind == "normal":
                    numbers, reason = None, str(error)
                    break
                continue
            known = not isinstance(error, NoEvaluatorError)
            numbers, reason = False if known else None, f"{NOT_COMPUTED}: {error}" if known else str(error)
            failing, rounds = inputs, False  # whatever the field makes of it
            break
        if agreement.equal:
            if kind == "normal" and exactly.equal is not True and rtol is None and not partly:
                apart = apart_in_float64(before, after, dialect, inputs)
                if apart is not None:
                    numbers, reason, worst, failing, shown = False, apart.reason, apart.max_abs, inputs, kind
                    break
            continue
        if kind == "overflowing":
            special |= _overflow_apart(left, right)  # other differences are of rounding
            continue
        if kind == "special" and not _asks_for_special(before, after, left):
            special = True
            continue
        if agreement.special:
            if words := lost(before, after, dialect, inputs):
                numbers, reason, worst, failing, rounds = False, words, float("inf"), inputs, False
                break
            special = True
            left, right = where_finite(left, right)
            agreement = compare_values(left, right, tolerance)
            if agreement.equal or is_rounding(before, after, dialect, inputs, rtol, finite_only=True):
                continue
        if is_rounding(before, after, dialect, inputs, rtol):
            continue
        if (
            kind == "zeros" and exactly.equal is not False
            and is_rounding(before, after, dialect, flushed(inputs), rtol)
        ):
            continue  # next to any other number the smallest ones are nothing, also in float64
        if exactly.equal is not False and is_at_threshold(before, after, dialect, inputs, rtol):
            continue
        numbers, reason, worst, failing, shown = False, agreement.reason, agreement.max_abs, inputs, kind
        counts_only = kind == "wide" and not drawn.has_free_integers  # other positions are no rounding
        rounds = not counts_only and all(value.dtype.kind == "f" for value in flat(left))
        break
    if numbers is not False and (undefined := undefined_in_target(before, after, dialect, drawn)) is not None:
        numbers, (reason, failing), rounds = False, undefined, False
    return Finding(
        exactly.equal, exactly.reason, exactly.certain, numbers, reason, special, worst, failing,
        exactly.limits, rounds, shown, nothing,
    )


def _asks_for_special(before: Graph, after: Graph, results: object) -> bool:
    """True if the results are about infinities and NaN, and so no side effect of them."""
    asked = not ASK_FOR_SPECIAL.isdisjoint((*before.op, *after.op))
    return asked and all(value.dtype.kind == "b" for value in flat(results))


def _overflow_apart(left: object, right: object) -> bool:
    """True if a number of one side is infinite or NaN on the other: which of the two it is there depends on
    how a machine adds."""
    return any(
        a.shape == b.shape and a.dtype.kind == b.dtype.kind == "f"
        and bool((np.isfinite(a) != np.isfinite(b)).any())
        for a, b in zip(flat(left), flat(right))
    )


def refutes(finding: Finding, special: bool = False) -> str:
    """Why an instance refutes its rule; empty if it does not."""
    if finding.numbers is False and not (finding.field is True and finding.certain and finding.rounds):
        reason = finding.number_reason
        return reason if reason.startswith("the target ") else f"the sides compute different values: {reason}"
    if special and finding.special:
        return "the sides differ in NaN or infinities"
    if finding.numbers is None and finding.field is False and finding.certain:
        return finding.field_reason
    return ""


def agree_at_a_glance(before: Graph, after: Graph, dialect: Dialect, rtol: float | None, seed: int) -> bool:
    """True if both sides are equal for one input, another one of whole numbers, a few where they count many:
    enough where others were compared in full."""
    drawn = Inputs(before, seed, thresholds(before, after), _small(before))
    try:
        kinds = [*_kinds_at_a_glance(before), *drawn.of_many]
    except EvaluationError:  # no values of some type
        return False
    for kind in kinds:
        try:
            inputs = drawn.of_kind(kind)
            with np.errstate(all="ignore"):
                left = evaluate(before, dialect, inputs)
        except EvaluationError:
            if kind == "normal":
                return False
            continue
        try:
            with np.errstate(all="ignore"):
                right = evaluate(after, dialect, inputs)
        except EvaluationError:
            return False
        if not compare_values(_typed(before, left), _typed(before, right), rtol).equal:
            return False
    return True


def _small(graph: Graph) -> frozenset[str]:
    """The inputs that are not large, so that a low number hides scores."""
    return inputs_of_scores(graph) if limits_scores(graph) else frozenset()


def _kinds_at_a_glance(graph: Graph) -> list[str]:
    leaves = [graph.types[node] for node in graph.nodes() if graph.op[node] in (INPUT, PARAM)]
    whole = any(str(getattr(type_, "dtype", None)).startswith(("int", "uint")) for type_ in leaves)
    return ["normal", "wide"] if whole else ["normal"]


# operators that are about infinities and NaN
ASK_FOR_SPECIAL = frozenset({"IsInf", "IsNaN", "isinf", "isnan", "isfinite"})


# numbers that are equal in the field may still be NaN on one side, or overflow if they are whole
_IN_BRIEF = frozenset({"normal", "zeros", "wide"})


def _may_not_fit(kind: str) -> bool:
    """True of inputs with integers that an operator may not take: the others are compared then."""
    return kind in ("near", "far", "wide", "colliding", "overflowing") or kind.startswith(MANY)


def _kinds(graph: Graph, seed: int, has_thresholds: bool, has_point: bool) -> list[str]:
    """The kinds of numbers to compare with (`Inputs`), and the point of the prime field; without those that
    change no input of the graph."""
    leaves = [graph.types[node] for node in graph.nodes() if graph.op[node] in (INPUT, PARAM)]
    dtypes = [str(getattr(type_, "dtype", None)) for type_ in leaves]
    floats, whole = any(map(is_float, dtypes)), any(dtype.startswith(("int", "uint")) for dtype in dtypes)
    names = {str(graph.names[node]) for node in graph.nodes() if graph.op[node] in (INPUT, PARAM)}
    small = names <= _small(graph)
    far = [] if small else ["near", "far"] if has_thresholds else ["far"]
    return [
        "normal",
        *(["positive"] if floats or "bool" in dtypes else []),
        *([*([] if small else ["spread"]), "zeros", "halves"] if floats else []),
        *(far if floats or whole else []),
        *(["wide", "colliding"] if whole else []),
        *(["point"] if has_point else []),
        *(["special"] if floats else []),
        *(["overflowing"] if floats and not small and seed % _OVERFLOWING == 0 else []),
    ]


def _typed(graph: Graph, outputs: list[Array]) -> list[Array]:
    """Outputs in the element types that the graph states: some implementations widen whole numbers."""
    result = []
    for node, value in zip(graph.outputs, outputs):
        dtype = getattr(graph.types[node], "dtype", None)
        stated = numpy_dtype(dtype) if dtype is not None and numpy_dtype_exists(dtype) else None
        both_whole = (
            stated is not None and isinstance(value, np.ndarray) and value.dtype.kind in "iu"
            and stated.kind in "iu"
        )
        result.append(value.astype(stated) if both_whole else value)
    return result


def fits_its_types(graph: Graph, dialect: Dialect, seed: int) -> bool:
    """True if results have the shapes that type inference foretells: it does not look at what some operators
    do not take."""
    try:
        values = evaluate(graph, dialect, random_inputs(graph, seed))
    except EvaluationError:
        return False
    for value, node in zip(values, graph.outputs):
        shape = getattr(graph.types[node], "shape", None)
        if shape is not None and isinstance(value, np.ndarray) and is_static(shape) and value.shape != shape:
            return False
    return True


def can_be_computed(graph: Graph, dialect: Dialect, seed: int) -> bool:
    """True if the graph means something: type inference lets some graphs pass that no evaluator would."""
    return not why_not_computed(graph, dialect, seed)


def why_not_computed(graph: Graph, dialect: Dialect, seed: int) -> str:
    """Why a graph means nothing; empty if it does, also where an operator has no evaluator."""
    try:
        evaluate(graph, dialect, random_inputs(graph, seed))
    except NoEvaluatorError:
        return ""
    except EvaluationError as error:
        return str(error)
    return ""
