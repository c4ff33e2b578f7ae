"""Comparison of two graphs up to the names and numbers of their nodes, and operator counts."""

from __future__ import annotations

from typing import Any

from gslang.dialect.dialect import Dialect
from gslang.graph.graph import CONST, INPUT, PARAM, PROJ, TUPLE, Graph
from gslang.graph.inference import contradiction


def differences(a: Graph, b: Graph, dialect: Dialect | None = None, *, limit: int = 10, params_by_name: bool = True) -> list[str]:
    """Where two graphs differ, output by output; empty if they are equal.

    Walks both from the outputs in lock-step; the pairing of nodes must be one-to-one, so sharing counts. Attributes are
    completed with the dialect's defaults, floats compare after rounding to float32, constants bit for bit.
    """
    found: list[str] = []
    if len(a.outputs) != len(b.outputs):
        return [f"{len(a.outputs)} outputs against {len(b.outputs)}"]
    there: dict[int, int] = {}
    back: dict[int, int] = {}
    stack = [(x, y, f"output {k}") for k, (x, y) in enumerate(zip(a.outputs, b.outputs))][::-1]
    while stack and len(found) < limit:
        x, y, path = stack.pop()
        if x < 0 or y < 0:
            if x != y:
                found.append(f"{path}: an absent operand against a present one")
            continue
        if x in there or y in back:
            if there.get(x) != y or back.get(y) != x:
                found.append(f"{path}: {a.label(x)} and {b.label(y)} are shared differently")
            continue
        there[x], back[y] = y, x
        why = _different(a, x, b, y, dialect, params_by_name)
        if why:
            found.append(f"{path}: {why}")
            continue
        below = list(zip(a.operands[x], b.operands[y]))
        stack += [(p, q, f"{path} ‹ {a.op[x].lstrip('%')} operand {k}") for k, (p, q) in enumerate(below)][::-1]
    return found


def _different(a: Graph, x: int, b: Graph, y: int, dialect: Dialect | None, by_name: bool) -> str | None:
    if a.op[x] != b.op[y]:
        return f"{a.op[x].lstrip('%')} against {b.op[y].lstrip('%')}"
    left, right = _trimmed(a.operands[x]), _trimmed(b.operands[y])
    if len(left) != len(right):
        return f"{a.op[x]} with {len(left)} operands against {len(right)}"
    if a.op[x] in (INPUT, PARAM) and by_name and a.names[x] != b.names[y]:
        return f"{a.label(x)} against {b.label(y)}"
    why = contradiction(a.types[x], b.types[y])
    if why:
        return f"{a.label(x)}: {why}"
    if a.op[x] in (CONST, PARAM):
        return _different_values(a, x, b, y)
    if a.op[x] == PROJ or a.op[x] not in (INPUT, TUPLE):
        one, other = _complete(a, x, dialect), _complete(b, y, dialect)
        for name in sorted({*one, *other}):
            if name not in one or name not in other or not _equal(one[name], other[name]):
                return f"{a.op[x].lstrip('%')}: `{name}` is {one.get(name, 'missing')!r} against {other.get(name, 'missing')!r}"
    return None


def _trimmed(operands: tuple[int, ...]) -> tuple[int, ...]:
    """Without absent trailing operands."""
    end = len(operands)
    while end and operands[end - 1] < 0:
        end -= 1
    return operands[:end]


def _complete(graph: Graph, node: int, dialect: Dialect | None) -> dict[str, Any]:
    signature = dialect.get(graph.op[node]) if dialect is not None else None
    given = graph.attrs[node]
    return signature.complete(given) if signature is not None else dict(given)


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(_equal(x, y) for x, y in zip(a, b))
    if isinstance(a, float) or isinstance(b, float):
        if not isinstance(a, (int, float)) or not isinstance(b, (int, float)):
            return False
        if a == b or a != a and b != b:
            return True
        import struct

        try:
            return struct.pack("f", a) == struct.pack("f", b)
        except OverflowError:
            return False
    if hasattr(a, "dtype") or hasattr(b, "dtype"):
        import numpy

        return bool(numpy.array_equal(a, b))
    return type(a) is type(b) and bool(a == b)


def _different_values(a: Graph, x: int, b: Graph, y: int) -> str | None:
    if (x in a.values) != (y in b.values):
        return f"{a.label(x)} has a value on one side only"
    if x not in a.values:
        return None
    one, other = a.value(x), b.value(y)
    if one.shape != other.shape or one.dtype != other.dtype or one.tobytes() != other.tobytes():
        return f"constants {a.label(x)} and {b.label(y)} have different values"
    return None


def count_operators(graph: Graph) -> dict[str, int]:
    """Reachable nodes: calls by operator, and "variables", "constants", "tuples", "projections"."""
    names = {INPUT: "variables", PARAM: "variables", CONST: "constants", TUPLE: "tuples", PROJ: "projections"}
    counts: dict[str, int] = {}
    for node in graph.reverse_post_order():
        name = names.get(graph.op[node], graph.op[node])
        counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items()))


def count_calls(graph: Graph) -> dict[str, int]:
    """Reachable calls by operator."""
    others = ("variables", "constants", "tuples", "projections")
    return {name: count for name, count in count_operators(graph).items() if name not in others}
