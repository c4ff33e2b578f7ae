"""Terms of certificates: sums of products of factors, with rational coefficients, as plain tuples.

A size is a tuple of (whole coefficient, sorted names). A term is a tuple of (coefficient, factors), factors a
tuple of (atom, exponent). Atoms:

    ("read", input, size, …)   ("num", size)    ("guard", size): 1 where it is at least 0, else 0
    ("fn", name, term, …)      ("group", term)  ("total", kind, ((position, size), …), body)

Both are kept sorted, so that equal polynomials over the same atoms are equal tuples. In JSON, tuples are
lists and coefficients texts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from hashlib import sha256
from typing import Any

from gslang.base.open_types import JsonObject

Size = tuple[tuple[int, tuple[str, ...]], ...]
Atom = tuple[Any, ...]
Factors = tuple[tuple[Atom, int], ...]
Term = tuple[tuple[Fraction, Factors], ...]


class Refused(Exception):
    """A certificate is wrong. The message tells where and why."""


def made(parts: Iterable[tuple[Fraction, Factors]]) -> Term:
    """The sum of products, like ones together."""
    found: dict[Factors, Fraction] = {}
    for c, factors in parts:
        found[factors] = found.get(factors, Fraction(0)) + c
    return tuple(
        sorted(((c, factors) for factors, c in found.items() if c), key=lambda part: (repr(part[1]), part[0]))
    )


def constant(value: Fraction | int) -> Term:
    """A number."""
    return made([(Fraction(value), ())])


def of_atom(atom: Atom) -> Term:
    """An atom as a term."""
    return ((Fraction(1), ((atom, 1),)),)


def function(name: str, *arguments: Term) -> Term:
    """A function's value."""
    return of_atom(("fn", name, *arguments))


def add(*terms: Term) -> Term:
    """The sum."""
    return made(part for term in terms for part in term)


def scaled(term: Term, factor: Fraction | int) -> Term:
    """Times a number."""
    return made((c * factor, factors) for c, factors in term)


def multiply(a: Term, b: Term) -> Term:
    """The product.

    A sum's inverse times the sum is 1 as soon as their exponents add up to 0; a positive power of it is
    multiplied out.
    """
    result: list[tuple[Fraction, Factors]] = []
    for c, f in a:
        for d, g in b:
            exponents: dict[Atom, int] = dict(f)
            for atom, exponent in g:
                exponents[atom] = exponents.get(atom, 0) + exponent
            kept = {atom: 1 if is_truth(atom) else e for atom, e in exponents.items() if e}
            opened = [(atom, e) for atom, e in kept.items() if atom[0] == "group" and e > 0]
            plain = tuple(
                sorted(((atom, e) for atom, e in kept.items() if (atom, e) not in opened), key=repr)
            )
            product: Term = ((c * d, plain),)
            for atom, exponent in opened:
                product = multiply(product, power(atom[1], exponent))
            result += product
    return made(result)


def is_truth(atom: Atom) -> bool:
    """True if an atom is 1 or 0: its powers are itself."""
    return atom[0] == "guard" or atom[:2] in (("fn", "positive"), ("fn", "truth"))


def power(term: Term, exponent: int) -> Term:
    """To a whole power."""
    base, result = inverse(term) if exponent < 0 else term, constant(1)
    for _ in range(abs(exponent)):
        result = multiply(result, base)
    return result


def inverse(term: Term) -> Term:
    """1 / term; of a sum as an atom, whose first coefficient is 1."""
    if not term:
        return function("1/0")
    if len(term) == 1 and not any(is_truth(atom) for atom, _ in term[0][1]):
        (c, factors) = term[0]
        return multiply(made([(1 / c, tuple((atom, -e) for atom, e in factors))]), constant(1))
    first = term[0][0]
    return ((1 / first, ((("group", scaled(term, 1 / first)), -1),)),)


def rebuilt(term: Term, change: Callable[[Atom], Term]) -> Term:
    """The term with every factor replaced; the same object, in parts too, where none becomes another one."""
    result: list[Term] = []
    for part in term:
        new = [(change(atom), atom, exponent) for atom, exponent in part[1]]
        product: Term = (part,)
        if any(by != of_atom(atom) for by, atom, _ in new):
            product = constant(part[0])
            for by, _, exponent in new:
                product = multiply(product, power(by, exponent))
        result.append(product)
    return term if all(new[:1] == (part,) for new, part in zip(result, term)) else add(*result)


def inside(atom: Atom, change: Callable[[Term], Term]) -> Term:
    """The atom with `change` applied to the terms in it."""
    match atom:
        case ("fn", name, *arguments):
            return function(name, *map(change, arguments))
        case ("group", term):
            return change(term)
        case ("total", kind, variables, body):
            return of_atom(("total", kind, variables, change(body)))
    return of_atom(atom)


def replaced(term: Term, product: Factors, by: Term) -> Term:
    """Each product of a term that has `product` as a part, with that part replaced, in all terms inside, too.
    """
    term = rebuilt(term, lambda atom: inside(atom, lambda inner: replaced(inner, product, by)))
    if not product or not any(divides(product, factors) for _, factors in term):
        return term
    result: list[Term] = []
    for c, factors in term:
        rest: Term = ((c, ()),)
        while divides(product, factors):
            left = dict(factors)
            for atom, exponent in product:
                left[atom] -= exponent
            factors = tuple((atom, e) for atom, e in left.items() if e)
            rest = multiply(rest, by)
        result.append(multiply(rest, ((Fraction(1), factors),)))
    return add(*result)


def divides(product: Factors, factors: Factors) -> bool:
    """True if a product is a part of another one."""
    return all(
        any(atom == other and (0 < exponent <= e or e <= exponent < 0) for other, e in factors)
        for atom, exponent in product
    )


def stands_at(term: Term, product: Factors, place: list[int]) -> bool:
    """True if there is a product at a position."""
    try:
        while len(place) > 1 and min(place) >= 0:
            term = list(terms_in(term[place[0]][1][place[1]][0]))[place[2]]
            place = place[3:]
        return len(place) == 1 and place[0] >= 0 and divides(product, term[place[0]][1])
    except (IndexError, TypeError):
        return False


def terms_in(atom: Atom) -> Iterator[Term]:
    """The terms of which an atom is made."""
    match atom:
        case ("fn", _, *arguments):
            yield from arguments
        case ("group", term) | ("total", _, _, term):
            yield term


def names_in(value: object) -> frozenset[str]:
    """All names that occur in a term or a part of one."""
    inner = frozenset[str]().union(*map(names_in, value)) if isinstance(value, tuple) else frozenset[str]()
    return frozenset((value,)) if isinstance(value, str) else inner


def digest_of(document: JsonObject) -> str:
    """The SHA-256 of a certificate without its own."""
    content = {name: value for name, value in document.items() if name != "sha256"}
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()


def size_from(value: Any) -> Size:
    """A size out of JSON. Raises `Refused`."""
    if all(type(c) is int and all(isinstance(name, str) for name in names) for c, names in value):
        return tuple(sorted((c, tuple(sorted(names))) for c, names in value))
    raise Refused(f"{value!r} is not a size")


def term_from(value: Any) -> Term:
    """A term out of JSON. Raises `Refused`."""
    try:
        return made(
            (Fraction(c), tuple(sorted(((_atom_from(atom), _exponent(e)) for atom, e in factors), key=repr)))
            for c, factors in value
        )
    except (TypeError, ValueError, ZeroDivisionError) as error:
        raise Refused(f"invalid term: {error}") from error


def _exponent(value: object) -> int:
    if type(value) is not int or not 0 < abs(value) <= 64:
        raise Refused(f"{value!r} is not an exponent")
    return value


def _atom_from(value: Any) -> Atom:
    match value:
        case ["read", str(name), *index]:
            return ("read", name, *map(size_from, index))
        case ["num" | "guard" as kind, size]:
            return (kind, size_from(size))
        case ["fn", str(name), *arguments]:
            return ("fn", name, *map(term_from, arguments))
        case ["group", term]:
            return ("group", term_from(term))
        case ["total", str(kind), [*variables], body] if variables:
            return (
                "total", kind, tuple((str(name), size_from(size)) for name, size in variables),
                term_from(body),
            )
    raise Refused(f"{value!r} is not a factor")
