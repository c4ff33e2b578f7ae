"""Types of the parameters of functions: those that there are, and the arguments that they take."""

from __future__ import annotations

from typing import Final

from gslang.base.diagnostics import Diagnostic, Label
from gslang.base.source import Span
from gslang.base.suggest import did_you_mean
from gslang.check.context import (
    BlockOf,
    Denotation,
    Lowering,
    OperatorNamed,
    OperatorOf,
    ValueOf,
    article,
    is_tensor,
)  # fmt: skip
from gslang.syntax import nodes as n

TYPES: Final = ("any", "array", "bool", "dtype", "float", "int", "str", "tuple")
"""The types of values."""
_OF_ALL: Final = ("tensor", "op", *TYPES)
# declared type → types of the checker that may be one; the value of a constant may be a number
ACCEPTED: Final = {
    "int": ("int", "number", "array", "any"),
    "float": ("int", "float", "number", "array", "any"),
    "bool": ("bool", "array", "any"),
    "str": ("str", "dtype", "any"),
    "dtype": ("str", "dtype", "any"),
    "tuple": ("tuple", "any"),
    "array": ("array", "any"),
}
_NO_TENSORS: Final = ("str", "tuple", "dtype", "graph")


def check_types(item: n.FnDecl) -> list[Diagnostic]:
    """An error for each parameter of a function with a body whose type does not exist."""
    found = []
    for parameter in item.parameters:
        if parameter.type is not None and parameter.type.id not in _OF_ALL:
            guess = did_you_mean(parameter.type.id, _OF_ALL)
            found.append(Diagnostic(
                "E0706", f"unknown type `{parameter.type.id}`", Label(parameter.type.span),
                help=f"did you mean `{guess}`?" if guess else f"types: {', '.join(_OF_ALL)}",
            ))
    return found


def check_argument(
    lowering: Lowering, function: n.FnDecl, parameter: n.FnParameter, what: Denotation, span: Span
) -> None:
    """Report an argument of a function with a body that its parameter does not take."""
    declared = "any" if parameter.type is None else parameter.type.id
    name = parameter.name.id
    said = f"`{name}` of `{function.name.id}` is {'an operator' if declared == 'op' else article(declared)}"
    if isinstance(what, OperatorOf | OperatorNamed):
        if declared not in ("any", "op") and declared in _OF_ALL:
            lowering.stop(
                "E0505", f"{said}, found an operator", span,
                f"pass a call of it, or declare `{name}` without a type",
            )
    elif declared == "op":
        found = article(what.type) if isinstance(what, ValueOf) else "a node"
        lowering.stop(
            "E0505", f"{said}, found {found}", span, f"pass the name of an operator: `{lowering.example}`"
        )
    elif isinstance(what, ValueOf):
        if what.type in _NO_TENSORS if declared == "tensor" else not _is_of(what.type, declared):
            lowering.stop(
                "E0501", f"{said}, found {article(what.type)}", span,
                "pass a node or a number" if declared == "tensor"
                else f"pass a value of type {declared}, or change the declaration",
            )
    elif declared in ACCEPTED and declared != "tuple":  # instances and results of calls are sequences
        found = "a node" if is_tensor(what) else "a sequence" if isinstance(what, BlockOf) else "an instance"
        lowering.stop(
            "E0505", f"{said}, found {found}", span,
            f"pass a value, such as `x.shape[0]`, or declare `{name}: tensor`",
        )


def _is_of(kind: str, declared: str) -> bool:
    """True if a value of this kind may be what is declared; `none` stands for a value that is not given."""
    return kind == "none" or kind in ACCEPTED.get(declared, (kind,))
