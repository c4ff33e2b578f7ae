"""Calls of what is no operator: why, and what may be meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Final, NoReturn

from gslang.base.resources import stdlib_path
from gslang.base.suggest import did_you_mean
from gslang.check import checked as ir
from gslang.check.attribute_values import declared
from gslang.check.context import (
    BUILTIN_ARGUMENTS,
    FUNCTIONS,
    KINDS,
    Lowering,
    NodeOf,
    Stop,
    TargetOf,
    ValueOf,
    branches_of,
)
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
        if not lowering.in_graph:  # in a test, or in the meaning of an operator
            lowering.stop(
                "E0304", f"`{name}` is a kind, not a function", expr.callee.span, lowering.in_a_rule
            )
        lowering.stop(
            "E0304", f"`{name}` is a kind, not a function", expr.callee.span,
            f"declare an input of this kind, `rule r(w: {name})`, or compare the kind of a node, "
            '`w.kind == "const"`' if lowering.side == "source"
            else "a target creates calls and constants; inputs and parameters come from the source",
        )
    _refuse_method(lowering, expr, name)
    _refuse_function(lowering, expr, name)
    _refuse_shared(lowering, expr, name)
    guess = _with_prefix(name, lowering) or did_you_mean(
        name, [*lowering.dialect.operators, *lowering.functions, *FUNCTIONS]
    ) or _with_beginning(name, lowering)
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
    declare = f"declare it: `{_declaration(lowering, expr, name)}`"
    if guess and "." in name and name.partition(".")[0] not in (guess.partition(".")[0], *_FRAMEWORKS):
        lowering.stop(
            "E0301", f"unknown operator `{name}`", expr.callee.span, f"did you mean `{guess}`? Or {declare}"
        )
    lowering.stop(
        "E0301", f"unknown operator `{name}`", expr.callee.span,
        f"did you mean `{guess}`?" if guess else declare,
    )


def _refuse_shared(lowering: Lowering, expr: n.Call, name: str) -> None:
    """A function that the shipped rules of the dialect share is used before it is called."""
    module = stdlib_path() / lowering.dialect.name / "common.gsl"
    declared = rf"^fn {re.escape(name)}\("
    if module.is_file() and re.search(declared, module.read_text(encoding="utf-8"), re.MULTILINE):
        lowering.stop(
            "E0301", f"unknown operator `{name}`", expr.callee.span,
            "a shipped function has this name: write "
            f"`use std.{lowering.dialect.name}.common;` at the top of the file",
        )


_METHODS: Final[Mapping[str, str]] = {
    "startswith": 'compare its beginning: `{}[:4] == "attn"`',
    "endswith": 'compare its end: `{}[-4:] == "attn"`',
    "contains": '`"attn" in {}` tests this',
    "count": "`len([v for v in {0} if v == 1])` is the number of such items",
    "index": "`[k for k in range(len({0})) if {0}[k] == 1]` are the places of an item",
    "size": "the number of elements of a tensor is `numel(x.shape)`",
}
"""Helps for functions that values have in Python."""


_FRAMEWORKS: Final = (
    "F", "aten", "ai", "jax", "jnp", "keras", "math", "nn", "np", "numpy", "onnx", "ops", "relax", "relay",
    "tf", "torch", "tvm",
)
"""Modules before the names of operators elsewhere; they are no domains of custom operators."""
_ELSEWHERE: Final[Mapping[str, str]] = {
    "isinstance": 'compare the kind of a node, `w.kind == "const"`, or its operator, `y.op == "Relu"`',
    "type": 'compare the kind of a node, `w.kind == "const"`, or its operator, `y.op == "Relu"`',
    "hasattr": "an attribute that is not given is `none`: `y.perm != none`",
    "getattr": "read an attribute by its name: `y.perm`",
    "tuple": "lists and tuples are the same: write the value alone",
    "list": "lists and tuples are the same: write the value alone",
    "float": "numbers are converted where they are used: write the value alone; infinity is `inf`",
    "enumerate": "number the items: `[(k, s[k]) for k in range(len(s))]`",
    "map": "write `[f(v) for v in s]`",
    "filter": "write `[v for v in s if v > 1]`",
    "wildcard": "a tensor is an input of the rule, `rule r(x): Relu(x) => x;`, or `any()`",
    "is_op": "write a call of the operator: `nn.relu(x)`",
    "is_constant": "declare the input `c: const`",
    "set": "compare the items: `all(v in t for v in s)`",
}
"""Functions that Python and the pattern language of TVM have → what is written here instead."""


def _refuse_function(lowering: Lowering, expr: n.Call, name: str) -> None:
    """Report a function of Python: of values, or the root of a number, which is no operator either."""
    module, _, last = name.rpartition(".")
    argument = expr.arguments[0] if len(expr.arguments) == 1 else None
    if last == "sqrt" and module in ("", "math", "np", "numpy", "torch") and (
        isinstance(argument, n.Positional) and isinstance(argument.value, n.Literal)
    ):
        lowering.stop(
            "E0301", f"unknown function `{name}`", expr.callee.span,
            f"the root of a number is written `{argument.value.span.text} ** 0.5`",
        )
    if module in ("", "math", "np", "numpy") and last in BUILTIN_ARGUMENTS and module:
        lowering.stop("E0301", f"unknown function `{name}`", expr.callee.span, f"write `{last}(…)`")
    if not module and last in _ELSEWHERE and lowering.dialect.get(name) is None:
        lowering.stop("E0301", f"unknown function `{name}`", expr.callee.span, _ELSEWHERE[last])


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
        case n.Call(n.Name("is_op"), (n.Positional(n.Literal(str(name))),)):
            hint = f"write a call of the operator: `{name}(x)`"
        case n.Attribute(base, field) if (known := _with_prefix(field, lowering)) is not None:
            hint = f"operators are not methods: write `{known}({_shortened(base.span.text)})`"
        case _:
            hint = "call an operator, a function or an operator variable by its name"
    lowering.stop("E0304", "this is not callable", callee.span, hint)


def _declaration(lowering: Lowering, expr: n.Call, name: str) -> str:
    """A declaration of an operator under which a call of it has no errors."""
    parameters: dict[str, str] = {}
    for k, argument in enumerate(expr.arguments):
        match argument:
            case n.Positional(n.Name(of)) if of not in parameters and of not in KINDS:
                parameters[of] = "tensor"
            case n.Positional(n.TupleExpr()):
                parameters[f"x{k}"] = "tuple"
            case n.Positional():
                parameters[f"x{k}"] = "tensor"
            case n.Keyword(attribute, n.Literal(bool() | int() | float() | str() as value)):
                parameters[attribute] = type(value).__name__
            case n.Keyword(attribute, n.TupleExpr()) | n.Keyword(attribute, n.Comprehension()):
                parameters[attribute] = "int[]"
            case n.Keyword(attribute, n.Attribute(n.Name(node), _) as read):
                parameters[attribute] = _type_of(lowering, node, read)
            case _:
                return f"op {name}(x: tensor) -> tensor;"
    listed = ", ".join(f"{of}: {kind}" for of, kind in (parameters or {"x": "tensor"}).items())
    return f"op {name}({listed}) -> tensor;"


def _type_of(lowering: Lowering, node: str, read: n.Attribute) -> str:
    """The declared type of an attribute that is read of a node of the source."""
    what = lowering.look_up(node)
    if isinstance(what, NodeOf):
        attribute = ir.NodeAttr(what.place, what.node, read.field)
        for spec in declared(lowering, attribute):
            return " | ".join(map(str, spec.types))
    return {"shape": "int[]", "ndim": "int", "dtype": "dtype"}.get(read.field, "int")


def _shortened(text: str) -> str:
    return text if len(text) <= 30 and "\n" not in text else "…"


def _with_prefix(name: str, lowering: Lowering) -> str | None:
    """The operator `nn.relu` for `relu` or `ReLU`: the one whose last part is this name."""
    return operator_with_last_part(name, lowering.dialect.operators)


def _with_beginning(name: str, lowering: Lowering) -> str | None:
    """The operator `LayerNormalization` for `LayerNorm`: the only one that begins with this name."""
    wanted = name.rpartition(".")[2].lower()
    found = [known for known in lowering.dialect.operators if known.lower().startswith(wanted)]
    return found[0] if len(found) == 1 and len(wanted) > 4 else None


def operator_with_last_part(name: str, operators: Iterable[str]) -> str | None:
    """The shortest of the operators whose last part is that of a name, in any case."""
    wanted = name.rpartition(".")[2].lower()
    return min((o for o in operators if o.rpartition(".")[2].lower() == wanted), key=len, default=None)
