"""Hostile files of other tools: pairs of ONNX functions, as text and protobuf, and Tensat's rules; and what
the tools themselves would not survive.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

HEAD = '<domain: "w", opset_import: ["" : 18]>\n'
RELUS = (
    HEAD + "relus_pattern (x) => (z) { y = Relu(x) z = Relu(y) }\n" + HEAD
    + "relus_replacement (x) => (z) { z = Relu(x) }\n"
)


def pair(pattern: str, replacement: str = "(x) => (z) { z = Relu(x) }") -> str:
    """A pair of functions, in ONNX's text syntax."""
    return f"{HEAD}r_pattern {pattern}\n{HEAD}r_replacement {replacement}\n"


def hosts() -> Iterator[tuple[str, str | bytes]]:
    """Files for `gslc import`, each with the tool's name before the first `_`."""
    for name, data in (*_texts(), *_messages()):
        yield f"onnxsim_{name}", data
    for name, text in _terms():
        yield f"tensat_{name}.rules", text


def _texts() -> Iterator[tuple[str, str | bytes]]:
    yield "fine.txt", RELUS
    yield "empty.txt", ""
    yield "one.txt", HEAD + "r (x) => (z) { z = Relu(x) }\n"
    yield "cut_off.txt", RELUS[:-9]
    yield "nul.txt", RELUS.replace("relus", "re\0lus")
    yield "latin1.txt", b"# \xe9\n" + RELUS.encode()
    yield "bom.txt", b"\xef\xbb\xbf" + RELUS.encode()
    yield "utf16.txt", RELUS.encode("utf-16")
    yield "quote_open.txt", pair('(x) => (z) { z = Cast<to: string = "a>(x) }')
    yield "braces.txt", "{" * 20_000
    yield "braces_closed.txt", HEAD + "r (x) => (z) " + "{" * 10_000 + "}" * 10_000
    yield "bodies_deep.txt", pair("(x) => (z) { " + _nested_if(2_000) + " }")
    yield "bodies.txt", pair("(x) => (z) { " + _nested_if(3) + " }")
    yield "lists_deep.txt", pair("(x) => (z) { z = Relu<a = " + "[" * 20_000 + "]" * 20_000 + ">(x) }")
    yield "types_deep.txt", pair(
        "(x) => (z) { z = Cast<a: type_proto = " + "seq(" * 20_000 + "float[1]" + ")" * 20_000 + ">(x) }"
    )
    yield "number.txt", pair("(x) => (z) { z = Softmax<axis: int = 99999999999999999999999>(x) }")
    yield "number_float.txt", pair("(x) => (z) { z = LeakyRelu<alpha: float = 1e99999>(x) }")
    yield "number_short.txt", pair("(x) => (z) { z = LeakyRelu<alpha: float = ->(x) }")
    yield "axis_far.txt", pair("(x) => (z) { z = LayerNormalization<axis: int = 2147483647>(x, x) }")
    yield "batch_negative.txt", pair("(x, j) => (z) { z = GatherND<batch_dims: int = -3>(x, j) }")
    yield "parts.txt", pair("(x) => (z) { z, y = Split<num_outputs: int = 2000000000>(x) }")
    yield "missing_operand.txt", pair("(x) => (z) { z = EyeLike() }")
    yield "missing_pattern.txt", pair('(x) => (z) { z = RegexFullMatch<pattern: string = "(">() }')
    yield "unknown.txt", pair("(x) => (z) { z = Frobnicate(x) }")
    yield "circle.txt", pair("(x) => (z) { y = Relu(z) z = Relu(y) }")
    yield "itself.txt", pair("(x) => (z) { z = r_pattern(x) }")
    yield "twice.txt", pair("(x) => (z) { z = Relu(x) z = Relu(x) }")
    yield "undefined.txt", pair("(x) => (z) { z = Relu(q) }")
    yield "inputs_none.txt", pair("() => (z) { z = Constant<value_float: float = 1.0>() }", "() => (z) { }")
    yield "outputs_none.txt", pair("(x) => () { z = Relu(x) }", "(x) => () { }")
    yield "constant_huge.txt", pair(
        "(x) => (z) { s = Constant<value_ints: ints = [99999999999, 99999999999]>() y = Expand(x, s) "
        "z = Relu(y) }",
        "(x) => (z) { s = Constant<value_ints: ints = [99999999999, 99999999999]>() z = Expand(x, s) }",
    )
    yield "fill_huge.txt", pair(
        "(x) => (z) { s = Constant<value_ints: ints = [1099511627776]>() y = ConstantOfShape(s) "
        "z = Add(x, y) }",
        "(x) => (z) { z = Identity(x) }",
    )
    yield "doubling.txt", pair(
        "(x0) => (z) { " + " ".join(f"x{k + 1} = Add(x{k}, x{k})" for k in range(60)) + " z = Relu(x60) }",
        "(x0) => (z) { z = Relu(x0) }",
    )
    yield "concat_doubling.txt", pair(
        "(x0) => (z) { " + " ".join(f"x{k + 1} = Concat<axis: int = 0>(x{k}, x{k})" for k in range(40))
        + " z = Relu(x40) }",
        "(x0) => (z) { z = Relu(x0) }",
    )
    yield "long.txt", pair(
        "(x0) => (z) { " + " ".join(f"x{k + 1} = Relu(x{k})" for k in range(3_000)) + " z = Relu(x3000) }",
        "(x0) => (z) { z = Relu(x0) }",
    )
    yield "operands_many.txt", pair(
        "(x) => (z) { z = Concat<axis: int = 0>(" + ", ".join(["x"] * 5_000) + ") }"
    )
    yield "parameters_many.txt", pair(
        "(" + ", ".join(f"x{k}" for k in range(2_000)) + ") => (z) { z = Sum("
        + ", ".join(f"x{k}" for k in range(2_000)) + ") }",
        "(" + ", ".join(f"x{k}" for k in range(2_000)) + ") => (z) { z = Relu(x0) }",
    )
    yield "names_odd.txt", pair('("a b") => ("z;") { "z;" = Relu("a b") }')
    yield "name_rule.txt", RELUS.replace("relus", "rule")
    yield "name_code.txt", RELUS.replace("relus", "__import__")
    yield "pairs_many.txt", "".join(RELUS.replace("relus", f"r{k}") for k in range(15))
    yield "pairs_same.txt", RELUS * 10
    yield "opset_huge.txt", RELUS.replace(": 18", ": 99999999999")
    yield "opset_negative.txt", RELUS.replace(": 18", ": -1")
    yield "opset_none.txt", RELUS.replace('opset_import: ["" : 18]', "opset_import: []")
    yield "attributes.txt", pair("<k, k> (x) => (z) { z = Softmax<axis: int = @k>(x) }")
    yield "attribute_unknown.txt", pair("(x) => (z) { z = Softmax<axis: int = @q>(x) }")
    yield (
        "model.txt",
        '<ir_version: 8, opset_import: ["" : 18]>\ng (float[N] x) => (float[N] z) { z = Relu(x) }\n',
    )
    yield "model_open.txt", "ir_version: 8 " + "<" * 20_000


def _nested_if(levels: int) -> str:
    head = "".join(
        f"z{k or ''} = If<then_branch = g{k} () => (a{k}) {{ " for k in range(levels)
    )
    inner = f"a{levels - 1} = Relu(x)"
    tail = "".join(
        f" }}, else_branch = h{k} () => (b{k}) {{ b{k} = Relu(x) }}>(x)"
        + (f" a{k - 1} = Relu(z{k})" if k else "")
        for k in range(levels - 1, -1, -1)
    )
    return head + inner + tail


def _messages() -> Iterator[tuple[str, bytes]]:
    from onnx import FunctionProto, ModelProto, helper

    def model(*functions: Any) -> bytes:
        return bytes(
            ModelProto(ir_version=10, functions=functions).SerializeToString(deterministic=True)
        )

    def function(name: str, nodes: list[Any], inputs: tuple[str, ...] = ("x",)) -> FunctionProto:
        return helper.make_function("w", name, inputs, ["z"], nodes, [helper.make_opsetid("", 18)])

    relu = helper.make_node("Relu", ["x"], ["z"])
    yield "empty.pb", model()
    yield "no_nodes.pb", model(function("a_pattern", []), function("a_replacement", []))
    yield "no_name.pb", model(FunctionProto(), FunctionProto())
    yield "negative_tensor.pb", model(
        function("a_pattern", [
            helper.make_node("Constant", [], ["c"], value=_tensor([1, -1])),
            helper.make_node("GatherND", ["x", "c"], ["z"]),
        ]),
        function("a_replacement", [relu]),
    )
    yield "huge_tensor.pb", model(
        function("a_pattern", [
            helper.make_node("Constant", [], ["c"], value=_tensor([2**40, 2**40])),
            helper.make_node("Add", ["x", "c"], ["z"]),
        ]),
        function("a_replacement", [relu]),
    )
    yield "external_tensor.pb", model(
        function("a_pattern", [
            helper.make_node("Constant", [], ["c"], value=_external()),
            helper.make_node("Add", ["x", "c"], ["z"]),
        ]),
        function("a_replacement", [relu]),
    )
    yield "random.pb", bytes((k * 7919 + 13) % 256 for k in range(2_000))
    yield "deep.pb", b"\x0a\x7f" * 3_000


def _tensor(dims: list[int]) -> Any:
    from onnx import TensorProto

    return TensorProto(dims=dims, data_type=7, int64_data=[0, 0], name="c")


def _external() -> Any:
    from onnx import StringStringEntryProto, TensorProto

    where = StringStringEntryProto(key="location", value="../../../../etc/passwd")
    return TensorProto(dims=[2], data_type=1, name="c", data_location=1, external_data=[where])


def _terms() -> Iterator[tuple[str, str]]:
    def nested(levels: int) -> str:
        return "(relu " * levels + "?x" + ")" * levels

    def doubled(levels: int) -> str:
        term = "?x"
        for _ in range(levels):
            term = f"(ewadd {term} {term})"
        return term

    yield "fine", "(relu (relu ?x))=>(relu ?x)\n"
    yield "empty", ""
    yield "arrow", "=>\n"
    yield "arrows", "(relu ?x)=>(relu ?x)=>(relu ?x)\n"
    yield "one_side", "(relu ?x)=>\n"
    yield "open", "(relu (relu ?x=>(relu ?x)\n"
    yield "closed", "(relu ?x))))=>(relu ?x)\n"
    yield "deep", f"{nested(20_000)}=>(relu ?x)\n"
    yield "deep_100", f"{nested(100)}=>(relu ?x)\n"
    yield "deep_900", f"{nested(900)}=>(relu ?x)\n"
    yield "doubled", f"{doubled(12)}=>(relu ?x)\n"
    yield "target_deep", f"(relu ?x)=>{nested(3_000)}\n"
    yield "digits", f"(matmul {'9' * 5_000} ?x ?y)=>(matmul 0 ?x ?y)\n"
    yield "digits_odd", "(matmul ² ?x ?y)=>(matmul ٣ ?x ?y)\n"
    yield "concat_rank", "(concat 3 2 ?x ?y)=>(concat 0 1 ?y ?x)\n"
    yield "stride", "(conv2d 0 0 1 3 ?x ?y)=>(conv2d 1 1 1 3 ?x ?y)\n"
    yield "split", "(relu ?x)=>(split_0 (split 9 ?x))\n"
    yield "split_alone", "?x=>(split_0 ?x)\n"
    yield "split_partner", "(relu ?x)=>(split_0 (split 1 (relu ?x)))\n"
    yield "no_operator", "(() ?x)=>((relu) ?x)\n"
    yield "variable", "?=>??\n"
    yield "name_odd", "(relu ?x;rule)=>(relu ?x;rule)\n"
    yield "many", "(relu (relu ?x))=>(relu ?x)\n" * 20
    yield "wide", "(ewadd " + " ".join(f"?x{k}" for k in range(3_000)) + ")=>(relu ?x0)\n"
    yield "inputs_many", (
        "(ewadd " * 300 + "?x" + "".join(f" ?y{k})" for k in range(300)) + "=>(relu ?x)\n"
    )
