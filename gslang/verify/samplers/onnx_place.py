"""Samplers of ONNX operators that choose elements by their places: gather, scatter, top-k, crops, losses."""

from __future__ import annotations

from math import prod
from random import Random

from gslang.base.open_types import Attrs
from gslang.verify.samplers.sample import Answer, Only, Shapes, any_axis, data_shape, fill, least_rank, nested


def gather(rng: Random, known: Shapes, given: Attrs) -> Answer:
    axis, indices = given.get("axis"), given.get("%1")
    data = data_shape(rng, known, least_rank(axis))
    axis = axis if axis is not None else any_axis(rng, len(data))
    size = data[axis % len(data)] if data else 1
    least = -size if rng.random() < 0.3 else 0  # indices below 0 count from the end
    shape = rng.choice(((), (1,), (2,), (3,), (2, 2)))
    chosen = nested(shape, [rng.randrange(least, size) for _ in range(prod(shape))])
    if indices is not None:
        chosen, shape = indices, () if isinstance(indices, int) else (len(indices),)
    elif rng.random() < 0.3:  # an input
        return fill(known, data, shape), {"axis": axis}
    return fill(known, data, shape), {"axis": axis, "%1": chosen}


def gather_nd(rng: Random, known: Shapes, given: Attrs) -> Answer:
    batch = given.get("batch_dims")
    batch = rng.choice((0, 0, 1, 2)) if batch is None else batch
    data = data_shape(rng, known, batch + 1)
    batch = max(min(batch, len(data) - 1), 0)
    depth = rng.randint(1, max(len(data) - batch, 1))
    count = rng.choice(((1,), (2,), (3,), (), (2, 2)))
    return fill(known, data, (*data[:batch], *count, depth)), {"batch_dims": batch}


def top_k(rng: Random, known: Shapes, given: Attrs) -> Answer:
    axis = given.get("axis")
    data = data_shape(rng, known, least_rank(axis))
    axis = axis if axis is not None else any_axis(rng, len(data))
    size = data[axis % len(data)] if data else 1
    return fill(known, data, (1,)), {
        "axis": axis,
        "%1": Only((rng.randint(1, max(1, size)),)),
        "largest": rng.choice((0, 1)),
    }


def compress(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """The condition may be shorter than what it chooses from."""
    axis = given.get("axis", None)
    data = data_shape(rng, known, least_rank(axis))
    axis = axis if "axis" in given else rng.choice((None, *[any_axis(rng, len(data))] * 2))
    size = prod(data) if axis is None else data[axis % len(data)] if data else 1
    return fill(known, data, (rng.choice((size, max(1, size - 1))),)), {"axis": axis}


_SHORT = 3  # of rows whose number of elements is not known yet


def reverse_sequence(rng: Random, known: Shapes, given: Attrs) -> Answer:
    data = data_shape(rng, known, 2)
    batch = given.get("batch_axis", 1 - given["time_axis"] if "time_axis" in given else rng.choice((0, 1)))
    time = given.get("time_axis", 1 - batch)
    most = data[time] if known[0] is not None else min(data[time], _SHORT)
    lengths = tuple(rng.randint(1, most) for _ in range(data[batch])) if len(data) > 1 else (1,)
    return fill(known, data, (len(lengths),)), {"batch_axis": batch, "time_axis": time, "%1": lengths}


def trilu(rng: Random, known: Shapes, given: Attrs) -> Answer:
    return fill(known, data_shape(rng, known, 2), ()), {
        "upper": rng.choice((0, 1)), "%1": Only(rng.choice((0, 1, -1, 2))),
    }  # fmt: skip


def one_hot(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """Some of the numbers are no place, or count from the end."""
    indices = data_shape(rng, known)
    return fill(known, indices, (), (2,)), {
        "axis": rng.randint(-len(indices) - 1, len(indices)), "%1": Only(rng.choice((2, 3, 5))),
    }  # fmt: skip


def scatter_nd(rng: Random, known: Shapes, given: Attrs) -> Answer:
    data = data_shape(rng, known)
    depth = known[1][-1] if known[1] else rng.randint(1, max(1, len(data)))
    count = known[1][:-1] if known[1] else rng.choice(((1,), (2,), (3,), (), (2, 1)))
    return fill(known, data, (*count, depth), (*count, *data[depth:])), {
        "reduction": rng.choice(("none", "none", "add", "mul", "max", "min")),
    }


def scatter_elements(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """Fewer updates than there is data, along any axis."""
    data = data_shape(rng, known, least_rank(given.get("axis")))
    fewer = next((s for s in known[1:] if s is not None), tuple(rng.randint(1, max(1, d)) for d in data))
    return fill(known, data, fewer, fewer), {"axis": any_axis(rng, len(data))}


def crop_pad(rng: Random, known: Shapes, given: Attrs) -> Answer:
    axes = given.get("axes")
    data = data_shape(rng, known, least_rank(axes))
    if "axes" not in given and data:
        some = sorted(rng.sample(range(len(data)), rng.randint(1, len(data))))
        axes = rng.choice((None, tuple(some), tuple(a - len(data) for a in some)))
    count = len(data) if axes is None else len(axes)
    return fill(known, data, (count,)), {"axes": axes, "%1": tuple(rng.randint(1, 6) for _ in range(count))}


def grid(rng: Random, known: Shapes, given: Attrs) -> Answer:
    data = known[0] or (rng.choice((1, 2)), 2, 3, 4)
    return fill(known, data, (data[0], 3, 2, len(data) - 2)), {}


def loss(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """Scores of classes in the second dimension, a class for each of the others, a weight for each class."""
    data = known[0] or (rng.choice((2, 3)), rng.choice((3, 4)), *rng.choice(((), (2,))))
    classes = data[1] if len(data) > 1 else 1
    return fill(known, data, (data[0], *data[2:]), (classes,)), {
        "ignore_index": rng.choice((None, None, 0, 1)),
    }
