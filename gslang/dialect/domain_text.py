"""Domains and values of attributes as they are written in declarations."""

from __future__ import annotations

from gslang.dialect.bounds import Bound, bound_text
from gslang.dialect.domain import Anything, Domain, Exactly, Interval, Layout, ListOf, OneOf, TupleOf


def domain_text(domain: Domain) -> str:
    """The domain as a declaration writes it."""
    match domain:
        case Exactly(value):
            return value_text(value)
        case Interval():
            return _interval_text(domain)
        case Anything(base, classes):
            return base + (f"({' | '.join(classes)})" if classes else "")
        case Layout(usual):
            return f"layout({' | '.join(map(value_text, usual))})"
        case TupleOf(items):
            return f"({', '.join(map(domain_text, items))})"
        case ListOf(item, lengths, distinct):
            inner = domain_text(item)
            if distinct:
                inner = f"distinct({inner})"
            elif isinstance(item, OneOf) or isinstance(item, Interval) and " " in inner:
                inner = f"({inner})"
            return f"{inner}[{' | '.join(map(_length_text, lengths))}]"
        case OneOf((first, Exactly(None))) if not isinstance(first, (Exactly, OneOf)):
            inner = domain_text(first)
            return f"({inner})?" if isinstance(first, Interval) and " " in inner else f"{inner}?"
        case OneOf(parts):
            return " | ".join(map(domain_text, parts))


def _interval_text(domain: Interval) -> str:
    lower = None if domain.lower is None else bound_text(domain.lower)
    upper = None if domain.upper is None else bound_text(domain.upper)
    if lower is not None and upper is not None:
        return (
            f"{domain.base} in {lower} ..< {upper}" if domain.below else f"{domain.base} in {lower}..{upper}"
        )
    if lower is not None:
        return f"{domain.base} {'>' if domain.above else '>='} {lower}"
    return domain.base if upper is None else f"{domain.base} {'<' if domain.below else '<='} {upper}"


def _length_text(length: Bound | tuple[int, int | None]) -> str:
    if isinstance(length, tuple):
        return f"{length[0]}..{'' if length[1] is None else length[1]}"
    return bound_text(length)


def value_text(value: object) -> str:
    """A value as the language writes it."""
    match value:
        case None:
            return "none"
        case bool():
            return "true" if value else "false"
        case str():
            return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        case tuple():
            return "(" + ", ".join(map(value_text, value)) + ("," if len(value) == 1 else "") + ")"
    return str(value)
