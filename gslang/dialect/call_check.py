"""Checks a call against the declaration of its operator, before anything is inferred.

Values that file formats spell differently are put into normal form: an integer where only a float is
declared, 0 or 1 where only a boolean is, "nan" and "inf" where only a float is. Attributes and operands that
are not declared pass: exporters write more than dialects know, and such calls are opaque
(`graph.known_calls`).
"""

from __future__ import annotations

import math
from typing import Final

from gslang.base.open_types import Attrs
from gslang.dialect.dtypes import dtype_exists
from gslang.dialect.signature import REQUIRED, AttributeSpec, AttributeType, Signature

MISFIT: Final = object()
MOST: Final = 2**63 - 1  # an integer in a file has 64 bits
SPECIAL_FLOATS: Final = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class CallError(Exception):
    """The error in a call; `attribute` names the attribute, or is None if the operands are meant."""

    def __init__(self, message: str, attribute: str | None = None) -> None:
        super().__init__(message)
        self.attribute = attribute


def checked_attributes(signature: Signature, operands: int, attrs: Attrs) -> Attrs:
    """The attributes in normal form, `attrs` itself where nothing changes. `operands` is their number.

    A call with an attribute or operand that is not declared is opaque, and nothing else is wrong with it.
    Raises `CallError`.
    """
    specs = {o.name: o.attribute for o in signature.operands}
    opaque = any(name not in signature.attributes and name not in specs for name in attrs)
    opaque = opaque or operands > len(signature.operands) and not any(o.variadic for o in signature.operands)
    if not opaque:
        _check_operands(signature, operands)
    changed: dict[str, object] = {}
    for name, value in attrs.items():
        spec = signature.attributes.get(name) or specs.get(name)
        if spec is None:
            continue
        normal = conform(value, spec)
        if normal is MISFIT and not opaque:
            kinds = " or ".join(map(str, spec.types))
            raise CallError(
                f"attribute `{name}` of `{signature.name}` is `{kinds}`, not {_shown(value)}", name
            )
        if normal is not value and normal is not MISFIT:
            changed[name] = normal
    for name, spec in signature.attributes.items():
        if (
            spec.default is REQUIRED and name not in attrs and not opaque
            and not any(t.optional for t in spec.types)
        ):
            raise CallError(f"`{signature.name}` needs the attribute `{name}`")
    return {**attrs, **changed} if changed else attrs


def _check_operands(signature: Signature, count: int) -> None:
    specs = signature.operands
    least = sum(not (o.optional or o.variadic) for o in specs)
    most = math.inf if any(o.variadic for o in specs) else len(specs)
    if count < least:
        wanted = (
            f"{least}" if least == most else f"at least {least}" if most == math.inf else f"{least} to {most}"
        )
        names = ", ".join(o.name for o in specs)
        raise CallError(
            f"`{signature.name}` has {wanted} operand{'s' * (wanted != '1')} ({names}), not {count}"
        )


def conform(value: object, spec: AttributeSpec) -> object:
    """The value in the declared type's normal form, or `MISFIT`."""
    if any(_is(value, t, t.depth, t.optional) for t in spec.types):
        return value
    for type in spec.types:
        converted = _convert(value, type, type.depth)
        if converted is not MISFIT:
            return converted
    return MISFIT


def _is(value: object, type: AttributeType, depth: int, optional: bool) -> bool:
    if value is None:
        return optional
    if depth:
        return isinstance(value, tuple) and all(_is(item, type, depth - 1, False) for item in value)
    match type.base:
        case "int":
            return isinstance(value, int) and not isinstance(value, bool) and -MOST - 1 <= value <= MOST
        case "float":
            return isinstance(value, float)
        case "bool":
            return isinstance(value, bool)
        case "str":
            return isinstance(value, str)
        case "dtype":
            return isinstance(value, str) and (not value or dtype_exists(value))  # "": that of the operands
        case "tensor":
            return hasattr(value, "dtype") or hasattr(value, "load")
    return True


def _convert(value: object, type: AttributeType, depth: int) -> object:
    if depth:
        if not isinstance(value, tuple):
            return MISFIT
        items = tuple([_convert(item, type, depth - 1) for item in value])
        return MISFIT if any(item is MISFIT for item in items) else items
    if _is(value, type, 0, False):
        return value
    if (
        type.base == "float" and isinstance(value, int) and not isinstance(value, bool)
        and abs(value) <= 2**1023
    ):
        return float(value)
    if type.base == "float" and isinstance(value, str):
        return SPECIAL_FLOATS.get(value, MISFIT)
    if type.base == "bool" and _is_bit(value):
        return bool(value)
    return MISFIT


def _is_bit(value: object) -> bool:
    """True for the integers 0 and 1."""
    return isinstance(value, int) and value in (0, 1)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"
