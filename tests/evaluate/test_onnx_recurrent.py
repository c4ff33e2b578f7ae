"""Recurrent operators against onnxruntime, over their attributes and absent operands."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from gslang.evaluate.onnx_recurrent import gru, lstm, rnn

ort = pytest.importorskip("onnxruntime")
OPERATORS = {"RNN": (rnn, 1, 1, 1), "GRU": (gru, 3, 1, 2), "LSTM": (lstm, 4, 2, 3)}
"""Function, gates, states, activations of a direction."""
WAYS = {"forward": 1, "reverse": 1, "bidirectional": 2}
# with as many further numbers as the function has
FUNCTIONS = {
    "Tanh": 0, "Sigmoid": 0, "Relu": 0, "Softsign": 0, "Softplus": 0, "LeakyRelu": 1, "ThresholdedRelu": 1,
    "Elu": 1, "Affine": 2, "ScaledTanh": 2, "HardSigmoid": 2,
}  # fmt: skip
STEPS, INPUTS, HIDDEN = 4, 2, 3


def theirs(operator: str, operands: list[Any], attrs: dict[str, Any], count: int) -> list[Any]:
    names = [f"x{k}" if value is not None else "" for k, value in enumerate(operands)]
    given = {name: value for name, value in zip(names, operands) if name}
    results = [f"y{k}" for k in range(count)]
    graph = helper.make_graph(
        [helper.make_node(operator, names, results, hidden_size=HIDDEN, **attrs)], "g",
        [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
            for name, value in given.items()
        ],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in results],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=9)
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return list(session.run(None, given))


def drawn(operator: str, rng: np.random.Generator) -> tuple[list[Any], dict[str, Any]]:
    _, gates, states, each = OPERATORS[operator]
    direction = str(rng.choice(list(WAYS)))
    ways, batch = WAYS[direction], int(rng.integers(1, 4))

    def floats(*shape: int) -> Any:
        return (rng.normal(size=shape) / 2).astype("float32")

    def perhaps(value: Any) -> Any:
        return value if rng.random() < 0.5 else None

    operands = [
        floats(STEPS, batch, INPUTS), floats(ways, gates * HIDDEN, INPUTS),
        floats(ways, gates * HIDDEN, HIDDEN), perhaps(floats(ways, 2 * gates * HIDDEN)),
        perhaps(rng.integers(1, STEPS + 1, batch).astype("int32")),
        *[perhaps(floats(ways, batch, HIDDEN)) for _ in range(states)],
        *([perhaps(floats(ways, 3 * HIDDEN))] if operator == "LSTM" else []),
    ]
    attrs: dict[str, Any] = {"direction": direction}
    if rng.random() < 0.5:
        attrs["clip"] = float(rng.choice([0.1, 0.3, 1.0]))
    if operator != "RNN" and rng.random() < 0.5:
        attrs["input_forget" if operator == "LSTM" else "linear_before_reset"] = 1
    if rng.random() < 0.7:
        names = [str(name) for name in rng.choice(list(FUNCTIONS), each * ways)]
        attrs["activations"] = names
        for k, key in enumerate(("activation_alpha", "activation_beta")):
            numbers = [float(rng.choice([0.1, 0.5, 0.7])) for name in names if FUNCTIONS[name] > k]
            if numbers:
                attrs[key] = numbers
    return operands, attrs


@pytest.mark.parametrize("operator", list(OPERATORS))
def test_all_attributes_are_those_of_onnxruntime(operator: str) -> None:
    function, _, states, _ = OPERATORS[operator]
    rng = np.random.default_rng(len(operator))
    for _ in range(40):
        operands, attrs = drawn(operator, rng)
        with np.errstate(all="ignore"):
            mine = function(operands, attrs)
        for a, b in zip(theirs(operator, operands, attrs, states + 1), mine, strict=True):
            np.testing.assert_allclose(b, a, rtol=2e-3, atol=1e-3)


@pytest.mark.parametrize("operator", list(OPERATORS))
def test_a_layout_of_batches_first_is_the_transposed_one(operator: str) -> None:
    function, _, states, _ = OPERATORS[operator]
    rng = np.random.default_rng(7)
    for _ in range(10):
        operands, attrs = drawn(operator, rng)
        turned = [
            value if value is None or k not in (0, *range(5, 5 + states)) else value.swapaxes(0, 1)
            for k, value in enumerate(operands)
        ]
        with np.errstate(all="ignore"):
            plain, other = function(operands, attrs), function(turned, {**attrs, "layout": 1})
        np.testing.assert_array_equal(plain[0].transpose(2, 0, 1, 3), other[0])
        for a, b in zip(plain[1:], other[1:], strict=True):
            np.testing.assert_array_equal(a.swapaxes(0, 1), b)


def test_activations_that_are_too_many_are_refused() -> None:
    operands, attrs = drawn("RNN", np.random.default_rng(1))
    with pytest.raises(ValueError, match="activations instead of"):
        rnn(operands, {**attrs, "activations": ["Tanh"] * 5})
