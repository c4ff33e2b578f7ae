"""L0104, L0105, L0111: conditions that decide nothing, that ask for exact floats, or that come later than they could."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gslang.base.diagnostics import Diagnostic
from gslang.check import checked as ir
from gslang.lint.linted_file import LintedFile, LintedRule, finding, names_in, walk
from gslang.syntax import nodes as n

_ARITHMETIC = ("+", "-", "*", "/", "**")
_TYPE_FIELDS = ("shape", "dtype", "ndim", "value", "op", "kind", "index")


def constant_condition(file: LintedFile) -> Iterator[Diagnostic]:
    for rule in file.rules:
        for value, span in zip(rule.checked.where, rule.checked.where_spans):
            known = constant(value)
            if known is not None:
                says, mend = ("always true", "remove it") if known else ("never true: the rule never matches", "was another condition meant?")
                yield finding("L0104", f"`{span.text}` is {says}", span, mend)


def constant(value: ir.Value) -> bool | None:
    """Whether a condition holds or fails whatever is matched; None where that depends on the match."""
    match value:
        case ir.Const(known):
            return bool(known)
        case ir.CompareValue(operator, ir.Const(a), ir.Const(b)):
            return _compared(operator, a, b)
        case ir.CompareValue(operator, a, b) if a == b and _settled(a):
            return operator in ("==", "<=", ">=")
        case ir.UnaryValue("not", operand):
            inner = constant(operand)
            return None if inner is None else not inner
        case ir.AllOf(items):
            found = [constant(item) for item in items]
            return False if False in found else None if None in found else True
        case ir.AnyOf(items):
            found = [constant(item) for item in items]
            return True if True in found else None if None in found else False
    return None


def _settled(value: ir.Value) -> bool:
    """Known wherever it can be read: an attribute, but no dimension, which may be unknown."""
    match value:
        case ir.NodeAttr(_, _, name):
            return name not in ("shape", "dtype", "ndim", "value")
        case ir.Length():
            return True
    return False


def _compared(operator: str, a: Any, b: Any) -> bool | None:
    try:
        match operator:
            case "==":
                return bool(a == b)
            case "!=":
                return bool(a != b)
            case "<":
                return bool(a < b)
            case "<=":
                return bool(a <= b)
            case ">":
                return bool(a > b)
            case ">=":
                return bool(a >= b)
            case "in":
                return a in b
            case "not in":
                return a not in b
    except TypeError:
        pass
    return None


def exact_float(file: LintedFile) -> Iterator[Diagnostic]:
    for rule in file.rules:
        for node in walk(rule.written.source):
            if not isinstance(node, n.Comparison):
                continue
            sides = [node.first, *(side for _, side in node.rest)]
            for k, (operator, right) in enumerate(node.rest):
                left = sides[k]
                if operator not in ("==", "!="):
                    continue
                for number, other in ((left, right), (right, left)):
                    if _is_fraction(number) and any(isinstance(part, n.Binary) and part.operator in _ARITHMETIC for part in walk(other)):
                        mend = f"`close({other.span.text}, {number.span.text}, 1e-6)` allows for rounding"
                        yield finding("L0105", "a computed number hardly ever equals a float exactly", node.span, mend)
                        break


def _is_fraction(expr: n.Expr) -> bool:
    match expr:
        case n.Unary("-", operand):
            return _is_fraction(operand)
        case n.Literal(value):
            return isinstance(value, float) and value != int(value) if not isinstance(value, float) or abs(value) < 1e15 else False
    return False


def late_condition(file: LintedFile) -> Iterator[Diagnostic]:
    for rule in file.rules:
        calls = _plain_calls(rule)
        for condition in rule.written.source.where:
            match condition:
                case n.Comparison(first=n.Attribute(base=n.Name(id=name), field=field), rest=(("==", value),)) if name in calls:
                    if field in _TYPE_FIELDS or names_in(value) or any(isinstance(node, n.Hole) for node in walk(value)):
                        continue
                    given = calls[name].arguments
                    if any(isinstance(a, n.Spread) or isinstance(a, n.Keyword) and a.name == field for a in given):
                        continue
                    mend = f"write `{field} = {value.span.text}` in the call: it is then tested as soon as the node is reached"
                    yield finding("L0111", f"`{condition.span.text}` is tested only when everything is matched", condition.span, mend)


def _plain_calls(rule: LintedRule) -> dict[str, n.Call]:
    """Names of the source bound to one call of an operator."""
    operators = rule.checked.dialect.operators
    found = {}
    for statement in rule.written.source.statements:
        if isinstance(statement, n.Bind) and isinstance(statement.value, n.Call) and not statement.value.optional:
            if statement.value.callee.span.text.removeprefix("relay.") in operators:
                found[statement.name.id] = statement.value
    return found
