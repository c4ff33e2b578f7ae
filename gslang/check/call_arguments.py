"""Arguments of calls against what operators declare: how many operands, which attributes; keywords and
spreads in a source as constraints.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gslang.base.diagnostics import Label
from gslang.base.source import Span
from gslang.base.suggest import did_you_mean
from gslang.check import attribute_values, attributes, links, values
from gslang.check import checked as ir
from gslang.check.context import Lowering, NodeOf
from gslang.check.results import Results, is_tuple
from gslang.dialect.signature import OperandSpec, Signature
from gslang.syntax import nodes as n

_OPERATORS = {
    "<": ("less", "Less"), ">": ("greater", "Greater"), "==": ("equal", "Equal"),
    "<=": ("less_equal", "LessOrEqual"), ">=": ("greater_equal", "GreaterOrEqual"),
    "!=": ("not_equal", "NotEqual"),
}  # fmt: skip
"""Signs of comparison → operators of `relay` and `onnx`."""


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
        case n.Comparison(_, ((sign, _), *_)):
            named = _OPERATORS.get(sign, ("", ""))[lowering.dialect.name == "onnx"]
            known = named in lowering.dialect.operators
            lowering.stop(
                "E0505", "comparisons are for values, not for nodes", value.span,
                f"call the operator: `{named}(x, y)`" if known else "call an operator that compares nodes",
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
    if too_many and [o.kind for o in signature.operands] == ["tuple"]:
        return f"its operand {names} is a tuple: write `{signature.name}((a, b))`"
    if too_many and signature.attributes:
        said += f"; attributes are given by name: `{next(iter(signature.attributes))} = …`"
    return said


def check_tuple(
    lowering: Lowering, signature: Signature, spec: OperandSpec, inner: Signature, span: Span
) -> None:
    """Report the tensor that a call of `inner` gives where an operand is a tuple."""
    if spec.kind == "tuple" and inner.results == "tensor":
        lowering.error(
            "E0307", f"operand `{spec.name}` of `{signature.name}` must be a tuple, found a tensor", span,
            f"list what it consists of in parentheses: `{signature.name}((a, b))`",
        )


def check_tensor(
    lowering: Lowering, signature: Signature, spec: OperandSpec, results: Results, operator: str | None,
    span: Span,
) -> bool:  # fmt: skip
    """Report several results where an operand is a tensor; True if so. `operator`: that of the call that has
    them; None for a tuple that is no call.
    """
    if spec.kind != "tensor" or not is_tuple(results):
        return False
    if operator is not None:
        written = span.text if span.text.isidentifier() else f"{operator}(…)"
        lowering.error("E0309", f"`{operator}` has several results", span, f"project one: `{written}.0`")
    else:
        lowering.error(
            "E0307", f"operand `{spec.name}` of `{signature.name}` must be a tensor, found a tuple", span,
            f"list the operands without brackets: `{signature.name}(a, b)`" if spec.variadic
            else "write one of its fields",
        )
    return True


def constraints(
    lowering: Lowering,
    signatures: list[Signature],
    shown: str,
    said: list[n.Keyword | n.Spread],
    given: set[str],
) -> list[ir.Constraint | ir.SameAttributes]:
    """Keyword arguments and spreads as constraints; an explicit keyword, or a `given` operand, overrides the
    same one from a spread.
    """
    explicit = {a.name for a in said if isinstance(a, n.Keyword)} | given
    found: list[ir.Constraint | ir.SameAttributes] = []
    for argument in said:
        if isinstance(argument, n.Spread):
            found += _spread(lowering, signatures, argument, explicit)
            continue
        if not known_attribute(lowering, signatures, shown, argument.name, argument.name_span):
            continue
        spec = signatures[0].attribute(argument.name)
        name, hint = attribute_values.unquoted(argument.value, spec)
        with lowering.helping(name, hint):
            test = values.test(lowering, argument.value, spec if len(signatures) == 1 else None)
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
    operands = ", ".join(f"`{o.name}`" for o in signatures[0].operands)
    listed = ", ".join(f"`{a}`" for a in signatures[0].attributes) or "none"
    related = (
        () if signatures[0].declared_at is None else (Label(signatures[0].declared_at, "declared here"),)
    )
    lowering.error(
        "E0303", f"`{shown}` has no attribute `{name}`", span,
        f"did you mean `{guess}`?" if guess
        else f"its attributes: {listed}" + (f"; its operands: {operands}" if operands else ""),
        related=related,
    )  # fmt: skip
    return False


def _spread(
    lowering: Lowering, signatures: list[Signature], spread: n.Spread, explicit: set[str]
) -> list[ir.Constraint | ir.SameAttributes]:
    what = lowering.resolve(spread.base)
    if not isinstance(what, NodeOf):
        lowering.stop(
            "E0505", "attributes are spread from a node", spread.base.span,
            "name the call by a statement, `c = nn.conv2d(x, w);`, and write `c.*` or `c.{strides}`",
        )
    what = links.whose(lowering, what, "")
    wanted = [(f.id, f.span) for f in spread.fields] if spread.fields is not None else None
    if wanted is None:
        names = spread_names(lowering, what.node, spread)
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


def spread_names(lowering: Lowering, node: int, spread: n.Spread) -> list[str] | None:
    """All attributes that a node's operator declares, also those that may be operands; None where the
    operator is not one known. An error for one result of a call, since the call has the attributes.
    """
    pattern = lowering.patterns[node]
    if isinstance(pattern, ir.ProjNode):
        lowering.stop(
            "E0502", "a result of a call has no attributes of its own", spread.base.span,
            "name the call, `c = split(x);`, take its result, `c.0`, and write `c.*`",
        )
    if isinstance(pattern, ir.CallNode) and len(pattern.operators) == 1:
        signature = lowering.dialect.operators[pattern.operators[0]]
        return [*signature.attributes, *movable(signature)]
    return None


def movable(signature: Signature) -> list[str]:
    """Operands that may stand as attributes too."""
    return [operand.name for operand in signature.operands if operand.attribute is not None]
