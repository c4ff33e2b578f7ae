"""Trace files: one JSON object a line, an application or a built-in step (docs/debugging.md)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NoReturn

from gslang.base.diagnostics import InputError
from gslang.engine.replay import TraceEntry, ids_of
from gslang.engine.rewrite import Application
from gslang.graph.graph import Graph


def tracer(graph: Graph, lines: list[str]) -> Callable[[int, Application | str], None]:
    """An observer that writes each application of a run on `graph` as it happens."""
    ids = ids_of(graph)

    def observe(number: int, what: Application | str) -> None:
        if isinstance(what, str):
            lines.append(json.dumps({"step": what, "after": number}) + "\n")
            return
        entry = {
            "application": number,
            "rule": what.rule,
            "outputs": [ids(n) for n in what.outputs],
            "removed": [ids(n) for n in what.removed],
            "added": [{"id": ids(n), "op": op.lstrip("%")} for n, op in zip(what.added, what.added_operators)],
            "replaced": {ids(a): ids(b) for a, b in what.replaced.items()},
            "bindings": {name: _bound(value, ids) for name, value in what.bindings.items()},
        }
        lines.append(json.dumps(entry, ensure_ascii=False) + "\n")

    return observe


def _bound(value: Any, ids: Callable[[int], str]) -> Any:
    """A matched node, or the instances of a block as tables."""
    return ids(value) if isinstance(value, int) else [{name: ids(node) for name, node in table.items()} for table in value]


def read_trace(path: str) -> list[TraceEntry]:
    """The entries of a trace file. Raises `InputError` with the line."""
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
    except OSError as error:
        raise InputError(f"cannot be read: {(error.strerror or str(error)).lower()}", path=path) from None
    except UnicodeDecodeError:
        raise InputError("not UTF-8", path=path) from None
    entries = []
    for number, text in enumerate(lines, 1):
        if text.strip():
            entries.append(_entry(path, number, text, last=number == len(lines)))
    return entries


def _entry(path: str, number: int, text: str, last: bool) -> TraceEntry:
    def fail(message: str, help: str = "write it with `--trace`, and do not edit it") -> NoReturn:
        raise InputError(message, path=path, place=f"{number}:1", help=help)

    try:
        data: Any = json.loads(text)
    except ValueError:
        fail("not a line of a trace: no JSON", "is the file cut off?" if last else "write it with `--trace`, and do not edit it")
    if not isinstance(data, dict):
        fail("not a line of a trace: an object is expected")
    if data.get("step") in ("fold", "cse"):
        return TraceEntry(number, None, data["step"])
    rule, outputs, added, removed = data.get("rule"), data.get("outputs"), data.get("added"), data.get("removed")
    if not isinstance(rule, str) or not _names(outputs) or not _names(removed) or not isinstance(added, list):
        fail("not a line of a trace: `rule`, `outputs`, `added` and `removed` are expected")
    ids = [item.get("id") if isinstance(item, dict) else None for item in added]
    if not _names(ids):
        fail("not a line of a trace: each added node has an `id`")
    return TraceEntry(number, rule, None, tuple(outputs), tuple(ids), tuple(removed))  # type: ignore[arg-type]


def _names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
