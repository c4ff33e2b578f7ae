"""Constraints and tests of matched nodes as Python."""

from __future__ import annotations

from gslang.check import checked as ir
from gslang.check.walks import walk
from gslang.engine.value_code import Namespace, NotCompiled, call_attribute, code_of


def constraint_code(constraint: ir.Constraint | ir.SameAttributes, number: int, names: Namespace) -> str:
    """A Python expression that is true if a constraint on pattern node `number` holds."""
    node = names.rule.nodes[number]
    slot = f"v{number}"
    if isinstance(constraint, ir.SameAttributes):
        return (
            f"same_attributes(G, D, {slot}, {names.slot(constraint.place, constraint.node)}, "
            f"{constraint.without!r})"
        )
    found = _held_code(node, slot, constraint.field, names)
    if found is not None:
        literal = constraint.literal
        if literal is not None and _plain_attribute(literal.value):
            # what a node holds is known, so Python's equality will do
            return f"({found} == {names.constant(literal.value)})"
    elif constraint.field in ("shape", "dtype", "ndim"):
        found = f"{constraint.field}_of(types[{slot}])"
    elif constraint.field == "value":
        found = f"constant_of(G, {slot})"
    else:
        found = f"read(G, D, {slot}, {constraint.field!r})"
    return test_code(constraint.test, found, names)


def _held_code(node: ir.Pattern, slot: str, field: str, names: Namespace) -> str | None:
    """An attribute of a call, the index of a projection; None for what does not stand in the node itself."""
    if isinstance(node, ir.CallNode):
        return call_attribute(node, slot, field, names)
    return f"attrs[{slot}]['index']" if node.operators and field == "index" else None


def test_code(test: ir.Test, found: str, names: Namespace, depth: int = 0) -> str:
    """A Python expression that is true if the value of expression `found` passes."""
    match test:
        case ir.Anything():
            return "True"
        case ir.Equals(value):
            return f"equal({found}, {code_of(value, names)})"
        case ir.ConstantEquals(value):
            if isinstance(value, ir.Const) and type(value.value) is not tuple:
                code = f"equals_rounded(t{depth}, {code_of(value, names)})"
                return f"((t{depth} := {found}).size == 1 and {code})"
            return f"equals_elements({found}, {code_of(value, names)})"
        case ir.SplatEquals(value):
            return f"((t{depth} := {found}).size > 0 and equals_rounded(t{depth}, {code_of(value, names)}))"
        case ir.Capture(number, inner):
            return f"((c{number} := {found}), {test_code(inner, f'c{number}', names, depth + 1)})[1]"
        case ir.TupleTest():
            return _tuple_test(test, found, names, depth)
        case ir.IfTest(condition, then, otherwise):
            return (
                f"({test_code(then, found, names, depth)} if truth({code_of(condition, names)})"
                f" else {test_code(otherwise, found, names, depth)})"
            )
        case ir.OneOf(tests):
            if any(isinstance(part, ir.Capture) for part in walk(test)):
                raise NotCompiled("a capture inside alternatives")
            before, names.keeps_lets = names.keeps_lets, False
            parts = "".join(
                f"lambda t{depth}=t{depth}: {test_code(part, f't{depth}', names, depth + 1)}, "
                for part in tests
            )
            names.keeps_lets = before
            return f"(({f't{depth} := {found}'}), one_of(({parts})))[1]"
        case ir.EachItem(inner, local, minimum, maximum):
            size = f"len(t{depth}) >= {minimum}" + (
                "" if maximum is None else f" and len(t{depth}) <= {maximum}"
            )
            each = test_code(inner, f"y{depth}", names, depth + 1)
            return (
                f"(isinstance(t{depth} := {found}, tuple) and {size} and all([{each} for l{local}, y{depth} "
                f"in enumerate(t{depth})]))"
            )
        case ir.SelectTest(ir.Own(), node, arms) if names.inside is None:
            choices = [
                f"{test_code(arm, found, names, depth)} if b{node} == {k} else "
                for k, arm in enumerate(arms) if arm is not None
            ]
            return f"({''.join(choices)}False)"
    raise NotCompiled(type(test).__name__)


def _plain_attribute(constant: object) -> bool:
    """Constants without floats in them (those compare rounded)."""
    if type(constant) is tuple:
        return all(type(item) in (int, str, bool) for item in constant)
    return constant is None or type(constant) in (int, str, bool)


def _tuple_test(test: ir.TupleTest, found: str, names: Namespace, depth: int) -> str:
    temporary = f"t{depth}"
    size = f"len({temporary}) {'==' if test.back is None else '>='} {len(test.items)}"
    items = [
        test_code(item, f"{temporary}[{at}]", names, depth + 1) for at, item in zip(test.places, test.items)
    ]
    parts = [f"isinstance({temporary} := {found}, tuple)", size, *[code for code in items if code != "True"]]
    return "(" + " and ".join(parts) + ")"
