"""Shipped rules with one thing changed: a condition, a constraint, an attribute, an operator, an operand, a
number, an element type, the order of outputs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from gslang.check import checked as ir
from gslang.dialect.domain_values import choices
from gslang.dialect.signature import AttributeSpec

_WEAKER = {"<": ("<=",), ">": (">=",), "==": ("<=", ">="), "<=": ("!=",), ">=": ("!=",)}
# of one signature: writing one for the other is a slip of the pen
_TYPES = ("float32", "float16", "int32", "int8")
_ALIKE = (
    ("Max", "Min"), ("ReduceSum", "ReduceMean", "ReduceMax"), ("Floor", "Ceil", "Round"), ("And", "Or"),
    ("ArgMax", "ArgMin"), ("MaxPool", "AveragePool"), ("GlobalAveragePool", "GlobalMaxPool"),
    ("Add", "Sub"), ("Mul", "Div"), ("Greater", "GreaterOrEqual"), ("Less", "LessOrEqual"),
    ("Softmax", "LogSoftmax"), ("Exp", "Log"), ("Sigmoid", "Tanh"), ("Relu", "Abs"), ("Sin", "Cos"),
    ("maximum", "minimum"), ("sum", "mean", "max", "min"), ("floor", "ceil", "round", "trunc"),
    ("argmax", "argmin"), ("nn.max_pool2d", "nn.avg_pool2d"), ("add", "subtract"), ("multiply", "divide"),
    ("greater", "greater_equal"), ("less", "less_equal"), ("logical_and", "logical_or"),
    ("nn.softmax", "nn.log_softmax"), ("exp", "log"), ("sigmoid", "tanh"), ("nn.relu", "abs"),
    ("right_shift", "left_shift"), ("zeros_like", "ones_like"), ("floor_divide", "floor_mod"),
    ("com.microsoft.Gelu", "com.microsoft.FastGelu"),
)


def mutants(rule: ir.CheckedRule) -> Iterator[tuple[str, ir.CheckedRule]]:
    """Every rule that is one change away, with the change in words."""
    yield from _weaker_sources(rule)
    for k, target in enumerate(rule.target.targets):
        for words, changed in _other_targets(target, rule):
            yield f"{words} of target {k}", _with_target(rule, k, changed)
    outputs = rule.target.outputs
    if len(outputs) > 1:
        yield "outputs turned", replace(rule, target=replace(rule.target, outputs=(*outputs[1:], outputs[0])))


def _weaker_sources(rule: ir.CheckedRule) -> Iterator[tuple[str, ir.CheckedRule]]:
    for k, condition in enumerate(rule.where):
        yield (
            f"without condition {k}",
            replace(rule, where=_without(rule.where, k), where_spans=_without(rule.where_spans, k)),
        )
        for words, weaker in _weaker(condition):
            yield f"condition {k} {words}", replace(rule, where=_changed(rule.where, k, weaker))
    for b, block in enumerate(rule.blocks):
        for k in range(len(block.where)):
            less = replace(block, where=_without(block.where, k), where_spans=_without(block.where_spans, k))
            yield f"without condition {k} of block {b}", replace(rule, blocks=_changed(rule.blocks, b, less))
    for k, node in enumerate(rule.nodes):
        for j, constraint in enumerate(node.constraints):
            yield (
                f"without constraint {j} of node {k}",
                _with_node(rule, k, replace(node, constraints=_without(node.constraints, j))),
            )
            for words, near in _near_constraints(constraint):
                yield (
                    f"constraint {j} of node {k} {words}",
                    _with_node(rule, k, replace(node, constraints=_changed(node.constraints, j, near))),
                )
            if isinstance(constraint, ir.SameAttributes):
                other = replace(constraint, without=(*constraint.without, *_named(rule, node)))
                yield (
                    f"no attributes alike in node {k}",
                    _with_node(rule, k, replace(node, constraints=_changed(node.constraints, j, other))),
                )


def _near_constraints(constraint: ir.Constraint | ir.SameAttributes) -> Iterator[tuple[str, Any]]:
    """The number or the text that a pattern asks for, changed; alternatives to it."""
    if not isinstance(constraint, ir.Constraint):
        return
    match constraint.test:
        case ir.Equals(value) | ir.ConstantEquals(value) | ir.SplatEquals(value) as test:
            for k, other in enumerate(_other_values(value)):
                yield f"changed {k}", replace(constraint, test=replace(test, value=other))
        case ir.OneOf():
            yield "open", replace(constraint, test=ir.Anything())


def _weaker(condition: ir.Value) -> Iterator[tuple[str, ir.Value]]:
    match condition:
        case ir.CompareValue(sign, left, right):
            for other in _WEAKER.get(sign, ()):
                yield f"with {other}", ir.CompareValue(other, left, right)
            for words, near in _one_off(left):
                yield f"{words} on the left", ir.CompareValue(sign, near, right)
            for words, near in _one_off(right):
                yield f"{words} on the right", ir.CompareValue(sign, left, near)
        case ir.AllOf(items):
            for k, item in enumerate(items):
                yield f"without part {k}", ir.AllOf(_without(items, k))
                for words, weaker in _weaker(item):
                    yield f"part {k} {words}", ir.AllOf(_changed(items, k, weaker))
            yield "with or", ir.AnyOf(items)
        case ir.AnyOf(items):
            yield "or anything", ir.Const(True)
            for k, item in enumerate(items):
                for words, weaker in _weaker(item):
                    yield f"part {k} {words}", ir.AnyOf(_changed(items, k, weaker))
        case ir.UnaryValue("not", operand):
            yield "without not", operand
        case ir.Builtin("all", (ir.Comprehension(element) as every,)):
            yield "with any", ir.Builtin("any", condition.arguments)
            for words, weaker in _weaker(element):
                yield f"for all {words}", ir.Builtin("all", (replace(every, element=weaker),))


def _one_off(value: ir.Value) -> Iterator[tuple[str, ir.Value]]:
    """A number or a position that is one more or one less."""
    match value:
        case ir.Const(int(number)) if not isinstance(number, bool):
            yield "one more", ir.Const(number + 1)
            yield "one less", ir.Const(number - 1)
        case ir.ItemValue(base, ir.Const(int(index))):
            yield "the next item", ir.ItemValue(base, ir.Const(index + 1 if index >= 0 else index - 1))


def _named(rule: ir.CheckedRule, node: ir.Pattern) -> tuple[str, ...]:
    operators = node.operators if isinstance(node, ir.CallNode) else ()
    return tuple(
        sorted({name for operator in operators for name in rule.dialect.operators[operator].attributes})
    )


def _other_targets(target: ir.Target, rule: ir.CheckedRule) -> Iterator[tuple[str, ir.Target]]:
    match target:
        case ir.MakeCall(operator, operands, attributes, spreads):
            for k in range(len(operands) - 1):
                turned = (*operands[:k], operands[k + 1], operands[k], *operands[k + 2 :])
                yield f"operands {k} and {k + 1} swapped", replace(target, operands=turned)
            for k, other in enumerate(operands):  # the operand of an operator for its result
                inner = rule.target.targets[other]
                if isinstance(inner, ir.MakeCall) and inner.operands:
                    yield (
                        f"operand {k} as it was",
                        replace(target, operands=_changed(operands, k, inner.operands[0])),
                    )
            if isinstance(operator, str):
                for other in dict.fromkeys(o for group in _ALIKE if operator in group for o in group):
                    if other != operator and other in rule.dialect.operators:
                        yield f"{other} for {operator}", replace(target, operator=other)
                yield from _attributes_added(target, operator, rule)
            for k, (name, value) in enumerate(attributes):
                yield f"attribute {name} left out", replace(target, attributes=_without(attributes, k))
                if isinstance(operator, str) and name in rule.dialect.operators[operator].attributes:
                    spec = rule.dialect.operators[operator].attributes[name]
                    for changed in _computed_otherwise(value, spec):
                        yield (
                            f"attribute {name} computed otherwise",
                            replace(target, attributes=_changed(attributes, k, (name, changed))),
                        )
                for changed in _other_values(value):
                    yield (
                        f"attribute {name} changed",
                        replace(target, attributes=_changed(attributes, k, (name, changed))),
                    )
            for k, spread in enumerate(spreads):
                yield f"attributes {k} left out", replace(target, spreads=_without(spreads, k))
                if isinstance(operator, str):
                    for name in rule.dialect.operators[operator].attributes:
                        if name not in spread.without and all(name != given for given, _ in attributes):
                            less = replace(spread, without=(*spread.without, name))
                            yield (
                                f"attribute {name} not passed on",
                                replace(target, spreads=_changed(spreads, k, less)),
                            )
        case ir.MakeConst(value, dtype):
            for changed in _other_values(value):
                yield "constant changed", replace(target, value=changed)
            if not isinstance(value, (ir.TupleValue, ir.Const)):
                yield "constant negated", replace(target, value=ir.UnaryValue("-", value))
                yield "constant doubled", replace(target, value=ir.BinaryValue("*", value, ir.Const(2)))
            if dtype is not None:
                for other in ("float32", "float16", "int64", "int32"):
                    if dtype != ir.Const(other):
                        yield f"constant of type {other}", replace(target, dtype=ir.Const(other))
        case ir.MakeTuple(fields) if len(fields) > 1:
            yield "fields turned", replace(target, fields=(*fields[1:], fields[0]))
        case ir.MakeProj(_, ir.Const(index)) if isinstance(index, int):
            yield "field changed", replace(target, index=ir.Const(index + 1))
        case ir.ChooseTarget(condition, then, otherwise):
            yield "choice turned", ir.ChooseTarget(condition, otherwise, then)


def _other_values(value: ir.Value) -> Iterator[ir.Value]:
    match value:
        case ir.Const(bool(v)):
            yield ir.Const(not v)
        case ir.Const(int(v)):
            yield from (ir.Const(other) for other in dict.fromkeys((v + 1, 1 - v, -v, -1)) if other != v)
        case ir.Const(float(v)):
            numbers = dict.fromkeys((v * 2 + 1.0, -v - 0.5, -v, 0.0, 1.0, -1.0, float("inf")))
            yield from (ir.Const(other) for other in numbers if other != v)
        case ir.Const(str(v)) if v in _TYPES:
            yield from (ir.Const(other) for other in _TYPES if other != v)
        case ir.TupleValue(items):
            if len(items) > 1:
                yield ir.TupleValue((*items[1:], items[0]))
                yield ir.TupleValue((items[1], items[0], *items[2:]))
            for k, item in enumerate(items):
                if isinstance(item, ir.Const):
                    yield from (ir.TupleValue(_changed(items, k, other)) for other in _other_values(item))
        case ir.BinaryValue(sign, left, right):
            yield left
            yield right
            if sign in ("+", "-"):
                yield ir.BinaryValue("-" if sign == "+" else "+", left, right)
        case ir.UnaryValue(_, operand):
            yield operand
        case ir.IfValue(condition, then, otherwise):
            yield then
            yield otherwise
            yield ir.IfValue(condition, otherwise, then)


def _attributes_added(
    target: ir.MakeCall, operator: str, rule: ir.CheckedRule
) -> Iterator[tuple[str, ir.Target]]:
    """Attributes that are not given, at a value that is not their default."""
    given = {name for name, _ in target.attributes}
    for name, spec in rule.dialect.operators[operator].attributes.items():
        if name not in given:
            other = next((v for v in _usual(spec) if v != spec.default), None)
            if other is not None:
                yield (
                    f"attribute {name} added",
                    replace(target, attributes=(*target.attributes, (name, ir.Const(other)))),
                )


def _usual(spec: AttributeSpec) -> Iterator[Any]:
    if isinstance(spec.default, bool):
        yield not spec.default
    elif isinstance(spec.default, int):
        yield 1 - spec.default if spec.default in (0, 1) else spec.default - 1
    elif isinstance(spec.default, float):
        yield spec.default + 0.5
    elif isinstance(spec.default, str):
        yield from (value for value in choices(spec.domain) if isinstance(value, str))


def _computed_otherwise(value: ir.Value, spec: AttributeSpec) -> Iterator[ir.Value]:
    """A number that is one more or of the other sign, a truth value that is turned, a list from behind."""
    if isinstance(value, (ir.Const, ir.TupleValue)):
        return
    kind = spec.types[0]
    if kind.depth:
        yield ir.SliceValue(value, None, None, ir.Const(-1))
    elif kind.base == "int":
        yield ir.BinaryValue("+", value, ir.Const(1))
        yield ir.UnaryValue("-", value)
    elif kind.base == "float":
        yield ir.BinaryValue("*", value, ir.Const(2.0))
    elif kind.base == "bool":
        yield ir.UnaryValue("not", value)


def _without(items: tuple[Any, ...], k: int) -> tuple[Any, ...]:
    return (*items[:k], *items[k + 1 :])


def _changed(items: tuple[Any, ...], k: int, item: Any) -> tuple[Any, ...]:
    return (*items[:k], item, *items[k + 1 :])


def _with_node(rule: ir.CheckedRule, k: int, node: ir.Pattern) -> ir.CheckedRule:
    return replace(rule, nodes=_changed(rule.nodes, k, node))


def _with_target(rule: ir.CheckedRule, k: int, target: ir.Target) -> ir.CheckedRule:
    return replace(rule, target=replace(rule.target, targets=_changed(rule.target.targets, k, target)))
