"""Instances with the attributes and types of a sample in corner cases of shapes: with many axes, with sizes
that a number in the rule makes telling, of other ranks, with sizes of 1 and such as are equal by chance.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations, islice, permutations, product, zip_longest
from math import prod
from random import Random
from typing import TypeGuard, TypeVar

import numpy as np

from gslang.check import checked as ir
from gslang.dialect.domain import contains
from gslang.graph.graph import CONST
from gslang.verify.attribute_pairs import several_attributes
from gslang.verify.far_numbers import ends_of_types, far_numbers
from gslang.verify.instances.draw import Instance, Search, wished
from gslang.verify.instances.elements import in_tuples
from gslang.verify.instances.leaves import MOST_DIMENSIONS
from gslang.verify.instances.telling_sizes import telling_ends, telling_sizes
from gslang.verify.neighbours import Place, Point, Wishes, defaults_of, of_other_ranks, sized, takes_long

_T = TypeVar("_T")
_USUAL_RANK = 4  # fewer axes are drawn anyway
_MANY_SIZES = 2  # one in so many attempts, besides, has a size that a number in the rule makes telling
_LARGEST_ATTRIBUTE = 256  # sizes may be its powers
_MANY_AXES = 5
_MOST_FAR = 6  # attempts with many axes
_MOST_ELEMENTS = 100_000  # of an input with such a size
_STRETCHED = 0.5  # share of corners in which an axis of 1 is stretched
_MOST_EXCHANGED = 16  # corners in which one axis is stretched and another becomes 1
_SPARED, _SPARED_SHARE = 40, 4  # attempts that are left out, but one in so many are made in any case
_TIMES_ALONG_OTHERS = 3  # with other values
_MOST_TURNED = 8  # orders of axes, of which the first is the present one
_ALONE = 0.3  # share of corners in which one axis becomes 1, whatever others have its size


def corners(rule: ir.CheckedRule, point: Point, seed: int, attempts: int) -> Iterator[Instance]:
    """Instances with the attributes and types of a point, with sizes beyond numbers in the rule, then of
    other ranks, and with sizes that are 1 or equal to others that they have nothing to do with: there
    conditions hold that mean something else.
    """
    base = point.wishes()
    made: set[str] = set()
    tried: set[str] = set()  # what is wished for decides, given the seed
    ranks = chain(
        _outgrowing(point), _without_axes(point), _of_one_size(point), _kept_alone(point),
        _of_no_items(point), _shuffled(of_other_ranks(point), Random(seed)),
    )
    shapes = zip_longest(ranks, _coinciding(point, Random(seed)))
    changes = islice(filter(None, chain.from_iterable(shapes)), attempts)
    large = islice(_large(rule, point, Random(seed)), attempts // _MANY_SIZES)
    misplaced = islice(_misplaced(rule, point, Random(seed)), attempts)
    numbers = far_numbers(rule, point, Random(seed))
    said = islice(_large_attributes(rule, point, Random(seed)), attempts // _MANY_SIZES)
    orders = islice(_orders(point, Random(seed)), attempts)
    far = islice(_far(rule, point), _MOST_FAR)
    # where there is a proof, few of what it would hardly get wrong
    fewer = max(attempts - _SPARED, attempts // _SPARED_SHARE)
    others = islice(chain.from_iterable(_along_others(point) for _ in range(_TIMES_ALONG_OTHERS)), fewer)
    several = islice(several_attributes(rule, point, Random(seed)), fewer)
    changed = chain(
        numbers, ends_of_types(rule, point), far, large, said, orders, misplaced, several, changes
    )
    # what is open is the same for all, but not for those of one shape: chance could make all of these dull
    numbered = chain(((change, 0) for change in changed), ((change, k) for k, change in enumerate(others)))
    for change, number in numbered:
        if (text := f"{change} {number}") in tried:
            continue
        tried.add(text)
        dropped = [(leaf, "value") for leaf, field in change if field == "shape"]
        wishes = {k: v for k, v in base.items() if k not in dropped} | change
        numbers_only = all(field == "value" for _, field in change)
        found = wished(rule, wishes, seed + number, Search(), None if numbers_only or number else made)
        if found is None or _has_empty(found):  # those are drawn for the sake of `allowzero` alone
            continue
        if not takes_long(found):  # two large sizes multiplied
            yield found


def _shuffled(changes: Iterable[_T], random: Random) -> list[_T]:
    found = list(changes)
    random.shuffle(found)
    return found


def _large(rule: ir.CheckedRule, point: Point, random: Random) -> Iterator[Wishes]:
    """Each size wherever it stands as large as a number in the rule makes telling, the others 1 or as they
    are."""
    sizes = dict.fromkeys(point.sizes.values())
    for others in (1, None):
        for size, large in _shuffled(product(sizes, telling_sizes(rule)), random):
            shapes = {
                leaf: tuple([large if d == size else others or d for d in shape])
                for leaf, shape in point.shapes.items() if leaf not in point.values
            }
            if all(prod(shape) <= _MOST_ELEMENTS for shape in shapes.values()):
                yield {(leaf, "shape"): shape for leaf, shape in shapes.items()}


def _orders(point: Point, random: Random) -> Iterator[Wishes]:
    """Any order of five axes of equal sizes, where a rule has a name for an order: conditions on some of its
    items may be right for fewer axes only.
    """
    for key, order in point.captured.items():
        if not _is_order(order) or len(order) < 2:
            continue
        leaves = [leaf for leaf, shape in point.shapes.items() if len(shape) == len(order)]
        for other in _shuffled(permutations(range(_MANY_AXES)), random):
            yield {key: other, **{(leaf, "shape"): (2,) * _MANY_AXES for leaf in leaves}}


def _large_attributes(rule: ir.CheckedRule, point: Point, random: Random) -> Iterator[Wishes]:
    """One number of an attribute, or of a constant of integers, as large as a number in the rule makes
    telling: results have that size then, although no input has.
    """
    given = {**point.attributes, **point.captured} | {
        (leaf, "value"): in_tuples(np.asarray(value).tolist())
        for leaf, value in point.values.items() if point.dtypes[leaf].startswith("int")
    }
    told = [size for size in telling_sizes(rule) if size <= _LARGEST_ATTRIBUTE]
    for (key, value), large in _shuffled(product(given.items(), told), random):
        changed: object = large if type(value) is int else None
        if isinstance(value, tuple) and value and all(type(item) is int for item in value):
            place = random.randrange(len(value))
            changed = (*value[:place], large, *value[place + 1 :])
        if changed is not None and _is_declared(rule, key, changed):
            yield {key: changed}


def _is_declared(rule: ir.CheckedRule, key: tuple[int, str], value: object) -> bool:
    """False for a value that is in no domain of an attribute of a call."""
    node, name = rule.nodes[key[0]], key[1]
    specs = [rule.dialect.operators[operator].attributes.get(name) for operator in node.operators]
    return all(spec is None or contains(spec.domain, value) is not False for spec in specs)


def _far(rule: ir.CheckedRule, point: Point) -> Iterator[Wishes]:
    """So many axes that none that is named from the front is also named from the back, or that one is named
    by none."""
    front, back = telling_ends(rule)
    for count in range(_USUAL_RANK + 1, min(front + back + 1, MOST_DIMENSIONS) + 1):
        for rank in {len(shape) for shape in point.shapes.values()}:
            if back <= rank < count:
                shape = tuple([2 + axis % 3 for axis in range(count)])  # conditions make some of them 1
                yield {
                    (leaf, "shape"): shape
                    for leaf, own in point.shapes.items() if len(own) == rank and leaf not in point.values
                }


def _has_empty(instance: Instance) -> bool:
    graph = instance.before
    return any(
        0 in (getattr(graph.types[node], "shape", None) or ())
        for node in graph.nodes() if graph.op[node] is not CONST
    )


def _coinciding(point: Point, random: Random) -> Iterator[Wishes]:
    """Shapes of leaves, without end: one axis alone becomes 1, each once; then each size becomes 1, another
    one of the sample or stays, wherever it stands; now and then one axis of 1 is stretched, or one alone
    becomes 1. What lists axes or sizes, a vector, stays as it is.
    """
    sizes = {
        place: size for place, size in point.sizes.items()
        if not (
            place[0] in point.values and point.dtypes[place[0]].startswith("int")
            and len(point.shapes[place[0]]) < 2
        )
    }
    known = sorted(set(sizes.values()) - {1}) or [2]
    yield from _shuffled((sized(point, [place], 1) for place, size in sizes.items() if size > 1), random)
    yield from islice(_shuffled(_exchanged(point, sizes, known), random), _MOST_EXCHANGED)
    while sizes:
        becomes = {size: random.choice((1, size, random.choice(known))) for size in known}
        changed = {place: becomes.get(size, size) for place, size in sizes.items()}
        ones = [place for place, size in changed.items() if size == 1]
        if ones and random.random() < _STRETCHED:
            changed[random.choice(ones)] = random.choice(known)
        if random.random() < _ALONE:
            changed[random.choice(list(changed))] = 1
        shapes = {leaf: list(shape) for leaf, shape in point.shapes.items()}
        for (leaf, axis), size in changed.items():
            shapes[leaf][axis] = size
        yield {
            (leaf, "shape"): tuple(shape)
            for leaf, shape in shapes.items() if tuple(shape) != point.shapes[leaf]
        }


def _exchanged(point: Point, sizes: Mapping[Place, int], known: Sequence[int]) -> Iterator[Wishes]:
    """One axis of 1 is stretched, and an axis of another leaf becomes 1: what was broadcast to the other one
    is now what the other one is broadcast to.
    """
    for (stretched, other), size in product(permutations(sizes, 2), known):
        if sizes[stretched] == 1 < sizes[other] and stretched[0] != other[0]:
            yield sized(point, [stretched], size) | sized(point, [other], 1)


def _of_one_size(point: Point) -> Iterator[Wishes]:
    """All sizes are equal, and one input has an axis more or less: what broadcast along one axis broadcasts
    along any other, so that both sides can be computed and show whether they use the same one.
    """
    shapes = {leaf: (2,) * len(shape) for leaf, shape in point.shapes.items() if leaf not in point.values}
    for leaf, shape in shapes.items():
        for other in ((2, *shape), shape[1:]):
            if other != shape:
                yield {(name, "shape"): other if name == leaf else own for name, own in shapes.items()}


def _along_others(point: Point) -> Iterator[Wishes]:
    """All sizes are equal, and a call works along other axes: conditions on shapes hold all the same.
    Constants keep their values, or become as large as the others.
    """
    open_, every = ([leaf for leaf in point.shapes if leaf not in point.values], list(point.shapes))
    for leaves in (open_, every) if point.values else (open_,):
        shapes = {leaf: (3,) * len(point.shapes[leaf]) for leaf in leaves}
        for change in _other_axes(point, max(map(len, shapes.values()), default=0)):
            yield _shaped(shapes) | change


def _other_axes(point: Point, rank: int) -> Iterator[Wishes]:
    """Another axis for a call, two axes of a call exchanged, or another order of axes."""
    axes = {
        key: axis for key, axis in point.attributes.items() if key[1].endswith("axis") and type(axis) is int
    }
    for key, axis in axes.items():
        for other in range(rank):
            if other != axis:
                yield {key: other}
    for one, two in combinations(axes, 2):
        if one[0] == two[0]:
            yield {one: axes[two], two: axes[one]}
    for key, order in {**point.attributes, **point.captured}.items():
        if _is_order(order):
            for turned in islice(permutations(range(len(order))), 1, _MOST_TURNED):
                yield {key: turned}


def _is_order(value: object) -> TypeGuard[tuple[int, ...]]:
    """True for each axis once, from either end."""
    return isinstance(value, tuple) and {type(axis) for axis in value} == {int} and (
        sorted(axis % len(value) for axis in value) == list(range(len(value)))
    )


def _of_no_items(point: Point) -> Iterator[Wishes]:
    """One list of whole numbers, then all of them, without items."""
    lists = [
        leaf for leaf in point.values if len(point.shapes[leaf]) == 1 and point.dtypes[leaf].startswith("int")
    ]
    for emptied in (*([leaf] for leaf in lists), *([lists] if len(lists) > 1 else [])):
        empty = np.zeros(0, np.int64)
        yield {(leaf, "value"): empty for leaf in emptied} | _shaped({leaf: (0,) for leaf in emptied})


def _misplaced(rule: ir.CheckedRule, point: Point, random: Random) -> Iterator[Wishes]:
    """A row, seen as one along any axis: where all other sizes are 1 and attributes have their defaults, so
    that it broadcasts, then where its size is also that of another axis.
    """
    rank = max(map(len, point.shapes.values()), default=0)
    others = (*point.computed, *sorted(set(point.sizes.values()) - {1}))
    plain, coinciding = defaults_of(rule, point), list[Wishes]()
    for row, own in point.shapes.items():
        size = max(own, default=1)
        if row in point.values and point.dtypes[row].startswith("int") or size == 1 or prod(own) != size:
            continue
        places = [(axes, axis) for axes in range(1, rank + 1) for axis in range(axes)]
        for alone, place in product(_alone(point, size), places):
            yield plain | _shaped(alone | {row: _row(size, *place)})
        for other in others:
            met = {
                leaf: tuple([other if d == size else d for d in shape])
                for leaf, shape in point.shapes.items()
            }
            coinciding += [_shaped(met | {row: _row(other, *place)}) for place in places]
    yield from _shuffled(coinciding, random)


def _shaped(shapes: Mapping[int, tuple[int, ...]]) -> Wishes:
    return {(leaf, "shape"): shape for leaf, shape in shapes.items()}


def _row(size: int, axes: int, axis: int) -> tuple[int, ...]:
    """The shape with so many axes of which one alone is not 1."""
    return tuple([size if k == axis else 1 for k in range(axes)])


def _alone(point: Point, size: int) -> Iterator[dict[int, tuple[int, ...]]]:
    """Shapes in which all sizes but the first of this size become 1; then that one, too, in all leaves but
    rows and one other.
    """
    shapes = {
        leaf: tuple([size if shape.index(size) == k else 1 for k in range(len(shape))])
        if size in shape else (1,) * len(shape)
        for leaf, shape in point.shapes.items()
    }
    yield shapes
    wide = [leaf for leaf, shape in point.shapes.items() if size in shape and prod(shape) > size]
    if len(wide) > 1:
        for kept in wide:
            yield shapes | {leaf: (1,) * len(shapes[leaf]) for leaf in wide if leaf != kept}


def _kept_alone(point: Point) -> Iterator[Wishes]:
    """A size that several inputs have, kept in one of them, where it is 1 in the others: what is computed
    from that one widens what the others make."""
    for size in dict.fromkeys(d for d in point.sizes.values() if d > 1):
        having = [leaf for leaf, shape in point.shapes.items() if size in shape]
        for kept in having if len(having) > 1 else ():
            yield _shaped({
                leaf: tuple([1 if d == size else d for d in point.shapes[leaf]])
                for leaf in having if leaf != kept
            })


def _outgrowing(point: Point) -> Iterator[Wishes]:
    """One input alone with an axis more than all others: what is computed from it and another one has more
    axes than that one.
    """
    shape = (2, *[1] * max(map(len, point.shapes.values()), default=0))
    for leaf in point.shapes:
        yield {(leaf, "shape"): shape}


def _without_axes(point: Point) -> Iterator[Wishes]:
    """One input alone without axes, then all but one: a vector of one element is a scalar beside others, and
    makes a vector of a scalar.
    """
    leaves = [leaf for leaf in point.shapes if leaf not in point.values]
    for leaf in leaves:
        yield {(leaf, "shape"): ()}
        if len(leaves) > 2:
            yield {(other, "shape"): () for other in leaves if other != leaf}
