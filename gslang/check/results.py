"""The results of pattern nodes and targets, as far as the rule alone says: one tensor, or a tuple of so many
fields.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar, Union

from gslang.base.source import Span
from gslang.check import checked as ir
from gslang.check.context import Lowering
from gslang.dialect.signature import Signature

Results = Union[str, int, None]
"""`"tensor"`, `"tuple"` (of any length), the number of fields of a tuple, or None: not known."""

_Found = TypeVar("_Found")


def results_of(lowering: Lowering, node: int) -> Results:
    """The results of a pattern node; None also where alternatives differ."""
    pattern = lowering.patterns[node]
    if pattern.stands_for:
        return agreed(results_of(lowering, part) for part in pattern.stands_for)
    match pattern:
        case ir.CallNode(operators=operators):
            declared = {_declared(lowering.dialect.operators[name]) for name in operators}
            return declared.pop() if len(declared) == 1 else "tuple" if "tensor" not in declared else None
        case ir.TupleNode(count=count):
            return "tuple" if count is None else count
    return "tensor" if pattern.is_tensor else None  # a field may be a tuple itself


def results_of_target(lowering: Lowering, target: int) -> Results:
    """The results of a target."""
    match lowering.targets[target]:
        case ir.SourceNode(_, node):
            return results_of(lowering, node)
        case ir.MakeConst(as_tuple=as_tuple):
            return "tuple" if as_tuple else "tensor"
        case ir.MakeCall(operator=str(name)):
            return _declared(lowering.dialect.operators[name])
        case ir.MakeTuple(fields):
            several = any(isinstance(lowering.targets[f], ir.SeveralNodes) for f in fields)
            return "tuple" if several else len(fields)
        case ir.ChosenTarget() as choice:
            return agreed(results_of_target(lowering, part) for part in choice.parts)
    return None


def agreed(found: Iterable[_Found]) -> _Found | None:
    """The one that all are; None if they differ."""
    different = set(found)
    return different.pop() if len(different) == 1 else None


def check_projection(lowering: Lowering, results: Results, index: ir.Value, span: Span) -> None:
    """Report a projection that what it projects from does not have."""
    match results, index:
        case "tensor", _:
            lowering.stop(
                "E0312", "this has a single result, which is not a tuple", span, "remove the projection"
            )
        case int(count), ir.Const(int(k)) if not isinstance(k, bool) and not -count <= k < count:
            last = f"the last is `.{count - 1}`" if count else "the tuple is empty"
            lowering.stop(
                "E0312", f"no result `.{k}`: there {'is' if count == 1 else 'are'} {count}", span,
                last,
            )


def is_tuple(results: Results) -> bool:
    """True if there are several results for sure (a tuple of one field is a tuple too)."""
    return results == "tuple" or isinstance(results, int)


def _declared(signature: Signature) -> Results:
    return len(signature.results) if not isinstance(signature.results, str) else signature.results
