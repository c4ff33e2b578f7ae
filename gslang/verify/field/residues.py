"""Residues modulo a prime, in NumPy: fractions as residues, inverses, random functions."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from gslang.base.arrays import Array

PRIME = 2_147_483_647  # 2³¹ − 1: a product of two residues fits 63 bits


class NoField(Exception):
    """The graph has something that cannot be computed in a field. The message names it."""


class Undecided(NoField):
    """The same at a point of real numbers; there may be others at which it can be computed."""


def residue(value: float) -> int:
    """The residue of a number: a float is the fraction that it is exactly."""
    top, bottom = float(value).as_integer_ratio()
    return top * pow(bottom, PRIME - 2, PRIME) % PRIME


def residues(array: Array) -> Array:
    """The residues of an array of numbers. Raises `NoField` where one is not finite."""
    flat = np.asarray(array)
    if flat.dtype.kind == "f" and not np.isfinite(flat).all():
        raise NoField("a constant is not finite")
    return np.array([residue(v) for v in flat.reshape(-1).tolist()], np.int64).reshape(flat.shape)


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
