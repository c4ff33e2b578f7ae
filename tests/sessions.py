"""Pages of the manual as sessions: files are written as they are shown, commands run, and print what is
shown.
"""

from __future__ import annotations

import io
import re
import runpy
import shlex
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from gslang.cli.main import main

_BLOCK = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```", re.DOTALL | re.MULTILINE)
_VARIES = [  # what differs between machines and versions, and what stands for it
    (re.compile(r"\b\d+(?:\.\d+)? (?:s|ms|seconds)\b"), "T s"),
    (re.compile(r"(difference|relative) [\d.]+(?:e[-+]\d+)?"), r"\1 E"),
    (re.compile(r"^(refuted|unknown|tested|exact|proved) .*"), "VERDICT"),
    (re.compile(r"^1 (refuted|unknown|tested|exact|proved)$"), "VERDICTS"),
]


@dataclass(frozen=True)
class Command:
    """A command line and the lines that it prints; a line that ends in `…` goes on somehow, `…` alone stands
    for any lines.
    """

    line: str
    shown: tuple[str, ...]


def steps(page: Path) -> list[Command | tuple[str, str]]:
    """Commands, and files as (name, text), in the order of the page."""
    found: list[Command | tuple[str, str]] = []
    for kind, title, text in _BLOCK.findall(page.read_text(encoding="utf-8")):
        if title:
            found.append((title, text))
        elif kind == "console":
            for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                line, *shown = part.rstrip("\n").split("\n")
                found.append(Command(line, tuple(shown)))
    return found


def printed(line: str) -> list[str]:
    """Run a command of a page in the current folder: what a terminal shows, line by line."""
    program, *words = shlex.split(line, comments=True)
    buffer = io.StringIO()
    with redirect_stdout(buffer), redirect_stderr(buffer):
        if program == "gslc":
            assert main(words) in (0, 1), f"{line}\n{buffer.getvalue()}"
        elif program == "python":
            runpy.run_path(words[0], run_name="__main__")
        elif program == "cat":
            buffer.write(Path(words[0]).read_text(encoding="utf-8"))
        else:
            raise AssertionError(f"no such program on a page: {line}")
    return [part.rstrip() for part in buffer.getvalue().splitlines()]


def agrees(shown: tuple[str, ...], lines: list[str]) -> bool:
    """True if a terminal with these lines is what a page shows. Times, rounding errors and the
    reasons of verdicts may be others."""
    pattern = ""
    for line in map(_usual, shown):
        if line == "…":
            pattern += r"(?:.*\n)*?"
        elif line.endswith("…"):
            pattern += re.escape(line[:-1].rstrip()) + r".*\n"
        else:
            pattern += re.escape(line) + r"\n"
    return re.fullmatch(pattern, "".join(_usual(line) + "\n" for line in lines)) is not None


def _usual(line: str) -> str:
    """A line with what varies replaced."""
    for varying, word in _VARIES:
        line = varying.sub(word, line)
    return line


def play(page: Path, run: Callable[[str], list[str]] = printed) -> None:
    """Do what a page says, in the current folder; `run` does a command and gives the lines that it prints.

    Raises `AssertionError` where something else is printed.
    """
    for step in steps(page):
        if isinstance(step, Command):
            lines = run(step.line)
            assert agrees(step.shown, lines), "\n".join(
                [f"$ {step.line}", "— shown:", *step.shown, "— printed:", *lines]
            )
        else:
            name, text = step
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_text(text, encoding="utf-8")
