"""Instances of `each` blocks, one by one: rules whose blocks say more than `families` can follow are looked
at with each number of instances up to a bound, which the claim names.
"""

from __future__ import annotations

from collections.abc import Callable

from gslang.check import checked as ir
from gslang.engine.scope import Instance
from gslang.graph.graph import ABSENT
from gslang.verify.prove.case import Case
from gslang.verify.prove.terms.opaque import NotGrown
from gslang.verify.prove.terms.paths import DOMAIN, Impossible, NotProved
from gslang.verify.reads import whole_literals

INSTANCES = (2, 3)  # the bounds that are tried, the larger one as far as steps allow
_MORE = 1  # than the least that a block asks for
_MOST = 1_000  # that a number in a rule is taken to be a limit of


def grown(case: Case, number: int, make: Callable[[], object], start: int = ABSENT) -> list[Instance]:
    """The instances of a block, `make` called in each: as many as one case has. `start`: the node that the
    first instance of a chain goes on from.
    """
    scope, world, block = case.scope, case.world, case.rule.blocks[number]
    found = scope.instances[number]
    if not isinstance(found, NotGrown):
        return found
    around, scope.current = scope.current, None
    count = _count(case, block) if world.counted else 2
    scope.instances[number] = found = []
    for k in range(count):
        scope.current = instance = Instance(k)
        if block.previous is not None:
            instance.previous, instance.slots[block.previous] = found[-1] if found else None, start
        make()
        found.append(instance)
        start = instance.slots[block.root]
    scope.current = around
    return found


def _count(case: Case, block: ir.Block) -> int:
    """The number of instances in this case."""
    least, most = (
        None if bound is None else case.value(bound) for bound in (block.minimum, block.maximum)
    )
    if type(least) is not int or most is not None and type(most) is not int:
        raise NotProved("reading the number of instances of a block is not supported")
    limit = max(case.world.counted, least + _MORE)
    if most is None or most > limit:
        if whole_literals(case.rule, limit + 1, _MOST):
            raise NotProved("a number in the rule may be a limit of more instances than are looked at")
        case.world.notes.add(f"blocks of up to {limit} instances")
    else:
        limit = most
    if least > limit:
        raise Impossible(DOMAIN)
    return least + case.world.facts.choices.choose(limit + 1 - least)
