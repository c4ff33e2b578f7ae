"""Element types of inputs whose type a condition asks for: a rule may be right for all but one that it lets
pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gslang.check import checked as ir
from gslang.check.walks import walk
from gslang.dialect.dtypes import PLAIN
from gslang.graph.graph import Graph

_TYPES = (*sorted(PLAIN), "bfloat16")
_MOST_ALONE = 3  # inputs of which each has a type of its own


def types_not_seen(rule: ir.CheckedRule, seen: Sequence[Graph]) -> Iterator[dict[tuple[int, str], object]]:
    """Wishes for each element type that no graph has of any input, one after the other: of all inputs whose
    type conditions read, then of each of them."""
    leaves = _leaves_asked(rule)
    alone = [[leaf] for leaf in leaves if 1 < len(leaves) <= _MOST_ALONE]
    there = {getattr(type_, "dtype", None) for graph in seen for type_ in graph.types}
    for name in _TYPES if leaves else ():
        if name in there:
            continue
        for together in (leaves, *alone):
            yield {(leaf, "dtype"): name for leaf in together}


def _leaves_asked(rule: ir.CheckedRule) -> list[int]:
    """The inputs of open type whose types conditions, or values of the target, read."""
    read = {
        part.node for part in walk((rule.where, rule.lets, rule.blocks, rule.target.targets))
        if isinstance(part, ir.NodeAttr) and part.name == "dtype"
    }
    return [leaf for leaf, node in rule.leaves.items() if leaf in read and not node.asked("dtype")]
