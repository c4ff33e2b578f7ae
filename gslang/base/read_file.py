"""Reading files that somebody names: what is no file of a definite size ends as well.

A pipe is read to its end if somebody writes to it (`<(…)` of a shell); one that nobody opens is an error
after some seconds. Of a device only so much is read as a rule file or graph may take.
"""

from __future__ import annotations

import errno
import os
import select
import stat
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

_PATIENCE = 5.0  # seconds for somebody to open the other end of a named pipe
_MOST_OF_DEVICE = 1 << 26


def read_bytes(path: str | Path) -> bytes:
    """The content of a file. Raises `OSError`."""
    with open_file(path) as file:
        return file.read()


def read_text(path: str | Path) -> str:
    """The same as text. Raises `OSError`, `UnicodeDecodeError`."""
    return read_bytes(path).decode("utf-8")


def open_file(path: str | Path) -> BinaryIO:
    """The file, open for reading; of a pipe or a device, its content. Raises `OSError`."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except ValueError as error:  # a NUL in the name
        raise OSError(errno.EINVAL, str(error), str(path)) from None
    state, first = os.fstat(handle), b""
    mode = state.st_mode
    try:
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if stat.S_ISFIFO(mode) and hasattr(select, "poll"):
            first = _awaited(handle, path)
        if stat.S_ISREG(mode) and state.st_size == 0:  # the kernel says so of its own, and some wait for news
            first = _all_of(handle, path)
        if hasattr(os, "set_blocking"):
            os.set_blocking(handle, True)
        file = os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise
    if stat.S_ISREG(mode):
        return BytesIO(first) if first else file
    with file:
        if not stat.S_ISCHR(mode) or file.isatty():
            return BytesIO(first + file.read())
        data = file.read(_MOST_OF_DEVICE + 1)
        if len(data) > _MOST_OF_DEVICE:
            raise _endless(path)
        return BytesIO(data)


def _endless(path: str | Path) -> OSError:
    return OSError(errno.EFBIG, "this device does not end", str(path))


def _all_of(handle: int, path: str | Path) -> bytes:
    """All that can be read without waiting. Raises `OSError` if more may come."""
    parts, size = [], 0
    while part := os.read(handle, 1 << 16):
        parts.append(part)
        size += len(part)
        if size > _MOST_OF_DEVICE:
            raise _endless(path)
    return b"".join(parts)


def _awaited(handle: int, path: str | Path) -> bytes:
    """Waits until a pipe has something to read, or its other end is open; returns what was read meanwhile."""
    waiting = select.poll()
    waiting.register(handle, select.POLLIN)
    if waiting.poll(_PATIENCE * 1000):
        return b""
    try:
        first = os.read(handle, 1)
    except BlockingIOError:  # somebody will write
        return b""
    if not first:
        why = f"this is a pipe that no process has opened for writing within {_PATIENCE:g} seconds"
        raise OSError(errno.ETIMEDOUT, why, str(path))
    return first
