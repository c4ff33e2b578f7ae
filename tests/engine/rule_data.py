"""Rules as plain data, and their text: what the oracle and the engine are compared on.

Nothing of the engine is used. A rule is a numbered list of pattern nodes, operands before users; `rule_text` writes it as
the language has it. A template's instances are spelled out by `spell_out`: a rule with `each` and n instances is a rule
without, in which the template stands n times.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Union

UNARY, BINARY, COMMUTATIVE = ("exp", "tanh", "abs"), ("add", "multiply", "subtract"), ("add", "multiply")
WITH_AXIS = ("nn.softmax", "nn.log_softmax")  # the attribute `axis`, by default -1
DEFAULT_AXIS = {"nn.softmax": -1, "nn.log_softmax": -1, "concatenate": 0, "split": 0}


@dataclass(frozen=True)
class Leaf:
    """An input vertex, or (with `value`) a constant written in the source. `optional`: `any?`."""

    kind: str = "any"
    value: float | None = None
    optional: bool = False


@dataclass(frozen=True)
class Spread:
    """`*f.node`: this node of every instance of the template."""

    node: int


@dataclass(frozen=True)
class Call:
    """A call of one of `operators`; `axis` is what the attribute must be. `variable`: all such calls have one operator."""

    operators: tuple[str, ...]
    operands: tuple[int, ...]
    axis: tuple[Any, ...] | None = None
    variable: bool = False
    ordered: bool = False


@dataclass(frozen=True)
class Tuple:
    fields: tuple[int | Spread, ...]


@dataclass(frozen=True)
class Projection:
    base: int
    index: int | None


@dataclass(frozen=True)
class Choice:
    """`a | b`; `optional` names the operator of `f?(p)`, whose call is the first branch."""

    branches: tuple[int, ...]
    optional: str | None = None


Node = Union[Leaf, Call, Tuple, Projection, Choice]


@dataclass(frozen=True)
class Template:
    """`nodes` are consecutive, the last one is the root. `outputs`: the instances' roots are the rule's outputs."""

    nodes: tuple[int, ...]
    minimum: int
    maximum: int | None
    where: tuple[tuple[Any, ...], ...]
    outputs: bool


@dataclass(frozen=True)
class Rule:
    """`uses`: nodes that the target has as nodes. Conditions are tuples; `condition_text` shows all there are. `captured`: calls
    whose axis has a name of its own (`c3 := …`), which then stands for `p3.axis`.

    `growing`: nodes that may have users which are yet to become part of the match, while a variadic output is matched.
    """

    nodes: tuple[Node, ...]
    outputs: tuple[int, ...]
    keep: frozenset[int]
    uses: frozenset[int]
    template: Template | None
    where: tuple[tuple[Any, ...], ...]
    growing: frozenset[int] = frozenset()
    captured: frozenset[int] = frozenset()


# ── reading ───────────────────────────────────────────────────────────────────────────────────────────────────


def below(node: Node) -> tuple[int, ...]:
    """The pattern nodes right below."""
    match node:
        case Call(operands=operands):
            return operands
        case Tuple(fields):
            return tuple(f.node if isinstance(f, Spread) else f for f in fields)
        case Projection(base, _):
            return (base,)
        case Choice(branches, _):
            return branches
    return ()


def reachable(nodes: tuple[Node, ...], starts: tuple[int, ...], choice: dict[int, int] | None = None, through: bool = True) -> list[int]:
    """Nodes at or below `starts`, of an alternation only the chosen branch; without `through` no branch at all."""
    found: dict[int, None] = {}
    stack = list(starts)
    while stack:
        k = stack.pop()
        if k in found:
            continue
        found[k] = None
        node = nodes[k]
        if isinstance(node, Choice) and not through:
            continue
        stack.extend((node.branches[choice[k]],) if isinstance(node, Choice) and choice is not None else below(node))
    return sorted(found)


def spell_out(rule: Rule, count: int, growing: bool = False) -> Rule:
    """The rule without `each` that a template with `count` instances stands for. Instance i of a template node: see `place_of`.

    `growing`: the rule as far as it says something before all instances are there: without outer `where` and bounds.
    """
    template = rule.template
    assert template is not None
    size, base = len(template.nodes), len(rule.nodes)

    def at(i: int) -> dict[int, int]:
        return {k: base + i * size + position for position, k in enumerate(template.nodes)}

    nodes: list[Node] = [_spliced(node, at, count) for node in rule.nodes]
    where = [] if growing else [_of_instances(c, at, count) for c in rule.where]
    if not growing:
        where.append(("known", template.minimum <= count and (template.maximum is None or count <= template.maximum)))
    for i in range(count):
        for k in template.nodes:
            nodes.append(_instance_node(rule.nodes[k], at(i), at(0), i))
        where += [("instance", at(i)[template.nodes[-1]], _in_instance(c, at(i), at(0), i)) for c in template.where]
    assert len(nodes) == base + size * count
    outputs = tuple(at(i)[template.nodes[-1]] for i in range(count)) if template.outputs else rule.outputs
    keep = rule.keep | {at(i)[k] for i in range(count) for k in rule.keep & set(template.nodes)}
    outside = frozenset(range(base)) if growing else frozenset()
    return replace(rule, nodes=tuple(nodes), outputs=outputs, keep=keep, template=None, where=tuple(where), growing=outside)


def place_of(rule: Rule, node: int, instance: int) -> int:
    """The number that a template node's instance has in the spelled-out rule; the same whatever the number of instances."""
    assert rule.template is not None
    return len(rule.nodes) + instance * len(rule.template.nodes) + rule.template.nodes.index(node)


def _spliced(node: Node, at: Any, count: int) -> Node:
    if not isinstance(node, Tuple):
        return node
    fields: list[int | Spread] = []
    for f in node.fields:
        fields += [at(i)[f.node] for i in range(count)] if isinstance(f, Spread) else [f]
    return Tuple(tuple(fields))


def _instance_node(node: Node, here: dict[int, int], first: dict[int, int], index: int) -> Node:
    match node:
        case Call(operands=operands, axis=axis):
            if axis is not None and axis[0] == "first":
                axis = ("same", first[axis[1]])
            elif axis is not None and axis[0] == "same":
                axis = ("same", here.get(axis[1], axis[1]))
            elif axis is not None and axis[0] == "index":
                axis = ("is", index)
            return replace(node, operands=tuple(here.get(o, o) for o in operands), axis=axis)
        case Choice(branches=branches):
            return replace(node, branches=tuple(here.get(b, b) for b in branches))
    return node


def _in_instance(condition: tuple[Any, ...], here: dict[int, int], first: dict[int, int], index: int) -> tuple[Any, ...]:
    match condition:
        case ("or", a, b):
            return ("or", _in_instance(a, here, first, index), _in_instance(b, here, first, index))
        case ("positive index",):
            return ("known", index > 0)
        case ("same as first", a):
            return ("equal", here[a], first[a])
        case (name, *rest):
            return (name, *[here.get(r, r) if name in ("distinct", "equal") or k == 0 else r for k, r in enumerate(rest)])
    raise AssertionError


def _of_instances(condition: tuple[Any, ...], at: Any, count: int) -> tuple[Any, ...]:
    match condition:
        case ("all equal", node):
            return ("and", *[("equal", at(0)[node], at(i)[node]) for i in range(count)])
        case ("even length",):
            return ("known", count % 2 == 0)
        case ("some is", node, value):
            return ("any", *[("is", at(i)[node], value) for i in range(count)])
    return condition


# ── text ──────────────────────────────────────────────────────────────────────────────────────────────────────


def rule_text(rule: Rule, name: str = "r", targets: tuple[str, ...] | None = None) -> str:
    """The rule in the language. `targets` default to something harmless that has the nodes of `uses`."""
    template = rule.template
    inside = template.nodes if template is not None else ()
    header: list[str] = []
    lines: list[str] = []
    block: list[str] = []
    unnamed = {n.branches[0] for n in rule.nodes if isinstance(n, Choice) and n.optional}
    for k, node in enumerate(rule.nodes):
        if isinstance(node, Leaf):
            if node.value is not None:
                continue
            if k in inside:
                block.append(f"p{k} = {node.kind}();")
            else:
                header.append(f"p{k}" if node == Leaf() else f"p{k}: {node.kind}{'?' if node.optional else ''}")
            continue
        if k in unnamed:
            continue
        text = f"p{k} = {'keep ' if k in rule.keep else ''}{_expression(rule, k, node)};"
        (block if k in inside else lines).append(text)
        if template is not None and k == template.nodes[-1]:
            if template.where:
                block.append(f"where {', '.join(condition_text(rule, c) for c in template.where)};")
            bounds = f"{template.minimum}..{'' if template.maximum is None else template.maximum}"
            lines.append(f"each f in {bounds} {{ {' '.join(block)} }}")
    if any(isinstance(n, Call) and n.variable for n in rule.nodes):
        header.append(f"f1: op({' | '.join(UNARY)})")
    outputs = f"*f.p{template.nodes[-1]}" if template is not None and template.outputs else ", ".join(f"p{k}" for k in rule.outputs)
    where = f" where {', '.join(condition_text(rule, c) for c in rule.where)}" if rule.where else ""
    return f"rule {name}({', '.join(header)}) {{ {' '.join(lines)} {outputs}{where} => {', '.join(targets or harmless_targets(rule))} }}"


def harmless_targets(rule: Rule) -> tuple[str, ...]:
    """A target that differs from the source, and has exactly the nodes of `uses` (and inputs) in it."""
    if rule.template is not None and rule.template.outputs:
        used = "".join(f"p{k} * " for k in sorted(rule.uses))
        return (f"*[negative({used}i.p{rule.template.nodes[-1]}) for i in f]",)
    sure = reachable(rule.nodes, rule.outputs, through=False)
    inputs = [k for k in sure if is_plain_input(rule, k)]
    base = [f"p{inputs[0]}" if inputs else "const(value = 1.0)" for _ in rule.outputs]
    uses = "".join(f"p{k} * " for k in sorted(rule.uses))
    return tuple(f"negative({uses if position == 0 else ''}{b})" for position, b in enumerate(base))


def is_plain_input(rule: Rule, k: int) -> bool:
    node = rule.nodes[k]
    return isinstance(node, Leaf) and node.value is None and not node.optional and not (rule.template is not None and k in rule.template.nodes)


def _expression(rule: Rule, number: int, node: Node) -> str:
    def name(k: int | Spread) -> str:
        if isinstance(k, Spread):
            return f"*f.p{k.node}"
        leaf = rule.nodes[k]
        return str(leaf.value) if isinstance(leaf, Leaf) and leaf.value is not None else f"p{k}"

    match node:
        case Call(operators, operands, axis, variable, ordered):
            arguments = [name(o) for o in operands]
            if number in rule.captured:
                arguments.append(f"axis = (c{number} := {'_' if axis is None else _axis_text(rule, axis)})")
            elif axis is not None:
                arguments.append(f"axis = {_axis_text(rule, axis)}")
            called = "f1" if variable else operators[0]
            return f"{'ordered ' if ordered else ''}{called}({', '.join(arguments)})"
        case Tuple(fields):
            return f"({', '.join(name(f) for f in fields)},)"
        case Projection(base, index):
            return f"p{base}[{'_' if index is None else index}]"
        case Choice(branches, optional):
            return f"{optional}?({name(branches[1])})" if optional else " | ".join(name(b) for b in branches)
    raise AssertionError(node)


def _axis_text(rule: Rule, axis: tuple[Any, ...]) -> str:
    match axis:
        case ("same", node):
            return _axis_of(rule, node)
        case ("first", node):
            return f"first.p{node}.axis"
        case ("index",):
            return "index"
        case ("is", *values):
            return " | ".join(str(v) for v in values)
    raise AssertionError(axis)


def _axis_of(rule: Rule, node: int) -> str:
    return f"c{node}" if node in rule.captured else f"p{node}.axis"


def condition_text(rule: Rule, condition: tuple[Any, ...]) -> str:
    match condition:
        case ("distinct", *nodes):
            return f"distinct({', '.join(f'p{k}' for k in nodes)})"
        case ("equal", a, b):
            return f"{_axis_of(rule, a)} == {_axis_of(rule, b)}"
        case ("is", a, value):
            return f"{_axis_of(rule, a)} == {value}"
        case ("not", a, value):
            return f"{_axis_of(rule, a)} != {value}"
        case ("or", a, b):
            return f"({condition_text(rule, a)} or {condition_text(rule, b)})"
        case ("positive index",):
            return "index > 0"
        case ("same as first", a):
            return f"p{a}.axis == first.p{a}.axis"
        case ("all equal", a):
            return f"all([i.p{a}.axis == f[0].p{a}.axis for i in f])"
        case ("even length",):
            return "len(f) % 2 == 0"
        case ("some is", a, value):
            return f"any([i.p{a}.axis == {value} for i in f])"
    raise AssertionError(condition)


def makes_tuple(node: Node) -> bool:
    return isinstance(node, Call) and node.operators == ("split",)
