"""Attribute values in Relay text: None, bool, int, float, str and tuples of these; a metadata reference that
stands for something else stays the string `meta[KEY][i]` and is written back as it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from gslang.base.diagnostics import InputError
from gslang.base.open_types import Attrs
from gslang.dialect.dialect import Dialect
from gslang.dialect.signature import AttributeSpec, Signature
from gslang.formats.relay.literals import LiteralError, attribute_number, write_float
from gslang.formats.relay.metadata import REFERENCE, Metadata
from gslang.formats.relay.module import WHOLE_ATTRS
from gslang.formats.relay.naming import is_word
from gslang.formats.relay.spellings import STATED

MAX_DEPTH: Final = 100
_NAMED: Final = {"True": True, "False": False, "None": None, "nullptr": None}
_ESCAPE: Final = re.compile(r"\\(x[0-9a-fA-F]{2}|[0-7]{1,3}|.)", re.DOTALL)
_ESCAPES: Final = {"n": "\n", "r": "\r", "t": "\t"}
_INTEGER: Final = re.compile(r"-?\d{1,18}")
_PLAIN_INTEGERS: Final = re.compile(r"\[-?\d{1,18}(?:, *-?\d{1,18})*\]")


class AttributeProblem(Exception):
    """At token `index` something else was expected."""

    def __init__(self, index: int, expected: str) -> None:
        super().__init__(expected)
        self.index, self.expected = index, expected


def read_string(token: str) -> str:
    """The text of a string token."""
    inside = token[1:-1]
    if "\\" not in inside:
        return inside
    # Bytes that are no ASCII are printed as \xHH of their UTF-8 form.
    raw = _ESCAPE.sub(_unescape, inside)
    try:
        return raw.encode("latin-1").decode("utf-8")
    except (UnicodeEncodeError, UnicodeDecodeError):
        return raw


def _unescape(found: re.Match[str]) -> str:
    what = found[1]
    if what[0] == "x" and len(what) == 3:
        return chr(int(what[1:], 16))
    if what[0] in "01234567":
        return chr(int(what, 8) & 255)
    return _ESCAPES.get(what, what)


def compact_value(text: str) -> object:
    """The value of an attribute that is one token: a string, number, name or flat list.

    Raises `LiteralError`.
    """
    if text[0] == '"':
        return read_string(text)
    if text in _NAMED:
        return _NAMED[text]
    if text[0] != "[":
        return int(text) if _INTEGER.fullmatch(text) else attribute_number(text)
    if _PLAIN_INTEGERS.fullmatch(text):
        return tuple(map(int, text[1:-1].split(",")))
    parts = [part.strip() for part in text[1:-1].split(",")]
    if parts and not parts[-1]:
        parts.pop()
    return tuple(_NAMED[part] if part in _NAMED else attribute_number(part) for part in parts)


def read_value(tokens: list[str], at: int, metadata: Metadata | None, depth: int = 0) -> tuple[object, int]:
    """The value that begins at token `at`, and the index behind it. Raises `AttributeProblem`."""
    token = tokens[at]
    if depth > MAX_DEPTH:
        raise AttributeProblem(at, f"a list with at most {MAX_DEPTH} levels")
    if token[0] == '"' and len(token) > 1:
        return read_string(token), at + 1
    if token in _NAMED:
        return _NAMED[token], at + 1
    if token.startswith("meta["):
        return _decoded(token, metadata), at + 1
    if token == "[":
        items = []
        at += 1
        while tokens[at] != "]":
            item, at = read_value(tokens, at, metadata, depth + 1)
            items.append(item)
            if tokens[at] == ",":
                at += 1
            elif tokens[at] != "]":
                raise AttributeProblem(at, "`,` or `]`")
        return tuple(items), at + 1
    if token == "(":
        value, at = read_value(tokens, at + 1, metadata, depth + 1)
        if tokens[at] != ")":
            raise AttributeProblem(at, "`)`")
        return value, at + 1
    if token[0] == "@":
        return token, at + 1
    try:
        return attribute_number(token), at + 1
    except LiteralError:
        raise AttributeProblem(
            at, "an attribute's value (a number, string, list, `True`, `False` or `None`)"
        ) from None


def _decoded(reference: str, metadata: Metadata | None) -> object:
    found = REFERENCE.fullmatch(reference)
    if found is None or metadata is None:
        return reference
    number = metadata.find(found[1], int(found[2]))
    if number is None:
        return reference
    try:
        value = metadata.decoded(number)
    except LookupError:
        return reference
    return reference if isinstance(value, dict) else value


def attributes_of_object(
    signature: Signature, raw: Attrs, metadata: Metadata
) -> dict[str, object] | None:
    """An attribute object's values by the operator's declared types, without those that equal their default.

    None if something in it cannot be said in attributes (then the reference stays).
    """
    result = {}
    for name, text in raw.items():
        spec = signature.attributes.get(name)
        if spec is None:
            return None
        for alternative in spec.types:
            try:
                value = _typed(str(text), alternative.base if not alternative.depth else "", metadata)
                break
            except (ValueError, LookupError):
                continue
        else:
            return None
        if (
            name not in signature.defaults or signature.defaults[name] != value
            or (signature.name, name) in STATED
        ):
            result[name] = value
    return result


def _typed(text: str, base: str, metadata: Metadata) -> Any:
    if base == "bool":
        return bool(int(text))
    if base == "int":
        return int(text)
    if base == "float":
        return float(text)
    if base in ("str", "dtype"):
        return text
    return metadata.decoded(int(text))


def normalised(attrs: dict[str, object], signature: Signature | None) -> dict[str, object]:
    """`0` and `1` as bool where the declaration says so."""
    if signature is not None:
        for name, value in attrs.items():
            if type(value) is int and value in (0, 1):
                spec = signature.attributes.get(name)
                if spec is not None and spec.types[0].base == "bool" and not spec.types[0].depth:
                    attrs[name] = bool(value)
    return attrs


def dtype_attribute(operator: str, dialect: Dialect | None) -> str:
    """The attribute that a positional string stands for in the old grammar."""
    signature = dialect.get(operator) if dialect is not None else None
    if signature is not None:
        for name, spec in signature.attributes.items():
            if spec.types and spec.types[0].base == "dtype":
                return name
    return "dtype"


# ── writing ─────────────────────────────────────────────────────────────────────────────────────────────────


def write_string(text: str) -> str:
    """A string with C escapes."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    named = {'"': '\\"', "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
    pieces = []
    for character in text:
        if character in named:
            pieces.append(named[character])
        elif character.isascii() and character.isprintable():
            pieces.append(character)
        else:
            pieces += [f"\\x{byte:02x}" for byte in character.encode("utf-8", "surrogatepass")]
    return '"' + "".join(pieces) + '"'


def write_value(value: object, as_float: bool) -> str:
    """One attribute value; `as_float` is what the declaration says of its numbers."""
    if value is None:
        return "None"
    if isinstance(value, bool):
        return "True" if value else "False"
    if isinstance(value, float) or (as_float and isinstance(value, int)):
        try:
            return write_float(float(value))
        except OverflowError:
            raise InputError("an integer is too large for Relay text, which has a float there") from None
    if isinstance(value, int):
        return str(value) if -(1 << 31) <= value < 1 << 31 else f"{value}i64"
    if isinstance(value, str):
        return value if REFERENCE.fullmatch(value) or value[:1] == "@" else write_string(value)
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join([write_value(item, as_float) for item in value]) + "]"
    raise InputError(f"an attribute value of type {type(value).__name__} cannot be written as Relay text")


def written_attributes(attrs: Attrs, signature: Signature | None) -> Iterator[str]:
    """The attributes to print: of a known operator in the order of declaration and without defaults, else
    all.
    """
    for name in attrs:
        if name != WHOLE_ATTRS and not is_word(name):
            raise InputError(f"an attribute called `{name}` cannot be written as Relay text")
    if signature is None:
        for name, value in attrs.items():
            if name != WHOLE_ATTRS:
                yield f"{name}={write_value(value, False)}"
    else:
        declared: dict[str, AttributeSpec] = dict(signature.attributes)
        declared.update({o.name: o.attribute for o in signature.operands if o.attribute is not None})
        for name, spec in declared.items():
            default = (
                name in signature.defaults and name in attrs and _equal(signature.defaults[name], attrs[name])
            )
            if name in attrs and (not default or (signature.name, name) in STATED):
                is_float = bool(spec.types) and spec.types[0].base == "float"
                yield f"{name}={write_value(attrs[name], is_float)}"
        for name, value in attrs.items():
            if name not in declared and name != WHOLE_ATTRS:
                yield f"{name}={write_value(value, False)}"
    if WHOLE_ATTRS in attrs:
        yield str(attrs[WHOLE_ATTRS])


def _equal(a: object, b: object) -> bool:
    return bool(a == b) and isinstance(a, bool) == isinstance(b, bool)
