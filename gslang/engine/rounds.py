"""The work of one round of a loop in an attribute expression: how many parts it has.

Counted once for each loop, and not for each round (`limits.run_over`): of what a loop does inside one round,
loops inside it count their own rounds besides.
"""

from __future__ import annotations

from dataclasses import is_dataclass
from typing import Final

from gslang.check import checked as ir
from gslang.check.walks import walk

_MOST: Final = 4096  # loops that are remembered
_known: Final[dict[int, tuple[ir.Loop, int]]] = {}  # by identity; the loop is held so that it keeps it


def work_of_round(loop: ir.Loop) -> int:
    """The parts of the element and of the condition of a loop, what is shared counted once."""
    known = _known.get(id(loop))
    if known is None:
        if len(_known) >= _MOST:
            _known.clear()
        parts = walk((loop.element, loop.condition))
        known = _known[id(loop)] = loop, sum(is_dataclass(part) for part in parts) + 1
    return known[1]
