"""Commands in the README and the manual do what the text says: their options exist, examples run, and show what they show."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import textwrap
from pathlib import Path

import pytest

from gslang.cli.main import VERBS, main, verb_parser

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted(p for p in (ROOT / "docs").glob("*.md") if p.name != "rules.md")]
RELAY = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 3, 8, 8), float32], %w: Tensor[(4, 3, 3, 3), float32], %v: Tensor[(4, 3, 3, 3), float32]) {
  nn.relu(nn.relu(nn.conv2d(%x, %w, padding=[1, 1, 1, 1]) + nn.conv2d(%x, %v, padding=[1, 1, 1, 1])))
}
"""


def written_commands() -> list[tuple[str, str]]:
    """Everything behind `gslc` in code, by page; one line each."""
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        blocks = "\n".join(re.findall(r"^```(?:sh|text|console)?\n(.*?)^```", text, re.DOTALL | re.MULTILINE))
        lines = [line.strip().removeprefix("$ ") for line in blocks.splitlines()]
        spans = re.findall(r"`(gslc [^`]+)`", text)
        found += [(page.name, line.partition("#")[0].partition("   ")[0]) for line in [*lines, *spans] if line.startswith("gslc ")]
    return found


COMMANDS = written_commands()


def test_there_are_commands() -> None:
    assert len(COMMANDS) > 60


@pytest.mark.parametrize("verb", VERBS)
def test_the_manual_has_every_verb(verb: str) -> None:
    assert re.search(rf"^gslc {verb}\b", (ROOT / "docs" / "cli.md").read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("verb", VERBS)
def test_the_manual_has_every_option(verb: str) -> None:
    """Options stand in docs/cli.md or on the page of their verb."""
    text = "".join((ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in ("cli", "lint", "fmt", "verify", "onnx", "lsp", "relay-text", "search"))
    _, parser = verb_parser(verb)
    options = [[o for o in action.option_strings if o.startswith("--")] for action in parser._actions]
    assert [names for names in options if names and names != ["--help"] and not any(name in text for name in names)] == []


@pytest.mark.parametrize(("page", "command"), COMMANDS, ids=lambda part: re.sub(r"\W+", "-", str(part))[:60])
def test_documented_options_exist(page: str, command: str) -> None:
    words = command.split()
    verb = words[1] if words[1] in VERBS else "apply"
    _, parser = verb_parser(verb)
    known = {option for action in parser._actions for option in action.option_strings}
    used = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", command)) - {"--help", "--version"}
    assert used <= known, f"{page}: {command}"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Rules and graphs under the names that the examples use."""
    monkeypatch.chdir(tmp_path)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    first, second = [textwrap.dedent(b) for b in re.findall(r"^ *```gsl\n(.*?)^ *```", readme, re.DOTALL | re.MULTILINE)]
    Path("rules.gsl").write_text(first)
    Path("mine.gsl").write_text(second)
    Path("rules").mkdir()
    shutil.copy("mine.gsl", "rules/mine.gsl")
    Path("model.relay").write_text(RELAY)
    assert main(["convert", "model.relay", "-o", "graph.json"]) == 0
    return tmp_path


SHELL_PAGES = ("ci.md", "fmt.md", "lint.md")
SHELL = [
    (name, line.partition("#")[0].strip())
    for name in SHELL_PAGES
    for block in re.findall(r"^```sh\n(.*?)^```", (ROOT / "docs" / name).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    for line in block.splitlines()
    if line.startswith("gslc ") and "<" not in line
]


@pytest.mark.parametrize(("page", "command"), SHELL, ids=lambda part: re.sub(r"\W+", "-", str(part))[:60])
def test_shell_examples_run(page: str, command: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a.gsl", "folder"):
        if name in command:
            shutil.copytree("rules", "folder", dirs_exist_ok=True)
            shutil.copy("mine.gsl", "a.gsl")
    assert main(shlex.split(command)[1:]) in (0, 1), capsys.readouterr().err


def test_the_five_minutes_of_the_readme(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert main(["check", "mine.gsl"]) == 0 and main(["test", "mine.gsl"]) == 0
    assert "2 passed" in "".join(capsys.readouterr())
    assert main(["match", "mine.gsl", "model.relay"]) == 0
    assert "relu_twice at" in capsys.readouterr().out
    assert main(["mine.gsl", "model.relay", "-o", "out.relay"]) == 0
    assert Path("out.relay").read_text().count("nn.relu") == 1
    assert main(["verify", "mine.gsl"]) == 0
    shown = next(line for line in readme.splitlines() if line.startswith("proved   relu_twice"))
    capsys_out = capsys.readouterr().out
    assert re.sub(r"[\d.]+ s", "", capsys_out.splitlines()[0]) == re.sub(r"[\d.]+ s", "", shown)
    for words in (["ops"], ["ops", "nn.conv2d"], ["explain", "E0401"], ["explain", "conv_mul"], ["std.relay", "model.relay", "--pass", "inference"]):
        assert main(words) == 0 and capsys.readouterr().out


def test_the_first_rule_of_the_readme(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    nodes = [
        {"id": "x", "kind": "input", "shape": [1, 3, 8, 8], "dtype": "float32"},
        *({"id": name, "kind": "param", "shape": [4, 3, 3, 3], "dtype": "float32"} for name in "wv"),
        {"id": "a", "kind": "call", "op": "nn.conv2d", "inputs": ["x", "w"]},
        {"id": "b", "kind": "call", "op": "nn.conv2d", "inputs": ["x", "v"]},
        {"id": "c", "kind": "call", "op": "add", "inputs": ["a", "b"]},
    ]
    Path("graph.json").write_text(json.dumps({"format": "gsl-graph", "version": 1, "nodes": nodes, "outputs": ["c"]}))
    assert main(["rules.gsl", "graph.json", "--check-numbers"]) == 0
    captured = capsys.readouterr()
    ids = [(n["id"], n.get("op"), n.get("inputs")) for n in json.loads(captured.out)["nodes"][3:]]
    assert ids == [("n0", "add", ["w", "v"]), ("c", "nn.conv2d", ["x", "n0"])] and "n0 = w + v;" in readme
    for line in captured.err.splitlines():
        if not line.startswith("numbers agree"):
            assert line in readme
    wrong = Path("rules.gsl").read_text().replace("w2, c1.*", "w2, stride = [1, 1]")
    Path("rules.gsl").write_text("\n".join(wrong.splitlines()) + "\n")
    assert main(["check", "rules.gsl"]) == 1
    error = capsys.readouterr().err
    shown = re.search(r"^error\[E0303\].*?(?=^```)", readme, re.DOTALL | re.MULTILINE)
    assert shown is not None and re.sub(r"ops.gsl:\d+|\d+ \|", "", shown.group()) == re.sub(r"ops.gsl:\d+|\d+ \|", "", error)
