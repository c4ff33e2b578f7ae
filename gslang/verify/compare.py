"""Whether the two sides of one instance compute the same: over a prime field, then in floating point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gslang.dialect.dialect import Dialect
from gslang.evaluate.agree import compare_values
from gslang.evaluate.errors import EvaluationError, NoEvaluatorError
from gslang.evaluate.random_inputs import random_inputs
from gslang.evaluate.run import evaluate
from gslang.graph.graph import Graph
from gslang.verify.exact import in_field

_WIDE_TOLERANCE = 1e-6  # relative: what constants of type float32 may differ by


@dataclass(frozen=True, slots=True)
class Finding:
    """`field`: True equal, False different, None not computable (`field_reason`). `numbers`: likewise in floating point.

    `certain`, `limits`: of the field's answer (`exact.Exactly`). `special`: only NaN or infinities differ. `inputs` and `max_abs`
    belong to a difference in floating point.
    """

    field: bool | None
    field_reason: str
    certain: bool
    numbers: bool | None
    number_reason: str
    special: bool = False
    max_abs: float = 0.0
    inputs: dict[str, Any] | None = None
    limits: tuple[str, ...] = ()


def compare(before: Graph, after: Graph, dialect: Dialect, rtol: float | None, seed: int) -> Finding:
    """What both sides compute, over a prime field and for several kinds of floats. `rtol`: of the rule's `@approximate`."""
    exactly = in_field(before, after, dialect, seed)
    point = exactly.point
    numbers: bool | None = True
    reason, special, worst, failing = "", False, 0.0, None
    for kind in ("normal", "positive", "spread", "zeros", *(["point"] if point is not None else []), "special"):
        try:
            inputs = point if kind == "point" and point is not None else _inputs(before, seed, kind)
            with np.errstate(all="ignore"):
                left = evaluate(before, dialect, inputs)
        except EvaluationError as error:
            if kind == "normal":
                numbers, reason = None, str(error)
            break
        try:
            with np.errstate(all="ignore"):
                agreement = compare_values(left, evaluate(after, dialect, inputs), rtol)
        except EvaluationError as error:
            if kind == "normal":
                known = not isinstance(error, NoEvaluatorError)
                numbers, reason = False if known else None, f"the target cannot be computed where the source can: {error}" if known else str(error)
                failing = inputs
            break
        if agreement.equal:
            continue
        if kind == "special":
            special = True
            continue
        if "NaN" in agreement.reason:
            special = True
            continue
        if _is_rounding(before, after, dialect, inputs, rtol):
            continue
        numbers, reason, worst, failing = False, agreement.reason, agreement.max_abs, inputs
        break
    return Finding(exactly.equal, exactly.reason, exactly.certain, numbers, reason, special, worst, failing, exactly.limits)


def _is_rounding(before: Graph, after: Graph, dialect: Dialect, inputs: dict[str, Any], rtol: float | None) -> bool:
    """Whether a difference goes away when all floats are taken as float64: then the sides differ in rounding only.

    Constants stay what they were rounded to, so differences of a float32's size are let pass.
    """
    wide = {name: value.astype(np.float64) if value.dtype.kind == "f" else value for name, value in inputs.items()}
    try:
        with np.errstate(all="ignore"):
            sides = [evaluate(_widened(graph), dialect, wide) for graph in (before, after)]
    except EvaluationError:
        return False
    return compare_values(sides[0], sides[1], _WIDE_TOLERANCE if rtol is None else rtol).equal


def _widened(graph: Graph) -> Graph:
    wide = graph.copy()
    for node in graph.values:
        value = graph.value(node)
        if value is not None and value.dtype.kind == "f":
            wide.values[node] = value.astype(np.float64)
    return wide


def can_be_computed(graph: Graph, dialect: Dialect, seed: int) -> bool:
    """Whether the graph means something: type inference lets some graphs pass that no evaluator would."""
    try:
        evaluate(graph, dialect, random_inputs(graph, seed))
    except EvaluationError as error:
        return isinstance(error, NoEvaluatorError)
    return True


def _inputs(graph: Graph, seed: int, kind: str) -> dict[str, Any]:
    """Random values: normal; between a half and two; normal, times eight (so that clips and saturations show); with zeros and
    the smallest numbers among them; with infinities and NaN among them."""
    values = random_inputs(graph, seed)
    if kind == "normal":
        return values
    changed = {}
    for name, value in values.items():
        if value.dtype.kind != "f":
            changed[name] = value
        elif kind in ("zeros", "special"):
            changed[name] = _sprinkled(value, seed, kind)
        elif kind == "positive":
            changed[name] = (0.5 + np.abs(value) % 1.5).astype(value.dtype)
        else:
            changed[name] = (value * 8).astype(value.dtype)
    return changed


def _sprinkled(value: Any, seed: int, kind: str) -> Any:
    """Some elements replaced by zeros and denormal numbers, or by infinities and NaN."""
    small = np.finfo(value.dtype).smallest_subnormal if value.dtype.name in ("float16", "float32", "float64") else 0.0
    numbers = (0.0, -0.0, small, -small) if kind == "zeros" else (np.inf, -np.inf, np.nan)
    rng = np.random.default_rng([seed, value.size])
    return np.where(rng.random(value.shape) < 0.2, rng.choice(numbers, value.shape), value).astype(value.dtype)
