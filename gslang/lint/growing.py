"""L0204: rules that make graphs larger, as seen by applying them once to a small graph."""

from __future__ import annotations

from collections.abc import Iterator

from gslang.graph.compare import count_calls
from gslang.lint.linted_file import Finding, LintedFile, finding
from gslang.lint.pattern_walk import is_run
from gslang.lint.shown_graph import as_json, as_statements
from gslang.lint.small_run import by_start, run_small
from gslang.lint.witness import graphs_of


def growing(file: LintedFile) -> Iterator[Finding]:
    for rule in file.rules:
        if not is_run(rule.checked):
            continue
        index = by_start([rule.checked])
        for graph in graphs_of(file, rule.checked):
            changed = graph.copy()
            run = run_small(changed, file.program.dialect, index, 1)
            before, after = (sum(count_calls(g).values()) for g in (graph, changed))
            if run.applied and after > before:
                message = f"an application of `{rule.name}` turns {before} calls into {after}"
                hint = (
                    "constant folding may remove them again, otherwise the graph grows with each match; "
                    f"observed on {as_statements(graph)}"
                )
                yield finding("L0204", message, rule.written.name.span, hint, graph=as_json(graph))
                break
