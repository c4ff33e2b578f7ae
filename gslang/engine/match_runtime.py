"""Functions that generated matchers call: privacy, convexity, equal attributes, scopes."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from gslang.check import checked as ir
from gslang.dialect.dialect import Dialect
from gslang.engine.candidates import Candidates, canonical, field_of
from gslang.engine.conditions import is_blocked
from gslang.engine.scope import Instance, Scope
from gslang.engine.value_code import equal_attributes
from gslang.engine.values import FAILURES, equal
from gslang.graph.graph import Graph


def scope_of(
    rule: ir.CheckedRule, graph: Graph, slots: list[int], chosen: dict[int, int], captures: dict[int, object],
    variables: dict[str, str], instances: list[list[dict[int, int]]],
) -> Scope:  # fmt: skip
    known = {name: operator for name, operator in variables.items() if operator is not None}
    tables = [[Instance(k, table) for k, table in enumerate(block)] for block in instances]
    return Scope(rule, graph, slots, chosen, captures, known, tables)


def candidates_of(dialect: Dialect, graph: Graph, site: Any) -> Candidates:
    parts = site.key

    def key_of(node: int) -> object:
        try:
            return tuple([field_of(graph, dialect, node, path, field) for path, field in parts])
        except FAILURES:
            return None

    return Candidates(graph, site.levels, key_of)


def private(graph: Graph, interior: tuple[int, ...], matched: set[int], outputs: Collection[int]) -> bool:
    if len(outputs) > 8:
        outputs = frozenset(outputs)
    for node in interior:
        if node >= 0 and node not in outputs:
            if node in graph.output_uses or any(user not in matched for user in graph.users[node]):
                return False
    return True


def convex(graph: Graph, inputs: tuple[int, ...], outputs: tuple[int, ...]) -> bool:
    wanted = set(outputs)
    present = [node for node in inputs if node >= 0]
    if any(node in wanted for node in present):
        return False
    inner = [node for node in present if graph.operands[node]]
    return len(wanted) < 2 or not inner or not is_blocked(graph, inner, wanted, outputs[0])


def same_attributes(graph: Graph, dialect: Dialect, a: int, b: int, without: tuple[str, ...]) -> bool:
    if a < 0 or b < 0:
        return False
    if a == b or (graph.op[a] == graph.op[b] and equal_attributes(graph.attrs[a], graph.attrs[b])):
        return True
    sides = []
    for node in (a, b):
        signature = dialect.operators.get(graph.op[node])
        given = graph.attrs[node]
        sides.append(signature.complete(given) if signature else dict(given))
    left, right = sides
    names = [name for name in {**left, **right} if name not in without]
    return all(name in left and name in right and equal(left[name], right[name]) for name in names)


RUNTIME: Final = {
    "private": private,
    "convex": convex,
    "same_attributes": same_attributes,
    "canonical": canonical,
}
"""Names that generated matchers use."""
