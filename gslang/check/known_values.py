"""Values that are known before there is a match, because they are made of literals.

They are computed where they are written, so that one beyond a limit is reported there, not by the first run
that needs it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from gslang.check import checked as ir
from gslang.check.arithmetic import FAILURES
from gslang.check.context import Denotation, Lowering, ValueOf
from gslang.check.decided import UNKNOWN
from gslang.check.limits import LimitExceeded
from gslang.syntax import nodes as n


def noted(lowering: Lowering, expr: n.Expr, what: Denotation) -> Denotation:
    """`what`, after its value was computed, if all its parts are known. One beyond a limit is reported."""
    if isinstance(what, ValueOf) and not isinstance(what.value, ir.Const):
        try:
            found = _computed(lowering, what.value)
        except LimitExceeded as error:
            lowering.stop("E0507", error.reason, expr.span, error.help)
        except FAILURES:
            return what  # it holds nowhere, which is no error
        if found is not UNKNOWN:
            lowering.known[id(what.value)] = what.value, found
    return what


def known(lowering: Lowering, value: ir.Value | ir.SpreadValue) -> Any:
    """The value of an expression made of literals; `UNKNOWN` of others."""
    whole = value.meant(lowering.lets)
    return whole.value if isinstance(whole, ir.Const) else lowering.known.get(id(whole), (None, UNKNOWN))[1]


def known_items(lowering: Lowering, value: ir.Value) -> Sequence[object]:
    """The items of a tuple that is written out, each as `known`; none of other values."""
    whole = value.meant(lowering.lets)
    if isinstance(whole, ir.TupleValue):
        return [known(lowering, item) for item in whole.items]
    found = known(lowering, whole)
    return found if isinstance(found, tuple) else ()


def choice(lowering: Lowering, value: ir.Value, branches: Iterable[tuple[n.Expr, ValueOf]]) -> ValueOf:
    """`value`, which is one of the branches, with the type that all have."""
    written = tuple(branches)
    lowering.branches[id(value)] = value, written
    kinds = {branch.type for _, branch in written}
    return ValueOf(value, kinds.pop() if len(kinds) == 1 else "any")


def possible(
    lowering: Lowering, expr: n.Expr | n.Star, found: ValueOf
) -> Iterator[tuple[n.Expr | n.Star, ValueOf]]:
    """The values that one may be, with where each is written: the branches of `a if c else b` and of `match`,
    else itself.
    """
    stack: list[tuple[n.Expr | n.Star, ValueOf]] = [(expr, found)]
    met: set[int] = set()
    while stack:
        written, what = stack.pop()
        number = id(what.value.meant(lowering.lets))
        if number not in lowering.branches:
            yield written, what
        elif number not in met:
            met.add(number)
            stack += reversed(lowering.branches[number][1])


def _computed(lowering: Lowering, value: ir.Value) -> Any:
    """The value of an expression whose parts were noted."""
    if value.applied is None:
        return UNKNOWN
    function, parts = value.applied
    found = [known(lowering, part) for part in parts]
    return UNKNOWN if any(part is UNKNOWN for part in found) else function(*found)
