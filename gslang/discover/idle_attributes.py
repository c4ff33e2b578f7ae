"""Attributes that do not matter where they stand: `channels` of a convolution whose weight has as many,
`groups = 1`.

A call computes the same without them, in the same type. Calls that differ only in such attributes are one
where equations are derived.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gslang.base.open_types import Attrs
from gslang.dialect.dialect import Dialect
from gslang.dialect.signature import REQUIRED, TypeInferenceError
from gslang.dialect.tensor_type import TensorType, TupleType, Type
from gslang.evaluate.errors import EvaluationError
from gslang.evaluate.random_inputs import random_inputs
from gslang.evaluate.run import evaluate
from gslang.graph.graph import Graph
from gslang.graph.inference import infer_node
from gslang.search.explained import Plain

_MOST = 1 << 16  # elements of operands, so that a call is computed at once
_SEEDS = (0, 1)


# of the last few dialects: what was found out about a call is asked again and again
_MADE: list[tuple[Dialect, Plain]] = []


def without_idle(dialect: Dialect) -> Plain:
    """A function: operator, attributes, types of operands → the attributes that matter.

    What cannot be computed keeps all.
    """
    for own, made in _MADE:
        if own is dialect:
            return made
    _MADE[8:] = []
    _MADE.insert(0, (dialect, _remembering(dialect)))
    return _MADE[0][1]


def _remembering(dialect: Dialect) -> Plain:
    known: dict[object, Attrs] = {}

    def plain(op: str, attrs: Attrs, types: tuple[Type | None, ...]) -> Attrs:
        if not attrs or dialect.get(op) is None:
            return attrs
        key = (op, repr(sorted(attrs.items())), types)
        if key not in known:
            known[key] = _plain(dialect, op, attrs, types)
        return known[key]

    return plain


def _plain(
    dialect: Dialect, op: str, attrs: Attrs, types: tuple[Type | None, ...]
) -> Attrs:
    declared = dialect.operators[op].attributes
    kept = {
        name: value
        for name, value in attrs.items()
        if name not in declared or repr(value) != repr(declared[name].default)
    }
    open_ = [
        name
        for name, value in kept.items()
        if name in declared and declared[name].default is not REQUIRED and _is_discrete(value)
    ]
    if not open_ or not all(map(_is_small, types)):
        return kept
    wanted = _computed(dialect, op, kept, types)
    for name in open_ if wanted is not None else ():
        fewer = {other: value for other, value in kept.items() if other != name}
        if _are_same(wanted, _computed(dialect, op, fewer, types)):
            kept = fewer
    return kept


def _is_discrete(value: object) -> bool:
    """Whole numbers, texts and truth values: another one makes a difference that is seen at once, if it makes
    one.
    """
    if isinstance(value, tuple):
        return all(map(_is_discrete, value))
    return value is None or isinstance(value, (bool, int, str))


def _is_small(type_: Type | None) -> bool:
    if isinstance(type_, TupleType):
        return all(map(_is_small, type_.fields))
    if not isinstance(type_, TensorType) or type_.shape is None or type_.dtype is None:
        return False
    return (
        all(isinstance(d, int) for d in type_.shape)
        and int(np.prod([d for d in type_.shape if isinstance(d, int)] or [1])) <= _MOST
    )


def _computed(
    dialect: Dialect, op: str, attrs: Attrs, types: tuple[Type | None, ...]
) -> list[Any] | None:
    """The type of a call and what it computes of a few random inputs; None where it has no meaning."""
    graph = Graph(dialect.name)
    operands = []
    for k, type_ in enumerate(types):
        if isinstance(type_, TupleType):
            operands.append(
                graph.add_tuple([graph.add_input(f"x{k}_{j}", part) for j, part in enumerate(type_.fields)])
            )
            graph.types[operands[-1]] = type_
        else:
            operands.append(graph.add_input(f"x{k}", type_))
    node = graph.add(op, operands, dict(attrs))
    graph.set_outputs([node])
    try:
        graph.types[node] = infer_node(graph, dialect, node)
        with np.errstate(all="ignore"):
            return [
                graph.types[node],
                *(evaluate(graph, dialect, random_inputs(graph, seed))[0] for seed in _SEEDS),
            ]
    except (TypeInferenceError, EvaluationError):
        return None


def _are_same(left: object, right: object) -> bool:
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(_are_same, left, right))
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        return left.dtype == right.dtype and np.array_equal(left, right, equal_nan=left.dtype.kind == "f")
    return left is right or isinstance(left, (TensorType, TupleType)) and left == right
