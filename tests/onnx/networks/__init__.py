"""Networks as exporters write them, straight from `onnx.helper`: what the shipped rules are proved on, and
measured with.

`NETWORKS` maps a name to a function of `(scale, batch)`, for transformers also `opset`: `scale` is 1 for the
real widths and depths, more for narrower ones; `batch` is a number, or a name for a dynamic batch. Weights
are random, with sizes that keep activations near one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from onnx import ModelProto

from tests.onnx.networks.convolutional import mobilenet, resnet50, unet
from tests.onnx.networks.quantized import quantized_cnn
from tests.onnx.networks.transformers import bert, gpt2, llama

Generator = Callable[..., ModelProto]

NETWORKS: Final[dict[str, Generator]] = {
    "resnet50": resnet50,
    "mobilenet": mobilenet,
    "unet": unet,
    "bert": bert,
    "gpt2": gpt2,
    "llama": llama,
    "quantized": quantized_cnn,
}
