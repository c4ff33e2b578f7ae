"""What rules do not touch comes back as it was."""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from gslang.base.diagnostics import InputError
from gslang.formats.onnx import onnx_model, read_onnx, write_onnx
from tests.onnx.models import branching, model, value

LIGHT = sorted((Path(onnx.__file__).parent / "backend/test/data").rglob("light_*.onnx"))


def same(a: Any, b: Any) -> bool:
    """Equal messages, byte for byte (NaN is not equal to itself otherwise)."""
    return bool(a.SerializeToString(deterministic=True) == b.SerializeToString(deterministic=True))


@cache
def node_models() -> list[tuple[str, Any]]:
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [(case.name, case.model) for case in collect_testcases(None)]


def test_there_are_light_models() -> None:
    assert len(LIGHT) >= 9


@pytest.mark.parametrize("path", LIGHT, ids=lambda p: p.stem)
def test_light_models(path: Path) -> None:
    found = onnx.load(path)
    assert same(onnx_model(read_onnx(found)), found)


def test_a_share_of_the_node_models() -> None:
    chosen = node_models()[::8]
    assert len(chosen) > 200
    assert [name for name, found in chosen if not same(onnx_model(read_onnx(found)), found)] == []


@pytest.mark.long
def test_all_node_models() -> None:
    assert [name for name, found in node_models() if not same(onnx_model(read_onnx(found)), found)] == []


def test_everything_that_rules_do_not_see() -> None:
    """Documentation, metadata, annotations, functions, training info, unused and duplicate tensors, odd
    types.
    """
    found = branching()
    found.doc_string, found.producer_name, found.domain, found.model_version = "doc", "me", "org.me", 7
    found.metadata_props.add(key="a", value="b")
    found.graph.metadata_props.add(key="c", value="d")
    found.graph.node[0].metadata_props.add(key="e", value="f")
    found.graph.node[0].doc_string = "the first"
    found.graph.node[0].name = "abs"
    found.graph.value_info.append(value("a", ("N", 3)))
    annotation = found.graph.quantization_annotation.add(tensor_name="a")
    annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="unused")
    nan = helper.make_tensor("unused", TensorProto.FLOAT, [2], [float("nan"), 1.0])
    found.graph.initializer.extend([nan, nan])
    for element in (
        TensorProto.BFLOAT16, TensorProto.INT4, TensorProto.UINT4, TensorProto.FLOAT8E4M3FN,
        TensorProto.FLOAT16,
    ):
        found.graph.initializer.append(helper.make_tensor(f"t{element}", element, [3], [1, 0, 1]))
    found.graph.initializer.append(helper.make_tensor("text", TensorProto.STRING, [1], [b"\xff"]))
    found.graph.sparse_initializer.add().values.CopyFrom(
        helper.make_tensor("sparse", TensorProto.FLOAT, [1], [2.0])
    )
    found.graph.sparse_initializer[0].dims.append(4)
    found.opset_import.append(helper.make_opsetid("com.me", 1))
    found.functions.append(helper.make_function(
        "com.me", "F", ["x"], ["y"], [helper.make_node("Relu", ["x"], ["y"])], [helper.make_opsetid("", 17)],
    ))
    found.graph.node.append(helper.make_node("F", ["y"], ["f"], domain="com.me", overload="o"))
    found.training_info.add().algorithm.name = "training"
    assert same(onnx_model(read_onnx(found)), found)


def test_reading_changes_nothing() -> None:
    found = branching()
    before = found.SerializeToString(deterministic=True)
    onnx_model(read_onnx(found))
    assert found.SerializeToString(deterministic=True) == before


def test_a_deep_chain() -> None:
    count = 20_000
    nodes = [helper.make_node("Relu", [f"v{k}"], [f"v{k + 1}"]) for k in range(count)]
    found = model(nodes, [value("v0")], [value(f"v{count}")])
    assert same(onnx_model(read_onnx(found)), found)


def test_an_empty_graph() -> None:
    found = model([], [value("x")], [value("x")])
    assert same(onnx_model(read_onnx(found)), found)


def nested(depth: int) -> Any:
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["r"])], "b", [], [value("r")])
    for k in range(depth):
        node = helper.make_node(
            "If", ["c"], [f"n{k}"], then_branch=graph, else_branch=graph if k == 0 else nested_leaf()
        )
        graph = helper.make_graph([node], "b", [], [value(f"n{k}")])
    return model(list(graph.node), [value("x"), value("c", (), 9)], list(graph.output))


def nested_leaf() -> Any:
    return helper.make_graph([helper.make_node("Neg", ["x"], ["q"])], "l", [], [value("q")])


def test_nested_bodies() -> None:
    found = nested(20)
    graph = read_onnx(found)
    call = graph.operands[graph.outputs[0]][0]
    assert [graph.names[n] for n in graph.operands[call]] == ["c", "x", "c"]
    assert same(onnx_model(graph), found)


@pytest.mark.parametrize("cut", [1, 40, 100])
def test_truncated_files(tmp_path: Path, cut: int) -> None:
    data = branching().SerializeToString()
    path = tmp_path / "m.onnx"
    path.write_bytes(data[:-cut])
    with pytest.raises(InputError, match="not an ONNX model|nothing makes|imports no operator set|graph"):
        read_onnx(path)


@pytest.mark.parametrize("data", [b"", b"\x00\x01garbage", b"{}"])
def test_files_that_are_no_models(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(data)
    with pytest.raises(InputError, match="not an ONNX model"):
        read_onnx(path)


def test_models_that_cannot_be() -> None:
    node = helper.make_node
    twice = model([node("Relu", ["x"], ["y"]), node("Neg", ["x"], ["y"])], [value("x")], [value("y")])
    with pytest.raises(InputError, match=r"produces `y`, which already exists"):
        read_onnx(twice)
    dangling = model([node("Relu", ["xx"], ["y"])], [value("x")], [value("y")])
    with pytest.raises(InputError, match=r"reads `xx`, which no node produces"):
        read_onnx(dangling)
    unsorted = model([node("Relu", ["z"], ["y"]), node("Relu", ["x"], ["z"])], [value("x")], [value("y")])
    with pytest.raises(InputError, match="later node\n.*a graph has no cycles"):
        read_onnx(unsorted)
    no_opset = branching()
    del no_opset.opset_import[:]
    with pytest.raises(InputError, match="imports no operator set"):
        read_onnx(no_opset)


def test_nan_weights() -> None:
    weights = {"w": np.array([[np.nan, np.inf, 0]] * 2, np.float32)}
    found = model([helper.make_node("Add", ["x", "w"], ["y"])], [value("x")], [value("y")], weights)
    graph = read_onnx(found)
    assert np.isnan(graph.value(graph.operands[graph.outputs[0]][1])).any()
    assert same(onnx_model(graph), found)


def external_model(folder: Path) -> Any:
    found = model(
        [helper.make_node("Add", ["x", "w"], ["y"])], [value("x")], [value("y")],
        {"w": np.arange(6, dtype=np.float32).reshape(2, 3)},
    )
    onnx.save(
        found, folder / "m.onnx", save_as_external_data=True, all_tensors_to_one_file=True, location="m.bin",
        size_threshold=0,
    )
    return onnx.load(folder / "m.onnx", load_external_data=False)


def test_external_data_is_lazy_and_kept(tmp_path: Path) -> None:
    found = external_model(tmp_path)
    graph = read_onnx(tmp_path / "m.onnx")
    weight = graph.operands[graph.outputs[0]][1]
    assert graph.values[weight].shape == (2, 3) and graph.values[weight].external
    assert graph.value(weight).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert isinstance(graph.value(weight).base, np.memmap) or isinstance(graph.value(weight), np.memmap)
    write_onnx(graph, tmp_path / "o.onnx")
    assert same(onnx.load(tmp_path / "o.onnx", load_external_data=False), found)


@pytest.mark.parametrize("mode", ["keep", "copy", "inline"])
def test_external_data_in_another_folder(tmp_path: Path, mode: str) -> None:
    external_model(tmp_path)
    (tmp_path / "there").mkdir()
    out = tmp_path / "there" / "o.onnx"
    write_onnx(read_onnx(tmp_path / "m.onnx"), out, mode)
    graph = read_onnx(out)
    weight = graph.operands[graph.outputs[0]][1]
    assert graph.value(weight).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert graph.values[weight].external == (mode != "inline")


def test_copying_onto_itself(tmp_path: Path) -> None:
    external_model(tmp_path)
    for _ in range(3):
        write_onnx(read_onnx(tmp_path / "m.onnx"), tmp_path / "m.onnx", "copy")
        graph = read_onnx(tmp_path / "m.onnx")
        assert graph.value(graph.operands[graph.outputs[0]][1]).tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("location", ["../m.bin", "/etc/passwd", "C:\\m.bin", "a/../../m.bin", ""])
def test_paths_outside_are_refused(tmp_path: Path, location: str) -> None:
    found = external_model(tmp_path)
    next(e for e in found.graph.initializer[0].external_data if e.key == "location").value = location
    (tmp_path / "bad.onnx").write_bytes(found.SerializeToString())
    with pytest.raises(InputError, match="outside the model's folder"):
        read_onnx(tmp_path / "bad.onnx")


def test_a_link_to_outside_is_refused(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    external_model(inner)
    (inner / "m.bin").rename(tmp_path / "secret.bin")
    (inner / "m.bin").symlink_to(tmp_path / "secret.bin")
    with pytest.raises(InputError, match="outside the model's folder"):
        read_onnx(inner / "m.onnx")


def test_data_that_is_cut_off(tmp_path: Path) -> None:
    external_model(tmp_path)
    (tmp_path / "m.bin").write_bytes(b"1234")
    graph = read_onnx(tmp_path / "m.onnx")
    with pytest.raises(InputError, match="ends at byte 24 of 4"):
        graph.value(graph.operands[graph.outputs[0]][1])


def test_bodies_too_deep_for_protobuf(tmp_path: Path) -> None:
    def field(number: int, data: bytes) -> bytes:
        size, count = b"", len(data)
        while count > 127:
            size, count = size + bytes([count & 127 | 128]), count >> 7
        return bytes([number << 3 | 2]) + size + bytes([count]) + data

    graph = b""
    for _ in range(60):
        graph = field(1, field(4, b"If") + field(5, field(6, graph)))  # graph.node.attribute.g
    path = tmp_path / "deep.onnx"
    path.write_bytes(field(7, graph))
    with pytest.raises(InputError, match="30 deep"):
        read_onnx(path)


def test_where_external_data_go_is_an_option(tmp_path: Path) -> None:
    from gslang.cli.main import main

    external_model(tmp_path)
    (tmp_path / "r.gsl").write_text("dialect onnx;\nrule r(x): Identity(x) => x;\n")
    out = tmp_path / "o.onnx"
    assert (
        main([str(tmp_path / "r.gsl"), str(tmp_path / "m.onnx"), "-o", str(out), "--external", "inline"]) == 0
    )
    assert onnx.load(out, load_external_data=False).graph.initializer[0].raw_data


def test_a_failed_write_leaves_the_old_model(tmp_path: Path) -> None:
    external_model(tmp_path)
    graph = read_onnx(tmp_path / "m.onnx")
    (tmp_path / "m.bin").unlink()
    (tmp_path / "o.onnx").write_bytes(b"old")
    with pytest.raises(InputError, match="cannot be read"):
        write_onnx(graph, tmp_path / "o.onnx", "copy")
    assert (tmp_path / "o.onnx").read_bytes() == b"old" and not list(tmp_path.glob("*.data"))


def test_through_json(tmp_path: Path) -> None:
    """A graph of dialect `onnx` in a JSON file becomes a model again."""
    import gslang

    weights = {"w": np.ones((1, 2), np.float32), "mx": np.array(3, np.float32)}
    nodes = [
        helper.make_node("Split", ["x"], ["a", "b"], axis=1, num_outputs=2),
        helper.make_node("Add", ["a", "w"], ["c"]), helper.make_node("Clip", ["c", "", "mx"], ["y"]),
    ]  # fmt: skip
    found = model(
        nodes, [value("x", ("N", 4))], [value("y", ("N", 2)), value("b", ("N", 2))], weights, opset=18
    )
    gslang.write(read_onnx(found), tmp_path / "g.json")
    after = onnx_model(gslang.read(tmp_path / "g.json"))
    onnx.checker.check_model(after, full_check=True)
    assert list(after.graph.output) == list(found.graph.output) and after.opset_import == found.opset_import
    assert [(list(n.input), list(n.output), n.op_type) for n in after.graph.node] == [
        (list(n.input), list(n.output), n.op_type) for n in nodes
    ]
