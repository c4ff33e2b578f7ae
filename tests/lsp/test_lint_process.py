"""Costly lints run beside the server: they say what they would say in place, stale ones are left, and nobody
waits for them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from gslang.lint.codes import LINTS
from gslang.lsp.document import Document
from gslang.lsp.lint_process import LintProcess
from gslang.lsp.linting import lint
from gslang.lsp.store import Store
from tests.lsp import gate
from tests.lsp.client import LONG, Client

LOOP = "## Doc.\nrule there(x): exp(x) => tanh(x);\n## Doc.\nrule back(x): tanh(x) => exp(x);\n"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    (tmp_path / "gslang.toml").write_text('[lint]\nselect = ["all"]\n')
    return Store()


class Talk:
    """A process with what it has answered so far, by URI."""

    def __init__(self, store: Store) -> None:
        self.answers: list[Document] = []
        self.process = LintProcess(store, self.answers.append)

    async def until(self, fits: Callable[[], bool]) -> None:
        while not fits():
            await asyncio.sleep(0.01)


def talk(store: Store, scenario: Callable[[Talk], Awaitable[None]]) -> None:
    async def run() -> None:
        one = Talk(store)
        try:
            await scenario(one)
        finally:
            if one.process._process is not None:
                one.process._process.kill()
                one.process._process.wait()

    asyncio.run(asyncio.wait_for(run(), LONG))


def test_the_same_findings_as_in_place(store: Store, tmp_path: Path) -> None:
    """With spans in the very texts of the document, also where an item stands twice in the file, and in one
    that is imported and open.
    """
    texts = {
        "loop.gsl": LOOP,
        "twice.gsl": LOOP + "# end\n# end\n",
        "user.gsl": 'use "./loop.gsl";\n' + LOOP.replace("there", "over").replace("back", "again"),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    documents = [store.put((tmp_path / name).as_uri(), text, 1) for name, text in texts.items()]

    async def scenario(one: Talk) -> None:
        one.process.ask(documents)
        await one.until(lambda: len(one.answers) == len(documents))
        for document in documents:
            analysis = store.analysis(document)
            expected = lint(analysis, frozenset(LINTS))
            found = document.memo["lints"][2]
            assert found == expected and {f.code for f in found} >= {"L0203"}
            for finding, other in zip(found, expected):
                assert finding.primary.span.source is other.primary.span.source
                assert [label.span.source for label in finding.related] == [
                    label.span.source for label in other.related
                ]
        assert one.process.awaited == {}

    talk(store, scenario)


def test_what_is_stale_is_left_and_what_is_not_goes_on(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gslang.lsp.lint_process.command", gate.command)
    slow, loop = (tmp_path / "held.gsl").as_uri(), (tmp_path / "loop.gsl").as_uri()

    async def scenario(one: Talk) -> None:
        first = store.put(slow, LOOP, 1)
        one.process.ask([first, store.put(loop, LOOP, 1)])
        ticket = next(iter(one.process.awaited))
        await gate.begun(tmp_path)
        store.put(loop, LOOP + "# more\n", 2)
        one.process.stop_stale()
        assert ticket in one.process.awaited  # the slow one did not change
        one.process.ask([store.open[loop], first])
        assert next(iter(one.process.awaited)) == ticket  # it goes on, with the ticket that it had
        store.put(slow, LOOP + "# changed\n", 2)
        one.process.stop_stale()
        assert one.process.awaited == {}
        one.process.ask([store.open[loop]])
        await one.until(lambda: bool(one.answers))
        # it did not wait for the slow one to end, which is told of no more
        assert one.answers == [store.open[loop]]
        (tmp_path / "go").touch()
        one.process.ask([store.open[slow]])
        await one.until(lambda: len(one.answers) == 2)
        assert one.answers[1].text == LOOP + "# changed\n" and {
            f.code for f in one.answers[1].memo["lints"][2]
        } >= {"L0203"}

    talk(store, scenario)


def test_a_process_that_ends_by_itself(
    store: Store, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it ended over is not tried again; the next document gets a new one."""
    monkeypatch.setattr("gslang.lsp.lint_process.command", gate.command)
    slow, loop = (
        store.put((tmp_path / "held.gsl").as_uri(), LOOP, 1),
        store.put((tmp_path / "loop.gsl").as_uri(), LOOP, 1),
    )

    async def scenario(one: Talk) -> None:
        one.process.ask([slow, loop])
        assert one.process._process is not None
        one.process._process.kill()
        await one.until(lambda: one.process._process is None)
        assert one.process.awaited == {} and "has ended by itself" in caplog.text
        one.process.ask([slow, loop])
        assert [wanted.uri for wanted, _ in one.process.awaited.values()] == [loop.uri]
        await one.until(lambda: one.answers == [loop])

    talk(store, scenario)


def test_without_a_process(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*given: Any, **more: Any) -> Any:
        raise OSError("no more processes")

    monkeypatch.setattr("gslang.lsp.lint_process.subprocess.Popen", refuse)

    async def scenario(one: Talk) -> None:
        one.process.ask([store.put((tmp_path / "loop.gsl").as_uri(), LOOP, 1)])
        assert one.process.awaited == {} and "no more processes" in caplog.text

    talk(store, scenario)


def test_an_editor_is_answered_meanwhile(tmp_path: Path) -> None:
    """Lints have begun and do not end; what is asked is answered all the same."""
    (tmp_path / "gslang.toml").write_text('[lint]\nselect = ["all"]\n')
    client, uri = Client(root=tmp_path, command=gate.SERVER), (tmp_path / "held.gsl").as_uri()
    text = LOOP
    quick = {d["code"] for d in client.open(uri, text)}
    asyncio.run(asyncio.wait_for(gate.begun(tmp_path), LONG))

    def late() -> list[set[str]]:
        shown = [
            n["params"]["diagnostics"]
            for n in client.notices if n["method"] == "textDocument/publishDiagnostics"
        ]
        return [found for one in shown if (found := {d["code"] for d in one}) != quick]

    line = text.count("\n") - 1
    assert client.at("hover", uri, line, text.splitlines()[line].index("tanh")) is not None
    assert client.at("completion", uri, line, 5)["items"]
    assert late() == []
    (tmp_path / "go").touch()
    client.until(lambda n: (
        n["method"].endswith("publishDiagnostics") and {d["code"] for d in n["params"]["diagnostics"]} > quick
    ))
    assert client.close() == 0 and client.stderr == ""


def test_it_ends_with_the_server_whatever_it_is_at(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gslang.lsp.lint_process.command", gate.command)

    async def scenario(one: Talk) -> None:
        one.process.ask([store.put((tmp_path / "held.gsl").as_uri(), LOOP, 1)])
        process = one.process._process
        assert process is not None and process.stdin is not None
        await gate.begun(tmp_path)
        process.stdin.close()  # as the system does when the server is gone
        assert process.wait(LONG) == 0

    talk(store, scenario)
