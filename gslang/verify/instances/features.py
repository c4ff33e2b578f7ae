"""The features of an instance that a report counts, and the values of open attributes."""

from __future__ import annotations

from functools import lru_cache

from gslang.check import checked as ir
from gslang.check.walks import against_constant, conjuncts, within_captures
from gslang.engine.conditions import output_slots
from gslang.engine.scope import UNBOUND, Scope
from gslang.graph.graph import Graph
from gslang.verify.instances.make import Making


def open_attributes(scope: Scope, graph: Graph) -> frozenset[tuple[str, str, str]]:
    """(operator, attribute, value) of all calls in the source, but for attributes that constraints or
    conditions fix, or that may not be given beside others."""
    found = set()
    demanded = _demanded(scope.rule)
    for number, node in scope.rule.calls.items():
        fixed = {c.field for c in node.tests if not _is_open(c.test)} | demanded.get(number, set())
        copied = [c.without for c in node.copies]
        slots = (
            [scope.slots[number]] if node.block is None
            else [i.slots.get(number, UNBOUND) for i in scope.instances[node.block]]
        )
        for slot in slots:
            signature = scope.rule.dialect.get(graph.op[slot]) if slot >= 0 else None
            if signature is None:
                continue
            given = signature.complete(graph.attrs[slot])
            excluded = {"pads"} if given.get("auto_pad", "NOTSET") != "NOTSET" else set()
            for name, value in given.items():
                if (
                    name in signature.attributes and name not in fixed | excluded
                    and not any(name not in without for without in copied)
                ):
                    found.add((graph.op[slot], name, repr(value)))
    return frozenset(found)


@lru_cache(maxsize=4)
def _demanded(rule: ir.CheckedRule) -> dict[int, set[str]]:
    """Call → attributes that must equal a constant wherever the rule is applied."""
    found: dict[int, set[str]] = {}
    for condition in conjuncts(rule.where, rule.lets):
        match against_constant(condition):
            case ir.NodeAttr(ir.OWN, node, name), "==", _:
                found.setdefault(node, set()).add(name)
    return found


def _is_open(test: ir.Test) -> bool:
    return isinstance(within_captures(test), ir.Anything)


def features_of(making: Making, scope: Scope, graph: Graph) -> tuple[str, ...]:
    """The alternatives, operators, numbers of instances, ranks and the element type that it has."""
    found = dict(making.branches)
    for block, instances_ in zip(scope.rule.blocks, scope.instances):
        found[f"{len(instances_)} × {block.name}"] = 1
    for slot in output_slots(scope):
        type_ = graph.types[slot]
        shape = getattr(type_, "shape", None)
        if shape is not None:
            found[f"rank {len(shape)}"] = 1
            if 1 in shape:
                found["size 1"] = 1
    found[f"dtype {making.dtype}"] = 1
    return tuple(found)
