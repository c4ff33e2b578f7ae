"""Sweeps over a graph until nothing matches (semantics.md §4).

A sweep visits, in order, the nodes that were there when it began, and tries the rules that can start at each,
earlier rules first; a match is rewritten at once. Later sweeps visit only what is near enough to a change for
some pattern to reach it. A limit on applications ends a rule set that does not terminate, and says which
rules keep firing.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from enum import Enum
from functools import partial
from time import perf_counter

from gslang.base.collection import no_collection
from gslang.base.quick_dataclass import dataclass
from gslang.check.checked import CheckedRule
from gslang.check.opsets import why_unfit
from gslang.engine.dispatch import Dispatch, can_ever_match, shapes_of
from gslang.engine.edits import Edits, edits_of
from gslang.engine.first_tries import lazy_rewriter
from gslang.engine.generate import Rewriter
from gslang.engine.limits import RuleFailed
from gslang.engine.lower import program_of
from gslang.engine.outline_conditions import can_match_within, reads_kinds
from gslang.engine.program import MatchProgram
from gslang.engine.rewrite import Application, Failure
from gslang.engine.worklist import USED, Ways, affected, ways_of
from gslang.graph.graph import DEAD, Graph


class StopReason(Enum):
    FIXED_POINT = "fixed_point"  # nothing matches any more
    SWEEP_LIMIT = "sweep_limit"  # as many sweeps as were asked for
    APPLICATION_LIMIT = "application_limit"  # more applications than a terminating rule set would need
    STOPPED = "stopped"  # `stop_after` applications


@dataclass(slots=True)
class RuleCount:
    """`candidates`: nodes at which the rule was tried.

    `matches`: found, whether or not they could be applied.
    """

    candidates: int = 0
    matches: int = 0
    applications: int = 0
    seconds: float = 0.0


@dataclass(slots=True)
class Progress:
    """The record of a run so far; one object goes through all steps of a pass."""

    counts: dict[str, RuleCount] = field(default_factory=dict)
    applications: int = 0
    sweeps: int = 0
    stop_reason: StopReason = StopReason.FIXED_POINT
    failures: list[Failure] = field(default_factory=list)
    # rule → why the graph's operator set does not admit it
    skipped: dict[str, str] = field(default_factory=dict)
    # rules of the latest applications, newest last
    recent: deque[str] = field(default_factory=lambda: deque(maxlen=256))
    made_by: dict[int, str] = field(default_factory=dict)  # node → rule, for rules under `@once`
    given_limit: int | None = None  # of applications, where somebody gave one
    loop: list[str] = field(default_factory=list)  # of rules that never end, if it was looked for (`loops`)

    def include(self, other: Progress) -> None:
        """Add what was done in another graph, a part of this one."""
        for name, count in other.counts.items():
            own = self.counts.setdefault(name, RuleCount())
            own.candidates, own.matches = own.candidates + count.candidates, own.matches + count.matches
            own.applications, own.seconds = own.applications + count.applications, own.seconds + count.seconds
        self.applications += other.applications
        self.sweeps = max(self.sweeps, other.sweeps)
        self.failures += other.failures
        self.skipped.update(other.skipped)
        self.recent.extend(other.recent)
        if other.stop_reason is not StopReason.FIXED_POINT:
            self.stop_reason = other.stop_reason


@dataclass(frozen=True, slots=True)
class Limits:
    """`applications` None: 10 × nodes + 1000. `sweeps` None: until a fixed point."""

    applications: int | None = None
    sweeps: int | None = None
    stop_after: int | None = None


Observer = Callable[[int, "Application | str"], None]
"""Told each application with its number, and each built-in step of a pass by its name."""


def run_to_fixed_point(
    graph: Graph,
    rules: Sequence[CheckedRule],
    limits: Limits = Limits(),
    progress: Progress | None = None,
    observe: Observer | None = None,
    outlining: bool = False,
    near: Iterable[int] | None = None,
) -> Progress:
    """Apply `rules` together to a fixed point, changing `graph`. `observe` is told each application (number
    from 1).

    `near`: begin only where a match may have to do with one of these nodes. `outlining`: folding follows, so
    what depends on constants only may be laid down as outlines (`graph.outline`).
    """
    progress = progress or Progress()
    progress.stop_reason, progress.given_limit = StopReason.FIXED_POINT, limits.applications
    unfit = {rule.name: why for rule in rules if (why := why_unfit(rule, graph.meta))}
    progress.skipped.update(unfit)
    plans = [program_of(rule) for rule in rules if not rule.disconnected and rule.name not in unfit]
    if limits.stop_after is not None and progress.applications >= limits.stop_after:
        progress.stop_reason = StopReason.STOPPED
        return progress
    for plan in plans:
        progress.counts.setdefault(plan.rule.name, RuleCount())
    plans = can_ever_match(plans, set(graph.op))
    ways = ways_of(plans)
    todo = graph.in_order() if near is None else affected(graph, near, ways, ())
    outlining = outlining and observe is None and not any([reads_kinds(plan.rule) for plan in plans])

    def outlines(operators: tuple[str, ...]) -> bool:
        return outlining and not any([can_match_within(plan.rule, frozenset(operators)) for plan in plans])

    starting = _by_operator(plans, graph, progress, observe is not None, ways, outlines)
    most = limits.applications if limits.applications is not None else 10 * len(graph) + 1000
    most += progress.applications
    run = _Run(graph, starting, progress, most, limits.stop_after, observe)
    try:
        with no_collection():
            return _sweeps(run, todo, ways, limits)
    finally:
        graph.additions.clear()  # nobody watches any more


def _sweeps(run: _Run, todo: list[int], ways: Ways, limits: Limits) -> Progress:
    graph, progress = run.graph, run.progress
    sweeps = 0
    while True:
        if limits.sweeps is not None and sweeps >= limits.sweeps:
            progress.stop_reason = StopReason.SWEEP_LIMIT
            return progress
        sweeps += 1
        progress.sweeps += 1
        seeds = _sweep(run, todo)
        if progress.stop_reason is not StopReason.FIXED_POINT or not seeds:
            return progress
        todo = affected(graph, seeds, ways, graph.blocked)
        graph.blocked.clear()
        if not todo:
            return progress


class _Entry:
    """A rule at work in a run. Its code is generated when that is worth its time (`first_tries`)."""

    __slots__ = ("count", "name", "once", "rewrite")

    def __init__(self, plan: MatchProgram, edits: Edits, count: RuleCount, traced: bool) -> None:
        self.name, self.once, self.count = plan.rule.name, plan.rule.once, count
        self.rewrite: Rewriter = lazy_rewriter(plan, traced, edits, partial(setattr, self, "rewrite"))


_Starting = dict[str, "tuple[_Entry, ...] | Dispatch[_Entry]"]


@dataclass(frozen=True, slots=True)
class _Run:
    graph: Graph
    starting: _Starting
    progress: Progress
    most: int
    stop_after: int | None
    observe: Observer | None


def _by_operator(
    plans: Sequence[MatchProgram],
    graph: Graph,
    progress: Progress,
    traced: bool,
    ways: Ways,
    outlines: Callable[[tuple[str, ...]], bool],
) -> _Starting:
    """Operator → rules whose first output can have it, earlier rules first: candidates cost nothing per rule.
    """
    table: dict[str, list[tuple[MatchProgram, _Entry]]] = {}
    edits: dict[int, Edits] = {}
    for plan in plans:
        dialect = plan.rule.dialect
        edit = edits.get(id(dialect)) or edits.setdefault(
            id(dialect), edits_of(graph, dialect, None if USED in ways else ways, outlines)
        )
        entry = _Entry(plan, edit, progress.counts[plan.rule.name], traced)
        for operator in plan.starts:
            table.setdefault(operator, []).append((plan, entry))
    return {
        operator: tuple(entry for _, entry in found) if len(found) < 3
        else Dispatch(graph, [(shapes_of(plan), entry) for plan, entry in found])
        for operator, found in table.items()
    }


def _sweep(run: _Run, todo: Iterable[int]) -> list[int]:
    """One sweep; returns the seeds of the next."""
    graph, progress = run.graph, run.progress
    op, rules_of, recent, made_by = graph.op, run.starting.get, progress.recent, progress.made_by
    most = run.most if run.stop_after is None else min(run.most, run.stop_after)
    seeds: list[int] = []
    began = perf_counter()
    for node in todo:
        found = rules_of(op[node])
        if found is None:
            continue
        if isinstance(found, Dispatch):
            found = found.at(node)
        for entry in found:
            if entry.once and made_by.get(node) == entry.name:
                continue
            first_new = len(op)
            try:
                application = entry.rewrite(node, seeds)
            except RuleFailed as error:
                raise error.of(entry.name) from None
            now = perf_counter()  # one reading a candidate: the next one's time begins where this one's ends
            count = entry.count
            count.candidates += 1
            count.seconds += now - began
            began = now
            if application is None:
                continue
            count.matches += 1
            if isinstance(application, Failure):
                progress.failures.append(application)
                continue
            progress.applications += 1
            count.applications += 1
            recent.append(entry.name)
            if entry.once:
                made_by.update(dict.fromkeys(range(first_new, len(op)), entry.name))
            if run.observe is not None:
                run.observe(progress.applications, application)
            if progress.applications >= most:
                stopped = run.stop_after is not None and progress.applications >= run.stop_after
                progress.stop_reason = StopReason.STOPPED if stopped else StopReason.APPLICATION_LIMIT
                return seeds
            if op[node] is DEAD:
                break
    return seeds


def limit_message(progress: Progress) -> str:
    """The rules that kept firing when the limit was reached, and the loop that they form. A limit set by the
    user proves no loop."""
    often = Counter(progress.recent)
    if progress.given_limit is not None:
        count = f"{progress.given_limit} application{'s' if progress.given_limit != 1 else ''}"
        return (
            f"stopped at the given limit of {count}; there may be more to do; the latest: "
            f"{' → '.join(firing_loop(progress.recent))}"
        )
    names = ", ".join(
        f"`{name}` ({often[name]} of the last {sum(often.values())})"
        for name in sorted(often, key=lambda n: (-often[n], n))
    )
    return (
        f"the rules do not terminate: stopped after {progress.applications} applications; "
        f"these keep firing: {names}; the loop: {' → '.join(progress.loop or firing_loop(progress.recent))}"
    )


def firing_loop(recent: Iterable[str]) -> list[str]:
    """The shortest period with which the latest applications repeat, closed: `a, b, a`."""
    tail = list(recent)[-128:]
    for period in range(1, len(tail) // 2 + 1):
        if all(tail[-k - 1] == tail[-k - 1 - period] for k in range(len(tail) - period)):
            loop = tail[-period:]
            return [*loop, loop[0]]
    return tail[-8:]
