"""Rules of `rules.gsl` for TVM Relax: functions from a module to a module. Relax has no Gemm, so `gemm_bias`
has no counterpart.

Graph patterns bind variables only, so the weights of `merge_products` have to be parameters.
"""

from __future__ import annotations

from typing import Any

from tvm import relax
from tvm.relax import dpl
from tvm.relax.transform import FoldBatchnormToConv2D


def _with_calls(module: Any, pattern: Any, rewrite: Any) -> Any:
    module["main"] = dpl.rewrite_call(pattern, rewrite, module["main"])
    return module


def silu(module: Any) -> Any:
    """Either order of the sum is written out: `add` does not commute in a pattern."""
    x, one = dpl.wildcard(), dpl.is_const()
    power = dpl.is_op("relax.exp")(dpl.is_op("relax.negative")(x))
    add = dpl.is_op("relax.add")
    pattern = dpl.is_op("relax.divide")(x, add(power, one) | add(one, power))

    def rewrite(call: Any, matched: Any) -> Any:
        if (matched[one].value.numpy() != 1).any():
            return call
        return relax.op.multiply(matched[x], relax.op.sigmoid(matched[x]))

    return _with_calls(module, pattern, rewrite)


def conv_bn(module: Any) -> Any:
    """A pass that TVM ships, written in C++ style with the same pattern language.

    It leaves symbolic weights.
    """
    return FoldBatchnormToConv2D()(module)


def merge_products(module: Any, count: int = 3) -> Any:
    """For one number of products: a pattern has a fixed number of outputs."""
    with dpl.PatternContext() as context:
        x, weights = dpl.wildcard(), [dpl.wildcard() for _ in range(count)]
        outputs = [dpl.is_op("relax.matmul")(x, w) for w in weights]

        def rewrite(matched: Any, _: Any) -> Any:
            sizes = [int(matched[w].ty.shape[1]) for w in weights]
            both = relax.op.matmul(matched[x], relax.op.concat([matched[w] for w in weights], axis=1))
            ends = [sum(sizes[: k + 1]) for k in range(count)]
            parts = [
                relax.op.strided_slice(both, axes=[1], begin=[end - size], end=[end])
                for size, end in zip(sizes, ends, strict=True)
            ]
            return dict(zip([matched[output] for output in outputs], parts, strict=True))

        module["main"] = dpl.rewrite_bindings(context, rewrite, module["main"])
    return module


def transposes(module: Any) -> Any:
    x = dpl.wildcard()
    inner = dpl.is_op("relax.permute_dims")(x)

    def rewrite(call: Any, matched: Any) -> Any:
        first, second = ([int(axis) for axis in node.attrs.axes] for node in (matched[inner], call))
        return matched[x] if [first[axis] for axis in second] == list(range(len(first))) else call

    return _with_calls(module, dpl.is_op("relax.permute_dims")(inner), rewrite)


RULES = {rule.__name__: rule for rule in (silu, conv_bn, merge_products, transposes)}
