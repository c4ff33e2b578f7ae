"""Code lenses and the commands behind them.

What takes long runs in a thread, on data that does not change.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types as lsp

from gslang.engine.meaning import with_meanings
from gslang.lsp import code_lenses
from gslang.lsp.code_actions import insertion, replacement
from gslang.lsp.lookup import own
from gslang.lsp.model import count_matches
from gslang.lsp.new_test import new_test
from gslang.lsp.repair import repaired
from gslang.lsp.server import Server
from gslang.lsp.verdicts import find_verdict, known_verdict

T = TypeVar("T")
_TURN = asyncio.Lock()


def register(server: Server) -> None:
    # Long on purpose: the handlers one after the other; each is short.
    store = server.store

    @server.feature(lsp.TEXT_DOCUMENT_CODE_LENS, lsp.CodeLensOptions(resolve_provider=True))
    def code_lens(params: lsp.CodeLensParams) -> list[lsp.CodeLens] | None:
        document = server.document(params.text_document.uri)
        return code_lenses.code_lenses(store, document, server.ran) if document is not None else None

    @server.feature(lsp.CODE_LENS_RESOLVE)
    async def code_lens_resolve(lens: lsp.CodeLens) -> lsp.CodeLens:
        data = lens.data if isinstance(lens.data, dict) else {}
        uri, rule = str(data.get("uri")), str(data.get("rule"))
        document = server.document(uri)
        if lens.command is not None or document is None:
            return lens
        if data.get("what") == "model":
            text = await _counted(server, uri, rule, Path(str(data.get("model"))))
            lens.command = lsp.Command(text, code_lenses.MATCHES, arguments=[uri, rule, data.get("model")])
            return lens
        program = with_meanings(store.analysis(document).program)
        return code_lenses.verify_lens(lens, uri, rule, await _beside(lambda: known_verdict(program, rule)))

    # pygls makes arguments what their annotation says: of `object` it would make empty ones
    @server.command(code_lenses.RUN)
    async def run_tests(*given: Any) -> dict[str, Any]:
        uri, rule, title = (*map(str, given), "", "", "")[:3]
        document = server.document(uri)
        if document is None:
            return {"passed": 0, "failed": 0}
        analysis = store.analysis(document)
        ran = await _beside(lambda: code_lenses.run(analysis, rule, title or None))
        server.ran.update({(uri, rule, one.outcome.title): one for one in ran})
        outcomes = [one.outcome for one in ran]
        _say(server, code_lenses.summary(outcomes), all(o.passed for o in outcomes))
        return {"passed": sum(o.passed for o in outcomes), "failed": sum(not o.passed for o in outcomes)}

    @server.command(code_lenses.VERIFY)
    async def verify(*given: Any) -> dict[str, Any]:
        uri, name = (*map(str, given), "", "")[:2]
        document = server.document(uri)
        if document is None:
            return {}
        program = with_meanings(store.analysis(document).program)
        verdict = await _beside(lambda: find_verdict(program, name))
        if verdict is None:
            return {}
        _say(server, code_lenses.verdict_summary(verdict), verdict.verdict != "refuted")
        return {"verdict": verdict.verdict, "reason": verdict.reason}

    @server.command(code_lenses.ADD_TEST)
    async def add_test(*given: Any) -> str:
        uri, name = (*map(str, given), "", "")[:2]
        document = server.document(uri)
        analysis = store.analysis(document) if document is not None else None
        if document is None or analysis is None or name not in analysis.program.own_rules:
            return ""
        program = with_meanings(analysis.program)
        text = await _beside(lambda: new_test(program, analysis.functions, name))
        place = own(document).get(("rule", name))
        if text is None or place is None:
            server.window_show_message(lsp.ShowMessageParams(
                lsp.MessageType.Warning, f"no graph was found that makes a test of `{name}`"
            ))
            return ""
        edit = insertion(document, place.piece, text)
        await server.workspace_apply_edit_async(lsp.ApplyWorkspaceEditParams(edit, f"add a test of {name}"))
        return text

    @server.command(code_lenses.CONDITIONS)
    async def find_conditions(*given: Any) -> str:
        uri, name = (*map(str, given), "", "")[:2]
        document = server.document(uri)
        if document is None or name not in store.analysis(document).program.own_rules:
            return ""
        found = await _beside(lambda: repaired(document, name))
        if found.text is None:
            text = f"no conditions were found under which `{name}` holds: {found.reason}"
            server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Warning, text))
            return ""
        edit = replacement(document, found.start, found.end, found.text)
        await server.workspace_apply_edit_async(lsp.ApplyWorkspaceEditParams(edit, f"conditions of {name}"))
        return found.text

    @server.command(code_lenses.MATCHES)
    async def count(*given: Any) -> str:
        uri, name, model = (*map(str, given), "", "", "")[:3]
        text = await _counted(server, uri, name, Path(model))
        _say(server, f"{name}: {text}", True)
        return text


async def _counted(server: Server, uri: str, name: str, model: Path) -> str:
    """The matches of a rule, counted again only if the rule or the file of the model is another one."""
    document = server.document(uri)
    program = server.store.analysis(document).program if document is not None else None
    if program is None or name not in program.rules:
        return "the rule has errors"
    written, rule = program.rules[name], with_meanings(program).rules[name]
    stamp = model.stat().st_mtime_ns if model.is_file() else 0
    known = server.counts.get((uri, name, str(model)))
    if known is None or known[0] is not written or known[1] != stamp:
        text = await _beside(lambda: count_matches(rule, model, server.graphs))
        known = server.counts[uri, name, str(model)] = (written, stamp, text)
    return known[2]


async def _beside(work: Callable[[], T]) -> T:
    """Run something long in a thread, so that the editor is answered meanwhile; one at a time, since each
    takes turns with the answers.

    The server may end before the thread does.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def told(result: T | None, error: BaseException | None) -> None:
        if future.done():
            return  # nobody waits for it any more
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result, failure = None, None
        try:
            result = work()
        except BaseException as error:
            failure = error
        with suppress(RuntimeError):  # the server has ended
            loop.call_soon_threadsafe(told, result, failure)

    async with _TURN:
        threading.Thread(target=run, daemon=True).start()
        return await future


def _say(server: Server, text: str, fine: bool) -> None:
    server.window_show_message(
        lsp.ShowMessageParams(lsp.MessageType.Info if fine else lsp.MessageType.Error, text)
    )
    workspace = server.client_capabilities.workspace
    if workspace is not None and workspace.code_lens is not None and workspace.code_lens.refresh_support:
        server.workspace_code_lens_refresh(None)
