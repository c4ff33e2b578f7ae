"""The schemas of the installed `onnx` package: as objects for its inference and evaluator, and as
`schemas.json` for all else.

`python -m gslang.dialect.onnx.package_schemas` writes that file; a test holds it to the package.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.util import find_spec
from typing import Any, Final

from gslang.base.atomic_write import write_text
from gslang.dialect.onnx.attributes import attribute_value
from gslang.dialect.onnx.messages import compiled
from gslang.dialect.onnx.schemas import operator_name, split_name
from gslang.dialect.onnx.versions import SCHEMAS, history

_SPELLED: Final = {"float": "float32", "double": "float64"}
_OPTIONS: Final = {"Single": "", "Optional": "?", "Variadic": "*"}


@cache
def package_installed() -> bool:
    return find_spec("onnx") is not None


@cache
def newest(operator: str) -> Any:
    """The newest schema that both we and the package know, or None.

    One schema is asked for: all of them take a while.
    """
    found = history().operators.get(operator)
    return _schema(operator, found[-1].since) if found else None


@cache
def schema_at(operator: str, version: int) -> Any:
    """The schema in force in a version of the operator's domain, or None."""
    found = next((v for v in reversed(history().operators.get(operator, ())) if v.since <= version), None)
    return _schema(operator, found.since) if found is not None else None


@cache
def _schema(operator: str, since: int) -> Any:
    defs = compiled().defs
    domain, type = split_name(operator)
    try:
        return defs.get_schema(type, since, domain)
    except defs.SchemaError:  # the package is older than the operator
        return None


def schemas_text() -> str:
    """The content of `schemas.json`: a line for each operator, its documentation and its versions
    (`versions._version`).
    """
    import onnx
    import onnx.defs

    found: dict[str, list[Any]] = {}
    dropped: dict[str, int] = {}
    for schema in sorted(onnx.defs.get_all_schemas_with_history(), key=lambda s: s.since_version):
        name = operator_name(schema.domain, schema.name)
        if schema.deprecated:
            dropped[name] = schema.since_version
        else:
            found.setdefault(name, []).append(schema)
    types: dict[str | None, int] = {}
    operators = [
        f" {_json(name)}: {_json([_doc(found[name][-1]), *(_said(schema, types) for schema in found[name])])}"
        for name in sorted(found)
    ]
    gone = {
        name: since
        for name, since in sorted(dropped.items())
        if name not in found or found[name][-1].since_version < since
    }
    parts = [
        f'"onnx": {_json(onnx.__version__)}', f'"latest": {onnx.defs.onnx_opset_version()}',
        f'"gone": {_json(gone)}', f'"elements": {_json({name: number for number, name in _elements()})}',
        '"types": [\n' + ",\n".join([f" {_json(names)}" for names in types]) + "\n]",
        '"operators": {\n' + ",\n".join(operators) + "\n}",
    ]
    return "{" + ",\n".join(parts) + "}\n"


def _elements() -> list[tuple[int, str]]:
    """The numbers of element types, with the names that types have here."""
    from onnx import TensorProto

    return [
        (number, _SPELLED.get(name.lower(), name.lower()))
        for name, number in TensorProto.DataType.items() if number
    ]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _doc(schema: Any) -> str:
    return str(schema.doc or "").strip().split("\n\n")[0]


def _said(schema: Any, types: dict[str | None, int]) -> list[Any]:
    """One version; `types` numbers the sets of element types, and takes up new ones."""
    operands = [
        [
            f.name, _OPTIONS[f.option.name], f.type_str if f.is_homogeneous else "",
            types.setdefault(_element_types(f), len(types)),
        ]
        for f in schema.inputs
    ]
    attributes = []
    for name, spec in sorted(schema.attributes.items()):
        stated = bool(spec.default_value.name or spec.default_value.type)
        default = (
            [attribute_value(spec.default_value, schema.name)] if stated else [] if spec.required else [None]
        )
        attributes.append([name, spec.type.name, *default])
    return [
        schema.since_version, operands, schema.max_input, attributes,
        [_OPTIONS[f.option.name] for f in schema.outputs],
    ]


def _element_types(formal: Any) -> str | None:
    """The names of a formal operand's element types; None where it need not be a tensor."""
    if not all(text.startswith("tensor(") for text in formal.types):
        return None
    inner = [text[7:-1] for text in formal.types]
    return " ".join(sorted(_SPELLED.get(name, name) for name in inner))


if __name__ == "__main__":
    write_text(SCHEMAS, schemas_text())
