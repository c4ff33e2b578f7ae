"""`Scan` in instances: how many operands it scans, along which axes and in which directions, where the rule
leaves that open; the types of what its body gets and of what it collects.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from random import Random
from typing import Final

from gslang.dialect.onnx.scanned import Scanned, scanned
from gslang.dialect.tensor_type import Dimension, TensorType, Type
from gslang.verify.instances.leaves import Misfit

_OTHERWISE: Final = 0.4  # how often axes or directions are not the default


def choose_inputs(
    attrs: dict[str, object], fixed: Collection[str], types: Sequence[Type | None], rng: Random
) -> list[Type | None]:
    """State in `attrs` what is scanned, as far as the rule has not `fixed` it; returns the types of the
    body's inputs.

    `types`: of the call's own operands. Raises `Misfit` where they cannot be scanned.
    """
    if "num_scan_inputs" not in fixed:
        attrs["num_scan_inputs"] = rng.randint(1, max(1, len(types)))
    count = attrs["num_scan_inputs"]
    if not isinstance(count, int) or not 0 < count <= len(types):
        raise Misfit("a scan of more operands than there are")
    inputs = types[len(types) - count :]
    length: Dimension | None = None

    def axis(k: int) -> int:
        nonlocal length
        shape = _shape(inputs[k])
        fits = [a for a, dim in enumerate(shape) if length in (None, dim)]
        if not fits:
            raise Misfit("no axes of equal length to scan")
        found = rng.choice(fits)
        length = shape[found]
        return found - rng.choice((0, 0, len(shape)))

    _choose(attrs, fixed, "input", count, axis, rng)
    how = _form({k: v for k, v in attrs.items() if "output" not in k}, len(types), len(types) - count)
    slices: list[Type | None] = [
        _without(type_, axis) for type_, (axis, _) in zip(inputs, how.inputs)
    ]
    if len({_length(type_, axis) for type_, (axis, _) in zip(inputs, how.inputs)}) > 1:
        raise Misfit("scanned operands of different lengths")
    return [*types[:how.states], *slices]


def choose_outputs(
    attrs: dict[str, object], fixed: Collection[str], types: Sequence[Type | None],
    made: Sequence[Type | None], rng: Random,
) -> list[Type | None]:
    """State in `attrs` how outputs are collected, as far as the rule has not `fixed` it; returns the types of
    the results.

    `types`: of the call's own operands; `made`: of the body's outputs. Raises `Misfit`.
    """
    count = attrs["num_scan_inputs"]
    assert isinstance(count, int)
    states = len(types) - count
    collected = made[states:]
    if list(made[:states]) != list(types[:states]):
        raise Misfit("a state that changes its type")

    def axis(k: int) -> int:
        rank = len(_shape(collected[k])) + 1
        return rng.randrange(-rank, rank)

    _choose(attrs, fixed, "output", len(collected), axis, rng)
    how = _form(attrs, len(types), len(made))
    first, _ = how.inputs[0]
    length = _length(types[states], first)
    return [
        *made[:states],
        *[_with(type_, axis, length) for type_, (axis, _) in zip(collected, how.outputs)],
    ]


def _choose(
    attrs: dict[str, object], fixed: Collection[str], side: str, count: int, axis: Callable[[int], int],
    rng: Random,
) -> None:
    axes, directions = f"scan_{side}_axes", f"scan_{side}_directions"
    if axes not in fixed:
        attrs[axes] = tuple([axis(k) for k in range(count)]) if rng.random() < _OTHERWISE and count else None
    if directions not in fixed:
        backwards = rng.random() < _OTHERWISE and count
        attrs[directions] = tuple([rng.randint(0, 1) for _ in range(count)]) if backwards else None
    for name in (axes, directions):
        if attrs.get(name) is None:
            attrs.pop(name, None)


def _form(attrs: dict[str, object], formal: int, results: int) -> Scanned:
    try:
        return scanned(attrs, formal, results)
    except ValueError as error:
        raise Misfit(str(error)) from error


def _shape(type_: Type | None) -> tuple[Dimension, ...]:
    if not isinstance(type_, TensorType) or type_.shape is None:
        raise Misfit("a scan of something whose shape is not known")
    return type_.shape


def _length(type_: Type | None, axis: int) -> Dimension:
    shape = _shape(type_)
    if not -len(shape) <= axis < len(shape):
        raise Misfit(f"a scan along axis {axis} of {len(shape)}")
    return shape[axis]


def _without(type_: Type | None, axis: int) -> TensorType:
    _length(type_, axis)
    assert isinstance(type_, TensorType)
    shape = list(_shape(type_))
    del shape[axis]
    return TensorType(tuple(shape), type_.dtype)


def _with(type_: Type | None, axis: int, length: Dimension) -> TensorType:
    shape = list(_shape(type_))
    if not -len(shape) - 1 <= axis <= len(shape):
        raise Misfit(f"outputs along axis {axis} of {len(shape) + 1}")
    shape.insert(axis if axis >= 0 else axis + len(shape) + 1, length)
    assert isinstance(type_, TensorType)
    return TensorType(tuple(shape), type_.dtype)
