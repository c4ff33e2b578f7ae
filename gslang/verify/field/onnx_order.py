"""ONNX operators that depend on order, over a prime field: the reference implementation is asked with real
numbers, residues follow.

What becomes of a single element by comparison with a bound (`Relu`, `Clip`, …) stands with the element-wise
operators.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from gslang.verify.field.call import Call, Meaning
from gslang.verify.field.dual import Dual, larger, maximum, minimum, selected
from gslang.verify.field.residues import NoField


def _real(call: Call) -> Any:
    return call.reference([o.real if isinstance(o, Dual) else o for o in call.operands])


def _selection(call: Call) -> Any:
    """Each element is one of the operands'; further results (positions) are whole numbers."""
    real, candidates = _real(call), [o for o in call.operands if isinstance(o, Dual)]
    if isinstance(real, tuple):
        return selected(real[0], *candidates), *real[1:]
    return selected(real, *candidates)


def _of_each(two: Callable[[Dual, Dual], Dual]) -> Meaning:
    """One of the operands' elements at each place: numbers that are equal at other places do not matter."""

    def meaning(call: Call) -> Any:
        if not all(isinstance(o, Dual) for o in call.operands):
            return _selection(call)
        return reduce(two, [call.dual(k) for k in range(len(call.operands))])

    return meaning


def _comparison(name: str) -> Meaning:
    def meaning(call: Call) -> Any:
        a, b = call.dual(0), call.dual(1)
        more, less = larger(a, b), larger(b, a)
        return {
            "Less": less,
            "LessOrEqual": ~more,
            "Greater": more,
            "GreaterOrEqual": ~less,
            "Equal": ~(more | less),
        }[name]

    return meaning


_SUMS = frozenset({"Softmax", "MatMul", "com.microsoft.MultiHeadAttention", "com.microsoft.Attention"})
_MOVES = frozenset({"Transpose", "Reshape", "Squeeze", "Unsqueeze", "Identity"})


def _is_nan(call: Call) -> Any:
    """Sums of products and exponentials of numbers are numbers. Raises `NoField` for others: an input may be
    none.
    """
    node = call.graph.operands[call.node][0]
    while call.graph.op[node] in _MOVES:
        node = call.graph.operands[node][0]
    if call.graph.op[node] not in _SUMS:
        raise NoField("a number that may not be finite")
    call.unknown.add(COMPUTED)
    return np.zeros(call.dual(0).shape, bool)


COMPUTED = "IsNaN (false for values computed from numbers)"

ORDER: dict[str, Meaning] = {
    **dict.fromkeys(("MaxPool", "GlobalMaxPool", "ReduceMax", "ReduceMin"), _selection),
    "Max": _of_each(maximum), "Min": _of_each(minimum),
    **dict.fromkeys(("Shape", "Size", "ArgMax", "ArgMin"), _real),
    "IsNaN": _is_nan,
    **{name: _comparison(name) for name in ("Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal")},
}  # fmt: skip
