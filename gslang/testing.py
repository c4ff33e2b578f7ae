"""Running the `test` items of rule files: the rule on a small graph, compared in structure and in numbers."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Final

from gslang.base.quick_dataclass import dataclass
from gslang.check import checked as ir
from gslang.check.limits import RuleFailed
from gslang.dialect.load import require_inference
from gslang.dialect.onnx.versions import OPSETS
from gslang.engine.build import BuildError, build
from gslang.engine.externs import with_externs
from gslang.engine.fixed_point import Limits, run_to_fixed_point
from gslang.engine.meaning import with_meanings
from gslang.engine.scope import Scope
from gslang.engine.values import FAILURES
from gslang.graph.compare import differences
from gslang.graph.graph import CONST, INPUT, PARAM, Graph

if TYPE_CHECKING:
    from gslang.engine.miss import Miss

NOT_APPLIED: Final = "the rule was not applied"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one test.

    `problem` is None if it passed; `miss`: why the rule did not apply, at node `at` ("": anywhere).
    """

    title: str
    rule: str
    place: str
    problem: str | None
    seconds: float
    miss: Miss | None = None
    at: str = ""

    @property
    def passed(self) -> bool:
        return self.problem is None


def run_tests(
    program: ir.CheckedProgram, rules: frozenset[str] | None = None, seed: int = 0
) -> list[Outcome]:
    """Run a file's tests, those of the chosen rules or all.

    Raises `InputError` if a package is missing for that.
    """
    if program.tests:
        require_inference(program.dialect)
    outcomes = []
    program = with_meanings(program)
    if any(extern.function is None for rule in program.rules.values() for extern in rule.externs):
        program = with_externs(program, allow=False)
    for test in program.tests:
        if rules is None or any(
            name in rules for rule in program.named(test.rule) for name in (rule.name, rule.family)
        ):
            began = perf_counter()
            problem = _run(program, test, seed)
            miss, at = _nearest(program, test) if problem == NOT_APPLIED else (None, "")
            outcomes.append(
                Outcome(test.title, test.rule, str(test.span), problem, perf_counter() - began, miss, at)
            )
    return outcomes


def _run(program: ir.CheckedProgram, test: ir.CheckedTest, seed: int) -> str | None:
    rules = program.named(test.rule)
    if not rules:
        return f"rule `{test.rule}` has errors"
    try:
        before = build_graph(program, test, test.source)
        expected = None if test.expected is None else build_graph(program, test, test.expected)
    except BuildError as error:
        return f"the test's graph does not type-check: {error}"
    except FAILURES as error:
        return f"the test's graph cannot be built: {error}"
    after = before.copy()
    try:
        progress = run_to_fixed_point(after, rules, Limits(sweeps=8))
    except RuleFailed as error:
        return f"{error.message}; {error.help}" if error.help else error.message
    if progress.failures:
        return f"the target does not fit: {progress.failures[0].message}"
    if expected is None:
        return (
            None if not progress.applications
            else f"the rule was applied {progress.applications} times, expected: unchanged"
        )
    if not progress.applications:
        return NOT_APPLIED
    found = differences(after, expected, program.dialect)
    if found:
        return "the result is a different graph: " + "; ".join(found[:3])
    return _numbers(program, before, after, rules[0], seed) if rules[0].changes is None else None


def _nearest(program: ir.CheckedProgram, test: ir.CheckedTest) -> tuple[Miss | None, str]:
    """The nearest miss of a rule, or of any of a family, that did not apply in a test's graph, and the node
    where it was tried."""
    from gslang.engine.lower import program_of
    from gslang.engine.why_not import why_not
    from gslang.graph.known_calls import prepared

    graph = prepared(build_graph(program, test, test.source), program.dialect)
    misses = [why_not(program_of(rule), graph, None, 1)[0] for rule in program.named(test.rule)]
    miss = max(misses, key=lambda miss: miss.matched / miss.of)
    return (
        (None, "") if miss.reason == "matches" else (miss, graph.label(miss.start) if miss.start >= 0 else "")
    )


def build_graph(program: ir.CheckedProgram, test: ir.CheckedTest, side: ir.TargetGraph) -> Graph:
    """One side of a test as a graph. Raises `BuildError`, or what an evaluation may fail with."""
    graph = Graph(program.dialect.name, "test")
    if test.opset is not None:
        graph.meta[OPSETS] = {"": test.opset}
    kinds = {"input": INPUT, "param": PARAM, "const": PARAM}
    slots = [graph.add(kinds[kind], (), {}, type_, name) for name, kind, type_ in test.inputs]
    scope = Scope(_Frame(program, test, len(slots)), graph, slots)  # type: ignore[arg-type]
    outputs = build(graph, program.dialect, side, scope, literal=True)
    graph.set_outputs(outputs)
    for node, (_, kind, type_) in zip(slots, test.inputs):
        if kind == "const":
            _make_constant(graph, node, type_)
    return graph


def _make_constant(graph: Graph, node: int, type_: ir.TensorType) -> None:
    """Test inputs of kind `const` get some value of their own."""
    from gslang.evaluate.random_inputs import random_inputs

    values = random_inputs(graph, 1)
    name = graph.names[node]
    if name in values:
        graph.set_value(node, CONST, values[name], type_)


class _Frame:
    """Stands for the rule in a test's scope: inputs are the only nodes."""

    def __init__(self, program: ir.CheckedProgram, test: ir.CheckedTest, count: int) -> None:
        self.lets = test.lets
        self.dialect = program.dialect
        self.captures = ()
        self.blocks = ()
        self.nodes = tuple(ir.LeafNode(name=name, span=test.span, kind="any") for name, _, _ in test.inputs)


def _numbers(
    program: ir.CheckedProgram, before: Graph, after: Graph, rule: ir.CheckedRule, seed: int
) -> str | None:
    from gslang.evaluate.agree import compare_values
    from gslang.evaluate.errors import EvaluationError, NoEvaluatorError
    from gslang.evaluate.random_inputs import random_inputs
    from gslang.evaluate.run import evaluate

    try:
        inputs = random_inputs(before, seed)
        agreement = compare_values(
            evaluate(before, program.dialect, inputs), evaluate(after, program.dialect, inputs),
            rule.approximate,
        )
    except NoEvaluatorError:
        return None  # the structure is all that can be tested
    except EvaluationError as error:
        return str(error)
    return None if agreement.equal else f"the numbers differ: {agreement.reason}"
