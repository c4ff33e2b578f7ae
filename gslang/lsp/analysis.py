"""The checked program of a document, found again after each edit without judging again what did not change.

Says the same as `check.check`: a test holds them together on every shipped file and on edits of them. It
differs where that helps who is typing: an item that cannot be read just now keeps its name, and a function,
an operator or a dialect that cannot be read stays what it was before, so that the rest of the file is not
covered with errors that follow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gslang.base.diagnostics import Diagnostic, Label
from gslang.base.quick_dataclass import dataclass
from gslang.base.reachable import reachable
from gslang.base.source import Source, Span
from gslang.check import checked as ir
from gslang.check.check import (
    BUILTIN_STEPS,
    Module,
    add_rules,
    dialect_of,
    find_redeclared,
    functions_of,
    reported,
    use_module,
)
from gslang.check.families import check_rules
from gslang.check.imports import Importer
from gslang.check.parameters import ANY_VALUES
from gslang.check.passes import check_passes
from gslang.check.redeclared import declared
from gslang.check.tests import check_test
from gslang.dialect.dialect import Dialect
from gslang.dialect.signature import Signature
from gslang.lint.linted_file import names_in
from gslang.lsp.document import Document
from gslang.lsp.names import head
from gslang.lsp.pieces import Piece
from gslang.syntax import nodes as n


@dataclass(frozen=True, eq=False)
class Analysis:
    """`items`: what could be read, each with its piece.

    Findings carry spans in pieces: of this document or of imported ones.
    """

    document: Document
    module: Module
    items: tuple[tuple[Piece, n.Item], ...]

    @property
    def program(self) -> ir.CheckedProgram:
        return self.module.program

    @property
    def dialect(self) -> Dialect:
        return self.module.program.dialect

    @property
    def functions(self) -> Mapping[str, n.FnDecl | n.ParamDecl]:
        return self.module.functions

    def checked(self, piece: Piece) -> ir.CheckedRule | None:
        """The rule of a piece, if it has no errors."""
        for item in piece.items:
            if isinstance(item, n.Rule):
                rule = next(iter(self.program.named(item.name.id)), None)
                if rule is not None and rule.span.source is piece.source:
                    return rule
        return None


def analyse(document: Document, importer: Importer) -> Analysis:
    """Check a document with all that it imports; the earlier result if neither it nor an import changed."""
    whole = Source(document.name, "")
    with importer.reading(document.name):
        uses = [
            (item, importer.modules(item, whole))
            for piece in document.pieces
            for item in piece.items if isinstance(item, n.Use)
        ]
        key = (
            document.pieces, tuple(id(m) for _, (modules, _) in uses for m in modules),
            tuple(p.message if p else "" for _, (_, p) in uses),
        )
        known = document.memo.get("analysis")
        if known is not None and known[0] == key and known[1].document is document:
            found: Analysis = known[1]
            return found
        result = _Check(document, importer, whole).run()
    # `uses` keeps the modules alive, whose identities stand in the key
    document.memo["analysis"] = (key, result, uses)
    return result


class _Check:
    """One round over the items, in the order of `check.check.check_module`."""

    def __init__(self, document: Document, importer: Importer, whole: Source) -> None:
        self.document, self.importer, self.whole = document, importer, whole
        self.found: list[Diagnostic] = []
        self.functions: dict[str, n.FnDecl | n.ParamDecl] = {}
        self.dialect: Dialect

    def run(self) -> Analysis:
        items = self._items()
        program = n.Program(self._doc(), tuple(item for _, item in items), span=Span(self.whole, 0, 0))
        rules: dict[str, ir.CheckedRule] = {}
        passes: dict[str, ir.CheckedPass] = {}
        operators: list[Signature] = []
        broken = {
            name
            for piece in self.document.pieces
            if piece.keyword in ("rule", "pass") and not piece.items and (name := _name(piece))
        }
        self.dialect = self._chosen_dialect(program)
        for item in program.items:
            if isinstance(item, n.Use):
                use_module(
                    item, self.whole, self.importer, self.found, rules, passes, self.functions, operators,
                    broken,
                )
        self.functions.update(functions_of(program, self.found, ANY_VALUES))
        find_redeclared(program, self.found)
        if operators:
            self.dialect = self._kept(
                "imported operators", tuple(operators), lambda: self.dialect.with_operators(operators)
            )
        names = tuple(item.name.id for _, item in items if isinstance(item, n.OpDecl))
        for piece, item in items:
            if isinstance(item, n.OpDecl):
                operators.append(self._operator(piece, item, names))
        own_rules = self._rules(items, rules, broken)
        check_passes(program, rules, passes, broken, self.found)
        tests = [
            test
            for piece, item in items
            if isinstance(item, n.Test) and (test := self._test(piece, item, rules, broken)) is not None
        ]
        lost = broken.union(*(piece.parsed.lost for piece in self.document.pieces))
        result = ir.CheckedProgram(
            name=self.document.name, dialect=self.dialect, doc=program.doc, rules=rules,
            own_rules=tuple(name for name in own_rules if name in rules), passes=passes,
            tests=tuple(tests), diagnostics=tuple(reported(self.found, lost)),
        )
        return Analysis(self.document, Module(result, self.functions, tuple(operators)), tuple(items))

    def _items(self) -> list[tuple[Piece, n.Item]]:
        """All items that can be read; of functions and operators that cannot, what they were."""
        good: dict[tuple[str, str], tuple[Piece, n.Item]] = self.document.memo.setdefault("last good", {})
        items: list[tuple[Piece, n.Item]] = []
        last = len(self.document.pieces) - 1
        for k, piece in enumerate(self.document.pieces):
            self.found += syntax_errors(piece) if k == last else [_inside(d) for d in syntax_errors(piece)]
            items += [(piece, item) for item in piece.items]
            if piece.keyword in ("fn", "op", "param") and (name := _name(piece)):
                if piece.items:
                    good[piece.keyword, name] = (piece, piece.items[0])
                elif (piece.keyword, name) in good:
                    items.append(good[piece.keyword, name])
        return items

    def _chosen_dialect(self, program: n.Program) -> Dialect:
        """The dialect of the file; the one it had before while its name cannot be read or is none."""
        dialect, found = dialect_of(program)
        self.found += found
        declared = [piece for piece in self.document.pieces if piece.keyword == "dialect"]
        if declared and (
            not declared[0].items or any(d.message.startswith("unknown dialect") for d in found)
        ):
            before: Dialect = self.document.memo.get("dialect", dialect)
            return before
        self.document.memo["dialect"] = dialect
        return dialect

    def _doc(self) -> str | None:
        return "\n".join(doc for piece in self.document.pieces if (doc := piece.parsed.program.doc)) or None

    def _kept(self, what: str, parts: tuple[object, ...], compute: Any) -> Any:
        """A value of the document, computed again only if one of `parts` or the dialect is another object."""
        key = (id(self.dialect), *map(id, parts))
        known = self.document.memo.get(what)
        if known is None or known[0] != key:
            known = self.document.memo[what] = (key, compute(), parts, self.dialect)
        return known[1]

    def _of_piece(
        self, piece: Piece, item: n.Item, compute: Any, state: object = None, others: tuple[str, ...] = ()
    ) -> tuple[Any, list[Diagnostic]]:
        """A result of a piece, computed again only if `state`, the dialect or a function that it uses is
        another one.

        Where there are findings it may also depend on `others` and on the names of all functions: they offer
        what was meant.
        """
        what = type(item).__name__
        used = self._used_functions(piece)
        key = (
            id(item), id(self.dialect), state, tuple(sorted((name, id(decl)) for name, decl in used.items())),
        )
        wide = (tuple(self.functions), others)
        known = piece.memo.get(what)
        if known is None or known[0] != key or known[2] and known[1] != wide:
            result, problems = compute()
            # the last: kept alive for their identities
            known = piece.memo[what] = (key, wide, problems, result, (item, self.dialect, used))
        return known[3], known[2]

    def _used_functions(self, piece: Piece) -> dict[str, n.FnDecl | n.ParamDecl]:
        """The functions that an item calls, and those that they call."""
        words = piece.memo.get("words")
        if words is None:
            words = piece.memo["words"] = frozenset(
                token.text for token in piece.tokens.all if token.kind == "word"
            )

        def called(name: str) -> list[str]:
            decl = self.functions[name]
            words = names_in(decl.body) if isinstance(decl, n.FnDecl) else []
            return [other for other in words if other in self.functions]

        found = reachable([name for name in sorted(words) if name in self.functions], called)
        return {name: self.functions[name] for name in found}

    def _operator(self, piece: Piece, item: n.OpDecl, names: tuple[str, ...]) -> Signature:
        def compute() -> tuple[tuple[Signature, Dialect], list[Diagnostic]]:
            signature, problems = declared(item, self.dialect, self.functions, names)
            return (signature, self.dialect.with_operators((signature,))), problems

        (signature, dialect), problems = self._of_piece(piece, item, compute, others=names)
        self.found += problems
        self.dialect = dialect
        return signature  # type: ignore[no-any-return]

    def _rules(
        self, items: list[tuple[Piece, n.Item]], rules: dict[str, ir.CheckedRule], broken: set[str]
    ) -> list[str]:
        own: list[str] = []
        imported = {*rules, *ir.families(rules)}
        places: dict[str, Span] = {}
        for piece, item in items:
            if isinstance(item, (n.Rule, n.PassDecl)):
                name = item.name.id
                if name in places or name in BUILTIN_STEPS and isinstance(item, n.PassDecl):
                    related = (Label(places[name], "first one here"),) if name in places else ()
                    message = f"duplicate rule or pass `{name}`"
                    self.found.append(Diagnostic(
                        "E0208", message, Label(item.name.span), related=related, help="choose another name",
                    ))
                    continue
                places[name] = item.name.span
            if isinstance(item, n.Rule):
                checked, problems = self._of_piece(
                    piece, item, lambda: check_rules(item, self.dialect, self.functions)
                )
                self.found += problems
                own += add_rules(item, checked, rules, broken, imported)
        return own

    def _test(
        self, piece: Piece, item: n.Test, rules: Mapping[str, ir.CheckedRule], broken: set[str]
    ) -> ir.CheckedTest | None:
        def compute() -> tuple[ir.CheckedTest | None, list[Diagnostic]]:
            problems: list[Diagnostic] = []
            return check_test(item, self.dialect, self.functions, rules, broken, problems), problems

        known = bool(ir.called(rules, item.rule.id)) or ir.is_lost(item.rule.id, broken)
        test, problems = self._of_piece(piece, item, compute, known, tuple(rules))
        self.found += problems
        return test  # type: ignore[no-any-return]


def _name(piece: Piece) -> str | None:
    found = head(piece)
    return found.text if found is not None else None


def syntax_errors(piece: Piece) -> list[Diagnostic]:
    """The errors in the text of an item.

    Annotations lack an item only because theirs could not be read: that is not reported twice.
    """
    found = list(piece.parsed.diagnostics)
    t = piece.tokens
    begin = next(
        (
            token.start
            for k, token in enumerate(t.all)
            if token.text == piece.keyword and t.text(k - 1) not in (".", "@")
        ),
        0,
    )
    behind = [d for d in found if d.primary.span.start > begin]
    return behind or found


def _inside(finding: Diagnostic) -> Diagnostic:
    """Moves a diagnostic at the end of the parsed text to the end of the item: the file goes on."""

    def told(text: str) -> str:
        return text.replace("the file ends here", "the item ends here")

    related = tuple(Label(label.span, told(label.text)) for label in finding.related)
    return replace(finding, message=told(finding.message), related=related)
