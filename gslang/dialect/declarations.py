"""`op` declarations → signatures."""

from __future__ import annotations

from typing import Any

from gslang.base.diagnostics import Diagnostic, Label
from gslang.base.suggest import did_you_mean
from gslang.dialect.signature import REQUIRED, TRAITS, AttributeSpec, AttributeType, OperandSpec, Signature
from gslang.syntax import nodes as n

ATTRIBUTE_TYPES = ("int", "float", "bool", "str", "dtype", "array", "graph")
OPERAND_TYPES = ("tensor", "tuple")


def signature_of(decl: n.OpDecl) -> tuple[Signature, list[Diagnostic]]:
    """The signature of a declaration, and what is wrong with it (what is right still counts)."""
    found: list[Diagnostic] = []

    def error(message: str, node: n.Node, help: str | None = None) -> None:
        found.append(Diagnostic("E0308", message, Label(node.span), help=help))

    operands: list[OperandSpec] = []
    attributes: dict[str, AttributeSpec] = {}
    names: set[str] = set()
    for parameter in decl.parameters:
        name = parameter.name.id
        if name in names:
            error(f"`{name}` is declared twice", parameter)
        names.add(name)
        for kind in parameter.types:
            if kind.name not in ATTRIBUTE_TYPES + OPERAND_TYPES:
                guess = did_you_mean(kind.name, ATTRIBUTE_TYPES + OPERAND_TYPES)
                error(f"unknown type `{kind.name}`", kind, f"did you mean `{guess}`?" if guess else f"types: {', '.join(OPERAND_TYPES + ATTRIBUTE_TYPES)}")
        operand_kinds = [kind for kind in parameter.types if kind.name in OPERAND_TYPES]
        value_kinds = tuple(AttributeType(k.name, k.depth, k.optional) for k in parameter.types if k.name not in OPERAND_TYPES)
        default = REQUIRED if parameter.default is None else _constant(parameter.default)
        spec = AttributeSpec(name, value_kinds, default) if value_kinds else None
        if spec is not None and default is not REQUIRED and not isinstance(default, _NotConstant):
            if not _fits(default, value_kinds):
                error(f"the default of `{name}` does not fit its type", parameter)
        if isinstance(default, _NotConstant):
            error(f"the default of `{name}` is no constant", parameter)
        if operand_kinds:
            optional = operand_kinds[0].optional or spec is not None
            operands.append(OperandSpec(name, operand_kinds[0].name, optional, parameter.variadic, spec))
        elif spec is not None:
            attributes[name] = spec
    for trait in decl.traits:
        if trait.id not in TRAITS:
            guess = did_you_mean(trait.id, TRAITS)
            error(f"unknown trait `{trait.id}`", trait, f"did you mean `{guess}`?" if guess else f"traits: {', '.join(sorted(TRAITS))}")
    results: tuple[str, ...] | str
    if decl.several:
        results = tuple(r.name + ("?" if r.optional else "") for r in decl.results)
    else:
        results = decl.results[0].name
    for result in decl.results:
        if result.name not in OPERAND_TYPES:
            error(f"a result is a `tensor` or a `tuple`, not `{result.name}`", result)
    defaults = {name: spec.default for name, spec in attributes.items() if spec.default is not REQUIRED}
    defaults.update({o.name: o.attribute.default for o in operands if o.attribute and o.attribute.default is not REQUIRED})
    signature = Signature(
        decl.name.id, tuple(operands), attributes, results, frozenset(t.id for t in decl.traits if t.id in TRAITS),
        decl.name.span, decl.doc or "", None, defaults,
    )  # fmt: skip
    return signature, found


class _NotConstant:
    """The default is an expression."""


def _constant(expr: n.Expr) -> Any:
    match expr:
        case n.Literal(value):
            return value
        case n.TupleExpr(items):
            return tuple(_constant(item) for item in items)
    return _NotConstant()


def _fits(value: Any, types: tuple[AttributeType, ...]) -> bool:
    def fits(item: Any, base: str, depth: int, optional: bool) -> bool:
        if item is None:
            return optional
        if depth:
            return isinstance(item, tuple) and all(fits(part, base, depth - 1, False) for part in item)
        if base == "float":
            return isinstance(item, (int, float)) and not isinstance(item, bool)
        return type(item).__name__ == {"dtype": "str"}.get(base, base) or base in ("array", "graph")

    return any(fits(value, t.base, t.depth, t.optional) for t in types)
