"""Code lenses above items: run a test, the tests of a rule, verify it, count its matches in the project's
model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from gslang.base.quick_dataclass import dataclass
from gslang.check.checked import CheckedRule
from gslang.lsp.analysis import Analysis
from gslang.lsp.diagnostics import range_of
from gslang.lsp.document import Document, folder_of
from gslang.lsp.model import configured_models
from gslang.lsp.names import head, marks
from gslang.lsp.pieces import Piece
from gslang.lsp.store import Store
from gslang.testing import Outcome, run_tests

if TYPE_CHECKING:
    from gslang.verify.verdict import Verdict

RUN, VERIFY, MATCHES, ADD_TEST, CONDITIONS = (
    "gslang.runTests", "gslang.verify", "gslang.countMatches", "gslang.addTest", "gslang.findConditions",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ran:
    """The outcome of a test, with its rule and the test's text."""

    outcome: Outcome
    rule: CheckedRule | None
    piece: Piece


def code_lenses(
    store: Store, document: Document, ran: Mapping[tuple[str, str, str], Ran]
) -> list[lsp.CodeLens]:
    """`ran`: (URI, rule, title) → what became of a test. An outcome is shown as long as neither the rule nor
    the test has changed.
    """
    found = []
    models = configured_models(folder_of(document))
    titles: dict[str, int] = {}
    for piece in document.pieces:
        if piece.keyword == "test":
            for mark in marks(piece):
                if mark.role == "test-rule":
                    titles[mark.text] = titles.get(mark.text, 0) + 1
    analysis = store.analysis(document)
    for piece, start in zip(document.pieces, document.starts):
        name = head(piece)
        if name is None or name.role not in ("rule", "test"):
            continue
        place = range_of(document, start + name.start, start + name.end)
        if name.role == "test":
            rule = next((m.text for m in marks(piece) if m.role == "test-rule"), "")
            title = name.text.strip('"')
            known = ran.get((document.uri, rule, title))
            current = (
                known is not None and known.piece is piece and known.rule is analysis.program.rules.get(rule)
            )
            shown = (
                "run test" if known is None or not current
                else "✓ passed" if known.outcome.passed
                else f"✗ {known.outcome.problem}"
            )
            found.append(lsp.CodeLens(place, lsp.Command(shown, RUN, arguments=[document.uri, rule, title])))
        elif analysis.checked(piece) is not None:
            count = titles.get(name.text, 0)
            if count:
                found.append(lsp.CodeLens(
                    place,
                    lsp.Command(
                        f"run {count} test{'s' * (count != 1)}", RUN, arguments=[document.uri, name.text]
                    ),
                ))
            found.append(lsp.CodeLens(place, data={"what": "verify", "uri": document.uri, "rule": name.text}))
            found += [
                lsp.CodeLens(
                    place, data={"what": "model", "uri": document.uri, "rule": name.text, "model": str(path)}
                )
                for path in models
            ]
    return found


def verify_lens(lens: lsp.CodeLens, uri: str, rule: str, verdict: Verdict | None) -> lsp.CodeLens:
    """A lens that tells the verdict that is known, or asks for one."""
    lens.command = lsp.Command(
        f"verify: {verdict.verdict}" if verdict is not None else "verify", VERIFY, arguments=[uri, rule]
    )
    return lens


def run(analysis: Analysis, rule: str, title: str | None) -> list[Ran]:
    """Run the tests of a rule, or one of them."""
    tests = {t.title: t for t in analysis.program.tests if t.rule == rule}
    piece_of = {id(piece.source): piece for piece, _ in analysis.items}
    chosen = replace(
        analysis.program, tests=tuple(t for t in tests.values() if title is None or t.title == title)
    )
    checked = analysis.program.rules.get(rule)
    return [Ran(o, checked, piece_of[id(tests[o.title].span.source)]) for o in run_tests(chosen)]


def summary(outcomes: list[Outcome]) -> str:
    """The number of passed tests, and the outcomes of the others."""
    failed = [o for o in outcomes if not o.passed]
    lines = [f"{len(outcomes) - len(failed)} passed, {len(failed)} failed"] + [
        f"{o.title}: {o.problem}" for o in failed
    ]
    return "\n".join(lines)


def verdict_summary(verdict: Verdict) -> str:
    example = f"\n{verdict.counterexample.test}" if verdict.counterexample is not None else ""
    return f"{verdict.rule}: {verdict.verdict} — {verdict.reason}{example}"
