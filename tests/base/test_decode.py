"""Bytes that are no UTF-8: where, and what they probably are."""

from __future__ import annotations

import pytest

from gslang.base.decode import decoded
from gslang.base.diagnostics import Diagnostic, InputError
from gslang.base.source import Source
from gslang.syntax.parser import source_of

CASES = {
    "utf-16": ("rule".encode("utf-16"), "1:1", "this is UTF-16"),
    "utf-32": ("rule".encode("utf-32"), "1:1", "this is UTF-32"),
    "latin-1": ("x\n# straße".encode("latin-1"), "2:7", "in Latin-1 it would be `ß`"),
    "binary": (b"\0\1\2\x80", "1:4", "is this a text file?"),
    "latin-1 behind a mark": (
        b"\xef\xbb\xbf\xc3\xa4\n" + "straße".encode("latin-1"), "2:5", "in Latin-1 it would be `ß`",
    ),
    "binary behind two marks": (b"\xef\xbb\xbf\xef\xbb\xbf\xcf\xbb\xbf#", "1:3", "save the file as UTF-8"),
    "cut off in a letter": ("ä".encode()[:1], "1:1", "in Latin-1 it would be `Ã`"),
}


@pytest.mark.parametrize("name", CASES)
def test_not_utf8(name: str) -> None:
    data, place, help = CASES[name]
    with pytest.raises(InputError) as caught:
        decoded(data, "file")
    assert caught.value.place == place and help in caught.value.help and "is not UTF-8" in str(caught.value)
    found = source_of("file", data)
    assert (
        isinstance(found, Diagnostic) and str(found.primary.span) == f"file:{place}"
        and help in (found.help or "")
    )


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_and_byte_order_mark(end: str) -> None:
    found = source_of("file", b"\xef\xbb\xbf" + f"# one{end}two".encode())
    assert isinstance(found, Source) and found.text == "# one\ntwo"
