"""Plain types (`int`, a list of floats) → the domains of all their values, and back."""

from __future__ import annotations

from collections.abc import Sequence

from gslang.dialect.domain import Anything, Domain, Exactly, Interval, Layout, ListOf, OneOf, TupleOf
from gslang.dialect.signature import AttributeType


def domain_of(types: Sequence[AttributeType]) -> Domain:
    """Every value of these types."""
    parts: list[Domain] = []
    for type in types:
        part: Domain = Interval(type.base) if type.base in ("int", "float") else Anything(type.base)
        for _ in range(type.depth):
            part = ListOf(part)
        parts.append(part)
    if any(type.optional for type in types):
        parts.append(Exactly(None))
    return parts[0] if len(parts) == 1 else OneOf(tuple(parts))


def plain_types(domain: Domain) -> tuple[AttributeType, ...]:
    """The types that hold a domain's values, without what is said about them."""
    parts = domain.parts if isinstance(domain, OneOf) else (domain,)
    optional = Exactly(None) in parts
    found = dict.fromkeys(plain for part in parts if part != Exactly(None) for plain in _plain(part))
    bases = {base for base, depth in found if not depth}
    if {"dtype", "str"} <= bases:  # `"" | dtype`
        found.pop(("str", 0))
    if {"float", "int"} <= bases and all(isinstance(p, Exactly) for p in parts if _plain(p) == [("int", 0)]):
        found.pop(("int", 0))
    return tuple(AttributeType(base, depth, optional) for base, depth in found) or (
        AttributeType("int", 0, True),
    )


def _plain(domain: Domain) -> list[tuple[str, int]]:
    match domain:
        case Exactly(value):
            return [({bool: "bool", int: "int", float: "float", str: "str"}.get(type(value), "int"), 0)]
        case Interval(base) | Anything(base):
            return [(base, 0)]
        case Layout():
            return [("str", 0)]
        case ListOf(item):
            return [(base, depth + 1) for base, depth in _plain(item)]
        case TupleOf(items):
            return list(dict.fromkeys((base, depth + 1) for item in items for base, depth in _plain(item)))
        case OneOf(parts):
            return list(
                dict.fromkeys(plain for part in parts if part != Exactly(None) for plain in _plain(part))
            )
