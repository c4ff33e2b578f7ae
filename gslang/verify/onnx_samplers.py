"""Operand shapes, attributes and constant operands that fit ONNX operators, for instances of rules (as
`samplers` for Relay).

Operands that say where or how much (axes, shapes, pads) are proposed as values: under `"%k"` for operand k,
in the answer and, where they are settled, in what is given. Not here: element types of operands
(`operand_types`).
"""

from __future__ import annotations

from math import prod
from random import Random
from typing import Any

from gslang.base.open_types import Attrs
from gslang.base.quick_dataclass import dataclass
from gslang.verify.samplers import Answer, Sampler, Shape, Shapes, factors, some_shape


@dataclass(frozen=True, slots=True)
class Only:
    """A value of an operand that has to be a constant: at random it would make no sense (a scale below zero).
    """

    value: Any


def _shape(rng: Random, known: Shapes, least: int = 1, k: int = 0) -> Shape:
    found = known[k] if k < len(known) else None
    return (
        found if found is not None
        else some_shape(rng, rng.choice([r for r in (1, 2, 2, 3, 3, 4) if r >= least] or [least]))
    )


def _fill(known: Shapes, *proposed: Shape) -> list[Shape]:
    """Shapes of all operands: known ones as they are, then the proposed ones, scalars where there are more.
    """
    return [s if s is not None else proposed[k] if k < len(proposed) else () for k, s in enumerate(known)]


def _axis(rng: Random, rank: int) -> int:
    return rng.randrange(-rank, rank) if rank else 0


def _rank_for(axes: Any) -> int:
    """The least rank that has all of these axes."""
    stated: tuple[int, ...] = (axes,) if isinstance(axes, int) else tuple(axes or ())
    return max([1, *[a + 1 if a >= 0 else -a for a in stated]])


def _convolution(transposed: bool) -> Sampler:
    def sample(rng: Random, known: Shapes, given: Attrs) -> Answer:
        attrs = dict(given)
        data, weight = known[0], known[1] if len(known) > 1 else None
        rank = (
            len(data) - 2 if data
            else len(weight) - 2 if weight
            else len(attrs["kernel_shape"]) if attrs.get("kernel_shape")
            else rng.choice((1, 2, 2, 2))
        )
        rank = max(1, rank)
        group = attrs.setdefault("group", rng.choice((1, 1, 2)))
        window = tuple(attrs.get("kernel_shape") or [rng.choice((1, 2, 3)) for _ in range(rank)])
        if weight is None:
            channels = data[1] if data else rng.choice((1, 2, 3)) * group
            inner = max(1, channels // max(1, group))
            # now and then as many outputs as inputs, so that factors along the wrong axis fit
            outputs = inner * group if rng.random() < 0.3 else rng.choice((1, 2, 3)) * group
            weight = (
                (channels, max(1, outputs // group), *window) if transposed else (outputs, inner, *window)
            )
        channels = weight[0] if transposed else weight[1] * group
        outputs = weight[1] * group if transposed else weight[0]
        data = data or (rng.choice((1, 2)), channels, *[rng.choice((4, 5, 6)) + k for k in range(rank)])
        padded = attrs.get("auto_pad") in (None, "NOTSET")  # else there are no pads to give
        attrs.setdefault(
            "pads",
            rng.choice((None, (1,) * 2 * rank, tuple(rng.randrange(2) for _ in range(2 * rank)))) if padded
            else None,
        )
        attrs.setdefault("strides", rng.choice((None, (1,) * rank, (2,) * rank, tuple(range(1, rank + 1)))))
        attrs.setdefault("dilations", rng.choice((None, None, (1,) * rank, (2,) * rank)))
        return _fill(known, data, weight, (outputs,)), attrs

    return sample


def _pool(rng: Random, known: Shapes, given: Attrs) -> Answer:
    attrs = dict(given)
    stated = attrs.get("kernel_shape")
    rank = len(known[0]) - 2 if known[0] else len(stated) if stated else rng.choice((1, 2, 2))
    rank = max(1, rank)
    window = attrs.setdefault(
        "kernel_shape", rng.choice(((2,) * rank, (3,) * rank, (1,) * rank, tuple(range(2, rank + 2))))
    )
    attrs.setdefault("strides", rng.choice((None, (1,) * rank, (2,) * rank)))
    attrs.setdefault(
        "pads",
        rng.choice((
            None, tuple(w // 2 for w in window) * 2,
            tuple(rng.randrange(2) if w > 1 else 0 for w in window * 2),
        )),
    )
    attrs.setdefault("count_include_pad", rng.choice((0, 1)))
    attrs.setdefault("ceil_mode", rng.choice((0, 0, 0, 1)))
    return _fill(known, (rng.choice((1, 2)), rng.choice((1, 2, 3)), *[5 + k for k in range(rank)])), attrs


def _image(rng: Random, known: Shapes, given: Attrs) -> Answer:
    return _fill(known, (rng.choice((1, 2)), 3, *rng.choice(((4,), (4, 5), (3, 4))))), {}


def _gemm(rng: Random, known: Shapes, given: Attrs) -> Answer:
    ta, tb = given.get("transA", rng.choice((0, 0, 1))), given.get("transB", rng.choice((0, 1)))
    a, b = known[0], known[1]
    inner = (a[0] if ta else a[-1]) if a else (b[-1] if tb else b[0]) if b else rng.choice((3, 4))
    rows, columns = rng.choice((2, 5)), rng.choice((2, 3, 6))
    a = a or ((inner, rows) if ta else (rows, inner))
    b = b or ((columns, inner) if tb else (inner, columns))
    rows, columns = a[-1] if ta else a[0], b[0] if tb else b[-1]
    bias = rng.choice(((columns,), (columns,), (rows, columns), (1, columns), (rows, 1), (1,), ()))
    factor = rng.choice((1.0, 1.0, 0.5, 2.0))
    return _fill(known, a, b, bias), {
        "transA": ta,
        "transB": tb,
        "alpha": factor,
        "beta": rng.choice((1.0, 1.0, 0.25)),
    }


def _matmul(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """Matrices, stacks of them, and now and then a vector on either side."""
    a, b = known[0], known[1]
    inner = a[-1] if a else b[0 if len(b) == 1 else -2] if b else rng.choice((3, 4))
    batch: Shape = rng.choice(((), (), (), (2,), (2, 3)))
    if a is None:
        if b is not None and len(b) > 2:
            batch = rng.choice((b[:-2], b[:-2], ()))
        a = (
            (inner,) if rng.random() < 0.1
            else (*batch, inner if rng.random() < 0.2 else rng.choice((2, 5)), inner)
        )
    if b is None:
        columns = inner if rng.random() < 0.2 else rng.choice((2, 3, 6))
        b = (inner,) if rng.random() < 0.15 else (*rng.choice((a[:-2], a[:-2], ())), inner, columns)
    return _fill(known, a, b), {}


def _channels(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """Data with channels second, and vectors along them."""
    length = next((s[0] for s in known[1:] if s), None)
    data = known[0] or (
        rng.choice((1, 2)), length or rng.choice((2, 3)), *rng.choice(((), (4,), (3, 4), (3, 4))),
    )
    size = data[1] if len(data) > 1 else 1
    return _fill(known, data, *[(size,)] * 4), {"epsilon": rng.choice((1e-5, 0.125)), "training_mode": 0}


def _group_norm(rng: Random, known: Shapes, given: Attrs) -> Answer:
    groups = given.get("num_groups", rng.choice((1, 2)))
    data = known[0] or (rng.choice((1, 2)), groups * 2, *rng.choice(((3,), (3, 4))))
    return _fill(known, data, *[(data[1] if len(data) > 1 else 1,)] * 2), {
        "num_groups": groups,
        "epsilon": 1e-5,
    }


def _last_axes(rng: Random, known: Shapes, given: Attrs) -> Answer:
    axis = given.get("axis")
    kept = next((s for s in known[1:] if s), None)
    if known[0] is None and kept is not None:
        axis = axis if axis is not None else -len(kept)
        data = (*some_shape(rng, max(_rank_for(axis), len(kept) + 1) - len(kept)), *kept)
    else:
        data = _shape(rng, known, 2 if axis is None else _rank_for(axis))
    axis = axis if axis is not None else rng.choice((-1, -1, _axis(rng, len(data))))
    start = axis % len(data) if data else 0
    return _fill(known, data, *[data[start:]] * 2), {"axis": axis, "epsilon": rng.choice((1e-5, 0.125))}


def _with_axis(rng: Random, known: Shapes, given: Attrs) -> Answer:
    axis = given.get("axis")
    data = _shape(rng, known, _rank_for(axis))
    flags = {name: rng.choice((0, 1)) for name in ("keepdims", "select_last_index", "exclusive", "reverse")}
    return _fill(known, data), {"axis": axis if axis is not None else _axis(rng, len(data)), **flags}


def _flatten(rng: Random, known: Shapes, given: Attrs) -> Answer:
    axis = given.get("axis")
    data = _shape(rng, known, _rank_for(axis))
    return _fill(known, data), {"axis": rng.randint(-len(data), len(data)) if data else 0}


def _transpose(rng: Random, known: Shapes, given: Attrs) -> Answer:
    perm = given.get("perm")
    data = known[0] if known[0] is not None else some_shape(rng, len(perm)) if perm else _shape(rng, known, 2)
    order = rng.sample(range(len(data)), len(data))
    return _fill(known, data), {
        "perm": rng.choice((tuple(order), tuple(order), tuple(range(len(data))), None))
    }


def _concat(rng: Random, known: Shapes, given: Attrs) -> Answer:
    axis = given.get("axis")
    base = next((s for s in known if s is not None), None)
    base = (
        base if base is not None
        else some_shape(rng, rng.choice([r for r in (1, 2, 3, 4) if r >= _rank_for(axis)] or [4]))
    )
    axis = axis if axis is not None else _axis(rng, len(base))
    shapes = []
    for s in known:
        at = axis % len(base) if base else 0
        shapes.append(
            s if s is not None
            else tuple(rng.choice((1, 2, 3, d)) if k == at else d for k, d in enumerate(base))
        )
    return shapes, {"axis": axis}


def _split(rng: Random, known: Shapes, given: Attrs) -> Answer:
    axis, parts, lengths = given.get("axis"), given.get("num_outputs"), given.get("%1")
    data = _shape(rng, known, _rank_for(axis))
    axis = axis if axis is not None else _axis(rng, len(data))
    at = axis % len(data) if data else 0
    if known[0] is None:
        size = sum(lengths) if lengths is not None else (parts or 2) * rng.choice((1, 2))
        data = tuple(size if k == at else d for k, d in enumerate(data))
    size = data[at] if data else 1
    if len(known) > 1:  # lengths as an operand
        first = rng.randint(1, size - 1) if size > 1 else size
        return _fill(known, data, (2 if size > 1 else 1,)), {
            "axis": axis,
            "%1": (first, size - first) if size > 1 else (size,),
        }
    return _fill(known, data), {"axis": axis, "num_outputs": rng.choice([n for n in (2, 3, 1) if n <= size])}


def _reduction(rng: Random, known: Shapes, given: Attrs) -> Answer:
    axes = given.get("%1")
    data = _shape(rng, known, _rank_for(axes))
    some = tuple(sorted(rng.sample(range(len(data)), rng.randint(1, len(data))))) if data else ()
    chosen = (
        axes if axes is not None
        else rng.choice((some, some, (-1,), tuple(a - len(data) for a in some), ())) if data
        else ()
    )
    return _fill(known, data, (len(chosen),)), {"%1": chosen, "keepdims": rng.choice((0, 1))}


def _squeeze(rng: Random, known: Shapes, given: Attrs) -> Answer:
    axes = given.get("%1")
    data = _shape(rng, known, max(2, _rank_for(axes)))
    if known[0] is None:
        places = [a % len(data) for a in axes] if axes else [rng.randrange(len(data))]
        data = tuple(1 if k in places else d for k, d in enumerate(data))
    ones = tuple(k for k, d in enumerate(data) if d == 1)
    chosen = rng.choice((ones, ones[:1], tuple(a - len(data) for a in ones)))
    return _fill(known, data, (len(chosen),)), {"%1": chosen} if chosen else {}


def _unsqueeze(rng: Random, known: Shapes, given: Attrs) -> Answer:
    data = known[0] if known[0] is not None else some_shape(rng, rng.choice((1, 2, 2, 3)))
    count = rng.choice((1, 1, 2))
    places = tuple(sorted(rng.sample(range(len(data) + count), count)))
    chosen = rng.choice((places, tuple(a - len(data) - count for a in places)))
    return _fill(known, data, (len(chosen),)), {"%1": chosen}


def _reshape(rng: Random, known: Shapes, given: Attrs) -> Answer:
    wanted = given.get("%1")
    if known[0] is None and wanted and all(isinstance(d, int) for d in wanted):
        total = prod(d for d in wanted if d > 0) * (2 if -1 in wanted else 1)
        data = (
            tuple(rng.choice((2, 3)) if d == 0 else 2 if d == -1 else d for d in wanted)
            if 0 in wanted or rng.random() < 0.4
            else factors(rng, total)
        )
        return _fill(known, data, (len(wanted),)), {}
    if given.get("%rank") == 4 and (known[0] is None or len(known[0]) == 3) and wanted is None:  # heads
        data = known[0] or (rng.choice((1, 2)), rng.choice((3, 3, 4)), rng.choice((4, 4, 6)))
        return _fill(known, data, (4,)), {"%1": (rng.choice((0, data[0])), data[1], 2, data[2] // 2)}
    data = _shape(rng, known)
    kept = rng.choice((0, 0, 0, 1, 2))  # conditions often keep the first dimensions
    target = rng.choice(((*data[:kept], *factors(rng, prod(data[kept:]))), data))
    if len(data) == 4 and rng.random() < 0.3:
        target = (*data[:2], data[2] * data[3])
    if target and rng.random() < 0.3:
        k = rng.randrange(len(target))
        target = (*target[:k], -1, *target[k + 1 :])
    elif len(data) > 1 and rng.random() < 0.2:
        target = (0, -1)
    return _fill(known, data, (len(target),)), {"%1": target}


def _expand(rng: Random, known: Shapes, given: Attrs) -> Answer:
    wanted = given.get("%1")
    if known[0] is None and wanted and all(isinstance(d, int) for d in wanted):
        return _fill(known, tuple(1 if rng.random() < 0.4 else d for d in wanted), (len(wanted),)), {}
    data = _shape(rng, known)
    target = (*rng.choice(((), (), (2,))), *[d if d != 1 else rng.choice((1, 3)) for d in data])
    return _fill(known, data, (len(target),)), {"%1": target}


def _tile(rng: Random, known: Shapes, given: Attrs) -> Answer:
    times = given.get("%1")
    data = known[0] if known[0] is not None else some_shape(rng, len(times)) if times else _shape(rng, known)
    return _fill(known, data, (len(data),)), {"%1": tuple(rng.choice((1, 1, 2)) for _ in data)}


def _pad(rng: Random, known: Shapes, given: Attrs) -> Answer:
    pads = given.get("%1")
    data = (
        known[0] if known[0] is not None
        else some_shape(rng, len(pads) // 2) if pads
        else _shape(rng, known, 2)
    )
    kind = rng.random()
    widths = [
        0 if kind < 0.2 or (kind < 0.7 and k % len(data) < 2 < len(data)) else rng.randrange(3)
        for k in range(2 * len(data))
    ]
    return _fill(known, data, (2 * len(data),)), {
        "%1": tuple(widths),
        "%3": tuple(range(len(data))),
        "mode": "constant",
    }


def _slice(rng: Random, known: Shapes, given: Attrs) -> Answer:
    axes = given.get("%3")
    starts, ends = given.get("%1"), given.get("%2")
    count = next((len(bound) for bound in (starts, ends) if bound is not None), None)
    least = max(_rank_for(axes), count or 1)
    data = (
        known[0] if known[0] is not None
        else tuple(
            d + 2 for d in some_shape(rng, rng.choice([r for r in (1, 2, 2, 3) if r >= least] or [least]))
        )
    )
    if axes is None:
        number = count or (
            len(data) if len(known) < 4 or known[3] == () else rng.randint(1, max(1, len(data)))
        )
        axes = (
            tuple(range(len(data)))[:number] if len(known) < 4
            else tuple(sorted(rng.sample(range(len(data)), min(number, len(data)))))
        )
    whole = rng.random() < 0.25
    sizes = [data[a % len(data)] for a in axes] if data else []
    plain = rng.random() < 0.6
    steps = given.get("%4") or tuple(1 if plain else rng.choice((1, 2, 3, -1, -2)) for _ in axes)
    bounds = [_bounds(rng, size, steps[k] if k < len(steps) else 1, whole) for k, size in enumerate(sizes)]
    shape = (len(axes),)
    return _fill(known, data, shape, shape, shape, shape), {
        "%1": tuple(b for b, _ in bounds),
        "%2": tuple(e for _, e in bounds),
        "%3": axes,
        "%4": steps,
    }


def _bounds(rng: Random, size: int, step: int, whole: bool) -> tuple[int, int]:
    """(start, end) of a slice with some elements: all if `whole`, sometimes counted from the end, or beyond
    it.
    """
    first = 0 if whole else rng.randrange(max(1, size // 2))
    behind = size if whole or rng.random() < 0.3 else rng.randint(first + 1, max(first + 1, size))
    if step < 0:
        first, behind = size - 1 - first, size - 1 - behind  # -1 here is what is before the first element
        return first, behind - size if behind < 0 else behind
    match rng.randrange(8):
        case 0:
            return first - size, behind if behind == size else behind - size
        case 1 if behind == size:
            return first, 2**31 - 1
    return first, behind


def _gather(rng: Random, known: Shapes, given: Attrs) -> Answer:
    axis, indices = given.get("axis"), given.get("%1")
    data = _shape(rng, known, _rank_for(axis))
    axis = axis if axis is not None else _axis(rng, len(data))
    size = data[axis % len(data)] if data else 1
    least = -size if rng.random() < 0.3 else 0  # indices below 0 count from the end
    chosen: Any = rng.choice(
        (rng.randrange(least, size), tuple(rng.randrange(least, size) for _ in range(rng.choice((1, 2, 3)))))
    )
    chosen = indices if indices is not None else chosen
    return _fill(known, data, () if isinstance(chosen, int) else (len(chosen),)), {"axis": axis, "%1": chosen}


def _gather_nd(rng: Random, known: Shapes, given: Attrs) -> Answer:
    batch = given.get("batch_dims")
    batch = rng.choice((0, 0, 1, 2)) if batch is None else batch
    data = _shape(rng, known, batch + 1)
    batch = max(min(batch, len(data) - 1), 0)
    depth = rng.randint(1, max(len(data) - batch, 1))
    return _fill(known, data, (*data[:batch], rng.choice((1, 2, 3)), depth)), {"batch_dims": batch}


def _cumsum(rng: Random, known: Shapes, given: Attrs) -> Answer:
    axis = given.get("%1")
    data = _shape(rng, known, _rank_for(axis))
    return _fill(known, data, ()), {
        "%1": _axis(rng, len(data)),
        "exclusive": rng.choice((0, 1)),
        "reverse": rng.choice((0, 1)),
    }


def _clip(rng: Random, known: Shapes, given: Attrs) -> Answer:
    low = rng.choice((-1.0, 0.0, 0.0, -0.5, 0.5))
    return _fill(known, _shape(rng, known)), {"%1": low, "%2": low + rng.choice((1.0, 6.0, 0.5))}


def _blocks(to_space: bool) -> Sampler:
    def sample(rng: Random, known: Shapes, given: Attrs) -> Answer:
        block = given.get("blocksize", 2)
        data = (
            (rng.choice((1, 2)), block * block * 2, 2, 3) if to_space
            else (rng.choice((1, 2)), 2, block * 2, block * 3)
        )
        return _fill(known, data), {"blocksize": block, "mode": rng.choice(("DCR", "CRD"))}

    return sample


def _cast(rng: Random, known: Shapes, given: Attrs) -> Answer:
    return _fill(known, _shape(rng, known)), {
        "to": rng.choice(("float32", "float64", "float64", "float16", "int32", "int64", "bool"))
    }


def _quantize(rng: Random, known: Shapes, given: Attrs) -> Answer:
    return _fill(known, _shape(rng, known), (), ()), {
        "%1": Only(rng.choice((0.5, 0.25, 0.125))),
        "%2": Only(rng.choice((0, 3))),
    }


def _top_k(rng: Random, known: Shapes, given: Attrs) -> Answer:
    axis = given.get("axis")
    data = _shape(rng, known, _rank_for(axis))
    axis = axis if axis is not None else _axis(rng, len(data))
    size = data[axis % len(data)] if data else 1
    return _fill(known, data, (1,)), {
        "axis": axis,
        "%1": Only((rng.randint(1, max(1, size)),)),
        "largest": rng.choice((0, 1)),
    }


def _attention(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """Queries, keys and values of four dimensions: batch, heads, length, size."""
    batch, heads, size = next(((s[0], s[1], s[3]) for s in known[:2] if s and len(s) == 4), (2, 3, 4))
    keys = next((s[2] for s in known[1:3] if s and len(s) == 4), 5)
    queries = known[0] or (batch, heads, 2, size)
    return _fill(known, queries, (batch, heads, keys, size), (batch, heads, keys, 6), (queries[-2], keys)), {
        "scale": rng.choice((None, 0.5, 2.0, 0.25))
    }


def _rotary(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """Four dimensions (batch, heads, length, size), with angles for each place and half of the size."""
    angles = known[1] or known[2]
    batch, length, half = (
        angles if angles and len(angles) == 3
        else (rng.choice((1, 2)), rng.choice((2, 5)), rng.choice((1, 2, 4)))
    )
    x = known[0] or (batch, rng.choice((1, 3)), length, half * 2)
    if len(x) != 4:
        return _fill(known, x, (batch, length, half), (batch, length, half)), {}
    angles = (x[0], x[2], max(1, x[3] // 2))
    return _fill(known, x, angles, angles), {"interleaved": rng.choice((0, 0, 1))}


def _dropout(rng: Random, known: Shapes, given: Attrs) -> Answer:
    return _fill(known, _shape(rng, known)), {"%1": 0.5, "%2": rng.random() < 0.3}


def _resize(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """By whole factors, in both directions of an image."""
    data = known[0] or (1, rng.choice((1, 2)), rng.choice((2, 3)), 4)
    factors_ = tuple(rng.choice((1, 2, 3)) if k > 1 else 1 for k in range(len(data)))
    sizes = tuple(d * f for d, f in zip(data, factors_))
    shapes = _fill(known, data, (), (len(data),), (len(data),))
    return shapes, {
        "%2": Only(tuple(map(float, factors_))),
        "%3": sizes,
        "mode": rng.choice(("nearest", "linear")),
    }


def _einsum(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """Letters have sizes of their own; operands that are there decide about theirs."""
    terms = str(given.get("equation", "ij,jk->ik")).replace(" ", "").split("->")[0].split(",")
    sizes = {letter: 2 + k % 4 for k, letter in enumerate(sorted(set("".join(terms))))}
    for term, shape in zip(terms, known):
        if shape is not None:
            sizes.update(zip(term, shape))
    return [
        s if s is not None else tuple(sizes[c] for c in terms[k]) if k < len(terms) else ()
        for k, s in enumerate(known)
    ], {}


ONNX_SAMPLERS: dict[str, Sampler] = {
    "Conv": _convolution(False),
    "ConvTranspose": _convolution(True),
    "MaxPool": _pool,
    "AveragePool": _pool,
    "LpPool": _pool,
    "GlobalAveragePool": _image,
    "GlobalMaxPool": _image,
    "Gemm": _gemm,
    "MatMul": _matmul,
    "BatchNormalization": _channels,
    "InstanceNormalization": _channels,
    "GroupNormalization": _group_norm,
    "LayerNormalization": _last_axes,
    "RMSNormalization": _last_axes,
    **dict.fromkeys(("Softmax", "LogSoftmax", "Hardmax", "ArgMax", "ArgMin", "LpNormalization"), _with_axis),
    "Flatten": _flatten,
    "Transpose": _transpose,
    "Concat": _concat,
    "Split": _split,
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
    **dict.fromkeys(
        (
            "ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
            "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp",
        ),
        _reduction,
    ),
    "Reshape": _reshape,
    "Expand": _expand,
    "Tile": _tile,
    "Pad": _pad,
    "Slice": _slice,
    "Gather": _gather,
    "GatherND": _gather_nd,
    "CumSum": _cumsum,
    "Clip": _clip,
    "DepthToSpace": _blocks(True),
    "SpaceToDepth": _blocks(False),
    "Cast": _cast,
    "Attention": _attention,
    "Dropout": _dropout,
    "TopK": _top_k,
    "Einsum": _einsum,
    "Resize": _resize,
    "RotaryEmbedding": _rotary,
    "QuantizeLinear": _quantize,
    "DequantizeLinear": _quantize,
}
