"""Conditions that a rule may need, from what its operators declare and from the values that good samples
show.

Equal attributes, sizes and types; attributes with a certain value, sign or kind; ranks, axes, broadcasting,
constants. Whether any of them is needed is found out elsewhere (`weakest`, `refine`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, combinations
from typing import Any

import numpy as np

from gslang.base.quick_dataclass import dataclass
from gslang.check import checked as ir
from gslang.dialect.dialect import Dialect
from gslang.dialect.domain import Exactly, Layout, OneOf
from gslang.dialect.domain_text import value_text
from gslang.dialect.signature import REQUIRED, AttributeSpec
from gslang.dialect.tensor_type import TensorType
from gslang.engine.scope import Scope
from gslang.generalize.draft import Condition, equal_attributes
from gslang.generalize.samples import Sample
from gslang.graph.graph import CONST

FLOATS = ("float16", "float32", "float64", "bfloat16")
_MOST_AXES = 5
_MOST_VALUES = 4  # of one attribute, to compare it with
_GROUPS = ("groups", "group")
_LAST = (-1, -2)  # axes counted from the end


@dataclass(frozen=True, slots=True)
class Named:
    """A pattern node that conditions can speak of. `order`: when it is matched."""

    name: str
    number: int
    operator: str | None  # None for a leaf
    order: int


def named_nodes(rule: ir.CheckedRule) -> list[Named]:
    """Named leaves and calls of one operator outside templates, in the order of matching."""
    found = []
    always = _always(rule)
    for order, number in enumerate(_matching_order(rule)):
        node = rule.nodes[number]
        if node.name is None or node.block is not None or number not in always:
            continue
        if isinstance(node, ir.LeafNode) and node.kind != "op":
            found.append(Named(node.name, number, None, order))
        elif isinstance(node, ir.CallNode) and len(node.operators) == 1:
            found.append(Named(node.name, number, node.operators[0], order))
    return found


def _matching_order(rule: ir.CheckedRule) -> list[int]:
    """Operands first, left to right."""
    order: dict[int, None] = {}

    def visit(number: int) -> None:
        if number in order:
            return
        for below in rule.nodes[number].below:
            visit(below)
        order[number] = None

    for output in rule.outputs:
        visit(output)
    return list(order)


def _always(rule: ir.CheckedRule) -> set[int]:
    """Pattern nodes that are part of every match: in each branch of an alternation, if they are below one."""

    known: dict[int, set[int]] = {}  # alternatives share nodes: paths through them double at each level

    def reach(number: int) -> set[int]:
        if number not in known:
            node = rule.nodes[number]
            below = [reach(k) for k in node.below]
            joined = set.intersection(*below) if isinstance(node, ir.AltNode) else set().union(*below)
            known[number] = {number, *joined}
        return known[number]

    return set().union(*(reach(output) for output in rule.outputs))


# ── values of samples ───────────────────────────────────────────────────────────────────────────────────────


def _type(scope: Scope, node: Named) -> TensorType | None:
    slot = scope.slots[node.number]
    type_ = scope.graph.types[slot] if slot >= 0 else None
    return type_ if isinstance(type_, TensorType) else None


def _ranks(good: Sequence[Sample], node: Named) -> list[int]:
    shapes = [t.shape for s in good if (t := _type(s.scope, node)) is not None]
    return sorted({len(shape) for shape in shapes if shape is not None})


def _values(good: Sequence[Sample], node: Named, field: str, dialect: Dialect) -> list[object]:
    """Values of an attribute, the most frequent first."""
    counts: dict[str, tuple[int, Any]] = {}
    for sample in good:
        slot = sample.scope.slots[node.number]
        signature = dialect.get(sample.scope.graph.op[slot]) if slot >= 0 else None
        if signature is not None:
            value = signature.complete(sample.scope.graph.attrs[slot]).get(field)
            counts[repr(value)] = counts.get(repr(value), (0, value))[0] + 1, value
    return [value for _, (_, value) in sorted(counts.items(), key=lambda item: (-item[1][0], item[0]))]


# ── conditions ──────────────────────────────────────────────────────────────────────────────────────────────


def candidates(rule: ir.CheckedRule, good: Sequence[Sample]) -> list[Condition]:
    """Conditions about the named nodes of a rule, each once, in a fixed order; of very many the first."""
    nodes = named_nodes(rule)
    found: dict[str, Condition] = {}
    for condition in chain(_about_types(rule, nodes, good), _about_attributes(rule, nodes, good)):
        found.setdefault(condition.text, condition)
        if len(found) == _MOST:
            break
    return list(found.values())


_MOST = 1_000  # of a rule with sixty operands there are 20,000, and each is looked at in each sample


def equal_fields(left: Named, right: Named, field: str, price: float = 1.0) -> Condition:
    """An attribute or a type that is the same at two nodes."""
    first, last = sorted((left, right), key=lambda node: node.order)
    return equal_attributes(first.name, last.name, field, price)


def _about_types(rule: ir.CheckedRule, nodes: Sequence[Named], good: Sequence[Sample]) -> Iterator[Condition]:
    leaves = [node for node in nodes if node.operator is None]
    others = [node for node in nodes if node.operator is not None]
    ranks = {node.number: _ranks(good, node) for node in nodes}
    for node in leaves:
        yield from _about_one(rule, node, ranks[node.number], good)
    for a, b in combinations(leaves, 2):
        yield equal_fields(a, b, "dtype", 0.8)
        yield equal_fields(a, b, "shape", 1.0)
        yield Condition(f"{a.name}.ndim == {b.name}.ndim", 1.2)
        for first, last in ((a, b), (b, a)):
            both = f"broadcast({first.name}.shape, {last.name}.shape)"
            yield Condition(f"{both} == {first.name}.shape", 1.3)
        yield from _equal_sizes(a, b, ranks[a.number], ranks[b.number])
    for call in others:
        for leaf in leaves:
            yield equal_fields(call, leaf, "dtype", 0.9)
            yield replace(equal_fields(call, leaf, "shape", 1.3), plain=False)
        if call.number in rule.outputs or "dtype" in "".join(
            rule.dialect.operators[call.operator or ""].attributes
        ):
            yield Condition(f"{call.name}.dtype in {value_text(FLOATS)}", 1.8)
    for call, leaf in _side_by_side(rule, others, leaves):
        yield Condition(f"broadcast({call.name}.shape, {leaf.name}.shape) == {call.name}.shape", 1.3)
    for a, b in combinations(others, 2):
        yield replace(equal_fields(a, b, "dtype", 1.2), plain=False)
        yield replace(equal_fields(a, b, "shape", 1.2), plain=False)


def _side_by_side(
    rule: ir.CheckedRule, calls: Sequence[Named], leaves: Sequence[Named]
) -> Iterator[tuple[Named, Named]]:
    """Calls and leaves that are operands of the same call, as a product and its bias are."""
    together = [set(node.operands) for node in rule.nodes if isinstance(node, ir.CallNode)]
    for call in calls:
        for leaf in leaves:
            if any({call.number, leaf.number} <= operands for operands in together):
                yield call, leaf


def _about_one(
    rule: ir.CheckedRule, node: Named, ranks: Sequence[int], good: Sequence[Sample]
) -> Iterator[Condition]:
    name = node.name
    yield Condition(f"{name}.dtype in {value_text(FLOATS)}", 1.6)
    yield Condition(f'{name}.dtype == "float32"', 3.0, name, "dtype", '"float32"')
    yield Condition(f'{name}.dtype != "bool"', 1.6)
    leaf = rule.nodes[node.number]
    if not (isinstance(leaf, ir.LeafNode) and leaf.optional):
        yield Condition(f"{name}.shape == ()", 2.0, name, "shape", "()")
        yield Condition(f"numel({name}.shape) == 1", 1.6)
    else:
        yield Condition(f"{name} == none", 1.5)
    for rank in ranks[:6]:
        yield Condition(f"{name}.ndim == {rank}", 1.5)
    if len(ranks) > 1:
        yield from (Condition(f"{name}.ndim >= {rank}", 1.3) for rank in ranks[:3])
        yield from (Condition(f"{name}.ndim <= {rank}", 1.6) for rank in ranks[:3])
    most = min(_MOST_AXES, max(ranks, default=0))
    for k in (*range(most), *(_LAST if most else ())):
        yield Condition(f"{name}.shape[{k}] == 1", 2.2)
    for i, j in combinations(range(most), 2):
        yield Condition(f"{name}.shape[{i}] == {name}.shape[{j}]", 2.4, plain=False)
    if most > 1:
        yield Condition(f"{name}.shape[-1] == {name}.shape[-2]", 2.3, plain=False)
    if isinstance(leaf, ir.LeafNode) and leaf.kind in ("const", "any", "var"):
        yield from _about_constant(node, good, leaf.kind == "const")


def _about_constant(node: Named, good: Sequence[Sample], is_const: bool) -> Iterator[Condition]:
    """A constant of one element with a certain value, or any constant."""
    name, values = node.name, set()
    for sample in good:
        slot = sample.scope.slots[node.number]
        value = sample.scope.graph.value(slot) if slot >= 0 and sample.scope.graph.op[slot] is CONST else None
        if value is not None and np.size(value) == 1:
            values.add(np.asarray(value).reshape(-1)[0].item())
    if not is_const:
        yield Condition(f'{name}.kind == "const"', 2.0)
    for value in (value for value in (-1, 0, 0.5, 1, 2) if value in values):
        yield Condition(f"{name}.value == {value_text(value)}", 2.5)
    if is_const or values:
        yield Condition(f"{name}.value > 0", 1.8)
        yield Condition(f"{name}.value >= 0", 1.7)
        yield Condition(f"{name}.value != 0", 1.7)


def _equal_sizes(a: Named, b: Named, ranks_a: Sequence[int], ranks_b: Sequence[int]) -> Iterator[Condition]:
    most_a, most_b = (min(_MOST_AXES, max(ranks, default=0)) for ranks in (ranks_a, ranks_b))
    for k in range(min(most_a, most_b)):
        yield Condition(f"{b.name}.shape[{k}] == {a.name}.shape[{k}]", 1.0)
    for k in _LAST if most_a and most_b else ():
        yield Condition(f"{b.name}.shape[{k}] == {a.name}.shape[{k}]", 1.35)
    for k in range(1, min(3, most_a, most_b)):
        yield Condition(f"{b.name}.shape[{k}:] == {a.name}.shape[{k}:]", 1.1)
        yield Condition(f"{b.name}.shape[:-{k}] == {a.name}.shape[:-{k}]", 1.15)
    for i in range(most_b):
        for j in range(most_a):
            if i != j:
                yield Condition(f"{b.name}.shape[{i}] == {a.name}.shape[{j}]", 1.5, plain=False)
    for i, j in ((-1, 0), (0, -1), (-1, -2), (-2, -1)) if most_a and most_b else ():
        yield Condition(f"{b.name}.shape[{i}] == {a.name}.shape[{j}]", 1.6, plain=False)


def _about_attributes(
    rule: ir.CheckedRule, nodes: Sequence[Named], good: Sequence[Sample]
) -> Iterator[Condition]:
    calls = [node for node in nodes if node.operator is not None]
    declared = {node.number: rule.dialect.operators[node.operator or ""].attributes for node in calls}
    for node in calls:
        for spec in declared[node.number].values():
            yield from _about_attribute(rule, node, spec, good)
    for a, b in combinations(calls, 2):
        for name, spec in declared[a.number].items():
            for other, spec_b in declared[b.number].items():
                if name == other:
                    yield equal_fields(a, b, name, 0.9 if a.operator == b.operator else 1.1)
                elif (
                    spec.types == spec_b.types and spec.types[0].base in ("int", "float")
                    and a.operator != b.operator
                ):
                    yield Condition(f"{b.name}.{other} == {a.name}.{name}", 1.6, plain=False)
        yield from _about_two(a, b, declared[a.number].keys() & declared[b.number].keys(), declared[a.number])
    yield from _per_group(rule, calls)
    for a, b, name in _axes(rule, nodes, declared):
        yield Condition(f"normalize_axis({a.name}.{name}, {b.name}.ndim) == {b.name}.ndim - 1", 1.4)
        yield Condition(f"normalize_axis({a.name}.{name}, {b.name}.ndim) == 1", 1.8)
        yield Condition(f"normalize_axis({a.name}.{name}, {b.name}.ndim) == 0", 1.8)
        yield Condition(f"{b.name}.shape[{a.name}.{name}] == 1", 2.0)


def _per_group(rule: ir.CheckedRule, calls: Sequence[Named]) -> Iterator[Condition]:
    """Calls of one operator whose weights have as many outputs for each group."""
    leaves: dict[object, str] = {n.number: n.name for n in named_nodes(rule) if n.operator is None}
    for a, b in combinations(calls, 2):
        left_call, right_call = rule.nodes[a.number], rule.nodes[b.number]
        names = [n for n in rule.dialect.operators[a.operator or ""].attributes if n in _GROUPS]
        if (
            a.operator != b.operator or not isinstance(left_call, ir.CallNode)
            or not isinstance(right_call, ir.CallNode)
        ):
            continue
        operands = (*left_call.operands[:2], *right_call.operands[:2])
        if len(set(operands)) == 4 and all(k in leaves for k in operands):  # groups may follow from shapes
            x, w, z, v = [leaves[k] for k in operands]
            yield Condition(f"{v}.shape[0] * {x}.shape[1] == {w}.shape[0] * {z}.shape[1]", 1.8)
        for name in names:
            for left, right in zip(left_call.operands[1:], right_call.operands[1:]):
                if left in leaves and right in leaves and left != right:
                    first, last = (
                        f"{leaves[k]}.shape[0] // {c.name}.{name}" for k, c in ((left, a), (right, b))
                    )
                    yield Condition(f"{last} == {first}", 1.7)


def _about_attribute(
    rule: ir.CheckedRule, node: Named, spec: AttributeSpec, good: Sequence[Sample]
) -> Iterator[Condition]:
    place = f"{node.name}.{spec.name}"
    seen = _values(good, node, spec.name, rule.dialect)
    wanted = ([] if spec.default is REQUIRED else [spec.default]) + seen[:_MOST_VALUES]
    for k, value in enumerate({repr(v): v for v in wanted if sayable(v)}.values()):
        text = value_text(value)
        price = 1.9 if k == 0 and spec.default is not REQUIRED else 2.1
        yield Condition(f"{place} == {text}", price, node.name, spec.name, text)
        if value is None or isinstance(value, (str, bool)):
            yield Condition(f"{place} != {text}", 1.7)
    if any(isinstance(v, tuple) and v and all(isinstance(i, int) for i in v) for v in seen):
        yield Condition(f"all(v == 0 for v in {place})", 1.7)
        yield Condition(f"all(v == 1 for v in {place})", 1.7)
        yield Condition(f"all(v >= 0 for v in {place})", 1.5)
        yield Condition(f"all(v != 0 for v in {place})", 1.4)
        yield Condition(f"all(v > 0 for v in {place})", 1.5)
        yield Condition(f"len({place}) == 1", 1.8)
        yield Condition(f"{place}[0] == 0", 1.9)
        yield Condition(f"{place} == [i for i in range(len({place}))]", 2.0)
    if any(isinstance(v, (int, float)) and not isinstance(v, bool) for v in seen):
        for sign in (">= 0", "> 0", "< 0", "<= 0", "!= 0"):
            yield Condition(f"{place} {sign}", 1.4)
    named = isinstance(spec.domain, (OneOf, Exactly, Layout)) and "dtype" not in spec.name
    if any(isinstance(v, str) for v in seen) and named:
        texts = sorted(v for v in seen if isinstance(v, str))
        if 1 < len(texts) <= _MOST_VALUES:
            yield Condition(f"{place} in {value_text(tuple(texts))}", 2.0)


def sayable(value: object) -> bool:
    """True for values that rule text has."""
    if isinstance(value, tuple):
        return all(map(sayable, value))
    return (
        value is None or isinstance(value, (bool, int, float, str)) and value == value
        and abs(value if isinstance(value, (int, float)) else 0) < 1e30
    )


def _about_two(a: Named, b: Named, shared: set[str], declared: Any) -> Iterator[Condition]:
    """Of two calls with an attribute of the same name: sums, permutations that undo each other, axes that
    differ.
    """
    for name in sorted(shared):
        base = declared[name].types[0]
        if base.base == "int" and base.depth == 0:
            yield Condition(f"{b.name}.{name} != {a.name}.{name}", 1.5)
            yield Condition(f"{b.name}.{name} >= {a.name}.{name}", 1.6)
            yield Condition(f"{a.name}.{name} >= {b.name}.{name}", 1.6)
        if base.base == "float" and base.depth == 0:
            yield Condition(f"{b.name}.{name} >= {a.name}.{name}", 1.5)
            yield Condition(f"{a.name}.{name} >= {b.name}.{name}", 1.5)
        if name in ("axes", "perm"):
            for p, q in ((a, b), (b, a)):
                yield Condition(
                    f"[{p.name}.{name}[i] for i in {q.name}.{name}] == [i for i in "
                    f"range(len({q.name}.{name}))]",
                    1.2,
                )


def _axes(
    rule: ir.CheckedRule, nodes: Sequence[Named], declared: Any
) -> Iterator[tuple[Named, Named, str]]:
    """Calls with an axis, and the leaves and operands whose rank it may be counted by."""
    calls = [node for node in nodes if node.operator is not None and "axis" in declared[node.number]]
    for a in calls:
        below = rule.nodes[a.number].below
        yield from ((a, b, "axis") for b in nodes if b.operator is None or b is a or b.number in below)


