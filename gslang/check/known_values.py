"""Values that are known before there is a match, because they are made of literals.

They are computed where they are written, so that one beyond a limit is reported there, not by the first run
that needs it.
"""

from __future__ import annotations

from typing import Any

from gslang.check import checked as ir
from gslang.check.arithmetic import BINARY, FAILURES, negative
from gslang.check.builtins import BUILTINS
from gslang.check.context import Denotation, Lowering, ValueOf
from gslang.check.decided import UNKNOWN
from gslang.check.limits import LimitExceeded, bounded
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


def known(lowering: Lowering, value: ir.Value) -> Any:
    """The value of an expression made of literals; `UNKNOWN` of others."""
    whole = value.meant(lowering.lets)
    return whole.value if isinstance(whole, ir.Const) else lowering.known.get(id(whole), (None, UNKNOWN))[1]


def _computed(lowering: Lowering, value: ir.Value) -> Any:
    """The value of an expression whose parts were noted."""
    match value:
        case ir.UnaryValue("-", operand):
            parts: tuple[Any, ...] = (operand,)
            compute: Any = negative
        case ir.BinaryValue(operator, left, right):
            parts, compute = (left, right), BINARY[operator]
        case ir.TupleValue(items) if not any(isinstance(item, ir.SpreadValue) for item in items):
            parts, compute = items, _listed
        case ir.Builtin(name, arguments):
            parts, compute = arguments, BUILTINS[name]
        case _:
            return UNKNOWN
    found = [known(lowering, part) for part in parts]
    return UNKNOWN if any(part is UNKNOWN for part in found) else compute(*found)


def _listed(*items: object) -> Any:
    return bounded(items)
