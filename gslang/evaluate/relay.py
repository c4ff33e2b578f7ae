"""The relay dialect's operators in NumPy: operator → function of operand values and complete attributes."""

from __future__ import annotations

from collections.abc import Sequence

from gslang.base.open_types import Attrs
from gslang.dialect.relay.dynamic import STATIC, Static, whole_numbers
from gslang.evaluate import convolution, elementwise, movement, quantized, reduction
from gslang.evaluate.elementwise import Array, Evaluator


def _by_operands(static: Static) -> Evaluator:
    def evaluate(operands: Sequence[Array], attrs: Attrs) -> object:
        found = static.call(operands, attrs, whole_numbers)
        assert found is not None
        return EVALUATE[static.operator](*found)

    return evaluate


EVALUATE: dict[str, Evaluator] = {
    **elementwise.EVALUATE, **movement.EVALUATE, **reduction.EVALUATE, **convolution.EVALUATE,
    **quantized.EVALUATE,
    **{operator: _by_operands(static) for operator, static in STATIC.items()},
}  # fmt: skip
