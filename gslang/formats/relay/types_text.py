"""Types in Relay text, read and written.

Function types, type variables and ADTs are refused: values are tensors or tuples.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from gslang.dialect.dtypes import dtype_exists
from gslang.dialect.tensor_type import (
    LARGEST_DIMENSION,
    UNKNOWN,
    Dimension,
    Symbol,
    TensorType,
    TupleType,
    Type,
)
from gslang.formats.relay.lexer import DTYPE, END, tokenise

MAX_DEPTH: Final = 100
_DTYPE: Final = re.compile(DTYPE)
_META: Final = re.compile(r"meta\[[^\[\]\s]*\]\[\d+\]")
_DIMENSION: Final = re.compile(r"(\d{1,19})(?:i(?:32|64)?)?")
_WIDTHLESS: Final = {"int": "int32", "uint": "uint32", "float": "float32"}


class TypeProblem(Exception):
    """At token `index`: `expected` something, or (`construct`) a type that the subset does not have."""

    def __init__(self, index: int, expected: str = "", construct: str = "") -> None:
        super().__init__(expected or construct)
        self.index, self.expected, self.construct = index, expected, construct


def read_type(tokens: list[str], at: int, depth: int = 0) -> tuple[Type | None, int]:
    """The type that begins at token `at` (None for `_`), and the index behind it. Raises `TypeProblem`."""
    token = tokens[at]
    if token.startswith("Tensor[("):
        found = _compact(token)
        if found is None:
            raise TypeProblem(
                at,
                "a tensor type such as `Tensor[(1, 64), float32]`, of dimensions that are numbers from 0 to "
                "2^63 - 1 or `?`",
            )
        return found, at + 1
    if depth > MAX_DEPTH:
        raise TypeProblem(at, f"a type with at most {MAX_DEPTH} levels")
    if _DTYPE.fullmatch(token) and dtype_exists(_WIDTHLESS.get(token, token)):
        return TensorType((), _WIDTHLESS.get(token, token)), at + 1
    if token == "Tensor":
        return _tensor(tokens, at)
    if token == "_" or _META.fullmatch(token):
        return None, at + 1
    if token == "(":
        return _tuple(tokens, at, depth)
    if token == "custom":
        dtype, at = _dtype(tokens, at)
        return TensorType((), dtype), at
    if token == "fn":
        raise TypeProblem(at, construct="a function type")
    if token == "ref":
        raise TypeProblem(at, construct="a reference type")
    if token[0].isalpha():
        raise TypeProblem(at, construct=f"the type `{token}` (an ADT or a type variable)")
    raise TypeProblem(at, "a type")


@lru_cache(maxsize=4096)
def _compact(token: str) -> TensorType | None:
    shape_text, _, dtype = token[len("Tensor[(") : -1].rpartition("),")
    shape: list[Dimension] = []
    dtype = dtype.strip()
    parts = shape_text.split(",")
    if not parts[-1].strip():
        parts.pop()
    for part in parts:
        dimension = _dimension(part.strip())
        if dimension is None:
            return None
        shape.append(dimension)
    dtype = _WIDTHLESS.get(dtype, dtype)
    return TensorType(tuple(shape), dtype) if dtype_exists(dtype) else None


def _dimension(token: str) -> Dimension | None:
    if (found := _DIMENSION.fullmatch(token)) and (number := int(found[1])) <= LARGEST_DIMENSION:
        return number
    if token == "?":
        return UNKNOWN
    if _META.fullmatch(token):
        return Symbol(token)
    return None


def _expect(tokens: list[str], at: int, token: str) -> int:
    if tokens[at] != token:
        raise TypeProblem(at, f"`{token}`")
    return at + 1


def _tensor(tokens: list[str], at: int) -> tuple[Type, int]:
    at = _expect(tokens, at + 1, "[")
    at = _expect(tokens, at, "(")
    shape: list[Dimension] = []
    while tokens[at] != ")":
        dimension = _dimension(tokens[at])
        if dimension is None:
            raise TypeProblem(at, "a dimension (an integer or `?`)")
        shape.append(dimension)
        at += 1
        if tokens[at] != ")":
            at = _expect(tokens, at, ",")
    at = _expect(tokens, at + 1, ",")
    dtype, at = _dtype(tokens, at)
    return TensorType(tuple(shape), dtype), _expect(tokens, at, "]")


def _dtype(tokens: list[str], at: int) -> tuple[str, int]:
    token = tokens[at]
    if _DTYPE.fullmatch(token) and dtype_exists(_WIDTHLESS.get(token, token)):
        return _WIDTHLESS.get(token, token), at + 1
    if token == "custom" and tokens[at + 1] == "[" and tokens[at + 3] == "]":
        return f"custom[{tokens[at + 2]}]{tokens[at + 4]}", at + 5
    raise TypeProblem(at, "a data type such as `float32`")


def _tuple(tokens: list[str], at: int, depth: int) -> tuple[Type | None, int]:
    fields: list[Type | None] = []
    at += 1
    comma = False
    while tokens[at] != ")":
        field, at = read_type(tokens, at, depth + 1)
        fields.append(field)
        comma = tokens[at] == ","
        if comma:
            at += 1
        elif tokens[at] != ")":
            raise TypeProblem(at, "`,` or `)`")
    if len(fields) == 1 and not comma:
        return fields[0], at + 1  # the old grammar's parentheses
    return TupleType(tuple(fields)), at + 1


@lru_cache(maxsize=8192)
def type_of_comment(text: str) -> Type | None:
    """The type that a `ty=` comment states; None if it is no tensor or tuple type (comments may say
    anything).
    """
    tokens = tokenise(text)
    try:
        found, at = read_type(tokens, 0)
    except TypeProblem:
        return None
    return found if tokens[at] is END else None


def write_type(type: Type | None, depth: int = 0) -> str | None:
    """A type as TVM prints it; None if it is not known well enough to be printed, or nested too deeply to be
    read back.
    """
    if type is None or depth > MAX_DEPTH:
        return None
    if isinstance(type, TupleType):
        fields = [write_type(field, depth + 1) for field in type.fields]
        if any(field is None for field in fields):
            return None
        inside = ", ".join(field for field in fields if field is not None)
        return f"({inside},)" if len(fields) == 1 else f"({inside})"
    return _write_tensor(type)


@lru_cache(maxsize=8192)
def _write_tensor(type: TensorType) -> str | None:
    if type.shape is None or type.dtype is None:
        return None
    if not type.shape:
        return type.dtype
    return f"Tensor[({', '.join(map(_write_dimension, type.shape))}), {type.dtype}]"


def _write_dimension(dimension: Dimension) -> str:
    if type(dimension) is int:
        return str(dimension)
    if isinstance(dimension, Symbol) and _META.fullmatch(dimension.name):
        return dimension.name
    return "?"
