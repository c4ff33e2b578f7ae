"""Conversions between types of numbers over a prime field (`onnx`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from gslang.graph.graph import Graph
from gslang.verify.field.call import Call
from gslang.verify.field.dual import CLOSE, Dual, constant
from gslang.verify.field.residues import PRIME, NoField, Undecided

# bits, largest exponent
_FLOATS = {"float16": (11, 16), "bfloat16": (8, 128), "float32": (24, 128), "float64": (53, 1024)}
_SAME = {"float": "float32", "double": "float64"}


def holds(wide: str, narrow: str) -> bool:
    """True if type `wide` has every number of type `narrow`."""
    if wide == narrow or narrow == "bool":
        return True
    if wide in _FLOATS and narrow in _FLOATS:
        return all(a >= b for a, b in zip(_FLOATS[wide], _FLOATS[narrow]))
    if not narrow.startswith(("int", "uint")):
        return False
    limits = np.iinfo(narrow)
    if wide in _FLOATS:
        return max(-int(limits.min), int(limits.max)) <= 1 << _FLOATS[wide][0]
    return (
        wide.startswith(("int", "uint")) and np.iinfo(wide).min <= limits.min
        and limits.max <= np.iinfo(wide).max
    )


def _type(graph: Graph, node: int) -> str:
    return str(getattr(graph.types[node], "dtype", None))


def _held(graph: Graph, node: int) -> str:
    """The smallest type that a value is known to fit, because it was converted from there."""
    while graph.op[node] == "Cast" and holds(_type(graph, node), _type(graph, graph.operands[node][0])):
        node = graph.operands[node][0]
    return _type(graph, node)


def narrowed(call: Call, x: Dual, to: str) -> Dual:
    """Rounded to a smaller type of floats: an unknown function, near enough to none at all in real numbers.
    """
    return call.function(f"cast to {to}", lambda a: a, x)


def cast(call: Call) -> object:
    """To a type that holds every value: nothing.

    To other floats: an unknown function; to whole numbers: towards 0.
    """
    value, to = call.operands[0], str(call.attrs.get("to"))
    x = value if isinstance(value, Dual) else constant(np.asarray(value, np.float64))
    to = _SAME.get(to, to)
    source = _held(call.graph, call.graph.operands[call.node][0])
    if to in _FLOATS:
        return x if holds(to, source) else narrowed(call, x, to)
    if to == "bool":
        return x.residue != 0
    if to.startswith(("int", "uint")):
        return _whole(x, to)
    raise NoField(f"a cast of floats to {to}")


def _whole(x: Dual, to: str) -> Any:
    """Not where a number is too close to a whole one to tell on which side it lies, unless it is that number.
    """
    nearest, limits = np.round(x.real), np.iinfo(to)
    if (
        not (np.abs(x.real) < 1 << 30).all() or (x.real <= limits.min - 1).any()
        or (x.real >= limits.max + 1).any()
    ):
        raise NoField(f"a number that {to} cannot represent")
    exact = x.residue == nearest.astype(np.int64) % PRIME
    if ((np.abs(x.real - nearest) <= CLOSE * np.maximum(np.abs(x.real), 1)) & ~exact).any():
        raise Undecided("a rounding is too close")
    return np.where(exact, nearest, np.trunc(x.real)).astype(to)
