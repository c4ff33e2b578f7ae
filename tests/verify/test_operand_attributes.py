"""Rules that read an operand as the attribute that it is in other versions, and leave it open: instances have
a constant there that fits, or nothing.
"""

from __future__ import annotations

import re

import pytest

import gslang.api as api
from gslang.graph.graph import CONST
from gslang.verify.instances.draw import Search, instances
from gslang.verify.verdict import Settings, verify_now

RIGHT = {
    "onnx": [
        "rule r(x) { y = Clip(x, min = (a := _), max = (b := _)); y => Clip(x, min = a, max = b) }",
        'rule r(x: any(dtype = "float32")): Clip(Clip(x, min = (a := _)), max = (b := _)) => '
        "Clip(x, min = a, max = b);",
        "rule r(x) { y = Squeeze(x, axes = (s := _)); y => Squeeze(x, axes = s) }",
        'rule r(x: any(dtype = "float32")): Neg(ReduceSum(x, axes = (a := _), keepdims = 0, '
        "noop_with_empty_axes = 0)) => ReduceSum(Neg(x), axes = a, keepdims = 0);",
        "rule r(x) { y = Split(x, split = (s := _), axis = (a := _)); y.0, y.1 where s != none, len(s) == 2 "
        "=> z = Split(x, split = s, axis = a); z.0, z.1 }",
        # beside a number of parts, a model is refused that states their lengths
        "rule r(x) { y = Split(x, split = (s := _), num_outputs = 2); y.0, y.1 "
        "=> z = Split(x, axis = y.axis, num_outputs = 2); z.0, z.1 }",
        'rule r(x: any(dtype = "float32")): Slice(Relu(x), starts = (s := _), ends = (e := _), '
        "axes = (a := _)) => Relu(Slice(x, starts = s, ends = e, axes = a));",
        'rule r(x) { y = Pad(x, pads = (p := _), mode = "constant"); Relu(y) where x.ndim == 1 '
        "=> Pad(Relu(x), y.*) }",
        'rule r(x) { y = Reshape(x, shape = (s := _), allowzero = 0); y => Reshape(x, shape = s) }',
        "rule r(x) { y = TopK(x, K = (k := _)); y.0, y.1 => z = TopK(x, K = k, axis = y.axis, "
        "largest = y.largest, sorted = y.sorted); z.0, z.1 }",
        "rule r(x) { y = Unsqueeze(x, axes = (s := (_,))); y => Unsqueeze(x, axes = s) }",
        "rule r(x) { s = SplitToSequence(x, (n := any()), axis = (a := _), keepdims = 1); "
        "ConcatFromSequence(s, axis = a, new_axis = 0) => x }",
    ],
    "relay": [
        'rule r(x: any(dtype = "float32")) { p = nn.pad(x, pad_value = (v := _)); nn.relu(p) where v >= 0.0 '
        "=> nn.pad(nn.relu(x), p.*) }",
        "rule r(x) { p = nn.pad(x, pad_value = (v := _)); p => nn.pad(x, p.*, pad_value = v) }",
    ],
}


@pytest.mark.parametrize("dialect, text", [(name, text) for name, texts in RIGHT.items() for text in texts])
def test_right_rules_are_accepted(dialect: str, text: str) -> None:
    verdict = verify_now(api.parse_rules(f"dialect {dialect};\n{text}").own["r"], Settings(seconds=60))
    assert verdict.verdict in ("proved", "exact", "tested"), verdict.reason


@pytest.mark.parametrize(
    "source, right",
    [
        ("y = DFT(x, n)", "DFT(x, n, y.*)"),
        ("y = STFT(x, n, w, l)", "STFT(x, n, w, l, y.*)"),
        ("y = AffineGrid(x, n)", "AffineGrid(x, n, y.*)"),
        ("y = NonMaxSuppression(x, n, m, i, t)", "NonMaxSuppression(x, n, m, i, t, y.*)"),
        (
            "y = NonMaxSuppression(x, n, m)",
            'NonMaxSuppression(x, n, m, const(value = [0.0], dtype = "float32"), none, y.*)',
        ),
        ("y = NonMaxSuppression(x, n, const(value = 2))", "NonMaxSuppression(x, n, const(value = [2]), y.*)"),
        ("y = TensorScatter(x, n, i)", "TensorScatter(x, n, i, y.*)"),
        ("y = MaxUnpool(x, n, i)", "MaxUnpool(x, n, i, y.*)"),
        ("y = Upsample(x, n)", "Upsample(x, n, y.*)"),
        ("y = DeformConv(x, n, w)", "DeformConv(x, n, w, y.*)"),
        ("y = SequenceLength(SequenceErase(x, n))", "Sub(SequenceLength(x), const(value = 1))"),
        ("y = SequenceAt(x, const(value = -1))", "Identity(SequenceAt(x, const(value = -1)))"),
    ],
)
def test_operands_that_fit_together_are_found(source: str, right: str) -> None:
    names = [name for name in "xnmitwl" if re.search(rf"[( ]{name}[,)]", source)]
    text = f"dialect onnx;\nrule r({', '.join(names)}) {{ {source}; y => {right} }}"
    verdict = verify_now(api.parse_rules(text).own["r"], Settings(seconds=60))
    assert verdict.verdict in ("proved", "exact", "tested"), verdict.reason


def test_an_input_that_is_a_sequence_is_named() -> None:
    text = "dialect onnx;\nrule r(s: input) { y = SequenceLength(s); y => SequenceLength(s) }"
    search = Search()
    assert not list(instances(api.parse_rules(text).own["r"], search, 0, 10, 10))
    assert "no sequence of tensors is made for an input" in search.obstacle


@pytest.mark.parametrize(
    "rule, place, may_be_absent",
    [
        ("rule r(x) { y = Clip(x, min = (a := _)); y => x }", 1, True),
        ("rule r(x) { y = Clip(x, max = (a := _)); y => x }", 2, True),
        ("rule r(x) { y = Squeeze(x, axes = (s := _)); y => x }", 1, True),
        ("rule r(x) { y = ReduceMax(x, axes = (s := _)); y => x }", 1, True),
        ("rule r(x) { y = ReduceMax(x, axes = (s := (_, _))); y => x }", 1, False),
        ("rule r(x) { y = Split(x, split = (s := _)); y.0 => x }", 1, True),
        ("rule r(x) { y = Pad(x, pads = (s := _)); y => x }", 1, False),
        ("rule r(x) { y = Pad(x, pads = (s := _), constant_value = (v := _)); y => x }", 2, True),
        ("rule r(x) { y = Reshape(x, shape = (s := _)); y => x }", 1, False),
        ("rule r(x) { y = Slice(x, starts = (s := _), ends = (e := _)); y => x }", 2, False),
        ("rule r(x) { y = TopK(x, K = (k := _)); y.0 => x }", 1, False),
        ("rule r(x) { y = TopK(x, K = (k := 1 | 2)); y.0 => x }", 1, False),
        ("rule r(x) { y = Unsqueeze(x, axes = (k := _)); y => x }", 1, False),
        ("rule r(x) { y = Upsample(x, scales = (s := _)); y => x }", 1, False),
    ],
)
def test_an_open_operand_is_a_constant_or_absent(rule: str, place: int, may_be_absent: bool) -> None:
    drawn = list(instances(api.parse_rules(f"dialect onnx;\n{rule}").own["r"], Search(), 0, 20, 40))
    graphs = [instance.before for instance in drawn]
    calls = [next(n for n in graph.nodes() if graph.operands[n]) for graph in graphs]
    there = [
        graph.op[operands[place]] is CONST
        for graph, call in zip(graphs, calls)
        if place < len(operands := graph.operands[call]) and operands[place] >= 0
    ]
    assert len(there) >= 5
    assert all(there)
    assert (len(there) < len(graphs)) == may_be_absent


def test_an_operand_that_the_target_copies_is_a_constant_at_times() -> None:
    rule = api.parse_rules("rule r(x) { p = nn.pad(x, pad_value = _); p => nn.pad(x, p.*) }").own["r"]
    drawn = [instance.before for instance in instances(rule, Search(), 0, 20, 40)]
    assert {len(graph.operands[graph.op.index("nn.pad")]) for graph in drawn} == {1, 2}
