"""Hostile files that turn on what few think of: what runs outside of Python, what grows inside one element,
what waits, what repeats itself.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from typing import Any

HEAD = "dialect relay;\n"


def odd_rules() -> Iterator[tuple[str, str | bytes]]:
    relus = HEAD + "rule r(a): nn.relu(nn.relu(a)) => nn.relu(a);\n"
    for name, items in (
        ("passes_double", "p{0}; p{0};"), ("passes_repeat", "repeat {{ p{0}; p{0}; fold; }}"),
        ("passes_deep", "p{0};"),
    ):
        count = 3000 if name == "passes_deep" else 59
        lines = [f"pass p{k + 1} {{ {items.format(k)} }}\n" for k in range(count)]
        yield f"{name}.gsl", relus + "pass p0 { r; }\n" + "".join(lines)
        yield f"{name}_later.gsl", relus + "".join(reversed(lines)) + "pass p0 { r; }\n"
    yield (
        "passes_wide.gsl",
        relus + "pass p0 { " + "r; " * 990 + "}\n"
        + "".join(f"pass p{k} {{ p0; r; }}\n" for k in range(1, 1000)),
    )
    names = ", ".join(f"n{k}" for k in range(5000))
    yield "family_wide.gsl", HEAD + f"rule r(a) for f in {names}: nn.relu(f(a)) => a;\n"
    yield (
        "family_rows.gsl",
        HEAD + "rule r(a) for f, g in " + ", ".join(["(nn.relu, tanh)"] * 3000) + ": f(g(a)) => g(a);\n",
    )
    yield (
        "parameter_type.gsl",
        HEAD + "param k: " + "(" * 3000 + "int" + ")" * 3000
        + " = 1;\nrule r(a): nn.relu(a) where k > 1 => a;\n",
    )
    yield (
        "parameter_list.gsl",
        HEAD + "param k: int[]" + "[]" * 3000 + " = ();\nrule r(a): nn.relu(a) where len(k) > 1 => a;\n",
    )
    yield "parameter_missing.gsl", HEAD + "param k: int;\nrule r(a): nn.relu(a) where k > 1 => a;\n"
    yield (
        "parameter_itself.gsl",
        HEAD
        + (
            "param k: int = k;\nparam j: int = l;\nparam l: int = j;\n"
            "rule r(a): nn.relu(a) where k > j => a;\n"
        ),
    )
    yield (
        "parameter_huge.gsl",
        HEAD + "param k: int >= 9 ** 9 ** 9 = 9 ** 9 ** 9;\nrule r(a): nn.relu(a) where k > 1 => a;\n",
    )
    yield (
        "extern.gsl",
        HEAD + '@extern("os:_exit") fn f(x: int) -> bool;\nrule r(a): nn.relu(a) where f(a.ndim) => a;\n',
    )
    yield (
        "extern_parts.gsl",
        HEAD
        + (
            '@extern("os.path.__class__:__subclasses__") fn f(x: int) -> bool;\n'
            'rule r(a): nn.relu(a) where f(a.ndim) => a;\n'
        ),
    )
    yield (
        "names_mixed.gsl",
        HEAD
        + (
            "rule r\u0430(\u202ea): nn.relu(\u202ea) => \u202ea;\nrule \u212b(a): nn.relu(a) => a;\n"
            "rule \u00c5(a): nn.relu(a) => a;\n"
        ),
    )
    yield "spaces_odd.gsl", HEAD + "rule\u00a0r(a):\u2003nn.relu(a)\u200b=>\u3000a;\n\x1c\x1d\x85\x0b\x0c"
    yield (
        "line_ends.gsl",
        (HEAD + "rule r(a): nn.relu(nn.relu(a)) => nn.relu(a);").encode() + b"\r" * 30000 + b"\n" * 30000,
    )
    yield "comments.gsl", HEAD + "# x\n" * 30000 + "## doc\n" * 3000 + "rule r(a): nn.relu(a) => a;\n"
    yield "items_unfinished.gsl", HEAD + "rule r(a) {" * 1000
    yield "annotation_deep.gsl", HEAD + "@allow(" + "L0101(" * 3000 + "rule r(a): nn.relu(a) => a;\n"
    yield (
        "allow_many.gsl",
        HEAD + "".join(f"@allow(L{k:04})\n" for k in range(3000)) + "rule r(a): nn.relu(a) => a;\n",
    )
    yield (
        "tests_many.gsl",
        HEAD + "rule r(a): nn.relu(nn.relu(a)) => nn.relu(a);\n"
        + "".join(
            (
                f'test "t{k}" for r {{\n  a: input float32[{k + 1}];\n  nn.relu(nn.relu(a))\n  =>\n'
                f'  nn.relu(a)\n}}\n'
            )
            for k in range(300)
        ),
    )
    yield (
        "test_same.gsl",
        HEAD + "rule r(a): nn.relu(nn.relu(a)) => nn.relu(a);\n"
        + 'test "t" for r {\n  a: input float32[2];\n  nn.relu(a)\n  => unchanged\n}\n' * 200,
    )
    yield (
        "passes_many.gsl",
        HEAD + "rule r(a): nn.relu(nn.relu(a)) => nn.relu(a);\n"
        + "".join(f"pass p{k} {{ {f'p{k - 1};' * 2 if k else 'r;'} }}\n" for k in range(60)),
    )
    yield "imports_many.gsl", HEAD + 'use "./many_rules.gsl";\n' * 3000 + "rule r(a): nn.relu(a) => a;\n"
    yield (
        "grows_twice.gsl",
        HEAD + "rule r(a): tanh(a) => nn.relu(tanh(a) + tanh(a));\nrule s(a): nn.relu(a) => tanh(a);\n",
    )
    yield (
        "grows_long.gsl",
        HEAD + "rule r(a, b): nn.relu(a) => concatenate((nn.relu(a), nn.relu(a)), axis = 0);\n",
    )
    yield (
        "text_grows.gsl",
        HEAD + 'rule r(a): nn.relu(a) where len("".join([a.dtype for i in range(100000)])) > 3 => a;\n',
    )
    yield "operators_any.gsl", HEAD + "rule r(a, b): " + "F(" * 60 + "a" + ")" * 60 + " => b;\n"
    yield (
        "commutative_wide.gsl",
        HEAD + f"rule r({', '.join(f'a{k}' for k in range(16))}): "
        + " + ".join(f"nn.relu(a{k})" for k in range(16)) + " => a0;\n",
    )
    yield "commutative_tree.gsl", HEAD + "rule r(a): " + _tree(7, "nn.relu(a)") + " => a;\n"
    yield (
        "each_within.gsl",
        HEAD + "rule r(a) {\n" + "".join("  " * k + f"each f{k} in 1.. {{\n" for k in range(1, 60))
        + "w = nn.relu(a);\n" + "}\n" * 59 + "f1.w => a\n}\n",
    )
    yield (
        "declares_many.gsl",
        HEAD
        + "".join(
            f"op my.f{k}(x: tensor, n: int = {k}) -> tensor {{ shape = x.shape, dtype = x.dtype }};\n"
            for k in range(1000)
        )
        + "rule r(a): my.f1(a) => a;\n",
    )
    yield (
        "declares_shape.gsl",
        HEAD + "op my.f(x: tensor) -> tensor { shape = (" + "x.shape[0] * " * 1000
        + "1,), dtype = x.dtype };\nrule r(a): my.f(my.f(a)) => my.f(a);\n",
    )
    yield "unknown_bytes.gsl", HEAD.encode() + bytes(range(1, 256)) * 20


def _tree(levels: int, leaf: str) -> str:
    return leaf if levels == 0 else f"({_tree(levels - 1, leaf)} + {_tree(levels - 1, leaf)})"


def odd_json(nodes: list[dict[str, Any]]) -> Iterator[tuple[str, str | bytes]]:
    x = nodes[0]

    def graph(nodes: Any, outputs: Any = ("z",), **more: Any) -> str:
        return json.dumps({
            "format": "gsl-graph",
            "version": 1,
            "dialect": "relay",
            "nodes": nodes,
            "outputs": outputs, **more,
        })

    def call(op: str, inputs: Any = ("x",), **attrs: Any) -> dict[str, Any]:
        return {"id": "z", "kind": "call", "op": op, "inputs": inputs, "attrs": attrs}

    for name, node in {
        "inputs_text": {**call("nn.relu"), "inputs": "x"},
        "inputs_null": {**call("nn.relu"), "inputs": [None]},
        "inputs_numbers": {**call("nn.relu"), "inputs": [0]},
        "inputs_table": {**call("nn.relu"), "inputs": {"x": "x"}},
        "inputs_many": call("concatenate", ["x"] * 20000),
        "id_number": {**call("nn.relu"), "id": 3},
        "id_null": {**call("nn.relu"), "id": None},
        "id_list": {**call("nn.relu"), "id": ["z"]},
        "op_list": {**call("nn.relu"), "op": ["nn.relu"]},
        "kind_list": {**call("nn.relu"), "kind": ["call"]},
        "attrs_deep": {**call("nn.relu"), "attrs": {"a": {"b": {"c": [{}] * 1000}}}},
        "attrs_names": {**call("nn.relu"), "attrs": {f"a{k}": k for k in range(5000)}},
        "attrs_text": {**call("nn.relu"), "attrs": "axes"},
        "attrs_nan": call("clip", a_min=float("nan"), a_max=float("-inf")),
        "attrs_digits": call("clip", a_min=10**400, a_max=-(10**400)),
        "proj_far": {"id": "z", "kind": "proj", "inputs": ["x"], "index": 10**30},
        "proj_bool": {"id": "z", "kind": "proj", "inputs": ["x"], "index": True},
        "proj_none": {"id": "z", "kind": "proj", "inputs": []},
        "tuple_itself": {"id": "z", "kind": "tuple", "inputs": ["z", "x"]},
        "dtype_list": {"id": "z", "kind": "input", "shape": [2], "dtype": ["float32"]},
        "shape_table": {"id": "z", "kind": "input", "shape": {"0": 2}, "dtype": "float32"},
        "shape_expression": {
            "id": "z",
            "kind": "input",
            "shape": ["n*2", "__import__('os')", " ", "-1"],
            "dtype": "float32",
        },
        "const_nested": {"id": "z", "kind": "const", "shape": [1] * 70, "dtype": "float32", "value": 1.0},
        "const_null": {"id": "z", "kind": "const", "shape": [2], "dtype": "float32", "value": None},
        "const_table": {"id": "z", "kind": "const", "shape": [1], "dtype": "float32", "value": [{"a": 1}]},
        "const_digits": {"id": "z", "kind": "const", "shape": [1], "dtype": "int64", "value": [10**4000]},
        "const_strings": {
            "id": "z",
            "kind": "const",
            "shape": [2],
            "dtype": "string",
            "value": ["a\ud800", "b" * 100000],
        },
        "const_bool": {"id": "z", "kind": "const", "shape": [2], "dtype": "bool", "value": [2, "true"]},
        "const_half": {"id": "z", "kind": "const", "shape": [2], "dtype": "float16", "value": [1e30, -1e30]},
        "const_types": {"id": "z", "kind": "const", "shape": [2], "dtype": "complex64", "value": [1, "1+2j"]},
    }.items():
        yield f"node_{name}.json", graph([x, node])
    for name, node in {
        "strides": call("nn.max_pool2d", pool_size=[2**40] * 2, strides=[0, 0], padding=[2**40] * 4),
        "window": call("nn.avg_pool2d", pool_size=[0, 0], strides=[2**62, 1]),
        "one_hot": call("one_hot", ["x", "x", "x"], depth=2**50, axis=-1, dtype="float32"),
        "tile": call("tile", reps=[2**40] * 3),
        "pad": call("nn.pad", pad_width=[[2**50, 2**50]] * 3),
        "upsampling": call("nn.upsampling", scale_h=1e30, scale_w=float("inf")),
        "resize": call("image.resize2d", size=[2**40, 2**40]),
        "expand": call("expand_dims", axis=0, num_newaxis=10**9),
        "stack": call("stack", axis=10**30),
        "axes": call("sum", axis=list(range(5000))),
        "slice": call("strided_slice", begin=[-(2**70)], end=[2**70], strides=[0]),
        "take": call("take", ["x", "x"], axis=2**65, mode="../x"),
        "full": call("full", ["x"], shape=[2**30, 2**30], dtype="float64"),
        "layout": call("layout_transform", src_layout="N" * 5000, dst_layout="C" * 5000),
        "dilation": call("nn.dilate", strides=[2**40] * 3),
        "batch_to_space": call("nn.batch_to_space_nd", block_shape=[0, 0], crops=[[0, 0], [0, 0]]),
        "depth_to_space": call("nn.depth_to_space", block_size=0),
        "space_to_depth": call("nn.space_to_depth", block_size=-3),
        "meshgrid": call("meshgrid", indexing="\0"),
        "cumsum": call("cumsum", axis=99, dtype="object"),
        "topk": call("topk", k=2**62, axis=-9),
        "repeat": call("repeat", repeats=-5, axis=0),
        "cast": call("cast", dtype="M8[s]"),
    }.items():
        ones = {"id": "x", "kind": "const", "shape": [2, 3, 4], "dtype": "float32", "value": 1.0}
        yield f"fold_{name}.json", graph([ones, node])
    yield "dialect_list.json", graph([x], ["x"], dialect=["relay"])
    yield "dialect_unknown.json", graph([x], ["x"], dialect="../../x")
    yield "nodes_table.json", graph({"x": x}, ["x"])
    yield "nodes_mixed.json", graph([x, None, 3, "x", [], {}], ["x"])
    yield "outputs_text.json", graph([x], "x")
    yield "outputs_mixed.json", graph([x], [None, 3, ["x"], {"x": 1}])
    yield (
        "meta_odd.json",
        graph([x], ["x"], meta={"onnx": {"opset_import": "x"}}, opsets={"": 10**30}, onnx=[1]),
    )
    yield (
        "minus_zero.json",
        '{"format": "gsl-graph", "version": -0.0, "nodes": [-0, 1e-999999999, 1E+999999999]}',
    )
    yield "comments.json", "// a graph\n{/* */}"
    yield "two_values.json", b"{} {}"
    yield "constant_names.json", graph([{**x, "id": f"x{k}" * 2000} for k in range(30)], ["x0" * 2000])
    lists: list[Any] = [{**x, "id": f"a{k}"} for k in range(60)]
    lists += [
        {
            "id": f"c{j}.{k}",
            "kind": "call",
            "op": "add",
            "inputs": [
                f"c{j - 1}.{(k * 7) % 60}" if j else f"a{k}",
                f"c{j - 1}.{(k * 13 + 1) % 60}" if j else f"a{k}",
            ],
        }
        for j in range(20)
        for k in range(60)
    ]
    yield "lattice.json", graph(lists, [f"c19.{k}" for k in range(60)])


def odd_relay() -> Iterator[tuple[str, str | bytes]]:
    head, start = '#[version = "0.0.5"]\n', "def @main(%x: Tensor[(2, 3), float32]) {\n"
    array = (
        struct.pack("<QQ", 0xDD5E40F096B4A13F, 0) + struct.pack("<iii", 1, 0, 2) + bytes([2, 32, 1, 0])
        + struct.pack("<qqq", 2**40, 2**40, 2**62)
    )
    import base64

    def constants(data: str) -> str:
        table = {
            "root": 1,
            "nodes": [
                {"type_key": ""}, {"type_key": "Map", "keys": ["relay.Constant"], "data": [2]},
                {"type_key": "Array", "data": [3]},
                {"type_key": "relay.Constant", "attrs": {"_checked_type_": "0", "data": "0", "span": "0"}},
            ],
            "b64ndarrays": [data],
            "attrs": {"tvm_version": "0.8.0"},
        }
        return head + start + "  add(%x, meta[relay.Constant][0])\n}\n\n#[metadata]\n" + json.dumps(table)

    yield "array_huge.relay", constants(base64.b64encode(array).decode())
    yield "array_cut.relay", constants(base64.b64encode(array[:30]).decode())
    yield "array_text.relay", constants("=" * 5000)
    yield (
        "array_rank.relay",
        constants(base64.b64encode(array[:16] + struct.pack("<iii", 1, 0, 2**31 - 1) + bytes(100)).decode()),
    )
    for name, body in {
        "index_negative": "  add(%x, meta[relay.Constant][-1])",
        "index_huge": "  add(%x, meta[relay.Constant][99999999999999999999])",
        "meta_kind": "  add(%x, meta[os.system][0])",
        "local_huge": "  %18446744073709551616 = nn.relu(%x);\n  %18446744073709551616",
        "arguments": "  concatenate((" + "%x, " * 20000 + "%x))",
        "attributes": "  nn.relu(%x" + "".join(f", a{k}={k}" for k in range(5000)) + ")",
        "attribute_twice": "  sum(%x, axis=[0], axis=[1])",
        "attribute_text": '  sum(%x, axis="' + "\\u0000" * 1000 + '")',
        "attribute_dots": "  sum(%x" + ", .=1" * 50 + ")",
        "match": "  match (%x) {\n    Nil => %x,\n  }",
        "closure": "  let %f = fn (%y) { %f(%y) };\n  %f(%x)",
        "reference": "  ref(%x)",
        "operators": "  %x " + "+ %x " * 3000,
        "compare": "  %x " + "< %x " * 2000,
        "infinite": "  add(%x, 1e999f) * -1e999f + nanf",
        "suffix": "  add(%x, 1i3f64u8)",
        "hex": "  add(%x, 0x1p-9999f)",
        "tuples_empty": "  ()",
        "project_nothing": "  %x.0.0.0.0",
        "project_minus": "  %x.-1",
        "semicolons": ";" * 5000,
        "lets_shadow": "".join("  let %x = nn.relu(%x);\n" for _ in range(1500)) + "  %x",
        "global_unknown": "  @nothing(%x)",
        "numbers_dotted": "  1.2.3.4.5",
        "types_comment": "  nn.relu(%x) /* ty=Tensor[(" + "?, " * 3000 + "?), float32] */",
        "types_lie": "  nn.relu(%x) /* ty=Tensor[(7, 99999999999999), int8] */",
        "pad_huge": "  nn.pad(%x, 0f, pad_width=[[4611686018427387904, 4611686018427387904], [0, 0]])",
        "full_huge": '  full(1f, shape=[1048576, 1048576, 1048576], dtype="float64")',
        "arange": '  arange(0f, 1e30f, 1e-30f, start=0, dtype="float32")',
    }.items():
        yield f"body_{name}.relay", head + start + body + "\n}\n"
    yield "version_huge.relay", '#[version = "99999999999999999999.0.0"]\n' + start + "  nn.relu(%x)\n}\n"
    yield "version_none.relay", start + "  nn.relu(%x)\n}\n"
    yield "heads.relay", head * 3000 + start + "  nn.relu(%x)\n}\n"
    yield (
        "data_type.relay",
        head + "type List[A] {\n  Cons(A, List[A]),\n  Nil,\n}\n" + start + "  nn.relu(%x)\n}\n",
    )
    yield (
        "polymorphic.relay",
        head + "def @main[" + ", ".join(f"T{k}" for k in range(3000)) + "](%x: T0) -> T1 {\n  %x\n}\n",
    )
    yield (
        "parameters.relay",
        head + "def @main(" + ", ".join(f"%x{k}: Tensor[(2), float32]" for k in range(3000))
        + ") {\n  %x0\n}\n",
    )
    yield (
        "parameters_same.relay",
        head + "def @main(%x: Tensor[(2), float32], %x: Tensor[(3), int8]) {\n  %x\n}\n",
    )
    yield "carriage.relay", (head + start + "  nn.relu(%x)\n}\n").replace("\n", "\r").encode()
    yield (
        "tuple_type.relay",
        head + "def @main(%x: (" + "Tensor[(2), float32], " * 3000 + ")) {\n  %x.2999\n}\n",
    )
    yield (
        "names_quoted.relay",
        head + 'def @main(%x/../y: Tensor[(2), float32], %"a b": Tensor[(2), float32]) {\n  %x\n}\n',
    )


def odd_onnx() -> Iterator[tuple[str, bytes]]:
    import onnx
    from onnx import TensorProto, helper

    node, FLOAT, INT, TEXT = helper.make_node, TensorProto.FLOAT, TensorProto.INT64, TensorProto.STRING

    def info(name: str, shape: Any = (2, 3), element: int = FLOAT) -> Any:
        return helper.make_tensor_value_info(name, element, shape)

    def model(
        nodes: Any,
        inputs: Any = None,
        outputs: Any = None,
        weights: Any = (),
        functions: Any = (),
        opset: int = 21,
    ) -> bytes:
        graph = helper.make_graph(
            nodes, "g", inputs if inputs is not None else [info("x")],
            outputs if outputs is not None else [info("y", None)], list(weights),
        )
        opsets = [helper.make_opsetid("", opset), helper.make_opsetid("local", 1)]
        return bytes(
            helper.make_model(
                graph, opset_imports=opsets, functions=list(functions), ir_version=10
            ).SerializeToString(deterministic=True)
        )

    def numbers(name: str, dims: Any, values: Any, element: int = INT) -> Any:
        return helper.make_tensor(name, element, dims, values)

    # sizes and operands that the package's inference does not survive
    x, gathered = info("x", (2, 3, 4)), node("GatherND", ["x", "j"], ["y"])
    negative = TensorProto(name="j", dims=[1, -1], data_type=INT, int64_data=[0, 0])
    cut = node("Pad", ["k", "p"], ["j"]), numbers("p", [4], [0, -2, 0, -2])
    local = helper.make_function("local", "F", ["x", "j"], ["y"], [gathered], [helper.make_opsetid("", 21)])
    yield "indices_tensor.onnx", model([gathered], [x], weights=[negative])
    yield "indices_stated.onnx", model([gathered], [x, info("j", (1, -1), INT)])
    yield "indices_cut.onnx", model([cut[0], gathered], [x, info("k", (1, 2), INT)], weights=[cut[1]])
    yield (
        "indices_function.onnx",
        model(
            [cut[0], node("F", ["x", "j"], ["y"], domain="local")], [x, info("k", (1, 2), INT)],
            weights=[cut[1]], functions=[local],
        ),
    )
    for version in (8, 21):
        yield (
            f"expand_axes_{version}.onnx",
            model([node("Expand", ["x", "s"], ["y"])], [x, info("s", (2**31,), INT)], opset=version),
        )
    terms = ",".join(["ij"] * 40)
    yield "einsum_no_equation.onnx", model([node("Einsum", ["x"] * 40, ["y"], equation=f"{terms}.j->i")])
    for operator in ("EyeLike", "RegexFullMatch", "GatherND", "Expand", "Conv"):
        yield f"operands_none_{operator}.onnx", model([node(operator, [], ["y"])])
        yield f"operands_blank_{operator}.onnx", model([node(operator, ["", ""], ["y"])])

    # what runs in C++, and may take the process with it
    zero, one, least = (
        numbers("o", [2], [0, 0]), numbers("e", [2], [1, 7]), numbers("l", [2], [-(2**63), -(2**63)]),
    )
    minus = numbers("m", [2], [-1, -1])
    for name, operator, weights in (
        ("divide_zero", "Div", (one, zero)), ("divide_least", "Div", (least, minus)),
        ("modulo_zero", "Mod", (one, zero)), ("modulo_least", "Mod", (least, minus)),
    ):
        yield (
            f"{name}.onnx",
            model(
                [node(operator, [w.name for w in weights], ["y"])], inputs=[], weights=weights,
                outputs=[info("y", (2,), INT)],
            ),
        )
        read = [info("x", (2,), INT), info("z", (2,), INT)]
        yield (
            f"{name}_input.onnx",
            model(
                [node("Sub", ["z", "z"], ["n"]), node(operator, ["x", "n"], ["y"])], inputs=read,
                outputs=[info("y", (2,), INT)],
            ),
        )
    yield (
        "shift_far.onnx",
        model(
            [node("BitShift", ["a", "b"], ["y"], direction="LEFT")], inputs=[], outputs=[info("y", (1,), 13)],
            weights=[numbers("a", [1], [1], 13), numbers("b", [1], [2**63], 13)],
        ),
    )
    yield (
        "power_far.onnx",
        model(
            [node("Pow", ["e", "l"], ["y"])], inputs=[], weights=[one, least], outputs=[info("y", (2,), INT)]
        ),
    )
    for name, index in (("far", 2**40), ("negative", -(2**40))):
        where = numbers("i", [1], [index])
        yield (
            f"gather_{name}.onnx",
            model(
                [node("Gather", ["w", "i"], ["y"])], inputs=[],
                weights=[numbers("w", [2], [1.0, 2.0], FLOAT), where],
            ),
        )
        yield f"gather_{name}_input.onnx", model([node("Gather", ["x", "i"], ["y"])], weights=[where])
        yield (
            f"scatter_{name}.onnx",
            model(
                [node("ScatterElements", ["w", "i", "u"], ["y"])], inputs=[],
                weights=[numbers("w", [2], [1.0, 2.0], FLOAT), where, numbers("u", [1], [9.0], FLOAT)],
            ),
        )
        yield (
            f"gather_nd_{name}.onnx",
            model([node("GatherND", ["x", "j"], ["y"])], weights=[numbers("j", [1, 2], [index, index])]),
        )
    # what grows inside of one element
    text = numbers("s", [1], [b"a" * 50], TEXT)
    chain = [node("StringConcat", [f"t{k - 1}" if k else "s"] * 2, [f"t{k}"]) for k in range(50)]
    yield (
        "text_doubles.onnx",
        model(
            [*chain, node("Identity", ["t49"], ["y"])], inputs=[], weights=[text],
            outputs=[info("y", (1,), TEXT)],
        ),
    )
    yield (
        "text_doubles_input.onnx",
        model(
            [
                node("StringConcat", ["x", "x"], ["t"]),
                *(node("StringConcat", [f"t{k - 1}" if k else "t"] * 2, [f"t{k}"]) for k in range(40)),
                node("Identity", ["t39"], ["y"]),
            ],
            inputs=[info("x", (1,), TEXT)], outputs=[info("y", (1,), TEXT)],
        ),
    )
    yield (
        "pattern_slow.onnx",
        model(
            [node("RegexFullMatch", ["s"], ["y"], pattern="(a+)+$|(a|aa)+b")], inputs=[],
            weights=[numbers("s", [1], [b"a" * 60 + b"!"], TEXT)], outputs=[info("y", (1,), 9)],
        ),
    )
    yield (
        "pattern_bad.onnx",
        model(
            [node("RegexFullMatch", ["s"], ["y"], pattern="(" * 5000)], inputs=[], weights=[text],
            outputs=[info("y", (1,), 9)],
        ),
    )
    yield (
        "text_split.onnx",
        model(
            [node("StringSplit", ["s"], ["y", "n"], delimiter="")], inputs=[],
            weights=[numbers("s", [1], [b"a b " * 20000], TEXT)], outputs=[info("y", None, TEXT)],
        ),
    )
    yield (
        "text_bytes.onnx",
        model(
            [node("StringNormalizer", ["s"], ["y"], case_change_action="UPPER", locale="../../x")], inputs=[],
            weights=[numbers("s", [2], [b"\xff\xfe", b"\0"], TEXT)], outputs=[info("y", None, TEXT)],
        ),
    )
    squares = [node("Mul", [f"q{k - 1}" if k else "x"] * 2, [f"q{k}"]) for k in range(60)]
    yield "squares.onnx", model([*squares, node("Identity", ["q59"], ["y"])])
    doubled = [node("Concat", [f"q{k - 1}" if k else "x"] * 2, [f"q{k}"], axis=0) for k in range(50)]
    yield "concat_doubles.onnx", model([*doubled, node("Identity", ["q49"], ["y"])])
    yield (
        "concat_doubles_fold.onnx",
        model(
            [*doubled, node("Identity", ["q49"], ["y"])], inputs=[],
            weights=[numbers("x", [2, 3], [1.0] * 6, FLOAT)],
        ),
    )
    rows = [
        node("SequenceConstruct", ["x"], ["q"]),
        *(node("SequenceInsert", [f"q{k - 1}" if k else "q", "x"], [f"q{k}"]) for k in range(300)),
    ]
    yield "sequence_long.onnx", model([*rows, node("ConcatFromSequence", ["q299"], ["y"], axis=0)])
    yield (
        "sequence_split.onnx",
        model(
            [node("SplitToSequence", ["w", "k"], ["q"], keepdims=0), node("SequenceLength", ["q"], ["y"])],
            inputs=[], weights=[numbers("w", [1000], [0.0] * 1000, FLOAT), numbers("k", [], [1])],
            outputs=[info("y", (), INT)],
        ),
    )
    yield (
        "sequence_at.onnx",
        model(
            [node("SequenceConstruct", ["x"], ["q"]), node("SequenceAt", ["q", "i"], ["y"])],
            weights=[numbers("i", [], [2**62])],
        ),
    )
    yield (
        "sequence_input.onnx",
        model(
            [node("SequenceAt", ["q", "i"], ["y"])],
            inputs=[helper.make_tensor_sequence_value_info("q", FLOAT, None)],
            weights=[numbers("i", [], [0])],
        ),
    )
    picture = numbers("p", [20], list(b"BM" + bytes(18)), TensorProto.UINT8)
    yield (
        "picture.onnx",
        model(
            [node("ImageDecoder", ["p"], ["y"])], inputs=[], weights=[picture],
            outputs=[info("y", None, TensorProto.UINT8)],
        ),
    )
    header = (
        b"BM" + struct.pack("<IHHI", 54, 0, 0, 54)
        + struct.pack("<IiiHHIIiiII", 40, 2**30, 2**30, 1, 24, 0, 0, 0, 0, 0, 0)
    )
    yield (
        "picture_huge.onnx",
        model(
            [node("ImageDecoder", ["p"], ["y"])], inputs=[],
            weights=[numbers("p", [len(header)], list(header), TensorProto.UINT8)],
            outputs=[info("y", None, TensorProto.UINT8)],
        ),
    )
    letters = "".join(chr(97 + k) for k in range(26)) + "".join(chr(65 + k) for k in range(26))
    for name, equation in (
        ("letters", letters + "->" + letters), ("arrows", "->" * 2000), ("dots", "...," * 3000),
        ("spaces", " " * 50000 + "ij,jk->ik"), ("long", ",".join(["ij"] * 40) + "->" + "i"),
    ):
        yield (
            f"einsum_{name}.onnx",
            model([node("Einsum", ["x"] * (40 if name == "long" else 1), ["y"], equation=equation)]),
        )
    many = numbers("w", [30] * 2, [1.0] * 900, FLOAT)
    yield (
        "einsum_work.onnx",
        model(
            [node("Einsum", ["w"] * 8, ["y"], equation="ab,cd,ef,gh,ij,kl,mn,op->acegikmo")], inputs=[],
            weights=[many],
        ),
    )
    # structure
    loops = [node("Relu", ["v"], ["r0"])]
    trips, true = numbers("trip", [], [2**20]), helper.make_tensor("true", TensorProto.BOOL, [], [True])
    for k in range(4):
        body = helper.make_graph(
            [node("Identity", ["c"], ["more"]), *loops], "b",
            [info("i", (), INT), info("c", (), 9), info("v")], [info("more", (), 9), info(f"r{k}")],
        )
        loops = [node("Loop", ["trip", "true", "v"], [f"r{k + 1}"], body=body)]
    yield (
        "loops_nested.onnx",
        model(
            [node("Identity", ["x"], ["v"]), *loops, node("Identity", ["r4"], ["y"])], weights=[trips, true]
        ),
    )
    same = helper.make_graph([node("Relu", ["x"], ["y"])], "same", [], [info("y")])
    yield (
        "names_shadowed.onnx",
        model(
            [node("If", ["c"], ["y"], then_branch=same, else_branch=same)],
            inputs=[info("x"), info("c", (), 9)],
        ),
    )
    yield "if_empty.onnx", model([node("If", ["c"], ["y"])], inputs=[info("c", (), 9)])
    yield (
        "if_types.onnx",
        model([node("If", ["c"], ["y"], then_branch=3, else_branch="x")], inputs=[info("c", (), 9)]),
    )
    blank = helper.make_graph([], "b", [], [])
    yield (
        "if_blank.onnx",
        model([node("If", ["c"], ["y"], then_branch=blank, else_branch=blank)], inputs=[info("c", (), 9)]),
    )
    yield "loop_blank.onnx", model([node("Loop", ["", "", "x"], ["y"], body=blank)])
    yield "scan_huge.onnx", model([node("Scan", ["x"], ["y"], body=same, num_scan_inputs=2**62)])
    later = helper.make_graph([node("Relu", ["late"], ["t"])], "then", [], [info("t")])
    yield (
        "scope_later.onnx",
        model(
            [node("If", ["c"], ["y"], then_branch=later, else_branch=later), node("Neg", ["x"], ["late"])],
            inputs=[info("x"), info("c", (), 9)],
        ),
    )
    yield "nothing_named.onnx", model([node("", ["x"], ["y"]), node("Relu", [""], [""])])
    yield (
        "outputs_many.onnx",
        model([node("Relu", ["x"], [f"y{k}" for k in range(20000)])], outputs=[info("y0")]),
    )
    yield (
        "inputs_many.onnx",
        model(
            [node("Sum", [f"x{k}" for k in range(3000)], ["y"])], inputs=[info(f"x{k}") for k in range(3000)]
        ),
    )
    yield (
        "inputs_same.onnx",
        model(
            [node("Relu", ["x"], ["y"])], inputs=[info("x"), info("x", (7,))],
            outputs=[info("y"), info("y"), info("x")],
        ),
    )
    yield (
        "weights_same.onnx",
        model(
            [node("Add", ["w", "x"], ["y"])],
            weights=[numbers("w", [2], [1.0, 2.0], FLOAT), numbers("w", [3], [1, 2, 3], INT)],
        ),
    )
    yield "output_missing.onnx", model([node("Relu", ["x"], ["y"])], outputs=[info("z")])
    yield (
        "constants_all.onnx",
        model([node("Constant", [], ["y"], value_float=1.0, value_int=3, value_string="x")]),
    )
    yield "constant_none.onnx", model([node("Constant", [], ["y"])])
    whole = onnx.ModelProto.FromString(model([node("Relu", ["x"], ["y"], name="n" * 100000)]))
    for k in range(3000):
        whole.metadata_props.add(key=f"k{k % 7}", value="v" * 10)
    whole.graph.quantization_annotation.add(tensor_name="x").quant_parameter_tensor_names.add(
        key="SCALE_TENSOR", value="nothing"
    )
    yield "metadata.onnx", bytes(whole.SerializeToString(deterministic=True))
    both = numbers("w", [2], [1.0, 2.0], FLOAT)
    both.raw_data = bytes(4)
    yield "raw_and_plain.onnx", model([node("Add", ["x", "w"], ["y"])], weights=[both])
    for element in (
        TensorProto.INT4, TensorProto.UINT4, TensorProto.FLOAT8E4M3FN, TensorProto.BFLOAT16,
        TensorProto.COMPLEX128, TensorProto.STRING, 23, 24,
    ):
        short = TensorProto(name="w", dims=[3], data_type=element, raw_data=b"\1")
        yield f"element_{element}.onnx", model([node("Cast", ["w"], ["y"], to=1)], inputs=[], weights=[short])
    wrong = onnx.ModelProto.FromString(model([node("Transpose", ["x"], ["y"], perm=[1, 0])]))
    wrong.graph.node[0].attribute[0].type = onnx.AttributeProto.GRAPH
    yield "attribute_type.onnx", bytes(wrong.SerializeToString(deterministic=True))
    wrong.graph.node[0].attribute[0].type = onnx.AttributeProto.INTS
    wrong.graph.node[0].attribute[0].ref_attr_name = "outside"
    yield "attribute_reference.onnx", bytes(wrong.SerializeToString(deterministic=True))
    calls = helper.make_function(
        "local", "f", ["x"], ["y"], [node("Relu", ["x"], ["y"])], [helper.make_opsetid("", 21)]
    )
    yield (
        "function_arguments.onnx",
        model([node("f", ["x"] * 50, ["y", "z"], domain="local", nothing=3)], functions=[calls]),
    )
    calls = helper.make_function(
        "local", "f", ["x", "x"], ["y", "y"], [node("Relu", ["x"], ["q"])], [helper.make_opsetid("", 2**40)]
    )
    yield "function_wrong.onnx", model([node("f", ["x", "x"], ["y", "z"], domain="local")], functions=[calls])
    circle = [
        helper.make_function(
            "local", n, ["x"], ["y"], [node(m, ["x"], ["y"], domain="local")],
            [helper.make_opsetid("local", 1)],
        )
        for n, m in (("f", "g"), ("g", "f"))
    ]
    yield "functions_circle.onnx", model([node("f", ["x"], ["y"], domain="local")], functions=circle)
    indices = helper.make_sparse_tensor(
        numbers("v", [3], [1.0, 2.0, 3.0], FLOAT), numbers("i", [3], [5, 5, -1]), [2, 3]
    )
    sparse = onnx.ModelProto.FromString(model([node("Add", ["x", "v"], ["y"])]))
    sparse.graph.sparse_initializer.add().CopyFrom(indices)
    yield "sparse_outside.onnx", bytes(sparse.SerializeToString(deterministic=True))
    dim = onnx.ModelProto.FromString(model([node("Relu", ["x"], ["y"])]))
    dim.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "n" * 100000
    dim.graph.input[0].type.tensor_type.shape.dim[1].dim_param = "a*b/c-__import__('os')"
    yield "dimension_names.onnx", bytes(dim.SerializeToString(deterministic=True))


def odd_weights(zipped: Any, npy: Any, safetensors: Any) -> Iterator[tuple[str, bytes]]:
    head = "{{'descr': {}, 'fortran_order': {}, 'shape': {}, }}"
    for name, descr, order, shape, data in (
        ("fortran", "'<f4'", "True", "(2, 3)", bytes(24)),
        ("big_endian", "'>f4'", "False", "(2, 3)", bytes(24)),
        ("dates", "'<M8[s]'", "False", "(2,)", bytes(16)), ("complex", "'<c16'", "False", "(2,)", bytes(32)),
        ("void", "'|V1000000000'", "False", "(9,)", bytes(9)),
        ("rank_70", "'<f4'", "False", str((1,) * 70), bytes(4)),
        ("text_shape", "'<f4'", "False", "'ab'", bytes(8)),
        ("float_shape", "'<f4'", "False", "(2.0,)", bytes(8)),
        ("bool_shape", "'<f4'", "False", "(True, True)", bytes(4)),
        ("subarray", "('<f4', (1000000, 1000000))", "False", "(1,)", bytes(4)),
        ("zero_sized", "'<f4'", "False", "(0, 9223372036854775807)", b""),
        ("half_nan", "'<f2'", "False", "(2, 3, 4)", b"\xff" * 48),
    ):
        yield f"array_{name}.npz", zipped({"x.npy": npy(head.format(descr, order, shape), data)})
    good = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, 4), }", bytes(96))
    whole = bytearray(zipped({"x.npy": good}))
    yield "comment.npz", bytes(whole[:-2]) + struct.pack("<H", 60000) + b"c" * 60000
    for name, where, value in (
        ("crc", 14, b"\0\0\0\0"), ("size", 18, b"\xff\xff\xff\xff"), ("method", 8, b"\x63\0"),
        ("encrypted", 6, b"\x01\0"),
    ):
        changed = bytearray(whole)
        changed[where : where + len(value)] = value
        yield f"entry_{name}.npz", bytes(changed)
    yield "prefix.npz", b"MZ" * 500 + bytes(whole)
    yield "nested.npz", zipped({"x.npy": bytes(whole)})
    yield "folders.npz", zipped({"a/b/c/x.npy": good, "x/": b"", ".npy": good, "x.npy.npy": good})
    yield "odd_names.npz", zipped({"x\u202e.npy": good, "": good, "\x00y.npy": good})
    entry = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
    yield "same_place.safetensors", safetensors({"x": entry, "y": entry}, bytes(8))
    yield (
        "same_name.safetensors",
        safetensors(
            b'{"x": ' + json.dumps(entry).encode() + b', "x": '
            + json.dumps({**entry, "shape": [1, 2]}).encode() + b"}",
            bytes(8),
        ),
    )
    yield "metadata.safetensors", safetensors({"__metadata__": {"a": 3, "b": [1]}, "x": entry}, bytes(8))
    yield "metadata_text.safetensors", safetensors({"__metadata__": "x", "x": entry}, bytes(8))
    yield "nothing.safetensors", safetensors({})
    for dtype in ("BF16", "F8_E4M3", "F8_E5M2", "BOOL", "U64", "F4"):
        yield (
            f"type_{dtype}.safetensors",
            safetensors({"x": {"dtype": dtype, "shape": [8], "data_offsets": [0, 8]}}, bytes(8)),
        )


def odd_traces(line: dict[str, Any]) -> Iterator[tuple[str, str | bytes]]:
    for name, change in {
        "rule_list": {"rule": ["twice"]},
        "outputs_deep": {"outputs": [["z"]]},
        "added_twice": {"added": ["n", "n", "y"]},
        "replaced_itself": {"replaced": {"z": "z"}},
        "replaced_null": {"replaced": {"z": None}},
        "removed_all": {"removed": ["x", "t", "y", "z"]},
        "application_negative": {"application": -3},
        "application_float": {"application": 1.5},
        "bindings_numbers": {"bindings": {"a": 3}},
        "body_list": {"body": [1]},
        "instances": {"instances": {"b": [{"w": "y"}] * 1000}},
        "opset": {"opset": 10**30},
    }.items():
        yield f"more_{name}.jsonl", json.dumps({**line, **change}) + "\n"
    yield "bom.jsonl", b"\xef\xbb\xbf" + json.dumps(line).encode()
    yield "utf16.jsonl", (json.dumps(line) + "\n").encode("utf-16")
    yield "lines_empty.jsonl", "\n" * 50000
    yield "same_key.jsonl", '{"application": 1, "application": 2, "rule": "twice"}\n'
    yield "numbers.jsonl", "3\n\"x\"\nnull\ntrue\n[]\n"
    yield "digits.jsonl", '{"application": ' + "9" * 10000 + "}\n"


def odd_config() -> Iterator[tuple[str, str | bytes]]:
    yield "bom.toml", b"\xef\xbb\xbf[lint]\n"
    yield "utf16.toml", "[lint]\n".encode("utf-16")
    yield "same_key.toml", "[lint]\nselect = []\nselect = []\n"
    yield "same_table.toml", "[lint]\n[lint]\n"
    yield "keys_many.toml", "[lint]\n" + "".join(f"k{k} = {k}\n" for k in range(3000))
    yield (
        "files_many.toml",
        "[lint.per-file-ignores]\n" + "".join(f'"**/a{k}*/**" = ["L01"]\n' for k in range(2000)),
    )
    yield (
        "files_backwards.toml",
        (
            '[lint.per-file-ignores]\n"../../../**" = ["L01"]\n"/etc/**" = ["all"]\n"[" = ["L01"]\n'
            '"" = ["L01"]\n"{a,b" = ["L01"]\n'
        ),
    )
    yield "exclude_empty.toml", '[lint]\nexclude = ["", "/", ".", "..", "\\u0000"]\n'
    yield "inline.toml", "lint = {select = [], ignore = {a = {b = {c = 1}}}}\n"
    yield "severity_odd.toml", '[lint.severity]\nL0101 = "fatal"\n"../x" = "error"\nall = 3\n'
    yield "define.toml", "[define]\nk = " + "[" * 500 + "]" * 500 + "\n"
    yield "infinity.toml", "[lint]\nselect = [inf, nan, -inf]\n"


def odd_cache() -> Iterator[tuple[str, str | bytes]]:
    for name, table in {
        "reference_far": {"kinds": [], "scalars": [], "objects": [[0, 10**9]], "root": 0},
        "reference_itself": {"kinds": ["tuple"], "scalars": [], "objects": [[0, 0]], "root": 0},
        "root_text": {"kinds": [], "scalars": [], "objects": [], "root": "x"},
        "kinds_list": {"kinds": [["os", "system"]], "scalars": [], "objects": [], "root": 0},
        "kinds_module": {
            "kinds": ["gslang.cli.main:main", "builtins:eval", "subprocess:Popen"],
            "scalars": ["1"],
            "objects": [[0, 0], [1, 0], [2, 0]],
            "root": 2,
        },
        "scalars_deep": {"kinds": [], "scalars": [[[[[]]]]], "objects": [], "root": 0},
        "null": None,
        "number": 3,
        "list": [1, 2],
    }.items():
        yield f"{name}.bin", json.dumps(table)
    yield "gzip.bin", b"\x1f\x8b\x08" + bytes(100)
    yield "utf16.bin", "{}".encode("utf-16")
    yield "digits.bin", '{"root": ' + "9" * 10000 + "}"


def odd_tables() -> Iterator[tuple[str, str | bytes]]:
    entry = {"op": "f", "children": [], "eclass": "a", "cost": 1}
    for name, table in {
        "nodes_null": {"nodes": None, "root_eclasses": ["a"]},
        "roots_text": {"nodes": {"n": entry}, "root_eclasses": "a"},
        "roots_none": {"nodes": {"n": entry}, "root_eclasses": []},
        "roots_many": {"nodes": {"n": entry}, "root_eclasses": ["a"] * 20000},
        "class_null": {"nodes": {"n": {**entry, "eclass": None}}, "root_eclasses": ["a"]},
        "class_number": {"nodes": {"n": {**entry, "eclass": 3}}, "root_eclasses": [3]},
        "op_list": {"nodes": {"n": {**entry, "op": [1]}}, "root_eclasses": ["a"]},
        "cost_bool": {"nodes": {"n": {**entry, "cost": True}}, "root_eclasses": ["a"]},
        "cost_tiny": {"nodes": {"n": {**entry, "cost": 5e-324}}, "root_eclasses": ["a"]},
        "cost_mixed": {
            "nodes": {f"n{k}": {**entry, "cost": 10.0 ** (k * 30 - 300)} for k in range(20)},
            "root_eclasses": ["a"],
        },
        "children_many": {
            "nodes": {"m": entry, "n": {**entry, "eclass": "b", "children": ["m"] * 20000}},
            "root_eclasses": ["b"],
        },
        "node_list": {"nodes": {"n": [1]}, "root_eclasses": ["a"]},
        "keys_missing": {"nodes": {"n": {}}, "root_eclasses": ["a"]},
        "all_circles": {
            "nodes": {
                f"n{k}": {**entry, "eclass": f"c{k}", "children": [f"n{(k + 1) % 300}"]} for k in range(300)
            },
            "root_eclasses": ["c0"],
        },
        "hard": {
            "nodes": {
                f"n{k}": {
                    **entry,
                    "eclass": f"c{k // 6}",
                    "cost": (k * 37) % 101 + 1,
                    "children": [f"n{(k * p + k // 6) % 1500}" for p in (7, 11, 13)] if k >= 60 else [],
                }
                for k in range(1500)
            },
            "root_eclasses": [f"c{k}" for k in range(200, 250)],
        },
        "wide": {"nodes": {f"n{k}": {**entry, "cost": k} for k in range(4000)}, "root_eclasses": ["a"]},
    }.items():
        yield f"egraph_{name}.json", json.dumps(table)
    yield (
        "egraph_names.json",
        json.dumps({"nodes": {"\u202e\0/../x": {**entry, "eclass": "\ud800"}}, "root_eclasses": ["\ud800"]}),
    )
    head = "op\tinput_shapes\tattrs\tcost\n"
    for name, text in {
        "huge": head + "nn.relu\t99999999999999999999x3\t\t1e400\n",
        "attrs": head + 'nn.relu\t2x3x4\t{"a": ' + "[" * 5000 + "]" * 5000 + "}\t1\n",
        "attrs_code": head + "nn.relu\t2x3x4\t__import__('os')\t1\n",
        "shape": head + "nn.relu\t2x-3xqx\t\t1\n",
        "columns": head + "\t" * 20000 + "\n",
        "lines": head + "nn.relu\t2x3x4\t\t1\n" * 20000,
        "quotes": head + '"' * 5001 + "\n",
        "carriage": (head + "nn.relu\t2x3x4\t\t1\n").replace("\n", "\r"),
        "bom": "\ufeff" + head,
        "text": head + "nn.relu\t2x3x4\t\tone\n",
        "head_twice": head * 3,
    }.items():
        yield f"costs_{name}2.tsv", text
    relu = {"type": "OP_RELU", "inputs": [{"opId": -1, "tsId": 0}], "params": []}
    rule = {
        "index": 0,
        "srcOp": [relu],
        "dstOp": [relu],
        "mappedOutputs": [{"srcOpId": 0, "dstOpId": 0, "srcTsId": 0, "dstTsId": 0}],
    }
    for name, table in {
        "table": {"0": rule},
        "operators_text": [{**rule, "srcOp": "OP_RELU"}],
        "input_null": [{**rule, "srcOp": [{**relu, "inputs": None}]}],
        "tensor_far": [{**rule, "srcOp": [{**relu, "inputs": [{"opId": -1, "tsId": 10**12}]}]}],
        "parameter_odd": [
            {**rule, "srcOp": [{**relu, "params": [{"key": "PM_AXIS", "value": 10**30}, {"key": None}, 3]}]}
        ],
        "later": [{**rule, "srcOp": [{**relu, "inputs": [{"opId": 7, "tsId": 0}]}]}],
        "many": [{**rule, "index": k} for k in range(2000)],
        "inputs_many": [{
            **rule,
            "srcOp": [{
                "type": "OP_CONCAT",
                "inputs": [{"opId": -k, "tsId": 0} for k in range(1, 2000)],
                "params": [],
            }],
        }],
        "split": [{
            **rule,
            "srcOp": [{
                "type": "OP_SPLIT",
                "inputs": [{"opId": -1, "tsId": 0}],
                "params": [{"key": "PM_NUM_OUTPUTS", "value": 10**9}],
            }],
        }],
    }.items():
        yield f"taso_more_{name}.json", json.dumps(table)


def odd_states() -> Iterator[tuple[str, str | bytes]]:
    """States of `gslc discover`."""
    for name, table in {
        "null": None,
        "list": [],
        "number": 3,
        "nothing": {},
        "version": {"version": 10**30},
        "text": {"version": 1, "question": "x", "terms": "y", "judged": "z"},
        "deep": {"question": [[[[[]]]]], "judged": [{}] * 1000},
        "keys": {f"k{k}": [k] for k in range(3000)},
    }.items():
        yield f"{name}.json", json.dumps(table)
    yield "empty.json", b""
    yield "cut_off.json", b'{"version": 1, "question": {"dialect": "rel'
    yield "nested.json", "[" * 50000
    yield "latin1.json", b'{"question": "\xe9"}'
    yield "pickle.json", b"\x80\x04cos\nsystem\n(S'touch /tmp/gslang-was-here'\ntR."
    yield "nan.json", '{"version": NaN, "judged": [Infinity]}'


def odd_defines() -> Iterator[tuple[str, str | bytes]]:
    """What `--define k=@FILE` reads."""
    yield "empty.json", b""
    yield "deep.json", "[" * 50000 + "]" * 50000
    yield "deep_table.json", '{"a":' * 50000
    yield "digits.json", "9" * 10000
    yield "float.json", "1e999999"
    yield "nan.json", "NaN"
    yield "long.json", json.dumps(list(range(200000)))
    yield "text.json", json.dumps("x" * 200000)
    yield "latin1.json", b'"\xe9"'
    yield "surrogate.json", '"\\ud800"'
    yield "nul.json", b"\0" * 100
    yield "bom.json", b"\xef\xbb\xbf3"
    yield "same_key.json", '{"a": 1, "a": 2}'
    yield "table.json", '{"a": [1, {"b": null}]}'
    yield "bool.json", "true"
    yield "null.json", "null"
    yield "minus_zero.json", "-0.0"
    yield "two.json", "1 2"
