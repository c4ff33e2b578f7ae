"""The evidence of a rule's instances: which agree, which refute it, and what was looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace
from itertools import chain, islice
from math import inf
from typing import Literal

from gslang.base.deadline import SECONDS, Deadline, deadline
from gslang.base.quick_dataclass import dataclass
from gslang.check.checked import CheckedProgram, CheckedRule
from gslang.dialect.signature import REQUIRED
from gslang.graph.graph import CONST, INPUT, PARAM, Graph
from gslang.verify.compare import (
    Finding,
    agree_at_a_glance,
    can_be_computed,
    compare,
    fits_its_types,
    refutes,
)
from gslang.verify.decisions import goals, reachable
from gslang.verify.demanded import never_so
from gslang.verify.effects import Attribute, matters, never_finds, shows
from gslang.verify.instances import (
    KEPT,
    Instance,
    Search,
    instances,
    instances_on,
    integer_types,
    is_about_nothing,
    match_in,
    of_whole_numbers,
    stressing,
    towards,
)
from gslang.verify.neighbours import NEAR, Point, corners, near, point_of
from gslang.verify.own_tests import graphs_near, test_graphs
from gslang.verify.prove.prove import STEPS
from gslang.verify.reads import names_types
from gslang.verify.unknown_ranks import on_unknown_ranks, without_ranks
from gslang.verify.unvaried import SAY_NOTHING, constant_attributes, idle_attributes
from gslang.verify.variety import varied

_MOST_ATTEMPTS = 60  # to draw an instance, for each that is wanted
_FOR_POOL = 10  # the same, for those to choose from: where hardly one succeeds, no more than needed are drawn
_MOST_NEAR = 400  # attempts to change the sizes in a rule's own tests, where no other instance was found
_ENOUGH_BAD = 6  # instances that refute: the smallest of them is shown
_SECONDS_WHEN_BAD = 0.5  # for finding a smaller one
_FIRST = 2  # one in so many instances is looked at before a proof is sought; a proved rule needs no more
_DRAWN_FIRST = 2  # times as many are drawn to choose these from
_UNPROVED = 2  # times as many are looked at where they are all that a verdict rests on
_FOR_WHOLE = 4  # attempts to draw one with whole numbers, for each that is wanted
_FOR_DRAWN = 0.5  # share of the time for drawn instances, before a proof is sought, and as much after it
_FOR_CHOICE = 0.3  # share of the time in which more are drawn than compared


Covered = Literal["", "limited", "part", "floats", "all"]
"""The element types for which a proof says all that is to be known of a rule; "part": one that leaves out
ranks or spellings; "limited": that, and integers. Empty: there is no proof.
"""


@dataclass(frozen=True, slots=True)
class Settings:
    """`seconds`: the most processor time for one rule; `proof_steps`: of a search for a proof (0: none).

    `wanted`: how many instances to look at. `special`: NaN and infinities refute too; `whole`: so do integers
    for which alone the target does not fit.
    """

    seconds: float = SECONDS
    seed: int = 0
    wanted: int = 24
    special: bool = False
    whole: bool = False
    proof_steps: int = STEPS


@dataclass(slots=True)
class Evidence:
    """`good`: of instances whose sides agree, as far as can be told; `agreeing`: these, but for those that
    were only looked at. `bad`: what refutes, with the reason.
    `unfit`: integers for which alone the target does not fit. `in_floats`: instances without integers agree.
    `drawn`: how many are no tests of
    the rule's own. `coverage`: feature → how many instances have it. `search`: of those that are drawn.
    `stopped`: the time was over before enough was seen; not `complete`: where it is not known what was not
    varied. `unvaried`: what no instance showed, as messages name
    it. `effective`: attributes of the source that changed what it computes in some instance. `idle`: how many
    instances showed that they did not; `masked`: in how many of these the operator's own result changed.
    """

    good: list[Finding] = field(default_factory=list)
    agreeing: list[Instance] = field(default_factory=list)
    bad: list[tuple[Instance, Finding | None, str]] = field(default_factory=list)
    unfit: list[tuple[Instance, Finding | None, str]] = field(default_factory=list)
    in_floats: bool = False
    drawn: int = 0
    coverage: Counter[str] = field(default_factory=Counter)
    search: Search = field(default_factory=Search)
    complete: bool = False
    stopped: bool = False
    unvaried: list[str] = field(default_factory=list)
    seen: set[tuple[int, bool]] = field(default_factory=set)
    attributes: set[tuple[str, str, str]] = field(default_factory=set)
    effective: set[Attribute] = field(default_factory=set)
    idle: Counter[Attribute] = field(default_factory=Counter)
    masked: Counter[Attribute] = field(default_factory=Counter)


def gather(
    rule: CheckedRule,
    settings: Settings,
    programs: Sequence[CheckedProgram],
    evidence: Evidence,
    covers: Callable[[Evidence], Covered],
) -> None:
    """Add to the evidence what the rule's own tests in `programs` and drawn instances show, until enough was
    seen or the time is over. Whoever ends it before has what was seen until then.

    `covers`: asked once, after a first look at fewer instances that agree, what a proof was found for; beyond
    them, only whole numbers that it leaves out are looked at then, and what guards against its errors. Where
    it leaves out more, no more are drawn to choose from.
    """
    search = evidence.search
    until = deadline(settings.seconds)
    drawing = until.within(_FOR_DRAWN * settings.seconds)
    own = instances_on(rule, test_graphs(rule, programs), search)
    _look_at_all(rule, own, settings, evidence, settings.wanted, drawing)
    sizes = graphs_near(rule, programs, settings.seed, _MOST_NEAR)
    resized = (replace(i, features=("near an own test",)) for i in instances_on(rule, sizes, search))
    waiting: Iterator[Instance] = iter(())
    covered: Covered = ""
    if settings.proof_steps and rule.changes is None and not evidence.bad:
        waiting = _a_few(rule, settings, evidence, search, resized, drawing)
        agree = bool(evidence.good) and not evidence.bad and (evidence.in_floats or not evidence.unfit)
        covered = covers(evidence) if agree else ""
        if covered in ("floats", "all") and len(evidence.good) >= settings.wanted // _FIRST:
            if covered == "floats":
                _look_at_whole_numbers(rule, settings, evidence, search, drawing)
            if not evidence.unfit:
                _without_ranks(rule, settings, evidence, search)
                _look_around(rule, settings, evidence, until, _CORNERS_OF_PROVED)
                if not evidence.bad:
                    evidence.complete = True
                    return
        drawing = until.within(_FOR_DRAWN * settings.seconds)
    unproved = settings.proof_steps and not covered
    wanted = _UNPROVED * settings.wanted if unproved else settings.wanted
    most = _MOST_ATTEMPTS * settings.wanted
    attempts = min(search.seeds + _FOR_POOL * settings.wanted, most)
    drawn = instances(rule, search, settings.seed, drawing.left, attempts)
    choosing = drawing.within(_FOR_CHOICE * settings.seconds).end
    chosen = waiting
    if covered != "part":
        chosen = varied(chain(waiting, drawn), wanted, rule.dialect, choosing)
    _look_at_all(rule, chosen, settings, evidence, wanted, drawing)
    _look_near(rule, settings, evidence, resized, settings.wanted, drawing)
    if len(evidence.good) < settings.wanted // _FIRST:
        more = instances(rule, search, settings.seed, drawing.left, most)
        _look_at_all(rule, more, settings, evidence, settings.wanted, drawing)
    evidence.stopped = drawing.passed and not evidence.bad and len(evidence.good) < settings.wanted
    if not evidence.in_floats and not evidence.bad:  # it is about integers alone
        evidence.bad, evidence.unfit = evidence.unfit, []
    if evidence.good and not evidence.bad and rule.changes is None:
        _without_ranks(rule, settings, evidence, search)
        _look_around(rule, settings, evidence, until, _MOST_CORNERS if covered else _CORNERS_OF_UNPROVED)
    if evidence.good and not evidence.bad and rule.changes is None:
        _seek_variety(rule, settings, evidence, search, until)
    evidence.complete = True


def _seek_variety(
    rule: CheckedRule, settings: Settings, evidence: Evidence, search: Search, until: Deadline
) -> None:
    """Seek instances in which conditions decide and attributes matter; note those that never did."""
    _seek_decisions(rule, settings, evidence, search, until)
    _seek_effects(rule, settings, evidence, search, until)
    evidence.unvaried += constant_attributes(rule, evidence.attributes)
    evidence.unvaried += [
        f"attribute `{name}` of `{operator}` never made a difference"
        for operator, name in idle_attributes(rule, evidence.attributes, evidence.effective)
        if evidence.masked[operator, name] < _MOST_IDLE  # else the source takes back what it does
    ]
    if any(finding.special for finding in evidence.good):
        graphs = [instance.before for instance in evidence.agreeing]
        evidence.unvaried += [
            f"no instance with finite inputs where `{operator}` finds a number that is not finite"
            for operator in never_finds(graphs, rule.dialect, settings.seed)
        ]
    evidence.stopped = evidence.stopped or until.passed


def _look_at_whole_numbers(
    rule: CheckedRule, settings: Settings, evidence: Evidence, search: Search, drawing: Deadline
) -> None:
    """Look at some instances of whole numbers, which a proof for floats says nothing of."""
    few = settings.wanted // _FIRST
    whole = of_whole_numbers(rule, search, settings.seed, _FOR_WHOLE * few)
    _look_at_all(rule, whole, settings, evidence, len(evidence.good) + few, drawing)


def _a_few(
    rule: CheckedRule,
    settings: Settings,
    evidence: Evidence,
    search: Search,
    resized: Iterator[Instance],
    drawing: Deadline,
) -> Iterator[Instance]:
    """A first look at a few instances; returns those that were drawn and not looked at."""
    few = settings.wanted // _FIRST
    count = min(len(evidence.good) + few, settings.wanted)
    drawn = instances(rule, search, settings.seed, _FOR_CHOICE * drawing.left, _FOR_POOL * few)
    order = varied(islice(drawn, _DRAWN_FIRST * few), few, rule.dialect, inf)
    _look_at_all(rule, order, settings, evidence, count, drawing)
    _look_near(rule, settings, evidence, resized, count, drawing)
    more = instances(rule, search, settings.seed, _FOR_CHOICE * drawing.left, _MOST_ATTEMPTS * few)
    _look_at_all(rule, more, settings, evidence, count, drawing)
    return order


def _look_near(
    rule: CheckedRule,
    settings: Settings,
    evidence: Evidence,
    resized: Iterator[Instance],
    wanted: int,
    drawing: Deadline,
) -> None:
    """Look at instances near those that agree, where hardly any of those drawn fits the source: at such as
    differ in one thing, and at the rule's own tests in other sizes."""
    if not evidence.agreeing:
        return
    around = near(rule, evidence.agreeing, settings.seed, _FOR_POOL * (wanted - len(evidence.good)))
    _look_at_all(rule, around, settings, evidence, wanted, drawing)
    _look_at_all(rule, resized, settings, evidence, wanted, drawing)


def _look_at_all(
    rule: CheckedRule,
    stream: Iterator[Instance],
    settings: Settings,
    evidence: Evidence,
    wanted: int,
    drawing: Deadline,
) -> None:
    """Look at instances until so many were seen, or enough that refute, or the time is over."""
    soon = drawing.within(_SECONDS_WHEN_BAD)
    while len(evidence.good) + len(evidence.bad) < wanted and len(evidence.bad) < _ENOUGH_BAD:
        instance = next(stream, None)
        if instance is None:
            return
        evidence.coverage.update(instance.features)
        before = len(evidence.good)
        _look_at(rule, instance, settings, evidence)
        evidence.drawn += len(evidence.good) > before and not {"own test", NEAR} & set(instance.features)
        if (soon if evidence.bad else drawing).passed:
            return


def _without_ranks(
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
                why += f"; a literal number is a constant of any rank: {_KEEPING_RANKS}"
            evidence.bad.append((loose, finding, f"applied to inputs of unknown rank, {why}"))
            return


def _look_around(
    rule: CheckedRule, settings: Settings, evidence: Evidence, until: Deadline, most: int
) -> None:
    """Look at the corners of a few instances that agree, of different ranks; in full where they do not.
    `most`: attempts to draw one.
    """
    points: dict[tuple[int, ...], Point] = {}
    for instance in evidence.agreeing:
        if (scope := match_in(rule, instance.before)) is not None:
            point = point_of(scope)
            ranks = tuple(map(len, point.shapes.values()))
            points[ranks] = min(points.get(ranks, point), point, key=lambda p: p.coincidences)
    centres = list(points.values())[:_MOST_CENTRES]
    for k, point in enumerate(centres):
        for instance in corners(rule, point, settings.seed + k, most // len(centres)):
            evidence.coverage["sizes of 1 or equal to others"] += 1
            if instance.after is None or not agree_at_a_glance(
                instance.before, instance.after, rule.dialect, rule.approximate, settings.seed
            ):
                _look_at(rule, instance, settings, evidence)
            if evidence.bad or until.passed:
                return


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
        if goal.key in evidence.seen | never or id(goal.condition) not in possible:
            continue
        hopeless = until.passed or goal.text in known or id(goal.condition) not in within
        instance = None if hopeless else towards(rule, goal, search, settings.seed, _MOST_TOWARDS)
        if instance is None:
            evidence.unvaried.append(f"no instance where {goal.text}")
            never.add(goal.key)
            within = reachable(rule, never)
            if (goal.key[0], not goal.wanted) in evidence.seen:
                known.add(goal.text)
            continue
        evidence.coverage[f"solved for: {goal.text}"] += 1
        _look_at(rule, instance, settings, evidence)


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
                _look_at(rule, instance, settings, evidence)
                break
            evidence.masked[attribute] += shows(instance.before, rule.dialect, attribute, settings.seed)
            idle = idle or instance
        else:
            if idle is not None:
                _look_at(rule, idle, settings, evidence)


_MOST_CENTRES = 4  # instances around which corners are looked for
_MOST_CORNERS = 80  # attempts to draw one, for all of them
_CORNERS_OF_PROVED = 40  # the same, where a proof says all
_CORNERS_OF_UNPROVED = 240  # and where there is none
_MOST_TOWARDS = 40  # attempts to make one decision go one way
_MOST_STRESSED = 24  # attempts to make one attribute matter
_MOST_IDLE = 4  # instances in which an attribute does not matter, before that is sought


def _look_at(rule: CheckedRule, instance: Instance, settings: Settings, evidence: Evidence) -> None:
    finding, why = _judged(rule, instance, settings)
    if not why and (finding is None or finding.nothing and not is_about_nothing(instance.before)):
        return  # no graph that means anything, or none whose results say anything
    if finding is not None:
        evidence.seen |= instance.seen
        evidence.attributes |= instance.attributes
    whole = integer_types(instance)
    if why and whole and not names_types(rule):
        twin = instance.in_floats()
        twins, why_in_floats = (
            (None, "") if twin is None or integer_types(twin) else _judged(rule, twin, settings)
        )
        if why_in_floats and twin is not None:
            instance, finding, why = twin, twins, why_in_floats
        elif finding is None and not settings.whole:
            evidence.unfit.append((instance, finding, why))
            return
        elif twins is not None:
            why += f"; they agree for floats in the same graph: {_stating_floats(rule)}"
    if why or finding is None:
        evidence.bad.append((instance, finding, why))
        return
    evidence.in_floats |= not whole
    evidence.good.append(finding)
    evidence.agreeing.append(instance)
    _note_effects(rule, instance, settings, evidence)


def _stating_floats(rule: CheckedRule) -> str:
    """The words for saying in a rule that it is meant for floats alone."""
    name = next((leaf.name for leaf in rule.leaves.values() if leaf.name), "x")
    return f"a rule that is meant for these alone says so, as in `{name}: any({_FLOATS})`"


_KEEPING_RANKS = "a condition such as `y.ndim == x.ndim`, of result and input, keeps the rule from that"
_FLOATS = 'dtype = "float16" | "float32"'


def _judged(rule: CheckedRule, instance: Instance, settings: Settings) -> tuple[Finding | None, str]:
    """The comparison of an instance's sides and why it refutes the rule, if it does; (None, "") of a graph
    that means nothing. No finding either where the target does not fit."""
    dialect, seed = rule.dialect, max(instance.seed, 0)  # inputs of one name differ
    if instance.after is None:
        means = not _mixes_floats(instance.before) and can_be_computed(instance.before, dialect, seed)
        return None, f"the target does not fit the source: {instance.failure}" if means else ""
    finding = compare(instance.before, instance.after, dialect, rule.approximate, seed)
    if finding.numbers is None and not can_be_computed(instance.before, dialect, seed):
        return None, ""
    why = refutes(finding, settings.special)
    if why and finding.numbers is False and not fits_its_types(instance.before, dialect, seed):
        return None, ""  # operands that the operator does not take
    return finding, why


def _note_effects(rule: CheckedRule, instance: Instance, settings: Settings, evidence: Evidence) -> None:
    """Note which of an instance's open attributes make a difference there, and which do not."""
    for operator, name, value in sorted(instance.attributes):
        attribute = (operator, name)
        default = rule.dialect.operators[operator].attributes[name].default
        if (
            attribute in evidence.effective or value == repr(default) or default is REQUIRED
            or evidence.idle[attribute] == _MOST_IDLE
        ):
            continue
        if matters(instance.before, rule.dialect, attribute, settings.seed):
            evidence.effective.add(attribute)
        else:
            evidence.idle[attribute] += 1
            evidence.masked[attribute] += shows(instance.before, rule.dialect, attribute, settings.seed)


def _mixes_floats(graph: Graph) -> bool:
    """True if inputs and constants are of several types of floats: inference lets such operands pass for
    operators that take them of one type only."""
    leaves = [n for n in graph.nodes() if graph.op[n] in (INPUT, PARAM, CONST)]
    types = {getattr(graph.types[leaf], "dtype", None) for leaf in leaves}
    return sum(str(dtype).startswith("float") for dtype in types) > 1
