"""The best rule among the readings of a difference between two graphs: the first one that holds, made
general.
"""

from __future__ import annotations

from collections.abc import Sequence

from gslang.base.diagnostics import InputError
from gslang.base.source import Source
from gslang.dialect.dialect import Dialect
from gslang.generalize.draft import NoDraft, check_text
from gslang.generalize.example import NoRule, Reading, rule_text
from gslang.generalize.refine import Generalized, Settings, generalize_in
from gslang.graph.graph import Graph
from gslang.verify.evidence import Settings as VerifySettings
from gslang.verify.verdict import ORDER, verify


def best_rule(
    before: Graph,
    after: Graph,
    tried: Sequence[Reading],
    dialect: Dialect,
    name: str = "example",
    settings: Settings = Settings(),
) -> Generalized:
    """The generalised rule of the first reading that the verifier does not refute; if each is refuted, of the
    first that conditions repair.

    Raises `InputError` if no reading can be written as a rule.
    """
    texts: dict[str, None] = {}
    problems: list[str] = []
    for reading in tried:
        try:
            text = rule_text(before, after, reading, dialect, name)
        except NoRule as problem:
            problems.append(str(problem))
            continue
        program = check_text("<example>", text)
        if program.ok:
            texts.setdefault(text)
        else:
            problems.append(next(d.message for d in program.diagnostics if d.severity.value == "error"))
    if not texts:
        raise InputError(f"the difference is not a rule: {problems[0]}")

    def rank(text: str) -> int:
        return ORDER.index(
            verify(check_text("<example>", text).rules[name], VerifySettings(seed=settings.seed)).verdict
        )

    order = list(texts)
    holding = [text for text in order if rank(text) >= ORDER.index("tested")]
    found: Generalized | None = None
    for text in (holding or order)[:3]:
        try:
            found = generalize_in(Source("<example>", text), name, settings)
        except NoDraft:
            continue
        if found.text is not None:
            return found
    if found is None:
        raise InputError("the difference is not a rule that conditions can be added to")
    return found
