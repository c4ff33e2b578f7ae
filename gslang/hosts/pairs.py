"""Pairs of ONNX functions, as onnxsim takes them for rules: a pattern and what replaces it.

A file is text, functions in ONNX's own syntax one after another; or protobuf, a model whose functions they
are (a model in ONNX's text syntax does as well). Two that follow each other are a pair; names that end in
`_pattern` and `_replacement` say so, too. Needs the onnx package. Not here: what a pair says as a rule
(`function_rule`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gslang.base.diagnostics import InputError
from gslang.base.file_errors import file_errors
from gslang.base.quick_dataclass import dataclass
from gslang.base.read_file import read_bytes
from gslang.formats.onnx.text import check_depth, parsed

if TYPE_CHECKING:
    from onnx import FunctionProto

_SUFFIX = re.compile(r"_?(pattern|replacement|before|after|source|target|lhs|rhs)$", re.IGNORECASE)
_FUNCTION = "name (x, y) => (z) { z = Add(x, y) }"
_FIRST = ("pattern", "before", "source", "lhs")


@dataclass(frozen=True, slots=True)
class Pair:
    """`name`: of the rule; `place`: where the pair stands, for people.

    `pattern`, `replacement`: `onnx.FunctionProto`.
    """

    name: str
    place: str
    pattern: FunctionProto
    replacement: FunctionProto


def read_pairs(path: str | Path) -> list[Pair]:
    """All pairs of a file. Raises `InputError` with the place of what is wrong."""
    shown = str(path)
    with file_errors(path, "cannot be read"):
        data = read_bytes(path)
    try:
        import onnx  # noqa: F401
    except ImportError:
        raise InputError(
            "pairs of ONNX functions are read with the onnx package", path=shown,
            help="pip install 'gslang[onnx]'",
        ) from None
    text = _as_text(data)
    functions = _in_text(text, shown) if text is not None else _in_protobuf(data, shown)
    if not functions:
        raise InputError(
            "no functions found", path=shown,
            help="write a pattern and its replacement as two ONNX functions",
        )
    return _paired(functions, shown)


def _as_text(data: bytes) -> str | None:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return None if re.search(r"[\x00-\x08\x0e-\x1f]", text) else text


def _in_protobuf(data: bytes, path: str) -> list[tuple[FunctionProto, str]]:
    import onnx
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

    from gslang.formats.onnx.texts import refuse_bytes_in_functions

    try:
        functions = list(onnx.load_model_from_string(data).functions)
    except DecodeError:
        raise InputError(
            "neither text nor an ONNX model", path=path,
            help="give functions in ONNX's text syntax, or a model that has them",
        ) from None
    refuse_bytes_in_functions(functions, path)
    return [(function, f"functions[{k}]") for k, function in enumerate(functions)]


def _in_text(text: str, path: str) -> list[tuple[FunctionProto, str]]:
    import onnx.parser

    check_depth(text, path)
    if re.search(r"ir_version\s*:", text):
        model = parsed(onnx.parser.parse_model, text, path, 1, "function", _FUNCTION)
        return [(function, f"function `{function.name}`") for function in model.functions]
    return [
        (parsed(onnx.parser.parse_function, part, path, line, "function", _FUNCTION), f"line {line}")
        for line, part in _functions(text, path)
    ]


def _functions(text: str, path: str) -> Iterator[tuple[int, str]]:
    """The functions of a text with the lines that they begin in: each ends with the brace that closes its
    body.
    """
    start, depth, at = 0, 0, 0
    while at < len(text):
        letter = text[at]
        if letter == "#":
            at = _line_end(text, at)
            continue
        if letter == '"':
            closing = re.compile(r'(?:[^"\\]|\\.)*"', re.DOTALL).match(text, at + 1)
            if closing is None:
                raise InputError(
                    "a string is not closed", path=path, place=f"{_line(text, at)}:1", help='end it with "'
                )
            at = closing.end()
            continue
        depth += (letter == "{") - (letter == "}")
        if letter == "}" and depth <= 0:
            first = _content(text, start)
            yield _line(text, first), text[first : at + 1]
            start, depth = at + 1, 0
        at += 1
    if text[_content(text, start) :].strip():
        place = f"{_line(text, _content(text, start))}:1"
        raise InputError(
            "a function is not closed", path=path, place=place, help="name (x, y) => (z) { z = Add(x, y) }"
        )


def _content(text: str, at: int) -> int:
    """The first place from `at` on that is neither space nor comment."""
    while at < len(text):
        if text[at] == "#":
            at = _line_end(text, at)
        elif text[at].isspace():
            at += 1
        else:
            break
    return at


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _paired(functions: Sequence[tuple[FunctionProto, str]], path: str) -> list[Pair]:
    if len(functions) % 2:
        function, place = functions[-1]
        raise InputError(
            f"`{function.name}` has no replacement: the file has {len(functions)} functions", path=path,
            place=place, help="each pattern is followed by its replacement",
        )
    found: list[Pair] = []
    names: dict[str, int] = {}
    for (first, place), (second, other) in zip(functions[::2], functions[1::2]):
        for function, at, is_first in ((first, place, True), (second, other, False)):
            suffix = _SUFFIX.search(function.name)
            if suffix is not None and (suffix[1].lower() in _FIRST) is not is_first:
                wanted = "a pattern" if is_first else "a replacement"
                raise InputError(
                    f"`{function.name}` occurs where {wanted} is expected", path=path, place=at,
                    help="each pattern is followed by its replacement",
                )
        name = identifier(
            _SUFFIX.sub("", first.name) or _SUFFIX.sub("", second.name) or f"rule_{len(found) + 1}"
        )
        names[name] = names.get(name, 0) + 1
        found.append(Pair(name if names[name] == 1 else f"{name}_{names[name]}", place, first, second))
    return found


def identifier(name: str) -> str:
    """A name that rule text can have."""
    made = re.sub(r"\W", "_", name, flags=re.ASCII).strip("_")
    return made if made and not made[0].isdigit() else f"r_{made}" if made else "r"
