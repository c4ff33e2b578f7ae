"""What wrong arguments are answered: briefly, with what to write instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from gslang.cli.main import main

RULES = "dialect onnx;\nrule r(x): Relu(Relu(x)) => Relu(x);\n"


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("r.gsl").write_text(RULES)
    return "r.gsl"


@pytest.mark.parametrize(("line", "usage"), [
    ("apply r.gsl m.onnx --pas x", "usage: gslc apply [OPTION]… rules [graph ...]"),
    ("r.gsl m.onnx --dim batch", "usage: gslc apply [OPTION]… rules [graph ...]"),
    ("convert m.onnx", "usage: gslc convert [OPTION]… -o OUT graph"),
    ("bisect r.gsl m.onnx", "usage: gslc bisect [OPTION]… --check CMD|numbers rules graph"),
    ("import foo bar", "usage: gslc import [OPTION]… {taso,onnxsim,tensat} file"),
    ("lsp --foo", "usage: gslc lsp [OPTION]…"),
])  # fmt: skip
def test_the_usage_is_one_line(
    rules: str, line: str, usage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(line.split()) == 2
    said = capsys.readouterr().err.splitlines()
    assert said[0] == usage
    assert said[-1].startswith("  help: ")
    assert len(said) == 3


@pytest.mark.parametrize(("line", "code", "said"), [
    ("cost r.gsl", 3, "this is a rule file, not a graph"),
    ("discover --ops Relu --size 1", 3, "dialect onnx has it: --dialect onnx"),
    ("discover --ops relu --size 1", 3, "did you mean `nn.relu`?"),
    ("r.gsl r.gsl --pass inference", 2, "the rule files declare no pass"),
])  # fmt: skip
def test_what_is_meant_is_said(
    rules: str, line: str, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(line.split()) == code
    assert said in capsys.readouterr().err
