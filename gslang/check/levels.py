"""Limits on the depth of a rule. Later stages descend into values and choices recursively, so deeper ones are
rejected here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gslang.check import checked as ir
from gslang.check.walks import heights, walk

if TYPE_CHECKING:
    from gslang.base.source import Span
    from gslang.check.context import Lowering

DEEPEST_VALUE = 200  # named values that read one another
DEEPEST_CHOICE = 100  # choices of a target inside one another


def check_levels(lowering: Lowering, span: Span) -> None:
    """Report named values that read one another, and choices of the target, in too many levels."""
    reads = [tuple({part.let for part in walk(value) if isinstance(part, ir.Let)}) for value in lowering.lets]
    deep = heights(range(len(reads)), lambda number: reads[number])
    if max(deep.values(), default=0) > DEEPEST_VALUE:
        lowering.error(
            "E0107", f"named values refer to one another more than {DEEPEST_VALUE} levels deep", span,
            "this is a limit of gslang",
        )
    if _choices(lowering.targets) > DEEPEST_CHOICE:
        lowering.error(
            "E0107", f"choices of a target are nested more than {DEEPEST_CHOICE} levels deep",
            span, "this is a limit of gslang",
        )


def levels(rule: ir.CheckedRule) -> int:
    """The longest way down in the source or the target."""
    below = heights(range(len(rule.nodes)), lambda node: rule.nodes[node].below)
    made = heights(range(len(rule.target.targets)), lambda number: rule.target.targets[number].parts)
    return max([*below.values(), *made.values()], default=0)


def choice_levels(rule: ir.CheckedRule) -> int:
    """The nesting depth of the target's choices."""
    return _choices(rule.target.targets)


def _choices(targets: Sequence[ir.Target]) -> int:
    nesting = heights(
        range(len(targets)), lambda number: targets[number].parts,
        lambda number: isinstance(targets[number], (ir.ChosenTarget, ir.Repeat)),
    )
    return max(nesting.values(), default=0)


