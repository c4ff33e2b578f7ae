"""ONNX element types by name, and type messages ↔ types.

Sequences, optionals, maps and sparse tensors have no type here (None): nothing is said about them, they are
carried.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

from gslang.dialect.onnx.messages import messages
from gslang.dialect.onnx.versions import history
from gslang.dialect.tensor_type import UNKNOWN, Dimension, Symbol, TensorType

if TYPE_CHECKING:
    from onnx import TypeProto

# Attributes whose number names an element type; in graphs and rules it is the type's name.
DTYPES: Final = frozenset({
    ("Cast", "to"), ("BitCast", "to"), ("RandomNormal", "dtype"), ("RandomUniform", "dtype"),
    ("RandomNormalLike", "dtype"), ("RandomUniformLike", "dtype"), ("EyeLike", "dtype"),
    ("Bernoulli", "dtype"), ("Multinomial", "dtype"), ("SequenceEmpty", "dtype"),
    ("HannWindow", "output_datatype"), ("HammingWindow", "output_datatype"),
    ("BlackmanWindow", "output_datatype"), ("MelWeightMatrix", "output_datatype"),
    ("QuantizeLinear", "output_dtype"), ("DequantizeLinear", "output_dtype"),
})

_KNOWN: Final[dict[bytes, TensorType | None]] = {}
_MOST: Final = 10_000  # types that are remembered


@cache
def _tables() -> tuple[dict[int, str], dict[str, int]]:
    numbers = dict(history().elements)
    return {number: name for name, number in numbers.items()}, numbers


def dtype_name(element: int) -> str | None:
    """`TensorProto.FLOAT` → "float32"; None for 0 and for numbers that ONNX did not have when `schemas.json`
    was written.
    """
    return _tables()[0].get(element)


def element_type(dtype: str) -> int:
    """"float32" → `TensorProto.FLOAT`. Raises `KeyError` for a name that ONNX has no type for."""
    return _tables()[1][dtype]


def type_of(message: TypeProto) -> TensorType | None:
    """The type that a `TypeProto` states, or None where it is not a dense tensor.

    Equal messages are read once.
    """
    key = message.SerializeToString()
    if key not in _KNOWN:
        if len(_KNOWN) > _MOST:
            _KNOWN.clear()
        _KNOWN[key] = _type_of(message)
    return _KNOWN[key]


def _type_of(message: TypeProto) -> TensorType | None:
    if message.WhichOneof("value") != "tensor_type":
        return None
    tensor = message.tensor_type
    dtype = dtype_name(tensor.elem_type)
    if not tensor.HasField("shape"):
        return None if dtype is None else TensorType(None, dtype)
    return TensorType(tuple([_dimension(d) for d in tensor.shape.dim]), dtype)


def _dimension(message: Any) -> Dimension:
    kind = message.WhichOneof("value")
    if kind == "dim_value" and message.dim_value >= 0:
        return int(message.dim_value)
    if kind == "dim_param" and message.dim_param:
        return Symbol(message.dim_param)
    return UNKNOWN


def type_message(type: object) -> Any:
    """The `TypeProto` of a tensor type; an empty one for everything else."""
    message = messages().TypeProto()
    if isinstance(type, TensorType):
        tensor = message.tensor_type
        if type.dtype is not None:
            tensor.elem_type = _tables()[1].get(type.dtype, 0)
        if type.shape is not None:
            tensor.shape.SetInParent()
            for dimension in type.shape:
                added = tensor.shape.dim.add()
                if isinstance(dimension, int):
                    added.dim_value = dimension
                elif isinstance(dimension, Symbol):
                    added.dim_param = dimension.name
    return message
