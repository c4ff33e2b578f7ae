"""The data of a page, ready for JSON: nodes in columns, tables of operators, types and attributes, changes,
rules, totals.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from gslang.base.shown_file import shown_file
from gslang.syntax.item_texts import rule_text
from gslang.view.families import FAMILIES, family_of
from gslang.view.history import Change, Entry, History
from gslang.view.misses import misses_data
from gslang.view.work import entry_works
from gslang.view.work import totals as work_totals

if TYPE_CHECKING:
    from gslang.api import Result, RuleSet

_LONGEST: Final = 400  # characters of an attribute or value
_MOST_ELEMENTS: Final = 8  # of a constant that is shown
_KINDS: Final = {
    "%input": "input",
    "%param": "parameter",
    "%const": "constant",
    "%tuple": "tuple",
    "%proj": "field",
}


class _Table:
    """Distinct texts (or rows) and their numbers."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self._numbers: dict[object, int] = {}

    def number(self, item: object) -> int:
        """The number of an item, which is appended if it is new."""
        found = self._numbers.setdefault(item, len(self.items))
        if found == len(self.items):
            self.items.append(item)
        return found


def graph_data(history: History, title: str) -> dict[str, object]:
    """The data of a page without rules: `history` has no changes."""
    operators, types, attributes, values = _Table(), _Table(), _Table(), {}
    rows = []
    for number, entry in enumerate(history.entries):
        pairs = tuple((str(name), _text(value)) for name, value in entry.attrs.items())
        pairs += tuple((f"@{name}", _text(value)) for name, value in entry.attached.items())
        rows.append((
            operators.number(entry.op), types.number("" if entry.type is None else str(entry.type)),
            attributes.number(pairs),
        ))
        if (value := _value(entry)) is not None:
            values[str(number)] = value
    return {
        "title": title,
        "families": list(FAMILIES),
        "operators": [
            [_KINDS.get(op, op), FAMILIES.index(family_of(op)), _leaf_kind(op)] for op in operators.items
        ],
        "types": types.items,
        "attributes": [[list(pair) for pair in pairs] for pairs in attributes.items],
        "op": [row[0] for row in rows],
        "type": [row[1] for row in rows],
        "attrs": [row[2] for row in rows],
        "label": [entry.label for entry in history.entries],
        "operands": [list(entry.operands) for entry in history.entries],
        "values": values,
        "first": history.first,
        "outputs": history.first_outputs,
        "changes": [_change(change) for change in history.changes],
        "rules": [],
        "misses": [],
        "totals": None,
    }


def run_data(
    history: History, title: str, rules: RuleSet, result: Result, times: bool = False
) -> dict[str, object]:
    """The data of a page about a run: the graph's, the rules that were tried, and totals before and after.

    `times`: each rule has the seconds that its candidates took, which differ from run to run.
    """
    data = graph_data(history, title)
    works = entry_works(history, rules.dialect)
    effect: dict[str, dict[str, int]] = {}
    for change in history.changes:
        if change.rule is not None:
            before, after = (work_totals(works, nodes) for nodes in (change.removed, change.added))
            sums = effect.setdefault(change.rule, {"nodes": 0, "macs": 0, "bytes": 0})
            sums["nodes"] += len(change.added) - len(change.removed)
            for name in ("macs", "bytes"):
                sums[name] += after[name] - before[name]
    nothing = {"nodes": 0, "macs": 0, "bytes": 0}
    data["rules"] = [
        _rule(rules, name, count, effect.get(name, nothing))
        for name, count in result.progress.counts.items() if count.candidates or count.applications
    ]
    if times:
        tried = ((name, count) for name, count in result.progress.counts.items() if count.candidates)
        data["seconds"] = {name: round(count.seconds, 6) for name, count in tried}
    data["untried"] = [
        name for name, count in result.progress.counts.items() if not (count.candidates or count.applications)
    ]
    data["skipped"] = [[name, why] for name, why in result.progress.skipped.items()]
    data["failures"] = [[f.rule, f.node, f.message] for f in dict.fromkeys(result.failures)]
    data["misses"] = misses_data(history, rules, result)
    report = result.report()
    before, after = report["calls"]["before"], report["calls"]["after"]
    data["totals"] = {
        "applications": result.applications,
        "sweeps": result.progress.sweeps,
        "stop": result.stop_reason.value.replace("_", " "),
        "nodes": [len(result.before), len(result.graph)],
        "calls": [sum(before.values()), sum(after.values())],
        "operators": counts_of_both(before, after),
        "work": [work_totals(works, range(history.first)), work_totals(works, history.last_nodes())],
        "elsewhere": [[path, count] for path, count in history.elsewhere.items()],
    }
    return data


def counts_of_both(before: Mapping[str, int], after: Mapping[str, int]) -> list[list[object]]:
    """Operators with the numbers of their calls before and after, those that differ first."""
    counts = [(name, before.get(name, 0), after.get(name, 0)) for name in {*before, *after}]
    return [list(c) for c in sorted(counts, key=lambda c: (c[1] == c[2], -c[1], c[0]))]


def _rule(rules: RuleSet, name: str, count: Any, effect: dict[str, int]) -> dict[str, object]:
    rule = rules.known[name]
    span = rule.span
    return {
        "name": name,
        "doc": rule.doc or "",
        "text": rule_text(span.source, name, documentation=False),
        "file": shown_file(span.source.name),
        "line": span.line_column[0],
        "applications": count.applications,
        "candidates": count.candidates,
        "matches": count.matches,
        "effect": effect["nodes"],
        "macs": effect["macs"],
        "bytes": effect["bytes"],
    }


def _change(change: Change) -> dict[str, object]:
    data: dict[str, object] = {
        "rule": change.rule or change.builtin,
        "builtin": change.rule is None,
        "removed": change.removed,
        "added": change.added,
    }
    data["rewired"] = [[number, list(operands)] for number, operands in change.rewired.items()]
    data["replaced"] = [list(pair) for pair in change.replaced]
    data["bindings"] = [list(pair) for pair in change.bindings]
    if change.outputs is not None:
        data["outputs"] = change.outputs
    return data


def _leaf_kind(op: str) -> str:
    """The style of a node: "call", "input", "weight" (inside its users), or "small"."""
    return {
        "%input": "input",
        "%param": "weight",
        "%const": "weight",
        "%tuple": "small",
        "%proj": "small",
    }.get(op, "call")


def _text(value: object) -> str:
    """An attribute's value in a line."""
    match value:
        case tuple() | list():
            text = f"[{', '.join(_text(item) for item in value[:64])}{', …' if len(value) > 64 else ''}]"
        case bool() | int() | float() | str() | None:
            text = str(value)
        case bytes():
            text = value.decode(errors="replace")
        case Mapping():
            text = ", ".join(f"{name}: {_text(item)}" for name, item in value.items())
        case _ if hasattr(value, "shape") and hasattr(value, "dtype"):
            text = f"{value.dtype}[{', '.join(map(str, value.shape))}]"
        case _:
            text = type(value).__name__.lower()
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def _value(entry: Entry) -> str | None:
    """The elements of a small constant or parameter; larger ones are not loaded."""
    value = entry.value
    if value is None:
        return None
    size = 1
    for dimension in value.shape:
        size *= int(dimension)
    if size > _MOST_ELEMENTS:
        return None
    load = getattr(value, "load", None)
    array = value if load is None else load()
    return _text(array.tolist())
