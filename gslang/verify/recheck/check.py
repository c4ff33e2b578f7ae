"""Checks a certificate: nothing of it is believed.

* Its cases are all: the choices that lead to them are the leaves of one tree of which no branch is missing.
* Each step is an instance of its law and stands where it says, so that the chain leads from the term as it
  is written to the normal form. Sums and order are tried at numbers, like
  everything else: every step, both ends of each chain, and both sides of the output.
* Both normal forms are equal, or at least at all numbers that are tried.
* Every obligation holds at random sizes that fit what is known in its case.

A certificate does not say what operators mean, nor that the cases of a rule are these: docs/soundness.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from gslang.base.open_types import JsonObject
from gslang.verify.laws import BY_NAME, REAL, WHOLE, as_product, instance
from gslang.verify.recheck.evaluate import Point, Undefined, near, value_of
from gslang.verify.recheck.terms import (
    Malformed,
    Term,
    digest_of,
    replaced,
    scaled,
    size_from,
    stands_at,
    term_from,
)

_POINTS = 4  # at which each case is tried
_ATTEMPTS = 1000  # to find one that fits
_SIZES = (1, 1, 2, 2, 3, 3, 4, 5, 6, 0, -1, 8)
_SIDES = ("source", "target")
_ENDS = ("equal", "impossible", "whole numbers left out")


class Refused(Exception):
    """A certificate is wrong. The message tells where and why."""


@dataclass(slots=True)
class Checked:
    """The part of a certificate that was looked at.

    `untried`: cases for which no sizes were found, and steps and ends that were defined at no number.
    """

    rule: str = ""
    reason: str = ""
    cases: int = 0
    steps: int = 0
    obligations: int = 0
    untried: int = 0


def check(document: object, content: str | None = None) -> Checked:
    """The extent to which a certificate was checked.

    `content`: the digest of the rule that it should be about. Raises `Refused`.
    """
    try:
        if (
            not isinstance(document, dict) or document["format"] != 1
            or digest_of(document) != document["sha256"]
        ):
            raise Refused("it was changed since it was written: its checksum is another one")
        if content is not None and document["content"] != content:
            raise Refused("it is about another rule of that name")
        result = Checked(str(document["rule"]), str(document["reason"]))
        _check_claim(document)
        _check_tree([case["choices"] for case in document["cases"]])
        for number, case in enumerate(document["cases"]):
            try:
                _check_case(case, result, Random(number), document["claim"]["laws"])
            except Refused as error:
                raise Refused(f"case {number + 1}: {error}") from error
        return result
    except Malformed as error:
        raise Refused(str(error)) from error
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError) as error:
        raise Refused(f"it is not of the form of a certificate: {type(error).__name__} {error}") from error


def _check_claim(document: JsonObject) -> None:
    claim, ends = document["claim"], [case["end"] for case in document["cases"]]
    if not set(ends) <= set(_ENDS) or ends.count("equal") != claim["cases"] or not claim["cases"]:
        raise Refused(f"{ends.count('equal')} cases are shown to be equal, {claim['cases']} are claimed")
    if ("whole numbers left out" in ends) is not claim["floats"]:
        raise Refused("the claim on whole numbers is another one than that of the cases")
    if unknown := set(claim["laws"]) - BY_NAME.keys():
        raise Refused(f"there is no law `{min(unknown)}`")


def _check_tree(leaves: Sequence[Sequence[Sequence[int]]], depth: int = 0) -> None:
    """Every choice was taken: below each, all possibilities are there, once, in order."""
    if len(leaves) == 1 and len(leaves[0]) == depth:
        return
    ways = [leaf[depth] if len(leaf) > depth else [-1, -1] for leaf in leaves]
    count = ways[0][1]
    order = [way[0] for way in ways]
    if (
        any(way[1] != count for way in ways) or len(set(order)) != count or order[0] or order[-1] != count - 1
        or order != sorted(order)
    ):
        begun = [way[0] for way in leaves[0][:depth]]
        raise Refused(f"a case is missing, or there twice, after the choices {begun}")
    for k in range(count):
        _check_tree([leaf for leaf, way in zip(leaves, ways) if way[0] == k], depth + 1)


# ── one case ──


def _check_case(case: JsonObject, result: Checked, random: Random, laws: Sequence[str]) -> None:
    tries = bool(case["obligations"] or case["end"] == "equal" and case["outputs"])
    points = list(_points(case["sizes"], random)) if tries else []
    result.cases += 1
    result.untried += tries and not points
    for obligation in case["obligations"]:
        result.obligations += 1
        assumed, claimed = [*map(size_from, obligation["assumed"])], size_from(obligation["at_least_0"])
        for point in points:
            if all(point.size(size) >= 0 for size in assumed) and point.size(claimed) < 0:
                raise Refused(f"{claimed} is below 0 at {point.sizes}")
    if case["end"] == "equal":
        for output in case["outputs"]:
            a, b = [term_from(output[side]["written"]) for side in _SIDES]
            result.untried += not _agree(a, b, points, case["whole"], "both sides as they are written")
            a, b = [_check_chain(output[side], side, case["whole"], points, result, laws) for side in _SIDES]
            result.untried += not _agree(a, b, points, case["whole"], "both normal forms")


def _check_chain(
    side: JsonObject, name: str, whole: bool, points: list[Point], result: Checked, laws: Sequence[str]
) -> Term:
    current, normal = term_from(side["written"]), term_from(side["normal"])
    for number, step in enumerate(side["steps"]):
        result.steps += 1
        where = f"step {number + 1} of the {name} (`{step['law']}`)"
        following = _after(step, current, points, where, laws)
        result.untried += not _agree(current, following, points, whole, where)
        current = following
    result.untried += not _agree(current, normal, points, whole, f"the end of the {name}")
    return normal


def _after(step: JsonObject, current: Term, points: list[Point], where: str, laws: Sequence[str]) -> Term:
    """The term that a step leads to, which must be an instance of its law, and stand where it says."""
    law = BY_NAME.get(step["law"])
    if law is None or law.name not in laws:
        raise Refused(f"{where}: the claim names no such law")
    if law.exactly:
        letters = {letter: term_from(value) for letter, value in step["letters"].items()}
        before, after = instance(law.left, letters), instance(law.right, letters)
    else:
        before, after = term_from(step["before"]), term_from(step["after"])
        assumed = [size_from(size) for size in step["assumed"]]
        for point in points:
            numbers = REAL if REAL in law.numbers else law.numbers[0]
            if all(point.size(size) >= 0 for size in assumed):
                _compare(before, after, replace(point, numbers=numbers), where)
    product, c = as_product(before)
    if not product or not stands_at(current, product, step["at"]):
        raise Refused(f"{where}: what it rewrites does not stand where it says")
    return replaced(current, product, scaled(after, 1 / c))


def _agree(a: Term, b: Term, points: list[Point], whole: bool, where: str) -> bool:
    """True if both terms were defined somewhere. Raises `Refused` where they differ."""
    kinds = (REAL, WHOLE) if whole else (REAL,)
    return a == b or any(
        [_compare(a, b, replace(point, numbers=kind), where) for point in points for kind in kinds]
    )


def _compare(a: Term, b: Term, point: Point, where: str) -> bool:
    try:
        left, right = value_of(a, point), value_of(b, point)
    except Undefined:
        return False
    if not near(left, right):
        raise Refused(f"{where}: {left} and {right} at {point.sizes}")
    return True


# ── sizes ──


def _points(sizes: JsonObject, random: Random) -> Iterator[Point]:
    """Random sizes that fit all that is known."""
    made = {name: (kind, tuple(map(size_from, parts))) for name, (kind, *parts) in sizes["made"].items()}
    equal = {name: size_from(value) for name, value in sizes["equal"].items()}
    positions = [(name, size_from(size)) for name, size in sizes["positions"]]
    products = [(names, size_from(value)) for names, value in sizes["products"]]
    broadcast = [(size_from(small), size_from(big)) for small, big in sizes["one_or"]]
    pairs = [(size_from(one), size_from(other)) for one, other in sizes["broadcast"]]
    positive, different = ([size_from(value) for value in sizes[kind]] for kind in ("at_least_0", "not_0"))
    found, known = 0, dict[object, Any]()
    for attempt in range(_ATTEMPTS):
        point = Point(
            {name: random.choice(_SIZES) for name in sizes["names"]}, attempt, attempt % 2 == 0, REAL, made,
            equal, known=known,
        )
        try:
            for names, value in products:  # the last factor follows from the others
                try:
                    rest, number = product_of(point, names[:-1]), point.size(value)
                except KeyError:  # of positions, which are drawn after the sizes
                    continue
                if names[-1] in sizes["names"] and rest and number % rest == 0:
                    point.sizes[names[-1]] = number // rest
            for name, size in positions:
                point.sizes[name] = random.randrange(point.size(size))
            fits = all(point.size(value) >= 0 for value in positive) and all(
                point.size(value) for value in different
            )
            fits = fits and all(point.size(small) in (1, point.size(big)) for small, big in broadcast)
            fits = fits and all(
                1 in (one := point.size(a), other := point.size(b)) or one == other for a, b in pairs
            )
            fits = fits and all(product_of(point, names) == point.size(value) for names, value in products)
        except (Undefined, ValueError):  # an empty range
            continue
        found += fits
        if fits:
            yield point
        if found == _POINTS:
            return


def product_of(point: Point, names: Sequence[str]) -> int:
    """The product of quantities."""
    return point.size(((1, tuple(names)),))
