"""Elements of whole numbers of known types in a case, compared bit by bit (`word_terms`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gslang.verify.partial import DIVISIONS, SHIFTS
from gslang.verify.prove.operators.tensors import World
from gslang.verify.prove.operators.truths import order, positive, unequal
from gslang.verify.prove.terms.dtypes import REAL, TRUTH, WHOLE, Dtype, numbers_named, settled
from gslang.verify.prove.terms.paths import Budget
from gslang.verify.prove.terms.terms import ONE, ZERO, Atom, Term, number, of_atom, read, rebuilt, unknown
from gslang.verify.prove.terms.totals import up_to_date
from gslang.verify.prove.terms.uses import use
from gslang.verify.prove.terms.word_terms import Problem, agree
from gslang.verify.prove.terms.words import WIDTHS, is_signed

_IN_EVERY = 127  # the largest number of the narrowest type
_STEPS = 15  # of diagrams, that take as long as one of a proof


def may_be_partial(name: str) -> bool:
    """True if an element-wise function is not defined for all whole numbers."""
    return name.partition(" ")[0] in DIVISIONS | SHIFTS


def is_partial(name: str, dtype: str | Dtype) -> bool:
    """True if it is one of whole numbers here."""
    return may_be_partial(name) and settled(dtype) == WHOLE


def asked_of_right(name: str, right: Term, dtype: str | Dtype) -> Term:
    """Where the second argument of an element-wise function of whole numbers is valid: a divisor is not 0,
    and a shift moves by less than the width of the type.
    """
    return _is_not_0(right) if name.partition(" ")[0] in DIVISIONS else _is_shift(right, _name(dtype))


def asked_of_both(left: Term, right: Term, dtype: str | Dtype) -> Term:
    """Where a quotient is a number of the type: the least one is not divided by -1."""
    return _is_not_beyond(left, right, _name(dtype))


def is_always_valid(name: str, right: Term | None) -> bool:
    """True of a number by which numbers of all types are divided or shifted."""
    by = None if right is None else right.constant
    if by is None:
        return False
    return by not in (0, -1) if name.partition(" ")[0] in DIVISIONS else 0 <= by < min(WIDTHS.values())


def _is_not_0(x: Term) -> Term:
    if x.constant is not None and x.constant != 0:
        return ONE
    return unequal(order(x), ZERO)


def _is_not_beyond(a: Term, b: Term, dtype: str | None) -> Term:
    """1 where the quotient of two numbers of a type is one of its numbers: not where the least one is divided
    by -1."""
    if dtype is not None and not is_signed(dtype) or b.constant is not None and b.constant != -1:
        return ONE
    if dtype not in WIDTHS:
        return ONE if a.constant is not None and abs(a.constant) <= _IN_EVERY else unknown("divides", a, b)
    least = number(-1 << WIDTHS[dtype] - 1)
    above, other = positive(order(a) - least), unequal(order(b), number(-1))
    return above + other - above * other


def _is_shift(x: Term, dtype: str | None) -> Term:
    """1 where a whole number of a type may be the amount of a shift."""
    least = WIDTHS.get(dtype or "", min(WIDTHS.values()))
    if x.constant is not None and 0 <= x.constant < least:
        return ONE
    if dtype not in WIDTHS:
        return unknown("moves", x)
    return positive(order(x) + ONE) * positive(number(least) - order(x))


def same_words(
    world: World, a: Term, b: Term, dtype: str | Dtype, more: Sequence[tuple[Term, bool]] = ()
) -> bool:
    """True if two elements of a type are equal numbers, whatever the elements that they are made of are, as
    far as the bounds of the case, and `more`, hold; an open type may be any of whole numbers.

    In cases that differ in nothing but positions, this is asked once.
    """
    facts = world.facts
    one, other = up_to_date(a, facts), up_to_date(b, facts)
    bounds = (*facts.choices.bounds, *more)
    leaves = {atom.name for x in (one, other, *(x for x, _ in bounds)) for atom in elements_read(x)}
    types = {leaf: world.types[leaf] for leaf in sorted(leaves & world.types.keys())}
    all_types = (dtype, *types.values())
    open_types = {d.root().number: d.root() for d in all_types if isinstance(d, Dtype) and not d.root().name}
    if len(open_types) > 1:
        return False
    names = [_names_of(root) for root in open_types.values()] or [("",)]
    for name in names[0]:
        known = {leaf: _name(found) or name for leaf, found in types.items()}
        numbered = _Numbered(known, {str(number): name for number in open_types})
        problem = Problem(
            numbered.term(one), numbered.term(other), _name(dtype) or name, numbered.types,
            [(numbered.term(x), strict) for x, strict in bounds],
        )
        if not _are_equal(problem, facts.choices.budget):
            return False
    if open_types and names[0]:
        world.notes.add("integers of 8, 16, 32 or 64 bits")
    return bool(names[0])


def _are_equal(problem: Problem, budget: Budget) -> bool:
    if problem.key not in budget.compared:
        budget.compared[problem.key], steps = agree(problem, budget.left * _STEPS)
        budget.spend(steps // _STEPS)
    if budget.compared[problem.key]:
        use("whole numbers bit by bit")
    return budget.compared[problem.key]


def _name(dtype: str | Dtype) -> str | None:
    return dtype.root().name if isinstance(dtype, Dtype) else dtype


def _names_of(root: Dtype) -> tuple[str, ...]:
    """The names that an open type may have; none where it may hold real numbers."""
    kinds = root.kinds if root.numbers is None else {root.numbers}
    if REAL in kinds:
        return ()
    names = (*(WIDTHS if WHOLE in kinds else ()), *(("bool",) if TRUTH in kinds else ()))
    if root.among is None:
        return names
    return tuple(name for name in sorted(root.among) if numbers_named(name) in kinds)


def elements_read(x: Term) -> Iterator[Atom]:
    """The elements of inputs in a term."""
    for atom in x.atoms():
        if atom.kind == "read":
            yield atom
        elif atom.kind == "fn":
            for argument in atom.args:
                yield from elements_read(argument)


class _Numbered:
    """Terms whose elements of inputs have numbers for positions. `types`: the names of their element types,
    which are `known` by inputs; `numbers`: open types → their names.
    """

    def __init__(self, known: Mapping[str, str], numbers: Mapping[str, str]) -> None:
        self.known, self.numbers = known, numbers
        self.types: dict[str, str | None] = {}
        self._elements: dict[str, Term] = {}

    def term(self, x: Term) -> Term:
        """The same term of numbered elements."""
        return rebuilt(x, self._atom)

    def _atom(self, atom: Atom) -> Term:
        if atom.kind == "read":
            if atom.key not in self._elements:
                name = f"{atom.name}#{len(self._elements)}"
                self._elements[atom.key] = read(name, ())
                self.types[name] = self.known.get(atom.name)
            return self._elements[atom.key]
        if atom.kind != "fn":
            return of_atom(atom)
        name = atom.name
        if name.startswith("cast "):
            name = " ".join(self.numbers.get(word, word) for word in name.split(" "))
        return unknown(name, *map(self.term, atom.args))
