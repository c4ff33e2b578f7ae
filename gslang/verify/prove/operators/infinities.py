"""Infinite constants: operators may move, choose, and compare them, but not compute with them.

In proofs, ∞ is a number above all those that inputs are made of. As long as it is only moved, chosen or
compared, that is what infinity does: with a number large enough in its place, both sides are what they are
with infinity, or exactly that number where they are infinite. Sums and products are different, as ∞ − ∞ and
0 · ∞ are no numbers: a call that may compute with ∞ is not proved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from gslang.check import checked as ir
from gslang.check.walks import walk
from gslang.verify.prove.operators.relay_movement import MOVEMENT
from gslang.verify.prove.operators.tensors import Tensor, Value
from gslang.verify.prove.terms.paths import NotProved
from gslang.verify.prove.terms.terms import Term, is_infinite

_Place = TypeVar("_Place")

_KEEPING = MOVEMENT.keys() | {
    # Relay
    "abs", "cast", "clip", "copy", "dyn.broadcast_to", "dyn.expand_dims", "dyn.reshape", "dyn.squeeze",
    "dyn.strided_slice", "equal", "full", "full_like", "greater", "greater_equal", "less", "less_equal",
    "max", "maximum", "min", "minimum", "negative", "nn.relu", "not_equal", "where",
    # ONNX
    "Abs", "Cast", "CastLike", "Clip", "Concat", "DepthToSpace", "Equal", "Expand", "Flatten", "Gather",
    "GatherND", "Greater", "GreaterOrEqual", "Identity", "Less", "LessOrEqual", "Max", "Min", "Neg", "Pad",
    "ReduceMax", "ReduceMin", "Relu", "Reshape", "Shape", "Size", "Slice", "SpaceToDepth", "Split",
    "Squeeze", "Tile", "Transpose", "Unsqueeze", "Where",
}  # fmt: skip


_LARGE = 1e100  # `1e308 * 10` is infinite; the lowest number of float32 masks scores


def has_infinities(parts: object, lets: Sequence[ir.Value]) -> bool:
    """True if an infinite number is written in parts of a rule, or one so large that it may be computed."""
    return any(
        isinstance(part, ir.Const) and isinstance(part.value, float) and not abs(part.value) < _LARGE
        for part in walk(parts, lets)
    )


def without_infinities(operator: str, operands: Sequence[Value]) -> Sequence[Value]:
    """The operands of a call as it may read them, where constants of the rule are infinite."""
    return operands if operator in _KEEPING else finite(operator, operands)


def finite(operator: str, operands: Sequence[Value]) -> Sequence[Value]:
    """The operands of a call that computes with them. Raises `NotProved` when an element with ∞ is read."""
    return [_finite(operator, operand) for operand in operands]


def finite_element(operator: str, element: Term) -> Term:
    """A number to compute with. Raises `NotProved` for one that may be infinite."""
    if is_infinite(element):
        raise NotProved(f"`{operator}` may compute with an infinite constant")
    return element


def _finite(operator: str, value: Value) -> Value:
    if isinstance(value, tuple):
        return tuple(_finite(operator, part) for part in value)
    if value is None:
        return None
    if not isinstance(value, Tensor):
        raise NotProved(f"`{operator}` of all instances may compute with an infinite constant")

    def checked(read: Callable[[_Place], Term]) -> Callable[[_Place], Term]:
        return lambda place: finite_element(operator, read(place))

    if value.splat is not None:
        finite_element(operator, value.splat)
    flat = None if value.flat is None else checked(value.flat)
    return replace(value, at=checked(value.at), flat=flat, rises=None, converted=None)
