"""Attribute values in a graph that their operators never have: each is worth a warning, since the file may
come from elsewhere.
"""

from __future__ import annotations

from typing import Final

from gslang.base.suggest import did_you_mean
from gslang.dialect.dialect import Dialect
from gslang.dialect.domain import contains, literals
from gslang.dialect.domain_text import domain_text, value_text
from gslang.dialect.signature import AttributeSpec
from gslang.graph.graph import Graph

_PLAIN: Final = (bool, int, float, str, tuple, type(None))


def values_outside(graph: Graph, dialect: Dialect) -> list[str]:
    """A warning for each value, once for each operator and attribute, that lies outside the declared domain.
    """
    known: dict[tuple[str, str, str], bool | None] = {}
    found: dict[tuple[str, str, str], str] = {}
    seen: set[tuple[object, ...]] = set()  # layers repeat, and share attributes and types
    all_types = graph.types
    for node, op in enumerate(graph.op):
        if not graph.attrs[node]:
            continue
        alike = (
            op,
            id(graph.attrs[node]),
            *[id(all_types[o]) if o >= 0 else 0 for o in graph.operands[node]],
        )
        signature = dialect.operators.get(op)
        if signature is None or alike in seen:
            continue
        seen.add(alike)
        for name, value in graph.attrs[node].items():
            spec = signature.attributes.get(name)
            if (
                spec is None or not isinstance(value, _PLAIN) or name in signature.defaults
                and value == signature.defaults[name]
            ):
                continue
            key = (op, name, repr(value))
            if key not in known:
                known[key] = contains(spec.domain, value)
            fits = known[key]
            if fits is None and key not in found:
                types = tuple([graph.types[o] if o >= 0 else None for o in graph.operands[node]])
                fits = contains(spec.domain, value, signature.call(types, graph.attrs[node]))
            if fits is False and key not in found:
                found[key] = (
                    f"`{op}` of `{graph.label(node)}`: `{name}` cannot be `{value_text(value)}`; "
                    f"{_mend(value, spec)}"
                )
    return list(found.values())


def _mend(value: object, spec: AttributeSpec) -> str:
    known = [text for text in literals(spec.domain) if isinstance(text, str)]
    guess = did_you_mean(value, known) if isinstance(value, str) else None
    return f"did you mean `{value_text(guess)}`?" if guess else f"declared: `{domain_text(spec.domain)}`"
