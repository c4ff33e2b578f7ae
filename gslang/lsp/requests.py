"""The client's requests about texts, handed to the file that answers each. Nothing is computed here."""

from __future__ import annotations

from lsprotocol import types as lsp
from pygls.capabilities import get_capability

from gslang.lsp import folding, inlay_hints, links, navigation, semantic_tokens, symbols
from gslang.lsp.code_actions import code_actions
from gslang.lsp.completion import complete, resolve
from gslang.lsp.formatting import format_document
from gslang.lsp.hover import hover
from gslang.lsp.server import Server
from gslang.lsp.signature_help import signature_help


def register(server: Server) -> None:
    _outlines(server)
    _names(server)
    _writing(server)


def _outlines(server: Server) -> None:
    store = server.store

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def document_symbol(
        params: lsp.DocumentSymbolParams,
    ) -> list[lsp.DocumentSymbol] | list[lsp.SymbolInformation] | None:
        document = server.document(params.text_document.uri)
        if document is None:
            return None
        found = symbols.document_symbols(document)
        nested = get_capability(
            server.client_capabilities, "text_document.document_symbol.hierarchical_document_symbol_support"
        )
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
    def semantic_delta(
        params: lsp.SemanticTokensDeltaParams,
    ) -> lsp.SemanticTokens | lsp.SemanticTokensDelta | None:
        document = server.document(params.text_document.uri)
        return (
            semantic_tokens.delta(store, document, params.previous_result_id) if document is not None
            else None
        )

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
        return (
            navigation.all_references(store, document, params.position, params.context.include_declaration)
            if document is not None
            else []
        )

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
        return (
            navigation.rename(store, document, params.position, params.new_name) if document is not None
            else None
        )


def _writing(server: Server) -> None:
    store = server.store

    @server.feature(
        lsp.TEXT_DOCUMENT_COMPLETION,
        lsp.CompletionOptions(trigger_characters=[".", "@", '"', "/", "("], resolve_provider=True),
    )
    def completion(params: lsp.CompletionParams) -> lsp.CompletionList | None:
        document = server.document(params.text_document.uri)
        snippets = get_capability(
            server.client_capabilities, "text_document.completion.completion_item.snippet_support"
        )
        return complete(store, document, params.position, bool(snippets)) if document is not None else None

    @server.feature(lsp.COMPLETION_ITEM_RESOLVE)
    def completion_resolve(item: lsp.CompletionItem) -> lsp.CompletionItem:
        return resolve(store, item)

    @server.feature(
        lsp.TEXT_DOCUMENT_SIGNATURE_HELP,
        lsp.SignatureHelpOptions(trigger_characters=["(", ","], retrigger_characters=["="]),
    )
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
        return (
            format_document(document, (params.range.start.line, params.range.end.line))
            if document is not None
            else None
        )

    @server.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION,
        lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix, lsp.CodeActionKind.SourceFixAll]),
    )
    def code_action(params: lsp.CodeActionParams) -> list[lsp.CodeAction] | None:
        document = server.document(params.text_document.uri)
        return code_actions(store, document, params.range, params.context) if document is not None else None
