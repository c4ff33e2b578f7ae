"""NASNet-A cells (Zoph et al., "Learning Transferable Architectures for Scalable Image Recognition", 2018),
for inference.

Every separable convolution and every squeeze starts with its own relu of a shared tensor: many equal calls
with one operand.
"""

from __future__ import annotations

from gslang.dialect.load import load_dialect
from gslang.graph.builder import Builder, initial_values
from gslang.graph.graph import Graph


def build(
    cells: int = 2, reductions: int = 1, filters: int = 32, stem: int = 96, size: int = 32,
    batch: int = 1, classes: int = 10, seed: int = 0, values: bool = True,
) -> Graph:  # fmt: skip
    """From the image `data` [batch, 3, size, size] to probabilities [batch, classes].

    `cells` normal cells, then `reductions` times a reduction cell (half the extent, twice the filters) and
    `cells` normal ones.
    """
    b = Builder(load_dialect("relay"), fill=initial_values(seed) if values else None)
    x = _normalised(b, _convolution(b, b.input("data", (batch, 3, size, size)), "stem", stem, 3), "stem")
    before, now = x, x
    for stage in range(reductions + 1):
        if stage:
            filters *= 2
            before, now = now, _reduction(b, before, now, f"reduction{stage}", filters)
        for k in range(cells):
            before, now = now, _normal(b, before, now, f"normal{stage}_{k}", filters)
    x = b.call("nn.batch_flatten", b.call("nn.global_avg_pool2d", b.call("nn.relu", now)))
    x = b.call("nn.dense", x, b.param("fc_weight", (classes, b.shape(x)[1]), scale=0.1), units=classes)
    return b.finish(b.call("nn.softmax", b.call("nn.bias_add", x, b.param("fc_bias", (classes,)))))


def _convolution(
    b: Builder, x: int, name: str, channels: int, kernel: int = 1, stride: int = 1, groups: int = 1
) -> int:
    weight = b.param(f"{name}_weight", (channels, b.shape(x)[1] // groups, kernel, kernel))
    return b.call(
        "nn.conv2d", x, weight, strides=(stride, stride), padding=(kernel // 2,) * 4, groups=groups,
        channels=channels, kernel_size=(kernel, kernel),
    )  # fmt: skip


def _normalised(b: Builder, x: int, name: str) -> int:
    statistics = [b.param(f"{name}_bn_{part}", (b.shape(x)[1],)) for part in ("gamma", "beta", "mean", "var")]
    return b.field(b.call("nn.batch_norm", x, *statistics, epsilon=0.001), 0)


def _separable(b: Builder, x: int, name: str, channels: int, kernel: int, stride: int = 1) -> int:
    """Twice: relu, depthwise convolution, pointwise convolution, batch normalisation."""
    for k, step in enumerate((stride, 1)):
        x = b.call("nn.relu", x)
        x = _convolution(b, x, f"{name}_depth{k}", b.shape(x)[1], kernel, step, groups=b.shape(x)[1])
        x = _normalised(b, _convolution(b, x, f"{name}_point{k}", channels), f"{name}_{k}")
    return x


def _squeezed(b: Builder, x: int, name: str, channels: int) -> int:
    return _normalised(b, _convolution(b, b.call("nn.relu", x), name, channels), name)


def _fitted(b: Builder, before: int, now: int, name: str, channels: int) -> int:
    """The output of the cell before the last, brought to the extent and number of channels that this cell
    works with.
    """
    if b.shape(before)[2] == b.shape(now)[2]:
        return _squeezed(b, before, name, channels)
    x = b.call("nn.relu", before)
    halves = []
    for k in range(2):
        pooled = b.call("nn.avg_pool2d", x, pool_size=(1, 1), strides=(2, 2))
        halves.append(_convolution(b, pooled, f"{name}_half{k}", channels // 2))
    return _normalised(b, b.call("concatenate", b.pack(*halves), axis=1), name)


def _pool(b: Builder, kind: str, x: int, stride: int = 1) -> int:
    return b.call(f"nn.{kind}_pool2d", x, pool_size=(3, 3), strides=(stride, stride), padding=(1, 1, 1, 1))


def _normal(b: Builder, before: int, now: int, name: str, channels: int) -> int:
    fitted = _fitted(b, before, now, f"{name}_fit", channels)
    x = _squeezed(b, now, f"{name}_squeeze", channels)
    blocks = [
        b.call("add", _separable(b, x, f"{name}_a", channels, 3), x),
        b.call(
            "add", _separable(b, fitted, f"{name}_b0", channels, 3),
            _separable(b, x, f"{name}_b1", channels, 5),
        ),
        b.call("add", _pool(b, "avg", x), fitted),
        b.call("add", _pool(b, "avg", fitted), _pool(b, "avg", fitted)),
        b.call(
            "add", _separable(b, fitted, f"{name}_c0", channels, 5),
            _separable(b, fitted, f"{name}_c1", channels, 3),
        ),
    ]
    return b.call("concatenate", b.pack(fitted, *blocks), axis=1)


def _reduction(b: Builder, before: int, now: int, name: str, channels: int) -> int:
    fitted = _fitted(b, before, now, f"{name}_fit", channels)
    x = _squeezed(b, now, f"{name}_squeeze", channels)
    kernels = (("a", 7), ("b", 7), ("c", 5))
    wide = [_separable(b, fitted, f"{name}_{part}", channels, kernel, 2) for part, kernel in kernels]
    first = b.call("add", _separable(b, x, f"{name}_d", channels, 5, 2), wide[0])
    second = b.call("add", _pool(b, "max", x, 2), wide[1])
    third = b.call("add", _pool(b, "avg", x, 2), wide[2])
    fourth = b.call("add", _pool(b, "max", x, 2), _separable(b, first, f"{name}_e", channels, 3))
    fifth = b.call("add", _pool(b, "avg", first), second)
    return b.call("concatenate", b.pack(second, third, fourth, fifth), axis=1)


if __name__ == "__main__":
    from write_model import main

    main(build, __doc__)
