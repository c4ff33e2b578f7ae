"""Proofs for `each` blocks: any number of instances, of which two are looked at, the first and any later one.

A sequence with one item for each instance is a `Family`. Sizes that are added up over instances become
quantities of their own: the sum over all, and the sum over those before the later one. Tensors joined over
instances can be read where it is known whose part a position lies in. What is equal for the first and for any
later instance is equal for all, however many there are.
"""

from __future__ import annotations

from typing import Any

from gslang.base.quick_dataclass import dataclass
from gslang.check import checked as ir
from gslang.check.walks import walk
from gslang.verify.prove.operators.relay_movement import cut, plain_axis
from gslang.verify.prove.operators.tensors import Index, Tensor, World
from gslang.verify.prove.terms.opaque import Opaque, unanswered
from gslang.verify.prove.terms.paths import NotProved
from gslang.verify.prove.terms.sizes import Number, is_number, text_of
from gslang.verify.prove.terms.terms import Term


@dataclass(frozen=True, slots=True, eq=False)
class Family(Opaque):
    """An item for each instance of a block: that of the first instance, and that of any later one."""

    block: int
    first: Any
    later: Any

    __hash__ = __eq__ = unanswered  # type: ignore[assignment]


@dataclass(frozen=True, slots=True, eq=False)
class Sums(Opaque):
    """`cumsum` of a family of sizes, without its last item if `inner`."""

    sizes: Family
    inner: bool


def whole(world: World, sizes: Family) -> Number:
    """The sum of a family of sizes."""
    return _sums(world, sizes)[1]


def before(world: World, sizes: Family) -> Number:
    """The sum of the sizes of all instances before the later one."""
    return _sums(world, sizes)[0]


def _sums(world: World, sizes: Family) -> tuple[Number, Number]:
    facts = world.facts
    first, later = (facts.normal(size) for size in (sizes.first, sizes.later))
    if not is_number(first) or not is_number(later):
        raise NotProved("sums over instances are supported for sizes only")
    key = (sizes.block, text_of(first), text_of(later))
    for (block, a, b), found in world.sums:
        if (block, text_of(facts.normal(a)), text_of(facts.normal(b))) == key:
            return found
    ahead = facts.size("ahead", 0)
    total = facts.size("all", 0)
    facts.learn(ahead - first)
    facts.learn(total - ahead - later)
    world.sums.append(((sizes.block, first, later), (ahead, total)))
    return ahead, total


def joined_family(world: World, parts: Family, axis: int) -> Tensor:
    """The tensors of all instances, joined along an axis."""
    first, later = parts.first, parts.later
    if not isinstance(first, Tensor) or not isinstance(later, Tensor):
        raise NotProved("a concatenated value is not a tensor")
    rank = len(first.shape)
    place = plain_axis(world, axis, rank)
    world.need_true(len(later.shape) == rank, "concatenated tensors of different ranks")
    world.need_same_dtype(first.dtype, later.dtype)
    for k in range(rank):
        if k != place:
            world.need_equal(first.shape[k], later.shape[k], "shapes of concatenated tensors")
    sizes = Family(parts.block, first.shape[place], later.shape[place])
    total = whole(world, sizes)

    def at(index: Index) -> Term:
        facts = world.facts
        position = facts.normal(index[place])
        for part, start, size in ((first, 0, sizes.first), (later, before(world, sizes), sizes.later)):
            own = facts.normal(position - start)
            if facts.proves(own) and facts.proves(facts.normal(size - 1 - own)):
                return part.at((*index[:place], own, *index[place + 1 :]))
        raise NotProved("the part that contains a position is unknown")

    return Tensor((*first.shape[:place], total, *first.shape[place + 1 :]), first.dtype, at)


def split_family(world: World, x: Tensor, sizes: Family, axis: int) -> Family:
    """A tensor cut into a part for each instance."""
    place = plain_axis(world, axis, len(x.shape))
    world.need_equal(whole(world, sizes), x.shape[place], "total size of a split")
    return Family(
        sizes.block, cut(x, place, 0, sizes.first), cut(x, place, before(world, sizes), sizes.later)
    )


def check_counts(rule: ir.CheckedRule) -> None:
    """Raises `NotProved` for rules that count instances while these are made."""
    for part in walk((rule.nodes, [block.where for block in rule.blocks])):
        if isinstance(part, ir.AllInstances):
            raise NotProved("constraints over all instances are not supported")


def check_blocks(rule: ir.CheckedRule) -> None:
    """Raises `NotProved` for rules whose blocks say more than is looked at here."""
    for part in walk((rule.nodes, rule.where, rule.lets, rule.target, rule.blocks)):
        if isinstance(part, ir.InstanceIndex):
            raise NotProved("reading the index of an instance is not supported")
        if isinstance(part, ir.At) and part.index.local is None and ir.written_number(part.index) != 0:
            raise NotProved("reading an instance by its index is not supported")
    if any(node.count is None for node in rule.nodes):
        raise NotProved("blocks whose instances are operands in the source are not supported")
    check_counts(rule)
    for block in rule.blocks:
        if block.fewest is None or block.fewest < 2:
            raise NotProved("blocks with a single instance are not supported")
