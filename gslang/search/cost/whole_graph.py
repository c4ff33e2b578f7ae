"""Whole graphs in onnxruntime: whether a graph takes longer than another that computes the same.

A sum of costs of calls does not know what onnxruntime does to a network at its default level: calls that it
fuses cost less together, and tensors stay in a blocked layout from one convolution to the next.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Final

import numpy as np

from gslang.dialect.dialect import Dialect
from gslang.dialect.onnx.versions import OPSETS
from gslang.dialect.tensor_type import TensorType, is_static
from gslang.formats.onnx.runtime import newest_opset
from gslang.graph.graph import PARAM, Graph
from gslang.search.cost.relay_in_onnx import relay_in_onnx

NOISE: Final = 1.02  # what is within it counts as equally fast
_ROUNDS: Final = 4


def runnable(graph: Graph, dialect: Dialect) -> Graph:
    """A copy in ONNX operators; parameters without values have small random ones.

    Raises `NotInOnnx`.
    """
    copy = graph.copy()
    rng = np.random.default_rng(0)
    for node in copy.reverse_post_order():
        type = copy.types[node]
        if (
            copy.op[node] is PARAM and copy.values.get(node) is None
            and isinstance(type, TensorType) and is_static(type.shape)
        ):
            copy.values[node] = (rng.random(type.shape, dtype=np.float32) - 0.5) * 0.1  # type: ignore[arg-type]
    if copy.dialect == "onnx":
        return copy
    result = relay_in_onnx(copy, dialect)
    result.meta[OPSETS] = {"": newest_opset(), "com.microsoft": 1}
    return result


def relative_time(before: Graph, after: Graph, seconds_of: Callable[[Graph], float]) -> float:
    """The time of `after` as a multiple of that of `before`. Both are measured in turn, in several rounds.

    One round in which `after` is no slower shows that it is not slower beyond noise, and is the last;
    otherwise the median of all counts.
    """
    ratios: list[float] = []
    while len(ratios) < _ROUNDS:
        first = seconds_of(before)
        ratios.append(seconds_of(after) / first)
        if ratios[-1] <= NOISE:
            return ratios[-1]
    return median(ratios)
