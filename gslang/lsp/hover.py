"""Hovers: signatures, documentation, kinds and types of names, verdicts on rules."""

from __future__ import annotations

from lsprotocol import types as lsp

from gslang.check.module_files import find_module
from gslang.dialect.load import dialect_names, load_dialect
from gslang.dialect.signature import Signature
from gslang.engine.meaning import with_meanings
from gslang.lint.codes import LINTS
from gslang.lsp import signature_text, words
from gslang.lsp.analysis import Analysis
from gslang.lsp.diagnostics import offset_of, range_of
from gslang.lsp.document import Document
from gslang.lsp.kinds import described, graph_types, lowered, operators_named, operators_of, resolved
from gslang.lsp.lookup import Definition, definition_of, imported_files, imports, own
from gslang.lsp.names import Mark, mark_at, marks
from gslang.lsp.pieces import Piece
from gslang.lsp.store import Store
from gslang.lsp.verdicts import known_verdict, told
from gslang.syntax import nodes as n
from gslang.syntax.families import items_of

_SHOWN = 8  # rows of a table


def hover(store: Store, document: Document, position: lsp.Position) -> lsp.Hover | None:
    offset = offset_of(document, position)
    where = document.piece_at(offset)
    if where is None:
        return None
    piece, at = where
    start = offset - at
    mark = mark_at(piece, at)
    if mark is not None:
        text = _of_mark(store, document, piece, mark)
        place = (mark.start, mark.end)
    else:
        token = next((t for t in piece.tokens.all if t.start <= at < t.end and t.kind == "word"), None)
        text = (
            f"**{token.text}** — {words.KEYWORDS[token.text]}"
            if token is not None and token.text in words.KEYWORDS
            else None
        )
        place = (token.start, token.end) if token is not None else (0, 0)
    if not text:
        return None
    return lsp.Hover(
        lsp.MarkupContent(lsp.MarkupKind.Markdown, text.strip()),
        range_of(document, start + place[0], start + place[1]),
    )


def _of_mark(store: Store, document: Document, piece: Piece, mark: Mark) -> str | None:
    analysis = store.analysis(document)
    match mark.role:
        case "kind":
            return _explained(mark.text, words.KINDS)
        case "annotation":
            shown = words.ANNOTATIONS.get(mark.text)
            return f"`{shown[0]}` — {shown[1]}" if shown else None
        case "trait":
            return _of_trait(analysis, mark.text) if mark.text in words.TRAITS else None
        case "type":
            return _explained(mark.text, words.TYPES)
        case "code":
            info = LINTS.get(mark.text) or next(
                (i for i in LINTS.values() if i.name.replace("-", "_") == mark.text), None
            )
            return f"**{info.code}** {info.name}: {info.title}" if info is not None else None
        case "dialect":
            return (
                f"**{mark.text}**: {len(load_dialect(mark.text).operators)} operators"
                if mark.text in dialect_names()
                else None
            )
        case "path" | "module":
            return _of_module(store, document, mark)
        case "keyword":
            return _of_argument(analysis, piece, mark)
        case "field":
            return _of_field(analysis, document, piece, mark)
        case "pass-item" if mark.text in words.STEPS:
            return _explained(mark.text, words.STEPS)
    definition = definition_of(store, document, piece, mark)
    if definition is None:
        return _of_unowned(analysis, mark)
    return of_definition(store, analysis, definition, mark)


def _of_trait(analysis: Analysis, name: str) -> str:
    some = analysis.dialect.by_trait.get(name, ())
    return (
        f"{_explained(name, words.TRAITS)}\n\n{len(some)} operators: "
        f"{', '.join(some[:12])}{', …' if len(some) > 12 else ''}"
    )


def _explained(word: str, table: dict[str, str]) -> str | None:
    return f"**{word}** — {table[word]}" if word in table else None


def _of_unowned(analysis: Analysis, mark: Mark) -> str | None:
    """Names that stand in no file: operators of a dialect without declarations, built-ins, kinds, `first` and
    `index`.
    """
    name = mark.text.removeprefix(analysis.dialect.name + ".")
    signature = analysis.dialect.get(name)
    shown = []
    if signature is not None:
        shown.append(of_signature(signature))
    if name in words.FUNCTIONS:
        shown += [f"{_code(form.label)}\n\n{form.doc}" for form in signature_text.builtin(name)]
    if name in words.KINDS:
        shown.append(_explained(name, words.KINDS) or "")
    if name in words.TRAITS:
        shown.append(_of_trait(analysis, name))
    if name in words.NAMES:
        shown.append(_explained(name, words.NAMES) or "")
    return "\n\n---\n\n".join(shown) or None


def _code(text: str) -> str:
    return f"```gslang\n{text}\n```"


def of_signature(signature: Signature) -> str:
    """An operator: its declaration, broken into lines where it is long, and its documentation."""
    shown = signature_text.operator(signature)
    label = f"{shown.label};"
    if len(label) > 90:
        label = shown.head + "(\n" + "".join(f"    {p.text},\n" for p in shown.parameters) + f"){shown.tail};"
    return _code(label) + (f"\n\n{shown.doc}" if shown.doc else "")


def of_definition(store: Store, analysis: Analysis, definition: Definition, mark: Mark) -> str | None:
    match definition.mark.role:
        case "op":
            signature = analysis.dialect.get(definition.mark.text) or _elsewhere(store, definition)
            also = (
                [
                    f"\n\n---\n\n{_code(form.label)}\n\n{form.doc}"
                    for form in signature_text.builtin(mark.text)
                ]
                if mark.text in words.FUNCTIONS
                else []
            )
            return (
                of_signature(signature) if signature is not None else _code(_first_lines(definition.piece))
            ) + "".join(also)
        case "fn":
            item = next((i for i in definition.piece.items if isinstance(i, n.FnDecl)), None)
            return (
                f"{_code(signature_text.function(item).label)}\n\n{item.doc or ''}" if item is not None
                else _code(_first_lines(definition.piece))
            )
        case "param":
            declared = next((i for i in definition.piece.items if isinstance(i, n.ParamDecl)), None)
            doc = declared.doc if declared is not None else None
            return (
                f"{_code(_first_lines(definition.piece))}\n\n{doc or ''}\n\n"
                f"Another value: `--define {mark.text}=…`"
            )
        case "rule":
            return of_rule(store, definition)
        case "pass":
            item_ = definition.piece.items[0] if definition.piece.items else None
            return _code(_first_lines(definition.piece)) + (
                f"\n\n{item_.doc}" if item_ is not None and item_.doc else ""
            )
    return _of_local(analysis, definition)


def _elsewhere(store: Store, definition: Definition) -> Signature | None:
    return store.analysis(definition.document).dialect.get(definition.mark.text)


def _first_lines(piece: Piece) -> str:
    """The beginning of an item, without the comments above it."""
    tokens = piece.tokens.all
    lines = piece.text[tokens[0].start : tokens[-1].end].splitlines() if tokens else []
    return "\n".join(lines[:12]) + ("\n…" if len(lines) > 12 else "")


def of_rule(store: Store, definition: Definition) -> str:
    """A rule: its documentation, its text, tests, and what `gslc verify` said of it."""
    document, piece = definition.document, definition.piece
    analysis = store.analysis(document)
    item = piece.items[0] if piece.items else None
    name = definition.mark.text
    parts = [_code(_first_lines(piece))]
    if item is not None and item.doc:
        parts.append(item.doc)
    tests = sum(
        mark.role == "test-rule" and mark.text == name
        for other in document.pieces if other.keyword == "test"
        for mark in marks(other)
    )
    facts = [f"{tests} test{'s' * (tests != 1)}"]
    rule = analysis.checked(piece)
    if rule is not None:
        if rule.tags:
            facts.append("tags: " + ", ".join(rule.tags))
        verdict = known_verdict(with_meanings(analysis.program), rule.name)
        if verdict is not None:
            facts.append(f"verify: {told(verdict)}")
    else:
        facts.append("has errors")
    return "\n\n".join([*parts, " · ".join(facts), f"*{document.name.rsplit('/', 1)[-1]}*"])


def _of_local(analysis: Analysis, definition: Definition) -> str:
    """A name that only its item sees: what it stands for, and the statement that says so."""
    piece, mark = definition.piece, definition.mark
    if mark.role == "counter" and (items := _items_of_table(piece, mark)):
        return f"**{mark.text}** — name of the table; in each row another item: {items}"
    lowering = lowered(analysis, piece)
    what = resolved(lowering, mark.text) if lowering is not None and mark.role != "counter" else None
    title = mark.role.replace("-", " ").replace("graph input", "input of the test")
    shown = f"**{mark.text}** — {title}" + (
        f": {described(lowering, what)}" if lowering is not None and what is not None else ""
    )
    if mark.role == "graph-input" or what is None:
        shown += f"\n\n{_code(statement_text(piece, mark))}"
    elif mark.role == "binding":
        shown += f"\n\n{_code(statement_text(piece, mark))}"
    type_ = type_of_binding(analysis, piece, mark)
    if type_ is not None:
        shown += f"\n\ntype: `{type_}`"
    operators = operators_of(lowering, what) if lowering is not None else ()
    if len(operators) == 1 and (signature := analysis.dialect.get(operators[0])) is not None:
        shown += "\n\n---\n\n" + of_signature(signature)
    return shown


def _items_of_table(piece: Piece, mark: Mark) -> str:
    """The items that a name of a family's table stands for; empty for other names."""
    tables = [item.table for item in piece.items if isinstance(item, n.Rule) and item.table is not None]
    for table in tables:
        for k, name in enumerate(table.names):
            if name.span.start == mark.start:
                rows = [items_of(row, table) for row in table.rows[:_SHOWN]]
                shown = [f"`{row[k].span.text}`" for row in rows if row is not None]
                return ", ".join([*shown, *(["…"] if len(table.rows) > _SHOWN else [])])
    return ""


def statement_text(piece: Piece, mark: Mark) -> str:
    """The statement that introduces a name, up to its `;` or `,`, shortened."""
    t = piece.tokens
    around = t.around[mark.token]
    ends = (
        k
        for k in range(mark.token, len(t.all))
        if k == t.end_of_bracket(around) or t.around[k] == around and t.text(k) in (";", ",", "=>")
    )
    stop = next(ends, len(t.all))
    end = t.all[stop].start if stop < len(t.all) else len(piece.text)
    line = piece.text[piece.text.rfind("\n", 0, mark.start) + 1 : mark.start]
    indent = len(line) - len(line.lstrip())
    lines = piece.text[mark.start : end].strip().splitlines()
    text = (
        "\n".join([lines[0], *(rest[indent:] if rest[:indent].isspace() else rest for rest in lines[1:])])
        if lines
        else ""
    )
    return text if len(text) < 400 else text[:397] + "…"


def type_of_binding(analysis: Analysis, piece: Piece, mark: Mark) -> str | None:
    """The type of what a test calls by this name."""
    if piece.keyword != "test" or mark.role != "binding":
        return None
    t = piece.tokens
    value = t.all[mark.token + 2].start if mark.token + 2 < len(t.all) else -1
    return graph_types(analysis, piece).get(value)


def callee_at(piece: Piece, mark: Mark) -> Mark | None:
    """The callee of the call that an occurrence is an argument of."""
    t = piece.tokens
    opening = t.around[mark.token]
    before = t.all[opening - 1 - (t.text(opening - 1) == "?")] if opening > 0 else None
    return next(
        (
            m
            for m in marks(piece)
            if before is not None and m.end == before.end and m.role in ("callee", "kind", "name")
        ),
        None,
    )


def signatures_of_call(analysis: Analysis, piece: Piece, callee: Mark) -> list[Signature]:
    """The operators that a call may mean: one, or those of an operator variable."""
    if callee.local is not None:
        names = operators_named(analysis, piece, callee.text)
    else:
        names = (callee.text.removeprefix(analysis.dialect.name + "."),)
    return [s for name in names if (s := analysis.dialect.get(name)) is not None]


def _of_argument(analysis: Analysis, piece: Piece, mark: Mark) -> str | None:
    callee = callee_at(piece, mark)
    if callee is None:
        return None
    if callee.text in words.KINDS:
        return _explained(mark.text, words.FACTS)
    for signature in signatures_of_call(analysis, piece, callee):
        found = attribute_text(signature, mark.text)
        if found is not None:
            return found
    return None


def attribute_text(signature: Signature, name: str, owners: list[str] | None = None) -> str | None:
    """An attribute or operand of an operator, or of one of several `owners`."""
    for parameter in signature_text.operator(signature).parameters:
        if parameter.name == name:
            what = "operand" if parameter.positional else "attribute"
            listed = owners or [signature.name]
            return (
                f"{_code(parameter.text)}\n\n{what} of "
                f"{', '.join(f'`{owner}`' for owner in listed[:8])}{', …' if len(listed) > 8 else ''}"
            )
    return None


def _of_field(analysis: Analysis, document: Document, piece: Piece, mark: Mark) -> str | None:
    """`p.l`: a name of a template, an attribute of what `p` is a call of, or a fact that every node has."""
    if mark.local is not None:
        where = next(m for m in marks(piece) if m.defines and m.start == mark.local)
        return _of_local(analysis, Definition(document, piece, where, "local"))
    for signature in fields_of(analysis, piece, mark):
        found = attribute_text(signature, mark.text)
        if found is not None:
            return found
    if mark.text in words.FACTS:
        return _explained(mark.text, words.FACTS)
    some = [
        signature for signature in analysis.dialect.operators.values() if mark.text in signature.attributes
    ]
    return attribute_text(some[0], mark.text, [signature.name for signature in some]) if some else None


def fields_of(analysis: Analysis, piece: Piece, mark: Mark) -> list[Signature]:
    """The operators of the node before the dot."""
    base = root_mark(piece, mark.token - 1)
    names = operators_named(analysis, piece, base.text) if base is not None else ()
    return [s for name in names if (s := analysis.dialect.get(name)) is not None]


def root_mark(piece: Piece, dot: int) -> Mark | None:
    """The name right before a dot, brackets between them skipped."""
    t = piece.tokens
    k = dot - 1
    if t.text(dot) == "{":
        k = dot - 2
    elif t.text(t.around[dot]) == "{" and t.text(dot) != ".":
        k = t.around[dot] - 2
    while t.text(k) in ("]", ")"):
        k = next((o for o, c in t.closing.items() if c == k), 0) - 1
    return next((m for m in marks(piece) if 0 <= k < len(t.all) and m.token == k), None)


def _of_module(store: Store, document: Document, mark: Mark) -> str | None:
    """A module: its documentation and what it offers."""
    item = next((i for i in imports(document) if i.module == mark.text.strip('"')), None)
    parts = []
    for path in imported_files(document, item) if item is not None else ():
        other = store.file(path)
        if other is not None:
            doc = "\n".join(d for piece in other.pieces if (d := piece.parsed.program.doc))
            names = [name for _, name in own(other)]
            parts.append(
                f"**{path.name}** {doc}\n\n{', '.join(names[:30])}{', …' if len(names) > 30 else ''}"
            )
    return "\n\n---\n\n".join(parts) or None


def module_doc(store: Store, module: str) -> str:
    """The documentation of a shipped module."""
    try:
        paths = find_module(module)
    except FileNotFoundError:
        return ""
    document = store.file(paths[0]) if len(paths) == 1 else None
    return (
        "\n".join(d for piece in document.pieces if (d := piece.parsed.program.doc)) if document is not None
        else f"{len(paths)} modules"
    )


