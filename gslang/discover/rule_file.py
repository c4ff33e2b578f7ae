"""Discovered rules as the text of a file: documentation, tests, in the one style. Tests that would fail
are left out, and lints are seen to."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from textwrap import wrap

from gslang.base.quick_dataclass import dataclass
from gslang.base.source import Source
from gslang.check.check import check_source
from gslang.discover.forms import equation_text
from gslang.discover.judge import Judged
from gslang.discover.plan import Plan, used
from gslang.discover.usefulness import Use
from gslang.engine.meaning import with_meanings
from gslang.fmt.format_source import format_source
from gslang.testing import run_tests


@dataclass(slots=True)
class RuleFile:
    """A file at `output` (None: nowhere yet). `cost`, `graphs`: of the ranking. `annotations`: of rules by
    name."""

    plan: Plan
    rules: list[tuple[Judged, Use]]
    output: str | None
    cost: str
    graphs: int
    annotations: dict[str, list[str]] = field(default_factory=dict)
    _passing: dict[str, bool] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The path that messages show, and that imports start from."""
        return str(Path.cwd() / "found.gsl") if self.output in (None, "-") else str(self.output)

    def text(self) -> str:
        """The formatted text."""
        question = self.plan.question
        operators = ", ".join(dict.fromkeys(f"`{former.op}`" for former in self.plan.formers if former.op))
        about = (
            f"#! Found by `gslc discover` over {operators}, in terms of up to {question.size} operators."
        )
        named = self.output not in (None, "-")
        folder = Path(self.output).parent if self.output is not None and named else Path()
        head = [
            about,
            f"dialect {question.dialect};",
            *(f"use {used(source, folder)};" for source in self.plan.sources),
        ]
        items = []
        for rule, use in self.rules:
            lines = [f"## {line}" for line in self._documentation(rule, use)]
            items.append("\n".join([*lines, *self.annotations.get(rule.name, ()), rule.text]))
            items += self._tests(rule)
        text = "\n".join(head) + "\n\n" + "\n".join(items)
        formatted = format_source(Source(self.name, text)).text
        return text if formatted is None else formatted

    def _documentation(self, rule: Judged, use: Use) -> list[str]:
        verdict = rule.verdict[0].upper() + rule.verdict[1:]
        lines = [f"{equation_text(rule.candidate, self.plan.formers)}.", f"{verdict}: {rule.reason}."]
        if self.graphs:
            saved = f", saving {use.saved:g} ({self.cost})" if use.saved else ""
            times = f"{use.fired} time{'s' * (use.fired != 1)}"
            lines.append(f"Fires {times} on {self.graphs} graph{'s' * (self.graphs > 1)}{saved}.")
        return [
            part
            for line in lines
            for part in wrap(line, 100, break_long_words=False, break_on_hyphens=False)
        ]

    def _tests(self, rule: Judged) -> list[str]:
        """The tests that pass: one where the rule fires, one where a rule with weaker conditions would be
        wrong."""
        bodies = [("it fires", rule.test), ("what it needs", rule.stays)]
        texts = [f'test "{title}" for {rule.name} {{\n{body}}}\n' for title, body in bodies if body]
        head = "\n".join([self.plan.prelude, *self.annotations.get(rule.name, ()), rule.text])
        return [text for text in texts if self._passes(f"{head}\n{text}")]

    def _passes(self, text: str) -> bool:
        if text not in self._passing:
            program = check_source(Source("<discovered>", text))
            self._passing[text] = program.ok and all(
                outcome.passed for outcome in run_tests(with_meanings(program))
            )
        return self._passing[text]
