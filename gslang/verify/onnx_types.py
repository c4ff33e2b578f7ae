"""Element types of ONNX operands: what a schema allows, and which one an instance takes."""

from __future__ import annotations

from functools import cache

_SPELLED = {"float": "float32", "double": "float64"}
_PREFERRED = ("float32", "int64", "bool", "int32", "uint8", "float16", "string")


@cache
def operand_types(operator: str, k: int) -> frozenset[str]:
    """The element types that operand `k` may have; empty where the schema does not tell. A variadic one counts for all behind it."""
    from gslang.dialect.onnx.schemas import newest

    schema = newest(operator)
    if schema is None or not schema.inputs:
        return frozenset()
    formal = schema.inputs[min(k, len(schema.inputs) - 1)]
    if k >= len(schema.inputs) and formal.option != formal.option.Variadic:
        return frozenset()
    inner = [text.removeprefix("tensor(").removesuffix(")") for text in formal.types if text.startswith("tensor(")]
    return frozenset(_SPELLED.get(name, name) for name in inner)


def operand_type(operator: str, k: int, wanted: str) -> str:
    """`wanted` where it is allowed, else the plainest type that is."""
    allowed = operand_types(operator, k)
    if not allowed or wanted in allowed:
        return wanted
    return next((name for name in _PREFERRED if name in allowed), wanted)
