"""Attribute expressions of checked rules as text, for messages: near to what the rule's author wrote."""

from __future__ import annotations

from gslang.check import checked as ir


def written_value(rule: ir.CheckedRule, value: object) -> str:
    """The expression, with the rule's names; what has none is written `_`."""

    # Long on purpose: a flat `match`, a form of value after the other.
    def text(part: object) -> str:
        return written_value(rule, part)

    match value:
        case ir.Const(constant, name):
            return name or _constant(constant)
        case ir.NodeAttr(place, node, name):
            return f"{_node(rule, place, node)}.{name}"
        case ir.Uses(what, place, node, operators, attributes, body):
            more = [] if operators is None else [text(operators).replace('"', "")]
            more += [f"{name} = {text(part)}" for name, part in attributes]
            asked = _node(rule, place, node) + ("" if body is None else f".{body}")
            return f"{what}({', '.join([asked, *more])})"
        case ir.TypeOf(target, name):
            return f"{rule.target.names[target] or '_'}.{name}"
        case ir.IsAbsent(place, node):
            return f"{_node(rule, place, node)} == none"
        case ir.SameNode((place1, node1), (place2, node2)):
            return f"{_node(rule, place1, node1)} is {_node(rule, place2, node2)}"
        case ir.Captured(_, capture):
            return rule.captures[capture]
        case ir.Let(_, number):
            return text(rule.lets[number])
        case ir.InstanceIndex():
            return "index"
        case ir.Opset():
            return "opset"
        case ir.Length(block):
            return f"len({rule.blocks[block].name})"
        case ir.Instances(block):
            return rule.blocks[block].name
        case ir.Local():
            return "i"
        case ir.UnaryValue(operator, operand):
            return f"{operator}{' ' * (operator == 'not')}{text(operand)}"
        case ir.BinaryValue(operator, left, right) | ir.CompareValue(operator, left, right):
            return f"{text(left)} {operator} {text(right)}"
        case ir.AllOf(items):
            return " and ".join(map(text, items))
        case ir.AnyOf(items):
            return " or ".join(map(text, items))
        case ir.IfValue(condition, then, otherwise):
            return f"{text(then)} if {text(condition)} else {text(otherwise)}"
        case ir.SelectValue(_, node, _):
            return f"match {rule.nodes[node].name or '_'} {{ … }}"
        case ir.SpreadValue(inner):
            return f"*{text(inner)}"
        case ir.TupleValue(items):
            return f"({', '.join(map(text, items))})"
        case ir.ItemValue(base, index):
            return f"{text(base)}[{text(index)}]"
        case ir.SliceValue(base, lower, upper, _):
            return (
                f"{text(base)}[{'' if lower is None else text(lower)}:{'' if upper is None else text(upper)}]"
            )
        case ir.RangeValue(lower, upper):
            return f"{text(lower)}..{text(upper)}"
        case ir.Comprehension(element, _, source, _):
            return f"{text(element)} for i in {text(source)}"
        case ir.Builtin(name, arguments):
            return f"{name}({', '.join(map(text, arguments))})"
        case ir.Extern(name=name, arguments=arguments):
            return f"{name}({', '.join(map(text, arguments))})"
    return "_"


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
