"""Hostile text: encodings and invisible characters, names that mean something elsewhere, declarations that
contradict themselves, sizes that double in a graph rather than in a number.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

HEAD = "dialect relay;\n"
TWICE = HEAD + "rule twice(a): nn.relu(nn.relu(a)) => nn.relu(a);\n"
RELU = HEAD + "rule r(a): nn.relu(a) => {};\n"
WHERE = HEAD + "rule r(a): nn.relu(a) where {} => a;\n"


def encoded_rules() -> Iterator[tuple[str, str | bytes]]:
    """Rule files."""
    for name, data in {
        "utf16_be": TWICE.encode("utf-16-be"),
        "utf32": TWICE.encode("utf-32"),
        "boms": b"\xef\xbb\xbf" * 2 + TWICE.encode(),
        "bom_within": (HEAD + "\ufeffrule r(a): nn.relu(a) => a;\n").encode(),
        "bom_alone": b"\xef\xbb\xbf",
        "one_nul": b"\0",
        "crlf": TWICE.replace("\n", "\r\n").encode(),
        "carriage": TWICE.replace("\n", "\r").encode(),
        "utf8_cut": TWICE.encode() + "# \u20ac".encode()[:-1],
    }.items():
        yield f"text_{name}.gsl", data
    for name, text in {
        "joiner": RELU.replace("(a)", "(a\u200d)").format("a\u200d"),
        "direction": HEAD + "# \u202e evil \u202c\n" + RELU.format("a")[len(HEAD) :],
        "digits": WHERE.format("a.ndim > \u0661\u0662"),
        "superscript": RELU.format("a").replace("rule r", "rule r\u00b2"),
        "separators": HEAD + "rule r(a): nn.relu(a)\u2028=> a;\u2029\x85\x0c",
        "accents": WHERE.format("a" + "\u0301" * 20000 + ".ndim > 1"),
        "escape": RELU.format("\x1b[2Ja\x07"),
        "no_dialect": "rule r(a): nn.relu(a) => a;\n",
        "two_dialects": "dialect relay;\ndialect onnx;\nrule r(a): nn.relu(a) => a;\n",
        "keywords": HEAD + "rule rule(where): nn.relu(where) where where.ndim > 1 => where;\n",
    }.items():
        yield f"sign_{name}.gsl", text
    for name, target in {
        "sizes_unknown": "reshape(a, newshape = [-1, -1, -1])",
        "size_negative": "broadcast_to(a, shape = (0 - 5, 3, 4))",
        "infinite": "clip(a, a_min = 1e308 * 10.0, a_max = 0.0 - 1e308 * 10.0)",
        "nan": "clip(a, a_min = 1e308 * 10.0 - 1e308 * 10.0, a_max = 2.0)",
        "text": 'a + const("abc")',
        "deep": "a + const(" + "[" * 60 + "1.0" + "]" * 60 + ")",
        "ragged": "a + const([[1.0], [1.0, 2.0]])",
        "axes_twice": "transpose(a, axes = [0, 0, 0])",
        "axes_far": "transpose(a, axes = [i * 10 ** 18 for i in 0..3])",
        "itself": "nn.relu(nn.relu(nn.relu(a)))",
        "unknown_attribute": "nn.relu(a, gslang = 3, axis = 1)",
        "split_nothing": "split(a, indices_or_sections = [], axis = 0).0",
        "split_back": "split(a, indices_or_sections = [3, 1, 2, -1], axis = 0).3",
        "tuple": "(a, (a, (a, a)))",
        "pad": "nn.pad(a, 0.0, pad_width = [[2 ** 40, 2 ** 40] for i in a.shape])",
        "cast": 'cast(a, dtype = "float" + "9" * 300)',
        "zeros": 'zeros(shape = (2 ** 33, 2 ** 33), dtype = "float64") + a',
        "conv": "nn.conv2d(a, a, strides = (0, 0), groups = 0, dilation = (-1, 2 ** 62))",
        "pool": "nn.max_pool2d(a, pool_size = (2 ** 31, 2 ** 31), padding = (2 ** 31, 0))",
    }.items():
        yield f"target_{name}.gsl", RELU.format(target)
    for name, condition in {
        "divide": "(1 if a.ndim // (a.ndim - 3) > 0 else 2) > 0",
        "towers": "sum([2 ** (2 ** i) for i in 0..12]) > 3",
        "remainders": "sum([(10 ** 1000 + i) % (10 ** 500 + 7) for i in 0..20000]) > 3",
        "sorted": "sorted(range(200000)) == sorted(range(200000))",
        "shapes": "prod(a.shape + a.shape * 100000) > 3",
        "bits": "2 ** 4095 * 2 ** 4095 * a.ndim > 3",
        "floats": "1e308 + 1e308 - 1e308 - 1e308 == 1e308 / 1e-308",
        "int_of_nan": "int(1e308 * 10.0 - 1e308 * 10.0) > a.ndim",
        "negative_power": "sum([(0 - 1) ** (0 - i) for i in 0..5]) > 3",
        "all_pairs": "all([i != j or true for i in 0..499 for j in 0..499])",
    }.items():
        yield f"condition_{name}.gsl", WHERE.format(condition)
    declared = HEAD + "op my.f(x: tensor{}) -> tensor {{ {} }};\nrule r(a): my.f(my.f(a)) => my.f(a);\n"
    body = "shape = x.shape, dtype = x.dtype"
    for name, text in {
        "mutual": HEAD + "".join(
            f"op my.{f}(x: tensor) -> tensor {{ {body}, value = my.{g}(x) }};\n" for f, g in ("fg", "gf")
        ) + "rule r(a): my.f(a) => my.g(a);\n",
        "range": declared.format("", "shape = [i for i in 0..10 ** 12], dtype = x.dtype"),
        "negative": declared.format("", "shape = (0 - 5, 2), dtype = x.dtype"),
        "growing": declared.format("", "shape = [2 * s ** s for s in x.shape], dtype = x.dtype"),
        "no_dtype": declared.format("", 'shape = x.shape, dtype = "nothing"'),
        "parameters": declared.format("".join(f", p{k}: int = {k}" for k in range(3000)), body),
        "again": HEAD + "op nn.relu(data: tensor) -> tensor { shape = data.shape, value = data * data };\n"
        + TWICE[len(HEAD) :],
        "traits": HEAD + f"op my.f(x: tensor) -> tensor {{ {body} }} is commutative, broadcast;\n",
        "value_huge": declared.format(
            "", body + ', value = x + sum(zeros(shape = (10 ** 6, 10 ** 6), dtype = "float32"))'
        ),
        "value_divides": declared.format(", n: int = 0", body + ", value = x * (1 // n)"),
    }.items():
        yield f"op_{name}.gsl", text
    doubles = "".join(
        f"fn d{k + 1}(x) = concatenate((d{k}(x), d{k}(x)), axis = 0);\n" for k in range(30)
    )
    yield "doubles.gsl", f"{HEAD}fn d0(x) = x;\n{doubles}rule r(a): nn.relu(a) => d30(a);\n"
    tiles = "".join(f"fn t{k + 1}(x) = tile(t{k}(x), reps = [2, 2, 2]);\n" for k in range(50))
    yield "tiles.gsl", f"{HEAD}fn t0(x) = x;\n{tiles}rule r(a): nn.relu(a) => t50(a);\n"
    sizes = ", ".join(f"n{k}" for k in range(1500))
    yield "sizes_many.gsl", f"{HEAD}rule r(a: float32[{sizes}]): nn.relu(a) where n0 == n1499 => a;\n"
    captures = "a"
    for k in range(150):
        captures = f"transpose({captures}, axes = (p{k} := _))"
    yield "captures.gsl", f"{HEAD}rule r(a): {captures} where p0 == p149 => a;\n"
    yield (
        "chains.gsl",
        HEAD + "rule r(a) {\n  p = tanh(a);\n"
        + "".join(f"  chain c{k} in 1.. from {f'c{k - 1}[-1].y' if k else 'p'} {{ y = nn.relu(prev.y); }}\n"
                  for k in range(40))
        + "  c39[-1].y\n  =>\n  a\n}\n",
    )
    yield (
        "chain_far.gsl",
        HEAD + "rule r(a) {\n  p = nn.relu(a);\n"
        "  chain c in 1000000000000000000.. from p { y = nn.relu(prev.y); }\n"
        "  c[-1].y\n  =>\n  a\n}\n",
    )
    yield (
        "each_pairs.gsl",
        HEAD + "rule r(a) {\n"
        "  each f in 2.. { w = nn.relu(a); v = tanh(w); where w.shape == f[0].w.shape; }\n"
        "  f.v\n  =>\n  a\n}\n",
    )
    outputs = ", ".join(f"nn.relu(a{k})" for k in range(60))
    yield (
        "outputs_many.gsl",
        f"{HEAD}rule r({', '.join(f'a{k}' for k in range(60))}): ({outputs}) => "
        f"({', '.join(f'a{k}' for k in range(60))});\n",
    )
    for name, use in {
        "itself": '"use_itself.gsl"',
        "devices": '"/dev/full";\nuse "/dev/urandom";\nuse "/dev/tty";\nuse "/dev/stdin";\nuse "/proc/kmsg"',
        "addresses": '"http://127.0.0.1:1/x.gsl";\nuse "file:///etc/passwd";\nuse "~root/x";\nuse "$HOME/x"',
        "shipped": "std.relay;\nuse std.onnx;\nuse std.nothing;\nuse std",
    }.items():
        yield f"use_{name}.gsl", f"{HEAD}use {use};\nrule r(a): nn.relu(a) => a;\n"
    test = 'test "{}" for twice {{\n  a: input {};\n  nn.relu(nn.relu(a))\n  =>\n  nn.relu(a)\n}}\n'
    yield "test_title.gsl", TWICE + test.format("../../../x\\u0000\\ud800", "float32[2]")
    yield "test_type.gsl", TWICE + test.format("t", "foo64[2, -3]")
    yield "test_rank.gsl", TWICE + test.format("t", f"float32[{'1, ' * 3000}1]")
    yield "test_memory.gsl", TWICE + test.format("t", "float32[60000, 60000]").replace("input", "param")
    yield "test_nobody.gsl", HEAD + test.format("t", "float32[2]")
    yield (
        "many_false.gsl",
        HEAD + "".join(f"rule r{k}(a): nn.relu(a) where a.ndim > {k} => tanh(a);\n" for k in range(60)),
    )
    yield (
        "many_convs.gsl",
        HEAD + "".join(
            f"rule r{k}(x, a, b): nn.conv2d(x, a) + nn.conv2d(x, b) => nn.conv2d(x, a * {k}.0 + b);\n"
            for k in range(8)
        ),
    )


def encoded_json(nodes: list[dict[str, Any]]) -> Iterator[tuple[str, str | bytes]]:
    """Graphs."""
    x, y = nodes[0], {"id": "z", "kind": "call", "op": "nn.relu", "inputs": ["x"]}

    def graph(nodes: Any, outputs: Any = ("z",), **more: Any) -> str:
        head = {"format": "gsl-graph", "version": 1, "dialect": "relay"}
        return json.dumps({**head, "nodes": nodes, "outputs": outputs, **more})

    def const(name: str, shape: list[int]) -> dict[str, Any]:
        return {"id": name, "kind": "const", "shape": shape, "dtype": "float32", "value": 2.0}

    def steps(count: int, op: str, inputs: int, first: dict[str, Any] = x, **attrs: Any) -> str:
        """A chain of calls, each of the one before it."""
        calls = [
            {
                "id": f"y{k}", "kind": "call", "op": op, "attrs": attrs,
                "inputs": [f"y{k - 1}" if k else "x"] * inputs,
            }
            for k in range(count)
        ]
        return graph([first, *calls], [f"y{count - 1}"])

    fine = graph([x, y])
    for name, data in {
        "utf32": fine.encode("utf-32-le"),
        "crlf": json.dumps(json.loads(fine), indent=1).replace("\n", "\r\n").encode(),
        "same_keys": ('{"format": "gsl-graph", "format": "x", "nodes": [], ' + fine[1:]).encode(),
        "number_long": b"1" * 200_000,
        "keys_many": ("{" + ", ".join(f'"k{k}": 1' for k in range(100_000)) + "}").encode(),
    }.items():
        yield f"text_{name}.json", data
    for name, text in {
        "path": "../../x", "line": "z\u0000\n\x1b[2J", "script": "</script><script>alert(1)</script>",
        "prototype": "__proto__", "quotes": "\"'`${x}", "half": "\ud800", "none": "", "long": "x" * 100_000,
    }.items():
        yield f"name_{name}.json", graph([{**x, "id": text}, {**y, "inputs": [text]}])
        yield f"name_of_param_{name}.json", graph([{**x, "kind": "param", "id": text},
            {**y, "inputs": [text]}])
    for version in (1.0, True, 10**400):
        yield f"version_{type(version).__name__}.json", graph([x, y], version=version)
    concats = [
        item
        for k in range(62)
        for item in (
            {"id": f"t{k}", "kind": "tuple", "inputs": [f"y{k - 1}" if k else "x"] * 2},
            {"id": f"y{k}", "kind": "call", "op": "concatenate", "inputs": [f"t{k}"], "attrs": {"axis": 0}},
        )
    ]
    yield "grows_concat.json", graph([x, *concats], ["y61"])
    yield "grows_tile.json", steps(40, "tile", 1, const("x", [64]), reps=[2])
    yield "grows_power.json", steps(3000, "multiply", 2, const("x", [1, 1]))
    yield "grows_outer.json", steps(40, "stack", 1, const("x", [2]), axis=0)
    yield "grows_repeat.json", steps(60, "repeat", 1, const("x", [2, 2]), repeats=3, axis=1)
    yield "diamonds.json", steps(5000, "add", 2)
    yield (
        "work_dense.json",
        graph([
            const("x", [30000, 3000]), const("w", [30000, 3000]),
                {**y, "op": "nn.dense", "inputs": ["x", "w"]},
        ]),
    )
    yield (
        "work_conv.json",
        graph([
            const("x", [1, 512, 128, 128]), const("w", [512, 512, 7, 7]),
            {**y, "op": "nn.conv2d", "inputs": ["x", "w"], "attrs": {"padding": [3, 3, 3, 3]}},
        ]),
    )
    yield (
        "wide.json",
        graph([x, *({**y, "id": f"y{k}"} for k in range(20_000))], ["y1"]),
    )
    yield "all_outputs.json", graph([x, *({**y, "id": f"y{k}"} for k in range(3000))],
        [f"y{k}" for k in range(3000)])
    yield "outputs_input.json", graph([x], ["x", "x"])
    yield "no_nodes.json", graph([], [])
    yield "onnx_inside.json", graph([x, {**y, "op": "Relu"}], dialect="onnx", opset=10**9)
    yield (
        "onnx_loop.json",
        graph([x, {**y, "op": "Loop", "inputs": ["x"] * 3, "body": {"nodes": [[]]}}], dialect="onnx"),
    )
    yield "symbols_odd.json", graph([{**x, "shape": ["1e9", "n*n*n", "\u221e", "n" * 10_000]}, y])
    yield "symbols_same.json", graph([{**x, "shape": ["x", "z", "nn.relu"]}, y])


def encoded_relay() -> Iterator[tuple[str, str | bytes]]:
    """Relay text."""
    head, start = '#[version = "0.0.5"]\n', "def @main(%x: Tensor[(2, 3), float32]) {\n"
    for name, body in {
        "loop": (
            "  let %loop = fn (%i: int32, %a: Tensor[(2, 3), float32]) {\n"
            "    if (less(%i, 2147483647)) { %loop(add(%i, 1), nn.relu(%a)) } else { %a }\n  };\n"
            "  %loop(0, %x)"
        ),
        "function_long": (
            "  %0 = fn (%y: Tensor[(2, 3), float32], Primitive=1" + ", a=1" * 3000 + ") { %y };\n  %0(%x)"
        ),
        "tuple_project": "  %0 = (" + "(" * 300 + "%x,),"  * 300 + " %x);\n  %0.0",
        "spans": "  nn.relu(%x) /* span=" + "x:1:2, " * 5000 + " */",
        "comments_nested": "  nn.relu(%x) " + "/* " * 3000 + " */" * 3000,
        "line_comments": "  // x\n" * 30_000 + "  nn.relu(%x)",
        "numbers_small": "  add(%x, -2147483649) * cast(1e-400f, dtype=\"float32\") - 1e-999999999f",
        "int_scalar": "  add(%x, 99999999999999999999i64)",
        "float_bits": "  add(%x, 1f999)",
        "free": "  free_var %y: Tensor[(?, ?), float32];\n  add(%x, %y)",
        "doubles": "".join(
            f"  %{k + 1} = concatenate(({f'%{k}' if k else '%x'}, {f'%{k}' if k else '%x'}));\n"
            for k in range(62)
        ) + "  %62",
        "tiles": "".join(f"  %{k + 1} = tile({f'%{k}' if k else '%x'}, reps=[2, 2]);\n" for k in range(70))
        + "  %70",
        "any_sizes": "  reshape(%x, newshape=[" + "-1, " * 3000 + "0])",
        "string_escape": '  cast(%x, dtype="\\U0010ffff\\xff\\777\\0")',
        "string_lines": '  cast(%x, dtype="float\n32")',
        "conv_zero": "  nn.conv2d(%x, %x, strides=[0, 0], groups=0, kernel_size=[-1, 0])",
        "axis_float": "  sum(%x, axis=[1.5f], keepdims=None, exclude=\"yes\")",
        "enumerations": "  nn.pad(%x, 0, pad_width=[[1], [2, 3, 4]], pad_mode=\"\\0\")",
        "meta_other": "  add(%x, meta[relay.Constant][0], meta[relay.attrs.ConvAttrs][0])",
        "annotation": "  on_device(%x, virtual_device=meta[VirtualDevice][0]) /* */",
        "closing": "}" * 5000,
    }.items():
        yield f"more_{name}.relay", head + start + body + "\n}\n"
    fine = head + start + "  nn.relu(%x)\n}\n"
    for name, data in {
        "utf32": fine.encode("utf-32"),
        "boms": b"\xef\xbb\xbf" * 3 + fine.encode(),
        "crlf": fine.replace("\n", "\r\n").encode(),
        "controls": fine.replace("%x", "%\x1bx").encode(),
        "html": fine.replace("%x", "%</script>").encode(),
        "no_main": fine.replace("@main", "@other").encode(),
        "main_text": fine.replace("@main", '@"main"').encode(),
        "old": b"v0.0.4\n" + start.replace("def @main", "fn ").encode() + b"  nn.relu(%x)\n}\n",
        "types": fine.replace("(2, 3)", "(" * 3000 + "2" + ")" * 3000).encode(),
        "result": fine.replace(") {",
            ") -> (" + "(" * 3000 + "Tensor[(2), int8]" + ")" * 3000 + ") {").encode(),
        "metadata_only": b'#[metadata]\n{"root": 0, "nodes": []}\n',
        "metadata_twice": (fine + '\n#[metadata]\n{"root": 0, "nodes": []}\n' * 300).encode(),
    }.items():
        yield f"text_{name}.relay", data


def encoded_tables() -> Iterator[tuple[str, str | bytes]]:
    """E-graphs and tables of costs."""
    def egraph(entries: dict[str, Any], *roots: str) -> str:
        return json.dumps({"nodes": entries, "root_eclasses": list(roots)})

    def node(eclass: str, *children: str, cost: Any = 1.0) -> dict[str, Any]:
        return {"op": "f", "eclass": eclass, "children": list(children), "cost": cost}

    yield "egraph_chain_long.json", egraph(
        {f"n{k}": node(f"c{k}", *([f"n{k - 1}"] if k else [])) for k in range(20_000)}, "c19999"
    )
    yield "egraph_doubles.json", egraph(
        {f"n{k}": node(f"c{k}", *([f"n{k - 1}"] * 2 if k else [])) for k in range(2000)}, "c1999"
    )
    yield "egraph_equal.json", egraph(
        {f"n{k}": node(f"c{k // 8}", *([f"n{k - k % 8 - 1 - j}" for j in range(3)] if k >= 8 else []))
         for k in range(2400)}, "c299",
    )
    yield "egraph_circles_two.json", egraph(
        {f"{a}{k}": node(f"{a}{k}", f"{b}{(k + 1) % 60}") for k in range(60) for a, b in ("ab", "ba")}
        | {f"l{k}": node(f"a{k}", cost=2.0 ** k) for k in range(60)}, "a0", "b30",
    )
    yield "egraph_costs.json", egraph(
        {"a": node("a", cost=float("inf")), "b": node("a", cost=-1.0), "c": node("a", cost=1e308)}, "a"
    )
    yield "egraph_half.json", egraph({"\ud800": node("a"), "a": node("a", "\ud800")}, "a")
    head = "op\tinput_shapes\tattrs\tcost\n"
    for name, text in {
        "nan": head + "nn.relu\t2x3x4\t\tnan\n",
        "negative": head + "nn.relu\t2x3x4\t\t-1e308\n",
        "crlf": head.replace("\n", "\r\n") + "nn.relu\t2x3x4\t\t1\r\n",
        "same": head + "nn.relu\t2x3x4\t\t1\nnn.relu\t2x3x4\t\t2\n",
        "control": head + "nn.relu\x1b[2J\t2x3x4\t\t1\n",
        "separators": head + "nn.relu\u2028\t2x3x4\t\t1\x85\n",
    }.items():
        yield f"costs_{name}3.tsv", text


def encoded_states() -> Iterator[tuple[str, str | bytes]]:
    """States of `gslc discover`."""
    for name, data in {"bom": b"\xef\xbb\xbf{}", "utf16": "{}".encode("utf-16"),
        "lines": b"{}\n" * 30_000}.items():
        yield f"text_{name}.json", data
    yield "digits.json", '{"version": ' + "9" * 10_000 + "}"
    yield "same_key.json", '{"version": 1, "version": 2}'


def encoded_config() -> Iterator[tuple[str, str | bytes]]:
    """Configurations."""
    for name, text in {
        "dates": "[lint]\nselect = [1979-05-27T07:32:00Z, 07:32:00]\n",
        "numbers": "[lint]\nmax = 0x" + "f" * 3000 + "\nsmall = 1e-999999\n",
        "names": '[lint]\n"\\u0000" = 1\n"../../x" = 1\n"" = 1\n',
        "dotted": ".".join(["lint"] * 900) + " = 1\n",
        "arrays": "[[lint]]\n" * 3000,
        "strings": '[lint]\nselect = ["""' + '""\\"' * 3000 + '"""]\n',
        "patterns": '[lint]\nexclude = ["' + "**/" * 3000 + '*", "' + "[" * 3000 + '"]\n',
        "stars": (
            '[lint]\nexclude = ["' + "*a" * 40 + 'b"]\n[lint.per-file-ignores]\n"' + "*?" * 60
            + '" = ["L01"]\n'
        ),
        "carriage": "[lint]\rselect = []\r",
        "control": "[lint]\nselect = ['\x1b[2J']\n",
    }.items():
        yield f"more_{name}.toml", text


def encoded_traces(line: dict[str, Any]) -> Iterator[tuple[str, str | bytes]]:
    """Histories of runs."""
    for name, change in {
        "names_odd": {"added": ["\ud800", "", "../x", "</script>"]},
        "replaced_circle": {"replaced": {"z": "y", "y": "z"}},
        "replaced_many": {"replaced": {f"z{k}": "n" for k in range(20_000)}},
        "removed_input": {"removed": ["x"]},
        "rule_odd": {"rule": "twice\x1b[2J\u2028"},
        "keys_many": {f"k{k}": k for k in range(20_000)},
        "body_deep": {"body": json.loads("[" * 300 + "]" * 300)},
    }.items():
        yield f"odd_{name}.jsonl", json.dumps({**line, **change}) + "\n"
    yield "crlf.jsonl", (json.dumps(line) + "\r\n") * 2
    yield "separators.jsonl", json.dumps(line) + "\u2028" + json.dumps(line)
