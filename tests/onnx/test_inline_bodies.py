"""`fold` lets bodies that are sure to run take the places of `If` and `Loop`; numbers are held to onnx's
reference.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx")

from onnx import ModelProto, TensorProto, checker, load, save
from onnx.parser import parse_model
from onnx.reference import ReferenceEvaluator

from gslang.cli.main import main

HEAD = '<ir_version: 9, opset_import: ["": 18]>\n'
BRANCHES = """agraph (float[2, 3] x, float[2, 3] z) => (float[2, 3] y, float[2, 3] w)
<float one = {1.0}, bool yes = {CONDITION}>
{
    a = Exp(x)
    p, q = If (yes) <
        then_branch = then_graph () => (float[2, 3] t, float[2, 3] u) { t = Add(a, one)  u = Identity(z) },
        else_branch = else_graph () => (float[2, 3] e, float[2, 3] f)
            { s = Neg(a)  e = Mul(s, one)  f = Sub(x, one) }
    >
    y = Abs(p)
    w = Identity(q)
}"""
COMPUTED = """agraph (float[2, 3] x) => (float[2, 3] y)
<int64[1] limit = {1}, int64[1] index = {0}, float two = {2.0}>
{
    dims = Shape(x)
    rows = Gather<axis = 0>(dims, index)
    many = Greater(rows, limit)
    y = If (many) <
        then_branch = g1 () => (float[2, 3] t) {
            few = Not(many)
            t = If (few) <
                then_branch = g2 () => (float[2, 3] u) { u = Add(x, two) },
                else_branch = g3 () => (float[2, 3] v) { v = Mul(x, two) }
            >
        },
        else_branch = g4 () => (float[2, 3] e) { e = Neg(x) }
    >
}"""
LOOP = """agraph (float[2] x) => (float[2] last, float[ROUNDS, 2] all)
<int64 rounds = {COUNT}, bool yes = {1}, float half = {0.5}>
{
    h = Mul(x, half)
    last, all = Loop (rounds, yes, x) <
        body = b (int64 k, bool go, float[2] now) => (bool on, float[2] next, float[2] seen) {
            on = Identity(go)
            count = Cast<to = 1>(k)
            sum = Add(now, h)
            next = Mul(sum, count)
            seen = Neg(next)
        }
    >
}"""
ENDS = """agraph (float[2] x) => (float[2] last)
<int64 rounds = {3}, bool yes = {1}, float limit = {10.0}>
{
    last = Loop (rounds, yes, x) <
        body = b (int64 k, bool go, float[2] now) => (bool on, float[2] next) {
            next = Add(now, now)
            largest = ReduceMax<keepdims = 0>(next)
            on = Less(largest, limit)
        }
    >
}"""


def folded(text: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[ModelProto, ModelProto]:
    """A model, and what `fold` makes of it."""
    before = parse_model(HEAD + text)
    checker.check_model(before)
    save(before, folder / "m.onnx")
    (folder / "none.gsl").write_text(
        "dialect onnx;\nrule nothing(x): Relu(Relu(Relu(Relu(x)))) => Relu(x);\n"
    )
    assert (
        main([
            "apply", str(folder / "none.gsl"), str(folder / "m.onnx"), "--fold", "-o", str(folder / "o.onnx"),
            "--backend", "reference", "--check-numbers",
        ])
        == 0
    )
    capsys.readouterr()
    after = load(folder / "o.onnx")
    checker.check_model(after, full_check=True)
    rng = np.random.default_rng(1)
    inputs = {
        value.name: rng.normal(size=[d.dim_value for d in value.type.tensor_type.shape.dim]).astype("float32")
        for value in before.graph.input
    }
    for left, right in zip(
        ReferenceEvaluator(before).run(None, inputs), ReferenceEvaluator(after).run(None, inputs)
    ):
        np.testing.assert_allclose(left, right, rtol=1e-6)
    return before, after


def operators(model: Any) -> list[str]:
    return [node.op_type for node in model.graph.node]


@pytest.mark.parametrize(
    ("condition", "kept"),
    [("1", ["Exp", "Add", "Abs", "Identity"]), ("0", ["Exp", "Neg", "Sub", "Abs", "Identity"])],
)
def test_a_branch(
    condition: str, kept: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, after = folded(BRANCHES.replace("CONDITION", condition), tmp_path, capsys)
    assert "If" not in operators(after) and set(kept) <= set(operators(after))
    assert [value.name for value in after.graph.output] == ["y", "w"]


def test_a_condition_that_folding_computes_and_one_inside(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "s.gsl").write_text("dialect onnx;\nuse std.onnx;\n")
    before = parse_model(HEAD + COMPUTED)
    save(before, tmp_path / "m.onnx")
    assert (
        main(
            ["apply", "std.onnx", str(tmp_path / "m.onnx"), "--pass", "basic", "-o", str(tmp_path / "o.onnx")]
        )
        == 0
    )
    capsys.readouterr()
    after = load(tmp_path / "o.onnx")
    x = np.arange(6, dtype="float32").reshape(2, 3)
    assert "If" not in operators(after) and "Mul" in operators(after)
    np.testing.assert_allclose(
        ReferenceEvaluator(before).run(None, {"x": x})[0], ReferenceEvaluator(after).run(None, {"x": x})[0]
    )


@pytest.mark.parametrize("rounds", [1, 3])
def test_a_loop_unrolls(rounds: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, after = folded(LOOP.replace("COUNT", str(rounds)).replace("ROUNDS", str(rounds)), tmp_path, capsys)
    assert "Loop" not in operators(after) and operators(after).count("Add") == rounds


NO_ROUND = """agraph (float[2] x, int64[1] given) => (OUTPUTS)
<int64 rounds = {COUNT}, bool yes = {CONDITION}>
{
    last, all = Loop (TRIPS, yes, x) <
        body = b (int64 k, bool go, float[2] now) => (bool on, float[2] next, float[SIZE] seen) {
            on = Identity(go)
            next = Neg(now)
            seen = EXPAND
        }
    >
}"""


@pytest.mark.parametrize(("trips", "count", "condition"), [
    ("rounds", 0, 1), ("rounds", -3, 1), ("rounds", 5, 0), ("given", 0, 0),
])  # fmt: skip
@pytest.mark.parametrize(("size", "outputs", "goes"), [
    ("2", "float[2] last, float[0, 2] all", True), ("m", "float[2] last", True),
    ("m", "float[2] last, float[0, n] all", False),
])  # fmt: skip
def test_a_loop_without_rounds(
    trips: str, count: int, condition: int, size: str, outputs: str, goes: bool, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """What it collects is empty; of an unknown size it can only be left out."""
    text = NO_ROUND.replace("OUTPUTS", outputs).replace("SIZE", size).replace("TRIPS", trips)
    text = text.replace("COUNT", str(count)).replace("CONDITION", str(condition))
    save(
        parse_model(HEAD + text.replace("EXPAND", "Exp(now)" if size == "2" else "ConstantOfShape(given)")),
        tmp_path / "m.onnx",
    )
    (tmp_path / "none.gsl").write_text("dialect onnx;\nrule nothing(x): Relu(Relu(Relu(x))) => Relu(x);\n")
    check = ["--check-numbers", "--backend", "reference"] if size == "2" else []
    files = [str(tmp_path / name) for name in ("none.gsl", "m.onnx", "o.onnx")]
    assert main(["apply", *files[:2], "--fold", "-o", files[2], *check]) == 0
    capsys.readouterr()
    after = load(files[2])
    checker.check_model(after, full_check=True)
    assert ("Loop" not in operators(after)) == goes
    if goes:
        x = np.array([1.5, -2.0], np.float32)
        found = ReferenceEvaluator(after).run(None, {"x": x, "given": np.array([7])})
        np.testing.assert_array_equal(found[0], x)
        assert size == "m" or found[1].shape == (0, 2) and found[1].dtype == np.float32


@pytest.mark.parametrize("text", [LOOP.replace("COUNT", "40").replace("ROUNDS", "40"), ENDS])
def test_what_is_not_sure_stays(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Many rounds, and a condition that each round computes."""
    _, after = folded(text, tmp_path, capsys)
    assert "Loop" in operators(after)


def test_an_open_condition_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = BRANCHES.replace("<float one = {1.0}, bool yes = {CONDITION}>", "<float one = {1.0}>").replace(
        "float[2, 3] z) =>", "float[2, 3] z, bool yes) =>"
    )
    before = parse_model(HEAD + text)
    assert before.graph.input[2].type.tensor_type.elem_type == TensorProto.BOOL
    save(before, tmp_path / "m.onnx")
    assert (
        main(
            ["apply", "std.onnx", str(tmp_path / "m.onnx"), "--pass", "basic", "-o", str(tmp_path / "o.onnx")]
        )
        == 0
    )
    capsys.readouterr()
    assert "If" in operators(load(tmp_path / "o.onnx"))


def test_a_trace_is_applied_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Rules match what came out of a body, and a trace names it."""
    save(parse_model(HEAD + COMPUTED), tmp_path / "m.onnx")
    trace = ["--trace", str(tmp_path / "t.jsonl")]
    assert (
        main([
            "apply", "std.onnx", str(tmp_path / "m.onnx"), "--pass", "basic", *trace, "-o",
            str(tmp_path / "a.onnx"),
        ])
        == 0
    )
    assert (
        main([
            "apply", "std.onnx", str(tmp_path / "m.onnx"), "--replay", str(tmp_path / "t.jsonl"), "-o",
            str(tmp_path / "b.onnx"),
        ])
        == 0
    )
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()
    capsys.readouterr()


def test_loops_in_which_branches_stay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each round has its own copy of a branch that reads the round's values."""
    text = """agraph (float[2] x, float[1] s) => (float[2] last)
    <int64 rounds = {2}, float half = {0.5}, float zero = {0.0}, bool yes = {1}>
    {
        h = Mul(x, half)
        total = ReduceSum<keepdims = 0>(s)
        flag = Greater(total, zero)
        last = Loop (rounds, yes, x) <
            body = b (int64 k, bool go, float[2] now) => (bool on, float[2] next) {
                on = Identity(go)
                next = If (flag) <
                    then_branch = g1 () => (float[2] u) { u = Add(now, h) },
                    else_branch = g2 () => (float[2] v) { w = Mul(now, half)  v = Sub(w, h) }
                >
            }
        >
    }"""
    _, after = folded(text, tmp_path, capsys)
    assert operators(after).count("If") == 2 and "Loop" not in operators(after)
