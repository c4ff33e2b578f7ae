"""Instances that are sought for what they can show: operands of unknown rank, sizes of 1 or equal to others,
decisions that go each way, attributes that make a difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, islice, zip_longest
from random import Random

from gslang.base.deadline import Deadline
from gslang.base.quick_dataclass import dataclass
from gslang.check.checked import CheckedRule
from gslang.dialect.signature import REQUIRED
from gslang.verify.comparison.compare import (
    Finding,
    agree_at_a_glance,
    can_be_computed,
    compare,
    fits_its_types,
    refutes,
)
from gslang.verify.comparison.effects import matters, never_finds, shows
from gslang.verify.corners import corners
from gslang.verify.decisions import Goal, goals, reachable, ties
from gslang.verify.demanded import never_so
from gslang.verify.evidence import MOST_IDLE, Evidence, Settings, look_at, look_at_types, refuting
from gslang.verify.instances.draw import (
    KEPT,
    Instance,
    Search,
    integer_types,
    match_in,
    stressing,
    towards,
    wished,
)
from gslang.verify.instances.joint_numbers import at_limits, reaching
from gslang.verify.instances.types_asked import types_not_seen
from gslang.verify.neighbours import Point, defaults_of, emptied, of_mixed_types, point_of, resized, spelled
from gslang.verify.reads import names_types, whole_literals
from gslang.verify.unknown_ranks import on_unknown_ranks, without_ranks
from gslang.verify.unvaried import SAY_NOTHING, constant_attributes, idle_attributes

_MOST_CENTRES = 4  # instances around which corners are looked for
_MOST_DOUBTED = 4  # instances that only exact arithmetic tells anything of
_MOST_TOWARDS = 40  # attempts to make one decision go one way
_LOOKS = 3  # instances of one decision
_OF_EACH_TYPE = 2  # attempts for each element type that was not seen
_MOST_STRESSED = 24  # attempts to make one attribute matter
_DRAWN_INSTANCES = 3  # of a block: rarely more are drawn
_MOST_INSTANCES = 16  # that a number in a rule is taken to be a limit of
_MOST_COUNTS = 6  # of instances of blocks
_MANY = "blocks of many instances"  # a feature
_ANYWAY = 6  # instances of blocks that are looked at whatever numbers a rule states
_WITH_MANY = 3  # attempts for each
_FOR_MANY = 0.1  # share of the time for blocks of many instances
_MOST_TIES = 8  # conditions of which it is sought that they just hold
_TIED = 3  # attempts for each
_FOR_TIES = 0.05  # share of the time for all of them
_MOST_MIXED = 4  # instances of which one input gets another element type
_MOST_EMPTIED = 4  # instances of which some dimensions become 0
_MOST_JOINT = 4  # instances in which several numbers change together, for one decision
_MOST_LIMITS = 12  # the same, for what conditions just allow
_MOST_DECIDED = 6  # outcomes of decisions for which one such instance is sought, too
_KEEPING_RANKS = "a condition such as `y.ndim == x.ndim`, of result and input, excludes higher ranks"


def seek_variety(
    rule: CheckedRule, settings: Settings, evidence: Evidence, search: Search, until: Deadline
) -> None:
    """Seek instances in which conditions decide and attributes matter; note those that never did."""
    _look_at_many(rule, settings, evidence, search, until.within(_FOR_MANY * settings.seconds))
    _seek_decisions(rule, settings, evidence, search, until)
    _seek_effects(rule, settings, evidence, search, until)
    _seek_types(rule, settings, evidence, until)
    evidence.unvaried += constant_attributes(rule, evidence.attributes)
    evidence.unvaried += [
        f"attribute `{name}` of `{operator}` never made a difference"
        for operator, name in idle_attributes(rule, evidence.attributes, evidence.effective)
        if evidence.masked[operator, name] < MOST_IDLE  # else the source takes back what it does
    ]
    if any(finding.special for finding in evidence.good):
        graphs = [instance.before for instance in evidence.agreeing]
        evidence.unvaried += [
            f"no instance with finite inputs where `{operator}` finds a NaN or an infinity"
            for operator in never_finds(graphs, rule.dialect, settings.seed)
        ]
    evidence.stopped = evidence.stopped or until.passed
    _seek_ties(rule, settings, evidence, search, until.within(_FOR_TIES * settings.seconds))
    _seek_limits(rule, settings, evidence, until.within(_FOR_TIES * settings.seconds))


def _seek_types(rule: CheckedRule, settings: Settings, evidence: Evidence, until: Deadline) -> None:
    """Look at an instance of each element type that conditions let pass and none of those that agree has."""
    made = set[str]()
    for wishes in types_not_seen(rule, [instance.before for instance in evidence.agreeing]):
        for seed in range(settings.seed, settings.seed + _OF_EACH_TYPE):
            if until.passed or evidence.bad:
                return
            instance = wished(rule, wishes, seed, Search(), made)
            if instance is not None:
                evidence.coverage["element types that conditions let pass"] += 1
                look_at(rule, instance, settings, evidence)


def look_beyond(
    rule: CheckedRule, settings: Settings, evidence: Evidence, search: Search, until: Deadline, corners: int
) -> None:
    """Look at what is seldom drawn: blocks of many instances, inputs of unknown rank, and corners, of which
    so many are tried.
    """
    if not evidence.coverage[_MANY]:
        _look_at_many(rule, settings, evidence, search, until.within(_FOR_MANY * settings.seconds))
    _look_without_ranks(rule, settings, evidence, search)
    _look_around(rule, settings, evidence, until, corners)
    if not evidence.bad:
        _look_in_floats(rule, settings, evidence)


def _look_in_floats(rule: CheckedRule, settings: Settings, evidence: Evidence) -> None:
    """Where the sides differ in exact arithmetic, which refutes nothing by itself if they have unknown
    functions, and cannot be computed in floats: look at the same with the defaults of open attributes.
    """
    doubted = [
        instance for finding, instance in zip(evidence.good, evidence.agreeing)
        if finding.field is False and finding.numbers is None
    ]
    for instance in doubted[:_MOST_DOUBTED]:
        scope = match_in(rule, instance.before)
        if scope is None:
            continue
        point = point_of(scope)
        plain = point.wishes() | defaults_of(rule, point)
        found = wished(rule, plain, max(instance.seed, settings.seed), Search(), set())
        if found is not None:
            look_at(rule, found, settings, evidence)


def look_at_mixed_types(
    rule: CheckedRule, settings: Settings, evidence: Evidence, until: Deadline
) -> None:
    """Look at instances in which one input has another element type than in those that agree."""
    for centre in islice(reversed(evidence.agreeing), _MOST_MIXED):
        for instance in of_mixed_types(rule, centre):
            look_at_types(rule, instance, settings, evidence)
            if evidence.bad or until.passed:
                return


def look_at_nothing(rule: CheckedRule, settings: Settings, evidence: Evidence, until: Deadline) -> None:
    """Note whether the sides differ where tensors have no elements: rules are hardly meant for these, so this
    refutes none."""
    for centre in islice(reversed(evidence.agreeing), _MOST_EMPTIED):
        for instance in emptied(rule, centre):
            if evidence.empty or until.passed:
                return
            evidence.empty = refuting(rule, instance, settings)


def _look_without_ranks(
    rule: CheckedRule, settings: Settings, evidence: Evidence, search: Search
) -> None:
    """Refute a rule that the engine applies where it cannot know that the target has another shape; also
    where a literal number, which stands for constants of any rank, makes that difference.
    """

    def differs(instance: Instance) -> tuple[Finding | None, str]:
        if instance.after is None:
            return None, ""
        finding = compare(instance.before, instance.after, rule.dialect, rule.approximate, settings.seed)
        return finding, refutes(finding)

    for wide in (False, True):
        pairs = without_ranks(rule, search, settings.seed, wide)
        if not wide:  # where only its shape kept the target from being put there
            unfit = [instance for instance, _, _ in evidence.unfit]
            pairs = chain(on_unknown_ranks(rule, unfit[:KEPT]), pairs)
        for known, loose in pairs:
            finding, why = differs(loose)
            if not why or differs(known)[1] or not fits_its_types(known.before, rule.dialect, settings.seed):
                continue
            if wide:
                why += f"; a literal number matches a constant of any rank: {_KEEPING_RANKS}"
            evidence.bad.append((loose, finding, f"applied to inputs of unknown rank, {why}"))
            return


def _look_at_many(
    rule: CheckedRule, settings: Settings, evidence: Evidence, search: Search, until: Deadline
) -> None:
    """Look at blocks of more instances than are drawn, and than proofs count: a few more than each number
    that the rule states, which may be a limit.
    """
    if not rule.blocks:
        return
    stated = whole_literals(rule, _DRAWN_INSTANCES, _MOST_INSTANCES)
    counts = dict.fromkeys([_ANYWAY, *[number + more for number in stated for more in (2, 1)]])
    made: set[str] = set()
    for count in list(counts)[:_MOST_COUNTS]:
        wishes = {(block, "%count"): count for block in range(len(rule.blocks))}
        for seed in range(settings.seed, settings.seed + _WITH_MANY):
            if until.passed or evidence.bad:
                return
            instance = wished(rule, wishes, seed, search, made)
            if instance is not None:
                evidence.coverage[_MANY] += 1
                look_at(rule, instance, settings, evidence)


@dataclass(frozen=True, slots=True, eq=False)
class _Centre:
    """An instance around which corners are looked at. `number`: among those that agree; `computed`: in floats
    too, which alone may refute; `taken`: alternatives; `outcomes`: of conditions; `kind`: ranks, spellings.
    """

    number: int
    point: Point
    seed: int
    computed: bool
    taken: tuple[int, ...]
    outcomes: tuple[tuple[int, bool], ...]
    kind: tuple[object, ...]

    def order(self) -> tuple[bool, int]:
        """Least for the one that tells most."""
        return not self.computed, self.point.coincidences


def _look_around(
    rule: CheckedRule, settings: Settings, evidence: Evidence, until: Deadline, most: int
) -> None:
    """Look at the corners of a few instances that agree, of different alternatives, ranks and spellings, then
    of different outcomes of conditions; in full where they do not. `most`: attempts to draw one.
    """
    known = list(_centres(rule, settings, evidence))
    plain = _various(known, lambda centre: centre.taken)
    by_outcomes = _various(known, lambda centre: (*centre.taken, *centre.outcomes))
    chosen = {centre.number: centre for centre in (*plain, *by_outcomes)}
    for centre in chosen.values():
        for instance in corners(rule, centre.point, centre.seed, most // len(plain)):
            evidence.coverage["sizes of 1 or equal to others"] += 1
            seed = settings.seed + instance.seed - centre.seed
            if instance.after is None or not agree_at_a_glance(
                instance.before, instance.after, rule.dialect, rule.approximate, seed
            ):
                look_at(rule, instance, settings, evidence)
            if evidence.bad or until.passed:
                return


def _centres(rule: CheckedRule, settings: Settings, evidence: Evidence) -> Iterator[_Centre]:
    """Instances that agree, and could be compared."""
    for number, (finding, instance) in enumerate(zip(evidence.good, evidence.agreeing)):
        compared = finding.field is not None or finding.numbers is not None
        if compared and (scope := match_in(rule, instance.before)) is not None:
            point = point_of(scope)
            yield _Centre(
                number, point, max(instance.seed, settings.seed), finding.numbers is not None,
                tuple(scope.chosen.values()), tuple(sorted(instance.seen)),
                (*map(len, point.shapes.values()), *spelled(scope)),
            )


def _various(known: Sequence[_Centre], grouped: Callable[[_Centre], tuple[object, ...]]) -> list[_Centre]:
    """Some of different groups, the rarest first, and of different ranks and spellings."""
    centres: dict[tuple[object, ...], dict[tuple[object, ...], _Centre]] = {}
    times = Counter(map(grouped, known))
    for here in known:
        alike = centres.setdefault(grouped(here), {})
        alike[here.kind] = min(alike.get(here.kind, here), here, key=_Centre.order)
    rarest_first = sorted(centres, key=times.__getitem__)
    in_turn = chain.from_iterable(zip_longest(*[centres[group].values() for group in rarest_first]))
    return [centre for centre in in_turn if centre is not None][:_MOST_CENTRES]


def _seek_decisions(
    rule: CheckedRule, settings: Settings, evidence: Evidence, search: Search, until: Deadline
) -> None:
    """Look for instances in which each decision goes each way, and note what was never seen.

    What reads the same, or stands behind a decision that never goes its way, is not sought again.
    """
    never = never_so(rule)
    possible = reachable(rule, never)
    known, within = set[str](), possible
    for goal in goals(rule):
        if goal.key in never or id(goal.condition) not in possible:
            continue
        if goal.key in evidence.seen:
            if _times(goal, evidence) < _LOOKS and not until.passed:
                _look_towards(rule, goal, settings, evidence, search, until)
            continue
        hopeless = until.passed or goal.text in known or id(goal.condition) not in within
        found = None if hopeless else _look_towards(rule, goal, settings, evidence, search, until)
        if found is None and goal.key not in evidence.seen_in_integers:
            evidence.unvaried.append(f"no instance where {goal.text}")
            never.add(goal.key)
            within = reachable(rule, never)
            if (goal.key[0], not goal.wanted) in evidence.seen:
                known.add(goal.text)


def _times(goal: Goal, evidence: Evidence) -> int:
    """The number of instances that agree in which a decision went as wanted."""
    return sum(goal.key in instance.seen for instance in evidence.agreeing)


def _look_towards(
    rule: CheckedRule, goal: Goal, settings: Settings, evidence: Evidence, search: Search, until: Deadline
) -> Instance | None:
    """Look at an instance in which a decision goes as wanted, of floats where the rule may be about them; at
    more where its sides are not known to be equal for all numbers. Returns one of them.
    """
    found = None
    for k in range(_LOOKS):
        ways = [
            partial(towards, rule, goal, search, settings.seed + k, _MOST_TOWARDS),
            partial(_jointly_towards, rule, goal, evidence, until),
        ]
        if k == 1:  # one number that is far from others may hide what several do
            ways.reverse()
        instance = ways[0]() or ways[1]()
        if instance is None:
            return found
        if integer_types(instance) and not names_types(rule):
            twin = instance.in_floats()
            instance = twin if twin is not None and goal.key in twin.seen else instance
        found, before = instance, len(evidence.good)
        evidence.coverage[f"solved for: {goal.text}"] += 1
        look_at(rule, instance, settings, evidence)
        if len(evidence.good) == before or k and evidence.good[-1].field is True:
            break
    return found


def _jointly_towards(
    rule: CheckedRule, goal: Goal, evidence: Evidence, until: Deadline
) -> Instance | None:
    """An instance near one that agrees in which a decision goes as wanted since several of its numbers are
    others; None if none is found."""
    others = (centre for centre in reversed(evidence.agreeing) if goal.key not in centre.seen)
    for k, centre in enumerate(islice(others, _MOST_JOINT)):
        scope = match_in(rule, centre.before)
        change = {} if scope is None else reaching(rule, scope, goal, Random(k), until)
        found = resized(rule, centre, change) if change else None
        if (
            found is not None and found.after is not None and goal.key in found.seen
            and can_be_computed(found.before, rule.dialect, found.seed)
        ):
            return found
    return None


def _seek_limits(rule: CheckedRule, settings: Settings, evidence: Evidence, until: Deadline) -> None:
    """Look at instances in which all numbers are as large as conditions allow together, and as the outcome of
    a decision does."""
    tried: set[str] = set()
    decided = [goal for goal in goals(rule) if goal.key in evidence.seen][:_MOST_DECIDED]
    for k, goal in enumerate([*[None] * _MOST_LIMITS, *decided]):
        centres = [i for i in evidence.agreeing if goal is None or goal.key in i.seen]
        if until.passed or evidence.bad:
            return
        centre = centres[-1 - k % len(centres)] if centres else None
        scope = None if centre is None else match_in(rule, centre.before)
        change = {} if scope is None else at_limits(
            rule, scope, () if goal is None else goal.outcomes, Random(k), until
        )
        if centre is None or not change or (text := repr(change)) in tried:
            continue
        tried.add(text)
        if (instance := resized(rule, centre, change)) is not None:
            evidence.coverage["numbers that conditions just allow"] += 1
            look_at(rule, instance, settings, evidence)


def _seek_ties(
    rule: CheckedRule, settings: Settings, evidence: Evidence, search: Search, until: Deadline
) -> None:
    """Look at instances in which sizes and numbers are just what a condition allows, where they are found
    soon: none need exist.
    """
    possible = reachable(rule, never_so(rule))
    open_ties = [
        tie for number, tie in ties(rule).items() if number in possible and tie.key not in evidence.seen
    ]
    for tie in open_ties[:_MOST_TIES]:
        for k in range(_TIED):
            if until.passed or evidence.bad:
                return
            instance = towards(rule, tie, search, settings.seed + k, 1)
            if instance is None:
                continue
            evidence.coverage[f"solved for: {tie.text}"] += 1
            look_at(rule, instance, settings, evidence)


def _seek_effects(
    rule: CheckedRule, settings: Settings, evidence: Evidence, search: Search, until: Deadline
) -> None:
    """Look for instances in which an open attribute makes a difference to the source, where none did."""
    for attribute in sorted(
        {(operator, name) for operator, name, _ in evidence.attributes} - evidence.effective
    ):
        declared = rule.dialect.operators[attribute[0]].attributes[attribute[1]]
        if attribute[1] in SAY_NOTHING or declared.default is REQUIRED:
            continue  # the target has to say something: what it says was compared for several values
        idle = None
        for instance in stressing(
            rule, attribute, search, settings.seed, 0 if until.passed else _MOST_STRESSED
        ):
            if instance.after is None or matters(instance.before, rule.dialect, attribute, settings.seed):
                evidence.coverage[f"made for `{attribute[1]}` of `{attribute[0]}` to matter"] += 1
                evidence.effective.add(attribute)
                look_at(rule, instance, settings, evidence)
                break
            evidence.masked[attribute] += shows(instance.before, rule.dialect, attribute, settings.seed)
            idle = idle or instance
        else:
            if idle is not None:
                look_at(rule, idle, settings, evidence)
