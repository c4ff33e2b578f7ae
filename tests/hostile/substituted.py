"""Every place of a well-formed document in turn, with every odd value in it.

Mutations (`fuzz`) seldom leave a document that says something; here all but one place stay as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

ODD: tuple[Any, ...] = (
    None, True, -1, 0, 2**31, 2**62, 2**64, 10**400, -0.0, 1.5, float("nan"), float("inf"), "", "x" * 5000,
    "\0", "\ud800", "../../x", "1e999", [], [[]], {}, {"": None},
)
_TEXTS = (
    b"", b"-1", b"0", b"1e999", b"9223372036854775808", b"9" * 400, b"0.0", b"none", b"true", b'"x"', b"nan",
    b"inf", b"()", b"(1, 2)", b"_", b"x", b"*", b"\xef\xbf\xbe",
)


def with_odd_values(document: Any) -> Iterator[bytes]:
    """JSON texts: each place with each value, each key left out, twice, or with another name."""
    for path in _paths(document):
        if not path:
            continue
        for value in ODD:
            yield _text(_with(document, path, lambda _, value=value: value))
        *above, last = path
        for change in _of_key(last) if isinstance(last, str) else _of_item(last):
            yield _text(_with(document, tuple(above), change)).replace(b'"\\u0001', b'"')


def _text(document: object) -> bytes:
    return json.dumps(document).encode()


def _of_key(name: str) -> Iterator[Callable[[Any], Any]]:
    """Changes of an object: without a key, with another name of it, with the key twice."""
    yield lambda at: {k: v for k, v in at.items() if k != name}
    yield lambda at: {f"{k}s" if k == name else k: v for k, v in at.items()}
    yield lambda at: {**at, f"\1{name}": 7}  # the mark goes when it is text


def _of_item(k: int) -> Iterator[Callable[[Any], Any]]:
    """Changes of a list: without an item, with it twice."""
    yield lambda at: [*at[:k], *at[k + 1 :]]
    yield lambda at: [*at, at[k]]


def _paths(document: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    yield path
    listed = enumerate(document) if isinstance(document, list) else ()
    for key, inside in document.items() if isinstance(document, dict) else listed:
        yield from _paths(inside, (*path, key))


def _with(document: Any, path: tuple[str | int, ...], change: Callable[[Any], Any]) -> Any:
    if not path:
        return change(document)
    copy = dict(document) if isinstance(document, dict) else list(document)
    copy[path[0]] = _with(document[path[0]], path[1:], change)
    return copy


def with_odd_words(text: bytes) -> Iterator[bytes]:
    """Texts: each word, number, quotation and sign with each odd one in its place, left out, or twice."""
    for found in re.finditer(rb'"[^"\n]*"|[A-Za-z_][\w.]*|\d[\w.]*|[^\s\w]', text):
        before, behind = text[: found.start()], text[found.end() :]
        yield from (before + odd + behind for odd in _TEXTS)
        yield before + found.group() + b" " + found.group() + behind


def with_odd_fields(model: Any) -> Iterator[bytes]:
    """A protobuf message with each field in turn, however deep, cleared or of an odd value."""
    for path in _fields(model):
        for change in _CHANGES:
            copy = type(model)()
            copy.CopyFrom(model)
            if _change(copy, path, change):
                yield copy.SerializeToString(deterministic=True)


_CHANGES: tuple[Any, ...] = (
    "clear", "twice", -1, 0, 2**31 - 1, 2**31, 2**62, float("nan"), "", "x" * 5000, "../x",
)


def _fields(message: Any, path: tuple[tuple[str, int], ...] = ()) -> Iterator[tuple[tuple[str, int], ...]]:
    for field, value in message.ListFields():
        several = hasattr(value, "append")
        for k, part in enumerate(value if several else [value]):
            here = (*path, (field.name, k if several else -1))
            yield here
            if field.type == field.TYPE_MESSAGE:
                yield from _fields(part, here)


def _change(message: Any, path: tuple[tuple[str, int], ...], change: Any) -> bool:
    """Make the change; False if a field cannot have it."""
    *above, (name, k) = path
    for step, at in above:
        message = getattr(message, step) if at < 0 else getattr(message, step)[at]
    try:
        if change == "clear":
            if k < 0:
                message.ClearField(name)
            else:
                del getattr(message, name)[k]
        elif change == "twice":
            getattr(message, name).append(getattr(message, name)[k])
        elif k < 0:
            setattr(message, name, change.encode() if isinstance(getattr(message, name), bytes) else change)
        else:
            getattr(message, name)[k] = change
    except (TypeError, ValueError, AttributeError):
        return False
    return True
