"""Rules as pairs of ONNX functions, for onnxsim's `function_rewrite_rules`: as text, or as a model that has
the functions. Needs the onnx package.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gslang.base.diagnostics import InputError
from gslang.base.open_types import Attrs
from gslang.hosts.sayable import Bound, Call, Number, Plain

_DOMAIN = "gslang.rules"
_USUAL = 18  # operator set


def functions_of(rule: Plain) -> tuple[Any, Any]:
    """The pattern and the replacement as `onnx.FunctionProto`."""
    return _function(f"{rule.name}_pattern", rule, rule.source, rule.outputs), _function(
        f"{rule.name}_replacement", rule, rule.target, rule.results
    )


def as_text(rules: Sequence[Plain]) -> bytes:
    """Functions in ONNX's text syntax, two for each rule."""
    import onnx.printer

    parts = []
    for rule in rules:
        about = f"# {rule.doc}\n" if rule.doc else ""
        parts += [
            about + "\n".join(onnx.printer.to_text(function).strip() for function in functions_of(rule))
        ]
    return ("\n\n".join(parts) + "\n").encode()


def as_protobuf(rules: Sequence[Plain]) -> bytes:
    """A model without nodes whose functions they are."""
    import onnx

    functions = [function for rule in rules for function in functions_of(rule)]
    graph = onnx.helper.make_graph([], "rules", [], [])
    model = onnx.helper.make_model(
        graph, functions=functions, opset_imports=[onnx.helper.make_opsetid("", _USUAL)]
    )
    return bytes(model.SerializeToString(deterministic=True))


def _function(name: str, rule: Plain, calls: Sequence[Call], outputs: Sequence[str]) -> Any:
    import onnx

    nodes: list[Any] = []
    wildcards: dict[str, None] = {}
    for call in calls:
        operands = []
        for operand in call.operands:
            if isinstance(operand, Number):
                constant = f"c{len(nodes) + 1}"
                nodes.append(onnx.helper.make_node(
                    "Constant", [], [constant], value=onnx.numpy_helper.from_array(operand.value)
                ))
                operands.append(constant)
            else:
                operands.append(operand or "")
        plain = {name: value for name, value in call.attributes if not isinstance(value, Bound)}
        node = onnx.helper.make_node(
            call.operator, operands, _read(call, calls, outputs), domain=call.domain,
            **_proto_values(call, plain),
        )
        for attribute, value in call.attributes:
            if isinstance(value, Bound):
                wildcards[value.name] = None
                node.attribute.append(
                    onnx.AttributeProto(name=attribute, ref_attr_name=value.name, type=_type(call, attribute))
                )
        nodes.append(node)
    domains = {"": max([_since(node.op_type) for node in nodes if not node.domain], default=_USUAL)}
    domains |= {node.domain: 1 for node in nodes if node.domain}
    imports = [onnx.helper.make_opsetid(domain, version) for domain, version in sorted(domains.items())]
    return onnx.helper.make_function(
        _DOMAIN, name, list(rule.inputs), list(outputs), nodes, imports, list(wildcards)
    )


def _read(call: Call, calls: Sequence[Call], outputs: Sequence[str]) -> list[str]:
    """The names of results, up to the last one that is read."""
    read = {operand for other in calls for operand in other.operands if isinstance(operand, str)} | set(
        outputs
    )
    names = [name if name in read else "" for name in call.outputs]
    while len(names) > 1 and not names[-1]:
        names.pop()
    return names if names != [""] else [call.outputs[0]]


def _since(operator: str) -> int:
    """The operator set in which an operator has the form that gslang knows: the usual one, unless it has
    changed since.
    """
    import onnx

    try:
        now = onnx.defs.get_schema(operator)
    except onnx.defs.SchemaError:
        raise InputError(
            f"the onnx package does not know `{operator}`", path="onnx", help="update it"
        ) from None
    try:
        then = onnx.defs.get_schema(operator, max_inclusive_version=_USUAL)
    except onnx.defs.SchemaError:
        return int(now.since_version)
    same = then.attributes.keys() == now.attributes.keys() and len(then.inputs) == len(now.inputs)
    return _USUAL if same else int(now.since_version)


def _type(call: Call, attribute: str) -> Any:
    import onnx

    try:
        kind: Any = onnx.defs.get_schema(call.operator, domain=call.domain).attributes[attribute].type
        return kind.value
    except (onnx.defs.SchemaError, KeyError):
        return onnx.AttributeProto.INT


def _proto_values(call: Call, attributes: Attrs) -> dict[str, Any]:
    """Attributes as `make_node` takes them: element types are numbers in ONNX."""
    import numpy as np
    import onnx

    found = {}
    for name, value in attributes.items():
        kind = _type(call, name)
        if kind == onnx.AttributeProto.INT and isinstance(value, str):
            value = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(value))
        elif kind == onnx.AttributeProto.TENSOR:
            value = onnx.numpy_helper.from_array(np.asarray([value], np.float32))
        elif isinstance(value, tuple):
            value = list(value)
        elif kind == onnx.AttributeProto.FLOAT:
            value = float(value)
        found[name] = value
    return found
