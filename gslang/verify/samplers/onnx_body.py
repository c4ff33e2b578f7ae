"""Samplers of ONNX operators with bodies."""

from __future__ import annotations

from random import Random

from gslang.base.open_types import Attrs
from gslang.verify.samplers.sample import Answer, Shape, Shapes, fill, some_shape

_WITH_AXIS = 0.5  # share of conditions that have one, when they are drawn first


def branch_operands(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """Shapes for an `If`: a condition of one element, of any rank, and what its branches read."""
    first, *rest = _after_scalars(1, rng, known)
    return [(1,) if known[0] is None and rng.random() < _WITH_AXIS else first, *rest], {}


def loop_operands(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """Shapes for a `Loop`: a number of rounds and a condition, of one element each, and what it carries.
    Mostly there is a round: none shows nothing of the body.
    """
    rounds = rng.choice((1, 1, 2, 2, 3, 12))
    settled: dict[str, object] = {"%0": rounds, "%1": True} if rng.random() < 0.7 else {}
    return _after_scalars(2, rng, known), settled


def _after_scalars(count: int, rng: Random, known: Shapes) -> list[Shape]:
    data = next((s for s in known[count:] if s is not None), None)
    data = some_shape(rng, rng.choice((1, 2, 3, 4))) if data is None else data
    return fill(known, *[()] * count, *[data] * len(known))
