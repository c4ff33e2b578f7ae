"""`match y { a => e, _ => e }`: which alternation it asks about, which alternatives an arm is for."""

from __future__ import annotations

from collections.abc import Sequence

from gslang.base.diagnostics import Label
from gslang.base.suggest import did_you_mean
from gslang.check import checked as ir
from gslang.check.context import Lowering, NodeOf, OperatorOf
from gslang.syntax import nodes as n


def alternation(lowering: Lowering, expr: n.Match) -> NodeOf:
    """The alternation that a `match` asks about; anything else is reported."""
    subject = expr.subject
    of_operator = isinstance(subject, n.Attribute) and subject.field == "op"
    name = n.dotted(subject.base if isinstance(subject, n.Attribute) and of_operator else subject) or ""
    known = lowering.look_up(name.partition(".")[0])
    if of_operator or isinstance(known, OperatorOf) or known is None and name in lowering.dialect.operators:
        lowering.stop(
            "E0403", "`match` asks which alternative matched, not which operator", subject.span,
            f'compare the operator of a call: `a if y.op == "{lowering.example}" else b`',
        )
    what = lowering.resolve(subject)
    if not isinstance(what, NodeOf) or not isinstance(lowering.patterns[what.node], ir.AltNode):
        lowering.stop("E0403", "`match` needs an alternation", subject.span, "name an `a | b` of the source")
    return what


def chosen_by(lowering: Lowering, arm: n.Arm, branches: Sequence[str | None]) -> list[int]:
    """The numbers of the alternatives that an arm is for; a name that none of them has is reported."""
    if arm.name is None:
        return list(range(len(branches)))
    if arm.name.id not in branches:
        guess = did_you_mean(arm.name.id, [b for b in branches if b])
        lowering.error(
            "E0402", f"`{arm.name.id}` is not an alternative of this", arm.name.span,
            f"did you mean `{guess}`?" if guess
            else f"its alternatives: {', '.join(f'`{name}`' for name in branches if name)}" if any(branches)
            else "name alternatives: `(a := p) | (b := q)`",
        )  # fmt: skip
    return [k for k, name in enumerate(branches) if name == arm.name.id]


def check_covered(
    lowering: Lowering, expr: n.Match, branches: Sequence[str | None], arms: Sequence[object]
) -> None:
    """Report alternatives without an arm: a match of one of them could never be applied; and arms that an
    earlier one leaves nothing for.
    """
    chosen: dict[str, n.Arm] = {}
    for arm in expr.arms:
        name = "_" if arm.name is None else arm.name.id
        first = chosen.get("_") or chosen.setdefault(name, arm)
        if first is not arm:
            lowering.error(
                "E0403", f"unreachable arm for `{name}`", arm.span, "remove one of them",
                related=(Label(first.span, "chosen instead"),),
            )
    if all(arm.name is None or arm.name.id in branches for arm in expr.arms) and None in arms:
        lacking = [
            name or f"number {k + 1}" for k, (name, arm) in enumerate(zip(branches, arms)) if arm is None
        ]
        named = [name for name in lacking if name in branches]
        lowering.error(
            "E0403",
            "`match` has no arm for "
            f"{' and '.join(f'`{x}`' if x in branches else f'alternative {x}' for x in lacking)}",
            expr.span, f"add `{named[0] if named else '_'} => …`" + (" or `_ => …`" if named else ""),
        )
