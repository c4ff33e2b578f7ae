"""Relay's operators for dynamic shapes: each is another operator, some of whose attributes are operands.

Types, values and proofs are those of the static operator, wherever the numbers in those operands are known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gslang.base.open_types import Attrs
from gslang.dialect.relay import elementwise, joins, movement
from gslang.dialect.relay.dimensions import tensor
from gslang.dialect.signature import Infer, TypeInferenceError, Types, ValueOf
from gslang.dialect.tensor_type import UNKNOWN, TensorType, Type


@dataclass(frozen=True, slots=True)
class Static:
    """The operator that a dynamic one is, and the places of the operands that are attributes there."""

    operator: str
    places: Mapping[str, int]

    def call(
        self, operands: Sequence[Any], attrs: Attrs, numbers: Callable[[Any], Sequence[Any] | None]
    ) -> tuple[list[Any], Attrs] | None:
        """(operands, attributes) of the static operator; None where `numbers` does not know an operand."""
        given = dict(attrs)
        for name, place in self.places.items():
            operand = operands[place] if place < len(operands) else None
            given[name] = None if operand is None else numbers(operand)
            if operand is not None and given[name] is None:
                return None
        if self.operator == "expand_dims":
            (given["axis"],) = given["axis"]
        return [o for k, o in enumerate(operands) if k not in self.places.values()], given


STATIC: dict[str, Static] = {
    "dyn.reshape": Static("reshape", {"newshape": 1}),
    "dyn.broadcast_to": Static("broadcast_to", {"shape": 1}),
    "dyn.tile": Static("tile", {"reps": 1}),
    "dyn.zeros": Static("zeros", {"shape": 0}),
    "dyn.ones": Static("ones", {"shape": 0}),
    "dyn.full": Static("full", {"shape": 1}),
    "dyn.strided_slice": Static("strided_slice", {"begin": 1, "end": 2, "strides": 3, "axes": 4}),
    "dyn.expand_dims": Static("expand_dims", {"axis": 1}),
    "dyn.squeeze": Static("squeeze", {"axis": 1}),
}


def _inferred(operator: str) -> Infer:
    static = STATIC[operator]
    infer = {**elementwise.INFER, **movement.INFER, **joins.INFER}[static.operator]

    def by_operands(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
        vectors = [types[k] for k in static.places.values() if k < len(types) and types[k] is not None]
        shapes = [tensor(type_).shape or () for type_ in vectors]
        if any(len(shape) > 1 for shape in shapes):
            raise TypeInferenceError(f"a vector of numbers is expected as operand of `{operator}`")
        lengths = {shape[0] for shape in shapes if len(shape) == 1 and isinstance(shape[0], int)}
        if operator == "dyn.strided_slice" and len(lengths) > 1:
            raise TypeInferenceError("`begin`, `end`, `strides` and `axes` must have the same length")
        places = [None if type_ is None else k for k, type_ in enumerate(types)]
        found = static.call(places, attrs, lambda k: _whole_numbers(value_of(k)))
        if found is not None:
            return infer(tuple([None if k is None else types[k] for k in found[0]]), found[1], value_of)
        dtype = attrs.get("dtype") or tensor(types[0]).dtype
        if "shape" in static.places or "newshape" in static.places:
            return TensorType((UNKNOWN,) * min(lengths) if lengths else None, dtype)
        shape = tensor(types[0]).shape if operator == "dyn.strided_slice" else None
        return TensorType(None if shape is None else (UNKNOWN,) * len(shape), dtype)

    return by_operands


def _whole_numbers(value: object) -> tuple[int, ...] | None:
    return None if value is None else whole_numbers(value)


def whole_numbers(value: Any) -> tuple[int, ...]:
    """The numbers in an array: a shape, axes, or bounds."""
    return tuple(int(number) for number in value.reshape(-1))


INFER: dict[str, Infer] = {operator: _inferred(operator) for operator in STATIC}
