"""Runs in which every rule is left to the readable engine, to compare the generated one with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gslang.engine import generate


@contextmanager
def readable_only() -> Iterator[None]:
    """All rules run by the readable engine, as if none could be compiled."""
    compiled = generate._compiled
    generate._compiled = lambda plan, mode: None  # type: ignore[assignment]
    try:
        yield
    finally:
        generate._compiled = compiled
