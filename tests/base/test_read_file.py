"""What is no file of a definite size is read to its end, or refused."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import pytest

from gslang.base import atomic_write, read_file
from gslang.base.atomic_write import write_text
from gslang.base.read_file import open_file, read_bytes
from gslang.cli.main import main

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pipes and devices of POSIX")


def test_a_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    content = b"x" * 300_000
    writer = threading.Thread(target=lambda: pipe.write_bytes(content))
    writer.start()
    assert read_bytes(pipe) == content
    writer.join()


def test_a_pipe_that_nobody_writes_to_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_file, "_PATIENCE", 0.01)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="no process has opened"):
        read_bytes(tmp_path / "pipe")


def test_a_pipe_that_nobody_reads_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atomic_write, "_PATIENCE", 0.04)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="without a reader"):
        write_text(tmp_path / "pipe", "x")


def test_a_device_without_an_end_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_file, "_MOST_OF_DEVICE", 1000)
    with pytest.raises(OSError, match="does not end"):
        read_bytes("/dev/zero")


def test_folders_and_odd_names(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    for name in (tmp_path, tmp_path / "loop", "a\0b", tmp_path / "none"):
        with pytest.raises(OSError):
            open_file(name)
    with pytest.raises(OSError):
        write_text(tmp_path / "loop", "x")


@pytest.mark.parametrize("verb", ["check", "lint", "fmt", "test", "verify", "generalize"])
def test_rules_that_are_no_file(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(read_file, "_PATIENCE", 0.01)
    (tmp_path / "loop.gsl").symlink_to("loop.gsl")
    os.mkfifo(tmp_path / "pipe.gsl")
    for name in ("loop.gsl", "pipe.gsl"):
        assert main([verb, str(tmp_path / name)]) == 3
        assert "internal error" not in capsys.readouterr().err
    assert main([verb, "a\0b"]) == 2
