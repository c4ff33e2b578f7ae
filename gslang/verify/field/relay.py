"""Relay operators over a prime field: two sides that are equal as polynomials agree, others differ almost
surely.

Tensors hold residues modulo `PRIME` (int64). Ring operators are computed exactly, division multiplies by the
inverse. Every other element-wise function is an unknown function: a hash of its name, its attributes and its
argument, the same on both sides. Equality under all of these functions implies equality under the true one; a
difference does not refute (the true function may have a property that the two sides use), so the names of
such functions are collected.

Bound (Schwartz 1980, Zippel 1979): if two sides of total degree d differ, they agree at a random point with a
chance of at most d / PRIME. Hashes are taken for independent uniform residues. Order (`max`, `less`):
`relay_order`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from gslang.base.arrays import Array
from gslang.base.open_types import Attrs
from gslang.dialect.dialect import Dialect
from gslang.dialect.relay.dynamic import STATIC, whole_numbers
from gslang.dialect.relay.reduction import reduced_axes
from gslang.dialect.signature import Signature, TypeInferenceError
from gslang.dialect.tensor_type import TensorType, is_static
from gslang.evaluate.elementwise import along
from gslang.evaluate.errors import EvaluationError
from gslang.evaluate.relay import EVALUATE
from gslang.evaluate.run import evaluate_node
from gslang.graph.graph import CONST, INPUT, PARAM, PROJ, TUPLE, Graph
from gslang.verify.comparison.bounded import MOST_BYTES
from gslang.verify.field.dual import Dual
from gslang.verify.field.relay_order import OF_UNKNOWN, ORDERED, ordered
from gslang.verify.field.residues import PRIME, NoField, inverse, mixed, residue, residues

DEGREE = 1 << 12  # more than any rule's target has; each side is a rational function of a small degree

_BILINEAR = frozenset({
    "nn.conv1d", "nn.conv2d", "nn.conv3d", "nn.dense", "nn.matmul", "nn.batch_matmul", "nn.conv1d_transpose",
    "nn.conv2d_transpose", "nn.conv3d_transpose", "nn.conv2d_backward_weight",
})
# Linear in all operands together: computed on residues as they are, then reduced.
_LINEAR = frozenset(
    {"add", "subtract", "negative", "nn.bias_add", "sum", "collapse_sum_like", "collapse_sum_to", "cumsum"}
)
_MOVEMENT = frozenset({
    "transpose", "reshape", "contrib_reverse_reshape", "reshape_like", "concatenate", "split", "expand_dims",
    "squeeze", "stack", "layout_transform", "broadcast_to", "broadcast_to_like", "zeros_like", "ones_like",
    "full_like", "strided_slice", "reverse", "repeat", "tile", "copy", "nn.batch_flatten",
    "nn.depth_to_space", "nn.space_to_depth", "matrix_set_diag", "annotation.stop_fusion",
    "annotation.checkpoint", "device_copy", "take", "slice_like",
})
_SYMMETRIC = frozenset({"maximum", "minimum"})
_SYMMETRIC_REDUCTIONS = frozenset({"max", "min", "all", "any"})


def evaluate_in_field(
    graph: Graph, dialect: Dialect, point: Mapping[str, object], unknown: set[str], by_order: bool
) -> list[Any]:
    """The residues of the graph's outputs, tuples of them for tuples, at a point: its inputs by name. The
    names of functions that are taken as unknown are added to `unknown`. Raises `NoField`.

    `by_order`: operators that depend on order are computed, else they are unknown functions.
    """
    values: dict[int, Any] = {}
    rough: dict[int, Any] = {}
    for node in graph.reverse_post_order():
        op = graph.op[node]
        if op in (INPUT, PARAM, CONST):
            values[node], rough[node] = _leaf(graph, node, point)
        elif op is TUPLE:
            values[node] = tuple(values[o] for o in graph.operands[node])
            rough[node] = tuple(rough.get(o) for o in graph.operands[node])
        elif op is PROJ:
            values[node] = values[graph.operands[node][0]][graph.attrs[node]["index"]]
            if by_order:
                rough[node] = rough[graph.operands[node][0]][graph.attrs[node]["index"]]
        else:
            signature = dialect.get(op)
            if signature is None:
                raise NoField(f"`{op}` is not declared")
            operands = [values[o] if o >= 0 else None for o in graph.operands[node]]
            attrs = signature.complete(graph.attrs[node])
            try:
                found = None
                if by_order:
                    near = [rough[o] if o >= 0 else None for o in graph.operands[node]]
                    found = ordered(op, operands, near, attrs)
                    unknown |= OF_UNKNOWN.get(op, frozenset())
                    rough[node] = _roughly(graph, dialect, node, near)
                values[node] = (
                    found if found is not None
                    else _call(graph, node, op, signature, operands, attrs, unknown)
                )
            except (
                ValueError, TypeError, IndexError, KeyError, NotImplementedError, ArithmeticError,
                TypeInferenceError,  # an axis that an operand of unknown rank turns out not to have
            ) as error:
                raise NoField(f"`{op}`: {error}") from error
    return [values[node] for node in graph.outputs]


def depends_on_order(graph: Graph) -> bool:
    """True if an operator of the graph compares numbers."""
    return any(op in ORDERED for op in graph.op)


def _real(value: Array) -> Array:
    array = np.asarray(value)
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def _roughly(graph: Graph, dialect: Dialect, node: int, operands: list[Any]) -> Any:
    """The real value of a call, in float64."""
    try:
        value = evaluate_node(graph, dialect, node, operands, MOST_BYTES)
    except EvaluationError as error:
        raise NoField(str(error)) from error
    return tuple(map(_real, value)) if isinstance(value, tuple) else _real(value)


def _leaf(graph: Graph, node: int, point: Mapping[str, object]) -> tuple[Any, Any]:
    """The residues and the real numbers of an input or a constant."""
    if graph.value(node) is None:
        given = point[str(graph.names[node])]
        return (given.residue, given.real) if isinstance(given, Dual) else (given, given)
    array, type_ = np.asarray(graph.value(node)), graph.types[node]
    if isinstance(type_, TensorType) and type_.dtype is not None and type_.dtype.startswith(("int", "uint")):
        # may be a shape or an index; negative ones become residues where they are added
        return array.astype(np.int64, copy=False), _real(array)
    if array.dtype.kind == "b":
        return array, array
    if array.dtype.kind not in "fiu":
        raise NoField("a constant is not a number")
    return residues(array), _real(array)


def _float32(value: Any) -> int:
    return residue(float(np.float32(value)))


def _type_shape(graph: Graph, node: int) -> tuple[int, ...]:
    type_ = graph.types[node]
    if isinstance(type_, TensorType) and is_static(type_.shape):
        return tuple(d for d in type_.shape or () if isinstance(d, int))
    raise NoField("an unknown shape")


def _types(graph: Graph, node: int) -> str:
    """The element types of operands, on which the function of a declared operator may depend."""
    types = [graph.types[o] if o >= 0 else None for o in graph.operands[node]]
    return f" of {[type_.dtype if isinstance(type_, TensorType) else str(type_) for type_ in types]}"


def _plain(op: str, operands: Sequence[Any], attrs: Attrs) -> Any:
    return EVALUATE[op](operands, attrs)


def _call(
    graph: Graph,
    node: int,
    op: str,
    signature: Signature,
    operands: list[Any],
    attrs: Attrs,
    unknown: set[str],
) -> Any:
    traits = signature.traits
    if signature.departs:
        unknown.add(op)
        return _whole(op, operands, _readable(attrs) + _types(graph, node), _type_shape(graph, node))
    if op in STATIC:
        found = STATIC[op].call(operands, attrs, whole_numbers)
        assert found is not None
        return _call(graph, node, STATIC[op].operator, signature, *found, unknown)
    if op in _MOVEMENT:
        return _plain(op, operands, {**attrs, "dtype": "int64"} if "dtype" in attrs else attrs)
    if op == "nn.pad":
        fill = (
            operands[1] if len(operands) > 1 and operands[1] is not None
            else residues(np.float32(attrs.get("pad_value") or 0))
        )
        return _plain(op, [operands[0], fill], attrs)
    if op in _LINEAR:
        plain = {**attrs, "dtype": ""} if op == "cumsum" else attrs
        return _plain(op, operands, plain) % PRIME
    if op == "multiply":
        return (operands[0] % PRIME) * (operands[1] % PRIME) % PRIME
    if op in _BILINEAR:
        return _bilinear(op, operands, {**attrs, "out_dtype": ""})
    special = _SPECIAL.get(op)
    if special is not None:
        return special(operands, attrs, unknown)
    given = _readable(attrs) + ("" if op in EVALUATE else _types(graph, node))
    if op in _SYMMETRIC_REDUCTIONS:
        unknown.add(op)
        total = _plain("sum", [mixed(op, operands[0])], attrs) % PRIME
        return mixed(op + " of", total)
    if "elementwise" in traits:
        unknown.add(op)
        arguments = [o for o in operands if o is not None]
        absent = [k for k, o in enumerate(operands) if o is None]
        if absent:
            given += f" without {absent}"
        if any(isinstance(a, tuple) for a in arguments):
            raise NoField(f"`{op}` has a tuple operand")
        if len(arguments) == 2 and "commutative" in traits:
            a, b = np.broadcast_arrays(*arguments)
            return mixed(f"{op} {given}" if op not in _SYMMETRIC else op, np.minimum(a, b), np.maximum(a, b))
        if op == "nn.prelu":
            arguments[1] = along(arguments[1], arguments[0].ndim, attrs["axis"])
            given = ""
        return mixed(f"{op} {given}", *arguments)
    if op not in EVALUATE:
        unknown.add(op)
        return _whole(op, operands, given, _type_shape(graph, node))
    raise NoField(f"`{op}` cannot be evaluated over a prime field")


def _range(operands: Sequence[Array], attrs: Attrs, unknown: set[str]) -> Any:
    if any(operand.dtype.kind not in "iu" for operand in operands):
        raise NoField("a range of fractional numbers")
    return np.arange(*(operand.item() for operand in operands)) % PRIME


def _whole(op: str, operands: Sequence[Any], given: str, shape: tuple[int, ...]) -> Any:
    """A declared operator of which nothing else is known: a random function of its operands as wholes."""
    state = blake2b(f"{op} {given} {shape}".encode())
    for operand in operands:
        for part in operand if isinstance(operand, tuple) else (operand,):
            state.update(
                b"none" if part is None
                else repr(part.shape).encode() + np.ascontiguousarray(part % PRIME).tobytes()
            )
    seed = int.from_bytes(state.digest()[:16], "little")
    return np.random.default_rng(seed).integers(0, PRIME, shape, dtype=np.int64)


def _readable(attrs: Attrs) -> str:
    return repr(
        [(name, float(np.float32(v)) if isinstance(v, float) else v) for name, v in sorted(attrs.items())]
    )


def _bilinear(op: str, operands: Sequence[Any], attrs: Attrs) -> Any:
    """One operand in halves of 16 bits, so that sums of up to 2¹⁵ products stay below 2⁶³."""
    a, b = operands[0] % PRIME, operands[1] % PRIME
    high = _plain(op, [a, b >> 16], attrs) % PRIME
    low = _plain(op, [a, b & 0xFFFF], attrs) % PRIME
    return (high * 65536 + low) % PRIME


Special = Callable[[Sequence[Array], Attrs, set[str]], object]


def _divide(operands: Sequence[Array], attrs: Attrs, unknown: set[str]) -> object:
    return (operands[0] % PRIME) * inverse(operands[1]) % PRIME


def _root(x: Any, unknown: set[str]) -> Any:
    unknown.add("sqrt")
    return mixed("sqrt []", x)


def _rsqrt(operands: Sequence[Array], attrs: Attrs, unknown: set[str]) -> object:
    return inverse(_root(operands[0], unknown))


def _mean(operands: Sequence[Array], attrs: Attrs, unknown: set[str]) -> object:
    total = _plain("sum", operands, attrs) % PRIME
    count = operands[0].size // max(1, total.size)
    return total * pow(count, PRIME - 2, PRIME) % PRIME


def _exponential(x: object, unknown: set[str]) -> Any:
    unknown.add("exp")
    return mixed("exp []", x)


def _softmax(operands: Sequence[Array], attrs: Attrs, unknown: set[str]) -> object:
    e = _exponential(operands[0], unknown)
    return e * inverse(e.sum(axis=attrs["axis"], keepdims=True) % PRIME) % PRIME


def _scaled(y: Any, operands: Sequence[Any], attrs: Attrs) -> Any:
    axis = attrs["axis"]
    if attrs["scale"]:
        y = y * along(operands[1], y.ndim, axis) % PRIME
    return (y + along(operands[2], y.ndim, axis)) % PRIME if attrs["center"] else y


def _batch_norm(operands: Sequence[Array], attrs: Attrs, unknown: set[str]) -> object:
    x, _, _, mean, variance = operands
    root = _root((variance + _float32(attrs["epsilon"])) % PRIME, unknown)
    y = (
        (x - along(mean, x.ndim, attrs["axis"]))
        % PRIME * along(inverse(root), x.ndim, attrs["axis"])
        % PRIME
    )
    return _scaled(y, operands, attrs), mean, variance


def _standard(x: Any, axes: tuple[int, ...], epsilon: float, unknown: set[str]) -> Any:
    count = int(np.prod([x.shape[a] for a in axes], dtype=np.int64))
    part = pow(count, PRIME - 2, PRIME)
    d = (x - x.sum(axis=axes, keepdims=True) % PRIME * part) % PRIME
    variance = (d * d % PRIME).sum(axis=axes, keepdims=True) % PRIME * part % PRIME
    return d * inverse(_root((variance + _float32(epsilon)) % PRIME, unknown)) % PRIME


def _layer_norm(operands: Sequence[Array], attrs: Attrs, unknown: set[str]) -> object:
    x = operands[0]
    return _scaled(_standard(x, (attrs["axis"] % x.ndim,), attrs["epsilon"], unknown), operands, attrs)


def _instance_norm(operands: Sequence[Array], attrs: Attrs, unknown: set[str]) -> object:
    x = operands[0]
    axes = tuple(k for k in range(1, x.ndim) if k != attrs["axis"] % x.ndim)
    return _scaled(_standard(x, axes, attrs["epsilon"], unknown), operands, attrs)


def _group_norm(operands: Sequence[Array], attrs: Attrs, unknown: set[str]) -> object:
    x, axis, groups = operands[0], attrs["axis"] % operands[0].ndim, attrs["num_groups"]
    y = x.reshape(x.shape[:axis] + (groups, x.shape[axis] // groups) + x.shape[axis + 1 :])
    axes = tuple(k for k in range(1, y.ndim) if k != axis)
    return _scaled(_standard(y, axes, attrs["epsilon"], unknown).reshape(x.shape), operands, attrs)


def _l2_normalize(operands: Sequence[Array], attrs: Attrs, unknown: set[str]) -> object:
    x = operands[0]
    axes = reduced_axes({**attrs, "exclude": False}, x.ndim)
    total = (x * x % PRIME).sum(axis=axes, keepdims=True) % PRIME
    least = np.full_like(total, _float32(attrs["eps"]))
    unknown.add("maximum")
    return (
        x * inverse(_root(mixed("maximum", np.minimum(total, least), np.maximum(total, least)), unknown))
        % PRIME
    )


def _cast(operands: Sequence[Array], attrs: Attrs, unknown: set[str]) -> object:
    unknown.add("cast")
    return mixed(f"cast {attrs.get('dtype')}", operands[0])


_SPECIAL: dict[str, Special] = {
    "zeros": lambda o, a, u: np.zeros(a["shape"], np.int64),
    "ones": lambda o, a, u: np.ones(a["shape"], np.int64),
    "full": lambda o, a, u: np.broadcast_to(o[0], a["shape"]).copy(),
    "arange": _range,
    "divide": _divide,
    "rsqrt": _rsqrt,
    "sqrt": lambda o, a, u: _root(o[0], u),
    "exp": lambda o, a, u: _exponential(o[0], u),
    "mean": _mean,
    "nn.softmax": _softmax,
    "nn.batch_norm": _batch_norm,
    "nn.layer_norm": _layer_norm,
    "nn.instance_norm": _instance_norm,
    "nn.group_norm": _group_norm,
    "nn.l2_normalize": _l2_normalize,
    "cast": _cast,
    "nn.dropout": lambda o, a, u: (o[0], np.ones_like(o[0])),
}
