"""Whether the two sides of one instance compute the same: over a prime field, then in floating point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gslang.dialect.dialect import Dialect
from gslang.evaluate.agree import compare_values
from gslang.evaluate.random_inputs import random_inputs
from gslang.evaluate.run import EvaluationError, evaluate
from gslang.graph.graph import CONST, Graph
from gslang.verify.field import DEGREE, PRIME, NoField, evaluate_in_field, random_residues

POINTS = 3
BOUND = (DEGREE / PRIME) ** POINTS  # 7e-18: the chance that sides which differ agree at all points


@dataclass(frozen=True, slots=True)
class Finding:
    """`field`: True equal, False different, None not computable (`field_reason`). `numbers`: likewise in floating point.

    `certain`: the field's answer does not hang on a function that was taken as unknown. `special`: only NaN or infinities
    differ. `inputs` and `max_abs` belong to a difference in floating point.
    """

    field: bool | None
    field_reason: str
    certain: bool
    numbers: bool | None
    number_reason: str
    special: bool = False
    max_abs: float = 0.0
    inputs: dict[str, Any] | None = None


def compare(before: Graph, after: Graph, dialect: Dialect, rtol: float | None, seed: int) -> Finding:
    field, field_reason, certain = _in_field(before, after, dialect, seed)
    numbers: bool | None = True
    reason, special, worst, failing = "", False, 0.0, None
    for kind in ("normal", "positive", "spread"):
        try:
            inputs = _inputs(before, seed, kind)
            with np.errstate(all="ignore"):
                agreement = compare_values(evaluate(before, dialect, inputs), evaluate(after, dialect, inputs), rtol)
        except EvaluationError as error:
            if kind == "normal":
                numbers, reason = None, str(error)
            break
        if agreement.equal:
            continue
        if "NaN" in agreement.reason:
            special = True
            continue
        numbers, reason, worst, failing = False, agreement.reason, agreement.max_abs, inputs
        break
    return Finding(field, field_reason, certain, numbers, reason, special, worst, failing)


def can_be_computed(graph: Graph, dialect: Dialect, seed: int) -> bool:
    """Whether the graph means something: type inference lets some graphs pass that no evaluator would."""
    try:
        evaluate(graph, dialect, random_inputs(graph, seed))
    except EvaluationError as error:
        return "no evaluator" in str(error)
    return True


def _inputs(graph: Graph, seed: int, kind: str) -> dict[str, Any]:
    """Random values: normal; between a half and two; or normal, times eight (so that clips and saturations show)."""
    values = random_inputs(graph, seed)
    if kind == "normal":
        return values
    changed = {}
    for name, value in values.items():
        if value.dtype.kind != "f":
            changed[name] = value
        elif kind == "positive":
            changed[name] = (0.5 + np.abs(value) % 1.5).astype(value.dtype)
        else:
            changed[name] = (value * 8).astype(value.dtype)
    return changed


def _in_field(before: Graph, after: Graph, dialect: Dialect, seed: int) -> tuple[bool | None, str, bool]:
    unknown: set[str] = set()
    if any(getattr(type_, "dtype", None) in ("float16", "float64", "bfloat16") for type_ in before.types):
        return None, "constants are rounded to another type than attributes", False
    try:
        for point in range(POINTS):
            inputs = random_residues(before, np.random.default_rng([seed, point]))
            left, right = evaluate_in_field(before, dialect, inputs), evaluate_in_field(after, dialect, inputs)
            unknown |= left.uninterpreted | right.uninterpreted
            if not _equal(left.outputs, right.outputs):
                inexact = any(_has_fraction(graph) for graph in (before, after))
                return False, "the sides differ over a prime field", not unknown and not inexact
    except NoField as error:
        return None, str(error), False
    return True, ", ".join(sorted(unknown)), True


def _has_fraction(graph: Graph) -> bool:
    """Whether a constant has a value that rounding may have touched."""
    for node in graph.nodes():
        if graph.op[node] is CONST:
            value = np.asarray(graph.value(node))
            if value.dtype.kind == "f" and not np.array_equal(value, np.round(value * 16) / 16):
                return True
    return False


def _equal(left: Any, right: Any) -> bool:
    if isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(_equal(a, b) for a, b in zip(left, right))
    return left.shape == right.shape and np.array_equal(left % PRIME, right % PRIME)
