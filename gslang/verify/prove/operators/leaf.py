"""Inputs of the source of a rule, of which nothing is known before something is asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gslang.verify.prove.operators.tensors import Tensor, World
from gslang.verify.prove.terms.axioms import apply
from gslang.verify.prove.terms.dtypes import REAL, Dtype, restrict, takes
from gslang.verify.prove.terms.paths import OPERATOR, Impossible
from gslang.verify.prove.terms.sizes import Number, text_of
from gslang.verify.prove.terms.terms import ONE, Term, of_size, read

# What conditions say of each row of a constant, along its last axis (`Leaf.rows`).
ONE_IS_TRUE, ONE_IS_A_NUMBER, NONE_IS_INFINITE = "one is true", "one is a number", "none is +∞"


class Leaf:
    """An input of the source; its rank is a case that is split when it is first looked at."""

    def __init__(self, world: World, name: str) -> None:
        self.world, self.name = world, name
        self.dtype: str | Dtype = Dtype(world.facts.choices)
        self.rank: int | None = None  # where the rule fixes it
        self.fewest = 0  # the least rank that operators take
        self.most: int | None = None  # the largest one
        self.ranked: Leaf | None = None  # another one of the same rank
        self.known: tuple[Number | None, ...] = ()  # sizes that the rule fixes, None for open ones
        self.given: tuple[Number, ...] | None = None
        self.value: Term | None = None  # of all elements
        self.ones = False  # a literal number
        self.single = False  # one element only
        self.least = 1  # the least size of an axis
        self.is_vector = False  # its numbers say what a call does
        self.tensor: Tensor | None = None
        self.items: tuple[Any, ...] | None = None  # where the rule says which numbers it holds
        self.is_constant = False
        self.is_read = False  # a constant whose value the rule asks for
        self.numbers: tuple[Number, ...] | None = None  # of a vector of whole numbers
        self.number: Number | None = None  # of a single whole number that says a place
        self.spelled: Callable[[], tuple[Number, ...]] | None = None  # what makes them when a rule reads them
        self.chosen: dict[str, tuple[Any, ...]] = {}  # what its whole numbers say, where an operator asked
        # name in `chosen` → the shape that it is chosen for, and whether 0 is kept
        self.shapes: dict[str, tuple[tuple[Number, ...], object]] = {}
        self.written: dict[int, int] = {}  # the same, as the rule sees them
        self.says: list[Any] = []  # what conditions say of all of its elements (`for_all.Says`)
        self.above_0 = False  # each of them, by a condition
        self.rows: set[str] = set()  # what conditions say of each row
        self.like: Leaf | None = None  # another one with the same elements

    def demand(self, rank: int) -> None:
        """An operator takes tensors of this rank only."""
        if self.rank is not None and self.rank != rank:
            raise Impossible(OPERATOR)
        self.rank = rank

    def resolved(self) -> Tensor:
        """The tensor that it stands for; its rank and sizes are settled with the first question."""
        if self.tensor is None:
            world = self.world
            shape = self.given
            if shape is None:
                rank = self.rank
                if rank is None and self.ranked is not None:
                    rank = len(self.ranked.resolved().shape)
                if rank is None:
                    rank = world.choose_rank(self.fewest, self.most)
                known = self.known if len(self.known) == rank else (None,) * rank
                sizes = (1 if self.ones or self.single else size for size in known)
                shape = tuple(
                    world.facts.size(f"{self.name}{k}_", self.least) if size is None else size
                    for k, size in enumerate(sizes)
                )

            world.types[self.name] = self.dtype
            fraction = None if self.value is None else self.value.constant
            if fraction is not None and fraction.denominator != 1:
                restrict(self.dtype, frozenset({REAL}))  # no whole number is one half

            def at(index: tuple[Number, ...]) -> Term:
                if ONE_IS_TRUE in self.rows and text_of(world.facts.normal(shape[-1])) == "1":
                    return ONE
                if self.like is not None:
                    return self.like.resolved().at(index)  # type: ignore[no-any-return]
                if self.value is not None:
                    return self.value
                if self.number is not None:
                    return of_size(world.facts.normal(self.number))
                for said in self.says:
                    found = said.applied(world.facts, index, shape)
                    if isinstance(found, tuple):
                        index = found
                    elif found is not None:
                        return found if isinstance(found, Term) else of_size(found)
                element = read(self.name, world.facts.normals(index))
                if world.facts.choices.fixed:
                    key = next(iter(element.atoms())).key
                    element = world.facts.choices.fixed.get(key, element)
                return apply("truth", [element]) if takes(self.dtype, ("bool",)) else element

            self.tensor = Tensor(shape, self.dtype, at, None, self.value, self.items, self)
        return self.tensor
