"""ResNet-50, MobileNetV3-like and U-Net, batch norms and all, as an exporter in training mode off writes them
unfused.
"""

from __future__ import annotations

from onnx import ModelProto

from tests.onnx.networks.network import Dimension, Network


def _conv(
    net: Network,
    x: str,
    inputs: int,
    outputs: int,
    size: int = 3,
    stride: int = 1,
    group: int = 1,
    pad: int | None = None,
) -> str:
    edge = size // 2 if pad is None else pad
    return net.call(
        "Conv", x, net.weight(outputs, inputs // group, size, size), kernel_shape=[size, size],
        strides=[stride, stride], pads=[edge] * 4, dilations=[1, 1], group=group,
    )


def _batch_norm(net: Network, x: str, channels: int) -> str:
    parts = [
        net.weight(channels, positive=True), net.weight(channels, size=0.1), net.weight(channels, size=0.1),
        net.weight(channels, positive=True),
    ]
    return net.call("BatchNormalization", x, *parts, epsilon=1e-5, momentum=0.9)


def _head(net: Network, x: str, channels: int, batch: Dimension) -> ModelProto:
    pooled = net.call("Flatten", net.call("GlobalAveragePool", x), axis=1)
    logits = net.call("Gemm", pooled, net.weight(10, channels), net.weight(10, size=0.1), transB=1)
    return net.model({logits: [batch, 10]})


def resnet50(scale: int = 1, batch: Dimension = 1) -> ModelProto:
    """53 convolutions with batch norms, 16 sums; `scale` divides the channels and the image's size."""
    net = Network()
    width = 64 // scale
    x = net.input("image", [batch, 3, 224 // scale, 224 // scale])
    x = net.call("Relu", _batch_norm(net, _conv(net, x, 3, width, 7, 2), width))
    x = net.call("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    inputs = width
    for stage, blocks in enumerate((3, 4, 6, 3)):
        middle, outputs = width << stage, width << stage + 2
        for block in range(blocks):
            stride = 2 if stage and not block else 1
            y = net.call("Relu", _batch_norm(net, _conv(net, x, inputs, middle, 1), middle))
            y = net.call("Relu", _batch_norm(net, _conv(net, y, middle, middle, 3, stride), middle))
            y = _batch_norm(net, _conv(net, y, middle, outputs, 1), outputs)
            if not block:
                x = _batch_norm(net, _conv(net, x, inputs, outputs, 1, stride), outputs)
            x, inputs = net.call("Relu", net.call("Add", y, x)), outputs
    return _head(net, x, inputs, batch)


def _hard_swish(net: Network, x: str) -> str:
    """As exporters before operator set 14 write it."""
    shifted = net.call("Add", x, net.constant(3.0))
    limited = net.call("Clip", shifted, net.constant(0.0), net.constant(6.0))
    return net.call("Div", net.call("Mul", x, limited), net.constant(6.0))


def _squeeze_excite(net: Network, x: str, channels: int) -> str:
    inner = max(channels // 4, 4)
    y = net.call("GlobalAveragePool", x)
    y = net.call(
        "Relu", net.call("Add", _conv(net, y, channels, inner, 1), net.weight(1, inner, 1, 1, size=0.1))
    )
    y = net.call("Add", _conv(net, y, inner, channels, 1), net.weight(1, channels, 1, 1, size=0.1))
    gate = net.call("Clip", net.call("Add", y, net.constant(3.0)), net.constant(0.0), net.constant(6.0))
    return net.call("Mul", x, net.call("Div", gate, net.constant(6.0)))


def mobilenet(scale: int = 1, batch: Dimension = 1) -> ModelProto:
    """MobileNetV3-like: depthwise convolutions, squeeze and excitation, hard swish, explicit padding,
    dropout.
    """
    net = Network()
    image = 224 // scale
    x = net.input("image", [batch, 3, image, image])
    scaled = net.call(
        "Div", net.call("Sub", x, net.constant([[[0.5]], [[0.4]], [[0.3]]])),
        net.constant([[[0.2]], [[0.3]], [[0.2]]]),
    )
    inputs = 16 // min(scale, 4)
    x = _hard_swish(net, _batch_norm(net, _conv(net, scaled, 3, inputs, 3, 2), inputs))
    for expand, outputs, stride, excite in (
        (1, 16, 1, True), (4, 24, 2, False), (4, 24, 1, False), (4, 40, 2, True), (6, 40, 1, True),
        (6, 48, 1, True), (6, 96, 2, True), (6, 96, 1, True),
    ):
        middle, outputs = inputs * expand, outputs // min(scale, 4)
        y = x
        if expand > 1:
            y = _hard_swish(net, _batch_norm(net, _conv(net, y, inputs, middle, 1), middle))
        pads = net.constant([0, 0, 1, 1, 0, 0, 1, 1], "int64")
        y = _conv(net, net.call("Pad", y, pads, net.constant(0.0)), middle, middle, 3, stride, middle, 0)
        y = _hard_swish(net, _batch_norm(net, y, middle))
        if excite:
            y = _squeeze_excite(net, y, middle)
        y = _batch_norm(net, _conv(net, y, middle, outputs, 1), outputs)
        x, inputs = (net.call("Add", x, y) if stride == 1 and inputs == outputs else y), outputs
    return _head(net, net.call("Dropout", net.call("Identity", x)), inputs, batch)


def unet(scale: int = 1, batch: Dimension = 1) -> ModelProto:
    """Down and up four times with joins; transposed convolutions with batch norms, and resizes computed from
    shapes.
    """
    net = Network()
    image, width = 256 // scale, 64 // scale
    x = net.input("image", [batch, 3, image, image])

    def double(y: str, inputs: int, outputs: int) -> str:
        y = net.call("Relu", _batch_norm(net, _conv(net, y, inputs, outputs), outputs))
        return net.call("Relu", _batch_norm(net, _conv(net, y, outputs, outputs), outputs))

    x = double(x, 3, width)
    skips = []
    for level in range(4):
        skips.append(x)
        x = double(
            net.call("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]), width << level, width << level + 1
        )
    for level in reversed(range(4)):
        inputs, outputs = width << level + 1, width << level
        if level % 2:
            up = net.call(
                "ConvTranspose", x, net.weight(inputs, outputs, 2, 2), strides=[2, 2], kernel_shape=[2, 2]
            )
            up = net.call("Relu", _batch_norm(net, up, outputs))
        else:
            up = net.call(
                "Add", _conv(net, _double_size(net, x), inputs, outputs, 1),
                net.weight(outputs, 1, 1, size=0.1),
            )
        x = double(net.call("Concat", skips.pop(), up, axis=1), outputs * 2, outputs)
    y = net.call("Sigmoid", _conv(net, x, width, 1, 1))
    return net.model({y: [batch, 1, image, image]})


def _double_size(net: Network, x: str) -> str:
    """`interpolate(scale_factor=2)` as exporters write it: sizes computed from the shape."""
    shape = net.call("Shape", x)
    head = net.call(
        "Slice", shape, net.constant([0], "int64"), net.constant([2], "int64"), net.constant([0], "int64")
    )
    sides = []
    for axis in (2, 3):
        side = net.call("Gather", net.call("Shape", x), net.constant(axis, "int64"), axis=0)
        doubled = net.call("Floor", net.call("Mul", net.call("Cast", side, to=1), net.constant(2.0)))
        sides.append(net.call("Unsqueeze", net.call("Cast", doubled, to=7), net.constant([0], "int64")))
    sizes = net.call("Concat", head, net.call("Cast", net.call("Concat", *sides, axis=0), to=7), axis=0)
    return net.call(
        "Resize", x, "", "", sizes, mode="nearest", coordinate_transformation_mode="asymmetric",
        nearest_mode="floor",
    )
