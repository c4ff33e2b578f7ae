"""Evaluating a graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gslang.base.arrays import Array
from gslang.base.open_types import Attrs
from gslang.dialect.dialect import Dialect
from gslang.dialect.signature import Signature, TypeInferenceError
from gslang.dialect.tensor_type import TensorType
from gslang.engine.build import BuildError
from gslang.engine.meaning import value_graph
from gslang.engine.values import FAILURES
from gslang.evaluate.elementwise import Evaluator
from gslang.evaluate.errors import EvaluationError, NoEvaluatorError, TooMuchMemoryError
from gslang.evaluate.foreseen import MOST_BYTES, refuse_large, tells_size
from gslang.evaluate.memory import Memory
from gslang.evaluate.value_types import type_of
from gslang.graph.graph import CONST, INPUT, PARAM, PROJ, TUPLE, Graph
from gslang.graph.known_calls import movable_operands, operand_value, unknown_parts

NodeEvaluator = Callable[[int, list[Any]], Any]


def evaluate_node(
    graph: Graph, dialect: Dialect, node: int, operands: list[Array], most: int = MOST_BYTES
) -> Any:
    """The value of one call, tuple or projection. Raises `EvaluationError`, also for one of more than `most`
    bytes."""
    with np.errstate(all="ignore"):
        return node_evaluator(graph, dialect, most)(node, operands)


def node_evaluator(graph: Graph, dialect: Dialect, most: int = MOST_BYTES) -> NodeEvaluator:
    """Computes nodes of a graph from their operands' values; raises `EvaluationError`, also for one of more
    than `most` bytes.

    What an operator with its attributes needs is looked up once. Call it under
    `numpy.errstate(all="ignore")`.
    """
    known_sizes: set[int] = set()
    compute_any = _unlimited(graph, dialect, most)

    def compute(node: int, operands: list[object]) -> object:
        if node not in known_sizes:
            if tells_size(graph, node):
                known_sizes.add(node)
            else:
                refuse_large(graph, dialect, node, operands, most)
        return compute_any(node, operands)

    return compute


def _unlimited(graph: Graph, dialect: Dialect, most: int) -> NodeEvaluator:
    """Computes nodes, however large they are; `most`: bytes of results in what declared operators mean."""
    ops, attributes = graph.op, graph.attrs
    known: dict[
        tuple[str, int, int], tuple[Evaluator, Mapping[str, object], dict[int, object], Mapping[str, object]]
    ] = {}

    def compute(node: int, operands: list[Any]) -> Any:
        op, given = ops[node], attributes[node]
        found = known.get((op, id(given), len(operands)))
        if found is None:
            if op is TUPLE:
                return tuple(operands)
            if op is PROJ:
                return _field_of(graph, node, operands[0])
            signature = dialect.get(op)
            if signature is not None and (unknown := unknown_parts(signature, graph.operands[node], given)):
                raise NoEvaluatorError(graph, node, f" with `{unknown[0]}`")
            stated = (
                {} if signature is None else _stated_as_attributes(signature, graph.operands[node], given)
            )
            if signature is None or signature.meaning is None:
                if signature is not None and signature.departs:
                    raise NoEvaluatorError(graph, node, ", it is redeclared without a `value`")
                if dialect.name == "onnx":
                    from gslang.evaluate.onnx import evaluate_onnx_node

                    return evaluate_onnx_node(graph, node, operands)
            from gslang.evaluate.relay import EVALUATE

            function = None if signature is not None and signature.departs else EVALUATE.get(op)
            if signature is None or function is None and signature.meaning is None:
                raise NoEvaluatorError(graph, node)
            if function is None:
                return _by_meaning(graph, dialect, node, _with(operands, stated), most)
            complete = signature.complete(given)
            # the last keeps the identity its own
            found = known[op, id(given), len(operands)] = (function, complete, stated, given)
        if found[2]:
            operands = _with(operands, found[2])
        try:
            return found[0](operands, found[1])
        except NotImplementedError as error:  # of this evaluator, not of the operator
            raise NoEvaluatorError(graph, node, f" with {error}") from error
        except KeyError as error:
            raise EvaluationError(
                f"`{op}` of {graph.label(node)} cannot be computed: it needs {error}"
            ) from error
        except (
            ValueError, TypeError, IndexError, AttributeError, RuntimeError, ArithmeticError, MemoryError,
            TypeInferenceError,
        ) as error:
            raise EvaluationError(f"`{op}` of {graph.label(node)} cannot be computed: {error}") from error

    return compute


def _stated_as_attributes(
    signature: Signature, operands: tuple[int, ...], attrs: Attrs
) -> dict[int, object]:
    """Place → value of operands that a call has as attributes."""
    places = movable_operands(signature).items()
    return {
        k: attrs[name]
        for name, (k, _) in places
        if attrs.get(name) is not None and not (k < len(operands) and operands[k] >= 0)
    }


def _field_of(graph: Graph, node: int, fields: Sequence[object]) -> object:
    """The result that a projection takes; an operator may compute fewer than it declares."""
    index = graph.attrs[node]["index"]
    if index >= len(fields):
        raise EvaluationError(
            f"{graph.label(node)} takes result {index}, but only {len(fields)} are computed"
        )
    return fields[index]


def _with(operands: list[object], stated: Mapping[int, object]) -> list[Any]:
    """The operands with those that stand as attributes, in the type of the first."""
    complete = operands + [None] * (max(stated, default=-1) + 1 - len(operands))
    dtype = getattr(operands[0], "dtype", None) if operands else None
    for k, value in stated.items():
        complete[k] = operand_value(value, None if dtype is None else dtype.name)
    return complete


def _by_meaning(
    graph: Graph, dialect: Dialect, node: int, operands: Sequence[object], most: int
) -> object:
    """A call of an operator whose declaration says what it computes."""
    op = graph.op[node]
    signature = dialect.operators[op]
    types = [type_of(value) for value in operands]
    try:
        inner = value_graph(signature.meaning, dialect, types, signature.complete(graph.attrs[node]))
    except (BuildError, *FAILURES) as error:
        raise EvaluationError(f"`{op}` of {graph.label(node)} cannot be computed: {error}") from error
    if inner is None:
        raise NoEvaluatorError(graph, node, ", its declaration gives no `value`")
    try:
        return evaluate(inner, dialect, {str(k): value for k, value in enumerate(operands)}, most)[0]
    except TooMuchMemoryError:
        raise
    except NoEvaluatorError as error:
        raise NoEvaluatorError(graph, node, f": in its declaration, {error}") from error
    except EvaluationError as error:
        raise EvaluationError(
            f"`{op}` of {graph.label(node)} cannot be computed: in its declaration, {error}"
        ) from error


def evaluate(
    graph: Graph, dialect: Dialect, inputs: Mapping[str, object], most: int | None = None
) -> list[Any]:
    """The values of the graph's outputs. `inputs`: values of inputs, and of parameters that have none of
    their own. `most`: bytes that values may take, if these are fewer than the user allows.

    Raises `EvaluationError`. Intermediate values are freed when their last user is done.
    """
    order = graph.reverse_post_order()
    waiting = {node: 0 for node in order}
    for node in order:
        for operand in set(graph.operands[node]):
            if operand >= 0:
                waiting[operand] += 1
    for node in graph.outputs:
        waiting[node] += 1
    values: dict[int, object] = {}
    memory = Memory(graph, inputs, most)
    memory.check_types(graph)
    compute = node_evaluator(graph, dialect, memory.most)
    with np.errstate(all="ignore"):
        for node in order:
            op = graph.op[node]
            if op in (INPUT, PARAM, CONST):
                values[node] = leaf_value(graph, node, inputs)
                continue
            operands = [values[o] if o >= 0 else None for o in graph.operands[node]]
            values[node] = compute(node, operands)
            memory.keep(graph, node, values[node])
            for operand in set(graph.operands[node]):
                if operand >= 0:
                    waiting[operand] -= 1
                    if not waiting[operand]:
                        memory.drop(graph, operand, values.pop(operand))
    return [values[node] for node in graph.outputs]


def leaf_value(graph: Graph, node: int, inputs: Mapping[str, object]) -> Any:
    """The value of an input, parameter or constant. Raises `EvaluationError`."""
    name = graph.names[node]
    value = graph.value(node)
    if value is None and name is not None and name in inputs:
        given = inputs[name]
        value = given if isinstance(given, tuple) else np.asarray(given)
    if value is None:
        raise EvaluationError(f"{graph.kind(node)} `{graph.label(node)}` has no value")
    type_ = graph.types[node]
    if isinstance(type_, TensorType) and type_.shape is not None:
        shape = tuple(value.shape)
        if len(shape) != len(type_.shape) or any(
            isinstance(d, int) and d != s for d, s in zip(type_.shape, shape)
        ):
            raise EvaluationError(f"`{graph.label(node)}` has shape {list(shape)}, the graph says {type_}")
    return value
