"""Whether both sides of a rule are equal for tensors of every size."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

from gslang.check.checked import CallNode, CheckedRule, MakeCall
from gslang.verify.prove.axioms import assumptions
from gslang.verify.prove.case import Case
from gslang.verify.prove.dtypes import compared
from gslang.verify.prove.facts import Facts
from gslang.verify.prove.families import Family
from gslang.verify.prove.paths import Budget, Choices, Impossible, NotProved, TooMuch, all_cases
from gslang.verify.prove.reals import as_term
from gslang.verify.prove.source import Source
from gslang.verify.prove.target import Target
from gslang.verify.prove.tensors import Tensor, Value, World
from gslang.verify.prove.terms import Term
from gslang.verify.prove.totals import same

RANKS = (2, 3, 4, 6)  # the largest rank of open tensors, as far as time allows: a rule that cannot be proved fails early
STEPS = 30_000  # about two seconds


@dataclass(frozen=True, slots=True)
class Proof:
    """`assumptions`: what the proof takes for granted, beyond that numbers are real. `cases`: how many were looked at."""

    assumptions: tuple[str, ...]
    cases: int
    seconds: float


def prove(rule: CheckedRule, steps: int = STEPS) -> Proof:
    """A proof that the rule's sides are equal, in at most so many steps. Raises `NotProved` with the reason."""
    began = perf_counter()
    best: Proof | None = None
    laws = assumptions(operators_of(rule))
    budget = Budget(steps)
    reason = NotProved("no case fits the source")
    for most in RANKS:
        notes: set[str] = set()
        looked_at = 0
        limited = False

        def run(choices: Choices) -> None:
            nonlocal looked_at, limited
            world = World(Facts(choices), most)
            try:
                _one_case(rule, world)
                looked_at += 1
            finally:
                limited = limited or world.ranks_limited
                notes.update(world.notes)

        try:
            all_cases(run, budget)
        except (RecursionError, LookupError, ValueError, TypeError, AttributeError, ArithmeticError) as error:
            raise NotProved(f"a case that the prover does not master: {error}") from error
        except TooMuch as error:
            reason = error
            break
        if looked_at:
            ranks = (f"ranks up to {most}",) if limited else ()
            best = Proof(("numbers are real", *ranks, "sizes of at least 1", *laws, *sorted(notes)), looked_at, perf_counter() - began)
        if not limited:
            break
    if best is None:
        raise reason
    return best


def operators_of(rule: CheckedRule) -> frozenset[str]:
    """All operators that a rule's source or target may have."""
    found = {name for node in rule.nodes if isinstance(node, CallNode) for name in node.operators}
    return frozenset(found | {t.operator for t in rule.target.targets if isinstance(t, MakeCall) and isinstance(t.operator, str)})


def _one_case(rule: CheckedRule, world: World) -> None:
    case = Case(rule, world)
    before = Source(case).outputs()
    after = Target(case).outputs()
    if len(before) != len(after):
        raise NotProved("another number of outputs")
    for left, right in zip(before, after):
        _compare(world, left, right)


def _compare(world: World, left: Value, right: Value) -> None:
    if isinstance(left, Family) or isinstance(right, Family):
        if not isinstance(left, Family) or not isinstance(right, Family) or left.block != right.block:
            raise NotProved("the outputs are not one for each instance")
        _compare(world, left.first, right.first)
        _compare(world, left.later, right.later)
        return
    if isinstance(left, tuple) or isinstance(right, tuple):
        if not isinstance(left, tuple) or not isinstance(right, tuple) or len(left) != len(right):
            raise NotProved("a tuple against a tensor")
        for a, b in zip(left, right):
            _compare(world, a, b)
        return
    if left is right:
        return
    if not isinstance(left, Tensor) or not isinstance(right, Tensor):
        raise NotProved("an output is absent")
    facts = world.facts
    if compared(left.dtype, right.dtype) is not True:
        raise NotProved("the results' element types may differ")
    if len(left.shape) > len(right.shape) and any(rank == len(left.shape) for rank in world.literal_ranks):
        world.notes.add("where a one-element constant adds dimensions, the rule is not applied")
        raise Impossible
    if len(left.shape) != len(right.shape):
        raise NotProved(f"ranks {len(left.shape)} and {len(right.shape)}")
    for a, b in zip(left.shape, right.shape):
        world.need_equal(a, b, "shapes differ")
    if left.items is not None and right.items is not None:
        for a, b in zip(left.items, right.items):
            _compare_elements(world, as_term(a), as_term(b))
        return
    try:
        for size in left.shape:
            facts.learn(size - 1)
    except Impossible:
        return  # no elements
    sizes = [facts.normal(size) for size in left.shape]
    index = tuple(0 if type(size) is int and size == 1 else facts.position(size) for size in sizes)
    _compare_elements(world, left.at(index), right.at(index))


def _compare_elements(world: World, a: Term, b: Term) -> None:
    if not same(a, b, world.facts):
        raise NotProved(f"{a.key} ≠ {b.key}")
