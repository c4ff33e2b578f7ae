"""Constant and parameter folding (semantics.md §8): what depends on constants and parameters only is computed
now.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from heapq import heapify, heappop, heappush
from itertools import count
from typing import Any

from gslang.base.collection import no_collection
from gslang.dialect.dialect import Dialect
from gslang.dialect.signature import TypeInferenceError
from gslang.dialect.tensor_type import TensorType, Type, is_static
from gslang.engine.passes import FOLD_LIMIT
from gslang.evaluate.growth import Growth, nbytes_of, stays, worth_computing
from gslang.evaluate.spill import LARGE, Spilled, SpillFile, loaded
from gslang.evaluate.work import MOST_WORK, within_work
from gslang.graph.graph import ABSENT, CONST, DEAD, LEAVES, OUTLINE, PARAM, PROJ, TUPLE, Graph
from gslang.graph.inference import contradiction, infer_node, refine
from gslang.graph.outline import outlines_of, write_out

# their results would take four times the room, and hide what is quantized
STAYING = frozenset({"DequantizeLinear", "qnn.dequantize"})


def fold(graph: Graph, dialect: Dialect, *, limit_bytes: int | None = FOLD_LIMIT) -> int:
    """Replace calls whose operands are all constants, or parameters with values, by their values. Returns how
    many.

    Only constants below: a constant; some parameter below: a new parameter. A result that is more than
    `limit_bytes` larger than the constants that it is computed from stays a call (`growth`), and so does what
    would take too long (`work`), which `graph.meta["warnings"]` names; None: there is no limit. Stateful
    operators, those without evaluator, and dequantization stay. Parameters that only computed calls read go.
    What follows from the new values for types behind them is known afterwards.
    """
    with no_collection():
        given = _outlines(graph)
        values, variable, read = _compute(graph, dialect, limit_bytes, given)
        types, names, unnamed = graph.types, graph.names, _fresh_names(graph)
        leaves = {}
        for node in read:
            kind, value, type_ = PARAM if node in variable else CONST, values[node], types[node]
            leaves[node] = (
                (kind, value, type_) if node in given else (kind, _contiguous(value), _type_of(value, type_))
            )
            if kind is PARAM and names[node] is None:
                names[node] = next(unnamed)
        graph.set_values(leaves, [node for node in values if node not in leaves])
        _infer_behind(graph, dialect, read)
    return len(read)


def _outlines(graph: Graph) -> dict[int, object]:
    """The values of outlines, which are small.

    If some cannot be computed together, calls take the places of all.
    """
    outlines = outlines_of(graph)
    if not outlines:
        return {}
    from gslang.evaluate.outlined import outlined_values

    values = outlined_values(graph, outlines)
    if values is None:
        write_out(graph)
    return values or {}


def _compute(
    graph: Graph, dialect: Dialect, limit_bytes: int | None, given: Mapping[int, object]
) -> tuple[dict[int, object], set[int], list[int]]:
    """The values of calls, tuples and fields that depend on constants and parameters only, `given` ones
    included; which nodes depend on parameters; and which of the values others read, by number.
    """
    import numpy

    from gslang.evaluate.errors import EvaluationError
    from gslang.evaluate.foreseen import MOST_BYTES
    from gslang.evaluate.run import node_evaluator

    todo = _to_compute(graph, dialect, limit_bytes, given)
    # leaves as they are kept, then what is computed
    known: dict[int, object] = {ABSENT: None, **graph.values, **given} if todo else {}
    values = dict(given)
    ops, all_operands = graph.op, graph.operands
    variable = {node for node in given if any([ops[operand] is PARAM for operand in all_operands[node]])}
    large: set[int] = set()
    folded = frozenset(todo)
    growth = Growth(limit_bytes, lambda node: 0 if stays(graph, node, folded) else nbytes_of(known[node]))
    compute = node_evaluator(graph, dialect, max(limit_bytes or 0, MOST_BYTES))
    file = SpillFile()

    def loaded_value(node: int) -> Any:
        value = loaded(known[node]) if node in values or node < 0 else graph.value(node)
        if type(value) is numpy.ndarray and value.nbytes < LARGE:
            known[node] = value
        return value

    def attempt(node: int, operands: tuple[int, ...]) -> Any:
        """None: the node stays what it is."""
        given = [value if type(value := known[o]) is numpy.ndarray else loaded_value(o) for o in operands]
        try:
            value = compute(node, given)
        except EvaluationError:
            return None
        plain = type(value) is numpy.ndarray
        if not plain and not _is_plain(value):
            return None
        nbytes = value.nbytes if plain else nbytes_of(value)
        if growth.is_large(node, operands, nbytes):
            large.add(node)
        elif plain and nbytes < LARGE:
            return value
        whole = values.get(operands[0]) if ops[node] is PROJ else None
        return whole[graph.attrs[node]["index"]] if isinstance(whole, tuple) else file.keep(value)

    with numpy.errstate(all="ignore"):
        for node in todo:
            operands = all_operands[node]
            if all([operand in known for operand in operands]):
                value = attempt(node, operands)
                if value is not None:
                    known[node] = values[node] = value
                    if any([ops[operand] is PARAM or operand in variable for operand in operands]):
                        variable.add(node)
    return values, variable, _read(graph, values, large)


def _to_compute(
    graph: Graph, dialect: Dialect, limit_bytes: int | None, given: Mapping[int, object]
) -> list[int]:
    """The nodes that can be computed and are worth it, in order; those refused for their work are noted."""
    todo = worth_computing(graph, _computable(graph, dialect, given), limit_bytes)
    if limit_bytes is not None:
        todo, refused = within_work(graph, todo)
        if refused:
            todo = worth_computing(graph, todo, limit_bytes)
            _note(graph, refused)
    return todo


def _read(graph: Graph, values: dict[int, object], large: Collection[int]) -> list[int]:
    """The values that others read, by number. Values that are too large, and tuples, which no constant is,
    are taken out of `values`: these nodes stay, and read what they are made of.
    """
    users, output_uses = graph.users, graph.output_uses
    read = {
        node for node in values if node in output_uses or any([user not in values for user in users[node]])
    }
    for node in [node for node, value in values.items() if node in large or type(value) is tuple][::-1]:
        if node in read:
            del values[node]
            read.update(graph.operands[node])
    return sorted(read.intersection(values))


def _note(graph: Graph, refused: list[int]) -> None:
    """Say which calls are left because they would take too long."""
    first = f"`{graph.op[refused[0]]}` `{graph.label(refused[0])}`"
    more = f" and {len(refused) - 1:,} more" if refused[1:] else ""
    text = (
        f"not folded: {first}{more}, beyond {MOST_WORK:,} multiply-adds or elements (`--fold-limit none` "
        "computes all the same)"
    )
    graph.meta["warnings"] = list(dict.fromkeys([*graph.meta.get("warnings", ()), text]))


def _computable(graph: Graph, dialect: Dialect, given: Mapping[int, object]) -> list[int]:
    """Calls, tuples and fields that depend on constants and parameters with values alone, in order; not
    `given` ones.
    """
    ops, all_operands = graph.op, graph.operands
    known = {ABSENT, *graph.values, *given}
    found: list[int] = []
    stays: dict[str, bool] = dict.fromkeys((*LEAVES, OUTLINE, DEAD), True) | {TUPLE: False, PROJ: False}
    rows = zip(ops, all_operands)
    if not any([
        below[0] in known and op is not OUTLINE and known.issuperset(below) if below else op not in stays
        for op, below in rows
    ]):
        return found  # and the nodes need not be put in order
    for node in graph.in_order():
        for operand in all_operands[node]:
            if operand not in known:
                break
        else:
            op = ops[node]
            if op not in stays:
                stays[op] = (
                    (signature := dialect.get(op)) is None or "stateful" in signature.traits or op in STAYING
                )
            if not stays[op]:
                known.add(node)
                found.append(node)
    return found


def _fresh_names(graph: Graph) -> Iterator[str]:
    """Names for parameters that no node has."""
    names = set(filter(None, graph.names))
    return (name for k in count(len(names)) if (name := f"folded{k}") not in names)


def _contiguous(value: Any) -> Any:
    import numpy

    return value if isinstance(value, Spilled) or value.flags.c_contiguous else numpy.ascontiguousarray(value)


def _type_of(value: Any, stated: Type | None) -> TensorType:
    """The stated type, as far as it is stated, since element types like bfloat16 are not NumPy's."""
    if not isinstance(stated, TensorType) or stated.dtype is None:
        return TensorType(tuple(value.shape), value.dtype.name)
    return stated if stated.shape == value.shape else TensorType(tuple(value.shape), stated.dtype)


def _infer_behind(graph: Graph, dialect: Dialect, changed: Iterable[int]) -> None:
    """Types that were not known and follow now: a reshape's result has a shape once the shape is a constant.
    """
    label, users, types = graph.ordered().label, graph.users, graph.types
    readers = {user for node in changed for user in users[node]}
    unknown = {type_ for type_ in {types[user] for user in readers} if not _is_known(type_)}
    waiting = [(label[user], user) for user in readers if types[user] in unknown] if unknown else []
    heapify(waiting)
    looked_at: set[int] = set()
    while waiting:
        _, node = heappop(waiting)
        if node in looked_at or _is_known(type_ := types[node]):
            continue
        looked_at.add(node)
        try:
            inferred = infer_node(graph, dialect, node)
        except TypeInferenceError:
            continue
        if contradiction(type_, inferred) is None and (refined := refine(type_, inferred)) is not type_:
            types[node] = refined
            for user in users[node]:
                heappush(waiting, (label[user], user))


def _is_known(type_: Type | None) -> bool:
    return isinstance(type_, TensorType) and is_static(type_.shape)


def _is_plain(value: object) -> bool:
    """Arrays and tuples of arrays; not the sequences and optional values of ONNX."""
    return all(map(_is_plain, value)) if isinstance(value, tuple) else hasattr(value, "nbytes")
