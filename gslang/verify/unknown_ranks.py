"""Instances to which a rule is applied without knowing the ranks of inputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gslang.check import checked as ir
from gslang.dialect.signature import TypeInferenceError
from gslang.dialect.tensor_type import TensorType
from gslang.engine.edits import edits_of
from gslang.engine.lower import program_of
from gslang.engine.machine import matches
from gslang.engine.rewrite import Failure, apply_match
from gslang.graph.graph import CONST, INPUT, PARAM
from gslang.graph.inference import infer_node
from gslang.verify.instances.draw import KEPT, Instance, Search, drawn, starts_of


def without_ranks(
    rule: ir.CheckedRule, search: Search, seed: int, wide: bool
) -> Iterator[tuple[Instance, Instance]]:
    """The instances of the first seeds, and the same where the rule is applied without knowing the inputs'
    ranks.

    `wide`: literal numbers have more dimensions than inputs; only instances that have some.
    """
    apart = Search(first=search.first)  # these attempts are not counted
    for k in range(KEPT):
        if k not in search.first:
            drawn(rule, apart, seed, k)
        found, has_literals = search.first[k]
        if wide:
            found = drawn(rule, apart, seed, k, wide) if has_literals else None
        if found is not None:
            yield from on_unknown_ranks(rule, [found])


def on_unknown_ranks(
    rule: ir.CheckedRule, known: Iterable[Instance]
) -> Iterator[tuple[Instance, Instance]]:
    """Instances with what the same ones become where no rank of an input is known; those to which the rule is
    applied then.
    """
    for found in known:
        if (loose := _without_shapes(rule, found)) is not None:
            yield found, loose


def _without_shapes(rule: ir.CheckedRule, instance: Instance) -> Instance | None:
    """The same instance, to which the rule was applied without knowing the ranks of inputs; None where it is
    not applied then.
    """
    graph = instance.before.copy()
    for node in graph.reverse_post_order():
        if graph.op[node] in (INPUT, PARAM) and isinstance(type_ := graph.types[node], TensorType):
            graph.types[node] = TensorType(None, type_.dtype)
        elif graph.op[node] is not CONST:
            try:
                graph.types[node] = infer_node(graph, rule.dialect, node)
            except TypeInferenceError:
                return None
    shown = graph.copy()
    for start in starts_of(graph):
        for scope in matches(program_of(rule), graph, start):
            result = apply_match(scope, edits_of(graph, rule.dialect), [])
            if result is None or isinstance(result, Failure):
                return None
            return Instance(instance.seed, instance.before, graph, None, ("unknown ranks",), shown=shown)
    return None
