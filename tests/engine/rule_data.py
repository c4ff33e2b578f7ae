"""Rules as plain data, and their text: what the oracle and the engine are compared on.

Nothing of the engine is used. A rule is a numbered list of pattern nodes, operands before users;
`written.rule_text` writes it as the language has it. Templates' instances are spelled out by `spell_out`: a
rule with `each` and n instances is a rule without, in which the template stands n times.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Union

UNARY, BINARY, COMMUTATIVE = ("exp", "tanh", "abs"), ("add", "multiply", "subtract"), ("add", "multiply")
WITH_AXIS = ("nn.softmax", "nn.log_softmax")  # the attribute `axis`, by default -1
VARIABLES = {"f1": UNARY, "f2": WITH_AXIS}
DEFAULT_AXIS = {"nn.softmax": -1, "nn.log_softmax": -1, "concatenate": 0, "split": 0, "my.cat": 0}


@dataclass(frozen=True)
class Leaf:
    """An input vertex, or (with `value`) a constant written in the source, `splat` of any size. `optional`:
    `any?`. Kind "none": an operand that is absent.

    `shape`: what its shape must be, ("dims", …) with "_" for any, ("last", d), ("ndim", n) or ("like", node).
    """

    kind: str = "any"
    value: float | None = None
    optional: bool = False
    shape: tuple[Any, ...] | None = None
    splat: bool = False


@dataclass(frozen=True)
class Spread:
    """`*f.node`: this node of every instance of the template."""

    node: int


@dataclass(frozen=True)
class Call:
    """A call of one of `operators`; `axis` is what the attribute must be.

    `variable`: all calls with this one have one operator. `bodies`: descriptions (`body_data`), None for one
    that is left open.
    """

    operators: tuple[str, ...]
    operands: tuple[int | Spread, ...]
    axis: tuple[Any, ...] | None = None
    variable: str | None = None
    ordered: bool = False
    bodies: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Tuple:
    fields: tuple[int | Spread, ...]


@dataclass(frozen=True)
class Projection:
    """`index` "index" is the number of the instance, None anything."""

    base: int
    index: int | str | None


@dataclass(frozen=True)
class Choice:
    """`a | b`; `optional` names the operator of `f?(p)`, whose call is the first branch."""

    branches: tuple[int, ...]
    optional: str | None = None


Node = Union[Leaf, Call, Tuple, Projection, Choice]


@dataclass(frozen=True)
class Template:
    """`nodes` are consecutive, the last one is the root. `outputs`: the instances' roots are the rule's
    outputs.

    `exact`: a call whose axis says how many instances there are; then the bounds say nothing.
    """

    name: str
    nodes: tuple[int, ...]
    minimum: int
    maximum: int | None
    where: tuple[tuple[Any, ...], ...]
    outputs: bool
    exact: int | None = None


@dataclass(frozen=True)
class Rule:
    """`uses`: nodes that the target has as nodes; of an alternation all that it may stand for. Conditions are
    tuples; `written.condition_text` shows all there are. `captured`: calls whose axis has a name of its own
    (`c3 := …`), which then stands for `p3.axis`.

    `growing`: nodes that may have users which are yet to become part of the match, while a variadic output is
    matched.

    How it is written: `ways` of the conditions of `where`, as they are (""), through a function in Python
    ("extern") or one of the file ("fn"), or beside a parameter of the file ("param"). `family`: an operator
    whose calls are those of a name in a table of operators.
    """

    nodes: tuple[Node, ...]
    outputs: tuple[int, ...]
    keep: frozenset[int]
    uses: frozenset[int]
    templates: tuple[Template, ...]
    where: tuple[tuple[Any, ...], ...]
    growing: frozenset[int] = frozenset()
    captured: frozenset[int] = frozenset()
    ways: tuple[str, ...] = ()
    family: str | None = None

    @property
    def inside(self) -> frozenset[int]:
        """The nodes of templates."""
        return frozenset(k for template in self.templates for k in template.nodes)

    @property
    def varying(self) -> Template | None:
        """The template whose instances are the outputs."""
        return next((t for t in self.templates if t.outputs), None)

    def template_of(self, node: int) -> Template:
        return next(t for t in self.templates if node in t.nodes)


# ── reading ─────────────────────────────────────────────────────────────────────────────────────────────────


def below(node: Node) -> tuple[int, ...]:
    """The pattern nodes right below."""
    match node:
        case Call(operands=fields) | Tuple(fields):
            return tuple(f.node if isinstance(f, Spread) else f for f in fields)
        case Projection(base, _):
            return (base,)
        case Choice(branches, _):
            return branches
    return ()


def reachable(
    nodes: tuple[Node, ...],
    starts: tuple[int, ...],
    choice: dict[int, int] | None = None,
    through: bool = True,
) -> list[int]:
    """Nodes at or below `starts`, of an alternation only the chosen branch; without `through` no branch at
    all.
    """
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
        stack.extend(
            (node.branches[choice[k]],) if isinstance(node, Choice) and choice is not None else below(node)
        )
    return sorted(found)


def stands_for(nodes: tuple[Node, ...], names: Iterable[int]) -> set[int]:
    """What is used by these names: of alternations every branch."""
    found: set[int] = set()
    stack = list(names)
    while stack:
        k = stack.pop()
        found.add(k)
        node = nodes[k]
        stack.extend(node.branches if isinstance(node, Choice) else ())
    return found


def spell_out(rule: Rule, counts: tuple[int, ...], growing: bool = False) -> Rule:
    """The rule without `each` that templates with so many instances stand for. Instance i of a template node:
    see `place_of`.

    `growing`: the rule as far as it says something before all outputs are there: without outer `where` and
    bounds.
    """
    nodes: list[Node] = []
    for node in rule.nodes:
        match node:
            case Tuple(fields):
                node = Tuple(_spliced(rule, fields, counts))
            case Call(operands=operands):
                node = replace(node, operands=_spliced(rule, operands, counts))
        nodes.append(node)
    where = [] if growing else [_of_instances(rule, c, counts) for c in rule.where]
    keep, uses = set(rule.keep), set(rule.uses)
    for i in range(max(counts)):
        here = {k: place_of(rule, k, i) for k in rule.inside}
        for template in rule.templates:
            nodes += [
                _instance_node(rule.nodes[k], here, {k: place_of(rule, k, 0) for k in template.nodes}, i)
                for k in template.nodes
            ]
        keep |= {here[k] for k in rule.keep & rule.inside}
        uses |= {here[k] for k in rule.uses & rule.inside}
    for template, count in zip(rule.templates, counts):
        if not (growing and template.outputs):
            counted: tuple[Any, ...] = (
                "known",
                template.minimum <= count and (template.maximum is None or count <= template.maximum),
            )
            if template.exact is not None:
                counted = ("is", template.exact, count)
            users = [
                k
                for k, node in enumerate(rule.nodes)
                if any(isinstance(p, Spread) and p.node in template.nodes for p in parts_of(node))
            ]
            where += [("instance", user, counted) for user in users] if users else [counted]
        for i in range(count):
            here, first = ({k: place_of(rule, k, n) for k in template.nodes} for n in (i, 0))
            where += [
                ("instance", here[template.nodes[-1]], _in_instance(c, here, first, i))
                for c in template.where
            ]
    varying = rule.varying
    outputs = (
        rule.outputs if varying is None
        else tuple(place_of(rule, varying.nodes[-1], i) for i in range(counts[rule.templates.index(varying)]))
    )
    theirs = {
        place_of(rule, k, i)
        for k in (varying.nodes if varying is not None else ())
        for i in range(max(counts))
    }
    outside = frozenset(range(len(nodes))) - theirs if growing else frozenset()
    return replace(
        rule, nodes=tuple(nodes), outputs=outputs, keep=frozenset(keep), uses=frozenset(uses), templates=(),
        where=tuple(where), growing=outside,
    )


def place_of(rule: Rule, node: int, instance: int) -> int:
    """The number that a template node's instance has in the spelled-out rule; the same whatever the number of
    instances.
    """
    inside = [k for template in rule.templates for k in template.nodes]
    return len(rule.nodes) + instance * len(inside) + inside.index(node)


def parts_of(node: Node) -> tuple[int | Spread, ...]:
    match node:
        case Call(operands=parts) | Tuple(parts):
            return parts
    return ()


def _spliced(
    rule: Rule, fields: tuple[int | Spread, ...], counts: tuple[int, ...]
) -> tuple[int | Spread, ...]:
    result: list[int | Spread] = []
    for f in fields:
        if isinstance(f, Spread):
            count = counts[rule.templates.index(rule.template_of(f.node))]
            result += [place_of(rule, f.node, i) for i in range(count)]
        else:
            result.append(f)
    return tuple(result)


def _instance_node(node: Node, here: dict[int, int], first: dict[int, int], index: int) -> Node:
    match node:
        case Call(operands=operands, axis=axis):
            match axis:
                case ("first", other):
                    axis = ("same", first[other])
                case ("same" | "spread" as how, other):
                    axis = (how, here.get(other, other))
                case ("index",):
                    axis = ("is", index)
                case ("match" | "if" as how, other, *rest):
                    axis = (how, here.get(other, other), *rest)
            return replace(
                node, operands=tuple(o if isinstance(o, Spread) else here.get(o, o) for o in operands),
                axis=axis,
            )
        case Tuple(fields):
            return Tuple(tuple(f if isinstance(f, Spread) else here.get(f, f) for f in fields))
        case Projection(base, number):
            return Projection(here.get(base, base), index if number == "index" else number)
        case Choice(branches=branches):
            return replace(node, branches=tuple(here.get(b, b) for b in branches))
    return node


def _in_instance(
    condition: tuple[Any, ...], here: dict[int, int], first: dict[int, int], index: int
) -> tuple[Any, ...]:
    match condition:
        case ("or", a, b):
            return ("or", _in_instance(a, here, first, index), _in_instance(b, here, first, index))
        case ("positive index",):
            return ("known", index > 0)
        case ("same as first", a):
            return ("equal", here[a], first[a])
        case (name, *rest):
            return (
                name,
                *[
                    here.get(r, r) if name in ("distinct", "equal") or k == 0 else r
                    for k, r in enumerate(rest)
                ],
            )
    raise AssertionError


def _of_instances(rule: Rule, condition: tuple[Any, ...], counts: tuple[int, ...]) -> tuple[Any, ...]:
    def everywhere(node: int) -> list[int]:
        return [place_of(rule, node, i) for i in range(counts[rule.templates.index(rule.template_of(node))])]

    match condition:
        case ("all equal", node):
            return ("and", *[("equal", place_of(rule, node, 0), k) for k in everywhere(node)])
        case ("nth", node, at, value):
            count = len(everywhere(node))
            return (
                ("is", place_of(rule, node, at % count), value) if -count <= at < count else ("known", False)
            )
        case ("even length", name):
            return ("known", next(c for t, c in zip(rule.templates, counts) if t.name == name) % 2 == 0)
        case ("some is", node, value):
            return ("any", *[("is", k, value) for k in everywhere(node)])
    return condition


def is_plain_input(rule: Rule, k: int) -> bool:
    node = rule.nodes[k]
    return (
        isinstance(node, Leaf) and node.value is None and not node.optional and node.kind != "none"
        and k not in rule.inside
    )


def makes_tuple(node: Node) -> bool:
    return isinstance(node, Call) and node.operators == ("split",)
