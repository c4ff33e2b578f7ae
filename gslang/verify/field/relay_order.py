"""Relay operators that depend on the order of numbers: real numbers decide, residues follow (`dual`).

A selection (maximum, clip, pooling, …) is computed on the real numbers; each result is one of the candidates,
whose residue it gets. Comparisons give truth values; roundings give whole numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gslang.base.open_types import Attrs
from gslang.evaluate.relay import EVALUATE
from gslang.verify.field.dual import Dual, larger, maximum, number, rounded, selected
from gslang.verify.field.residues import PRIME, Undecided, inverse, mixed

SELECTIONS = frozenset({
    "maximum", "minimum", "max", "min", "nn.relu", "clip", "abs", "sign", "nn.leaky_relu", "sort",
    "nn.max_pool1d", "nn.max_pool2d", "nn.max_pool3d", "nn.global_max_pool2d",
})  # fmt: skip
COMPARISONS = frozenset({"less", "less_equal", "greater", "greater_equal", "equal", "not_equal"})
LOGIC = frozenset({"logical_and", "logical_or", "logical_xor", "logical_not", "all", "any"})
ROUNDINGS = frozenset({"floor", "ceil", "round", "trunc"})
POSITIONS = frozenset({"argmax", "argmin"})
ORDERED = (
    SELECTIONS | COMPARISONS | ROUNDINGS | POSITIONS
    | {"where", "isnan", "isinf", "isfinite", "nn.l2_normalize"}
)


# unknown functions in those that are computed by order
OF_UNKNOWN = {"nn.l2_normalize": frozenset({"sqrt"})}


def ordered(op: str, residues: Sequence[Any], reals: Sequence[Any], attrs: Attrs) -> Any:
    """The residues of the result (truth values for a comparison); None where this operator is none of these.

    Raises `NoField` where the order cannot be told.
    """
    if op in LOGIC and all(getattr(r, "dtype", None) == np.bool_ for r in residues):
        return EVALUATE[op](residues, attrs)
    if op not in ORDERED or any(isinstance(r, tuple) for r in residues):
        return None
    if op == "where":
        condition = residues[0] if residues[0].dtype == np.bool_ else residues[0] % PRIME != 0
        return np.where(condition, residues[1], residues[2])
    values = [Dual(np.asarray(a), np.asarray(b, np.float64)) for a, b in zip(residues, reals)]
    if any(np.isnan(v.real).any() for v in values):
        raise Undecided("a comparison with NaN")
    if op in COMPARISONS:
        more, less = larger(values[0], values[1]), larger(values[1], values[0])
        return {
            "less": less,
            "less_equal": ~more,
            "greater": more,
            "greater_equal": ~less,
            "equal": ~(more | less),
            "not_equal": more | less,
        }[op]
    if op == "nn.l2_normalize":
        least = number(float(np.float32(attrs["eps"])))
        whole = maximum(
            (values[0] * values[0]).total(None if attrs["axis"] is None else tuple(attrs["axis"]), True),
            least,
        )
        return values[0].residue * inverse(mixed("sqrt []", whole.residue)) % PRIME
    plain = {name: float(np.float32(v)) if isinstance(v, float) else v for name, v in attrs.items()}
    result: Any = EVALUATE[op]([v.real for v in values], plain)
    if op in ROUNDINGS:
        return rounded(values[0], result)
    if op in POSITIONS or op.startswith("is"):
        return result
    candidates = list(values)
    match op:
        case "nn.relu":
            candidates.append(number(0))
        case "abs":
            candidates.append(-values[0])
        case "sign":
            candidates = [number(-1), number(0), number(1)]
        case "clip":
            candidates += [number(plain["a_min"]), number(plain["a_max"])]
        case "nn.leaky_relu":
            scaled = values[0] * number(plain["alpha"])
            result = np.where(values[0].real > 0, values[0].real, scaled.real)
            candidates.append(scaled)
    return selected(result, *candidates).residue
