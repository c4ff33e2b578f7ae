"""Type inference of the relay dialect: how each operator's result type follows, by family."""

from __future__ import annotations

from gslang.dialect.relay import convolution, elementwise, linear, movement, reduction
from gslang.dialect.signature import Infer

INFER: dict[str, Infer] = {
    **elementwise.INFER, **movement.INFER, **reduction.INFER, **convolution.INFER, **linear.INFER,
}  # fmt: skip
"""Operator → its inference (see `Infer`)."""
