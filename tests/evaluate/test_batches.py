"""Relay's `take` and `gather_nd` with batch dimensions, against their definition element by element."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gslang.evaluate.movement import EVALUATE


@pytest.mark.parametrize("batch, axis", [(0, 0), (0, -1), (1, 1), (1, 2), (1, -1), (2, 2), (-1, 1)])
@pytest.mark.parametrize("mode", ["clip", "wrap", "fast"])
def test_take(batch: int, axis: int, mode: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2, 3, 4))
    indices = rng.integers(-5, 9, (2, 3) if batch < 2 else (2, 3, 2)) if mode != "fast" else rng.integers(
        0, 2, (2, 3) if batch < 2 else (2, 3, 2)
    )
    found = EVALUATE["take"]((x, indices), {"axis": axis, "batch_dims": batch, "mode": mode})
    first, among = axis % x.ndim, batch % indices.ndim
    size = x.shape[first]
    assert found.shape == (*x.shape[:first], *indices.shape[among:], *x.shape[first + 1 :])
    for place in itertools.product(*map(range, found.shape)):
        before, rest = place[:first], place[first:]
        chosen = indices[(*before[:among], *rest[: indices.ndim - among])]
        chosen = chosen % size if mode == "wrap" else min(max(chosen, 0), size - 1)
        assert found[place] == x[(*before, chosen, *rest[indices.ndim - among :])]


@pytest.mark.parametrize("batch, depth", [(0, 1), (0, 3), (1, 1), (1, 2), (2, 1)])
def test_gather_nd(batch: int, depth: int) -> None:
    rng = np.random.default_rng(1)
    x = rng.standard_normal((2, 3, 4))
    indices = rng.integers(0, 2, (depth, 2, 3, 2))
    found = EVALUATE["gather_nd"]((x, indices), {"batch_dims": batch})
    assert found.shape == (*indices.shape[1:], *x.shape[depth + batch :])
    for place in itertools.product(*map(range, found.shape)):
        chosen = [indices[(k, *place[:3])] for k in range(depth)]
        assert found[place] == x[(*place[:batch], *chosen, *place[3:])]
