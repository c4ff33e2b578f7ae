"""Extraction: against every choice of small random e-graphs, on files that are wrong, and on Tensat's
e-graphs.
"""

from __future__ import annotations

import json
import random
from itertools import product
from pathlib import Path
from time import process_time

import pytest

from gslang.base.diagnostics import InputError
from gslang.cli.main import main
from gslang.search.egraph_file import read_egraph
from gslang.search.extract.exact import exact
from gslang.search.extract.greedy import cheapest_below, greedy, least_shares
from gslang.search.extract.improve import improve
from gslang.search.extract.problem import Infeasible, Problem, Solution, make_problem, solution
from gslang.search.extract.split import in_parts

EGRAPHS = Path(__file__).parents[3] / "shared/data/search/egraphs"


def random_problem(seed: int) -> Problem:
    """A few classes with e-nodes that read any others, cycles included."""
    rng = random.Random(seed)
    classes = rng.randint(2, 7)
    owner = [*range(classes), *(rng.randrange(classes) for _ in range(rng.randint(0, 9)))]
    children = [rng.sample(range(classes), rng.choice((0, 0, 1, 2, min(3, classes)))) for _ in owner]
    costs = [rng.choice((0.0, 0.0, 1.0, 2.5, rng.random() * 10)) for _ in owner]
    return make_problem(
        owner, children, costs, [rng.randrange(classes) for _ in range(rng.choice((1, 1, 2, 3)))], classes
    )


def layered_problem(seed: int) -> Problem:
    """Layers whose classes read those of their own layer, the end of the one below, and inputs; now and then
    an e-node reads what lies further below, or makes the end of its layer from inputs alone.
    """
    rng = random.Random(seed)
    inputs = 2
    owner, children, costs = [0, 1], [[], []], [0.0, 0.0]
    of, end = inputs, 0
    roots = []
    for _ in range(rng.randint(2, 4)):
        first = of
        for _ in range(rng.randint(1, 3)):
            below = [*range(inputs), end, *range(first, of)]
            for k in range(rng.choice((1, 1, 2))):
                reads = rng.sample(below, min(len(below), rng.randint(1, 2)))
                if k == 0 and end not in reads and rng.random() < 0.8:
                    reads.append(end)
                if rng.random() < 0.05:
                    reads.append(rng.randrange(of))
                owner.append(of)
                children.append(reads)
                costs.append(rng.choice((0.0, 1.0, 2.5, rng.random() * 10)))
            of += 1
        end = of - 1
        if rng.random() < 0.2:
            roots.append(rng.randrange(first, of))
    return make_problem(owner, children, costs, [*roots, end], of)


def cheapest(problem: Problem) -> float | None:
    """The cost of the best of all choices without cycles."""
    best = None
    for nodes in product(*(members for members in problem.members)):
        try:
            cost = solution(problem, dict(enumerate(nodes))).cost
        except ValueError:
            continue
        best = cost if best is None else min(best, cost)
    return best


def compare(problem: Problem) -> None:
    best = cheapest(problem)
    if best is None:
        for method in (greedy, exact):
            with pytest.raises(Infeasible):
                method(problem)
        return
    first = greedy(problem)
    better = improve(problem, cheapest_below(problem))
    found = exact(problem)
    trees = solution(problem, least_shares(problem))
    assert first.cost >= better.cost - 1e-12 >= best - 1e-9 and trees.cost >= best - 1e-9
    for result in (first, better, found):
        assert solution(problem, result.choice).choice == result.choice
    assert found.bound is not None and found.bound <= best + 1e-6
    assert found.cost == pytest.approx(best, abs=1e-6) or found.bound < found.cost - 1e-9


@pytest.mark.parametrize("block", range(10))
def test_every_choice_of_small_problems(block: int) -> None:
    for seed in range(block * 20, block * 20 + 20):
        compare(random_problem(seed))
        compare(layered_problem(seed))


def test_parts() -> None:
    """Layered problems fall into parts, whose solutions together are one of the whole."""
    sizes: list[int] = []

    def solve(part: Problem) -> Solution:
        sizes.append(len(part.owner))
        return improve(part, cheapest_below(part))

    whole = 0
    for seed in range(200):
        problem = layered_problem(seed)
        sizes.clear()
        found = in_parts(problem, solve)
        assert solution(problem, found.choice).cost == pytest.approx(found.cost)
        whole += len(sizes) == 1
    assert whole < 100


def test_a_long_chain() -> None:
    """Of a chain, where what is below each class would be two million classes in all."""
    owner, children, costs = [0], [[]], [0.0]
    for k in range(1, 2000):
        for cost in (2.0, 1.0):
            owner.append(k)
            children.append([k - 1])
            costs.append(cost)
    found = exact(make_problem(owner, children, costs, [1999], 2000))
    assert found.cost == 1999 and found.bound == pytest.approx(1999)


@pytest.mark.long
@pytest.mark.parametrize("block", range(10))
def test_every_choice_of_many_small_problems(block: int) -> None:
    for seed in range(1000 + block * 500, 1500 + block * 500):
        compare(random_problem(seed))
        compare(layered_problem(seed))


def test_sharing_is_paid_once() -> None:
    """Two outputs that cost 3 apart and 4 together: each alone would take its own."""
    problem = make_problem([0, 0, 1, 1, 2], [[], [2], [], [2], []], [3, 0, 3, 0, 4], [0, 1], 3)
    assert greedy(problem).cost == 6 and improve(problem, cheapest_below(problem)).cost == 4
    assert exact(problem) == exact(problem) and exact(problem).cost == 4 == exact(problem).bound


def test_independent_parts_are_solved_apart() -> None:
    """Hundreds of hard parts in a row, each behind one class."""
    owner, children, costs = [], [], []
    for k in range(300):
        base = 4 * k
        owner += [base, base, base + 1, base + 1, base + 2, base + 3]
        children += [
            [base + 1, base + 2], [base + 3], [base + 3], [], [base + 3], [base + 4] if k < 299 else [],
        ]
        costs += [1.0, 3.5, 1.0, 2.0, 1.0, 1.0]
    result = exact(make_problem(owner, children, costs, [0], 1200))
    assert result.cost == pytest.approx(300 * 4.0) and result.bound == pytest.approx(result.cost)


def test_processor_time_is_limited() -> None:
    """Of a problem that takes minutes: 600 classes that read one another anyhow."""
    rng = random.Random(1)
    owner = [k % 600 for k in range(3000)]
    sizes = [0] * 20 + [1] * 580 + [3] * 2400
    children = [[rng.randrange(600) for _ in range(size)] for size in sizes]
    costs = [1000.0 + k if k < 20 else float(rng.randrange(1, 100)) for k in range(3000)]
    began = process_time()
    result = exact(make_problem(owner, children, costs, [598, 599], 600), 0.5)
    assert process_time() - began < 5
    assert result.bound is not None and result.bound <= result.cost


@pytest.mark.parametrize(
    ("name", "most"),
    [("vgg", 4.851), ("resnet50", 4.386), pytest.param("bert", 0.70472, marks=pytest.mark.long)],
)
def test_the_e_graphs_of_tensat(name: str, most: float) -> None:
    path = EGRAPHS / f"{name}.json"
    if not path.is_file():
        pytest.skip("third-party e-graphs are not here")
    result = exact(read_egraph(str(path)).problem)
    assert result.cost <= most


FILE = {
    "nodes": {
        "a": {"op": "f", "children": ["b", "b"], "eclass": "A", "cost": 1.0},
        "b": {"op": "g", "children": [], "eclass": "B", "cost": 2},
        "c": {"op": "h", "children": ["c"], "eclass": "B", "cost": 0},
    },
    "root_eclasses": ["A", "B"],
    "class_data": {},
}


def edited(pointer: str, value: object) -> str:
    data = json.loads(json.dumps(FILE))
    *path, last = pointer.split("/")
    holder = data
    for key in path:
        holder = holder[key]
    if value is None:
        del holder[last]
    else:
        holder[last] = value
    return json.dumps(data)


@pytest.mark.parametrize(
    ("pointer", "value", "message"),
    [
        ("nodes", None, "an object of e-nodes"),
        ("nodes", [], "an object of e-nodes"),
        ("nodes/a/children", ["z"], "/nodes/a/children/0: unknown e-node `z`"),
        ("nodes/a/children", "b", "/nodes/a/children: expected a list"),
        ("nodes/a/eclass", None, "/nodes/a: `eclass` is missing"),
        ("nodes/a/cost", -1, "/nodes/a/cost: a cost must be at least 0"),
        ("nodes/a/cost", 1e308, "/nodes/a/cost: a cost must be at most 1e+200"),
        ("nodes/a/cost", True, "/nodes/a/cost: a cost must be a number"),
        ("nodes/a", 3, "/nodes/a: expected an object"),
        ("root_eclasses", ["b"], "/root_eclasses/0: unknown e-class `b`"),
        ("root_eclasses", None, "`root_eclasses` is missing"),
    ],
)
def test_files_that_are_wrong(pointer: str, value: object, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_egraph("e.json", edited(pointer, value))
    assert message in str(caught.value)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "e.json"
    path.write_text(json.dumps(FILE))
    for method in ("greedy", "exact"):
        assert main(["extract", str(path), "--method", method, "--format", "json"]) == 0
        report = json.loads(capsys.readouterr().out)
        assert (
            report["cost"] == 3 and report["choices"] == {"A": "a", "B": "b"} and report["method"] == method
        )
    assert main(["extract", str(path)]) == 0
    assert capsys.readouterr().out.startswith("cost 3\nbound 3 (optimal)\n2 e-nodes of 3, exact, ")
    path.write_text(edited("nodes/b/cost", "inf"))
    assert main(["extract", str(path)]) == 1
    assert "root class `A` has no finite solution" in capsys.readouterr().err
    assert main(["extract", str(tmp_path / "none.json")]) == 3
    path.write_text('{"nodes": {}, "root_eclasses": []}')
    assert main(["extract", str(path)]) == 0
