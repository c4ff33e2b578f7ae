"""Attribute expressions → `Value`, and constraints → `Test`, with their types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from gslang.base.source import Span
from gslang.check import arms, attribute_values
from gslang.check import checked as ir
from gslang.check.context import (
    BlockOf,
    Denotation,
    InstanceOf,
    Lowering,
    NodeOf,
    NodesOf,
    OperatorOf,
    Stop,
    TargetOf,
    ValueOf,
    article,
    branches_of,
)  # fmt: skip
from gslang.check.known_values import possible
from gslang.dialect.signature import AttributeSpec, AttributeType
from gslang.syntax import nodes as n

NUMBERS = ("int", "float", "number", "any", "array", "bool")


def type_of(value: object) -> str:
    """The type of a literal."""
    if value is None:
        return "none"
    return {"bool": "bool", "int": "int", "float": "float", "str": "str", "tuple": "tuple"}.get(
        type(value).__name__, "any"
    )


def declared_type(types: tuple[AttributeType, ...]) -> str:
    """The type of an attribute by its declaration; `any` where there is a choice."""
    if len(types) != 1 or types[0].optional:
        return "any"
    kind = types[0]
    if kind.depth:
        return "tuple"
    return {
        "int": "int",
        "float": "float",
        "bool": "bool",
        "str": "str",
        "dtype": "dtype",
        "graph": "graph",
    }.get(kind.base, "any")


def value(lowering: Lowering, expr: n.Expr) -> ValueOf:
    """The value that an expression stands for; a node in its place is an error."""
    return force(lowering, expr, lowering.resolve(expr))


_COMPARED = {
    frozenset(("tuple", "int")): "compare an item, `x.shape[0]`, or the length, `len(x.shape)`",
    frozenset(("dtype", "int")): 'a data type is a string: `"int64"`',
}
"""The help for a comparison of values of two types."""
_NO_CONDITIONS = {
    "tuple": "compare it, `== (…)`, or ask for its length, `len(…) > 0`",
    "str": 'compare it: `== "…"`',
    "dtype": 'compare it: `== "float32"`',
    "graph": "compare it, or count its calls: `calls(y.then_branch, Relu) == 0`",
    "none": "never true: remove it, or write `false`",
    "int": "compare it: `== 1`, `> 0`, `!= 0`",
    "float": "compare it: `== 1.0`, `> 0.0`",
    "number": "compare it: `== 1`, `> 0`, `!= 0`",
}


def condition(lowering: Lowering, expr: n.Expr) -> ir.Value:
    """The value of an expression that is to be true or false. What can be neither is reported."""
    found = value(lowering, expr)
    _check_condition(lowering, expr, found)
    return found.value


def _check_condition(lowering: Lowering, expr: n.Expr, found: ValueOf) -> None:
    """Report what can be neither true nor false; of a choice each such branch."""
    if found.type in _NO_CONDITIONS:
        wrong = [(expr, found)]
    else:
        wrong = [one for one in possible(lowering, expr, found) if one[1].type in _NO_CONDITIONS]
    for written, what in wrong:
        lowering.error(
            "E0501", f"expected a condition, found {article(what.type)}", written.span,
            _NO_CONDITIONS[what.type],
        )


def no_tensor(lowering: Lowering, kind: str, span: Span) -> NoReturn:
    """Report a value of a kind that no tensor has."""
    lowering.stop("E0307", f"expected a tensor, found {article(kind)}", span, _INSTEAD_OF_TENSORS[kind])


_INSTEAD_OF_TENSORS = {
    "graph": "a body is passed on as an attribute: `then_branch = y.then_branch`",
    "str": 'pass it as an attribute by name: `mode = "linear"`',
    "dtype": "pass it as an attribute by name: `dtype = x.dtype`",
    "bool": "for a boolean tensor, write `const(value = true)`",
    "none": "omit the operands at the end, or name the others: `Clip(x, max = m)`",
}


def _of_a_node(lowering: Lowering, expr: n.Expr | n.Star) -> str:
    """The help for a node where a value is expected."""
    said = "read an attribute of it: `.shape`, `.dtype`, …"
    if isinstance(expr, n.Call) and lowering.side == "source":
        return f"{said}; alternatives are separated by `|`"
    what = lowering.look_up(expr.id) if isinstance(expr, n.Name) else None
    pattern = lowering.patterns[what.node] if isinstance(what, NodeOf) else None
    if isinstance(pattern, ir.LeafNode) and pattern.kind in ("const", "fixed", "param"):
        return f"{said}; the elements of a constant are `{expr.span.text}.value`"
    return said


def force(lowering: Lowering, expr: n.Expr | n.Star, what: Denotation) -> ValueOf:
    """The value that an expression denotes. An error if it denotes none."""
    match what:
        case ValueOf():
            return what
        case BlockOf(block, indices):
            return ValueOf(indices or ir.Instances(block), "tuple")
        case NodeOf() | NodesOf() | TargetOf():
            lowering.stop("E0505", "expected a value, found a node", expr.span, _of_a_node(lowering, expr))
        case InstanceOf():
            lowering.stop(
                "E0505", "expected a value, found an instance", expr.span,
                "name a node of it: `first.conv`, `branch[0].w`",
            )
        case OperatorOf(name):
            lowering.stop(
                "E0505", "expected a value, found an operator variable", expr.span,
                f"`{name}(…)` calls it; `.op` of a node is an operator's name",
            )
    raise Stop  # lost: reported where it was defined


# ── operators ───────────────────────────────────────────────────────────────────────────────────────────────


def unary(lowering: Lowering, expr: n.Unary, operator: str, what: Denotation) -> ValueOf:
    """`-a`, `not a`."""
    operand = force(lowering, expr.operand, what)
    if operator == "-":
        if operand.type not in NUMBERS:
            lowering.stop(
                "E0501", f"`-` needs a number, found {article(operand.type)}", expr.operand.span,
                "to negate a tuple, negate its items: `[-v for v in t]`" if operand.type == "tuple"
                else "write a number, or remove the `-`",
            )
        if isinstance(operand.value, ir.Const):
            return ValueOf(ir.Const(-operand.value.value), operand.type)
        return ValueOf(ir.UnaryValue("-", operand.value), operand.type)
    if operator == "not":
        _check_condition(lowering, expr.operand, operand)
        if (outcome := lowering.settles(operand.value)) is not None:
            return ValueOf(ir.Const(not outcome), "bool")
        return ValueOf(ir.UnaryValue("not", operand.value), "bool")
    lowering.stop("E0504", f"`{operator}` is written before a pattern", expr.span, "remove it here")


def binary(lowering: Lowering, expr: n.Binary, operator: str, left: Denotation, right: Denotation) -> ValueOf:
    """Arithmetic."""
    a, b = force(lowering, expr.left, left), force(lowering, expr.right, right)
    kind = _binary_type(operator, a.type, b.type)
    if kind is None:
        lowering.stop(
            "E0501", f"`{operator}` does not take {article(a.type)} and {article(b.type)}", expr.span,
            "arithmetic needs two numbers; `+` also joins two tuples or two strings, `t * n` repeats",
        )
    return ValueOf(ir.BinaryValue(operator, a.value, b.value), kind)


def _binary_type(operator: str, a: str, b: str) -> str | None:
    if operator == "+" and a == b and a in ("tuple", "str"):
        return a
    if operator == "*" and {a, b} & {"tuple", "str"} and {a, b} & {"int", "any", "number"}:
        return a if a in ("tuple", "str") else b
    if operator == "+" and "any" in (a, b):
        return "any"
    if a in NUMBERS and b in NUMBERS:
        if "array" in (a, b):
            return "array"
        if "any" in (a, b):
            return "any"
        if operator == "/":
            return "float"
        return "float" if "float" in (a, b) else "int" if a == b == "int" else "number"
    return None


def logical(lowering: Lowering, expr: n.Binary, operator: str) -> ValueOf:
    """`and`, `or`."""
    items: list[ir.Value] = []
    stack: list[n.Expr] = [expr]
    while stack:
        part = stack.pop()
        if isinstance(part, n.Binary) and part.operator == operator:
            stack += (part.right, part.left)
            continue
        items.append(condition(lowering, part))
        if lowering.settles(items[-1]) is (operator == "or"):
            return ValueOf(ir.Const(operator == "or"), "bool")
    if all(lowering.settles(item) is (operator == "and") for item in items):
        return ValueOf(ir.Const(operator == "and"), "bool")
    return ValueOf(ir.AllOf(tuple(items)) if operator == "and" else ir.AnyOf(tuple(items)), "bool")


_KINDS_OF = {
    "int": 1, "float": 1, "number": 1, "bool": 1, "str": 2, "dtype": 2, "tuple": 3, "none": 4, "graph": 5,
}


def comparison(lowering: Lowering, expr: n.Comparison) -> ValueOf:
    """A chain of comparisons."""
    parts: list[ir.Value] = []
    left_expr: n.Expr = expr.first
    left: Any = _side(lowering, expr.first, expr.rest[0][1])
    for operator, right_expr in expr.rest:
        right: Any = _side(lowering, right_expr, left_expr)
        parts.append(_compare(lowering, expr, operator, left_expr, left, right_expr, right))
        left_expr, left = right_expr, right
    return ValueOf(parts[0] if len(parts) == 1 else ir.AllOf(tuple(parts)), "bool")


def _side(lowering: Lowering, expr: n.Expr, other: n.Expr) -> Denotation:
    what = lowering.resolve(expr)
    if isinstance(what, NodeOf) and isinstance(other, n.Attribute):
        return what
    if isinstance(what, NodeOf) and isinstance(other, n.Literal) and other.value is None:
        return what
    if isinstance(what, NodeOf) and isinstance(other, n.Name):
        return what
    return force(lowering, expr, what)


def _compare(
    lowering: Lowering,
    expr: n.Comparison,
    operator: str,
    left_expr: n.Expr,
    left: Denotation,
    right_expr: n.Expr,
    right: Denotation,
) -> ir.Value:
    if operator in ("==", "!="):
        found: ir.Value | None = None
        if isinstance(left, NodeOf) and isinstance(right, NodeOf):
            found = ir.SameNode((left.place, left.node), (right.place, right.node))
        elif isinstance(left, NodeOf) and isinstance(right, ValueOf) and right.type == "none":
            found = ir.IsAbsent(left.place, left.node)
        elif isinstance(right, NodeOf) and isinstance(left, ValueOf) and left.type == "none":
            found = ir.IsAbsent(right.place, right.node)
        for one, other, where in ((left, right, left_expr), (right, left, right_expr)):
            if isinstance(one, NodeOf) and isinstance(other, ValueOf) and other.type == "graph":
                lowering.stop(
                    "E0505", "a body is compared with a body, not with a node", where.span,
                    "what a body computes is described in the call: `If(c, x, then_branch = Relu(x))`",
                )
        if found is not None:
            return found if operator == "==" else ir.UnaryValue("not", found)
    a, b = force(lowering, left_expr, left), force(lowering, right_expr, right)
    if operator in ("in", "not in"):
        if b.type in ("int", "float", "bool", "none"):
            lowering.error(
                "E0501", f"`{operator}` needs a tuple or a string, found {article(b.type)}", right_expr.span,
                f"write a tuple: `{operator} (1, 2)`; one value is compared by `==`",
            )
    elif operator in ("==", "!="):
        x, y = _KINDS_OF.get(a.type), _KINDS_OF.get(b.type)
        if x is not None and y is not None and x != y and 4 not in (x, y):
            lowering.error(
                "E0501", f"{article(a.type)} never equals {article(b.type)}", expr.span,
                _COMPARED.get(frozenset((a.type, b.type)), "compare values of the same type"),
            )
    elif not (a.type in NUMBERS and b.type in NUMBERS) and not (
        a.type == b.type and a.type in ("tuple", "str")
    ):
        if "any" not in (a.type, b.type):
            lowering.error(
                "E0501", f"`{operator}` does not order {article(a.type)} and {article(b.type)}", expr.span,
                "compare two numbers: items `x.shape[0]`, the length `len(x.shape)`",
            )
    attribute_values.check_comparison(lowering, operator, a.value, b.value, left_expr, right_expr)
    return _settled(operator, a.value, b.value) or ir.CompareValue(operator, a.value, b.value)


def _settled(operator: str, a: ir.Value, b: ir.Value) -> ir.Const | None:
    """The outcome of a comparison of two literals, such as items of a family's row; None for all others. The
    value of a parameter is another one in another run.
    """
    if not (isinstance(a, ir.Const) and isinstance(b, ir.Const)) or a.name or b.name:
        return None
    if a.value is None or b.value is None:
        same = a.value is b.value
        return ir.Const(same is (operator == "==")) if operator in ("==", "!=") else None
    if type(a.value) is not type(b.value) or not isinstance(a.value, (int, str)):
        return None
    if operator in ("==", "!="):
        return ir.Const((a.value == b.value) is (operator == "=="))
    return None


def distinct(lowering: Lowering, expr: n.Call) -> ValueOf:
    """`distinct(a, b, …)`: all different expressions."""
    found: list[NodeOf] = []
    for argument in expr.arguments:
        what = lowering.resolve(argument.value) if isinstance(argument, n.Positional) else None
        if not isinstance(what, NodeOf):
            lowering.stop(
                "E0505", "`distinct` compares nodes", argument.span, "values are compared by `!=`"
            )
        found.append(what)
    if len(found) < 2:
        lowering.stop(
            "E0503", "`distinct` needs two nodes or more", expr.span, "write `distinct(a, b)`"
        )
    pairs = [
        ir.UnaryValue("not", ir.SameNode((a.place, a.node), (b.place, b.node)))
        for k, a in enumerate(found)
        for b in found[k + 1 :]
    ]
    return ValueOf(pairs[0] if len(pairs) == 1 else ir.AllOf(tuple(pairs)), "bool")


# ── constraints ─────────────────────────────────────────────────────────────────────────────────────────────


def test(lowering: Lowering, expr: n.Expr | n.Star, spec: AttributeSpec | None = None) -> ir.Test:
    """The demand of a source on an attribute, as it is declared."""
    match expr:
        case n.Hole():
            return ir.Anything()
        case n.Walrus(name, inner):
            number = len(lowering.captures)
            lowering.captures.append(name.id)
            kind = "any" if spec is None else declared_type(spec.types)
            lowering.bind(name, ValueOf(ir.Captured(ir.OWN, number), kind))
            if spec is not None:
                lowering.captured[number] = spec
            return ir.Capture(number, test(lowering, inner, spec))
        case n.Binary("|"):
            return ir.OneOf(tuple(test(lowering, branch) for branch in branches_of(expr)))
        case n.TupleExpr(items) if _has_hole(expr):
            return _tuple_test(lowering, items)
        case n.Comprehension(source=n.Range(lower, None)):
            if len(expr.targets) != 1 or expr.condition is not None:
                lowering.stop(
                    "E0506", "`[e for i in ..]` takes one variable and no condition", expr.span,
                    "bind the tuple, `(t := _)`, and test its items in `where`",
                )
            local = lowering.new_local()
            lowering.overlay.append({expr.targets[0].id: ValueOf(ir.Local(local), "int")})
            try:
                return ir.EachItem(test(lowering, expr.element), local, lower or 0, None)
            finally:
                lowering.overlay.pop()
        case n.Conditional(then, test_, otherwise) if _has_hole(expr):
            chosen = condition(lowering, test_)
            if (outcome := lowering.settles(chosen)) is not None:
                return test(lowering, then if outcome else otherwise)
            return ir.IfTest(chosen, test(lowering, then), test(lowering, otherwise))
        case n.Match() if _has_hole(expr):
            return _match_test(lowering, expr)
        case n.Name(name):
            if isinstance(lowering.look_up(name), NodeOf):
                lowering.stop(
                    "E0505", f"`{name}` is a tensor, and an attribute is constrained by a value", expr.span,
                    f"`({name} := _)` matches any value and binds it; it is then not an input of the rule",
                )
            hint = lowering.if_unknown or f"`({name} := _)` matches any value and binds it"
            with lowering.helping(name, hint):
                return ir.Equals(value(lowering, expr).value)
        case n.TupleExpr(items) if (names := [item.id for item in items if isinstance(item, n.Name)]):
            new = next((name for name in names if lowering.look_up(name) is None), names[0])
            with lowering.helping(new, f"`({new} := _)` matches any value and binds it"):
                return ir.Equals(value(lowering, expr).value)
    return ir.Equals(value(lowering, expr).value)


def _tuple_test(lowering: Lowering, items: Sequence[n.Expr | n.Star]) -> ir.TupleTest:
    """The demands on the items of a tuple, those behind `*_` counted from its end."""
    parts: list[list[ir.Test]] = [[]]
    for item in items:
        if isinstance(item, n.Star):
            if not isinstance(item.value, n.Hole):
                lowering.stop(
                    "E0506", "only `*_` may match several items in a constraint", item.span,
                    "bind the tuple, `(t := _)`, and compare a slice in `where`: `t[1:] == …`",
                )
            if len(parts) == 2:
                lowering.stop(
                    "E0506", "at most one `*_` in a tuple", item.span,
                    "bind the tuple, `(t := _)`, and test its items in `where`",
                )
            parts.append([])
        else:
            parts[-1].append(test(lowering, item))
    return ir.TupleTest(tuple(parts[0]), tuple(parts[1]) if len(parts) == 2 else None)


def _match_test(lowering: Lowering, expr: n.Match) -> ir.Test:
    what = arms.alternation(lowering, expr)
    names = lowering.branch_names[what.node]
    tests: list[ir.Test | None] = [None] * len(names)
    for arm in expr.arms:
        found = test(lowering, arm.value)
        for k in arms.chosen_by(lowering, arm, names):
            if tests[k] is None:
                tests[k] = found
    arms.check_covered(lowering, expr, names, tests)
    return ir.SelectTest(what.place, what.node, tuple(tests))


def _has_hole(expr: n.Expr | n.Star) -> bool:
    """True if `_`, `*_`, a capture or an open range stands somewhere in a constraint."""
    match expr:
        case n.Hole() | n.Walrus():
            return True
        case n.Star(inner):
            return _has_hole(inner)
        case n.TupleExpr(items):
            return any(_has_hole(item) for item in items)
        case n.Binary("|"):
            return True
        case n.Conditional(then, _, otherwise):
            return _has_hole(then) or _has_hole(otherwise)
        case n.Match(_, arms):
            return any(_has_hole(arm.value) for arm in arms)
        case n.Comprehension(source=n.Range(_, None)):
            return True
    return False
