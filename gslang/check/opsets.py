"""Admission of ONNX rules by operator set: by `@opset`, by conditions on `opset`, by the operators of the
target.

What follows from the rule alone. Element types and values of a match are looked at when it is applied
(`dialect.onnx.admission`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache

from gslang.base.diagnostics import Diagnostic, Label
from gslang.base.open_types import Attrs
from gslang.base.source import Span
from gslang.check import checked as ir
from gslang.check.decided import UNKNOWN
from gslang.check.decided import decided as decided_by
from gslang.dialect.onnx.versions import OPSETS, domain_of, history, imported, misfit, version_at


def why_unfit(rule: ir.CheckedRule, meta: Attrs) -> str | None:
    """Why a rule is not applied to a graph with this `meta`, or None.

    A graph that states no operator set takes every rule.
    """
    if rule.dialect.name != "onnx" or imported(meta) is None:
        return None
    return _unfit(rule, frozenset(meta[OPSETS].items()))


@cache
def _unfit(rule: ir.CheckedRule, imports: frozenset[tuple[str, int]]) -> str | None:
    """Found once for a rule and a model: a model may have thousands of bodies, each a graph of its own."""
    opsets = dict(imports)
    opset = opsets[""]
    low, high = rule.opset
    if (low is not None and opset < low) or (high is not None and opset > high):
        return f"it is for operator set {shown_range(rule.opset)}, the model imports {opset}"
    if any(decided(condition, opset, rule.lets) is False for condition in rule.where):
        return f"its conditions on `opset` do not hold for {opset}"
    admitted = rule.opset != (None, None)
    for _, why in _reasons(rule, opsets, admitted):
        return f"{why}, the model imports {opset}"
    return None


def opset_for_rule(rule: ir.CheckedRule, meta: Attrs) -> int | None:
    """The next newer operator set under which a rule can be applied; None if there is none."""
    now = imported(meta)
    newer = range((now if now is not None else history().latest) + 1, history().latest + 1)
    return next(
        (opset for opset in newer if not why_unfit(rule, {**meta, OPSETS: {**meta[OPSETS], "": opset}})), None
    )


def can_occur(rule: ir.CheckedRule, operators: Collection[str]) -> bool:
    """False if the source needs an operator, whatever alternative is chosen, that is not among these."""
    chosen = {branch for node in rule.nodes if isinstance(node, ir.AltNode) for branch in node.branches}
    if chosen:  # what lies below alternatives may be missing
        return any(
            isinstance(node, ir.CallNode) and not operators_disjoint(node, operators) for node in rule.nodes
        )
    return all(
        not isinstance(node, ir.CallNode) or not operators_disjoint(node, operators) for node in rule.nodes
    )


def operators_disjoint(node: ir.CallNode, operators: Collection[str]) -> bool:
    """True if none of the operators that a call may have is among these."""
    return all(operator not in operators for operator in node.operators)


def shown_range(opset: tuple[int | None, int | None]) -> str:
    """A range of operator sets as written."""
    low, high = opset
    if low == high:
        return str(low)
    return f"{'' if low is None else low}..{'' if high is None else high}"


def check_range(rule: ir.CheckedRule, span: Span) -> list[Diagnostic]:
    """Findings where a target cannot be said in some operator set that the rule's `@opset` promises."""
    low, high = rule.opset
    if rule.dialect.name != "onnx" or (low, high) == (None, None):
        return []
    latest = history().latest
    versions = range(max(low or 1, 1), (high if high is not None else latest) + 1)
    if not versions or versions[0] > latest:
        return [_empty(low, high, latest, span)]
    if never := _never_there(rule, versions):
        return [never]
    first: dict[int, list[int]] = {}
    why: dict[int, str] = {}
    for opset in versions:
        if any(decided(condition, opset, rule.lets) is False for condition in rule.where):
            continue
        for target, reason in _reasons(rule, {"": opset}, True):
            first.setdefault(target, []).append(opset)
            why.setdefault(target, reason)
    found = []
    for target, bad in sorted(first.items()):
        good = [v for v in versions if v > bad[-1]]
        help = (
            (
                f"`@opset({good[0]}{'..' if high is None else f'..{high}'})`, or a condition, `where opset "
                f">= {good[0]}`"
            )
            if good
            else "build it from other operators"
        )
        shown = str(bad[0]) if len(bad) == 1 else f"{bad[0]}..{bad[-1]}"
        found.append(Diagnostic(
            "E0705", f"not in operator set {shown}, which `@opset` includes: {why[target]}",
            Label(rule.target.spans[target]), related=(Label(span, "promised here"),), help=help,
        ))
    return found


def _empty(low: int | None, high: int | None, latest: int, span: Span) -> Diagnostic:
    """The finding for a range of operator sets without any; `latest` is the newest that is known."""
    if low is not None and low > latest:
        what, help = f"operator set {low} is newer than any known one", f"the newest one is {latest}"
    elif high is not None and high < 1:
        what, help = f"there is no operator set {high} or older", "operator sets are numbered from 1"
    else:
        what, help = "the range of `@opset` is empty", "the lower bound comes first: `@opset(11..13)`"
    return Diagnostic("E0702", what, Label(span), help=help)


def _never_there(rule: ir.CheckedRule, versions: range) -> Diagnostic | None:
    """A finding for a call of the source that no operator set of the range has; below alternatives it may be
    missing.
    """
    below = {branch for node in rule.nodes if isinstance(node, ir.AltNode) for branch in node.branches}
    if below:
        return None
    for node in rule.nodes:
        if not isinstance(node, ir.CallNode) or len(node.operators) != 1 or domain_of(node.operators[0]):
            continue
        known = history().operators.get(node.operators[0])
        if known and all(version_at(node.operators[0], opset) is None for opset in versions):
            why = (
                f"`{node.operators[0]}` needs operator set {known[0].since}" if known[0].since > versions[-1]
                else f"`{node.operators[0]}` was removed"
            )
            return Diagnostic(
                "E0705", f"no operator set in the range of `@opset` supports this: {why}", Label(node.span),
                help="the rule never matches; change the range",
            )
    return None


def decided(value: ir.Value, opset: int, lets: Sequence[ir.Value]) -> object:
    """The value of an expression under an operator set; None if it depends on the match too. Kleene's three
    values."""
    found = _decided(value, opset, lets)
    return None if found is UNKNOWN else found


def _decided(value: ir.Value, opset: int, lets: Sequence[ir.Value]) -> object:
    return decided_by(value, lambda part: opset if isinstance(part, ir.Opset) else UNKNOWN, lets)


def _reasons(rule: ir.CheckedRule, opsets: Mapping[str, int], admitted: bool) -> Iterator[tuple[int, str]]:
    """(target, why it cannot be made) for the outputs. Parts stand before what is made of them, so one way up
    is enough.

    `admitted`: the rule's author names the operator sets, and so answers for what operators mean in them.
    """
    reasons: list[tuple[int, str] | None] = []
    target, lets, opset = rule.target, rule.lets, opsets.get("", 0)
    for number, part in enumerate(target.targets):
        if isinstance(part, ir.ChosenTarget):
            below = [reasons[k] for k in _possible(part, opset, lets)]
            reasons.append(below[0] if below and all(below) else None)
            continue
        found = next((reason for k in part.parts if (reason := reasons[k])), None)
        if (
            isinstance(part, ir.MakeCall) and found is None and isinstance(part.operator, str)
            and (version := opsets.get(domain_of(part.operator))) is not None
        ):
            values = {name: _decided(value, opset, lets) for name, value in part.attributes}
            why = misfit(part.operator, version, values, _given(rule, part.operands), UNKNOWN, admitted)
            found = (number, why) if why else None
        reasons.append(found)
    yield from dict.fromkeys(found for k in target.outputs if (found := reasons[k]))


def _possible(choice: ir.ChosenTarget, opset: int, lets: Sequence[ir.Value]) -> tuple[int, ...]:
    """The parts that may be chosen under an operator set."""
    test = _decided(choice.condition, opset, lets) if isinstance(choice, ir.ChooseTarget) else UNKNOWN
    return choice.parts if test is UNKNOWN else choice.parts[:1] if test else choice.parts[1:]


def _given(rule: ir.CheckedRule, operands: Sequence[int]) -> list[int]:
    """Places of operands that are there in any case; none where some stand for several."""
    targets = [rule.target.targets[k] for k in operands]
    if any(isinstance(t, ir.SeveralNodes) for t in targets):
        return []
    return [k for k, t in enumerate(targets) if t.is_given(rule.nodes)]
