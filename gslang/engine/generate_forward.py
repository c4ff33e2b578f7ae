"""Generated code that goes forward: the loop over candidates for a pattern node above matched ones.

Statically: over which matched node, through which operators, and which equality constraints fix values of a candidate before it is
matched. At run time `candidates.Candidates` lists them, grouped by those values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from gslang.check import checked as ir
from gslang.engine.code_writer import Place, Site, Writer, loop
from gslang.engine.plan import children
from gslang.engine.value_code import NotCompiled, code_of
from gslang.graph.graph import PROJ, TUPLE


def forward(writer: Writer, place: Place, node: int, body: Callable[[Place, str], None], known: frozenset[int]) -> None:
    """Emit the loop over candidates for pattern node `node`; `known`: nodes that are matched on every way to here."""
    ways = _ways(writer, node, known)
    if not ways:
        raise NotCompiled("no matched node lies below")
    key_code, key_parts = _fixed(writer, node, known)
    key = writer.name("key")
    if key_parts:
        writer.line(place, "try:")
        writer.line(place, f"    {key} = ({''.join(f'canonical({part}), ' for part in key_code)})")
        writer.line(place, "except FAILURES:")
        writer.line(place, f"    {key} = None")
    else:
        writer.line(place, f"{key} = ()")
    found = writer.name("found")
    for number, (base, levels) in enumerate(ways):
        site = writer.site(Site(levels, tuple(key_parts)))
        test = " and ".join(f"len(users[v{base}]) <= len(users[v{other}])" for other, _ in ways[number + 1 :])
        word = "if" if number == 0 else "elif"
        last = number + 1 == len(ways)
        inner = place if len(ways) == 1 else place.deeper()
        if len(ways) > 1:
            writer.line(place, "else:" if last else f"{word} {test}:")
        writer.line(inner, f"{found} = {site}.few(v{base}) if type(users[v{base}]) is list else {site}.group(v{base}, {key})")
    candidate = writer.name("n")
    loop(writer, place, f"for {candidate} in {found}:", lambda inner: body(inner, candidate))


def _ways(writer: Writer, node: int, known: frozenset[int]) -> list[tuple[int, tuple[frozenset[str], ...]]]:
    """The shortest ways up to `node`: (matched node below, operators of each step)."""
    nodes = writer.plan.rule.nodes
    layer: list[tuple[int, tuple[frozenset[str], ...]]] = [(node, ())]
    for _ in range(len(nodes)):
        found = [(k, levels) for k, levels in layer if k in known]
        if found:
            return list(dict(found).items())
        above = []
        for k, levels in layer:
            wanted = operators_of(nodes[k])
            if wanted:
                above += [(child, (wanted, *levels)) for child in children(nodes[k])]
        layer = list(dict(above).items())
    return []


def operators_of(pattern: ir.Pattern) -> frozenset[str]:
    match pattern:
        case ir.CallNode(operators=operators):
            return frozenset(operators)
        case ir.TupleNode():
            return frozenset((TUPLE,))
        case ir.ProjNode():
            return frozenset((PROJ,))
    return frozenset()


# ── what equality constraints fix ─────────────────────────────────────────────────────────────────────────────


def _fixed(writer: Writer, node: int, known: frozenset[int]) -> tuple[list[str], list[tuple[tuple[int, ...], str]]]:
    """Values that a candidate must have, as code, and where it has them: (path of operands, field)."""
    rule = writer.plan.rule
    paths = _paths(rule, node, known)
    codes: list[str] = []
    parts: list[tuple[tuple[int, ...], str]] = []

    def fix(k: int, field: str, value: ir.Value) -> None:
        if (paths[k], field) not in parts and field != "value" and _is_known(rule, value, known, writer.names.inside):
            try:
                codes.append(code_of(value, writer.names))
            except NotCompiled:
                return
            parts.append((paths[k], field))

    for k in paths:
        for constraint in rule.nodes[k].constraints:
            match constraint:
                case ir.Constraint(field=field, test=ir.Equals(value)) if not isinstance(value, ir.Const):
                    fix(k, field, value)
    conditions = [*rule.where]
    if rule.nodes[node].block is not None:
        conditions += rule.blocks[rule.nodes[node].block].where  # type: ignore[index]
    for condition in _conjuncts(conditions):
        match condition:
            case ir.CompareValue("==", left, right):
                for side, other in ((left, right), (right, left)):
                    match side:
                        case ir.NodeAttr(ir.Own(), k, name) if k in paths:
                            fix(k, name, other)
    return codes, parts


def _conjuncts(conditions: list[ir.Value]) -> Iterator[ir.Value]:
    for condition in conditions:
        if isinstance(condition, ir.AllOf):
            yield from _conjuncts(list(condition.items))
        else:
            yield condition


def _paths(rule: ir.CheckedRule, node: int, known: frozenset[int]) -> dict[int, tuple[int, ...]]:
    """Unmatched pattern nodes that a candidate surely has at one place below it → operand numbers from it."""
    paths: dict[int, tuple[int, ...]] = {node: ()}
    stack = [node]
    while stack:
        k = stack.pop()
        pattern = rule.nodes[k]
        match pattern:
            case ir.CallNode(operands=parts, swappable=swappable) if not swappable:
                pass
            case ir.TupleNode(fields=parts):
                pass
            case ir.ProjNode(base=base):
                parts = (base,)
            case _:
                continue
        if any(isinstance(part, ir.Splice) for part in parts):
            continue
        for place, child in enumerate(parts):
            if isinstance(child, int) and child not in known and child not in paths:
                if not isinstance(rule.nodes[child], ir.AltNode):
                    paths[child] = (*paths[k], place)
                    stack.append(child)
    return paths


def _is_known(rule: ir.CheckedRule, value: Any, known: frozenset[int], inside: str | None) -> bool:
    """Whether a value reads nothing but nodes that are matched."""
    match value:
        case ir.NodeAttr(place, node, _):
            return (isinstance(place, ir.Own) and node in known) or (isinstance(place, ir.First) and inside == "next")
        case ir.Captured() | ir.Local() | ir.InstanceIndex() | ir.Instances() | ir.Length() | ir.SelectValue():
            return False
        case ir.IsAbsent() | ir.SameNode():
            return False
        case ir.Let(ir.Own(), number):
            return _is_known(rule, rule.lets[number], known, inside)
        case ir.Let():
            return False
    if is_dataclass(value) and not isinstance(value, type):
        return all(_is_known(rule, getattr(value, f.name), known, inside) for f in fields(value))
    if isinstance(value, tuple):
        return all(_is_known(rule, part, known, inside) for part in value)
    return True
