"""Meanings of declared operators: `{ shape = …, dtype = …, value = … }` of an `op` declaration, checked.

A declaration is read like a rule whose source is one call of the operator and whose target is `value`: the
operands are its inputs, the attributes are values of that call. So everything that may stand in a target may
stand here, and every mistake in it is found in the same way. Only operators declared before may be used: a
meaning never goes in circles.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gslang.base.diagnostics import Diagnostic
from gslang.base.suggest import did_you_mean
from gslang.check import attribute_values, patterns, targets, values
from gslang.check import checked as ir
from gslang.check.context import Lowering, Stop, ValueOf
from gslang.check.externs import refuse
from gslang.check.known_values import possible
from gslang.check.outputs import settle_constants
from gslang.check.resolve import resolve
from gslang.check.results import Results, text_of, told_of_target, told_within
from gslang.check.rule_annotations import misplaced
from gslang.dialect.declarations import operand_type
from gslang.dialect.dialect import Dialect
from gslang.dialect.domain_text import value_text
from gslang.dialect.dtypes import dtype_exists, dtype_meant
from gslang.dialect.load import load_dialect
from gslang.dialect.signature import Signature
from gslang.syntax import nodes as n

PARTS = ("shape", "dtype", "value")
_EXPECTED = {"shape": ("tuple", "any"), "dtype": ("dtype", "str", "any")}
_FORMS = {
    "shape": "write a tuple, `(x.shape[0], 1)`, or the shape of an operand, `x.shape`",
    "dtype": 'write a name, `"float32"`, or the data type of an operand, `x.dtype`',
}


def check_meaning(
    decl: n.OpDecl,
    signature: Signature,
    dialect: Dialect,
    functions: Mapping[str, n.FnDecl | n.ParamDecl],
    declared: Iterable[str],
) -> tuple[ir.Meaning | None, list[Diagnostic]]:
    """The meaning, or None if the declaration has none or it has an error; and all findings.

    `dialect` has the operators declared so far, without this one; `declared`: all that the file declares.
    """
    if wrong := misplaced(decl):
        return None, wrong
    if not decl.meaning:
        return None, []
    lowering = Lowering(dialect, functions, [], resolve, in_graph=False)
    lowering.not_yet = frozenset(declared) - dialect.operators.keys()
    for operand, parameter in zip(signature.operands, (p for p in decl.parameters if _is_operand(p))):
        leaf = patterns.leaf(lowering, parameter.span, "any", (), name=operand.name)
        lowering.taken[leaf.node] = {"tuple" if operand.variadic else operand.kind}
        lowering.bind(parameter.name, leaf, of_declaration=True)
    call = lowering.add_pattern(ir.CallNode(
        name=None, span=decl.name.span, operators=(signature.name,),
        operands=tuple(range(len(signature.operands))),
    ))
    for parameter in decl.parameters:
        name = parameter.name.id
        if name in signature.attributes and not _is_operand(parameter):
            value = ir.NodeAttr(ir.OWN, call.node, name)
            lowering.bind(
                parameter.name, ValueOf(value, values.declared_type(signature.attributes[name].types)),
                of_declaration=True,
            )
    lowering.side, lowering.in_a_rule = "target", "a declaration reads its operands and attributes"
    output, found = _lower_parts(lowering, decl, signature)
    settle_constants(lowering)
    refuse(lowering, "a declaration", (*lowering.lets, *lowering.targets, *found.values()), decl.name.span)
    if lowering.diagnostics:
        return None, lowering.diagnostics
    rule = ir.CheckedRule(
        name=signature.name, doc=decl.doc, nodes=tuple(lowering.patterns),
        inputs=tuple(range(len(signature.operands))), outputs=(call.node,), output_block=None, blocks=(),
        variables=(), lets=tuple(lowering.lets), captures=(), where=(), where_spans=(), interior=frozenset(),
        dialect=load_dialect(dialect.name), span=decl.name.span,
        target=ir.TargetGraph(
            tuple(lowering.targets), tuple(lowering.target_names), tuple(lowering.target_spans), output
        ),
    )
    # The rule keeps the plain dialect: with its own one, each declaration would hold all that stand before
    # it.
    return ir.Meaning(
        rule, any(o.variadic for o in signature.operands[-1:]), found.get("shape"), found.get("dtype")
    ), []


def _lower_parts(
    lowering: Lowering, decl: n.OpDecl, signature: Signature
) -> tuple[tuple[int, ...], dict[str, ir.Value]]:
    """The target that `value` is, and what `shape` and `dtype` say."""
    found: dict[str, ir.Value] = {}
    output: tuple[int, ...] = ()
    seen: set[str] = set()
    for part, expr in decl.meaning:
        if not _is_possible(lowering, part, signature, seen):
            continue
        seen.add(part.id)
        try:
            if part.id == "value":
                what = lowering.resolve(expr)
                several = signature.results != "tensor"
                output = (targets.target_of(lowering, expr, what, as_tuple=several),)
                _check_results(lowering, signature, output[0])
            else:
                value = values.value(lowering, expr)
                for written, one in possible(lowering, expr, value):
                    _check_part(lowering, part.id, written, one)
                found[part.id] = value.value
        except Stop:
            pass
    stated, told = text_of(found.get("dtype")), told_of_target(lowering, output[0]).dtype if output else None
    if stated is not None and told is not None and told != stated:
        lowering.error(
            "E0308", f"`dtype` is {stated}, and the value has the type {told}",
            lowering.target_spans[output[0]], f'write `dtype = "{told}"`, or convert the value',
        )
    return output, found


def _check_part(lowering: Lowering, part: str, expr: n.Expr | n.Star, found: ValueOf) -> None:
    """Report a shape that is no tuple of dimensions, and a data type that does not exist."""
    if found.type not in _EXPECTED[part]:
        lowering.stop(
            "E0308", f"`{part}` must be {_wanted(part)}, found `{found.type}`", expr.span, _FORMS[part]
        )
    if part == "dtype":
        name = text_of(found.value)
        if name is not None and not dtype_exists(name):
            guess = dtype_meant(name)
            lowering.error(
                "E0308", f"`dtype` cannot be `{value_text(name)}`", expr.span,
                f'did you mean `"{guess}"`?' if guess else _FORMS[part],
            )
        return
    attribute_values.check_sizes(lowering, "E0308", expr, found.value, unknown=True)


def _check_results(lowering: Lowering, signature: Signature, output: int) -> None:
    """Report a `value` that has other results than the declaration; of a choice each such part."""
    declared = signature.results
    for part, results in told_within(lowering, output):
        if results is not None and not _is_declared(results, declared):
            wanted = f"one {declared}" if isinstance(declared, str) else f"{len(declared)} results"
            shown = "a tensor" if results == "tensor" else "a tuple"
            shown += f" of {results}" if isinstance(results, int) else ""
            lowering.error(
                "E0308", f"`{signature.name}` declares {wanted}, and its value is {shown}",
                lowering.target_spans[part], _as_declared(declared, results),
            )


def _is_declared(results: str | int, declared: tuple[str, ...] | str) -> bool:
    """True if a value with these results may be that of an operator with the declared ones."""
    if results == "tensor" or declared == "tensor":
        return results == declared
    if isinstance(declared, str) or not isinstance(results, int):
        return True
    return sum(not result.endswith("?") for result in declared) <= results <= len(declared)


def _as_declared(declared: tuple[str, ...] | str, results: Results) -> str:
    """The help for a value that has other results than the declaration."""
    if declared == "tensor":
        many = ", ".join(["tensor"] * results) if isinstance(results, int) else ""
        return f"write one of its fields, `(…).0`, or declare `-> {f'({many})' if many else 'tuple'}`"
    fields = "a, b" if isinstance(declared, str) else ", ".join("abcdefgh"[: len(declared)])
    said = f"write a tuple, `({fields})`"
    return f"{said}, or declare `-> tensor`" if results == "tensor" else said


def _is_possible(lowering: Lowering, part: n.Name, signature: Signature, seen: set[str]) -> bool:
    """True if a declaration can have this field, once; else an error is reported."""
    if part.id not in PARTS:
        guess = did_you_mean(part.id, PARTS)
        message = f"a declared operator has no field `{part.id}`"
        hint = f"did you mean `{guess}`?" if guess else "its fields are `shape`, `dtype` and `value`"
    elif part.id in seen:
        message, hint = f"`{part.id}` is given twice", "remove one"
    elif part.id != "value" and signature.results != "tensor":
        message = f"`{part.id}` describes one tensor, but `{signature.name}` has other results"
        hint = "give `value` as a tuple; types follow from it"
    else:
        return True
    lowering.error("E0308", message, part.span, hint)
    return False


def _is_operand(parameter: n.Parameter) -> bool:
    return operand_type(parameter) is not None


def _wanted(part: str) -> str:
    return "a tuple of dimensions" if part == "shape" else "a data type"
