"""Trace files: one JSON object a line, an application or a built-in step (docs/debugging.md).

Lines are kept in a temporary file while the run lasts. When it has ended they are copied, each with what
could not be known before: how many lines there are, and under which ids the graph is written.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, NoReturn

from gslang.base.atomic_write import write_atomically
from gslang.base.diagnostics import InputError
from gslang.base.file_errors import file_errors
from gslang.base.open_types import JsonDict
from gslang.base.quick_dataclass import dataclass
from gslang.base.read_file import open_file
from gslang.engine.fixed_point import Observer
from gslang.engine.passes import FOLD_LIMIT
from gslang.engine.replay import TraceEntry, ids_of, told
from gslang.engine.rewrite import Application
from gslang.graph.graph import Graph

if TYPE_CHECKING:
    from gslang.search.trace import SearchTrace

_NOT_EDITED = "write it with `--trace`, and do not edit it"
_KEYS = ("application", "rule", "outputs", "removed", "added", "replaced", "bindings")
_IN_EGRAPH_KEYS = ("application", "rule", "round", "match", "outputs", "added", "equal", "bindings")


@dataclass(slots=True)
class Trace:
    """A trace that is being written to `path`; `watch` is asked who is told what happens to a graph
    (`api.Watch`).
    """

    path: str
    fold_limit: int | None
    spool: IO[bytes]
    lines: int = 0
    # by path, those that something happened to
    graphs: dict[str, tuple[Graph, Callable[[int], str]]] = field(default_factory=dict)

    def watch(self, path: str, graph: Graph) -> Observer:
        ids = ids_of(graph)
        where = {"body": path} if path else {}

        def observe(number: int, what: Application | str) -> None:
            self.graphs[path] = graph, ids
            if isinstance(what, str):
                limit = {"limit": self.fold_limit} if what == "fold" and self.fold_limit != FOLD_LIMIT else {}
                entry: dict[str, object] = {"step": what, **where, **limit, "after": number}
            else:
                entry = {**told(number, what, ids), **where}
            self.spool.write(json.dumps(entry, ensure_ascii=False).encode() + b"\n")
            self.lines += 1

        return observe

    def save(self, format: str) -> None:
        """Write the file: the run has ended, and its graph is written in `format`. Raises `InputError`."""
        written = {
            path: _written_ids(graph, ids, "onnx" if path else format)
            for path, (graph, ids) in self.graphs.items()
        }
        self.spool.seek(0)

        def copy(file: BinaryIO) -> None:
            for line in self.spool:
                entry = json.loads(line)
                if "rule" in entry:
                    ids = written[entry.get("body", "")]
                    nodes = [item["id"] for item in entry["added"]] + entry["outputs"]
                    entry["written"] = {id: ids[id] for id in nodes if id in ids}
                entry["lines"] = self.lines
                file.write(json.dumps(entry, ensure_ascii=False).encode() + b"\n")

        with file_errors(self.path, "cannot be written"):
            write_atomically(self.path, copy)


def write_search_trace(path: str, trace: SearchTrace, graph: Graph, format: str) -> None:
    """Write the trace of a search whose result is written in `format`. Raises `InputError`."""
    written = _ids_in_file(graph, format)
    lines, number = [], 0
    for entry in trace.entries:
        if entry.step is None:
            number += 1
            said = dict(entry.said)
            nodes = [item["id"] for item in said["added"]] + said["outputs"]
            said["written"] = {
                id: name for id in nodes
                if id in trace.nodes and (name := written.get(trace.nodes[id], id)) != id
            }
        else:
            said = {"step": entry.step, **entry.said, "after": number}
        said["lines"] = len(trace.entries)
        lines.append(json.dumps(said, ensure_ascii=False).encode() + b"\n")
    with file_errors(path, "cannot be written"):
        write_atomically(path, lambda file: file.writelines(lines))


def _written_ids(graph: Graph, ids: Callable[[int], str], format: str) -> dict[str, str]:
    """Ids in the trace → ids in the file, where these differ."""
    return {ids(node): id for node, id in _ids_in_file(graph, format).items() if ids(node) != id}


def _ids_in_file(graph: Graph, format: str) -> dict[int, str]:
    if format == "onnx":
        from gslang.formats.onnx.names import Names

        return Names(graph).of
    from gslang.formats.json_writer import ids_of_nodes

    return ids_of_nodes(graph)


def open_trace(path: str, fold_limit: int | None) -> Trace:
    """A trace that goes to `path`. Raises `InputError`."""
    with file_errors(path, "cannot be written"):
        spool: Any = tempfile.TemporaryFile(dir=Path(path).parent)
    return Trace(path, fold_limit, spool)


def read_trace(path: str) -> Iterator[TraceEntry]:
    """The entries of a trace file, one after the other. Raises `InputError` with the line."""
    number, lines = 0, None
    with file_errors(path, "cannot be read"), open_file(path) as file:
        for number, text in enumerate(file, 1):
            entry, lines = _entry(path, number, text)
            yield entry
    if lines is not None and lines != number:
        help = "is the file truncated?" if number < lines else _NOT_EDITED
        raise InputError(
            f"this is the last line, but the trace has {lines}", path=path, place=f"{number}:1", help=help
        )


def searched_sizes(path: str) -> dict[str, int]:
    """The sizes that a search was given, if this is its trace. Raises `InputError`."""
    first = next(read_trace(path), None)
    return dict(first.said.get("sizes") or {}) if first is not None and first.step == "search" else {}


def _entry(path: str, number: int, text: bytes) -> tuple[TraceEntry, int]:
    """The entry in a line, and how many lines it says there are."""

    def fail(message: str, help: str = _NOT_EDITED) -> NoReturn:
        raise InputError(f"not a line of a trace: {message}", path=path, place=f"{number}:1", help=help)

    try:
        data: Any = json.loads(text.decode())
    except UnicodeDecodeError:
        fail("not UTF-8")
    except (ValueError, RecursionError):
        fail("not JSON", _NOT_EDITED if text.endswith(b"\n") else "is the file truncated?")
    if not isinstance(data, dict):
        fail("expected an object")
    lines = data.get("lines")
    if type(lines) is not int:
        fail("`lines` must be the number of lines of the trace")
    body = data.get("body", "")
    if not isinstance(body, str):
        fail("`body` must be a path")
    if "step" in data and data["step"] in ("fold", "cse"):
        limit = data.get("limit", FOLD_LIMIT)
        if limit is not None and type(limit) is not int:
            fail("`limit` must be a number of bytes or null")
        return TraceEntry(number, data["step"], {}, body, limit), lines
    if "step" in data and data["step"] in ("search", "choose"):
        return TraceEntry(number, data["step"], _of_a_search(data, number, fail)), lines
    keys = _IN_EGRAPH_KEYS if "round" in data else _KEYS
    if missing := [key for key in keys if key not in data]:
        fail(f"`{missing[0]}` is missing")
    if not isinstance(data["rule"], str) or not _are_ids(data["outputs"]) or not data["outputs"]:
        fail("`rule` must be a name, and `outputs` a non-empty list of ids")
    if not _are_ids(data.get("removed", [])):
        fail("`removed` must be ids")
    for key in ("match", "round"):
        if key in data and (type(data[key]) is not int or not 0 <= data[key] < 1 << 62):
            fail(f"`{key}` must be a number of at least 0")
    return TraceEntry(number, None, {key: data[key] for key in (*keys, "match") if key in data}, body), lines


def _of_a_search(data: JsonDict, number: int, fail: Callable[[str], NoReturn]) -> JsonDict:
    """The contents of the first and the last line of a search's trace."""
    if data["step"] == "choose":
        if not _are_ids(data.get("nodes")):
            fail("`nodes` must be ids")
        return {"nodes": data["nodes"]}
    if number != 1:
        fail("a search must be the first line of a trace")
    sizes = data.get("sizes")
    if not (
        sizes is None
        or isinstance(sizes, dict) and all(type(size) is int and size >= 0 for size in sizes.values())
    ):
        fail("`sizes` must map names of dimensions to numbers")
    if data.get("method") not in ("eqsat", "backtrack", "greedy"):
        fail("`method` must be eqsat, backtrack or greedy")
    return {"method": data["method"], "sizes": sizes}


def _are_ids(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(id, str) for id in value)
