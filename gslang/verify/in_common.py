"""The properties that all instances of a rule share although the rule leaves them open: a verdict that rests
on them names them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gslang.check import checked as ir
from gslang.check.walks import against_constant, conjuncts, walk
from gslang.engine.scope import Scope, evaluate
from gslang.engine.values import FAILURES
from gslang.verify.instances.draw import Instance, match_in
from gslang.verify.prove.watched import Said, watched
from gslang.verify.written import written_value

_OF_TENSORS = ("shape", "value")
_MANY_AXES = 5  # of a tuple: three between the first and the last
_FEW = 4  # instances of a block: what is so for the first, the last and the next of two may not be for more


def in_common(rule: ir.CheckedRule, instances: Sequence[Instance]) -> list[str]:
    """Notes on blocks that never had many instances, on constants of equal elements whose elements the rule
    adds up, multiplies or tells apart by their places, and on attributes that never had many items.
    """
    read, tuples = _told_apart(rule), _tuples(rule)
    if not rule.blocks and not read and not tuples:
        return []
    found = [scope for i in instances if (scope := match_in(rule, i.before)) is not None]
    if not found:
        return []
    return [*_counts(rule, found), *_elements(rule, found, read), *_lengths(rule, found, tuples)]


def _counts(rule: ir.CheckedRule, scopes: Sequence[Scope]) -> Iterator[str]:
    for k, block in enumerate(rule.blocks):
        most = max(len(scope.instances[k]) for scope in scopes)
        if most < _FEW and most != block.most:
            yield f"no `{block.name}` has more than {most} instance{'s' * (most != 1)}"


def _told_apart(rule: ir.CheckedRule) -> list[int]:
    """The constants of any shape of which conditions read several elements, other than each by itself."""
    said, found = watched(rule).said, dict[int, None]()
    for condition in conjuncts(rule.where, rule.lets):
        if condition.each is not None and isinstance(condition.each.source, ir.NodeAttr):
            continue
        for part in walk(condition, rule.lets):
            for field in _read_in_parts(part):
                leaf = rule.leaves.get(field.node)
                if leaf is None or leaf.block is not None or leaf.asked("value") or leaf.asked("ndim"):
                    continue
                known = said.get(field.node, Said())
                if not known.single and known.rank != 0 and not any(map(_is_of_one, leaf.asked("shape"))):
                    found[field.node] = None
    return list(found)


def _read_in_parts(part: object) -> Iterator[ir.NodeAttr]:
    """The values of which an expression takes elements, or says something of all together."""
    for source in part.taken_apart if isinstance(part, ir.Expression) else ():
        if isinstance(source, ir.NodeAttr) and source.name == "value":
            yield source


def _is_of_one(shape: ir.Test) -> bool:
    """True if only tensors of one element have such a shape."""
    if shape.either:
        return all(map(_is_of_one, shape.either))
    if isinstance(shape, ir.TupleTest):
        return shape.back is None and all(item.equal_to == ir.Const(1) for item in shape.front)
    sizes = shape.equal_to.value if isinstance(shape.equal_to, ir.Const) else None
    return isinstance(sizes, tuple) and all(size == 1 for size in sizes)


def _elements(rule: ir.CheckedRule, scopes: Sequence[Scope], read: Sequence[int]) -> Iterator[str]:
    for node in read:
        bound = [(scope.graph, scope.slots[node]) for scope in scopes if scope.slots[node] >= 0]
        values = [np.asarray(graph.value(slot)) for graph, slot in bound if slot in graph.values]
        name = rule.nodes[node].name or "_"
        if values and all(value.size <= 1 for value in values):
            yield f"`{name}` always has one element"
        elif values and all((value == value.flat[0]).all() for value in values if value.size):
            yield f"the elements of `{name}` are always equal"


def _tuples(rule: ir.CheckedRule) -> list[ir.Value]:
    """The attributes of which conditions read some items, and whose lengths they compare with no number."""
    found: dict[str, ir.Value] = {}
    bounded: set[str] = set()
    for part in walk(rule.where, rule.lets):
        for base in part.taken_apart if isinstance(part, ir.Expression) else ():
            if getattr(base, "name", "") not in _OF_TENSORS and isinstance(base, ir.Reading):
                found[repr(base)] = base
        compared = against_constant(part)
        if compared is not None and compared[0].length_of is not None:
            bounded.add(repr(compared[0].length_of))
    return [base for text, base in found.items() if text not in bounded]


def _lengths(rule: ir.CheckedRule, scopes: Sequence[Scope], tuples: Sequence[ir.Value]) -> Iterator[str]:
    for value in tuples:
        lengths = {len(found) for scope in scopes for found in [_value(value, scope)] if type(found) is tuple}
        if len(lengths) > 1 and max(lengths) < _MANY_AXES:  # one length is what the rule says
            yield f"`{written_value(rule, value)}` never has more than {max(lengths)} items"


def _value(value: ir.Value, scope: Scope) -> object:
    try:
        return evaluate(value, scope)
    except FAILURES:
        return None
