"""What the instances of a rule say: which agree, which refute it, and what was looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from time import thread_time

from gslang.check.checked import CheckedProgram, CheckedRule
from gslang.dialect.domain import Exactly
from gslang.graph.graph import CONST, Graph
from gslang.verify.compare import Finding, can_be_computed, compare
from gslang.verify.decisions import goals
from gslang.verify.instances import Instance, Search, instances, instances_on, towards, without_ranks
from gslang.verify.own_tests import graphs_near, test_graphs
from gslang.verify.prove.prove import STEPS
from gslang.verify.reads import names_types
from gslang.verify.variety import varied

_MOST_ATTEMPTS = 60  # to draw an instance, for each that is wanted
_MOST_NEAR = 400  # attempts to change the sizes in a rule's own tests, where no other instance was found
_ENOUGH_BAD = 6  # instances that refute: the smallest of them is shown
_SECONDS_WHEN_BAD = 0.5  # for finding a smaller one


@dataclass(frozen=True, slots=True)
class Settings:
    """`seconds`: the most processor time for the instances of one rule; `proof_steps`: of a search for a proof (0: none).

    `wanted`: how many instances to look at. `special`: NaN and infinities refute too.
    """

    seconds: float = 10.0
    seed: int = 0
    wanted: int = 24
    special: bool = False
    proof_steps: int = STEPS


@dataclass(slots=True)
class Evidence:
    """`good`: instances whose sides agree, as far as can be told. `bad`: what refutes, with the reason. `unfit`: the rule would
    not be applied, in another type than float32. `drawn`: how many are no tests of the rule's own. `coverage`: feature → how many
    instances have it. `obstacle`: to drawing more. `unvaried`: what no instance showed, as messages name it."""

    good: list[Finding] = field(default_factory=list)
    bad: list[tuple[Instance, Finding | None, str]] = field(default_factory=list)
    unfit: list[Instance] = field(default_factory=list)
    drawn: int = 0
    coverage: Counter[str] = field(default_factory=Counter)
    obstacle: str = ""
    unvaried: list[str] = field(default_factory=list)
    seen: set[tuple[int, bool]] = field(default_factory=set)
    attributes: set[tuple[str, str, str]] = field(default_factory=set)


def gather(rule: CheckedRule, settings: Settings, programs: Sequence[CheckedProgram]) -> Evidence:
    """Evidence from the rule's own tests in `programs` and from drawn instances, until enough was seen or the time is over."""
    began = thread_time()
    evidence, search = Evidence(), Search()
    drawn = instances(rule, search, settings.seed, settings.seconds, _MOST_ATTEMPTS * settings.wanted)
    drawn = varied(drawn, settings.wanted, rule.dialect, began + settings.seconds / 2)
    for instance in chain(instances_on(rule, test_graphs(rule, programs), search), drawn):
        evidence.coverage.update(instance.features)
        evidence.drawn += instance.seed >= 0
        _look_at(rule, instance, settings, evidence)
        taken, count = thread_time() - began, len(evidence.good) + len(evidence.bad)
        if count >= settings.wanted or len(evidence.bad) >= _ENOUGH_BAD or taken > (_SECONDS_WHEN_BAD if evidence.bad else settings.seconds):
            break
    if not evidence.drawn and evidence.good and not evidence.bad:
        near = instances_on(rule, graphs_near(rule, programs, settings.seed, _MOST_NEAR), search)
        for instance in near:
            if evidence.drawn >= settings.wanted or thread_time() - began > 2 * settings.seconds:
                break
            evidence.coverage["near an own test"] += 1
            evidence.drawn += 1
            _look_at(rule, instance, settings, evidence)
    if evidence.good and not evidence.bad and rule.changes is None:
        _seek(rule, settings, evidence, search)
    if evidence.unfit:
        evidence.coverage["not applied, types do not fit"] = len(evidence.unfit)
    if evidence.unfit and not evidence.good and not evidence.bad:  # then it can never be applied
        evidence.bad = [(instance, None, _misfit(instance)) for instance in evidence.unfit[:_ENOUGH_BAD]]
    evidence.obstacle = search.obstacle
    return evidence


def _seek(rule: CheckedRule, settings: Settings, evidence: Evidence, search: Search) -> None:
    """Look for instances in which each decision goes each way, and note what was never seen."""
    for loose in without_ranks(rule, settings.seed, _MOST_WITHOUT_RANKS):
        if loose.after is not None and refutes(compare(loose.before, loose.after, rule.dialect, rule.approximate, settings.seed)):
            evidence.unvaried.append("inputs of unknown rank, of which the rule changes the shape where a number in it has more dimensions")
            break
    until = thread_time() + settings.seconds / 2
    for goal in goals(rule):
        if goal.key in evidence.seen:
            continue
        attempts = _MOST_TOWARDS if thread_time() < until else 0
        instance = towards(rule, goal, search, settings.seed, attempts)
        if instance is None:
            evidence.unvaried.append(f"no instance has {goal.text}")
            continue
        evidence.coverage[f"made to have {goal.text}"] += 1
        _look_at(rule, instance, settings, evidence)
    values: dict[tuple[str, str], set[str]] = {}
    for operator, name, value in evidence.attributes:
        values.setdefault((operator, name), set()).add(value)
    evidence.unvaried += [
        f"attribute `{name}` of `{operator}` is always {next(iter(found))}"
        for (operator, name), found in sorted(values.items())
        if len(found) == 1 and name not in _SAY_NOTHING and not isinstance(rule.dialect.operators[operator].attributes[name].domain, Exactly)
    ]


WRAPPING = "whole numbers that wrap"  # begins a note of `unvaried`
_MOST_WITHOUT_RANKS = 8
_MOST_TOWARDS = 40  # attempts to make one decision go one way
_SAY_NOTHING = frozenset({"momentum", "seed", "stash_type"})  # of the results that rules are about


def _look_at(rule: CheckedRule, instance: Instance, settings: Settings, evidence: Evidence) -> None:
    if instance.after is None:
        if _has_only_float32(instance.before) and can_be_computed(instance.before, rule.dialect, settings.seed):
            evidence.bad.append((instance, None, _misfit(instance)))
        else:
            evidence.unfit.append(instance)
        return
    finding = compare(instance.before, instance.after, rule.dialect, rule.approximate, settings.seed)
    if finding.numbers is None and not can_be_computed(instance.before, rule.dialect, settings.seed):
        return  # no graph that means anything
    evidence.seen |= instance.seen
    evidence.attributes |= instance.attributes
    why = refutes(finding, settings.special)
    rounded = finding.kind == "wide" and any(str(getattr(type_, "dtype", "")).startswith("float") for type_ in instance.before.types)
    if why and (types := _other_types(instance, finding)) and (rounded or not names_types(rule)):
        note = f"{WRAPPING}: the sides differ for {types}"
        evidence.unvaried += [note] if note not in evidence.unvaried else []
    elif why:
        evidence.bad.append((instance, finding, why))
    else:
        evidence.good.append(finding)


def _misfit(instance: Instance) -> str:
    return f"the target does not fit the source: {instance.failure}"


def _other_types(instance: Instance, finding: Finding) -> str:
    """The types of whole numbers that a difference may come from, in a rule that was written for floats as it seems; empty without any."""
    small = [f.removeprefix("dtype ") for f in instance.features if f.startswith(("dtype int", "dtype uint"))]
    graph = instance.before
    given = [
        value for attrs in graph.attrs for name, value in (attrs or {}).items()
        if name in ("out_dtype", "dtype", "output_dtype") and isinstance(value, str) and value
    ]  # fmt: skip
    if given:
        return ", ".join(sorted({*given, *small}))
    return ", ".join(small) if finding.kind == "wide" or small not in ([], ["int32"]) else ""


def refutes(finding: Finding, special: bool = False) -> str:
    """Why an instance refutes its rule; empty if it does not."""
    if finding.numbers is False and not (finding.field is True and finding.certain and finding.rounds):
        return f"the sides compute different values: {finding.number_reason}"
    if special and finding.special:
        return "the sides differ in NaN or infinities"
    if finding.numbers is None and finding.field is False and finding.certain:
        return finding.field_reason
    return ""


def _has_only_float32(graph: Graph) -> bool:
    return all(getattr(graph.types[n], "dtype", None) in (None, "float32") for n in graph.nodes() if graph.op[n] is not CONST)
