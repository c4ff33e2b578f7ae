"""The weakest conditions under which a rule holds, by counterexample-guided refinement.

Samples of the rule, and of the rule with attributes, shapes or types tied (which all good instances of many
rules are), are told good or bad, and so are the neighbours of good ones; the weakest conjunction of
candidates that tells them apart is tried on new samples, each of its conditions is negated in turn to see
whether it is needed, and the verifier has the last word: its counterexample is a sample, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from gslang.base.deadline import NO_TIME, SECONDS, Deadline, deadline, in_time
from gslang.base.quick_dataclass import dataclass
from gslang.base.source import Source
from gslang.check import checked as ir
from gslang.check.limits import RuleFailed
from gslang.check.walks import walk
from gslang.dialect.load import require_inference
from gslang.fmt.format_source import layout
from gslang.generalize.candidates import named_nodes
from gslang.generalize.checking import PLAIN, Checking
from gslang.generalize.draft import Condition, Draft, equal_attributes
from gslang.generalize.drafting import draft_of, written_out
from gslang.generalize.generalized import Generalized, Tried
from gslang.generalize.lift import Lift, constants, gains, lifts
from gslang.generalize.observations import Observations, Place
from gslang.generalize.samples import Sample
from gslang.generalize.ties import ties_of
from gslang.verify.evidence import Settings as VerifySettings
from gslang.verify.prove.prove import prove
from gslang.verify.prove.terms.paths import NotProved, OutOfTime
from gslang.verify.verdict import ORDER, Verdict, no_time_for, verify

_ROUNDS = 12  # conjunctions that are tried around the same ties, or instead of one that holds
_CENTRES = 4  # good samples whose neighbours are looked at in the beginning
_MORE_CENTRES = 2  # the same, where instances of a conjunction do not refute it
_MOST_EXTRA = 8  # conditions that are added to ties
_LEAST_TIES = 3  # conjunctions of ties that are drawn even if there are enough good samples
_ENOUGH = 3  # good samples without a bad one, for a condition not to be needed
_MOST_LIKELY = 0.25  # share of good samples under ties that are worth building on
_GLANCE = 120  # attempts to draw a few samples
_LEAST_SHARE = 0.25  # of the time: with less left, no further form is begun
_SHARE_OF_FIRST = 0.5  # of the time, for a verdict on the rule as it is written
_SHARE_OF_FORM = 0.5  # of the time that is left, for a form that fixes less than the rule
_SECOND_LOOK = 100  # instances that conditions found are tried on in the end
_LEAST_SECONDS = 0.5  # for a verdict
_SECONDS_OF_PROOF = 2.0  # for conditions that say the same as others
_APPEALS = 6  # counterexamples of the verifier that are taken back


@dataclass(frozen=True, slots=True)
class Settings:
    """`seconds`: processor time for one rule, verdicts included; `wanted`: instances to try a conjunction
    on.

    `lift`: values that the rule fixes may be left open, and attributes carried over to the target.
    `checking`: how its text is checked.
    """

    seconds: float = SECONDS
    seed: int = 0
    wanted: int = 20
    lift: bool = True
    checking: Checking = PLAIN


def generalize(rule: ir.CheckedRule, settings: Settings = Settings()) -> Generalized:
    """The same as `generalize_in` for a rule whose source text is at hand, as that of every rule read from a
    file or a text is. One of a family is found as a rule of its own.
    """
    return replace(generalize_in(*written_out(rule), settings), name=rule.name)


def generalize_in(
    source: Source, name: str, settings: Settings = Settings(), places: Sequence[Place] = ()
) -> Generalized:
    """The rule `name` of a text with symbols for what it fixes and the weakest conditions found under which
    it holds. It still matches at `places`, where it is known to be right.

    Raises `NoDraft` for a rule that is not there or does not check, `InputError` if a package is missing that
    its dialect is judged with.
    """
    written = draft_of(source, name, checking=settings.checking)
    rule = written.checked()
    require_inference(rule.dialect)
    found = in_time(settings.seconds, lambda: _generalized(source, name, written, rule, settings, places))
    return no_time(rule) if found is None else found


def _generalized(
    source: Source,
    name: str,
    written: Draft,
    rule: ir.CheckedRule,
    settings: Settings,
    places: Sequence[Place],
) -> Generalized:
    until = deadline(settings.seconds)
    first = until.within(_SHARE_OF_FIRST * settings.seconds)
    before = _plainly(verify(rule, _judging(settings, first)))
    if any(extern.function is None for extern in rule.externs):
        return Generalized(name, None, (), (), before, None, (), before.reason)
    tried: list[Tried] = []
    best: Generalized | None = None
    stopped = False
    forms = lifts(source, name, rule) if settings.lift else []
    if before.verdict in ("proved", "exact") and not forms:
        return Generalized(name, layout(written.text()), (), (), before, before, (), "", rule)
    plain = written.without_added_names().checked()
    unread = _unread(rule)
    for lift in (*forms, Lift((), {}, frozenset())):
        if not lift.names and before.verdict in ("proved", "exact"):
            found = Generalized(name, layout(written.text()), (), (), before, before, tuple(tried), "", rule)
        else:
            own = until.within(_SHARE_OF_FORM * until.left) if lift.names or unread else until
            draft = draft_of(source, name, lift.edits, lift.drop, settings.checking)
            found = _Refinement(draft, lift, settings, before, tried, plain, places, own, until).run()
            stopped = stopped or own.passed
        if lift.drop and (
            found.verdict is None or found.verdict.verdict != "proved" or not gains(lift, found.conditions)
        ):
            continue  # what a rule fixed is left open only where that is known to be right
        if best is None or _rank(found) > _rank(best):
            best = found
        if found.verdict is not None and found.verdict.verdict in ("proved", "exact") or until.passed:
            break
    assert best is not None
    if (best.text is None or unread and _rank(best) < ORDER.index("exact")) and not until.passed:
        others = (
            _Refinement(
                draft_of(source, name, lift.edits, (), settings.checking),
                lift, settings, before, tried, plain, places, until, until,
            ).run()
            for lift in sorted(constants(source, name, rule), key=lambda lift: not lift.opened & unread)
            if until.left > _LEAST_SHARE * settings.seconds
        )
        held = next((one for one in others if one.conditions and _rank(one) > _rank(best)), None)
        best = best if held is None else replace(held, conditions=(*held.lifted, *held.conditions), lifted=())
        stopped = stopped or held is None and until.left <= _LEAST_SHARE * settings.seconds
    return replace(best, tried=tuple(tried), stopped=settings.seconds if stopped or until.passed else None)


def no_time(rule: ir.CheckedRule) -> Generalized:
    """The result for a rule for which no time was left."""
    return Generalized(rule.name, None, (), (), no_time_for(rule), None, (), NO_TIME)


def _unread(rule: ir.CheckedRule) -> frozenset[str]:
    """The inputs that the target does not read: if the rule holds, it does for certain values of them."""
    read = {item.node for item in walk(rule.target) if isinstance(item, ir.SourceNode)}
    leaves = [rule.nodes[k] for k in rule.inputs if k not in read]
    return frozenset(leaf.name for leaf in leaves if isinstance(leaf, ir.LeafNode) and leaf.name)


def _judging(settings: Settings, until: Deadline) -> VerifySettings:
    """The settings to judge a form of the rule with, in what is left of the time."""
    return VerifySettings(max(_LEAST_SECONDS, until.left), settings.seed)


def _plainly(verdict: Verdict) -> Verdict:
    """The verdict without the seconds that it was given, which are what was left."""
    return replace(verdict, reason=verdict.reason.partition("; stopped after ")[0])


def _rank(found: Generalized) -> int:
    return -1 if found.verdict is None else ORDER.index(found.verdict.verdict)


class _Refinement:
    """The search for the conditions of one form of a rule, and what it has `seen`."""

    def __init__(
        self,
        draft: Draft,
        lift: Lift,
        settings: Settings,
        before: Verdict,
        tried: list[Tried],
        written: ir.CheckedRule,
        places: Sequence[Place],
        until: Deadline,
        last: Deadline,
    ) -> None:
        """`until`: for the search; `last`: for verdicts on what it finds, which later forms wait for."""
        self.draft, self.lift, self.settings, self.before, self.tried = draft, lift, settings, before, tried
        self.written, self.places, self.until, self.last = written, places, until, last
        self.seen = Observations(
            draft.without_added_names(), places, settings.seed, settings.seconds, until
        )

    def run(self) -> Generalized:
        if self.places and not self.seen.given:
            return self._none("this form does not match instances that are known to be good")
        starts = [self._one_by_one(ties) for ties in ties_of(self.seen.base, named_nodes(self.seen.base))]
        self.seen.learn(list({c.text: c for ties in starts for c in ties}.values()))
        likely, free = self._likely(starts)
        if not self.seen.good:
            agree = " on which the sides agree" if self.seen.samples else ""
            return self._none(f"no instance was found{agree}")
        self.seen.look_around(self.seen.good, _CENTRES)
        self.seen.find_candidates()
        best: Generalized | None = None
        own = self._own_samples()
        for ties in starts if free else [*starts[1:], starts[0]]:
            if ties and ties not in likely and best is None and ties is not starts[-1]:
                continue
            chosen = self._holding(self.seen.candidates_of(ties, free))
            pruned = None if chosen is None else self._pruned(chosen)
            found = None if pruned is None else self._otherwise(self._judged(pruned), pruned)
            if found is not None and not self.seen.all_hold(found.conditions, own):
                found = None
            if found is not None and pruned is not None and pruned and _rank(found) >= ORDER.index("exact"):
                found = self._weakened(found, pruned)
            if found is not None and (best is None or _rank(found) > _rank(best)):
                best = found
            if best is not None and (
                _rank(best) >= ORDER.index("proved" if self.lift.drop else "exact")
                or self.until.passed
            ):
                break
        return best or self._none(
            "no conjunction of the conditions tried separates the good instances from the bad ones"
        )

    def _likely(self, starts: Sequence[Sequence[Condition]]) -> tuple[list[Sequence[Condition]], bool]:
        """The ties, of those that are drawn from, under which the rule often holds, and whether instances
        without any of them, which are the first, were found.
        """
        likely: list[Sequence[Condition]] = []
        free = False
        for k, ties in enumerate(starts):
            if k > _LEAST_TIES and len(self.seen.good) >= self.settings.wanted:
                break
            new = self.seen.draw(ties, self.settings.wanted // 2, _GLANCE)
            free = free or not ties and bool(new)
            if new and sum(not s.bad for s in new) >= _MOST_LIKELY * len(new):
                likely.append(ties)
        return likely, free

    def _own_samples(self) -> list[Sample]:
        """Good samples of the rule as it was written, which a form that fixes less must not lose."""
        return (
            self.seen.good_samples_of(self.written, self.settings.wanted // 2, _GLANCE) if self.lift.drop
            else []
        )

    def _holding(self, fixed: Sequence[Condition]) -> list[Condition] | None:
        """Ties, and what they need besides, so that new samples do not refute them; None if that is too much,
        or cannot be.
        """
        for _ in range(_ROUNDS):
            extra = self.seen.weakest_besides(fixed)
            if extra is None or len(extra) > _MOST_EXTRA:
                return None
            chosen = [*fixed, *extra]
            if not self._is_refuted(chosen, 3):
                return (
                    chosen if self.seen.kept(chosen) >= self.settings.wanted // 2 else None
                )
            if self.until.passed:
                return None
        return None

    def _is_refuted(self, chosen: Sequence[Condition], most_bad: int) -> bool:
        """True if a bad instance is found on which the conditions hold: by drawing, until there are so many
        bad ones, else near a good one.
        """
        new = self.seen.draw(chosen, self.settings.wanted, 4 * _GLANCE, most_bad, True)
        self._note(chosen, new)
        if any(s.bad for s in new):
            return True
        before = len(self.seen.samples)
        good = [s for s in self.seen.under(chosen) if not s.bad]
        for _ in range(_MORE_CENTRES):
            self.seen.look_around(good, 1)
            under = self.seen.under(chosen)
            if any(s.bad for s in under):
                break
        self._note(chosen, [s for s in self.seen.samples[before:] if any(s is o for o in under)])
        return any(s.bad for s in under)

    def _pruned(self, chosen: list[Condition]) -> list[Condition]:
        """Without the conditions that are not needed, or with weaker ones in their place."""
        for c in sorted(chosen, key=lambda c: -c.price):
            others = [o for o in chosen if o is not c]
            if any(s.bad for s in self.seen.under(others)):
                continue
            new = self.seen.draw(others, 2 * _ENOUGH, _GLANCE, 1, violated=c)
            if len(new) >= 2 * _ENOUGH and not any(s.bad for s in new):
                chosen = others
            if self.until.passed:
                return chosen
        return chosen

    def _weakened(self, found: Generalized, chosen: Sequence[Condition]) -> Generalized:
        """The rule under weaker conditions than these, which the samples seen by now allow; only if it is
        proved then.
        """
        for _ in range(_ROUNDS):
            weaker = self.seen.weakest_besides([])
            if (
                weaker is None or self.until.passed or len(weaker) > len(chosen)
                or self.seen.kept(weaker) <= self.seen.kept(chosen)
            ):
                return found
            if self._is_refuted(weaker, 2):
                continue
            if self.seen.kept(weaker) < self.seen.kept(chosen) + _ENOUGH or self.lift.drop:
                return found
            other = self._otherwise(self._judged(weaker, True), weaker)
            return found if other is None or _rank(other) < ORDER.index("proved") else other
        return found

    def _otherwise(self, found: Generalized | None, chosen: Sequence[Condition]) -> Generalized | None:
        """The rule under other conditions that say the same of all samples, if only these can be proved:
        equal paddings, say, may mean equal kernels, which a proof can read from their shapes only.
        """
        for avoided in sorted(chosen, key=lambda c: -c.price):
            if found is not None and _rank(found) == ORDER.index("proved") or self.until.passed:
                break
            way = self.seen.said_without(avoided, chosen)
            other = self._judged(way) if way is not None and self._is_provable(way) else None
            if other is not None and (found is None or _rank(other) > _rank(found)):
                found = other
        return found

    def _is_provable(self, chosen: list[Condition]) -> bool:
        _, rule = self.draft.with_best_places(self._together(chosen))
        try:
            prove(rule, VerifySettings().proof_steps, until=self.until.within(_SECONDS_OF_PROOF))
        except (NotProved, OutOfTime, RuleFailed):
            return False
        return True

    def _judged(self, chosen: list[Condition], proved_only: bool = False) -> Generalized | None:
        """The rule under conditions with the verifier's verdict, whose counterexamples ask for further
        conditions. `proved_only`: other verdicts are not looked at more closely.
        """
        for _ in range(_APPEALS):
            text, rule = self.draft.with_best_places(self._together(chosen))
            text = layout(text)
            verdict = _plainly(self._verdict(rule, proved_only))
            if verdict.verdict != "refuted":
                added = tuple(c.text for c in chosen)
                return Generalized(
                    self.draft.name, text, added, self.lift.names, self.before, verdict, (), verdict.reason,
                    rule,
                )
            if not self.seen.take_back(verdict, chosen):
                return None
            extra = self.seen.weakest_besides(chosen)
            if extra is None:
                return None
            chosen = self._without_implied([*chosen, *extra])
        return None

    def _without_implied(self, chosen: list[Condition]) -> list[Condition]:
        """Without conditions that hold on every sample on which the others do."""
        for c in list(chosen):
            others = [o for o in chosen if o is not c]
            if len(self.seen.under(others)) == len(self.seen.under(chosen)):
                chosen = others
        return chosen

    def _verdict(self, rule: ir.CheckedRule, proved_only: bool) -> Verdict:
        """The verifier's verdict, refuted by integers too; where it rests on instances, a refutation by many
        more of them instead.
        """
        verdict = verify(rule, replace(_judging(self.settings, self.last), whole=True))
        if proved_only or verdict.verdict not in ("exact", "tested"):
            return verdict
        more = replace(
            _judging(self.settings, self.last), seed=self.settings.seed + 1, wanted=_SECOND_LOOK, whole=True,
            proof_steps=0,
        )
        second = verify(rule, more)
        return second if second.verdict == "refuted" else verdict

    def _one_by_one(self, ties: Sequence[Condition]) -> list[Condition]:
        """Ties in which each attribute has a condition of its own."""
        found: list[Condition] = []
        for tie in ties:
            if tie.field == "*":
                found += [equal_attributes(tie.value, tie.node, k) for k in self._attributes(tie.node)]
            else:
                found.append(tie)
        return found

    def _together(self, chosen: Sequence[Condition]) -> list[Condition]:
        """The same, in which equalities of all attributes of two calls are one condition, written `c1.*`."""
        found = list(chosen)
        calls = [node.name for node in named_nodes(self.seen.base) if node.operator is not None]
        for first, last in combinations(calls, 2):
            texts = {equal_attributes(first, last, name).text for name in self._attributes(last)}
            same = [c for c in found if c.text in texts]
            if len(same) == len(texts) > 1:
                tie = Condition(", ".join(c.text for c in same), 1, last, "*", first)
                found = [c for c in found if c not in same[1:]]
                found[found.index(same[0])] = tie
        return found

    def _attributes(self, name: str) -> list[str]:
        node = next(node for node in named_nodes(self.seen.base) if node.name == name)
        return list(self.seen.base.dialect.operators[node.operator or ""].attributes)

    def _none(self, reason: str) -> Generalized:
        return Generalized(self.draft.name, None, (), self.lift.names, self.before, None, (), reason)

    def _note(self, chosen: Sequence[Condition], new: Sequence[Sample]) -> None:
        bad = [s for s in new if s.bad]
        form = ", ".join(self.lift.names) or "as written"
        self.tried.append(Tried(
            form, tuple(c.text for c in chosen), len(new) - len(bad), len(bad), bad[0].why if bad else ""
        ))

