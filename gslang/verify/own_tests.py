"""Instances from a rule's own `test` items: graphs that its author says it matches. Symbolic dimensions get sizes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from gslang.check.checked import CheckedProgram, CheckedRule, CheckedTest
from gslang.dialect.tensor_type import Symbol, TensorType
from gslang.engine.build import BuildError
from gslang.engine.values import FAILURES
from gslang.graph.graph import Graph
from gslang.testing import build_graph

_SIZES = (2, 3, 5, 7)  # of symbolic dimensions, in the order of their names: different from one another


def test_graphs(rule: CheckedRule, programs: Iterable[CheckedProgram]) -> Iterator[Graph]:
    """The graphs of the tests of `rule` that expect a change; one that cannot be built is left out."""
    for program in programs:
        for test in program.tests:
            if test.rule == rule.name and test.expected is not None and program.rules.get(test.rule) is not None:
                sized = _sized(test)
                try:
                    yield build_graph(program, sized, sized.source)
                except (BuildError, *FAILURES):
                    continue


def _sized(test: CheckedTest) -> CheckedTest:
    symbols = {d.name for _, _, type_ in test.inputs for d in type_.shape or () if isinstance(d, Symbol)}
    sizes = {name: _SIZES[k % len(_SIZES)] for k, name in enumerate(sorted(symbols))}

    def with_sizes(type_: TensorType) -> TensorType:
        if type_.shape is None:
            return type_
        return TensorType(tuple(sizes[d.name] if isinstance(d, Symbol) else d for d in type_.shape), type_.dtype)

    return replace(test, inputs=tuple((name, kind, with_sizes(type_)) for name, kind, type_ in test.inputs))
