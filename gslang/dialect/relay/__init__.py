"""Type inference of the relay dialect: how each operator's result type follows, by family."""

from __future__ import annotations

from gslang.dialect.relay import convolution, dynamic, elementwise, joins, linear, movement, reduction
from gslang.dialect.signature import Infer

INFER: dict[str, Infer] = {
    **elementwise.INFER, **movement.INFER, **joins.INFER, **reduction.INFER, **convolution.INFER,
    **linear.INFER, **dynamic.INFER,
}
"""Operator → its inference (see `Infer`)."""
