"""Rules from two graphs: the difference, cut out and made general."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gslang.cli.main import main

HEAD = '#[version = "0.0.5"]\ndef @main(%x: Tensor[(2, 3), float32], %y: Tensor[(2, 3), float32]) {\n  '


def graph(folder: Path, name: str, body: str) -> str:
    path = folder / f"{name}.relay"
    path.write_text(f"{HEAD}{body}\n}}\n")
    return str(path)


def example(folder: Path, before: str, after: str, *more: str) -> int:
    return main(["from-example", graph(folder, "before", before), graph(folder, "after", after), *more])


def test_a_difference_inside(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "rule.gsl"
    assert (
        example(
            tmp_path, "tanh(add(%x, nn.relu(nn.relu(%y))))", "tanh(add(%x, nn.relu(%y)))", "-o", str(out),
            "--name", "twice",
        )
        == 0
    )
    assert main(["verify", str(out), "--require", "proved"]) == 0
    assert "twice" in capsys.readouterr().out
    assert "tanh" not in out.read_text()


def test_the_rule_applies_to_its_example(tmp_path: Path) -> None:
    out, after = tmp_path / "rule.gsl", tmp_path / "again.relay"
    before, wanted = "exp(subtract(%x, subtract(%x, %y)))", "exp(%y)"
    assert example(tmp_path, before, wanted, "-o", str(out)) == 0
    assert main([str(out), str(tmp_path / "before.relay"), "-o", str(after)]) == 0
    assert main(["diff", str(after), str(tmp_path / "after.relay")]) == 0


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert example(tmp_path, "nn.relu(nn.relu(%x))", "nn.relu(%x)", "--format", "json") == 0
    (entry,) = json.loads(capsys.readouterr().out)["rules"]
    assert entry["verdict"] == "proved" and entry["rule"] == "example"


def test_no_rule(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert example(tmp_path, "tanh(%x)", "nn.relu(%x)") == 1
    assert example(tmp_path, "tanh(%x)", "tanh(%x)") == 3
    assert "equal" in capsys.readouterr().err
    assert main(["from-example", graph(tmp_path, "a", "tanh(%x)")]) == 2
    assert example(tmp_path, "tanh(%x)", "tanh(%x)", "--name", "1x") == 2
    assert main(["from-example", str(tmp_path / "none.relay"), str(tmp_path / "a.relay")]) == 3


def test_a_selection(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "own.gsl", tmp_path / "g2.json"
    source = graph(tmp_path, "g", "nn.relu(tanh(exp(%x)))")
    assert main(["convert", source, "-o", str(out)]) == 0
    ids = [
        node["id"] for node in json.loads(out.read_text())["nodes"] if node.get("op") in ("tanh", "nn.relu")
    ]
    capsys.readouterr()
    assert main(["from-example", str(out), "--select", ",".join(ids)]) == 0
    text = capsys.readouterr().out
    assert "tanh" in text and "nn.relu" in text and "exp" not in text
    path.write_text(text)
    assert main(["check", str(path)]) == 0
    assert main(["from-example", str(out), "--select", "nowhere"]) == 3
    assert "no node `nowhere`" in capsys.readouterr().err


def test_constants_made_of_two_others() -> None:
    import numpy as np

    from gslang.generalize.example import sign_of

    a, b = np.array([[1.0, 2.0]]), np.array([3.0, 5.0])
    assert sign_of(a, b, a + b) == "+" and sign_of(a, b, a - b) == "-" and sign_of(a, b, a / b) == "/"
    assert sign_of(a, b, np.array([3.0, 10.0])) == ""  # a row is no vector
    assert sign_of(np.ones((2, 3)), np.ones((3, 4)), np.ones((2, 4))) == ""  # these do not broadcast
