"""Positions in each unit, with characters of one to four bytes, and all line ends; in the file itself and
over the wire.
"""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gslang.lsp.positions import Lines
from tests.lsp.client import Client

TEXTS = st.text(st.sampled_from("ab é€😀\u2028\x0c\x85\n\r\t\ud83d"), max_size=30)
UNITS = ("utf-8", "utf-16", "utf-32")
BYTES = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


def expected(text: str, offset: int, unit: str) -> tuple[int, int]:
    """The same, the slow way: lines cut one by one, characters encoded."""
    encoding, size = BYTES[unit]
    before = text[:offset].replace("\r\n", "\n").replace("\r", "\n")
    line = before.rpartition("\n")[2]
    return before.count("\n"), len(line.encode(encoding, "surrogatepass")) // size


@given(TEXTS, st.sampled_from(UNITS), st.data())
def test_there_and_back(text: str, unit: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text)))
    lines = Lines(text, unit)
    inside = text[offset - 1 : offset + 1] == "\r\n"  # a position cannot stand inside of a line break
    line, character = lines.position(offset)
    assert lines.offset(line, character) == (offset - 1 if inside else offset)
    if not inside:
        assert (line, character) == expected(text, offset, unit)


@given(TEXTS, st.sampled_from(UNITS), st.integers(-2, 40), st.integers(-2, 40))
def test_any_position_is_moved_into_the_text(text: str, unit: str, line: int, character: int) -> None:
    lines = Lines(text, unit)
    offset = lines.offset(line, character)
    assert 0 <= offset <= len(text)
    assert lines.position(offset)[0] == min(max(line, 0), len(lines.starts) - 1)


def test_inside_of_a_character() -> None:
    assert Lines("a😀b", "utf-16").offset(0, 2) == 1
    assert Lines("aéb", "utf-8").offset(0, 2) == 1
    assert Lines("a\r\nb").position(2) == (0, 1)


TEXT = (
    '## é 😀\nrule emoji(x): "é😀" == x.kind;\nrule r(x): nn.relu(nn.relux(x)) where "é😀é" == x.dtype and '
    '😀exq(x) => x;\r\n# \u2028 \x0c\rrule last(x): exq(x) => x;'
)


@pytest.mark.parametrize("unit", UNITS)
def test_agreed_upon_with_the_client(unit: str) -> None:
    client = Client(encodings=["unknown", unit])
    assert client.server["capabilities"]["positionEncoding"] == unit
    for k, end in enumerate(["\n", "\r\n", "\r"]):
        say_it_all(client, f"untitled:{k}", unit, end)
    assert client.close() == 0 and client.stderr == ""


def say_it_all(client: Client, uri: str, unit: str, end: str) -> None:
    """A finding behind characters of several widths, a hover there, and edits at its place."""
    encoding, size = BYTES[unit]
    text = f'rule r(x) {{{end}    a = exp(x); c = "é😀é"; b = exq(a);{end}    b => x{end}}}{end}'
    (found,) = [d for d in client.open(uri, text) if d["code"] == "E0301"]
    line = re.split("\r\n|\r|\n", text)[1]
    start = len(line[: line.index("exq")].encode(encoding)) // size
    assert found["range"] == {
        "start": {"line": 1, "character": start},
        "end": {"line": 1, "character": start + 3},
    }
    assert client.at("hover", uri, 1, start - 4)["contents"]["value"].startswith("**b**")
    behind = {"line": 1, "character": start + len("é😀".encode(encoding)) // size}
    edits = [
        {"range": found["range"], "text": "é😀"},
        {"range": {"start": found["range"]["start"], "end": behind}, "text": "exp"},
    ]
    assert [d for d in client.change(uri, *edits) if d["code"] == "E0301"] == []


def test_utf_16_where_nothing_is_agreed_upon() -> None:
    client = Client()
    assert client.server["capabilities"]["positionEncoding"] == "utf-16"
    assert {d["code"] for d in client.open("untitled:1", TEXT)} >= {"E0106"}
    assert client.close() == 0 and client.stderr == ""


def test_paths_of_windows() -> None:
    from pathlib import PureWindowsPath

    from gslang.lsp.store import windows_path

    for host, path, expected in (
        ("", "/c:/rules/a.gsl", "c:\\rules\\a.gsl"),
        ("localhost", "/D:/a b.gsl", "D:\\a b.gsl"),
        ("server", "/share/a.gsl", "\\\\server\\share\\a.gsl"),
    ):
        assert str(PureWindowsPath(windows_path(host, path))) == expected
