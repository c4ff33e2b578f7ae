"""Random networks out of what the shipped rules are about: convolutions, norms, biases, splits, transposes,
things that do nothing.
"""

from __future__ import annotations

from random import Random
from typing import Any

from gslang.dialect.dialect import Dialect
from gslang.graph.builder import Builder
from gslang.graph.graph import Graph

KINDS = (
    "conv", "conv", "relu", "tanh", "add", "norm", "transpose", "join", "split", "zero", "one", "bias",
    "reshape", "dropout",
)


def random_network(seed: int, dialect: Dialect) -> Graph:
    """Up to 25 layers on a tensor [2, 4, 6, 6]; one to three outputs, which may be read inside too."""
    random, build = Random(seed), Builder(dialect)
    tensors = [build.input("x", (2, 4, 6, 6))]
    for _ in range(random.randint(5, 25)):
        tensors += _layer(random, build, random.choice(KINDS), random.choice(tensors[-6:]), tensors)
    return build.finish(*dict.fromkeys([tensors[-1], *random.sample(tensors, min(2, len(tensors)))]))


def _layer(random: Random, build: Builder, kind: str, x: int, tensors: list[int]) -> list[int]:
    """New tensors that a layer of this kind makes of `x`; none where it does not fit."""
    shape = build.shape(x)

    def weight(*sizes: int) -> int:
        return build.param(f"w{len(build.graph.op)}", sizes)

    def like(*dimensions: int) -> int:
        """A tensor that has these dimensions of `x`."""
        fitting = [
            t
            for t in tensors
            if len(build.shape(t)) == len(shape) and all(build.shape(t)[d] == shape[d] for d in dimensions)
        ]
        return random.choice(fitting)

    def one(result: Any) -> list[int]:
        return [result]

    match kind:
        case "relu":
            return one(build.call("nn.relu", x))
        case "tanh":
            return one(build.call("tanh", x))
        case "add":
            return one(build.call("add", x, like(*range(len(shape)))))
        case "zero":
            return one(build.call("add", x, build.const(0.0, "float32")))
        case "one":
            return one(build.call("multiply", build.const(1.0, "float32"), x))
        case "reshape":
            return one(build.call("reshape", build.call("reshape", x, newshape=(-1,)), newshape=shape))
        case "dropout":
            return one(build.field(build.call("nn.dropout", x), 0))
        case "conv":
            size = random.choice((1, 3))
            kernel = weight(random.choice((2, 4)), shape[1], size, size)
            return one(build.call("nn.conv2d", x, kernel, padding=(size // 2,) * 4))
        case "norm":
            channels = shape[1]
            norm = build.call(
                "nn.batch_norm", x, weight(channels), weight(channels), weight(channels),
                build.call("abs", weight(channels)),
            )
            return one(build.field(norm, 0))
        case "bias":
            return one(build.call("nn.bias_add", x, weight(shape[1])))
        case "transpose":
            return one(build.call("transpose", x, axes=(0, 1, 3, 2)))
        case "join":
            return one(build.call("concatenate", build.pack(x, like(0, 2, 3)), axis=1))
        case "split" if shape[1] % 2 == 0:
            parts = build.call("split", x, indices_or_sections=2, axis=1)
            return [build.field(parts, 0), build.field(parts, 1)]
    return []
