"""The number of axes that suffices: a rule that treats axes alike fails at some rank only if it fails with as
few axes as are counted here.

Where each operator of both sides works on every axis by itself, a failure needs few axes to be seen: one on
which a shape differs or does not fit; for an input that is read n times, n − 1 axes that tell apart where it
is read; an axis for each one that an attribute names, for each condition that does not hold, and for each
padding whose filling is read. Axes that are summed over together count as one: they can be merged. Every
other axis can be taken away, from all tensors at once, and what is left is a match of the same rule that
fails too. This is how TensorRight (Arora et al. 2025) bounds ranks.

`sufficient` looks at the rule alone. It knows the operators that it lists and conditions of few forms; of
other rules it says nothing. Where operators name the last axes alone, ranks may differ (`last_axes`).
"""

from __future__ import annotations

from gslang.check import checked as ir
from gslang.check.walks import walk
from gslang.verify.prove.ranks.axis_history import AxisHistory, Unlike
from gslang.verify.prove.ranks.last_axes import enough_of_last


def sufficient(rule: ir.CheckedRule) -> int | None:
    """The largest rank of open tensors that has to be looked at; None where that is not known."""
    operators = rule.dialect.operators
    if any(operators[o].departs for call in rule.calls.values() for o in call.operators):
        return None
    if any(isinstance(node, ir.ChainNode) for node in rule.nodes):
        return None
    found: list[int] = []
    for bound in (_bound, enough_of_last):
        try:
            found.append(bound(rule))
        except Unlike:
            pass
    return min(found, default=None)


def _bound(rule: ir.CheckedRule) -> int:
    sides = AxisHistory(rule)
    if (
        rule.blocks or rule.output_block is not None or len(rule.outputs) != 1
        or len(rule.target.outputs) != 1
    ):
        raise Unlike
    before, after = sides.of_source(rule.outputs[0]), sides.of_target(rule.target.outputs[0])
    if before != after:
        raise Unlike
    for condition in rule.where:
        _check_condition(sides, condition)
    count = sides.count
    if count.mixed and not _have_one_rank(sides) or count.sums and count.each:
        raise Unlike
    told_apart = sum(max(n - 1, 0) for n in sides.reads) if count.mixed else 0
    return (
        told_apart + count.named + count.front + count.back + count.conditions + count.paddings
        + (1 << len(count.sums))
    )


def _have_one_rank(sides: AxisHistory) -> bool:
    """True if all inputs that are no scalars have one rank by what the rule says."""
    leaves = [k for k in sides.rule.leaves if sides.labels.get(k) is not None]
    groups = {k: {k} for k in leaves}

    def join(a: int, b: int) -> None:
        if a in groups and b in groups:
            union = groups[a] | groups[b]
            groups.update(dict.fromkeys(union, union))

    for k in leaves:
        for constraint in sides.rule.nodes[k].tests:
            if constraint.copied is not None and constraint.field == "shape":
                join(k, constraint.copied.node)
    for call in sides.rule.calls.values():
        if set(call.operators) <= {"concatenate", "Concat"}:
            joined = [f for o in call.operands if isinstance(o, int) for f in _fields(sides.rule, o)]
            for a, b in zip(joined, joined[1:]):
                join(a, b)
    return len({frozenset(group) for group in groups.values()}) <= 1


def _fields(rule: ir.CheckedRule, number: int) -> list[int]:
    """The tensors that are joined, those of inner joins too."""
    match rule.nodes[number]:
        case ir.TupleNode(fields=fields):
            return [part for f in fields if isinstance(f, int) for part in _fields(rule, f)]
        case ir.CallNode(operators=("concatenate",) | ("Concat",), operands=operands):
            return [part for o in operands if isinstance(o, int) for part in _fields(rule, o)]
    return [number]


def _check_condition(sides: AxisHistory, value: ir.Value, holds: bool = True) -> None:
    """A condition that says the same of each axis, or nothing of axes; raises `Unlike` for others.

    `holds`: it has to hold, so that it does without an axis, too: equal shapes stay equal, and a number
    of elements that is 1 stays 1.
    """
    # Long on purpose: flat, a form of condition after the other, and what it says of axes.
    if (by := value.decided_by(holds, sides.rule.lets)) is not None:
        for item in by.items:
            _check_condition(sides, item, by.wanted)
        return
    match value:
        case ir.SelectValue(arms=arms):
            for arm in arms:
                if arm is not None:
                    _check_condition(sides, arm, holds)
        case ir.Const(bool()):
            pass
        case ir.CompareValue("==" | "!=" as sign, ir.NodeAttr(_, a, "shape"), ir.NodeAttr(_, b, "shape")):
            if sides.labels.get(a) != sides.labels.get(b) or sides.labels.get(a) is None:
                raise Unlike
            sides.count.conditions += (sign == "==") != holds
        case ir.CompareValue(_, ir.NodeAttr(_, _, "value" | "dtype"), right) if not _reads_axes(right):
            pass
        case ir.CompareValue(">=" | "<", ir.NodeAttr(_, _, "axis"), ir.Const(0)):
            pass
        case ir.CompareValue(
            "==" | "!=", ir.ItemValue(ir.NodeAttr(_, _, "shape"), ir.NodeAttr(_, _, "axis")),
            ir.Const(int()),
        ):
            sides.count.conditions += 1
        case ir.CompareValue(
            "==" | "!=", ir.ItemValue(ir.NodeAttr(_, _, "shape"), ir.Const(int(place))), ir.Const(int())
        ):
            sides.count.name_place(place)
            sides.count.mixed = True
        case ir.CompareValue("==" | "!=", ir.NodeAttr(_, _, "strides"), ir.Const(None)):
            sides.count.conditions += 1
        case ir.Builtin(
            "all", (ir.Comprehension(element, _, ir.NodeAttr(_, _, "strides" | "pad_width"), None),)
        ) if _of_items(element):
            sides.count.conditions += 1
        case _:
            raise Unlike


def _of_items(value: ir.Value) -> bool:
    """True if a value is made of the items at hand and constants."""
    return not any(isinstance(part, (ir.InPlace, ir.Uses)) for part in walk(value))


def _reads_axes(value: ir.Value) -> bool:
    return any(isinstance(part, ir.NodeAttr) and part.name not in ("value", "dtype") for part in walk(value))
