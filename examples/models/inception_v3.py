"""Inception-v3 (Szegedy et al., "Rethinking the Inception Architecture for Computer Vision", 2015) with random weights.

python examples/models/inception_v3.py OUT.relay --params OUT.npz
"""

from __future__ import annotations

import sys

from network import Network, save


def build(size: int = 299, classes: int = 1000) -> Network:
    """The whole network for one image of `size` × `size`; its graph is `Network.graph`."""
    net = Network("main")
    x = net.input("data", (1, 3, size, size))
    x = net.conv_bn_relu(x, "stem1", 32, 3, 2)
    x = net.conv_bn_relu(x, "stem2", 32, 3)
    x = net.conv_bn_relu(x, "stem3", 64, 3, 1, 1)
    x = net.op("nn.max_pool2d", x, pool_size=(3, 3), strides=(2, 2))
    x = net.conv_bn_relu(x, "stem4", 80, 1)
    x = net.conv_bn_relu(x, "stem5", 192, 3)
    x = net.op("nn.max_pool2d", x, pool_size=(3, 3), strides=(2, 2))
    for k, pooled in enumerate((32, 64, 64)):
        x = _block_a(net, x, f"a{k}", pooled)
    x = _reduce_a(net, x, "b0")
    for k, inner in enumerate((128, 160, 160, 192)):
        x = _block_c(net, x, f"c{k}", inner)
    x = _reduce_b(net, x, "d0")
    for k in range(2):
        x = _block_e(net, x, f"e{k}")
    x = net.op("nn.batch_flatten", net.op("nn.global_avg_pool2d", x))
    x = net.item(net.op("nn.dropout", x, rate=0.5), 0)
    x = net.op("nn.bias_add", net.dense(x, "fc", classes), net.param("fc_bias", 0.1 * net.rng.standard_normal(classes)))
    net.done(net.op("nn.softmax", x))
    return net


def _pool(net: Network, x: int) -> int:
    return net.op("nn.avg_pool2d", x, pool_size=(3, 3), strides=(1, 1), padding=(1, 1, 1, 1), count_include_pad=True)


def _block_a(net: Network, x: int, name: str, pooled: int) -> int:
    one = net.conv_bn_relu(x, f"{name}_1x1", 64, 1)
    five = net.conv_bn_relu(x, f"{name}_5x5_1", 48, 1)
    five = net.conv_bn_relu(five, f"{name}_5x5_2", 64, 5, 1, 2)
    three = net.conv_bn_relu(x, f"{name}_3x3_1", 64, 1)
    three = net.conv_bn_relu(three, f"{name}_3x3_2", 96, 3, 1, 1)
    three = net.conv_bn_relu(three, f"{name}_3x3_3", 96, 3, 1, 1)
    pool = net.conv_bn_relu(_pool(net, x), f"{name}_pool", pooled, 1)
    return net.concat(one, five, three, pool)


def _reduce_a(net: Network, x: int, name: str) -> int:
    three = net.conv_bn_relu(x, f"{name}_3x3", 384, 3, 2)
    double = net.conv_bn_relu(x, f"{name}_dbl_1", 64, 1)
    double = net.conv_bn_relu(double, f"{name}_dbl_2", 96, 3, 1, 1)
    double = net.conv_bn_relu(double, f"{name}_dbl_3", 96, 3, 2)
    return net.concat(three, double, net.op("nn.max_pool2d", x, pool_size=(3, 3), strides=(2, 2)))


def _block_c(net: Network, x: int, name: str, inner: int) -> int:
    one = net.conv_bn_relu(x, f"{name}_1x1", 192, 1)
    seven = net.conv_bn_relu(x, f"{name}_7x7_1", inner, 1)
    seven = net.conv_bn_relu(seven, f"{name}_7x7_2", inner, (1, 7), 1, (0, 3))
    seven = net.conv_bn_relu(seven, f"{name}_7x7_3", 192, (7, 1), 1, (3, 0))
    double = net.conv_bn_relu(x, f"{name}_dbl_1", inner, 1)
    for k, kernel in enumerate(((7, 1), (1, 7), (7, 1), (1, 7))):
        double = net.conv_bn_relu(double, f"{name}_dbl_{k + 2}", 192 if k == 3 else inner, kernel, 1, (kernel[0] // 2, kernel[1] // 2))
    pool = net.conv_bn_relu(_pool(net, x), f"{name}_pool", 192, 1)
    return net.concat(one, seven, double, pool)


def _reduce_b(net: Network, x: int, name: str) -> int:
    three = net.conv_bn_relu(x, f"{name}_3x3_1", 192, 1)
    three = net.conv_bn_relu(three, f"{name}_3x3_2", 320, 3, 2)
    seven = net.conv_bn_relu(x, f"{name}_7x7_1", 192, 1)
    seven = net.conv_bn_relu(seven, f"{name}_7x7_2", 192, (1, 7), 1, (0, 3))
    seven = net.conv_bn_relu(seven, f"{name}_7x7_3", 192, (7, 1), 1, (3, 0))
    seven = net.conv_bn_relu(seven, f"{name}_7x7_4", 192, 3, 2)
    return net.concat(three, seven, net.op("nn.max_pool2d", x, pool_size=(3, 3), strides=(2, 2)))


def _block_e(net: Network, x: int, name: str) -> int:
    one = net.conv_bn_relu(x, f"{name}_1x1", 320, 1)
    three = net.conv_bn_relu(x, f"{name}_3x3_1", 384, 1)
    three = net.concat(
        net.conv_bn_relu(three, f"{name}_3x3_2a", 384, (1, 3), 1, (0, 1)),
        net.conv_bn_relu(three, f"{name}_3x3_2b", 384, (3, 1), 1, (1, 0)),
    )
    double = net.conv_bn_relu(x, f"{name}_dbl_1", 448, 1)
    double = net.conv_bn_relu(double, f"{name}_dbl_2", 384, 3, 1, 1)
    double = net.concat(
        net.conv_bn_relu(double, f"{name}_dbl_3a", 384, (1, 3), 1, (0, 1)),
        net.conv_bn_relu(double, f"{name}_dbl_3b", 384, (3, 1), 1, (1, 0)),
    )
    pool = net.conv_bn_relu(_pool(net, x), f"{name}_pool", 192, 1)
    return net.concat(one, three, double, pool)


if __name__ == "__main__":
    network = build()
    save(network.graph, network.weights, sys.argv[1:])
