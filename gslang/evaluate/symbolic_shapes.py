"""Shapes of ONNX calls where some dimensions are symbols, and which dimensions an operator demands to be
equal.

Shapes follow from those of the operands and, for `Reshape`, `Expand`, `Slice`, `Range` and their like, from
what is known of the integers in them (`partial_values`). Operators that are not here are left to the `onnx`
package's inference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Final

from gslang.base.open_types import Attrs
from gslang.base.quick_dataclass import dataclass
from gslang.dialect.tensor_type import UNKNOWN, Dimension, Shape, Symbol, UnknownValue
from gslang.evaluate import dimensions as dim
from gslang.evaluate.partial_values import Partial
from gslang.evaluate.window_shapes import slid, spread

_FAR: Final = 1 << 31  # ends of slices as far as this mean the end


@dataclass(slots=True)
class Call:
    """A call as shape functions see it: attributes are complete; a shape or value is None where nothing is
    known.
    """

    attrs: Attrs
    shapes: Sequence[Shape | None]
    values: Sequence[Partial | None]
    equal: list[tuple[Dimension, Dimension]] = field(default_factory=list)
    """Dimensions that the operator demands to be equal."""

    def shape(self, k: int) -> Shape:
        found = self.shapes[k] if k < len(self.shapes) else None
        if found is None:
            raise UnknownValue(f"operand {k} has no known shape")
        return found

    def value(self, k: int) -> Partial:
        found = self.values[k] if k < len(self.values) else None
        if found is None:
            raise UnknownValue(f"operand {k} has no known value")
        return found

    def numbers(self, k: int, name: str = "") -> tuple[int, ...]:
        """The integers of an operand, or of the attribute that old versions have in its place.

        Raises `UnknownValue`.
        """
        if name and self.attrs.get(name) is not None:
            return tuple(self.attrs[name])
        found = self.value(k)
        if not all([type(d) is int for d in found]):
            raise UnknownValue("not all numbers are known")
        return found  # type: ignore[return-value]

    def is_given(self, k: int) -> bool:
        return k < len(self.shapes) and (self.shapes[k] is not None or self.values[k] is not None)


Rule = Callable[[Call], Sequence[Shape | None]]


def symbolic_shapes(operator: str, call: Call) -> Sequence[Shape | None]:
    """The shapes of a call's results; () where nothing is known. Fills `call.equal`."""
    rule = _RULES.get(operator)
    if rule is None:
        return ()
    try:
        return rule(call)
    except (UnknownValue, IndexError, ValueError, TypeError, KeyError, ArithmeticError):
        return ()


def broadcast(*shapes: Shape) -> Shape:
    """The shape of operands that are spread over each other."""
    rank = max(map(len, shapes), default=0)
    result: Shape = ()
    for k in range(rank):
        dims = [shape[k - rank + len(shape)] for shape in shapes if k - rank + len(shape) >= 0]
        found = dims[0]
        for d in dims[1:]:
            found = _spread(found, d)
        result += (found,)
    return result


def _spread(a: Dimension, b: Dimension) -> Dimension:
    """Of two dimensions that must be equal if neither is 1, the result's."""
    if a is b or (a is not UNKNOWN and b is not UNKNOWN and type(a) is type(b) and a == b):
        return a
    for one, other in ((a, b), (b, a)):
        if type(one) is int:
            return other if one == 1 else one
    return a if _is_cut_of(b, a) else b if _is_cut_of(a, b) else UNKNOWN


def _is_cut_of(part: Dimension, whole: Dimension) -> bool:
    """True if `part` is `Min(c, whole)` with c > 1: where both are spread over each other, they are equal."""
    if not isinstance(part, Symbol) or not isinstance(whole, Symbol):
        return False
    bound = dim.cut_at(part, whole)
    return bound is not None and bound > 1


def _same(call: Call) -> Sequence[Shape | None]:
    return (call.shape(0),)


def _elementwise(call: Call) -> Sequence[Shape | None]:
    shapes = [call.shape(k) for k in range(len(call.shapes))]
    result = broadcast(*shapes)
    for shape in shapes:
        call.equal += [(d, whole) for d, whole in zip(shape[::-1], result[::-1]) if _is_cut_of(d, whole)]
    return (result,)


def _matmul(call: Call) -> Sequence[Shape | None]:
    return (_product(call, call.shape(0), call.shape(1)),)


def _product(call: Call, a: Shape, b: Shape) -> Shape:
    if not a or not b:
        raise ValueError("scalars")
    left, right = a if len(a) > 1 else (1, *a), b if len(b) > 1 else (*b, 1)
    call.equal.append((left[-1], right[-2]))
    result = (*broadcast(left[:-2], right[:-2]), left[-2], right[-1])
    if len(a) == 1:
        result = (*result[:-2], result[-1])
    return result[:-1] if len(b) == 1 else result


def _conv(call: Call) -> Sequence[Shape | None]:
    """The weights tell rank and channels, even where nothing is known of the data (the result of an `If`)."""
    weights = call.shape(1)
    data = call.shapes[0] or (UNKNOWN,) * len(weights)
    return ((data[0], weights[0], *slid(call.attrs, data[2:], weights[2:])),)


def _conv_transpose(call: Call) -> Sequence[Shape | None]:
    data, weights, groups = call.shape(0), call.shape(1), call.attrs.get("group", 1)
    return ((data[0], dim.times(weights[1], groups), *spread(call.attrs, data[2:], weights[2:])),)


def _pool(call: Call) -> Sequence[Shape | None]:
    data = call.shape(0)
    return ((*data[:2], *slid(call.attrs, data[2:], call.attrs["kernel_shape"])),)


def _global_pool(call: Call) -> Sequence[Shape | None]:
    data = call.shape(0)
    return ((*data[:2], *[1] * (len(data) - 2)),)


def _recurrent(call: Call) -> Sequence[Shape | None]:
    """The same: the weights tell directions and the hidden size."""
    if call.shapes[0] is not None or call.attrs.get("layout"):
        return ()
    weights = call.shape(2)
    state: Shape = (weights[0], UNKNOWN, weights[2])
    return ((UNKNOWN, *state), state, state)


def _fused_matmul(call: Call) -> Sequence[Shape | None]:
    if call.attrs.get("transBatchA") or call.attrs.get("transBatchB"):
        return ()
    a, b = call.shape(0), call.shape(1)
    a = (*a[:-2], a[-1], a[-2]) if call.attrs.get("transA") and len(a) > 1 else a
    b = (*b[:-2], b[-1], b[-2]) if call.attrs.get("transB") and len(b) > 1 else b
    return (_product(call, a, b),)


def _gemm(call: Call) -> Sequence[Shape | None]:
    a, b = call.shape(0), call.shape(1)
    a = a[::-1] if call.attrs.get("transA") else a
    b = b[::-1] if call.attrs.get("transB") else b
    call.equal.append((a[1], b[0]))
    return ((a[0], b[1]),)


def _transpose(call: Call) -> Sequence[Shape | None]:
    shape = call.shape(0)
    order = call.attrs.get("perm")
    return (shape[::-1] if order is None else tuple([shape[k] for k in order]),)


def _reshape(call: Call) -> Sequence[Shape | None]:
    shape = call.shapes[0]
    target = call.value(1)
    result: list[Dimension] = []
    for k, d in enumerate(target):
        if type(d) is int and d == 0 and not call.attrs.get("allowzero"):
            d = shape[k] if shape is not None and k < len(shape) else UNKNOWN
        result.append(UNKNOWN if type(d) is int and d < 0 else d)
    if shape is None:
        return (tuple(result),)
    if target.count(-1) == 1:
        place = target.index(-1)
        others = dim.sizes(tuple([d for k, d in enumerate(result) if k != place]))
        if others != 0:
            result[place] = dim.over(dim.sizes(shape), others)
    elif result.count(UNKNOWN) == 0:
        call.equal.append((dim.sizes(tuple(result)), dim.sizes(shape)))
    if any([d is UNKNOWN for d in result]):
        _open_dimension(result, shape)
    return (tuple(result),)


def _open_dimension(result: list[Dimension], shape: Shape) -> None:
    """One dimension that is not known is what the others leave of the elements (if there are any)."""
    places = [k for k, d in enumerate(result) if d is UNKNOWN]
    if len(places) == 1:
        others = dim.sizes(tuple([d for d in result if d is not UNKNOWN]))
        if others is not UNKNOWN and others != 0 and dim.remainder(dim.sizes(shape), others) == 0:
            result[places[0]] = dim.over(dim.sizes(shape), others)


def _flatten(call: Call) -> Sequence[Shape | None]:
    shape = call.shape(0)
    axis = call.attrs.get("axis", 1)
    axis += len(shape) if axis < 0 else 0
    return ((dim.sizes(shape[:axis]), dim.sizes(shape[axis:])),)


def _expand(call: Call) -> Sequence[Shape | None]:
    return (broadcast(call.shape(0), _dimensions(call.value(1))),)


def _dimensions(part: Partial) -> Shape:
    return tuple([UNKNOWN if type(d) is bool else d for d in part])


def _constant_of_shape(call: Call) -> Sequence[Shape | None]:
    return (_dimensions(call.value(0)),)


def _slice(call: Call) -> Sequence[Shape | None]:
    shape = list(call.shape(0))
    starts, ends = call.value(1), call.value(2)
    axes = call.numbers(3) if call.is_given(3) else tuple(range(len(starts)))
    steps = call.numbers(4) if call.is_given(4) else (1,) * len(starts)
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        shape[axis] = _cut(shape[axis], start, end, step)
    return (tuple(shape),)


def _cut(size: Dimension, start: object, end: object, step: int) -> Dimension:
    if step < 1:
        if (
            step == -1 and (start == -1 or (type(start) is int and start >= _FAR)) and type(end) is int
            and end <= -_FAR
        ):
            return size  # turned round
        return UNKNOWN
    first, last = (_bound(size, at) for at in (start, end))
    length = dim.minus(last, first)
    if length is UNKNOWN:
        return UNKNOWN
    if not dim.is_at_least(length, 0):
        length = dim.most(0, length)
    return length if step == 1 else dim.over(dim.plus(length, step - 1), step)


def _bound(size: Dimension, at: Any) -> Dimension:
    """Where a slice begins or ends: counted from the end if negative, and within the axis."""
    if at is UNKNOWN or type(at) is bool:
        return UNKNOWN
    if type(at) is int and at >= _FAR:
        return size
    if type(at) is int and at <= -_FAR:
        return 0
    below = dim.is_at_least(at, 0)
    if below is None:
        return UNKNOWN
    if not below:
        at = dim.plus(at, size)
        return at if dim.is_at_least(at, 0) else dim.most(0, at)
    return dim.least(at, size)


def _concat(call: Call) -> Sequence[Shape | None]:
    shapes = [call.shape(k) for k in range(len(call.shapes))]
    axis = call.attrs["axis"]
    result = list(shapes[0])
    axis += len(result) if axis < 0 else 0
    for other in shapes[1:]:
        for k, d in enumerate(other):
            if k == axis:
                result[k] = dim.plus(result[k], d)
            else:
                call.equal.append((result[k], d))
                result[k] = d if result[k] is UNKNOWN or type(d) is int else result[k]
    return (tuple(result),)


def _gather(call: Call) -> Sequence[Shape | None]:
    shape, indices = call.shape(0), call.shape(1)
    axis = call.attrs.get("axis", 0)
    axis += len(shape) if axis < 0 else 0
    return ((*shape[:axis], *indices, *shape[axis + 1 :]),)


def _gather_elements(call: Call) -> Sequence[Shape | None]:
    return (call.shape(1),)


def _gather_nd(call: Call) -> Sequence[Shape | None]:
    shape, indices, batches = call.shape(0), call.shape(1), call.attrs.get("batch_dims", 0)
    length = indices[-1]
    return ((*indices[:-1], *shape[batches + length :]),) if type(length) is int else ()


def _unsqueeze(call: Call) -> Sequence[Shape | None]:
    shape, axes = call.shape(0), call.numbers(1, "axes")
    rank = len(shape) + len(axes)
    places, rest = {axis % rank for axis in axes}, iter(shape)
    if len(places) < len(axes):
        raise ValueError("an axis is repeated")
    return (tuple([1 if k in places else next(rest) for k in range(rank)]),)


def _squeeze(call: Call) -> Sequence[Shape | None]:
    shape = call.shape(0)
    axes = {axis % len(shape) for axis in call.numbers(1, "axes")}
    return (tuple([d for k, d in enumerate(shape) if k not in axes]),)


def _reduced(call: Call) -> Sequence[Shape | None]:
    shape, keeps = call.shape(0), call.attrs.get("keepdims", 1)
    if call.is_given(1) or call.attrs.get("axes") is not None:
        axes = {axis % len(shape) for axis in call.numbers(1, "axes")}
    elif len(call.shapes) > 1:
        return ()
    else:
        axes = set()
    if not axes:
        axes = set() if call.attrs.get("noop_with_empty_axes") else set(range(len(shape)))
    return (tuple([1 if k in axes else d for k, d in enumerate(shape) if keeps or k not in axes]),)


def _arg(call: Call) -> Sequence[Shape | None]:
    shape, keeps = call.shape(0), call.attrs.get("keepdims", 1)
    axis = call.attrs.get("axis", 0) % len(shape)
    return (tuple([1 if k == axis else d for k, d in enumerate(shape) if keeps or k != axis]),)


def _range(call: Call) -> Sequence[Shape | None]:
    (start,), (limit,), (step,) = (call.value(k) for k in range(3))
    if type(step) is not int or step < 1 or type(start) is bool or type(limit) is bool:
        return ()
    length = dim.minus(limit, start)
    if length is not UNKNOWN and not dim.is_at_least(length, 0):
        length = dim.most(0, length)
    return ((length if step == 1 else dim.over(dim.plus(length, step - 1), step),),)


def _split(call: Call) -> Sequence[Shape | None]:
    shape, axis = call.shape(0), call.attrs.get("axis", 0)
    lengths: tuple[Any, ...]
    if call.is_given(1) or call.attrs.get("split") is not None:
        lengths = (
            tuple(call.attrs["split"]) if call.attrs.get("split") is not None else _dimensions(call.value(1))
        )
    else:
        count, whole = call.attrs["num_outputs"], shape[axis]
        if type(whole) is not int or whole % count:
            return ()
        lengths = (whole // count,) * count
    axis %= len(shape)
    return [(*shape[:axis], length, *shape[axis + 1 :]) for length in lengths]


def _tile(call: Call) -> Sequence[Shape | None]:
    return (tuple([dim.times(d, n) for d, n in zip(call.shape(0), _dimensions(call.value(1)), strict=True)]),)


def _normalized(call: Call) -> Sequence[Shape | None]:
    """Statistics, the further results, are seldom read."""
    return (call.shape(0),)


_SAME_SHAPE: Final = (
    "Softmax LogSoftmax Hardmax CumSum Trilu BatchNormalization LayerNormalization RMSNormalization "
    "InstanceNormalization GroupNormalization "
    "Dropout SimplifiedLayerNormalization LpNormalization QuantizeLinear DequantizeLinear RotaryEmbedding "
    "ScatterND ScatterElements "
    "com.microsoft.Gelu com.microsoft.QuickGelu com.microsoft.FastGelu com.microsoft.BiasGelu "
    "com.microsoft.RotaryEmbedding "
    "com.microsoft.SkipLayerNormalization com.microsoft.SkipSimplifiedLayerNormalization"
).split()

_RULES: Final[Mapping[str, Rule]] = {
    **dict.fromkeys(_SAME_SHAPE, _normalized),
    **dict.fromkeys(
        (
            "ReduceMean ReduceSum ReduceMax ReduceMin ReduceProd ReduceL2 ReduceSumSquare ReduceL1 "
            "ReduceLogSumExp"
        ).split(),
        _reduced,
    ),
    **dict.fromkeys("ArgMax ArgMin".split(), _arg),
    **dict.fromkeys(
        "Abs Acos Asin Atan BitwiseNot Cast Ceil Celu Clip Cos Elu Erf Exp Floor Gelu HardSigmoid HardSwish "
        "Identity IsInf IsNaN LeakyRelu Log "
        "Mish Neg Not Reciprocal Relu Round Selu Sigmoid Sign Sin Softplus Softsign Sqrt Swish Tan "
        "Tanh".split(),
        _same,
    ),
    **dict.fromkeys(
        "Add And BitwiseAnd BitwiseOr BitwiseXor Div Equal Greater GreaterOrEqual Less LessOrEqual Mod Mul "
        "Or Pow Sub Xor Max Mean Min Sum "
        "Where".split(), _elementwise,
    ),
    "Conv": _conv,
    "ConvTranspose": _conv_transpose,
    **dict.fromkeys(("MaxPool", "AveragePool", "LpPool"), _pool),
    **dict.fromkeys(("GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool"), _global_pool),
    **dict.fromkeys(("RNN", "GRU", "LSTM"), _recurrent),
    "MatMul": _matmul,
    "MatMulInteger": _matmul,
    "com.microsoft.FusedMatMul": _fused_matmul,
    "Gemm": _gemm,
    "Transpose": _transpose,
    "Reshape": _reshape,
    "Flatten": _flatten,
    "Expand": _expand,
    "ConstantOfShape": _constant_of_shape,
    "Slice": _slice,
    "Concat": _concat,
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "GatherND": _gather_nd,
    "Unsqueeze": _unsqueeze,
    "Squeeze": _squeeze,
    "Range": _range,
    "Split": _split,
    "Tile": _tile,
}
