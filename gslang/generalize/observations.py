"""Samples of one form of a rule, each good or bad, and on which of them each candidate condition holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce
from operator import and_

from gslang.base.deadline import Deadline
from gslang.check import checked as ir
from gslang.engine.lower import program_of
from gslang.engine.machine import matches
from gslang.engine.scope import holds
from gslang.generalize.candidates import candidates
from gslang.generalize.draft import Condition, Draft, NoDraft
from gslang.generalize.samples import Sample, draw, samples
from gslang.generalize.weakest import Column, weakest
from gslang.graph.graph import Graph
from gslang.verify.instances.draw import Search, instances_on
from gslang.verify.neighbours import Point, neighbours, point_of
from gslang.verify.verdict import Verdict

Place = tuple[Graph, int]  # a node of a graph at which a rule matches

_ALIKE = 12  # good samples in which a call has the same attributes, which count in any case
_ENOUGH_KEPT = 0.75  # of the good samples that any conditions keep, for plain ones to be preferred
_MOST_PLACED = 40  # conditions that are written at nodes: each that may not stand there is another check
_SHARE_OF_DRAW = 0.25  # of the time for one rule, for one draw


class Observations:
    """The samples drawn so far, the candidates, and a row of truth values for each of these."""

    def __init__(
        self, draft: Draft, places: Sequence[Place], seed: int, seconds: float, until: Deadline
    ) -> None:
        """`places`: where the rule is known to be right; where this form matches, no choice of conditions
        excludes them. `seconds`: for the rule as a whole.
        """
        self.draft = draft
        self.base = draft.checked()
        found = (next(matches(program_of(self.base), graph, node), None) for graph, node in places)
        self.samples = [Sample(scope, False, "") for scope in found if scope is not None]
        self.given = len(self.samples)
        self.conditions: list[Condition] = []
        self._centres: set[str] = set()
        self._looked: Counter[str] = Counter()  # the attributes of calls and ranks of leaves of centres
        self._known: dict[str, ir.Value] = {}  # the text of a condition → its value
        self._values: list[ir.Value] = []
        self._truth: list[list[bool]] = []
        self._seed, self._seconds, self._until = seed, seconds, until
        self._draws = 0

    # ── samples ──

    def draw(
        self,
        conditions: Sequence[Condition],
        wanted: int,
        attempts: int,
        most_bad: int = 0,
        vary: bool = False,
        violated: Condition | None = None,
    ) -> list[Sample]:
        """New samples of the rule under conditions, `violated` not holding."""
        rule = self._placed(conditions, violated)
        new = draw(rule, wanted, self._next_seed(), attempts, self._for_one(), most_bad, vary)
        self._add(replace(s, scope=replace(s.scope, rule=self.base)) for s in new)
        return new

    def good_samples_of(self, rule: ir.CheckedRule, wanted: int, attempts: int) -> list[Sample]:
        """Good samples of a more special form of the rule, as matches of this one; they are not added."""
        drawn = draw(rule, wanted, self._next_seed(), attempts, self._for_one())
        return [replace(s, scope=replace(s.scope, rule=self.base)) for s in drawn if not s.bad]

    def look_around(self, among: Sequence[Sample], centres: int) -> None:
        """Add the neighbours of so many of these samples: of those with attributes and ranks that few points
        looked at before have, first those in which few sizes are equal by chance.
        """
        until = self._for_one()
        points = {repr(point.wishes()): point for s in among for point in [point_of(s.scope)]}
        others = list(points.values())
        waiting = [key for key in points if key not in self._centres]
        for _ in range(min(centres, len(waiting))):
            ways = {key: _ways(points[key]) for key in waiting}
            key = min(
                waiting, key=lambda key: (sum(self._looked[w] for w in ways[key]), points[key].coincidences)
            )
            waiting.remove(key)
            self._centres.add(key)
            self._looked.update(ways[key])
            seed = self._next_seed()
            for sample in samples(self.base, neighbours(self.base, points[key], others, seed), seed):
                self._add([sample])
                if until.passed:
                    return

    def take_back(self, verdict: Verdict, chosen: Sequence[Condition]) -> bool:
        """Make the verifier's counterexample a sample; whether that is a new one."""
        if verdict.counterexample is None:
            return False
        graph = verdict.counterexample.read_source(self.base.dialect)
        rule = self._rule_under(chosen)
        found = samples(rule, instances_on(rule, [graph], Search()), self._seed)
        return self._add(replace(s, scope=replace(s.scope, rule=self.base), bad=True) for s in found)

    def _placed(self, conditions: Sequence[Condition], violated: Condition | None) -> ir.CheckedRule:
        """The rule with these conditions at its nodes, where instances are made to fit them; `violated` does
        not hold.
        """
        known = [c for c in conditions if c.text in self._known]
        rule = self.draft.with_best_places(known)[1] if len(known) <= _MOST_PLACED else self.base
        if len(known) > _MOST_PLACED or len(rule.nodes) != len(self.base.nodes):
            rule = self._rule_under(known)
        opposite = [] if violated is None else [ir.UnaryValue("not", self._known[violated.text])]
        return self._with(rule, opposite)

    def _rule_under(self, conditions: Sequence[Condition]) -> ir.CheckedRule:
        """The rule with more in its `where`, without conditions that do not check there."""
        return self._with(self.base, [self._known[c.text] for c in conditions if c.text in self._known])

    def _with(self, rule: ir.CheckedRule, more: Sequence[ir.Value]) -> ir.CheckedRule:
        spans = (*rule.where_spans, *[rule.span] * len(more))
        return replace(rule, where=(*rule.where, *more), where_spans=spans)

    def _next_seed(self) -> int:
        self._draws += 1
        return self._seed * 1_000 + self._draws

    def _for_one(self) -> Deadline:
        """The time for one draw of samples."""
        return self._until.within(_SHARE_OF_DRAW * self._seconds)

    def _add(self, new: Iterable[Sample]) -> bool:
        count = len(self.samples)
        for sample in new:
            if len(sample.scope.slots) == len(self.base.nodes):
                self.samples.append(sample)
                for k, value in enumerate(self._values):
                    self._truth[k].append(holds(value, sample.scope))
        return len(self.samples) > count

    @property
    def good(self) -> list[Sample]:
        return [s for s in self.samples if not s.bad]

    # ── candidates ──

    def find_candidates(self) -> None:
        """The candidates are those that `candidates` finds for the samples seen by now."""
        self.conditions = self.learn(candidates(self.base, self.good))
        self._values = [self._known[c.text] for c in self.conditions]
        self._truth = [[holds(value, s.scope) for s in self.samples] for value in self._values]

    def learn(self, found: list[Condition]) -> list[Condition]:
        """The conditions that check in the rule's `where`, whose values are known from now on."""
        while found:
            program = self.draft.check([Condition(f"\n{c.text}") for c in found], False)
            if program.ok:
                where = program.rules[self.draft.name].where[len(self.base.where) :]
                self._known |= {c.text: value for c, value in zip(found, where)}
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

    def weakest_besides(self, fixed: Sequence[Condition]) -> list[Condition] | None:
        """The weakest conditions besides the fixed ones that exclude all bad samples; None without any."""
        rows = [self._truth[self.conditions.index(c)] for c in fixed]
        if not all(all(row[: self.given]) for row in rows):
            return None
        left = [k for k in range(len(self.samples)) if all(row[k] for row in rows)]
        every = [k for k, row in enumerate(self._truth) if all(row[: self.given])]
        return self._weakest_of(every, left, self._telling(left))

    def said_without(self, avoided: Condition, chosen: Sequence[Condition]) -> list[Condition] | None:
        """Other conditions than `avoided` that exclude all bad samples and hold on all good ones on which the
        chosen ones do; None without any.
        """
        rows = [self._truth[self.conditions.index(c)] for c in chosen]
        kept = {k for k, s in enumerate(self.samples) if not s.bad and all(row[k] for row in rows)}
        others = [
            k for k, row in enumerate(self._truth)
            if self.conditions[k] is not avoided and all(row[j] for j in kept)
        ]
        return self._weakest_of(others, range(len(self.samples)), kept)

    def _weakest_of(
        self, usable: Sequence[int], left: Sequence[int], telling: set[int]
    ) -> list[Condition] | None:
        """The weakest of these conditions that exclude the bad ones of the samples that are `left`."""
        good = sum(1 << j for j, k in enumerate(left) if k in telling)
        bad = sum(1 << j for j, k in enumerate(left) if self.samples[k].bad)
        columns = {}
        for n in usable:
            bits = sum(1 << j for j, k in enumerate(left) if self._truth[n][k])
            columns[n] = Column(bits & good, bits & bad, self.conditions[n].price)
        best: tuple[int, list[int]] | None = None
        for some in ([n for n in usable if self.conditions[n].plain], list(usable)):
            chosen = weakest([columns[n] for n in some], good, bad)
            if chosen is None:
                continue
            numbers = sorted(some[k] for k in chosen)
            kept = reduce(and_, (columns[n].good for n in numbers), good).bit_count()
            if best is None or best[0] < _ENOUGH_KEPT * kept:
                best = kept, numbers
        return None if best is None else [self.conditions[n] for n in best[1]]

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

    def candidates_of(self, ties: Sequence[Condition], free: bool) -> list[Condition]:
        """The ties that are candidates; `free`: without those that hold on all samples, some of which were
        drawn without ties.
        """
        by_text = {c.text: c for c in self.conditions}
        known = [by_text[text] for text in dict.fromkeys(c.text for c in ties) if text in by_text]
        return [c for c in known if not (free and all(self._truth[self.conditions.index(c)]))]

    def under(self, chosen: Sequence[Condition]) -> list[Sample]:
        """The samples on which all of these conditions hold."""
        rows = [self._truth[self.conditions.index(c)] for c in chosen]
        return [s for k, s in enumerate(self.samples) if all(row[k] for row in rows)]

    def kept(self, chosen: Sequence[Condition]) -> int:
        """The number of good samples on which all of these conditions hold."""
        return sum(not s.bad for s in self.under(chosen))

    def all_hold(self, conditions: Sequence[str], among: Sequence[Sample]) -> bool:
        """True if candidates, by their text, hold on all of these samples."""
        values = {c.text: value for c, value in zip(self.conditions, self._values)}
        return all(holds(values[text], s.scope) for s in among for text in conditions)


def _ways(point: Point) -> list[str]:
    """The attributes of each call, and the rank of each leaf."""
    calls = dict.fromkeys(call for call, _ in point.attributes)
    attributes = [[item for item in point.attributes.items() if item[0][0] == call] for call in calls]
    return [*map(repr, attributes), *(f"{leaf} {len(shape)}" for leaf, shape in point.shapes.items())]
