"""Discovered rules as the text of a file: documentation, tests, in the one style.

Tests that would fail are left out, and lints are seen to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import wrap

from gslang.base.source import Source
from gslang.check.check import check_source
from gslang.discover.discover import Plan, used
from gslang.discover.forms import equation_text
from gslang.discover.judge import Judged
from gslang.discover.usefulness import Use
from gslang.engine.meaning import with_meanings
from gslang.fmt.format_source import format_source
from gslang.testing import run_tests


def rule_file(
    plan: Plan,
    rules: Sequence[tuple[Judged, Use]],
    output: str | None,
    cost: str,
    annotations: Mapping[str, Sequence[str]],
    graphs: int,
) -> str:
    """The formatted text of a file at `output` (None: nowhere yet). `annotations`: of rules by name."""
    question = plan.question
    operators = ", ".join(dict.fromkeys(f"`{former.op}`" for former in plan.formers if former.op))
    head = [
        f"#! Found by `gslc discover` over {operators}, in terms of up to {question.size} operators.",
        f"dialect {question.dialect};",
    ]
    folder = Path(output).parent if output is not None and output != "-" else Path()
    head += [f"use {used(source, folder)};" for source in plan.sources]
    name = output if output not in (None, "-") else str(Path.cwd() / "found.gsl")
    tests = _passing(plan, rules, annotations)
    items = []
    for rule, use in rules:
        about = _documentation(plan, rule, use, cost, graphs)
        items.append(
            "\n".join([*(f"## {line}" for line in about), *annotations.get(rule.name, ()), rule.text])
        )
        items += tests[rule.name]
    text = "\n".join(head) + "\n\n" + "\n".join(items)
    formatted = format_source(Source(str(name), text)).text
    return text if formatted is None else formatted


def _documentation(plan: Plan, rule: Judged, use: Use, cost: str, graphs: int) -> list[str]:
    verdict = rule.verdict[0].upper() + rule.verdict[1:]
    lines = [f"{equation_text(rule.candidate, plan.formers)}.", f"{verdict}: {rule.reason}."]
    if graphs:
        saved = f", saving {use.saved:g} ({cost})" if use.saved else ""
        lines.append(f"Fires {use.fired} times on {graphs} graph{'s' * (graphs > 1)}{saved}.")
    return [
        part for line in lines for part in wrap(line, 100, break_long_words=False, break_on_hyphens=False)
    ]


def _passing(
    plan: Plan, rules: Sequence[tuple[Judged, Use]], annotations: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    """The tests of each rule that pass: one where it fires, one where a rule with weaker conditions would be
    wrong.
    """
    found: dict[str, list[str]] = {}
    for rule, _ in rules:
        bodies = [("it fires", rule.test), ("what it needs", rule.stays)]
        texts = [f'test "{title}" for {rule.name} {{\n{body}}}\n' for title, body in bodies if body]
        found[rule.name] = [
            text
            for text in texts
            if _passes("\n".join([plan.prelude, *annotations.get(rule.name, ()), rule.text, text]))
        ]
    return found


def _passes(text: str) -> bool:
    program = check_source(Source("<discovered>", text))
    return program.ok and all(outcome.passed for outcome in run_tests(with_meanings(program)))
