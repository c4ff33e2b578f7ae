"""Results kept between runs, keyed by content: in `$GSLANG_CACHE`, `$XDG_CACHE_HOME/gslang` or `~/.cache/gslang`.

A cache that cannot be read or written costs time, never correctness: the result is then computed.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


@lru_cache(maxsize=1)
def cache_folder() -> Path | None:
    """The folder, made if need be; None if there is none to write to. `GSLANG_CACHE=off` switches caching off."""
    chosen = os.environ.get("GSLANG_CACHE")
    if chosen == "off":
        return None
    if chosen:
        folder = Path(chosen)
    elif os.environ.get("XDG_CACHE_HOME"):
        folder = Path(os.environ["XDG_CACHE_HOME"]) / "gslang"
    else:
        folder = Path(os.path.expanduser("~")) / ".cache" / "gslang"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


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
    for folder in ("base", "syntax", "dialect", "check"):
        for path in sorted(p for p in (package / folder).rglob("*") if p.suffix in (".py", ".json", ".gsl")):
            state = path.stat()
            stamps.append(f"{path.relative_to(package)} {state.st_size} {state.st_mtime_ns}")
    return digest(stamps)


def cached(kind: str, parts: Iterable[str | bytes], compute: Callable[[], T]) -> T:
    """`compute()`, or what it gave for the same `parts` before. The result must be picklable."""
    folder = cache_folder()
    if folder is None:
        return compute()
    path = folder / f"{kind}-{digest((code_digest(), *parts))}.pickle"
    try:
        with path.open("rb") as file:
            result: T = pickle.load(file)
            return result
    except Exception:  # missing, cut off, or of another version: all the same
        pass
    result = compute()
    try:
        data = _pickled(result)
        handle, name = tempfile.mkstemp(dir=folder, prefix=".new-")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(name, path)
    except Exception:  # not picklable, disk full, …
        pass
    return result


def _pickled(result: object) -> bytes:
    buffer = io.BytesIO()
    _Pickler(buffer, pickle.HIGHEST_PROTOCOL).dump(result)
    return buffer.getvalue()


class _Pickler(pickle.Pickler):
    """Dataclasses as calls of their class: read back in a third of the time that setting field by field takes."""

    def reducer_override(self, value: Any) -> Any:
        kind: Any = type(value)
        names = _fields_to_call_with(kind)
        if names is None:
            return NotImplemented
        values = tuple([getattr(value, name) for name in names])
        return (kind, values) if not any(f.kw_only for f in fields(kind)) else (_made, (kind, names, values))


@cache
def _fields_to_call_with(kind: Any) -> tuple[str, ...] | None:
    """None for what is no dataclass, or one that its fields do not make."""
    if not is_dataclass(kind) or kind.__reduce__ is not object.__reduce__ or hasattr(kind, "__post_init__"):
        return None
    return tuple([f.name for f in fields(kind)]) if all(f.init for f in fields(kind)) else None


def _made(kind: type, names: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    return kind(**dict(zip(names, values)))
