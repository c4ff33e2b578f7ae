"""Operand shapes and attributes that fit an operator, for instances of rules.

A sampler gets what is settled already (operand types, None where open; attributes that the rule fixes) and
answers with shapes for the open operands and values for the open attributes. What it gives may still be
refused by type inference or by the matcher: it proposes, they decide. Sizes differ from one another where
they can, so that swapped axes show.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from random import Random
from typing import Any

from gslang.base.open_types import Attrs
from gslang.base.quick_dataclass import dataclass

Shape = tuple[int, ...]
Shapes = list["Shape | None"]
Answer = tuple[list[Shape], dict[str, Any]]
Sampler = Callable[[Random, Shapes, Attrs], Answer]

_USUAL = 0.8  # share of factors of normalizations that have a number for each element of the last axes
_FITTING = 0.7  # share of transposes whose result has the shape of what stands beside it
_SIZES = (2, 3, 4, 5, 6, 1)


def some_shape(rng: Random, rank: int | None = None) -> Shape:
    """A shape of different sizes; now and then with a 1."""
    rank = rng.choice((0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 6)) if rank is None else rank
    sizes = rng.sample(_SIZES, min(rank, 6)) + [1, 2, 1, 1][: max(0, rank - 6)]
    return tuple(sizes[:rank]) if prod(sizes) <= 400 else tuple(min(s, 3) for s in sizes[:rank])


@dataclass(frozen=True, slots=True)
class Only:
    """A value of an operand that has to be a constant: at random it would make no sense (a scale below zero).
    """

    value: Any


def data_shape(rng: Random, known: Shapes, least: int = 1) -> Shape:
    found = known[0] if known else None
    return (
        found if found is not None
        else some_shape(rng, rng.choice([r for r in (1, 2, 2, 3, 3, 4) if r >= least] or [least]))
    )


def fill(known: Shapes, *proposed: Shape) -> list[Shape]:
    """Shapes of all operands: known ones as they are, then the proposed ones, scalars where there are more.
    """
    return [s if s is not None else proposed[k] if k < len(proposed) else () for k, s in enumerate(known)]


def nested(shape: Shape, values: Sequence[object]) -> Any:
    """Values in tuples of this shape, of which there are as many as it has elements."""
    if len(shape) < 2:
        return tuple(values) if shape else values[0]
    size = prod(shape[1:])
    return tuple([nested(shape[1:], values[k * size : (k + 1) * size]) for k in range(shape[0])])


def any_axis(rng: Random, rank: int) -> int:
    return rng.randrange(-rank, rank) if rank else 0


def written(rng: Random, axes: Sequence[int], rank: int) -> Shape:
    """These axes, which count from the front and in order: mostly so, else in any order, counted from the
    back, or each as it comes.
    """
    order = tuple(axes) if rng.random() < 0.7 else tuple(rng.sample(axes, len(axes)))
    style = rng.random()
    return (
        order if style < 0.6
        else tuple([a - rank for a in order]) if style < 0.8
        else tuple([a - rng.choice((0, rank)) for a in order])
    )


def least_rank(axes: Any) -> int:
    """The least rank that has all of these axes."""
    stated: tuple[int, ...] = (axes,) if isinstance(axes, int) else tuple(axes or ())
    return max([1, *[a + 1 if a >= 0 else -a for a in stated]])


def _broadcast_with(rng: Random, shape: Shape) -> Shape:
    """A shape that broadcasts against `shape`."""
    kind = rng.random()
    if kind < 0.45:
        return shape
    if kind < 0.6:
        return ()
    if kind < 0.7:
        return (2, *shape) if len(shape) < 5 else shape
    kept = shape[rng.randrange(len(shape) + 1) :]
    return tuple(1 if rng.random() < 0.4 else d if d != 1 else rng.choice((1, 2, 3)) for d in kept)


def factor_of(rng: Random, data: Shape, usual: Shape) -> Shape:
    """A shape that broadcasts into `data`: mostly the usual one."""
    if rng.random() < _USUAL:
        return usual
    return tuple(1 if rng.random() < 0.3 else d for d in data[rng.randrange(len(data) + 1) :])


def _elementwise(rng: Random, known: Shapes, attrs: Attrs) -> Answer:
    shapes: list[Shape] = []
    base = next((s for s in known if s), None)  # a scalar says nothing about the others
    if base is None and attrs.get("%beside") and rng.random() < 0.8:
        base = _broadcast_with(rng, attrs["%beside"])
    if rng.random() < 0.1 and base is None:
        base = some_shape(rng, rng.choice((1, 2, 3)))
    for s in known:
        shapes.append(s if s is not None else some_shape(rng) if base is None else _broadcast_with(rng, base))
        base = base if base is not None else shapes[-1]
    return shapes, {}


def wanted_of_transpose(rng: Random, known: Shapes, axes: Shape | None, attrs: Attrs) -> Shape | None:
    """The shape of what stands beside a transpose, where its operand is made so that the result has it, too.
    """
    beside: Shape | None = attrs.get("%beside")
    if known[0] is not None or not beside or len(axes or beside) != len(beside):
        return None
    return beside if rng.random() < _FITTING else None


def before_transpose(axes: Sequence[int], result: Shape) -> Shape:
    """The shape that an order of axes turns into `result`."""
    back = sorted(range(len(axes)), key=lambda k: axes[k] % len(axes))
    return tuple([result[k] for k in back])


def _same_shapes(rng: Random, known: Shapes, attrs: Attrs) -> Answer:
    base = next((s for s in known if s is not None), None) or some_shape(rng, rng.choice((1, 2, 3, 4)))
    return [s if s is not None else base for s in known], {}


def block_of(rng: Random, sizes: Mapping[str, int], to_space: bool) -> int:
    """The size of blocks of an image into which its channels go (`to_space`), or its rows and columns: mostly
    one that fits the sizes that are known."""
    fits = (
        [b for b in (2, 3, 4) if sizes.get("C", 0) % (b * b) == 0] if to_space
        else [b for b in (2, 3, 4) if not any(sizes.get(letter, 0) % b for letter in "HW")]
    )
    return rng.choice((2, 2, fits[0], *fits[:2])) if fits else rng.choice((1, 2))


def factors(rng: Random, total: int) -> Shape:
    """A shape of `total` elements."""
    parts: list[int] = []
    for p in (2, 3, 5, 7):
        while total % p == 0 and total > 1:
            parts.append(p)
            total //= p
    if total > 1:
        parts.append(total)
    rng.shuffle(parts)
    while len(parts) > 1 and (len(parts) > 4 or rng.random() < 0.4):
        parts[0:2] = [parts[0] * parts[1]]
    return tuple(parts)


def sample(
    rng: Random,
    operator: str,
    traits: frozenset[str],
    known: Sequence[Shape | None],
    attrs: Attrs,
    samplers: Mapping[str, Sampler],
) -> Answer:
    """Shapes of all operands (the known ones as they are) and values for open attributes.

    `samplers`: the dialect's.
    """
    chosen = samplers.get(operator) or (
        _elementwise if "elementwise" in traits or "broadcast" in traits else _same_shapes
    )
    return chosen(rng, list(known), attrs)
