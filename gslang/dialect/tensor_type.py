"""Types of values: tensors and tuples of tensors, with dimensions that may be unknown or symbolic.

A dimension is an `int`, a `Symbol` (equal to itself, otherwise unknown), or `UNKNOWN`. Arithmetic and order on
the last two raise `UnknownValue`, which a condition turns into "unknown" (only true passes).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NoReturn, Union


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

    def __reduce__(self) -> Any:
        return (Symbol, (self.name,))


Dimension = Union[int, Symbol, UnknownDimension]
Shape = tuple[Dimension, ...]


@dataclass(frozen=True, slots=True)
class TensorType:
    """A tensor's type. `shape` is None when even the rank is unknown; `dtype` is None when unknown."""

    shape: Shape | None
    dtype: str | None

    def __str__(self) -> str:
        inside = "..." if self.shape is None else ", ".join(map(str, self.shape))
        return f"{self.dtype or '?'}[{inside}]"


@dataclass(frozen=True, slots=True)
class TupleType:
    """The type of a tuple; a field is None when nothing is known about it."""

    fields: tuple[Type | None, ...]

    def __str__(self) -> str:
        return "(" + ", ".join("?" if f is None else str(f) for f in self.fields) + ")"


Type = Union[TensorType, TupleType]


def is_static(shape: Shape | None) -> bool:
    """True if the rank and every dimension are known integers."""
    return shape is not None and all(type(d) is int for d in shape)
