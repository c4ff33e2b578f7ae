"""Rotary positions over symbolic tensors: pairs of numbers turned by angles of tables, in the forms that ONNX
and onnxruntime know.
"""

from __future__ import annotations

from collections.abc import Callable

from gslang.base.open_types import Attrs
from gslang.verify.prove.operators.onnx_attention import in_heads, in_rows
from gslang.verify.prove.operators.onnx_lookups import need_inside, place_in
from gslang.verify.prove.operators.onnx_operands import operand
from gslang.verify.prove.operators.relay_movement import concatenated, cut
from gslang.verify.prove.operators.tensors import Index, Meaning, Operands, Tensor, Value, World
from gslang.verify.prove.terms.reals import as_term
from gslang.verify.prove.terms.sizes import Number
from gslang.verify.prove.terms.terms import ONE, Term, unknown

# (batch, place in the sequence, number of the angle) → its cosine or sine
Angle = Callable[[Number, Number, Number], Term]


def _turned(
    world: World, x: Tensor, cosine: Angle, sine: Angle, turned: Number, neighbours: bool
) -> Tensor:
    """[batch, heads, sequence, size]: the first `turned` numbers of each row turned in pairs: neighbours, or
    those of the first half with those of the second.
    """
    facts = world.facts
    half = facts.normal(facts.normal(turned) // 2)
    world.need_equal(half * 2, turned, "even number of columns")

    def pair(b: Number, h: Number, s: Number, k: Number) -> tuple[Term, Term]:
        places = (2 * k, 2 * k + 1) if neighbours else (k, half + k)
        first, second = (x.at((b, h, s, facts.normal(place))) for place in places)
        return first, second

    def low(b: Number, h: Number, s: Number, k: Number) -> Term:
        first, second = pair(b, h, s, k)
        return first * cosine(b, s, k) - second * sine(b, s, k)

    def high(b: Number, h: Number, s: Number, k: Number) -> Term:
        first, second = pair(b, h, s, k)
        return second * cosine(b, s, k) + first * sine(b, s, k)

    def at(index: Index) -> Term:
        b, h, s, c = index
        if neighbours:
            k = facts.normal(c // 2)
            return world.select(2 * k - c, lambda: low(b, h, s, k), lambda: high(b, h, s, k))
        k = facts.normal(c - half)
        return world.select(-1 - k, lambda: low(b, h, s, c), lambda: high(b, h, s, k))

    y = Tensor((*x.shape[:3], turned), x.dtype, at)
    rest = facts.normal(x.shape[3] - turned)
    if type(rest) is int and rest == 0:
        return y
    world.need(rest, "columns beyond the rotated ones")
    return concatenated(world, [y, cut(x, 3, turned, rest)], 3)


def _looked_up(
    world: World, tables: tuple[Tensor, Tensor], places: Tensor, factor: Term = ONE
) -> list[Angle]:
    """Angles of tables with a row for each place; one place alone is that of the first element of a
    sequence.
    """

    def of(table: Tensor) -> Angle:
        def at(b: Number, s: Number, k: Number) -> Term:
            alone = len(places.shape) == 1
            index, more = ((0,), s) if alone else ((b, s), 0)
            return factor * table.at((place_in(world, places, index, table.shape[0], more, False), k))

        return at

    if len(places.shape) > 1:
        need_inside(world, places, places.shape, tables[0].shape[0], from_end=False)
    return [of(table) for table in tables]


def _alike(world: World, x: Tensor, cosines: Tensor, sines: Tensor, rank: int) -> None:
    world.need_true(len(x.shape) in (3, 4), "the rank of a rotary embedding's input")
    world.need_true(len(cosines.shape) == len(sines.shape) == rank, "the rank of an angle table")
    for table in (cosines, sines):
        world.need_same_dtype(x.dtype, table.dtype)
    for a, b in zip(cosines.shape, sines.shape):
        world.need_equal(a, b, "shapes of the cosine and sine tables")


def _rotary(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, cosines, sines, places = (operand(operands, k) for k in range(4))
    _alike(world, x, cosines, sines, 3 if places is None else 2)
    flat = len(x.shape) == 3
    if flat:
        world.need_true(attrs["num_heads"] is not None, "a missing number of heads")
    heads = in_heads(world, x, attrs["num_heads"]) if flat else x
    turned = attrs["rotary_embedding_dim"]
    turned = heads.shape[3] if type(turned) is int and turned == 0 else turned
    world.need_equal(cosines.shape[-1] * 2, turned, "number of angles")
    if places is None:
        world.need_equal(cosines.shape[0], heads.shape[0], "batch size of an angle table")
        world.need_equal(cosines.shape[1], heads.shape[2], "sequence length of an angle table")
        angles: list[Angle] = [lambda b, s, k: cosines.at((b, s, k)), lambda b, s, k: sines.at((b, s, k))]
    else:
        _need_places(world, places, heads)
        angles = _looked_up(world, (cosines, sines), places)
    y = _turned(world, heads, angles[0], angles[1], turned, bool(attrs["interleaved"]))
    return in_rows(world, y) if flat else y


def _need_places(world: World, places: Tensor, heads: Tensor) -> None:
    """A place for each element of each batch."""
    world.need_true(len(places.shape) == 2, "the rank of the positions")
    world.need_equal(places.shape[0], heads.shape[0], "batch size of the positions")
    world.need_equal(places.shape[1], heads.shape[2], "number of positions")


def _rotary_of_onnxruntime(world: World, operands: Operands, attrs: Attrs) -> Value:
    """The tables have a row for each element of a sequence. `scale` has no meaning that is documented."""
    x, places, cosines, sines = operands
    _alike(world, x, cosines, sines, 2)
    count, partly = attrs["num_heads"], attrs["rotary_embedding_dim"]
    counted, whole = not _is_zero(count), _is_zero(partly)
    turned = world.facts.normal(cosines.shape[1] * 2)
    if not whole:
        world.need_equal(turned, partly, "number of angles")
        world.need_true(counted, "a missing number of heads")
    heads = x
    if len(x.shape) == 3:
        if not counted:
            count = world.facts.normal(x.shape[2] // turned)
            world.need_equal(count * turned, x.shape[2], "division into heads")
            count = world.facts.normal(count)
        world.need(count - 1, "number of heads")
        heads = in_heads(world, x, count)
    elif counted and not whole:  # whole heads are told apart already, whatever `num_heads` says
        world.need_equal(x.shape[1], count, "number of heads")
    if whole:
        world.need_equal(heads.shape[3], turned, "number of angles")
    if not attrs["is_packed_batching"]:  # else the sequences of a batch may be longer together
        world.need(cosines.shape[0] - heads.shape[2], "rows of an angle table beyond the sequence")
    if len(places.shape) == 1:
        world.need_equal(places.shape[0], 1, "number of start positions")
    else:
        _need_places(world, places, heads)
    scale = as_term(attrs["scale"])
    factor = ONE if scale.constant == 1 else unknown("scale of angles", scale)
    cosine, sine = _looked_up(world, (cosines, sines), places, factor)
    y = _turned(world, heads, cosine, sine, turned, bool(attrs["interleaved"]))
    return in_rows(world, y) if len(x.shape) == 3 else y


def _is_zero(value: object) -> bool:
    return type(value) is int and value == 0


ROTARY: dict[str, Meaning] = {
    "RotaryEmbedding": _rotary,
    "com.microsoft.RotaryEmbedding": _rotary_of_onnxruntime,
}
