"""The five rules of `rules.gsl` for onnxscript's rewriter. Weights are computed in the target, by NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnxscript import ir
from onnxscript.rewriter import pattern


def _value(value: Any) -> Any:
    """The array of a constant or an initializer, or None."""
    return None if value is None or value.const_value is None else value.const_value.numpy()


def _initializer(op: Any, array: Any, name: str) -> Any:
    return op.initializer(ir.tensor(array, name=name))


def silu() -> Any:
    def source(op: Any, x: Any) -> Any:
        return op.Div(x, op.Add(op.Exp(op.Neg(x)), 1.0))

    def target(op: Any, x: Any) -> Any:
        return op.Mul(x, op.Sigmoid(x))

    return pattern.RewriteRuleSet([pattern.RewriteRule(source, target)], commute=True)


def conv_bn() -> Any:
    def source(op: Any, x: Any, w: Any, scale: Any, shift: Any, mean: Any, variance: Any) -> Any:
        convolved = op.Conv(x, w, _allow_other_inputs=True, _outputs=["c"])
        return op.BatchNormalization(convolved, scale, shift, mean, variance, _outputs=["y"])

    def known(_: Any, w: Any, scale: Any, shift: Any, mean: Any, variance: Any, **__: Any) -> bool:
        return all(_value(value) is not None for value in (w, scale, shift, mean, variance))

    def target(
        op: Any, x: Any, w: Any, scale: Any, shift: Any, mean: Any, variance: Any, c: Any, y: Any
    ) -> Any:
        conv, norm = c.producer(), y.producer()
        epsilon = norm.attributes.get_float("epsilon", 1e-5)
        factor = _value(scale) / np.sqrt(_value(variance) + np.float32(epsilon))
        weights = _value(w) * factor.reshape(-1, *[1] * (_value(w).ndim - 1))
        bias = _value(conv.inputs[2]) if len(conv.inputs) > 2 else 0
        bias = _value(shift) + (bias - _value(mean)) * factor
        new = [
            _initializer(op, array.astype(np.float32), f"{y.name}_{k}")
            for k, array in enumerate((weights, bias))
        ]
        return op.Conv(x, *new, **conv.attributes)

    return pattern.RewriteRuleSet([pattern.RewriteRule(source, target, known)])


def merge_products(count: int = 3) -> Any:
    """For one number of products: a pattern has a fixed number of outputs. The rule does not apply: the
    matcher returns the first nodes that fit, the same product three times, and tries no others when `known`
    rejects these (onnxscript 0.7).
    """

    def source(op: Any, x: Any, w0: Any, w1: Any, w2: Any) -> Any:
        return tuple(op.MatMul(x, w, _outputs=[f"o{k}"]) for k, w in enumerate((w0, w1, w2)))

    def known(_: Any, w0: Any, w1: Any, w2: Any, **__: Any) -> bool:
        arrays = [_value(w) for w in (w0, w1, w2)]
        return len({w0, w1, w2}) == count and all(array is not None and array.ndim == 2 for array in arrays)

    def target(op: Any, x: Any, w0: Any, w1: Any, w2: Any, **_: Any) -> Any:
        arrays = [_value(w) for w in (w0, w1, w2)]
        joined = _initializer(op, np.concatenate(arrays, axis=1), f"{w0.name}_joined")
        sizes = _initializer(op, np.array([array.shape[1] for array in arrays]), f"{w0.name}_sizes")
        return op.Split(op.MatMul(x, joined), sizes, axis=-1, _outputs=count)

    return pattern.RewriteRuleSet([pattern.RewriteRule(source, target, known)])


def transposes() -> Any:
    def source(op: Any, x: Any, p: Any, q: Any) -> Any:
        return op.Transpose(op.Transpose(x, perm=p), perm=q)

    def inverse(_: Any, p: Any, q: Any, **__: Any) -> bool:
        first, second = p.as_ints(), q.as_ints()
        return [first[k] for k in second] == list(range(len(first)))

    def target(op: Any, x: Any, **_: Any) -> Any:
        return op.Identity(x)

    return pattern.RewriteRuleSet([pattern.RewriteRule(source, target, inverse)])


def gemm_bias() -> Any:
    """Two rules: an operand that may be absent is not part of the pattern language."""

    def with_bias(op: Any, a: Any, w: Any, b: Any, k: Any) -> Any:
        return op.Add(op.Gemm(a, w, b, _outputs=["g"]), k)

    def without(op: Any, a: Any, w: Any, k: Any) -> Any:
        return op.Add(op.Gemm(a, w, _outputs=["g"]), k)

    def known(_: Any, g: Any, k: Any, b: Any = None, **__: Any) -> bool:
        row = _value(k)
        beta = g.producer().attributes.get_float("beta", 1.0)
        return (
            row is not None and row.ndim == 1 and beta == 1.0
            and (b is None or (_value(b) is not None and _value(b).shape == row.shape))
        )

    def target(op: Any, a: Any, w: Any, k: Any, g: Any, b: Any = None) -> Any:
        bias = _value(k) if b is None else _value(b) + _value(k)
        return op.Gemm(a, w, _initializer(op, bias, f"{k.name}_bias"), **g.producer().attributes)

    return pattern.RewriteRuleSet(
        [pattern.RewriteRule(source, target, known) for source in (with_bias, without)], commute=True
    )


RULES = {rule.__name__: rule for rule in (silu, conv_bn, merge_products, transposes, gemm_bias)}
