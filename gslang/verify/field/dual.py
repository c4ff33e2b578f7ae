"""Numbers that are known twice: exactly, as residues of a prime field, and roughly, as real numbers.

Sums and products are computed on both. Where an operator asks for order (a maximum, a comparison), the real
numbers decide and the residues follow: so both sides of a rule take the same branch wherever they are equal,
and what is compared in the end is exact in the branch that was taken. A comparison too close for the real
numbers is settled by the residues if they are equal; else `NoField` is raised.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gslang.base.arrays import Array
from gslang.base.quick_dataclass import dataclass
from gslang.verify.field.residues import PRIME, NoField, Undecided, inverse, mixed, residues
from gslang.verify.field.residues import residue as residue_of

CLOSE = 1e-7  # relative: reals closer than this are not told apart
ROOT_OF_2 = 1 << 16  # its square, 2³², is 2 modulo 2³¹ − 1
_SHIFTS = range(-4, 5)  # powers of 2 by which √2 is known
SMALL = 256  # of quotients that are known by what float32 makes of them: 1/6, 0.1


@dataclass(frozen=True, slots=True, eq=False)
class Dual:
    """`residue`: int64 below `PRIME`; `real`: float64. Both of the same shape."""

    residue: Any
    real: Any

    def __add__(self, other: Dual) -> Dual:
        return Dual((self.residue + other.residue) % PRIME, self.real + other.real)

    def __sub__(self, other: Dual) -> Dual:
        return Dual((self.residue - other.residue) % PRIME, self.real - other.real)

    def __mul__(self, other: Dual) -> Dual:
        return Dual(self.residue * other.residue % PRIME, self.real * other.real)

    def __truediv__(self, other: Dual) -> Dual:
        with np.errstate(all="ignore"):
            return Dual(self.residue * inverse(other.residue) % PRIME, self.real / other.real)

    def __neg__(self) -> Dual:
        return Dual(-self.residue % PRIME, -self.real)

    @property
    def shape(self) -> tuple[int, ...]:
        """Of both arrays."""
        return tuple(self.residue.shape)

    def moved(self, function: Callable[[Any], object]) -> Dual:
        """The same movement of elements on both."""
        return Dual(function(self.residue), function(self.real))

    def total(self, axes: tuple[int, ...] | None, keep: bool) -> Dual:
        """The sum over axes, all of them for None."""
        return Dual(
            self.residue.sum(axis=axes, keepdims=keep) % PRIME, self.real.sum(axis=axes, keepdims=keep)
        )

    def mean(self, axes: tuple[int, ...] | None, keep: bool) -> Dual:
        """The mean over axes; the count is inverted in the field."""
        whole = self.total(axes, keep)
        return whole / number(self.residue.size // max(1, whole.residue.size))


def number(value: float) -> Dual:
    """One number, exactly the fraction that the float is."""
    return Dual(residues(np.float64(value)), np.asarray(float(value)))


def constant(array: Array) -> Dual:
    """A tensor of floats: the fractions that they are, or what float32 rounds to them: a quotient of small
    numbers, √2 times a power of 2.
    """
    real = np.asarray(array, np.float64)
    top, bottom = quotients(real)
    result = Dual(residues(np.where(bottom > 1, 0.0, real)), real)
    result = chosen(bottom > 1, Dual(top % PRIME * inverse(bottom) % PRIME, top / bottom), result)
    for shift in _SHIFTS:
        found = _is_root(real, shift)
        if found.any():
            residue = ROOT_OF_2 * residue_of(2.0**shift) % PRIME
            result = chosen(
                found, Dual(np.sign(real).astype(np.int64) * residue % PRIME, np.sign(real) * _root(shift)),
                result,
            )
    return result


def rounds_root(real: Any) -> Any:
    """True if each number is what float32 makes of √2 times a power of 2, as which `constant` takes it."""
    return np.any([_is_root(real, shift) for shift in _SHIFTS], axis=0)


def _root(shift: int) -> float:
    return float(2.0 ** (shift + 0.5))


def _is_root(real: Array, shift: int) -> Any:
    return np.abs(real) == float(np.float32(_root(shift)))


def quotients(real: Array) -> tuple[Any, Any]:
    """Numerators and denominators up to `SMALL` of numbers that are such quotients in float32; 0 / 1 where
    there are none or no need.
    """
    top, bottom = np.zeros(real.shape, np.int64), np.ones(real.shape, np.int64)
    with np.errstate(all="ignore"):
        fine = (
            np.isfinite(real) & (np.abs(real) < SMALL) & (real != 0)
            & (real * (1 << 12) != np.round(real * (1 << 12)))
        )
        if not fine.any():
            return top, bottom
        numbers, below = real[fine][:, None], np.arange(3, SMALL)
        near = np.round(numbers * below)
        found = (near != 0) & (np.abs(near) < 1 << 12) & ((near / below).astype(np.float32) == numbers)
        least, rows = found.argmax(axis=1), np.arange(len(near))
        some = found[rows, least]
        top[fine] = np.where(some, near[rows, least], 0)
        bottom[fine] = np.where(some, below[least], 1)
    return top, bottom


def random_dual(shape: tuple[int, ...], rng: Any, positive: bool, unit: int) -> Dual:
    """A random point: multiples of 1/`unit`, exact as residues and as floats, on both sides of 0 unless
    `positive`.
    """
    whole = rng.integers(1 if positive else -(PRIME // 2), PRIME // 2, shape, dtype=np.int64)
    return Dual(whole % PRIME * pow(unit, PRIME - 2, PRIME) % PRIME, whole / unit)


def contracted(equation: str, a: Dual, b: Dual) -> Dual:
    """A bilinear sum as `numpy.einsum` writes it; one operand in halves of 16 bits, so that sums stay below
    2⁶³.
    """
    high = np.einsum(equation, a.residue, b.residue >> 16) % PRIME
    low = np.einsum(equation, a.residue, b.residue & 0xFFFF) % PRIME
    return Dual((high * 65536 + low) % PRIME, np.einsum(equation, a.real, b.real))


def function(name: str, real: Callable[..., Any] | None, *arguments: Dual) -> Dual:
    """An unknown function by its name; `real` is the true one, if it is known."""
    residue = mixed(name, *[a.residue for a in arguments])
    with np.errstate(all="ignore"):
        value = real(*[a.real for a in arguments]) if real is not None else residue / PRIME
    return Dual(residue, np.asarray(value, np.float64))


def selected(real: Array, *candidates: Dual) -> Dual:
    """The residues of real numbers each of which is an element of one of the candidates. Raises `NoField`
    where several are, and differ.
    """
    reals = np.concatenate([np.asarray(c.real).reshape(-1) for c in candidates])
    values = np.concatenate([np.asarray(c.residue).reshape(-1) for c in candidates])
    order = np.argsort(reals, kind="stable")
    reals, values = reals[order], values[order]
    real = np.asarray(real, np.float64)
    if np.isnan(reals).any() or np.isnan(real).any():
        raise Undecided("a comparison with NaN")
    places = np.minimum(np.searchsorted(reals, real), len(reals) - 1)
    if not np.array_equal(reals[places], real):
        raise NoField("an index out of range")
    ambiguous = (reals[1:] == reals[:-1]) & (values[1:] != values[:-1])
    if np.isin(real, reals[1:][ambiguous]).any():
        raise Undecided("a comparison is too close")
    return Dual(values[places], real)


def larger(a: Dual, b: Dual) -> Any:
    """True if a > b, element by element."""
    difference, near = a.real - b.real, CLOSE * np.maximum(np.maximum(np.abs(a.real), np.abs(b.real)), 1e-3)
    close = ~(np.abs(difference) > near)
    same = np.broadcast_to(a.residue % PRIME == b.residue % PRIME, close.shape)
    if (close & ~same).any():
        raise Undecided("a comparison is too close")
    return (difference > 0) & ~same


def chosen(condition: Array, a: Dual, b: Dual) -> Dual:
    """`a` where the condition holds, else `b`; broadcast."""
    return Dual(np.where(condition, a.residue, b.residue), np.where(condition, a.real, b.real))


def maximum(a: Dual, b: Dual) -> Dual:
    """Element by element. Raises `NoField` where the order cannot be told."""
    return chosen(larger(a, b), a, b)


def minimum(a: Dual, b: Dual) -> Dual:
    """Element by element. Raises `NoField` where the order cannot be told."""
    return chosen(larger(a, b), b, a)


def rounded(x: Dual, result: Array) -> Array:
    """The residues of `result`, which are whole numbers made of x by rounding; not where x is so close to one
    that the rounding may be wrong, unless it is that number.
    """
    whole = np.asarray(result).astype(np.int64)
    nearest = np.round(x.real)
    twice = np.round(x.real * 2)  # halves matter to `round`
    exact = x.residue % PRIME == nearest.astype(np.int64) % PRIME
    close = (np.abs(x.real * 2 - twice) <= CLOSE * np.maximum(np.abs(x.real), 1)) & ~exact
    if close.any():
        raise Undecided("a rounding is too close")
    return np.where(exact, nearest.astype(np.int64), whole) % PRIME


def joined(parts: Sequence[Dual], axis: int) -> Dual:
    """A concatenation."""
    return Dual(
        np.concatenate([p.residue for p in parts], axis), np.concatenate([p.real for p in parts], axis)
    )
