"""ONNX models as JSON: what is written is read again, whatever the types of inputs (sequences, optionals,
maps, texts, …) and whether or not the calls fit their operators; what JSON has no place for is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, TypeProto, helper

from gslang.base.diagnostics import InputError
from gslang.cli.main import main
from gslang.formats.registry import graph_from_bytes, graph_text
from tests.onnx.models import model, value

ELEMENTS = {"float": "FLOAT", "double": "DOUBLE"}
MOST = 60  # combinations of types of one operator
VALUES: dict[str, Any] = {
    "INT": 1, "FLOAT": 1.0, "STRING": "x", "INTS": [1, 1], "FLOATS": [1.0], "STRINGS": ["a"],
    "TENSOR": helper.make_tensor("t", TensorProto.FLOAT, [1], [1.0]),
}


def type_proto(text: str) -> TypeProto | None:
    """`seq(tensor(float))` as a message; None for element types that this version of ONNX has not."""
    if found := re.fullmatch(r"tensor\((\w+)\)", text):
        element = getattr(TensorProto, ELEMENTS.get(found[1], found[1].upper()), None)
        return None if element is None else helper.make_tensor_type_proto(element, [2, 3])
    if found := re.fullmatch(r"(seq|optional)\((.*)\)", text):
        inner = type_proto(found[2])
        make = helper.make_sequence_type_proto if found[1] == "seq" else helper.make_optional_type_proto
        return None if inner is None else make(inner)
    if found := re.fullmatch(r"map\((\w+),\s*(.*)\)", text):
        held = type_proto(found[2]) or type_proto(f"tensor({found[2]})")
        key = getattr(TensorProto, found[1].upper())
        return TypeProto(map_type=TypeProto.Map(key_type=key, value_type=held))
    return None


def operand_types(schema: Any) -> Iterator[dict[str, str]]:
    """Each choice of a type for each of an operator's type variables, or some where there are many."""
    allowed = {t.type_param_str: list(t.allowed_type_strs) for t in schema.type_constraints}
    variables = sorted({i.type_str for i in schema.inputs if i.type_str in allowed})
    choices: list[dict[str, str]] = [{}]
    for name in variables:
        types = allowed[name] if len(choices) * len(allowed[name]) <= MOST else allowed[name][:1]
        choices = [{**choice, name: text} for choice in choices for text in types]
    yield from choices


def model_of(schema: Any, choice: dict[str, str], count: int) -> onnx.ModelProto | None:
    inputs = []
    for k, operand in enumerate(schema.inputs[:count]):
        type_ = type_proto(choice.get(operand.type_str, operand.type_str))
        if type_ is None:
            return None
        inputs.append(helper.make_value_info(f"i{k}", type_))
    required = [attribute for attribute in schema.attributes.values() if attribute.required]
    if any(attribute.type.name not in VALUES for attribute in required):
        return None
    attrs = {attribute.name: VALUES[attribute.type.name] for attribute in required}
    results = [f"o{k}" for k, _ in enumerate(schema.outputs)]
    node = helper.make_node(schema.name, [i.name for i in inputs], results, domain=schema.domain, **attrs)
    outputs = [helper.make_value_info(name, TypeProto()) for name in results]
    opsets = [("", onnx.defs.onnx_opset_version()), ("ai.onnx.ml", 5)]
    return helper.make_model(
        helper.make_graph([node], "g", inputs, outputs), ir_version=11,
        opset_imports=[helper.make_opsetid(*opset) for opset in opsets],
    )


def models() -> Iterator[tuple[str, onnx.ModelProto]]:
    for schema in onnx.defs.get_all_schemas():
        if schema.domain not in ("", "ai.onnx.ml") or schema.deprecated:
            continue
        least = sum(operand.option.name == "Single" for operand in schema.inputs)
        for choice in operand_types(schema):
            for count in {least, len(schema.inputs)}:
                if (found := model_of(schema, choice, count)) is not None:
                    yield f"{schema.name} {choice} {count}", found


def check(step: int) -> int:
    count = 0
    for name, found in islice(models(), 0, None, step):
        try:
            graph = graph_from_bytes(found.SerializeToString(), "g.onnx", "onnx")
            text = graph_text(graph, "json")
        except InputError as error:
            assert "no form in JSON" in error.message or error.path == "g.onnx", name
            continue
        again = graph_from_bytes(text.encode(), "g.json", "json")
        assert graph_text(again, "json") == text, name
        count += 1
    return count


def test_a_sample_of_all_types() -> None:
    assert check(17) > 150


@pytest.mark.long
def test_all_types() -> None:
    assert check(1) > 3500


def test_a_call_that_contradicts_its_operator_is_a_warning_in_json_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inputs = [value("x", (2, 3)), value("z", (4, 5))]
    wrong = model([helper.make_node("Add", ["x", "z"], ["y"])], inputs, [value("y", (2, 3))])
    onnx.save(wrong, tmp_path / "m.onnx")
    assert main(["convert", str(tmp_path / "m.onnx"), "-o", str(tmp_path / "m.json")]) == 0
    assert '"x-misfit"' in (tmp_path / "m.json").read_text()
    capsys.readouterr()
    assert main(["convert", str(tmp_path / "m.json"), "-o", str(tmp_path / "n.json")]) == 0
    assert "m.json:/nodes/2: `Add` of `y`" in capsys.readouterr().err
    assert (tmp_path / "n.json").read_text() == (tmp_path / "m.json").read_text()


def test_what_json_has_no_place_for_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    function = helper.make_function(
        "own", "F", ["a"], ["b"], [helper.make_node("Identity", ["a"], ["b"])], [helper.make_opsetid("", 20)]
    )
    nodes = [
        helper.make_node("F", ["s"], ["t"], domain="own"), helper.make_node("StringConcat", ["t", "k"], ["y"])
    ]
    texts = helper.make_tensor("k", TensorProto.STRING, [2], [b"a", b"\xff"])
    string = TensorProto.STRING
    made = helper.make_model(
        helper.make_graph(nodes, "g", [value("s", (2,), string)], [value("y", (2,), string)], [texts]),
        opset_imports=[helper.make_opsetid("", 20), helper.make_opsetid("own", 1)], functions=[function],
    )
    onnx.save(made, tmp_path / "m.onnx")
    assert main(["convert", str(tmp_path / "m.onnx"), "-o", str(tmp_path / "m.json")]) == 0
    told = capsys.readouterr().err
    assert "warning: only ONNX models have local functions: `own.F`" in told
    assert "warning: only ONNX models can represent the values of `k`" in told
    assert main(["convert", str(tmp_path / "m.onnx"), "-o", str(tmp_path / "n.onnx")]) == 0
    assert capsys.readouterr().err == ""


def test_an_input_whose_type_is_not_known_is_no_input_of_a_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sequence = helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, [2, 3]))
    made = model(
        [helper.make_node("SequenceLength", ["s"], ["y"])], [helper.make_value_info("s", sequence)],
        [value("y", (), TensorProto.INT64)],
    )
    onnx.save(made, tmp_path / "m.onnx")
    assert main(["convert", str(tmp_path / "m.onnx"), "-o", str(tmp_path / "m.json")]) == 0
    assert main(["convert", str(tmp_path / "m.json"), "-o", str(tmp_path / "n.onnx")]) == 3
    assert "the type of the input `s` is not known" in capsys.readouterr().err
    assert not (tmp_path / "n.onnx").exists()
