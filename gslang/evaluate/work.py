"""The work of computing calls, estimated from types: multiply-adds of products and windows, steps of
recurrent operators, else elements read and written.

Folding computes what stays within `MOST_WORK` altogether. Not here: how large results are (`growth`).
"""

from __future__ import annotations

import math
from typing import Any, Final

from gslang.dialect.tensor_type import TensorType, TupleType, Type
from gslang.graph.graph import Graph

MOST_WORK: Final = 100_000_000_000  # some seconds of products; loops over windows take longer
# times as long as a multiply-add takes a window of a pooling operator, which NumPy has no function for
_LOOPS: Final = 1000

# times as long takes a step of a recurrent operator, which NumPy has no function for either
_STEP: Final = 4_000_000

_RECURRENT: Final = frozenset({"LSTM", "GRU", "RNN"})
_PRODUCTS: Final = frozenset(
    {"MatMul", "MatMulInteger", "QLinearMatMul", "nn.matmul", "nn.dense", "nn.batch_matmul"}
)
_CONVOLUTIONS: Final = frozenset(
    {"Conv", "ConvInteger", "QLinearConv", "DeformConv", "nn.conv1d", "nn.conv2d", "nn.conv3d"}
)
_TRANSPOSED: Final = frozenset(
    {"ConvTranspose", "nn.conv1d_transpose", "nn.conv2d_transpose", "nn.conv3d_transpose"}
)


def within_work(graph: Graph, nodes: list[int]) -> tuple[list[int], list[int]]:
    """Those of `nodes`, which are in order and depend on values and one another only, that can be computed
    within `MOST_WORK` altogether; and those that cannot, without what depends on them.
    """
    done: list[int] = []
    refused: list[int] = []
    gone: set[int] = set()
    total = 0
    for node in nodes:
        if gone and not gone.isdisjoint(graph.operands[node]):
            gone.add(node)
            continue
        work = work_of(graph, node)
        if total + work > MOST_WORK:
            refused.append(node)
            gone.add(node)
        else:
            total += work
            done.append(node)
    return done, refused


def work_of(graph: Graph, node: int) -> int:
    """Multiply-adds or elements that the value of a node takes; what types do not tell counts nothing."""
    op, attrs = graph.op[node], graph.attrs[node]
    given = [graph.types[operand] if operand >= 0 else None for operand in graph.operands[node]]
    made = _elements(graph.types[node])
    moved = made + sum(map(_elements, given))
    if op in _PRODUCTS or op == "Gemm":
        shape = _shape(given[0])
        return (
            moved + made * _number(shape[0 if op == "Gemm" and attrs.get("transA") else -1]) if shape
            else moved
        )
    if op in _CONVOLUTIONS or op in _TRANSPOSED:
        weight = _shape(given[3 if op == "QLinearConv" and len(given) > 3 else 1] if len(given) > 1 else None)
        results = _elements(given[0]) if op in _TRANSPOSED else made
        return moved + results * math.prod([_number(d) for d in weight[1:]])
    if op in _RECURRENT:
        steps = _number(shape[1 if attrs.get("layout") else 0]) if (shape := _shape(given[0])) else 0
        return moved + steps * (2 if attrs.get("direction") == "bidirectional" else 1) * _STEP
    window = attrs.get("kernel_shape") or attrs.get("pool_size")
    if isinstance(window, tuple):
        return moved + made * _LOOPS + made * math.prod([d for d in window if isinstance(d, int)])
    return moved


def _elements(type_: Type | None) -> int:
    if isinstance(type_, TupleType):
        return sum(map(_elements, type_.fields))
    return (
        math.prod(map(_number, type_.shape)) if isinstance(type_, TensorType) and type_.shape is not None
        else 0
    )


def _shape(type_: Type | None) -> tuple[Any, ...]:
    return type_.shape or () if isinstance(type_, TensorType) else ()


def _number(dimension: object) -> int:
    return dimension if isinstance(dimension, int) else 0
