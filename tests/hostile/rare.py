"""Files with what formats allow and few writers use: nested graphs that share names, functions of one name in
two domains, sparse and quoted tensors, training, annotations, element types of less than a byte, optionals,
data of one tensor in another's place; names in all alphabets; keys that are there twice.
"""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Iterator, Sequence
from typing import Any

LETTERS = "Größe_函数_مرحبا_🦊_e\u0301_ﬁ_\u202e_\u00a0"


def rare_onnx() -> Iterator[tuple[str, bytes]]:
    """Names of files and models."""
    for part in (_shared_names(), _functions(), _tensors(), _around(), _types(), _many()):
        for name, model in part:
            yield f"rare_{name}.onnx", bytes(model.SerializeToString(deterministic=True))


def _node(
    op: str, inputs: Sequence[str], outputs: Sequence[str] = ("y",), domain: str = "", **attrs: Any
) -> Any:  # fmt: skip
    from onnx import helper

    return helper.make_node(op, list(inputs), list(outputs), domain=domain, **attrs)


def _info(name: str, shape: Any = (2, 3), element: int = 1) -> Any:
    from onnx import helper

    return helper.make_tensor_value_info(name, element, shape)


def _graph(
    nodes: Sequence[Any], inputs: Sequence[Any], outputs: Sequence[Any], weights: Sequence[Any] = ()
) -> Any:  # fmt: skip
    from onnx import helper

    return helper.make_graph(list(nodes), "g", list(inputs), list(outputs), list(weights))


def _model(
    nodes: Sequence[Any],
    weights: Sequence[Any] = (),
    functions: Sequence[Any] = (),
    inputs: Sequence[Any] = (),
    outputs: Sequence[Any] = (),
) -> Any:
    from onnx import helper

    graph = _graph(nodes, inputs or [_info("x")], outputs or [_info("y", None)], weights)
    opsets = [helper.make_opsetid(*one) for one in (("", 23), ("a", 1), ("b", 1), ("ai.onnx.ml", 5))]
    return helper.make_model(graph, opset_imports=opsets, functions=list(functions), ir_version=11)


def _function(domain: str, name: str, nodes: Sequence[Any], attributes: Sequence[str] = ()) -> Any:
    from onnx import helper

    opsets = [helper.make_opsetid(*one) for one in (("", 23), ("a", 1), ("b", 1))]
    return helper.make_function(domain, name, ["x"], ["y"], list(nodes), opsets, list(attributes))


def _if(then: Any, other: Any, outputs: Sequence[str] = ("y",)) -> list[Any]:
    from onnx import helper

    condition = helper.make_tensor("c", 9, [], [True])
    return [
        _node("Constant", [], ["c"], value=condition),
        _node("If", ["c"], outputs, then_branch=then, else_branch=other),
    ]


def _shared_names() -> Iterator[tuple[str, Any]]:
    out = [_info("y", None)]
    shadow = _graph([_node("Neg", ["x"], ["x"]), _node("Relu", ["x"])], [], out)
    yield "body_shadows", _model(_if(shadow, shadow, ["z"]) + [_node("Relu", ["z"])])
    twice = _graph([_node("Relu", ["x"], ["t"]), _node("Relu", ["t"])], [], out)
    yield "bodies_alike", _model(_if(twice, twice, ["z"]) + [_node("Relu", ["z"])])
    yield "body_output_is_outer", _model(_if(_graph([], [], [_info("x", None)]), twice))
    yield "body_without_outputs", _model(_if(_graph([], [], []), _graph([], [], [])))
    inner = twice
    for _ in range(28):  # protobuf has a limit
        inner = _graph(_if(inner, twice), [], out)
    yield "bodies_deep", _model(_if(inner, inner))
    reads = _graph([_node("Add", ["x", "later"])], [], out)
    last = [_node("Relu", ["z"], ["later"]), _node("Relu", ["z"])]
    yield "body_reads_later", _model([*_if(reads, reads, ["z"]), *last])
    body = _graph(
        [_node("Identity", ["k"], ["k2"]), _node("Relu", ["x"])],
        [_info("i", [], 7), _info("k", [], 9)], [_info("k2", [], 9), _info("y", None)],
    )  # fmt: skip
    yield "loop_without_ends", _model([_node("Loop", ["", ""], ["y"], body=body)])


def _functions() -> Iterator[tuple[str, Any]]:
    from onnx import AttributeProto, helper

    relu, neg = _node("Relu", ["x"]), _node("Neg", ["x"])
    calls = [_node("F", ["x"], ["u"], "a"), _node("F", ["u"], ["y"], "b")]
    namesakes = [_function("a", "F", [relu]), _function("b", "F", [neg])]
    yield "same_name_two_domains", _model(calls, functions=namesakes)
    crossed = [_function(d, "F", [_node("F", ["x"], domain=other)]) for d, other in ("ab", "ba")]
    yield "two_domains_circle", _model(calls, functions=crossed)
    of_ai = _function("ai.onnx", "Relu", [_node("Relu", ["x"], domain="ai.onnx")])
    yield "function_is_relu_itself", _model([_node("Relu", ["x"], domain="ai.onnx")], functions=[of_ai])
    branch = _graph([_node("F", ["x"], domain="a")], [], [_info("y", None)])
    first = [calls[0], _node("Neg", ["u"])]
    yield "body_in_function", _model(first, functions=[_function("a", "F", _if(branch, branch))])
    given = _node("If", ["c"])
    for name in ("then_branch", "else_branch"):
        given.attribute.append(AttributeProto(name=name, type=AttributeProto.GRAPH, ref_attr_name="body"))
    condition = _node("Constant", [], ["c"], value=helper.make_tensor("c", 9, [], [1]))
    made = _function("a", "F", [condition, given], ["body"])
    call = _node("F", ["x"], domain="a", body=_graph([neg], [], [_info("y", None)]))
    yield "function_given_a_graph", _model([call], functions=[made])
    yield "function_without_its_graph", _model(first, functions=[made])
    for name, change in (("input_twice", "input"), ("output_twice", "output")):
        odd = _function("a", "F", [relu])
        getattr(odd, change).append(getattr(odd, change)[0])
        yield f"function_{name}", _model(first, functions=[odd])
    typed = _function("a", "F", [relu])
    typed.value_info.add(name="y").type.tensor_type.elem_type = 8
    yield "function_with_a_false_type", _model(first, functions=[typed])
    overloads = [_function("a", "F", [one]) for one in (relu, neg)]
    for k, one in enumerate(overloads):
        one.overload = f"o{k}"
    calls = [_node("F", ["x"], ["u"], "a"), _node("F", ["u"], ["y"], "a")]
    for k, one in enumerate(calls):
        one.overload = f"o{k}"
    yield "overloads", _model(calls, functions=overloads)
    calls[1].overload = "other"
    yield "overload_unknown", _model(calls, functions=overloads)


def _tensors() -> Iterator[tuple[str, Any]]:
    from onnx import TensorProto, helper

    add = [_node("Cast", ["w"], ["v"], to=1), _node("Add", ["x", "v"])]
    for element in (16, 17, 18, 19, 20, 21, 22, 23, 24, 4, 12, 13, 14, 15, 99):
        for size in (1, 4096):
            tensor = TensorProto(name="w", data_type=element, dims=[2, 3], raw_data=b"\xa5" * size)
            yield f"element_{element}_of_{size}", _model(add, [tensor])
    for field in ("int32_data", "int64_data", "float_data", "double_data", "uint64_data"):
        tensor = TensorProto(name="w", data_type=22, dims=[3])
        getattr(tensor, field).extend([200, 300, 7])
        yield f"int4_in_{field}", _model(add, [tensor])
    huge = TensorProto(name="w", data_type=TensorProto.INT4, dims=[2**31, 2**31], raw_data=b"")
    yield "int4_huge", _model(add, [huge])
    texts = helper.make_tensor("w", 8, [3], ["a", "\0b", LETTERS])
    yield "texts", _model([_node("StringConcat", ["w", "w"])], [texts])
    texts = TensorProto(name="w", data_type=8, dims=[3], raw_data=b"abc")
    yield "texts_raw", _model([_node("StringConcat", ["w", "w"])], [texts])
    segment = TensorProto(name="w", data_type=1, dims=[2, 3], raw_data=bytes(24))
    segment.segment.begin, segment.segment.end = 5, -(2**62)
    yield "segment", _model([_node("Add", ["x", "w"])], [segment])
    for name, indices, dims in (
        ("far", [2**40, -7], [2, 3]), ("unsorted", [5, 1], [2, 3]), ("twice", [1, 1], [2, 3]),
        ("huge", [1, 5], [2**40, 2**40]), ("rank", [1, 2], []), ("negative", [0, 1], [-2, -3]),
    ):
        sparse = helper.make_sparse_tensor(
            helper.make_tensor("w", 1, [2], [1.0, 2.0]), helper.make_tensor("i", 7, [2], indices), dims
        )
        made = _model([_node("Add", ["x", "w"])])
        made.graph.sparse_initializer.append(sparse)
        yield f"sparse_{name}", made
        constant = _node("Constant", [], ["w"], sparse_value=sparse)
        yield f"sparse_constant_{name}", _model([constant, _node("Add", ["x", "w"])])


def _around() -> Iterator[tuple[str, Any]]:
    """What stands beside the graph."""
    relu = [_node("Relu", ["x"])]
    made = _model(relu)
    training = made.training_info.add()
    training.algorithm.CopyFrom(_graph([_node("Neg", ["x"])], [_info("x")], [_info("y", None)]))
    training.update_binding.add(key="w", value="nothing")
    training.initialization.CopyFrom(_graph([_node("Relu", ["nowhere"])], [], []))
    yield "training", made
    made = _model(relu)
    for name in ("x", "nowhere", ""):
        annotation = made.graph.quantization_annotation.add(tensor_name=name)
        annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="none")
    yield "annotated", made
    for name, key, value in (
        ("long", "k", "v" * 2_000_000), ("of_ours", "gslang.origin", "{" * 5000), ("odd", "", ""),
    ):
        made = _model(relu)
        for holder in (made, made.graph, made.graph.node[0], made.graph.input[0]):
            holder.metadata_props.add(key=key, value=value)
            holder.metadata_props.add(key=key, value=value)
        yield f"metadata_{name}", made
    made = _model(relu)
    for k in range(20_000):
        made.metadata_props.add(key=f"k{k}", value="v")
    yield "metadata_many", made
    made = _model([_node("Relu", ["x"], [LETTERS]), _node("Neg", [LETTERS], ["y"])])
    made.graph.input[0].type.tensor_type.shape.dim[0].dim_param = LETTERS
    yield "letters", made
    made = _model(relu)
    made.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "a*(b+1)//0 if __import__ else ⁵"
    yield "dimension_is_code", made
    made = _model(relu)
    devices = made.configuration.add(name="d", num_devices=-5)
    devices.device.extend(["cpu"] * 3)
    shard = made.graph.node[0].device_configurations.add(configuration_id="other", pipeline_stage=-1)
    shard.sharding_spec.add(tensor_name="nowhere", device=[2**62])
    yield "devices", made
    for name, opsets in {
        "twice": [("", 13), ("", 23)], "future": [("", 10**6)], "ai_too": [("", 9), ("ai.onnx", 21)],
    }.items():  # fmt: skip
        made = _model(relu)
        del made.opset_import[:]
        for domain, version in opsets:
            made.opset_import.add(domain=domain, version=version)
        yield f"opset_{name}", made


def _types() -> Iterator[tuple[str, Any]]:
    from onnx import ValueInfoProto, helper

    tensor = helper.make_tensor_type_proto(1, [2, 3])
    optional, sequence = helper.make_optional_type_proto(tensor), helper.make_sequence_type_proto(tensor)
    deep = tensor
    for k in range(40):
        deep = helper.make_optional_type_proto(deep) if k % 2 else helper.make_sequence_type_proto(deep)
    get = [_node("OptionalGetElement", ["x"])]
    for name, type, nodes in (
        ("optional", optional, get), ("optional_sequence", helper.make_optional_type_proto(sequence), get),
        ("deep", deep, get), ("map", helper.make_map_type_proto(8, tensor), [_node("Identity", ["x"])]),
        ("sparse", helper.make_sparse_tensor_type_proto(1, [2, 3]), [_node("Identity", ["x"])]),
        ("optional_has", optional, [_node("OptionalHasElement", ["x"])]),
        ("sequence_at", sequence, [_node("SequenceLength", ["x"], ["n"]), _node("SequenceAt", ["x", "n"])]),
    ):
        yield f"type_{name}", _model(nodes, inputs=[ValueInfoProto(name="x", type=type)])
    empty = _node("Optional", [], ["o"], type=optional)
    yield "optional_empty", _model([empty, _node("OptionalGetElement", ["o"])])
    yield "type_nothing", _model([_node("Relu", ["x"])], inputs=[ValueInfoProto(name="x")])
    size = _info("x", None)
    size.type.tensor_type.shape.dim.add(dim_value=-(2**63))
    yield "size_least", _model([_node("Relu", ["x"])], inputs=[size])
    yield from _negative_sizes()


def _negative_sizes() -> Iterator[tuple[str, Any]]:
    """Slices of what has sizes below zero: of inputs, constants, attributes, and in bodies."""
    from onnx import TensorProto, helper

    far = [helper.make_tensor(name, 7, [1], [k]) for name, k in
           (("a", -(2**63)), ("b", 2**63 - 1), ("c", 0), ("d", -(2**63)))]
    unknown = TensorProto(name="w", data_type=1, dims=[-1], float_data=[1.0] * 4)
    wide = _info("x", (-1, 3))
    yield "sliced_input", _model([_node("Slice", [*"xabcd"])], far, inputs=[wide])
    yield "sliced_constant", _model([_node("Slice", [*"wabcd"])], [*far, unknown])
    held = _node("Constant", [], ["w"], value=unknown)
    yield "sliced_attribute", _model([held, _node("Slice", [*"wabcd"])], far)
    slices = [_node("Identity", ["x"], ["k"]), _node("Slice", [*"kabcd"], ["z"])]
    within = _graph(slices, [], [_info("z", None)])
    within.value_info.append(_info("k", (-5, 3)))
    chosen = _node("If", ["t"], ["y"], then_branch=within, else_branch=within)
    truth = helper.make_tensor("t", 9, [], [True])
    yield "sliced_in_body", _model([chosen], [*far, truth], inputs=[wide])


def _many() -> Iterator[tuple[str, Any]]:
    """Few kinds of parts, but thousands of them."""
    from onnx import helper

    outputs = [f"y{k}" for k in range(5000)]
    yield "parts", _model(
        [_node("Split", ["x"], outputs, axis=0, num_outputs=5000)], inputs=[_info("x", [5000, 3])],
        outputs=[_info(name, None) for name in outputs],
    )
    recurrent = [_info("x", [100_000, 1, 3]), _info("w", [1, 16, 3]), _info("r", [1, 16, 4])]
    yield "steps", _model([_node("LSTM", ["x", "w", "r"], hidden_size=4)], inputs=recurrent)
    sizes = [_node("ConstantOfShape", [name], [name[0]]) for name in ("as", "bs", "cs")]
    shapes = zip(("as", "bs", "cs"), ((100_000, 1, 3), (1, 16, 3), (1, 16, 4)))
    constant = [helper.make_tensor(name, 7, [3], shape) for name, shape in shapes]
    steps = [_node("LSTM", [*"abc"], ["h"], hidden_size=4), _node("ReduceSum", ["h"], ["s"], keepdims=0)]
    yield "steps_constant", _model([*sizes, *steps, _node("Add", ["s", "x"])], constant)
    functions = [
        _function("a", f"F{k}", [_node(f"F{k - 1}", ["x"], domain="a") if k else _node("Relu", ["x"])])
        for k in range(3000)
    ]
    yield "function_chain", _model([_node("F2999", ["x"], domain="a")], functions=functions)
    flat = [_function("a", f"F{k}", [_node("Relu", ["x"])]) for k in range(1000)]
    calls = [_node(f"F{k}", [f"v{k}" if k else "x"], [f"v{k + 1}"], "a") for k in range(1000)]
    yield "functions_flat", _model([*calls, _node("Neg", ["v1000"])], functions=flat)
    whole = _function("a", "G", [*calls, _node("Neg", ["v1000"])])
    yield "function_of_functions", _model([_node("G", ["x"], domain="a")], functions=[*flat, whole])
    branch = _graph([_node("F999", ["x"], domain="a")], [], [_info("y", None)])
    bodies = [_node("Constant", [], ["c"], value=helper.make_tensor("c", 9, [], [True]))]
    bodies += [_node("If", ["c"], [f"v{k}"], then_branch=branch, else_branch=branch) for k in range(300)]
    yield "bodies_and_functions", _model([*bodies, _node("Relu", ["v299"])], functions=flat)
    double = [_node("SequenceConstruct", ["x", "x"], ["s0"])]
    for k in range(40):
        double += [
            _node("ConcatFromSequence", [f"s{k}"], [f"c{k}"], axis=0),
            _node("SequenceConstruct", [f"c{k}", f"c{k}"], [f"s{k + 1}"]),
        ]
    yield "sequences_double", _model([*double, _node("ConcatFromSequence", ["s40"], axis=0)])
    places = [_node("NonZero", ["x"], ["v0"])]
    places += [_node("Concat", [f"v{k}", f"v{k}"], [f"v{k + 1}"], axis=0) for k in range(40)]
    total = _node("ReduceSum", ["v40"], keepdims=0)
    of_places = [_info("y", None, 7)]
    yield "places_double", _model([*places, total], inputs=[_info("x", ["n", 3])], outputs=of_places)


def rare_relay() -> Iterator[tuple[str, str]]:
    """Names of files and texts."""
    head = '#[version = "0.0.5"]\ndef @main(%x: Tensor[(2, 3), float32]) {\n'
    for name, text in {
        "escapes": 'my.op(%x, a="\\x", b="\\9", c="\\²", d="\\777", e="\\xff")',
        "string_lines": 'my.op(%x, a="\n\n")',
        "digits": "reshape(%x, newshape=[²,\u0663])", "numbers": "add(%x, 1\u0663f)",
        "dots": "add(%x, %x.0.0.0.0)", "empty_calls": "add(,)",
        "huge_index": "split(%x, indices_or_sections=2).99999999999999999999",
    }.items():  # fmt: skip
        yield f"rare_{name}.relay", f"{head}  {text}\n}}\n"
    for name, word in {
        "letters": LETTERS, "combining": "é\u0301", "wide": "\uff58", "direction": "a\u202eb",
    }.items():  # fmt: skip
        yield f"rare_name_{name}.relay", f"{head.replace('%x', f'%{word}')}  nn.relu(%{word})\n}}\n"
    yield "rare_marks.relay", "\ufeff\ufeff" + head + "  nn.relu(%x)\n}\n"


def rare_json() -> Iterator[tuple[str, str]]:
    """Names of files and texts."""
    node = '{"id": "x", "kind": "input", "shape": [2, 3], "dtype": "float32"}'
    whole = '{{"format": "gsl-graph", "version": 1, "dialect": "relay", "nodes": [{}], "outputs": ["{}"]}}'
    call = '{{"id": "y", "kind": "call", "op": "nn.relu", "inputs": ["x"]{}}}'
    for name, text in {
        "keys_twice": whole.format(node + "," + call.format(', "op": "tanh", "inputs": ["x", "x"]'), "y"),
        "attrs_twice": whole.format(node + "," + call.format(', "attrs": {"a": 1, "a": [2]}'), "y"),
        "document_twice": whole.format(node, "x") * 2, "nul": whole.format(node, "x\\u0000"),
        "id_spaces": whole.format(node.replace('"x"', '" "'), " "),
        "letters": whole.format(node.replace('"x"', f'"{LETTERS}"'), LETTERS),
        "dtype_sized": whole.format(node.replace("float32", "float32x4000000000"), "x"),
        "exponent": whole.format(node.replace("[2, 3]", "[2e0, 3]"), "x"),
        "marks": "\ufeff\ufeff" + whole.format(node, "x"),
    }.items():  # fmt: skip
        yield f"rare_{name}.json", text


def rare_weights() -> Iterator[tuple[str, bytes]]:
    """Names of files and data."""
    for name, header in {
        "overlap": {"x": ("F32", [2, 3], [0, 24]), "y": ("F32", [2, 3], [8, 32])},
        "bits": {"x": ("F4", [2, 3], [0, 3]), "y": ("F8_E4M3", [3], [3, 6])},
        "hole": {"x": ("F32", [1], [20, 24])}, "backwards": {"x": ("F32", [2, 3], [24, 0])},
        "sizes": {"x": ("F32", [2**62, 2, 2], [0, 0])}, "complex": {"x": ("C64", [3], [0, 24])},
    }.items():
        stated = {k: dict(zip(("dtype", "shape", "data_offsets"), v)) for k, v in header.items()}
        text = json.dumps(stated).encode()
        yield f"rare_{name}.safetensors", struct.pack("<Q", len(text)) + text + bytes(32)
    array = b"{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }".ljust(117) + b"\n" + bytes(24)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("x.npy", "../x.npy", "x", "x.npy/"):
            archive.writestr(zipfile.ZipInfo(name), b"\x93NUMPY\x01\x00\x76\x00" + array)
    yield "rare_names.npz", file.getvalue()


def rare_config() -> Iterator[tuple[str, str]]:
    """Names of files and texts."""
    for name, text in {
        "dates": "[lint]\nselect = [1979-05-27T07:32:00Z]\n",
        "inline": "lint = {select = ['L01'], select = ['L02']}\n",
        "dotted": "lint.select = ['all']\nlint.per-file-ignores.'**' = ['L0108']\n",
        "letters": f"[lint]\nexclude = ['{LETTERS}']\n", "tables": "[[lint]]\nselect = ['L01']\n",
        "stars": "[lint]\nexclude = ['" + "*" * 5000 + "a']\n", "infinite": "[lint]\nselect = [inf, nan]\n",
        "braces": "[lint]\nexclude = ['[' , '[!', '[]-a]', '{a,b}']\n",
    }.items():  # fmt: skip
        yield f"rare_{name}.toml", text
