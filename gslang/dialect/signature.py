"""What a dialect says about one operator: operands, attributes, results, traits, and how its type follows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from gslang.base.plain_data import declare_form
from gslang.base.source import Span
from gslang.dialect.tensor_type import Type

# Traits that a declaration may name.
TRAITS: Final = frozenset({
    "elementwise",    # result element i depends on operand elements i only (after broadcasting)
    "broadcast",      # operands are broadcast against each other, NumPy's way
    "unary", "binary",
    "commutative", "associative", "idempotent", "involution",
    "injective",      # moves elements, computes nothing (reshape, transpose, …)
    "reduction",
    "monotonic",      # element-wise and non-decreasing
    "stateful",       # not a function of its operands: never merged, never folded
    "opaque",         # carried, never looked into
})  # fmt: skip


class Missing:
    """The default of an attribute that has none: it must be given."""

    def __repr__(self) -> str:
        return "REQUIRED"

    def __reduce__(self) -> str:
        return "REQUIRED"


REQUIRED: Final = Missing()
declare_form(Missing, lambda value: (), lambda parts: REQUIRED)


@dataclass(frozen=True, slots=True)
class AttributeType:
    """One alternative of an attribute's declared type: `int[]?` is base "int", depth 1, optional."""

    base: str  # int float bool str dtype array graph tensor
    depth: int = 0
    optional: bool = False

    def __str__(self) -> str:
        return self.base + "[]" * self.depth + ("?" if self.optional else "")


@dataclass(frozen=True, slots=True)
class AttributeSpec:
    name: str
    types: tuple[AttributeType, ...]
    default: Any = REQUIRED  # normalised: tuples for lists


@dataclass(frozen=True, slots=True)
class OperandSpec:
    name: str
    kind: str = "tensor"  # "tensor" | "tuple"
    optional: bool = False
    variadic: bool = False
    attribute: AttributeSpec | None = None  # `tensor | float = 0.0`: may stand as attribute too


class TypeInferenceError(Exception):
    """The operand types and attributes contradict each other. The message says what was expected."""


# infer(operand types, complete attributes, value_of) -> result type, or None where nothing can be said.
# operand type None: unknown, or an absent optional operand. value_of(k): the k-th operand's constant as a NumPy
# array, or None if it is not a constant.
Infer = Callable[[tuple["Type | None", ...], Mapping[str, Any], Callable[[int], Any]], "Type | None"]


@dataclass(frozen=True, slots=True)
class Signature:
    name: str
    operands: tuple[OperandSpec, ...]
    attributes: Mapping[str, AttributeSpec]
    results: tuple[str, ...] | str  # "tensor" | "tuple" | ("tensor", "tensor?", …) for several declared results
    traits: frozenset[str] = frozenset()
    declared_at: Span | None = field(default=None, compare=False, repr=False)
    doc: str = ""
    meaning: Any = field(default=None, compare=False, repr=False)
    """`{ shape = …, dtype = …, value = … }` of the declaration, checked (`check.checked.Meaning`); None without one."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Attribute name → default, of those that have one."""

    def complete(self, attrs: Mapping[str, Any]) -> dict[str, Any]:
        """The given attributes and the defaults of the others."""
        return {**self.defaults, **attrs}

    @property
    def several_results(self) -> bool:
        return not isinstance(self.results, str)
