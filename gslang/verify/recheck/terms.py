"""Terms of certificates: sums of products of factors, with rational coefficients, as plain tuples.

A size is a tuple of (whole coefficient, sorted names). A term is a tuple of (coefficient, factors), factors a tuple of (atom, exponent). Atoms:

    ("read", input, size, …)   ("num", size)    ("guard", size): 1 where it is at least 0, else 0
    ("fn", name, term, …)      ("group", term)  ("total", kind, ((position, size), …), body)

Both are kept sorted, so that equal polynomials over the same atoms are equal tuples. In JSON, tuples are lists and coefficients texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import permutations
from math import factorial
from typing import Any

Size = tuple[tuple[int, tuple[str, ...]], ...]
Atom = tuple[Any, ...]
Factors = tuple[tuple[Atom, int], ...]
Term = tuple[tuple[Fraction, Factors], ...]

_MOST_ORDERS = 720


class Malformed(ValueError):
    """A certificate contains an object that is not a term."""


def made(parts: Iterable[tuple[Fraction, Factors]]) -> Term:
    """The sum of products, like ones together."""
    found: dict[Factors, Fraction] = {}
    for c, factors in parts:
        found[factors] = found.get(factors, Fraction(0)) + c
    return tuple(sorted(((c, factors) for factors, c in found.items() if c), key=lambda part: (repr(part[1]), part[0])))


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
    """The product. A sum's inverse times the sum is 1 as soon as their exponents add up to 0; a positive power of it is multiplied out."""
    result: list[tuple[Fraction, Factors]] = []
    for c, f in a:
        for d, g in b:
            exponents: dict[Atom, int] = dict(f)
            for atom, exponent in g:
                exponents[atom] = exponents.get(atom, 0) + exponent
            kept = {atom: 1 if atom[0] == "guard" else e for atom, e in exponents.items() if e}
            opened = [(atom, e) for atom, e in kept.items() if atom[0] == "group" and e > 0]
            plain = tuple(sorted(((atom, e) for atom, e in kept.items() if (atom, e) not in opened), key=repr))
            product: Term = ((c * d, plain),)
            for atom, exponent in opened:
                product = multiply(product, power(atom[1], exponent))
            result += product
    return made(result)


def power(term: Term, exponent: int) -> Term:
    """To a whole power."""
    result = constant(1)
    for _ in range(abs(exponent)):
        result = multiply(result, term)
    return result if exponent >= 0 else inverse(result) if len(term) == 1 else _group_power(term, exponent)


def _group_power(term: Term, exponent: int) -> Term:
    one = inverse(term)
    result = constant(1)
    for _ in range(-exponent):
        result = multiply(result, one)
    return result


def inverse(term: Term) -> Term:
    """1 / term; of a sum as an atom, whose first coefficient is 1."""
    if not term:
        return function("1/0")
    if len(term) == 1 and not any(atom[0] == "guard" for atom, _ in term[0][1]):
        (c, factors) = term[0]
        return multiply(made([(1 / c, tuple((atom, -e) for atom, e in factors))]), constant(1))
    first = term[0][0]
    return ((1 / first, ((("group", scaled(term, 1 / first)), -1),)),)


# ── rewriting ──


def rebuilt(term: Term, change: Callable[[Atom], Term]) -> Term:
    """The term with every factor replaced."""
    result: list[Term] = []
    for c, factors in term:
        product = constant(c)
        for atom, exponent in factors:
            product = multiply(product, power(change(atom), exponent))
        result.append(product)
    return add(*result)


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
    """Each product of a term that has `product` as a part, with that part replaced, in all terms inside, too."""
    result: list[Term] = []
    for c, factors in rebuilt(term, lambda atom: inside(atom, lambda inner: replaced(inner, product, by))):
        left = dict(factors)
        rest: Term = ((c, ()),)
        for _ in range(8):
            if not product or not _divides(product, left):
                break
            for atom, exponent in product:
                left[atom] -= exponent
            rest = multiply(rest, by)
        own = made([(Fraction(1), tuple(sorted(((atom, e) for atom, e in left.items() if e), key=repr)))])
        result.append(multiply(rest, own))
    return add(*result)


def _divides(product: Factors, factors: Mapping[Atom, int]) -> bool:
    return all(0 < exponent <= factors.get(atom, 0) or factors.get(atom, 0) <= exponent < 0 for atom, exponent in product)


def place_of(term: Term, product: Factors) -> list[int] | None:
    """Where a product first stands: summand, factor, argument, summand, …; None if it does not."""
    for k, (_, factors) in enumerate(term):
        if _divides(product, dict(factors)):
            return [k]
        for j, (atom, _) in enumerate(factors):
            for i, inner in enumerate(_terms_in(atom)):
                found = place_of(inner, product)
                if found is not None:
                    return [k, j, i, *found]
    return None


def stands_at(term: Term, product: Factors, place: list[int]) -> bool:
    """True if there is a product at a position."""
    try:
        while len(place) > 1:
            term = list(_terms_in(term[place[0]][1][place[1]][0]))[place[2]]
            place = place[3:]
        return _divides(product, dict(term[place[0]][1]))
    except (IndexError, TypeError):
        return False


def _terms_in(atom: Atom) -> Iterator[Term]:
    match atom:
        case ("fn", _, *arguments):
            yield from arguments
        case ("group", term) | ("total", _, _, term):
            yield term


# ── names of positions that sums run over ──


def renamed(term: Term, names: Mapping[str, str]) -> Term:
    """Positions under other names."""

    def change(atom: Atom) -> Term:
        match atom:
            case ("read", name, *index):
                return of_atom(("read", name, *[_size_renamed(size, names) for size in index]))
            case ("num" | "guard" as kind, size):
                return of_atom((kind, _size_renamed(size, names)))
            case ("total", kind, variables, body):
                own = tuple((names.get(name, name), _size_renamed(size, names)) for name, size in variables)
                return of_atom(("total", kind, own, renamed(body, names)))
        return inside(atom, lambda inner: renamed(inner, names))

    return rebuilt(term, change)


def _size_renamed(size: Size, names: Mapping[str, str]) -> Size:
    return tuple(sorted((c, tuple(sorted(names.get(name, name) for name in product))) for c, product in size))


def canonical(term: Term, depth: int = 0) -> Term:
    """The same term whatever its sums call their positions: the numbering with the least text."""

    def change(atom: Atom) -> Term:
        match atom:
            case ("total", kind, variables, body):
                if factorial(len(variables)) > _MOST_ORDERS:
                    return of_atom(atom)
                numbered = []
                for order in permutations(variables):
                    names = {name: f"@{depth}.{k}" for k, (name, _) in enumerate(order)}
                    inner = canonical(renamed(body, names), depth + 1)
                    numbered.append(("total", kind, tuple((names[name], size) for name, size in order), inner))
                return of_atom(min(numbered, key=repr))
        return inside(atom, lambda inner: canonical(inner, depth))

    return rebuilt(term, change)


# ── JSON ──


def as_json(value: Any) -> Any:
    """A term or a part of one as lists and texts."""
    if isinstance(value, Fraction):
        return str(value)
    return [as_json(item) for item in value] if isinstance(value, tuple) else value


def size_from(value: Any) -> Size:
    """A size out of JSON. Raises `Malformed`."""
    if not isinstance(value, list) or not all(
        isinstance(part, list) and len(part) == 2 and type(part[0]) is int and isinstance(part[1], list) and all(isinstance(n, str) for n in part[1])
        for part in value
    ):  # fmt: skip
        raise Malformed(f"{value!r} is no size")
    return tuple(sorted((c, tuple(sorted(names))) for c, names in value))


def term_from(value: Any) -> Term:
    """A term out of JSON. Raises `Malformed`."""
    try:
        return made((Fraction(c), tuple(sorted(((_atom_from(atom), _exponent(e)) for atom, e in factors), key=repr))) for c, factors in value)
    except (TypeError, ValueError, ZeroDivisionError) as error:
        raise error if isinstance(error, Malformed) else Malformed(f"no term: {error}") from error


def _exponent(value: Any) -> int:
    if type(value) is not int or value == 0:
        raise Malformed(f"{value!r} is no exponent")
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
        case ["total", str(kind), [*variables], body] if variables and all(isinstance(v, list) and len(v) == 2 and isinstance(v[0], str) for v in variables):
            return ("total", kind, tuple((name, size_from(size)) for name, size in variables), term_from(body))
    raise Malformed(f"{value!r} is no factor")
