"""`op` declarations → signatures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, cast

from gslang.base.diagnostics import Diagnostic, Label
from gslang.base.suggest import did_you_mean
from gslang.dialect.declared_types import OPERAND_TYPES, TypeReader, optional_parts
from gslang.dialect.domain import Anything, Domain, Exactly, OneOf, contains
from gslang.dialect.domain_text import domain_text
from gslang.dialect.plain_types import plain_types
from gslang.dialect.signature import REQUIRED, TRAITS, AttributeSpec, OperandSpec, Signature
from gslang.syntax import nodes as n

_OF_TWO: Final = ("binary", "commutative", "associative")


def signature_of(decl: n.OpDecl) -> tuple[Signature, list[Diagnostic]]:
    """The signature of a declaration, and what is wrong with it (what is right still counts)."""
    found: list[Diagnostic] = []

    def error(message: str, node: n.Node, help: str | None = None) -> None:
        found.append(Diagnostic("E0308", message, Label(node.span), help=help))

    operands: list[OperandSpec] = []
    attributes: dict[str, AttributeSpec] = {}
    names: set[str] = set()
    for parameter in decl.parameters:
        if parameter.name.id in names:
            error(f"`{parameter.name.id}` is declared twice", parameter, "choose another name")
        names.add(parameter.name.id)
    reader = TypeReader(
        (p.name.id for p in decl.parameters if operand_type(p) is not None),
        (p.name.id for p in decl.parameters if any(not _is_operand(t) for t in p.types)), error,
    )  # fmt: skip
    for parameter in decl.parameters:
        name, operand = parameter.name.id, operand_type(parameter)
        if operand is not None and operand[0].name not in OPERAND_TYPES:
            kind_of = operand[0].name.lower()
            error(f"unknown type `{operand[0].name}`", operand[0], f"did you mean `{kind_of}`?")
        spec = _attribute(parameter, reader, error)
        if operand is not None:
            kind, optional = operand
            dtypes, absent = reader.classes(kind.arguments), optional or spec is not None
            operands.append(
                OperandSpec(name, kind.name.lower(), absent, parameter.variadic, spec, dtypes)
            )
        elif spec is not None:
            attributes[name] = spec
    for trait in decl.traits:
        if trait.id not in TRAITS:
            guess = did_you_mean(trait.id, TRAITS)
            error(
                f"unknown trait `{trait.id}`", trait,
                f"did you mean `{guess}`?" if guess else f"traits: {', '.join(sorted(TRAITS))}",
            )
        if trait.id in _OF_TWO and len(operands) < 2 and not any(o.variadic for o in operands):
            error(
                f"an operator with fewer than two operands is not {trait.id}", trait,
                "remove the trait, or declare the second operand",
            )
    results: tuple[str, ...] | str
    if decl.several:
        results = tuple(_result_kind(r, error) for r in decl.results)
    else:
        results = _result_kind(decl.results[0], error)
    defaults = {name: spec.default for name, spec in attributes.items() if spec.default is not REQUIRED}
    defaults.update(
        {o.name: o.attribute.default for o in operands if o.attribute and o.attribute.default is not REQUIRED}
    )
    signature = Signature(
        decl.name.id, tuple(operands), attributes, results,
        frozenset(t.id for t in decl.traits if t.id in TRAITS), decl.name.span, decl.doc or "", None,
        defaults,
    )
    return signature, found


class NotConstant:
    """In place of a value: there is an expression, or nothing that fits."""


def constant(expr: n.Expr) -> Any:
    """The value of an expression made of literals, else a `NotConstant`."""
    match expr:
        case n.Literal(value):
            return value
        case n.Unary("-", n.Literal(value)) if isinstance(value, (int, float)):
            return -value
        case n.TupleExpr(items):
            parts = tuple(constant(item) for item in items)
            return NotConstant() if any(isinstance(part, NotConstant) for part in parts) else parts
    return NotConstant()


def operand_type(parameter: n.Parameter) -> tuple[n.TypeName, bool] | None:
    """`tensor` or `tuple` among a parameter's types, and whether it is optional; None for an attribute."""
    found = next((pair for pair in optional_parts(parameter.types) if _is_operand(pair[0])), None)
    return None if found is None else (cast(n.TypeName, found[0]), found[1])


def _is_operand(type: n.DeclaredType) -> bool:
    inner = type.item if isinstance(type, n.TypeOptional) else type
    return isinstance(inner, n.TypeName) and inner.name.lower() in OPERAND_TYPES


def _attribute(
    parameter: n.Parameter, reader: TypeReader, error: Callable[..., None]
) -> AttributeSpec | None:
    """A parameter as an attribute; None for one that is an operand only."""
    types = [type for type in parameter.types if not _is_operand(type)]
    if not types:
        return None
    name, domain = parameter.name.id, reader.union(types)
    default = REQUIRED if parameter.default is None else constant(parameter.default)
    if isinstance(default, NotConstant):
        error(f"the default of `{name}` is not a constant", parameter)
        default = REQUIRED
    if default == "":
        domain = _with_empty_dtype(domain)
    if default is not REQUIRED and contains(domain, default) is False:
        error(
            f"the default of `{name}` does not match its type", parameter,
            f"declared: `{domain_text(domain)}`",
        )
    return AttributeSpec(name, plain_types(domain), default, domain)


def _with_empty_dtype(domain: Domain) -> Domain:
    """`dtype = ""` stands for `"" | dtype = ""`: where no data type is given, it is that of the operands."""
    parts = domain.parts if isinstance(domain, OneOf) else (domain,)
    if Exactly("") in parts or not any(isinstance(part, Anything) and part.base == "dtype" for part in parts):
        return domain
    return OneOf((Exactly(""), *parts))


def _result_kind(type: n.DeclaredType, error: Callable[..., None]) -> str:
    inner = type.item if isinstance(type, n.TypeOptional) else type
    name = inner.name if isinstance(inner, n.TypeName) else ""
    if name not in OPERAND_TYPES:
        error(
            f"a result is a `tensor` or a `tuple`, not `{type.span.text}`", type,
            "write `-> tensor`, or, for several results, `-> (tensor, tensor)`",
        )
        return "tensor"  # as most results are: calls are then told their own errors only
    return name + ("?" if isinstance(type, n.TypeOptional) else "")
