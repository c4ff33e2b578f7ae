"""Divisions of integers in Relay, held to Python's over all pairs of bytes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from gslang.dialect.load import load_dialect
from gslang.evaluate.run import evaluate
from gslang.graph.builder import Builder


def truncated(a: int, b: int) -> int:
    """a / b towards 0; 0 where b is 0."""
    return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def remainder(a: int, b: int) -> int:
    """The remainder of that; 0 where b is 0."""
    return 0 if b == 0 else a - truncated(a, b) * b


@pytest.mark.parametrize(("operator", "meaning"), [("trunc_divide", truncated), ("mod", remainder)])
@pytest.mark.parametrize(("dtype", "least"), [("int8", -128), ("uint8", 0)])
def test_all_pairs_of_bytes(
    operator: str, meaning: Callable[[int, int], int], dtype: str, least: int
) -> None:
    numbers = range(least, least + 256)
    build = Builder(load_dialect("relay"))
    graph = build.finish(
        build.call(operator, build.input("x", (256, 1), dtype), build.input("y", (1, 256), dtype))
    )
    values = np.array(numbers, dtype)
    (found,) = evaluate(graph, build.dialect, {"x": values[:, None], "y": values[None]})
    assert np.array_equal(found, np.array([[meaning(a, b) for b in numbers] for a in numbers]).astype(dtype))
