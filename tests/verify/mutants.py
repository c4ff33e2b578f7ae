"""Shipped rules with one thing changed: a condition, a constraint, an attribute, an operand, a number, the
order of outputs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from gslang.check import checked as ir

_WEAKER = {"<": "<=", ">": ">=", "==": "<="}


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
            if isinstance(constraint, ir.SameAttributes):
                other = replace(constraint, without=(*constraint.without, *_named(rule, node)))
                yield (
                    f"no attributes alike in node {k}",
                    _with_node(rule, k, replace(node, constraints=_changed(node.constraints, j, other))),
                )


def _weaker(condition: ir.Value) -> Iterator[tuple[str, ir.Value]]:
    match condition:
        case ir.CompareValue(sign, left, right) if sign in _WEAKER:
            yield f"with {_WEAKER[sign]}", ir.CompareValue(_WEAKER[sign], left, right)
        case ir.AllOf(items):
            for k in range(len(items)):
                yield f"without part {k}", ir.AllOf(_without(items, k))
        case ir.AnyOf(items):
            yield "or anything", ir.Const(True)


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
            for k, (name, value) in enumerate(attributes):
                yield f"attribute {name} left out", replace(target, attributes=_without(attributes, k))
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
        case ir.MakeConst(value):
            for changed in _other_values(value):
                yield "constant changed", replace(target, value=changed)
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
            yield ir.Const(v + 1)
            yield ir.Const(1 - v)
        case ir.Const(float(v)):
            yield ir.Const(v * 2 + 1.0)
            yield ir.Const(-v - 0.5)
        case ir.TupleValue(items) if len(items) > 1:
            yield ir.TupleValue((*items[1:], items[0]))
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


def _without(items: tuple[Any, ...], k: int) -> tuple[Any, ...]:
    return (*items[:k], *items[k + 1 :])


def _changed(items: tuple[Any, ...], k: int, item: Any) -> tuple[Any, ...]:
    return (*items[:k], item, *items[k + 1 :])


def _with_node(rule: ir.CheckedRule, k: int, node: ir.Pattern) -> ir.CheckedRule:
    return replace(rule, nodes=_changed(rule.nodes, k, node))


def _with_target(rule: ir.CheckedRule, k: int, target: ir.Target) -> ir.CheckedRule:
    return replace(rule, target=replace(rule.target, targets=_changed(rule.target.targets, k, target)))
