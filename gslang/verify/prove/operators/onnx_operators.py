"""ONNX operators with a meaning over symbolic tensors, and which values their open attributes may have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gslang.dialect.domain import literals
from gslang.dialect.signature import AttributeSpec
from gslang.verify.prove.operators.domains import (
    SAYS_NOTHING,
    Attributes,
    Either,
    Unread,
    Unsettled,
    Written,
    any_order,
)
from gslang.verify.prove.operators.onnx_arithmetic import ARITHMETIC
from gslang.verify.prove.operators.onnx_attention import ATTENTION
from gslang.verify.prove.operators.onnx_bytes import BYTES
from gslang.verify.prove.operators.onnx_composed import COMPOSED
from gslang.verify.prove.operators.onnx_images import COORDINATES, IMAGES
from gslang.verify.prove.operators.onnx_lookups import LOOKUPS
from gslang.verify.prove.operators.onnx_movement import MOVEMENT
from gslang.verify.prove.operators.onnx_nan import NAN
from gslang.verify.prove.operators.onnx_quantised import QUANTISED, has_one_scale, type_of_codes_said
from gslang.verify.prove.operators.onnx_ranges import RANGES
from gslang.verify.prove.operators.onnx_rotary import ROTARY
from gslang.verify.prove.operators.onnx_sequences import SEQUENCES
from gslang.verify.prove.operators.onnx_shapes import SHAPES
from gslang.verify.prove.operators.onnx_slices import SLICES
from gslang.verify.prove.operators.onnx_stashed import STASHED
from gslang.verify.prove.operators.onnx_transposed import TRANSPOSED
from gslang.verify.prove.operators.onnx_windows import WINDOWS
from gslang.verify.prove.operators.tensors import Meaning, Operands, Tensor, World
from gslang.verify.prove.terms.dtypes import Dtype
from gslang.verify.prove.terms.paths import DOMAIN, Choices, Impossible, NotProved
from gslang.verify.prove.terms.reals import Real, Token
from gslang.verify.prove.terms.sizes import Number

ONNX: dict[str, Meaning] = {
    **MOVEMENT, **SLICES, **SHAPES, **ARITHMETIC, **TRANSPOSED, **COMPOSED, **ATTENTION, **QUANTISED,
    **WINDOWS, **IMAGES, **LOOKUPS, **ROTARY, **BYTES, **NAN, **RANGES, **STASHED,
    **SEQUENCES,
}  # fmt: skip

ONNX_RANKS: dict[str, tuple[int | None, ...]] = {
    **dict.fromkeys(("Gemm", "com.microsoft.FusedGemm"), (2, 2)),
    "Clip": (None, 0, 0),
    "BatchNormalization": (None, 1, 1, 1, 1),
    "InstanceNormalization": (None, 1, 1),
    "GroupNormalization": (None, 1, 1),
    "DepthToSpace": (4,),
    "SpaceToDepth": (4,),
    "Resize": (None, None, 1, 1),
    "Conv": (None, None, 1),
    "ConvTranspose": (None, None, 1),
    "Slice": (None, 1, 1, 1, 1),
    "Pad": (None, 1, None, 1),
    "STFT": (3, None, 1),
    "NonMaxSuppression": (3, 3),
    "AffineGrid": (3, 1),
    "com.microsoft.RotaryEmbedding": (None, None, 2, 2),
    "com.microsoft.MatMulIntegerToFloat": (None, None, None, None, None, None, 1),
    "com.microsoft.EmbedLayerNormalization": (2, 2, 2, 2, 2, 1, 1, 2, 2),
    **dict.fromkeys(
        (
            "Reshape", "Expand", "Squeeze", "Unsqueeze", "Split", "Tile", "ReduceSum", "ReduceMean",
            "ReduceMax", "ReduceMin", "ReduceProd", "ReduceSumSquare", "ReduceL1", "ReduceL2",
            "ReduceLogSum", "ReduceLogSumExp",
        ), (None, 1),
    ),
}
_ATTENDING = ATTENTION.keys() | ROTARY.keys()
_OF_ONNXRUNTIME = frozenset({"com.microsoft.MultiHeadAttention", "com.microsoft.Attention"})
_CONVOLUTIONS = frozenset({"Conv", "ConvTranspose", "com.microsoft.FusedConv"})
_QUANTIZING = frozenset({"QuantizeLinear", "DequantizeLinear"})
_TRUTHS = frozenset({
    "fmod", "keepdims", "transA", "transB", "transBatchA", "transBatchB", "training_mode", "detect_negative",
    "detect_positive",
})
RARELY_ASKED = frozenset({"allowzero", "noop_with_empty_axes", "saturate"})
# attributes that are only looked at with their default value, and what that assumes
_NOT_WRITTEN = {
    "block_size": "no blocked quantization",
    "output_dtype": "dequantized values have the type of their scale",
}


def _default_or_as_read(world: World, spec: AttributeSpec, bases: set[str]) -> Written:
    """Operators compute with the default, the rule reads any value."""
    choices, number = world.facts.choices, f"{spec.name}#{world.facts.number()}"

    def read() -> object:
        return Real.named(number, choices) if "float" in bases else world.facts.size(spec.name, None)

    ways = [read, lambda: None] if spec.default is None else [read]
    return Written(choices, spec.default, ways, anywhere=True)


def onnx_attribute(
    world: World, operator: str, spec: AttributeSpec, operands: Operands, attrs: Attributes
) -> object:
    """A value of an attribute that the rule leaves open."""
    name, choices = spec.name, world.facts.choices
    first = next((o for o in operands if isinstance(o, Tensor)), None)
    rank = len(first.shape) if first is not None else 0
    bases = {t.base for t in spec.types}
    if name == "axis":
        return _axis(world, operator, operands, rank)
    if name == "perm":
        return any_order(choices, rank, lambda order: order)
    if operator == "Shape":
        world.notes.add("`start` and `end` of a shape slice lie within the rank")
        ends = (*range(-rank, rank + 1), *[None] * (name == "end"))
        return ends[choices.choose(len(ends))]
    if operator == "Pad" and name == "mode":
        world.notes.add("the padding mode is `constant`")
        return "constant"
    if name == "num_outputs":  # beside sizes it is no valid call
        return None if len(operands) > 1 and operands[1] is not None else world.facts.size(name)
    if operator == "Gelu":
        return ("none", "tanh")[choices.choose(2)]
    if operator in _ATTENDING and (found := _of_attention(world, operator, name, operands)):
        return found[0]
    if operator == "ConvTranspose" and name in ("auto_pad", "output_shape"):
        world.notes.add("transposed convolutions specify padding, not `output_shape`")
        return "NOTSET" if name == "auto_pad" else None
    convolves = operator in _CONVOLUTIONS and name not in ("activation", "activation_params")
    if convolves and len(operands) > 1 and isinstance(operands[1], Tensor):
        return _of_convolution(world, name, len(operands[1].shape) - 2, operands, choices)
    if operator in WINDOWS:
        return _of_pooling(world, name, operands, choices)
    if operator in IMAGES and name not in ("cubic_coeff_a", "extrapolation_value"):
        return _of_image(world, operator, name, choices)
    if name == "num_groups":
        return world.facts.size(name)
    if name in _TRUTHS:
        return choices.choose(2)
    if name in RARELY_ASKED:
        return Either(choices, f"any{world.facts.number()}")
    if name == "precision":
        values = literals(spec.domain)
        return values[choices.choose(len(values))]
    if name == "output_dtype" and operator == "QuantizeLinear":
        return type_of_codes_said(world, operands)
    if name in _NOT_WRITTEN:
        world.notes.add(_NOT_WRITTEN[name])
        return Written(choices, spec.default, [lambda: spec.default], anywhere=True)
    if name in SAYS_NOTHING:
        return _default_or_as_read(world, spec, bases)
    if bases == {"float"} and not any(t.depth for t in spec.types):
        return Real.named(f"{name}#{world.facts.number()}", choices)
    if "dtype" in bases:
        return Dtype(choices)
    if bases == {"str"} and operator in ("Gelu", "Cast", "CastLike"):
        return Token(f"{name}#{world.facts.number()}", choices)
    raise NotProved(f"attribute `{name}` of `{operator}` is unconstrained")


def _axis(world: World, operator: str, operands: Operands, rank: int) -> object:
    """Any axis of the first operand, written in either way."""
    choices = world.facts.choices
    if operator == "Flatten":
        axis = choices.choose(rank + 1)
        return axis if axis == rank else Written(choices, axis, [lambda: axis, lambda: axis - rank])
    if operator in _QUANTIZING and has_one_scale(world, operands):  # it says nothing then
        return Written(choices, 1, [lambda: choices.choose(2 * rank + 1) - rank], anywhere=True)
    axis = choices.choose(rank)
    return Written(choices, axis, [lambda: axis, lambda: axis - rank])


def _of_attention(world: World, operator: str, name: str, operands: Operands) -> tuple[object, ...]:
    """(a value of an attribute of attention); nothing for those that are like others."""
    choices, facts = world.facts.choices, world.facts
    ways: list[Callable[[], object]]

    def named() -> Any:
        return Real.named(f"{name}#{facts.number()}", choices)

    def positive() -> Any:
        value = named()
        if not value > 0:
            raise Impossible(DOMAIN)  # 0 is a way of its own, and numbers below are out of the domain
        return value

    match name:
        case "num_heads" if operator == "com.microsoft.MultiHeadAttention":
            return (facts.size(name),)
        case "num_heads" if operator == "com.microsoft.RotaryEmbedding":  # 0: as many as the angles say
            return (0 if choices.choose(2) == 0 else facts.size(name),)
        case "scale" if operator == "com.microsoft.RotaryEmbedding":
            return (named(),)
        case "q_num_heads" | "kv_num_heads" | "num_heads":
            flat = isinstance(operands[0], Tensor) and len(operands[0].shape) == 3
            return (facts.size(name) if flat else None,)
        case "scale" | "mask_filter_value" | "unidirectional" if operator in _OF_ONNXRUNTIME:
            ways = {
                "scale": [lambda: None, lambda: 0.0, positive],
                "mask_filter_value": [lambda: None, named],
                "unidirectional": [lambda: 0, lambda: 1],
            }[name]
            return (Unsettled(choices, f"any{facts.number()}", ways),)
        case "scale" | "mask_filter_value":
            if choices.choose(2) == 0:
                return (None,)
            value = named()
            if name == "scale" and not value > 0:
                raise Impossible(DOMAIN)  # out of its domain
            return (value,)
        case "softcap":
            return (Unsettled(choices, f"any{facts.number()}", [lambda: 0.0, named]),)
        case "left_window_size" | "right_window_size":
            ways = [lambda: -1, lambda: facts.size(name, 0)]
            return (Unsettled(choices, f"any{facts.number()}", ways),)
        case "is_causal":
            return (Unsettled(choices, f"any{facts.number()}", [lambda: 0, lambda: 1]),)
        case "qk_matmul_output_mode":  # says nothing of the first result
            ways = [lambda: 0, lambda: 1, lambda: 2, lambda: 3]
            return (Written(choices, 0, ways, anywhere=True),)
        case "softmax_precision":  # says nothing of real numbers
            ways = [lambda: None, lambda: 1, lambda: 10, lambda: 11, lambda: 16]
            return (Written(choices, None, ways, anywhere=True),)
        case (
            "unidirectional" | "interleaved" | "do_rotary" | "past_present_share_buffer"
            | "is_packed_batching"
        ):
            return (choices.choose(2),)
        case "rotary_embedding_dim":
            return (0 if choices.choose(2) == 0 else facts.size(name),)
    return ()


def _of_pooling(world: World, name: str, operands: Operands, choices: Choices) -> object:
    rank = len(operands[0].shape) - 2
    match name:
        case "kernel_shape":
            world.need_true(rank >= 1, "the rank of an image")
            return tuple(world.facts.size("window") for _ in range(rank))
        case "ceil_mode" | "count_include_pad":
            return choices.choose(2)
        case "storage_order":  # says nothing of the first result
            return Written(choices, 0, [lambda: 0, lambda: 1], anywhere=True)
    return _of_convolution(world, name, rank, operands, choices)


def _of_image(world: World, operator: str, name: str, choices: Choices) -> object:
    if name == "blocksize":
        return world.facts.size(name)
    if operator != "Resize":
        return ("DCR", "CRD")[choices.choose(2)]
    match name:
        case "antialias" | "exclude_outside":  # more numbers than there are
            return Real.named(f"{name}#{world.facts.number()}", choices)
        case "mode" | "nearest_mode":
            return Token(f"{name}#{world.facts.number()}", choices)
        case "coordinate_transformation_mode":
            return COORDINATES[choices.choose(len(COORDINATES))]
        case "axes" | "keep_aspect_ratio_policy":
            return Unread(name)
    raise NotProved(f"attribute `{name}` of `{operator}` is unconstrained")


def _of_convolution(world: World, name: str, rank: int, operands: Operands, choices: Choices) -> object:
    facts = world.facts
    world.need_true(rank >= 1, "the rank of a kernel")

    def written(values: tuple[Number, ...], default: int) -> Written:
        def absent() -> None:
            for value in values:
                facts.learn_equal(value, default)

        return Written(choices, values, [lambda: tuple(map(facts.normal, values)), absent])

    match name:
        case "strides" | "dilations":
            return written(tuple(facts.size(name) for _ in range(rank)), 1)
        case "output_padding":
            return written(tuple(facts.size(name, 0) for _ in range(rank)), 0)
        case "pads":
            return written(tuple(facts.size(name, 0) for _ in range(2 * rank)), 0)
        case "group":
            return facts.size(name)
        case "kernel_shape":
            window = tuple(operands[1].shape[2:])
            return Written(choices, window, [lambda: None, lambda: tuple(map(facts.normal, window))], True)
        case "auto_pad":
            world.notes.add("`auto_pad` is NOTSET or VALID")
            return ("NOTSET", "VALID")[choices.choose(2)]
    raise NotProved(f"attribute `{name}` of a convolution is unconstrained")
