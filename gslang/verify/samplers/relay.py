"""Operand shapes and attributes that fit Relay operators, for instances of rules."""

from __future__ import annotations

from math import prod
from random import Random

from gslang.base.open_types import Attrs
from gslang.dialect.relay.dynamic import STATIC, Static
from gslang.verify.samplers.relay_image import IMAGE_SAMPLERS
from gslang.verify.samplers.relay_quantized import QUANTIZED_SAMPLERS
from gslang.verify.samplers.relay_reshape import reshape
from gslang.verify.samplers.sample import (
    Answer,
    Sampler,
    Shape,
    Shapes,
    any_axis,
    before_transpose,
    factors,
    fill,
    some_shape,
    wanted_of_transpose,
)
from gslang.verify.samplers.slice import slices

_SORTED = 0.7  # share of lists of axes in which these are in order
_MANY = 0.2  # share of tensors in more parts or groups than a rule tells apart


def _dense(rng: Random, known: Shapes, attrs: Attrs) -> Answer:
    inner = known[0][-1] if known[0] else known[1][-1] if known[1] else rng.choice((3, 4))
    weight = known[1] or (attrs.get("units") or rng.choice((2, 5, 7)), inner)
    return [known[0] or (*rng.choice(((2,), (5,), (1,), (2, 5))), inner), weight], {
        "units": _now_and_then(rng, weight[0])
    }


def _now_and_then(rng: Random, columns: int) -> int | None:
    """`units` of a product, which has to be the size that its weight has, or nothing."""
    return columns if rng.random() < 0.12 else None


_ONE_BATCH = 0.2  # share of stacks of one matrix beside others


def _matmul(batched: bool) -> Sampler:
    def sample(rng: Random, known: Shapes, given: Attrs) -> Answer:
        ta = given.get("transpose_a", rng.random() < 0.3)
        tb = given.get("transpose_b", rng.random() < 0.5)
        a, b = known
        batch = ((a or b or (rng.choice((1, 2)),))[0],) if batched else ()
        inner = (a[-2] if ta else a[-1]) if a else (b[-1] if tb else b[-2]) if b else rng.choice((3, 4))
        rows, columns = rng.choice((2, 5)), given.get("units") or rng.choice((2, 3, 6))
        if a is None:
            a = (*batch, inner, rows) if ta else (*batch, rows, inner)
        if b is None:
            batch = (1,) if batched and rng.random() < _ONE_BATCH else batch
            b = (*batch, columns, inner) if tb else (*batch, inner, columns)
        answer: dict[str, object] = {"transpose_a": ta, "transpose_b": tb}
        return [a, b], answer if batched else {
            **answer, "units": _now_and_then(rng, b[-2] if tb else b[-1])
        }

    return sample


def _one(known: Shapes, rng: Random, least: int = 1) -> Shape:
    return (
        known[0] if known[0] is not None
        else some_shape(rng, rng.choice([r for r in (1, 2, 3, 3, 4, 4, 5) if r >= least]))
    )


def _split(rng: Random, known: Shapes, attrs: Attrs) -> Answer:
    shape, sections = _one(known, rng), attrs.get("indices_or_sections")
    if known[0] is None and isinstance(attrs.get("axis"), int):
        least = attrs["axis"] + 1 if attrs["axis"] >= 0 else -attrs["axis"]
        shape = shape if len(shape) >= least else some_shape(rng, least)
    axis = attrs.get("axis", any_axis(rng, len(shape)))
    read = attrs.get("%results", 1)
    parts: tuple[int, ...] = (read, read, read + 1) if read > 1 else (2, 3)
    if many := sections is None and known[0] is None and rng.random() < _MANY:
        parts = (read + rng.choice((3, 4, 5)),)
    if known[0] is None and shape:
        size = (
            sections * rng.choice((1, 2, 2, 3)) if isinstance(sections, int)
            else max(sections) + rng.choice((1, 2, 2, 3, 4)) if sections
            else rng.choice((4, 6)) if read == 1 and not many
            else rng.choice(parts) * 2
        )
        shape = tuple(size if k == axis % len(shape) else d for k, d in enumerate(shape))
    size = shape[axis % len(shape)] if shape else 1
    if sections is None:
        divisors = [k for k in ((1, 2, 3) if read == 1 and not many else parts) if size % k == 0]
        cuts = (
            tuple(sorted(rng.sample(range(1, size), min(size, rng.choice(parts)) - 1))) if size > 1 else ()
        )
        sections = rng.choice(divisors) if divisors and (rng.random() < 0.6 or not cuts) else cuts
    return [shape], {"axis": axis, "indices_or_sections": sections}


def _transpose(rng: Random, known: Shapes, attrs: Attrs) -> Answer:
    axes = attrs.get("axes")
    shape = known[0] if known[0] is not None else some_shape(rng, len(axes)) if axes else _one(known, rng)
    wanted = wanted_of_transpose(rng, known, axes, attrs)
    rank = len(shape if wanted is None else wanted)
    if axes is None:
        order = rng.sample(range(rank), rank)
        axes = rng.choice((None, tuple(order), tuple(a - rank for a in order)))
    if wanted is not None:
        shape = before_transpose(axes or range(rank)[::-1], wanted)
    return [shape], {"axes": axes}


def _along_axis(default: int, least: int = 2) -> Sampler:
    """An operand with vectors along its `axis`."""

    def sample(rng: Random, known: Shapes, attrs: Attrs) -> Answer:
        stated = attrs.get("axis")
        need = max(least, (stated + 1 if stated >= 0 else -stated) if isinstance(stated, int) else least)
        shape = _one(known, rng, need)
        axis = stated if stated is not None else rng.choice((default, any_axis(rng, len(shape))))
        length = next((s[0] for s in known[1:] if s), None)
        place = axis % len(shape) if shape else 0
        if known[0] is None and length is not None:
            shape = tuple(length if k == place else d for k, d in enumerate(shape))
        size = shape[place] if shape else 1
        return [shape, *[s if s is not None else (size,) for s in known[1:]]], {"axis": axis}

    return sample


def _group_norm(rng: Random, known: Shapes, attrs: Attrs) -> Answer:
    if known[0] is None and known[1:] == [None, None] and attrs.get("axis", 1) == 1 and rng.random() < _MANY:
        known = [(2, 8, 3), None, None]
    shapes, extra = _along_axis(1, 3)(rng, known, attrs)
    size = shapes[0][extra["axis"] % len(shapes[0])]
    groups = next((g for g in rng.sample((2, 3, 4, 5, 6, 8), 6) if size % g == 0), 1)
    return shapes, {**extra, "num_groups": groups}


def _topk(rng: Random, known: Shapes, attrs: Attrs) -> Answer:
    """The first, all, or some of the elements along an axis."""
    axis = attrs.get("axis", -1)
    shape = _one(known, rng, min(5, axis + 1 if axis >= 0 else -axis))
    size = shape[axis] if -len(shape) <= axis < len(shape) else 1
    return [shape, *[s or () for s in known[1:]]], {"k": rng.choice((1, size, rng.randint(1, max(1, size))))}


def _reduction(rng: Random, known: Shapes, attrs: Attrs) -> Answer:
    axis = attrs.get("axis")
    stated = (axis,) if isinstance(axis, int) else tuple(axis or ())
    need = max([1, *[a + 1 if a >= 0 else -a for a in stated]])
    shape = _one(known, rng, min(need, 5))
    listed = rng.sample(range(len(shape)), rng.randint(1, len(shape))) if shape else []
    axes = tuple(sorted(listed) if rng.random() < _SORTED else listed) or None
    choice = rng.choice((axes, axes, None, (axes[-1] - len(shape),) if axes else None))
    means = tuple(
        1 if choice is None or k in choice or k - len(shape) in choice else d for k, d in enumerate(shape)
    )
    return [shape, *[s if s is not None else means for s in known[1:]]], {
        "axis": choice,
        "keepdims": rng.random() < 0.5,
        "exclude": rng.random() < 0.1,
    }


def _expand_dims(rng: Random, known: Shapes, attrs: Attrs) -> Answer:
    shape = known[0] if known[0] is not None else some_shape(rng, rng.choice((1, 2, 3)))
    return [shape], {
        "axis": rng.randrange(-len(shape) - 1, len(shape) + 1),
        "num_newaxis": rng.choice((1, 1, 2)),
    }


def _squeeze(rng: Random, known: Shapes, attrs: Attrs) -> Answer:
    axes = attrs.get("axis")
    if known[0] is not None:
        shape = known[0]
    else:
        shape = some_shape(rng, rng.choice((2, 3, 4)))
        for a in axes if axes else (rng.randrange(len(shape)),):
            if -len(shape) <= a < len(shape):
                shape = tuple(1 if k == a % len(shape) else d for k, d in enumerate(shape))
    ones = tuple(k for k, d in enumerate(shape) if d == 1)
    return [shape], {"axis": rng.choice((None, ones)) if ones else None}


def _pad(rng: Random, known: Shapes, attrs: Attrs) -> Answer:
    widths = attrs.get("pad_width")
    shape = (
        known[0] if known[0] is not None
        else some_shape(rng, len(widths) if widths else rng.choice((2, 3, 4, 4, 5)))
    )
    if rng.random() < 0.6 and len(shape) > 2:  # an image, its channels first or last
        pads = ((0, 0), *[(rng.randrange(3), rng.randrange(3)) for _ in shape[2:]])
        pads = (*pads, (0, 0)) if rng.random() < 0.4 else (*pads[:1], (0, 0), *pads[1:])
    else:
        pads = tuple((rng.randrange(2), rng.randrange(3)) for _ in shape)
    return [shape, *[()] * (len(known) - 1)], {"pad_width": pads, "pad_mode": "constant"}


def _softmax(rng: Random, known: Shapes, attrs: Attrs) -> Answer:
    axis = attrs.get("axis")
    shape = _one(known, rng, 1 if not isinstance(axis, int) else min(5, axis + 1 if axis >= 0 else -axis))
    return [shape], {"axis": any_axis(rng, len(shape))}


def _l2_normalize(rng: Random, known: Shapes, attrs: Attrs) -> Answer:
    shape = _one(known, rng)
    return [shape], {"axis": (any_axis(rng, len(shape)),), "eps": 1e-5}


def _layout_transform(rng: Random, known: Shapes, attrs: Attrs) -> Answer:
    source = attrs.get("src_layout") or rng.choice(_LAYOUTS)
    shape = (
        known[0] if known[0] is not None
        else some_shape(rng, len(source)) if source.isalpha()
        else (*some_shape(rng, 4), 4) if source == "NCHW4c"
        else some_shape(rng)
    )
    letters = [c for c in source if c.isupper()]
    alike = [other for other in _LAYOUTS if {c for c in other if c.isupper()} == set(letters)]
    rng.shuffle(letters)
    return [shape], {"src_layout": source, "dst_layout": rng.choice(("".join(letters), *alike))}


_LAYOUTS = ("NCHW", "NCHW", "NHWC", "NHWC", "CNHW", "NCHW4c", "NCW", "NWC", "NCDHW", "NDHWC")


def _shaped(rng: Random, known: Shapes, attrs: Attrs) -> Answer:
    return [s if s is not None else () for s in known], {"shape": some_shape(rng)}


def _broadcast_to(rng: Random, known: Shapes, attrs: Attrs) -> Answer:
    wanted = attrs.get("shape")
    if known[0] is None and wanted:
        return [tuple(1 if rng.random() < 0.3 else d for d in wanted)], {}
    shape = _one(known, rng)
    return [shape], {
        "shape": (*rng.choice(((), (2,))), *[d if d != 1 else rng.choice((1, 3)) for d in shape])
    }


def _like(rng: Random, known: Shapes, attrs: Attrs) -> Answer:
    shapes = [s if s is not None else some_shape(rng) for s in known]
    return shapes, {}


def _reshape_like(rng: Random, known: Shapes, attrs: Attrs) -> Answer:
    shape = _one(known, rng)
    return [shape, known[1] or factors(rng, prod(shape))], {
        "lhs_begin": 0,
        "lhs_end": None,
        "rhs_begin": 0,
        "rhs_end": None,
    }


def _to_like(rng: Random, known: Shapes, attrs: Attrs) -> Answer:
    like = known[1] or some_shape(rng, rng.choice((1, 2, 3)))
    return [known[0] or tuple(d for d in like[rng.randrange(len(like)) :]), like], {}


def _sum_like(rng: Random, known: Shapes, attrs: Attrs) -> Answer:
    shape = _one(known, rng)
    kept = shape[rng.randrange(len(shape)) :]
    return [shape, known[1] or tuple(1 if rng.random() < 0.4 else d for d in kept)], {}


def _filled(rng: Random, known: Shapes, attrs: Attrs) -> Answer:
    return [known[0] if known[0] is not None else some_shape(rng), *[s or () for s in known[1:]]], {}


def _strided_slice(rng: Random, known: Shapes, attrs: Attrs) -> Answer:
    """As ONNX's `Slice`, whose operands are attributes here: axes or steps may be left out."""
    names = {"%1": "begin", "%2": "end", "%3": "axes", "%4": "strides"}
    stated = {place: attrs[name] for place, name in names.items() if attrs.get(name) is not None}
    (shape, *_), drawn = slices(rng, [known[0], None, None, None, None], stated)
    answer = {name: drawn[place] for place, name in names.items()}
    if answer["axes"] == tuple(range(len(answer["axes"]))) and rng.random() < 0.8:
        answer["axes"] = None
    if set(answer["strides"]) == {1} and rng.random() < 0.5:
        answer["strides"] = None
    return [shape, *[s or () for s in known[1:]]], answer


def _slice_like(rng: Random, known: Shapes, attrs: Attrs) -> Answer:
    """An operand that is cut to one that is no longer along any axis."""
    shape = known[0] if known[0] is not None else tuple(d + 1 for d in some_shape(rng, rng.choice((1, 2, 3))))
    return [shape, known[1] or tuple(rng.randint(1, max(1, d)) for d in shape)], {}


def _one_hot(rng: Random, known: Shapes, attrs: Attrs) -> Answer:
    """Indices, and two numbers."""
    return fill(known, _one(known, rng)), {}


def _take(rng: Random, known: Shapes, attrs: Attrs) -> Answer:
    """Indices of up to two axes, behind those of the batch."""
    batch = attrs.get("batch_dims", 0)
    shape = _one(known, rng, max(1, abs(batch) + 1))
    axis = attrs.get("axis", rng.choice((None, *[any_axis(rng, len(shape))] * 2)))
    before = shape[: batch % (len(shape) + 1)] if type(batch) is int else ()
    some = (*before, *rng.choice(((), (1,), (2,), (3,), (2, 2))))
    return [shape, known[1] if known[1] is not None else some], {"axis": axis}


def _gather_nd(rng: Random, known: Shapes, attrs: Attrs) -> Answer:
    """The first dimension of the indices says how many axes they choose from, behind those of the batch."""
    shape = _one(known, rng, 2)
    batch = attrs.get("batch_dims", rng.choice((0, 0, 1)))
    depth = rng.randint(1, max(1, len(shape) - batch))
    return [shape, known[1] or (depth, *shape[:batch], rng.choice((1, 2, 3)))], {"batch_dims": batch}


def _clip(rng: Random, known: Shapes, attrs: Attrs) -> Answer:
    low = rng.choice((-1.0, 0.0, -0.5))
    return [_one(known, rng)], {"a_min": low, "a_max": low + rng.choice((1.0, 6.0, 0.5))}


def _concatenate(rng: Random, known: Shapes, attrs: Attrs) -> Answer:
    shape = known[0] or ()
    return [shape], {"axis": any_axis(rng, len(shape))}


def _cast(rng: Random, known: Shapes, attrs: Attrs) -> Answer:
    return [known[0] if known[0] is not None else some_shape(rng)], {
        "dtype": rng.choice(("float32", "float64", "int32"))
    }



RELAY_SAMPLERS: dict[str, Sampler] = {
    **IMAGE_SAMPLERS,
    **QUANTIZED_SAMPLERS,
    "nn.dense": _dense,
    "nn.matmul": _matmul(False),
    "nn.batch_matmul": _matmul(True),
    "split": _split,
    "transpose": _transpose,
    "reshape": reshape,
    "contrib_reverse_reshape": reshape,
    "nn.bias_add": _along_axis(1, 1),
    "nn.prelu": _along_axis(1, 2),
    "nn.batch_norm": _along_axis(1),
    "nn.layer_norm": _along_axis(-1),
    "nn.instance_norm": _along_axis(1, 3),
    "nn.group_norm": _group_norm,
    "nn.l2_normalize": _l2_normalize,
    **dict.fromkeys(
        ("sum", "mean", "max", "min", "prod", "all", "any", "variance", "argmax", "argmin"), _reduction
    ),
    "expand_dims": _expand_dims,
    "squeeze": _squeeze,
    "nn.pad": _pad,
    "nn.softmax": _softmax,
    "nn.log_softmax": _softmax,
    "layout_transform": _layout_transform,
    "zeros": _shaped,
    "ones": _shaped,
    "full": _shaped,
    "broadcast_to": _broadcast_to,
    "zeros_like": _like,
    "ones_like": _like,
    "full_like": _filled,
    "reshape_like": _reshape_like,
    "broadcast_to_like": _to_like,
    "collapse_sum_like": _sum_like,
    "strided_slice": _strided_slice,
    "clip": _clip,
    "cast": _cast,
    "slice_like": _slice_like,
    "one_hot": _one_hot,
    "gather_nd": _gather_nd,
    "take": _take,
    "concatenate": _concatenate,
    "topk": _topk,
}


def _by_operands(static: Static) -> Sampler:
    """The operands of a dynamic operator: vectors of what is drawn as attributes of the static one."""
    places = sorted((k, name) for name, k in static.places.items())

    def sample(rng: Random, known: Shapes, given: Attrs) -> Answer:
        rest = [shape for k, shape in enumerate(known) if k not in static.places.values()]
        stated = {name: given[f"%{k}"] for k, name in places if given.get(f"%{k}") is not None}
        shapes, drawn = RELAY_SAMPLERS[static.operator](rng, rest, {**given, **stated})
        attrs, result = {**drawn, **stated}, list(shapes)
        count = len(attrs.get("begin", ()))
        absent = {"strides": (1,) * count, "axes": tuple(range(count))}
        for k, name in places[: len(known) - len(rest)]:
            value = attrs[name] if attrs[name] is not None else absent[name]
            attrs[f"%{k}"] = value = value if isinstance(value, tuple) else (value,)
            shape = known[k]
            result.insert(k, (len(value),) if shape is None else shape)
        return result, {name: value for name, value in attrs.items() if name not in static.places}

    return sample


RELAY_SAMPLERS.update({
    operator: _by_operands(static) for operator, static in STATIC.items() if static.operator in RELAY_SAMPLERS
})
