"""`cse`: equal calls become one. Equal: operator, operands, attributes completed with their defaults, and
what is attached. Bodies are equal if they compute the same, whatever the names in them.

Small constants count as the same operand if they are the same bytes; large ones only if they are one node.
"""

from __future__ import annotations

from collections.abc import Mapping

from gslang.dialect.dialect import Dialect
from gslang.dialect.signature import Signature
from gslang.graph.annotations import annotations_of
from gslang.graph.graph import CONST, LEAVES, Graph

_SMALL = 1024  # bytes of a constant that is compared by value


def merge_equal_calls(graph: Graph, dialect: Dialect) -> int:
    """Merge calls, tuples and projections that compute the same; stateful operators stay apart. Returns how
    many went.

    One walk in order suffices: when a node is met, its operands are merged already.
    """
    seen: dict[object, int] = {}
    gone = 0
    same = _equal_constants(graph)
    for node in list(graph.ordered()):
        op = graph.op[node]
        signature = None if op in LEAVES else dialect.get(op)
        attrs = graph.attrs[node]
        if op in LEAVES or graph.is_call(node) and _has_state(dialect, op, attrs):
            continue
        complete = signature.complete(attrs) if signature is not None else attrs
        try:
            operands = tuple([same.get(o, o) for o in graph.operands[node]]) if same else graph.operands[node]
            attached = tuple(sorted(annotations_of(graph, node).items()))
            key = (
                op, operands, tuple(sorted((name, _key(value)) for name, value in complete.items())),
                attached,
            )
            first = seen.setdefault(key, node)
        except TypeError:  # an attribute that has no hash or no order: not worth merging
            continue
        if first != node:
            graph.replace_uses({node: first})
            graph.remove_dead([node])
            gone += 1
    return gone


def _has_state(dialect: Dialect, operator: str, attrs: Mapping[str, object]) -> bool:
    """True if a call is no function of its operands, as far as that is known; a call with bodies is one if
    the calls in them are."""
    signature = dialect.get(operator)
    if signature is None:
        return True
    if "stateful" not in signature.traits:
        return False
    if not _has_bodies(signature):
        return True
    parts = [part for value in attrs.values() for part in (value if isinstance(value, tuple) else (value,))]
    return any(
        (inner := dialect.get(name)) is None or "stateful" in inner.traits and not _has_bodies(inner)
        for part in parts if hasattr(part, "calls")
        for name, _ in part.calls()
    )


def _has_bodies(signature: Signature) -> bool:
    return any(kind.base == "graph" for spec in signature.attributes.values() for kind in spec.types)


def _equal_constants(graph: Graph) -> dict[int, int]:
    """Small constants → the first one with the same type and bytes, where that is another."""
    first: dict[object, int] = {}
    same: dict[int, int] = {}
    for node, value in graph.values.items():
        if graph.op[node] is CONST and getattr(value, "nbytes", _SMALL + 1) <= _SMALL:
            array = graph.value(node)  # a lazy handle is loaded
            if array.dtype.kind == "O":
                continue
            known = first.setdefault((array.dtype.str, array.shape, array.tobytes(), graph.types[node]), node)
            if known != node:
                same[node] = known
    return same


def _key(value: object) -> object:
    """Equal values have equal keys, and values of different types never do (`1`, `1.0` and `True` are
    different).
    """
    if hasattr(value, "meaning"):
        return ("body", value.meaning)
    if isinstance(value, tuple):
        return ("tuple", tuple(_key(item) for item in value))
    return (type(value).__name__, repr(value) if isinstance(value, float) else value)
