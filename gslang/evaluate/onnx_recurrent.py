"""RNN, GRU and LSTM of ONNX with all their attributes, of which the reference implementation ignores most.

As onnxruntime computes them: `clip` bounds the sums that gates are functions of, not the cell itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, Final

import numpy as np

from gslang.base.arrays import Array
from gslang.base.open_types import Attrs

Operands = Sequence[Any]
Function = Callable[[Array], Array]

# name → (function of x, alpha and beta, their defaults; fewer where the function has fewer)
_ACTIVATIONS: Final[Mapping[str, tuple[Callable[..., Any], tuple[float, ...]]]] = {
    "relu": (lambda x: np.maximum(x, 0), ()),
    "tanh": (np.tanh, ()),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), ()),
    "softsign": (lambda x: x / (1 + np.abs(x)), ()),
    "softplus": (lambda x: np.logaddexp(x, 0), ()),
    "leakyrelu": (lambda x, alpha: np.where(x < 0, alpha * x, x), (0.01,)),
    "thresholdedrelu": (lambda x, alpha: np.where(x > alpha, x, 0), (1.0,)),
    "elu": (lambda x, alpha: np.where(x < 0, alpha * np.expm1(x), x), (1.0,)),
    "affine": (lambda x, alpha, beta: alpha * x + beta, (1.0, 0.0)),
    "scaledtanh": (lambda x, alpha, beta: alpha * np.tanh(beta * x), (1.0, 1.0)),
    "hardsigmoid": (lambda x, alpha, beta: np.clip(alpha * x + beta, 0, 1), (0.2, 0.5)),
}


def rnn(operands: Operands, attrs: Attrs) -> object:
    """Y and Y_h. Shapes are those of the standard: with `layout` 0 data is (steps, batch, inputs)."""

    def step(x: Array, state: tuple[Array, ...], part: _Part) -> tuple[Array, ...]:
        (f,) = part.functions
        return (f(x @ part.w.T + state[0] @ part.r.T + part.input_bias + part.state_bias),)

    return _run(operands, attrs, 1, 1, ("Tanh",), step)


def gru(operands: Operands, attrs: Attrs) -> object:
    """Y and Y_h; gates in the order z, r, h."""
    linear = attrs.get("linear_before_reset", 0)

    def step(x: Array, state: tuple[Array, ...], part: _Part) -> tuple[Array, ...]:
        (h,), (f, g) = state, part.functions
        xz, xr, xh = np.split(x @ part.w.T + part.input_bias, 3, axis=-1)
        rz, rr, rh = np.split(part.r, 3)
        bz, br, bh = np.split(part.state_bias, 3)
        z, r = f(xz + h @ rz.T + bz), f(xr + h @ rr.T + br)
        new = g(xh + r * (h @ rh.T + bh)) if linear else g(xh + (r * h) @ rh.T + bh)
        return ((1 - z) * new + z * h,)

    return _run(operands, attrs, 3, 1, ("Sigmoid", "Tanh"), step)


def lstm(operands: Operands, attrs: Attrs) -> object:
    """Y, Y_h and Y_c; gates in the order i, o, f, c, peepholes in the order i, o, f."""
    coupled = attrs.get("input_forget", 0)

    def step(x: Array, state: tuple[Array, ...], part: _Part) -> tuple[Array, ...]:
        (h, c), (f, g, last) = state, part.functions
        gates = x @ part.w.T + h @ part.r.T + part.input_bias + part.state_bias
        xi, xo, xf, xc = np.split(gates, 4, axis=-1)
        pi, po, pf = np.split(part.peepholes, 3)
        i = f(xi + pi * c)
        forget = 1 - i if coupled else f(xf + pf * c)
        cell = forget * c + i * g(xc)
        return f(xo + po * cell) * last(cell), cell

    return _run(operands, attrs, 4, 2, ("Sigmoid", "Tanh", "Tanh"), step)


class _Part:
    """Weights, biases and functions of one direction."""

    def __init__(self, operands: Operands, k: int, gates: int, functions: tuple[Function, ...]) -> None:
        self.w, self.r, self.functions = operands[1][k], operands[2][k], functions
        hidden = self.r.shape[-1]
        zeros = np.zeros(2 * gates * hidden, self.w.dtype)
        self.input_bias, self.state_bias = np.split(zeros if operands[3] is None else operands[3][k], 2)
        self.peepholes = np.zeros(3 * hidden, self.w.dtype) if operands[7] is None else operands[7][k]


def _run(
    operands: Operands,
    attrs: Attrs,
    gates: int,
    states: int,
    usual: tuple[str, ...],
    step: Callable[[Array, tuple[Array, ...], _Part], tuple[Array, ...]],
) -> Any:
    """Every step's first state, then the last states. `usual`: the activations of a direction."""
    operands = [*operands, *[None] * (8 - len(operands))]
    x, layout, direction = operands[0], attrs.get("layout", 0), attrs.get("direction", "forward")
    if layout:
        x = np.swapaxes(x, 0, 1)
    ways, (length, batch, _) = operands[1].shape[0], x.shape
    if ways != (2 if direction == "bidirectional" else 1):
        raise ValueError(f"direction {direction} with weights for {ways}")
    lengths = np.full(batch, length) if operands[4] is None else operands[4]
    functions = _functions(attrs, usual, ways)
    everything = np.zeros((length, ways, batch, operands[2].shape[-1]), x.dtype)
    last = []
    for k in range(ways):
        part = _Part(operands, k, gates, tuple(islice(functions, len(usual))))
        state: tuple[Array, ...] = tuple([
            _initial(operands[5 + j], k, layout, (batch, part.r.shape[-1]), x.dtype) for j in range(states)
        ])
        for t in range(length):
            # behind the end of a sequence nothing is computed; a reversed one begins at its own end
            places = np.maximum(lengths - 1 - t, 0) if direction == "reverse" or k else np.full(batch, t)
            alive = (t < lengths)[:, None]
            new = step(x[places, np.arange(batch)], state, part)
            state = tuple([np.where(alive, now, old).astype(x.dtype) for now, old in zip(new, state)])
            here = np.flatnonzero(alive[:, 0])
            everything[places[here], k, here] = state[0][here]
        last.append(state)
    ends = [np.stack([state[j] for state in last], axis=1 if layout else 0) for j in range(states)]
    return (everything.transpose(2, 0, 1, 3) if layout else everything, *ends)


def _initial(operand: Any, k: int, layout: int, shape: tuple[int, int], dtype: Any) -> Any:
    if operand is None:
        return np.zeros(shape, dtype)
    return operand[:, k] if layout else operand[k]


def _functions(attrs: Attrs, usual: tuple[str, ...], ways: int) -> Iterator[Function]:
    """The activations of all directions, in order, three of each where there is a cell. The inputs of gates
    are clipped where the call says so.
    """
    alphas, betas = iter(attrs.get("activation_alpha") or ()), iter(attrs.get("activation_beta") or ())
    clip = attrs.get("clip")
    names = attrs.get("activations") or usual * ways
    if len(names) != len(usual) * ways:
        raise ValueError(f"{len(names)} activations instead of {len(usual) * ways}")
    for k, name in enumerate(names):
        bound = None if k % len(usual) == 2 else clip
        function, defaults = _ACTIVATIONS[name.lower()]
        numbers = [next(values, default) for values, default in zip((alphas, betas), defaults)]

        yield partial(_activation, function, numbers, bound)


def _activation(function: Callable[..., Any], numbers: list[float], bound: float | None, x: Array) -> Any:
    return function(x if bound is None else np.clip(x, -bound, bound), *numbers)
