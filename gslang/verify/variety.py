"""The order in which instances are compared: first those that show what few before them did.

Most draws of a rule look alike (the usual layout, one group), and a mistake may show in the others only; so
what looks like earlier ones waits until some more have been drawn. For all rules together, drawing takes
longer than comparing, so the choice is among few.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, islice
from time import thread_time

import numpy as np

from gslang.dialect.dialect import Dialect
from gslang.graph.graph import CONST, INPUT, PARAM, Graph
from gslang.verify.instances.draw import Instance

DRAWN = 3  # times as many instances are drawn as are compared
AT_ONCE = 6  # one in so many is compared as it comes
_PAIRED = 100  # differences of an instance that are looked at in pairs
_ALIKE = 2  # calls of one operator that are told apart


def varied(drawn: Iterator[Instance], wanted: int, dialect: Dialect, until: float) -> Iterator[Instance]:
    """All instances of `drawn`: some as they come, those whose target does not fit, then of the first `DRAWN`
    · `wanted` always the one that shows most of what was seen least.

    `until`: when to stop looking for more to choose from, by `thread_time`.
    """
    first: list[Instance] = []
    for instance in islice(drawn, wanted // AT_ONCE):
        first.append(instance)
        yield instance
    pool = list(first)
    for instance in islice(drawn, (DRAWN - 1) * wanted):
        if instance.after is None:  # needs no comparison
            yield instance
        else:
            pool.append(instance)
        if thread_time() > until:
            break
    shown = _differences([written_ways(instance.before, dialect) for instance in pool])
    seen: Counter[str] = Counter(text for own in shown[: len(first)] for text in own)
    left = list(range(len(first), len(pool)))
    while left:
        best = max(left, key=lambda k: (sum(1 / (1 + seen[text]) for text in shown[k]), -k))
        left.remove(best)
        seen.update(shown[best])
        yield pool[best]
    yield from drawn


def _differences(written: list[list[str]]) -> list[list[str]]:
    """Of each list what not all have, and the pairs of it; where there are thousands, of the first ones."""
    counts = Counter(text for own in written for text in set(own))
    apart = [[text for text in dict.fromkeys(own) if counts[text] < len(written)] for own in written]
    return [[*own, *(f"{a}, {b}" for a, b in combinations(own[:_PAIRED], 2))] for own in apart]


def written_ways(graph: Graph, dialect: Dialect) -> list[str]:
    """The element types of inputs, and the form of attributes and constant operands of each call: which text,
    a default, with 0 or negative numbers."""
    found: list[str] = []
    calls: Counter[str] = Counter()
    for node in graph.reverse_post_order():
        op = graph.op[node]
        if op in (INPUT, PARAM):
            found.append(f"input {getattr(graph.types[node], 'dtype', None)}")
        signature = dialect.get(op)
        if signature is None:
            continue
        name = f"{op} {min(calls[op], _ALIKE)}"
        calls[op] += 1
        given = signature.complete(graph.attrs[node])
        found += [
            f"{name} {key} {_way(given.get(key), spec.default)}" for key, spec in signature.attributes.items()
        ]
        for k, operand in enumerate(graph.operands[node]):
            if (
                operand >= 0 and graph.op[operand] is CONST
                and (value := np.asarray(graph.value(operand))).dtype.kind in "if" and value.size <= 16
            ):
                found.append(f"{name} {k} {_way(tuple(value.reshape(-1).tolist()), None)}")
    return found


def _way(value: object, default: object) -> str:
    if isinstance(value, (str, bool)):
        return str(value)
    if value is None or value == default:
        return "default"
    numbers = [v for v in (value if isinstance(value, tuple) else (value,)) if isinstance(v, (int, float))]
    kinds = ["zero"] * any(v == 0 for v in numbers) + ["negative"] * any(v < 0 for v in numbers)
    return " and ".join(kinds) or "positive"
