"""Generated code for the steps of a register: one template for each kind of step.

Alternatives, and pattern nodes that only some alternative has matched, need what follows more than once: it
becomes a nested function (a continuation). Every register has one variable for the whole matcher, `v7`, so
nested functions share them. A step that has no template leaves its rule to the machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby

from gslang.check import checked as ir
from gslang.engine import program as mp
from gslang.engine.code_writer import Place, Rest, Step, Writer, below, chain, go, loop
from gslang.engine.constraint_code import constraint_code
from gslang.engine.generate_known import emit_literals, is_literal
from gslang.engine.lower import may_be_absent, may_coincide
from gslang.engine.program import MatchProgram
from gslang.engine.value_code import NotCompiled
from gslang.graph.graph import PROJ, TUPLE

_COUNTED = 4  # of so many loops around one another, those over orders of operands, the last is counted


def match_step(node: int, value: str) -> Step:
    """Match pattern node `node` against the graph node (or -1) that the expression `value` holds."""

    def emit(writer: Writer, place: Place, rest: Rest) -> None:
        if node in place.certain:
            writer.check(place, f"v{node} != {value}")
            go(writer, place, rest)
        elif node in place.possible:
            _maybe(writer, place, node, value, rest)
        else:
            match_new(writer, place, node, value, rest)

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
    match_new(writer, body, node, value, Rest(_return_call(after), None))
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


def match_new(writer: Writer, place: Place, node: int, value: str, rest: Rest) -> None:
    """Bind a register that holds nothing yet, and take its steps, the cheapest first."""
    writer.line(place, f"v{node} = {value}")
    operands: dict[int, str] = {}  # index → expression, once they are taken
    go(
        writer, place,
        chain(
            [
                _template(writer, step, value, operands)
                for step in _cheapest_first(writer.plan.registers[node].steps)
            ],
            rest,
        ),
    )


def _cheapest_first(steps: Sequence[mp.Step]) -> Iterable[object]:
    """Checks of the node alone come before its operands; consecutive tests of attributes are compared as one
    tuple."""
    at = next((k for k, step in enumerate(steps) if isinstance(step, mp.Operands)), len(steps))
    first = [step for step in steps[at:] if isinstance(step, mp.Attr) and _reads_only_itself(step.constraint)]
    later = [step for step in steps[at:] if step not in first]
    ordered = (*steps[:at], *first, *later)
    for are_tests, group in groupby(ordered, key=lambda step: isinstance(step, mp.Attr)):
        found = tuple(group)
        yield from (found,) if are_tests else found


def _template(writer: Writer, step: object, value: str, operands: dict[int, str]) -> Step:
    """The code of a step, and what follows it. `value`: the expression that the register was bound to."""
    match step:
        case mp.IsKind():
            return lambda writer, place, rest: _kind(writer, place, step, rest)
        case mp.IsOp():
            return lambda writer, place, rest: _operator(writer, place, step, rest)
        case mp.Distinct(register):
            return lambda writer, place, rest: _distinct(writer, place, register, rest)
        case mp.Operands():
            return lambda writer, place, rest: _operands(writer, place, step, operands, rest)
        case mp.Operand(register, _, index):
            return lambda writer, place, rest: go(
                writer, place, Rest(match_step(register, operands[index]), rest)
            )
        case mp.Absent(_, index):
            return lambda writer, place, rest: _absent(writer, place, operands[index], rest)
        case mp.Fields():
            return writer.fields_step(step)
        case mp.Run():
            return writer.run_step(step)
        case mp.Choice():
            return lambda writer, place, rest: _alternatives(writer, place, step, value, rest)
        case tuple():
            return lambda writer, place, rest: _tests(writer, place, step, rest)
        case mp.Done(register):
            return lambda writer, place, rest: go(writer, _done(place, register), rest)
    raise NotCompiled(type(step).__name__)


def _tests(writer: Writer, place: Place, tests: tuple[mp.Attr, ...], rest: Rest) -> None:
    """Tests of attributes, types and values; an omitted operand passes."""
    register = tests[0].register
    waiting = writer.names.inside == "first"  # those are tested when the instance is complete
    constraints = [test.constraint for test in tests if not (waiting and test.waits)]
    literals = [c for c in constraints if is_literal(writer, register, c)]
    codes = constraint_codes(writer, register, [c for c in constraints if c not in literals])
    inner = place
    if constraints and may_be_absent(writer.plan.rule, register):
        writer.line(place, f"if v{register} != -1:")
        inner = place.deeper()
        writer.line(inner, "pass")
    writer.conditions(inner, codes)
    emit_literals(writer, inner, register, literals)
    go(writer, place, rest)


def _done(place: Place, register: int) -> Place:
    return replace(place, certain=place.certain | {register}, started=place.started - {register})


def constraint_codes(
    writer: Writer, node: int, chosen: Sequence[ir.Constraint | ir.SameAttributes]
) -> list[str]:
    """Constraints on a node as code; calls that were given the same attributes need no comparison one by one.
    """
    alike: dict[str, list[ir.Constraint]] = {}
    for constraint in chosen:
        if (other := _copied_from(writer, node, constraint)) is not None:
            alike.setdefault(other, []).append(constraint)  # type: ignore[arg-type]
    codes = [
        constraint_code(c, node, writer.names)
        for c in chosen if not any(c in group for group in alike.values())
    ]
    for other, group in alike.items():
        one_by_one = " and ".join(constraint_code(c, node, writer.names) for c in group)
        codes.append(f"(equal_attributes(attrs[v{node}], attrs[{other}]) or {one_by_one})")
    return codes


def _copied_from(writer: Writer, node: int, constraint: ir.Constraint | ir.SameAttributes) -> str | None:
    """The slot of the other call, where a constraint says that an attribute is that of another call of the
    same operator (`c.*`).
    """
    rule, names = writer.plan.rule, writer.names
    read = constraint.copied if isinstance(constraint, ir.Constraint) else None
    if read is None or not (read.place == ir.OWN or isinstance(read.place, ir.First)):
        return None
    mine, theirs = rule.nodes[node].operators, rule.nodes[read.node].operators
    signature = rule.dialect.get(mine[0]) if len(mine) == 1 and mine == theirs else None
    plain = signature is not None and all(o.name != read.name for o in signature.operands)
    return names.slot(read.place, read.node) if plain and names.is_there(read.node) else None


# ── the node itself ─────────────────────────────────────────────────────────────────────────────────────────

_KINDS = {
    "const": "is not CONST",
    "input": "is not INPUT",
    "param": "is not PARAM",
    "var": "not in VARIABLES",
    "fixed": "not in FIXED",
}


def _kind(writer: Writer, place: Place, step: mp.IsKind, rest: Rest) -> None:
    slot = f"v{step.register}"
    kind = [f"op[{slot}] {_KINDS[step.kind]}"] if step.kind != "any" else []
    if not step.optional:
        writer.check(place, " or ".join([f"{slot} < 0", *kind]))
    elif kind:
        writer.check(place, f"{slot} != -1 and {kind[0]}")
    go(writer, place, rest)


def _operator(writer: Writer, place: Place, step: mp.IsOp, rest: Rest) -> None:
    slot = f"v{step.register}"
    if step.register not in writer.listed_by_operator:
        writer.check(place, f"{slot} < 0")
        match step.operators:
            case (only,) if only is TUPLE or only is PROJ:
                writer.check(place, f"op[{slot}] is not {'TUPLE' if only is TUPLE else 'PROJ'}")
            case (only,):
                writer.check(place, f"op[{slot}] != {only!r}")
            case operators:
                writer.check(place, f"op[{slot}] not in {writer.names.constant(frozenset(operators))}")
    if step.variable is not None:
        _operator_variable(writer, place, step.register, step.variable)
    go(writer, place, rest)


def _distinct(writer: Writer, place: Place, register: int, rest: Rest) -> None:
    slot, nodes, distinct = f"v{register}", writer.plan.rule.nodes, writer.plan.distinct
    for other in sorted((place.certain | place.possible | place.started) & distinct):
        if may_coincide(nodes[register], nodes[other]):
            writer.check(place, f"{slot} == v{other}")
    if writer.names.inside == "next":
        writer.check(place, f"{slot} in taken")
    else:  # `taken` may be of an earlier attempt
        for block in sorted(writer.spliced):
            theirs = [
                k
                for k in sorted(distinct)
                if nodes[k].block == block and may_coincide(nodes[register], nodes[k])
            ]
            if theirs:
                writer.check(place, f"any([{slot} == i[k] for i in I{block} for k in {tuple(theirs)!r}])")
    go(writer, place, rest)


# ── alternatives ────────────────────────────────────────────────────────────────────────────────────────────


def _alternatives(writer: Writer, place: Place, step: mp.Choice, value: str, rest: Rest) -> None:
    """Each branch in turn, then what follows (one function, called from every branch)."""
    if writer.names.inside is not None:
        raise NotCompiled("alternatives inside a template")
    plan, node = writer.plan, step.register
    under = frozenset(below(plan, node)) - {node}
    always = frozenset.intersection(*(frozenset(_certain_below(plan, branch)) for branch in step.branches))
    after_place = replace(
        place, certain=place.certain | {node} | always, possible=(place.possible | under) - always
    )
    after, inside = writer.function(after_place, "after")
    go(writer, inside, rest)
    reset = sorted(under - place.certain - place.possible)
    for choice, branch in enumerate(step.branches):
        name, body = writer.function(place, "branch")
        for k in reset:
            writer.line(body, f"v{k} = -2")
        writer.line(body, f"v{node} = {value}")
        writer.line(body, f"b{node} = {choice}")
        go(
            writer, body,
            chain([match_step(branch, value), _settle(node, value, choice), _return_call(after)], None),
        )
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
            stack.extend(pattern.below)
    return list(found)


# ── operands ────────────────────────────────────────────────────────────────────────────────────────────────


def _operator_variable(writer: Writer, place: Place, node: int, variable: str) -> None:
    """All nodes with the same variable have the same operator: compare with one that is matched, if one is.
    """
    nodes = writer.plan.rule.nodes
    same = [
        k
        for k, other in enumerate(nodes)
        if isinstance(other, ir.CallNode) and other.variable == variable and k != node
    ]
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


def _operands(writer: Writer, place: Place, step: mp.Operands, operands: dict[int, str], rest: Rest) -> None:
    """Their number, and an expression for each; a loop over the orders that they may have."""
    register, given = step.register, f"o{step.register}"
    place = replace(place, started=place.started | {register})
    writer.line(place, f"{given} = operands[v{register}]")
    if step.more:
        writer.check(place, f"len({given}) < {step.least}")
        if step.swappable:
            raise NotCompiled("a commutative operator with any number of operands")
        operands.update({k: f"{given}[{k}]" for k in range(-step.count, step.count)})
        go(writer, place, rest)
        return
    _arity(writer, place, step, given)
    if not step.swappable or step.count != 2:
        operands.update({k: f"{given}[{k}]" for k in range(step.count)})
        go(writer, place, rest)
        return
    first, second = writer.name("a"), writer.name("a")
    operands.update({0: first, 1: second})
    both = f"(({given}[0], {given}[1]), ({given}[1], {given}[0]))"
    pattern = writer.plan.rule.nodes[register]
    if isinstance(pattern, ir.CallNode) and len(step.swappable) < len(pattern.operators):
        both = f"({both} if op[v{register}] in {writer.names.constant(step.swappable)} else ({given},))"
    if writer.names.inside == "next":  # of a chain, whose ways multiply
        both = f"({both} if {given}[0] != {given}[1] else ({given},))"
    if place.loops % _COUNTED == _COUNTED - 1:
        writer.tries, both = True, f"tried({both})"
    loop(writer, place, f"for {first}, {second} in {both}:", lambda inner: go(writer, inner, rest))


def _arity(writer: Writer, place: Place, step: mp.Operands, given: str) -> None:
    """Check the number of operands.

    A missing trailing operand is absent (-1), and one that is absent may be there.
    """
    rule, count = writer.plan.rule, step.count
    pattern = rule.nodes[step.register]
    parts = pattern.operands if isinstance(pattern, ir.CallNode) else ()
    if any(may_be_absent(rule, part) for part in parts):
        writer.line(place, f"if len({given}) < {count}: {given} += (-1,) * ({count} - len({given}))")
        writer.check(place, f"any([n != -1 for n in {given}[{count}:]])")
        return
    called = pattern.operators if isinstance(pattern, ir.CallNode) else ()
    declared = [signature for name in called if (signature := rule.dialect.get(name)) is not None]
    more = any(len(signature.operands) > count for signature in declared)
    spare = f" and (len({given}) < {count} or any([n != -1 for n in {given}[{count}:]]))" if more else ""
    writer.check(place, f"len({given}) != {count}{spare}")


def _absent(writer: Writer, place: Place, operand: str, rest: Rest) -> None:
    writer.check(place, f"{operand} != -1")
    go(writer, place, rest)


def _reads_only_itself(constraint: ir.Constraint | ir.SameAttributes) -> bool:
    """Constraints that read nothing but the node itself; they can be tested before its operands."""
    test = getattr(constraint, "test", None)
    return test == ir.Anything() or isinstance(test, ir.AgainstValue) and isinstance(test.value, ir.Const)
