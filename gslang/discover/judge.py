"""The weakest form of a candidate that holds: each form meets a few instances first, and the verifier if none
differs."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from gslang.base.deadline import deadline
from gslang.base.quick_dataclass import dataclass
from gslang.base.source import Source
from gslang.check.check import check_source
from gslang.check.checked import CheckedProgram, CheckedRule
from gslang.dialect.dialect import Dialect
from gslang.discover.conditions import SizeConditions, size_conditions
from gslang.discover.equations import Candidate, turned_round
from gslang.discover.formers import Former
from gslang.discover.forms import Style, Types, forms, graph_text, rule_text, symbols_of
from gslang.discover.terms import Tree, count
from gslang.engine.lower import program_of
from gslang.engine.machine import matches
from gslang.graph.graph import Graph
from gslang.verify.comparison.compare import can_be_computed, compare, refutes
from gslang.verify.evidence import Settings
from gslang.verify.instances.draw import Instance, Search, instances
from gslang.verify.paste import as_test
from gslang.verify.prove.prove import prove
from gslang.verify.prove.terms.paths import NotProved
from gslang.verify.verdict import ORDER, Verdict, verify_now

_FEW = 6  # instances that a form meets before the verifier looks at it, and there beside a proof
_SECONDS = 6.0  # for the verdict on a form, and for a proof of it
_GLANCE = 1.5  # seconds for the few
_MOSTLY = 0.9  # of the cases in which a candidate holds are enough
_WANTED = 16  # instances without a proof


@dataclass(frozen=True, slots=True)
class Judged:
    """`text`: the rule alone; `test` and `stays`: bodies of tests, one that fires and one that does not
    (empty without one).

    `verdict`, `reason`: of the verifier. `conditions`: what the rule asks for beyond its operators. `turned`:
    the candidate is the one that was found from right to left.
    """

    candidate: Candidate
    name: str
    text: str
    conditions: tuple[str, ...]
    verdict: str
    reason: str
    test: str
    stays: str = ""
    turned: bool = False


def judge(
    candidate: Candidate, name: str, prelude: str, formers: Sequence[Former], dialect: Dialect, require: str
) -> Judged | None:
    """The first form whose verdict is at least `require`; None if there is none. A candidate that is as large
    on both sides is read from right to left if that takes conditions that exclude less, or if there is no
    form from left to right."""
    ways = [candidate]
    turned = turned_round(candidate)
    if turned is not None and count(turned.sources[0]) == count(turned.targets[0]):
        ways.append(turned)
    sizes = [size_conditions(way, formers, dialect, symbols_of(way, formers)) for way in ways[:1]]
    if len(ways) > 1 and not (sizes[0] and sizes[0][0].admits > _MOSTLY):
        sizes.append(size_conditions(ways[1], formers, dialect, symbols_of(ways[1], formers)))
        if sizes[1] and not (sizes[0] and sizes[0][0].admits >= sizes[1][0].admits):
            ways, sizes = ways[::-1], sizes[::-1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's, where random numbers make NaN
        for way, conditions in zip(ways, sizes):
            own = name if way is candidate else named(way, formers)
            found = _one_way(way, own, prelude, formers, dialect, require, conditions)
            if found is not None:
                return replace(found, turned=way is not candidate)
    return None


def _one_way(
    candidate: Candidate, name: str, prelude: str, formers: Sequence[Former], dialect: Dialect, require: str,
    sizes: Sequence[SizeConditions],
) -> Judged | None:  # fmt: skip
    """`refuted` collects what shows that a form is wrong: the next one has to exclude that before it is
    tried."""
    least = ORDER.index(require)
    refuted: list[Graph] = []
    test = graph_text(candidate, formers, dialect)
    for form in forms(candidate, name, formers, dialect, sizes):
        program = check_source(
            Source("<discovered>", f'{prelude}{form.text}test "it" for {name} {{\n{test}}}\n')
        )
        rule = program.rules.get(name) if program.ok else None
        if rule is None or any(_matches(rule, graph) for graph in refuted):
            continue
        wrong = _differs(rule)
        if wrong is not None:
            refuted.append(wrong.before)
            continue
        verdict = _verdict(rule, program, require)
        if verdict.counterexample is not None:
            refuted.append(verdict.counterexample.read_source(rule.dialect))
        if ORDER.index(verdict.verdict) >= least:
            return Judged(
                candidate,
                name,
                form.text,
                form.conditions,
                verdict.verdict,
                verdict.reason,
                test,
                _stays(rule, refuted),
            )
    return None


def _verdict(rule: CheckedRule, program: CheckedProgram, require: str) -> Verdict:
    """The verdict on a rule with a test in `program`. A proof needs few instances beside it; without one,
    more are looked at, unless that cannot be enough."""
    try:
        prove(rule, until=deadline(_SECONDS))
    except NotProved:
        wanted = _FEW if require == "proved" else _WANTED
        return verify_now(rule, Settings(_SECONDS, wanted=wanted, proof_steps=0), [program])
    return verify_now(rule, Settings(_SECONDS, wanted=_FEW), [program])


def family(candidate: Candidate, formers: Sequence[Former], dialect: Dialect) -> str:
    """The same for candidates that differ in attributes or types only: one rule may be all of them."""
    first = rule_text(candidate, "it", formers, dialect, Style(), Types(), SizeConditions(()))
    return first.text if first is not None else repr((candidate.sources, candidate.targets))


def _differs(rule: CheckedRule) -> Instance | None:
    """An instance on which the sides differ or the target does not fit, among the first few."""
    drawn = instances(rule, Search(), 0, _GLANCE, 6 * _FEW)
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
        if not _matches(rule, graph):
            lines = as_test(rule, graph).splitlines()[1:-1]
            return "\n".join(lines) + "\n"
    return ""


def _matches(rule: CheckedRule, graph: Graph) -> bool:
    return any(next(matches(program_of(rule), graph, start), None) is not None for start in graph.outputs)


def named(candidate: Candidate, formers: Sequence[Former]) -> str:
    """A name for a rule: its source's operators, outermost first."""
    words: list[str] = []

    def walk(tree: Tree) -> None:
        if isinstance(tree, tuple):
            former = formers[tree[0]]
            words.append("number" if former.constant is not None else former.op.rpartition(".")[2].lower())
            for operand in tree[1:]:
                walk(operand)

    for source in candidate.sources:
        walk(source)
    return "_".join(words[:5])
