"""ONNX's operators as signatures: the newest version of every operator of every domain, without the `onnx`
package.

Graphs are in the newest version's terms; where a model's version differs (a default, an operand that was an
attribute), `versions` says how. Operators of the default domain have no prefix (`Conv`), others have their
domain (`ai.onnx.ml.Scaler`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from gslang.dialect.domain import Domain, Exactly, OneOf
from gslang.dialect.onnx.dtypes import DTYPES
from gslang.dialect.onnx.traits import traits_of
from gslang.dialect.onnx.versions import Version, former, history
from gslang.dialect.plain_types import domain_of
from gslang.dialect.signature import REQUIRED, AttributeSpec, AttributeType, OperandSpec, Signature

_TYPES: Final = {
    "INT": ("int", 0),
    "FLOAT": ("float", 0),
    "STRING": ("str", 0),
    "TENSOR": ("tensor", 0),
    "GRAPH": ("graph", 0),
    "INTS": ("int", 1),
    "FLOATS": ("float", 1),
    "STRINGS": ("str", 1),
    "TENSORS": ("tensor", 1),
    "GRAPHS": ("graph", 1),
}


Domains = Mapping[str, Mapping[str, Domain]]


def operator_name(domain: str, type: str) -> str:
    return type if domain in ("", "ai.onnx") else f"{domain}.{type}"


def split_name(operator: str) -> tuple[str, str]:
    """`com.microsoft.Gelu` → ("com.microsoft", "Gelu"); `ai.onnx.v11.Softmax`, an old meaning, → ("",
    "Softmax").
    """
    domain, _, type = operator.rpartition(".")
    return "" if opset_of_name(operator) is not None else domain, type


def opset_of_name(operator: str) -> int | None:
    """`ai.onnx.v11.Softmax` → 11: the operator set in which an operator means what it does; None for today's
    meaning.
    """
    domain = operator.rpartition(".")[0]
    return int(domain[9:]) if domain.startswith("ai.onnx.v") and domain[9:].isdigit() else None


def declared_domains() -> str:
    """The text of `domains.gsl`: what schemas do not say."""
    return Path(__file__).with_name("domains.gsl").read_text(encoding="utf-8")


def read_domains() -> Domains:
    """Operator → attribute → domain, of those in `domains.gsl`."""
    from gslang.dialect.shipped import declared_operators

    found = declared_operators("gslang/dialect/onnx/domains.gsl", declared_domains())
    return {
        signature.name: {name: spec.domain for name, spec in signature.attributes.items()}
        for signature in found
    }


def signature_of(name: str, domains: Domains) -> Signature:
    """The signature of an operator of ONNX's own. Raises `KeyError`."""
    versions, doc = history().operators[name], history().docs[name]
    return _signature(name, versions, doc, domains.get(name, {}))


def _signature(
    name: str, versions: tuple[Version, ...], doc: str, domains: Mapping[str, Domain]
) -> Signature:
    operator, now = name.rpartition(".")[2], versions[-1]
    attributes = {key: _with_domain(_attribute(operator, key, now), domains) for key in now.kinds}
    older = {key: version for version in versions[:-1] for key in version.kinds}
    operands = [_operand(operator, now, k, older, domains) for k in range(len(now.operands))]
    bodies = any(t.base == "graph" for spec in attributes.values() for t in spec.types)
    if bodies and "*" not in now.options:
        operands.append(OperandSpec("captured", variadic=True))
    results: tuple[str, ...] | str = "tuple" if now.many else "tensor"
    if len(now.results) > 1 and not now.many:
        results = tuple([f"tensor{option}" for option in now.results])
    defaults = {key: spec.default for key, spec in attributes.items() if spec.default is not REQUIRED}
    defaults.update({o.name: o.attribute.default for o in operands if o.attribute is not None})
    return Signature(name, tuple(operands), attributes, results, traits_of(name), None, doc, None, defaults)


def _operand(
    operator: str, now: Version, k: int, older: dict[str, Version], domains: Mapping[str, Domain]
) -> OperandSpec:
    """`older`: attribute → the last version before this one that has it."""
    name, variadic = now.operands[k], now.options[k] == "*"
    spec = None
    before = former(operator, name, older)
    if before is not None and not variadic:
        was = _attribute(operator, before, older[before])
        types = tuple(AttributeType(t.base, t.depth, True) for t in was.types)
        spec = _with_domain(AttributeSpec(name, types, None, domain_of(types)), domains)
    dtypes = tuple(sorted(now.types[k] or ()))
    return OperandSpec(name, "tensor", now.options[k] == "?" or spec is not None, variadic, spec, dtypes)


def _with_domain(spec: AttributeSpec, domains: Mapping[str, Domain]) -> AttributeSpec:
    """The attribute with its domain from `domains.gsl`, if it has one there; the schema says whether it may
    be absent.
    """
    domain = domains.get(spec.name)
    if domain is None:
        return spec
    if spec.default is None or any(t.optional for t in spec.types):
        domain = OneOf((*(domain.parts if isinstance(domain, OneOf) else (domain,)), Exactly(None)))
    return replace(spec, domain=domain)


def _attribute(operator: str, name: str, version: Version) -> AttributeSpec:
    base, depth = _TYPES.get(version.kinds[name], ("graph", 0))
    default: Any = version.defaults.get(name, REQUIRED)
    optional = default is None
    types: tuple[AttributeType, ...] = (AttributeType(base, depth, optional),)
    if (operator, name) in DTYPES:
        types = (AttributeType("dtype", 0, optional), AttributeType("int"))
    return AttributeSpec(name, types, default, domain_of(types))
