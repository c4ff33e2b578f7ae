"""ONNX operators that only move elements, over a prime field: positions are moved instead by the reference
implementation.
"""

from __future__ import annotations

import numpy as np

from gslang.verify.field.call import Call, Meaning
from gslang.verify.field.dual import Dual, number
from gslang.verify.field.residues import NoField


def _moved(call: Call) -> object:
    """Elements carried where the reference implementation carries their positions."""
    duals = [o for o in call.operands if isinstance(o, Dual)]
    starts = np.cumsum([0, *[d.residue.size for d in duals]])
    places, k = [], 0
    for operand in call.operands:
        if isinstance(operand, Dual):
            places.append(np.arange(starts[k], starts[k + 1], dtype=np.int64).reshape(operand.shape))
            k += 1
        else:
            places.append(operand)
    residue = np.concatenate([d.residue.reshape(-1) for d in duals])
    real = np.concatenate([np.asarray(d.real).reshape(-1) for d in duals])
    result = call.reference(places)
    if isinstance(result, (tuple, list)):
        return tuple(Dual(residue[np.asarray(r)], real[np.asarray(r)]) for r in result)
    return Dual(residue[np.asarray(result)], real[np.asarray(result)])


def _resized(call: Call) -> Dual:
    """The nearest elements: their positions are carried, as floats that are whole."""
    if (
        call.attrs["mode"] != "nearest"
        or call.attrs["coordinate_transformation_mode"] == "tf_crop_and_resize"
    ):
        raise NoField("a resize that computes elements")
    x = call.dual(0)
    rest = [np.asarray(o.real, np.float32) if isinstance(o, Dual) else o for o in call.operands[1:]]
    places = np.asarray(call.reference([np.arange(x.residue.size, dtype=np.float64).reshape(x.shape), *rest]))
    place = places.astype(np.int64)
    if not np.array_equal(place, places):
        raise NoField("a resize between elements")
    return Dual(x.residue.reshape(-1)[place], np.asarray(x.real).reshape(-1)[place])


def _pad(call: Call) -> Dual:
    """Positions are padded with −1 where the mode is constant."""
    x = call.dual(0)
    mode = call.attrs.get("mode", "constant")
    places = np.arange(x.residue.size, dtype=np.int64).reshape(x.shape)
    value = call.optional(2) if mode == "constant" else None
    operands = [places, *call.operands[1:]]
    if mode == "constant":
        operands = [places, call.operands[1], np.asarray(-1, np.int64), *call.operands[3:]]
    result = np.asarray(call.reference(operands))
    fill = value if value is not None else number(0)
    residue = np.append(x.residue.reshape(-1), fill.residue.reshape(-1)[:1])
    real = np.append(np.asarray(x.real).reshape(-1), fill.real.reshape(-1)[:1])
    return Dual(residue[result], real[result])


def _part(call: Call) -> object:
    return call.operands[0][int(call.operands[1])]


def _without(call: Call) -> object:
    parts, at = list(call.operands[0]), call.numbers("", 1)
    del parts[at[0] if at else -1]
    return tuple(parts)


def _with(call: Call) -> object:
    parts, at = list(call.operands[0]), call.numbers("", 2)
    parts.insert(at[0] if at else len(parts), call.operands[1])
    return tuple(parts)


def _joined(call: Call) -> object:
    """The tensors of a sequence as one, along an axis or a new one."""
    parts, axis = call.operands[0], call.attrs["axis"]
    join = np.stack if call.attrs.get("new_axis", 0) else np.concatenate
    if all(isinstance(part, Dual) for part in parts):
        return Dual(join([part.residue for part in parts], axis), join([part.real for part in parts], axis))
    return join([np.asarray(part) for part in parts], axis)


# of sequences, which are tuples
SEQUENCES: dict[str, Meaning] = {
    "SequenceConstruct": lambda call: tuple(call.operands), "SequenceAt": _part, "SequenceErase": _without,
    "SequenceInsert": _with, "ConcatFromSequence": _joined,
    "SequenceLength": lambda call: np.asarray(len(call.operands[0])),
}

MOVEMENT: dict[str, Meaning] = {
    **dict.fromkeys(
        (
            "Transpose", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Concat", "Split", "Slice", "Expand",
            "Tile", "Gather", "GatherElements", "GatherND", "DepthToSpace", "SpaceToDepth", "Identity",
            "ReverseSequence", "Compress", "SplitToSequence",
        ),
        _moved,
    ),
    "Resize": _resized,
    "Pad": _pad,
}
