"""Gathering evidence: a rule's own tests, instances that are drawn, those near them, then what is sought."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from math import inf

from gslang.base.deadline import Deadline, deadline
from gslang.check.checked import CheckedProgram, CheckedRule
from gslang.verify.evidence import Covered, Evidence, Settings, look_at
from gslang.verify.in_common import in_common
from gslang.verify.instances.draw import Instance, Search, instances, instances_on, of_whole_numbers
from gslang.verify.neighbours import NEAR, near
from gslang.verify.own_tests import graphs_near, test_graphs
from gslang.verify.seek import look_at_mixed_types, look_at_nothing, look_beyond, seek_variety
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
_MOST_CORNERS = 80  # attempts to draw one, for all of them
_CORNERS_OF_PROVED = 40  # the same, where a proof says all
_CORNERS_OF_UNPROVED = 240  # and where there is none


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
        waiting, covered = _until_proved(rule, settings, evidence, search, resized, covers, drawing, until)
        if evidence.complete:
            return
        drawing = until.within(_FOR_DRAWN * settings.seconds)
    unproved = settings.proof_steps and not covered
    wanted = _UNPROVED * settings.wanted if unproved else settings.wanted
    if covered == "limited":
        wanted += settings.wanted // _FIRST  # beside those of whole numbers
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
        seek_variety(rule, settings, evidence, search, until)
    if evidence.good and not evidence.bad and rule.changes is None:
        corners = _MOST_CORNERS if covered else _CORNERS_OF_UNPROVED
        look_beyond(rule, settings, evidence, search, until, corners)
    if evidence.good and not evidence.bad and rule.changes is None and not covered:
        look_at_mixed_types(rule, settings, evidence, until)
        look_at_nothing(rule, settings, evidence, until)  # proofs exclude them
        evidence.unvaried += in_common(rule, evidence.agreeing)
    evidence.complete = True


def _until_proved(
    rule: CheckedRule,
    settings: Settings,
    evidence: Evidence,
    search: Search,
    resized: Iterator[Instance],
    covers: Callable[[Evidence], Covered],
    drawing: Deadline,
    until: Deadline,
) -> tuple[Iterator[Instance], Covered]:
    """A first look, and what is proved then; the evidence is complete if no more need be seen. Returns the
    instances that were drawn and not looked at, and what the proof covers.
    """
    waiting = _a_few(rule, settings, evidence, search, resized, drawing)
    agree = bool(evidence.good) and not evidence.bad and (evidence.in_floats or not evidence.unfit)
    covered = covers(evidence) if agree else ""
    enough = len(evidence.good) >= settings.wanted // _FIRST
    if covered in ("floats", "limited"):
        _look_at_whole_numbers(rule, settings, evidence, search, drawing)
    if covered in ("floats", "all") and enough and not evidence.unfit:
        look_beyond(rule, settings, evidence, search, until, _CORNERS_OF_PROVED)
        evidence.complete = not evidence.bad
    return waiting, covered


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
        look_at(rule, instance, settings, evidence)
        evidence.drawn += len(evidence.good) > before and not {"own test", NEAR} & set(instance.features)
        if (soon if evidence.bad else drawing).passed:
            return
