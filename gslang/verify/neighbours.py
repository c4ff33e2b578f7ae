"""Instances that differ from a sample in one thing: a size, sizes that were equal, a rank, an element type,
an attribute of one call or of all calls of its operator.

Samples drawn at random differ in many things at once, so that they seldom show which of several equalities a
rule needs. What the source's constraints tie to the thing that changes follows it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations, islice, permutations, product, zip_longest
from math import prod
from random import Random
from typing import TypeVar

from gslang.base.quick_dataclass import dataclass
from gslang.check import checked as ir
from gslang.dialect.tensor_type import TensorType, is_static
from gslang.engine.scope import Scope
from gslang.graph.graph import CONST
from gslang.verify.instances import Instance, Search, match_in, text_of, wished
from gslang.verify.leaves import MOST_DIMENSIONS
from gslang.verify.telling_sizes import telling_ends, telling_sizes

_T = TypeVar("_T")
NEAR = "near another instance"  # a feature

Wishes = dict[tuple[int, str], object]
Place = tuple[int, int]  # a leaf and an axis of it

_DTYPES = ("float32", "int32", "float16", "float64")
_MOST_PAIRS = 24  # pairs of equal sizes that change together
_MOST_VALUES = 2  # of an attribute, besides the one that it has
_PERMUTATIONS = 4  # of each rank, for two calls
_LARGEST = 12  # size to which one is raised
_USUAL_RANK = 4  # fewer axes are drawn anyway
_MANY_SIZES = 2  # one in so many attempts, besides, has a size that a number in the rule makes telling
_MOST_FAR = 6  # attempts with many axes
_MOST_ELEMENTS = 100_000  # of an input with such a size
_MOST_COMPUTED = 2_000_000  # of what is computed from it
_ONE_BY_ONE = {"Resize": 400}  # elements that take as long as one of what the reference interpolates
_STRETCHED = 0.5  # share of corners in which an axis of 1 is stretched
_MOST_EXCHANGED = 16  # corners in which one axis is stretched and another becomes 1
_ALONE = 0.3  # share of corners in which one axis becomes 1, whatever others have its size


@dataclass(frozen=True, slots=True)
class Point:
    """The sizes, types and open attributes of a sample. `shapes`: of leaves; `attributes`: (call, name) →
    value."""

    shapes: Mapping[int, tuple[int, ...]]
    dtypes: Mapping[int, str]
    values: Mapping[int, object]
    attributes: Mapping[tuple[int, str], object]

    def wishes(self) -> Wishes:
        found: Wishes = {(leaf, "shape"): shape for leaf, shape in self.shapes.items()}
        found |= {(leaf, "dtype"): dtype for leaf, dtype in self.dtypes.items()}
        for leaf, value in self.values.items():
            found |= {(leaf, "kind"): "const", (leaf, "value"): value}
        return found | dict(self.attributes)

    @property
    def sizes(self) -> dict[Place, int]:
        return {(leaf, axis): d for leaf, shape in self.shapes.items() for axis, d in enumerate(shape)}

    @property
    def coincidences(self) -> int:
        """The number of sizes that are 1 or equal to one of another axis: these tell little."""
        sizes = list(self.sizes.items())
        return sum(d == 1 for _, d in sizes) + sum(
            a == b and p[1] != q[1] for (p, a), (q, b) in combinations(sizes, 2)
        )


def point_of(scope: Scope) -> Point:
    """The leaves and calls of a match outside of templates."""
    shapes: dict[int, tuple[int, ...]] = {}
    dtypes: dict[int, str] = {}
    values: dict[int, object] = {}
    attributes: dict[tuple[int, str], object] = {}
    graph = scope.graph
    for number, node in enumerate(scope.rule.nodes):
        slot = scope.slots[number] if node.block is None else -1
        if slot < 0:
            continue
        type_ = graph.types[slot]
        match node:
            case ir.LeafNode() if isinstance(type_, TensorType) and is_static(type_.shape) and type_.dtype:
                shapes[number] = tuple([d for d in type_.shape or () if isinstance(d, int)])
                dtypes[number] = type_.dtype
                if graph.op[slot] is CONST:
                    values[number] = graph.value(slot)
            case ir.CallNode():
                signature = scope.rule.dialect.get(graph.op[slot])
                complete = {} if signature is None else signature.complete(graph.attrs[slot])
                declared = () if signature is None else signature.attributes
                attributes |= {
                    (number, name): value
                    for name, value in complete.items() if name in declared and not _fixed(node, name)
                }
    return Point(shapes, dtypes, values, attributes)


def _fixed(call: ir.CallNode, name: str) -> bool:
    """True if constraints say what an attribute is."""
    return any(
        name not in c.without if isinstance(c, ir.SameAttributes)
        else c.field == name and not isinstance(c.test, ir.Anything)
        for c in call.constraints
    )


def neighbours(rule: ir.CheckedRule, point: Point, others: Sequence[Point], seed: int) -> Iterator[Instance]:
    """The instances around a point, those that tell most first. `others`: points whose attributes are tried
    there.
    """
    made: set[str] = set()
    for change in _changes(rule, point, others, Random(seed), _MOST_VALUES):
        found = _changed(rule, point, change, seed, made)
        if found is not None:
            yield found


def near(
    rule: ir.CheckedRule, centres: Sequence[Instance], seed: int, attempts: int
) -> Iterator[Instance]:
    """Instances that differ in one thing from one of `centres`, of each in turn: where few of those drawn at
    random fit a source, most of these do."""
    found = [(match_in(rule, centre.before), max(centre.seed, seed)) for centre in centres]
    points = [(point_of(scope), own) for scope, own in found if scope is not None]
    random = Random(seed)
    ways = [
        _changes(rule, p, [q for q, _ in points if q is not p], random, len(points)) for p, _ in points
    ]
    made = {text_of(centre.before) for centre in centres}
    for (point, own), change in islice(_in_turn(points, ways), attempts):
        other = _changed(rule, point, change, own, made)  # with its alternatives and constants
        if other is not None:
            yield replace(other, features=(*other.features, NEAR))


def _in_turn(
    points: Sequence[tuple[Point, int]], ways: Sequence[Iterator[Wishes]]
) -> Iterator[tuple[tuple[Point, int], Wishes]]:
    """The changes of each point in turn."""
    left = list(zip(points, ways))
    while left:
        for item in list(left):
            change = next(item[1], None)
            if change is None:
                left.remove(item)
            elif change and not any(field == "dtype" for _, field in change):
                yield item[0], change  # draws vary types; a constant may be none that is meant in another


def _changed(
    rule: ir.CheckedRule, point: Point, change: Wishes, seed: int, made: set[str]
) -> Instance | None:
    """The instance at a point with a change, if there is one that was not made before."""
    shapes = {leaf for leaf, field in change if field == "shape"}
    told = {leaf for leaf in point.values if rule.leaves[leaf].asked("value")}  # they follow what they read
    kept = {
        key: value
        for key, value in point.wishes().items()
        if not (key[0] in shapes & set(point.values) and key[1] == "value")
        and not (key[0] in told and key[1] in ("value", "shape"))
    }
    return wished(rule, kept | change, seed, Search(), made)


def resized(rule: ir.CheckedRule, centre: Instance, change: Wishes) -> Instance | None:
    """The instance near one that has these shapes and values of leaves; where there is none, the one in which
    whatever else had a size that changes follows it."""
    scope = match_in(rule, centre.before)
    if scope is None:
        return None
    point, seed = point_of(scope), max(centre.seed, 0)
    for wishes in (change, _followed(point, change)):
        found = _changed(rule, point, wishes, seed, set())
        if found is not None and _elements(found) <= _MOST_COMPUTED:
            return found
    return None


def emptied(rule: ir.CheckedRule, centre: Instance) -> Iterator[Instance]:
    """The instance with no elements along the axes of one size, of each size in turn; what was empty before
    is so only then."""
    scope = match_in(rule, centre.before)
    if scope is None:
        return
    point, seed = point_of(scope), max(centre.seed, 0)
    made = set[str]()
    for size in dict.fromkeys(point.sizes.values()):
        change: Wishes = {
            (leaf, "shape"): tuple([0 if d == size else d or 2 for d in shape])
            for leaf, shape in point.shapes.items() if leaf not in point.values or len(shape) > 1
        }
        found = _changed(rule, point, change, seed, made)
        if found is not None:
            yield found


def _followed(point: Point, change: Wishes) -> Wishes:
    """A change of shapes, with the axes of other inputs that had a size of those that change."""
    becomes: dict[int, int] = {}
    for (leaf, field), shape in change.items():
        if field == "shape" and isinstance(shape, tuple):
            becomes |= {old: new for old, new in zip(point.shapes.get(leaf, ()), shape) if old != new}
    others = {
        (leaf, "shape"): tuple([becomes.get(d, d) for d in shape])
        for leaf, shape in point.shapes.items() if leaf not in point.values
    }
    return others | change


def corners(rule: ir.CheckedRule, point: Point, seed: int, attempts: int) -> Iterator[Instance]:
    """Instances with the attributes and types of a point, with sizes beyond numbers in the rule, then of
    other ranks, and with sizes that are 1 or equal to others that they have nothing to do with: there
    conditions hold that mean something else.
    """
    base = point.wishes()
    made: set[str] = set()
    tried: set[str] = set()  # what is wished for decides, given the seed
    ranks = _shuffled(chain(_ranks(point), _outgrowing(point)), Random(seed))
    others = zip_longest(ranks, _coinciding(point, Random(seed)))
    changes = islice(filter(None, chain.from_iterable(others)), attempts)
    large = islice(_large(rule, point, Random(seed)), attempts // _MANY_SIZES)
    for change in chain(islice(_far(rule, point), _MOST_FAR), large, changes):
        if (text := repr(change)) in tried:
            continue
        tried.add(text)
        dropped = [(leaf, "value") for leaf, _ in change]
        wishes = {k: v for k, v in base.items() if k not in dropped} | change
        found = wished(rule, wishes, seed, Search(), made)
        if found is None or _has_empty(found):  # those are drawn for the sake of `allowzero` alone
            continue
        if _elements(found) <= _MOST_COMPUTED:  # two large sizes multiplied: minutes to compute
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


def _elements(instance: Instance) -> int:
    """The number of elements of the largest tensor in an instance, by the time that they take."""
    graph = instance.before
    shapes = {node: getattr(graph.types[node], "shape", None) or () for node in graph.nodes()}
    counts = [
        _ONE_BY_ONE.get(graph.op[node], 1) * prod(shape)
        for node, shape in shapes.items() if is_static(shape)
    ]
    return max(counts, default=0)


def _has_empty(instance: Instance) -> bool:
    graph = instance.before
    return any(0 in (getattr(graph.types[node], "shape", None) or ()) for node in graph.nodes())


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
    yield from _shuffled((_sized(point, [place], 1) for place, size in sizes.items() if size > 1), random)
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
            yield _sized(point, [stretched], size) | _sized(point, [other], 1)


def _changes(
    rule: ir.CheckedRule, point: Point, others: Sequence[Point], random: Random, most_values: int
) -> Iterator[Wishes]:
    yield {}
    yield from _types(rule, point)
    sizes = point.sizes
    for place in sizes:
        yield _sized(point, [place], sizes[place] + 1)
    yield from _attributes(rule, point, others, most_values)
    yield from _permutations(rule, point, random)
    axes: dict[Place, list[Place]] = {}
    for (leaf, axis), size in sizes.items():
        axes.setdefault((axis, size), []).append((leaf, axis))
    for (_, size), places in axes.items():
        if len(places) > 1:
            yield _sized(point, places, size + 1)
    yield from _ranks(point)
    pairs = [pair for pair in combinations(sizes, 2) if sizes[pair[0]] == sizes[pair[1]]]
    for pair in random.sample(pairs, min(len(pairs), _MOST_PAIRS)):
        yield _sized(point, pair, sizes[pair[0]] + 1)
    for place, size in sizes.items():
        if size > 1:
            yield _sized(point, [place], 1)
        if 2 * size <= _LARGEST:
            yield _sized(point, [place], 2 * size)
    doubled = [pair for pair in combinations(sizes, 2) if 2 * max(sizes[p] for p in pair) <= _LARGEST]
    for a, b in random.sample(doubled, min(len(doubled), _MOST_PAIRS)):
        yield _sized(point, [a], 2 * sizes[a]) | (
            _sized(point, [b], 2 * sizes[b]) if a[0] != b[0] else _sized(point, [a, b], 2 * sizes[a])
        )


def _sized(point: Point, places: Sequence[Place], size: int) -> Wishes:
    shapes = {leaf: list(point.shapes[leaf]) for leaf, _ in places}
    for leaf, axis in places:
        shapes[leaf][axis] = size
    return {(leaf, "shape"): tuple(shape) for leaf, shape in shapes.items()}


def _types(rule: ir.CheckedRule, point: Point) -> Iterator[Wishes]:
    """One leaf of another type, alone and where the attributes that are types are the type that it had, such
    as the type in which a convolution of integers is computed; then all leaves of one type.
    """
    said = [key for key in point.attributes if _is_type(rule, *key)]
    for leaf, dtype in point.dtypes.items():
        other = next(d for d in _DTYPES if d != dtype)
        yield {(leaf, "dtype"): other}
        if said:
            yield {(leaf, "dtype"): other, **dict.fromkeys(said, dtype)}
    for dtype in _DTYPES:
        yield {(leaf, "dtype"): dtype for leaf in point.dtypes}


def _ranks(point: Point) -> Iterator[Wishes]:
    """One input, then all inputs, with an axis less or more at either end."""
    for leaves in (*([leaf] for leaf in point.shapes), list(point.shapes)):
        if all(point.shapes[leaf] for leaf in leaves):
            yield {(leaf, "shape"): point.shapes[leaf][1:] for leaf in leaves}
            yield {(leaf, "shape"): point.shapes[leaf][:-1] for leaf in leaves}
        yield {(leaf, "shape"): (*point.shapes[leaf], 2) for leaf in leaves}
        yield {(leaf, "shape"): (2, *point.shapes[leaf]) for leaf in leaves}


def _outgrowing(point: Point) -> Iterator[Wishes]:
    """One input alone with an axis more than all others: what is computed from it and another one has more
    axes than that one.
    """
    shape = (2, *[1] * max(map(len, point.shapes.values()), default=0))
    for leaf in point.shapes:
        yield {(leaf, "shape"): shape}


def _attributes(
    rule: ir.CheckedRule, point: Point, others: Sequence[Point], most: int
) -> Iterator[Wishes]:
    """One attribute of a call as other samples have it, there and then in all calls of its operator."""
    tried: set[str] = set()
    counts: Counter[tuple[int, str]] = Counter()
    for other in others:
        for (call, name), value in other.attributes.items():
            now = point.attributes.get((call, name), value)
            if (
                repr(now) == repr(value) or f"{call} {name} {value!r}" in tried
                or counts[call, name] == most
            ):
                continue
            counts[call, name] += 1
            tried.add(f"{call} {name} {value!r}")
            yield {(call, name): value}
            same = [
                key
                for key in point.attributes
                if key[1] == name and repr(point.attributes[key]) == repr(now)
                and _operators(rule, key[0]) == _operators(rule, call)
            ]
            if len(same) > 1:
                yield dict.fromkeys(same, value)


def _permutations(rule: ir.CheckedRule, point: Point, random: Random) -> Iterator[Wishes]:
    """Two calls that permute axes, each as the other one undoes it."""
    places = [key for key in point.attributes if key[1] in ("axes", "perm")]
    ranks = {len(shape) for shape in point.shapes.values() if len(shape) > 1}
    for a, b in combinations(places, 2):
        if _operators(rule, a[0]) != _operators(rule, b[0]):
            continue
        for rank in sorted(ranks):
            for _ in range(_PERMUTATIONS):
                order = tuple(random.sample(range(rank), rank))
                yield {a: order, b: tuple(order.index(k) for k in range(rank))}


def _is_type(rule: ir.CheckedRule, call: int, name: str) -> bool:
    specs = [rule.dialect.operators[operator].attributes.get(name) for operator in _operators(rule, call)]
    return all(spec is not None and spec.types[0].base == "dtype" for spec in specs)


def _operators(rule: ir.CheckedRule, number: int) -> tuple[str, ...]:
    node = rule.nodes[number]
    return node.operators if isinstance(node, ir.CallNode) else ()
