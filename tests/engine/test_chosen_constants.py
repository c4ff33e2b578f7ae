"""Constants that a target chooses take the element types of the operands beside them, as any others do; the
generated engine makes the same nodes as the readable one.
"""

from __future__ import annotations

import pytest

import gslang
from gslang.api.errors import RuleError
from gslang.dialect.tensor_type import TensorType
from gslang.engine.fixed_point import run_to_fixed_point
from gslang.engine.lower import program_of
from gslang.formats.json_writer import write_json
from gslang.graph.graph import CONST, Graph
from gslang.verify.verdict import Settings, verify_now
from tests.engine.readable import is_compiled, readable_only
from tests.graph.invariants import check_invariants

pytestmark = pytest.mark.usefixtures("code_at_once")

TARGETS = {
    "second": "tanh(x) - (x if x.ndim == 1 else 0.5)",
    "first": "(0.5 if x.ndim == 1 else x) + tanh(x)",
    "both arms": "tanh(x) - (0.5 if x.ndim == 1 else 1)",
    "named": "c = 0.5; tanh(x) - (x if x.ndim == 1 else c)",
    "named twice": "c = x if x.ndim == 1 else 0.5; (tanh(x) - c) * (exp(x) + c)",
    "new node in an arm": "c = sin(x) if x.ndim == 1 else 0.5; (tanh(x) - c) * (exp(x) + c)",
    "of two types": (
        'c = 2.0 if x.ndim == 1 else sum(x); d = cast(x, dtype = "float64");'
        "(x * c) - cast(d * (c if x.ndim == 1 else d), dtype = x.dtype)"
    ),
    "nested": "tanh(x) - (x if x.ndim == 1 else 0.5 if x.ndim == 2 else 0.25 if x.ndim == 3 else exp(x))",
    "two choices": "where(greater(x, x), 1.0 if x.ndim == 1 else x, x if x.ndim == 1 else 2.0)",
    "type of a new node": "t = tanh(x); t - (x if t.ndim == 1 else 0.5)",
}
ARMS = {
    "match": "tanh(x) * match p { a => 1.5, b => tanh(x), }",
    "match first": "match p { a => x, b => 1.5 } * tanh(x)",
    "named in a match": "c = 1.5; tanh(x) * match p { a => c if x.ndim == 1 else x, b => c, }",
}
RULES = {
    **{name: f"rule r(x) {{ nn.relu(x) => {target} }}" for name, target in TARGETS.items()},
    **{
        name: f"rule r(x) {{ p = (a := nn.relu(x)) | (b := abs(x)); p => {target} }}"
        for name, target in ARMS.items()
    },
    "in a loop": (
        "rule r(x) { each f in 1.. { y = nn.relu(x); } *f.y"
        " => *[tanh(x) - (x if i == 1 else 0.5) for i in range(len(f))] }"
    ),
}


def graph_of(operator: str, shape: tuple[int, ...], dtype: str) -> Graph:
    graph = Graph()
    x = graph.add_input("x", TensorType(shape, dtype))
    graph.set_outputs([graph.add(operator, (x,), {}, TensorType(shape, dtype)) for _ in range(2)])
    return graph


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", RULES)
def test_constants_have_the_type_of_what_stands_beside_them(name: str, dtype: str) -> None:
    rule = gslang.parse_rules(RULES[name])["r"].rule
    assert is_compiled(program_of(rule))
    constants = 0
    for operator in ("nn.relu", "abs"):
        for shape in ((3,), (2, 3), (2, 1, 3), (1, 2, 1, 3)):
            graph = graph_of(operator, shape, dtype)
            readable = graph.copy()
            progress = run_to_fixed_point(graph, [rule])
            with readable_only():
                assert run_to_fixed_point(readable, [rule]).applications == progress.applications
            assert not progress.failures and check_invariants(graph) == []
            assert write_json(graph) == write_json(readable)
            for node in graph.nodes():
                if graph.op[node] is CONST:
                    constants += 1
                    (user,) = graph.users[node]
                    types = {graph.types[o].dtype for o in graph.operands[user]} - {"bool"}
                    assert types in ({dtype}, {"float64"})
    assert constants


def test_verdicts_agree() -> None:
    """The verifier and the prover make the same constants: the sides have one type, whatever it is."""
    for rule in (
        "rule r(x) { nn.relu(nn.relu(x)) => nn.relu(x) + (0.0 if x.ndim == 1 else 0.0) }",
        "rule r(x) { nn.relu(nn.relu(x)) => maximum(nn.relu(x) if x.ndim == 1 else 0.0, x) }",
    ):
        assert verify_now(gslang.parse_rules(rule)["r"].rule, Settings(seconds=3)).verdict == "proved"


def test_the_checker_reports_fractions_among_integers() -> None:
    rule = 'rule r(x: any(dtype = "int32")) {{ nn.relu(x) => cast(x, dtype = "int32") - ({}) }}'
    gslang.parse_rules(rule.format("x if x.ndim == 1 else 5"))
    with pytest.raises(RuleError, match="E0307"):
        gslang.parse_rules(rule.format("x if x.ndim == 1 else 0.5"))
