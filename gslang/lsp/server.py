"""The server: what the protocol asks, handed to the file that answers it. Nothing is computed here.

Edits are judged at once; lints that run rules, and other files that import the edited one, wait until nobody types.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types as lsp
from pygls.capabilities import get_capability
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol
from pygls.protocol.language_server import lsp_method

from gslang import __version__
from gslang.check.checked import CheckedRule
from gslang.engine.meaning import with_meanings
from gslang.graph.graph import Graph
from gslang.lsp import code_lenses, folding, inlay_hints, links, navigation, semantic_tokens, symbols
from gslang.lsp.code_actions import code_actions, insertion
from gslang.lsp.completion import complete, resolve
from gslang.lsp.diagnostics import shown
from gslang.lsp.document import Document, edited
from gslang.lsp.formatting import format_document
from gslang.lsp.hover import hover
from gslang.lsp.lookup import own
from gslang.lsp.model import count_matches
from gslang.lsp.new_test import new_test
from gslang.lsp.signature_help import signature_help
from gslang.lsp.store import Store, path_of
from gslang.lsp.verdicts import find_verdict, known_verdict

T = TypeVar("T")
_PAUSE = 0.4  # seconds without an edit, after which costly lints run


class _Protocol(LanguageServerProtocol):
    """Texts are kept by `Store` alone: what pygls would keep breaks lines where the protocol does not."""

    @lsp_method(lsp.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: lsp.DidOpenTextDocumentParams) -> Generator[Any, Any, None]:
        yield self.fm.features[lsp.TEXT_DOCUMENT_DID_OPEN], (params,), None

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: lsp.DidChangeTextDocumentParams) -> Generator[Any, Any, None]:
        yield self.fm.features[lsp.TEXT_DOCUMENT_DID_CHANGE], (params,), None

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: lsp.DidCloseTextDocumentParams) -> Generator[Any, Any, None]:
        yield self.fm.features[lsp.TEXT_DOCUMENT_DID_CLOSE], (params,), None


    def structure_message(self, data: dict[str, Any]) -> Any:
        """A request that is not as it should be is answered with an error; pygls would leave its sender waiting."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "id" not in data or "method" not in data:
                raise
            self._send_response(data["id"], None, error.to_response_error())
            return lsp.CancelNotification(lsp.CancelParams(data["id"]))


class Server(LanguageServer):
    """The language server with its documents. `told`: what was published last for each document; `ran`: tests that were run,
    by URI, rule and title; `graphs`: models that were read, by path, with the time of the file;
    `counts`: matches by URI, rule and model, with the rule and the time of the model that they are about."""

    def __init__(self) -> None:
        super().__init__("gslang", __version__, protocol_cls=_Protocol, text_document_sync_kind=lsp.TextDocumentSyncKind.Incremental)
        self.store = Store()
        self.told: dict[str, list[lsp.Diagnostic]] = {}
        self.ran: dict[tuple[str, str, str], code_lenses.Ran] = {}
        self.graphs: dict[str, tuple[float, Graph]] = {}
        self.counts: dict[tuple[str, str, str], tuple[CheckedRule, int, str]] = {}
        self._waiting: asyncio.TimerHandle | None = None

    def document(self, uri: str) -> Document | None:
        return self.store.get(uri)

    def tell(self, document: Document, costly: bool) -> None:
        """Publish the findings of an open document, unless they are what was published before."""
        found = shown(self.store, document, self.store.findings(document, costly))
        if self.told.get(document.uri) != found or not costly:
            self.told[document.uri] = found
            self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(document.uri, found, document.version))
        for problem in self.store.problems:
            self.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Warning, problem))
        self.store.problems.clear()

    def settle(self) -> None:
        """After a pause: everything about all open documents."""
        if self._waiting is not None:
            self._waiting.cancel()
        self._waiting = asyncio.get_running_loop().call_later(_PAUSE, self._settled)

    def _settled(self) -> None:
        self._waiting = None
        for document in list(self.store.open.values()):
            self.tell(document, True)


def serve() -> None:
    """Talk on standard input and output until the client says `exit`."""
    logging.basicConfig(level=logging.ERROR)
    logging.getLogger("pygls.protocol.json_rpc").addFilter(_is_no_answer)
    make_server().start_io()


def _is_no_answer(record: logging.LogRecord) -> bool:
    """What is refused on purpose (a rename to a keyword, a request without its parameters) is answered and belongs in no log."""
    return not (record.exc_info and isinstance(record.exc_info[1], JsonRpcException)) and not str(record.msg).startswith("Unable to deserialize")


def make_server() -> Server:
    """A server with all that it can do."""
    server = Server()
    _documents(server)
    _outlines(server)
    _names(server)
    _writing(server)
    _lenses(server)
    return server


def _documents(server: Server) -> None:
    store = server.store

    @server.feature(lsp.INITIALIZE)
    def initialize(params: lsp.InitializeParams) -> None:
        store.unit = str(getattr(server.protocol.workspace.position_encoding, "value", server.protocol.workspace.position_encoding) or "utf-16")
        folders = [folder.uri for folder in params.workspace_folders or ()] or [params.root_uri or ""]
        store.roots = [path for uri in folders if uri and (path := path_of(uri)) is not None]

    @server.feature(lsp.INITIALIZED)
    def initialized(params: lsp.InitializedParams) -> None:
        workspace = server.client_capabilities.workspace
        if workspace is not None and workspace.did_change_watched_files is not None and workspace.did_change_watched_files.dynamic_registration:
            watchers = [lsp.FileSystemWatcher(f"**/{name}") for name in ("*.gsl", "gslang.toml", "pyproject.toml")]
            options = lsp.DidChangeWatchedFilesRegistrationOptions(watchers)
            registration = lsp.Registration("gslang.files", lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            server.client_register_capability(lsp.RegistrationParams([registration]))

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: lsp.DidOpenTextDocumentParams) -> None:
        given = params.text_document
        server.tell(store.put(given.uri, given.text, given.version), False)
        server.settle()

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: lsp.DidChangeTextDocumentParams) -> None:
        document = store.open.get(params.text_document.uri)
        if document is None:
            return
        text, lines = document.text, document.lines
        for change in params.content_changes:
            if isinstance(change, lsp.TextDocumentContentChangePartial):
                begin = lines.offset(change.range.start.line, change.range.start.character)
                end = lines.offset(change.range.end.line, change.range.end.character)
                text = edited(text, begin, end, change.text)
            else:
                text = change.text
            lines = type(lines)(text, store.unit)
        server.tell(store.put(document.uri, text, params.text_document.version), False)
        server.settle()

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: lsp.DidCloseTextDocumentParams) -> None:
        store.close(params.text_document.uri)
        server.told.pop(params.text_document.uri, None)
        server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(params.text_document.uri, []))
        server.settle()

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def did_save(params: lsp.DidSaveTextDocumentParams) -> None:
        store.forget_configuration()
        server.settle()

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def did_change_files(params: lsp.DidChangeWatchedFilesParams) -> None:
        store.forget_configuration()
        server.settle()

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def did_change_folders(params: lsp.DidChangeWorkspaceFoldersParams) -> None:
        gone = {path_of(folder.uri) for folder in params.event.removed}
        store.roots = [root for root in store.roots if root not in gone]
        store.roots += [path for folder in params.event.added if (path := path_of(folder.uri)) is not None and path not in store.roots]


def _outlines(server: Server) -> None:
    store = server.store

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def document_symbol(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol] | list[lsp.SymbolInformation] | None:
        document = server.document(params.text_document.uri)
        if document is None:
            return None
        found = symbols.document_symbols(document)
        nested = get_capability(server.client_capabilities, "text_document.document_symbol.hierarchical_document_symbol_support")
        return found if nested else symbols.flat(document, found)

    @server.feature(lsp.WORKSPACE_SYMBOL)
    def workspace_symbol(params: lsp.WorkspaceSymbolParams) -> list[lsp.WorkspaceSymbol]:
        return symbols.workspace_symbols(store, params.query)

    @server.feature(lsp.TEXT_DOCUMENT_FOLDING_RANGE)
    def folding_range(params: lsp.FoldingRangeParams) -> list[lsp.FoldingRange] | None:
        document = server.document(params.text_document.uri)
        return folding.folding_ranges(document) if document is not None else None

    @server.feature(lsp.TEXT_DOCUMENT_SELECTION_RANGE)
    def selection_range(params: lsp.SelectionRangeParams) -> list[lsp.SelectionRange] | None:
        document = server.document(params.text_document.uri)
        return folding.selection_ranges(document, list(params.positions)) if document is not None else None

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_LINK)
    def document_link(params: lsp.DocumentLinkParams) -> list[lsp.DocumentLink] | None:
        document = server.document(params.text_document.uri)
        return links.document_links(store, document) if document is not None else None

    @server.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, semantic_tokens.LEGEND)
    def semantic_full(params: lsp.SemanticTokensParams) -> lsp.SemanticTokens | None:
        document = server.document(params.text_document.uri)
        return semantic_tokens.full(store, document) if document is not None else None

    @server.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL_DELTA, semantic_tokens.LEGEND)
    def semantic_delta(params: lsp.SemanticTokensDeltaParams) -> lsp.SemanticTokens | lsp.SemanticTokensDelta | None:
        document = server.document(params.text_document.uri)
        return semantic_tokens.delta(store, document, params.previous_result_id) if document is not None else None

    @server.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, semantic_tokens.LEGEND)
    def semantic_range(params: lsp.SemanticTokensRangeParams) -> lsp.SemanticTokens | None:
        document = server.document(params.text_document.uri)
        return semantic_tokens.in_range(store, document, params.range) if document is not None else None

    @server.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
    def inlay_hint(params: lsp.InlayHintParams) -> list[lsp.InlayHint] | None:
        document = server.document(params.text_document.uri)
        return inlay_hints.inlay_hints(store, document, params.range) if document is not None else None


def _names(server: Server) -> None:
    store = server.store

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def on_hover(params: lsp.HoverParams) -> lsp.Hover | None:
        document = server.document(params.text_document.uri)
        return hover(store, document, params.position) if document is not None else None

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def definition(params: lsp.DefinitionParams) -> list[lsp.Location]:
        document = server.document(params.text_document.uri)
        return navigation.definition(store, document, params.position) if document is not None else []

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    def references(params: lsp.ReferenceParams) -> list[lsp.Location]:
        document = server.document(params.text_document.uri)
        return navigation.all_references(store, document, params.position, params.context.include_declaration) if document is not None else []

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    def document_highlight(params: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight]:
        document = server.document(params.text_document.uri)
        return navigation.highlights(store, document, params.position) if document is not None else []

    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepare_rename(params: lsp.PrepareRenameParams) -> lsp.PrepareRenamePlaceholder | None:
        document = server.document(params.text_document.uri)
        return navigation.prepare_rename(store, document, params.position) if document is not None else None

    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    def rename(params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        document = server.document(params.text_document.uri)
        return navigation.rename(store, document, params.position, params.new_name) if document is not None else None


def _writing(server: Server) -> None:
    store = server.store

    @server.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=[".", "@", '"', "/", "("], resolve_provider=True))
    def completion(params: lsp.CompletionParams) -> lsp.CompletionList | None:
        document = server.document(params.text_document.uri)
        snippets = get_capability(server.client_capabilities, "text_document.completion.completion_item.snippet_support")
        return complete(store, document, params.position, bool(snippets)) if document is not None else None

    @server.feature(lsp.COMPLETION_ITEM_RESOLVE)
    def completion_resolve(item: lsp.CompletionItem) -> lsp.CompletionItem:
        return resolve(store, item)

    @server.feature(lsp.TEXT_DOCUMENT_SIGNATURE_HELP, lsp.SignatureHelpOptions(trigger_characters=["(", ","], retrigger_characters=["="]))
    def on_signature_help(params: lsp.SignatureHelpParams) -> lsp.SignatureHelp | None:
        document = server.document(params.text_document.uri)
        return signature_help(store, document, params.position) if document is not None else None

    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    def formatting(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit] | None:
        document = server.document(params.text_document.uri)
        return format_document(document) if document is not None else None

    @server.feature(lsp.TEXT_DOCUMENT_RANGE_FORMATTING)
    def range_formatting(params: lsp.DocumentRangeFormattingParams) -> list[lsp.TextEdit] | None:
        document = server.document(params.text_document.uri)
        return format_document(document, (params.range.start.line, params.range.end.line)) if document is not None else None

    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix, lsp.CodeActionKind.SourceFixAll]))
    def code_action(params: lsp.CodeActionParams) -> list[lsp.CodeAction] | None:
        document = server.document(params.text_document.uri)
        return code_actions(store, document, params.range, params.context) if document is not None else None


def _lenses(server: Server) -> None:
    """Lenses and their commands. What takes long runs beside the loop, on data that does not change."""
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
            server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Warning, f"no graph was found that makes a test of `{name}`"))
            return ""
        edit = insertion(document, place.piece, text)
        await server.workspace_apply_edit_async(lsp.ApplyWorkspaceEditParams(edit, f"add a test of {name}"))
        return text

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
    """Run something long in a thread, so that the editor is answered meanwhile."""
    return await asyncio.get_running_loop().run_in_executor(None, work)


def _say(server: Server, text: str, fine: bool) -> None:
    server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Info if fine else lsp.MessageType.Error, text))
    workspace = server.client_capabilities.workspace
    if workspace is not None and workspace.code_lens is not None and workspace.code_lens.refresh_support:
        server.workspace_code_lens_refresh(None)
