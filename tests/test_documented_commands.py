"""Commands in the README and the manual do what the text says: their options exist, examples run, and show
what they show.
"""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import onnx
import pytest
from onnx import helper

from gslang.cli.main import VERBS, main, verb_parser

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted(p for p in (ROOT / "docs").glob("*.md") if p.name != "rules.md")]
RELAY = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 3, 8, 8), float32], %w: Tensor[(4, 3, 3, 3), float32],
    %v: Tensor[(4, 3, 3, 3), float32]) {
  nn.relu(nn.relu(nn.conv2d(%x, %w, padding=[1, 1, 1, 1]) + nn.conv2d(%x, %v, padding=[1, 1, 1, 1])))
}
"""


MINE = """## A relu of a relu is one.
rule relu_twice(x): nn.relu(nn.relu(x)) => nn.relu(x);

test "two become one" for relu_twice {
    x: input float32[2, 3];
    nn.relu(nn.relu(x)) => nn.relu(x)
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
        found += [
            (page.name, line.partition("#")[0].partition("   ")[0])
            for line in [*lines, *spans] if line.startswith("gslc ")
        ]
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
    text = "".join(
        (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
        for name in (
            "cli", "lint", "fmt", "verify", "onnx", "lsp", "relay-text", "search", "view", "discover",
            "generalize", "hosts",
        )
    )
    _, parser = verb_parser(verb)
    options = [[o for o in action.option_strings if o.startswith("--")] for action in parser._actions]
    assert [
        names
        for names in options if names and names != ["--help"] and not any(name in text for name in names)
    ] == []


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
    Path("rules.gsl").write_text(
        "## A sum of convolutions.\nrule sum(x, w: var, v: var(shape = w.shape)): nn.conv2d(x, w) + "
        "nn.conv2d(x, v) => nn.conv2d(x, w + v);\n"
    )
    Path("mine.gsl").write_text(MINE)
    Path("rules").mkdir()
    shutil.copy("mine.gsl", "rules/mine.gsl")
    Path("model.relay").write_text(RELAY)
    assert main(["convert", "model.relay", "-o", "graph.json"]) == 0
    return tmp_path


SHELL_PAGES = ("ci.md", "fmt.md", "lint.md")
SHELL = [
    (name, line.partition("#")[0].strip())
    for name in SHELL_PAGES
    for block in re.findall(
        r"^```sh\n(.*?)^```", (ROOT / "docs" / name).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    for line in block.splitlines() if line.startswith("gslc ") and "<" not in line
]


@pytest.mark.parametrize(("page", "command"), SHELL, ids=lambda part: re.sub(r"\W+", "-", str(part))[:60])
def test_shell_examples_run(
    page: str, command: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a.gsl", "folder"):
        if name in command:
            shutil.copytree("rules", "folder", dirs_exist_ok=True)
            shutil.copy("mine.gsl", "a.gsl")
    assert main(shlex.split(command)[1:]) in (0, 1), capsys.readouterr().err


README = (ROOT / "README.md").read_text(encoding="utf-8")
SESSIONS = re.findall(r"^```console\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


@pytest.fixture
def readers_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What a reader of the README has: the first rule, the same with mistakes, and a model."""
    monkeypatch.chdir(tmp_path)
    (rule, *_) = re.findall(r"^```gsl\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    Path("silu.gsl").write_text(rule, encoding="utf-8")
    Path("wrong.gsl").write_text(rule.replace("Exp(-x)", "Exp(x)"), encoding="utf-8")
    Path("mistake.gsl").write_text(rule.replace("* Sigmoid(x);", "* Sigmod(x);"), encoding="utf-8")
    nodes = [
        helper.make_node("Neg", ["x"], ["n"]), helper.make_node("Exp", ["n"], ["e"]),
        helper.make_node("Add", ["e", "one"], ["s"]), helper.make_node("Div", ["x", "s"], ["y"]),
    ]  # fmt: skip
    value = [helper.make_tensor_value_info(name, 1, ["batch", 8]) for name in "xy"]
    graph = helper.make_graph(nodes, "g", value[:1], value[1:], [helper.make_tensor("one", 1, (), [1.0])])
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "model.onnx"
    )
    return tmp_path


@pytest.mark.parametrize("session", SESSIONS, ids=lambda text: re.sub(r"\W+", "-", text.splitlines()[0])[2:])
def test_sessions_of_the_readme(
    session: str, readers_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each line that is shown is printed, in this order; what is left out stands between or behind them."""
    for part in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
        command, *shown = part.splitlines()
        assert main(shlex.split(command)[1:]) in (0, 1)
        printed = iter("".join(capsys.readouterr()).splitlines())
        for line in shown:
            wanted = re.sub(r"difference .*|  \d+\.\d s$", "", line)
            assert any(found.startswith(wanted) for found in printed), f"{command}: {line}"


def test_python_of_the_readme(readers_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = re.findall(r"^```python\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    exec(compile(block, "README.md", "exec"), {})
    assert capsys.readouterr().out == "1 application\n"
    assert [node.op_type for node in onnx.load("out.onnx").graph.node] == ["Sigmoid", "Mul"]


def test_the_relay_rule_of_the_readme(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("merge.gsl").write_text(
        re.findall(r"^```gsl\n(.*?)^```", README, re.DOTALL | re.MULTILINE)[1], encoding="utf-8"
    )
    Path("model.relay").write_text(RELAY)
    assert main(["merge.gsl", "model.relay", "-o", "out.relay", "--check-numbers"]) == 0
    assert Path("out.relay").read_text().count("nn.conv2d") == 1
    assert main(["verify", "merge.gsl"]) == 0 and capsys.readouterr().out.startswith(("proved", "exact"))
