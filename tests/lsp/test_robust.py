"""Any text at any time: random edits of real files, and whatever an editor may send, end in answers, never in
exceptions.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gslang.lsp.store import Store, path_of
from tests.lsp.client import Client

ROOT = Path(__file__).resolve().parents[2]
FILES = [
    p.read_text(encoding="utf-8")
    for p in sorted((ROOT / "stdlib_rules" / "relay").glob("*.gsl"))
    if p.name in ("bias.gsl", "dense.gsl", "split_concat.gsl")
]
PARTS = st.sampled_from([
    "rule ", "{", "}", "(", ")", ";", "=", "=>", "each b in 2.. {", "nn.", '"', "#",
    "@allow(", 'use "./', "é", "😀", "\r\n", "\n", ".", "first.", "where ", "match x {", "op ", "fn ", ",",
    "[", "]", 'test "', "for ", "_", "0", "1.5", "\u2028", "\0", "\x0c", "std.", "dialect ", "keep ", "|",
    ":=", "\r", "\ud83d", "\ufeff", "pass p { ", "*", "unchanged", "x", "c1", "first", "branch[0]",
])
EDITS = st.lists(
    st.tuples(st.floats(0, 1), st.sampled_from([0, 0, 1, 3, 30]), st.lists(PARTS, max_size=3)), min_size=1,
    max_size=4,
)


def ask_everything(store: Store, uri: str, offset: int) -> None:
    """As `tests.lsp.questions`, which is imported late: the protocol's types take half a second."""
    from tests.lsp import questions

    questions.ask_everything(store, uri, offset)


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(FILES), st.floats(0, 1), EDITS, st.sampled_from(["utf-8", "utf-16", "utf-32"]))
def test_random_edits_of_real_files(
    text: str, where: float, edits: list[tuple[float, int, list[str]]], unit: str
) -> None:
    start = int(where * max(len(text) - 2500, 0))
    text = text[start : start + 2500]
    store = Store()
    store.unit = unit
    uri = "untitled:edited"
    store.put(uri, text, 1)
    for at, width, parts in edits:
        begin = int(at * len(text))
        text = text[:begin] + "".join(parts) + text[begin + width :]
        store.put(uri, text, 1)
        ask_everything(store, uri, begin + len("".join(parts)))


@pytest.mark.long
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(FILES), st.floats(0, 1), EDITS, st.sampled_from(["utf-8", "utf-16", "utf-32"]))
def test_many_random_edits(
    text: str, where: float, edits: list[tuple[float, int, list[str]]], unit: str
) -> None:
    test_random_edits_of_real_files.hypothesis.inner_test(text, where, edits, unit)  # type: ignore[attr-defined]


@settings(max_examples=30, deadline=None)
@given(st.lists(PARTS, max_size=25))
def test_random_texts(parts: list[str]) -> None:
    store = Store()
    store.put("untitled:random", "".join(parts), 1)
    ask_everything(store, "untitled:random", len("".join(parts)))


@settings(max_examples=25, deadline=None)
@given(st.text(max_size=30))
def test_any_uri(text: str) -> None:
    for uri in (text, "file://" + text, "file:///" + text, "untitled:" + text):
        path_of(uri)
        store = Store()
        document = store.put(uri, 'use "./no.gsl";\nrule r(x): exp(x) => x;', 1)
        assert any(d.code == "E0204" for d in store.findings(document, costly=False))


METHODS = [
    "hover", "completion", "signatureHelp", "definition", "references", "documentHighlight", "documentSymbol",
    "foldingRange", "selectionRange", "semanticTokens/full", "semanticTokens/full/delta",
    "semanticTokens/range", "inlayHint", "formatting", "rangeFormatting", "codeAction", "codeLens",
    "documentLink",
]


def everything(method: str, uri: str, line: int, character: int) -> dict[str, Any]:
    """Parameters that fit a request about a document."""
    position = {"line": line, "character": character}
    given = {
        "textDocument": {"uri": uri},
        "position": position,
        "range": {"start": position, "end": {"line": line + 5, "character": 0}},
        "positions": [position],
        "options": {"tabSize": 4, "insertSpaces": True},
        "previousResultId": "7",
    }
    return given | (
        {"context": {"diagnostics": [], "includeDeclaration": True}} if method in ("codeAction", "references")
        else {}
    )


@pytest.mark.parametrize(
    "uri",
    [
        "file:///no/such/file.gsl", "untitled:none", "http://example.org/a.gsl", "", "file://%00",
        "git:/x/y.gsl?{}",
    ],
)
def test_documents_that_nobody_has_opened(client: Client, uri: str) -> None:
    for method in METHODS:
        client.ask("textDocument/" + method, everything(method, uri, 1, 2))


def test_requests_that_make_no_sense(client: Client) -> None:
    """Each gets an answer: an error, in the protocol's words."""
    assert client.ask("textDocument/hover", {"textDocument": 5}, fails=True)["code"] == -32602
    assert client.ask("textDocument/hover", {}, fails=True)["code"] == -32602
    assert client.ask("textDocument/noSuchThing", {}, fails=True)["code"] == -32601
    assert (
        client.ask("workspace/executeCommand", {"command": "gslang.noSuchThing"}, fails=True)["code"]
        == -32602
    )
    client.say("$/noSuchThing", {})


def test_a_dialogue_of_random_edits(client: Client) -> None:
    """Over the wire, with positions that may lie outside of the text; the log must stay empty (`conftest`).
    """
    chance = random.Random(5)
    uri = "untitled:storm"
    client.open(uri, FILES[0])
    signs = [
        "rule x(", "}", "{", "é😀", '"', "\r\n", "c1 = nn.conv2d(x, ", "=>", ";", "# ",
        "", "", 'test "t" for a {',
    ]
    for k in range(60):
        line, width = chance.randrange(70), chance.randrange(4)
        start = {"line": line, "character": chance.randrange(40)}
        end = {"line": line + chance.randrange(2), "character": start["character"] + width}
        client.change(uri, {"range": {"start": start, "end": end}, "text": chance.choice(signs)})
        client.ask(
            "textDocument/" + METHODS[k % len(METHODS)],
            everything(METHODS[k % len(METHODS)], uri, line, start["character"]),
        )


def test_edits_of_documents_that_nobody_has_opened(client: Client) -> None:
    start = {"line": 0, "character": 0}
    client.say(
        "textDocument/didChange",
        {
            "textDocument": {"uri": "untitled:never", "version": 2},
            "contentChanges": [{"range": {"start": start, "end": start}, "text": "x"}],
        },
    )
    client.say("textDocument/didClose", {"textDocument": {"uri": "untitled:never"}})
    client.say("textDocument/didSave", {"textDocument": {"uri": "untitled:never"}})
    assert client.on("documentSymbol", "untitled:never") is None


def test_a_configuration_that_cannot_be_read_is_told(client: Client, tmp_path: Path) -> None:
    (tmp_path / "gslang.toml").write_text("[lint]\nselekt = []\n")
    client.open((tmp_path / "a.gsl").as_uri(), "rule r(x): exp(x) => tanh(x);")
    told = client.until(lambda n: n["method"] == "window/showMessage")
    assert "did you mean `select`?" in told["params"]["message"]


def test_files_are_watched_where_the_client_can(tmp_path: Path) -> None:
    client = Client(
        tmp_path, capabilities={"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": True}}}
    )
    uri = (tmp_path / "me.gsl").as_uri()
    assert "E0204" in {
        d["code"] for d in client.open(uri, 'use "./other.gsl";\nrule r(x): exp(x) => tanh(x);')
    }
    ((registration,),) = [
        r["params"]["registrations"] for r in client.requests if r["method"] == "client/registerCapability"
    ]
    assert registration["method"] == "workspace/didChangeWatchedFiles"
    (tmp_path / "other.gsl").write_text("fn f(a) = a;")
    since = len(client.notices)
    client.say(
        "workspace/didChangeWatchedFiles",
        {"changes": [{"uri": (tmp_path / "other.gsl").as_uri(), "type": 1}]},
    )
    client.until(lambda n: (
        n in client.notices[since:] and n["params"].get("uri") == uri
        and "E0204" not in {d["code"] for d in n["params"]["diagnostics"]}
    ))
    assert client.close() == 0 and client.stderr == ""


def test_files_that_cannot_be_imported(client: Client, tmp_path: Path) -> None:
    (tmp_path / "bytes.gsl").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "folder.gsl").mkdir()
    (tmp_path / "loop.gsl").write_text('use "./me.gsl";')
    text = (
        'use "./bytes.gsl";\nuse "./folder.gsl";\nuse "./loop.gsl";\nuse "./me.gsl";\nuse "./\0.gsl";\n'
        'use std.no.such;\nuse no.such;\n'
    )
    (tmp_path / "me.gsl").write_text(text)
    found = client.open((tmp_path / "me.gsl").as_uri(), text)
    assert sum(d["code"] in ("E0204", "E0205") for d in found) == 7
    for line in range(8):
        for method in ("hover", "definition", "completion", "documentLink"):
            client.ask("textDocument/" + method, everything(method, (tmp_path / "me.gsl").as_uri(), line, 8))


def test_a_very_long_file(client: Client) -> None:
    text = (
        "".join(f"rule r{k}(x): exp(tanh(x)) => sigmoid(x);\n" for k in range(600)) + "rule broken(x) { exp(("
    )
    assert [d["code"] for d in client.open("untitled:long", text) if d["severity"] == 1] == ["E0105"]
    assert len(client.on("documentSymbol", "untitled:long")) == 601


def test_deep_nesting(client: Client) -> None:
    for text in (
        "rule r(x): " + "exp(" * 2000, "rule r(x): " + "exp(" * 800 + "x" + ")" * 800 + " => x;", "[" * 5000,
        "fn f(x) = " + "-" * 1000 + "x;",
    ):
        client.open("untitled:deep", text)
        for method in METHODS:
            client.ask("textDocument/" + method, everything(method, "untitled:deep", 0, 12))
