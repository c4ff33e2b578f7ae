"""Completions at the cursor: operators, their attributes with types and defaults, names in scope, words,
modules, whole items.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lsprotocol import types as lsp

from gslang.check.attributes import NEW_FACTS
from gslang.check.context import TargetOf
from gslang.check.module_files import module_names
from gslang.dialect import domain
from gslang.dialect.domain_text import value_text
from gslang.dialect.load import dialect_names
from gslang.lint.codes import LINTS
from gslang.lsp import hover, signature_text, snippets, words
from gslang.lsp.completion_items import ItemsAt
from gslang.lsp.completion_of_strings import DTYPES, called, declared_at, in_quotes
from gslang.lsp.context import call_around, cursor
from gslang.lsp.diagnostics import offset_of
from gslang.lsp.document import Document
from gslang.lsp.hover import attribute_text, of_signature
from gslang.lsp.kinds import described, lowered, operators_named, resolved
from gslang.lsp.lookup import Import, dialect_name, imported_files, own, visible
from gslang.lsp.names import Mark, marks
from gslang.lsp.store import Store
from gslang.syntax import nodes as n

_K = lsp.CompletionItemKind
_OTHERS = ("first", "prev")  # other instances, inside a block
_EXPRESSION_WORDS = (
    "if", "else", "and", "or", "not", "in", "for", "match", "keep", "ordered", "none", "true", "false",
)


def complete(
    store: Store, document: Document, position: lsp.Position, with_snippets: bool = True
) -> lsp.CompletionList:
    """`with_snippets`: whether the client can fill in places of a text one after the other; else words stand
    there.
    """
    found = _complete(store, document, position)
    for item in found.items if not with_snippets else ():
        if item.insert_text_format == lsp.InsertTextFormat.Snippet:
            item.insert_text, item.insert_text_format = snippets.plain(item.insert_text or ""), None
    return found


def _complete(store: Store, document: Document, position: lsp.Position) -> lsp.CompletionList:
    offset = offset_of(document, position)
    where = document.piece_at(offset)
    if where is None:
        return _list(_begin())
    piece, at = where
    if (found := in_quotes(store, document, piece, at, offset)) is not None:
        return _list(found)
    here = cursor(piece, at)
    if here is None:
        return _list(())
    return _list(_Places(store, document, here, offset - at).items())


def _list(items: Iterable[lsp.CompletionItem]) -> lsp.CompletionList:
    unique = {(item.label, item.kind): item for item in items}
    return lsp.CompletionList(False, list(unique.values()))


def resolve(store: Store, item: lsp.CompletionItem) -> lsp.CompletionItem:
    """The documentation of an item that was chosen. Its `data`: the document, what it is, its name."""
    data = item.data if isinstance(item.data, dict) else {}
    document = store.get(str(data.get("uri", "")))
    if document is None:
        return item
    analysis, name = store.analysis(document), str(data.get("name", ""))
    text: str | None = None
    match data.get("what"):
        case "op":
            signature = analysis.dialect.get(name)
            text = of_signature(signature) if signature is not None else None
        case "attribute":
            signature = analysis.dialect.get(str(data.get("of", "")))
            text = attribute_text(signature, name) if signature is not None else None
        case "fn" | "rule" as space:
            definition = visible(store, document, space).get(name)
            text = (
                hover.of_definition(store, analysis, definition, definition.mark)
                if definition is not None
                else None
            )
        case "module":
            text = hover.module_doc(store, name)
    if text:
        item.documentation = lsp.MarkupContent(lsp.MarkupKind.Markdown, text)
    return item


def _begin() -> Iterator[lsp.CompletionItem]:
    """Items to begin with."""
    for label, (detail, text) in snippets.ITEMS.items():
        item = lsp.CompletionItem(
            label=label, kind=_K.Snippet, detail=detail, insert_text=text,
            insert_text_format=lsp.InsertTextFormat.Snippet,
        )
        item.sort_text = f"1{label}"
        yield item


class _Places(ItemsAt):
    """The completions at each kind of location in an item."""

    def items(self) -> Iterator[lsp.CompletionItem]:
        here, t = self.here, self.piece.tokens
        last, before = here.text(), here.text(1)
        opening = t.open_at(here.last)
        if last == "@":
            yield from (
                self.plain(name, _K.Event, shown[0], shown[1]) for name, shown in words.ANNOTATIONS.items()
            )
            return
        if t.text(opening) == "(" and t.text(opening - 2) == "@":
            if t.text(opening - 1) == "allow":
                yield from (
                    self.plain(code, _K.EnumMember, f"{info.name}: {info.title}")
                    for code, info in LINTS.items()
                )
            elif t.text(opening - 1) == "attach":
                yield from self.behind_dot() if last == "." or "." in here.word else self.local_names()
            return
        keyword = self.piece.keyword or (last if last in ("use", "dialect") else "")
        if keyword == self.piece.keyword and self.outside():
            yield from _begin()
        elif keyword == "use":
            yield from self.modules()
        elif keyword == "dialect":
            yield from (self.plain(name, _K.EnumMember) for name in dialect_names())
        elif keyword == "pass":
            if opening >= 0:
                yield from self.steps()
        elif keyword == "test" and last == "for" and opening < 0:
            yield from self.global_names("rule")
        elif keyword == "test" and opening >= 0 and last == ":" and t.text(opening) == "{":
            yield from (
                self.plain(name, _K.TypeParameter, words.KINDS[name]) for name in ("input", "param", "const")
            )
        elif keyword == "test" and before == ":" and last in words.KINDS:
            yield from (self.plain(name, _K.TypeParameter) for name in DTYPES)
        elif (
            keyword == "rule" and last == ":" and t.text(opening) == "(" and t.text(t.around[opening]) == ""
            and t.text(opening - 2) == "rule"
        ):
            yield from (self.plain(name, _K.TypeParameter, text) for name, text in words.KINDS.items())
        elif keyword == "param" and last == ":" and opening < 0:
            yield from (
                self.plain(name, _K.TypeParameter, text)
                for name, text in words.TYPES.items()
                if name not in ("tensor", "tuple")
            )
        elif keyword == "op" and self.in_declaration(opening):
            yield from self.declaration(opening)
        elif last == "." or "." in here.word:
            yield from self.behind_dot()
        elif t.text(opening) == "{" and t.text(opening - 1) == ".":
            yield from self.fields(hover.root_mark(self.piece, opening))
        else:
            yield from self.expression()

    # ── parts of a file ──

    def outside(self) -> bool:
        """True if the cursor stands where an item begins."""
        t, last = self.piece.tokens, self.here.last
        if self.piece.keyword == "":
            return t.open_at(last) < 0
        if last < 0:
            return True
        closed = t.open_at(last) < 0 and t.text(last) in (";", "}")
        return (
            closed and (t.text(last) == ";" or self.piece.keyword in ("rule", "test", "pass"))
            and last == len(t.all) - 1 - bool(self.here.word)
        )

    def modules(self) -> Iterator[lsp.CompletionItem]:
        opening = self.piece.tokens.open_at(self.here.last)
        if opening < 0:
            for name in module_names():
                yield self.dotted(name, _K.Module, "", {"what": "module", "name": name})
            return
        for mark in marks(self.piece):
            if mark.role in ("path", "module"):
                for path in imported_files(
                    self.document, Import(mark.text.strip('"'), mark.role == "path", None)
                ):
                    other = self.store.file(path)
                    for (space, name), _ in own(other).items() if other is not None else ():
                        if space != "op":
                            yield self.plain(name, _K.Function if space == "fn" else _K.Class, space)

    def steps(self) -> Iterator[lsp.CompletionItem]:
        yield from self.global_names("rule")
        yield from (self.plain(name, _K.Keyword, text) for name, text in words.STEPS.items())
        yield self.snippet("repeat", words.KEYWORDS["repeat"], "repeat { $0; }")

    def in_declaration(self, opening: int) -> bool:
        t = self.piece.tokens
        return t.text(opening) != "{" or t.text(self.here.last) in ("is",)

    def declaration(self, opening: int) -> Iterator[lsp.CompletionItem]:
        t, last = self.piece.tokens, self.here.last
        if any(t.text(k) == "is" and t.around[k] < 0 for k in range(last + 1)):
            yield from (self.plain(name, _K.EnumMember, text) for name, text in words.TRAITS.items())
        elif (
            t.text(last) in (":", "|", "->") or opening >= 0 and t.text(opening) == "("
            and t.text(opening - 1) == "->"
        ):
            yield from (self.plain(name, _K.TypeParameter, text) for name, text in words.TYPES.items())
        elif opening < 0 and any(t.text(k) == "->" for k in range(last + 1)):
            yield self.plain("is", _K.Keyword, words.KEYWORDS["is"])

    def behind_dot(self) -> Iterator[lsp.CompletionItem]:
        """Attributes of a node, names of a template, or operators whose dotted names begin so."""
        here = self.here
        root, _, _ = here.word.partition(".")
        if here.text() == "." and not here.word.count("."):
            yield from self.fields(hover.root_mark(self.piece, here.last))
            return
        mark = next(
            (
                m
                for m in marks(self.piece)
                if m.start == here.start and m.text == root and (m.local is not None or m.text in _OTHERS)
            ),
            None,
        )
        if mark is None and any(
            m.defines and m.local is not None and m.text == root for m in marks(self.piece)
        ):
            mark = next(m for m in marks(self.piece) if m.defines and m.text == root)
        if mark is not None or root in _OTHERS:
            words_ = here.word.split(".")
            inner = next(
                (m for m in marks(self.piece) if m.defines and len(words_) > 2 and m.text == words_[-2]), None
            )
            yield from self.fields(inner or mark, first=root in _OTHERS and len(words_) == 2)
            return
        yield from self.operators(prefix=here.word.rpartition(".")[0] + ".")

    def fields(self, base: Mark | None, first: bool = False) -> Iterator[lsp.CompletionItem]:
        """The completions after `base.`."""
        t = self.piece.tokens
        blocks = {
            next((k for k in range(m.token, len(t.all)) if t.text(k) == "{"), -1)
            for m in marks(self.piece) if m.role == "template"
        }
        inner = [
            m for m in marks(self.piece) if m.defines and m.role == "binding" and t.around[m.token] in blocks
        ]
        is_template = base is not None and any(
            m.defines and m.role in ("template", "counter") and m.start == base.local
            for m in marks(self.piece)
        )
        if first or is_template:
            yield from (self.field(m.text, _K.Variable, "of the template") for m in inner)
        lowering = lowered(self.analysis, self.piece)
        new = (
            lowering is not None and base is not None
            and isinstance(resolved(lowering, base.text), TargetOf)
        )
        if base is not None and not first:
            for name in () if new else operators_named(self.analysis, self.piece, base.text):
                signature = self.analysis.dialect.get(name)
                for spec in signature.attributes.values() if signature is not None else ():
                    data = {"what": "attribute", "of": name, "name": spec.name}
                    yield self.field(spec.name, _K.Field, str(spec), data)
        if not is_template:
            for name, text in words.FACTS.items():
                if not new or name in NEW_FACTS:
                    yield self.field(name, _K.Property, text)

    def expression(self) -> Iterator[lsp.CompletionItem]:
        t, here = self.piece.tokens, self.here
        call = call_around(self.piece, here.last)
        if call is not None and t.open_at(here.last) == call.opening and here.text() in ("(", ","):
            yield from self.arguments(call.callee, call.given, call.opening)
        for signature, spec in declared_at(self.analysis, self.piece, here.last):
            for value in domain.literals(spec.domain):
                item = self.plain(value_text(value), _K.Value, f"{spec.name} of {signature.name}")
                item.sort_text = f"0{item.label}"
                yield item
        if call is not None and self.takes_operators(call.callee, call.opening):
            yield from (self.plain(name, _K.EnumMember, text) for name, text in words.TRAITS.items())
        if here.text() in ("(", ",", "=") and call is not None and call.keyword == "dtype":
            yield from (self.plain(f'"{name}"', _K.Value) for name in DTYPES)
        yield from self.local_names()
        yield from self.global_names("fn")
        yield from self.operators()
        for name in words.FUNCTIONS:
            yield self.plain(name, _K.Function, words.FUNCTIONS[name][0], words.FUNCTIONS[name][1])
        for name, text in words.KINDS.items():
            if name != "op" or self.piece.keyword == "rule":
                yield self.plain(name, _K.TypeParameter, text)
        for name, text in words.NAMES.items():
            template = any(m.role == "template" for m in marks(self.piece))
            known = {"inf": True, "opset": self.analysis.dialect.name == "onnx"}
            if self.piece.keyword == "rule" and known.get(name, template):
                yield self.plain(name, _K.Variable, text)
        for name in _EXPRESSION_WORDS:
            yield self.plain(name, _K.Keyword, words.KEYWORDS[name])
        if here.text() in (";", "{", "}", "=>") and self.piece.keyword == "rule":
            for name, (detail, body) in snippets.STATEMENTS.items():
                yield self.snippet(name, detail, body)
        if self.piece.keyword == "rule":
            yield self.plain("where", _K.Keyword, words.KEYWORDS["where"])
        if self.piece.keyword == "test" and here.text() == "=>":
            yield self.plain("unchanged", _K.Keyword, words.KEYWORDS["unchanged"])

    def takes_operators(self, callee: str, opening: int) -> bool:
        """True in `op(…)`, and behind the first argument of `users` and `calls`: there operators may be meant
        by their traits."""
        t, last = self.piece.tokens, self.here.last
        behind = any(t.text(k) == "," and t.open_at(k) == opening for k in range(opening, last + 1))
        return callee == "op" or callee in ("users", "calls") and behind

    def arguments(self, callee: str, given: tuple[str, ...], opening: int) -> Iterator[lsp.CompletionItem]:
        """Attributes and optional operands of what is called, those not given yet."""
        if callee in words.KINDS and callee != "op" and callee not in self.analysis.dialect.operators:
            for name in ("shape", "dtype", "ndim", "value"):
                if name not in given:
                    yield self.argument(name, words.FACTS[name], {})
            return
        for signature in called(self.analysis, self.piece, callee, opening):
            for parameter in signature_text.operator(signature).parameters:
                if parameter.name not in given and not parameter.positional:
                    yield self.argument(
                        parameter.name, parameter.text,
                        {"what": "attribute", "of": signature.name, "name": parameter.name},
                    )

    def local_names(self) -> Iterator[lsp.CompletionItem]:
        lowering = lowered(self.analysis, self.piece)
        for mark in marks(self.piece):
            if mark.defines and mark.local is not None and mark.start != self.here.start:
                what = resolved(lowering, mark.text) if lowering is not None else None
                detail = (
                    described(lowering, what) if lowering is not None and what is not None
                    else mark.role.replace("-", " ")
                )
                item = self.plain(mark.text, _K.Variable, detail)
                item.sort_text = f"0{mark.text}"
                yield item

    def global_names(self, space: str) -> Iterator[lsp.CompletionItem]:
        for name, definition in visible(self.store, self.document, space).items():
            if space == "fn":
                item = next((i for i in definition.piece.items if isinstance(i, n.FnDecl)), None)
                detail = signature_text.function(item).label if item is not None else "fn"
                yield self.plain(name, _K.Function, detail, data={"what": "fn", "name": name})
            else:
                kind = _K.Event if definition.mark.role == "pass" else _K.Class
                yield self.plain(name, kind, definition.mark.role, data={"what": "rule", "name": name})

    def operators(self, prefix: str = "") -> Iterator[lsp.CompletionItem]:
        qualified = dialect_name(self.document) + "."
        for name, signature in sorted(self.analysis.dialect.operators.items()):
            shown = qualified + name if prefix.startswith(qualified) else name
            if shown.startswith(prefix):
                yield self.dotted(
                    shown, _K.Operator, signature_text.operator(signature).label[len(f"op {name}") :],
                    {"what": "op", "name": name},
                )
