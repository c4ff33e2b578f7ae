"""Multiply-adds and bytes of the nodes of a history, as far as the sizes are known."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from gslang.dialect.dialect import Dialect
from gslang.graph.graph import CONST, PARAM
from gslang.search.cost.work import Call, UnknownCost, Work, work_of
from gslang.view.history import Entry, History

_MOST: Final = 50_000  # entries


def entry_works(history: History, dialect: Dialect) -> list[Work | None]:
    """The work of each entry; None for leaves, for what depends on weights only, and where a size or the
    operator is unknown.
    """
    entries = history.entries
    if len(entries) > _MOST:
        return [None] * len(entries)
    fixed: list[bool] = []
    known: dict[Any, Work | None] = {}
    works: list[Work | None] = []
    for number, entry in enumerate(entries):
        is_fixed = (
            entry.op in (PARAM, CONST) or bool(entry.operands)
            and all(o < 0 or o < number and fixed[o] for o in entry.operands)
        )
        fixed.append(is_fixed)
        if is_fixed or entry.op.startswith("%"):
            works.append(None)
            continue
        types = tuple(None if o < 0 else entries[o].type for o in entry.operands)
        key = (entry.op, types, entry.type, id(entry.attrs))
        if key not in known:
            known[key] = _work(entry, types, dialect)
        works.append(known[key])
    return works


def _work(entry: Entry, types: tuple[Any, ...], dialect: Dialect) -> Work | None:
    try:
        return work_of(Call(entry.op, types, entry.type, entry.attrs, dialect))
    except (UnknownCost, ValueError):
        return None


def totals(works: list[Work | None], nodes: Iterable[int]) -> dict[str, int]:
    """Multiply-adds and bytes of some nodes together; nodes of unknown work count nothing."""
    found = [work for node in nodes if (work := works[node]) is not None]
    return {"macs": sum(w.macs for w in found), "bytes": sum(w.moved for w in found)}
