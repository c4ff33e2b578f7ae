"""New constants, `const(value = a, dtype = d, shape = s)` in targets: what their arguments may be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from gslang.check import attribute_values, values
from gslang.check import checked as ir
from gslang.check.context import Lowering, Stop, TargetOf, ValueOf, article
from gslang.check.known_values import known, possible
from gslang.dialect.domain_text import value_text
from gslang.syntax import nodes as n

_OF_CONSTANTS = {
    "value": (
        "a number, or a tuple of numbers",
        ("int", "float", "number", "bool", "tuple", "array", "any", "none"),
        "write its elements: `value = [1, 2]`",
    ),
    "dtype": (
        "the name of a data type", ("str", "dtype", "any", "none"), 'write a string: `dtype = "int64"`'
    ),
    "shape": ("a tuple of sizes", ("tuple", "any", "none"), "write the sizes, `shape = (2, 3)`"),
}
"""Argument of a new constant → what it is, its types, and the help for another value."""


def constant_call(lowering: Lowering, expr: n.Call, name: str) -> TargetOf:
    """`const(value = a, dtype = d)` in a target; `shape = s` fills."""
    if name == "splat":
        lowering.stop(
            "E0506", "`splat` matches constants, and a target creates them", expr.span,
            "write `const(value = v, shape = s)`",
        )
    given: dict[str, ir.Value] = {}
    written: dict[str, list[tuple[n.Expr | n.Star, ir.Value]]] = {"shape": []}
    lowering.check_once(expr.arguments)
    for argument in expr.arguments:
        if isinstance(argument, n.Keyword) and argument.name in ("value", "dtype", "shape"):
            found = values.value(lowering, argument.value)
            given[argument.name] = found.value
            written[argument.name] = _check_argument(lowering, argument, found)
        else:
            lowering.error(
                "E0303", "a new constant takes `value`, `dtype` and `shape`", argument.span,
                'write `const(value = v, dtype = "float32")`',
            )
    if "value" not in given and len(given) < len(expr.arguments):
        raise Stop  # `const(1.0)` is reported already
    if "value" not in given:
        lowering.stop("E0604", "a new constant needs its value", expr.span, "write `const(value = …)`")
    _check_filled(lowering, written["value"], [value for _, value in written["shape"]])
    return lowering.add_target(
        ir.MakeConst(given["value"], given.get("dtype"), False, given.get("shape")), expr.span
    )


def _check_argument(
    lowering: Lowering, argument: n.Keyword, found: ValueOf
) -> list[tuple[n.Expr | n.Star, ir.Value]]:  # fmt: skip
    """The values that an argument may be, with where each is written. What it cannot be is reported."""
    needed, kinds, help = _OF_CONSTANTS[argument.name]
    right = []
    for written, part in possible(lowering, argument.value, found):
        count = len(lowering.diagnostics)
        if part.type not in kinds:
            lowering.error(
                "E0501", f"`{argument.name}` of a constant is {needed}, found {article(part.type)}",
                written.span, help,
            )
        elif argument.name == "dtype":
            attribute_values.check_named(lowering, written, part.value)
        elif argument.name == "shape":
            attribute_values.check_sizes(lowering, "E0501", written, part.value)
        else:
            _check_elements(lowering, written, part.value)
        if len(lowering.diagnostics) == count:
            right.append((written, part.value))
    return right


def _check_elements(lowering: Lowering, expr: n.Expr | n.Star, found: ir.Value) -> None:
    """Report a tuple that holds something else than numbers, or rows of different lengths."""
    value = known(lowering, found)
    if not isinstance(value, tuple):
        return
    wrong = next((item for item in _elements(value) if not isinstance(item, int | float)), 0)
    if not isinstance(wrong, int | float):
        lowering.error(
            "E0501", f"`{value_text(wrong)}` is not an element of a constant", expr.span,
            "write numbers, or `true` and `false`",
        )
    elif _shape(value) is None:
        lowering.error(
            "E0501", "the rows of a constant have different lengths", expr.span,
            "write as many elements in each row: `((1, 2), (3, 4))`",
        )


def _check_filled(
    lowering: Lowering, found: Iterable[tuple[n.Expr | n.Star, ir.Value]], shapes: Sequence[ir.Value]
) -> None:
    """Report a value that fills none of the shapes, if these are known: it is repeated along axes that it
    lacks, or in which it has one element.
    """
    sizes = [known(lowering, shape) for shape in shapes]
    if not sizes or not all(isinstance(one, tuple) for one in sizes):
        return
    for written, value in found:
        own = _shape(known(lowering, value))
        if own and not any(_fills(own, size) for size in sizes):
            lowering.error(
                "E0501",
                f"a value of shape {value_text(own)} does not fill the shape {value_text(sizes[0])}",
                written.span, "write its elements in rows, `((1,), (2,))`, or one number for all elements",
            )


def _fills(own: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    last = shape[len(shape) - len(own) :]
    return len(own) <= len(shape) and all(mine in (1, size) for mine, size in zip(own, last))


def _elements(value: object) -> Iterator[object]:
    if isinstance(value, tuple):
        for item in value:
            yield from _elements(item)
    else:
        yield value


def _shape(value: object) -> tuple[int, ...] | None:
    """The shape of nested tuples; None if their lengths differ."""
    if not isinstance(value, tuple):
        return ()
    inner = {_shape(item) for item in value} or {()}
    shape = inner.pop()
    return None if inner or shape is None else (len(value), *shape)
