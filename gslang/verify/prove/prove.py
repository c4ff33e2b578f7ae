"""Proofs that both sides of a rule are equal for tensors of every size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any

from gslang.base.deadline import Deadline
from gslang.base.quick_dataclass import dataclass
from gslang.base.reachable import reachable
from gslang.check.checked import AltNode, CheckedRule
from gslang.verify.demanded import never_so
from gslang.verify.prove.case import Case
from gslang.verify.prove.compared import compare_all
from gslang.verify.prove.counted import INSTANCES
from gslang.verify.prove.generalized import generalizations
from gslang.verify.prove.operators.everywhere import check_everywhere
from gslang.verify.prove.operators.families import check_blocks, check_counts
from gslang.verify.prove.operators.tensors import World
from gslang.verify.prove.ranks.one_element import is_about_one_number
from gslang.verify.prove.ranks.ranks import sufficient
from gslang.verify.prove.source import Source
from gslang.verify.prove.target import Target
from gslang.verify.prove.terms.certificate import CaseRecord, case_as_json
from gslang.verify.prove.terms.facts import Facts
from gslang.verify.prove.terms.journal import Journal
from gslang.verify.prove.terms.paths import (
    FACTS,
    FROM_THE_FIRST,
    Budget,
    Choices,
    Impossible,
    NotProved,
    OutOfTime,
    TooMuch,
    Unsupported,
    all_cases,
)
from gslang.verify.prove.terms.sizes import Number
from gslang.verify.prove.terms.uses import noting
from gslang.verify.prove.watched import Watched, watched
from gslang.verify.recheck.check import statement

# the largest rank of open tensors, as far as time allows: a rule that cannot be proved fails early
RANKS = (2, 3, 4, 6)
STEPS = 75_000  # about five seconds
_GROWTH = 4  # a round mostly takes so many times the steps of the round before
_GROWTH_TO_THE_LAST = 2  # up to the last rank that inputs may have: worth trying
_GROWTH_OF_BLOCKS = 6  # with one more instance of blocks
_TO_RECORD = 4  # times as much for all cases of the last round of a proof
_MOST_UNKNOWN = 4  # operators of a rule that are taken for unknown functions
_MORE_RANKS = 15_500  # steps of the rounds that only say the same of larger ranks
LIMITS = (RecursionError, LookupError, ValueError, TypeError, AttributeError, ArithmeticError)


@dataclass(frozen=True, slots=True)
class Proof:
    """The scope of a proof: for which ranks (`ranks`: the largest, None for all) and element types (`floats`:
    floating-point types only).

    `limits`: cases that were left out. `cases`: how many were looked at. `laws`: the names of those used
    (`laws.LAWS`). `suffices`: the largest rank that was looked at where that says everything of larger ones
    (`ranks.sufficient`). `steps`: of the round with the fewest ranks. `whole`: how many of the cases of a
    certificate are about whole numbers, too. `real`: an element may be a real number.
    """

    ranks: int | None
    floats: bool
    limits: tuple[str, ...]
    cases: int
    seconds: float
    laws: tuple[str, ...] = ()
    suffices: int | None = None
    written: tuple[object, ...] = ()  # the cases of a certificate
    steps: int = 0
    whole: int = 0
    real: bool = True

    @property
    def claimed(self) -> dict[str, Any]:
        """The claim of a certificate."""
        return {
            "ranks": self.ranks,
            "suffices": self.suffices,
            "floats": self.floats,
            "real": self.real,
            "limits": list(self.limits),
            "cases": self.cases,
            "whole": self.whole,
            "laws": list(self.laws),
        }

    @property
    def claim(self) -> str:
        """The proved statement, and the assumptions it rests on."""
        return statement(self.claimed)


def prove(
    rule: CheckedRule, steps: int = STEPS, record: bool = False, until: Deadline | None = None
) -> Proof:
    """A proof that wherever the source of a rule is defined its target is, and equal, in at most so many
    steps, and before a deadline. Raises `NotProved` with the reason.

    Blocks have any number of instances (`families`); where that does not suffice, some (`counted`). Bounds of
    slices stay as they are written at first; where that does not suffice, each is inside its axis, before it
    or behind it: cases. More general rules with fewer cases come first, where there are any (`generalized`);
    why they fail is the reason where the rule itself takes too much. All these ways share the steps.
    `record`: the cases are written down for a certificate (`certificate`).
    """
    budget = Budget(steps, until)
    reason = ""
    for general in generalizations(rule):
        try:
            return _prove_any_way(general, budget, record)
        except OutOfTime:
            raise
        except NotProved as error:
            reason = "" if isinstance(error, TooMuch) else str(error)
    try:
        return _prove_any_way(rule, budget, record)
    except OutOfTime:
        raise
    except TooMuch as error:
        if not reason:
            raise
        raise NotProved(reason) from error


def _prove_any_way(rule: CheckedRule, budget: Budget, record: bool) -> Proof:
    """A proof for any number of instances of blocks, or else for as many as steps suffice for."""
    try:
        return _prove_with(rule, budget, 0, record)
    except OutOfTime:
        raise
    except NotProved:
        if not rule.blocks:
            raise
    best: Proof | None = None
    for counted in INSTANCES:
        budget.release()
        try:
            best = _prove_with(rule, budget, counted, record)
        except NotProved as error:
            if best is None or isinstance(error, OutOfTime):  # as with ranks
                raise
            break
        if budget.release() < _GROWTH_OF_BLOCKS * best.steps:
            break
    assert best is not None
    return best


def _prove_with(rule: CheckedRule, budget: Budget, counted: int, record: bool) -> Proof:
    """A proof with so many instances of blocks, in which operators whose meaning does not suffice are unknown
    functions."""
    unknown = frozenset[str]()
    while True:
        try:
            return _prove_by_slices(rule, budget, _Way(counted, False, unknown), record)
        except Unsupported as error:
            if error.operator in unknown or len(unknown) == _MOST_UNKNOWN:
                raise
            unknown |= {error.operator}


def _prove_by_slices(rule: CheckedRule, budget: Budget, way: _Way, record: bool) -> Proof:
    """A proof with slices as they are written, else by cases."""
    found = _Found()
    try:
        return _prove(rule, budget, way, found, record)
    except OutOfTime:
        raise
    except NotProved:
        if not found.clipped:
            raise
    return _prove(rule, budget, replace(way, by_cases=True), found, record)


@dataclass(frozen=True, slots=True)
class _Way:
    """`counted`: blocks have up to so many instances, 0 for any number; `by_cases`: bounds of slices are
    settled by cases; `unknown`: operators that are taken for unknown functions.
    """

    counted: int
    by_cases: bool
    unknown: frozenset[str]


def _prove(rule: CheckedRule, budget: Budget, way: _Way, first: _Found, record: bool) -> Proof:
    began = perf_counter()
    budget.release()
    (check_counts if way.counted else check_blocks)(rule)
    watching = watched(rule)
    best: Proof | None = None
    reason = NotProved("no case matches the source")
    enough = sufficient(rule)
    last = _last_rank(watching)
    found, reached = _Found(), 0
    starts = FROM_THE_FIRST
    for most in _ranks_of_rounds(enough, last):
        to_the_last = enough is None and last is not None and most <= last
        if best is not None and most != enough and not to_the_last:
            budget.withhold(_MORE_RANKS)
        left = budget.left
        budget.patient = best is not None
        try:
            starts = _look_at_cases(watching, budget, _Round(way, most, starts), found, first)
        except OutOfTime:  # a proof for some ranks would be another claim on a faster machine
            raise
        except TooMuch as error:
            reason = error
            break
        bounded = starts or found.limits
        left_out = _left_out(watching, found, rule) if bounded else []
        spent = left - budget.left
        if left_out:
            reason = NotProved(f"no examined case has {left_out[0]}")
        elif found.why_floats is not None and not found.real:
            reason = found.why_floats  # it is about whole numbers alone
        elif found.cases:
            reached = most
            best = Proof(
                most if starts and most != enough else None, found.floats, found.limits,
                found.cases, perf_counter() - began, tuple(sorted(found.laws)),
                most if starts and most == enough else None,
                steps=spent if best is None else best.steps, real=found.with_reals,
            )
        growth = _GROWTH_TO_THE_LAST if to_the_last else _GROWTH
        if not starts or best is not None and budget.left < growth * spent:
            break
        if best is not None and enough is None and not to_the_last and _MORE_RANKS < _GROWTH * spent:
            break
    if best is None:
        raise reason
    if not record:
        return best
    more = Budget(_TO_RECORD * STEPS, budget.until, _TO_RECORD * FACTS)
    more.patient = True
    return _recorded(watching, more, way, reached, best)


def _recorded(watching: Watched, budget: Budget, way: _Way, most: int, proof: Proof) -> Proof:
    """A proof with all cases up to its largest rank written down: for floating-point types only, where
    integers of open types were compared bit by bit. Raises `TooMuch`.
    """
    found = _Found([])
    _look_at_cases(watching, budget, _Round(way, most, FROM_THE_FIRST), found, _Found())
    return replace(
        proof, floats=found.floats, limits=found.limits, cases=found.cases, whole=found.whole,
        real=found.with_reals,
        laws=tuple(sorted({*proof.laws, *found.laws})),
        written=tuple(found.written or ()),
    )


def _last_rank(watching: Watched) -> int | None:
    """The largest rank that any input may have; None where that of some input has no limit."""
    rule, limits = watching.rule, watching.limits
    matched = reachable(rule.outputs, lambda k: rule.nodes[k].below)
    ranks = [limits.get(k) for k in rule.leaves if k in matched]
    known = [rank for rank in ranks if rank is not None]
    return max(known) if known and len(known) == len(ranks) else None


def _ranks_of_rounds(enough: int | None, last: int | None) -> list[int]:
    """The largest rank of each round: up to the one that suffices, or with the last one that there is."""
    ends = {rank for rank in (enough, last) if rank is not None}
    return sorted(rank for rank in ends.union(RANKS) if enough is None or rank <= enough)


@dataclass(frozen=True, slots=True)
class _Round:
    """`most`: the largest rank of open tensors; `starts`: where the cases of these ranks begin, after those
    of the rounds before.
    """

    way: _Way
    most: int
    starts: Mapping[tuple[int, ...], float]


def _look_at_cases(
    watching: Watched, budget: Budget, this: _Round, found: _Found, first: _Found
) -> Mapping[tuple[int, ...], float]:
    """Look at all cases of a round; returns where those of larger ranks begin. Raises `NotProved` from one of
    them.
    """
    known = Facts(Choices([], budget))
    if found.written is not None:
        known.proved = []
    known.journal = Journal(known)

    def run(choices: Choices) -> None:
        known.choices = choices
        choices.floats_only = found.floats and found.written is None
        world = World(known, this.most)
        world.facts.by_cases, world.counted = this.way.by_cases, this.way.counted
        world.has_infinities = watching.has_infinities
        world.unknown = this.way.unknown
        try:
            _look_at_case(watching, world, found)
        finally:
            first.clipped = first.clipped or world.clipped

    try:
        return all_cases(run, budget, known.journal, this.starts)
    except LIMITS as error:
        raise NotProved(f"internal limit of the prover: {error}") from error


class _Found:
    """The state shared by the cases of one round."""

    def __init__(self, written: list[object] | None = None) -> None:
        self.written = written  # cases, where a certificate asks for them
        self.cases = 0
        self.whole = 0  # those of them that are about whole numbers, too
        self.clipped = False  # a bound of a slice was left as it is written
        self.real = 0  # those that are about real numbers
        self.with_reals = False  # an element of some tensor may be a real number
        self.floats = False  # it holds for floats, and could not be shown for whole numbers
        self.why_floats: NotProved | None = None  # why not
        self.notes: set[str] = set()
        self.notes_of_whole: set[str] = set()  # of the cases that are about whole numbers, too
        self.laws: set[str] = set()
        self.sides: set[tuple[int, bool]] = set()
        self.branches: set[tuple[int, int]] = set()  # (alternation, branch)

    @property
    def limits(self) -> tuple[str, ...]:
        """The assumptions of the claim: none about whole numbers where it is for floats only."""
        return tuple(sorted(self.notes if self.floats else self.notes | self.notes_of_whole))


def _left_out(watching: Watched, found: _Found, rule: CheckedRule) -> list[str]:
    """Decisions that no case took, where cases were left out: an `or` whose first operands always hold
    decides nothing by its others.

    The rank of a constant with one element, which is asked to read that element, is no decision: the claim
    names the ranks. Nor is a rank that operators leave no choice of (`demanded`).
    """
    never = never_so(rule)
    branches = [
        f"alternative {k + 1} of `{node.name or '_'}`"
        for number, node in enumerate(watching.rule.nodes) if isinstance(node, AltNode)
        for k in range(len(node.branches)) if (number, k) not in found.branches
    ]  # fmt: skip
    return branches + [
        goal.text
        for goal in watching.wanted
        if goal.key not in found.sides and (goal.key[0], not goal.wanted) in found.sides
        and goal.key not in never and not is_about_one_number(rule, goal.condition)
    ]  # fmt: skip


def _look_at_case(watching: Watched, world: World, found: _Found) -> None:
    case = Case(watching, world)
    end, contradicting = "equal", tuple[Number, ...]()
    if found.written is not None:
        world.record = CaseRecord(world.facts)
    try:
        with noting() as uses:
            one_case(case)
        with_reals = case.graph.may_hold_reals()
    except TooMuch:
        raise
    except Impossible as error:
        end, contradicting = error.why, error.sizes
        raise
    except NotProved as error:
        if not world.whole:
            raise
        found.floats, end = True, "not shown for integers"
        found.why_floats = found.why_floats or error
        return
    finally:
        if found.written is not None and world.record is not None:
            found.written.append(case_as_json(world.record, end, world.whole, contradicting))
        case.end()
    found.cases += 1
    found.whole += world.whole
    found.real += not world.whole
    found.with_reals = found.with_reals or with_reals
    (found.notes_of_whole if world.whole else found.notes).update(world.notes)
    found.laws |= uses.names
    found.sides |= case.scope.sides
    for chosen in (case.scope.chosen, *(i.chosen for instances in case.scope.instances for i in instances)):
        found.branches |= set(chosen.items())


def one_case(case: Case) -> None:
    """Compare the sides of a rule in a case. Raises `NotProved` and `Impossible`."""
    before = Source(case).outputs()
    after = Target(case).outputs()
    if len(before) != len(after):
        raise NotProved("the sides have different numbers of outputs")
    check_everywhere(case.world)
    compare_all(case.world, before, after, ())
