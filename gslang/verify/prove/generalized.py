"""A rule that says more than another one: parts of its source that the target takes as they are stand for any
tensor.

What is proved of the more general rule holds for the other one, which is applied to fewer graphs. It has
fewer cases: scores that are `MatMul(x, y) * const() | MatMul(x, y)` have many shapes of x, y and the
constant, of which the target says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gslang.base.reachable import reachable
from gslang.check import checked as ir
from gslang.check.walks import conjuncts, walk
from gslang.verify.prove.operators.infinities import has_infinities

_COSTLY = frozenset({"MatMul"})  # calls with a meaning that takes many cases
# Calls that tell what is computed from numbers, as any tensor is taken to be, from what constants make of it.
_ABOUT_NUMBERS = frozenset({"IsNaN", "IsInf"})


def generalizations(rule: ir.CheckedRule) -> list[ir.CheckedRule]:
    """More general rules, the most general one first: one of them may say too much to be true, where it left
    out what conditions say of numbers.
    """
    found = [generalized(rule), generalized(rule, True)]
    general = [other for other in found if other is not None]
    return general[:1] if len(general) == 2 and general[0].nodes == general[1].nodes else general


def generalized(rule: ir.CheckedRule, with_numbers: bool = False) -> ir.CheckedRule | None:
    """The more general rule; None where there is none that is simpler.

    Conditions on what is left out are left out too. `with_numbers`: constants whose numbers conditions read
    are not left out.
    """
    if rule.blocks or rule.output_block is not None:
        return None
    whole, details = _used(rule)
    if with_numbers:
        details |= {
            part.node for part in walk(rule.where, rule.lets)
            if isinstance(part, ir.NodeAttr) and part.name == "value"
        }
    free: set[int] = set()
    inside: set[int] = set()
    particular = any(not _ABOUT_NUMBERS.isdisjoint(call.operators) for call in rule.calls.values())
    for node in _from(rule, rule.outputs, frozenset()):
        if node in inside or node in rule.outputs or node in details or not _is_costly(rule, node):
            continue
        below = set(_from(rule, rule.nodes[node].below, frozenset()))
        others = set(_from(rule, rule.outputs, frozenset({node}))) | whole | details
        if (
            not below & others and not has_infinities([rule.nodes[k].constraints for k in below], rule.lets)
            and not (particular and any(_is_constant(rule.nodes[k]) for k in below))
        ):
            free.add(node)
            inside |= below
    if not free:
        return None
    gone = free | inside
    nodes = tuple([
        ir.LeafNode(kind="any", name=node.name or f"any{number}", span=node.span) if number in gone else node
        for number, node in enumerate(rule.nodes)
    ])
    kept = [node for number, node in enumerate(nodes) if number not in gone]
    if any(_reads(rule, node.constraints, inside, free) for node in kept):
        return None
    where = tuple([
        condition for condition in conjuncts(rule.where) if not _reads(rule, condition, inside, free)
    ])
    needed = {part.let for part in walk((where, kept, rule.target), rule.lets) if isinstance(part, ir.Let)}
    lets = tuple([let if k in needed else ir.Const(None) for k, let in enumerate(rule.lets)])
    return replace(rule, nodes=nodes, where=where, where_spans=(rule.span,) * len(where), lets=lets)


def _is_costly(rule: ir.CheckedRule, number: int) -> bool:
    match rule.nodes[number]:
        case ir.AltNode(branches=branches):  # one of some constants has fewer cases than any tensor
            return not all(_is_constant(rule.nodes[branch]) for branch in branches)
        case ir.CallNode(operators=operators, variable=None):
            return _COSTLY.issuperset(operators)
    return False


def _is_constant(node: ir.Pattern) -> bool:
    return isinstance(node, ir.LeafNode) and node.kind in ("const", "fixed")


def _from(rule: ir.CheckedRule, roots: tuple[int, ...], without: frozenset[int]) -> Iterable[int]:
    """The nodes from some on, from the outputs to the inputs, without those below `without`."""
    return reachable(
        reversed(roots), lambda node: () if node in without else reversed(rule.nodes[node].below)
    )


def _used(rule: ir.CheckedRule) -> tuple[set[int], set[int]]:
    """(nodes that the target takes or asks for their types, those of which it reads more)."""
    whole, details = set[int](), set[int]()
    for part in walk(rule.target, rule.lets):
        match part:
            case ir.SourceNode(_, node) | ir.NodeAttr(_, node, "shape" | "dtype" | "ndim"):
                whole.add(node)
            case _ if isinstance(other := getattr(part, "node", None), int):
                details.add(other)
    return whole, details


def _reads(rule: ir.CheckedRule, item: object, inside: set[int], free: set[int]) -> bool:
    """True if a part of a rule reads what is left out: not the type of what stands for it."""
    for part in walk(item, rule.lets):
        match part:
            case ir.NodeAttr(_, node, "shape" | "dtype" | "ndim") if node in free:
                pass
            case ir.SameNode((_, a), (_, b)):
                if {a, b} & (inside | free):
                    return True
            case _ if getattr(part, "node", None) in inside | free:
                return True
    return False
