"""Small files that are meant to do harm, or that an unlucky user could have: name → bytes, always the same.

The first part of a name says which reader gets it.
"""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from tests.hostile import encoded, odd
from tests.hostile.chained import chained
from tests.hostile.costly import costly_json, costly_onnx, costly_relay, costly_rules
from tests.hostile.hosts import hosts
from tests.hostile.onnx_text import onnx_texts
from tests.hostile.operators import operators
from tests.hostile.rare import rare_config, rare_json, rare_onnx, rare_relay, rare_weights
from tests.hostile.strange_models import strange_onnx, strange_weights

HEAD = "dialect relay;\n"
NODES: list[dict[str, Any]] = [
    {"id": "x", "kind": "input", "shape": [2, 3, 4], "dtype": "float32"},
    {"id": "t", "kind": "call", "op": "transpose", "inputs": ["x"], "attrs": {"axes": [0, 2, 1]}},
    {"id": "y", "kind": "call", "op": "nn.relu", "inputs": ["t"]},
    {"id": "z", "kind": "call", "op": "nn.relu", "inputs": ["y"]},
]
GRAPH = json.dumps(
    {"format": "gsl-graph", "version": 1, "dialect": "relay", "nodes": NODES, "outputs": ["z"]}
).encode()
RULES = (HEAD + "rule twice(a): nn.relu(nn.relu(a)) => nn.relu(a);\n").encode()
APPLICATION: dict[str, Any] = {
    "application": 1,
    "rule": "twice",
    "outputs": ["z"],
    "removed": ["y", "z"],
    "added": ["n"],
    "replaced": {"z": "n"},
    "bindings": {"a": "t"},
}


def corpus() -> dict[str, bytes]:
    """All files by name."""
    parts: dict[str, Iterable[tuple[str, str | bytes]]] = {
        "rules": chain(_rules(), odd.odd_rules(), encoded.encoded_rules(), costly_rules()),
        "json": chain(_json(), odd.odd_json(NODES), encoded.encoded_json(NODES), costly_json(), rare_json()),
        "relay": chain(_relay(), odd.odd_relay(), encoded.encoded_relay(), costly_relay(), rare_relay()),
        "onnx": chain(_onnx(), odd.odd_onnx(), chained(), strange_onnx(), costly_onnx(), rare_onnx()),
        "weights": chain(
            _weights(), odd.odd_weights(_zip, _npy, _safetensors), strange_weights(), rare_weights()
        ),
        "traces": chain(_traces(), odd.odd_traces(APPLICATION), encoded.encoded_traces(APPLICATION)),
        "config": chain(_config(), odd.odd_config(), encoded.encoded_config(), rare_config()),
        "cache": chain(_cache(), odd.odd_cache()),
        "tables": chain(_tables(), odd.odd_tables(), encoded.encoded_tables()),
        "states": chain(odd.odd_states(), encoded.encoded_states()),
        "defines": odd.odd_defines(),
        "operators": operators(),
        "hosts": hosts(),
        "onnxtxt": onnx_texts(),
    }
    return {
        f"{part}/{name}": data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")
        for part, made in parts.items()
        for name, data in made
    }


# ── rules ───────────────────────────────────────────────────────────────────────────────────────────────────


def _rules() -> Iterator[tuple[str, str | bytes]]:
    where = "rule r(a): nn.relu(a) where {} => a;\n"
    conditions = {
        "power": "9 ** 9 ** 9 ** 9 > a.ndim",
        "power_negative": "(0 - 2) ** 0.5 > a.ndim",
        "zero_power": "0 ** (0 - 1) > a.ndim",
        "repetition": "len((1,) * 1000000000) > a.ndim",
        "repetition_text": '"ab" * 1000000000 == a.dtype',
        "repetition_nested": "len(((1,) * 1000,) * 1000000) > a.ndim",
        "range": "sum(range(1000000000000)) > a.ndim",
        "range_step_zero": "len(range(1, 5, 0)) > a.ndim",
        "range_ends": "sum([i for i in 0..999999999999]) > a.ndim",
        "comprehensions": (
            "sum([sum([sum([1 for i in range(1000)]) for j in range(1000)]) for k in range(1000)]) > a.ndim"
        ),
        "comprehension_table": "len([[i * j for i in range(3000)] for j in range(3000)]) > a.ndim",
        "division_by_zero": "1 // 0 == a.ndim or 1 % 0 == 1 or 1 / 0 > 2",
        "digits_999": "9" * 999 + " > a.ndim",
        "digits_5000": "9" * 5000 + " > a.ndim",
        "float_huge": "1e999 > a.ndim",
        "float_long": "0." + "1" * 5000 + " > a.ndim",
        "minus_signs": "-" * 3000 + "1 < a.ndim",
        "not_words": "not " * 3000 + "true",
        "sums": " + ".join(["1"] * 3000) + " > a.ndim",
        "conjunction": " and ".join(["a.ndim > 1"] * 1500),
        "many_conditions": ", ".join(["a.ndim > 1"] * 1500),
        "comparisons": " < ".join(["1"] * 1500),
        "ternaries": "".join("1 if a.ndim > 2 else " for _ in range(1000)) + "2 > 1",
        "index_far": "a.shape[99999999999999999999] == 1",
        "slice_far": "a.shape[-99999999999999999999:99999999999999999999:0] == (1,)",
        "projections": "a" + ".0" * 2000 + " == 1",
        "attributes": "a" + ".x" * 2000 + " == 1",
        "calls": "len(" * 900 + "a.shape" + ")" * 900 + " > 1",
        "indices": "a.shape" + "[0]" * 2000 + " == 1",
        "tuples": "(" * 900 + "1," + ")," * 900 + " == 1",
        "lists": "[" * 5000 + "]" * 5000 + " == a.shape",
        "lists_open": "[" * 5000,
        "text_escapes": '"\\x \\u \\N{x} \\777" == a.dtype',
        "zip": "len(zip(" + ", ".join(["range(1000000)"] * 9) + ")) > a.ndim",
        "sum_of_texts": 'sum(["a" * 1000000 for i in range(1000)]) == a.dtype',
        "concat": "len(concat([range(1000000) for i in range(1000)])) > a.ndim",
        "product": "prod([9 ** 1000 for i in range(100000)]) > a.ndim",
        "close_nan": "close(1e308 * 10.0, 0.0 * (1e308 * 10.0), 1e-5)",
        "layout": 'layout_remap("' + "N" * 10000 + '", "' + "C" * 10000 + '") == (1,)',
        "axis": "normalize_axis(10 ** 100, 10 ** 100) == 1",
    }
    for name, text in conditions.items():
        yield f"{name}.gsl", HEAD + where.format(text)

    def lets(first: str, step: str, last: str) -> str:
        middle = "".join(f"  v{k} = {step.replace('V', f'v{k - 1}')};\n" for k in range(1, 61))
        return (
            f"{HEAD}rule r(a) {{\n  x = transpose(a, axes = (p := _));\n  v0 = {first};\n"
            f"{middle}  nn.relu(x) where {last} > 3\n  =>\n  x\n}}\n"
        )

    yield "lets_sum.gsl", lets("len(p)", "V + V", "v60")
    yield "lets_square.gsl", lets("3 + len(p)", "V * V", "v60")
    yield "lets_spread.gsl", lets("p", "(*V, *V)", "len(v60)")
    yield "lets_concat.gsl", lets("p", "concat(V, V)", "len(v60)")
    yield "lets_nested.gsl", lets("p", "(V, V)", "len(v60)")
    yield "lets_text.gsl", lets('"a"', "V + V", "len(v60)")
    yield "lets_rounds.gsl", lets("p", "[i + j for i, j in zip(V, V)]", "len(v60)")

    def chain(step: str, count: int) -> str:
        steps = "".join(
            f"  v{k} = {step.replace('V', f'v{k - 1}').replace('K', str(k))};\n" for k in range(1, count)
        )
        return f"{HEAD}rule r(a) {{\n  nn.relu(nn.relu(a))\n  =>\n  v0 = a;\n{steps}  v{count - 1}\n}}\n"

    yield (
        "lets_deep.gsl",
        lets("len(p)", "V + 1", "v60").replace(
            "  nn.relu(x) where v60",
            "".join(f"  v{k} = v{k - 1} + 1;\n" for k in range(61, 1000)) + "  nn.relu(x) where v999",
        ),
    )
    yield "target_long.gsl", chain("tanh(V)", 1500)
    yield "choices_deep.gsl", chain("tanh(V) if a.ndim > K else sigmoid(V)", 500)
    yield "choices_many.gsl", chain("tanh(V) if a.ndim > K else sigmoid(V)", 90)
    yield (
        "statements_1500.gsl",
        HEAD + "rule r(a) {\n"
        + "".join(f"  v{k} = nn.relu({f'v{k - 1}' if k else 'a'});\n" for k in range(1500))
        + "  v1499\n  =>\n  a\n}\n",
    )

    def functions(first: str, step: str, rule: str, count: int = 40) -> str:
        steps = "".join(f"fn f{k}(x) = {step.replace('F', f'f{k - 1}')};\n" for k in range(1, count + 1))
        return f"{HEAD}fn f0(x) = {first};\n{steps}{rule.replace('F', f'f{count}')}\n"

    yield (
        "functions_value.gsl",
        functions("x", "F(x) + F(x)", "rule r(a): nn.relu(a) where F(a.ndim) > 3 => a;"),
    )
    yield "functions_target.gsl", functions("nn.relu(x)", "F(x) + F(x)", "rule r(a): tanh(a) => F(a);")
    yield "functions_source.gsl", functions("nn.relu(x)", "F(x) + F(x)", "rule r(a): F(a) => a;")
    yield (
        "functions_unshared.gsl",
        functions("x", "F(x + 1) + F(x + 2)", "rule r(a): nn.relu(a) where F(a.ndim) > 3 => a;"),
    )
    yield (
        "functions_items.gsl",
        functions("x", "F(x) + F(x)", "rule r(a): nn.relu(a) where sum([F(i) for i in a.shape]) > 3 => a;"),
    )
    yield (
        "functions_chain.gsl",
        functions("x", "F(x) + 1", "rule r(a): nn.relu(a) where F(a.ndim) > 3 => a;", 1000),
    )
    yield (
        "functions_circle.gsl",
        HEAD + "fn f(x) = g(x);\nfn g(x) = f(x);\nrule r(a): nn.relu(a) where f(a.ndim) > 3 => a;\n",
    )
    yield (
        "functions_same_name.gsl",
        HEAD + "fn f(x) = x;\nfn f(x) = f(x);\nrule r(a): nn.relu(a) where f(a.ndim) > 3 => a;\n",
    )
    yield (
        "alternatives.gsl",
        HEAD + "rule r(a) {\n"
        + "".join(
            f"  v{k} = (nn.relu({f'v{k - 1}' if k else 'a'}) | tanh({f'v{k - 1}' if k else 'a'}));\n"
            for k in range(60)
        )
        + "  sigmoid(v59)\n  =>\n  a\n}\n",
    )
    yield (
        "alternatives_flat.gsl",
        HEAD + "rule r(a): sigmoid(" + " | ".join(["nn.relu(a)", "tanh(a)"] * 100) + ") => a;\n",
    )
    yield (
        "alternatives_two.gsl",
        HEAD + "rule r(a, b): " + " + ".join(["(nn.relu(a) | tanh(b))"] * 40) + " => a;\n",
    )
    yield (
        "optional_operators.gsl",
        HEAD + "rule r(a): sigmoid(" + "nn.relu?(" * 60 + "a" + ")" * 61 + " => a;\n",
    )
    yield "commutative.gsl", HEAD + "rule r(a): " + "add(" * 40 + "a, a" + "), a" * 39 + ") => a;\n"
    yield (
        "statements.gsl",
        HEAD + "rule r(a) {\n"
        + "".join(f"  v{k} = nn.relu({f'v{k - 1}' if k else 'a'});\n" for k in range(250))
        + "  v249\n  =>\n  a\n}\n",
    )
    yield (
        "inputs.gsl",
        HEAD
        + (
            f"rule r({', '.join(f'a{k}' for k in range(500))}): "
            f"concatenate(({', '.join(f'a{k}' for k in range(500))}), axis = 0) => a0;\n"
        ),
    )
    yield (
        "tuple_source.gsl",
        HEAD + "rule r(a) {\n  t0 = nn.relu(a);\n"
        + "".join(f"  t{k} = (t{k - 1}, t{k - 1});\n" for k in range(1, 41)) + "  t40\n  =>\n  a\n}\n",
    )
    yield (
        "tuple_target.gsl",
        HEAD + "rule r(a) {\n  nn.relu(a)\n  =>\n  t0 = (a, a);\n"
        + "".join(f"  t{k} = (t{k - 1}, t{k - 1});\n" for k in range(1, 41)) + "  t40.0\n}\n",
    )
    yield "grows.gsl", HEAD + "rule r(a): nn.relu(a) => nn.relu(nn.relu(a) + nn.relu(a));\n"
    yield "swings.gsl", HEAD + "rule r(a): nn.relu(a) => tanh(a);\nrule s(a): tanh(a) => nn.relu(a);\n"
    yield (
        "reshapes_huge.gsl",
        HEAD
        + "rule r(a): nn.relu(a) => reshape(a, newshape = (9223372036854775807, 9223372036854775807));\n",
    )
    yield (
        "broadcasts_huge.gsl",
        HEAD + "rule r(a): nn.relu(a) => broadcast_to(a, shape = (1000000, 1000000, 2, 3, 4));\n",
    )
    yield (
        "splits_huge.gsl",
        HEAD + "rule r(a): nn.relu(a) => split(a, indices_or_sections = 1000000000, axis = 0).0;\n",
    )
    yield (
        "splat_huge.gsl",
        HEAD + "rule r(a): nn.relu(a) => a + const(value = 1.0, shape = (100000, 100000, 100));\n",
    )
    yield "const_long.gsl", HEAD + "rule r(a): nn.relu(a) => a + const([i for i in range(900000)]);\n"
    yield (
        "repeat_pass.gsl",
        HEAD + "rule r(a): nn.relu(a) => tanh(a);\nrule s(a): tanh(a) => nn.relu(a);\npass p { "
        + "repeat { " * 100 + "r; s; " + "} " * 100 + "}\n",
    )
    yield "pass_circle.gsl", HEAD + "pass p { q; }\npass q { p; }\n"
    yield (
        "each_huge.gsl",
        HEAD + "rule r(a) {\n  each f in 1..1000000000000 {\n    w = nn.relu(a);\n  }\n  f.w\n  =>\n  a\n}\n",
    )
    yield (
        "each_many.gsl",
        HEAD + "rule r(a) {\n"
        + "".join(f"  each f{k} in 1.. {{\n    w{k} = nn.relu(a);\n  }}\n" for k in range(40))
        + "  f0.w0\n  =>\n  a\n}\n",
    )
    yield (
        "declared.gsl",
        HEAD
        + (
            "op my.f(x: tensor, n: int = 9999999999999999999999) -> tensor { shape = x.shape * 1000000000, "
            "dtype = x.dtype };\nrule r(a): nn.relu(a) => my.f(a);\n"
        ),
    )
    yield (
        "declared_value.gsl",
        HEAD
        + (
            "op my.f(x: tensor) -> tensor { shape = x.shape, dtype = x.dtype, value = my.f(x) };\n"
            "rule r(a): nn.relu(a) => my.f(a);\n"
        ),
    )
    yield (
        "test_huge.gsl",
        HEAD
        + (
            'rule r(a): nn.relu(nn.relu(a)) => nn.relu(a);\ntest "huge" for r {\n'
            '  a: input float32[9223372036854775807, 99999999999999999999];\n  nn.relu(nn.relu(a))\n  =>\n'
            '  nn.relu(a)\n}\n'
        ),
    )
    yield (
        "ranks.gsl",
        HEAD
        + (
            "rule r(a): transpose(transpose(a, axes = (p := _)), axes = (q := _)) where a.ndim == 30 => "
            "transpose(a, axes = [p[i] for i in q]);\n"
        ),
    )
    yield "imports_itself.gsl", HEAD + 'use "imports_itself.gsl";\nuse "./../rules/imports_itself.gsl";\n'
    yield (
        "imports_outside.gsl",
        HEAD
        + (
            'use "/etc/passwd";\nuse "../../../../../../../../etc/shadow";\nuse "\\0";\nuse "/dev/zero";\n'
            'use "/proc/self/mem";\n'
        ),
    )
    yield "imports_folder.gsl", HEAD + 'use ".";\nuse "";\nuse "' + "x" * 5000 + '.gsl";\n'
    yield "empty.gsl", b""
    yield "nul.gsl", b"dialect relay;\0\0\0\nrule r(a): nn.relu(a) => a;\n"
    yield "bom.gsl", b"\xef\xbb\xbf" + RULES
    yield "utf16.gsl", RULES.decode().encode("utf-16")
    yield "latin1.gsl", HEAD.encode() + b"# \xe9\xff\nrule r(a): nn.relu(a) => a;\n"
    yield "surrogate.gsl", HEAD + '# \ud800\nrule r(a): nn.relu(a) where "\udfff" == a.dtype => a;\n'
    yield "random.gsl", bytes((k * 7919 + 13) % 256 for k in range(4000))
    yield "parentheses.gsl", HEAD + "rule r(a): " + "(" * 20000 + "nn.relu(a)" + ")" * 20000 + " => a;\n"
    yield "parentheses_open.gsl", HEAD + "rule r(a): " + "(" * 20000
    yield "braces.gsl", HEAD + "pass p " + "{ repeat " * 20000
    yield "long_line.gsl", HEAD + "rule r(a): nn.relu(a)" + " " * 60000 + "=> a; # " + "x" * 60000 + "\n"
    yield "long_name.gsl", HEAD + "rule " + "r" * 50000 + "(a): nn.relu(a) => a;\n"
    yield "quotes.gsl", HEAD + '"' * 20001 + "\n"
    yield "backslashes.gsl", HEAD + 'use "' + "\\" * 20001 + '";\n'
    yield "errors.gsl", HEAD + "rule r(a) nn.relu(a) => a;\n" * 500
    yield (
        "many_rules.gsl",
        HEAD + "".join(f"rule r{k}(a): nn.relu(nn.relu(a)) => nn.relu(a);\n" for k in range(200)),
    )
    yield "same_rules.gsl", HEAD + "rule r(a): nn.relu(nn.relu(a)) => nn.relu(a);\n" * 200
    yield (
        "annotations.gsl",
        HEAD + "@once @once @approximate(1e999) @approximate(-1) @opset(99999999999999999999..) @tags("
        + "1, " * 2000 + ")\nrule r(a): nn.relu(a) => a;\n",
    )
    yield "walks.gsl", HEAD + "rule r(a): " + "(" * 150 + "nn.relu(a)" + ")" * 150 + " => a;\n"
    yield "dialect_unknown.gsl", "dialect ../../etc;\nrule r(a): f(a) => a;\n"
    yield (
        "onnx_huge.gsl",
        "dialect onnx;\nrule r(a): Relu(a) => Reshape(a, [9223372036854775807, 9223372036854775807]);\n",
    )


# ── JSON ────────────────────────────────────────────────────────────────────────────────────────────────────


def _json() -> Iterator[tuple[str, str | bytes]]:
    def graph(nodes: Any, outputs: Any = ("z",), **more: Any) -> str:
        return json.dumps({
            "format": "gsl-graph",
            "version": 1,
            "dialect": "relay",
            "nodes": nodes,
            "outputs": outputs, **more,
        })

    def changed(number: int, **more: Any) -> str:
        return graph([{**node, **(more if k == number else {})} for k, node in enumerate(NODES)])

    for name, shape in {
        "negative": [-1, 3, 4],
        "huge": [2**63 - 1] * 4,
        "too_huge": [10**30, 2],
        "float": [2.0, 3.5],
        "nested": [[2]],
        "text": "2, 3",
        "null": [None, None],
        "rank_10000": [1] * 10000,
        "zero": [0, 0, 0],
        "bool": [True, False],
        "symbols": ["n", "", "n" * 10000],
        "memory": [100000, 100000, 100],
    }.items():
        yield f"shape_{name}.json", changed(0, shape=shape)
    yield "nan.json", '{"format": "gsl-graph", "version": NaN, "nodes": [Infinity], "outputs": [-Infinity]}'
    yield "digits.json", '{"format": "gsl-graph", "version": ' + "9" * 10000 + "}"
    yield "deep_lists.json", "[" * 50000 + "]" * 50000
    yield "deep_objects.json", '{"a":' * 20000 + "1" + "}" * 20000
    yield "deep_attribute.json", changed(1, attrs={"axes": json.loads("[" * 400 + "]" * 400)})
    yield "cut_off.json", GRAPH[:-40]
    yield "empty.json", b""
    yield "null.json", b"null"
    yield "number.json", b"3"
    yield "bom.json", b"\xef\xbb\xbf" + GRAPH
    yield "utf16.json", GRAPH.decode().encode("utf-16")
    yield "latin1.json", GRAPH.replace(b'"relay"', b'"rel\xe9y"')
    yield "surrogate.json", GRAPH.replace(b'"x"', b'"\\ud800"')
    yield "nul_id.json", GRAPH.replace(b'"x"', b'"\\u0000"')
    yield "twice.json", b'{"nodes": [], "nodes": [], ' + GRAPH[1:]
    yield "same_ids.json", graph([NODES[0], NODES[0], *NODES[1:]])
    yield "circle.json", graph([NODES[0], {**NODES[1], "inputs": ["z"]}, *NODES[2:]])
    yield "itself.json", graph([{**NODES[2], "inputs": ["y"]}], ["y"])
    yield "missing_input.json", graph([NODES[3]])
    yield "no_output.json", graph(NODES, [])
    yield "outputs_10000.json", graph(NODES, ["z"] * 10000)
    yield "unknown_op.json", changed(2, op="../../x\n")
    yield "unknown_kind.json", changed(2, kind="code")
    yield "unknown_dtype.json", changed(0, dtype="object")
    yield "dtype_number.json", changed(0, dtype=3)
    yield "axes_huge.json", changed(1, attrs={"axes": [10**20, -(10**20), 0]})
    yield "axes_twice.json", changed(1, attrs={"axes": [0, 0, 0]})
    yield "axes_text.json", changed(1, attrs={"axes": "__import__('os')"})
    yield "attrs_list.json", changed(1, attrs=[1, 2])
    yield (
        "const_huge.json",
        graph([{"id": "z", "kind": "const", "shape": [100000, 100000], "dtype": "float32", "value": 1.0}]),
    )
    yield (
        "const_text.json",
        graph([{"id": "z", "kind": "const", "shape": [2], "dtype": "float32", "value": ["a", "b"]}]),
    )
    yield (
        "const_ragged.json",
        graph([{"id": "z", "kind": "const", "shape": [2, 2], "dtype": "float32", "value": [[1], [2, 3]]}]),
    )
    yield (
        "const_overflow.json",
        graph([{"id": "z", "kind": "const", "shape": [1], "dtype": "int8", "value": [10**40]}]),
    )
    yield (
        "const_file.json",
        graph([{"id": "z", "kind": "const", "shape": [2], "dtype": "float32", "file": "/etc/passwd"}]),
    )
    yield (
        "chain.json",
        graph(
            [
                NODES[0],
                *(
                    {"id": f"n{k}", "kind": "call", "op": "nn.relu", "inputs": [f"n{k - 1}" if k else "x"]}
                    for k in range(3000)
                ),
            ],
            ["n2999"],
        ),
    )
    yield (
        "doubling.json",
        graph(
            [
                NODES[0],
                *(
                    {"id": f"n{k}", "kind": "call", "op": "add", "inputs": [f"n{k - 1}" if k else "x"] * 2}
                    for k in range(200)
                ),
            ],
            ["n199"],
        ),
    )
    yield (
        "tuples.json",
        graph(
            [
                NODES[0],
                *(
                    {"id": f"n{k}", "kind": "tuple", "inputs": [f"n{k - 1}" if k else "x"] * 2}
                    for k in range(60)
                ),
            ],
            ["n59"],
        ),
    )
    yield (
        "split_huge.json",
        graph([
            NODES[0],
            {
                "id": "z",
                "kind": "call",
                "op": "split",
                "inputs": ["x"],
                "attrs": {"indices_or_sections": 10**9, "axis": 0},
            },
        ]),
    )
    yield (
        "split_symbol.json",
        graph([
            {**NODES[0], "shape": ["n", 3]},
            {
                "id": "z",
                "kind": "call",
                "op": "split",
                "inputs": ["x"],
                "attrs": {"indices_or_sections": 10**9, "axis": 0},
            },
        ]),
    )
    yield (
        "reshape_huge.json",
        graph([
            NODES[0],
            {
                "id": "z",
                "kind": "call",
                "op": "reshape",
                "inputs": ["x"],
                "attrs": {"newshape": [10**12, 10**12]},
            },
        ]),
    )
    yield (
        "repeat_huge.json",
        graph([
            NODES[0],
            {
                "id": "z",
                "kind": "call",
                "op": "repeat",
                "inputs": ["x"],
                "attrs": {"repeats": 10**15, "axis": 0},
            },
        ]),
    )
    yield (
        "zeros_huge.json",
        graph([{
            "id": "z",
            "kind": "call",
            "op": "zeros",
            "inputs": [],
            "attrs": {"shape": [10**6, 10**6], "dtype": "float32"},
        }]),
    )
    yield (
        "arange_huge.json",
        graph([{
            "id": "z",
            "kind": "call",
            "op": "arange",
            "inputs": [],
            "attrs": {"start": 0, "stop": 1e18, "step": 1e-18, "dtype": "float32"},
        }]),
    )
    yield (
        "memory_small.json",
        graph([
            {**NODES[0], "shape": [30000, 30000]},
            {"id": "z", "kind": "call", "op": "nn.relu", "inputs": ["x"]},
        ]),
    )
    yield (
        "rank_100.json",
        graph(
            [{**NODES[0], "shape": [1] * 100}, {"id": "z", "kind": "call", "op": "nn.relu", "inputs": ["x"]}]
        ),
    )
    yield "version.json", graph(NODES, version=10**100)
    yield "format.json", graph(NODES, format="pickle")
    yield "names.json", graph(NODES, name={"a": []})


# ── Relay ───────────────────────────────────────────────────────────────────────────────────────────────────


def _relay() -> Iterator[tuple[str, str | bytes]]:
    head, start = '#[version = "0.0.5"]\n', "def @main(%x: Tensor[(2, 3), float32]) {\n"
    yield "empty.relay", b""
    yield "head.relay", head
    yield "nul.relay", head + start + "  nn.relu(%x)\0\n}\n"
    yield "utf16.relay", (head + start + "  nn.relu(%x)\n}\n").encode("utf-16")
    yield "latin1.relay", (head + start).encode() + b"  /* \xe9 */ nn.relu(%x)\n}\n"
    yield "parentheses.relay", head + start + "(" * 20000 + "%x" + ")" * 20000 + "\n}\n"
    yield "calls.relay", head + start + "nn.relu(" * 5000 + "%x" + ")" * 5000 + "\n}\n"
    yield "braces.relay", head + start + "{" * 20000
    yield "brackets.relay", head + start + "  reshape(%x, newshape=" + "[" * 20000 + "]" * 20000 + ")\n}\n"
    yield "minus.relay", head + start + "  add(%x, " + "-" * 20000 + "1f)\n}\n"
    yield "comments.relay", head + start + "/*" * 20000 + "\n}\n"
    yield "comment_open.relay", head + start + "  nn.relu(%x) /* ty=" + "(" * 10000
    yield (
        "type_deep.relay",
        head + "def @main(%x: " + "(" * 5000 + "Tensor[(2), float32]" + ")" * 5000 + ") { %x }\n",
    )
    yield (
        "tuples.relay",
        head + start + "  %0 = (%x, %x);\n"
        + "".join(f"  %{k} = (%{k - 1}, %{k - 1});\n" for k in range(1, 60)) + "  %59\n}\n",
    )
    yield (
        "inline.relay",
        head
        + "".join(
            (
                f"def @f{k}(%x: Tensor[(2, 3), float32]) {{\n  %0 = @f{k - 1}(%x);\n  %1 = @f{k - 1}(%x);\n"
                f"  add(%0, %1)\n}}\n"
            )
            for k in range(1, 40)
        )
        + "def @f0(%x: Tensor[(2, 3), float32]) {\n  nn.relu(%x)\n}\n" + start + "  @f39(%x)\n}\n",
    )
    yield (
        "inline_chain.relay",
        head
        + "".join(f"def @f{k}(%x: Tensor[(2, 3), float32]) {{\n  @f{k - 1}(%x)\n}}\n" for k in range(1, 1000))
        + ("def @f0(%x: Tensor[(2, 3), float32]) {\n  nn.relu(%x)\n}\n" + start + "  @f999(%x)\n}\n"),
    )
    yield "inline_itself.relay", head + start + "  @main(%x)\n}\n"
    yield (
        "shape_huge.relay",
        head
        + (
            "def @main(%x: Tensor[(99999999999999999999999, 9223372036854775807), float32]) {\n"
            "  nn.relu(%x)\n}\n"
        ),
    )
    yield "shape_negative.relay", head + "def @main(%x: Tensor[(-3, 4), float32]) {\n  nn.relu(%x)\n}\n"
    yield "rank.relay", head + "def @main(%x: Tensor[(" + "1, " * 5000 + "1), float32]) {\n  nn.relu(%x)\n}\n"
    yield "dtype.relay", head + "def @main(%x: Tensor[(2), float99999999999]) {\n  nn.relu(%x)\n}\n"
    yield (
        "split.relay",
        head + start + "  %0 = split(%x, indices_or_sections=1000000000, axis=0);\n  %0.0\n}\n",
    )
    yield (
        "project_far.relay",
        head + start + "  %0 = split(%x, indices_or_sections=2, axis=0);\n  %0.99999999999999999999\n}\n",
    )
    yield "undefined.relay", head + start + "  nn.relu(%y)\n}\n"
    yield "forward.relay", head + start + "  %0 = nn.relu(%1);\n  %1 = nn.relu(%0);\n  %1\n}\n"
    yield "twice.relay", head + start + "  %0 = nn.relu(%x);\n  %0 = nn.relu(%x);\n  %0\n}\n"
    yield "functions_same.relay", head + (start + "  nn.relu(%x)\n}\n") * 2
    yield (
        "metadata.relay",
        head + start + '  add(%x, meta[relay.Constant][99999])\n}\n\n#[metadata]\n{"root": 1, "nodes": ['
        + "{}," * 1000 + "{}]}\n",
    )
    yield (
        "metadata_deep.relay",
        head + start + "  add(%x, meta[relay.Constant][0])\n}\n\n#[metadata]\n" + "[" * 30000,
    )
    yield (
        "metadata_circle.relay",
        head + start + "  add(%x, meta[relay.Constant][0])\n}\n\n#[metadata]\n"
        + json.dumps({
            "root": 1,
            "nodes": [{"type_key": ""}, {"type_key": "Map", "keys": ["relay.Constant"], "data": [1]}],
            "b64ndarrays": ["!!", "AAAA"],
            "attrs": {"tvm_version": "0.8"},
        }),
    )
    yield "number.relay", head + start + "  add(%x, " + "9" * 5000 + "f)\n}\n"
    yield "long_line.relay", head + start + "  add(%x, " + " " * 60000 + "1f)\n}\n"
    yield (
        "long_name.relay",
        head + "def @main(%" + "x" * 60000 + ": Tensor[(2), float32]) {\n  nn.relu(%x)\n}\n",
    )
    yield (
        "lets.relay",
        head + start
        + "".join(f"  let %v{k} = nn.relu({f'%v{k - 1}' if k else '%x'});\n" for k in range(1000))
        + "  %v999\n}\n",
    )
    yield "ifs.relay", head + start + "  if (True) {\n" * 300 + "%x" + "} else { %x }" * 300 + "\n}\n"
    yield "lambdas.relay", head + start + "  fn (%y) { " * 300 + "%x" + "}" * 300 + "\n}\n"
    yield "string.relay", head + start + '  cast(%x, dtype="' + "\\x" * 20000 + "\n}\n"


# ── ONNX ────────────────────────────────────────────────────────────────────────────────────────────────────


def _onnx() -> Iterator[tuple[str, bytes]]:
    import onnx
    from onnx import TensorProto, helper

    node, FLOAT = helper.make_node, TensorProto.FLOAT

    def info(name: str, shape: Any = (2, 3), element: int = FLOAT) -> Any:
        return helper.make_tensor_value_info(name, element, shape)

    def model(
        nodes: Any,
        inputs: Any = None,
        outputs: Any = None,
        weights: Any = (),
        functions: Any = (),
        opsets: Any = None,
    ) -> Any:
        graph = helper.make_graph(
            nodes, "g", inputs if inputs is not None else [info("x")],
            outputs if outputs is not None else [info("y", None)], list(weights),
        )
        opsets = (
            opsets if opsets is not None else [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
        )
        return helper.make_model(graph, opset_imports=opsets, functions=list(functions), ir_version=8)

    def tensor(name: str, dims: Any, raw: bytes = b"", element: int = FLOAT) -> Any:
        return TensorProto(name=name, dims=dims, data_type=element, raw_data=raw)

    def bytes_of(found: Any) -> bytes:
        return bytes(found.SerializeToString(deterministic=True))

    relu = model([node("Relu", ["x"], ["y"])])
    whole = bytes_of(relu)
    yield "empty.onnx", b""
    yield "cut_off.onnx", whole[: len(whole) // 2]
    yield "cut_one.onnx", whole[:-1]
    yield "text.onnx", b"this is no model\n" * 10
    yield "zeros.onnx", bytes(3000)
    yield "ones.onnx", b"\xff" * 3000
    yield "length_lies.onnx", b"\x3a\xff\xff\xff\xff\x0f" + whole
    yield "groups.onnx", b"\x0b" * 5000
    yield "nested_graphs.onnx", _nested(400)
    for name, dims, raw in (
        ("negative", [-1, 3], bytes(12)), ("huge", [2**62, 2**62], bytes(8)), ("short", [2, 3], bytes(5)),
        ("long", [2, 3], bytes(400)), ("overflow", [2**32, 2**32], b""), ("none", [1000000, 1000000], b""),
        ("rank", [1] * 3000, bytes(4)),
    ):
        yield (
            f"raw_{name}.onnx",
            bytes_of(model([node("Add", ["x", "w"], ["y"])], weights=[tensor("w", dims, raw)])),
        )
    yield (
        "element_unknown.onnx",
        bytes_of(model([node("Add", ["x", "w"], ["y"])], weights=[tensor("w", [2], bytes(8), 999)])),
    )
    for name, location in {
        "itself": "external_itself.onnx",
        "absolute": "/etc/passwd",
        "outside": "../../../../etc/passwd",
        "device": "/dev/zero",
        "missing": "none.bin",
        "empty": "",
        "nul": "a\0b",
        "folder": ".",
        "url": "file:///etc/passwd",
        "long": "x" * 5000,
    }.items():
        weight = tensor("w", [2, 3])
        weight.data_location = TensorProto.EXTERNAL
        for key, text in (("location", location), ("offset", "-5"), ("length", "99999999999999999999")):
            weight.external_data.add(key=key, value=text)
        yield f"external_{name}.onnx", bytes_of(model([node("Add", ["x", "w"], ["y"])], weights=[weight]))
    weight = tensor("w", [2**40])
    weight.data_location = TensorProto.EXTERNAL
    weight.external_data.add(key="location", value="external_sparse.onnx")
    yield "external_sparse.onnx", bytes_of(model([node("Add", ["x", "w"], ["y"])], weights=[weight]))
    yield "circle.onnx", bytes_of(model([node("Relu", ["y"], ["z"]), node("Relu", ["z"], ["y"])]))
    yield "itself.onnx", bytes_of(model([node("Relu", ["y"], ["y"])]))
    yield "backwards.onnx", bytes_of(model([node("Relu", ["z"], ["y"]), node("Relu", ["x"], ["z"])]))
    yield "twice.onnx", bytes_of(model([node("Relu", ["x"], ["y"]), node("Neg", ["x"], ["y"])]))
    yield "undefined.onnx", bytes_of(model([node("Relu", ["nothing"], ["y"])]))
    yield "no_opset.onnx", bytes_of(model([node("Relu", ["x"], ["y"])], opsets=[]))
    yield (
        "opset_huge.onnx",
        bytes_of(model([node("Relu", ["x"], ["y"])], opsets=[helper.make_opsetid("", 2**62)])),
    )
    yield (
        "opset_negative.onnx",
        bytes_of(model(
            [node("Relu", ["x"], ["y"])], opsets=[helper.make_opsetid("", -3), helper.make_opsetid("", 17)],
        )),
    )
    yield "opset_old.onnx", bytes_of(model([node("Relu", ["x"], ["y"])], opsets=[helper.make_opsetid("", 1)]))
    yield "no_graph.onnx", bytes_of(onnx.ModelProto(ir_version=8))
    yield (
        "ir_huge.onnx",
        bytes_of(onnx.ModelProto(ir_version=2**62, graph=relu.graph, opset_import=relu.opset_import)),
    )
    yield "vector_huge.onnx", bytes_of(model([node("Relu", ["x"], ["y"])], inputs=[info("x", (10**8,))]))
    yield (
        "vector_int_huge.onnx",
        bytes_of(model(
            [node("Reshape", ["x", "s"], ["y"])], inputs=[info("x"), info("s", (10**8,), TensorProto.INT64)],
        )),
    )
    yield "shape_negative.onnx", bytes_of(model([node("Relu", ["x"], ["y"])], inputs=[info("x", (-5, 3))]))
    yield (
        "shape_huge.onnx",
        bytes_of(model([node("Relu", ["x"], ["y"])], inputs=[info("x", (2**62, 2**62, 2**62))])),
    )
    yield "rank_huge.onnx", bytes_of(model([node("Relu", ["x"], ["y"])], inputs=[info("x", (1,) * 3000)]))
    big = helper.make_tensor("s", TensorProto.INT64, [2], [100000, 100000])
    yield (
        "fill_huge.onnx",
        bytes_of(
            model([node("ConstantOfShape", ["s"], ["f"]), node("Add", ["x", "f"], ["y"])], weights=[big])
        ),
    )
    yield (
        "expand_huge.onnx",
        bytes_of(model(
            [node("Expand", ["x", "s"], ["e"]), node("Neg", ["e"], ["y"])], weights=[big],
            inputs=[info("x", (1, 1))],
        )),
    )
    limits = [
        helper.make_tensor(n, TensorProto.INT64, [], [v]) for n, v in (("a", 0), ("b", 10**15), ("d", 1))
    ]
    yield "range_huge.onnx", bytes_of(model([node("Range", ["a", "b", "d"], ["y"])], weights=limits))
    yield "range_step_zero.onnx", bytes_of(model([node("Range", ["a", "b", "a"], ["y"])], weights=limits))
    tiles = helper.make_tensor("t", TensorProto.INT64, [2], [10**6, 10**6])
    weight = helper.make_tensor("w", FLOAT, [1, 1], [1.0])
    yield (
        "tile_huge.onnx",
        bytes_of(
            model([node("Tile", ["w", "t"], ["e"]), node("Add", ["x", "e"], ["y"])], weights=[tiles, weight])
        ),
    )
    square = helper.make_tensor("w", FLOAT, [60, 60], [0.5] * 3600)
    yield (
        "fold_work.onnx",
        bytes_of(model(
            [
                node("MatMul", ["w", "w"], ["m0"]),
                *(node("MatMul", [f"m{k}", "w"], [f"m{k + 1}"]) for k in range(200)),
                node("Identity", ["m200"], ["y"]),
            ],
            weights=[square],
        )),
    )
    yield (
        "fold_convolution.onnx",
        bytes_of(model(
            [
                node("ConstantOfShape", ["s"], ["a"]), node("ConstantOfShape", ["k"], ["b"]),
                node("Conv", ["a", "b"], ["c"]), node("ReduceSum", ["c"], ["y"]),
            ],
            weights=[
                helper.make_tensor("s", TensorProto.INT64, [4], [1, 64, 500, 500]),
                helper.make_tensor("k", TensorProto.INT64, [4], [512, 64, 100, 100]),
            ],
        )),
    )
    inner = [helper.make_function(
        "local", "f0", ["x"], ["y"], [node("Relu", ["x"], ["y"])], [helper.make_opsetid("", 17)]
    )]
    for k in range(1, 40):
        body = [
            node(f"f{k - 1}", ["x"], ["a"], domain="local"), node(f"f{k - 1}", ["a"], ["b"], domain="local"),
            node("Add", ["a", "b"], ["y"]),
        ]
        inner.append(helper.make_function(
            "local", f"f{k}", ["x"], ["y"], body,
            [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)],
        ))
    yield (
        "functions_double.onnx",
        bytes_of(model([node("f39", ["x"], ["y"], domain="local")], functions=inner)),
    )
    itself = helper.make_function(
        "local", "f", ["x"], ["y"], [node("f", ["x"], ["y"], domain="local")],
        [helper.make_opsetid("local", 1)],
    )
    yield (
        "function_itself.onnx",
        bytes_of(model([node("f", ["x"], ["y"], domain="local")], functions=[itself])),
    )
    yield (
        "functions_same.onnx",
        bytes_of(model([node("f", ["x"], ["y"], domain="local")], functions=[itself, itself])),
    )
    then = helper.make_graph([node("Relu", ["x"], ["t"])], "then", [], [info("t")])
    other = helper.make_graph([node("Neg", ["x"], ["t"])], "else", [], [info("t")])
    branches = [node("If", ["c"], [f"i{k}"], then_branch=then, else_branch=other) for k in range(300)]
    yield (
        "ifs.onnx",
        bytes_of(model(
            [*branches, node("Sum", [f"i{k}" for k in range(300)], ["y"])],
            inputs=[info("x"), info("c", (), TensorProto.BOOL)],
        )),
    )
    nest = then
    for k in range(25):
        nest = helper.make_graph(
            [node("If", ["c"], [f"t{k}"], then_branch=nest, else_branch=other)], "n", [], [info(f"t{k}")]
        )
    yield (
        "ifs_nested.onnx",
        bytes_of(model(
            [node("If", ["c"], ["y"], then_branch=nest, else_branch=other)],
            inputs=[info("x"), info("c", (), TensorProto.BOOL)],
        )),
    )
    loop = helper.make_graph(
        [node("Identity", ["k"], ["more"]), node("Relu", ["v"], ["w"])], "body",
        [info("i", (), 7), info("k", (), 9), info("v")], [info("more", (), 9), info("w")],
    )
    trip = helper.make_tensor("trip", TensorProto.INT64, [], [2**62])
    yield (
        "loop_forever.onnx",
        bytes_of(model([node("Loop", ["trip", "", "x"], ["y"], body=loop)], weights=[trip])),
    )
    sparse = helper.make_sparse_tensor(
        helper.make_tensor("v", FLOAT, [1], [1.0]), helper.make_tensor("i", TensorProto.INT64, [1], [2**60]),
        [2**61],
    )
    yield "sparse_huge.onnx", bytes_of(model([node("Constant", [], ["y"], sparse_value=sparse)]))
    yield "attribute_twice.onnx", bytes_of(model([helper.make_node("Transpose", ["x"], ["y"], perm=[0, 0])]))
    odd = node("Transpose", ["x"], ["y"], perm=[1, 0])
    odd.attribute.append(odd.attribute[0])
    yield "attribute_same.onnx", bytes_of(model([odd]))
    yield "perm_huge.onnx", bytes_of(model([node("Transpose", ["x"], ["y"], perm=[2**62, -(2**62)])]))
    yield "split_huge.onnx", bytes_of(model([node("Split", ["x"], ["y", *[f"o{k}" for k in range(2000)]])]))
    yield (
        "nodes.onnx",
        bytes_of(model([
            *(node("Relu", [f"n{k - 1}" if k else "x"], [f"n{k}"]) for k in range(1500)),
            node("Neg", ["n1499"], ["y"]),
        ])),
    )
    yield (
        "names_odd.onnx",
        bytes_of(model([node("Relu", ["x"], ["a/b\n\0\x7fé"]), node("Neg", ["a/b\n\0\x7fé"], ["y"])])),
    )
    weird = onnx.ModelProto.FromString(whole)
    weird.graph.node[0].op_type = "../../Relu"
    yield "operator_odd.onnx", bytes_of(weird)
    weird = onnx.ModelProto.FromString(whole)
    weird.graph.node[0].domain = "x" * 5000
    yield "domain_long.onnx", bytes_of(weird)
    nan = helper.make_tensor("w", FLOAT, [3], [float("nan"), float("inf"), float("-inf")])
    yield "nan.onnx", bytes_of(model([node("Mul", ["x", "w"], ["y"])], weights=[nan]))
    pads = helper.make_tensor("p", TensorProto.INT64, [4], [2**40, 2**40, 0, 0])
    yield (
        "pad_huge.onnx",
        bytes_of(
            model([node("Pad", ["w", "p"], ["e"]), node("Add", ["x", "e"], ["y"])], weights=[weight, pads])
        ),
    )
    yield (
        "one_hot_huge.onnx",
        bytes_of(model(
            [node("OneHot", ["a", "b", "v"], ["e"]), node("ReduceSum", ["e"], ["y"])],
            weights=[*limits, helper.make_tensor("v", FLOAT, [2], [0.0, 1.0])],
        )),
    )


def _nested(levels: int) -> bytes:
    """A model of graphs inside one another, deeper than protobuf reads: length after length, from the inside.
    """
    data = b""
    for _ in range(levels):  # GraphProto.node, NodeProto.attribute, AttributeProto.g
        for tag in (b"\x32", b"\x2a", b"\x0a"):
            data = tag + _varint(len(data)) + data
    return b"\x08\x08\x3a" + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


# ── weights, traces, configuration, cache ───────────────────────────────────────────────────────────────────


def _zip(entries: dict[str, bytes], kind: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", kind) as file:
        for name, data in entries.items():
            file.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), data, kind)
    return stream.getvalue()


def _npy(header: str, data: bytes = b"", version: int = 1) -> bytes:
    text = header.encode("latin-1") + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H", len(text) & 0xFFFF) + text + data


def _safetensors(header: Any, data: bytes = b"", length: int | None = None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def _weights() -> Iterator[tuple[str, bytes]]:
    good = _npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", bytes(8))
    pickled = b"\x80\x04cos\nsystem\n(S'touch /tmp/gslang-was-here'\ntR."
    yield "fine.npz", _zip({"x.npy": good, "w.npy": good})
    yield "empty.npz", b""
    yield "text.npz", b"no zip"
    yield "cut_off.npz", _zip({"x.npy": good})[:-30]
    yield (
        "pickled.npz",
        _zip({"x.npy": _npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", pickled)}),
    )
    yield "pickle_alone.npz", pickled
    yield (
        "bomb.npz",
        _zip({"x.npy": _npy(
            "{'descr': '<f4', 'fortran_order': False, 'shape': (5000000,), }", bytes(20_000_000)
        )}),
    )
    yield (
        "shape_huge.npz",
        _zip(
            {"x.npy": _npy("{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 9), }")}
        ),
    )
    yield (
        "shape_negative.npz",
        _zip({"x.npy": _npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", bytes(8))}),
    )
    yield (
        "shape_lies.npz",
        _zip({"x.npy": _npy("{'descr': '<f4', 'fortran_order': False, 'shape': (100000000,), }", bytes(8))}),
    )
    yield "header_code.npz", _zip({"x.npy": _npy("__import__('os').system('true')", bytes(8))})
    yield "header_deep.npz", _zip({"x.npy": _npy("(" * 9000 + ")" * 9000, bytes(8))})
    yield "version.npz", _zip({"x.npy": _npy("{}", version=9)})
    yield (
        "text_dtype.npz",
        _zip({"x.npy": _npy("{'descr': '<U1000000000', 'fortran_order': False, 'shape': (1,), }", bytes(8))}),
    )
    yield (
        "record.npz",
        _zip({"x.npy": _npy(
            "{'descr': [('a', '<f4'), ('b', '|O')], 'fortran_order': False, 'shape': (1,), }", bytes(12),
        )}),
    )
    yield "outside.npz", _zip({"../../x.npy": good, "/etc/x.npy": good})
    yield "names.npz", _zip({f"x{k}.npy": good for k in range(300)}, zipfile.ZIP_STORED)

    entry = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
    yield (
        "fine.safetensors",
        _safetensors({"x": entry, "w": {"dtype": "I64", "shape": [], "data_offsets": [8, 16]}}, bytes(16)),
    )
    yield "empty.safetensors", b""
    yield "header_huge.safetensors", _safetensors({"x": entry}, bytes(8), 2**63)
    yield "header_lies.safetensors", _safetensors({"x": entry}, bytes(8), 10**9)
    yield "header_short.safetensors", _safetensors({"x": entry}, bytes(8), 3)
    yield "header_deep.safetensors", _safetensors(b'{"a":' * 20000 + b"1" + b"}" * 20000)
    yield "header_list.safetensors", _safetensors([1, 2])
    for name, change in {
        "offsets_outside": {"data_offsets": [0, 10**12]},
        "offsets_negative": {"data_offsets": [-8, 0]},
        "offsets_backwards": {"data_offsets": [8, 0]},
        "offsets_three": {"data_offsets": [0, 4, 8]},
        "shape_huge": {"shape": [2**62, 2**62]},
        "shape_negative": {"shape": [-2]},
        "dtype": {"dtype": "PICKLE"},
        "dtype_number": {"dtype": 4},
        "shape_text": {"shape": "22"},
    }.items():
        yield f"{name}.safetensors", _safetensors({"x": {**entry, **change}}, bytes(8))


def _traces() -> Iterator[tuple[str, str | bytes]]:
    line = APPLICATION
    yield "empty.jsonl", b""
    yield "cut_off.jsonl", json.dumps(line)[:-20]
    yield "no_json.jsonl", "application 1\n"
    yield "deep.jsonl", "[" * 50000 + "\n"
    yield "nan.jsonl", '{"application": NaN}\n'
    yield "nul.jsonl", b"\0" * 1000
    yield "latin1.jsonl", b'{"rule": "\xe9"}\n'
    for name, change in {
        "rule_unknown": {"rule": "nothing"},
        "rule_number": {"rule": 3},
        "ids_unknown": {"outputs": ["q"]},
        "ids_numbers": {"outputs": [1, 2]},
        "outputs_text": {"outputs": "z"},
        "bindings_list": {"bindings": [1]},
        "bindings_unknown": {"bindings": {"a": "q"}},
        "bindings_circle": {"bindings": {"a": "z"}},
        "application_text": {"application": "1"},
        "application_huge": {"application": 10**30},
        "removed_null": {"removed": None},
        "replaced_list": {"replaced": ["z"]},
        "body": {"body": "../../x"},
    }.items():
        yield f"{name}.jsonl", json.dumps({**line, **change}) + "\n"
    yield (
        "steps.jsonl",
        '{"step": "format c:", "after": 0}\n{"step": 3}\n{"step": "fold", "limit": -1, "after": -5}\n',
    )
    yield "many.jsonl", (json.dumps(line) + "\n") * 500


def _config() -> Iterator[tuple[str, str | bytes]]:
    yield "empty.toml", b""
    yield "no_toml.toml", "lint = [[[\n"
    yield "latin1.toml", b'[lint]\nselect = ["\xe9"]\n'
    yield "nul.toml", b"[lint]\0\n"
    yield "deep.toml", "[lint]\nselect = " + "[" * 5000 + "]" * 5000 + "\n"
    yield "deep_table.toml", "[lint" + ".a" * 5000 + "]\n"
    for name, text in {
        "lint_number": "lint = 3",
        "select_number": "[lint]\nselect = 3",
        "select_text": '[lint]\nselect = "L01"',
        "select_unknown": '[lint]\nselect = ["XYZ"]',
        "select_mixed": '[lint]\nselect = [1, "L01", {}]',
        "ignore_table": "[lint.ignore]\na = 1",
        "key_unknown": "[lint]\nnothing = true",
        "date": "[lint]\nselect = 1979-05-27T07:32:00Z",
        "files_pattern": '[lint.per-file-ignores]\n"' + "*" * 3000 + 'a" = ["L01"]',
        "files_number": "[lint.per-file-ignores]\na = 3",
        "exclude_pattern": '[lint]\nexclude = ["' + "**/" * 300 + '["]',
        "digits": "[lint]\nselect = " + "9" * 10000,
        "severity_list": "[lint.severity]\nL01 = []",
        "severity_table": "[lint.severity]\nL01 = {a = 1}",
        "severity_number": "[lint]\nseverity = 3",
        "model": "[model]\npath = 3",
    }.items():
        yield f"{name}.toml", text + "\n"


def _tables() -> Iterator[tuple[str, str | bytes]]:
    """E-graphs, TASO's substitutions, cost tables: the first part of a name tells which."""
    entry = {"op": "f", "children": [], "eclass": "a", "cost": 1}
    for name, nodes, roots in (
        ("circle", {"n": {**entry, "children": ["n"]}}, ["a"]),
        ("missing", {"n": {**entry, "children": ["m"]}}, ["a"]), ("root", {"n": entry}, ["b"]),
        ("none", {}, []), ("list", [], ["a"]), ("cost_text", {"n": {**entry, "cost": "1"}}, ["a"]),
        ("cost_huge", {"n": {**entry, "cost": 10**400}}, ["a"]),
        ("cost_negative", {"n": {**entry, "cost": -1}}, ["a"]),
        ("children_text", {"n": {**entry, "children": "n"}}, ["a"]),
        (
            "chain",
            {
                f"n{k}": {**entry, "eclass": f"c{k}", "children": [f"n{k - 1}"] if k else []}
                for k in range(3000)
            },
            ["c2999"],
        ),
        (
            "doubling",
            {
                f"n{k}": {**entry, "eclass": f"c{k}", "children": [f"n{k - 1}"] * 2 if k else []}
                for k in range(1000)
            },
            ["c999"],
        ),
        (
            "ring",
            {
                f"n{k}": {
                    **entry,
                    "eclass": f"c{k % 50}",
                    "children": [f"n{(k * 7 + 1) % 400}", f"n{(k * 13 + 5) % 400}"],
                }
                for k in range(400)
            },
            ["c0"],
        ),
    ):
        yield f"egraph_{name}.json", json.dumps({"nodes": nodes, "root_eclasses": roots})
    for part in ("egraph", "taso", "costs"):
        suffix = "tsv" if part == "costs" else "json"
        yield f"{part}_empty.{suffix}", b""
        yield f"{part}_deep.{suffix}", "[" * 50000 + "]" * 50000
        yield f"{part}_latin1.{suffix}", b'{"nodes": "\xe9"}'
        yield f"{part}_nan.{suffix}", '{"nodes": NaN, "cost": Infinity}'
        yield f"{part}_nul.{suffix}", b"\0" * 500
    relu = {"type": "OP_RELU", "inputs": [{"opId": -1, "tsId": 0}], "params": []}
    rule = {
        "index": 0,
        "srcOp": [relu],
        "dstOp": [relu],
        "mappedOutputs": [{"srcOpId": 0, "dstOpId": 0, "srcTsId": 0, "dstTsId": 0}],
    }
    for name, change in {
        "same": {},
        "index_text": {"index": "x"},
        "index_huge": {"index": 10**30},
        "operator": {"srcOp": [{**relu, "type": "OP_../x"}]},
        "no_output": {"mappedOutputs": []},
        "circle": {"srcOp": [{**relu, "inputs": [{"opId": 0, "tsId": 0}]}]},
        "output_far": {"mappedOutputs": [{"srcOpId": 99, "dstOpId": 0, "srcTsId": 0, "dstTsId": 0}]},
        "null": {"srcOp": None},
        "long": {"srcOp": [relu, *({**relu, "inputs": [{"opId": k, "tsId": 0}]} for k in range(300))]},
    }.items():
        yield f"taso_{name}.json", json.dumps([{**rule, **change}])
    yield "taso_twice.json", json.dumps([rule, rule])
    head = "op\tinput_shapes\tattrs\tcost\n"
    for name, text in {
        "nan": head + "nn.relu\t2x3\t\tnan\n",
        "negative": head + "nn.relu\t2x3\t\t-1\n",
        "short": head + "nn.relu\n",
        "header": "a\tb\n",
        "twice": head + "a\t\t\t1\na\t\t\t2\n",
    }.items():
        yield f"costs_{name}.tsv", text


def _cache() -> Iterator[tuple[str, str | bytes]]:
    yield "empty.bin", b""
    yield "pickle.bin", b"\x80\x04cos\nsystem\n(S'touch /tmp/gslang-was-here'\ntR."
    yield "marshal.bin", b"\xe3" + bytes(200)
    yield "json.bin", b"{}"
    yield "deep.bin", b"[" * 50000
    yield "kinds.bin", b'{"kinds": ["os:system"], "scalars": ["true"], "objects": [[0, 0]], "root": 1}'
    yield "random.bin", bytes((k * 7919 + 13) % 256 for k in range(4000))
