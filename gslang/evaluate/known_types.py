"""Types that follow from what rules and folding have put into a graph: where an operand's shape has become
known, so may those behind it.

Rules type the nodes that they make; a node that reads these keeps the type that it had. Between the steps
of a pass it gets what is known now. In ONNX graphs that is also what follows from shapes of which some
numbers are known (`partial_values`, `symbolic_shapes`), and dimensions that must be equal get one name:
because an operator demands it, or because two statements about one value are both true.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field

from gslang.base.quick_dataclass import dataclass
from gslang.dialect.dialect import Dialect
from gslang.dialect.signature import TypeInferenceError
from gslang.dialect.tensor_type import (
    UNKNOWN,
    Dimension,
    Symbol,
    TensorType,
    TupleType,
    Type,
    is_static,
)
from gslang.evaluate import dimensions as dim
from gslang.evaluate.partial_values import Partial, partial_value, shape_of
from gslang.evaluate.symbolic_shapes import Call, symbolic_shapes
from gslang.graph.graph import LEAVES, PROJ, TUPLE, Graph
from gslang.graph.inference import contradiction, infer_node, refine

_ROUNDS = 4  # of one call: what an equation says of nodes before it is told in the next round


@dataclass(slots=True)
class Equalities:
    """Dimensions that are equal: what each name that went stands for."""

    given: frozenset[str]
    """Names that inputs have: they stay where there is a choice."""
    values: dict[str, Dimension] = field(default_factory=dict)
    resolved: dict[Dimension, Dimension] = field(default_factory=dict)

    def add(self, a: Dimension, b: Dimension) -> bool:
        """Take up that two dimensions are equal; False if that says nothing new, or nothing that a name could
        stand for.
        """
        if a is UNKNOWN or b is UNKNOWN or a is b:
            return False
        a, b = self.of(a), self.of(b)
        if a == b or (isinstance(a, int) and isinstance(b, int)):
            return False
        found = dim.solved(a, b, lambda atom: atom not in self.given)
        if found is None:
            found = self._of_two_given(a, b)
        if found is None:
            return False
        self.values[found[0]] = found[1]
        self.resolved = {}
        return True

    def _of_two_given(self, a: Dimension, b: Dimension) -> tuple[str, Dimension] | None:
        """One name that inputs have and the other one, which stays, if these two must be equal."""
        found = dim.solved(a, b, lambda _: True)
        if found is None or not isinstance(found[1], Symbol) or not {found[0], found[1].name} <= self.given:
            return None
        stays, goes = sorted((found[0], found[1].name))
        return goes, Symbol(stays)

    def of(self, d: Dimension) -> Dimension:
        """A dimension by the name that it goes by."""
        if not isinstance(d, Symbol):
            return d
        known = self.resolved.get(d)
        if known is None:
            known = dim.substituted(d, self._value) if self.values else dim.normal(d)
            known = self.resolved[d] = d if known is UNKNOWN else known
        return known

    def _value(self, atom: str) -> Dimension | None:
        value = self.values.get(atom)
        return None if value is None else self.of(value)

    def of_type(self, type_: Type | None) -> Type | None:
        if isinstance(type_, TupleType):
            return TupleType(tuple([self.of_type(part) for part in type_.fields]))
        if type_ is None or type_.shape is None or not any([isinstance(d, Symbol) for d in type_.shape]):
            return type_
        return TensorType(tuple([self.of(d) for d in type_.shape]), type_.dtype)


def refiner(dialect: Dialect) -> Callable[[Graph], int]:
    """Refines the types of a graph and returns the number refined; nodes with unchanged operands are
    skipped."""
    known = _Inferred(dialect)

    def run(graph: Graph) -> int:
        types = graph.types
        open_types = {
            id(type_) for type_ in {id(type_): type_ for type_ in types}.values() if not is_settled(type_)
        }
        if not open_types or all(
            [is_read_settled(graph, node) for node, type_ in enumerate(types) if id(type_) in open_types]
        ):
            return 0
        if graph.dialect != "onnx":
            return _once(graph, known, None)
        equalities = Equalities(_given_names(graph))
        count = 0
        for _ in range(_ROUNDS):
            before = len(equalities.values)
            changed = _once(graph, known, equalities)
            if len(equalities.values) > before:
                for node, type_ in enumerate(types):
                    renamed = equalities.of_type(type_)
                    if renamed is not type_:
                        types[node] = renamed
                        changed += 1
            count += changed
            if not changed:
                break
        return count

    return run


class _Inferred:
    """Types that were inferred: `seen` of nodes, with the operands and types that they had then; `found` for
    operators and types, since layers repeat.
    """

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.departing = {signature.name for signature in dialect.added if signature.departs}
        self.seen: dict[Graph, dict[int, tuple[object, ...]]] = {}
        self.found: dict[object, tuple[Type | None, tuple[tuple[Dimension, Dimension], ...]]] = {}

    def inferred(
        self, graph: Graph, node: int, given: tuple[object, ...], parts: Mapping[int, Partial]
    ) -> tuple[Type | None, tuple[tuple[Dimension, Dimension], ...]]:
        """The type implied by the operands and the stated type, and the dimensions that must be equal."""
        dialect, found = self.dialect, self.found
        stated = graph.types[node]
        try:
            key = (graph.op[node], tuple(graph.attrs[node].items()), stated, *given)
            if key in found:
                return found[key]
        except TypeError:  # an array among the attributes
            key = ()
        looked_at: list[int] = []
        equal: list[tuple[Dimension, Dimension]] = []
        result = stated
        more = _symbolic(graph, dialect, node, parts, equal) if graph.dialect == "onnx" else None
        if more is not None:
            result = _together(result, more, equal)
        if not _is_named(result) or (not _is_named(more) and _has_own_names(graph, node, result)):
            try:
                result = _together(result, infer_node(graph, dialect, node, looked_at), equal)
            except TypeInferenceError:
                pass
        answer = (result, tuple(equal))
        if key and not looked_at:
            found[key] = answer
        return answer


def _once(graph: Graph, inferred: _Inferred, equalities: Equalities | None) -> int:
    """Refine the type of each node once, in order; returns the number refined."""
    known = inferred.seen.setdefault(graph, {})
    op, operands, types = graph.op, graph.operands, graph.types
    parts: dict[int, Partial] = {}
    departing = inferred.departing
    count = 0
    for node in graph.in_order():
        symbolic = equalities is not None and op[node] not in departing
        if symbolic and (part := partial_value(graph, node, parts)) is not None:
            parts[node] = part
        if op[node] in LEAVES or is_settled(type_ := types[node]):
            continue
        given = tuple([(types[o], parts.get(o)) if o >= 0 else None for o in operands[node]])
        now = (operands[node], given)
        if known.get(node) == now:
            continue
        known[node] = now
        refined, equal = inferred.inferred(graph, node, given, parts)
        if equalities is not None:
            for a, b in equal:
                equalities.add(a, b)
            refined = equalities.of_type(refined)
        if refined is not type_ and refined != type_:
            types[node] = refined
            count += 1
            if symbolic and (part := partial_value(graph, node, parts)) is not None:
                parts[node] = part
    return count


def _symbolic(
    graph: Graph,
    dialect: Dialect,
    node: int,
    parts: Mapping[int, Partial],
    equal: list[tuple[Dimension, Dimension]],
) -> Type | None:
    """The type with the shape that follows by arithmetic on symbols; None where nothing does."""
    op, stated, operands = graph.op[node], graph.types[node], graph.operands[node]
    if op is TUPLE or op is PROJ:
        return None
    signature = dialect.operators.get(op)
    if signature is not None and signature.departs:
        return None
    attrs = graph.attrs[node]
    complete = signature.complete(attrs) if signature is not None and signature.defaults else attrs
    call = Call(complete, [shape_of(graph, o) for o in operands], [parts.get(o) for o in operands])
    shapes = symbolic_shapes(op, call)
    equal += call.equal
    if not shapes:
        return None
    if isinstance(stated, TupleType):
        fields = stated.fields
        rest = [None] * (len(fields) - len(shapes))
        return TupleType(tuple([
            TensorType(s, _dtype(f)) if s is not None else None
            for s, f in zip([*shapes, *rest], fields)
        ]))
    return TensorType(shapes[0], _dtype(stated))


def _dtype(type_: Type | None) -> str | None:
    return type_.dtype if isinstance(type_, TensorType) else None


def _together(a: Type | None, b: Type | None, equal: list[tuple[Dimension, Dimension]]) -> Type | None:
    """The union of two statements about a type; if they name a dimension differently, both names are valid.
    `a` if they contradict each other."""
    if contradiction(a, b) is not None:
        return a
    _equate(a, b, equal)
    return refine(a, b)


def _equate(a: Type | None, b: Type | None, equal: list[tuple[Dimension, Dimension]]) -> None:
    if isinstance(a, TupleType) and isinstance(b, TupleType):
        for x, y in zip(a.fields, b.fields):
            _equate(x, y, equal)
    elif (
        isinstance(a, TensorType) and isinstance(b, TensorType) and a.shape is not None
        and b.shape is not None
    ):
        equal += [(x, y) for x, y in zip(a.shape, b.shape) if x is not y and UNKNOWN not in (x, y) and x != y]


def _given_names(graph: Graph) -> frozenset[str]:
    """Names of dimensions in the types of inputs."""
    types = [graph.types[node] for node in graph.in_order() if graph.op[node] in LEAVES]
    return frozenset(
        atom for t in types if isinstance(t, TensorType) for d in t.shape or () for atom in dim.atoms(d)
    )


def _is_named(type_: Type | None) -> bool:
    """True if every dimension is a number or has a name."""
    if isinstance(type_, TupleType):
        return all([_is_named(field) for field in type_.fields])
    return (
        isinstance(type_, TensorType) and type_.dtype is not None and type_.shape is not None
        and UNKNOWN not in type_.shape
    )


def _has_own_names(graph: Graph, node: int, result: Type | None) -> bool:
    """True if a name in the result is in no operand's type: it may be from before that type was known."""
    own = _names(result)
    return bool(own) and not own <= {
        name for o in graph.operands[node] if o >= 0 for name in _names(graph.types[o])
    }


def _names(type_: Type | None) -> set[str]:
    """The names in the dimensions of a type."""
    if isinstance(type_, TupleType):
        return {name for part in type_.fields for name in _names(part)}
    shape = type_.shape if isinstance(type_, TensorType) else None
    return {name for d in shape or () if isinstance(d, Symbol) for name in dim.atoms(d)}


def is_read_settled(graph: Graph, node: int) -> bool:
    """True for a call with several results if nothing is left to be known of those that are read."""
    return isinstance(graph.types[node], TupleType) and all(
        [graph.op[user] is PROJ and is_settled(graph.types[user]) for user in graph.users[node]]
    )


def is_settled(type_: Type | None) -> bool:
    """True if nothing is left to be known."""
    if isinstance(type_, TupleType):
        return all([is_settled(part) for part in type_.fields])
    return isinstance(type_, TensorType) and type_.dtype is not None and is_static(type_.shape)
