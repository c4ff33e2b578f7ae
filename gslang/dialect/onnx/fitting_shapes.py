"""Operands whose shapes do not belong together, or not to the attributes: calls without a meaning that the
`onnx` package's inference lets pass, and that NumPy computes all the same because it broadcasts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from gslang.base.open_types import Attrs

Sizes = tuple[int, ...]
Shapes = Sequence[Sizes | None]
Check = Callable[[Shapes, Attrs], str | None]


def why_unfit(operator: str, shapes: Shapes, attrs: Attrs) -> str | None:
    """Why operands of these shapes (None: absent, or not known) do not fit, or None."""
    check = _CHECKS.get(operator) or _CHECKS.get(operator.removeprefix("com.microsoft."))
    return None if check is None else check([*shapes, *(None,) * (_MOST - len(shapes))], attrs)


def goes_into(shape: Sizes, whole: Sizes) -> bool:
    """True if a shape broadcasts to another one, which stays as it is."""
    pairs = zip(reversed(shape), reversed(whole))
    return len(shape) <= len(whole) and all(n in (1, m) for n, m in pairs)


def _differ(what: str, shape: Sizes | None, wanted: Sizes | None) -> str | None:
    """Why an operand of a shape is not the wanted one."""
    if shape is None or wanted is None or shape == wanted:
        return None
    return f"{what} of {list(shape)} is not of {list(wanted)}"


def _first(*reasons: str | None) -> str | None:
    return next((why for why in reasons if why), None)


# ── convolutions ────────────────────────────────────────────────────────────────────────────────────────────


def _convolution(weight: int, bias: int | None, transposed: bool = False) -> Check:
    """Of data and the operands at these places (None: there is no bias); scales and zero points stand behind
    both in `QLinearConv`.
    """

    def check(shapes: Shapes, attrs: Attrs) -> str | None:
        data, kernel, added = shapes[0], shapes[weight], None if bias is None else shapes[bias]
        if kernel is None or len(kernel) < 2:
            return None
        groups, window = attrs.get("group") or 1, attrs.get("kernel_shape")
        if data is not None and len(data) != len(kernel):
            return f"data of {len(data)} dimensions and a weight of {len(kernel)}"
        if window is not None and tuple(window) != kernel[2:]:
            return f"`kernel_shape` {list(window)} is not the window {list(kernel[2:])} of its weight"
        taken = kernel[0] if transposed else kernel[1] * groups
        made = kernel[1] * groups if transposed else kernel[0]
        if data is not None and data[1] != taken:
            return f"data has {data[1]} channels, and its weight takes {taken}"
        if kernel[0] % groups:
            return f"{kernel[0]} channels are not in {groups} groups"
        if added is not None and added != (made,):
            return f"a bias of {list(added)} does not broadcast to {made} channels"
        return None

    return check


def _coded_convolution(shapes: Shapes, attrs: Attrs) -> str | None:
    """Scales and zero points are one, those of the weight also one for each channel of the result."""
    kernel = shapes[3]
    made = kernel[:1] if kernel else ()
    return _first(
        _convolution(3, 8)(shapes, attrs), *(_not_one(shapes[k]) for k in (1, 2, 6, 7)),
        *(_not_one(shapes[k], made) for k in (4, 5)),
    )


def _integer_convolution(shapes: Shapes, attrs: Attrs) -> str | None:
    kernel = shapes[1]
    points = _first(_not_one(shapes[2]), _not_one(shapes[3], kernel[:1] if kernel else ()))
    return points or _convolution(1, None)(shapes, attrs)


# ── products ────────────────────────────────────────────────────────────────────────────────────────────────


def _gemm(a: int, b: int, added: int) -> Check:
    """The operands at these places are matrices, and a sum that is not larger than their product."""

    def check(shapes: Shapes, attrs: Attrs) -> str | None:
        left, right, more = shapes[a], shapes[b], shapes[added]
        for shape in (left, right):
            if shape is not None and len(shape) != 2:
                return f"{list(shape)} is no matrix"
        if left is None or right is None:
            return None
        whole = (left[1 if attrs.get("transA") else 0], right[0 if attrs.get("transB") else 1])
        if more is not None and not goes_into(more, whole):
            return f"{list(more)} does not broadcast to {list(whole)}"
        return None

    return check


def _coded_gemm(shapes: Shapes, attrs: Attrs) -> str | None:
    right = shapes[3]
    columns = right[:1] if right and attrs.get("transB") else right[-1:] if right else ()
    return _first(
        _gemm(0, 3, 6)(shapes, attrs), *(_not_one(shapes[k]) for k in (1, 2, 7, 8)),
        *(_not_one(shapes[k], columns) for k in (4, 5)),
    )


def _coded_product(single: Sequence[int], by_column: Sequence[int], bias: int) -> Check:
    """Scales and zero points at these places are one, or one for each column of the second operand (of each
    of its matrices, where it has several). A bias has one element for each column.
    """

    def check(shapes: Shapes, attrs: Attrs) -> str | None:
        right = shapes[1]
        if right is None:
            return None
        columns = right[-1:] if len(right) > 1 else ()
        many = [(*right[:-2], 1, *columns)] if columns else []
        many += [columns] if len(right) == 2 else []
        return _first(
            *(_not_one(shapes[k]) for k in single), *(_not_one(shapes[k], *many) for k in by_column),
            _differ("a bias", shapes[bias], columns),
        )

    return check


# ── codes ───────────────────────────────────────────────────────────────────────────────────────────────────


def _not_one(shape: Sizes | None, *many: Sizes) -> str | None:
    """Why a scale or zero point is neither one number nor of one of these shapes."""
    if shape is None or shape in ((), (1,), *many):
        return None
    wanted = " or ".join(["one number", *(f"of {list(sizes)}" for sizes in many)])
    return f"a scale or zero point of {list(shape)} is not {wanted}"


def _all_single(places: Sequence[int]) -> Check:
    """Scales and zero points at these places are one number each."""
    return lambda shapes, attrs: _first(*(_not_one(shapes[k]) for k in places))


def _coded_parts(shapes: Shapes, attrs: Attrs) -> str | None:
    """Of the result, then of each part behind it."""
    return _first(*(_not_one(shape) for k, shape in enumerate(shapes) if k < 2 or k % 3 != 2))


def _coded(shapes: Shapes, attrs: Attrs) -> str | None:
    """A scale is one number, one for each index of an axis, or one for each block of the data; a zero point
    has the shape of its scale.
    """
    data, scale, point = shapes[:3]
    if scale is not None and point is not None and point != scale and {scale, point} != {(), (1,)}:
        return f"a zero point of {list(point)} and a scale of {list(scale)}"
    if data is None or scale is None or scale in ((), (1,)):
        return None
    axis, block = attrs.get("axis", 1), attrs.get("block_size") or 0
    if not -len(data) <= axis < len(data):
        return f"no axis {axis} in {list(data)}"
    axis %= len(data)
    blocks = tuple([-(-n // block) if k == axis else n for k, n in enumerate(data)]) if block > 0 else None
    wanted = data[axis : axis + 1] if blocks is None else blocks
    return _differ("a scale", scale, wanted)


# ── normalisation, bias, activations ────────────────────────────────────────────────────────────────────────


def _factors(shapes: Shapes, attrs: Attrs) -> str | None:
    data = shapes[0]
    for shape in shapes[1:]:
        if data is not None and shape is not None and not goes_into(shape, data):
            return f"{list(shape)} does not broadcast to {list(data)}"
    return None


def _along_last(*places: int) -> Check:
    """The operands at these places are vectors along the last axis of the first one."""

    def check(shapes: Shapes, attrs: Attrs) -> str | None:
        wanted = None if shapes[0] is None else shapes[0][-1:]
        return _first(*(_differ("a vector", shapes[k], wanted) for k in places))

    return check


def _biased(shapes: Shapes, attrs: Attrs) -> str | None:
    return _along_last(1)(shapes, attrs) or _differ("what is added", shapes[2], shapes[0])


def _skipping(shapes: Shapes, attrs: Attrs) -> str | None:
    """The addend has the shape of the data, or is the same for each batch; then vectors."""
    data, more = shapes[:2]
    again = () if data is None or len(data) != 3 else (data[1:], (1, *data[1:]))
    if data is not None and more is not None and more not in (data, *again):
        return f"{list(more)} is not added to {list(data)}"
    return _along_last(2, 3, 4)(shapes, attrs)


def _groups(shapes: Shapes, attrs: Attrs) -> str | None:
    """Gamma, beta and a bias have an element for each channel; what is added is of the shape of the data, or
    has one for each channel of each image.
    """
    data, more = shapes[0], shapes[3]
    if data is None or len(data) < 3:
        return None if data is None else f"{list(data)} is no image"
    last = attrs.get("channels_last", 1)
    channels = data[-1] if last else data[1]
    vectors = (_differ("a vector", shapes[k], (channels,)) for k in (1, 2, 4))
    ones = (1,) * (len(data) - 2)
    by_image = (data[0], *ones, channels) if last else (data[0], channels, *ones)
    if more is not None and more not in (data, by_image, (data[0], channels)):
        return f"{list(more)} is not added to {list(data)}"
    return _first(*vectors, f"{channels} channels are not in groups" if channels % attrs["groups"] else None)


def _embedding(shapes: Shapes, attrs: Attrs) -> str | None:
    """Numbers of rows of tables, whose rows are of one length."""
    ids, kinds, words, places, _, gamma, beta, mask, positions = shapes[:9]
    wanted = None if words is None else words[-1:]
    tables = (_differ("a row", None if t is None else t[-1:], wanted) for t in (places, shapes[4]))
    if ids is not None and positions is not None and positions not in (ids, (1, *ids[1:])):
        return f"positions of {list(positions)} are not those of {list(ids)}"
    return _first(
        _differ("segments", kinds, ids), _differ("a mask", mask, ids), *tables,
        _differ("gamma", gamma, wanted), _differ("beta", beta, wanted),
    )


def _matrices(shapes: Shapes, attrs: Attrs) -> str | None:
    data = shapes[0]
    return f"{list(data)} is no matrix" if data is not None and len(data) < 2 else None


# ── scores, states, places ──────────────────────────────────────────────────────────────────────────────────


def _keys(shapes: Shapes, attrs: Attrs) -> str | None:
    """There are as many keys as values, in as many batches."""
    keys, values = shapes[1:3]
    if keys is None or values is None or len(keys) != len(values):
        return None  # packed, or of unknown rank
    differ = keys[0] != values[0] or keys[-2] != values[-2]
    return f"keys of {list(keys)} and values of {list(values)} are not broadcast" if differ else None


def _packed_attention(shapes: Shapes, attrs: Attrs) -> str | None:
    """Weights have a row for each number of the data, and columns for queries, keys and values."""
    data, weights, sizes = shapes[0], shapes[1], attrs.get("qkv_hidden_sizes")
    if data is None or weights is None:
        return None
    columns = sum(sizes) if sizes else weights[-1]
    return _differ("weights", weights, (data[-1], columns)) or _differ("a bias", shapes[2], (columns,))


def _loss(shapes: Shapes, attrs: Attrs) -> str | None:
    """Labels have the axes of scores without the second one, which has a factor for each of its places."""
    scores, labels, factors = shapes[:3]
    if scores is None:
        return None
    return _differ("labels", labels, (*scores[:1], *scores[2:])) or _differ("factors", factors, scores[1:2])


def _recurrent(gates: int) -> Check:
    """Weights, biases, lengths and states are those of `hidden_size`, of the directions, and of the data."""

    def check(shapes: Shapes, attrs: Attrs) -> str | None:
        data, weights, again, bias, lengths, state, cell, peepholes = shapes[:8]
        if data is None or weights is None or again is None or {*map(len, (data, weights, again))} != {3}:
            return None
        ways, hidden = 2 if attrs.get("direction") == "bidirectional" else 1, again[2]
        if attrs.get("hidden_size") not in (None, hidden):
            return f"`hidden_size` {attrs['hidden_size']} is not that of the recurrence, {hidden}"
        batch = data[0] if attrs.get("layout") else data[1]
        held = (batch, ways, hidden) if attrs.get("layout") else (ways, batch, hidden)
        return _first(
            _differ("W", weights, (ways, gates * hidden, data[2])),
            _differ("R", again, (ways, gates * hidden, hidden)),
            _differ("B", bias, (ways, 2 * gates * hidden)), _differ("`sequence_lens`", lengths, (batch,)),
            _differ("`initial_h`", state, held), _differ("`initial_c`", cell, held),
            _differ("P", peepholes, (ways, 3 * hidden)),
        )

    return check


def _updates(shapes: Shapes, attrs: Attrs) -> str | None:
    """There is one update for each index: a part of the data."""
    data, indices, updates = shapes[:3]
    if data is None or not indices:
        return None
    return _differ("updates", updates, (*indices[:-1], *data[indices[-1] :]))


_MOST: Final = 12  # operands that a check looks at
_CHECKS: Final[Mapping[str, Check]] = {
    "Conv": _convolution(1, 2),
    "FusedConv": _convolution(1, 2),
    "ConvTranspose": _convolution(1, 2, transposed=True),
    "ConvInteger": _integer_convolution,
    "QLinearConv": _coded_convolution,
    "Gemm": _gemm(0, 1, 2),
    "FusedGemm": _gemm(0, 1, 2),
    "QGemm": _coded_gemm,
    "MatMulIntegerToFloat": _coded_product((2, 4), (3, 5), 6),
    "DynamicQuantizeMatMul": _coded_product((), (2, 3), 4),
    "QuantizeLinear": _coded,
    "DequantizeLinear": _coded,
    **dict.fromkeys(("QLinearAdd", "QLinearMul"), _all_single((1, 2, 4, 5, 6, 7))),
    **dict.fromkeys(
        "QLinearSigmoid QLinearLeakyRelu QLinearSoftmax QLinearAveragePool QLinearGlobalAveragePool "
        "QLinearReduceMean".split(),
        _all_single((1, 2, 3, 4)),
    ),
    "QLinearWhere": _all_single((2, 3, 5, 6, 7, 8)),
    "QLinearConcat": _coded_parts,
    **dict.fromkeys(
        "LayerNormalization RMSNormalization SimplifiedLayerNormalization PRelu".split(), _factors
    ),
    "BiasGelu": _along_last(1),
    "FastGelu": _along_last(1),
    "BiasSplitGelu": _along_last(1),
    "BiasAdd": _biased,
    "SkipLayerNormalization": _skipping,
    "SkipSimplifiedLayerNormalization": _skipping,
    "GroupNorm": _groups,
    "SkipGroupNorm": _groups,
    "EmbedLayerNormalization": _embedding,
    "Trilu": _matrices,
    "MultiHeadAttention": _keys,
    "Attention": _keys,
    "NegativeLogLikelihoodLoss": _loss,
    "SoftmaxCrossEntropyLoss": _loss,
    "com.microsoft.Attention": _packed_attention,
    "RNN": _recurrent(1),
    "GRU": _recurrent(3),
    "LSTM": _recurrent(4),
    "ScatterND": _updates,
    "ScatterElements": lambda shapes, attrs: _differ("updates", shapes[2], shapes[1]),
}
