"""Checks new calls against the operator sets of a graph's model: attributes, operands and element types at
one location.

What follows from a rule alone is settled before (`gslang.check.opsets`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from gslang.base.open_types import Attrs
from gslang.dialect.onnx.contrib import element_types_differ
from gslang.dialect.onnx.dtypes import element_type
from gslang.dialect.onnx.infer import fitting_dtype
from gslang.dialect.onnx.versions import domain_of, former, history, imported, misfit, type_misfit, version_at
from gslang.dialect.signature import Signature, TypeInferenceError
from gslang.dialect.tensor_type import TensorType, Type


def why_refused(
    signatures: Mapping[str, Signature],
    meta: Attrs,
    operator: str,
    attrs: Attrs,
    types: tuple[Type | None, ...],
    constant: Callable[[int], bool],
    there: tuple[int, ...],
) -> str | None:
    """Why the model's version has no such call, or None. `signatures`: of operators without versions;
    `constant(k)`: whether operand k is one; `there`: operands not absent.

    Raises `TypeInferenceError` for element types that no version takes: that is a mistake of the rule.
    """
    versions = history().operators.get(operator)
    dtypes = tuple([_dtype(operator, k, type, constant) for k, type in enumerate(types)])
    if not versions:
        if why := element_types_differ(operator, dtypes):
            raise TypeInferenceError(why)
        return _not_taken(signatures.get(operator), dtypes)
    opset = imported(meta, domain_of(operator))
    if why := type_misfit(operator, versions[-1].since, dtypes):
        raise TypeInferenceError(why.partition(" in operator set")[0])
    if opset is None or opset >= versions[-1].since:
        return None
    if why := misfit(operator, opset, attrs, there, None, admitted=True) or type_misfit(
        operator, opset, dtypes
    ):
        return why
    then = version_at(operator, opset)
    for k, name in enumerate(versions[-1].operands):
        if (
            then is not None and k in there and name not in then.operands
            and former(operator, name, then.attributes) and not constant(k)
        ):
            return (
                f"`{name}` of `{operator}` is an attribute in operator set {opset}, so it must be a constant"
            )
    return None


def _not_taken(signature: Signature | None, dtypes: Sequence[str | None]) -> str | None:
    """Why an operator does not take operands of these element types, or None."""
    if signature is None:
        return None
    for spec, dtype in zip(signature.operands, dtypes):
        if dtype is not None and not spec.takes(dtype):
            return f"`{signature.name}` does not accept {dtype} as `{spec.name}`"
    return None


def _dtype(operator: str, k: int, type: Type | None, constant: Callable[[int], bool]) -> str | None:
    """The element type that operand `k` is written with; None where that says nothing."""
    dtype = type.dtype if isinstance(type, TensorType) else None
    if dtype is None:
        return None
    fitting = fitting_dtype(operator, k, dtype)
    if fitting != dtype:
        return fitting if constant(k) else dtype
    try:
        element_type(dtype)
    except KeyError:
        return None
    return dtype
