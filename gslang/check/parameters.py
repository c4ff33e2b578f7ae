"""`param threshold: int = 64;`: values that the user of the rules may set."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from gslang.base.diagnostics import Diagnostic, Label
from gslang.check.values import type_of as type_of_value
from gslang.dialect.declarations import NotConstant, constant
from gslang.dialect.declared_types import TypeReader
from gslang.dialect.domain import contains
from gslang.dialect.domain_text import domain_text, value_text
from gslang.dialect.domain_values import choices
from gslang.syntax import nodes as n

ANY_VALUES: Final[Mapping[str, object]] = MappingProxyType({"": None})
"""Instead of values, for what runs no rules: each parameter without a default has some value of its type."""


def settled(item: n.ParamDecl, defines: Mapping[str, object], found: list[Diagnostic]) -> n.ParamDecl:
    """The declaration with the value that is given, else the default; what does not fit the declared type is
    reported, and the value is a `NotConstant` then: rules that read it are not looked at further.
    """
    before = len(found)

    def error(message: str, node: n.Node, help: str | None = None) -> None:
        found.append(Diagnostic("E0211", message, Label(node.span), help=help))

    name = item.name.id
    domain = TypeReader((), (), error, of_operator=False).union(item.types)
    default = None if item.default is None else constant(item.default)
    if item.default is not None and isinstance(default, NotConstant):
        error(
            f"the default of `{name}` is not a constant", item.default,
            "write a finite number, a string or a tuple of them",
        )
    elif item.default is not None and contains(domain, default) is False:
        error(
            f"the default of `{name}` does not match its type", item.default,
            f"declared: `{domain_text(domain)}`",
        )
    if name not in defines:
        if item.default is None and "" in defines:
            some = choices(domain)
            return replace(item, value=some[0] if some and len(found) == before else NotConstant())
        if item.default is None:
            error(f"`{name}` has no value", item.name, f"give it a default, or a value: `--define {name}=…`")
        return replace(item, value=default if len(found) == before else NotConstant())
    value = plain(defines[name])
    if not _is_finite(value):
        error(
            f"the value {value_text(value)} given for `{name}` is not finite", item.name,
            "numbers in rules are finite: at most about 1.8e308",
        )
    elif contains(domain, value) is False:
        error(
            f"the value {value_text(value)} given for `{name}` does not match its type", item.name,
            f"declared: `{domain_text(domain)}`",
        )
    return replace(item, value=value if len(found) == before else NotConstant())


def plain(value: object) -> object:
    """A value as rules have it: lists are tuples, and a table is a tuple of pairs (key, value)."""
    if isinstance(value, Mapping):
        return tuple((str(key), plain(part)) for key, part in value.items())
    return tuple(map(plain, value)) if isinstance(value, (list, tuple)) else value


def _is_finite(value: object) -> bool:
    """True unless a value is an infinite number or none (NaN), or has one inside."""
    if isinstance(value, tuple):
        return all(map(_is_finite, value))
    return not isinstance(value, float) or math.isfinite(value)


def type_of(item: n.ParamDecl) -> str:
    """The type of a parameter's value in expressions; `any` where another run may have another type."""
    return (
        type_of_value(item.value) if len(item.types) == 1 and not isinstance(item.types[0], n.TypeOptional)
        else "any"
    )
