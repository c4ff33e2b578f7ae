"""The benchmark graphs, once for all tools: chains of equal blocks, written through a `Writer`.

A family does not know whether it becomes ONNX or a gslang graph, so both have the same topology, sizes and
number of operator calls. Not here: files (`models`), what is done with the graphs (`tools`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


class Writer(Protocol):
    """Makes one kind of graph. Values are opaque: what one method returns, another takes."""

    def input(self, shape: Sequence[int]) -> Any: ...
    def param(self, name: str, shape: Sequence[int], positive: bool = False) -> Any: ...
    def scalar(self, name: str, value: float) -> Any: ...
    def conv(self, x: Any, weight: Any) -> Any: ...
    def batch_norm(self, x: Any, gamma: Any, beta: Any, mean: Any, variance: Any) -> Any: ...
    def matmul(self, x: Any, weight: Any) -> Any: ...
    def concat(self, parts: Sequence[Any]) -> Any: ...
    def transpose(self, x: Any, axes: Sequence[int]) -> Any: ...
    def unary(self, op: str, x: Any) -> Any: ...
    def binary(self, op: str, x: Any, y: Any) -> Any: ...


@dataclass(frozen=True)
class Family:
    """`block`: operator calls per block; `matches`: of the rules meant for the family, per block. `target`:
    the (ONNX) operators that the rules remove, per block before and after.
    """

    build: Callable[[Writer, int], Any]
    block: int
    matches: int
    target: tuple[str, ...]
    before: int
    after: int

    def blocks(self, nodes: int) -> int:
        return nodes // self.block

    def expected_matches(self, nodes: int) -> int:
        return self.matches * self.blocks(nodes)

    def calls(self, nodes: int) -> int:
        """How many operator calls the graph has: `nodes`, rounded down to whole blocks."""
        return self.block * self.blocks(nodes)


CONV_WEIGHT = (4, 4, 1, 1)


def conv_batch_norm(w: Writer, blocks: int) -> Any:
    """Convolution, batch normalisation, relu; each block with its own weights."""
    x = w.input((1, 4, 8, 8))
    for k in range(blocks):
        x = w.conv(x, w.param(f"w{k}", CONV_WEIGHT))
        statistics = [
            w.param(f"{name}{k}", (4,), name in ("gamma", "var")) for name in ("gamma", "beta", "mean", "var")
        ]
        x = w.unary("relu", w.batch_norm(x, *statistics))
    return x


def parallel_conv(w: Writer, blocks: int) -> Any:
    """Three convolutions of one tensor, joined; the same three weights in all blocks."""
    x = w.input((1, 6, 8, 8))
    weights = [w.param(f"w{k}", (2, 6, 1, 1)) for k in range(3)]
    for _ in range(blocks):
        x = w.concat([w.conv(x, weight) for weight in weights])
    return x


def parallel_matmul(w: Writer, blocks: int) -> Any:
    """Three matrix products of one tensor (query, key, value), joined; the same three weights in all blocks.
    """
    x = w.input((4, 6))
    weights = [w.param(f"w{k}", (6, 2)) for k in range(3)]
    for _ in range(blocks):
        x = w.concat([w.matmul(x, weight) for weight in weights])
    return x


def transpose_pairs(w: Writer, blocks: int) -> Any:
    """A transpose, the inverse one, tanh."""
    x = w.input((1, 4, 8, 6))
    for _ in range(blocks):
        x = w.unary("tanh", w.transpose(w.transpose(x, (0, 2, 3, 1)), (0, 3, 1, 2)))
    return x


def identities(w: Writer, blocks: int) -> Any:
    """Plus 0, times 1, tanh."""
    x = w.input((1, 4, 8, 8))
    zero, one = w.scalar("zero", 0.0), w.scalar("one", 1.0)
    for _ in range(blocks):
        x = w.unary("tanh", w.binary("mul", w.binary("add", x, zero), one))
    return x


def nothing(w: Writer, blocks: int) -> Any:
    """Relu, sigmoid, tanh: no rule applies."""
    x = w.input((1, 4, 8, 8))
    for _ in range(blocks):
        x = w.unary("tanh", w.unary("sigmoid", w.unary("relu", x)))
    return x


FAMILIES = {
    "cbr": Family(conv_batch_norm, 3, 1, ("BatchNormalization",), 1, 0),
    "par": Family(parallel_conv, 4, 1, ("Conv",), 3, 1),
    "mm": Family(parallel_matmul, 4, 1, ("MatMul",), 3, 1),
    "tt": Family(transpose_pairs, 3, 1, ("Transpose",), 2, 0),
    "id": Family(identities, 3, 2, ("Add", "Mul"), 2, 0),
    "none": Family(nothing, 3, 0, (), 0, 0),
}

# A job is rules for a family. `…_fold` computes the new weights, `…_root` starts at the concatenation (see
# docs/performance.md).
FAMILY_OF_JOB = {
    "convbn": "cbr", "convbn_fold": "cbr", "tt": "tt", "ident": "id", "parmm": "mm", "parmm_root": "mm",
    "parconv": "par", "parconv_root": "par", "none": "none",
}  # fmt: skip


def family_of(job: str) -> Family:
    return FAMILIES[FAMILY_OF_JOB[job]]
