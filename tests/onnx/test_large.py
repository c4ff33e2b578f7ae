"""Models larger than memory: weights stay in their files, results wait in files, nothing appears before it is
complete.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import gslang
from gslang.base.diagnostics import InputError
from gslang.evaluate import spill
from gslang.evaluate.spill import Spilled
from gslang.formats.onnx import read_onnx
from tests.onnx.models import model, value

node = helper.make_node
ROOT = Path(__file__).resolve().parents[2]


def sparse_model(folder: Path, layers: int, size: int) -> Path:
    """`layers` products with a square weight each, in one data file that is a hole."""
    bytes_each = size * size * 4
    weights, nodes, last = [], [], "x"
    for k in range(layers):
        weight = TensorProto(name=f"w{k}", data_type=1, dims=[size, size], data_location=TensorProto.EXTERNAL)
        for key, entry in (
            ("location", "m.data"), ("offset", str(k * bytes_each)), ("length", str(bytes_each)),
        ):
            weight.external_data.add(key=key, value=entry)
        weights += [weight, onnx.numpy_helper.from_array(np.zeros(size, np.float32), f"b{k}")]
        nodes += [
            node("MatMul", [last, f"w{k}"], [f"m{k}"]), node("Add", [f"m{k}", f"b{k}"], [f"a{k}"]),
            node("Relu", [f"a{k}"], [f"r{k}"]),
        ]
        last = f"r{k}"
    graph = helper.make_graph(nodes, "g", [value("x", ("N", size))], [value(last, ("N", size))], weights)
    found = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (folder / "m.onnx").write_bytes(found.SerializeToString())
    with (folder / "m.data").open("wb") as file:
        file.truncate(layers * bytes_each)
    return folder / "m.onnx"


# The peak of this program alone: `ru_maxrss` of a process counts what its parent had when it was forked too.
PEAK = """
import re, sys
from gslang.cli.main import main
code = main(sys.argv[1:])
with open("/proc/self/status") as status:
    print("peak", int(re.search(r"VmHWM:\\s+(\\d+) kB", status.read())[1]) // 1024)
raise SystemExit(code)
"""


def peak(*arguments: str) -> int:
    """The most memory that a run of `gslc` had, in MiB."""
    done = subprocess.run(
        [sys.executable, "-c", PEAK, *arguments], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout.split()[-1])


RULES = """dialect onnx;
rule gemm(a, b: const, c: const): MatMul(a, b) + c where a.ndim == 2 and b.ndim == 2 => Gemm(a, b, c);
"""
TURNED = """dialect onnx;
@once rule turned(a, b: const): MatMul(a, b)
    => MatMul(a, Transpose(Transpose(b, perm = [1, 0]), perm = [1, 0]));
"""


def test_memory_does_not_grow_with_the_weights(tmp_path: Path) -> None:
    (tmp_path / "r.gsl").write_text(RULES)
    found = []
    for layers, size in ((4, 64), (4, 8192)):
        folder = tmp_path / str(size)
        folder.mkdir()
        path = sparse_model(folder, layers, size)
        found.append(peak(str(tmp_path / "r.gsl"), str(path), "-o", str(folder / "o.onnx")))
        after = onnx.load(folder / "o.onnx", load_external_data=False)
        assert [n.op_type for n in after.graph.node] == ["Gemm", "Relu"] * layers
        assert {e.value for t in after.graph.initializer for e in t.external_data if e.key == "location"} == {
            "m.data"
        }
    assert found[1] - found[0] < 30, found


def test_folding_does_not_either(tmp_path: Path) -> None:
    """384 MiB of weights, turned twice: results wait in files, and go into a file beside the model."""
    (tmp_path / "r.gsl").write_text(TURNED)
    path = sparse_model(tmp_path, 6, 4096)
    most = peak(str(tmp_path / "r.gsl"), str(path), "-o", str(tmp_path / "o.onnx"), "--fold")
    after = onnx.load(tmp_path / "o.onnx", load_external_data=False)
    assert [n.op_type for n in after.graph.node] == ["MatMul", "Add", "Relu"] * 6
    assert (
        os.path.getsize(tmp_path / "o.onnx.data") == 6 * 4096 * 4096 * 4
        and os.path.getsize(tmp_path / "o.onnx") < 1 << 20
    )
    assert most < 380, most


@pytest.mark.long
@pytest.mark.parametrize("external", ["keep", "copy"])
def test_six_gigabytes(tmp_path: Path, external: str) -> None:
    path = sparse_model(tmp_path, 24, 8192)
    assert os.path.getsize(tmp_path / "m.data") > 6 * 10**9
    assert peak("std.onnx", str(path), "-o", str(tmp_path / "o.onnx"), "--external", external) < 1000
    after = onnx.load(tmp_path / "o.onnx", load_external_data=False)
    assert len(after.graph.node) < 72
    assert {e.value for t in after.graph.initializer for e in t.external_data if e.key == "location"} == {
        "m.data" if external == "keep" else "o.onnx.data"
    }
    with pytest.raises(InputError, match="do not fit into one file"):
        gslang.to_onnx(gslang.read(path), tmp_path / "i.onnx", external="inline")
    assert not (tmp_path / "i.onnx").exists()


# ── what goes where ─────────────────────────────────────────────────────────────────────────────────────────


def small_external(folder: Path, inner: bool = False) -> Path:
    weight = np.arange(1 << 20, dtype=np.float32).reshape(1024, 1024)
    found = model(
        [node("MatMul", ["x", "w"], ["y"])], [value("x", (2, 1024))], [value("y", (2, 1024))], {"w": weight}
    )
    folder.mkdir(exist_ok=True)
    onnx.save(found, folder / "m.onnx", save_as_external_data=not inner, location="m.data")
    return folder / "m.onnx"


def turned(path: Path) -> Any:
    rules = gslang.parse_rules(
        "dialect onnx;\n@once rule t(a, b: const): MatMul(a, b) => MatMul(a, Transpose(b, perm = [1, 0]) * "
        "2.0);"
    )
    return rules.apply(gslang.read(path), fold=True).graph


def checked(path: Path) -> onnx.ModelProto:
    onnx.checker.check_model(str(path), full_check=True)
    found = onnx.load(path)
    (weight,) = found.graph.initializer
    expected = np.arange(1 << 20, dtype=np.float32).reshape(1024, 1024).T * 2
    np.testing.assert_array_equal(onnx.numpy_helper.to_array(weight), expected)
    return onnx.load(path, load_external_data=False)


@pytest.mark.parametrize("large", [1 << 24, 1 << 16], ids=["in memory", "spilled"])
@pytest.mark.parametrize("external", ["keep", "copy", "inline"])
@pytest.mark.parametrize("inner", [False, True])
@pytest.mark.parametrize("there", ["same", "other"])
def test_new_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, large: int, external: str, inner: bool, there: str
) -> None:
    from gslang.evaluate import fold

    monkeypatch.setattr(spill, "LARGE", large)
    monkeypatch.setattr(fold, "LARGE", large)
    graph = turned(small_external(tmp_path / "same", inner))
    assert any(isinstance(v, Spilled) for v in graph.values.values()) is (large < 1 << 22)
    (tmp_path / there).mkdir(exist_ok=True)
    out = tmp_path / there / "o.onnx"
    gslang.to_onnx(graph, out, external=external)
    found = checked(out)
    outside = found.graph.initializer[0].data_location == TensorProto.EXTERNAL
    assert outside is (external == "copy" or (external == "keep" and not inner))
    assert sorted(p.name for p in out.parent.iterdir() if not p.name.startswith("m.")) == (
        ["o.onnx", "o.onnx.data"] if outside else ["o.onnx"]
    )


def test_beside_weights_that_stay_outside(tmp_path: Path) -> None:
    path = small_external(tmp_path / "m")
    rules = gslang.parse_rules(
        "dialect onnx;\n@once rule t(a, b: const): MatMul(a, b) => MatMul(MatMul(a, b), Transpose(b, perm = "
        "[1, 0]));"
    )
    gslang.write(rules.apply(gslang.read(path), fold=True, fold_limit=None).graph, path.with_name("o.onnx"))
    onnx.checker.check_model(str(path.with_name("o.onnx")))
    found = onnx.load(path.with_name("o.onnx"), load_external_data=False)
    where = [e.value for t in found.graph.initializer for e in t.external_data if e.key == "location"]
    assert sorted(where) == ["m.data", "o.onnx.data"]


def test_over_the_model_that_is_read(tmp_path: Path) -> None:
    """The new data file has another name than the one that is read."""
    path = small_external(tmp_path / "m")
    gslang.to_onnx(gslang.read(path), path.with_name("o.onnx"), external="copy")
    gslang.to_onnx(turned(path.with_name("o.onnx")), path.with_name("o.onnx"), external="copy")
    checked(path.with_name("o.onnx"))


@pytest.mark.parametrize("fails", ["data", "model"])
def test_a_failure_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: str) -> None:
    from gslang.formats.onnx import external, writer

    path = small_external(tmp_path / "m")
    graph = turned(path)
    out = path.with_name("o.onnx")
    out.write_bytes(b"old")
    out.with_name("o.onnx.data").write_bytes(b"old data")

    def full(*_: object) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(
        *((external, "write_piece", full) if fails == "data" else (writer, "_serialized", full))
    )
    with pytest.raises(InputError, match="no space left on device"):
        gslang.to_onnx(graph, out, external="copy")
    assert sorted(p.name for p in path.parent.iterdir()) == ["m.data", "m.onnx", "o.onnx", "o.onnx.data"]
    assert out.read_bytes() == b"old" and out.with_name("o.onnx.data").read_bytes() == b"old data"


def test_a_full_disk_while_folding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gslang.evaluate import fold

    def full(*_: object) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(spill, "LARGE", 1 << 16)
    monkeypatch.setattr(fold, "LARGE", 1 << 16)
    monkeypatch.setattr(spill, "write_piece", full)
    with pytest.raises(InputError, match="folded constants cannot be kept: no space left on device"):
        turned(small_external(tmp_path / "m"))


@pytest.mark.parametrize("shape", [(), (0, 3), (5,), (1000, 1500), (3, 700, 1000), (2, 3, 1, 700, 500)])
@pytest.mark.parametrize("order", ["C", "turned"])
def test_pieces_are_the_whole(shape: tuple[int, ...], order: str) -> None:
    array = np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)
    array = array if order == "C" else array.T
    assert b"".join(spill.pieces(array)) == np.ascontiguousarray(array).tobytes()


@pytest.mark.parametrize("element", [TensorProto.FLOAT, TensorProto.INT64])
@pytest.mark.parametrize("operator", ["Add", "Concat", "Gather"])
def test_a_long_vector_costs_no_memory(operator: str, element: int) -> None:
    """Data propagation would keep an entry for each of 10⁹ elements."""
    attributes = {} if operator == "Add" else {"axis": 0}
    nodes = [
        node("Neg", ["x"], ["n"]),
        node(operator, ["n", "n" if operator != "Gather" else "i"], ["y"], **attributes),
    ]
    inputs = [value("x", (10**9,), element), value("i", (10**9,), TensorProto.INT64)]
    graph = read_onnx(model(nodes, inputs, [value("y", None, element)]))
    assert str(graph.types[graph.outputs[0]].shape) == str((10**9 * (1 + (operator == "Concat")),))


def test_shapes_are_still_propagated() -> None:
    nodes = [
        node("Shape", ["x"], ["s"]), node("Slice", ["s", "zero", "two"], ["t"]),
        node("Concat", ["t", "six"], ["u"], axis=0), node("Reshape", ["y", "u"], ["z"]),
    ]
    weights = {"zero": np.array([0]), "two": np.array([2]), "six": np.array([6])}
    graph = read_onnx(model(nodes, [value("x", (4, 5, 7)), value("y", None)], [value("z", None)], weights))
    assert graph.types[graph.outputs[0]].shape == (4, 5, 6)


def _doubling(levels: int) -> Any:
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
    found = [helper.make_function("local", "f0", ["x"], ["y"], [node("Relu", ["x"], ["y"])], imports)]
    for k in range(1, levels + 1):
        body = [
            *(node(f"f{k - 1}", ["x"], [y], domain="local") for y in "ab"), node("Add", ["a", "b"], ["y"]),
        ]
        found.append(helper.make_function("local", f"f{k}", ["x"], ["y"], body, imports))
    result = model([node(f"f{levels}", ["x"], ["y"], domain="local")], [value("x")], [value("y", None)])
    result.functions.extend(found)
    result.opset_import.append(imports[1])
    return result


def test_local_functions_that_double_are_not_written_out() -> None:
    small, large = read_onnx(_doubling(5)), read_onnx(_doubling(60))
    assert small.types[small.outputs[0]].shape == (2, 3) and "warnings" not in small.meta
    assert large.types[large.outputs[0]].shape is None
    assert large.meta["warnings"] == [
        (
            "local functions that call themselves, or give more than 100,000 nodes, are not examined: "
            "types of their results are unknown"
        )
    ]
