"""`gslc bench`: a model before and after rules in onnxruntime.

What the clock says is tested in `tests/evaluate/test_times.py`.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from gslang.cli.main import main

pytestmark = pytest.mark.skipif(find_spec("onnxruntime") is None, reason="onnxruntime is not installed")

MODEL = Path(__file__).parent.parent / "onnx" / "exports" / "vit.dy18.dynamic.sdpa.nomask.f32.onnx"
QUICK = ("--rounds", "7", "--warm-up", "1", "--threads", "1", "--dim", "b=2")
FULL = ("std.onnxruntime", "--pass", "onnxruntime")


def bench(*arguments: object) -> int:
    return main(["bench", *map(str, arguments)])


def test_before_and_after(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(MODEL, *FULL, *QUICK) == 0
    head, titles, before, after, said = capsys.readouterr().out.splitlines()
    assert head.endswith("CPUExecutionProvider, level all, 1 thread; 7 rounds")
    assert titles.split() == ["median", "quartiles"]
    assert before.startswith("before") and after.startswith("after")
    assert "noise" in said and "the noise of up to" in said


def test_without_rules_the_model_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(MODEL, *QUICK) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()[2:]] == ["before"]


def test_too_few_rounds_say_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(MODEL, *FULL, "--rounds", 3, "--dim", "b=2") == 0
    assert (
        capsys.readouterr().out.splitlines()[-1]
        == "too few rounds to tell the difference from noise (at least 6)"
    )


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(MODEL, *FULL, *QUICK, "--format", "json", "--level", "basic") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["provider"], found["level"], found["threads"], found["measured"]) == (
        "CPUExecutionProvider", "basic", 1, True,
    )
    for which in ("before", "after"):
        low, high = found[which]["quartiles"]
        assert (
            0 < found[which]["least"] <= low <= found[which]["median"] <= high and found[which]["runs"] == 7
        )
    assert found["interval"][0] <= found["ratio"] <= found["interval"][1]
    assert (
        found["noise"][0] <= found["noise"][1] and found["confidence"] == 0.95
        and found["more_than_noise"] in (True, False)
    )


def test_the_report_takes_it_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = tmp_path / "report.json"
    assert bench(MODEL, *FULL, *QUICK, "--report", report) == 0
    found = json.loads(report.read_text(encoding="utf-8"))
    assert found["nodes"]["after"] < found["nodes"]["before"] and found["latency"]["after"]["runs"] == 7


def test_the_report_of_a_model_alone(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    assert bench(MODEL, *QUICK, "--report", report) == 0
    assert set(json.loads(report.read_text(encoding="utf-8"))) == {"latency"}


def test_apply_measures_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from gslang.formats.onnx import latency

    monkeypatch.setattr(latency, "MOST_ROUNDS", 11)
    report = tmp_path / "report.json"
    arguments = [
        "std.onnx", str(MODEL), "--pass", "basic", "-o", str(tmp_path / "out.onnx"), "--report", str(report),
        "--bench",
    ]
    assert main(arguments) == 0
    assert "11 rounds" in capsys.readouterr().err
    assert json.loads(report.read_text(encoding="utf-8"))["latency"]["before"]["runs"] == 11
    assert main(arguments[:-1]) == 0
    assert json.loads(report.read_text(encoding="utf-8"))["latency"] == {"measured": False}


@pytest.mark.parametrize(
    "arguments, code, said",
    [
        ([MODEL, "--provider", "cuad"], 3, "onnxruntime has no execution provider `cuad` here"),
        ([MODEL, "--dim", "c=2"], 3, "the graph has no dimension `c`"),
        ([MODEL, "--dim", "b"], 2, "expected NAME=N"),
        ([MODEL, "--rounds", "0"], 2, "expected a number from 1"),
        ([MODEL, "--seconds", "soon"], 2, "expected seconds from 0.001 to 86400"),
        ([MODEL, "--pass", "basic"], 2, "need rules"),
        ([MODEL, "std.onnx", "--pass", "basics"], 2, "did you mean `basic`?"),
        ([MODEL, "--inputs", "nothing.npz"], 3, "nothing.npz"),
        ([MODEL, "--report", "-"], 2, "the report must be written to a file"),
        ([MODEL, "--report", MODEL], 2, "would overwrite the model"),
        (["rules.gsl", MODEL], 2, "the model comes first"),
        (["nothing.onnx"], 3, "no such file"),
    ],
)
def test_refusals(arguments: list[object], code: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(*arguments) == code
    found = capsys.readouterr().err
    assert said in found and "Traceback" not in found


def test_other_graphs_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = tmp_path / "graph.relay"
    graph.write_text("fn (%x: Tensor[(2), float32]) {\n  nn.relu(%x)\n}\n", encoding="utf-8")
    assert bench(graph) == 3
    assert "onnxruntime runs only ONNX graphs, this one has dialect `relay`" in capsys.readouterr().err


def test_a_model_that_does_not_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    onnx = pytest.importorskip("onnx")
    helper = onnx.helper
    x, y = (helper.make_tensor_value_info(name, 1, [2]) for name in "xy")
    node = helper.make_node("Nothing", ["x"], ["y"], domain="of.nobody")
    model = helper.make_model(
        helper.make_graph([node], "g", [x], [y]),
        opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("of.nobody", 1)],
    )
    onnx.save(model, tmp_path / "m.onnx")
    assert bench(tmp_path / "m.onnx") == 3
    assert "onnxruntime:" in capsys.readouterr().err
