"""The graph around an instance of a source: users of its nodes outside the match, as conditions on uses ask
for them.
"""

from __future__ import annotations

from gslang.check import checked as ir
from gslang.engine.scope import evaluate, operators_named
from gslang.engine.values import FAILURES
from gslang.verify.instances.leaves import Leaves, Misfit

FIELD = "%uses"
"""Prefix of the field of a wish for `surround`; its value: (the question about the graph, the answer wished
for)."""

INSIDE = "%calls"
"""The same of a wish for calls in bodies, which `bodies` fulfils."""

_MOST = 12  # users of one kind that are added


def surround(making: Leaves, outputs: list[int]) -> list[int]:
    """The outputs of the graph, with those that make the wishes on uses come true.

    Raises `Misfit` where that is not possible.
    """
    wishes = [value for (_, field), value in making.wishes.items() if field.startswith(FIELD)]
    hidden = {making.bound(uses.node) for uses, wanted in wishes if uses.what == "is_output" and not wanted}
    shown = [making.bound(uses.node) for uses, wanted in wishes if uses.what == "is_output" and wanted]
    outputs = [output for output in dict.fromkeys((*outputs, *shown)) if output not in hidden]
    # particular users count as users too
    for uses, wanted in sorted(wishes, key=lambda wish: wish[0].operators is None):
        if uses.what != "is_output":
            outputs = _with_users(making, outputs, uses, wanted)
    making.graph.set_outputs(outputs)
    for node in sorted(hidden):  # alive only if something reads it
        if not making.graph.users[node]:
            outputs = [*outputs, making.typed(making.graph.add(_copy(making), (node,), {}))]
    return outputs


def _copy(making: Leaves) -> str:
    """The operator that returns what it takes."""
    return next(name for name in ("copy", "Identity") if name in making.rule.dialect.operators)


def _with_users(making: Leaves, outputs: list[int], uses: ir.Uses, wanted: object) -> list[int]:
    making.graph.set_outputs(outputs)
    node = making.bound(uses.node)
    for _ in range(_MOST):
        if evaluate(uses, making.scope) >= wanted:
            break
        names = _copy(making) if uses.operators is None else operators_named(uses.operators, making.scope)
        outputs = [*outputs, _user(making, node, (names,) if isinstance(names, str) else names, uses)]
        making.graph.set_outputs(outputs)
    if evaluate(uses, making.scope) != wanted:
        raise Misfit("a node does not have the required users")
    return outputs


def _user(making: Leaves, node: int, names: tuple[str, ...], uses: ir.Uses) -> int:
    """A new call of one of these operators on a node, all its operands."""
    dialect, graph = making.rule.dialect, making.graph
    attributes = {name: evaluate(value, making.scope) for name, value in uses.attributes}
    for name in names:
        signature = dialect.get(name)
        if (
            signature is None or not signature.operands or signature.results != "tensor"
            or signature.operands[0].kind != "tensor"
        ):
            continue
        count = max(1, sum(not operand.optional and not operand.variadic for operand in signature.operands))
        made = graph.add(name, (node,) * count, attributes)
        try:
            return making.typed(made)
        except FAILURES:
            graph.discard_from(made)
    raise Misfit("no possible user satisfies the condition")
