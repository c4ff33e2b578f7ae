"""Hostile models in ONNX's text form: brackets and bodies without end, numbers that fit no type, weights that
lie elsewhere, names and types that contradict themselves.
"""

from __future__ import annotations

from collections.abc import Iterator

HEAD = '<ir_version: 10, opset_import: ["" : 20]>\n'
RELU = HEAD + "g (float[2, 3] x) => (float[2, 3] y) { y = Relu (x) }\n"


def _graph(body: str, inputs: str = "float[2, 3] x", outputs: str = "float[2, 3] y", known: str = "") -> str:
    return f"{HEAD}g ({inputs}) => ({outputs}) {f'<{known}>' if known else ''} {{ {body} }}\n"


def onnx_texts() -> Iterator[tuple[str, str | bytes]]:
    """Models, by file name."""
    for name, data in {
        "empty": b"",
        "head": HEAD.encode(),
        "cut": RELU[:-12].encode(),
        "comments": b"# a model\n" * 1000,
        "bom": b"\xef\xbb\xbf" + RELU.encode(),
        "utf16": RELU.encode("utf-16"),
        "nul": RELU.replace("Relu", "Re\0lu").encode(),
        "bytes": RELU.replace("Relu", "Re\xff").encode("latin-1"),
        "protobuf": b"\x08\x0a\x12\x03abc:\x00",
        "twice": (RELU * 2).encode(),
        "brackets": b"(" * 100_000,
        "types": _graph("y = Relu (x)", "seq(" * 20_000 + "float" + ")" * 20_000 + " x").encode(),
    }.items():
        yield f"{name}.onnxtxt", data
    for name, text in {
        "fine": RELU,
        "unclosed": _graph('y = Constant <value_string = "abc> ()'),
        "escapes": _graph(r'y = Constant <value_string = "\q\x\u12\" "> ()', "", "string y"),
        "long_text": _graph(f'y = Constant <value_string = "{"a" * 300_000}"> ()', "", "string y"),
        "long_name": _graph(f"{'n' * 100_000} = Relu (x) y = Relu ({'n' * 100_000})"),
        "no_operator_set": RELU.replace('opset_import: ["" : 20]', "opset_import: []"),
        "operator_set": RELU.replace("20]", "999]"),
        "operator_set_far": RELU.replace("20]", "99999999999999999999]"),
        "version": RELU.replace("10,", "9223372036854775808,"),
        "domain": RELU.replace("Relu", "some.where.Relu"),
        "unknown": RELU.replace("Relu", "Rely"),
        "overload": RELU.replace("Relu", "Relu:twice"),
        "unknown_input": _graph("y = Relu (z)"),
        "output_twice": _graph("y = Relu (x) y = Abs (x)"),
        "circle": _graph("y = Add (x, z) z = Relu (y)"),
        "backwards": _graph("y = Relu (z) z = Relu (x)"),
        "no_output": HEAD + "g (float x) => () { }\n",
        "same_input": _graph("y = Relu (x)", "float x, float x"),
        "attribute": _graph("y = Relu <alpha = 1e999, beta: float = 99999999999999999999> (x)"),
        "attribute_type": _graph("y = Concat <axis: float = 1> (x, x)"),
        "attribute_reference": _graph("y = Concat <axis: int = @somewhere> (x, x)"),
        "axis": _graph("y = Concat <axis = -9223372036854775808> (x, x)"),
        "size_far": RELU.replace("[2, 3]", "[4611686018427387904, 4]"),
        "size_negative": RELU.replace("[2, 3]", "[-1, 3]"),
        "sizes_many": RELU.replace("[2, 3]", f"[{', '.join(['1'] * 5000)}]"),
        "sizes_named": RELU.replace("[2, 3]", '[N, "a b", ?]'),
        "values_few": _graph("y = Add (x, w)", known="float[2, 3] w = {1, 2}"),
        "values_many": _graph("y = Add (x, w)", known=f"float[100000] w = {{{'1,' * 99_999}1}}"),
        "values_far": _graph("y = Add (x, w)", known="float[4611686018427387904] w = {1}"),
        "values_odd": _graph("y = Cast <to = 1> (w)", "", known="int8[2, 3] w = {1, 2, 3, 999, -999, 1e3}"),
        "values_texts": _graph("y = Cast <to = 1> (w)", "", known='string[2] w = {"a", "\\"}'),
        "values_elsewhere": _sum_with('["location": "/etc/passwd", "offset": "0", "length": "24"]'),
        "values_above": _sum_with('["location": "../../w", "offset": "-1"]'),
        "constants": _graph(
            "".join(f"c{k} = Constant <value_float = {k}.5> () " for k in range(5000)) + "y = Relu (x)"
        ),
        "many": _graph(
            "".join(f"x{k} = Relu (x{k - 1}) " for k in range(1, 5000)) + "y = Relu (x4999)", "float[2, 3] x0"
        ),
        "wide": _graph(f"y = Sum ({', '.join(['x'] * 20_000)})"),
        "types_odd": _graph(
            "y = Relu (x)", "map(string, float[2]) x, optional(seq(float)) z, sparse_tensor(float[2]) s"
        ),
        "function_itself": RELU.replace("Relu", "f.f")
        + '<domain: "f", opset_import: ["" : 20, "f" : 1]> f (a) => (b) { b = f.f (a) }\n',
        "function_types": RELU.replace("Relu", "f.f")
        + '<domain: "f", opset_import: ["" : 20]> f <c, d: int = 3> (a, a) => (b, b) { b = Relu (a) }\n',
        "metadata": RELU.replace("20]", '20], metadata_props: ["a": "b", "a": "c"]'),
    }.items():
        yield f"{name}.onnxtxt", text
    yield "bodies_deep.onnxtxt", _bodies(60)
    yield "bodies_deeper.onnxtxt", _bodies(2000)
    yield "functions_double.onnxtxt", _functions(40)
    yield "loop_long.onnxtxt", _loop("9223372036854775807", "Add (v, v)")
    yield "loop_doubles.onnxtxt", _loop("60", "Concat <axis = 0> (v, v)")


def _sum_with(values: str) -> str:
    return _graph("y = Add (x, w)", known=f"float[2, 3] w = {values}")


def _bodies(levels: int) -> str:
    inner = "r0 = Relu (x)"
    for k in range(levels):
        branch = f"g{k} () => (float[2, 3] r{k}) {{ {inner} }}"
        other = f"e{k} () => (float[2, 3] s) {{ s = Abs (x) }}"
        inner = f"r{k + 1} = If (c) <then_branch: graph = {branch}, else_branch: graph = {other}>"
    return _graph(f"{inner} y = Relu (r{levels})", "bool c, float[2, 3] x")


def _functions(levels: int) -> str:
    imports = 'opset_import: ["" : 20, "f" : 1]'
    text = f"<ir_version: 10, {imports}>\ng (float[2] x) => (float[2] y) {{ y = f.f{levels} (x) }}\n"
    text += f'<domain: "f", {imports}> f0 (a) => (b) {{ b = Relu (a) }}\n'
    for k in range(levels):
        text += f'<domain: "f", {imports}> f{k + 1} (a) => (b) {{ c = f.f{k} (a) b = f.f{k} (c) }}\n'
    return text


def _loop(rounds: str, step: str) -> str:
    body = f"b (int64 i, bool c, float[N] v) => (bool d, float[M] w) {{ d = Identity (c) w = {step} }}"
    return (
        f"{HEAD}g (bool go, float[2] x) => (float[K] y) <int64 n = {{{rounds}}}>"
        f" {{ y = Loop (n, go, x) <body: graph = {body}> }}\n"
    )
