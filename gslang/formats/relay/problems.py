"""Errors in Relay text."""

from __future__ import annotations

from typing import NoReturn

from gslang.base.diagnostics import InputError
from gslang.formats.relay.lexer import END, Tokens


class UnsupportedConstruct(InputError):
    """Legal Relay that is outside the static dataflow subset. `construct` names it."""

    def __init__(self, construct: str, message: str, *, path: str, place: str, help: str) -> None:
        super().__init__(message, path=path, place=place, help=help)
        self.construct = construct


class Problems:
    """Raises errors with file, place and function; collects warnings."""

    __slots__ = ("function", "path", "several", "tokens", "warnings")

    def __init__(self, path: str, tokens: Tokens) -> None:
        self.path = path
        self.tokens = tokens
        self.function = ""
        self.several = False  # the file has more than one function
        self.warnings: list[str] = []

    def _in_function(self) -> str:
        return f" (in `{self.function}`)" if self.function else ""

    def error(self, index: int, message: str, help: str = "") -> NoReturn:
        raise InputError(
            message + self._in_function(), path=self.path, place=self.tokens.place(index), help=help
        )

    def expected(self, index: int, what: str) -> NoReturn:
        """The token at `index` is not what the grammar wants."""
        token = self.tokens.text[index] if index < len(self.tokens.text) else END
        if token is END:
            self.error(
                index, f"the text ends in the middle: expected {what}", "the file is cut off; print it again"
            )
        if token == "...":
            self.error(
                index, "`...` is a placeholder for something that was not printed", "print the whole module"
            )
        if token == '"':
            self.error(index, "this string is not terminated")
        if token == "/*":
            self.error(index, "this comment is not terminated")
        shown = token if len(token) < 40 else token[:37] + "…"
        self.error(index, f"expected {what}, found `{shown}`")

    def unsupported(self, index: int, construct: str, why: str = "") -> NoReturn:
        message = (
            f"{construct} is outside the static dataflow subset" + (f": {why}" if why else "")
            + self._in_function()
        )
        help = "a module is read as a graph of operators, tuples and constants"
        if self.several:
            help += (
                "; other functions of this file can be read: name one (`--function`) and give "
                "`--skip-unsupported`"
            )
        raise UnsupportedConstruct(
            construct, message, path=self.path, place=self.tokens.place(index), help=help
        )

    def warn(self, index: int, message: str) -> None:
        self.warnings.append(f"{self.path}:{self.tokens.place(index)}: {message}{self._in_function()}")
