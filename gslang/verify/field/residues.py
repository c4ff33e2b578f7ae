"""Residues modulo a prime, in NumPy: fractions as residues, inverses, random functions."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from gslang.base.arrays import Array

PRIME = 2_147_483_647  # 2³¹ − 1: a product of two residues fits 63 bits
_DIGITS = 53  # of a float, in base 2


class NoField(Exception):
    """The graph has something that cannot be computed in a field. The message names it."""


class Undecided(NoField):
    """The same at a point of real numbers; there may be others at which it can be computed."""


def residue(value: float) -> int:
    """The residue of a finite number: a float is the fraction that it is exactly."""
    return int(residues(np.float64(value)))


def residues(array: Array) -> Array:
    """The residues of an array of numbers. Raises `NoField` where one is not finite."""
    numbers = np.asarray(array)
    if numbers.dtype.kind != "f":
        whole = numbers.astype(np.uint64 if numbers.dtype.kind == "u" else np.int64)
        return np.asarray(whole % PRIME, np.int64)
    if not np.isfinite(numbers).all():
        raise NoField("a constant is not finite")
    fraction, exponent = np.frexp(numbers.astype(np.float64))
    top = (fraction * 2.0**_DIGITS).astype(np.int64) % PRIME
    # 2³¹ is 1 here, so that every power of 2, negative ones too, is one of 31
    return np.asarray((top << (exponent - _DIGITS) % 31) % PRIME, np.int64)


def inverse(x: Array) -> Any:
    """1/x of each residue (0 for 0: then the denominators vanish on both sides or the point is left out)."""
    result, base, exponent = np.ones_like(x), x % PRIME, PRIME - 2
    while exponent:
        if exponent & 1:
            result = result * base % PRIME
        base = base * base % PRIME
        exponent >>= 1
    return result


def mixed(label: str, *arguments: Any) -> Any:
    """A random function of residues, chosen by `label` (the finaliser of MurmurHash3, over all arguments in
    turn).
    """
    shape = np.broadcast_shapes(*[a.shape for a in arguments])
    with np.errstate(over="ignore"):
        state = np.full(
            shape, zlib.crc32(label.encode()) * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF, np.uint64
        )
        for argument in arguments:
            state = state ^ argument.astype(np.uint64)
            for _ in range(2):
                state = (state ^ (state >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
                state = (state ^ (state >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
                state = state ^ (state >> np.uint64(33))
    return (state % np.uint64(PRIME)).astype(np.int64)
