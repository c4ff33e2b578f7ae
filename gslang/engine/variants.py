"""A matched rule with its optional inputs decided: for each way in which they are there or absent, a rule of
which the target says no more about it.

`b: any?` is one operand of the pattern and two targets: `Conv(x, w, b)` and `Conv(x, w)`, and what stands
under `b == none`. The code behind a match tells the ways apart once; in each the target is a fixed list of
calls, which can be laid down from a stamp (`generate_stamp`).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Final

from gslang.check import checked as ir
from gslang.check.decided import UNKNOWN, decided
from gslang.check.definite import new_nodes_read

_MOST: Final = 2  # optional inputs; each doubles the code


def variants(rule: ir.CheckedRule) -> list[tuple[frozenset[int], ir.CheckedRule]]:
    """The absent inputs, and the rule where these are absent and all others are there; nothing where that
    would decide nothing.
    """
    optional = [
        k
        for k, node in enumerate(rule.nodes)
        if node.optional and node.block is None
    ]
    simple = not rule.blocks and not any(isinstance(node, ir.AltNode) for node in rule.nodes)
    if (
        not simple or not 0 < len(optional) <= _MOST or new_nodes_read(rule.target.targets, rule.lets)
        or not _reads(rule, optional)
    ):
        return []
    found = []
    for there in product((True, False), repeat=len(optional)):
        absent = frozenset(k for k, is_there in zip(optional, there) if not is_there)
        found.append((absent, _decided(rule, absent)))
    return found


def _reads(rule: ir.CheckedRule, optional: list[int]) -> bool:
    """True if the target has one of these inputs."""
    return any(
        isinstance(target, ir.SourceNode) and target.node in optional for target in rule.target.targets
    )


def _decided(rule: ir.CheckedRule, absent: frozenset[int]) -> ir.CheckedRule:
    nodes: list[ir.Pattern] = []
    for node in rule.nodes:
        match node:
            case ir.LeafNode(optional=True):
                nodes.append(replace(node, optional=False))
            case ir.CallNode(operands=operands):
                nodes.append(replace(
                    node,
                    operands=tuple([None if isinstance(o, int) and o in absent else o for o in operands]),
                ))
            case _:
                nodes.append(node)
    targets = rule.target.targets
    instead = {k: _chosen(targets, k, absent) for k in range(len(targets))}
    made = tuple([_renumbered(target, instead, absent) for target in targets])
    target = replace(rule.target, targets=made, outputs=tuple([instead[k] for k in rule.target.outputs]))
    return replace(rule, nodes=tuple(nodes), target=target)


def _chosen(targets: tuple[ir.Target, ...], number: int, absent: frozenset[int]) -> int:
    """The target that stands where `number` does, once it is known what is absent."""
    while (
        isinstance(target := targets[number], ir.ChooseTarget)
        and (holds := _truth(target.condition, absent)) is not UNKNOWN
    ):
        number = target.then if holds else target.otherwise
    return number


def _truth(condition: ir.Value, absent: frozenset[int]) -> object:
    def known(part: ir.Value) -> object:
        return part.node in absent if isinstance(part, ir.IsAbsent) and part.place == ir.OWN else UNKNOWN

    return decided(condition, known)


def _renumbered(target: ir.Target, instead: dict[int, int], absent: frozenset[int]) -> ir.Target:
    if isinstance(target, ir.SourceNode) and target.place == ir.OWN and target.node in absent:
        return ir.Absent()
    return ir.renumbered(target, instead)
