"""Very low numbers in place of scores of a softmax: whatever is added to one, it stays what it is.

No float of 32 or 64 bits tells a number of at most −10²⁹ (`reals.LOW`) from its sum with a number of a usual
size. That is no law of real numbers: it is used for the scores of a softmax alone, and a claim that rests on
it says so.
"""

from __future__ import annotations

from gslang.verify.prove.operators.outweighed import Row, weighed
from gslang.verify.prove.operators.tensors import World
from gslang.verify.prove.terms.axioms import apply
from gslang.verify.prove.terms.terms import ONE, Atom, Term, of_atom, term, unknown, with_value
from gslang.verify.prove.terms.uses import is_raw, rewrite

_LAW = "very low number"
_NOTE = "numbers ≤ −10²⁹ absorb any addend"
_MOST_TRUTHS = 4  # that decide whether a score is very low


def weight(world: World, score: Term, row: Row | None = None) -> Term:
    """exp of a score, in which nothing is added to very low numbers; 0 for one that is outweighed. `row`:
    where the score stands in its row of a softmax, if that is known.
    """
    if is_raw():
        return apply("exp", [score])
    if row is not None and any(atom.name == "outweighed" for atom in score.atoms()):
        found = weighed(world, score, row)
        return apply("exp", [score]) if found is None else found
    if not any(_is_low(atom) for atom in score.atoms()):
        return apply("exp", [score])
    settled = _by_cases(score, _deciding(score))
    if settled is None or settled.key == score.key:
        return apply("exp", [score])
    world.notes.add(_NOTE)
    result = apply("exp", [settled])
    rewrite(_LAW, lambda: unknown("exp", score), result)
    return result


def _is_low(atom: Atom) -> bool:
    return atom.kind == "fn" and atom.name == "very_low"


def _deciding(score: Term) -> list[Atom]:
    """The truth values that very low numbers are multiplied with."""
    found = {
        atom
        for factors in score.parts if any(_is_low(atom) for atom, _ in factors)
        for atom, _ in factors if atom.kind == "fn" and atom.name == "truth"
    }
    return sorted(found, key=lambda atom: atom.key)


def _by_cases(score: Term, deciding: list[Atom]) -> Term | None:
    """The score without what is added to very low numbers, case by case; None where it cannot be told."""
    if len(deciding) > _MOST_TRUTHS:
        return None
    if not deciding:
        return _swallowed(score)
    atom, *rest = deciding
    either = [_by_cases(with_value(score, atom, value), rest) for value in (0, 1)]
    if either[0] is None or either[1] is None:
        return None
    truth = of_atom(atom)
    return (ONE - truth) * either[0] + truth * either[1]


def _swallowed(score: Term) -> Term | None:
    """The very low numbers of a sum; the sum itself where there are none, None where one is not below all."""
    low = {
        factors: c for factors, c in score.parts.items() if any(_is_low(atom) for atom, _ in factors)
    }
    if any(c <= 0 or len(factors) != 1 or factors[0][1] != 1 for factors, c in low.items()):
        return None
    return term(low) if low else score

