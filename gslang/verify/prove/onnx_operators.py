"""ONNX operators over symbolic tensors, and which values their attributes and whole-number operands may have.

Where an operand says which axes, or which shape, and its value is not known, every value is a case: it is chosen once for each input
and each shape that it is applied to, so that source and target see the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, permutations
from typing import Any

from gslang.dialect.signature import AttributeSpec
from gslang.verify.prove.axioms import apply, maximum, minimum, square_root
from gslang.verify.prove.domains import Attributes, Written, fresh_shape
from gslang.verify.prove.dtypes import Dtype
from gslang.verify.prove.paths import Choices, NotProved
from gslang.verify.prove.reals import Real, Token, as_term
from gslang.verify.prove.relay_arithmetic import averaged, convolved, elementwise, multiplied, reduced, standardised
from gslang.verify.prove.relay_movement import (
    broadcast_to_shape,
    concatenated,
    cut,
    inserted,
    new_shape,
    plain_axis,
    reshaped,
    transposed,
    without_axes,
)  # fmt: skip
from gslang.verify.prove.sizes import product, text_of
from gslang.verify.prove.tensors import Index, Tensor, Value, World, constant
from gslang.verify.prove.terms import ONE, ZERO, Term, inverse, number

Operands = Sequence[Value]
Attrs = dict[str, Any]


def operand(operands: Operands, k: int) -> Any:
    """Operand k, None where it is absent."""
    return operands[k] if k < len(operands) else None


# ── whole-number operands ──


def whole_numbers(world: World, tensor: Any, key: str, choose: Callable[[], tuple[Any, ...]]) -> tuple[Any, ...]:
    """The elements of a vector: known, or chosen for this case under `key`."""
    if tensor.items is not None:
        return tuple(tensor.items)
    if tensor.leaf is None:
        raise NotProved("a shape or axes that are computed")
    chosen = tensor.leaf.chosen
    if key not in chosen:
        if not world.reading:
            raise NotProved("a shape or axes that the source does not use in this way")
        chosen[key] = choose()
    return tuple(chosen[key])


def axes_operand(world: World, operands: Operands, k: int, attrs: Attrs, rank: int) -> tuple[int, ...] | None:
    """Axes that operand k (or the attribute, in older versions) says, counted from the front; None where there is none."""
    tensor = operand(operands, k)
    if tensor is None:
        return None
    subsets = [s for n in range(rank + 1) for s in combinations(range(rank), n)]
    found = whole_numbers(world, tensor, f"axes of {rank}", lambda: subsets[world.facts.choices.choose(len(subsets))])
    return tuple(plain_axis(world, a, rank) for a in found)


# ── movement ──


def _reshape(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, shape = operands[0], operand(operands, 1)
    if shape is None:
        raise NotProved("a reshape without a shape")
    if shape.items is not None:
        return reshaped(world, x, new_shape(world, x.shape, shape.items, bool(attrs["allowzero"])))
    key = f"shape for {', '.join(text_of(world.facts.normal(d)) for d in x.shape)}"
    return reshaped(world, x, whole_numbers(world, shape, key, lambda: fresh_shape(world, "new")))


def _transpose(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, axes = operands[0], attrs["perm"]
    rank = len(x.shape)
    order = tuple(range(rank))[::-1] if axes is None else tuple(plain_axis(world, a, rank) for a in axes)
    world.need_true(sorted(order) == list(range(rank)), "the axes of a transpose")
    return transposed(x, order)


def _flatten(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, axis = operands[0], attrs["axis"]
    rank = len(x.shape)
    world.need_true(-rank <= axis <= rank, "the axis of Flatten")
    axis = axis + rank if axis < 0 else axis
    return reshaped(world, x, (world.facts.normal(product(x.shape[:axis])), world.facts.normal(product(x.shape[axis:]))))


def _squeeze(world: World, operands: Operands, attrs: Attrs) -> Value:
    x = operands[0]
    axes = axes_operand(world, operands, 1, attrs, len(x.shape))
    if axes is None:
        axes = tuple(k for k, d in enumerate(x.shape) if world.facts.equal(d, 1))
    for a in axes:
        world.need_equal(x.shape[a], 1, "a squeezed axis")
    return without_axes(x, axes)


def _unsqueeze(world: World, operands: Operands, attrs: Attrs) -> Value:
    x = operands[0]
    new = operand(operands, 1)
    if new is None or new.items is None and new.leaf is None:
        raise NotProved("new axes that are not known")
    count = world.facts.choices.choose(3) if new.items is None else len(new.items)
    rank = len(x.shape) + count
    if new.items is None:
        world.notes.add("at most two axes are inserted at once, named from the front in order")
    subsets = list(combinations(range(rank), count))
    found = whole_numbers(world, new, f"new of {len(x.shape)}", lambda: subsets[world.facts.choices.choose(len(subsets))])
    world.need_true(len(found) == count, "the number of new axes")
    axes = sorted(plain_axis(world, a, rank) for a in found)
    world.need_true(len(set(axes)) == len(axes), "an axis twice")
    for a in axes:
        x = inserted(x, a, 1)
    return x


def _split(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, sizes = operands[0], operand(operands, 1)
    axis = plain_axis(world, attrs["axis"], len(x.shape))
    if sizes is None or sizes.items is None:
        raise NotProved("a split into parts that are not known")
    world.need_equal(sum(sizes.items), x.shape[axis], "the parts of a split")
    parts, begin = [], 0
    for size in sizes.items:
        world.need(size, "a part of a split")
        parts.append(cut(x, axis, begin, size))
        begin = begin + size
    return tuple(parts)


def _expand(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, shape = operands
    wanted = whole_numbers(world, shape, f"expanded {len(x.shape)}", lambda: fresh_shape(world, "wide"))
    return broadcast_to_shape(world, x, world.broadcast(x.shape, wanted))


def _concat(world: World, operands: Operands, attrs: Attrs) -> Value:
    return concatenated(world, [o for o in operands if o is not None], attrs["axis"])


# ── arithmetic ──


def _binary(name: str) -> Callable[[World, Operands, Attrs], Value]:
    def meaning(world: World, operands: Operands, attrs: Attrs) -> Value:
        world.need_same_dtype(operands[0].dtype, operands[1].dtype)
        return elementwise(world, name, operands, operands[0].dtype)

    return meaning


def _unary(name: str) -> Callable[[World, Operands, Attrs], Value]:
    return lambda world, operands, attrs: elementwise(world, name, operands[:1], operands[0].dtype)


def _n_ary(name: str, mean: bool = False) -> Callable[[World, Operands, Attrs], Value]:
    def meaning(world: World, operands: Operands, attrs: Attrs) -> Value:
        result = operands[0]
        for other in operands[1:]:
            world.need_same_dtype(result.dtype, other.dtype)
            result = elementwise(world, name, [result, other], result.dtype)
        if mean:
            world.need_real(result.dtype)
            result = elementwise(world, "multiply", [result, constant(number(Fraction(1, len(operands))), (), None)], result.dtype)
        return result

    return meaning


def _clip(world: World, operands: Operands, attrs: Attrs) -> Value:
    x = operands[0]
    for k, function in ((1, "maximum"), (2, "minimum")):
        bound = operand(operands, k)
        if bound is not None:
            x = elementwise(world, function, [x, bound], x.dtype)
    return x


def _swish(world: World, operands: Operands, attrs: Attrs) -> Value:
    x = operands[0]
    inner = elementwise(world, "multiply", [x, constant(as_term(attrs["alpha"]), (), None)], x.dtype)
    return elementwise(world, "multiply", [x, elementwise(world, "sigmoid", [inner], x.dtype)], x.dtype)


def _softplus(world: World, operands: Operands, attrs: Attrs) -> Value:
    x = operands[0]
    return Tensor(x.shape, x.dtype, lambda index: apply("log", [ONE + apply("exp", [x.at(index)])]))


def _leaky(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, alpha = operands[0], as_term(attrs["alpha"])
    return Tensor(x.shape, x.dtype, lambda index: maximum(x.at(index), ZERO) + minimum(x.at(index), ZERO) * alpha)


def _reduction(kind: str) -> Callable[[World, Operands, Attrs], Value]:
    def meaning(world: World, operands: Operands, attrs: Attrs) -> Value:
        x = operands[0]
        rank = len(x.shape)
        axes = axes_operand(world, operands, 1, attrs, rank)
        if not axes:
            if attrs.get("noop_with_empty_axes"):
                raise NotProved("a reduction over no axes")
            axes = tuple(range(rank))
        keep = bool(attrs["keepdims"])
        if kind == "square":
            return reduced(world, elementwise(world, "multiply", [x, x], x.dtype), axes, keep)
        if kind == "norm":
            whole = reduced(world, elementwise(world, "multiply", [x, x], x.dtype), axes, keep)
            return elementwise(world, "sqrt", [whole], x.dtype)
        return averaged(world, x, axes, keep) if kind == "mean" else reduced(world, x, axes, keep, kind)

    return meaning


def _softmax(world: World, operands: Operands, attrs: Attrs) -> Value:
    x = operands[0]
    axis = plain_axis(world, attrs["axis"], len(x.shape))
    e = elementwise(world, "exp", [x], x.dtype)
    whole = reduced(world, e, (axis,), True)
    return Tensor(x.shape, x.dtype, lambda index: e.at(index) * inverse(whole.at((*index[:axis], 0, *index[axis + 1 :]))))


def _log_softmax(world: World, operands: Operands, attrs: Attrs) -> Value:
    y = _softmax(world, operands, attrs)
    return elementwise(world, "log", [y], y.dtype)


# ── linear algebra ──


def _matmul(world: World, operands: Operands, attrs: Attrs) -> Value:
    a, b = operands
    world.need_same_dtype(a.dtype, b.dtype)
    world.need_true(len(a.shape) >= 1 and len(b.shape) >= 1, "the operands of MatMul")
    left, right = len(a.shape) == 1, len(b.shape) == 1
    y = multiplied(world, inserted(a, 0, 1) if left else a, inserted(b, 1, 1) if right else b, a.dtype)
    y = without_axes(y, (len(y.shape) - 1,)) if right else y
    return without_axes(y, (len(y.shape) - (1 if right else 2),)) if left else y


def _gemm(world: World, operands: Operands, attrs: Attrs) -> Value:
    a, b, c = operands[0], operands[1], operand(operands, 2)
    world.need_true(len(a.shape) == len(b.shape) == 2, "the operands of Gemm")
    world.need_same_dtype(a.dtype, b.dtype)
    a = transposed(a, [1, 0]) if attrs["transA"] else a
    b = transposed(b, [1, 0]) if attrs["transB"] else b
    y = multiplied(world, a, b, a.dtype)
    alpha, beta = as_term(attrs["alpha"]), as_term(attrs["beta"])
    if c is not None:
        world.need_same_dtype(a.dtype, c.dtype)
        wide = world.broadcast(y.shape, c.shape)
        world.need_true(len(wide) == 2, "the third operand of Gemm")
        for d, e in zip(y.shape, wide):
            world.need_equal(d, e, "the third operand of Gemm")

    def at(index: Index) -> Term:
        value = y.at(index) * alpha
        return value if c is None else value + world.element(c, y.shape, index) * beta

    return Tensor(y.shape, y.dtype, at)


def _conv(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, w, bias = operands[0], operands[1], operand(operands, 2)
    rank = len(w.shape) - 2
    world.need_true(rank >= 1 and len(x.shape) == rank + 2, "the ranks of a convolution's operands")
    world.need_same_dtype(x.dtype, w.dtype)
    strides, dilations, pads = attrs["strides"], attrs["dilations"], attrs["pads"]
    if attrs["auto_pad"] == "VALID":
        pads = None
    elif attrs["auto_pad"] != "NOTSET":
        raise NotProved("padding that depends on the size")
    both = [(pads[k], pads[rank + k]) for k in range(rank)] if pads is not None else [(0, 0)] * rank
    for sides in both:
        for width in sides:
            world.need(width, "a padding")
    y = convolved(world, x, w, strides or (1,) * rank, dilations or (1,) * rank, both, attrs["group"])
    if attrs["kernel_shape"] is not None:
        for a, b in zip(attrs["kernel_shape"], w.shape[2:]):
            world.need_equal(a, b, "`kernel_shape`")
    if bias is None:
        return y
    world.need_true(len(bias.shape) == 1, "a bias is a vector")
    world.need_equal(bias.shape[0], w.shape[0], "a bias of another length")
    world.need_same_dtype(x.dtype, bias.dtype)
    return Tensor(y.shape, y.dtype, lambda index: y.at(index) + bias.at((index[1],)))


def _channels(world: World, x: Tensor, vectors: Sequence[Tensor]) -> None:
    world.need_true(len(x.shape) >= 2, "a tensor with channels")
    for vector in vectors:
        world.need_true(len(vector.shape) == 1, "one number for each channel")
        world.need_equal(vector.shape[0], x.shape[1], "one number for each channel")


def _batch_norm(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, scale, shift, mean, variance = operands
    if attrs["training_mode"] != 0:
        raise NotProved("batch normalisation in training")
    _channels(world, x, operands[1:5])

    def at(index: Index) -> Term:
        c = (index[1],)
        root = square_root(variance.at(c) + as_term(attrs["epsilon"]))
        result: Term = (x.at(index) - mean.at(c)) * inverse(root) * scale.at(c) + shift.at(c)
        return result

    return (Tensor(x.shape, x.dtype, at),)


def _instance_norm(world: World, operands: Operands, attrs: Attrs) -> Value:
    x: Tensor
    scale: Tensor
    shift: Tensor
    x, scale, shift = operands
    _channels(world, x, operands[1:3])
    y = standardised(world, x, tuple(range(2, len(x.shape))), attrs["epsilon"])
    return Tensor(x.shape, x.dtype, lambda index: y.at(index) * scale.at((index[1],)) + shift.at((index[1],)))


def _last_axes(world: World, attrs: Attrs, rank: int) -> tuple[int, ...]:
    return tuple(range(plain_axis(world, attrs["axis"], rank), rank))


def _layer_norm(world: World, operands: Operands, attrs: Attrs) -> Value:
    x, scale, shift = operands[0], operands[1], operand(operands, 2)
    y = standardised(world, x, _last_axes(world, attrs, len(x.shape)), attrs["epsilon"])
    y = elementwise(world, "multiply", [y, scale], x.dtype)
    for d, e in zip(y.shape, x.shape):
        world.need_equal(d, e, "the scale of a layer normalisation")
    return (y if shift is None else elementwise(world, "add", [y, shift], x.dtype),)


def _rms_norm(world: World, operands: Operands, attrs: Attrs) -> Value:
    x: Tensor = operands[0]
    axes = _last_axes(world, attrs, len(x.shape))
    square = averaged(world, elementwise(world, "multiply", [x, x], x.dtype), axes, True)

    def at(index: Index) -> Term:
        place = tuple(0 if k in axes else p for k, p in enumerate(index))
        return x.at(index) * inverse(square_root(square.at(place) + as_term(attrs["epsilon"])))

    return elementwise(world, "multiply", [Tensor(x.shape, x.dtype, at), operands[1]], x.dtype)


def _global_average(world: World, operands: Operands, attrs: Attrs) -> Value:
    x = operands[0]
    world.need_true(len(x.shape) >= 3, "a tensor with channels and space")
    return averaged(world, x, tuple(range(2, len(x.shape))), True)


Meaning = Callable[[World, Operands, Attrs], Value]
ONNX: dict[str, Meaning] = {
    "Add": _binary("add"), "Sub": _binary("subtract"), "Mul": _binary("multiply"), "Div": _binary("divide"), "Pow": _binary("power"),
    "Neg": _unary("negative"), "Sqrt": _unary("sqrt"), "Exp": _unary("exp"), "Log": _unary("log"), "Abs": _unary("abs"), "Relu": _unary("relu"),
    "Reciprocal": _unary("reciprocal"), "Sigmoid": _unary("sigmoid"), "Swish": _swish, "Softplus": _softplus, "LeakyRelu": _leaky,
    "Sum": _n_ary("add"), "Max": _n_ary("maximum"), "Min": _n_ary("minimum"), "Mean": _n_ary("add", mean=True), "Clip": _clip,
    "Identity": lambda w, o, a: o[0], "Dropout": lambda w, o, a: (o[0],), "Transpose": _transpose, "Reshape": _reshape, "Flatten": _flatten,
    "Squeeze": _squeeze, "Unsqueeze": _unsqueeze, "Concat": _concat, "Split": _split, "Expand": _expand,
    "ReduceSum": _reduction("sum"), "ReduceMean": _reduction("mean"), "ReduceMax": _reduction("max"), "ReduceMin": _reduction("min"),
    "ReduceProd": _reduction("prod"), "ReduceSumSquare": _reduction("square"), "ReduceL2": _reduction("norm"), "Softmax": _softmax,
    "LogSoftmax": _log_softmax, "MatMul": _matmul, "Gemm": _gemm, "Conv": _conv, "BatchNormalization": _batch_norm,
    "InstanceNormalization": _instance_norm, "LayerNormalization": _layer_norm, "RMSNormalization": _rms_norm,
    "GlobalAveragePool": _global_average,
}  # fmt: skip

ONNX_RANKS: dict[str, tuple[int | None, ...]] = {
    "Gemm": (2, 2), "BatchNormalization": (None, 1, 1, 1, 1), "InstanceNormalization": (None, 1, 1), "Conv": (None, None, 1),
}  # fmt: skip


# ── attributes ──

_TRUTHS = frozenset({"keepdims", "transA", "transB", "allowzero", "training_mode"})


def onnx_attribute(world: World, operator: str, spec: AttributeSpec, operands: Operands, attrs: Attributes) -> Any:
    """A value of an attribute that the rule leaves open."""
    name, choices = spec.name, world.facts.choices
    first = next((o for o in operands if isinstance(o, Tensor)), None)
    rank = len(first.shape) if first is not None else 0
    bases = {t.base for t in spec.types}
    if name == "axis":
        if operator == "Flatten":
            axis = choices.choose(rank + 1)
            return axis if axis == rank else Written(choices, axis, [lambda: axis, lambda: axis - rank])
        axis = choices.choose(rank)
        return Written(choices, axis, [lambda: axis, lambda: axis - rank])
    if name == "perm":
        orders = list(permutations(range(rank)))
        order = orders[choices.choose(len(orders))]
        ways: list[Callable[[], Any]] = [lambda: order]
        if order == tuple(range(rank))[::-1]:
            ways.append(lambda: None)
        return Written(choices, order, ways)
    if operator in ("Conv", "ConvTranspose") and len(operands) > 1 and isinstance(operands[1], Tensor):
        return _of_convolution(world, name, len(operands[1].shape) - 2, operands, choices)
    if name in _TRUTHS:
        return choices.choose(2)
    if name in ("noop_with_empty_axes", "stash_type", "saturate", "round_mode", "momentum", "seed"):
        return spec.default  # says nothing about values over real numbers, where it is allowed
    if bases == {"float"} and not any(t.depth for t in spec.types):
        world.facts.count += 1
        return Real.named(f"{name}#{world.facts.count}", choices)
    if "dtype" in bases:
        return Dtype(choices)
    if bases == {"str"} and operator in ("Gelu",):
        world.facts.count += 1
        return Token(f"{name}#{world.facts.count}", choices)
    raise NotProved(f"attribute `{name}` of `{operator}` may be any")


def _of_convolution(world: World, name: str, rank: int, operands: Operands, choices: Choices) -> Any:
    facts = world.facts
    world.need_true(rank >= 1, "the rank of a kernel")

    def written(values: tuple[Any, ...], default: int) -> Written:
        def absent() -> None:
            for value in values:
                facts.learn_equal(value, default)

        return Written(choices, values, [lambda: tuple(map(facts.normal, values)), absent])

    match name:
        case "strides" | "dilations":
            return written(tuple(facts.size(name) for _ in range(rank)), 1)
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
    raise NotProved(f"attribute `{name}` of a convolution may be any")
