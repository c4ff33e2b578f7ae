"""E-graphs as files, in the format of extraction-gym (`egraph-serialize`): one JSON object.

`nodes`: id → {`op`, `children`: ids of e-nodes, of whose classes one is meant, `eclass`, `cost` (1 if left
out)}, and `root_eclasses`. `class_data` and whatever else there is means nothing to extraction.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import inf, isfinite
from typing import Final

from gslang.base.atomic_write import write_text
from gslang.base.open_types import JsonDict
from gslang.base.quick_dataclass import dataclass
from gslang.base.read_file import read_bytes
from gslang.base.suggest import did_you_mean
from gslang.formats.json_file import JsonFile, escaped, parse
from gslang.search.extract.problem import Problem, make_problem

_MOST: Final = 1e200


@dataclass(frozen=True, slots=True)
class EGraphFile:
    """`problem` with the file's names of its e-nodes and classes."""

    problem: Problem
    nodes: tuple[str, ...]
    classes: tuple[str, ...]


def read_egraph(path: str, data: str | bytes | None = None) -> EGraphFile:
    """The e-graph in a file.

    Raises `InputError` with a JSON pointer for what does not fit the format, `OSError`.
    """
    file = JsonFile(path)
    top = parse(file, read_bytes(path) if data is None else data)
    if not isinstance(top, dict) or not isinstance(top.get("nodes"), dict):
        file.fail(
            "", "expected an object with `nodes`, an object of e-nodes by id",
            "is this an e-graph of extraction-gym?",
        )
    nodes: JsonDict = top["nodes"]
    classes: dict[str, int] = {}
    owner = [
        classes.setdefault(_class_name(file, f"/nodes/{escaped(id)}", node), len(classes))
        for id, node in nodes.items()
    ]
    owner_of = dict(zip(nodes, owner))
    children, costs = [], []
    for id, node in nodes.items():
        pointer = f"/nodes/{escaped(id)}"
        cost = _cost(file, pointer, node.get("cost", 1.0))
        below = _ids(file, f"{pointer}/children", node.get("children", []), owner_of, "e-node")
        if cost == inf:  # may not be chosen: it needs itself
            cost, below = 0.0, [*below, owner_of[id]]
        children.append(below)
        costs.append(cost)
    if "root_eclasses" not in top:
        file.fail("", "`root_eclasses` is missing", "name the classes to compute")
    roots = _ids(file, "/root_eclasses", top["root_eclasses"], classes, "e-class")
    problem = make_problem(owner, children, costs, roots, len(classes))
    return EGraphFile(problem, tuple(nodes), tuple(classes))


def _class_name(file: JsonFile, pointer: str, node: object) -> str:
    if not isinstance(node, dict):
        file.fail(pointer, "expected an object with `op`, `children`, `eclass` and `cost`")
    if not isinstance(node.get("eclass"), str):
        file.fail(pointer, "`eclass` is missing" if "eclass" not in node else "`eclass` must be a string")
    return str(node["eclass"])


def _cost(file: JsonFile, pointer: str, cost: object) -> float:
    if cost == "inf":
        return inf
    if isinstance(cost, bool) or not isinstance(cost, (int, float)):
        file.fail(f"{pointer}/cost", "a cost must be a number")
    try:
        number = float(cost)
    except OverflowError:
        number = inf
    if not isfinite(number) or number < 0:
        file.fail(
            f"{pointer}/cost", f"a cost must be at least 0 and finite, not {cost}",
            'write "inf" for what must not be chosen',
        )
    if number > _MOST:
        file.fail(
            f"{pointer}/cost", f"a cost must be at most {_MOST:g}, not {cost}: sums of them are taken",
            'write "inf" for what must not be chosen',
        )
    return number


def _ids(file: JsonFile, pointer: str, ids: object, known: Mapping[str, int], what: str) -> list[int]:
    if not isinstance(ids, list):
        file.fail(
            pointer,
            f"expected a list of {what}es" if what == "e-class" else f"expected a list of ids of {what}s",
        )
    result = []
    for k, id in enumerate(ids):
        if not isinstance(id, str) or id not in known:
            guess = did_you_mean(str(id), list(known)[:5000])
            file.fail(
                f"{pointer}/{k}", f"unknown {what} `{id}`", f"did you mean `{guess}`?" if guess else ""
            )
        result.append(known[id])
    return result


def write_egraph(
    path: str,
    problem: Problem,
    operators: Sequence[str],
    class_names: Sequence[str],
    node_names: Sequence[str],
) -> None:
    """Write an e-graph whose children are named by the first e-node of their class. Raises `OSError`."""
    nodes = {
        name: {
            "op": operators[node],
            "children": [node_names[problem.members[child][0]] for child in problem.children[node]],
            "eclass": class_names[problem.owner[node]],
            "cost": problem.costs[node],
        }
        for node, name in enumerate(node_names)
    }
    lines = ",\n".join(f"    {json.dumps(name)}: {json.dumps(node)}" for name, node in nodes.items())
    roots = json.dumps([class_names[root] for root in problem.roots])
    write_text(path, f'{{\n  "nodes": {{\n{lines}\n  }},\n  "root_eclasses": {roots}\n}}\n')
