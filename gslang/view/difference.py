"""Two graphs as a history of one change, so that a page shows them side by side."""

from __future__ import annotations

from gslang.graph.annotations import annotations_of
from gslang.graph.compare import count_calls
from gslang.graph.correspond import correspondence
from gslang.graph.graph import Graph
from gslang.view.history import Change, Entry, History
from gslang.view.page_data import counts_of_both, graph_data


def difference_data(a: Graph, b: Graph, title: str) -> dict[str, object]:
    """The data of a page that shows `a` on the left and `b` on the right; corresponding nodes are the same.
    """
    data = graph_data(difference_history(a, b), title)
    before, after = count_calls(a), count_calls(b)
    data["totals"] = {
        "nodes": [len(a), len(b)], "calls": [sum(before.values()), sum(after.values())],
        "operators": counts_of_both(before, after),
    }  # fmt: skip
    return data


def difference_history(a: Graph, b: Graph) -> History:
    """The history of `a` with one change, after which it is `b`."""
    history = History(a)
    to_b = correspondence(a, b)
    to_a = {y: x for x, y in to_b.items()}
    number = {node: k for k, node in enumerate(a.in_order())}
    now = {y: number[x] for y, x in to_a.items()}
    change = Change(None, "difference", removed=[number[n] for n in number if n not in to_b])
    fresh = [n for n in b.in_order() if n not in to_a]
    now |= {n: len(history.entries) + k for k, n in enumerate(fresh)}

    def operands(n: int) -> tuple[int, ...]:
        return tuple(now[o] if o >= 0 else -1 for o in b.operands[n])

    for n in fresh:
        history.entries.append(Entry(
            b.op[n], b.label(n), operands(n), b.attrs[n], b.types[n], b.values.get(n), annotations_of(b, n),
        ))
        change.added.append(now[n])
    change.rewired = {now[n]: operands(n) for n in to_a if history.entries[now[n]].operands != operands(n)}
    change.outputs = [now[n] for n in b.outputs]
    if change.removed or change.added or change.rewired or change.outputs != history.first_outputs:
        history.changes.append(change)
    return history
