"""`Loop` and `Scan` as onnxruntime computes them, where ONNX's reference implementation does not."""

from __future__ import annotations

import numpy
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

import onnxruntime
from onnx import ModelProto
from onnx.parser import parse_model

import gslang
from gslang.dialect.load import load_dialect
from gslang.evaluate.run import evaluate

SCAN = """<ir_version: 8, opset_import: ["": 17]>
agraph (float[2] s, float[3, 2, 4] x) => (float[2] last, float[?, ?, ?] all)
{
    last, all = Scan (s, x) <
        num_scan_inputs = 1 %s,
        body = b (float[2] state, float[%s] part) => (float[2] next, float[?, ?] out)
        { sums = ReduceSum <keepdims = 0> (part)
          more = Sin(sums)  next = Sub(more, state)  out = Mul(part, sums) }
    >
}"""
LOOP = """<ir_version: 8, opset_import: ["": 17]>
agraph (float[%s] x) => (float[%s] last, float[%s] all)
{
    n = Constant <value = int64 {3}> ()
    last, all = Loop (n, , x) <
        body = b (int64 k, bool on, float[%s] now) => (bool on2, float[%s] next, float[%s] out)
        { on2 = Identity(on)  next = Sin(now)  out = Neg(now) }
    >
}"""
AXES = [
    ("", "2, 4"),
    (", scan_input_axes = [2]", "3, 2"),
    (", scan_input_directions = [1]", "2, 4"),
    (", scan_output_axes = [1]", "2, 4"),
    (", scan_output_axes = [-1], scan_output_directions = [1]", "2, 4"),
    (", scan_input_axes = [-3], scan_input_directions = [1], scan_output_axes = [2]", "2, 4"),
]


def agrees(model: ModelProto, given: dict[str, numpy.ndarray]) -> None:
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    found = evaluate(gslang.from_onnx(model), load_dialect("onnx"), given)
    for ours, theirs in zip(found, session.run(None, given)):
        numpy.testing.assert_allclose(ours, theirs, rtol=1e-5)


@pytest.mark.parametrize(("axes", "part"), AXES)
def test_scans_along_all_axes_and_backwards(axes: str, part: str) -> None:
    rng = numpy.random.default_rng(0)
    given = {"s": rng.standard_normal(2, "float32"), "x": rng.standard_normal((3, 2, 4), "float32")}
    agrees(parse_model(SCAN % (axes, part)), given)


@pytest.mark.parametrize("dims", ["", "2", "2, 3"])
def test_what_a_loop_without_a_condition_collects(dims: str) -> None:
    shape = tuple(int(dim) for dim in dims.split(", ") if dim)
    x = numpy.random.default_rng(0).standard_normal(shape, "float32")
    collected = f"3, {dims}" if dims else "3"
    agrees(
        parse_model(LOOP % (dims, dims, collected, dims, dims, dims)), {"x": numpy.asarray(x)}
    )
