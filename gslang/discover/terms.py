"""Terms as nested tuples: their order, their variables, substitution and matching."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Union

from gslang.discover.formers import Former

Tree = Union[int, tuple[Any, ...]]
"""A variable by its number, or (former, operand, …), formers by their numbers."""
Key = tuple[int, tuple[int, ...]]
"""The order of terms: by the number of operators, then operators and variables from left to right."""
CODE = 1 << 16  # added to the numbers of formers in keys: above all numbers of variables


def key_of(tree: Tree, formers: Sequence[Former]) -> Key:
    """Where a term stands in the order; operands of commutative operators are put in order."""
    if isinstance(tree, int):
        return 0, (tree,)
    keys = [key_of(operand, formers) for operand in tree[1:]]
    if formers[tree[0]].commutative:
        keys.sort()
    return 1 + sum(k for k, _ in keys), (CODE + tree[0], *[c for _, codes in keys for c in codes])


def variables(tree: Tree) -> set[int]:
    return {tree} if isinstance(tree, int) else {v for operand in tree[1:] for v in variables(operand)}


def replaced(tree: Tree, bound: Mapping[int, Tree]) -> Tree:
    """A term with terms in the place of its variables."""
    return (
        bound.get(tree, tree)
        if isinstance(tree, int)
        else (tree[0], *[replaced(operand, bound) for operand in tree[1:]])
    )


def match(
    pattern: Tree, tree: Tree, bound: Mapping[int, Tree], formers: Sequence[Former]
) -> Iterator[dict[int, Tree]]:
    """All ways in which a term is an instance of a pattern."""
    if isinstance(pattern, int):
        known = bound.get(pattern)
        if known is None:
            yield {**bound, pattern: tree}
        elif known == tree:
            yield dict(bound)
        return
    if isinstance(tree, int) or pattern[0] != tree[0]:
        return
    orders = [tree[1:]]
    if formers[pattern[0]].commutative and tree[1] != tree[2]:
        orders.append((tree[2], tree[1]))
    for operands in orders:
        yield from _match_all(pattern[1:], operands, bound, formers)


def _match_all(
    patterns: Sequence[Tree], trees: Sequence[Tree], bound: Mapping[int, Tree], formers: Sequence[Former]
) -> Iterator[dict[int, Tree]]:
    if not patterns:
        yield dict(bound)
        return
    for first in match(patterns[0], trees[0], bound, formers):
        yield from _match_all(patterns[1:], trees[1:], first, formers)


def leaves(tree: Tree) -> Iterator[int]:
    """The variables of a term, from left to right."""
    if isinstance(tree, int):
        yield tree
    else:
        for operand in tree[1:]:
            yield from leaves(operand)


def count(tree: Tree) -> int:
    """The number of operators of a term."""
    return 0 if isinstance(tree, int) else 1 + sum(map(count, tree[1:]))


class Laws:
    """Directed equations, found by the calls that their left sides are made of.

    Such a skeleton, with one kind of hole for all variables, has a number. Those that a term has at its top
    follow from those of its operands, so that only laws are matched whose calls are all there.
    """

    def __init__(self, formers: Sequence[Former]) -> None:
        self.formers = formers
        self._numbers: dict[tuple[int, ...], int] = {}  # a former and the skeletons of operands → its number
        self._laws: dict[int, list[tuple[Tree, Tree]]] = {}
        self._known: dict[Tree, tuple[int, ...]] = {}  # skeletons at the top of a term

    def add(self, left: Tree, right: Tree) -> None:
        """Add one that leads from `left`, which is no variable, to `right`."""
        assert isinstance(left, tuple)
        count = len(self._numbers)
        self._laws.setdefault(self._number(left), []).append((left, right))
        if len(self._numbers) > count:
            self._known.clear()

    def instances(self, tree: Tree) -> Iterator[tuple[Tree, dict[int, Tree]]]:
        """The right sides of those whose left side a term is an instance of, with what their variables
        stand for."""
        if isinstance(tree, int):
            return
        for number in self._at_top(tree):
            for left, right in self._laws.get(number, ()):
                for bound in match(left, tree, {}, self.formers):
                    yield right, bound

    def _number(self, tree: Tree) -> int:
        """The skeleton of a left side, or of a part of it."""
        if isinstance(tree, int):
            return _HOLE
        key = self._key(tree[0], [self._number(operand) for operand in tree[1:]])
        return self._numbers.setdefault(key, len(self._numbers) + 1)

    def _skeletons(self, tree: Tree) -> tuple[int, ...]:
        """The hole, and the skeletons of laws, or of parts of them, that a term has at its top."""
        if isinstance(tree, int):
            return (_HOLE,)
        known = self._known.get(tree)
        if known is None:
            known = self._known[tree] = (_HOLE, *self._at_top(tree))
        return known

    def _at_top(self, tree: tuple[Any, ...]) -> Iterator[int]:
        keys = {self._key(tree[0], way) for way in product(*map(self._skeletons, tree[1:]))}
        return iter(sorted(self._numbers[key] for key in keys if key in self._numbers))

    def _key(self, former: int, operands: Sequence[int]) -> tuple[int, ...]:
        return (former, *(sorted(operands) if self.formers[former].commutative else operands))


_HOLE = 0
