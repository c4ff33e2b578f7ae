"""Operands that do not belong together: scores and keys, states, places and the tables that they lie in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gslang.base.open_types import Attrs
from gslang.dialect.onnx.shape_misfits import Check, Shapes, Sizes, differ, first


def _embedding(shapes: Shapes, attrs: Attrs) -> str | None:
    """Numbers of rows of tables, whose rows are of one length."""
    ids, kinds, words, places, _, gamma, beta, mask, positions = shapes[:9]
    wanted = None if words is None else words[-1:]
    tables = (differ("a row", None if t is None else t[1:], wanted) for t in (places, shapes[4]))
    if ids is not None and len(ids) != 2 or words is not None and len(words) != 2:
        return "word indices and their table have 2 dimensions each"
    if ids is not None and positions is not None and positions not in (ids, (1, *ids[1:])):
        return f"positions of {list(positions)} are not those of {list(ids)}"
    return first(
        differ("segments", kinds, ids), differ("a mask", mask, ids), *tables,
        differ("gamma", gamma, wanted), differ("beta", beta, wanted),
    )


def _heads(shapes: Shapes, attrs: Attrs) -> str | None:
    """There are as many keys as values, and heads of queries for each of theirs."""
    queries, keys, values = shapes[:3]
    if why := _keys(shapes):
        return why
    if queries is None or keys is None or values is None or {*map(len, (queries, keys, values))} != {4}:
        return None
    if keys[1] != values[1] or keys[1] and queries[1] % keys[1]:
        return f"{queries[1]} heads of queries, {keys[1]} of keys and {values[1]} of values"
    return None


def _keys(shapes: Shapes) -> str | None:
    """There are as many keys as values, in as many batches."""
    keys, values = shapes[1:3]
    if keys is None or values is None or len(keys) != len(values):
        return None  # packed, or of unknown rank
    alike = keys[0] == values[0] and keys[-2] == values[-2]
    return None if alike else f"keys of {list(keys)} and values of {list(values)} are not broadcast"


def _biased_heads(shapes: Shapes, attrs: Attrs) -> str | None:
    """Keys and values as above; a bias has a number for each of queries, keys and values, which NumPy would
    broadcast to it.
    """
    queries, keys, values, bias = shapes[:4]
    if (why := _keys(shapes)) or queries is None or values is None or bias is None:
        return why
    size = values[1] * values[3] if len(values) == 4 else values[-1]
    return differ("a bias", bias, (2 * queries[-1] + size,)) if len(queries) == 3 else None


def _packed_attention(shapes: Shapes, attrs: Attrs) -> str | None:
    """Weights have a row for each number of the data, and columns for queries, keys and values."""
    data, weights, sizes = shapes[0], shapes[1], attrs.get("qkv_hidden_sizes")
    if data is None or weights is None:
        return None
    columns = sum(sizes) if sizes else weights[-1]
    return differ("weights", weights, (data[-1], columns)) or differ("a bias", shapes[2], (columns,))


def _turned(shapes: Shapes, attrs: Attrs) -> str | None:
    """Tables have a row for each position, or one for each place of each batch; rows are half as long as what
    is turned."""
    data, cosines, sines, places = shapes[:4]
    if data is None or cosines is None or len(data) not in (3, 4):
        return None if data is None or cosines is None else f"data of {len(data)} dimensions, not 3 or 4"
    batch, length = data[0], data[1] if len(data) == 3 else data[2]
    lead = cosines[:1] if places is not None else (batch, length)
    return first(
        differ("a table", sines, cosines), differ("a table", cosines, (*lead, *cosines[-1:])),
        differ("positions", places, (batch, length)), _not_turned(data, cosines[-1], attrs),
    )


def _turned_from(shapes: Shapes, attrs: Attrs) -> str | None:
    """The same with one first position, or one for each place of each batch."""
    data, places, cosines, sines = shapes[:4]
    if data is None or cosines is None or len(data) not in (3, 4):
        return None if data is None or cosines is None else f"data of {len(data)} dimensions, not 3 or 4"
    batch, length = data[0], data[1] if len(data) == 3 else data[2]
    if places is not None and places not in ((), (1,), (batch, length)):
        return f"positions of {list(places)} are neither one nor of {[batch, length]}"
    if len(cosines) != 2 or cosines[0] < length and not attrs.get("is_packed_batching"):
        return f"a table of {list(cosines)} has no row for each of {length} positions"
    return differ("a table", sines, cosines) or _not_turned(data, cosines[-1], attrs)


def _not_turned(data: Sizes, half: int, attrs: Attrs) -> str | None:
    """Why rows of `half` numbers do not turn data, whose heads may be joined."""
    turned, heads = attrs.get("rotary_embedding_dim") or 0, attrs.get("num_heads") or 0
    if len(data) == 3 and heads and data[2] % heads:
        return f"{data[2]} columns cannot be divided into {heads} heads"
    size = data[3] if len(data) == 4 else data[2] // heads if heads else 2 * half
    if (turned or size) != 2 * half or turned > size or len(data) == 3 and size and data[2] % size:
        return f"rows of {half} numbers do not fit heads of which {turned or size} numbers are rotated"
    return None


def _reversed(shapes: Shapes, attrs: Attrs) -> str | None:
    """There is one length for each batch."""
    data, axis = shapes[0], attrs.get("batch_axis", 1)
    return None if data is None else differ("lengths", shapes[1], data[axis : axis + 1])


def _sampled(shapes: Shapes, attrs: Attrs) -> str | None:
    """A grid has a place, one number for each axis of the image, for each of its points in each batch."""
    data, grid = shapes[:2]
    if data is None or grid is None:
        return None
    if len(grid) != len(data) or grid[0] != data[0] or grid[-1] != len(data) - 2:
        return f"a grid of {list(grid)} does not fit data of {list(data)}"
    return None


def _loss(shapes: Shapes, attrs: Attrs) -> str | None:
    """Labels have the axes of scores without the second one, which has a factor for each of its places."""
    scores, labels, factors = shapes[:3]
    if scores is None:
        return None
    return differ("labels", labels, (*scores[:1], *scores[2:])) or differ("factors", factors, scores[1:2])


def _recurrent(gates: int) -> Check:
    """Weights, biases, lengths and states are those of `hidden_size`, of the directions, and of the data."""

    def check(shapes: Shapes, attrs: Attrs) -> str | None:
        data, weights, again, bias, lengths, state, cell, peepholes = shapes[:8]
        if data is None or weights is None or again is None:
            return None
        if {*map(len, (data, weights, again))} != {3}:
            return f"{list(data)}, {list(weights)} and {list(again)} do not have 3 dimensions each"
        ways, hidden = 2 if attrs.get("direction") == "bidirectional" else 1, again[2]
        if attrs.get("hidden_size") not in (None, hidden):
            return f"`hidden_size` {attrs['hidden_size']} is not that of the recurrence, {hidden}"
        batch = data[0] if attrs.get("layout") else data[1]
        held = (batch, ways, hidden) if attrs.get("layout") else (ways, batch, hidden)
        return first(
            differ("W", weights, (ways, gates * hidden, data[2])),
            differ("R", again, (ways, gates * hidden, hidden)),
            differ("B", bias, (ways, 2 * gates * hidden)), differ("`sequence_lens`", lengths, (batch,)),
            differ("`initial_h`", state, held), differ("`initial_c`", cell, held),
            differ("P", peepholes, (ways, 3 * hidden)),
        )

    return check


def _updates(shapes: Shapes, attrs: Attrs) -> str | None:
    """There is one update for each index: a part of the data."""
    data, indices, updates = shapes[:3]
    if data is None or not indices:
        return None
    return differ("updates", updates, (*indices[:-1], *data[indices[-1] :]))


def _scattered(shapes: Shapes, attrs: Attrs) -> str | None:
    """There is one update for each index, and as many axes as the data has."""
    data, indices, updates = shapes[:3]
    if data is not None and indices is not None and len(indices) != len(data):
        return f"indices of {list(indices)} and data of {list(data)} differ in rank"
    return differ("updates", updates, indices)


def _boxes(shapes: Shapes, attrs: Attrs) -> str | None:
    """Boxes have four numbers each, and a score for each class."""
    boxes, scores, *limits = shapes[:5]
    if boxes is None or scores is None:
        return None
    if len(boxes) != 3 or boxes[2] != 4 or len(scores) != 3 or (scores[0], scores[2]) != boxes[:2]:
        return f"boxes of {list(boxes)} and scores of {list(scores)} do not belong together"
    several = [limit for limit in limits if limit not in (None, (), (1,))]
    return f"a limit of {list(several[0] or ())} is not one number" if several else None


def _windows(shapes: Shapes, attrs: Attrs) -> str | None:
    """Signals have a batch, places, and one number or two at each; windows have places."""
    signal, _, window = shapes[:3]
    if signal is not None and (len(signal) != 3 or signal[2] not in (1, 2)):
        return f"{list(signal)} is not the shape of a batch of signals"
    return None if window is None or len(window) == 1 else f"a window of {list(window)} has one dimension"


def _deformed(shapes: Shapes, attrs: Attrs) -> str | None:
    """A bias has a number for each channel of the result, offsets and factors have the axes of the data;
    there are two offsets for each factor.
    """
    data, weight, offsets, bias, factors = shapes[:5]
    for beside in (weight, offsets, factors):
        if data is not None and beside is not None and len(beside) != len(data):
            return f"data of {list(data)} and {list(beside)} differ in rank"
    if offsets and len(offsets) > 1 and factors and factors != (
        offsets[0], offsets[1] // 2, *offsets[2:]
    ):
        return f"offsets of {list(offsets)} and factors of {list(factors)} do not belong together"
    return None if weight is None else differ("a bias", bias, weight[:1])


PLACES: Final[Mapping[str, Check]] = {
    "EmbedLayerNormalization": _embedding,
    "MultiHeadAttention": _biased_heads,
    "Attention": _heads,
    "NegativeLogLikelihoodLoss": _loss,
    "SoftmaxCrossEntropyLoss": _loss,
    "com.microsoft.Attention": _packed_attention,
    "RNN": _recurrent(1),
    "GRU": _recurrent(3),
    "LSTM": _recurrent(4),
    "ScatterND": _updates,
    "ScatterElements": _scattered,
    "GridSample": _sampled,
    "NonMaxSuppression": _boxes,
    "STFT": _windows,
    "DeformConv": _deformed,
    "ReverseSequence": _reversed,
    "RotaryEmbedding": _turned,
    "com.microsoft.RotaryEmbedding": _turned_from,
}
