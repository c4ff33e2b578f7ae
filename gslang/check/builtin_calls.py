"""Calls of built-in functions."""

from __future__ import annotations

from gslang.check import checked as ir
from gslang.check.context import (
    BUILTIN_ARGUMENTS,
    BUILTIN_TYPES,
    BlockOf,
    Lowering,
    NodeOf,
    NodesOf,
    TargetOf,
    ValueOf,
    article,
)  # fmt: skip
from gslang.check.values import force
from gslang.syntax import nodes as n

_CALLED = {
    "len": "write `len(x.shape)`",
    "range": "write `range(n)`, `range(first, end)` or `range(first, end, step)`",
    "normalize_axis": "write `normalize_axis(y.axis, x.ndim)`",
    "layout_remap": 'write `layout_remap("NCHW", "NHWC")`',
    "broadcast": "write `broadcast(x.shape, y.shape)`",
    "close": "write `close(a, b, 1e-5)`",
}
"""Calls of built-in functions whose arguments are not any values."""
_SEQUENCES = frozenset({"tuple", "array", "any"})
_KINDS = {
    "sequence": _SEQUENCES | {"str", "dtype"},
    "sequence of numbers": _SEQUENCES,
    "number": frozenset({"int", "float", "number", "bool", "array", "any"}),
    "string": frozenset({"str", "dtype", "any"}),
}
"""The needed argument → the types of it."""
_HELP = {
    "sequence": "write a tuple: `{}(x.shape)`",
    "sequence of numbers": "write a tuple: `{}(x.shape)`",
    "number": "write a number, such as an item, `x.shape[0]`, or a length, `len(x.shape)`",
    "string": 'write a string: `"NCHW"`',
}
_OF_EACH = "write the condition alone, or one for each element: `{}(v == 1 for v in c.value)`"
_NEEDED = {
    **dict.fromkeys(("len", "reversed", "zip", "any", "all", "concat"), "sequence"),
    **dict.fromkeys(("sum", "prod", "cumsum", "numel", "broadcast"), "sequence of numbers"),
    **dict.fromkeys(("range", "abs", "min", "max", "normalize_axis", "close"), "number"),
    "layout_remap": "string",
}


def _same_of_tensors(lowering: Lowering, name: str, arguments: int) -> str | None:
    """The operator that computes of a tensor what a built-in function computes of a tuple, or of several
    tensors what it computes of several numbers."""
    wanted = (f"reduce{name}", name) if arguments == 1 else (name, f"reduce{name}")
    found = {known.lower(): known for known in lowering.dialect.operators if known.lower() in wanted}
    return next((found[text] for text in wanted if text in found), None)


def builtin(lowering: Lowering, expr: n.Call, name: str) -> ValueOf:
    """A call of a built-in function."""
    least, most = BUILTIN_ARGUMENTS[name]
    arguments: list[ValueOf] = []
    for argument in expr.arguments:
        if not isinstance(argument, n.Positional):
            lowering.stop(
                "E0503", f"`{name}` takes positional arguments only", argument.span, "write the value alone"
            )
        what = lowering.resolve(argument.value)
        if name == "len" and isinstance(what, (BlockOf, NodesOf)):
            indices = what.indices if isinstance(what, BlockOf) else None
            if indices is None:
                return ValueOf(ir.Length(what.block), "int")
            return ValueOf(ir.Builtin("len", (indices,)), "int")
        if isinstance(what, NodeOf | TargetOf) and (
            operator := _same_of_tensors(lowering, name, len(expr.arguments))
        ):
            lowering.stop(
                "E0505", f"`{name}` computes a value, found a node", argument.span,
                f"call the operator: `{operator}(…)`",
            )
        arguments.append(force(lowering, argument.value, what))
    if name == "range" and len(arguments) == 1 and isinstance(length := arguments[0].value, ir.Length):
        return ValueOf(ir.Instances(length.block), "tuple")
    if not least <= len(arguments) <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        lowering.stop(
            "E0503", f"`{name}` takes {wanted} argument{'s' if wanted != '1' else ''}, got {len(arguments)}",
            expr.span, _CALLED.get(name, f"write `{name}({', '.join('abc'[: max(1, least)])})`"),
        )
    for argument, found in zip(expr.arguments, arguments):
        needed = "sequence" if name in ("min", "max") and len(arguments) == 1 else _NEEDED[name]
        if found.type not in _KINDS[needed]:
            lowering.error(
                "E0501", f"`{name}` needs a {needed}, found {article(found.type)}", argument.span,
                _OF_EACH.format(name) if name in ("all", "any") and found.type == "bool"
                else _HELP[needed].format(name),
            )
    kind = BUILTIN_TYPES.get(name) or (arguments[0].type if len(arguments) > 1 or name == "abs" else "any")
    return ValueOf(ir.Builtin(name, tuple(a.value for a in arguments)), kind)
