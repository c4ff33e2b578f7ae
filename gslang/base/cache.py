"""Results kept between runs, keyed by content: in `$GSLANG_CACHE`, `$XDG_CACHE_HOME/gslang` or
`~/.cache/gslang`.

A cache that cannot be read or written costs time, never correctness: the result is then computed. Nothing in
it is code (`plain_data`), and a folder that somebody else could have written is not used: verdicts in it
would be his.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import TypeVar

from gslang.base.plain_data import NotPlain, from_bytes

T = TypeVar("T")


@lru_cache(maxsize=1)
def cache_folder() -> Path | None:
    """The folder, made if need be; None if there is none to write to that is ours alone. `GSLANG_CACHE=off`
    switches caching off; relative folders are ignored, as the XDG Base Directory Specification has it.
    """
    if os.environ.get("GSLANG_CACHE") == "off":
        return None
    chosen = Path(os.environ.get("GSLANG_CACHE", ""))
    home = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not chosen.is_absolute():
        chosen = (home if home.is_absolute() else Path(os.path.expanduser("~")) / ".cache") / "gslang"
    try:
        if not chosen.is_absolute():
            return None
        chosen.mkdir(mode=0o700, parents=True, exist_ok=True)
        return chosen if _is_ours(chosen.stat()) and os.access(chosen, os.W_OK) else None
    except (OSError, ValueError, RuntimeError):
        return None


def _is_ours(state: os.stat_result) -> bool:
    """True if nobody else can write there (where the system tells)."""
    return (
        not hasattr(os, "getuid") or state.st_uid == os.getuid()
        and not state.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    )


def digest(parts: Iterable[str | bytes]) -> str:
    """A key for some contents."""
    state = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        state.update(len(data).to_bytes(8, "little") + data)
    return state.hexdigest()[:32]


@lru_cache(maxsize=1)
def code_digest() -> str:
    """A key for gslang itself: its version, and in a checkout the state of its source files."""
    package = Path(__file__).resolve().parent.parent
    stamps = []
    folders = [str(package / name) for name in ("base", "syntax", "dialect", "check")]
    for folder in folders:  # which grows meanwhile
        for entry in sorted(os.scandir(folder), key=attrgetter("name")):
            if entry.name.endswith((".py", ".json", ".gsl")):
                state = entry.stat()
                stamps.append(f"{entry.path.removeprefix(str(package))} {state.st_size} {state.st_mtime_ns}")
            elif "." not in entry.name and entry.name != "__pycache__":
                folders.append(entry.path)
    return digest(stamps)


def cached(
    kind: str, parts: Iterable[str | bytes], compute: Callable[[], T], given: Sequence[object] = ()
) -> T:
    """`compute()`, or what it gave for the same `parts` before.

    Where the result has objects of `given`, it has them again.
    """
    folder = cache_folder()
    if folder is None:
        return compute()
    path = folder / f"{kind}-{digest((code_digest(), *parts))}.json"
    try:
        result: T = from_bytes(_read(path), given)
        return result
    except Exception:  # missing, cut off, or of another version: all the same
        pass
    result = compute()
    from gslang.base.plain_writer import to_bytes  # seldom: what is cached is read

    try:
        data = to_bytes(result, given)
        _write(path, _check(data) + b"\n" + data)
    except (OSError, NotPlain, ValueError):  # disk full, …
        pass
    return result


def _write(path: Path, data: bytes) -> None:
    import tempfile  # seldom: what is cached is read

    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _check(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode("ascii")


def _read(path: Path) -> bytes:
    """The content of a cache file.

    Raises `OSError`, or `ValueError` if it was changed since it was written.
    """
    with open(
        os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)), "rb"
    ) as file:
        state = os.fstat(file.fileno())
        if not stat.S_ISREG(state.st_mode) or not _is_ours(state):
            raise ValueError(f"{path} was not written by gslang")
        check, _, data = file.read().partition(b"\n")
    if check != _check(data):
        raise ValueError(f"{path} is damaged")
    return data
