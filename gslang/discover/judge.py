"""The weakest form of a candidate that holds: each form meets a few instances first, and the verifier if none
differs.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import islice

from gslang.api import RuleError, parse_rules
from gslang.base.quick_dataclass import dataclass
from gslang.check.checked import CheckedRule
from gslang.dialect.dialect import Dialect
from gslang.discover.conditions import size_conditions
from gslang.discover.enumerate import Tree
from gslang.discover.equations import Candidate
from gslang.discover.formers import Former
from gslang.discover.forms import forms, graph_text, symbols_of
from gslang.engine.lower import program_of
from gslang.engine.machine import matches
from gslang.graph.graph import Graph
from gslang.verify.compare import can_be_computed, compare
from gslang.verify.evidence import Settings, refutes
from gslang.verify.instances import Instance, Search, instances
from gslang.verify.paste import as_test
from gslang.verify.verdict import ORDER, verify_now

_FEW = 10  # instances that a form meets before the verifier looks at it
_SECONDS = 1.5
_WANTED = 16  # instances of the verifier


@dataclass(frozen=True, slots=True)
class Judged:
    """`text`: the rule alone; `test` and `stays`: bodies of tests, one that fires and one that does not
    (empty without one).

    `verdict`, `reason`: of the verifier. `conditions`: what the rule asks for beyond its operators.
    """

    candidate: Candidate
    name: str
    text: str
    conditions: tuple[str, ...]
    verdict: str
    reason: str
    test: str
    stays: str = ""


def judge(
    candidate: Candidate, name: str, prelude: str, formers: Sequence[Former], dialect: Dialect, require: str
) -> Judged | None:
    """The first form whose verdict is at least `require`; None if there is none."""
    least = ORDER.index(require)
    refuted: list[Graph] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's, where random numbers make NaN
        # computed if no form before needs none
        sizes = size_conditions(candidate, formers, dialect, symbols_of(candidate, formers))
        for form in forms(candidate, name, formers, dialect, sizes):
            rule = _rule(prelude + form.text, name)
            if rule is None:
                continue
            wrong = _differs(rule)
            if wrong is not None:
                refuted.append(wrong.before)
                continue
            verdict = verify_now(rule, Settings(_SECONDS * 4, wanted=_WANTED))
            if ORDER.index(verdict.verdict) >= least:
                test = graph_text(candidate, formers, dialect)
                return Judged(
                    candidate, name, form.text, form.conditions, verdict.verdict, verdict.reason, test,
                    _stays(rule, refuted),
                )
    return None


def family(candidate: Candidate, formers: Sequence[Former], dialect: Dialect) -> str:
    """The same for candidates that differ in attributes or types only: one rule may be all of them."""
    first = next(iter(forms(candidate, "it", formers, dialect, ())), None)
    return first.text if first is not None else repr((candidate.source, candidate.target))


def _rule(text: str, name: str) -> CheckedRule | None:
    try:
        return parse_rules(text, "<discovered>").known[name]
    except RuleError:
        return None


def _differs(rule: CheckedRule) -> Instance | None:
    """An instance on which the sides differ or the target does not fit, among the first few."""
    drawn = instances(rule, Search(), 0, _SECONDS, 6 * _FEW)
    for instance in islice(drawn, _FEW):
        if instance.after is None:
            if can_be_computed(instance.before, rule.dialect, 0):
                return instance
        elif refutes(compare(instance.before, instance.after, rule.dialect, None, 0)):
            return instance
    return None


def _stays(rule: CheckedRule, refuted: Sequence[Graph]) -> str:
    """The body of a test in which nothing matches: where a form with weaker conditions was wrong."""
    for graph in refuted:
        if all(next(matches(program_of(rule), graph, start), None) is None for start in graph.outputs):
            lines = as_test(rule, graph).splitlines()[1:-1]
            return "\n".join(lines) + "\n"
    return ""


def named(candidate: Candidate, formers: Sequence[Former]) -> str:
    """A name for a rule: its source's operators, outermost first."""
    words: list[str] = []

    def walk(tree: Tree) -> None:
        if isinstance(tree, tuple):
            former = formers[tree[0]]
            words.append("number" if former.constant is not None else former.op.rpartition(".")[2].lower())
            for operand in tree[1:]:
                walk(operand)

    walk(candidate.source)
    return "_".join(words[:5])
