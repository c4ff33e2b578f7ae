"""The rules found over the operators of TASO imply all of its substitutions, and have the conditions that
these lack."""

from __future__ import annotations

from pathlib import Path

import pytest

from gslang.api import load
from gslang.cli.main import main
from gslang.discover.equations import Candidate
from gslang.discover.implied import Settings, implied
from gslang.discover.judge import Judged, judge
from gslang.discover.minimal import minimal
from gslang.discover.plan import Plan, Question, plan_of

FILE = Path(__file__).parent.parent / "verify" / "taso" / "graph_subst.json"
OPERATORS = str(Path(__file__).parent / "taso_operators.gsl")
ADD, RELU, PRODUCT, JOIN_0, JOIN_1, CONV = range(6)
MATRIX, IMAGE, KERNEL = 0, 4, 6  # the first input of each shape
INPUTS = "[n, n], [n, n], [n, n], [n, n], [n, n, h, w], [n, n, h, w], [n, n, 3, 3], [n, n, 3, 3]"


@pytest.fixture(scope="module")
def plan() -> Plan:
    operators = "add, nn.relu, taso.matmul, concatenate(axis = 0 | 1), taso.conv2d(padding = (1, 1, 1, 1))"
    return plan_of(Question("relay", operators, (OPERATORS,), 3, inputs=INPUTS))


def candidate(
    plan: Plan, source: tuple[object, ...], target: tuple[object, ...], *shapes: int
) -> Candidate:
    return Candidate((source,), (target,), tuple(plan.inputs[shape] for shape in shapes))


def judged(plan: Plan, candidate: Candidate) -> Judged:
    found = judge(candidate, "it", plan.prelude, plan.formers, plan.dialect, "exact")
    assert found is not None
    return found


def test_the_fewest_laws(plan: Plan) -> None:
    """relu(x ‖ relu(y)) = relu(x ‖ y) follows from relu(relu(x)) = relu(x) and relu(x) ‖ relu(y) = relu(x
    ‖ y)."""
    twice = candidate(plan, (RELU, (RELU, 0)), (RELU, 0), MATRIX)
    inside = candidate(plan, (RELU, (JOIN_0, 0, (RELU, 1))), (RELU, (JOIN_0, 0, 1)), MATRIX, MATRIX)
    joined = candidate(plan, (JOIN_0, (RELU, 0), (RELU, 1)), (RELU, (JOIN_0, 0, 1)), MATRIX, MATRIX)
    assert minimal([twice, inside, joined], plan, []) == [twice, joined]
    assert minimal([twice, inside], plan, []) == [twice, inside]


def test_shapes_in_common_leave_the_axis_open(plan: Plan) -> None:
    """(x + y) ‖ (z + w) = (x ‖ z) + (y ‖ w), along any axis."""
    sums = candidate(
        plan, (JOIN_0, (ADD, 0, 1), (ADD, 2, 3)), (ADD, (JOIN_0, 0, 2), (JOIN_0, 1, 3)), *[MATRIX] * 4
    )
    found = judged(plan, sums)
    assert found.verdict == "proved" and "axis" not in found.text
    assert "y: any(shape = x.shape" in found.text and "w: any(shape = z.shape" in found.text


@pytest.mark.long
def test_groups_of_convolutions_are_quotients(plan: Plan) -> None:
    """conv(x, y) ‖ conv(z, w) = conv(x ‖ z, y ‖ w) where both have as many output channels per group."""
    apart, together = (JOIN_1, (CONV, 0, 1), (CONV, 2, 3)), (CONV, (JOIN_1, 0, 2), (JOIN_0, 1, 3))
    found = judged(plan, candidate(plan, apart, together, IMAGE, KERNEL, IMAGE, KERNEL))
    assert "w.shape[1] == y.shape[1]" in found.conditions
    assert "z.shape[1] * y.shape[0] == x.shape[1] * w.shape[0]" in found.conditions
    turned = judged(
        plan,
        candidate(
            plan,
            (CONV, (JOIN_1, 0, 1), (JOIN_0, 2, 3)),
            (JOIN_1, (CONV, 0, 2), (CONV, 1, 3)),
            IMAGE,
            IMAGE,
            KERNEL,
            KERNEL,
        ),
    )
    assert turned.turned and turned.conditions == found.conditions  # that way less is excluded


def test_whole_numbers_wrap(plan: Plan) -> None:
    found = judged(
        plan_of(Question("relay", "multiply,nn.relu", inputs="[n]")),
        Candidate(((1, (0, 0, 0)),), ((0, 0, 0),), (plan.inputs[MATRIX],)),
    )
    assert "x.dtype in" in found.text and found.verdict == "proved"


@pytest.mark.long
def test_all_substitutions_follow_from_what_is_found(tmp_path: Path) -> None:
    operators = (
        "add, multiply, nn.relu, taso.matmul, concatenate(axis = 0 | 1), "
        "split(axis = 0 | 1, indices_or_sections = (n,)), "
        "taso.conv2d(padding = (1, 1, 1, 1))"
    )
    found = tmp_path / "found.gsl"
    arguments = [
        "--ops",
        operators,
        "--inputs",
        INPUTS,
        "--size",
        "3",
        "--jobs",
        "2",
        "-o",
        str(found),
        "--quiet",
    ]
    assert main(["discover", OPERATORS, *arguments]) == 0
    by = list(load(found).known.values())
    assert len(by) < 40
    assert main(["import", "taso", str(FILE), "--with-conditions", "-o", str(tmp_path)]) == 0
    substitutions = load(tmp_path / "taso.gsl").own
    assert not [
        name for name, rule in substitutions.items() if not implied(rule, by, Settings(instances=2)).implied
    ]
