"""Terms about whole numbers of known types, bit by bit.

A term is a polynomial in the ring of whole numbers that wrap at the width of its type; what functions mean
there is in `words`. Each element of an input, and each factor of which nothing is known here, is a word of
variables: the same for equal factors, and for the same function of equal words. Two terms are equal if they
are the same function of these variables wherever the conditions of the case hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from math import lcm

from gslang.base.quick_dataclass import dataclass
from gslang.verify.partial import SHIFTS
from gslang.verify.prove.terms.diagrams import FALSE, TRUE, Diagrams, TooLarge
from gslang.verify.prove.terms.terms import Atom, Factors, Term, is_truth, with_value
from gslang.verify.prove.terms.words import WIDTHS, Word, Words, binary, constant, is_constant, is_signed

_MOST_STEPS = 400_000  # of diagrams: about a second
_MOST_TRUTHS = 8  # of which cases are made, one in another
_OF_A_FACTOR = 100_000  # that a product or quotient of two unknown numbers may take
_BITS = {"bool": 1, **WIDTHS}
# other names of functions of `words.binary`, and those of one number
_MEANT = {
    "BitwiseAnd": "bitwise_and", "BitwiseOr": "bitwise_or", "BitwiseXor": "bitwise_xor",
    "BitwiseNot": "bitwise_not", "Sign": "sign", "whole divide": "trunc_divide", "mod": "trunc_mod",
}
_LARGE = frozenset({"trunc_divide", "floor_divide", "trunc_mod", "floor_mod"})  # of two unknown numbers
_ORDERS = frozenset({"order", "wide order"})


class Unread(Exception):
    """A term that is not about whole numbers of known types."""


class WordTerms:
    """The words of terms. `types`: the element types of inputs by their names; `first`: keys of factors that
    shifts depend on, of which the variables come first.
    """

    def __init__(
        self, types: Mapping[str, str | None], terms: Iterable[Term], most: int = _MOST_STEPS
    ) -> None:
        self.types = types
        self.diagrams = Diagrams(most)
        self.words = Words(self.diagrams)
        self.first = {atom.key for x in terms for atom in _inside(x, False)}
        self._count = 0
        self._opaque: dict[object, Word] = {}
        self._large: dict[object, Word] = {}
        self._words: dict[tuple[str, str], Word] = {}
        self._truths: dict[str, int] = {}

    # ── numbers ──

    def word(self, x: Term, dtype: str) -> Word:
        """The number of a type that a term is. Raises `Unread`, `TooLarge`."""
        key = x.key, dtype
        if key not in self._words:
            self._words[key] = self._by_truths(x, lambda rest: self._sum(rest, dtype))
        return self._words[key]

    def _by_truths(self, x: Term, of: Callable[[Term], Word]) -> Word:
        """A function of a term, by the cases of the truth values that are its factors."""
        truths = sorted({atom for atom in x.atoms() if _is_truth(atom)}, key=lambda atom: atom.key)
        if not truths:
            return of(x)
        if len(truths) > _MOST_TRUTHS:
            raise TooLarge
        p = self.truth(truths[0])
        then, otherwise = (
            None if p == known else self._by_truths(with_value(x, truths[0], value), of)
            for value, known in ((1, FALSE), (0, TRUE))
        )
        if then is None or otherwise is None:
            return then or otherwise or ()
        return self.words.select(p, then, otherwise)

    def _sum(self, x: Term, dtype: str) -> Word:
        width = _width(dtype)
        result = constant(0, width)
        for factors, c in sorted(x.parts.items(), key=lambda part: [atom.key for atom, _ in part[0]]):
            if c.denominator != 1:
                raise Unread
            part = self._product(factors, dtype)
            result = self.words.sum(result, self.words.product(part, constant(c.numerator, width)))
        return result

    def _product(self, factors: Factors, dtype: str) -> Word:
        words: list[Word] = []
        for atom, exponent in factors:
            if exponent < 0:
                raise Unread
            words += [self._atom(atom, dtype)] * exponent
        return reduce(self._times, sorted(words), constant(1, _width(dtype)))

    def _times(self, a: Word, b: Word) -> Word:
        """A product; where it takes too many steps, any function of which each bit depends on those bits of
        both that are no higher.
        """
        a, b = sorted((a, b))

        def unknown() -> Word:
            ends = [("times", *sorted((a[:k], b[:k]))) for k in range(1, len(a) + 1)]
            return tuple([self._variables(end, 1)[0] for end in ends])

        return self._tried(("times", a, b), lambda: self.words.product(a, b), unknown)

    def _tried(self, key: object, of: Callable[[], Word], unknown: Callable[[], Word]) -> Word:
        """A word, or where it takes too many steps, one that is unknown: the same each time."""
        if key not in self._large:
            try:
                with self.diagrams.at_most(_OF_A_FACTOR):
                    self._large[key] = of()
            except TooLarge:
                self._large[key] = unknown()
        return self._large[key]

    def _variables(self, key: object, width: int, first: bool = False) -> Word:
        """A word of which nothing is known, the same for the same key: bits of one place are neighbours."""
        if key not in self._opaque:
            self._count += 1
            self._opaque[key] = tuple([
                self.diagrams.variable(((0 if first else 64) + k) * 4096 + self._count) for k in range(width)
            ])
        return self._opaque[key]

    def _atom(self, atom: Atom, dtype: str) -> Word:
        width = _width(dtype)
        name = atom.name.partition(" [")[0]
        if atom.kind == "read" and self.types.get(atom.name) not in (dtype, None):
            raise Unread
        if atom.kind != "fn":
            return self._unknown(atom, dtype)
        if name.startswith("cast ") and (found := self._converted(atom, name, dtype)) is not None:
            return found
        name = _meaning(atom)
        if dtype == "bool" and not name.startswith("bitwise_"):
            return self._unknown(atom, dtype)
        if (unary := self._of_one(name, dtype)) is not None:
            return unary(self.word(atom.args[0], dtype))
        of = binary(self.words, dtype).get(name)
        if of is None:
            return self._unknown(atom, dtype)
        if name.startswith("whole "):  # of any number of arguments
            return reduce(of, [self.word(argument, dtype) for argument in atom.args])
        a, b = (self.word(argument, dtype) for argument in atom.args[:2])
        if name in _LARGE and not is_constant(b):
            way = name if is_signed(dtype) else name.removeprefix("floor_").removeprefix("trunc_")
            key = way, dtype, a, b
            return self._tried(key, lambda: of(a, b), lambda: self._variables(key, width))
        return of(a, b)

    def _unknown(self, atom: Atom, dtype: str) -> Word:
        return self._variables((atom.key, dtype), _width(dtype), atom.key in self.first)

    def _of_one(self, name: str, dtype: str) -> Callable[[Word], Word] | None:
        match name:
            case "bitwise_not":
                return self.words.inverted
            case "sign":
                return lambda a: self.words.sign(a, is_signed(dtype))
        return None

    def _converted(self, atom: Atom, name: str, dtype: str) -> Word | None:
        """A number that was converted from another known type; None from any other."""
        source, to = name.split()[1:3]
        if to != dtype or len(name.split()) != 3:
            raise Unread
        if source not in _BITS:
            return None
        inner = self.word(atom.args[0], source)
        if dtype == "bool":
            return (self.diagrams.negated(self.words.is_zero(inner)),)
        return self.words.extended(inner, _width(dtype), is_signed(source))

    # ── truth values ──

    def truth(self, atom: Atom) -> int:
        """A truth value that is a factor."""
        if atom.key not in self._truths:
            self._truths[atom.key] = (
                self.above_0(atom.args[0]) if atom.name == "positive" else self._atom(atom, "bool")[0]
            )
        return self._truths[atom.key]

    def above_0(self, x: Term) -> int:
        """True where a real number is above 0: a sum of numbers that whole numbers stand for, or any."""
        return self._by_truths(x, lambda rest: (self._sum_above_0(rest),))[0]

    def _sum_above_0(self, x: Term) -> int:
        numbers: list[tuple[Word, bool, int]] = []  # with sign?, coefficient
        times = lcm(*(c.denominator for c in x.parts.values()))
        offset = int(x.parts.get((), 0) * times)
        places = [(factors, int(c * times)) for factors, c in x.parts.items() if factors]
        atoms = [factors[0][0] for factors, _ in places]
        if any(len(f) > 1 or f[0][1] != 1 or f[0][0].name not in _ORDERS for f, _ in places):
            return self._variables((x.key, "above 0"), 1)[0]
        types = {self.type_of(atom.args[0]) for atom in atoms}
        known = sorted(types - {None}, key=str)
        for atom, (_, c) in zip(atoms, places):
            dtype = self.type_of(atom.args[0]) or (known[0] if len(known) == 1 else None)
            if dtype not in WIDTHS:
                return self._variables((x.key, "above 0"), 1)[0]
            numbers.append((self.word(atom.args[0], dtype), is_signed(dtype), c))
        most = abs(offset) + sum(abs(c) << len(word) for word, _, c in numbers)
        width = most.bit_length() + 2
        total = constant(offset, width)
        for word, signed, c in numbers:
            wide = self.words.extended(word, width, signed)
            total = self.words.sum(total, self.words.product(wide, constant(c, width)))
        return self.words.less(constant(0, width), total, True)

    # ── types ──

    def type_of(self, x: Term) -> str | None:
        """The element type of a term, None where it does not say: of a number."""
        for atom in sorted(x.atoms(), key=lambda atom: atom.key):
            found: str | None = None
            if atom.kind == "read":
                found = self.types.get(atom.name)
            elif atom.kind == "fn" and atom.name.startswith("cast ") and not _is_truth(atom):
                found = atom.name.split()[2]
            elif atom.kind == "fn" and not _is_truth(atom):
                name = _meaning(atom)
                if name in ("bitwise_not", "sign") or name in binary(self.words, "int8"):
                    found = next(filter(None, map(self.type_of, atom.args[:2])), None)
            if found is not None:
                return found
        return None


def _is_truth(atom: Atom) -> bool:
    """True if an atom is 1 or 0, also where it is a number that was converted."""
    return is_truth(atom) or atom.name.startswith("cast ") and atom.name.endswith(" bool")


_DIRECTIONS = {
    "('direction', 'LEFT')] [] []": "left_shift", "('direction', 'RIGHT')] [] []": "right_shift",
}  # fmt: skip


def _meaning(atom: Atom) -> str:
    """The name of a function in `words`, with its attributes taken into account."""
    name, _, attributes = atom.name.partition(" [")
    if name == "BitShift":
        return _DIRECTIONS.get(attributes, name)
    if name == "Mod" and len(atom.args) == 3:
        return {0: "floor_mod", 1: "trunc_mod"}.get(atom.args[2].constant, name)
    return name if attributes else _MEANT.get(name, name)


def _width(dtype: str) -> int:
    if dtype not in _BITS:
        raise Unread
    return _BITS[dtype]


def _inside(x: Term, shifts: bool) -> Iterator[Atom]:
    """The atoms that amounts of shifts are made of."""
    for atom in x.atoms():
        if shifts:
            yield atom
        for k, argument in enumerate(atom.args):
            if isinstance(argument, Term):
                yield from _inside(argument, shifts or k == 1 and atom.name.partition(" ")[0] in SHIFTS)


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Are two terms equal numbers of a type, wherever `bounds` are at least 0, or above it
    (`Choices.bounds`)? `types`: the element types of inputs, by their names, where they are known.
    """

    one: Term
    other: Term
    dtype: str
    types: Mapping[str, str | None]
    bounds: Sequence[tuple[Term, bool]]

    @property
    def key(self) -> object:
        """The same for equal problems."""
        bounds = tuple((bound.key, strict) for bound, strict in self.bounds)
        return self.one.key, self.other.key, self.dtype, tuple(sorted(self.types.items())), bounds


def agree(asked: Problem, most: int) -> tuple[bool, int]:
    """(True if the terms are equal; False: not found in at most so many steps, the steps taken)."""
    every = (asked.one, asked.other, *(bound for bound, _ in asked.bounds))
    most = min(most, _MOST_STEPS)
    terms = WordTerms(asked.types, every, most)
    differ, either = terms.diagrams.differ, terms.diagrams.either
    try:
        one, other = (terms.word(x, asked.dtype) for x in (asked.one, asked.other))
        different = reduce(either, terms.words.bitwise(differ, one, other), FALSE)
        return _never(terms, different, asked.bounds), most - terms.diagrams.left
    except (Unread, TooLarge):
        return False, most - max(terms.diagrams.left, 0)


def _never(terms: WordTerms, p: int, bounds: Sequence[tuple[Term, bool]]) -> bool:
    """True if a truth function is false wherever the bounds hold."""
    for bound, strict in bounds:
        if p != FALSE:
            holds = terms.above_0(bound if strict else -bound)
            p = terms.diagrams.both(p, holds if strict else terms.diagrams.negated(holds))
    return p == FALSE
