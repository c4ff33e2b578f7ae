"""Every mistake in a graph file is an `InputError` that names the place and what was expected there."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gslang.base.diagnostics import InputError
from gslang.formats.json_reader import read_json
from tests.formats.json.samples import DIALECT, call, document, leaf, text

X = leaf()
RELU = call("y", "nn.relu", "x")


def error_of(value: Any) -> InputError:
    data = value if isinstance(value, (str, bytes)) else text(value)
    with pytest.raises(InputError) as caught:
        read_json(data, "g.json", DIALECT)
    assert str(caught.value).startswith("g.json:")
    return caught.value


@pytest.mark.parametrize(
    ("value", "place", "message"),
    [
        ([], "/", "a graph is one JSON object"), ({}, "/", '`format` is missing; expected "gsl-graph"'),
        (document([X], format="onnx"), "/format", 'expected "gsl-graph", got "onnx"'),
        (document([X], version=2), "/version", "expected 1, got 2"),
        (document([X], version=True), "/version", "expected 1, got true"),
        (document([X], node=[]), "/node", "unknown key `node`"),
        (document([X], name=3), "/name", "expected a name, got 3"),
        (
            document([X], dialect="onnx"), "/dialect",
            "the graph is of dialect `onnx`, the rules are of dialect `relay`",
        ),
        (
            {"format": "gsl-graph", "version": 1, "nodes": {}, "outputs": []}, "/nodes",
            "expected a list of nodes",
        ),
        (document([X], []), "/outputs", "expected a list of node ids, at least one"),
        (document([X], ["y"]), "/outputs/0", "unknown node `y`"),
        (document([X], [0]), "/outputs/0", "expected the id of a node, got 0"),
        (document([X, 5], ["x"]), "/nodes/1", "a node is an object, not 5"),
        (
            document([{"id": "x"}]), "/nodes/0",
            "`kind` is one of input, param, const, call, tuple, proj, not null",
        ),
        (
            document([leaf(kind="inptu")]), "/nodes/0/kind",
            '`kind` is one of input, param, const, call, tuple, proj, not "inptu"',
        ),
        (document([leaf(id="")], ["x"]), "/nodes/0/id", "`id` must be a non-empty string"),
        (document([X, X]), "/nodes/1/id", "duplicate id `x`: /nodes/0 has it, too"),
        (document([leaf(vaule=3)]), "/nodes/0/vaule", "unknown key `vaule`"),
        (document([leaf(value=3)]), "/nodes/0/value", "unknown key `value`"),
        (document([{"id": "x", "kind": "input", "dtype": "float32"}]), "/nodes/0", "`shape` is missing"),
        (document([{"id": "x", "kind": "input", "shape": []}]), "/nodes/0", "`dtype` is missing"),
        (document([leaf(dtype=32)]), "/nodes/0/dtype", "expected the name of a type, got 32"),
        (document([leaf(dtype="flaot32")]), "/nodes/0/dtype", "unknown type `flaot32`"),
        (
            document([leaf(shape=4)]), "/nodes/0/shape",
            "expected a list of dimensions, or null for an unknown rank, got 4",
        ),
        (
            document([leaf(shape=(1, -1))]), "/nodes/0/shape/1",
            "a dimension is a number from 0 to 2^63 - 1, a name, or null, not -1",
        ),
        (
            document([leaf(shape=(1, True))]), "/nodes/0/shape/1",
            "a dimension is a number from 0 to 2^63 - 1, a name, or null, not true",
        ),
        (
            document([leaf(shape=(2.0,))]), "/nodes/0/shape/0",
            "a dimension is a number from 0 to 2^63 - 1, a name, or null, not 2.0",
        ),
        (document([leaf(kind="const")]), "/nodes/0", "the constant `x` has no `value`"),
        (
            document([X, {"id": "y", "kind": "call", "op": "exp"}]), "/nodes/1",
            "`inputs` is a list of node ids",
        ),
        (document([X, call("y", "nn.relu", "z")]), "/nodes/1/inputs/0", "unknown node `z`"),
        (
            document([X, call("y", "nn.relu", "y")]), "/nodes/1/inputs/0",
            "`y` comes later, or is the node itself (/nodes/1)",
        ),
        (
            document([call("y", "nn.relu", "x"), X]), "/nodes/0/inputs/0",
            "`x` comes later, or is the node itself (/nodes/1)",
        ),
        (document([X, call("y", "%input")]), "/nodes/1/op", '`op` is the name of an operator, not "%input"'),
        (
            document([X, {"id": "y", "kind": "call", "inputs": []}]), "/nodes/1",
            "`op` is the name of an operator, not null",
        ),
        (document([X, {**RELU, "attrs": []}]), "/nodes/1/attrs", "expected an object, got []"),
        (
            document([X, {**RELU, "attrs": {"a/b": {}}}]), "/nodes/1/attrs/a~1b",
            'an attribute is a number, a string, a boolean, null, a list, or {"tensor": {…}}',
        ),
        (
            document([X, {"id": "t", "kind": "tuple", "inputs": [None]}]), "/nodes/1/inputs/0",
            "expected the id of a node, got null",
        ),
        (
            document([X, {"id": "p", "kind": "proj", "inputs": ["x"], "index": 0}]), "/nodes/1/inputs/0",
            "a projection needs a tuple, `x` is a tensor",
        ),
        (
            document([
                X, {"id": "t", "kind": "tuple", "inputs": ["x"]},
                {"id": "p", "kind": "proj", "inputs": ["t"], "index": 1},
            ]),
            "/nodes/2/index", "field 1 of a tuple with 1 fields",
        ),
        (
            document([X, {"id": "p", "kind": "proj", "inputs": ["x", "x"], "index": 0}]), "/nodes/1/inputs",
            "a projection has one input, not 2",
        ),
        (
            document([X, {"id": "p", "kind": "proj", "inputs": ["x"], "index": -1}]), "/nodes/1/index",
            "`index` is a number from 0, not -1",
        ),
        (
            document([X, {**RELU, "type": [], "shape": []}]), "/nodes/1/type",
            "a node has either `type` or `shape` and `dtype`",
        ),
        (
            document([X, {**RELU, "type": [3]}]), "/nodes/1/type/0",
            "expected an object with `shape` and `dtype`, got 3",
        ),
        (
            document([X, {**RELU, "shape": [3, 2]}]), "/nodes/1",
            "`nn.relu` of `y`: shape [3, 2] against [2, 2]",
        ),
        (
            document([X, {**RELU, "dtype": "int8"}]), "/nodes/1",
            "`nn.relu` of `y`: dtype int8 against float32",
        ),
        (document([X, call("y", "add", "x")]), "/nodes/1", "`add` has 2 operands (lhs, rhs), not 1"),
        (
            document([X, call("y", "clip", "x", attrs={"a_min": 0.0})]), "/nodes/1",
            "`clip` needs the attribute `a_max`",
        ),
        (
            document([X, call("y", "transpose", "x", attrs={"axes": "no"})]), "/nodes/1/attrs/axes",
            "attribute `axes` of `transpose` is `int[]?`, not 'no'",
        ),
    ],
)
def test_mistakes(value: Any, place: str, message: str) -> None:
    error = error_of(value)
    assert (error.place, error.message) == (place, message)


@pytest.mark.parametrize(
    ("value", "place", "message"),
    [
        ([1, 2], "/nodes/0/value/0", "expected a list of 2 for shape [2, 2], got 1"),
        ([[1, 2]], "/nodes/0/value", "expected a list of 2 for shape [2, 2], got a list of 1"),
        ([[1, 2], [3]], "/nodes/0/value/1", "expected a list of 2 for shape [2, 2], got a list of 1"),
        ([[1, 2], [3, [4]]], "/nodes/0/value/1/1", "expected a number, got [4]"),
        ([[1, 2], [3, "4"]], "/nodes/0/value/1/1", 'expected a number, "nan", "inf" or "-inf", got "4"'),
        ([[1, 2], [True, 4]], "/nodes/0/value/1/0", "expected a number, got true"),
        ([[1, 2], [1e39, 4]], "/nodes/0/value/1/0", "1e+39 is too large for float32"),
        ({"base64": "AAAA"}, "/nodes/0/value/base64", "3 bytes, but shape [2, 2] of float32 has 16"),
        ({"base64": "?"}, "/nodes/0/value/base64", "invalid base64"),
        ({"base64": 3}, "/nodes/0/value/base64", "expected a string"),
        (
            {"file": "w.npz"}, "/nodes/0/value",
            'expected nested lists, {"base64": …}, or {"file": …, "key": …}',
        ),
        ({"file": 1, "key": "w"}, "/nodes/0/value", "`file` and `key` are strings"),
    ],
)
def test_values_that_do_not_fit(value: Any, place: str, message: str) -> None:
    error = error_of(document([leaf(kind="param", value=value)]))
    assert (error.place, error.message) == (place, message)


@pytest.mark.parametrize(
    ("dtype", "value", "message"),
    [
        ("int8", 128, "128 is out of range for int8 (-128 to 127)"),
        ("uint8", -1, "-1 is out of range for uint8 (0 to 255)"),
        ("int4", 8, "8 is out of range for int4 (-8 to 7)"),
        ("int32", 1.5, "expected an integer for int32, got 1.5"),
        ("int32", True, "expected an integer for int32, got true"),
        ("bool", 1, "expected true or false, got 1"),
        ("float16", 70000, "70000 is too large for float16"),
        pytest.param("float64", 10**400, f"{'1' + '0' * 38}… is too large for float64", id="float64-huge"),
    ],
)
def test_elements_that_do_not_fit(dtype: str, value: Any, message: str) -> None:
    error = error_of(document([leaf(kind="param", shape=(), dtype=dtype, value=value)]))
    assert (error.place, error.message) == ("/nodes/0/value", message)


def test_a_value_needs_a_known_shape_and_type() -> None:
    assert (
        error_of(document([leaf(kind="param", shape=(None,), value=[1])])).message
        == "a value needs a shape of known numbers"
    )
    assert (
        error_of(document([leaf(kind="param", dtype=None, value=[[1, 1], [1, 1]])])).message
        == "values of type `None` cannot be represented"
    )


def test_guesses() -> None:
    assert error_of(document([leaf("weight"), call("y", "exp", "wieght")])).help == "did you mean `weight`?"
    assert error_of(document([leaf(kind="parm")])).help == "did you mean `param`?"
    assert error_of(document([leaf(shpae=[])])).help == "did you mean `shape`?"
    assert error_of(document([leaf(dtype="flaot32")])).help == "did you mean `float32`?"


def test_no_json() -> None:
    whole = text(document([X, RELU]))
    error = error_of(whole[:-10])
    assert error.help == "is the file truncated?"
    error = error_of('{\n  "format": "gsl-graph",\n  nodes: []\n}')
    assert error.place == "3:3"
    assert error.message.startswith("not JSON: expecting property name")
    assert error_of(b"\xff\xfe{}").message == "byte 0xff is not UTF-8"
    assert error_of("").place == "1:1"
    assert error_of("[" * 200_000).message == "nested too deeply for a graph"
    assert error_of('{"format": NaN}').message == "`NaN` is not JSON"
    assert error_of('{"format": ' + "9" * 5000 + "}").message == "a number with too many digits"


def test_a_repeated_key_is_found_where_it_stands() -> None:
    whole = text(document([X, {**RELU, "attrs": {"axis": 1}}])).replace('"axis": 1', '"axis": 1, "axis": 2')
    error = error_of(whole)
    assert (error.place, error.message) == (
        "/nodes/1/attrs/axis", "duplicate key `axis`",
    )


SAMPLE = document(
    [
        leaf(), leaf("w", "param", value=[[1, 2], [3, 4]]), leaf("c", "const", (), value="nan"),
        call("d", "nn.dense", "x", "w", attrs={"units": 2}),
        call("e", "add", "d", "c", shape=[2, 2], dtype="float32"),
        {"id": "t", "kind": "tuple", "inputs": ["d", "e"]}, call("s", "concatenate", "t", attrs={"axis": 1}),
        {"id": "p", "kind": "proj", "inputs": ["t"], "index": 1},
        call("r", "reshape", "p", attrs={"newshape": [-1, 4]}),
    ],
    ["s", "r"],
)

ANYTHING = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 5), st.floats(),
    st.sampled_from(["x", "w", "nan", "", "float32", "call", "tuple", "%p"]), st.just([]), st.just({}),
    st.lists(st.integers(-1, 3), max_size=3), st.just([[1]]), st.just({"tensor": {}}),
    st.just({"file": "..", "key": "k"}),
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items: list[tuple[Any, Any]] = (
        list(value.items()) if isinstance(value, dict)
        else list(enumerate(value)) if isinstance(value, list)
        else []
    )
    return [path] * bool(path) + [place for key, item in items for place in places(item, (*path, key))]


@settings(max_examples=300)
@given(st.lists(st.tuples(st.sampled_from(places(SAMPLE)), ANYTHING), min_size=1, max_size=3))
def test_a_mutated_file_never_raises_anything_else(mutations: list[tuple[tuple[Any, ...], Any]]) -> None:
    mutated = json.loads(json.dumps(SAMPLE))
    for path, replacement in mutations:
        holder = mutated
        try:
            for key in path[:-1]:
                holder = holder[key]
            holder[path[-1]] = copy.deepcopy(replacement)
        except (LookupError, TypeError):  # an earlier mutation took the place away
            continue
    try:
        read_json(json.dumps(mutated), "g.json", DIALECT)
    except InputError as error:
        assert error.place


@given(st.integers(0, len(json.dumps(SAMPLE))), st.binary(max_size=3))
def test_a_damaged_file_never_raises_anything_else(at: int, junk: bytes) -> None:
    data = json.dumps(SAMPLE).encode()
    try:
        read_json(data[:at] + junk + data[at + len(junk) :], "g.json", DIALECT)
    except InputError as error:
        assert error.place
