"""Term formers: an operator with attributes, and the values of attributes that are tried.

`--ops` names operators, with attributes that are settled: `concatenate(axis = 0 | 1)` is two formers,
`split(indices_or_sections = (n,))` one whose attribute is the size `n`. What is not settled comes from the
verifier's samplers and the declared domains.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import product
from random import Random
from typing import Any

from gslang.base.diagnostics import InputError
from gslang.base.open_types import Attrs
from gslang.base.quick_dataclass import dataclass
from gslang.base.suggest import did_you_mean
from gslang.check.implied_dialect import dialect_with
from gslang.check.unknown_operator import operator_with_last_part
from gslang.dialect.dialect import Dialect
from gslang.dialect.domain import contains
from gslang.dialect.domain_values import choices
from gslang.dialect.signature import REQUIRED, Signature
from gslang.dialect.tensor_type import TensorType, Type
from gslang.verify.samplers.relay import RELAY_SAMPLERS
from gslang.verify.samplers.sample import sample

SIZES: tuple[Mapping[str, int], ...] = (
    {"n": 3, "m": 4, "b": 2, "c": 2, "h": 3, "w": 4}, {"n": 2, "m": 5, "b": 3, "c": 3, "h": 4, "w": 3},
)
"""Two sizes for each symbol, so that what holds for one shape by chance does not hold for the other."""

_MOST_VALUES = 3  # of attributes that nobody settled, for one operator
_ATTEMPTS = 24  # to draw them


@dataclass(frozen=True, slots=True)
class Symbol:
    """A size in an attribute."""

    name: str


@dataclass(frozen=True, slots=True)
class Former:
    """`attrs`: name → value, sorted; a `Symbol` stands for a size. `packed`: its operands are the fields of
    one tuple. `index`: the field of the result that is meant, None for a tensor. `constant`: a number, in the
    place of an operator.
    """

    op: str
    arity: int
    attrs: tuple[tuple[str, object], ...] = ()
    packed: bool = False
    index: int | None = None
    commutative: bool = False
    constant: float | None = None

    def attributes(self, sizes: Mapping[str, int]) -> dict[str, object]:
        return {name: _sized(value, sizes) for name, value in self.attrs}


def _sized(value: object, sizes: Mapping[str, int]) -> object:
    if isinstance(value, Symbol):
        return sizes[value.name]
    return tuple([_sized(item, sizes) for item in value]) if isinstance(value, tuple) else value


@dataclass(frozen=True, slots=True)
class Asked:
    """An operator as `--ops` names it: attribute → values to try."""

    op: str
    settled: tuple[tuple[str, tuple[Any, ...]], ...] = ()


# ── reading ─────────────────────────────────────────────────────────────────────────────────────────────────


def read_operators(text: str, dialect: Dialect) -> list[Asked]:
    """The operators of a list like `add, concatenate(axis = 0 | 1)`.

    Raises `InputError` with the word that is wrong.
    """
    found: list[Asked] = []
    for part in _cut(text, ","):
        match = re.fullmatch(r"\s*([A-Za-z_][\w.]*)\s*(?:\((.*)\))?\s*", part, re.DOTALL)
        if match is None:
            raise InputError(
                f"`{part.strip()}` is not an operator", path="--ops",
                help="write nn.relu, or concatenate(axis = 0 | 1)",
            )
        name = match[1]
        signature = dialect.operators.get(name)
        if signature is None:
            guess = operator_with_last_part(name, dialect.operators) or did_you_mean(name, dialect.operators)
            other = dialect_with(name, dialect.name)
            help = (
                f"dialect {other} has it: --dialect {other}" if other
                else f"did you mean `{guess}`?" if guess
                else f"`gslc ops --dialect {dialect.name}` lists the operators"
            )
            raise InputError(
                f"unknown operator `{name}` in dialect {dialect.name}", path="--ops", help=help
            )
        found.append(Asked(name, tuple(_settled(item, signature) for item in _cut(match[2] or "", ","))))
    if not found:
        raise InputError("no operators found", path="--ops", help="write nn.relu,add")
    return found


def _settled(item: str, signature: Signature) -> tuple[str, tuple[object, ...]]:
    name, equals, values = item.partition("=")
    name = name.strip()
    if not equals or name not in signature.attributes:
        guess = did_you_mean(name, signature.attributes)
        known = ", ".join(signature.attributes) or "none"
        help = f"did you mean `{guess}`?" if guess else f"its attributes: {known}"
        raise InputError(f"`{signature.name}` has no attribute `{name}`", path="--ops", help=help)
    found = tuple(_value(text.strip(), signature, name) for text in _cut(values, "|"))
    for value in found:
        if not has_symbol(value) and contains(signature.attributes[name].domain, value) is False:
            raise InputError(
                f"`{name}` of `{signature.name}` cannot be `{values.strip()}`", path="--ops",
                help=f"declared: {signature.attributes[name]}",
            )
    return name, found


def _value(text: str, signature: Signature, name: str) -> object:
    if text[:1] in "([" and text[-1:] in ")]":
        return tuple(_value(item.strip(), signature, name) for item in _cut(text[1:-1], ","))
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    if re.fullmatch(r"-?\d*\.\d+([eE]-?\d+)?|-?\d+[eE]-?\d+", text):
        return float(text)
    if text in ("true", "false", "none"):
        return {"true": True, "false": False, "none": None}[text]
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text[1:-1]
    if text in SIZES[0]:
        return Symbol(text)
    raise InputError(
        f"`{text}` is not a value for `{name}` of `{signature.name}`", path="--ops",
        help=f'write a number, true, none, "text", (1, 2) or a size: {", ".join(SIZES[0])}',
    )


def has_symbol(value: object) -> bool:
    return isinstance(value, Symbol) or isinstance(value, tuple) and any(map(has_symbol, value))


def _cut(text: str, at: str) -> list[str]:
    """The parts between separators outside of brackets and quotes; an empty text has none."""
    parts, depth, quoted, now = [], 0, False, ""
    for letter in text:
        quoted ^= letter == '"'
        depth += 0 if quoted else (letter in "([") - (letter in ")]")
        if letter == at and not depth and not quoted:
            parts.append(now)
            now = ""
        else:
            now += letter
    parts.append(now)
    return [part for part in parts if part.strip()]


# ── attributes ──────────────────────────────────────────────────────────────────────────────────────────────


def formers_of(asked: Asked, dialect: Dialect, shapes: Sequence[tuple[int, ...]]) -> list[Former]:
    """All formers of an operator whose operands may have the given shapes (of the first sizes)."""
    signature = dialect.operators[asked.op]
    needed = [operand for operand in signature.operands if not operand.optional and operand.attribute is None]
    packed = any(operand.kind == "tuple" for operand in needed)
    arity = 2 if packed or any(operand.variadic for operand in needed) else len(needed)
    commutative = "commutative" in signature.traits and arity == 2 and not packed
    settled = dict(asked.settled)
    found: list[Former] = []
    for chosen in product(*settled.values()):
        for attrs in _proposals(signature, dict(zip(settled, chosen)), arity, shapes):
            count = _results(signature, attrs)
            for index in range(count) if count else (None,):
                former = Former(
                    asked.op, arity, tuple(sorted(attrs.items(), key=lambda item: item[0])), packed, index,
                    commutative,
                )
                if former not in found:
                    found.append(former)
    return found


def _results(signature: Signature, attrs: Attrs) -> int:
    """The number of results to project; 0 for a tensor. For a split, the number of its parts."""
    if signature.several_results:
        return 1  # the others are for training, mostly
    if signature.results == "tensor":
        return 0
    parts = attrs.get("indices_or_sections", 2)
    return parts if isinstance(parts, int) else len(parts) + 1 if isinstance(parts, tuple) else 2


def _proposals(
    signature: Signature, settled: Attrs, arity: int, shapes: Sequence[tuple[int, ...]]
) -> list[dict[str, object]]:
    open_ = [name for name in signature.attributes if name not in settled]
    if not open_:
        return [dict(settled)]
    found: list[dict[str, object]] = []
    random = Random(f"{signature.name} {sorted(settled)}")
    plain = {name: value for name, value in settled.items() if not has_symbol(value)}
    for attempt in range(_ATTEMPTS if signature.name in RELAY_SAMPLERS else 0):
        try:
            _, extra = sample(
                random, signature.name, signature.traits,
                [shapes[attempt % len(shapes)], *[None] * (arity - 1)], plain, RELAY_SAMPLERS,
            )
        except (LookupError, ValueError, TypeError, ArithmeticError):
            continue
        attrs = {
            **{k: v for k, v in extra.items() if k in open_ and v != signature.attributes[k].default},
            **settled,
        }
        if attrs not in found and not attrs.get("exclude"):
            found.append(attrs)
    needed = [name for name in open_ if signature.attributes[name].default is REQUIRED]
    if signature.name not in RELAY_SAMPLERS:
        call = signature.call(tuple(TensorType(shape, "float32") for shape in shapes[:1]), settled)
        options = [
            [v for v in choices(signature.attributes[name].domain, call)][:_MOST_VALUES] for name in needed
        ]
        found = [{**dict(zip(needed, values)), **settled} for values in product(*options)]
    elif not needed:
        found = [dict(settled), *(attrs for attrs in found if attrs != dict(settled))]
    return found[: _MOST_VALUES if not settled else 1]


def types_at(shape: Sequence[str | int]) -> tuple[Type, ...]:
    """The type with a shape of symbols, at each of `SIZES`."""
    return tuple(
        TensorType(tuple([sizes[d] if isinstance(d, str) else d for d in shape]), "float32")
        for sizes in SIZES
    )


def shape_of(type_: Type) -> tuple[int, ...]:
    """The sizes of a tensor's type that are numbers: those of inputs all are."""
    return tuple(d for d in type_.shape or () if isinstance(d, int)) if isinstance(type_, TensorType) else ()
