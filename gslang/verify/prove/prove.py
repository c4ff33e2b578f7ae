"""Whether both sides of a rule are equal for tensors of every size."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

from gslang.check.checked import CheckedRule
from gslang.verify.prove.case import Case
from gslang.verify.prove.facts import Facts
from gslang.verify.prove.paths import Choices, Impossible, NotProved, all_cases
from gslang.verify.prove.tensors import Tensor, Value, World
from gslang.verify.prove.totals import same

RANKS = (6, 4, 3)  # the largest rank of open tensors: smaller ones are tried where there are too many cases


@dataclass(frozen=True, slots=True)
class Proof:
    """`assumptions`: what the proof takes for granted, beyond that numbers are real. `cases`: how many were looked at."""

    assumptions: tuple[str, ...]
    cases: int
    seconds: float


def prove(rule: CheckedRule, seconds: float = 4.0) -> Proof:
    """A proof that the rule's sides are equal. Raises `NotProved` with the reason."""
    began = perf_counter()
    reason = NotProved("it took too long")
    for most in RANKS:
        notes: set[str] = set()
        looked_at = 0

        def run(choices: Choices) -> None:
            nonlocal looked_at
            if _one_case(rule, choices, most, notes):
                looked_at += 1

        end = min(perf_counter() + seconds / len(RANKS), began + seconds)
        try:
            all_cases(run, end)
        except NotProved as error:
            if "took too long" not in str(error):
                raise
            reason = error
            continue
        except RecursionError as error:
            raise NotProved("the terms are too deep") from error
        if not looked_at:
            if most == RANKS[0]:
                raise NotProved("no case fits the source")
            break
        return Proof(("numbers are real", f"ranks up to {most}", "sizes of at least 1", *sorted(notes)), looked_at, perf_counter() - began)
    raise reason


def _one_case(rule: CheckedRule, choices: Choices, most: int, notes: set[str]) -> bool:
    facts = Facts(choices)
    world = World(facts, most)
    case = Case(rule, world)
    before = case.source()
    after = case.target()
    if len(before) != len(after):
        raise NotProved("another number of outputs")
    for left, right in zip(before, after):
        _compare(world, left, right)
    notes |= world.notes
    return True


def _compare(world: World, left: Value, right: Value) -> None:
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
    world.need_same_dtype(left.dtype, right.dtype)
    if len(left.shape) != len(right.shape):
        raise NotProved(f"ranks {len(left.shape)} and {len(right.shape)}")
    for a, b in zip(left.shape, right.shape):
        world.need_equal(a, b, "shapes differ")
    try:
        for size in left.shape:
            facts.learn(size - 1)
    except Impossible:
        return  # no elements
    index = tuple(facts.position(facts.normal(size)) for size in left.shape)
    a, b = left.at(index), right.at(index)
    if not same(a, b, facts):
        raise NotProved(f"{a.key} ≠ {b.key}")
