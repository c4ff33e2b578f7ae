"""L0111 and L0119: conditions that a constraint could say. They are then tested as soon as the node is
reached, not when all is matched.

L0119 is about inputs: there it is a matter of taste, so it waits to be asked for.
"""

from __future__ import annotations

from collections.abc import Iterator

from gslang.base.diagnostics import Edit, Fix
from gslang.base.quick_dataclass import dataclass
from gslang.base.source import Span
from gslang.check import checked as ir
from gslang.check.walks import always_matched
from gslang.lint.linted_file import Finding, LintedFile, LintedRule, finding, walk
from gslang.lint.pattern_walk import match_order
from gslang.lint.where_edits import with_argument, without_condition
from gslang.syntax import nodes as n

# what a moved value may consist of
_ONLY = (n.Name, n.Attribute, n.Literal, n.Index, n.TupleExpr, n.Binary, n.Unary)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a name was given its node.

    `span` ends with the closing parenthesis of the call or kind, if it has one.
    """

    node: int
    span: Span
    arguments: tuple[n.Argument, ...]
    what: str  # "call", "kind", or "name" for an input without a kind


def late_condition(file: LintedFile) -> Iterator[Finding]:
    return (found for what, found in _late(file) if what == "call")


def late_input_condition(file: LintedFile) -> Iterator[Finding]:
    return (found for what, found in _late(file) if what != "call")


def _late(file: LintedFile) -> Iterator[tuple[str, Finding]]:
    for rule in file.rules:
        where = rule.written.source.where
        if not where:
            continue
        places = _places(rule)
        order = match_order(rule.checked)
        for k, condition in enumerate(where):
            if (
                not isinstance(condition, n.Comparison) or len(condition.rest) != 1
                or condition.rest[0][0] != "=="
            ):
                continue
            right = condition.rest[0][1]
            sides = ((condition.first, right), (right, condition.first))
            found = next(
                (
                    f
                    for field, value in sides
                    if (f := _movable(rule, field, value, places, order)) is not None
                ),
                None,
            )
            if found is not None:
                place, field, value = found
                yield place.what, _finding(where, k, place, field, value)


def _movable(
    rule: LintedRule, side: n.Expr, value: n.Expr, places: dict[str, _Place], order: dict[int, int]
) -> tuple[_Place, str, n.Expr] | None:
    match side:
        case n.Attribute(base=n.Name(id=name), field=field) if name in places:
            place = places[name]
        case _:
            return None
    if any(isinstance(a, n.Spread) or isinstance(a, n.Keyword) and a.name == field for a in place.arguments):
        return None
    pattern = rule.checked.nodes[place.node]
    if isinstance(pattern, ir.CallNode):
        signature = rule.checked.dialect.get(pattern.operators[0])
        if len(pattern.operators) != 1 or signature is None or field not in signature.attributes:
            return None
    elif field not in ("shape", "dtype", "ndim"):
        return None
    for part in walk(value):
        if not isinstance(part, _ONLY):
            return None
        if isinstance(part, n.Name) and (
            part.id not in places or order[places[part.id].node] >= order[place.node]
        ):
            return None
    return place, field, value


def _finding(where: tuple[n.Expr, ...], k: int, place: _Place, field: str, value: n.Expr) -> Finding:
    argument = f"{field} = {value.span.text}"
    match place.what:
        case "call":
            hint, edit = (
                f"write `{argument}` in the call", with_argument(place.span, bool(place.arguments), argument),
            )
        case "kind" if place.span.text.endswith(")"):
            hint, edit = (
                f"write `{argument}` in the kind", with_argument(place.span, bool(place.arguments), argument),
            )
        case "kind":
            hint, edit = (
                f"write `{place.span.text}({argument})`",
                Edit(Span(place.span.source, place.span.end, place.span.end), f"({argument})"),
            )
        case _:
            hint, edit = (
                f"write `{place.span.text}: any({argument})`",
                Edit(Span(place.span.source, place.span.end, place.span.end), f": any({argument})"),
            )
    out = without_condition(where, k)
    fix = Fix("move the condition", (edit, out)) if edit is not None and out is not None else None
    span = where[k].span
    code = "L0111" if place.what == "call" else "L0119"
    return finding(
        code, f"`{span.text}` is only tested once the whole pattern has matched", span,
        f"{hint}: it is then tested as soon as the node is matched", fix=fix,
    )


def _places(rule: LintedRule) -> dict[str, _Place]:
    """Names of calls and inputs that every match binds."""
    always = always_matched(rule.checked)
    numbers = {
        rule.checked.nodes[k].name: k for k in sorted(always) if rule.checked.nodes[k].name is not None
    }
    found: dict[str, _Place] = {}
    for given in rule.written.inputs:
        name, kind = given.name.id, given.kind
        node = numbers.get(name)
        if (
            node is None or kind is not None and (kind.optional or kind.name.id == "op")
            or not isinstance(rule.checked.nodes[node], ir.LeafNode)
        ):
            continue
        if kind is None:
            found[name] = _Place(node, given.name.span, (), "name")
        else:
            found[name] = _Place(node, kind.span, kind.arguments, "kind")
    for statement in rule.written.source.statements:
        if (
            isinstance(statement, n.Bind) and isinstance(statement.value, n.Call)
            and not statement.value.optional and statement.name.id in numbers
        ):
            node = numbers[statement.name.id]
            pattern = rule.checked.nodes[node]
            # the call of a function has no constraints of the operator in the function's body
            if isinstance(pattern, ir.CallNode) and pattern.span == statement.value.span:
                found[statement.name.id] = _Place(
                    node, statement.value.span, statement.value.arguments, "call"
                )
    return found
