"""Rules with generated code, and runs in which every rule is left to the readable engine, to compare with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gslang.engine import generate
from gslang.engine.program import MatchProgram


@contextmanager
def readable_only() -> Iterator[None]:
    """All rules run by the readable engine, as if none could be compiled."""
    compiled = generate._compiled
    generate._compiled = lambda plan, mode: None  # type: ignore[assignment]
    try:
        yield
    finally:
        generate._compiled = compiled


def is_compiled(plan: MatchProgram) -> bool:
    """True if a rule's rewriter is generated code."""
    return generate._compiled(plan, "rewrite") is not None
