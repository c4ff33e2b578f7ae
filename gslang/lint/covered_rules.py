"""L0202 and L0206: rules that come too late, and rules that stand twice. Only rules that start at the same operator are compared."""

from __future__ import annotations

from collections.abc import Iterator

from gslang.base.diagnostics import Label
from gslang.check import checked as ir
from gslang.engine.plan import plan_of
from gslang.lint.generality import overlays, roots_of, same_targets
from gslang.lint.linted_file import Finding, LintedFile, LintedRule, finding
from gslang.lint.shown_graph import as_json, as_statements
from gslang.lint.witness import graphs_of, matching_nodes

Key = tuple[str, ...]


def unreachable(file: LintedFile) -> Iterator[Finding]:
    reported: set[str] = set()
    for earlier, later in _candidates(file):
        if later.checked.blocks or later.name in reported or earlier.checked.once or not always_built(earlier.checked):
            continue
        if next(overlays(earlier.checked, later.checked), None) is None or _twins(earlier, later):
            continue
        graph = next(iter(graphs_of(file, later.checked)), None)
        if graph is not None and not set(matching_nodes(later.checked, graph)) <= set(matching_nodes(earlier.checked, graph)):
            continue
        reported.add(later.name)  # the first one that covers it is enough to know
        related = (Label(earlier.written.name.span, "more general, and tried first"),)
        mend = f"put `{later.name}` before `{earlier.name}`, or remove it"
        if graph is not None:
            mend += f"; both match in {as_statements(graph)}"
        shown = None if graph is None else as_json(graph)
        yield finding("L0202", f"`{earlier.name}` takes every match of `{later.name}`", later.written.name.span, mend, related=related, graph=shown)


def duplicate(file: LintedFile) -> Iterator[Finding]:
    for earlier, later in _candidates(file):
        if _twins(earlier, later):
            related = (Label(earlier.written.name.span, "the first one"),)
            yield finding("L0206", f"`{later.name}` says the same as `{earlier.name}`", later.written.name.span, "remove one of them", related=related)


def always_built(rule: ir.CheckedRule) -> bool:
    """Whether all that the target reads is known at each match. Where a dimension or value is not, the match is passed over."""
    stack: list[object] = [rule.target.targets]
    while stack:
        item = stack.pop()
        match item:
            case ir.NodeAttr(name=name) if name in ("shape", "dtype", "ndim", "value"):
                return False
            case ir.Captured() | ir.SelectTarget() | ir.SelectValue() | ir.ItemValue() | ir.Builtin():
                return False
            case ir.Let(let=let):
                stack.append(rule.lets[let])
            case ir.BinaryValue(operator=operator) if operator in ("/", "//", "%", "**"):
                return False
        if isinstance(item, tuple):
            stack.extend(item)
        elif hasattr(item, "__dataclass_fields__"):
            stack.extend(getattr(item, name) for name in item.__dataclass_fields__ if not name.endswith("span"))
    return True


def _twins(earlier: LintedRule, later: LintedRule) -> bool:
    one_way = any(same_targets(overlay) for overlay in overlays(earlier.checked, later.checked))
    return one_way and next(overlays(later.checked, earlier.checked), None) is not None


def _candidates(file: LintedFile) -> Iterator[tuple[LintedRule, LintedRule]]:
    """(earlier, later) where the earlier one may be more general: found by operators of the root and of the operands below it.

    For each later rule, an earlier one with the same first operand operator, or one that leaves that operand open, is a candidate.
    """
    shelves: dict[Key, list[LintedRule]] = {}
    for rule in file.rules:
        if rule.checked.disconnected:
            continue
        met: dict[int, LintedRule] = {}
        for key in _lookups(rule.checked):
            met.update({id(other): other for other in shelves.get(key, ())})
        yield from ((other, rule) for other in met.values())
        for start in plan_of(rule.checked).starts:
            shelves.setdefault((start, *_below(rule.checked)), []).append(rule)


def _below(rule: ir.CheckedRule) -> Key:
    """The operators of the operands, sorted, `?` where several or none are named."""
    root = rule.nodes[roots_of(rule)[0]]
    if not isinstance(root, ir.CallNode):
        return ("?",)
    return tuple(sorted(_operator(rule, operand) for operand in root.operands))


def _operator(rule: ir.CheckedRule, operand: int | None | ir.Splice) -> str:
    node = rule.nodes[operand] if isinstance(operand, int) else None
    return node.operators[0] if isinstance(node, ir.CallNode) and len(node.operators) == 1 else "?"


def _lookups(rule: ir.CheckedRule) -> Iterator[Key]:
    """The keys under which more general rules can stand: each operand's operator, or left open."""
    below = _below(rule)
    choices: list[Key] = [()]
    for operator in below[:6]:
        choices = [(*c, o) for c in choices for o in ((operator,) if operator == "?" else (operator, "?"))]
    for start in plan_of(rule).starts:
        for key in sorted({tuple(sorted(c)) for c in choices}):
            yield (start, *key)
