"""Element types of operands: what a schema or a declaration allows, and which one an instance takes; which
operands have to be there."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from random import Random

from gslang.check import checked as ir
from gslang.dialect.dialect import Dialect
from gslang.dialect.dtypes import in_class
from gslang.dialect.onnx.contrib import of_one_type
from gslang.dialect.onnx.versions import history
from gslang.dialect.signature import Signature
from gslang.verify.reads import stated

# operators and their operands whose type is not that of the others: often another one is drawn for these
_OF_THEIR_OWN = frozenset({
    ("cast_like", 1), ("reshape_like", 1), ("slice_like", 1), ("broadcast_to_like", 1),
    ("collapse_sum_like", 1), ("CastLike", 1), ("Pow", 1), ("MatMulInteger", 1), ("ConvInteger", 1),
})  # fmt: skip
# operators whose result has an element type that the type of their operands says nothing about
TYPED_FREELY = frozenset({
    "cast", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "isnan", "isinf",
    "isfinite", "argmax", "argmin", "argsort", "shape_of", "vm.shape_of", "ndarray_size",
    "Cast", "Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "IsNaN", "IsInf", "ArgMax", "ArgMin",
    "NonZero", "Shape", "Size",
})  # fmt: skip
# zero points (also scales and what is added) of coded numbers, scales of what is coded → the operand that has
# their type
_CODED_LIKE = {
    ("QuantizeLinear", 1): 0, ("DequantizeLinear", 2): 0, ("MatMulInteger", 2): 0, ("MatMulInteger", 3): 1,
    ("ConvInteger", 2): 0, ("ConvInteger", 3): 1, ("QLinearMatMul", 2): 0, ("QLinearMatMul", 5): 3,
    ("QLinearConv", 2): 0, ("QLinearConv", 5): 3, ("com.microsoft.MatMulIntegerToFloat", 3): 2,
    ("com.microsoft.MatMulIntegerToFloat", 4): 0, ("com.microsoft.MatMulIntegerToFloat", 5): 1,
    ("com.microsoft.MatMulIntegerToFloat", 6): 2,
}  # fmt: skip
_POINT_OF = {(operator, coded): point for (operator, point), coded in _CODED_LIKE.items()}
# their first operand is a sequence of tensors
OF_SEQUENCES = frozenset({
    "SequenceAt", "SequenceErase", "SequenceInsert", "SequenceLength", "ConcatFromSequence",
})  # fmt: skip
_DRAWN = ("float32", "int32", "int64", "float16", "uint8", "int8")
_RARE = ("int16", "uint16", "uint32", "uint64")  # types of whole numbers that few models have
_PREFERRED = ("float32", "int64", "bool", "int32", "uint8", "float16", "string")


@cache
def operand_types(operator: str, k: int) -> frozenset[str]:
    """The element types that operand `k` may have; empty where the schema does not tell.

    A variadic one counts for all behind it.
    """
    versions = history().operators.get(operator)
    if not versions or not versions[-1].types:
        return frozenset()
    now = versions[-1]
    last = len(now.types) - 1
    if k > last and now.options[last] != "*":
        return frozenset()
    return now.types[min(k, last)] or frozenset()


def is_needed(signature: Signature, k: int) -> bool:
    """True if operand `k` has to be there, whatever may have been an attribute in an earlier version."""
    specs, versions = signature.operands, history().operators.get(signature.name)
    if versions:
        options = versions[-1].options
        return k < len(options) and options[k] == ""
    return k < len(specs) and not specs[k].optional


def type_of_its_own(operator: str, k: int, dice: Callable[[], Random]) -> str | None:
    """An element type for an operand that need not have that of the others, mostly; else None."""
    if (operator, k) not in _OF_THEIR_OWN:
        return None
    rng = dice()  # seeding it takes longer than all the rest
    if rng.random() < 0.4:
        return None
    allowed = operand_types(operator, k)
    return rng.choice([name for name in _DRAWN if not allowed or name in allowed])


def typed_like(operator: str, k: int) -> int | None:
    """The operand whose element type operand `k` must have, where that is not the type of all."""
    return _CODED_LIKE.get((operator, k), _POINT_OF.get((operator, k)))


def typed_alike(dialect: Dialect, operator: str, k: int, other: int) -> bool:
    """True if an operator is known to demand one element type of two operands."""
    if dialect.name == "onnx":
        return _same_variable(operator, k, other)
    signature = dialect.operators[operator]
    specs = signature.operands
    return (
        k != other and "broadcast" in signature.traits and max(k, other) < len(specs)
        and specs[k].dtypes == specs[other].dtypes
    )


@cache
def _same_variable(operator: str, k: int, other: int) -> bool:
    """The same by the operator's schema."""
    versions = history().operators.get(operator)
    if not versions:
        return of_one_type(operator, k, other)
    if not versions[-1].variables or k == other:
        return False
    names, last = versions[-1].variables, len(versions[-1].variables) - 1
    if max(k, other) > last and versions[-1].options[last] != "*":
        return False  # what bodies read
    one, two = names[min(k, last)], names[min(other, last)]
    return one == two and one != "" and "(" not in one


def operand_type(operator: str, k: int, wanted: str) -> str:
    """`wanted` where it is allowed, else the plainest type that is."""
    allowed = operand_types(operator, k)
    if not allowed or wanted in allowed:
        return wanted
    return next((name for name in _PREFERRED if name in allowed), wanted)


def taken_type(dialect: Dialect, operator: str, k: int, wanted: str) -> str:
    """`wanted` where an operator takes it as operand `k`, else the plainest type that it takes there."""
    known = operand_type(operator, k, wanted) if dialect.name == "onnx" else wanted
    return declared_type(dialect.operators[operator], k, known)


def declared_type(signature: Signature, k: int, wanted: str) -> str:
    """The same where a declaration says what an operand may be: `tensor(bool)`."""
    specs = signature.operands
    classes = specs[min(k, len(specs) - 1)].dtypes if specs else ()
    if not classes or any(in_class(wanted, c) for c in classes):
        return wanted
    names = (*_PREFERRED, *_RARE)
    return next((name for name in names if any(in_class(name, c) for c in classes)), wanted)


@lru_cache(maxsize=4)
def rare_types(rule: ir.CheckedRule) -> tuple[str, ...]:
    """The rare element types that fit all inputs whose type the rule leaves open; none if it states all."""
    places = [
        (call, k)
        for call in rule.calls.values()
        for k, part in enumerate(call.operands)
        if isinstance(part, int) and isinstance(leaf := rule.nodes[part], ir.LeafNode)
        if leaf.kind not in ("const", "op") and not leaf.asked("dtype")
    ]
    return tuple(
        name for name in _RARE
        if places and all(any(_takes(rule, o, k, name) for o in call.operators) for call, k in places)
    )


@lru_cache(maxsize=4)
def stated_types(rule: ir.CheckedRule) -> tuple[str, ...]:
    """The element types that the rule states of leaves, without truth values."""
    said = stated(tuple([node.asked("dtype") for node in rule.nodes if isinstance(node, ir.LeafNode)]))
    return tuple(sorted({name for name in said if isinstance(name, str) and name != "bool"}))


def _takes(rule: ir.CheckedRule, operator: str, k: int, dtype: str) -> bool:
    """True if an operator may have an operand of this element type."""
    return taken_type(rule.dialect, operator, k, dtype) == dtype
