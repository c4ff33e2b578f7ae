"""L0104: conditions that decide nothing: always true or never true, alone or beside the constraints and
conditions that hold with them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from gslang.base.diagnostics import Fix, Label
from gslang.base.source import Span
from gslang.check import checked as ir
from gslang.check.decided import UNKNOWN, decided
from gslang.check.limits import LimitExceeded
from gslang.check.walks import always_matched, dimension_of, field_of
from gslang.check.walks import walk as values_in
from gslang.engine.scope import Scope, evaluate
from gslang.engine.values import FAILURES
from gslang.graph.graph import Graph
from gslang.lint.facts import Fact, Known, facts_of, facts_of_constraint
from gslang.lint.linted_file import Finding, LintedFile, LintedRule, finding, walk
from gslang.lint.pattern_walk import match_order
from gslang.lint.where_edits import without_condition
from gslang.syntax import nodes as n

NEVER = "never true: the rule never matches"
Beside = dict[ir.Value, tuple[Known, Span]]


def constant_condition(file: LintedFile) -> Iterator[Finding]:
    for rule in file.rules:
        beside: Beside = {}
        yield from _demanding_nothing(rule)
        yield from _constraints(rule, beside)
        written = rule.written.source.where
        for k, (value, span) in enumerate(zip(rule.checked.where, rule.checked.where_spans)):
            yield from _judged(
                rule, value, span, written if len(written) == len(rule.checked.where) else (), k, beside
            )
        for each in rule.written.source.statements:
            block = next(
                (b for b in rule.checked.blocks if isinstance(each, n.Each) and b.name == each.name.id), None
            )
            if isinstance(each, n.Each) and block is not None and len(block.where) == len(each.where):
                inner: Beside = {}
                for k, value in enumerate(block.where):
                    yield from _judged(rule, value, each.where[k].span, each.where, k, inner)
        for target, span in zip(rule.checked.target.targets, rule.checked.target.spans):
            if (
                isinstance(target, ir.ChooseTarget)
                and (known := constant(target.condition, rule.checked)) is not None
            ):
                hint = f"only branch {'before `if`' if known else 'behind `else`'} is ever used"
                yield finding(
                    "L0104", f"the condition of this choice is {'always' if known else 'never'} true", span,
                    hint,
                )


def _demanding_nothing(rule: LintedRule) -> Iterator[Finding]:
    """`axis = _` where no spread demands something that it could lift.

    (`shape = (*_,)` demands a known rank.)
    """
    operators = rule.checked.dialect.operators
    written = rule.written
    for node in walk((written.inputs, written.source)):
        match node:
            case n.Call(callee=callee, arguments=arguments) if (
                signature := operators.get(callee.span.text)
            ) is not None:
                known = {*signature.attributes} - {operand.name for operand in signature.operands}
            case (
                n.Kind(arguments=arguments)
                | n.Call(
                    callee=n.Name(id="any" | "var" | "input" | "param" | "const" | "fixed"),
                    arguments=arguments,
                )
            ):
                known = {"shape", "dtype", "ndim"}
            case _:
                continue
        if any(isinstance(argument, n.Spread) for argument in arguments):
            continue
        for argument in arguments:
            if (
                isinstance(argument, n.Keyword) and argument.name in known
                and isinstance(argument.value, n.Hole)
            ):
                yield finding(
                    "L0104", f"`{argument.span.text}` is always true", argument.span,
                    "remove it",
                )


def _impossible_number(rule: LintedRule, fact: Fact) -> str | None:
    """Why a comparison with a number that is no whole one fails: what is compared is an integer by its
    declaration.
    """
    numbers = fact.constant if isinstance(fact.constant, tuple) else (fact.constant,)
    if (
        fact.operator not in ("==", "in") or not numbers
        or not all(isinstance(c, float) and c % 1 for c in numbers)
    ):
        return None
    if _is_count(fact.value):
        return "this is an integer"
    if not isinstance(fact.value, ir.NodeAttr) or (call := rule.checked.calls.get(fact.value.node)) is None:
        return None
    for operator in call.operators:
        spec = rule.checked.dialect.operators[operator].attributes.get(fact.value.name)
        if spec is None or any(t.base != "int" or t.depth for t in spec.types):
            return None
    return f"`{fact.value.name}` is an integer"


def _is_count(value: ir.Value) -> bool:
    """True for ranks, dimensions, and numbers of instances and users."""
    match value:
        case ir.ItemValue(base):
            return field_of(base) == "shape"
        case ir.Count():
            return True
    return field_of(value) == "ndim"


def _constraints(rule: LintedRule, beside: Beside) -> Iterator[Finding]:
    """Constraints of nodes that every match has, in the order in which they are tested."""
    checked = rule.checked
    for node in sorted(always_matched(checked), key=match_order(checked).__getitem__):
        for constraint in checked.nodes[node].constraints:
            if not isinstance(constraint, ir.Constraint):
                continue
            for fact in facts_of_constraint(node, constraint.field, constraint.test):
                if (problem := _impossible_number(rule, fact)) is not None:
                    yield finding("L0104", f"`{constraint.span.text}` is {NEVER}", constraint.span, problem)
                known, place = beside.setdefault(fact.value, (_begin(fact.value), constraint.span))
                if known.says(fact) is False:
                    related = (Label(place, "this contradicts it"),) if place != constraint.span else ()
                    yield finding(
                        "L0104", f"`{constraint.span.text}` is {NEVER}", constraint.span,
                        "one of the two is wrong", related=related,
                    )
                    continue
                known.add(fact)


def _judged(
    rule: LintedRule, value: ir.Value, span: Span, written: tuple[n.Expr, ...], k: int, beside: Beside
) -> Iterator[Finding]:
    """A condition by itself, then beside what holds already; what it says is added."""
    alone = constant(value, rule.checked)
    if alone is not None:
        found = _finding(span, alone, None, written, k)
        if not alone and isinstance(value, ir.Uses):
            hint = "a removed node is not an output of the graph: mark it `keep` in the source"
            found = replace(found, help=hint)
        yield found
        return
    answers: list[bool | None] = []
    because: Span | None = None
    for fact in facts_of(value):
        answer = None
        if fact is not None and _hashable(fact.value):
            if (problem := _impossible_number(rule, fact)) is not None:
                yield finding("L0104", f"`{span.text}` is {NEVER}", span, problem)
                return
            known, place = beside.get(fact.value, (None, span))
            if known is None:
                known = _begin(fact.value)
                beside[fact.value] = known, span
            answer = _beyond_rank(fact, beside)
            answer = known.says(fact) if answer is None else answer
            if answer is not None:
                because = place
            known.add(fact)
        answers.append(answer)
    if False in answers:
        yield _finding(span, False, because, written, k)
    elif answers and all(answers):
        yield _finding(span, True, because, written, k)


def _finding(span: Span, always: bool, because: Span | None, written: tuple[n.Expr, ...], k: int) -> Finding:
    related = (
        (Label(because, "this already implies it" if always else "this contradicts it"),)
        if because is not None and because != span
        else ()
    )
    edit = without_condition(written, k) if always and written else None
    fix = Fix("remove the condition", (edit,)) if edit is not None else None
    says, hint = (
        ("always true" + " here" * bool(related), "remove it") if always
        else (NEVER, "did you mean another condition?")
    )
    return finding("L0104", f"`{span.text}` is {says}", span, hint, related=related, fix=fix)


def _hashable(value: ir.Value) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _begin(value: ir.Value) -> Known:
    """Ranks, lengths and dimensions are no negative numbers."""
    return Known(low=(0.0, False)) if _is_count(value) else Known()


def _beyond_rank(fact: Fact, beside: Beside) -> bool | None:
    """False for a dimension that a tensor of the known rank has not: reading it fails."""
    dimension = dimension_of(fact.value)
    if dimension is None:
        return None
    shape, index = dimension
    known, _ = beside.get(replace(shape, name="ndim"), (Known(), None))
    ranks = known.among or ()
    return False if ranks and all(isinstance(r, int) and not -r <= index < r for r in ranks) else None


def constant(value: ir.Value, rule: ir.CheckedRule) -> bool | None:
    """True if a condition holds or fails whatever is matched; None where that depends on the match."""

    def known(part: ir.Value) -> Any:
        if isinstance(part, ir.CompareValue) and part.left == part.right and _readable(part.left):
            return part.operator in ("==", "<=", ">=")
        if isinstance(part, ir.Uses) and part.what == "is_output" and part.node in rule.interior:
            return False if part.node in always_matched(rule, of_blocks=True) else UNKNOWN
        if not _is_closed(part):
            return UNKNOWN
        try:
            return evaluate(part, Scope(rule, Graph(rule.dialect.name, ""), []))
        except (*FAILURES, LimitExceeded):
            return UNKNOWN

    if any(isinstance(part, ir.Const) and part.name is not None for part in values_in(value)):
        return None  # a parameter of the file is another one in another run
    found = decided(value, known)
    return None if found is UNKNOWN else bool(found)


def _is_closed(value: ir.Value) -> bool:
    """Made of literals only."""
    return not any(isinstance(part, ir.Given) for part in values_in(value))


def _readable(value: ir.Value) -> bool:
    """Known wherever it can be read: an attribute, but no dimension, which may be unknown."""
    match value:
        case ir.NodeAttr(_, _, name):
            return name not in ("shape", "dtype", "ndim", "value")
        case ir.Length():
            return True
    return False
