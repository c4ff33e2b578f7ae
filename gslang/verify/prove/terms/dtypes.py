"""Element types of which it is only known which ones are equal, and what kind of numbers they hold.

Real numbers stand for floats. Whole numbers wrap: sums and products are those of a ring, order and division
are not what they are for real numbers. Which of them an open element type holds becomes a case where a law
asks for it.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache

from gslang.dialect.dtypes import in_class, whole_numbers
from gslang.verify.prove.terms.opaque import Opaque, unanswered
from gslang.verify.prove.terms.paths import TYPES, Choices, Impossible


class Dtype(Opaque):
    """An element type that may be any. Compared with another one, or with a name, it is the same or not: a
    case each.

    `numbers`: REAL, WHOLE or TRUTH, where it is settled. `kinds`: those that operators take which it stands
    before. `among`: names of which it is one.
    """

    __slots__ = ("among", "choices", "kinds", "name", "number", "numbers", "others", "parent")

    def __init__(self, choices: Choices, unlike: str | Dtype | None = None) -> None:
        self.choices, self.number = choices, next(choices.budget.numbers)
        self.parent: Dtype | None = None
        self.name: str | None = None
        self.numbers: str | None = None
        self.kinds = ANY_NUMBERS
        self.among: frozenset[str] | None = None
        self.others: list[str | Dtype] = [] if unlike is None else [unlike]  # known to be different

    def __repr__(self) -> str:
        return self.root().name or "?"

    def root(self) -> Dtype:
        """The representative of all element types that are known to equal this one."""
        here = self
        while here.parent is not None:
            here = here.parent
        return here

    __hash__ = unanswered  # type: ignore[assignment]

    def __bool__(self) -> bool:
        return True  # only "" is false, which is no element type

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Names):
            return NotImplemented
        if not isinstance(other, (Dtype, str)) or other == "":
            return False
        known = compared(self, other)
        if known is not None:
            return known
        if self.choices.choose(2) == 0:
            unify(self, other)
            return True
        self.root().others.append(other)
        return False

    def __ne__(self, other: object) -> bool:
        return not self == other


class Names:
    """Names of element types, equal to each of them: whether an open type is one of them is a single case,
    not one for each name.
    """

    __slots__ = ("names",)

    def __init__(self, names: Collection[str]) -> None:
        self.names = frozenset(names)

    __hash__ = unanswered  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return other in self.names
        return isinstance(other, Dtype) and _is_among(other.root(), self.names)


def _is_among(dtype: Dtype, names: frozenset[str], assumed: bool = False) -> bool:
    """True if an open type is one of these: known, `assumed`, or decided for this case."""
    if dtype.name is not None:
        return dtype.name in names
    if dtype.among is not None and dtype.among <= names:
        return True
    fitting = frozenset(name for name in names if compared(dtype, name) is None)
    if not fitting:
        return False
    if assumed or dtype.choices.choose(2) == 0:
        dtype.among = fitting
        restrict(dtype, frozenset(map(numbers_named, fitting)))
        if dtype.name is None and len(fitting) == 1:
            (dtype.name,) = fitting
        return True
    dtype.others += sorted(fitting)
    if dtype.among is not None:
        dtype.among -= fitting
    return False


def taken_as(dtype: Dtype, other: object) -> bool:
    """True if an element type may be another one, or have one of some names: in this case it does."""
    if isinstance(other, Names):
        return _is_among(dtype.root(), other.names, assumed=True)
    if not isinstance(other, (Dtype, str)) or other == "":
        return False
    known = compared(dtype, other)
    if known is None:
        unify(dtype, other)
    return known is not False


REAL, WHOLE, TRUTH = "real numbers", "whole numbers", "truth values"
ANY_NUMBERS = frozenset({REAL, WHOLE, TRUTH})


def numbers_named(name: str) -> str:
    """The numbers that an element type of this name holds."""
    return REAL if name.startswith(("float", "bfloat")) else TRUTH if name == "bool" else WHOLE


def settled(dtype: str | Dtype) -> str | None:
    """The kind of numbers of an element type, None where it is open."""
    if isinstance(dtype, Dtype):
        root = dtype.root()
        return root.numbers if root.name is None else numbers_named(root.name)
    return numbers_named(dtype) if isinstance(dtype, str) and dtype else None


def numbers_of(dtype: str | Dtype) -> tuple[str, bool]:
    """The kind of numbers of an element type, and True if that was open: it is a case then."""
    known = settled(dtype)
    if known is not None:
        return known, isinstance(dtype, Dtype) and dtype.root().name is None
    if not isinstance(dtype, Dtype):
        return REAL, False
    root = dtype.root()
    open_kinds = [kind for kind in (REAL, WHOLE) if kind in root.kinds]
    root.numbers = open_kinds[root.choices.choose_kind(len(open_kinds))]
    return root.numbers, True


def may_be_real(dtype: str | Dtype) -> bool:
    """True if an element type holds real numbers, or may do so in this case."""
    known = settled(dtype)
    if known is not None:
        return known == REAL
    return not isinstance(dtype, Dtype) or REAL in dtype.root().kinds


def restrict(dtype: str | Dtype, allowed: frozenset[str]) -> None:
    """An operator takes these numbers only. Raises `Impossible` where others are known."""
    known = settled(dtype)
    if known is not None:
        if known not in allowed:
            raise Impossible(TYPES)
        if isinstance(dtype, Dtype):
            dtype.root().kinds &= allowed
    elif isinstance(dtype, Dtype):
        root = dtype.root()
        root.kinds &= allowed
        if not root.kinds:
            raise Impossible(TYPES)
        if root.kinds == {TRUTH}:
            unify(root, "bool")
        elif len(root.kinds) == 1:
            root.numbers = next(iter(root.kinds))


def _names(dtype: str | Dtype) -> frozenset[str] | None:
    """The names that an element type may have; None where it may be any."""
    if not isinstance(dtype, Dtype):
        return frozenset({dtype}) if isinstance(dtype, str) and dtype else None
    root = dtype.root()
    return frozenset({root.name}) if root.name is not None else root.among


def holds(wide: str | Dtype, narrow: str | Dtype) -> bool:
    """True if an element type surely holds each value of another one, as a number."""
    if compared(wide, "string") is not False:
        return False
    if compared(narrow, "bool") is True:
        return True  # each type of numbers has 0 and 1
    wides, narrows = _names(wide), _names(narrow)
    return bool(wides and narrows) and all(_holds(a, b) for a in wides or () for b in narrows or ())


_OF_SIZES = frozenset({"int32", "int64", "uint32", "uint64"})


def holds_sizes(dtype: str | Dtype) -> bool:
    """True if an element type surely holds the sizes of tensors: in 8 or 16 bits they wrap."""
    names = _names(dtype)
    return names is not None and names <= _OF_SIZES


# (bits of a number, the largest exponent)
_FLOATS = {"float16": (11, 16), "bfloat16": (8, 128), "float32": (24, 128), "float64": (53, 1024)}


def _holds(wide: str, narrow: str) -> bool:
    if wide == narrow:
        return True
    if wide in _FLOATS and narrow in _FLOATS:
        return all(a >= b for a, b in zip(_FLOATS[wide], _FLOATS[narrow]))
    inner = whole_numbers(narrow)
    if inner is None:
        return False
    if wide in _FLOATS:
        bits = max(inner[1], -inner[0] - 1).bit_length()  # -2ⁿ is a float as well
        return bits <= min(_FLOATS[wide])
    outer = whole_numbers(wide)
    return outer is not None and wide != "bool" and outer[0] <= inner[0] and inner[1] <= outer[1]


def saturates(dtype: str | Dtype) -> bool | None:
    """True if a conversion to an element type may saturate or be rounded in several ways, as those to floats
    of 8 bits; None where that is not known.
    """
    names = _names(dtype)
    if names is None:
        return False if settled(dtype) in (WHOLE, TRUTH) else None
    return not all(name in _FLOATS or numbers_named(name) != REAL for name in names)


_OF_CLASS = {
    "float": {REAL},
    "int": {WHOLE},
    "uint": {WHOLE},
    "integer": {WHOLE},
    "number": {REAL, WHOLE},
    "bool": {TRUTH},
}


def numbers_in(classes: Collection[str]) -> frozenset[str]:
    """The numbers that element types of these names and classes (`tensor(integer | bool)`) hold; all where
    one says nothing of that.
    """
    return _numbers_in(tuple(classes))


@cache
def _numbers_in(classes: tuple[str, ...]) -> frozenset[str]:
    found = [
        _OF_CLASS.get(c) or ({numbers_named(c)} if in_class(c, "number") else ANY_NUMBERS) for c in classes
    ]
    return frozenset[str]().union(*found) if found else ANY_NUMBERS


def takes(dtype: str | Dtype, classes: Collection[str]) -> bool | None:
    """True if an operator that takes these classes takes this element type; None where it is not known."""
    allowed = numbers_in(classes)
    known = settled(dtype)
    if known is not None:
        return known in allowed
    return True if not isinstance(dtype, Dtype) or dtype.root().kinds <= allowed else None


def compared(a: str | Dtype, b: str | Dtype) -> bool | None:
    """True if two element types are equal; None if unknown."""
    x: str | Dtype = a.root() if isinstance(a, Dtype) else a
    y: str | Dtype = b.root() if isinstance(b, Dtype) else b
    if x is y:
        return True
    left, right = (z.name if isinstance(z, Dtype) else z for z in (x, y))
    if left is not None and right is not None:
        return bool(left == right)
    numbers = settled(x), settled(y)
    if None not in numbers and numbers[0] != numbers[1]:
        return False
    if not all(_may_be(one, other) for one, other in ((x, y), (y, x))):
        return False
    for one, other in ((x, y), (y, x)):
        if isinstance(one, Dtype):
            for z in one.others:
                w: str | Dtype = z.root() if isinstance(z, Dtype) else z
                if (
                    w is other or (w.name if isinstance(w, Dtype) else w)
                    == (other.name if isinstance(other, Dtype) else other) is not None
                ):
                    return False
    return None


def _may_be(dtype: str | Dtype, other: str | Dtype) -> bool:
    """False if an open type is one of some names, and the other one is none of these."""
    if not isinstance(dtype, Dtype) or dtype.among is None:
        return True
    if isinstance(other, Dtype):
        if other.name is not None:
            return other.name in dtype.among
        return other.among is None or bool(dtype.among & other.among)
    return other in dtype.among


def name_of(dtype: str | Dtype) -> str | int:
    """Its name, or a number that stands for one that is not known: equal for types that are known to be
    equal.
    """
    root = dtype.root() if isinstance(dtype, Dtype) else dtype
    return root if isinstance(root, str) else root.name or root.number


def unify(a: str | Dtype, b: str | Dtype) -> None:
    """Both are the same in this case."""
    known = compared(a, b)
    if known is not None:
        if not known:
            raise Impossible(TYPES)
        return
    x: str | Dtype = a.root() if isinstance(a, Dtype) else a
    y: str | Dtype = b.root() if isinstance(b, Dtype) else b
    if isinstance(y, Dtype) and not isinstance(x, Dtype):
        x, y = y, x
    assert isinstance(x, Dtype)  # two names are equal or not
    if isinstance(y, Dtype):
        y.name, y.numbers = y.name or x.name, y.numbers or x.numbers
        y.others += x.others
        y.among = x.among if y.among is None else y.among if x.among is None else x.among & y.among
        x.parent = y
        restrict(y, x.kinds)
    else:
        if numbers_named(y) not in x.kinds:
            raise Impossible(TYPES)
        x.name = y
