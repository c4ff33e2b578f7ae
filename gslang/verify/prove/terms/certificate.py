"""The record of a proof: its cases, and for each output the steps that lead both sides to their normal forms.

The prover makes terms in normal form right away. For a certificate, each element of an output is made once
more as it is written (`uses.untouched`), and the laws that were used are replayed on that: each step is a
law, and where in the term it was used. What is left then (sizes brought up to date, sums
in another order) is a step without a law, which the checker can only try at numbers. Obligations are
inequalities of sizes that the proof rests on, each with what was assumed; the facts of the case belong to all
of them.

The terms are those of `recheck.terms`, so that prover and checker need not share more than laws and terms.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from fractions import Fraction
from itertools import permutations
from math import factorial
from typing import Any

from gslang.base.quick_dataclass import dataclass
from gslang.verify.laws import BY_NAME, as_product, instance
from gslang.verify.prove.terms import terms as own
from gslang.verify.prove.terms.facts import Facts
from gslang.verify.prove.terms.paths import NotProved
from gslang.verify.prove.terms.sizes import Number, Size, terms_of
from gslang.verify.prove.terms.terms import Term
from gslang.verify.prove.terms.uses import Use, recording, untouched
from gslang.verify.recheck import terms as plain
from gslang.verify.recheck.terms import digest_of

FORMAT = 2
_MOST_ORDERS = 720
_MOST_STEPS = 300  # of one side of one output


@dataclass(slots=True)
class Side:
    """One side of an output: the term as it is written, if it could be made, its normal form, and the laws
    used in between.
    """

    written: Term | None
    normal: Term
    uses: list[Use]


Path = tuple[tuple[int, int], ...]  # to a part of the outputs: (which one, of how many) at each level


@dataclass(slots=True)
class Compared:
    """An element of an output, on both sides."""

    path: Path
    source: Side
    target: Side


@dataclass(slots=True)
class Alike:
    """An output of which no element is compared: the same value on both sides, or, with a shape, one without
    elements.
    """

    path: Path
    shape: tuple[Number, ...] | None


@dataclass(slots=True)
class CaseRecord:
    """The outputs of one case."""

    facts: Facts
    outputs: list[Compared | Alike] = field(default_factory=list)

    def side(self, element: Callable[[], Term]) -> tuple[Term, Side]:
        """(the element, what it was made of): it is made once more, as written."""
        count: int = self._noted("count", lambda: self.facts.count)
        with recording(lambda: self._noted("assumed", self._assumed)) as uses:
            normal = element()
        return normal, Side(self._noted("written", lambda: self._written(element, count)), normal, uses)

    def _noted(self, name: str, compute: Callable[[], Any]) -> Any:
        """The value that the run before found here, else what is computed."""
        facts = self.facts
        assert facts.journal is not None
        return facts.journal.ask(facts.choices, name, (), compute, True)

    def _assumed(self) -> tuple[Size, ...]:
        return tuple([value for values in self.facts.assumed for value in values])

    def _written(self, element: Callable[[], Term], count: int) -> Term | None:
        """The element as it is written, with positions of the same names; None where it cannot be made
        without a law, or without another choice. `count`: of names, where the element was begun.
        """
        facts = self.facts
        choices, after = facts.choices, facts.count
        left, taken, bounds = choices.budget.left, len(choices.taken), list(choices.bounds)
        facts.count = count
        written = None
        try:
            with untouched():
                written = element()
        except NotProved:
            pass
        if len(choices.taken) > taken:
            written, choices.bounds = None, bounds
            del choices.taken[taken:]
            assert facts.journal is not None
            facts.journal.forget(taken)
        facts.count, choices.budget.left = max(after, facts.count), left
        return written


# ── as plain terms ──


def as_json(value: object) -> object:
    """A term or a part of one as lists and texts."""
    if isinstance(value, Fraction):
        return str(value)
    return [as_json(item) for item in value] if isinstance(value, tuple) else value


def plain_size(value: Number) -> plain.Size:
    """A size of the prover as one of a certificate."""
    return tuple(sorted((c, tuple(names)) for names, c in terms_of(value).items()))


def plain_term(value: Term) -> plain.Term:
    """A term of the prover as one of a certificate."""
    result: list[plain.Term] = []
    for factors, c in value.parts.items():
        product = plain.constant(c)
        for atom, exponent in factors:
            product = plain.multiply(product, plain.power(_plain_atom(atom), exponent))
        result.append(product)
    return plain.add(*result)


def _plain_atom(atom: own.Atom) -> plain.Term:
    match atom.kind:
        case "read":
            return plain.of_atom(("read", atom.name, *map(plain_size, atom.args)))
        case "num" | "guard":
            return plain.of_atom((atom.kind, plain_size(atom.args[0])))
        case "fn":
            return plain.function(atom.name, *map(plain_term, atom.args))
        case "group":
            return plain_term(atom.args[0])
        case "total":
            return plain.of_atom((
                "total", atom.name, tuple((name, plain_size(size)) for name, size in atom.variables),
                plain_term(atom.args[0]),
            ))
    raise ValueError(atom.kind)


# ── names of positions that sums run over ──


def renamed(term: plain.Term, names: Mapping[str, str]) -> plain.Term:
    """Positions under other names."""

    def change(atom: plain.Atom) -> plain.Term:
        match atom:
            case ("read", name, *index):
                return plain.of_atom(("read", name, *[_size_renamed(size, names) for size in index]))
            case ("num" | "guard" as kind, size):
                return plain.of_atom((kind, _size_renamed(size, names)))
            case ("total", kind, variables, body):
                own = tuple((names.get(name, name), _size_renamed(size, names)) for name, size in variables)
                return plain.of_atom(("total", kind, own, renamed(body, names)))
        return plain.inside(atom, lambda inner: renamed(inner, names))

    return plain.rebuilt(term, change)


def _size_renamed(size: plain.Size, names: Mapping[str, str]) -> plain.Size:
    return tuple(sorted((c, tuple(sorted(names.get(name, name) for name in product))) for c, product in size))


def canonical(term: plain.Term, depth: int = 0) -> plain.Term:
    """The same term whatever its sums call their positions: the numbering with the least text."""

    def change(atom: plain.Atom) -> plain.Term:
        match atom:
            case ("total", kind, variables, body):
                if factorial(len(variables)) > _MOST_ORDERS or _is_hidden(variables, body):
                    return plain.of_atom(atom)
                numbered = []
                for order in permutations(variables):
                    names = {name: f"@{depth}.{k}" for k, (name, _) in enumerate(order)}
                    inner = canonical(renamed(body, names), depth + 1)
                    numbered.append(
                        ("total", kind, tuple((names[name], size) for name, size in order), inner)
                    )
                return plain.of_atom(min(numbered, key=repr))
        return plain.inside(atom, lambda inner: canonical(inner, depth))

    return plain.rebuilt(term, change)


def _is_hidden(variables: Iterable[tuple[str, object]], body: plain.Term) -> bool:
    """True if the name of a quantity (`within(1*@3, …)`) has the name of a position in it, which no other
    name can stand for there.
    """
    text = repr(body)
    return any(re.search(rf"\([^']*\*{re.escape(name)}(?![\w.])", text) for name, _ in variables)


# ── steps ──


def side_as_json(side: Side) -> dict[str, object]:
    """The chain of steps from the term as it is written to its normal form; `tail`: what is left between the
    last step and that.
    """
    normal = canonical(plain_term(side.normal))
    current = normal if side.written is None else plain_term(side.written)
    start, steps = current, []
    if side.written is not None:
        for used in side.uses[:_MOST_STEPS]:
            step = _step(used, current)
            if step is not None:
                current, entry = step
                steps.append(entry)
    return {"written": as_json(start), "steps": steps, "normal": as_json(normal)}


def _step(used: Use, current: plain.Term) -> tuple[plain.Term, dict[str, object]] | None:
    """The term after a use of a law, and the step; None where the law was used on something that is not in
    the term.
    """
    law = BY_NAME[used.law]
    try:
        if used.before is None or used.after is None:
            letters = {letter: plain_term(value) for letter, value in used.binding.items()}
            before, after = (instance(side, letters) for side in (law.left, law.right))
            entry: dict[str, object] = {
                "law": used.law,
                "letters": {letter: as_json(value) for letter, value in sorted(letters.items())},
            }
        else:
            before, after = plain_term(used.before), plain_term(used.after)
            entry = {"law": used.law, "before": as_json(before), "after": as_json(after)}
        if not law.exactly:
            entry = {"law": used.law, "before": as_json(before), "after": as_json(after)}
        product, c = as_product(before)
    except ValueError:
        return None
    if not product or before == after or (place := place_of(current, product)) is None:
        return None
    result = plain.replaced(current, product, plain.scaled(after, 1 / c))
    if result == current:
        return None
    entry |= {"at": place, "assumed": [as_json(plain_size(v)) for v in used.assumed]}
    return result, entry


def place_of(term: plain.Term, product: plain.Factors) -> list[int] | None:
    """Where a product first stands: summand, factor, argument, summand, …; None if it does not."""
    for k, (_, factors) in enumerate(term):
        if plain.divides(product, factors):
            return [k]
        for j, (atom, _) in enumerate(factors):
            for i, inner in enumerate(plain.terms_in(atom)):
                found = place_of(inner, product)
                if found is not None:
                    return [k, j, i, *found]
    return None


# ── cases ──


def as_certificate(name: str, content: str, proof: Any) -> str:
    """The certificate of a proof as JSON.

    `content`: the digest of the rule. What it claims is what was recorded: a verdict may reach further.
    """
    document: dict[str, object] = {
        "format": FORMAT,
        "rule": name,
        "content": content,
        "claim": proof.claimed,
        "cases": list(proof.written),
    }
    document["sha256"] = digest_of(document)
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n"


def case_as_json(
    record: CaseRecord, end: str, whole: bool, contradicting: Iterable[Number] = ()
) -> dict[str, object]:
    """A case: the choices that lead to it, what is known of sizes there, what follows from that, the terms
    that are at least 0 (or above it), and its outputs. `contradicting`: sizes that would have to be at least
    0 in a case that is left out.
    """
    facts = record.facts
    outputs = [_output_as_json(output) for output in record.outputs] if end == "equal" else []
    obligations = []
    seen: set[str] = set()
    for assumed, value in facts.proved or ():
        entry = {
            "assumed": [as_json(plain_size(v)) for v in assumed],
            "at_least_0": as_json(plain_size(value)),
        }
        if (text := repr(entry)) not in seen:
            seen.add(text)
            obligations.append(entry)
    return {
        "choices": [list(pair) for pair in facts.choices.taken],
        "end": end,
        "whole": whole,
        "sizes": _sizes(facts, contradicting),
        "bounds": _bounds(facts),
        "obligations": obligations,
        "outputs": outputs,
    }


def _bounds(facts: Facts) -> list[object]:
    """The terms that are at least 0 in a case, or above it. Numbers that are known stand in the other terms:
    that they are equal to an element is left out.
    """
    bounds = [(plain_term(term), strict) for term, strict in facts.choices.bounds]
    equal = {term for term, strict in bounds if not strict and (plain.scaled(term, -1), False) in bounds}
    return [[as_json(term), strict] for term, strict in bounds if term not in equal]


def _output_as_json(output: Compared | Alike) -> dict[str, object]:
    """`of`: which output, and which part of it; `empty`: sizes of which one is 0."""
    path = {"of": [list(step) for step in output.path]}
    if isinstance(output, Compared):
        return {**path, "source": side_as_json(output.source), "target": side_as_json(output.target)}
    return {**path, "same": True} if output.shape is None else {**path, "empty": _sizes_of(output.shape)}


def _sizes(facts: Facts, contradicting: Iterable[Number]) -> dict[str, object]:
    """The facts about sizes in a case, in the order in which they were made."""
    made = {name: ["floor", *_sizes_of(parts)] for name, parts in facts.floors.items()}
    made |= {name: ["within", *_sizes_of(parts)] for name, parts in facts.withins.items()}
    made |= {name: ["clip", *_sizes_of(parts)] for name, parts in facts.clips.items()}
    made |= {name: ["join", *_sizes_of(parts)] for name, parts in facts.joins.items()}
    plain_ones = [name for name in facts.order if name not in made and name not in facts.ranges]
    return {
        "names": [name for name in plain_ones if name not in facts.equations],
        "positions": [
            [name, as_json(plain_size(size))]
            for name, size in facts.ranges.items() if name not in facts.equations
        ],
        "sums_over": sorted(facts.bounds),
        "made": made,
        "equal": {name: as_json(plain_size(value)) for name, value in facts.equations.items()},
        "products": [[list(names), as_json(plain_size(value))] for names, value in facts.products.items()],
        "at_least_0": _sizes_of((*facts.known, *contradicting)),
        "one_of_them_0": [  # a size that is 1 or the other one; sizes that are equal, or one of them 1
            *(_sizes_of((small - 1, small - big)) for small, big in facts.fitting),
            *(_sizes_of((a - 1, b - 1, a - b)) for a, b in facts.fitting_sizes),
        ],
        "not_0": [as_json(plain_size(value)) for value in facts.different],
    }


def _sizes_of(parts: Iterable[Number]) -> list[object]:
    return [as_json(plain_size(part)) for part in parts]
