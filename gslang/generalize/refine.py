"""The weakest conditions under which a rule holds, by counterexample-guided refinement.

Samples of the rule, and of the rule with attributes, shapes or types tied (which all good instances of many
rules are), are told good or bad, and so are the neighbours of good ones; the weakest conjunction of
candidates that tells them apart is tried on new samples, each of its conditions is negated in turn to see
whether it is needed, and the verifier has the last word: its counterexample is a sample, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field, replace

from gslang.base.deadline import Deadline, deadline
from gslang.base.quick_dataclass import dataclass
from gslang.base.source import Source
from gslang.check import checked as ir
from gslang.check.walks import walk
from gslang.dialect.load import require_inference
from gslang.engine.lower import program_of
from gslang.engine.machine import matches
from gslang.engine.scope import holds
from gslang.fmt.format_source import layout
from gslang.formats.json_reader import read_json
from gslang.generalize.candidates import candidates, named_nodes
from gslang.generalize.draft import Condition, Draft, NoDraft, draft_of
from gslang.generalize.lift import Lift, constants, gains, lifts
from gslang.generalize.neighbours import neighbours, point_of
from gslang.generalize.samples import Sample, draw, samples
from gslang.generalize.ties import ties_of
from gslang.generalize.weakest import Column, weakest
from gslang.graph.graph import Graph
from gslang.verify.evidence import Settings as VerifySettings
from gslang.verify.instances import Search, instances_on
from gslang.verify.verdict import ORDER, Verdict, verify

Place = tuple[Graph, int]  # a node of a graph at which a rule matches

_ROUNDS = 6  # conjunctions that are tried around the same ties
_MOST_EXTRA = 8  # conditions that are added to ties
_LEAST_TIES = 3  # conjunctions of ties that are drawn even if there are enough good samples
_ALIKE = 12  # good samples in which a call has the same attributes, which count in any case
_ENOUGH = 3  # good samples without a bad one, for a condition not to be needed
_MOST_LIKELY = 0.25  # share of good samples under ties that are worth building on
_GLANCE = 120  # attempts to draw a few samples
_CENTRES = 4  # good samples whose neighbours are looked at, each time
_SHARE_OF_FORM = 0.5  # of the time that is left, for a form that fixes less than the rule
_SECOND_LOOK = 100  # instances that conditions found are tried on in the end
_LEAST_SECONDS = 0.5  # for a verdict
_SHARE_OF_DRAW = 0.25  # of the time for one rule, for one draw
_APPEALS = 6  # counterexamples of the verifier that are taken back


@dataclass(frozen=True, slots=True)
class Settings:
    """`seconds`: processor time for one rule, verdicts included; `wanted`: instances to try a conjunction
    on.

    `lift`: values that the rule fixes may be left open, and attributes carried over to the target.
    """

    seconds: float = 6.0
    seed: int = 0
    wanted: int = 20
    lift: bool = True


@dataclass(frozen=True, slots=True)
class Tried:
    """One conjunction: how many samples agreed and differed under it, and why one of them did."""

    form: str
    conditions: tuple[str, ...]
    good: int
    bad: int
    why: str


@dataclass(frozen=True, slots=True)
class Generalized:
    """`text`: the rule as found, None if no conditions make it hold (`reason`). `conditions`: those added;
    `lifted`: what was left open.

    `before` and `verdict`: on the rule as given and as found. `rule`: the checked rule as found. `stopped`:
    after how many seconds the time was over before all was tried.
    """

    name: str
    text: str | None
    conditions: tuple[str, ...]
    lifted: tuple[str, ...]
    before: Verdict
    verdict: Verdict | None
    tried: tuple[Tried, ...]
    reason: str
    rule: ir.CheckedRule | None = field(default=None, compare=False, repr=False)
    stopped: float | None = None

    @property
    def unchanged(self) -> bool:
        """True if the rule holds as it is written, and nothing in it is more special than need be."""
        return self.text is not None and not self.conditions and not self.lifted


def generalize(rule: ir.CheckedRule, settings: Settings = Settings()) -> Generalized:
    """The same as `generalize_in` for a rule whose source text is at hand, as that of every rule read from a
    file or a text is.
    """
    return generalize_in(rule.span.source, rule.name, settings)


def generalize_in(
    source: Source, name: str, settings: Settings = Settings(), places: Sequence[Place] = ()
) -> Generalized:
    """The rule `name` of a text with symbols for what it fixes and the weakest conditions found under which
    it holds. It still matches at `places`, where it is known to be right.

    Raises `NoDraft` for a rule that is not there or does not check, `InputError` if a package is missing that
    its dialect is judged with.
    """
    written = draft_of(source, name)
    rule = written.checked()
    require_inference(rule.dialect)
    until = deadline(settings.seconds)
    before = verify(rule, _judging(settings, until))
    tried: list[Tried] = []
    best: Generalized | None = None
    forms = lifts(source, name, rule) if settings.lift else []
    if before.verdict in ("proved", "exact") and not forms:
        return Generalized(name, layout(written.text()), (), (), before, before, (), "", rule)
    plain = replace(
        written, source=tuple(s if isinstance(s, str) else replace(s, added=False) for s in written.source)
    ).checked()
    unread = _unread(rule)
    for lift in (*forms, Lift((), {}, frozenset())):
        if not lift.names and before.verdict in ("proved", "exact"):
            found = Generalized(name, layout(written.text()), (), (), before, before, tuple(tried), "", rule)
        else:
            own = until.within(_SHARE_OF_FORM * until.left) if lift.names or unread else until
            found = _Refinement(
                draft_of(source, name, lift.edits, lift.drop), lift, settings, before, tried, plain, places,
                own,
            ).run()
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
                draft_of(source, name, lift.edits), lift, settings, before, tried, plain, places, until
            ).run()
            for lift in sorted(constants(source, name, rule), key=lambda lift: not lift.opened & unread)
        )
        held = next((one for one in others if one.conditions and _rank(one) > _rank(best)), None)
        best = best if held is None else replace(held, conditions=(*held.lifted, *held.conditions), lifted=())
    return replace(best, tried=tuple(tried), stopped=settings.seconds if until.passed else None)


def _unread(rule: ir.CheckedRule) -> frozenset[str]:
    """The inputs that the target does not read: if the rule holds, it does for certain values of them."""
    read = {item.node for item in walk(rule.target) if isinstance(item, ir.SourceNode)}
    leaves = [rule.nodes[k] for k in rule.inputs if k not in read]
    return frozenset(leaf.name for leaf in leaves if isinstance(leaf, ir.LeafNode) and leaf.name)


def _judging(settings: Settings, until: Deadline) -> VerifySettings:
    """The settings to judge a form of the rule with: half of the usual time for one, or what is left."""
    usual = VerifySettings()
    return replace(
        usual, seed=settings.seed, seconds=max(_LEAST_SECONDS, min(usual.seconds / 2, until.left))
    )


def _rank(found: Generalized) -> int:
    return -1 if found.verdict is None else ORDER.index(found.verdict.verdict)


class _Refinement:
    """The state of the search for one form of a rule: its samples, candidates, and on which samples each of
    these holds.
    """

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
    ) -> None:
        self.written = written
        self.draft, self.lift, self.settings, self.before, self.tried = draft, lift, settings, before, tried
        self.named = replace(
            draft, source=tuple(s if isinstance(s, str) else replace(s, added=False) for s in draft.source)
        )
        self.base = self.named.checked()
        found = (next(matches(program_of(self.base), graph, node), None) for graph, node in places)
        # these come first, and are never lost
        self.samples: list[Sample] = [Sample(scope, False, "") for scope in found if scope is not None]
        self.places, self.given = places, len(self.samples)
        self.centres: set[str] = set()
        self.known: dict[str, ir.Value] = {}  # the text of a condition → its value
        self.conditions: list[Condition] = []
        self.values: list[ir.Value] = []
        self.truth: list[list[bool]] = []
        self.asked: set[tuple[str, ...]] = set()
        self.seed = settings.seed * 1_000
        self.until = until

    # ── the loop ──

    def run(self) -> Generalized:
        if self.places and not self.given:
            return self._none("this form does not match where it is known to be right")
        starts = [self._one_by_one(ties) for ties in ties_of(self.base, named_nodes(self.base))]
        self._learn(list({c.text: c for ties in starts for c in ties}.values()))
        shares: list[float] = []
        for ties in starts:
            if len(shares) > _LEAST_TIES and sum(not s.bad for s in self.samples) >= self.settings.wanted:
                shares.append(0.0)
                continue
            new = self._draw(ties, self.settings.wanted // 2, _GLANCE)
            shares.append(sum(not s.bad for s in new) / max(1, len(new)))
        if not any(not s.bad for s in self.samples):
            return self._none(
                "no instance was found on which the sides agree" if self.samples else "no instance was found"
            )
        self._look_around([s for s in self.samples if not s.bad])
        self._find_candidates()
        best: Generalized | None = None
        own = self._own_samples()
        for share, ties in zip(shares, starts):
            if ties and share < _MOST_LIKELY and best is None and ties is not starts[-1]:
                continue
            chosen = self._holding(ties)
            pruned = None if chosen is None else self._pruned(chosen)
            found = None if pruned is None else self._judged(pruned)
            if found is not None and not self._covers(found, own):
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
            "no conjunction of the conditions that were tried tells the good instances from the bad ones"
        )

    def _own_samples(self) -> list[Sample]:
        """Good samples of the rule as it was written, which a form that fixes less must not lose."""
        if not self.lift.drop:
            return []
        self.seed += 1
        drawn = draw(self.written, self.settings.wanted // 2, self.seed, _GLANCE, self._for_one())
        return [replace(s, scope=replace(s.scope, rule=self.base)) for s in drawn if not s.bad]

    def _covers(self, found: Generalized, own: Sequence[Sample]) -> bool:
        values = {c.text: value for c, value in zip(self.conditions, self.values)}
        return all(holds(values[text], s.scope) for s in own for text in found.conditions)

    def _holding(self, ties: Sequence[Condition]) -> list[Condition] | None:
        """Ties, and what they need besides, so that new samples do not refute them; None if that is too much,
        or cannot be.
        """
        fixed = self._known(ties)
        for _ in range(_ROUNDS):
            extra = self._choose(fixed)
            if extra is None or len(extra) > _MOST_EXTRA:
                return None
            chosen = [*fixed, *extra]
            if self._is_refuted_nearby(chosen):
                continue
            new = self._draw(chosen, self.settings.wanted, 4 * _GLANCE, 3, True)
            self._note(chosen, new)
            if not any(s.bad for s in new):
                return (
                    chosen if sum(not s.bad for s in self._under(chosen)) >= self.settings.wanted // 2
                    else None
                )
            if self.until.passed:
                return None
        return None

    def _is_refuted_nearby(self, chosen: Sequence[Condition]) -> bool:
        """True if a bad instance near a good one is found on which the conditions hold."""
        before = len(self.samples)
        self._look_around([s for s in self._under(chosen) if not s.bad])
        under = self._under(chosen)
        self._note(chosen, [s for s in self.samples[before:] if any(s is o for o in under)])
        return any(s.bad for s in under)

    def _pruned(self, chosen: list[Condition]) -> list[Condition]:
        """Without the conditions that are not needed, or with weaker ones in their place."""
        for c in sorted(chosen, key=lambda c: -c.price):
            others = [o for o in chosen if o is not c]
            if any(s.bad for s in self._under(others)):
                continue
            new = self._draw(others, 2 * _ENOUGH, _GLANCE, 1, violated=c)
            if len(new) >= 2 * _ENOUGH and not any(s.bad for s in new):
                chosen = others
            if self.until.passed:
                return chosen
        return chosen

    def _weakened(self, found: Generalized, chosen: Sequence[Condition]) -> Generalized:
        """The rule under weaker conditions than these, which the samples seen by now allow; only if it is
        proved then.
        """
        for _ in range(_APPEALS):
            weaker = self._choose([])
            if (
                weaker is None or self.until.passed or len(weaker) > len(chosen)
                or self._kept(weaker) <= self._kept(chosen)
            ):
                return found
            if self._is_refuted_nearby(weaker):
                continue
            new = self._draw(weaker, self.settings.wanted, 4 * _GLANCE, 2, True)
            self._note(weaker, new)
            if any(s.bad for s in new):
                continue
            other = self._judged(weaker) if len(new) >= _ENOUGH and not self.lift.drop else None
            return (
                other if other is not None and other.verdict is not None and other.verdict.verdict == "proved"
                else found
            )
        return found

    def _judged(self, chosen: list[Condition]) -> Generalized | None:
        """The rule under conditions with the verifier's verdict, whose counterexamples ask for further
        conditions.
        """
        for _ in range(_APPEALS):
            text, rule = self.draft.with_best_places(chosen)
            text = layout(text)
            verdict = self._verdict(rule)
            if verdict.verdict != "refuted":
                added = tuple(c.text for c in chosen)
                return Generalized(
                    self.draft.name, text, added, self.lift.names, self.before, verdict, (), verdict.reason,
                    rule,
                )
            if not self._take_back(verdict, chosen):
                return None
            extra = self._choose(chosen)
            if extra is None:
                return None
            chosen = self._without_implied([*chosen, *extra])
        return None

    def _without_implied(self, chosen: list[Condition]) -> list[Condition]:
        """Without conditions that hold on every sample on which the others do."""
        for c in list(chosen):
            others = [o for o in chosen if o is not c]
            if len(self._under(others)) == len(self._under(chosen)):
                chosen = others
        return chosen

    def _verdict(self, rule: ir.CheckedRule) -> Verdict:
        """The verifier's verdict; where it rests on instances, a refutation by many more of them instead."""
        verdict = verify(rule, _judging(self.settings, self.until))
        if verdict.verdict not in ("exact", "tested"):
            return verdict
        usual = _judging(self.settings, self.until)
        more = replace(usual, seed=self.settings.seed + 1, wanted=_SECOND_LOOK, proof_steps=0)
        second = verify(rule, more)
        return second if second.verdict == "refuted" else verdict

    def _one_by_one(self, ties: Sequence[Condition]) -> list[Condition]:
        """Ties in which each attribute has a condition of its own."""
        found: list[Condition] = []
        for tie in ties:
            names = self._attributes(tie.node) if tie.field == "*" else []
            found += [Condition(f"{tie.node}.{name} == {tie.value}.{name}") for name in names] or [tie]
        return found

    def _known(self, ties: Sequence[Condition]) -> list[Condition]:
        """The ties that are candidates."""
        by_text = {c.text: c for c in self.conditions}
        known = [by_text[text] for text in dict.fromkeys(c.text for c in ties) if text in by_text]
        # the others say nothing new
        return [c for c in known if not all(self.truth[self.conditions.index(c)])]

    def _attributes(self, name: str) -> list[str]:
        node = next(node for node in named_nodes(self.base) if node.name == name)
        return list(self.base.dialect.operators[node.operator or ""].attributes)

    def _under(self, chosen: Sequence[Condition]) -> list[Sample]:
        rows = [self.truth[self.conditions.index(c)] for c in chosen]
        return [s for k, s in enumerate(self.samples) if all(row[k] for row in rows)]

    def _kept(self, chosen: Sequence[Condition]) -> int:
        return sum(not s.bad for s in self._under(chosen))

    def _none(self, reason: str) -> Generalized:
        return Generalized(self.draft.name, None, (), self.lift.names, self.before, None, (), reason)

    def _take_back(self, verdict: Verdict, chosen: Sequence[Condition]) -> bool:
        """Make the verifier's counterexample a sample; whether that is a new one."""
        if verdict.counterexample is None:
            return False
        graph = read_json(verdict.counterexample.source, dialect=self.base.dialect)
        rule = self._under_conditions(chosen)
        found = samples(rule, instances_on(rule, [graph], Search()), self.settings.seed)
        return self._add(replace(s, scope=replace(s.scope, rule=self.base), bad=True) for s in found)

    def _note(self, chosen: Sequence[Condition], new: Sequence[Sample]) -> None:
        bad = [s for s in new if s.bad]
        form = ", ".join(self.lift.names) or "as written"
        self.tried.append(Tried(
            form, tuple(c.text for c in chosen), len(new) - len(bad), len(bad), bad[0].why if bad else ""
        ))

    # ── samples ──

    def _for_one(self) -> Deadline:
        """The time for one draw of samples."""
        return self.until.within(_SHARE_OF_DRAW * self.settings.seconds)

    def _draw(
        self,
        conditions: Sequence[Condition],
        wanted: int,
        attempts: int,
        most_bad: int = 0,
        vary: bool = False,
        violated: Condition | None = None,
    ) -> list[Sample]:
        """New samples of the rule under conditions, `violated` not holding."""
        rule = self._under_conditions(conditions, violated)
        self.seed += 1
        new = draw(rule, wanted, self.seed, attempts, self._for_one(), most_bad, vary)
        self._add(replace(s, scope=replace(s.scope, rule=self.base)) for s in new)
        return new

    def _under_conditions(
        self, conditions: Sequence[Condition], violated: Condition | None = None
    ) -> ir.CheckedRule:
        """The rule with more in its `where`, without conditions that do not check there."""
        more = [self.known[c.text] for c in conditions if c.text in self.known]
        more += [] if violated is None else [ir.UnaryValue("not", self.known[violated.text])]
        spans = (*self.base.where_spans, *[self.base.span] * len(more))
        return replace(self.base, where=(*self.base.where, *more), where_spans=spans)

    def _look_around(self, among: Sequence[Sample]) -> None:
        """Add the neighbours of some of these samples, first of those in which few sizes are equal by chance.
        """
        until = self._for_one()
        points = {repr(point.wishes()): point for s in among for point in [point_of(s.scope)]}
        others = list(points.values())
        waiting = [key for key in points if key not in self.centres]
        for key in sorted(waiting, key=lambda key: points[key].coincidences)[:_CENTRES]:
            self.centres.add(key)
            self.seed += 1
            near = neighbours(self.base, points[key], others, self.seed)
            for sample in samples(self.base, near, self.seed):
                self._add([sample])
                if until.passed:
                    return

    def _add(self, new: Iterable[Sample]) -> bool:
        count = len(self.samples)
        for sample in new:
            if len(sample.scope.slots) == len(self.base.nodes):
                self.samples.append(sample)
                for k, value in enumerate(self.values):
                    self.truth[k].append(holds(value, sample.scope))
        return len(self.samples) > count

    # ── candidates ──

    def _find_candidates(self) -> None:
        good = [s for s in self.samples if not s.bad]
        self.conditions = self._learn(candidates(self.base, good))
        self.values = [self.known[c.text] for c in self.conditions]
        self.truth = [[holds(value, s.scope) for s in self.samples] for value in self.values]

    def _learn(self, found: list[Condition]) -> list[Condition]:
        """The conditions that check in the rule's `where`, whose values are known from now on."""
        while found:
            program = self.named.check([Condition(f"\n{c.text}") for c in found], False)
            if program.ok:
                where = program.rules[self.draft.name].where[len(self.base.where) :]
                self.known |= {c.text: value for c, value in zip(found, where)}
                break
            errors = [d.primary.span for d in program.diagnostics if d.severity.value == "error"]
            lines = {span.line_column[0] for span in errors}
            text = [line.rstrip(", ") for line in errors[0].source.text.split("\n")]
            first = text.index(found[0].text)
            kept = [c for k, c in enumerate(found) if first + 1 + k not in lines]
            if len(kept) == len(found):
                raise NoDraft(f"conditions cannot be added to this rule: {program.diagnostics[0].message}")
            found = kept
        return found

    def _choose(self, fixed: Sequence[Condition]) -> list[Condition] | None:
        """The weakest conditions besides the fixed ones that exclude all bad samples; None without any."""
        rows = [self.truth[self.conditions.index(c)] for c in fixed]
        if not all(all(row[: self.given]) for row in rows):
            return None
        left = [k for k in range(len(self.samples)) if all(row[k] for row in rows)]
        telling = self._telling(left)
        good = sum(1 << j for j, k in enumerate(left) if k in telling)
        bad = sum(1 << j for j, k in enumerate(left) if self.samples[k].bad)
        columns = []
        for c, row in zip(self.conditions, self.truth):
            bits = sum(1 << j for j, k in enumerate(left) if row[k])
            columns.append(Column(bits & good, bits & bad, c.price))
        every = [k for k, row in enumerate(self.truth) if all(row[: self.given])]
        for usable in ([k for k in every if self.conditions[k].plain], every):
            chosen = weakest([columns[k] for k in usable], good, bad)
            if chosen is not None:
                return [self.conditions[k] for k in sorted(usable[k] for k in chosen)]
        return None

    def _telling(self, numbers: Sequence[int]) -> set[int]:
        """Good samples; of those in which a call has the same attributes, not many more than of others.
        Otherwise what is drawn most often, such as defaults, would seem to be most general.
        """
        left = [k for k in numbers if not self.samples[k].bad]
        points = {k: point_of(self.samples[k].scope).attributes for k in left}
        for call in dict.fromkeys(number for point in points.values() for number, _ in point):
            groups: dict[str, list[int]] = {}
            for k in left:
                own = [item for item in points[k].items() if item[0][0] == call]
                groups.setdefault(repr(own), []).append(k)
            most = max(_ALIKE, 2 * len(left) // len(groups))
            left = sorted(k for own in groups.values() for k in own[:most])
        return set(left)
