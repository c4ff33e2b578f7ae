"""The integer programme of a reduced extraction problem: one 0-1 variable for each e-node that is worth
looking at.

Rows say: a class that every solution contains has an e-node; an e-node is only there if each class that it
reads has one. Two classes of a strongly connected part exclude each other's e-nodes that need the other: that
keeps most cycles out. What cycles remain is cut off one by one (`exact`). Since e-nodes may read a forced
class freely, such classes split the programme into independent ones.
"""

from __future__ import annotations

from gslang.base.quick_dataclass import dataclass
from gslang.search.extract.components import strong_components
from gslang.search.extract.problem import Problem
from gslang.search.extract.reduce import Reduced

Row = tuple[dict[int, float], float]  # coefficients by variable, and what their sum must at least be


@dataclass(frozen=True, slots=True)
class Model:
    """`nodes`: variable → e-node."""

    nodes: list[int]
    variable: dict[int, int]
    rows: list[Row]


def make_model(problem: Problem, reduced: Reduced, apart: bool = True) -> Model:
    """The programme without cuts; `apart`: with the rows against cycles."""
    nodes = sorted(node for members in reduced.nodes.values() for node in members)
    model = Model(nodes, {node: k for k, node in enumerate(nodes)}, [])
    part = _strong_parts(problem, reduced) if apart else {}
    for of, members in reduced.nodes.items():
        if of in reduced.forced:
            model.rows.append((dict.fromkeys((model.variable[n] for n in members), 1.0), 1.0))
        for child, readers in _readers(problem, reduced, of, part.get(of, 0)).items():
            free = [n for n in reduced.nodes[child] if not reduced.needs[n] >> of & 1]
            complete = len(free) == len(reduced.nodes[child])
            if complete and (
                child in reduced.forced or not any(child in problem.children[n] for n in readers)
            ):
                continue  # it is there anyway, or follows from what the readers' children need
            row = dict.fromkeys((model.variable[n] for n in free), 1.0)
            for node in readers:
                row[model.variable[node]] = row.get(model.variable[node], 0.0) - 1.0
            model.rows.append((row, 0.0))
    return model


def _strong_parts(problem: Problem, reduced: Reduced) -> dict[int, int]:
    """Class → the classes of its strongly connected part, as a bit set."""
    below = {
        of: list(dict.fromkeys(child for node in members for child in problem.children[node]))
        for of, members in reduced.nodes.items()
    }
    result = {}
    for component in strong_components(below):
        bits = sum(1 << of for of in component)
        result.update(dict.fromkeys(component, bits))
    return result


def _readers(problem: Problem, reduced: Reduced, of: int, part: int) -> dict[int, list[int]]:
    """Class → the e-nodes of a class `of` that read it or, within its strongly connected part, need it."""
    readers: dict[int, dict[int, None]] = {}
    for node in reduced.nodes[of]:
        for child in problem.children[node]:
            readers.setdefault(child, {})[node] = None
        needed = reduced.needs[node] & part
        while needed:
            readers.setdefault(needed.bit_length() - 1, {})[node] = None
            needed ^= 1 << needed.bit_length() - 1
    return {child: list(found) for child, found in readers.items()}


def cut(problem: Problem, reduced: Reduced, model: Model, cycle: list[int]) -> Row:
    """At least one class of a cycle takes an e-node that does not read the next."""
    row: dict[int, float] = {}
    for of, after in zip(cycle, (*cycle[1:], cycle[0])):
        for node in reduced.nodes[of]:
            if after in problem.children[node]:
                row[model.variable[node]] = -1.0
    return row, 1.0 - len(cycle)
