"""Texts that say what a verdict depends on: the rule, the settings, the code."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from gslang.base.cache import digest
from gslang.verify.evidence import Settings


def settings_key(settings: Settings) -> tuple[str, str]:
    """The part of a verdict's key that is no rule: settings but for the time, and the code."""
    return repr(replace(settings, seconds=0.0)), own_code()


def content_of(value: object) -> str:
    """A text that is the same for equal rules in every process: sets are sorted, spans left out."""
    return "\n".join(_parts(value))


def _parts(value: object) -> Iterator[str]:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield type(value).__name__
        for item in dataclasses.fields(value):
            if item.name not in ("span", "spans", "where_spans", "dialect"):
                yield from _parts(getattr(value, item.name))
        added = getattr(getattr(value, "dialect", None), "added", ())
        yield from (part for signature in added for part in _parts(signature))
    elif isinstance(value, (tuple, list)):
        yield f"({len(value)}"
        for item in value:
            yield from _parts(item)
    elif isinstance(value, (set, frozenset)):
        yield repr(sorted(map(repr, value)))
    elif isinstance(value, dict):
        yield from _parts(list(value.items()))
    else:
        yield repr(value)


@lru_cache(maxsize=1)
def own_code() -> str:
    """The state of the code that verdicts depend on, beyond what the cache itself looks at."""
    package = Path(__file__).resolve().parent.parent
    stamps = []
    for folder in ("engine", "evaluate", "graph", "verify"):
        for path in sorted((package / folder).rglob("*.py")):
            state = path.stat()
            stamps.append(f"{path.name} {state.st_size} {state.st_mtime_ns}")
    return digest(stamps)
