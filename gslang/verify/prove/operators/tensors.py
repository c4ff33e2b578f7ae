"""Tensors of symbolic shape: what stands at each position, as a function of the position."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import inf
from typing import TYPE_CHECKING, Any, Union

from gslang.base.open_types import Attrs
from gslang.base.quick_dataclass import dataclass
from gslang.dialect.signature import Signature
from gslang.verify.prove.terms.certificate import CaseRecord
from gslang.verify.prove.terms.defined import Written, covers, written
from gslang.verify.prove.terms.dtypes import (
    REAL,
    TRUTH,
    Dtype,
    compared,
    numbers_in,
    numbers_of,
    restrict,
    takes,
    unify,
)
from gslang.verify.prove.terms.facts import Facts
from gslang.verify.prove.terms.paths import OPERATOR, Impossible, NotProved
from gslang.verify.prove.terms.reals import as_term
from gslang.verify.prove.terms.signs import at_least_0, is_positive
from gslang.verify.prove.terms.sizes import Number, product, text_of
from gslang.verify.prove.terms.terms import ZERO, Term, guard, infinite, of_atom

if TYPE_CHECKING:
    from gslang.verify.prove.operators.everywhere import Partial

Index = tuple[Number, ...]
At = Callable[[Index], Term]


@dataclass(frozen=True, slots=True, eq=False)
class Tensor:
    """`at`: the element at an index (one position per axis).

    `flat`: the element at a position in row-major order.
    """

    shape: tuple[Number, ...]
    dtype: str | Dtype
    at: At
    flat: Callable[[Number], Term] | None = None
    splat: Term | None = None  # the value of all elements, where it is known
    items: Any = None  # of a constant vector: its elements, a tuple or `Listed`
    leaf: Any = None  # the input of the source that this is
    converted: Tensor | None = None  # the tensor that was converted to this one's type
    rises: Rising | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Rising:
    """Elements that are a function (`of`) of those of another tensor, larger for larger ones where it is so
    (`surely`), which is known when all conditions were asked.
    """

    base: Tensor
    of: Callable[[Term], Term]
    surely: Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Place:
    """A place that the source looks up along an axis of a size: `said` is the term that says it, `position`
    stands for it. `from_end`: counted from there where it is below 0.
    """

    said: Term
    size: Number
    position: Number
    from_end: bool


Value = Any  # a Tensor, a tuple of them, or None for an operand that is absent
Operands = Sequence[Value]
# two element types, and why they are taken to be equal
_Alike = tuple[Union[str, Dtype], Union[str, Dtype], str]


class World:
    """One case: its facts, and whether the source is being read (what it needs is assumed) or the target (it
    must be known).
    """

    def __init__(self, facts: Facts, most: int) -> None:
        self.facts, self.most = facts, most
        self.reading = True  # the source
        self.unknown: frozenset[str] = frozenset()  # operators of which no meaning is known (`uninterpreted`)
        self.counted = 0  # blocks have up to so many instances (`counted`), or any number (`families`)
        self.notes: set[str] = set()  # assumptions to state
        # over instances: see `families`
        self.sums: list[tuple[tuple[int, Number, Number], tuple[Number, Number]]] = []
        # element types that are the same in every sensible graph, and the words for that
        self.mostly_alike: list[_Alike] = []
        self.slices: dict[tuple[object, ...], Any] = {}  # identities of operands → what they take of a tensor
        self.kept: list[object] = []  # what these identities belong to
        self.places: list[Place] = []  # that the source looks up
        self.paddings: list[Number] = []  # by how much the windows of poolings are wider than their paddings
        self.in_float32: list[Tensor] = []  # that the source converts to this type
        self.pooled: dict[tuple[object, ...], Tensor] = {}  # (tensor, attributes) → largest of its windows
        self.clipped = False  # whether a bound of a slice was left as it is written
        self.wanted_rank: int | None = None  # of the result that is computed, where the rule says it
        self.whole_types: list[Dtype] = []  # open element types that hold whole numbers in this case
        # what the source is defined for: condition → terms, as an ordered set
        self.defined: dict[str, dict[Written, None]] = {}
        self.partial: list[Partial] = []  # calls that are not defined for all elements
        self.under: tuple[Term, ...] = ()  # what holds where elements are evaluated: conditions of `where`
        self.record: CaseRecord | None = None  # where a certificate is asked for
        # what the source looks up: places, and the sizes of axes that they lie in
        self.gathered: list[tuple[Tensor, Number]] = []
        self.constants: dict[str, Any] = {}  # leaves that are constants, by their names
        self.numbers_chosen: Callable[[], None] = lambda: None  # asks the conditions on numbers of constants
        self.has_infinities = False  # the rule has infinite constants, perhaps (`infinities`)
        self.types: dict[str, str | Dtype] = {}  # of leaves, by their names
        self.comparing = ""  # the side that is evaluated: "source", "target", or none yet

    def choose_rank(self, least: int = 0, most: int | None = None) -> int:
        """The rank of an open tensor. Raises `Impossible` where none is left."""
        if most is not None and most < least:
            raise Impossible(OPERATOR)
        limited = most is None or most > self.most
        limit = self.most if most is None or limited else most
        return self.facts.choices.choose_some(limit + 1 - least, limited) + least

    def element_of(self, value: object) -> Term:
        """A number that a constant holds, which may be infinite. Raises `NotProved` for what is none."""
        if self.has_infinities and isinstance(value, float) and value in (inf, -inf):
            return infinite(1 if value > 0 else -1)
        return as_term(value)

    # ── what must hold ──

    def need_equal(self, a: Number, b: Number, what: str) -> None:
        """Sizes that an operator demands to be equal."""
        if self.reading:
            self.facts.learn_equal(a, b)
        elif not self.facts.equal(a, b):
            one, other = (text_of(self.facts.normal(size)) for size in (a, b))
            raise NotProved(f"{what}: {one} and {other} may differ")

    def need(self, value: Number, what: str) -> None:
        """A size that an operator demands to be at least 0."""
        if self.reading:
            self.facts.learn(value)
        elif not self.facts.at_least(value, 0):
            raise NotProved(f"{what}: {text_of(self.facts.normal(value))} may be negative")

    def need_same_dtype(self, a: str | Dtype, b: str | Dtype) -> None:
        """Element types that an operator demands to be equal."""
        if self.reading:
            unify(a, b)
        elif not self.same_dtype(a, b):
            raise NotProved("the operand types of the target may differ")

    def same_dtype(self, a: str | Dtype, b: str | Dtype) -> bool:
        """True if two element types are equal: known, or taken for granted, which is noted then."""
        known = compared(a, b)
        if known is not None:
            return known
        path = self._mostly_alike(a, b)
        for c, d, what in path:
            unify(c, d)
            self.notes.add(what)
        return bool(path)

    def _mostly_alike(self, a: str | Dtype, b: str | Dtype) -> tuple[_Alike, ...]:
        """The pairs that lead from one element type to another, all of them taken to be equal; none where
        they are not connected.
        """
        reached: list[tuple[str | Dtype, tuple[_Alike, ...]]] = [(a, ())]
        taken: set[int] = set()
        for here, path in reached:
            if path and compared(here, b):
                return path
            for number, pair in enumerate(self.mostly_alike):
                c, d, _ = pair
                if number not in taken and (compared(here, c) or compared(here, d)):
                    taken.add(number)
                    reached.append((d if compared(here, c) else c, (*path, pair)))
        return ()

    def need_types(self, signature: Signature, operands: Sequence[object]) -> None:
        """Element types that an operator takes by its declaration."""
        specs = signature.operands
        for k, operand in enumerate(operands):
            spec = specs[min(k, len(specs) - 1)] if specs else None
            if spec is None or not spec.dtypes or not isinstance(operand, Tensor):
                continue
            allowed, taken = numbers_in(spec.dtypes), takes(operand.dtype, spec.dtypes)
            open_type = operand.dtype.root() if isinstance(operand.dtype, Dtype) else None
            if (
                taken is None and not self.reading and open_type is not None
                and open_type.kinds - allowed == {TRUTH}
            ):
                self.notes.add("excluding `bool`")
            elif not self.reading and taken is not True:
                raise NotProved(f"`{signature.name}` may not take the element type of `{spec.name}`")
            restrict(operand.dtype, allowed)

    def is_real(self, dtype: str | Dtype) -> bool:
        """True if an element type holds real numbers; a case where it is open."""
        numbers, is_open = numbers_of(dtype)
        if isinstance(dtype, Dtype) and is_open and numbers != REAL:
            self.whole_types.append(dtype)
        return numbers == REAL

    @property
    def whole(self) -> bool:
        """True if some element type holds whole numbers in this case, and real numbers in another one: the
        sizes and axes that an operator takes are whole in any case."""
        return any(REAL in dtype.root().kinds for dtype in self.whole_types)

    def need_real(self, dtype: str | Dtype) -> None:
        """An operator that means something else for integers."""
        if not self.is_real(dtype):
            raise NotProved("integer arithmetic with rounding is not supported")

    # ── where functions are defined ──

    def need_defined(self, condition: str, term: Term) -> None:
        """Note, or in the target prove, what a function asks of its argument: `">0"`, `">=0"` or `"!=0"`.

        The source may ask for anything: where it is not defined, the rule may do what it likes. Whatever the
        target asks for must follow.
        """
        if is_positive(term) or condition == ">=0" and at_least_0(term):
            return
        for part, asked in _factors(term, condition):
            if self.comparing == "source":
                self.defined.setdefault(asked, {})[written(self.facts, part, self.under)] = None
            elif self.comparing == "target" and not self.follows(asked, part):
                raise NotProved(
                    "the target may be undefined where the source is defined: "
                    f"{part.key} {asked} is not implied"
                )

    def follows(self, condition: str, term: Term) -> bool:
        """True if the source being defined says that a condition on a term holds."""
        stronger = {">0": (">0",), "!=0": ("!=0", ">0"), ">=0": (">=0", ">0")}[condition]
        if self._is_known(stronger, term):
            return True
        if len(term.parts) != 1:
            return False
        ((factors, c),) = term.parts.items()
        signs = (">0", "!=0") if condition == "!=0" else (condition, ">0")
        return (c > 0 or condition == "!=0") and all(
            self._is_known(signs, of_atom(atom)) for atom, _ in factors
        )

    def _is_known(self, conditions: Sequence[str], term: Term) -> bool:
        asked = written(self.facts, term, self.under)
        return any(covers(self.facts, known, asked) for c in conditions for known in self.defined.get(c, ()))

    @contextmanager
    def where(self, condition: Term) -> Iterator[None]:
        """Inside, elements are evaluated of which only those count where a condition holds."""
        before, self.under = self.under, (*self.under, condition)
        try:
            yield
        finally:
            self.under = before

    def need_true(self, condition: bool, what: str) -> None:
        """The demand of an operator, if it is known to hold or to fail already."""
        if not condition:
            if self.reading:
                raise Impossible(OPERATOR)
            raise NotProved(f"the target may be ill-formed: {what}")

    # ── broadcasting ──

    def joined(self, a: Number, b: Number) -> Number:
        """The size that two dimensions broadcast to."""
        facts = self.facts
        a, b = facts.normals((a, b))
        if text_of(a) == text_of(b) or text_of(a) == "1" or text_of(b) == "1":
            return facts.join(a, b)
        known = facts.broadcast_elsewhere(a, b)
        parts = [facts.joins.get(text_of(x)[2:], (x,)) for x in (a, b)]
        inside = (
            known or facts.fits(a, b) or facts.fits(b, a)
            or all(self._fit(x, y) for x in parts[0] for y in parts[1])
        )
        if not inside:
            if self.reading:
                if facts.proves(a - 2) and facts.proves(b - 2):
                    facts.learn_equal(a, b)
                    return facts.normal(a)
                facts.learn_broadcast(*((x, y) for x in (*parts[0], a) for y in (*parts[1], b)))
            elif facts.equal(a, b):
                return facts.normal(a)
            elif not (facts.equal(a, 1) or facts.equal(b, 1)):
                raise NotProved(f"dimensions may not broadcast: {text_of(a)} and {text_of(b)}")
        return facts.join(facts.normal(a), facts.normal(b))

    def _fit(self, a: Number, b: Number) -> bool:
        facts = self.facts
        a, b = facts.normals((a, b))
        if (
            text_of(a) == text_of(b) or text_of(a) == "1" or text_of(b) == "1" or facts.fits(a, b)
            or facts.fits(b, a)
        ):
            return True
        return facts.broadcast_elsewhere(a, b)

    def broadcast(self, *shapes: Sequence[Number]) -> tuple[Number, ...]:
        """The shape that several shapes broadcast to."""
        rank = max(len(s) for s in shapes)
        result: list[Number] = [1] * rank
        for shape in shapes:
            for k, size in enumerate(shape):
                place = rank - len(shape) + k
                result[place] = self.joined(result[place], size)
        return tuple(result)

    def element(self, tensor: Tensor, shape: Sequence[Number], index: Index) -> Term:
        """The element of `tensor`, broadcast to `shape`, at an index."""
        if tensor.splat is not None:
            return tensor.splat
        rank, offset = len(tensor.shape), len(shape) - len(tensor.shape)
        sizes = self.facts.normals((*tensor.shape, *shape[offset:]))
        places = []
        for own, result, position in zip(sizes[:rank], sizes[rank:], index[offset:]):
            places.append(position if text_of(own) == text_of(result) else self.facts.within(position, own))
        return tensor.at(tuple(places))

    def same_shape(self, a: Sequence[Number], b: Sequence[Number]) -> bool:
        """True if two shapes are known to be equal, without asking."""
        if len(a) != len(b):
            return False
        sizes = [text_of(size) for size in self.facts.normals((*a, *b))]
        return sizes[: len(a)] == sizes[len(a) :]

    # ── cases over positions ──

    def select(self, value: Number, then: Callable[[], Term], otherwise: Callable[[], Term]) -> Term:
        """`then` where `value` is at least 0, else `otherwise`: as a case, or with guards where a sum runs
        over it.
        """
        facts = self.facts
        known = facts.is_not_negative(value)
        if known is not None:
            return then() if known else otherwise()
        value = facts.normal(value)
        with facts.assuming(value):
            first = then()
        with facts.assuming(-1 - value):
            second = otherwise()
        return guard(value) * first + (guard(-1 - value) * second if second.parts else ZERO)

    def inside(
        self, conditions: Sequence[Number], then: Callable[[], Term], otherwise: Callable[[], Term]
    ) -> Term:
        """`then` where all conditions are at least 0, else `otherwise`."""
        if not conditions:
            return then()
        return self.select(conditions[0], lambda: self.inside(conditions[1:], then, otherwise), otherwise)

    # ── row-major order ──

    def flat_at(self, tensor: Tensor, position: Number) -> Term:
        """The element at a position in row-major order."""
        if tensor.splat is not None:
            return tensor.splat
        if tensor.flat is not None:
            return tensor.flat(position)
        return tensor.at(self.unravelled(position, tensor.shape))

    def unravelled(self, position: Number, shape: Sequence[Number]) -> Index:
        """The index of a position in row-major order."""
        index: list[Number] = []
        for k, size in enumerate(map(self.facts.normal, shape)):
            if type(size) is int and size == 1:
                index.append(0)
                continue
            stride = self.facts.normal(product(shape[k + 1 :]))
            place = self.facts.normal(position) // stride
            index.append(place if k == 0 else place % size)
        return tuple(index)

    def ravelled(self, index: Index, shape: Sequence[Number]) -> Number:
        """The position of an index in row-major order."""
        position: Number = 0
        for place, size in zip(index, shape):
            position = position * self.facts.normal(size) + place
        return self.facts.normal(position)


def _factors(term: Term, condition: str) -> Iterator[tuple[Term, str]]:
    """Conditions on parts of a term that say the same: a product is not 0 if no factor is, √x > 0 if x > 0.
    """
    if len(term.parts) == 1:
        ((factors, c),) = term.parts.items()
        if condition == "!=0" and (len(factors) > 1 or factors and factors[0][1] != 1):
            for atom, exponent in factors:
                if exponent > 0:
                    yield from _factors(of_atom(atom), condition)
            return
        if (
            len(factors) == 1 and c > 0 and factors[0][1] == 1 and factors[0][0].kind == "fn"
            and factors[0][0].name == "sqrt"
        ):
            if condition != ">=0":
                yield from _factors(factors[0][0].args[0], ">0")
            return
    yield term, condition


def constant(value: Term, shape: Sequence[Number], dtype: Any) -> Tensor:
    """A tensor whose elements are all equal."""
    return Tensor(tuple(shape), dtype, lambda index: value, None, value)


Meaning = Callable[[World, Operands, Attrs], Value]
"""The result of an operator, from its operands and complete attributes."""
