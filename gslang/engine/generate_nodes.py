"""Generated code for pattern nodes: leaves, calls, tuples, projections and alternatives.

Alternatives, and pattern nodes that only some alternative has matched, need what follows more than once: it becomes a nested
function (a continuation). Every pattern node has one variable for the whole matcher, `v7`, so nested functions share them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gslang.check import checked as ir
from gslang.check.found import children
from gslang.engine.code_writer import Place, Rest, Step, Writer, below, chain, go, loop
from gslang.engine.lower import may_be_absent, may_coincide
from gslang.engine.program import MatchProgram
from gslang.engine.value_code import NotCompiled, constraint_code


def match_step(node: int, value: str) -> Step:
    """Match pattern node `node` against the graph node (or -1) that the expression `value` holds."""

    def emit(writer: Writer, place: Place, rest: Rest) -> None:
        if node in place.certain:
            writer.check(place, f"v{node} != {value}")
            go(writer, place, rest)
        elif node in place.possible:
            _maybe(writer, place, node, value, rest)
        else:
            _match_new(writer, place, node, value, rest)

    return emit


def _maybe(writer: Writer, place: Place, node: int, value: str, rest: Rest) -> None:
    """A node that some alternative has matched already: equal then, else matched here."""
    known = replace(place, certain=place.certain | {node})
    after, inside = writer.function(known, "after")
    go(writer, inside, rest)
    writer.line(place, f"if v{node} == -2:")
    branch = place.deeper()
    fresh, body = writer.function(branch, "fresh")
    free = frozenset(k for k in below(writer.plan, node) if k in place.possible)
    body = replace(body, possible=body.possible - {node})
    _match_new(writer, body, node, value, Rest(_return_call(after), None))
    writer.line(branch, f"result = {fresh}()")
    writer.line(branch, " = ".join(f"v{k}" for k in sorted({node} & free)) + " = -2")
    writer.line(branch, "if result is not None: return result")
    writer.line(branch, place.fail)
    writer.line(place, f"elif v{node} != {value}: {place.fail}")
    writer.call(place, after)


def _return_call(function: str) -> Step:
    def emit(writer: Writer, place: Place, rest: Rest) -> None:
        writer.call(place, function)

    return emit


def _match_new(writer: Writer, place: Place, node: int, value: str, rest: Rest) -> None:
    match writer.plan.rule.nodes[node]:
        case ir.LeafNode() as pattern:
            _leaf(writer, place, node, pattern, value, rest)
        case ir.AltNode() as pattern:
            _alternatives(writer, place, node, pattern, value, rest)
        case pattern:
            _inner(writer, place, node, pattern, value, rest)


def _codes(writer: Writer, node: int, early: bool | None = None) -> list[str]:
    """The node's constraints as code: all, or those that can (cannot) be tested before its operands."""
    constraints = writer.plan.rule.nodes[node].constraints
    if writer.names.inside == "first" and node in writer.plan.deferred:
        constraints = tuple(c for c in constraints if c not in writer.plan.deferred[node])  # tested when the instance is complete
    return constraint_codes(writer, node, [c for c in constraints if early is None or _reads_only_itself(c) == early])


def constraint_codes(writer: Writer, node: int, chosen: Sequence[ir.Constraint | ir.SameAttributes]) -> list[str]:
    """Constraints on a node as code; calls that were given the same attributes need no comparison one by one."""
    alike: dict[str, list[ir.Constraint]] = {}
    for constraint in chosen:
        if (other := _copied_from(writer, node, constraint)) is not None:
            alike.setdefault(other, []).append(constraint)  # type: ignore[arg-type]
    codes = [constraint_code(c, node, writer.names) for c in chosen if not any(c in group for group in alike.values())]
    for other, group in alike.items():
        one_by_one = " and ".join(constraint_code(c, node, writer.names) for c in group)
        codes.append(f"(equal_attributes(attrs[v{node}], attrs[{other}]) or {one_by_one})")
    return codes


def _copied_from(writer: Writer, node: int, constraint: ir.Constraint | ir.SameAttributes) -> str | None:
    """The slot of the other call, where a constraint says that an attribute is that of another call of the same operator (`c.*`)."""
    nodes = writer.plan.rule.nodes
    match constraint:
        case ir.Constraint(field, ir.Equals(ir.NodeAttr(ir.Own() | ir.First() as place, other, name))) if field == name:
            mine, theirs = nodes[node], nodes[other]
            if isinstance(mine, ir.CallNode) and isinstance(theirs, ir.CallNode) and mine.operators == theirs.operators:
                signature = writer.plan.rule.dialect.get(mine.operators[0])
                plain = signature is not None and all(o.name != field for o in signature.operands)
                return writer.names.slot(place, other) if plain and len(mine.operators) == 1 and writer.names.is_there(other) else None
    return None


# ── leaves ────────────────────────────────────────────────────────────────────────────────────────────────────

_KINDS = {"const": "is not CONST", "input": "is not INPUT", "param": "is not PARAM", "var": "not in VARIABLES"}


def _leaf(writer: Writer, place: Place, node: int, pattern: ir.LeafNode, value: str, rest: Rest) -> None:
    writer.line(place, f"v{node} = {value}")
    conditions = _codes(writer, node)
    kind = [f"op[v{node}] {_KINDS[pattern.kind]}"] if pattern.kind != "any" else []
    if pattern.optional:
        if kind or conditions:
            writer.line(place, f"if v{node} != -1:")
            for bad in kind:
                writer.check(place.deeper(), bad)
            writer.conditions(place.deeper(), conditions)
            writer.line(place.deeper(), "pass")
    else:
        writer.check(place, " or ".join([f"v{node} < 0", *kind]))
        writer.conditions(place, conditions)
    go(writer, replace(place, certain=place.certain | {node}), rest)


# ── alternatives ──────────────────────────────────────────────────────────────────────────────────────────────


def _alternatives(writer: Writer, place: Place, node: int, pattern: ir.AltNode, value: str, rest: Rest) -> None:
    """Each branch in turn, then what follows (one function, called from every branch)."""
    if writer.names.inside is not None:
        raise NotCompiled("alternatives inside a template")
    plan = writer.plan
    under = frozenset(below(plan, node)) - {node}
    always = frozenset.intersection(*(frozenset(_certain_below(plan, branch)) for branch in pattern.branches))
    after_place = replace(place, certain=place.certain | {node} | always, possible=(place.possible | under) - always)
    after, inside = writer.function(after_place, "after")
    writer.conditions(inside, _codes(writer, node))
    go(writer, inside, rest)
    reset = sorted(under - place.certain - place.possible)
    for choice, branch in enumerate(pattern.branches):
        name, body = writer.function(place, "branch")
        for k in reset:
            writer.line(body, f"v{k} = -2")
        writer.line(body, f"v{node} = {value}")
        writer.line(body, f"b{node} = {choice}")
        go(writer, body, chain([match_step(branch, value), _settle(node, value, choice), _return_call(after)], None))
        writer.call(place, name)
    writer.line(place, place.fail)


def _settle(node: int, value: str, choice: int) -> Step:
    """Inner alternatives of the same branch may have been tried in between: say again what was chosen."""

    def emit(writer: Writer, place: Place, rest: Rest) -> None:
        writer.line(place, f"v{node} = {value}")
        writer.line(place, f"b{node} = {choice}")
        go(writer, place, rest)

    return emit


def _certain_below(plan: MatchProgram, node: int) -> list[int]:
    """Pattern nodes that a match of `node` certainly has, `node` included."""
    found: dict[int, None] = {}
    stack = [node]
    while stack:
        k = stack.pop()
        if k in found:
            continue
        found[k] = None
        pattern = plan.rule.nodes[k]
        if isinstance(pattern, ir.AltNode):
            common = frozenset.intersection(*(frozenset(_certain_below(plan, b)) for b in pattern.branches))
            found.update(dict.fromkeys(sorted(common)))
        else:
            stack.extend(children(pattern))
    return list(found)


# ── calls, tuples, projections ────────────────────────────────────────────────────────────────────────────────


def _inner(writer: Writer, place: Place, node: int, pattern: ir.Pattern, value: str, rest: Rest) -> None:
    """Operator, distinctness, arity, constraints that need no operands, operands, other constraints."""
    names, slot, nodes = writer.names, f"v{node}", writer.plan.rule.nodes
    writer.line(place, f"{slot} = {value}")
    writer.check(place, f"{slot} < 0")
    commuting = False
    parts: tuple[int | None | ir.Splice, ...]
    match pattern:
        case ir.CallNode():
            parts = pattern.operands
            if len(pattern.operators) == 1:
                writer.check(place, f"op[{slot}] != {pattern.operators[0]!r}")
            else:
                writer.check(place, f"op[{slot}] not in {names.constant(frozenset(pattern.operators))}")
            if pattern.variable is not None:
                _operator_variable(writer, place, node, pattern.variable)
            commuting = bool(pattern.swappable) and len(parts) == 2
        case ir.TupleNode():
            parts = pattern.fields
            writer.check(place, f"op[{slot}] is not TUPLE")
        case ir.ProjNode():
            parts = (pattern.base,)
            writer.check(place, f"op[{slot}] is not PROJ")
        case _:
            raise AssertionError("not an inner node: this is a bug in gslang")
    if node in writer.plan.distinct:
        for other in sorted((place.certain | place.possible | place.started) & writer.plan.distinct):
            if may_coincide(nodes[node], nodes[other]):
                writer.check(place, f"{slot} == v{other}")
        if names.inside == "next":
            writer.check(place, f"{slot} in taken")
        else:  # `taken` may be of an earlier attempt
            for block in sorted(writer.spliced):
                theirs = [k for k in sorted(writer.plan.distinct) if nodes[k].block == block and may_coincide(nodes[node], nodes[k])]
                if theirs:
                    writer.check(place, f"any([{slot} == i[k] for i in I{block} for k in {tuple(theirs)!r}])")
    place = replace(place, started=place.started | {node})
    writer.conditions(place, _codes(writer, node, early=True))
    operand = f"o{node}"
    writer.line(place, f"{operand} = operands[{slot}]")
    steps: list[Step]
    splice = next((k for k, part in enumerate(parts) if isinstance(part, ir.Splice)), None)
    if splice is not None:
        steps = [writer.fields_step(operand, parts, splice)]
        values = []
    else:
        values = _arity(writer, place, pattern, parts, operand)
        steps = []

    def emit_rest(place: Place, values: list[str]) -> None:
        matched = [match_step(part, found) for part, found in zip(parts, values) if isinstance(part, int)]
        go(writer, place, chain([*steps, *matched, _done(node)], rest))

    if not commuting or not isinstance(pattern, ir.CallNode):
        emit_rest(place, values)
        return
    first, second = writer.name("a"), writer.name("a")
    both = f"(({operand}[0], {operand}[1]), ({operand}[1], {operand}[0]))"
    if len(pattern.swappable) < len(pattern.operators):
        both = f"({both} if op[{slot}] in {names.constant(pattern.swappable)} else ({operand},))"
    loop(writer, place, f"for {first}, {second} in {both}:", lambda inner: emit_rest(inner, [first, second]))


def _done(node: int) -> Step:
    """The node's operands are matched: its other constraints."""

    def emit(writer: Writer, place: Place, rest: Rest) -> None:
        place = replace(place, certain=place.certain | {node}, started=place.started - {node})
        writer.conditions(place, _codes(writer, node, early=False))
        go(writer, place, rest)

    return emit


def _operator_variable(writer: Writer, place: Place, node: int, variable: str) -> None:
    """All nodes with the same variable have the same operator: compare with one that is matched, if one is."""
    nodes = writer.plan.rule.nodes
    same = [k for k, other in enumerate(nodes) if isinstance(other, ir.CallNode) and other.variable == variable and k != node]
    sure = [k for k in same if k in place.certain or k in place.started]
    if sure:
        writer.check(place, f"op[v{node}] is not op[v{sure[0]}]")
        return
    if writer.names.inside == "next":  # the first instance has bound it
        block = nodes[node].block
        writer.check(place, f"op[v{node}] is not op[first(I{block})[{node}]]")
        return
    for k in same:
        block = nodes[k].block
        if block is not None and block in writer.spliced:
            writer.check(place, f"I{block} and op[v{node}] is not op[I{block}[0][{k}]]")
        elif k in place.possible:
            writer.check(place, f"v{k} != -2 and op[v{node}] is not op[v{k}]")


def _arity(writer: Writer, place: Place, pattern: ir.Pattern, parts: tuple[int | None | ir.Splice, ...], operand: str) -> list[str]:
    """Check the number of operands; expressions for each. A missing trailing operand is absent (-1), and one that is absent may be there."""
    rule = writer.plan.rule
    if not any(may_be_absent(rule, part) for part in parts):
        called = pattern.operators if isinstance(pattern, ir.CallNode) else ()
        declared = [signature for name in called if (signature := rule.dialect.get(name)) is not None]
        more = any(len(signature.operands) > len(parts) for signature in declared)
        spare = f" and (len({operand}) < {len(parts)} or any([n != -1 for n in {operand}[{len(parts)}:]]))" if more else ""
        writer.check(place, f"len({operand}) != {len(parts)}{spare}")
        return [f"{operand}[{k}]" for k in range(len(parts))]
    writer.line(place, f"if len({operand}) < {len(parts)}: {operand} += (-1,) * ({len(parts)} - len({operand}))")
    writer.check(place, f"any([n != -1 for n in {operand}[{len(parts)}:]])")
    for k, part in enumerate(parts):
        if part is None:
            writer.check(place, f"{operand}[{k}] != -1")
    return [f"{operand}[{k}]" for k in range(len(parts))]


def _reads_only_itself(constraint: ir.Constraint | ir.SameAttributes) -> bool:
    """Constraints that read nothing but the node itself; they can be tested before its operands."""
    if isinstance(constraint, ir.SameAttributes):
        return False
    match constraint.test:
        case ir.Equals(ir.Const()) | ir.ConstantEquals(ir.Const()) | ir.SplatEquals(ir.Const()) | ir.Anything():
            return True
    return False
