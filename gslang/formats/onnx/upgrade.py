"""A model in the terms of a newer operator set.

Operators are normalized to the latest opset, so that a node only has to be written again where its version
differs; all others stay the messages that they are. What means something that no version says any more
(`Softmax` of a matrix, `Upsample`) is left to `onnx.version_converter`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gslang.base.diagnostics import InputError
from gslang.dialect.dialect import Dialect
from gslang.dialect.onnx.versions import OPSETS, domain_of, history, imported, version_at
from gslang.formats.onnx.bodies import rewrite_insides
from gslang.formats.onnx.in_rounds import InRounds
from gslang.formats.onnx.model_graph import graph_of
from gslang.formats.onnx.records import KEY, model_record, node_record
from gslang.formats.onnx.types import without_weights
from gslang.formats.onnx.writer import onnx_model
from gslang.graph.graph import Graph
from gslang.graph.known_calls import true_name

if TYPE_CHECKING:
    from onnx import ModelProto


class _NotSayable(Exception):
    """A node, and why the newer operator set has no such one."""


def upgraded(graph: Graph, opset: int, dialect: Dialect) -> Graph:
    """The graph of the model in operator set `opset` of the default domain; `graph` itself if that is its
    own.

    Raises `InputError` for an older one, one that is not known, and a model that cannot be said in it.
    """
    record = model_record(graph)
    path = "" if record is None else record.path
    if graph.dialect != "onnx":
        raise InputError(
            f"a graph of dialect `{graph.dialect}` has no operator set", path=path,
            help="`--opset` is for ONNX models",
        )
    now = imported(graph.meta)
    if opset > history().latest:
        raise InputError(
            f"operator set {opset} is not known: the installed `onnx` package knows up to {history().latest}",
            path=path, help="update `onnx`",
        )
    if now is not None and opset < now:
        help = "models can only be converted upwards: export the model for that operator set"
        raise InputError(
            f"the model imports operator set {now} and cannot be converted down to {opset}", path=path,
            help=help,
        )
    if now == opset:
        return graph
    if record is None:
        changed = graph.copy()
        changed.meta[OPSETS] = {**graph.meta.get(OPSETS, {}), "": opset}
        return changed
    try:
        model = _restated(graph, opset, dialect)
    except (_NotSayable, InputError) as problem:
        model = _converted(record.message, opset, path, str(problem) or "")
    return graph_of(model, path, record.folder, dialect)


def _restated(graph: Graph, opset: int, dialect: Dialect) -> ModelProto:
    """The model with those nodes written anew whose operators have another version."""
    changed = graph.copy()

    def inside(path: str, inner: Graph) -> None:
        rewrite_insides(inner, dialect, inside, f"{path}/")
        _restate(inner, opset)

    rewrite_insides(changed, dialect, inside)
    _restate(changed, opset)
    model = onnx_model(changed)
    for function in model.functions:
        _import(function.opset_import, opset)
    _raise_ir_version(model)
    return model


def _restate(graph: Graph, opset: int) -> None:
    """Take the messages from nodes that are another version's, and import the operator set."""
    record, now = model_record(graph), imported(graph.meta)
    if record is None or now is None or now >= opset:
        return
    for node in list(graph.nodes()):
        known = node_record(graph, node)
        if not graph.is_call(node) or known is None or known.message is None:
            continue
        operator = true_name(graph.op[node])
        if operator.startswith("ai.onnx.v"):
            raise _NotSayable(
                f"`{operator}` of {graph.label(node)} means something else in operator set {opset}"
            )
        if (
            domain_of(operator) or operator not in history().operators
            or version_at(operator, now) is version_at(operator, opset)
        ):
            continue
        if version_at(operator, opset) is None:
            raise _NotSayable(f"`{operator}` of {graph.label(node)} was removed in operator set {opset}")
        if operator != graph.op[node]:
            raise _NotSayable(
                f"`{operator}` of {graph.label(node)} uses features that its operator set does not have"
            )
        # the results said so before 18
        if operator == "Split" and len(graph.operands[node]) == 1 and "num_outputs" not in graph.attrs[node]:
            graph.attrs[node] = {**graph.attrs[node], "num_outputs": len(known.message.output)}
        graph.extras[node] = {name: value for name, value in graph.extras[node].items() if name != KEY}
    graph.meta[KEY] = replace(
        record, message=_with_opset(record.message, opset), opsets={**record.opsets, "": opset}
    )
    graph.meta[OPSETS] = {**graph.meta[OPSETS], "": opset}


def _with_opset(model: ModelProto, opset: int) -> ModelProto:
    """A copy of a model that imports this operator set."""
    copy = type(model)()
    copy.CopyFrom(model)
    _import(copy.opset_import, opset)
    return copy


def _import(imports: Any, opset: int) -> None:
    for entry in imports:
        if entry.domain in ("", "ai.onnx"):
            entry.version = opset
            return
    imports.add(domain="", version=opset)


def _raise_ir_version(model: ModelProto) -> None:
    """Operator sets ask for an IR version at least."""
    from onnx import helper

    model.ir_version = max(
        model.ir_version, helper.find_min_ir_version_for(list(model.opset_import), ignore_unknown=True)
    )


def _converted(model: ModelProto, opset: int, path: str, why: str) -> ModelProto:
    """The model as `onnx.version_converter` brings it to the operator set. Raises `InputError`."""
    from onnx import version_converter

    failed = InputError(
        f"the model cannot be converted to operator set {opset}: {why}", path=path,
        help="export the model again for this operator set",
    )
    if model.functions or any(
        attribute.g.node or attribute.graphs for node in model.graph.node for attribute in node.attribute
    ):
        raise failed  # the converter does not look inside
    try:
        InRounds(without_weights(model)).types()  # as the converter will do
        return version_converter.convert_version(model, opset)
    except Exception as error:  # it raises what its C++ code does
        raise failed from error
