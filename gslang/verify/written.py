"""Attribute expressions of checked rules as text, for messages: near to what the rule's author wrote."""

from __future__ import annotations

from gslang.check import checked as ir


def written_value(rule: ir.CheckedRule, value: object) -> str:
    """The expression, with the rule's names; what has none is written `_`."""
    return _written(rule, value)[0]


_ATOM = 9
_BINDS = {
    "or": 1, "and": 2, "not": 3, "+": 5, "-": 5, "*": 6, "/": 6, "//": 6, "%": 6, "**": 8,
}  # how tightly an operator binds; comparisons: 4


def _written(rule: ir.CheckedRule, value: object) -> tuple[str, int]:
    """The expression, and how tightly it binds."""

    # Long on purpose: a flat `match`, a form of value after the other.
    def text(part: object, least: int = 0) -> str:
        found, binds = _written(rule, part)
        return found if binds >= least else f"({found})"

    match value:
        case ir.Const(constant, name):
            return name or _constant(constant), _ATOM
        case ir.NodeAttr(place, node, name):
            return f"{_node(rule, place, node)}.{name}", _ATOM
        case ir.Uses(what, place, node, operators, attributes, body):
            more = [] if operators is None else [text(operators).replace('"', "")]
            more += [f"{name} = {text(part)}" for name, part in attributes]
            asked = _node(rule, place, node) + ("" if body is None else f".{body}")
            return f"{what}({', '.join([asked, *more])})", _ATOM
        case ir.TypeOf(target, name):
            return f"{rule.target.names[target] or '_'}.{name}", _ATOM
        case ir.IsAbsent(place, node):
            return f"{_node(rule, place, node)} == none", 4
        case ir.SameNode((place1, node1), (place2, node2)):
            return f"{_node(rule, place1, node1)} is {_node(rule, place2, node2)}", 4
        case ir.Captured(_, capture):
            return rule.captures[capture], _ATOM
        case ir.Let(_, number):
            return _written(rule, rule.lets[number])
        case ir.InstanceIndex():
            return "index", _ATOM
        case ir.Opset():
            return "opset", _ATOM
        case ir.Length(block):
            return f"len({rule.blocks[block].name})", _ATOM
        case ir.Instances(block):
            return rule.blocks[block].name, _ATOM
        case ir.Local():
            return "i", _ATOM
        case ir.UnaryValue(operator, operand):
            binds = 3 if operator == "not" else 7
            return f"{operator}{' ' * (operator == 'not')}{text(operand, binds)}", binds
        case ir.BinaryValue(operator, left, right) | ir.CompareValue(operator, left, right):
            binds = _BINDS.get(operator, 4)
            return f"{text(left, binds)} {operator} {text(right, binds + 1)}", binds
        case ir.AllOf(items):
            return " and ".join([text(item, 2) for item in items]), 2
        case ir.AnyOf(items):
            return " or ".join([text(item, 1) for item in items]), 1
        case ir.IfValue(condition, then, otherwise):
            return f"{text(then, 1)} if {text(condition, 1)} else {text(otherwise)}", 0
        case ir.SelectValue(_, node, _):
            return f"match {rule.nodes[node].name or '_'} {{ … }}", _ATOM
        case ir.SpreadValue(inner):
            return f"*{text(inner)}", _ATOM
        case ir.TupleValue(items):
            return f"({', '.join(map(text, items))})", _ATOM
        case ir.ItemValue(base, index):
            return f"{text(base, _ATOM)}[{text(index)}]", _ATOM
        case ir.SliceValue(base, lower, upper, _):
            ends = ["" if end is None else text(end) for end in (lower, upper)]
            return f"{text(base, _ATOM)}[{':'.join(ends)}]", _ATOM
        case ir.RangeValue(lower, upper):
            return f"{text(lower, 5)}..{text(upper, 5)}", 4
        case ir.Comprehension(element, _, source, _):
            return f"{text(element)} for i in {text(source)}", 0
        case ir.Builtin(name, arguments):
            return f"{name}({', '.join(map(text, arguments))})", _ATOM
        case ir.Extern(name=name, arguments=arguments):
            return f"{name}({', '.join(map(text, arguments))})", _ATOM
    return "_", _ATOM


def _constant(constant: object) -> str:
    if constant is None:
        return "none"
    if isinstance(constant, bool):
        return str(constant).lower()
    if isinstance(constant, str):
        return f'"{constant}"'
    if isinstance(constant, tuple):
        return f"({', '.join(map(_constant, constant))})"
    return str(constant)


def _node(rule: ir.CheckedRule, place: ir.Place, node: int) -> str:
    name = rule.nodes[node].name or "_"
    match place:
        case ir.First():
            return f"first.{name}"
        case ir.At(block, index):
            return f"{rule.blocks[block].name}[{written_value(rule, index)}].{name}"
    return name
