"""Safe fixes of the corpus: they converge, hint what they are for, keep comments, and leave what rules match,
and what they make of it, as it was.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from gslang.base.diagnostics import Diagnostic
from gslang.base.source import Source
from gslang.check.check import check_source
from gslang.check.checked import CheckedProgram, CheckedRule
from gslang.formats.json_writer import write_json
from gslang.graph.graph import Graph
from gslang.lint.fixes import fix_source
from gslang.lint.linted_file import linted_file
from gslang.lint.run_lints import lint_program
from gslang.lint.small_run import by_start, run_small
from gslang.lint.witness import graphs_of, matching_nodes
from gslang.syntax.parser import parse
from tests.fmt.comments import comments_in
from tests.lint.test_corpus import BAD, DEFAULT, also


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_fixes(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    selected = DEFAULT - {"L0108", "L0109"} | also(text)

    def lint(source: Source, program: CheckedProgram) -> list[Diagnostic]:
        return lint_program(source, program, selected, cache=False)

    source = Source(str(path), text)
    program = check_source(source)
    found = lint(source, program)
    mendable = [d for d in found if d.fix is not None and d.fix.safe]
    fixed = fix_source(source, found, check_source, lint)
    assert fixed.count >= len(mendable) and (fixed.count > 0) == bool(mendable)
    assert [d for d in fixed.remaining if d.fix is not None and d.fix.safe] == []
    assert len(fixed.remaining) <= len(found) - len(mendable)
    assert comments_in(fixed.source.text) == comments_in(text)
    after = check_source(fixed.source)
    file = linted_file(source, parse(source).program, program)
    for name in program.own_rules:
        for graph in graphs_of(file, program.rules[name]):
            assert set(matching_nodes(program.rules[name], graph)) == set(
                matching_nodes(after.rules[name], graph)
            )
            assert _applied(program.rules[name], graph) == _applied(after.rules[name], graph)


def _applied(rule: CheckedRule, graph: Graph) -> str:
    """What the rule makes of a graph, at most three times."""
    changed = graph.copy()
    run_small(changed, rule.dialect, by_start([rule]), 3)
    return write_json(changed)
