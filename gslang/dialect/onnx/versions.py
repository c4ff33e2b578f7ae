"""Versions of ONNX operators: operands, attributes, element types; and the operators of a model's versions.

Plain data, in `schemas.json` (which `package_schemas` writes): asking does not need the `onnx` package. Not
here: signatures (`schemas`).
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

from gslang.base.lazy_mapping import LazyMapping
from gslang.base.open_types import Attrs
from gslang.base.quick_dataclass import dataclass

SCHEMAS: Final = Path(__file__).with_name("schemas.json")

# in `graph.meta`: domain → version that the model imports; absent: nothing is said
OPSETS: Final = "x-onnx-opsets"

# Operands that were attributes of another name: operator, operand → names in older versions.
FORMER_NAMES: Final = {
    ("TopK", "K"): ("k",), ("Pad", "pads"): ("paddings",), ("Pad", "constant_value"): ("value",),
}

# Operands of one element, in a vector, that were numbers.
VECTORS: Final = frozenset({("TopK", "K")})

# Versions in which what an operator means has changed, with the same operands and attributes.
CHANGED_MEANING: Final = {
    # broadcasting was stated
    **dict.fromkeys("Add And Div Equal Gemm Greater Less Mul Or PRelu Pow Sub Xor".split(), 7),
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
    """One version of an operator. `kinds`: attribute → "INTS", "FLOAT", …; `defaults`: of those that may be
    left out, None for none.

    `options[k]`: "?" for an operand that may be absent, "*" for any number of them, else ""; `results`: the
    same of results. `types[k]`: element types that operand k may have, None for any; `variables[k]`: operands
    with the same one have the same type.
    """

    since: int
    operands: tuple[str, ...]
    options: tuple[str, ...]
    variables: tuple[str, ...]
    types: tuple[frozenset[str] | None, ...]
    most: int
    kinds: Mapping[str, str]
    defaults: Attrs
    results: tuple[str, ...]

    @property
    def attributes(self) -> tuple[str, ...]:
        return tuple(self.kinds)

    @property
    def many(self) -> bool:
        """True if it has any number of results."""
        return "*" in self.results


@dataclass(frozen=True, slots=True)
class History:
    """`operators`: name → versions, oldest first. `docs`: name → the first paragraph about the newest.
    `gone`: name → version that dropped it. `latest`: the newest operator set. `elements`: data type → the
    number of its messages.
    """

    operators: Mapping[str, tuple[Version, ...]]
    docs: Mapping[str, str]
    gone: Mapping[str, int]
    latest: int
    elements: Mapping[str, int]


@cache
def history() -> History:
    data = json.loads(SCHEMAS.read_text(encoding="utf-8"))
    types = [None if names is None else frozenset(names.split()) for names in data["types"]]

    def versions(name: str, said: list[Any]) -> tuple[Version, ...]:
        return tuple([_version(one, types) for one in said[1:]])

    stated = data["operators"]
    docs = {name: doc for name, (doc, *_) in stated.items()}
    operators = LazyMapping(stated, versions)
    return History(operators, docs, data["gone"], data["latest"], data["elements"])


def _version(said: list[Any], types: list[frozenset[str] | None]) -> Version:
    """A version from `[since, [[operand, option, variable, number of its types], …], most, [[attribute, kind,
    default], …], results]`; an attribute that must be given has no default.
    """
    since, operands, most, attributes, results = said
    return Version(
        since, tuple([o[0] for o in operands]), tuple([o[1] for o in operands]),
        tuple([o[2] for o in operands]), tuple([types[o[3]] for o in operands]), most,
        {a[0]: a[1] for a in attributes},
        {a[0]: tuple(a[2]) if isinstance(a[2], list) else a[2] for a in attributes if len(a) > 2},
        tuple(results),
    )


def imported(meta: Attrs, domain: str = "") -> int | None:
    """The version of a domain that a graph's model imports; None where the graph does not say."""
    found = (meta.get(OPSETS) or {}).get(domain)
    return found if isinstance(found, int) else None


def opset_for(meta: Attrs, allowed: tuple[int | None, int | None]) -> int:
    """The value of `opset` in a rule for versions `allowed`: the model's version; without a model the newest
    that is allowed."""
    stated = imported(meta)
    if stated is not None:
        return stated
    return history().latest if allowed[1] is None else min(allowed[1], history().latest)


@lru_cache(maxsize=4096)
def version_at(operator: str, opset: int) -> Version | None:
    """The version in force in an operator set of the operator's domain; None if it has none, or has dropped
    it.
    """
    known = history()
    if known.gone.get(operator, opset + 1) <= opset:
        return None
    return next((v for v in reversed(known.operators.get(operator, ())) if v.since <= opset), None)


def domain_of(operator: str) -> str:
    return operator.rpartition(".")[0]


def former(operator: str, operand: str, then: Container[str]) -> str | None:
    """The attribute that an operand was in a version with the attributes `then`."""
    return next(
        (name for name in (operand, *FORMER_NAMES.get((operator, operand), ())) if name in then), None
    )


def misfit(
    operator: str,
    opset: int,
    attributes: Attrs,
    given: Container[int],
    unknown: object,
    admitted: bool = False,
) -> str | None:
    """Why a call in today's terms cannot be said in an operator set, or None.

    `attributes` may have `unknown` values, which are skipped. `given`: places of operands that are not
    absent. `admitted`: that it means something else there is known and wanted.
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
        if (
            k in given and name not in then.operands and former(operator, name, then.attributes) is None
            and k >= len(then.operands)
        ):
            return f"`{operator}` has no operand `{name}` in operator set {opset}"
    demanded = {name for name, option in zip(then.operands, then.options) if option == ""}
    for k, (name, option) in enumerate(zip(now.operands, now.options)):
        if option == "?" and name in demanded and k not in given:
            return f"`{operator}` needs `{name}` in operator set {opset}"
    return None


def why_missing(operator: str, opset: int) -> str:
    """Why an operator set has not an operator that others have."""
    versions = history().operators[operator]
    if versions[0].since > opset:
        return f"`{operator}` needs operator set {versions[0].since}"
    return f"`{operator}` was removed in operator set {history().gone[operator]}"


def type_misfit(operator: str, opset: int, dtypes: tuple[str | None, ...]) -> str | None:
    """Why operands of these element types (None: not known) do not fit the operator in an operator set, or
    None.
    """
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
            *others, last = sorted(allowed)
            listed = (
                f"one of {len(allowed)} types, not" if len(others) > 3
                else f"{', '.join(others)}{' or ' * bool(others)}{last}, got"
            )
            return (
                f"operand `{then.operands[place]}` of `{operator}` must be {listed} {dtype} in operator set "
                f"{opset}"
            )
        if (
            variable and not variable.startswith(("tensor(", "seq(", "optional("))
            and bound.setdefault(variable, dtype) != dtype
        ):
            return f"operands of `{operator}` are {bound[variable]} and {dtype}"
    return None
