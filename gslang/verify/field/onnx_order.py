"""ONNX operators that depend on order, over a prime field: the reference implementation is asked with real
numbers, residues follow.

What becomes of a single element by comparison with a bound (`Relu`, `Clip`, …) stands with the element-wise
operators.
"""

from __future__ import annotations

from typing import Any

from gslang.verify.field.call import Call, Meaning
from gslang.verify.field.dual import Dual, larger, selected


def _real(call: Call) -> Any:
    return call.reference([o.real if isinstance(o, Dual) else o for o in call.operands])


def _selection(call: Call) -> Any:
    """Each element is one of the operands'; further results (positions) are whole numbers."""
    real, candidates = _real(call), [o for o in call.operands if isinstance(o, Dual)]
    if isinstance(real, tuple):
        return selected(real[0], *candidates), *real[1:]
    return selected(real, *candidates)


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


ORDER: dict[str, Meaning] = {
    **dict.fromkeys(("MaxPool", "GlobalMaxPool", "ReduceMax", "ReduceMin", "Max", "Min"), _selection),
    **dict.fromkeys(("Shape", "Size", "ArgMax", "ArgMin"), _real),
    **{name: _comparison(name) for name in ("Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal")},
}  # fmt: skip
