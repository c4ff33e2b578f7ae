"""Errors of the public interface."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gslang.base.diagnostics import Diagnostic
from gslang.base.suggest import did_you_mean, some_of


class RuleError(Exception):
    """A rule file has errors. `diagnostics` has all findings; `str()` shows them with the source."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        from gslang.base.render import render_text

        self.diagnostics = tuple(diagnostics)
        super().__init__("\n" + render_text(self.diagnostics))


class UnknownNameError(KeyError):
    """There is no rule or pass of this name; `str()` says which is meant, or which there are."""

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        super().__init__(name)
        names = list(known)
        guess = did_you_mean(name, names)
        help = (
            f"did you mean `{guess}`?" if guess
            else f"known: {some_of(name, names) or 'none'}"
        )
        self.message = f"unknown {what} `{name}`; {help}"

    def __str__(self) -> str:
        return self.message
