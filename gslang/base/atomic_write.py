"""Writing a file all at once: into a temporary file beside it, then renamed. A failure leaves what was there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
    target = Path(path)
    handle, name = tempfile.mkstemp(dir=target.parent or Path("."), prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        yield lambda: os.replace(name, target)
    finally:
        if os.path.exists(name):
            os.unlink(name)


def write_text(path: str | Path, text: str) -> None:
    write_atomically(path, lambda file: file.write(text.encode("utf-8")))
