"""L0110: equal calls with equal operands and attributes among the targets that are built, and calls that a
matched node is, which stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gslang.base.diagnostics import Label
from gslang.base.reachable import reachable
from gslang.check import checked as ir
from gslang.check.walks import always_matched
from gslang.lint.linted_file import Finding, LintedFile, finding
from gslang.lint.pattern_walk import staying_nodes
from gslang.lint.rebuilt import is_small, rebuilt


def repeated_computation(file: LintedFile) -> Iterator[Finding]:
    """Equal calls with equal operands and attributes among the targets that are built."""
    for rule in file.rules:
        target = rule.checked.target
        always = _always_built(target)
        numbers: dict[str, int] = {}
        stands_for: dict[int, int] = {}
        for k, found in enumerate(target.targets):
            if k not in always:
                continue
            if isinstance(found, ir.MakeCall) and (matched := _stays_already(rule.checked, k)) is not None:
                name = matched.name or matched.span.text
                hint = f"use `{name}`" if matched.name else "name it in the source, and use the name"
                related = (Label(matched.span, "matched here and not removed"),)
                yield finding(
                    "L0110", f"`{target.spans[k].text}` already exists", target.spans[k], hint,
                    related=related,
                )
            # as text: 1 is not 1.0 there
            first = numbers.setdefault(repr(_with_operands(found, stands_for, rule.checked)), k)
            stands_for[k] = first
            if first == k or not isinstance(found, ir.MakeCall):
                continue
            signature = rule.checked.dialect.get(found.operator) if isinstance(found.operator, str) else None
            if (
                signature is not None and "stateful" in signature.traits
                or target.spans[k] == target.spans[first]
            ):
                continue
            hint = "name it in a statement and use the name"
            related = (Label(target.spans[first], "same as here"),)
            yield finding(
                "L0110", f"`{target.spans[k].text}` is computed twice", target.spans[k], hint, related=related
            )


def _stays_already(rule: ir.CheckedRule, k: int) -> ir.CallNode | None:
    """The matched node, if it stays in the graph, that a target builds over again."""
    for node in sorted(staying_nodes(rule) & always_matched(rule)) if is_small(rule) else ():
        pattern = rule.nodes[node]
        if isinstance(pattern, ir.CallNode) and rebuilt(rule, node, k):
            signature = rule.dialect.get(pattern.operators[0])
            return None if signature is not None and "stateful" in signature.traits else pattern
    return None


def _always_built(target: ir.TargetGraph) -> set[int]:
    """Targets that every application builds, once: no branch of a choice, nothing that is repeated."""

    def below(k: int) -> Sequence[int]:
        part = target.targets[k]
        return () if isinstance(part, (ir.ChosenTarget, ir.Repeat)) else part.parts

    return set(reachable(target.outputs, below))


def _with_operands(found: ir.Target, stands_for: dict[int, int], rule: ir.CheckedRule) -> object:
    """A target in which operands that are computed twice are one, and those of commutative operators are in
    order.
    """
    match found:
        case ir.MakeCall(operator, operands, attributes, spreads):
            numbers = [stands_for.get(o, o) for o in operands]
            signature = rule.dialect.get(operator) if isinstance(operator, str) else None
            if signature is not None and "commutative" in signature.traits:
                numbers.sort()
            return (operator, numbers, sorted(attributes, key=lambda item: item[0]), spreads)
        case ir.NewNode():
            return (type(found), [stands_for.get(o, o) for o in found.parts], found.reads)
    return found
