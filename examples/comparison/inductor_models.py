"""The models of `models.py` as traced `aten` graphs, and the operators that each rule leaves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch._subclasses import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

aten = torch.ops.aten


def _gemms(x: Any, w: Any, b: Any, k: Any, w2: Any, k2: Any) -> Any:
    return (torch.relu(torch.addmm(b, x, w) + k) @ w2) + k2


def _normed(x: Any, w: Any, scale: Any, shift: Any, mean: Any, variance: Any) -> Any:
    return aten._native_batch_norm_legit_no_training(
        aten.convolution(x, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1),
        scale,
        shift,
        mean,
        variance,
        0.1,
        1e-3,
    )[0]


_MODELS: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]] = {
    "silu": (lambda x: x / (1.0 + torch.exp(-x)), [(2, 3)]),
    "conv_bn": (_normed, [(1, 3, 8, 8), (4, 3, 3, 3), (4,), (4,), (4,), (4,)]),
    "merge_products": (lambda x, q, k, v: (x @ q, x @ k, x @ v), [(5, 4), (4, 6), (4, 6), (4, 6)]),
    "transposes": (lambda x: torch.relu(torch.relu(x).permute(1, 2, 0).permute(2, 0, 1)), [(2, 3, 4)]),
    "gemm_bias": (_gemms, [(2, 3), (3, 4), (4,), (4,), (4, 2), (2,)]),
}
LEFT = {
    "silu": {"sigmoid": 1, "mul": 1, "exp": 0},
    "conv_bn": {"convolution": 1, "_native_batch_norm_legit_no_training": 0},
    "merge_products": {"mm": 2},  # not 1: one product is taken for several of the pattern
    "transposes": {"permute": 0, "relu": 2},
    "gemm_bias": {"addmm": 2, "mm": 0, "add": 1},  # the sum of two biases
}


def model(name: str) -> tuple[Any, list[Any], Any]:
    """The traced graph of a rule's model, inputs, and the mode in which types of new nodes are inferred."""
    function, shapes = _MODELS[name]
    generator = torch.Generator().manual_seed(0)
    inputs = [torch.rand(shape, generator=generator) + 0.5 for shape in shapes]
    mode = FakeTensorMode()
    traced = make_fx(function)(*(mode.from_tensor(tensor) for tensor in inputs))
    traced.graph.eliminate_dead_code()
    traced.recompile()
    return traced, inputs, mode
