"""Rules over given operators: terms are enumerated, equations become candidates, those that the others do not
imply get conditions and verdicts.

The order of the work is fixed, whatever `jobs` is: the fewest candidates from which the others follow are
judged in processes, one of each family at a time, and kept or dropped one after another. Where the rule that
a candidate became does not imply what the candidate did, that is judged next. A state file holds what was
enumerated and judged, for the next run with the same question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import field, replace

from gslang.api import load, parse_rules
from gslang.base.quick_dataclass import dataclass
from gslang.check.checked import CheckedRule
from gslang.check.limits import counted_work, uncounted_work
from gslang.discover.backwards import backwards
from gslang.discover.enumerate import Equation, Found, enumerate_terms
from gslang.discover.equations import Candidate, candidates
from gslang.discover.implied import implied
from gslang.discover.judge import Judged, family, judge, named
from gslang.discover.minimal import PRUNING, follows, minimal
from gslang.discover.plan import Plan, Question, cost_of, plan_of
from gslang.discover.several import joint_candidates
from gslang.discover.state import State, tree_of
from gslang.search.cost.tables import CostTable


@dataclass(slots=True)
class Discovery:
    """`rules`: kept, smallest first. `counts`: per size, terms looked at, computed and kept. `equations`,
    `candidates`: how many there were; `refused`: those for which no conditions were found; `followed`: those
    that others imply, by name."""

    rules: list[Judged] = field(default_factory=list)
    counts: list[tuple[int, int, int]] = field(default_factory=list)
    equations: int = 0
    candidates: int = 0
    refused: list[Candidate] = field(default_factory=list)
    followed: list[str] = field(default_factory=list)


def discover(
    question: Question, table: CostTable, pool: Executor | None = None, state: str | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> Discovery:  # fmt: skip
    """The rules. `pool`: where candidates are judged; `tell` gets a line now and then. Raises `InputError`.
    """
    plan = plan_of(question)
    kept = State(state, question)
    result = Discovery()
    equations = _equations(plan, kept, result, tell)
    result.equations = len(equations)
    found = candidates(equations, plan.formers, plan.inputs, lambda tree: cost_of(tree, plan, table))
    result.candidates = len(found)
    tell(f"equations: {len(equations)}, candidates: {len(found)}")
    by = [rule for file in question.files for rule in load(file).known.values()]
    names: dict[str, int] = {}
    with counted_work(len(found)):
        _judge_all(found, plan, by, kept, pool, result, names, tell)
    if question.outputs > 1:
        joint = joint_candidates(equations, plan.formers, plan.inputs, question.outputs)
        result.candidates += len(joint)
        tell(f"candidates with several outputs: {len(joint)}")
        # as equations, rules with fewer inputs on one side imply them, which rewriting cannot use
        several = [rule for rule in by if len(rule.outputs) > 1 or backwards(rule) is not None]
        with counted_work(len(joint)):
            _judge_all(joint, plan, several, kept, pool, result, names, tell)
    return result


def _judge_all(
    found: Sequence[Candidate],
    plan: Plan,
    by: list[CheckedRule],
    kept: State,
    pool: Executor | None,
    result: Discovery,
    names: dict[str, int],
    tell: Callable[[str], None],
) -> None:
    """Add the rules that candidates become, as far as those of `by`, which get them too, do not imply them.
    """
    waiting = _left(found, plan, by, result)
    while waiting:
        chosen = _one_of_each_family(minimal(waiting, plan, by), plan)
        for candidate, answer in _judged(chosen, plan.question, kept, pool):
            if answer is None:
                result.refused.append(candidate)
            else:
                _keep(answer, plan, by, names, result)
        waiting = _left([c for c in waiting if c not in chosen], plan, by, result)
        tell(f"rules: {len(result.rules)}, candidates left: {len(waiting)}")


def _left(
    waiting: Sequence[Candidate], plan: Plan, by: Sequence[CheckedRule], result: Discovery
) -> list[Candidate]:
    """The candidates that the rules do not imply; the others are noted."""
    left = [candidate for candidate in waiting if not follows(candidate, plan, by)]
    result.followed += [named(candidate, plan.formers) for candidate in waiting if candidate not in left]
    return left


def _one_of_each_family(needed: Sequence[Candidate], plan: Plan) -> list[Candidate]:
    """The first of those that differ in attributes or types only: one rule may be all of them."""
    found: dict[str, Candidate] = {}
    for candidate in needed:
        found.setdefault(family(candidate, plan.formers, plan.dialect), candidate)
    return list(found.values())


def _equations(plan: Plan, kept: State, result: Discovery, tell: Callable[[str], None]) -> list[Equation]:
    known = kept.data.get("equations")
    if known is not None:
        result.counts = [tuple(item) for item in kept.data["counts"]]  # type: ignore[misc]
        tell(f"{len(known)} equations from {kept.path}")
        return [Equation(tree_of(left), tree_of(right)) for left, right in known]

    def done(size: int, found: Found) -> None:
        looked, computed, new = found.counts[-1]
        tell(
            f"size {size}: {looked} terms, {computed} computed, {new} new, {len(found.equations)} equations"
        )

    found = enumerate_terms(plan.formers, plan.inputs, plan.dialect, plan.question.size, done)
    result.counts = found.counts
    kept.data.update(equations=[[e.left, e.right] for e in found.equations], counts=found.counts)
    kept.save()
    return found.equations


def _judged(
    chosen: Sequence[Candidate], question: Question, kept: State, pool: Executor | None
) -> Iterator[tuple[Candidate, Judged | None]]:
    """The answer for each candidate, in order; those of an earlier run are used again."""
    tasks = [(question, candidate) for candidate in chosen if not kept.knows(candidate)]
    answers = iter(pool.map(judge_one, tasks) if pool is not None else map(judge_one, tasks))
    for candidate in chosen:
        if not kept.knows(candidate):
            kept.note(candidate, next(answers))
        yield candidate, kept.answer(candidate)


def judge_one(task: tuple[Question, Candidate]) -> Judged | None:
    """The rule that a candidate becomes, if there is one; for a process that knows nothing yet."""
    question, candidate = task
    plan = plan_of(question)
    with uncounted_work():  # as in a process of its own
        return judge(
            candidate,
            named(candidate, plan.formers),
            plan.prelude,
            plan.formers,
            plan.dialect,
            question.require,
        )


def _keep(
    answer: Judged, plan: Plan, by: list[CheckedRule], names: dict[str, int], result: Discovery
) -> None:
    """Add a rule, unless those before it imply it; `by` gets it in both directions, where the other one is a
    rule."""
    number = names.get(answer.name, 0) + 1
    own = answer.name if number == 1 else f"{answer.name}_{number}"
    answer = replace(answer, name=own, text=answer.text.replace(f"rule {answer.name}(", f"rule {own}(", 1))
    rule = parse_rules(plan.prelude + answer.text, "<discovered>").known[own]
    if by and implied(rule, by, PRUNING).implied:
        result.followed.append(own)
        return
    names[answer.name.rpartition("_")[0] if number > 1 else own] = number
    result.rules.append(answer)
    by.append(rule)
