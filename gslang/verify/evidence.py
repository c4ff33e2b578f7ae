"""What the instances of a rule say: which agree, which refute it, and what was looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from time import thread_time

from gslang.check.checked import CheckedProgram, CheckedRule
from gslang.graph.graph import CONST, Graph
from gslang.verify.compare import Finding, can_be_computed, compare
from gslang.verify.instances import Instance, Search, instances, instances_on
from gslang.verify.own_tests import graphs_near, test_graphs
from gslang.verify.prove.prove import STEPS
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
    instances have it. `obstacle`: to drawing more."""

    good: list[Finding] = field(default_factory=list)
    bad: list[tuple[Instance, Finding | None, str]] = field(default_factory=list)
    unfit: list[Instance] = field(default_factory=list)
    drawn: int = 0
    coverage: Counter[str] = field(default_factory=Counter)
    obstacle: str = ""


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
    if evidence.unfit:
        evidence.coverage["not applied, types do not fit"] = len(evidence.unfit)
    if evidence.unfit and not evidence.good and not evidence.bad:  # then it can never be applied
        evidence.bad = [(instance, None, _misfit(instance)) for instance in evidence.unfit[:_ENOUGH_BAD]]
    evidence.obstacle = search.obstacle
    return evidence


def _look_at(rule: CheckedRule, instance: Instance, settings: Settings, evidence: Evidence) -> None:
    if instance.after is None:
        if _has_only_float32(instance.before) and can_be_computed(instance.before, rule.dialect, settings.seed):
            evidence.bad.append((instance, None, _misfit(instance)))
        else:
            evidence.unfit.append(instance)
        return
    finding = compare(instance.before, instance.after, rule.dialect, rule.approximate, settings.seed)
    if why := refutes(finding, settings.special):
        evidence.bad.append((instance, finding, why))
    else:
        evidence.good.append(finding)


def _misfit(instance: Instance) -> str:
    return f"the target does not fit the source: {instance.failure}"


def refutes(finding: Finding, special: bool = False) -> str:
    """Why an instance refutes its rule; empty if it does not."""
    if finding.numbers is False and not (finding.field is True and finding.certain):
        return f"the sides compute different values: {finding.number_reason}"
    if special and finding.special:
        return "the sides differ in NaN or infinities"
    if finding.numbers is None and finding.field is False and finding.certain:
        return finding.field_reason
    return ""


def _has_only_float32(graph: Graph) -> bool:
    return all(getattr(graph.types[n], "dtype", None) in (None, "float32") for n in graph.nodes() if graph.op[n] is not CONST)
