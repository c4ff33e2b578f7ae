"""Terms over operators, smallest first, and equations between them.

Only normal forms are made into larger terms: a term that a known equation leads to a smaller one is left out
unseen (ordered rewriting; Knuth and Bendix 1970), one that computes the same as an earlier one at all sizes
is a new equation with it. So the equations found are few, and all others follow from them. Of the largest
terms, only one of those that differ in names is looked at (`renamings`). What is found is conjecture until it
is verified.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import product
from typing import Any

import numpy as np

from gslang.base.quick_dataclass import dataclass
from gslang.dialect.dialect import Dialect
from gslang.dialect.tensor_type import Type
from gslang.discover.evaluator import LARGEST, Evaluator, fingerprint, input_value
from gslang.discover.formers import SIZES, Former
from gslang.discover.renamings import Renamed, classes_of, is_first, renamings, swaps
from gslang.discover.terms import CODE, Key, Laws, Tree, key_of, replaced, variables
from gslang.evaluate.errors import EvaluationError

_WHOLE = 2  # operators, up to which terms are looked at under all names
_POINTS = 5  # values of inputs on which an equation has to hold, at each size


@dataclass(frozen=True, slots=True)
class Equation:
    """`left` is the larger term. `types`: of the variables that occur, at each of the sizes."""

    left: Tree
    right: Tree


@dataclass(slots=True)
class Found:
    """`counts`: how many terms were looked at, computed and kept, per size."""

    equations: list[Equation] = field(default_factory=list)
    counts: list[tuple[int, int, int]] = field(default_factory=list)


@dataclass(slots=True)
class _Term:
    tree: Tree
    key: Key
    types: tuple[Type, ...]
    values: tuple[Any, ...]


def enumerate_terms(
    formers: Sequence[Former],
    inputs: Sequence[tuple[Type, ...]],
    dialect: Dialect,
    size: int,
    done: Callable[[int, Found], None] = lambda size, found: None,
) -> Found:  # fmt: skip
    """Equations between terms of up to `size` operators over variables of the given types.

    `done` is called after each size.
    """
    search = _Search(formers, inputs, dialect)
    for k in range(1, size + 1):
        search.level(k, k == size)
        done(k, search.found)
    return search.found


class _Search:
    def __init__(
        self,
        formers: Sequence[Former],
        inputs: Sequence[tuple[Type, ...]],
        dialect: Dialect,
    ) -> None:
        self.formers, self.inputs = formers, inputs
        self.evaluator = Evaluator(formers, dialect)
        self.found = Found()
        self.terms: list[_Term] = []
        self.by_size: list[dict[tuple[Type, ...], list[int]]] = [{}]
        self.prints: dict[bytes, int] = {}
        self.laws = Laws(formers)
        self.types: dict[Tree, tuple[Type | None, ...]] = dict(enumerate(inputs))
        self.classes = classes_of(inputs)
        self.values = [input_value(number, 0, types[0]) for number, types in enumerate(inputs)]
        self.diagonal: dict[Tree, Any] = {}
        self.renamed: Renamed[Tree] = Renamed(self._print_of)
        for number, types in enumerate(inputs):
            values = tuple(input_value(number, at, type_) for at, type_ in enumerate(types))
            self._keep(_Term(number, (0, (number,)), types, values), fingerprint(values))

    def level(self, size: int, last: bool) -> None:
        several = size <= _WHOLE or not last
        calls = sorted(call for call in self._calls(size) if several or is_first(call[0][1], self.classes))
        self.by_size.append({})
        computed = kept = 0
        with np.errstate(all="ignore"):
            for key, former, operands in calls:
                tree = (former, *[self.terms[o].tree for o in operands])
                if self._reducible(tree, key):
                    continue
                computed += 1
                kept += self._look_at(former, operands, tree, key, last, several)
        self.found.counts.append((len(calls), computed, kept))

    def _calls(self, size: int) -> Iterator[tuple[Key, int, tuple[int, ...]]]:
        """All calls of a size whose operands are normal forms and fit."""
        terms = self.terms
        for number, former in enumerate(self.formers):
            for sizes in _splits(size - 1, former.arity):
                for types in product(*(self.by_size[s] for s in sizes)):
                    if any(
                        self.evaluator.type_of(number, at, tuple(t[at] for t in types)) is None
                        for at in range(len(SIZES))
                    ):
                        continue
                    for operands in product(*(self.by_size[s][t] for s, t in zip(sizes, types))):
                        keys = [terms[o].key for o in operands]
                        if former.commutative and keys[0] > keys[1]:
                            continue
                        code = (CODE + number, *[c for key in keys for c in key[1]])
                        yield (size, code), number, operands

    def _look_at(
        self, former: int, operands: tuple[int, ...], tree: Tree, key: Key, last: bool, several: bool
    ) -> bool:
        """Compute a term; whether it is new. One that computes what an earlier one does is an equation."""
        given = [self.terms[o] for o in operands]
        values, types = [], []
        for at in range(len(SIZES)):
            own = tuple([term.types[at] for term in given])
            type_ = self.evaluator.type_of(former, at, own)
            assert type_ is not None
            try:
                value = self.evaluator.compute(former, at, own, [term.values[at] for term in given])
            except EvaluationError:
                return False
            if not np.isfinite(value).all() or value.size and np.abs(value).max() > LARGEST:
                return False
            values.append(value)
            types.append(type_)
        print_ = fingerprint(values)
        earlier = self.prints.get(print_)
        if earlier is not None:
            self._equal(tree, self.terms[earlier].tree)
            return False
        if not several and self._equal_renamed(tree, values[0]):
            return False
        self._keep(_Term(tree, key, tuple(types), () if last else tuple(values)), print_)
        return True

    def _equal(self, left: Tree, right: Tree) -> bool:
        """Note an equation, if it is one; the left side is the larger one then."""
        if key_of(left, self.formers) < key_of(right, self.formers):
            left, right = right, left
        equation = Equation(left, right)
        if not self._confirmed(equation):
            return False
        self.found.equations.append(equation)
        self._add_law(equation)
        return True

    def _equal_renamed(self, tree: Tree, value: object) -> bool:
        """True if a term computes what another one does under other names. One that does so itself says that
        it is symmetric: that is noted."""
        own, print_ = variables(tree), fingerprint([value])
        key = key_of(tree, self.formers)
        for swap in swaps(own, self.classes):
            other = replaced(tree, dict(swap))
            if (
                key_of(other, self.formers) != key
                and self._print_of(tree, swap) == print_
                and not self._follows(other)
            ):
                self._equal(tree, other)
        diagonal = self._diagonal(tree)
        if diagonal is None:
            return False
        same = fingerprint([diagonal])
        found = self.renamed.equal(same, print_, lambda term: renamings(variables(term), self.classes))
        if found is not None:
            other = replaced(found[0], dict(found[1]))
            if key_of(other, self.formers) == key or self._follows(other) or self._equal(tree, other):
                return True
        self.renamed.add(same, tree)
        return False

    def _follows(self, tree: Tree) -> bool:
        """True if what is known leads from a term, or a part of it, to a smaller one, so that an equation
        with it is no news."""
        if isinstance(tree, int):
            return False
        return any(map(self._follows, tree[1:])) or self._reducible(tree, key_of(tree, self.formers))

    def _print_of(self, tree: Tree, renaming: Mapping[int, int]) -> bytes | None:
        """The value of a term under other names, as a fingerprint, at the first sizes."""
        try:
            return fingerprint(
                [self._value(tree, 0, {v: self.values[renaming.get(v, v)] for v in variables(tree)})]
            )
        except EvaluationError:
            return None

    def _diagonal(self, tree: Tree) -> Any:
        """The value of a term at the first sizes where all variables of a type have one value; None if it has
        no value there."""
        if isinstance(tree, int):
            return self.values[self.classes.members[self.classes.of[tree]][0]]
        if tree not in self.diagonal:
            below = [self._diagonal(operand) for operand in tree[1:]]
            known = all(v is not None for v in below)
            try:
                value = self.evaluator.compute(tree[0], 0, self._below(tree, 0), below) if known else None
            except EvaluationError:
                value = None
            if key_of(tree, self.formers)[0] > 2:
                return value  # asked for once
            self.diagonal[tree] = value
        return self.diagonal[tree]

    def _confirmed(self, equation: Equation) -> bool:
        """True if an equation holds for other values, too: signs and zeros agree by chance more often than
        one would think."""
        for at in range(len(SIZES)):
            for point in range(1, _POINTS if at == 0 else 2):
                values = {
                    v: input_value(v, at + len(SIZES) * point, self.inputs[v][at])
                    for v in variables(equation.left) | variables(equation.right)
                }
                try:
                    sides = [self._value(side, at, values) for side in (equation.left, equation.right)]
                except EvaluationError:
                    return False
                if sides[0].shape != sides[1].shape or not np.allclose(
                    sides[0], sides[1], rtol=1e-7, atol=1e-9, equal_nan=True
                ):
                    return False
        return True

    def _value(self, tree: Tree, at: int, values: Mapping[int, object]) -> Any:
        if isinstance(tree, int):
            return values[tree]
        operands = [self._value(operand, at, values) for operand in tree[1:]]
        return self.evaluator.compute(tree[0], at, self._below(tree, at), operands)

    def _keep(self, term: _Term, print_: bytes) -> None:
        self.prints[print_] = len(self.terms)
        self.by_size[-1].setdefault(term.types, []).append(len(self.terms))
        self.terms.append(term)

    # ── what is known already ──

    def _add_law(self, equation: Equation) -> None:
        for left, right in ((equation.left, equation.right), (equation.right, equation.left)):
            if isinstance(left, tuple) and variables(right) <= variables(left):
                self.laws.add(left, right)

    def _reducible(self, tree: Tree, key: Key) -> bool:
        """True if a law leads from a term to a smaller one."""
        for right, bound in self.laws.instances(tree):
            if all(self._has_type_of(variable, term) for variable, term in bound.items()):
                if key_of(replaced(right, bound), self.formers) < key:
                    return True
        return False

    def _has_type_of(self, variable: int, tree: Tree) -> bool:
        return self._types_of(tree) == self.inputs[variable]

    def _types_of(self, tree: Tree) -> tuple[Type | None, ...]:
        known = self.types.get(tree)
        if known is None:
            assert isinstance(tree, tuple)
            types = [self.evaluator.type_of(tree[0], at, self._below(tree, at)) for at in range(len(SIZES))]
            known = self.types[tree] = tuple(types)
        return known

    def _below(self, tree: tuple[Any, ...], at: int) -> tuple[Type, ...]:
        """The types of a term's operands: all of them type-check."""
        types = [self._types_of(operand)[at] for operand in tree[1:]]
        return tuple([type_ for type_ in types if type_ is not None])


def _splits(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 0:
        if total == 0:
            yield ()
        return
    for first in range(total + 1):
        for rest in _splits(total - first, parts - 1):
            yield (first, *rest)
