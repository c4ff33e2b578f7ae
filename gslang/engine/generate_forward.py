"""Generated code that goes forward: the loop over candidates for a pattern node above matched ones.

Statically: over which matched node, through which operators, and which equality constraints fix values of a
candidate before it is matched. At run time `candidates.Candidates` lists them, grouped by those values.
"""

from __future__ import annotations

from collections.abc import Callable

from gslang.check import checked as ir
from gslang.check.walks import equations, readings
from gslang.engine.code_writer import Place, Site, Writer, loop
from gslang.engine.value_code import NotCompiled, code_of


def forward(
    writer: Writer, place: Place, node: int, body: Callable[[Place, str], None], known: frozenset[int]
) -> None:
    """Emit the loop over candidates for pattern node `node`; `known`: nodes that are matched on every way to
    here.
    """
    lower = ways(writer, node, known)
    if not lower:
        raise NotCompiled("no matched node lies below")
    key_code, key_parts = _fixed(writer, node, known)
    found = writer.name("found")
    known_lists = dict(writer.listed)
    for number, (base, levels) in enumerate(lower):
        test = " and ".join(
            f"len(users[v{base}]) <= len(users[v{other}])" for other, _ in lower[number + 1 :]
        )
        inner = place if len(lower) == 1 else place.deeper()
        if len(lower) > 1:
            writer.line(
                place, "else:" if number + 1 == len(lower) else f"{'elif' if number else 'if'} {test}:"
            )
        _list_candidates(
            writer, inner, found, base, levels, writer.site(Site(levels, tuple(key_parts))), key_code
        )
        if len(lower) == 1:
            writer.listed[base, levels] = found
    candidate = writer.name("n")
    if place.loops:
        writer.tries = True
    loop(
        writer, place, f"for {candidate} in {f'tried({found})' if place.loops else found}:",
        lambda inner: body(inner, candidate),
    )
    writer.listed = known_lists


def _list_candidates(
    writer: Writer,
    place: Place,
    found: str,
    base: int,
    levels: tuple[frozenset[str], ...],
    site: str,
    key: list[str],
) -> None:
    """Candidates above `base`: of a node with few users the list, which an outer loop may have made already.
    """
    inner = place.deeper()
    writer.line(place, f"if type(users[v{base}]) is tuple:")
    if (base, levels) in writer.listed:
        writer.line(inner, f"{found} = {writer.listed[base, levels]}")
    elif len(levels) == 1:
        test = f"== {min(levels[0])!r}" if len(levels[0]) == 1 else f"in {writer.names.constant(levels[0])}"
        writer.line(inner, f"{found} = [u for u in users[v{base}] if op[u] {test}]")
        writer.line(inner, f"if len({found}) > 1: {found}.sort(), {found}.sort(key=label.__getitem__)")
    else:
        writer.line(inner, f"{found} = {site}.few(v{base})")
    writer.line(place, "else:")
    if not key:
        writer.line(inner, f"{found} = {site}.group(v{base}, ())")
        return
    writer.line(inner, "try:")
    writer.line(
        inner, f"    {found} = {site}.group(v{base}, ({''.join(f'canonical({part}), ' for part in key)}))"
    )
    writer.line(inner, "except FAILURES:")
    writer.line(inner, f"    {found} = ()")


def ways(writer: Writer, node: int, known: frozenset[int]) -> list[tuple[int, tuple[frozenset[str], ...]]]:
    """The shortest ways up to `node`: (matched node below, operators of each step)."""
    nodes = writer.plan.rule.nodes
    layer: list[tuple[int, tuple[frozenset[str], ...]]] = [(node, ())]
    for _ in range(len(nodes)):
        found = [(k, levels) for k, levels in layer if k in known and not _may_be_left_out(nodes[k])]
        if found:
            return list(dict(found).items())
        above = []
        for k, levels in layer:
            wanted = frozenset(nodes[k].operators)
            if wanted:
                above += [(child, (wanted, *levels)) for child in nodes[k].below]
        layer = list(dict(above).items())
    return []


def _may_be_left_out(pattern: ir.Pattern) -> bool:
    """An operand that is absent has no users to go to."""
    return pattern.optional


# ── what equality constraints fix ───────────────────────────────────────────────────────────────────────────


def _fixed(
    writer: Writer, node: int, known: frozenset[int]
) -> tuple[list[str], list[tuple[tuple[int, ...], str]]]:
    """Values that a candidate must have, as code, and where it has them: (path of operands, field)."""
    rule = writer.plan.rule
    paths = _paths(rule, node, known)
    codes: list[str] = []
    parts: list[tuple[tuple[int, ...], str]] = []

    def fix(k: int, field: str, value: ir.Value) -> None:
        if (
            (paths[k], field) not in parts and field != "value"
            and is_known(rule, value, known, writer.names.inside)
        ):
            try:
                codes.append(code_of(value, writer.names))
            except NotCompiled:
                return
            parts.append((paths[k], field))

    for k in paths:
        for constraint in rule.nodes[k].tests:
            if constraint.equal_to is not None and constraint.literal is None:
                fix(k, constraint.field, constraint.equal_to)
    conditions = [*rule.where]
    if rule.nodes[node].block is not None:
        conditions += rule.blocks[rule.nodes[node].block].where  # type: ignore[index]
    for side, other in equations(conditions):
        if side.place == ir.OWN and side.node in paths:
            fix(side.node, side.name, other)
    return codes, parts


def _paths(rule: ir.CheckedRule, node: int, known: frozenset[int]) -> dict[int, tuple[int, ...]]:
    """Unmatched pattern nodes that a candidate surely has at one place below it → operand numbers from it."""
    paths: dict[int, tuple[int, ...]] = {node: ()}
    stack = [node]
    while stack:
        k = stack.pop()
        pattern = rule.nodes[k]
        parts = pattern.parts
        if pattern.swappable or any(isinstance(part, ir.Splice) for part in parts):
            continue
        for place, child in enumerate(parts):
            if isinstance(child, int) and child not in known and child not in paths:
                if not isinstance(rule.nodes[child], ir.AltNode):
                    paths[child] = (*paths[k], place)
                    stack.append(child)
    return paths


def is_known(rule: ir.CheckedRule, value: object, known: frozenset[int], inside: str | None) -> bool:
    """True if a value reads nothing but nodes that are matched."""

    def is_there(part: ir.Reading) -> bool:
        if isinstance(part, ir.NodeAttr):
            return part.place == ir.OWN and part.node in known or (
                isinstance(part.place, ir.First) and inside == "next"
            )
        return part == ir.Let(ir.OWN, getattr(part, "let", -1))  # what it reads is asked itself

    return all(map(is_there, readings(value, rule.lets)))
