"""Types of new nodes, by the shape inference of the `onnx` package: one node at a time, in the newest
version.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final

from gslang.base.arrays import Array
from gslang.base.open_types import Attrs
from gslang.base.quick_dataclass import dataclass
from gslang.dialect.onnx.attributes import Body, Opaque, attribute_message
from gslang.dialect.onnx.dtypes import type_message, type_of
from gslang.dialect.onnx.harmful import why_harmful
from gslang.dialect.onnx.messages import compiled, messages
from gslang.dialect.onnx.package_schemas import newest, package_installed
from gslang.dialect.onnx.schemas import split_name
from gslang.dialect.onnx.static_types import static_type
from gslang.dialect.onnx.tensors import tensor_message
from gslang.dialect.onnx.versions import history
from gslang.dialect.signature import Infer, Signature, TypeInferenceError
from gslang.dialect.tensor_type import UNKNOWN, Symbol, TensorType, TupleType, Type, is_static

if TYPE_CHECKING:
    from onnx import NodeProto, TensorProto, TypeProto

_SMALL: Final = 64  # values with more elements say nothing about shapes
_FLOATS: Final = frozenset({"Resize", "Upsample", "Range"})  # whose shape follows from float values


def inference(signatures: Mapping[str, Signature], names: Iterable[str]) -> dict[str, Infer]:
    """Operator → inference; of none without the package, so that all results are of unknown type."""
    if not package_installed():
        return {}
    return {name: partial(_infer, signatures, name) for name in names}


def _infer(
    signatures: Mapping[str, Signature],
    name: str,
    types: tuple[Type | None, ...],
    attrs: Attrs,
    value_of: Callable[[int], object],
) -> Type | None:
    signature = signatures[name]
    if (
        signature.results in ("tensor", "tuple")
        and (own := static_type(signature.name, types, attrs, value_of)) is not None
    ):
        return own
    if any(isinstance(v, (Body, Opaque)) for v in attrs.values()) or any(
        isinstance(t, TupleType) for t in types
    ):
        return None
    if why := why_harmful(signature.name, attrs, types):
        raise TypeInferenceError(why)
    if is_mistyped(signature.name, attrs):
        return _of_stated_sizes(types, attrs)
    count = _results(signature, attrs, types, value_of)
    if count is None or newest(signature.name) is None:
        return None
    values = _values_read(signature, types, value_of)
    call = _Call(signature, count, types, attrs, values, _key(signature, count, types, attrs, values))
    try:
        hash(call)
    except TypeError:  # an attribute is an array
        return _types_of_call.__wrapped__(call)
    return _types_of_call(call)


@dataclass(frozen=True, slots=True, eq=False)
class _Call:
    """All that the types of a call's results (`count`) depend on. `values`: of operands that are read; `key`:
    equal for equal calls.
    """

    signature: Signature
    count: int
    types: tuple[Type | None, ...]
    attrs: Attrs
    values: Mapping[int, Array]
    key: tuple[object, ...]

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Call) and self.key == other.key


def _key(
    signature: Signature,
    count: int,
    types: tuple[Type | None, ...],
    attrs: Attrs,
    values: Mapping[int, Array],
) -> tuple[object, ...]:
    """1 and 1.0 are of different types."""
    return (
        id(signature), count, types,
        tuple([(name, _kinds(value), value) for name, value in attrs.items()]),
        tuple([(k, v.dtype.str, v.shape, v.tobytes()) for k, v in values.items()]),
    )


def _kinds(value: object) -> object:
    return tuple(map(_kinds, value)) if isinstance(value, tuple) else value.__class__


def _values_read(
    signature: Signature, types: tuple[Type | None, ...], value_of: Callable[[int], Any]
) -> dict[int, Array]:
    """The values that types may depend on, as far as they are known."""
    operator = split_name(signature.name)[1]
    read = [
        k for k, type_ in enumerate(types)
        if isinstance(type_, TensorType) and (
            _worth_reading(operator, type_) or fitting_dtype(signature.name, k, type_.dtype) != type_.dtype
        )
    ]
    return {k: value for k in read if (value := value_of(k)) is not None}


@lru_cache(maxsize=4096)
def _types_of_call(call: _Call) -> Type | None:
    """The type of a call, as the package infers it; calls of the layers of a model are often equal."""
    signature, types, attrs = call.signature, call.types, call.attrs
    schema = newest(signature.name)
    domain, type = split_name(signature.name)
    node = messages().NodeProto(op_type=type, domain=domain, output=[f"r{k}" for k in range(call.count)])
    known: dict[str, TypeProto] = {}
    data: dict[str, TensorProto] = {}
    for k, operand in enumerate(types):
        name = f"x{k}"
        node.input.append(name)
        if isinstance(operand, TensorType):
            known[name] = type_message(operand)
            if k in call.values:
                dtype = fitting_dtype(signature.name, k, operand.dtype)
                data[name] = tensor_message(call.values[k], dtype, name)
                known[name] = type_message(TensorType(operand.shape, dtype))
    if len(known) < len(types):
        wanted = [k for k, operand in enumerate(types) if operand is None]
        optional = [o.optional for o in signature.operands]
        if not all(k < len(optional) and optional[k] for k in wanted):
            return None
        # an omitted operand, or one of which nothing is known: both say nothing about the shape
        for k in wanted:
            node.input[k] = ""
    _add_attributes(node, signature, schema, attrs, types, known, data)
    found = _results_inferred(schema, node, known, data)
    if found is None:
        return None
    symbols = {d for t in types if isinstance(t, TensorType) for d in t.shape or () if isinstance(d, Symbol)}
    results = [_own_symbols(type_of(found[name]), symbols) if name in found else None for name in node.output]
    results += [None] * (call.count - len(results))
    return results[0] if signature.results == "tensor" else TupleType(tuple(results))


def is_mistyped(operator: str, attrs: Attrs) -> bool:
    """True for calls that the package may infer wrong types of: where sizes are stated, its `ConvTranspose`
    stops at the first one below the input's; where padding is to keep them, it adds to them.
    """
    return operator == "ConvTranspose" and bool(
        attrs.get("output_shape") or attrs.get("auto_pad") in ("SAME_UPPER", "SAME_LOWER")
    )


def _of_stated_sizes(types: tuple[Type | None, ...], attrs: Attrs) -> Type | None:
    """The type of such a `ConvTranspose`: with the sizes of `output_shape` (its last ones, of versions that
    also state batch and channels), or those of the input times the strides.
    """
    x, w = [t if isinstance(t, TensorType) else TensorType(None, None) for t in (*types, None, None)[:2]]
    if x.shape is None:
        return TensorType(None, x.dtype)
    sizes, count, groups = x.shape[2:], len(x.shape) - 2, attrs.get("group") or 1
    steps, stated = attrs.get("strides") or (1,) * count, attrs.get("output_shape")
    if not 0 < count <= len(stated or sizes) or len(steps) != count:
        raise TypeInferenceError(f"a size and a stride are needed for each of {count} axes")
    times = partial(map, lambda d, n: d if n == 1 else d * n if isinstance(d, int) else UNKNOWN)
    made = w.shape[1:2] if w.shape is not None and len(w.shape) > 1 else (UNKNOWN,)
    return TensorType(
        (x.shape[0], *times(made, (groups,)), *(stated[-count:] if stated else times(sizes, steps))), x.dtype
    )


def _results_inferred(
    schema: Any, node: NodeProto, types: Mapping[str, TypeProto], values: Mapping[str, TensorProto]
) -> dict[str, TypeProto] | None:
    """Result → `TypeProto`; None where the package finds the node itself wrong. Optional results that an
    attribute forbids are taken from the node. Raises `TypeInferenceError`.
    """
    InferenceError = compiled().shape_inference.InferenceError
    try:
        try:
            return _inferred(schema, node, types, values)
        # optional results may be forbidden by an attribute (`BatchNormalization` at inference)
        except InferenceError:
            needed = sum(f.option == f.option.Single for f in schema.outputs)
            if needed == len(node.output):
                raise
            del node.output[needed:]
            return _inferred(schema, node, types, values)
    except InferenceError as error:
        raise TypeInferenceError(str(error).strip().splitlines()[-1]) from None
    except Exception:  # the package's checks of the node itself; a wrong node says nothing about its type
        return None


def _inferred(
    schema: Any, node: NodeProto, types: Mapping[str, TypeProto], values: Mapping[str, TensorProto]
) -> dict[str, TypeProto]:
    """Result → `TypeProto`, as the package infers it. Raises what it raises."""
    found = schema._infer_node_outputs(
        node.SerializeToString(),
        {name: type.SerializeToString() for name, type in types.items()},
        {name: values[name].SerializeToString() for name in node.input if name in values},
        {}, {schema.domain: max(schema.since_version, 1)}, messages().IR_VERSION,
    )
    return {name: messages().TypeProto.FromString(data) for name, data in found.items()}


def _add_attributes(
    node: NodeProto, signature: Signature, schema: Any, attrs: Attrs, types: tuple[Type | None, ...],
    known: dict[str, TypeProto], data: dict[str, TensorProto],
) -> None:  # fmt: skip
    """The attributes, and as operands those that the newest version takes as such."""
    places = {o.name: k for k, o in enumerate(signature.operands) if o.attribute is not None}
    for name, value in attrs.items():
        if value is None:
            continue
        if name in schema.attributes:
            kind = schema.attributes[name].type.name
            node.attribute.append(attribute_message(name, value, schema.name, kind))
        elif name in places and places[name] >= len(types):
            k = places[name]
            node.input.extend([""] * (k + 1 - len(node.input)))
            node.input[k] = f"x{k}"
            tensor = operand_value(value, types[0] if types else None)
            data[f"x{k}"] = tensor
            known[f"x{k}"] = type_message(
                TensorType(tuple(tensor.dims), "int64" if tensor.data_type == 7 else None)
            )
            known[f"x{k}"].tensor_type.elem_type = tensor.data_type


def fitting_dtype(operator: str, k: int, dtype: str | None) -> str | None:
    """The type of a new constant as operand `k`: int64 where that is meant and its own is not allowed (axes,
    shapes).

    The language gives a constant the type of the call's first tensor operand.
    """
    versions = history().operators.get(operator)
    if dtype is None or not versions or k >= len(versions[-1].types):
        return dtype
    allowed = versions[-1].types[k]
    return "int64" if allowed is not None and dtype not in allowed and "int64" in allowed else dtype


def operand_value(value: object, first: Type | None) -> Any:
    """An attribute's value as the tensor that newer versions take: integers are int64, floats as the first
    operand.
    """
    import numpy

    items = value if isinstance(value, tuple) else (value,)
    if all(isinstance(item, int) for item in items):
        return tensor_message(numpy.asarray(value, numpy.int64), "int64", "")
    dtype = first.dtype if isinstance(first, TensorType) and first.dtype else "float32"
    return tensor_message(numpy.asarray(value, numpy.float32), dtype, "")


def _worth_reading(operator: str, type: TensorType) -> bool:
    if type.shape is None or not is_static(type.shape) or len(type.shape) > 1:
        return False
    small = math.prod(d for d in type.shape if isinstance(d, int)) <= _SMALL
    return small and (type.dtype in ("int64", "int32") or operator in _FLOATS)


def _results(
    signature: Signature,
    attrs: Attrs,
    types: tuple[Type | None, ...],
    value_of: Callable[[int], Any],
) -> int | None:
    """The number of results of a call, or None if it is unknown."""
    if not isinstance(signature.results, str):
        return len(signature.results)
    if signature.results == "tensor":
        return 1
    if signature.name != "Split":
        return None
    if isinstance(attrs.get("num_outputs"), int):
        return int(attrs["num_outputs"])
    if isinstance(attrs.get("split"), tuple):
        return len(attrs["split"])
    lengths = value_of(1) if len(types) > 1 else None
    return None if lengths is None else len(lengths)


def _own_symbols(type: TensorType | None, known: set[Symbol]) -> TensorType | None:
    """Dimensions that the package made up names for are unknown: the names recur at other nodes."""
    if type is None or type.shape is None:
        return type
    return TensorType(
        tuple([UNKNOWN if isinstance(d, Symbol) and d not in known else d for d in type.shape]), type.dtype
    )
