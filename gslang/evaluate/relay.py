"""The relay dialect's operators in NumPy: operator → function of operand values and complete attributes."""

from __future__ import annotations

from gslang.evaluate import convolution, elementwise, movement, reduction
from gslang.evaluate.elementwise import Evaluator

EVALUATE: dict[str, Evaluator] = {
    **elementwise.EVALUATE, **movement.EVALUATE, **reduction.EVALUATE, **convolution.EVALUATE,
}  # fmt: skip
