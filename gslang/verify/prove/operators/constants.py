"""Constants of a rule as symbolic tensors: vectors of sizes, and attributes that stand for operands."""

from __future__ import annotations

from gslang.dialect.signature import Signature
from gslang.verify.prove.operators.domains import Attributes
from gslang.verify.prove.operators.listed import Listed
from gslang.verify.prove.operators.tensors import Index, Tensor, Value, World, constant
from gslang.verify.prove.terms.dtypes import Dtype, compared
from gslang.verify.prove.terms.paths import NotProved
from gslang.verify.prove.terms.reals import as_term
from gslang.verify.prove.terms.sizes import Number, Size
from gslang.verify.prove.terms.terms import Term, of_size


def unreadable(index: tuple[Number, ...]) -> Term:
    """The elements of a vector of which only shape and type are known."""
    raise NotProved("reading an element of a constant vector is not supported")


def vector(items: tuple[object, ...], dtype: str | Dtype) -> Tensor:
    """A constant vector; its elements can be read as numbers by operators that take a shape."""

    def at(index: tuple[Number, ...]) -> Term:
        if type(index[0]) is int:
            return as_term(items[index[0]])
        raise NotProved("reading an element of a constant vector is not supported")

    return Tensor((len(items),), dtype, at, None, None, items)


def listed_vector(world: World, items: Listed, dtype: str | Dtype) -> Tensor:
    """A constant vector of symbolic length, which is not empty."""
    if all(compared(dtype, name) is not True for name in ("int64", "int32")):
        raise NotProved("list items may overflow their type")
    world.need(items.end - 1, "list length")

    def at(index: Index) -> Term:
        return of_size(items.number(index[0]))

    return Tensor((items.length,), dtype, at, None, None, items)


def default_dtype(value: object) -> str:
    """The element type of a constant that is written without one."""
    if isinstance(value, bool):
        return "bool"
    return "int64" if isinstance(value, (int, Size)) else "float32"


def with_attributes(signature: Signature, operands: list[Value], attrs: Attributes) -> list[Value]:
    """The operands, with those that stand as attributes in their places."""
    result = list(operands)
    for k, spec in enumerate(signature.operands):
        if spec.attribute is not None and spec.name in attrs and spec.name not in signature.attributes:
            value = attrs[spec.name]
            result += [None] * (k + 1 - len(result))
            if value is not None:
                result[k] = (
                    vector(value, "int64") if isinstance(value, tuple)
                    else constant(as_term(value), (), operands[0].dtype)
                )
    return result
