"""Infinite constants in proofs: they may be moved, chosen and compared. Rules that hold for a large number in
place of infinity, but not for infinity itself, are not proved.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np
import pytest

import gslang.api as api
from gslang.base.arrays import Array
from gslang.verify.prove.prove import prove
from gslang.verify.prove.terms.paths import NotProved
from gslang.verify.verdict import verify

ROWS = "x: any(shape = (_,)), z: any(shape = (_,))"
LARGE = 2.0**40  # exact beside the numbers of inputs, and in products of three of its kind
FUNCTIONS: dict[str, tuple[int, Callable[..., Array]]] = {
    "Neg": (1, np.negative), "Abs": (1, np.abs), "Relu": (1, lambda a: np.maximum(a, 0)),
    "Max": (2, np.maximum), "Min": (2, np.minimum), "Add": (2, np.add), "Sub": (2, np.subtract),
    "Mul": (2, np.multiply), "Less": (2, np.less), "Where": (3, np.where),
}  # fmt: skip
COMPUTING = ("Add", "Sub", "Mul")

Tree = tuple["str | Tree", ...]


def rule_text(source: str, target: str, given: str = ROWS) -> str:
    """A rule of ONNX about inputs of equal shape, in which `i` is a scalar +∞."""
    others = [name for name in "cz" if f"{name}:" in given or f"{name}," in given]
    equal = "".join(f"x.shape == {name}.shape, " for name in others)
    return (
        f"dialect onnx;\nrule r({given}) {{ i = const(value = inf);\n"
        f"    {source} where {equal}i.ndim == 0\n    => {target} }}"
    )


def is_proved(text: str) -> bool:
    (rule,) = api.parse_rules(text).own.values()
    try:
        prove(rule)
    except NotProved:
        return False
    return True


ROW = "x: any(shape = (_,))"
CHOSEN = f"c: any(shape = (_,)), {ROW}"
# source, target, inputs
RIGHT = [
    ("Max(x, Neg(i))", "x", ROW),
    ("Min(i, x)", "x", "x: any(shape = (_, _))"),
    ("Clip(x, Neg(i))", "x", ROW),
    ("Clip(Neg(x), Neg(i), i)", "Neg(x)", ROW),
    ("Where(c, x, i)", "Where(c, Min(x, i), i)", CHOSEN),
    ("Neg(Where(c, x, i))", "Where(c, Neg(x), Neg(i))", CHOSEN),
    ("Relu(Where(c, x, Neg(i)))", "Where(c, Relu(x), const(value = 0.0, dtype = x.dtype))", CHOSEN),
    ("ReduceMax(Max(x, Neg(i)), axes, keepdims = 1)", "ReduceMax(x, axes)",
     f"{ROW}, axes: const(shape = (1,))"),
    ("Greater(i, x)", "Expand(const(value = true), Shape(x))", ROW),
    ("Mul(Min(x, i), z)", "Mul(x, z)", ROWS),
    ("Transpose(Where(c, x, i), perm = [1, 0])",
     "Where(Transpose(c, perm = [1, 0]), Transpose(x, perm = [1, 0]), i)", "c, x: any(shape = (_, _))"),
    ("Slice(Pad(x, const(value = [2, 2]), i), const(value = [0]), const(value = [2]), const(value = [0]))",
     "Expand(i, const(value = [2]))", ROW),
]  # fmt: skip
# The same with constants that conditions say to be infinite.
CONSTANT = "x: any(shape = (_,)), c: const(shape = {})"
CONDITIONS = [
    ("Max(x, c)", "c.value == -inf", "x", "()", True),
    ("Min(x, Neg(c))", "c.value == -inf", "x", "()", True),
    ("Max(x, c)", "all(v == -inf for v in c.value), x.shape == c.shape", "x", "(_,)", True),
    ("Sub(Add(x, c), c)", "c.value == inf", "x", "()", False),
    ("Sub(Add(x, c), c)", "c.value == inf or c.value == -inf", "x", "()", False),
    ("Sub(Add(x, c), c)", "not (c.value < inf)", "x", "()", False),
    ("Sub(Add(x, c), c)", "all(v == inf for v in c.value), x.shape == c.shape", "x", "(_,)", False),
    ("Mul(x, c)", "c.value == inf", "Add(Mul(x, c), Sub(Mul(x, c), Mul(x, c)))", "()", False),
    ("Max(x, c)", "c.value == -inf or c.value == inf", "x", "()", False),
]
# of each, the source is a number, or infinite, somewhere
WRONG = [
    ("Max(x, i)", "x", ROW),
    ("Mul(x, i)", "Expand(i, Shape(x))", ROW),
    ("Min(x, i)", "Sub(Add(x, i), i)", ROW),
    ("Div(x, i)", "Mul(x, Div(i, i))", ROW),
    ("Where(c, x, i)", "Add(Where(c, x, i), Sub(Where(c, x, i), Where(c, x, i)))", CHOSEN),
    ("Mul(x, i)", "Add(Mul(x, i), Sub(Mul(x, i), Mul(x, i)))", ROW),
    ("Exp(Where(c, x, i))", "Mul(Exp(Where(c, x, i)), Exp(Sub(i, i)))", CHOSEN),
    ("IsInf(Max(x, i))", "Expand(const(value = false), Shape(x))", ROW),
    ("Pad(x, const(value = [1, 1]), i)", "Pad(x, const(value = [1, 1]), Neg(i))", ROW),
    ("Less(Max(x, i), Max(z, i))", "Less(x, z)", ROWS),
    ("Sqrt(Max(x, i))", "Div(Max(x, i), Sqrt(Max(x, i)))", ROW),
]


@pytest.mark.parametrize(("source", "target", "given"), RIGHT)
def test_what_moves_chooses_and_compares_is_proved(source: str, target: str, given: str) -> None:
    assert is_proved(rule_text(source, target, given))


@pytest.mark.parametrize(("source", "target", "given"), WRONG)
def test_what_is_different_for_infinity_is_refuted(source: str, target: str, given: str) -> None:
    text = rule_text(source, target, given)
    assert not is_proved(text)
    (rule,) = api.parse_rules(text).own.values()
    assert verify(rule).verdict == "refuted"


@pytest.mark.parametrize(("source", "where", "target", "shape", "right"), CONDITIONS)
def test_constants_that_conditions_say_to_be_infinite(
    source: str, where: str, target: str, shape: str, right: bool
) -> None:
    given = CONSTANT.format(shape)
    assert is_proved(f"dialect onnx;\nrule r({given}) {{ {source} where {where} => {target} }}") == right


def tree(random: Random, depth: int) -> Tree | str:
    """A term in the inputs and ±∞."""
    if depth == 0 or random.random() < 0.15:
        return random.choice(("x", "z", "i"))
    name = random.choice(("Neg", "Abs", "Relu", "Max", "Max", "Min", "Min", "Add", "Sub", "Mul", "Where"))
    if name == "Where":
        condition = ("Less", tree(random, depth - 1), tree(random, depth - 1))
        return (name, condition, tree(random, depth - 1), tree(random, depth - 1))
    return (name, *[tree(random, depth - 1) for _ in range(FUNCTIONS[name][0])])


def value(term: Tree | str, leaves: dict[str, Array]) -> Array:
    if isinstance(term, str):
        return leaves[term]
    name, *operands = term
    assert isinstance(name, str)
    return FUNCTIONS[name][1](*[value(operand, leaves) for operand in operands])


def text(term: Tree | str) -> str:
    return term if isinstance(term, str) else f"{term[0]}({', '.join(map(text, term[1:]))})"


def leaves(infinity: float) -> dict[str, Array]:
    random = np.random.default_rng(7)
    x, z = random.integers(-8, 9, (2, 400)) / 4
    z[:40] = x[:40]
    return {"x": x, "z": z, "i": np.full(400, infinity)}


def drawn() -> tuple[list[str], list[str]]:
    """(rules whose sides are equal with infinity, those that are equal with a large number but not with it).
    """
    random = Random(3)
    groups: dict[bytes, list[tuple[str, bytes]]] = {}
    large, infinite = leaves(LARGE), leaves(np.inf)
    right: list[str] = []
    wrong: list[str] = []
    with np.errstate(invalid="ignore"):
        for _ in range(30_000):
            term = tree(random, 3)
            named = text(term)
            if not all(f"{letter}" in named.replace("Max", "").replace("Min", "") for letter in "xzi"):
                continue
            with_large, with_infinity = value(term, large) + 0.0, value(term, infinite) + 0.0
            group = groups.setdefault(with_large.tobytes(), [])
            for other, its_own in group[:3]:
                right_pair = its_own == with_infinity.tobytes()
                (right if right_pair else wrong).append(rule_text(named, other))
            group.append((named, with_infinity.tobytes()))
    return right, wrong


def test_what_holds_with_a_large_number_only_is_not_proved() -> None:
    right, wrong = drawn()
    wrong, right = wrong[:80], right[:160]
    assert len(wrong) == 80
    assert [rule for rule in wrong if is_proved(rule)] == []
    moved = [rule for rule in right if not any(name in rule for name in COMPUTING)]
    proofs = sum(map(is_proved, moved))
    assert len(moved) > 20 and proofs > 0.9 * len(moved), (proofs, len(moved))
