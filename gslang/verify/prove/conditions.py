"""The conditions of a rule in one case: each is asked as soon as it can be read, since one that fails leaves
out all cases that operators would make after it.
"""

from __future__ import annotations

from gslang.check import checked as ir
from gslang.check.walks import equations, walk
from gslang.engine.scope import UNBOUND
from gslang.verify.prove.case import OPEN, Case
from gslang.verify.prove.chosen import still_open
from gslang.verify.prove.for_all import learn
from gslang.verify.prove.operators.leaf import Leaf
from gslang.verify.prove.operators.symbolic_graph import Pending
from gslang.verify.prove.terms.paths import CONDITION, Impossible, NotProved, TooMuch
from gslang.verify.prove.watched import Said


class Conditions:
    """Those that were not asked yet."""

    def __init__(self, case: Case) -> None:
        self.case, self.scope, self.watched = case, case.scope, case.watched
        self.early = list(case.watched.early)
        self.chosen = list(case.watched.chosen)  # on numbers that calls choose
        self.shaped = list(case.watched.shaped)  # on types of results

    def cut_off(self, everything: bool = False) -> None:
        """Ask the conditions on inputs and captured values as soon as these are bound, before operators make
        more cases.

        Raises `Impossible` where one fails. One that cannot be read does not matter where another one fails,
        now or later.
        """
        slots, captures = self.scope.slots, self.scope.captures
        ready = [
            early for early in self.early
            if self.case.takes(early.branches) and (
                everything
                or early.captured <= captures.keys() and all(slots[node] != UNBOUND for node in early.asked)
            )
        ]
        if not ready:
            return
        self.early = [early for early in self.early if early not in ready]
        unread: NotProved | None = None
        for early in ready:
            try:
                if self.case.fails(early.condition):
                    raise Impossible(CONDITION)
            except TooMuch:
                raise
            except NotProved as error:
                self.early.append(early)
                unread = error
        if everything and unread is not None:
            raise unread

    def ask_chosen(self) -> None:
        """Ask the conditions on numbers that calls have chosen. Raises `Impossible` if one fails."""
        self.chosen = still_open(self.case, self.chosen)

    def ask_shaped(self) -> None:
        """Ask the conditions on types of what is computed by now. Raises `Impossible` if one fails."""
        ready = [
            shaped for shaped in self.shaped
            if self.case.takes(shaped.branches) and all(map(self.is_typed, shaped.asked))
        ]
        self.shaped = [shaped for shaped in self.shaped if shaped not in ready]
        for shaped in ready:
            self.case.cut_off(shaped.condition)

    def assume(self, condition: ir.Value) -> None:
        """Hold the case to a condition. One that reads the numbers of a constant one by one is left out where
        it cannot be read: the rule is then taken to be applied more often than it is.
        """
        try:
            self.case.assume(condition)
        except TooMuch:
            raise
        except NotProved:
            if not any(map(_reads_all, walk(condition, self.case.rule.lets))):
                raise
            learn(self.case, condition)

    def rank_said(self, number_: int) -> int | None:
        """The rank of a result, as conditions say it, or what they say of types that are known already."""
        said = self.watched.said.get(number_, Said()).rank
        if said is not None:
            return said
        for shaped in self.watched.shaped:
            for field, other in equations([shaped.condition]):
                if (
                    field.node == number_ and field.name == "shape" and self.case.takes(shaped.branches)
                    and all(map(self.is_typed, shaped.asked - {number_}))
                    and (rank := self.length_of(other)) is not None
                ):
                    return rank
        return None

    def length_of(self, value: ir.Value) -> int | None:
        """The length of a tuple; None of what is none, or cannot be read: it is asked again at the end."""
        try:
            found = self.case.try_value(value)
        except TooMuch:
            raise
        except (NotProved, *OPEN):
            return None
        return len(found) if isinstance(found, tuple) else None

    def is_typed(self, number_: int) -> bool:
        """True if a node of the source is bound to an input, or to what is computed."""
        slot = self.scope.slots[number_]
        value = self.case.graph.values[slot] if slot >= 0 else None
        return isinstance(value, Leaf) or isinstance(value, Pending) and bool(value.found)


def _reads_all(part: object) -> bool:
    """True for what reads the numbers of a constant one by one."""
    return isinstance(part, ir.Comprehension) or isinstance(part, ir.Builtin) and part.name in ("max", "min")
