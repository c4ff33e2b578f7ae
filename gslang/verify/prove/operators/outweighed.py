"""Numbers of at most −10⁴ in place of scores of a softmax: they weigh nothing beside a score in the same row.

A weight is e to the power of a score less the largest one of its row. Where scores lie between −4000 and
4000, a number that replaces one, or is added to it, is at least 2000 below another one, and no float of 64
bits tells e⁻²⁰⁰⁰ from 0. That is no law of real numbers: a claim that rests on it says so. It needs a mask
that leaves a score to every row, which a condition says of a constant.
"""

from __future__ import annotations

from gslang.verify.prove.operators.leaf import ONE_IS_TRUE
from gslang.verify.prove.operators.tensors import World
from gslang.verify.prove.terms.axioms import apply
from gslang.verify.prove.terms.facts import Facts
from gslang.verify.prove.terms.sizes import Number, names_in, text_of
from gslang.verify.prove.terms.terms import Atom, Term, all_atoms, of_atom, term, unknown, with_value
from gslang.verify.prove.terms.total_keys import all_names
from gslang.verify.prove.terms.uses import rewrite

Row = tuple[Number, Number]
"""The place of a score in its row, and the length of the row."""

_LAW = "number that is outweighed"
_NOTE = "scores that a mask may replace by a number ≤ −10⁴ lie in [−4000, 4000]"
_LOWS = frozenset({"very_low", "outweighed"})


def weighed(world: World, score: Term, row: Row) -> Term | None:
    """exp of a score, 0 where a mask puts a low number in its place; None where that is not all there is."""
    low = [factors for factors in score.parts if any(atom.name == "outweighed" for atom, _ in factors)]
    deciding = {atom for factors in low for atom, _ in factors if atom.name == "truth"}
    if len(deciding) != 1:
        return None
    (mask,) = deciding
    shown, hidden = with_value(score, mask, 1), with_value(score, mask, 0)
    own = {
        factors: c for factors, c in hidden.parts.items() if any(atom.name in _LOWS for atom, _ in factors)
    }
    rest = hidden - term(own)
    if (
        any(c < 1 or len(factors) != 1 or factors[0][1] != 1 for factors, c in own.items())
        or not own
        or rest.parts and rest.key != shown.key
        or not _is_usual(world, shown)
        or not _leaves_one(world, mask, row)
    ):
        return None
    world.notes.add(_NOTE)
    result = of_atom(mask) * apply("exp", [shown])
    rewrite(_LAW, lambda: unknown("exp", score), result)
    return result


def _is_usual(world: World, score: Term) -> bool:
    """True for a sum of what inputs decide: no low number is in it, and no constant is added."""
    return not any(atom.name in _LOWS for atom in all_atoms(score)) and all(
        any(atom.kind == "read" and atom.name not in world.constants for atom in all_atoms(part))
        for part in (term({factors: c}) for factors, c in score.parts.items())
    )


def as_long(facts: Facts, own: Number, length: Number) -> bool:
    """True if two sizes are known to be equal: if they broadcast, neither is 1."""
    return text_of(own) == text_of(length) or (
        facts.proves(own - 2) and facts.proves(length - 2)
        and (facts.fits(own, length) or facts.broadcast_elsewhere(own, length))
    )


def _leaves_one(world: World, mask: Atom, row: Row) -> bool:
    """True if a truth value is that of a constant which has a true one in each row, and the row is one of
    these as a whole.
    """
    alone = mask.args[0].alone
    if alone is None or alone[1] != 1 or alone[0].kind != "read":
        return False
    leaf, facts = world.constants.get(alone[0].name), world.facts
    if leaf is None or ONE_IS_TRUE not in leaf.rows:
        return False
    *others, place = map(facts.normal, alone[0].args)
    key, length = map(facts.normal, row)
    return (
        text_of(place) == text_of(key)
        and as_long(facts, facts.normal(leaf.resolved().shape[-1]), length)
        and not any(names_in(key) & all_names(other, facts) for other in others)
    )
