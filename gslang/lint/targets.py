"""L0110, L0112, L0116: targets that compute twice, forget attributes, or are their source."""

from __future__ import annotations

from collections.abc import Iterator

from gslang.base.diagnostics import Diagnostic, Label
from gslang.check import checked as ir
from gslang.lint.linted_file import LintedFile, LintedRule, finding, walk
from gslang.syntax import nodes as n

_TENSOR_WORK = (n.Call, n.Binary)


def repeated_computation(file: LintedFile) -> Iterator[Diagnostic]:
    """Equal calls with equal operands and attributes among the targets that are built."""
    for rule in file.rules:
        target = rule.checked.target
        always = _always_built(target)
        numbers: dict[str, int] = {}
        stands_for: dict[int, int] = {}
        for k, found in enumerate(target.targets):
            if k not in always:
                continue
            first = numbers.setdefault(repr(_with_operands(found, stands_for)), k)  # as text: 1 is not 1.0 there
            stands_for[k] = first
            if first == k or not isinstance(found, ir.MakeCall):
                continue
            signature = rule.checked.dialect.get(found.operator) if isinstance(found.operator, str) else None
            if signature is not None and "stateful" in signature.traits or target.spans[k] == target.spans[first]:
                continue
            mend = "name it in a statement and use the name"
            related = (Label(target.spans[first], "the same as here"),)
            yield finding("L0110", f"`{target.spans[k].text}` is computed twice", target.spans[k], mend, related=related)


def _always_built(target: ir.TargetGraph) -> set[int]:
    """Targets that every application builds, once: no branch of a choice, nothing that is repeated."""
    found: set[int] = set()
    stack = list(target.outputs)
    while stack:
        k = stack.pop()
        if k in found:
            continue
        found.add(k)
        match target.targets[k]:
            case ir.MakeCall(operands=parts) | ir.MakeTuple(fields=parts):
                stack += parts
            case ir.MakeProj(base=base) | ir.Projections(base=base):
                stack.append(base)
    return found


def _with_operands(found: ir.Target, stands_for: dict[int, int]) -> object:
    """A target in which operands that are computed twice are one."""
    match found:
        case ir.MakeCall(operator, operands, attributes, spreads):
            return (operator, tuple(stands_for.get(o, o) for o in operands), attributes, spreads)
        case ir.MakeProj(base, index):
            return ("projection", stands_for.get(base, base), index)
        case ir.MakeTuple(fields):
            return ("tuple", tuple(stands_for.get(o, o) for o in fields))
    return found


def dropped_attribute(file: LintedFile) -> Iterator[Diagnostic]:
    """An operator of the source made again without an attribute of which the source allows any value."""
    for rule in file.rules:
        checked = rule.checked
        for k, made in enumerate(checked.target.targets):
            if not isinstance(made, ir.MakeCall) or not isinstance(made.operator, str) or made.spreads:
                continue
            matched = [node for node in checked.nodes if isinstance(node, ir.CallNode) and made.operator in node.operators]
            signature = checked.dialect.get(made.operator)
            if not matched or signature is None or "elementwise" in signature.traits and not signature.attributes:
                continue
            given = {name for name, _ in made.attributes}
            read = _attributes_read(checked)
            dropped = [
                name
                for name in signature.attributes
                if name not in given and name not in read and all(_is_free(node, name) for node in matched)
            ]
            if dropped and _gone(checked, matched):
                names = ", ".join(f"`{name}`" for name in dropped)
                them = "it" if len(dropped) == 1 else "them"
                yield finding(
                    "L0112", f"the source takes any {names}, but the target falls back to the default", checked.target.spans[k],
                    f"copy {them} from the matched call (`c.*`, `c.{{{dropped[0]}}}`), or demand the default in the source",
                )  # fmt: skip


def _is_free(node: ir.CallNode, name: str) -> bool:
    return not any(isinstance(c, ir.SameAttributes) or c.field == name for c in node.constraints)


def _gone(checked: ir.CheckedRule, matched: list[ir.CallNode]) -> bool:
    """Whether one of the calls goes away: else nothing is being replaced by the new one."""
    going = {*checked.interior, *checked.outputs}
    return any(checked.nodes[k] in matched for k in going)


def _attributes_read(checked: ir.CheckedRule) -> set[str]:
    """Attributes that any value of the rule reads: where one is, its author thought of it."""
    found: set[str] = set()
    stack: list[object] = [*checked.where, *checked.lets, *checked.target.targets, *checked.blocks]
    stack += [c for node in checked.nodes for c in node.constraints]
    while stack:
        item = stack.pop()
        if isinstance(item, ir.NodeAttr):
            found.add(item.name)
        if isinstance(item, (tuple, list)):
            stack.extend(item)
        elif hasattr(item, "__dataclass_fields__") and not isinstance(item, type):
            stack.extend(getattr(item, name) for name in item.__dataclass_fields__ if not name.endswith("span"))
    return found


def no_change(file: LintedFile) -> Iterator[Diagnostic]:
    for rule in file.rules:
        source, target = rule.written.source, rule.written.target
        if source.outputs == target.outputs and _bindings(source) == _bindings(target) and _is_whole(rule):
            yield finding("L0116", f"the target of `{rule.name}` is its source", rule.written.name.span, "an application would change nothing")


def _bindings(side: n.Side) -> dict[str, object]:
    return {s.name.id: s for s in side.statements}


def _is_whole(rule: LintedRule) -> bool:
    """Whether no name of the source stands on the target side for a node of its own."""
    return not rule.written.target.statements and any(isinstance(node, _TENSOR_WORK) for node in walk(rule.written.source.outputs))
