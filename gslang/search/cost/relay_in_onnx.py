"""Relay graphs in ONNX operators, so that onnxruntime can run them: what the networks of TASO's and Tensat's
benchmarks need.

Layouts are NCHW and OIHW. Leaves keep their names and values. Raises `NotInOnnx` for what has no counterpart
here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from gslang.base.open_types import Attrs
from gslang.dialect.dialect import Dialect
from gslang.dialect.load import load_dialect
from gslang.dialect.relay.joins import slice_bounds
from gslang.dialect.tensor_type import TensorType, TupleType, is_static
from gslang.graph.builder import Builder
from gslang.graph.graph import CONST, INPUT, PARAM, PROJ, TUPLE, Graph

Value = int | list[int]
"""A node of the ONNX graph, or those of a tuple's fields."""


class NotInOnnx(Exception):
    """An operator, or a form of it, that has no counterpart here. The message names it."""


def relay_in_onnx(graph: Graph, dialect: Dialect) -> Graph:
    """The same network in ONNX operators, float32 throughout."""
    b = Builder(load_dialect("onnx"), graph.name)
    made: dict[int, Value] = {}
    for node in graph.reverse_post_order():
        op, type = graph.op[node], graph.types[node]
        operands = [made[o] for o in graph.operands[node] if o >= 0]
        if op in (INPUT, PARAM, CONST):
            made[node] = _leaf(b, graph, node)
        elif op is TUPLE:
            made[node] = [_one(o) for o in operands]
        elif op is PROJ:
            base = operands[0]
            index = graph.attrs[node]["index"]
            if not isinstance(base, list) or index >= len(base):
                raise NotInOnnx(f"result {index} of `{graph.op[graph.operands[node][0]]}`")
            made[node] = base[index]
        else:
            signature = dialect.get(op)
            attrs = dict(graph.attrs[node]) if signature is None else signature.complete(graph.attrs[node])
            made[node] = call_in_onnx(b, op, operands, attrs, _shape_of(type))
    outputs = [_one(made[node]) for node in graph.outputs]
    return b.finish(
        *[b.call("Identity", o) if b.graph.op[o] in (INPUT, PARAM, CONST) else o for o in outputs]
    )


def _leaf(b: Builder, graph: Graph, node: int) -> int:
    type, name = graph.types[node], graph.names[node] or f"leaf_{node}"
    if not isinstance(type, TensorType):
        raise NotInOnnx(f"`{name}`, which is not a tensor")
    if graph.op[node] is INPUT:
        return b.graph.add_input(name, type)
    value = graph.value(node)
    if value is None:
        return b.graph.add_param(name, type)
    # an initializer that no caller can override, so it may be packed or folded
    return b.graph.add_const(value, type)


def _one(value: Value) -> int:
    if isinstance(value, list):
        raise NotInOnnx("a tuple as a tensor")
    return value


def _shape_of(type: object) -> tuple[int, ...]:
    if isinstance(type, TupleType):
        type = type.fields[0]
    if not isinstance(type, TensorType) or not is_static(type.shape):
        raise NotInOnnx("a call whose shape is not known")
    return type.shape  # type: ignore[return-value]


# ── operators ───────────────────────────────────────────────────────────────────────────────────────────────

Make = Callable[[Builder, Sequence[Value], Attrs, tuple[int, ...]], Value]


def call_in_onnx(
    b: Builder, operator: str, operands: Sequence[Value], attrs: Attrs, shape: tuple[int, ...]
) -> Value:
    """A call of Relay's operator with complete attributes; `shape` is that of its (first) result.

    Raises `NotInOnnx`.
    """
    if operator in _SAME:
        return b.call(_SAME[operator], *[_one(o) for o in operands])
    make = _MADE.get(operator)
    if make is None:
        raise NotInOnnx(f"`{operator}`")
    return make(b, operands, attrs, shape)


def _conv2d(b: Builder, operands: Sequence[Value], attrs: Attrs, shape: tuple[int, ...]) -> Value:
    data, weight = map(_one, operands)
    return b.call("Conv", data, weight, **_convolution(b, weight, attrs))


def _conv2d_relu(b: Builder, operands: Sequence[Value], attrs: Attrs, shape: tuple[int, ...]) -> Value:
    data, weight = map(_one, operands)
    return b.call(
        "com.microsoft.FusedConv", data, weight, activation="Relu", **_convolution(b, weight, attrs)
    )


def _convolution(b: Builder, weight: int, attrs: Attrs) -> dict[str, object]:
    if attrs.get("data_layout", "NCHW") != "NCHW" or attrs.get("kernel_layout", "OIHW") != "OIHW":
        raise NotInOnnx("`nn.conv2d` of another layout than NCHW")
    return {
        "kernel_shape": b.shape(weight)[2:],
        "strides": _pair(attrs.get("strides", 1)),
        "pads": _pads(attrs.get("padding", 0)),
        "dilations": _pair(attrs.get("dilation", 1)),
        "group": attrs.get("groups", 1),
    }


def _pool(operator: str) -> Make:
    def make(b: Builder, operands: Sequence[Value], attrs: Attrs, shape: tuple[int, ...]) -> Value:
        if attrs.get("layout", "NCHW") != "NCHW" or attrs.get("ceil_mode"):
            raise NotInOnnx(f"`{operator}` of another layout, or that rounds up")
        more = {"count_include_pad": int(attrs["count_include_pad"])} if operator == "AveragePool" else {}
        node = b.call(
            operator, _one(operands[0]), kernel_shape=_pair(attrs["pool_size"]),
            strides=_pair(attrs["strides"]), pads=_pads(attrs["padding"]), **more,
        )
        return _first(b, node)

    return make


def _product(b: Builder, operands: Sequence[Value], attrs: Attrs, shape: tuple[int, ...]) -> Value:
    left, right = map(_one, operands)
    swap = {"transpose_a": False, "transpose_b": False, **attrs}
    return b.call(
        "MatMul", _swapped(b, left) if swap["transpose_a"] else left,
        _swapped(b, right) if swap["transpose_b"] else right,
    )


def _dense(b: Builder, operands: Sequence[Value], attrs: Attrs, shape: tuple[int, ...]) -> Value:
    left, right = map(_one, operands)
    return (
        b.call("Gemm", left, right, transB=1) if len(b.shape(left)) == 2
        else b.call("MatMul", left, _swapped(b, right))
    )


def _swapped(b: Builder, node: int) -> int:
    rank = len(b.shape(node))
    return b.call("Transpose", node, perm=(*range(rank - 2), rank - 1, rank - 2))


def _transpose(b: Builder, operands: Sequence[Value], attrs: Attrs, shape: tuple[int, ...]) -> Value:
    rank = len(shape)
    axes = attrs.get("axes") or range(rank - 1, -1, -1)
    return b.call("Transpose", _one(operands[0]), perm=tuple(axis % rank for axis in axes))


def _concatenate(b: Builder, operands: Sequence[Value], attrs: Attrs, shape: tuple[int, ...]) -> Value:
    fields = operands[0] if isinstance(operands[0], list) else [operands[0]]
    return b.call("Concat", *fields, axis=attrs["axis"] % len(shape))


def _split(b: Builder, operands: Sequence[Value], attrs: Attrs, shape: tuple[int, ...]) -> Value:
    data = _one(operands[0])
    axis, at = attrs["axis"] % len(shape), attrs["indices_or_sections"]
    size = b.shape(data)[axis]
    bounds = [size * k // at for k in range(at + 1)] if isinstance(at, int) else [0, *at, size]
    sizes = [after - before for before, after in zip(bounds, bounds[1:])]
    parts = b.call("Split", data, b.const(sizes, "int64"), axis=axis)
    return [b.field(parts, k) for k in range(len(sizes))]


def _reshaped(b: Builder, operands: Sequence[Value], attrs: Attrs, shape: tuple[int, ...]) -> Value:
    return b.call("Reshape", _one(operands[0]), b.const(shape, "int64"))


def _dropout(b: Builder, operands: Sequence[Value], attrs: Attrs, shape: tuple[int, ...]) -> Value:
    return [_one(operands[0])]


def _slice(b: Builder, operands: Sequence[Value], attrs: Attrs, shape: tuple[int, ...]) -> Value:
    data = _one(operands[0])
    given, sizes = attrs["axes"], b.shape(data)
    axes = [axis % len(sizes) for axis in (range(len(attrs["begin"])) if given is None else given)]
    bounds = [slice_bounds(attrs, k, sizes[axis]) for k, axis in enumerate(axes)]
    starts, ends, steps = zip(*bounds)
    # an end of -1, before the first element, would count from the last
    ends = tuple(end if end >= 0 else -sizes[axis] - 1 for end, axis in zip(ends, axes))
    return b.call("Slice", data, *[b.const(part, "int64") for part in (starts, ends, axes, steps)])


def _padded(b: Builder, operands: Sequence[Value], attrs: Attrs, shape: tuple[int, ...]) -> Value:
    before, after = zip(*attrs["pad_width"])
    data, *filling = map(_one, operands)
    # Relay's fill may have any type and one element
    filling = [b.call("Reshape", b.call("CastLike", o, data), b.const((), "int64")) for o in filling]
    widths = b.const((*before, *after), "int64")
    return b.call("Pad", data, widths, *filling, mode=attrs["pad_mode"])


def _batch_norm(b: Builder, operands: Sequence[Value], attrs: Attrs, shape: tuple[int, ...]) -> Value:
    if attrs["axis"] % len(shape) != 1 or not attrs["center"] or not attrs["scale"]:
        raise NotInOnnx("`nn.batch_norm` of another axis than 1, or without scale or shift")
    normal = b.call("BatchNormalization", *[_one(o) for o in operands], epsilon=attrs["epsilon"])
    return [_first(b, normal), _one(operands[3]), _one(operands[4])]


def _softmax(b: Builder, operands: Sequence[Value], attrs: Attrs, shape: tuple[int, ...]) -> Value:
    return b.call("Softmax", _one(operands[0]), axis=attrs["axis"] % len(shape))


def _bias_add(b: Builder, operands: Sequence[Value], attrs: Attrs, shape: tuple[int, ...]) -> Value:
    data, bias = map(_one, operands)
    behind = len(shape) - 1 - attrs["axis"] % len(shape)
    if behind:
        bias = b.call("Reshape", bias, b.const((-1, *(1,) * behind), "int64"))
    return b.call("Add", data, bias)


def _first(b: Builder, node: int) -> int:
    """The first result of a call that may have several."""
    return b.field(node, 0) if isinstance(b.graph.types[node], TupleType) else node


def _pair(value: object) -> tuple[int, ...]:
    values = value if isinstance(value, tuple) else (value,)
    return values * 2 if len(values) == 1 else values


def _pads(value: object) -> tuple[int, ...]:
    """Top, left, bottom, right."""
    values = value if isinstance(value, tuple) else (value,)
    return values * (4 // len(values))


_SAME: Final = {
    "add": "Add",
    "subtract": "Sub",
    "multiply": "Mul",
    "divide": "Div",
    "maximum": "Max",
    "minimum": "Min",
    "nn.relu": "Relu",
    "sigmoid": "Sigmoid",
    "tanh": "Tanh",
    "exp": "Exp",
    "log": "Log",
    "sqrt": "Sqrt",
    "negative": "Neg",
    "abs": "Abs",
    "erf": "Erf",
    "nn.global_avg_pool2d": "GlobalAveragePool",
    "nn.global_max_pool2d": "GlobalMaxPool",
}
_MADE: Final[dict[str, Make]] = {
    "nn.conv2d": _conv2d,
    "taso.conv2d_relu": _conv2d_relu,
    "nn.max_pool2d": _pool("MaxPool"),
    "nn.avg_pool2d": _pool("AveragePool"),
    "nn.matmul": _product,
    "nn.batch_matmul": _product,
    "nn.dense": _dense,
    "transpose": _transpose,
    "concatenate": _concatenate,
    "split": _split,
    "reshape": _reshaped,
    "squeeze": _reshaped,
    "expand_dims": _reshaped,
    "nn.batch_flatten": _reshaped,
    "strided_slice": _slice,
    "nn.pad": _padded,
    "nn.dropout": _dropout,
    "nn.batch_norm": _batch_norm,
    "nn.softmax": _softmax,
    "nn.bias_add": _bias_add,
}
