"""Calls of single operators, drawn from their declared domains as instances of rules are."""

from __future__ import annotations

from collections.abc import Callable

import gslang.api as api
from gslang.dialect.load import load_dialect
from gslang.dialect.signature import Signature
from gslang.graph.graph import Graph
from gslang.verify.instances.draw import Search, drawn


def operators(dialect: str) -> list[tuple[str, Signature]]:
    """Those with operands and without bodies."""
    return [
        (name, signature) for name, signature in load_dialect(dialect).operators.items()
        if signature.operands and not name.startswith("ai.onnx.")
        and not any(spec.types[0].base == "graph" for spec in signature.attributes.values())
    ]  # fmt: skip


def calls_of(
    name: str, signature: Signature, count: int, dialect: str = "onnx", result: int = 0
) -> list[Graph]:
    """Graphs of one call each, with the required operands and with all of them. `result`: the output, of
    several."""
    every = range(len(signature.operands))
    needed = [k for k in every if not signature.operands[k].optional]
    graphs = []
    for places in (needed, list(every)) if len(needed) < len(every) else (needed,):
        kinds = {k: signature.operands[k].kind for k in places}
        names = {k: [f"x{k}", f"y{k}"] if kind == "tuple" else [f"x{k}"] for k, kind in kinds.items()}
        written = {k: f"({', '.join(found)})" if len(found) > 1 else found[0] for k, found in names.items()}
        given = ", ".join(written.get(k, "none") for k in range(max(places, default=0) + 1))
        inputs = ", ".join(name for found in names.values() for name in found)
        taken = "" if signature.results == "tensor" else f".{result}"
        if not places:
            continue
        rule = api.parse_rules(
            f"dialect {dialect};\nrule r({inputs}): {name}({given}){taken} => x{places[0]};"
        ).own["r"]
        made = (drawn(rule, Search(), 11, k) for k in range(count))
        graphs += [instance.before for instance in made if instance is not None]
    return graphs


def compared(
    dialect: str, part: slice, count: int, compare: Callable[[Graph, str, int], bool]
) -> list[int]:
    """For each operator of a part, how many of its drawn calls were compared: `compare` of a call, its
    operator and its number is False if there is nothing to compare.
    """
    return [
        sum(compare(graph, name, k) for k, graph in enumerate(calls_of(name, signature, count, dialect)))
        for name, signature in operators(dialect)[part]
    ]
