"""The definition of a name: where it is introduced, in this file, in one that it imports, or in the shipped
library.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gslang.base.quick_dataclass import dataclass
from gslang.base.resources import stdlib_path
from gslang.check.module_files import find_module
from gslang.lsp.document import Document, folder_of
from gslang.lsp.names import Mark, marks
from gslang.lsp.pieces import Piece
from gslang.lsp.store import Store

SPACE = {"rule": "rule", "pass": "rule", "fn": "fn", "op": "op", "param": "fn"}
"""Rules and passes share one namespace."""


@dataclass(frozen=True, slots=True)
class Definition:
    """Where a name is introduced.

    `space`: "rule", "fn", "op", or "local" for names that one item alone sees.
    """

    document: Document
    piece: Piece
    mark: Mark
    space: str

    @property
    def range(self) -> tuple[int, int]:
        start = self.document.start_of(self.piece)
        return start + self.mark.start, start + self.mark.end

    def same(self, other: Definition) -> bool:
        return self.document is other.document and self.range == other.range


@dataclass(frozen=True, slots=True)
class Import:
    """A `use`. `names`: None for everything."""

    module: str
    is_path: bool
    names: frozenset[str] | None


def own(document: Document) -> dict[tuple[str, str], Definition]:
    """(space, name) → the first definition of it in this file."""
    known = document.memo.get("own")
    if known is None or known[0] is not document:
        table: dict[tuple[str, str], Definition] = {}
        for piece in document.pieces:
            for mark in marks(piece):
                if mark.defines and mark.role in SPACE:
                    table.setdefault(
                        (SPACE[mark.role], mark.text), Definition(document, piece, mark, SPACE[mark.role])
                    )
        known = document.memo["own"] = (document, table)
    return known[1]  # type: ignore[no-any-return]


def imports(document: Document) -> list[Import]:
    found = []
    for piece in document.pieces:
        if piece.keyword != "use":
            continue
        some = marks(piece)
        names = frozenset(mark.text for mark in some if mark.role == "import")
        for mark in some:
            if mark.role == "path":
                found.append(Import(mark.text.strip('"'), True, names or None))
            elif mark.role == "module":
                found.append(Import(mark.text, False, names or None))
    return found


def imported_files(document: Document, item: Import) -> list[Path]:
    """The files that an import names; none where there are none."""
    if item.is_path:
        return [folder_of(document) / item.module]
    if item.module.split(".")[0] != "std":
        return []
    try:
        return find_module(item.module)
    except (FileNotFoundError, ValueError, OSError):
        return []


def reachable(store: Store, document: Document) -> Iterator[tuple[Document, frozenset[str] | None]]:
    """This file, then all files that it imports, the last one first, each with the names that are taken from
    it.
    """
    seen = {document.name}
    stack: list[tuple[Document, frozenset[str] | None]] = [(document, None)]
    while stack:
        found, names = stack.pop()
        yield found, names
        for item in imports(found):
            taken = names if item.names is None else item.names if names is None else names & item.names
            for path in imported_files(found, item):
                other = store.file(path)
                if other is not None and other.name not in seen:
                    seen.add(other.name)
                    stack.append((other, taken))


def find(store: Store, document: Document, space: str, name: str) -> Definition | None:
    """The definition that `name` refers to in a file."""
    for other, names in reachable(store, document):
        if names is None or name in names or space == "op":
            found = own(other).get((space, name))
            if found is not None:
                return found
    return shipped_operator(store, document, name) if space == "op" else None


def visible(store: Store, document: Document, space: str) -> dict[str, Definition]:
    """All definitions of a space that a file may use, by name."""
    table: dict[str, Definition] = {}
    for other, names in reachable(store, document):
        for (where, name), definition in own(other).items():
            if where == space and (names is None or name in names or space == "op"):
                table.setdefault(name, definition)
    return table


def shipped_operator(store: Store, document: Document, name: str) -> Definition | None:
    """The declaration of an operator of the file's dialect, if it is declared in a file."""
    path = stdlib_path() / dialect_name(document) / "ops.gsl"
    if not path.is_file():
        return None
    other = store.file(path)
    return own(other).get(("op", name)) if other is not None else None


def dialect_name(document: Document) -> str:
    """The dialect that a file names, wherever it does; the checker says where it should."""
    for piece in document.pieces:
        if piece.keyword == "dialect":
            return next((mark.text for mark in marks(piece) if mark.role == "dialect"), "relay")
    return "relay"


def definition_of(store: Store, document: Document, piece: Piece, mark: Mark) -> Definition | None:
    """The definition that an occurrence of a name refers to; None for names that no file introduces (kinds,
    attributes, built-ins).
    """
    if mark.defines and mark.role in SPACE:
        return Definition(document, piece, mark, SPACE[mark.role])
    if mark.local is not None:
        where = next((m for m in marks(piece) if m.defines and m.start == mark.local), None)
        return Definition(document, piece, where, "local") if where is not None else None
    match mark.role:
        case "pass-item" | "test-rule":
            return find(store, document, "rule", mark.text)
        case "import":
            return imported(store, document, piece, mark.text)
        case "callee" | "name":
            plain = mark.text.removeprefix(dialect_name(document) + ".")
            return (find(store, document, "fn", mark.text) if "." not in mark.text else None) or find(
                store, document, "op", plain
            )
    return None


def imported(store: Store, document: Document, piece: Piece, name: str) -> Definition | None:
    """A name in the list of a `use`: looked for in that module alone."""
    for mark in marks(piece):
        if mark.role in ("path", "module"):
            item = Import(mark.text.strip('"'), mark.role == "path", None)
            for path in imported_files(document, item):
                other = store.file(path)
                for space in ("rule", "fn"):
                    if other is not None and (found := find(store, other, space, name)) is not None:
                        return found
    return None


class Resolver:
    """`definition_of` for many mentions at one moment: what a name of a file refers to is found once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[tuple[int, str, str], Definition | None] = {}

    def __call__(self, document: Document, piece: Piece, mark: Mark) -> Definition | None:
        if mark.local is not None or mark.defines or mark.role == "import":
            return definition_of(self._store, document, piece, mark)
        key = (id(document), mark.role, mark.text)
        if key not in self._known:
            self._known[key] = definition_of(self._store, document, piece, mark)
        return self._known[key]


def references(store: Store, definition: Definition) -> Iterator[tuple[Document, Piece, Mark]]:
    """All mentions of what is introduced there, its introduction included, in all files of the workspace and
    the shipped ones.
    """
    if definition.space == "local":
        for mark in marks(definition.piece):
            if mark.local == definition.mark.start:
                yield definition.document, definition.piece, mark
        return
    seen: set[str] = set()
    resolve = Resolver(store)
    for files in (iter([definition.document]), store.workspace_files(), store.shipped_files()):
        for document in files:
            if document.name in seen or definition.mark.text not in document.text:
                continue
            seen.add(document.name)
            for piece in document.pieces:
                for mark in marks(piece) if definition.mark.text in piece.text else ():
                    if mark.local is None and _may_be(definition, document, mark):
                        found = resolve(document, piece, mark)
                        if found is not None and found.same(definition):
                            yield document, piece, mark


def _may_be(definition: Definition, document: Document, mark: Mark) -> bool:
    return (
        mark.text == definition.mark.text or definition.space == "op"
        and mark.text == f"{dialect_name(document)}.{definition.mark.text}"
    )
