"""Derives rules from others: a rule follows if both sides of its instances meet in an e-graph in which only
the others run.

Instances are the verifier's: ranks, sizes, data types and attributes vary. The others are taken as equations,
so that a step of the derivation may lead from a rule's target to its source; whether all steps lead forward
is reported. On an instance a derivation is exact; over all instances the answer is as good as the instances
are varied.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice

from gslang.base.quick_dataclass import dataclass
from gslang.check.checked import AltNode, CallNode, CheckedRule, MakeCall
from gslang.check.levels import levels
from gslang.check.limits import RuleFailed, counted_work
from gslang.dialect.dialect import Dialect
from gslang.dialect.load import require_inference
from gslang.dialect.signature import Signature
from gslang.discover.backwards import backwards
from gslang.discover.idle_attributes import without_idle
from gslang.engine.meaning import infer_by_meaning
from gslang.graph.graph import INPUT, PARAM, PROJ, TUPLE, Graph
from gslang.search.explained import ExplainedEGraph, Step, Term, TooLong, written
from gslang.search.saturate import Limits, saturate
from gslang.verify.instances.draw import DEEPEST, Instance, Search, instances
from gslang.verify.variety import varied

NO_INSTANCE = "no instance of it was found"
_SECONDS = 5.0  # for drawing them
_IN_VAIN = 12  # rules of a file without an instance, from which on fewer attempts are made


@dataclass(frozen=True, slots=True)
class Settings:
    """`instances`: how many have to be derived.

    `nodes`, `rounds`: of each e-graph. `seed`: of the instances. `attempts`: to draw one, for each of them.
    """

    instances: int = 6
    nodes: int = 2000
    rounds: int = 8
    seed: int = 0
    attempts: int = 40


@dataclass(frozen=True, slots=True)
class Derivation:
    """A chain for one output: `start`, then `steps`, each from the term before; `untold`: there are steps,
    but too many to be told.
    """

    start: Term
    steps: tuple[Step, ...]
    untold: bool = False


def with_fewer_attempts(settings: Settings, in_vain: int) -> Settings:
    """The settings for the next rule of a file in which so many had no instance: a tenth of the attempts, if
    they were many.
    """
    return settings if in_vain < _IN_VAIN else replace(settings, attempts=-(-settings.attempts // 10))


@dataclass(frozen=True, slots=True)
class Implied:
    """The answer. `reason`: why not, or on what it rests. `rules`: that the derivations use, sorted.
    `derivations`: of the outputs of one instance.

    `forward`: on all instances each step leads from a rule's source to its target, so that the rules do what
    the rule does.
    """

    rule: str
    implied: bool
    reason: str
    instances: int
    rules: tuple[str, ...] = ()
    derivations: tuple[Derivation, ...] = ()
    forward: bool = False


def implied(rule: CheckedRule, by: Sequence[CheckedRule], settings: Settings = Settings()) -> Implied:
    """True if `by` implies `rule`, which is left out of them. Raises `InputError` if a package of the dialect
    is missing."""
    require_inference(rule.dialect)
    others = _usable(rule, by)
    if not others:
        return Implied(rule.name, False, "none of the other rules has its operators", 0)
    with warnings.catch_warnings(), counted_work(0):
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's, where random numbers make NaN
        return _implied(rule, others, settings)


def _implied(rule: CheckedRule, others: Sequence[CheckedRule], settings: Settings) -> Implied:
    used: set[str] = set()
    shown: tuple[Derivation, ...] = ()
    forward, count, trivial = True, 0, 0
    dialect = joined([rule.dialect, *{id(other.dialect): other.dialect for other in others}.values()])
    try:
        for instance in _instances(rule, settings):
            assert instance.after is not None
            found = derive(instance.before, instance.after, dialect, others, settings)
            if isinstance(found, str) and _repeats(instance.before):
                continue  # it says nothing
            if isinstance(found, str):
                return Implied(rule.name, False, found, count)
            if not any(derivation.steps or derivation.untold for derivation in found):
                trivial += 1
                continue
            count += 1
            steps = [step for derivation in found for step in derivation.steps]
            used |= {step.rule for step in steps}
            forward = (
                forward and all(step.forward for step in steps)
                and not any(derivation.untold for derivation in found)
            )
            if not shown or len(steps) > sum(len(d.steps) for d in shown):
                shown = found
    except RuleFailed as error:
        return Implied(rule.name, False, error.reason, count)
    if not count:
        why = "its two sides are the same on each instance" if trivial else NO_INSTANCE
        return Implied(rule.name, bool(trivial), why, trivial)
    return Implied(
        rule.name, True, f"derived on {count} instance{'s' * (count > 1)}", count, tuple(sorted(used)), shown,
        forward,
    )


def _usable(rule: CheckedRule, by: Sequence[CheckedRule]) -> list[CheckedRule]:
    """Rules of the same dialect, without the rule itself and those that never run; of several with one name
    all but the first get another.
    """
    found: list[CheckedRule] = []
    names: set[str] = set()
    for other in by:
        if (
            other.dialect.name != rule.dialect.name or other.disconnected or other.changes is not None
            or _is_same(rule, other)
        ):
            continue
        if other.dialect is not rule.dialect and _means_other(other, rule.dialect):
            continue
        name, k = other.name, 2
        while name in names:
            name, k = f"{other.name} ({k})", k + 1
        names.add(name)
        found.append(other if name == other.name else replace(other, name=name))
    return found


def _is_same(rule: CheckedRule, other: CheckedRule) -> bool:
    return (
        rule is other or rule.name == other.name and rule.nodes == other.nodes and rule.target == other.target
        and rule.where == other.where
    )


def _instances(rule: CheckedRule, settings: Settings) -> Iterator[Instance]:
    drawn = instances(rule, Search(), settings.seed, _SECONDS, settings.attempts * settings.instances)
    fitting = (instance for instance in drawn if instance.after is not None)
    return islice(varied(fitting, settings.instances, rule.dialect, float("inf")), settings.instances)


def _repeats(graph: Graph) -> bool:
    """True if two calls of one operator have the same operands: in an e-graph they may be one, which no
    pattern of two matches.
    """
    calls = [(graph.op[n], graph.operands[n]) for n in graph.nodes() if graph.op[n] not in (PROJ, TUPLE)]
    calls = [call for call in calls if call[1]]
    return len(set(calls)) < len(calls)


def derive(
    before: Graph, after: Graph, dialect: Dialect, by: Sequence[CheckedRule], settings: Settings
) -> tuple[Derivation, ...] | str:
    """A chain from each output of a graph to that of another one with the same inputs, or why there is none.
    """
    graph, count = _both(before, after)
    egraph = ExplainedEGraph(graph, dialect, without_idle(dialect))
    pairs = list(zip(egraph.outputs[:count], egraph.outputs[count:]))

    def reached() -> bool:
        return all(egraph.find(a) == egraph.find(b) for a, b in pairs)

    if not reached():
        equations = [rule for rule in (*by, *_meanings(dialect)) if levels(rule) <= DEEPEST]
        ways = [rule for rule in map(_backwards, equations) if rule is not None]
        there = _reachable([*equations, *ways], set(egraph.store.op))
        turned = set(map(id, ways))
        rules, proposals = ([r for r in there if (id(r) in turned) is proposed] for proposed in (False, True))
        limits = Limits(settings.nodes, settings.rounds, settings.rounds)
        progress = saturate(egraph, rules, limits, reached=reached, proposals=proposals)
        if not reached():
            return (
                f"not derived ({progress.stopped} after {progress.nodes} e-nodes): "
                f"{_equation(egraph, pairs, dialect)}"
            )
    return tuple([_derivation(egraph, a, b) for a, b in pairs])


def _derivation(egraph: ExplainedEGraph, a: int, b: int) -> Derivation:
    try:
        return Derivation(egraph.term(a), tuple(egraph.explain(a, b)))
    except TooLong:
        return Derivation(egraph.term(a), (), True)


_backwards = lru_cache(maxsize=4096)(backwards)


_JOINED: list[tuple[tuple[Dialect, ...], Dialect]] = []  # of the last few questions


def joined(dialects: Sequence[Dialect]) -> Dialect:
    """The first of several dialects of one name, with the operators that the others declare."""
    for known, made in _JOINED:
        if len(known) == len(dialects) and all(a is b for a, b in zip(known, dialects)):
            return made
    more: dict[str, Signature] = {}
    for other in dialects[1:]:
        more |= {s.name: s for s in other.added if s.name not in dialects[0].operators and s.name not in more}
    made = infer_by_meaning(dialects[0].with_operators(more.values())) if more else dialects[0]
    _JOINED[8:] = []
    _JOINED.insert(0, (tuple(dialects), made))
    return made


def _means_other(rule: CheckedRule, dialect: Dialect) -> bool:
    """True if a rule speaks of an operator that the dialect declares otherwise."""
    return any(
        _meaning(s) != _meaning(dialect.operators[s.name])
        for s in rule.dialect.added if s.name in dialect.operators
    )


def _meaning(signature: Signature) -> object:
    rule = None if signature.meaning is None else signature.meaning.rule
    return str(signature), rule if rule is None else (rule.nodes, rule.target, rule.lets)


def _meanings(dialect: Dialect) -> list[CheckedRule]:
    """The values of declared operators, as rules."""
    known = [
        s.meaning.rule
        for s in dialect.added
        if s.meaning is not None and not s.meaning.variadic and s.meaning.rule.target.outputs
    ]
    return [replace(rule, dialect=dialect, name=f"meaning of {rule.name}") for rule in known]


def _reachable(by: Sequence[CheckedRule], operators: set[str]) -> list[CheckedRule]:
    """The rules whose operators a graph of these operators has, or gets by other such rules."""
    there, waiting, found = set(operators), list(by), set()
    while True:
        now = [rule for rule in waiting if all(there & set(operators) for operators in _needed(rule))]
        if not now:
            return [rule for rule in by if id(rule) in found]
        found |= {id(rule) for rule in now}
        there |= {
            t.operator
            for rule in now
            for t in rule.target.targets if isinstance(t, MakeCall) and isinstance(t.operator, str)
        }
        waiting = [rule for rule in waiting if id(rule) not in found]


def _needed(rule: CheckedRule) -> list[tuple[str, ...]]:
    """For each call that each match has its operators; where a source has alternatives, none is taken to be
    needed.
    """
    if any(isinstance(node, AltNode) for node in rule.nodes):
        return []
    return [node.operators for node in rule.nodes if isinstance(node, CallNode) and node.block is None]


def _equation(egraph: ExplainedEGraph, pairs: Sequence[tuple[int, int]], dialect: Dialect) -> str:
    a, b = next(pair for pair in pairs if egraph.find(pair[0]) != egraph.find(pair[1])) if pairs else (0, 0)
    shown = defaults_of(dialect)
    types = sorted({
        f"{store.label(n)}: {store.types[n]}"
        for store in [egraph.store]
        for n in egraph.members if store.op[n] in (INPUT, PARAM)
    })
    return f"{written(egraph.term(a), shown)} = {written(egraph.term(b), shown)}" + (
        f" with {', '.join(types)}" if types else ""
    )


def defaults_of(dialect: Dialect) -> Callable[[str], dict[str, object]]:
    """Operator → the defaults of its attributes."""

    def defaults(op: str) -> dict[str, object]:
        signature = dialect.get(op)
        return {} if signature is None else dict(signature.defaults)

    return defaults


def _both(before: Graph, after: Graph) -> tuple[Graph, int]:
    """Both graphs as one over the same inputs: the outputs of the first, whose number is told, then those of
    the second.
    """
    graph = before.copy()
    leaves = {graph.names[node]: node for node in graph.nodes() if graph.op[node] in (INPUT, PARAM)}
    there: dict[int, int] = {}
    for node in after.reverse_post_order():
        op = after.op[node]
        if op in (INPUT, PARAM) and after.names[node] in leaves:
            there[node] = leaves[after.names[node]]
            continue
        operands = [there[o] if o >= 0 else o for o in after.operands[node]]
        there[node] = graph.add(op, operands, after.attrs[node], after.types[node], None)
        if node in after.values:
            graph.values[there[node]] = after.values[node]
    outputs = list(graph.outputs)
    graph.set_outputs([*outputs, *(there[node] for node in after.outputs)])
    return graph, len(outputs)
