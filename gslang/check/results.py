"""The results of pattern nodes and targets, as far as the rule alone says: one tensor, or a tuple of so many
fields, and the element type.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar, Union

from gslang.base.quick_dataclass import dataclass
from gslang.base.source import Span
from gslang.check import checked as ir
from gslang.check.context import Lowering
from gslang.check.target_reading import TargetReading
from gslang.dialect.signature import Signature
from gslang.graph.graph import TUPLE

# attributes that are the element type of the result
_STATED_BY = ("dtype", "to", "out_dtype", "output_dtype")
# whose `dtype` is not that of the (only) result
_OF_OTHERS = frozenset({"topk", "sort", "broadcast_to", "dyn.broadcast_to"})

# splitting operators, and the attribute that says how many parts there are
_PARTS = {"split": "indices_or_sections", "Split": "num_outputs"}

Results = Union[str, int, None]
"""`"tensor"`, `"tuple"` (of any length), the number of fields of a tuple, or None: not known."""

_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True)
class Told:
    """The part of the type of a value that a rule alone says: its results, and its element type."""

    results: Results = None
    dtype: str | None = None


def told_of(lowering: Lowering, node: int) -> Told:
    """The part that is known of a pattern node; of alternatives, what they agree on."""
    pattern = lowering.patterns[node]
    if pattern.stands_for:
        return _agreed([told_of(lowering, part) for part in pattern.stands_for])
    stated = {test.field: text for test in pattern.tests if (text := text_of(test.literal))}
    if isinstance(pattern, ir.CallNode):
        declared = {_declared(lowering.dialect.operators[name]) for name in pattern.operators}
        dtype = _stated(lowering, pattern.operators[0], stated) if len(pattern.operators) == 1 else None
        several = "tuple" if "tensor" not in declared else None
        return Told(declared.pop() if len(declared) == 1 else several, dtype)
    if pattern.operators == (TUPLE,):
        return Told("tuple" if pattern.count is None else pattern.count, stated.get("dtype"))
    # a field may be a tuple itself
    return Told("tensor" if pattern.is_tensor else None, stated.get("dtype"))


def told_when_matched(lowering: Lowering, node: int) -> Told:
    """The part that is known where all is matched: an input is also what each call takes it for."""
    told, taken = told_of(lowering, node), lowering.taken.get(node, set())
    if told.results is None and len(taken) == 1 and "any" not in taken:
        (kind,) = taken
        return Told(kind, told.dtype)
    return told


def told_of_target(lowering: Lowering, target: int) -> Told:
    """The part that is known of a target."""
    return _OfTargets(lowering).of_target(target)


def told_within(lowering: Lowering, target: int) -> Iterator[tuple[int, Results]]:
    """A target and its results; where these are not known, the same of each target that it may be or repeat.
    """
    stack, met = [target], set[int]()
    while stack:
        number = stack.pop()
        if number not in met:
            met.add(number)
            results = told_of_target(lowering, number).results
            within = lowering.targets[number].outputs_within if results is None else ()
            stack += reversed(within)
            if not within:
                yield number, results


@dataclass(frozen=True, slots=True)
class _OfTargets(TargetReading[Told]):
    lowering: Lowering

    @property
    def targets(self) -> Sequence[ir.Target]:
        return self.lowering.targets

    def of_matched(self, number: int, target: ir.SourceNode) -> Told:
        return told_when_matched(self.lowering, target.node)

    def of_instances(self, number: int, target: ir.SpliceInstances) -> Told:
        return told_when_matched(self.lowering, target.node)

    def of_constant(self, number: int, target: ir.MakeConst) -> Told:
        return Told("tuple" if target.as_tuple else "tensor", text_of(target.dtype))

    def of_call(self, number: int, target: ir.MakeCall) -> Told:
        name = target.operator
        if not isinstance(name, str):
            return Told()
        stated = {attribute: text for attribute, value in target.attributes if (text := text_of(value))}
        return Told(_declared(self.lowering.dialect.operators[name]), _stated(self.lowering, name, stated))

    def of_tuple(self, number: int, target: ir.MakeTuple) -> Told:
        several = any(isinstance(self.targets[field], ir.SeveralNodes) for field in target.fields)
        return Told("tuple" if several else len(target.fields))

    def of_choice(self, number: int, target: ir.ChosenTarget) -> Told:
        return _agreed([self.of_target(part) for part in target.parts])

    def of_other(self, number: int, target: ir.Target) -> Told:
        return Told()


def _agreed(found: list[Told]) -> Told:
    return Told(agreed(told.results for told in found), agreed(told.dtype for told in found))


def text_of(value: ir.Value | None) -> str | None:
    """The text that a value is, if it is written out."""
    return value.value if isinstance(value, ir.Const) and isinstance(value.value, str) else None


def _stated(lowering: Lowering, operator: str, attributes: dict[str, str]) -> str | None:
    """The element type of an operator's result by its attributes."""
    signature = lowering.dialect.operators[operator]
    if operator in _OF_OTHERS or signature.several_results:
        return None
    return next(
        (attributes[name] for name in _STATED_BY if name in signature.attributes and name in attributes), None
    )


def agreed(found: Iterable[_Found]) -> _Found | None:
    """The one that all are; None if they differ."""
    different = set(found)
    return different.pop() if len(different) == 1 else None


def check_projection(lowering: Lowering, results: Results, index: ir.Value, span: Span) -> None:
    """Report a projection that what it projects from does not have."""
    match results, index:
        case "tensor", _:
            lowering.stop(
                "E0312", "this is a single result, not a tuple", span, "remove the projection"
            )
        case int(count), ir.Const(int(k)) if not isinstance(k, bool) and not -count <= k < count:
            last = f"the last is `.{count - 1}`" if count else "the tuple is empty"
            lowering.stop(
                "E0312", f"no result `.{k}`: there {'is' if count == 1 else 'are'} {count}", span,
                last,
            )


def fields_of_split(operator: str, attributes: Mapping[str, ir.Value | None]) -> int | None:
    """The number of results of a call that splits a tensor, if it is written out."""
    match operator, attributes.get(_PARTS.get(operator, "")):
        case _, ir.Const(int(count)) if count > 0:
            return count
        case "split", ir.Const(tuple(places)):
            return len(places) + 1
    return None


def is_tuple(results: Results) -> bool:
    """True if there are several results for sure (a tuple of one field is a tuple too)."""
    return results == "tuple" or isinstance(results, int)


def _declared(signature: Signature) -> Results:
    return len(signature.results) if not isinstance(signature.results, str) else signature.results
