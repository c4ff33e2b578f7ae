"""Samplers of ONNX operators with weights or states: convolutions, products, normalisations, attention,
recurrence."""

from __future__ import annotations

from random import Random

from gslang.base.open_types import Attrs
from gslang.verify.samplers.sample import (
    Answer,
    Only,
    Sampler,
    Shape,
    Shapes,
    any_axis,
    data_shape,
    factor_of,
    fill,
    least_rank,
    some_shape,
)

_OUTSIDE = 0.12  # share of pools in which a window lies outside of the image
_LARGE = 0.12  # share of windows of pools that are larger than usual


def convolution(transposed: bool) -> Sampler:
    def sample(rng: Random, known: Shapes, given: Attrs) -> Answer:
        attrs = dict(given)
        data, weight = known[0], known[1] if len(known) > 1 else None
        rank = (
            len(data) - 2 if data
            else len(weight) - 2 if weight
            else len(attrs["kernel_shape"]) if attrs.get("kernel_shape")
            else rng.choice((1, 2, 2, 2, 2, 3))
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
        least = (4, 5, 6) if rank < 3 else (3, 4)
        data = data or (rng.choice((1, 2)), channels, *[rng.choice(least) + k for k in range(rank)])
        padded = attrs.get("auto_pad") in (None, "NOTSET")  # else there are no pads to give
        attrs.setdefault(
            "pads",
            rng.choice((None, (1,) * 2 * rank, tuple(rng.randrange(2) for _ in range(2 * rank)))) if padded
            else None,
        )
        attrs.setdefault("strides", rng.choice((None, (1,) * rank, (2,) * rank, tuple(range(1, rank + 1)))))
        attrs.setdefault("dilations", rng.choice((None, None, (1,) * rank, (2,) * rank)))
        if transposed and attrs["strides"] is not None and rng.random() < 0.4:
            attrs.setdefault("output_padding", tuple(rng.randrange(max(1, s)) for s in attrs["strides"]))
        if rng.random() < 0.2:  # any other one would not be the weight's
            attrs.setdefault("kernel_shape", weight[2:])
        return fill(known, data, weight, (outputs,)), attrs

    return sample


def pool(rng: Random, known: Shapes, given: Attrs) -> Answer:
    attrs = dict(given)
    if rng.random() < _OUTSIDE and (apart := _window_outside(known, given)) is not None:
        return apart
    stated = attrs.get("kernel_shape")
    rank = len(known[0]) - 2 if known[0] else len(stated) if stated else rng.choice((1, 2, 2, 2, 3))
    rank = max(1, rank)
    windows = ((2,) * rank, (3,) * rank, (1,) * rank, tuple(range(2, rank + 2)))
    large = (rng.choice((5, 7)),) * rank
    window = attrs.setdefault("kernel_shape", large if rng.random() < _LARGE else rng.choice(windows))
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
    sizes = [max(5, *window) + k for k in range(rank)]
    return fill(known, (rng.choice((1, 2)), rng.choice((1, 2, 3)), *sizes)), attrs


def _window_outside(known: Shapes, given: Attrs) -> Answer | None:
    """A pool whose only window along the first axis of an image lies in the padding as a whole: its numbers
    are further apart than the image is long. None where the image or other attributes are known.
    """
    window = given.get("kernel_shape") or (2, 2)
    rank = len(window)
    wanted: dict[str, object] = {
        "kernel_shape": (2,) * rank, "dilations": (4, *(1,) * (rank - 1)), "pads": (1,) * (2 * rank),
        "auto_pad": "NOTSET", "ceil_mode": 0,
    }
    if known[0] or any(given.get(name, value) != value for name, value in wanted.items()):
        return None
    return fill(known, (1, 2, *(3,) * rank)), {**given, **wanted}


def image(rng: Random, known: Shapes, given: Attrs) -> Answer:
    return fill(known, (rng.choice((1, 2)), 3, *rng.choice(((4,), (4, 5), (3, 4), (2, 4, 3))))), {}


def gemm(rng: Random, known: Shapes, given: Attrs) -> Answer:
    ta, tb = given.get("transA", rng.choice((0, 0, 1))), given.get("transB", rng.choice((0, 1)))
    a, b = known[0], known[1]
    inner = (a[0] if ta else a[-1]) if a else (b[-1] if tb else b[0]) if b else rng.choice((3, 4))
    rows, columns = rng.choice((2, 5)), rng.choice((2, 3, 6))
    a = a or ((inner, rows) if ta else (rows, inner))
    b = b or ((columns, inner) if tb else (inner, columns))
    rows, columns = a[-1] if ta else a[0], b[0] if tb else b[-1]
    bias = rng.choice(((columns,), (columns,), (rows, columns), (1, columns), (rows, 1), (1,), ()))
    factor = rng.choice((1.0, 1.0, 0.5, -2.0))
    return fill(known, a, b, bias), {
        "transA": ta,
        "transB": tb,
        "alpha": factor,
        "beta": rng.choice((1.0, 1.0, 0.25, -0.5)),
    }


def matmul(rng: Random, known: Shapes, given: Attrs) -> Answer:
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
        b = (inner,) if rng.random() < 0.15 else (*batch_beside(rng, a[:-2]), inner, columns)
    return fill(known, a, b), {}


def batch_beside(rng: Random, batch: Shape) -> Shape:
    """The first axes of a stack of matrices beside one with these: the same mostly, else such as broadcast.
    """
    return rng.choice((batch, batch, batch, (), batch[1:], (1,) * len(batch), (2, *batch)))


def channels(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """Data with channels second, and vectors along them."""
    length = next((s[0] for s in known[1:] if s), None)
    data = known[0] or (
        rng.choice((1, 2)), length or rng.choice((2, 3)), *rng.choice(((), (4,), (3, 4), (3, 4))),
    )
    size = data[1] if len(data) > 1 else 1
    return fill(known, data, *[(size,)] * 4), {"epsilon": rng.choice((1e-5, 0.125)), "training_mode": 0}


def group_norm(rng: Random, known: Shapes, given: Attrs) -> Answer:
    groups = given.get("num_groups", rng.choice((1, 2)))
    data = known[0] or (rng.choice((1, 2)), groups * 2, *rng.choice(((3,), (3, 4))))
    return fill(known, data, *[(data[1] if len(data) > 1 else 1,)] * 2), {
        "num_groups": groups,
        "epsilon": 1e-5,
    }


def last_axes(rng: Random, known: Shapes, given: Attrs) -> Answer:
    axis = given.get("axis")
    kept = next((s for s in known[1:] if s), None)
    if known[0] is None and kept is not None:
        axis = axis if axis is not None else -len(kept)
        data = (*some_shape(rng, max(least_rank(axis), len(kept) + 1) - len(kept)), *kept)
    else:
        data = data_shape(rng, known, 2 if axis is None else least_rank(axis))
    axis = axis if axis is not None else rng.choice((-1, -1, any_axis(rng, len(data))))
    start = axis % len(data) if data else 0
    factors = [factor_of(rng, data, data[start:]) for _ in known[1:]]
    return fill(known, data, *factors), {"axis": axis, "epsilon": rng.choice((1e-5, 0.125))}


def attention(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """Queries, keys and values of four dimensions (batch, heads, length, size), or of three, with the heads
    side by side in the last one; the keys and values before these, which the mask covers too; how many of
    each batch count. Queries may have more heads than keys and values.
    """
    past = rng.choice((0, 0, 2))
    in_rows = any(s is not None and len(s) == 3 for s in known[:3])
    if in_rows or not any(known[:3]) and (given.get("q_num_heads") or rng.random() < 0.2):
        heads = given.get("q_num_heads") or 2
        shared = given.get("kv_num_heads") or rng.choice((heads, 1))
        batch, length = (known[0] or known[1] or (rng.choice((1, 2)), 3))[:2]
        return fill(
            known, (batch, length, heads * 2), (batch, 5, shared * 2), (batch, 5, shared * 3),
            (length, past + 5), (batch, shared, past or 2, 2), (batch, shared, past or 2, 3), (batch,),
        ), {"q_num_heads": heads, "kv_num_heads": shared} if in_rows else {}  # fmt: skip
    asked, key, value = (s if s and len(s) == 4 else None for s in known[:3])
    batch, _, _, size = asked or key or (2, 3, 4, 4)
    of_keys = (key or value or (None, None))[1]
    heads = asked[1] if asked else of_keys * rng.choice((1, 1, 2)) if of_keys else 3
    shared = of_keys or rng.choice((heads, heads, heads, 1))
    keys = (key or value or (None, None, 5))[2]
    queries = known[0] or (batch, heads, 2, size)
    return fill(
        known, queries, (batch, shared, keys, size), (batch, shared, keys, 6), (queries[-2], past + keys),
        (batch, shared, past or 2, size), (batch, shared, past or 2, 6), (batch,),
    ), {"scale": rng.choice((None, 0.5, 2.0, 0.25)), "q_num_heads": None, "kv_num_heads": None}  # fmt: skip


def regions(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """Of an image, as rows and columns of their corners; each in one image of the batch."""
    data, count = known[0] or (rng.choice((1, 2)), 2, 5, 6), rng.choice((1, 2))
    corners = tuple((0.0, float(rng.randrange(2)), 3.0, 2.0 + rng.randrange(3)) for _ in range(count))
    return fill(known, data, (count, 4), (count,)), {
        "%1": Only(corners), "%2": (0,) * count,
        "output_height": rng.choice((1, 2)), "output_width": rng.choice((2, 3)),
        "sampling_ratio": rng.choice((0, 1, 2)), "spatial_scale": rng.choice((1.0, 0.5)),
    }  # fmt: skip


def blocks_to_image(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """Columns of blocks, as many as there are places for one."""
    image, block = (rng.choice((4, 5)), 5), (rng.choice((1, 2)), 2)
    pads = given.get("pads") or rng.choice((None, (1, 1, 1, 1), (0, 1, 1, 0)))
    strides = given.get("strides") or rng.choice((None, (1, 2), (2, 2)))
    spread = given.get("dilations") or rng.choice((None, None, (2, 1)))
    places = 1
    for k in (0, 1):
        whole = image[k] + (pads[k] + pads[k + 2] if pads else 0)
        places *= (whole - (spread or (1, 1))[k] * (block[k] - 1) - 1) // (strides or (1, 1))[k] + 1
    return fill(known, (1, 2 * block[0] * block[1], places), (2,), (2,)), {
        "%1": image, "%2": block, "pads": pads, "strides": strides, "dilations": spread,
    }  # fmt: skip


def rotary(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """Heads, or rows of them, turned by angles for each place; positions number the rows of tables that all
    batches share."""
    told = next((s for s in known[1:3] if s), None)
    most = known[0][-1] if known[0] else 4
    partly = given.get("rotary_embedding_dim", rng.choice((0, 0, *(n for n in (2, 4) if n <= most))))
    half = told[-1] if told else partly // 2 if partly else rng.choice((1, 2, 4))
    heads = given.get("num_heads") or rng.choice((1, 2, 3))
    batch, length, size = rng.choice((1, 2)), rng.choice((2, 5)), half * 2 + (2 if partly else 0)
    if told and len(told) == 3:
        batch, length = told[:2]
    x = known[0] or rng.choice(((batch, heads, length, size), (batch, length, heads * size)))
    if len(x) not in (3, 4):
        return fill(known, x, (batch, length, half), (batch, length, half), (batch, length)), {}
    batch, length = x[0], x[-2]
    if not partly and told is None:
        half = max(1, (x[3] if len(x) == 4 else x[2] // heads) // 2)
    table = told or ((length + 2, half) if len(known) > 3 else (batch, length, half))
    return fill(known, x, table, table, (batch, length)), {
        "interleaved": rng.choice((0, 1)), "rotary_embedding_dim": partly,
        "num_heads": heads if len(x) == 3 else rng.choice((0, heads)),
    }  # fmt: skip


def recurrent(gates: int) -> Sampler:
    """Of some steps, in one direction or both: data, weights, recurrent weights, biases, lengths, states."""

    def sample(rng: Random, known: Shapes, given: Attrs) -> Answer:
        direction = given.get("direction", rng.choice(("forward", "reverse", "bidirectional")))
        ways, hidden = 2 if direction == "bidirectional" else 1, given.get("hidden_size") or 3
        layout = given.get("layout", 0)
        steps, batch, width = rng.choice((2, 3)), rng.choice((1, 2)), 2
        data = known[0] or ((batch, steps, width) if layout else (steps, batch, width))
        batch, width = data[0 if layout else 1], data[-1]
        state = (batch, ways, hidden) if layout else (ways, batch, hidden)
        return fill(
            known, data, (ways, gates * hidden, width), (ways, gates * hidden, hidden),
            (ways, 2 * gates * hidden), (batch,), state, state, (ways, 3 * hidden),
        ), {"direction": direction, "hidden_size": hidden, "layout": layout}  # fmt: skip

    return sample


def dropout(rng: Random, known: Shapes, given: Attrs) -> Answer:
    return fill(known, data_shape(rng, known)), {"%1": 0.5, "%2": rng.random() < 0.3}


def einsum(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """Letters have sizes of their own; operands that are there decide about theirs."""
    common = rng.choice(_EQUATIONS[min(len(known), len(_EQUATIONS)) - 1])
    product = len(known) == 2 and rng.random() < 0.4
    equation = given.get("equation") or (_product(rng) if product else common)
    terms = str(equation).replace(" ", "").split("->")[0].split(",")
    sizes = {letter: 2 + k % 4 for k, letter in enumerate(sorted(set("".join(terms))))}
    for term, shape in zip(terms, known):
        if shape is not None:
            sizes.update(zip(term, shape))
    return [
        s if s is not None else tuple(sizes[c] for c in terms[k]) if k < len(terms) else ()
        for k, s in enumerate(known)
    ], {"equation": equation}


def _product(rng: Random) -> str:
    """The equation of a product of two tensors, with letters of each kind in any order: of batches, of one
    side, and such as it sums over."""
    letters = iter("abcdefghij")
    batches, rows, summed, columns = (
        [next(letters) for _ in range(rng.choice(counts))]
        for counts in ((0, 1, 2, 4), (0, 1, 1, 2), (1, 1, 1, 2), (0, 1, 1, 2))
    )
    sides = batches + rows + summed, batches + summed + columns, batches + rows + columns
    left, right, result = ("".join(rng.sample(side, len(side))) for side in sides)
    return f"{left},{right}->{result}"


# of one operand, of two, of three
_EQUATIONS = (
    ("ij->ji", "ii->i", "ij->i", "ijk->ik"),
    ("ij,jk->ik", "ij,kj->ik", "bij,bjk->bik", "ij,ij->ij", "i,j->ij"),
    ("ij,jk,kl->il", "i,j,k->ijk", "bi,ij,bj->b"),
)


def square(rng: Random, known: Shapes, given: Attrs) -> Answer:
    size = rng.choice((2, 3))
    return fill(known, (*rng.choice(((), (2,))), size, size)), {}
