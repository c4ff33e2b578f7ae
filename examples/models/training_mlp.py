"""One training step of a small network: forward and backward pass in one graph with several outputs.

Outputs: the loss, then the gradient of every parameter, last layer first. The forward activations are shared
by both passes, so patterns meet tensors that other parts of the graph still need.
"""

from __future__ import annotations

from gslang.dialect.load import load_dialect
from gslang.graph.builder import Builder, initial_values
from gslang.graph.graph import Graph


def build(
    layers: int = 3, features: int = 32, hidden: int = 64, classes: int = 10, batch: int = 8,
    seed: int = 0, values: bool = True,
) -> Graph:  # fmt: skip
    """`layers` dense layers with tanh between them, softmax cross-entropy against `target` [batch, classes].

    Inputs: `data` [batch, features] and `target` (each row sums to 1).
    """
    b = Builder(load_dialect("relay"), fill=initial_values(seed) if values else None)
    data, target = b.input("data", (batch, features)), b.input("target", (batch, classes))
    activations, weights = [data], []
    for k in range(layers):
        x, last = activations[-1], k == layers - 1
        units = classes if last else hidden
        weights.append(b.param(f"layer{k}_weight", (units, b.shape(x)[1])))
        y = b.call(
            "nn.bias_add", b.call("nn.dense", x, weights[-1], units=units),
            b.param(f"layer{k}_bias", (units,)),
        )
        activations.append(y if last else b.call("tanh", y))
    logits = activations[-1]
    log_probabilities = b.call("nn.log_softmax", logits)
    row_losses = b.call("sum", b.call("multiply", target, log_probabilities), axis=(1,))
    loss = b.call("negative", b.call("mean", row_losses, axis=(0,)))
    outputs = [loss]

    # d loss / d logits = (softmax(logits) - target) / batch
    error = b.call("divide", b.call("subtract", b.call("nn.softmax", logits), target), b.const(float(batch)))
    for k in reversed(range(layers)):
        below = activations[k]
        # y = x · wᵀ + c, so dw = errorᵀ · x, dc = the column sums of error, dx = error · w;
        # `nn.dense(p, q)` is p · qᵀ, hence the transposes.
        transposed = b.call("transpose", error, axes=(1, 0))
        outputs.append(b.call("nn.dense", transposed, b.call("transpose", below, axes=(1, 0))))
        outputs.append(b.call("sum", error, axis=(0,)))
        if k:
            error = b.call("nn.dense", error, b.call("transpose", weights[k], axes=(1, 0)))
            slope = b.call("subtract", b.const(1.0), b.call("multiply", below, below))  # tanh' = 1 - tanh²
            error = b.call("multiply", error, slope)
    return b.finish(*outputs)


if __name__ == "__main__":
    from write_model import main

    main(build, __doc__)
