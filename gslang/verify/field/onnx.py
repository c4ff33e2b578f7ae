"""ONNX operators over a prime field: floats as `Dual` numbers, integers and truth values as they are.

The meanings of operators stand in the tables of `onnx_*`; calls without a float operand are left to the
reference implementation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from gslang.graph.graph import CONST, INPUT, PARAM, PROJ, TUPLE, Graph
from gslang.verify.field.call import Call, Meaning
from gslang.verify.field.dual import Dual, constant
from gslang.verify.field.onnx_attention import ATTENTION
from gslang.verify.field.onnx_bodies import BODIES
from gslang.verify.field.onnx_cast import cast
from gslang.verify.field.onnx_contrib import CONTRIB
from gslang.verify.field.onnx_elementwise import ELEMENTWISE
from gslang.verify.field.onnx_movement import MOVEMENT, SEQUENCES
from gslang.verify.field.onnx_normalise import NORMALISE
from gslang.verify.field.onnx_order import ORDER
from gslang.verify.field.onnx_quantise import QUANTISE
from gslang.verify.field.onnx_windows import WINDOWS
from gslang.verify.field.residues import NoField

EMPTY: Mapping[str, Meaning] = MappingProxyType({})
MEANINGS: Mapping[str, Meaning] = MappingProxyType({
    **MOVEMENT, **ELEMENTWISE, **ORDER, **NORMALISE, **WINDOWS, **QUANTISE, **ATTENTION, **CONTRIB,
})  # fmt: skip


def evaluate_onnx_in_field(
    graph: Graph,
    inputs: Mapping[str, object],
    unknown: set[str],
    signature_of: Callable[[str], Any],
    other: Mapping[str, Meaning] = EMPTY,
) -> list[Any]:
    """The outputs as `Dual`s and plain arrays. Raises `NoField`.

    `inputs`: by name, as `points.random_point` makes them. `unknown` gets the names of functions without a
    law. `signature_of`: an operator's signature. `other`: meanings in place of the usual ones.
    """
    values: dict[int, object] = {}
    for node in graph.reverse_post_order():
        op = graph.op[node]
        if op in (INPUT, PARAM, CONST):
            value = graph.value(node)
            array = None if value is None else np.asarray(value)
            values[node] = (
                inputs[str(graph.names[node])] if array is None
                else constant(array) if array.dtype.kind == "f"
                else array
            )
        elif op is TUPLE:
            values[node] = tuple(values[o] for o in graph.operands[node])
        elif op is PROJ:
            base, index = values[graph.operands[node][0]], graph.attrs[node]["index"]
            if not isinstance(base, tuple) and index > 0 or isinstance(base, tuple) and index >= len(base):
                raise NoField(f"output {index + 1} of `{graph.op[graph.operands[node][0]]}`")
            values[node] = base[index] if isinstance(base, tuple) else base
        elif op in BODIES and not signature_of(op).departs:
            values[node] = BODIES[op](
                graph, node, values,
                lambda inner, given: evaluate_onnx_in_field(inner, given, unknown, signature_of, other),
            )
        else:
            signature = signature_of(op)
            if signature is None:
                raise NoField(f"`{op}` is not declared")
            if signature.departs:
                raise NoField(f"`{op}` is redeclared without a `value`")
            operands = [values[o] if o >= 0 else None for o in graph.operands[node]]
            call = Call(graph, node, operands, signature.complete(graph.attrs[node]), unknown)
            try:
                values[node] = other[op](call) if op in other else _value(call, op)
            except (
                ValueError, TypeError, IndexError, KeyError, NotImplementedError, ArithmeticError,
            ) as error:
                raise NoField(f"`{op}`: {error}") from error
    return [values[node] for node in graph.outputs]


def _value(call: Call, op: str) -> Any:
    if op in SEQUENCES and (op == "SequenceConstruct" or isinstance(call.operands[0], tuple)):
        return SEQUENCES[op](call)
    if not any(isinstance(o, Dual) for o in call.operands):
        return _plain(call, op)
    meaning = MEANINGS.get(op)
    if meaning is not None:
        return meaning(call)
    raise NoField(f"`{op}` cannot be evaluated over a prime field")


def _plain(call: Call, op: str) -> Any:
    """Whole numbers and truth values, as the reference implementation has them; new floats are numbers."""
    if op == "Cast" and str(call.attrs.get("to")).startswith(("float", "bfloat")):
        return cast(call)
    result = call.reference(call.operands)
    array = np.asarray(result) if not isinstance(result, tuple) else None
    return constant(array) if array is not None and array.dtype.kind == "f" else result
