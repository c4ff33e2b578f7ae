"""Calls of what is no operator: why, and what may be meant."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Final, NoReturn

from gslang.base.suggest import did_you_mean
from gslang.check.context import FUNCTIONS, KINDS, Lowering, NodeOf, Stop, TargetOf, ValueOf, branches_of
from gslang.check.implied_dialect import dialect_with
from gslang.syntax import nodes as n


def refuse(lowering: Lowering, expr: n.Call, name: str) -> NoReturn:
    """Say why a name cannot be called, and what may be meant, after what is wrong with the arguments."""
    known = lowering.look_up(name)
    for argument in expr.arguments:
        if isinstance(argument, n.Positional):
            with suppress(Stop):
                lowering.resolve(argument.value)
    if name in lowering.not_yet:
        lowering.stop(
            "E0301", f"operator `{name}` is not declared yet", expr.callee.span,
            "a declaration can use only operators declared before it",
        )
    if name in KINDS:
        lowering.stop(
            "E0304", f"`{name}` is a kind, not a function", expr.callee.span,
            f"declare an input of this kind, `rule r(w: {name})`, or compare the kind of a node, "
            '`w.kind == "const"`' if lowering.side == "source"
            else "a target creates calls and constants; inputs and parameters come from the source",
        )
    _refuse_method(lowering, expr, name)
    guess = _with_prefix(name, lowering) or did_you_mean(
        name, [*lowering.dialect.operators, *lowering.functions, *FUNCTIONS]
    )
    if isinstance(known, (NodeOf, TargetOf, ValueOf)):
        lowering.stop(
            "E0304", f"`{name}` is bound to something that cannot be called, and no operator has this name",
            expr.callee.span,
            f"did you mean `{guess}`?" if guess else "call an operator: `gslc ops` lists them",
        )
    if (other := dialect_with(name, lowering.dialect.name)) is not None:
        message = (
            f"unknown operator `{name}`: dialect `{other}` has it, and this file is of "
            f"`{lowering.dialect.name}`"
        )
        near, hint = (
            _with_prefix(name, lowering), f"did you mean `dialect {other};` as the first line of the file?",
        )
        lowering.stop(
            "E0301", message, expr.callee.span,
            f"did you mean `{near}`? Or is it a file of `dialect {other};`?" if near else hint,
        )
    lowering.stop(
        "E0301", f"unknown operator `{name}`", expr.callee.span,
        f"did you mean `{guess}`?" if guess else f"declare it: `op {name}(x: tensor) -> tensor;`",
    )  # fmt: skip


_METHODS: Final[Mapping[str, str]] = {
    "startswith": 'compare its beginning: `{}[:4] == "attn"`',
    "endswith": 'compare its end: `{}[-4:] == "attn"`',
    "contains": '`"attn" in {}` tests this',
    "index": "`[k for k in range(len({0})) if {0}[k] == 1]` are the places of an item",
    "size": "the number of elements of a tensor is `numel(x.shape)`",
}
"""Helps for functions that values have in Python."""


def _refuse_method(lowering: Lowering, expr: n.Call, name: str) -> None:
    """Report a function of a node or of a value, which have none."""
    first, _, last = name.rpartition(".")
    base = name.partition(".")[0]
    if not first or lowering.look_up(base) is None or any(
        operator.startswith(f"{base}.") for operator in lowering.dialect.operators
    ):
        return
    known = _with_prefix(last, lowering)
    hint = (
        f"did you mean `{known}({first})`?" if known
        else _METHODS.get(last, "functions take values as arguments: `len({})`").format(first)
    )
    lowering.stop("E0304", f"`{first}` has no function `{last}`", expr.callee.span, hint)


def refuse_expression(lowering: Lowering, callee: n.Expr) -> NoReturn:
    """Say that what stands before `(` is no name, and what may be meant."""
    match callee:
        case n.Binary("|"):  # in a family its place is that of a name, but those of its parts are their own
            listed = " | ".join(part.span.text for part in branches_of(callee))
            hint = f"declare an operator variable, `rule r(x, f: op({listed}))`, and call `f`"
        case n.Literal(str(name)) if name in lowering.dialect.operators:
            hint = f"write the operator without quotes: `{name}`"
        case _:
            hint = "call an operator, a function or an operator variable by its name"
    lowering.stop("E0304", "this is not callable", callee.span, hint)


def _with_prefix(name: str, lowering: Lowering) -> str | None:
    """The operator `nn.relu` for `relu` or `ReLU`: the one whose last part is this name."""
    wanted = name.rpartition(".")[2].lower()
    return min(
        (known for known in lowering.dialect.operators if known.rpartition(".")[2].lower() == wanted),
        key=len,
        default=None,
    )
