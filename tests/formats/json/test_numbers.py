"""Constants that are one number: no array until somebody asks, and the same results as with arrays."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gslang.base.diagnostics import InputError
from gslang.engine.constraints import equals_rounded
from gslang.formats.registry import read_graph
from gslang.graph.scalar import Scalar, as_element

RULE = "dialect relay;\nrule add_zero(x) { x + 0 => x }\n"
GRAPH = {
    "format": "gsl-graph", "version": 1, "dialect": "relay", "name": "main",
    "nodes": [
        {"id": "x", "kind": "input", "shape": [2], "dtype": "float32"},
        {"id": "zero", "kind": "const", "shape": [], "dtype": "float32", "value": 0.0},
        {"id": "tenth", "kind": "const", "shape": [], "dtype": "float32", "value": 0.1},
        {"id": "a", "kind": "call", "op": "add", "inputs": ["x", "zero"]},
        {"id": "b", "kind": "call", "op": "add", "inputs": ["a", "tenth"]},
    ],
    "outputs": ["b"],
}  # fmt: skip


def test_numpy_is_not_needed(tmp_path: Path) -> None:
    (tmp_path / "r.gsl").write_text(RULE)
    (tmp_path / "g.json").write_text(json.dumps(GRAPH))
    code = (
        "import sys\nsys.modules['numpy'] = None\nfrom gslang.cli.main import main\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", code, "r.gsl", "g.json", "-o", "out.json"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    after = json.loads((tmp_path / "out.json").read_text())
    assert [node["id"] for node in after["nodes"]] == ["x", "tenth", "b"]
    assert after["nodes"][1]["value"] == float(numpy.float32(0.1))


@given(
    st.sampled_from(sorted(Scalar.dtypes)),
    st.floats(width=64, allow_nan=False) | st.integers(-(2**31), 2**31 - 1), st.integers(-3, 3) | st.floats(),
)
def test_compared_as_arrays_are(dtype: str, number: float | int, wanted: float | int) -> None:
    element = as_element(number, dtype)
    if element is None or dtype.startswith("int") and abs(element) >= 2**31:
        return
    held = Scalar(element, dtype)
    assert (
        held.load().dtype == dtype and held.load().shape == held.shape and held.load().nbytes == held.nbytes
    )
    for value in (wanted, number, element):
        assert equals_rounded(held, value) == equals_rounded(held.load(), value)


@pytest.mark.parametrize(
    "value", [[1.5, 2], [1.5, "nan"], [1, 2], [-0.0, 1e-40], [2**60, 2**53 + 1], [1e300, 1]]
)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int64", "uint8", "bool"])
def test_lists_have_the_elements_that_they_name(value: list[object], dtype: str, tmp_path: Path) -> None:
    """Held to one element at a time: what fits each as a constant of its own fits in a list, with the same
    value.
    """
    def read(value: object, shape: list[int]) -> object:
        nodes = [
            GRAPH["nodes"][0], {"id": "k", "kind": "const", "shape": shape, "dtype": dtype, "value": value},
        ]  # type: ignore[index]
        (tmp_path / "g.json").write_text(json.dumps({**GRAPH, "nodes": nodes, "outputs": ["k"]}))
        try:
            graph = read_graph(tmp_path / "g.json")
        except InputError:
            return None
        return graph.value(graph.outputs[0])

    whole, single = read(value, [2]), [read(item, []) for item in value]
    if any(item is None for item in single):
        assert whole is None
    else:
        numpy.testing.assert_array_equal(whole, numpy.array(single, dtype))
