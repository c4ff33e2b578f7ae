"""The generated matcher: one Python function per rule, straight-line code with a loop for each choice.

`compile_matcher(plan)(graph)` gives `match(start, accept)`: it finds the matches whose first output is `start` in the same
order as `interpret.matches`, hands each one's scope to `accept`, and returns the first result that is not None.

Shape of the code. Checks in sequence; a check that fails goes on with the innermost choice (`continue`), or returns None
where there is none. A choice of operand order or of users is a `for`. Alternatives, and pattern nodes that only some
alternative has matched, need what follows more than once: it becomes a nested function (a continuation). Every pattern
node has one variable for the whole matcher, so nested functions share them.

Rules with templates (`each`) are run by the readable matcher: an instance's nodes are many, so variables cannot hold them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from gslang.check import checked as ir
from gslang.engine import interpret
from gslang.engine.conditions import depends
from gslang.engine.constraints import kind_fits
from gslang.engine.plan import MatchPlan, children
from gslang.engine.scope import UNBOUND, Scope
from gslang.engine.value_code import RUNTIME, Namespace, NotCompiled, code_of, constraint_code
from gslang.engine.values import FAILURES, equal
from gslang.graph.graph import PROJ, TUPLE, Graph

Accept = Callable[[Scope], Any]
Matcher = Callable[[int, Accept], Any]

_DEEPEST_LOOP = 12  # Python allows 20 nested blocks; beyond this a continuation starts afresh


@dataclass(frozen=True, slots=True)
class _Place:
    """Where code is emitted: indentation, how a failed check leaves, and which pattern nodes have a slot here.

    `certain`: matched on every way that leads here; `possible`: on some (their variable is -2 otherwise).
    """

    indent: int
    fail: str
    loops: int
    certain: frozenset[int]
    possible: frozenset[int]
    operators: frozenset[str]  # operator variables that are known on every way


@dataclass(slots=True)
class _Writer:
    plan: MatchPlan
    names: Namespace
    lines: list[str] = field(default_factory=list)
    fresh: int = 0
    variables: tuple[str, ...] = ()

    def line(self, place: _Place, text: str) -> None:
        self.lines.append("    " * place.indent + text)

    def name(self, prefix: str) -> str:
        self.fresh += 1
        return f"{prefix}_{self.fresh}"


# What is still to be emitted: a linked list of steps.
_Step = Callable[["_Writer", _Place, "_Rest"], None]


@dataclass(frozen=True, slots=True)
class _Rest:
    step: _Step
    rest: _Rest | None


def compile_matcher(plan: MatchPlan) -> Callable[[Graph], Matcher]:
    """The matcher of a rule; generated code where the rule has no templates."""
    return _compiled(plan) if not plan.rule.blocks else lambda graph: _readable(plan, graph)


def _readable(plan: MatchPlan, graph: Graph) -> Matcher:
    def match(start: int, accept: Accept) -> Any:
        for scope in interpret.matches(plan, graph, start):
            result = accept(scope)
            if result is not None:
                return result
        return None

    return match


@cache
def _compiled(plan: MatchPlan) -> Callable[[Graph], Matcher]:
    try:
        text, objects = source_of(plan)
    except NotCompiled:
        return lambda graph: _readable(plan, graph)
    space: dict[str, Any] = {**RUNTIME, **objects, "plan": plan, "Scope": Scope, "kind_fits": kind_fits}
    space.update(rule=plan.rule, D=plan.rule.dialect, TUPLE=TUPLE, PROJ=PROJ, private=_private, convex=_convex)
    space.update(candidates=interpret.candidates, same_attributes=_same_attributes)
    exec(compile(text, f"<matcher of {plan.rule.name}>", "exec"), space)
    make: Callable[[Graph], Matcher] = space["make"]
    return make


def source_of(plan: MatchPlan) -> tuple[str, dict[str, Any]]:
    """The generated Python text of a rule's matcher, and the objects it refers to by name."""
    rule = plan.rule
    names = Namespace(rule)
    writer = _Writer(plan, names)
    alternations = [k for k, node in enumerate(rule.nodes) if isinstance(node, ir.AltNode)]
    variables = [f"v{k}" for k in range(len(rule.nodes))] + [f"b{k}" for k in alternations]
    variables += [f"c{k}" for k in range(len(rule.captures))] + [f"w_{v.name}" for v in rule.variables]
    writer.variables = tuple(variables)
    place = _Place(2, "return None", 0, frozenset(), frozenset(), frozenset())
    steps: list[_Step] = [_output_step(k) for k in range(len(rule.outputs))]
    steps.append(_finish)
    _go(writer, place, _chain(steps, None))
    head = [
        "def make(G):",
        "    op, operands, attrs, users, output_uses = G.op, G.operands, G.attrs, G.users, None",
        "    def match(start, accept):",
        *(f"        {name} = None" for name in variables if name[0] in "cw"),
        *(f"        {name} = -2" for name in variables if name[0] == "v" and int(name[1:]) not in _always(rule)),
        *(f"        {name} = -1" for name in variables if name[0] == "b"),
    ]
    return "\n".join([*head, *writer.lines, "        return None", "    return match"]) + "\n", names.objects


def _always(rule: ir.CheckedRule) -> set[int]:
    """Pattern nodes that every match has: those not below an alternation."""
    found: set[int] = set()
    stack = list(rule.outputs)
    while stack:
        node = stack.pop()
        if node not in found:
            found.add(node)
            if not isinstance(rule.nodes[node], ir.AltNode):
                stack.extend(children(rule.nodes[node]))
    if any(isinstance(node, ir.AltNode) for node in rule.nodes):
        return set()
    return found


def _chain(steps: Iterable[_Step], rest: _Rest | None) -> _Rest:
    result = rest
    for step in reversed(list(steps)):
        result = _Rest(step, result)
    assert result is not None
    return result


def _go(writer: _Writer, place: _Place, rest: _Rest | None) -> None:
    assert rest is not None
    rest.step(writer, place, rest.rest)  # type: ignore[arg-type]


def _check(writer: _Writer, place: _Place, bad: str) -> None:
    writer.line(place, f"if {bad}: {place.fail}")


# ── outputs ───────────────────────────────────────────────────────────────────────────────────────────────────


def _output_step(k: int) -> _Step:
    def emit(writer: _Writer, place: _Place, rest: _Rest) -> None:
        rule = writer.plan.rule
        node = rule.outputs[k]
        if k == 0:
            _go(writer, place, _Rest(_match_step(node, "start"), rest))
        elif node in place.certain:
            _go(writer, place, rest)
        elif node in place.possible:
            raise NotCompiled("an output that only some alternative matches")
        else:
            place = _deepen(writer, place)
            candidate = writer.name("n")
            writer.line(place, f"for {candidate} in {_candidates(writer, place, node)}:")
            inner = replace(place, indent=place.indent + 1, fail="continue", loops=place.loops + 1)
            _go(writer, inner, _Rest(_match_step(node, candidate), rest))

    return emit


def _candidates(writer: _Writer, place: _Place, node: int) -> str:
    """Users of a matched node that can be the next output: a short way where one is known, else the general search."""
    pattern = writer.plan.rule.nodes[node]
    if isinstance(pattern, ir.CallNode):
        for child in pattern.operands:
            if isinstance(child, int) and child in place.certain:
                wanted = writer.names.constant(frozenset(pattern.operators))
                return f"[u for u in G.successors(v{child}) if op[u] in {wanted}]"
    return f"candidates(plan, {_scope_code(writer, place)}, {node})"


def _scope_code(writer: _Writer, place: _Place) -> str:
    """The scope as it is here; what no way to this place has matched is unbound, whatever its variable holds."""
    rule = writer.plan.rule
    here = place.certain | place.possible
    slots = ", ".join(f"v{k}" if k in here else "-2" for k in range(len(rule.nodes)))
    chosen = ", ".join(f"{k}: b{k}" for k, node in enumerate(rule.nodes) if isinstance(node, ir.AltNode))
    captures = ", ".join(f"{k}: c{k}" for k in range(len(rule.captures)))
    variables = ", ".join(f"{v.name!r}: w_{v.name}" for v in rule.variables)
    return f"Scope(rule, G, [{slots}], {{{chosen}}}, {{{captures}}}, {{{variables}}})"


# ── pattern nodes ─────────────────────────────────────────────────────────────────────────────────────────────


def _match_step(node: int, value: str) -> _Step:
    """Match pattern node `node` against the graph node (or -1) that the expression `value` holds."""

    def emit(writer: _Writer, place: _Place, rest: _Rest) -> None:
        if node in place.certain:
            _check(writer, place, f"v{node} != {value}")
            _go(writer, place, rest)
        elif node in place.possible:
            _maybe(writer, place, node, value, rest)
        else:
            _match_new(writer, place, node, value, rest)

    return emit


def _below(plan: MatchPlan, node: int) -> list[int]:
    found: dict[int, None] = {}
    stack = [node]
    while stack:
        k = stack.pop()
        if k not in found:
            found[k] = None
            stack.extend(children(plan.rule.nodes[k]))
    return list(found)


def _function(writer: _Writer, place: _Place, prefix: str) -> tuple[str, _Place]:
    """Begin a nested function; the place inside it."""
    name = writer.name(prefix)
    writer.line(place, f"def {name}():")
    inner = replace(place, indent=place.indent + 1, fail="return None", loops=0)
    writer.line(inner, f"nonlocal {', '.join(writer.variables)}")
    return name, inner


def _call(writer: _Writer, place: _Place, function: str) -> None:
    writer.line(place, f"result = {function}()")
    writer.line(place, "if result is not None: return result")


def _deepen(writer: _Writer, place: _Place) -> _Place:
    """A place where another loop may begin: in a function of its own if there are too many around it."""
    if place.loops < _DEEPEST_LOOP:
        return place
    name = writer.name("f")
    # The call must stand behind the definition, so the definition is wrapped into one statement that also calls it.
    writer.line(place, f"for {name}_once in (0,):")
    raise NotCompiled("too many choices in a row")


def _maybe(writer: _Writer, place: _Place, node: int, value: str, rest: _Rest) -> None:
    """A node that some alternative has matched already: equal then, else matched here."""
    known = replace(place, certain=place.certain | {node})
    after, inside = _function(writer, known, "after")
    _go(writer, inside, rest)
    writer.line(place, f"if v{node} == -2:")
    branch = replace(place, indent=place.indent + 1)
    fresh, body = _function(writer, branch, "fresh")
    free = frozenset(k for k in _below(writer.plan, node) if k in place.possible)
    body = replace(body, possible=body.possible - {node})
    _match_new(writer, body, node, value, _Rest(_return_call(after), None))
    writer.line(branch, f"result = {fresh}()")
    writer.line(branch, " = ".join(f"v{k}" for k in sorted({node} & free)) + " = -2")
    writer.line(branch, "if result is not None: return result")
    writer.line(branch, place.fail)
    writer.line(place, f"elif v{node} != {value}: {place.fail}")
    _call(writer, place, after)


def _return_call(function: str) -> _Step:
    def emit(writer: _Writer, place: _Place, rest: _Rest) -> None:
        _call(writer, place, function)

    return emit


def _match_new(writer: _Writer, place: _Place, node: int, value: str, rest: _Rest) -> None:
    pattern = writer.plan.rule.nodes[node]
    match pattern:
        case ir.LeafNode():
            _leaf(writer, place, node, pattern, value, rest)
        case ir.AltNode():
            _alternatives(writer, place, node, pattern, value, rest)
        case _:
            _inner(writer, place, node, pattern, value, rest)


def _leaf(writer: _Writer, place: _Place, node: int, pattern: ir.LeafNode, value: str, rest: _Rest) -> None:
    writer.line(place, f"v{node} = {value}")
    place = replace(place, certain=place.certain | {node})
    checks: list[str] = []
    if pattern.kind == "const":
        checks.append(f"op[v{node}] != '%const'")
    elif pattern.kind != "any":
        checks.append(f"not kind_fits({pattern.kind!r}, op[v{node}])")
    conditions = [constraint_code(c, node, writer.names) for c in pattern.constraints]
    if pattern.optional:
        if checks or conditions:
            writer.line(place, f"if v{node} != -1:")
            inner = replace(place, indent=place.indent + 1)
            for bad in checks:
                _check(writer, inner, bad)
            _conditions(writer, inner, conditions)
    else:
        _check(writer, place, " or ".join([f"v{node} < 0", *checks]))
        _conditions(writer, place, conditions)
    _go(writer, place, rest)


def _conditions(writer: _Writer, place: _Place, conditions: list[str]) -> None:
    """Checks whose evaluation may fail; a failure is as good as false."""
    conditions = [c for c in conditions if c != "True"]
    if not conditions:
        return
    writer.line(place, "try:")
    writer.line(place, f"    holds = {' and '.join(conditions)}")
    writer.line(place, "except FAILURES:")
    writer.line(place, "    holds = False")
    _check(writer, place, "not holds")


def _alternatives(writer: _Writer, place: _Place, node: int, pattern: ir.AltNode, value: str, rest: _Rest) -> None:
    """Each branch in turn, then what follows (one function, called from every branch)."""
    plan = writer.plan
    below = frozenset(_below(plan, node)) - {node}
    always = frozenset.intersection(*(frozenset(_certain_below(plan, branch)) for branch in pattern.branches))
    after_place = replace(
        place,
        certain=place.certain | {node} | always,
        possible=(place.possible | below) - always,
    )
    after, inside = _function(writer, after_place, "after")
    inside = replace(inside, certain=after_place.certain, possible=after_place.possible)
    conditions = [constraint_code(c, node, writer.names) for c in pattern.constraints]
    _conditions(writer, inside, conditions)
    _go(writer, inside, rest)
    reset = sorted(below - place.certain - place.possible)
    for choice, branch in enumerate(pattern.branches):
        name, body = _function(writer, place, "branch")
        body = replace(body, certain=place.certain, possible=place.possible)
        for k in reset:
            writer.line(body, f"v{k} = -2")
        writer.line(body, f"v{node} = {value}")
        writer.line(body, f"b{node} = {choice}")
        for variable in sorted({v.name for v in plan.rule.variables} - place.operators):
            writer.line(body, f"w_{variable} = None")
        _go(writer, body, _chain([_match_step(branch, value), _settle(node, value, choice), _return_call(after)], None))
        _call(writer, place, name)
    writer.line(place, place.fail)


def _settle(node: int, value: str, choice: int) -> _Step:
    """Inner alternatives of the same branch may have been tried in between: say again what was chosen."""

    def emit(writer: _Writer, place: _Place, rest: _Rest) -> None:
        writer.line(place, f"v{node} = {value}")
        writer.line(place, f"b{node} = {choice}")
        _go(writer, place, rest)

    return emit


def _certain_below(plan: MatchPlan, node: int) -> list[int]:
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


def _inner(writer: _Writer, place: _Place, node: int, pattern: ir.Pattern, value: str, rest: _Rest) -> None:
    """A call, tuple or projection: operator, distinctness, arity, what needs no operands, operands, constraints."""
    names = writer.names
    slot = f"v{node}"
    writer.line(place, f"{slot} = {value}")
    _check(writer, place, f"{slot} < 0")
    commuting = False
    parts: tuple[int | None | ir.Splice, ...]
    match pattern:
        case ir.CallNode():
            parts = pattern.operands
            if len(pattern.operators) == 1:
                _check(writer, place, f"op[{slot}] != {pattern.operators[0]!r}")
            else:
                _check(writer, place, f"op[{slot}] not in {names.constant(frozenset(pattern.operators))}")
            if pattern.variable is not None:
                place = _operator_variable(writer, place, pattern.variable, slot)
            commuting = bool(pattern.swappable) and len(parts) == 2
        case ir.TupleNode():
            parts = pattern.fields
            _check(writer, place, f"op[{slot}] is not TUPLE")
        case ir.ProjNode():
            parts = (pattern.base,)
            _check(writer, place, f"op[{slot}] is not PROJ")
        case _:
            raise AssertionError("not an inner node: this is a bug in gslang")
    if node in writer.plan.distinct:
        for other in sorted((place.certain | place.possible) & writer.plan.distinct):
            if _may_coincide(writer.plan, node, other):
                _check(writer, place, f"{slot} == v{other}")
    early = [c for c in pattern.constraints if _is_constant(c)]
    late = [c for c in pattern.constraints if not _is_constant(c)]
    _conditions(writer, place, [constraint_code(c, node, names) for c in early])
    operand = f"o{node}"
    writer.line(place, f"{operand} = operands[{slot}]")
    place = replace(place, certain=place.certain | {node}) if not late and False else place
    values = _arity(writer, place, node, parts, operand)
    if commuting and isinstance(pattern, ir.CallNode):
        place = _deepen(writer, place)
        first, second = writer.name("a"), writer.name("a")
        swap = f"(({operand}[0], {operand}[1]), ({operand}[1], {operand}[0]))"
        if len(pattern.swappable) < len(pattern.operators):
            swap = f"({swap} if op[{slot}] in {names.constant(pattern.swappable)} else ({operand},))"
        writer.line(place, f"for {first}, {second} in {swap}:")
        place = replace(place, indent=place.indent + 1, fail="continue", loops=place.loops + 1)
        values = [first, second]
    steps: list[_Step] = [
        _match_step(part, found) for part, found in zip(parts, values) if isinstance(part, int)
    ]
    steps.append(_constraints_step(node, late))
    _go(writer, place, _chain(steps, rest))


def _constraints_step(node: int, constraints: list[ir.Constraint | ir.SameAttributes]) -> _Step:
    def emit(writer: _Writer, place: _Place, rest: _Rest) -> None:
        place = replace(place, certain=place.certain | {node})
        _conditions(writer, place, [constraint_code(c, node, writer.names) for c in constraints])
        _go(writer, place, rest)

    return emit


def _operator_variable(writer: _Writer, place: _Place, variable: str, slot: str) -> _Place:
    name = f"w_{variable}"
    if variable in place.operators:
        _check(writer, place, f"op[{slot}] != {name}")
        return place
    if any(isinstance(node, ir.AltNode) for node in writer.plan.rule.nodes):
        raise NotCompiled("an operator variable beside alternatives")
    writer.line(place, f"{name} = op[{slot}]")
    return replace(place, operators=place.operators | {variable})


def _arity(
    writer: _Writer, place: _Place, node: int, parts: tuple[int | None | ir.Splice, ...], operand: str
) -> list[str]:
    """Check the number of operands; expressions for each. A missing trailing operand is absent (-1)."""
    rule = writer.plan.rule
    optional = [
        k for k, part in enumerate(parts)
        if part is None or _may_be_absent(rule, part)
    ]  # fmt: skip
    if not optional:
        _check(writer, place, f"len({operand}) != {len(parts)}")
        if len(parts) == 1:
            return [f"{operand}[0]"]
        return [f"{operand}[{k}]" for k in range(len(parts))]
    writer.line(place, f"if len({operand}) < {len(parts)}: {operand} += (-1,) * ({len(parts)} - len({operand}))")
    _check(writer, place, f"any(n != -1 for n in {operand}[{len(parts)}:])")
    for k, part in enumerate(parts):
        if part is None:
            _check(writer, place, f"{operand}[{k}] != -1")
    return [f"{operand}[{k}]" for k in range(len(parts))]


def _may_be_absent(rule: ir.CheckedRule, part: int | None | ir.Splice) -> bool:
    if isinstance(part, ir.Splice):
        raise NotCompiled("a sequence")
    pattern = None if part is None else rule.nodes[part]
    if isinstance(pattern, ir.AltNode):
        return any(_may_be_absent(rule, branch) for branch in pattern.branches)
    return isinstance(pattern, ir.LeafNode) and pattern.optional


def _may_coincide(plan: MatchPlan, a: int, b: int) -> bool:
    left, right = plan.rule.nodes[a], plan.rule.nodes[b]
    if isinstance(left, ir.CallNode) and isinstance(right, ir.CallNode):
        return not set(left.operators).isdisjoint(right.operators)
    return type(left) is type(right)


def _is_constant(constraint: ir.Constraint | ir.SameAttributes) -> bool:
    """Constraints that read nothing but the node itself; they can be tested before its operands."""
    if isinstance(constraint, ir.SameAttributes):
        return False
    match constraint.test:
        case ir.Equals(ir.Const()) | ir.ConstantEquals(ir.Const()) | ir.SplatEquals(ir.Const()) | ir.Anything():
            return True
    return False


# ── the end ───────────────────────────────────────────────────────────────────────────────────────────────────


def _finish(writer: _Writer, place: _Place, rest: _Rest) -> None:
    """Conditions 4 and 5, `where`, and handing over."""
    plan = writer.plan
    rule = plan.rule
    outputs = ", ".join(f"v{k}" for k in rule.outputs)
    bound = sorted(place.certain | place.possible)
    matched = ", ".join(f"v{k}" for k in bound)
    alternatives = any(isinstance(node, ir.AltNode) for node in rule.nodes)
    interior = sorted(rule.interior)
    if alternatives and interior:
        some = ", ".join(f"v{k}" for k in interior)
        _check(writer, place, f"not private(G, ({some},), {{{matched}}}, ({outputs},))")
    else:
        for k in interior:
            alone = _number_of_users(rule, k) == 1
            test = f"len(users[v{k}]) == 1" if alone else "False"
            _check(
                writer, place,
                f"v{k} in G.output_uses or not ({test} or all(u in ({matched},) for u in users[v{k}]))",
            )  # fmt: skip
    leaves = [k for k in bound if isinstance(rule.nodes[k], ir.LeafNode)]
    if len(rule.outputs) > 1 or alternatives:
        inputs = ", ".join(f"v{k}" for k in leaves)
        _check(writer, place, f"not convex(G, ({inputs}{',' if inputs else ''}), ({outputs},))")
    _conditions(writer, place, [f"truth({code_of(condition, writer.names)})" for condition in rule.where])
    writer.line(place, f"result = accept({_scope_code(writer, place)})")
    writer.line(place, "if result is not None: return result")


def _number_of_users(rule: ir.CheckedRule, node: int) -> int:
    return sum(node in children(other) for other in rule.nodes)


def _private(graph: Graph, interior: tuple[int, ...], matched: set[int], outputs: tuple[int, ...]) -> bool:
    for node in interior:
        if node >= 0 and node not in outputs:
            if node in graph.output_uses or any(user not in matched for user in graph.users[node]):
                return False
    return True


def _convex(graph: Graph, inputs: tuple[int, ...], outputs: tuple[int, ...]) -> bool:
    wanted = set(outputs)
    present = [node for node in inputs if node >= 0]
    if any(node in wanted for node in present):
        return False
    inner = [node for node in present if graph.operands[node]]
    return len(wanted) < 2 or not inner or not depends(graph, inner, wanted)


def _same_attributes(graph: Graph, dialect: Any, a: int, b: int, without: tuple[str, ...]) -> bool:
    if a < 0 or b < 0:
        return False
    sides = []
    for node in (a, b):
        signature = dialect.operators.get(graph.op[node])
        given = graph.attrs[node]
        sides.append(signature.complete(given) if signature else dict(given))
    left, right = sides
    names = [name for name in {**left, **right} if name not in without]
    return all(name in left and name in right and equal(left[name], right[name]) for name in names)


__all__ = ["FAILURES", "UNBOUND", "compile_matcher", "source_of"]
