"""Weights files: lazy, never unpickled, the same bytes for the same arrays, and mistakes told."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gslang.base.diagnostics import InputError
from gslang.dialect.tensor_type import UNKNOWN, TensorType
from gslang.formats.weights import LazyArray, attach_params, open_weights, param_values, write_weights
from gslang.graph.compare import same_array
from gslang.graph.graph import INPUT, PARAM, Graph

W = np.arange(6, dtype="float32").reshape(2, 3)


def graph() -> Graph:
    result = Graph()
    x, w = (
        result.add_input("x", TensorType((1, 3), "float32")),
        result.add_param("w", TensorType((2, UNKNOWN), "float32")),
    )
    result.set_outputs([result.add("nn.dense", [x, w])])
    return result


def message_of(path: Path, target: Graph | None = None) -> str:
    with pytest.raises(InputError) as caught:
        if target is None:
            file = open_weights(path)
            for name in file:
                file[name]
        else:
            attach_params(target, path)
    assert str(caught.value).startswith(str(path))
    return caught.value.message


def test_arrays_are_read_when_they_are_asked_for(tmp_path: Path) -> None:
    write_weights(tmp_path / "w.npz", {"w": W, "b": np.array(True)})
    file = open_weights(tmp_path / "w.npz")
    assert sorted(file) == ["b", "w"]
    assert file.type_of("w") == TensorType((2, 3), "float32")
    assert same_array(file["w"], W)
    handle = file.handle("w")
    assert (handle.shape, handle.dtype) == ((2, 3), np.dtype("float32"))
    assert same_array(handle.load(), W)


def test_equal_arrays_give_equal_bytes_whatever_their_order(tmp_path: Path) -> None:
    write_weights(tmp_path / "a.npz", {"a": W, "b": W + 1})
    write_weights(tmp_path / "b.npz", {"b": W + 1, "a": W})
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    assert same_array(np.load(tmp_path / "a.npz")["b"], W + 1)


def test_archives_of_numpy_are_read(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "w.npz", w=W.astype(">f4"), t=np.asfortranarray(W))
    file = open_weights(tmp_path / "w.npz")
    assert same_array(file["w"], W)
    assert same_array(file["t"], W)


def test_attaching_makes_parameters_and_fills_in_types(tmp_path: Path) -> None:
    target = graph()
    write_weights(tmp_path / "p.npz", {"w": W, "x": W[:1]})
    attach_params(target, tmp_path / "p.npz")
    assert [target.op[0], target.op[1]] == [PARAM, PARAM]
    assert target.types[1] == TensorType((2, 3), "float32")
    assert isinstance(target.values[1], LazyArray)
    assert same_array(param_values(target)["w"], W)


def test_what_is_not_in_the_file_stays(tmp_path: Path) -> None:
    target = graph()
    write_weights(tmp_path / "p.npz", {"w": W})
    attach_params(target, tmp_path / "p.npz")
    assert target.op[0] is INPUT
    assert 0 not in target.values


def test_a_type_held_in_a_larger_one_fits(tmp_path: Path) -> None:
    target = Graph()
    target.set_outputs([target.add_param("w", TensorType((2, 3), "bfloat16"))])
    write_weights(tmp_path / "p.npz", {"w": W})
    attach_params(target, tmp_path / "p.npz")
    assert target.types[0] == TensorType((2, 3), "bfloat16")
    assert same_array(target.value(0), W)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"ww": W}, "the graph has no parameter `ww`"),
        ({"w": W.T}, "`w`: shape [2, ?] against [3, 2] (the graph against this file)"),
        ({"w": W.astype("float64")}, "`w`: dtype float32 against float64 (the graph against this file)"),
        ({"w": W[0]}, "`w`: shape [2, ?] against [3] (the graph against this file)"),
    ],
)
def test_mistakes_of_weights(tmp_path: Path, arrays: dict[str, Any], message: str) -> None:
    write_weights(tmp_path / "p.npz", arrays)
    assert message_of(tmp_path / "p.npz", graph()) == message


def test_objects_are_never_unpickled(tmp_path: Path) -> None:
    np.savez(tmp_path / "p.npz", w=np.array([{"a": 1}], dtype=object))
    assert message_of(tmp_path / "p.npz") == "the array `w` holds object, not numbers"
    assert message_of(tmp_path / "p.npz", graph()) == "the array `w` holds object, not numbers"


def test_files_that_are_no_weights(tmp_path: Path) -> None:
    assert message_of(tmp_path / "none.npz") == "no such file"
    assert message_of(tmp_path / "w.pt") == "not the name of a weights file"
    (tmp_path / "text.npz").write_text("hello")
    assert message_of(tmp_path / "text.npz").startswith("this is not an .npz file")
    with zipfile.ZipFile(tmp_path / "junk.npz", "w") as archive:
        archive.writestr("w.npy", b"junk")
        archive.writestr("readme.txt", b"not an array")
    assert message_of(tmp_path / "junk.npz").startswith("the array `w` cannot be read")
    write_weights(tmp_path / "cut.npz", {"w": np.zeros(1000)})
    data = bytearray((tmp_path / "cut.npz").read_bytes())
    data[500] ^= 255  # the checksum of the member does not fit any more
    (tmp_path / "cut.npz").write_bytes(data)
    assert message_of(tmp_path / "cut.npz").startswith("the array `w` cannot be read")


def test_writing_goes_wrong_with_a_message(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        write_weights(tmp_path / "no" / "w.npz", {"w": W})
    with pytest.raises(InputError, match="not the name of a weights file"):
        write_weights(tmp_path / "w.bin", {"w": W})
    assert list(tmp_path.iterdir()) == []


def test_safetensors_need_their_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "safetensors", None)
    monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
    for act in (lambda path: open_weights(path), lambda path: write_weights(path, {"w": W})):
        with pytest.raises(InputError) as caught:
            act(tmp_path / "w.safetensors")
        assert caught.value.message == "`.safetensors` files need the package `safetensors`"
        assert "pip install" in caught.value.help


def test_a_shape_without_elements_that_fits_no_array(tmp_path: Path) -> None:
    pytest.importorskip("safetensors")
    header = b'{"x": {"dtype": "F32", "shape": [0, 4611686018427387904], "data_offsets": [0, 0]}}'
    path = tmp_path / "w.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    with pytest.raises(InputError, match="the array `x` cannot be read"):
        open_weights(path)["x"]
