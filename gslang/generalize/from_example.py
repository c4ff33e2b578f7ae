"""The rules that lead from one graph to another, each judged and made general.

Graphs that compute the same are cut at the values that both have (`regions`); each difference between these
is a rule. Otherwise the graphs are compared as they are written (`example`), and the difference is one rule.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from gslang.base.deadline import NO_TIME, Allowance, in_time
from gslang.base.diagnostics import InputError
from gslang.base.quick_dataclass import dataclass
from gslang.base.source import Source
from gslang.check.checked import CheckedRule
from gslang.dialect.dialect import Dialect
from gslang.engine.lower import program_of
from gslang.engine.machine import matches
from gslang.evaluate.errors import EvaluationError
from gslang.evaluate.fold import fold
from gslang.evaluate.random_inputs import random_inputs
from gslang.generalize.checking import PLAIN
from gslang.generalize.draft import NoDraft
from gslang.generalize.example import NoRule, Reading, readings, rule_text
from gslang.generalize.generalized import Generalized
from gslang.generalize.observations import Place
from gslang.generalize.refine import Settings, generalize_in
from gslang.generalize.regions import Classes, Region, classes_of, regions
from gslang.graph.graph import INPUT, PARAM, Graph
from gslang.verify.evidence import Settings as VerifySettings
from gslang.verify.verdict import ORDER, is_answer, verify

_OF_TIME = 0.4  # of the time for a difference, for evaluating the graphs
_DRAWS = 3  # of inputs that both graphs are evaluated on
_MOST_INPUTS = 5_000  # of graphs that are evaluated
_SIZES = (2, 3)  # of symbolic dimensions, the leading one and others
_LONGEST = 50_000  # characters of a rule
_MOST_READINGS = 4  # that are judged, of one difference


@dataclass(frozen=True, slots=True)
class Found:
    """`rules`: those that hold, with the number of places where the graphs differ by it. `failed`: reasons
    for which other differences are no rule, with the number of places.
    """

    rules: tuple[tuple[Generalized, int], ...]
    failed: tuple[tuple[str, int], ...]


def rules_between(
    before: Graph,
    after: Graph,
    dialect: Dialect,
    name: str = "example",
    settings: Settings = Settings(),
    tell: Callable[[str], None] = lambda text: None,
    allowance: Allowance | None = None,
    warn: Callable[[str], None] = lambda text: None,
) -> Found:
    """The rules of all differences between two graphs; `name` is that of the only one, or their beginning.

    `allowance`: the time for each reading of a difference, and for evaluating the graphs, in the place of
    that in `settings`. `tell` hears about progress, `warn` why numbers were not compared. Raises `InputError`
    if the graphs do not differ, or in nothing that can be written as a rule.
    """
    allowance = allowance or Allowance(settings.seconds, True)
    tried = readings(before, after)
    first = next(tried)  # there is none of graphs that are equal, which need not be evaluated
    left, right = before.copy(), after.copy()
    for graph in (left, right):
        fold(graph, dialect)
    classes = allowance.spend(
        lambda seconds: _classes_within(_OF_TIME * seconds, left, right, dialect, settings.seed),
        lambda found: isinstance(found, Classes),
    )
    if classes and isinstance(classes, str):
        warn(f"numbers were not compared, all differences are treated as one: {classes}")
    elif isinstance(classes, Classes) and len(left.outputs) == len(right.outputs):
        walk = _Walk(left, right, dialect, settings, tell, allowance)
        regions(left, right, dialect, classes, walk.choose)
        if walk.groups or walk.failed:
            return walk.found(name)
    rule = best_rule(before, after, [first, *tried], dialect, name, settings, allowance)
    return Found(((rule, 1),), ()) if rule.text is not None else Found((), ((rule.reason, 1),))


def _classes_within(
    seconds: float, before: Graph, after: Graph, dialect: Dialect, seed: int
) -> Classes | str:
    """The same as `_classes`, in so much time."""
    found = in_time(seconds, lambda: _classes(before, after, dialect, seed))
    if found is not None:
        return found
    more = f"`--seconds {10 * seconds / _OF_TIME:g}` gives it ten times as much"
    return f"that takes more than {seconds:.2g} seconds ({more})"


def _classes(before: Graph, after: Graph, dialect: Dialect, seed: int) -> Classes | str:
    """The classes of graphs that compute the same; why graphs are too large to find that out; nothing of
    others, and where they cannot be evaluated.
    """
    if any(sum(op in (INPUT, PARAM) for op in graph.op) > _MOST_INPUTS for graph in (before, after)):
        return f"they have more than {_MOST_INPUTS:,} inputs and parameters"
    try:
        draws = [
            {**random_inputs(after, k, None, _SIZES), **random_inputs(before, k, None, _SIZES)}
            for k in range(seed, seed + _DRAWS)
        ]
    except EvaluationError:
        return ""
    found = classes_of(before, after, dialect, draws)
    return found if isinstance(found, str) or found.equal else ""


class _Walk:
    """The differences seen so far. `groups`: the text of a rule without its numbers → rules found for it,
    with the number of their places.
    """

    def __init__(
        self,
        before: Graph,
        after: Graph,
        dialect: Dialect,
        settings: Settings,
        tell: Callable[[str], None],
        allowance: Allowance,
    ) -> None:
        self.before, self.after, self.dialect = before, after, dialect
        self.settings, self.tell, self.allowance = settings, tell, allowance
        self.groups: dict[str, list[tuple[Generalized, int]]] = {}
        self.failed: dict[str, int] = {}
        self.known: dict[str, Generalized | None] = {}
        self.seen = 0

    def choose(self, region: Region) -> int | None:
        """The number of the first reading that holds, or that conditions repair; None of none."""
        self.seen += 1
        if not self.allowance.share:
            self._note(NO_TIME)
            return None
        texts: dict[str, int] = {}
        problem = "the first graph does not have the values that the second one reads"
        for k, (reading, _) in enumerate(region.readings):
            for with_sizes in (True, False):
                try:
                    text = _checked_text(
                        self.before, self.after, reading, self.dialect, with_sizes=with_sizes
                    )
                    texts.setdefault(text, k)
                except NoRule as reason:
                    problem = str(reason)
        for text in texts:
            if self._taken(text, region.before):
                return texts[text]
        order = sorted(
            list(texts)[:_MOST_READINGS],
            key=lambda text: _rank(text, self.settings, self.allowance) < ORDER.index("tested"),
        )
        for text in order:
            rule = self._general(text, region.before)
            if rule is not None and rule.text is not None:
                self.groups.setdefault(_shape(text), []).append((rule, 1))
                self.tell(f"difference {self.seen}: {(rule.verdict or rule.before).verdict}")
                return texts[text]
            problem = problem if rule is None else rule.reason
        self._note(problem)
        return None

    def _note(self, problem: str) -> None:
        self.failed[problem] = self.failed.get(problem, 0) + 1
        self.tell(f"difference {self.seen}: no rule, {problem}")

    def _taken(self, text: str, node: int) -> bool:
        """True if a rule found for a text that differs in numbers only matches there."""
        rules = self.groups.get(_shape(text), [])
        for k, (rule, count) in enumerate(rules):
            if rule.rule is not None and _matches(rule.rule, self.before, node):
                rules[k] = rule, count + 1
                return True
        return False

    def _general(self, text: str, node: int) -> Generalized | None:
        if text not in self.known:
            places = [(self.before, node)]
            self.known[text] = _generalized(text, "example", self.settings, self.allowance, places)
        return self.known[text]

    def found(self, name: str) -> Found:
        by_text: dict[str, tuple[Generalized, int]] = {}
        for rule, count in (one for group in self.groups.values() for one in group):
            first, places = by_text.get(rule.text or "", (rule, 0))
            by_text[rule.text or ""] = first, places + count
        ordered = sorted(by_text.values(), key=lambda one: -one[1])
        many = len(ordered) > 1
        return Found(
            tuple(
                (_named(rule, f"{name}_{k}" if many else name), count)
                for k, (rule, count) in enumerate(ordered, 1)
            ),
            tuple(self.failed.items()),
        )


def _shape(text: str) -> str:
    """The text of a rule without its numbers."""
    return re.sub(r"\b\d[\d.e]*\b", "0", text)


def _matches(rule: CheckedRule, graph: Graph, node: int) -> bool:
    return next(matches(program_of(rule), graph, node), None) is not None


def _named(rule: Generalized, name: str) -> Generalized:
    text = None if rule.text is None else re.sub(r"\brule example\(", f"rule {name}(", rule.text, count=1)
    return replace(rule, name=name, text=text)


def _rank(text: str, settings: Settings, allowance: Allowance) -> int:
    """The place of the verdict on a rule as it is written in their order; 0 where there is no time for it."""
    program = PLAIN.program("<example>", text)
    (rule,) = program.rules.values()
    verdict = allowance.spend(lambda time: verify(rule, VerifySettings(time, settings.seed)), is_answer)
    return 0 if verdict is None else ORDER.index(verdict.verdict)


def _generalized(
    text: str, name: str, settings: Settings, allowance: Allowance, places: Sequence[Place] = ()
) -> Generalized | None:
    """The general form of a rule; None if it has no draft, or there is no time for it."""

    def general(seconds: float) -> Generalized | None:
        try:
            return generalize_in(Source("<example>", text), name, replace(settings, seconds=seconds), places)
        except NoDraft:
            return None

    return allowance.spend(general, lambda found: found is not None and found.answers)


def _checked_text(
    before: Graph,
    after: Graph,
    reading: Reading,
    dialect: Dialect,
    name: str = "example",
    with_sizes: bool = False,
) -> str:
    """The text of a reading's rule. Raises `NoRule` if it does not check, too."""
    text = rule_text(before, after, reading, dialect, name, with_sizes)
    if len(text) > _LONGEST:
        raise NoRule(f"it would be a rule of more than {_LONGEST:,} characters")
    program = PLAIN.program("<example>", text)
    if not program.ok:
        raise NoRule(next(d.message for d in program.diagnostics if d.severity.value == "error"))
    return text


def best_rule(
    before: Graph,
    after: Graph,
    tried: Sequence[Reading],
    dialect: Dialect,
    name: str = "example",
    settings: Settings = Settings(),
    allowance: Allowance | None = None,
) -> Generalized:
    """The generalised rule of the first reading that the verifier does not refute; if each is refuted, of the
    first that conditions repair.

    Raises `InputError` if no reading can be written as a rule.
    """
    allowance = allowance or Allowance(settings.seconds, True)
    texts: dict[str, None] = {}
    problems: list[str] = []
    for reading in tried:
        try:
            texts.setdefault(_checked_text(before, after, reading, dialect, name))
        except NoRule as problem:
            problems.append(str(problem))
    if not texts:
        raise InputError(f"the difference is not a rule: {problems[0]}")
    order = list(texts)
    holding = [text for text in order if _rank(text, settings, allowance) >= ORDER.index("tested")]
    found: Generalized | None = None
    for text in (holding or order)[:_MOST_READINGS]:
        found = _generalized(text, name, settings, allowance) or found
        if found is not None and found.text is not None:
            return found
    if found is None:
        no = "the difference is not a rule that conditions can be added to"
        raise InputError(no if allowance.share else f"the difference is not a rule: {NO_TIME}")
    return found
