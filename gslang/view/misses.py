"""Why rules did not apply in a run: for each the nearest miss, with the pattern drawn and the part that did
not match marked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gslang.base.open_types import JsonDict
from gslang.base.shown_file import shown_file
from gslang.engine.why_not import why_not
from gslang.formats.rule_picture import source_svg
from gslang.graph.known_calls import prepared
from gslang.syntax.item_texts import rule_text
from gslang.view.history import History

if TYPE_CHECKING:
    from gslang.api import Result, RuleSet

_MOST_WORK: Final = 300_000  # rules times nodes: a look at a rule takes time for each node


def misses_data(history: History, rules: RuleSet, result: Result) -> list[JsonDict]:
    """The misses in the graph that a run ended with, of rules that never applied, the nearest to a match
    first; as plain data.
    """
    from gslang.engine.lower import program_of

    counts = result.progress.counts
    idle = sorted(
        (name for name in counts if name in rules.known and not counts[name].applications),
        key=lambda name: -counts[name].candidates,
    )
    graph = prepared(result.graph, rules.dialect)
    found = []
    for name in idle[: max(1, _MOST_WORK // (len(graph) + 1))]:
        rule = rules.known[name]
        miss = why_not(program_of(rule), graph, None, 1)[0]
        if miss.reason in ("matches", "opset", "no-candidate") or miss.start < 0:
            continue
        found.append({
            "rule": name,
            "start": history.number_of(miss.start),
            "node": history.number_of(miss.node),
            "matched": miss.matched,
            "of": miss.of,
            "expected": miss.expected,
            "found": "; ".join((miss.found, *miss.others)),
            "help": miss.help,
            "part": miss.span.text,
            "picture": source_svg(rule, (miss.span,)),
            "text": rule_text(rule.span.source, name, documentation=False),
            "doc": rule.doc or "",
            "file": shown_file(rule.span.source.name),
            "line": rule.span.line_column[0],
        })
    return sorted(found, key=lambda miss: (-miss["matched"] / miss["of"], -miss["matched"], miss["rule"]))
