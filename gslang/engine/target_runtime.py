"""Run-time support of generated code for targets: attributes, constants and projections, each remembered
where equal ones recur."""

from __future__ import annotations

from typing import Any

from gslang.base.open_types import Attrs
from gslang.base.quick_dataclass import dataclass
from gslang.dialect.dialect import Dialect
from gslang.dialect.tensor_type import TensorType, TupleType, UnknownValue
from gslang.engine.build import (
    add_constant,
    annotate,
    fitted,
    known_index,
    known_value,
    normalised,
    number_of_parts,
)
from gslang.engine.edits import MISSING, Edits, Known
from gslang.engine.values import plain
from gslang.graph.graph import ABSENT, INDEX_ATTRS, PROJ, TUPLE, Graph
from gslang.graph.scalar import Row
from gslang.graph.users import MANY_USERS


@dataclass(frozen=True, slots=True)
class Only:
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class AllBut:
    """All that the new call's operator declares, as they stand."""

    names: tuple[str, ...]


class TypeTable(dict):  # type: ignore[type-arg]
    """Operand types → result type of one call in a target, for all graphs (the attributes are constant)."""


class AttributeMemo:
    """The attributes of a call in a target, by what they are made of: equal ones are one mapping, with one
    table of types.
    """

    def __init__(self, dialect: Dialect, copied: list[Only | AllBut], computed: tuple[str, ...]) -> None:
        self._dialect = dialect
        self._copied = copied
        self._computed = computed
        self._memo: dict[object, tuple[dict[str, object], Known]] = {}

    def of(
        self, edits: Edits, operator: str, copied: tuple[Attrs, ...], computed: tuple[object, ...]
    ) -> tuple[Attrs, Known]:
        """`copied`: attributes of the calls to copy from; `computed`: values of the other attributes.

        Raises `UnknownValue`.
        """
        try:
            key = (
                operator, *[tuple(given.items()) for given in copied], *computed,
                *[type(value) for value in computed],
            )
            found = self._memo.get(key)
        except TypeError:  # an array
            return self._make(operator, copied, computed), {}
        if found is None:
            if len(self._memo) > 100_000:
                self._memo.clear()
            found = self._memo[key] = (self._make(operator, copied, computed), {})
        return found

    def _make(
        self, operator: str, copied: tuple[Attrs, ...], computed: tuple[object, ...]
    ) -> dict[str, object]:
        signature = self._dialect.operators.get(operator)
        attrs: dict[str, object] = {}
        for given, chosen in zip(copied, self._copied):
            if isinstance(chosen, Only):
                attrs.update(
                    (name, fitted(value, signature, name))
                    for name, value in given.items() if name in chosen.names
                )
                continue
            declared = given if signature is None else signature.attributes
            attrs.update(
                (name, value)
                for name, value in given.items() if name not in chosen.names and name in declared
            )
        attrs.update((name, fitted(value, signature, name)) for name, value in zip(self._computed, computed))
        return normalised(attrs, signature)


# ── constants ───────────────────────────────────────────────────────────────────────────────────────────────


_ARRAYS: dict[Any, tuple[Any, TensorType]] = {}


def _make_constant(edits: Edits, value: object, dtype: str | None, shape: object) -> int:
    """A new constant node. Small equal constants share one array; nobody changes arrays."""
    graph, value = edits.graph, known_value(value)
    shape = None if shape is None else known_value(shape)
    try:
        key = (
            (value, type(value), dtype, shape) if type(value) is not tuple
            else (value, *map(type, value), dtype, shape)
        )
        found = _ARRAYS.get(key)
    except TypeError:
        return add_constant(graph, value, dtype, shape)
    if found is not None:
        return graph.add_const(*found)
    node = add_constant(graph, value, dtype, shape)
    type_ = graph.types[node]
    if (
        len(_ARRAYS) < 4096 and graph.values[node].size <= 64 and isinstance(type_, TensorType)
        and value == value
    ):
        if type(graph.values[node]) is not Row:
            graph.values[node].flags.writeable = False  # it is shared from now on
        _ARRAYS[key] = (graph.values[node], type_)
    return node


def _make_constant_or_absent(edits: Edits, value: object, dtype: str | None, shape: object) -> int:
    return ABSENT if value is None else _make_constant(edits, value, dtype, shape)


def _make_constants(edits: Edits, value: Any, dtype: str | None) -> int:
    value = known_value(value)
    items = value if isinstance(value, tuple) else tuple(value)
    fields = tuple([add_constant(edits.graph, item, dtype) for item in items])
    return edits.add(TUPLE, fields, {}, None)


# ── projections and the like ────────────────────────────────────────────────────────────────────────────────


def _project(edits: Edits, base: int, index: object) -> int:
    """A projection; of a tuple that is written out, the field itself."""
    place, graph = known_index(index), edits.graph
    if graph.op[base] is TUPLE:
        return graph.operands[base][place]
    return edits.add(
        PROJ, (base,), INDEX_ATTRS[place] if place < len(INDEX_ATTRS) else {"index": place},
        _PROJECTED.setdefault(place, {}),
    )


_PROJECTED: dict[int, Known] = {}  # index → tuple type → type of that field


def _projections(edits: Edits, base: int) -> list[int]:
    graph = edits.graph
    count = number_of_parts(graph, base)
    if (
        graph.op[base] is not TUPLE and count <= MANY_USERS and not graph.users[base]
        and base not in graph.additions
    ):
        return _fields_of_new(graph, base)
    return [_project(edits, base, index) for index in range(count)]


def _fields_of_new(graph: Graph, base: int) -> list[int]:
    """A projection for each field of a tuple that nobody reads yet."""
    type_ = graph.types[base]
    assert isinstance(type_, TupleType)
    count, first = len(type_.fields), len(graph.op)
    made = list(range(first, first + count))
    graph.op.extend([PROJ] * count)
    graph.operands.extend([(base,)] * count)
    graph.attrs.extend(INDEX_ATTRS[:count])
    graph.types.extend(type_.fields)
    graph.names.extend([None] * count)
    graph.users.extend([()] * count)
    graph.users[base] = tuple(made)
    return made


def _dtype_beside(edits: Edits, operator: str, place: int, nodes: tuple[int, ...]) -> str | None:
    """The element type of a new constant as operand `place`; in `nodes`, constants that wait are absent."""
    types = [edits.graph.types[node] if node >= 0 else None for node in nodes]
    return edits.dialect.dtype_beside(
        operator, place, [t.dtype if isinstance(t, TensorType) else None for t in types]
    )


def _trimmed(operands: tuple[int, ...]) -> tuple[int, ...]:
    """Without absent operands at the end."""
    while operands and operands[-1] == -1:
        operands = operands[:-1]
    return operands


def _bound(slot: int) -> int:
    if slot == -2:
        raise UnknownValue("the node is not part of the match")
    return slot


def _present(slot: int) -> int:
    if slot < 0:
        raise UnknownValue("the node whose attributes are copied is not part of the match")
    return slot


def _several_items(item: Any, count: int) -> tuple[Any, ...]:
    parts = tuple(item)
    if len(parts) != count:
        raise UnknownValue("the items have another number of parts")
    return parts


RUNTIME: dict[str, object] = {
    "MISSING": MISSING,
    "annotate": annotate,
    "constant": _make_constant,
    "constant_or_absent": _make_constant_or_absent,
    "constants": _make_constants,
    "project": _project,
    "projections": _projections,
    "dtype_beside": _dtype_beside,
    "trimmed": _trimmed,
    "bound": _bound,
    "present": _present,
    "several": _several_items,
    "plain": plain,
}
