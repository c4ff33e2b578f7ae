"""Instances that differ from a sample in one thing: a size, sizes that were equal, a rank, an element type,
an attribute of one call or of all calls of its operator.

Samples drawn at random differ in many things at once, so that they seldom show which of several equalities a
rule needs. What the source's constraints tie to the thing that changes follows it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, islice
from random import Random

from gslang.base.quick_dataclass import dataclass
from gslang.check import checked as ir
from gslang.dialect.signature import REQUIRED
from gslang.dialect.tensor_type import TensorType, is_static
from gslang.engine.scope import Scope
from gslang.graph.graph import CONST, Graph
from gslang.verify.comparison.largest import largest
from gslang.verify.instances.draw import Instance, Search, match_in, text_of, wished

NEAR = "near another instance"  # a feature

Wishes = dict[tuple[int, str], object]
Place = tuple[int, int]  # a leaf and an axis of it

_DTYPES = ("float32", "int32", "float16", "float64")
_INTEGERS = ("int64", "int32", "uint8", "int8", "uint64", "uint32", "uint16", "int16")
_FLOATS = ("float32", "float16", "float64")
_MOST_PAIRS = 24  # pairs of equal sizes that change together
_MOST_VALUES = 2  # of an attribute, besides the one that it has
_LARGEST = 12  # size to which one is raised
_MOST_COMPUTED = 2_000_000  # of what is computed from it
_ONE_BY_ONE = {"Resize": 400}  # elements that take as long as one of what the reference interpolates
_PERMUTATIONS = 4  # of each rank, for two calls


@dataclass(frozen=True, slots=True)
class Point:
    """The sizes, types and open attributes of a sample. `shapes`: of leaves; `attributes`: (call, name) →
    value; `computed`: sizes of results of calls that no leaf has; `captured`: attributes, too, of any value
    that the rule has a name for.
    """

    shapes: Mapping[int, tuple[int, ...]]
    dtypes: Mapping[int, str]
    values: Mapping[int, object]
    attributes: Mapping[tuple[int, str], object]
    computed: Sequence[int]
    captured: Mapping[tuple[int, str], object]

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
    captured: dict[tuple[int, str], object] = {}
    results: set[int] = set()
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
                results |= {d for d in getattr(type_, "shape", None) or () if isinstance(d, int)}
                attributes |= {
                    (number, name): value
                    for name, value in complete.items() if name in declared and not _fixed(node, name)
                }
                captured |= {
                    (number, name): value for name, value in complete.items() if _is_captured(node, name)
                }
    computed = sorted(results.difference({1}, *shapes.values()))
    return Point(shapes, dtypes, values, attributes, computed, captured)


def spelled(scope: Scope) -> tuple[str, ...]:
    """The attributes of a match of which the rule allows several values (`axis = -1 | 3`), as texts."""
    graph, found = scope.graph, []
    for number, node in enumerate(scope.rule.nodes):
        slot = scope.slots[number] if node.block is None else -1
        if slot >= 0 and isinstance(node, ir.CallNode):
            given = graph.attrs[slot] or {}
            found += [repr(given.get(c.field)) for c in node.tests if isinstance(c.test, ir.OneOf)]
    return tuple(found)


def _fixed(call: ir.CallNode, name: str) -> bool:
    """True if constraints say what an attribute is."""
    return any(
        name not in c.without if isinstance(c, ir.SameAttributes)
        else c.field == name and not isinstance(c.test, ir.Anything)
        for c in call.constraints
    )


def _is_captured(call: ir.CallNode, name: str) -> bool:
    """True if a rule has names for the values of an attribute, and says nothing else of them."""
    asked = call.asked(name)
    return len(asked) == 1 and asked[0].is_open


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


def of_mixed_types(rule: ir.CheckedRule, centre: Instance) -> Iterator[Instance]:
    """The instances near one in which a single input has another element type, of the same kind of numbers
    and of another one; or two inputs have it, of which neither has it alone. The source may let that pass.

    Operands of one call that had one type keep one: that others could be mixed, no rule is asked for.
    """
    scope = match_in(rule, centre.before)
    if scope is None:
        return
    point, seed = point_of(scope), max(centre.seed, 0)
    made, tied = {text_of(centre.before)}, list[Wishes]()
    changes: list[Wishes] = []
    for leaf, dtype in point.dtypes.items():
        alike = next(d for d in (_INTEGERS if dtype in _INTEGERS else _FLOATS) if d != dtype)
        changes += [{(leaf, "dtype"): alike}, {(leaf, "dtype"): "float32" if dtype in _INTEGERS else "int32"}]
    for change in changes:
        found = _changed(rule, point, change, seed, made)
        if found is not None and _mixes_as_before(found.before, centre.before):
            yield found
        else:
            tied.append(change)
    for one, two in combinations(tied, 2):
        found = _changed(rule, point, one | two, seed, made) if one.keys() != two.keys() else None
        if found is not None and _mixes_as_before(found.before, centre.before):
            yield found


def _mixes_as_before(graph: Graph, before: Graph) -> bool:
    """True if operands of one call that have one element type in a graph have one in another graph of the
    same calls."""
    for now, then in zip(graph.reverse_post_order(), before.reverse_post_order(), strict=False):
        if graph.op[now] != before.op[then] or len(graph.operands[now]) != len(before.operands[then]):
            return False
        types = [
            [getattr(side.types[o], "dtype", None) if o >= 0 else None for o in side.operands[node]]
            for side, node in ((graph, now), (before, then))
        ]
        pairs = combinations(range(len(types[0])), 2)
        if any(types[1][a] == types[1][b] and types[0][a] != types[0][b] for a, b in pairs):
            return False
    return len(graph) == len(before)


def resized(rule: ir.CheckedRule, centre: Instance, change: Wishes) -> Instance | None:
    """The instance near one that has these shapes and values of leaves; where there is none, the one in which
    whatever else had a size that changes follows it."""
    scope = match_in(rule, centre.before)
    if scope is None:
        return None
    point, seed = point_of(scope), max(centre.seed, 0)
    for wishes in (change, _followed(point, change)):
        found = _changed(rule, point, wishes, seed, set())
        if found is not None and not takes_long(found):
            return found
    return None


def takes_long(instance: Instance) -> bool:
    """True if it takes minutes to compute an instance, by the elements of its largest tensor."""
    return largest(instance.before, _ONE_BY_ONE) > _MOST_COMPUTED


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


def _changes(
    rule: ir.CheckedRule, point: Point, others: Sequence[Point], random: Random, most_values: int
) -> Iterator[Wishes]:
    yield {}
    yield from _types(rule, point)
    sizes = point.sizes
    for place in sizes:
        yield sized(point, [place], sizes[place] + 1)
    yield from _attributes(rule, point, others, most_values)
    yield from _permutations(rule, point, random)
    axes: dict[Place, list[Place]] = {}
    for (leaf, axis), size in sizes.items():
        axes.setdefault((axis, size), []).append((leaf, axis))
    for (_, size), places in axes.items():
        if len(places) > 1:
            yield sized(point, places, size + 1)
    yield from of_other_ranks(point)
    pairs = [pair for pair in combinations(sizes, 2) if sizes[pair[0]] == sizes[pair[1]]]
    for pair in random.sample(pairs, min(len(pairs), _MOST_PAIRS)):
        yield sized(point, pair, sizes[pair[0]] + 1)
    for place, size in sizes.items():
        if size > 1:
            yield sized(point, [place], 1)
        if 2 * size <= _LARGEST:
            yield sized(point, [place], 2 * size)
    doubled = [pair for pair in combinations(sizes, 2) if 2 * max(sizes[p] for p in pair) <= _LARGEST]
    for a, b in random.sample(doubled, min(len(doubled), _MOST_PAIRS)):
        yield sized(point, [a], 2 * sizes[a]) | (
            sized(point, [b], 2 * sizes[b]) if a[0] != b[0] else sized(point, [a, b], 2 * sizes[a])
        )


def sized(point: Point, places: Sequence[Place], size: int) -> Wishes:
    """The shapes of a point with one size at some places."""
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


def defaults_of(rule: ir.CheckedRule, point: Point) -> Wishes:
    """The defaults of the attributes of a point, where the operators that their calls can be of share them.
    """
    found: Wishes = {}
    for call, name in point.attributes:
        operators = operators_of(rule, call)
        specs = [rule.dialect.operators[operator].attributes.get(name) for operator in operators]
        defaults = {repr(spec.default): spec.default for spec in specs if spec is not None}
        if len(defaults) == 1 and REQUIRED not in defaults.values():
            found[call, name] = next(iter(defaults.values()))
    return found


def of_other_ranks(point: Point) -> Iterator[Wishes]:
    """One input, then all inputs, with an axis less or more at either end."""
    for leaves in (*([leaf] for leaf in point.shapes), list(point.shapes)):
        if all(point.shapes[leaf] for leaf in leaves):
            yield {(leaf, "shape"): point.shapes[leaf][1:] for leaf in leaves}
            yield {(leaf, "shape"): point.shapes[leaf][:-1] for leaf in leaves}
        yield {(leaf, "shape"): (*point.shapes[leaf], 2) for leaf in leaves}
        yield {(leaf, "shape"): (2, *point.shapes[leaf]) for leaf in leaves}


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
                and operators_of(rule, key[0]) == operators_of(rule, call)
            ]
            if len(same) > 1:
                yield dict.fromkeys(same, value)


def _permutations(rule: ir.CheckedRule, point: Point, random: Random) -> Iterator[Wishes]:
    """Two calls that permute axes, each as the other one undoes it."""
    places = [key for key in point.attributes if key[1] in ("axes", "perm")]
    ranks = {len(shape) for shape in point.shapes.values() if len(shape) > 1}
    for a, b in combinations(places, 2):
        if operators_of(rule, a[0]) != operators_of(rule, b[0]):
            continue
        for rank in sorted(ranks):
            for _ in range(_PERMUTATIONS):
                order = tuple(random.sample(range(rank), rank))
                yield {a: order, b: tuple(order.index(k) for k in range(rank))}


def _is_type(rule: ir.CheckedRule, call: int, name: str) -> bool:
    specs = [rule.dialect.operators[operator].attributes.get(name) for operator in operators_of(rule, call)]
    return all(spec is not None and spec.types[0].base == "dtype" for spec in specs)


def operators_of(rule: ir.CheckedRule, number: int) -> tuple[str, ...]:
    node = rule.nodes[number]
    return node.operators if isinstance(node, ir.CallNode) else ()
