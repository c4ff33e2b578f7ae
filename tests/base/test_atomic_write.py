"""Files appear whole, links stay links, permissions stay, and what is not a file is written to, not replaced.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from threading import Thread

import pytest

from gslang.base.atomic_write import together, write_atomically, write_text


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_text() == "new"


def test_permissions_stay(tmp_path: Path) -> None:
    path = tmp_path / "private"
    path.write_text("old")
    path.chmod(0o600)
    write_text(path, "new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and path.read_text() == "new"


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found: list[str] = []
    reader = Thread(target=lambda: found.append(pipe.read_text()))
    reader.start()
    write_text(pipe, "through")
    reader.join()
    assert found == ["through"] and stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no such device here")
def test_a_full_device_is_named() -> None:
    with pytest.raises(OSError) as error:
        write_text("/dev/full", "text")
    assert (error.value.errno, error.value.filename) == (errno.ENOSPC, "/dev/full")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no such device here")
def test_no_file_appears_beside_a_device_that_is_full(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No space"), together():
        write_text(tmp_path / "graph", "text")
        write_text("/dev/full", "text")
    assert list(tmp_path.iterdir()) == []


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")

    def fail(file: object) -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_atomically(path, fail)
    assert [p.name for p in tmp_path.iterdir()] == ["file"] and path.read_text() == "old"


@pytest.mark.parametrize("name", ["no/such/folder", ".", "a\0b"])
def test_what_cannot_be_written_is_an_os_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(OSError):
        write_text(f"{tmp_path}/{name}", "text")
    assert list(tmp_path.iterdir()) == []
