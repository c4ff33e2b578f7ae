"""Data types by name, and the NumPy types that hold their values."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from functools import lru_cache
from typing import Any, Final

from gslang.base.suggest import did_you_mean

# Names whose NumPy type is spelled the same.
PLAIN: Final = frozenset({
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
    "float64",
})

# What names of data types are made of, besides numbers.
DTYPE_WORDS: Final = (
    "bfloat", "bool", "complex", "custom", "float", "fn", "fnuz", "handle", "int", "string", "uint",
)

# Types without a NumPy counterpart, held in the next larger one.
_HELD: Final = {"int4": "int8", "uint4": "uint8", "int2": "int8", "uint1": "bool", "bfloat16": "float32"}


def numpy_dtype(name: str) -> Any:
    """The NumPy dtype that holds values of a named type. Raises `TypeError` for a name that has none."""
    import numpy

    if name in PLAIN:
        return numpy.dtype(name)
    if name in _HELD:
        return numpy.dtype(_HELD[name])
    raise TypeError(f"no values of type `{name}`")


def is_float(name: str) -> bool:
    return name.startswith(("float", "bfloat"))


def numpy_dtype_exists(name: str) -> bool:
    """True if values of this type can be held (no NumPy needed to know)."""
    return name in PLAIN or name in _HELD


# Names of types that graphs speak of but whose values cannot be held.
_OTHER: Final = re.compile(
    r"u?int\d{1,3}(x\d+)?|(b?float|complex)(4|8|16|32|64|80|128)(x\d+)?"
    r"|e\dm\d_float8|float\d_?e\dm\d\w*|custom\[.*\]\d+|string|handle"
)


@lru_cache(maxsize=256)
def dtype_exists(name: str) -> bool:
    """True if this is the name of a data type, also of one whose values cannot be held."""
    return isinstance(name, str) and (numpy_dtype_exists(name) or _OTHER.fullmatch(name) is not None)


# Names of data types elsewhere: in C, NumPy, PyTorch, MLIR, LLVM and ONNX.
_ELSEWHERE: Final = {
    "half": "float16", "float": "float32", "single": "float32", "double": "float64", "long": "int64",
    "int": "int32", "short": "int16", "char": "int8", "byte": "uint8", "uint": "uint32", "boolean": "bool",
    "bool_": "bool", "i1": "bool", "bfloat16": "bfloat16", "bf16": "bfloat16", "str": "string",
}
_SHORT: Final = re.compile(r"(fp|f|i|si|s|u|ui)(8|16|32|64)")
_KINDS: Final = {"fp": "float", "f": "float", "i": "int", "si": "int", "s": "int", "u": "uint", "ui": "uint"}


def dtype_meant(name: str) -> str | None:
    """The data type that a name of another language stands for, or that is spelt nearly so: `float16` for
    `half`, `fp16`, `FLOAT16` and `flaot16`. None: no guess."""
    elsewhere = dtype_elsewhere(name)
    if elsewhere is not None or _SHORT.fullmatch(name.lower()) is not None:
        return elsewhere
    return did_you_mean(name.lower().rpartition(".")[2], sorted(PLAIN))


def dtype_elsewhere(name: str) -> str | None:
    """The data type that a name of another language stands for, also with the module that it belongs to:
    `float16` for `half`, `fp16`, `FLOAT16` and `torch.half`. None: it is no such name."""
    last = name.lower().rpartition(".")[2]
    if last in PLAIN:
        return last
    if (short := _SHORT.fullmatch(last)) is not None:
        full = _KINDS[short[1]] + short[2]
        return full if full in PLAIN else None
    return _ELSEWHERE.get(last)


def whole_numbers(name: str) -> tuple[int, int] | None:
    """The least and the greatest value of a type of whole numbers or truth values; None for any other
    type."""
    if name == "bool":
        return 0, 1
    if name not in PLAIN or is_float(name):
        return None
    signed, bits = name.startswith("int"), int(name.removeprefix("u").removeprefix("int"))
    return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)


# The bits of a float type's significand, and its largest exponent.
_FLOATS: Final = {"float16": (11, 15), "bfloat16": (8, 127), "float32": (24, 127), "float64": (53, 1023)}


def becomes_infinite(number: float | int, name: str) -> bool:
    """True for a finite number that rounds to an infinite one of a type of floats."""
    if name not in _FLOATS or isinstance(number, float) and not math.isfinite(number):
        return False
    bits, exponent = _FLOATS[name]
    return abs(number) >= (1 << exponent + 1) - (1 << exponent - bits)


# Names for sets of data types in declarations: `tensor(float)`, `dtype(int | uint)`.
CLASSES: Final = ("float", "int", "uint", "integer", "number", "bool", "string", "complex", "any")


def in_class(name: str, wanted: str) -> bool:
    """True if a data type is the wanted one, or one of a class: `int` are the signed ones, `integer` these
    and `uint`.
    """
    match wanted:
        case "float":
            return is_float(name)
        case "int" | "uint" | "complex":
            return name.startswith(wanted)
        case "integer":
            return name.startswith(("int", "uint"))
        case "number":
            return name.startswith(("int", "uint")) or is_float(name)
        case "any":
            return True
    return name == wanted


def shown_classes(names: Collection[str]) -> tuple[str, ...]:
    """Data types for people: a class stands for its members if all the plain ones are among them.

    Other types are listed.
    """
    if PLAIN <= set(names):
        return ("any",)
    left, found = set(names), []
    for wanted in ("number", "float", "integer", "int", "uint"):
        members = {name for name in PLAIN if in_class(name, wanted)}
        if members <= left:
            found.append(wanted)
            left = {name for name in left if not in_class(name, wanted)}
    return (*found, *sorted(left))
