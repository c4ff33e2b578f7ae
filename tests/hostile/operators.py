"""Every operator of ONNX over constants, so that folding computes it, with its whole numbers far too large,
or negative.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

FAR = {"far": 2**40, "negative": -3, "zero": 0}
_ELEMENTS = {
    "tensor(float)": 1,
    "tensor(int64)": 7,
    "tensor(int32)": 6,
    "tensor(uint8)": 2,
    "tensor(bool)": 9,
    "tensor(string)": 8,
    "tensor(int8)": 3,
    "tensor(uint64)": 13,
}


def operators() -> Iterator[tuple[str, bytes]]:
    """A model for each operator and each kind of number: first operands are small tensors, integer ones hold
    that number.
    """
    import onnx
    from onnx import helper

    for schema in sorted(onnx.defs.get_all_schemas(), key=lambda s: (s.domain, s.name)):
        if schema.domain or schema.deprecated:
            continue
        for kind, number in FAR.items():
            attrs = dict(
                _attribute(name, attr, number)
                for name, attr in sorted(schema.attributes.items())
                if _attribute(name, attr, number)[1] is not None
            )
            if (
                kind != "far" and not any("INT" in str(attr.type) for attr in schema.attributes.values())
                and not any("tensor(int64)" in i.types for i in schema.inputs)
            ):
                continue
            weights, names = [], []
            for k, operand in enumerate(schema.inputs):
                element = next((e for t, e in _ELEMENTS.items() if t in _types(schema, operand)), None)
                if element is None:
                    break
                names.append(f"w{k}")
                weights.append(_weight(f"w{k}", element, k, number))
            outputs = [f"y{k}" for k in range(max(schema.min_output, 1))]
            node = helper.make_node(schema.name, names, outputs, **attrs)
            graph = helper.make_graph([node], "g", [], [onnx.ValueInfoProto(name=outputs[0])], weights)
            found = helper.make_model(
                graph, opset_imports=[helper.make_opsetid("", onnx.defs.onnx_opset_version())], ir_version=10
            )
            yield f"{schema.name}_{kind}.onnx", bytes(found.SerializeToString(deterministic=True))


def _types(schema: Any, operand: Any) -> set[str]:
    return set(next(
        (c.allowed_type_strs for c in schema.type_constraints if c.type_param_str == operand.type_str),
        [operand.type_str],
    ))


def _attribute(name: str, attr: Any, number: int) -> tuple[str, Any]:
    """A value for an attribute, None to remove it."""
    kind = str(attr.type).rpartition(".")[2]
    return name, {
        "INT": number,
        "INTS": [number, number],
        "FLOAT": 1e30 if number > 0 else float(number),
    }.get(kind, "" if attr.required and kind == "STRING" else None)


def _weight(name: str, element: int, k: int, number: int) -> Any:
    from onnx import helper

    if element == 8:
        return helper.make_tensor(name, element, [2], [b"ab", b"c"])
    if element == 1:
        return helper.make_tensor(name, element, [1, 1, 2, 3], [0.5] * 6)
    value = (
        max(min(number, 2**31 - 1), 0 if element in (2, 9, 13) else -(2**31)) if element not in (7, 13)
        else max(number, 0) if element == 13
        else number
    )
    return helper.make_tensor(
        name, element, [2] if k else [1, 1, 2, 3],
        [value % 2 if element == 9 else value % 128 if element in (2, 3) else value] * (2 if k else 6),
    )
