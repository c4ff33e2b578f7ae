"""Callees, the name before `(`: an operator, an operator variable, a `fn`, a built-in function, a kind.
Functions are expanded here."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Final

from gslang.base.diagnostics import Diagnostic, Label
from gslang.base.suggest import did_you_mean
from gslang.check import checked as ir
from gslang.check import (
    externs,
    fn_types,
    known_values,
    new_constants,
    pattern_calls,
    patterns,
    targets,
    uses,
    values,
)
from gslang.check.builtin_calls import builtin
from gslang.check.context import (
    BUILTIN_ARGUMENTS,
    FUNCTIONS,
    USES,
    BlockOf,
    Denotation,
    InstanceOf,
    Lost,
    Lowering,
    OperatorNamed,
    OperatorOf,
    Stop,
    TargetOf,
    ValueOf,
    is_tensor,
)
from gslang.check.unknown_operator import refuse, refuse_expression
from gslang.syntax import nodes as n

_DEEPEST: Final = 60  # functions that call one another: each is some levels of recursion
_MOST_EXPANSIONS: Final = 2_000  # in one rule
_LONG: Final = 200  # parts of a value that functions gave, tuples and names counted
_LONGEST: Final = 20_000

TENSOR_OR_BUILTIN = frozenset(("cumsum", "sum", "prod", "min", "max", "any", "all", "abs"))


def call(lowering: Lowering, expr: n.Call, ordered: bool) -> Denotation:
    """Before `(` stands, in this order: an operator variable, a `fn`, an operator, a built-in, a kind."""
    name = n.dotted(expr.callee)
    if name is None:
        refuse_expression(lowering, expr.callee)
    known = lowering.look_up(name)
    if isinstance(known, Lost) and name not in lowering.dialect.operators:
        raise Stop
    if isinstance(known, OperatorNamed):
        return make_call(lowering, expr, known.name, expr.arguments, None, ordered)
    if isinstance(known, OperatorOf):
        lowering.used_inputs.add(name)
        return make_call(lowering, expr, known, expr.arguments, None, ordered)
    if name == "distinct":
        return values.distinct(lowering, expr)
    if name == "splat" or name == "const" and name not in lowering.functions:
        if lowering.side == "source":
            return patterns.constant_call(lowering, expr, name)
        return new_constants.constant_call(lowering, expr, name)
    function = lowering.functions.get(name)
    if isinstance(function, n.ParamDecl):
        lowering.stop(
            "E0304", f"`{name}` is a parameter of the file and cannot be called", expr.callee.span,
            "rename the parameter, which shadows it"
            if name in FUNCTIONS or lowering.dialect.get(name) is not None
            else f"write `{name}`",
        )
    if function is not None:
        return _expand(lowering, expr, function)
    if name in ("any", "var", "input", "param", "fixed") and all(
        isinstance(a, n.Keyword) for a in expr.arguments
    ):
        if lowering.side == "source":
            return patterns.inline_kind(lowering, expr, name, expr.arguments)
    short = name.removeprefix(lowering.dialect.name + ".")
    operator = name if name in lowering.dialect.operators else short
    if operator in lowering.dialect.operators:
        if (
            operator in BUILTIN_ARGUMENTS
            and (operator not in TENSOR_OR_BUILTIN or not _has_tensor(lowering, expr)) and name == short
        ):
            return known_values.noted(lowering, expr, builtin(lowering, expr, operator))
        return make_call(lowering, expr, operator, expr.arguments, None, ordered)
    if name in BUILTIN_ARGUMENTS:
        return known_values.noted(lowering, expr, builtin(lowering, expr, name))
    if name in USES:
        return uses.uses(lowering, expr, name)
    refuse(lowering, expr, name)


def _has_tensor(lowering: Lowering, expr: n.Call) -> bool:
    """True if an argument is a tensor node (looked at without leaving a trace)."""
    for argument in expr.arguments:
        if isinstance(argument, n.Positional) and _looks_like_tensor(lowering, argument.value):
            return True
    return False


def _looks_like_tensor(lowering: Lowering, expr: n.Expr) -> bool:
    match expr:
        case n.Name(name):
            return is_tensor(lowering.look_up(name))
        case n.Call(callee):
            name = n.dotted(callee) or ""
            known = lowering.look_up(name)
            if isinstance(known, OperatorOf | OperatorNamed):
                return True
            if name in lowering.functions:
                return any(
                    _looks_like_tensor(lowering, a.value) for a in expr.arguments
                    if isinstance(a, n.Positional)
                )
            short = name.removeprefix(lowering.dialect.name + ".")
            if short in TENSOR_OR_BUILTIN:
                return _has_tensor(lowering, expr)
            return short in lowering.dialect.operators and short not in BUILTIN_ARGUMENTS
        case n.Unary(_, operand):
            return _looks_like_tensor(lowering, operand)
        case n.Binary(operator, left, right) if operator in ("+", "-", "*", "/", "|"):
            return _looks_like_tensor(lowering, left) or _looks_like_tensor(lowering, right)
        case n.Projection(base, _) | n.Index(base, _):
            return _looks_like_tensor(lowering, base)
        case n.Attribute(base, field):
            what = (
                lowering.look_up(base.id) if isinstance(base, n.Name)
                else lowering.look_up(base.base.id) if isinstance(base, n.Index)
                and isinstance(base.base, n.Name)
                else None
            )
            if isinstance(what, (InstanceOf, BlockOf)):
                return is_tensor(lowering.templates[what.block].names.get(field))
            run = lowering.runs.get(lowering.inside.block) if lowering.inside is not None else None
            return run is not None and base == n.Name("prev", span=base.span) and field == run.link
        case n.Walrus(_, value):
            return _looks_like_tensor(lowering, value)
        case n.Conditional(then, _, otherwise):
            return _looks_like_tensor(lowering, then) or _looks_like_tensor(lowering, otherwise)
    return False


def _expand(lowering: Lowering, expr: n.Call, function: n.FnDecl) -> Denotation:
    """A call of a `fn`: its body with the arguments' meanings for its parameters; its own nodes are new at
    each use.
    """
    name = function.name.id
    if name in lowering.expanding:
        loop = " → ".join([*lowering.expanding[lowering.expanding.index(name) :], name])
        lowering.stop(
            "E0306", f"`{name}` calls itself: {loop}", expr.span,
            "functions are expanded in place, so recursion is not possible",
        )
    given = _arguments(lowering, expr, function)
    if function.body is None:
        return externs.call(lowering, expr, function, given)
    for parameter in function.parameters:
        span = externs.written(expr, function, parameter).span
        fn_types.check_argument(lowering, function, parameter, given[parameter.name.id], span)
    before = lowering.expanding
    loops = tuple(names for names in lowering.overlay if "" not in names)
    use: tuple[object, ...] = (name, lowering.side, *map(id, given.values()), 0, *map(id, loops))
    if before and use in lowering.expanded:
        return lowering.expanded[use][0]
    lowering.expansions += 1
    if len(before) >= _DEEPEST or lowering.expansions > _MOST_EXPANSIONS:
        far = (
            f"more than {_DEEPEST} levels deep" if len(before) >= _DEEPEST
            else f"to more than {_MOST_EXPANSIONS:,} calls"
        )
        lowering.stop("E0107", f"functions expand {far}", expr.span, "name parts of it with statements")
    lowering.expanding = (*before, name)
    lowering.overlay.append({"": ValueOf(ir.Const(None)), **given})
    count = len(lowering.diagnostics)
    try:
        result = _shared(lowering, expr, lowering.resolve(function.body))
        if (
            isinstance(result, ValueOf) or isinstance(result, TargetOf)
            and isinstance(lowering.targets[result.target], ir.MakeCall)
        ):
            lowering.expanded[use] = (result, given, loops)  # which must live as long as their ids are known
        return result
    finally:
        lowering.overlay.pop()
        lowering.expanding = before
        if len(lowering.diagnostics) > count and not before:
            lowering.diagnostics[count:] = [_at_use(one, expr, name) for one in lowering.diagnostics[count:]]


def _arguments(lowering: Lowering, expr: n.Call, function: n.FnDecl) -> dict[str, Denotation]:
    """Parameter of a function → its meaning in a call."""
    name = function.name.id
    given: dict[str, Denotation] = {}
    parameters = [p.name.id for p in function.parameters]
    positional = 0
    for argument in expr.arguments:
        match argument:
            case n.Positional(value):
                if positional < len(parameters):
                    given[parameters[positional]] = _argument(lowering, value)
                positional += 1
            case n.Keyword(key, value) if key in parameters:
                given[key] = _argument(lowering, value)
            case n.Keyword(key, _):
                guess = did_you_mean(key, parameters)
                lowering.stop(
                    "E0305", f"`{name}` has no parameter `{key}`", argument.span,
                    f"did you mean `{guess}`?" if guess
                    else f"its parameters: {', '.join(parameters) or 'none'}",
                )
            case _:
                lowering.stop(
                    "E0305", "a function takes positional or named arguments only", argument.span,
                    f"write each: `{name}({', '.join(parameters)})`",
                )
    if positional > len(parameters) or len(given) != len(parameters):
        many = "s" if len(parameters) != 1 else ""
        lowering.stop(
            "E0305", f"`{name}` takes {len(parameters)} argument{many}, got {max(positional, len(given))}",
            expr.span, f"write `{name}({', '.join(parameters)})`",
            related=(_label(function.name, "declared here"),),
        )
    return given


def _argument(lowering: Lowering, expr: n.Expr) -> Denotation:
    """The denotation of an argument of a function: a node, a value, or an operator that the function calls.
    """
    name = n.dotted(expr)
    if name is None:
        return lowering.resolve(expr)
    known = lowering.look_up(name)
    if isinstance(known, OperatorNamed):
        return known
    is_operator = name in lowering.dialect.operators and name not in lowering.functions
    unbound = known is None and lowering.look_up(name.partition(".")[0]) is None
    return OperatorNamed(name) if is_operator and unbound else lowering.resolve(expr)


def _shared(lowering: Lowering, expr: n.Call, what: Denotation) -> Denotation:
    """A value that has grown long gets a number of its own, so that it is written down and evaluated once."""
    if not isinstance(what, ValueOf):
        return what
    size = _size(what.value, lowering.sizes)
    if size[0] > _LONG and not size[1]:
        return ValueOf(lowering.add_let(what.value), what.type)
    if size[0] > _LONGEST:
        lowering.stop(
            "E0107", f"functions expand to an expression of more than {_LONGEST:,} parts", expr.span,
            "compute parts of it outside the comprehension",
        )
    return what


def _size(value: object, known: dict[int, tuple[int, bool, object]]) -> tuple[int, bool, object]:
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
    lowering: Lowering, expr: n.Expr, operator: str | OperatorOf, arguments: tuple[n.Argument, ...],
    known: list[Denotation] | None, ordered: bool = False,
) -> Denotation:  # fmt: skip
    lowering.check_once(arguments)
    if lowering.side == "source":
        return pattern_calls.make_call(lowering, expr, operator, arguments, known, ordered)
    return targets.make_call(lowering, expr, operator, arguments, known)
