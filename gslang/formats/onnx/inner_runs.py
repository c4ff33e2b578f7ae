"""Rules in the bodies and local functions of a model: run there, or applied again from a trace; counted for
each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice

from gslang.base.quick_dataclass import dataclass
from gslang.dialect.dialect import Dialect
from gslang.engine.fixed_point import Limits, Observer, Progress
from gslang.engine.replay import TraceEntry
from gslang.formats.onnx.bodies import rewrite_insides
from gslang.graph.compare import count_calls
from gslang.graph.graph import Graph

Run = Callable[[Graph, Limits, Observer | None], Progress]
"""Rewrites one graph."""


@dataclass(frozen=True, slots=True)
class BodyCount:
    """The record of a run in a body or local function: its applications, and its calls by operator before and
    after."""

    applications: int
    before: Mapping[str, int]
    after: Mapping[str, int]


def run_inside(
    graph: Graph,
    dialect: Dialect,
    run: Run,
    limits: Limits,
    progress: Progress,
    observer: Callable[[str, Graph, int], Observer | None],
) -> tuple[bool, dict[str, BodyCount]]:
    """Rewrite each body and function of a model, then those inside it, until `limits.stop_after`.

    Returns True if one of them has changed, and what happened in each, by path. `progress` goes on counting;
    `observer` makes the observer of a graph from its path, the graph, and the number of applications so far.
    """
    counts: dict[str, BodyCount] = {}

    def within(path: str, inner: Graph) -> None:
        done = progress.applications
        if limits.stop_after is not None and done >= limits.stop_after:
            return
        left = None if limits.stop_after is None else limits.stop_after - done
        before = count_calls(inner)
        own = run(inner, Limits(limits.applications, limits.sweeps, left), observer(path, inner, done))
        own.failures = [replace(failure, node=f"{path}/{failure.node}") for failure in own.failures]
        progress.include(own)
        _include_refused(graph, inner)
        rewrite_insides(inner, dialect, within, f"{path}/")
        counts[path] = BodyCount(own.applications, before, count_calls(inner))

    return bool(rewrite_insides(graph, dialect, within)), counts


def _include_refused(graph: Graph, inner: Graph) -> None:
    refused = dict(graph.meta.get("refused", {}))
    for why, times in inner.meta.get("refused", {}).items():
        refused[why] = refused.get(why, 0) + times
    if refused:
        graph.meta["refused"] = refused


class Entries:
    """The entries of a trace, taken off in order by the graphs that they are about.

    None is read before the one before it is done.
    """

    def __init__(self, entries: Iterable[TraceEntry]) -> None:
        self._rest = iter(entries)
        self._read: list[TraceEntry] = []

    @property
    def next(self) -> TraceEntry | None:
        """The first that is not taken; None at the end."""
        if not self._read:
            self._read.extend(islice(self._rest, 1))
        return self._read[0] if self._read else None

    def skip(self) -> None:
        """Take the next one off."""
        self._read.clear()

    def of(self, body: str) -> Iterator[TraceEntry]:
        """The next entries, as long as they are about this graph."""
        while (entry := self.next) is not None and entry.body == body:
            self._read.clear()
            yield entry


def replay_inside(
    graph: Graph, dialect: Dialect, entries: Entries, redo: Callable[[str, Graph], None]
) -> None:
    """Let `redo` apply the entries that are about bodies and functions, in the order in which `run_inside`
    goes through these.
    """

    def within(path: str, inner: Graph) -> None:
        if entries.next is None:
            return
        redo(path, inner)
        rewrite_insides(inner, dialect, within, f"{path}/")

    rewrite_insides(graph, dialect, within)
