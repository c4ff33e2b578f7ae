"""Evaluates ONNX operators, one node at a time: the commonest ones with NumPy (`onnx_kernels`), the others
with the `onnx` package's reference implementation.

A node is evaluated in the version of its operator that the model imports where its attributes fit that, else
in the newest.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from gslang.base.arrays import Array
from gslang.base.open_types import Attrs
from gslang.dialect.dtypes import PLAIN, numpy_dtype, numpy_dtype_exists
from gslang.dialect.load import load_dialect
from gslang.dialect.onnx.attributes import attribute_message, captures_of
from gslang.dialect.onnx.contrib import DOMAIN
from gslang.dialect.onnx.infer import fitting_dtype, operand_value
from gslang.dialect.onnx.package_schemas import newest, schema_at
from gslang.dialect.onnx.schemas import opset_of_name, split_name
from gslang.dialect.onnx.versions import OPSETS, history
from gslang.dialect.tensor_type import TensorType, TupleType, Type
from gslang.evaluate.errors import EvaluationError, NoEvaluatorError
from gslang.evaluate.onnx_call_checks import check_call
from gslang.evaluate.onnx_corrections import corrected, is_narrow
from gslang.evaluate.onnx_kernels import kernel_value
from gslang.evaluate.onnx_loops import loop_operators
from gslang.evaluate.onnx_refusals import (
    MOST_ROUNDS_OF_REFERENCE,
    refuse_call,
    refuse_endless,
    refuse_loops,
)
from gslang.graph.graph import PROJ, Graph
from gslang.graph.known_calls import is_opaque

if TYPE_CHECKING:
    from onnx import NodeProto

# that one call may need: the reference makes an evaluator of each, which knows all those before it
_MOST_FUNCTIONS: Final = 200

# of half precision: squares and sums on the way are larger than the result
_IN_FLOAT32: Final = frozenset({
    "Det", "GlobalLpPool", "InstanceNormalization", "LRN", "LpNormalization", "LpPool",
    "MeanVarianceNormalization", "ReduceL2", "ReduceLogSumExp",
})


def _contrib(operator: str) -> Callable[[list[Array | None], Attrs], object] | None:
    """The function of an operator that is not ONNX's own, or None."""
    if "." not in operator and operator != "SimplifiedLayerNormalization":
        return None
    from gslang.evaluate.onnx_contrib import contrib_function

    return contrib_function(operator)


def evaluate_onnx_node(graph: Graph, node: int, operands: list[Array | None]) -> Any:
    """The value of one call: an array, or a tuple for several results. Raises `EvaluationError`."""
    if is_opaque(graph.op[node]):
        raise NoEvaluatorError(graph, node)
    if graph.op[node] in _IN_FLOAT32 and operands[0] is not None and is_narrow(operands[0]):
        wide = [None if x is None else x.astype("float32") if is_narrow(x) else x for x in operands]
        return evaluate_onnx_node(graph, node, wide).astype(operands[0].dtype)
    if graph.op[node] in _WITHOUT_DEFAULTS:
        operands = _WITHOUT_DEFAULTS[graph.op[node]](operands)
    known = _contrib(graph.op[node])
    try:
        if opset_of_name(graph.op[node]) is not None and split_name(graph.op[node])[1] in _ON_A_MATRIX:
            return _on_a_matrix(split_name(graph.op[node])[1], operands[0], graph.attrs[node].get("axis", 1))
        check_call(graph, node, operands)
        if known is not None:
            return known(operands, load_dialect("onnx").operators[graph.op[node]].complete(graph.attrs[node]))
        if split_name(graph.op[node])[0] == DOMAIN:
            raise NoEvaluatorError(graph, node)
        if (own := corrected(graph.op[node], operands, graph.attrs[node])) is not None:
            value = own(operands, graph.attrs[node])
            return value if not isinstance(value, tuple) or _outputs(graph, node, None)[1] else value[0]
        if graph.op[node] == "Shape":
            return _shape(operands[0], **graph.attrs[node])
        value = kernel_value(graph.op[node], operands, graph.attrs[node])
        if value is not None:
            return value
        refuse_call(graph.op[node], graph.attrs[node])
        names, several, evaluator, feeds = _prepared(graph, node, operands)
        with warnings.catch_warnings():  # "Mean of empty slice": NumPy says on stderr what is meant here
            warnings.simplefilter("ignore", RuntimeWarning)
            results = evaluator.run(None, feeds)
        results = [_held(result, type_) for result, type_ in zip(results, _types(graph, node, len(results)))]
    except EvaluationError:
        raise
    except NotImplementedError as error:  # of this evaluator, not of the operator
        raise NoEvaluatorError(graph, node, f" with {error}" if str(error) else "") from error
    # reference implementations raise whatever NumPy does for operands that do not fit
    except Exception as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise EvaluationError(
            f"`{graph.op[node]}` of {graph.label(node)} cannot be computed: {reason}"
        ) from error
    return tuple(results) if several else results[0]


def _dropout_operands(operands: list[Array | None]) -> list[Array | None]:
    """With the ratio that is meant where none is stated."""
    import numpy

    if len(operands) > 2 and operands[1] is None:
        return [operands[0], numpy.array(0.5, "float32"), operands[2]]
    return operands


def _suppression_operands(operands: list[Array | None]) -> list[Array | None]:
    """With limits that are meant where none are stated, as lists of one number."""
    import numpy

    most, overlap, *least = [*operands[2:], None, None][: max(2, len(operands) - 2)]
    return [
        *operands[:2],
        numpy.zeros(1, "int64") if most is None else most.reshape(-1),
        numpy.zeros(1, "float32") if overlap is None else overlap.reshape(-1),
        *[limit if limit is None else limit.reshape(-1) for limit in least],
    ]


# the reference has no defaults for operands of these
_WITHOUT_DEFAULTS: Final = {"Dropout": _dropout_operands, "NonMaxSuppression": _suppression_operands}


def _types(graph: Graph, node: int, count: int) -> list[Type | None]:
    """The types of so many results of a call, as far as they are known."""
    type_ = graph.types[node]
    found: list[Type | None] = [*type_.fields] if isinstance(type_, TupleType) else [type_]
    return (found + [None] * count)[:count]


def _held(result: Any, type_: Type | None) -> Any:
    """A result in the NumPy type that holds its elements. The reference has others for bfloat16 and int4, and
    sums whole numbers in 64 bits.
    """
    dtype, wanted = getattr(result, "dtype", None), type_.dtype if isinstance(type_, TensorType) else None
    if dtype is None or not numpy_dtype_exists(dtype.name):
        return result
    if wanted in PLAIN and wanted.startswith(("int", "uint")) and dtype.kind in "iu" and dtype.name != wanted:
        return result.astype(wanted)  # not to floats: positions of elements may be computed in place of these
    return result if dtype.name in PLAIN else result.astype(numpy_dtype(dtype.name))


def _shape(x: Any, start: int | None = 0, end: int | None = None) -> Any:
    """Dimensions from `start` to `end`, both clamped; the reference takes an end below minus the rank for
    another one.
    """
    import numpy

    rank = numpy.ndim(x)
    first, last = [
        min(max(k + rank if k < 0 else k, 0), rank) for k in (start or 0, rank if end is None else end)
    ]
    return numpy.array(numpy.shape(x)[first:last], "int64")


# before operator set 13, which the reference does not know
_ON_A_MATRIX: Final = ("Softmax", "LogSoftmax", "Hardmax")


def _on_a_matrix(operator: str, x: Any, axis: int) -> Any:
    """Along all axes from `axis` on together."""
    import numpy

    first = axis % x.ndim if x.ndim else 0
    rows = x.reshape(math.prod(x.shape[:first]), -1)
    if operator == "Hardmax":
        result = numpy.zeros_like(rows)
        result[numpy.arange(len(rows)), rows.argmax(axis=1)] = 1
        return result.reshape(x.shape)
    shifted = rows - rows.max(axis=1, keepdims=True)
    total = numpy.exp(shifted).sum(axis=1, keepdims=True)
    return (shifted - numpy.log(total) if operator == "LogSoftmax" else numpy.exp(shifted) / total).reshape(
        x.shape
    )


def _prepared(graph: Graph, node: int, operands: list[Any]) -> tuple[list[str], bool, Any, dict[str, object]]:
    import numpy
    from onnx import NodeProto

    operator = graph.op[node]
    domain, type = split_name(operator)
    attrs = {name: value for name, value in graph.attrs[node].items() if value is not None}
    captures = captures_of(attrs.values())
    formal = operands[: len(operands) - len(captures)] if captures else operands
    now, meant = newest(operator), opset_of_name(operator)
    schema = (
        schema_at(type, meant) if meant is not None
        else schema_at(operator, dict(graph.meta.get(OPSETS, {})).get(domain, 0)) or now
    )
    places = {} if schema is None else {f.name: k for k, f in enumerate(schema.inputs)}
    if (
        schema is not None and meant is None
        and (
            any(n not in schema.attributes and n not in places for n in attrs)
            or len(formal) > schema.max_input
        )
    ):
        schema, places = now, {f.name: k for k, f in enumerate(now.inputs)}
    message = NodeProto(op_type=type, domain=domain)
    feeds = _fed(message, operator, formal)
    _add_attributes(message, attrs, schema, places, operands, feeds)
    for name, value in zip(captures, operands[len(formal) :]):
        feeds[name] = value
    names, several = _outputs(graph, node, schema)
    message.output.extend(names)
    version = meant or (1 if schema is None else schema.since_version)
    feeds = {
        name: value if isinstance(value, (numpy.ndarray, list)) else numpy.asarray(value)
        for name, value in feeds.items()
    }
    refuse_loops([message], feeds, MOST_ROUNDS_OF_REFERENCE)
    functions, imports = _surroundings(graph, message, domain, version)
    stated = tuple(sorted(map(_stated, feeds.items())))
    try:
        evaluator = _evaluator(message.SerializeToString(deterministic=True), stated, functions, imports)
    except NotImplementedError as error:  # there is no implementation of it, or of a call in its bodies
        raise NoEvaluatorError(graph, node) from error
    return names, several, evaluator, feeds


def _fed(message: NodeProto, operator: str, operands: Sequence[Any]) -> dict[str, Any]:
    """Values by the names that the node's inputs get, in element types that the operator is declared for."""
    feeds: dict[str, object] = {}
    for k, value in enumerate(operands):
        message.input.append("" if value is None else f"x{k}")
        if value is not None:
            name = value.dtype.name if hasattr(value, "dtype") else ""
            # others have NumPy's names, which no declaration knows
            dtype = fitting_dtype(operator, k, name) if name in PLAIN else None
            feeds[f"x{k}"] = value if dtype is None or dtype == name else value.astype(dtype)
    return feeds


def _add_attributes(
    message: NodeProto,
    attrs: Attrs,
    schema: Any,  # an `OpSchema` or None: the package's type stubs do not know its parts
    places: Mapping[str, int],
    operands: Sequence[Any],
    feeds: dict[str, object],
) -> None:
    """Add attributes to the node; those that are operands in this version are fed, at their `places`."""
    for name, value in attrs.items():
        if schema is not None and name not in schema.attributes and name in places:
            from onnx import numpy_helper

            k = places[name]
            message.input.extend([""] * (k + 1 - len(message.input)))
            message.input[k] = f"x{k}"
            first = (
                TensorType(None, operands[0].dtype.name) if operands and hasattr(operands[0], "dtype")
                else None
            )
            feeds[f"x{k}"] = numpy_helper.to_array(operand_value(value, first))
        else:
            kind = (
                schema.attributes[name].type.name if schema is not None and name in schema.attributes
                else None
            )
            message.attribute.append(attribute_message(name, value, message.op_type, kind))


def _outputs(graph: Graph, node: int, schema: Any) -> tuple[list[str], bool]:
    """Names for the node's outputs, and whether they are a tuple's fields."""
    type_ = graph.types[node]
    projected = [graph.attrs[user]["index"] + 1 for user in graph.users[node] if graph.op[user] is PROJ]
    several = isinstance(type_, TupleType) or bool(projected)
    count = max([*projected, 1])
    if (
        isinstance(type_, TupleType) and schema is not None
        and any(f.option == f.option.Variadic for f in schema.outputs)
    ):
        count = max(count, len(type_.fields))
    return [f"y{k}" for k in range(count)], several


def _surroundings(
    graph: Graph, message: Any, domain: str, version: int
) -> tuple[tuple[bytes, ...], tuple[tuple[str, int], ...]]:
    """Local functions and operator sets that a node is computed with: the model's, where it has bodies or is
    a call of a function.
    """
    record = graph.meta.get("onnx")  # `formats.onnx.records.ModelRecord`
    functions = [] if record is None else record.functions.called_by([message])
    if len(functions) > _MOST_FUNCTIONS:
        raise EvaluationError(
            f"`{message.op_type}` cannot be computed: it calls more than {_MOST_FUNCTIONS} local functions"
        )
    if functions or any(attribute.HasField("g") for attribute in message.attribute):
        opsets = dict(graph.meta.get(OPSETS, {})) or {"": history().latest}
        opsets.setdefault(domain, version)
        return tuple(f.SerializeToString(deterministic=True) for f in functions), tuple(opsets.items())
    return (), ((domain, version),) if not domain else (("", history().latest), (domain, version))


def _stated(item: tuple[str, Array | list[Array]]) -> tuple[str, int, tuple[int, ...]]:
    """Name, element type and shape of a value; some operators are computed only if these are known.

    (0: no tensor.)
    """
    from onnx.helper import np_dtype_to_tensor_dtype

    name, value = item
    return (
        (name, 0, ()) if isinstance(value, list)
        else (name, int(np_dtype_to_tensor_dtype(value.dtype)), tuple(value.shape))
    )


@lru_cache(maxsize=256)
def _evaluator(
    node: bytes,
    inputs: tuple[tuple[str, int, tuple[int, ...]], ...],
    functions: tuple[bytes, ...],
    imports: tuple[tuple[str, int], ...],
) -> Any:
    import onnx
    from onnx.reference import ReferenceEvaluator

    message = onnx.NodeProto.FromString(node)
    given = [
        onnx.helper.make_tensor_value_info(name, element, shape) if element
        else onnx.ValueInfoProto(name=name)
        for name, element, shape in inputs
    ]
    graph = onnx.helper.make_graph(
        [message], "node", given, [onnx.ValueInfoProto(name=name) for name in message.output]
    )
    model = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid(domain, version) for domain, version in imports]
    )
    model.functions.extend(onnx.FunctionProto.FromString(data) for data in functions)
    refuse_endless(model)
    return ReferenceEvaluator(model, new_ops=list(loop_operators()))
