"""The discovered rules without findings of the lints."""

from __future__ import annotations

from gslang.base.diagnostics import Diagnostic, Label
from gslang.base.source import Source, Span
from gslang.discover.clean_file import file_without_findings
from gslang.discover.rule_file import RuleFile

TEXT = "op my.f(x: tensor) -> tensor;\nrule r(x): exp(x) => x;\n"


class Shown(RuleFile):
    def text(self) -> str:
        return TEXT


def test_a_finding_about_a_declaration_changes_no_rule() -> None:
    finding = Diagnostic("L0104", "said of the operator", Label(Span(Source("r.gsl", TEXT), 3, 7)))
    assert file_without_findings(Shown.__new__(Shown), lambda _: [finding]) == TEXT
