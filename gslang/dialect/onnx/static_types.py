"""Types of the commonest calls on operands of known sizes: no package is asked, and equal calls are looked at
once.

What is not here, or does not fit, is left to the `onnx` package's inference.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from gslang.base.open_types import Attrs
from gslang.dialect.tensor_type import Shape, TensorType, TupleType, Type, is_static

_Shapes = Sequence[tuple[int, ...]]
_Rule = Callable[[_Shapes, Attrs], Shape | None]


class StaticTypes:
    """`of(operator, types, attrs)`: `static_type`, remembered."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], tuple[Type | None, object]] = {}

    def of(self, operator: str, types: Sequence[Type | None], attrs: Attrs) -> Type | None:
        """`attrs` are compared by identity: equal calls share them."""
        key = (operator, id(attrs), *map(id, types))
        found = self._known.get(key)
        if found is None:
            made = static_type(operator, types, attrs)
            found = self._known[key] = (
                made,
                (attrs, types),
            )  # kept, so that nothing else gets their identity
        return found[0]


def static_type(
    operator: str,
    types: Sequence[Type | None],
    attrs: Attrs,
    value_of: Callable[[int], object] | None = None,
) -> Type | None:
    """The type of a call's first result (of `Split`: of all), None where it is not known here.

    `value_of`: the value of an operand, or None.
    """
    shapes = [
        t.shape
        for t in types
        if isinstance(t, TensorType) and t.dtype is not None and t.shape is not None and is_static(t.shape)
    ]
    first = types[0] if types else None
    if len(shapes) < len(types) or not isinstance(first, TensorType):
        return None
    try:
        if operator in _BY_VALUE:
            numbers = None if value_of is None or len(types) != 2 else _numbers(value_of, 1)
            return None if numbers is None else _BY_VALUE[operator](first, [int(n) for n in numbers], attrs)
        rule = _RULES.get(operator)
        if rule is None or any(isinstance(t, TensorType) and t.dtype != first.dtype for t in types):
            return None
        shape = rule(shapes, attrs)  # type: ignore[arg-type]
    except (LookupError, ValueError, TypeError, ArithmeticError):
        return None
    return (
        None
        if shape is None or any(type(d) is not int or d < 0 for d in shape)
        else TensorType(shape, first.dtype)
    )


def _numbers(value_of: Callable[[int], Any], k: int) -> Any:
    """The elements of an operand's value, without an array where that can be."""
    if (numbers := getattr(value_of, "numbers", None)) is not None:
        return numbers(k)
    array = value_of(k)
    return None if array is None else array.tolist()


def _split(type_: TensorType, sizes: Sequence[int], attrs: Attrs) -> Type | None:
    shape: Any = type_.shape
    axis = attrs.get("axis", 0)
    if (
        not -len(shape) <= axis < len(shape)
        or sum(sizes) != shape[axis]
        or min(sizes) < 0
        or attrs.get("num_outputs") is not None
    ):
        return None
    axis %= len(shape)
    return TupleType(
        tuple([TensorType((*shape[:axis], size, *shape[axis + 1 :]), type_.dtype) for size in sizes])
    )


def _reshape(type_: TensorType, sizes: Sequence[int], attrs: Attrs) -> Type | None:
    shape: Any = type_.shape
    if (
        attrs.get("allowzero")
        or min(shape, default=1) < 1
        or min(sizes, default=1) < -1
        or sizes.count(-1) > 1
    ):
        return None
    made = [shape[k] if size == 0 else size for k, size in enumerate(sizes)]
    rest = math.prod(size for size in made if size > 0)
    made = [math.prod(shape) // rest if size == -1 else size for size in made]
    return TensorType(tuple(made), type_.dtype) if math.prod(made) == math.prod(shape) else None


def _same(shapes: _Shapes, attrs: Attrs) -> Shape | None:
    return shapes[0] if len(shapes) == 1 else None


def _softmax(shapes: _Shapes, attrs: Attrs) -> Shape | None:
    (shape,) = shapes
    axis = attrs.get("axis")
    return shape if -len(shape) <= (-1 if axis is None else axis) < len(shape) else None


def _spread(*shapes: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape of operands that are spread over each other; None if they cannot be."""
    rank = max(map(len, shapes))
    columns = list(zip(*[(1,) * (rank - len(shape)) + shape for shape in shapes]))
    sizes = [{*column} - {1} for column in columns]
    return None if any(len(size) > 1 for size in sizes) else tuple([next(iter(size), 1) for size in sizes])


def _elementwise(shapes: _Shapes, attrs: Attrs) -> Shape | None:
    return _spread(*shapes) if len(shapes) == 2 else None


def _transpose(shapes: _Shapes, attrs: Attrs) -> Shape | None:
    (shape,) = shapes
    order = attrs.get("perm")
    order = tuple(range(len(shape)))[::-1] if order is None else order
    return tuple([shape[k] for k in order]) if sorted(order) == list(range(len(shape))) else None


def _matmul(shapes: _Shapes, attrs: Attrs) -> Shape | None:
    a, b = shapes
    if len(a) < 2 or len(b) < 2 or a[-1] != b[-2]:
        return None
    batch = _spread(a[:-2], b[:-2]) if len(a) > 2 or len(b) > 2 else ()
    return None if batch is None else (*batch, a[-2], b[-1])


def _gemm(shapes: _Shapes, attrs: Attrs) -> Shape | None:
    a, b = shapes[0][:: -1 if attrs.get("transA") else 1], shapes[1][:: -1 if attrs.get("transB") else 1]
    (rows, inner), (again, columns) = a, b
    fits = inner == again and (len(shapes) < 3 or _spread(shapes[2], (rows, columns)) == (rows, columns))
    return (rows, columns) if fits else None


def _concat(shapes: _Shapes, attrs: Attrs) -> Shape | None:
    rank, axis = len(shapes[0]), attrs["axis"]
    if type(axis) is not int or not -rank <= axis < rank:
        return None
    axis %= rank
    others = {(*shape[:axis], *shape[axis + 1 :]) for shape in shapes if len(shape) == rank}
    if len(others) != 1 or any(len(shape) != rank for shape in shapes):
        return None
    return (*shapes[0][:axis], sum([shape[axis] for shape in shapes]), *shapes[0][axis + 1 :])


def _batch_norm(shapes: _Shapes, attrs: Attrs) -> Shape | None:
    """At inference."""
    fits = (
        len(shapes) == 5
        and len(shapes[0]) > 1
        and {*shapes[1:]} == {shapes[0][1:2]}
        and not attrs.get("training_mode")
    )
    return shapes[0] if fits and not attrs.keys() - {"epsilon", "momentum", "training_mode"} else None


def _conv(shapes: _Shapes, attrs: Attrs) -> Shape | None:
    (batch, channels, *sizes), (made, per_group, *kernel) = shapes[:2]
    rank = len(sizes)
    ones = (1,) * rank
    steps, spacing, pads = (
        attrs.get(name) or usual
        for name, usual in (("strides", ones), ("dilations", ones), ("pads", (0,) * 2 * rank))
    )
    stated = attrs.get("kernel_shape") or tuple(kernel)
    lengths = {len(kernel), len(steps), len(spacing), len(pads) / 2}
    fits = lengths == {rank} and stated == tuple(kernel) and per_group * attrs.get("group", 1) == channels
    if not fits or attrs.get("auto_pad", "NOTSET") != "NOTSET" or min(*steps, *spacing, 1) < 1:
        return None
    room = [
        size + before + after - (wide - 1) * far
        for size, before, after, wide, far in zip(sizes, pads, pads[rank:], kernel, spacing)
    ]
    return (batch, made, *[(left - 1) // step + 1 for left, step in zip(room, steps)])


_BY_VALUE: Final[Mapping[str, Callable[[TensorType, Sequence[int], Attrs], Type | None]]] = {
    "Split": _split,
    "Reshape": _reshape,
}
_UNARY: Final = (
    "Abs Ceil Erf Exp Floor Identity LeakyRelu Log Neg Reciprocal Relu Sigmoid Sqrt Tanh"
).split()
_RULES: Final[Mapping[str, _Rule]] = {
    **dict.fromkeys(_UNARY, _same),
    **dict.fromkeys("Add Sub Mul Div".split(), _elementwise),
    "Softmax": _softmax, "Transpose": _transpose, "MatMul": _matmul, "Gemm": _gemm, "Concat": _concat,
    "BatchNormalization": _batch_norm, "Conv": _conv,
}  # fmt: skip
