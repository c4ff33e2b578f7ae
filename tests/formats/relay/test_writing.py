"""Graph → Relay text: layout, constants, names, what is carried along."""

from __future__ import annotations

import json

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gslang.base.diagnostics import InputError
from gslang.dialect.tensor_type import TensorType, TupleType
from gslang.formats.relay import read_relay, write_relay
from gslang.formats.relay.lexer import Tokens
from gslang.formats.relay.literals import read_number, write_scalar
from gslang.graph.graph import ABSENT, Graph

from .samples import CLOSURE, CONVOLUTION, DIALECT, PARTITIONED, again, assert_same, main, read, result

VECTOR = TensorType((2,), "float32")


def test_official_layout_is_reproduced() -> None:
    assert write_relay(read(CONVOLUTION), DIALECT) == CONVOLUTION


def test_nested_functions_keep_their_layout() -> None:
    written = write_relay(read(CLOSURE, dialect=None), None)
    called = CLOSURE.replace("%2(%x);", "%2(%x) /* ty=Tensor[(4), float32] */;")
    assert written == called.replace("%2(%3);", "%2(%3) /* ty=Tensor[(4), float32] */;")


def test_nested_functions_without_comments_have_one_layout() -> None:
    loose = (
        "def @main(%x: int32) {\n%1=fn(%a : Tensor[(2 , 3),float32],k = 1)->int32{%0=  add(%a,%x , "
        "axis=[1,2] ) ;%0}; %1(%x) }"
    )
    written = write_relay(read(loose, dialect=None), None, comments=False)
    assert written == (
        "def @main(%x: int32) -> int32 {\n"
        "  %1 = fn (%a: Tensor[(2, 3), float32], k=1) -> int32 {\n"
        "    %0 = add(%a, %x, axis=[1, 2]);\n"
        "    %0\n"
        "  };\n"
        "  %1(%x)\n"
        "}\n"
    )


def test_other_functions_are_written_back_and_numbers_stay_unique() -> None:
    written = write_relay(read(PARTITIONED), DIALECT)
    tokens = Tokens(written).text
    bound = [t for t in tokens if t[0] == "%" and t[-1] == "="]
    assert len(set(bound)) == len(bound) == 3
    assert written.startswith(PARTITIONED[: PARTITIONED.index("def @main")])
    assert_same(read(PARTITIONED), read_relay(written, "x", dialect=DIALECT))
    assert_same(
        read(PARTITIONED, function="helper"), read_relay(written, "x", function="helper", dialect=DIALECT)
    )


def test_function_attributes_and_placements_are_written_back() -> None:
    text = main(
        "%x",
        '%x {virtual_device=meta[VirtualDevice][1]}: int32, Primitive=1, Compiler="e\\"x", '
        'virtual_device=meta[VirtualDevice][0]',
    )
    assert text.splitlines()[1].removesuffix(") {") + ") -> int32 {" in write_relay(read(text), None)


def test_defaults_are_left_out_and_the_order_is_that_of_the_declaration() -> None:
    text = main("nn.conv2d(%x, %w, kernel_size=[3, 3], strides=[1, 1], padding=[1, 1], groups=1)", "%x, %w")
    assert "nn.conv2d(%x, %w, padding=[1, 1], kernel_size=[3, 3])" in write_relay(read(text), DIALECT)
    assert "nn.conv2d(%x, %w, kernel_size=[3, 3], strides=[1, 1], padding=[1, 1], groups=1)" in write_relay(
        read(text), None
    )


def test_required_attributes_are_always_written_and_declared_floats_look_like_floats() -> None:
    assert "clip(%x, a_min=0f, a_max=6f)" in write_relay(read(main("clip(%x, a_max=6, a_min=0)")), DIALECT)


@pytest.mark.parametrize(
    ("value", "exact"),
    [
        (0.1, "0.1f"), (1e-05, "1e-05f"), (6.0, "6f"), (1 / 3, "0.3333333333333333f"), (float("inf"), "inff"),
        (float("-inf"), "-inff"), (-0.0, "-0f"), (1e20, "1e+20f"),
    ],
)
def test_float_attributes(value: float, exact: str) -> None:
    graph = Graph()
    graph.set_outputs([graph.add("my.op", [graph.add_input("x", VECTOR)], {"a": value})])
    assert f"a={exact})" in write_relay(graph, None)
    assert_same(graph, again(graph, None))


def test_the_spelling_of_an_unchanged_literal_stays() -> None:
    text = main("multiply(%x, 0.100000001f)")
    graph = read(text)
    assert "0.100000001f" in write_relay(graph, DIALECT)
    constant = graph.operands[result(graph)][1]
    graph.values[constant] = numpy.array(0.5, "float32")
    assert "0.5f" in write_relay(graph, DIALECT)


def test_an_int64_that_only_its_comment_showed_gets_a_suffix() -> None:
    assert "1i64" in write_relay(read(main("1 /* ty=int64 */")), None, comments=False)


@given(st.floats(width=32), st.sampled_from(["float32", "float16", "float64"]))
def test_written_floats_read_back_exactly(value: float, dtype: str) -> None:
    with numpy.errstate(over="ignore"):
        scalar = numpy.dtype(dtype).type(value)
    array, read_dtype, remark = read_number(write_scalar(scalar, dtype))
    assert (read_dtype, remark) == (dtype, None)
    assert array.tobytes() == scalar.tobytes() or numpy.isnan(scalar)


@given(st.integers(-(1 << 63), (1 << 63) - 1), st.sampled_from(["int16", "int32", "int64"]))
def test_written_integers_read_back_exactly(value: int, dtype: str) -> None:
    limits = numpy.iinfo(dtype)
    value = max(int(limits.min), min(int(limits.max), value))
    array, read_dtype, _ = read_number(write_scalar(numpy.array(value, dtype), dtype))
    assert (read_dtype, int(array)) == (dtype, value)


@given(st.text(max_size=12))
def test_strings_read_back(text: str) -> None:
    graph = Graph()
    graph.set_outputs([graph.add("my.op", [], {"s": "x" + text})])
    assert_same(graph, again(graph, None))


@given(st.lists(
    st.text(max_size=6) | st.sampled_from(["x", "x.0", "x1", "a:int32", "a:", "b.", "b/", "%", "0"]),
    max_size=6,
))
def test_any_names_read_back_as_distinct_inputs(names: list[str]) -> None:
    graph = Graph()
    graph.set_outputs([graph.add_tuple([graph.add_input(name, VECTOR) for name in names])])
    back = again(graph, None)
    assert len(set(back.operands[result(back)])) == len(names)


def test_a_shared_literal_stays_shared() -> None:
    graph = read(main("let %c = 2f; add(%c, %c)"))
    assert_same(graph, again(graph))


def test_several_outputs_are_written_as_a_tuple() -> None:
    graph = Graph()
    x = graph.add_input("x", VECTOR)
    y = graph.add("exp", [x], {}, VECTOR)
    graph.set_outputs([y, x, y])
    back = again(graph)
    assert back.types[result(back)] == TupleType((VECTOR,) * 3)
    assert len(set(back.operands[result(back)])) == 2


def test_an_output_that_is_used_gets_a_binding() -> None:
    graph = Graph()
    x = graph.add_input("x", VECTOR)
    y = graph.add("exp", [x], {}, VECTOR)
    graph.add("tanh", [y], {}, VECTOR)
    graph.set_outputs([y])
    assert write_relay(graph, None, comments=False).splitlines()[-3:] == ["  %0 = exp(%x);", "  %0", "}"]


# ── constants in the metadata section ───────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "array",
    [
        numpy.arange(6, dtype="int8").reshape(2, 3), numpy.array([True, False]), numpy.array(7, "uint8"),
        numpy.array([1.5, numpy.nan], "float16"), numpy.zeros((0, 3), "float64"), numpy.array([[2**40]]),
    ],
)  # fmt: skip
def test_arrays_go_to_the_metadata_section(array: numpy.ndarray) -> None:
    graph = Graph()
    constant = graph.add_const(array, TensorType(array.shape, str(array.dtype)))
    graph.set_outputs([graph.add("my.op", [constant])])
    written = write_relay(graph, None)
    back = read_relay(written, "x", dialect=None)
    (node,) = back.operands[result(back)]
    found = back.value(node)
    assert found.dtype == array.dtype and found.shape == array.shape and found.tobytes() == array.tobytes()
    assert back.types[node] == TensorType(array.shape, str(array.dtype))
    assert write_relay(back, None) == written


def test_a_record_begins_as_tvm_writes_it() -> None:
    graph = Graph()
    graph.set_outputs([graph.add_const(numpy.ones((2,), "float32"), VECTOR)])
    document = json.loads(write_relay(graph, None).partition("#[metadata]")[2])
    assert document["b64ndarrays"][0].startswith("P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAA")


def test_new_constants_come_after_the_old_ones() -> None:
    first = Graph()
    first.set_outputs([first.add("my.op", [first.add_const(numpy.ones(2, "float32"), VECTOR)])])
    graph = read_relay(write_relay(first, None), "x", dialect=None)
    new = graph.add_const(numpy.full(2, 3, "float32"), VECTOR)
    graph.set_outputs([graph.add_tuple([graph.outputs[0], new])])
    written = write_relay(graph, None)
    assert "my.op(meta[relay.Constant][0]" in written and "meta[relay.Constant][1]" in written
    back = read_relay(written, "y", dialect=None)
    assert [v.load().tolist() for v in back.values.values()] == [[1, 1], [3, 3]]


def test_a_changed_constant_gets_a_reference_of_its_own() -> None:
    first = Graph()
    first.set_outputs([first.add("my.op", [first.add_const(numpy.ones(2, "float32"), VECTOR)])])
    graph = read_relay(write_relay(first, None), "x", dialect=None)
    (node,) = graph.operands[result(graph)]
    graph.values[node] = numpy.ones(2, "float32")  # the same value: the same reference
    assert "my.op(meta[relay.Constant][0]" in write_relay(graph, None)
    graph.values[node] = numpy.zeros(2, "float32")
    back = again(graph, None)
    assert back.value(back.operands[result(back)][0]).tolist() == [0, 0]


def test_external_constants_stay_external() -> None:
    graph = read(main("add(meta[relay.Constant][3] /* ty=Tensor[(2), float32] */, meta[relay.Constant][3])"))
    node = graph.operands[result(graph)][0]
    assert graph.types[node] == VECTOR and graph.value(node) is None
    assert "#[metadata]" not in write_relay(graph, None)
    assert_same(graph, again(graph))
    new = graph.add_const(numpy.ones(2, "float32"), VECTOR)
    graph.set_outputs([graph.add("add", [graph.outputs[0], new])])
    written = write_relay(graph, None)
    assert "// meta[relay.Constant][0] to [3] are not in this file" in written
    back = read_relay(written, "y", dialect=None)
    assert back.value(back.operands[result(back)][1]).tolist() == [1, 1]
    assert back.value(back.operands[back.operands[result(back)][0]][0]) is None


def test_attribute_objects_are_decoded_where_the_operator_is_known() -> None:
    section = {
        "root": 1,
        "nodes": [
            {"type_key": ""},
            {"type_key": "Map", "keys": ["relay.attrs.BatchMatmulAttrs", "IntImm"], "data": [2, 4]},
            {"type_key": "Array", "data": [3]},
            {
                "type_key": "relay.attrs.BatchMatmulAttrs",
                "attrs": {"out_dtype": "", "transpose_a": "1", "transpose_b": "1"},
            },
            {"type_key": "Array", "data": [5]},
            {"type_key": "IntImm", "attrs": {"dtype": "int32", "value": "7"}},
        ],
        "b64ndarrays": [],
    }
    text = main(
        "%0 = nn.batch_matmul(%x, %x, meta[relay.attrs.BatchMatmulAttrs][0]); my.op(%0, k=meta[IntImm][0])",
        "%x",
    )
    graph = read(text + "\n#[metadata]\n" + json.dumps(section))
    out = result(graph)
    assert graph.attrs[out] == {"k": 7}
    assert graph.attrs[graph.operands[out][0]] == {"transpose_a": True, "transpose_b": True}
    assert_same(graph, again(graph))
    without = read(text)
    assert without.attrs[without.operands[result(without)][0]] == {
        "*": "meta[relay.attrs.BatchMatmulAttrs][0]"
    }
    assert "nn.batch_matmul(%x, %x, meta[relay.attrs.BatchMatmulAttrs][0])" in write_relay(without, DIALECT)


def test_damaged_arrays_are_reported_where_they_are_used() -> None:
    first = Graph()
    first.set_outputs([first.add("my.op", [first.add_const(numpy.ones(2, "float32"), VECTOR)])])
    written = write_relay(first, None)
    broken = written.replace("P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAA", "P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAA" + "AAAA")
    with pytest.raises(InputError, match=r"x:3:9: `meta\[relay.Constant\]\[0\]` cannot be read"):
        read_relay(broken, "x", dialect=None)


# ── what cannot be written ──────────────────────────────────────────────────────────────────────────────────


def test_a_graph_of_another_dialect_cannot_be_written() -> None:
    with pytest.raises(InputError, match="dialect `onnx`"):
        write_relay(Graph("onnx"), None)


def test_an_operand_left_out_in_the_middle_cannot_be_written() -> None:
    graph = Graph()
    x = graph.add_input("x", VECTOR)
    graph.set_outputs([graph.add("my.op", [x, ABSENT, x])])
    with pytest.raises(InputError, match="in the middle"):
        write_relay(graph, None)
    graph.set_outputs([graph.add("my.op", [x, ABSENT])])
    assert "my.op(%x)" in write_relay(graph, None)


@pytest.mark.parametrize(
    ("op", "attrs"),
    [("my op", {}), ("if", {}), ("a(b", {}), ("", {}), ("f", {"a b": 1}), ("f", {"a": object()})],
)
def test_operators_and_attributes_that_relay_cannot_say(op: str, attrs: dict[str, object]) -> None:
    graph = Graph()
    graph.set_outputs([graph.add(op, [graph.add_input("x", VECTOR)], attrs)])
    with pytest.raises(InputError, match="cannot be written as Relay text"):
        write_relay(graph, None)


def test_a_graph_of_any_name_becomes_a_function() -> None:
    graph = Graph(name="my graph (2)")
    graph.set_outputs([graph.add_input("x", VECTOR)])
    assert again(graph, None).name == "my_graph__2_"
