"""Checks a certificate: nothing of it is believed that can be tried.

* Cases, the outputs of a case and the parts of each are all there: the leaves of trees without a gap.
* Each step is an instance of its law and stands where it says, from the term as it is written to its normal
  form. Sums and order are tried at numbers, like everything else: steps, ends of chains, both sides.
* Every obligation holds at random sizes that fit what is known in its case. No sizes fit a case that is
  left out because of them.

A certificate does not say what operators mean, nor that the cases of a rule are these: docs/soundness.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from random import Random
from typing import Any

from gslang.base.open_types import JsonObject
from gslang.verify.laws import BY_NAME, REAL, WHOLE, as_product, instance, subjects_of
from gslang.verify.recheck import terms
from gslang.verify.recheck.evaluate import Point, Sizes, near, value_of
from gslang.verify.recheck.terms import Refused, Term, size_from, term_from

_POINTS = 4  # at which each case is tried
_ATTEMPTS = 1000  # to find one that fits
_SIZES = (1, 2, 3, 1, 2, 3, 1, 2, 0, -1, 4, 5, 6, 8)
_EQUAL, _FLOATS, _BY_SIZES = "equal", "not shown for integers", "excluded by sizes"
IMPOSSIBLE = (
    _BY_SIZES, "excluded by a condition", "excluded by an operator", "excluded by element types",
    "excluded by a domain",
)
"""Reasons for which a case does not occur. The first is tried, the others are taken on trust, and counted."""


@dataclass(frozen=True, slots=True)
class Checked:
    """`counts`: how often there is what it names, of what was checked and of what was taken on trust."""

    rule: str
    claim: str
    counts: Counter[str] = field(default_factory=Counter)


def check(document: object, content: str | None = None, outputs: int | None = None) -> Checked:
    """The extent to which a certificate was checked.

    `content`: the digest of the rule that it should be about, `outputs`: the number of its outputs, if they
    are known. Raises `Refused`.
    """
    try:
        if not isinstance(document, dict) or document["sha256"] != terms.digest_of(document):
            raise Refused("modified after it was written: checksum mismatch")
        if content not in (None, document["content"]) or document["format"] != 2:
            raise Refused("it is for a different rule of that name, or a different version")
        claim, cases = document["claim"], document["cases"]
        result = Checked(str(document["rule"]), statement(claim))
        _check_tree([case["choices"] for case in cases])
        for number, case in enumerate(cases):
            try:
                _check_case(case, result.counts, Random(number), claim["laws"], outputs)
            except Refused as error:
                raise Refused(f"case {number + 1}: {error}") from error
        _check_claim(claim, result.counts)
        return result
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError) as error:
        raise Refused(f"invalid certificate: {type(error).__name__} {error}") from error


def statement(claim: JsonObject) -> str:
    """A claim in words, with the assumptions it rests on."""
    most, enough = claim["ranks"], claim["suffices"]
    ranks = "every rank and size" if most is None else f"ranks up to {most} and every size"
    suffices = () if enough is None else (f"ranks up to {enough} suffice",)
    types = "floating-point types" if claim["floats"] else "every element type that the operators take"
    assumed = (*["real arithmetic"] * claim["real"], "non-empty dimensions", *suffices, *claim["limits"])
    return f"for {ranks}, {types} ({', '.join(assumed)})"


def _check_claim(claim: JsonObject, counts: Counter[str]) -> None:
    for end, claimed in ((_EQUAL, claim["cases"]), ("equal for wrapping integers, too", claim["whole"])):
        if counts[end] != claimed:
            raise Refused(f"{counts[end]} cases are {end}; {claimed} are claimed")
    if not counts[_EQUAL] or bool(counts[_FLOATS]) is not claim["floats"]:
        raise Refused("no cases, or the claim on integers does not match the cases")
    if unknown := set(claim["laws"]) - BY_NAME.keys():
        raise Refused(f"unknown law `{min(unknown)}`")


def _check_tree(leaves: Sequence[Sequence[Sequence[int]]], depth: int = 0) -> None:
    """Every choice was taken: below each, all possibilities are there, once, in order."""
    if len(leaves) == 1 and len(leaves[0]) == depth:
        return
    ways = [leaf[depth] if len(leaf) > depth else [-1, -1] for leaf in leaves]
    count = ways[0][1]
    order = [choice for choice, _ in groupby(way[0] for way in ways)]
    if order != [*range(count)] or any(way[1] != count for way in ways):
        begun = [way[0] for way in leaves[0][:depth]]
        raise Refused(f"a case or an output is missing or duplicated after the choices {begun}")
    for k in range(count):
        _check_tree([leaf for leaf, way in zip(leaves, ways) if way[0] == k], depth + 1)


# ── one case ──


def _check_case(
    case: JsonObject, counts: Counter[str], random: Random, laws: Sequence[str], count: int | None
) -> None:
    end, outputs = case["end"], case["outputs"]
    obligations = [] if end == _FLOATS else case["obligations"]  # nothing is claimed there
    if end not in (_EQUAL, _FLOATS, *IMPOSSIBLE):
        raise Refused(f"unknown end of a case: `{end}`")
    counts.update(("cases", end))
    attempts = _ATTEMPTS if end == _EQUAL else _ATTEMPTS // 5 if obligations or end == _BY_SIZES else 0
    points = [*_points(case, random, attempts)]
    if end == _BY_SIZES:
        if points:
            raise Refused(f"excluded by sizes, but possible with {points[0].sizes}")
        return
    counts["cases without numerical test"] += bool(attempts) and not points
    for obligation in obligations:
        claimed, met = size_from(obligation["at_least_0"]), _under(obligation["assumed"], points)
        counts["obligations"] += 1
        counts["obligations without numerical test"] += bool(points) and not met
        if below := [point.sizes for point in met if point.sizes.of(claimed) < 0]:
            raise Refused(f"{claimed} is negative at {below[0]}")
    if end != _EQUAL:
        return
    counts["equal for wrapping integers, too"] += case["whole"] is True
    _check_tree([output["of"] for output in outputs])
    if count is not None and count != (found := outputs[0]["of"][0][1]):
        raise Refused(f"the rule has {count} outputs, the certificate has {found}")
    for output in outputs:
        _check_output(output, _Tried(points, case["whole"] is True, counts, laws))


@dataclass(frozen=True, slots=True)
class _Tried:
    """The numbers at which the terms of a case are tried. `whole`: integers that wrap are among them."""

    points: list[Point]
    whole: bool
    counts: Counter[str]
    laws: Sequence[str]

    def agree(
        self, a: Term, b: Term, where: str, kinds: Sequence[str] = (), assumed: Sequence[Any] = ()
    ) -> None:
        """Raises `Refused` where two terms differ."""
        if a != b:
            kinds = kinds or ((REAL, WHOLE) if self.whole else (REAL,))
            points = [replace(p, numbers=kind) for p in _under(assumed, self.points) for kind in kinds]
            defined = [_are_equal(a, b, point, where) for point in points]
            self.counts["equations without numerical test"] += not any(defined)


def _check_output(output: JsonObject, tried: _Tried) -> None:
    if "empty" in output:
        shape = [*map(size_from, output["empty"])]
        if any(all(point.sizes.of(size) > 0 for size in shape) for point in tried.points):
            raise Refused("an output claimed to be empty has elements")
    elif output.get("same") is True:
        tried.counts["outputs said to be identical"] += 1
    else:
        one, other = output["source"], output["target"]
        tried.agree(term_from(one["written"]), term_from(other["written"]), "both sides as written")
        ends = _check_chain(one, "source", tried), _check_chain(other, "target", tried)
        tried.agree(ends[0], ends[1], "both normal forms")


def _check_chain(side: JsonObject, name: str, tried: _Tried) -> Term:
    current, normal = term_from(side["written"]), term_from(side["normal"])
    tried.counts["sides without steps"] += not side["steps"] and current == normal
    for number, step in enumerate(side["steps"]):
        tried.counts["steps"] += 1
        where = f"step {number + 1} of the {name} (`{step['law']}`)"
        following = _after(step, current, tried, where)
        tried.agree(current, following, where)
        current = following
    tried.agree(current, normal, f"the end of the {name}")
    return normal


def _after(step: JsonObject, current: Term, tried: _Tried, where: str) -> Term:
    """The term that a step leads to, which must be an instance of its law, and stand where it says."""
    law = BY_NAME.get(step["law"])
    if law is None or law.name not in tried.laws:
        raise Refused(f"{where}: the claim does not list this law")
    if law.exactly:
        letters = {letter: term_from(value) for letter, value in step["letters"].items()}
        before, after = instance(law.left, letters), instance(law.right, letters)
    else:
        before, after = term_from(step["before"]), term_from(step["after"])
        if terms.names_in(before).isdisjoint(subjects_of(law)):
            raise Refused(f"{where}: the function of the law does not occur")
        kinds = (REAL,) if REAL in law.numbers else law.numbers[:1]
        tried.agree(before, after, where, kinds, step["assumed"])
    product, c = as_product(before)
    if not product or not terms.stands_at(current, product, step["at"]):
        raise Refused(f"{where}: the rewritten term is not at the stated position")
    return terms.replaced(current, product, terms.scaled(after, 1 / c))


def _under(assumed: Sequence[Any], points: list[Point]) -> list[Point]:
    """The points at which sizes are at least 0."""
    return [p for p in points if all(p.sizes.of(size) >= 0 for size in map(size_from, assumed))]


def _are_equal(a: Term, b: Term, point: Point, where: str) -> bool:
    """False where one is not defined. Raises `Refused` where they differ."""
    try:
        left, right = value_of(a, point), value_of(b, point)
    except ArithmeticError:
        return False
    if not near(left, right):
        raise Refused(f"{where}: {left} and {right} at {point.sizes}")
    return True


# ── sizes ──


def _points(case: JsonObject, random: Random, attempts: int) -> Iterator[Point]:
    """Random sizes and elements that fit all that is known."""
    sizes, kinds = case["sizes"], (REAL, WHOLE) if case["whole"] is True else (REAL,)
    above = [(term_from(term), 1e-9 if is_strict else 0) for term, is_strict in case["bounds"]]
    made = {name: (kind, tuple(map(size_from, parts))) for name, (kind, *parts) in sizes["made"].items()}
    equal = {name: size_from(value) for name, value in sizes["equal"].items()}
    positions = [(name, size_from(size)) for name, size in sizes["positions"]]
    products = [(names, size_from(value)) for names, value in sizes["products"]]
    positive, different = ([*map(size_from, sizes[kind])] for kind in ("at_least_0", "not_0"))
    choices = [[*map(size_from, factors)] for factors in sizes["one_of_them_0"]]
    if any(sum(c for c, _ in value) < 0 and not any(names for _, names in value) for value in positive):
        return
    found, known = 0, dict[object, Any]()
    for attempt in range(attempts):
        few = _SIZES[: 10 if attempt % 4 else None]  # sums over large ranges take long
        drawn = Sizes({name: random.choice(few) for name in sizes["names"]})
        drawn.made, drawn.equal = made, equal
        point = Point(drawn, attempt, attempt % 2 == 0, known=known)
        try:
            for names, value in products:  # the last factor follows from the others
                try:
                    rest, number = drawn.of(((1, names[:-1]),)), drawn.of(value)
                except KeyError:  # of positions, which are drawn after the sizes
                    continue
                if names[-1] in sizes["names"] and rest and number % rest == 0:
                    drawn[names[-1]] = number // rest
            for name, size in positions:
                drawn[name] = random.randrange(drawn.of(size))
            fits = (
                all(drawn.of(value) >= 0 for value in positive) and all(map(drawn.of, different))
                and all(any(drawn.of(factor) == 0 for factor in factors) for factors in choices)
                and all(drawn.of(((1, names),)) == drawn.of(value) for names, value in products)
                and all(value_of(t, replace(point, numbers=k)) >= least for t, least in above for k in kinds)
            )
        except (ArithmeticError, ValueError):  # an empty range
            continue
        found += fits
        if fits:
            yield point
        if found == _POINTS:
            return
