"""Operands and attributes that ONNX's inference lets pass, although their operator does not take them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from gslang.base.open_types import Attrs
from gslang.dialect.tensor_type import Type
from gslang.verify.leaves import Misfit, shape_of_type
from gslang.verify.operand_types import operand_types
from gslang.verify.prove.operators import RANKS_OF_OPERANDS
from gslang.verify.samplers import Shape


def check_operands(operator: str, types: Sequence[Type | None], attrs: Attrs) -> None:
    """Raise `Misfit` for operands of types for which the operator is not declared, of other ranks than it
    demands, or of shapes that do not belong together, and for attributes that exclude each other.
    """
    for k, type_ in enumerate(types):
        dtype = getattr(type_, "dtype", None)
        allowed = operand_types(operator, k)
        if dtype is not None and allowed and dtype not in allowed:
            raise Misfit(f"`{operator}` does not accept {dtype} as operand {k + 1}")
    shapes = [shape_of_type(type_) for type_ in types]
    for k, (shape, rank) in enumerate(zip(shapes, RANKS_OF_OPERANDS.get(operator, ()))):
        if rank is not None and shape is not None and len(shape) != rank:
            raise Misfit(f"operand {k + 1} of `{operator}` has {rank} axes")
    perm = attrs.get("perm") if operator == "Transpose" else None
    if isinstance(perm, tuple) and shapes[0] is not None and len(perm) != len(shapes[0]):
        raise Misfit("a permutation does not list all axes")
    if attrs.get("auto_pad", "NOTSET") != "NOTSET" and attrs.get("pads") is not None:
        raise Misfit("both `pads` and `auto_pad` are given")
    if operator in ("Conv", "ConvTranspose") and len(types) > 2 and types[2] is not None:
        _check_bias(operator, shapes, attrs)
    if operator in ("LayerNormalization", "RMSNormalization"):
        _check_factors(operator, shapes)
    if operator in ("QuantizeLinear", "DequantizeLinear"):
        _check_scale(operator, shapes)
    if operator in ("ScatterND", "ScatterElements"):
        _check_updates(operator, shapes)
    if operator in ("RotaryEmbedding", "com.microsoft.RotaryEmbedding"):
        _check_turned(operator, shapes[0], attrs)
    if operator in ("Attention", "com.microsoft.MultiHeadAttention"):
        _check_keys(operator, shapes)


def check_result(operator: str, operands: Sequence[Type | None], result: Type | None) -> None:
    """Raise `Misfit` for a reshape to another number of elements, which inference lets pass."""
    if operator == "Reshape" and operands[0] is not None:
        before, after = shape_of_type(operands[0]), shape_of_type(result)
        if before is not None and after is not None and prod(before) != prod(after):
            raise Misfit("a reshape changes the number of elements")


def _check_bias(operator: str, shapes: Sequence[Shape | None], attrs: Attrs) -> None:
    kernel, added = shapes[1:3]
    channels = (
        None if not kernel else kernel[0] if operator == "Conv" else kernel[1] * attrs.get("group", 1)
    )
    if channels is not None and added != (channels,):
        raise Misfit(f"the addend of `{operator}` does not have {channels} channels")


def _check_factors(operator: str, shapes: Sequence[Shape | None]) -> None:
    data, *factors = shapes
    if any(
        f and data is not None
        and (len(f) > len(data) or any(a not in (1, b) for a, b in zip(f[::-1], data[::-1])))
        for f in factors
    ):
        raise Misfit(f"a factor of `{operator}` is larger than the data")


def _check_scale(operator: str, shapes: Sequence[Shape | None]) -> None:
    """A scale is one number, one for each index of an axis, or one for each block of the data; a zero point
    has the shape of its scale.
    """
    data, scale, point = (*shapes[:3], None)[:3]
    if data is not None and scale is not None and len(scale) not in (0, 1, len(data)):
        raise Misfit(f"the scale of `{operator}` has different axes than the data")
    if scale is not None and point is not None and point != scale and {scale, point} != {(), (1,)}:
        raise Misfit(f"the zero point of `{operator}` has a different shape than its scale")


def _check_keys(operator: str, shapes: Sequence[Shape | None]) -> None:
    """There are as many keys as values, in as many batches."""
    keys, values = (*shapes, None, None)[1:3]
    if keys is None or values is None or len(keys) != len(values):
        return  # packed, or of unknown rank
    if keys[0] != values[0] or keys[-2] != values[-2]:
        raise Misfit(f"`{operator}` has different numbers of keys and values")


def _check_updates(operator: str, shapes: Sequence[Shape | None]) -> None:
    """There is one update for each index: a number, or a part of the data."""
    data, indices, updates = shapes
    if data is None or indices is None or updates is None:
        return
    if updates != (indices if operator == "ScatterElements" else (*indices[:-1], *data[indices[-1] :])):
        raise Misfit(f"the updates of `{operator}` are not those of its indices")


def _check_turned(operator: str, data: Shape | None, attrs: Attrs) -> None:
    """No more numbers of a head are turned than it has."""
    heads = attrs.get("num_heads", 0) if data is not None and len(data) == 3 else 1
    turned = attrs.get("rotary_embedding_dim", 0)
    if data and heads and turned * heads > data[-1]:
        raise Misfit(f"`{operator}` rotates {turned} numbers of smaller heads")
