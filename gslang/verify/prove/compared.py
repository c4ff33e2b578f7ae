"""The outputs of both sides in one case: equal in type, shape and each element, or not shown to be."""

from __future__ import annotations

from collections.abc import Sequence

from gslang.verify.prove.operators.families import Family
from gslang.verify.prove.operators.tensors import Index, Tensor, Value, World
from gslang.verify.prove.operators.whole import same_words
from gslang.verify.prove.terms.certificate import Alike, Compared, Path, Side
from gslang.verify.prove.terms.dtypes import Dtype
from gslang.verify.prove.terms.paths import Impossible, NotProved, TooMuch
from gslang.verify.prove.terms.reals import as_term
from gslang.verify.prove.terms.terms import Term
from gslang.verify.prove.terms.totals import same
from gslang.verify.prove.terms.uses import is_raw


def compare_all(world: World, left: Sequence[Value], right: Sequence[Value], path: Path) -> None:
    """Raise `NotProved` unless these values of the source and of the target are equal, one by one. `path`:
    the outputs that they are, or parts of.
    """
    for k, (a, b) in enumerate(zip(left, right)):
        _compare(world, a, b, (*path, (k, len(left))))


def _compare(world: World, left: Value, right: Value, path: Path) -> None:
    """`path`: which output it is, and which part of that."""
    record = world.record
    if isinstance(left, Family) or isinstance(right, Family):
        if not isinstance(left, Family) or not isinstance(right, Family) or left.block != right.block:
            raise NotProved("the outputs of the sides do not correspond instance by instance")
        compare_all(world, (left.first, left.later), (right.first, right.later), path)
        return
    if isinstance(left, tuple) or isinstance(right, tuple):
        if not isinstance(left, tuple) or not isinstance(right, tuple) or len(left) != len(right):
            raise NotProved("the outputs are tuples of different lengths, or a tuple and a tensor")
        compare_all(world, left, right, path)
        if not left and record is not None:
            record.outputs.append(Alike(path, None))
        return
    if left is right:
        if record is not None:
            record.outputs.append(Alike(path, None))
        return
    if not isinstance(left, Tensor) or not isinstance(right, Tensor):
        raise NotProved("an output is absent")
    facts = world.facts
    if not world.same_dtype(left.dtype, right.dtype):
        raise NotProved("the result types may differ")
    if len(left.shape) != len(right.shape):
        raise NotProved(f"the sides have ranks {len(left.shape)} and {len(right.shape)}")
    for a, b in zip(left.shape, right.shape):
        world.need_equal(a, b, "result shapes")
    if left.items is not None and right.items is not None:
        pairs = [(as_term(a), as_term(b)) for a, b in zip(left.items, right.items)]
        for k, (one, other) in enumerate(pairs):
            if record is not None:
                sides = Side(None, one, []), Side(None, other, [])
                record.outputs.append(Compared((*path, (k, len(pairs))), *sides))
            _compare_elements(world, one, other, left.dtype)
        if not pairs and record is not None:
            record.outputs.append(Alike(path, left.shape))
        return
    try:
        for size in left.shape:
            facts.learn(size - 1)
    except Impossible:
        if record is not None:
            record.outputs.append(Alike(path, left.shape))
        return  # no elements
    sizes = [facts.normal(size) for size in left.shape]
    index = tuple(0 if type(size) is int and size == 1 else facts.position(size) for size in sizes)
    world.defined = {}
    before, after = _elements(world, left, right, index, path)
    _compare_elements(world, before, after, left.dtype)


def _elements(world: World, left: Tensor, right: Tensor, index: Index, path: Path) -> tuple[Term, Term]:
    """An element of the source and that of the target, which is defined wherever the former is."""

    def source() -> Term:
        world.comparing = "" if is_raw() else "source"
        return left.at(index)

    def target() -> Term:
        world.comparing = "" if is_raw() else "target"
        return right.at(index)

    try:
        if world.record is None:
            return source(), target()
        before, one = world.record.side(source)
        after, other = world.record.side(target)
        world.record.outputs.append(Compared(path, one, other))
        return before, after
    finally:
        world.comparing = ""


def _compare_elements(world: World, a: Term, b: Term, dtype: str | Dtype) -> None:
    if same(a, b, world.facts):
        return
    recording = world.record is not None
    if recording and world.whole or not same_words(world, a, b, dtype):
        raise NotProved(f"{a.key} ≠ {b.key}")
    if recording:
        raise TooMuch("comparisons of integers bit by bit are not written down")
