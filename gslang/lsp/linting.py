"""Lint findings of an analysis: lints of single items are kept with their pieces, those of whole files run
again, costly ones when asked.

Unlike `gslc lint`, items without errors are linted although others have some.
"""

from __future__ import annotations

from gslang.engine.meaning import with_meanings
from gslang.lint.family_findings import once_for_families
from gslang.lint.linted_file import Finding, LintedFile, LintedRule
from gslang.lint.registry import REGISTRY, Lint
from gslang.lint.suppression import suppress
from gslang.lsp.analysis import Analysis
from gslang.lsp.pieces import Piece
from gslang.syntax import nodes as n
from gslang.syntax.families import instances

_OF_ITEMS = (
    "L0101", "L0104", "L0105", "L0107", "L0110", "L0111", "L0112", "L0113", "L0114", "L0116", "L0117",
    "L0118", "L0119",
)
COSTLY = frozenset(code for code in REGISTRY if code not in _OF_ITEMS and code not in ("L0108", "L0109"))
"""These hold items against each other, read other files, or build graphs and run rules: they wait until
nobody types.
"""


def lint(analysis: Analysis, selected: frozenset[str], costly: bool = True) -> list[Finding]:
    """The findings of the selected lints, with spans in pieces of the document."""
    document, program = analysis.document, with_meanings(analysis.program)
    written: dict[int, n.Item] = {}
    rules: dict[int, tuple[LintedRule, ...]] = {}
    pieces = [piece for piece in document.pieces if piece.items]
    for piece in pieces:
        item = written[id(piece)] = piece.items[0]
        if isinstance(item, n.Rule):
            rules[id(piece)] = tuple(
                LintedRule(rule, checked)
                for rule in instances(item)[0]
                if (checked := program.rules.get(rule.name.id)) is not None
                and checked.span.source is piece.source
            )
    running = selected if costly else selected - COSTLY
    if not program.ok:
        running = running & {*_OF_ITEMS, "L0115"}
    found: dict[int, list[Finding]] = {id(piece): [] for piece in pieces}
    for piece in pieces:
        alone = _alone(analysis, piece, written[id(piece)], rules.get(id(piece), ()))
        found[id(piece)] += _of_item(alone, piece, running)
    if program.ok:
        items = tuple(written[id(piece)] for piece in pieces)
        span = n.Program(program.doc, items, span=items[0].span) if items else None
        if span is not None:
            whole = LintedFile(
                pieces[0].source, span, program,
                tuple(rule for piece in pieces for rule in rules.get(id(piece), ())),
            )
            at = {id(piece.source): id(piece) for piece in pieces}
            for code, run in REGISTRY.items():
                if code in running and code not in _OF_ITEMS:
                    for finding in _imports(analysis, run, whole) if code == "L0103" else run(whole):
                        found[at[id(finding.primary.span.source)]].append(finding)
    result: list[Finding] = []
    for piece in pieces:
        if found[id(piece)] or any(mark.name.id == "allow" for mark in written[id(piece)].annotations):
            alone = _alone(analysis, piece, written[id(piece)], rules.get(id(piece), ()))
            result += suppress(alone, once_for_families(alone.rules, found[id(piece)]), running)
    return [finding for finding in result if not finding.allowed]


def _imports(analysis: Analysis, run: Lint, whole: LintedFile) -> list[Finding]:
    """L0103 reads all that a file imports: it runs again only if an import is another one or other words
    stand in the file.
    """
    document = analysis.document
    uses = tuple(piece for piece in document.pieces if piece.keyword == "use")
    words = frozenset(
        token.text
        for piece in document.pieces if piece.keyword != "use"
        for token in piece.tokens.all if token.kind == "word"
    )
    key = (uses, words, document.memo["analysis"][0][1])
    known = document.memo.get("imports")
    if known is None or known[0] != key:
        known = document.memo["imports"] = (key, list(run(whole)))
    return known[1]  # type: ignore[no-any-return]


def _alone(analysis: Analysis, piece: Piece, item: n.Item, rules: tuple[LintedRule, ...]) -> LintedFile:
    """A file of one item."""
    return LintedFile(piece.source, n.Program(None, (item,), span=item.span), analysis.program, rules)


def _of_item(alone: LintedFile, piece: Piece, running: frozenset[str]) -> list[Finding]:
    key = (tuple(id(rule.checked) for rule in alone.rules), running)
    known = piece.memo.get("lint")
    if known is None or known[0] != key:
        found = [finding for code in _OF_ITEMS if code in running for finding in REGISTRY[code](alone)]
        known = piece.memo["lint"] = (key, found, alone.rules)
    return known[1]  # type: ignore[no-any-return]
