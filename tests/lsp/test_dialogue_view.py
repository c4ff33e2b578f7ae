"""Dialogues about how a text is shown: folds, growing selections, colours, hints, formatting."""

from __future__ import annotations

from typing import Any

import pytest

from gslang.base.source import Source
from gslang.fmt.format_source import format_source
from tests.lsp.client import Client, place

TEXT = """\
#! About this file.
#! More about it.
use std.relay.common;
use std.relay.passes;

## What the rule does.
rule branches(x, w: var) {
    c = nn.conv2d(
        x, w,
        groups = 1
    );
    size = c.ndim;
    tanh(c) where front(c.groups, size) == 1
  => nn.relu(c)
}

test "a test" for branches {
    x: input float32[1, 2, 4, 4];  w: param float32[3, 2, 1, 1];
    c = nn.conv2d(x, w);
    tanh(c) => nn.relu(nn.conv2d(x, w))
}
"""
URI = "file:///nowhere/view.gsl"
ALL = {"start": {"line": 0, "character": 0}, "end": {"line": 100, "character": 0}}


@pytest.fixture(scope="module", autouse=True)
def opened(client: Client) -> None:
    assert client.open(URI, TEXT) == []


def test_folding(client: Client) -> None:
    found = {(f["startLine"], f["endLine"]): f["kind"] for f in client.on("foldingRange", URI)}
    assert found == {
        (0, 1): "comment", (2, 3): "imports", (6, 14): "region", (7, 10): "region", (16, 20): "region",
    }


def test_selection_grows_outwards(client: Client) -> None:
    line, character = place(TEXT, "groups = 1", 2)
    (chain,) = client.on("selectionRange", URI, positions=[{"line": line, "character": character}])
    texts: list[str] = []
    lines = TEXT.splitlines(keepends=True)
    while chain:
        start, end = (
            "".join(lines[: p["line"]]) + "".join(lines[p["line"] : p["line"] + 1])[: p["character"]]
            for p in (chain["range"]["start"], chain["range"]["end"])
        )
        texts.append(TEXT[len(start) : len(end)])
        chain = chain.get("parent")
    assert texts[0] == "groups" and texts[1] == "groups = 1" and texts[-1] == TEXT
    assert all(a in b and len(a) < len(b) for a, b in zip(texts, texts[1:]))
    begins = [t.strip() for t in texts]
    assert (
        any(t.startswith("nn.conv2d(") for t in begins) and any(t.startswith("c = nn") for t in begins)
        and any(t.startswith("rule branches") for t in begins)
    )


def colours(client: Client, data: list[int], text: str) -> dict[str, set[tuple[str, tuple[str, ...]]]]:
    """Word → what it is coloured as."""
    legend = client.server["capabilities"]["semanticTokensProvider"]["legend"]
    lines = text.splitlines()
    found: dict[str, set[tuple[str, tuple[str, ...]]]] = {}
    line = character = 0
    for k in range(0, len(data), 5):
        ahead, across, width, kind, bits = data[k : k + 5]
        line, character = line + ahead, across if ahead else character + across
        modifiers = tuple(name for bit, name in enumerate(legend["tokenModifiers"]) if bits >> bit & 1)
        found.setdefault(lines[line][character : character + width], set()).add(
            (legend["tokenTypes"][kind], modifiers)
        )
    return found


def test_colours(client: Client) -> None:
    found = colours(client, client.on("semanticTokens/full", URI)["data"], TEXT)
    assert found["branches"] == {("class", ("declaration",)), ("class", ())}
    assert found["conv2d"] == {("method", ())} and found["front"] == {("function", ())}
    assert found["c"] == {("variable", ("declaration",)), ("variable", ())}
    assert found["x"] == {("parameter", ("declaration",)), ("parameter", ())}
    assert (
        found["groups"] == {("property", ())} and found["var"] == {("type", ())}
        and found["float32"] == {("type", ())}
    )
    assert found["where"] == {("keyword", ())} and found['"a test"'] == {("string", ())}
    assert found["## What the rule does."] == {("comment", ("documentation",))}


def test_colours_of_a_part(client: Client) -> None:
    given = {"start": {"line": 6, "character": 0}, "end": {"line": 6, "character": 26}}
    found = colours(client, client.on("semanticTokens/range", URI, range=given)["data"], TEXT)
    assert set(found) == {"rule", "branches", "x", "w", "var"}


def test_colours_by_difference(client: Client) -> None:
    uri = "file:///nowhere/delta.gsl"
    client.open(uri, TEXT)
    before = client.on("semanticTokens/full", uri)
    start = {"line": 5, "character": 0}
    client.change(uri, {"range": {"start": start, "end": start}, "text": "fn one(a) = a + 1;\n"})
    delta = client.on("semanticTokens/full/delta", uri, previousResultId=before["resultId"])
    data = list(before["data"])
    for edit in delta["edits"]:
        data[edit["start"] : edit["start"] + edit["deleteCount"]] = edit["data"]
    assert len(delta["edits"]) == 1 and len(delta["edits"][0]["data"]) < len(data) / 2
    full = client.on("semanticTokens/full", uri)
    assert data == full["data"]
    assert "edits" not in client.on("semanticTokens/full/delta", uri, previousResultId="unknown")


def test_colours_follow_what_is_declared(client: Client) -> None:
    uri, text = "untitled:declared", "rule r(x): mine(x) => x;\n"
    client.open(uri, text)
    assert colours(client, client.on("semanticTokens/full", uri)["data"], text)["mine"] == {("method", ())}
    start = {"line": 1, "character": 0}
    client.change(uri, {"range": {"start": start, "end": start}, "text": "fn mine(a) = exp(a);\n"})
    found = colours(client, client.on("semanticTokens/full", uri)["data"], text + "fn mine(a) = exp(a);\n")
    assert found["mine"] == {("function", ()), ("function", ("declaration",))}


def hints(client: Client, uri: str, **more: Any) -> list[tuple[int, int, str]]:
    return [
        (h["position"]["line"], h["position"]["character"], h["label"])
        for h in client.on("inlayHint", uri, **more)
    ]


def test_hints_of_order_and_types(client: Client) -> None:
    found = hints(client, URI, range=ALL)
    order = [(line, label) for line, _, label in found if label[0] in "①②③④⑤"]
    assert order == [(6, "①"), (6, "②"), (7, "③"), (12, "④")]
    line, character = place(TEXT, "size")
    assert (line, character + 4, ": int") in found
    line, character = place(TEXT, "c = nn.conv2d(x, w);")
    assert (line, character + 1, ": float32[1, 3, 4, 4]") in found


def test_hints_of_a_part(client: Client) -> None:
    assert {
        line
        for line, _, _ in hints(
            client, URI, range={"start": {"line": 12, "character": 0}, "end": {"line": 13, "character": 0}}
        )
    } == {12}


# ── formatting ──


def after(text: str, edits: list[dict[str, Any]]) -> str:
    lines = text.splitlines(keepends=True) + [""]
    offset = [sum(map(len, lines[:k])) for k in range(len(lines) + 1)]
    for edit in sorted(
        edits, key=lambda e: (e["range"]["start"]["line"], e["range"]["start"]["character"]), reverse=True
    ):
        start, end = (
            offset[p["line"]] + p["character"] for p in (edit["range"]["start"], edit["range"]["end"])
        )
        text = text[:start] + edit["newText"] + text[end:]
    return text


OPTIONS = {"tabSize": 4, "insertSpaces": True}
UGLY = TEXT.replace("size = c.ndim", "size=c . ndim").replace('"a test" for', '"a test"   for')


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_formatting(client: Client, end: str) -> None:
    uri, text = f"file:///nowhere/format{len(end)}.gsl", UGLY.replace("\n", end)
    client.open(uri, text)
    edits = client.on("formatting", uri, options=OPTIONS)
    assert after(text, edits) == (format_source(Source("x", UGLY)).text or "").replace("\n", end)
    assert len(edits) > 1 and all(e["newText"].count("\n") < 8 for e in edits)


def test_formatting_a_part(client: Client) -> None:
    uri = "file:///nowhere/part.gsl"
    client.open(uri, UGLY)
    line, _ = place(UGLY, "size=")
    edits = client.on(
        "rangeFormatting", uri, options=OPTIONS,
        range={"start": {"line": line, "character": 0}, "end": {"line": line, "character": 3}},
    )
    result = after(UGLY, edits)
    assert "size = c.ndim" in result and '"a test"   for' in result


def test_formatting_what_can_be_read(client: Client) -> None:
    uri, text = "file:///nowhere/half.gsl", UGLY + "\nrule broken(x { exp(x\n"
    client.open(uri, text)
    result = after(text, client.on("formatting", uri, options=OPTIONS))
    assert (
        "size = c.ndim" in result and '"a test" for' in result
        and result.endswith("\nrule broken(x { exp(x\n")
    )


def test_nothing_to_format(client: Client) -> None:
    formatted = format_source(Source("x", TEXT)).text or ""
    client.open("file:///nowhere/fine.gsl", formatted)
    assert client.on("formatting", "file:///nowhere/fine.gsl", options=OPTIONS) == []
