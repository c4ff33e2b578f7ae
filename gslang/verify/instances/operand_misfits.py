"""Operands and attributes that ONNX's inference lets pass, although their operator does not take them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from gslang.base.open_types import Attrs
from gslang.dialect.onnx.fitting_shapes import why_unfit
from gslang.dialect.tensor_type import Type
from gslang.verify.instances.leaves import Misfit, shape_of_type
from gslang.verify.instances.operand_types import operand_types
from gslang.verify.prove.operators.operators import RANKS_OF_OPERANDS
from gslang.verify.samplers.sample import Shape


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
    if (why := why_unfit(operator, shapes, attrs)) is not None:
        raise Misfit(f"`{operator}` does not fit: {why}")
    if operator in ("RotaryEmbedding", "com.microsoft.RotaryEmbedding"):
        _check_turned(operator, shapes[0], attrs)


def check_result(operator: str, operands: Sequence[Type | None], result: Type | None) -> None:
    """Raise `Misfit` for a reshape to another number of elements, which inference lets pass."""
    if operator == "Reshape" and operands[0] is not None:
        before, after = shape_of_type(operands[0]), shape_of_type(result)
        if before is not None and after is not None and prod(before) != prod(after):
            raise Misfit("a reshape changes the number of elements")


def _check_turned(operator: str, data: Shape | None, attrs: Attrs) -> None:
    """No more numbers of a head are turned than it has."""
    heads = attrs.get("num_heads", 0) if data is not None and len(data) == 3 else 1
    turned = attrs.get("rotary_embedding_dim", 0)
    if data and heads and turned * heads > data[-1]:
        raise Misfit(f"`{operator}` rotates {turned} numbers of smaller heads")
