"""Inception-v3 (Szegedy et al., "Rethinking the Inception Architecture for Computer Vision", 2016), for
inference.

    python examples/models/inception_v3.py OUT.relay --params OUT.npz

Every convolution is followed by batch normalisation and relu. `size` may be anything from 75 up; `width`
scales all channel counts; `repeat` multiplies the blocks that keep their shape, for growth curves.
"""

from __future__ import annotations

from gslang.dialect.load import load_dialect
from gslang.graph.builder import Builder, initial_values
from gslang.graph.graph import Graph


def build(
    size: int = 299, batch: int = 1, classes: int = 1000, width: float = 1.0, repeat: int = 1,
    seed: int = 0, values: bool = True,
) -> Graph:  # fmt: skip
    """The network from the image `data` [batch, 3, size, size] to probabilities [batch, classes]."""
    b = Builder(load_dialect("relay"), fill=initial_values(seed) if values else None)
    net = _Network(b, width)
    x = net.stem(b.input("data", (batch, 3, size, size)))
    for k in range(3 * repeat):
        x = net.block_35(x, f"mixed_35_{k}", pooled=32 if k == 0 else 64)
    x = net.reduce_35(x, "reduce_35")
    for k in range(4 * repeat):
        x = net.block_17(x, f"mixed_17_{k}", inner=128 if k == 0 else 192 if k == 4 * repeat - 1 else 160)
    x = net.reduce_17(x, "reduce_17")
    for k in range(2 * repeat):
        x = net.block_8(x, f"mixed_8_{k}")
    x = b.call("nn.batch_flatten", b.call("nn.global_avg_pool2d", x))
    x = b.field(b.call("nn.dropout", x, rate=0.5), 0)
    x = b.call("nn.dense", x, b.param("fc_weight", (classes, b.shape(x)[1])), units=classes)
    x = b.call("nn.bias_add", x, b.param("fc_bias", (classes,)))
    return b.finish(b.call("nn.softmax", x))


class _Network:
    """The blocks; each takes a tensor and a name for its parameters, and gives a tensor."""

    def __init__(self, builder: Builder, width: float) -> None:
        self.b, self.width = builder, width

    def unit(
        self,
        x: int,
        name: str,
        channels: int,
        kernel: tuple[int, int] = (1, 1),
        stride: int = 1,
        same: bool = True,
    ) -> int:
        """Convolution, batch normalisation, relu. `same` pads such that stride 1 keeps the extent."""
        b, channels = self.b, max(1, int(channels * self.width))
        vertical, horizontal = (kernel[0] // 2, kernel[1] // 2) if same else (0, 0)
        weight = b.param(f"{name}_weight", (channels, b.shape(x)[1], *kernel))
        x = b.call(
            "nn.conv2d", x, weight, strides=(stride, stride),
            padding=(vertical, horizontal, vertical, horizontal), channels=channels, kernel_size=kernel,
        )
        statistics = [b.param(f"{name}_bn_{part}", (channels,)) for part in ("gamma", "beta", "mean", "var")]
        return b.call("nn.relu", b.field(b.call("nn.batch_norm", x, *statistics, epsilon=0.001), 0))

    def chain(self, x: int, name: str, *units: tuple[int, tuple[int, int]]) -> int:
        """Units one after the other, given by channels and kernel."""
        for k, (channels, kernel) in enumerate(units):
            x = self.unit(x, f"{name}{k}", channels, kernel)
        return x

    def average(self, x: int) -> int:
        """3×3 that keeps the extent and counts the padding."""
        return self.b.call(
            "nn.avg_pool2d", x, pool_size=(3, 3), strides=(1, 1), padding=(1, 1, 1, 1), count_include_pad=True
        )

    def halve(self, x: int) -> int:
        """3×3 maximum with stride 2."""
        return self.b.call("nn.max_pool2d", x, pool_size=(3, 3), strides=(2, 2))

    def concat(self, *parts: int) -> int:
        return self.b.call("concatenate", self.b.pack(*parts), axis=1)

    def stem(self, x: int) -> int:
        x = self.unit(x, "stem0", 32, (3, 3), 2, same=False)
        x = self.unit(x, "stem1", 32, (3, 3), same=False)
        x = self.halve(self.unit(x, "stem2", 64, (3, 3)))
        x = self.unit(self.unit(x, "stem3", 80), "stem4", 192, (3, 3), same=False)
        return self.halve(x)

    def block_35(self, x: int, name: str, pooled: int) -> int:
        """5×5 and double 3×3 beside 1×1 and pooling."""
        return self.concat(
            self.unit(x, f"{name}_one", 64),
            self.chain(x, f"{name}_five", (48, (1, 1)), (64, (5, 5))),
            self.chain(x, f"{name}_double", (64, (1, 1)), (96, (3, 3)), (96, (3, 3))),
            self.unit(self.average(x), f"{name}_pool", pooled),
        )

    def reduce_35(self, x: int, name: str) -> int:
        inner = self.chain(x, f"{name}_double", (64, (1, 1)), (96, (3, 3)))
        return self.concat(
            self.unit(x, f"{name}_three", 384, (3, 3), 2, same=False),
            self.unit(inner, f"{name}_double2", 96, (3, 3), 2, same=False),
            self.halve(x),
        )

    def block_17(self, x: int, name: str, inner: int) -> int:
        """7×7 convolutions as 1×7 and 7×1."""
        row, column = (1, 7), (7, 1)
        return self.concat(
            self.unit(x, f"{name}_one", 192),
            self.chain(x, f"{name}_seven", (inner, (1, 1)), (inner, row), (192, column)),
            self.chain(
                x, f"{name}_double", (inner, (1, 1)), (inner, column), (inner, row), (inner, column),
                (192, row),
            ),
            self.unit(self.average(x), f"{name}_pool", 192),
        )

    def reduce_17(self, x: int, name: str) -> int:
        three = self.unit(x, f"{name}_three0", 192)
        seven = self.chain(x, f"{name}_seven", (192, (1, 1)), (192, (1, 7)), (192, (7, 1)))
        return self.concat(
            self.unit(three, f"{name}_three1", 320, (3, 3), 2, same=False),
            self.unit(seven, f"{name}_seven3", 192, (3, 3), 2, same=False),
            self.halve(x),
        )

    def block_8(self, x: int, name: str) -> int:
        """Branches that fork into 1×3 and 3×1: pairs of convolutions that share their input."""
        return self.concat(
            self.unit(x, f"{name}_one", 320),
            self.fork(self.unit(x, f"{name}_three", 384), f"{name}_three"),
            self.fork(self.chain(x, f"{name}_double", (448, (1, 1)), (384, (3, 3))), f"{name}_double"),
            self.unit(self.average(x), f"{name}_pool", 192),
        )

    def fork(self, x: int, name: str) -> int:
        return self.concat(
            self.unit(x, f"{name}_row", 384, (1, 3)),
            self.unit(x, f"{name}_column", 384, (3, 1)),
        )


if __name__ == "__main__":
    from write_model import main

    main(build, __doc__)
