"""Inputs that make sense for an exported model, from its specification in `inputs/NAME.json`."""

from __future__ import annotations

from typing import Any

import numpy as np

VOCABULARY = 96
OTHER_SIZES = {"b": 3, "s": 9, "p": 5, "t": 6, "d": 4}
"""A second set of sizes for models with dynamic dimensions."""


def make_inputs(spec: dict[str, Any], seed: int = 0, sizes: dict[str, int] | None = None) -> dict[str, Any]:
    """An array for each input.

    Kinds: `id` (token ids), `mask` (1: real, 0: padding behind it), `f` (normal numbers).
    """
    random, result, sizes = np.random.RandomState(seed), {}, sizes or spec["sizes"]
    for name, kind, shape in spec["inputs"]:
        dims = [sizes[d] if isinstance(d, str) else d for d in shape]
        if kind == "id":
            result[name] = random.randint(3, VOCABULARY, dims).astype("int64")
        elif kind == "mask":
            ends = [dims[1]] + [random.randint(dims[1] // 2, dims[1] + 1) for _ in range(dims[0] - 1)]
            result[name] = (np.arange(dims[1])[None] < np.array(ends)[:, None]).astype("int64")
        else:
            result[name] = random.randn(*dims).astype("float32")
    return result
