"""The five rules of `rules.gsl` for the pattern matcher of PyTorch's Inductor, on graphs of `aten` operators.

A pattern is a traced function or an expression of `CallFunction`s. Operands are in the order of the pattern,
so each order and each optional operand is a pattern of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import getitem
from typing import Any

import torch
from torch._inductor.pattern_matcher import (
    CallFunction,
    KeywordArg,
    Match,
    PatternMatcherPass,
    fwd_only,
    register_graph_pattern,
    register_replacement,
)

aten = torch.ops.aten


def _traced(
    pairs: list[tuple[Callable[..., Any], Callable[..., Any]]],
    inputs: list[Any],
    check: Callable[[Match], bool] = lambda match: True,
) -> PatternMatcherPass:
    rules = PatternMatcherPass()
    for source, target in pairs:
        register_replacement(source, target, inputs, fwd_only, rules, extra_check=check)
    return rules


def silu() -> PatternMatcherPass:
    def source(x: Any) -> Any:
        return x / (torch.exp(-x) + 1.0)

    def target(x: Any) -> Any:
        return x * torch.sigmoid(x)

    return _traced([(source, target)], [torch.empty(2, 3)])


def conv_bn() -> PatternMatcherPass:
    """A pattern for convolutions with a bias, and one for those without; attributes are bound by name."""
    rules = PatternMatcherPass()
    names = ("stride", "padding", "dilation", "transposed", "output_padding", "groups")

    def norm(bias: Any) -> Any:
        conv = CallFunction(
            aten.convolution.default, KeywordArg("x"), KeywordArg("w"), bias, *map(KeywordArg, names)
        )
        values = map(KeywordArg, ("scale", "shift", "mean", "variance", "momentum", "epsilon"))
        return CallFunction(
            getitem, CallFunction(aten._native_batch_norm_legit_no_training.default, conv, *values), 0
        )

    def rewrite(
        match: Match,
        x: Any,
        w: Any,
        scale: Any,
        shift: Any,
        mean: Any,
        variance: Any,
        epsilon: float,
        bias: Any = None,
        **rest: Any,
    ) -> None:
        def target(x: Any, w: Any, scale: Any, shift: Any, mean: Any, variance: Any, *bias: Any) -> Any:
            factor = scale / torch.sqrt(variance + epsilon)
            weights = w * factor.reshape(-1, *[1] * (w.ndim - 1))
            return aten.convolution(
                x,
                weights,
                shift + ((bias[0] if bias else 0) - mean) * factor,
                *(rest[name] for name in names),
            )

        match.replace_by_example(
            target, [x, w, scale, shift, mean, variance, *([] if bias is None else [bias])]
        )

    for bias in (None, KeywordArg("bias")):
        register_graph_pattern(norm(bias), pass_dict=rules)(rewrite)
    return rules


def merge_products() -> PatternMatcherPass:
    """For three products: a pattern has a fixed number of outputs.

    The matcher takes one product for several of the pattern, and leaves two of three (PyTorch 2.13).
    """

    def source(x: Any, a: Any, b: Any, c: Any) -> Any:
        return x @ a, x @ b, x @ c

    def target(x: Any, a: Any, b: Any, c: Any) -> Any:
        return torch.split(x @ torch.cat([a, b, c], 1), [a.shape[1], b.shape[1], c.shape[1]], 1)

    return _traced(
        [(source, target)], [torch.empty(5, 4), torch.empty(4, 6), torch.empty(4, 6), torch.empty(4, 6)]
    )


def transposes() -> PatternMatcherPass:
    rules = PatternMatcherPass()
    inner = CallFunction(aten.permute.default, KeywordArg("x"), KeywordArg("p"))

    def inverse(match: Match) -> bool:
        first, second = match.kwargs["p"], match.kwargs["q"]
        return [first[k] for k in second] == list(range(len(first)))

    @register_graph_pattern(
        CallFunction(aten.permute.default, inner, KeywordArg("q")), extra_check=inverse, pass_dict=rules
    )
    def rewrite(match: Match, x: Any, p: Any, q: Any) -> None:
        match.output_node().replace_all_uses_with(x)
        match.erase_nodes()

    return rules


def gemm_bias() -> PatternMatcherPass:
    """Two rules, as `addmm` and `mm` are two operators."""
    rules = PatternMatcherPass()

    def row(match: Match) -> bool:
        k, bias = match.kwargs["k"].meta["val"], match.kwargs.get("bias")
        return (
            k.ndim == 1
            and k.shape[0] == match.output_node().meta["val"].shape[1]
            and (bias is None or bias.meta["val"].shape == k.shape)
        )

    with_bias = CallFunction(aten.addmm.default, KeywordArg("bias"), KeywordArg("a"), KeywordArg("w"))
    without = CallFunction(aten.mm.default, KeywordArg("a"), KeywordArg("w"))
    for product in (with_bias, without):

        @register_graph_pattern(
            CallFunction(aten.add.Tensor, product, KeywordArg("k")), extra_check=row, pass_dict=rules
        )
        def rewrite(match: Match, a: Any, w: Any, k: Any, bias: Any = None) -> None:
            if bias is None:
                match.replace_by_example(lambda a, w, k: torch.addmm(k, a, w), [a, w, k])
            else:
                match.replace_by_example(lambda a, w, k, b: torch.addmm(b + k, a, w), [a, w, k, bias])

    return rules


RULES = {rule.__name__: rule for rule in (silu, conv_bn, merge_products, transposes, gemm_bias)}
