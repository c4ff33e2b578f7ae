"""Attention over symbolic tensors: a softmax of scores times values, in the forms that ONNX and onnxruntime
know.

Which keys a query may look at by its position alone (causal, windows) is an unknown truth value for each
query and key: the same wherever
attributes and lengths are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gslang.base.open_types import Attrs
from gslang.verify.prove.operators.domains import Unsettled, settled
from gslang.verify.prove.operators.lows import weight
from gslang.verify.prove.operators.onnx_operands import operand
from gslang.verify.prove.operators.relay_movement import concatenated, cut, reshaped, transposed
from gslang.verify.prove.operators.relay_products import contracted
from gslang.verify.prove.operators.tensors import Index, Meaning, Operands, Tensor, Value, World
from gslang.verify.prove.operators.truths import positive, truth
from gslang.verify.prove.terms.axioms import apply, square_root
from gslang.verify.prove.terms.dtypes import compared
from gslang.verify.prove.terms.paths import NotProved
from gslang.verify.prove.terms.reals import as_term
from gslang.verify.prove.terms.signs import is_positive
from gslang.verify.prove.terms.sizes import Number, text_of
from gslang.verify.prove.terms.terms import ONE, ZERO, Term, inverse, of_size, read, unknown

Weigh = Callable[[Number, Number, Number, Number, Term], Term]
"""(batch, head, query, key, score) → what the exponential of the score is, times 0 for keys that are hidden.
"""


def in_heads(world: World, x: Tensor, count: Number) -> Tensor:
    """[batch, sequence, heads · size] → [batch, heads, sequence, size]."""
    world.need_true(len(x.shape) == 3, "the rank of a sequence")
    size = world.facts.normal(x.shape[2]) // count
    world.need_equal(size * count, x.shape[2], "division into heads")
    world.need(world.facts.normal(size) - 1, "head size")
    return transposed(reshaped(world, x, (*x.shape[:2], count, world.facts.normal(size))), [0, 2, 1, 3])


def in_rows(world: World, x: Tensor) -> Tensor:
    """[batch, heads, sequence, size] → [batch, sequence, heads · size]."""
    rows = transposed(x, [0, 2, 1, 3])
    return reshaped(world, rows, (*rows.shape[:2], world.facts.normal(rows.shape[2] * rows.shape[3])))


def attended(
    world: World, q: Tensor, k: Tensor, v: Tensor, scale: Callable[[], object], weigh: Weigh,
    may_see_none: Callable[[], bool] = lambda: False,
) -> Tensor:
    """The mean of values, weighted by exponentials of scores; all operands in heads. Queries may share the
    heads of keys and values. `scale`: asked for with each element, None for the usual one. `may_see_none`:
    all keys may be hidden from a query, whose result is 0 then.
    """
    facts = world.facts
    world.need_real(q.dtype)
    for other in (k, v):
        world.need_same_dtype(q.dtype, other.dtype)
        world.need_equal(q.shape[0], other.shape[0], "batch sizes of attention")
    world.need_equal(k.shape[1], v.shape[1], "numbers of key and value heads")
    world.need_equal(k.shape[2], v.shape[2], "numbers of keys and values")
    world.need_equal(q.shape[3], k.shape[3], "head sizes")
    shared = facts.normal(q.shape[1]) // facts.normal(k.shape[1])
    world.need_equal(shared * k.shape[1], q.shape[1], "division of the heads among keys")

    def factor() -> Term:
        size, known = of_size(facts.normal(q.shape[3])), scale()
        if isinstance(known, Unsettled):  # a number, or the usual one
            return unknown(f"scale {known}", size)
        return inverse(square_root(size)) if known is None else as_term(known)

    def weight(b: Number, h: Number, i: Number, j: Number) -> Term:
        group = facts.normal(h) // facts.normal(shared)
        score = contracted(world, q.shape[3], lambda c: q.at((b, h, i, c)) * k.at((b, group, j, c)))
        return weigh(b, h, i, j, score * factor())

    def at(index: Index) -> Term:
        b, h, i, e = index
        group = facts.normal(h) // facts.normal(shared)
        above = contracted(world, k.shape[2], lambda j: weight(b, h, i, j) * v.at((b, group, j, e)))
        total = contracted(world, k.shape[2], lambda j: weight(b, h, i, j))
        if not may_see_none() or is_positive(total) or world.follows("!=0", total):
            return above * inverse(total)
        return above * unknown("inverse, or 0 of 0", total)

    return Tensor((q.shape[0], q.shape[1], q.shape[2], v.shape[3]), q.dtype, at)


def _shown(
    world: World, name: str, i: Number, j: Number, q: Tensor, k: Tensor, rows: Number | None = None
) -> Term:
    """1 where a query may look at a key by its position. `rows`: of a mask, on whose number of rows that
    depends.
    """
    sizes = ", ".join(
        text_of(world.facts.normal(size)) for size in (q.shape[2], k.shape[2], rows) if size is not None
    )
    return truth(read(f"{name} of {sizes}", (world.facts.normal(i), world.facts.normal(j))))


def _by_mask(world: World, mask: Tensor, wide: tuple[Number, ...], index: Index, score: Term) -> Term:
    """The weight of a score to which a mask is added; one of truth values hides keys."""
    entry = world.element(mask, wide, index)
    if mask.dtype == "bool":
        return apply("exp", [score]) * entry
    return weight(world, score + entry)


def _limited(attrs: Attrs, score: Term) -> Term:
    """A score that is kept small by `softcap`: by an unknown function where nothing is known of that."""
    limit = settled(attrs["softcap"])
    if isinstance(limit, Unsettled):
        return apply(f"limited by {limit}", [score])
    number = as_term(limit)
    return score if number.constant == 0 else number * apply("Tanh", [score * inverse(number)])


def _limits(attrs: Attrs) -> list[str]:
    """The attributes that may hide keys from queries by their positions, with their values."""
    found = []
    for name, all_seen in (("is_causal", 0), ("left_window_size", -1), ("right_window_size", -1)):
        value = settled(attrs[name])
        if isinstance(value, Unsettled) or value != all_seen:
            found.append(f"{name} {value}")
    return found


def _attention(world: World, operands: Operands, attrs: Attrs) -> Value:
    q, k, v, mask = (operand(operands, n) for n in range(4))
    if any(operand(operands, n) is not None for n in range(4, 7)):
        raise NotProved("attention with a cache is not supported")
    if world.reading and compared(q.dtype, v.dtype) is not True:
        world.notes.add("queries and values have one element type")
    flat = len(q.shape) == 3
    world.need_true(
        len(q.shape) in (3, 4) and len(k.shape) == len(v.shape) == len(q.shape),
        "the ranks of attention's operands",
    )
    heads, fewer = attrs["q_num_heads"], attrs["kv_num_heads"]
    world.need_true(
        (heads is not None and fewer is not None) if flat else heads is None and fewer is None,
        "the numbers of attention heads",
    )
    if flat:
        q, k, v = in_heads(world, q, heads), in_heads(world, k, fewer), in_heads(world, v, fewer)
    wide = (q.shape[0], q.shape[1], q.shape[2], k.shape[2])
    if mask is not None:
        world.need_true(2 <= len(mask.shape) <= 4, "the rank of a mask")
        if mask.dtype != "bool":
            if world.reading and compared(mask.dtype, q.dtype) is not True:
                world.notes.add("attention masks are boolean or have the element type of the queries")
            world.need_same_dtype(mask.dtype, q.dtype)
        for a, b in zip(mask.shape[-2::-1], wide[-2::-1]):
            world.need_equal(world.joined(a, b), b, "mask shape")
        world.need(wide[3] - mask.shape[-1], "number of keys beyond the mask")

    def weigh(b: Number, h: Number, i: Number, j: Number, score: Term) -> Term:
        score = _limited(attrs, score)
        names = _limits(attrs)
        shown = (
            ONE
            if not names
            else _shown(world, ", ".join(names), i, j, q, k, None if mask is None else mask.shape[-2])
        )
        if mask is None:
            return apply("exp", [score]) * shown
        own = (*wide[:3], mask.shape[-1])  # keys beyond the mask are hidden
        return shown * world.select(
            mask.shape[-1] - 1 - j, lambda: _by_mask(world, mask, own, (b, h, i, j), score), lambda: ZERO
        )

    def scale() -> object:
        value: Any = settled(attrs["scale"])
        if value is not None and not isinstance(value, Unsettled):
            world.need_true(value > 0, "a scale that is not above 0")
        return value

    def may_see_none() -> bool:  # if causal alone, each query sees the first key
        windows = any(not limit.startswith("is_causal") for limit in _limits(attrs))
        return mask is not None and mask.dtype == "bool" or windows

    y = attended(world, q, k, v, scale, weigh, may_see_none)
    return (in_rows(world, y) if flat else y,)


# ── onnxruntime ──


def _low(attrs: Attrs) -> Term:
    value = settled(attrs["mask_filter_value"])
    if isinstance(value, Unsettled):
        return unknown(f"filter {value}")
    return as_term(-10000.0 if value is None else value)


def _ahead(world: World, attrs: Attrs, i: Number, j: Number, q: Tensor, k: Tensor) -> Term:
    """1 for the keys that a query may see by `unidirectional`."""
    value = settled(attrs["unidirectional"])
    if isinstance(value, Unsettled):
        return _shown(world, f"unidirectional {value}", i, j, q, k)
    return _shown(world, "unidirectional", i, j, q, k) if value else ONE


def _padding(world: World, mask: Tensor, attrs: Attrs, b: Number, i: Number, j: Number) -> Term:
    """The addend of a score where a mask of whole numbers hides the key: where it is not above 0."""
    if mask.converted is not None and mask.converted.dtype == "bool":
        mask = mask.converted  # 1 and 0
    match len(mask.shape):
        case 2:
            entry = mask.at((b, j))
        case 3:
            entry = mask.at((b, i, j))
        case _:
            if mask.leaf is None:
                raise NotProved("computed length masks are not supported")
            if not world.reading:
                world.notes.add("every operator masks the same keys for given lengths")
            entry = read(f"{mask.leaf.name} as lengths", (b, i, j))
    shown = truth(entry) if mask.dtype == "bool" else positive(entry)
    return (ONE - shown) * _low(attrs)


def _fused(
    world: World, q: Tensor, k: Tensor, v: Tensor, padding: Tensor | None, extra: Tensor | None, attrs: Attrs
) -> Tensor:
    """Attention as onnxruntime's operators compute it, with the results in rows."""
    wide = (q.shape[0], q.shape[1], q.shape[2], k.shape[2])
    if padding is not None:
        world.need_true(1 <= len(padding.shape) <= 3, "the rank of a key mask")
        sizes = {2: (wide[0], wide[3]), 3: (wide[0], wide[2], wide[3])}.get(len(padding.shape), ())
        for a, b in zip(padding.shape, sizes):
            world.need_equal(a, b, "shape of a key mask")
    if extra is not None:
        world.need_same_dtype(extra.dtype, q.dtype)
        world.need_true(len(extra.shape) == 4, "the rank of a score mask")
        for a, b in zip(extra.shape, wide):
            world.need_equal(world.joined(a, b), b, "shape of a score mask")

    def scale() -> object:
        value: Any = settled(attrs["scale"])
        if value is None or isinstance(value, Unsettled) or value > 0:
            return value
        world.need_true(value >= 0, "a negative scale")
        return None  # 0 asks for the usual one

    def weigh(b: Number, h: Number, i: Number, j: Number, score: Term) -> Term:
        if padding is not None:
            score = score + _padding(world, padding, attrs, b, i, j)
        if extra is not None:
            score = score + world.element(extra, wide, (b, h, i, j))
        return weight(world, score) * _ahead(world, attrs, i, j, q, k)

    return in_rows(world, attended(world, q, k, v, scale, weigh))


def _multi_head(world: World, operands: Operands, attrs: Attrs) -> Value:
    q, k, v, bias, padding, extra, past_k, past_v = (operand(operands, n) for n in range(8))
    if k is None or v is None or any(operand(operands, n) is not None for n in (8, 9)):
        raise NotProved("packed operands, or a cache with lengths, are not supported")
    count = attrs["num_heads"]
    world.need_true(
        len(q.shape) == 3 and len(k.shape) in (3, 4) and len(v.shape) == len(k.shape),
        "the ranks of attention's operands",
    )
    if bias is not None:
        world.need_true(len(bias.shape) == 1, "a bias that is not a vector")
        if len(k.shape) != 3:
            raise NotProved("biases for keys already split into heads are not supported")
        rows = [q.shape[2], k.shape[2], v.shape[2]]
        world.need_equal(bias.shape[0], sum(rows), "bias length")
        begins = (0, rows[0], rows[0] + rows[1])
        parts = [cut(bias, 0, begin, size) for begin, size in zip(begins, rows)]
        q, k, v = (_plus(world, x, part) for x, part in zip((q, k, v), parts))
    q = in_heads(world, q, count)
    if len(k.shape) == 3:
        k, v = in_heads(world, k, count), in_heads(world, v, count)
    if past_k is not None or past_v is not None:
        world.need_true(past_k is not None and past_v is not None, "a cache of keys only, or of values only")
        if settled(attrs["unidirectional"]) != 0:
            raise NotProved("a cache combined with a causal mask is not supported")
        k, v = concatenated(world, [past_k, k], 2), concatenated(world, [past_v, v], 2)
    for x in (k, v):
        world.need_equal(x.shape[1], count, "numbers of key and value heads")
    return _fused(world, q, k, v, padding, extra, attrs), k, v


def _plus(world: World, x: Tensor, row: Tensor) -> Tensor:
    world.need_same_dtype(x.dtype, row.dtype)
    return Tensor(x.shape, x.dtype, lambda index: x.at(index) + row.at((index[-1],)))


def _packed(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, weights, bias, padding, past, extra, _ = (operand(operands, n) for n in range(7))
    if past is not None or attrs["do_rotary"] or attrs["qkv_hidden_sizes"] is None:
        raise NotProved("attention with a cache or packed equal parts is not supported")
    world.need_true(len(x.shape) == 3 and len(weights.shape) == 2, "the ranks of attention's operands")
    world.need_equal(x.shape[2], weights.shape[0], "inner sizes of attention")
    sizes = attrs["qkv_hidden_sizes"]
    world.need_true(len(sizes) == 3, "the number of hidden sizes")
    world.need_equal(sizes[0], sizes[1], "hidden sizes of queries and keys")
    world.need_equal(sum(sizes), weights.shape[1], "columns of the weights")
    world.need_same_dtype(x.dtype, weights.dtype)
    if bias is not None:
        world.need_same_dtype(x.dtype, bias.dtype)
        world.need_true(len(bias.shape) == 1, "a bias that is not a vector")
        world.need_equal(bias.shape[0], weights.shape[1], "bias length")

    def at(index: Index) -> Term:
        b, s, c = index
        value = contracted(world, x.shape[2], lambda n: x.at((b, s, n)) * weights.at((n, c)))
        return value if bias is None else value + bias.at((c,))

    joined = Tensor((*x.shape[:2], weights.shape[1]), x.dtype, at)
    begins = (0, sizes[0], sizes[0] + sizes[1])
    q, k, v = (
        in_heads(world, cut(joined, 2, begin, size), attrs["num_heads"]) for begin, size in zip(begins, sizes)
    )
    return _fused(world, q, k, v, padding, extra, attrs), Tensor((2, *k.shape), x.dtype, _cache)


def _cache(index: Index) -> Term:
    raise NotProved("the key and value outputs of attention are not supported")


ATTENTION: dict[str, Meaning] = {
    "Attention": _attention,
    "com.microsoft.MultiHeadAttention": _multi_head,
    "com.microsoft.Attention": _packed,
}
