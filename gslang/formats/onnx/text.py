"""Models and functions in ONNX's own text syntax, which the onnx package reads and writes (`.onnxtxt`)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeVar

from gslang.base.decode import decoded
from gslang.base.diagnostics import InputError
from gslang.dialect.dialect import Dialect
from gslang.formats.onnx.reader import needs_onnx, read_onnx_bytes
from gslang.formats.onnx.writer import onnx_model
from gslang.graph.graph import Graph

_Parsed = TypeVar("_Parsed")
_DEEPEST: Final = 100  # brackets within one another
_MODEL: Final = 'a model in text begins with < ir_version: 10, opset_import: ["" : 20] >'


def read_onnx_text(data: bytes, path: str, dialect: Dialect | None = None) -> Graph:
    """The graph of a model in text. Raises `InputError` with the place of what is wrong."""
    try:
        from onnx.parser import parse_model
    except ImportError:
        raise needs_onnx(path) from None
    text = decoded(data, path)
    check_depth(text, path)
    model = parsed(parse_model, text, path, 1, "model", _MODEL)
    return read_onnx_bytes(model.SerializeToString(), path, dialect)


def onnx_text(graph: Graph) -> str:
    """A graph of dialect `onnx` as a model in text, bodies included. Raises `InputError`."""
    model = onnx_model(graph)
    from onnx.printer import to_text

    text: str = to_text(model)
    return "\n".join([line.rstrip() for line in text.splitlines() if line.strip()]) + "\n"


def parsed(
    parse: Callable[[str], _Parsed], text: str, path: str, first: int, what: str, help: str
) -> _Parsed:
    """The message that a text states, which begins in line `first` of the file; `what` it is to be, and
    `help` for who wrote something else. Raises `InputError`.
    """
    try:
        return parse(text)
    except Exception as error:  # besides its own, what its C++ code raises for numbers that do not fit
        said = error.args[0] if error.args else ""
        shown = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        place = re.search(r"line: (\d+) column: (\d+)", shown)
        if place is None:
            message = f"a number or a string cannot be read: {shown.strip() or repr(error)}"
            line, column = first, 1
        else:
            message, line, column = _message(shown), int(place[1]) + first - 1, int(place[2])
    raise InputError(f"this is not an ONNX {what}: {message}", path=path, place=f"{line}:{column}", help=help)


def check_depth(text: str, path: str) -> None:
    """Raises `InputError` for too many brackets: the package's parser calls itself for each."""
    depth = 0
    for token in re.finditer(r'#[^\n]*|"(?:[^"\\]|\\.)*"|[\[({<]|=>|[\])}>]', text):
        depth += (token[0] in ("[", "(", "{", "<")) - (token[0] in ("]", ")", "}", ">"))
        if depth > _DEEPEST:
            line = text.count("\n", 0, token.start()) + 1
            raise InputError(
                f"brackets nested more than {_DEEPEST} levels deep", path=path, place=f"{line}:1",
                help="compute parts of it in separate nodes",
            )


def _message(said: str) -> str:
    """The parser's message, in a line."""
    context = "Error context"
    lines = [part.strip() for part in said.splitlines() if part.strip()]
    reason = next((part.partition(":")[2].strip() for part in lines if part.startswith(context)), "")
    message = next((part for part in reversed(lines) if not part.startswith((context, "["))), lines[0])
    message = re.sub(r"^\[ParseError at position.*?\]\s*", "", message)
    return f"{message}, at `{reason}`" if reason else message
