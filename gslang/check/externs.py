"""Functions in Python: the signature that a rule file gives them, and calls of them.

Nothing is imported here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from gslang.base.diagnostics import Diagnostic, Label
from gslang.base.source import Span
from gslang.base.suggest import did_you_mean
from gslang.check import checked as ir
from gslang.check import values
from gslang.check.context import Denotation, Lowering, ValueOf
from gslang.check.fn_types import ACCEPTED, TYPES, check_types
from gslang.check.walks import walk
from gslang.syntax import nodes as n

_REFERENCE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)
_SHOWN: Final = '`@extern("module:function") fn fits(shape: tuple, dtype: dtype) -> bool;`'


def check_function(item: n.FnDecl) -> list[Diagnostic]:
    """The errors in the annotations of a function and in the types of its signature."""
    found = []
    named = [a for a in item.annotations if a.name.id == "extern"]
    for annotation in item.annotations:
        name = annotation.name.id
        if name not in ("extern", "allow"):
            guess = did_you_mean(name, ("extern", "allow"))
            help = f"did you mean `@{guess}`?" if guess else "functions have `@extern` and `@allow`"
            found.append(Diagnostic(
                "E0701", f"`@{name}` is not an annotation of a function", Label(annotation.name.span),
                help=help,
            ))
    for annotation in named[1:]:
        found.append(
            Diagnostic("E0702", "`@extern` is given twice", Label(annotation.span), help="remove this one")
        )
    if item.body is not None:
        if named:
            message = f"`{item.name.id}` has a body and a Python function"
            found.append(Diagnostic(
                "E0706", message, Label(named[0].span),
                help=f"remove one of them; without a body: {_SHOWN}",
            ))
        return [*found, *check_types(item)]
    if not named:
        help = f"write `fn {item.name.id}(…) = …;`, or name a Python function: {_SHOWN}"
        found.append(Diagnostic("E0706", f"`{item.name.id}` has no body", Label(item.name.span), help=help))
    elif _reference(named[0]) is None:
        found.append(Diagnostic(
            "E0702", "`@extern` names a Python function", Label(named[0].span),
            help='`@extern("module:function")`',
        ))
    for parameter in item.parameters:
        if parameter.type is None:
            message = f"`{parameter.name.id}` of a function in Python needs a type"
            found.append(Diagnostic(
                "E0706", message, Label(parameter.span),
                help=f"`{parameter.name.id}: int`; types: {', '.join(TYPES)}",
            ))
    for type_ in [p.type for p in item.parameters if p.type is not None] + (
        [item.result] if item.result is not None else []
    ):
        if type_.id not in TYPES:
            found.append(Diagnostic(
                "E0706", f"`{type_.id}` is not a type of a value", Label(type_.span), help=_mend(type_.id)
            ))
    return found


def _mend(name: str) -> str:
    if name == "tensor":
        return "Python is given values: declare `shape: tuple, dtype: dtype`, and pass `x.shape, x.dtype`"
    guess = did_you_mean(name, TYPES)
    return f"did you mean `{guess}`?" if guess else f"types: {', '.join(TYPES)}"


def _reference(annotation: n.Annotation) -> str | None:
    match annotation.arguments:
        case (n.Positional(n.Literal(str(text))),) if _REFERENCE.fullmatch(text):
            return text
    return None


def call(lowering: Lowering, expr: n.Call, function: n.FnDecl, given: Mapping[str, Denotation]) -> ValueOf:
    """A call of a function in Python, as a value."""
    annotation = next((a for a in function.annotations if a.name.id == "extern"), None)
    reference = None if annotation is None else _reference(annotation)
    result = function.result.id if function.result is not None else "any"
    arguments = []
    for parameter in function.parameters:
        what = values.force(lowering, written(expr, function, parameter), given[parameter.name.id])
        wanted = "any" if parameter.type is None else parameter.type.id
        if what.type not in ACCEPTED.get(wanted, (what.type,)):
            lowering.error(
                "E0501",
                f"`{parameter.name.id}` of `{function.name.id}` must be of type {wanted}, found {what.type}",
                written(expr, function, parameter).span,
                f"pass a value of type {wanted}, or change the declaration",
            )
        arguments.append(what.value)
    kinds = tuple("any" if p.type is None else p.type.id for p in function.parameters)
    source = function.span.source.name
    folder = str(Path(source).resolve().parent) if not source.startswith("<") else str(Path.cwd())
    span = annotation.span if annotation is not None else function.name.span
    return ValueOf(
        ir.Extern(function.name.id, reference or "", result, kinds, tuple(arguments), folder, span), result
    )


def written(expr: n.Call, function: n.FnDecl, parameter: n.FnParameter) -> Any:
    """The argument for a parameter, as written."""
    for argument in expr.arguments:
        if isinstance(argument, n.Keyword) and argument.name == parameter.name.id:
            return argument.value
    return [a.value for a in expr.arguments if isinstance(a, n.Positional)][
        function.parameters.index(parameter)
    ]


def externs_in(rule: ir.CheckedRule) -> tuple[ir.Extern, ...]:
    """The Python functions that a rule rests on, each once, in order."""
    parts = walk((rule.nodes, rule.lets, rule.where, rule.blocks, rule.target.targets))
    return tuple({part.reference: part for part in parts if isinstance(part, ir.Extern)}.values())


def refuse(lowering: Lowering, where: str, items: object, span: Span) -> None:
    """Report a function in Python where no rule is run."""
    for part in walk(items):
        if isinstance(part, ir.Extern):
            lowering.error(
                "E0706", f"{where} cannot depend on the Python function of `{part.name}`", span,
                "only rules call functions in Python",
            )
            return
