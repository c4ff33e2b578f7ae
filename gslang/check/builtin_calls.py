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
)  # fmt: skip
from gslang.check.values import article, force
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
    if name in ("len", "sum", "prod", "all", "cumsum", "reversed") and arguments[0].type in (
        "int", "float", "bool", "none",
    ):
        lowering.error(
            "E0501", f"`{name}` needs a sequence, found {article(arguments[0].type)}", expr.arguments[0].span,
            f"write a tuple: `{name}(x.shape)`",
        )
    kind = BUILTIN_TYPES.get(name) or (arguments[0].type if len(arguments) > 1 or name == "abs" else "any")
    return ValueOf(ir.Builtin(name, tuple(a.value for a in arguments)), kind)
