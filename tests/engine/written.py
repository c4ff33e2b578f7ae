"""Rules as data, written as the language has them."""

from __future__ import annotations

import re
from typing import Any

from tests.engine.body_data import NAMES, description_text
from tests.engine.rule_data import (
    VARIABLES,
    Call,
    Choice,
    Leaf,
    Node,
    Projection,
    Rule,
    Spread,
    Tuple,
    is_plain_input,
    makes_tuple,
    reachable,
)  # fmt: skip

DECLARED = {
    "my.cat": "op my.cat(*items: tensor, axis: int = 0) -> tensor;\n",
    "my.branch": (
        "op my.branch(which: tensor, *captured: tensor, left: graph, right: graph) -> tensor;\n"
        "op Identity(x: tensor) -> tensor;\n"
    ),
    "my.pick": "op my.pick(first: tensor, second: tensor?, third: tensor?) -> tensor;\n",
}


FUNCTIONS = {
    "extern": '@extern("tests.engine.extern_functions:itself") fn itself(value: bool) -> bool;\n',
    "fn": "fn all_of(a, b) = a and b;\n",
    "param": "param on: bool = true;\n",
}
OTHERS = {
    "exp": "tanh",
    "tanh": "abs",
    "abs": "exp",
    "add": "multiply",
    "multiply": "add",
    "subtract": "add",
    "nn.softmax": "nn.log_softmax",
    "nn.log_softmax": "nn.softmax",
}


def rule_text(
    rule: Rule, name: str = "r", targets: tuple[str, ...] | None = None, annotations: str = ""
) -> str:
    """The rule in the language. `targets` default to something harmless that has the nodes of `uses`.

    A rule with a `family` is the one with this operator in it.
    """
    header: list[str] = []
    lines: list[str] = []
    block: list[str] = []
    inside = rule.inside
    roots = {t.nodes[-1]: t for t in rule.templates}
    unnamed = {n.branches[0] for n in rule.nodes if isinstance(n, Choice) and n.optional}
    for k, node in enumerate(rule.nodes):
        if isinstance(node, Leaf):
            if node.value is not None or node.kind == "none":
                continue
            shape = "" if node.shape is None else _shape_text(node.shape)
            if k in inside:
                block.append(f"p{k} = {node.kind}({shape});")
            elif shape:
                header.append(f"p{k}: {node.kind}({shape})")
            else:
                header.append(
                    f"p{k}" if node == Leaf() else f"p{k}: {node.kind}{'?' if node.optional else ''}"
                )
            continue
        if k in unnamed:
            continue
        text = f"p{k} = {'keep ' if k in rule.keep else ''}{_expression(rule, k, node)};"
        (block if k in inside else lines).append(text)
        if (template := roots.get(k)) is not None:
            if template.where:
                block.append(f"where {', '.join(condition_text(rule, c) for c in template.where)};")
            bounds = f"{template.minimum}..{'' if template.maximum is None else template.maximum}"
            if template.exact is not None:
                bounds = _axis_of(rule, template.exact)
            lines.append(f"each {template.name} in {bounds} {{ {' '.join(block)} }}")
            block.clear()
    for variable, operators in VARIABLES.items():
        if any(isinstance(n, Call) and n.variable == variable for n in rule.nodes):
            # of those with the trait, the ones with one operand
            by_trait = variable == "f1" and len(rule.nodes) % 2
            header.append(f"{variable}: op({'elementwise' if by_trait else ' | '.join(operators)})")
    varying = rule.varying
    outputs = (
        f"*{varying.name}.p{varying.nodes[-1]}" if varying is not None
        else ", ".join(f"p{k}" for k in rule.outputs)
    )
    conditions = [
        _way(condition_text(rule, c), way) for c, way in zip(rule.where, rule.ways or ("",) * len(rule.where))
    ]
    where = f" where {', '.join(conditions)}" if conditions else ""
    declared = "".join(
        text
        for operator, text in DECLARED.items()
        if any(isinstance(n, Call) and (operator in n.operators or n.bodies) for n in rule.nodes)
    )
    declared += "".join(text for way, text in FUNCTIONS.items() if way in rule.ways)
    table, source = "", f"{' '.join(lines)} {outputs}{where}"
    if rule.family is not None:
        table = f" for Op in {OTHERS[rule.family]}, {rule.family}"
        source = re.sub(rf"(?<![\w.]){re.escape(rule.family)}(?=\??\()", "Op", source)
    target = ", ".join(targets or harmless_targets(rule))
    return f"{declared}{annotations}rule {name}({', '.join(header)}){table} {{ {source} => {target} }}"


def name_in(rule: Rule, name: str = "r") -> str:
    """What the rule is called: one of a family has the operator in its name."""
    return name if rule.family is None else f"{name}[{rule.family}]"


def _way(condition: str, way: str) -> str:
    match way:
        case "extern":
            return f"itself({condition})"
        case "fn":
            return f"all_of({condition}, true)"
        case "param":
            return f"on and ({condition})"
    return condition


def harmless_targets(rule: Rule) -> tuple[str, ...]:
    """A target that differs from the source, and has exactly the nodes of `uses` (and inputs) in it."""
    if (varying := rule.varying) is not None:
        used = "".join(f"p{k} * " for k in sorted(rule.uses - rule.inside))
        return (f"*[negative({used}i.p{varying.nodes[-1]}) for i in {varying.name}]",)
    sure = reachable(rule.nodes, rule.outputs, through=False)
    inputs = [k for k in sure if is_plain_input(rule, k)]
    base = f"p{inputs[0]}" if inputs else "const(value = 1.0)"
    uses = "".join(f"p{k} * " for k in sorted(rule.uses - rule.inside))

    def target(position: int, k: int) -> str:
        new = f"negative({uses if position == 0 else ''}{base})"
        if isinstance(node := rule.nodes[k], Tuple):
            return f"({f'{new}, ' * len(node.fields)})"
        return f"split({new}, indices_or_sections = 2)" if makes_tuple(node) else new

    return tuple(target(position, k) for position, k in enumerate(rule.outputs))


def _expression(rule: Rule, number: int, node: Node) -> str:
    def name(k: int | Spread) -> str:
        if isinstance(k, Spread):
            return f"*{rule.template_of(k.node).name}.p{k.node}"
        match rule.nodes[k]:
            case Leaf(value=float() as value, splat=splat):
                return f"splat({value})" if splat else str(value)
            case Leaf("none"):
                return "none"
        return f"p{k}"

    match node:
        case Call(operators, operands, axis, variable, ordered, bodies):
            arguments = [name(o) for o in operands]
            arguments += [
                f"{attribute} = {description_text(body)}"
                for attribute, body in zip(NAMES, bodies) if body is not None
            ]
            if axis is not None and axis[0] == "spread":
                arguments.append(f"p{axis[1]}.*")
            elif number in rule.captured:
                arguments.append(f"axis = (c{number} := {'_' if axis is None else _axis_text(rule, axis)})")
            elif axis is not None:
                arguments.append(f"axis = {_axis_text(rule, axis)}")
            return f"{'ordered ' if ordered else ''}{variable or operators[0]}({', '.join(arguments)})"
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
            return f"first.c{node}" if node in rule.captured else f"first.p{node}.axis"
        case ("index",):
            return "index"
        case ("is", *values):
            return " | ".join(str(v) for v in values)
        case ("match", choice, *arms):
            return _match_text(
                rule, choice,
                [str(arm) if isinstance(arm, (int, str)) else _axis_of(rule, arm[1]) for arm in arms],
            )
        case ("if", other, value, then, otherwise):
            return f"({then} if {_axis_of(rule, other)} == {value} else {otherwise})"
    raise AssertionError(axis)


def _match_text(rule: Rule, choice: int, arms: list[str]) -> str:
    node = rule.nodes[choice]
    assert isinstance(node, Choice)
    return (
        f"match p{choice} {{ {', '.join(f'p{b} => {arm}' for b, arm in zip(node.branches[:-1], arms))}, _ => "
        f"{arms[-1]} }}"
    )


def _shape_text(shape: tuple[Any, ...]) -> str:
    match shape:
        case ("dims", *dims):
            return f"shape = ({''.join(f'{d}, ' for d in dims)})"
        case ("last", d):
            return f"shape = (*_, {d})"
        case ("ndim", n):
            return f"ndim = {n}"
        case ("like", node):
            return f"shape = p{node}.shape"
    raise AssertionError(shape)


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
        case ("match", choice, *arms):
            return _match_text(rule, choice, [condition_text(rule, arm) for arm in arms])
        case ("absent", a):
            return f"p{a} == none"
        case ("there", a):
            return f"p{a} != none"
        case ("dim", a, index, sign, d):
            return f"p{a}.shape[{index}] {sign} {d}"
        case ("shapes", a, sign, b):
            return f"p{a}.shape {sign} p{b}.shape"
        case ("users", a, operator, axis, sign, count):
            more = (f", {operator}" if operator else "") + (f", axis = {axis}" if axis is not None else "")
            return f"users(p{a}{more}) {sign} {count}"
        case ("name", a, how, text):
            named = f'p{a}.name {"==" if how == "is" else "!="} "{text}"'
            return f'"{text}" in p{a}.name' if how == "has" else named
        case ("output", a):
            return f"is_output(p{a})"
        case ("no output", a):
            return f"not is_output(p{a})"
        case ("all users", a, b):
            return f"users(p{a}, p{b}.op) == users(p{a})"
        case ("positive index",):
            return "index > 0"
        case ("same as first", a):
            return f"p{a}.axis == first.p{a}.axis"
        case ("all equal", a):
            f = rule.template_of(a).name
            return f"all([i.p{a}.axis == {f}[0].p{a}.axis for i in {f}])"
        case ("nth", a, at, value):
            return f"{rule.template_of(a).name}[{at}].p{a}.axis == {value}"
        case ("even length", name):
            return f"len({name}) % 2 == 0"
        case ("some is", a, value):
            return f"any([i.p{a}.axis == {value} for i in {rule.template_of(a).name}])"
    raise AssertionError(condition)
