"""Verdicts as text: the verdict first, in aligned columns.

Not here: the other formats (`report`).
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from gslang.base.relative_path import relative_path
from gslang.base.style import Paint, Style, plain
from gslang.check.checked import CheckedRule
from gslang.verify.laws import BY_NAME
from gslang.verify.verdict import ORDER, Verdict

_STYLES: dict[str, Style] = {
    "proved": "good",
    "exact": "good",
    "tested": "count",
    "changes": "count",
    "refuted": "bad",
    "refused": "bad",
    "unknown": "quiet",
}
_WIDEST = 40  # a longer name moves its own line only


def as_text(verdicts: Sequence[Verdict], rules: Mapping[str, CheckedRule]) -> str:
    """One line for each rule, counterexamples below it, counts at the end."""
    layout = Layout(v.rule for v in verdicts)
    return "".join([*(layout.verdict(v, rules[v.rule]) for v in verdicts), counts_line(verdicts)])


class Layout:
    """The columns of verdicts as text: verdict, rule, reason, seconds."""

    def __init__(self, names: Iterable[str], paint: Paint = plain) -> None:
        lengths = [len(name) for name in names]
        self.name_width = min(max(lengths, default=0), _WIDEST)
        self.verdict_width = max(map(len, ORDER)) if len(lengths) > 1 else 0  # nothing to align with
        self.paint = paint

    def line(self, verdict: str, name: str, *columns: str) -> str:
        padding = " " * (self.verdict_width - len(verdict))
        return (
            "  ".join(
                [self.paint(_STYLES[verdict], verdict) + padding, f"{name:<{self.name_width}}", *columns]
            )
            + "\n"
        )

    def verdict(
        self, v: Verdict, rule: CheckedRule, explain: bool = False, given: Sequence[str] = ()
    ) -> str:
        """The line of a verdict and what is shown below it: a counterexample; with `explain`, the laws of a
        proof as they are stated, or what stopped it; why a proof has no certificate though one was asked for.
        `given`: options about the rule, which a suggested command repeats.
        """
        instances = f" ({v.instances} instance{'s' * (v.instances != 1)})" if v.verdict != "proved" else ""
        lines = []
        if v.counterexample is not None:
            lines += ["  " + line for line in v.counterexample.test.splitlines()]
        if explain and v.verdict == "proved":
            lines += [f"  {line}" for line in _laws(v)]
        if explain and v.unproved:
            lines.append(f"  no proof: {v.unproved}")
        if v.uncertified:
            lines.append(f"  no certificate: {v.uncertified}")
        if v.verdict == "refuted":
            file = relative_path(rule.span.source.name)
            command = shlex.join(["gslc", "generalize", file, v.rule, *given])
            lines.append(f"  help: `{command}` finds conditions")
        return self.line(v.verdict, v.rule, v.reason + instances, f"{v.seconds:.1f} s") + "".join(
            f"{line}\n" for line in lines
        )


def counts_line(verdicts: Sequence[Verdict]) -> str:
    """The number of rules with each verdict, the best first."""
    counts = Counter(v.verdict for v in verdicts)
    return (
        ", ".join(f"{counts[name]} {name}" for name in reversed(ORDER) if counts[name]) or "no rules"
    ) + "\n"


def _laws(v: Verdict) -> list[str]:
    if not v.laws:
        return ["no law but those of sums and products"]
    laws = [BY_NAME[name] for name in v.laws]
    return [
        (
            f"{law.name}: {law.left} = "
            f"{law.right}{' where ' * bool(law.conditions)}{', '.join(law.conditions)} "
            f"({', '.join(law.numbers)})"
        )
        for law in laws
    ]
