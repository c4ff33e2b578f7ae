"""The inputs of a rule: their kinds, and that the source has them."""

from __future__ import annotations

from collections.abc import Sequence

from gslang.base.suggest import did_you_mean
from gslang.check import checked as ir
from gslang.check import patterns, variables
from gslang.check.context import KINDS, Lost, Lowering, OperatorOf, Stop
from gslang.dialect.dtypes import dtype_exists
from gslang.syntax import nodes as n


def lower_inputs(lowering: Lowering, items: Sequence[n.Input]) -> tuple[int, ...]:
    """The inputs of a rule as pattern nodes, in order: each can read those before it."""
    nodes = []
    for k, item in enumerate(items):
        lowering.inputs_ahead = tuple([ahead.name.id for ahead in items[k:]])
        nodes.append(lower_input(lowering, item))
    lowering.inputs_ahead = ()
    return tuple([node for node in nodes if node is not None])


def lower_input(lowering: Lowering, item: n.Input) -> int | None:
    """An input vertex as a pattern node; an operator variable is no node."""
    name, kind = item.name.id, item.kind
    try:
        if kind is None:
            node = patterns.leaf(lowering, item.span, "any", (), name=name)
        elif kind.name.id == "op":
            operators = variables.operators_of(lowering, kind)
            lowering.variables[name] = ir.OpVariable(name, operators)
            lowering.variables_as_written[name] = kind
            if variables.is_by_trait(kind):
                lowering.trait_variables.add(name)
            lowering.bind(item.name, OperatorOf(name))
            if kind.optional:
                lowering.error(
                    "E0310", "an operator variable is never absent", kind.span,
                    f"remove the `?`; `{name}?(p)` in the source matches a call of it, or `p` alone",
                )
            return None
        elif kind.name.id in KINDS:
            node = patterns.leaf(
                lowering, item.span, kind.name.id, kind.arguments, name=name, optional=kind.optional
            )
        else:
            lowering.stop(
                "E0207", f"unknown kind `{kind.name.id}`", kind.name.span, _kind_meant(kind.name.id)
            )
    except Stop:
        lowering.bound_at.setdefault(name, item.name.span)
        lowering.names.setdefault(name, Lost())
        return None
    lowering.bind(item.name, node)
    return node.node


def _kind_meant(name: str) -> str:
    """A help for a kind that does not exist: the type of a tensor is a constraint, not a kind."""
    if dtype_exists(name):
        return f'the data type is a constraint: `any(dtype = "{name}")`'
    if name.lower() in ("tensor", "node", "value", "expr", "anything", "wildcard"):
        return "for any tensor, omit the kind, or write `any`"
    if name.lower() in ("constant", "literal", "scalar"):
        return "for a constant, write `const`; for a constant or a parameter, `fixed`"
    if name.lower() in ("initializer", "weight", "weights", "parameter", "bias"):
        return "for a parameter, write `param`; for a parameter or a constant, `fixed`"
    guess = did_you_mean(name.lower(), KINDS)
    return (
        f"did you mean `{guess}`?" if guess
        else "kinds: `any`, `var`, `input`, `param`, `const`, `fixed`, `op(…)`"
    )


def check_inputs(lowering: Lowering, rule: n.Rule, found: set[int], in_source: set[str]) -> None:
    """Report each input that is no part of the source. `found`: the patterns that its outputs reach."""
    used = {lowering.patterns[k].name for k in found}
    called = {p.variable for k in found if isinstance(p := lowering.patterns[k], ir.CallNode)}
    for item in rule.inputs:
        name = item.name.id
        if name in used or name in called:
            continue
        if name in in_source or name not in lowering.used_inputs:
            lowering.error(
                "E0209", f"input `{name}` is not part of the source", item.name.span,
                "use it as an operand in the source, or remove it",
            )  # fmt: skip
        else:
            lowering.error(
                "E0605", f"the target uses `{name}`, which the source does not bind", item.name.span,
                "use it in the source",
            )
