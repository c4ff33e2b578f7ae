"""`IsNaN` over symbolic tensors: what is computed from numbers is one.

An input may hold NaN, and a constant infinities, which make NaN of a softmax whose scores are all −∞: such a
constant has to be bounded by the rule.
"""

from __future__ import annotations

from collections.abc import Iterator

from gslang.base.open_types import Attrs
from gslang.verify.prove.reals import Real
from gslang.verify.prove.tensors import Index, Meaning, Operands, Tensor, Value, World
from gslang.verify.prove.terms import ZERO, Atom, Term, number, of_atom, unknown
from gslang.verify.prove.uses import is_raw, use

_LARGEST = number(2**129)  # above all floats that are finite, of 32 bits


def _is_nan(world: World, operands: Operands, attrs: Attrs) -> Value:
    x = operands[0]
    world.need_real(x.dtype)

    def at(index: Index) -> Term:
        value = x.at(index)
        if is_raw() or not _is_computed(value) or not all(_is_finite(world, a) for a in _elements(value)):
            return unknown("IsNaN", value)
        world.notes.add("what is computed from numbers is a number")
        use("number that is computed", x=value)
        return ZERO

    return Tensor(x.shape, "bool", at)


def _is_computed(value: Term) -> bool:
    """True for sums over positions, exponentials, and numbers: not for an element of an input."""
    return value.constant is not None or any(a.kind == "total" or a.name == "exp" for a in value.atoms())


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
    if atom.name not in world.constants:
        return True
    element, choices = of_atom(atom), world.facts.choices
    return all(Real(value, choices).surely_above(-_LARGEST) for value in (element, -element))


NAN: dict[str, Meaning] = {"IsNaN": _is_nan}
