"""Calls in source expressions → pattern nodes: their operands and constraints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gslang.base.diagnostics import Label
from gslang.base.source import Span
from gslang.base.suggest import did_you_mean
from gslang.check import attribute_values, attributes, links, values
from gslang.check import checked as ir
from gslang.check.context import (
    Denotation,
    Lowering,
    NodeOf,
    OperatorOf,
    ValueOf,
)  # fmt: skip
from gslang.check.patterns import node_of, splice
from gslang.check.results import results_of
from gslang.check.variables import narrow, narrow_by_operands
from gslang.dialect.signature import OperandSpec, Signature
from gslang.syntax import nodes as n


def make_call(
    lowering: Lowering, expr: n.Expr, operator: str | OperatorOf, arguments: tuple[n.Argument, ...],
    known: list[Denotation] | None, ordered: bool,
) -> Denotation:  # fmt: skip
    """A call pattern. `known`: what the arguments stand for, where that was found out before."""
    variable = operator.name if isinstance(operator, OperatorOf) else None
    operators = narrow(lowering, expr, variable, arguments) if variable is not None else (str(operator),)
    signatures = [lowering.dialect.operators[name] for name in operators]
    shown = variable or operators[0]
    operands, attributes, given = _arguments(lowering, expr, shown, signatures, arguments, known)
    constraints = _constraints(lowering, signatures, shown, attributes, given)
    if variable is not None:
        narrow_by_operands(lowering, expr, variable, [_is_tuple(lowering, operand) for operand in operands])
    _check_operands(lowering, expr, shown, signatures, operands)
    swappable = (
        frozenset(s.name for s in signatures if "commutative" in s.traits) if not ordered else frozenset()
    )
    while operands and operands[-1] is None:
        operands.pop()
    node = lowering.add_pattern(ir.CallNode(
        name=None, span=expr.span, block=lowering.block, constraints=tuple(constraints), operators=operators,
        operands=tuple(operands), variable=variable,
        swappable=swappable if len(operands) == 2 else frozenset(),
    ))
    if isinstance(expr, n.Call) and expr.optional:
        inner = next((o for o in operands if isinstance(o, int)), None)
        if inner is None or len([o for o in operands if o is not None]) != 1:
            hint = f"write the alternatives explicitly: `{shown}(p, …) | p`"
            lowering.stop(
                "E0302", "an optional operator has exactly one operand: `nn.relu?(p)`", expr.span, hint
            )
        choice = lowering.add_pattern(
            ir.AltNode(name=None, span=expr.span, block=lowering.block, branches=(node.node, inner))
        )
        lowering.branch_names[choice.node] = (None, None)
        return choice
    return node


def _arguments(
    lowering: Lowering, expr: n.Expr, shown: str, signatures: list[Signature],
    arguments: tuple[n.Argument, ...],
    known: list[Denotation] | None,
) -> tuple[list[int | None | ir.Splice], list[n.Keyword | n.Spread], set[str]]:  # fmt: skip
    """Operand patterns, arguments that are constraints, and the names of operands that are said."""
    operands: list[int | None | ir.Splice] = []
    named: dict[str, int | None] = {}
    attributes: list[n.Keyword | n.Spread] = []
    free: set[str] = set()  # operands about which only their value is said, if anything
    spec = signatures[0]
    by_name = {operand.name: operand for operand in spec.operands}
    for k, argument in enumerate(arguments):
        match argument:
            case n.Positional(value):
                refuse_comparison(lowering, value, signatures)
                place = spec.operand(len(operands))
                if place is not None and place.attribute is not None and isinstance(value, n.TupleExpr):
                    attributes.append(n.Keyword(place.name, value, value.span, span=value.span))
                    operands.append(_anything(lowering, expr))
                    continue
                what = known[k] if known is not None else _operand(lowering, value)
                if isinstance(what, ValueOf) and what.type == "none":
                    operands.append(None)
                else:
                    operands.append(node_of(lowering, value, what))
            case n.Star():
                operands.append(splice(lowering, argument, lowering.resolve(argument.value), operands))
            case n.Keyword(name, value) if name in by_name and name not in spec.attributes:
                operand = by_name[name]
                if isinstance(value, n.Hole):
                    free.add(name)
                    continue
                if (
                    operand.attribute is not None and _is_plain(value)
                    and value != n.Literal(None, span=value.span)
                ):
                    attributes.append(argument)
                    continue
                what = _operand(lowering, value)
                if operand.attribute is not None and isinstance(what, ValueOf) and what.type != "none":
                    attributes.append(argument)
                    continue
                named[name] = (
                    None if isinstance(what, ValueOf) and what.type == "none"
                    else node_of(lowering, value, what)
                )
            case n.Keyword() | n.Spread():
                attributes.append(argument)
    given = {operand.name for operand in spec.operands[: len(operands)]} | set(named)
    for name in named:
        if name not in [operand.name for operand in spec.operands[len(operands) :]]:
            lowering.error("E0302", f"operand `{name}` of `{shown}` is given twice", expr.span)
    free |= {name for argument in attributes for name in _said_of_operands(lowering, spec, argument)}
    behind = [operand.name for operand in spec.operands[len(operands) :]]
    while behind and behind[-1] not in named and behind[-1] not in free:
        behind.pop()  # left out: absent
    for name in behind:
        operands.append(named[name] if name in named else _anything(lowering, expr) if name in free else None)
    return operands, attributes, given


def _said_of_operands(lowering: Lowering, spec: Signature, argument: n.Keyword | n.Spread) -> list[str]:
    """Operands whose value a keyword or spread constrains."""
    names = movable(spec)
    match argument:
        case n.Keyword(name, _):
            return [name] if name in names else []
        case n.Spread(_, None):
            return names
        case n.Spread(_, fields):
            return [field.id for field in fields or () if field.id in names]


def _anything(lowering: Lowering, expr: n.Expr) -> int:
    """An operand that is anything, or absent."""
    return lowering.add_pattern(
        ir.LeafNode(
            name=None, span=expr.span, block=lowering.block, kind="any", optional=True, is_input=False
        )
    ).node


def _is_plain(expr: n.Expr) -> bool:
    """True if an expression is a constraint on a value by its form: a number, a tuple, anything with `_`."""
    match expr:
        case n.Literal() | n.Hole() | n.TupleExpr():
            return True
        case n.Unary("-", operand) | n.Walrus(_, operand):
            return _is_plain(operand)
        case n.Binary("|", left, right):
            return _is_plain(left) and _is_plain(right)
    return False


def refuse_comparison(lowering: Lowering, value: n.Expr, signatures: list[Signature]) -> None:
    """`axes == …` or `axis -1` among arguments: an attribute is meant; `x > 0`: an operator."""
    match value:
        case n.Comparison(n.Name(name), (("==", _), *_)) if (
            lowering.look_up(name) is None and name in signatures[0].attributes
        ):
            lowering.stop(
                "E0106", "an attribute is constrained with `=`, not `==`", value.span,
                f"write `{name} = …`",
            )
        case n.Binary("-", n.Name(name), _) if (
            lowering.look_up(name) is None and name in signatures[0].attributes
        ):
            lowering.stop("E0106", "an attribute is constrained with `=`", value.span, f"write `{name} = -…`")
        case n.Comparison():
            named = "Greater(x, y)" if lowering.dialect.name == "onnx" else "greater(x, y)"
            lowering.stop(
                "E0505", "comparisons are for values, not for nodes", value.span,
                f"call the operator: `{named}`",
            )


def _is_tuple(lowering: Lowering, operand: int | None | ir.Splice) -> bool | None:
    """True if an operand is a tuple; None if unknown."""
    found = results_of(lowering, operand) if isinstance(operand, int) else None
    return None if found is None else found != "tensor"


def _check_operands(
    lowering: Lowering,
    expr: n.Expr,
    shown: str,
    signatures: list[Signature],
    operands: list[int | None | ir.Splice],
) -> None:
    operators = (
        lowering.variables[shown].operators if shown in lowering.variables
        else tuple(s.name for s in signatures)
    )
    # of a list the first one tells what is meant
    for signature in [lowering.dialect.operators[name] for name in operators[:1]]:
        check_count(
            lowering, expr, signature, len(operands), any(isinstance(o, ir.Splice) for o in operands),
            None if shown == signature.name else shown,
        )
        for k, operand in enumerate(operands):
            spec = signature.operand(k)
            if operand is None and spec is not None and not spec.optional:
                lowering.error(
                    "E0302", f"operand `{spec.name}` of `{signature.name}` is not optional", expr.span
                )
            if isinstance(operand, int) and spec is not None:
                _check_kind(lowering, expr, signature, spec, operand)


def _check_kind(
    lowering: Lowering, expr: n.Expr, signature: Signature, spec: OperandSpec, operand: int
) -> None:
    pattern = lowering.patterns[operand]
    if spec.kind == "tensor" and isinstance(pattern, ir.TupleNode):
        lowering.error(
            "E0307", f"operand `{spec.name}` of `{signature.name}` is a tensor, this is a tuple", pattern.span
        )
    if isinstance(pattern, ir.CallNode) and len(pattern.operators) == 1 and spec.kind == "tensor":
        inner = lowering.dialect.operators[pattern.operators[0]]
        if inner.several_results:
            lowering.error(
                "E0309", f"`{inner.name}` has several results", pattern.span,
                f"project one: `{inner.name}(…).0`",
            )


def check_count(
    lowering: Lowering, expr: n.Expr, signature: Signature, count: int, sequence: bool, variable: str | None
) -> None:
    """Report a wrong number of operands, with the declaration."""
    variadic = any(o.variadic for o in signature.operands)
    least = sum(not o.optional and not o.variadic for o in signature.operands)
    most = None if variadic else len(signature.operands)
    if sequence and not variadic:
        lowering.error(
            "E0607", f"`{signature.name}` has no variadic operand", expr.span,
            "put the sequence into a tuple: `(*f.item)`",
        )
        return
    if sequence or (least <= count and (most is None or count <= most)):
        return
    wanted = f"{least}" if least == most else f"{least} or more" if most is None else f"{least} to {most}"
    related = () if signature.declared_at is None else (Label(signature.declared_at, "declared here"),)
    via = f" (one of `{variable}`)" if variable else ""
    lowering.stop(
        "E0302", f"`{signature.name}`{via} takes {wanted} operand{'s' if wanted != '1' else ''}, got {count}",
        expr.span, _operands_named(signature, most is not None and count > most), related=related,
    )


def _operands_named(signature: Signature, too_many: bool) -> str:
    """The operands of an operator; attributes are not among them."""
    names = ", ".join(f"`{o.name}`" for o in signature.operands)
    said = f"its operands: {names}" if names else "it has no operands"
    if too_many and signature.attributes:
        said += f"; attributes are given by name: `{next(iter(signature.attributes))} = …`"
    return said


def _operand(lowering: Lowering, expr: n.Expr) -> Denotation:
    """The denotation of an operand; the help for an unknown name that is no operator is to declare it."""
    if not isinstance(expr, n.Name) or expr.id in lowering.dialect.operators:
        return lowering.resolve(expr)
    with lowering.helping(
        expr.id, f"an input is declared in parentheses after the rule's name: `({expr.id})`"
    ):
        return lowering.resolve(expr)


def _constraints(
    lowering: Lowering,
    signatures: list[Signature],
    shown: str,
    attributes: list[n.Keyword | n.Spread],
    given: set[str],
) -> list[ir.Constraint | ir.SameAttributes]:
    """Keyword arguments and spreads as constraints; an explicit keyword, or a `given` operand, overrides the
    same one from a spread.
    """
    explicit = {a.name for a in attributes if isinstance(a, n.Keyword)} | given
    found: list[ir.Constraint | ir.SameAttributes] = []
    for argument in attributes:
        if isinstance(argument, n.Spread):
            found += _spread(lowering, signatures, argument, explicit)
            continue
        if not known_attribute(lowering, signatures, shown, argument.name, argument.name_span):
            continue
        name, hint = attribute_values.unquoted(argument.value, signatures[0].attribute(argument.name))
        with lowering.helping(name, hint):
            test = values.test(lowering, argument.value)
        _check_attribute(lowering, signatures, shown, argument, test)
        if not isinstance(test, ir.Anything):
            found.append(ir.Constraint(argument.name, test, argument.span))
    return found


def _check_attribute(
    lowering: Lowering, signatures: list[Signature], shown: str, argument: n.Keyword, test: ir.Test
) -> None:
    """Report a constraint that no operator of the call can meet."""
    specs = [signature.attribute(argument.name) for signature in signatures]
    if len(signatures) == 1 and specs[0] is not None:
        attribute_values.check_test(
            lowering, argument.value, test, specs[0], f"`{argument.name}` of `{shown}`"
        )


def known_attribute(
    lowering: Lowering, signatures: list[Signature], shown: str, name: str, span: Span
) -> bool:
    if any(
        name in s.attributes or any(o.name == name and o.attribute for o in s.operands) for s in signatures
    ):
        return True
    candidates = [*signatures[0].attributes, *(o.name for o in signatures[0].operands)]
    guess = did_you_mean(name, candidates)
    listed = ", ".join(f"`{a}`" for a in signatures[0].attributes) or "none"
    related = (
        () if signatures[0].declared_at is None else (Label(signatures[0].declared_at, "declared here"),)
    )
    lowering.error(
        "E0303", f"`{shown}` has no attribute `{name}`", span,
        f"did you mean `{guess}`?" if guess else f"its attributes: {listed}", related=related,
    )  # fmt: skip
    return False


def _spread(
    lowering: Lowering, signatures: list[Signature], spread: n.Spread, explicit: set[str]
) -> list[ir.Constraint | ir.SameAttributes]:
    what = lowering.resolve(spread.base)
    if not isinstance(what, NodeOf):
        lowering.stop("E0505", "attributes are spread from a node", spread.base.span)
    what = links.whose(lowering, what, "")
    wanted = [(f.id, f.span) for f in spread.fields] if spread.fields is not None else None
    if wanted is None:
        names = spread_names(lowering, what.node)
        if names is None or is_copied_whole(names, lowering, what.node, signatures):
            return [ir.SameAttributes(what.place, what.node, tuple(sorted(explicit)), spread.span)]
        own = {*signatures[0].attributes, *movable(signatures[0])}
        wanted = [(name, spread.span) for name in names if name in own]
    found: list[ir.Constraint | ir.SameAttributes] = []
    for name, span in wanted:
        if name in explicit:
            continue
        if spread.fields is not None:
            attributes.attribute_type(
                lowering, n.Attribute(spread.base, name, span, span=spread.span), what.node
            )
            if not known_attribute(lowering, signatures, signatures[0].name, name, span):
                continue
        found.append(ir.Constraint(name, ir.Equals(ir.NodeAttr(what.place, what.node, name)), spread.span))
    return found


def is_copied_whole(
    names: Iterable[str], lowering: Lowering, node: int, signatures: Sequence[Signature]
) -> bool:
    """True where attributes cannot be read one by one: the copy may be of several operators, or one is called
    as what any node has (`topk(…, dtype = …)`: `t.dtype` is the element type of the result).
    """
    pattern = lowering.patterns[node]
    return len(signatures) > 1 or (
        isinstance(pattern, ir.CallNode) and pattern.operators == (signatures[0].name,)
        and any(name in attributes.FACTS for name in names)
    )


def spread_names(lowering: Lowering, node: int) -> list[str] | None:
    """All attributes that a node's operator declares, also those that may be operands; None where the
    operator is not one known.
    """
    pattern = lowering.patterns[node]
    if isinstance(pattern, ir.CallNode) and len(pattern.operators) == 1:
        signature = lowering.dialect.operators[pattern.operators[0]]
        return [*signature.attributes, *movable(signature)]
    return None


def movable(signature: Signature) -> list[str]:
    """Operands that may stand as attributes too."""
    return [operand.name for operand in signature.operands if operand.attribute is not None]
