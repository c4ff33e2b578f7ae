"""Links to nowhere among rule files: told by name, and the other files of the folder are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from gslang.cli.main import main

WRONG = "rule r(x): nn.relu(y) => x;\n"


@pytest.fixture()
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.gsl").symlink_to(tmp_path / "a.gsl")
    (tmp_path / "b.gsl").symlink_to("nowhere")
    (tmp_path / "c.gsl").write_text(WRONG)
    return tmp_path


@pytest.mark.parametrize("command", [["check"], ["lint"], ["lint", "--jobs", "2"], ["test"]])
def test_the_other_files_of_a_folder_are_read(
    command: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command[0], str(folder), *command[1:]]) == 1
    told = "".join(capsys.readouterr())
    assert "cannot be read: too many levels of symbolic links" in told and "a.gsl:1:1" in told
    assert "b.gsl:1:1" in told and "unknown name `y`" in told


def test_the_other_files_of_a_folder_are_formatted(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "c.gsl").write_text("rule  r(x): nn.relu(x) => x;\n")
    assert main(["fmt", "--check", str(folder)]) == 3
    said = capsys.readouterr()
    assert "a.gsl" in said.err and "b.gsl" in said.err and "c.gsl" in said.out


@pytest.mark.parametrize("name", ["a.gsl", "b.gsl"])
def test_a_link_alone(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(folder / name)]) == 3
    said = capsys.readouterr().err
    assert "broken link to `" in said and "did you mean" not in said
