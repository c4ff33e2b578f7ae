"""Arithmetic on dimensions of which some are symbols: `p + s`, `2*s`, `b*s // b = s`, `Min(48, s)`.

A sum or product of symbols is a symbol too, named by its text in a normal form, so that equal dimensions are
equal symbols. Texts that exporters write (`past + sequence`) are read; any other name stands for itself.
Symbols are dimensions: integers, at least 0. Underneath, a dimension is a polynomial: products of atoms, each
with a factor. An atom is a name, or a function that no polynomial says (`Min`, `Max`, `Mod`, a quotient that
is rounded down).
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from math import gcd, prod
from typing import Final, Union

from gslang.dialect.tensor_type import UNKNOWN, Dimension, Symbol

Known = Union[int, Symbol]
Polynomial = dict[tuple[str, ...], int]
"""Factor by product of atoms, the atoms sorted; `()` is the constant's. No factor is 0."""

_LONGEST: Final = 200  # letters: longer texts are nobody's dimension, and would grow without end
_MOST_TERMS: Final = 12
_CACHED: Final = 1 << 14

_functions: dict[str, tuple[str, tuple[Known, ...]]] = {}  # atom → the function that it is, and of what
_polynomials: dict[str, Polynomial] = {}  # name of a symbol → what it says


def plus(a: Dimension, b: Dimension) -> Dimension:
    return _of_both(_plus, a, b)


def minus(a: Dimension, b: Dimension) -> Dimension:
    return _of_both(_minus, a, b)


def times(a: Dimension, b: Dimension) -> Dimension:
    if a.__class__ is int and a == 0 or b.__class__ is int and b == 0:
        return 0
    return _of_both(_times, a, b)


def product(dimensions: tuple[Dimension, ...]) -> Dimension:
    result: Dimension = 1
    for d in dimensions:
        result = times(result, d)
    return result


def over(a: Dimension, b: Dimension) -> Dimension:
    """The quotient, rounded down; unknown for a divisor that is not positive."""
    return _of_both(_over, a, b)


def remainder(a: Dimension, b: Dimension) -> Dimension:
    return _of_both(_remainder, a, b)


def least(a: Dimension, b: Dimension) -> Dimension:
    return _of_both(partial(_extreme, "Min"), a, b)


def most(a: Dimension, b: Dimension) -> Dimension:
    return _of_both(partial(_extreme, "Max"), a, b)


def is_at_least(a: Dimension, b: Dimension) -> bool | None:
    """True if `a >= b`; None if that is unknown."""
    if a is UNKNOWN or b is UNKNOWN:
        return None
    difference = _difference(a, b)  # type: ignore[arg-type]
    if _never_negative(difference):
        return True
    below = {term: -factor for term, factor in difference.items()}
    below[()] = below.get((), 0) - 1
    return False if _never_negative(below) else None


def normal(d: Dimension) -> Dimension:
    """The same dimension by its own name: `s + p` is `p + s`."""
    return _named(_polynomial(d)) if isinstance(d, Symbol) else d


def cut_at(part: Dimension, whole: Dimension) -> int | None:
    """The number c where `part` is `Min(c, whole)`; None if it is not."""
    if isinstance(part, Symbol):
        ((term, factor), *others) = _polynomial(part).items()
        if not others and factor == 1 and len(term) == 1 and term[0] in _functions:
            name, (a, b) = _functions[term[0]]
            if name == "Min" and isinstance(a, int) and b == whole:
                return a
    return None


def atoms(d: Dimension) -> Iterator[str]:
    """Names that occur in a dimension, those in functions too."""
    if isinstance(d, Symbol):
        for term in _polynomial(d):
            for atom in term:
                if atom in _functions:
                    for part in _functions[atom][1]:
                        yield from atoms(part)
                else:
                    yield atom


def solved(a: Dimension, b: Dimension, may_go: Callable[[str], bool]) -> tuple[str, Dimension] | None:
    """From `a = b`, an atom and what it is in terms of the others: a name for which `may_go`, or else a
    function, as of `Min(48, s) = s`; None if there is no such atom. A factor of both sides is not 0, as in
    `over`.
    """
    if a is UNKNOWN or b is UNKNOWN:
        return None
    difference = _reduced(_difference(a, b))  # type: ignore[arg-type]
    single = [
        (term[0], factor) for term, factor in difference.items() if len(term) == 1 and abs(factor) == 1
    ]
    for atom, factor in sorted(single, key=lambda found: found[0] in _functions):
        if atom not in _functions and not may_go(atom):
            continue
        rest = _named({other: -factor * f for other, f in difference.items() if other != (atom,)})
        if atom not in (str(rest) if atom in _functions else set(atoms(rest))):
            return atom, rest
    return None


def substituted(d: Known, value_of: Callable[[str], Dimension | None]) -> Dimension:
    """The dimension with what `value_of` says for its atoms, where that says something."""
    if not isinstance(d, Symbol):
        return d
    total: Dimension = 0
    for term, factor in _polynomial(d).items():
        result: Dimension = factor
        for atom in term:
            result = times(result, _substituted_atom(atom, value_of))
        total = plus(total, result)
    return total


def _substituted_atom(atom: str, value_of: Callable[[str], Dimension | None]) -> Dimension:
    value = value_of(atom)
    if value is None and atom in _functions:
        name, parts = _functions[atom]
        a, b = (substituted(part, value_of) for part in parts)
        return _CALLED[name](a, b)
    return Symbol(atom) if value is None else value


def _of_both(function: Callable[[Known, Known], Dimension], a: Dimension, b: Dimension) -> Dimension:
    if a is UNKNOWN or b is UNKNOWN:
        return UNKNOWN
    return function(a, b)  # type: ignore[arg-type]


@lru_cache(_CACHED)
def _plus(a: Known, b: Known) -> Dimension:
    return _named(_sum(_polynomial(a), _polynomial(b), 1))


@lru_cache(_CACHED)
def _minus(a: Known, b: Known) -> Dimension:
    return _named(_difference(a, b))


@lru_cache(_CACHED)
def _times(a: Known, b: Known) -> Dimension:
    result: Polynomial = {}
    for x, f in _polynomial(a).items():
        for y, g in _polynomial(b).items():
            term = tuple(sorted((*x, *y)))
            result[term] = result.get(term, 0) + f * g
    return _named({term: factor for term, factor in result.items() if factor})


@lru_cache(_CACHED)
def _over(a: Known, b: Known) -> Dimension:
    if isinstance(b, int) and b <= 0:
        return UNKNOWN
    if isinstance(a, int) and isinstance(b, int):
        return a // b
    exact = _divided(_polynomial(a), _polynomial(b))
    if exact is not None:
        return _named(exact)
    if isinstance(b, int):  # what b divides can be taken out: (2*s + 1)//2 = s + 1//2
        whole = {term: factor // b for term, factor in _polynomial(a).items() if factor % b == 0}
        rest = {term: factor for term, factor in _polynomial(a).items() if factor % b}
        if whole:
            return plus(_named(whole), over(_named(rest), b))
        if set(rest) == {()}:
            return rest[()] // b
    return _function("//", a, b)


@lru_cache(_CACHED)
def _remainder(a: Known, b: Known) -> Dimension:
    if isinstance(b, int) and b <= 0:
        return UNKNOWN
    if isinstance(a, int) and isinstance(b, int):
        return a % b
    return 0 if _divided(_polynomial(a), _polynomial(b)) is not None else _function("Mod", a, b)


@lru_cache(_CACHED)
def _extreme(which: str, a: Known, b: Known) -> Dimension:
    """The smaller (`Min`) or larger one (`Max`) of two dimensions."""
    if isinstance(a, int) and isinstance(b, int):
        return min(a, b) if which == "Min" else max(a, b)
    larger = is_at_least(a, b)
    if larger is None and not is_at_least(b, a):
        return _function(which, *_ordered(a, b))
    return a if bool(larger) == (which == "Max") else b


_CALLED: Final[dict[str, Callable[[Dimension, Dimension], Dimension]]] = {
    "//": over,
    "Mod": remainder,
    "Min": least,
    "Max": most,
}


def _ordered(a: Known, b: Known) -> tuple[Known, Known]:
    """Numbers first, then by name."""
    first, second = sorted((a, b), key=lambda d: (isinstance(d, Symbol), str(d)))
    return first, second


def _function(name: str, a: Known, b: Known) -> Dimension:
    text = f"({a})//({b})" if name == "//" else f"{name}({a}, {b})"
    if len(text) > _LONGEST:
        return UNKNOWN
    _functions.setdefault(text, (name, (a, b)))
    return _named({(text,): 1})


def _sum(a: Polynomial, b: Polynomial, sign: int) -> Polynomial:
    result = dict(a)
    for term, factor in b.items():
        result[term] = result.get(term, 0) + sign * factor
    return {term: factor for term, factor in result.items() if factor}


def _difference(a: Known, b: Known) -> Polynomial:
    return _sum(_polynomial(a), _polynomial(b), -1)


def _reduced(p: Polynomial) -> Polynomial:
    """Without the factors that all its terms have in common."""
    if not p:
        return p
    common = Counter(next(iter(p)))
    for term in p:
        common &= Counter(term)
    number = gcd(*p.values())
    return {tuple(sorted((Counter(term) - common).elements())): f // number for term, f in p.items()}


def _never_negative(p: Polynomial) -> bool:
    """True if it is certain, atoms being at least 0: no term is taken away."""
    return all([factor >= 0 for factor in p.values()])


def _divided(a: Polynomial, b: Polynomial) -> Polynomial | None:
    """The quotient, if a product of atoms divides every term; None otherwise."""
    if len(b) != 1:
        return {(): 1} if a == b else None
    ((divisor, number),) = b.items()
    result: Polynomial = {}
    for term, factor in a.items():
        rest = list(term)
        for atom in divisor:
            if atom not in rest:
                return None
            rest.remove(atom)
        if factor % number:
            return None
        result[tuple(rest)] = factor // number
    return result


def _named(p: Polynomial) -> Dimension:
    """The number or the symbol that a polynomial is."""
    if not p:
        return 0
    if len(p) == 1 and () in p:
        return p[()]
    if len(p) > _MOST_TERMS:
        return UNKNOWN
    text = ""
    for term in sorted(p, key=lambda term: (not term, term)):
        factor = p[term]
        size = abs(factor)
        shown = "*".join([*([str(size)] if size != 1 or not term else []), *term])
        text += (" + " if factor > 0 else " - ") + shown if text else shown if factor > 0 else f"-{shown}"
    if len(text) > _LONGEST:
        return UNKNOWN
    _polynomials.setdefault(text, p)
    return Symbol(text)


def _polynomial(d: Known) -> Polynomial:
    if isinstance(d, int):
        return {(): d} if d else {}
    known = _polynomials.get(d.name)
    if known is None:
        known = _polynomials[d.name] = _read(d.name)
    return known


def _read(name: str) -> Polynomial:
    """The parsed expression if a name is one, else the name as an atom."""
    alone: Polynomial = {(name,): 1}
    if name.isidentifier() or len(name) > _LONGEST:
        return alone
    try:
        found = _value(ast.parse(name, mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return alone
    return alone if found is UNKNOWN or not isinstance(found, Symbol) else _polynomial(found)


def _value(tree: object) -> Dimension:
    """Parse an expression. Raises `ValueError` if it is not understood."""
    match tree:
        case ast.Name(id=name):
            return Symbol(name)
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return minus(0, _value(operand))
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int(n))) if 1 <= n <= 4:
            return product((_value(left),) * n)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _READ:
            return _READ[type(op)](_value(left), _value(right))
        case ast.Call(
            func=ast.Name(id="floor"), args=[ast.BinOp(left=left, op=ast.Div(), right=right)], keywords=[]
        ):
            return over(_value(left), _value(right))
        case ast.Call(func=ast.Name(id="Min" | "Max" as name), args=[first, *others], keywords=[]):
            result = _value(first)
            for other in others:
                result = _CALLED[name](result, _value(other))
            return result
    raise ValueError("not understood")


_READ: Final[dict[type, Callable[[Dimension, Dimension], Dimension]]] = {
    ast.Add: plus, ast.Sub: minus, ast.Mult: times, ast.FloorDiv: over, ast.Mod: remainder,
}  # fmt: skip


def sizes(shape: tuple[Dimension, ...]) -> Dimension:
    """The number of elements of a tensor of this shape."""
    known = [d for d in shape if isinstance(d, int)]
    return times(prod(known), product(tuple([d for d in shape if not isinstance(d, int)])))
