"""Arrays as JSON: nested lists, base64 (little-endian, C order), or a place in a weights file; and back.

Types without a NumPy counterpart: `bfloat16` has two bytes an element in base64, `int4` and its like one.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
import sys
from typing import Any, Final

from gslang.base.diagnostics import InputError
from gslang.dialect.call_check import SPECIAL_FLOATS
from gslang.dialect.dtypes import PLAIN, is_float, numpy_dtype, numpy_dtype_exists
from gslang.dialect.tensor_type import TensorType, is_static
from gslang.formats.json_file import JsonFile
from gslang.graph.scalar import Scalar, as_element

_INLINE: Final = 64  # values of up to so many elements are written as lists, larger ones as base64


def read_value(file: JsonFile, at: str, value: object, type: TensorType) -> object:
    """The array at pointer `at`, or a handle of one in a weights file. Raises `InputError`."""
    shape, dtype = type.shape, type.dtype
    if shape is None or not is_static(shape):
        file.fail(at, "a value needs a shape of known numbers")
    if dtype is None or not numpy_dtype_exists(dtype):
        file.fail(at, f"values of type `{dtype}` cannot be represented")
    extents = tuple([int(d) for d in shape if isinstance(d, int)])
    if (
        extents == () and dtype in Scalar.dtypes and isinstance(value, (int, float))
        and not isinstance(value, bool) and not _unfit(value, dtype)
    ):
        number = as_element(value, dtype)
        if number is not None and math.isfinite(number):
            return Scalar(number, dtype)
    if not isinstance(value, dict):
        return _from_lists(file, at, value, extents, dtype)
    match sorted(value):
        case ["base64"]:
            return _from_base64(file, f"{at}/base64", value["base64"], extents, dtype)
        case ["file", "key"]:
            return _from_file(file, at, value["file"], value["key"], TensorType(shape, dtype))
    file.fail(at, 'expected nested lists, {"base64": …}, or {"file": …, "key": …}')


def _from_lists(file: JsonFile, at: str, value: Any, shape: tuple[int, ...], dtype: str) -> Any:
    import numpy

    array = _numbers(value, shape, dtype)
    if array is not None:
        return array
    items = [value]
    for depth, extent in enumerate(shape):
        for k, item in enumerate(items):
            if not isinstance(item, list) or len(item) != extent:
                found = f"a list of {len(item)}" if isinstance(item, list) else _short(item)
                message = f"expected a list of {extent} for shape {list(shape)}, got {found}"
                file.fail(_item_pointer(at, k, shape[:depth]), message)
        items = [part for item in items for part in item]
    for k, item in enumerate(items):
        if why := _unfit(item, dtype):
            file.fail(_item_pointer(at, k, shape), why)
    plain = [SPECIAL_FLOATS[item] if isinstance(item, str) else item for item in items]
    with numpy.errstate(over="ignore"):
        array = numpy.array(plain, dtype=numpy_dtype(dtype))
    if is_float(dtype):
        for k in numpy.flatnonzero(numpy.isinf(array)).tolist():
            if not isinstance(items[k], str):
                file.fail(_item_pointer(at, k, shape), f"{_short(items[k])} is too large for {dtype}")
    return array.reshape(shape)


def _numbers(value: object, shape: tuple[int, ...], dtype: str) -> Any:
    """The array of nested lists in which all is plainly as it should be; None where each element has to be
    looked at.
    """
    import numpy

    if "True" in (text := repr(value)) or "False" in text:  # NumPy would make them numbers
        return None
    try:
        array = numpy.array(value)
    except (ValueError, OverflowError):
        return None
    if (
        array.shape != shape or dtype == "bool" or dtype not in PLAIN
        or array.dtype != (numpy.float64 if is_float(dtype) else numpy.int64)
    ):
        return None
    with numpy.errstate(over="ignore"):
        held = array.astype(numpy_dtype(dtype))
    return held if (numpy.isfinite(held) if is_float(dtype) else held == array).all() else None


def _unfit(item: object, dtype: str) -> str | None:
    """Why a JSON value is no element of a dtype."""
    if dtype == "bool":
        return None if isinstance(item, bool) else f"expected true or false, got {_short(item)}"
    if is_float(dtype):
        if isinstance(item, str):
            return (
                None if item in SPECIAL_FLOATS
                else f'expected a number, "nan", "inf" or "-inf", got {_short(item)}'
            )
        if isinstance(item, bool) or not isinstance(item, (int, float)):
            return f"expected a number, got {_short(item)}"
        return f"{_short(item)} is too large for {dtype}" if abs(item) > sys.float_info.max else None
    if isinstance(item, bool) or not isinstance(item, int):
        return f"expected an integer for {dtype}, got {_short(item)}"
    bits = int(re.sub(r"\D", "", dtype) or 64)
    low, high = (0, 2**bits - 1) if dtype.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return None if low <= item <= high else f"{_short(item)} is out of range for {dtype} ({low} to {high})"


def _short(value: object) -> str:
    return cut_off(json.dumps(value))


def cut_off(text: str) -> str:
    """The beginning of a text, for messages."""
    return text if len(text) <= 40 else text[:39] + "…"


def _item_pointer(at: str, flat: int, shape: tuple[int, ...]) -> str:
    """The pointer of an element by its number in C order."""
    parts: list[str] = []
    for extent in reversed(shape):
        flat, index = divmod(flat, extent)
        parts.append(f"/{index}")
    return at + "".join(reversed(parts))


def _from_base64(file: JsonFile, at: str, text: object, shape: tuple[int, ...], dtype: str) -> Any:
    import numpy

    if not isinstance(text, str):
        file.fail(at, "expected a string")
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        file.fail(at, "invalid base64")
    held = numpy_dtype(dtype)
    stored = numpy.dtype("<u2") if dtype == "bfloat16" else held.newbyteorder("<")
    expected = stored.itemsize * math.prod(shape)
    if len(raw) != expected:
        file.fail(at, f"{len(raw)} bytes, but shape {list(shape)} of {dtype} has {expected}")
    array = numpy.frombuffer(raw, stored)
    if dtype == "bfloat16":
        return (array.astype("u4") << 16).view(numpy.float32).reshape(shape)
    return array.astype(held).reshape(shape)


def _from_file(file: JsonFile, at: str, name: object, key: object, declared: TensorType) -> Any:
    if not isinstance(name, str) or not isinstance(key, str):
        file.fail(at, "`file` and `key` are strings")
    arrays = file.weights(f"{at}/file", name)
    try:
        found = arrays.type_of(key)
    except InputError as error:
        file.fail(f"{at}/key", f"`{name}`: {error.message}", error.help)
    held = numpy_dtype(declared.dtype or "").name
    if found != TensorType(declared.shape, held):
        file.fail(at, f"`{key}` in `{name}` is {found}, declared is {declared}")
    return arrays.handle(key)


def value_entry(array: object, dtype: str | None = None) -> object:
    """An array, or a number, as JSON: lists for small ones, base64 for the rest.

    `dtype` is the declared type's name.
    """
    if type(array) is Scalar:
        return plain_value(array.number)
    import numpy

    array = numpy.asarray(array)
    if array.size <= _INLINE:
        return (
            array.tolist() if array.dtype.kind != "f" or numpy.isfinite(array).all()
            else plain_value(array.tolist())
        )
    if dtype == "bfloat16":
        bits = numpy.ascontiguousarray(array, numpy.float32).reshape(-1).view(numpy.uint32)
        if (bits & 0xFFFF).any():  # not rounded to the type yet: lists keep every bit
            return plain_value(array.tolist())
        return {"base64": base64.b64encode((bits >> 16).astype("<u2").tobytes()).decode("ascii")}
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return {"base64": base64.b64encode(little.tobytes()).decode("ascii")}


def plain_value(value: object) -> object:
    """Numbers and nested sequences with the floats that JSON lacks as strings."""
    if isinstance(value, (tuple, list)):
        return [plain_value(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value
