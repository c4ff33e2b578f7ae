"""Whole numbers bit by bit: each function is what the evaluator computes, for all numbers of 8 bits; so are
random expressions, so that expressions which are proved equal are equal.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import gslang.api as api
from gslang.base.arrays import Array
from gslang.dialect.load import load_dialect
from gslang.evaluate.elementwise import EVALUATE
from gslang.verify.prove.operators.operators import meaning_of
from gslang.verify.prove.operators.tensors import Tensor, World, constant
from gslang.verify.prove.prove import prove
from gslang.verify.prove.terms.certificate import as_certificate
from gslang.verify.prove.terms.diagrams import Diagrams
from gslang.verify.prove.terms.facts import Facts
from gslang.verify.prove.terms.paths import Budget, Choices, NotProved, TooMuch
from gslang.verify.prove.terms.terms import number, read
from gslang.verify.prove.terms.word_terms import WordTerms
from gslang.verify.prove.terms.words import Word, Words, binary
from gslang.verify.recheck.check import check

BYTES = ("int8", "uint8")
X, Y = (grid.ravel().astype(np.uint8) for grid in np.meshgrid(range(256), range(256), indexing="ij"))
_EVALUATED = {"whole maximum": "maximum", "whole minimum": "minimum"}


EVERY = (1 << X.size) - 1


def places(of: Array, k: int) -> int:
    """The places at which a bit of numbers is 1, as the bits of one number."""
    return int.from_bytes(np.packbits(of >> k & 1, bitorder="little").tobytes(), "little")


def values(word: Word, diagrams: Diagrams, bits: dict[int, int]) -> Array:
    """The numbers that a word stands for, where `bits` are the places at which its variables are 1, by their
    levels.
    """
    found: dict[int, int] = {0: 0, 1: EVERY}

    def of(p: int) -> int:
        if p not in found:
            one, low = bits[diagrams.level[p]], of(diagrams.low[p])
            found[p] = low ^ (one & (low ^ of(diagrams.high[p])))
        return found[p]

    result = np.zeros(X.size, np.int64)
    for k, p in enumerate(word):
        bytes_ = np.frombuffer(of(p).to_bytes(X.size // 8, "little"), np.uint8)
        result |= np.unpackbits(bytes_, bitorder="little").astype(np.int64) << k
    return result


def word_of(diagrams: Diagrams, first: int) -> tuple[Word, dict[int, int]]:
    """A byte of which nothing is known, and its bits by their levels."""
    levels = [2 * k + first for k in range(8)]
    return tuple(map(diagrams.variable, levels)), {level: k for k, level in enumerate(levels)}


@pytest.mark.parametrize("dtype", BYTES)
@pytest.mark.parametrize("name", sorted(binary(Words(Diagrams(0)), "int8")))
def test_a_function_is_what_is_computed(name: str, dtype: str) -> None:
    diagrams = Diagrams(1_000_000)
    (a, of_a), (b, of_b) = word_of(diagrams, 0), word_of(diagrams, 1)
    bits = {level: places(of, k) for of, own in ((X, of_a), (Y, of_b)) for level, k in own.items()}
    got = values(binary(Words(diagrams), dtype)[name](a, b), diagrams, bits).astype(np.uint8).view(dtype)
    with np.errstate(all="ignore"):
        wanted = EVALUATE[_EVALUATED.get(name, name)]([X.view(dtype), Y.view(dtype)], {})
    assert (got == wanted).all()


# ── random expressions ──

_BINARY = (
    "add", "subtract", "multiply", "maximum", "minimum", "bitwise_and", "bitwise_or", "bitwise_xor",
    "left_shift", "right_shift", "floor_divide", "trunc_divide", "floor_mod", "trunc_mod", "divide", "mod",
)  # fmt: skip
_UNARY = ("negative", "abs", "sign", "bitwise_not", "nn.relu")
_ORDER = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")
_TYPES = ("int8", "uint8", "int16", "uint16", "int32")


class Expressions:
    """Random expressions of two bytes as the prover sees them, with their values for all bytes."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.world = World(Facts(Choices([], Budget(1_000_000))), 0)
        self.dialect = load_dialect("relay")

    def call(self, operator: str, *operands: tuple[Tensor, Array], **attrs: Any) -> tuple[Tensor, Array]:
        made = meaning_of(self.world, self.dialect, operator, [tensor for tensor, _ in operands], attrs)
        with np.errstate(all="ignore"):
            value = EVALUATE[operator]([value for _, value in operands], attrs)
        assert isinstance(made, Tensor) and isinstance(value, np.ndarray)
        return made, value

    def made(self, dtype: str, depth: int) -> tuple[Tensor, Array]:
        """An expression of a type."""
        way = self.random.random()
        if dtype in BYTES and (depth == 0 or way < 0.1):
            name, value = self.random.choice([("x", X), ("y", Y)])
            self.world.types[f"{name} {dtype}"] = dtype
            at = read(f"{name} {dtype}", ())
            return Tensor((), dtype, lambda index: at), value.view(dtype)
        if depth == 0 or way < 0.2:
            limits = np.iinfo(dtype)
            known = self.random.choice([0, 1, 2, 3, 4, 7, 8, 15, 16, 100, limits.min, limits.max, -1])
            known = int(np.array(known).astype(dtype))
            return constant(number(known), (), dtype), np.full(X.size, known, dtype)
        if way < 0.35:
            return self.call("cast", self.made(self.random.choice(_TYPES), depth - 1), dtype=dtype)
        if way < 0.4:
            return self.call("cast", self.truth(depth - 1), dtype=dtype)
        if way < 0.5:
            return self.call("where", self.truth(depth - 1), *(self.made(dtype, depth - 1) for _ in "ab"))
        if way < 0.65:
            return self.call(self.random.choice(_UNARY), self.made(dtype, depth - 1))
        return self.call(self.random.choice(_BINARY), *(self.made(dtype, depth - 1) for _ in "ab"))

    def truth(self, depth: int) -> tuple[Tensor, Array]:
        """A truth value."""
        way = self.random.random()
        if depth > 0 and way < 0.2:
            of = self.random.choice(("logical_and", "logical_or", "logical_xor"))
            return self.call(of, self.truth(depth - 1), self.truth(depth - 1))
        if way < 0.3:
            return self.call("logical_not", self.truth(max(depth - 1, 0)))
        dtype = self.random.choice(_TYPES)
        if way < 0.4:
            return self.call("cast", self.made(dtype, max(depth - 1, 0)), dtype="bool")
        return self.call(self.random.choice(_ORDER), *(self.made(dtype, max(depth - 1, 0)) for _ in "ab"))


UNDEFINED = """
rule mod_nothing(x: any(dtype = "int32"), y: any(dtype = "int32", shape = x.shape)):
    (x - x) * y => floor_mod(x, y) * (y - y);
rule shift_nothing(x: any(dtype = "int32"), y: any(dtype = "int32", shape = x.shape)):
    bitwise_and(x, y) - bitwise_and(x, y) => left_shift(x, y) - left_shift(x, y);
rule shift_far(x: any(dtype = "int32"))
    { z = left_shift(left_shift(x, 20), 20); z where z.ndim == x.ndim => left_shift(x, 40) }
rule divide_by_sum(x: any(dtype = "int8"), y: any(dtype = "int8", shape = x.shape)):
    trunc_divide(x, y) * (x - x) => trunc_divide(x, y + y) * (x - x);
rule divide_by_less(x: any(dtype = "int32"), y: any(dtype = "int32", shape = x.shape)):
    floor_mod(x, y) * (y - y) => floor_mod(x, bitwise_or(y, x)) * (y - y);
rule divide_for_minus(x: any(dtype = "int16")): negative(x) => trunc_divide(x, -1);
"""


@pytest.mark.parametrize("name", api.parse_rules(UNDEFINED).own)
def test_a_target_is_defined_where_its_source_is(name: str) -> None:
    with pytest.raises(NotProved, match="may be undefined"):
        prove(api.parse_rules(UNDEFINED).own[name])


@pytest.mark.parametrize("asked, wanted", [("bitwise_or(y, z)", True), ("bitwise_and(y, z)", False)])
def test_what_a_target_asks_for_follows_bit_by_bit(asked: str, wanted: bool) -> None:
    """A number with one more bit is not 0 if the other one is not."""
    rule = api.parse_rules(
        'rule r(x: any(dtype = "uint32"), y: any(dtype = "uint32", shape = x.shape), '
        'z: any(dtype = "uint32", shape = x.shape)): '
        f"floor_mod(x, y) * (z - z) => floor_mod(x, {asked}) * (z - z);"
    ).own["r"]
    if wanted:
        prove(rule)
    else:
        with pytest.raises(NotProved, match="may be undefined"):
            prove(rule)


@pytest.mark.parametrize("file", ["relay_integers.gsl", "onnx_integers.gsl"])
def test_right_rules_are_proved(file: str) -> None:
    unproved = []
    for name, rule in api.load(Path(__file__).parent / "broad" / file).own.items():
        try:
            prove(rule)
        except NotProved:
            unproved.append(name)
    assert unproved == []


def test_comparisons_bit_by_bit_have_no_certificate() -> None:
    rule = api.parse_rules('rule r(x: any(dtype = "int8")): bitwise_xor(x, x) => zeros_like(x);').own["r"]
    with pytest.raises(TooMuch, match="bit by bit"):
        prove(rule, record=True)
    text = "rule r(x, y: any(shape = x.shape)): maximum(x, y) + minimum(x, y) => x + y;"
    rule = api.parse_rules(text).own["r"]
    assert not prove(rule).floats
    proof = prove(rule, record=True)
    checked = check(json.loads(as_certificate("r", "", proof)))
    assert proof.floats and "floating-point types" in checked.claim


@pytest.mark.parametrize("seed", range(4))
def test_random_expressions_are_what_is_computed(seed: int) -> None:
    """Their words depend on bits of x and y alone, unless something in them took too many steps."""
    known = 0
    for number_ in range(60):
        drawn = Expressions(1000 * seed + number_)
        dtype = drawn.random.choice(("bool", *_TYPES))
        tensor, wanted = drawn.truth(3) if dtype == "bool" else drawn.made(dtype, 3)
        terms = WordTerms(dict(drawn.world.types), [tensor.at(())])  # type: ignore[arg-type]
        word = terms.word(tensor.at(()), dtype)
        bits = {
            terms.diagrams.level[p]: places(X if name.startswith("x ") else Y, k)
            for name in drawn.world.types
            for k, p in enumerate(terms.word(read(name, ()), drawn.world.types[name]))  # type: ignore[arg-type]
        }
        if all(level in bits for level in terms.diagrams.level[2:]):
            known += 1
            assert (values(word, terms.diagrams, bits).astype(dtype) == wanted).all()
    assert known >= 40
