"""Operands whose shapes do not belong together, or not to the attributes: calls without a meaning that the
`onnx` package's inference lets pass, and that NumPy computes all the same because it broadcasts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from gslang.base.open_types import Attrs
from gslang.dialect.onnx.fitting_places import PLACES
from gslang.dialect.onnx.shape_misfits import (
    Check,
    Shapes,
    Sizes,
    along_last,
    differ,
    first,
    goes_into,
    of_rank,
    single,
)


def why_unfit(operator: str, shapes: Shapes, attrs: Attrs) -> str | None:
    """Why operands of these shapes (None: absent, or not known) do not fit, or None."""
    check = _CHECKS.get(operator) or _CHECKS.get(operator.removeprefix("com.microsoft."))
    return None if check is None else check([*shapes, *(None,) * (_MOST - len(shapes))], attrs)


# ── convolutions ────────────────────────────────────────────────────────────────────────────────────────────


def _convolution(weight: int, bias: int | None, transposed: bool = False) -> Check:
    """Of data and the operands at these places (None: there is no bias); scales and zero points stand behind
    both in `QLinearConv`.
    """

    def check(shapes: Shapes, attrs: Attrs) -> str | None:
        data, kernel, added = shapes[0], shapes[weight], None if bias is None else shapes[bias]
        if kernel is None or len(kernel) < 2:
            return None
        groups, window = attrs.get("group") or 1, attrs.get("kernel_shape")
        if data is not None and len(data) != len(kernel):
            return f"data of {len(data)} dimensions and a weight of {len(kernel)}"
        if window is not None and tuple(window) != kernel[2:]:
            return f"`kernel_shape` {list(window)} is not the window {list(kernel[2:])} of its weight"
        taken = kernel[0] if transposed else kernel[1] * groups
        made = kernel[1] * groups if transposed else kernel[0]
        if data is not None and data[1] != taken:
            return f"data has {data[1]} channels, and its weight takes {taken}"
        if kernel[0] % groups:
            return f"{kernel[0]} channels are not in {groups} groups"
        if added is not None and added != (made,):
            return f"a bias of {list(added)} does not broadcast to {made} channels"
        return None

    return check


def _coded_convolution(shapes: Shapes, attrs: Attrs) -> str | None:
    """Scales and zero points are one, those of the weight also one for each channel of the result."""
    kernel = shapes[3]
    made = kernel[:1] if kernel else ()
    return first(
        _convolution(3, 8)(shapes, attrs), *(_not_one(shapes[k]) for k in (1, 2, 6, 7)),
        *(_not_one(shapes[k], made) for k in (4, 5)),
    )


def _integer_convolution(shapes: Shapes, attrs: Attrs) -> str | None:
    kernel = shapes[1]
    points = first(_not_one(shapes[2]), _not_one(shapes[3], kernel[:1] if kernel else ()))
    return points or _convolution(1, None)(shapes, attrs)


# ── products ────────────────────────────────────────────────────────────────────────────────────────────────


def _gemm(a: int, b: int, added: int) -> Check:
    """The operands at these places are matrices, and a sum that is not larger than their product."""

    def check(shapes: Shapes, attrs: Attrs) -> str | None:
        left, right, more = shapes[a], shapes[b], shapes[added]
        for shape in (left, right):
            if shape is not None and len(shape) != 2:
                return f"{list(shape)} is no matrix"
        if left is None or right is None:
            return None
        whole = (left[1 if attrs.get("transA") else 0], right[0 if attrs.get("transB") else 1])
        if more is not None and not goes_into(more, whole):
            return f"{list(more)} does not broadcast to {list(whole)}"
        return None

    return check


def _fused_product(shapes: Shapes, attrs: Attrs) -> str | None:
    """Batches that are transposed are those of operands of one rank."""
    left, right = shapes[:2]
    if left and right and (attrs.get("transBatchA") or attrs.get("transBatchB")):
        if len(left) != len(right) or len(left) < 3:
            return f"{list(left)} and {list(right)} have no batches that could be transposed"
    return of_rank(1, 0, 1)(shapes, attrs)


def _coded_gemm(shapes: Shapes, attrs: Attrs) -> str | None:
    right = shapes[3]
    columns = right[:1] if right and attrs.get("transB") else right[-1:] if right else ()
    return first(
        _gemm(0, 3, 6)(shapes, attrs), *(_not_one(shapes[k]) for k in (1, 2, 7, 8)),
        *(_not_one(shapes[k], columns) for k in (4, 5)), differ("a zero point", shapes[5], shapes[4]),
    )


def _coded_product(whole: Sequence[int], by_column: Sequence[int], bias: int) -> Check:
    """Scales and zero points at these places are one, or one for each column of the second operand (of each
    of its matrices, where it has several). A bias has one element for each column.
    """

    def check(shapes: Shapes, attrs: Attrs) -> str | None:
        right = shapes[1]
        if right is None:
            return None
        columns = right[-1:] if len(right) > 1 else ()
        many = [(*right[:-2], 1, *columns)] if columns else []
        many += [columns] if len(right) == 2 else []
        return first(
            *(_not_one(shapes[k]) for k in whole), *(_not_one(shapes[k], *many) for k in by_column),
            differ("a bias", shapes[bias], columns),
        )

    return check


# ── codes ───────────────────────────────────────────────────────────────────────────────────────────────────


_SCALE: Final = "a scale or zero point"


def _not_one(shape: Sizes | None, *many: Sizes) -> str | None:
    """Why a scale or zero point is neither one number nor of one of these shapes."""
    if shape is None or shape in ((), (1,), *many):
        return None
    wanted = " or ".join(["one number", *(f"of {list(sizes)}" for sizes in many)])
    return f"{_SCALE} of {list(shape)} is not {wanted}"


def _scalars(*places: int) -> Check:
    """The operands at these places have no axis, not even one of size 1."""
    return lambda shapes, attrs: first(*(differ(_SCALE, shapes[k], ()) for k in places))


def _coded_parts(shapes: Shapes, attrs: Attrs) -> str | None:
    """Of the result, then of each part behind it."""
    return first(*(_not_one(shape) for k, shape in enumerate(shapes) if k < 2 or k % 3 != 2))


def _coded(shapes: Shapes, attrs: Attrs) -> str | None:
    """A scale is one number, one for each index of an axis, or one for each block of the data; a zero point
    has the shape of its scale.
    """
    data, scale, point = shapes[:3]
    if scale is not None and point is not None and point != scale and {scale, point} != {(), (1,)}:
        return f"a zero point of {list(point)} and a scale of {list(scale)}"
    if data is None or scale is None or scale in ((), (1,)):
        return None
    axis, block = attrs.get("axis", 1), attrs.get("block_size") or 0
    if not -len(data) <= axis < len(data):
        return f"no axis {axis} in {list(data)}"
    axis %= len(data)
    blocks = tuple([-(-n // block) if k == axis else n for k, n in enumerate(data)]) if block > 0 else None
    wanted = data[axis : axis + 1] if blocks is None else blocks
    return differ("a scale", scale, wanted)


# ── normalisation, bias, activations ────────────────────────────────────────────────────────────────────────


def _factors(shapes: Shapes, attrs: Attrs) -> str | None:
    data = shapes[0]
    for shape in shapes[1:]:
        if data is not None and shape is not None and not goes_into(shape, data):
            return f"{list(shape)} does not broadcast to {list(data)}"
    return None


def _by_channel(least: int, *places: int) -> Check:
    """The operands at these places have one element for each channel of data with at least `least` axes; data
    of one axis has one channel.
    """

    def check(shapes: Shapes, attrs: Attrs) -> str | None:
        data = shapes[0]
        if data is None:
            return None
        if len(data) < least:
            return f"data of {len(data)} dimensions, at least {least} are needed"
        channels = data[1:2] if len(data) > 1 else (1,)
        return first(*(differ("a vector", shapes[k], channels) for k in places))

    return check


def _biased(shapes: Shapes, attrs: Attrs) -> str | None:
    return along_last(1)(shapes, attrs) or differ("what is added", shapes[2], shapes[0])


def _skipping(shapes: Shapes, attrs: Attrs) -> str | None:
    """The addend has the shape of the data, or is the same for each batch; then vectors."""
    data, more = shapes[:2]
    again = () if data is None or len(data) != 3 else (data[1:], (1, *data[1:]))
    if data is not None and len(data) not in (2, 3):
        return f"data of {len(data)} dimensions, not 2 or 3"
    if data is not None and more is not None and more not in (data, *again):
        return f"{list(more)} is not added to {list(data)}"
    return along_last(2, 3, 4)(shapes, attrs)


def _groups(shapes: Shapes, attrs: Attrs) -> str | None:
    """Gamma, beta and a bias have an element for each channel; what is added is of the shape of the data, or
    has one for each channel of each image.
    """
    data, more = shapes[0], shapes[3]
    if data is None or len(data) < 3:
        return None if data is None else f"{list(data)} is no image"
    last = attrs.get("channels_last", 1)
    channels = data[-1] if last else data[1]
    vectors = (differ("a vector", shapes[k], (channels,)) for k in (1, 2, 4))
    ones = (1,) * (len(data) - 2)
    by_image = (data[0], *ones, channels) if last else (data[0], channels, *ones)
    if more is not None and more not in (data, by_image, (data[0], channels)):
        return f"{list(more)} is not added to {list(data)}"
    return first(*vectors, f"{channels} channels are not in groups" if channels % attrs["groups"] else None)


def _matrices(shapes: Shapes, attrs: Attrs) -> str | None:
    data = shapes[0]
    return f"{list(data)} is no matrix" if data is not None and len(data) < 2 else None


_MOST: Final = 12  # operands that a check looks at
_CHECKS: Final[Mapping[str, Check]] = {
    "Conv": _convolution(1, 2),
    "FusedConv": _convolution(1, 2),
    "ConvTranspose": _convolution(1, 2, transposed=True),
    "ConvInteger": _integer_convolution,
    "QLinearConv": _coded_convolution,
    "Gemm": _gemm(0, 1, 2),
    "FusedGemm": _gemm(0, 1, 2),
    "QGemm": _coded_gemm,
    "MatMul": of_rank(1, 0, 1),
    "MatMulInteger": lambda shapes, attrs: (
        of_rank(1, 0, 1)(shapes, attrs) or _coded_product((2,), (3,), 4)(shapes, attrs)
    ),
    "FusedMatMul": _fused_product,
    "QLinearMatMul": of_rank(1, 0, 3),
    **dict.fromkeys(("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"), of_rank(3, 0)),
    "CumSum": of_rank(1, 0),
    "Clip": single("a bound", 1, 2),
    "Pad": single("a fill value", 2),
    "BatchNormalization": _by_channel(1, 1, 2, 3, 4),
    "InstanceNormalization": _by_channel(3, 1, 2),
    "GroupNormalization": _by_channel(2, 1, 2),
    "MatMulIntegerToFloat": _coded_product((2, 4), (3, 5), 6),
    "DynamicQuantizeMatMul": _coded_product((), (2, 3), 4),
    "QuantizeLinear": _coded,
    "DequantizeLinear": _coded,
    **dict.fromkeys(("QLinearAdd", "QLinearMul"), _scalars(1, 2, 4, 5, 6, 7)),
    **dict.fromkeys(("QLinearAveragePool", "QLinearReduceMean"), _scalars(1, 2, 3, 4)),
    **dict.fromkeys(
        ("QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax"), single(_SCALE, 1, 2, 3, 4)
    ),
    "QLinearGlobalAveragePool": lambda shapes, attrs: (
        of_rank(3, 0)(shapes, attrs) or single(_SCALE, 1, 2, 3, 4)(shapes, attrs)
    ),
    "QLinearWhere": single(_SCALE, 2, 3, 5, 6, 7, 8),
    "QLinearConcat": _coded_parts,
    **dict.fromkeys(
        "LayerNormalization RMSNormalization SimplifiedLayerNormalization PRelu".split(), _factors
    ),
    "BiasGelu": along_last(1),
    "FastGelu": lambda shapes, attrs: of_rank(1, 0)(shapes, attrs) or along_last(1)(shapes, attrs),
    "BiasSplitGelu": along_last(1),
    "BiasAdd": _biased,
    "SkipLayerNormalization": _skipping,
    "SkipSimplifiedLayerNormalization": _skipping,
    "GroupNorm": _groups,
    "SkipGroupNorm": _groups,
    "Trilu": _matrices,
    **PLACES,
}
