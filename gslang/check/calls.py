"""Callees, the name before `(`: an operator, an operator variable, a `fn`, a built-in function, a kind.
Functions are expanded here."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, Final

from gslang.base.diagnostics import Diagnostic, Label
from gslang.base.suggest import did_you_mean
from gslang.check import checked as ir
from gslang.check import externs, patterns, targets, uses, values
from gslang.check.context import (
    BUILTIN_ARGUMENTS,
    FUNCTIONS,
    USES,
    BlockOf,
    Denotation,
    InstanceOf,
    Lost,
    Lowering,
    NodeOf,
    OperatorOf,
    Stop,
    TargetOf,
    ValueOf,
    is_tensor,
)
from gslang.check.implied_dialect import dialect_with
from gslang.check.variables import dotted
from gslang.syntax import nodes as n

_DEEPEST: Final = 60  # functions that call one another: each is some levels of recursion
_MOST_EXPANSIONS: Final = 2_000  # in one rule
_LONG: Final = 200  # parts of a value that functions gave, tuples and names counted
_LONGEST: Final = 20_000

TENSOR_OR_BUILTIN = frozenset(("cumsum", "sum", "prod", "min", "max", "any", "all", "abs"))


def call(low: Lowering, expr: n.Call, ordered: bool) -> Denotation:
    """Before `(` stands, in this order: an operator variable, a `fn`, an operator, a built-in, a kind."""
    name = dotted(expr.callee)
    if name is None:
        low.stop("E0304", "this is not callable", expr.callee.span)
    known = low.look_up(name)
    if isinstance(known, Lost) and name not in low.dialect.operators:
        raise Stop
    if isinstance(known, OperatorOf):
        low.used_inputs.add(name)
        return make_call(low, expr, known, expr.arguments, None, ordered)
    if name == "distinct":
        return values.distinct(low, expr)
    if name == "splat" or name == "const" and name not in low.functions:
        if low.side == "source":
            return patterns.constant_call(low, expr, name)
        return targets.constant_call(low, expr, name)
    function = low.functions.get(name)
    if isinstance(function, n.ParamDecl):
        low.stop(
            "E0304", f"`{name}` is a parameter of the file and cannot be called", expr.callee.span,
            f"write `{name}`",
        )
    if function is not None:
        return _expand(low, expr, function)
    if name in ("any", "var", "input", "param", "fixed") and all(
        isinstance(a, n.Keyword) for a in expr.arguments
    ):
        if low.side == "source":
            return patterns.inline_kind(low, expr, name, expr.arguments)
    short = name.removeprefix(low.dialect.name + ".")
    operator = name if name in low.dialect.operators else short
    if operator in low.dialect.operators:
        if (
            operator in BUILTIN_ARGUMENTS
            and (operator not in TENSOR_OR_BUILTIN or not _has_tensor(low, expr)) and name == short
        ):
            return values.builtin(low, expr, operator)
        return make_call(low, expr, operator, expr.arguments, None, ordered)
    if name in BUILTIN_ARGUMENTS:
        return values.builtin(low, expr, name)
    if name in USES:
        return uses.uses(low, expr, name)
    if isinstance(known, (NodeOf, TargetOf, ValueOf)):
        low.stop(
            "E0304", f"`{name}` is bound to something that cannot be called, and no operator has this name",
            expr.callee.span,
        )
    if (other := dialect_with(name, low.dialect.name)) is not None:
        message = (
            f"unknown operator `{name}`: dialect `{other}` has it, and this file is of `{low.dialect.name}`"
        )
        near, hint = (
            _with_prefix(name, low), f"did you mean `dialect {other};` as the first line of the file?",
        )
        low.stop(
            "E0301", message, expr.callee.span,
            f"did you mean `{near}`? Or is it a file of `dialect {other};`?" if near else hint,
        )
    guess = _with_prefix(name, low) or did_you_mean(
        name, [*low.dialect.operators, *low.functions, *FUNCTIONS]
    )
    low.stop(
        "E0301", f"unknown operator `{name}`", expr.callee.span,
        f"did you mean `{guess}`?" if guess else f"declare it: `op {name}(x: tensor) -> tensor;`",
    )  # fmt: skip


def _with_prefix(name: str, low: Lowering) -> str | None:
    """The operator `nn.relu` for `relu` or `ReLU`: the one whose last part is this name."""
    wanted = name.rpartition(".")[2].lower()
    return min(
        (known for known in low.dialect.operators if known.rpartition(".")[2].lower() == wanted), key=len,
        default=None,
    )


def _has_tensor(low: Lowering, expr: n.Call) -> bool:
    """True if an argument is a tensor node (looked at without leaving a trace)."""
    for argument in expr.arguments:
        if isinstance(argument, n.Positional) and _looks_like_tensor(low, argument.value):
            return True
    return False


def _looks_like_tensor(low: Lowering, expr: n.Expr) -> bool:
    match expr:
        case n.Name(name):
            return is_tensor(low.look_up(name))
        case n.Call(callee):
            name = dotted(callee) or ""
            known = low.look_up(name)
            if isinstance(known, OperatorOf):
                return True
            if name in low.functions:
                return any(
                    _looks_like_tensor(low, a.value) for a in expr.arguments if isinstance(a, n.Positional)
                )
            short = name.removeprefix(low.dialect.name + ".")
            if short in TENSOR_OR_BUILTIN:
                return _has_tensor(low, expr)
            return short in low.dialect.operators and short not in BUILTIN_ARGUMENTS
        case n.Unary(_, operand):
            return _looks_like_tensor(low, operand)
        case n.Binary(operator, left, right) if operator in ("+", "-", "*", "/", "|"):
            return _looks_like_tensor(low, left) or _looks_like_tensor(low, right)
        case n.Projection(base, _) | n.Index(base, _):
            return _looks_like_tensor(low, base)
        case n.Attribute(base, field):
            what = (
                low.look_up(base.id) if isinstance(base, n.Name)
                else low.look_up(base.base.id) if isinstance(base, n.Index) and isinstance(base.base, n.Name)
                else None
            )
            if isinstance(what, (InstanceOf, BlockOf)):
                return is_tensor(low.templates[what.block].names.get(field))
            run = low.runs.get(low.inside.block) if low.inside is not None else None
            return run is not None and base == n.Name("prev", span=base.span) and field == run.link
        case n.Walrus(_, value):
            return _looks_like_tensor(low, value)
        case n.Conditional(then, _, otherwise):
            return _looks_like_tensor(low, then) or _looks_like_tensor(low, otherwise)
    return False


def _expand(low: Lowering, expr: n.Call, function: n.FnDecl) -> Denotation:
    """A call of a `fn`: its body with the arguments' meanings for its parameters; its own nodes are new at
    each use.
    """
    name = function.name.id
    if name in low.expanding:
        loop = " → ".join([*low.expanding[low.expanding.index(name) :], name])
        low.stop(
            "E0306", f"`{name}` calls itself: {loop}", expr.span,
            "functions are expanded in place, so recursion is not possible",
        )
    given: dict[str, Denotation] = {}
    parameters = [p.name.id for p in function.parameters]
    positional = 0
    for argument in expr.arguments:
        match argument:
            case n.Positional(value):
                if positional < len(parameters):
                    given[parameters[positional]] = low.resolve(value)
                positional += 1
            case n.Keyword(key, value) if key in parameters:
                given[key] = low.resolve(value)
            case n.Keyword(key, _):
                guess = did_you_mean(key, parameters)
                low.stop(
                    "E0305", f"`{name}` has no parameter `{key}`", argument.span,
                    f"did you mean `{guess}`?" if guess else None,
                )
            case _:
                low.stop("E0305", "a function takes positional or named arguments only", argument.span)
    if positional > len(parameters) or len(given) != len(parameters):
        many = "s" if len(parameters) != 1 else ""
        low.stop(
            "E0305", f"`{name}` takes {len(parameters)} argument{many}, got {max(positional, len(given))}",
            expr.span, related=(_label(function.name, "declared here"),),
        )
    if function.body is None:
        return externs.call(low, expr, function, given)
    for parameter, what in ((p, given[p.name.id]) for p in function.parameters):
        if (
            parameter.type is not None and parameter.type.id == "tensor" and isinstance(what, ValueOf)
            and what.type in ("str", "tuple")
        ):
            low.error("E0501", f"`{parameter.name.id}` of `{name}` is a tensor", expr.span)
    before = low.expanding
    loops = tuple(names for names in low.overlay if "" not in names)
    use: tuple[object, ...] = (name, low.side, *map(id, given.values()), 0, *map(id, loops))
    if before and use in low.expanded:
        return low.expanded[use][0]
    low.expansions += 1
    if len(before) >= _DEEPEST or low.expansions > _MOST_EXPANSIONS:
        far = (
            f"more than {_DEEPEST} levels deep" if len(before) >= _DEEPEST
            else f"to more than {_MOST_EXPANSIONS:,} calls"
        )
        low.stop("E0107", f"functions expand {far}", expr.span, "name parts of it with statements")
    low.expanding = (*before, name)
    low.overlay.append({"": ValueOf(ir.Const(None)), **given})
    count = len(low.diagnostics)
    try:
        result = _shared(low, expr, low.resolve(function.body))
        if (
            isinstance(result, ValueOf) or isinstance(result, TargetOf)
            and isinstance(low.targets[result.target], ir.MakeCall)
        ):
            low.expanded[use] = (result, given, loops)  # which must live as long as their ids are known
        return result
    finally:
        low.overlay.pop()
        low.expanding = before
        if len(low.diagnostics) > count and not before:
            low.diagnostics[count:] = [_at_use(one, expr, name) for one in low.diagnostics[count:]]


def _shared(low: Lowering, expr: n.Call, what: Denotation) -> Denotation:
    """A value that has grown long gets a number of its own, so that it is written down and evaluated once."""
    if not isinstance(what, ValueOf):
        return what
    size = _size(what.value, low.sizes)
    if size[0] > _LONG and not size[1]:
        return ValueOf(low.add_let(what.value), what.type)
    if size[0] > _LONGEST:
        low.stop(
            "E0107", f"functions expand to an expression of more than {_LONGEST:,} parts", expr.span,
            "compute parts of it outside the comprehension",
        )
    return what


def _size(value: object, known: dict[int, tuple[int, bool, Any]]) -> tuple[int, bool, Any]:
    """The number of parts of a value when written out, True if it reads a variable of a comprehension, and
    the value."""
    if id(value) not in known:
        parts = (
            value if isinstance(value, tuple)
            else [getattr(value, f.name) for f in fields(value)] if is_dataclass(value)
            else ()
        )
        below = [_size(part, known) for part in parts]
        known[id(value)] = (
            1 + sum(b[0] for b in below), isinstance(value, ir.Local) or any(b[1] for b in below), value,
        )
    return known[id(value)]


def _at_use(diagnostic: Diagnostic, expr: n.Call, name: str) -> Diagnostic:
    return replace(diagnostic, related=(*diagnostic.related, _label(expr, f"in this use of `{name}`")))


def _label(node: n.Node, text: str) -> Label:
    return Label(node.span, text)


def make_call(
    low: Lowering, expr: n.Expr, operator: str | OperatorOf, arguments: tuple[n.Argument, ...],
    known: list[Denotation] | None, ordered: bool = False,
) -> Denotation:  # fmt: skip
    seen: set[str] = set()
    for argument in arguments:
        if isinstance(argument, n.Keyword):
            if argument.name in seen:
                low.error(
                    "E0311", f"`{argument.name}` is given twice", argument.name_span,
                    help="remove one of them",
                )
            seen.add(argument.name)
    if low.side == "source":
        return patterns.make_call(low, expr, operator, arguments, known, ordered)
    return targets.make_call(low, expr, operator, arguments, known)
