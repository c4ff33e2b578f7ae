"""Random rules of the whole language, and random targets for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from random import Random
from typing import Any

from tests.engine.body_data import NAMES, random_description
from tests.engine.rule_data import (
    BINARY,
    UNARY,
    WITH_AXIS,
    Call,
    Choice,
    Leaf,
    Node,
    Projection,
    Rule,
    Spread,
    Template,
    Tuple,
    below,
    is_plain_input,
    makes_tuple,
    parts_of,
    reachable,
)  # fmt: skip

KINDS = ("any", "any", "any", "any", "any", "var", "input", "param", "const", "fixed")


def random_rule(random: Random, bodies: bool = False) -> Rule:
    """A rule of up to about eight nodes; with `bodies`, it says what those of some calls compute.

    A few break the order of definition (§4 of the language): the checker says so.
    """
    while True:
        rule = _attempt(random, bodies)
        if rule is not None:
            return rule


def branch_axes(nodes: Sequence[Node], branch: int) -> list[tuple[str, int]]:
    """The axis of a branch, if it has one."""
    return (
        [("of", branch)] * 2 if isinstance(n := nodes[branch], Call) and n.operators[0] in WITH_AXIS else []
    )


class _Growing:
    """The nodes so far; `free`: those that a further one may have as operand."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.nodes: list[Node] = []
        self.free: list[int] = []
        self.inside: set[int] = set()  # nodes of templates that are complete

    def add(self, node: Node, free: bool = True) -> int:
        self.nodes.append(node)
        if free:
            self.free.append(len(self.nodes) - 1)
        return len(self.nodes) - 1

    def pick(self) -> int:
        recent = self.free[-3:]
        return self.random.choice(recent if self.random.random() < 0.6 else self.free)

    def axis(self) -> tuple[Any, ...] | None:
        others = [
            k
            for k, n in enumerate(self.nodes)
            if isinstance(n, Call) and n.operators[0] in WITH_AXIS and k not in self.inside
        ]
        roll = self.random.random()
        if others and roll < 0.5:
            return ("same", self.random.choice(others))
        if roll < 0.75:
            return ("is", *self.random.sample((-1, 0, 1), self.random.randint(1, 2)))
        if others and roll < 0.8:
            return ("spread", self.random.choice(others))
        if others and roll < 0.85:
            return (
                "if", self.random.choice(others), self.random.choice((-1, 0, 1)),
                *self.random.sample(("_", 0, -1), 2),
            )
        choices = [
            k
            for k, n in enumerate(self.nodes)
            if isinstance(n, Choice) and not n.optional and k not in self.inside
        ]
        if choices and roll < 0.95:
            k = self.random.choice(choices)
            return (
                "match", k,
                *[
                    self.random.choice((*branch_axes(self.nodes, b), "_", 0, -1))
                    for b in below(self.nodes[k])
                ],
            )
        return None


def _attempt(random: Random, bodies: bool) -> Rule | None:
    grow = _Growing(random)
    for k in range(random.randint(1, 3)):
        shape: tuple[Any, ...] | None = None
        if random.random() < 0.1:
            shape = random.choice((
                ("dims", "_", 2), ("dims", 2, 2), ("last", 2), ("ndim", 2),
                *[("like", other) for other in range(k)],
            ))
        grow.add(Leaf(random.choice(KINDS), shape=shape))
    for _ in range(random.randint(1, 5)):
        _grow(grow)
        if bodies and random.random() < 0.4:
            _branch(grow)
    if bodies and not any(isinstance(node, Call) and node.bodies for node in grow.nodes):
        _branch(grow)
    templates: list[Template] = []
    for name in random.choices(((), ("f",), ("f", "g")), (70, 24, 6))[0]:
        template = _template(grow, name, random.random() < 0.5 and not any(t.outputs for t in templates))
        templates.append(template)
        if not template.outputs:
            _sequences(grow, template)
    return _finish(random, tuple(grow.nodes), tuple(templates))


def _sequences(grow: _Growing, template: Template) -> None:
    """What has the instances of a template as fields or operands."""
    random = grow.random
    fields: list[int | Spread] = [Spread(template.nodes[-1])]
    for _ in range(random.choice((0, 0, 0, 1, 1, 2))):
        fields.insert(random.randint(0, len(fields)), grow.pick())
    _pack(grow, fields, random.choice((None, ("is", 0), ("is", 1))))
    apart = [
        k
        for k in template.nodes[:-1]
        if not any(k in below(grow.nodes[user]) for user in template.nodes)
        and not isinstance(grow.nodes[k], Leaf)
    ]
    if apart:  # a second sequence of the same instances
        _pack(grow, [Spread(apart[0])], None)
        if random.random() < 0.7:
            grow.add(Call((random.choice(BINARY),), tuple(grow.free[-2:])))
    elif random.random() < 0.3:
        _grow(grow)


def _pack(grow: _Growing, fields: list[int | Spread], axis: tuple[Any, ...] | None) -> None:
    if grow.random.random() < 0.3:
        grow.add(Call(("my.cat",), tuple(fields), axis))
        return
    pack = grow.add(Tuple(tuple(fields)), free=False)
    grow.add(Call(("concatenate",), (pack,), axis))


def _grow(grow: _Growing) -> None:
    random = grow.random
    match random.choices(range(11), (8, 10, 4, 4, 3, 2, 2, 3, 3, 2, 2))[0]:
        case 0:
            grow.add(Call((random.choice(UNARY),), (grow.pick(),)))
        case 1:
            grow.add(
                Call((random.choice(BINARY),), (grow.pick(), grow.pick()), ordered=random.random() < 0.1)
            )
        case 2:
            grow.add(Call((random.choice(WITH_AXIS),), (grow.pick(),), grow.axis()))
        case 3:
            if random.random() < 0.7:
                grow.add(Call(UNARY, (grow.pick(),), variable="f1"))
            else:
                same = [
                    k
                    for k, n in enumerate(grow.nodes)
                    if isinstance(n, Call) and n.variable == "f2" and k not in grow.inside
                ]
                axis = ("spread", random.choice(same)) if same and random.random() < 0.5 else grow.axis()
                grow.add(Call(WITH_AXIS, (grow.pick(),), axis, variable="f2"))
        case 4:
            literal = grow.add(
                Leaf("const", value=random.choice((1.0, 2.0)), splat=random.random() < 0.3), free=False
            )
            pair = [grow.pick(), literal]
            random.shuffle(pair)
            grow.add(Call((random.choice(BINARY),), tuple(pair)))
        case 5:
            pack = grow.add(Tuple((grow.pick(), grow.pick())), free=False)
            grow.add(Call(("concatenate",), (pack,), random.choice((None, ("is", 0)))))
        case 6:
            parts = grow.add(Call(("split",), (grow.pick(),), random.choice((None, ("is", 0)))), free=False)
            for index in random.choice(((0,), (None,), (0, 1), (1, 0))):
                grow.add(Projection(parts, index))
        case 7:
            operator, inner = random.choice(UNARY), grow.pick()
            call = grow.add(Call((operator,), (inner,)), free=False)
            grow.add(Choice((call, inner), optional=operator))
            if random.random() < 0.5 and inner in grow.free and len(grow.free) > 1:
                grow.free.remove(inner)
        case 8 if random.random() < 0.3:  # of anything, a choice itself among it
            branches = [
                grow.add(Call((random.choice(UNARY),), (grow.pick(),)), free=False)
                for _ in range(random.randint(1, 2))
            ]
            branches.insert(random.randint(0, len(branches)), grow.pick())
            grow.add(Choice(tuple(dict.fromkeys(branches))))
        case 8:
            operands = (grow.pick(),)
            found = random.sample(UNARY if random.random() < 0.6 else (*UNARY, *WITH_AXIS), 2)
            axes = [grow.axis() if o in WITH_AXIS else None for o in found]
            branches = [
                grow.add(Call((o,), operands if random.random() < 0.8 else (grow.pick(),), axis), free=False)
                for o, axis in zip(found, axes)
            ]
            grow.add(Choice(tuple(branches)))
        case 9:
            known = [k for k, node in enumerate(grow.nodes) if isinstance(node, Leaf) and node.optional]
            absent = (
                random.choice(known) if known and random.random() < 0.6
                else grow.add(Leaf("any", optional=True), free=False)
            )
            grow.add(Call(("nn.pad",), (grow.pick(), absent)))
        case 10:
            grow.add(
                Call(("my.pick",), (grow.pick(), *[_optional(grow) for _ in range(random.randint(1, 2))]))
            )


def _branch(grow: _Growing) -> None:
    """A call with bodies, of which one or both are described."""
    random = grow.random
    read = tuple(dict.fromkeys([grow.pick() for _ in range(random.randint(1, 3))]))
    stated = [random_description(random, read) if random.random() < 0.8 else None for _ in NAMES]
    if stated == [None, None] and random.random() < 0.9:
        stated[random.randrange(2)] = random_description(random, read)
    grow.add(Call(("my.branch",), (grow.pick(), *read), bodies=tuple(stated)))


def _optional(grow: _Growing) -> int:
    """An operand that may be absent, or must be."""
    random = grow.random
    known = [k for k, node in enumerate(grow.nodes) if isinstance(node, Leaf) and node.optional]
    roll = random.random()
    if roll < 0.25:
        return grow.add(Leaf("none"), free=False)
    if roll < 0.4:
        return grow.pick()
    leaf = (
        random.choice(known) if known and roll < 0.65
        else grow.add(Leaf(random.choice(("any", "any", "const", "var")), optional=True), free=False)
    )
    if random.random() < 0.15:
        operator = random.choice(UNARY)
        return grow.add(
            Choice((grow.add(Call((operator,), (leaf,)), free=False), leaf), optional=operator), free=False
        )
    return leaf


def _template(grow: _Growing, name: str, outputs: bool) -> Template:
    random = grow.random
    parts = None
    if random.random() < 0.2:
        known = [k for k, node in enumerate(grow.nodes) if makes_tuple(node) and k not in grow.inside]
        parts = (
            random.choice(known) if known and random.random() < 0.3
            else grow.add(Call(("split",), (grow.pick(),)), free=False)
        )
    first = len(grow.nodes)
    outside = list(grow.free)
    mine: list[int] = []
    if parts is not None:
        mine.append(grow.add(Projection(parts, random.choice((None, "index", "index", 0))), free=False))
    elif not outputs or random.random() < 0.8:
        mine.append(grow.add(Leaf(random.choice(KINDS)), free=False))
    if mine and not outputs and random.random() < 0.25:  # of no use to the root: for a sequence of its own
        axis = random.choice((None, ("index",), ("first", len(grow.nodes)), grow.axis()))
        grow.add(Call((random.choice(WITH_AXIS),), (random.choice((mine[0], *outside)),), axis), free=False)
        aside = len(grow.nodes) - 1
    else:
        aside = None
    for step in range(random.randint(0 if parts is not None else 1, 2)):
        last = mine[-1] if mine else random.choice(outside)
        roll = random.random()
        if outputs and step == 0 and parts is None or roll < 0.35:
            pair = [last, random.choice(outside)]
            random.shuffle(pair)
            node: Node = Call((random.choice(BINARY),), tuple(pair), ordered=random.random() < 0.3)
        elif roll < 0.6:
            same = () if aside is None else (("same", aside), ("first", aside))
            axis = random.choice(
                (None, ("index",), ("is", 0), ("first", len(grow.nodes)), grow.axis(), *same)
            )
            node = Call((random.choice(WITH_AXIS),), (last,), axis)
        elif roll < 0.7:
            node = (
                Call(UNARY, (last,), variable="f1") if random.random() < 0.6
                else Call(WITH_AXIS, (last,), grow.axis(), variable="f2")
            )
        elif roll < 0.78:
            operator = random.choice(UNARY)
            node = Choice((grow.add(Call((operator,), (last,)), free=False), last), optional=operator)
        elif roll < 0.84:
            operators = random.sample(UNARY, 2)
            node = Choice(tuple(
                grow.add(Call((o,), (last if k == 0 else random.choice((last, *outside)),)), free=False)
                for k, o in enumerate(operators)
            ))
        elif roll < 0.9:
            literal = grow.add(Leaf("const", value=random.choice((1.0, 2.0))), free=False)
            node = Call((random.choice(BINARY),), random.choice(((last, literal), (literal, last))))
        elif roll < 0.94:
            pack = grow.add(
                Tuple(
                    (last, random.choice(outside)) if random.random() < 0.5
                    else (random.choice(outside), last)
                ),
                free=False,
            )
            node = Call(("concatenate",), (pack,))
        else:
            node = Call((random.choice(UNARY),), (last,))
        mine.append(grow.add(node, free=False))
    inside = range(first, len(grow.nodes))
    axes = [k for k in inside if isinstance(n := grow.nodes[k], Call) and n.operators[0] in WITH_AXIS]
    where: list[tuple[Any, ...]] = []
    if axes and random.random() < 0.4:
        others = [
            k
            for k in range(first)
            if isinstance(n := grow.nodes[k], Call) and n.operators[0] in WITH_AXIS and k not in grow.inside
        ]
        # others may be matched only later
        equal = [("equal", axes[0], random.choice([*axes[1:], *others]))] if len(axes) > 1 or others else []
        where.append(random.choice((
            ("same as first", axes[-1]), ("or", ("positive index",), ("is", axes[0], 0)), ("not", axes[0], 1),
            *equal,
        )))
    if random.random() < 0.15 and isinstance(leaf := grow.nodes[first], Leaf) and leaf.value is None:
        # others may be matched only later
        shared = [
            o
            for k in inside
            for o in below(grow.nodes[k]) if o not in inside and not makes_tuple(grow.nodes[o])
        ]
        where += [("distinct", first, random.choice(shared))] if shared else []
    minimum = random.choice((1, 1, 2, 2, 3)) if outputs else random.choice((0, 1, 2, 2))
    maximum = random.choice((None, None, None, max(minimum, 2)))
    counting = [
        k
        for k in range(first)
        if isinstance(n := grow.nodes[k], Call) and n.operators[0] in WITH_AXIS and k not in grow.inside
    ]
    exact = random.choice(counting) if counting and random.random() < 0.15 else None
    grow.inside |= set(inside)
    return Template(name, tuple(inside), minimum, maximum, tuple(where), outputs, exact)


def _finish(random: Random, nodes: tuple[Node, ...], templates: tuple[Template, ...]) -> Rule | None:
    inside = {k for template in templates for k in template.nodes}
    varying = next((t for t in templates if t.outputs), None)
    used = {o for node in nodes for o in below(node)}
    tensor = [
        k
        for k, n in enumerate(nodes)
        if k not in inside and not isinstance(n, (Leaf, Tuple)) and not makes_tuple(n)
    ]
    outputs = [k for k in tensor if k not in used]
    if varying is not None:
        if outputs:
            return None
        starts: tuple[int, ...] = (varying.nodes[-1],)
        outputs = []
    else:
        sure = set(reachable(nodes, tuple(outputs), through=False))
        outputs += [k for k in tensor if k in used and k in sure and random.random() < 0.15]
        whole = [
            k
            for k, n in enumerate(nodes)
            if k in sure and k not in inside and (makes_tuple(n) or isinstance(n, Tuple))
            and not any(isinstance(f, Spread) for f in parts_of(n))
        ]
        outputs += [k for k in whole if random.random() < 0.1]
        random.shuffle(outputs)
        starts = tuple(outputs)
        if not outputs or len(outputs) > 4 or not _connected(nodes, outputs):
            return None
        if len(outputs) > 1:  # without instances outputs may share nothing
            templates = tuple(replace(t, minimum=max(1, t.minimum), exact=None) for t in templates)
    if len(reachable(nodes, starts)) < len(nodes):
        return None
    sure = set(reachable(nodes, starts, through=False))
    unnamed = {n.branches[0] for n in nodes if isinstance(n, Choice) and n.optional}
    inner = [
        k
        for k, n in enumerate(nodes)
        if not isinstance(n, (Leaf, Choice)) and k not in starts and k not in unnamed
    ]
    keep = frozenset(k for k in inner if random.random() < 0.1)
    whole = [k for k, n in enumerate(nodes) if k in inner or isinstance(n, Choice) and k not in starts]
    uses = frozenset(k for k in whole if k in sure and k in tensor and random.random() < 0.08)
    if varying is not None:
        uses |= {varying.nodes[-1]}  # see `harmless_targets`
    axes = [k for k in sure - inside if isinstance(n := nodes[k], Call) and n.operators[0] in WITH_AXIS]
    where: list[tuple[Any, ...]] = []
    if axes and random.random() < 0.4:
        a, b = random.choice(axes), random.choice(axes)
        where.append(random.choice((("equal", a, b), ("not", a, 1), ("or", ("is", a, 0), ("is", b, 1)))))
    named = sorted(
        k
        for k in sure - inside
        if not (isinstance(n := nodes[k], Leaf) and (n.value is not None or n.kind == "none"))
    )
    choices = [k for k in sure - inside if isinstance(n := nodes[k], Choice) and not n.optional]
    if choices and random.random() < 0.2:
        k = random.choice(choices)
        arms: list[tuple[Any, ...]] = []
        for b in below(nodes[k]):
            mine = [b] if branch_axes(nodes, b) else axes
            arms.append(
                random.choice((("is", random.choice(mine), 1), ("not", random.choice(mine), 0))) if mine
                else ("is", k, 0)
            )
        if axes or all(branch_axes(nodes, b) for b in below(nodes[k])):
            where.append(("match", k, *arms))
    leaves = [k for k in sorted(sure - inside) if isinstance(n := nodes[k], Leaf) and n.optional]
    if leaves and random.random() < 0.3:
        how = random.choice(("absent", "there")), random.choice(leaves)
        where.append(
            how if not axes or random.random() < 0.5 else ("or", how, ("is", random.choice(axes), 0))
        )
    plain = [
        k
        for k in sorted(sure - inside)
        if isinstance(n := nodes[k], Leaf) and n.value is None and not n.optional and n.kind != "none"
    ]
    if plain and random.random() < 0.08:
        a, b = random.choice(plain), random.choice(plain)
        sign = random.choice(("==", "!="))
        where.append(random.choice((("dim", a, random.randint(0, 1), sign, 2), ("shapes", a, sign, b))))
    if len(named) > 1 and random.random() < 0.15:
        where.append(("distinct", *random.sample(named, 2)))
    if named and random.random() < 0.3:
        k, operator = random.choice(named), random.choice((None, None, *UNARY, *WITH_AXIS))
        axis = random.choice((None, 0, -1)) if operator in WITH_AXIS else None
        where.append(
            ("users", k, operator, axis, *random.choice((("==", 0), ("==", 1), (">=", 1), (">=", 2))))
        )
    if named and random.random() < 0.15:
        where.append((random.choice(("output", "no output", "no output")), random.choice(named)))
    if named and random.random() < 0.2:
        how, text = random.choice(
            (
                ("is", f"n{random.randint(3, 9)}"),
                ("is not", f"n{random.randint(3, 9)}"),
                ("has", "n"),
                ("has", str(random.randint(0, 9))),
            )
        )
        where.append(("name", random.choice(named), how, text))
    read = [
        (o, k)
        for k in sorted(sure - inside) if isinstance(n := nodes[k], Call)
        for o in below(n) if o in named
    ]
    if read and random.random() < 0.1:
        where.append(("all users", *random.choice(read)))
    for template in templates:
        theirs = [
            k for k in template.nodes if isinstance(n := nodes[k], Call) and n.operators[0] in WITH_AXIS
        ]
        if theirs and random.random() < 0.4:
            where.append(random.choice((
                ("all equal", theirs[0]), ("some is", theirs[0], 0),
                ("nth", theirs[0], random.choice((0, 1, -1)), random.choice((0, -1))),
            )))
        elif random.random() < 0.1:
            where.append(("even length", template.name))
    calls = [
        (k, n)
        for k in reachable(nodes, starts) if isinstance(n := nodes[k], Call) and n.operators[0] in WITH_AXIS
    ]
    captured = frozenset(
        k for k, n in calls if random.random() < 0.6 and not (n.axis is not None and n.axis[0] == "spread")
    )
    ways = tuple(
        "" if c[0] == "distinct" or random.random() < 0.6 else random.choice(("extern", "fn", "param"))
        for c in where
    )
    names = sorted(
        {
            n.operators[0]
            for n in nodes
            if isinstance(n, Call) and n.variable is None and n.operators[0] in (*UNARY, *BINARY, *WITH_AXIS)
        }
    )
    family = random.choice(names) if names and random.random() < 0.2 else None
    return Rule(
        nodes,
        tuple(outputs),
        keep,
        uses,
        templates,
        tuple(where),
        captured=captured,
        ways=ways,
        family=family,
    )


def random_annotations(random: Random, rule: Rule) -> str:
    """What a rule attaches to the operators that it creates, most of the time nothing."""
    if random.random() < 0.8:
        return ""
    sure = [k for k in reachable(rule.nodes, rule.outputs, through=False) if k not in rule.inside]
    calls = [
        f"p{k}.{fact}"
        for k in sure
        if isinstance(rule.nodes[k], Call) and not makes_tuple(rule.nodes[k])
        for fact in ("name", "op", "ndim", "shape")
    ]
    values = random.sample([*calls, '"text"', "2", "-0.5", "true"], 2)
    return f"@attach(one = {values[0]}, other = {values[1]}) "


def _connected(nodes: tuple[Node, ...], outputs: list[int], choice: dict[int, int] | None = None) -> bool:
    under = [set(reachable(nodes, (k,), choice)) for k in outputs]
    return all(any(under[k] & b for b in under[:k]) for k in range(1, len(outputs)))


def surely_connected(rule: Rule) -> bool:
    """Whether every output shares a node with those before it, whichever alternatives are chosen."""
    choices = {
        k: range(len(below(rule.nodes[k])))
        for k in reachable(rule.nodes, rule.outputs) if isinstance(rule.nodes[k], Choice)
    }
    return all(
        _connected(rule.nodes, list(rule.outputs), dict(zip(choices, chosen)))
        for chosen in product(*choices.values())
    )


def random_targets(random: Random, rule: Rule) -> tuple[str, ...]:
    """Targets made of inputs, matched nodes, new constants and calls, some of them shared between outputs."""
    inside = rule.inside
    sure = [k for k in reachable(rule.nodes, rule.outputs, through=False) if k not in inside]
    inputs = [f"p{k}" for k in sure if is_plain_input(rule, k)]
    inner = [
        k
        for k in sure
        if not isinstance(rule.nodes[k], (Leaf, Tuple, Choice)) and not makes_tuple(rule.nodes[k])
    ]
    matched = [f"p{k}" for k in inner]

    typed: list[str] = []  # names of new nodes, used for their types and here and there as nodes

    def expression(depth: int, extra: tuple[str, ...] = ()) -> str:
        if depth and rule.varying is None and random.random() < 0.08:
            of = (
                random.choice(typed) if typed and random.random() < 0.5
                else f"(n{len(typed)} := {random.choice(UNARY)}({expression(0, extra)}))"
            )
            if of[0] == "(":
                typed.append(f"n{len(typed)}")
            inner = expression(depth - 1, (*extra, *typed[:1]))
            choice = (
                f" if {typed[0]}.ndim == 2 else {of.strip('(').split()[0]}.shape" if random.random() < 0.3
                else ""
            )
            return f"reshape({inner}, newshape = {of}.shape{choice})"
        if depth == 0 or random.random() < 0.2:
            if random.random() < 0.1:
                return "const(value = 0.5)"
            return random.choice([*inputs * 3, *matched, *extra * 3] or ["const(value = 0.5)"])
        if random.random() < 0.5:
            return f"{random.choice((*UNARY, 'negative'))}({expression(depth - 1, extra)})"
        return f"{random.choice(BINARY)}({expression(depth - 1, extra)}, {expression(depth - 1, extra)})"

    if (varying := rule.varying) is not None:
        shared = [
            f"p{o}"
            for k in varying.nodes
            for o in below(rule.nodes[k]) if o not in inside and is_plain_input(rule, o)
        ]
        return (f"*[{expression(2, (*shared, f'i.p{varying.nodes[0]}'))} for i in {varying.name}]",)
    extra = tuple(
        f"sqrt(concatenate([i.p{t.nodes[0]} for i in {t.name}], axis = 0))"
        for t in rule.templates if t.minimum and t.exact is None
    )
    again = expression(1, extra)

    def output(k: int) -> str:
        node = rule.nodes[k]
        if isinstance(node, Tuple):
            return f"({''.join(expression(1, extra) + ', ' for _ in node.fields)})"
        if makes_tuple(node):
            return f"split({expression(1, extra)}, indices_or_sections = 2)"
        return again if random.random() < 0.25 else expression(random.randint(0, 3), extra)

    return tuple(output(k) for k in rule.outputs)
