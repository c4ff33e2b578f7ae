"""Writing files all at once: into temporary files beside them, then renamed. A failure leaves what was there.

A link stays a link, and a file keeps its permissions. What is no regular file (a pipe, `/dev/null`) cannot be
replaced: it is written to when the content is complete.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import field
from io import BytesIO, FileIO
from pathlib import Path
from typing import BinaryIO

from gslang.base.quick_dataclass import dataclass
from gslang.base.signals import undisturbed

_PIECE = 1 << 20
_PATIENCE = 5.0  # seconds for somebody to open the other end of a named pipe
_PAUSE = 0.02


@dataclass(frozen=True, slots=True)
class _Batch:
    """Files that appear together: their temporary files, their folders, and what lets each appear, in order.

    `streams` are filled before: pipes and devices, which can fail where a complete file cannot.
    """

    temporary: ExitStack
    folders: set[Path] = field(default_factory=set)
    streams: list[Callable[[], None]] = field(default_factory=list)
    ready: list[Callable[[], None]] = field(default_factory=list)


_BATCH: ContextVar[_Batch | None] = ContextVar("_BATCH", default=None)


@contextmanager
def together() -> Iterator[None]:
    """Files that are written inside appear at the end, in order, when all are complete; after an exception
    none does.

    No signal comes between the first and the last, and no other process that writes several files into these
    folders. Raises `OSError` if one cannot appear.
    """
    if _BATCH.get() is not None:
        yield
        return
    with ExitStack() as temporary:
        batch = _Batch(temporary)
        token = _BATCH.set(batch)
        try:
            yield
        finally:
            _BATCH.reset(token)
        actions = [*batch.streams, *batch.ready]
        if len(actions) == 1:
            actions[0]()
        elif actions:
            with _locked(batch.folders), undisturbed():
                for appear in actions:
                    appear()


def write_atomically(path: str | Path, write: Callable[[BinaryIO], object]) -> None:
    """Call `write` with a binary file; its content appears under `path` only when it is complete (and all
    that is written `together`).

    Raises `OSError` if that is impossible.
    """
    with together():
        batch = _BATCH.get()
        assert batch is not None
        batch.temporary.enter_context(_prepared(path, write, batch))


def write_beside(
    side: Path, path: Path, write: Callable[[BinaryIO], object], refer: Callable[[], object]
) -> None:
    """Write a file that another one refers to, in whose place there is one that an older form of the other
    one refers to.

    The content appears as `side`; `refer` is called to write what refers to that, and again when the content
    is `path` too. Then `side` goes away. At no time does a file refer to anything but its own content,
    whenever the process is killed.
    """
    with together():
        batch = _BATCH.get()
        assert batch is not None
        write_atomically(side, write)
        refer()
        batch.ready.append(lambda: _also_as(side, path))
        refer()
        batch.ready.append(lambda: os.unlink(side))


def _also_as(side: Path, path: Path) -> None:
    """A second file of the same content, zeros as holes.

    (No second link: `onnx` refuses data with more than one.)
    """
    target = path.resolve()
    name = str(target.parent / f".{os.urandom(8).hex()}.tmp")
    try:
        with (
            side.open("rb") as source,
            open(
                os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), 0o600), "wb"
            ) as file,
        ):
            while piece := source.read(_PIECE):
                if piece.strip(b"\0"):
                    file.write(piece)
                else:
                    file.seek(len(piece), os.SEEK_CUR)
            file.truncate()
        os.chmod(name, stat.S_IMODE(os.stat(target).st_mode))
        os.replace(name, target)
    finally:
        if os.path.exists(name):
            os.unlink(name)


def write_text(path: str | Path, text: str) -> None:
    write_atomically(path, lambda file: file.write(text.encode("utf-8")))


@contextmanager
def _prepared(
    path: str | Path, write: Callable[[BinaryIO], object], batch: _Batch
) -> Iterator[None]:
    """Call `write` with a binary file at once; its content appears under `path` with the batch."""
    try:
        mode: int | None = os.stat(path).st_mode
    except (FileNotFoundError, ValueError):  # a NUL byte in the name is reported below, as everything else
        mode = None
    if mode is not None and not stat.S_ISREG(mode):
        with _opened(path, mode) as stream:
            content = BytesIO()
            write(content)
            batch.streams.append(lambda: _pour(content, stream, path))
            yield
        return
    try:
        target = Path(path).resolve()
        # known before the file is there: a signal may come right behind
        name = str(target.parent / f".{os.urandom(8).hex()}.tmp")
        os.stat(target.parent)
    except (ValueError, RuntimeError) as error:  # a NUL in the name; a link that leads to itself
        raise OSError(errno.EINVAL, str(error), str(path)) from None
    try:
        with _told_as(path, name):
            with os.fdopen(
                os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), 0o600), "wb"
            ) as file:
                write(file)
            os.chmod(name, _usual_mode() if mode is None else stat.S_IMODE(mode))
        batch.folders.add(target.parent)
        batch.ready.append(lambda: _replace(name, target, path))
        yield
    finally:
        if os.path.exists(name):
            os.unlink(name)


def _opened(path: str | Path, mode: int) -> FileIO:
    """A pipe or a device, open for writing without a buffer: closing it writes nothing.

    Raises `OSError`, for a pipe that nobody reads after some seconds.
    """
    if not stat.S_ISFIFO(mode):
        return open(path, "wb", buffering=0)
    for _ in range(round(_PATIENCE / _PAUSE)):
        try:
            handle = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            time.sleep(_PAUSE)
            continue
        os.set_blocking(handle, True)
        return os.fdopen(handle, "wb", buffering=0)
    raise OSError(errno.ENXIO, "this is a pipe without a reader", str(path))


@contextmanager
def _told_as(path: str | Path, name: str) -> Iterator[None]:
    """Errors name the file that the user knows, not the temporary one."""
    try:
        yield
    except OSError as error:
        if error.filename not in (None, name):
            raise
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None


def _replace(name: str, target: Path, path: str | Path) -> None:
    with _told_as(path, name):
        os.replace(name, target)


def _pour(content: BytesIO, stream: FileIO, path: str | Path) -> None:
    rest = content.getbuffer()
    with _told_as(path, ""):
        while rest:
            rest = rest[stream.write(rest) :]


@contextmanager
def _locked(folders: Iterable[Path]) -> Iterator[None]:
    """Folders that no other process locks meanwhile.

    (Locks are of the open folder: no file is left.) Where the system has none, nothing is locked.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    with ExitStack() as opened:
        for folder in sorted(folders):
            try:
                handle = os.open(folder, os.O_RDONLY)
                opened.callback(os.close, handle)
                fcntl.flock(handle, fcntl.LOCK_EX)
            except OSError:  # a folder that may be written to, not read; a file system without locks
                continue
        yield


def _usual_mode() -> int:
    """The permissions of a file that does not exist yet."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
