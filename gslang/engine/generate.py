"""The generated matcher and rewriter: one Python function per rule, straight-line code with a loop for each
choice.

`compile_matcher(plan)(graph)` gives `match(start, accept)`: it finds the matches whose first output is
`start` in the same order as `machine.matches`, hands each one's scope to `accept`, and returns the first
result that is not None.

`compile_rewriter(plan)(edits)` gives `rewrite(start, seeds)`: the same search, but the first match that can
be applied is applied in place by code generated from the target. It returns True, a `Failure`, or None where
nothing was done. With `traced` the same code also notes what it did, and returns that (`Application`) instead
of True.

The few rules that are beyond it (`NotCompiled`) are run by the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import cache, partial
from typing import Any, Literal

from gslang.check import checked as ir
from gslang.check.definite import children
from gslang.check.levels import choice_levels, levels
from gslang.engine import machine
from gslang.engine import program as mp
from gslang.engine.candidates import Candidates, canonical, field_of
from gslang.engine.code_writer import Place, Rest, Step, Writer, chain, go
from gslang.engine.conditions import is_blocked
from gslang.engine.edits import BuildError, Edits, edits_of
from gslang.engine.generate_blocks import Growing, fields_step, output_block_step
from gslang.engine.generate_forward import conjuncts, forward, is_known
from gslang.engine.generate_nodes import match_step
from gslang.engine.generate_outline import outlined_layout
from gslang.engine.generate_replace import all_fresh, all_slots, emit_outlined, emit_replacement, scope_code
from gslang.engine.generate_runs import run_step, runs
from gslang.engine.generate_stamp import RUNTIME as STAMP_RUNTIME
from gslang.engine.generate_stamp import emit_key, emit_stamped, layout_of
from gslang.engine.generate_target import emit_target
from gslang.engine.lower import may_be_absent
from gslang.engine.program import MatchProgram
from gslang.engine.rewrite import Failure, apply_match, record
from gslang.engine.scope import Instance, Scope
from gslang.engine.target_runtime import RUNTIME as TARGET_RUNTIME
from gslang.engine.value_code import (
    RUNTIME,
    Namespace,
    NotCompiled,
    equal_attributes,
    truth_code,
    written_out,
)
from gslang.engine.values import FAILURES, equal
from gslang.engine.variants import variants
from gslang.graph.graph import CONST, DEAD, INPUT, NO_ATTRS, OUTLINE, PARAM, PROJ, TUPLE, VARIABLES, Graph

Accept = Callable[[Scope], Any]
Matcher = Callable[[int, Accept], Any]
Rewriter = Callable[[int, list[int]], Any]


def compile_matcher(plan: MatchProgram) -> Callable[[Graph], Matcher]:
    """The matcher of a rule."""
    make = _compiled(plan, "match")
    return make if make is not None else partial(_readable_matcher, plan)


def compile_rewriter(plan: MatchProgram, traced: bool = False) -> Callable[[Edits], Rewriter]:
    """The rewriter of a rule."""
    make = _compiled(plan, "trace" if traced else "rewrite")
    if make is not None:
        return lambda edits: make(edits.graph, edits)  # type: ignore[no-any-return]
    return partial(readable_rewriter, plan, traced=traced)


def is_compiled(plan: MatchProgram) -> bool:
    """True if a rule's rewriter is generated code."""
    return _compiled(plan, "rewrite") is not None


def _readable_matcher(plan: MatchProgram, graph: Graph) -> Matcher:
    def match(start: int, accept: Accept) -> Any:
        for scope in machine.matches(plan, graph, start):
            result = accept(scope)
            if result is not None:
                return result
        return None

    return match


def readable_rewriter(plan: MatchProgram, edits: Edits, traced: bool = False) -> Rewriter:
    """The rewriter of a rule that no code is generated for."""
    match = compile_matcher(plan)(edits.graph)
    return lambda start, seeds: match(start, lambda scope: apply_match(scope, edits, seeds, traced))


Mode = Literal["match", "rewrite", "trace"]
"""Modes of generated code: yield the match, apply it, or apply it and return a record of it."""


_MOST_NODES = 100  # of a pattern, and levels of a rule: each is some levels of recursion here
_MOST_CHOICES = 6  # of a target inside one another: what both sides use is written in both
# parts of a named value where it is written out, as it is wherever a variable cannot keep it
_LONGEST_VALUE = 5_000


@cache
def _compiled(plan: MatchProgram, mode: Mode) -> Callable[..., Any] | None:
    try:
        text, objects = source_of(plan, mode)
    except NotCompiled:
        return None
    rule = plan.rule
    space: dict[str, Any] = {
        **RUNTIME, **TARGET_RUNTIME, **STAMP_RUNTIME, **objects,
        "Scope": Scope,
        "rule": rule,
        "D": rule.dialect,
        "TUPLE": TUPLE,
        "PROJ": PROJ,
        "CONST": CONST,
        "DEAD": DEAD,
        "OUTLINE": OUTLINE,
        "INPUT": INPUT,
        "PARAM": PARAM,
        "VARIABLES": VARIABLES,
        "FIXED": frozenset((CONST, PARAM)),
        "NO_ATTRS": NO_ATTRS,
        "private": _private,
        "convex": _convex,
        "same_attributes": _same_attributes,
        "canonical": canonical,
        "Growing": Growing,
        "runs": runs,
        "Failure": Failure,
        "BuildError": BuildError,
        "record": record,
        "scope_of": partial(_scope_of, rule),
        "candidates_of": partial(_candidates_of, rule.dialect),
    }
    exec(compile(text, f"<{mode} of {rule.name}>", "exec"), space)
    make: Callable[..., Any] = space["make"]
    return make


def source_of(plan: MatchProgram, mode: Mode = "match") -> tuple[str, dict[str, Any]]:
    """The generated Python text of a rule's matcher or rewriter, and the objects it refers to by name.

    Raises `NotCompiled`.
    """
    rule, rewrites = plan.rule, mode != "match"
    if (
        len(rule.nodes) > _MOST_NODES or levels(rule) > _MOST_NODES or choice_levels(rule) > _MOST_CHOICES
        or written_out(rule) > _LONGEST_VALUE
    ):
        raise NotCompiled("it is too long")
    writer = Writer(plan, Namespace(rule), fields_step, run_step, traced=mode == "trace")
    blocks = range(len(rule.blocks))
    alternations = [k for k, node in enumerate(rule.nodes) if isinstance(node, ir.AltNode)]
    variables = (
        [f"v{k}" for k in range(len(rule.nodes))] + [f"b{k}" for k in alternations]
        + [f"c{k}" for k in range(len(rule.captures))]
    )
    variables += (
        [f"I{b}" for b in blocks] + [f"x{b}" for b in blocks] + (["taken", "growing"] if rule.blocks else [])
    )
    writer.variables = tuple(variables)
    steps = [found for step in plan.steps for found in _finding(step)]
    go(writer, Place(2, "return None"), chain([*steps, _finish(rewrites)], None))
    starting = {"v": "-2", "b": "-1", "I": "()", "x": "0", "c": "None", "t": "()", "g": "None"}
    nested = any(line.lstrip().startswith("nonlocal ") for line in writer.lines)
    always = set() if nested or alternations else _always(rule)
    head = [
        f"def make(G{', E' if rewrites else ''}):",
        "    op, operands, attrs, users, types = G.op, G.operands, G.attrs, G.users, G.types",
        "    label = G.ordered().label", *(_EDITING if rewrites else ()),
        *(
            f"    {name} = candidates_of(G, {writer.names.constant(site)})"
            for name, site in writer.sites.items()
        ),
        *(f"    relevant_{k} = E.relevant({operators})" for k, operators in enumerate(writer.relevant)),
        *(f"    outlining_{k} = E.outlines({operators})" for k, operators in enumerate(writer.outlines)),
        f"    def {'rewrite(start, seeds)' if rewrites else 'match(start, accept)'}:",
        *(
            f"        {name} = {starting[name[0]]}"
            for name in variables if not (name[0] == "v" and int(name[1:]) in always)
        ),
    ]
    name = "rewrite" if rewrites else "match"
    return "\n".join(
        [*head, *writer.lines, "        return None", f"    return {name}"]
    ) + "\n", writer.names.objects


_EDITING = (
    "    add, infer, type_mismatch = E.add, E.infer, E.type_mismatch",
    "    replace_one, replace = E.replace_one, E.replace",
    (
        "    note, remove, place_new, refine_types, output_uses = E.note, E.remove, E.place_new, "
        "E.refine_types, G.output_uses"
    ),
    (
        "    additions, add_user, names, values, looked_at = G.additions, G.add_user, G.names, G.values, "
        "E.looked_at"
    ),
    "    op_append, operands_append, attrs_append = op.append, operands.append, attrs.append",
    "    names_append, users_append, types_append = names.append, users.append, types.append",
    "    op_extend, operands_extend, attrs_extend = op.extend, operands.extend, attrs.extend",
    "    names_extend, users_extend, types_extend = names.extend, users.extend, types.extend",
)


def _always(rule: ir.CheckedRule) -> set[int]:
    """Pattern nodes that are matched in line in every match."""
    found: set[int] = set()
    stack = list(rule.outputs)
    while stack:
        node = stack.pop()
        if node not in found:
            found.add(node)
            stack.extend(children(rule.nodes[node]))
    return {node for node in found if rule.nodes[node].block is None}


def _finding(step: mp.Step) -> list[Step]:
    """The code that finds what a step of the program finds; of those that test the whole none, which is
    `_finish`.
    """
    match step:
        case mp.Start(register):
            return [match_step(register, "start"), _early_conditions]
        case mp.Users(register):
            return [_further_output(register), _early_conditions]
        case mp.Grow(block):
            return [output_block_step(block)]
        case mp.Valid() | mp.Extend() | mp.Bounds():  # parts of growing
            return []
        case mp.Late() | mp.Apart() | mp.Private() | mp.Convex() | mp.Guard():
            return []
    raise NotCompiled(type(step).__name__)


def _further_output(node: int) -> Step:
    def emit(writer: Writer, place: Place, rest: Rest) -> None:
        if node in place.certain:
            if may_be_absent(writer.plan.rule, node):
                writer.check(place, f"v{node} < 0")
            go(writer, place, rest)
        elif node in place.possible:
            raise NotCompiled("an output that only some alternative matches")
        else:
            forward(
                writer, place, node, lambda inner, n: go(writer, inner, Rest(match_step(node, n), rest)),
                place.certain,
            )

    return emit


def _early_conditions(writer: Writer, place: Place, rest: Rest) -> None:
    """Parts of `where` that read nothing but what is matched already: tested before further outputs are
    looked for.
    """
    rule = writer.plan.rule
    ready = [
        c for c in conjuncts(rule.where) if c not in writer.tested and is_known(rule, c, place.certain, None)
    ]
    writer.conditions(place, [truth_code(condition, writer.names) for condition in ready])
    writer.tested += ready
    go(writer, place, rest)


# ── the end ─────────────────────────────────────────────────────────────────────────────────────────────────


def _finish(rewrites: bool) -> Step:
    """Conditions 4 and 5, `where`, and handing over or rewriting."""

    def emit(writer: Writer, place: Place, rest: Rest) -> None:
        rule = writer.plan.rule
        templates = frozenset(k for k, node in enumerate(rule.nodes) if node.block is not None)
        bound = sorted((place.certain | place.possible) - templates)
        writer.sure = place.certain | templates
        outputs = _outputs_code(rule)
        matched = all_slots(rule, [f"v{k}" for k in bound])
        _check_outputs(writer, place, bound)
        _check_interior(writer, place, bound, matched, outputs)
        alternatives = any(isinstance(node, ir.AltNode) for node in rule.nodes)
        if rule.output_block is None and (len(rule.outputs) > 1 or alternatives):
            leaves = [f"v{k}" for k in bound if isinstance(rule.nodes[k], ir.LeafNode)]
            inputs = all_slots(
                rule, leaves, [k for k in sorted(templates) if isinstance(rule.nodes[k], ir.LeafNode)]
            )
            # an input that depends on an output has a greater label
            if not rule.blocks and leaves and not alternatives:
                writer.line(place, f"highest = max({', '.join(f'label[{leaf}]' for leaf in leaves)}, 0)")
                earliest = ", ".join(f"label[v{k}]" for k in rule.outputs)
                writer.check(place, f"highest >= min({earliest}) and not convex(G, {inputs}, {outputs})")
                writer.highest_of = frozenset(k for k in bound if isinstance(rule.nodes[k], ir.LeafNode))
            else:
                writer.check(place, f"not convex(G, {inputs}, {outputs})")
        writer.names.keeps_lets = True
        mark = len(writer.lines)
        writer.conditions(
            place, [truth_code(c, writer.names) for c in conjuncts(rule.where) if c not in writer.tested]
        )
        for variable in rule.variables:
            _name_operator(writer, place, variable.name)
        if rewrites:
            _rewrite(writer, place, bound, templates, outputs)
        else:
            _hand_over(writer, place, bound)
        writer.names.keeps_lets = False
        if writer.names.lets:
            names = " = ".join(sorted(writer.names.lets.values()))
            writer.lines.insert(mark, "    " * place.indent + f"{names} = UNSET")

    return emit


def _outputs_code(rule: ir.CheckedRule) -> str:
    if rule.output_block is None:
        return f"({''.join(f'v{k}, ' for k in rule.outputs)})"
    return f"[i[{rule.blocks[rule.output_block].root}] for i in I{rule.output_block}]"


def _check_outputs(writer: Writer, place: Place, bound: list[int]) -> None:
    """Condition 3 for nodes that are outputs only if some branch was chosen."""
    rule, maybe_outputs = writer.plan.rule, writer.plan.maybe_outputs
    chosen = {
        m.node: " or ".join(" and ".join(f"b{a} == {k}" for a, k in way) for way in m.paths)
        for m in maybe_outputs
    }
    for maybe in maybe_outputs:
        inside = [k for k in maybe.others if rule.nodes[k].block is not None]
        sure = all_slots(rule, [f"v{k}" for k in maybe.others if k in bound and k not in chosen], inside)
        same = [
            f"v{maybe.node} in {sure}",
            *(f"v{maybe.node} == v{k} and ({chosen[k]})" for k in maybe.others if k in chosen),
        ]
        writer.check(place, f"({chosen[maybe.node]}) and ({' or '.join(same)})")


def _check_interior(writer: Writer, place: Place, bound: list[int], matched: str, outputs: str) -> None:
    """Condition 4: no user outside, no graph output."""
    rule = writer.plan.rule
    alternatives = any(isinstance(node, ir.AltNode) for node in rule.nodes)
    interior = [k for k in sorted(rule.interior) if k in bound]
    if rule.blocks:
        inner = [
            k
            for k in sorted(rule.interior)
            if rule.nodes[k].block is not None and rule.nodes[k].block != rule.output_block
        ]
        if interior or inner:
            some = all_slots(rule, [f"v{k}" for k in interior], inner)
            writer.check(place, f"not private(G, {some}, {{*{matched}}}, {outputs})")
    elif alternatives and interior:
        some = ", ".join(f"v{k}" for k in interior)
        writer.check(place, f"not private(G, ({some},), {{*{matched}}}, {outputs})")
    else:
        for k in interior:
            alone = sum(k in children(other) for other in rule.nodes) == 1
            test = f"len(users[v{k}]) == 1" if alone else "False"
            writer.check(
                place, f"v{k} in G.output_uses or not ({test} or all([u in {matched} for u in users[v{k}]]))"
            )


def _name_operator(writer: Writer, place: Place, variable: str) -> None:
    """`w_f`: the operator that variable `f` matched."""
    nodes = writer.plan.rule.nodes
    same = [k for k, node in enumerate(nodes) if isinstance(node, ir.CallNode) and node.variable == variable]
    sure = [k for k in same if k in place.certain]
    if sure:
        writer.line(place, f"w_{variable} = op[v{sure[0]}]")
        return
    inside = "".join(
        f"op[I{nodes[k].block}[0][{k}]] if I{nodes[k].block} else "
        for k in same if nodes[k].block is not None
    )
    choice = "".join(f"op[v{k}] if v{k} != -2 else " for k in same if k in place.possible)
    writer.line(place, f"w_{variable} = {inside}{choice}None")


def _hand_over(writer: Writer, place: Place, bound: list[int]) -> None:
    writer.line(place, f"result = accept({scope_code(writer, bound)})")
    writer.line(place, "if result is not None: return result")
    writer.line(place, place.fail)


def _rewrite(writer: Writer, place: Place, bound: list[int], templates: frozenset[int], outputs: str) -> None:
    """The code that `_apply` emits; once for each way in which optional inputs may be there, where the target
    tells them apart.
    """
    plan, names = writer.plan, writer.names
    several = [] if writer.traced else variants(plan.rule)
    for absent, rule in several:
        here = " and ".join(
            f"v{k} {'<' if k in absent else '>='} 0"
            for k, node in enumerate(plan.rule.nodes) if isinstance(node, ir.LeafNode) and node.optional
        )
        writer.line(place, f"if {here}:")
        writer.plan, writer.names = (
            replace(plan, rule=rule), replace(names, rule=rule, new_nodes={}, uncertain=None),
        )
        _apply(writer, place.deeper(), bound, templates, outputs)
    writer.plan, writer.names = plan, names
    if not several:
        _apply(writer, place, bound, templates, outputs)


def _apply(writer: Writer, place: Place, bound: list[int], templates: frozenset[int], outputs: str) -> None:
    """Build, compare types, replace. A value that is not known means that this is no match: go on."""
    rule = writer.plan.rule
    writer.line(place, "first_new = len(op)")
    if writer.traced:
        writer.line(place, "removed = []")
    inner = place.deeper()
    layout = layout_of(writer)
    if layout is None:
        single = _build(writer, place)
    else:
        stamps = emit_key(writer, place, layout)
        if (
            not writer.traced and all_fresh(writer, layout)
            and (outlined := outlined_layout(rule, layout)) is not None
        ):
            emit_outlined(writer, place, outlined, len(layout.operators))
        writer.line(place, "if stamp is None:")
        writer.line(inner, "looked_at.clear()")
        single = _build(writer, inner)
        writer.line(inner, f"keep_stamp(E, {stamps}, key, first_new)")
        writer.line(place, "else:")
        emit_stamped(writer, inner, layout)
        outputs_now = (
            "[*projected]" if layout.several is not None
            else layout.outputs[0] if single
            else f"({', '.join(layout.outputs)},)"
        )
        writer.line(inner, f"now = {outputs_now}")
    one = single and rule.output_block is None and len(rule.outputs) == 1
    emit_replacement(writer, place, layout, one, single, outputs, bound, templates)


def _build(writer: Writer, place: Place) -> bool:
    """Emit the code that makes the nodes one by one; whether `now` is a single node."""
    inner = place.deeper()
    writer.line(place, "try:")
    result, single = emit_target(writer, inner)
    writer.line(inner, f"now = {result}")
    writer.line(place, "except FAILURES:")
    writer.line(inner, "G.discard_from(first_new)")
    writer.line(inner, place.fail)
    writer.line(place, "except BuildError as error:")
    writer.line(inner, "G.discard_from(first_new)")
    writer.line(inner, "return Failure(rule.name, G.label(start), str(error))")
    return single


def _scope_of(
    rule: ir.CheckedRule, graph: Graph, slots: list[int], chosen: dict[int, int], captures: dict[int, Any],
    variables: dict[str, str], instances: list[list[dict[int, int]]],
) -> Scope:  # fmt: skip
    known = {name: operator for name, operator in variables.items() if operator is not None}
    tables = [[Instance(k, table) for k, table in enumerate(block)] for block in instances]
    return Scope(rule, graph, slots, chosen, captures, known, tables)


def _candidates_of(dialect: object, graph: Graph, site: Any) -> Candidates:
    parts = site.key

    def key_of(node: int) -> Any:
        try:
            return tuple([field_of(graph, dialect, node, path, field) for path, field in parts])
        except FAILURES:
            return None

    return Candidates(graph, site.levels, key_of)


def _private(graph: Graph, interior: tuple[int, ...], matched: set[int], outputs: Collection[int]) -> bool:
    if len(outputs) > 8:
        outputs = frozenset(outputs)
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
    return len(wanted) < 2 or not inner or not is_blocked(graph, inner, wanted, outputs[0])


def _same_attributes(graph: Graph, dialect: Any, a: int, b: int, without: tuple[str, ...]) -> bool:
    if a < 0 or b < 0:
        return False
    if a == b or (graph.op[a] == graph.op[b] and equal_attributes(graph.attrs[a], graph.attrs[b])):
        return True
    sides = []
    for node in (a, b):
        signature = dialect.operators.get(graph.op[node])
        given = graph.attrs[node]
        sides.append(signature.complete(given) if signature else dict(given))
    left, right = sides
    names = [name for name in {**left, **right} if name not in without]
    return all(name in left and name in right and equal(left[name], right[name]) for name in names)


__all__ = [
    "Accept", "Matcher", "Rewriter", "compile_matcher", "compile_rewriter", "edits_of", "is_compiled",
    "source_of",
]
