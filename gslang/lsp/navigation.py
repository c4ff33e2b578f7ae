"""From a name to where it is introduced, to all its mentions, and to another name for it."""

from __future__ import annotations

import re

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams

from gslang.base.resources import stdlib_path
from gslang.check.context import FUNCTIONS, KINDS
from gslang.lsp.diagnostics import location_of, offset_of, range_of
from gslang.lsp.document import Document
from gslang.lsp.hover import callee_at, fields_of, signatures_of_call
from gslang.lsp.lookup import (
    Definition,
    Resolver,
    definition_of,
    find,
    imported_files,
    imports,
    own,
    references,
    visible,
)
from gslang.lsp.names import Mark, mark_at, marks
from gslang.lsp.pieces import Piece
from gslang.lsp.store import Store, path_of
from gslang.lsp.tokens import RESERVED

_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_KINDS = frozenset(KINDS)


def name_at(document: Document, position: lsp.Position) -> tuple[Piece, Mark] | None:
    """The name at a position."""
    where = document.piece_at(offset_of(document, position))
    mark = mark_at(*where) if where is not None else None
    return (where[0], mark) if where is not None and mark is not None else None


def definition(store: Store, document: Document, position: lsp.Position) -> list[lsp.Location]:
    found = name_at(document, position)
    if found is None:
        return []
    piece, mark = found
    if mark.role in ("path", "module"):
        item = next((i for i in imports(document) if i.module == mark.text.strip('"')), None)
        files = [store.file(path) for path in (imported_files(document, item) if item is not None else ())]
        return [location_of(other, 0, 0) for other in files if other is not None]
    target = definition_of(store, document, piece, mark) or _declared_parameter(store, document, piece, mark)
    return [location_of(target.document, *target.range)] if target is not None else []


def _declared_parameter(store: Store, document: Document, piece: Piece, mark: Mark) -> Definition | None:
    """An attribute, where its operator is declared."""
    analysis = store.analysis(document)
    callee = callee_at(piece, mark) if mark.role == "keyword" else None
    signatures = (
        signatures_of_call(analysis, piece, callee) if callee is not None
        else fields_of(analysis, piece, mark) if mark.role == "field"
        else []
    )
    for signature in signatures:
        operator = find(store, document, "op", signature.name)
        for other in marks(operator.piece) if operator is not None else ():
            if (
                operator is not None and other.defines and other.role == "parameter"
                and other.text == mark.text
            ):
                return Definition(operator.document, operator.piece, other, "local")
    return None


def all_references(
    store: Store, document: Document, position: lsp.Position, with_definition: bool
) -> list[lsp.Location]:
    found = name_at(document, position)
    target = definition_of(store, document, *found) if found is not None else None
    if target is None:
        return []
    some = []
    for other, piece, mark in references(store, target):
        if with_definition or not mark.defines:
            start = other.start_of(piece)
            some.append(location_of(other, start + mark.start, start + mark.end))
    return some


def highlights(store: Store, document: Document, position: lsp.Position) -> list[lsp.DocumentHighlight]:
    """All mentions in this document. What no file introduces is found by its text."""
    found = name_at(document, position)
    if found is None:
        return []
    target = definition_of(store, document, *found)
    resolve = Resolver(store)
    result = []
    for piece, start in zip(document.pieces, document.starts):
        for mark in marks(piece):
            same = (
                _same(resolve, document, piece, mark, target) if target is not None
                else (mark.role, mark.text) == (found[1].role, found[1].text)
            )
            if same:
                kind = lsp.DocumentHighlightKind.Write if mark.defines else lsp.DocumentHighlightKind.Read
                result.append(
                    lsp.DocumentHighlight(range_of(document, start + mark.start, start + mark.end), kind)
                )
    return result


def _same(resolve: Resolver, document: Document, piece: Piece, mark: Mark, target: Definition) -> bool:
    if target.space == "local":
        return piece is target.piece and mark.local == target.mark.start
    if mark.local is not None or not mark.text.endswith(target.mark.text):
        return False
    found = resolve(document, piece, mark)
    return found is not None and found.same(target)


# ── rename ──────────────────────────────────────────────────────────────────────────────────────────────────


def _to_rename(store: Store, document: Document, position: lsp.Position) -> tuple[Piece, Mark, Definition]:
    found = name_at(document, position)
    if found is None:
        raise _refused("no name here")
    piece, mark = found
    target = definition_of(store, document, piece, mark)
    if target is None or target.mark.role == "test":
        raise _refused(f"`{mark.text}` is not introduced in a rule file")
    path = path_of(target.document.uri)
    if path is not None and stdlib_path().resolve() in path.resolve().parents:
        raise _refused(f"`{target.mark.text}` belongs to the shipped library")
    if target.mark.role == "parameter" and target.piece.keyword == "op":
        raise _refused("operands and attributes of an operator are part of graphs and keep their names")
    return piece, mark, target


def _refused(why: str) -> JsonRpcInvalidParams:
    return JsonRpcInvalidParams(message=f"cannot rename: {why}")


def prepare_rename(store: Store, document: Document, position: lsp.Position) -> lsp.PrepareRenamePlaceholder:
    piece, mark, target = _to_rename(store, document, position)
    start = document.start_of(piece)
    at = mark.end - len(target.mark.text)  # a dialect's name before it stays
    return lsp.PrepareRenamePlaceholder(range_of(document, start + at, start + mark.end), target.mark.text)


def rename(store: Store, document: Document, position: lsp.Position, name: str) -> lsp.WorkspaceEdit:
    """Edits for all mentions.

    Refused if the name cannot be one, or if something of this name is there already.
    """
    _, _, target = _to_rename(store, document, position)
    _check_name(target, name)
    if name != target.mark.text:
        _check_free(store, document, target, name)
    edits: dict[str, list[lsp.TextEdit]] = {}
    for other, piece, mark in references(store, target):
        start = other.start_of(piece)
        place = range_of(other, start + mark.end - len(target.mark.text), start + mark.end)
        edits.setdefault(other.uri, []).append(lsp.TextEdit(place, name))
    return lsp.WorkspaceEdit(changes=edits)


def _check_name(target: Definition, name: str) -> None:
    parts = name.split(".") if target.mark.role == "op" else [name]
    if not all(_NAME.fullmatch(part) for part in parts):
        raise _refused(f"`{name}` is not a name: letters, digits and `_`, no digit first")
    if target.mark.role != "op" and name in RESERVED:
        raise _refused(f"`{name}` is a keyword")
    if name in _KINDS or name == "_" or name in ("fold", "cse") and target.space == "rule":
        raise _refused(f"`{name}` is reserved")


def _check_free(store: Store, document: Document, target: Definition, name: str) -> None:
    if target.space == "local":
        if any(mark.defines and mark.local is not None and mark.text == name for mark in marks(target.piece)):
            raise _refused(f"there is a `{name}` here already")
        if any(
            mark.role in ("name", "callee") and mark.local is None and mark.text == name
            for mark in marks(target.piece)
        ):
            raise _refused(f"`{name}` already has another meaning here")
        return
    if (target.space, name) in own(target.document) or find(store, document, target.space, name) is not None:
        raise _refused(f"there is a `{name}` already")
    if target.space in ("fn", "op") and name in FUNCTIONS:
        raise _refused(f"`{name}` is a built-in function")
    for other, piece, _ in references(store, target):
        if target.space in ("fn", "op") and store.analysis(other).dialect.get(name) is not None:
            raise _refused(f"there is an operator `{name}` already")
        taken = (
            any(mark.defines and mark.local is not None and mark.text == name for mark in marks(piece))
            if target.space == "fn"
            else False
        )
        if taken or (target.space, name) in own(other) or name in visible(store, other, target.space):
            raise _refused(f"there is a `{name}` already in {other.name.rsplit('/', 1)[-1]}")
