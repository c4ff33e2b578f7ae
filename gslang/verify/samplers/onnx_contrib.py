"""Shapes, attributes and constant operands for onnxruntime's own operators (as `onnx_samplers`)."""

from __future__ import annotations

from random import Random

from gslang.base.open_types import Attrs
from gslang.dialect.onnx.static_types import static_type
from gslang.dialect.tensor_type import TensorType
from gslang.verify.samplers.onnx_coded import quantize
from gslang.verify.samplers.onnx_layer import batch_beside, convolution, gemm, matmul
from gslang.verify.samplers.sample import (
    Answer,
    Sampler,
    Shape,
    Shapes,
    data_shape,
    factor_of,
    fill,
    some_shape,
    written,
)


def _fused_matmul(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """The last two axes of either side may be turned, and the first ones moved behind them."""
    a, b = known[0], known[1]
    ta, tb = given.get("transA", rng.choice((0, 1))), given.get("transB", rng.choice((0, 1)))
    left, right = a or (3, 3), b or (3, 3)
    inner = (left[-2:][0] if ta else left[-1]) if a else right[-1] if tb else right[-2:][0]
    batch = a[:-2] if a else b[:-2] if b else rng.choice(((), (2,), (2, 1)))
    other = batch_beside(rng, batch) if rng.random() < 0.3 else batch
    rows, columns = rng.choice((2, 3, 5)), rng.choice((2, 4))
    return fill(
        known, (*batch, inner, rows) if ta else (*batch, rows, inner),
        (*other, columns, inner) if tb else (*other, inner, columns),
    ), {"transA": ta, "transB": tb, "alpha": rng.choice((1.0, 0.5, -2.0))}  # fmt: skip


def _fused_gemm(rng: Random, known: Shapes, given: Attrs) -> Answer:
    shapes, extra = gemm(rng, known, given)
    return shapes, {**extra, "activation": rng.choice(_ACTIVATIONS)}


def _coded_product(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """Codes of rows and columns; scales and zero points of the second operand are one or one for each column
    (of each matrix).
    """
    (a, b), _ = matmul(rng, known[:2], given)
    columns = b[-1:] if len(b) > 1 else ()
    by_column = rng.choice(((), (), columns if len(b) < 3 else (*b[:-2], 1, *columns)))
    return fill(known, a, b, (), by_column, (), by_column, columns), {}


def _coded_by_itself(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """The same, of numbers that are coded by their extremes."""
    (a, b, _, by_column, _, _, bias), _ = _coded_product(rng, [*known[:2], *(None,) * 5], given)
    return fill(known, a, b, by_column, by_column, bias), {}


def _coded_gemm(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """The same of two matrices, either one transposed."""
    (a, b, bias), extra = gemm(rng, [known[0], *known[3:4], None], given)
    by_column = rng.choice(((), (), b[:1] if extra["transB"] else b[-1:]))
    extra = {name: value for name, value in extra.items() if name != "beta"}
    return fill(known, a, (), (), b, by_column, by_column, bias, (), ()), extra


def _single_scales(apart: int) -> Sampler:
    """Codes that broadcast, at places so far apart; scales and zero points are one number each."""

    def sample(rng: Random, known: Shapes, given: Attrs) -> Answer:
        proposed: list[Shape] = [()] * len(known)
        base = proposed[0] = known[0] or known[apart] or data_shape(rng, known, 3)
        proposed[apart] = rng.choice((base, base[1:], (1, *base[1:]))) if apart else base
        return fill(known, *proposed), {}

    return sample


def _coded_by_axis(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """As those of ONNX's own, but not in blocks."""
    return quantize(rng, known, {**given, "block_size": 0})


def _fused_convolution(rng: Random, known: Shapes, given: Attrs) -> Answer:
    shapes, extra = convolution(False)(rng, known[:3], given)
    result = static_type("Conv", [TensorType(shape, "float32") for shape in shapes[:2]], extra)
    sizes = result.shape if isinstance(result, TensorType) and result.shape else ()
    added = tuple([size for size in sizes if isinstance(size, int)])
    return [*shapes, *[s if s is not None else added for s in known[3:]]], {
        **extra, "activation": rng.choice(("Relu", "Tanh", "Sigmoid")),
    }  # fmt: skip


_ACTIVATIONS = (None, "Relu", "Tanh", "Sigmoid", "LeakyRelu", "HardSigmoid")


def _biased(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """A vector along the last axis."""
    width = next((s[-1] for s in known[1:] if s), None)
    data = known[0] or ((*some_shape(rng, 2), width) if width else data_shape(rng, known, 1))
    return fill(known, data, data[-1:], data), {}


def _coded_softmax(rng: Random, known: Shapes, given: Attrs) -> Answer:
    return _single_scales(0)(rng, known, given)[0], {"opset": rng.choice((11, 13))}


def _coded_mean(rng: Random, known: Shapes, given: Attrs) -> Answer:
    shapes, _ = _single_scales(0)(rng, known, given)
    rank = len(shapes[0])
    axes = rng.sample(range(rank), rng.randint(0, rank))
    return shapes, {"axes": written(rng, sorted(axes), rank), "keepdims": rng.choice((0, 1))}


def _biased_images(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """The same, of data to which data of its shape is added."""
    data = known[0] if known[0] is not None else known[2]
    return _biased(rng, [data, *known[1:]], given)


def _biased_rows(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """A bias that lacks the last axes before the rows (inner), or the first ones."""
    data = data_shape(rng, known, 2)
    axis, inner = given.get("axis", rng.randrange(1, len(data))), given.get("is_inner_broadcast")
    inner = rng.randrange(2) if inner is None else inner
    before, row = data[: axis % len(data)], data[axis % len(data) :]
    kept = rng.randint(0, len(before))
    whole, one = (slice(kept), slice(kept, None)) if inner else (slice(kept, None), slice(kept))
    ones = (1,) * len(before[one])
    bias = (*before[whole], *ones, *row) if inner else (*ones, *before[whole], *row)
    return fill(known, data, bias), {"axis": axis, "is_inner_broadcast": inner}


def _skipping(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """Two operands of one shape, the second mostly with a batch of its own, then vectors along the last axis.
    """
    data = known[0] or known[1] or (*rng.choice(((1,), (2,), (2,), ())), rng.choice((2, 3)), 4)
    addend = rng.choice((data, data, data[1:], (1, *data[1:]))) if len(data) == 3 else data
    return fill(known, data, addend, *[data[-1:]] * 3), {"epsilon": rng.choice((1e-5, 0.125))}


def _last_axis(rng: Random, known: Shapes, given: Attrs) -> Answer:
    data = data_shape(rng, known, 2)
    scale = factor_of(rng, data, data[-1:])
    return fill(known, data, scale), {"axis": -1, "epsilon": rng.choice((1e-5, 0.125))}


def _group_norm(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """Images with channels last, or second."""
    last, groups = given.get("channels_last", rng.choice((1, 1, 0))), given.get("groups", 2)
    channels = groups * 2
    data = known[0] or ((1, 3, 2, channels) if last else (1, channels, 3, 2))
    size = data[-1] if last else data[1] if len(data) > 1 else 1
    return fill(known, data, (size,), (size,), data, (size,)), {
        "channels_last": last, "groups": groups, "activation": rng.choice((0, 1)),
    }  # fmt: skip


def _multi_head(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """Rows with the heads side by side; keys and values of another length than queries, also with the heads
    in an axis of their own."""
    cut = next((s for s in known[1:3] if s and len(s) == 4), None)
    heads = given.get("num_heads") or (cut[1] if cut else _heads_in(rng, known[:3]))
    size = cut[3] if cut else rng.choice((2, 3))
    added = known[3][0] // 3 if len(known) > 3 and known[3] else heads * size
    queries = known[0] or (rng.choice((1, 2)), rng.choice((2, 3)), added)
    batch, length, width = queries if len(queries) == 3 else (1, 2, heads * 2)
    count = next((s[-2] for s in known[1:3] if s and len(s) > 2), rng.choice((length, 3, 4)))
    keys: Shape = (batch, count, width)
    if cut or not any(known[1:3]) and rng.random() < 0.25:
        keys = (batch, heads, count, width // heads)
    return fill(
        known, queries, keys, keys, (3 * width,),
        rng.choice(((batch, count), (batch, length, count))),
        rng.choice(((batch, heads, length, count), (1, heads, length, count), (1, 1, length, count))),
    ), {
        "num_heads": heads, "scale": rng.choice((None, None, 0.5, 0.0, 2.0)),
        "unidirectional": rng.choice((0, 0, 1)), "mask_filter_value": rng.choice((None, -2.0)),
    }  # fmt: skip


def _heads_in(rng: Random, known: Shapes) -> int:
    """A number of heads that rows of these widths consist of."""
    width = next((s[-1] for s in known if s and len(s) == 3), 0)
    return rng.choice([n for n in (2, 2, 3, 1) if width % n == 0])


def _packed_attention(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """Queries, keys and values by one product."""
    heads = given.get("num_heads", 2)
    data = known[0] or (rng.choice((1, 2)), rng.choice((2, 3)), rng.choice((3, 4)))
    batch, length, width = data if len(data) == 3 else (1, 2, 4)
    sizes = given.get("qkv_hidden_sizes") or (heads * 2,) * 3
    return fill(
        known, data, (width, sum(sizes)), (sum(sizes),), (batch, length), (), (1, heads, length, length)
    ), {
        "num_heads": heads, "qkv_hidden_sizes": tuple(sizes), "scale": rng.choice((None, 0.5, 0.0, 2.0)),
        "unidirectional": rng.choice((0, 1)), "mask_filter_value": rng.choice((None, -2.0)),
    }  # fmt: skip


def _rotary(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """Heads, or rows of them, turned by rows of tables: one for each place, or that of the first place."""
    tables = next((s for s in known[2:4] if s and len(s) == 2), None)
    heads, length = given.get("num_heads") or 2, rng.choice((2, 3))
    if known[0] and len(known[0]) == 3 and "num_heads" not in given:
        heads = rng.choice([k for k in (1, 2, 3) if known[0][2] % k == 0 and known[0][2] >= 2 * k] or [1])
    own = known[0][-1] // (heads if len(known[0]) == 3 else 1) if known[0] else 4
    stated = given.get("rotary_embedding_dim")
    half = (
        tables[1] if tables else stated // 2 if stated else max(own // 2, 1) if stated == 0
        else rng.randint(1, max(own // 2, 1))
    )
    whole = not known[0] or own == half * 2
    partly = given.get("rotary_embedding_dim", rng.choice((0, half * 2)) if whole else half * 2)
    size = half * 2 + (rng.choice((0, 1)) if partly else 0)
    batch = rng.choice((1, 2))
    x = known[0] or rng.choice(((batch, heads, length, size), (batch, length, heads * size)))
    batch, heads, length = (x[0], x[1], x[2]) if len(x) == 4 else (x[0], heads, x[1] if len(x) > 1 else 1)
    places = known[1] or rng.choice(((1,), (batch, length), (batch, length)))
    table = tables or (length * (5 if places == (1,) else 2), half)
    return fill(known, x, places, table, table), {
        "interleaved": rng.choice((0, 1)), "is_packed_batching": rng.choice((0, 1)),
        "rotary_embedding_dim": partly, "num_heads": heads if partly else rng.choice((0, heads)),
    }  # fmt: skip


def _embedding(rng: Random, known: Shapes, given: Attrs) -> Answer:
    """Numbers of rows for each place of a batch, and tables with rows of one length."""
    wide = next((s[-1] for s in known[2:7] if s), rng.choice((2, 4)))
    ids = known[0] or (rng.choice((1, 2)), rng.choice((2, 3)))
    places = rng.choice((ids, (1, *ids[1:])))
    return fill(
        known, ids, ids, (5, wide), (4, wide), (4, wide), (wide,), (wide,), ids, places
    ), {"epsilon": rng.choice((1e-5, 0.125)), "mask_index_type": 0}  # fmt: skip


_OWN: dict[str, Sampler] = {
    "FusedMatMul": _fused_matmul,
    "TransposeMatMul": _fused_matmul,
    "FusedGemm": _fused_gemm,
    "MatMulIntegerToFloat": _coded_product,
    "DynamicQuantizeMatMul": _coded_by_itself,
    "QGemm": _coded_gemm,
    **dict.fromkeys(("QLinearAdd", "QLinearMul"), _single_scales(3)),
    **dict.fromkeys(
        ("QLinearSigmoid", "QLinearLeakyRelu", "QLinearGlobalAveragePool"), _single_scales(0)
    ),
    "QLinearSoftmax": _coded_softmax,
    "QLinearReduceMean": _coded_mean,
    "QuantizeLinear": _coded_by_axis,
    "DequantizeLinear": _coded_by_axis,
    "FusedConv": _fused_convolution,
    "BiasGelu": _biased,
    "FastGelu": _biased,
    "BiasAdd": _biased_images,
    "BiasSplitGelu": _biased,
    "BiasSoftmax": _biased_rows,
    "SkipLayerNormalization": _skipping,
    "SkipSimplifiedLayerNormalization": _skipping,
    "GroupNorm": _group_norm,
    "SkipGroupNorm": _group_norm,
    "MultiHeadAttention": _multi_head,
    "Attention": _packed_attention,
    "RotaryEmbedding": _rotary,
    "EmbedLayerNormalization": _embedding,
}
CONTRIB_SAMPLERS: dict[str, Sampler] = {
    "SimplifiedLayerNormalization": _last_axis,
    **{f"com.microsoft.{name}": sampler for name, sampler in _OWN.items()},
}
