"""What stands above items to be clicked: run a test, the tests of a rule, verify it, count its matches in the project's model."""

from __future__ import annotations

from collections.abc import Mapping

from lsprotocol import types as lsp

from gslang.engine.meaning import with_meanings
from gslang.lsp.analysis import Analysis
from gslang.lsp.diagnostics import range_of
from gslang.lsp.document import Document, folder_of
from gslang.lsp.model import configured_models
from gslang.lsp.names import head, marks
from gslang.lsp.store import Store
from gslang.lsp.verdicts import known_verdict
from gslang.testing import Outcome, run_tests
from gslang.verify.verdict import Verdict

RUN, VERIFY, MATCHES = "gslang.runTests", "gslang.verify", "gslang.countMatches"


def code_lenses(store: Store, document: Document, outcomes: Mapping[tuple[str, str, str], Outcome]) -> list[lsp.CodeLens]:
    """`outcomes`: (URI, rule, title) → what became of a test that was run."""
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
            outcome = outcomes.get((document.uri, rule, title))
            shown = "run test" if outcome is None else "✓ passed" if outcome.passed else f"✗ {outcome.problem}"
            found.append(lsp.CodeLens(place, lsp.Command(shown, RUN, arguments=[document.uri, rule, title])))
        elif analysis.checked(piece) is not None:
            count = titles.get(name.text, 0)
            if count:
                found.append(lsp.CodeLens(place, lsp.Command(f"run {count} test{'s' * (count != 1)}", RUN, arguments=[document.uri, name.text])))
            found.append(lsp.CodeLens(place, data={"what": "verify", "uri": document.uri, "rule": name.text}))
            found += [lsp.CodeLens(place, data={"what": "model", "uri": document.uri, "rule": name.text, "model": str(path)}) for path in models]
    return found


def resolved(store: Store, lens: lsp.CodeLens) -> lsp.CodeLens:
    """A lens about a verdict that is known already, or to ask for one; counts of matches are looked for by the server."""
    data = lens.data if isinstance(lens.data, dict) else {}
    document = store.get(str(data.get("uri", "")))
    if lens.command is not None or document is None:
        return lens
    name = str(data.get("rule", ""))
    rule = with_meanings(store.analysis(document).program).rules.get(name)
    verdict = known_verdict(rule) if rule is not None else None
    lens.command = lsp.Command(f"verify: {verdict.verdict}" if verdict is not None else "verify", VERIFY, arguments=[document.uri, name])
    return lens


def run(analysis: Analysis, rule: str, title: str | None) -> list[Outcome]:
    """Run the tests of a rule, or one of them."""
    return [o for o in run_tests(analysis.program, frozenset((rule,))) if title is None or o.title == title]


def summary(outcomes: list[Outcome]) -> str:
    failed = [o for o in outcomes if not o.passed]
    lines = [f"{len(outcomes) - len(failed)} passed, {len(failed)} failed"] + [f"{o.title}: {o.problem}" for o in failed]
    return "\n".join(lines)


def verdict_summary(verdict: Verdict) -> str:
    example = f"\n{verdict.counterexample.test}" if verdict.counterexample is not None else ""
    return f"{verdict.rule}: {verdict.verdict} — {verdict.reason}{example}"
