"""Operand shapes, attributes and constant operands that fit ONNX operators, for instances of rules (as
`samplers` for Relay).

Operands that say where or how much (axes, shapes, pads) are proposed as values: under `"%k"` for operand k,
in the answer and, where they are settled, in what is given (there, `"%empty"`: an input is to have no
elements). Not here: element types of operands
(`operand_types`).
"""

from __future__ import annotations

from math import prod
from random import Random

from gslang.base.open_types import Attrs
from gslang.verify.samplers.onnx_body import branch_operands, loop_operands
from gslang.verify.samplers.onnx_coded import quantize, quantized_convolution, quantized_matmul
from gslang.verify.samplers.onnx_contrib import CONTRIB_SAMPLERS
from gslang.verify.samplers.onnx_layer import (
    attention,
    blocks_to_image,
    channels,
    convolution,
    dropout,
    einsum,
    gemm,
    group_norm,
    image,
    last_axes,
    matmul,
    pool,
    recurrent,
    regions,
    rotary,
    square,
)
from gslang.verify.samplers.onnx_place import (
    compress,
    crop_pad,
    gather,
    gather_nd,
    grid,
    loss,
    one_hot,
    reverse_sequence,
    scatter_elements,
    scatter_nd,
    top_k,
    trilu,
)
from gslang.verify.samplers.onnx_signal import SIGNAL_SAMPLERS
from gslang.verify.samplers.sample import (
    Answer,
    Only,
    Sampler,
    Shape,
    Shapes,
    any_axis,
    before_transpose,
    block_of,
    data_shape,
    factors,
    fill,
    least_rank,
    some_shape,
    wanted_of_transpose,
    written,
)
from gslang.verify.samplers.slice import slices

_MANY = 0.1  # share of tensors in more parts than a rule tells apart
_BESIDE = 0.7  # share of shapes that are those of what stands beside them, where they can be


def _with_axis(rng: Random, known: Shapes, given: Attrs) -> Answer:
    axis = given.get("axis")
    data = data_shape(rng, known, least_rank(axis))
    flags = {name: rng.choice((0, 1)) for name in ("keepdims", "select_last_index", "exclusive", "reverse")}
    return fill(known, data), {"axis": axis if axis is not None else any_axis(rng, len(data)), **flags}


def _flatten(rng: Random, known: Shapes, given: Attrs) -> Answer:
    axis = given.get("axis")
    data = data_shape(rng, known, least_rank(axis))
    return fill(known, data), {"axis": rng.randint(-len(data), len(data)) if data else 0}


def _transpose(rng: Random, known: Shapes, given: Attrs) -> Answer:
    perm = given.get("perm")
    data = some_shape(rng, len(perm)) if known[0] is None and perm else data_shape(rng, known, 2)
    wanted = wanted_of_transpose(rng, known, perm, given)
    rank = len(data if wanted is None else wanted)
    order = rng.sample(range(rank), rank)
    chosen = perm or rng.choice((tuple(order), tuple(order), tuple(range(rank)), None))
    if wanted is not None:
        data = before_transpose(chosen or range(rank)[::-1], wanted)
    return fill(known, data), {"perm": chosen}


def _concat(rng: Random, known: Shapes, given: Attrs) -> Answer:
    axis = given.get("axis")
    base = next((s for s in known if s is not None), None)
    base = (
        base if base is not None
        else some_shape(rng, rng.choice([r for r in (1, 2, 3, 4) if r >= least_rank(axis)] or [4]))
    )
    axis = axis if axis is not None else any_axis(rng, len(base))
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
    data = data_shape(rng, known, least_rank(axis))
    axis = axis if axis is not None else any_axis(rng, len(data))
    at = axis % len(data) if data else 0
    read = given.get("%results", 1)
    counts: tuple[int, ...] = (read, read, read + 1) if read > 1 else (2, 2, 3)
    if many := known[0] is None and not parts and lengths is None and rng.random() < _MANY:
        counts = (read + rng.choice((3, 4, 5)),)
    if known[0] is None:
        parts = parts or (2 if read == 1 and not many else rng.choice(counts))
        size = sum(lengths) if lengths is not None else parts * rng.choice((1, 2, 3)) - rng.choice((0, 0, 1))
        size = max(size, parts if lengths is None else 0)
        data = tuple(size if k == at else d for k, d in enumerate(data))
    size = data[at] if data else 1
    if len(known) > 1:  # lengths as an operand
        count = min(size, known[1][0] if known[1] else rng.choice(counts) if size > 2 else 2)
        cuts = (0, *sorted(rng.sample(range(1, size), count - 1)), size) if size else (0, 0)
        if count and size % count == 0 and rng.random() < 0.3:  # equal ones
            cuts = tuple(range(0, size + 1, size // count))
        return fill(known, data, (count,)), {
            "axis": axis,
            "%1": tuple(behind - before for before, behind in zip(cuts, cuts[1:])),
        }
    fitting = [n for n in (counts if read > 1 or many else (2, 3, 1)) if n <= size] or [1]
    return fill(known, data), {"axis": axis, "num_outputs": rng.choice(fitting)}


def _sequence(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """Parts of one size, the last of which may be shorter, or of sizes that add up to that of the axis."""
    axis, sizes = given.get("axis"), given.get("%1")
    data = data_shape(rng, known, least_rank(axis))
    axis = axis if axis is not None else any_axis(rng, len(data))
    at = axis % len(data) if data else 0
    if known[0] is None and isinstance(sizes, tuple):
        data = tuple(sum(sizes) if k == at else d for k, d in enumerate(data))
    size = data[at] if data else 1
    if len(known) < 2 or 1 in given.get("%absent", ()):
        return fill(known, data), {"axis": axis, "keepdims": rng.choice((0, 1))}
    count = known[1][0] if known[1] else rng.randint(1, max(1, size))
    if known[1] == () or known[1] is None and rng.random() < 0.6:
        return fill(known, data, ()), {"axis": axis, "%1": Only(rng.randint(1, max(1, size)))}
    cuts = (0, *sorted(rng.sample(range(1, size), min(count, size) - 1)), size) if size else (0,)
    lengths = tuple(behind - before for before, behind in zip(cuts, cuts[1:]))
    return fill(known, data, (len(lengths),)), {"axis": axis, "%1": lengths}


def _reduction(rng: Random, known: Shapes, given: Attrs) -> Answer:
    axes, count = given.get("%1"), _stated_count(known)
    data = data_shape(rng, known, max(least_rank(axes), count or 1))
    number = rng.randint(1, max(1, len(data))) if count is None else count
    some = sorted(rng.sample(range(len(data)), min(number, len(data))))
    chosen = (
        axes if axes is not None
        else written(rng, some, len(data)) if count is not None or rng.random() < 0.7
        else rng.choice(((-1,), ())) if data
        else ()
    )
    return fill(known, data, (len(chosen),)), {"%1": chosen, "keepdims": rng.choice((0, 1))}


def _squeeze(rng: Random, known: Shapes, given: Attrs) -> Answer:
    axes, count = given.get("%1"), _stated_count(known)
    data = data_shape(rng, known, max(2, least_rank(axes), count or 1))
    if known[0] is None:
        number = count if count is not None else rng.choice((1, 1, 2))
        places = [a % len(data) for a in axes] if axes else rng.sample(range(len(data)), number)
        data = tuple(1 if k in places else d for k, d in enumerate(data))
    ones = [k for k, d in enumerate(data) if d == 1]
    if count is not None and count < len(ones):
        ones = sorted(rng.sample(ones, count))
    chosen = written(rng, ones if count is not None or rng.random() < 0.7 else ones[:1], len(data))
    return fill(known, data, (len(chosen),)), {"%1": chosen} if chosen else {}


def _unsqueeze(rng: Random, known: Shapes, given: Attrs) -> Answer:
    data = known[0] if known[0] is not None else some_shape(rng, rng.choice((1, 2, 2, 3)))
    stated = _stated_count(known)
    count = rng.choice((1, 1, 2)) if stated is None else stated
    rank = len(data) + count
    chosen = written(rng, sorted(rng.sample(range(rank), count)), rank)
    return fill(known, data, (len(chosen),)), {"%1": chosen}


def _stated_count(known: Shapes) -> int | None:
    """The number of axes that are named, where the shape of the operand that names them is known."""
    shape = known[1] if len(known) > 1 else None
    return shape[0] if shape else None


def _reshape(rng: Random, known: Shapes, given: Attrs) -> Answer:
    wanted = given.get("%1")
    if known[0] is None and wanted and all(isinstance(d, int) for d in wanted):
        data = tuple([rng.choice((2, 3)) if d == 0 else 2 if d == -1 else d for d in wanted])
        rank = given.get("%rank_of_data")
        if isinstance(rank, int) and 0 < rank < len(data):
            data = (*data[: rank - 1], prod(data[rank - 1 :]))  # what the last axis of it is split into
        elif rng.random() < 0.6:
            data = _seen_as(rng, data, wanted)
        return fill(known, data, (len(wanted),)), {}
    if given.get("%rank") == 4 and (known[0] is None or len(known[0]) == 3) and wanted is None:  # heads
        data = known[0] or (rng.choice((1, 2)), rng.choice((3, 3, 4)), rng.choice((4, 4, 6)))
        return fill(known, data, (4,)), {"%1": (rng.choice((0, data[0])), data[1], 2, data[2] // 2)}
    data = data_shape(rng, known)
    rank = given.get("%rank")
    if isinstance(rank, int) and rank and wanted is None and 0 not in data and not given.get("%empty"):
        target = (1,) * (rank - len(data)) + data
        merged = len(target) - rank + 1
        target = (rng.choice((-1, prod(target[:merged]))), *target[merged:])
        return fill(known, data, (rank,)), {"%1": target}
    if given.get("%empty") and known[0] is None and data:
        data = (0, *data[1:]) if rng.random() < 0.5 else (*data[:-1], 0)
    if 0 in data and given.get("allowzero", 1):
        return _reshape_of_nothing(rng, known, data)
    beside = given.get("%beside")
    if beside and wanted is None and prod(beside) == prod(data) and rng.random() < _BESIDE:
        open_axis = rng.randrange(3 * len(beside))
        target = tuple([-1 if k == open_axis else d for k, d in enumerate(beside)])
        return fill(known, data, (len(target),)), {"%1": target}
    kept = rng.choice((0, 0, 0, 1, 2))  # conditions often keep the first dimensions
    other = (*data[:kept], *factors(rng, prod(data[kept:])))
    target = rng.choice((other, other, data))
    if len(data) == 4 and rng.random() < 0.3:
        target = (*data[:2], data[2] * data[3])
    if target and rng.random() < 0.3:
        k = rng.randrange(len(target))
        target = (*target[:k], -1, *target[k + 1 :])
    elif len(data) > 1 and rng.random() < 0.3:
        k = rng.randrange(1, len(data))  # a 0 copies the dimension that stands there
        target = rng.choice(((0, -1), (*(0,) * k, -1), (*data[: k - 1], 0, -1)))
    return fill(known, data, (len(target),)), {"%1": target}


def _seen_as(rng: Random, data: Shape, wanted: Shape) -> Shape:
    """Another shape that a reshape to `wanted` takes to `data`: a 0 in it copies what stands at its place."""
    copied = max((k + 1 for k, d in enumerate(wanted) if d == 0), default=0)
    return (*data[:copied], *factors(rng, prod(data[copied:])), *rng.choice(((), (1,)) if copied else ((),)))


def _reshape_of_nothing(rng: Random, known: Shapes, data: Shape) -> Answer:
    """Of a tensor without elements, where a 0 is a dimension: of another shape, as it is nothing anyway."""
    size = rng.choice((2, 3))
    target = rng.choice(((*data[1:], data[0]), (0, size), (size, 0), (-1,), (size, -1)))
    return fill(known, data, (len(target),)), {"%1": target, "allowzero": 1}


def _expand(rng: Random, known: Shapes, given: Attrs) -> Answer:
    wanted = given.get("%1")
    if known[0] is None and wanted and all(isinstance(d, int) for d in wanted):
        return fill(known, tuple(1 if rng.random() < 0.4 else d for d in wanted), (len(wanted),)), {}
    data = data_shape(rng, known)
    target = (*rng.choice(((), (), (2,))), *[d if d != 1 else rng.choice((1, 3)) for d in data])
    if rng.random() < 0.3:  # both sides stretch: what is longer than 1 stays
        target = tuple(1 if rng.random() < 0.5 else d for d in target[rng.randrange(2) :])
    beside = given.get("%beside") or ()
    fits = len(data) <= len(beside) and all(a in (1, b) for a, b in zip(data[::-1], beside[::-1]))
    if fits and rng.random() < 0.7:
        target = beside
    return fill(known, data, (len(target),)), {"%1": target}


def _tile(rng: Random, known: Shapes, given: Attrs) -> Answer:
    times = given.get("%1")
    data = some_shape(rng, len(times)) if known[0] is None and times else data_shape(rng, known)
    return fill(known, data, (len(data),)), {"%1": tuple(rng.choice((1, 1, 2, 2, 3)) for _ in data)}


def _pad(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """Also of some axes only, in any order and spelling, and with elements cut off."""
    pads, axes = given.get("%1"), given.get("%3")
    count = len(pads) // 2 if pads else len(axes) if axes is not None else None
    data = (
        known[0] if known[0] is not None
        else some_shape(rng, count) if count is not None and len(known) < 4 and axes is None
        else data_shape(rng, known, max(1, count or 0, least_rank(axes)))
    )
    if axes is None:
        some = len(known) > 3 and known[3] != () and rng.random() < 0.6
        number = min(len(data), count or rng.randint(1, max(1, len(data)))) if some else len(data)
        chosen = rng.sample(range(len(data)), number) if some else list(range(len(data)))
        axes = tuple(a - len(data) if some and rng.random() < 0.3 else a for a in chosen)
    kind = rng.random()
    widths = [
        0 if kind < 0.2 or (kind < 0.6 and k % len(axes) < 2 < len(axes)) else rng.randrange(3)
        for k in range(2 * len(axes))
    ]
    for k, axis in enumerate(axes):  # one element is left at least
        if rng.random() < 0.25 and -len(data) <= axis < len(data) and data[axis] > 1:
            widths[rng.choice((k, k + len(axes)))] = rng.randint(1 - data[axis], -1)
    return fill(known, data, (2 * len(axes),), (), (len(axes),)), {
        "%1": tuple(widths),
        "%3": axes,
        "mode": "constant",
    }


def _cumsum(rng: Random, known: Shapes, given: Attrs) -> Answer:
    axis = given.get("%1")
    data = data_shape(rng, known, least_rank(axis))
    return fill(known, data, ()), {
        "%1": any_axis(rng, len(data)),
        "exclusive": rng.choice((0, 1)),
        "reverse": rng.choice((0, 1)),
    }


def _clip(rng: Random, known: Shapes, given: Attrs) -> Answer:
    low = rng.choice((-1.0, 0.0, 0.0, -0.5, 0.5))
    return fill(known, data_shape(rng, known)), {"%1": low, "%2": low + rng.choice((1.0, 6.0, 0.5, -0.5))}


def _range(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """Scalars, or vectors of one number."""
    return fill(known, *[rng.choice(((), (), (), (1,))) for _ in known]), {}


def _blocks(to_space: bool) -> Sampler:
    def sample(rng: Random, known: Shapes, given: Attrs) -> Answer:
        there = dict(zip("NCHW", known[0])) if known[0] is not None else {}
        block, more = given.get("blocksize") or block_of(rng, there, to_space), rng.choice((1, 2))
        data = (
            (rng.choice((1, 2)), block * block * rng.choice((2, 4)), 2, 3) if to_space
            else (rng.choice((1, 2)), 2, block * 2 * more, block * 3 * more)
        )
        return fill(known, data), {"blocksize": block, "mode": rng.choice(("DCR", "CRD"))}

    return sample


def _cast(rng: Random, known: Shapes, given: Attrs) -> Answer:
    return fill(known, data_shape(rng, known)), {
        "to": rng.choice(("float32", "float64", "float64", "float16", "int32", "int64", "bool"))
    }


_OUTSIDE = 0.3  # share of resized regions


def _resize(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """Up and down, in both directions of an image, which may be the only axes that are named; along all axes
    of a tensor of up to two."""
    data = known[0] or (1, rng.choice((1, 2)), rng.choice((2, 3, 6)), rng.choice((4, 5, 8)))
    axes = given.get("axes", rng.choice((None, None, None, (2, 3), (-1, -2))) if len(data) == 4 else None)
    places = [a % len(data) for a in axes] if axes is not None else range(len(data))
    fixed = 2 if len(data) > 2 else 0
    scales = (1.0, 2.0, 3.0, 0.5, 1.5, 0.25, 4.0, 1.2)  # the last one may keep a size
    factors_ = tuple(
        rng.choice([f for f in scales if f * data[k] >= 1]) if k >= fixed else 1.0 for k in places
    )
    sizes = tuple(max(1, int(data[k] * f)) for k, f in zip(places, factors_))
    ends = (0.0, 0.25, -0.5), (1.0, 0.75, 1.5)  # inside of the image and beyond it
    region = [rng.choice(end) for end in ends for _ in places]
    mode = rng.choice(("nearest", "linear", "linear", "cubic"))
    shapes = fill(known, data, (len(region),), (len(sizes),), (len(sizes),))
    # only what lies beyond the image makes this number matter
    outside = {"coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 1.5}
    return shapes, {
        **(outside if 1 not in given.get("%absent", ()) and rng.random() < _OUTSIDE else {}),
        "%1": tuple(region),
        "%2": Only(factors_),
        "%3": sizes,
        "axes": axes,
        "mode": mode,
        "antialias": rng.choice((0, 0, 1)) if given.get("mode", mode) != "nearest" else 0,
    }


ONNX_SAMPLERS: dict[str, Sampler] = {
    **CONTRIB_SAMPLERS,
    **SIGNAL_SAMPLERS,
    "Conv": convolution(False),
    "ConvTranspose": convolution(True),
    "MaxPool": pool,
    "AveragePool": pool,
    "LpPool": pool,
    "GlobalAveragePool": image,
    "GlobalMaxPool": image,
    "Gemm": gemm,
    "MatMul": matmul,
    "BatchNormalization": channels,
    "InstanceNormalization": channels,
    "GroupNormalization": group_norm,
    "LayerNormalization": last_axes,
    "RMSNormalization": last_axes,
    **dict.fromkeys(("Softmax", "LogSoftmax", "Hardmax", "ArgMax", "ArgMin", "LpNormalization"), _with_axis),
    "Flatten": _flatten,
    "Transpose": _transpose,
    "Concat": _concat,
    "Split": _split,
    "SplitToSequence": _sequence,
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
    "Slice": slices,
    "Gather": gather,
    "GatherND": gather_nd,
    "CumSum": _cumsum,
    "CumProd": _cumsum,
    "Clip": _clip,
    "Range": _range,
    "DepthToSpace": _blocks(True),
    "SpaceToDepth": _blocks(False),
    "Cast": _cast,
    "Attention": attention,
    "Dropout": dropout,
    "TopK": top_k,
    "Einsum": einsum,
    "Det": square,
    "RoiAlign": regions,
    "Col2Im": blocks_to_image,
    "Resize": _resize,
    "RotaryEmbedding": rotary,
    "QuantizeLinear": quantize,
    "DequantizeLinear": quantize,
    "Compress": compress,
    "ReverseSequence": reverse_sequence,
    "Trilu": trilu,
    "If": branch_operands,
    "Loop": loop_operands,
    "OneHot": one_hot,
    "ScatterND": scatter_nd,
    "ScatterElements": scatter_elements,
    "GatherElements": scatter_elements,
    "CenterCropPad": crop_pad,
    "GridSample": grid,
    "NegativeLogLikelihoodLoss": loss,
    "SoftmaxCrossEntropyLoss": loss,
    "RNN": recurrent(1),
    "GRU": recurrent(3),
    "LSTM": recurrent(4),
    "QLinearMatMul": quantized_matmul,
    "MatMulInteger": quantized_matmul,
    "QLinearConv": quantized_convolution,
    "ConvInteger": quantized_convolution,
}
