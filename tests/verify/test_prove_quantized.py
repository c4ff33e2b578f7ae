"""Proofs about operators on quantized numbers: scales of a bias, for each column, and none that are wrong."""

from __future__ import annotations

import pytest

import gslang.api as api
from gslang.verify.prove.prove import prove
from gslang.verify.prove.terms.paths import NotProved

CONV = """dialect onnx;
rule conv(
    x, xs: const(shape = ()), xz: const(shape = ()), w, ws: const(dtype = "float32"), wz: const,
    b: const(dtype = "int32"), bs: const, ys: const(shape = ()), yz: const(shape = ()),
) {
    c = Conv(
        DequantizeLinear(x, xs, xz), (v := DequantizeLinear(w, ws, wz)),
        DequantizeLinear(b, bs, const(value = 0)),
    );
    QuantizeLinear(c, ys, yz, precision = 0)
    where x.ndim == 3, x.dtype == "uint8", w.dtype == "int8", yz.dtype == "uint8", xs.dtype == "float32",
          ys.dtype == "float32", SCALES
  => QLinearConv(x, xs, xz, w, ws, wz, ys, yz, b, c.*)
}
"""
GEMM = """dialect onnx;
rule gemm(
    a, sa: const(shape = ()), za: const(shape = ()), b, sb: const(shape = (_,)), zb: const(shape = (_,)),
    c: const(shape = (_,), dtype = "int32"), sc: const(shape = (_,)), ys: const(shape = ()),
    yz: const(shape = ()),
) {
    g = Gemm(
        DequantizeLinear(a, sa, za), (v := DequantizeLinear(b, sb, zb)), DequantizeLinear(c, sc),
        alpha = 1.0, beta = 1.0, transA = 0, transB = 1,
    );
    QuantizeLinear(g, ys, yz, precision = 0)
    where a.dtype == "uint8", b.dtype == "int8", yz.dtype == "uint8", sa.dtype == "float32",
          sb.dtype == "float32", ys.dtype == "float32", SCALES
  => com.microsoft.QGemm(a, sa, za, b, sb, zb, c, ys, yz, transB = 1)
}
"""
ONE = "ws.shape == (), bs.shape == (), "
EACH = "v.axis == 0, sc.shape == sb.shape, "
CASES = {
    "a bias of its own scale": (CONV, ONE + "close(bs.value, ws.value, 1e-3)", False),
    "a bias of a square": (CONV, ONE + "close(bs.value, ws.value * ws.value, 1e-3)", False),
    "a bias of both scales": (CONV, ONE + "close(bs.value, xs.value * ws.value, 1e-3)", True),
    "either scale": (CONV, ONE + "close(bs.value, xs.value * ws.value, 1e-3) or bs.value == 1", False),
    "the scale of the first column": (
        GEMM, EACH + "all(close(n, sa.value * sb.value[0], 1e-3) for n in sc.value)", False,
    ),
    "scales of columns": (
        GEMM, EACH + "all(close(n, sa.value * s, 1e-3) for n, s in zip(sc.value, sb.value))", True,
    ),
    "scales of columns, or another": (
        GEMM,
        EACH + "sc.shape == (1,) or all(close(n, sa.value * s, 1e-3) for n, s in zip(sc.value, sb.value))",
        False,
    ),
    "scales along the other axis": (
        GEMM,
        "v.axis == 1, sc.shape == sb.shape, "
        "all(close(n, sa.value * s, 1e-3) for n, s in zip(sc.value, sb.value))", False,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_bias_has_the_product_of_both_scales(name: str) -> None:
    text, scales, right = CASES[name]
    (rule,) = api.parse_rules(text.replace("SCALES", scales)).own.values()
    if right:
        assert prove(rule).cases
    else:
        with pytest.raises(NotProved, match=" ≠ |number of scales|length"):
            prove(rule)


WITH = 'x: any(dtype = "float32"), s: const(shape = ()), z: const(shape = (), value = 0)'
WITHOUT = 'x: any(dtype = "float32"), s: const(shape = ())'
TYPES = {
    "any type": (WITHOUT, "Relu(x), s, none", "s.value > 0.0", "x, s, none, q.*", False),
    "no type": (WITHOUT, "Relu(x), s, none", "s.value > 0.0, q.output_dtype == 0", "x, s, none, q.*", True),
    "unsigned": (
        WITHOUT, "Relu(x), s, none", 's.value > 0.0, q.output_dtype == "uint16"', "x, s, none, q.*", True,
    ),
    "that of a zero point": (
        WITH, "Relu(x), s, z", 's.value > 0.0, z.dtype == "uint8"', "x, s, z, q.*", True,
    ),
    "no zero point any more": (WITH, "x, s, z", "s.value > 0.0", "x, s, none, q.*", False),
    "its type is stated": (
        WITH, "x, s, z", 's.value > 0.0, q.output_dtype == "int8"', "x, s, none, q.*", True,
    ),
}


@pytest.mark.parametrize("name", TYPES)
def test_quantized_numbers_have_the_stated_type(name: str) -> None:
    inputs, source, condition, target, right = TYPES[name]
    sides = f"q = QuantizeLinear({source}); q where {condition} => QuantizeLinear({target})"
    (rule,) = api.parse_rules(f"dialect onnx; rule r({inputs}) {{ {sides} }}").own.values()
    if right:
        assert prove(rule).cases
    else:
        with pytest.raises(NotProved):
            prove(rule)


ACTIVATIONS = {
    "Sigmoid": ("Sigmoid(d)", "com.microsoft.QLinearSigmoid(x, xs, xz, ys, yz)", True),
    "scales exchanged": ("Sigmoid(d)", "com.microsoft.QLinearSigmoid(x, ys, yz, xs, xz)", False),
    "zero points exchanged": ("Sigmoid(d)", "com.microsoft.QLinearSigmoid(x, xs, yz, ys, xz)", False),
    "its slope": (
        "LeakyRelu(d, alpha = 0.25)", "com.microsoft.QLinearLeakyRelu(x, xs, xz, ys, yz, alpha = 0.25)", True
    ),
    "the default's slope": (
        "LeakyRelu(d, alpha = 0.25)", "com.microsoft.QLinearLeakyRelu(x, xs, xz, ys, yz)", False
    ),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_an_activation_of_quantized_numbers_has_two_scales(name: str) -> None:
    source, target, right = ACTIVATIONS[name]
    inputs = "x, xs: const(shape = ()), xz: const(shape = ()), ys: const(shape = ()), yz: const(shape = ())"
    types = 'x.dtype == "uint8", yz.dtype == "uint8", xs.dtype == "float32", ys.dtype == "float32"'
    sides = (
        f"d = DequantizeLinear(x, xs, xz, block_size = 0); q = QuantizeLinear({source}, ys, yz,"
        f" block_size = 0, precision = 0 | 1); q where {types}, xs.value > 0.0, ys.value > 0.0 => {target}"
    )
    (rule,) = api.parse_rules(f"dialect onnx; rule r({inputs}) {{ {sides} }}").own.values()
    if right:
        assert prove(rule).cases
    else:
        with pytest.raises(NotProved, match=" ≠ |undefined"):
            prove(rule)
