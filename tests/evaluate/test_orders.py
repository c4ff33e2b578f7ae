"""Orders of whole numbers in Relay, largest first: exact for those that floats do not tell apart."""

from __future__ import annotations

import numpy as np
import pytest

from gslang.dialect.load import load_dialect
from gslang.evaluate.run import evaluate
from gslang.graph.builder import Builder

NUMBERS = {
    "uint64": [2**63, 2**64 - 1, 0, 2**64 - 2],
    "int64": [-(2**63), 2**62, 2**62 + 1, -1],
    "uint8": [0, 255, 7, 255],
    "bool": [False, True, False, True],
}


@pytest.mark.parametrize("dtype", NUMBERS)
def test_the_largest_come_first(dtype: str) -> None:
    build = Builder(load_dialect("relay"))
    x = build.input("x", (4,), dtype)
    largest = build.call("sort", x, axis=0, is_ascend=False)
    places = build.call("argsort", x, axis=0, is_ascend=False)
    values = np.array(NUMBERS[dtype], dtype)
    found, order = evaluate(build.finish(largest, places), build.dialect, {"x": values})
    assert found.tolist() == sorted(NUMBERS[dtype], reverse=True)
    # equal ones stay as they were
    assert order.tolist() == sorted(range(4), key=lambda k: -int(NUMBERS[dtype][k]))
