"""A rule as `generalize` has found it, and what was tried on the way."""

from __future__ import annotations

from dataclasses import field

from gslang.base.quick_dataclass import dataclass
from gslang.check import checked as ir
from gslang.verify.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Tried:
    """One conjunction: how many samples agreed and differed under it, and why one of them did."""

    form: str
    conditions: tuple[str, ...]
    good: int
    bad: int
    why: str


@dataclass(frozen=True, slots=True)
class Generalized:
    """`text`: the rule as found, None if no conditions make it hold (`reason`). `conditions`: those added;
    `lifted`: what was left open.

    `before` and `verdict`: on the rule as given and as found. `rule`: the checked rule as found. `stopped`:
    the seconds that did not suffice to try all.
    """

    name: str
    text: str | None
    conditions: tuple[str, ...]
    lifted: tuple[str, ...]
    before: Verdict
    verdict: Verdict | None
    tried: tuple[Tried, ...]
    reason: str
    rule: ir.CheckedRule | None = field(default=None, compare=False, repr=False)
    stopped: float | None = None

    @property
    def answers(self) -> bool:
        """True if a rule was found, and all was tried."""
        return self.text is not None and self.stopped is None

    @property
    def unchanged(self) -> bool:
        """True if the rule holds as it is written, and nothing in it is more special than need be."""
        return self.text is not None and not self.conditions and not self.lifted

    @property
    def left_open(self) -> str | None:
        """The question that more time might answer; None if all was tried."""
        if self.stopped is None:
            return None
        if self.verdict is None:
            return "do any conditions suffice?"
        weaker = "do weaker conditions suffice?"
        return weaker if self.verdict.verdict == "proved" else f"is there a proof, and {weaker}"
