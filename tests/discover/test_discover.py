"""Rules found over operators: which, in which form, the same with any number of jobs, and going on from a
state.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gslang.api import load
from gslang.cli.main import main
from gslang.dialect.load import load_dialect
from gslang.discover.conditions import size_conditions
from gslang.discover.enumerate import Equation, Found, enumerate_terms
from gslang.discover.equations import Candidate, candidates
from gslang.discover.evaluator import Evaluator, fingerprint, input_value
from gslang.discover.formers import SIZES, Former, Symbol, read_operators, types_at
from gslang.discover.forms import forms
from gslang.discover.implied import Settings, implied
from gslang.discover.plan import Question, plan_of
from gslang.discover.terms import key_of, match, replaced
from gslang.formats.json_writer import write_json
from gslang.graph.builder import Builder

ADD, MUL, RELU = (
    Former("add", 2, commutative=True), Former("multiply", 2, commutative=True), Former("nn.relu", 1),
)  # fmt: skip
JOIN = tuple(Former("concatenate", 2, (("axis", axis),), packed=True) for axis in (0, 1))
SPLIT = tuple(
    Former("split", 1, (("axis", 0), ("indices_or_sections", (Symbol("n"),))), index=index)
    for index in (0, 1)
)
PRODUCT = Former("nn.matmul", 2, (("transpose_a", False), ("transpose_b", False)))


def found(
    formers: tuple[Former, ...], size: int, shape: tuple[str, ...] = ("n", "n"), variables: int = 3
) -> Found:
    return enumerate_terms(formers, [types_at(shape)] * variables, load_dialect("relay"), size)


# ── terms ──


def test_laws_of_sums_and_products_are_found_once() -> None:
    equations = found((ADD, MUL), 2).equations
    rules = candidates(equations, (ADD, MUL), [types_at(("n", "n"))] * 3, lambda tree: None)
    assert [(*c.sources, *c.targets) for c in rules] == [
        ((0, 0, (0, 1, 2)), (0, 1, (0, 0, 2))),  # x + (y + z) = y + (x + z), the operands of + being in order
        ((1, 0, (0, 1, 1)), (1, 1, (0, 0, 0))),
        ((1, 0, (1, 1, 2)), (1, 1, (1, 0, 2))),
    ]


def test_every_term_that_is_left_out_equals_one_that_is_kept() -> None:
    """Enumeration without pruning finds as many different values as with it."""
    formers, types = (ADD, MUL, RELU, PRODUCT), [types_at(("n", "n"))] * 2
    evaluator = Evaluator(formers, load_dialect("relay"))
    levels = [[(v, fingerprint_inputs(v, types)) for v in range(2)]]
    values = {v: [value(v, at, types) for at in range(2)] for v in range(2)}
    seen = {levels[0][0][1], levels[0][1][1]}
    trees: list[list[object]] = [[0, 1]]
    computed: dict[object, list[object]] = dict(values)  # type: ignore[arg-type]
    for size in (1, 2):
        trees.append([])
        for number, former in enumerate(formers):
            for parts in ([(size - 1,)] if former.arity == 1 else [(a, size - 1 - a) for a in range(size)]):
                for operands in product_of([trees[p] for p in parts]):
                    tree = (number, *operands)
                    got = [
                        evaluator.compute(
                            number, at, tuple(types_of(types, at) for _ in operands),
                            [computed[o][at] for o in operands],
                        )
                        for at in range(2)
                    ]
                    computed[tree] = got
                    trees[-1].append(tree)
                    seen.add(fingerprint(got))
    kept = found(formers, 2, variables=2)
    assert 2 + sum(new for _, _, new in kept.counts) == len(seen)


def product_of(lists: list[list[object]]) -> list[tuple[object, ...]]:
    from itertools import product

    return list(product(*lists))


def types_of(types: list[tuple[object, ...]], at: int) -> object:
    return types[0][at]


def value(number: int, at: int, types: list[tuple[object, ...]]) -> np.ndarray:
    return input_value(number, at, types[number][at])  # type: ignore[arg-type, no-any-return]


def fingerprint_inputs(number: int, types: list[tuple[object, ...]]) -> bytes:
    return fingerprint([value(number, at, types) for at in range(2)])


def test_patterns_match_in_either_order_of_commutative_operators() -> None:
    formers = (ADD, RELU)
    pattern, tree = (0, 0, (1, 1)), (0, (1, 5), 7)
    assert list(match(pattern, tree, {}, formers)) == [{0: 7, 1: 5}]
    assert replaced(pattern, {0: 7, 1: 5}) == (0, 7, (1, 5))
    assert key_of((0, (1, 0), 1), formers) == key_of((0, 1, (1, 0)), formers)


def test_chance_equalities_are_not_taken() -> None:
    """relu(x + y)·x = (x + y)·relu(x) where |y| is small: other values show that it is none."""
    equations = found((ADD, MUL, RELU), 3, variables=2).equations
    assert Equation((1, (0, 0, 1), (2, 0)), (1, 0, (2, (0, 0, 1)))) not in equations


# ── forms and conditions ──


def test_sizes_that_must_be_equal() -> None:
    formers = (ADD, *JOIN)
    types = (types_at(("n", "m")),) * 4
    # (x ‖₁ y) + (z ‖₁ w) = (x + z) ‖₁ (y + w)
    candidate = Candidate(((0, (2, 0, 1), (2, 2, 3)),), ((2, (0, 0, 2), (0, 1, 3)),), types)
    conditions = list(size_conditions(candidate, formers, load_dialect("relay"), []))
    assert {((2, 1), (0, 1))} <= set(conditions[0].equal) or {((3, 1), (1, 1))} <= set(conditions[0].equal)
    product = Candidate(((0, (0, 0, 1), 2),), ((0, 0, (0, 1, 2)),), (types_at(("n", "n")),) * 3)
    # the source's own types say it all
    assert size_conditions(product, (PRODUCT,), load_dialect("relay"), [])[0].equal == ()


def test_a_size_among_attributes_is_read_from_an_input() -> None:
    formers = (*SPLIT, JOIN[0])
    candidate = Candidate(((0, (2, 0, 1)),), (0,), (types_at(("n", "n")),) * 2)
    conditions = size_conditions(candidate, formers, load_dialect("relay"), ["n"])[0]
    text = next(f.text for f in forms(candidate, "r", formers, load_dialect("relay"), [conditions]))
    assert "indices_or_sections = (x.shape[0],)" in text


def test_operators_are_read_with_attributes() -> None:
    dialect = load_dialect("relay")
    asked = read_operators(
        'add, concatenate(axis = 0 | 1), split(indices_or_sections = (n,), axis = 0), nn.conv2d(data_layout '
        '= "NCHW")',
        dialect,
    )
    assert [one.op for one in asked] == ["add", "concatenate", "split", "nn.conv2d"]
    assert asked[1].settled == (("axis", (0, 1)),) and asked[2].settled[0] == (
        "indices_or_sections", ((Symbol("n"),),),
    )


def test_inputs_follow_from_operators() -> None:
    plan = plan_of(Question("relay", "add,nn.matmul"))
    assert {t[0] for t in plan.inputs} == {types_at(("n", "n"))[0]}
    plan = plan_of(Question("relay", "nn.bias_add,nn.relu"))
    assert types_at(("m",)) in plan.inputs
    assert SIZES[0] != SIZES[1]


# ── the command ──


def run(tmp_path: Path, *arguments: str, name: str = "found.gsl") -> tuple[int, str]:
    path = tmp_path / name
    code = main(["discover", *arguments, "-o", str(path)])
    return code, path.read_text(encoding="utf-8") if path.exists() else ""


def is_whole(path: Path) -> bool:
    """Checked, formatted, without findings, tests pass, nothing refuted."""
    verbs = (["check"], ["fmt", "--check"], ["lint"], ["test"], ["verify", "--require", "exact"])
    return all(main([verb[0], str(path), *verb[1:]]) == 0 for verb in verbs)


def test_found_rules_are_whole(tmp_path: Path) -> None:
    code, text = run(tmp_path, "--ops", "nn.relu,negative,sum", "--inputs", "[n]")
    assert code == 0 and is_whole(tmp_path / "found.gsl")
    rules = load(tmp_path / "found.gsl")
    assert {"relu_relu", "negative_negative", "sum_negative"} <= set(rules.own)
    assert text.startswith("#! Found by `gslc discover` over `nn.relu`, `negative`, `sum`")
    assert 'test "it fires" for relu_relu' in text
    for name in rules.own:  # none follows from the others
        others = [rules.known[other] for other in rules.own if other != name]
        assert not implied(rules.known[name], others, Settings(instances=3, nodes=300, rounds=4)).forward


def test_operators_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "mine.gsl").write_text(
        "dialect relay;\nop my.twice(x: tensor) -> tensor { value = x + x };\n"
        "op my.back(x: tensor) -> tensor { value = negative(x) };\n",
        encoding="utf-8",
    )
    code, text = run(tmp_path, str(tmp_path / "mine.gsl"))
    assert code == 0 and 'use "./mine.gsl";' in text and is_whole(tmp_path / "found.gsl")
    assert "my.back(my.back(x))" in text and "my.twice(my.back(x))" in text


def test_known_rules_are_not_found_again(tmp_path: Path) -> None:
    (tmp_path / "known.gsl").write_text(
        "dialect relay;\nrule twice(x): nn.relu(nn.relu(x)) => nn.relu(x);\n", encoding="utf-8"
    )
    code, text = run(tmp_path, str(tmp_path / "known.gsl"), "--ops", "nn.relu,negative")
    assert code == 0 and "negative(negative(x))" in text and "nn.relu(nn.relu(x))" not in text


def test_onnx(tmp_path: Path) -> None:
    code, text = run(tmp_path, "--dialect", "onnx", "--ops", "Relu,Neg", "--variables", "1")
    assert code == 0 and text.count("\nrule ") >= 2 and is_whole(tmp_path / "found.gsl")


def test_jobs_and_states_change_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ops = ("--ops", "negative,abs", "--variables", "1")
    state = str(tmp_path / "state.json")
    _, one = run(tmp_path, *ops)
    _, two = run(tmp_path, *ops, "--jobs", "2", "--state", state)
    capsys.readouterr()
    _, again = run(tmp_path, *ops, "--state", state)
    assert "equations from" in capsys.readouterr().err
    assert one == two == again
    data = json.loads(Path(state).read_text(encoding="utf-8"))
    data["judged"].pop(next(iter(data["judged"])))  # as if it had been stopped
    Path(state).write_text(json.dumps(data), encoding="utf-8")
    assert run(tmp_path, *ops, "--state", state)[1] == one


def test_a_cluster_changes_nothing(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    arguments = ["discover", "--ops", "nn.relu,negative", "--quiet", "-o"]
    here, there = tmp_path / "here.gsl", tmp_path / "there.gsl"
    assert main([*arguments, str(here)]) == 0
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        assert main([*arguments, str(there), "--cluster", cluster.scheduler_address]) == 0
    assert there.read_bytes() == here.read_bytes()


def test_the_most_useful_rule_comes_first(tmp_path: Path) -> None:
    built = Builder(load_dialect("relay"))
    x = built.input("x", (2, 3))
    graph = tmp_path / "graph.json"
    graph.write_text(
        write_json(built.finish(built.call("abs", built.call("abs", built.call("abs", x))))), encoding="utf-8"
    )
    _, text = run(tmp_path, "--ops", "negative,abs", "--variables", "1", "--on", str(graph))
    rules = [line for line in text.splitlines() if line.startswith("rule ")]
    assert rules[0].startswith("rule abs_abs(") and "Fires 2 times on 1 graph, saving" in text.replace(
        "\n## ", " "
    )


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--ops", "nn.rellu"], 3, "did you mean `nn.relu`?"),
        (["--ops", "concatenate(axes = 0)"], 3, "did you mean `axis`?"),
        (["--ops", "concatenate(axis = two)"], 3, "`two` is not a value for `axis`"),
        (["--ops", "add("], 3, "is not an operator"),
        (["--ops", ","], 3, "no operators found"),
        ([], 2, "no operators are given"),
        (["--ops", "add", "--inputs", "[q]"], 3, "`q` is not a size"),
        (["--ops", "add", "--inputs", "n, m"], 3, "is not a shape"),
        (["--ops", "add", "--constants", "one"], 3, "is not a list of numbers"),
        (["--ops", "add", "--dialect", "relais"], 3, "unknown dialect"),
        (["--ops", "nn.conv2d", "--inputs", "[n]"], 3, "takes none of the inputs"),
        (["--ops", "add", "--size", "0"], 2, "--size"),
        (["none.gsl"], 3, "no such rule file"),
    ],
)
def test_mistakes(arguments: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["discover", *arguments]) == code
    assert said in capsys.readouterr().err


def test_a_state_of_something_else_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state = tmp_path / "state.json"
    state.write_text('{"question": "another", "judged": {}}', encoding="utf-8")
    assert main(["discover", "--ops", "nn.relu", "--state", str(state)]) == 3
    assert "saved with other options" in capsys.readouterr().err
    state.write_text("nothing", encoding="utf-8")
    assert main(["discover", "--ops", "nn.relu", "--state", str(state)]) == 3
    assert state.read_text(encoding="utf-8") == "nothing"
