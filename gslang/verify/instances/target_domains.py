"""Attributes that are none of the values that an operator has: a target may compute them, and a source may
have them where a size that bounds them is another one than it was.
"""

from __future__ import annotations

from gslang.dialect.dialect import Dialect
from gslang.dialect.domain import Domain, Exactly, OneOf, contains
from gslang.dialect.domain_text import domain_text, value_text
from gslang.graph.graph import Graph


def outside_domain(graph: Graph, dialect: Dialect, first: int) -> str | None:
    """The reason why a call among the nodes from `first` on means nothing: an attribute that has a few values
    is given another one; None where there is no such call. Ranges are not looked at: they are those of usual
    calls.
    """
    for node in graph.reverse_post_order():
        signature = dialect.get(graph.op[node]) if node >= first else None
        if signature is None:
            continue
        for name, value in graph.attrs[node].items():
            spec = signature.attributes.get(name)
            if spec is not None and _is_listed(spec.domain) and contains(spec.domain, value) is False:
                return (
                    f"`{name}` of `{graph.op[node]}` would be {value_text(value)}, "
                    f"but its declared values are {domain_text(spec.domain)}"
                )
    return None


def undeclared_value(graph: Graph, dialect: Dialect) -> str | None:
    """The reason why a file's declaration says nothing about a call: an attribute is none of the values that
    it has there, ranges and sizes included; None where all are.
    """
    for node in graph.nodes():
        signature = dialect.get(graph.op[node])
        if signature is None or signature.meaning is None:
            continue
        types = tuple([graph.types[o] if o >= 0 else None for o in graph.operands[node]])
        told = signature.call(types, graph.attrs[node])
        for name, value in signature.complete(graph.attrs[node]).items():
            if contains(signature.attributes[name].domain, value, told) is False:
                return f"`{name}` of `{graph.op[node]}` would be {value_text(value)}"
    return None


def _is_listed(domain: Domain) -> bool:
    match domain:
        case OneOf(parts):
            return all(map(_is_listed, parts))
    return isinstance(domain, Exactly)
