"""The work of a call, declared per operator: multiply-adds, other floating-point operations, bytes read and
written.

Counted as in papers on networks: a multiply-add is one unit, element-wise operators, comparisons and casts
take one operation per element of the result, whatever they compute. What only renames a tensor (a reshape)
moves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from math import prod
from typing import Any, Final

from gslang.base.open_types import Attrs
from gslang.base.quick_dataclass import dataclass
from gslang.dialect.dialect import Dialect
from gslang.dialect.dtypes import numpy_dtype
from gslang.dialect.tensor_type import TensorType, TupleType, Type, is_static
from gslang.engine.build import BuildError
from gslang.engine.meaning import value_graph
from gslang.engine.values import FAILURES


class UnknownCost(Exception):
    """No cost is known for a call; the message names the operator, the shapes of its operands and its
    attributes.
    """


class UnknownSize(UnknownCost):
    """The graph has symbolic dimensions, and a call has no cost without their sizes."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call to be priced: `operands` are types (None: absent), `attrs` are as given, without defaults.

    `fixed`: which operands depend on parameters and constants only. `values`: those of operands that are
    small constants.
    """

    operator: str
    operands: tuple[Type | None, ...]
    result: Type | None
    attrs: Attrs
    dialect: Dialect
    fixed: tuple[bool, ...] = ()
    values: Mapping[int, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Work:
    """`macs`: multiply-adds; `operations`: all floating-point operations, two for each multiply-add; `moved`:
    bytes.
    """

    macs: int
    operations: int
    moved: int


def work_of(call: Call) -> Work:
    """The work of a call. Raises `UnknownCost` if its operator has no declaration or a shape is not known."""
    macs, others = _arithmetic(call)
    types = [*call.operands, _result(call)]
    moved = 0 if call.operator in RENAMES else sum(bytes_of(type) for type in types if type is not None)
    return Work(macs, 2 * macs + others, moved)


def _arithmetic(call: Call) -> tuple[int, int]:
    """Multiply-adds and other operations."""
    declared = _DECLARED.get(call.operator)
    signature = call.dialect.get(call.operator)
    if declared is not None:
        try:
            return declared(call, {} if signature is None else signature.complete(call.attrs))
        except (LookupError, TypeError, ValueError, ZeroDivisionError):
            raise unknown(call, "its operands do not match the operator") from None
    if signature is not None and "elementwise" in signature.traits:
        return 0, elements(call, _result(call))
    if signature is not None and signature.meaning is not None:
        return _by_meaning(call, signature.meaning)
    raise unknown(call, "its work is not declared")


def _by_meaning(call: Call, meaning: Any) -> tuple[int, int]:
    """The work of the graph that an operator's declaration gives as its value."""
    try:
        graph = value_graph(meaning, call.dialect, call.operands, call.attrs)
    except (BuildError, *FAILURES):
        graph = None
    if graph is None:
        raise unknown(call, "its declaration has no value")
    parts = [
        _arithmetic(Call(
            graph.op[n], tuple([graph.types[o] for o in graph.operands[n]]), graph.types[n], graph.attrs[n],
            call.dialect,
        ))
        for n in graph.reverse_post_order() if graph.is_call(n)
    ]
    return sum(macs for macs, _ in parts), sum(others for _, others in parts)


# ── sizes ───────────────────────────────────────────────────────────────────────────────────────────────────


def elements(call: Call, type: Type | None) -> int:
    """The number of elements of a value. Raises `UnknownCost`."""
    if isinstance(type, TupleType):
        # None: a result that nobody asked for
        return sum(elements(call, field) for field in type.fields if field is not None)
    if not isinstance(type, TensorType) or not is_static(type.shape):
        raise unknown(call, "a shape is not known")
    return prod(type.shape)  # type: ignore[arg-type]


def bytes_of(type: Type) -> int:
    """The size of a value with a known shape; an element of unknown type counts as 4 bytes.

    Raises `ValueError`.
    """
    if isinstance(type, TupleType):
        return sum(bytes_of(field) for field in type.fields if field is not None)
    if not is_static(type.shape):
        raise ValueError(f"the size of {type} is not known")
    try:
        size = numpy_dtype(type.dtype).itemsize if type.dtype else 4
    except (TypeError, ValueError, KeyError):
        size = 4
    return int(prod(type.shape) * size)  # type: ignore[arg-type]


def _result(call: Call) -> Type:
    for type in (*call.operands, call.result):
        if type is not None:
            elements(call, type)
    if call.result is None:
        raise unknown(call, "the type of its result is not known")
    return call.result


def _shape(call: Call, operand: int) -> tuple[int, ...]:
    type = call.operands[operand]
    elements(call, type)
    assert isinstance(type, TensorType)
    return type.shape  # type: ignore[return-value]


def unknown(call: Call, why: str) -> UnknownCost:
    """The exception for a call without a cost."""
    shapes = ", ".join("none" if t is None else str(t) for t in call.operands)
    attrs = ", ".join(f"{name} = {value!r}" for name, value in call.attrs.items())[:500]
    text = f"no cost for `{call.operator}` of ({shapes}){f' with {attrs}' if attrs else ''}: {why}"
    return UnknownCost(text)


# ── declarations ────────────────────────────────────────────────────────────────────────────────────────────

Formula = Callable[[Call, Attrs], tuple[int, int]]


def _convolution(call: Call, attrs: Attrs) -> tuple[int, int]:
    """Each element of the result takes one kernel of one output channel; a third operand is a bias."""
    weight = _shape(call, 1)
    channels = weight[str(attrs.get("kernel_layout", "O")).find("O")]
    result = elements(call, _result(call))
    biased = sum(1 for operand in call.operands[2:4] if operand is not None)
    return result * prod(weight) // max(channels, 1), result * (biased + ("activation" in call.attrs))


def _transposed_convolution(call: Call, attrs: Attrs) -> tuple[int, int]:
    """Each element of the operand is multiplied with all kernels of its channel."""
    weight = _shape(call, 1)
    channels = weight[str(attrs.get("kernel_layout", "I")).find("I")]
    biased = len(call.operands) > 2 and call.operands[2] is not None
    return prod(_shape(call, 0)) * prod(weight) // max(channels, 1), biased * elements(call, _result(call))


def _product(call: Call, attrs: Attrs) -> tuple[int, int]:
    """Each element of the result takes as many multiply-adds as the dimension is long that disappears."""
    left = _shape(call, 0)
    transposed = bool(attrs.get("transpose_a", attrs.get("transA", 0)))
    length = left[-2] if transposed and len(left) > 1 else left[-1]
    biased = (
        call.operator in ("Gemm", "com.microsoft.FusedGemm") and len(call.operands) > 2
        and call.operands[2] is not None
    )
    result = elements(call, _result(call))
    return result * length, biased * result


def _window(call: Call, attrs: Attrs) -> tuple[int, int]:
    kernel = attrs.get("pool_size", attrs.get("kernel_shape"))
    return 0, elements(call, _result(call)) * prod(kernel if isinstance(kernel, tuple) else (kernel,))


def _whole_window(call: Call, attrs: Attrs) -> tuple[int, int]:
    _result(call)
    return 0, prod(_shape(call, 0))


def _per_element(count: int) -> Formula:
    """So many operations for each element of the first result."""

    def formula(call: Call, attrs: Attrs) -> tuple[int, int]:
        result = _result(call)
        first = result.fields[0] if isinstance(result, TupleType) and result.fields else result
        return 0, count * elements(call, first)

    return formula


def _einsum(call: Call, attrs: Attrs) -> tuple[int, int]:
    """Every combination of the indices takes one multiply-add for each operand but the first."""
    inputs = str(attrs["equation"]).replace(" ", "").partition("->")[0].split(",")
    _result(call)
    sizes: dict[str, int] = {}
    for k, letters in enumerate(inputs):
        shape = _shape(call, k)
        before, dots, behind = letters.partition("...")
        sizes.update(zip(before, shape))
        sizes.update(zip(reversed(behind), reversed(shape)))
        if dots:
            inside = shape[len(before) : len(shape) - len(behind)]
            sizes["..."] = max(sizes.get("...", 1), prod(inside))
    return prod(sizes.values()) * max(1, len(inputs) - 1), 0


def _attention(call: Call, attrs: Attrs) -> tuple[int, int]:
    """Two products and a softmax, for (batch, heads, length, size) or (batch, length, heads × size) operands.
    """
    query, key, value = (_shape(call, k) for k in range(3))
    _result(call)
    past = _shape(call, 4)[-2] if len(call.operands) > 4 and call.operands[4] is not None else 0
    rows, keys = query[-2], key[-2] + past
    heads = query[1] if len(query) == 4 else int(attrs.get("q_num_heads") or attrs.get("num_heads") or 1)
    if len(query) == 4:
        each = query[0] * query[1] * rows * keys
        return each * (query[3] + value[3]), 5 * each
    value_width = value[2] * heads // int(attrs.get("kv_num_heads") or heads)
    return query[0] * rows * keys * (query[2] + value_width), 5 * query[0] * heads * rows * keys


def _recurrent(gates: int) -> Formula:
    def formula(call: Call, attrs: Attrs) -> tuple[int, int]:
        """Products with both weights at each step; about four operations for each gate."""
        _result(call)
        length, batch = _shape(call, 0)[:2]
        steps = length * batch
        return steps * (prod(_shape(call, 1)) + prod(_shape(call, 2))), 4 * gates * steps * int(
            attrs["hidden_size"]
        )

    return formula


RENAMES: Final = frozenset(
    "reshape squeeze expand_dims nn.batch_flatten contrib_reverse_reshape reshape_like dyn.reshape "
    "dyn.squeeze dyn.expand_dims copy nn.dropout"
    " shape_of vm.shape_of ndarray_size annotation.stop_fusion annotation.checkpoint device_copy"
    " Reshape Squeeze Unsqueeze Flatten Identity Dropout Shape Size com.microsoft.ExpandDims".split()
)  # what makes no new tensor
_TABLE: Final[tuple[tuple[str, Formula], ...]] = (
    (
        (
            "nn.conv1d nn.conv2d nn.conv3d nn.contrib_conv2d_NCHWc qnn.conv2d Conv ConvInteger "
            "com.microsoft.FusedConv com.microsoft.NhwcConv"
        ),
        _convolution,
    ),
    ("nn.conv1d_transpose nn.conv2d_transpose nn.conv3d_transpose ConvTranspose", _transposed_convolution),
    (
        "nn.dense nn.matmul nn.batch_matmul qnn.dense MatMul MatMulInteger Gemm com.microsoft.FusedMatMul "
        "com.microsoft.TransposeMatMul"
        " com.microsoft.FusedGemm com.microsoft.MatMulIntegerToFloat com.microsoft.DynamicQuantizeMatMul",
        _product,
    ),
    (
        (
            "nn.max_pool1d nn.avg_pool1d nn.max_pool2d nn.avg_pool2d nn.max_pool3d nn.avg_pool3d MaxPool "
            "AveragePool LpPool"
        ),
        _window,
    ),
    (
        "nn.global_avg_pool2d nn.global_max_pool2d nn.adaptive_avg_pool1d nn.adaptive_max_pool1d "
        "nn.adaptive_avg_pool2d nn.adaptive_max_pool2d"
        " nn.adaptive_avg_pool3d nn.adaptive_max_pool3d GlobalAveragePool GlobalMaxPool GlobalLpPool"
        " sum mean max min prod all any variance argmax argmin cumsum CumSum CumProd"
        " ArgMax ArgMin ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin "
        "ReduceProd ReduceSum ReduceSumSquare",
        _whole_window,
    ),
    (
        "nn.softmax nn.log_softmax nn.fast_softmax Softmax LogSoftmax com.microsoft.BiasSoftmax",
        _per_element(5),
    ),
    ("nn.batch_norm BatchNormalization", _per_element(2)),
    (
        "nn.layer_norm nn.instance_norm nn.group_norm nn.l2_normalize nn.lrn LayerNormalization "
        "InstanceNormalization GroupNormalization LRN"
        " RMSNormalization SimplifiedLayerNormalization MeanVarianceNormalization LpNormalization "
        "com.microsoft.SkipLayerNormalization"
        " com.microsoft.SkipSimplifiedLayerNormalization com.microsoft.GroupNorm", _per_element(8),
    ),
    (
        "nn.bias_add nn.prelu cast_like qnn.quantize qnn.dequantize qnn.requantize qnn.add qnn.multiply "
        "qnn.subtract CastLike QuantizeLinear"
        " DequantizeLinear DynamicQuantizeLinear com.microsoft.BiasAdd com.microsoft.QuantizeLinear "
        "com.microsoft.DequantizeLinear",
        _per_element(1),
    ),
    ("com.microsoft.BiasGelu com.microsoft.FastGelu SwiGLU", _per_element(2)),
    ("RotaryEmbedding com.microsoft.RotaryEmbedding", _per_element(3)),
    ("nn.upsampling image.resize2d Resize Upsample GridSample", _per_element(8)), ("Einsum", _einsum),
    ("Attention com.microsoft.MultiHeadAttention", _attention), ("RNN", _recurrent(1)),
    ("GRU", _recurrent(3)), ("LSTM", _recurrent(4)),
    (
        "transpose layout_transform reverse concatenate stack split strided_slice slice_like take gather "
        "gather_nd scatter scatter_elements tile"
        " repeat broadcast_to broadcast_to_like nn.pad nn.mirror_pad nn.depth_to_space nn.space_to_depth "
        "zeros ones full full_like zeros_like"
        " ones_like arange one_hot meshgrid matrix_set_diag sequence_mask dyn.broadcast_to dyn.tile "
        "dyn.zeros dyn.ones dyn.full dyn.strided_slice"
        " qnn.concatenate sort argsort topk annotation.cast_hint collapse_sum_like collapse_sum_to"
        " Transpose Concat Split Slice Gather GatherElements GatherND Scatter ScatterElements ScatterND Tile "
        "Expand Pad DepthToSpace SpaceToDepth"
        " Constant ConstantOfShape EyeLike Range OneHot NonZero TopK Trilu Compress Unique ReverseSequence "
        "com.microsoft.Trilu com.microsoft.Pad"
        " com.microsoft.GatherND TensorScatter", _per_element(0),
    ),
    (" ".join(sorted(RENAMES)), _per_element(0)),
)
_DECLARED: Final[dict[str, Formula]] = {
    operator: formula for operators, formula in _TABLE for operator in operators.split()
}
