"""Nodes of older operator sets in today's terms: attributes that have become operands, defaults that have
changed, meanings that have.

A node that means something today's operator cannot say keeps a name of its own, `ai.onnx.v11.Softmax`, that
no rule knows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from gslang.base.open_types import Attrs
from gslang.dialect.onnx.dtypes import dtype_name
from gslang.dialect.onnx.versions import CHANGED_MEANING, former, history, version_at
from gslang.dialect.signature import REQUIRED, Signature
from gslang.dialect.tensor_type import TensorType, Type

if TYPE_CHECKING:
    from onnx import NodeProto

# Attributes that are gone and said nothing about the results: which operands could be overwritten, which
# results were wanted.
_WITHOUT_MEANING: Final = frozenset(("consumed_inputs", "output_sequence"))


@lru_cache(maxsize=1024)
def is_current(operator: str, opset: int) -> bool:
    """True if nodes of an operator in an operator set are in today's terms as they are: it has no other
    attributes, defaults and meaning.
    """
    then, now = version_at(operator, opset), history().operators.get(operator, (None,))[-1]
    if opset < CHANGED_MEANING.get(operator, 0) or then is None or now is None:
        return then is now
    if then is now:
        return True
    same = then.kinds.keys() <= now.kinds.keys() and all(
        now.defaults.get(name, ...) == default for name, default in then.defaults.items()
    )
    return same and not _moved(operator, opset)


def unknown_at(operator: str, opset: int, attrs: Attrs, operands: int) -> list[str]:
    """Attributes and operands of a node that its operator has not in its operator set, or not in the latest
    one if it is in no such set: what they mean is not known.
    """
    then = version_at(operator, opset)
    if then is None:
        known = history().operators.get(operator)
        if known is None:
            return []
        then = known[-1]
    if operands <= then.most and attrs.keys() <= then.kinds.keys():
        return []
    return [name for name in attrs if name not in then.kinds] + [
        f"operand {k}" for k in range(then.most, operands)
    ]


def drop_meaningless(operator: str, opset: int, attrs: dict[str, object]) -> bool:
    """Take out what today's operator has not and what changes nothing; false if something stays that does
    (`height_scale`).

    Where an operator's meaning has changed, `old_name` has looked at such attributes before.
    """
    then = version_at(operator, opset)
    if then is None:
        return True
    now = history().operators[operator][-1]
    gone = [
        name
        for name in attrs
        if name in then.attributes and name not in now.attributes and name not in now.operands
    ]
    for name in gone:
        if name not in _WITHOUT_MEANING and operator not in CHANGED_MEANING:
            return False
        del attrs[name]
    return True


def old_name(
    operator: str, opset: int, node: NodeProto, attrs: Attrs, type_of: Callable[[int], Type | None]
) -> str | None:
    """The name of a node's operator if it means something else than today; None if it does not.

    `type_of(k)`: of operand k.
    """
    if opset >= CHANGED_MEANING.get(operator, 0) or _means_the_same(operator, opset, node, attrs, type_of):
        return None
    return f"ai.onnx.v{opset}.{operator}"


def _means_the_same(
    operator: str, opset: int, node: NodeProto, attrs: Attrs, type_of: Callable[[int], Type | None]
) -> bool:
    match operator:
        case "Softmax" | "LogSoftmax" | "Hardmax":  # worked on a matrix: the same only along the last axis
            axis, rank = attrs.get("axis", 1), _rank(type_of(0))
            return bool(axis == -1 or (rank is not None and axis == rank - 1))
        case "Add" | "And" | "Div" | "Equal" | "Greater" | "Less" | "Mul" | "Or" | "Pow" | "Sub" | "Xor":
            if not attrs.get("broadcast") or "axis" not in attrs:
                return True
            left, right = _rank(type_of(0)), _rank(type_of(1))
            return left is not None and right is not None and attrs["axis"] % max(left, 1) + right == left
        case "PRelu":
            slope = type_of(1)
            return (
                isinstance(slope, TensorType) and slope.shape is not None and all(d == 1 for d in slope.shape)
            )
        case "BatchNormalization":
            trains = sum(map(bool, node.output)) > 1 or (opset < 7 and not attrs.get("is_test"))
            return not trains and bool(attrs.get("spatial", 1))
        case "Dropout":
            return bool(attrs.get("is_test"))
        case "Gemm" | "Cast":
            return True
    return False  # DFT, GroupNormalization, Resize, Scan, Tile


def _rank(type: Type | None) -> int | None:
    return len(type.shape) if isinstance(type, TensorType) and type.shape is not None else None


def former_attributes(operator: str, opset: int, attrs: dict[str, object]) -> list[tuple[int, object]]:
    """Attributes that are operands today, taken out of `attrs`: (place, value), in order of place."""
    return [(k, attrs.pop(name)) for k, name in _moved(operator, opset) if name in attrs]


@lru_cache(maxsize=1024)
def _moved(operator: str, opset: int) -> tuple[tuple[int, str], ...]:
    """Places of operands that were attributes in an operator set, and what these were called."""
    then = version_at(operator, opset)
    if then is None or then is history().operators[operator][-1]:
        return ()
    now = history().operators[operator][-1].operands
    names = [(k, former(operator, name, then.attributes)) for k, name in enumerate(now)]
    return tuple([(k, name) for k, name in names if name is not None])


def changed_defaults(
    operator: str, opset: int, attrs: Attrs, signature: Signature | None
) -> dict[str, object]:
    """Attributes that are left to a default which has changed since."""
    if signature is None:
        return {}
    found = {}
    for name, default in _defaults(operator, opset):
        known = signature.attributes.get(name)
        if (
            name not in attrs and known is not None
            and (known.default is REQUIRED or known.default != default)
        ):
            found[name] = default
    return found


@lru_cache(maxsize=1024)
def _defaults(operator: str, opset: int) -> tuple[tuple[str, object], ...]:
    """The defaults in an operator set, where that has not the newest version."""
    then = version_at(operator, opset)
    if then is None or then is history().operators[operator][-1]:
        return ()
    return tuple([(name, default) for name, default in then.defaults.items() if default is not None])


_MODES: Final = {"bilinear": "linear", "bicubic": "cubic"}


def spell_values(operator: str, opset: int, attrs: dict[str, object]) -> None:
    """Write values in today's words: `Cast` took the type as text before operator set 6 ("FLOAT"), and
    `GridSample` called its modes by the number of dimensions before operator set 20.
    """
    if operator == "Cast" and opset < 6 and isinstance(attrs.get("to"), str):
        from onnx import TensorProto

        number = TensorProto.DataType.DESCRIPTOR.values_by_name.get(attrs["to"])
        if number is not None:
            attrs["to"] = dtype_name(number.number)
    _change_mode(operator, opset, attrs, _MODES)


def spell_former_values(operator: str, opset: int, attrs: dict[str, object]) -> None:
    """Write values in the words of the model's operator set."""
    _change_mode(operator, opset, attrs, {now: then for then, now in _MODES.items()})


def _change_mode(operator: str, opset: int, attrs: dict[str, object], words: Mapping[str, str]) -> None:
    mode = attrs.get("mode")
    if operator == "GridSample" and opset < 20 and isinstance(mode, str):
        attrs["mode"] = words.get(mode, mode)
