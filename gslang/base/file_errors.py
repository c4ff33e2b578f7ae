"""Errors of the system about files, as errors about a file that the user named."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gslang.base.diagnostics import InputError


def reason_of(error: OSError) -> str:
    """The reason that the system gives, for the end of a message."""
    return (error.strerror or str(error)).lower()


@contextmanager
def file_errors(path: str | Path, what: str) -> Iterator[None]:
    """Raise an `OSError` inside as an `InputError` about this file: `what` ("cannot be read"), and why."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{what}: {reason_of(error)}", path=str(path)) from None
