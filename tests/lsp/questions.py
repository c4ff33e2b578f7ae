"""All that an editor may ask about a place in a document."""

from __future__ import annotations

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from gslang.lsp import code_lenses, folding, inlay_hints, links, navigation, semantic_tokens, symbols
from gslang.lsp.code_actions import code_actions
from gslang.lsp.completion import complete, resolve
from gslang.lsp.diagnostics import shown
from gslang.lsp.formatting import format_document
from gslang.lsp.hover import hover
from gslang.lsp.signature_help import signature_help
from gslang.lsp.store import Store


def ask_everything(store: Store, uri: str, offset: int) -> None:
    document = store.open[uri]
    position = lsp.Position(*document.lines.position(offset))
    given = lsp.Range(position, lsp.Position(position.line + 3, 0))
    shown(store, document, store.findings(document, costly=False))
    hover(store, document, position)
    for item in complete(store, document, position).items[:4]:
        resolve(store, item)
    signature_help(store, document, position)
    navigation.definition(store, document, position)
    navigation.highlights(store, document, position)
    symbols.document_symbols(document)
    folding.folding_ranges(document)
    folding.selection_ranges(document, [position])
    semantic_tokens.delta(store, document, "1")
    semantic_tokens.in_range(store, document, given)
    inlay_hints.inlay_hints(store, document, given)
    links.document_links(store, document)
    code_lenses.code_lenses(store, document, {})
    code_actions(store, document, given, lsp.CodeActionContext(diagnostics=[]))
    format_document(document, (position.line, position.line + 2))
    try:
        navigation.rename(store, document, position, "another_name")
    except JsonRpcException:
        pass  # refused, in words
