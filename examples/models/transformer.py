"""A Transformer encoder (Vaswani et al., "Attention Is All You Need", 2017), after the embedding, for
inference.

Query, key and value are three dense calls of one tensor: what rules that combine parallel operators look for.
"""

from __future__ import annotations

import math

from gslang.dialect.load import load_dialect
from gslang.graph.builder import Builder, initial_values
from gslang.graph.graph import Graph


def build(
    layers: int = 6, d_model: int = 512, heads: int = 8, d_ff: int = 2048, length: int = 64, batch: int = 1,
    seed: int = 0, values: bool = True,
) -> Graph:  # fmt: skip
    """The encoder from `tokens` [batch, length, d_model] to the same shape.

    Raises `ValueError` if the heads do not divide it.
    """
    if d_model % heads:
        raise ValueError(f"{heads} heads do not divide d_model = {d_model}")
    b = Builder(load_dialect("relay"), fill=initial_values(seed) if values else None)
    x = b.input("tokens", (batch, length, d_model))
    for k in range(layers):
        x = _normalised(b, f"layer{k}_norm1", b.call("add", x, _attention(b, x, f"layer{k}", heads)))
        inner = b.call("nn.relu", _linear(b, x, f"layer{k}_ff1", d_ff))
        x = _normalised(b, f"layer{k}_norm2", b.call("add", x, _linear(b, inner, f"layer{k}_ff2", d_model)))
    return b.finish(x)


def _linear(b: Builder, x: int, name: str, units: int) -> int:
    y = b.call("nn.dense", x, b.param(f"{name}_weight", (units, b.shape(x)[-1])), units=units)
    return b.call("nn.bias_add", y, b.param(f"{name}_bias", (units,)), axis=-1)


def _attention(b: Builder, x: int, name: str, heads: int) -> int:
    batch, length, width = b.shape(x)
    part = width // heads

    def split(y: int, axes: tuple[int, ...]) -> int:
        """[batch, length, width] → [batch · heads, …] with the last two axes in the order asked for."""
        y = b.call("transpose", b.call("reshape", y, newshape=(batch, length, heads, part)), axes=axes)
        return b.call("reshape", y, newshape=(batch * heads, *b.shape(y)[2:]))

    query = split(_linear(b, x, f"{name}_query", width), (0, 2, 1, 3))
    key = split(_linear(b, x, f"{name}_key", width), (0, 2, 1, 3))
    value = split(_linear(b, x, f"{name}_value", width), (0, 2, 3, 1))
    scores = b.call("divide", b.call("nn.batch_matmul", query, key), b.const(math.sqrt(part)))
    mixed = b.call("nn.batch_matmul", b.call("nn.softmax", scores, axis=-1), value)
    mixed = b.call("reshape", mixed, newshape=(batch, heads, length, part))
    mixed = b.call("reshape", b.call("transpose", mixed, axes=(0, 2, 1, 3)), newshape=(batch, length, width))
    return _linear(b, mixed, f"{name}_out", width)


def _normalised(b: Builder, name: str, x: int) -> int:
    width = b.shape(x)[-1]
    return b.call("nn.layer_norm", x, b.param(f"{name}_gamma", (width,)), b.param(f"{name}_beta", (width,)))


if __name__ == "__main__":
    from write_model import main

    main(build, __doc__)
