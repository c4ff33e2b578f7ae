"""L0110, L0112, L0116: targets that compute twice, forget attributes, or are their source."""

from __future__ import annotations

from collections.abc import Iterator

from gslang.base.diagnostics import Label
from gslang.check import checked as ir
from gslang.lint.linted_file import Finding, LintedFile, finding
from gslang.lint.read_values import attributes_read


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
            first = numbers.setdefault(repr(_with_operands(found, stands_for, rule.checked)), k)  # as text: 1 is not 1.0 there
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


def _with_operands(found: ir.Target, stands_for: dict[int, int], rule: ir.CheckedRule) -> object:
    """A target in which operands that are computed twice are one, and those of commutative operators are in order."""
    match found:
        case ir.MakeCall(operator, operands, attributes, spreads):
            numbers = [stands_for.get(o, o) for o in operands]
            signature = rule.dialect.get(operator) if isinstance(operator, str) else None
            if signature is not None and "commutative" in signature.traits:
                numbers.sort()
            return (operator, numbers, sorted(attributes, key=lambda item: item[0]), spreads)
        case ir.MakeProj(base, index):
            return ("projection", stands_for.get(base, base), index)
        case ir.MakeTuple(fields):
            return ("tuple", tuple(stands_for.get(o, o) for o in fields))
    return found


def dropped_attribute(file: LintedFile) -> Iterator[Finding]:
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
            read = {name for _, name in attributes_read(checked)}
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


def no_change(file: LintedFile) -> Iterator[Finding]:
    """Each output of the target is that of the source again: the same operators on the same nodes with the same attributes."""
    for rule in file.rules:
        outputs, target = rule.checked.outputs, rule.checked.target
        if outputs and len(outputs) == len(target.outputs) and all(_rebuilt(rule.checked, k, t) for k, t in zip(outputs, target.outputs)):
            yield finding("L0116", f"the target of `{rule.name}` is its source", rule.written.name.span, "an application would change nothing")


def _rebuilt(rule: ir.CheckedRule, k: int, t: int) -> bool:
    """Whether a target is what a pattern node matched, over again."""
    pattern, made = rule.nodes[k], rule.target.targets[t]
    match made, pattern:
        case ir.SourceNode(node=node), _:
            return node == k
        case ir.MakeCall(), ir.CallNode():
            same_operator = pattern.operators == (made.operator,) or isinstance(made.operator, tuple) and made.operator[1] == pattern.variable
            if not same_operator or len(made.operands) != len(pattern.operands):
                return False
            orders = [pattern.operands, pattern.operands[::-1]] if pattern.swappable else [pattern.operands]
            operands = any(all(isinstance(p, int) and _rebuilt(rule, p, m) for p, m in zip(order, made.operands)) for order in orders)
            return operands and _same_attributes(rule, k, pattern, made)
        case ir.MakeTuple(fields), ir.TupleNode():
            return len(fields) == len(pattern.fields) and all(isinstance(p, int) and _rebuilt(rule, p, f) for p, f in zip(pattern.fields, fields))
        case ir.MakeProj(base, index), ir.ProjNode():
            wanted = [c.test for c in pattern.constraints if isinstance(c, ir.Constraint) and c.field == "index"]
            return wanted == [ir.Equals(index)] and _rebuilt(rule, pattern.base, base)
    return False


def _same_attributes(rule: ir.CheckedRule, k: int, pattern: ir.CallNode, made: ir.MakeCall) -> bool:
    signature = rule.dialect.get(pattern.operators[0])
    if signature is None:
        return False
    demanded = {c.field: c.test for c in pattern.constraints if isinstance(c, ir.Constraint)}
    given = dict(made.attributes)
    copied = [spread for spread in made.spreads if spread.node == k]
    for name, spec in signature.attributes.items():
        if name in given:
            same = given[name] == ir.NodeAttr(ir.OWN, k, name) or demanded.get(name) == ir.Equals(given[name])
        elif any(name not in spread.without for spread in copied):
            same = True
        else:
            same = not made.spreads and demanded.get(name) == ir.Equals(ir.Const(spec.default))
        if not same:
            return False
    return True
