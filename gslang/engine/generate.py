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

from collections.abc import Callable
from functools import cache, partial
from typing import Any, Literal

from gslang.base.reachable import reachable
from gslang.check import checked as ir
from gslang.check.levels import choice_levels, levels
from gslang.check.walks import conjuncts
from gslang.engine import machine
from gslang.engine.code_writer import Place, Rest, Step, Writer, chain, go
from gslang.engine.edits import BuildError, Edits, edits_of
from gslang.engine.generate_blocks import Growing, fields_step, output_block_step
from gslang.engine.generate_end import finish
from gslang.engine.generate_forward import forward, is_known
from gslang.engine.generate_known import emit_conditions
from gslang.engine.generate_nodes import match_step
from gslang.engine.generate_runs import run_step, runs
from gslang.engine.generate_stamp import RUNTIME as STAMP_RUNTIME
from gslang.engine.lower import may_be_absent
from gslang.engine.match_runtime import RUNTIME as MATCH_RUNTIME
from gslang.engine.match_runtime import candidates_of, scope_of
from gslang.engine.program import MatchProgram
from gslang.engine.rewrite import Failure, Rewriter, apply_match, record
from gslang.engine.scope import Scope
from gslang.engine.target_runtime import RUNTIME as TARGET_RUNTIME
from gslang.engine.tries import Tries
from gslang.engine.value_code import RUNTIME, Namespace, NotCompiled, written_out
from gslang.graph.graph import (
    CONST,
    DEAD,
    INPUT,
    NO_ATTRS,
    OUTLINE,
    PARAM,
    PROJ,
    TUPLE,
    VARIABLES,
    Graph,
)

Accept = Callable[[Scope], object]
Matcher = Callable[[int, Accept], object]


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


def _readable_matcher(plan: MatchProgram, graph: Graph) -> Matcher:
    def match(start: int, accept: Accept) -> object:
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
        **RUNTIME, **MATCH_RUNTIME, **TARGET_RUNTIME, **STAMP_RUNTIME, **objects,
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
        "Growing": Growing,
        "runs": runs,
        "Failure": Failure,
        "BuildError": BuildError,
        "record": record,
        "scope_of": partial(scope_of, rule),
        "candidates_of": partial(candidates_of, rule.dialect),
        "tries_of": partial(Tries, rule.name),
    }
    exec(compile(text, f"<{mode} of {rule.name}>", "exec"), space)
    make: Callable[..., Any] = space["make"]
    return make


def source_of(plan: MatchProgram, mode: Mode = "match") -> tuple[str, dict[str, object]]:
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
    if rule.output_block is not None:
        steps = [output_block_step(rule.output_block)]
    else:
        finding = [match_step(rule.outputs[0], "start"), *map(_further_output, rule.outputs[1:])]
        steps = [part for step in finding for part in (step, _early_conditions)]
    go(writer, Place(2, "return None"), chain([*steps, finish(rewrites)], None))
    starting = {"v": "-2", "b": "-1", "I": "()", "x": "0", "c": "None", "t": "()", "g": "None"}
    nested = any(line.lstrip().startswith("nonlocal ") for line in writer.lines)
    always = set() if nested or alternations else _always(rule)
    head = [
        f"def make(G{', E' if rewrites else ''}):",
        "    op, operands, attrs, users, types = G.op, G.operands, G.attrs, G.users, G.types",
        "    label, output_uses = G.ordered().label, G.output_uses", *(_EDITING if rewrites else ()),
        *(
            f"    {name} = candidates_of(G, {writer.names.constant(site)})"
            for name, site in writer.sites.items()
        ),
        *(["    tried = tries_of(G)"] if writer.tries else ()),
        *(f"    known_{k} = {{}}" for k in range(writer.tables)),
        *(f"    relevant_{k} = E.relevant({made})" for k, made in enumerate(writer.relevant)),
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
    "    note, remove, place_new, refine_types = E.note, E.remove, E.place_new, E.refine_types",
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
    found = reachable(rule.outputs, lambda node: rule.nodes[node].below)
    return {node for node in found if rule.nodes[node].block is None}


def _further_output(node: int) -> Step:
    def emit(writer: Writer, place: Place, rest: Rest) -> None:
        if node in place.certain:
            if may_be_absent(writer.plan.rule, node):
                writer.check(place, f"v{node} < 0")
            go(writer, place, rest)
        elif node in place.possible:
            raise NotCompiled("an output that only some alternative matches")
        else:
            writer.listed_by_operator.add(node)
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
    emit_conditions(writer, place, ready)
    writer.tested += ready
    go(writer, place, rest)


__all__ = [
    "Accept", "Matcher", "Rewriter", "compile_matcher", "compile_rewriter", "edits_of", "source_of",
]
