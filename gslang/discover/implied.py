"""Derives rules from others: a rule follows if both sides of its instances meet in an e-graph in which only the others run.

Instances are the verifier's: ranks, sizes, data types and attributes vary. The others are taken as equations, so that a step of the
derivation may lead from a rule's target to its source; whether all steps lead forward is told. On an instance a derivation is exact;
over all instances the answer is as good as the instances are varied.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from gslang.check.checked import AltNode, CallNode, CheckedRule, MakeCall
from gslang.dialect.dialect import Dialect
from gslang.dialect.load import require_inference
from gslang.engine.limits import RuleFailed
from gslang.graph.graph import INPUT, PARAM, Graph
from gslang.search.explained import ExplainedEGraph, Step, Term, TooLong, written
from gslang.search.saturate import Limits, saturate
from gslang.verify.instances import Instance, Search, instances
from gslang.verify.variety import varied

_ATTEMPTS = 40  # to draw an instance, for each that is wanted
_SECONDS = 5.0  # for drawing them


@dataclass(frozen=True, slots=True)
class Settings:
    """`instances`: how many have to be derived. `nodes`, `rounds`: of each e-graph. `seed`: of the instances."""

    instances: int = 6
    nodes: int = 2000
    rounds: int = 8
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Derivation:
    """A chain for one output: `start`, then `steps`, each from the term before. `complete`: operator → defaults of attributes."""

    start: Term
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Implied:
    """The answer. `reason`: why not, or on what it rests. `rules`: that the derivations use, sorted. `derivations`: of the outputs of one instance.

    `forward`: on all instances each step leads from a rule's source to its target, so that the rules do what the rule does.
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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's, where random numbers make NaN
        return _implied(rule, others, settings)


def _implied(rule: CheckedRule, others: Sequence[CheckedRule], settings: Settings) -> Implied:
    used: set[str] = set()
    shown: tuple[Derivation, ...] = ()
    forward, count, trivial = True, 0, 0
    try:
        for instance in _instances(rule, settings):
            assert instance.after is not None
            found = derive(instance.before, instance.after, rule.dialect, others, settings)
            if isinstance(found, str):
                return Implied(rule.name, False, found, count)
            if not any(derivation.steps for derivation in found):
                trivial += 1
                continue
            count += 1
            steps = [step for derivation in found for step in derivation.steps]
            used |= {step.rule for step in steps}
            forward = forward and all(step.forward for step in steps)
            if not shown or len(steps) > sum(len(d.steps) for d in shown):
                shown = found
    except RuleFailed as error:
        return Implied(rule.name, False, error.reason, count)
    if not count:
        why = "its two sides are the same on each instance" if trivial else "no instance of it was found"
        return Implied(rule.name, bool(trivial), why, trivial)
    return Implied(rule.name, True, f"derived on {count} instance{'s' * (count > 1)}", count, tuple(sorted(used)), shown, forward)


def _usable(rule: CheckedRule, by: Sequence[CheckedRule]) -> list[CheckedRule]:
    """Rules of the same dialect, without the rule itself and those that never run; of several with one name all but the first get another."""
    found: list[CheckedRule] = []
    names: set[str] = set()
    for other in by:
        if other.dialect.name != rule.dialect.name or other.disconnected or other.changes is not None or _is_same(rule, other):
            continue
        name, k = other.name, 2
        while name in names:
            name, k = f"{other.name} ({k})", k + 1
        names.add(name)
        found.append(other if name == other.name else replace(other, name=name))
    return found


def _is_same(rule: CheckedRule, other: CheckedRule) -> bool:
    return rule is other or rule.name == other.name and rule.nodes == other.nodes and rule.target == other.target and rule.where == other.where


def _instances(rule: CheckedRule, settings: Settings) -> Iterator[Instance]:
    drawn = instances(rule, Search(), settings.seed, _SECONDS, _ATTEMPTS * settings.instances)
    fitting = (instance for instance in drawn if instance.after is not None)
    return islice(varied(fitting, settings.instances, rule.dialect, float("inf")), settings.instances)


def derive(before: Graph, after: Graph, dialect: Dialect, by: Sequence[CheckedRule], settings: Settings) -> tuple[Derivation, ...] | str:
    """A chain from each output of a graph to that of another one with the same inputs, or why there is none."""
    graph, count = _both(before, after)
    egraph = ExplainedEGraph(graph, dialect)
    pairs = list(zip(egraph.outputs[:count], egraph.outputs[count:]))

    def reached() -> bool:
        return all(egraph.find(a) == egraph.find(b) for a, b in pairs)

    if not reached():
        rules = _reachable(by, set(egraph.store.op))
        progress = saturate(egraph, rules, Limits(settings.nodes, settings.rounds, settings.rounds), reached=reached)
        if not reached():
            return f"not derived ({progress.stopped} after {progress.nodes} e-nodes): {_equation(egraph, pairs, dialect)}"
    try:
        return tuple(Derivation(egraph.term(a), tuple(egraph.explain(a, b))) for a, b in pairs)
    except TooLong:
        return f"the derivation is too long to be shown: {_equation(egraph, pairs, dialect)}"


def _reachable(by: Sequence[CheckedRule], operators: set[str]) -> list[CheckedRule]:
    """The rules whose operators a graph of these operators has, or gets by other such rules."""
    there, waiting, found = set(operators), list(by), set()
    while True:
        now = [rule for rule in waiting if all(there & set(operators) for operators in _needed(rule))]
        if not now:
            return [rule for rule in by if id(rule) in found]
        found |= {id(rule) for rule in now}
        there |= {t.operator for rule in now for t in rule.target.targets if isinstance(t, MakeCall) and isinstance(t.operator, str)}
        waiting = [rule for rule in waiting if id(rule) not in found]


def _needed(rule: CheckedRule) -> list[tuple[str, ...]]:
    """For each call that each match has its operators; where a source has alternatives, none is taken to be needed."""
    if any(isinstance(node, AltNode) for node in rule.nodes):
        return []
    return [node.operators for node in rule.nodes if isinstance(node, CallNode) and node.block is None]


def _equation(egraph: ExplainedEGraph, pairs: Sequence[tuple[int, int]], dialect: Dialect) -> str:
    a, b = next(pair for pair in pairs if egraph.find(pair[0]) != egraph.find(pair[1])) if pairs else (0, 0)
    shown = defaults_of(dialect)
    types = sorted({f"{store.label(n)}: {store.types[n]}" for store in [egraph.store] for n in egraph.members if store.op[n] in (INPUT, PARAM)})
    return f"{written(egraph.term(a), shown)} = {written(egraph.term(b), shown)}" + (f" with {', '.join(types)}" if types else "")


def defaults_of(dialect: Dialect) -> Callable[[str], dict[str, object]]:
    """Operator → the defaults of its attributes."""

    def defaults(op: str) -> dict[str, object]:
        signature = dialect.get(op)
        return {} if signature is None else dict(signature.defaults)

    return defaults


def _both(before: Graph, after: Graph) -> tuple[Graph, int]:
    """Both graphs as one over the same inputs: the outputs of the first, whose number is told, then those of the second."""
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
