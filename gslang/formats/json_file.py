"""A JSON document with places: parsing, and errors that name the file and the JSON pointer (RFC 6901)."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, NoReturn

from gslang.base.decode import decoded
from gslang.base.diagnostics import InputError
from gslang.base.open_types import JsonObject
from gslang.base.suggest import did_you_mean
from gslang.formats.weights import WeightsFile, open_weights

_STRING: Final = r'"(?:[^"\\]|\\.)*"'
_SPECIAL: Final = re.compile(rf"{_STRING}|(?P<it>NaN|-?Infinity)", re.DOTALL)
_LONG: Final = re.compile(rf"{_STRING}|(?P<it>-?\d{{2000,}})", re.DOTALL)
_HALF: Final = re.compile(r"\\u[dD][89a-fA-F]")


class JsonFile:
    """The file that a graph is read from: its path for messages, and the folder that weights may come from.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        no_file = path == "-" or path.startswith("<")
        self.folder = Path.cwd() if no_file else Path(os.path.realpath(path)).parent
        self._weights: dict[Path, WeightsFile] = {}

    def fail(self, pointer: str, message: str, help: str = "") -> NoReturn:
        """Raise `InputError` for the place that `pointer` names ("" is the whole document)."""
        raise InputError(message, path=self.path, place=pointer or "/", help=help)

    def check_keys(self, pointer: str, found: JsonObject, known: tuple[str, ...]) -> None:
        """Refuse keys that are neither known nor the user's own (`x-…`)."""
        for key in found:
            if key not in known and not key.startswith("x-"):
                guess = did_you_mean(key, known)
                help = f"known here: {', '.join(known)}; custom keys begin with `x-`"
                if guess:
                    help = f"did you mean `{guess}`?"
                self.fail(f"{pointer}/{escaped(key)}", f"unknown key `{key}`", help)

    def weights(self, pointer: str, name: str) -> WeightsFile:
        """A weights file beside the document, opened once.

        Never one outside its folder, through links neither.
        """
        try:
            path = (self.folder / name).resolve()
        except (OSError, ValueError, RuntimeError):  # NUL bytes, a circle of links
            self.fail(pointer, f"`{name}` is not a file name")
        if not path.is_relative_to(self.folder):
            self.fail(pointer, f"`{name}` lies outside the graph's folder", "put weights next to the graph")
        if path not in self._weights:
            try:
                self._weights[path] = open_weights(path)
            except InputError as error:
                self.fail(pointer, f"`{name}`: {error.message}", error.help)
        return self._weights[path]


def escaped(key: str) -> str:
    """A key as a part of a JSON pointer."""
    return key.replace("~", "~0").replace("/", "~1")


def parse(file: JsonFile, data: str | bytes) -> object:
    """The document.

    Raises `InputError` with line and column for what is not JSON, with a pointer for a repeated key.
    """
    if isinstance(data, bytes):
        data = decoded(data, file.path)
    repeated: list[tuple[dict[str, object], str]] = []

    def pairs(items: list[tuple[str, object]]) -> dict[str, object]:
        result = dict(items)
        if len(result) != len(items):
            repeated.append((result, _first_repeated(key for key, _ in items)))
        return result

    def constant(name: str) -> NoReturn:
        file.fail(
            _place_of(_SPECIAL, data), f"`{name}` is not JSON", 'write the strings "nan", "inf", "-inf"'
        )

    try:
        document = json.loads(data, object_pairs_hook=pairs, parse_constant=constant)
    except json.JSONDecodeError as error:
        message = error.msg[:1].lower() + error.msg[1:]
        cut_off = error.pos >= len(data.rstrip()) - 1 or error.msg.startswith("Unterminated")
        file.fail(
            f"{error.lineno}:{error.colno}", f"not JSON: {message}",
            "is the file truncated?" if cut_off else "",
        )
    except RecursionError:
        file.fail("", "nested too deeply for a graph")
    except ValueError:  # Python reads no integers with thousands of digits
        file.fail(_place_of(_LONG, data), "a number with too many digits")
    if _HALF.search(data):
        _refuse_halves(file, document)
    if repeated:
        holder, key = repeated[0]
        file.fail(
            f"{_pointer_to(document, holder)}/{escaped(key)}", f"duplicate key `{key}`"
        )
    return document


def _place_of(wanted: re.Pattern[str], text: str) -> str:
    """"line:column" of the first such token outside of strings."""
    for found in wanted.finditer(text):
        if found.lastgroup:
            line_start = text.rfind("\n", 0, found.start()) + 1
            return f"{text.count(chr(10), 0, line_start) + 1}:{found.start() - line_start + 1}"
    return ""


def _refuse_halves(file: JsonFile, document: object) -> None:
    """No text that is written as UTF-8 can hold half of a surrogate pair."""
    stack: list[tuple[str, object]] = [("", document)]
    while stack:
        pointer, value = stack.pop()
        if isinstance(value, dict):
            for key, item in reversed(value.items()):
                stack += [(f"{pointer}/{escaped(key)}", item), (pointer, key)]
        elif isinstance(value, list):
            stack += [(f"{pointer}/{k}", item) for k, item in reversed([*enumerate(value)])]
        elif isinstance(value, str) and any("\ud800" <= c <= "\udfff" for c in value):
            half = next(c for c in value if "\ud800" <= c <= "\udfff")
            place = pointer.encode("utf-8", "backslashreplace").decode("utf-8")
            file.fail(
                place, f"`\\u{ord(half):04x}` is half of a surrogate pair",
                "write both halves of the pair, or the character itself",
            )


def _first_repeated(keys: Iterable[str]) -> str:
    seen: set[str] = set()
    for key in keys:
        if key in seen:
            return key
        seen.add(key)
    raise AssertionError("no key is repeated: this is a bug in gslang")


def _pointer_to(document: object, wanted: Mapping[str, object]) -> str:
    """Where an object stands. An object inside a value that a repeated key replaced is not there any more."""
    stack: list[tuple[str, object]] = [("", document)]
    while stack:
        pointer, value = stack.pop()
        if value is wanted:
            return pointer
        if isinstance(value, dict):
            stack += [(f"{pointer}/{escaped(key)}", item) for key, item in value.items()]
        elif isinstance(value, list):
            stack += [(f"{pointer}/{k}", item) for k, item in enumerate(value)]
    return "…"
