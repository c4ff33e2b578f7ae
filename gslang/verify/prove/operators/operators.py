"""The meaning of an operator over symbolic tensors, by dialect; declared values of a file's own operators;
unknown functions.
"""

from __future__ import annotations

from collections.abc import Sequence

from gslang.base.open_types import Attrs
from gslang.dialect.dialect import Dialect
from gslang.dialect.signature import AttributeSpec, Signature
from gslang.verify.prove.operators.domains import Attributes, attribute
from gslang.verify.prove.operators.families import Family, Sums, joined_family, split_family
from gslang.verify.prove.operators.infinities import without_infinities
from gslang.verify.prove.operators.onnx_operators import ONNX, ONNX_RANKS, onnx_attribute
from gslang.verify.prove.operators.onnx_quantised import cast, converted
from gslang.verify.prove.operators.relay_arithmetic import ARITHMETIC, collapse, elementwise
from gslang.verify.prove.operators.relay_dynamic import DYNAMIC
from gslang.verify.prove.operators.relay_movement import MOVEMENT
from gslang.verify.prove.operators.tensors import Meaning, Tensor, Value, World, constant
from gslang.verify.prove.operators.truths import is_of_truths, truth_function
from gslang.verify.prove.operators.uninterpreted import is_of_a_file, said
from gslang.verify.prove.terms.axioms import FUNCTIONS
from gslang.verify.prove.terms.dtypes import Dtype, name_of
from gslang.verify.prove.terms.paths import NotProved
from gslang.verify.prove.terms.reals import Number, as_term
from gslang.verify.prove.terms.sizes import Size

_RELAY: dict[str, Meaning] = {**MOVEMENT, **ARITHMETIC, **DYNAMIC}
# The ranks that operators demand of their operands, None for any.
RANKS_OF_OPERANDS: dict[str, tuple[int | None, ...]] = {
    "nn.conv1d": (3, 3),
    "nn.conv2d": (4, 4),
    "nn.conv3d": (5, 5),
    "nn.dense": (None, 2),
    "nn.matmul": (None, 2),
    "nn.batch_matmul": (3, 3),
    "nn.bias_add": (None, 1),
    "nn.batch_norm": (None, 1, 1, 1, 1),
    "nn.layer_norm": (None, 1, 1),
    "nn.instance_norm": (None, 1, 1),
    "nn.group_norm": (None, 1, 1),
    "matrix_set_diag": (2, 1),
    "nn.pad": (None, 0),
    "dyn.strided_slice": (None, 1, 1, 1, 1),
    "dyn.broadcast_to": (None, 1), **ONNX_RANKS,
}
# The least and the largest rank, where operators take several.
RANKS_BETWEEN: dict[str, tuple[tuple[int, int] | None, ...]] = {
    "QuantizeLinear": (None, (0, 1), (0, 1)),
    "DequantizeLinear": (None, (0, 1), (0, 1)),
    **dict.fromkeys(("Gemm", "com.microsoft.FusedGemm"), (None, None, (0, 2))),
    "Attention": ((3, 4), (3, 4), (3, 4), (2, 4)),
    "com.microsoft.RotaryEmbedding": ((3, 4), (1, 2)),
    "com.microsoft.MultiHeadAttention": (
        (3, 3), (3, 4), (3, 4), (1, 1), (1, 3), (4, 4), (4, 4), (4, 4),
    ),
    "com.microsoft.Attention": ((3, 3), (2, 2), (1, 1), (1, 4), (5, 5), (4, 4)),
    "Pad": (None, None, (0, 1)),
    "Range": ((0, 1),) * 3,
    "MatMulInteger": (None, None, (0, 1), (0, 1)),
    "com.microsoft.MatMulIntegerToFloat": (None, None, (0, 1), (0, 1), (0, 1), (0, 1)),
}
_SAME = frozenset(
    {"copy", "annotation.stop_fusion", "annotation.checkpoint", "device_copy", "annotation.cast_hint"}
)
_BOOLEAN = frozenset({"isnan", "isinf", "isfinite", "IsNaN", "IsInf"})


def meaning_of(
    world: World, dialect: Dialect, operator: str, operands: Sequence[Value], attrs: Attrs
) -> Value:
    """The result of a call: a tensor or a tuple of them.

    Raises `NotProved` for operators without a meaning here.
    """
    signature = dialect.operators[operator]
    if signature.departs:
        raise NotProved(f"`{operator}` is redeclared without a `value`")
    if world.has_infinities:
        operands = without_infinities(operator, operands)
    if is_of_a_file(dialect, operator):
        return declared_function(world, signature, operands, attrs)
    if (found := over_instances(world, operator, operands, attrs)) is not None:
        return found
    if dialect.name == "onnx":
        if operator in ONNX:
            return ONNX[operator](world, operands, attrs)
        if (
            "elementwise" in signature.traits and "stateful" not in signature.traits
            and operator != "PRelu"
        ):
            return unknown_function(world, operator, operands, attrs)
        raise NotProved(f"`{operator}` is not supported")
    if dialect.name != "relay":
        raise NotProved(f"operators of the dialect {dialect.name} are not supported")
    if operator == "full":
        return filled(world, attrs["shape"], operands[0], attrs["dtype"] or operands[0].dtype)
    if operator == "full_like":
        return filled(world, operands[0].shape, operands[1], operands[0].dtype)
    if operator in _RELAY:
        return _RELAY[operator](world, operands, attrs)
    if operator == "collapse_sum_to":
        if operands[1].items is None:
            raise NotProved("shapes that are not constant are not supported")
        return collapse(world, operands[0], operands[1].items)
    if operator == "cast":
        return cast(world, operands[0], attrs["dtype"])
    if operator == "clip":
        return _clip(world, operands[0], attrs["a_min"], attrs["a_max"])
    if operator in _SAME:
        return operands[0]
    if "elementwise" in signature.traits and "stateful" not in signature.traits and operator != "nn.prelu":
        return unknown_function(world, operator, operands, attrs)
    raise NotProved(f"`{operator}` is not supported")


def _clip(world: World, x: Tensor, low: object, high: object) -> Tensor:
    """Of bounds in an unknown order, the lower one has the last word; ONNX's `clip` has the same meaning only
    of bounds in order."""
    least, most = (constant(world.element_of(bound), (), x.dtype) for bound in (low, high))
    if isinstance(low, (int, float)) and isinstance(high, (int, float)) and low <= high:
        return elementwise(world, "clip", [x, least, most], x.dtype)
    return elementwise(world, "maximum", [elementwise(world, "minimum", [x, most], x.dtype), least], x.dtype)


def filled(world: World, shape: Sequence[Size | int], fill: Tensor, dtype: str | Dtype) -> Tensor:
    """A tensor of one number, which is converted to its type: 0 and 1 are the same in each."""
    for size in shape:
        world.need(size, "size of a new tensor")
    world.need_true(len(fill.shape) == 0, "a fill value that is not a scalar")
    if fill.splat is not None and fill.splat.constant in (0, 1):
        return constant(fill.splat, shape, dtype)
    scalar = converted(world, fill, dtype)
    return Tensor(tuple(shape), dtype, lambda index: scalar.at(()))


def over_instances(world: World, operator: str, operands: Sequence[Value], attrs: Attrs) -> Value:
    """Joins and splits of all instances of a block; None for other calls."""
    first = operands[0] if operands else None
    family = first[0] if isinstance(first, tuple) and len(first) == 1 else first
    if operator in ("concatenate", "Concat") and isinstance(family, Family) and len(operands) == 1:
        return joined_family(world, family, attrs["axis"])
    if operator == "split" and isinstance(sums := attrs["indices_or_sections"], Sums):
        if not sums.inner:
            raise NotProved("splits at the end of the axis are not supported")
        return split_family(world, operands[0], sums.sizes, attrs["axis"])
    if (
        operator == "Split" and len(operands) == 2 and operands[1] is not None
        and isinstance(sizes := operands[1].items, tuple) and sizes and isinstance(sizes[0], Family)
    ):
        return split_family(world, operands[0], sizes[0], attrs["axis"])
    if any(
        isinstance(o, Family) or isinstance(o, tuple) and any(isinstance(p, Family) for p in o)
        for o in operands
    ):
        raise NotProved(f"`{operator}` over all instances is not supported")
    return None


def open_attribute(
    world: World,
    dialect: Dialect,
    operator: str,
    spec: AttributeSpec,
    operands: Sequence[Value],
    attrs: Attributes,
) -> object:
    """A value of an attribute that the rule leaves open: one of several cases, with symbolic numbers."""
    choose = onnx_attribute if dialect.name == "onnx" else attribute
    return choose(world, operator, spec, operands, attrs)


# The numbers of attributes that a function with a law takes behind its operands, in this order.
_NUMBERS = {
    "HardSigmoid": ("alpha", "beta"),
    **dict.fromkeys(
        ("com.microsoft.QuickGelu", "leaky_relu", "ThresholdedRelu", "Elu", "Celu"), ("alpha",)
    ),
}


def declared_function(
    world: World, signature: Signature, operands: Sequence[Value], attrs: Attrs
) -> Tensor:
    """The result of an element-wise operator that a file declares without a `value`: a function of its own,
    with an element type of its own, for each choice of operand types.
    """
    present = [o for o in operands if o is not None]
    if "elementwise" not in signature.traits or not all(isinstance(o, Tensor) for o in present):
        raise NotProved(f"`{signature.name}` is not supported")
    world.notes.add(f"`{signature.name}` gives equal results for equal operands")
    given = [f"{name} {said(value)}" for name, value in sorted(attrs.items())]
    absent = [k for k, o in enumerate(operands) if o is None]
    function = f"declared {signature.name} {given} {absent} {[str(name_of(o.dtype)) for o in present]}"
    if (function,) not in world.slices:
        world.kept.append(dict(attrs))
        world.slices[function,] = Dtype(world.facts.choices)
    return elementwise(world, function, present, world.slices[function,])


def unknown_function(
    world: World, operator: str, operands: Sequence[Tensor | None], attrs: Attrs
) -> Tensor:
    """An element-wise function of which nothing is known but what it is applied to: operands by slot,
    attributes by name.
    """
    present = [o for o in operands if o is not None]
    if is_of_truths(operator):
        return truth_function(world, operator, present)
    for other in present[1:]:
        world.need_same_dtype(present[0].dtype, other.dtype)
    dtype = "bool" if operator in _BOOLEAN else present[0].dtype
    function = operator.removeprefix("nn.") if operator.removeprefix("nn.") in FUNCTIONS else operator
    if function in FUNCTIONS and len(present) == len(operands):
        order = _NUMBERS.get(function, ())
        if set(order) != set(attrs):
            raise NotProved(f"the attributes of `{operator}` are not supported")
        return elementwise(
            world, function, [*present, *[constant(as_term(attrs[name]), (), None) for name in order]], dtype
        )
    numbers = {
        k: attrs[k]
        for k in sorted(attrs)
        if isinstance(attrs[k], (int, float, Size, Number)) and not isinstance(attrs[k], bool)
    }
    plain = sorted((k, v) for k, v in attrs.items() if k not in numbers)
    if any(isinstance(v, Dtype) for _, v in plain):
        raise NotProved(f"the result type of `{operator}` is unknown")
    absent = [k for k, o in enumerate(operands) if o is None]
    while absent and all(o is None for o in operands[absent[-1] :]):
        absent.pop()  # what is left out at the end says nothing
    if plain or numbers or absent:
        function += f" {plain} {list(numbers)} {absent}"
    return elementwise(
        world, function, [*present, *[constant(as_term(v), (), None) for v in numbers.values()]], dtype
    )
