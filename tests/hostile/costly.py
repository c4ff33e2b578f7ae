"""Rules that are costly to judge: sources of huge sizes, conditions that take long each time, many rules for
which nothing is found; and graphs that few readers have in mind: tuples thousands deep, text that is not
UTF-8, external data without a length.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

RELAY = "dialect relay;\n"
ONNX = "dialect onnx;\n"
_SIZED = {
    "pad": "nn.pad(a, pad_width = ((1000000, 1000000), (1000000, 1000000)))",
    "tile": "tile(a, reps = (100000, 100000))",
    "full": "full(a, shape = (100000, 100000))",
    "upsampling": "nn.upsampling(a, scale_h = 100000.0, scale_w = 100000.0)",
    "resize": "image.resize2d(a, size = (100000, 100000))",
    "pool": "nn.avg_pool2d(a, pool_size = (30000, 30000), padding = (9999, 9999), count_include_pad = true)",
    "stack": "stack((" + "a, " * 3000 + "), axis = 0)",
    "split": "split(a, indices_or_sections = 100000, axis = 0).7",
    "top": "topk(a, k = 1000000000)",
    "take": "take(a, const(value = 999999999), axis = 0)",
    "block": "nn.depth_to_space(a, block_size = 100000)",
}
_ONNX = {
    "conv": "Conv(a, b, strides = [1000000, 1000000], pads = [1000000, 1000000, 1000000, 1000000])",
    "expand": "Expand(a, [100000, 100000, 100])",
    "resize": 'Resize(a, [], [100000.0, 100000.0], mode = "cubic")',
    "lstm": "LSTM(a, b, a, hidden_size = 1000000).0",
    "einsum": 'Einsum(a, b, equation = "abcdefghijklmnopqrstuvwxyz,ABCDEFGHIJKLMNOPQRSTUVWXYZ->aA")',
    "fourier": "DFT(a, 100000000) + b",
    "window": "HannWindow(1000000000) + a + b",
    "pattern": 'RegexFullMatch(a, pattern = "(x+x+)+y") + b',
    "body": "If(a, b, then_branch = " + "Relu(" * 100 + "b" + ")" * 100 + ", else_branch = b).0",
    "boxes": "NonMaxSuppression(a, b, 1000000000, 0.0, 0.0)",
    "groups": "Attention(a, b, a, q_num_heads = 100000, kv_num_heads = 1).0",
    "norm": "LRN(a + b, size = 1000000001)",
}
_CONDITIONS = {
    "squares": "sum([sum([i * j % 7 for i in 0..450]) for j in 0..450]) > 3",
    "texts": 'len([i for i in 0..3000 if ("ab" * i) + "c" == ("ab" * i) + "d"]) > 3 or a.ndim > 0',
    "remainders": "sum([(3 ** 2000 + i) % (2 ** 3000 + i) for i in 0..100000]) > 3",
    "several": ", ".join(f"sum([i % {k + 2} for i in 0..100000]) > 3" for k in range(40)),
    "decisions": "all([i > -1 and (i != 7 or i == 7 or i % 3 == 1) for i in 0..50000])",
    "decisions_within": "all([all([i > -1 or j > i for j in 0..400]) for i in 0..400])",
    "lists": "len([i for i in 0..200000 if 1000000 in range(1000000 - i % 2)]) > 3",
    "slices": "len([i for i in 0..200000 if len(range(1000000)[i:]) == 7]) > 3",
    "prime": "prod(a.shape) == 1000000007",
    "rank": "a.ndim == 64",
    "sets": "a.ndim in (" + ", ".join(str(k + 100) for k in range(1500)) + ")",
}


def costly_rules() -> Iterator[tuple[str, str]]:
    """Names of files and texts."""
    for name, source in _SIZED.items():
        yield f"costly_{name}.gsl", f"{RELAY}rule r(a): nn.relu({source}) => tanh({source});\n"
    for name, source in _ONNX.items():
        yield f"costly_onnx_{name}.gsl", f"{ONNX}rule r(a, b): Relu({source}) => Tanh(a);\n"
    for name, condition in _CONDITIONS.items():
        yield f"costly_if_{name}.gsl", f"{RELAY}rule r(a): nn.relu(a) where {condition} => tanh(a);\n"
    for name, text, count in (
        ("unmet", "nn.relu(a) where a.shape[0] == a.shape[1] * {} + 7919, a.shape[1] > 3", 60),
        ("impossible", "nn.relu(a) where len([i for i in a.shape if i > {} + 10 ** 9]) > 3", 60),
        ("transposed", "transpose(transpose(a, axes = (0, {0})), axes = ({0}, 0)) where {0} > 1", 100),
    ):
        rules = (f"rule r{k}(a): {text.format(k)} => a;\n" for k in range(count))
        yield f"costly_many_{name}.gsl", RELAY + "".join(rules)
    products = (
        f'rule r{k}(a, b, c): Einsum(Einsum(a, b, equation = "ij,jk->ik"), c, equation = "ik,kl->il") '
        f'where a.shape[0] == {k} => Einsum(a, b, equation = "ij,jk->ik");\n'
        for k in range(30)
    )
    yield "costly_many_products.gsl", ONNX + "".join(products)
    unknown = ", ".join(f"n{k}" for k in range(9000))
    yield "costly_family_unknown.gsl", f"{RELAY}rule r(a) for f in {unknown}: nn.relu(f(a)) => a;\n"
    products = (f"rule r{k}(a): nn.relu(a * {k}.5) => a;\n" for k in range(300))
    yield "costly_many_different.gsl", RELAY + "".join(products)
    levels = "".join(f"v{k + 1} = nn.relu(v{k}); " for k in range(1500))
    yield "costly_deep.gsl", f"{RELAY}rule r(v0) {{ {levels} v1500 => nn.relu(v0) }}\n"
    users = ", ".join(["users(y) == 1"] * 500)
    yield "costly_users.gsl", f"{RELAY}rule r(a): (y := nn.relu(a)) where {users} => tanh(a);\n"


def costly_json() -> Iterator[tuple[str, str]]:
    """Names of files and texts."""

    def graph(*nodes: dict[str, Any], output: str) -> str:
        first = {"id": "x", "kind": "input", "shape": [2, 3], "dtype": "float32"}
        document = {"format": "gsl-graph", "version": 1, "dialect": "relay", "nodes": [first, *nodes]}
        return json.dumps({**document, "outputs": [output]})

    tuples = [{"id": f"t{k}", "kind": "tuple", "inputs": [f"t{k - 1}" if k else "x"]} for k in range(3000)]
    parts = [
        {"id": f"p{k}", "kind": "proj", "inputs": [f"p{k - 1}" if k else "t2999"], "index": 0}
        for k in range(3000)
    ]
    yield "costly_tuples.json", graph(*tuples, *parts, output="p2999")
    relus = ({"id": f"v{k}", "kind": "call", "op": "nn.relu", "inputs": ["x"]} for k in range(5000))
    yield "costly_fan.json", graph(*relus, output="v1")
    chain = (
        {"id": f"v{k}", "kind": "call", "op": "nn.relu", "inputs": [f"v{k - 1}" if k else "x"]}
        for k in range(1500)
    )
    yield "costly_chain.json", graph(*chain, output="v1499")


def costly_relay() -> Iterator[tuple[str, str]]:
    """Names of files and texts."""
    head = '#[version = "0.0.5"]\ndef @main(%x: Tensor[(2, 3), float32]) {\n'
    yield "costly_attribute.relay", f"{head}  reshape(%x, newshape=[{', '.join(['1'] * 50000)}])\n}}\n"
    yield "costly_circle.relay", f"{head}  let %a = nn.relu(%b);\n  let %b = nn.relu(%a);\n  %b\n}}\n"
    yield "costly_values.relay", head + "let %a = " * 800 + "%x" + "; %a" * 800 + "\n}\n"


def costly_onnx() -> Iterator[tuple[str, bytes]]:
    """Names of files and models."""
    from onnx import TensorProto, helper

    x, y = (helper.make_tensor_value_info(name, 1, [2, 3]) for name in "xy")
    text = helper.make_node("Relu", ["x"], ["y"])
    text.attribute.append(helper.make_attribute("s", b"\xff" * 1000))
    texts = helper.make_node("Constant", [], ["y"], value_strings=[b"\xff"] * 100)
    add = helper.make_node("Add", ["x", "w"], ["y"])
    for name, node, places in (
        ("text", text, ()), ("texts", texts, ()),
        ("no_length", add, (("offset", "0"),)),
        ("length_huge", add, (("offset", str(2**41)), ("length", str(2**41)))),
        ("offset_far", add, (("offset", str(2**31 + 5)), ("length", "24"))),
    ):
        model = helper.make_model(
            helper.make_graph([node], "g", [x], [y]), opset_imports=[helper.make_opsetid("", 18)]
        )
        if places:
            weight = TensorProto(name="w", data_type=1, dims=[2, 3], data_location=TensorProto.EXTERNAL)
            for key, value in (("location", "external_sparse.onnx.data"), *places):
                weight.external_data.add(key=key, value=value)
            model.graph.initializer.append(weight)
        yield f"costly_{name}.onnx", model.SerializeToString(deterministic=True)
