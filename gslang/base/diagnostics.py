"""Diagnostics as data: what is wrong, its location and a suggested fix. Rendering is separate (`render`)."""

from __future__ import annotations

from enum import Enum

from gslang.base.quick_dataclass import dataclass
from gslang.base.source import Span


class Severity(Enum):
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Label:
    span: Span
    text: str = ""


@dataclass(frozen=True, slots=True)
class Edit:
    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    title: str
    edits: tuple[Edit, ...]
    safe: bool = True


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding: `message` is one line, lower case, without full stop, the user's words in backticks."""

    code: str
    message: str
    primary: Label
    severity: Severity = Severity.ERROR
    related: tuple[Label, ...] = ()
    help: str | None = None
    fix: Fix | None = None

    @property
    def order(self) -> tuple[str, int, int, str, str]:
        span = self.primary.span
        return (span.source.name, span.start, span.end, self.code, self.message)


class InputError(Exception):
    """A file that the user gave cannot be used: `str()` is the whole message, with file, place and hint (exit
    code 3).

    `path` names the file, `place` is "line 3, column 7" or a JSON pointer.
    """

    def __init__(self, message: str, *, path: str = "", place: str = "", help: str = "") -> None:
        where = ":".join(part for part in (path, place) if part)
        text = (where + ": " if where else "") + message + (f"\n  help: {help}" if help else "")
        super().__init__(text)
        self.message, self.path, self.place, self.help = message, path, place, help
