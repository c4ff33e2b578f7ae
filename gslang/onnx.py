"""ONNX in one call: `gslang.onnx.optimize(model)`."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

from gslang.api import Model, RuleSet, graph_of, load, to_onnx
from gslang.base.diagnostics import InputError

if TYPE_CHECKING:
    from onnx import ModelProto


def optimize(
    model: Model,
    rules: str | PathLike[str] | RuleSet = "std.onnx", *,
    output: str | PathLike[str] | None = None,
    opset: int | None = None,
    **options: Any,
) -> ModelProto:
    """The model rewritten by rules until nothing changes, by default by the pass `inference` of the shipped
    ones.

    `model`: a `ModelProto`, the name of a model file, or a `Graph`; it is not changed. `rules`: a shipped
    module (`std.onnx`, or `std.onnxruntime` for operators that only onnxruntime has), a `.gsl` file, or a
    `RuleSet`. `output`: also write the result there, with external data beside it. `opset`: bring the model
    to this operator set first. `options`: fields of `Options` such as `skip=[names]`; without `pass_name` the
    pass `inference` runs if the rules have one.

    Raises `InputError` for a model that cannot be read or written, `RuleError` for rules with errors,
    `RuntimeError` for rules that form an infinite loop or whose targets do not fit.
    """
    chosen = rules if isinstance(rules, RuleSet) else load(str(rules))
    graph = graph_of(model, chosen.dialect)
    if graph.dialect != "onnx":
        raise InputError(
            f"expected an ONNX model, got a graph of dialect `{graph.dialect}`",
            path="" if not isinstance(model, str) else model,
        )
    if opset is not None:
        from gslang.formats.onnx.upgrade import upgraded

        graph = upgraded(graph, opset, chosen.dialect)
    if "inference" in chosen.passes and not {"pass_name", "options"} & options.keys():
        options["pass_name"] = "inference"
    result = chosen.apply(graph, **options)
    if result.problem:
        raise RuntimeError(result.problem)
    if result.failures:
        failure = result.failures[0]
        raise RuntimeError(f"rule `{failure.rule}` was not applied at {failure.node}: {failure.message}")
    if output is not None:
        to_onnx(result.graph, str(output))
    made: ModelProto = to_onnx(result.graph)
    return made
