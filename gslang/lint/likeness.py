"""Numbers for tests, conditions and targets that are equal where these may say the same (`generality.same`).

What says the same up to the numbers of nodes, names and templates has the same number, so that rules are
looked up by what they say, and not compared each with each.
"""

from __future__ import annotations

from collections.abc import Hashable

from gslang.base.reachable import reachable
from gslang.check import checked as ir

_NUMBERED = frozenset(("node", "block", "let", "capture", "local", "locals"))
"""Fields by which a rule numbers its own parts."""

Known = dict[int, tuple[object, int]]
"""Parts, which are held so that their identities stay theirs, and their numbers."""


class Likeness:
    """The numbers of one run; each shape of a part has one."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}

    def of(self, item: object, known: Known) -> int:
        """`known`: numbers of parts of the same rule, by identity; what is shared is looked at once."""
        if id(item) not in known:
            number = self._numbers.setdefault(self._shape(item, known), len(self._numbers))
            known[id(item)] = item, number
        return known[id(item)][1]

    def of_target(self, rule: ir.CheckedRule) -> frozenset[int]:
        """Those of all that a rule builds."""
        known: Known = {}
        found, targets = set[int](), rule.target.targets
        for number in reachable(rule.target.outputs, lambda number: targets[number].parts):
            target = targets[number]
            said = (
                (target.operator, tuple(sorted(target.attributes, key=lambda a: a[0])), target.spreads)
                if isinstance(target, ir.NewNode) else (type(target).__name__, target.reads)
            )
            found.add(self.of(said, known))
        return frozenset(found)

    def _shape(self, item: object, known: Known) -> Hashable:
        kind = type(item)
        if isinstance(item, tuple):
            return kind, *[self.of(part, known) for part in item]
        if not hasattr(item, "__dataclass_fields__"):
            return (kind, item) if kind.__hash__ is not None else kind.__name__
        if isinstance(item, ir.SameNode):
            return kind.__name__
        return kind, *[
            self.of(getattr(item, name), known)
            for name in item.__dataclass_fields__ if name not in _NUMBERED and not name.endswith("span")
        ]
