"""The relay dialect's operators in NumPy: operator → function of operand values and complete attributes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from gslang.base.open_types import Attrs
from gslang.dialect.relay import INFER
from gslang.dialect.relay.dynamic import STATIC, Static, whole_numbers
from gslang.evaluate import convolution, elementwise, movement, quantized, reduction
from gslang.evaluate.elementwise import Array, Evaluator
from gslang.evaluate.value_types import type_of


def _by_operands(static: Static) -> Evaluator:
    def evaluate(operands: Sequence[Array], attrs: Attrs) -> object:
        found = static.call(operands, attrs, whole_numbers)
        assert found is not None
        return EVALUATE[static.operator](*found)

    return evaluate


def _typed(operator: str) -> Evaluator:
    """The function of an operator, for operands that inference accepts: NumPy broadcasts others."""
    function = _OWN[operator]

    def evaluate(operands: Sequence[Any], attrs: Attrs) -> object:
        types = tuple([type_of(operand) for operand in operands])
        INFER[operator](types, attrs, lambda k: operands[k])
        return function(operands, attrs)

    return evaluate


_TYPED: Final = ("one_hot", "slice_like", "take", "gather_nd", "meshgrid", "variance")
_OWN: Final[dict[str, Evaluator]] = {
    **elementwise.EVALUATE, **movement.EVALUATE, **reduction.EVALUATE, **convolution.EVALUATE,
    **quantized.EVALUATE,
}  # fmt: skip
EVALUATE: dict[str, Evaluator] = {
    **_OWN,
    **{operator: _typed(operator) for operator in _TYPED},
    **{operator: _by_operands(static) for operator, static in STATIC.items()},
}  # fmt: skip
