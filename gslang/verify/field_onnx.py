"""ONNX operators over a prime field: floats as `Dual` numbers, integers and truth values as they are.

What only moves elements is asked of the reference implementation, with positions instead of elements; what selects by order is
asked of it with real numbers. Sums, products and what is made of them are computed here. Other element-wise functions are
unknown functions with the true real values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from types import MappingProxyType
from typing import Any

import numpy as np

from gslang.evaluate.onnx import evaluate_onnx_node
from gslang.evaluate.run import EvaluationError
from gslang.graph.graph import CONST, INPUT, PARAM, PROJ, TUPLE, Graph
from gslang.verify import dual
from gslang.verify.dual import Dual, chosen, constant, contracted, larger, number
from gslang.verify.field_attention import ATTENTION, softmax
from gslang.verify.field_cast import cast
from gslang.verify.field_order import rounded
from gslang.verify.residues import NoField

Attrs = Mapping[str, Any]
Meaning = Callable[["_Call"], Any]
EMPTY: Mapping[str, Meaning] = MappingProxyType({})

_MOVEMENT = frozenset({
    "Transpose", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Concat", "Split", "Slice", "Expand", "Tile", "Gather", "GatherElements",
    "GatherND", "DepthToSpace", "SpaceToDepth", "Identity", "ReverseSequence", "Compress", "SplitToSequence",
})  # fmt: skip
_SELECTION = frozenset({"MaxPool", "GlobalMaxPool", "ReduceMax", "ReduceMin", "Max", "Min"})
_INTEGERS = frozenset({"Shape", "Size", "ArgMax", "ArgMin"})
_COMPARISONS = frozenset({"Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal"})


class _Call:
    """One call: its operands by place and its attributes, some of which some versions of an operator have as operands."""

    def __init__(self, graph: Graph, node: int, operands: Sequence[Any], attrs: Attrs, unknown: set[str]) -> None:
        self.graph, self.node, self.operands, self.attrs, self.unknown = graph, node, operands, attrs, unknown

    def dual(self, k: int) -> Dual:
        value = self.operands[k] if k < len(self.operands) else None
        if not isinstance(value, Dual):
            raise NoField(f"operand {k + 1} of `{self.graph.op[self.node]}` is no float tensor")
        return value

    def optional(self, k: int) -> Dual | None:
        return self.dual(k) if k < len(self.operands) and self.operands[k] is not None else None

    def numbers(self, name: str, k: int | None = None) -> tuple[int, ...] | None:
        """Whole numbers: an attribute, or operand k."""
        value = self.attrs.get(name)
        if value is None and k is not None and k < len(self.operands):
            value = self.operands[k]
        if value is None:
            return None
        return tuple(int(v) for v in np.asarray(value).reshape(-1).tolist())

    def real(self, name: str) -> Dual:
        """A float attribute, as a constant."""
        return constant(np.float32(self.attrs[name]))

    def function(self, name: str, real: Callable[..., Any] | None, *arguments: Dual) -> Dual:
        self.unknown.add(name.lower())
        return dual.function(name, real, *arguments)

    def reference(self, operands: Sequence[Any]) -> Any:
        try:
            return evaluate_onnx_node(self.graph, self.node, list(operands))
        except EvaluationError as error:
            raise NoField(str(error)) from error


def evaluate_onnx_in_field(
    graph: Graph, inputs: Mapping[str, Any], unknown: set[str], signature_of: Callable[[str], Any], other: Mapping[str, Meaning] = EMPTY
) -> list[Any]:
    """The outputs as `Dual`s and plain arrays. `other`: meanings in place of the usual ones. Raises `NoField`."""
    values: dict[int, Any] = {}
    for node in graph.reverse_post_order():
        op = graph.op[node]
        if op in (INPUT, PARAM, CONST):
            value = graph.value(node)
            array = None if value is None else np.asarray(value)
            values[node] = inputs[str(graph.names[node])] if array is None else constant(array) if array.dtype.kind == "f" else array
        elif op is TUPLE:
            values[node] = tuple(values[o] for o in graph.operands[node])
        elif op is PROJ:
            base, index = values[graph.operands[node][0]], graph.attrs[node]["index"]
            if not isinstance(base, tuple) and index > 0 or isinstance(base, tuple) and index >= len(base):
                raise NoField(f"result {index + 1} of `{graph.op[graph.operands[node][0]]}`")
            values[node] = base[index] if isinstance(base, tuple) else base
        else:
            signature = signature_of(op)
            if signature is None:
                raise NoField(f"`{op}` is not declared")
            operands = [values[o] if o >= 0 else None for o in graph.operands[node]]
            call = _Call(graph, node, operands, signature.complete(graph.attrs[node]), unknown)
            try:
                values[node] = other[op](call) if op in other else _value(call, op)
            except (ValueError, TypeError, IndexError, KeyError, NotImplementedError, ArithmeticError) as error:
                raise NoField(f"`{op}`: {error}") from error
    return [values[node] for node in graph.outputs]


def _value(call: _Call, op: str) -> Any:
    if op == "SequenceAt" and isinstance(call.operands[0], tuple):
        return call.operands[0][int(call.operands[1])]
    if not any(isinstance(o, Dual) for o in call.operands):
        return _plain(call, op)
    if op in _MOVEMENT:
        return _moved(call)
    if op == "Resize" and call.attrs["mode"] == "nearest" and call.attrs["coordinate_transformation_mode"] != "tf_crop_and_resize":
        return _resized(call)
    if op in _INTEGERS:
        return call.reference([o.real if isinstance(o, Dual) else o for o in call.operands])
    if op in _COMPARISONS:
        return _compared(call, op)
    if op in _SELECTION:
        real = call.reference([o.real if isinstance(o, Dual) else o for o in call.operands])
        if isinstance(real, tuple):
            return dual.selected(real[0], *[o for o in call.operands if isinstance(o, Dual)]), *real[1:]
        return dual.selected(real, *[o for o in call.operands if isinstance(o, Dual)])
    from gslang.verify.field_contrib import CONTRIB  # made of the meanings here

    meaning = MEANINGS.get(op) or CONTRIB.get(op)
    if meaning is not None:
        return meaning(call)
    raise NoField(f"`{op}` has no meaning in a field")


def _plain(call: _Call, op: str) -> Any:
    """Whole numbers and truth values, as the reference implementation has them; new floats are numbers."""
    if op == "Cast" and str(call.attrs.get("to")).startswith(("float", "bfloat")):
        return cast(call)
    result = call.reference(call.operands)
    array = np.asarray(result) if not isinstance(result, tuple) else None
    return constant(array) if array is not None and array.dtype.kind == "f" else result


def _moved(call: _Call) -> Any:
    """Elements carried where the reference implementation carries their positions."""
    duals = [o for o in call.operands if isinstance(o, Dual)]
    starts = np.cumsum([0, *[d.residue.size for d in duals]])
    places, k = [], 0
    for operand in call.operands:
        if isinstance(operand, Dual):
            places.append(np.arange(starts[k], starts[k + 1], dtype=np.int64).reshape(operand.shape))
            k += 1
        else:
            places.append(operand)
    residue = np.concatenate([d.residue.reshape(-1) for d in duals])
    real = np.concatenate([np.asarray(d.real).reshape(-1) for d in duals])
    result = call.reference(places)
    if isinstance(result, (tuple, list)):
        return tuple(Dual(residue[np.asarray(r)], real[np.asarray(r)]) for r in result)
    return Dual(residue[np.asarray(result)], real[np.asarray(result)])


def _resized(call: _Call) -> Dual:
    """The nearest elements: their positions are carried, as floats that are whole."""
    x = call.dual(0)
    rest = [np.asarray(o.real, np.float32) if isinstance(o, Dual) else o for o in call.operands[1:]]
    places = np.asarray(call.reference([np.arange(x.residue.size, dtype=np.float64).reshape(x.shape), *rest]))
    place = places.astype(np.int64)
    if not np.array_equal(place, places):
        raise NoField("a resizing between elements")
    return Dual(x.residue.reshape(-1)[place], np.asarray(x.real).reshape(-1)[place])


def _compared(call: _Call, op: str) -> Any:
    a, b = call.dual(0), call.dual(1)
    more, less = larger(a, b), larger(b, a)
    return {"Less": less, "LessOrEqual": ~more, "Greater": more, "GreaterOrEqual": ~less, "Equal": ~(more | less)}[op]


# ── element-wise ──


def _erf(x: Any) -> Any:
    import math

    return np.vectorize(math.erf, otypes=[np.float64])(x)


# Functions without a law that is used here: name → the true function, if NumPy has it.
_REALS: dict[str, Callable[..., Any] | None] = {
    "Exp": np.exp, "Log": np.log, "Tanh": np.tanh, "Erf": _erf, "Sin": np.sin, "Cos": np.cos, "Tan": np.tan, "Sinh": np.sinh, "Cosh": np.cosh,
    "Asin": np.arcsin, "Acos": np.arccos, "Atan": np.arctan, "Asinh": np.arcsinh, "Acosh": np.arccosh, "Atanh": np.arctanh,
    "Sqrt": np.sqrt,
}  # fmt: skip


def _unknown(name: str) -> Callable[[_Call], Dual]:
    return lambda call: call.function(name, _REALS[name], call.dual(0))


def _exp(call: _Call, x: Dual) -> Dual:
    return call.function("Exp", np.exp, x)


def _root(call: _Call, x: Dual) -> Dual:
    return call.function("Sqrt", np.sqrt, x)


def _sigmoid(call: _Call, x: Dual) -> Dual:
    return number(1) / (number(1) + _exp(call, -x))


def _softplus(call: _Call, x: Dual) -> Dual:
    return call.function("Log", np.log, number(1) + _exp(call, x))


def _hard_sigmoid(x: Dual, alpha: Dual, beta: Dual) -> Dual:
    return dual.maximum(dual.minimum(alpha * x + beta, number(1)), number(0))


def _power(call: _Call) -> Dual:
    x, y = call.dual(0), call.operands[1]
    exponents = np.unique(y.real if isinstance(y, Dual) else np.asarray(y, np.float64))
    if len(exponents) == 1:
        twice = float(exponents[0]) * 2
        if twice == int(twice) and abs(twice) <= 16:
            base = x if int(twice) % 2 == 0 else _root(call, x)
            count = abs(int(twice)) // 2 if int(twice) % 2 == 0 else abs(int(twice))
            result = number(1)
            for _ in range(count):
                result = result * base
            result = result if twice >= 0 else number(1) / result  # x⁰ is 1
            shape = np.broadcast_shapes(x.shape, np.asarray(y.real if isinstance(y, Dual) else y).shape)
            return result.moved(lambda a: np.broadcast_to(a, shape))
    return call.function("Pow", np.power, x, y if isinstance(y, Dual) else constant(np.asarray(y, np.float64)))


def _clip(call: _Call) -> Dual:
    x = call.dual(0)
    for k, name, bound in ((1, "min", dual.maximum), (2, "max", dual.minimum)):
        value = call.optional(k)
        if value is None and call.attrs.get(name) is not None:
            value = call.real(name)
        if value is not None:
            x = bound(x, value)
    return x


def _leaky(x: Dual, slope: Dual) -> Dual:
    return chosen(larger(number(0), x), slope * x, x)


def _fold(combine: Callable[[Dual, Dual], Dual]) -> Callable[[_Call], Dual]:
    def meaning(call: _Call) -> Dual:
        result = call.dual(0)
        for k in range(1, len(call.operands)):
            result = combine(result, call.dual(k))
        return result

    return meaning


def _average(call: _Call) -> Dual:
    return _fold(lambda a, b: a + b)(call) / number(len(call.operands))


def _where(call: _Call) -> Dual:
    return chosen(np.asarray(call.operands[0]), call.dual(1), call.dual(2))


def _cast_like(call: _Call) -> Any:
    types = [getattr(call.graph.types[o], "dtype", None) for o in call.graph.operands[call.node]]
    if types[0] != types[1]:
        raise NoField("a cast to another type")
    return call.operands[0]


# ── reductions and normalisations ──


def _axes(call: _Call, x: Dual) -> tuple[int, ...] | None:
    """Axes of a reduction; () where nothing is to be done."""
    axes = call.numbers("axes", 1)
    if not axes:
        return () if call.attrs.get("noop_with_empty_axes") else None
    return tuple(a % len(x.shape) for a in axes)


def _reduction(inner: Callable[[_Call, Dual], Dual], outer: Callable[[_Call, Dual], Dual], mean: bool = False) -> Callable[[_Call], Dual]:
    def meaning(call: _Call) -> Dual:
        x = call.dual(0)
        axes = _axes(call, x)
        keep = bool(call.attrs.get("keepdims", 1))
        x = inner(call, x)
        if axes == ():
            return outer(call, x)
        return outer(call, x.mean(axes, keep) if mean else x.total(axes, keep))

    return meaning


def _same(call: _Call, x: Dual) -> Dual:
    return x


def _softmax(call: _Call) -> Dual:
    return softmax(call, call.dual(0), int(call.attrs.get("axis", -1)))


def _softmax_shifted(call: _Call) -> Dual:
    """Of the differences to the first element, which is the same."""
    x, axis = call.dual(0), int(call.attrs.get("axis", -1))
    return softmax(call, x - x.moved(lambda v: np.take(v, [0], axis=axis)), axis)


def _log_softmax(call: _Call) -> Dual:
    return call.function("Log", np.log, _softmax(call))


def _along(vector: Dual, rank: int, axis: int = 1) -> Dual:
    shape = [1] * rank
    shape[axis] = -1
    return vector.moved(lambda v: v.reshape(shape))


def _standard(call: _Call, x: Dual, axes: tuple[int, ...]) -> Dual:
    d = x - x.mean(axes, True)
    return d / _root(call, (d * d).mean(axes, True) + call.real("epsilon"))


def _batch_norm(call: _Call) -> Dual:
    if call.attrs.get("training_mode"):
        raise NoField("batch normalisation in training")
    x = call.dual(0)
    scale, shift, mean, variance = (_along(call.dual(k), len(x.shape)) for k in range(1, 5))
    return (x - mean) / _root(call, variance + call.real("epsilon")) * scale + shift


def _layer_norm(call: _Call) -> Dual:
    x = call.dual(0)
    axis = int(call.attrs.get("axis", -1)) % len(x.shape)
    y = _standard(call, x, tuple(range(axis, len(x.shape)))) * call.dual(1)
    shift = call.optional(2)
    return y if shift is None else y + shift


def _rms_norm(call: _Call) -> Dual:
    x = call.dual(0)
    axes = tuple(range(int(call.attrs.get("axis", -1)) % len(x.shape), len(x.shape)))
    return x / _root(call, (x * x).mean(axes, True) + call.real("epsilon")) * call.dual(1)


def _instance_norm(call: _Call) -> Dual:
    x = call.dual(0)
    rank = len(x.shape)
    return _standard(call, x, tuple(range(2, rank))) * _along(call.dual(1), rank) + _along(call.dual(2), rank)


def _group_norm(call: _Call) -> Dual:
    x, groups = call.dual(0), int(call.attrs["num_groups"])
    n, channels, *space = x.shape
    y = x.moved(lambda v: v.reshape(n, groups, channels // groups, *space))
    y = _standard(call, y, tuple(range(2, len(y.shape)))).moved(lambda v: v.reshape(x.shape))
    scale, shift = call.dual(1), call.dual(2)
    if scale.shape == (groups,) and groups != channels:
        raise NoField("group normalisation with factors per group")
    return y * _along(scale, len(x.shape)) + _along(shift, len(x.shape))


# ── linear algebra ──


def _matmul(call: _Call) -> Dual:
    return product(call.dual(0), call.dual(1))


def product(a: Dual, b: Dual) -> Dual:
    """`numpy.matmul`."""
    left, right = len(a.shape) == 1, len(b.shape) == 1
    a = a.moved(lambda v: v[None]) if left else a
    b = b.moved(lambda v: v[:, None]) if right else b
    result = contracted("...ij,...jk->...ik", a, b)
    result = result.moved(lambda v: v[..., 0, :]) if left else result
    return result.moved(lambda v: v[..., 0]) if right else result


def _gemm(call: _Call) -> Dual:
    a, b = call.dual(0), call.dual(1)
    a = a.moved(np.transpose) if call.attrs.get("transA") else a
    b = b.moved(np.transpose) if call.attrs.get("transB") else b
    y = product(a, b) * call.real("alpha")
    c = call.optional(2)
    return y if c is None else y + c * call.real("beta")


def _windows(call: _Call, space: Sequence[int], kernel: Sequence[int]) -> tuple[list[int], list[int], list[int], list[int]]:
    """(strides, dilations, befores, afters) of a sliding window."""
    rank = len(kernel)
    strides = list(call.numbers("strides") or (1,) * rank)
    dilations = list(call.numbers("dilations") or (1,) * rank)
    pads = list(call.numbers("pads") or (0,) * (2 * rank))
    auto = call.attrs.get("auto_pad", "NOTSET")
    if auto == "VALID":
        pads = [0] * (2 * rank)
    elif auto in ("SAME_UPPER", "SAME_LOWER"):
        for k in range(rank):
            wide = max(0, (-(-space[k] // strides[k]) - 1) * strides[k] + dilations[k] * (kernel[k] - 1) + 1 - space[k])
            small, large = wide // 2, wide - wide // 2
            pads[k], pads[rank + k] = (small, large) if auto == "SAME_UPPER" else (large, small)
    return strides, dilations, pads[:rank], pads[rank:]


def _taken(place: tuple[Any, ...], shape: tuple[int, ...] | None = None) -> Callable[[Any], Any]:
    return lambda v: v[place] if shape is None else v[place].reshape(shape)


def _padded(pads: Sequence[tuple[int, int]], fill: int) -> Callable[[Any], Any]:
    return lambda v: np.pad(v, pads, constant_values=fill)


def _conv(call: _Call) -> Dual:
    x, w, bias = call.dual(0), call.dual(1), call.optional(2)
    kernel = w.shape[2:]
    strides, dilations, before, after = _windows(call, x.shape[2:], kernel)
    groups = int(call.attrs.get("group", 1))
    x = x.moved(lambda v: np.pad(v, [(0, 0), (0, 0), *zip(before, after)]))
    sizes = [(d - s * (k - 1) - 1) // t + 1 for d, k, s, t in zip(x.shape[2:], kernel, dilations, strides)]
    n, out, inner = x.shape[0], w.shape[0], w.shape[1]
    total: Dual | None = None
    for offset in np.ndindex(*kernel):
        window = (slice(None), slice(None), *(slice(o * s, o * s + (d - 1) * t + 1, t) for o, s, d, t in zip(offset, dilations, sizes, strides)))
        part = x.moved(_taken(window, (n, groups, inner, -1)))
        weight = w.moved(_taken((..., *offset), (groups, out // groups, inner)))
        y = contracted("ngis,goi->ngos", part, weight)
        total = y if total is None else total + y
    if total is None:
        raise NoField("an empty window")
    result = total.moved(lambda v: v.reshape(n, out, *sizes))
    return result if bias is None else result + _along(bias, len(result.shape))


def _conv_transpose(call: _Call) -> Dual:
    x, w, bias = call.dual(0), call.dual(1), call.optional(2)
    if call.attrs.get("output_shape") or call.attrs.get("auto_pad", "NOTSET") != "NOTSET":
        raise NoField("a transposed convolution with a given shape")
    kernel, groups = w.shape[2:], int(call.attrs.get("group", 1))
    strides, dilations, before, after = _windows(call, x.shape[2:], kernel)
    extra = call.numbers("output_padding") or (0,) * len(kernel)
    n, channels, per_group = x.shape[0], x.shape[1], w.shape[1]
    space = x.shape[2:]
    full = [(d - 1) * t + s * (k - 1) + 1 + e for d, t, s, k, e in zip(space, strides, dilations, kernel, extra)]
    whole = Dual(np.zeros((n, groups * per_group, *full), np.int64), np.zeros((n, groups * per_group, *full)))
    part = x.moved(lambda v: v.reshape(n, groups, channels // groups, -1))
    for offset in np.ndindex(*kernel):
        weight = w.moved(_taken((..., *offset), (groups, channels // groups, per_group)))
        y = contracted("ngis,gio->ngos", part, weight).moved(lambda v: v.reshape(n, groups * per_group, *space))
        window = (slice(None), slice(None), *(slice(o * s, o * s + (d - 1) * t + 1, t) for o, s, d, t in zip(offset, dilations, space, strides)))
        whole.residue[window] = (whole.residue[window] + y.residue) % dual.PRIME
        whole.real[window] += y.real
    kept = (slice(None), slice(None), *(slice(b, d - a) for b, a, d in zip(before, after, full)))
    result = whole.moved(lambda v: v[kept])
    return result if bias is None else result + _along(bias, len(result.shape))


def _average_pool(call: _Call) -> Dual:
    x = call.dual(0)
    kernel = call.numbers("kernel_shape") or ()
    if call.attrs.get("ceil_mode"):
        raise NoField("a pooling that rounds up")
    strides, dilations, before, after = _windows(call, x.shape[2:], kernel)
    pads = [(0, 0), (0, 0), *zip(before, after)]
    ones = Dual(np.ones(x.shape, np.int64), np.ones(x.shape))
    sums = []
    for value, fill in ((x, 0), (ones, int(bool(call.attrs.get("count_include_pad"))))):
        padded = value.moved(_padded(pads, fill))
        sizes = [(d - s * (k - 1) - 1) // t + 1 for d, k, s, t in zip(padded.shape[2:], kernel, dilations, strides)]
        total = number(0)
        for offset in np.ndindex(*kernel):
            window = (slice(None), slice(None), *(slice(o * s, o * s + (d - 1) * t + 1, t) for o, s, d, t in zip(offset, dilations, sizes, strides)))
            total = total + padded.moved(_taken(window))
        sums.append(total)
    return sums[0] / sums[1]


def _pad(call: _Call) -> Dual:
    """Positions are padded with −1 where the mode is constant."""
    x = call.dual(0)
    mode = call.attrs.get("mode", "constant")
    places = np.arange(x.residue.size, dtype=np.int64).reshape(x.shape)
    value = call.optional(2) if mode == "constant" else None
    operands = [places, *call.operands[1:]]
    if mode == "constant":
        operands = [places, call.operands[1], np.asarray(-1, np.int64), *call.operands[3:]]
    result = np.asarray(call.reference(operands))
    fill = value if value is not None else number(0)
    residue = np.append(x.residue.reshape(-1), fill.residue.reshape(-1)[:1])
    real = np.append(np.asarray(x.real).reshape(-1), fill.real.reshape(-1)[:1])
    return Dual(residue[result], real[result])


def _by_attributes(name: str) -> Callable[[_Call], Dual]:
    def meaning(call: _Call) -> Dual:
        return call.function(
            f"{name} {sorted((k, v) for k, v in call.attrs.items() if v is not None)}", None, *[call.dual(k) for k in range(len(call.operands))]
        )

    return meaning


def _levels(call: _Call, array: Any, rank: int) -> Any:
    """Scales or zero points ready to broadcast: one number, or one for each place along `axis`."""
    if np.ndim(array) == 0 or np.size(array) == 1:
        return np.reshape(array, ())
    if np.ndim(array) != 1 or call.attrs.get("block_size"):
        raise NoField("quantisation in blocks")
    shape = [1] * rank
    shape[int(call.attrs.get("axis", 1)) % rank] = -1
    return np.reshape(array, shape)


def _dequantize(call: _Call) -> Dual:
    x, scale = np.asarray(call.operands[0]), call.dual(1)
    zero = call.operands[2] if len(call.operands) > 2 else None
    if x.dtype.kind not in "iu":
        raise NoField("quantised numbers that are not whole")
    levels = x.astype(np.int64) - (0 if zero is None else _levels(call, np.asarray(zero).astype(np.int64), x.ndim))
    return constant(levels.astype(np.float64)) * scale.moved(lambda v: _levels(call, v, x.ndim))


def _quantize(call: _Call) -> Any:
    """Whole numbers; not where a quotient is so close to a half that its rounding may be wrong."""
    x, scale = call.dual(0), call.dual(1)
    quotient = x / scale.moved(lambda v: _levels(call, v, len(x.shape)))
    rounded(quotient, np.round(quotient.real))
    return call.reference([o.real.astype(np.float32) if isinstance(o, Dual) else o for o in call.operands])


def _rounding(function: Callable[[Any], Any]) -> Callable[[_Call], Dual]:
    def meaning(call: _Call) -> Dual:
        x = call.dual(0)
        residue = rounded(x, function(x.real))
        return Dual(residue, np.where(residue == np.round(x.real).astype(np.int64) % dual.PRIME, np.round(x.real), function(x.real)))

    return meaning


_PRODUCT: dict[str, Callable[[Dual, Dual], Dual]] = {
    "Add": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Mul": lambda a, b: a * b,
    "Div": lambda a, b: a / b,
}


def _two(combine: Callable[[Dual, Dual], Dual]) -> Callable[[_Call], Dual]:
    return lambda call: combine(call.dual(0), call.dual(1))


MEANINGS: dict[str, Meaning] = {
    **{name: _two(f) for name, f in _PRODUCT.items()},
    **{name: _unknown(name) for name in _REALS},
    "Sum": _fold(lambda a, b: a + b), "Mean": _average, "Neg": lambda c: -c.dual(0), "Reciprocal": lambda c: number(1) / c.dual(0),
    "Pow": _power, "Sigmoid": lambda c: _sigmoid(c, c.dual(0)), "Softplus": lambda c: _softplus(c, c.dual(0)),
    "Swish": lambda c: c.dual(0) * _sigmoid(c, c.real("alpha") * c.dual(0)),
    "HardSigmoid": lambda c: _hard_sigmoid(c.dual(0), c.real("alpha"), c.real("beta")),
    "HardSwish": lambda c: c.dual(0) * _hard_sigmoid(c.dual(0), constant(np.float32(1 / 6)), number(0.5)),
    "Mish": lambda c: c.dual(0) * c.function("Tanh", np.tanh, _softplus(c, c.dual(0))),
    "Relu": lambda c: dual.maximum(c.dual(0), number(0)), "Abs": lambda c: dual.maximum(c.dual(0), -c.dual(0)), "Clip": _clip,
    "LeakyRelu": lambda c: _leaky(c.dual(0), c.real("alpha")), "PRelu": lambda c: _leaky(c.dual(0), c.dual(1)),
    "Where": _where, "Cast": cast, "CastLike": _cast_like, "Dropout": lambda c: c.dual(0), "Pad": _pad,
    "ReduceSum": _reduction(_same, _same), "ReduceMean": _reduction(_same, _same, mean=True),
    "ReduceSumSquare": _reduction(lambda c, x: x * x, _same), "ReduceL2": _reduction(lambda c, x: x * x, _root),
    "ReduceL1": _reduction(lambda c, x: dual.maximum(x, -x), _same),
    "ReduceLogSum": _reduction(_same, lambda c, x: c.function("Log", np.log, x)),
    "ReduceLogSumExp": _reduction(_exp, lambda c, x: c.function("Log", np.log, x)),
    "GlobalAveragePool": lambda c: c.dual(0).mean(tuple(range(2, len(c.dual(0).shape))), True),
    "Softmax": _softmax, "LogSoftmax": _log_softmax, "BatchNormalization": _batch_norm, "LayerNormalization": _layer_norm,
    "RMSNormalization": _rms_norm, "InstanceNormalization": _instance_norm, "GroupNormalization": _group_norm,
    "MatMul": _matmul, "Gemm": _gemm, "Conv": _conv, "ConvTranspose": _conv_transpose, "AveragePool": _average_pool,
    **{name: _by_attributes(name) for name in ("Gelu", "Elu", "Selu", "Celu", "Softsign", "ThresholdedRelu")},
    **{name: _rounding(f) for name, f in (("Floor", np.floor), ("Ceil", np.ceil), ("Round", np.round))},
    "QuantizeLinear": _quantize, "DequantizeLinear": _dequantize, **ATTENTION,
    "Sign": lambda c: dual.selected(np.sign(c.dual(0).real), number(-1), number(0), number(1)),
}  # fmt: skip

# The same operators by a law: equality under either reading is equality.
LAWS: Mapping[str, Meaning] = {"Softmax": _softmax_shifted, "LogSoftmax": lambda c: c.function("Log", np.log, _softmax_shifted(c))}


def random_point(graph: Graph, rng: Any, positive: bool, unit: int) -> dict[str, Any]:
    """Values of inputs and parameters without values: floats anywhere, whole numbers small, truth values."""
    from gslang.dialect.tensor_type import TensorType

    point: dict[str, Any] = {}
    for node in graph.nodes():
        if graph.op[node] not in (INPUT, PARAM) or node in graph.values:
            continue
        type_ = graph.types[node]
        if not isinstance(type_, TensorType) or type_.dtype is None or type_.shape is None or not all(isinstance(d, int) for d in type_.shape):
            raise NoField(f"an input of type {type_}")
        shape = tuple(d for d in type_.shape if isinstance(d, int))
        if prod(shape) > 1 << 20:
            raise NoField("an input is too large")
        if type_.dtype.startswith(("float", "bfloat")):
            point[str(graph.names[node])] = dual.random_dual(shape, rng, positive, unit)
        elif type_.dtype == "bool":
            point[str(graph.names[node])] = rng.random(shape) < 0.5
        elif type_.dtype.startswith(("int", "uint")):
            point[str(graph.names[node])] = rng.integers(0, 3, shape).astype(type_.dtype)
        else:
            raise NoField(f"an input of type {type_}")
    return point
