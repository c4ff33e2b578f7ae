"""Numbers of constants far from others: the ends of whole types, and what lies beyond one that a rule states
for one of them. What is as low as the number of a mask may be so for several constants at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from math import isfinite, prod
from random import Random

import numpy as np

from gslang.check import checked as ir
from gslang.check.walks import walk
from gslang.dialect.dtypes import whole_numbers
from gslang.verify.instances.elements import in_tuples
from gslang.verify.instances.open_numbers import not_computed_with
from gslang.verify.neighbours import Point, Wishes
from gslang.verify.reads import stated

_LEAST = 1e4  # numbers of models are smaller
_MOST = 3e38  # of float32
_ORDERS = 6  # of constants, for each number
_MOST_STATED = 4


def far_numbers(rule: ir.CheckedRule, point: Point, random: Random) -> Iterator[Wishes]:
    """Values for all constants of one number that conditions read, at once: multiples of a number that the
    rule states, in several orders.
    """
    read = {
        part.node for part in walk((rule.where, rule.lets))
        if isinstance(part, ir.NodeAttr) and part.name == "value"
    }
    leaves = [
        leaf for leaf in point.values
        if leaf in read and prod(point.shapes[leaf]) == 1 and point.dtypes[leaf] in ("float32", "float64")
    ]
    for number in islice(_stated(rule), _MOST_STATED if len(leaves) > 1 else 0):
        for _ in range(_ORDERS):
            factors = random.sample(range(2, 2 + len(leaves)), len(leaves))
            yield {
                (leaf, "value"): in_tuples(np.full(point.shapes[leaf], number * factor).tolist())
                for leaf, factor in zip(leaves, factors)
            }


def ends_of_types(rule: ir.CheckedRule, point: Point) -> Iterator[Wishes]:
    """Constants of whole numbers at the ends of their types, of which no shape or index depends: one after
    the other."""
    kept = not_computed_with(rule)
    for leaf in point.values:
        ends = whole_numbers(point.dtypes[leaf]) if leaf not in kept else None
        for end in ends or ():
            yield {(leaf, "value"): in_tuples(np.full(point.shapes[leaf], end).tolist())}


def _stated(rule: ir.CheckedRule) -> list[float]:
    """The numbers far from 0 that a rule compares with, so far from the largest that multiples exist."""
    tests = tuple([node.constraints for node in rule.nodes])
    found = {
        number for number in stated((rule.where, rule.lets, tests))
        if isinstance(number, float) and isfinite(number)
    }
    return sorted(number for number in found if _LEAST <= abs(number) < _MOST / len(rule.nodes))
