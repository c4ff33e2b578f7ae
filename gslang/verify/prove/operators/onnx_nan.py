"""`IsNaN` over symbolic tensors: what is computed from numbers is one.

An input may hold NaN, and a constant infinities, which make NaN of a softmax whose scores are all −∞: such a
constant has to be bounded by the rule, or to have a number in each row that a softmax runs along, and no +∞.
"""

from __future__ import annotations

from collections.abc import Iterator

from gslang.base.open_types import Attrs
from gslang.verify.prove.operators.leaf import NONE_IS_INFINITE, ONE_IS_A_NUMBER
from gslang.verify.prove.operators.outweighed import as_long
from gslang.verify.prove.operators.tensors import Index, Meaning, Operands, Tensor, Value, World
from gslang.verify.prove.terms.reals import Real
from gslang.verify.prove.terms.sizes import text_of
from gslang.verify.prove.terms.terms import ZERO, Atom, Term, number, read, term, unknown
from gslang.verify.prove.terms.total_keys import all_names
from gslang.verify.prove.terms.uses import is_raw, untouched, use

_LARGEST = number(2**129)  # above all floats that are finite, of 32 bits


def _is_nan(world: World, operands: Operands, attrs: Attrs) -> Value:
    x = operands[0]
    world.need_real(x.dtype)

    def at(index: Index) -> Term:
        value = x.at(index)
        if is_raw() or not _is_computed(value) or not _is_of_numbers(world, _as_written(world, x, index)):
            return unknown("IsNaN", value)
        world.notes.add("values computed from numbers are not NaN")
        use("number that is computed", x=value)
        return ZERO

    return Tensor(x.shape, "bool", at)


def _as_written(world: World, x: Tensor, index: Index) -> Term:
    """An element in which no law has cancelled what may be infinite."""
    before, world.comparing = world.comparing, ""
    try:
        with untouched():
            return x.at(index)
    finally:
        world.comparing = before


def _is_computed(value: Term) -> bool:
    """True for sums over positions, exponentials, numbers and sizes: not for an element of an input."""
    return any(a.kind == "total" or a.name == "exp" for a in value.atoms()) or not any(_elements(value))


def _is_of_numbers(world: World, value: Term) -> bool:
    return all(_is_finite(world, atom) for atom in _elements(value)) or _is_masked_softmax(world, value)


def _elements(value: Term) -> Iterator[Atom]:
    """The elements of inputs and constants that a term is made of, truth values aside."""
    for atom in value.atoms():
        if atom.kind == "read":
            yield atom
        elif atom.name != "truth":
            for argument in atom.args:
                if isinstance(argument, Term):
                    yield from _elements(argument)


def _is_finite(world: World, atom: Atom) -> bool:
    """True unless it is an element of a constant that the rule does not bound on both sides."""
    leaf = world.constants.get(atom.name)
    if leaf is None:
        return True
    sizes = map(world.facts.normal, leaf.resolved().shape)
    places = tuple([0 if text_of(size) == "1" else place for place, size in zip(atom.args, sizes)])
    element, choices = read(atom.name, places), world.facts.choices
    return all(Real(value, choices).surely_above(-_LARGEST) for value in (element, -element))


def _is_masked_softmax(world: World, value: Term) -> bool:
    """True for an exponential over a sum of exponentials, of which one at least is not 0 and none is +∞."""
    if len(value.parts) != 1:
        return False
    ((factors, _),) = value.parts.items()
    above = [atom for atom, exponent in factors if exponent == 1 and atom.name == "exp"]
    below = [atom for atom, exponent in factors if exponent == -1 and atom.kind == "total"]
    if len(factors) != 2 or not above or not below or below[0].name != "sum" or len(below[0].variables) != 1:
        return False
    inside = below[0].args[0].alone
    if inside is None or inside[1] != 1 or inside[0].name != "exp":
        return False
    if _mask_in(world, above[0].args[0]) is None or (mask := _mask_in(world, inside[0].args[0])) is None:
        return False
    ((name, length),) = below[0].variables
    facts = world.facts
    *others, place = map(facts.normal, mask.args)
    size = facts.normal(world.constants[mask.name].resolved().shape[-1])
    along = text_of(place) == f"1*{name}" and as_long(facts, size, facts.normal(length))
    return (along or text_of(size) == "1") and not any(name in all_names(other, facts) for other in others)


def _mask_in(world: World, score: Term) -> Atom | None:
    """The element of a mask, which may be −∞, that is added to a score of numbers; None for other scores."""
    infinite = {
        factors: c for factors, c in score.parts.items()
        if not all(_is_finite(world, atom) for atom in _elements(term({factors: c})))
    }
    alone = term(infinite).alone
    if alone is None or alone[1] <= 0 or alone[0].kind != "read":
        return None
    rows = world.constants[alone[0].name].rows
    return alone[0] if {NONE_IS_INFINITE, ONE_IS_A_NUMBER} <= rows else None


NAN: dict[str, Meaning] = {"IsNaN": _is_nan}
