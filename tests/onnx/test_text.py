"""Models in ONNX's text form: read, rewritten and written with their bodies, mistakes with their place."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnx")

import gslang
from gslang.base.diagnostics import InputError
from gslang.cli.main import main
from gslang.formats.registry import graph_from_bytes, graph_text

MODEL = """# a loop that negates
<
   ir_version: 10,
   opset_import: ["" : 20]
>
g (bool go, float[3] x) => (float[3] y)
   <int64 n = {2}, float[3] k = {0.1234567, inf, -1}>
{
   z = Add (x, k)
   y = Loop (n, go, z) <body: graph = body (int64 i, bool c, float[3] v) => (bool c_out, float[3] v_out) {
      c_out = Identity (c)
      v_out = Neg (v)
   }>
}
"""


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    first = tmp_path / "first.onnxtxt"
    first.write_text(MODEL)
    second = tmp_path / "second.onnxtxt"
    gslang.write(gslang.read(first), second)
    assert "Loop (n, go, z) <body: graph = body" in second.read_text()
    assert graph_text(gslang.read(second), "onnxtxt") == second.read_text()
    inputs = {"go": np.array(True), "x": np.array([1, 2, 3], np.float32)}
    np.savez(tmp_path / "inputs.npz", **inputs)
    results = []
    for path in (first, second):
        out = tmp_path / "out.npz"
        assert main(["run", str(path), "--inputs", str(tmp_path / "inputs.npz"), "-o", str(out)]) == 0
        with np.load(out) as values:
            results.append([values[name] for name in values.files])
    np.testing.assert_array_equal(results[0], results[1])


def test_a_mistake_has_a_place() -> None:
    with pytest.raises(InputError, match="this is not an ONNX model") as found:
        graph_from_bytes(MODEL.replace("Neg (v)", "Neg (v").encode(), "m.onnxtxt", "onnxtxt")
    assert (found.value.path, found.value.place) == ("m.onnxtxt", "13:4")


def test_a_graph_of_another_dialect_is_refused(tmp_path: Path) -> None:
    graph = tmp_path / "g.json"
    graph.write_text(
        '{"format": "gsl-graph", "version": 1, "nodes": [{"id": "x", "kind": "input", "shape": [2], '
        '"dtype": "float32"}], "outputs": ["x"]}'
    )
    with pytest.raises(InputError, match="cannot be an ONNX model"):
        gslang.write(gslang.read(graph), tmp_path / "g.onnxtxt")
