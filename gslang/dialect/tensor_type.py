"""Types of values: tensors and tuples of tensors, with dimensions that may be unknown or symbolic.

A dimension is an `int`, a `Symbol` (equal to itself, otherwise unknown), or `UNKNOWN`. Arithmetic and order
on the last two raise `UnknownValue`, which a condition turns into "unknown" (only true passes).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NoReturn, Union

from gslang.base.diagnostics import InputError
from gslang.base.plain_data import declare_form


class UnknownValue(Exception):
    """An evaluation that needs a fact that is not known: an unknown shape, rank, dimension or value."""


def _unknown(self: object, *_: object) -> NoReturn:
    raise UnknownValue(f"`{self}` is not known")


class _Opaque:
    """Arithmetic and order that have no answer."""

    __slots__ = ()
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _unknown
    __floordiv__ = __rfloordiv__ = __truediv__ = __rtruediv__ = _unknown
    __mod__ = __rmod__ = __pow__ = __rpow__ = __neg__ = __abs__ = _unknown
    __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __index__ = __int__ = __float__ = _unknown


class UnknownDimension(_Opaque):
    """The one value `UNKNOWN`. Two unknown dimensions are not known to be equal."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "?"

    def __reduce__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = UnknownDimension()


class Symbol(_Opaque):
    """A named dimension: equal to the same name, unknown against everything else."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Symbol) and other.name == self.name

    def __hash__(self) -> int:
        return hash(("Symbol", self.name))

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[object, ...]:
        return (Symbol, (self.name,))


MOST_FIELDS: Final = 100_000  # of a tuple
LARGEST_DIMENSION: Final = 2**63 - 1  # what all file formats can hold
Dimension = Union[int, Symbol, UnknownDimension]
Shape = tuple[Dimension, ...]


class _Interned:
    """One object per value, so that types compare and hash by identity: the engine does both for every new
    node.
    """

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable")

    __delattr__ = __setattr__  # type: ignore[assignment]


class TensorType(_Interned):
    """A tensor's type. `shape` is None when even the rank is unknown; `dtype` is None when unknown."""

    __slots__ = ("dtype", "shape")
    __match_args__ = ("shape", "dtype")
    shape: Shape | None
    dtype: str | None

    def __new__(cls, shape: Shape | None, dtype: str | None) -> TensorType:
        known = _TENSOR_TYPES.get((shape, dtype))
        if known is not None:
            return known
        if shape is not None:  # NumPy's integers would hide behind equal ones of Python
            shape = tuple([d if type(d) is int or isinstance(d, _Opaque) else int(d) for d in shape])
        new = object.__new__(cls)
        object.__setattr__(new, "shape", shape)
        object.__setattr__(new, "dtype", dtype)
        return _TENSOR_TYPES.setdefault((shape, dtype), new)

    def __reduce__(self) -> tuple[object, ...]:
        return (TensorType, (self.shape, self.dtype))

    def __repr__(self) -> str:
        return f"TensorType(shape={self.shape!r}, dtype={self.dtype!r})"

    def __str__(self) -> str:
        inside = "..." if self.shape is None else ", ".join(map(str, self.shape))
        return f"{self.dtype or '?'}[{inside}]"


class TupleType(_Interned):
    """The type of a tuple; a field is None when nothing is known about it. `depth`: levels of tuples, at
    least 1. `size`: fields in all, those of inner tuples too. Raises `InputError` where these are too many:
    whatever looks at a type looks at each.
    """

    __slots__ = ("depth", "fields", "size")
    __match_args__ = ("fields",)
    fields: tuple[Type | None, ...]
    depth: int
    size: int

    def __new__(cls, fields: tuple[Type | None, ...]) -> TupleType:
        known = _TUPLE_TYPES.get(fields)
        if known is not None:
            return known
        size = len(fields) + sum([f.size for f in fields if isinstance(f, TupleType)])
        if size > MOST_FIELDS:
            raise InputError(
                f"a tuple has more than {MOST_FIELDS:,} fields, those of inner tuples counted",
                help="use several tuples",
            )
        new = object.__new__(cls)
        object.__setattr__(new, "size", size)
        object.__setattr__(new, "fields", fields)
        object.__setattr__(
            new, "depth", 1 + max([f.depth for f in fields if isinstance(f, TupleType)], default=0)
        )
        return _TUPLE_TYPES.setdefault(fields, new)

    def __reduce__(self) -> tuple[object, ...]:
        return (TupleType, (self.fields,))

    def __repr__(self) -> str:
        return f"TupleType(fields={self.fields!r})"

    def __str__(self) -> str:
        return "(" + ", ".join("?" if f is None else str(f) for f in self.fields) + ")"


_TENSOR_TYPES: dict[tuple[Shape | None, str | None], TensorType] = {}
_TUPLE_TYPES: dict[tuple[Type | None, ...], TupleType] = {}

declare_form(UnknownDimension, lambda value: (), lambda parts: UNKNOWN)
declare_form(Symbol, lambda value: (value.name,), lambda parts: Symbol(*parts))
declare_form(TensorType, lambda value: (value.shape, value.dtype), lambda parts: TensorType(*parts))
declare_form(TupleType, lambda value: (value.fields,), lambda parts: TupleType(*parts))
Type = Union[TensorType, TupleType]


def broadcast(a: Sequence[Dimension], b: Sequence[Dimension]) -> Shape | None:
    """The shape that two shapes broadcast to, NumPy's way; None if they do not.

    A known size above 1 decides; two unknown ones decide nothing.
    """
    rank = max(len(a), len(b))
    left, right = (1,) * (rank - len(a)) + tuple(a), (1,) * (rank - len(b)) + tuple(b)
    result: list[Dimension] = []
    for x, y in zip(left, right):
        if type(x) is int and x == 1:
            result.append(y)
        elif type(y) is int and y == 1:
            result.append(x)
        elif type(x) is int and type(y) is int:
            if x != y:
                return None
            result.append(x)
        elif isinstance(x, Symbol) and x == y:
            result.append(x)
        elif not all(type(d) is int or d is UNKNOWN or isinstance(d, Symbol) for d in (x, y)):
            # sizes of a proof: each comparison is known or decides a case
            if not (x == y or y == 1 or x == 1):
                return None
            result.append(y if x == 1 else x)
        else:
            result.append(x if type(x) is int else y if type(y) is int else UNKNOWN)
    return tuple(result)


def is_static(shape: Shape | None) -> bool:
    """True if the rank and every dimension are known integers."""
    return shape is not None and all(type(d) is int for d in shape)
