"""Verdicts: what is known about a rule after looking at its instances.

* `proved`: both sides are equal for tensors of every size (`prove`), and no instance differs. `reason`: under which assumptions.
* `exact`: on every instance that could be computed in a prime field both sides are equal there (`bound` is the chance of
  error of each), and no instance differs in any other way.
* `tested`: the sides agree in floating point on every instance.
* `refuted`: an instance where they differ, or where the target has other types than the source.
* `unknown`: no instance was found, or none can be computed. `reason` tells.

Not here: how rules and options come from the command line (`cli/verify`), how proofs are found (`prove`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import Any

from gslang.base.cache import cached, digest
from gslang.check.checked import Builtin, CheckedProgram, CheckedRule
from gslang.formats.json_graph import write_json
from gslang.graph.graph import CONST, Graph
from gslang.verify.compare import Finding, can_be_computed, compare
from gslang.verify.exact import BOUND
from gslang.verify.instances import Instance, Search, instances, instances_on
from gslang.verify.own_tests import test_graphs
from gslang.verify.paste import as_test
from gslang.verify.prove.paths import NotProved
from gslang.verify.prove.prove import STEPS, prove
from gslang.verify.reads import parts

ORDER = ("refuted", "unknown", "tested", "exact", "proved")  # from bad to good


@dataclass(frozen=True, slots=True)
class Settings:
    """`seconds`: the most time for the instances of one rule; `proof_steps`: of a search for a proof (0: none).

    `wanted`: how many instances to look at. `special`: NaN and infinities refute too.
    """

    seconds: float = 10.0
    seed: int = 0
    wanted: int = 24
    special: bool = False
    proof_steps: int = STEPS


@dataclass(frozen=True, slots=True)
class Counterexample:
    """`source` and `target` are JSON graphs; `test` is a `test` item to paste. `inputs`: values by name, as nested lists."""

    source: str
    target: str | None
    inputs: dict[str, Any]
    max_abs: float
    test: str


@dataclass(frozen=True, slots=True)
class Verdict:
    rule: str
    verdict: str
    reason: str
    bound: float | None
    instances: int
    seconds: float
    coverage: dict[str, int] = field(default_factory=dict)
    counterexample: Counterexample | None = None


def verify(rule: CheckedRule, settings: Settings = Settings(), programs: Sequence[CheckedProgram] = ()) -> Verdict:
    """The verdict on a rule; an earlier one for the same rule, settings and code is used again.

    `programs`: where to look for tests of the rule, whose graphs are instances, too.
    """
    tests = [test for program in programs for test in program.tests if test.rule == rule.name]
    key = (content_of(rule), content_of(tests), repr(settings), own_code())
    return cached("verify", key, lambda: verify_now(rule, settings, programs))


def verify_now(rule: CheckedRule, settings: Settings = Settings(), programs: Sequence[CheckedProgram] = ()) -> Verdict:
    began = perf_counter()
    search = Search()
    good: list[Finding] = []
    bad: list[tuple[Instance, Finding | None, str]] = []
    end = began + settings.seconds
    misfits_elsewhere: list[Instance] = []
    drawn = instances(rule, search, settings.seed, settings.seconds, 60 * settings.wanted)
    for instance in chain(instances_on(rule, test_graphs(rule, programs), search), drawn):
        if instance.after is None:
            if _has_only_float32(instance.before) and can_be_computed(instance.before, rule.dialect, settings.seed):
                bad.append((instance, None, f"the target does not fit the source: {instance.failure}"))
            else:
                misfits_elsewhere.append(instance)
        else:
            finding = compare(instance.before, instance.after, rule.dialect, rule.approximate, settings.seed)
            if why := refutes(finding, settings.special):
                bad.append((instance, finding, why))
            else:
                good.append(finding)
        if len(bad) >= 6 or len(good) + len(bad) >= settings.wanted or perf_counter() > end or bad and perf_counter() > began + 0.5:
            break
    seconds = perf_counter() - began
    coverage = dict(sorted(search.coverage.items()))
    if misfits_elsewhere:
        coverage["not applied, types do not fit"] = len(misfits_elsewhere)
    if misfits_elsewhere and not good and not bad:  # then it can never be applied
        bad = [(instance, None, f"the target does not fit the source: {instance.failure}") for instance in misfits_elsewhere[:6]]
    count = len(good) + len(bad)
    if bad:
        instance, shown, why = min(bad, key=lambda item: (item[1] is None, _size(item[0].before), item[0].seed))
        example = _counterexample(rule, instance, shown)
        return Verdict(rule.name, "refuted", why, None, count, seconds, coverage, example)
    if not good:
        return Verdict(rule.name, "unknown", f"no instance was found: {search.obstacle}", None, 0, seconds, coverage)
    verdict, reason = _judge(good)
    nearness = ", where `close` is equality" if _has_nearness(rule) else ""
    if verdict == "exact":
        reason += nearness
    if verdict in ("exact", "tested") and settings.proof_steps:
        try:
            proof = prove(rule, settings.proof_steps)
        except NotProved:
            pass
        else:
            reason = "for " + ", ".join(proof.assumptions) + nearness + ("; differs on NaN and infinities only" if "NaN" in reason else "")
            return Verdict(rule.name, "proved", reason, 0.0, count, perf_counter() - began, coverage)
        seconds = perf_counter() - began
    return Verdict(rule.name, verdict, reason, BOUND if verdict == "exact" else None, count, seconds, coverage)


def refutes(finding: Finding, special: bool = False) -> str:
    """Why an instance refutes its rule; empty if it does not."""
    if finding.numbers is False and not (finding.field is True and finding.certain):
        return f"the sides compute different values: {finding.number_reason}"
    if special and finding.special:
        return "the sides differ in NaN or infinities"
    if finding.numbers is None and finding.field is False and finding.certain:
        return finding.field_reason
    return ""


def _judge(good: list[Finding]) -> tuple[str, str]:
    special = "; differs on NaN and infinities only" if any(f.special for f in good) else ""
    equal = [f for f in good if f.field is True]
    undecided = [f for f in good if f.field is False]
    if equal and not undecided:
        unknown = sorted({name for f in equal for name in f.field_reason.split(", ") if name})
        limits = sorted({limit for f in equal for limit in f.limits})
        return "exact", ", ".join([f"for any {', '.join(unknown)}" if unknown else "as rational functions", *limits]) + special
    if any(f.numbers is True for f in good):
        why = undecided[0].field_reason if undecided else next(f.field_reason for f in good)
        return "tested", why + special
    return "unknown", "no instance can be computed: " + next((f.number_reason for f in good if f.numbers is None), "")


def _has_nearness(rule: CheckedRule) -> bool:
    """Whether a condition lets numbers pass that are near to another one: instances take that one."""
    return any(isinstance(part, Builtin) and part.name == "close" for part in (*parts(rule.where), *parts(rule.lets)))


def _counterexample(rule: CheckedRule, instance: Instance, finding: Finding | None) -> Counterexample:
    inputs = finding.inputs if finding is not None and finding.inputs is not None else {}
    return Counterexample(
        write_json(instance.before),
        None if instance.after is None else write_json(instance.after),
        {name: value.tolist() for name, value in inputs.items()},
        finding.max_abs if finding is not None else float("inf"),
        as_test(rule, instance.before),
    )


def _size(graph: Graph) -> int:
    """How many numbers stand in the graph's inputs and nodes."""
    total = 0
    for node in graph.reverse_post_order():
        shape = getattr(graph.types[node], "shape", None) or ()
        size = 1
        for d in shape:
            size *= d if isinstance(d, int) else 2
        total += size + 1
    return total


def _has_only_float32(graph: Graph) -> bool:
    return all(getattr(graph.types[n], "dtype", None) in (None, "float32") for n in graph.nodes() if graph.op[n] is not CONST)


def content_of(value: Any) -> str:
    """A text that is the same for equal rules in every process: sets are sorted, spans left out."""
    return "\n".join(_parts(value))


def _parts(value: Any) -> Iterator[str]:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield type(value).__name__
        for item in dataclasses.fields(value):
            if item.name not in ("span", "spans", "where_spans", "dialect"):
                yield from _parts(getattr(value, item.name))
        added = getattr(getattr(value, "dialect", None), "added", ())
        yield from (part for signature in added for part in _parts(signature))
    elif isinstance(value, (tuple, list)):
        yield f"({len(value)}"
        for item in value:
            yield from _parts(item)
    elif isinstance(value, (set, frozenset)):
        yield repr(sorted(map(repr, value)))
    elif isinstance(value, dict):
        yield from _parts(list(value.items()))
    else:
        yield repr(value)


@lru_cache(maxsize=1)
def own_code() -> str:
    """The state of the code that verdicts hang on, beyond what the cache itself looks at."""
    package = Path(__file__).resolve().parent.parent
    stamps = []
    for folder in ("engine", "evaluate", "graph", "verify"):
        for path in sorted((package / folder).rglob("*.py")):
            state = path.stat()
            stamps.append(f"{path.name} {state.st_size} {state.st_mtime_ns}")
    return digest(stamps)
