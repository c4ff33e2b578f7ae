"""Bytes of a user's file → text. Everything is UTF-8, with or without a byte order mark.

Not here: line ends, which are each format's own matter.
"""

from __future__ import annotations

import codecs

from gslang.base.diagnostics import InputError


def decoded(data: bytes, path: str) -> str:
    """The text of a file.

    Raises `InputError` with the line and column of the first byte that is not UTF-8.
    """
    data = data.removeprefix(codecs.BOM_UTF8)  # `utf-8-sig` counts some offsets from behind the mark
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
        message, help = not_text(data, error.start)
        raise InputError(message, path=path, place=f"{line}:{column}", help=help) from None


def not_text(data: bytes, at: int) -> tuple[str, str]:
    """The message for bytes that are not UTF-8 from offset `at` on, and a suggested fix."""
    message = f"byte 0x{data[at]:02x} is not UTF-8"
    if (wide := _wide_encoding(data)) is not None:
        return message, f"this is {wide}: save the file as UTF-8"
    if b"\0" in data[:4096]:
        return message, "is this a text file?"
    letter = data[at : at + 1].decode("latin-1")
    if letter.isalpha():
        return message, f"in Latin-1 it would be `{letter}`: save the file as UTF-8"
    return message, "save the file as UTF-8"


def _wide_encoding(data: bytes) -> str | None:
    """`UTF-32` or `UTF-16` if the bytes begin with its byte order mark, else None.

    The mark of UTF-32 in little-endian order begins with that of UTF-16.
    """
    if data[:4] in (b"\xff\xfe\0\0", b"\0\0\xfe\xff"):
        return "UTF-32"
    return "UTF-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else None
