"""Sweeps over a graph until nothing matches (semantics.md §4).

A sweep visits, in order, the nodes that were there when it began, and tries the rules that can start at each,
earlier rules first; a match is rewritten at once. Later sweeps visit only what is near enough to a change for
some pattern to reach it. A limit on applications ends a rule set that does not terminate, and says which
rules keep firing.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import field
from enum import Enum
from functools import cache, partial
from time import perf_counter

from gslang.base.collection import no_collection
from gslang.base.quick_dataclass import dataclass
from gslang.check.checked import CheckedRule
from gslang.check.footprint import footprint
from gslang.check.limits import RuleFailed
from gslang.check.opsets import why_unfit
from gslang.engine.dispatch import Dispatch, can_ever_match, shapes_of
from gslang.engine.edits import Edits, edits_of
from gslang.engine.first_tries import has_many_users, lazy_rewriter
from gslang.engine.lower import program_of
from gslang.engine.outline_conditions import can_match_within, reads_kinds
from gslang.engine.program import MatchProgram
from gslang.engine.rewrite import Application, Failure, Rewriter
from gslang.engine.worklist import Demands, Made, Ways, affected, can_fit, demands_of, fitting, ways_of
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
    made_by: dict[int, str] = field(default_factory=dict)  # node → `maker`, for rules under `@once`
    given_limit: int | None = None  # of applications, where somebody gave one
    loop: list[str] = field(default_factory=list)  # of rules that never end, if it was looked for (`loops`)

    def include(self, other: Progress) -> None:
        """Add what was done in another graph, a part of this one."""
        for name, count in other.counts.items():
            own = self.counts.get(name)
            if own is None:
                own = self.counts[name] = RuleCount()
            if not count.candidates:
                continue
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


@no_collection()
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
    able = can_ever_match(rules, graph.op)
    unfit = {rule.name: why for rule in able if (why := why_unfit(rule, graph.meta))}
    progress.skipped.update(unfit)
    rules = [rule for rule in rules if not rule.disconnected and rule.name not in unfit]
    if limits.stop_after is not None and progress.applications >= limits.stop_after:
        progress.stop_reason = StopReason.STOPPED
        return progress
    for rule in rules:
        progress.counts.setdefault(rule.name, RuleCount())
    # what others would have made is not there
    left = [rule for rule in able if not rule.disconnected and rule.name not in unfit]
    rules = can_ever_match(left, graph.op)
    outlining = outlining and observe is None

    @cache
    def tables() -> tuple[Ways, dict[str, list[Demands]] | None]:
        plans = [program_of(rule) for rule in rules]
        return ways_of(plans), demands_of(plans)

    def matters(made: Made, number: int) -> bool:
        demands = tables()[1]
        return demands is None or can_fit(made, number, demands)

    starting = _Starting(rules, graph, progress, observe is not None, outlining, matters)

    def next_starts(seeds: list[int]) -> list[int]:
        ways, demands = tables()
        found = affected(graph, fitting(graph, seeds, demands), ways, graph.blocked)
        graph.blocked.clear()
        return found

    todo = (
        graph.in_order_of(starting.operators) if near is None else affected(graph, near, tables()[0], ())
    )
    most = limits.applications if limits.applications is not None else 10 * len(graph) + 1000
    most += progress.applications
    run = _Run(graph, starting, progress, most, limits.stop_after, observe)
    try:
        return _sweeps(run, todo, next_starts, limits)
    finally:
        graph.additions.clear()  # nobody watches any more


def nothing_matches(rules: Iterable[CheckedRule], limits: Limits, progress: Progress) -> None:
    """Note of rules none of which can ever match what `run_to_fixed_point` would note."""
    progress.stop_reason, progress.given_limit = StopReason.FIXED_POINT, limits.applications
    for rule in rules:
        if not rule.disconnected and rule.name not in progress.counts:
            progress.counts[rule.name] = RuleCount()
    progress.sweeps += 1


def _sweeps(
    run: _Run, todo: list[int], next_starts: Callable[[list[int]], list[int]], limits: Limits
) -> Progress:
    progress = run.progress
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
        todo = next_starts(seeds)
        if not todo:
            return progress


class _Entry:
    """A rule at work in a run. Its code is generated when that is worth its time (`first_tries`)."""

    __slots__ = ("count", "maker", "name", "rewrite")

    def __init__(
        self, plan: MatchProgram, edits: Edits, count: RuleCount, traced: bool, crowded: Callable[[], bool]
    ) -> None:
        self.name, self.count = plan.rule.name, count
        self.maker = plan.rule.maker if plan.rule.once else None  # under `@once`
        self.rewrite: Rewriter = lazy_rewriter(
            plan, traced, edits, crowded, partial(setattr, self, "rewrite")
        )


class _Starting:
    """Operator → rules whose first output can have it, earlier rules first: candidates cost nothing per rule.
    Rules are read, and their programs made, when there is a candidate.
    """

    __slots__ = (
        "_crowded", "_edits", "_entries", "_graph", "_matters", "_of", "_outlining", "_progress", "_rules",
        "_traced", "known",
    )

    def __init__(
        self, rules: Sequence[CheckedRule], graph: Graph, progress: Progress, traced: bool, outlining: bool,
        matters: Callable[[Made, int], bool],
    ) -> None:  # fmt: skip
        self._graph, self._rules, self._progress, self._traced = graph, rules, progress, traced
        self._outlining, self._crowded = outlining, cache(partial(has_many_users, graph))
        self._matters = matters
        self._of: dict[str, list[CheckedRule]] = {}
        for rule in rules:
            for operator in footprint(rule).starts:
                self._of.setdefault(operator, []).append(rule)
        self._entries: dict[CheckedRule, tuple[MatchProgram, _Entry]] = {}
        self._edits: dict[int, Edits] = {}
        self.known: dict[str, tuple[_Entry, ...] | Dispatch[_Entry] | None] = {}

    @property
    def operators(self) -> Collection[str]:
        """The operators of nodes at which some rule can start."""
        return self._of.keys()

    def at(self, operator: str) -> tuple[_Entry, ...] | Dispatch[_Entry] | None:
        """The rules that can start at a node with this operator; from then on `known` has them."""
        found = [self._entry(rule) for rule in self._of.get(operator, ())]
        self.known[operator] = (
            None if not found
            else tuple([entry for _, entry in found]) if len(found) < 3
            else Dispatch(self._graph, [(shapes_of(plan), entry) for plan, entry in found])
        )
        return self.known[operator]

    def _entry(self, rule: CheckedRule) -> tuple[MatchProgram, _Entry]:
        if rule not in self._entries:
            plan, key = program_of(rule), id(rule.dialect)
            if key not in self._edits:
                self._edits[key] = edits_of(self._graph, rule.dialect, self._matters, self._outlines)
            entry = _Entry(
                plan, self._edits[key], self._progress.counts[rule.name], self._traced, self._crowded
            )
            self._entries[rule] = plan, entry
        return self._entries[rule]

    def _outlines(self, operators: tuple[str, ...]) -> bool:
        """True if no rule could tell an outline from calls of these operators."""
        return self._outlining and not any(
            [reads_kinds(rule) or can_match_within(rule, frozenset(operators)) for rule in self._rules]
        )


@dataclass(frozen=True, slots=True)
class _Run:
    graph: Graph
    starting: _Starting
    progress: Progress
    most: int
    stop_after: int | None
    observe: Observer | None


def _sweep(run: _Run, todo: Iterable[int]) -> list[int]:
    """One sweep; returns the seeds of the next."""
    graph, progress = run.graph, run.progress
    op, known, recent, made_by = graph.op, run.starting.known, progress.recent, progress.made_by
    observe = run.observe
    most = run.most if run.stop_after is None else min(run.most, run.stop_after)
    seeds: list[int] = []
    began = perf_counter()
    for node in todo:
        operator = op[node]
        found = known[operator] if operator in known else run.starting.at(operator)
        if found is None:
            continue
        for entry in found if isinstance(found, tuple) else found.at(node):
            if entry.maker is not None:
                if made_by.get(node) == entry.maker:
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
            if entry.maker is not None:
                made_by.update(dict.fromkeys(range(first_new, len(op)), entry.maker))
            if observe is not None:
                observe(progress.applications, application)
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
