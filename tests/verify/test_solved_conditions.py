"""Conditions that random instances hardly satisfy are solved."""

from __future__ import annotations

import pytest

import gslang.api as api
from gslang.verify.verdict import Settings, verify_now

LENGTHS = """
dialect relay;
rule r(x: any(shape = (_, _))) {
    y = reshape(x, newshape = (n := _));
    transpose(y, axes = [0, 1, 2, 4, 3]) where len(n) == 5
  =>
    transpose(reshape(x, newshape = n, allowzero = y.allowzero), axes = [0, 1, 2, {}])
}
"""
NUMBERS = """
dialect onnx;
rule r(
    x: any(dtype = "float32"),
    l: const(shape = (), dtype = "float32"),
    h: const(shape = (), dtype = "float32"),
    s: const(shape = (), dtype = "float32"),
    z: const(shape = (), dtype = "uint8"),
):
    (q := QuantizeLinear(Clip(x, l, h), s, z))
    where s.value > 0, l.value <= {} * s.value, h.value >= 300.0 * s.value
  => QuantizeLinear(x, s, z, q.*);
"""
CHANNELS = """
dialect onnx;
rule r(x: any(dtype = "float32")):
    SpaceToDepth(DepthToSpace(x, blocksize = 2, mode = "CRD"), blocksize = 2, mode = "DCR")
    where x.shape[1] // 8 <= {}
  => x;
"""
STATED = """
dialect onnx;
rule r(x: any(shape = ((n := _), (c := _), (h := _)))) {
    a = Reshape(Transpose(Reshape(x, (n, 2, c // 2, h)), perm = (0, 2, 1, 3)), (n, c, h));
    Reshape(Transpose(Reshape(a, (n, 2, c // 2, h)), perm = (0, 2, 1, 3)), (n, c, h))
    where n * c * h > 0, c % 2 == 0, c <= {}
  => x
}
"""
UPDATES = """
dialect onnx;
rule r(x: any(shape = (_, _), dtype = "float32"), i: any(shape = ({}, 1), dtype = "int64"), u) {
    GatherND(ScatterND(x, i, u, reduction = "add"), i, batch_dims = 0) where x.shape[0] == 1
  => Add(GatherND(x, i), u)
}
"""


@pytest.mark.parametrize("text, wrong, right", [
    (LENGTHS, "3, 4", "4, 3"), (NUMBERS, "4.0", "-300.0"), (CHANNELS, "1", "0"), (STATED, "8", "4"),
    (UPDATES, "_", "1"),
])
def test_a_condition_is_satisfied(text: str, wrong: str, right: str) -> None:
    """`text`: with a place for what is wrong or right; the length of a captured shape, numbers of one element
    on both sides of a comparison, a quotient that is 0, shapes that read captured sizes, and updates that
    belong to indices."""
    for part, wanted in ((wrong, ("refuted",)), (right, ("tested", "exact", "proved"))):
        rules = api.parse_rules(text.replace("{}", part))
        assert rules.diagnostics == ()
        assert verify_now(rules.own["r"], Settings(seconds=60)).verdict in wanted


def test_operators_of_instances_that_conditions_name() -> None:
    """By chance alone, three calls hardly ever have the operators that are asked for."""
    rules = api.parse_rules(
        "dialect onnx;\n"
        "rule run(x) { chain c in 3.. from x { f = op(elementwise, unary); y = f(prev.y);\n"
        '    where y.op in ("Relu", "Abs"); } c[-1].y where all(i.y.op == "Relu" for i in c) => Relu(x) }\n'
        "rule alike(x, f: op(elementwise, unary)) { each b in 2.. { y = f(x); }\n"
        '    *b.y where all(i.y.op == "Exp" for i in b) => *[Exp(x) for i in b] }\n'
    )
    assert rules.diagnostics == ()
    for rule in rules.own.values():
        verdict = verify_now(rule, Settings(seconds=20))
        assert verdict.verdict in ("tested", "exact", "proved") and verdict.instances > 10, verdict
