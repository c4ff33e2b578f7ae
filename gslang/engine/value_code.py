"""Attribute expressions and tests as Python source, for the generated matcher.

The same meaning as `values.evaluate` and `constraints.passes`, as one Python expression over local variables: `v3` is the
slot of pattern node 3, `c1` capture 1, `l0` a comprehension variable, `b5` the branch of alternation 5, `w_f` the operator
that variable `f` matched. Objects that are no literals live in the matcher's namespace (`constant`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from gslang.check import checked as ir
from gslang.dialect.tensor_type import UnknownValue
from gslang.engine import values
from gslang.engine.builtins import BUILTINS
from gslang.engine.constraints import _equals_rounded


class NotCompiled(Exception):
    """A construct that only the readable matcher runs (templates)."""


@dataclass(slots=True)
class Namespace:
    """Objects that generated code refers to by name."""

    rule: ir.CheckedRule
    objects: dict[str, Any] = field(default_factory=dict)

    def constant(self, value: Any) -> str:
        """Source for a value: a literal where its `repr` is one, else a name."""
        if value is None or type(value) in (bool, int, str) or (type(value) is float and value - value == 0):
            return repr(value)
        if type(value) is tuple and all(type(item) in (int, str, bool) for item in value):
            return repr(value)
        for name, known in self.objects.items():
            if known is value:
                return name
        name = f"k{len(self.objects)}"
        self.objects[name] = value
        return name


def unknown(why: str) -> Any:
    raise UnknownValue(why)


def conjunction(items: Sequence[Callable[[], Any]], negate: bool) -> bool:
    """Kleene's `and` of items, or of their negations."""
    failure: BaseException | None = None
    for item in items:
        try:
            if values.truth(item()) == negate:
                return False
        except values.FAILURES as error:
            failure = error
    if failure is not None:
        raise UnknownValue(str(failure))
    return True


def select(chosen: int, arms: Sequence[Callable[[], Any] | None]) -> Any:
    arm = arms[chosen] if chosen >= 0 else None
    if arm is None:
        raise UnknownValue("no arm for this alternative")
    return arm()


RUNTIME: dict[str, Any] = {
    "unknown": unknown,
    "conjunction": conjunction,
    "select": select,
    "equal": values.equal,
    "truth": values.truth,
    "BINARY": values.BINARY,
    "COMPARE": values.COMPARE,
    "BUILTINS": BUILTINS,
    "FAILURES": values.FAILURES,
    "read": values.read_attribute,
    "call_attribute": values.call_attribute,
    "plain": values._plain,
    "equals_rounded": _equals_rounded,
}


def code_of(value: ir.Value, names: Namespace) -> str:
    """A Python expression with the value of an attribute expression; evaluating it may raise what `FAILURES` lists."""

    def code(part: ir.Value) -> str:
        return code_of(part, names)

    match value:
        case ir.Const(constant):
            return names.constant(constant)
        case ir.NodeAttr(ir.Own(), node, name) if names.rule.nodes[node].block is None:
            return _attribute(node, name, names)
        case ir.Captured(ir.Own(), number):
            return f"c{number}"
        case ir.Let(ir.Own(), number):
            return code(names.rule.lets[number])
        case ir.Local(number):
            return f"l{number}"
        case ir.IsAbsent(ir.Own(), node):
            return f"(v{node} == -1 if v{node} != -2 else unknown('unmatched'))"
        case ir.SameNode((ir.Own(), a), (ir.Own(), b)):
            return f"(v{a} == v{b} if v{a} != -2 and v{b} != -2 else unknown('unmatched'))"
        case ir.UnaryValue("-", operand):
            return f"(-{code(operand)})"
        case ir.UnaryValue(_, operand):
            return f"(not truth({code(operand)}))"
        case ir.BinaryValue(operator, left, right) if operator in "+-":
            return f"({code(left)} {operator} {code(right)})"
        case ir.BinaryValue(operator, left, right):
            return f"BINARY[{operator!r}]({code(left)}, {code(right)})"
        case ir.CompareValue("==", left, right):
            return f"equal({code(left)}, {code(right)})"
        case ir.CompareValue("!=", left, right):
            return f"(not equal({code(left)}, {code(right)}))"
        case ir.CompareValue(operator, left, right):
            return f"COMPARE[{operator!r}]({code(left)}, {code(right)})"
        case ir.AllOf(items):
            return f"conjunction(({''.join(f'lambda: {code(i)}, ' for i in items)}), False)"
        case ir.AnyOf(items):
            return f"(not conjunction(({''.join(f'lambda: {code(i)}, ' for i in items)}), True))"
        case ir.IfValue(condition, then, otherwise):
            return f"({code(then)} if truth({code(condition)}) else {code(otherwise)})"
        case ir.SelectValue(ir.Own(), node, arms):
            parts = "".join("None, " if arm is None else f"lambda: {code(arm)}, " for arm in arms)
            return f"select(b{node}, ({parts}))"
        case ir.TupleValue(items):
            parts = "".join(
                f"*{code(i.value)}, " if isinstance(i, ir.SpreadValue) else f"{code(i)}, " for i in items
            )
            return f"({parts})"
        case ir.ItemValue(base, index):
            return f"plain({code(base)}[{code(index)}])"
        case ir.SliceValue(base, lower, upper, step):
            bounds = ", ".join("None" if part is None else code(part) for part in (lower, upper, step))
            return f"{code(base)}[slice({bounds})]"
        case ir.RangeValue(lower, upper):
            return f"tuple(range({code(lower)}, {code(upper)} + 1))"
        case ir.Comprehension(element, variables, source, condition):
            target = ", ".join(f"l{v}" for v in variables)
            where = "" if condition is None else f" if truth({code(condition)})"
            return f"tuple([{code(element)} for {target} in {code(source)}{where}])"
        case ir.Builtin(name, arguments):
            return f"BUILTINS[{name!r}]({', '.join(map(code, arguments))})"
    raise NotCompiled(type(value).__name__)


def _attribute(node: int, name: str, names: Namespace) -> str:
    """Reading an attribute; with one possible operator its default is known already."""
    pattern = names.rule.nodes[node]
    slot = f"v{node}"
    if isinstance(pattern, ir.CallNode) and name not in ("shape", "dtype", "ndim", "op", "kind"):
        return _call_attribute(pattern, slot, name, names)
    return f"(read(G, D, {slot}, {name!r}) if {slot} >= 0 else unknown('unmatched'))"


def _call_attribute(pattern: ir.CallNode, slot: str, name: str, names: Namespace) -> str:
    if len(pattern.operators) == 1:
        signature = names.rule.dialect.get(pattern.operators[0])
        if signature is not None and name in signature.defaults and all(o.name != name for o in signature.operands):
            return f"attrs[{slot}].get({name!r}, {names.constant(signature.defaults[name])})"
    return f"call_attribute(G, D, {slot}, {name!r})"


def constraint_code(constraint: ir.Constraint | ir.SameAttributes, number: int, names: Namespace) -> str:
    """A Python expression that is true if a constraint on pattern node `number` holds."""
    node = names.rule.nodes[number]
    slot = f"v{number}"
    if isinstance(constraint, ir.SameAttributes):
        if not isinstance(constraint.place, ir.Own) or names.rule.nodes[constraint.node].block is not None:
            raise NotCompiled("attributes of an instance")
        return f"same_attributes(G, D, {slot}, v{constraint.node}, {constraint.without!r})"
    if isinstance(node, ir.CallNode):
        found = _call_attribute(node, slot, constraint.field, names)
        if isinstance(constraint.test, ir.Equals) and isinstance(constraint.test.value, ir.Const):
            wanted = constraint.test.value.value
            if _plain_attribute(wanted):  # what a call holds is known, so Python's equality will do
                return f"({found} == {names.constant(wanted)})"
    elif isinstance(node, ir.ProjNode) and constraint.field == "index":
        found = f"attrs[{slot}]['index']"
    else:
        found = f"read(G, D, {slot}, {constraint.field!r})"
    return test_code(constraint.test, found, names)


def test_code(test: ir.Test, found: str, names: Namespace, depth: int = 0) -> str:
    """A Python expression that is true if the value of expression `found` passes."""
    match test:
        case ir.Anything():
            return "True"
        case ir.Equals(value):
            return f"equal({found}, {code_of(value, names)})"
        case ir.ConstantEquals(value):
            return f"((t{depth} := {found}).size == 1 and equals_rounded(t{depth}, {code_of(value, names)}))"
        case ir.SplatEquals(value):
            return f"((t{depth} := {found}).size > 0 and equals_rounded(t{depth}, {code_of(value, names)}))"
        case ir.Capture(number, inner):
            return f"((c{number} := {found}), {test_code(inner, f'c{number}', names, depth + 1)})[1]"
        case ir.TupleTest(items):
            return _tuple_test(items, found, names, depth)
        case ir.IfTest(condition, then, otherwise):
            return (
                f"({test_code(then, found, names, depth)} if truth({code_of(condition, names)})"
                f" else {test_code(otherwise, found, names, depth)})"
            )
    raise NotCompiled(type(test).__name__)


def _plain_attribute(constant: Any) -> bool:
    """Constants without floats in them (those compare rounded)."""
    if type(constant) is tuple:
        return all(type(item) in (int, str, bool) for item in constant)
    return constant is None or type(constant) in (int, str, bool)


def _tuple_test(items: tuple[ir.Test | ir.Rest, ...], found: str, names: Namespace, depth: int) -> str:
    temporary = f"t{depth}"
    rest = next((k for k, item in enumerate(items) if isinstance(item, ir.Rest)), None)
    size = f"len({temporary}) == {len(items)}" if rest is None else f"len({temporary}) >= {len(items) - 1}"
    parts = [f"isinstance({temporary} := {found}, tuple)", size]
    for k, item in enumerate(items):
        if isinstance(item, ir.Rest):
            continue
        index = k if rest is None or k < rest else k - len(items)
        code = test_code(item, f"{temporary}[{index}]", names, depth + 1)
        if code != "True":
            parts.append(code)
    return "(" + " and ".join(parts) + ")"
