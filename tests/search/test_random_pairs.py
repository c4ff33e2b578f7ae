"""Searches with random rules of the whole language that are true: what is found computes the same numbers.

The sources and graphs are those that the matchers are compared with the oracle on. A target is the source
again, as an expression that differs from it by laws of arithmetic, in parts or as a whole. `make test` takes
100 seeds, `make test-long` 23,000: 10,000 of them give a rule and a graph whose numbers can be compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random
from zlib import crc32

import numpy as np
import pytest

from gslang.api.folding import folder
from gslang.base.arrays import Array
from gslang.base.source import Source
from gslang.check.check import check_source
from gslang.check.checked import CheckedRule
from gslang.dialect.load import load_dialect
from gslang.dialect.tensor_type import TensorType
from gslang.engine.externs import with_externs
from gslang.engine.fixed_point import Progress
from gslang.engine.lower import program_of
from gslang.engine.machine import matches
from gslang.engine.replay import replay
from gslang.evaluate.agree import compare_values
from gslang.evaluate.random_inputs import random_inputs
from gslang.evaluate.run import EvaluationError, evaluate
from gslang.formats.json_writer import write_json
from gslang.graph.graph import PARAM, Graph
from gslang.search.cost.work import Call as CostedCall
from gslang.search.saturate import Limits
from gslang.search.search import METHODS, Found, Settings, search
from gslang.search.trace import replay_choice
from tests.engine.random_graphs import as_graph, infer_all, random_graph, show
from tests.engine.random_rules import random_rule
from tests.engine.rule_data import Call, Leaf, Rule, Tuple, is_plain_input, makes_tuple, reachable
from tests.engine.written import name_in, rule_text
from tests.graph.invariants import check_invariants

RELAY = load_dialect("relay")


def true_targets(random: Random, rule: Rule) -> tuple[str, ...]:
    """Expressions that are equal to the outputs of a rule."""
    if (varying := rule.varying) is not None:
        return (f"*[{_disguised(random, f'i.p{varying.nodes[-1]}')} for i in {varying.name}]",)
    sure = {k for k in reachable(rule.nodes, rule.outputs, through=False) if k not in rule.inside}

    def again(k: int) -> str:
        """A node from its operands, or as it was matched."""
        node = rule.nodes[k]
        match node:
            case Leaf(value=float() as value, splat=False):
                return f"const(value = {value})"
            case Call(operators=(operator,), axis=None, variable=None, operands=operands) if (
                operator in _FORMS and k not in rule.captured
                and all(isinstance(o, int) and (o in sure) and _has_name(rule, o) for o in operands)
            ):
                below = [again(o) for o in operands if isinstance(o, int)]
                return _disguised(random, random.choice(_FORMS[operator])(*below))
        return f"p{k}"

    def output(k: int) -> str:
        node = rule.nodes[k]
        if isinstance(node, Tuple) or makes_tuple(node):
            return f"p{k}"
        new = again(k)
        return new if new != f"p{k}" else _disguised(random, new)

    return tuple(map(output, rule.outputs))


_FORMS: dict[str, tuple[Callable[..., str], ...]] = {
    "add": (lambda a, b: f"subtract({a}, negative({b}))", lambda a, b: f"subtract({b}, negative({a}))"),
    "subtract": (lambda a, b: f"add({a}, negative({b}))", lambda a, b: f"negative(subtract({b}, {a}))"),
    "multiply": (
        lambda a, b: f"multiply({b}, {a})", lambda a, b: f"negative(multiply({a}, negative({b})))",
    ),
    "exp": (lambda a: f"multiply(exp(multiply({a}, 0.5)), exp(multiply({a}, 0.5)))",),
    "tanh": (
        lambda a: f"subtract(multiply(sigmoid(multiply({a}, 2.0)), 2.0), 1.0)",
        lambda a: f"negative(tanh(negative({a})))",
    ),
    "abs": (lambda a: f"maximum({a}, negative({a}))", lambda a: f"abs(negative({a}))"),
}  # fmt: skip
_CHEAP = ("multiply", "negative")


def _has_name(rule: Rule, k: int) -> bool:
    node = rule.nodes[k]
    if isinstance(node, Leaf):
        return is_plain_input(rule, k) or node.value is not None and not node.splat
    return isinstance(node, Call) and not makes_tuple(node)


def _disguised(random: Random, text: str) -> str:
    return random.choice((text, text, f"negative(negative({text}))", f"multiply({text}, 1.0)"))


def true_pair(seed: int) -> tuple[CheckedRule, str, Graph, str] | None:
    """A rule and a graph in which it matches, with both as text; None if none was found."""
    random = Random(seed)
    while True:
        rule = random_rule(random)
        text = rule_text(rule, targets=true_targets(random, rule))
        program = with_externs(check_source(Source("random.gsl", text)), True)
        if program.ok:
            break
    plan, checked = program_of(program.rules[name_in(rule)]), program.rules[name_in(rule)]
    for _ in range(20):
        data, ends = random_graph(random, rule)
        graph = as_graph(data, ends, TensorType((2, 2), "float32"))
        if infer_all(graph, RELAY) and any(
            graph.op[node] in plan.starts and next(iter(matches(plan, graph, node)), None) is not None
            for node in graph.nodes()
        ):
            return checked, text, graph, show(data, ends)
    return None


class AnyCost:
    """Each operator has a price of its own, so that the target is the cheaper side about as often as the
    source.
    """

    name, unit, weights = "any", "", "charged"

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def cost(self, call: CostedCall) -> float:
        if call.operator in _CHEAP:
            return 1.0
        return float(crc32(f"{self.seed} {call.operator}".encode()) % 100) ** 3


def try_pair(seed: int) -> str:
    """The outcome of a search with a random pair, by each method in turn."""
    pair = true_pair(seed)
    if pair is None:
        return "no graph"
    rule, text, graph, shown = pair
    shift = np.random.default_rng(seed)
    for node in graph.nodes():
        if graph.op[node] is PARAM and graph.types[node] is not None:
            graph.values[node] = shift.uniform(-1, 1, (2, 2)).astype("float32")
    inputs = random_inputs(graph, seed)
    try:
        expected = evaluate(graph, RELAY, inputs)
    except EvaluationError:
        return "no numbers"
    method = METHODS[0] if seed % 4 else METHODS[1 + seed // 4 % 2]
    settings = Settings(
        method, Limits(nodes=300, rounds=3, multi=1 + seed % 2), exact=seed % 3 == 0, budget=5
    )
    found = search(graph, RELAY, [rule], AnyCost(seed), settings, traced=True)
    case = f"seed {seed}, {method}\n{text}\n{shown}"
    assert not check_invariants(found.graph), case
    assert found.cost <= found.before * (1 + 1e-12), case
    assert write_json(_replayed(graph, rule, found)) == write_json(found.graph), case
    agreement = compare_values(expected, evaluate(found.graph, RELAY, inputs))
    if not agreement.equal:  # a difference of equal numbers may be one that rounding leaves
        assert agreement.max_abs <= 1e-6 * _largest(graph, inputs), f"{agreement.reason}\n{case}"
    return "another graph" if found.led else "rules applied" if found.applications else "no match"


def _largest(graph: Graph, inputs: dict[str, Array]) -> float:
    """The largest finite magnitude that any node of the graph computes."""
    whole = graph.copy()
    whole.set_outputs(graph.reverse_post_order())
    values = [value for value in evaluate(whole, RELAY, inputs) if isinstance(value, np.ndarray)]
    return max((float(np.abs(value[np.isfinite(value)]).max(initial=0)) for value in values), default=0.0)


def _replayed(graph: Graph, rule: CheckedRule, found: Found) -> Graph:
    """What the trace of a search leads to."""
    assert found.trace is not None
    first, *entries = found.trace.entries
    if first.said["method"] == "eqsat":
        return replay_choice(graph, RELAY, {rule.name: rule}, entries)[0]
    result = graph.copy()
    replay(result, RELAY, {rule.name: rule}, entries, folder(RELAY), Progress())
    return result


@pytest.mark.parametrize("block", range(4))
def test_random_pairs(block: int) -> None:
    outcomes = Counter(try_pair(seed) for seed in range(block * 25, block * 25 + 25))
    assert outcomes["another graph"] + outcomes["rules applied"] >= 3, outcomes


@pytest.mark.long
@pytest.mark.parametrize("block", range(230))
def test_many_random_pairs(block: int) -> None:
    outcomes = Counter(try_pair(seed) for seed in range(1000 + block * 100, 1100 + block * 100))
    assert outcomes["another graph"] + outcomes["rules applied"] >= 15, outcomes
