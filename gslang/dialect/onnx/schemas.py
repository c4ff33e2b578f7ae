"""Schemas of the `onnx` package → signatures: the newest version of every operator of every domain.

Graphs are in the newest version's terms; where a model's version differs (a default, an operand that was an attribute),
`versions` says how. Operators of the default domain have no prefix (`Conv`), others have their domain (`ai.onnx.ml.Scaler`).
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from gslang.dialect.onnx.attributes import DTYPES, attribute_value
from gslang.dialect.onnx.traits import traits_of
from gslang.dialect.onnx.versions import former
from gslang.dialect.onnx.versions import history as versions
from gslang.dialect.signature import REQUIRED, AttributeSpec, AttributeType, OperandSpec, Signature

_TYPES: Final = {
    "INT": ("int", 0), "FLOAT": ("float", 0), "STRING": ("str", 0), "TENSOR": ("tensor", 0), "GRAPH": ("graph", 0),
    "INTS": ("int", 1), "FLOATS": ("float", 1), "STRINGS": ("str", 1), "TENSORS": ("tensor", 1), "GRAPHS": ("graph", 1),
}  # fmt: skip


def operator_name(domain: str, type: str) -> str:
    return type if domain in ("", "ai.onnx") else f"{domain}.{type}"


def split_name(operator: str) -> tuple[str, str]:
    """`com.microsoft.Gelu` → ("com.microsoft", "Gelu"); `ai.onnx.v11.Softmax`, an old meaning, → ("", "Softmax")."""
    domain, _, type = operator.rpartition(".")
    return "" if opset_of_name(operator) is not None else domain, type


def opset_of_name(operator: str) -> int | None:
    """`ai.onnx.v11.Softmax` → 11: the operator set in which an operator means what it does; None for today's meaning."""
    domain = operator.rpartition(".")[0]
    return int(domain[9:]) if domain.startswith("ai.onnx.v") and domain[9:].isdigit() else None


@cache
def history() -> dict[str, tuple[Any, ...]]:
    """Operator → its schemas, oldest first, without deprecations."""
    import onnx.defs

    found: dict[str, list[Any]] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if not schema.deprecated:
            found.setdefault(operator_name(schema.domain, schema.name), []).append(schema)
    return {name: tuple(sorted(found[name], key=lambda s: s.since_version)) for name in sorted(found)}


@cache
def newest(operator: str) -> Any:
    """The newest schema, or None. One schema is asked for: all of them take a while."""
    found = versions().operators.get(operator)
    return _schema(operator, found[-1].since) if found else None


@cache
def schema_at(operator: str, version: int) -> Any:
    """The schema in force in a version of the operator's domain, or None."""
    found = next((v for v in reversed(versions().operators.get(operator, ())) if v.since <= version), None)
    return _schema(operator, found.since) if found is not None else None


@cache
def _schema(operator: str, since: int) -> Any:
    import onnx.defs

    domain, type = split_name(operator)
    return onnx.defs.get_schema(type, since, domain)


def signatures() -> list[Signature]:
    return [_signature(name, schemas) for name, schemas in history().items()]


def _signature(name: str, schemas: tuple[Any, ...]) -> Signature:
    schema = schemas[-1]
    attributes = {key: _attribute(schema.name, schema.attributes[key]) for key in sorted(schema.attributes)}
    older = {key: spec for old in schemas[:-1] for key, spec in old.attributes.items()}
    operands = [_operand(schema.name, formal, older) for formal in schema.inputs]
    bodies = any(t.base == "graph" for spec in attributes.values() for t in spec.types)
    if bodies and not any(o.variadic for o in operands):
        operands.append(OperandSpec("captured", variadic=True))
    several = len(schema.outputs) > 1
    variadic = any(f.option == f.option.Variadic for f in schema.outputs)
    results: tuple[str, ...] | str = "tuple" if variadic else "tensor"
    if several and not variadic:
        results = tuple("tensor?" if f.option == f.option.Optional else "tensor" for f in schema.outputs)
    traits = traits_of(name)
    defaults = {key: spec.default for key, spec in attributes.items() if spec.default is not REQUIRED}
    defaults.update({o.name: o.attribute.default for o in operands if o.attribute is not None})
    doc = (schema.doc or "").strip().split("\n\n")[0]
    return Signature(name, tuple(operands), attributes, results, traits, None, doc, None, defaults)


def _operand(operator: str, formal: Any, older: dict[str, Any]) -> OperandSpec:
    variadic = formal.option == formal.option.Variadic
    spec = None
    before = former(operator, formal.name, older)
    if before is not None and not variadic:
        was = _attribute(operator, older[before])
        spec = AttributeSpec(formal.name, tuple(AttributeType(t.base, t.depth, True) for t in was.types), None)
    optional = formal.option == formal.option.Optional or spec is not None
    return OperandSpec(formal.name, "tensor", optional, variadic, spec)


def _attribute(operator: str, spec: Any) -> AttributeSpec:
    base, depth = _TYPES.get(spec.type.name, ("graph", 0))
    default: Any = REQUIRED
    if spec.default_value.name or spec.default_value.type:
        default = attribute_value(spec.default_value, operator)
    elif not spec.required:
        default = None
    optional = default is None
    if (operator, spec.name) in DTYPES:
        return AttributeSpec(spec.name, (AttributeType("dtype", 0, optional), AttributeType("int")), default)
    return AttributeSpec(spec.name, (AttributeType(base, depth, optional),), default)
