"""Scalar literals: text → typed value, and the shortest text that reads back as exactly the same value."""

from __future__ import annotations

import re
from functools import lru_cache
from math import isinf, isnan
from typing import Any, Final

import numpy

_NUMBER: Final = re.compile(
    r"(?P<minus>-*)(?:(?P<mantissa>\d+(?P<point>\.\d+)?(?P<exponent>[eE][+-]?\d+)?)"
    r"(?P<suffix>[fi](?:16|32|64)?)?"
    r"|(?P<special>inff|nanf)(?P<width>16|32|64)?)"
)
_SUFFIX: Final = {
    "f": "float32", "f16": "float16", "f32": "float32", "f64": "float64",
    "i": "int32", "i16": "int16", "i32": "int32", "i64": "int64",
}  # fmt: skip
# Scalar types with a literal form of their own, and what follows the digits.
_WRITTEN: Final = {
    "int16": "i16",
    "int32": "",
    "int64": "i64",
    "float16": "f16",
    "float32": "f",
    "float64": "f64",
}
INLINE_DTYPES: Final = frozenset((*_WRITTEN, "bool"))
_NUMERIC: Final = re.compile(r"u?int(?:8|16|32|64)|float(?:16|32|64)|bool")
MAX_LENGTH: Final = 400  # characters of a number


class LiteralError(ValueError):
    """A literal that has no value; the message says why."""


@lru_cache(maxsize=4096)
def read_number(text: str, said: str | None = None) -> tuple[Any, str, str | None]:
    """(value, dtype, remark) of a literal; `said` is the dtype that a comment states.

    An unsuffixed literal takes the stated type (before 0.9 int64 had no suffix); a suffixed one keeps its
    own, and the contradiction is the remark. Raises `LiteralError`.
    """
    found = _matched(text)
    sign = -1 if len(found["minus"]) % 2 else 1
    remark = None
    if found["special"]:
        dtype = f"float{found['width'] or '32'}"
        value: Any = sign * float(found["special"][:-1])
    else:
        suffix = found["suffix"]
        fractional = bool(found["point"] or found["exponent"])
        if suffix:
            dtype = _SUFFIX[suffix]
        elif fractional:
            dtype = said if said in ("float16", "float64") else "float32"
            if said is None:
                remark = f"`{text}` has no suffix and is taken as float32; write `{text}f`"
        elif said is not None and _NUMERIC.fullmatch(said):
            dtype = said
        else:
            dtype = "int32" if -(1 << 31) <= sign * int(found["mantissa"]) < 1 << 31 else "int64"
        if dtype.startswith("float"):
            value = sign * float(found["mantissa"])
        elif fractional:
            raise LiteralError(f"`{text}` is not an integer")
        else:
            value = sign * int(found["mantissa"])
    if said is not None and said != dtype:
        remark = f"`{text}` is {dtype}, its comment says {said}"
    return _typed(text, value, dtype), dtype, remark


def _matched(text: str) -> re.Match[str]:
    found = _NUMBER.fullmatch(text)
    if found is None:
        raise LiteralError(f"`{text}` is not a number")
    if len(text) > MAX_LENGTH:
        raise LiteralError(f"a number of {len(text)} characters")
    return found


def _typed(text: str, value: Any, dtype: str) -> Any:
    if dtype == "bool":
        if value not in (0, 1):
            raise LiteralError(f"`{text}` is out of range for bool")
    elif dtype.startswith("float"):
        # The shortest decimal of the largest float32 is above it: what rounds to it fits. For float16 TVM is
        # strict.
        with numpy.errstate(over="ignore"):
            rounded = float(numpy.dtype(dtype).type(value))
        if "inf" not in text and (isinf(rounded) or (dtype == "float16" and abs(value) > 65504)):
            raise LiteralError(f"`{text}` is out of range for {dtype}")
    else:
        limits = numpy.iinfo(dtype)
        if not limits.min <= value <= limits.max:
            raise LiteralError(f"`{text}` is out of range for {dtype}")
    result = numpy.array(value, dtype=dtype)
    result.setflags(write=False)  # shared by all literals of this text
    return result


def attribute_number(text: str) -> int | float:
    """The value of a number in an attribute: an int, or a float if it has a point, an exponent or the suffix
    `f`.
    """
    found = _matched(text)
    sign = -1 if len(found["minus"]) % 2 else 1
    if found["special"]:
        return sign * float(found["special"][:-1])
    suffix = found["suffix"] or ""
    if found["point"] or found["exponent"] or suffix.startswith("f"):
        return sign * float(found["mantissa"])
    return sign * int(found["mantissa"])


def _digits(value: float, shortest: str) -> str:
    if isnan(value):
        return "nan"
    if value in (float("inf"), float("-inf")):
        return "inf" if value > 0 else "-inf"
    if value == int(value) and abs(value) < 1e16:
        sign = "-" if str(value).startswith("-") else ""
        return f"{sign}{abs(int(value))}"
    return shortest


def write_float(value: float) -> str:
    """A float attribute, with its `f`."""
    return _digits(value, repr(value)) + "f"


def write_scalar(value: Any, dtype: str) -> str:
    """A scalar of one of `INLINE_DTYPES`, exact."""
    if dtype == "bool":
        return "True" if value else "False"
    if dtype.startswith("int"):
        text = str(int(value))
        # The first number that does not fit is the negated one, so the lowest int needs no special form.
        return text + _WRITTEN[dtype]
    scalar = numpy.dtype(dtype).type(value)
    digits = _digits(float(scalar), str(scalar))
    if not isnan(scalar) and numpy.dtype(dtype).type(float(digits)) != scalar:
        digits = repr(float(scalar))
    if digits in ("inf", "-inf", "nan"):
        return digits + ("f" if dtype == "float32" else "f" + dtype[5:])
    return digits + _WRITTEN[dtype]
