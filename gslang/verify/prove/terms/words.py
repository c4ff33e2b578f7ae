"""Whole numbers of a fixed width as truth functions of bits, the lowest bit first: the arithmetic of integers
that wrap, as `gslang.evaluate` computes it.

A quotient by 0 is 0, and so is a remainder. A shift by the width or more, or by a negative number, leaves
nothing but the sign.
"""

from __future__ import annotations

from collections.abc import Callable

from gslang.verify.prove.terms.diagrams import FALSE, TRUE, Diagrams

Word = tuple[int, ...]
WIDTHS = {f"{sign}int{bits}": bits for sign in ("", "u") for bits in (8, 16, 32, 64)}
"""The bits of each type of whole numbers that is known here."""


def is_signed(dtype: str) -> bool:
    return dtype.startswith("int")


def constant(value: int, width: int) -> Word:
    """A number, which wraps."""
    return tuple([value >> k & 1 for k in range(width)])


_FEW = 3  # bits of which cases are made


def _unknown_bits(word: Word) -> set[int]:
    return {*word} - {FALSE, TRUE}


def is_constant(word: Word) -> bool:
    return not _unknown_bits(word)


class Words:
    """Operations on words of one width."""

    def __init__(self, diagrams: Diagrams) -> None:
        self.diagrams = diagrams

    def select(self, p: int, then: Word, otherwise: Word) -> Word:
        """`then` where p is true, else `otherwise`."""
        return tuple([self.diagrams.choose(p, a, b) for a, b in zip(then, otherwise, strict=True)])

    def bitwise(self, of: Callable[[int, int], int], a: Word, b: Word) -> Word:
        """A function of one bit of each."""
        return tuple([of(p, q) for p, q in zip(a, b, strict=True)])

    def inverted(self, a: Word) -> Word:
        """Each bit the other one."""
        return tuple([self.diagrams.negated(p) for p in a])

    # ── sums and products ──

    def sum(self, a: Word, b: Word, carry: int = FALSE) -> Word:
        """a + b, and one more where `carry` is true."""
        d, result = self.diagrams, []
        for p, q in zip(a, b, strict=True):
            one = d.differ(p, q)
            result.append(d.differ(one, carry))
            carry = d.choose(one, carry, p)
        return tuple(result)

    def difference(self, a: Word, b: Word) -> Word:
        """a − b."""
        return self.sum(a, self.inverted(b), TRUE)

    def negative(self, a: Word) -> Word:
        """−a."""
        return self.difference(constant(0, len(a)), a)

    def product(self, a: Word, b: Word) -> Word:
        """a · b, by the cases of the bits of one of them where these are few."""
        if len(_unknown_bits(a)) < len(_unknown_bits(b)):
            a, b = b, a
        if not 0 < len(_unknown_bits(b)) <= _FEW:
            return self._product(a, b)
        p = min(_unknown_bits(b))
        then, otherwise = (
            self.product(a, tuple([value if bit == p else bit for bit in b])) for value in (TRUE, FALSE)
        )
        return self.select(p, then, otherwise)

    def _product(self, a: Word, b: Word) -> Word:
        other = self.negative(b)
        if other.count(FALSE) > b.count(FALSE):  # −1 has many bits
            return self.negative(self._by_bits(a, other))
        return self._by_bits(a, b)

    def _by_bits(self, a: Word, b: Word) -> Word:
        result = zero = constant(0, len(a))
        for k, bit in enumerate(b):
            if bit != FALSE:
                result = self.sum(result, self.select(bit, (*zero[:k], *a[: len(a) - k]), zero))
        return result

    # ── order ──

    def is_zero(self, a: Word) -> int:
        """True where each bit is 0."""
        found = FALSE
        for bit in a:
            found = self.diagrams.either(found, bit)
        return self.diagrams.negated(found)

    def less(self, a: Word, b: Word, signed: bool) -> int:
        """True where a < b."""
        d, found = self.diagrams, FALSE
        if signed:
            a, b = (*a[:-1], b[-1]), (*b[:-1], a[-1])
        for p, q in zip(a, b, strict=True):
            found = d.choose(d.differ(p, q), q, found)
        return found

    def sign(self, a: Word, signed: bool) -> Word:
        """−1, 0 or 1."""
        one = constant(1, len(a))
        sign = self.select(self.is_zero(a), constant(0, len(a)), one)
        return self.select(a[-1], constant(-1, len(a)), sign) if signed else sign

    # ── shifts ──

    def left_shift(self, a: Word, by: Word) -> Word:
        """a · 2^by."""
        return self._shifted(a, by, FALSE, lambda word, n: (*(FALSE,) * n, *word[: len(word) - n]))

    def right_shift(self, a: Word, by: Word, signed: bool) -> Word:
        """⌊a / 2^by⌋."""
        fill = a[-1] if signed else FALSE
        return self._shifted(a, by, fill, lambda word, n: (*word[n:], *(fill,) * n))

    def _shifted(self, a: Word, by: Word, fill: int, shift: Callable[[Word, int], Word]) -> Word:
        steps = (len(a) - 1).bit_length()
        for k, bit in enumerate(by[:steps]):
            a = self.select(bit, shift(a, 1 << k), a)
        return self.select(self.is_zero(by[steps:]), a, (fill,) * len(a))

    # ── division ──

    def quotient(self, a: Word, b: Word, signed: bool, floor: bool) -> Word:
        """a / b, rounded down or towards 0."""
        quotient, rest, _ = self._divided(a, b, signed)
        if signed and not floor:
            up = self.diagrams.both(quotient[-1], self.diagrams.negated(self.is_zero(rest)))
            quotient = self.sum(quotient, constant(0, len(quotient)), up)
        return self.select(self.is_zero(b), constant(0, len(a)), quotient[: len(a)])

    def remainder(self, a: Word, b: Word, signed: bool, floor: bool) -> Word:
        """The rest of a / b: with the sign of b (`floor`) or that of a."""
        quotient, rest, by = self._divided(a, b, signed)
        if signed and not floor:
            up = self.diagrams.both(quotient[-1], self.diagrams.negated(self.is_zero(rest)))
            rest = self.select(up, self.difference(rest, by), rest)
        if signed:
            rest = self.select(b[-1], self.negative(rest), rest)
        return self.select(self.is_zero(b), constant(0, len(a)), rest[: len(a)])

    def _divided(self, a: Word, b: Word, signed: bool) -> tuple[Word, Word, Word]:
        """⌊a / |b|⌋, what is left, and |b|: of −a where b is below 0. One bit wider, as −a may be."""
        wide = len(a) + 1
        a, b = self.extended(a, wide, signed), self.extended(b, wide, signed)
        a, b = self.select(b[-1], self.negative(a), a), self.select(b[-1], self.negative(b), b)
        # −1 is −1 times b, and b − 1 is left
        quotient = [a[-1]]
        rest = self.select(a[-1], self.sum(b, constant(-1, wide)), constant(0, wide))
        for bit in reversed(a[:-1]):
            rest = (bit, *rest)
            fits = self.diagrams.negated(self.less(rest, (*b, FALSE), False))
            rest = self.select(fits, self.difference(rest, (*b, FALSE)), rest)[:-1]
            quotient.append(fits)
        return tuple(reversed(quotient)), rest, b

    # ── other widths ──

    def extended(self, a: Word, width: int, signed: bool) -> Word:
        """The same number in another width; its lowest bits in a smaller one."""
        fill = a[-1] if signed else FALSE
        return (*a[:width], *(fill,) * (width - len(a)))


def binary(words: Words, dtype: str) -> dict[str, Callable[[Word, Word], Word]]:
    """Functions of two whole numbers of a type, by the names that the prover has for them."""
    d, signed = words.diagrams, is_signed(dtype)

    def larger(a: Word, b: Word) -> Word:
        return words.select(words.less(a, b, signed), b, a)

    def smaller(a: Word, b: Word) -> Word:
        return words.select(words.less(a, b, signed), a, b)

    return {
        "bitwise_and": lambda a, b: words.bitwise(d.both, a, b),
        "bitwise_or": lambda a, b: words.bitwise(d.either, a, b),
        "bitwise_xor": lambda a, b: words.bitwise(d.differ, a, b),
        "left_shift": words.left_shift,
        "right_shift": lambda a, b: words.right_shift(a, b, signed),
        "trunc_divide": lambda a, b: words.quotient(a, b, signed, False),
        "floor_divide": lambda a, b: words.quotient(a, b, signed, True),
        "trunc_mod": lambda a, b: words.remainder(a, b, signed, False),
        "floor_mod": lambda a, b: words.remainder(a, b, signed, True),
        "whole maximum": larger,
        "whole minimum": smaller,
    }
