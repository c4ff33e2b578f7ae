"""Operator signatures: operands, attributes, results, traits, and how the type follows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Final

from gslang.base.open_types import Attrs
from gslang.base.plain_data import declare_form
from gslang.base.quick_dataclass import dataclass
from gslang.base.source import Span
from gslang.dialect.bounds import Call
from gslang.dialect.domain import Anything, Domain
from gslang.dialect.domain_text import domain_text, value_text
from gslang.dialect.dtypes import PLAIN, in_class, shown_classes
from gslang.dialect.tensor_type import TensorType, TupleType, Type

# Traits that a declaration may name.
TRAITS: Final = frozenset({
    "elementwise",    # result element i depends on operand elements i only (after broadcasting)
    "broadcast",      # operands are broadcast against each other, NumPy's way
    "unary", "binary",
    "commutative", "associative", "idempotent", "involution",
    "injective",      # moves elements, computes nothing (reshape, transpose, …)
    "reduction",
    "monotonic",      # element-wise and non-decreasing
    "wrapping",       # computes modulo 2ⁿ on integers of n bits
    "saturating",     # what does not fit the element type becomes its least or greatest value
    "accumulating",   # adds up in `out_dtype` where that is given
    "stateful",       # not a function of its operands: never merged, never folded
    "opaque",         # carried, never looked into
})  # fmt: skip


# the element types beside int64 of what says where or how much
_INDICES: Final = frozenset({"bool", "int16", "int32", "int64", "string"})


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
    domain: Domain = Anything("any")
    """The domain, the values that it may have; `types` contains it."""

    def __str__(self) -> str:
        """`axis: int in -rank(data) ..< rank(data) = -1`."""
        default = "" if self.default is REQUIRED else f" = {value_text(self.default)}"
        return f"{self.name}: {domain_text(self.domain)}{default}"


@dataclass(frozen=True, slots=True)
class OperandSpec:
    name: str
    kind: str = "tensor"  # "tensor" | "tuple"
    optional: bool = False
    variadic: bool = False
    attribute: AttributeSpec | None = None  # `tensor | float = 0.0`: may stand as attribute too
    # data types and classes (`dtypes.in_class`) that it takes; empty: nothing is said
    dtypes: tuple[str, ...] = ()

    def takes(self, dtype: str) -> bool:
        """True if operands of an element type are declared, or nothing is said of them."""
        return not self.dtypes or any(in_class(dtype, wanted) for wanted in self.dtypes)

    def __str__(self) -> str:
        """`*inputs: tensor(float)`, `pad_value: tensor | float = 0.0`."""
        classes = f"({' | '.join(shown_classes(self.dtypes))})" if self.dtypes else ""
        also = "" if self.attribute is None else " | " + str(self.attribute).partition(": ")[2]
        return (
            f"{'*' * self.variadic}{self.name}: "
            f"{self.kind}{classes}{'?' * (self.optional and self.attribute is None)}{also}"
        )


class TypeInferenceError(Exception):
    """The operand types and attributes contradict each other. The message says what was expected."""


# infer(operand types, complete attributes, value_of) -> result type, or None where nothing can be said.
# operand type None: unknown, or an absent optional operand. value_of(k): the k-th operand's constant as a
# NumPy array, or None if it is not a constant.
Types = tuple["Type | None", ...]  # of operands
ValueOf = Callable[[int], Any]  # the value of an operand, if it is a constant
Infer = Callable[[Types, Attrs, ValueOf], "Type | None"]


@dataclass(frozen=True, slots=True)
class Signature:
    name: str
    operands: tuple[OperandSpec, ...]
    attributes: Mapping[str, AttributeSpec]
    # "tensor" | "tuple" | ("tensor", "tensor?", …) for several declared results
    results: tuple[str, ...] | str
    traits: frozenset[str] = frozenset()
    declared_at: Span | None = field(default=None, compare=False, repr=False)
    doc: str = ""
    meaning: Any = field(default=None, compare=False, repr=False)
    """`{ shape = …, dtype = …, value = … }` of the declaration, checked (`check.checked.Meaning`); None
    without one.
    """
    defaults: Attrs = field(default_factory=dict)
    """Attribute name → default, of those that have one."""
    departs: bool = False
    """True for a file's declaration that gives an operator of the dialect further attributes, operands or
    traits, or a meaning: nothing that is known about the dialect's operator is known about it.
    """

    def complete(self, attrs: Attrs) -> dict[str, Any]:
        """The given attributes and the defaults of the others."""
        return {**self.defaults, **attrs}

    def attribute(self, name: str) -> AttributeSpec | None:
        """The declaration of an attribute, or of an operand that may stand as one."""
        found = self.attributes.get(name)
        return found or next((o.attribute for o in self.operands if o.name == name), None)

    def operand(self, place: int) -> OperandSpec | None:
        """The declaration of operand `place`; a variadic one stands for all from its place on.

        None if there is none.
        """
        if place < len(self.operands) and not self.operands[place].variadic:
            return self.operands[place]
        return next((o for o in self.operands if o.variadic), None)

    def constant_dtype(self, place: int) -> str | None:
        """The element type of a new constant as operand `place`, where it does not follow from the other
        operands: the only one that is declared, or int64 among whole numbers of a few sizes (`tensor(int32 |
        int64)`: axes, shapes, indices).
        """
        spec = self.operand(place)
        declared = () if spec is None else spec.dtypes
        if len(declared) == 1 and declared[0] in PLAIN:
            return declared[0]
        return "int64" if "int64" in declared and set(declared) <= _INDICES else None

    def dtype_beside(self, place: int, dtypes: Sequence[str | None]) -> str | None:
        """The element type of a new constant as operand `place` where `constant_dtype` demands none, from
        those of the other operands: that of the first one declared alike, else of the first one that the
        constant's own declaration takes. None if there is none.

        Operands whose declaration says their element type (conditions, axes) tell nothing of the others.
        """
        spec = self.operand(place)
        taken = () if spec is None else spec.dtypes
        found: str | None = None
        for k, dtype in enumerate(dtypes):
            other = self.operand(k)
            if dtype is None or k == place or other is None or self.constant_dtype(k) is not None:
                continue
            known = isinstance(dtype, str) and dtype in PLAIN  # to the prover, types are open
            if spec is not None and known and not spec.takes(dtype):
                continue
            if other.dtypes == taken:
                return dtype
            found = found or dtype
        return found

    def call(self, types: tuple[Type | None, ...], attributes: Attrs) -> Call:
        """The facts from operand types and given attributes that determine the domains of the other
        attributes."""
        shapes: dict[str, tuple[int | None, ...] | None] = {}
        counts: dict[str, int] = {}
        for k, spec in enumerate(self.operands):
            type = types[k] if k < len(types) else None
            if isinstance(type, TupleType):
                counts[spec.name] = len(type.fields)
                type = type.fields[0] if type.fields else None
            elif spec.variadic:
                counts[spec.name] = max(0, len(types) - k)
            if isinstance(type, TensorType) and type.shape is not None:
                shapes[spec.name] = tuple(d if isinstance(d, int) else None for d in type.shape)
        return Call(shapes, self.complete(attributes), counts)

    def __str__(self) -> str:
        """The declaration, as in a rule file, in one line."""
        parameters = ", ".join(map(str, (*self.operands, *self.attributes.values())))
        results = self.results if isinstance(self.results, str) else f"({', '.join(self.results)})"
        traits = f" is {', '.join(sorted(self.traits))}" if self.traits else ""
        return f"op {self.name}({parameters}) -> {results}{traits};"

    @property
    def several_results(self) -> bool:
        return not isinstance(self.results, str)
