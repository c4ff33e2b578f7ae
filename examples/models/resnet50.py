"""ResNet-50 (He et al., "Deep Residual Learning for Image Recognition", 2016) and its deeper relatives, for
inference.

`layers` is 50, 101 or 152. The stride of a block is in its 3×3 convolution.
"""

from __future__ import annotations

from gslang.dialect.load import load_dialect
from gslang.graph.builder import Builder, initial_values
from gslang.graph.graph import Graph

BLOCKS = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}
"""Number of layers → bottleneck blocks of each stage."""


def build(
    size: int = 224, batch: int = 1, classes: int = 1000, width: int = 64, layers: int = 50,
    seed: int = 0, values: bool = True,
) -> Graph:  # fmt: skip
    """The network from the image `data` [batch, 3, size, size] to probabilities [batch, classes].

    `width` is the number of channels of the stem.
    """
    b = Builder(load_dialect("relay"), fill=initial_values(seed) if values else None)
    x = b.input("data", (batch, 3, size, size))
    x = b.call("nn.relu", _convolution(b, x, "stem", width, kernel=7, stride=2))
    x = b.call("nn.max_pool2d", x, pool_size=(3, 3), strides=(2, 2), padding=(1, 1, 1, 1))
    for stage, blocks in enumerate(BLOCKS[layers]):
        for k in range(blocks):
            x = _bottleneck(
                b, x, f"stage{stage}_block{k}", width << stage, stride=2 if k == 0 and stage > 0 else 1
            )
    x = b.call("nn.batch_flatten", b.call("nn.global_avg_pool2d", x))
    x = b.call("nn.dense", x, b.param("fc_weight", (classes, b.shape(x)[1])), units=classes)
    return b.finish(b.call("nn.softmax", b.call("nn.bias_add", x, b.param("fc_bias", (classes,)))))


def _convolution(
    b: Builder, x: int, name: str, channels: int, kernel: int = 1, stride: int = 1, scale: float = 1.0
) -> int:
    """Convolution and batch normalisation, whose gamma is around `scale`."""
    weight = b.param(f"{name}_weight", (channels, b.shape(x)[1], kernel, kernel))
    x = b.call(
        "nn.conv2d", x, weight, strides=(stride, stride), padding=(kernel // 2,) * 4,
        channels=channels, kernel_size=(kernel, kernel),
    )  # fmt: skip
    gamma = b.param(f"{name}_bn_gamma", (channels,), scale)
    statistics = [b.param(f"{name}_bn_{part}", (channels,)) for part in ("beta", "mean", "var")]
    return b.field(b.call("nn.batch_norm", x, gamma, *statistics), 0)


def _bottleneck(b: Builder, x: int, name: str, channels: int, stride: int) -> int:
    shortcut = x
    if stride != 1 or b.shape(x)[1] != 4 * channels:
        shortcut = _convolution(b, x, f"{name}_shortcut", 4 * channels, stride=stride)
    y = b.call("nn.relu", _convolution(b, x, f"{name}_a", channels))
    y = b.call("nn.relu", _convolution(b, y, f"{name}_b", channels, kernel=3, stride=stride))
    # A small gamma here keeps activations from doubling with each block.
    y = _convolution(b, y, f"{name}_c", 4 * channels, scale=0.1)
    return b.call("nn.relu", b.call("add", y, shortcut))


if __name__ == "__main__":
    from write_model import main

    main(build, __doc__)
