"""The requirements of rules and declarations on instances: the leaves that a constraint reads, the sampler
that suits a declared operator."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from gslang.check import checked as ir
from gslang.check.walks import conjuncts, equations, walk
from gslang.dialect.signature import Signature


def leaves_read_by(rule: ir.CheckedRule, number: int) -> list[int]:
    """The leaves outside blocks whose attributes or captures the constraints of node `number` read, itself
    left out.
    """
    found = nodes_read(rule, walk(rule.nodes[number].constraints))
    leaves = rule.leaves
    return [k for k in dict.fromkeys(found) if k != number and k in leaves and leaves[k].block is None]


def nodes_read(rule: ir.CheckedRule, parts: Iterable[object]) -> Iterator[int]:
    """The nodes whose fields are among parts of an expression, and those that bind the captures there."""
    for part in parts:
        if isinstance(part, ir.NodeAttr):
            yield part.node
        elif isinstance(part, ir.Captured):
            yield from _nodes_capturing(rule, part.capture)


def _nodes_capturing(rule: ir.CheckedRule, capture: int) -> list[int]:
    """The nodes whose constraints bind a capture."""
    return [
        k
        for k, node in enumerate(rule.nodes)
        if any(isinstance(p, ir.Capture) and p.capture == capture for p in walk(node.constraints))
    ]


@lru_cache(maxsize=4)
def fields_read(rule: ir.CheckedRule) -> frozenset[tuple[int, str]]:
    """(node, field) of what conditions and the target of a rule read of its source."""
    parts = walk((rule.where, rule.lets, rule.blocks, rule.target))
    return frozenset((part.node, part.name) for part in parts if isinstance(part, ir.NodeAttr))


def may_have(rule: ir.CheckedRule, name: str) -> bool:
    """True if a call of the source may have the attribute at any value, or has it at another one than 0."""
    return any(
        any(name in rule.dialect.operators[o].attributes for o in call.operators)
        and (bool(call.stated(name)) or all(isinstance(test, ir.Anything) for test in call.asked(name)))
        for call in rule.calls.values()
    )


def ranks_stated(conditions: Iterable[ir.Value], lets: Sequence[ir.Value]) -> dict[int, int]:
    """Nodes and the rank that conditions say they have, whatever alternative is taken."""
    demanded = list(conjuncts(conditions, lets))
    found = {
        side.node: other.value
        for side, other in equations(demanded)
        if side.name == "ndim" and isinstance(other, ir.Const) and type(other.value) is int
    }
    for condition in demanded:
        whole = condition.meant(lets)
        if isinstance(whole, ir.SelectValue):
            own = [ranks_stated([arm], lets) for arm in whole.arms if arm is not None]
            found |= {k: r for k, r in own[0].items() if all(o.get(k) == r for o in own)} if own else {}
    return found


def parts_of_shapes(rule: ir.CheckedRule) -> frozenset[int]:
    """The leaves that are joined to the shape that a reshape asks for."""
    shapes = [
        rule.nodes[call.operands[1]]
        for call in rule.nodes
        if isinstance(call, ir.CallNode) and "Reshape" in call.operators
        and len(call.operands) > 1 and isinstance(call.operands[1], int)
    ]
    return frozenset(
        below for shape in shapes if "Concat" in shape.operators
        for below in shape.below if isinstance(rule.nodes[below], ir.LeafNode)
    )


@lru_cache(maxsize=64)
def whole_literals(rule: ir.CheckedRule, least: int, most: int) -> list[int]:
    """The whole numbers between these two that stand in a rule's conditions and target, each once."""
    read = (rule.where, rule.lets, rule.target, tuple([block.where for block in rule.blocks]))
    found = {number for number in stated(read) if type(number) is int}
    return sorted(number for number in found if least <= number <= most)


def names_types(rule: ir.CheckedRule) -> bool:
    """True if a rule names an element type of whole numbers: then it is meant for them.

    The types of new constants do not count: axes and shapes are whole numbers in any rule.
    """
    given = tuple([
        replace(t, dtype=None) if isinstance(t, ir.MakeConst) else t for t in rule.target.targets
    ])
    everything = (rule.nodes, rule.where, rule.lets, rule.blocks, given)
    return any(isinstance(v, str) and v.startswith(("int", "uint")) for v in stated(everything))


def stated(items: object) -> Iterator[object]:
    """All constants in values, tests and nodes, those in tuples one by one."""
    for part in walk(items):
        if isinstance(part, ir.Const):
            yield from _flat(part.value)


def constants_stated(signature: Signature) -> tuple[object, ...]:
    """The numbers and texts in what a declared operator computes: attributes may be compared with them."""
    if signature.meaning is None:
        return ()
    rule = signature.meaning.rule
    return tuple(v for v in stated((rule.lets, rule.target)) if isinstance(v, (int, float, str)))


def _flat(value: object) -> Iterator[object]:
    if isinstance(value, tuple):
        for part in value:
            yield from _flat(part)
    else:
        yield value


def operator_that_samples(signature: Signature, known: Collection[str]) -> str:
    """The operator whose sampler suits calls of `signature`: itself, or the first one in its declared value
    that takes all operands as they are and has a sampler (`known`).
    """
    meaning = signature.meaning
    if signature.name in known or meaning is None:
        return signature.name
    targets = meaning.rule.target.targets
    for target in targets:
        if isinstance(target, ir.MakeCall) and isinstance(target.operator, str) and target.operator in known:
            read = [targets[k] for k in target.operands]
            if [t.node if isinstance(t, ir.SourceNode) else None for t in read] == list(
                range(len(signature.operands))
            ):
                return target.operator
    return signature.name
