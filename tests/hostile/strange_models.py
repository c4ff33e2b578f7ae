"""Hostile models: operators of which one operand is absurd, trees that point to themselves, functions that
call one another, false places of external data, element types and fields that few readers know.
"""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Iterator, Sequence
from typing import Any

FAR = 2**40


def strange_onnx() -> Iterator[tuple[str, bytes]]:
    """Models."""
    yield from _operators()
    yield from _trees()
    yield from _bodies()
    yield from _fields()
    yield from _external()


def _node(op: str, inputs: Sequence[str], outputs: Sequence[str] = ("y",), **attributes: Any) -> Any:
    from onnx import helper

    return helper.make_node(op, list(inputs), list(outputs), **attributes)


def _info(name: str, shape: Any = (2, 3), element: int = 1) -> Any:
    from onnx import helper

    return helper.make_tensor_value_info(name, element, shape)


def _tensor(name: str, values: Sequence[Any], dims: Sequence[int] | None = None, element: int = 0) -> Any:
    """A weight: whole numbers are int64, others float32, unless `element` says otherwise."""
    from onnx import helper

    element = element or (7 if all(isinstance(v, int) for v in values) else 1)
    return helper.make_tensor(name, element, [len(values)] if dims is None else dims, list(values))


def _model(
    nodes: Sequence[Any],
    inputs: Sequence[Any] | None = None,
    weights: Sequence[Any] = (),
    outputs: Sequence[Any] | None = None,
    functions: Sequence[Any] = (),
) -> Any:
    from onnx import helper

    graph = helper.make_graph(
        list(nodes), "g", [_info("x")] if inputs is None else list(inputs),
        [_info("y", None)] if outputs is None else list(outputs), list(weights),
    )
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("local", 1)]
    opsets += [helper.make_opsetid("ai.onnx.ml", 5), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, functions=list(functions), ir_version=10)


def _bytes(model: Any) -> bytes:
    return bytes(model.SerializeToString(deterministic=True))


def _operators() -> Iterator[tuple[str, bytes]]:
    """One operator over weights, so that folding computes it."""
    def scalar(name: str, value: Any) -> Any:
        return _tensor(name, [value], [])

    one, pair = _tensor("w", [1.0], [1, 1, 1, 1]), _tensor("w", [1.0, 2.0], [1, 2])
    nan = float("nan")
    for name, (node, weights) in {
        "range": (_node("Range", "abc"), [scalar("a", 0), scalar("b", 2**60), scalar("c", 1)]),
        "range_zero": (_node("Range", "abc"), [scalar("a", 0), scalar("b", 9), scalar("c", 0)]),
        "range_tiny": (_node("Range", "abc"), [scalar("a", 0.0), scalar("b", 1.0), scalar("c", 1e-45)]),
        "range_nan": (_node("Range", "abc"), [scalar("a", nan), scalar("b", 1.0), scalar("c", nan)]),
        "fill": (_node("ConstantOfShape", "c"), [_tensor("c", [2**20, 2**20])]),
        "window": (_node("BlackmanWindow", "b"), [scalar("b", FAR)]),
        "eye": (_node("EyeLike", "w"), [_tensor("w", [], [2**31, 0])]),
        "mel": (_node("MelWeightMatrix", "bbbff"), [scalar("b", FAR), scalar("f", 1e30)]),
        "mel_nan": (_node("MelWeightMatrix", "bbbff"), [scalar("b", 8), scalar("f", nan)]),
        "fourier": (_node("DFT", "wb"), [_tensor("w", [1.0] * 4, [1, 4, 1]), scalar("b", FAR)]),
        "short_fourier": (
            _node("STFT", ["w", "s", "", "l"]),
                [_tensor("w", [1.0] * 4, [1, 4, 1]), scalar("s", 0), scalar("l", 2)],
        ),
        "draw": (_node("Multinomial", "w", sample_size=2**31 - 1), [pair]),
        "one_hot": (_node("OneHot", "cbw"),
            [_tensor("c", [1, 2]), scalar("b", FAR), _tensor("w", [1.0, 2.0])]),
        "unpool": (
            _node("MaxUnpool", "wic", kernel_shape=[2, 2]),
            [one, _tensor("i", [2**50], [1, 1, 1, 1]), _tensor("c", [1, 1, 2, 2])],
        ),
        "columns": (
            _node("Col2Im", "wcd"),
            [_tensor("w", [1.0] * 4, [1, 4, 1]), _tensor("c", [FAR, FAR]), _tensor("d", [2, 2])],
        ),
        "centre": (_node("CenterCropPad", "wc"), [_tensor("w", [1.0], [1, 1]), _tensor("c", [FAR, FAR])]),
        "resize": (_node("Resize", ["w", "", "", "c"]), [one, _tensor("c", [1, 1, 2**30, 2**30])]),
        "resize_nan": (_node("Resize", ["w", "", "c"]), [one, _tensor("c", [1.0, 1.0, nan, float("inf")])]),
        "regex": (_node("RegexFullMatch", "w", pattern="(a*)*b"), [_tensor("w", [b"a" * 60], element=8)]),
        "regex_counts": (
            _node("RegexFullMatch", "w", pattern="((a{1,999}){1,999}){1,999}"),
                [_tensor("w", [b"a"], element=8)],
        ),
        "grid": (
            _node("GridSample", "wg"),
            [_tensor("w", [1.0] * 4, [1, 1, 2, 2]), _tensor("g", [1e38, nan], [1, 1, 1, 2])],
        ),
        "affine": (_node("AffineGrid", "wc"),
            [_tensor("w", [1.0] * 6, [1, 2, 3]), _tensor("c", [1, 1, 2**30, 2**30])]),
        "boxes": (
            _node("NonMaxSuppression", "wsb"),
            [_tensor("w", [nan] * 8, [1, 2, 4]), _tensor("s", [1.0, 1.0], [1, 1, 2]), scalar("b", 2**62)],
        ),
        "regions": (
            _node("RoiAlign", "wrb", sampling_ratio=2**30, output_height=2**20, output_width=2**20),
            [one, _tensor("r", [0.0, 0.0, 1e30, 1e30], [1, 4]), _tensor("b", [9])],
        ),
        "words": (
            _node(
                "TfIdfVectorizer", "c", max_gram_length=2**62, max_skip_count=2**62, min_gram_length=1,
                    mode="TF",
                ngram_counts=[0, FAR], ngram_indexes=[FAR], pool_int64s=[1],
            ),
            [_tensor("c", [1, 2])],
        ),
        "normalize": (_node("LRN", "w", size=2**60), [_tensor("w", [1.0] * 8, [1, 2, 2, 2])]),
        "deconvolve": (_node("ConvTranspose", "ww", strides=[2**30] * 2),
            [_tensor("w", [1.0] * 9, [1, 1, 3, 3])]),
        "unique": (_node("Unique", "w", axis=FAR), [_tensor("w", [1.0, 2.0])]),
        "shift": (_node("BitShift", "ww", direction="LEFT"), [_tensor("w", [2**60, 1], element=13)]),
        "power": (_node("Pow", "ww"), [_tensor("w", [2**62, -5])]),
        "modulo": (_node("Mod", "wz"), [_tensor("w", [-(2**63), 3]), _tensor("z", [-1, 0])]),
        "divide": (_node("Div", "wz"), [_tensor("w", [-(2**63), 3]), _tensor("z", [-1, 0])]),
        "image": (_node("ImageDecoder", "w"),
            [_tensor("w", list(b"\x89PNG\r\n\x1a\n" + bytes(40)), element=2)]),
        "split_text": (_node("StringSplit", "w", "yz", delimiter=""),
            [_tensor("w", [b"a " * 60000], element=8)]),
        "text_odd": (_node("StringConcat", "ww"), [_tensor("w", [b"\xff\xfe", b"\xed\xa0\x80"], element=8)]),
        "text_normal": (
            _node("StringNormalizer", "w", locale="../../x", case_change_action="UPPER"),
            [_tensor("w", [b"\xc3\x9f"], element=8)],
        ),
        "cast_text": (_node("Cast", "w", to=1), [_tensor("w", [b"1e999999", b"nan(9)", b"0x1"], element=8)]),
        "cast_nan": (_node("Cast", "w", to=7), [_tensor("w", [nan, 1e38])]),
        "slice_far": (
            _node("Slice", "wabcd"),
            [_tensor("w", [1.0] * 4), _tensor("a", [-(2**63)]), _tensor("b", [2**63 - 1]), _tensor("c", [0]),
             _tensor("d", [-(2**63)])],
        ),
        "top": (_node("TopK", "wk", "yz", axis=-1), [_tensor("w", [nan, 1.0]), _tensor("k", [2**62])]),
        "scatter": (
            _node("ScatterND", "wiu"),
                [_tensor("w", [1.0] * 4), _tensor("i", [2**62], [1, 1]), _tensor("u", [1.0])],
        ),
        "gather": (_node("GatherElements", "wi"), [_tensor("w", [1.0] * 4), _tensor("i", [-(2**62)])]),
        "quantize": (
            _node("QuantizeLinear", "wsz"),
                [_tensor("w", [nan, 1e38]), scalar("s", 0.0), _tensor("z", [0], [], 2)],
        ),
        "quantize_blocks": (
            _node("DequantizeLinear", "ws", block_size=FAR, axis=0), [_tensor("w", [1, 2], element=3), pair],
        ),
    }.items():
        outputs = [_info(node.output[0], None)]
        yield f"one_{name}.onnx", _bytes(_model([node], weights=weights, outputs=outputs))


def _trees() -> Iterator[tuple[str, bytes]]:
    """Operators of ONNX-ML, and of onnxruntime alone."""
    tree = {
        "nodes_nodeids": [0, 1], "nodes_treeids": [0, 0], "nodes_featureids": [0, 0],
        "nodes_modes": ["BRANCH_LEQ", "BRANCH_LEQ"], "nodes_values": [0.5, 0.5], "n_targets": 1,
        "target_ids": [0], "target_nodeids": [1], "target_treeids": [0], "target_weights": [1.0],
    }
    data = [_tensor("w", [1.0, 0.0], [1, 2])]
    for name, changed in {
        "circle": {"nodes_truenodeids": [0, 0], "nodes_falsenodeids": [1, 0]},
        "far": {"nodes_truenodeids": [FAR, 1], "nodes_falsenodeids": [-5, 1]},
        "feature": {"nodes_truenodeids": [1, 1], "nodes_falsenodeids": [1, 1], "nodes_featureids": [FAR, -7]},
        "short": {"nodes_truenodeids": [1], "nodes_falsenodeids": None},
        "targets": {"nodes_truenodeids": [1, 0], "nodes_falsenodeids": [1, 0], "n_targets": FAR,
            "target_ids": [FAR]},
    }.items():
        node = _node("TreeEnsembleRegressor", "w", domain="ai.onnx.ml", **{**tree, **changed})
        yield f"tree_{name}.onnx", _bytes(_model([node], weights=data))
    for name, node in {
        "svm": _node("SVMRegressor", "w", domain="ai.onnx.ml", n_supports=FAR, coefficients=[1.0]),
        "linear": _node("LinearRegressor", "w", domain="ai.onnx.ml", coefficients=[1.0] * 7, targets=-3),
        "features": _node("ArrayFeatureExtractor", "wi", domain="ai.onnx.ml"),
        "scaler": _node("Scaler", "w", domain="ai.onnx.ml", offset=[1.0] * 9),
        "labels": _node("LabelEncoder", "w", domain="ai.onnx.ml", keys_floats=[1.0]),
        "attention": _node("Attention", ["w", "w", "w"], domain="com.microsoft", num_heads=0),
        "fused": _node("FusedMatMul", "ww", domain="com.microsoft", alpha=float("nan"), transA=9),
        "unknown": _node("Nothing", "w", domain="com.microsoft"),
        "domain_odd": _node("Relu", "w", domain="evil/../..\n"),
    }.items():
        weights = [*data, _tensor("i", [FAR])]
        yield f"other_{name}.onnx", _bytes(_model([node], weights=weights))


def _bodies() -> Iterator[tuple[str, bytes]]:
    """Graphs within graphs, and functions."""
    from onnx import helper

    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("local", 1)]
    calls = {name: _node(name, "x", domain="local") for name in "AB"}
    mutual = [helper.make_function("local", a, ["x"], ["y"], [calls[b]], opsets) for a, b in ("AB", "BA")]
    yield "functions_mutual.onnx", _bytes(_model([calls["A"]], functions=mutual))
    branch = helper.make_graph([_node("A", "x", "t", domain="local")], "t", [], [_info("t", None)])
    body = helper.make_function(
        "local", "A", ["x", "c"], ["y"], [_node("If", "c", then_branch=branch, else_branch=branch)], opsets
    )
    inputs = [_info("x"), _info("c", (), 9)]
    yield "function_in_branch.onnx", _bytes(_model([_node("A", "xc", domain="local")], inputs,
        functions=[body]))
    for name, function in {
        "same_names": helper.make_function("local", "A", ["x"] * 3, ["y"] * 3, [_node("Neg", "x")], opsets),
        "old": helper.make_function("local", "A", ["x"], ["y"], [_node("Neg", "x")],
            [helper.make_opsetid("", 3)]),
        "no_opset": helper.make_function("local", "A", ["x"], ["y"], [_node("Neg", "x")], []),
        "no_output": helper.make_function("local", "A", ["x"], ["q"], [_node("Neg", "x")], opsets),
        "outer": helper.make_function("local", "A", ["x"], ["y"], [_node("Add", ["x", "z"])], opsets),
        "empty": helper.make_function("local", "A", ["x"], ["x"], [], opsets),
    }.items():
        yield f"function_{name}.onnx", _bytes(_model([calls["A"]], functions=[function]))
    twice = [helper.make_function("local", "A", ["x"], ["y"], [_node(op, "x")], opsets) for op in ("Neg",
        "Abs")]
    yield "function_twice.onnx", _bytes(_model([calls["A"]], functions=twice))
    shadow = helper.make_function("", "Relu", ["x"], ["y"], [_node("Neg", "x")], opsets)
    yield "function_standard.onnx", _bytes(_model([_node("Relu", "x")], functions=[shadow]))
    chain = [_node("Identity", "x", "a0")] + [_node("Relu", [f"a{k}"], [f"a{k + 1}"]) for k in range(3000)]
    for name, nodes, results in (
        ("types", [_node("Neg", "x", "t")], [_info("t", (7,), 7)]),
        ("none", [], []),
        ("shadow", [_node("Neg", "x", "x")], [_info("x", None)]),
        ("long", chain, [_info("a3000", None)]),
        ("sequence", [_node("SequenceConstruct", "x", "t")], [_info("t", None)]),
    ):
        other = helper.make_graph(nodes, "t", [], results)
        plain = helper.make_graph([_node("Relu", "x", "u")], "u", [], [_info("u", None)])
        yield f"branches_{name}.onnx", _bytes(_model([_node("If", "c", then_branch=other, else_branch=plain)],
            inputs))
    step = helper.make_graph(
        [_node("Identity", "c", "d"), _node("Concat", "aa", "b", axis=0)], "l",
        [_info("i", (), 7), _info("c", (), 9), _info("a", None)], [_info("d", (), 9), _info("b", None)],
    )
    for name, count in (("doubles", 60), ("negative", -5), ("always", 2**63 - 1)):
        weights = [_tensor("m", [count], []), _tensor("t", [True], [], 9), _tensor("w", [1.0] * 6, [2, 3])]
        yield f"loop_{name}.onnx", _bytes(_model([_node("Loop", ["m", "t", "w"], "y", body=step)],
            weights=weights))
    sequence = _node("SequenceEmpty", [], "s"), _node("SequenceAt", ["s", "m"])
    yield "sequence_at_far.onnx", _bytes(_model(sequence, weights=[_tensor("m", [FAR], [])]))
    optional = _node("Optional", "x", "o"), _node("OptionalGetElement", "o")
    yield "optional.onnx", _bytes(_model(optional))


def _fields() -> Iterator[tuple[str, bytes]]:
    """Fields of messages that few readers look at, and values that no writer produces."""
    from onnx import AttributeProto, TensorProto, helper

    relus = [_node("Relu", "x", "a"), _node("Relu", "a")]
    add = [_node("Add", "xw")]
    for name, (outputs, inputs) in {
        "output_twice": ([_info("y")] * 2, None),
        "output_input": ([_info("x")], None),
        "output_nowhere": ([_info("q")], None),
        "inputs_same": (None, [_info("x"), _info("x", (3, 4))]),
        "element_odd": (None, [_info("x", (2, 3), 99)]),
        "size_negative": (None, [_info("x", (-2, 3))]),
        "names_html": (None, [_info("x"), _info("</script><script>alert(1)</script>")]),
        "names_long": (None, [_info("x"), _info("n" * 60_000)]),
        "names_lines": (None, [_info("x"), _info("a\n\x1b[2J\u2028")]),
    }.items():
        yield f"field_{name}.onnx", _bytes(_model(relus, inputs, outputs=outputs))
    for name, tensor in {
        "raw_short": TensorProto(name="w", dims=[2, 3], data_type=1, raw_data=bytes(5)),
        "dims_wrap": TensorProto(name="w", dims=[2**31, 2**31, 4], data_type=1),
        "dims_zero": TensorProto(name="w", dims=[0, 2**62], data_type=1),
        "int4_cut": TensorProto(name="w", dims=[7], data_type=22, raw_data=bytes(3)),
        "float8": TensorProto(name="w", dims=[3], data_type=17, raw_data=b"\x7f\xff\x80"),
        "bool_odd": TensorProto(name="w", dims=[3], data_type=9, raw_data=b"\x02\xff\x00"),
        "int32_as_float16": TensorProto(name="w", dims=[2], data_type=10, int32_data=[2**31 - 1, -1]),
        "complex": TensorProto(name="w", dims=[1], data_type=14, float_data=[1.0]),
        "segment": TensorProto(
            name="w", dims=[2], data_type=1, raw_data=bytes(8),
                segment=TensorProto.Segment(begin=2**62, end=-5)
        ),
        "unnamed": TensorProto(dims=[2], data_type=1, raw_data=bytes(8)),
        "nothing": TensorProto(name="w"),
    }.items():
        yield f"weight_{name}.onnx", _bytes(_model(add, weights=[tensor]))
    yield "weight_twice.onnx", _bytes(_model(relus, weights=[_tensor("x", [0.0]), _tensor("x", [1.0, 2.0])]))
    model = _model(relus)
    model.training_info.add().algorithm.CopyFrom(model.graph)
    model.training_info[0].update_binding.add(key="x", value="nothing")
    yield "field_training.onnx", _bytes(model)
    model = _model(relus)
    note = model.graph.quantization_annotation.add(tensor_name="nothing")
    note.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="\0")
    yield "field_quantization.onnx", _bytes(model)
    for name, positions, dims in (
        ("far", [FAR], [4]), ("back", [3, 1], [4]), ("negative", [-1], [4]), ("size", [0], [2**31, 2**31]),
    ):
        model = _model(add)
        values = _tensor("w", [1.0] * len(positions))
        model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, _tensor("i", positions),
            dims))
        yield f"sparse_{name}.onnx", _bytes(model)
    model = _model(relus)
    for k in range(3):
        model.graph.node[k % 2].attribute.append(AttributeProto(name="axis", type=AttributeProto.INT, i=k))
    yield "field_attribute_twice.onnx", _bytes(model)
    model = _model(relus)
    model.opset_import.add(domain="", version=7)
    model.opset_import.add(domain="", version=-(2**62))
    yield "field_opsets.onnx", _bytes(model)
    model = _model(relus)
    model.graph.node[0].overload = model.graph.node[1].op_type = "x" * 3000
    yield "field_overload.onnx", _bytes(model)
    for name, tail in (("unknown_field", b"\xf8\x07\x01" * 3000),
        ("packed", b"\x3a\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01")):
        yield f"wire_{name}.onnx", _bytes(_model(relus)) + tail
    yield "wire_gzip.onnx", b"\x1f\x8b\x08\x00" + bytes(100)
    yield "wire_words.onnx", b"ir_version: 8\ngraph { name: \"x\" }\n"


def _external() -> Iterator[tuple[str, bytes]]:
    """Weights in other files."""
    from onnx import TensorProto

    for name, entries in {
        "device_full": {"location": "/dev/full"},
        "home": {"location": "~/x"},
        "windows": {"location": "C:\\windows\\x"},
        "address": {"location": "http://127.0.0.1:1/x"},
        "offset_text": {"location": "fine.onnx", "offset": "abc"},
        "offset_far": {"location": "fine.onnx", "offset": "9223372036854775807",
            "length": "9223372036854775807"},
        "length_float": {"location": "fine.onnx", "length": "1e30"},
        "length_short": {"location": "fine.onnx", "length": "3"},
        "checksum": {"location": "fine.onnx", "checksum": "0" * 5000},
        "parent": {"location": "../onnx/../onnx/./external_parent.onnx"},
        "tensor_memory": {"location": "*/_ORT_MEM_ADDR_/*", "offset": "140000000000000", "length": "24"},
    }.items():
        weight = TensorProto(name="w", dims=[2, 3], data_type=1, data_location=TensorProto.EXTERNAL)
        for key, text in entries.items():
            weight.external_data.add(key=key, value=text)
        yield f"external_{name}.onnx", _bytes(_model([_node("Add", "xw")], weights=[weight]))


def strange_weights() -> Iterator[tuple[str, bytes]]:
    """Archives and tables of arrays."""
    def npy(head: str, data: bytes = b"") -> bytes:
        line = head.encode("latin-1") + b"\n"
        return b"\x93NUMPY\x01\0" + struct.pack("<H", len(line)) + line + data

    def array(descr: str, shape: str, data: bytes, fortran: bool = False) -> bytes:
        return npy(f"{{'descr': {descr!r}, 'fortran_order': {fortran}, 'shape': {shape}, }}", data)

    def archive(files: Sequence[tuple[str, bytes]], method: int = zipfile.ZIP_DEFLATED) -> bytes:
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", method) as file:
            for name, data in files:
                file.writestr(zipfile.ZipInfo(name), data, method)
        return stream.getvalue()

    good = array("<f4", "(2, 3, 4)", bytes(96))
    for name, method in (("lzma", zipfile.ZIP_LZMA), ("bzip2", zipfile.ZIP_BZIP2)):
        yield f"method_{name}.npz", archive([("x.npy", good)], method)
    bomb = archive([("x.npy", array("<f4", "(50000000,)", bytes(200_000_000)))], zipfile.ZIP_BZIP2)
    yield "bomb_bzip2.npz", bomb
    yield "bombs.npz", archive([(f"x{k}.npy", good + bytes(4_000_000)) for k in range(60)])
    turned = bytearray(archive([("x.npy", good)], zipfile.ZIP_STORED))
    turned[80] ^= 1
    yield "one_bit.npz", bytes(turned)
    for name, data in {
        "array_alone": good,
        "nan": archive([("x.npy", array("<f4", "(2, 3, 4)", struct.pack("<f", float("nan")) * 24))]),
        "element": archive([("x.npy", array("<i8", "(2, 3, 4)", bytes(192)))]),
        "shape": archive([("x.npy", array("<f4", "(4, 3, 2)", bytes(96)))]),
        "empty_entry": archive([("x.npy", b"")]),
        "ranks": archive([("x.npy", array("<f4", f"({'1, ' * 5000})", bytes(4)))]),
        "shape_negative": archive([("x.npy", array("<f4", "(-2, -3, 4)", bytes(96)))]),
        "shape_product": archive([("x.npy", array("<f4", f"({2**32}, {2**32}, 4)", bytes(96)))]),
        "padding": archive([("x.npy", good + bytes(1000))]),
        "descr_list": archive([("x.npy", npy("{'descr': [('a', '<f4'), ('b', '|O')], 'fortran_order': False, "
                                             "'shape': (2,), }", bytes(24)))]),
        "expression": archive([("x.npy", npy("__import__('os').getpid()"))]),
        "names": archive([(f"{name}.npy", good) for name in ("x", "X", "x ", "./x", "x\n", "../x")]),
    }.items():
        yield f"strange_{name}.npz", data

    def table(head: Any, data: bytes = b"") -> bytes:
        text = json.dumps(head).encode()
        return struct.pack("<Q", len(text)) + text + data

    def entry(first: Any, last: Any, shape: Any = (2,), dtype: Any = "F32") -> dict[str, Any]:
        return {"dtype": dtype, "shape": shape, "data_offsets": [first, last]}

    for name, head in {
        "offsets_back": {"x": entry(8, 0)},
        "offsets_float": {"x": entry(0.0, 8.0)},
        "offsets_far": {"x": entry(0, 2**63)},
        "hole": {"x": entry(0, 8), "y": entry(16, 24)},
        "bool_shape": {"x": entry(0, 4, [True])},
        "shape_zero": {"x": entry(0, 0, [0, 2**62])},
        "shape_product": {"x": entry(0, 8, [2**32, 2**32])},
        "dtype_list": {"x": entry(0, 8, [2], ["F32"])},
        "extra": {"x": {**entry(0, 8), "more": [[]]}},
        "names_half": {"\ud800": entry(0, 8), "": entry(8, 16)},
        "many": {f"x{k}": entry(0, 8) for k in range(20_000)},
    }.items():
        yield f"strange_{name}.safetensors", table(head, bytes(24))
