"""Relay text → graph: each construct of the subset."""

from __future__ import annotations

import numpy
import pytest

from gslang.dialect.tensor_type import UNKNOWN, TensorType, TupleType
from gslang.formats.relay import read_relay
from gslang.graph.graph import CONST, INPUT, PROJ, TUPLE

from .samples import CLOSURE, CONVOLUTION, PARTITIONED, again, assert_same, main, ops, read, result


def test_a_function_becomes_a_graph() -> None:
    graph = read(CONVOLUTION)
    assert graph.name == "main"
    assert ops(graph) == [INPUT, INPUT, "nn.conv2d", CONST, "multiply", "add"]
    out = result(graph)
    convolution = graph.operands[out][0]
    assert graph.attrs[convolution] == {"padding": (1, 1, 1, 1), "channels": 4, "kernel_size": (3, 3)}
    assert graph.types[out] == TensorType((1, 4, 8, 8), "float32")
    assert [graph.names[n] for n in graph.nodes() if graph.op[n] is INPUT] == ["image", "w"]
    assert "warnings" not in graph.meta


def test_a_numbered_binding_is_sharing() -> None:
    graph = read(main("%0 = exp(%x); %7 = add(%0, %0); subtract(%7, %0)"))
    assert ops(graph).count("exp") == 1


def test_lets_are_sharing_too() -> None:
    lets = read(main("let %a = exp(%x); let %b: Tensor[(2, 3), float32] = add(%a, %a); subtract(%b, %a)"))
    assert_same(lets, read(main("%0 = exp(%x); %1 = add(%0, %0); subtract(%1, %0)")))


def test_a_let_shadows_and_ends_with_its_parentheses() -> None:
    graph = read(main("let %a = exp(%x); %0 = (let %a = tanh(%a); nn.relu(%a)); add(%0, %a)"))
    assert_same(graph, read(main("%0 = exp(%x); add(nn.relu(tanh(%0)), %0)")))


def test_a_let_inside_an_argument_ends_with_it() -> None:
    graph = read(main("add(let %x = exp(%x); tanh(%x), %x)"))
    assert_same(graph, read(main("add(tanh(exp(%x)), %x)")))


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("%x + %x * %x", "add(%x, multiply(%x, %x))"),
        ("%x - %x - %x", "subtract(subtract(%x, %x), %x)"),
        ("(%x - %x) / exp(%x)", "divide(subtract(%x, %x), exp(%x))"),
        ("%x + %x < %x * %x", "less(add(%x, %x), multiply(%x, %x))"),
        ("%x <= %x == %x > %x", "equal(less_equal(%x, %x), greater(%x, %x))"),
        ("%x != %x >= %x", "not_equal(%x, greater_equal(%x, %x))"),
        ("{exp({%x})}", "exp(%x)"),
        ("exp(((%x)))", "exp(%x)"),
    ],
)
def test_infix_operators_and_brackets(text: str, meaning: str) -> None:
    assert_same(read(main(text), dialect=None), read(main(meaning), dialect=None))


def test_unary_minus_of_the_old_grammar() -> None:
    graph = read("v0.0.4\ndef @main(%x: float32) { -%x * 2f }")
    assert ops(graph) == [INPUT, "negative", CONST, "multiply"]


def test_tuples_and_projections() -> None:
    graph = read(main("%0 = (%x, exp(%x)); %1 = ((%0, %x), ()); (%1.0.0.1, (%x,).0, %0.0)"))
    assert ops(graph) == [
        INPUT, "exp", TUPLE, TUPLE, TUPLE, TUPLE, PROJ, PROJ, PROJ, TUPLE, PROJ, PROJ, TUPLE,
    ]
    types = graph.types[result(graph)]
    assert types == TupleType((TensorType((2, 3), "float32"),) * 3)


def test_an_operator_with_several_results_is_projected() -> None:
    text = main(
        "%0 = nn.batch_norm(%x, %g, %g, %g, %g); %1 = %0.0; nn.relu(%1)",
        "%x: Tensor[(2, 3), float32], %g: Tensor[(3), float32]",
    )
    graph = read(text)
    projection = graph.operands[result(graph)][0]
    assert graph.op[projection] is PROJ and graph.attrs[projection] == {"index": 0}
    assert graph.types[projection] == TensorType((2, 3), "float32")


@pytest.mark.parametrize(
    "name",
    [
        "input.1", "a.b:0", "serving_default_input_1:0", "conv-1/w", "LAYER.CONV0_weight", "x.0", "_x",
        "a/b/c", "größe",
    ],
)
def test_names_that_are_no_identifiers(name: str) -> None:
    graph = read(main(f"add(%{name}, %{name})", f"%{name}: Tensor[(2), float32], %y:int32"))
    assert [graph.names[n] for n in graph.nodes() if graph.op[n] is INPUT] == [name, "y"]
    assert_same(graph, again(graph)) if name[0] != "_" else again(graph)


def test_a_name_in_use_is_the_longest_declared_prefix() -> None:
    types = "(Tensor[(2), float32], Tensor[(3), float32])"
    graph = read(main("(%t.1, %t.1.x, %t.1.x.0)", f"%t: {types}, %t.1.x: {types}"))
    fields = graph.operands[result(graph)]
    assert [graph.op[f] for f in fields] == [PROJ, INPUT, PROJ]
    assert graph.types[fields[0]] == TensorType((3,), "float32")


@pytest.mark.parametrize(
    ("literal", "dtype", "value"),
    [
        ("3", "int32", 3), ("-3", "int32", -3), ("--3", "int32", 3), ("3i16", "int16", 3), ("3i", "int32", 3),
        ("3i64", "int64", 3), ("3000000000", "int64", 3000000000), ("2f", "float32", 2),
        ("1e-05f", "float32", 1e-5), ("0.5f16", "float16", 0.5), ("0.1f64", "float64", 0.1),
        ("-0.5f", "float32", -0.5), ("True", "bool", True), ("False", "bool", False),
        ("inff", "float32", float("inf")), ("-inff", "float32", float("-inf")),
        ("1 /* ty=int64 */", "int64", 1), ("1.5 /* ty=float64 */", "float64", 1.5),
        ("7 /* ty=uint8 */", "uint8", 7), ("-2147483648", "int32", -2147483648),
    ],
)
def test_literals(literal: str, dtype: str, value: float) -> None:
    graph = read(main(literal))
    node = result(graph)
    array = graph.value(node)
    assert graph.types[node] == TensorType((), dtype)
    assert array.dtype == dtype and array == numpy.array(value, dtype)
    assert "warnings" not in graph.meta
    assert_same(graph, again(graph))
    assert_same(graph, again(graph, comments=False))


def test_nan_is_read() -> None:
    assert numpy.isnan(read(main("nanf")).value(0 + 1))


@pytest.mark.parametrize(
    ("text", "value"),
    [("\\x41\\101", "AA"), ("\\x", "x"), ("\\x4", "x4"), ("\\9", "9"), ("\\²", "²"), ("\\q", "q")],
)
def test_escapes_that_are_none_are_their_characters(text: str, value: str) -> None:
    graph = read(main(f'my.op(%x, a="{text}")'))
    assert graph.attrs[result(graph)] == {"a": value}


def test_a_literal_against_its_comment_is_a_warning() -> None:
    graph = read(main("add(%x, 1f /* ty=float64 */)"))
    assert (
        graph.meta["warnings"][0]
        == "sample.relay:3:9: `1f` is float32, its comment says float64 (in `@main`)"
    )


def test_a_point_without_suffix_is_float32_with_a_warning() -> None:
    graph = read(main("multiply(%x, 0.5)"))
    assert graph.types[graph.operands[result(graph)][1]] == TensorType((), "float32")
    assert "has no suffix" in graph.meta["warnings"][0]


def test_attribute_values() -> None:
    graph = read(main(
        'my.op(%x, a=1, b=[1, -2i64], c=[[0, 0], [1i64, 1]], d=1e-05f, e=True, f=None, g="q\\"\\x41\\n", h = '
        '[0.1f, 2f],'
        ' i=[], k=(3), l=inff, m=nullptr, n=["a", "b"], o=meta[VirtualDevice][0],)'
    ))
    assert graph.attrs[result(graph)] == {
        "a": 1,
        "b": (1, -2),
        "c": ((0, 0), (1, 1)),
        "d": 1e-05,
        "e": True,
        "f": None,
        "g": 'q"A\n',
        "h": (0.1, 2.0),
        "i": (),
        "k": 3,
        "l": float("inf"),
        "m": None,
        "n": ("a", "b"),
        "o": "meta[VirtualDevice][0]",
    }
    assert_same(graph, again(graph))


def test_a_declared_bool_may_be_given_as_a_number() -> None:
    graph = read(main("sum(%x, axis=[1], keepdims=1)"))
    assert graph.attrs[result(graph)]["keepdims"] is True


def test_types() -> None:
    parameters = (
        "%a: int32, %b: Tensor[(), float16], %c: Tensor[(?, 3), int8], %d: (Tensor[(2), bool], (uint8,)), "
        "%e: (), %f,"
        " %g {virtual_device=meta[VirtualDevice][1]}: Tensor[(2i64,), float32x4], %h: "
        "Tensor[(meta[tir.SizeVar][0], 1), int64], %i: int"
    )
    graph = read(main("%a", parameters))
    types = [str(graph.types[n]) for n in graph.nodes() if graph.op[n] is INPUT]
    assert types == [
        "int32[]", "float16[]", "int8[?, 3]", "(bool[2], (uint8[]))", "()", "None", "float32x4[2]",
        "int64[meta[tir.SizeVar][0], 1]", "int32[]",
    ]  # fmt: skip
    assert_same(graph, again(graph))
    assert graph.types[2].shape[0] is UNKNOWN  # type: ignore[union-attr]


def test_a_type_in_parentheses_is_that_type() -> None:
    graph = read(main("%x", "%x: (int32)"))
    assert graph.types[0] == TensorType((), "int32") and "a tuple of one" in graph.meta["warnings"][0]


def test_type_comments_give_types_where_nothing_else_does() -> None:
    graph = read(main("%0 = my.op(%x) /* ty=Tensor[(5), int8] span=a;b/c:d:1:2 */; nn.relu(%0)"))
    assert graph.types[result(graph)] == TensorType((5,), "int8")


def test_inference_wins_over_a_comment() -> None:
    graph = read(main("exp(%x) /* ty=Tensor[(9), float32] */"))
    assert graph.types[result(graph)] == TensorType((2, 3), "float32")
    assert graph.meta["warnings"][0].startswith("sample.relay:3:7: the comment")


def test_comments_nest_and_span_text_may_look_like_one() -> None:
    graph = read(main("/* a /* b */ c */ exp(%x) /* ty=Tensor[(2, 3), float32] */ // ends here }"))
    assert ops(graph) == [INPUT, "exp"]
    graph = read(main("%0 = my.op(%x) /* ty=int8 span=a/*b:1:1 */; tanh(%0) /* ty=int8 */"))
    assert graph.types[result(graph)] == TensorType((), "int8")


@pytest.mark.parametrize(
    "header",
    ["", '#[version = "0.0.5"]\n', "v0.0.4\n", '// made by hand\n#[ version = "0.0.5" ]\n', "\ufeff"],
)
def test_headers(header: str) -> None:
    assert ops(read(header + "def @main(%x: int32) { %x }")) == [INPUT]


def test_positional_strings_of_the_old_grammar() -> None:
    graph = read('v0.0.4\ndef @main(%x: Tensor[(2), int8]) { cast(%x, "int16") }')
    assert graph.attrs[result(graph)] == {"dtype": "int16"}
    assert graph.types[result(graph)] == TensorType((2,), "int16")


def test_a_bare_function_and_a_bare_expression() -> None:
    function = read("fn (%x: int32) { add(%x, %x) }")
    expression = read("free_var %x: int32;\n%0 = add(%x, %x);\n%0")
    assert_same(function, expression)


def test_calls_of_functions_stay_opaque() -> None:
    graph = read(PARTITIONED)
    assert ops(graph) == [INPUT, "exp", "@helper", "tanh"]
    call = graph.operands[result(graph)][0]
    assert graph.types[call] is None or graph.types[call] == TensorType((4,), "float32")


def test_calls_of_functions_are_inlined_on_request() -> None:
    graph = read(PARTITIONED, inline=True)
    assert ops(graph) == [INPUT, "exp", "subtract", "nn.relu", "tanh"]
    assert graph.types[result(graph)] == TensorType((4,), "float32")
    assert_same(graph, again(graph))


def test_inlining_twice_makes_two_copies_that_share_constants() -> None:
    text = """
    def @f(%a: float32) { add(%a, meta[relay.Constant][0]) }
    def @g(%a: float32) { %0 = @f(%a); @f(%0) }
    def @main(%x: float32) { %0 = @g(%x); multiply(%0, meta[relay.Constant][0]) }
    """
    graph = read(text, inline=True)
    assert ops(graph) == [INPUT, CONST, "add", "add", "multiply"]


def test_another_function_can_be_named() -> None:
    graph = read(PARTITIONED, function="helper")
    assert graph.name == "helper" and ops(graph) == [INPUT, INPUT, "subtract", "nn.relu"]


def test_the_only_function_needs_no_name() -> None:
    assert read("def @entry(%x: int32) { %x }").name == "entry"


def test_nested_functions_are_carried() -> None:
    graph = read(CLOSURE)
    assert ops(graph) == [INPUT, "exp", INPUT, "fn", "call", "call", "subtract"]
    function = next(n for n in graph.nodes() if graph.op[n] == "fn")
    assert [graph.names[o] for o in graph.operands[function]] == ["%0", "y"]
    assert graph.attrs[function]["text"] == (
        "fn (%p: Tensor[(4), float32], Primitive=1) -> Tensor[(4), float32] {\n"
        "  %0 = add(%p, %^0);\n"
        "  multiply(%0, %^1)\n"
        "}"
    )
    call = graph.operands[result(graph)][0]
    assert graph.types[call] == TensorType((4,), "float32")


def test_nested_functions_in_nested_functions() -> None:
    graph = read(main(
        "%0 = exp(%x);\n"
        "%5 = fn (%a) { %1 = tanh(%a); %3 = fn (%b) { %2 = add(%b, %0); add(%2, %1) }; %4 = %3(%a); "
        "multiply(%4, %x) };\n"
        "%5(%x)"
    ))
    function = next(n for n in graph.nodes() if graph.op[n] == "fn")
    assert [graph.names[o] for o in graph.operands[function]] == ["%0", "x"]
    assert_same(graph, again(graph))
    assert_same(graph, again(graph, comments=False))


def test_a_binding_of_a_nested_function_used_by_another() -> None:
    graph = read(
        main("%1 = fn (%y) { %0 = add(%x, %x); add(%0, %y) };\n%2 = fn (%z) { add(%0, %z) };\n(%1, %2)")
    )
    assert_same(graph, again(graph))
    assert ops(graph).count("add") == 1


def test_a_global_function_as_argument_of_a_lowered_call() -> None:
    graph = read(main("call_lowered(@kernel, (%x,))"))
    assert ops(graph) == ["global", INPUT, TUPLE, "call_lowered"]
    assert_same(graph, again(graph))


def test_unused_type_definitions_are_carried() -> None:
    text = "type List[A] {\n  Cons(A, List[A]),\n  Nil,\n}\n\ndef @main(%x: int32) {\n  %x\n}\n"
    from gslang.formats.relay import write_relay

    assert write_relay(read(text), None) == text.replace("{\n  %x", "-> int32 {\n  %x").replace(
        ") ->", ") ->"
    )


def test_dropped_values() -> None:
    graph = read(main("let %unused = exp(%x); %0 = @f(%x); tanh(%x); %x"))
    assert ops(graph) == [INPUT] and len(graph) == 1
    warnings = " ".join(graph.meta["warnings"])
    assert "the value before `;` is not used" in warnings and "the result of `@f` is not used" in warnings


def test_without_a_dialect() -> None:
    graph = read_relay(CONVOLUTION, "x", dialect=None)
    assert graph.types[result(graph)] == TensorType((1, 4, 8, 8), "float32")
