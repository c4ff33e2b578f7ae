"""The tutorials are followed literally, the how-to's commands run, and the site has every page."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import onnx
import onnx.numpy_helper
import pytest

from gslang.cli.main import main
from tests.sessions import Command, play, steps

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
TUTORIAL = DOCS / "tutorial-onnx.md"
# by docs/site.py
GENERATED = {"operators.md", "api.md", "diagnostics.md", "architecture.md", "contributing.md", "changelog.md"}
HOW_TO = (DOCS / "how-to.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["tutorial-onnx", "tutorial-relay"])
def test_the_tutorial_does_what_it_says(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    play(DOCS / f"{name}.md")


def test_every_command_of_the_tutorial_is_played() -> None:
    text = TUTORIAL.read_text(encoding="utf-8")
    commands = [step.line for step in steps(TUTORIAL) if isinstance(step, Command)]
    assert len(commands) == len(re.findall(r"^\$ ", text, re.MULTILINE)) > 10


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rule file and the model of the tutorial, and the files of the how-to."""
    folder = tmp_path_factory.mktemp("reader")
    files = dict(step for step in steps(TUTORIAL) if not isinstance(step, Command))
    tests = files["silu.gsl"][files["silu.gsl"].index("test ") :]
    (folder / "rules.gsl").write_text(files["proved.gsl"] + tests, encoding="utf-8")
    (folder / "make_model.py").write_text(files["make_model.py"], encoding="utf-8")
    for name, text in re.findall(r'^```\w+ title="([^"]+)"\n(.*?)^```', HOW_TO, re.DOTALL | re.MULTILINE):
        (folder / name).write_text(text, encoding="utf-8")
    subprocess.run([sys.executable, "make_model.py"], cwd=folder, check=True)
    # what `from-example` reads: the page makes it with the command before
    rules, model, edited = (str(folder / name) for name in ("rules.gsl", "model.onnx", "edited.onnx"))
    assert main([rules, model, "-o", edited]) == 0
    return folder


COMMANDS = [
    line.partition("#")[0].strip()
    for block in re.findall(r"^```sh\n(.*?)^```", HOW_TO, re.DOTALL | re.MULTILINE)
    for line in block.splitlines()
]


SLOW = ("from-example", "generalize", "discover")  # seconds each


@pytest.mark.parametrize(
    "command", [pytest.param(c, marks=pytest.mark.long) if c.split()[1] in SLOW else c for c in COMMANDS]
)
def test_commands_of_the_how_to(
    command: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    program, *words = shlex.split(command)
    assert program == "gslc" and main(words) == 0, capsys.readouterr().err


def test_the_calibration_table_of_the_how_to(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert (
        main(["quantize.gsl", "model.onnx", "--define", "scales=@scales.json", "-o", "quantized.onnx"]) == 0
    )
    model = onnx.load("quantized.onnx")
    values = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    quantized = {
        node.input[0]: values[node.input[1]].item()
        for node in model.graph.node if node.op_type == "QuantizeLinear"
    }
    assert quantized == {"x": pytest.approx(0.02), "copy": pytest.approx(0.04)}


def test_there_are_enough_tasks() -> None:
    tasks = re.split(r"^### ", HOW_TO, flags=re.MULTILINE)[1:]
    assert len(tasks) >= 25 and all("```" in task for task in tasks)


def nav_pages() -> list[str]:
    """The pages that mkdocs.yml lists."""
    return re.findall(r": ([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)


def test_the_site_has_every_page() -> None:
    assert set(nav_pages()) <= {path.name for path in DOCS.glob("*.md")} | GENERATED
    assert {
        "index.md", "tutorial-onnx.md", "how-to.md", "language.md", "comparison.md", "operators.md",
    } <= set(nav_pages())


def test_the_site_is_built(tmp_path: Path) -> None:
    """By MkDocs, where it is installed: no warnings, and pages that work without a network."""
    pytest.importorskip("material")
    subprocess.run([sys.executable, "docs/site.py"], cwd=ROOT, check=True)
    build = [
        sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(tmp_path / "site"),
    ]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    home = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<(script|link|img)\b[^>]+(src|href)=\"https?:", home)
    assert (tmp_path / "site" / "search" / "search_index.js").is_file()


def test_links_between_pages() -> None:
    """Every relative link of a page leads to a file of the repository."""
    wrong = []
    for page in DOCS.glob("*.md"):
        for target in re.findall(r"\]\(([^)#:]+?)(?:#[\w-]*)?\)", page.read_text(encoding="utf-8")):
            if not (page.parent / target).exists() and target not in GENERATED:
                wrong.append(f"{page.name}: {target}")
    assert wrong == []
