"""What is laid down as outlines and computed together is what is built call by call and computed one by one,
bit by bit.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest

from gslang.api import RuleSet, load
from gslang.dialect.load import load_dialect
from gslang.dialect.tensor_type import UNKNOWN, TensorType
from gslang.engine.fixed_point import run_to_fixed_point
from gslang.evaluate.fold import fold
from gslang.formats.json_writer import write_json
from gslang.graph.graph import CONST, OUTLINE, PARAM, Graph
from gslang.graph.inference import infer_types
from gslang.graph.outline import outlines_of, write_out
from tests.graph.invariants import check_invariants

RELAY = load_dialect("relay")
F32 = "float32"


pytestmark = pytest.mark.usefixtures("code_at_once")  # it is generated code that lays down outlines


def rules_of(text: str, folder: Path) -> RuleSet:
    (folder / "r.gsl").write_text(f"dialect relay;\n{text}", encoding="utf-8")
    return load(folder / "r.gsl")


def chain(
    random: Random,
    length: int,
    dtype: str = F32,
    shapes: tuple[tuple[int, ...], ...] = ((), (3,), (2, 3), (1, 3)),
) -> Graph:
    """max(min(x, a), b), again and again; a and b are parameters and constants of several shapes, some of
    them shared.
    """
    rng = np.random.default_rng(random.randrange(1 << 30))
    graph = Graph()
    x = graph.add_input("x", TensorType((2, 3), dtype))
    leaves: list[int] = []
    for k in range(length):
        pair = []
        for name in "ab":
            if leaves and random.random() < 0.1:
                pair.append(random.choice(leaves))
                continue
            shape = random.choice(shapes)
            value = np.asarray(rng.uniform(0.25, 4, shape), dtype)
            type_ = TensorType(shape, dtype)
            leaves.append(
                graph.add_param(f"{name}{k}", type_, value) if random.random() < 0.8
                else graph.add_const(value, type_)
            )
            pair.append(leaves[-1])
        x = graph.add("maximum", (graph.add("minimum", (x, pair[0])), pair[1]))
    graph.set_outputs([x])
    assert infer_types(graph, RELAY) == []
    return graph


def both(rules: RuleSet, graph: Graph, **options: object) -> tuple[Graph, Graph]:
    """Rewritten and folded: as ever, and watched, when each call of a target is built."""
    plain = rules.apply(graph, fold=True, **options).graph  # type: ignore[arg-type]
    watched = rules.apply(graph, fold=True, watch=lambda *_: None, **options).graph  # type: ignore[arg-type]
    return plain, watched


def expression(random: Random, depth: int, *more: str) -> str:
    if depth == 0 or random.random() < 0.15:
        return random.choice(("a", "b", "const(value = 1.5)", *more * 2))
    if random.random() < 0.35:
        return f"{random.choice(('sqrt', 'negative'))}({expression(random, depth - 1, *more)})"
    return (
        f"{random.choice(('add', 'subtract', 'multiply', 'divide'))}({expression(random, depth - 1, *more)}, "
        f"{expression(random, depth - 1, *more)})"
    )


@pytest.mark.parametrize("seed", range(60))
def test_random_targets(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    text = (
        f"rule r(x, a, b) {{ maximum(minimum(x, a), b) => s = {expression(random, 2)}; power(power(x, "
        f"{expression(random, 3, 's')}), {expression(random, 3, 's')}) }}"
    )
    rules, graph = rules_of(text, tmp_path), chain(random, 25)
    plain, watched = both(rules, graph)
    assert check_invariants(plain) == []
    assert outlines_of(plain) == []
    if seed == 0:
        assert outlines_of(outlined(rules, graph))
    assert write_json(plain) == write_json(watched)


NORM = """
rule norm(x, g: var, b: var) {
    maximum(minimum(x, g), b)
  =>
    k = g / sqrt(b + 0.001);
    power(power(x, k), negative(b * k))
}"""


def outlined(rules: RuleSet, graph: Graph) -> Graph:
    result = graph.copy()
    run_to_fixed_point(result, [rules.known[name] for name in rules.own], outlining=True)
    return result


def test_targets_are_outlined(tmp_path: Path) -> None:
    rules, graph = rules_of(NORM, tmp_path), chain(Random(1), 40, shapes=((3,),))
    result = outlined(rules, graph)
    assert len(outlines_of(result)) > 40
    assert check_invariants(result) == []
    before = result.copy()
    write_out(result)
    assert outlines_of(result) == [] and check_invariants(result) == []
    assert write_json(result) == write_json(rules.apply(graph, watch=lambda *_: None).graph)
    assert fold(before, RELAY) == fold(result, RELAY)
    assert write_json(before) == write_json(result)


@pytest.mark.parametrize(
    "more",
    [
        "rule other(x) { sqrt(x + 0.5) => x }",  # it could look at the calls
        "rule other(x, y) { power(x, negative(y)) => x }", # it may be the input
        'rule kinds(x, y) { p = nn.relu?(y); power(x, p) where p.op == "multiply", false => maximum(x, y) }',
        'rule kinds(x, y) { power(x, y) where y.kind == "call", false => maximum(x, y) }',  # it could tell
    ],
)
def test_nobody_who_looks_sees_outlines(more: str, tmp_path: Path) -> None:
    rules, graph = rules_of(NORM + more, tmp_path), chain(Random(2), 10, shapes=((3,),))
    assert outlines_of(outlined(rules, graph)) == []


@pytest.mark.parametrize(
    "more",
    [
        "rule other(x) { sqrt(nn.relu(x)) => x }", "rule other(x, y) { negative(power(x, y)) => x }",
        "rule other(x) { x * nn.relu(x) => x }",
    ],
)
def test_patterns_that_cannot_match_them_do_no_harm(more: str, tmp_path: Path) -> None:
    rules, graph = rules_of(NORM + more, tmp_path), chain(Random(2), 10, shapes=((3,),))
    assert outlines_of(outlined(rules, graph)) != []
    plain, watched = both(rules, graph)
    assert write_json(plain) == write_json(watched)


def test_no_outline_outlives_the_steps(tmp_path: Path) -> None:
    rules = rules_of(
        NORM
        + (
            "\npass between { norm; cse; fold; }\npass before { norm; fold; }\n"
            "pass again { repeat { norm; fold; } }"
        ),
        tmp_path,
    )
    graph = chain(Random(3), 40, shapes=((3,),))
    for name in ("between", "before", "again"):
        plain = rules.apply(graph, pass_name=name).graph
        assert outlines_of(plain) == []
        assert write_json(plain) == write_json(
            rules.apply(graph, pass_name=name, watch=lambda *_: None).graph
        )
    for limit in ({"limit": 7}, {"stop_after": 7}):
        result = rules.apply(graph, fold=True, **limit)  # type: ignore[arg-type]
        assert outlines_of(result.graph) == [] and result.progress.applications == 7
        assert check_invariants(result.graph) == []


@pytest.mark.parametrize("limit", [0, 10, 1 << 16, None])
def test_limits_of_folding(limit: int | None, tmp_path: Path) -> None:
    rules, graph = rules_of(NORM, tmp_path), chain(Random(4), 40, shapes=((3,), (2, 3)))
    plain, watched = both(rules, graph, fold_limit=limit)
    assert write_json(plain) == write_json(watched)


def test_other_element_types(tmp_path: Path) -> None:
    rules = rules_of(NORM.replace("0.001", "1.0"), tmp_path)
    for dtype, expected in (("float64", True), ("float16", False), ("int32", False)):
        graph = chain(Random(5), 12, dtype, shapes=((3,),))
        assert (outlines_of(outlined(rules, graph)) != []) == expected, dtype
        plain, watched = both(rules, graph)
        assert write_json(plain) == write_json(watched)


def test_values_that_are_not_what_their_types_say(tmp_path: Path) -> None:
    """Then each call is computed by itself, or stays."""
    rules, graph = rules_of(NORM, tmp_path), chain(Random(6), 12, shapes=((3,),))
    some = [node for node in graph.values if graph.op[node] is PARAM]
    graph.values[some[0]] = np.ones(2, F32)
    graph.values[some[3]] = np.ones(3, np.float64)
    plain, watched = both(rules, graph)
    assert write_json(plain) == write_json(watched)


def test_large_values_and_unknown_shapes_are_not_outlined(tmp_path: Path) -> None:
    rules = rules_of(NORM, tmp_path)
    for shape in ((200, 200), (UNKNOWN, 3)):
        graph = Graph()
        x = graph.add_input("x", TensorType(shape, F32))
        for k in range(3):
            g, b = (
                graph.add_param(
                    f"{name}{k}", TensorType(shape, F32),
                    np.ones([3 if d is UNKNOWN else d for d in shape], F32),
                )
                for name in "gb"
            )
            x = graph.add("maximum", (graph.add("minimum", (x, g)), b))
        graph.set_outputs([x])
        infer_types(graph, RELAY)
        assert outlines_of(outlined(rules, graph)) == []


def test_kinds(tmp_path: Path) -> None:
    """From constants alone follows a constant; outlines are calls to every pattern."""
    rules = rules_of(NORM.replace("g: var, b: var", "g, b"), tmp_path)
    graph = Graph()
    x = graph.add_input("x", TensorType((3,), F32))
    for k in range(3):
        g, b = (graph.add_const(np.array([1, 2, k + 1.5], F32), TensorType((3,), F32)) for _ in "gb")
        x = graph.add("maximum", (graph.add("minimum", (x, g)), b))
    graph.set_outputs([x])
    infer_types(graph, RELAY)
    # but the first application's, which is built call by call
    assert outlined(rules, graph).op.count(OUTLINE) >= 4
    result = rules.apply(graph, fold=True).graph
    assert {result.op[node] for node in result.values} == {CONST}


def test_values_without_elements(tmp_path: Path) -> None:
    rules = rules_of(NORM, tmp_path)
    graph = Graph()
    x = graph.add_input("x", TensorType((0,), F32))
    for k in range(3):
        g, b = (graph.add_param(f"{name}{k}", TensorType((0,), F32), np.ones(0, F32)) for name in "gb")
        x = graph.add("maximum", (graph.add("minimum", (x, g)), b))
    graph.set_outputs([x])
    infer_types(graph, RELAY)
    plain, watched = both(rules, graph)
    assert write_json(plain) == write_json(watched)


def test_many_are_computed_in_portions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rules, graph = rules_of(NORM, tmp_path), chain(Random(7), 40, shapes=((3,),))
    monkeypatch.setattr("gslang.evaluate.outlined._AT_ONCE", 8 * 3 * 7)
    plain, watched = both(rules, graph)
    assert write_json(plain) == write_json(watched)
