"""Writing a file all at once: into a temporary file beside it, then renamed. A failure leaves what was there.

A link stays a link, and a file keeps its permissions. What is no regular file (a pipe, `/dev/null`) cannot be replaced: it
is written to when the content is complete.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import BinaryIO


def write_atomically(path: str | Path, write: Callable[[BinaryIO], object]) -> None:
    """Call `write` with a binary file; its content appears under `path` only when it is complete.

    Raises `OSError` if that is impossible.
    """
    with prepared(path, write) as appear:
        appear()


@contextmanager
def prepared(path: str | Path, write: Callable[[BinaryIO], object]) -> Iterator[Callable[[], None]]:
    """Call `write` with a binary file at once; its content appears under `path` when the function is called that this gives.

    So several files can be complete before the first appears. Raises `OSError` if that is impossible.
    """
    try:
        mode: int | None = os.stat(path).st_mode
    except (FileNotFoundError, ValueError):  # a NUL byte in the name is reported below, as everything else
        mode = None
    if mode is not None and not stat.S_ISREG(mode):
        with open(path, "wb") as stream:
            content = BytesIO()
            write(content)
            yield lambda: _pour(content, stream)
        return
    try:
        target = Path(path).resolve()
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=".", suffix=".tmp")
    except ValueError as error:
        raise OSError(str(error)) from None
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
        os.chmod(name, _usual_mode() if mode is None else stat.S_IMODE(mode))
        yield lambda: os.replace(name, target)
    finally:
        if os.path.exists(name):
            os.unlink(name)


def _pour(content: BytesIO, stream: BinaryIO) -> None:
    stream.write(content.getbuffer())
    stream.flush()


def _usual_mode() -> int:
    """The permissions of a file that does not exist yet."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def write_text(path: str | Path, text: str) -> None:
    write_atomically(path, lambda file: file.write(text.encode("utf-8")))
