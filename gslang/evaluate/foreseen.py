"""The size of a result before it is computed: where numbers in operands say it, it may be any."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from gslang.base.open_types import Attrs
from gslang.dialect.dialect import Dialect
from gslang.dialect.signature import TypeInferenceError
from gslang.dialect.tensor_type import Type, UnknownValue
from gslang.evaluate.errors import TooMuchMemoryError
from gslang.evaluate.growth import bytes_of
from gslang.evaluate.value_types import type_of
from gslang.graph.graph import PROJ, TUPLE, Graph

MOST_BYTES: Final = 1 << 30  # of one result, where nobody says less

# operators of which operands say the size: a type that a file states may be wrong
_SIZED_BY_NUMBERS: Final = frozenset({
    "AffineGrid", "BlackmanWindow", "CenterCropPad", "Col2Im", "ConstantOfShape", "DFT", "Expand",
    "HammingWindow", "HannWindow", "MaxUnpool", "MelWeightMatrix", "OneHot", "Pad", "Range", "Resize", "STFT",
    "Tile", "Upsample", "arange", "broadcast_to", "dyn.broadcast_to", "dyn.full", "dyn.ones", "dyn.tile",
    "dyn.zeros", "full", "nn.pad", "ones", "repeat", "tile", "zeros",
})  # fmt: skip
_SHAPES: Final = {"MaxUnpool": 2}  # operands that are the whole shape, which inference does not read
# computed in 64 bits, with as many numbers on the way
_WINDOWS: Final = frozenset({"BlackmanWindow", "HammingWindow", "HannWindow"})
_ON_THE_WAY: Final = 32  # bytes for each element of these

_MISFITS: Final = (
    TypeInferenceError, UnknownValue, LookupError, ArithmeticError, ValueError, TypeError, AttributeError,
)  # fmt: skip


def tells_size(graph: Graph, node: int) -> bool:
    """True if a node's type tells how large its value is, and no number in an operand does."""
    op = graph.op[node]
    stated = op not in _SIZED_BY_NUMBERS and bytes_of(graph.types[node]) is not None
    return stated or op is TUPLE or op is PROJ


def refuse_large(graph: Graph, dialect: Dialect, node: int, operands: Sequence[object], most: int) -> None:
    """Raise `TooMuchMemoryError` for a call whose result alone takes more than `most` bytes, as far as the
    types and numbers of its operands tell.
    """
    op = graph.op[node]
    needed = _foreseen(dialect, op, operands, graph.attrs[node])
    if needed > most:
        raise TooMuchMemoryError(
            f"`{op}` of {graph.label(node)} cannot be computed: it takes {needed / (1 << 30):.3g} GiB, "
            f"more than {most / (1 << 30):.3g} GiB"
        )


def _foreseen(dialect: Dialect, op: str, operands: Sequence[object], given: Attrs) -> int:
    """Bytes that a result takes; 0 where that is not known."""
    infer, signature = dialect.infer.get(op), dialect.get(op)
    try:
        if (k := _SHAPES.get(op)) is not None and len(operands) > k and operands[k] is not None:
            return _product(np.asarray(operands[k]).tolist()) * np.asarray(operands[0]).itemsize
        if infer is None or signature is None:
            return 0
        types: list[Type | None] = [type_of(operand) for operand in operands]
        found = infer(
            tuple(types), signature.complete(given), lambda k: operands[k] if k < len(operands) else None
        )
    except _MISFITS:  # the evaluation says what is wrong
        return 0
    if op in _WINDOWS:
        return _product(getattr(found, "shape", None) or ()) * _ON_THE_WAY
    return bytes_of(found) or 0


def _product(sizes: Sequence[object]) -> int:
    """Of numbers that NumPy would let overflow; 0 where one is no size."""
    result = 1
    for size in sizes:
        result *= max(size, 0) if isinstance(size, int) else 0
    return result
