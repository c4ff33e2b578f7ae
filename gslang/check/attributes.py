"""`p.name`: what a node has as attributes, and the names of templates (`first.w`, `branch[0].w`, `branch.w`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

from gslang.base.suggest import did_you_mean
from gslang.check import checked as ir
from gslang.check import links, values
from gslang.check.context import (
    BlockOf,
    Denotation,
    InstanceOf,
    Lost,
    Lowering,
    NodeOf,
    NodesOf,
    OperatorOf,
    Stop,
    TargetOf,
    ValueOf,
)
from gslang.check.results import is_tuple, told_of_target, told_when_matched
from gslang.check.unknown_name import refuse_module, refuse_name
from gslang.syntax import nodes as n

FACTS = {
    "shape": "tuple",
    "dtype": "dtype",
    "ndim": "int",
    "value": "array",
    "index": "int",
    "op": "str",
    "kind": "str",
    "name": "str",
}
_OF_VALUES = {
    "tuple": "its length is `len(…)`, its items are `…[0]`",
    "graph": "a body is compared, or its calls are counted: `calls(y.then_branch, Relu) == 0`",
}
NEW_FACTS = ("shape", "dtype", "ndim")


def attribute(lowering: Lowering, expr: n.Attribute) -> Denotation:
    """`base.field`: a fact about a node, or a name of a template."""
    name = n.dotted(expr) or ""
    if name in lowering.dialect.operators and lowering.look_up(name.partition(".")[0]) is None:
        refuse_name(lowering, name, expr.span)
    if name:
        refuse_module(lowering, name, expr.span)
    base = lowering.resolve(expr.base)
    field = expr.field
    match base:
        case NodeOf():
            read = links.whose(lowering, base, field)
            if field == "op" and (operator := _only_operator(lowering, read)) is not None:
                return ValueOf(ir.Const(operator), "str")
            return ValueOf(
                ir.NodeAttr(read.place, read.node, field), attribute_type(lowering, expr, read.node)
            )
        case InstanceOf(block, place):
            return template_name(lowering, expr, block, field, place)
        case BlockOf(block, None):
            what = template_name(lowering, expr, block, field, ir.OWN)
            if isinstance(what, NodeOf):
                return NodesOf(block, what.node)
            assert isinstance(what, ValueOf)
            local = lowering.new_local()
            place = ir.At(block, ir.Local(local))
            inner = template_name(lowering, expr, block, field, place)
            assert isinstance(inner, ValueOf)
            return ValueOf(ir.Comprehension(inner.value, (local,), ir.Instances(block), None), "tuple")
        case TargetOf():
            return _type_of_new(lowering, expr, base)
        case ValueOf(_, kind):
            hint = _OF_VALUES.get(kind, "attributes are read from a node, which a statement names")
            lowering.stop("E0502", f"a value ({kind}) has no attribute `{field}`", expr.span, hint)
        case OperatorOf(variable):
            lowering.stop(
                "E0502", f"an operator variable has no attribute `{field}`", expr.span,
                f"name a call of it by a statement, `y = {variable}(x);`, and read `y.{field}`",
            )
    lowering.stop(
        "E0502", f"this expression has no attribute `{field}`", expr.span,
        "attributes are read from a node: name it by a statement, or read `[b.y.axis for b in branch]`",
    )


def _only_operator(lowering: Lowering, what: NodeOf) -> str | None:
    """The operator of a call that names it, if that is part of each match; None of other nodes."""
    pattern = lowering.patterns[what.node]
    named = isinstance(pattern, ir.CallNode) and pattern.variable is None and len(pattern.operators) == 1
    return pattern.operators[0] if named and isinstance(what.place, ir.Own) else None


def _fact_meant(field: str, node: str) -> str | None:
    """A help for a field that no node has: the fact of that name in other languages, or one of like name."""
    match field.lower().lstrip("_").removeprefix("get_"):
        case "rank" | "dim" | "dims" | "ndims" | "num_dims" | "n_dims":
            return f"the number of dimensions is `{node}.ndim`, their sizes are `{node}.shape`"
        case "size" | "numel" | "num_elements" | "n_elements" | "len":
            return f"the number of elements is `numel({node}.shape)`"
        case "type" | "elem_type" | "element_type" | "data_type" | "datatype":
            return f"the data type is `{node}.dtype`"
        case "users" | "uses" | "consumers" | "num_users" | "use_count" | "users_count":
            return f"the number of users is `users({node})`"
        case "is_constant" | "is_const" | "isconst" | "constant" | "is_input" | "is_param":
            return f'`{node}.kind == "const"`, `"input"` or `"param"` tests the kind of a node'
        case "is_output" | "is_graph_output":
            return f"`is_output({node})` tests this"
        case "data" | "val" | "tensor":
            return f"the elements of a constant are `{node}.value`"
        case "op_type" | "optype" | "operator":
            return f"the operator's name is `{node}.op`"
        case "inputs" | "operands" | "args" | "input":
            return "name the operands in the pattern: `Relu((a := any()))`"
        case lower:
            guess = did_you_mean(lower, FACTS)
            return f"did you mean `{guess}`?" if guess else None


def _type_of_new(lowering: Lowering, expr: n.Attribute, base: TargetOf) -> ValueOf:
    """`y.shape`, `y.dtype`, `y.ndim` of a node of the target."""
    if base.several:
        lowering.stop(
            "E0502", f"a sequence has no attribute `{expr.field}`", expr.field_span, "name one of its nodes"
        )
    if expr.field not in NEW_FACTS:
        guess = did_you_mean(expr.field, NEW_FACTS)
        lowering.stop(
            "E0502", f"`{expr.field}` of a new node cannot be read", expr.field_span,
            f"did you mean `{guess}`?" if guess
            else "only the type of a new node is known: `shape`, `dtype`, `ndim`",
        )
    name = lowering.target_names[base.target] or "this"
    match lowering.targets[base.target]:
        case ir.Absent():
            lowering.stop(
                "E0502", f"`{name}` is absent and has no `{expr.field}`", expr.field_span,
                "read it from a node that is present",
            )
        case ir.MakeConst(dtype=None):
            lowering.stop(
                "E0502", f"the type of the constant `{name}` follows from where it is used", expr.field_span,
                "state it: `const(value = …, dtype = …)`",
            )
    if is_tuple(told_of_target(lowering, base.target).results):
        lowering.stop(
            "E0502", f"`{name}` is a tuple, which has no `{expr.field}`", expr.field_span,
            f"use one of its fields: `{name}.0.{expr.field}`",
        )
    return ValueOf(ir.TypeOf(base.target, expr.field), FACTS[expr.field])


def template_name(
    lowering: Lowering, expr: n.Attribute, block: int, field: str, place: ir.Place
) -> Denotation:
    """A name of a template, for the instance that `place` means."""
    template = lowering.templates[block]
    if links.is_handed_on(lowering, block, field, place):
        return NodeOf(ir.OWN, lowering.runs[block].previous)
    what = template.names.get(field)
    if isinstance(what, Lost):
        raise Stop
    if what is None and isinstance(place, (ir.First, ir.Prev)) and field in template.declared:
        what = lowering.add_ahead(template, field, expr.span)
    match what:
        case NodeOf(_, node):
            return NodeOf(place, node) if lowering.patterns[node].block is not None else what
        case ValueOf(value, kind):
            return ValueOf(moved(value, place), kind)
        case None:
            guess = did_you_mean(field, template.names)
            lowering.stop(
                "E0201", f"the template has no name `{field}`", expr.field_span,
                f"did you mean `{guess}`?" if guess
                else f"its names: {', '.join(f'`{x}`' for x in template.names) or 'none'}",
            )
    return what


def moved(value: ir.Value, place: ir.Place) -> ir.Value:
    """A template's value as seen for another instance."""
    return replace(value, place=place) if isinstance(value, ir.InPlace) else value


def attribute_type(lowering: Lowering, expr: n.Attribute, node: int) -> str:
    """Check that `p.field` can exist, and give its type."""
    field = expr.field
    pattern = lowering.patterns[node]
    branches = lowering.without_alternatives(node)
    if any(node in template.ahead.values() for template in lowering.templates):
        return "any"  # `first.NAME` inside its own definition
    if field in ("shape", "dtype", "ndim") and is_tuple(told_when_matched(lowering, node).results):
        name = pattern.name or "this"
        lowering.stop(
            "E0502", f"`{name}` is a tuple, which has no `{field}`", expr.field_span,
            f"use one of its fields: `{name}.0.{field}`",
        )
    if field in ("shape", "dtype", "ndim", "op", "kind", "name"):
        return FACTS[field]
    found: list[str] = []
    for branch in branches:
        part = lowering.patterns[branch]
        if isinstance(part, ir.CallNode):
            declared = [_declared(lowering, name, field) for name in part.operators]
            kinds = [kind for kind in declared if kind is not None]
            if len(kinds) < (1 if part.variable in lowering.trait_variables else max(1, len(part.operators))):
                _no_attribute(lowering, expr, part)
            found += kinds
        elif field in part.attributes:
            found.append(part.attributes[field])
        else:
            lowering.stop(
                "E0502", f"`{expr.base.span.text}` has no attribute `{field}`", expr.field_span,
                _fact_meant(field, expr.base.span.text)
                or "attributes of every node: `shape`, `dtype`, `ndim`, `kind`, `op`, `name`",
            )
    return found[0] if found and all(kind == found[0] for kind in found) else "any"


def _declared(lowering: Lowering, operator: str, field: str) -> str | None:
    signature = lowering.dialect.get(operator)
    if signature is None:
        return "any"
    if field in signature.attributes:
        return values.declared_type(signature.attributes[field].types)
    for operand in signature.operands:
        if operand.name == field and operand.attribute is not None:
            return values.declared_type(operand.attribute.types)
    return None


def _no_attribute(lowering: Lowering, expr: n.Attribute, call: ir.CallNode) -> NoReturn:
    operators = lowering.dialect.operators
    lacking = [name for name in call.operators if _declared(lowering, name, expr.field) is None]
    if call.variable in lowering.trait_variables:
        message = f"no operator that `{call.variable}` may match has an attribute `{expr.field}`"
        listed = "`gslc ops` lists the operators with their attributes"
    else:
        message = f"`{lacking[0]}` has no attribute `{expr.field}`"
        listed = f"its attributes: {', '.join(f'`{a}`' for a in operators[lacking[0]].attributes) or 'none'}"
    guess = did_you_mean(expr.field, [known for name in lacking for known in operators[name].attributes])
    lowering.stop(
        "E0303", message, expr.field_span,
        f"did you mean `{guess}`?" if guess else _fact_meant(expr.field, expr.base.span.text) or listed,
    )
