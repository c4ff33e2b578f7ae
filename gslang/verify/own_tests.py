"""Instances from a rule's own `test` items: graphs that its author says it matches, and such as are near
them. Symbolic dimensions get sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from random import Random

from gslang.check.checked import CheckedProgram, CheckedRule, CheckedTest
from gslang.dialect.tensor_type import Dimension, Symbol, TensorType
from gslang.engine.build import BuildError
from gslang.engine.values import FAILURES
from gslang.graph.graph import Graph
from gslang.testing import build_graph

_OTHERS = (1, 2, 3, 4, 5, 6, 8, 12)
_SIZES = (2, 3, 5, 7)  # of symbolic dimensions, in the order of their names: different from one another


def test_graphs(rule: CheckedRule, programs: Iterable[CheckedProgram]) -> Iterator[Graph]:
    """The graphs of the tests of `rule` that expect a change; one that cannot be built is left out."""
    for program, test in _changing(rule, programs):
        try:
            yield build_graph(program, test, test.source)
        except (BuildError, *FAILURES):
            continue


def has_tests(rule: CheckedRule, programs: Iterable[CheckedProgram]) -> bool:
    """True if a test expects a change by the rule."""
    return any(True for _ in _changing(rule, programs))


def graphs_near(
    rule: CheckedRule, programs: Sequence[CheckedProgram], seed: int, attempts: int
) -> Iterator[Graph]:
    """The same graphs with inputs of other sizes, those that were equal equal again; most do not fit together
    and are left out.
    """
    random = Random(seed)
    tests = list(_changing(rule, programs))
    for k in range(attempts if tests else 0):
        program, test = tests[k % len(tests)]
        before = sorted({d for _, _, type_ in test.inputs for d in type_.shape or () if isinstance(d, int)})
        now = {d: random.choice(_OTHERS) if random.random() < 0.5 else d for d in before}
        if all(d == size for d, size in now.items()):
            continue
        other = _with_dimensions(test, lambda d: now[d] if isinstance(d, int) else d)
        try:
            yield build_graph(program, other, other.source)
        except (BuildError, *FAILURES):
            continue


def _changing(
    rule: CheckedRule, programs: Iterable[CheckedProgram]
) -> Iterator[tuple[CheckedProgram, CheckedTest]]:
    for program in programs:
        for test in program.tests:
            if (
                test.rule in (rule.name, rule.family) and test.expected is not None
                and program.named(test.rule)
            ):
                yield program, _sized(test)


def _sized(test: CheckedTest) -> CheckedTest:
    symbols = {d.name for _, _, type_ in test.inputs for d in type_.shape or () if isinstance(d, Symbol)}
    sizes = {name: _SIZES[k % len(_SIZES)] for k, name in enumerate(sorted(symbols))}

    return _with_dimensions(test, lambda d: sizes[d.name] if isinstance(d, Symbol) else d)


def _with_dimensions(test: CheckedTest, size: Callable[[Dimension], Dimension]) -> CheckedTest:
    def resized(type_: TensorType) -> TensorType:
        return (
            type_ if type_.shape is None else TensorType(tuple([size(d) for d in type_.shape]), type_.dtype)
        )

    return replace(test, inputs=tuple([(name, kind, resized(type_)) for name, kind, type_ in test.inputs]))
