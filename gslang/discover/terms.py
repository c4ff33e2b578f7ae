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
    """Directed equations, found by the formers of a term and of its operands (a discrimination net of two
    levels)."""

    def __init__(self, formers: Sequence[Former]) -> None:
        self.formers = formers
        self.by_heads: dict[tuple[int, ...], list[tuple[Tree, Tree]]] = {}

    def add(self, left: Tree, right: Tree) -> None:
        """Add one that leads from `left`, which is no variable, to `right`."""
        assert isinstance(left, tuple)
        heads = [_head(operand) for operand in left[1:]]
        self.by_heads.setdefault(self._key(left[0], heads), []).append((left, right))

    def instances(self, tree: Tree) -> Iterator[tuple[Tree, dict[int, Tree]]]:
        """The right sides of those whose left side a term is an instance of, with what their variables
        stand for."""
        if isinstance(tree, int):
            return
        ways = [(_ANY,) if isinstance(operand, int) else (_ANY, _head(operand)) for operand in tree[1:]]
        for key in dict.fromkeys(self._key(tree[0], heads) for heads in product(*ways)):
            for left, right in self.by_heads.get(key, ()):
                for bound in match(left, tree, {}, self.formers):
                    yield right, bound

    def _key(self, former: int, heads: Sequence[int]) -> tuple[int, ...]:
        return (former, *(sorted(heads) if self.formers[former].commutative else heads))


_ANY = -1


def _head(tree: Tree) -> int:
    return _ANY if isinstance(tree, int) else int(tree[0])
