"""Terms over operators, smallest first, and equations between them.

Only normal forms are made into larger terms: a term that a known equation leads to a smaller one is left out
unseen (ordered rewriting; Knuth and Bendix 1970), one that computes the same as an earlier one at all sizes
is a new equation with it. So the equations found are few, and all others follow from them. Of the largest
terms, only one of those that differ in names is looked at (`renamings`). Inputs are small fractions of powers
of 2, on which sums and products of floats are exact; other functions are compared to about eight digits. What
is found is conjecture until it is verified.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from hashlib import blake2b
from itertools import product
from typing import Any, Union

import numpy as np

from gslang.base.quick_dataclass import dataclass
from gslang.check.checked import Meaning
from gslang.dialect.dialect import Dialect
from gslang.dialect.signature import TypeInferenceError
from gslang.dialect.tensor_type import TensorType, Type
from gslang.discover.formers import SIZES, Former
from gslang.discover.renamings import Renamed, classes_of, is_first, renamings, swaps
from gslang.engine.edits import BuildError
from gslang.engine.meaning import value_graph
from gslang.engine.values import FAILURES
from gslang.evaluate.errors import EvaluationError
from gslang.evaluate.run import node_evaluator
from gslang.graph.graph import CONST, INPUT, Graph
from gslang.graph.inference import infer_node

Tree = Union[int, tuple[Any, ...]]
"""A variable by its number, or (former, operand, …), formers by their numbers."""
Key = tuple[int, tuple[int, ...]]
"""The order of terms: by the number of operators, then operators and variables from left to right."""

_WHOLE = 2  # operators, up to which terms are looked at under all names
_POINTS = 5  # values of inputs on which an equation has to hold, at each size
_LARGEST = 1e9  # a number that a term may reach, so that eight digits of it are known


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


class Evaluator:
    """Types and values of calls of formers."""

    def __init__(self, formers: Sequence[Former], dialect: Dialect) -> None:
        self.formers, self.dialect = formers, dialect
        self._compute: dict[tuple[int, int, tuple[Type, ...]], Callable[[list[Any]], Any]] = {}
        self._types: dict[tuple[int, int, tuple[Type, ...]], Type | None] = {}

    def type_of(self, former: int, at: int, operands: tuple[Type, ...]) -> Type | None:
        """The result's type, None where operands do not fit.

        `at`: which of `SIZES` attributes are taken at.
        """
        key = (former, at, operands)
        if key not in self._types:
            graph, node = self.graph_of(former, SIZES[at], operands)
            self._types[key] = None if node is None else graph.types[node]
        return self._types[key]

    def graph_of(
        self, former: int, sizes: Mapping[str, int], operands: tuple[Type, ...]
    ) -> tuple[Graph, int | None]:
        """A graph with one call, and its result; None where it does not type-check."""
        what = self.formers[former]
        graph = Graph(self.dialect.name)
        nodes = [graph.add_input(f"x{k}", type_) for k, type_ in enumerate(operands)]
        return graph, add_call(graph, self.dialect, what, nodes, what.attributes(sizes))

    def compute(self, former: int, at: int, operands: tuple[Type, ...], values: list[Any]) -> Any:
        """The value of a call that type-checks. Raises `EvaluationError`."""
        key = (former, at, operands)
        run = self._compute.get(key)
        if run is None:
            run = self._compute[key] = self._prepare(former, at, operands)
        return run(values)

    def _prepare(self, former: int, at: int, operands: tuple[Type, ...]) -> Callable[[list[Any]], Any]:
        what = self.formers[former]
        if what.constant is not None:
            value = np.asarray(what.constant)
            return lambda values: value
        graph, _ = self.graph_of(former, SIZES[at], operands)
        meaning = self.dialect.operators[what.op].meaning
        if meaning is not None and not what.packed and what.index is None:
            return self._by_meaning(meaning, what, at, operands)
        compute = node_evaluator(graph, self.dialect)
        node = len(graph.op) - 1 - (what.index is not None)
        index, packed = what.index, what.packed

        def run(values: list[Any]) -> Any:
            result = compute(node, [tuple(values)] if packed else values)
            return result if index is None else result[index]

        return run


    def _by_meaning(
        self, meaning: Meaning, what: Former, at: int, operands: tuple[Type, ...]
    ) -> Callable[[list[Any]], Any]:
        """A function that computes a declared operator: the graph of its declared value, made once."""
        attrs = self.dialect.operators[what.op].complete(what.attributes(SIZES[at]))
        try:
            graph = value_graph(meaning, self.dialect, operands, attrs)
        except (BuildError, *FAILURES) as error:
            raise EvaluationError(f"`{what.op}` cannot be computed: {error}") from error
        if graph is None:
            raise EvaluationError(f"`{what.op}` has no declared value")
        compute, order = node_evaluator(graph, self.dialect), list(graph.reverse_post_order())

        def run(values: list[Any]) -> Any:
            known: dict[int, Any] = {}
            for node in order:
                if graph.op[node] is INPUT:
                    known[node] = values[int(graph.names[node] or 0)]
                elif graph.op[node] is CONST:
                    known[node] = graph.value(node)
                else:
                    known[node] = compute(node, [known[o] if o >= 0 else None for o in graph.operands[node]])
            return known[graph.outputs[0]]

        return run


def add_call(
    graph: Graph, dialect: Dialect, former: Former, operands: Sequence[int], attrs: Mapping[str, Any]
) -> int | None:
    """Add a former's call to a graph; its result, None where types contradict or are not known."""
    if former.constant is not None:
        return graph.add_const(np.asarray(former.constant, "float32"), TensorType((), "float32"))
    given = list(operands)
    if former.packed:
        given = [graph.add_tuple(given)]
        graph.types[given[0]] = infer_node(graph, dialect, given[0])
    node = graph.add(former.op, given, dict(attrs))
    try:
        graph.types[node] = infer_node(graph, dialect, node)
        if former.index is not None:
            node = graph.add_proj(node, former.index)
            graph.types[node] = infer_node(graph, dialect, node)
    except TypeInferenceError:
        return None
    type_ = graph.types[node]
    fits = (
        isinstance(type_, TensorType) and type_.shape is not None
        and all(isinstance(d, int) and d > 0 for d in type_.shape)
    )
    return node if fits else None


@dataclass(slots=True)
class _Term:
    former: int  # -1: a variable
    operands: tuple[int, ...]
    tree: Tree
    key: Key
    types: tuple[Type, ...]
    values: tuple[Any, ...]


def enumerate_terms(
    formers: Sequence[Former],
    inputs: Sequence[tuple[Type, ...]],
    dialect: Dialect,
    size: int,
    known: Sequence[Equation] = (),
    done: Callable[[int, Found], None] = lambda size, found: None,
    progress: Callable[[int, int, int], None] = lambda size, k, of: None,
) -> Found:
    """Equations between terms of up to `size` operators over variables of the given types.

    `known`: equations that hold already, none of which is found again. `done` is called after each size.
    """
    search = _Search(formers, inputs, dialect, known)
    for k in range(1, size + 1):
        search.level(k, k == size, progress)
        done(k, search.found)
    return search.found


class _Search:
    def __init__(
        self,
        formers: Sequence[Former],
        inputs: Sequence[tuple[Type, ...]],
        dialect: Dialect,
        known: Sequence[Equation],
    ) -> None:
        self.formers, self.inputs = formers, inputs
        self.evaluator = Evaluator(formers, dialect)
        self.found = Found()
        self.terms: list[_Term] = []
        self.by_size: list[dict[tuple[Type, ...], list[int]]] = [{}]
        self.prints: dict[bytes, int] = {}
        self.laws: dict[int, list[tuple[Tree, Tree]]] = {}
        self.classes = classes_of(inputs)
        self.values = [input_value(number, 0, types[0]) for number, types in enumerate(inputs)]
        self.diagonal: dict[Tree, Any] = {}
        self.renamed: Renamed[Tree] = Renamed(self._print_of)
        for equation in known:
            self._add_law(equation)
        for number, types in enumerate(inputs):
            values = tuple(input_value(number, at, type_) for at, type_ in enumerate(types))
            self._keep(_Term(-1, (), number, (0, (number,)), types, values), fingerprint(values))

    def level(self, size: int, last: bool, progress: Callable[[int, int, int], None]) -> None:
        several = size <= _WHOLE or not last
        calls = sorted(call for call in self._calls(size) if several or is_first(call[0][1], self.classes))
        self.by_size.append({})
        computed = kept = 0
        with np.errstate(all="ignore"):
            for count, (key, former, operands) in enumerate(calls):
                if count % 2000 == 0:
                    progress(size, count, len(calls))
                tree = (former, *[self.terms[o].tree for o in operands])
                if self._reducible(former, tree, key):
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
                        code = (_CODE + number, *[c for key in keys for c in key[1]])
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
            if not np.isfinite(value).all() or value.size and np.abs(value).max() > _LARGEST:
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
        self._keep(_Term(former, operands, tree, key, tuple(types), () if last else tuple(values)), print_)
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

    def _equal_renamed(self, tree: Tree, value: Any) -> bool:
        """True if a term computes what another one does under other names.

        One that does so itself says that it is symmetric: that is noted.
        """
        own, print_ = variables(tree), fingerprint([value])
        key = key_of(tree, self.formers)
        for swap in swaps(own, self.classes):
            other = replaced(tree, dict(swap))
            if (
                key_of(other, self.formers) != key and self._print_of(tree, swap) == print_
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
        with it is no news.
        """
        if isinstance(tree, int):
            return False
        return any(map(self._follows, tree[1:])) or self._reducible(tree[0], tree, key_of(tree, self.formers))

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
        no value there.
        """
        if isinstance(tree, int):
            return self.values[self.classes.members[self.classes.of[tree]][0]]
        if tree not in self.diagonal:
            below = [self._diagonal(operand) for operand in tree[1:]]
            types = tuple([self._types_of(operand)[0] for operand in tree[1:]])
            try:
                value = (
                    None if any(v is None for v in below)
                    else self.evaluator.compute(tree[0], 0, types, below)  # type: ignore[arg-type]
                )
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

    def _value(self, tree: Tree, at: int, values: Mapping[int, Any]) -> Any:
        if isinstance(tree, int):
            return values[tree]
        types = tuple([self._types_of(operand)[at] for operand in tree[1:]])
        return self.evaluator.compute(
            tree[0], at, types, [self._value(operand, at, values) for operand in tree[1:]]  # type: ignore[arg-type]
        )

    def _keep(self, term: _Term, print_: bytes) -> None:
        self.prints[print_] = len(self.terms)
        self.by_size[-1].setdefault(term.types, []).append(len(self.terms))
        self.terms.append(term)

    # ── what is known already ──

    def _add_law(self, equation: Equation) -> None:
        for left, right in ((equation.left, equation.right), (equation.right, equation.left)):
            if isinstance(left, tuple) and variables(right) <= variables(left):
                self.laws.setdefault(left[0], []).append((left, right))

    def _reducible(self, former: int, tree: Tree, key: Key) -> bool:
        """True if a law leads from a term to a smaller one."""
        for left, right in self.laws.get(former, ()):
            for bound in match(left, tree, {}, self.formers):
                if (
                    all(self._has_type_of(variable, term) for variable, term in bound.items())
                    and key_of(replaced(right, bound), self.formers) < key
                ):
                    return True
        return False

    def _has_type_of(self, variable: int, tree: Tree) -> bool:
        if isinstance(tree, int):
            return self.inputs[tree] == self.inputs[variable]
        return self._types_of(tree) == self.inputs[variable]

    def _types_of(self, tree: Tree) -> tuple[Type | None, ...]:
        if isinstance(tree, int):
            return self.inputs[tree]
        below = [self._types_of(operand) for operand in tree[1:]]
        return tuple(
            self.evaluator.type_of(tree[0], at, tuple(t[at] for t in below)) for at in range(len(SIZES))  # type: ignore[misc]
        )


_CODE = 1 << 16  # above all numbers of variables


def _splits(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 0:
        if total == 0:
            yield ()
        return
    for first in range(total + 1):
        for rest in _splits(total - first, parts - 1):
            yield (first, *rest)


def key_of(tree: Tree, formers: Sequence[Former]) -> Key:
    """Where a term stands in the order; operands of commutative operators are put in order."""
    if isinstance(tree, int):
        return 0, (tree,)
    keys = [key_of(operand, formers) for operand in tree[1:]]
    if formers[tree[0]].commutative:
        keys.sort()
    return 1 + sum(k for k, _ in keys), (_CODE + tree[0], *[c for _, codes in keys for c in codes])


def variables(tree: Tree) -> set[int]:
    return {tree} if isinstance(tree, int) else {v for operand in tree[1:] for v in variables(operand)}


def replaced(tree: Tree, bound: Mapping[int, Tree]) -> Tree:
    """A term with terms in the place of its variables."""
    return (
        bound.get(tree, tree) if isinstance(tree, int)
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


@lru_cache(maxsize=4096)
def input_value(number: int, at: int, type_: Type) -> Any:
    """The value of a variable: positive and negative quarters, for each variable and size others."""
    assert isinstance(type_, TensorType) and type_.shape is not None
    random = np.random.default_rng([17, number, at])
    quarters = random.integers(1, 14, type_.shape) * random.choice([-1, 1], type_.shape)
    return quarters / 4.0


def fingerprint(values: Sequence[Any]) -> bytes:
    """Equal for values that agree to about eight digits after the point."""
    print_ = blake2b(digest_size=16)
    for value in values:
        print_.update(repr((value.shape, value.dtype.kind)).encode())
        whole = (
            value if value.dtype.kind in "biu"
            else np.rint(np.where(np.isfinite(value), value, _LARGEST) * 6.3e7 + 0.317).astype(np.int64)
        )
        print_.update(np.ascontiguousarray(whole).tobytes())
    return print_.digest()
