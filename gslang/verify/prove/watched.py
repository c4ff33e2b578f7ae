"""A rule whose decisions are named values, and a scope that notes how they come out: so the prover knows
which sides its cases took.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from gslang.check import checked as ir
from gslang.check.arithmetic import BINARY
from gslang.check.walks import against_constant, conjuncts, is_field, readings, walk
from gslang.dialect.tensor_type import UnknownValue
from gslang.engine.scope import Scope, evaluate
from gslang.engine.values import truth
from gslang.verify.decisions import Goal, goals
from gslang.verify.prove.operators.infinities import has_infinities
from gslang.verify.prove.operators.listed import listed
from gslang.verify.prove.operators.onnx_operands import asked_to_be_single, bare_numbers
from gslang.verify.prove.operators.plain_scales import plain_scales
from gslang.verify.prove.ranks.rank_limits import Limits, rank_limits
from gslang.verify.prove.terms.dtypes import WHOLE, Names, numbers_in
from gslang.verify.prove.terms.opaque import AnyCount
from gslang.verify.prove.terms.reals import Near

IS_CONST = "is a constant"  # what is asked of a kind that is compared with nothing else


class WatchingScope(Scope):
    """`watched`: number of a named value → the decision that it is. `taken`: (decision, how it came out)."""

    watched: dict[int, int] = {}
    sides: set[tuple[int, bool]] = set()

    def around(self, uses: ir.Uses) -> object:
        """The surroundings of the source are open: each question has both answers, in separate cases."""
        if self.slot(uses.place, uses.node) < 0:
            raise UnknownValue("the node is not part of the match")
        return AnyCount(self.graph.world.facts.choices)  # type: ignore[attr-defined]

    def list_of(self, loop: ir.Comprehension) -> object:
        """The elements of a comprehension, whatever their number is."""
        found = listed(self.graph.world.facts, self, loop)  # type: ignore[attr-defined]
        return super().list_of(loop) if found is None else found

    def let(self, place: ir.Place, number: int) -> object:
        """The value of a let; that of a decision is noted, and computed anew each time: it may read what a
        comprehension runs over.
        """
        if number not in self.watched:
            return super().let(place, number)
        result = evaluate(self.rule.lets[number], self)
        self.sides.add((self.watched[number], truth(result)))
        return result


Branches = tuple[tuple[int, int], ...]  # (alternation, branch)


@dataclass(frozen=True, slots=True)
class Said:
    """The part of a node's shape that conditions of a rule fix: its rank, that an input has one element, or
    that it is empty along some axis.
    """

    rank: int | None = None
    single: bool = False
    empty: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """A condition on inputs (`asked`), which can be read when calls have chosen those of `numbers`, in cases
    with the `branches` (alternation, branch) that it stands under.
    """

    condition: ir.Value
    asked: frozenset[int]
    numbers: frozenset[int]
    branches: Branches


@dataclass(frozen=True, slots=True, eq=False)
class Early:
    """A condition that looks at inputs (`asked`) and `captured` values only, in cases with such `branches`:
    it can be read when these are bound.
    """

    condition: ir.Value
    asked: frozenset[int]
    captured: frozenset[int]
    branches: Branches


@dataclass(frozen=True, slots=True, eq=False)
class Shaped:
    """A condition on types (`asked`), of results too, in cases with such `branches`."""

    condition: ir.Value
    asked: frozenset[int]
    branches: Branches


@dataclass(frozen=True, slots=True, eq=False)
class Watched:
    """A rule with each decision as a let, and what is asked of it once for all cases.

    `decisions`: which let is which decision (by `id` in the old rule). `wanted`: what should be seen.
    `looked_into`: the properties of nodes that are read besides their types, with `IS_CONST` for whether they
    are constants: of an input it matters then what computes it. `early`: conditions that are asked
    before results are computed. `said`: what conditions fix of shapes.
    `vectors`: inputs whose numbers say what a call does; these may be empty. `chosen`: conditions on inputs
    that read such numbers, which calls choose, or look at instances. `shaped`: those on types of results,
    too. `limits`: the largest ranks of nodes. `bare`: inputs that are numbers of any rank (`bare_numbers`).
    `fixed`: the values that conditions say attributes of calls have. `has_infinities`: constants, perhaps.
    """

    rule: ir.CheckedRule
    decisions: dict[int, int]
    wanted: list[Goal]
    looked_into: dict[int, set[str]]
    early: tuple[Early, ...]
    said: dict[int, Said]
    vectors: frozenset[int]
    limits: Limits
    chosen: tuple[Chosen, ...]
    shaped: tuple[Shaped, ...]
    bare: frozenset[int]
    fixed: Mapping[tuple[int, str], object]
    has_infinities: bool


def watched(rule: ir.CheckedRule) -> Watched:
    """The rule, ready to be looked at in cases."""
    wanted = goals(rule)
    conditions = {id(goal.condition): goal.condition for goal in wanted}
    numbers = {key: len(rule.lets) + k for k, key in enumerate(conditions)}

    def changed(item: object, whole: bool = False) -> Any:
        if id(item) in numbers and not whole:
            return ir.Let(ir.OWN, numbers[id(item)])
        match against_constant(item), item:
            case (left, "in" | "not in" as sign, tuple(names)), _ if (
                is_field(left, "dtype") and all(isinstance(n, str) for n in names)
            ):
                return ir.CompareValue("==" if sign == "in" else "!=", left, ir.Const(Names(names)))
            case _, ir.Builtin("close", (left, right, _)):
                number = _number(right)
                other = changed(right) if number is None else ir.Const(Near(number))
                return ir.CompareValue("==", changed(left), other)
        if isinstance(item, tuple):
            new = tuple(changed(part) for part in item)
            return item if all(a is b for a, b in zip(item, new)) else new
        if is_dataclass(item) and not isinstance(item, (type, ir.CheckedRule)):
            parts = {
                f.name: changed(getattr(item, f.name))
                for f in fields(item)
                if f.init and f.name not in ("span", "spans", "where_spans", "bounds_span")
            }
            different = {name: value for name, value in parts.items() if value is not getattr(item, name)}
            return replace(item, **different) if different else item
        return item

    lets = (
        *(changed(value) for value in rule.lets),
        *(changed(condition, True) for condition in conditions.values()),
    )
    result = replace(
        rule, nodes=changed(rule.nodes), blocks=changed(rule.blocks), where=changed(rule.where),
        target=changed(rule.target), lets=lets,
    )
    said = _said_of_shapes(result)
    single = frozenset(node for node, what in said.items() if what.single)
    said.update(dict.fromkeys(plain_scales(rule, single), Said(0, True)))
    vectors = _numbers_of_operators(result)
    readable = (single | asked_to_be_single(result)) - vectors
    early = _early(result, readable)
    decisions = {number: key for key, number in numbers.items()}
    chosen = tuple(_chosen(result, vectors))
    return Watched(
        result, decisions, wanted, _looked_into(result), early, said, vectors, rank_limits(result), chosen,
        tuple(_shaped(result)), bare_numbers(rule), _fixed(rule),
        has_infinities((rule.nodes, rule.where, rule.blocks, rule.target), rule.lets),
    )


def _fixed(rule: ir.CheckedRule) -> dict[tuple[int, str], object]:
    """(call, attribute) → the value that a condition says it has."""
    found: dict[tuple[int, str], object] = {}
    for condition in _implied(rule, rule.where):
        match against_constant(condition):
            case (ir.NodeAttr(place, node, name), "==", value) if place == ir.OWN and node in rule.calls:
                found.setdefault((node, name), value)
    return found


def _implied(rule: ir.CheckedRule, conditions: Iterable[ir.Value]) -> Iterator[ir.Value]:
    """Conditions that must all be true, those in named values included and those that hold for each
    alternative.
    """
    for condition in conjuncts(conditions, rule.lets):
        yield condition
        if isinstance(condition, ir.SelectValue):
            each = [list(_implied(rule, [arm])) for arm in condition.arms if arm is not None]
            yield from (shared for shared in each[0] if all(shared in arm for arm in each[1:]))


def _early(rule: ir.CheckedRule, single: frozenset[int]) -> tuple[Early, ...]:
    """The conditions that look at inputs and captured values only, those on fewer inputs first: they cut off
    more.

    `single`: constants whose number may be read before an operator has said what it is.
    """
    waiting = [
        Early(c, frozenset(_nodes(rule, c)), frozenset(_captured(rule, c)), branches)
        for branches, c in _anywhere(rule)
        if not _asks_for_results(rule, c, single) and not _asks_for_instances(rule, c)
    ]
    return tuple(sorted(waiting, key=lambda early: len(early.asked)))


def _anywhere(rule: ir.CheckedRule) -> Iterator[tuple[Branches, ir.Value]]:
    """The conditions that must all be true, those for branches of an alternation with these."""
    yield from (((), condition) for condition in _implied(rule, rule.where))
    yield from (pair for pair in _by_branches(rule, rule.where, ()) if pair[0])


def _chosen(rule: ir.CheckedRule, vectors: frozenset[int]) -> Iterator[Chosen]:
    for branches, condition in _anywhere(rule):
        asked, of_instances = _nodes(rule, condition), _asks_for_instances(rule, condition)
        numbers = {
            part.node for part in readings(condition, rule.lets)
            if isinstance(part, ir.NodeAttr) and part.name == "value"
        }
        if (numbers or of_instances) and asked <= set(rule.leaves) and numbers <= vectors:
            yield Chosen(condition, frozenset(asked), frozenset(numbers), branches)


_OF_TYPES = frozenset({"shape", "ndim", "dtype"})
_OF_NODES = (ir.NodeAttr, ir.Let, ir.Local)  # what can be read as soon as nodes are bound


def _shaped(rule: ir.CheckedRule) -> Iterator[Shaped]:
    leaves = rule.leaves
    for branches, condition in _by_branches(rule, rule.where, ()):
        read = list(readings(condition, rule.lets))
        fields_ = [part for part in read if isinstance(part, ir.NodeAttr)]
        asked = frozenset([part.node for part in fields_])
        if (
            not asked <= leaves.keys()
            and all(isinstance(part, _OF_NODES) for part in read)
            and all(part.place == ir.OWN and part.name in _OF_TYPES for part in fields_)
            and all(rule.nodes[node].block is None for node in asked)
        ):
            yield Shaped(condition, asked, branches)


def _by_branches(
    rule: ir.CheckedRule, conditions: Iterable[ir.Value], branches: Branches
) -> Iterator[tuple[Branches, ir.Value]]:
    """Conditions that must all be true, those for branches of an alternation each by itself."""
    for condition in conjuncts(conditions, rule.lets):
        meant = condition.meant(rule.lets)
        if isinstance(meant, ir.SelectValue) and meant.place == ir.OWN:
            for k, arm in enumerate(meant.arms):
                yield from _by_branches(rule, [] if arm is None else [arm], (*branches, (meant.node, k)))
        else:
            yield branches, condition


_JOINS = frozenset({"Concat", "concatenate"})  # calls of which nothing is left out for empty operands


def _said_of_shapes(rule: ir.CheckedRule) -> dict[int, Said]:
    """The shapes of inputs and results, as far as conditions of the rule fix them."""
    found: dict[int, Said] = {}
    leaves = rule.leaves
    joins_only = all(_JOINS.issuperset(call.operators) for call in rule.calls.values())
    for condition in _implied(rule, rule.where):
        compared = against_constant(condition)
        if compared is None or compared[1] != "==":
            continue
        field, said = _said_by_equality(compared[0], compared[2])
        if field is None or field.place != ir.OWN or said.empty and not joins_only:
            continue
        node = field.node
        before = found.get(node, Said())
        found[node] = Said(
            said.rank if before.rank is None else before.rank,
            node in leaves and (before.single or said.single), before.empty or said.empty,
        )
    return found


def _said_by_equality(value: ir.Value, constant: object) -> tuple[ir.NodeAttr | None, Said]:
    """The shape or rank of which a value that equals a constant is a part, and what is known of it then."""
    if is_field(value.numel_of, "shape") and constant == 1:
        return value.numel_of, Said(single=True)
    if is_field(value, "ndim") and isinstance(constant, int):
        return value, Said(rank=constant)
    if is_field(value, "shape") and isinstance(constant, tuple):
        return value, Said(rank=len(constant), single=all(size == 1 for size in constant))
    if isinstance(value, ir.ItemValue) and is_field(value.base, "shape") and constant == 0:
        return value.base, Said(empty=True)
    return None, Said()


def _nodes(rule: ir.CheckedRule, condition: ir.Value) -> set[int]:
    """The nodes that a condition looks at."""
    return {part.node for part in readings(condition, rule.lets) if isinstance(part, ir.NodeAttr)}


def _captured(rule: ir.CheckedRule, condition: ir.Value) -> set[int]:
    """The captured values that a condition looks at."""
    return {part.capture for part in readings(condition, rule.lets) if isinstance(part, ir.Captured)}


def _numbers_of_operators(rule: ir.CheckedRule) -> frozenset[int]:
    """Inputs whose numbers say what a call does (axes, shapes): the call chooses them first. The numbers of
    joined vectors are those of its parts.
    """
    found: set[int] = set()
    for node in rule.nodes:
        if isinstance(node, ir.CallNode):
            for k, operand in enumerate(node.operands):
                for operator in node.operators:
                    specs = rule.dialect.operators[operator].operands
                    spec = specs[min(k, len(specs) - 1)] if specs else None
                    if isinstance(operand, int) and spec is not None and spec.dtypes and (
                        numbers_in(spec.dtypes) == {WHOLE} and not _BYTES.issuperset(spec.dtypes)
                    ):
                        found.add(operand)
    for number in sorted(found):
        match rule.nodes[number]:
            case ir.CallNode(operators=("Concat",), operands=parts_):
                found.update(
                    part.node if isinstance(part, ir.Splice) else part for part in parts_ if part is not None
                )
    return frozenset(found)


_BYTES = frozenset({"int8", "uint8"})  # hold quantized numbers, and no shapes or axes


def _number(value: ir.Value) -> float | None:
    """The number that an expression of numbers is; None for others."""
    match value:
        case ir.Const(int() | float() as number):
            return float(number)
        case ir.BinaryValue(sign, left, right):
            first, second = _number(left), _number(right)
            return None if first is None or second is None else float(BINARY[sign](first, second))
    return None


def _looked_into(rule: ir.CheckedRule) -> dict[int, set[str]]:
    result: dict[int, set[str]] = {}
    for part in walk((rule.nodes, rule.where, rule.lets, rule.blocks, rule.target)):
        for child in _children(part):
            if isinstance(child, ir.NodeAttr) and child.name not in ("shape", "dtype", "ndim"):
                asked = against_constant(part) if child.name == "kind" else None
                is_const = asked is not None and asked[1] in ("==", "!=") and asked[2] == "const"
                result.setdefault(child.node, set()).add(IS_CONST if is_const else child.name)
    for number, node in enumerate(rule.nodes):
        if any(constraint.field == "kind" for constraint in node.tests):
            result.setdefault(number, set()).add("kind")
    return result


def _children(part: object) -> Iterator[object]:
    if isinstance(part, (tuple, list)):
        yield from part
    elif is_dataclass(part):
        for f in fields(part):
            yield getattr(part, f.name)


def _asks_for_instances(rule: ir.CheckedRule, condition: ir.Value) -> bool:
    """True if a condition looks at instances of a block, or at how many there are."""
    return any(
        part.across or isinstance(part, ir.NodeAttr) and rule.nodes[part.node].block is not None
        for part in readings(condition, rule.lets)
    )


def _asks_for_results(rule: ir.CheckedRule, condition: ir.Value, single: frozenset[int]) -> bool:
    """True if a condition looks at the type of what a call of the source makes, at what is around it, or at
    the numbers of a constant that is none of these with a `single` one."""
    leaves = rule.leaves
    return any(
        isinstance(part, ir.Uses)
        or isinstance(part, ir.NodeAttr) and (
            part.name in ("shape", "dtype", "ndim") and part.node not in leaves
            or part.name == "value" and part.node not in single
        )
        for part in readings(condition, rule.lets)
    )
