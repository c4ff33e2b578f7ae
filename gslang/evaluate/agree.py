"""Comparison of the numbers of two runs."""

from __future__ import annotations

import numpy as np

from gslang.base.arrays import Array
from gslang.base.quick_dataclass import dataclass

_TOLERANCE = {"float16": 2e-2, "float32": 1e-4, "float64": 1e-9}


@dataclass(frozen=True, slots=True)
class Agreement:
    """`max_abs`, `max_rel`: the largest differences; `max_rel` is relative to the largest magnitude of the
    output. `special`: one output is not finite where the other one is.
    """

    equal: bool
    max_abs: float
    max_rel: float
    reason: str = ""
    special: bool = False


def compare_values(before: object, after: object, rtol: float | None = None) -> Agreement:
    """Compare two lists of outputs (arrays or tuples of them), NaNs equal. `rtol` None: by dtype."""
    left, right = flat(before), flat(after)
    if len(left) != len(right):
        return Agreement(False, float("inf"), float("inf"), f"{len(left)} arrays against {len(right)}")
    worst_abs = worst_rel = 0.0
    equal, reason = True, ""
    for k, (a, b) in enumerate(zip(left, right)):
        if a.shape != b.shape or a.dtype != b.dtype:
            return Agreement(
                False, float("inf"), float("inf"),
                f"array {k}: {a.dtype}{list(a.shape)} against {b.dtype}{list(b.shape)}",
            )
        if a.dtype.kind not in "fc":
            if not np.array_equal(a, b):
                gap = float(np.max(np.abs(a.astype(np.float64) - b.astype(np.float64))))
                equal, worst_abs, reason = False, max(worst_abs, gap), f"array {k} differs"
            continue
        x, y = a.astype(np.float64), b.astype(np.float64)
        special = ~(np.isfinite(x) & np.isfinite(y))
        if special.any() and not np.array_equal(x[special], y[special], equal_nan=True):
            return Agreement(False, float("inf"), float("inf"), f"array {k}: NaN or infinities differ", True)
        if special.all():
            continue
        x, y = x[~special], y[~special]
        with np.errstate(over="ignore"):
            gap = float(np.max(np.abs(x - y)))
        scale = float(np.max(np.abs(x)))
        relative = gap / scale if scale > 0 else (0.0 if gap == 0 else float("inf"))
        worst_abs, worst_rel = max(worst_abs, gap), max(worst_rel, relative)
        limit = rtol if rtol is not None else _TOLERANCE.get(a.dtype.name, 1e-4)
        if relative > limit and gap > limit * 1e-3:
            equal, reason = False, f"array {k} differs by {gap:.3g} (relative {relative:.3g})"
    return Agreement(equal, worst_abs, worst_rel, reason)


def flat(value: object) -> list[Array]:
    """The arrays in lists and tuples, in order."""
    arrays, stack = [], [value]
    while stack:
        item = stack.pop()
        if isinstance(item, (list, tuple)):
            stack += reversed(item)
        else:
            arrays.append(np.asarray(item))
    return arrays
