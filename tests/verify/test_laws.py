"""Each law holds at random numbers of every kind that it claims, where its conditions do; and is refuted
where it is changed.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest

from gslang.verify.laws import LAWS, REAL, Law, instance, parsed
from gslang.verify.recheck.evaluate import Point, Sizes, near, value_of
from gslang.verify.recheck.terms import constant, function

SIGNS = {ast.Gt: operator.gt, ast.GtE: operator.ge, ast.NotEq: operator.ne, ast.Lt: operator.lt}
NUMBERS = (0, 1, 2, 3, -1, -2)  # for letters that stand for numbers


def letters(text: str) -> set[str]:
    """The letters of an expression that stand for values."""
    found: set[str] = set()
    expression = parsed(text)
    functions = {
        node.func.id
        for node in ast.walk(expression) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    for node in ast.walk(expression):
        if isinstance(node, ast.Name) and node.id not in functions:
            found.add(node.id)
    return found


def holds(condition: str, point: Point, binding: dict[str, object], is_size: bool) -> bool:
    tree = ast.parse(condition, mode="eval").body
    assert isinstance(tree, ast.Compare)
    left, right = (ast.unparse(side) for side in (tree.left, tree.comparators[0]))
    sign = SIGNS[type(tree.ops[0])]
    if is_size:
        return bool(sign(eval(left, {}, dict(point.sizes)), int(right)))
    return bool(sign(value_of(instance(left, binding), point), value_of(instance(right, binding), point)))  # type: ignore[arg-type]


def outcomes(law: Law, numbers: str, most: int = 400) -> Iterator[bool]:
    """Whether both sides are equal at random points where the conditions hold."""
    random = Random(law.name)
    over_sizes = any(word in law.left for word in ("sum(", "largest(", "at_least_0("))
    for seed in range(most):
        sizes = (
            {name: random.randint(-2 if name == "a" else 1, 4) for name in ("n", "m", "a")} if over_sizes
            else {}
        )
        point = Point(Sizes(sizes), seed, positive=seed % 2 == 0, numbers=numbers)
        names = (letters(law.left) | letters(law.right)) - {"i", "j", *sizes}
        binding = {
            name: constant(random.choice(NUMBERS)) if name == "n" else function(name) for name in names
        }
        try:
            if all(holds(condition, point, binding, over_sizes) for condition in law.conditions):
                left, right = (value_of(instance(side, binding), point) for side in (law.left, law.right))
                yield near(left, right)
        except ArithmeticError:
            continue


@pytest.mark.parametrize(
    "law, numbers", [(law, numbers) for law in LAWS for numbers in law.numbers],
    ids=lambda x: x.name if isinstance(x, Law) else x,
)
def test_it_holds_at_random_numbers(law: Law, numbers: str) -> None:
    found = list(outcomes(law, numbers))
    assert len(found) >= 15 and all(found)


@pytest.mark.parametrize(
    "law", [law for law in LAWS if law.conditions and law.exactly], ids=lambda law: law.name
)
def test_no_condition_stands_for_nothing(law: Law) -> None:
    """Without its conditions a law fails somewhere, or a side is not defined there."""
    names = letters(law.left) | letters(law.right)
    missing = 0
    for seed in range(400):
        point = Point(Sizes(), seed, numbers=law.numbers[0])
        random = Random(seed)
        binding = {
            name: constant(random.choice(NUMBERS)) if name == "n"
            else function(name) if random.random() < 0.9
            else constant(0)
            for name in names
        }
        try:
            missing += not near(*(value_of(instance(side, binding), point) for side in (law.left, law.right)))
        except (ArithmeticError, ValueError):
            missing += 1
    assert missing


def test_names_are_unique_and_laws_of_one_kind_do_not_hold_for_all() -> None:
    assert len({law.name for law in LAWS}) == len(LAWS)
    wrong = [
        Law("x", "log(x * y)", "log(x) + log(y)", (REAL,)), Law("x", "sqrt(x * x)", "x", (REAL,)),
        Law("x", "exp(x + y)", "exp(x) + exp(y)", (REAL,)),
        Law("x", "maximum(n * x, n * y)", "n * max(x, y)", (REAL,)),
        Law("x", "exp(n * log_abs(x))", "x ** n", (REAL,)),
    ]
    defined = [law for law in wrong if not all(outcomes(law, REAL))]
    assert [law.left for law in wrong[1:]] == [law.left for law in defined if law is not wrong[0]]


def test_laws_of_real_numbers_fail_where_whole_numbers_wrap() -> None:
    claimed = [replace(law, numbers=()) for law in LAWS if law.name in ("absolute value", "clip")]
    assert claimed
    shift = Law("x", "whole_maximum(x + 1, x)", "x + 1", ())
    assert not all(outcomes(shift, "whole numbers that wrap"))
