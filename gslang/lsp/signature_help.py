"""The parameters of a call while it is typed: operators, functions, built-ins; and which part of it the
cursor is at.
"""

from __future__ import annotations

from lsprotocol import types as lsp

from gslang.lsp import signature_text, words
from gslang.lsp.analysis import Analysis
from gslang.lsp.context import InCall, call_around
from gslang.lsp.diagnostics import offset_of
from gslang.lsp.document import Document
from gslang.lsp.hover import signatures_of_call
from gslang.lsp.names import marks
from gslang.lsp.pieces import Piece
from gslang.lsp.signature_text import Callable
from gslang.lsp.store import Store
from gslang.syntax import nodes as n

_MOST = 8


def signature_help(store: Store, document: Document, position: lsp.Position) -> lsp.SignatureHelp | None:
    where = document.piece_at(offset_of(document, position))
    if where is None:
        return None
    piece, at = where
    call = call_around(piece, piece.tokens.before(at))
    forms = callables(store.analysis(document), piece, call) if call is not None else []
    if call is None or not forms:
        return None
    shown = [_shown(form, call) for form in forms[:_MOST]]
    fits = next((k for k, form in enumerate(forms[:_MOST]) if _active(form, call) is not None), 0)
    return lsp.SignatureHelp(shown, fits, shown[fits].active_parameter)


def callables(analysis: Analysis, piece: Piece, call: InCall) -> list[Callable]:
    """The callees that a name may mean, in the order in which names are looked up (language.md, Names)."""
    callee = next(
        (
            m
            for m in marks(piece)
            if m.text == call.callee and m.role in ("callee", "name")
            and m.end <= piece.tokens.all[call.opening].start
        ),
        None,
    )
    if callee is not None and callee.local is not None:
        return [signature_text.operator(s) for s in signatures_of_call(analysis, piece, callee)]
    function = analysis.functions.get(call.callee)
    if isinstance(function, n.FnDecl):
        return [signature_text.function(function)]
    signature = analysis.dialect.get(call.callee.removeprefix(analysis.dialect.name + "."))
    found = [signature_text.operator(signature)] if signature is not None else []
    return found + (signature_text.builtin(call.callee) if call.callee in words.FUNCTIONS else [])


def _shown(form: Callable, call: InCall) -> lsp.SignatureInformation:
    parameters = []
    at = len(form.head) + 1
    for parameter in form.parameters:
        parameters.append(lsp.ParameterInformation((at, at + len(parameter.text))))
        at += len(parameter.text) + 2
    doc = lsp.MarkupContent(lsp.MarkupKind.Markdown, form.doc) if form.doc else None
    return lsp.SignatureInformation(form.label, doc, parameters, _active(form, call))


def _active(form: Callable, call: InCall) -> int | None:
    """The parameter that the cursor is at."""
    if call.keyword:
        return next((k for k, p in enumerate(form.parameters) if p.name == call.keyword), None)
    positional = [k for k, p in enumerate(form.parameters) if p.positional]
    if call.argument < len(positional):
        return positional[call.argument]
    if positional and form.parameters[positional[-1]].variadic:
        return positional[-1]
    return next(
        (k for k, p in enumerate(form.parameters) if not p.positional and p.name not in call.given), None
    )
