"""Proofs about constants whose numbers a rule reads, vectors of sizes and parts of splits; each beside rules
that are almost the same and wrong.
"""

from __future__ import annotations

import pytest

import gslang.api as api
from gslang.verify.prove.prove import prove
from gslang.verify.prove.terms.paths import NotProved

HEAD = "dialect onnx;\n"
UNSIGNED = """rule t(x: any(dtype = "float32"), s: const(shape = (_,)), z: const):
    (y := QuantizeLinear(Relu(x), s, z))
    where z.dtype == "uint8", numel(z.shape) == 1, z.ndim == 1, z.value[0] == 0, {0}
  => QuantizeLinear(x, s, z, y.*);"""
GEMM = """rule t(x, w, b): Add(MatMul(x, w), b)
    where x.ndim == 2, w.ndim == 2, broadcast({0}, b.shape) == {0}, x.dtype == "float32"
  => Gemm(x, w, b);"""
ROW = "all(any(e > -1e30 for e in row) and all(e < 1e30 for e in row) for row in {0}.value[0][0])"
GUARD = """rule t(x: any(shape = (2, 3, 4, 4), dtype = "float32"), a: const(shape = (1, 1, 4, 4))) {{
    p = Softmax({0}, axis = {1});
    Where(IsNaN(p), (z := const(value = 0.0)), p) where z.ndim <= 4, {2} => p
}}"""
GUARD_OF_TWO = GUARD.replace("(1, 1, 4, 4)))", "(1, 1, 4, 4)), b: const(shape = (1, 1, 4, 4)))")
RIGHT = [
    GUARD.format("x + a", 3, ROW.format("a")),
    GUARD.format("x + 2.0 * a", -1, ROW.format("a")),
    GUARD.format("Transpose(x + a, perm = (0, 1, 3, 2))", 2, ROW.format("a")),
    UNSIGNED.format("all(v > 0.0 for v in s.value)"),
    GEMM.format("(x.shape[0], w.shape[1])"),
    "rule t(x, r: const): Tile(x, r) where all(n == 1 for n in r.value) => x;",
    "rule t(x, s: any?) { s1 = Split(x, s); (y := s1.0) where y.shape[s1.axis] == x.shape[s1.axis] => x }",
    "rule t(x, s, u: const): Reshape(Reshape(x, s), u) where all(d != 0 for d in u.value) => Reshape(x, u);",
    "rule t(x, s: const): Expand(x, s) where all(d == 1 for d in s.value), s.shape[0] <= x.ndim => x;",
    "rule t(x, p: const, v: any?, a: any?): Pad(x, p, v, a) where all(d == 0 for d in p.value) => x;",
    "rule t(x, a: const(shape = ())): Max(x, x * a)\n"
    '    where a.value >= 0.0, a.value <= 1.0, x.dtype in ("float32", "float64")\n'
    "  => LeakyRelu(x, alpha = a.value);",
    "rule t(x, a: const(shape = (1,))): (s := Softmax(x - ReduceMax(x, a, keepdims = 1)))\n"
    "    where normalize_axis(a.value[0], x.ndim) == normalize_axis(s.axis, x.ndim) => Softmax(x, s.*);",
    "rule t(x, b: const, e: const, a: any?): (y := Slice(x, b, e, a)) where y.shape == x.shape => x;",
    "rule t(x, low: const, high: const): Clip(Relu(x), low, high)\n"
    "    where numel(low.shape) == 1, low.ndim == 0, low.value <= 0, high.ndim == 0, high.value >= 0\n"
    "  => Clip(x, const(value = 0, dtype = low.dtype), high);",
]
WRONG = [
    GUARD.format("x + a", 2, ROW.format("a")),  # of columns
    GUARD.format("x + Transpose(a, perm = (0, 1, 3, 2))", 3, ROW.format("a")),
    GUARD.format("x - a", 3, ROW.format("a")),  # −∞ becomes +∞
    GUARD.format("x * a", 3, ROW.format("a")),
    GUARD.format("x + a * x", 3, ROW.format("a")),
    GUARD.format("x + a + a * x", 3, ROW.format("a")),
    GUARD.format("x + a", 3, "a.ndim == 4"),
    GUARD_OF_TWO.format("x + a + b", 3, ROW.format("a") + ", " + ROW.format("b")),  # none by both
    GUARD.format("Slice(x + a, (0,), (2,), (3,))", 3, ROW.format("a")),  # it may stand behind
    GUARD.format("x + a", 3, "all(any(e > -1e30 for e in row) for row in a.value[0][0])"),  # +∞
    GUARD.format("x + a", 3, "all(all(e < 1e30 for e in row) for row in a.value[0][0])"),
    GUARD.format("x + a", 3, "any(any(e > -1e30 for e in row) for row in a.value[0][0])"),
    GUARD.format("x + a", 3, ROW.format("a").replace("e30", "e39")),
    GUARD.format("x + a", 3, "all(any(e > -1e30 for e in a.value[0][0][0]) for row in a.value[0][0])"),
    UNSIGNED.format("all(v < 0.0 for v in s.value)"),
    UNSIGNED.format("all(v >= 0.0 for v in s.value)"),
    UNSIGNED.format("all(v > -1.0 for v in s.value)"),
    UNSIGNED.format("all(0.0 > v for v in s.value)"),
    GEMM.format("w.shape"),  # b of w's shape makes one row of x three
    "rule t(x, r: const): Tile(x, r) where all(n <= 2 for n in r.value) => x;",
    "rule t(x, r: const): Tile(x, r) where r.value[0] == 1 => x;",
    "rule t(x, r: const): Tile(x, r) => x;",
    "rule t(x, s: any?) { s1 = Split(x, s); (y := s1.0) where y.shape[0] == x.shape[0] => x }",
    "rule t(x, s: any?) { s1 = Split(x, s); s1.1 => x }",
    "rule t(x) { s1 = Split(x, num_outputs = 2); s1.1 => s1.0 }",
    "rule t(x, s, u: const): Reshape(Reshape(x, s), u) => Reshape(x, u);",
    "rule t(x, s, u: const): Reshape(Reshape(x, s), u) where all(d != 0 for d in u.value) => Reshape(x, s);",
    "rule t(x, s, u: const): Reshape(Reshape(x, s), u) where all(d != -1 for d in u.value) => Reshape(x, u);",
    "rule t(x, s: const): Expand(x, s) where all(d == 1 for d in s.value) => x;",
    "rule t(x, s: const): Expand(x, s) where s.shape[0] <= x.ndim => x;",
    "rule t(x, p: const, v: any?, a: any?): Pad(x, p, v, a) where all(d <= 0 for d in p.value) => x;",
    "rule t(x, p: const, v: any?, a: any?): Pad(x, p, v, a) where p.value[0] == 0 => x;",
    "rule t(x, a: const(shape = ())): Max(x, x * a)\n"
    '    where a.value >= 0.5, x.dtype in ("float32", "float64")\n'
    "  => LeakyRelu(x, alpha = a.value);",
    "rule t(x, a: const(shape = ())): Max(x, x * a)\n"
    '    where a.value >= 0.0, a.value <= 2.0, x.dtype in ("float32", "float64")\n'
    "  => LeakyRelu(x, alpha = a.value);",
    "rule t(x, a: const(shape = ())): Min(x, x * a)\n"
    '    where a.value >= 0.0, a.value <= 1.0, x.dtype in ("float32", "float64")\n'
    "  => LeakyRelu(x, alpha = a.value);",
    "rule t(x, a: const(shape = (1,))): (s := Softmax(x - ReduceMax(x, a, keepdims = 1)))\n"
    "  => Softmax(x, s.*);",
    "rule t(x, a: const(shape = (1,))): (s := Softmax(x * ReduceMax(x, a, keepdims = 1)))\n"
    "    where normalize_axis(a.value[0], x.ndim) == normalize_axis(s.axis, x.ndim) => Softmax(x, s.*);",
    "rule t(x, y: any(shape = x.shape)): (s := Softmax(x - y)) => Softmax(x, s.*);",
    "rule t(x, b: const, e: const, a: any?, u: any?): (y := Slice(x, b, e, a, u))\n"
    "    where y.shape == x.shape => x;",
    "rule t(x, b: const, e: const, a: any?): (y := Slice(x, b, e, a)) where y.shape[0] == x.shape[0] => x;",
    "rule t(x, low: const, high: const): Clip(Relu(x), low, high)\n"
    "    where low.ndim == 0, low.value <= 0, high.ndim == 0, high.value >= 0\n"
    "  => Clip(x, low, high);",
    "rule t(x, low: const, high: const): Clip(Relu(x), low, high)\n"
    "    where low.ndim == 0, high.ndim == 0, high.value >= 0\n"
    "  => Clip(x, const(value = 0, dtype = low.dtype), high);",
    "rule t(x, w: const, k: const): MatMul(x, w) * k where numel(k.shape) == 1, k.ndim <= w.ndim\n"
    "  => MatMul(x, w * k);",
    "rule t(x, w: const, k: const): MatMul(x, w) * k where numel(k.shape) == 1, k.ndim == w.ndim\n"
    "  => MatMul(x, w * k);",
    "rule t(x): ReduceSum(Pow(x, 2.0), none, noop_with_empty_axes = 0, keepdims = 1)\n"
    "  => ReduceSumSquare(x, none, keepdims = 1);",
]


def proved(text: str) -> bool:
    (rule,) = api.parse_rules(HEAD + text).own.values()
    try:
        prove(rule, 30_000)
    except NotProved:
        return False
    return True


@pytest.mark.parametrize("text", RIGHT)
def test_right_rules_are_proved(text: str) -> None:
    assert proved(text)


@pytest.mark.parametrize("text", WRONG)
def test_rules_that_are_almost_the_same_are_not(text: str) -> None:
    assert not proved(text)


@pytest.mark.parametrize("call", ["ReduceMean(x, {}, keepdims = 1)", "ReduceSum(x, {}, keepdims = 1)"])
def test_axes_whose_numbers_are_read_have_any_order(call: str) -> None:
    """[-1, 0] begins with the last axis, too."""
    condition = "normalize_axis(axes.value[0], x.ndim) == x.ndim - 1"
    target = call.format('const(value = [-1], dtype = "int64")')
    texts = [
        f"dialect onnx;\nrule t(x, axes: const): {call.format('axes')} where {demanded} => {target};"
        for demanded in (condition, f"{condition}, axes.shape == (1,)")
    ]
    wrong, right = [next(iter(api.parse_rules(text).own.values())) for text in texts]
    with pytest.raises(NotProved):
        prove(wrong)
    assert prove(right).cases
