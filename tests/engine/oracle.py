"""A brute-force matcher, written from semantics.md §2 and §10 and nothing of the engine.

`is_match` states the five conditions of a given assignment. `all_matches` tries every assignment: every
branch of every alternation, every graph node for every pattern node whose place is not forced, every order of
commutative operands. (Forced is a node whose user is placed: condition 2 says where it must be.) `each` in
operands is no construct of its own here: the template is spelled out as often as instances may be
(`spell_out`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product
from typing import Any

from tests.engine.body_data import NAMES, is_described
from tests.engine.random_graphs import DIMS, LEAVES, Data, name_of
from tests.engine.rule_data import (
    COMMUTATIVE,
    DEFAULT_AXIS,
    VARIABLES,
    Call,
    Choice,
    Leaf,
    Projection,
    Rule,
    Spread,
    Template,
    Tuple,
    below,
    place_of,
    reachable,
    spell_out,
    stands_for,
)  # fmt: skip

Assignment = dict[int, int]  # pattern node → graph node, -1: an absent operand


def has_match(rule: Rule, graph: Data, ends: list[int], start: int) -> bool:
    """Whether a match exists whose first output is `start`."""
    if rule.varying is not None:
        return any(True for _ in greedy_matches(rule, graph, ends, start))
    return any(
        next(all_matches(plain, graph, ends, {plain.outputs[0]: start}), None) is not None
        for _, plain in spelled_out(rule, graph)
    )


def spelled_out(rule: Rule, graph: Data) -> list[tuple[tuple[int, ...], Rule]]:
    """All rules without `each` that a rule (whose instances are operands) stands for on this graph, with
    numbers of instances.
    """
    if not rule.templates:
        return [((), rule)]
    return [
        (counts, spell_out(rule, counts))
        for counts in product(*[_counts(rule, template, graph) for template in rule.templates])
    ]


def _counts(rule: Rule, template: Template, graph: Data) -> list[int]:
    """The numbers of instances that sequences of the graph leave for a template; 0 where it may be in a
    branch that is not chosen.
    """
    if template.outputs:
        return [1]
    counts = {0}
    for node in rule.nodes:
        parts = node.operands if isinstance(node, Call) else node.fields if isinstance(node, Tuple) else ()
        if any(isinstance(part, Spread) and part.node in template.nodes for part in parts):
            wanted = ("tuple",) if isinstance(node, Tuple) else node.operators  # type: ignore[union-attr]
            fixed = sum(not isinstance(part, Spread) for part in parts)
            counts |= {
                len(operands) - fixed
                for operator, operands, _ in graph if operator in wanted and len(operands) >= fixed
            }
    return sorted(counts)


def all_matches(rule: Rule, graph: Data, ends: list[int], known: Assignment) -> Iterator[Assignment]:
    """All matches of a spelled-out rule that extend `known`."""
    choices = [k for k in reachable(rule.nodes, rule.outputs) if isinstance(rule.nodes[k], Choice)]
    for branches in product(*[range(len(below(rule.nodes[k]))) for k in choices]):
        choice = dict(zip(choices, branches))
        active = reachable(rule.nodes, rule.outputs, choice)
        if any(branch and k not in active for k, branch in choice.items()):
            continue  # the same as with its first branch
        for f in _assignments(
            rule, graph, choice, dict(known),
            [k for k in reversed(active) if not isinstance(rule.nodes[k], Leaf)],
        ):
            if is_match(rule, graph, ends, choice, f):
                yield f


def _assignments(
    rule: Rule, graph: Data, choice: dict[int, int], f: Assignment, todo: list[int]
) -> Iterator[Assignment]:
    if not todo:
        yield f
        return
    begun = [k for k in todo if any(o in f for o in below(rule.nodes[k]))]
    k = next((k for k in todo if k in f), begun[0] if begun else todo[0])
    rest = [other for other in todo if other != k]
    node = rule.nodes[k]
    for slot in (f[k],) if k in f else range(-1 if isinstance(node, Choice) else 0, len(graph)):
        if slot < 0 and not isinstance(node, Choice):
            continue
        parts: list[tuple[tuple[int, ...], tuple[int, ...]]]
        if isinstance(node, Choice):
            parts = [((node.branches[choice[k]],), (slot,))]
        elif not _operator_fits(node, graph[slot][0]):
            continue
        else:
            parts = [(below(node), order) for order in _orders(node, graph[slot])]
        for nodes, slots in parts:
            extended = {**f, k: slot}
            if len(nodes) != len(slots) or any(extended.setdefault(n, s) != s for n, s in zip(nodes, slots)):
                continue
            if all(
                _leaf_fits(leaf, s, graph)
                for n, s in zip(nodes, slots) if isinstance(leaf := rule.nodes[n], Leaf)
            ):
                yield from _assignments(rule, graph, choice, extended, rest)


def _operator_fits(node: Any, operator: str) -> bool:
    match node:
        case Call(operators=operators):
            return operator in operators
        case Tuple():
            return operator == "tuple"
        case Projection():
            return operator == "proj"
    raise AssertionError(node)


def _orders(node: Any, entry: tuple[str, tuple[int, ...], Any]) -> list[tuple[int, ...]]:
    """The ways to read the operands: those left out at the end are absent, a commutative operator's may be
    swapped.
    """
    operator, operands, _ = entry
    if isinstance(node, Call):
        while len(operands) > len(node.operands) and operands[-1] < 0:
            operands = operands[:-1]
        operands += (-1,) * (len(node.operands) - len(operands))
        if any(body is not None for body in node.bodies):  # what bodies read stands in any order
            return [(operands[0], *rest) for rest in permutations(operands[1:])]
        if operator in COMMUTATIVE and not node.ordered:
            return [operands, operands[::-1]]
    return [operands]


def is_match(rule: Rule, graph: Data, ends: list[int], choice: dict[int, int], f: Assignment) -> bool:
    """The five conditions."""
    nodes = rule.nodes
    active = reachable(nodes, rule.outputs, choice)
    inner = [k for k in active if not isinstance(nodes[k], (Leaf, Choice))]

    def resolved(k: int) -> int:
        node = nodes[k]
        while isinstance(node, Choice):
            k = node.branches[choice[k]]
            node = nodes[k]
        return k

    # 1. kinds, operators, attributes, `where`
    for k in active:
        node = nodes[k]
        if isinstance(node, Leaf) and not (
            _leaf_fits(node, f[k], graph) and _shape_fits(node.shape, f, f[k], graph)
        ):
            return False
        if isinstance(node, Projection) and node.index is not None and graph[f[k]][2]["index"] != node.index:
            return False
        if isinstance(node, Call) and not _axis_fits(node.axis, f, f[k], graph, choice):
            return False
        if isinstance(node, Call) and node.bodies and not _bodies_fit(node, f, f[k], graph):
            return False
    for variable in VARIABLES:
        if (
            len({graph[f[k]][0] for k in inner if isinstance(n := nodes[k], Call) and n.variable == variable})
            > 1
        ):
            return False
    if not all(_holds(c, f, graph, choice, ends) for c in rule.where):
        return False
    # 2. operands in order
    for k in inner:
        node = nodes[k]
        if not _operator_fits(node, graph[f[k]][0]) or tuple(f[o] for o in below(node)) not in _orders(
            node, graph[f[k]]
        ):
            return False
    if any(f[k] != f[node.branches[choice[k]]] for k in active if isinstance(node := nodes[k], Choice)):
        return False
    # 3. interior and output nodes are distinct
    outputs = [resolved(k) for k in rule.outputs]
    used = stands_for(nodes, rule.uses)
    interior = [k for k in inner if k not in outputs and k not in rule.keep and k not in used]
    apart = [f[k] for k in dict.fromkeys([*outputs, *interior])]
    if len(set(apart)) < len(apart):
        return False
    # 4. no interior node has a user outside the match, or is an output of the graph
    matched = {f[k] for k in active}
    for k in interior:
        if k in rule.growing:
            continue
        if f[k] in ends or any(
            f[k] in operands and g not in matched for g, (_, operands, _) in enumerate(graph)
        ):
            return False
    # 5. no input is, or depends on, an output
    targets = {f[k] for k in outputs}
    if min(targets, default=0) < 0:
        return False
    return not any(_depends(graph, f[k], targets) for k in active if isinstance(nodes[k], Leaf) and f[k] >= 0)


def _bodies_fit(call: Call, f: Assignment, slot: int, graph: Data) -> bool:
    constants = frozenset(g for g, node in enumerate(graph) if node[0] == "const")
    return all(
        stated is None or is_described(stated, graph[slot][2][name], f, constants)
        for name, stated in zip(NAMES, call.bodies)
    )


def _leaf_fits(leaf: Leaf, slot: int, graph: Data) -> bool:
    if slot < 0:
        return leaf.optional or leaf.kind == "none"
    if leaf.kind == "none":
        return False
    operator, _, attributes = graph[slot]
    if leaf.value is not None:
        elements = attributes["value"] if operator == "const" else ()
        elements = elements if isinstance(elements, tuple) else (elements,)
        return (
            (len(elements) == 1 or leaf.splat) and len(elements) > 0
            and all(e == leaf.value for e in elements)
        )
    return (
        leaf.kind == "any" or operator == leaf.kind
        or operator in {"var": ("input", "param"), "fixed": ("param", "const")}.get(leaf.kind, ())
    )


def _axis(slot: int, graph: Data) -> int:
    operator, _, attributes = graph[slot]
    value: int = attributes.get("axis", DEFAULT_AXIS[operator])
    return value


def _axis_fits(
    axis: tuple[Any, ...] | None, f: Assignment, slot: int, graph: Data, choice: dict[int, int]
) -> bool:
    match axis:
        case None:
            return True
        case ("same" | "spread", other):
            return other in f and _axis(slot, graph) == _axis(f[other], graph)
        case ("is", *values):
            return _axis(slot, graph) in values
        case ("match", alternation, *arms):
            if alternation not in f:
                return False
            arm = arms[choice[alternation]]
            return bool(
                arm == "_" or _axis(slot, graph) == (arm if isinstance(arm, int) else _axis(f[arm[1]], graph))
            )
        case ("if", other, value, then, otherwise):
            if other not in f:
                return False
            wanted = then if _axis(f[other], graph) == value else otherwise
            return bool(wanted == "_" or _axis(slot, graph) == wanted)
    raise AssertionError(axis)


def _dims(slot: int, graph: Data) -> tuple[int | None, ...] | None:
    """Dimensions, None where unknown; None if the rank is."""
    if slot < 0:
        return None
    operator, _, attributes = graph[slot]
    if operator in ("tuple", "split"):
        return None
    if operator == "const":
        return (len(attributes["value"]),) if isinstance(attributes["value"], tuple) else ()
    dims: tuple[int | None, ...] | None = attributes.get(DIMS, (2, 2))
    return dims


def _shape_fits(shape: tuple[Any, ...] | None, f: Assignment, slot: int, graph: Data) -> bool:
    if shape is None:
        return True
    dims = _dims(slot, graph)
    if dims is None:
        return False
    match shape:
        case ("dims", *wanted):
            return len(dims) == len(wanted) and all(w == "_" or d == w for d, w in zip(dims, wanted))
        case ("last", d):
            return bool(dims) and dims[-1] == d
        case ("ndim", n):
            return len(dims) == n
        case ("like", other):
            return _same_shape(dims, _dims(f.get(other, -1), graph)) is True
    raise AssertionError(shape)


def _same_shape(a: tuple[int | None, ...] | None, b: tuple[int | None, ...] | None) -> bool | None:
    """None if it is not known."""
    if a is None or b is None:
        return None
    if len(a) != len(b) or any(x is not None and y is not None and x != y for x, y in zip(a, b)):
        return False
    return None if any(x is None or y is None for x, y in zip(a, b)) else True


def _holds(
    condition: tuple[Any, ...], f: Assignment, graph: Data, choice: dict[int, int], ends: list[int]
) -> bool:
    """Only what is known to hold: a node below a template without instances is not matched, and nothing is
    known of it.
    """
    count = {
        "equal": 2,
        "is": 1,
        "not": 1,
        "match": 1,
        "absent": 1,
        "there": 1,
        "dim": 1,
        "users": 1,
        "all users": 2,
        "name": 1,
        "output": 1,
        "no output": 1,
    }.get(condition[0], 0)
    nodes = (
        condition[1:] if condition[0] == "distinct"
        else (condition[1], condition[3]) if condition[0] == "shapes"
        else condition[1 : 1 + count]
    )
    if any(k not in f for k in nodes):
        return False
    match condition:
        case ("known", value):
            return bool(value)
        case ("instance", root, part):  # in an alternative that was not chosen there is none
            return root not in f or _holds(part, f, graph, choice, ends)
        case ("distinct", *_):
            return len({f[k] for k in nodes}) == len(nodes)
        case ("equal", a, b):
            return _axis(f[a], graph) == _axis(f[b], graph)
        case ("is", a, value):
            return bool(_axis(f[a], graph) == value)
        case ("not", a, value):
            return bool(_axis(f[a], graph) != value)
        case ("match", alternation, *arms):
            return _holds(arms[choice[alternation]], f, graph, choice, ends)
        case ("absent", a):
            return f[a] < 0
        case ("there", a):
            return f[a] >= 0
        case ("users", a, operator, axis, sign, count):
            return f[a] >= 0 and _compared(_users(f[a], operator, axis, graph), sign, count)
        case ("name", a, how, text):
            name = name_of(f[a], graph) if f[a] >= 0 else None
            return f[a] >= 0 and (
                name is not None and text in name if how == "has" else (name == text) == (how == "is")
            )
        case ("output", a):
            return _is_output(f[a], graph, ends)
        case ("no output", a):
            return f[a] >= 0 and not _is_output(f[a], graph, ends)
        case ("all users", a, b):
            return (
                f[a] >= 0 and f[b] >= 0
                and _users(f[a], graph[f[b]][0], None, graph) == _users(f[a], None, None, graph)
            )
        case ("dim", a, index, sign, d):
            dims = _dims(f[a], graph)
            found = None if dims is None or not 0 <= index < len(dims) else dims[index]
            return found is not None and (found == d) == (sign == "==")
        case ("shapes", a, sign, b):
            return _same_shape(_dims(f[a], graph), _dims(f[b], graph)) is (sign == "==")
        case ("or" | "any", *parts):
            return any(_holds(part, f, graph, choice, ends) for part in parts)
        case ("and", *parts):
            return all(_holds(part, f, graph, choice, ends) for part in parts)
    raise AssertionError(condition)


def _is_output(slot: int, graph: Data, ends: list[int]) -> bool:
    """An output, or a field of a tuple that is one."""
    return slot in ends or any(graph[end][0] == "tuple" and slot in graph[end][1] for end in ends)


def _users(slot: int, operator: str | None, axis: int | None, graph: Data) -> int:
    users = [(name, attributes) for name, operands, attributes in graph if slot in operands]
    if axis is not None:
        users = [
            (name, attributes)
            for name, attributes in users
            if name in DEFAULT_AXIS and attributes.get("axis", DEFAULT_AXIS[name]) == axis
        ]
    return len([name for name, _ in users if operator is None or name == operator])


def _compared(count: int, sign: str, other: int) -> bool:
    return count == other if sign == "==" else count >= other


def _depends(graph: Data, start: int, targets: set[int]) -> bool:
    stack, seen = [start], {start}
    while stack:
        node = stack.pop()
        if node in targets:
            return True
        for operand in graph[node][1]:
            if operand >= 0 and operand not in seen:
                seen.add(operand)
                stack.append(operand)
    return False


# ── `each` as outputs ───────────────────────────────────────────────────────────────────────────────────────


def reverse_post_order(graph: Data, ends: list[int]) -> list[int]:
    result: list[int] = []

    def visit(node: int) -> None:
        if node >= 0 and node not in result:
            for operand in graph[node][1]:
                visit(operand)
            result.append(node)

    for end in ends:
        visit(end)
    return result


def greedy_matches(
    rule: Rule, graph: Data, ends: list[int], start: int
) -> Iterator[tuple[tuple[int, ...], Assignment]]:
    """§10: numbers of instances and assignment of each match that greedy growth from `start` may end with.

    The first instance is matched in any way, and templates of operands with it. Then every further node, in
    the order of the graph, becomes an instance if it can with the match so far valid: conditions 1 to 5, of
    which 4 for what is inside the template, and the block's `where`. In which way it becomes one is left open
    (all are followed). At the end the whole match must be one, with the outer `where`.
    """
    varying = rule.varying
    assert varying is not None
    at_template = rule.templates.index(varying)
    order = [g for g in reverse_post_order(graph, ends) if graph[g][0] not in LEAVES and g != start]

    def with_count(others: tuple[int, ...], count: int) -> tuple[int, ...]:
        return (*others[:at_template], count, *others[at_template + 1 :])

    def most(f: Assignment) -> int | None:
        return varying.maximum if varying.exact is None else _axis(f[varying.exact], graph)

    def one_more(others: tuple[int, ...], count: int, f: Assignment, root: int) -> list[Assignment]:
        grown = spell_out(rule, with_count(others, count + 1), growing=True)
        found = all_matches(grown, graph, ends, {**f, grown.outputs[-1]: root})
        return [way for way in found if _keeps_to_itself(rule, varying, grown, count, way, graph)]

    def grow(
        others: tuple[int, ...], count: int, f: Assignment, position: int
    ) -> Iterator[tuple[tuple[int, ...], Assignment]]:
        for at in range(position, len(order)):
            if (maximum := most(f)) is not None and count >= maximum:
                break
            ways = one_more(others, count, f, order[at])
            if ways:
                for way in ways:
                    yield from grow(others, count + 1, way, at + 1)
                return
        if any(True for _ in all_matches(spell_out(rule, with_count(others, count)), graph, ends, f)):
            yield with_count(others, count), f

    for others in product(*[_counts(rule, template, graph) for template in rule.templates]):
        for f in one_more(others, 0, {}, start):
            yield from grow(others, 1, f, 0)


def _keeps_to_itself(
    rule: Rule, varying: Template, grown: Rule, count: int, f: Assignment, graph: Data
) -> bool:
    """Stricter than §10, as the engine is: what goes away with the newest instance is used by this instance
    only.
    """
    newest = [place_of(rule, k, count) for k in varying.nodes]
    around = {f[k] for k in f if k in newest or k < len(rule.nodes)}
    gone = [
        f[k]
        for k in newest
        if k in f and not isinstance(grown.nodes[k], (Leaf, Choice))
        and k not in grown.keep | stands_for(grown.nodes, grown.uses) and f[k] != f[newest[-1]]
    ]
    return not any(
        slot in operands and g not in around for slot in gone for g, (_, operands, _) in enumerate(graph)
    )
