"""L0105: a computed number compared exactly with a float that is no whole number, in a condition or a
constraint.
"""

from __future__ import annotations

from collections.abc import Iterator

from gslang.base.diagnostics import Edit, Fix
from gslang.check import checked as ir
from gslang.lint.linted_file import Finding, LintedFile, finding, walk
from gslang.syntax import nodes as n

_ARITHMETIC = ("+", "-", "*", "/", "**")


def exact_float(file: LintedFile) -> Iterator[Finding]:
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
                    if _is_fraction(number) and _is_computed(other):
                        near = f"close({other.span.text}, {number.span.text}, 1e-6)"
                        near = near if operator == "==" else f"not {near}"
                        fix = (
                            Fix("compare within a tolerance", (Edit(node.span, near),), safe=False)
                            if len(node.rest) == 1
                            else None
                        )
                        yield finding(
                            "L0105", "a computed number rarely equals a float exactly", node.span,
                            f"`{near}` allows for rounding", fix=fix,
                        )
                        break
        for pattern in rule.checked.nodes:
            for constraint in pattern.tests:
                if _computes_fraction(constraint.equal_to):
                    hint = "capture the attribute, and test it with `close(a, b, 1e-6)` in `where`"
                    yield finding(
                        "L0105", "a number computed from others rarely equals an attribute exactly",
                        constraint.span, hint,
                    )


def _is_fraction(expr: n.Expr) -> bool:
    match expr:
        case n.Unary("-", operand):
            return _is_fraction(operand)
        case n.Literal(float() as value):
            return abs(value) < 1e15 and value != int(value)
    return False


def _is_computed(expr: n.Expr) -> bool:
    """Arithmetic on something that a match gives; literals among themselves are as exact as they can be."""
    arithmetic = any(isinstance(part, n.Binary) and part.operator in _ARITHMETIC for part in walk(expr))
    return arithmetic and any(isinstance(part, (n.Name, n.Attribute)) for part in walk(expr))


def _computes_fraction(value: ir.Value | None) -> bool:
    """`== x.alpha * 0.1`: arithmetic of what was matched with a fraction."""
    match value:
        case ir.BinaryValue(operator, left, right) if operator in _ARITHMETIC:
            return any(
                isinstance(a, ir.Const) and isinstance(a.value, float) and a.value != int(a.value)
                and not isinstance(b, ir.Const)
                for a, b in ((left, right), (right, left))
            )
    return False
