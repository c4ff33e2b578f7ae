"""The contrib operators of domain `com.microsoft`: their declarations (`com_microsoft.gsl`), and the types of
their results.

Most results are like an operand's, or like those of the ONNX operator that they are a variant of, whose
inference is then used. What is not listed has results of unknown type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from gslang.base.open_types import Attrs
from gslang.dialect.onnx.versions import history
from gslang.dialect.shipped import declared_operators
from gslang.dialect.signature import Infer, Signature, Types, ValueOf
from gslang.dialect.tensor_type import UNKNOWN, Dimension, Shape, TensorType, TupleType, Type

DOMAIN: Final = "com.microsoft"

def declarations() -> str:
    return Path(__file__).with_name("com_microsoft.gsl").read_text(encoding="utf-8")


def contrib_signatures() -> list[Signature]:
    return declared_operators("com_microsoft.gsl", declarations())


def contrib_inference(operators: Mapping[str, Signature], standard: Mapping[str, Infer]) -> dict[str, Infer]:
    """Operator → inference; `operators` and `standard` are ONNX's own, and theirs (none without the `onnx`
    package).
    """
    found: dict[str, Infer] = {
        name: _fields(rule) if name in _SEVERAL else _single(rule) for name, rule in _RULES.items()
    }
    for name, (operator, operands, dtype_of) in _VARIANTS.items():
        if operator in standard:
            found[name] = _as(operators[operator], standard[operator], operands, dtype_of)
    return {name if name in _OWN else f"{DOMAIN}.{name}": infer for name, infer in found.items()}


def _tensor(types: Types, k: int) -> TensorType:
    type = types[k] if k < len(types) else None
    return type if isinstance(type, TensorType) else TensorType(None, None)


def _single(rule: Callable[[Types, Attrs], list[Type | None]]) -> Infer:
    return lambda types, attrs, value_of: rule(types, attrs)[0]


def _fields(rule: Callable[[Types, Attrs], list[Type | None]]) -> Infer:
    return lambda types, attrs, value_of: TupleType(tuple(rule(types, attrs)))


def _like_first(types: Types, attrs: Attrs) -> list[Type | None]:
    return [types[0] if types else None]


def _skipped(types: Types, attrs: Attrs) -> list[Type | None]:
    """The normalised input, mean and 1/deviation with a last axis of one, the sum."""
    first = _tensor(types, 0)
    small = TensorType(None if first.shape is None else (*first.shape[:-1], 1), "float32")
    return [first, small, small, first]


def _normalised(types: Types, attrs: Attrs) -> list[Type | None]:
    return [TensorType(_tensor(types, 0).shape, _tensor(types, 1).dtype), None]


def _averaged(types: Types, attrs: Attrs) -> list[Type | None]:
    """One number for each channel of each image: channels are second or last."""
    first = _tensor(types, 0)
    channel = len(first.shape or ()) - 1 if attrs["channels_last"] else 1
    shape = first.shape and tuple([d if k in (0, channel) else 1 for k, d in enumerate(first.shape)])
    return [TensorType(shape, first.dtype)]


def _embedded(types: Types, attrs: Attrs) -> list[Type | None]:
    ids, words = _tensor(types, 0), _tensor(types, 2)
    whole = TensorType(
        None if ids.shape is None or not words.shape else (*ids.shape, words.shape[-1]), words.dtype
    )
    return [whole, None, whole]


def _attention(types: Types, attrs: Attrs) -> list[Type | None]:
    """[batch, sequence, hidden of the values]: a third of the weights' columns where `qkv_hidden_sizes` says
    nothing.
    """
    first, weights = _tensor(types, 0), _tensor(types, 1)
    sizes = attrs.get("qkv_hidden_sizes")
    columns = weights.shape[-1] if weights.shape else UNKNOWN
    hidden = sizes[2] if sizes else columns // 3 if isinstance(columns, int) else UNKNOWN
    return [TensorType(None if first.shape is None else (*first.shape[:-1], hidden), first.dtype), None]


def _multi_head(types: Types, attrs: Attrs) -> list[Type | None]:
    """[batch, sequence of the queries, hidden of the values]."""
    query, key, values = (_tensor(types, k) for k in range(3))
    rest: list[Type | None] = [_grown(_tensor(types, 6), key), _grown(_tensor(types, 7), values), None]
    if query.shape is None or len(query.shape) not in (3, 5):
        return [TensorType(None, query.dtype), *rest]
    batch, sequence = query.shape[:2]
    hidden: Dimension = UNKNOWN
    if len(query.shape) == 5:  # packed queries, keys and values
        heads, size = query.shape[2], query.shape[4]
        hidden = heads * size if isinstance(heads, int) and isinstance(size, int) else UNKNOWN
    elif values.shape is not None and len(values.shape) == 3:
        hidden = values.shape[2]
    elif values.shape is not None and len(values.shape) == 4:
        heads, size = values.shape[1], values.shape[3]
        hidden = heads * size if isinstance(heads, int) and isinstance(size, int) else UNKNOWN
    elif key.shape is None or len(key.shape) == 5:
        hidden = query.shape[2]
    return [TensorType((batch, sequence, hidden), query.dtype), *rest]


def _grown(cache: TensorType, more: TensorType) -> Type | None:
    """A cache [batch, heads, steps, size] with the steps of `more` behind its own."""
    if cache.shape is None or len(cache.shape) != 4:
        return None
    before, new = (
        cache.shape[2], more.shape[-2] if more.shape is not None and len(more.shape) in (3, 4) else UNKNOWN,
    )
    steps: Dimension = before + new if isinstance(before, int) and isinstance(new, int) else UNKNOWN
    return TensorType((*cache.shape[:2], steps, cache.shape[3]), cache.dtype)


def _group_query(types: Types, attrs: Attrs) -> list[Type | None]:
    query, key = _tensor(types, 0), types[1] if len(types) > 1 else None
    if query.shape is None or len(query.shape) != 3:
        return [TensorType(None, query.dtype), None, None, None]
    hidden = query.shape[2]
    if key is None:  # queries, keys and values side by side
        heads, others = attrs["num_heads"], attrs["kv_num_heads"]
        hidden = hidden * heads // (heads + 2 * others) if isinstance(hidden, int) else UNKNOWN
    return [TensorType((*query.shape[:2], hidden), query.dtype), None, None, None]


def _few_bits(types: Types, attrs: Attrs) -> list[Type | None]:
    first = _tensor(types, 0)
    return [TensorType(None if first.shape is None else (*first.shape[:-1], int(attrs["N"])), first.dtype)]


def _halved(types: Types, attrs: Attrs) -> list[Type | None]:
    first = _tensor(types, 0)
    last = first.shape[-1] if first.shape else UNKNOWN
    return [TensorType(
        None if not first.shape else (*first.shape[:-1], last // 2 if isinstance(last, int) else UNKNOWN),
        first.dtype,
    )]


def _quantised(types: Types, attrs: Attrs) -> list[Type | None]:
    zero = _tensor(types, 2).dtype
    return [TensorType(_tensor(types, 0).shape, zero or "uint8")]


def _dequantised(types: Types, attrs: Attrs) -> list[Type | None]:
    return [TensorType(_tensor(types, 0).shape, _tensor(types, 1).dtype)]


def _joined(types: Types, attrs: Attrs) -> list[Type | None]:
    """Of scale and zero point of the result, then inputs, each with its own."""
    inputs = [_tensor(types, k) for k in range(2, len(types), 3)]
    shapes = [x.shape for x in inputs if x.shape is not None]
    if len(shapes) < len(inputs) or len({len(shape) for shape in shapes}) != 1:
        return [TensorType(None, _tensor(types, 2).dtype)]
    result = [next((d for d in dims if isinstance(d, int)), dims[0]) for dims in zip(*shapes)]
    lengths = [shape[attrs["axis"]] for shape in shapes]
    known = [length for length in lengths if isinstance(length, int)]
    result[attrs["axis"]] = sum(known) if len(known) == len(lengths) else UNKNOWN
    return [TensorType(tuple(result), _tensor(types, 2).dtype)]


_OWN: Final = frozenset({"SimplifiedLayerNormalization"})  # in ONNX's own domain
_SEVERAL: Final = frozenset({
    "SkipLayerNormalization", "SkipSimplifiedLayerNormalization", "SimplifiedLayerNormalization",
    "EmbedLayerNormalization", "Attention", "MultiHeadAttention", "GroupQueryAttention", "QAttention",
    "DecoderMaskedMultiHeadAttention", "SkipGroupNorm", "BiasDropout",
})
_RULES: Final[Mapping[str, Callable[[Types, Attrs], list[Type | None]]]] = {
    **dict.fromkeys(
        "Gelu BiasGelu FastGelu QuickGelu BiasAdd BiasSoftmax GroupNorm RotaryEmbedding Inverse "
        "Trilu".split(),
        _like_first,
    ),
    **dict.fromkeys("QLinearSigmoid QLinearLeakyRelu QLinearSoftmax".split(), _like_first),
    "BiasSplitGelu": _halved,
    "SkipLayerNormalization": _skipped,
    "SkipSimplifiedLayerNormalization": _skipped,
    "SimplifiedLayerNormalization": _normalised,
    "EmbedLayerNormalization": _embedded,
    "Attention": _attention,
    "MultiHeadAttention": _multi_head,
    "DecoderMaskedMultiHeadAttention": _multi_head,
    "GroupQueryAttention": _group_query,
    "QAttention": lambda types, attrs: [
        TensorType(_attention(types, attrs)[0].shape, _tensor(types, 2).dtype), None,  # type: ignore[union-attr]
    ],
    "SkipGroupNorm": lambda types, attrs: [_tensor(types, 0), _tensor(types, 0)],
    "BiasDropout": lambda types, attrs: [_tensor(types, 0), TensorType(_tensor(types, 0).shape, "bool")],
    "MatMulNBits": _few_bits,
    "QLinearConcat": _joined,
    "QLinearGlobalAveragePool": _averaged,
    "QuantizeLinear": _quantised,
    "DequantizeLinear": _dequantised,
}

# Operator → the ONNX operator whose result has the same shape, which operands are its, whose element type the
# result has.
_VARIANTS: Final[Mapping[str, tuple[str, tuple[int, ...], int]]] = {
    "FusedMatMul": ("MatMul", (0, 1), 0),
    "TransposeMatMul": ("MatMul", (0, 1), 0),
    "DynamicQuantizeMatMul": ("MatMul", (0, 1), 0),
    "MatMulIntegerToFloat": ("MatMul", (0, 1), 2),
    "FusedConv": ("Conv", (0, 1, 2), 0),
    "FusedGemm": ("Gemm", (0, 1, 2), 0),
    "QGemm": ("Gemm", (0, 3, 6), 8),  # float32 without a zero point
    "QLinearAdd": ("Add", (0, 3), 0),
    "QLinearMul": ("Mul", (0, 3), 0),
    "QLinearWhere": ("Where", (0, 1, 4), 1),
    "QLinearAveragePool": ("AveragePool", (0,), 0),
    "GatherND": ("GatherND", (0, 1), 0),
    "Pad": ("Pad", (0, 1, 2), 0),
}


# Type variables of the operands, in their order → operators. Operands with the same letter are of one element
# type; the others may be of any that is declared.
_VARIABLES: Final[Mapping[str, str]] = {
    "TT": "FusedMatMul TransposeMatMul BiasGelu FastGelu BiasSplitGelu BiasSoftmax QuantizeLinear",
    ".TT": "GroupNorm RelativePositionBias",
    "T.T": "DequantizeLinear Pad",
    "TTT": "FusedGemm NhwcConv BiasAdd BiasDropout",
    "T.TT": "RotaryEmbedding",
    "TTTT": "FusedConv SkipSimplifiedLayerNormalization",
    "T.T.T": (
        "QLinearSigmoid QLinearLeakyRelu QLinearSoftmax QLinearAveragePool QLinearGlobalAveragePool "
        "QLinearReduceMean"
    ),
    "TTTTT": "SkipLayerNormalization",
    "TUTUT": "DynamicQuantizeMatMul",
    "TUUTT": "SkipGroupNorm",
    "T.T..T": "MatMulNBits",
    "TTTTTT": "GatedRelativePositionBias",
    "TTTUTTU": "Attention",
    "TUVVTUV": "MatMulIntegerToFloat",
    "T.TT.T.T": "QLinearAdd QLinearMul",
    "TTTTTTTT": "MoE",
    "TUTVUV.U": "QGemm",
    ".TUTTUTUT": "QLinearWhere",
    "TTUUUUUTT": "EmbedLayerNormalization",
    "TUVVV.TUV": "QAttention",
    "TTTTUTTTUU": "MultiHeadAttention",
    "TTTUTTTUUUT": "DecoderMaskedMultiHeadAttention",
    "TTTUUVVTT.TT": "GroupQueryAttention",
}
_VARIABLES_OF: Final = {
    f"{DOMAIN}.{name}": letters for letters, names in _VARIABLES.items() for name in names.split()
}


def of_one_type(operator: str, k: int, other: int) -> bool:
    """True if an operator of this domain demands one element type of two of its operands."""
    letters = _VARIABLES_OF.get(operator, "")
    return k != other and max(k, other) < len(letters) and letters[k] == letters[other] != "."


def element_types_differ(operator: str, dtypes: Sequence[str | None]) -> str | None:
    """Why operands of these element types (None: not known) do not belong together, or None."""
    first: dict[str, str] = {}
    for letter, dtype in zip(_VARIABLES_OF.get(operator, ""), dtypes):
        if letter != "." and dtype is not None and first.setdefault(letter, dtype) != dtype:
            return f"operands of `{operator}` are {first[letter]} and {dtype}"
    return None


def _as(operator: Signature, infer: Infer, operands: Sequence[int], dtype_of: int) -> Infer:
    """The inference of an ONNX operator, with element types that it takes; attributes that it lacks do not
    count.
    """

    def inferred(types: Types, attrs: Attrs, value_of: ValueOf) -> Type | None:
        dtype = _tensor(types, dtype_of).dtype if dtype_of < len(types) else "float32"
        if attrs.get("channels_last") or attrs.get("transBatchA") or attrs.get("transBatchB"):
            return TensorType(None, dtype)
        shown = [
            _tensor(types, k).shape if k < len(types) and types[k] is not None else None for k in operands
        ]
        if operator.name == "MatMul":
            shown = [
                _transposed(shape) if attrs.get(flag) else shape
                for shape, flag in zip(shown, ("transA", "transB"))
            ]
        plain = tuple([
            None if shape is None else TensorType(shape, _some_type(operator.name, k))
            for k, shape in enumerate(shown)
        ])
        kept = {name: value for name, value in attrs.items() if name in operator.attributes}
        result = infer(plain, kept, lambda k: value_of(operands[k]) if k < len(operands) else None)
        return TensorType(result.shape if isinstance(result, TensorType) else None, dtype)

    return inferred


def _some_type(operator: str, k: int) -> str:
    """An element type that operand `k` may have: float32 if possible."""
    allowed = history().operators[operator][-1].types[k]
    return "float32" if allowed is None or "float32" in allowed else min(allowed)


def _transposed(shape: Shape | None) -> Shape | None:
    return shape if shape is None or len(shape) < 2 else (*shape[:-2], shape[-1], shape[-2])
