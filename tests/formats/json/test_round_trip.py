"""What is read is what was written: graphs, values of every type, the user's own keys, ids; and the schema
agrees.
"""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from gslang.base.diagnostics import InputError
from gslang.dialect.tensor_type import UNKNOWN, Symbol, TensorType, TupleType
from gslang.formats.json_reader import read_json
from gslang.formats.json_writer import write_json
from gslang.formats.weights import write_weights
from gslang.graph.compare import count_operators, differences, same_array
from gslang.graph.graph import ABSENT, Graph
from tests.counted import calls_of
from tests.formats.json.samples import DIALECT, call, document, leaf, text
from tests.graph.invariants import check_invariants

CASES = [
    pytest.param(case, id=f"{name}-{case['name']}")
    for name in ("cases", "adversarial", "completeness")
    for case in json.loads((Path(__file__).parents[2] / "cases" / f"{name}.json").read_text())
]
SCHEMA = Draft202012Validator(
    json.loads(resources.files("gslang.formats").joinpath("graph.schema.json").read_text())
)


def read(value: Any, path: str = "<json>") -> Graph:
    return read_json(text(value), path, DIALECT)


@pytest.mark.parametrize("case", CASES)
def test_cases(case: dict[str, Any]) -> None:
    graph = read(case["graph"])
    assert check_invariants(graph) == []
    if "ops_before" in case["expected"]:
        assert count_operators(graph) == case["expected"]["ops_before"]
    written = write_json(graph)
    again = read_json(written, "g.json", DIALECT)
    assert differences(graph, again, DIALECT) == []
    assert write_json(again) == written
    assert list(SCHEMA.iter_errors(case["graph"])) == []
    assert list(SCHEMA.iter_errors(json.loads(written))) == []


def test_types_follow_from_the_operators() -> None:
    graph = read(document([leaf(), call("y", "split", "x", attrs={"indices_or_sections": 2, "axis": 1})]))
    half = TensorType((2, 1), "float32")
    assert graph.types[1] == TupleType((half, half))


def test_declared_types_fill_in_for_unknown_operators() -> None:
    fields = [{"shape": ["n", None], "dtype": "int8"}, None, {"type": [{"shape": None, "dtype": None}]}]
    graph = read(document([
        leaf(), call("y", "my.op", "x", None, type=fields),
        {"id": "p", "kind": "proj", "inputs": ["y"], "index": 0},
    ]))
    first = TensorType((Symbol("n"), UNKNOWN), "int8")
    assert graph.types[1] == TupleType((first, None, TupleType((TensorType(None, None),))))
    assert graph.types[2] == first
    assert graph.operands[1] == (0, ABSENT)
    assert differences(graph, read_json(write_json(graph), "g.json", DIALECT)) == []


def test_attributes_take_their_declared_form() -> None:
    nodes = [leaf(), call("y", "clip", "x", attrs={"a_min": 0, "a_max": "inf", "x": "inf"})]
    attrs = read(document(nodes)).attrs[1]
    assert attrs == {"a_min": 0.0, "a_max": float("inf"), "x": "inf"}
    assert type(attrs["a_min"]) is float


def test_attributes_of_every_kind() -> None:
    tensor = {"tensor": {"shape": [2], "dtype": "int64", "value": [1, 2]}}
    given = {"a": None, "b": True, "c": 3, "d": 0.1, "e": "é\"", "f": [[1, 2], []], "g": [tensor]}
    graph = read(document([leaf(), call("y", "my.op", "x", attrs=given)]))
    (array,) = graph.attrs[1]["g"]
    assert same_array(array, np.array([1, 2], "int64"))
    assert graph.attrs[1]["f"] == ((1, 2), ())
    assert json.loads(write_json(graph))["nodes"][1]["attrs"] == given


ARRAYS = [
    np.array(1.5, "float32"), np.zeros((0, 3), "float64"),
    np.array([[np.nan, np.inf], [-np.inf, -0.0]], "float16"),
    np.arange(200, dtype="float32").reshape(10, 20) / 7, np.array([True, False]), np.arange(100) % 2 == 0,
    np.array([-(2**63), 2**63 - 1], "int64"), np.array([2**64 - 1], "uint64"),
    np.arange(300, dtype="int16").astype(">i2"), np.full(100, np.nan, "float32"),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda a: f"{a.dtype}{list(a.shape)}")
def test_values(array: Any) -> None:
    graph = Graph()
    graph.set_outputs([graph.add_const(array, TensorType(array.shape, array.dtype.name))])
    written = write_json(graph)
    assert same_array(read_json(written).value(0), array.astype(array.dtype.newbyteorder("=")))
    assert ("base64" in written) == (array.size > 64)
    assert list(SCHEMA.iter_errors(json.loads(written))) == []


@given(st.lists(st.floats(width=32), min_size=60, max_size=70))
def test_any_float_survives_on_both_sides_of_the_limit(items: list[float]) -> None:
    array = np.array(items, "float32")
    graph = Graph()
    graph.set_outputs([graph.add_const(array, TensorType(array.shape, "float32"))])
    assert same_array(read_json(write_json(graph)).value(0), array)


def test_types_that_numpy_lacks() -> None:
    bits = np.arange(0x3F80, 0x3F80 + 100, dtype="u4")
    array = (bits << 16).view("float32")
    graph = Graph()
    graph.set_outputs([
        graph.add_const(array, TensorType((100,), "bfloat16")),
        graph.add_const(np.array([-8, 7], "int8"), TensorType((2,), "int4")),
    ])
    written = write_json(graph)
    assert len(json.loads(written)["nodes"][0]["value"]["base64"]) == 268  # 200 bytes
    again = read_json(written)
    assert same_array(again.value(0), array)
    assert again.value(1).tolist() == [-8, 7]


def test_a_constant_may_be_known_to_be_one_without_its_value() -> None:
    graph = read(document([leaf("c", "const", value=None)]))
    assert graph.value(0) is None
    assert json.loads(write_json(graph))["nodes"][0]["value"] is None


def test_values_from_a_file(tmp_path: Path) -> None:
    w = np.arange(4, dtype="float32").reshape(2, 2)
    write_weights(tmp_path / "w.npz", {"w": w, "i": np.zeros((2, 2), "int32")})
    path = str(tmp_path / "g.json")

    def at(file: str, key: str) -> Any:
        return document([leaf("w", "param", value={"file": file, "key": key})])

    graph = read(at("w.npz", "w"), path)
    assert not isinstance(graph.values[0], np.ndarray)  # not loaded yet
    assert same_array(graph.value(0), w)
    (tmp_path / "inner").mkdir()
    for file, key, place, message in [
        ("../w.npz", "w", "/file", "`../w.npz` lies outside the graph's folder"),
        (str(tmp_path / "w.npz"), "w", "/file", "lies outside the graph's folder"),
        ("none.npz", "w", "/file", "`none.npz`: no such file"),
        ("w.bin", "w", "/file", "`w.bin`: not the name of a weights file"),
        ("w\0.npz", "w", "/file", "is not a file name"),
    ]:
        with pytest.raises(InputError) as caught:
            read(at(file, key), str(tmp_path / "inner" / "g.json") if file.startswith((".", "/")) else path)
        assert (caught.value.place, message in caught.value.message) == (f"/nodes/0/value{place}", True), (
            caught.value
        )
    for key, place, message in [
        ("v", "/key", "`w.npz`: unknown array `v`"),
        ("i", "", "`i` in `w.npz` is int32[2, 2], declared is float32[2, 2]"),
    ]:
        with pytest.raises(InputError) as caught:
            read(at("w.npz", key), path)
        assert (caught.value.place, caught.value.message) == (f"/nodes/0/value{place}", message)
    link = tmp_path / "inner" / "link.npz"
    link.symlink_to(tmp_path / "w.npz")
    with pytest.raises(InputError, match="outside"):
        read(at("link.npz", "w"), str(tmp_path / "inner" / "g.json"))


def test_own_keys_are_kept_and_others_are_not_written() -> None:
    value = document(
        [leaf(**{"x-note": {"a": [1]}}), call("y", "nn.relu", "x", **{"x-b": None})], **{"x-tool": "t"}
    )
    graph = read(value)
    graph.extras[1]["internal"] = object()
    graph.meta["internal"] = object()
    written = json.loads(write_json(graph))
    assert written["x-tool"] == "t"
    assert written["nodes"][0]["x-note"] == {"a": [1]}
    assert "x-b" in written["nodes"][1]
    assert "internal" not in json.dumps(written)


def test_writing_is_ordered_and_names_what_has_no_name() -> None:
    graph = Graph(name="net")
    late = graph.add("exp", [graph.add_param("w", TensorType((2,), "float32"))])
    first = graph.add_input("n0", TensorType((2,), "float32"))
    graph.add("log", [first])  # not reachable
    graph.add_input("unused", TensorType((), "int8"))
    graph.set_outputs([graph.add("add", [first, late], {"b": (1, 2)}, name="n2")])
    assert write_json(graph) == """{
  "format": "gsl-graph", "version": 1, "dialect": "relay", "name": "net",
  "nodes": [
    {"id": "n0", "kind": "input", "shape": [2], "dtype": "float32"},
    {"id": "unused", "kind": "input", "shape": [], "dtype": "int8"},
    {"id": "w", "kind": "param", "shape": [2], "dtype": "float32"},
    {"id": "n1", "kind": "call", "op": "exp", "inputs": ["w"]},
    {"id": "n2", "kind": "call", "op": "add", "inputs": ["n0", "n1"], "attrs": {"b": [1, 2]}}
  ],
  "outputs": ["n2"]
}
"""


def test_a_name_given_twice_is_written_once() -> None:
    graph = Graph()
    x = graph.add_input("x", TensorType((2,), "float32"))
    graph.set_outputs([graph.add("log", [graph.add("exp", [x], name="x")])])
    assert [node["id"] for node in json.loads(write_json(graph))["nodes"]] == ["x", "n0", "n1"]


def chain(length: int) -> str:
    graph = Graph()
    x = graph.add_input("x", TensorType((2,), "float32"))
    for _ in range(length):
        x = graph.add("nn.relu", [x])
    graph.set_outputs([x])
    return write_json(graph)


def test_a_long_chain() -> None:
    again = read_json(chain(100_000), "g.json", DIALECT)
    assert len(again) == 100_001
    assert str(again.types[again.outputs[0]]) == "float32[2]"


@pytest.mark.parametrize(
    ("sound", "value"),
    [
        (True, document([leaf(shape=None, dtype=None)])), (True, document([leaf(shape=("n", None, 0))])),
        (True, document([leaf("c", "const", (2,), value=["nan", 1])])),
        (True, document([leaf("w", "param", (1,), value={"base64": "AAAAAA=="})])),
        (
            True,
            document([
                leaf(),
                call(
                    "y", "f", "x", None,
                    attrs={
                        "a": [None, [True]],
                        "t": {"tensor": {"shape": [], "dtype": "int8", "value": 1}},
                    },
                ),
            ]),
        ),
        (True, document([leaf(**{"x-a": 1})], **{"x-b": 2})), (False, document([leaf(shape=(-1,))])),
        (False, document([leaf(shape=("",))])), (False, document([leaf(dtype=1)])),
        (False, document([leaf(value=1)])), (False, document([leaf("c", "const")])),
        (False, document([leaf("c", "const", (), value={"file": "a.npz"})])),
        (False, document([leaf("c", "const", (1,), value=[None])])),
        (False, document([leaf(), call("y", "", "x")])), (False, document([leaf(), call("y", "%f", "x")])),
        (False, document([leaf(), call("y", "f", 3)])),
        (False, document([leaf(), call("y", "f", "x", attrs={"a": {"b": 1}})])),
        (False, document([leaf(), call("y", "f", "x", shape=[1], type=[])])),
        (False, document([leaf(), call("y", "f", "x", type=[{"shape": []}])])),
        (False, document([leaf(), {"id": "p", "kind": "proj", "inputs": ["x"], "index": -1}])),
        (False, document([leaf(), {"id": "t", "kind": "tuple", "inputs": ["x"], "index": 0}])),
        (False, document([leaf()], [])), (False, document([leaf()], format="onnx")),
        (False, document([leaf(kind="thing")])), (False, document([leaf()], extra=1)),
    ],
)
def test_the_schema_and_the_reader_agree(sound: bool, value: Any) -> None:
    try:
        read_json(text(value))
        readable = True
    except InputError:
        readable = False
    assert (readable, SCHEMA.is_valid(value)) == (sound, sound)


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA.schema)


def test_effort_grows_with_the_length() -> None:
    def effort(length: int) -> int:
        return calls_of(lambda: read_json(chain(length), "g.json", DIALECT))

    assert effort(4000) < 2.2 * effort(2000)
