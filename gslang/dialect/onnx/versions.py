"""What each version of an ONNX operator takes: operands, attributes, element types; and which operators a model's versions have.

Plain data, remembered between runs: asking does not load the `onnx` package. Not here: signatures (`schemas`).
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from gslang.base.cache import cached
from gslang.dialect.onnx.installed import installed_onnx

OPSETS: Final = "x-onnx-opsets"  # in `graph.meta`: domain → version that the model imports; absent: nothing is said

# Operands that were attributes of another name: operator, operand → names in older versions.
FORMER_NAMES: Final = {("TopK", "K"): ("k",), ("Pad", "pads"): ("paddings",), ("Pad", "constant_value"): ("value",)}

# Operands of one element, in a vector, that were numbers.
VECTORS: Final = frozenset({("TopK", "K")})

# Versions in which what an operator means has changed, with the same operands and attributes.
CHANGED_MEANING: Final = {
    **dict.fromkeys("Add And Div Equal Gemm Greater Less Mul Or PRelu Pow Sub Xor".split(), 7),  # broadcasting was stated
    **dict.fromkeys("Hardmax LogSoftmax Softmax".split(), 13),  # worked on a matrix
    "BatchNormalization": 14,  # trained where its results were read, or by `is_test`
    "Cast": 6,  # `to` was a text
    "DFT": 20,  # another axis where none is given
    "Dropout": 7,  # `is_test`
    "GroupNormalization": 21,  # scale and bias were per group
    "Resize": 11,  # took scales second, and another coordinate transformation
    "Scan": 9,  # had a batch dimension
    "Tile": 6,  # one axis
}


@dataclass(frozen=True, slots=True)
class Version:
    """One version of an operator. `kinds`: attribute → "INTS", "FLOAT", …. `many`: it has any number of results. `types[k]`: element types that operand k may have, None for any; `variables[k]`: operands
    with the same one have the same type. `defaults`: of its attributes, None for none."""

    since: int
    operands: tuple[str, ...]
    most: int
    attributes: tuple[str, ...]
    types: tuple[frozenset[str] | None, ...]
    variables: tuple[str, ...]
    defaults: Mapping[str, Any]
    kinds: Mapping[str, str]
    many: bool


@dataclass(frozen=True, slots=True)
class History:
    """`operators`: name → versions, oldest first. `gone`: name → version that dropped it. `latest`: the newest operator set."""

    operators: Mapping[str, tuple[Version, ...]]
    gone: Mapping[str, int]
    latest: int


@cache
def history() -> History:
    
    return cached("onnx-versions", (installed_onnx() or "",), _history)


def _history() -> History:
    import onnx.defs

    from gslang.dialect.onnx.schemas import history as schemas
    from gslang.dialect.onnx.schemas import operator_name

    operators = {name: tuple(map(_version, found)) for name, found in schemas().items()}
    dropped = [(operator_name(s.domain, s.name), s.since_version) for s in onnx.defs.get_all_schemas_with_history() if s.deprecated]
    gone = {name: since for name, since in dropped if name not in operators or operators[name][-1].since < since}
    return History(operators, gone, onnx.defs.onnx_opset_version())


def _version(schema: Any) -> Version:
    from gslang.dialect.onnx.attributes import attribute_value

    formals = schema.inputs
    specs = sorted(schema.attributes.items())
    defaults = {
        name: attribute_value(spec.default_value, schema.name) if spec.default_value.type else None
        for name, spec in specs if not spec.required
    }  # fmt: skip
    return Version(
        schema.since_version, tuple(f.name for f in formals), schema.max_input, tuple(sorted(schema.attributes)),
        tuple(map(_element_types, formals)), tuple(f.type_str if f.is_homogeneous else "" for f in formals), defaults,
        {name: spec.type.name for name, spec in specs}, any(f.option == f.option.Variadic for f in schema.outputs),
    )  # fmt: skip


def _element_types(formal: Any) -> frozenset[str] | None:
    spelled = {"float": "float32", "double": "float64"}
    if not all(text.startswith("tensor(") for text in formal.types):
        return None
    return frozenset(spelled.get(text[7:-1], text[7:-1]) for text in formal.types)


def imported(meta: Mapping[str, Any], domain: str = "") -> int | None:
    """The version of a domain that a graph's model imports; None where the graph does not say."""
    found = (meta.get(OPSETS) or {}).get(domain)
    return found if isinstance(found, int) else None


def opset_for(meta: Mapping[str, Any], allowed: tuple[int | None, int | None]) -> int:
    """What `opset` is in a rule for versions `allowed`: the model's version; without a model the newest that is allowed."""
    stated = imported(meta)
    if stated is not None:
        return stated
    return history().latest if allowed[1] is None else min(allowed[1], history().latest)


def version_at(operator: str, opset: int) -> Version | None:
    """The version in force in an operator set of the operator's domain; None if it has none, or has dropped it."""
    known = history()
    if known.gone.get(operator, opset + 1) <= opset:
        return None
    return next((v for v in reversed(known.operators.get(operator, ())) if v.since <= opset), None)


def domain_of(operator: str) -> str:
    return operator.rpartition(".")[0]


def former(operator: str, operand: str, then: Container[str]) -> str | None:
    """The attribute that an operand was in a version with the attributes `then`."""
    return next((name for name in (operand, *FORMER_NAMES.get((operator, operand), ())) if name in then), None)


def misfit(operator: str, opset: int, attributes: Mapping[str, Any], given: Container[int], unknown: object, admitted: bool = False) -> str | None:
    """Why a call in today's terms cannot be said in an operator set, or None.

    `attributes` may have `unknown` values, which are passed over. `given`: places of operands that are not absent.
    `admitted`: that it means something else there is known and wanted.
    """
    versions = history().operators.get(operator)
    if not versions:
        return None
    then, now = version_at(operator, opset), versions[-1]
    if then is None:
        return why_missing(operator, opset)
    if then is now:
        return None
    changed = CHANGED_MEANING.get(operator, 0)
    if opset < changed and not admitted:
        return f"`{operator}` means something else before operator set {changed}"
    for name, value in attributes.items():
        known = name in then.attributes or name in then.operands
        if not known and value is not unknown and value is not None and now.defaults.get(name) != value:
            return f"`{operator}` has no `{name}` in operator set {opset}"
    for k, name in enumerate(now.operands):
        if k in given and name not in then.operands and former(operator, name, then.attributes) is None and k >= len(then.operands):
            return f"`{operator}` has no operand `{name}` in operator set {opset}"
    return None


def why_missing(operator: str, opset: int) -> str:
    """Why an operator set has not an operator that others have."""
    versions = history().operators[operator]
    if versions[0].since > opset:
        return f"`{operator}` needs operator set {versions[0].since}"
    return f"`{operator}` is gone since operator set {history().gone[operator]}"


def type_misfit(operator: str, opset: int, dtypes: tuple[str | None, ...]) -> str | None:
    """Why operands of these element types (None: not known) do not fit the operator in an operator set, or None."""
    then = version_at(operator, opset)
    if then is None or not then.operands:
        return None
    bound: dict[str, str] = {}
    for k, dtype in enumerate(dtypes):
        place = min(k, len(then.operands) - 1)
        if dtype is None or k >= then.most:
            continue
        allowed, variable = then.types[place], then.variables[place]
        if allowed is not None and dtype not in allowed:
            return f"operand `{then.operands[place]}` of `{operator}` is no {dtype} in operator set {opset}"
        if variable and not variable.startswith(("tensor(", "seq(", "optional(")) and bound.setdefault(variable, dtype) != dtype:
            return f"operands of `{operator}` are {bound[variable]} and {dtype}"
    return None


def constant_dtype(operator: str, place: int) -> str | None:
    """The type of a new constant as an operand, where the operator admits integers, booleans or one type only: axes, shapes, conditions."""
    versions = history().operators.get(operator)
    if not versions or not versions[-1].types:
        return None
    allowed = versions[-1].types[min(place, len(versions[-1].types) - 1)]
    if not allowed:
        return None
    if len(allowed) == 1 and allowed <= {"bool", "float32"}:
        return min(allowed)
    if "int64" in allowed and not any(dtype.startswith(("float", "bfloat", "uint", "complex", "int8")) for dtype in allowed):
        return "int64"
    return None
