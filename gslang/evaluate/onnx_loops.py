"""`Loop` and `Scan` as the standard says, also inside bodies, for ONNX's reference implementation.

That one joins what a loop collects along the first axis instead of a new one, takes no round where a loop has
no condition, and refuses scans backwards or along other axes than the first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Protocol

import numpy as np

from gslang.base.arrays import Array
from gslang.dialect.onnx.scanned import scanned


class _Body(Protocol):
    input_names: Sequence[str]
    output_names: Sequence[str]
    output_types: Sequence[Any]


class _Call(Protocol):
    """The part of an `OpRun` with a body that is used here."""

    body: _Body

    def _run_body(self, inputs: Mapping[str, object], **options: object) -> Sequence[Array]: ...


@cache
def loop_operators() -> tuple[type, ...]:
    """Classes for `ReferenceEvaluator(…, new_ops = …)`."""
    from onnx.reference.op_run import OpRun
    from onnx.reference.ops import op_loop, op_scan

    return (
        type("Loop", (op_loop.Loop,), {"_run": _run_loop}),
        type("Scan", (op_scan.Scan,), {"_run": _run_scan, "__init__": OpRun.__init__}),
    )


def _run_loop(
    call: _Call, trips: Array | None, go: Array | None, *carried: Array, **given: object
) -> tuple[Array, ...]:
    """Carried values, then what all rounds collect."""
    kept: list[Sequence[Array]] = []
    values, goes_on = list(carried), go is None or _truth(go)
    while goes_on and (trips is None or len(kept) < int(trips.item())):
        own = [np.array(len(kept), np.int64), np.array(goes_on), *values]
        more, *found = _round(call, own, given)
        values, goes_on = found[: len(values)], _truth(more)
        kept.append(found[len(values) :])
    types = call.body.output_types[1 + len(values) :]
    return (
        *values, *[_stacked(kept, k, 0, False) if kept else _nothing(type_) for k, type_ in enumerate(types)]
    )


def _run_scan(call: _Call, *operands: Array, **given: object) -> tuple[Array, ...]:
    """States, then what all rounds collect."""
    how = scanned(given, len(operands), len(call.body.output_names))
    states, inputs = list(operands[: how.states]), operands[how.states :]
    lengths = {value.shape[axis] for value, (axis, _) in zip(inputs, how.inputs)}
    if len(lengths) != 1:
        raise ValueError(f"a scan of inputs of different lengths: {sorted(lengths)}")
    kept: list[Sequence[Array]] = []
    for k in range(length := lengths.pop()):
        own = [
            value.take(length - 1 - k if backwards else k, axis)
            for value, (axis, backwards) in zip(inputs, how.inputs)
        ]
        found = _round(call, [*states, *own], given)
        states = list(found[: how.states])
        kept.append(found[how.states :])
    return (*states, *[_stacked(kept, k, *place) for k, place in enumerate(how.outputs)])


def _round(call: _Call, own: Sequence[Array], given: Mapping[str, object]) -> Sequence[Array]:
    """The results of a body for its own inputs, which hide values around it that have their names."""
    around = given.get("context")
    values = dict(around) if isinstance(around, Mapping) else {}
    values.update(zip(call.body.input_names, own))
    passed = {name: given[name] for name in ("attributes", "bindings") if given.get(name) is not None}
    return call._run_body(values, **passed)


def _stacked(kept: Sequence[Sequence[Array]], k: int, axis: int, backwards: bool) -> Array:
    """Result k of all rounds along a new axis. Raises `ValueError` if there was no round."""
    found = [results[k] for results in kept]
    if not found:
        raise ValueError("without iterations, the type of scan outputs is unknown")
    return np.stack(found[::-1] if backwards else found, axis)


def _nothing(type_: Any) -> Array:
    """No elements of the type that a body states for a result. Raises `ValueError` where it states none."""
    from onnx import helper

    tensor = type_.tensor_type
    sizes = [size.dim_value for size in tensor.shape.dim if size.HasField("dim_value")]
    if not tensor.elem_type or not tensor.HasField("shape") or len(sizes) < len(tensor.shape.dim):
        raise ValueError("without iterations, the type of scan outputs is unknown")
    return np.empty((0, *sizes), helper.tensor_dtype_to_np_dtype(tensor.elem_type))


def _truth(value: Array) -> bool:
    return bool(np.asarray(value).item())
