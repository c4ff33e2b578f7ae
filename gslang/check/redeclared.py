"""Declarations of operators in rule files, also of operators that the dialect has.

A file may redeclare an operator of its dialect to add what the dialect does not know. All else stays, since
graphs rely on it: what they leave out has the dialect's defaults, and what they state may be anything in the
dialect's domains, for which rules must hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from gslang.base.diagnostics import Diagnostic, Label
from gslang.check.meaning import check_meaning
from gslang.dialect.declarations import signature_of
from gslang.dialect.dialect import Dialect
from gslang.dialect.domain_text import domain_text, value_text
from gslang.dialect.dtypes import shown_classes
from gslang.dialect.load import load_dialect
from gslang.dialect.plain_types import domain_of
from gslang.dialect.signature import REQUIRED, AttributeSpec, OperandSpec, Signature
from gslang.syntax import nodes as n


def declared(
    item: n.OpDecl, dialect: Dialect, functions: Mapping[str, n.FnDecl | n.ParamDecl], names: Iterable[str]
) -> tuple[Signature, list[Diagnostic]]:
    """The signature of a file's declaration, with its meaning; and all findings.

    `dialect` has the operators declared so far, without this one; `names`: of all that the file declares.
    """
    signature, found = signature_of(item)
    meaning, more = check_meaning(item, signature, dialect, functions, names)
    found += more
    known = load_dialect(dialect.name).get(signature.name)
    if known is not None:
        places = {parameter.name.id: parameter.span for parameter in item.parameters}
        for name, message in _contradictions(signature, known):
            found.append(Diagnostic(
                "E0308", message, Label(places.get(name, item.name.span)),
                help=f"choose another name; `gslc ops {known.name}` shows the dialect's declaration",
            ))
        signature = _completed(signature, known, meaning is not None)
    return replace(signature, meaning=meaning), found


def _completed(own: Signature, known: Signature, has_meaning: bool) -> Signature:
    """The declaration with the domains and data types that the dialect states."""
    operands = (*known.operands, *own.operands[len(known.operands) :])
    attributes = {**known.attributes, **own.attributes, **known.attributes}
    adds = (
        has_meaning or len(operands) > len(known.operands) or len(attributes) > len(known.attributes)
        or not own.traits <= known.traits
    )
    return replace(
        own, operands=operands, attributes=attributes, defaults={**own.defaults, **known.defaults},
        departs=adds,
    )


def _contradictions(own: Signature, known: Signature) -> Iterator[tuple[str, str]]:
    """The contradictions to the dialect's declaration: the name of a parameter or nothing, and a message."""
    name = known.name
    if own.results != known.results:
        results = known.results if isinstance(known.results, str) else f"({', '.join(known.results)})"
        yield "", f"`{name}` of the dialect has the result `{results}`"
    if known.traits & {"stateful"} - own.traits:
        yield "", f"`{name}` of the dialect is `stateful`"
    for k, operand in enumerate(known.operands):
        given = own.operands[k] if k < len(own.operands) else None
        if given is None or not _agrees(given, operand):
            yield given.name if given else "", f"operand {k + 1} of `{name}` is `{operand}` in the dialect"
    for operand in own.operands[len(known.operands) :]:
        if not operand.optional:
            yield operand.name, f"`{operand.name}` must be optional, since `{name}` of the dialect lacks it"
    for spec in known.attributes.values():
        stated = own.attributes.get(spec.name)
        if stated is None:
            yield "", f"`{name}` of the dialect has an attribute `{spec.name}`, which is not declared here"
        else:
            yield from _about_attribute(name, stated, spec)


def _agrees(own: OperandSpec, known: OperandSpec) -> bool:
    """True if an operand is the dialect's. That it may stand as an attribute, and its data types, need not be
    repeated.
    """
    if (own.name, own.kind, own.optional, own.variadic) != (
        known.name, known.kind, known.optional, known.variadic
    ):
        return False
    if own.dtypes and set(shown_classes(own.dtypes)) != set(shown_classes(known.dtypes)):
        return False
    return own.attribute is None or (
        known.attribute is not None and _default(own.attribute) == _default(known.attribute)
    )


def _default(spec: AttributeSpec) -> tuple[type, object]:
    """A key of a default: `1`, `1.0` and `true` are different."""
    return type(spec.default), spec.default


def _about_attribute(name: str, own: AttributeSpec, known: AttributeSpec) -> Iterator[tuple[str, str]]:
    if _default(own) != _default(known):
        wanted = (
            "no default" if known.default is REQUIRED else f"the default {value_text(known.default)}"
        )
        yield own.name, f"attribute `{own.name}` of `{name}` has {wanted} in the dialect"
    elif own.domain != known.domain and (own.types != known.types or own.domain != domain_of(own.types)):
        yield own.name, f"attribute `{own.name}` of `{name}` is `{domain_text(known.domain)}` in the dialect"
