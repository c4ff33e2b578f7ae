"""Concrete graphs that a rule's source matches, with what stands there after the rule was applied."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field, replace
from functools import partial
from itertools import islice
from time import thread_time
from typing import Any

import numpy as np

from gslang.base.quick_dataclass import dataclass
from gslang.check import checked as ir
from gslang.check.levels import levels
from gslang.dialect.signature import REQUIRED, TypeInferenceError
from gslang.dialect.tensor_type import TensorType
from gslang.engine.edits import edits_of
from gslang.engine.lower import program_of
from gslang.engine.machine import matches
from gslang.engine.rewrite import Failure, apply_match
from gslang.engine.scope import Scope, holds
from gslang.engine.values import FAILURES
from gslang.graph.graph import CONST, INPUT, PARAM, Graph
from gslang.verify.comparison.compare import can_be_computed
from gslang.verify.decisions import Goal, seen
from gslang.verify.instances.features import features_of, open_attributes
from gslang.verify.instances.leaves import Misfit, Wishes
from gslang.verify.instances.make import Making
from gslang.verify.instances.solve import solve
from gslang.verify.instances.target_domains import outside_domain, undeclared_value
from gslang.verify.reads import names_types

_MOST_OPERANDS = 200  # of a call: each is drawn with a look at the others
_WHOLE_TYPES = ("int32", "int64", "int8", "uint8")
KEPT = 8  # of the seeds: what they led to is looked at twice
DEEPEST = 100  # levels of a side: instances, graphs over a field and proofs go down by recursion


@dataclass(frozen=True, slots=True)
class Instance:
    """A graph that the source matches. `after` is None where the target does not fit; `failure` then says
    why.

    `seen`: which way the rule's decisions went. `attributes`: (operator, attribute, value) of those that the
    rule leaves open. `dtypes`: of the outputs. `shown`: the graph as the rule saw it, where that is not
    `before`. `in_floats`: the same attempt with floats.
    """

    seed: int
    before: Graph
    after: Graph | None
    failure: str | None
    features: tuple[str, ...]
    seen: frozenset[tuple[int, bool]] = frozenset()
    attributes: frozenset[tuple[str, str, str]] = frozenset()
    shown: Graph | None = None
    in_floats: Callable[[], Instance | None] = lambda: None


def integer_types(instance: Instance) -> frozenset[str]:
    """The types of integers that values were drawn in or become; indices and counts that operators give are
    none.
    """
    drawn = [f.removeprefix("dtype ") for f in instance.features if f.startswith("dtype ")]
    given = [
        value
        for attrs in instance.before.attrs
        for name, value in (attrs or {}).items() if name in TYPE_ATTRIBUTES
    ]
    return frozenset(d for d in (*drawn, *given) if isinstance(d, str) and d.startswith(("int", "uint")))


TYPE_ATTRIBUTES = ("out_dtype", "dtype", "output_dtype", "output_datatype", "to")


@dataclass(slots=True)
class Search:
    """Statistics of the search for instances. `first`: what each of the first seeds led to, and whether
    literals were made on the way.
    """

    seeds: int = 0  # how many were tried
    found: int = 0
    obstacles: Counter[str] = field(default_factory=Counter)
    has_literals: bool = False
    first: dict[int, tuple[Instance | None, bool]] = field(default_factory=dict)

    @property
    def obstacle(self) -> str:
        """The most frequent reason for a failed attempt."""
        if not self.obstacles:
            return "no attempt was made"
        name, _ = min(self.obstacles.items(), key=lambda item: (-item[1], item[0]))
        return name


def instances(
    rule: ir.CheckedRule, search: Search, seed: int, seconds: float, attempts: int
) -> Iterator[Instance]:
    """Instances of `rule`, until `attempts` or `seconds` are used up; a search goes on where it was left.

    The same for the same seed, but for the time limit. None of a rule of more than `DEEPEST` levels, or with
    a call of more than `_MOST_OPERANDS`.
    """
    if levels(rule) > DEEPEST:
        search.obstacles[f"more than {DEEPEST} levels of operators"] += 1
        return
    if any(len(node.operands) > _MOST_OPERANDS for node in rule.nodes if isinstance(node, ir.CallNode)):
        search.obstacles[f"a call with more than {_MOST_OPERANDS} operands"] += 1
        return
    end = thread_time() + seconds
    for k in range(search.seeds, attempts):
        if thread_time() > end:
            return
        search.seeds += 1
        found = drawn(rule, search, seed, k)
        if found is not None:
            search.found += 1
            yield found


def drawn(rule: ir.CheckedRule, search: Search, seed: int, k: int, wide: bool = False) -> Instance | None:
    """The instance that a seed leads to. `wide`: literal numbers have more dimensions than inputs."""
    search.has_literals = False
    found = _attempt(rule, search, seed * 1_000_003 + k, wide=wide)
    if k < KEPT and not wide:
        search.first[k] = found, search.has_literals
    return found


def of_whole_numbers(rule: ir.CheckedRule, search: Search, seed: int, attempts: int) -> Iterator[Instance]:
    """Instances whose numbers are whole, as far as the rule leaves their types open."""
    for k in range(attempts):
        dtype = _WHOLE_TYPES[k % len(_WHOLE_TYPES)]
        if (found := _attempt(rule, search, (seed + 2) * 1_000_003 + k, dtype=dtype)) is not None:
            yield found


def towards(rule: ir.CheckedRule, goal: Goal, search: Search, seed: int, attempts: int) -> Instance | None:
    """An instance in which a decision goes as wanted, if one is found."""
    for k in range(attempts):
        found = _attempt(rule, search, seed * 1_000_003 + k, goal)
        if found is not None and can_be_computed(found.before, rule.dialect, seed):
            return found
    return None


def wished(
    rule: ir.CheckedRule, wishes: Wishes, seed: int, search: Search, made: set[str] | None
) -> Instance | None:
    """An instance with these fields of pattern nodes (`leaves.Wishes`), as far as the source's constraints
    leave them open; None if there is none, or it is one of those `made` before, to which it is added. `made`
    does not tell apart such as differ in numbers only: None lets all pass.
    """
    return _attempt(rule, search, seed, first=wishes, made=made)


def stressing(
    rule: ir.CheckedRule, attribute: tuple[str, str], search: Search, seed: int, attempts: int
) -> Iterator[Instance]:
    """Instances in which a call of the operator has an uncommon value of the attribute, and most other open
    attributes too.
    """
    for k in range(attempts):
        found = _attempt(rule, search, (seed + 1) * 1_000_003 + k, stressed=attribute)
        if found is not None and can_be_computed(found.before, rule.dialect, seed):
            yield found


def starts_of(graph: Graph) -> list[int]:
    """Where the match of an instance may start: at an output, or at an operand of one that `surround` added.
    """
    used = [operand for output in graph.outputs for operand in graph.operands[output]]
    return list(dict.fromkeys((*graph.outputs, *used)))


def match_in(rule: ir.CheckedRule, graph: Graph) -> Scope | None:
    """The match that an instance's rule was applied to, in its graph."""
    plan = program_of(rule)
    found = (scope for start in starts_of(graph) for scope in islice(matches(plan, graph, start), 1))
    return next(found, None)


def instances_on(rule: ir.CheckedRule, graphs: Iterable[Graph], search: Search) -> Iterator[Instance]:
    """The instances among given graphs; of those whose outputs other nodes compute too, the first match
    counts.
    """
    plan = program_of(rule)
    for k, graph in enumerate(graphs):
        before = graph.copy()
        for start in graph.reverse_post_order():
            found = next(matches(plan, graph, start), None)
            if found is None:
                continue
            decided = frozenset(seen(rule, found))
            result = apply_match(found, edits_of(graph, rule.dialect), [])
            if result is not None:
                failure = result.message if isinstance(result, Failure) else None
                search.found += 1
                yield Instance(
                    -1 - k, before, None if failure is not None else graph, failure, ("own test",), decided
                )
                break


@np.errstate(over="ignore")  # a rule's numbers may be none of a constant's narrow type
def _attempt(
    rule: ir.CheckedRule,
    search: Search,
    seed: int,
    goal: Goal | None = None,
    wide: bool = False,
    stressed: tuple[str, str] | None = None,
    dtype: str | None = None,
    first: Wishes | None = None,
    made: set[str] | None = None,
) -> Instance | None:
    """One instance, or None, also for one of those `made` before. `first`: wishes to begin with. Where a
    condition fails that an equation could hint, or a decision goes another way than the goal, it is tried
    again with that wish.
    """
    wishes: dict[tuple[int, str], Any] = dict(first or {})
    tried: set[str] = set()  # arrays have no plain equality
    for _ in range((6 if goal is None else 12) + len(rule.where)):
        if (text := _text_of_wishes(wishes)) in tried:
            return None  # what is wished for decides: it would go round in circles
        tried.add(text)
        making = Making(rule, seed, wishes, wide, stressed, dtype)
        graph = _graph_of(making, search, _asks_for_nothing(first))
        search.has_literals |= making.has_literals
        if graph is None:
            if not (wish := _early_wish(rule, making)):
                return None
            wishes.update(wish)
            continue
        text = "" if made is None else text_of(graph)
        if made is not None and text in made:
            return None
        aimed = {} if goal is None else _aimed(goal, making)
        instance = _applied(rule, making, graph, seed)
        if instance is not None and (goal is None or goal.key in instance.seen and _counts(rule, instance)):
            if made is not None:
                made.add(text)
            same = _default_types(rule) | {
                key: value for key, value in (first or {}).items() if not _is_integer_type(key, value)
            }
            again = partial(_attempt, rule, search, seed, goal, wide, stressed, "float32", same)
            return replace(instance, in_floats=again)
        if instance is not None and goal is not None and goal.key in instance.seen:
            return None
        if instance is not None:
            wish, why = aimed, ""
        else:
            wish, why = _wish(rule, making)
        if why:
            search.obstacles[why] += 1
        if not wish:
            return None
        wishes.update(wish)
    return None


def _text_of_wishes(wishes: Wishes) -> str:
    """A text by which wishes are told apart; NumPy's own for arrays takes long and leaves out numbers."""
    return repr([
        (key, (value.shape, value.dtype.name, value.tobytes()) if isinstance(value, np.ndarray) else value)
        for key, value in sorted(wishes.items(), key=lambda item: item[0])
    ])


def _counts(rule: ir.CheckedRule, instance: Instance) -> bool:
    """False if the target does not fit an instance of integers that the rule may not be meant for."""
    return instance.after is not None or names_types(rule) or not integer_types(instance)


def _default_types(rule: ir.CheckedRule) -> dict[tuple[int, str], object]:
    """The defaults of attributes that are element types, such as that of an operand."""
    found: dict[tuple[int, str], object] = {}
    for number, call in rule.calls.items():
        for name in TYPE_ATTRIBUTES:
            specs = [rule.dialect.operators[operator].attributes.get(name) for operator in call.operators]
            defaults = {spec.default for spec in specs if spec is not None and spec.default is not REQUIRED}
            if len(defaults) == 1:
                found[number, name] = defaults.pop()
    return found


def _is_integer_type(key: tuple[int, str], value: object) -> bool:
    is_type = key[1] in TYPE_ATTRIBUTES
    return is_type and isinstance(value, str) and value.startswith(("int", "uint"))


def _asks_for_nothing(wishes: Wishes | None) -> bool:
    """True if tensors without elements are wished for."""
    shapes = [value for (_, field), value in (wishes or {}).items() if field == "shape"]
    return any(isinstance(shape, tuple) and 0 in shape for shape in shapes)


def _graph_of(making: Making, search: Search, empty: bool) -> Graph | None:
    """The graph of an attempt; None where it leads nowhere, and the reason is counted. `empty`: it may have
    no elements.
    """
    try:
        graph = making.run()
    except (Misfit, TypeInferenceError) as error:
        search.obstacles[f"no graph that matches the source was found: {error}"] += 1
        return None
    except FAILURES as error:
        search.obstacles[f"a value of the source could not be evaluated: {error}"] += 1
        return None
    unfit = _refused_type(graph, making.rule) or undeclared_value(graph, making.rule.dialect)
    if unfit is not None:
        search.obstacles[unfit] += 1
        return None
    if not empty and _says_nothing(making, graph):
        search.obstacles["nothing to compute: a dimension is 0"] += 1
        return None
    return graph


def _says_nothing(making: Making, graph: Graph) -> bool:
    """True if nothing is computed, and by the target neither: what calls make empty may be there afterwards.
    """
    if not all(_is_empty(graph, output) for output in graph.outputs) or is_about_nothing(graph):
        return False
    if any(_is_empty(graph, n) for n in graph.nodes() if graph.op[n] in (INPUT, PARAM, CONST)):
        return True
    applied = _applied(making.rule, making, graph.copy(), making.seed)
    return applied is None or applied.after is not None


def text_of(graph: Graph) -> str:
    """The operators, types and attributes of a graph's nodes, by which instances are told apart."""
    return repr([(graph.op[n], graph.types[n], graph.attrs[n]) for n in graph.reverse_post_order()])


def _is_empty(graph: Graph, node: int) -> bool:
    return 0 in (getattr(graph.types[node], "shape", None) or ())


def is_about_nothing(graph: Graph) -> bool:
    """True if a call has an attribute that makes a difference only where there are no elements."""
    return any(attrs is not None and attrs.get("allowzero") for attrs in graph.attrs)


def _refused_type(graph: Graph, rule: ir.CheckedRule) -> str | None:
    """Why no file holds such a graph: operands of data types that their operator does not take, or not
    together; None where all are taken.
    """
    for node in graph.nodes():
        operands = graph.operands[node]
        types = tuple([graph.types[o] if o >= 0 else None for o in operands])
        there = tuple([k for k, o in enumerate(operands) if o >= 0])
        if rule.dialect.refuses is not None and graph.op[node] not in (INPUT, PARAM, CONST):
            try:
                rule.dialect.refuses(
                    graph.meta, graph.op[node], graph.attrs[node], types,
                    lambda k: graph.op[operands[k]] is CONST, there,
                )
            except TypeInferenceError as error:
                return str(error)
        signature = rule.dialect.get(graph.op[node])
        for spec, operand in zip(() if signature is None else signature.operands, graph.operands[node]):
            type_ = graph.types[operand] if operand >= 0 else None
            if spec.variadic or not isinstance(type_, TensorType) or type_.dtype is None:
                continue
            if not spec.takes(type_.dtype):
                return f"`{graph.op[node]}` does not accept {type_.dtype} as `{spec.name}`"
    return None


def _applied(rule: ir.CheckedRule, making: Making, graph: Graph, seed: int) -> Instance | None:
    plan = program_of(rule)
    if not graph.outputs:
        return None
    before = graph.copy()
    for start in starts_of(graph):
        for scope in matches(plan, graph, start):
            features, attributes = features_of(making, scope, graph), open_attributes(scope, graph)
            decided = frozenset(seen(rule, scope))
            result = apply_match(scope, edits_of(graph, rule.dialect), [])
            if isinstance(result, Failure):
                return Instance(seed, before, None, result.message, features, decided)
            if result is None:
                break
            if (outside := outside_domain(graph, rule.dialect, len(before.op))) is not None:
                return Instance(seed, before, None, outside, features, decided)
            return Instance(seed, before, graph, None, features, decided, attributes)
    return None


def _aimed(goal: Goal, making: Making) -> Wishes:
    """Wishes that make a decision go as wanted, and those beside it as they have to."""
    if not goal.beside:
        return solve(goal.condition, making, goal.wanted)
    wish: dict[tuple[int, str], Any] = {}
    for condition, wanted in ((goal.condition, goal.wanted), *goal.beside):
        if holds(condition, making.scope) != wanted:
            wish = {**solve(condition, making, wanted), **wish}
    return wish


def _early_wish(rule: ir.CheckedRule, making: Making) -> Wishes:
    """The wish that makes conditions hold on those nodes of a source that were made, where making the others
    failed.
    """
    failing = [condition for condition in rule.where if not holds(condition, making.scope)]
    return _together([solve(condition, making) for condition in failing])


def _wish(rule: ir.CheckedRule, making: Making) -> tuple[Wishes, str]:
    """Wishes that make those `where` conditions hold that do not, and the first of these in words, or of such
    for which no way is known: the others may hold in another attempt.
    """
    failing = [
        (condition, span)
        for condition, span in zip(rule.where, rule.where_spans) if not holds(condition, making.scope)
    ]
    if not failing:
        return {}, "the matcher rejected every generated graph"
    wishes = [solve(condition, making) for condition, _ in failing]
    unsolved = [span for (_, span), wish in zip(failing, wishes) if not wish]
    return _together(wishes), f"the condition `{(unsolved or [failing[0][1]])[0].text}` never held"


def _together(wishes: Sequence[Wishes]) -> Wishes:
    """Wishes that make conditions hold: of each node those of the first condition that has any, since the
    others looked at the node as it is.
    """
    together: dict[tuple[int, str], object] = {}
    for wish in wishes:
        asked = {node for node, _ in together}
        together |= {key: value for key, value in wish.items() if key[0] not in asked}
    return together
